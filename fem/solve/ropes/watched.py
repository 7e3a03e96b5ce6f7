"""Common parts of dynamic and static steps with ropes: states of the ropes, single increments, violations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.environment import thermal_rows
from fem.assembly.system import System
from fem.compiled import bound
from fem.errors import ModelError, listed
from fem.forces.bar import FRICTION, INV_LENGTH, senses
from fem.model.curves import Constant
from fem.runs.record import Event
from fem.solve.newton import groups
from fem.solve.newton.gaps import excesses, gaps, peaks
from fem.solve.newton.groups import CONTROL, LIMIT, ROW, Motion, Ropes
from fem.solve.rods import SAME_LENGTH, stretch_of
from fem.solve.rope_states import MOST_KEPT, Stages, can_change, gaps_of
from fem.solve.state import StepState
from fem.solve.step_system import NO_ROPES, StepSystem, loading, record, support_motion, thermal_mean, weighted


class Failed(Exception):
    """A part of an increment could not be solved; ``reason``, ``control`` and ``increments`` as the march left them."""

    def __init__(self, reason: int, control: Ints, increments: Floats) -> None:
        super().__init__()
        self.reason, self.control, self.increments = reason, control, increments


Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
Read = TypeVar("Read")


class Piece:
    """One increment of any size, of a stage; its arrays serve for other increments, too.

    control, kept, chunk  where its march is, its record, its loads
    """

    def __init__(self, step_run: StepState, ropes: Ropes, begin: float, end: float, dt: float) -> None:
        self.stage, motion = step_run.stage, step_run.progress.motion
        self.chunk = loading(self.stage, motion, np.array([begin, end]), np.array([dt]))
        self.kept = record(self.stage, 1, step_run.nodes, step_run.elements)
        self.control = np.zeros(len(CONTROL), np.int64)
        self.control[CONTROL.judged] = 1
        self._sums = self.control, self.kept.increments, self.kept.kinematics, self.kept.values
        self._cases = [case for case in self.stage.loads.cases if not isinstance(case.curve, Constant)]
        self._excess = np.zeros(len(ropes.bars))
        self._excesses = bound(excesses, ropes, self.stage.bars, motion.u, motion.multiplier, self._excess)

    def fits(self, step_run: StepState) -> bool:
        """Whether an increment from the present state has the same supports that move."""
        moving = self.stage.environment.supports.moving(step_run.progress.motion.u)
        return self.stage is step_run.stage and self.chunk.support_dofs.tobytes() == moving.tobytes()

    def become(self, begin: float, end: float, dt: float, same_start: bool) -> None:
        """Writes the loads of another increment, as ``loading`` does; same_start: from the same instant as the last."""
        stage, chunk = self.stage, self.chunk
        for array in self._sums:
            array[:] = 0
        self.control[CONTROL.judged] = 1
        if same_start and (chunk.time.item(1), chunk.dt.item(0)) == (end, dt):
            return
        chunk.time[:], chunk.dt[0] = (begin, end), dt
        if self._cases:
            chunk.factors[:] = stage.loads.factors(chunk.time)
            chunk.weighted[:] = weighted(stage, chunk.factors)
        if len(chunk.support_dofs):
            start, supports = chunk.support_start if same_start else None, stage.environment.supports
            moves = support_motion(stage, supports, chunk.support_dofs, chunk.time, chunk.dt, start)
            chunk.support_u[:], chunk.support_v[:], chunk.support_a[:], chunk.support_start[:] = moves
        if len(chunk.thermal_end) > 1:
            chunk.thermal_end[:] = thermal_rows(stage.system, stage.environment, chunk.time)
            chunk.thermal_mean[:] = thermal_mean(stage, chunk.thermal_end)

    def excess(self) -> Floats:
        """(r,) the numbers that the march tests: minus the multipliers of taut ropes, the gaps of slack ones."""
        self._excesses()
        return self._excess.copy()


class Watched:
    """The ropes of one step, stops among them: ropes whose length counts negative (``sense`` (r,) -1).

    taut (r,)      their states;  ropes: what the march watches;  length (r,);  friction (r,) of planes
    can_pull (r,)  not between two supports;  trouble: why the last increment was given up, or nothing
    pending        events that are not reported yet
    same_length    strain that is round-off of the model
    """

    trouble = ""
    same_length = SAME_LENGTH
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
        self.pending: list[Event] = []
        self._pieces: dict[int, Piece] = {}
        motion, self._gap = step_run.progress.motion, np.zeros(len(index))
        self._measure = bound(gaps, index, bars, motion.u, self._gap)

    @property
    def current(self) -> StepSystem:
        """The stage of the states that the march uses."""
        return self.stages.of(self.taut)

    def tell(self) -> None:
        """Reports the events of ropes."""
        for event in self.pending:
            self.step_run.sink.event(event)
        self.pending.clear()

    def _refuse_too_long(self, gap: Floats) -> None:
        """ModelError where a rope is longer than its length at the start of the step."""
        strain = gap / self.length**2
        if strain.max() > self.same_length:
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

    def _piece(self, begin: float, end: float, dt: float, same_start: bool = False) -> Piece:
        """One increment of the present stage, in the arrays of the last one. same_start: a trial from the same state
        as the last one"""
        m = self.step_run
        piece = self._pieces.get(id(m.stage))
        if piece and (same_start or piece.fits(m)):
            piece.become(begin, end, dt, same_start)
            return piece
        if len(self._pieces) >= MOST_KEPT:
            self._pieces.clear()
        self._pieces[id(m.stage)] = piece = Piece(m, self.ropes, begin, end, dt)
        return piece

    def _march(self, piece: Piece, ropes: Ropes, is_trial: bool = False) -> Piece:
        """Computes an increment, without a check of its local error; Failed: it has no solution."""
        m, limits = self.step_run, self.step_run.stage.limits
        allowed, limits[LIMIT.time_error] = float(limits[LIMIT.time_error]), 0.0
        reason = (m.try_out if is_trial else m.iterate)(piece.control, piece.chunk, piece.kept, ropes)
        limits[LIMIT.time_error] = allowed
        if reason not in (groups.DONE, groups.EVENT):
            raise Failed(reason, piece.control.copy(), piece.kept.increments.copy())
        return piece

    def trial(
        self, begin: float, end: float, read: Callable[[Piece], Read], start: Motion | None = None, again: bool = False
    ) -> Read:
        """Result of ``read`` after a trial increment with constant states; the motion is restored.
        start: a copy of it, if there is one;  again: the last trial was from the same state"""
        motion = self.step_run.progress.motion
        saved = start or copy_of(motion)
        piece = self._march(self._piece(begin, end, end - begin, again), NO_ROPES, is_trial=True)
        found = read(piece)
        restore(motion, saved)
        return found

    def excess(self) -> Floats:
        """(r,) the numbers that the march tests: minus the multipliers of taut ropes, the gaps of slack ones."""
        stage, motion = self.step_run.stage, self.step_run.progress.motion
        if (piece := self._pieces.get(id(stage))) and piece.stage is stage:
            return piece.excess()
        found = np.zeros(len(self.taut))
        excesses(self.ropes, stage.bars, motion.u, motion.multiplier, found)
        return found

    def _gaps(self) -> Floats:
        """(r,) gaps of all ropes."""
        self._measure()
        return self._gap.copy()

    def _peaks(self, dt: float, before: Motion, after: Motion) -> tuple[Floats, Floats]:
        """(r,) largest gaps between two instants, and the fraction of dt at which they occur (``gaps.peak_of``)."""
        peak, part, bars = np.zeros(len(self.taut)), np.ones(len(self.taut)), self.stages.first.bars
        peaks(self.ropes.bars, dt, before.u, before.v, after.u, after.v, bars, peak, part)
        return peak, part

    def _lengthening(self, motion: Motion, dt: float) -> Floats:
        """(r,) change of the gaps of all ropes in dt at the present rates (a gap is quadratic in u)."""
        bars, index, move = self.stages.first.bars, self.ropes.bars, dt * motion.v
        return 0.5 * (gaps_of(bars, index, motion.u + move) - gaps_of(bars, index, motion.u - move))

    def names(self, chosen: Flags) -> str:
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
        self.pending.append(event_of(m.system, at, e, what, self.sense[r], loss))


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
