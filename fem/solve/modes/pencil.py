"""Stiffness and mass over the independent dofs, the stiffness kept as the springs it is made of: K = R^T w R.

A row of R takes the stretch of one spring out of a motion: a bar's elongation (w = alpha), one component of the
difference of its ends (w = t, the stiffness of its tension), a spring. In the sum K a stiff bar that lies askew rubs
out the stiffness of tension beside it, by eps EA/L; in products with R^T w R it does not, for a stretch is the
difference of displacements that agree: what remains of the error is eps^2 EA/L in energies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.constraints import reduction
from fem.errors import ModelError
from fem.forces.bars.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.springs import spring_slopes, stiffen_all
from fem.solve.rods.constraints import rod_matrix
from fem.solve.start import mass_matrix
from fem.solve.step_system import StepSystem

DENSE = 150
"""Up to this many equations, rods included, matrices are dense, and all modes are sought at once."""
ROUNDING = 1e3 * float(np.finfo(float).eps)
"""A stretch below this fraction of the displacements it is the difference of is rounding."""
CANCELLED = 1e-9
"""Stiffness of tension and of compression that cancel to this fraction do so as exactly as equilibrium was found."""


@dataclass(frozen=True, slots=True)
class Pencil:
    """K = R^T w R, M and the gradients G of rods, over the independent dofs (n).

    rows       (r, n)  R, sparse
    weights    (r,)    w [N/m]
    axial      ()      so many rows from the first are elongations of bars
    mass       (n, n)  sparse
    gradients  (m, n)  sparse; a motion x keeps the lengths of rods where G x = 0
    transform  (3n', n)  all dofs from the independent ones
    """

    rows: Any
    weights: Floats
    axial: int
    mass: Any
    gradients: Any
    transform: Any

    @property
    def size(self) -> int:
        """How many dofs are independent."""
        return int(self.mass.shape[0])

    @property
    def is_small(self) -> bool:
        """Small enough for dense matrices."""
        return self.size + int(self.gradients.shape[0]) <= DENSE

    @property
    def scale(self) -> float:
        """Size of the largest eigenvalues [1/s^2], roughly."""
        largest = abs(self.rows).max(axis=1).toarray().ravel()
        return float((largest**2 * np.abs(self.weights)).max(initial=0.0)) / float(abs(self.mass).max())

    def stiffness(self, kept: Flags) -> Any:
        """The sum over the ``kept`` rows, sparse."""
        from scipy.sparse import diags_array

        rows = self.rows[np.flatnonzero(kept)]
        return (rows.T @ diags_array(self.weights[kept]) @ rows).tocsc()

    def force(self, shapes: Floats) -> Floats:
        """K x for each column x, spring by spring."""
        return np.asarray(self.rows.T @ (self.weights[:, None] * (self.rows @ shapes)))

    def quotients(self, shapes: Floats) -> Floats:
        """x.K x of columns with x.M x = 1: omega^2."""
        return np.asarray(self.weights @ (self.rows @ shapes) ** 2)

    def are_zero(self, shapes: Floats) -> Flags:
        """Columns that meet no stiffness: what their springs hold is rounding, or cancels as in equilibrium."""
        energies = self.weights[:, None] * (self.rows @ shapes) ** 2
        rounding = np.abs(self.weights) @ (ROUNDING * (abs(self.rows) @ np.abs(shapes))) ** 2
        return np.asarray(np.abs(energies.sum(axis=0)) <= CANCELLED * np.abs(energies).sum(axis=0) + rounding)


def pencil_of(stage: StepSystem) -> Pencil:
    """The pencil of a state evaluated into ``stage.work``. ModelError where nothing that is free has mass."""
    transform: Any = reduction(stage.nodes.dof_kind, stage.equations)
    mass = (transform.T @ mass_matrix(stage) @ transform).tocsc()
    if mass.shape[0] == 0 or abs(mass).max() == 0.0:
        raise ModelError("*FREQUENCY: no free dof has mass; give the material a *DENSITY or add *MASS elements")
    rows, weights = _springs(stage)
    gradients = (rod_matrix(stage) @ transform).tocsr()
    return Pencil((rows @ transform).tocsr(), weights, len(stage.bars.nodes), mass, gradients, transform)


def _springs(stage: StepSystem) -> tuple[Any, Floats]:
    """R over all dofs and w: elongations of bars, differences of their ends, springs."""
    from scipy.sparse import coo_array, vstack

    bars, bar_tangent, springs = stage.bars, stage.work.tangent.bar_tangent, stage.system.springs
    count, size = len(bars.nodes), stage.system.size
    axes = np.arange(3)
    ends = 3 * bars.nodes[:, :, None] + axes  # (m, 2, 3)
    bar = np.repeat(np.arange(count), 3)
    along = bar_tangent[P : P + 3].T.ravel()
    # At rest q is a multiple of p (1; alpha, where that of a viscous bar is 1); a rod's is a constraint of its own.
    multiple = np.einsum("ae,ae->e", bar_tangent[P : P + 3], bar_tangent[Q : Q + 3]) / (
        bar_tangent[P : P + 3] ** 2
    ).sum(axis=0)
    alpha = np.where(np.isinf(bar_tangent[ALPHA]), 0.0, bar_tangent[ALPHA]) * multiple

    def between(rows: Ints, values: Floats, height: int) -> Any:
        places = np.concatenate([ends[:, 1].ravel(), ends[:, 0].ravel()])
        return coo_array((np.concatenate([values, -values]), (np.tile(rows, 2), places)), shape=(height, size))

    first, second = springs.dofs[:, 0], springs.dofs[:, 1]
    inside = second >= 0
    spring = np.arange(len(springs.dofs))
    values = np.concatenate([np.ones(len(spring)), np.full(int(inside.sum()), -1.0)])
    places = np.concatenate([spring, spring[inside]]), np.concatenate([first, second[inside]])
    parts = [
        between(bar, along, count),
        between(np.arange(3 * count), np.ones(3 * count), 3 * count),
        coo_array((values, places), shape=(len(spring), size)),
    ]
    slopes = spring_slopes(stage.work.u, springs)
    others, weights = _families(stage, slopes)
    weights = np.concatenate([alpha, np.repeat(bar_tangent[GEOMETRIC], 3), slopes, weights])
    return vstack([*parts, others]).tocsr(), weights


def _families(stage: StepSystem, slopes: Floats) -> tuple[Any, Floats]:
    """R and w of what the tangent holds beside bars and springs: eigenvectors of the blocks of one node or of two."""
    from scipy.sparse import coo_array

    tangent, springs = stage.work.tangent, stage.system.springs
    rest = tangent._replace(block=tangent.block.copy(), cross=tangent.cross.copy())
    stiffen_all(springs, -slopes, rest)
    own = np.flatnonzero(np.abs(rest.block).max(axis=1, initial=0.0) > 0.0)
    matrices = [(3 * node + np.arange(3), rest.block[node].reshape(3, 3)) for node in own]
    for pair in np.flatnonzero(np.abs(rest.cross).max(axis=1, initial=0.0) > 0.0):
        dofs = (3 * rest.pairs[pair][:, None] + np.arange(3)).ravel()
        both = np.zeros((6, 6))
        both[:3, 3:], both[3:, :3] = rest.cross[pair].reshape(2, 3, 3)
        matrices.append((dofs, both))
    none, solved = np.zeros(0), [np.linalg.eigh(0.5 * (matrix + matrix.T)) for _, matrix in matrices]
    weights = np.concatenate([none, *(found for found, _ in solved)])
    values = np.concatenate([none, *(vectors.T.ravel() for _, vectors in solved)])
    columns = np.concatenate([none, *(np.tile(dofs, len(dofs)) for dofs, _ in matrices)]).astype(int)
    rows = np.repeat(np.arange(len(weights)), [len(dofs) for dofs, _ in matrices for _ in dofs])
    return coo_array((values, (rows, columns)), shape=(len(weights), stage.system.size)), weights
