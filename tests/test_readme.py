"""Every command and every Python block of the README works as written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.S)
START = ".venv/bin/python -m fem "
LINES = [
    [part.removeprefix(START) for part in line.split(" && ") if part.startswith(START)]
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
    if START in line
]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder with what a clone has that commands read."""
    for name in ("inputs", "validation"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_has_the_two_commands():
    assert len(LINES) >= 5
    (installing,) = [
        line for language, text in BLOCKS if language == "sh" for line in text.splitlines() if "pytest" in line
    ]
    assert '.venv/bin/pip install -e ".[test]"' in installing


def test_the_tests_that_ci_runs_exist():
    named = re.findall(r"tests/[\w/.]+", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 5 and all((ROOT / name).exists() for name in named)


@pytest.mark.parametrize("line", LINES, ids=" && ".join)
def test_commands_of_the_readme(line, clone):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for command in line:
        done = subprocess.run(
            [sys.executable, "-m", "fem", *command.split()], cwd=clone, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.parametrize("text", [text for language, text in BLOCKS if language == "python"])
def test_python_of_the_readme(text, clone, capsys):
    exec(compile(text, "README.md", "exec"), {})
    assert "[9 5 6]" in capsys.readouterr().out
