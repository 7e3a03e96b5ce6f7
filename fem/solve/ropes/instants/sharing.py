"""Pulls of ropes that repeat each other: shared for whoever looks at a state, taken back before the march goes on."""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats
from fem.forces.bars.bar import INV_LENGTH
from fem.solve.newton.groups import Motion
from fem.solve.rods.constraints import dense, multiply_transposed, over_independent
from fem.solve.ropes.instants.redundant import shared
from fem.solve.ropes.states import Stages
from fem.solve.start import evaluate_rods


class Shares:
    """What is shared at a state. group (r,): the ropes that share a pull."""

    lives = ("group", "_before")

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.group: Flags = np.zeros(len(stages.ropes), np.bool_)
        self._before: tuple[Floats, Floats, Floats] | None = None

    def put_in(self, motion: Motion, taut: Flags, now: float) -> None:
        """Multipliers, forces and reactions of all ropes that are taut (r,), in place of those the march follows."""
        stage = self.stages.of(taut)
        rods, equations = stage.bars.rods, stage.equations
        self._before = (motion.multiplier.copy(), motion.force.copy(), motion.reaction.copy())
        evaluate_rods(stage, motion, now)
        rows = dense(over_independent(stage, stage.nodes.dof_kind))
        is_rope = np.isin(rods, self.stages.ropes)
        pull = motion.multiplier[rods]
        found = shared(rows, pull, is_rope, 1.0 / stage.bars.constants[INV_LENGTH, rods])
        change = multiply_transposed(stage, found - pull)
        motion.multiplier[rods] = found
        motion.force[:] += change
        np.add.at(
            change, equations.master, equations.factor * change[np.repeat(equations.slave, np.diff(equations.start))]
        )
        motion.reaction[:] += np.where(stage.nodes.dof_kind == 0, change, 0.0)
        moved = np.abs(found - pull) > 1e-9 * np.abs(pull).max(initial=0.0)
        self.group = np.isin(self.stages.ropes, rods[moved])

    def take_out(self, motion: Motion) -> None:
        """Back to those the march follows."""
        if self._before:
            motion.multiplier[:], motion.force[:], motion.reaction[:] = self._before
            self._before = None
