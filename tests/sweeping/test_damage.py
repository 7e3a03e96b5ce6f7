"""Whatever became of the table of a broken-off sweep, going on gives the bytes of a sweep that was never stopped."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fem
from fem.study import workers
from tests.sweeping.swings import write_swing

GRID = {"length": [1.0, 2.0], "gravity": [1.0, 5.0, 9.0]}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A folder with a deck and its whole sweep."""
    folder = tmp_path_factory.mktemp("finished")
    fem.sweep(write_swing(folder), GRID, output=folder / "whole", workers=1)
    return folder


def go_on(finished: Path, damage: Callable[[Path], object]) -> tuple[bytes, bytes, list[int], tuple[str, ...]]:
    """The table before and after going on from a damaged copy, the points computed, the notices."""
    shutil.rmtree(finished / "again", ignore_errors=True)
    shutil.copytree(finished / "whole", finished / "again")
    table = finished / "again" / "sweep.csv"
    before, seen = table.read_bytes(), []
    damage(table)

    solve = workers.solve_block

    def solve_block(jobs, *lanes):
        seen.extend(job.point for job in jobs)
        return solve(jobs, *lanes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "solve_block", solve_block)
        found = fem.sweep(finished / "swing.inp", GRID, output=finished / "again", workers=1)
    assert found["point"].tolist() == [1, 2, 3, 4, 5, 6]
    return before, table.read_bytes(), seen, found.notices


def line(number: int, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """A damage: another line ``number`` (0: the heads)."""

    def damage(table: Path) -> None:
        lines = table.read_bytes().split(b"\n")
        lines[number] = change(lines[number])
        table.write_bytes(b"\n".join(lines))

    return damage


def cell(place: int, text: bytes) -> Callable[[bytes], bytes]:
    """Another text in a cell."""

    def change(row: bytes) -> bytes:
        cells = row.split(b",")
        cells[place] = text
        return b",".join(cells)

    return change


def cut(table: Path) -> None:
    """Not whole any more: what its record says of all its bytes is wrong."""
    table.write_bytes(table.read_bytes() + b"7")


@pytest.mark.parametrize(
    ("damage", "points", "is_seen"),
    [
        (lambda table: None, [], False),
        (line(3, cell(-1, b"abc")), [2], True),
        (line(3, cell(4, b"not whole")), [2], True),
        (line(3, cell(1, b"1.5")), [2], True),
        (line(3, cell(0, b"4")), [2], True),
        (line(3, cell(0, b"-1")), [2], True),
        (line(3, cell(3, b"no convergence")), [2], True),
        (line(3, lambda row: re.sub(rb"(\d)(,[^,]*)$", lambda m: b"%d" % (9 - int(m[1])) + m[2], row)), [2], True),
        (line(3, lambda row: row + b",1.0"), [2], True),
        (line(3, lambda row: row[:40]), [2], True),
        (line(3, lambda row: b'"' + row), [2], True),
        (line(3, lambda row: b"\0" * len(row)), [2], True),
        (line(3, lambda row: row.replace(b"completed", b"compl\xffted")), [2], True),
        (line(3, lambda row: b"x" * 200_000), [2], True),
        (line(3, lambda row: b""), [2], True),
        (line(3, lambda row: row + b"\n" + row), [], False),
        (line(3, lambda row: cell(-1, b"1e9")(row) + b"\n" + row), [], True),
        (line(0, lambda row: b"point,what"), [], False),
        (lambda table: table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n")), [0, 1, 2, 3, 4, 5], True),
        (lambda table: table.unlink(), [0, 1, 2, 3, 4, 5], False),
        (lambda table: table.with_name("sweep.sums").unlink(), [], False),
        (lambda table: (cut(table), table.with_name("sweep.sums").unlink()), [0, 1, 2, 3, 4, 5], True),
        (lambda table: (cut(table), table.with_name("sweep.sums").write_bytes(b"\0" * 100)), [0, 1, 2, 3, 4, 5], True),
    ],
)
def test_damaged_rows_and_only_those_are_computed_again(finished, damage, points, is_seen):
    before, after, seen, notices = go_on(finished, damage)
    assert after == before and seen == points
    is_told = any("are damaged: computed again" in text for text in notices)
    assert is_told == is_seen


def test_a_folder_whose_record_is_damaged_is_not_ours(finished):
    with pytest.raises(fem.CommandError, match="again"):
        go_on(finished, lambda table: table.with_name("sweep.json").write_text("[" * 100_000))
    assert (finished / "again" / "sweep.csv").read_bytes() == (finished / "whole" / "sweep.csv").read_bytes()


@pytest.mark.long
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_cut_or_overwritten_stretch_heals(finished, data):
    whole = (finished / "whole" / "sweep.csv").read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 300)))
    filling = data.draw(st.binary(max_size=50))
    before, after, seen, _ = go_on(finished, lambda table: table.write_bytes(whole[:start] + filling + whole[end:]))
    assert after == before
    damaged = whole[:start] + filling + whole[end:]
    intact = set(damaged.split(b"\n")[1:-1])
    assert seen == [point for point, row in enumerate(whole.split(b"\n")[1:-1]) if row not in intact]


def test_rows_of_another_sweep_are_not_taken_over(finished):
    """Their checksums are mixed with what makes a sweep: deck, values, columns, version."""
    other = finished / "other"
    fem.sweep(finished / "swing.inp", GRID, parameters={"dt": 0.02}, output=other, workers=1)

    def damage(table: Path) -> None:
        for name in ("sweep.csv", "sweep.sums"):
            shutil.copy(other / name, table.with_name(name))

    before, after, seen, _ = go_on(finished, damage)
    assert after == before and seen == [0, 1, 2, 3, 4, 5]
