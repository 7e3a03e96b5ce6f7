"""Tolerances of validation cases are numbers that stand before the run: nothing in them comes from what is judged."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "validation"
FILES = sorted([*ROOT.glob("*.py"), *(ROOT / "cases").glob("*.py"), *(ROOT / "further").glob("*.py")])
RUNS = set("run reactions lyapunov sections basins orbits sweep solve of_node of_element of_energy".split())
"""Functions and methods whose answers are the program's own."""


def called(node: ast.AST) -> set[str]:
    """Names of functions and methods that an expression calls."""
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {each.attr if isinstance(each, ast.Attribute) else each.id for each in calls
            if isinstance(each, ast.Attribute | ast.Name)}  # fmt: skip


def named(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def from_runs(function: ast.AST) -> set[str]:
    """Names of a function that a run gave, directly or through other names."""
    known: set[str] = set()
    for _ in range(4):
        for each in ast.walk(function):
            if not isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) or each.value is None:
                continue
            if called(each.value) & RUNS or named(each.value) & known:
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                known |= {name for target in targets for name in named(target)}
    return known


def suspects(text: str) -> list[str]:
    """Tolerances of ``Target(quantity, value, kind, source, tolerance)`` that depend on a run."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        own = from_runs(function)
        for each in ast.walk(function):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "Target":
                given = [*each.args[4:], *(word.value for word in each.keywords if word.arg == "tolerance")]
                found += [ast.unparse(one) for one in given if called(one) & RUNS or named(one) & own]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_tolerance_comes_from_the_run_that_is_judged(path):
    assert suspects(path.read_text(encoding="utf-8")) == []


def test_a_tolerance_from_a_run_is_seen():
    text = """
def rows():
    found = lyapunov(model)
    error = 2.0 * found.errors[0]
    return Target("exponent", 0.1, "absolute", "bar of the run", error + 1e-3), Target("x", 0.0, "absolute", "", 1e-3)
"""
    assert suspects(text) == ["error + 0.001"]
