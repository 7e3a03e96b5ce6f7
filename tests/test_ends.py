"""How runs end that do not come to their end: signals, full disks, no memory, nobody who reads."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.reliability import parts
from benchmarks.reliability.trial import Trial
from fem.cli import main
from fem.commands.files import PART, ROOM, GrowingFile, Room, replace_file
from fem.compiled import workers
from fem.compiled.choice import is_plain
from fem.compiled.workers import Compilation
from fem.errors import MachineError, Stopped
from fem.runs.fields import read_field, read_list
from fem.runs.write import InterruptGuard
from fem.solve.step_run import StepRun
from fem.study.table import SweepTable
from tests.files.test_own import DECK

ROOT = Path(__file__).resolve().parents[1]
LONG = DECK.replace("0.05", "5.").replace("*NODE PRINT", "*NODE FILE, FREQUENCY=7\nU\n*NODE PRINT")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("swing.inp").write_text(LONG)
    return tmp_path


def record(folder: str = "results/swing") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "run.json").read_text())
    return found


def fem(*words: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("variables", {})}
    return subprocess.run([sys.executable, "-m", "fem", *words], env=environment, capture_output=True, check=False)


# ------------------------------------------------------------------------------------------ signals
@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Signals do what they do in a terminal; those of tests that run in the background are ignored."""
    usual = {
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_the_solver_keeps_what_is_right(here: Path, monkeypatch: pytest.MonkeyPatch, sent: int) -> None:
    """The signal finds the motion ahead of what has been accepted: no field may show that."""
    iterate, calls = StepRun.iterate, iter(range(100))

    def interrupted(*arguments: Any) -> int:
        reason = iterate(*arguments)
        if next(calls) == 12:
            signal.raise_signal(sent)
        return reason

    monkeypatch.setattr(StepRun, "iterate", interrupted)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    assert main(["run", "swing.inp", "--quiet"]) == 128 + sent
    assert {number: signal.getsignal(number) for number in before} == before
    assert record()["verdict"] == "interrupted" and "process" not in record()
    table = np.genfromtxt("results/swing/nodes.csv", delimiter=",", names=True)
    fields = read_list(Path("results/swing/swing.pvd"))
    assert len(fields) > 5 and len({instant for instant, _ in fields}) == len(fields)
    for instant, file in fields:
        (row,) = table[(table["time"] == instant) & (table["node"] == 2)]
        assert read_field(file)["displacement"][1].tolist() == [row["U1"], row["U2"], row["U3"]]
    assert record()["totals"]["increments"] == table["increment"].max()
    assert not [path for path in here.rglob("*") if ".fem-" in path.name]


def test_a_signal_that_comes_out_as_another_exception(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """The import of a module within a compilation in C: what the handler raised became a SyntaxError there."""

    def importing(*_: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            raise SyntaxError("can't load unicodedata module") from None

    monkeypatch.setattr(StepRun, "iterate", importing)
    assert main(["run", "swing.inp", "--quiet"]) == 128 + signal.SIGTERM
    assert capsys.readouterr().err == "fem: interrupted; everything finished so far is written\n"
    monkeypatch.setattr(StepRun, "iterate", lambda *_: 1 / 0)  # of the next command in this process: its own fault
    assert main(["run", "swing.inp", "--quiet"]) == 1


def test_a_second_signal_changes_nothing() -> None:
    with pytest.raises(KeyboardInterrupt), InterruptGuard().watching():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            finished = True
    assert finished


def test_ctrl_c_does_not_wait_for_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that never answer stand for those that compile."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    monkeypatch.setattr(workers, "start_worker", lambda module: subprocess.Popen(sleeper, **pipes))
    compilation = Compilation()
    compilation.add([("fem.a:a", ()), ("fem.b:b", ())])
    compilation.close()
    begun = time.monotonic()
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        compilation.run(2)
    assert time.monotonic() - begun < 300.0  # of the 600 that they sleep
    assert len(compilation.workers) == 2
    for worker in compilation.workers:
        assert worker.wait() == -signal.SIGKILL
        worker.communicate()


def test_exit_codes_of_signals() -> None:
    assert [Stopped(number).exit_code for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == [130, 143, 129]


def test_a_run_that_goes_on_says_who_and_how_far(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fem.runs.run_record.NOTE_EVERY", 0.0)
    iterate, seen = StepRun.iterate, []

    def watched(*arguments: Any) -> int:
        seen.append(record())
        return iterate(*arguments)

    monkeypatch.setattr(StepRun, "iterate", watched)
    assert main(["run", "swing.inp", "--quiet"]) == 0
    assert {found["process"]["pid"] for found in seen} == {os.getpid()}
    reached = [found["totals"]["increments"] for found in seen]
    assert reached == sorted(reached) and reached[-1] > 100 and {found["verdict"] for found in seen} == {"running"}


# ------------------------------------------------------------------------------------------ the machine
def test_without_memory_the_machine_is_to_blame(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    iterate, calls = StepRun.iterate, iter(range(100))

    def starved(*arguments: Any) -> int:
        if next(calls) == 5:
            raise MemoryError("Unable to allocate 3 GiB")
        return iterate(*arguments)

    monkeypatch.setattr(StepRun, "iterate", starved)
    assert main(["run", "swing.inp"]) == 4
    errors = capsys.readouterr().err
    assert errors == "fem: error: not enough memory for this (Unable to allocate 3 GiB)\n"
    assert record()["verdict"] == "error: not enough memory"


class Full:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, content: memoryview) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = min(self.room, len(content), 7)
        self.room -= count
        return int(self.file.write(content[:count]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", range(0, 40, 3))
def test_a_table_on_a_full_disk_ends_in_a_whole_piece(tmp_path: Path, room: int) -> None:
    path = tmp_path / "table"
    table = GrowingFile(path)
    table._file = Full(table._file, room)  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space left") as caught:
        for number in range(10):
            table.add(b"line %d\n" % number)
    table._file.room = 1000  # type: ignore[attr-defined]
    table.add(b"nothing comes after the gap")
    table.close()
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"".join(b"line %d\n" % number for number in range(room // 7))


def test_room_is_kept_grows_and_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "keeper").open("w+b") as keeper:
        keeper.write(b"who\n")
        keeper.flush()
        room = Room(keeper.fileno())
        assert os.fstat(keeper.fileno()).st_blocks * 512 >= ROOM
        room.keep(100_000)
        assert os.fstat(keeper.fileno()).st_blocks * 512 >= 300_000
        is_full = iter([True, False])

        def once_full(path: Path, content: bytes) -> None:
            if next(is_full):
                raise OSError(errno.ENOSPC, "No space left on device")
            replace_file(path, content)

        monkeypatch.setattr("fem.commands.files.replace_file", once_full)
        room.replace(tmp_path / "run.json", b"how it ended")
        assert (tmp_path / "run.json").read_bytes() == b"how it ended"
        assert os.fstat(keeper.fileno()).st_size == 4


def test_a_file_that_cannot_be_whole_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "name").mkdir()
    with pytest.raises(OSError) as caught:
        replace_file(tmp_path / "name", b"x")
    assert caught.value.filename == str(tmp_path / "name")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(PART)]


def test_a_full_disk_is_named_and_exit_4(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def full(self: GrowingFile, content: bytes) -> None:
        if b"\n1,2" in bytes(content):
            raise OSError(errno.ENOSPC, "No space left on device", str(self._path))
        self._file.write(content)

    monkeypatch.setattr(GrowingFile, "add", full)
    assert main(["run", "swing.inp", "--quiet"]) == MachineError.exit_code == 4
    assert capsys.readouterr().err.startswith("fem: error: cannot write results/swing/")
    assert record()["verdict"].startswith("error: cannot write")


def test_a_sweep_on_a_full_disk_says_so(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/sweep.csv")

    monkeypatch.setattr(SweepTable, "add", full)
    assert main(["sweep", "swing.inp", "--vary", "g=1,2", "--output", "out", "--quiet"]) == 4
    assert "out/sweep.csv: No space left on device" in capsys.readouterr().err
    verdict = json.loads(Path("out/sweep.json").read_text())["verdict"]
    assert verdict == "error: cannot write out/sweep.csv: No space left on device"


def test_a_record_of_any_size_can_be_written_again(tmp_path: Path) -> None:
    """Beside the one that is there, on a disk that has filled up since."""
    with (tmp_path / "keeper").open("w+b") as keeper:
        room = Room(keeper.fileno())
        for size in (10, ROOM, 5 * ROOM):
            room.replace(tmp_path / "sweep.json", bytes(size))
            assert os.fstat(keeper.fileno()).st_size >= ROOM + size


def test_a_sweep_without_room_to_sort_its_table_says_so(here: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Its rows stay as they came, and are taken up by the next start."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/sweep.csv")

    def add_before(table: SweepTable, rows: Any) -> None:
        add(table, rows)
        table._parts.reverse()

    command = ["sweep", "swing.inp", "--vary", "g=1,2", "--output", "out", "--quiet"]
    with monkeypatch.context() as patched:
        add = SweepTable.add
        patched.setattr("fem.study.table.move_pieces", full)
        patched.setattr(SweepTable, "add", add_before)
        assert main(command) == 4
    assert json.loads(Path("out/sweep.json").read_text())["verdict"].startswith("error: cannot write out/sweep.csv")
    assert Path("out/sweep.csv").read_bytes().count(b"\n") == 3
    assert main(command) == 0
    assert json.loads(Path("out/sweep.json").read_text())["verdict"] == "completed"


def test_what_killed_processes_were_writing_goes(here: Path) -> None:
    """At the next start in the folder; what a living one writes stays."""
    command = ["sweep", "swing.inp", "--vary", "g=1,2", "--output", "out", "--quiet"]
    assert main(command) == 0
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    left = [Path("out", f"sweep.json.{number}{PART}") for number in (ended.pid, os.getppid())]
    for part in left:
        part.touch()
    assert main(command) == 0
    assert [part.exists() for part in left] == [False, True]


# ------------------------------------------------------------------------------------------ nobody reads
@pytest.mark.long_cases(">&-")
@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
@pytest.mark.sampled(1)
def test_closed_streams(here: Path, closed: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    shell = f"'{sys.executable}' -m fem run swing.inp {closed}"
    done = subprocess.run(["sh", "-c", shell], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert record()["verdict"] == "completed"
    assert main(["run", "swing.inp", "--output", "again", "--quiet"]) == 0
    for path in Path("again").glob("*.csv"):
        assert path.read_bytes() == Path("results/swing", path.name).read_bytes()


@pytest.mark.long_cases("caf\\xe9")
@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
@pytest.mark.parametrize("name", [b"caf\xe9", "naïve–dèck".encode()])
@pytest.mark.sampled(1)
def test_deck_names_in_any_bytes(here: Path, name: bytes) -> None:
    os.rename("swing.inp", name + b".inp")  # noqa: PTH104 - bytes
    assert main(["run", os.fsdecode(name + b".inp"), "--quiet"]) == 0
    done = fem("run", name + b".inp", variables={"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert done.returncode == 0, done.stderr
    (folder,) = Path("results").iterdir()
    folder.name.encode()
    assert len(read_list(next(folder.glob("*.pvd")))) > 5
    assert main(["plot", str(folder), "--what", "iterations"]) == 0


# ------------------------------------------------------------------------------------------ all of it, from outside
@pytest.mark.skipif(sys.platform != "linux", reason="signals and file systems of Linux")
@pytest.mark.long
@pytest.mark.parametrize("part", parts.PARTS)
def test_reliability_in_short(part: str, capsys) -> None:
    if part == "cache" and is_plain():
        pytest.skip("plain numba compiles, and keeps its code its own way")
    assert parts.main([part, "--short"]) == 0, capsys.readouterr().out


def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    trials = [Trial("SIGTERM", "interrupted"), Trial("SIGTERM", "killed", ["nodes.csv ends in half a line"])]
    monkeypatch.setitem(parts.PARTS, "kill", lambda work, is_short: iter(trials))
    assert parts.main(["kill"]) == 1
    shown = capsys.readouterr()
    assert "nodes.csv ends in half a line" in shown.out
    assert [line.split(",")[0] for line in shown.err.splitlines()] == ["kill 1", "kill 2"]  # as each is over
    monkeypatch.setitem(parts.PARTS, "kill", lambda work, is_short: iter(trials[:1] * 3))
    assert parts.main(["kill"]) == 0 and parts.main(["kill", "--limit", "-1"]) == 1
