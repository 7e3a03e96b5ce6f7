"""What a sweep keeps of one run: a row of numbers, and the names of its columns.

Statistics and fatigue damage of numbers over time are among them: what ``fem post`` would find.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.model import Frequency, Model
from fem.model.named import PRINTS, TABLES, Named, item_named, labels_of, names_of
from fem.model.quantities import ENERGIES, Quantity
from fem.model.steps import Procedure
from fem.runner import drive, verdict_of
from fem.runs.history import History, HistorySink
from fem.runs.record import Modes, Requests, Rows, StepStart, frequency_name
from fem.runs.run_record import COMPLETED, Timing, TotalsSink
from fem.runs.schedule import printed_in_step, union
from fem.show.series import Series, check_curve, count_cycles, crossing_period, damage
from fem.study.lanes.pack import OF_ITEMS
from fem.study.lanes.run import march_together
from fem.study.question import Question, Row

STATISTICS = "mean", "std", "min", "max", "Tz"
FATIGUE = "damage", "rate"


@dataclass(frozen=True, slots=True)
class Record:
    """Time series of which a sweep records statistics.

    what      their names, as in ``fem post``: ``T_e12`` (of element 12), ``U3_n5`` (of node 5); a sequence, or one text
    step      only this step, counted from 1; None: all steps
    start     total time from which values count
    slope, constant  m and K of the S-N curve N = K range^-m; None: no damage
    strength  of a T-N curve N = K (range/strength)^-m
    goodman   strength by which means are corrected; None: they are not

    CommandError: an unknown name, or only one of slope and constant.

    >>> study = fem.Record("T_e16", step=2, start=20.0, slope=3.0, constant=1e18)
    >>> found = fem.sweep("inputs/sea_state.inp", {"Hs": [1.0, 3.0]}, record=study)
    >>> found["T_e16_max"].round(-1).tolist()
    [32190.0, 32310.0]
    """

    what: tuple[str, ...] | str
    step: int | None = None
    start: float = -math.inf
    slope: float | None = None
    constant: float | None = None
    strength: float | None = None
    goodman: float | None = None

    def __post_init__(self) -> None:
        named = self.what.split(",") if isinstance(self.what, str) else self.what
        object.__setattr__(self, "what", tuple(str(item_named(name)) for name in named))
        if len(set(self.what)) < len(self.what):
            raise CommandError("the same series is recorded twice")
        check_curve(self.slope, self.constant, self.strength, self.goodman)

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
        return any(number.quantity.derived for number in map(item_named, self.what))

    def check(self, model: Model) -> None:
        """CommandError: a number is not printed in the step, or in none; it has the request that is missing."""
        steps = range(1, len(model.steps) + 1)
        if self.step is not None and self.step not in steps:
            raise CommandError(f"--step {self.step}: the deck has {len(model.steps)} steps")
        moving = [n for n in steps if not model.steps[n - 1].small_motion]
        for number in map(item_named, self.what):
            if number.label not in labels_printed(model, number.kind, moving if self.step is None else [self.step]):
                where = "" if self.step is None else f" in step {self.step}"
                raise CommandError(f"{number} is not printed{where}: {number.request}")

    def numbers(self, series: Series) -> list[float]:
        """Of one number of one run, in the order of ``kept``."""
        found = [series.mean, series.std, float(series.values.min()), float(series.values.max())]
        found.append(crossing_period(series))
        if self.slope is not None and self.constant is not None:
            duration, curve = np.ptp(series.time), (self.slope, self.constant, self.strength, self.goodman)
            miner = damage(count_cycles(series.values), *curve)
            found += [miner, miner / duration if duration > 0.0 else math.nan]
        return found


def labels_printed(model: Model, kind: str, steps: Iterable[int] | None = None) -> Ints:
    """Of elements (e) or nodes (n) that some steps print, from 1; or that any step prints."""
    chosen = range(1, len(model.steps) + 1) if steps is None else steps
    return labels_of(model.mesh, kind)[union([printed_in_step(model, step, PRINTS[kind]) for step in chosen])]


class Recorder:
    """Takes in the rows of a run, or of lanes, and makes numbers of them.
    ``lanes``: further axes of all values."""

    def __init__(self, model: Model, record: Record, lanes: tuple[int, ...] = ()) -> None:
        self._model, self._record, self._lanes = model, record, lanes
        self._parts: dict[Named, list[tuple[Floats, Floats]]] = {item_named(name): [] for name in record.what}
        self._indices: dict[Named, int] = {}

    def begin(self, step: int) -> None:
        """A step begins, from 1: which numbers it prints."""
        self._indices = {}
        if self._record.step not in (None, step):
            return
        for number in self._parts:
            if number.label in labels_printed(self._model, number.kind, [step]):
                self._indices[number] = int((labels_of(self._model.mesh, number.kind) == number.label).argmax())

    def add(self, rows: Rows) -> None:
        late = (rows.time >= self._record.start).reshape(len(rows.time), -1).any(axis=1)  # in some lane
        if not self._indices or not late.any():
            return
        values = {"n": rows.of_nodes(self._model), "e": rows.of_elements(self._model)}
        for number, index in self._indices.items():
            its = values[number.kind]
            found = its.columns(number.quantity.name)[late, np.searchsorted(its.indices, index), number.axis]
            self._parts[number].append((rows.time[late], found))

    def columns(self) -> Floats:
        """(c, ...) numbers in the order of ``Record.columns``; NaN where there are no values."""
        return np.concatenate([self._of(*each) for each in self._parts.items()])

    def _of(self, number: Named, parts: Sequence[tuple[Floats, Floats]]) -> Floats:
        """(kept, ...) of one number."""
        found = np.full((len(self._record.kept), *self._lanes), np.nan)
        if parts:
            time, values = map(np.concatenate, zip(*parts, strict=True))
            for lane in np.ndindex(self._lanes):
                its = time[(slice(None), *lane)]
                late = its >= self._record.start
                kept = values[(slice(None), *lane)][late]
                series = Series(str(number), np.zeros(len(kept)), its[late], kept)
                if late.any() and np.isfinite(series.values).all():
                    found[(slice(None), *lane)] = self._record.numbers(series)
        return found


TOTALS = ("increments", "iterations", "cutbacks")
ENERGY_COLUMNS = (*(f"{name}_end" for name in ENERGIES), "energy_error_largest")
EXTREMES, SCATTER, LIFE, SEEDS = "extremes.png", "scatter.csv", "fatigue.csv", "seeds.csv"
"""What is made of recorded numbers, and over seeds, beside the table."""
KEPT = {kind: [quantity for quantity in TABLES[kind] if quantity.swept] for kind in PRINTS}
"""What is kept of the motion of printed nodes and elements."""


@dataclass(frozen=True, slots=True)
class Layout(Question):
    """What the rows of a sweep contain: labels of printed nodes and elements, (step, mode) of natural frequencies;
    numbers over time that are recorded."""

    nodes: tuple[int, ...]
    elements: tuple[int, ...]
    modes: tuple[tuple[int, int], ...]
    record: Record | None = None
    kind: ClassVar[str] = "sweep"
    figures: ClassVar[tuple[str, ...]] = (EXTREMES, SCATTER, LIFE, SEEDS)
    counts: ClassVar[tuple[str, ...]] = tuple(f"{name}_total" for name in TOTALS)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"record": self.record.settings} if self.record else {}

    def columns(self) -> list[str]:
        """Names of the numbers of a row, after point, parameters and verdict."""
        motion = [
            f"{name}_{what}"
            for kind, labels in (("n", self.nodes), ("e", self.elements))
            for quantity in KEPT[kind]
            for name in names_of("", quantity.columns, labels)
            for what in quantity.swept
        ]
        frequencies = [frequency_name(*mode) for mode in self.modes]
        recorded = self.record.columns() if self.record else []
        return [*self.counts, "time_end", *ENERGY_COLUMNS, *motion, *frequencies, *recorded]

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        sink = RowSink(model, self)
        collected = HistorySink(model) if history else None
        verdict = COMPLETED
        try:
            sinks = [sink, collected] if collected else [sink]
            drive(model, Requests(record_all=history, fields=False), None, Timing(), None, *sinks)
        except Exception as error:
            verdict = verdict_of(error)
        return verdict, sink.row(), collected.history() if collected else None

    def together(self, models: Sequence[Model], points: Sequence[int], may_compile: bool) -> dict[int, Row]:
        found: dict[int, Row] = {}
        if self.record and self.record.is_derived():
            return found
        for marched in march_together(models, may_compile=may_compile):
            rows = rows_of_lanes(models[next(iter(marched.numbers))], self, marched.rows) if marched.numbers else []
            found |= {number: rows[lane] for number, lane in marched.numbers.items()}
        return found


def layout_of(model: Model, record: Record | None = None) -> Layout:
    """What a model prints in any of its steps; ``record``: what is kept of numbers over time."""
    steps = dict(enumerate(model.steps, 1))
    nodes, elements = (tuple(labels_printed(model, kind).tolist()) for kind in PRINTS)
    counts = {step: its.modes.modes for step, its in steps.items() if its.modes}
    modes = tuple((step, mode) for step, count in counts.items() for mode in range(1, count + 1))
    return Layout(nodes, elements, modes, record)


def prints_alike(model: Model, other: Model) -> bool:
    """Both have the same nodes, elements and sets, and steps of the same kind and requests: one layout.
    Steps of natural frequencies are the very same ones."""

    def is_same(one: Procedure, its: Procedure) -> bool:
        return one is its or (type(one) is type(its) and not isinstance(one, Frequency))

    pairs = zip(model.steps, other.steps, strict=False)
    return (
        all(getattr(model.mesh, name) is getattr(other.mesh, name) for name in OF_ITEMS)
        and len(model.steps) == len(other.steps)
        and all(one.outputs is its.outputs and is_same(one.procedure, its.procedure) for one, its in pairs)
    )


class Watch:
    """Last value, least and greatest of what rows keep of printed nodes and elements; NaN: never printed.
    ``lanes``: further axes of all values."""

    def __init__(self, model: Model, layout: Layout, lanes: tuple[int, ...] = ()) -> None:
        self._model, self._labels = model, {"n": layout.nodes, "e": layout.elements}
        self._chosen: dict[str, tuple[Ints, Ints]] = {}
        self._kept: list[tuple[str, Quantity, dict[str, Floats]]] = []
        for kind, labels in self._labels.items():
            for quantity in KEPT[kind]:
                shape = (len(labels), len(quantity.columns), *lanes)
                self._kept.append((kind, quantity, {what: np.full(shape, np.nan) for what in ("end", "min", "max")}))

    def begin(self, step: int) -> None:
        """A step begins, from 1: what it prints of what rows keep, and where in the row that stands."""
        for kind, labels in self._labels.items():
            places = {label: place for place, label in enumerate(labels)}
            indices = printed_in_step(self._model, step, PRINTS[kind])
            its = labels_of(self._model.mesh, kind)[indices].tolist()
            known = [(i, places[n]) for i, n in zip(indices.tolist(), its, strict=True) if n in places]
            here, there = np.array(known, np.int64).reshape(-1, 2).T
            self._chosen[kind] = here, there

    def add(self, rows: Rows) -> None:
        values = {"n": rows.of_nodes(self._model), "e": rows.of_elements(self._model)}
        for kind, quantity, found in self._kept:
            indices, here = self._chosen[kind]
            new = values[kind].columns(quantity.name)[:, np.searchsorted(values[kind].indices, indices)]
            found["end"][here] = new[-1]
            found["min"][here] = np.fmin(found["min"][here], new.min(axis=0))
            found["max"][here] = np.fmax(found["max"][here], new.max(axis=0))

    def columns(self) -> Floats:
        """(c, ...) values in the order of ``Layout.columns``."""
        stacks = [np.stack([found[what] for what in of.swept], axis=2) for _, of, found in self._kept]
        return np.concatenate([stack.reshape(-1, *stack.shape[3:]) for stack in stacks])


def keepers_of(model: Model, layout: Layout, lanes: tuple[int, ...] = ()) -> list[Watch | Recorder]:
    """Of the numbers of a row: of nodes and elements, then over time."""
    return [Watch(model, layout, lanes), *([Recorder(model, layout.record, lanes)] if layout.record else [])]


class RowSink(TotalsSink):
    """Makes the row of one run, also of one that fails."""

    def __init__(self, model: Model, layout: Layout) -> None:
        super().__init__(model)
        self._layout, self._keepers = layout, keepers_of(model, layout)
        self._frequencies: dict[str, float] = {}

    def begin(self, start: StepStart) -> None:
        super().begin(start)
        for keeper in self._keepers:
            keeper.begin(start.step)

    def rows(self, rows: Rows) -> None:
        super().rows(rows)
        for keeper in self._keepers if len(rows.increment) else ():
            keeper.add(rows)

    def modes(self, modes: Modes) -> None:
        self._frequencies |= modes.by_name

    def row(self) -> Row:
        """Values in the order of ``Layout.columns``; NaN where there is none."""
        totals = self.totals
        is_begun = bool(totals.energies)
        energies = [totals.energies.get(name, np.nan) for name in ENERGIES]
        energies.append(totals.largest_energy_error if is_begun else np.nan)
        frequencies = [self._frequencies.get(frequency_name(*mode), np.nan) for mode in self._layout.modes]
        watched, *recorded = (keeper.columns() for keeper in self._keepers)
        kept = np.concatenate([watched, frequencies, *recorded]).tolist()
        counts = [getattr(totals, name) for name in TOTALS]
        return (*counts, totals.time if is_begun else np.nan, *energies, *kept)


def rows_of_lanes(model: Model, layout: Layout, rows: Rows) -> list[Row]:
    """``RowSink.row`` of models that marched a whole step side by side, by lane; ``rows`` as ``Marched`` has them."""
    keepers = keepers_of(model, layout, rows.kinetic.shape[1:])
    for keeper in keepers:
        keeper.begin(rows.step)
        keeper.add(rows)
    ends = [getattr(rows, name)[-1] for name in ENERGIES]
    largest = np.fmax.reduce(np.abs(rows.energy_error))
    kept = np.concatenate([rows.time[-1:], ends, largest[None], *(keeper.columns() for keeper in keepers)])
    iterations = rows.iterations.sum(axis=0).ravel().tolist()
    count, cutbacks = int(rows.increment[-1]), int(rows.cutbacks.sum())
    lanes = zip(iterations, kept.reshape(len(kept), -1).T.tolist(), strict=True)
    return [(count, spent, cutbacks, *numbers) for spent, numbers in lanes]
