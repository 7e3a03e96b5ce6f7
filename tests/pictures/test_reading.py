"""What the pictures read: tables in bounded memory, and the fields that the program itself writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.errors import CommandError
from fem.runs import read as folder
from fem.runs.fields import Skeleton, as_pvd, pvd_entry, read_field, read_list, read_mesh
from fem.runs.read import CsvTable, extremes

HEAD = "step,increment,time,node,U1,U2\n"
NUMBERS = (
    "0.0",
    "-0.0",
    "1e-05",
    "123456789.12345678",
    "-1.7976931348623157e+308",
    "1e-300",
    "2.2250738585072014e-290",
)
NUMBERS += ("0.1", "3", "0.00012345678901234567", "1e+22", "9007199254740993.0", "-6.02214076e23")


def table(path: Path, text: str) -> CsvTable:
    path.write_text(text)
    return CsvTable(path)


def test_numbers_are_read_to_the_last_digit(tmp_path: Path) -> None:
    lines = "".join(f"1,{k},0.5,7,{number},0\n" for k, number in enumerate(NUMBERS))
    read = table(tmp_path / "t.csv", HEAD + lines).curves(["U1"], [7])[7]
    exact = np.array([float(number) for number in NUMBERS])
    assert np.array_equal(read[:, 3], exact)
    assert read[:, 1].tolist() == list(range(len(NUMBERS)))


def test_empty_cells_words_and_an_unfinished_line(tmp_path: Path) -> None:
    read = table(tmp_path / "t.csv", HEAD + "1,0,0.0,1,,\n1,1,0.1,1,nan,-inf\n1,2,0.2,1,4.5,inf\n1,3,0.3,1,9")
    rows = read.curves(["U1", "U2"], [1])[1]
    assert read.lines_of == {1: 3}
    np.testing.assert_array_equal(rows[:, 3:], [[np.nan, np.nan], [np.nan, -np.inf], [4.5, np.inf]])


def test_lines_of_some_instants_or_of_none(tmp_path: Path) -> None:
    read = table(tmp_path / "t.csv", HEAD + "1,0,0.0,1,5,0\n1,1,0.1,1,6,0\n2,0,0.1,1,7,0\n")
    keys = folder.instant_keys(np.array([[1.0, 1.0], [1.0, 9.0], [2.0, 0.0]]))
    assert read.curves(["U1"], [1], keys)[1][:, 3].tolist() == [6.0, 7.0]
    assert read.curves(["U1"], [1], keys[:0])[1].shape == (0, 4)


@pytest.mark.parametrize("line", ["1,0,0.0,1,x,0", "1,0,0.0", "1,0,0.0,1,0.5.5,0", "1,0,0.0,1,\u00e9,0"])
def test_what_is_no_table_is_said(tmp_path: Path, line: str) -> None:
    with pytest.raises(CommandError, match=r"t\.csv is not a table written by fem"):
        table(tmp_path / "t.csv", HEAD + f"1,0,0.0,1,1.0,2.0\n{line}\n").curves(["U1"], [1])


def test_a_missing_or_empty_table_has_no_lines(tmp_path: Path) -> None:
    assert CsvTable(tmp_path / "none.csv").lines_of == {} and table(tmp_path / "t.csv", "").columns == ()
    assert table(tmp_path / "t.csv", HEAD).read(["U1"]).shape == (0, 1)


def test_blocks_of_any_size_give_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    lines = "".join(
        f"1,{k},{0.1 * k!r},{1 + k % 3},{x!r},{-x!r}\n" for k, x in enumerate(rng.normal(size=200).tolist())
    )
    read = table(tmp_path / "t.csv", HEAD + lines)
    whole = read.read(["U1", "U2", "time"])
    for size in (40, 41, 1000):
        monkeypatch.setattr(folder, "BLOCK", size)
        np.testing.assert_array_equal(read.read(["U1", "U2", "time"]), whole)


def test_a_table_that_grows_faster_than_it_is_read_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page read a run of 20 links, and its table was longer whenever the reader came to its end."""
    monkeypatch.setattr(folder, "BLOCK", 40)
    path, line = tmp_path / "t.csv", "1,1,0.1,1,6,0\n"
    read = table(path, HEAD + 10 * line)
    for count, _ in enumerate(read.blocks(["U1"])):
        assert count < 10
        with path.open("a", encoding="utf-8") as file:
            file.write(10 * line)
    assert read.lines == 10


def test_thinning_keeps_every_extreme_and_bounds_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=5000)
    values[[1234, 4321]] = [99.0, -99.0]
    lines = "".join(f"1,{k},{0.1 * k!r},1,{x!r},0\n" for k, x in enumerate(values.tolist()))
    read = table(tmp_path / "t.csv", HEAD + lines)
    monkeypatch.setattr(folder, "MOST_NUMBERS", 800)
    thin = read.curves(["U1"], [1])[1]
    assert thin.size <= 800 + 8 * 4 and {99.0, -99.0} <= set(thin[:, 3])
    assert thin[0, 1] == 0 and thin[-1, 1] == 4999 and np.all(np.diff(thin[:, 1]) > 0)


def test_extremes_of_columns_with_gaps() -> None:
    rows = np.stack([np.arange(100.0), np.where(np.arange(100) % 10 == 3, np.sin(np.arange(100.0)), np.nan)], axis=1)
    kept = extremes(rows, 20)
    assert np.nanmax(kept[:, 1]) == np.nanmax(rows[:, 1]) and np.nanmin(kept[:, 1]) == np.nanmin(rows[:, 1])
    assert extremes(rows, 1) is rows


def test_rows_behind_the_last_whole_group_are_all_kept() -> None:
    """A peak in the tail of 47 rows in groups of 20."""
    rows = np.column_stack([np.arange(47.0), np.zeros(47)])
    rows[44, 1] = 9.0
    assert extremes(rows, 20)[-7:].tolist() == rows[40:].tolist()


# ------------------------------------------------------------------------------------------------ fields
def test_the_reader_gives_back_what_the_writer_wrote(tmp_path: Path) -> None:
    model = fem.read_deck(Path(__file__).parents[2] / "inputs" / "springs_dashpots.inp")
    mesh = model.mesh
    rng = np.random.default_rng(3)
    u, tension = rng.normal(size=mesh.coordinates.shape), rng.normal(size=len(mesh.element_labels))
    path = tmp_path / "a b_00000.vtu"
    path.write_bytes(Skeleton(model).field(0.25, {"displacement": u}, {"T": tension}))
    field = read_field(path)
    np.testing.assert_array_equal(field["displacement"], u)
    np.testing.assert_array_equal(field["T"], tension)
    assert set(read_field(path, ["T"])) == {"T"}
    found = read_mesh(path)
    np.testing.assert_array_equal(found.coordinates, mesh.coordinates)
    np.testing.assert_array_equal(found.node_labels, mesh.node_labels)
    np.testing.assert_array_equal(found.element_labels, mesh.element_labels)
    pairs = [pair for block in mesh.blocks for pair in block.connectivity.tolist()]
    assert found.ends.tolist() == [[pair[0], pair[-1]] for pair in pairs] and not found.is_bar.any()
    (tmp_path / "a b.pvd").write_bytes(as_pvd([pvd_entry(0.25, path.name), pvd_entry(0.5, "gone.vtu")]))
    assert read_list(tmp_path / "a b.pvd") == [(0.25, path)] and read_list(tmp_path / "no.pvd") == []


@pytest.mark.parametrize("cut", [-60, -200, 300, 0])
def test_half_a_field_is_an_error_with_its_name(tmp_path: Path, cut: int) -> None:
    model = fem.read_deck(Path(__file__).parents[2] / "inputs" / "sdnl100.inp")
    content = Skeleton(model).field(0.0, {"displacement": model.mesh.coordinates}, {})
    path = tmp_path / "half.vtu"
    path.write_bytes(content[:cut])
    with pytest.raises(CommandError, match=r"half\.vtu is not a field written by fem"):
        read_mesh(path)
        read_field(path)
