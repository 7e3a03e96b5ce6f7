"""Vessels moved by waves: amplitudes and lags of their tables, in phase with the water; exact rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.assembly.bodies import Body
from fem.assembly.system import assemble
from fem.deck import parse_deck, write_deck
from fem.model import Rao

ROWS = """5, 0, 0.4, 0, 0.7, 0, 2.0, 0, 80, 10, -20, 95, 200, -130
5, 90, 0.1, 0.6, 0.8, 3.5, 0.5, 0.1, 20, 110, 35, 60, 170, 0
20, 0, 0.9, 0, 1, 0, 0.4, 0, 90, 0, 0, 90, -90, 0
20, 90, 0, 0.9, 1, 0.5, 0.1, 0, 0, 90, 0, 80, 0, 0
"""
DECK = """\
*NODE, NSET=ALL
1, {x}, {y}, 1.
2, {x}, {y}, 3.
3, 9., 9., -9.
*ELEMENT, TYPE=T3D2, ELSET=B
1, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1000
*DENSITY
0.5
*SOLID SECTION, ELSET=B, MATERIAL=M
1
*AQUA
-50., 0., 9.81, 1025.
{waves}
*RAO, NAME=BOX{options}
{rows}*NSET, NSET=PINS
2
*RIGID BODY, REF NODE=1, PIN NSET=PINS, ROTATION=VECTOR, RAO=BOX, HEADING={heading}
*AMPLITUDE, NAME=DRIFT, DEFINITION=SMOOTH STEP
0., 0., 6., 1.
*BOUNDARY
3, 1, 3
{steps}"""
DYNAMIC = (
    "*STEP, NLGEOM, INC=10000\n*DYNAMIC, DIRECT\n{dt}, {time}\n{more}*NODE PRINT, NSET=ALL\nU, V, A, FE\n*END STEP\n"
)
REGULAR = "*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, {period}, 40., {cos!r}, {sin!r}"
SEA = "*WAVE, TYPE=JONSWAP, SEED=3, COMPONENTS=30, RAMP={ramp}\n2., 9., , 0.8, 0.6, 0.6, 1.6"


def model_of(waves, rows=ROWS, options="", heading=0.0, x=0.0, y=0.0, dt=0.1, time=8.0, more="", before=""):
    steps = before + DYNAMIC.format(dt=dt, time=time, more=more)
    return parse_deck(DECK.format(**{k: v for k, v in locals().items() if k not in ("dt", "time", "more", "before")}))


def towards(degrees, period=5.0):
    return REGULAR.format(period=period, cos=float(np.cos(np.radians(degrees))), sin=float(np.sin(np.radians(degrees))))


def elevation(history):
    """Of the surface from the still level, which FE counts from where the node is."""
    return history.of_node(1, "FE").ravel()


def angles(history):
    """Of the reference node, which only its pinned node above it shows: u2 - u1 = (R - 1) (0, 0, 2)."""
    return history.of_node(2) - history.of_node(1)


@pytest.mark.parametrize("options", ["", ", PHASE=LEAD"])
def test_regular_wave(options):
    """Amplitude and lag of the table, in the phase of the crest at the node: a |H| cos(omega t - k x - phase - lag)."""
    given = [float(each) for each in ROWS.splitlines()[1].split(",")]
    history = fem.run(model_of(towards(120.0), options=options, heading=30.0, x=7.0, y=-4.0))
    k = 2 * np.pi / float(wavelength(5.0))
    rows = slice(1, None)  # the first is the deck's own start, from which the vessel jumps
    crest = 2 * np.pi / 5.0 * history.time[rows] - k * (7.0 * np.cos(np.radians(120)) - 4.0 * np.sin(np.radians(120)))
    lags = np.radians(given[8:]) * (-1.0 if options else 1.0)
    own = 1.5 * np.array(given[2:8])[:, None] * np.cos(crest - np.radians(40.0) - lags[:, None])
    surge, sway, heave, *turns = own
    c, s = np.cos(np.radians(30.0)), np.sin(np.radians(30.0))
    assert history.of_node(1)[rows] == pytest.approx(
        np.stack([c * surge - s * sway, s * surge + c * sway, heave], 1), abs=1e-12
    )
    roll, pitch, yaw = np.radians(turns)
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_rotvec(np.stack([c * roll - s * pitch, s * roll + c * pitch, yaw], 1)).apply([0.0, 0.0, 2.0])
    assert angles(history)[rows] == pytest.approx(turned - [0.0, 0.0, 2.0], abs=1e-12)


def wavelength(period, depth=50.0):
    from scipy.optimize import brentq

    omega = 2 * np.pi / period
    return 2 * np.pi / brentq(lambda k: 9.81 * k * np.tanh(k * depth) - omega**2, 1e-6, 1e3, xtol=1e-15, rtol=1e-15)


@pytest.mark.parametrize("waves", [SEA.format(ramp=6), towards(70.0, 7.0)])
def test_a_float_rides_on_the_surface(waves):
    """Heave 1, lag 0: the node is where the program says that the surface above it is."""
    rows = "".join(
        f"{period}, {heading}, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n" for period in (4, 20) for heading in (0, 60, 120)
    )
    history = fem.run(model_of(waves, rows, x=31.0, y=17.0, time=12.0))
    assert np.ptp(history.of_node(1)[:, 2]) > 0.5
    later = history.time > 0.0
    assert history.of_node(1)[later, 2] == pytest.approx(elevation(history)[later], abs=1e-12)


def test_irregular_sea():
    """Its spectrum is H^2 S: the motion is that of each regular wave of waves.csv, as least squares find them in it."""
    model = model_of(SEA.format(ramp=0).replace("30", "12"), options=", SYMMETRY=XZ", heading=-20.0, dt=0.5, time=200.0)
    history = fem.run(model)
    omega, _, amplitude, *_ = model.sea.T
    turns = np.outer(history.time[1:], omega)
    parts = np.linalg.lstsq(np.hstack([np.cos(turns), np.sin(turns)]), history.of_node(1)[1:, 2], rcond=None)[0]
    found = np.hypot(*parts.reshape(2, -1)) ** 2 / 2.0
    low, high = (np.array([[float(x) for x in row.split(",")] for row in ROWS.splitlines()])[i::2] for i in (0, 1))
    part = (omega - 2 * np.pi / 20) / (2 * np.pi / 5 - 2 * np.pi / 20)
    along = np.degrees(np.arctan2(0.6, 0.8)) + 20.0
    at = [(1 - along / 90) * low[i, 4] * np.exp(1j * np.radians(low[i, 10])) for i in (0, 1)]
    at = [a + along / 90 * high[i, 4] * np.exp(1j * np.radians(high[i, 10])) for i, a in enumerate(at)]
    exact = np.abs((1 - part) * at[1] + part * at[0]) ** 2 * amplitude**2 / 2.0
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-12 * exact.max())


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 7.0]), st.booleans())
@settings(max_examples=20)
def test_rates_are_derivatives(seed, ramp, after):
    """Of a vessel that drifts through waves, before, in and behind their ramp; fourth-order differences."""
    chance = np.random.default_rng(seed)
    trains, swings = chance.uniform(-0.05, 0.05, (5, 4)), chance.normal(0, 1, (2, 6, 4))
    trains[3] += 0.2
    swings[:, 3:] *= 0.1
    body = rocking(trains, swings, [0.0, ramp] if ramp else [0.0])
    way = chance.normal(0, 1, (3, 6))
    way[:, 3:] *= 0.1

    def motion(t):
        """Of a pinned node."""
        t = t[:, None]
        ways = np.stack([way[0] + t * way[1] + t**2 * way[2], way[1] + 2 * t * way[2], 2 * way[2] + 0.0 * t])
        return body.moved(ways, t[:, 0], after, at_sea=True)

    for t in (1.0, 3.3, 9.0):
        h = 1e-3
        u, v, a = motion(t + h * np.arange(-2.0, 3.0))
        for rate, values in ((v, u), (a, v)):
            slope = (8 * (values[3] - values[1]) - (values[4] - values[0])) / (12 * h)
            assert rate[2] == pytest.approx(slope, abs=1e-7 * (1.0 + np.abs(a).max()))


def rocking(trains, swings, ramps):
    """A body in waves (c,), as many for each ramp, with a node 1, 2, 3 off."""
    size = trains.shape[1] // len(ramps)
    spans = np.array([[size * k, size * (k + 1)] for k in range(len(ramps))])
    return Body(np.arange(6), np.arange(3), np.array([[1.0, 2.0, 3.0]]), True, trains, swings, spans, np.array(ramps))


def test_one_sided_rates_at_the_ends_of_a_ramp():
    """Acceleration jumps there: before, that of the waves at rest or rising; after, the other. Here a wave is 1."""
    swings = np.zeros((2, 6, 1))
    swings[0, 0] = 1.0
    body, now = rocking(np.zeros((5, 1)), swings, [7.0]), np.array([0.0, 7.0])
    before, after = (body.moved(np.zeros((3, 2, 6)), now, side, at_sea=True)[2, :, 0] for side in (False, True))
    steep = 0.5 * (np.pi / 7.0) ** 2
    assert before == pytest.approx([0.0, -steep], abs=1e-15)
    assert after == pytest.approx([steep, 0.0], abs=1e-15)


def test_waves_add_to_what_boundary_says():
    """A drift of 4 m: the vessel is in the waves where it has come to, as the surface there is; then it is held."""
    rows = "".join(f"{period}, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0\n" for period in (4, 20))
    drift = "*BOUNDARY, AMPLITUDE=DRIFT\n1, 1, 1, 4.\n"
    model = model_of(towards(0.0), rows, more=drift, time=6.0)
    text = write_deck(model) + DYNAMIC.format(dt=0.1, time=2.0, more="*BOUNDARY, FIXED\n1, 1, 1\n")
    history = fem.run(parse_deck(text))
    assert history.of_node(1)[-1, 0] == pytest.approx(4.0, abs=1e-14)
    later = history.time > 0.0
    assert history.of_node(1)[later, 2] == pytest.approx(elevation(history)[later], abs=1e-12)


def test_vessels_rest_in_statics_and_jump_then():
    """Waves do not act there; a dynamic step finds the vessel where they have it, and says so."""
    static = "*STEP, NLGEOM\n*STATIC, DIRECT\n0.5, 1.\n*END STEP\n"
    history = fem.run(model_of(towards(0.0), before=static, time=0.5))
    still = np.asarray(history.step) == 1
    assert not history.of_node(1)[still].any()
    assert any("differs from the state at the start" in text for text in history.notices)


FLAT = "5, {0}, 0.4, 0, 0.7, 0, 2.0, 0, 80, 0, -20, 0, 200, 0\n20, {0}, 0.9, 0, 1, 0, 0.4, 0, 90, 0, 0, 0, -90, 0\n"


@pytest.mark.parametrize("heading", [0.0, 180.0])
def test_plane_models_have_y_upwards(heading):
    """The same motion in the plane of T2D2, whose y is up and whose z points to starboard of a bow along x."""
    rows, waves = FLAT.format(-heading), SEA.format(ramp=5).replace("0.8, 0.6", "1., 0.")
    history = fem.run(model_of(waves, rows, heading=heading, x=5.0))
    given = {"x": 5.0, "y": 0.0, "waves": waves, "options": "", "rows": rows, "heading": heading}
    text = DECK.format(**given, steps=DYNAMIC.format(dt=0.1, time=8.0, more=""))
    text = text.replace("1, 5.0, 0.0, 1.", "1, 5.0, 1.0, 0.").replace("2, 5.0, 0.0, 3.", "2, 5.0, 3.0, 0.")
    text = text.replace("9., 9., -9.", "9., -9., 0.").replace("T3D2", "T2D2")
    other = fem.run(parse_deck(text))
    for node in (1, 2):
        x, y, z = history.of_node(node).T
        assert np.ptp(x) > 0.5 and np.abs(y).max() < 1e-12
        assert other.of_node(node) == pytest.approx(np.stack([x, z, -y], 1), abs=1e-12)


def test_turning_all_turns_all():
    """Waves and bow by 50 degrees, about the reference node: the motion turns with them."""
    one, other = (fem.run(model_of(towards(65.0 + turn), heading=20.0 + turn)) for turn in (0.0, 50.0))
    c, s = np.cos(np.radians(50.0)), np.sin(np.radians(50.0))
    for node in (1, 2):
        x, y, z = one.of_node(node).T
        assert other.of_node(node) == pytest.approx(np.stack([c * x - s * y, s * x + c * y, z], 1), abs=1e-12)


def test_symmetry_mirrors():
    """Waves from the other side: sway, roll and yaw change their signs, of which node 2 shows the first two."""
    one, other = (fem.run(model_of(towards(turn), options=", SYMMETRY=XZ")) for turn in (40.0, -40.0))
    for node in (1, 2):
        assert other.of_node(node) == pytest.approx(one.of_node(node) * [1.0, -1.0, 1.0], abs=1e-12)


@given(st.floats(-720.0, 720.0), st.floats(0.35, 1.2))
def test_tables_are_round(heading, omega):
    """A turn of 360 degrees changes nothing; at rows and between them H is the mean that it must be."""
    rows = [
        (w, h, *np.random.default_rng(int(100 * w + h)).uniform(0, 1, 12))
        for w in (0.35, 1.2)
        for h in (0.0, 80.0, 160.0, 240.0, 320.0)
    ]
    own = Rao("R", tuple(rows))
    one, other = (own.answer(np.array([omega]), np.array([heading + turn]))[0] for turn in (0.0, 360.0))
    assert one == pytest.approx(other, abs=1e-12)
    first, second = own.at(80.0), own.at(160.0)
    half = own.answer(np.array([0.775]), np.array([120.0]))[0][:3, 0]
    assert half == pytest.approx((first[1].mean(1) + second[1].mean(1))[:3] / 2, abs=1e-14)


def test_books_close():
    """ENERGY MOMENTUM: the work of the mean reactions of the pinned nodes is all that goes in, to round-off."""
    text = write_deck(model_of(SEA.format(ramp=3), options=", SYMMETRY=XZ", heading=10.0, dt=0.02, time=4.0))
    text = text.replace("TIME INTEGRATOR=NEWMARK", "TIME INTEGRATOR=ENERGY MOMENTUM")
    text = text.replace("*NODE PRINT", "*CONTROLS, RESI_GLOB_RELA=1e-12\n*NODE PRINT")
    history = fem.run(parse_deck(text))
    assert np.abs(history.of_energy("external_work")).max() > 1.0
    assert np.abs(history.energy_error).max() < 1e-10 * np.abs(history.of_energy("external_work")).max()


def test_arrays_of_a_model_without_vessels_are_empty():
    model = model_of(towards(0.0), more="")
    assert assemble(model).bodies[0].trains.shape == (5, 1)
    plain = parse_deck(write_deck(model).replace(", RAO=BOX", ""))
    assert assemble(plain).bodies[0].trains.shape == (5, 0)
