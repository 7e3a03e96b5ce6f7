"""The study of error bars: its reference against laws and closed forms, its judgement, and a dozen of its questions."""

import math

import numpy as np
import pytest

import fem
from validation.certainty import plain, study
from validation.certainty.study import Judged
from validation.references import cable_modes, pendulum, taut_string, wave
from validation.references.masses import Equations, Harmonic, Link, Masses

DOZEN = (
    "oscillators", "springs with tables", "pendulums on rods", "elastic pendulums", "bounces on a cable", "nets",
    "modes of strings", "modes of sagging cables", "catenaries", "waves in bars", "rungs in waves", "caught by a rope",
)  # fmt: skip
BOB = ((0.0, 0.0, 0.0), (0.6, 0.0, -0.8))


def energy(motion, t):
    """Kinetic, strain and potential of one mass of 2 kg."""
    return motion.value("kinetic", t) + motion.value("strain", t) + 2.0 * 9.81 * motion.value("U3_n2", t)


@pytest.mark.parametrize("strain", ["GREEN", "LOG"])
def test_masses_keep_their_energy_on_bars_and_on_cables_that_go_slack(strain):
    link = Link(0, 1, 0.9, 400.0, strain, is_cable=True)
    motion = Equations(Masses((0.0, 2.0), BOB, (link,), ((0.0, 0.0, 0.0), (0.0, 1.0, 4.0)))).motion(1.2)
    assert len(motion.pieces) > 2  # slack and taut
    assert [energy(motion, t) for t in np.linspace(0.0, 1.2, 9)] == pytest.approx([energy(motion, 0.0)] * 9, rel=1e-9)


def test_a_mass_on_a_rod_is_the_pendulum_and_its_extreme_is_below():
    motion = Equations(Masses((0.0, 2.0), BOB, (Link(0, 1, 1.0, strain="ROD"),))).motion(0.7)
    theta, _ = pendulum.motion(np.array([0.7]), pendulum.point_mass(1.0, 9.81), np.arctan2(0.6, 0.8))
    assert motion.value("U1_n2", 0.7) == pytest.approx(np.sin(theta[0]) - 0.6, abs=1e-10)
    at, largest, _ = motion.extreme("T_e1", 1.0)
    assert largest == pytest.approx(2.0 * 9.81 * (3.0 - 2.0 * 0.8), rel=1e-10)
    assert at == pytest.approx(0.25 * pendulum.period(pendulum.point_mass(1.0, 9.81), np.arctan2(0.6, 0.8)), abs=1e-6)


def test_a_table_has_corners_at_its_points():
    """A gap of 0.1 to either side, then 100 N/m: flight, half a swing, flight."""
    link = Link(0, 1, 1.0, table=((-90.0, -1.0), (0.0, -0.1), (0.0, 0.1), (90.0, 1.0)))
    places, speed = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    motion = Equations(Masses((0.0, 1.0), places, (link,), speed, gravity=0.0)).motion(0.45)
    back = 0.05 + np.pi / 10.0
    assert motion.value("U1_n2", 0.45) == pytest.approx(0.1 - 2.0 * (0.45 - back), abs=1e-10)
    assert motion.extreme("T_e1", 1.0)[1] == pytest.approx(20.0, rel=1e-9)


def test_a_harmonic_push_gives_the_forced_oscillator():
    places = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    push = Harmonic(1, 0, 3.0, 4.0)
    motion = Equations(Masses((0.0, 1.0), places, (Link(0, 1, 1.0, 25.0),), gravity=0.0, pushes=(push,))).motion(2.0)
    exact = 3.0 / (25.0 - 16.0) * (np.sin(8.0) - 0.8 * np.sin(10.0))
    assert motion.value("U1_n2", 2.0) == pytest.approx(exact, abs=1e-10)


def test_frequencies_of_a_flat_taut_cable_are_those_of_a_string():
    level, length, mu = 1000.0, 10.0, 0.5
    found = cable_modes.frequencies(2, length, 1e-6, 1e7, level, -5e-6, mu)
    exact = [taut_string.continuum(k, length * (1.0 + level / 1e7), level, mu / (1.0 + level / 1e7)) for k in (1, 2)]
    assert found == pytest.approx(exact, rel=1e-8)


def test_waves_of_a_pulled_bar_agree_with_the_sum_of_images():
    for t in (0.3, 1.7, 4.1):
        u, pull = cable_modes.driven_end(0.6, t, 1.0, 2.0, 1.5, (0.1, 0.0, "STEP"))
        assert u == pytest.approx(wave.displacement(0.6, t, 1.0, 2.0, 1.5, 0.1), abs=1e-14)
        assert pull == pytest.approx(wave.wall_force(t, 1.0, 1.5, 0.1), abs=1e-14)


def test_bars_are_held_wide_and_missed_as_defined():
    def judged(value, bar):
        return Judged("nets", 3, "", "U1_n1", 1.0, value, bar)

    assert judged(1.1, 0.11).is_held and not judged(1.1, 0.09).is_held and not judged(1.1, math.nan).is_held
    assert judged(1.1, 1.2).is_wide and not judged(1.1, 0.9).is_wide
    assert judged(1.0, 0.0).is_held and not judged(1.0, 1e-9).is_wide
    assert judged(1.0, 0.0).is_aside


def test_the_plain_recipe_follows_the_observed_order():
    assert plain.bar_of(1.16, 1.04, 1.01) == pytest.approx(1.25 * 0.16)
    assert plain.bar_of(1.0, 1.2, 1.1) == pytest.approx(0.6)


def test_decks_of_a_question_are_the_same_each_time():
    first, again = study.draw("pendulums on rods", 2), study.draw("pendulums on rods", 2)
    assert first == again and fem.parse_deck(first.deck).steps


@pytest.mark.parametrize(
    ("groups", "fewest"),
    [(("pendulums on rods", "modes of bars", "catenaries"), 12), pytest.param(DOZEN, 40, marks=pytest.mark.long)],
)
def test_bars_of_some_decks_hold_the_truth(groups, fewest):
    rows = study.carry_out(groups=groups, count=1, workers=1)
    assert len(rows) >= fewest
    assert [study.listed(row) for row in rows if not row.is_held] == []
    assert sum(row.is_wide for row in rows) <= 0.1 * len(rows)
