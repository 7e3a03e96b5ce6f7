"""Direct solution of sparse systems, for whatever no compiled solver takes; the last factor is kept and preconditions.

While the state moves little, the factor of an earlier tangent makes conjugate gradients converge in a few iterations,
each the price of one back-substitution. A new factor is made where the next solve would cost more than the solves with
this one have on average, its making included: the best moment where costs only rise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations, condense, expand
from fem.assembly.system import System
from fem.solve.linear.sparse.factors import Factors, factors_of, solve_pivoting
from fem.solve.linear.sparse.matrix import SparseTangent, elimination_order
from fem.solve.linear.tangent import multiply
from fem.solve.newton.groups import Scratch

POOR = 1e-9
"""Relative residual of a direct solve above which it is repeated with full pivoting."""
SMALLEST_KEPT = 1500
"""Equations from which factors are kept and systems solved as well as Newton needs; smaller ones are solved exactly."""

LOOSEST = 1e-3
"""Largest part of the residual that is left: with it, Newton needs as many iterations as with exact solves, or one in
thirty more."""


class DirectSolver:
    """Writes ``work.du`` for ``work.residual``, with the library of ``factors``.

    free, equations   what may move, what depends on it
    is_symmetric  the tangent always is: conjugate gradients and symmetric factorisations will do
    """

    def __init__(self, system: System, free: Ints, equations: Equations, is_symmetric: bool, library: str) -> None:
        self.system, self.free, self.equations = system, free, equations
        self.is_free = (free != 0).astype(float)
        has_order = not len(equations.slave)
        self.factors: Factors = factors_of(library, is_symmetric and has_order, has_order)
        order = elimination_order(system) if self.factors.wants_order else None
        self.tangent = SparseTangent(system, free, equations, order, self.factors.is_lower)
        self.independent = self.tangent.independent
        self.is_kept = is_symmetric and len(self.independent) >= SMALLEST_KEPT
        self.has_factor = False
        self.spent, self.solves, self.patience = 0, 0, self.factors.price
        self.full, self.product = np.zeros(system.size), np.zeros(system.size)
        self._factored: Any = None

    def state(self) -> dict[str, Any]:
        """What later solves depend on, with the matrix of the factor that is kept."""
        counts = {"spent": self.spent, "solves": self.solves, "patience": self.patience, "kind": self.factors.kind}
        matrix = self._factored
        if not self.has_factor:
            return counts
        return counts | {"matrix": (matrix.data, matrix.indices, matrix.indptr, matrix.shape)}

    def put_back(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state of a solver of the same system."""
        from scipy.sparse import csc_array

        self.spent, self.solves, self.patience = state["spent"], state["solves"], state["patience"]
        self.factors.kind = state["kind"]
        if "matrix" in state:
            *parts, shape = state["matrix"]
            self._factored = csc_array(tuple(parts), shape=shape)
            self.has_factor = self.factors.factorise(self._factored)

    def solve(self, work: Scratch, forcing: float) -> bool:
        """False where the tangent is singular or anything is not finite.

        forcing  fraction of the residual (2-norm) that may be left where a kept factor serves, if below ``LOOSEST``
        """
        right = work.residual[self.independent]
        work.du[:] = 0.0
        if len(right) == 0:
            return True
        solution = None
        with np.errstate(all="ignore"):  # overflow and NaN show up in residuals, and are refused
            if self.has_factor:
                solution = self._iterate(work, right, min(forcing, LOOSEST))
            if solution is None and np.isfinite(right).all():
                solution = self._factor(work, right)
        if solution is None:
            return False
        work.du[self.independent] = solution
        return True

    def _factor(self, work: Scratch, right: Floats) -> Floats | None:
        """Solution with a new factor, exact; None where the tangent is singular or not finite."""
        matrix = self.tangent.matrix(work)
        self.has_factor = False
        if not np.isfinite(matrix.data).all():
            return None
        if self.factors.factorise(matrix):
            solution = self.factors.solve(right)
            if np.abs(self._multiply(work, solution) - right).max() <= POOR * np.abs(right).max():
                self.has_factor, self._factored = self.is_kept, matrix if self.is_kept else None
                self.spent, self.solves = self.factors.price, 1
                return np.asarray(solution)
        return self._pivot(work)

    def _pivot(self, work: Scratch) -> Floats | None:
        """Solution with full pivoting, for tangents that are indefinite or nearly singular; None: singular."""
        whole = SparseTangent(self.system, self.free, self.equations)
        solution = solve_pivoting(whole.matrix(work), work.residual[whole.independent])
        if solution is None:
            return None
        self.full[whole.independent] = solution
        return np.asarray(self.full[self.independent])

    def _iterate(self, work: Scratch, right: Floats, forcing: float) -> Floats | None:
        """Solution by conjugate gradients with the kept factor; None where a new one is worth its price."""
        from scipy.sparse.linalg import LinearOperator, cg

        shape, spent = (len(right), len(right)), 0

        def count(_: Floats) -> None:
            nonlocal spent
            spent += 1

        matrix = LinearOperator(shape, lambda x: self._multiply(work, x), dtype=float)
        inverse = LinearOperator(shape, self.factors.solve, dtype=float)
        solution, left = cg(matrix, right, rtol=forcing, maxiter=self.patience, M=inverse, callback=count)
        self.spent += spent
        self.solves += 1
        error = np.linalg.norm(self._multiply(work, solution) - right)
        if left or not error <= 2.0 * forcing * np.linalg.norm(right):
            self.patience = max(self.factors.price // 3, self.patience // 2)
            return None
        self.patience = self.factors.price
        self.has_factor = spent * self.solves <= self.spent
        return np.asarray(solution)

    def _multiply(self, work: Scratch, x: Floats) -> Floats:
        """Tangent times x over the independent dofs, bar by bar."""
        full, product = self.full, self.product
        full[:] = 0.0
        full[self.independent] = x
        expand(self.equations, full)
        multiply(work.tangent, work.block, self.is_free, full, product)
        condense(self.equations, product)
        return np.asarray(product[self.independent])
