"""A Newton step beside the increment loop: linear solves outside of kernels, ropes that are watched."""

from __future__ import annotations

from fem.arrays import Flags, Floats, Ints
from fem.solve.advice import failure_message
from fem.solve.increment import Marcher, OneStep
from fem.solve.newton.groups import (
    CONTROL,
    DONE,
    FILTER,
    NEED_SOLVE,
    NOT_CONVERGED,
    NOT_FINITE,
    OPEN,
    Loading,
    Record,
    Ropes,
)
from fem.solve.newton.iterate import forcing_of
from fem.solve.newton.march import march
from fem.solve.statics.laying import LAID, laid, may_be_laid
from fem.solve.statics.unrestrained import careful_nodes
from fem.solve.step_system import NO_ROPES

SINGULAR = -1
"""Outcome of a chunk whose linear system had no solution."""
LOST = (SINGULAR, NOT_CONVERGED, NOT_FINITE)
"""Outcomes of a chunk in which Newton's method did not find an equilibrium."""


class Newton(Marcher):
    """The march of implicit schemes and of statics."""

    can_cut = True

    def march(self, step: OneStep, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """Through a chunk, or up to where ropes change."""
        if step.watched:
            return step.watched.march(control, chunk, kept)
        reason = step.iterate(control, chunk, kept, NO_ROPES)
        while reason == SINGULAR and self._carefully(step, control, chunk, kept):
            reason = iterate(step, control, chunk, kept, NO_ROPES)  # none where that was the last increment: DONE
        if reason in LOST and self._laid(step, control, chunk, kept):
            return DONE if control[CONTROL.increment] == len(chunk.dt) else self.march(step, control, due, chunk, kept)
        return reason

    def _carefully(self, step: OneStep, control: Ints, chunk: Loading, kept: Record) -> bool:
        """Once more through an increment of statics whose tangent is singular, past slack bars; whether it succeeds."""
        stage, nodes = step.stage, step.stage.nodes
        careful = None if stage.is_dynamic or len(step.arc.last) else careful_nodes(stage)
        if careful is None:
            return False
        stage.nodes = careful
        control[CONTROL.phase], control[CONTROL.waiting] = OPEN, 0
        reason = iterate(step, control, chunk, kept, NO_ROPES, int(control[CONTROL.increment]) + 1)
        stage.nodes = nodes
        return reason == DONE

    def _laid(self, step: OneStep, control: Ints, chunk: Loading, kept: Record) -> bool:
        """Once more through an increment of statics, from where cables are at rest in it; whether it succeeds."""
        stage, motion, increment = step.stage, step.progress.motion, int(control[CONTROL.increment])
        if stage.is_dynamic or len(step.arc.last) or not step.step.nlgeom or not may_be_laid(stage):
            return False
        before = motion.u.copy()
        for found in laid(stage, motion, chunk, increment):
            motion.u[:] = found
            control[CONTROL.phase], control[CONTROL.waiting] = OPEN, 0
            reason = iterate(step, control, chunk, kept, NO_ROPES, increment + 1)
            if reason == DONE or (reason == SINGULAR and self._carefully(step, control, chunk, kept)):
                step.notify(LAID)
                return True
            motion.u[:] = before
        return False

    def failure(self, step: OneStep, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Why the step stopped."""
        trouble = step.watched.trouble if step.watched else ""
        return trouble or failure_message(step, reason, control, increments, dt)


def iterate(step: OneStep, control: Ints, chunk: Loading, kept: Record, ropes: Ropes, end: int | None = None) -> int:
    """Call the Newton march until it needs no more linear solves from here. ropes: those it watches."""
    stage, motion, end = step.stage, step.progress.motion, end or len(chunk.dt)
    through = stage.passage(chunk, motion, kept)
    through = through._replace(problem=through.problem._replace(ropes=ropes))
    while True:
        reason = march(end, control, step.arc, through)
        if reason != NEED_SOLVE:
            return int(reason)
        phase = int(control[CONTROL.phase])
        if not stage.solver_of(phase).solve(stage.work, forcing_of(phase, motion.memory)):
            if phase != FILTER:
                return SINGULAR
            stage.work.du[:] = stage.work.momentum  # what cannot be filtered counts in full
        step.patience.note_refusal(stage)
