"""Records of measurements: series over time, or statistics of runs, with the parameters of the run they belong to.

Columns are named as in the tables of ``fem``: ``time, T_e12, U3_n5``; statistics as in ``sweep.csv``: ``T_e12_max``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats
from fem.errors import CommandError, proposal
from fem.model import Model, Perturbation
from fem.show.series import Series, number_of
from fem.study.points import read_numbers
from fem.study.question import Question, Row
from fem.study.row import STATISTICS, Record
from fem.study.tracks import Track, tracked

TIME = "time"
Given: TypeAlias = "str | Path | Mapping[str, Any] | tuple[str | Path | Mapping[str, Any], Mapping[str, float]]"
"""A record as ``fem.fit`` takes it: a CSV file or columns by name; in a pair with the parameters of its run."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Measurements of one run.

    name        of its file, or its place in the list
    parameters  ``*PARAMETER`` values of its run alone
    columns     names; ``T_e12`` is a series, ``T_e12_max`` a statistic
    time        (k,) of the series; (0,) where all columns are statistics
    values      (k, c) of the columns; (1, c) of statistics
    places      (k,) where each row stands, for messages
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
            _, kind, label = number_of(split(name)[0])
            labels = (model.mesh.element_labels if kind == "e" else model.mesh.node_labels).tolist()
            if label not in labels:
                what = "element" if kind == "e" else "node"
                near = min(labels, key=lambda other: abs(other - label))
                raise CommandError(f"{self.name}: {name}: the deck has no {what} {label}; the nearest label is {near}")
        last = length_of(model, step)
        outside = (self.time < 0.0) | (self.time > last * (1.0 + 1e-9))
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise CommandError(
                f"{self.places[row]}: time {self.time[row]:.9g} is outside the run, which lasts from 0 to {last:.9g}; "
                "--step N counts times from the start of step N"
            )


def split(name: str) -> tuple[str, str]:
    """Series and statistic that a column names; the statistic is empty for the series itself."""
    series, _, what = name.rpartition("_")
    return (series, what) if what in STATISTICS else (name, "")


def spelled(name: str, place: str) -> str:
    """A column as tables spell it. CommandError: it names nothing."""
    series, what = split(name)
    try:
        column, kind, label = number_of(series)
    except CommandError as error:
        raise CommandError(f"{place}: {error}, or a statistic of it, T_e12_max") from None
    return f"{column}_{kind}{label}" + (f"_{what}" if what else "")


def length_of(model: Model, step: int | None) -> float:
    """Time that a run, or a step, lasts. CommandError: no such step."""
    periods = [0.0 if isinstance(one.procedure, Perturbation) else one.procedure.period for one in model.steps]
    if step is not None and step > len(periods):
        raise CommandError(f"--step {step}: the deck has {len(periods)} step{'s' * (len(periods) != 1)}")
    return sum(periods) if step is None else periods[step - 1]


def series_of(
    name: str, names: Sequence[str], values: Floats, heads: Sequence[str], rows: Sequence[str], own: Mapping[str, float]
) -> Measured:
    """A record of columns over time. CommandError: no time, no number over time, or time does not rise."""
    if TIME not in names:
        raise CommandError(f"{heads[0]}: the column {TIME} is missing; {proposal(TIME, names)}")
    if not np.isfinite(values).all():
        row, at = (int(index[0]) for index in np.nonzero(~np.isfinite(values)))
        raise CommandError(f"{rows[row]}: {names[at]} is {values[row, at]}; expected a finite number")
    at = list(names).index(TIME)
    wanted = [n for n in range(len(names)) if n != at]
    columns = tuple(spelled(names[n], heads[n]) for n in wanted)
    for place, column in zip(wanted, columns, strict=True):
        if split(column)[1]:
            raise CommandError(f"{heads[place]}: {column} is a number for a whole run; list such records with --cases")
    if not columns:
        raise CommandError(f"{heads[0]}: there is no column besides {TIME}; expected T_e12, U3_n5 or others")
    time = values[:, at]
    if (falls := np.flatnonzero(np.diff(time) <= 0.0)).size:
        row = int(falls[0]) + 1
        raise CommandError(f"{rows[row]}: time {time[row]:.9g} is not after {time[row - 1]:.9g}; times have to rise")
    return Measured(name, own, columns, time, values[:, wanted], tuple(rows))


def read_record(given: Given, number: int) -> Measured:
    """One record: a file, or columns by name; ``number``: its place in the list."""
    source, own = given if isinstance(given, tuple) else (given, {})
    if not isinstance(source, Mapping):
        names, values, heads, rows = read_numbers(source)
        return series_of(Path(source).name, names, values, heads, rows, own)
    name = f"record {number}"
    table = {str(key): np.asarray(column, float).ravel() for key, column in source.items()}
    if len({len(column) for column in table.values()}) != 1:
        raise CommandError(f"{name}: its columns differ in length, or there are none")
    values = np.column_stack(list(table.values()))
    places = [f"{name}, row {row}" for row in range(1, len(values) + 1)]
    return series_of(name, list(table), values, [name] * len(table), places, own)


def read_cases(path: str | Path) -> list[Measured]:
    """A table of records: a line for each run, with its parameters and its statistics (``T_e12_max``)."""
    names, values, heads, rows = read_numbers(path)
    is_measured = [bool(split(name)[1]) for name in names]
    columns = [n for n, is_one in enumerate(is_measured) if is_one]
    own = [n for n, is_one in enumerate(is_measured) if not is_one]
    if not columns:
        raise CommandError(f"{heads[0]}: no column is a statistic such as T_e12_max (one of {', '.join(STATISTICS)})")
    measured = tuple(spelled(names[n], heads[n]) for n in columns)
    return [
        Measured(place, {names[n]: float(row[n]) for n in own}, measured, np.zeros(0), row[columns][None], (place,))
        for place, row in zip(rows, values, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Observed(Question):
    """What a run says in place of a record: series at its times, or statistics from ``start`` on.

    step   times count from the start of this step, and only its values count; None: total times, all steps
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
        """Values row by row of the record; raises what ``fem.run`` raises."""
        series = tuple(dict.fromkeys(split(name)[0] for name in self.names))
        track = tracked(model, series)
        found = np.column_stack([self.observed(name, track, series) for name in self.names])
        return tuple(found.ravel().tolist())

    def observed(self, name: str, track: Track, series: Sequence[str]) -> Floats:
        """(k,) a column; (1,) a statistic."""
        own, what = split(name)
        values = track.values[:, list(series).index(own)]
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
