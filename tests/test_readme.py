"""Every command and every Python block of the README works as written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
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


def test_what_is_to_be_installed_exists():
    """The name fem is that of another project on PyPI: what readers type comes from the clone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "fem").rglob("*.py"))
    extras = re.findall(r'pip install -e "\.\[(\w+)\]"', README) + re.findall(r"lacks\(.*?, '(\w+)'\)", sources)
    assert set(extras) >= {"test", "dask", "direct", "meshes"}
    assert set(extras) <= set(project["project"]["optional-dependencies"])
    assert not re.search(r"pip install ['\"]?fem\[", README + sources)
    # A path in a .pth file, which wins over a folder `fem` without __init__.py; `.ci/run` tries it.
    assert project["build-system"]["build-backend"] == "hatchling.build" and project["project"]["name"] == "fem-cables"


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
