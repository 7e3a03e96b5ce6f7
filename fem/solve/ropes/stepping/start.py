"""Where a step over impacts sets off: taut ropes, impacts, pulls and accelerations are those of an instant."""

from __future__ import annotations

from collections.abc import Callable

from fem.arrays import Flags
from fem.solve.increment import OneStep
from fem.solve.newton.groups import Loading, Motion
from fem.solve.ropes.states import Stages
from fem.solve.ropes.switching import Switched
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem


class SettingOff(Switched):
    """The ropes of one step before its first increment. take_up: is told which are taut (r,)."""

    def __init__(self, step_run: OneStep, stages: Stages, take_up: Callable[[Flags], None]) -> None:
        super().__init__(step_run, stages)
        self.take_up = take_up

    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem:
        """The stage of the states in which ropes set off, the state evaluated; the march is of that without them.

        Without impacts lengths go on to be kept in the middle of increments, as in the step before.
        """
        found = self.start(motion, self.step_run.clock.start)
        if not self._pending:
            motion.v[:] += self.held_back
        self.step_run.stage = self.stages.first
        self.take_up(self.taut)
        evaluate_start(found, motion, instant)
        return found
