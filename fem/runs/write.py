"""The files of one run: its folder, claimed and locked, its tables and fields, and ``run.json``, which identifies
deck and files.

A continued run takes over the folder of the one before: files are cut back to its checkpoint, and grow from there.
The console is written to at once, files through a thread of their own, while the solver continues.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from queue import Queue
from types import FrameType
from typing import Any

from fem.arrays import Floats
from fem.commands.files import process
from fem.commands.signals import handled_by, stop
from fem.compiled.interpreted import work
from fem.errors import CommandError, EnergyDrift, NoConvergence, OutOfIncrements, from_system
from fem.model import Model
from fem.runs import own, run_record
from fem.runs.checkpoint import ANEW, BEFORE, NAME, changes, deck_of, digests_of, read_last, write_checkpoint
from fem.runs.fields import VtkSink, field_name, field_patterns
from fem.runs.own import PICTURES, PLOTTED, POSTED, Names, claim, deck_name, listed_names, read_record
from fem.runs.record import Requests, SilentSink, Sink
from fem.runs.run_record import COMPLETED, RUN_RECORD, RUNNING, Timing, TotalsSink
from fem.runs.tables import TableSink, tables_of

FINAL = (COMPLETED, *(error.verdict for error in (NoConvergence, EnergyDrift, OutOfIncrements)))
"""Verdicts after which a run cannot usefully continue: a checkpoint is then kept only if the deck requests one."""


class RunFiles:
    """All files of one run. They are created when the first step begins, not if the deck cannot be solved."""

    def __init__(
        self,
        output: str | Path | None,
        model: Model,
        requests: Requests,
        plot: bool,
        force: bool,
        kinds: Mapping[str, type] | None = None,
        kept: Mapping[str, list[Floats]] | None = None,
    ) -> None:
        """kinds: types of objects in the checkpoint in the folder, if the run is to continue from it.
        kept: as in ``TableSink``. CommandError: the folder has files of the user, the checkpoint is of another run."""
        self._name = deck_name(model)
        self.progress = TotalsSink(model, lambda: self._record({}) if self.is_open else None)
        self.verdict = RUNNING
        self.is_open = False
        self._model, self._requests, self._kept = model, requests, kept
        names = planned_names(model, requests.fields, plot)
        self._own = claim(model, output, RUN_RECORD, names, force=force, owned=owned_names)
        self.folder = self._own.path
        self._fields: VtkSink | None = None
        self.is_complete = False
        self.before: dict[str, Any] | None = None
        if kinds is not None:
            self.is_complete = self._is_complete()
            self.before = None if self.is_complete else self._checkpoint(kinds)

    def open(self) -> list[Sink]:
        """Removes files of an earlier run, writes the first ``run.json``, and returns the sinks that write the rest."""
        self._own.open()
        stale = self._own.stale() if self.before is None else self._beyond(self.before)
        self._record({}, stale)
        self.is_open = True
        self._own.clear(stale)
        sinks: list[TableSink | VtkSink] = [TableSink(self.folder, self._model, self.before, self._kept)]
        if self._requests.fields:
            self._fields = VtkSink(self.folder, self._name, self._model, self._own.room, self.before)
            sinks.append(self._fields)
        return [Writer([*sinks, CheckpointSink(self.folder / NAME, self._model, self._asked, sinks)])]

    def finish(self, verdict: str, timing: Timing) -> None:
        """Write the last ``run.json``."""
        self.verdict = run_record.ending(verdict, self.progress.totals.events)
        if verdict in FINAL and self._model.restart_every is None:
            with contextlib.suppress(OSError):
                (self.folder / NAME).unlink(missing_ok=True)
        if verdict in FINAL:
            with contextlib.suppress(OSError):
                (self.folder / BEFORE).unlink(missing_ok=True)
        try:
            self._record(timing.block())
        except OSError as error:
            if verdict == COMPLETED:
                raise from_system(error, "cannot write") from error

    def close(self) -> None:
        """Unlock the folder."""
        self._own.close()

    def names(self) -> list[str]:
        """Names of the files written; single fields in ``vtu/`` follow their ``.pvd``."""
        wanted = [*made_of(self._model, self._requests.fields), *PLOTTED, RUN_RECORD, NAME]
        return [file for file in wanted if (self.folder / file).is_file()]

    @property
    def _asked(self) -> dict[str, Any]:
        """Options of the command that change files."""
        requests = self._requests
        asked = {"--solver": requests.solver.lower(), "--no-vtk": not requests.fields}
        asked |= {"fem.stepper": True} if requests.is_driven else {}
        return asked | ({"--from": requests.earlier.named} if requests.earlier else {})

    def _is_complete(self) -> bool:
        """Whether the folder contains all results of this deck."""
        record = read_record(self.folder / RUN_RECORD) or {}
        same = record.get("deck") == own.plain(own.deck_entry(self._model))
        return same and run_record.is_complete(str(record.get("verdict")))

    def _checkpoint(self, kinds: Mapping[str, type]) -> dict[str, Any] | None:
        """Checkpoint to continue from; None if there is none. CommandError: it is of another run, or damaged."""
        found = read_last(self.folder, run_record.versions(), kinds)
        if found is None:
            return None
        path, before = found
        if changed := changes(before["deck"], deck_of(self._model)):
            raise CommandError(f"{path} belongs to another deck: {', '.join(changed)} changed since; {ANEW}")
        for option in before["asked"] | self._asked:
            if before["asked"].get(option) != self._asked.get(option):
                raise CommandError(f"{path} belongs to a run with {option} {before['asked'].get(option)}: {ANEW}")
        return before

    def _beyond(self, before: Mapping[str, Any]) -> set[str]:
        """Fields written after the checkpoint. CommandError: some fields that it counts are missing."""
        there = Names(frozenset(), field_patterns(self._name)[:1]).among(self.folder)
        count = len(before["fields"]["entries"]) if self._requests.fields else 0
        counted = {field_name(self._name, number) for number in range(count)}
        if missing := sorted(counted - there):
            raise CommandError(f"{self.folder / missing[0]} is missing: {ANEW}")
        return there - counted

    def _record(self, timing: Mapping[str, Any], stale: Iterable[str] = ()) -> None:
        """Writes the record. During the run it lists all possible names, and files of an earlier run until removed."""
        solver, earlier = self._requests.solver, self._requests.earlier
        record = run_record.record_of(self.folder, self._model, solver, self.progress, self.verdict, timing)
        if earlier:
            record["earlier"] = {**earlier.named, "folder": own.seen_from(earlier.folder, self.folder)}
        if self.verdict == RUNNING:
            record |= {"files": sorted({*self._own.names.listed, *stale}), "fields": None, "process": process()}
        else:
            fields = {field_name(self._name, number) for number in range(len(self._fields or ()))}
            record |= {"files": [name for name in self._own.written() if name not in fields], "fields": len(fields)}
        self._own.note(record)


SYNCED = 1.0
"""Smallest interval [s] between two checkpoints that are flushed to the disk."""


class CheckpointSink(SilentSink):
    """Writes checkpoints that others have filled, and flushes them to the disk, together with their tables and fields,
    at most every ``SYNCED`` seconds. The last flushed one is kept beside the newest, so that one of them survives a
    power cut."""

    def __init__(self, path: Path, model: Model, asked: Mapping[str, Any], counted: Sequence[TableSink | VtkSink]):
        self._path, self._model, self._asked, self._counted = path, model, asked, counted
        self._own: dict[str, Any] = {}
        self._next, self._is_synced = 0.0, True

    def keep(self, checkpoint: dict[str, Any]) -> None:
        if not self._own:
            self._own = {"deck": deck_of(self._model), "asked": self._asked, "model": digests_of(self._model)}
        is_due = time.monotonic() >= self._next
        for sink in self._counted if is_due else ():
            sink.sync()
        before = self._path.with_name(BEFORE) if self._is_synced else None
        write_checkpoint(self._path, {**checkpoint, **self._own}, run_record.versions(), is_due, before)
        self._is_synced = is_due
        if is_due:
            self._next = time.monotonic() + SYNCED


def made_of(model: Model, vtk: bool) -> list[str]:
    """Names of the tables and of the lists of fields that a run may write."""
    modes = [f"_modes_step{step}" for step, at in enumerate(model.steps, 1) if at.modes or at.buckling]
    lists = [f"{deck_name(model)}{of}.pvd" for of in ("", *modes)]
    return [*(f"{name}.csv" for name in tables_of(model)), *(lists if vtk else [])]


def planned_names(model: Model, vtk: bool, plot: bool) -> Names:
    """Names of all files that a run may write."""
    listed = (*made_of(model, vtk), *(PLOTTED if plot else ()), RUN_RECORD, NAME, BEFORE)
    return Names(frozenset(listed), field_patterns(deck_name(model)) if vtk else ())


def owned_names(record: Mapping[str, Any]) -> Names:
    """Files that a run wrote by its record, and files made from them; the number of fields is known only at its end."""
    deck, fields = record.get("deck"), record.get("fields", 0)
    name = own.stem_of(str(deck.get("file"))) if isinstance(deck, dict) else ""
    if fields is None:
        return Names(listed_names(record), (*field_patterns(name), POSTED), PICTURES)
    numbered = {field_name(name, number) for number in range(fields)} if isinstance(fields, int) else set()
    return Names(listed_names(record) | numbered, (POSTED,), PICTURES)


WAITING = 4
"""Messages (rows of a chunk, fields) that may wait for the writer, which bounds the memory; then the solver waits."""


class Relay(SilentSink):
    """A sink that forwards each call as the name of the method and its arguments."""

    def _pass(self, method: str, *what: Any) -> None:
        raise NotImplementedError


for _method in ("begin", "rows", "frame", "event", "modes", "factors", "response", "notice", "keep", "resume"):
    setattr(Relay, _method, lambda self, *what, method=_method: self._pass(method, *what))


class Writer(Relay):
    """Passes the output of a run to sinks in a separate thread.
    Signals reach the main thread only, so a file is never left half written. After an error the thread writes no
    more; the error is raised at the next call, at the latest by ``close``."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks
        self._error: BaseException | None = None
        self._queue: Queue[tuple[Any, ...] | None] = Queue(WAITING)
        self._thread = threading.Thread(target=self._write, name="fem writer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Wait until everything is written, and close the sinks."""
        self._queue.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _pass(self, method: str, *what: Any) -> None:
        if self._error is not None:
            raise self._error
        self._queue.put((method, *what))

    def _write(self) -> None:
        while (message := self._queue.get()) is not None:
            if self._error is None:
                for sink in self._sinks:
                    self._try(getattr(sink, message[0]), *message[1:])
            del message
        for sink in self._sinks:
            self._try(sink.close)

    def _try(self, act: Callable[..., None], *what: Any) -> None:
        try:
            act(*what)
        except BaseException as error:  # a thread that ended here would leave the solver waiting
            self._error = self._error or error


class InterruptGuard:
    """Delays signals such as Ctrl-C while files are written, so that lines stay complete; the solver stops at once.
    The first signal ends the run; further ones are ignored. While ``is_patient`` the first one waits until the state
    of the run is stored, a second one does not."""

    def __init__(self) -> None:
        self.is_busy = self.is_patient = False
        self._pending = 0

    def watching(self) -> AbstractContextManager[None]:
        """Context in which it handles signals."""
        work.signal = 0
        return handled_by(self._interrupt, (signal.default_int_handler, stop))

    def release(self) -> None:
        """Ends a period of writing: a delayed signal takes effect."""
        self.is_busy = False
        if self.is_asked and not self.is_patient:
            self._stop(self._pending)

    @property
    def is_asked(self) -> bool:
        return self._pending != 0

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.is_busy or (self.is_patient and not self._pending):
            self._pending = work.signal = self._pending or number
        else:
            self._stop(number)

    def _stop(self, number: int) -> None:
        self.is_busy = True
        stop(number, None)


class FanOut(Relay):
    """Passes a run on to several sinks; those that write files are created when the first step begins."""

    def __init__(
        self, sinks: Sequence[Sink], open_files: Callable[[], list[Sink]], timing: Timing, guard: InterruptGuard
    ) -> None:
        self._sinks = list(sinks)
        self.hears_notices, self.hears_frames = any(sink.hears_notices for sink in self._sinks), True
        self._open_files: Callable[[], list[Sink]] | None = open_files
        self._timing, self._guard = timing, guard
        self._stage = "assemble"

    def close(self) -> None:
        self._pass("close")
        self._sinks = []

    def abandon(self) -> None:
        """Closes all sinks after a failure; further errors do not hide the first one."""
        sinks, self._sinks = self._sinks, []
        self._guard.is_busy = True
        for sink in sinks:
            with contextlib.suppress(Exception):
                sink.close()

    def _pass(self, method: str, *what: Any) -> None:
        self._timing.mark(self._stage)
        self._guard.is_busy = True
        try:
            if method in ("begin", "resume") and self._open_files is not None:
                self._sinks += self._open_files()
                self._open_files, self._stage = None, "solve"
                self.hears_frames = any(sink.hears_frames for sink in self._sinks)
            for sink in self._sinks:
                getattr(sink, method)(*what)
        except OSError as error:
            raise from_system(error, "cannot write") from error
        finally:
            self._timing.mark("write")
        self._guard.release()
