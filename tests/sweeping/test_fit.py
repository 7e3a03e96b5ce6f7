"""``fem fit``: where the model is linear, the closed forms of linear regression; what cannot be told is said."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.special import stdtrit

import fem
from fem.cli import main
from fem.commands.arguments import file_with_values
from fem.compiled.choice import is_plain
from fem.study.fit import Fitted, Runs, certainty, correlated, in_words
from fem.study.tracks import Observed, Track

ROOT = Path(__file__).resolve().parents[2]
BAR = """*PARAMETER
E = 100.
P = 2.
thin = 0.5
area = 1 - thin
*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
<E>
*SOLID SECTION, ELSET=BAR, MATERIAL=M
<area>
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP
*STATIC, DIRECT
0.1, 1.
*CLOAD
2, 1, <P>
*END STEP
"""
"""A bar whose end moves by u = t P/(E area)."""
TIME = np.linspace(0.2, 1.0, 9)
ERRORS = np.random.default_rng(5).normal(0.0, 1e-3, len(TIME))


@pytest.fixture
def deck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bar.inp").write_text(BAR)
    return "bar.inp"


def record(load=3.0, errors=ERRORS):
    """End displacements for P = load and the deck's other values."""
    return {"time": TIME, "U1_n2": TIME * load / 50.0 + errors}


def row_of(folder):
    with Path(folder, "fit.csv").open(newline="") as file:
        return next(csv.DictReader(file))


def written(name, **columns):
    rows = zip(*columns.values(), strict=True)
    Path(name).write_text("\n".join([",".join(columns), *(",".join(map(repr, map(float, row))) for row in rows)]))
    return name


def test_a_linear_parameter_has_the_interval_of_linear_regression(deck):
    """Closed form: P = sum x y / sum x^2 with x = t/50; Student's t; fewer independent ones where errors are alike."""
    told: list[str] = []
    found = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, say=told.append)
    assert told[0].startswith("2 runs: P=2, sum of squares")
    x, y = TIME / 50.0, record()["U1_n2"]
    best = x @ y / (x @ x)
    std = np.sqrt(np.sum((y - best * x) ** 2) / (len(x) - 1) / (x @ x))
    assert found.parameters["P"] == pytest.approx(best, rel=1e-7)
    effective = found.table["effective"][0]
    widened = std * np.sqrt(len(x) / effective)
    assert found.table["std"][0] == pytest.approx(widened, rel=1e-5) and effective <= len(x)
    assert found.table["high"][0] - best == pytest.approx(widened * stdtrit(effective - 1.0, 0.975), rel=1e-4)
    assert found.is_converged and found.rms["U1_n2"][0] == pytest.approx(np.sqrt(np.mean((y - best * x) ** 2)))


def test_no_run_is_made_twice(deck, monkeypatch):
    """Not where sigmas change between descents, nor for the derivatives at the end."""
    made: list[tuple[bool, bytes]] = []
    values = Runs.values

    def noted(its, points, records, tighter=False):
        made.extend((tighter, point.tobytes()) for point in points)
        return values(its, points, records, tighter)

    monkeypatch.setattr(Runs, "values", noted)
    both = record() | {"T_e1": TIME * 3.0 + 5.0 * ERRORS[::-1]}
    fem.fit(deck, [both], {"P": (-10.0, 10.0), "E": (50.0, 200.0)}, starts=2, workers=1)
    assert len(made) == len(set(made))


@pytest.mark.parametrize("frequency", [1e4, 1.1e5, 1.3e6])
def test_a_rough_response_is_fitted_in_few_runs(deck, monkeypatch, frequency):
    """u = P x and ripples of the size of its errors, of which the noise tells: after a failed step those that gain
    less than noise are not tried, and the interval is that of linear regression, by steps that suit the noise."""
    values = Runs.values

    def rippled(its, points, records, tighter=False):
        ripples = [6e-4 * np.sin(frequency * point[0] * np.arange(1, 10) + tighter) for point in points]
        found = values(its, points, records, tighter)
        return [[row + by for row in rows] for rows, by in zip(found, ripples, strict=True)]

    monkeypatch.setattr(Runs, "values", rippled)
    found = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, workers=1)
    assert found.search["runs"] <= 16 and found.search["difference steps"]["P"] > 0.01 and not found.undetermined
    x, residual = TIME / 50.0, found.residuals["residual"]
    std = np.sqrt(np.sum(residual**2) / (len(x) - 1) / (x @ x) * len(x) / found.table["effective"][0])
    assert found.table["std"][0] == pytest.approx(std, rel=0.02)


def test_derivatives_that_mislead_are_told(deck, monkeypatch):
    """u = P x with ripples that a tighter criterion does not change, steep enough to mislead one-sided differences."""
    values = Runs.values

    def rippled(its, points, records, tighter=False):
        found = values(its, points, records, tighter)
        return [[row + 2e-3 * np.sin(300.0 * p[0]) for row in rows] for rows, p in zip(found, points, strict=True)]

    monkeypatch.setattr(Runs, "values", rippled)
    found = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, workers=1)
    assert any("did not fall as predicted" in text for text in found.notices)


def test_a_logarithm_gives_the_same_value_and_a_positive_interval(deck):
    linear = fem.fit(deck, [record()], {"P": (0.5, 4.9)})
    log = fem.fit(deck, [record()], {"P": (0.1, 10.0)})
    assert log.parameters["P"] == pytest.approx(linear.parameters["P"], rel=1e-6)
    assert log.table["std"][0] == pytest.approx(linear.table["std"][0], rel=1e-3)
    assert np.sqrt(log.table["low"][0] * log.table["high"][0]) == pytest.approx(log.parameters["P"], rel=1e-6)


def test_what_cannot_be_told_apart_is_said(deck):
    found = fem.fit(deck, [record()], {"P": (0.1, 10.0), "E": (10.0, 1000.0)})
    assert found.undetermined == ("only P/E is determined",)
    assert found.parameters["P"] / found.parameters["E"] == pytest.approx(0.03, rel=0.02)
    assert abs(found.correlation[0, 1]) > 0.99 and np.isnan(found.table["low"]).all()
    assert "not determined" in str(found)


@pytest.mark.parametrize(
    ("direction", "text"),
    [
        ([0.7071, 0.7071, 0.0], "only EA/L is determined"),
        ([0.7071, -0.7071, 0.0], "only EA*L is determined"),
        ([-0.4472, 0.8944, 0.0], "only EA*L**0.5 is determined"),
        ([0.0, 0.01, 1.0], "mu is not determined: its effect on the measured columns is within their noise"),
    ],
)
def test_directions_in_words(direction, text):
    varied = [Fitted("EA", 1.0, 100.0, True), Fitted("L", 1.0, 100.0, True), Fitted("mu", 0.0, 1.0, False)]
    assert in_words(np.array([direction]), varied) == [text]


def test_a_bound_that_is_reached_is_named(deck):
    found = fem.fit(deck, [record()], {"P": (1.0, 2.5)})
    assert found.table["at_bound"].tolist() == ["upper"] and np.isnan(found.table["low"][0])
    assert "P is at its upper bound" in found.notices[0] and "at its upper bound" in str(found)


@pytest.mark.long
def test_runs_that_fail_are_bounded_and_told(deck):
    """Beyond thin = 1 there is no area, and the deck cannot be read; u = t P/(E (1 - thin)) is largest just before."""
    steep = {"time": TIME, "U1_n2": TIME * 2.0 / 100.0 / 0.02 * (1.0 + ERRORS)}
    found = fem.fit(deck, [steep], {"thin": (-5.0, 5.0)}, starts=3)
    assert found.parameters["thin"] == pytest.approx(0.98, abs=1e-3) and found.search["runs"] < 300
    assert any("runs failed (the first: error" in text for text in found.notices)
    with pytest.raises(fem.NoConvergence, match="fail at all starts"):
        fem.fit(deck, [steep], {"P": (1.0, 3.0)}, parameters={"thin": 0.5, "E": 1e-300})


def test_sigma_weighs_columns_and_widens_where_it_is_too_small(deck):
    both = record() | {"T_e1": TIME * 4.0}  # P = 4 by the tension, 3 by the displacement
    by_tension = fem.fit(deck, [both], {"P": (-10.0, 10.0)}, sigma={"T_e1": 1e-3, "U1_n2": 1.0})
    assert by_tension.parameters["P"] == pytest.approx(4.0, rel=1e-4)
    small = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, sigma={"U1_n2": 1e-6})
    large = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, sigma={"U1_n2": 1e-2})
    x = TIME / 50.0
    assert large.table["std"][0] >= 1e-2 / np.sqrt(x @ x) * (1.0 - 1e-6)
    assert small.table["std"][0] > 100.0 * 1e-6 / np.sqrt(x @ x)


def test_several_records_with_their_own_values_and_some_left_out(deck):
    own = [(2.0, 80.0), (3.0, 90.0), (2.5, 110.0), (1.0, 70.0)]
    records = [(record(load * 50.0 / (E / 2.0)), {"P": load, "E": E}) for load, E in own]
    found = fem.fit(deck, records, {"thin": (0.1, 0.9)}, hold_out=0.5)
    assert found.parameters["thin"] == pytest.approx(0.5, abs=0.02)
    parts = dict(zip(found.residuals["record"].tolist(), found.residuals["part"].tolist(), strict=True))
    assert list(parts.values()) == ["fit", "left out", "fit", "left out"]
    off = found.residuals["residual"][found.residuals["part"] == "left out"]
    assert found.rms["U1_n2"][1] == pytest.approx(np.sqrt(np.mean(off**2)))


@pytest.mark.parametrize(("memory", "least"), [(0.0, 0.92), (0.8, 0.88)])
def test_intervals_hold_the_truth_also_where_errors_are_correlated(memory, least):
    """A line and a wave through errors e = memory e_before + noise; without the widening 95 % would be 60 % at 0.8."""
    rng, time = np.random.default_rng(1), np.linspace(0.0, 1.0, 150)
    columns = np.column_stack([np.ones_like(time), time, np.sin(12.0 * time)])
    held = []
    for _ in range(200):
        errors = lfilter([1.0], [1.0, -memory], rng.normal(size=250))[100:]
        found, *_ = np.linalg.lstsq(columns, errors, rcond=None)
        residual = errors - columns @ found
        sigma = np.sqrt(residual @ residual / (150 - 3))
        its = certainty(columns / sigma, residual / sigma, [np.arange(150)], np.ones(150), np.zeros(3))
        held.append(np.abs(found) <= its.half)
    assert least <= np.mean(held) <= 0.985


@pytest.mark.long
def test_processes_give_what_one_gives(deck, monkeypatch):
    monkeypatch.setattr("fem.study.fit.START_UP", 0.0)
    records = [(record(load), {"P": load}) for load in (2.0, 3.0)]
    one, two = (fem.fit(deck, records, {"E": (50.0, 200.0)}, workers=count) for count in (1, 2))
    assert one.parameters == two.parameters and one.search == two.search
    assert [column.tolist() for column in one.residuals.values()] == [c.tolist() for c in two.residuals.values()]


@pytest.mark.long
def test_the_command_writes_tables_figure_and_deck(deck, capsys):
    data = written("run.csv", **record())
    words = ["fit", deck, data, "--vary", "P=-10:10", "--sigma", "U1_n2=0.001", "--write", "fitted.inp"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "as options     --set P=" in printed
    row = row_of("results/bar_fit")
    assert float(row["low"]) < 3.0 < float(row["high"])
    assert fem.read_deck("fitted.inp").parameters["P"] == float(row["value"])
    kept = json.loads(Path("results/bar_fit/fit.json").read_text())
    assert kept["parameters"]["P"] == float(row["value"]) and kept["sigma"] == {"U1_n2": 0.001}
    assert len(Path("results/bar_fit/residuals.csv").read_text().splitlines()) == 1 + len(TIME)
    assert Path("results/bar_fit/fit.png").stat().st_size > 10_000
    assert main([*words[:-1], "other.inp", "--quiet"]) == 0  # replaces what it has written


def test_a_table_of_records(deck):
    """One line for each run, with statistics of it: largest displacements P/(E area)."""
    written("cases.csv", P=[2.0, 3.0, 4.0, 5.0], U1_n2_max=[0.0501, 0.0748, 0.1002, 0.1249])
    assert main(["fit", deck, "--cases", "cases.csv", "--vary", "E=50:200:linear", "--hold-out", "0.5", "--quiet"]) == 0
    row = row_of("results/bar_fit")
    assert float(row["value"]) == pytest.approx(80.0, rel=0.01)


def test_record_words(deck, capsys):
    assert file_with_values("a:b/run3.csv:period=1.6,r=0.2") == (Path("a:b/run3.csv"), {"period": 1.6, "r": 0.2})
    for words, message in (("run.csv", "is not of the form FILE.csv"), ("run.csv:P=x", "'x' in 'P=x' is not a number")):
        with pytest.raises(SystemExit):
            main(["fit", deck, "--record", words, "--vary", "P=1:3"])
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("time,W1_n2\n1.,2.", [], "run.csv:1:6: there is no quantity of nodes W1"),
        ("time,load\n1.,2.", [], "run.csv:1:6: 'load' does not name a series"),
        ("tme,U1_n2\n1.,2.", [], "run.csv:1:1: the column time is missing; did you mean"),
        ("time,U1_n2\n0.5,inf", [], "run.csv:2:5: 'inf' is not a finite number"),
        ("time,U1_n2\n(s),(m)\n0.5,\n", [], "every row has a gap"),
        ("time,U1_n2\n0.5,1.\n0.5,2.", [], "run.csv:3: time 0.5 is not after 0.5"),
        ("time,U1_n2\n0.5,1.\n1.5,2.", [], "run.csv:3: time 1.5 is outside the run, which lasts from 0 to 1"),
        ("time,U1_n7\n0.5,1.", [], "U1_n7: the deck has no node 7; the nearest label is 2"),
        ("time,U1_n2_max\n0.5,1.", [], "run.csv:1:6: U1_n2_max is a number for a whole run"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--vary", "E2=1:2"], "the deck has no *PARAMETER E2"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--vary", "E=200:50"], "E: 200 and 50 are not a lower and an upper bound"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--vary", "E=1:2"], "E: the search starts at the deck's value 100"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--vary", "E=50"], "'E=50' is not of the form NAME=low:high"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--vary", "E=-1:200:log"], "a logarithm needs bounds above zero"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--set", "P=1"], "parameter P is varied, and set"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--sigma", "U2_n2=1"], "expected a column and its standard deviation"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--step", "2"], "--step 2: the deck has 1 step"),
        ("time,U1_n2\n0.5,1.", [], "1 measurements cannot determine 1 parameters"),
        ("time,U1_n2\n0.5,1.\n0.6,1.", ["--record", "run.csv:q=1"], "run.csv: the deck has no *PARAMETER q"),
    ],
)
def test_mistakes(deck, capsys, text, words, message):
    Path("run.csv").write_text(text)
    assert main(["fit", deck, "run.csv", "--vary", "P=-10:10", *words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("results").exists()


@pytest.mark.long
def test_the_example_of_the_page_holds_the_truth():
    """EA, density and Cd with which inputs/circled_weight.csv was made."""
    bounds = {"EA": (5e3, 1e5), "density": (800.0, 1500.0), "Cd": (0.3, 4.0)}
    found = fem.fit(ROOT / "inputs/circled_weight.inp", [ROOT / "inputs/circled_weight.csv"], bounds, step=2, workers=1)
    for row, truth in enumerate((21000.0, 1150.0, 1.35)):
        assert found.table["low"][row] < truth < found.table["high"][row]
    assert found.sigma["T_e1"] == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize(
    ("head", "separator", "gap"), [("time,U1_n2\n(s),(m)", ",", ""), ("time (s);U1_n2 [m]", ";", "NaN")]
)
def test_units_gaps_and_semicolons(tmp_path, head, separator, gap):
    """k = 144: u = sin(12 t) / 12 of 1 kg that sets off with 1 m/s; a gap and the units are told."""
    (tmp_path / "sdof.inp").write_text(
        "*PARAMETER\nk = 100.\n*NODE\n1,0,0,0\n2,1,0,0\n*ELEMENT,TYPE=SPRINGA,ELSET=S\n1,1,2\n*SPRING,ELSET=S\n\n<k>\n"
        "*ELEMENT,TYPE=MASS,ELSET=M\n2,2\n*MASS,ELSET=M\n1.\n*BOUNDARY\n1,1,3\n2,2,3\n"
        "*INITIAL CONDITIONS,TYPE=VELOCITY\n2,1,1.\n*STEP\n*DYNAMIC,DIRECT\n0.002,0.5\n*NODE PRINT\nU\n*END STEP\n"
    )
    rows = [f"{t:.3f}{separator}{np.sin(12.0 * t) / 12.0:.9f}" for t in np.arange(0.0, 0.5, 0.02)]
    rows[3] = rows[3].partition(separator)[0] + separator + gap
    text = "\n".join([head, *(row.replace(".", ",") if separator == ";" else row for row in rows), ""])
    (tmp_path / "run.csv").write_text(text)
    found = fem.fit(tmp_path / "sdof.inp", [tmp_path / "run.csv"], {"k": (10.0, 1000.0)})
    assert found.parameters["k"] == pytest.approx(144.0, rel=1e-3)
    assert any("1 of 25 rows have gaps" in notice for notice in found.notices)
    assert any("are not used: numbers have the units of the deck" in notice for notice in found.notices)


@pytest.mark.long
@pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")
def test_derivatives_of_the_runs_find_the_same_in_fewer(deck, monkeypatch):
    """The values, intervals and what cannot be told apart are those by differences. The noise of the numbers steers
    differences: without these it is measured once."""
    measured: list[bool] = []
    values = Runs.values
    monkeypatch.setattr(Runs, "values", lambda *its: (measured.append(its[-1] is True), values(*its))[1])
    for vary in ({"P": (0.1, 10.0)}, {"P": (0.1, 10.0), "thin": (0.1, 0.9)}):
        by_runs = fem.fit(deck, [record()], vary)
        measured.clear()
        exact = fem.fit(deck, [record()], vary, gradients=True)
        assert sum(measured) == 1
        assert exact.search["runs"] < 0.6 * by_runs.search["runs"]
        assert exact.undetermined == by_runs.undetermined
        if len(vary) == 1:
            assert exact.parameters["P"] == pytest.approx(by_runs.parameters["P"], rel=1e-6)
            assert exact.table["std"][0] == pytest.approx(by_runs.table["std"][0], rel=1e-4)
    measured.clear()
    fem.fit(deck, [record()], {"P": (0.1, 10.0)}, gradients=True, starts=2)
    assert measured == [False, True, True]  # all points at once, and the noise at both starts


@pytest.mark.long
@pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")
def test_derivatives_that_grow_without_bound_are_left():
    """A chain that goes slack and snaps taut in each turn: tensions by drag, 1e5 and more of what they are."""
    told: list[str] = []
    pulls = {"time": np.linspace(2.0, 3.5, 4), "T_e66": np.array([20.0, 50.0, 20.0, 20.0])}
    deck, mesh = ROOT / "inputs" / "bergdahl.inp", {"turns": 2.0, "dt": 0.0025}
    fem.fit(deck, [pulls], {"Cd": (2.0, 3.0)}, parameters=mesh, gradients=True, workers=1, say=told.append)
    assert told[0].startswith("derivatives from differences of runs: those of the runs grow without bound")


@pytest.mark.long
def test_decks_without_derivatives_are_fitted_by_differences(deck):
    Path(deck).write_text(BAR.replace("*STATIC, DIRECT\n0.1, 1.", "*STATIC, RIKS\n0.1, 1., 1e-6, 0.1, 1."))
    told: list[str] = []
    found = fem.fit(deck, [record()], {"P": (1.0, 5.0)}, gradients=True, say=told.append)
    assert any(text.startswith("derivatives from differences of runs: step 1") for text in told)
    assert found.parameters["P"] == pytest.approx(3.0, rel=0.05)


def test_of_a_single_record_the_end_is_left_out(deck):
    """Computed values are those of the deck, P t/50, residuals computed less measured."""
    found = fem.fit(deck, [record()], {"P": (-10.0, 10.0)}, hold_out=0.34)
    table = found.residuals
    assert table["part"].tolist() == ["fit"] * 6 + ["left out"] * 3 and table["time"] == pytest.approx(TIME)
    assert table["computed"] == pytest.approx(found.parameters["P"] * TIME / 50.0, rel=1e-9)
    assert table["residual"] == pytest.approx(table["computed"] - table["measured"], abs=1e-15)


def test_times_and_statistics_count_from_the_start_of_their_step():
    """u = t^2 over two steps, the second from 1 to 3: at 0.5 and 1.7 of it (cubic splines are exact); from 0.5 on."""
    time = np.concatenate([np.linspace(0.0, 1.0, 6), np.linspace(1.0, 3.0, 9)])
    step = np.repeat([1, 2], [6, 9])
    track = Track(fem.parse_deck(BAR), ("U1_n2",), step, time, 0.0 * time, (time**2)[:, None], (), ())
    assert Observed(("U1_n2",), np.array([0.5, 1.7]), 2).of(track) == pytest.approx([1.5**2, 2.7**2], rel=1e-12)
    assert Observed(("U1_n2",), np.array([0.5, 1.7])).of(track) == pytest.approx([0.5**2, 1.7**2], rel=1e-12)
    both = ("U1_n2_min", "U1_n2_max")
    assert Observed(both, np.zeros(0), 2, 0.5).of(track).tolist() == [2.25, 9.0]
    assert Observed(both, np.zeros(0), 1, 0.2).of(track) == pytest.approx([0.04, 1.0])


@pytest.mark.parametrize("way", [[1.0, 0.8], [1.0, 0.0, 0.0, 0.0, 1.0], [1.0, -0.5]])
def test_correlated_residuals_count_by_the_larger_of_both_estimates(way):
    """c^T G c with G written out: Bartlett's taper up to the first M >= 5 (1 + 2 sum rho^2), and rho^lag with rho
    corrected by (p + 1)(1 + rho)/k; of residuals that are moving means."""
    k, rng = 80, np.random.default_rng(8)
    residual = np.convolve(rng.normal(size=k + len(way) - 1), way, "valid")
    columns = np.column_stack([np.ones(k), np.sin(0.1 * np.arange(k))])
    variance = residual @ residual / k
    rho = np.array([residual[lag:] @ residual[: k - lag] for lag in range(k)]) / (residual @ residual)
    last = next(m for m in range(k) if m >= 5.0 * (1.0 + 2.0 * np.sum(rho[1 : m + 1] ** 2)) or m == k // 4)
    lags = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    tapered = np.maximum(1.0 - lags / (last + 1.0), 0.0) * rho[lags]
    first = min(max(0.0, rho[1] + 3.0 * (1.0 + rho[1]) / k), 0.99)
    both = [variance * np.diag(columns.T @ each @ columns) for each in (tapered, first**lags)]
    assert correlated(columns, residual) == pytest.approx(np.maximum(*both), rel=1e-9)
