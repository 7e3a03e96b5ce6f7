"""What a sweep keeps of one run: a row of numbers, and the names of its columns.

Statistics and fatigue damage of numbers over time are among them: what ``fem post`` would find.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats
from fem.deck import answered
from fem.errors import CommandError
from fem.model import Model
from fem.model.named import COLUMNS, PRINTS, TABLES, Named, members_named, series_named
from fem.model.quantities import ENERGIES
from fem.runner import drive, verdict_of
from fem.runs.history import History, HistorySink
from fem.runs.record import Modes, Requests, Rows, SilentSink, Sink, StepStart, frequency_name
from fem.runs.run_record import COMPLETED, Timing, TotalsSink
from fem.runs.signals import Signals, labels_printed
from fem.runs.sweep_files import CASES
from fem.show.extremes import peaks_over, tail_extreme
from fem.show.series import Series, check_curve, count_cycles, crossing_period, damage
from fem.study.lanes.run import Marched, extremes_in, march_columns, march_together
from fem.study.question import Job, Question, Row, columns_of, models_of, points_in

STATISTICS = "mean", "std", "min", "max", "Tz"
FATIGUE = "damage", "rate"
LONGER = "skew", "cycles", "time", "extreme", "extreme_low", "extreme_high"
"""With a duration: skewness, peaks and time of the series; the extreme by its own highest peaks, and its interval."""


@dataclass(frozen=True, slots=True)
class Record:
    """Time series of which a sweep records statistics.

    what      their names, as in ``fem post``: ``T_e12`` (of element 12), ``U3_n5`` (of node 5), ``T_TOPS`` (at each
              instant the largest in the set TOPS); a sequence, or one text
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
    duration: float | None = None
    bars: bool = False

    def __post_init__(self) -> None:
        named = self.what.split(",") if isinstance(self.what, str) else self.what
        object.__setattr__(self, "what", answered(lambda: tuple(str(series_named(name)) for name in named)))
        if len(set(self.what)) < len(self.what):
            raise CommandError("the same series is recorded twice")
        check_curve(self.slope, self.constant, self.strength, self.goodman)
        if self.duration is not None and not 0.0 < self.duration < math.inf:
            raise CommandError(f"a duration must be positive, got {self.duration:g}")

    @property
    def settings(self) -> dict[str, Any]:
        """What makes two records the same, as JSON."""
        return asdict(self) | {"start": self.start if math.isfinite(self.start) else None}

    @property
    def kept(self) -> tuple[str, ...]:
        """What is kept of each number."""
        return (*STATISTICS, *(LONGER if self.duration else ()), *(FATIGUE if self.slope is not None else ()))

    def columns(self) -> list[str]:
        """Names in a row: mean, std, min, max and mean period of upward crossings of the mean; Miner's sum, and the
        same over the time it was counted in."""
        return [f"{name}_{kept}" for name in self.what for kept in self.kept]

    def is_derived(self) -> bool:
        """Some of it follows from what the solver records."""
        return any(COLUMNS[each.kind][each.column][0].derived for each in map(series_named, self.what))

    def check(self, model: Model) -> None:
        """CommandError: a number is not printed in the step, or in none; it has the request that is missing."""
        steps = range(1, len(model.steps) + 1)
        if self.step is not None and self.step not in steps:
            raise CommandError(f"--step {self.step}: the deck has {len(model.steps)} steps")
        moving = [n for n in steps if not model.steps[n - 1].small_motion]
        for number in (each for name in self.what for each in members_named(model.mesh, name)):
            if number.label not in labels_printed(model, number.kind, moving if self.step is None else [self.step]):
                where = "" if self.step is None else f" in step {self.step}"
                raise CommandError(f"{number} is not printed{where}: {number.request}")

    def numbers(self, series: Series) -> list[float]:
        """Of one number of one run, in the order of ``kept``."""
        found = [series.mean, series.std, float(series.values.min()), float(series.values.max())]
        found.append(crossing_period(series))
        if self.duration is not None:
            found += longer_of(series, self.duration)
        if self.slope is not None and self.constant is not None:
            duration, curve = np.ptp(series.time), (self.slope, self.constant, self.strength, self.goodman)
            miner = damage(count_cycles(series.values), *curve)
            found += [miner, miner / duration if duration > 0.0 else math.nan]
        return found


def longer_of(series: Series, duration: float) -> list[float]:
    """Of one number of one run, in the order of ``LONGER``; NaN: no extreme can be estimated."""
    mean, time = series.mean, float(np.ptp(series.time))
    peaks = peaks_over(series.values, mean)
    found = [series.skewness, float(len(peaks)), time]
    with suppress(CommandError, ZeroDivisionError):
        return [*found, *tail_extreme(peaks, mean, duration / time)[:3]]
    return [*found, math.nan, math.nan, math.nan]


class Keeper:
    """Takes in those of some numbers that each step prints, of a run, or of lanes.
    ``lanes``: further axes of all values."""

    def __init__(self, model: Model, numbers: Sequence[Named], lanes: tuple[int, ...]) -> None:
        self._model, self._numbers, self._lanes = model, numbers, lanes

    def begin(self, step: int) -> None:
        """A step begins, from 1: which numbers it prints."""
        known = {kind: set(labels_printed(self._model, kind, [step]).tolist()) for kind in PRINTS}
        here = [place for place, each in enumerate(self._numbers) if each.label in known[each.kind]]
        self._here = np.array(here, np.int64)
        self._signals = Signals(self._model, [self._numbers[place] for place in here])


class Recorder(Keeper):
    """Keeps numbers over time, and makes what is recorded of them."""

    def __init__(self, model: Model, record: Record, lanes: tuple[int, ...] = ()) -> None:
        members = [members_named(model.mesh, name) for name in record.what]
        numbers = list(dict.fromkeys(each for of in members for each in of))
        super().__init__(model, numbers, lanes)
        self._members = [[numbers.index(each) for each in of] for of in members]
        self._record = record
        self._parts: list[list[tuple[Floats, Floats]]] = [[] for _ in record.what]

    def add(self, rows: Rows) -> None:
        late = (rows.time >= self._record.start).reshape(len(rows.time), -1).any(axis=1)  # in some lane
        if self._record.step in (None, rows.step) and late.any():
            found = {
                place: its[late]
                for places, values in self._signals.parts(rows.values(self._model))
                for place, its in zip(self._here[places].tolist(), values.swapaxes(0, 1), strict=True)
            }
            for parts, members in zip(self._parts, self._members, strict=True):
                if here := [found[place] for place in members if place in found]:
                    parts.append((rows.time[late], np.maximum.reduce(here)))

    def columns(self) -> Floats:
        """(c, ...) numbers in the order of ``Record.columns``; NaN where there are no values."""
        return np.concatenate([self._of(*each) for each in zip(self._record.what, self._parts, strict=True)])

    def _of(self, name: str, parts: Sequence[tuple[Floats, Floats]]) -> Floats:
        """(kept, ...) of one number."""
        found = np.full((len(self._record.kept), *self._lanes), np.nan)
        if parts:
            time, values = map(np.concatenate, zip(*parts, strict=True))
            for lane in np.ndindex(self._lanes):
                its = time[(slice(None), *lane)]
                late = its >= self._record.start
                kept = values[(slice(None), *lane)][late]
                series = Series(name, np.zeros(len(kept)), its[late], kept)
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
    figures: ClassVar[tuple[str, ...]] = (EXTREMES, SCATTER, LIFE, SEEDS, *CASES)
    counts: ClassVar[tuple[str, ...]] = tuple(f"{name}_total" for name in TOTALS)
    threads: ClassVar[bool] = True

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"record": self.record.settings} if self.record else {}

    @property
    def numbers(self) -> list[Named]:
        """What is kept of the motion."""
        return [
            Named(column, kind, label)
            for kind, labels in (("n", self.nodes), ("e", self.elements))
            for quantity in KEPT[kind]
            for label in labels
            for column in quantity.columns
        ]

    def columns(self) -> list[str]:
        """Names of the numbers of a row, after point, parameters and verdict."""
        motion = [f"{each._replace(kind='')}_{what}" for each in self.numbers for what in each.quantity.swept]
        frequencies = [frequency_name(*mode) for mode in self.modes]
        recorded = self.record.columns() if self.record else []
        return [*self.counts, "time_end", *ENERGY_COLUMNS, *motion, *frequencies, *recorded]

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        return self.run(model, history)

    def run(self, model: Model, history: bool, *beside: Sink) -> tuple[str, Row, History | None]:
        """As ``solve``. ``beside``: who else takes in all increments."""
        sink = RowSink(model, self)
        collected = HistorySink(model) if history else None
        verdict = COMPLETED
        try:
            sinks = [sink, *([collected] if collected else []), *beside]
            drive(model, Requests(record_all=history or bool(beside), fields=False), None, Timing(), None, *sinks)
        except Exception as error:
            verdict = verdict_of(error)
        return verdict, sink.row(), collected.history() if collected else None

    def fits(self, model: Model) -> bool:
        return layout_of(model, self.record) == self

    def together(self, jobs: Sequence[Job], may_compile: bool) -> Mapping[int, Row]:
        found: dict[int, Row] = {}
        if self.record and self.record.is_derived():
            return found

        every = 1 if self.record else 0
        columns, marching, points = columns_of(jobs), None, points_in(jobs)
        models = list[Model]()
        if columns:
            marching = march_columns(*columns, every, may_compile=may_compile)
        if marching is None:
            known = models_of(jobs)
            points, models = list(known), list(known.values())
            marching = march_together(models, every, may_compile=may_compile)
        for marched in marching:
            if marched.numbers:
                model = columns[0] if columns and not models else models[next(iter(marched.numbers))]
                rows = rows_of_lanes(model, self, marched)
                found |= {points[number]: rows[lane] for number, lane in marched.numbers.items()}
        return found


def layout_of(model: Model, record: Record | None = None) -> Layout:
    """What a model prints in any of its steps; ``record``: what is kept of numbers over time."""
    steps = dict(enumerate(model.steps, 1))
    nodes, elements = (tuple(labels_printed(model, kind).tolist()) for kind in PRINTS)
    counts = {step: its.modes.modes for step, its in steps.items() if its.modes}
    modes = tuple((step, mode) for step, count in counts.items() for mode in range(1, count + 1))
    return Layout(nodes, elements, modes, record)


class Watch(Keeper):
    """Last value, least and greatest of what rows keep of printed nodes and elements; NaN: never printed."""

    def __init__(self, model: Model, layout: Layout, lanes: tuple[int, ...] = ()) -> None:
        super().__init__(model, layout.numbers, lanes)
        self._found = {what: np.full((len(self._numbers), *lanes), np.nan) for what in ("end", "min", "max")}

    def add(self, rows: Rows, least: Rows | None = None, greatest: Rows | None = None) -> None:
        """``least``, ``greatest``: rows of the least and the greatest numbers, where ``rows`` is the end alone."""
        ends, lows, highs = self._found.values()
        all_ = list(self._signals.parts(rows.values(self._model)))
        each = (self._signals.parts(its.values(self._model)) if its else all_ for its in (least, greatest))
        for (places, end), (_, low), (_, high) in zip(all_, *each, strict=True):
            here = self._here[places]
            ends[here] = end[-1]
            lows[here] = np.fmin(lows[here], low.min(axis=0))
            highs[here] = np.fmax(highs[here], high.max(axis=0))

    def columns(self) -> Floats:
        """(c, ...) values in the order of ``Layout.columns``."""
        kept = [(what, place) for place, each in enumerate(self._numbers) for what in each.quantity.swept]
        return np.reshape([self._found[what][place] for what, place in kept], (len(kept), *self._lanes))


def keepers_of(model: Model, layout: Layout, lanes: tuple[int, ...] = ()) -> list[Watch | Recorder]:
    """Of the numbers of a row: of nodes and elements, then over time."""
    return [Watch(model, layout, lanes), *([Recorder(model, layout.record, lanes)] if layout.record else [])]


class InLanes(SilentSink):
    """Takes in steps that were the same in all lanes."""

    def __init__(self, keeper: Watch | Recorder, lanes: tuple[int, ...]) -> None:
        self._keeper, self._lanes = keeper, lanes

    def begin(self, start: StepStart) -> None:
        self._keeper.begin(start.step)

    def rows(self, rows: Rows) -> None:
        if len(rows.increment):
            self._keeper.add(rows.in_lanes(self._lanes))


class RowSink(TotalsSink):
    """Makes the row of one run, also of one that fails."""

    hears_notices = hears_frames = counts_exchange = False

    def __init__(self, model: Model, layout: Layout) -> None:
        super().__init__(model)
        self._layout, self._keepers = layout, keepers_of(model, layout)
        self._frequencies: dict[str, float] = {}

    def begin(self, start: StepStart) -> None:
        super().begin(replace(start, acting=None))
        for keeper in self._keepers:
            keeper.begin(start.step)

    def rows(self, rows: Rows) -> None:
        super().rows(rows)
        for keeper in self._keepers if len(rows.increment) else ():
            keeper.add(rows)

    def modes(self, modes: Modes) -> None:
        self._frequencies |= modes.by_name

    def frequencies(self) -> list[float]:
        """Of the modes of the layout; NaN where there is none."""
        return [self._frequencies.get(frequency_name(*mode), np.nan) for mode in self._layout.modes]

    def row(self) -> Row:
        """Values in the order of ``Layout.columns``; NaN where there is none."""
        totals = self.totals
        is_begun = bool(totals.energies)
        energies = [totals.energies.get(name, np.nan) for name in ENERGIES]
        energies.append(totals.largest_energy_error if is_begun else np.nan)
        watched, *recorded = (keeper.columns() for keeper in self._keepers)
        kept = np.concatenate([watched, self.frequencies(), *recorded]).tolist()
        counts = [getattr(totals, name) for name in TOTALS]
        return (*counts, totals.time if is_begun else np.nan, *energies, *kept)


def rows_of_lanes(model: Model, layout: Layout, marched: Marched) -> Floats:
    """(lanes, c) ``RowSink.row`` of models that marched a whole step side by side: of all rows where some are recorded,
    else of the extremes."""
    rows, before = marched.rows, RowSink(model, layout)
    parts = (rows,) if layout.record else extremes_in(rows)
    marched.before.tell(before)
    lanes = rows.kinetic.shape[1:]
    keepers = keepers_of(model, layout, lanes)
    for keeper in keepers:
        marched.before.tell(InLanes(keeper, lanes))
        keeper.begin(rows.step)
        keeper.add(*parts)
    end = [getattr(parts[0], name)[-1] for name in ("time", *ENERGIES)]
    errors = [np.abs(error) for part in parts for error in part.energy_error]
    largest = np.fmax.reduce([*errors, np.full(lanes, before.totals.largest_energy_error)])
    own = zip(TOTALS, (marched.counts, marched.solves, np.zeros(1)), strict=True)
    counts = [np.resize(each, lanes) + getattr(before.totals, name) for name, each in own]
    watched, *recorded = (keeper.columns() for keeper in keepers)
    frequencies = [np.full(lanes, frequency) for frequency in before.frequencies()]
    found = np.concatenate([[*counts, *end, largest, *watched, *frequencies], *recorded])
    return np.ascontiguousarray(found.reshape(len(found), -1).T)
