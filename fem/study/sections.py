"""Stroboscopic (Poincare) sections: the state once per period of the excitation, and the period of the motion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats, without_kind
from fem.deck import read_model
from fem.errors import CommandError, FemError
from fem.model import Model, shortened
from fem.model.named import item_named, members_named, names_of, set_named
from fem.model.notices import held_dofs
from fem.runs.console import RunProgress
from fem.runs.progress import Progress, shown
from fem.runs.record import Requests, Rows, SilentSink, StepStart
from fem.runs.schedule import Schedule
from fem.solve.loop import solve
from fem.study.question import Question, Row
from fem.study.trajectory import lasting, motion_of

CYCLES, POINTS, TRACK = 400, 128, 16
"""Total number of periods; points of the section in the last ones; last periods whose whole motion is kept."""
LONGEST = 32
"""The longest period that is tried, in periods of the excitation."""
SAME = 1e-3
"""Points closer than this fraction of the range of the motion are the same."""
WHOLE = 1e-6
LOOK = 8
"""Number of first periods in which the displacement with the largest range is chosen."""
NO_NODES = "the last step prints no nodes: request *NODE PRINT of the nodes for the section"


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """States of the printed nodes.

    columns        names ``U1_2`` (displacement 1 of node 2), ``V1_2``, ... of the columns of what follows
    time, points   (p,), (p, c)  once in every period of the drive
    track_time, track (k,), (k, c)   all increments of the last periods
    reference      (c,) coordinates that displacements are measured from; 0 for velocities
    period         in periods of the drive; 0: none up to ``LONGEST`` (aperiodic)
    forces         ``T_1`` -> (p,), (k,) the same of the forces along printed elements
    """

    columns: tuple[str, ...]
    time: Floats
    points: Floats
    track_time: Floats
    track: Floats
    reference: Floats
    period: int
    forces: Mapping[str, tuple[Floats, Floats]]

    def __repr__(self) -> str:
        kind = f"period {self.period}, in periods of the excitation" if self.period else "aperiodic"
        return f"Section of {len(self.time)} points, {kind}: {shortened(', '.join(self.columns))}"

    def of(self, column: str) -> Floats:
        """(p,) one column of the points."""
        return self.points[:, self._place(column)]

    def motion_of(self, column: str) -> Floats:
        """(k,) the same at all increments of the last periods."""
        return self.track[:, self._place(column)]

    def largest(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """(p,), (k,) the largest of some columns or forces, at each point and at all increments."""
        found = [self.forces.get(each) or (self.of(each), self.motion_of(each)) for each in columns]
        points, tracks = zip(*found, strict=True)
        return np.maximum.reduce(points), np.maximum.reduce(tracks)

    def _place(self, column: str) -> int:
        column = without_kind(column.upper())
        if column not in self.columns:
            raise CommandError(f"the section has no column {column}; it has {', '.join(self.columns)}")
        return self.columns.index(column)


def columns_of(labels: Iterable[int]) -> tuple[str, ...]:
    return tuple(names_of("", ["U1", "U2", "U3", "V1", "V2", "V3"], labels))


def moving_most(model: Model, sections: Iterable[Section]) -> str:
    """The displacement with the largest range in some motions of a model; prescribed ones only if all are."""
    held, ranges = held_dofs(model), dict[str, tuple[bool, float]]()
    for section in sections:
        for name, reach in zip(section.columns, np.ptp(section.track, axis=0).tolist(), strict=True):
            if (number := item_named(name)).family == "U":
                is_free = not held[model.mesh.nodes_of(number.label)[0], number.axis]
                ranges[name] = max((is_free, reach), ranges.get(name, (is_free, 0.0)))
    return max(ranges, key=lambda name: ranges[name])


def columns_named(model: Model, what: str) -> list[str]:
    """The columns or forces of a section that a name is the largest of: one, or those of a set."""
    return [without_kind(str(each)) for each in members_named(model.mesh, what)]


def check_column(model: Model, what: str) -> str:
    """The column. CommandError, before anything is computed: the last step prints no nodes, or no such column.
    what        as ``U1_n2``, ``T_e1``, ``T_TOPS`` (at each instant the largest in a set); empty: the one with the
                largest range"""
    schedule, mesh = Schedule(model, len(model.steps) - 1, 0.0, None, False), model.mesh
    if not len(schedule.nodes):
        raise CommandError(NO_NODES)
    known = columns_of(mesh.node_labels[schedule.nodes].tolist())
    known += tuple(names_of("", ["T"], mesh.element_labels[schedule.elements].tolist()))
    column = without_kind(what.upper())
    names = {each: each for each in columns_named(model, column)} if set_named(column) else {column: what}
    if what and (missing := [named for name, named in names.items() if name not in known]):
        raise CommandError(f"the last step of the deck prints no {missing[0]}; it prints {shortened(', '.join(known))}")
    return column


def chosen_column(model: Model, period: float | str | None, what: str) -> str:
    """``what``, or, if that is empty, the printed displacement with the largest range in the first periods of a motion;
    the first one if there is no such motion. CommandError: as in ``check_column``."""
    if column := check_column(model, what):
        return column
    with suppress(FemError):
        return moving_most(model, [Sections(period, LOOK, 2).section(model)])
    schedule = Schedule(model, len(model.steps) - 1, 0.0, None, False)
    return columns_of(model.mesh.node_labels[schedule.nodes].tolist())[0]


def period_of(points: Floats, spread: Floats) -> int:
    """Smallest p such that every point (rows) returns after p of them; 0 where there is none.
    spread  (c,) range of the motion in each column; those without motion are not looked at"""
    moving = spread > 1e-9 * spread.max(initial=0.0)
    scaled = points[:, moving] / spread[moving]
    for p in range(1, min(LONGEST, len(points) // 2) + 1):
        if np.abs(scaled[p:] - scaled[:-p]).max(initial=0.0) <= SAME:
            return p
    return 0


def drive_period(model: Model) -> float:
    """Period of the only PERIODIC amplitude of a deck, or the longest where all are multiples of one frequency."""
    found = sorted({a.omega for a in model.amplitudes.values() if a.definition == "PERIODIC"})
    if not found:
        raise CommandError(
            "this deck has no periodic excitation (*AMPLITUDE, DEFINITION=PERIODIC). Where a table or waves excite the "
            "model, give their period with --period; for a system without excitation, fem run shows the free motion "
            "and *FREQUENCY the modes"
        )
    ratios = np.array(found) / found[0]
    if np.abs(ratios - ratios.round()).max() > WHOLE:
        raise CommandError("the PERIODIC amplitudes of the deck have no common period: give one with --period")
    return 2.0 * math.pi / found[0]


def strobe(model: Model, period: float | str | None) -> tuple[float, int]:
    """Time between two points of a section, and the increments in it.
    period  a time, the name of a ``*PARAMETER`` that is one, or None: that of the deck's PERIODIC amplitude"""
    if isinstance(period, str):
        named = {name.upper(): value for name, value in model.parameters.items()}
        if not named.get(period.upper(), 0.0) > 0.0:
            raise CommandError(
                f"the period {period} is neither a positive time nor a *PARAMETER of the deck with such a value"
            )
        period = named[period.upper()]
    period = drive_period(model) if period is None else period
    procedure = motion_of(lasting(model, None))
    every = round(period / procedure.dt) if procedure.dt > 0.0 else 0
    if not procedure.direct or every < 1 or abs(every * procedure.dt - period) > WHOLE * procedure.dt * every:
        raise CommandError(
            f"the increments ({procedure.dt:.9g}) do not divide the period of the section ({period:.9g}): use "
            "*DYNAMIC, DIRECT with a whole number of increments per period"
        )
    return period, every


class SectionSink(SilentSink):
    """Collects states in the last step of a run. ``beside``: who also hears of the run."""

    beside: SilentSink | None = None

    def __init__(self, model: Model, every: int, cycles: int, points: int) -> None:
        """Periods of ``every`` increments, so many of them in all, of which the last ones give so many points."""
        self.model, self.step, self.every = model, len(model.steps), every
        self.first, self.track = (every * (cycles - count) for count in (points - 1, min(TRACK, cycles)))
        self.points: list[Floats] = []
        self.tracks: list[Floats] = []
        self.nodes = self.elements = np.zeros(0, np.int64)

    def begin(self, start: StepStart) -> None:
        if self.beside is not None:
            self.beside.begin(start)

    def rows(self, rows: Rows) -> None:
        """Keeps the rows that are needed: time, then u and v of each node, then T of each element."""
        if self.beside is not None:
            self.beside.rows(rows)
        if rows.step != self.step or not len(rows.increment):
            return
        self.nodes, self.elements = rows.nodes, rows.elements
        values = rows.values(self.model)
        state = np.concatenate([values["n"]["U"], values["n"]["V"]], axis=2)
        table = np.column_stack([rows.time, state.reshape(len(rows.time), 6 * len(rows.nodes)), values["e"]["T"]])
        due = (rows.increment % self.every == 0) & (rows.increment >= self.first)
        self.points.append(table[due])
        self.tracks.append(table[rows.increment >= self.track])

    def section(self) -> Section:
        """The section, after the run. CommandError: no nodes are printed."""
        if not len(self.nodes):
            raise CommandError(NO_NODES)
        points, tracks, mesh = np.concatenate(self.points), np.concatenate(self.tracks), self.model.mesh
        labels = mesh.node_labels[self.nodes].tolist()
        columns = columns_of(labels)
        end = 1 + len(columns)
        pulls = names_of("", ["T"], mesh.element_labels[self.elements].tolist())
        forces = dict(zip(pulls, zip(points[:, end:].T, tracks[:, end:].T, strict=True), strict=True))
        points, tracks = points[:, :end], tracks[:, :end]
        found = period_of(points[:, 1:], np.ptp(tracks[:, 1:], axis=0))
        places = mesh.coordinates[self.nodes]
        reference = np.concatenate([places, np.zeros_like(places)], axis=1).ravel()
        return Section(columns, points[:, 0], points[:, 1:], tracks[:, 0], tracks[:, 1:], reference, found, forces)


@dataclass(frozen=True, slots=True)
class Sections(Question):
    """Settings of ``sections``; the rows of a sweep make a bifurcation diagram.

    what  column of ``Section`` that a sweep keeps, or the largest in a set (``T_TOPS``); empty: the displacement with
          the largest range in each motion
    """

    period: float | str | None = None
    cycles: int = CYCLES
    points: int = POINTS
    what: str = ""
    kind: ClassVar[str] = "sections"
    figures: ClassVar[tuple[str, ...]] = ("points.csv", "bifurcation.png", "peaks.png")
    counts: ClassVar[tuple[str, ...]] = ("period",)

    def __post_init__(self) -> None:
        if not 2 <= self.points <= self.cycles:
            raise CommandError(
                f"a section of {self.points} points is not possible: from 2 to {self.cycles} points (one per cycle) are"
            )

    @property
    def settings(self) -> Mapping[str, Any]:
        return {f"section {each.name}": getattr(self, each.name) for each in fields(self)}

    def columns(self) -> list[str]:
        """``period`` in periods of the drive (0: aperiodic), the range of ``what``, its values in the section."""
        return ["period", "least", "greatest", *(f"point_{n}" for n in range(1, self.points + 1))]

    def decided(self, model: Model) -> Sections:
        """The settings with the one column that all rows of a sweep keep, chosen from a motion of this model."""
        return replace(self, what=chosen_column(model, self.period, self.what))

    def section(self, model: Model, progress: Progress = False) -> Section:
        """Section of one model. CommandError: no such motion, or increments that do not divide the period."""
        period, every = strobe(model, self.period)
        model = lasting(model, self.cycles * period)
        sink = SectionSink(model, every, self.cycles, self.points)
        sink.beside = beside = RunProgress(model, partial(shown, progress)) if progress else SilentSink()
        try:
            solve(model, sink, Requests(fields=False))
        finally:
            beside.close()
        return sink.section()

    def row(self, model: Model, point: int) -> Row:
        section = self.section(model)
        values, track = section.largest(columns_named(model, self.what or moving_most(model, [section])))
        return (section.period, float(track.min()), float(track.max()), *values.tolist())


def sections(
    deck: str | Path | Model,
    *,
    parameters: Mapping[str, float] | None = None,
    period: float | str | None = None,
    cycles: int = CYCLES,
    points: int = POINTS,
    progress: Progress = False,
) -> Section:
    """The states of the printed nodes once in every period of the excitation, in the last step of a deck.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``
    period      time between two points, or the name of its ``*PARAMETER``; None: that of the deck's PERIODIC amplitude
    cycles      total number of periods; points: number of points of the section, in the last periods
    progress    as for ``run``

    Raises
    ------
    CommandError   the deck has no such motion, or its increments do not divide the period.
    NoConvergence  an increment did not converge.

    >>> found = sections("inputs/string_pendulum_rigid.inp", parameters={"A": 4.0}, cycles=100, points=20)
    >>> found.period, found.of("U1_2").shape
    (1, (20,))
    """
    return Sections(period, cycles, points).section(read_model(deck, parameters), progress)
