"""Models that march together, and in runs of their own: the same rows of both."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from fem.arrays import Ints
from fem.errors import FemError
from fem.model import Model
from fem.runs.record import Requests, Rows, SilentSink
from fem.solve.loop import solve
from fem.study.lanes.pack import WIDTH
from fem.study.lanes.run import march_together


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one model of an ensemble.

    rows        increments 0, every, 2 every, ... and the last; None where the run failed before its first
    iterations  linear solves in all increments
    error       why the run ended early, or None
    in_lanes    False: a run of its own
    """

    rows: Rows | None
    iterations: int
    error: FemError | None = None
    in_lanes: bool = True


class Collector(SilentSink):
    """Rows of every k-th increment and of the last one."""

    def __init__(self, every: int) -> None:
        self.every, self.iterations = every, 0
        self.parts: list[Rows] = []
        self.last: Rows | None = None

    def rows(self, rows: Rows) -> None:
        self.iterations += int(rows.iterations.sum())
        self.parts.append(chosen(rows, np.flatnonzero(rows.increment % self.every == 0)))
        self.last = chosen(rows, np.array([len(rows.increment) - 1]))

    def collected(self) -> Rows | None:
        """All of them as one."""
        if self.last is None:
            return None
        parts = [part for part in self.parts if len(part.increment)]
        if parts[-1].increment[-1] != self.last.increment[0]:
            parts.append(self.last)
        series: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SERIES}
        return replace(self.last, **series)


SERIES = [
    field.name
    for field in fields(Rows)
    if field.name not in ("step", "nodes", "elements", "is_end", "load_factor", "sea_from", "unloaded")
]
"""Fields of ``Rows`` that have one entry per increment."""


def chosen(rows: Rows, which: Ints) -> Rows:
    """Some of the rows."""
    series: dict[str, Any] = {name: getattr(rows, name)[which] for name in SERIES}
    return replace(rows, **series)


LANE_SERIES = [name for name in SERIES if name not in ("increment", "cutbacks")]
"""Fields of ``Rows`` that differ from lane to lane."""


def run_alone(model: Model, every: int) -> Result:
    """An ordinary run."""
    sink = Collector(every)
    error: FemError | None = None
    try:
        solve(model, sink, Requests(record_all=True, fields=False))
    except FemError as caught:
        error = caught
    return Result(sink.collected(), sink.iterations, error, in_lanes=False)


def run_ensemble(models: list[Model], every: int = 1) -> list[Result]:
    """As lanes, where they march well, else alone; in order."""
    results = {}
    for marched in march_together(models, every, record_all=True):
        for number, lane in marched.numbers.items():
            place = lane // WIDTH, lane % WIDTH
            rows = replace(marched.rows, **{name: getattr(marched.rows, name)[..., *place] for name in LANE_SERIES})
            results[number] = Result(rows, int(marched.solves[lane]))
    return [results.get(number) or run_alone(model, every) for number, model in enumerate(models)]
