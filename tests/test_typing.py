"""Type checkers and editors know every public name: what they are told is what is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fem
from tests.trees import parsed

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tests" / "every_name.py"


def test_type_checkers_are_told_the_names_that_are_looked_up():
    """Each name, and the module that it comes from."""
    tree = parsed((ROOT / "fem" / "__init__.pyi").read_text(encoding="utf-8"))
    told = [(node.module, each.name, each.asname) for node in tree.body if isinstance(node, ast.ImportFrom)
            for each in node.names]  # fmt: skip
    assert sorted(told) == sorted((module, name, name) for name, module in fem._WHERE.items())


def test_the_program_for_type_checkers_uses_every_name():
    tree = parsed(SCRIPT.read_text(encoding="utf-8"))
    of_fem = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "fem")
    assert {node.attr for node in of_fem} == set(fem.__all__)


@pytest.mark.long
def test_mypy_finds_the_mistakes_of_a_program_and_nothing_else(tmp_path):
    """As a user has it: the package is not what is checked, and has no settings."""
    arguments = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={tmp_path}", str(SCRIPT)]
    command = [sys.executable, "-m", "mypy", *arguments]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    found = [(int(line), code) for line, code in re.findall(r"^\S+:(\d+): error: .*\[([\w-]+)\]$", said, re.MULTILINE)]
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    planted = [(place, line.split("# wrong: ")[1]) for place, line in enumerate(lines, 1) if "# wrong: " in line]
    assert found == planted and len(planted) == 4, said


@pytest.mark.long
def test_an_editor_lists_the_members_of_what_a_run_returns():
    jedi = pytest.importorskip("jedi")
    script = jedi.Script("import fem\nfem.run('a.inp').", path=ROOT / "script.py")
    members = {each.name for each in script.complete(2, len("fem.run('a.inp')."))}
    assert members >= {name for name in dir(fem.History) if not name.startswith("_")}
    (signature,) = jedi.Script("import fem\nfem.run(", path=ROOT / "script.py").get_signatures(2, len("fem.run("))
    assert [each.name for each in signature.params][:2] == ["deck", "output"]
