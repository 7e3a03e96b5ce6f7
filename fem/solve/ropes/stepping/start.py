"""Where a step over impacts sets off: taut ropes, impacts, pulls and accelerations are those of an instant."""

from __future__ import annotations

from fem.solve.increment import OneStep
from fem.solve.newton.groups import Loading, Motion
from fem.solve.ropes.moreau import Moreau
from fem.solve.ropes.states import Stages
from fem.solve.ropes.switching import Switched
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem


class SettingOff(Switched):
    """The ropes of one step before its first increment."""

    def __init__(self, step_run: OneStep, moreau: Moreau, wanted: str) -> None:
        stage = moreau.stage
        super().__init__(step_run, Stages(stage, moreau.all, step_run.step.controls, wanted))
        self.moreau = moreau

    def begin(self, motion: Motion, instant: Loading) -> StepSystem:
        """The stage of the states in which ropes set off, the state evaluated; the march is of that without them.

        Without impacts lengths go on to be kept in the middle of increments, as in the step before.
        """
        found = self.start(motion, self.step_run.clock.start)
        if not self._pending:
            motion.v[:] += self.held_back
        self.step_run.stage = self.moreau.stage
        self.moreau.begin(self.taut)
        evaluate_start(found, motion, instant)
        return found
