"""Lists of parameter sets: each line of a CSV is a run, as a point of a grid is; values at the end of runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.study.points import read_cases
from tests.sweeping.swings import write_swing

LIST = "length,gravity\n1.0,9.81\n2.0,1.0\n\n1.5,3D0\n"


@pytest.fixture
def deck(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.csv").write_text(LIST)
    return write_swing(tmp_path)


@pytest.mark.long
def test_rows_are_those_of_a_grid(deck):
    """The grid of the same values has each case among its points."""
    found = fem.sweep(deck, cases="cases.csv")
    whole = fem.sweep(deck, {"length": [1.0, 1.5, 2.0], "gravity": [1.0, 3.0, 9.81]})
    assert found.parameters["length"].tolist() == [1.0, 2.0, 1.5] and not found.failed.any()
    for name in set(found) - {"point"}:
        of = [next(k for k in range(9) if all(whole[n][k] == found[n][p] for n in found.names)) for p in range(3)]
        np.testing.assert_array_equal(found[name], whole[name][of], err_msg=name)
    assert found.to_xarray().sizes == {"point": 3}


def test_ends_are_those_of_single_runs(deck):
    found = fem.sweep(deck, cases="cases.csv", history=True)
    for point, history in enumerate(found.histories):
        assert found["T_1_end"][point] == history.of_element(1, "T")[-1]
        for axis in range(3):
            assert found[f"RF{axis + 1}_2_end"][point] == history.of_node(2, "RF")[-1, axis]
            assert found[f"U{axis + 1}_2_end"][point] == history.of_node(2)[-1, axis]


def test_the_command_goes_on_where_it_stopped(deck, capsys):
    assert main(["sweep", str(deck), "--cases", "cases.csv", "--output", "out", "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert "over length, gravity of cases.csv: 3 parameter sets" in said
    record = json.loads((deck.parent / "out" / "sweep.json").read_text())
    assert record["grid"] == {"cases": {"length": [1.0, 2.0, 1.5], "gravity": [9.81, 1.0, 3.0]}}
    before = (deck.parent / "out" / "sweep.csv").read_bytes()
    (deck.parent / "cases.csv").rename(deck.parent / "renamed.csv")  # the same sets
    assert main(["sweep", str(deck), "--cases", "renamed.csv", "--output", "out", "--workers", "1"]) == 0
    assert "3 of them were finished before" in capsys.readouterr().out
    assert (deck.parent / "out" / "sweep.csv").read_bytes() == before


def test_starts_are_names_too(deck):
    (deck.parent / "starts.csv").write_text("V1_2\n0.5\n0.25\n")
    found = fem.sweep(deck, cases="starts.csv")
    assert found.parameters["V1_2"].tolist() == [0.5, 0.25]
    (deck.parent / "starts.csv").write_text("v1_n2\n0.5\n0.25\n")  # the other spelling of the same
    again = fem.sweep(deck, cases="starts.csv")
    assert again.names == ("V1_2",) and again["U1_n2_end"].tolist() == found["U1_2_end"].tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("length,gravity\n1.0, two\n", "cases.csv:2:6: 'two' is not a finite number; expected a value of gravity"),
        ("length,gravity\n1.0,2.0\n\n1.0,inf\n", "cases.csv:4:5: 'inf'"),
        ("length,gravity\n1,0,2,0\n", r"cases.csv:2:5: 4 values; expected 2 values, of length, gravity \(numbers have"),
        ("length,gravity\n1.0\n", "cases.csv:2:1: 1 values; expected 2 values"),
        ("length;gravity\n1,0;2\n1,5;x\n", "cases.csv:3:5: 'x' is not a finite number"),
        ("length, LENGTH\n1.0,2.0\n", "cases.csv:1:9: LENGTH is given twice"),
        ("length,\n1.0,2.0\n", "cases.csv:1:8: a parameter name is missing"),
        ("length\n1.0\n2.0\n1.0\n", "cases.csv:4:1: the same parameter set as in line 2"),
        ("length\n", "cases.csv: expected a line of names"),
        ("", "cases.csv: expected a line of names"),
    ],
)
def test_what_is_wrong_in_a_list_is_said_with_its_place(tmp_path, text, said):
    (tmp_path / "cases.csv").write_text(text)
    with pytest.raises(CommandError, match=said):
        read_cases(tmp_path / "cases.csv")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cases", "cases.csv", "--vary", "length=1,2"], "use it without --vary"),
        (["--cases", "none.csv"], "none.csv cannot be read"),
        ([], "--vary NAME=first:last:count, or --cases FILE.csv"),
        (["--cases", "odd.csv"], "odd.csv:1:8: the deck has no *PARAMETER gravty; did you mean gravity?"),
    ],
)
def test_a_wrong_command_is_exit_2_and_computes_nothing(deck, capsys, arguments, said):
    (deck.parent / "odd.csv").write_text("length,gravty\n1.0,2.0\n")
    assert main(["sweep", str(deck), *arguments, "--output", "out"]) == 2
    assert said in capsys.readouterr().err and not (deck.parent / "out").exists()
