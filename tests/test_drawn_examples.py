"""Tests that draw examples draw the same ones for all who type the same command."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import parsed

HERE = Path(__file__).resolve().parent
OWN = {"max_examples", "suppress_health_check"}


def drawn() -> list[object]:
    """What a test draws."""
    found: list[object] = []

    @settings(derandomize=True, database=None, max_examples=60)
    @given(st.integers(), st.floats(), st.text(max_size=3))
    def draws(count, number, text):
        found.append((count, repr(number), text))

    draws()
    return found


def test_they_do_not_depend_on_what_is_loaded(tmp_path):
    before = drawn()
    path = tmp_path / "full_of_numbers.py"
    path.write_text("NUMBERS = " + repr([k * 1001 + 0.125 * (k % 2) for k in range(200)]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("full_of_numbers", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["full_of_numbers"] = module
    try:
        assert drawn() == before
    finally:
        del sys.modules["full_of_numbers"]


def test_they_are_the_same_unless_asked_for_new_ones(pytestconfig):
    assert settings.default is not None
    assert settings.default.derandomize == (pytestconfig.getoption("--hypothesis-profile") != "new")
    assert not settings.get_profile("new").derandomize and settings.default.print_blob
    assert "--hypothesis-profile new" in (HERE.parent / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.long
def test_how_they_are_drawn_is_decided_in_one_place():
    """Tests say how many they want, and which checks of their fixtures do not matter; the rest is in conftest.py."""
    for path in set(HERE.rglob("*.py")) - {HERE / "conftest.py", Path(__file__)}:
        for node in ast.walk(parsed(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "settings":
                assert {word.arg for word in node.keywords} <= OWN, f"{path}:{node.lineno}"
