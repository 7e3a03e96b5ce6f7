"""Basins of attraction: the attractor that each initial state of a sweep reaches, and all attractors found.

Runs end once their stroboscopic section repeats, singly or in lanes. A section consists of positions (not angles, so
that rotations repeat) and velocities of the printed nodes. It has settled if its last max(p, ``FEWEST``) points lie
within ``CLOSE`` tolerances of those p before, for some p; its period is the smallest one at which they repeat within
the tolerance. After the last cycle it is the period of the last ``WINDOW`` points, or 0 (aperiodic).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import CommandError, FemError, ModelError
from fem.forces.bar import INV_LENGTH
from fem.forces.laws import LEG
from fem.model import InitialCondition, Model
from fem.model.named import names_of
from fem.runs.record import SilentSink
from fem.solve.rods import SAME_LENGTH
from fem.solve.rope_states import ropes_of
from fem.study.lanes.pack import Sample, follow_one_curve
from fem.study.lanes.run import gather, march_samples
from fem.study.question import Job, Question, Row, models_of
from fem.study.row import layout_of
from fem.study.sections import LONGEST, SAME, period_of, strobe
from fem.study.sweep import Plan, Sweep
from fem.study.trajectory import Trajectory, advance_to, halved, lasting, size_of

ROUND = 10
"""Number of periods between two checks of the sections."""
FEWEST, CLOSE, WINDOW = 3, 1e-3, 2 * LONGEST
ONE_IN, SEED = 20, 20120612
"""One start of this many, chosen at random but always the same, is repeated at dt/2: a tenth of the work."""
ALIKE = 1e-9
"""Loads are periodic if they repeat to this fraction of their largest value."""


@dataclass(frozen=True, slots=True)
class Settling(Question):
    """How each start runs, with ``labels`` of the printed nodes; other settings as ``basins`` has them.

    tolerance  of positions over the size L of the model, of velocities over 2 pi L per period
    again      repeat one start in ``ONE_IN`` at dt/2
    """

    labels: tuple[int, ...]
    period: float | str | None = None
    transient: int = 20
    cycles: int = 200
    tolerance: float = SAME
    again: bool = True
    kind: ClassVar[str] = "basins"
    figures: ClassVar[tuple[str, ...]] = ("basins.csv", "attractors.csv", "basins.png")
    counts: ClassVar[tuple[str, ...]] = ("period", "cycles")
    whole: ClassVar[tuple[str, ...]] = ("period_dt",)

    @property
    def state(self) -> list[str]:
        """Names of the coordinates of a point: positions and velocities."""
        return [*names_of("", ["COOR1", "COOR2", "COOR3"], self.labels), *names_of("", ["V1", "V2", "V3"], self.labels)]

    def columns(self) -> list[str]:
        """``period`` (0: aperiodic), how many cycles it took, and a point of the section that identifies the attractor.
        Then period and point at dt/2, of the starts that run again; empty of all others."""
        own, finer = ([f"period{end}", *(f"{name}{end}" for name in self.state)] for end in ("_point", "_dt"))
        return ["period", "cycles", *own[1:], *(finer if self.again else ())]

    def scale(self, model: Model) -> Floats:
        """(c,) size of the coordinates of a point."""
        size, count = size_of(model), 3 * len(self.labels)
        return np.repeat([size, size * 2.0 * math.pi / strobe(model, self.period)[0]], count)

    def row(self, model: Model, point: int) -> Row:
        row = self.alone(model)
        return self.joined(row, self.alone_at_half(model) if self.runs_again(point) else None)

    def alone(self, model: Model) -> Row:
        """The first half of a row, from a single run."""
        scale, points = self.scale(model), np.zeros((1, 0, 6 * len(self.labels)))
        for more in self.sections(model):
            points = np.concatenate([points, more], axis=1)
            if len(rows := self.settled(points, scale)):
                return rows[0]
        raise AssertionError("the last check settles all")

    def alone_at_half(self, model: Model) -> Row | None:
        """The same at dt/2; None: increments are not equal, or the run fails."""
        finer = halved(model)
        with suppress(Exception):
            return self.alone(finer) if finer else None
        return None

    def runs_again(self, point: int) -> bool:
        """Whether this start of the grid is repeated; the first one always is, so that every grid has one."""
        return self.again and point % ONE_IN == (chosen_in(point // ONE_IN) if point >= ONE_IN else 0)

    def joined(self, row: Row, finer: Row | None) -> Row:
        """A row with the result of the same start at dt/2, without its cycles; None: it was not repeated, or failed."""
        if not self.again:
            return row
        return (*row, *((finer[0], *finer[2:]) if finer else (math.nan,) * (1 + len(self.state))))

    def sections(self, model: Model) -> Iterator[Floats]:
        """(1, ``ROUND``, c) points of one model, round after round."""
        rounds = -(-self.cycles // ROUND)
        trajectory, every, chosen = self.opened(model, rounds * ROUND)
        refuse_stretched(trajectory)
        for _ in range(rounds):
            points = []
            for _ in range(ROUND):
                advance_to(trajectory.last, trajectory.progress.increment + every)
                motion = trajectory.progress.motion
                points.append(self.point(model, motion.u, motion.v, chosen))
            yield np.array(points)[None]

    def opened(self, model: Model, cycles: int) -> tuple[Trajectory, int, list[int]]:
        """A motion over a number of periods, the increments per period, the indices of the printed nodes."""
        period, every = strobe(model, self.period)
        trajectory = Trajectory(lasting(model, cycles * period), SilentSink())
        trajectory.open()
        return trajectory, every, [int(trajectory.system.nodes_of(label)[0]) for label in self.labels]

    def point(self, model: Model, u: Floats, v: Floats, nodes: Sequence[int]) -> Floats:
        """(c,) coordinates of a state (3n,)."""
        places, speeds = model.mesh.coordinates + u.reshape(-1, 3), v.reshape(-1, 3)
        return np.concatenate([places[nodes], speeds[nodes]]).ravel()

    def settled(self, points: Floats, scale: Floats) -> dict[int, Row]:
        """Rows of those of s starts (s, n, c) that have settled."""
        count, found = points.shape[1], dict[int, Row]()
        periods = np.zeros(len(points), np.int64)
        if count >= self.transient:
            periods = returning(points / scale, CLOSE * self.tolerance, self.tolerance)
        for start in range(len(points)):
            p = int(periods[start])
            if not p and count >= self.cycles:
                p = period_of(points[start, -WINDOW:], scale * self.tolerance / SAME)
            if p or count >= self.cycles:
                last = points[start, -max(p, 1) :]
                found[start] = (p, count, *last[furthest(last / scale)].tolist())
        return found

    def fits(self, model: Model) -> bool:
        return layout_of(model).nodes == self.labels

    def together(self, jobs: Sequence[Job], may_compile: bool) -> Mapping[int, Row]:
        """Rows of those starts that are computed in lanes, and of some of them at dt/2."""
        models = models_of(jobs)
        rows = self.in_lanes(models, may_compile)
        halves = {point: halved(models[point]) for point in rows if self.runs_again(point)}
        found = self.in_lanes({point: model for point, model in halves.items() if model}, may_compile)
        finer = {point: found.get(point) or self.alone_at_half(models[point]) for point in halves}
        return {point: self.joined(row, finer.get(point)) for point, row in rows.items()}

    def in_lanes(self, models: Mapping[int, Model], may_compile: bool) -> dict[int, Row]:
        """Rows of starts, by point, which end one by one; a round begins where the last ended."""
        one = next(iter(models.values()), None)
        if one is None:
            return {}
        try:
            period, every = strobe(one, self.period)
        except Exception:  # its own run will report it
            return {}
        procedure = one.steps[-1].procedure
        alike = [point for point, model in models.items() if model.steps[-1].procedure == procedure]
        numbers, samples, stage = gather([lasting(models[point], ROUND * period) for point in alike])
        if stage is None or not (follow_one_curve(samples) and recurs(samples[0], period, every, self.cycles)):
            return {}
        going, found = np.arange(len(samples)), dict[int, Row]()
        scale, chosen = self.scale(one), np.array([stage.system.nodes_of(label)[0] for label in self.labels])
        points = np.zeros((len(samples), 0, 6 * len(chosen)))
        while len(going):
            marching = [samples[start] for start in going]
            more, good = np.zeros((len(going), ROUND, points.shape[2])), np.zeros(len(going), np.bool_)
            for first, rows, well, _ in march_samples(stage, marching, every, True, may_compile):
                values = rows.values(stage.system.model)["n"]
                flat = (values[name].reshape(*values[name].shape[:-2], -1) for name in "UV")
                u, v = (np.moveaxis(each[..., : len(well)], -1, 0) for each in flat)
                part = slice(first, first + len(well))
                places = u + np.array([one.model.mesh.coordinates for one in marching[part]])[:, None]
                state = np.concatenate([places[:, 1:, chosen], v[:, 1:, chosen]], axis=2)
                more[part], good[part] = state.reshape(len(well), ROUND, -1), well
                for lane, start in enumerate(going[part]):
                    samples[start] = samples[start]._replace(u=u[lane, -1].ravel(), v=v[lane, -1].ravel())
            points = np.concatenate([points, more], axis=1)
            done = self.settled(points, scale)
            found |= {alike[numbers[going[start]]]: row for start, row in done.items() if good[start]}
            good[list(done)] = False
            going, points = going[good], points[good]
        return found


def chosen_in(part: int) -> int:
    """Index of the one of ``ONE_IN`` starts that is repeated."""
    return int(np.random.default_rng((SEED, part)).integers(ONE_IN))


def refuse_stretched(trajectory: Trajectory) -> None:
    """ModelError: a rod does not have its length. At a moving support it would be corrected in the first increment."""
    stage = trajectory.last.stage
    system, bars = stage.system, stage.bars
    rods = np.setdiff1d(bars.rods[bars.kinds[bars.rods, 0] < LEG], ropes_of(system))
    places = system.coordinates + trajectory.progress.motion.u.reshape(-1, 3)
    length = 1.0 / bars.constants[INV_LENGTH, rods]
    now = np.linalg.norm(np.subtract(*places[bars.nodes[rods]].swapaxes(0, 1)), axis=1)
    for rod in np.flatnonzero(np.abs(now - length) > SAME_LENGTH * length)[:1]:
        raise ModelError(
            f"{system.name_bar(int(rods[rod]))} has the constant length {length[rod]:.9g}, but its nodes start "
            f"{now[rod]:.9g} apart: vary a *PARAMETER from which the deck computes their initial positions"
        )


def recurs(one: Sample, period: float, every: int, cycles: int) -> bool:
    """Whether all external actions on a model are periodic, for the given number of cycles."""
    time: Floats = np.arange(every * cycles + 1) * np.float64(period / every)
    held = np.flatnonzero(one.supports.supported)
    acting = [one.loads.factors(time), *one.supports.motion(held, time, after=True)]
    moved = (np.abs(each[every:] - each[:-every]).max(initial=0.0) for each in acting)
    sizes = (np.abs(each).max(initial=0.0) for each in acting)
    return len(one.thermal) == 1 and all(move <= ALIKE * size for move, size in zip(moved, sizes, strict=True))


def returning(points: Floats, close: float, same: float) -> Ints:
    """(s,) period of the last points (s, n, c) that are ``close`` to earlier ones; 0: there is none.
    A decaying motion may be close at multiples of its period: the period is the smallest with the ``same`` points."""
    count = points.shape[1]
    longest = min(LONGEST, count - 1)
    found = np.zeros(len(points), np.int64)
    before = points[:, count - 1 - longest : count - 1][:, ::-1]
    is_back = np.abs(points[:, -1:] - before).max(axis=2) <= close
    for start, place in np.argwhere(is_back):
        p = int(place) + 1
        most = max(p, FEWEST)
        if not found[start] and count >= p + most:
            moved = [
                np.abs(points[start, count - most :] - points[start, count - most - q : count - q]).max()
                for q in range(1, p + 1)
            ]
            if moved[-1] <= close:
                found[start] = next(q for q in range(1, p + 1) if p % q == 0 and moved[q - 1] <= same)
    return found


def furthest(points: Floats) -> int:
    """Index of the point (p, c) farthest in a direction without symmetry: it does not depend on the phase."""
    return int(np.argmax(points @ np.sin(1.0 + 1.7 * np.arange(points.shape[1]))))


PARTS = 64
"""Number of instants per period at which the motion is sampled."""
NEVER = 1e-6
"""Smallest projected length of a bar, as a fraction, in a plane in which its rotations are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Attractor:
    """What starts end on.

    number   from 1;  period: in periods of the section, 0: none
    kind     ``rest``, ``oscillation``, ``rotation`` (a bar goes round), ``aperiodic``, ``not met again``
    turns    rotations per period of the bar that rotates most, counter-clockwise in a coordinate plane
    columns  ``COOR1_2`` (position 1 of node 2), ``V1_2``, ...; points (p, c): its section, of aperiodic ones a part
    share    fraction of the starts
    """

    number: int
    period: int
    kind: str
    turns: int
    columns: tuple[str, ...]
    points: Floats
    share: float

    def __str__(self) -> str:
        kind = self.kind if self.period in (0, 1) else f"{self.kind} of period {self.period}"
        turning = f", {self.turns:+d} turns" if self.turns else ""
        return f"{self.number}: {kind}{turning}, {100.0 * self.share:.3g} % of the starts"


@dataclass(frozen=True, slots=True, eq=False)
class Basins:
    """Where starts end.

    starts      name -> (k,) values, the first name varying slowest
    attractor   (k,) number of the attractor each start ends on; 0: its run failed
    period      (k,) of that attractor, in periods of the section; 0: aperiodic
    attractors  the one of most starts first
    again       (k,) number of the attractor at dt/2; 0: on none of these, or the run failed; -1: not run again
    sweep       the table of the runs
    """

    starts: dict[str, Floats]
    attractor: Ints
    period: Ints
    attractors: tuple[Attractor, ...]
    again: Ints
    sweep: Sweep

    def __repr__(self) -> str:
        lines = [f"Basins of {len(self.attractors)} attractors over {', '.join(self.starts)}"]
        lines += [*map(str, self.attractors), *self.what_dt_does.splitlines(), *self.sweep.failures().splitlines()]
        return "\n".join(lines)

    @property
    def elsewhere(self) -> Flags:
        """(k,) True for repeated starts that reach another attractor at dt/2."""
        return np.asarray((self.again >= 0) & (self.again != self.attractor))

    @property
    def what_dt_does(self) -> str:
        """Notice of how many repeated starts reach another attractor at dt/2; empty without repetitions."""
        count, moved = int(np.count_nonzero(self.again >= 0)), int(np.count_nonzero(self.elsewhere))
        found = (
            f"{moved} of {count} starts repeated at dt/2 end on another attractor ({100.0 * moved / max(count, 1):.2g} "
            "%)"
        )
        return found + (": use smaller increments" if moved else "") if count else ""


def look_at(study: Settling, model: Model, row: Mapping[str, float], number: int, share: float) -> Attractor:
    """Computes one period of the motion on an attractor: from the point of its section in the row of a start, or, if
    that does not repeat (other nodes move, or loads are not periodic), from the start. ``not met again``: neither
    repeats.
    """
    period, point = int(row["period"]), np.array([row[f"{name}_point"] for name in study.state])
    its, scale, kind, turned, points = tuple(study.state), study.scale(model), "not met again", 0, point[None]
    for begun, before in ((at_point(study, model, point), 0), (model, int(row["cycles"]))):
        try:
            found, track = followed(study, begun, before, period or WINDOW)
        except FemError:
            continue
        if not period:
            kind, points = "aperiodic", found
            break
        if (np.abs(found - point) / scale).max(axis=1).min() <= 2.0 * study.tolerance:
            points, turned = found, turns(track, model.mesh.legs[0])
            rests = np.ptp(track, axis=0).max(initial=0.0) <= study.tolerance * scale[0]
            kind = "rotation" if turned else "rest" if rests else "oscillation"
            break
    return Attractor(number, period, kind, turned, its, points, share)


def at_point(study: Settling, model: Model, point: Floats) -> Model:
    """The model with a point of a section as initial state."""
    places = model.mesh.coordinates[[model.mesh.nodes_of(label)[0] for label in study.labels]].ravel()
    states = zip(("DISPLACEMENT", "VELOCITY"), np.split(point - np.append(places, 0.0 * places), 2), strict=True)
    conditions = [
        InitialCondition(kind, label, value, axis)
        for kind, values in states
        for (label, axis), value in zip(product(study.labels, (1, 2, 3)), values.tolist(), strict=True)
    ]
    return replace(model, initial_conditions=(*model.initial_conditions, *conditions))


def followed(study: Settling, model: Model, before: int, count: int) -> tuple[Floats, Floats]:
    """After some cycles: the points (count, c) of the next ones, and the path of all nodes (k, n, 3) through them."""
    trajectory, every, chosen = study.opened(model, before + count)
    advance_to(trajectory.last, trajectory.progress.increment + before * every)
    points, tracks = [], [places_of(trajectory)]
    for _ in range(count):
        for part in np.diff(np.unique(np.linspace(0, every, min(PARTS, every) + 1).astype(int))).tolist():
            advance_to(trajectory.last, trajectory.progress.increment + part)
            tracks.append(places_of(trajectory))
        motion = trajectory.progress.motion
        points.append(study.point(model, motion.u, motion.v, chosen))
    return np.array(points), np.array(tracks)


def places_of(trajectory: Trajectory) -> Floats:
    """(n, 3) present positions of the nodes."""
    return trajectory.system.coordinates + trajectory.progress.motion.u.reshape(-1, 3)


def turns(track: Floats, bars: Ints) -> int:
    """Rotations of the bar (m, 2) that rotates most in a coordinate plane, on a closed path of all nodes (k, n, 3)."""
    most = 0
    for first, second in bars.tolist():
        along = track[:, second] - track[:, first]
        for x, y in ((0, 1), (1, 2), (2, 0)):
            if np.hypot(along[:, x], along[:, y]).min() > NEVER * np.linalg.norm(along, axis=1).max():
                angle = np.unwrap(np.arctan2(along[:, y], along[:, x]))
                most = max(most, round((angle[-1] - angle[0]) / (2.0 * np.pi)), key=abs)
    return most


MOST = 100
"""The largest number of attractors."""
MOVED = 0.05
"""Fraction of the size of the model by which the section of an attractor may move between dt and dt/2."""


def settling_of(
    model: Model, period: float | str | None, transient: int, cycles: int, tolerance: float, again: bool
) -> Settling:
    """The settings. CommandError: no nodes are printed, or the numbers make no sense."""
    labels = layout_of(model).nodes
    if not labels:
        raise CommandError(
            "the deck prints no nodes: request *NODE PRINT of the nodes whose positions distinguish the attractors"
        )
    if not 1 <= transient <= cycles or not 0.0 < tolerance < 1.0:
        raise CommandError("basins need 1 <= transient <= cycles, and a tolerance between 0 and 1")
    return Settling(labels, period, transient, cycles, tolerance, again)


def basins_in(sweep: Sweep, plan: Plan) -> Basins:
    """The attractors of a table, the one with most starts first."""
    study = plan.question
    assert isinstance(study, Settling)
    points = np.column_stack([sweep[f"{name}_point"] for name in study.state]) / study.scale(plan.model)
    kind = grouped(np.where(sweep.failed, -1, sweep["period"]), points, 2.0 * study.tolerance)
    sizes = np.bincount(kind[kind >= 0])
    order = np.argsort(-sizes, kind="stable")
    number = np.zeros(len(kind), np.int64)
    attractors = []
    for place, old in enumerate(order, 1):
        members = np.flatnonzero(kind == old)
        number[members] = place
        model = plan.read({**plan.fixed, **plan.grid.point(int(members[0]))})
        row = {name: float(sweep[name][members[0]]) for name in study.columns()}
        attractors.append(look_at(study, model, row, place, len(members) / len(kind)))
    again = at_half(sweep, study, attractors, study.scale(plan.model), number)
    return Basins(sweep.parameters, number, np.asarray(sweep["period"]), tuple(attractors), again, sweep)


def at_half(sweep: Sweep, study: Settling, attractors: list[Attractor], scale: Floats, number: Ints) -> Ints:
    """(k,) number of the attractor that each start reaches at dt/2; 0: none of these; -1: not repeated.
    It is the nearest one of that period, at most ``MOVED`` away, because orbits depend slightly on dt."""
    found = np.full(len(number), -1)
    if not study.again:
        return found
    points = np.column_stack([sweep[f"{name}_dt"] for name in study.state]) / scale
    for start in np.flatnonzero(np.isfinite(sweep["period_dt"])).tolist():
        period = sweep["period_dt"][start]
        apart = {
            of.number: 0.0 if period == 0 else float(np.abs(of.points / scale - points[start]).max(axis=1).min())
            for of in attractors
            if of.period == period
        }
        nearest = min(apart, key=lambda of: apart[of], default=0)
        found[start] = nearest if nearest and apart[nearest] <= MOVED else 0
    return found


def grouped(period: Ints, points: Floats, near: float) -> Ints:
    """(k,) attractors from 0 on, -1 where a run failed: equal periods and points (k, c) that are near each other."""
    kind = np.full(len(period), -1)
    for number in range(MOST):
        left = np.flatnonzero((kind < 0) & (period >= 0))
        if not len(left):
            return kind
        first = left[0]
        alike = (period[left] == 0) | (np.abs(points[left] - points[first]).max(axis=1) <= near)
        kind[left[alike & (period[left] == period[first])]] = number
    if not np.any((kind < 0) & (period >= 0)):
        return kind
    raise CommandError(
        f"the starts end on more than {MOST} attractors: increase --transient, so that they settle, or --tolerance, so "
        "that points close to each other count as one (finished runs are kept)"
    )
