"""The march of implicit schemes and of statics, and what statics tries where it finds no equilibrium."""

from __future__ import annotations

from fem.arrays import Flags, Floats, Ints
from fem.solve.advice import failure_message
from fem.solve.newton.groups import CONTROL, DONE, NOT_CONVERGED, NOT_FINITE, OPEN, Loading, Record
from fem.solve.state import SINGULAR, Marcher, StepState
from fem.solve.statics.laying import LAID, laid, may_be_laid
from fem.solve.statics.mechanisms import careful_nodes
from fem.solve.step_system import NO_ROPES

LOST = (SINGULAR, NOT_CONVERGED, NOT_FINITE)
"""Outcomes of a chunk in which Newton's method did not find an equilibrium."""


class Newton(Marcher):
    """The march of implicit schemes and of statics."""

    can_cut = True

    def march(self, step: StepState, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """Through a chunk; once more where statics finds no equilibrium by itself."""
        reason = step.iterate(control, chunk, kept, NO_ROPES)
        while reason == SINGULAR and self._carefully(step, control, chunk, kept):
            reason = step.try_out(control, chunk, kept, NO_ROPES)  # none where that was the last increment: DONE
        if reason in LOST and self._laid(step, control, chunk, kept):
            return DONE if control[CONTROL.increment] == len(chunk.dt) else self.march(step, control, due, chunk, kept)
        return reason

    def _carefully(self, step: StepState, control: Ints, chunk: Loading, kept: Record) -> bool:
        """Once more through an increment of statics whose tangent is singular, past slack bars; whether it succeeds."""
        stage, nodes = step.stage, step.stage.nodes
        careful = None if stage.is_dynamic or len(step.arc.last) else careful_nodes(stage)
        if careful is None:
            return False
        stage.nodes = careful
        control[CONTROL.phase], control[CONTROL.waiting] = OPEN, 0
        reason = step.try_out(control, chunk, kept, NO_ROPES, int(control[CONTROL.increment]) + 1)
        stage.nodes = nodes
        return reason == DONE

    def _laid(self, step: StepState, control: Ints, chunk: Loading, kept: Record) -> bool:
        """Once more through an increment of statics, from where cables are at rest in it; whether it succeeds."""
        stage, motion, increment = step.stage, step.progress.motion, int(control[CONTROL.increment])
        if stage.is_dynamic or len(step.arc.last) or not step.step.nlgeom or not may_be_laid(stage):
            return False
        before = motion.u.copy()
        for found in laid(stage, motion, chunk, increment):
            motion.u[:] = found
            control[CONTROL.phase], control[CONTROL.waiting] = OPEN, 0
            reason = step.try_out(control, chunk, kept, NO_ROPES, increment + 1)
            if reason == DONE or (reason == SINGULAR and self._carefully(step, control, chunk, kept)):
                step.notify(LAID)
                return True
            motion.u[:] = before
        return False

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Why the step stopped."""
        return failure_message(step, reason, control, increments, dt)
