"""Statistics and fatigue damage of numbers over time, a row of them for each run: what ``fem post`` would find."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.model import Model, Perturbation
from fem.model.quantities import QUANTITIES, RECORDED
from fem.runs.record import Rows
from fem.runs.schedule import printed_in_step
from fem.show.series import Series, count_cycles, crossing_period, damage, missing, number_of

KINDS = {"e": "EL", "n": "NODE"}
STATISTICS = "mean", "std", "min", "max", "Tz"
FATIGUE = "damage", "rate"


@dataclass(frozen=True, slots=True)
class Record:
    """Numbers over time of which a sweep keeps statistics.

    what      their names, as of ``fem post``: ``T_e12`` (of element 12), ``U3_n5`` (of node 5); or one text of them
    step      of this step alone, from 1; None: of all
    start     total time from which values count
    slope, constant  m and K of N = K range^-m, cycles to failure; None: no damage is asked for

    CommandError: names that are none, one of two constants.

    >>> asked = fem.Record("T_e16", step=2, start=20.0, slope=3.0, constant=1e18)
    >>> found = fem.sweep("inputs/sea_state.inp", {"Hs": [1.0, 3.0]}, record=asked)
    >>> found["T_e16_max"].round(-1).tolist()
    [32190.0, 32310.0]
    """

    what: tuple[str, ...] | str
    step: int | None = None
    start: float = -math.inf
    slope: float | None = None
    constant: float | None = None

    def __post_init__(self) -> None:
        named = self.what.split(",") if isinstance(self.what, str) else self.what
        parts = [number_of(name) for name in named]
        object.__setattr__(self, "what", tuple(f"{column}_{kind}{label}" for column, kind, label in parts))
        if len(set(self.what)) < len(self.what):
            raise CommandError("a number is recorded twice")
        if (self.slope is None) != (self.constant is None):
            raise CommandError("fatigue damage takes both --slope m and --constant K of N = K range^-m")

    @property
    def settings(self) -> dict[str, Any]:
        """What makes two records the same, as JSON."""
        return asdict(self) | {"start": self.start if math.isfinite(self.start) else None}

    @property
    def kept(self) -> tuple[str, ...]:
        """What is kept of each number."""
        return STATISTICS if self.slope is None else (*STATISTICS, *FATIGUE)

    def columns(self) -> list[str]:
        """Names in a row: mean, std, min, max and mean period of upward crossings of the mean; Miner's sum, and the
        same over the time it was counted in."""
        return [f"{name}_{kept}" for name in self.what for kept in self.kept]

    def is_derived(self) -> bool:
        """Some of it follows from what the solver records."""
        return any(place_of(*number_of(name)[:2])[1] >= RECORDED[KINDS[number_of(name)[1]]] for name in self.what)

    def check(self, model: Model) -> None:
        """CommandError: a number is not printed in the step, or in none; it has the request that is missing."""
        steps = range(1, len(model.steps) + 1)
        if self.step is not None and self.step not in steps:
            raise CommandError(f"--step {self.step}: the deck has {len(model.steps)} steps")
        moving = [n for n in steps if not isinstance(model.steps[n - 1].procedure, Perturbation)]
        for name in self.what:
            _, kind, label = number_of(name)
            chosen = moving if self.step is None else [self.step]
            if not any(label in labels_printed(model, step, kind) for step in chosen):
                where = "" if self.step is None else f" in step {self.step}"
                raise CommandError(f"{name} is not printed{where}: {missing(name)}")

    def numbers(self, series: Series) -> list[float]:
        """Of one number of one run, in the order of ``kept``."""
        found = [series.mean, series.std, float(series.values.min()), float(series.values.max())]
        found.append(crossing_period(series))
        if self.slope is not None and self.constant is not None:
            share, duration = damage(count_cycles(series.values), self.slope, self.constant), np.ptp(series.time)
            found += [share, share / duration if duration > 0.0 else math.nan]
        return found


def place_of(column: str, kind: str) -> tuple[str, int, int]:
    """Quantity of a column of tables, its place among those of its kind, and that of the column in it."""
    table = QUANTITIES[KINDS[kind]]
    return next((each.name, n, each.columns.index(column)) for n, each in enumerate(table) if column in each.columns)


def labels_printed(model: Model, step: int, kind: str) -> Ints:
    """Of elements (e) or nodes (n) that a step prints, from 1."""
    labels = model.mesh.element_labels if kind == "e" else model.mesh.node_labels
    return np.asarray(labels)[printed_in_step(model, step, f"{KINDS[kind]} PRINT")]


class Recorder:
    """Takes in the rows of a run, or of lanes, and makes numbers of them.

    ``lanes``: further axes of all values.
    """

    def __init__(self, model: Model, record: Record, lanes: tuple[int, ...] = ()) -> None:
        self._model, self._record, self._lanes = model, record, lanes
        self._times: dict[str, list[Floats]] = {name: [] for name in record.what}
        self._values: dict[str, list[Floats]] = {name: [] for name in record.what}
        self._indices: Mapping[str, int] = {}

    def begin(self, step: int) -> None:
        """A step begins, from 1: which numbers it prints."""
        self._indices = {}
        if self._record.step not in (None, step):
            return
        mesh = self._model.mesh
        for name in self._record.what:
            _, kind, label = number_of(name)
            labels = np.asarray(mesh.element_labels if kind == "e" else mesh.node_labels)
            if label in labels_printed(self._model, step, kind):
                self._indices = {**self._indices, name: int(np.flatnonzero(labels == label)[0])}

    def add(self, rows: Rows) -> None:
        """Some increments."""
        late = rows.time >= self._record.start
        if not self._indices or not late.any():
            return
        values = {"n": rows.of_nodes(self._model), "e": rows.of_elements(self._model)}
        for name, index in self._indices.items():
            column, kind, _ = number_of(name)
            quantity, _, axis = place_of(column, kind)
            found = values[kind].columns(quantity)
            self._times[name].append(rows.time[late])
            self._values[name].append(found[late, np.searchsorted(values[kind].indices, index), axis])

    def columns(self) -> Floats:
        """(c, ...) numbers in the order of ``Record.columns``; NaN where nothing was seen."""
        return np.concatenate([self._of(name) for name in self._record.what])

    def _of(self, name: str) -> Floats:
        """(kept, ...) of one number."""
        found = np.full((len(self._record.kept), *self._lanes), np.nan)
        if self._times[name]:
            time, values = np.concatenate(self._times[name]), np.concatenate(self._values[name])
            for lane in np.ndindex(self._lanes):
                series = Series(name, np.zeros(len(time)), time, values[(slice(None), *lane)])
                if np.isfinite(series.values).all():
                    found[(slice(None), *lane)] = self._record.numbers(series)
        return found
