"""The files of one run: its folder, claimed and locked, its tables and fields, and ``run.json``, which says whose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fem.errors import from_system
from fem.files.lock import process
from fem.files.own import Names, OwnFolder, listed_names
from fem.model import Frequency, Model
from fem.outlet import Writer
from fem.pictures import PICTURES, PLOTTED
from fem.results.record import Rows, Sink
from fem.results.run_record import (
    COMPLETED,
    RESULTS,
    RUN_RECORD,
    RUNNING,
    Timing,
    TotalsSink,
    as_json,
    deck_name,
    origin_of,
    record_of,
    stem_of,
)
from fem.results.tables import TableSink
from fem.results.vtk import VtkSink, field_name, field_patterns

TOLD_EVERY = 2.0
"""Seconds between two records of a run that goes on."""
TABLES = ("increments.csv", "nodes.csv", "elements.csv", "events.csv", "frequencies.csv")


class RunFiles:
    """All files of one run. They appear when the first step begins: a deck that cannot be solved leaves none."""

    def __init__(
        self, output: str | Path | None, model: Model, solver: str, vtk: bool = True, plot: bool = False,
        force: bool = False,
    ) -> None:  # fmt: skip
        """CommandError: the folder holds what is not ours."""
        self.folder = RESULTS / deck_name(model) if output is None else Path(output)
        self.progress = ProgressSink(model, self._tell)
        self.verdict = RUNNING
        self.is_open = False
        self.has_fields = vtk
        self._model, self._solver = model, solver
        names = planned_names(model, vtk, plot)
        self._own = OwnFolder(self.folder, RUN_RECORD, origin_of(model), names, owned_names, force)
        self._own.check()
        self._fields: VtkSink | None = None

    def open(self) -> list[Sink]:
        """Clear what an earlier run left, write the first ``run.json``, and give the sinks that write the rest."""
        self._own.open()
        stale = self._own.stale()
        self._record({}, stale)
        self.is_open = True
        self._own.clear(stale)
        sinks: list[Sink] = [TableSink(self.folder, self._model)]
        if self.has_fields:
            self._fields = VtkSink(self.folder, deck_name(self._model), self._model, self._own.room)
            sinks.append(self._fields)
        return [Writer(sinks)]

    def finish(self, verdict: str, timing: Timing) -> None:
        """The last ``run.json``."""
        self.verdict = verdict
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
        wanted = [*TABLES, *(lists if self.has_fields else []), *PLOTTED, RUN_RECORD]
        return [file for file in wanted if (self.folder / file).is_file()]

    def _tell(self) -> None:
        """How far the run is."""
        if self.is_open:
            self._record({})

    def _record(self, timing: Mapping[str, float], stale: Iterable[str] = ()) -> None:
        """While it runs, all names that may come are listed, and what an earlier run left until that is removed."""
        record = record_of(self.folder, self._model, self._solver, self.progress, self.verdict, timing)
        if self.verdict == RUNNING:
            record |= {"files": sorted({*self._own.names.listed, *stale}), "fields": None, "process": process()}
        else:
            fields = {field_name(deck_name(self._model), number) for number in range(len(self._fields or ()))}
            record |= {"files": [name for name in self._own.written() if name not in fields], "fields": len(fields)}
        self._own.room.replace(self.folder / RUN_RECORD, as_json(record))


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


def planned_names(model: Model, vtk: bool, plot: bool) -> Names:
    """What a run may write."""
    name = deck_name(model)
    modes = [step for step, at in enumerate(model.steps, 1) if isinstance(at.procedure, Frequency)]
    tables = TABLES if modes else TABLES[:-1]
    lists = [f"{name}.pvd", *(f"{name}_modes_step{step}.pvd" for step in modes)] if vtk else []
    listed = frozenset((*tables, *lists, *(PLOTTED if plot else ()), RUN_RECORD))
    return Names(listed, field_patterns(name) if vtk else ())


def owned_names(record: Mapping[str, Any]) -> Names:
    """What a run wrote by its record, and what was drawn of it; how many fields is known when it has ended only."""
    deck, fields = record.get("deck"), record.get("fields", 0)
    name = stem_of(str(deck.get("file"))) if isinstance(deck, dict) else ""
    if fields is None:
        return Names(listed_names(record), field_patterns(name), PICTURES)
    numbered = {field_name(name, number) for number in range(fields)} if isinstance(fields, int) else set()
    return Names(listed_names(record) | numbered, (), PICTURES)
