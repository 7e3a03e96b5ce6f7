"""What a sweep keeps of one run, with error bars of the largest values that it records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fem.model import Model
from fem.model.named import members_named
from fem.model.quantities import ENERGIES
from fem.runner import verdict_of
from fem.runs.history import History
from fem.runs.run_record import COMPLETED
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import ErrorBars, completed
from fem.study.question import Job, Row
from fem.study.row import Layout, Record, layout_of
from fem.study.tracks import SeriesSink, Track

BAR = "max_err"
"""Suffix of an error bar of a largest value."""


@dataclass(frozen=True, slots=True)
class LayoutWithBars(Layout):
    """A row whose last columns are error bars."""

    def columns(self) -> list[str]:
        return [*Layout.columns(self), *(f"{name}_{BAR}" for name in self._record.what)]

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        bars, kept = [math.nan] * len(self._record.what), recorder_of(model, self._record)
        verdict, row, motion = self.run(model, history, kept)
        if verdict == COMPLETED:
            try:
                bars = largest_bars(kept.track(), self._record)
            except Exception as error:
                verdict = verdict_of(error)
        return verdict, (*row, *bars), motion

    def fits(self, model: Model) -> bool:
        return recorded_of(model, self.record) == self

    def together(self, jobs: Sequence[Job], may_compile: bool) -> Mapping[int, Row]:
        return {}

    @property
    def _record(self) -> Record:
        assert self.record is not None
        return self.record


def recorded_of(model: Model, record: Record | None) -> Layout:
    """``layout_of``, with error bars where a record asks for them."""
    found = layout_of(model, record)
    has_bars = record is not None and record.bars
    return LayoutWithBars(found.nodes, found.elements, found.modes, record) if has_bars else found


def recorder_of(model: Model, record: Record) -> SeriesSink:
    """Keeps the numbers of a record, and energies, over the run."""
    members = [str(each) for name in record.what for each in members_named(model.mesh, name)]
    return SeriesSink(model, tuple(dict.fromkeys([*members, *ENERGIES])))


def largest_bars(run: Track, record: Record) -> list[float]:
    """Of each number of a record, in its step and from its start on; NaN: unknown. Its companions are computed, one
    after the other."""
    companions = Companions(run.model, names=run.names)
    found = completed(run, companions, companions.run(run, 1), 1, frozenset(run.names))
    tracks = {name: counted(track, record) for name, track in found.tracks.items()}
    bars = ErrorBars(tracks, found.missing, found.companions)
    return [float(bars.bar(f"max:{name}")) for name in record.what]


def counted(track: Track, record: Record) -> Track:
    """The rows that count for a record."""
    rows = track.time >= record.start
    if record.step is not None:
        rows &= track.of_step(record.step)
    kept = {name: getattr(track, name)[rows] for name in ("step", "time", "dt", "values")}
    return replace(track, **kept)
