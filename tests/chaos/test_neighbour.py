"""Two motions close to each other with ropes: the second is always a possible one; exponents, by both methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.errors import CommandError
from fem.study.exponents import lyapunov
from fem.study.growth import TwoGrowth
from tests.solve.test_ropes import EVENT_SCHEMES, hung, line

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
RIGID, ROPE = INPUTS / "string_pendulum_rigid.inp", INPUTS / "string_pendulum_rope.inp"


def lengths_and_rates(pair: TwoGrowth) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the three bars in a row of the second motion, and how fast they grow."""
    last, motion = pair.second.last, pair.second.progress.motion
    x = np.diff(last.system.coordinates + motion.u.reshape(-1, 3), axis=0)
    w = np.diff(motion.v.reshape(-1, 3), axis=0)
    length = np.linalg.norm(x, axis=1)
    return length, (x * w).sum(axis=1) / length


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
@pytest.mark.parametrize("middle", ["", "*INEXTENSIBLE\n"], ids=["rope", "rod"])
def test_the_neighbour_is_a_possible_motion(integrator, middle):
    """Law: rods and taut ropes of the neighbour have their lengths and do not stretch; slack ropes are not too long.

    The rope in the middle starts at its length, in free fall: whether it counts as taut, without tension, is a matter
    of round-off, and the two motions may differ in that until it pulls.
    """
    pair = TwoGrowth(fem.parse_deck(line(integrator, 0.0, middle=middle, period=0.8)))
    ropes = np.array([0, 2]) if middle else np.array([0, 1, 2])
    seen = set()
    while not pair.is_finished:
        pair.advance(20)
        while not (pair.is_alike or pair.is_finished):
            pair.advance(1)
        assert pair.is_alike
        events = pair.second.last.events
        pair.bring_close(pair.distance)
        length, rate = lengths_and_rates(pair)
        kept = np.ones(3, np.bool_)
        kept[ropes] = events.taut
        assert np.abs(length[kept] - 1.0).max(initial=0.0) < 1e-14
        if integrator != "ENERGY MOMENTUM":  # whose rates vanish in the middle of increments
            assert np.abs(rate[kept]).max(initial=0.0) < 1e-12
        assert length.max() < 1.0 + 1e-14 or events.fits(pair.second.progress.motion)
        assert 0.5 < pair.distance / pair.close < 2.0
        seen.add(events.taut.tobytes())
    assert len(seen) > 1


def test_a_share_above_one_does_not_make_a_slack_rope_too_long():
    pair = TwoGrowth(fem.parse_deck(hung(0.0, rise=0.02, period=0.2)))
    pair.advance(1)
    assert not pair.second.last.events.taut[0]
    there = pair.second.progress.motion
    there.u[5] = -1e-3  # 2.1 cm below the first motion: twenty times that would be below its length
    distance = pair.distance
    pair.close = 20.0 * distance
    assert pair.bring_close(distance) == pytest.approx(20.0 * distance, rel=1e-3)
    assert there.u[5] > 0.0


@pytest.mark.long
def test_a_rope_that_stays_taut_has_the_exponent_of_a_rod():
    """Analytic: - beta/2m below a support at rest; and both methods agree on the rod, which is smooth."""
    at_rest = lyapunov(ROPE, parameters={"A": 0.0, "beta": 0.1, "increments": 400}, time=600.0, method="two")
    assert at_rest.values[0] == pytest.approx(-0.05, abs=1e-4)
    parameters = {"A": 4.0, "beta": 0.1, "increments": 400}
    rope = lyapunov(ROPE, parameters=parameters, time=600.0, method="two")
    rod = lyapunov(RIGID, parameters=parameters, time=600.0, method="two")
    tangent = lyapunov(RIGID, parameters=parameters, time=600.0)
    assert rope.values[0] == pytest.approx(rod.values[0], abs=1e-9)
    assert rod.values[0] == pytest.approx(tangent.values[0], abs=1e-5)


@pytest.mark.long
def test_exponents_of_motions_with_impacts():
    """ODE: ``references/rope.exponent``, 160 cycles: -0.2457 at A = 8 (periodic), 0.057 at A = 10 (chaotic)."""
    parameters = {"A": 8.0, "increments": 200}
    for method, every in (("two", 100), ("tangent", None)):
        periodic = lyapunov(ROPE, parameters=parameters, time=400.0, method=method, every=every, transient=0.3)
        assert periodic.values[0] == pytest.approx(-0.2457, abs=1e-3)
        assert not periodic.is_chaotic
        chaotic = lyapunov(ROPE, parameters={"A": 10.0, "increments": 200}, time=300.0, method=method, every=every)
        assert chaotic.is_chaotic
        assert chaotic.values[0] == pytest.approx(0.057, abs=2.0 * chaotic.errors[0])


def test_elastic_bounces_neither_spread_nor_close_in():
    """Analytic: restitution 1 keeps the energy, the motion is periodic, its largest exponent 0."""
    for method, every in (("two", 100), ("tangent", None)):
        found = lyapunov(fem.parse_deck(hung(1.0, period=20.0)), method=method, every=every)
        assert abs(found.values[0]) < found.errors[0] + (1e-4 if method == "two" else 0.0)
        assert not found.is_chaotic


def test_impacts_that_are_stepped_over_have_no_tangent_map():
    deck = hung(0.0).replace("*DLOAD", "*CONTROLS, IMPACT=MOREAU\n*DLOAD")
    with pytest.raises(CommandError, match=r"no tangent map for impacts in time stepping .*: use --method two"):
        lyapunov(fem.parse_deck(deck))


def test_differences_that_vanish_are_an_error():
    """A mass that can only move along its rope comes to rest on it: nothing is left to grow."""
    with pytest.raises(CommandError, match=r"smaller --every|it has no Lyapunov exponents"):
        lyapunov(fem.parse_deck(hung(0.0, rise=0.02, period=1.0)), method="two", every=5)
