"""``fem post`` on tables: what it prints and writes, and what it asks for."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fem
from fem.arrays import first_least
from fem.cli import main
from tests.pictures.runs import chain

INPUTS = Path(__file__).resolve().parents[2] / "inputs"


def asked(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, float]:
    """Run ``fem post``; name -> number of the lines it prints."""
    assert main(["post", *map(str, words)]) == 0
    return {name: float(value) for name, value in re.findall(r"^ +(\w+) +(-?[\d.e+-]+)", capsys.readouterr().out, re.M)}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chain(tmp_path_factory.mktemp("chain"))


def values_of(swing: Path, label: int) -> np.ndarray:
    return np.array([float(row["T"]) for row in rows_of(swing / "elements.csv") if int(row["element"]) == label])


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=9),
    st.floats(1e-9, 1e9),
    st.integers(0, 8),
    st.sampled_from((-1, 1)),
)
def test_round_off_does_not_choose_among_equal_values(values: list[int], size: float, at: int, way: int) -> None:
    exact = size * np.array(values, float)
    blurred = exact.copy()
    blurred[at % len(values)] *= 1.0 + way * 1e-13
    assert first_least(blurred) == first_least(exact) == exact.argmin()


def test_stats_are_those_of_the_table(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = values_of(swing, 12)
    found = asked(capsys, "stats", swing, "--what", "T_e12")
    expected = values.mean(), values.std(), values.min(), values.max()
    assert [found[name] for name in ("mean", "std", "min", "max")] == pytest.approx(expected, rel=1e-12)
    late = asked(capsys, "stats", swing, "--what", "t_e12", "--from", "0.1")
    assert late["mean"] == pytest.approx(values[10:].mean(), rel=1e-12)


def test_sums_are_of_numbers_over_their_divisors(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    total = values_of(swing, 12) / 4.0 + values_of(swing, 13)
    found = asked(capsys, "stats", swing, "--what", "T_e12/4+T_e13")
    assert [found["mean"], found["max"]] == pytest.approx([total.mean(), total.max()], rel=1e-12)
    assert main(["post", "stats", str(swing), "--what", "T_e12/0+T_e13"]) == 2
    assert "must be divided by something positive" in capsys.readouterr().err


def test_of_a_set_the_largest_counts_at_each_instant(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    largest = np.max([values_of(swing, label) for label in (11, 12, 13)], axis=0)
    found = asked(capsys, "stats", swing, "--what", "T_BARS")
    assert [found["mean"], found["min"]] == pytest.approx([largest.mean(), largest.min()], rel=1e-12)


def test_rainflow_table_gives_the_damage(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "rainflow", swing, "--what", "T_e13,U3_n4", "--slope", "3", "--constant", "1e6")
    rows = rows_of(swing / "rainflow_U3_n4.csv")
    share = sum(float(row["count"]) * float(row["range"]) ** 3 for row in rows) / 1e6
    assert found["damage"] == pytest.approx(share, rel=1e-12)
    assert found["cycles"] == sum(float(row["count"]) for row in rows)
    assert found["life"] == pytest.approx(0.3 / share, rel=1e-5)
    curve = "--slope", "3", "--constant", "1e6", "--strength", "2e3", "--goodman", "3e3"
    found = asked(capsys, "rainflow", swing, "--what", "T_e13", *curve)
    rows = rows_of(swing / "rainflow_T_e13.csv")
    sizes = [float(row["range"]) / 2e3 / (1.0 - max(float(row["mean"]), 0.0) / 3e3) for row in rows]
    share = sum(float(row["count"]) * size**3 for row, size in zip(rows, sizes, strict=True)) / 1e6
    assert found["damage"] == pytest.approx(share, rel=1e-12)
    assert main(["post", "rainflow", str(swing), "--what", "T_e13", "--goodman", "9"]) == 2
    assert "--strength and --goodman belong to --slope m and --constant K" in capsys.readouterr().err


def test_range_along_a_line_is_that_of_the_table(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(capsys, "range", swing, "--set", "bars", "--what", "T")
    rows = rows_of(swing / "range_T_BARS.csv")
    assert [(row["element"], float(row["s"])) for row in rows] == [("11", 0.5), ("12", 1.5), ("13", 2.5)]
    for row in rows:
        values = values_of(swing, int(row["element"]))
        assert (float(row["min"]), float(row["max"])) == (values.min(), values.max())
        assert round(100 * float(row["time_max"])) == values.argmax()
    assert (swing / "range_T_BARS.png").is_file()


def test_lengths_along_a_line_are_natural_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """500 in 50 bars, though stretched they are longer."""
    fem.run(INPUTS / "catenary.inp", output=tmp_path / "out", parameters={"stiffness": 1e6})
    asked(capsys, "range", tmp_path / "out", "--set", "LINE", "--what", "T", "--step", "1")
    s = [float(row["s"]) for row in rows_of(tmp_path / "out" / "range_T_LINE.csv")]
    assert s == pytest.approx(10.0 * np.arange(50) + 5.0, rel=1e-12)


ASKED = (
    (("stats", "--what", "T_e11"), "elements.csv contains no T of element 11: request *EL PRINT, ELSET=... with T in"),
    (("stats", "--what", "A1_n2"), "nodes.csv contains no A1: request *NODE PRINT, NSET=... with A in the deck"),
    (("stats", "--what", "U1_n9"), "nodes.csv contains no U1 of node 9: request *NODE PRINT, NSET=... with U in"),
    (("stats", "--what", "Q_e1"), "there is no quantity of elements Q; there are E, S, N, T"),
    (("stats", "--what", "U1_n2", "--step", "2"), "U1 of node 2, but not at these times or in this step"),
    (("rainflow", "--what", "T"), "write T_e12"),
    (("rainflow", "--what", "U1_n2", "--slope", "3"), "both --slope m and --constant K"),
    (("range", "--set", "LINE", "--what", "T"), "there is no element set LINE; there is only BARS"),
    (("range", "--set", "BARS", "--what", "T"), "elements.csv contains no T of element 11: request *EL PRINT"),
)


def test_what_is_missing_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = chain(tmp_path, output="*NODE PRINT, NSET=ALL, FREQUENCY=5\nU\n*EL PRINT, ELSET=BARS\nE")
    for (question, *words), message in ASKED:
        assert main(["post", question, str(few), *words]) == 2
        assert message in capsys.readouterr().err
    shown = []
    for what in ("U1_n2", "U1_2", "u1_N2"):
        assert main(["post", "stats", str(few), "--what", what]) == 0
        shown.append(capsys.readouterr().out)
    assert "U1_n2 is printed up to 5 increments apart" in shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_what_was_made_of_a_run_goes_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = chain(tmp_path)
    asked(capsys, "rainflow", folder, "--what", "T_e13", "--bins", "4")
    assert len(rows_of(folder / "rainflow_T_e13.csv")) <= 4
    (folder / "rainflow.txt").write_text("of the user")
    chain(tmp_path)
    assert not (folder / "rainflow_T_e13.csv").exists() and (folder / "rainflow.txt").exists()
