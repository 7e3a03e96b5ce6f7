"""Parts of an increment that events cut: what their end owes to the instants between which they march.

A neighbour meets an event later by ``delay``: the part up to there is longer by it, the next one begins later by it and
ends where it did. With Phi the march of a part from t to t1, and v, a the state at t:

    by_end    d Phi / d t1
    by_start  the derivative of Phi along t + s, u + s v, v + s a, accelerations anew: zero but for errors of the scheme

Both are differences of marches such as the run makes to find events: that takes in loads, supports and projections, of
every scheme. Two formulas have to agree. ``late``, by how much neighbours are later at a release, finds what they do to
the multipliers at the end of a part in the same way.

Not differentiated: positions that the run moves back where ropes leave their length (``Events``: stops and ropes of
BACKWARD EULER after their last impacts), and releases of ENERGY MOMENTUM in the first hundredth of an increment, whose
pulls are interpolated from those in the middle of the one before. There the map is the derivative of the motion to the
order of the scheme, as it is where a force has a kink close by, or an event falls on the end of an increment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.solve.newton.groups import Motion
from fem.solve.rods import keep_rates
from fem.solve.ropes.complementarity import move_to_nearest
from fem.solve.ropes.events import SHORT, Events
from fem.solve.ropes.watched import copy_of, restore
from fem.solve.start import evaluate_rods
from fem.solve.step_system import StepSystem, loading_at
from fem.study.variation.linearise import DA, DF, DU, DV, END
from fem.study.variation.saltation import consistent

NUDGE = 1e-2
"""Steps of differences: fraction of an increment; its square: of the shortest rope."""
AGREE = 1e-3
"""What two formulas may differ by, as a fraction of what changes: more where something has a kink close by."""
LONGER = np.array([[-77.0, 214.0, -234.0, 122.0, -25.0], [-52.0, 114.0, -84.0, 22.0, 0.0]]) / 12.0
"""Derivative at 0 of polynomials through values at 1, 2, 3, 4, 5 (their weights add up to 0), and at the first four:
parts are made longer, since those that are short already leave round-off over the square of their time."""
ASIDE = np.array([[8.0, -8.0, -1.0, 1.0], [6.0, -6.0, 0.0, 0.0]]) / 12.0
"""The same from values at 1, -1, 2, -2, and at the first two."""


class Part(NamedTuple):
    """One that has been marched: motion, perturbations (k, ROWS, 3n) and stage at its start, instants."""

    start: Motion
    vectors: Floats
    stage: StepSystem
    begin: float
    end: float


class Late(NamedTuple):
    """Neighbours that begin a part later (k,), by which they have moved on with v and a (3n,)."""

    delays: Floats
    v: Floats
    a: Floats


class Ends(NamedTuple):
    """What the end of a part is made of: rows (ROWS - 1, 3n) as those of perturbations, excess (r,) of ropes."""

    rows: Floats
    excess: Floats


class Parts:
    """Marches of parts again, of ropes whose step goes on where it was."""

    def __init__(self, events: Events) -> None:
        self.events, self.step_run = events, events.step_run
        self.step = NUDGE * events.step_run.clock.dt

    def by_end(self, part: Part) -> Ends | None:
        """Per time that the part is longer; None: no derivative."""
        ends = self.step * np.arange(1.0, 6.0)
        return self._agreed(
            part, *self._slopes(part, [(part.start, 0.0, s) for s in ends.tolist()], LONGER / self.step)
        )

    def by_start(self, part: Part) -> Ends | None:
        """Per time that it begins later, the motion on its way."""
        starts = []
        for s in (-self.step * np.arange(1.0, 6.0)).tolist():
            starts.append((self._earlier(part, s), s, 0.0))
        return self._agreed(part, *self._slopes(part, starts, -LONGER / self.step))

    def has_own_pulls(self, part: Part) -> bool:
        """The run finds releases by the pulls at the end of the part: not by those of secant increments before it."""
        return not part.stage.scheme.secant or part.end - part.begin >= SHORT * self.step_run.clock.dt

    def late(self, part: Part, r: int, by_end: Ends, before: Floats) -> Floats:
        """(k,) delays of the release of rope r, with which the part ends. before (k,): what its excess already has."""
        shortest, size = float(self.events.length.min()), part.end - part.begin
        lags, found = part.stage.coefficients.lags, before.copy()
        for k, vector in enumerate(part.vectors):
            most = max(float(np.abs(vector[DU]).max()), size * float(np.abs(vector[DV]).max()))
            if most == 0.0:
                continue
            step, starts = NUDGE**2 * shortest / most, []
            for s in (step, -step, 2.0 * step, -2.0 * step):
                moved = _moved(part.start, s, vector[DU], vector[DV])
                moved.a[:] += s * vector[END if lags else DA]
                moved.lagged[:] += s * vector[DA]
                moved.force[:] += s * vector[DF]
                starts.append((moved, 0.0, 0.0))
            found[k] += self._slopes(part, starts, ASIDE / step)[0].excess[r]
        slowed: Floats = -found / by_end.excess[r]
        return slowed

    def _earlier(self, part: Part, s: float) -> Motion:
        """A start at another instant, on supports and lengths as they are then: velocities feel what is off over dt."""
        stage, now, mass = part.stage, part.begin + s, self.events.mass
        moved = _moved(part.start, s, part.start.v, part.start.a)
        supported = np.flatnonzero(stage.nodes.dof_kind == 0)
        u, v, _ = stage.environment.supports.motion(supported, np.array([now]), after=True)
        moved.u[supported], moved.v[supported] = u[0], v[0]
        if count := len(stage.bars.rods):
            move_to_nearest(stage, moved, loading_at(stage, moved, now), mass, np.zeros(count, np.bool_))
            evaluate_rods(stage, moved, now)
            keep_rates(stage, moved, mass)
        return consistent(stage, moved, now, mass, after=True)

    def _slopes(self, part: Part, starts: list[tuple[Motion, float, float]], weights: Floats) -> list[Ends]:
        """Weighted sums (2, n) of ends; of each: where it starts, how much later it begins and ends."""
        m, motion = self.step_run, self.step_run.progress.motion
        saved, stage, ends = copy_of(motion), m.stage, []
        m.stage = part.stage
        for state, begins, longer in starts:
            restore(motion, state)
            ends.append(self.events.trial(part.begin + begins, part.end + longer, lambda: self._end(part.stage)))
        m.stage = stage
        restore(motion, saved)
        return [Ends(*(np.tensordot(each, np.array(all_), 1) for all_ in zip(*ends, strict=True))) for each in weights]

    def _agreed(self, part: Part, found: Ends, other: Ends) -> Ends | None:
        for row, scale in ((DU, part.start.v), (DV, part.start.a)):
            if np.abs(found.rows[row] - other.rows[row]).max() > AGREE * np.abs(scale).max():
                return None
        return found

    def _end(self, stage: StepSystem) -> Ends:
        motion = self.step_run.progress.motion
        rows, mask = np.zeros((END + 1, len(motion.u))), stage.nodes.mask
        rows[DU], rows[DV], rows[DF], rows[END] = motion.u, motion.v, motion.force, mask * motion.a
        rows[DA] = mask * (motion.lagged if stage.coefficients.lags else motion.a)
        return Ends(rows, self.events.excess(motion))


def _moved(motion: Motion, s: float, u: Floats, v: Floats) -> Motion:
    moved = copy_of(motion)
    moved.u[:] += s * u
    moved.v[:] += s * v
    return moved
