"""The table of a sweep as NPY and Parquet: the same rows as in CSV, whatever happened on the way."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.runs.sweep_files import FORMATS, read_columns
from fem.study import workers
from fem.study.points import MOST_LISTED, Points, stated
from fem.study.table import SweepTable
from tests.sweeping.swings import write_swing

VARY = ["--vary", "length=1,0,2", "--vary", "gravity=1:9:3"]
GRID = {"length": [1.0, 0.0, 2.0], "gravity": [1.0, 5.0, 9.0]}
OTHERS = FORMATS[1:]


@pytest.fixture
def deck(tmp_path, monkeypatch) -> Path:
    """A deck that fails at length 0."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    return write_swing(tmp_path)


def swept(form: str, *more: str) -> int:
    return main(["sweep", "swing.inp", *VARY, "--output", "out", "--quiet", "--format", form, *more])


def files() -> set[str]:
    return {path.name for path in Path("out").iterdir()}


def is_equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return list(one) == list(other) and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one
    )


def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The points that are computed from now on."""
    seen, solve = list[int](), workers.solve_block

    def solve_block(jobs: Any, *lanes: bool) -> Any:
        seen.extend(job.point for job in jobs)
        return solve(jobs, *lanes)

    monkeypatch.setattr(workers, "solve_block", solve_block)
    return seen


def stop_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as soon as so many rows are there."""
    add = SweepTable.add

    def stops(table: SweepTable, answers: Any) -> None:
        add(table, answers)
        if table.finished >= rows:
            raise KeyboardInterrupt

    monkeypatch.setattr(SweepTable, "add", stops)


@pytest.mark.parametrize("form", OTHERS)
def test_all_formats_have_the_same_rows(deck, form, capsys):
    assert swept("csv") == 3
    table = read_columns(Path("out/sweep.csv"))
    assert swept(form, "--force", "--output", form) == 3
    found = fem.sweep(deck, GRID)
    read = read_columns(Path(form, f"sweep.{form}"))
    assert is_equal(read, found) and is_equal(table, read)
    assert not Path(form, "sweep.csv").exists() and not Path(form, "sweep.sums").exists()
    assert read["verdict"].tolist().count("completed") == 6 and read["iterations_total"].dtype.kind == "i"
    assert is_equal(fem.sweep(deck, GRID, output=form, format=form), found)


def test_npy_is_an_array_with_a_field_for_each_column(deck):
    fem.sweep(deck, GRID, output="out", format="npy")
    table = np.load("out/sweep.npy")
    assert table.shape == (9,) and table["length"].tolist() == [1.0] * 3 + [0.0] * 3 + [2.0] * 3
    assert table.dtype["verdict"].kind == "U" and table["verdict"][3].startswith("error: swing.inp:")
    assert np.isnan(table["U1_2_end"][3])


def test_parquet_has_nulls_where_there_is_no_number(deck):
    pandas = pytest.importorskip("pandas")
    found = fem.sweep(deck, GRID, output="out", format="parquet")
    table = pandas.read_parquet("out/sweep.parquet")
    assert (
        table["U1_2_end"].isna().tolist()
        == np.isnan(found["U1_2_end"]).tolist()
        == [False] * 3 + [True] * 3 + [False] * 3
    )
    assert table["verdict"].tolist() == found["verdict"].tolist()


@pytest.mark.parametrize("form", OTHERS)
def test_an_interrupted_sweep_goes_on_from_its_rows(deck, form, monkeypatch):
    assert swept(form) == 3
    whole = Path(f"out/sweep.{form}").read_bytes()
    with monkeypatch.context() as patched:
        stop_after(4, patched)
        assert swept(form, "--force", "--set", "dt=0.02") == 130
    assert files() == {"sweep.csv", "sweep.sums", "sweep.json"}
    with monkeypatch.context() as patched:
        stop_after(4, patched)
        assert swept(form, "--force") == 130
    seen = computed(monkeypatch)
    assert swept(form) == 3 and seen == [4, 5, 6, 7, 8]
    assert files() == {f"sweep.{form}", "sweep.json"} and Path(f"out/sweep.{form}").read_bytes() == whole
    assert swept(form) == 3 and len(seen) == 5
    Path(f"out/sweep.{form}").write_bytes(whole[:-9] + b"x" + whole[-8:])
    assert "9 rows of" in fem.sweep(deck, GRID, output="out", format=form).notices[-1] and len(seen) == 14
    assert Path(f"out/sweep.{form}").read_bytes() == whole


def test_a_table_takes_another_format_without_being_computed(deck, monkeypatch):
    assert swept("csv") == 3
    text, seen = Path("out/sweep.csv").read_bytes(), computed(monkeypatch)
    for form in ("npy", "parquet", "csv"):
        assert swept(form) == 3
        assert files() == {f"sweep.{form}", "sweep.json"} | ({"sweep.sums"} if form == "csv" else set())
    assert Path("out/sweep.csv").read_bytes() == text and not seen


def test_rows_that_were_lost_are_computed_by_the_next_start(deck, monkeypatch):
    solve = workers.solve_block

    def loses(jobs: Any, *lanes: bool) -> Any:
        return [fem.study.question.Answer(one.point, "lost: twice", one.question.empty_row()) for one in jobs]

    with monkeypatch.context() as patched:
        patched.setattr(workers, "solve_block", lambda jobs, *_: loses(jobs) if jobs[0].point == 1 else solve(jobs))
        assert swept("npy") == 3
    assert np.load("out/sweep.npy")["verdict"][1] == "lost: twice"
    seen = computed(monkeypatch)
    assert swept("npy") == 3 and seen == [1]
    assert is_equal(read_columns(Path("out/sweep.npy")), fem.sweep(deck, GRID))


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_reads_all_formats(deck, form):
    swept(form)
    page = fem.report("out").read_text()
    assert f"sweep.{form}" in page and "2 failed" not in page and "9 of 9 parameter sets computed" in page
    with pytest.raises(fem.CommandError, match=rf"contains a sweep, not a run: .*sweep\.{form}"):
        fem.load("out")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda deck: fem.sweep(deck, GRID, format="npy"), "needs output, a folder"),
        (lambda deck: fem.sweep(deck, GRID, output="out", format="nyp"), "there is no format nyp; did you mean npy"),
        (lambda deck: fem.sweep(deck, GRID, output="out", format="parquet"), r"pyarrow is not installed: .*parquet"),
    ],
)
def test_what_cannot_be_written_is_refused_at_once(deck, monkeypatch, call: Callable[[Path], object], message):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fem.CommandError, match=message):
        call(deck)
    assert not Path("out").exists()


def test_a_record_of_many_values_says_how_many_and_between_what(deck, monkeypatch):
    many = tuple(float(value) for value in range(MOST_LISTED + 1))
    said = stated({"A": many, "B": many[:3]})
    assert said["B"] == many[:3] and (said["A"]["count"], said["A"]["greatest"]) == (MOST_LISTED + 1, many[-1])
    assert stated(said) == said != stated({"A": many[::-1], "B": many[:3]})
    assert stated({"cases": {"A": list(many)}}) == Points(("A",), (many,), False).identity
    monkeypatch.setattr("fem.study.points.MOST_LISTED", 2)
    assert swept("csv") == 3
    record = json.loads(Path("out/sweep.json").read_text())
    assert record["grid"]["length"]["count"] == 3
    assert "3 values, 1 to 9" in fem.report("out").read_text()
    # one that lists all of them, and knows nothing of the whole file, is as good
    monkeypatch.setattr("fem.study.points.MOST_LISTED", 1000)
    assert swept("csv", "--force") == 3
    record = json.loads(Path("out/sweep.json").read_text())
    del record["table"]
    Path("out/sweep.json").write_text(json.dumps(record))
    text, seen = Path("out/sweep.csv").read_bytes(), computed(monkeypatch)
    monkeypatch.setattr("fem.study.points.MOST_LISTED", 2)
    for _ in range(2):
        assert swept("csv") == 3 and not seen and Path("out/sweep.csv").read_bytes() == text
    assert json.loads(Path("out/sweep.json").read_text())["grid"]["length"]["count"] == 3
