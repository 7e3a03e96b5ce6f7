"""Statistics and fatigue of runs in the table of a sweep: those of ``fem post``; scatter diagrams on top of them."""

from __future__ import annotations

import csv
import math
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.runs.frames import si_unit
from fem.study.figures import extremes
from fem.study.scatter import Scatter, life_of, read_scatter
from tests.sweeping.swings import write_swing
from tests.sweeping.test_sweep import counted

STILL = "BAR, GRAV, <gravity>, 0., -1., 0.\n"
GUST = "*AMPLITUDE, NAME=GUST\n0., 0., 0.03, 1., 0.05, -1., 0.08, 2.\n0.1, 0., 0.15, 1., 0.17, -1., 0.5, 1.\n*BOUNDARY"
FATIGUE = ["--slope", "3", "--constant", "1e6"]


@pytest.fixture
def deck(tmp_path, monkeypatch):
    """A pendulum that is shaken in two steps."""
    monkeypatch.chdir(tmp_path)
    path = write_swing(tmp_path, STILL, STILL + "*CLOAD, AMPLITUDE=GUST\n2, 2, <force>\n")
    text = path.read_text().replace("*BOUNDARY", GUST).replace("end = 20*dt\n", "end = 20*dt\nforce = 0.01\nSEED = 1\n")
    path.write_text(text + text[text.index("*STEP") :])
    return path


def rows_of(path: Path | str) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def posted(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    """What ``fem post`` prints of one number."""
    capsys.readouterr()
    assert main(["post", *words]) == 0
    return {name: float(value) for name, value in re.findall(r"^ +(\w+) +(-?[\d.e+-]+)", capsys.readouterr().out, re.M)}


@pytest.mark.long
def test_rows_are_what_post_says_of_single_runs(deck, capsys):
    vary, windows = ["--vary", "gravity=3,9.81", "--vary", "force=0.01,0.1"], [[], ["--step", "2"]]
    windows.append(["--step", "1", "--from", "0.1"])
    tables = []
    for number, window in enumerate(windows):
        words = [*vary, "--record", "t_e1, U2_n2", *window, *FATIGUE, "--quiet", "--output", f"swept{number}"]
        assert main(["sweep", "swing.inp", *words]) == 0
        tables.append(rows_of(f"swept{number}/sweep.csv")[1:3])
    for rows in zip(*tables, strict=True):
        chosen = [word for name in ("gravity", "force") for word in ("--set", f"{name}={rows[0][name]}")]
        assert main(["run", "swing.inp", *chosen, "--output", "one", "--quiet", "--no-vtk"]) == 0
        for (row, window), number in product(zip(rows, windows, strict=True), ("T_e1", "U2_n2")):
            stats = posted(capsys, "stats", "one", "--what", number, *window)
            cycles = posted(capsys, "rainflow", "one", "--what", number, *window, *FATIGUE)
            for name in ("mean", "std", "min", "max"):
                assert float(row[f"{number}_{name}"]) == pytest.approx(stats[name], rel=1e-12), (number, name)
            assert float(row[f"{number}_Tz"] or "nan") == pytest.approx(stats.get("Tz", math.nan), nan_ok=True)
            damage, rate = (float(row[f"{number}_{what}"]) for what in ("damage", "rate"))
            assert damage == pytest.approx(cycles["damage"], rel=1e-12)
            assert 1.0 / rate == pytest.approx(cycles["life"], rel=1e-5)


def test_a_broken_off_sweep_goes_on_unless_it_records_something_else(deck, monkeypatch):
    seen, grid = counted(monkeypatch), {"force": [0.01, 0.02]}
    first = fem.sweep(deck, grid, record=fem.Record("T_e1"), output="out")
    again = fem.sweep(deck, grid, record=fem.Record(("T_e1",)), output="out")
    assert seen == [0, 1] and again["T_e1_std"].tolist() == first["T_e1_std"].tolist()
    fem.sweep(deck, grid, record=fem.Record("T_e1", step=2), output="out")
    assert seen == [0, 1, 0, 1]


def test_a_scatter_diagram_adds_damage_up(deck, capsys):
    (deck.parent / "scatter.csv").write_text("force,occurrences\n0.05,3\n0.1,1\n")
    words = ["sweep", "swing.inp", "--vary", "SEED=1,2", "--vary", "force=0.01,0.05,0.1", "--record", "T_e1", *FATIGUE]
    assert main([*words, "--occurrences", "scatter.csv"]) == 0
    told, folder = capsys.readouterr().out, Path("results/swing_sweep")
    rates = {float(row["force"]): float(row["T_e1_rate"]) for row in rows_of(folder / "sweep.csv")}
    expected = 0.75 * rates[0.05] + 0.25 * rates[0.1]
    (total,) = rows_of(folder / "fatigue.csv")
    assert [float(total["rate"]), float(total["life"])] == pytest.approx([expected, 1.0 / expected], rel=1e-14)
    parts = [float(row["T_e1_part"]) for row in rows_of(folder / "scatter.csv")]
    assert parts == pytest.approx([0.75 * rates[0.05] / expected, 0.25 * rates[0.1] / expected], rel=1e-14)
    assert f"life {1.0 / expected:.9g}" in told and (folder / "extremes.png").is_file()


def test_runs_that_fail_have_no_life(deck, capsys):
    text = deck.read_text().replace("dt = 0.01", "most = 9\ndt = 0.01")
    deck.write_text(text.replace("<dt>, <end>", "<dt>, <end>\n*CONTROLS, ITER_GLOB_MAXI=<most>"))
    (deck.parent / "scatter.csv").write_text("most,probability\n9,0.4\n1,0.1\n")
    words = ["sweep", "swing.inp", "--vary", "most=1,9", "--record", "T_e1", *FATIGUE]
    assert main([*words, "--occurrences", "scatter.csv"]) == 3
    assert "T_e1: no life" in capsys.readouterr().out
    assert rows_of("results/swing_sweep/fatigue.csv") == [{"number": "T_e1", "rate": "", "life": ""}]


WRONG = (
    (["--record", "T_e9"], "T_e9 is not printed: request *EL PRINT, ELSET=... with T in the deck"),
    (["--record", "U1_n1"], "U1_n1 is not printed: request *NODE PRINT"),
    (["--record", "T_e1", "--step", "3"], "--step 3: the deck has 2 steps"),
    (["--record", "T_e1,t_e1"], "recorded twice"),
    (["--record", "Q_e1"], "there is no quantity of elements Q"),
    (["--record", "T1"], "write T_e12"),
    (["--record", "T_e1", "--slope", "3"], "both --slope m and --constant K"),
    (["--step", "2"], "need --record"),
    (["--record", "T_e1", "--occurrences", "none.csv"], "needs --slope m and --constant K"),
    (["--record", "T_e1", *FATIGUE, "--occurrences", "none.csv"], "none.csv cannot be read"),
)


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_what_cannot_be_recorded_is_said_before_anything_runs(deck, capsys, words, message):
    assert main(["sweep", "swing.inp", "--vary", "force=1,2", *words]) == 2
    assert message in capsys.readouterr().err and not Path("results").exists()


TABLES = (
    ("Hs,Tp\n1,5\n", ":1: columns Hs, Tp: expected Hs, Tp (some of them) and one of probability and occurrences"),
    ("Hs,Tz,probability\n1,5,1\n", ":1: columns Hs, Tz, probability"),
    ("probability\n1\n", ":1: columns probability"),
    ("Hs,probability\n", "at least one line of numbers"),
    ("Hs,probability\n1\n", ":2:1: 1 values; expected 2 values, of Hs, probability"),
    ("Hs,probability\n\n1,x\n", ":3:3: 'x' is not a finite number"),
    ("Hs,probability\n1,-0.1\n", "negative value"),
    ("Hs,occurrences\n1,0\n", "zero throughout"),
    ("Hs,probability\n1,0.7\n2,0.4\n", "the sum 1.1"),
    ("Hs,probability\n3,0.7\n", ":2: the sweep has no parameter set with Hs=3"),
    ("Hs,probability\n1,0.2\n1,0.3\n", ":3: Hs=1 occurs twice"),
)
GRID = {"Hs": np.array([1.0, 1.0, 2.0, 2.0]), "Tp": np.array([5.0, 7.0, 5.0, 7.0])}


@pytest.mark.parametrize(("text", "message"), TABLES)
def test_mistakes_in_a_scatter_diagram_have_their_line(tmp_path, text, message):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(CommandError, match=re.escape(message)):
        read_scatter(tmp_path / "s.csv", GRID)


def test_states_that_never_occur_need_no_run(tmp_path):
    (tmp_path / "s.csv").write_text("\ufefftp, hs, Probability\n5, 1, 0.25\n7, 9, 0\n", encoding="utf-8")
    scatter = read_scatter(tmp_path / "s.csv", GRID)
    columns = {"T_e1_min": np.arange(4.0), "T_e1_max": np.arange(4.0), "T_e1_rate": np.array([8.0, 1.0, 1.0, 1.0])}
    assert life_of("T_e1", columns, scatter, GRID).life == 0.5


@given(st.lists(st.floats(1e-9, 1e3), min_size=4, max_size=4), st.floats(0.0, 1.0))
def test_samples_count_by_their_mean(rates, share):
    """Those of one state that differ in what the diagram does not name."""
    columns = {f"T_e1_{what}": np.array(rates) for what in ("min", "max", "rate")}
    scatter = Scatter(("Hs",), np.array([[1.0], [2.0]]), np.array([share, 1.0 - share]))
    life = life_of("T_e1", columns, scatter, GRID)
    expected = 0.5 * (share * (rates[0] + rates[1]) + (1.0 - share) * (rates[2] + rates[3]))
    assert life.rate == pytest.approx(expected, rel=1e-12)
    assert [life.least[0], life.largest[1]] == [min(rates[:2]), max(rates[2:])]


def test_figure_goes_through_the_means_of_samples():
    parameters = {"seed": np.repeat([1.0, 2.0], 4), **{name: np.tile(values, 2) for name, values in GRID.items()}}
    columns = {"T_e1_max": np.arange(8.0), "T_e1_min": -np.arange(8.0)}
    (panel,) = extremes(columns, parameters, ("T_e1",), True).axes
    lines = [line for line in panel.lines if line.get_linestyle() != "None"]
    assert [line.get_ydata().tolist() for line in lines] == [[2.0, 3.0], [-2.0, -3.0], [4.0, 5.0], [-4.0, -5.0]]
    assert lines[0].get_xdata().tolist() == [5.0, 7.0]
    assert (panel.get_ylabel(), panel.get_xlabel()) == ("T_e1 [N]", "Tp")


def test_columns_have_units():
    assert [si_unit(f"U3_n5_{what}") for what in ("mean", "std", "max", "Tz", "rate")] == ["m", "m", "m", "s", "1/s"]
    assert si_unit("T_e12_damage") == "" and si_unit("T_12_max") == "N"


LINE = """*HEADING
Three bars in a row that are shaken
*PARAMETER
pull = 1.
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
4, 3., 0., 0.
*NSET, NSET=TIPS
2, 4
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
3, 3, 4
*ELSET, ELSET=TOPS
1, 3
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS=LUMPED
1e-4
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
8000.
*INITIAL CONDITIONS, TYPE=STRESS
BARS, 1e6
*BOUNDARY
1, 1, 3
ALL, 2, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.001, 0.01
*CLOAD
4, 1, 100.
4, 3, <pull>
*NODE PRINT, NSET=ALL
U
*EL PRINT, ELSET=BARS
T
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.001, 0.1
*END STEP
"""


@pytest.mark.long
def test_of_a_set_it_is_the_largest_at_each_instant(tmp_path, monkeypatch, capsys):
    """In sweeps, run by run and as lanes, and in ``fem post``: what the motion of each member says."""
    monkeypatch.chdir(tmp_path)
    deck = tmp_path / "net.inp"
    deck.write_text(LINE)
    record = fem.Record("T_TOPS, U3_TIPS, T_e1", step=2, duration=10.0)
    few = fem.sweep(deck, {"pull": [1.0, 2.0]}, record=record, history=True)
    for place, history in enumerate(few.histories):
        late = history.of_step(2)
        tension = np.max([history.of_element(label, "T")[late] for label in (1, 3)], axis=0)
        lift = np.max([history.of_node(label)[late, 2] for label in (2, 4)], axis=0)
        for name, values in (("T_TOPS", tension), ("U3_TIPS", lift)):
            assert few[f"{name}_max"][place] == values.max() and few[f"{name}_min"][place] == values.min()
            assert few[f"{name}_mean"][place] == pytest.approx(values.mean(), rel=1e-9)
        assert few["T_TOPS_mean"][place] > few["T_e1_mean"][place]
    many = fem.sweep(deck, {"pull": np.linspace(1.0, 2.0, 80)}, record=record)
    for name in record.columns():
        assert many[name][[0, -1]] == pytest.approx(few[name], rel=1e-7, abs=1e-9, nan_ok=True)
    fem.run(deck, output="out")
    for name in ("T_TOPS", "U3_TIPS"):
        stats = posted(capsys, "stats", "out", "--what", name, "--step", "2")
        assert stats["max"] == few[f"{name}_max"][0] and stats["min"] == few[f"{name}_min"][0]
    assert main(["post", "stats", "out", "--what", "T_TIPS"]) == 2
    assert "there is no element set TIPS; there are" in capsys.readouterr().err
    with pytest.raises(fem.CommandError, match="there is no node set TOPS"):
        fem.sweep(deck, {"pull": [1.0]}, record=fem.Record("U3_TOPS"))
    with pytest.raises(fem.CommandError, match="'Q_TOPS' does not name a series"):
        fem.Record("Q_TOPS")
