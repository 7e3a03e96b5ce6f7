"""Waves of other programs: components in a table, a record of the surface; currents that follow an amplitude."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from fem.model.surroundings import water_at
from fem.show.checking import check

DECK = """*NODE, NSET=ALL
1, 0, 0, -1
2, 3, 4, -2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1
*AMPLITUDE, NAME=TIDE, TIME={time}, DEFINITION=PERIODIC
1, 0.5, 0., 0.
1., 0.
*AQUA{tide}
-50, 0, 9.81, 1025
0.5, 0.2, 0., 0.
{waves}*BOUNDARY
1, 1, 3
2, 1, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
0.5, 5
*DLOAD
BARS, FDD, 1., 0.5, 1.
*NODE PRINT
FE, FV, RF
*END STEP
"""


def model_of(waves, tmp_path=None, time="TOTAL TIME", tide="", **files):
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return parse_deck(DECK.format(waves=waves, time=time, tide=tide), folder=tmp_path)


AIRY = "*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, 8., 30., 0., 1.\n0.5, 5., -70., -1., 0.\n"
PARTS = ((1.5, 8.0, 30.0, 90.0), (0.5, 5.0, -70.0, 180.0))


def lines(by=lambda t: t, sign=1.0):
    return "".join(f"{a}, {by(t)!r}, {sign * p}, {h}\n" for a, t, p, h in PARTS)


@pytest.mark.parametrize(
    "card",
    [
        "*WAVE, TYPE=TABLE\n" + lines(),
        "*WAVE, TYPE=TABLE, BY=FREQUENCY\n" + lines(lambda t: 1 / t),
        "*WAVE, TYPE=TABLE, BY=OMEGA, PHASE=LEAD\n" + lines(lambda t: 2 * np.pi / t, -1.0),
        "*WAVE, TYPE=TABLE\nheading, omega (rad/s), amplitude, phase\n"
        + "".join(f"{h}, {2 * np.pi / t!r}, {a}, {p}\n" for a, t, p, h in PARTS),
    ],
)
def test_components_in_a_table_are_regular_waves(card):
    model = model_of(card)
    assert model.sea == pytest.approx(model_of(AIRY).sea, rel=1e-14, abs=1e-15)
    assert parse_deck(write_deck(model)) == model


def test_phases_may_hold_elsewhere():
    """X, Y: where the crest is that a phase of 0 means."""
    model = model_of("*WAVE, TYPE=TABLE, X=7, Y=-3\n2, 9, 0, 40\n")
    eta = water_at(model.waves, model.water, 2, np.array([[[7.0, -3.0, -1.0]]]), np.zeros(1))[0]
    assert eta[0, 0] == pytest.approx(2.0, rel=1e-14)
    assert parse_deck(write_deck(model)) == model


def record(count=200, dt=0.5, start=3.0, seed=1):
    """A smooth surface, its mean 0.3."""
    chance = np.random.default_rng(seed)
    time = start + dt * np.arange(count)
    omega, phase = chance.uniform(0.4, 2.0, 12), chance.uniform(0, 6, 12)
    return time, 0.3 + np.cos(np.outer(time, omega) + phase) @ chance.uniform(0.1, 0.4, 12)


def text_of(time, eta):
    return "# time eta\n" + "".join(f"{t:.10g} {x!r}\n" for t, x in zip(time.tolist(), eta.tolist(), strict=True))


def surface(model, place, time):
    return water_at(model.waves, model.water, 2, np.tile([*place, -1.0], (len(time), 1, 1)), time)[0][:, 0]


@pytest.mark.parametrize("count", [200, 201])
def test_a_record_of_the_surface_comes_out_again(tmp_path, count):
    """At its point, to round-off, less its mean; downstream later; the notice says how good it is."""
    time, eta = record(count)
    card = "*WAVE, TYPE=ELEVATION, INPUT=eta.txt, HEADING=30, X=5, Y=2\n"
    model = model_of(card, tmp_path, eta=text_of(time, eta))
    assert surface(model, (5.0, 2.0), time) == pytest.approx(eta - eta.mean(), abs=1e-9)
    k, omega = model.sea[10, 1], model.sea[10, 0]
    assert (
        np.ptp(surface(model, (5.0 + 80 * np.cos(np.pi / 6), 2 + 40.0), time) - eta) > 0.1 and k * 9.81 > omega**2 / 2
    )
    assert parse_deck(write_deck(model)) == model
    (notice,) = (text for text in model.notices if "ELEVATION" in text)
    assert (
        f"{(count - 1) // 2 + (count + 1) % 2} waves with periods of" in notice
        and f"repeats itself after {count * 0.5:g}" in notice
    )
    report = str(check(model))
    assert f"regular waves, Hs {4 * (eta - eta.mean()).std():.4f}"[:22] in report


def test_cut_offs_leave_out_what_they_say(tmp_path):
    """Noise at the shortest periods goes; what is off is the noise, and TOLERANCE holds it."""
    time, eta = record(400, 0.25)
    noise = 0.05 * np.cos(2 * np.pi * np.arange(400) / 4.0)
    card = "*WAVE, TYPE=ELEVATION, INPUT=eta.txt, SHORTEST PERIOD=1.5, LONGEST PERIOD=60{}\n"
    model = model_of(card.format(""), tmp_path, eta=text_of(time, eta + noise))
    found = surface(model, (0.0, 0.0), time)
    off = np.sqrt(np.mean((found - eta - noise + np.mean(eta + noise)) ** 2))
    assert off / (eta + noise).std() < 0.05
    assert 2 * np.pi / model.sea[:, 0].max() >= 1.5
    with pytest.raises(
        DeckError, match=r"differ from the record by .* of its standard deviation.*TOLERANCE= above 0\.001"
    ):
        model_of(card.format(", TOLERANCE=0.001"), tmp_path)


OUT_OF_RANGE = ("1e200, 9", "1e308, 9", "1, 1e200", "1, 1e-200", "1, 1e-308")
"""Amplitude and period: numbers, but nothing can be computed with them."""


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("*WAVE, TYPE=ELEVATION\n0, 1\n1, 2\n2, 0\n4, 1\n5, 2\n", "samples are not evenly spaced: 2, where 1.25"),
        ("*WAVE, TYPE=ELEVATION\n0, 1\n1, 2\n1, 0\n", "times must rise: 1 after 1"),
        ("*WAVE, TYPE=ELEVATION\n0, 1\n1, 2\n", "it has 2 samples"),
        ("*WAVE, TYPE=ELEVATION\n0, 1\n1, 1\n2, 1\n3, 1\n", "it has one level"),
        ("*WAVE, TYPE=ELEVATION, SHORTEST PERIOD=90\n0, 1\n1, 2\n2, 0\n3, 1\n", "the record has 0 waves"),
        ("*WAVE, TYPE=ELEVATION, SEED=1\n0, 1\n", "SEED is for TYPE=JONSWAP"),
        ("*WAVE, TYPE=JONSWAP, SEED=1, X=1\n2, 9\n", "X is for TYPE=AIRY, TABLE or ELEVATION"),
        ("*WAVE, TYPE=AIRY, HEADING=1\n2, 9\n", "HEADING is for TYPE=ELEVATION"),
        ("*WAVE, TYPE=TABLE\n1\n", "expected amplitude, period, phase, heading, got 1 entries"),
        ("*WAVE, TYPE=TABLE\n-1, 8\n", "the amplitude must not be negative, got -1"),
        ("*WAVE, TYPE=TABLE\n1, 0\n", "the period must be positive, got 0"),
        ("*WAVE, TYPE=TABLE\n1, 8, x\n", "expected the phase (a number), got 'x'"),
        ("*WAVE, TYPE=TABLE\namplitude, phase\n1, 8\n", "no column with the period: amplitude and phase"),
        ("*WAVE, TYPE=TABLE\nperiod, phase\n1, 8\n", "no column with the amplitude: period and phase"),
        *((f"*WAVE, TYPE=TABLE\n1, 9\n{row}\n", "waves are out of range (amplitude") for row in OUT_OF_RANGE),
        *((f"*WAVE, TYPE=AIRY, WAVE PERIOD\n{row}\n", "waves are out of range (amplitude") for row in OUT_OF_RANGE),
        *((f"*WAVE, TYPE=JONSWAP, SEED=1\n{row}\n", "waves are out of range (amplitude") for row in OUT_OF_RANGE),
        ("*WAVE, TYPE=ELEVATION, SHORTEST PERIOD=1\n0, 1\n1, 1e200\n2, -1\n3, 0\n4, 1\n", "*WAVE"),
        ("*AMPLITUDE, NAME=A, DEFINITION=SPLINE\n0, 0, 1, 1e308, 2, 0\n", "the amplitude is out of range"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_mistakes(card, message):
    with pytest.raises(DeckError) as error:
        model_of(card)
    assert message in str(error.value)


def test_a_current_follows_its_amplitude():
    """In what is printed, and in the drag, as if every load named it."""
    own = fem.run(model_of("", tide=", AMPLITUDE=TIDE"))
    named = fem.run(
        parse_deck(DECK.format(waves="", time="TOTAL TIME", tide="").replace("0.5, 1.\n", "0.5, 1., 1., TIDE\n"))
    )
    assert own.of_node(2, "FV")[:, 0] == pytest.approx(0.5 * np.cos(0.5 * own.time), abs=1e-14)
    assert np.array_equal(own.of_node(2, "RF"), named.of_node(2, "RF"))
    assert np.ptp(own.of_node(2, "RF")[:, 0]) > 0.0
    model = model_of("", tide=", AMPLITUDE=TIDE")
    assert parse_deck(write_deck(model)) == model
    with pytest.raises(DeckError, match="amplitude TIDE of \\*AQUA runs in step time"):
        model_of("", tide=", AMPLITUDE=TIDE", time="STEP TIME")
    text = DECK.format(waves="", time="TOTAL TIME", tide=", AMPLITUDE=WHIM")
    with pytest.raises(DeckError, match="amplitude WHIM of \\*AQUA is set during the run"):
        parse_deck(text.replace("*AQUA", "*AMPLITUDE, NAME=WHIM, DEFINITION=USER\n1.\n*AQUA"))


def test_a_current_that_stops():
    """An amplitude that is 0 for a while: there is no drag then."""
    text = DECK.format(waves="", time="TOTAL TIME", tide=", AMPLITUDE=STOP")
    text = text.replace("*AQUA", "*AMPLITUDE, NAME=STOP, TIME=TOTAL TIME\n0., 1., 1., 0., 3., 0., 4., 1.\n*AQUA")
    history = fem.run(parse_deck(text))
    rests = (history.time >= 1.0) & (history.time <= 3.0)
    assert not history.of_node(2, "FV")[rests].any() and not history.of_node(2, "RF")[rests].any()
    assert history.of_node(2, "RF")[-1, 0] < 0.0
