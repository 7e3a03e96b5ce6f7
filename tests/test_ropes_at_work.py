"""Numbers of docs/ropes_at_work.md: closed forms, or equations of motion integrated here; runs of the decks agree."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipk

import fem

ROOT = Path(__file__).resolve().parents[1]
PAGE = " ".join((ROOT / "docs" / "ropes_at_work.md").read_text(encoding="utf-8").split())
G = 9.81


@cache
def ran(name: str, **parameters: float) -> fem.History:
    """The motion of a deck, which is run once for each set of parameters."""
    return fem.run(ROOT / "inputs" / f"{name}.inp", parameters=parameters)


def stands(text: str) -> None:
    assert text in PAGE, f"{text} is not what the page says"


# ---------------------------------------------------------------------------------------------------------- crane
LENGTH, ACCELERATION = 12.0, 0.3
TILT = math.atan(ACCELERATION / G)
PERIOD = 4 * math.sqrt(LENGTH / math.hypot(G, ACCELERATION)) * ellipk(math.sin(TILT / 2) ** 2)
"""A pendulum in the field that the accelerated trolley feels, which swings by TILT to either side."""


def angles(history: fem.History) -> np.ndarray:
    """(k,) degrees from the vertical."""
    d = history.positions(2) - history.positions(1)
    return np.degrees(np.arctan2(d[:, 0], -d[:, 2]))


def test_the_load_of_the_crane_stops_with_its_trolley():
    history = ran("crane")
    angle, speed = angles(history), history.of_node(1, "v")[:, 0]
    cruise = speed > (1 - 1e-9) * speed.max()
    at_rest = history.time > 3.001 * PERIOD
    assert history.time[-1] == pytest.approx(4 * PERIOD, rel=1e-9)
    assert -angle.min() == pytest.approx(math.degrees(2 * TILT), rel=1e-5)
    assert np.abs(angle[cruise]).max() < 1e-3 and np.abs(angle[at_rest]).max() < 1e-3  # second order in dt = T/400
    assert speed.max() == pytest.approx(ACCELERATION * PERIOD, rel=1e-9)
    stands(f"2 atan(a/g) = {math.degrees(2 * TILT):.3f}°")
    stands(f"= {PERIOD:.3f} s")
    stands(f"at the speed of {ACCELERATION * PERIOD:.3f} m/s")


def test_half_a_period_leaves_the_largest_swing():
    history = ran("crane", ramp=0.5)
    cruise = (history.time > 0.5 * PERIOD) & (history.time < 2 * PERIOD)
    angle = angles(history)[cruise]
    assert angle.max() == pytest.approx(math.degrees(2 * TILT), rel=1e-4)
    assert angle.min() == pytest.approx(-math.degrees(2 * TILT), rel=1e-4)
    stands(f"goes on swinging by {math.degrees(2 * TILT):.3f}°, or {LENGTH * math.sin(2 * TILT):.3f} m")


# ------------------------------------------------------------------------------------------------------- zip line
NATURAL, RIDER, STIFFNESS = 150.65, 90.0, 8e6
LOWER = np.array([150.0, -9.0])


def pull_on_the_wheel(x: float, z: float, friction: float) -> tuple[np.ndarray, float]:
    """Force of both legs while rope passes into the first, and the tension of that: T1 = T2 exp(mu phi)."""
    legs = np.array([-x, -z]), LOWER - (x, z)
    l1, l2 = map(math.hypot, *zip(*legs, strict=True))
    n1, n2 = legs[0] / l1, legs[1] / l2
    ratio = math.exp(friction * math.acos(-float(n1 @ n2)))
    half = l1 + NATURAL + ratio * (l2 - NATURAL)
    first = 2 * l1 * NATURAL / (half + math.sqrt(half * half - 4 * (1 - ratio) * l1 * NATURAL))  # natural length
    tension = STIFFNESS * max(0.0, l1 / first - 1)
    return tension * (n1 + n2 / ratio), tension


def slide(z: float, friction: float, time: float):
    """Motion of the rider from rest at x = 10 m: x, z, and their rates over time, dense."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        force = pull_on_the_wheel(y[0], y[1], friction)[0] / RIDER
        return [y[2], y[3], force[0], force[1] - G]

    return solve_ivp(rates, (0, time), [10, z, 0, 0], method="DOP853", rtol=1e-9, atol=1e-9, dense_output=True)


def test_the_rider_slides_as_the_equations_of_motion_say():
    history = ran("zip_line")
    start = brentq(lambda z: pull_on_the_wheel(10, z, 0.0)[0][1] - RIDER * G, -8, -1)
    assert history.positions(2)[np.flatnonzero(history.of_step(1))[-1], 2] == pytest.approx(start, rel=1e-8)
    motion = slide(start, 0.0, 16.0)
    at = history.time[history.of_step(2)] - 1.0
    true = motion.sol(at)
    place, speed = (
        history.positions(2)[history.of_step(2)],
        np.hypot(*history.of_node(2, "v")[history.of_step(2)].T[::2]),
    )
    assert place[:, [0, 2]] == pytest.approx(true[:2].T, abs=2e-3)
    assert speed.max() == pytest.approx(np.hypot(true[2], true[3]).max(), rel=1e-4)
    tension, beyond = (history.of_element(1, name)[history.of_step(2)] for name in ("T", "T2"))
    assert tension == pytest.approx(beyond, rel=1e-9)
    assert tension.max() == pytest.approx(max(pull_on_the_wheel(x, z, 0.0)[1] for x, z in true[:2].T), rel=1e-3)
    arrival = brentq(lambda t: motion.sol(t)[0] - 140, 10, 16)
    stands(
        f"lowest point, {-true[1].min():.2f} m below the first platform, at {np.hypot(true[2], true[3]).max():.2f} m/s"
    )
    stands(f"after {arrival:.2f} s, the speed is still {math.hypot(*motion.sol(arrival)[2:]):.2f} m/s")
    stands(f"{pull_on_the_wheel(10, start, 0.0)[1] / 1e3:.2f} kN at the start and at most {tension.max() / 1e3:.2f} kN")


def test_without_stretch_the_wheel_stays_on_an_ellipse():
    place = ran("zip_line").positions(2)
    whole = np.linalg.norm(place, axis=1) + np.linalg.norm(place - [150, 0, -9], axis=1)
    tension = ran("zip_line").of_element(1, "T")
    assert whole == pytest.approx(NATURAL * (1 + tension / STIFFNESS), rel=1e-9)


def test_friction_of_the_wheel_is_a_rolling_resistance():
    history = ran("zip_line", mu=0.02)
    rows = np.flatnonzero(history.of_step(2))
    start = history.positions(2)[rows[0] - 1, 2]
    motion = slide(start, 0.02, 18.0)
    true = motion.sol(history.time[rows[-1]] - 1.0)
    assert history.positions(2)[rows[-1], 0] == pytest.approx(true[0], rel=2e-3)
    assert np.linalg.norm(history.of_node(2, "v")[rows[-1]]) == pytest.approx(math.hypot(true[2], true[3]), rel=2e-3)
    arrival = brentq(lambda t: motion.sol(t)[0] - 140, 10, 18)
    stands(f"With μ = 0.02 the rider has {math.hypot(*motion.sol(arrival)[2:]):.1f} m/s")
    # the wheel's load, m g to the slope's second order, times mu, over the way
    lost = (
        0.5
        * RIDER
        * (math.hypot(*slide(start, 0.0, 18.0).sol(14.79)[2:]) ** 2 - math.hypot(*motion.sol(arrival)[2:]) ** 2)
    )
    assert lost == pytest.approx(0.02 * RIDER * G * 130, rel=0.05)


# ----------------------------------------------------------------------------------------------------------- lift
def jolt(length: float) -> float:
    """m g + v sqrt(m EA/L) of the lift, L after a second."""
    mass, stiffness = 1200.0, 7e10 * 2.5e-4
    speed = 1.6 * (1 + mass * G / stiffness)
    return mass * G + speed * math.sqrt(mass * stiffness / (length + 1.6))


def test_the_lift_is_pulled_up_by_the_force_of_the_formula():
    history = ran("lift_stop")
    tension, steady = history.of_element(1, "T"), history.time < 0.9999
    assert tension[steady] == pytest.approx(1200 * G, rel=1e-6)
    assert tension.max() == pytest.approx(jolt(30.0), rel=1e-4)
    assert tension[~steady].min() == 0
    stands(f"m g = {1200 * G / 1e3:.2f} kN")
    stands(f"{jolt(30.0) / 1e3:.2f} kN, {jolt(30.0) / 1200 / G:.1f} times the weight")


def test_the_shorter_the_ropes_the_harder_the_stop():
    lengths = [5.0, 10.0, 20.0, 40.0, 80.0]
    found = [ran("lift_stop", length=length).of_element(1, "T").max() for length in lengths]
    assert found == pytest.approx([jolt(length) for length in lengths], rel=2e-4)
    stands("| T_max [kN] | " + " | ".join(f"{jolt(length) / 1e3:.2f}" for length in lengths) + " |")


# ----------------------------------------------------------------------------------------------------------- fall
MASS, IMPACT, ABOVE, BELAY = 80.0, 9000.0, 2.0, 8.0
EA = IMPACT * (IMPACT - 2 * MASS * G) / (2 * MASS * G * 1.77)


def standard(factor: float) -> float:
    """F = m g + sqrt((m g)^2 + 2 m g EA f)."""
    return MASS * G + math.sqrt((MASS * G) ** 2 + 2 * MASS * G * EA * factor)


def test_the_force_of_a_fall_is_that_of_the_standard_equation():
    assert standard(1.77) == pytest.approx(IMPACT, rel=1e-12)
    force = standard(2 * ABOVE / (BELAY + ABOVE))
    history = ran("climbing_fall")
    assert history.of_element(1, "T2").max() == pytest.approx(force, rel=1e-5)
    assert history.of_node(2, "RF")[:, 2].max() == pytest.approx(2 * force, rel=1e-5)
    stands(f"EA = {EA / 1e3:.3f} kN")
    stands(f"F = {force:.1f} N")
    stands(f"both legs, {2 * force / 1e3:.2f} kN")


def test_friction_at_the_runner_is_the_integral_of_the_force():
    ratio = math.exp(0.15 * math.pi)

    def tension(length: float) -> float:
        """At the climber, of a leg of that length; the leg of the belayer stays 8 m long: its stretch passes."""

        def too_long(pull: float) -> float:
            own = ABOVE + BELAY - BELAY / (1 + pull / ratio / EA)
            return own * (1 + pull / EA) - length

        return brentq(too_long, 0.0, 1e6)

    def left(length: float) -> float:
        return quad(tension, ABOVE, length)[0] - MASS * G * (ABOVE + length)

    force = tension(brentq(left, 2.5, 6.0))
    history = ran("climbing_fall", mu=0.15)
    assert history.of_element(1, "T2").max() == pytest.approx(force, rel=1e-4)
    assert history.of_element(1, "T").max() == pytest.approx(force / ratio, rel=1e-4)
    forces = (found / 1e3 for found in (force, force / ratio, force * (1 + 1 / ratio)))
    stands("{:.2f} kN at the climber, {:.2f} kN at the belayer, {:.2f} kN at the runner".format(*forces))


def test_the_default_strain_is_stiffer(tmp_path):
    """GREEN: energy EA L e^2/2 with e = (l^2/L^2 - 1)/2, force EA e l/L."""
    length, height = ABOVE + BELAY, 2 * ABOVE

    def left(stretch: float) -> float:
        return EA * length * ((stretch**2 - 1) / 2) ** 2 / 2 - MASS * G * (height + length * (stretch - 1))

    stretch = brentq(left, 1.001, 3.0)
    force = EA * (stretch**2 - 1) / 2 * stretch
    deck = (ROOT / "inputs" / "climbing_fall.inp").read_text(encoding="utf-8").replace(", STRAIN=ENGINEERING\n", "\n")
    assert fem.run(fem.parse_deck(deck)).of_element(1, "T2").max() == pytest.approx(force, rel=1e-5)
    small = 0.005
    stands(f"gives {force / 1e3:.2f} kN")
    stands(f"differ by {100 * ((small + small**2 / 2) * (1 + small) / small - 1):.2f} %")
