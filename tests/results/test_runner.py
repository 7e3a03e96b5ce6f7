"""What a run leaves behind, with a made-up solver: files, verdicts, refusals."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fem.runner as runner
from fem.commands.files import GrowingFile
from fem.errors import CommandError, EnergyDrift, FemError, MachineError, ModelError, NoConvergence
from fem.model import Dynamic, Frequency, Model, OutputRequest, Step
from fem.runs.own import plain
from fem.runs.record import Requests, Sink, StepStart
from tests.results.synthetic import chain, make_rows, play
from tests.waiting import wait_for

STEPS = (Step(Dynamic(0.1, 1.0), outputs=(OutputRequest("NODE PRINT", "TIP"),)), Step(Frequency(2)))


class FakeSolver:
    """Plays a made-up run; raises ``error`` after ``until`` increments."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.until = 7
        self.closes = False
        self.record_all: list[bool] = []

    def __call__(self, model: Model, sink: Sink, requests: Requests, checkpoints: object = None) -> None:
        self.record_all.append(requests.record_all)
        if self.error is None:
            play(model, sink)
            return
        if self.until >= 0:
            play(model, sink, until=self.until)
        if self.closes:
            sink.close()
        raise self.error


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeSolver:
    """A made-up solver and reader, in an empty current folder that holds a deck."""
    fake = FakeSolver()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "solve", fake)
    monkeypatch.setattr("fem.deck.read_deck", read_made_up)
    Path("chain.inp").write_text("one")
    return fake


def read_made_up(path: Path, parameters: dict[str, float], earlier=None) -> Model:
    return chain(steps=STEPS, source=str(path), digest=path.read_text(), notices=("read",), parameters=parameters)


def record(folder: str = "results/chain") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "run.json").read_text(encoding="utf-8"))
    return found


def lines(name: str, folder: str = "results/chain") -> list[str]:
    return (Path(folder) / name).read_text(encoding="utf-8").splitlines()


def contents(folder: str) -> dict[str, bytes]:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    return {name: content for name, content in files.items() if name != "run.json"}


def test_a_run_writes_its_files_and_a_summary(solver: FakeSolver, capsys: pytest.CaptureFixture[str]) -> None:
    runner.run_to_files("chain.inp", plot=True)
    assert {path.name for path in Path("results/chain").iterdir()} == {
        *("increments.csv", "nodes.csv", "elements.csv", "events.csv", "frequencies.csv", "run.json"),
        *("chain.pvd", "chain_modes_step2.pvd", "vtu", "energies.png", "iterations.png", "displacements.png"),
    }
    found = record()
    assert found["verdict"] == "completed" and found["notices"] == ["read"]
    assert set(found["timing"]) - {"last_digits"} == {"read", "assemble", "solve", "write", "python", "total"}
    assert sum(found["timing"][stage] for stage in ("read", "assemble", "solve", "write")) <= found["timing"]["total"]
    totals, rows = found["totals"], make_rows(chain(), 1, 0, 10)
    assert totals["increments"] == 10 and totals["iterations"] == int(rows.iterations.sum())
    assert totals["energies"]["kinetic"] == float(rows.kinetic[-1]) and totals["events"] == {"impact": 1}
    assert totals["largest_energy_error"] == float(np.abs(rows.energy_error).max())
    assert found["settings"]["steps"][0]["procedure"]["kind"] == "DYNAMIC"
    assert found["settings"]["steps"][0]["procedure"]["dt"] == 0.1
    output = capsys.readouterr()
    assert "note: read" in output.out and "completed" in output.out and output.err == ""
    assert solver.record_all == [False]


def test_quiet_says_nothing(solver: FakeSolver, capsys: pytest.CaptureFixture[str]) -> None:
    runner.run_to_files("chain.inp", quiet=True, vtk=False)
    assert capsys.readouterr() == ("", "")
    assert not list(Path().rglob("*.pvd"))


def test_same_deck_same_bytes(solver: FakeSolver) -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/chain.inp").write_text("one")
    runner.run_to_files("chain.inp", "a", quiet=True)
    runner.run_to_files(Path("elsewhere/chain.inp").resolve(), "b", quiet=True)
    assert contents("a") == contents("b") and len(contents("a")) > 6
    first, second = record("a"), record("b")
    assert (first.pop("deck_folder"), second.pop("deck_folder")) == ("..", "../elsewhere")
    first.pop("timing"), second.pop("timing")
    assert first == second
    assert str(Path.cwd()) not in json.dumps(first)


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (NoConvergence("increment 8: 50 iterations"), "no convergence"),
        (EnergyDrift("drifts"), "energy drift"),
        (KeyboardInterrupt(), "interrupted"),
        (ModelError("a mechanism\nsecond line"), "error: a mechanism"),
        (ZeroDivisionError("oops"), "error: ZeroDivisionError: oops"),
    ],
)
def test_a_failed_run_keeps_what_was_computed(
    solver: FakeSolver, error: BaseException, verdict: str, closes: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    solver.error, solver.closes = error, closes
    with pytest.raises(type(error)):
        runner.run_to_files("chain.inp")
    assert record()["verdict"] == verdict and record()["totals"]["increments"] == 7
    assert lines("increments.csv")[-1].startswith("1,7,") and lines("nodes.csv")[-1].startswith("1,7,")
    assert "chain_00001.vtu" in "".join(lines("chain.pvd"))
    kind, colon, why = verdict.partition(":")
    assert kind.upper() + colon + why in capsys.readouterr().out


@pytest.mark.parametrize("error", [ModelError("a mechanism"), ZeroDivisionError("oops"), KeyboardInterrupt()])
def test_nothing_is_written_before_the_first_step(solver: FakeSolver, error: BaseException) -> None:
    solver.error, solver.until = error, -1
    with pytest.raises(type(error)):
        runner.run_to_files("chain.inp", "new/folder")
    assert not Path("new").exists()


def test_results_of_another_deck_are_not_overwritten(solver: FakeSolver) -> None:
    runner.run_to_files("chain.inp", quiet=True)
    runner.run_to_files("chain.inp", quiet=True)
    runner.run_to_files("chain.inp", parameters={"N": 2.0}, quiet=True)
    Path("chain.inp").write_text("two")
    runner.run_to_files("chain.inp", quiet=True)  # the same file, edited
    before = contents("results/chain")
    Path("elsewhere").mkdir()
    Path("elsewhere/chain.inp").write_text("three")
    for output in (None, "results/chain"):
        with pytest.raises(CommandError, match=r"results of another deck.*--output DIR.*--force"):
            runner.run_to_files("elsewhere/chain.inp", output, quiet=True)
    assert contents("results/chain") == before
    Path("results/chain/run.json").write_text("{")
    with pytest.raises(CommandError):
        runner.run_to_files("chain.inp", quiet=True)
    runner.run_to_files("elsewhere/chain.inp", "results/chain", quiet=True, force=True)
    assert record()["deck_folder"] == "../../elsewhere"


@pytest.mark.long
def test_an_earlier_run_leaves_nothing_stale(solver: FakeSolver) -> None:
    runner.run_to_files("chain.inp", "out", quiet=True, plot=True)
    Path("out/mine.txt").touch()
    runner.run_to_files("chain.inp", "out", quiet=True, vtk=False)
    left = {path.name for path in Path("out").rglob("*") if path.is_file()}
    assert "mine.txt" in left and not any(name.endswith((".png", ".pvd", ".vtu")) for name in left)


@pytest.mark.parametrize("output", ["file", "file/below"])
def test_output_that_cannot_be_a_folder(solver: FakeSolver, output: str) -> None:
    Path("file").write_text("mine")
    with pytest.raises(CommandError, match="not a folder"):
        runner.run_to_files("chain.inp", output)
    assert Path("file").read_text() == "mine"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind here")
def test_output_without_permission(solver: FakeSolver) -> None:
    Path("locked").mkdir(mode=0o500)
    with pytest.raises(CommandError, match="permission"):
        runner.run_to_files("chain.inp", "locked/new")


def test_missing_deck(solver: FakeSolver) -> None:
    with pytest.raises(CommandError, match=r"did you mean chain\.inp\?"):
        runner.run_to_files("chain")
    with pytest.raises(CommandError, match="is a folder"):
        runner.run(".")


def test_a_full_disk_is_one_line(solver: FakeSolver, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "results/chain/nodes.csv")

    monkeypatch.setattr("fem.commands.files.GrowingFile.add", full)
    with pytest.raises(MachineError, match=r"cannot write results/chain/nodes\.csv: No space left") as caught:
        runner.run_to_files("chain.inp", quiet=True)
    assert caught.value.exit_code == 4
    assert record()["verdict"].startswith("error: cannot write")


def test_ctrl_c_waits_for_whole_lines(solver: FakeSolver, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(model: Model, sink: Sink, **_: object) -> None:
        sink.begin(StepStart(1, None, "DYNAMIC", 0.0, 1.0, 10))
        sink.rows(make_rows(model, 1, 0, 5))
        wait_for(lambda: False)  # Ctrl-C does not let it

    write = GrowingFile.add

    def write_slowly(file: GrowingFile, text: memoryview) -> None:
        if b"\n1,5" in bytes(text):
            os.kill(os.getpid(), signal.SIGINT)
        write(file, text)

    monkeypatch.setattr(GrowingFile, "add", write_slowly)
    monkeypatch.setattr(runner, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run_to_files("chain.inp", quiet=True)
    assert len(lines("increments.csv")) == len(lines("nodes.csv")) == 7
    assert record()["verdict"] == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_run_returns_the_motion(solver: FakeSolver) -> None:
    history = runner.run("chain.inp", output_every=5)
    assert history.increment.tolist() == [0, 5, 10] and history.notices == ("read",)
    assert not Path("results").exists() and solver.record_all == [True]
    model = read_made_up(Path("chain.inp"), {})
    assert len(runner.run(replace(model), output="out")) == 11
    assert len(lines("nodes.csv", "out")) == 12 and record("out")["verdict"] == "completed"
    with pytest.raises(CommandError, match="parameters"):
        runner.run(model, parameters={"N": 1.0})


@pytest.mark.parametrize("kind", [NoConvergence, EnergyDrift])
def test_a_failure_carries_its_history(solver: FakeSolver, kind: type[NoConvergence]) -> None:
    solver.error = kind("stuck")
    with pytest.raises(kind) as caught:
        runner.run("chain.inp", output_every=3)
    assert caught.value.history.increment.tolist() == [0, 3, 6, 7]
    assert isinstance(caught.value, FemError) and caught.value.exit_code == 3


def test_run_json_holds_only_json() -> None:
    assert plain({"a": frozenset(("y", "x")), "b": float("inf"), 3: np.float64(0.5), "c": (np.arange(2),)}) == {
        "a": ["x", "y"],
        "b": "inf",
        "3": 0.5,
        "c": [[0, 1]],
    }
