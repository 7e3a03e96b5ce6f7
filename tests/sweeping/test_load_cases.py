"""Load cases: extremes hold what is known of distributions as often as they say; names, seeds and shares of lists."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import genpareto, weibull_min

import fem
from fem.arrays import Columns, Floats
from fem.cli import main
from fem.errors import CommandError
from fem.show.extremes import FEWEST_PEAKS, Tail, peaks_over, tail_extreme
from fem.show.series import Series, value_lines
from fem.study.load_cases import GUMBEL, NONE, PARETO, over_cases
from fem.study.points import LoadCase, read_cases
from fem.study.row import LONGER, STATISTICS, Record, longer_of
from tests.sweeping.swings import write_swing

LONG = 20.0
"""A duration over that of the samples."""


def samples(shape: float, count: int, size: int, seed: int = 1) -> Floats:
    return np.asarray(genpareto.rvs(shape, size=(count, size), random_state=np.random.default_rng(seed)))


@pytest.mark.parametrize("shape", [-0.2, 0.0, 0.2])
def test_intervals_hold_the_quantile_of_peaks(shape):
    """Of generalised Pareto peaks, thirty over the threshold: 93 to 94 % of 400 samples hold it; here 60, with binomial
    bounds at three standard deviations."""
    true = genpareto.ppf(1.0 - 1.0 / (200 * LONG), shape)
    found = [tail_extreme(peaks, -1.0, LONG) for peaks in samples(shape, 60, 200)]
    assert np.mean([each.low <= true <= each.high for each in found]) >= 0.83


def test_the_tail_of_other_distributions_is_one_of_pareto():
    """Rayleigh peaks, as of a Gaussian process of narrow band: the largest in 20 times as many."""
    true = weibull_min.ppf(1.0 - 1.0 / (1000 * LONG), 2.0)
    peaks = weibull_min.rvs(2.0, size=(40, 1000), random_state=np.random.default_rng(2))
    found = [tail_extreme(each, 0.0, LONG) for each in peaks]
    assert np.mean([each.low <= true <= each.high for each in found]) >= 0.85
    assert {each.over for each in found} == {100}


def test_the_estimate_has_the_greatest_likelihood():
    """That of ``scipy.stats.genpareto.fit``, where its shape is one that is considered."""
    for peaks in samples(0.1, 8, 400):
        *excess, threshold = np.sort(peaks)[-41:][::-1]
        shape, _, scale = genpareto.fit(np.array(excess) - threshold, floc=0.0)
        expected = threshold + scale * ((40 * LONG) ** shape - 1.0) / shape
        assert tail_extreme(peaks, -1.0, LONG).value == pytest.approx(expected, rel=1e-3)


def test_units_and_order_do_not_matter():
    (peaks,) = samples(0.0, 1, 150)
    found = tail_extreme(peaks, -1.0, LONG)
    scaled = tail_extreme(1e6 * peaks[::-1] + 5e6, -1e6 + 5e6, LONG)
    assert scaled.over == found.over
    assert [(each - 5e6) / 1e6 for each in scaled[:3]] == pytest.approx(list(found[:3]), rel=1e-4)


def test_more_peaks_narrow_the_interval():
    width = [np.median([np.subtract(*tail_extreme(each, -1.0, LONG)[2:0:-1]) for each in samples(0.0, 20, size)])
             for size in (300, 1200, 4800)]  # fmt: skip
    assert width[0] > width[1] > width[2]


def test_peaks_that_cannot_tell_are_refused():
    (peaks,) = samples(0.0, 1, FEWEST_PEAKS)
    with pytest.raises(CommandError, match="30 peaks are too few: more than 30 are needed"):
        tail_extreme(peaks, -1.0, LONG)
    with pytest.raises(CommandError, match="all equal"):
        tail_extreme(np.full(100, 7.0), 0.0, LONG)
    with pytest.raises(CommandError, match="not one of 30 peaks is to be expected"):
        tail_extreme(samples(0.0, 1, 60)[0], -1.0, 0.01)


def test_peaks_are_the_largest_values_of_cycles():
    values = np.array([0.0, 2.0, 3.0, -1.0, -2.0, 1.0, -1.0, 4.0, 5.0])
    assert peaks_over(values, 0.5).tolist() == [3.0, 1.0, 5.0]
    assert len(peaks_over(np.sin(0.05 * np.arange(5000)), 0.0)) == math.ceil(5000 * 0.05 / (2.0 * math.pi))


def runs_of(largest: Floats, time: float = 100.0, number: str = "T_LINE", **others: object) -> dict[str, np.ndarray]:
    """Columns of runs with these largest values: means and standard deviations are one, a peak each second."""
    count = len(largest)
    known = dict.fromkeys((*STATISTICS, *LONGER), np.ones(count))
    known |= {"max": np.asarray(largest), "time": np.full(count, time), "cycles": np.full(count, time), **others}
    known |= {name: np.full(count, np.nan) for name in LONGER[3:] if name not in others}
    return {f"{number}_{name}": np.asarray(its) for name, its in known.items()}


def table_of(
    largest: Floats, duration: float = 1000.0, cases: tuple[LoadCase, ...] = (), verdict: str = "completed",
    record: Record | None = None, **others: object,
) -> list[dict[str, object]]:  # fmt: skip
    """Rows of the table of seeds 1, 2, ..., the last with this verdict."""
    count = len(largest)
    verdicts = np.array([*["completed"] * (count - 1), verdict])
    columns = {"Hs": np.ones(count), "SEED": np.arange(1.0, count + 1.0), "verdict": verdicts}
    sweep = Columns({**columns, **runs_of(largest, **others)})
    found = over_cases(sweep, ("Hs", "SEED"), record or Record("T_LINE", duration=duration), cases)
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


@pytest.mark.parametrize("count", [3, 12])
def test_extremes_of_seeds_hold_the_truth_in_95_percent(count):
    """Largest values with a Gumbel distribution (50, 4) in the time of a run: the mode in ten times that."""
    true = 50.0 + 4.0 * math.log(10.0)
    rows = [table_of(each)[0] for each in np.random.default_rng(5).gumbel(50.0, 4.0, (400, count))]
    assert {row["method"] for row in rows} == {GUMBEL} and {row["values"] for row in rows} == {count}
    holds = np.mean([row["extreme_low"] <= true <= row["extreme_high"] for row in rows])
    assert holds == pytest.approx(0.95, abs=0.04)


def test_units_of_seeds_their_order_and_their_number():
    largest = np.random.default_rng(6).gumbel(50.0, 4.0, 40)
    numbers = ("extreme", "extreme_low", "extreme_high", "max")
    (row,), (other,), (few,) = table_of(largest), table_of(1e-3 * largest[::-1]), table_of(largest[:8])
    assert [1e3 * float(other[name]) for name in numbers] == pytest.approx([row[name] for name in numbers], rel=1e-12)
    width, wider = (float(each["extreme_high"]) - float(each["extreme_low"]) for each in (row, few))
    assert width < 0.6 * wider


def test_one_seed_names_its_method():
    own = {"extreme": [61.0], "extreme_low": [55.0], "extreme_high": [80.0], "cycles": [400.0]}
    (row,) = table_of(np.array([57.0]), **own)
    assert [row[name] for name in ("extreme", "extreme_low", "extreme_high")] == [61.0, 55.0, 80.0]
    assert (row["method"], row["values"], row["note"]) == (PARETO, 40, "")
    (row,) = table_of(np.array([57.0]), cycles=[12.0])
    assert (row["method"], math.isnan(float(row["extreme"]))) == (NONE, True)
    assert row["note"] == "no estimate: 12 peaks are too few: more than 30 are needed"


def test_an_observed_maximum_above_the_estimate_is_said():
    own = {"extreme": [1.307e6], "extreme_low": [1.2e6], "extreme_high": [1.34e6], "cycles": [400.0]}
    (row,) = table_of(np.array([1.352e6]), **own)
    assert "the largest value seen exceeds the estimate and the upper end of its interval; 0.1 times" in str(
        row["note"]
    )
    (row,) = table_of(np.array([50.0, 52.0, 53.0, 54.0]), duration=100.0)
    assert row["note"] == "the largest value seen exceeds the estimate; 4 times the duration was simulated"


def test_what_failed_is_left_out_and_said():
    (row,) = table_of(np.array([50.0, 52.0, 57.0, 99.0]), verdict="no convergence")
    assert (row["seeds"], row["max"]) == (3, 57.0) and "1 of 4 runs failed and are left out" in str(row["note"])
    (row,) = table_of(np.array([50.0]), verdict="no convergence")
    assert row["method"] == NONE and "no estimate: no run is completed" in str(row["note"])
    (row,) = table_of(np.full(4, 50.0))
    assert row["method"] == NONE and "the largest values of all seeds are equal" in str(row["note"])


def test_shares_of_time_weigh_damage():
    record = Record("T_LINE", duration=1000.0, slope=3.0, constant=1.0)
    sweep = Columns({"Hs": np.array([1.0, 1.0, 2.0]), "SEED": np.array([1.0, 2.0, 1.0]),
                     "verdict": np.full(3, "completed"), **runs_of(np.array([1.0, 2.0, 3.0])),
                     "T_LINE_damage": np.ones(3), "T_LINE_rate": np.array([1.0, 3.0, 10.0])})  # fmt: skip
    cases = LoadCase("calm", (1.0,), 0.75), LoadCase("storm", (2.0,), 0.25)
    found = over_cases(sweep, ("Hs", "SEED"), record, cases)
    assert found["case"].tolist() == ["calm", "storm"] and found["rate"].tolist() == [2.0, 10.0]
    assert found["damage"].tolist() == [2000.0, 10000.0] and found["part"].tolist() == [0.375, 0.625]


def test_a_record_of_a_run_has_its_own_estimate():
    """Peaks, skewness and time of squares of a Gaussian series; the extreme as ``tail_extreme`` has it."""
    values = np.random.default_rng(9).normal(size=4000) ** 2
    series = Series("T_e1", np.arange(4000.0), np.arange(4000.0), values)
    skew, cycles, time, *extreme = longer_of(series, 40_000.0)
    peaks = peaks_over(values, series.mean)
    assert skew == pytest.approx(math.sqrt(8.0), rel=0.2) and (cycles, time) == (len(peaks), 3999.0)
    assert tuple(extreme) == tail_extreme(peaks, series.mean, 40_000.0 / 3999.0)[:3]
    assert np.isnan(longer_of(Series("T_e1", np.zeros(1), np.zeros(1), np.ones(1)), 10.0)[3:]).all()


def test_post_says_where_an_estimate_is_exceeded():
    """A series with one snap: the Rayleigh distribution knows nothing of it."""
    time = np.arange(0.0, 2000.0, 0.5)
    values = np.sin(time) + 0.1 * np.random.default_rng(3).normal(size=len(time))
    values[1000] = 9.0
    lines = value_lines(Series("T_e1", time, time, values), 10_800.0, None)
    place = next(n for n, line in enumerate(lines) if "(Rayleigh)" in line)
    assert lines[place + 1].startswith(
        "  note: the largest value of these 1999.5, 9, exceeds this estimate: Rayleigh's"
    )
    assert any("highest of" in line and "generalised Pareto" in line for line in lines)
    assert any(line.startswith("  skewness  ") for line in lines)
    short = value_lines(Series("T_e1", time[:99], time[:99], values[:99]), 10_800.0, None)
    assert any("peaks over a threshold:" in line and "too few" in line for line in short)
    assert not any("exceeds" in line for line in short)


LIST = "case, Hs, seeds, occurrences\ncalm, 1, 2, 3\nstorm, 3, 3, 1\n"


def test_a_list_has_names_seeds_and_shares(tmp_path):
    (tmp_path / "list.csv").write_text(LIST)
    points = read_cases(tmp_path / "list.csv")
    assert points.names == ("Hs", "SEED")
    assert points.values == ((1.0, 1.0, 3.0, 3.0, 3.0), (1.0, 2.0, 1.0, 2.0, 3.0))
    assert points.cases == (LoadCase("calm", (1.0,), 0.75), LoadCase("storm", (3.0,), 0.25))
    (tmp_path / "list.csv").write_text("Case;Hs;Seeds\nstorm, ahead;1,5;1\n")
    points = read_cases(tmp_path / "list.csv")
    assert points.values == ((1.5,), (1.0,)) and points.cases[0].name == "storm, ahead"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LIST.replace("storm", "calm"), "list.csv:3: calm is already the case of line 2"),
        (LIST.replace("3, 3", "1, 3"), "list.csv:3:1: the same parameter set as in line 2"),
        (LIST.replace("3, 1\n", "3, -1\n"), "list.csv:3: a negative value of occurrences: -1"),
        (LIST.replace("2, 3", "2.5, 3"), "list.csv:2: seeds must be a whole number from 1 on, got 2.5"),
        (LIST.replace("2, 3", "0, 3"), "list.csv:2: seeds must be a whole number from 1 on, got 0"),
        (LIST.replace("occurrences", "probability"), "the probabilities have the sum 4; expected at most 1"),
        (LIST.replace("seeds", "SEED"), "list.csv:1:11: where a list has case, occurrences, a line is a case of all"),
        ("case, seeds\ncalm, 2\n", "list.csv:1:1: a list of cases needs a column of a *PARAMETER"),
        ("Hs, seeds\n1, 6000000\n2, 6000000\n", "list.csv: 12000000 parameter sets; at most"),
        ("Hs, probability, occurrences\n1, 1, 1\n", "list.csv:2: give one of probability and occurrences"),
    ],
)
def test_what_cannot_be_in_a_list_is_said_with_its_place(tmp_path, text, said):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(CommandError) as error:
        read_cases(tmp_path / "list.csv")
    assert said in str(error.value)


SEEDED = ("gravity = 9.81", "SEED = 1\ngravity = 9.81")


@pytest.fixture
def deck(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text("case,length,seeds,probability\ncalm,1.0,1,0.5\nstorm,2.0,2,0.1\n")
    return write_swing(tmp_path, *SEEDED)


WORDS = ("--record", "T_BAR", "--duration", "10", "--slope", "3", "--constant", "1e6", "--workers", "1")


def test_the_command_writes_a_row_for_each_case_and_line(deck, capsys):
    """One seed of 20 increments has too few peaks, and seeds that change nothing have no distribution: both are said.
    The table in NPY has the same numbers, the report its rows."""
    assert main(["sweep", str(deck), "--cases", "list.csv", *WORDS, "--output", "out"]) == 0
    said = capsys.readouterr().out
    with Path("out/load_cases.csv").open(newline="") as file:
        calm, storm = csv.DictReader(file)
    assert (calm["case"], calm["number"], calm["seeds"], storm["seeds"]) == ("calm", "T_BAR", "1", "2")
    assert "peaks are too few" in calm["note"] and "equal" in storm["note"] and calm["note"] in said
    with Path("out/sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(calm["max"]) == float(rows[0]["T_BAR_max"]) and len(rows) == 3
    assert Path("out/scatter.csv").read_text().splitlines()[2].startswith("2.0,0.1,")
    assert Path("out/fatigue.csv").is_file()
    assert main(["report", "out"]) == 0
    page = Path("out/report.html").read_text()
    assert "Load cases" in page and "load_cases.csv has all columns" in page and "storm" in page
    assert main(["sweep", str(deck), "--cases", "list.csv", *WORDS, "--output", "out", "--format", "npy"]) == 0
    table = np.load("out/load_cases.npy")
    assert table["max"].tolist() == [float(calm["max"]), float(storm["max"])]
    assert not Path("out/load_cases.csv").exists() and json.loads(Path("out/sweep.json").read_text())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--record", "T_BARS", "--duration", "10"], "there is no element set BARS; there is only BAR"),
        (["--duration", "10"], "--duration and --error-bars need --record"),
        (["--error-bars"], "--duration and --error-bars need --record"),
        ([*WORDS, "--occurrences", "list.csv"], "list.csv has shares of time already"),
    ],
)
def test_what_cannot_be_asked_is_refused(deck, capsys, words, said):
    assert main(["sweep", str(deck), "--cases", "list.csv", *words]) == 2
    assert said in capsys.readouterr().err and not Path("results").exists()


def test_words_of_lists_are_no_parameters(tmp_path):
    (tmp_path / "list.csv").write_text("length,seeds\n1.0,2\n")
    with pytest.raises(CommandError, match=r"list.csv:1:8: seeds is a word of lists of cases"):
        fem.sweep(write_swing(tmp_path, "gravity = 9.81", "seeds = 1\ngravity = 9.81"), cases=tmp_path / "list.csv")
    with pytest.raises(CommandError, match=r"list.csv:1:8: the deck has no \*PARAMETER SEED"):
        fem.sweep(write_swing(tmp_path), cases=tmp_path / "list.csv")
    with pytest.raises(CommandError, match="a duration must be positive, got -1"):
        Record("T_e1", duration=-1.0)


def test_error_bars_are_those_of_single_runs(deck):
    record = Record("T_BAR, T_e1", duration=10.0, bars=True)
    found = fem.sweep(deck, {"length": [1.0, 2.0]}, record=record, workers=1)
    assert not found.failed.any()
    for place, length in enumerate((1.0, 2.0)):
        bars = fem.error_bars(deck, {"length": length}, processes=1)
        assert found["T_e1_max_err"][place] == pytest.approx(bars.bar("max:T_e1"), rel=1e-6)
    table = found.over_cases()
    assert table is not None and table["max_err"].tolist()[0] == found["T_BAR_max_err"][0]
    assert fem.sweep(deck, {"length": [1.0]}).over_cases() is None


def test_tails_name_their_numbers():
    assert Tail(1.0, 0.5, 2.0, 30)._fields == ("value", "low", "high", "over")
