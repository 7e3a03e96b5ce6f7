"""K - shift M among the motions that keep the lengths of rods: solutions, and how many modes lie below the shift.

[ K - shift M  G^T ] [x  ]   [ b ]     The signs of the pivots of a symmetric factorisation count the eigenvalues below
[ G            0   ] [tau] = [ g ]     the shift (Sylvester's law of inertia); each rod adds a negative one.

Where stiff bars rub out the stiffness beside them, they are taken out of K and treated as rods that give way: rows of
elongations join G, with -1/alpha on the diagonal instead of 0, and nothing is added to what is much larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.solve.modes.pencil import Pencil

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
        from scipy.sparse.csgraph import structural_rank
        from scipy.sparse.linalg import splu

        pencil, self.below = self.pencil, -1
        matrix = _bordered(pencil, self.shift, is_apart)
        matrix.indices = matrix.indices.astype(np.int32)  # structural_rank of old SciPy takes no others
        matrix.indptr = matrix.indptr.astype(np.int32)
        if not np.isfinite(matrix.data).all() or structural_rank(matrix) < matrix.shape[0]:  # SuperLU would crash
            return False
        self._scale = equilibration(matrix)
        matrix = matrix.multiply(self._scale[:, None]).multiply(self._scale[None, :]).tocsc()
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

    def _without_pivots(self, matrix: Any, limit: float) -> bool:
        """Symmetric factors of large models, whose pivots are counted; False where they are of no use."""
        from scipy.sparse.linalg import splu

        order = elimination_order(matrix, self.pencil.size)
        back = np.argsort(order)
        try:
            turned = matrix[order][:, order].tocsc()
            factor = splu(turned, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            return False
        self._solve = lambda right: np.asarray(factor.solve(right[order])[back])
        if not (np.array_equal(factor.perm_r, factor.perm_c) and self._confirms(limit)):
            return False
        negative = int(np.count_nonzero(factor.U.diagonal() < 0.0))
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


def start_vector(count: int, turn: int = 0) -> Floats:
    """A motion of everything, with a part in every mode; another one for every ``turn``."""
    return np.asarray(np.cos(np.arange(count) * (1.234567 + 0.1 * turn)) + 1.5)


def elimination_order(matrix: Any, size: int) -> Ints:
    """Rows in an order that keeps factors sparse; rods and bars stand behind the dofs they join: no pivot is zero."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    pattern = abs(matrix)
    joins = pattern[size:, :size].tocoo()
    graph = pattern[:size, :size] + joins.T @ joins
    graph.data[:] = -1.0
    most = float(np.diff(graph.tocsc().indptr).max())
    graph = (graph + (2.0 + most) * eye_array(size)).tocsc()
    factor = splu(graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    turn = np.argsort(np.argsort(factor.perm_c)).astype(float)
    behind = np.zeros(matrix.shape[0] - size)
    np.maximum.at(behind, joins.row, turn[joins.col] + 0.5)
    return np.argsort(np.concatenate([turn, behind]), kind="stable")


def _bordered(pencil: Pencil, shift: float, is_apart: bool) -> Any:
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


def equilibration(matrix: Any) -> Floats:
    """d such that the rows of d_i a_ij d_j are about 1 in size (Ruiz 2001)."""
    size = abs(matrix).tocsr()
    scale = np.ones(matrix.shape[0])
    for _ in range(3):
        largest = size.multiply(scale[:, None]).multiply(scale[None, :]).max(axis=1).toarray().ravel()
        scale /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return np.asarray(scale)
