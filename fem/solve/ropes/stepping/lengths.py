"""Lengths of the ropes and rods of a step: gaps, gradients over the independent dofs, relative motion of their ends.

And the tangents of planes with friction, along which nodes may slip.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.constraints import Independent
from fem.forces.bars import bar
from fem.forces.bars.strain import LINEAR
from fem.solve.ropes.states import gaps_of
from fem.solve.ropes.stepping.friction import Slips
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
        e, w = self.index[chosen], self.relative(chosen, u)
        first = np.where(self.is_linear[chosen], bar.BASE, bar.REF)
        way = np.stack([self.bars.constants[first + c, e] + w[:, c] for c in range(3)], axis=1)
        return self._spread(e, self.sense[chosen][:, None] * way, len(u))

    def slips(self, chosen: Ints, size: int) -> Slips:
        """Those of the planes with friction among some of them; size: number of dofs.

        The first tangent lies across the axis that the normal is least along: in plane models the second lies in them.
        """
        mu = self.bars.constants[bar.FRICTION, self.index[chosen]]
        (rubs,) = np.nonzero(mu > 0.0)
        e = np.tile(self.index[chosen[rubs]], 2)
        normal = self.bars.constants[bar.BASE : bar.BASE + 3, e[: len(rubs)]].T
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        first = np.cross(normal, np.eye(3)[np.abs(normal).argmin(axis=1)])
        first *= length / np.linalg.norm(first, axis=1, keepdims=True)
        rows, reduced = self._spread(e, np.concatenate([first, np.cross(normal, first) / length]), size)
        return Slips(np.tile(rubs, 2), np.tile(mu[rubs], 2), rows, reduced)

    def _spread(self, e: Ints, way: Floats, size: int) -> tuple[Floats, Floats]:
        """Gradients of bars e from those at their second nodes (c, 3)."""
        rows, at, ends, dofs = np.zeros((len(e), size)), np.arange(len(e)), 3 * self.bars.nodes[e], self.dofs
        for c in range(3):
            rows[at, ends[:, 1] + c] += way[:, c]
            rows[at, ends[:, 0] + c] -= way[:, c]
        return rows, rows[:, dofs.unknown] if dofs.transform is None else rows @ dofs.transform
