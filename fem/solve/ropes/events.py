"""Events of ropes: located in time, with the impact they bring; then the increment goes on to its regular end.

A taut rope is a rod; it goes slack when its tension reaches zero. A slack rope is absent; it is taut again when it
reaches its length: an impact if it does so with a speed. Increments in which that happens are repeated with other
sizes until the instant is known to ``RESOLUTION``; there the states change and consistent accelerations start anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fem.arrays import Flags, Floats
from fem.mechanics.bar import RESTITUTION
from fem.solve.newton import groups
from fem.solve.newton.groups import Loading, Motion, Record
from fem.solve.newton.ledger import note_increment
from fem.solve.rods.constraints import SAME_LENGTH
from fem.solve.ropes.change import Change, Instant
from fem.solve.ropes.slack import AWAY
from fem.solve.ropes.states import Stages
from fem.solve.ropes.watched import NOTHING, Failed, Watched, copy_of, restore
from fem.solve.stage import loading
from fem.solve.start import small_or_sparse_mass

if TYPE_CHECKING:
    from fem.solve.marching import Marching

RESOLUTION, SHARE = 1e-10, 1e-7
"""Time to which events are located, and the same as a share of an increment: the smaller one holds."""
SHORT = 1e-2
"""Share of an increment below which tensions are interpolated."""
ZENO = 1e-3
"""Share of an increment: a rope whose impacts follow each other faster than that stays taut."""
MOST_EVENTS = 10_000
"""Events in one increment beyond which there is no end to them."""


class Events(Watched):
    """The ropes of one dynamic step."""

    def __init__(self, marching: Marching, stages: Stages) -> None:
        super().__init__(marching, stages)
        self.restitution: Floats = stages.first.bars.constants[RESTITUTION, stages.ropes]
        self.last_impact: Floats = np.full(len(stages.ropes), -np.inf)
        self.mass = small_or_sparse_mass(stages.first)

    def start(self, motion: Motion, now: float) -> None:
        """Find out which ropes are taut; those that set off at their length with a speed meet an impact at once."""
        gap = self._gaps(motion)
        self._refuse_too_long(gap)
        self.taut[:] = False
        tally = motion.tally.copy()
        self._change(motion, now, np.zeros(len(gap), np.bool_), np.zeros(len(gap), np.bool_))
        motion.tally[:] = tally  # the books are opened after this
        self._pending = [event for event in self._pending if event.event == "impact"]

    def advance(self, begin: float, end: float, dt: float) -> tuple[Record, Loading]:
        """March from one regular instant to the next, through all events in between.

        Failed where a part cannot be solved: the motion and the states are then those of the beginning.
        """
        motion = self.marching.progress.motion
        saved, states = copy_of(motion), (self.taut.copy(), self.ropes.allowance.copy(), self.last_impact.copy())
        now, iterations = begin, 0.0
        self._pending.clear()
        try:
            for _ in range(MOST_EVENTS):
                if end - now >= self._short:
                    control, kept, chunk = self._march(now, end, dt if now == begin else end - now, self.ropes)
                    iterations += kept.ledger[0, groups.L_ITERATIONS]
                    if control[groups.INCREMENT] == 1:
                        break
                step, which = self._locate(now, end)
                at = np.arange(len(self.taut)) == which
                if step > 0.0:
                    control, kept, chunk = self._march(now, now + step, step, NOTHING)
                    now = end if end - now - step < self._sharp else now + step
                self._change(motion, now, self.taut & at, ~self.taut & at & (step == 0.0))
                if now == end:
                    self._note(kept, chunk)
                    break
            else:
                raise Failed(groups.NOT_CONVERGED, control, kept.ledger)
        except Failed:
            restore(motion, saved)
            self.taut[:], self.ropes.allowance[:], self.last_impact[:] = states
            self.marching.stage = self.stages.of(self.taut)
            raise
        kept.ledger[0, groups.L_ITERATIONS] = iterations
        self.tell()
        return kept, chunk

    def take_over(self, other: Events) -> None:
        """The states of the ropes of another motion of the same model."""
        self.taut[:], self.ropes.allowance[:] = other.taut, other.ropes.allowance
        self.last_impact[:] = other.last_impact
        self.marching.stage = self.stages.of(self.taut)

    def join(self, other: Events) -> None:
        """A motion between this one and another, in the same states: no slack rope counts as too long in either."""
        self.ropes.allowance[:] = np.maximum(self.ropes.allowance, other.ropes.allowance)
        self.last_impact[:] = other.last_impact

    def fits(self, motion: Motion) -> bool:
        """No slack rope is too long."""
        return bool(np.all(self.taut | (self._gaps(motion) <= self.ropes.allowance)))

    @property
    def _short(self) -> float:
        """Below this time multipliers of an increment are no more than round-off of positions over its square."""
        return SHORT * self.marching.clock.dt

    @property
    def _sharp(self) -> float:
        return min(RESOLUTION, SHARE * self.marching.clock.dt)

    def _locate(self, begin: float, end: float) -> tuple[float, int]:
        """How long it takes to the first event of the increment, and to which rope it happens."""
        motion = self.marching.progress.motion
        saved = copy_of(motion)

        def after_march(step: float) -> Floats:
            self._march(begin, begin + step, step, NOTHING)
            found = self._excess(motion)
            restore(motion, saved)
            return found

        short, now = self._short, self._excess(motion)
        later = after_march(short)

        def excess(step: float) -> Floats:
            """Of all ropes after ``step``, their states kept."""
            found = after_march(step)
            return np.where(self.taut & (step < short), now + (later - now) * step / short, found)

        high, after = end - begin, excess(end - begin)
        limit = np.where(self.taut, 0.0, self.ropes.allowance)
        which = -1
        while True:
            late = after > limit
            if which >= 0:
                late[which] = False
            if high == 0.0 or not late.any():
                return high, which
            which = int(np.flatnonzero(late)[0])
            high = self._root(excess, which, float(now[which]), high)
            after = excess(high) if high > 0.0 else now

    def _root(self, excess: Callable[[float], Floats], r: int, now: float, high: float) -> float:
        """When rope r changes its state, between now and ``high``; 0 where it does so at once."""
        from scipy.optimize import brentq

        def one(step: float) -> float:
            return float(excess(step)[r])

        bound = 0.0 if self.taut[r] else -AWAY * self.length[r] ** 2
        low = 0.0
        if not now < bound:
            if self.taut[r]:
                return 0.0
            # It has just left its length: the instant at which it comes back is asked for.
            low = 0.5 * high
            while not one(low) < bound:
                high, low = low, 0.5 * low
                if low < self._sharp:
                    return 0.0
        values = {low: now if low == 0.0 else one(low), high: one(high)}
        if values[high] <= 0.0:
            return high
        root = float(brentq(lambda x: values.get(x) or one(x), low, high, xtol=1e-2 * self._sharp, rtol=1e-14))
        return root if root >= self._sharp else 0.0

    def _change(self, motion: Motion, now: float, released: Flags, stuck: Flags) -> None:
        """The event itself, at ``now``. released (r,): taut ropes that go slack.

        stuck (r,): slack ones that are back at their length before they can be seen to have left it
        """
        before, gap, square = self.taut.copy(), self._gaps(motion), self.length**2
        near = before | (gap > -SAME_LENGTH * square)
        stage = self.stages.of(near)
        chunk = loading(stage, motion, np.array([now, now]), np.ones(1))
        has_bounced = now - self.last_impact < ZENO * self.marching.clock.dt
        instant = Instant(self.stages, motion, chunk, now, before, near, self.mass)
        found = instant.run(released, stuck, np.where(has_bounced, 0.0, self.restitution), self.length)
        self.taut[:] = found.taut
        self.last_impact[found.struck] = now
        slack = near & ~self.taut
        least = np.where(stuck, 2.0 * self.ropes.allowance, SAME_LENGTH * square)
        self.ropes.allowance[:] = np.where(slack, np.maximum(least, 2.0 * gap), 0.0)
        self.marching.stage = self.stages.of(self.taut)
        self._list(now, before, found, has_bounced & (self.restitution > 0.0))

    def _list(self, now: float, before: Flags, found: Change, at_last: Flags) -> None:
        """Note what happened to each rope; at_last (r,): its impacts have come to an end."""
        for r in range(len(self.taut)):
            what = ""
            if found.struck[r]:
                what = "taut" if at_last[r] and found.taut[r] else "impact"
            elif found.taut[r] != before[r]:
                what = "taut" if found.taut[r] else "slack"
            if what:
                self._happens(now, r, what, float(found.loss[r]) if what != "slack" else 0.0)

    def _note(self, kept: Record, chunk: Loading) -> None:
        """The row of an increment that ends with an event shows the state after it."""
        m, row = self.marching, kept.ledger[0]
        note_increment(
            0, int(row[groups.L_ITERATIONS]), float(row[groups.L_NORM]), 0.0, int(row[groups.L_FLAGS]),
            float(row[groups.L_ERROR]), m.stage.bars, m.system.springs, chunk.thermal[-1], m.progress.motion, kept,
        )  # fmt: skip
