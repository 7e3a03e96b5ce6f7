"""The files of one run: its folder, claimed and locked, its tables and fields, and ``run.json``, which says whose.

A run that goes on takes up the folder of the one before: files are cut back to its checkpoint, and grow from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fem.errors import CommandError, EnergyDrift, NoConvergence, OutOfIncrements, from_system
from fem.files.checkpoint import ANEW, NAME, digest_of, read_checkpoint, write_checkpoint
from fem.files.lock import process
from fem.files.own import Names, OwnFolder, listed_names, read_record
from fem.model import Frequency, Model
from fem.model.parts import changed_parts, parts_of
from fem.outlet import Writer
from fem.pictures import PICTURES, PLOTTED
from fem.post import POSTED
from fem.results import run_record
from fem.results.harmonic import RESPONSES, ResponseSink, has_responses
from fem.results.record import Rows, SilentSink, Sink
from fem.results.run_record import COMPLETED, RUN_RECORD, RUNNING, Timing, TotalsSink, deck_name
from fem.results.tables import TableSink
from fem.results.vtk import VtkSink, field_name, field_patterns
from fem.solve.checkpoint import TYPES, Checkpoints, Guard, handed_on
from fem.solve.increment import EarlierRun, Wishes

TOLD_EVERY = 2.0
"""Seconds between two records of a run that goes on."""
TABLES: tuple[str, ...] = ("increments.csv", "nodes.csv", "elements.csv", "events.csv", "touchdown.csv", "waves.csv")
TABLES += ("frequencies.csv", *(f"{name}.csv" for name in RESPONSES))
FINAL = (COMPLETED, *(error.verdict for error in (NoConvergence, EnergyDrift, OutOfIncrements)))
"""Ends after which going on would change nothing: a checkpoint stays where the deck asks for one only."""


class RunFiles:
    """All files of one run. They appear when the first step begins: a deck that cannot be solved leaves none."""

    def __init__(
        self, output: str | Path | None, model: Model, wishes: Wishes, plot: bool, force: bool, goes_on: bool = False
    ) -> None:
        """``goes_on``: from the checkpoint in the folder, if there is one.

        CommandError: the folder holds what is not ours, or the checkpoint is not of this run.
        """
        self.folder = run_record.RESULTS / deck_name(model) if output is None else Path(output)
        self.progress = ProgressSink(model, self._tell)
        self.verdict = RUNNING
        self.is_open = False
        self._model, self._wishes = model, wishes
        names = planned_names(model, wishes.fields, plot)
        self._own = OwnFolder(self.folder, RUN_RECORD, run_record.origin_of(model), names, owned_names, force)
        self._own.check()
        self._fields: VtkSink | None = None
        self.is_complete = False
        self.before: dict[str, Any] | None = None
        if goes_on:
            self.is_complete = self._is_complete()
            self.before = None if self.is_complete else self._checkpoint()

    def open(self) -> list[Sink]:
        """Clear what an earlier run left, write the first ``run.json``, and give the sinks that write the rest."""
        self._own.open()
        stale = self._own.stale() if self.before is None else self._beyond(self.before)
        self._record({}, stale)
        self.is_open = True
        self._own.clear(stale)
        sinks: list[Sink] = [TableSink(self.folder, self._model, self.before)]
        if has_responses(self._model):
            sinks.append(ResponseSink(self.folder, self._model, self.before))
        if self._wishes.fields:
            self._fields = VtkSink(self.folder, deck_name(self._model), self._model, self._own.room, self.before)
            sinks.append(self._fields)
        return [Writer([*sinks, CheckpointSink(self.folder / NAME, self._model, self._asked)])]

    def checkpoints(self, guard: Guard) -> Checkpoints:
        """When the run keeps its state, and what it goes on from or begins with."""
        wish = self._model.restart_every
        return Checkpoints(wish or 0, wish is not None, self.before, self._wishes.state, guard)

    def finish(self, verdict: str, timing: Timing) -> None:
        """The last ``run.json``."""
        self.verdict = verdict
        if verdict in FINAL and self._model.restart_every is None:
            with contextlib.suppress(OSError):
                (self.folder / NAME).unlink(missing_ok=True)
        try:
            self._record(timing.block())
        except OSError as error:
            if verdict == COMPLETED:
                raise from_system(error, "cannot write") from error

    def close(self) -> None:
        """Leave the folder to others."""
        self._own.close()

    def names(self) -> list[str]:
        """What was written in the folder; the single fields in ``vtu/`` stand behind their ``.pvd``."""
        name = deck_name(self._model)
        lists = [f"{name}.pvd", *(f"{name}_modes_step{step + 1}.pvd" for step in range(len(self._model.steps)))]
        wanted = [*TABLES, *(lists if self._wishes.fields else []), *PLOTTED, RUN_RECORD, NAME]
        return [file for file in wanted if (self.folder / file).is_file()]

    @property
    def _asked(self) -> dict[str, Any]:
        """What the command asks for besides the deck and changes files."""
        wishes = self._wishes
        asked = {"--solver": wishes.solver.lower(), "--no-vtk": not wishes.fields}
        return asked | ({"--from": wishes.earlier.named} if wishes.earlier else {})

    def _is_complete(self) -> bool:
        """The folder holds all that this deck gives."""
        record = read_record(self.folder / RUN_RECORD) or {}
        deck = {"file": Path(self._model.source).name, "sha256": self._model.digest}
        found = record.get("deck")
        same = isinstance(found, dict) and found == {**deck, "parameters": run_record.plain(self._model.parameters)}
        return same and record.get("verdict") == COMPLETED

    def _checkpoint(self) -> dict[str, Any] | None:
        """What to go on from; None where nothing was kept. CommandError: it is not of this run, or damaged."""
        path = self.folder / NAME
        if not path.exists():
            return None
        before = read_checkpoint(path, run_record.versions(), TYPES)
        if changed := changes(before["deck"], deck_of(self._model)):
            raise CommandError(f"{path} is of another deck: {', '.join(changed)} changed since; {ANEW}")
        for option, value in self._asked.items():
            if before["asked"].get(option) != value:
                raise CommandError(f"{path} is of a run with {option} {before['asked'].get(option)}: {ANEW}")
        return before

    def _beyond(self, before: Mapping[str, Any]) -> set[str]:
        """Fields that came after the checkpoint. CommandError: some that it counts are missing."""
        there = Names(frozenset(), field_patterns(deck_name(self._model))[:1]).among(self.folder)
        count = len(before["fields"]["entries"]) if self._wishes.fields else 0
        counted = {field_name(deck_name(self._model), number) for number in range(count)}
        if missing := sorted(counted - there):
            raise CommandError(f"{self.folder / missing[0]} is missing: {ANEW}")
        return there - counted

    def _tell(self) -> None:
        """How far the run is."""
        if self.is_open:
            self._record({})

    def _record(self, timing: Mapping[str, float], stale: Iterable[str] = ()) -> None:
        """While it runs, all names that may come are listed, and what an earlier run left until that is removed."""
        solver, earlier = self._wishes.solver, self._wishes.earlier
        record = run_record.record_of(self.folder, self._model, solver, self.progress, self.verdict, timing)
        record |= {"earlier": earlier.named} if earlier else {}
        if self.verdict == RUNNING:
            record |= {"files": sorted({*self._own.names.listed, *stale}), "fields": None, "process": process()}
        else:
            fields = {field_name(deck_name(self._model), number) for number in range(len(self._fields or ()))}
            record |= {"files": [name for name in self._own.written() if name not in fields], "fields": len(fields)}
        self._own.room.replace(self.folder / RUN_RECORD, run_record.as_json(record))


class ProgressSink(TotalsSink):
    """Totals that are told now and then."""

    def __init__(self, model: Model, tell: Callable[[], None]) -> None:
        super().__init__(model)
        self._tell, self._told = tell, time.monotonic()

    def rows(self, rows: Rows) -> None:
        super().rows(rows)
        if time.monotonic() - self._told > TOLD_EVERY:
            self._tell()
            self._told = time.monotonic()


class CheckpointSink(SilentSink):
    """Writes checkpoints that others have filled."""

    def __init__(self, path: Path, model: Model, asked: Mapping[str, Any]) -> None:
        self._path, self._model, self._asked = path, model, asked
        self._own: dict[str, Any] = {}

    def keep(self, checkpoint: dict[str, Any]) -> None:
        if not self._own:
            self._own = {"deck": deck_of(self._model), "asked": self._asked, "model": digests_of(self._model)}
        write_checkpoint(self._path, {**checkpoint, **self._own}, run_record.versions())


def digests_of(model: Model) -> dict[str, str]:
    """Of the parts of a model that stay as they are from one run to the next."""
    return {name: digest_of(part) for name, part in parts_of(model).items()}


def earlier_state(model: Model, folder: str | Path | None) -> EarlierRun | None:
    """The state that ``*RESTART, READ`` of a model asks for; None where it has no such card.

    CommandError: there is no such state, or it is of another model.
    """
    wish = model.earlier
    if wish is None or folder is None:
        if folder is not None:
            raise CommandError("--from needs *RESTART, READ in the deck: without it no state is read")
        return None
    path = Path(folder) / NAME
    if not path.is_file():
        raise CommandError(f"{folder} holds no {NAME}: the earlier run needs *RESTART, WRITE in its deck")
    found = read_checkpoint(path, run_record.versions(), TYPES, "run the earlier deck again")
    if changed := changed_parts(found["model"], digests_of(model)):
        raise CommandError(f"the model is not that of {path}: {', '.join(changed)} changed")
    states = handed_on(found)
    held = ", ".join(f"STEP={step}, INC={number}" for step, number in states) or "none"
    last = list(states)[-1:]
    number = wish.increment
    wanted = [at for at, state in states.items() if number == at[1] or (number is None and state["is_end"])]
    chosen = last if wish.step is None else [at for at in wanted if at[0] == wish.step]
    if not chosen:
        raise CommandError(f"{path} does not hold what *RESTART, READ asks for; it holds {held}")
    (step, number), state = chosen[0], states[chosen[0]]
    if not (state["is_end"] or wish.ends_step):
        raise CommandError(
            f"increment {number} is not the end of step {step} of {path}: *RESTART, READ, END STEP leaves out the rest "
            "of that step; fem run with --continue finishes the earlier run first"
        )
    return EarlierRun(state, {"sha256": found["deck"]["sha256"], "step": step, "increment": number})


def deck_of(model: Model) -> dict[str, Any]:
    """What tells whether a deck has changed: its digest, its parameters, the digest of each of its files."""
    folder = Path(os.path.realpath(model.source)).parent
    files = {}
    for file in model.files:
        with contextlib.suppress(OSError, ValueError):
            files[Path(os.path.relpath(file, folder)).as_posix()] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return {"sha256": model.digest, "parameters": dict(model.parameters), "files": files}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What of a deck has changed: parameters (``--set``) and files by name."""
    names = [f"<{name}>" for name in differing(before["parameters"], now["parameters"])]
    if before["sha256"] != now["sha256"]:
        names += differing(before["files"], now["files"]) or ["its text"]
    return names


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Names whose values are not the same."""
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]


def planned_names(model: Model, vtk: bool, plot: bool) -> Names:
    """What a run may write."""
    name = deck_name(model)
    modes = [step for step, at in enumerate(model.steps, 1) if isinstance(at.procedure, Frequency)]
    kept = {"touchdown.csv": bool(model.seabeds), "waves.csv": bool(model.waves), "frequencies.csv": bool(modes)}
    kept |= {f"{name}.csv": has_responses(model) for name in RESPONSES}
    tables = [table for table in TABLES if kept.get(table, True)]
    lists = [f"{name}.pvd", *(f"{name}_modes_step{step}.pvd" for step in modes)] if vtk else []
    listed = frozenset((*tables, *lists, *(PLOTTED if plot else ()), RUN_RECORD, NAME))
    return Names(listed, field_patterns(name) if vtk else ())


def owned_names(record: Mapping[str, Any]) -> Names:
    """What a run wrote by its record, and what was made of it; how many fields is known when it has ended only."""
    deck, fields = record.get("deck"), record.get("fields", 0)
    name = run_record.stem_of(str(deck.get("file"))) if isinstance(deck, dict) else ""
    if fields is None:
        return Names(listed_names(record), (*field_patterns(name), POSTED), PICTURES)
    numbered = {field_name(name, number) for number in range(fields)} if isinstance(fields, int) else set()
    return Names(listed_names(record) | numbered, (POSTED,), PICTURES)
