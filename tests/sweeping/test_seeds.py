"""Statistics over seeds: intervals hold what they should, minima are mirrored maxima, groups are kept apart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from fem.cli import main
from fem.study import scatter as seeds
from fem.study.sweep import Sweep


def swept(**columns: object) -> Sweep:
    """A table over seeds 1, 2, ... of what has completed."""
    given = {name: np.asarray(values) for name, values in columns.items()}
    count = len(next(iter(given.values())))
    names = tuple(name for name in given if "_" not in name)
    return Sweep({**given, "verdict": np.full(count, "completed")}, names)


def test_intervals_hold_the_truth_in_about_95_percent():
    """Gumbel(10, 2), 30 values, 400 times: binomial bounds at four standard deviations; mean = 10 + 2 gamma."""
    rng = np.random.default_rng(3)
    samples = rng.gumbel(10.0, 2.0, (400, 30))
    fractile = 10.0 - 2.0 * math.log(-math.log(seeds.FRACTILE))
    *_, low, high = np.transpose([seeds.gumbel_of(sample) for sample in samples])
    _, least, most, _ = np.transpose([seeds.mean_of(sample) for sample in samples])
    mean = 10.0 + 2.0 * np.euler_gamma
    assert 0.90 <= np.mean((low <= fractile) & (fractile <= high)) <= 0.99
    assert 0.90 <= np.mean((least <= mean) & (mean <= most)) <= 0.99


def test_minima_are_mirrored_maxima():
    values = np.random.default_rng(4).gumbel(5.0, 1.0, 12)
    found = swept(SEED=np.arange(12.0), T_1_max=values, T_2_min=-values).over_seeds()
    (up, down) = (dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True))
    assert (up["p90"], up["p90_low"], up["p90_high"]) == (-down["p90"], -down["p90_high"], -down["p90_low"])
    assert down["p90_low"] < down["p90"] < down["p90_high"]
    assert (up["mean"], up["std"], up["scale"]) == pytest.approx((-down["mean"], down["std"], down["scale"]))


def test_other_parameters_keep_their_rows_and_failed_runs_are_left_out():
    sweep = swept(Hs=[1.0] * 3 + [2.0] * 3, seed=[1.0, 2.0, 3.0] * 2, T_1_max=[1.0, 2.0, 4.0, 10.0, 20.0, 40.0])
    sweep["verdict"][5] = "no convergence"
    found = sweep.over_seeds()
    assert (found["Hs"].tolist(), found["seeds"].tolist()) == ([1.0, 2.0], [3, 2])
    assert found["mean"].tolist() == pytest.approx([7.0 / 3.0, 15.0])


def test_nothing_is_made_up():
    """Equal values have no distribution; without seeds that vary there is no table."""
    assert np.isnan(swept(SEED=[1.0, 2.0], T_1_max=[3.0, 3.0]).over_seeds()["p90"]).all()
    assert swept(Hs=[1.0, 2.0], T_1_max=[3.0, 4.0]).over_seeds() is None
    assert swept(Hs=[1.0, 2.0], SEED=[1.0, 2.0], T_1_max=[3.0, 4.0]).over_seeds() is None


def test_a_wrong_fit_is_not_shown(monkeypatch):
    monkeypatch.setattr("scipy.optimize.brentq", lambda excess, low, high, xtol: low)
    assert np.isnan(seeds.gumbel_of(np.arange(5.0))).all()


@pytest.mark.parametrize("k", [2, 3, 12, 400])
def test_the_likelihood_is_the_greatest(k):
    """Of normal, heavy-tailed and nearly equal values: no neighbour of location and scale has a greater one."""
    rng = np.random.default_rng(k)
    for values in (rng.normal(size=k), np.exp(5.0 * rng.normal(size=k)), np.eye(k)[0], 1e6 + rng.normal(size=k) / 1e4):
        location, scale = seeds.gumbel_of(values)[:2]

        def likelihood(x: float, s: float, values: np.ndarray = values) -> float:
            z = (values - x) / s
            return float(-np.log(s) - np.mean(z + np.exp(-z)))

        best = likelihood(location, scale)
        for shift in (-1e-3, 1e-3):
            assert best > likelihood(location + shift * scale, scale), values
            assert best > likelihood(location, scale * (1.0 + shift)), values


@pytest.mark.parametrize("power", [-1070, -1000, -100, -53, 500, 1022])
def test_units_do_not_matter(power):
    """Values 2^p times as large have statistics 2^p times as large: round-off beside newtons costs no statistic."""
    values = np.random.default_rng(8).gumbel(0.0, 0.1, 9)
    small = np.ldexp(np.ldexp(values, power), -power)  # what subnormal numbers leave of them
    found = swept(SEED=np.arange(9.0), T_1_max=values, U3_4_min=np.ldexp(values, power)).over_seeds()
    one, other = (np.array([found[name][row] for name in seeds.COLUMNS]) for row in (0, 1))
    expected = seeds.statistics_of(small, -1.0)
    assert other == pytest.approx(np.ldexp(expected, power), rel=1e-9, abs=5e-324)
    assert np.isfinite(one).all()


def test_the_command_writes_and_prints_them(tmp_path, capsys):
    words = "inputs/sea_state.inp --vary SEED=1:3 --set period=2 --workers 1 --record T_e16 --output"
    assert main(["sweep", *words.split(), str(tmp_path / "out")]) == 0
    rows = (tmp_path / "out" / seeds.SEEDS).read_text().splitlines()
    assert rows[0].startswith("number,seeds,mean,") and any(row.startswith("T_e16_max,3,") for row in rows)
    said = capsys.readouterr().out
    assert "90 % of seas within" in said and "fewer than 10 seeds" in said


@pytest.mark.parametrize("k", [2, 5, 30])
def test_intervals_are_those_of_their_formulas(k):
    """Of the mean: Student's t, as SciPy has it. Of the fractile: the delta method with the covariance of maximum
    likelihood, s^2/k times 1 + 6 (1 - gamma)^2/pi^2, 6/pi^2, 6 (1 - gamma)/pi^2 (Johnson, Kotz & Balakrishnan 1995)."""
    values = np.random.default_rng(k).gumbel(10.0, 2.0, k)
    mean, low, high, spread = seeds.mean_of(values)
    expected = t.interval(0.95, k - 1, values.mean(), values.std(ddof=1) / math.sqrt(k))
    assert (low, high) == pytest.approx(expected, rel=1e-12) and (mean, spread) == (values.mean(), values.std(ddof=1))
    location, scale, fractile, low, high = seeds.gumbel_of(values)
    at, less = -math.log(-math.log(0.9)), 1.0 - np.euler_gamma
    assert fractile == pytest.approx(location + at * scale, rel=1e-12)
    whole = 1.0 + 6.0 * less**2 / math.pi**2 + 2.0 * at * 6.0 * less / math.pi**2 + at**2 * 6.0 / math.pi**2
    half = norm.ppf(0.975) * scale * math.sqrt(whole / k)
    assert (low, high) == pytest.approx((fractile - half, fractile + half), rel=1e-3)
