"""Events of ropes: located in time, with the impact they bring; then the increment goes on to its regular end.

A taut rope is a rod; it goes slack when its tension reaches zero. A slack rope is absent; it is taut again when it
reaches its length: an impact if it does so with a speed. Increments in which that happens are repeated with other
sizes until the instant is known to ``RESOLUTION``; there the states change and consistent accelerations start anew.

A rope that has just gone slack moves away with the third power of time: less at first than the error of an increment,
most of all of BACKWARD EULER, which falls by g dt^2 below a support that moves exactly. Where that makes it too long
although it does not lengthen, it is left slack, and the end of the increment is moved to the nearest positions at which
no rope is too long. What is taut or slack there, pulls included, follows from rates and accelerations alone.

The first instant of an increment at which ropes change their state, all of them that do so then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.forces.bar import heads
from fem.solve.newton.balance import note_increment
from fem.solve.newton.gaps import AWAY
from fem.solve.newton.groups import CONTROL, MEMORY, ROW, Loading, Motion, Record
from fem.solve.rope_states import gaps_of
from fem.solve.ropes.complementarity import NoPulls, move_to_nearest
from fem.solve.ropes.instants import ALLOWED, Switched
from fem.solve.ropes.watched import Failed, copy_of, restore
from fem.solve.step_system import NO_ROPES, loading_at

RESOLUTION, FRACTION = 1e-10, 1e-7
"""Time to which events are located, and the same as a fraction of an increment: the smaller one holds."""
SHORT = 1e-2
"""Fraction of an increment below which tensions are interpolated."""
MOST_EVENTS = 1000
"""Instants of events in one increment beyond which there is no end to them."""
LENGTHENS = 0.5
"""Fraction of what a rope is too long that its rate explains, at least: 2 where it accelerates, 1 in BACKWARD EULER."""


class Events(Switched):
    """The ropes of one dynamic step."""

    def march(self, control: Ints, chunk: Loading, kept: Record) -> int:
        """A chunk of increments, up to the one with an event; one at a time while ropes share their pull."""
        m = self.step_run
        self.shares.take_out(m.progress.motion)
        reason = m.iterate(control, chunk, kept, self.ropes)
        if self.has_shared and control[CONTROL.increment] > 0:
            self._look_at_shared(m.progress.time + float(chunk.dt[0]))
            self._note(kept, chunk)
        return reason

    def advance(self, begin: float, end: float, dt: float) -> tuple[Record, Loading]:
        """March from one regular instant to the next, through all events in between.
        Failed where a part cannot be solved: the motion and the states are then those of the beginning."""
        motion = self.step_run.progress.motion
        saved, states = copy_of(motion), copy_of(self.states)
        self._pending.clear()
        self.holds[:], self.let_go[:], self.stuck[:], self.leaves[:] = 0, False, False, False
        self.until, self.trouble = end, ""
        try:
            kept, chunk = self._through(begin, end, dt)
        except (Failed, NoPulls, NoInstant) as error:
            gap = float(motion.memory[MEMORY.previous_gap])  # for the message
            restore(motion, saved)
            restore(self.states, states)
            motion.memory[MEMORY.previous_gap] = gap
            self.step_run.stage = self.current
            if isinstance(error, Failed):
                raise
            if isinstance(error, NoPulls):
                raise self._given_up(self._no_pulls(error)) from None
            names = self._names(self.holds > 0 if self.holds.any() else self.can_pull)
            why = f"{names} go slack and taut, or have impacts, more than {MOST_EVENTS} times within one increment"
            raise self._given_up(why) from None
        if self.has_shared:
            self._look_at_shared(end)
            self._note(kept, chunk)
        self.tell()
        return kept, chunk

    def _through(self, begin: float, end: float, dt: float) -> tuple[Record, Loading]:
        """Pass all events of an increment."""
        iterations, self.now = 0.0, begin
        for _ in range(MOST_EVENTS):
            now, nothing = self.now, np.zeros(len(self.taut), np.bool_)
            if end - now >= self._short:
                control, kept, chunk = self._march(now, end, dt if now == begin else end - now, self.ropes)
                iterations += kept.increments[0, ROW.iterations]
                if control[CONTROL.increment] == 1:
                    if self.leaves.any():
                        self._arrive(end)
                        self._change(self.step_run.progress.motion, end, nothing, nothing)
                        self._note(kept, chunk)
                    break
            step, at = self._first(now, end)
            if step == 0.0 and self._let_leave(at & ~self.states.basis, now, end):
                continue
            if step > 0.0:
                control, kept, chunk = self._march(now, now + step, step, NO_ROPES)
                self._arrive(end if end - now - step < self._sharp else now + step)
                if self.now == end and not (at.any() or self.leaves.any()):  # what looked like a touch was none
                    break
            self._refuse_lasting(at, step == 0.0)
            lingers = ~self.states.basis & (self.ropes.allowance > 0.0)
            released, stuck = self.states.basis & at, lingers & at & (step == 0.0)
            self._change(self.step_run.progress.motion, self.now, released, stuck)
            if self.now == end:
                self._note(kept, chunk)
                break
        else:
            raise NoInstant
        kept.increments[0, ROW.iterations] = iterations
        return kept, chunk

    # Ropes that leave their length

    def _let_leave(self, at: Flags, now: float, end: float) -> bool:
        """Leave slack those ropes (r,) not yet seen away that are too long at once and hardly lengthen; are there any?
        That is the error of the march, from which ``_arrive`` brings them back."""
        motion, late = self.step_run.progress.motion, at & ~self.leaves & (self.ropes.allowance > 0.0)
        if not late.any():
            return False
        gap, ahead = self.trial(now, end, lambda: (self._gaps(motion), self._lengthening(motion, end - now)))
        fresh = late & (ahead < LENGTHENS * gap)
        self.leaves |= fresh
        self.ropes.allowance[fresh] = np.maximum(self.ropes.allowance, 2.0 * gap)[fresh]
        return bool(fresh.any())

    def _arrive(self, now: float) -> None:
        """Go to the next instant; where ropes that leave are too long there, positions move until no slack rope is."""
        motion, basis = self.step_run.progress.motion, self.states.basis
        self.now = now
        self.let_go[:] = self.stuck[:] = False
        moved, fresh = self.leaves & False, self.leaves & (self._gaps(motion) > 0.0)
        while fresh.any():
            moved |= fresh
            stage = self.stages.of(basis | moved)
            chunk = loading_at(stage, motion, now)
            move_to_nearest(stage, motion, chunk, self.mass, np.isin(heads(stage.bars), self.ropes.bars[moved]))
            long = self._gaps(motion) > ALLOWED * self.length**2  # others, which those have moved
            fresh = long & self.can_pull & ~basis & ~self.taut & ~moved

    def take_over(self, other: Events) -> None:
        """The states of the ropes of another motion of the same model."""
        restore(self.states, other.states)
        self.step_run.stage = self.current

    def join(self, other: Events) -> None:
        """A motion between this one and another, in the same states: no slack rope counts as too long in either."""
        self.ropes.allowance[:] = np.maximum(self.ropes.allowance, other.ropes.allowance)
        self.states.last_impact[:], self.states.bounces[:] = other.states.last_impact, other.states.bounces

    def fits(self, motion: Motion, ahead: float = 0.0) -> bool:
        """No slack rope is too long, ``ahead`` of now."""
        gap = gaps_of(self.stages.first.bars, self.ropes.bars, motion.u + ahead * motion.v)
        return bool(np.all(self.taut | (gap <= self.ropes.allowance)))

    @property
    def _short(self) -> float:
        """Below this time multipliers of an increment are no more than round-off of positions over its square."""
        return SHORT * self.step_run.clock.dt

    @property
    def _sharp(self) -> float:
        return min(RESOLUTION, FRACTION * self.step_run.clock.dt)

    def _first(self, begin: float, end: float) -> tuple[float, Flags]:
        """How long it takes to the first event of the increment, and to which ropes it happens."""
        motion = self.step_run.progress.motion
        saved = copy_of(motion)

        def after_march(step: float) -> Floats:
            return self.trial(begin, begin + step, lambda: self.excess(motion))

        short, now = self._short, self.excess(motion)
        later, basis = after_march(short), self.states.basis

        def excess(step: float) -> Floats:
            """Of all ropes after ``step``, their states kept."""
            found = after_march(step)
            return np.where(basis & (step < short), now + (later - now) * step / short, found)

        def touch(step: float) -> float:
            """When a slack rope is longest that is too long before ``step`` alone; else ``step``."""
            peak, part = self.trial(begin, begin + step, lambda: self._peaks(step, saved, motion))
            return step * float(part[~basis & (peak > limit)].min(initial=1.0))

        limit = np.where(basis, 0.0, self.ropes.allowance)
        held = np.where(basis, self.states.held - begin, 0.0)
        high = end - begin
        for _ in range(np.count_nonzero(~basis)):
            earlier = touch(high)
            if not (earlier < high and np.any((after_march(earlier) > limit) & ~basis)):
                break
            high = earlier
        return EventSearch(excess, limit, now, basis, self.length, held, self._sharp).run(high)

    # Ropes that repeat each other

    def _look_at_shared(self, now: float) -> None:
        """Those that have moved away from their length are slack."""
        self.now = now
        states, gap, square = self.states, self._gaps(self.step_run.progress.motion), self.length**2
        repeat = self.taut & ~states.basis
        for r in np.flatnonzero(repeat & (gap < -ALLOWED * square)).tolist():
            self.taut[r] = repeat[r] = False
            self._happens(now, r, "slack")
        self.ropes.allowance[repeat] = ALLOWED * square[repeat]

    def _note(self, kept: Record, chunk: Loading) -> None:
        """The row of an increment that ends with an event shows the state after it."""
        self._share()
        m, row = self.step_run, kept.increments[0]
        note_increment(
            0, int(row[ROW.iterations]), float(row[ROW.norm]), 0.0, int(row[ROW.flags]),
            float(row[ROW.error]), self.shown.problem, chunk.thermal_end[-1], m.progress.motion, kept,
        )  # fmt: skip


MOST_ROOTS = 1000
"""Instants looked for in one increment, after which a curve of ropes has no first one."""
MOST_TRIALS = 200
"""Trial instants for one of them."""


class NoInstant(Exception):
    """The first instant was not found."""


@dataclass(frozen=True, slots=True, eq=False)
class EventSearch:
    """Ropes between two instants, their states kept.

    excess  (r,) function of the time since the first instant: how far ropes are beyond their states
    limit   (r,) excess from which on they change;  now (r,) excess at first;  taut (r,);  length (r,)
    held    (r,) time from now before which they do not change; sharp: shortest time that differs from none
    """

    excess: Callable[[float], Floats]
    limit: Floats
    now: Floats
    taut: Flags
    length: Floats
    held: Floats
    sharp: float

    def run(self, high: float) -> tuple[float, Flags]:
        """Time to the first change, at most ``high``, and which ropes change then; none: nothing changes up to then.
        A rope whose change has been located is out: the others may change there or before."""
        located, after = np.zeros(len(self.now), np.bool_), self.excess(high)
        for _ in range(MOST_ROOTS):
            (late,) = np.nonzero((after > self.limit) & ~located & (self.held < high))
            if high == 0.0 or (len(late) == 0 and not located.any()):
                return high, located
            if len(late) == 0:
                return high, located | ((self.excess(high + self.sharp) > self.limit) & (self.held < high))
            r = int(late[0])
            root = self._root(r, high)
            if root < high - self.sharp:
                located[:] = False
            located[r], high = True, min(root, high)
            after = self.excess(high) if high > 0.0 else self.now
        raise NoInstant

    def _root(self, r: int, high: float) -> float:
        """When rope r changes its state, between now and ``high``; 0 where it does so at once."""
        from scipy.optimize import brentq

        def one(step: float) -> float:
            return float(self.excess(step)[r])

        bound = 0.0 if self.taut[r] else -AWAY * self.length[r] ** 2
        low, at_low = max(0.0, float(self.held[r])), float(self.now[r])
        if low > 0.0:
            at_low = one(low)
        if not at_low < bound:
            if self.taut[r]:
                return low
            # It has just left its length: it is the instant at which it comes back that counts.
            low = 0.5 * high
            while low >= self.sharp and not (at_low := one(low)) < bound:
                high, low = low, 0.5 * low
            if low < self.sharp:  # it was never away
                return 0.0
        at_high = one(high)
        if at_high <= 0.0:
            return high
        values = {low: at_low, high: at_high}
        limits = {"xtol": 1e-2 * self.sharp, "rtol": 1e-14, "maxiter": MOST_TRIALS, "disp": False}
        root = brentq(lambda x: values.get(x) or one(x), low, high, **limits)
        return float(root) if root >= self.sharp else 0.0
