"""When a step stops asking its iterative linear solver: it gave up systems, or costs more than factors."""

from __future__ import annotations

from dataclasses import replace

from fem.arrays import Say
from fem.solve.linear.choice import NAMES
from fem.solve.newton import groups
from fem.solve.newton.groups import MEMORY, Motion
from fem.solve.step_system import StepSystem

MOST_REFUSALS = 3
"""Linear systems that the iterative solver may give up in a step before the direct solver takes all."""
MANY_PRODUCTS = 120
"""Iterations of conjugate gradients per solve of a chunk beyond which kept factors are cheaper: on nets of 100 x 100 to
300 x 300 a back-substitution costs 15 to 18 of them, and a solve with its part of factorisations 6 or 7 of those."""


class Patience:
    """Of one step. tell: takes a notice."""

    lives = ("refusals",)

    def __init__(self, tell: Say) -> None:
        self.tell, self.refusals = tell, 0

    def note_refusal(self, stage: StepSystem) -> None:
        """The iterative solver gave a system up (indefinite, or too stiff for it): after a few, stop asking it."""
        self.refusals += 1
        if self.refusals >= MOST_REFUSALS:
            self._stop(stage, "gave up on indefinite or stiff systems")

    def judge(self, stage: StepSystem, motion: Motion, solves: float) -> None:
        """Conjugate gradients that need many iterations cost more than solves with a factor that is kept."""
        memory = motion.memory
        if memory[MEMORY.spent] > MANY_PRODUCTS * solves:
            self._stop(stage, f"need {memory[MEMORY.spent] / solves:.0f} iterations a solve")
        memory[MEMORY.spent] = 0.0

    def _stop(self, stage: StepSystem, reason: str) -> None:
        """From iterative solves to the direct solver, for the rest of the step."""
        choice = stage.choice
        if choice.solver in (groups.CG, groups.BICGSTAB):
            stage.choice = replace(choice, solver=groups.EXTERNAL)
            self.tell(f"{NAMES[choice.solver]} {reason}: solved directly from here on ({choice.remark})")
