"""Whatever a command is told to write into, what it did not write itself is there afterwards as it was before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fem
from fem import runner
from fem.cli import main
from fem.commands.files import PART
from fem.errors import CommandError
from fem.runs.own import PICTURES, Names, Origin, OwnFolder
from tests.results.synthetic import chain, play

ROOT = Path(__file__).resolve().parents[2]
NODES = "1, 0., 0., 0.\n2, 1., 0., 0.\n"
DECK = f"""*PARAMETER
g = 9.81
*NODE, NSET=ALL
{NODES}*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.05
*DLOAD
BAR, GRAV, <g>, 0., -1., 0.
*NODE PRINT, NSET=ALL
U, V
*END STEP
"""
MESH_APART = DECK.replace(NODES, "*INCLUDE, INPUT=nodes.csv\n")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder with a deck."""
    monkeypatch.chdir(tmp_path)
    Path("swing.inp").write_text(DECK)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ------------------------------------------------------------------------------------------ inputs
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_mesh_beside_the_deck_is_not_written_over(here: Path, force: list[str], capsys) -> None:
    Path("swing.inp").write_text(MESH_APART)
    Path("nodes.csv").write_text(NODES)
    for name in ("motion.gif", "phase.pdf", "energies.png"):
        Path(name).write_text("of the user")
    before = contents(here)
    assert main(["run", "swing.inp", "--output", ".", "--quiet", *force]) == 2
    assert "nothing was changed" in capsys.readouterr().err
    assert contents(here) == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_inputs_are_known_through_links(here: Path, link, capsys) -> None:
    Path("swing.inp").write_text(MESH_APART)
    Path("nodes.csv").write_text(NODES)
    Path("out").mkdir()
    link(here / "nodes.csv", here / "out" / "nodes.csv")
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/same").symlink_to(here / "out")
    for output in ("out", "deep/er/same"):
        assert main(["run", "swing.inp", "--output", output, "--force"]) == 2
        assert "nodes.csv is an input of the deck" in capsys.readouterr().err
    with pytest.raises(CommandError, match="is an input of the deck"):
        fem.run("swing.inp", output="out", force=True)
    assert Path("nodes.csv").read_text() == NODES and [path.name for path in Path("out").iterdir()] == ["nodes.csv"]


def test_results_that_became_an_input_are_kept(here: Path, capsys) -> None:
    assert main(["run", "swing.inp", "--quiet"]) == 0
    Path("results/swing/events.csv").write_text("2, 1., 0., 0.\n")
    Path("swing.inp").write_text(DECK.replace("2, 1., 0., 0.\n", "*INCLUDE, INPUT=results/swing/events.csv\n"))
    assert main(["run", "swing.inp", "--quiet"]) == 2
    assert "events.csv is an input of the deck" in capsys.readouterr().err
    assert Path("results/swing/events.csv").read_text() == "2, 1., 0., 0.\n"


def test_a_deck_named_as_a_result_is_not_written_over(here: Path) -> None:
    Path("swing.inp").rename("nodes.csv")
    assert main(["run", "nodes.csv", "--output", ".", "--force", "--quiet"]) == 2
    assert Path("nodes.csv").read_text() == DECK


# ------------------------------------------------------------------------------------------ other people's files
def test_with_force_our_names_are_replaced_and_nothing_else(here: Path) -> None:
    Path("out").mkdir()
    Path("thesis.tex").write_text("ten years")
    os.link("thesis.tex", "out/nodes.csv")
    Path("out/elements.csv").symlink_to(here / "thesis.tex")
    for name in ("motion.gif", "notes.txt", "run.json.tmp"):
        Path("out", name).write_text("of the user")
    assert main(["run", "swing.inp", "--output", "out", "--quiet"]) == 2
    assert main(["run", "swing.inp", "--output", "out", "--quiet", "--force"]) == 0
    assert Path("thesis.tex").read_text() == "ten years"
    assert {Path("out", name).read_text() for name in ("motion.gif", "notes.txt", "run.json.tmp")} == {"of the user"}
    assert len(Path("out/nodes.csv").read_text().splitlines()) == 13
    assert main(["run", "swing.inp", "--output", "out", "--quiet"]) == 0  # ours now


def test_an_edited_deck_replaces_its_results_and_leaves_the_rest(here: Path) -> None:
    assert main(["run", "swing.inp", "--quiet"]) == 0
    for name in ("motion.gif", "phase.pdf", "vtu/swing_00900.vtu", "vtu/other_00000.vtu"):
        Path("results/swing", name).write_text("of the user")
    Path("swing.inp").write_text(DECK.replace("0.05", "0.03"))
    assert main(["run", "swing.inp", "--quiet"]) == 2  # a field of ours may get that name
    Path("results/swing/vtu/swing_00900.vtu").rename("results/swing/vtu/mine.vtu")
    assert main(["run", "swing.inp", "--quiet"]) == 0
    found = contents(here / "results/swing")
    mine = {"motion.gif", "phase.pdf", "vtu/mine.vtu", "vtu/other_00000.vtu"}
    assert {name for name, content in found.items() if content == b"of the user"} == mine
    assert sorted(name for name in found if "vtu/swing" in name) == [f"vtu/swing_{n:05d}.vtu" for n in range(4)]


def test_the_record_lists_what_is_ours(here: Path) -> None:
    assert main(["run", "swing.inp", "--quiet"]) == 0
    record = json.loads(Path("results/swing/run.json").read_text())
    files = {*record["files"], *(f"vtu/swing_{number:05d}.vtu" for number in range(record["fields"]))}
    assert files == set(contents(here / "results/swing")) and "process" not in record


def test_a_record_cannot_lead_out_of_its_folder(here: Path) -> None:
    assert main(["run", "swing.inp", "--quiet", "--output", "out"]) == 0
    Path("precious").write_text("mine")
    record = json.loads(Path("out/run.json").read_text())
    for name in ("../precious", str(here / "precious"), "vtu/../../precious"):
        Path("out/run.json").write_text(json.dumps(record | {"files": [*record["files"], name]}))
        assert main(["run", "swing.inp", "--quiet", "--output", "out"]) == 0
        assert Path("precious").read_text() == "mine"


COMMANDS = {
    "run.json": ["run", "swing.inp"],
    "nodes.csv": ["run", "swing.inp"],
    "energies.png": ["run", "swing.inp", "--plot"],
    "sweep.csv": ["sweep", "swing.inp", "--vary", "g=1,2"],
    "sweep.json": ["sweep", "swing.inp", "--vary", "g=1,2"],
    "exponents.png": ["lyapunov", "swing.inp", "--vary", "g=1,2"],
    "convergence.csv": ["lyapunov", "swing.inp"],
    "section.png": ["sections", "swing.inp", "--period", "0.01"],
    "points.csv": ["sections", "swing.inp", "--period", "0.01", "--vary", "g=1,2"],
    "report.md": ["validate", "axial_bar"],
    "axial_bar_mine.csv": ["validate", "axial_bar"],
    "phase.png": ["plot", "results/swing"],
}


@pytest.mark.parametrize("name", ["notes.txt", *COMMANDS])
def test_no_command_writes_into_a_folder_of_others(here: Path, name: str, monkeypatch, capsys) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed before the folder was looked at")

    if name in ("phase.png", "notes.txt"):
        assert main(["run", "swing.inp", "--quiet"]) == 0
    Path("out").mkdir()
    Path("out", name).write_text("of the user")
    monkeypatch.setattr("fem.runner.solve", never)
    monkeypatch.setattr("fem.study.validation.run_case", never)
    for command in COMMANDS.values() if name == "notes.txt" else [COMMANDS[name]]:
        assert main([*command, "--output", "out"]) == 2
        assert "--force" in capsys.readouterr().err
    assert contents(here / "out") == {name: b"of the user"}


@pytest.mark.long_cases("energies.svg")
@pytest.mark.parametrize("name", ["energies.svg", "motion.gif"])
@pytest.mark.sampled(1)
def test_pictures_of_others_among_results_are_kept(here: Path, name: str, capsys) -> None:
    assert main(["run", "swing.inp", "--quiet"]) == 0
    path = Path("results/swing", name)
    plot = ["plot", "--what", "energy", "--format", "svg"] if path.suffix == ".svg" else ["animate", "--frames", "3"]
    for target in ([], ["--output", str(path)] if plot[0] == "animate" else []):
        path.write_text("of the user")
        assert main([*plot, "results/swing", *target]) == 2 and path.read_text() == "of the user"
        assert main([*plot, "results/swing", *target, "--force"]) == 0 and path.read_bytes() != b"of the user"
        assert main([*plot, "results/swing", *target]) == 0  # ours by its mark
    assert main(["run", "swing.inp", "--quiet"]) == 0 and not path.exists()


def test_pictures_of_another_deck_are_kept(here: Path) -> None:
    Path("swung.inp").write_text(DECK)
    for deck in ("swing", "swung"):
        assert main(["run", f"{deck}.inp", "--quiet"]) == 0
    draw = ["plot", "--what", "iterations", "--output", "figures"]
    assert main([*draw, "results/swing"]) == 0 and main([*draw, "results/swing"]) == 0
    before = contents(here / "figures")
    assert main([*draw, "results/swung"]) == 2 and contents(here / "figures") == before


def test_an_own_sweep_goes_on_and_another_deck_does_not(here: Path) -> None:
    vary = ["--vary", "g=1,2", "--output", "out", "--quiet"]
    assert main(["sweep", "swing.inp", *vary]) == 0
    whole = contents(here / "out")
    assert main(["sweep", "swing.inp", *vary]) == 0 and contents(here / "out") == whole
    Path("elsewhere").mkdir()
    Path("elsewhere/swing.inp").write_text(DECK.replace("1e6", "1e5"))
    assert main(["sweep", "elsewhere/swing.inp", *vary]) == 2 and contents(here / "out") == whole
    with pytest.raises(CommandError, match="another deck"):
        fem.sweep("elsewhere/swing.inp", {"g": [1.0]}, output="out")
    assert main(["sweep", "elsewhere/swing.inp", *vary, "--force"]) == 0
    assert contents(here / "out")["sweep.csv"] != whole["sweep.csv"]


# ------------------------------------------------------------------------------------------ any folder
NAMES = ("nodes.csv", "run.json", "swing.pvd", "vtu/swing_00000.vtu", "vtu/x.vtu", "notes", "frequencies.csv")
ANY = st.dictionaries(st.sampled_from((*NAMES, *PICTURES[:4], "motion.gif")), st.binary(max_size=30), max_size=5)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A made-up solver."""
    monkeypatch.setattr(runner, "solve", lambda model, sink, **_: play(model, sink))
    yield


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=ANY, is_run_before=st.booleans(), force=st.booleans())
def test_nothing_of_the_user_is_lost(tmp_path_factory, quick, files, is_run_before: bool, force: bool) -> None:
    folder = tmp_path_factory.mktemp("any")
    model = chain(source=str(folder / "swing.inp"))
    output = folder / "out"
    if is_run_before:
        fem.run(model, output=output)
        files = {name: content for name, content in files.items() if not (output / name).exists()}
    for name, content in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_bytes(content)
    try:
        fem.run(model, output=output, force=force)
    except CommandError:
        assert not force and files
    left = contents(folder)
    kept = {name: content for name, content in files.items() if left.get(f"out/{name}") == content}
    ours = {"nodes.csv", "run.json", "swing.pvd", "vtu/swing_00000.vtu"}
    assert files.keys() - kept.keys() <= (ours if force else set())
    assert not [name for name in left if name.endswith((PART, ".fem-lock"))]


def test_a_link_to_nowhere_and_folders_in_the_way(here: Path) -> None:
    Path("out").mkdir()
    Path("out/nodes.csv").symlink_to(here / "gone" / "away")
    own = OwnFolder(here / "out", "r.json", Origin(Path("swing.inp"), "x"), Names(frozenset(("nodes.csv", "a/b"))))
    with pytest.raises(CommandError, match="contains other files"):
        own.check()
    own.force = True
    own.check()
    Path("out/a").write_text("a file")
    with pytest.raises(CommandError, match="is not a folder"):
        own.check()
    Path("out/a").unlink()
    Path("out/a/b").mkdir(parents=True)
    with pytest.raises(CommandError, match="is a folder"):
        own.check()
