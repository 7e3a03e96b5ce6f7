"""Stiffness matrix K of a state, symmetric or not, from the tangent of its forces.

K u is computed bar by bar, from differences of displacements: thus rounding errors of a stiff inclined bar do not hide
the stiffness of tension, as they do in the sum over all bars. The sum is used for factorisation only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Complexes, Floats, Ints, Sparse
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q, bar_blocks
from fem.forces.protocol import Tangent
from fem.solve.step_system import StepSystem


class Stiffness(NamedTuple):
    """K, of n nodes and m bars, symmetric or not.

    tangent     its entries, with alpha = 0 for rods
    incidence   (m, n) sparse: differences between the ends of bars
    rest        (3n, 3n) sparse: K without bars
    places      rows and columns of the entries of ``entries``
    """

    tangent: Tangent
    incidence: Sparse
    rest: Sparse
    places: tuple[Ints, Ints]

    def bar_forces(self, u: Complexes | Floats) -> Complexes:
        """(m, 3) forces of bars, without rods, on their second nodes at displacements (3n,)."""
        way, bars = self.incidence @ u.reshape(-1, 3), self.tangent.bar_tangent
        along = bars[ALPHA] * (bars[Q : Q + 3].T * way).sum(axis=1)
        return np.asarray(along[:, None] * bars[P : P + 3].T + bars[GEOMETRIC, :, None] * way)

    def times(self, u: Complexes | Floats) -> Complexes:
        """(3n,) K u."""
        return np.asarray((self.incidence.T @ self.bar_forces(u)).ravel() + self.rest @ u)


def stiffness_of(stage: StepSystem) -> Stiffness:
    """The stiffness at the state evaluated into ``stage.work``."""
    from scipy.sparse import coo_array

    tangent, ends, count = stage.work.tangent, stage.bars.nodes, len(stage.system.labels)
    numbers = tangent.bar_tangent.copy()
    numbers[ALPHA, np.isinf(numbers[ALPHA])] = 0.0
    own = tangent._replace(bar_tangent=numbers, block=tangent.block.copy(), cross=tangent.cross.copy())
    bars = np.repeat(np.arange(len(ends)), 2), ends.ravel()
    incidence = coo_array((np.tile([-1.0, 1.0], len(ends)), bars), shape=(len(ends), count)).tocsr()
    places, size = places_of(tangent), stage.system.size
    rest, first = entries(own), 36 * len(ends)
    others = coo_array((rest[first:], (places[0][first:], places[1][first:])), shape=(size, size)).tocsr()
    return Stiffness(own, incidence, others, places)


def entries(own: Tangent) -> Floats:
    """All entries of a tangent: bars at jj, ii, ij, ji, nodes, pairs ij and ji."""
    bars = bar_blocks(own.bar_tangent)
    return np.concatenate([each.ravel() for each in (bars, bars, -bars, -bars, own.block, own.cross)])


def places_of(tangent: Tangent) -> tuple[Ints, Ints]:
    """Rows and columns of ``entries``; without blocks of nodes if the tangent has none."""
    i, j = tangent.ends.T
    own, (first, second) = np.arange(len(tangent.block)), tangent.pairs.T
    pairs = np.stack([first, second], axis=1).ravel(), np.stack([second, first], axis=1).ravel()
    rows, columns = np.concatenate([j, i, i, j, own, pairs[0]]), np.concatenate([j, i, j, i, own, pairs[1]])
    axes = np.arange(3)
    down = np.broadcast_to(3 * rows[:, None, None] + axes[:, None], (len(rows), 3, 3))
    across = np.broadcast_to(3 * columns[:, None, None] + axes, (len(rows), 3, 3))
    return down.ravel(), across.ravel()


def largest(values: Complexes | Floats) -> float:
    """Largest magnitude; 0 of an empty array."""
    return float(np.abs(values).max(initial=0.0))
