"""Runs, and readers of their files, in separate processes; progress of a run, from the files that it writes.

The page never waits for a run, which does not end with it; reading tables of millions of lines in the process of the
page would make all its visitors wait.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import fem
from fem.app.scene import FolderContent, read
from fem.commands.files import open_regular
from fem.commands.signals import watched
from fem.runs.frames import energy_error_text
from fem.runs.own import number_in, read_record
from fem.runs.run_record import RUN_RECORD, RUNNING

CONSOLE = "console.txt"
MOST_SAID = 4_000
"""Largest number of characters of a process's last output that are shown."""
PATIENCE = 10.0
"""Seconds that a process has to close its files when the program ends."""
STOPPED = {130, 143, 129}


class Workplace:
    """Where decks are written and runs write: a temporary folder, removed when the program ends; and all processes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fem-app-"))
        self.runs: list[Solver] = []
        self.readers = Readers()
        self._numbers = count(1)

    def new_folder(self, name: str) -> Path:
        folder = self.folder / f"{next(self._numbers)}-{name}"
        folder.mkdir()
        return folder

    def solve(self, deck: Path, folder: Path) -> Solver:
        return self.command(["run", str(deck), "--output", str(folder), "--quiet"], deck.parent, folder, deck)

    def command(
        self, arguments: Sequence[str], place: Path, folder: Path | None = None, deck: Path | None = None
    ) -> Solver:
        self.runs.append(Solver(arguments, place, folder, deck))
        return self.runs[-1]

    def of_folder(self, folder: Path) -> Solver | None:
        """The process that writes into a folder, if it is one of these and still runs."""
        same = [run for run in self.runs if run.folder and run.folder.resolve() == folder.resolve()]
        return same[-1] if same and same[-1].is_running else None

    def close(self) -> None:
        self.readers.close()
        for run in self.runs:
            run.stop()
        for run in self.runs:
            run.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class Solver:
    """A process of the program: ``fem run`` of a deck into a folder, or another command. It ends with this one."""

    def __init__(self, arguments: Sequence[str], place: Path, folder: Path | None, deck: Path | None) -> None:
        self.folder, self.deck = folder, deck
        self._console = place / f"{arguments[0]}-{CONSOLE}"
        self.is_asked_to_stop = False
        package = str(Path(fem.__file__).resolve().parents[1])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        with self._console.open("wb") as console:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fem", *arguments], cwd=place, stdin=subprocess.PIPE, stdout=console,
                stderr=subprocess.STDOUT, env=watched({**os.environ, "PYTHONPATH": os.pathsep.join(paths)}),
                start_new_session=True,  # Ctrl-C at the program's terminal is answered by ``Workplace.close``
            )  # fmt: skip
        threading.Thread(target=self._reap, name="reap", daemon=True).start()

    def _reap(self) -> None:
        """Collects a process that has ended, whether or not a page still shows it."""
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    @property
    def number(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """Asks the process to end; complete lines and fields are written."""
        if self.is_running:
            self.is_asked_to_stop = True
            self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Waits until it has ended; after that time it is killed."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def said(self) -> str:
        """The last output of the process."""
        try:
            return self._console.read_text(encoding="utf-8", errors="replace")[-MOST_SAID:].strip()
        except OSError:
            return ""

    def progress(self) -> ShownProgress | None:
        """Of ``fem run``. What it wrote last is read after its end."""
        was_running = self.is_running
        found = progress_of(self.folder) if self.folder else None
        return self.progress() if was_running and not self.is_running else found

    @property
    def failure(self) -> str:
        """Error message; empty while it runs, and without error."""
        code = self._process.poll()
        if not code or self.is_asked_to_stop or code in STOPPED:
            return ""
        if code > 0:
            return self.said or f"the solver ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        text = f"the solver was killed ({name}); the results written until then are shown"
        return "\n".join(filter(None, (text, self.said)))


def verdict_of(progress: ShownProgress | None, run: Solver | None) -> str:
    """State of a run, in a word or two."""
    if run is not None and run.is_running:
        return "stopping" if run.is_asked_to_stop else "running"
    if progress is None:
        return "ended without results" if run is not None else "no results"
    if progress.verdict == RUNNING:
        return "killed" if run is not None else "running, or killed"
    return progress.verdict


SPAWN = multiprocessing.get_context("spawn")
MOST = max(2, os.cpu_count() or 2)
"""Largest number of readers that work at once; the others wait."""


def answer(asked: Connection) -> None:
    """Main loop of a reader, until the program that asks it has ended, or was killed."""
    try:
        while True:
            asked.send(read(*asked.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        pass


class ReadingProcess:
    """A process that reads on request, one thing at a time."""

    def __init__(self) -> None:
        self._asked, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=answer, args=(there,), name="reader", daemon=True)
        self._process.start()
        there.close()

    def ask(self, given: tuple[Any, ...]) -> FolderContent | None:
        """Waits. EOFError, OSError: it has ended, or was ended."""
        self._asked.send(given)
        found: FolderContent | None = self._asked.recv()
        return found

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()


class Readers:
    """The readers of a program. If a waiting request is cancelled, its reader is ended, too."""

    def __init__(self) -> None:
        self._idle: list[ReadingProcess] = []
        self._all: list[ReadingProcess] = []
        self._turn = asyncio.Semaphore(MOST)

    async def read(self, folders: Sequence[Path], names: Sequence[str], has_scenes: bool) -> FolderContent | None:
        """As ``read``; None also where the reader was lost."""
        async with self._turn:
            if not self._idle:
                self._idle.append(ReadingProcess())
                self._all.append(self._idle[-1])
            reader = self._idle.pop()
            try:
                found = await asyncio.to_thread(reader.ask, (folders, names, has_scenes))
            except (EOFError, OSError):
                self._end(reader)
                return None
            except asyncio.CancelledError:
                self._end(reader)
                raise
            self._idle.append(reader)
            return found

    def _end(self, reader: ReadingProcess) -> None:
        if reader in self._all:
            self._all.remove(reader)
            reader.end()

    def close(self) -> None:
        self._idle.clear()
        for reader in [*self._all]:
            self._end(reader)


COLUMNS: dict[str, type] = dict.fromkeys(("step", "increment", "iterations"), int)
COLUMNS |= dict.fromkeys(("time", "residual_norm", "energy_error"), float)
"""What is told of the last line of ``increments.csv``."""
TAIL = 4096
"""Number of bytes at the end of a table that contain its last line."""


@dataclass(frozen=True, slots=True)
class ShownProgress:
    """The last increment of a run, with the energy error there or, where it has ended, the largest one.

    exchanged  energy, so far;  heading  of the deck;  fraction  of the time of all steps, None where it is not known
    """

    step: int = 0
    steps: int = 0
    increment: int = 0
    time: float = 0.0
    iterations: int = 0
    residual_norm: float = 0.0
    energy_error: float = 0.0
    exchanged: float = 0.0
    heading: tuple[str, ...] = ()
    fraction: float | None = None
    verdict: str = ""

    def said(self) -> str:
        where = f"step {self.step} of {self.steps}, increment {self.increment}, time {self.time:.6g}"
        error = energy_error_text(self.energy_error, self.exchanged, self.heading)
        return f"{where}, {self.iterations} iterations, residual {self.residual_norm:.1e}, energy error {error}"


def progress_of(folder: Path) -> ShownProgress | None:
    """Of the run in a folder; None where nothing is written yet."""
    record = read_record(folder / RUN_RECORD)
    if not record:
        return None
    totals, verdict = record.get("totals") or {}, str(record.get("verdict", ""))
    row = last_row(folder / "increments.csv")
    try:
        settings = record.get("settings") or {}
        steps, heading = settings.get("steps") or [], tuple(map(str, settings.get("heading") or ()))
        periods = [step.get("procedure", {}).get("period") or 0.0 for step in steps]  # a frequency step takes none
    except (AttributeError, TypeError):  # a record of another program
        return None
    exchanged = number_in(totals.get("energy_exchanged", 0.0))
    found = ShownProgress(0, len(steps), verdict=verdict, exchanged=exchanged, heading=heading)
    whole = sum(map(number_in, periods))
    try:
        numbers: dict[str, Any] = {name: read(row[name]) for name, read in COLUMNS.items() if name in row}
    except ValueError:  # a table of another program
        return found
    if verdict != RUNNING and "largest_energy_error" in totals:
        numbers["energy_error"] = number_in(totals["largest_energy_error"])
    return replace(found, fraction=min(1.0, numbers.get("time", 0.0) / whole) if whole > 0.0 else None, **numbers)


def last_row(path: Path) -> dict[str, str]:
    """The last complete line of a table by its columns, with numbers as text; empty without one."""
    try:
        with open_regular(path) as file:
            head = file.readline(TAIL)
            start = file.tell()
            file.seek(max(start, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read().split(b"\n")[:-1]  # what follows the last end of a line is not whole
    except OSError:
        return {}
    columns = head.decode(errors="replace").strip().split(",")
    cells = lines[-1].decode(errors="replace").split(",") if lines else []
    is_whole = len(cells) == len(columns)
    return {name: cell for name, cell in zip(columns, cells, strict=True) if cell} if is_whole else {}
