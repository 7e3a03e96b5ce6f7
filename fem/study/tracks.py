"""Numbers over time, computed (if a whole ``History`` would be too large or is not needed) or measured.

Measurements have columns named as in the tables: ``time, T_e12, U3_n5``; statistics as in ``sweep.csv``:
``T_e12_max``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints, Say
from fem.errors import CommandError, proposal
from fem.model import Model
from fem.model.named import PRINTS, WORDS, Named, item_named, labels_of, names_of, number_named, split
from fem.model.quantities import ELEMENTAL, ENERGIES, NODAL
from fem.runner import drive
from fem.runs.console import RunProgress
from fem.runs.history import History
from fem.runs.progress import Progress, shown
from fem.runs.record import Event, Modes, Requests, Response, Rows, SilentSink
from fem.runs.run_record import Timing
from fem.runs.signals import Signals, labels_printed
from fem.runs.tables import header_variables, printed_of
from fem.show.series import Series
from fem.study.points import read_numbers
from fem.study.question import Question, Row
from fem.study.row import STATISTICS, Record

TRACKED = {"n": NODAL[:4], "e": ELEMENTAL[:4]}
BESIDE = ("FV", "FA", "FE", "TE", "T2", "PE", "PEEQ")
"""Derived quantities that have error bars in tables, too: of water, of ends of lines, of second ends of ropes, of bars
that yield."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Rows (k,) of a run with some numbers (k, c), ``U1_n2``, ``T_e1``, ``kinetic``; its modes and events, and what it
    prints of harmonic motions."""

    model: Model
    names: tuple[str, ...]
    step: Ints
    time: Floats
    dt: Floats
    values: Floats
    modes: tuple[Modes, ...]
    events: tuple[Event, ...]
    responses: tuple[Response, ...] = ()

    def of_step(self, step: int) -> Flags:
        return np.equal(self.step, step)

    @property
    def frequencies(self) -> dict[str, float]:
        """Natural frequencies by their names in sweeps."""
        return {name: value for modes in self.modes for name, value in modes.by_name.items()}

    @property
    def event_times(self) -> dict[str, float]:
        """``1:slack_e5``: the time of the first event of this kind, of an element or a node."""
        counts: dict[str, int] = {}
        found = {}
        for event in self.events:
            if event.event == "cutback":
                continue
            name = str(Named(event.event, *(("e", event.element) if event.element else ("n", event.node))))
            counts[name] = counts.get(name, 0) + 1
            found[f"{counts[name]}:{name}"] = event.time
        return found


@dataclass(eq=False)
class SeriesSink(SilentSink):
    """Keeps some numbers of a run over time, its frequencies, harmonic motions and events.

    halves  element -> its other half in a finer model: the mean of both is used
    every   increments 0, k, 2k, ... are kept, and the last one of a step
    """

    model: Model
    names: tuple[str, ...]
    halves: Mapping[int, int] = field(default_factory=dict)
    every: int = 1
    modes_found: list[Modes] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    parts: list[tuple[Ints, Floats, Floats, Floats]] = field(default_factory=list)

    def __post_init__(self) -> None:
        numbers = list(map(number_named, self.names))
        (self.halved,) = np.nonzero([each.kind == "e" and each.label in self.halves for each in numbers])
        others = [numbers[place]._replace(label=self.halves[numbers[place].label]) for place in self.halved]
        self.signals = Signals(self.model, numbers + others)

    def rows(self, rows: Rows) -> None:
        kept = rows.increment % self.every == 0
        kept[-1:] |= rows.is_end
        if not kept.any():
            return
        chosen, count = slice(None) if kept.all() else kept, len(self.names)
        values, others = np.split(self.signals.of(rows.values(self.model))[chosen], [count], axis=1)
        values[:, self.halved] = 0.5 * (values[:, self.halved] + others)
        time = rows.time[chosen].copy()
        self.parts.append((np.full(len(time), rows.step), time, rows.dt[chosen].copy(), values))

    def modes(self, modes: Modes) -> None:
        self.modes_found.append(modes)

    def event(self, event: Event) -> None:
        self.events.append(event)

    def response(self, response: Response) -> None:
        self.responses.append(printed_of(response, self.model))

    def track(self) -> Track:
        empty = [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros((0, len(self.names))))]
        *rows, parts = zip(*(self.parts or empty), strict=True)
        values = np.empty((sum(map(len, parts)), len(self.names)), order="F")  # it is read column by column
        np.concatenate(parts, out=values)
        step, time, dt = map(np.concatenate, rows)
        beside = tuple(self.modes_found), tuple(self.events), tuple(self.responses)
        return Track(self.model, self.names, step, time, dt, values, *beside)


def tracked(model: Model, names: Sequence[str], solver: str = "AUTO", progress: Progress = False) -> Track:
    """Runs a model and keeps some numbers. Raises the errors of ``fem.run``."""
    sink = SeriesSink(model, tuple(names))
    beside = [RunProgress(model, partial(shown, progress))] if progress else []
    drive(model, Requests(solver, record_all=True, fields=False), None, Timing(), None, sink, *beside)
    return sink.track()


def track_of(history: History, names: Sequence[str] | None = None) -> Track:
    """Some or all numbers of a run, from those of ``every_name``."""
    names = every_name(history.model) if names is None else tuple(names)
    values = Signals(history.model, list(map(number_named, names))).of(history.values)
    return Track(history.model, names, history.step, history.time, history.dt, values, history.modes, history.events)


def table_names(model: Model) -> tuple[str, ...]:
    """Names of ``every_name`` and ``BESIDE`` in the tables: of nodes and elements that some step prints, and of the
    whole model."""
    found = list[str]()
    for kind, cards in PRINTS.items():
        known = {*BESIDE, *(quantity.name for quantity in TRACKED[kind])}
        columns = [column for name, its in header_variables(model, cards).items() if name in known for column in its]
        found += names_of(kind, columns, labels_printed(model, kind).tolist())
    return *found, *ENERGIES


def every_name(model: Model) -> tuple[str, ...]:
    """U, V, A and RF of all nodes, E, S, N and T of all elements, energies."""
    found = list[str]()
    for kind, table in TRACKED.items():
        columns = [column for quantity in table for column in quantity.columns]
        found += names_of(kind, columns, labels_of(model.mesh, kind).tolist())
    return *found, *ENERGIES


TIME = "time"
Given: TypeAlias = "str | Path | Mapping[str, Any] | tuple[str | Path | Mapping[str, Any], Mapping[str, float]]"
"""A record as ``fem.fit`` takes it: a CSV file or columns by name; in a pair with the parameters of its run."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Measurements of one run.

    name     of its file, or its place in the list;  parameters: ``*PARAMETER`` values of its run alone
    columns  names; ``T_e12`` is a series, ``T_e12_max`` a statistic
    time     (k,) of the series, (0,) where all columns are statistics;  values (k, c), of statistics (1, c)
    places   (k,) place of each row, for messages
    """

    name: str
    parameters: Mapping[str, float]
    columns: tuple[str, ...]
    time: Floats
    values: Floats
    places: tuple[str, ...]

    def check(self, model: Model, step: int | None) -> None:
        """CommandError: a node or element is not in the model of its run, or a time is not in this run."""
        for name in self.columns:
            _, kind, label = item_named(split(name, STATISTICS)[0])
            if label not in (labels := labels_of(model.mesh, kind).tolist()):
                missing, near = f"{WORDS[kind]} {label}", min(labels, key=lambda other: abs(other - label))
                raise CommandError(f"{self.name}: {name}: the deck has no {missing}; the nearest label is {near}")
        last = length_of(model, step)
        outside = (self.time < 0.0) | (self.time > last * (1.0 + 1e-9))
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise CommandError(
                f"{self.places[row]}: time {self.time[row]:.9g} is outside the run, which lasts from 0 to {last:.9g}; "
                "--step N counts times from the start of step N"
            )


def spelled(name: str, place: str) -> str:
    """A column in the spelling of tables. CommandError: it is unknown."""
    series, _ = split(name, STATISTICS)
    try:
        return str(item_named(series)) + name[len(series) :]
    except CommandError as error:
        raise CommandError(f"{place}: {error}, or a statistic of it, T_e12_max") from None


def length_of(model: Model, step: int | None) -> float:
    """Time that a run, or a step, lasts. CommandError: no such step."""
    periods = [0.0 if one.small_motion else one.procedure.period for one in model.steps]
    if step is not None and step > len(periods):
        raise CommandError(f"--step {step}: the deck has {len(periods)} step{'s' * (len(periods) != 1)}")
    return sum(periods) if step is None else periods[step - 1]


def series_of(
    name: str, names: Sequence[str], values: Floats, heads: Sequence[str], rows: Sequence[str],
    own: Mapping[str, float], say: Say,
) -> Measured:  # fmt: skip
    """A record of columns over time; rows with gaps (NaN) are left out, and told. CommandError: no time, no number over
    time, or time does not rise."""
    if TIME not in names:
        raise CommandError(f"{heads[0]}: the column {TIME} is missing; {proposal(TIME, names)}")
    if np.isinf(values).any():
        row, at = (int(index[0]) for index in np.nonzero(np.isinf(values)))
        raise CommandError(f"{rows[row]}: {names[at]} is {values[row, at]}; expected a finite number")
    gaps: Flags = np.any(np.isnan(values), axis=1)
    if gaps.all():
        raise CommandError(f"{heads[0]}: every row has a gap; give columns of other times records of their own")
    if gaps.any():
        first, count = rows[int(gaps.argmax())], int(gaps.sum())
        say(f"{name}: {count} of {len(rows)} rows have gaps and are left out, the first at {first}")
        values, rows = values[~gaps], [row for row, gap in zip(rows, gaps.tolist(), strict=True) if not gap]
    at = list(names).index(TIME)
    wanted = [n for n in range(len(names)) if n != at]
    columns = tuple(spelled(names[n], heads[n]) for n in wanted)
    for place, column in zip(wanted, columns, strict=True):
        if split(column, STATISTICS)[1]:
            raise CommandError(f"{heads[place]}: {column} is a number for a whole run; list such records with --cases")
    if not columns:
        raise CommandError(f"{heads[0]}: there is no column besides {TIME}; expected T_e12, U3_n5 or others")
    time = values[:, at]
    if (falls := np.flatnonzero(np.diff(time) <= 0.0)).size:
        row = int(falls[0]) + 1
        raise CommandError(f"{rows[row]}: time {time[row]:.9g} is not after {time[row - 1]:.9g}; times have to rise")
    return Measured(name, own, columns, time, values[:, wanted], tuple(rows))


def read_record(given: Given, number: int, say: Say) -> Measured:
    """One record: a file, or columns by name; ``number``: its place in the list; ``say`` is told what is left out."""
    source, own = given if isinstance(given, tuple) else (given, {})
    if not isinstance(source, Mapping):
        names, values, heads, rows = read_numbers(source, say)
        return series_of(Path(source).name, names, values, heads, rows, own, say)
    name = f"record {number}"
    table = {str(key): np.asarray(column, float).ravel() for key, column in source.items()}
    if len({len(column) for column in table.values()}) != 1:
        raise CommandError(f"{name}: its columns differ in length, or there are none")
    values = np.column_stack(list(table.values()))
    places = [f"{name}, row {row}" for row in range(1, len(values) + 1)]
    return series_of(name, list(table), values, [name] * len(table), places, own, say)


def read_cases(path: str | Path) -> list[Measured]:
    """A table of records: a line for each run, with its parameters and its statistics (``T_e12_max``)."""
    names, values, heads, rows = read_numbers(path)
    columns = [n for n, name in enumerate(names) if split(name, STATISTICS)[1]]
    own = [n for n in range(len(names)) if n not in columns]
    if not columns:
        raise CommandError(f"{heads[0]}: no column is a statistic such as T_e12_max (one of {', '.join(STATISTICS)})")
    measured = tuple(spelled(names[n], heads[n]) for n in columns)
    return [
        Measured(place, {names[n]: float(row[n]) for n in own}, measured, np.zeros(0), row[columns][None], (place,))
        for place, row in zip(rows, values, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Observed(Question):
    """Computed values for a record: series at its times, or statistics from ``start`` on.

    step   times are counted from the start of this step, and only its values are used; None: total times, all steps
    start  a time, or the ``*PARAMETER`` that holds it
    """

    names: tuple[str, ...]
    time: Floats
    step: int | None = None
    start: float | str = -np.inf
    kind: ClassVar[str] = "fit"

    def columns(self) -> list[str]:
        return list(self.names) * max(1, len(self.time))

    def row(self, model: Model, point: int) -> Row:
        """Values in the order of the record; raises the errors of ``fem.run``."""
        return tuple(self.of(tracked(model, self.series)).tolist())

    @property
    def series(self) -> tuple[str, ...]:
        """The numbers over time that it is made of."""
        return tuple(dict.fromkeys(split(name, STATISTICS)[0] for name in self.names))

    def of(self, track: Track) -> Floats:
        """Values in the order of the record."""
        return np.column_stack([self.observed(name, track) for name in self.names]).ravel()

    def observed(self, name: str, track: Track) -> Floats:
        """(k,) a column; (1,) a statistic."""
        own, what = split(name, STATISTICS)
        values = track.values[:, track.names.index(own)]
        steps = [self.step] if self.step else np.unique(track.step).tolist()
        parts = [(track.time[rows], values[rows]) for rows in map(track.of_step, steps)]
        origin = parts[0][0][0] if self.step else 0.0
        if not what:
            return interpolated(self.time + origin, parts)
        start = self.start if isinstance(self.start, float) else track.model.parameters[self.start]
        time, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        late = time >= start + origin
        if not late.any():
            raise CommandError(f"{name}: the run has no values from time {start:g} on")
        kept = Series(name, np.zeros(np.count_nonzero(late)), time[late], values[late])
        return np.array([Record(own).numbers(kept)[STATISTICS.index(what)]])


def interpolated(time: Floats, parts: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Values at some times, by a cubic spline through the increments of each step (a time at which two steps meet
    belongs to the earlier one)."""
    from scipy.interpolate import CubicSpline

    found, is_open = np.full(len(time), np.nan), np.ones(len(time), bool)
    for its, values in parts:
        its, first = np.unique(its, return_index=True)
        chosen: Flags = is_open & (time <= its[-1] + 1e-9 * abs(its[-1]))
        if chosen.any():
            values = values[first]
            found[chosen] = CubicSpline(its, values)(time[chosen]) if len(its) > 1 else values[-1]
        is_open &= ~chosen
    return found
