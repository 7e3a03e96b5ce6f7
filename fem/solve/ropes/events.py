"""Events of ropes: their location in time, the impacts, and the continuation to the regular end of the increment.

A taut rope is a rod; it goes slack when its tension reaches zero. A slack rope is absent; it becomes taut when it
reaches its length, with an impact if it is lengthening then. Increments with events are repeated with other sizes until
the instant is known to ``RESOLUTION``; there the states change and consistent accelerations are computed.

The distance of a rope that has just gone slack from its length grows with the third power of time: less at first than
the error of an increment, most of all with BACKWARD EULER, which falls by g dt^2 below a support that moves exactly. If
this error makes it too long although it does not lengthen, it remains slack, and at the end of the increment the nodes
are moved to the nearest positions at which no rope is too long. Its state afterwards follows from rates and
accelerations alone.

``EventSearch`` finds the first instant of an increment at which ropes change their state, and all ropes that do so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.forces.bar import heads
from fem.solve.newton.balance import note_increment
from fem.solve.newton.gaps import AWAY
from fem.solve.newton.groups import CONTROL, MEMORY, ROW, Ledger, Loading, Motion
from fem.solve.rope_states import gaps_of
from fem.solve.ropes.complementarity import NoPulls, move_to_nearest
from fem.solve.ropes.instants import ALLOWED, Switched
from fem.solve.ropes.watched import Failed, Piece, copy_of, restore
from fem.solve.step_system import NO_ROPES, loading_at

RESOLUTION, FRACTION = 1e-10, 1e-7
"""Accuracy of events in time, and as a fraction of an increment: the smaller one applies."""
SHORT = 1e-2
"""Fraction of an increment below which tensions are interpolated."""
MOST_EVENTS = 1000
"""Largest number of instants with events in one increment."""
LENGTHENS = 0.5
"""A rope is lengthening if its rate explains at least this fraction of its excess: 2 if it accelerates, 1 in BACKWARD
EULER."""


class Events(Switched):
    """The ropes of one dynamic step."""

    def march(self, control: Ints, chunk: Loading, kept: Ledger) -> int:
        """A chunk of increments, up to the one with an event; one at a time while ropes are redundant."""
        m = self.step_run
        self.shares.take_out(m.progress.motion)
        reason = m.iterate(control, chunk, kept, self.ropes)
        if self.has_shared and control[CONTROL.increment] > 0:
            self._look_at_shared(m.progress.time + float(chunk.dt[0]))
            self._note(kept, chunk)
        return reason

    def advance(self, begin: float, end: float, dt: float) -> Ledger:
        """Computes from one regular instant to the next, through all events in between; returns the row there.
        Failed: a part cannot be solved; the motion and the states are then those at the beginning."""
        motion = self.step_run.progress.motion
        saved, states, told = copy_of(motion), copy_of(self.states), len(self.pending)
        self.holds[:], self.let_go[:], self.stuck[:], self.leaves[:] = 0, False, False, False
        self.until, self.trouble = end, ""
        try:
            kept, chunk = self._through(begin, end, dt)
        except (Failed, NoPulls, NoInstant) as error:
            del self.pending[told:]
            gap = float(motion.memory[MEMORY.previous_gap])  # for the message
            restore(motion, saved)
            restore(self.states, states)
            motion.memory[MEMORY.previous_gap] = gap
            self.step_run.stage = self.current
            if isinstance(error, Failed):
                raise
            if isinstance(error, NoPulls):
                raise self._given_up(self._no_pulls(error)) from None
            names = self.names(self.holds > 0 if self.holds.any() else self.can_pull)
            why = f"{names} go slack and taut, or have impacts, more than {MOST_EVENTS} times within one increment"
            raise self._given_up(why) from None
        if self.has_shared:
            self._look_at_shared(end)
            self._note(kept, chunk)
        return kept

    def _through(self, begin: float, end: float, dt: float) -> tuple[Ledger, Loading]:
        """Pass all events of an increment."""
        iterations, self.now = 0.0, begin
        for turn in range(MOST_EVENTS):
            now, nothing = self.now, np.zeros(len(self.taut), np.bool_)
            if turn > 0 and end - now >= self._short:  # the first march to the end was that of the chunk
                piece = self._march(self._piece(now, end, dt if now == begin else end - now), self.ropes)
                iterations += piece.kept.increments[0, ROW.iterations]
                if piece.control[CONTROL.increment] == 1:
                    if self.leaves.any():
                        self._arrive(end)
                        self._change(self.step_run.progress.motion, end, nothing, nothing)
                        self._note(piece.kept, piece.chunk)
                    break
            step, at = self._first(now, end)
            if step == 0.0 and self._let_leave(at & ~self.states.basis, now, end):
                continue
            if step > 0.0:
                piece = self._march(self._piece(now, now + step, step, same_start=True), NO_ROPES)
                self._arrive(end if end - now - step < self._sharp else now + step)
                if self.now == end and not (at.any() or self.leaves.any()):  # there was no contact after all
                    break
            self._refuse_lasting(at, step == 0.0)
            lingers = ~self.states.basis & (self.ropes.allowance > 0.0)
            released, stuck = self.states.basis & at, lingers & at & (step == 0.0)
            self._change(self.step_run.progress.motion, self.now, released, stuck)
            if self.now == end:
                self._note(piece.kept, piece.chunk)
                break
        else:
            raise NoInstant
        piece.kept.increments[0, ROW.iterations] = iterations
        return piece.kept, piece.chunk

    # Ropes that leave their length

    def _let_leave(self, at: Flags, now: float, end: float) -> bool:
        """Keep slack those ropes (r,) that have just gone slack and are too long without lengthening; are there any?
        This is an error of the march, which ``_arrive`` corrects."""
        motion, late = self.step_run.progress.motion, at & ~self.leaves & (self.ropes.allowance > 0.0)
        if not late.any():
            return False
        gap, ahead = self.trial(now, end, lambda _: (self._gaps(), self._lengthening(motion, end - now)))
        fresh = late & (ahead < LENGTHENS * gap)
        self.leaves |= fresh
        self.ropes.allowance[fresh] = np.maximum(self.ropes.allowance, 2.0 * gap)[fresh]
        return bool(fresh.any())

    def _arrive(self, now: float) -> None:
        """Advance to the next instant; if ropes just gone slack are too long there, positions move until no slack rope
        is."""
        motion, basis = self.step_run.progress.motion, self.states.basis
        self.now = now
        self.let_go[:] = self.stuck[:] = False
        if not self.leaves.any():
            return
        moved, fresh = self.leaves & False, self.leaves & (self._gaps() > 0.0)
        while fresh.any():
            moved |= fresh
            stage = self.stages.of(basis | moved)
            chunk = loading_at(stage, motion, now)
            move_to_nearest(stage, motion, chunk, self.mass, np.isin(heads(stage.bars), self.ropes.bars[moved]))
            long = self._gaps() > ALLOWED * self.length**2  # others, moved by the correction
            fresh = long & self.can_pull & ~basis & ~self.taut & ~moved

    def take_over(self, other: Events) -> None:
        """Copies the states of the ropes from another motion of the same model."""
        restore(self.states, other.states)
        self.step_run.stage = self.current

    def join(self, other: Events) -> None:
        """For a motion between this one and another with equal states: no slack rope counts as too long in either."""
        self.ropes.allowance[:] = np.maximum(self.ropes.allowance, other.ropes.allowance)
        self.states.last_impact[:], self.states.bounces[:] = other.states.last_impact, other.states.bounces

    def fits(self, motion: Motion, ahead: float = 0.0) -> bool:
        """Whether no slack rope is too long ``ahead`` of now."""
        gap = gaps_of(self.stages.first.bars, self.ropes.bars, motion.u + ahead * motion.v)
        return bool(np.all(self.taut | (gap <= self.ropes.allowance)))

    @property
    def _short(self) -> float:
        """Time below which multipliers of an increment are rounding errors of positions divided by its square."""
        return SHORT * self.step_run.clock.dt

    @property
    def _sharp(self) -> float:
        return min(RESOLUTION, FRACTION * self.step_run.clock.dt)

    def _first(self, begin: float, end: float) -> tuple[float, Flags]:
        """Time to the first event of the increment, and the ropes that it concerns."""
        motion = self.step_run.progress.motion
        saved, basis = copy_of(motion), self.states.basis
        known, has_slack = dict[float, tuple[Floats, tuple[Floats, Floats]]](), not basis.all()

        def after(step: float, peaks: bool = False) -> tuple[Floats, tuple[Floats, Floats]]:
            """Excess of all ropes after ``step``, with constant states; where some are slack ``_peaks`` within it."""
            if step not in known:
                known[step] = self.trial(
                    begin, begin + step, lambda piece: read(piece, step, peaks), saved, bool(known)
                )
            return known[step]

        def read(piece: Piece, step: float, peaks: bool) -> tuple[Floats, tuple[Floats, Floats]]:
            found = piece.excess()
            return found, self._peaks(step, saved, motion) if peaks and has_slack else (found, found)

        short, now, has_taut = self._short, self.excess(), basis.any()

        def excess(step: float) -> Floats:
            """The same; that of short times is interpolated for taut ropes."""
            if step >= short or not has_taut:
                return after(step)[0]
            early = now + (after(short)[0] - now) * step / short
            return np.where(basis, early, after(step)[0]) if has_slack else early

        def touch(step: float) -> float:
            """Time at which a slack rope that is too long only before ``step`` is longest; otherwise ``step``."""
            peak, part = after(step, peaks=True)[1]
            return step * float(part[~basis & (peak > limit)].min(initial=1.0))

        limit = np.where(basis, 0.0, self.ropes.allowance)
        held = np.where(basis, self.states.held - begin, 0.0)
        high = end - begin
        for _ in range(np.count_nonzero(~basis)):
            earlier = touch(high)
            if not (earlier < high and np.any((after(earlier, peaks=True)[0] > limit) & ~basis)):
                break
            high = earlier
        return EventSearch(excess, limit, now, basis, self.length, held, self._sharp).run(high)

    # Redundant ropes

    def _look_at_shared(self, now: float) -> None:
        """Redundant ropes that are shorter than their length become slack."""
        self.now = now
        states, gap, square = self.states, self._gaps(), self.length**2
        repeat = self.taut & ~states.basis
        for r in np.flatnonzero(repeat & (gap < -ALLOWED * square)).tolist():
            self.taut[r] = repeat[r] = False
            self._happens(now, r, "slack")
        self.ropes.allowance[repeat] = ALLOWED * square[repeat]

    def _note(self, kept: Ledger, chunk: Loading) -> None:
        """Writes the state after an event into the row of an increment that ends with it."""
        self._share()
        m, row = self.step_run, kept.increments[0]
        note_increment(
            0, int(row[ROW.iterations]), float(row[ROW.norm]), 0.0, int(row[ROW.flags]),
            float(row[ROW.error]), self.shown.problem, chunk.thermal_end[-1], m.progress.motion, kept,
        )  # fmt: skip


MOST_ROOTS = 1000
"""Largest number of instants located in one increment; after that no first one is found."""
MOST_TRIALS = 200
"""Largest number of trial instants for one of them."""


class NoInstant(Exception):
    """The first instant was not found."""


@dataclass(frozen=True, slots=True, eq=False)
class EventSearch:
    """Search for the first change of ropes between two instants, with constant states.

    excess  (r,) function of the time since the first instant: violation of the condition of each rope's state
    limit   (r,) excess at which they change;  now (r,) excess at first;  taut (r,);  length (r,)
    held    (r,) time from now before which they do not change; sharp: shortest time that differs from zero
    """

    excess: Callable[[float], Floats]
    limit: Floats
    now: Floats
    taut: Flags
    length: Floats
    held: Floats
    sharp: float

    def run(self, high: float) -> tuple[float, Flags]:
        """Time to the first change, at most ``high``, and which ropes change then; no rope: nothing changes up to then.
        After a rope's change is located, the others are searched up to that time."""
        located, after = np.zeros(len(self.now), np.bool_), self.excess(high)
        for _ in range(MOST_ROOTS):
            (late,) = np.nonzero((after > self.limit) & ~located & (self.held < high))
            if high == 0.0 or (len(late) == 0 and not located.any()):
                return high, located
            if len(late) == 0:
                soon = located.all() or (self.excess(high + self.sharp) > self.limit) & (self.held < high)
                return high, located | soon
            r = int(late[0])
            root = self._root(r, high)
            if root < high - self.sharp:
                located[:] = False
            located[r], high = True, min(root, high)
            after = self.excess(high) if high > 0.0 else self.now
        raise NoInstant

    def _root(self, r: int, high: float) -> float:
        """Time at which rope r changes its state, between now and ``high``; 0 if at once."""

        def one(step: float) -> float:
            return float(self.excess(step)[r])

        bound = 0.0 if self.taut[r] else -AWAY * self.length[r] ** 2
        low, at_low = max(0.0, float(self.held[r])), float(self.now[r])
        if low > 0.0:
            at_low = one(low)
        if not at_low < bound:
            if self.taut[r]:
                return low
            # It has just gone slack: look for the instant at which it comes back.
            low = 0.5 * high
            while low >= self.sharp and not (at_low := one(low)) < bound:
                high, low = low, 0.5 * low
            if low < self.sharp:  # it was never shorter
                return 0.0
        at_high = one(high)
        if at_high <= 0.0:
            return high
        root = zero_between(one, (low, at_low), (high, at_high), 1e-2 * self.sharp)
        return root if root >= self.sharp else 0.0


RELATIVE = 1e-14
"""Relative accuracy of a root."""


def zero_between(
    f: Callable[[float], float], first: tuple[float, float], last: tuple[float, float], sharp: float
) -> float:
    """A root x of f between two (x, f(x)) of different signs, to the accuracy ``sharp``: Brent's method.
    Source: Brent, Algorithms for Minimization without Derivatives (1973), ch. 4; the steps are those of SciPy's
    ``brentq``, which takes longer to import than a small model to run."""
    (before, at_before), (x, at), step, last_step = first, last, 0.0, 0.0
    other, at_other = before, 0.0
    for _ in range(MOST_TRIALS):
        if at_before != 0.0 and at != 0.0 and (at_before > 0.0) != (at > 0.0):
            other, at_other = before, at_before
            step = last_step = x - before
        if abs(at_other) < abs(at):
            before, x, other = x, other, x
            at_before, at, at_other = at, at_other, at
        least, middle = 0.5 * (sharp + RELATIVE * abs(x)), 0.5 * (other - x)
        if at == 0.0 or abs(middle) < least:
            break
        wanted = math.inf
        if abs(last_step) > least and abs(at) < abs(at_before):
            if before == other:  # secant
                wanted = -at * (x - before) / (at - at_before)
            else:  # inverse quadratic interpolation
                one, two = (at_before - at) / (before - x), (at_other - at) / (other - x)
                if below := two * one * (at_other - at_before):
                    wanted = -at * (at_other * two - at_before * one) / below
        if 2.0 * abs(wanted) < min(abs(last_step), 3.0 * abs(middle) - least):
            last_step, step = step, wanted
        else:
            last_step = step = middle
        before, at_before = x, at
        x += step if abs(step) > least else math.copysign(least, middle)
        at = f(x)
    return x
