"""Lengths of the ropes and rods of a step: gaps, gradients over the independent dofs, relative motion of their ends."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.constraints import Independent
from fem.forces.bars import bar
from fem.forces.bars.strain import LINEAR
from fem.solve.ropes.states import gaps_of
from fem.solve.step_system import StepSystem


class Lengths:
    """Of bars ``index`` (c,) of a stage, all of which may pull. square (c,) lengths squared; sense (c,) -1: stops."""

    def __init__(self, stage: StepSystem, index: Ints) -> None:
        bars = stage.bars
        self.index, self.bars = index, bars
        self.square: Floats = 1.0 / bars.constants[bar.INV_LENGTH, index] ** 2
        self.sense: Floats = bar.senses(bars, index)
        self.is_linear = bars.kinds[index, 0] == LINEAR
        self.dofs = Independent(stage.nodes.dof_kind, stage.equations)

    def gaps(self, u: Floats) -> Floats:
        """(l^2 - L0^2)/2, of stops minus that."""
        return gaps_of(self.bars, self.index, u)

    def relative(self, chosen: Ints, x: Floats) -> Floats:
        """(c, 3) x_j - x_i of some of them; zero where the bar is geometrically linear."""
        ends = x.reshape(-1, 3)[self.bars.nodes[self.index[chosen]]]
        return np.where(self.is_linear[chosen, None], 0.0, ends[:, 1] - ends[:, 0])

    def gradients(self, chosen: Ints, u: Floats) -> tuple[Floats, Floats]:
        """G of some of them at u: over all dofs (c, 3n), and over the independent ones."""
        e, dofs = self.index[chosen], self.dofs
        first = np.where(self.is_linear[chosen], bar.BASE, bar.REF)
        ends, w = 3 * self.bars.nodes[e], self.relative(chosen, u)
        rows = np.zeros((len(chosen), len(u)))
        at = np.arange(len(chosen))
        for c in range(3):
            d = self.sense[chosen] * (self.bars.constants[first + c, e] + w[:, c])
            rows[at, ends[:, 1] + c] += d
            rows[at, ends[:, 0] + c] -= d
        return rows, rows[:, dofs.unknown] if dofs.transform is None else rows @ dofs.transform
