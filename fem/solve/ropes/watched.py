"""Common parts of dynamic and static steps with ropes: states of the ropes, single increments, violations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.system import System
from fem.errors import ModelError, listed
from fem.forces.bar import FRICTION, INV_LENGTH, senses
from fem.runs.record import Event
from fem.solve.newton import groups
from fem.solve.newton.gaps import excesses, peaks
from fem.solve.newton.groups import CONTROL, LIMIT, ROW, Ledger, Loading, Motion, Ropes
from fem.solve.rods import SAME_LENGTH, stretch_of
from fem.solve.rope_states import Stages, can_change, gaps_of
from fem.solve.state import StepState
from fem.solve.step_system import NO_ROPES, StepSystem, loading, record


class Failed(Exception):
    """A part of an increment could not be solved; ``reason``, ``control`` and ``increments`` as the march left them."""

    def __init__(self, reason: int, control: Ints, increments: Floats) -> None:
        super().__init__()
        self.reason, self.control, self.increments = reason, control, increments


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
Read = TypeVar("Read")
Marched: TypeAlias = tuple[Ints, Ledger, Loading]
"""Where the march of an increment is, its record, its loads."""


class Watched:
    """The ropes of one step, stops among them: ropes whose length counts negative (``sense`` (r,) -1).

    taut (r,)      their states;  ropes: what the march watches;  length (r,);  friction (r,) of planes
    can_pull (r,)  not between two supports;  trouble: why the last increment was given up, or nothing
    """

    trouble = ""
    changing: tuple[str, ...] = ("taut", "trouble")

    def __init__(self, step_run: StepState, stages: Stages) -> None:
        self.step_run, self.stages = step_run, stages
        index, bars = stages.ropes, stages.first.bars
        self.taut: Flags = np.ones(len(index), np.bool_)
        self.ropes = Ropes(index, np.zeros(len(index)))
        self.length: Floats = 1.0 / bars.constants[INV_LENGTH, index]
        self.sense: Floats = senses(bars, index)
        self.friction: Floats = bars.constants[FRICTION, index]
        self.can_pull: Flags = can_change(bars, index, stages.first.nodes.dof_kind)
        self._pending: list[Event] = []

    @property
    def current(self) -> StepSystem:
        """The stage of the states that the march uses."""
        return self.stages.of(self.taut)

    def tell(self) -> None:
        """Reports the events of ropes."""
        for event in self._pending:
            self.step_run.sink.event(event)
        self._pending.clear()

    def _refuse_too_long(self, gap: Floats) -> None:
        """ModelError where a rope is longer than its length at the start of the step."""
        strain = gap / self.length**2
        if strain.max() > SAME_LENGTH:
            r = int(strain.argmax())
            name = self.stages.first.system.name_bar(int(self.ropes.bars[r]))
            if self.stages.first.system.node_at_plane(int(self.ropes.bars[r])):
                raise ModelError(f"{name} is {strain[r] * self.length[r]:.6g} below it at the start of the step")
            what = "rope" if self.sense[r] > 0.0 else "stop"
            index, bars = int(self.ropes.bars[r]), self.stages.first.bars
            distance = self.length[r] * stretch_of(bars, index, float(self.sense[r] * strain[r]))
            raise ModelError(
                f"{name} is a {what} of length {self.length[r]:.9g}, but its nodes are {distance:.9g} apart "
                "at the start of the step"
            )

    def _march(self, begin: float, end: float, dt: float, ropes: Ropes, room: list[Marched] | None = None) -> Marched:
        """One increment of any size, without a check of its local error; Failed: it has no solution.
        room  of a trial: that of an earlier one from the same state, whose arrays are used again; empty: not yet"""
        m, limits = self.step_run, self.step_run.stage.limits
        allowed, limits[LIMIT.time_error] = float(limits[LIMIT.time_error]), 0.0
        like = room[0] if room else None
        known = (like[2].support_dofs, like[2].support_start) if like else ()
        chunk = loading(m.stage, m.progress.motion, np.array([begin, end]), np.array([dt]), *known)
        if like:
            control, kept, before = like
            for array, its in zip(before, chunk, strict=True):
                array[:] = its
            chunk, control[:] = before, 0
        else:
            control, kept = np.zeros(len(CONTROL), np.int64), record(m.stage, 1, m.nodes, m.elements)
        control[CONTROL.judged] = 1
        reason = (m.iterate if room is None else m.try_out)(control, chunk, kept, ropes)
        limits[LIMIT.time_error] = allowed
        if reason not in (groups.DONE, groups.EVENT):
            raise Failed(reason, control, kept.increments)
        if room is not None:
            room[:] = [(control, kept, chunk)]
        return control, kept, chunk

    def trial(self, begin: float, end: float, read: Callable[[], Read], room: list[Marched] | None = None) -> Read:
        """Result of ``read`` after a trial increment with constant states; the motion is restored. room: as for
        ``_march``, with all trials from one state."""
        motion = self.step_run.progress.motion
        saved = copy_of(motion)
        self._march(begin, end, end - begin, NO_ROPES, [] if room is None else room)
        found = read()
        restore(motion, saved)
        return found

    def excess(self, motion: Motion) -> Floats:
        """(r,) the numbers that the march tests: minus the multipliers of taut ropes, the gaps of slack ones."""
        found = np.zeros(len(self.taut))
        excesses(self.ropes, self.step_run.stage.bars, motion.u, motion.multiplier, found)
        return found

    def _gaps(self, motion: Motion) -> Floats:
        """(r,) gaps of all ropes."""
        return gaps_of(self.stages.first.bars, self.ropes.bars, motion.u)

    def _peaks(self, dt: float, before: Motion, after: Motion) -> tuple[Floats, Floats]:
        """(r,) largest gaps between two instants, and the fraction of dt at which they occur (``gaps.peak_of``)."""
        peak, part, bars = np.zeros(len(self.taut)), np.ones(len(self.taut)), self.stages.first.bars
        peaks(self.ropes.bars, dt, before.u, before.v, after.u, after.v, bars, peak, part)
        return peak, part

    def _lengthening(self, motion: Motion, dt: float) -> Floats:
        """(r,) change of the gaps of all ropes in dt at the present rates (a gap is quadratic in u)."""
        bars, index, move = self.stages.first.bars, self.ropes.bars, dt * motion.v
        return 0.5 * (gaps_of(bars, index, motion.u + move) - gaps_of(bars, index, motion.u - move))

    def _names(self, chosen: Flags) -> str:
        """Some ropes (r,), for a message."""
        return listed([self.step_run.system.name_bar(int(e)) for e in self.ropes.bars[chosen]])

    def _given_up(self, why: str) -> Failed:
        """Notes why the increment cannot be computed from its beginning, and has it cut back."""
        m = self.step_run
        self.trouble = (
            f"step {m.number} stopped at t = {m.progress.time:.9g}: {why}. Smaller increments may help. Everything "
            "computed so far is written"
        )
        return Failed(groups.NOT_CONVERGED, np.zeros(len(CONTROL), np.int64), np.zeros((1, len(ROW))))

    def _happens(self, now: float, r: int, what: str, loss: float = 0.0) -> None:
        """Notes an event of rope r: for a stop "contact" and "apart" instead of "taut" and "slack"."""
        m, e = self.step_run, int(self.ropes.bars[r])
        at = m.number, m.progress.increment + int(m.has_begun), now
        self._pending.append(event_of(m.system, at, e, what, self.sense[r], loss))


def event_of(system: System, at: tuple[int, int, float], e: int, what: str, sense: float, loss: float) -> Event:
    """The event of a rope or stop (sense -1) e in a step and an increment, at a time."""
    what = what if sense > 0.0 else {"taut": "contact", "slack": "apart"}.get(what, what)
    return Event(*at, system.label_of_bar(e), what, loss, system.node_at_plane(e))


def copy_of(arrays: Arrays) -> Arrays:
    """Copy the arrays, for ``restore``."""
    return type(arrays)(*(array.copy() for array in arrays))


def restore(arrays: Arrays, saved: Arrays) -> None:
    """Restores what ``copy_of`` copied."""
    for array, before in zip(arrays, saved, strict=True):
        array[:] = before
