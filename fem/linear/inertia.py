"""Number of negative eigenvalues of a symmetric matrix (its inertia); eigenvalues nearest to zero, with vectors.

Small matrices: all eigenvalues. Large ones: the signs of the pivots of a symmetric factorisation without exchanges
(Sylvester's law of inertia), accepted if a solution with it is confirmed by its residual; eigenvalues nearest to
zero by inverse iteration with the same factor. Sources: Golub & Van Loan, Matrix Computations, 4.4, 8.1.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Sparse
from fem.linear.factors import equilibrated, negative_pivots, start_vector, symmetric_factor

DENSE, MOST_DENSE = 60, 2000
"""Equations up to which all eigenvalues are computed, and up to which they are if no factor is reliable."""
NONE = 1e-12
"""Fraction of the largest eigenvalue below which one counts as zero."""
ASYMMETRY = 1e-9
"""Part of the largest entry by which a matrix may differ from its transpose."""
SOUND = 1e-6
"""Largest change of a solution by its residual for the factor to be accepted."""
NEAREST = 6
"""Number of eigenvalues nearest to zero that are computed for a large matrix."""


class Spectrum:
    """Of a matrix (CSC, n x n).

    negative   number of eigenvalues below zero; -1: unknown (the matrix is not symmetric, or no factor is reliable)
    """

    def __init__(self, matrix: Sparse) -> None:
        self.matrix, self.size = matrix, int(matrix.shape[0])
        self.scale = float(np.abs(matrix.data).max(initial=0.0)) or 1.0
        self.negative, self._values, self._shapes = 0, np.zeros(0), np.zeros((self.size, 0))
        self._factor: tuple[object, Floats] | None = None
        if self.size == 0:
            return
        dense = matrix.toarray() if self.size <= DENSE else None
        skew = np.abs(dense - dense.T) if dense is not None else abs(matrix - matrix.T)
        if not np.isfinite(matrix.data).all() or skew.max() > ASYMMETRY * self.scale:
            self.negative = -1
        elif dense is not None or not self._factorise():
            self._find_all(dense)

    def pair(self, number: int) -> tuple[float, Floats | None]:
        """An eigenvalue, counted from the lowest (0), and its vector (n,) of length 1.
        None: it is far from zero; the value then has its sign only."""
        if not len(self._values):
            self._find_nearest()
        first = self.negative if self._factor is None else int(np.count_nonzero(self._values < 0.0))
        place = number - self.negative + first
        if 0 <= place < len(self._values):
            return float(self._values[place]), self._shapes[:, place]
        return (-self.scale if number < self.negative else self.scale), None

    def solve(self, right: Floats) -> Floats | None:
        """x of matrix x = right (n,); None where it is singular."""
        if self._factor is not None:
            factor, scale = self._factor
            return np.asarray(scale * factor.solve(scale * right))  # type: ignore[attr-defined]
        if not len(self._values) or float(np.abs(self._values).min()) <= NONE * float(np.abs(self._values).max()):
            return None
        return np.asarray(self._shapes @ ((self._shapes.T @ right) / self._values))

    def _find_all(self, dense: Floats | None) -> None:
        """All eigenvalues, unless there are too many."""
        self.negative = -1
        if self.size <= MOST_DENSE:
            self._values, self._shapes = np.linalg.eigh(self.matrix.toarray() if dense is None else dense)
            self.negative = int(np.count_nonzero(self._values < -NONE * np.abs(self._values).max()))

    def _factorise(self) -> bool:
        """Factorises without row exchanges and counts pivots; False: a solution is not confirmed."""
        if (scaled := equilibrated(self.matrix)) is None or (factor := symmetric_factor(scaled[0])) is None:
            return False
        self._factor, negative = (factor, scaled[1]), negative_pivots(factor)
        right = start_vector(self.size)
        with np.errstate(all="ignore"):
            x = self.solve(right)
            change = self.solve(right - self.matrix @ x)
        assert x is not None and change is not None
        if negative < 0 or not np.linalg.norm(change) <= SOUND * np.linalg.norm(x):
            self._factor = None
            return False
        self.negative = negative
        return True

    def _find_nearest(self) -> None:
        """Eigenvalues nearest to zero (Lanczos on the inverse), rising; none where they are not found."""
        from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

        if self._factor is None:
            return
        inverse = LinearOperator((self.size, self.size), self.solve, dtype=float)
        options = {"k": min(NEAREST, self.size - 1), "sigma": 0.0, "which": "LM", "v0": start_vector(self.size)}
        try:
            values, shapes = eigsh(self.matrix, OPinv=inverse, **options)
        except ArpackError:
            return
        order = np.argsort(values)
        self._values, self._shapes = values[order], shapes[:, order]
