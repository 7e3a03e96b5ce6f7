"""Statistics of numbers over time: those of sines and of distributions that are known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.interpolate import PPoly, make_interp_spline
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, genpareto

from fem.errors import CommandError
from fem.show.extremes import interval_of, profile, tail_extreme
from fem.show.series import (
    EULER,
    Series,
    added,
    block_maxima,
    crossing_period,
    gumbel,
    gumbel_interval,
    rayleigh_extreme,
    read_series,
    value_lines,
)


def series(time: np.ndarray, values: np.ndarray) -> Series:
    return Series("T_e1", np.arange(len(time), dtype=float), time, values)


def test_of_a_sine() -> None:
    """Ten whole periods: mean, amplitude over sqrt 2, period (chords between instants put crossings exactly)."""
    time = np.arange(1000) * 0.02
    found = series(time, 7.0 + 3.0 * np.sin(math.pi * time - 0.3))
    assert found.mean == pytest.approx(7.0, abs=1e-12)
    assert found.std == pytest.approx(3.0 / math.sqrt(2.0), rel=1e-12)
    assert crossing_period(found) == pytest.approx(2.0, rel=1e-12)


def test_crossings_are_where_straight_lines_through_the_instants_cross_the_mean() -> None:
    """Of random numbers at random instants: roots of each piece, by its own polynomial."""
    rng = np.random.default_rng(11)
    time = np.cumsum(rng.uniform(0.1, 2.0, 60))
    found = series(time, rng.normal(size=60))
    pieces = PPoly.from_spline(make_interp_spline(time, found.values - found.mean, k=1))
    roots = pieces.roots(extrapolate=False)
    upward = roots[pieces.derivative()(roots) > 0.0]
    assert len(upward) > 10
    assert crossing_period(found) == pytest.approx(np.diff(upward).mean(), rel=1e-12)


def test_means_are_those_over_time() -> None:
    """Of a straight line and its square, however instants are spread: a value stands for the time around it."""
    time = np.sort(np.random.default_rng(3).uniform(0.0, 6.0, 4000))
    found = series(time, 2.0 * time - 1.0)
    assert found.mean == pytest.approx(time[0] + time[-1] - 1.0, rel=1e-12)
    assert found.std == pytest.approx(2.0 * np.ptp(time) / math.sqrt(12.0), rel=1e-5)


def test_of_few_values() -> None:
    assert series(np.array([2.0]), np.array([5.0])).mean == 5.0
    assert series(np.array([1.0, 1.0]), np.array([5.0, 7.0])).mean == 6.0
    assert math.isnan(crossing_period(series(np.arange(3.0), np.arange(3.0))))
    with pytest.raises(CommandError, match=r"longer than Tz is needed, got 1 and 2\."):
        value_lines(series(np.linspace(0, 20, 999), np.sin(3.0 * np.linspace(0, 20, 999))), 1.0, None)
    with pytest.raises(CommandError, match="3 values, too few for 4 blocks"):
        value_lines(series(np.arange(3.0), np.arange(3.0)), None, 4)


def test_gumbel_finds_its_parameters() -> None:
    """From evenly spread quantiles of the distribution; n^-1 of them."""
    share = (np.arange(200_000) + 0.5) / 200_000
    mode, beta = gumbel(40.0 - 5.0 * np.log(-np.log(share)))
    assert (mode, beta) == pytest.approx((40.0, 5.0), rel=1e-3)
    assert abs(EULER - np.euler_gamma) < 5e-6


@pytest.mark.parametrize("count", [2, 3, 10])
def test_gumbel_intervals_hold_as_often_as_they_say(count: int) -> None:
    """Of 2000 samples of a known distribution, however small: 90 % hold the mode of the largest in 50 blocks."""
    samples = np.random.default_rng(7).gumbel(40.0, 5.0, (2000, count))
    found = np.array([gumbel_interval(sample, 50.0) for sample in samples])
    true = 40.0 + 5.0 * math.log(50.0)
    assert ((found[:, 0] < true) & (true < found[:, 1])).mean() == pytest.approx(0.9, abs=0.02)


def test_few_blocks_are_told() -> None:
    time = np.arange(0.0, 3000.0, 0.5)
    found = series(time, np.random.default_rng(5).normal(size=len(time)))
    assert not any("note" in line for line in value_lines(found, 10_000.0, 12))
    (line,) = [line for line in value_lines(found, 10_000.0, 3) if "expected" in line and "Gumbel" in line]
    below, above = map(float, line.partition("confidence: ")[2].partition(")")[0].split(" to "))
    assert below < float(line.split()[-1]) < above
    assert any("note: 3 blocks of" in line for line in value_lines(found, 10_000.0, 3))
    assert any("12 blocks of 0." in line for line in value_lines(series(time[:30], found.values[:30]), None, 12))


def test_largest_values_of_blocks() -> None:
    assert block_maxima(series(np.arange(6.0), np.array([1.0, 5.0, 2.0, 3.0, 0.0, 4.0])), 2).tolist() == [5.0, 4.0]


def test_extreme_of_a_narrow_band() -> None:
    """Largest of N waves, by exceedance exp(-x^2/2) = 1/N of each."""
    found = rayleigh_extreme(0.0, 1.0, 10.0, 10_000.0)
    assert math.exp(-0.5 * found**2) == pytest.approx(1e-3, rel=1e-12)


def test_what_is_to_be_expected_in_a_longer_time() -> None:
    """Without a time nothing is; a time must be longer than one wave."""
    time = np.arange(1000) * 0.02
    found = series(time, 7.0 + 3.0 * np.sin(math.pi * time - 0.3))
    assert not any("expected" in line for line in value_lines(found, None, 5))
    lines = [line for line in value_lines(found, 1000.0, 5) if "expected" in line]
    expected = [rayleigh_extreme(7.0, 3.0 / math.sqrt(2.0), 2.0, 1000.0), 10.0]  # all blocks have one peak
    assert [float(line.split()[-1]) for line in lines] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(CommandError, match="a duration longer than Tz is needed, got 1 and 2"):
        value_lines(found, 1.0, None)


def test_sums_need_the_same_times() -> None:
    one, other = series(np.arange(3.0), np.ones(3)), series(np.arange(3.0) + 0.5, np.ones(3))
    assert added([one, one], [1.0, 4.0]).values.tolist() == [1.25, 1.25, 1.25]
    with pytest.raises(CommandError, match="not printed at the same times"):
        added([one, other], [1.0, 1.0])


def test_peaks_of_a_run_with_snaps_are_marked(tmp_path) -> None:
    """What ``run.json`` knows of them."""
    (tmp_path / "elements.csv").write_text(
        "step,increment,time,element,E,S,N,T\n1,1,0.1,7,0,0,0,5\n1,2,0.2,7,0,0,0,6\n"
    )
    (found,) = read_series(tmp_path, "T", "e", [7])
    assert found.notices == []
    record = {"deck": {"file": "a.inp"}, "settings": {}, "totals": {"events": {"snap": 3}}}
    (tmp_path / "run.json").write_text(json.dumps(record))
    (found,) = read_series(tmp_path, "T", "e", [7])
    assert "3 increments of this run are too long for lines that snap taut" in found.notices[0]


def test_gumbel_of_a_few_values() -> None:
    """By hand, of 1, 2, 3: the standard deviation of the sample (n - 1) is 1, of which beta is sqrt(6)/pi."""
    mode, beta = gumbel(np.array([1.0, 2.0, 3.0]))
    assert (mode, beta) == pytest.approx((2.0 - np.euler_gamma * beta, math.sqrt(6.0) / math.pi), rel=1e-5)


EXCESS = -np.log((np.arange(100) + 0.5) / 100)
"""Evenly spread quantiles of an exponential distribution."""


def test_the_interval_of_a_tail_ends_where_the_likelihood_has_fallen() -> None:
    """Coles (2001), 2.6.6: twice the fall is the 95 % fractile of chi square. The greatest over shapes: by another
    search. x = ln n of an exponential distribution, of which the quantiles lack the end."""
    x, low, high = interval_of(EXCESS / EXCESS.mean(), math.log(2000.0))
    assert low < x < high and x == pytest.approx(math.log(2000.0), rel=0.1)

    def likelihood(shape: float, x: float) -> float:
        scale = x * shape / math.expm1(shape * math.log(2000.0))
        return float(genpareto.logpdf(EXCESS / EXCESS.mean(), shape, scale=scale).sum())

    def greatest(x: float) -> float:
        found = minimize_scalar(lambda c: -likelihood(c, x), bounds=(-0.49, 0.49), options={"xatol": 1e-9})
        return -float(found.fun)

    for end in (low, high):
        assert 2.0 * (greatest(x) - greatest(end)) == pytest.approx(chi2.ppf(0.95, 1), abs=2e-4)
        assert profile(math.log(end), EXCESS / EXCESS.mean(), math.log(2000.0)) == pytest.approx(
            greatest(end), abs=1e-6
        )


def test_the_peaks_of_an_exponential_distribution_give_its_extreme() -> None:
    """4000 peaks with P(Y > y) = exp(-y), one in 2 of time: one in 40,000, ten times as long, exceeds ln 40,000. The
    highest tenth is taken."""
    peaks = np.random.default_rng(2).permutation(-np.log((np.arange(4000) + 0.5) / 4000))
    found = series(np.arange(8000.0), np.column_stack([peaks, np.full(4000, -4.0)]).ravel())
    (line,) = [line for line in value_lines(found, 79990.0, None) if "highest of" in line]
    assert "from the 400 highest of " in line
    assert float(line.split()[-1]) == pytest.approx(math.log(40_000.0), rel=0.02)
    count = tail_extreme(np.sort(peaks)[:1000], 0.0, 10.0).over
    assert count == 100


def test_values_are_those_of_their_step_from_their_time_on(tmp_path) -> None:
    """Two steps, whose total times go on."""
    rows = [(1, 1, 0.5, 3.0), (1, 2, 1.0, 4.0), (2, 1, 1.5, 7.0), (2, 2, 2.0, 9.0)]
    lines = [f"{step},{increment},{time},7,0,0,0,{value}" for step, increment, time, value in rows]
    (tmp_path / "elements.csv").write_text("\n".join(["step,increment,time,element,E,S,N,T", *lines, ""]))
    for step, start, expected in ((1, 0.0, [3, 4]), (2, 0.0, [7, 9]), (None, 1.0, [4, 7, 9]), (1, 1.0, [4])):
        (found,) = read_series(tmp_path, "T", "e", [7], step, start)
        assert found.values.tolist() == expected
