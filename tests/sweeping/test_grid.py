"""Values and order of parameter grids, and commands that describe none."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.study.points import make_grid, read_vary, stated


def test_both_ends_are_values_and_the_first_name_varies_slowest():
    grid = read_vary(["A=0:15:61", "k=1D2, 5e2", "one=3:3:1"])
    assert grid.names == ("A", "k", "one") and len(grid) == 122
    assert grid.values[0] == tuple(0.25 * i for i in range(61))
    points = [tuple(grid.point(i).values()) for i in range(len(grid))]
    assert points == list(product(*grid.values))
    assert points[:3] == [(0.0, 100.0, 3.0), (0.0, 500.0, 3.0), (0.25, 100.0, 3.0)]


@pytest.mark.parametrize("text", ["x=0.1:0.7:13", "x=-1:1e-3:7", "x=0.3:0.1:11"])
def test_ends_are_exact_and_steps_are_equal(text):
    first, last, count = text[2:].split(":")
    (values,) = read_vary([text]).values
    assert (values[0], values[-1], len(values)) == (float(first), float(last), int(count))
    steps = [b - a for a, b in pairwise(values)]
    assert steps == pytest.approx([(float(last) - float(first)) / (int(count) - 1)] * len(steps), rel=1e-12)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["A"], "not of the form"),
        (["=1:2:3"], "not of the form"),
        (["A=2:1"], "lacks the number of values"),
        (["A=1:2:3:4"], "not of the form"),
        (["A=1:2:0"], "not a count of values"),
        (["A=1:2:2.5"], "not a count of values"),
        (["A=1:2:1"], "one value needs equal ends"),
        (["A=1:1:3"], "both ends are equal"),
        (["A=1:fast:3"], "'fast' in 'A=1:fast:3' is not a finite number"),
        (["A=1,inf"], "not a finite number"),
        (["A=1,2,1"], "the same value twice"),
        (["A=1,,2"], "not a finite number"),
        (["A=1,2", "A=3,4"], "given twice"),
        (["A=1,2", "a=3,4"], "varied twice"),
        (["A=0:1:99999999"], "at most"),
        (["A=0:1:9999", "B=0:1:9999"], "parameter sets; at most"),
    ],
)
def test_what_is_no_grid_is_said(texts, message):
    with pytest.raises(fem.CommandError, match=message):
        read_vary(texts)


def test_a_grid_from_python_is_judged_too():
    for vary in ({}, {"A": []}, {"A": [float("nan")]}):
        with pytest.raises(fem.CommandError):
            make_grid(vary)


def test_many_values_are_the_same_as_few(monkeypatch):
    """They are an array then."""
    given = {"A": [0.1 * number for number in range(7)], "B": [3.0, 1.0, 2.0]}
    few = make_grid(given)
    monkeypatch.setattr("fem.study.points.MOST_LISTED", 3)
    many = make_grid(given)
    assert isinstance(many.values[0], np.ndarray) and many.values[1] == few.values[1]
    assert many.description() == few.description() and len(many) == len(few) == 21
    assert [many.point(place) for place in range(21)] == [few.point(place) for place in range(21)]
    assert type(many.point(20)["A"]) is float and many.columns()["A"].tolist() == few.columns()["A"].tolist()
    assert many.identity == stated({"A": given["A"], "B": tuple(given["B"])})


def test_a_parameter_that_changes_nothing_is_named():
    """Also where others are made of it that nothing uses."""
    text = "*PARAMETER\nq = 1.\nr = 2*q\n" + Path("inputs/pendulum_lumped.inp").read_text()
    found = fem.sweep(fem.parse_deck(text), {"q": [1.0, 2.0], "duration": [0.5, 1.0]})
    assert found.notices == ("q changes nothing in the model",)
    assert fem.sweep(fem.parse_deck(text), {"q": [1.0], "duration": [0.5, 1.0]}).notices == ()
