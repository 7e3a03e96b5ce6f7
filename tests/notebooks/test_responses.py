"""Harmonic responses read back: what the run had, to round-off of amplitude and phase; NaN of what was not printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.errors import CommandError

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
ALL = "PU, PRF, V, A\n*EL PRINT, ELSET=ROPE\nE, S, N, T\n*END STEP"
TWICE = """*STEP, NLGEOM
*STEADY STATE DYNAMICS, DIRECT, FREQUENCY SCALE=LINEAR
0.1, 0.2, 2
*CLOAD
5, 3, 100.
*NODE PRINT
V
*END STEP
"""


def deck(folder: Path, printed: str = ALL, more: str = "") -> Path:
    """The mooring line at four frequencies, with its requests replaced."""
    text = (INPUTS / "mooring_response.inp").read_text().replace("0.01, 0.35, 30", "0.01, 0.35, 4")
    head, _, _ = text.rpartition("*NODE PRINT, NSET=LINE\n")
    path = folder / "mooring.inp"
    path.write_text(f"{head}*NODE PRINT, NSET=LINE\n{printed}\n{more}")
    return path


def test_everything_printed_comes_back(tmp_path):
    path = deck(tmp_path)
    ran, again = fem.run(path, output=tmp_path / "out"), fem.load(tmp_path / "out")
    assert len(ran.responses) == len(again.responses) == 4
    for one, other in zip(ran.responses, again.responses, strict=True):
        for name in ("step", "frequency", "iterations", "residual"):
            assert getattr(one, name) == getattr(other, name)
        assert np.array_equal(one.nodes, other.nodes) and np.array_equal(one.elements, other.elements)
        assert other.motion == pytest.approx(one.motion, rel=1e-14, abs=0.0)
        assert other.values == pytest.approx(one.values, rel=1e-14, abs=0.0)


def test_what_is_not_printed_is_nan(tmp_path):
    """Of one step U of the ends and T of two bars; of another V of all nodes. Both have the columns of the table."""
    path = deck(tmp_path, "U\n*EL PRINT, ELSET=FEW\nT\n*END STEP", TWICE)
    path.write_text(path.read_text().replace("NSET=LINE\nU", "NSET=ENDS\nU").replace(
        "*MATERIAL", "*ELSET, ELSET=FEW\n2, 3\n*NSET, NSET=ENDS\n1, <last>\n*MATERIAL"))  # fmt: skip
    ran, again = fem.run(path, output=tmp_path / "out"), fem.load(tmp_path / "out")
    for one, other in zip(ran.responses, again.responses, strict=True):
        moves, pulls = ~np.isnan(other.motion), ~np.isnan(other.values)
        expected = np.zeros_like(moves)
        expected[:2, (one.step == 3) | np.isin(again.mesh.node_labels, [1, 25])] = True
        assert np.array_equal(moves, expected)
        assert other.motion[moves] == pytest.approx(one.motion[moves], rel=1e-14, abs=0.0)
        assert np.array_equal(np.argwhere(pulls), [[1, 3], [2, 3]])
        assert other.values[pulls] == pytest.approx(one.values[pulls], rel=1e-14, abs=0.0)


def test_tables_are_those_of_the_files(tmp_path):
    """By name, with the same columns, where everything is printed."""
    ran = fem.run(deck(tmp_path), output=tmp_path / "out")
    for history in (ran, fem.load(tmp_path / "out")):
        for name in ("steady", "steady_nodes", "steady_elements"):
            with (tmp_path / "out" / f"{name}.csv").open() as file:
                head = file.readline().strip().split(",")
            lines = np.genfromtxt(tmp_path / "out" / f"{name}.csv", delimiter=",", skip_header=1, ndmin=2)
            table = history.table(name)
            assert set(head) == set(table)
            for column, values in zip(head, lines.T, strict=True):
                assert table[column] == pytest.approx(values, rel=1e-12, abs=1e-12), column


def test_a_run_without_responses_has_empty_tables(tmp_path):
    history = fem.run(INPUTS / "sdnl100.inp", output=tmp_path)
    assert fem.load(tmp_path).responses == () == history.responses
    assert all(len(history.table(name)["frequency"]) == 0 for name in ("steady", "steady_nodes", "steady_elements"))


def test_a_run_that_was_killed_has_what_it_wrote(tmp_path):
    """The table of nodes a frequency behind, half a line at its end; NaN for the rest."""
    ran = fem.run(deck(tmp_path), output=tmp_path / "out")
    path = tmp_path / "out" / "steady_nodes.csv"
    lines = path.read_text().splitlines(keepends=True)
    count = (len(lines) - 1) // 4
    path.write_text("".join(lines[: 1 + 3 * count]) + lines[1 + 3 * count][:20])
    again = fem.load(tmp_path / "out").responses
    assert np.isnan(again[-1].motion).all() and not np.isnan(again[-1].values).any()
    assert again[2].motion == pytest.approx(ran.responses[2].motion, rel=1e-14, abs=0.0)


def test_a_table_of_another_model_is_told(tmp_path):
    fem.run(deck(tmp_path), output=tmp_path / "out")
    path = tmp_path / "out" / "steady_nodes.csv"
    head, first, *rest = path.read_text().splitlines(keepends=True)
    step, frequency, _, values = first.split(",", 3)
    path.write_text("".join([head, f"{step},{frequency},777,{values}", *rest]))
    with pytest.raises(CommandError, match=r"steady_nodes.csv has node 777, which is not in the model"):
        fem.load(tmp_path / "out")
