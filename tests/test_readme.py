"""The README names what exists; its commands and Python blocks are run by ``test_pages.py``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import fem

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = README + "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md")))
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.S)
START = ".venv/bin/python -m fem "
LINES = [
    [part.removeprefix(START) for part in line.split(" && ") if part.startswith(START)]
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
    if START in line
]


def test_readme_has_the_two_commands():
    assert len(LINES) >= 5
    (installing,) = [
        line for language, text in BLOCKS if language == "sh" for line in text.splitlines() if "pytest" in line
    ]
    assert '.venv/bin/pip install -e ".[test]"' in installing


def test_version_and_date_of_the_release_are_the_same_everywhere():
    assert set(re.findall(r"fem_cables-(.*?)-py3-none-any\.whl", PAGES)) == {fem.__version__}
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (version,), (date,) = (re.findall(rf"^{key}: (.*)", citation, re.M) for key in ("version", "date-released"))
    releases = re.findall(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert releases[0] == (version, date) == (fem.__version__, date)
    assert releases == sorted(releases, key=lambda release: release[1], reverse=True)


def test_the_tests_that_ci_runs_exist():
    named = re.findall(r"tests/[\w/.]+", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))
    assert len(named) > 5 and all((ROOT / name).exists() for name in named)


def test_what_is_to_be_installed_exists():
    """The name fem is that of another project on PyPI: what readers type comes from the clone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "fem").rglob("*.py"))
    extras = re.findall(r'pip install -e "\.\[(\w+)\]"', PAGES) + re.findall(r"lacks\(.*?, '(\w+)'\)", sources)
    assert set(extras) >= {"test", "docs", "dask", "direct", "meshes"}
    assert set(extras) <= set(project["project"]["optional-dependencies"])
    assert not re.search(r"pip install ['\"]?fem\[", PAGES + sources)
    # A path in a .pth file, which wins over a folder `fem` without __init__.py; `.ci/run` tries it.
    assert project["build-system"]["build-backend"] == "hatchling.build" and project["project"]["name"] == "fem-cables"
