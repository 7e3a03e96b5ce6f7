"""Curves of time: derivatives and integrals belong to the value, breaks are one-sided as documented."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from fem.errors import ModelError
from fem.model import Amplitude
from fem.model.curves import Constant, Follow, Ramp, evaluate, live_ones, points_of_waves

POINTS = ((0.0, 1.0), (0.7, -2.0), (1.0, 3.0), (2.5, 0.5))
CURVES = {
    "constant": Constant(2.5),
    "ramp": Ramp(0.3, 1.9, -1.0, 4.0),
    "tabular": Follow(Amplitude("A", points=POINTS), 0.2),
    "smooth step": Follow(Amplitude("A", "SMOOTH STEP", points=POINTS), 0.2),
    "spline": Follow(Amplitude("A", "SPLINE", points=(*POINTS, (2.9, 2.0))), 0.2),
    "periodic": Follow(
        Amplitude("A", "PERIODIC", omega=3.0, start=0.4, mean=0.7, fourier=((1.0, 0.3), (0.0, -0.8))), 0.1
    ),
}
SWEEP = {"start": 0.4, "mean": 0.7, "fourier": ((1.0, 0.3),), "omega": 3.0, "omega_end": 7.0, "duration": 1.5}
SWEEPS = [Follow(Amplitude("A", "SWEEP", **SWEEP, is_logarithmic=shape), 0.1) for shape in (False, True)]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@given(time=st.floats(-1.0, 4.0))
@settings(max_examples=40)
def test_derivatives_and_integrals(curve, time):
    """Central differences of step 1e-5, whose error is h^2/6 times a derivative of up to 4e5; quad over the breaks."""
    breaks = np.array([0.2, 0.3, 0.5, 0.9, 1.2, 1.9, 2.7, 3.1])
    at = np.array([time])
    h = 1e-5
    if np.abs(breaks - time).min() > 2 * h:
        for order in (1, 2):
            ahead, behind = evaluate(curve, at + h, order - 1), evaluate(curve, at - h, order - 1)
            assert evaluate(curve, at, order) == pytest.approx((ahead - behind) / (2 * h), rel=1e-7, abs=2e-5)
    since = -0.3
    inside = [b for b in breaks if since < b < time]
    once = quad(lambda t: float(evaluate(curve, np.array([t]))[0]), since, time, points=inside or None, limit=200)[0]
    assert evaluate(curve, at, -1, since=since)[0] == pytest.approx(once, abs=1e-9)
    twice = quad(
        lambda t: float(evaluate(curve, np.array([t]), -1, since=since)[0]),
        since,
        time,
        points=inside or None,
        limit=200,
    )[0]
    assert evaluate(curve, at, -2, since=since)[0] == pytest.approx(twice, abs=1e-9)


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("after", [False, True])
def test_instants_alone_are_those_of_many(curve, after):
    """To the last bit, at breaks, beside them and between them: runs that are driven ask for one instant at a time."""
    points = np.array([0.2, 0.3, 0.5, 0.9, 1.2, 1.9, 2.7, 3.1])
    times = np.sort(np.concatenate([points * (1.0 + part) for part in (-1e-9, -1e-14, 0.0, 1e-14, 1e-9, 0.05)]))
    for order in (-2, -1, 0, 1, 2):
        alone = [evaluate(curve, times[[k]], order, after)[0] for k in range(len(times))]
        assert evaluate(curve, times, order, after).tolist() == alone


@pytest.mark.parametrize("curve", SWEEPS, ids=["linear", "logarithmic"])
@given(time=st.floats(-1.0, 4.0))
@settings(max_examples=40)
def test_derivatives_of_sweeps(curve, time):
    """Central differences, as above, away from both ends; the frequency is that of a phase found by quad."""
    of, h, at = curve.amplitude, 1e-5, np.array([time])
    if min(abs(time - 0.5), abs(time - 2.0)) < 2 * h:
        return
    for order in (1, 2):
        ahead, behind = evaluate(curve, at + h, order - 1), evaluate(curve, at - h, order - 1)
        assert evaluate(curve, at, order) == pytest.approx((ahead - behind) / (2 * h), rel=1e-7, abs=2e-5)

    def frequency(t):
        part = min(t / of.duration, 1.0)
        grown = of.omega * (of.omega_end / of.omega) ** part
        return grown if of.is_logarithmic else of.omega + (of.omega_end - of.omega) * part

    local = time - 0.5
    phase = quad(frequency, 0.0, local, points=[1.5])[0] if local > 0.0 else 0.0
    wave = np.cos(phase) + 0.3 * np.sin(phase) if local > 0.0 else 0.0
    assert evaluate(curve, at)[0] == pytest.approx(0.7 + wave, abs=1e-10)


@pytest.mark.parametrize(
    ("curve", "phase", "change"),
    [(SWEEPS[0], 5.0 * 1.5, 4.0 / 1.5), (SWEEPS[1], 4.0 * 1.5 / np.log(7 / 3), 7.0 * np.log(7 / 3) / 1.5)],
    ids=["linear", "logarithmic"],
)
def test_the_end_of_a_sweep_belongs_to_it_unless_asked_for_after(curve, phase, change):
    """p'' (0.3 cos p - sin p) of the second derivative: the frequency is constant from there on. 2.0 with round-off."""
    for at in (2.0, 2.0 - 1e-14, 2.0 + 1e-14):
        before, after = (evaluate(curve, np.array([at]), 2, after=which)[0] for which in (False, True))
        assert before - after == pytest.approx(change * (0.3 * np.cos(phase) - np.sin(phase)), rel=1e-9)


@pytest.mark.parametrize("shape", [False, True])
def test_a_sweep_between_equal_frequencies_is_periodic(shape):
    sweep = Follow(Amplitude("A", "SWEEP", **{**SWEEP, "omega_end": 3.0}, is_logarithmic=shape), 0.1)
    wave = Follow(Amplitude("A", "PERIODIC", omega=3.0, start=0.4, mean=0.7, fourier=((1.0, 0.3),)), 0.1)
    time = np.linspace(-1.0, 9.0, 101)
    for order in (0, 1, 2):
        for after in (False, True):
            expected = evaluate(wave, time, order, after)
            assert evaluate(sweep, time, order, after) == pytest.approx(expected, abs=1e-12 * 3.0**order * 30)


@pytest.mark.parametrize("shape", [False, True])
@pytest.mark.parametrize("last", [7.0, 1.5, 3.0])
def test_eight_points_follow_each_wave_of_a_sweep(shape, last):
    """The phase is the integral of the frequency, which rises or falls for 1.5 and then stays."""
    sweep = Amplitude("A", "SWEEP", **{**SWEEP, "omega_end": last}, is_logarithmic=shape)
    points = points_of_waves(sweep, 6.0)

    def frequency(t):
        part = min(t / 1.5, 1.0)
        return 3.0 * (last / 3.0) ** part if shape else 3.0 + (last - 3.0) * part

    phases = [quad(frequency, 0.0, t - 0.4, points=[1.5])[0] for t in (*points, 6.0)]
    assert phases[:-1] == pytest.approx(np.pi / 4 * np.arange(len(points)), abs=1e-9)
    assert phases[-1] - phases[-2] <= np.pi / 4 + 1e-9


def test_eight_points_follow_the_shortest_wave_that_counts():
    """The third harmonic is 6 % of all, the fourth 4 %: 1/0.4 s over 3 and 8."""
    fourier = ((90.0, 0.0), (0.0, 0.0), (0.0, 6.0), (4.0, 0.0))
    wave = Amplitude("A", "PERIODIC", omega=0.8 * np.pi, start=0.2, fourier=fourier)
    assert points_of_waves(wave, 0.65) == pytest.approx(0.2 + 2.5 / 24 * np.arange(5))
    assert not len(points_of_waves(wave, 0.2))


def test_a_sweep_has_no_integral():
    with pytest.raises(ModelError, match="no integral"):
        evaluate(SWEEPS[0], np.ones(1), -1)


def test_derivative_at_a_break_belongs_to_the_segment_before_unless_asked_for_after():
    curve = CURVES["tabular"]
    at = np.array([0.9])
    assert evaluate(curve, at, 1)[0] == pytest.approx((-2 - 1) / 0.7)
    assert evaluate(curve, at, 1, after=True)[0] == pytest.approx((3 + 2) / 0.3)
    start = np.array([0.5])
    assert evaluate(CURVES["periodic"], start, 1, after=True)[0] == pytest.approx(0.3 * 3.0 - 0.8 * 6.0)
    assert evaluate(CURVES["periodic"], start, 1)[0] == 0.0
    assert evaluate(CURVES["periodic"], start)[0] == pytest.approx(1.7)
    assert evaluate(CURVES["periodic"], start - 1e-9)[0] == pytest.approx(0.7)


def test_a_smooth_step_is_the_quintic_of_abaqus():
    """x^3 (10 - 15 x + 6 x^2), by its manual: no velocity or acceleration at its ends, 53/512 after a quarter."""
    curve = Follow(Amplitude("A", "SMOOTH STEP", points=((1.0, 3.0), (3.0, -1.0))), 0.0)
    assert evaluate(curve, np.array([1.0, 1.5, 2.0, 3.0])) == pytest.approx([3.0, 3.0 - 4.0 * 53 / 512, 1.0, -1.0])
    for order in (1, 2):
        assert evaluate(curve, np.array([1.0]), order, after=True) == pytest.approx([0.0], abs=1e-12)
        assert evaluate(curve, np.array([3.0]), order) == pytest.approx([0.0], abs=1e-12)


@given(coefficients=st.tuples(*[st.floats(-3.0, 3.0)] * 4), times=st.sets(st.integers(0, 200), min_size=4))
@settings(max_examples=30)
def test_a_spline_through_a_cubic_is_that_cubic(coefficients, times):
    """Not-a-knot ends: exact up to the third degree, derivatives too; round-off grows with points close together."""
    cubic = np.polynomial.Polynomial(coefficients)
    at = np.array(sorted(times)) / 100.0
    spline = Follow(Amplitude("A", "SPLINE", points=tuple(zip(at.tolist(), cubic(at).tolist(), strict=True))), 0.0)
    between = np.linspace(at[0], at[-1], 17)[1:-1]
    for order, allowed in ((0, 1e-10), (1, 1e-7), (2, 1e-4)):
        expected = (cubic.deriv(order) if order else cubic)(between)
        assert evaluate(spline, between, order) == pytest.approx(expected, abs=allowed)


@pytest.mark.parametrize(("before", "is_at_it"), [(0.2e-13, True), (1e-12, False)])
def test_times_that_carry_round_off_are_at_the_break_that_they_miss(before, is_at_it):
    """Increments end at 0.7 but for the round-off of a sum: what comes after is the slope after the break."""
    curve = Follow(Amplitude("A", points=POINTS), 0.0)
    slope = evaluate(curve, np.array([0.7 - before]), 1, after=True)[0]
    assert slope == pytest.approx(5.0 / 0.3 if is_at_it else -3.0 / 0.7)


def test_what_a_program_sets_is_integrated_twice_from_the_start_of_the_step():
    """An acceleration of 2 until t = 1, then of -3: v and x of the school book, also across a later start of a step."""
    live = live_ones({"A": 2.0})["A"]
    live.begin(0.4)
    live.hold(1.0, -3.0)
    at, speed, way = np.array([1.0, 1.5]), 2.0 * 0.6, 0.5 * 2.0 * 0.6**2
    assert evaluate(live, at, -1, since=0.4) == pytest.approx([speed, speed - 3.0 * 0.5], rel=1e-14)
    assert evaluate(live, at, -2, since=0.4) == pytest.approx([way, way + 0.5 * speed - 1.5 * 0.5**2], rel=1e-14)
    live.begin(1.5)
    at = np.array([1.5, 2.5])
    assert evaluate(live, at, -1, since=1.5) == pytest.approx([0.0, -3.0], abs=1e-14)
    assert evaluate(live, at, -2, since=1.5) == pytest.approx([0.0, -1.5], abs=1e-14)
