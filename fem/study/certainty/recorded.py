"""Error bars of the largest values that a sweep records of one run."""

from __future__ import annotations

from dataclasses import replace

from fem.model import Model
from fem.model.named import members_named
from fem.model.quantities import ENERGIES
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import ErrorBars, completed
from fem.study.row import Record
from fem.study.tracks import SeriesSink, Track


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
