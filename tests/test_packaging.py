"""The wheel has all that commands need: the package alone, unpacked elsewhere, lists and runs its decks and cases."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fem
from docs.notebooks import BEGIN, TUTORIALS, notebook, with_link
from fem.commands.example import example
from fem.errors import CommandError, lacks

ROOT = Path(__file__).resolve().parents[1]
DECKS = sorted(path.name for path in (ROOT / "inputs").glob("*.inp"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A folder with what the wheel installs; ``.ci/run`` installs it with all that it needs, from the network."""
    for name in ("build", "hatchling"):
        pytest.importorskip(name, reason=f"{name}, of the extra test, makes the wheel")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def answer(wheel: Path, folder: Path, *command: str, code: int = 0) -> str:
    """What a command of the unpacked wheel prints; it ends with that exit code."""
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    run = [sys.executable, "-m", "fem", *command]
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.long
def test_the_wheel_has_every_file_of_the_package(wheel):
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fem").rglob("*") if path.is_file()}
    written = {name for name in written if "__pycache__" not in name}
    carried = {path.relative_to(wheel).as_posix() for path in (wheel / "fem").rglob("*") if path.is_file()}
    assert {name for name in carried if not name.startswith("fem/shipped/")} == written
    assert "fem/py.typed" in carried
    for name in ("inputs", "validation"):
        files = [path for path in (ROOT / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert files and {f"fem/shipped/{path.relative_to(ROOT).as_posix()}" for path in files} <= carried


def test_the_reference_of_the_wheel_is_that_of_the_clone(wheel, tmp_path):
    page = Path("docs", "reference", "keywords.md")
    assert (wheel / "fem" / "shipped" / page).read_bytes() == (ROOT / page).read_bytes()
    assert answer(wheel, tmp_path, "help", "*node print") == answer(ROOT, tmp_path, "help", "node", "print")


@pytest.mark.long
def test_commands_of_the_wheel(wheel, tmp_path):
    assert answer(wheel, tmp_path, "--version") == f"fem {fem.__version__}\n"
    answer(wheel, tmp_path, "example", "all", "--output", "inputs")
    for name in DECKS:
        assert (tmp_path / "inputs" / name).read_bytes() == (ROOT / "inputs" / name).read_bytes()
    answer(wheel, tmp_path, "run", "inputs/sdnl100.inp", "--quiet")
    assert "all met" in answer(wheel, tmp_path, "validate", "axial_bar")


@pytest.mark.long
def test_who_has_the_wheel_alone_is_told_how_to_go_on(wheel, tmp_path):
    """In an empty folder: how to get the example that a page names; how to install an extra without a clone."""
    said = answer(wheel, tmp_path, "run", "inputs/winch.inp", code=2)
    assert "inputs/winch.inp does not exist; `fem example winch --output inputs` copies" in said
    code = "from fem.errors import lacks; print(lacks('nicegui', 'app'))"
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert told.stdout.strip() == 'the package nicegui is not installed: pip install "fem-cables[app]"'
    assert lacks("nicegui", "app").endswith("pip install -e '.[app]' in the clone of fem")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_are_notebooks_that_begin_with_the_decks_of_the_wheel(page):
    """`.ci/run` executes them with the wheel alone."""
    made, text = notebook(page), page.read_text(encoding="utf-8")
    cells = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert cells[0] == BEGIN and "docs.notebooks" not in "".join(cells)
    assert len(cells) == text.count("```{code-cell}") and made["cells"][0]["source"].startswith("# ")
    assert all(compile(cell, page.name, "exec") for cell in cells[1:])
    assert not re.search(r"```\{|\]\((?!http)", "".join(cell["source"] for cell in made["cells"]))
    assert with_link(page, text).count(f"notebooks/{page.stem}.ipynb") == 1


@pytest.mark.parametrize("command", ["check", "run", "sections", "lyapunov"])
def test_a_deck_that_is_not_there_is_named_with_the_example_of_its_name(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hint = "`fem example sdnl100` copies the example of that name"
    with pytest.raises(CommandError, match=f"^sdnl100.inp does not exist; {hint}$"):
        getattr(fem, command)("sdnl100.inp")
    with pytest.raises(CommandError, match=r"^mine\.inp does not exist$"):
        getattr(fem, command)("mine.inp")
    example(["sdnl100"])
    with pytest.raises(CommandError, match=r"^sdnl100 does not exist; did you mean sdnl100\.inp\?$"):
        getattr(fem, command)("sdnl100")


def test_examples_are_listed_and_copied(tmp_path, capsys):
    said: list[str] = []
    assert example(say=said.append) == [] and len(said) == len(DECKS) + 1
    assert any(line.startswith("sdnl100 ") and "pendulum" in line for line in said)
    assert all(line.split(None, 1)[1] for line in said)  # every deck has a title
    tables = [path.name for path in example(["sea_state", "moored_vessel"], tmp_path) if path.suffix == ".csv"]
    assert tables == [
        "sea_state_cases.csv",
        "sea_state_scatter.csv",
        "moored_vessel.csv",
    ]  # what the commands of the guides read
    copies = [example(["sdnl100.inp", "cable_net"], tmp_path / "new") for _ in range(2)]  # the same again is no mistake
    assert copies[0] == copies[1] == [tmp_path / "new" / "sdnl100.inp", tmp_path / "new" / "cable_net.inp"]


def test_examples_that_are_not_there_or_in_the_way(tmp_path):
    with pytest.raises(CommandError, match=r"no example 'sdnl10'; did you mean sdnl100\?"):
        example(["sdnl10"], tmp_path)
    with pytest.raises(CommandError, match="there are axial_bar, "):
        example(["zzzzz"], tmp_path)
    (tmp_path / "sdnl100.inp").write_text("mine")
    with pytest.raises(CommandError, match="contains another deck"):
        example(["sdnl100"], tmp_path)
    example(["sdnl100"], tmp_path, force=True)
    assert (tmp_path / "sdnl100.inp").read_bytes() == (ROOT / "inputs" / "sdnl100.inp").read_bytes()
