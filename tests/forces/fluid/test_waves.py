"""Lines in waves: forces on bars that are held, against the formulas of the model; motion, statics, books."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.model.surroundings import water_at
from fem.runner import run_to_files
from tests.decks import run_text

DENSITY, GRAVITY, WIDTH = 1025.0, 9.80665, 0.3
NODES, WEIGHTS = 0.5 + np.array([-0.5, 0.5]) / math.sqrt(3.0), np.array([0.5, 0.5])
BAR = """*NODE, NSET=ALL
1, {ends[0][0]!r}, {ends[0][1]!r}, {ends[0][2]!r}
2, {ends[1][0]!r}, {ends[1][1]!r}, {ends[1][2]!r}
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
{springs}*MATERIAL, NAME=M
*ELASTIC
2e11
*DENSITY
{mass!r}
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING
0.01
*AQUA
{bed}, 0., 9.80665, 1025.
0.4, 0.1, 0., 0.
{waves}*AMPLITUDE, NAME=HALF
0., 0.5
*BOUNDARY
{supports}
*STEP, NLGEOM
{procedure}
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
{loads}
*NODE PRINT
U, RF, FV, FA, FE
*END STEP
"""
REGULAR = "*WAVE, TYPE=AIRY, WAVE PERIOD{}\n1.5, 8., 20., 0.6, 0.8\n"
OBLIQUE = "*WAVE, TYPE=AIRY{}\n0.4, 30., -70., 0., -1.\n"
SEA = "*WAVE, TYPE=JONSWAP, SEED=7, COMPONENTS=60{}\n1.5, 6., 3.3, 0.8, -0.6\n"
ENDS = ((2.0, -3.0, -4.0), (7.0, 1.0, -2.5))
DRAG, INERTIA = "BAR, FDD, 1., 0.3, 1.1\nBAR, FDT, 1., 0.3, 0.2", "BAR, FI, 1., 0.3, 2., 1., , 0.1"


def bar(waves, loads, *, ends=ENDS, bed=-20.0, mass=1000.0, supports="ALL, 1, 3", springs="",
        procedure="*DYNAMIC, DIRECT\n0.25, 2."):  # fmt: skip
    return run_text(BAR.format(ends=ends, waves=waves, loads=loads, bed=bed, mass=mass, supports=supports,
                               springs=springs, procedure=procedure))  # fmt: skip


def morison(history, ends, drag=True, inertia=True, factor=1.0):
    """(k, 3) force on a bar that is held and wet: two points of Gauss, the water linear between its nodes."""
    model, places = history.model, np.array(ends)
    (d,) = np.diff(places, axis=0)
    length = np.linalg.norm(d)
    t = d / length
    total = np.zeros((len(history), 3))
    still = water_at((), model.water, 2, places[None], history.time)[1]
    _, velocity, acceleration = water_at(
        model.waves, model.water, 2, np.tile(places, (len(history), 1, 1)), history.time
    )
    velocity = still + factor * (velocity - still)
    for xi, weight in zip(NODES, WEIGHTS, strict=True):
        v, a = ((1.0 - xi) * each[:, 0] + xi * each[:, 1] for each in (velocity, factor * acceleration))
        vt, at = v @ t, a @ t
        vn, an = v - vt[:, None] * t, a - at[:, None] * t
        q = 0.5 * DENSITY * WIDTH * 1.1 * np.linalg.norm(vn, axis=1)[:, None] * vn * drag
        q = q + 0.5 * DENSITY * np.pi * WIDTH * 0.2 * (np.abs(vt) * vt)[:, None] * t * drag
        q = q + DENSITY * 0.25 * np.pi * WIDTH**2 * (2.0 * an + 1.1 * at[:, None] * t) * inertia
        total += weight * length * q
    return total


@pytest.mark.parametrize(
    "waves",
    [
        REGULAR.format(""),
        REGULAR.format(", RAMP=1.6") + OBLIQUE.format(""),
        REGULAR.format(", STRETCHING=WHEELER") + OBLIQUE.format(", STRETCHING=WHEELER, RAMP=3."),
        SEA.format(""),
    ],
)
def test_forces_on_a_bar_that_is_held_are_those_of_the_formulas(waves):
    """Kernels count in turns and series, the model in radians and functions of numpy."""
    history = bar(waves, DRAG + "\n" + INERTIA)
    pushed = -history.reactions.reshape(-1, 2, 3).sum(axis=1)
    expected = morison(history, ENDS)
    assert np.abs(expected).max() > 100.0
    assert pushed == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def test_amplitudes_of_waves_act_on_waves_alone():
    pushed = {
        load: -bar(REGULAR.format(""), load).reactions.reshape(-1, 2, 3).sum(axis=1)
        for load in (
            "BAR, FDD, 1., 0.3, 1.1, , , HALF\nBAR, FDT, 1., 0.3, 0.2, , , , HALF",
            INERTIA.replace(", , ", ", HALF, "),
        )
    }
    history = bar(REGULAR.format(""), DRAG)
    for (load, force), drag in zip(pushed.items(), (True, False), strict=True):
        expected = morison(history, ENDS, drag, not drag, 0.5)
        assert force == pytest.approx(expected, abs=1e-9 * np.abs(expected).max()), load


@pytest.mark.parametrize("size", ["1.", "0.05"])
def test_very_deep_water(size):
    """kh = 6000 and more."""
    waves, ends = f"*WAVE, TYPE=AIRY\n0.01, {size}, 0., 1., 0.\n", ((0.0, 0.0, -0.1), (0.0, 1.0, -0.1))
    history = bar(waves, DRAG + "\n" + INERTIA, ends=ends, bed=-1000.0)
    expected = morison(history, ends)
    assert -history.reactions.reshape(-1, 2, 3).sum(axis=1) == pytest.approx(
        expected, abs=1e-9 * np.abs(expected).max()
    )


def test_buoyancy_ends_at_the_moving_surface():
    """A post through the surface: rho g A times what is below eta; wet to its top on the crest."""
    ends = ((1.0, 2.0, -3.0), (1.0, 2.0, 1.0))
    history = bar("*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, 8., 0., 1., 0.\n", "BAR, PB, 1., 0.3", ends=ends,
                  procedure="*DYNAMIC, DIRECT\n0.5, 8.")  # fmt: skip
    eta = history.of_node(1, "FE")
    lift = DENSITY * GRAVITY * 0.25 * np.pi * WIDTH**2 * np.clip(3.0 + eta, 0.0, 4.0)
    assert (eta.max() > 1.0) and (eta.min() < -1.0)
    assert -history.reactions.reshape(-1, 2, 3)[:, :, 2].sum(axis=1) == pytest.approx(lift, rel=1e-9)


@pytest.mark.parametrize("shear", ["0.4, 0.1, 0., 0.", "0.1, 0.1, 0., -20.\n0.3, 0.1, 0., 0.\n0.7, 0.1, 0., 2."])
def test_a_current_flows_above_the_still_level_under_crests(shear):
    """0.5 rho D C |U| U of a bar along the crest, 1 above the still level, where the water of these waves rests."""
    ends = ((1.0, -2.0, 1.0), (1.0, 1.0, 1.0))
    waves = "*WAVE, TYPE=AIRY, WAVE PERIOD, STRETCHING=NONE\n1.5, 8., 0., 1., 0.\n"
    text = BAR.replace("0.4, 0.1, 0., 0.", shear).format(
        ends=ends, waves=waves, loads="BAR, FDD, 1., 0.3, 1.1", bed=-20.0, mass=1000.0, supports="ALL, 1, 3",
        springs="", procedure="*DYNAMIC, DIRECT\n0.5, 8.",
    )  # fmt: skip
    history = run_text(text)
    speed = 0.4 if "\n" not in shear else 0.5
    is_wet = history.of_node(1, "FE") > 1.0
    drag = is_wet * 3.0 * 0.5 * DENSITY * WIDTH * 1.1 * speed**2
    assert 2 < is_wet.sum() < 8
    assert -history.reactions.reshape(-1, 2, 3)[:, :, 0].sum(axis=1) == pytest.approx(drag, rel=1e-12)
    assert history.of_node(1, "FV") == pytest.approx(np.outer(is_wet, [speed, 0.1, 0.0]), abs=1e-12)


def test_a_sheared_stream_spends_its_force_times_its_own_speed_at_each_height():
    """On a vertical bar that is held, in u = a + b z: the integral of 0.5 rho D C u^3; the bar takes nothing."""
    ends = ((1.0, -2.0, -9.0), (1.0, -2.0, -3.0))
    text = BAR.replace("0.4, 0.1, 0., 0.", "0.2, 0., 0., -10.\n2.2, 0., 0., 0.").format(
        ends=ends, waves="", loads="BAR, FDD, 1., 0.3, 1.1", bed=-20.0, mass=1000.0, supports="ALL, 1, 3",
        springs="", procedure="*DYNAMIC, DIRECT\n0.25, 2.",
    )  # fmt: skip
    history = run_text(text)
    low, high = 0.4, 1.6
    power = 0.5 * DENSITY * WIDTH * 1.1 * (high**4 - low**4) / (4.0 * 0.2)
    assert history.of_energy("external_work") == pytest.approx(power * history.time, rel=1e-12)
    assert history.of_energy("dissipated") == pytest.approx(power * history.time, rel=1e-12)


SPRINGS = """*ELEMENT, TYPE=SPRING1, ELSET=SX
11, 1
12, 2
*ELEMENT, TYPE=SPRING1, ELSET=SZ
13, 1
14, 2
*SPRING, ELSET=SX
1
450.
*SPRING, ELSET=SZ
3
450.
"""


def test_a_bar_on_springs_meets_the_waves_where_it_is():
    """Its two equations by DOP853; order 2. With the water of where it was at first it would be far off."""
    ends = ((0.0, 0.0, -6.0), (0.0, 3.0, -6.0))
    waves = "*WAVE, TYPE=AIRY, WAVE PERIOD\n1.2, 6., 0., 1., 0.\n"
    mass, kn, added = 2500.0, 0.5 * DENSITY * WIDTH * 1.1, DENSITY * 0.25 * np.pi * WIDTH**2

    def run(dt):
        return bar(waves, "BAR, FDD, 1., 0.3, 1.1\nBAR, FI, 1., 0.3, 2., 1.", ends=ends, mass=8333.333333333334,
                   supports="ALL, 2, 2", springs=SPRINGS, procedure=f"*DYNAMIC, DIRECT\n{dt!r}, 12.")  # fmt: skip

    model = run(6.0).model

    def rate(time, y, moves=1.0):
        place = np.array([[moves * y[0], 0.0, -6.0 + moves * y[1]]])
        _, velocity, acceleration = water_at(model.waves, model.water, 2, place, time)
        v = velocity[0, [0, 2]] - y[2:]
        force = 3.0 * (kn * np.hypot(*v) * v + 2.0 * added * acceleration[0, [0, 2]]) - 900.0 * y[:2]
        return np.concatenate([y[2:], force / (mass / 10.0 + 3.0 * added)])

    ours = [run(dt).of_node(1)[-1, [0, 2]] for dt in (0.04, 0.02)]
    exact, still = (
        solve_ivp(rate, (0.0, 12.0), np.zeros(4), args=(moves,), method="DOP853", rtol=1e-10, atol=1e-11).y[:2, -1]
        for moves in (1.0, 0.0)
    )
    errors = [np.abs(each - exact).max() for each in ours]
    assert errors[1] < 2e-3 < 0.05 < np.abs(still - exact).max()
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def test_waves_turn_with_the_model():
    """Everything turned by 50 degrees about z; the current, too, is what it was to the bar."""
    angle = math.radians(50.0)
    turn = np.array(
        [[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )

    def run(matrix):
        ends = (np.array(ENDS) @ matrix.T).tolist()
        x, y, _ = (matrix @ [0.6, 0.8, 0.0]).tolist()
        current = ", ".join(map(repr, (matrix @ [0.4, 0.1, 0.0]).tolist()))
        deck = BAR.format(ends=ends, waves=f"*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, 8., 20., {x!r}, {y!r}\n", bed=-20.0,
                          loads=DRAG + "\n" + INERTIA, mass=4000.0, supports="1, 1, 3", springs="",
                          procedure="*DYNAMIC, DIRECT\n0.01, 1.")  # fmt: skip
        return run_text(deck.replace("0.4, 0.1, 0., 0.", f"{current}, 0.")).u[-1].reshape(2, 3)

    assert run(turn) == pytest.approx(run(np.eye(3)) @ turn.T, abs=1e-8)


def test_statics_knows_no_waves():
    loads, supports = DRAG + "\nBAR, PB, 1., 0.3", "1, 1, 3\n2, 2, 3"
    still, moving = (bar(w, loads, supports=supports, procedure="*STATIC\n1., 1.") for w in ("", REGULAR.format("")))
    assert np.array_equal(still.u, moving.u)
    assert any("waves do not act" in text for text in moving.notices)


def test_tables_have_the_water_where_nodes_are():
    history = bar(SEA.format(""), DRAG, supports="1, 1, 3", mass=4000.0)
    places = history.of_node(2, "COORD")[:, None]
    eta, velocity, acceleration = water_at(history.model.waves, history.model.water, 2, places, history.time)
    assert np.ptp(places, axis=0).max() > 0.1
    assert np.array_equal(history.of_node(2, "FV"), velocity[:, 0])
    assert np.array_equal(history.of_node(2, "FA"), acceleration[:, 0])
    assert np.array_equal(history.of_node(2, "FE"), eta[:, 0])


def test_waves_of_plane_models_go_along_x():
    """y is up there; the same bar as in space, whose forces it has."""
    text = BAR.format(ends=((0.0, 0.0, -4.0), (3.0, 0.0, -2.0)), waves="*WAVE, TYPE=AIRY\n1., 40., 10., 1., 0.\n",
                      loads=DRAG + "\n" + INERTIA, bed=-20.0, mass=1000.0, supports="ALL, 1, 3", springs="",
                      procedure="*DYNAMIC, DIRECT\n0.5, 2.").replace("0.4, 0.1, 0., 0.", "0.4, 0., 0., 0.")  # fmt: skip
    plane = text.replace("T3D2", "T2D2").replace("0.0, 0.0, -4.0", "0.0, -4.0").replace("3.0, 0.0, -2.0", "3.0, -2.0")
    space, flat = (
        run_text(each).reactions.reshape(-1, 2, 3).sum(axis=1)
        for each in (text, plane.replace("ALL, 1, 3", "ALL, 1, 2"))
    )
    assert np.abs(space).max() > 10.0
    assert flat[:, :2] == pytest.approx(space[:, [0, 2]], rel=1e-9)


def test_tables_of_a_run_have_the_components(tmp_path):
    text = BAR.format(ends=ENDS, waves=SEA.format("") + OBLIQUE.format(""), loads=DRAG, bed=-20.0, mass=1000.0,
                      supports="ALL, 1, 3", springs="", procedure="*DYNAMIC, DIRECT\n0.5, 1.")  # fmt: skip
    (tmp_path / "deck.inp").write_text(text)
    run_to_files(tmp_path / "deck.inp", tmp_path / "out", quiet=True)
    table = np.genfromtxt(tmp_path / "out/waves.csv", delimiter=",", names=True)
    assert table.dtype.names == ("omega", "k", "amplitude", "phase", "direction")
    assert np.array_equal(np.array(table.tolist()), fem.read_deck(tmp_path / "deck.inp").sea[:, :5])
