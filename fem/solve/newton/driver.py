"""A Newton step beside the increment loop: linear solves outside of kernels, ropes that are watched."""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.solve.advice import failure_message
from fem.solve.increment import OneStep
from fem.solve.newton.convergence import forcing_of
from fem.solve.newton.groups import NEED_SOLVE, PHASE, Loading, Motion, Record, Ropes
from fem.solve.newton.march import march
from fem.solve.step_system import NO_ROPES

SINGULAR = -1
"""Outcome of a chunk whose linear system had no solution."""


class Newton:
    """The march of implicit schemes and of statics."""

    notice = ""
    can_cut = True
    lives: tuple[str, ...] = ()

    def rope_start(self, step: OneStep) -> None:
        """Ropes that are watched set off by themselves."""

    def refuse(self, held: Ints, motion: Motion) -> None:
        """It goes through everything."""

    def length(self, count: int, increment: int) -> int:
        """As many increments as there may be."""
        return count

    def due(self, step: OneStep, chunk: Loading) -> Flags:
        """(k,) all."""
        return np.ones(len(chunk.dt), np.bool_)

    def march(self, step: OneStep, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """Through a chunk, or up to where ropes change."""
        if step.watched:
            return step.watched.march(control, chunk, kept)
        return iterate(step, control, chunk, kept, NO_ROPES)

    def tell(self, step: OneStep, before: int, times: Floats) -> None:
        """Who watches ropes tells of them."""

    def failure(self, step: OneStep, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Why the step stopped."""
        trouble = step.watched.trouble if step.watched else ""
        where = step.number, step.stage, step.step, step.clock, step.progress
        return trouble or failure_message(*where, reason, control, increments, dt)


def iterate(step: OneStep, control: Ints, chunk: Loading, kept: Record, ropes: Ropes) -> int:
    """Call the Newton march until it needs no more linear solves from here. ropes: those it watches."""
    stage, motion = step.stage, step.progress.motion
    problem = stage.problem._replace(ropes=ropes)
    while True:
        reason = march(
            len(chunk.dt), control, stage.coefficients, stage.limits, problem, chunk, step.arc, motion, stage.work, kept
        )
        if reason != NEED_SOLVE:
            return int(reason)
        phase = int(control[PHASE])
        if not stage.solver_of(phase).solve(stage.work, forcing_of(phase, motion.memory)):
            return SINGULAR
        step.patience.note_refusal(stage)
