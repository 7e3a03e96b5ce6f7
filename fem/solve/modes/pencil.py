"""Stiffness and mass over the independent dofs, the stiffness kept as the springs it is made of: K = R^T w R.

A row of R takes the stretch of one spring out of a motion: a bar's elongation (w = alpha), one component of the
difference of its ends (w = t, the stiffness of its tension), a spring. In the sum K a stiff bar that lies askew rubs
out the stiffness of tension beside it, by eps EA/L; in products with R^T w R it does not, for a stretch is the
difference of displacements that agree: what remains of the error is eps^2 EA/L in energies.

K - shift M among the motions that keep the lengths of rods: solutions, and how many modes lie below the shift.

[ K - shift M  G^T ] [x  ]   [ b ]     The signs of the pivots of a symmetric factorisation count the eigenvalues below
[ G            0   ] [tau] = [ g ]     the shift (Sylvester's law of inertia); each rod adds a negative one.

Where stiff bars rub out the stiffness beside them, they are taken out of K and treated as rods that give way: rows of
elongations join G, with -1/alpha on the diagonal instead of 0, and nothing is added to what is much larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats, Ints, Sparse
from fem.assembly.equations import reduction
from fem.errors import ModelError
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.springs import spring_slopes, stiffen_all
from fem.linear.factors import equilibrated, minimum_degree, negative_pivots, start_vector, symmetric_factor
from fem.solve.rods import rod_matrix
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

    rows: Sparse
    weights: Floats
    axial: int
    mass: Sparse
    gradients: Sparse
    transform: Sparse

    @property
    def size(self) -> int:
        """Number of independent dofs."""
        return int(self.mass.shape[0])

    @property
    def is_small(self) -> bool:
        """Small enough for dense matrices."""
        return self.size + int(self.gradients.shape[0]) <= DENSE

    @property
    def scale(self) -> float:
        """Size of the largest eigenvalues [1/s^2], roughly; 1 of bodies that nothing holds."""
        largest = abs(self.rows).max(axis=1).toarray().ravel()
        return float((largest**2 * np.abs(self.weights)).max(initial=0.0)) / float(abs(self.mass).max()) or 1.0

    def stiffness(self, kept: Flags) -> Sparse:
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
    transform = reduction(stage.nodes.dof_kind, stage.equations)
    mass = (transform.T @ mass_matrix(stage) @ transform).tocsc()
    if mass.shape[0] == 0 or abs(mass).max() == 0.0:
        raise ModelError("*FREQUENCY: no free dof has mass; give the material a *DENSITY or add *MASS elements")
    rows, weights = _springs(stage)
    gradients = (rod_matrix(stage) @ transform).tocsr()
    return Pencil((rows @ transform).tocsr(), weights, len(stage.bars.nodes), mass, gradients, transform)


def _springs(stage: StepSystem) -> tuple[Sparse, Floats]:
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

    def between(rows: Ints, values: Floats, height: int) -> Sparse:
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


def _families(stage: StepSystem, slopes: Floats) -> tuple[Sparse, Floats]:
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


SOUND = 1e-6
"""Fraction of a solution that its residual may change before bars are taken out of K."""
REGULAR = 1e-3
"""The same with bars taken out: beyond it the shift is an eigenvalue, or as good as one."""


class Factor:
    """Factors at one shift.

    is_regular  the shift is no eigenvalue: a solution is confirmed by its residual
    below       modes below the shift, directions without mass and with negative stiffness included; -1: unknown
    """

    def __init__(self, pencil: Pencil, shift: float) -> None:
        self.pencil, self.shift = pencil, shift
        self.is_regular = self._factorise(False, SOUND) or self._factorise(True, REGULAR)

    def solve(self, right: Floats, gaps: Floats) -> Floats:
        """x (n, k) for b (n, k) and g (m, k)."""
        nothing = np.zeros((len(self._scale) - len(right) - len(gaps), right.shape[1]))
        whole = np.concatenate([right, nothing, gaps])
        return np.asarray(self._scale[:, None] * self._solve(self._scale[:, None] * whole))[: len(right)]

    def _factorise(self, is_apart: bool, limit: float) -> bool:
        """False where the factors are of no use. ``is_apart``: bars are taken out of K."""
        from scipy.linalg import eigvalsh_tridiagonal, ldl
        from scipy.sparse.linalg import splu

        pencil, self.below = self.pencil, -1
        matrix = _bordered(pencil, self.shift, is_apart)
        if (scaled := equilibrated(matrix)) is None:
            return False
        matrix, self._scale = scaled
        if not pencil.is_small and self._without_pivots(matrix, limit):
            return True
        try:
            self._solve = splu(matrix, permc_spec="COLAMD").solve
        except RuntimeError:  # exactly singular
            return False
        if not self._confirms(limit):
            return False
        if pencil.is_small:
            _, pivots, _ = ldl(matrix.toarray())  # of Bunch and Kaufman
            negative = eigvalsh_tridiagonal(np.diag(pivots), np.diag(pivots, 1)) < 0.0
            self.below = int(np.count_nonzero(negative)) - (matrix.shape[0] - pencil.size)
        return True

    def _without_pivots(self, matrix: Sparse, limit: float) -> bool:
        """Symmetric factors of large models, whose pivots are counted; False where they are of no use."""
        order = elimination_order(matrix, self.pencil.size)
        back = np.argsort(order)
        factor = symmetric_factor(matrix[order][:, order].tocsc(), "NATURAL")
        if factor is None:
            return False
        self._solve = lambda right: np.asarray(factor.solve(right[order])[back])
        negative = negative_pivots(factor)
        if negative < 0 or not self._confirms(limit):
            return False
        self.below = negative - (matrix.shape[0] - self.pencil.size)
        return True

    def _confirms(self, limit: float) -> bool:
        """A solution is hardly changed by its own residual."""
        pencil = self.pencil
        right = pencil.mass @ start_vector(pencil.size)[:, None]
        with np.errstate(all="ignore"):
            x = self.solve(right, np.zeros((pencil.gradients.shape[0], 1)))
            residual = right - pencil.force(x) + self.shift * (pencil.mass @ x)
            change = self.solve(residual, -(pencil.gradients @ x))
        return bool(np.linalg.norm(change) <= limit * np.linalg.norm(x))


def elimination_order(matrix: Sparse, size: int) -> Ints:
    """Rows in an order that keeps factors sparse; rods and bars stand behind the dofs they join: no pivot is zero."""
    pattern = abs(matrix)
    joins = pattern[size:, :size].tocoo()
    turn = minimum_degree(pattern[:size, :size] + joins.T @ joins).astype(float)
    behind = np.zeros(matrix.shape[0] - size)
    np.maximum.at(behind, joins.row, turn[joins.col] + 0.5)
    return np.argsort(np.concatenate([turn, behind]), kind="stable")


def _bordered(pencil: Pencil, shift: float, is_apart: bool) -> Sparse:
    """The matrix above; rods are its last rows."""
    from scipy.sparse import block_array, diags_array, vstack

    weights = pencil.weights
    taken = np.zeros(len(weights), np.bool_)
    taken[: pencil.axial] = is_apart & (weights[: pencil.axial] > 0.0)
    matrix = pencil.stiffness(~taken) - shift * pencil.mass
    rods = pencil.gradients.shape[0]
    if not rods + np.count_nonzero(taken):
        return matrix.tocsc()
    held = vstack([pencil.rows[np.flatnonzero(taken)], pencil.gradients])
    give = diags_array(np.concatenate([-1.0 / weights[taken], np.zeros(rods)]))
    return block_array([[matrix, held.T], [held, give]]).tocsc()
