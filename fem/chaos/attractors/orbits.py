"""What was found: basins, and attractors looked at: points of their sections, and whether they rest, swing or turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.chaos.attractors.settling import WINDOW, Settling, follow
from fem.chaos.sections import strobe
from fem.chaos.trajectory import Trajectory, lasting
from fem.errors import FemError
from fem.model import InitialCondition, Model
from fem.runs.record import SilentSink
from fem.sweeping.sweep import Sweep

PARTS = 64
"""Of a period, in which the motion is looked at."""
NEVER = 1e-6
"""Part of its length that a bar never falls below in a plane in which it can be said to turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Attractor:
    """What starts end on.

    number   from 1;  period: in periods of the section, 0: none
    kind     ``rest``, ``oscillation``, ``rotation`` (a bar goes round), ``aperiodic``, ``not met again``
    turns    of the bar that turns most, counter-clockwise in its coordinate plane, in a period of its own
    columns  ``COOR1_2`` (position 1 of node 2), ``V1_2``, ...; points (p, c): its section, of aperiodic ones a part
    share    of the starts
    """

    number: int
    period: int
    kind: str
    turns: int
    columns: tuple[str, ...]
    points: Floats
    share: float

    def __str__(self) -> str:
        """In words."""
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
        told = [text for text in (self.what_dt_does,) if text]
        return "\n".join([*lines, *map(str, self.attractors), *told, *self.sweep.failures().splitlines()])

    @property
    def elsewhere(self) -> Flags:
        """(k,) True where a start that ran again ends elsewhere at dt/2."""
        return np.asarray((self.again >= 0) & (self.again != self.attractor))

    @property
    def what_dt_does(self) -> str:
        """The share of starts that end elsewhere at dt/2, in words; empty where none ran again."""
        count, moved = int(np.count_nonzero(self.again >= 0)), int(np.count_nonzero(self.elsewhere))
        share = f"{moved} of {count} starts run again at dt/2 end elsewhere ({100.0 * moved / max(count, 1):.2g} %)"
        return share + (": take smaller increments" if moved else "") if count else ""


def look_at(asked: Settling, model: Model, row: Mapping[str, float], number: int, share: float) -> Attractor:
    """Follow a motion on it for a period of its own: from the point of its section that is in the row of a start, else
    (other nodes move, too, or what acts is not periodic) from that start. ``not met again``: neither comes back there.
    """
    period, point = int(row["period"]), np.array([row[f"{name}_point"] for name in asked.state])
    its, scale, kind, turned, points = tuple(asked.state), asked.scale(model), "not met again", 0, point[None]
    for begun, before in ((at_point(asked, model, point), 0), (model, int(row["cycles"]))):
        try:
            found, track = followed(asked, begun, before, period or WINDOW)
        except FemError:
            continue
        if not period:
            kind, points = "aperiodic", found
            break
        if (np.abs(found - point) / scale).max(axis=1).min() <= 2.0 * asked.tolerance:
            points, turned = found, turns(track, model.mesh.legs[0])
            rests = np.ptp(track, axis=0).max(initial=0.0) <= asked.tolerance * scale[0]
            kind = "rotation" if turned else "rest" if rests else "oscillation"
            break
    return Attractor(number, period, kind, turned, its, points, share)


def at_point(asked: Settling, model: Model, point: Floats) -> Model:
    """The model started in a point of a section."""
    places = model.mesh.coordinates[[model.mesh.nodes_of(label)[0] for label in asked.labels]].ravel()
    states = zip(("DISPLACEMENT", "VELOCITY"), np.split(point - np.append(places, 0.0 * places), 2), strict=True)
    conditions = [
        InitialCondition(kind, label, value, axis)
        for kind, values in states
        for (label, axis), value in zip(product(asked.labels, (1, 2, 3)), values.tolist(), strict=True)
    ]
    return replace(model, initial_conditions=(*model.initial_conditions, *conditions))


def followed(asked: Settling, model: Model, before: int, count: int) -> tuple[Floats, Floats]:
    """After so many cycles: the points (count, c) of the next ones, and the way of all nodes (k, n, 3) through them."""
    length, every = strobe(model, asked.period)
    trajectory = Trajectory(lasting(model, (before + count) * length), SilentSink())
    trajectory.open()
    follow(trajectory, before * every)
    chosen = [int(trajectory.system.nodes_of(label)[0]) for label in asked.labels]
    points, tracks = [], [places_of(trajectory)]
    for _ in range(count):
        for part in np.diff(np.unique(np.linspace(0, every, min(PARTS, every) + 1).astype(int))).tolist():
            follow(trajectory, part)
            tracks.append(places_of(trajectory))
        motion = trajectory.progress.motion
        points.append(asked.point(model, motion.u, motion.v, chosen))
    return np.array(points), np.array(tracks)


def places_of(trajectory: Trajectory) -> Floats:
    """(n, 3) where the nodes are now."""
    return trajectory.system.coordinates + trajectory.progress.motion.u.reshape(-1, 3)


def turns(track: Floats, bars: Ints) -> int:
    """Of the bar (m, 2) that turns most in a coordinate plane, on a closed way of all nodes (k, n, 3)."""
    most = 0
    for first, second in bars.tolist():
        along = track[:, second] - track[:, first]
        for x, y in ((0, 1), (1, 2), (2, 0)):
            if np.hypot(along[:, x], along[:, y]).min() > NEVER * np.linalg.norm(along, axis=1).max():
                angle = np.unwrap(np.arctan2(along[:, y], along[:, x]))
                most = max(most, round((angle[-1] - angle[0]) / (2.0 * np.pi)), key=abs)
    return most
