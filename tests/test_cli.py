"""The command line, from outside: exit codes, messages, files."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fem import __version__
from fem.cli import COMMANDS, main, parser
from tests.waiting import PATIENCE, wait_for

ROOT = Path(__file__).resolve().parent.parent
PENDULUM = """*HEADING
a swinging bar with a mass at its end
*PARAMETER
dt = 0.01
*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MATERIAL, NAME=STEEL
*ELASTIC
1e6
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL
1e-2
*MASS, ELSET=BOB
1.
*NSET, NSET=TIP
2
*BOUNDARY
1, 1, 3
2, 3
*STEP, NLGEOM, INC=10000000
*DYNAMIC, DIRECT
<dt>, PERIOD
*DLOAD
BOB, GRAV, 9.81, 0., -1., 0.
*NODE PRINT, NSET=TIP
U
*END STEP
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def deck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pendulum of 20 increments in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "swing.inp", "0.2")


def write(path: Path, period: str, old: str = "", new: str = "") -> Path:
    path.write_text(PENDULUM.replace("PERIOD", period).replace(old, new) if old else PENDULUM.replace("PERIOD", period))
    return path


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "fem", *map(str, arguments)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def record(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


# ------------------------------------------------------------------------------------------ without solving
def test_a_command_is_found_with_and_without_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    def told(top: argparse.ArgumentParser, *words: str) -> str:
        with pytest.raises(SystemExit):
            top.parse_args(words)
        return "".join(capsys.readouterr())

    names, every = [name for names in COMMANDS.values() for name in names], parser()
    assert re.findall(r"[\w-]+", told(every, "nothing").partition("there are")[2]) == names
    for name in names:
        assert told(parser(name), name, "--help") == told(every, name, "--help")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['fem', '--help']\n"
        "import fem.cli\n"
        "try: fem.cli.main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'rich', 'meshio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "validate" in done.stdout and "exit codes" in done.stdout


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert not end.value.code and capsys.readouterr().out == f"fem {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "x.inp"], "there is no 'study'; there are run, check, "),
        (["runn", "x.inp"], "there is no 'runn'; did you mean run?"),
        (["plot", "x", "--what", "enrgy"], "argument --what: there is no 'enrgy'; did you mean energy?"),
        (["run"], "DECK"),
        (["run", "x.inp", "--set", "dt"], "not of the form NAME=VALUE"),
        (["run", "x.inp", "--set", "=3"], "not of the form NAME=VALUE"),
        (["run", "x.inp", "--set", "dt=fast"], "'fast' in 'dt=fast' is not a number"),
        (["run", "x.inp", "--set", "dt=nan"], "not a finite number"),
        (["run", "x.inp", "--solver", "magic"], "there is no 'magic'; there are auto, chain, "),
    ],
)
def test_a_wrong_command_is_exit_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_nothing_but_fem_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr()
    assert not shown.err and all(f"\n    {name} " in shown.out for names in COMMANDS.values() for name in names)


def test_a_missing_deck_is_exit_2(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "swing"]) == 2
    assert capsys.readouterr().err == "fem: error: swing does not exist; did you mean swing.inp?\n"
    assert main(["check", "no.inp"]) == 2


def test_errors_of_a_deck(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(deck, "0.2", "*DYNAMIC", "*DYNAMICS")
    assert main(["run", str(deck)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    line = PENDULUM.splitlines().index("*DYNAMIC, DIRECT") + 1
    assert f"swing.inp:{line}:1: error: unknown keyword *DYNAMICS; did you mean *DYNAMIC?\n" in output.err
    assert "    *DYNAMICS, DIRECT\n    ^\n" in output.err
    assert "in the deck; nothing was solved or written" in output.err
    assert not Path("results").exists()


def test_check(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(deck), "--set", "dt=0.02"]) == 0
    assert capsys.readouterr().out
    assert not Path("results").exists()


def test_warmup_says_when_there_is_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from fem.compiled import folder
    from fem.study import warmup

    calls: list[str] = []
    shipped = tmp_path_factory.mktemp("shipped") / "inputs"  # one of the decks, whose beginnings take 10 s together
    shipped.mkdir()
    shutil.copy(ROOT / "inputs" / "sdnl100.inp", shipped)
    monkeypatch.setattr(warmup, "shipped", lambda: shipped.parent)
    for module in (folder, warmup):
        monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "kernels-new")
    monkeypatch.setattr(warmup, "build_all", lambda wanted: not calls.extend(name for name, _ in wanted))
    for name, days in (("old", 31.0), ("recent", 29.0)):
        folder.make_cache(tmp_path / f"kernels-{name}")
        then = time.time() - 86_400.0 * days
        os.utime(tmp_path / f"kernels-{name}", (then, then))
    assert main(["warmup"]) == 0
    assert "fem.solve.newton.march:march" in calls and "compiled in" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"kernels-new", "kernels-recent"}
    calls.clear()
    assert main(["warmup"]) == 0
    assert not calls and "compiled already" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------- with the solver
def test_run(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "swing.inp", "--plot"]) == 0
    output = capsys.readouterr()
    assert output.err == "" and "completed" in output.out
    rows = [line for line in output.out.splitlines() if line.startswith("   1 ")]
    assert len(rows) == 21
    folder = Path("results/swing")
    assert record(folder)["verdict"] == "completed"
    assert len((folder / "increments.csv").read_text().splitlines()) == 22
    last = (folder / "nodes.csv").read_text().splitlines()[-1].split(",")
    assert last[:2] == ["1", "20"] and last[3] == "2"
    # Free fall of 0.2 s from the horizontal: y is between g t^2 / 2 = 0.196 and a little less.
    assert -0.197 < float(last[5]) < -0.18
    assert len(list((folder / "vtu").glob("swing_*.vtu"))) == 21
    assert {path.name for path in folder.glob("*.png")} == {"energies.png", "iterations.png", "displacements.png"}


def test_same_deck_same_bytes(deck: Path) -> None:
    for folder in ("a", "b"):
        assert main(["run", "swing.inp", "--quiet", "--output", folder]) == 0
    first, second = (
        {path.name: path.read_bytes() for path in sorted(Path(folder).rglob("*.*")) if path.name != "run.json"}
        for folder in ("a", "b")
    )
    assert first == second and len(first) > 20
    records = [record(Path(folder)) for folder in ("a", "b")]
    assert all(found.pop("timing") for found in records) and records[0] == records[1]


def test_set_overrides_a_parameter(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "swing.inp", "--set", "dt=2D-2", "--no-vtk", "--quiet", "--solver", "DIRECT"]) == 0
    assert capsys.readouterr() == ("", "")
    assert len(Path("results/swing/increments.csv").read_text().splitlines()) == 12
    assert main(["run", "swing.inp", "--no-vtk", "--quiet"]) == 0  # the same deck: its results may be replaced
    write(deck, "0.1", "*DLOAD", "** edited\n*DLOAD")
    assert main(["run", "swing.inp", "--no-vtk", "--quiet"]) == 0  # the same file with other text, likewise
    Path("elsewhere").mkdir()
    write(Path("elsewhere/swing.inp"), "0.2")
    assert main(["run", "elsewhere/swing.inp"]) == 2
    assert "--output DIR" in capsys.readouterr().err
    capsys.readouterr()
    assert main(["run", "swing.inp", "--set", "g=3", "--output", "x"]) == 2
    assert capsys.readouterr().err == "fem: error: the deck has no *PARAMETER G; there is only dt\n"


def test_no_convergence_is_exit_3_and_keeps_what_was_computed(deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(deck, "0.2", "*DLOAD", "*CONTROLS, ITER_GLOB_MAXI=2, RESI_GLOB_RELA=1e-12\n*DLOAD")
    assert main(["run", "swing.inp"]) == 3
    output = capsys.readouterr()
    assert output.err.startswith("fem: error: ") and "NO CONVERGENCE" in output.out
    folder = Path("results/swing")
    assert record(folder)["verdict"] == "no convergence"
    assert (folder / "increments.csv").read_text().splitlines()[1].startswith("1,0,0.0,")


def test_the_history_of_a_failure(deck: Path) -> None:
    import fem

    write(deck, "0.2", "*DLOAD", "*CONTROLS, ITER_GLOB_MAXI=2, RESI_GLOB_RELA=1e-12\n*DLOAD")
    with pytest.raises(fem.NoConvergence) as caught:
        fem.run("swing.inp")
    assert len(caught.value.history) >= 1 and caught.value.history.time[0] == 0.0


def test_run_from_python(deck: Path) -> None:
    import fem

    history = fem.run("swing.inp", parameters={"dt": 0.05})
    assert history.increment.tolist() == [0, 1, 2, 3, 4]
    tension = history.of_element(1)
    assert tension.shape == (5,) and history.of_node(2)[-1, 1] < -0.15


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT as a terminal does")
def test_ctrl_c_is_exit_130_and_everything_finished_is_kept(deck: Path) -> None:
    write(deck, "50000.")
    process = subprocess.Popen(
        command("run", "swing.inp", "--quiet"), env=environment(), stderr=subprocess.PIPE, text=True
    )
    folder = Path("results/swing")
    table = folder / "nodes.csv"
    wait_for(lambda: process.poll() is not None or (table.is_file() and table.stat().st_size > 10_000))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and "interrupted" in errors and "Traceback" not in errors
    found = record(folder)
    assert found["verdict"] == "interrupted"
    increments = (folder / "increments.csv").read_text()
    assert increments.endswith("\n")
    totals = found["totals"]
    assert isinstance(totals, dict) and len(increments.splitlines()) == totals["increments"] + 2
    assert (folder / "nodes.csv").read_text().splitlines()[-1].split(",")[1] == str(totals["increments"])
    assert (folder / "swing.pvd").read_text().endswith("</VTKFile>\n")


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a shell pipe")
def test_head_closes_the_pipe_silently(deck: Path) -> None:
    write(deck, "100.")
    shown = subprocess.Popen(
        command("run", "swing.inp"), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert shown.stdout is not None and shown.stderr is not None
    shown.stdout.readline()
    shown.stdout.close()
    assert shown.stderr.read() == ""
    assert shown.wait(timeout=PATIENCE) == 0
    shown.stderr.close()
    assert record(Path("results/swing"))["verdict"] == "completed"


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_disk_is_exit_4_without_a_traceback(deck: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("run", "swing.inp"), env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 4 and "standard output: No space left" in done.stderr and "Traceback" not in done.stderr
