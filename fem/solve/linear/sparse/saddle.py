"""Direct solution of systems with rods: the saddle matrix of tangent and constraints, pivoted, for any topology.

[ K  P ] [du ]   [ residual ]      P, Q: gradients of the constraints, p and q at the second node of a rod,
[ Q^T 0] [tau] = [  - gaps  ]      minus at the first
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.assembly.system import System
from fem.forces.bars.bar import GAP, P, Q
from fem.forces.bars.blocks import rod_gradients
from fem.solve.linear.sparse.factors import solve_pivoting
from fem.solve.linear.sparse.matrix import SparseTangent, reduced
from fem.solve.newton.groups import Scratch


class SaddleMatrix:
    """The matrix over the independent dofs and, behind them, the multipliers of rods; its pattern is found once."""

    def __init__(self, tangent: SparseTangent) -> None:
        self._tangent = tangent
        bars, size = tangent.system.bars, tangent.size
        row = np.full(tangent.system.size, -1, np.int64)
        row[tangent.dofs] = np.arange(size)
        rods, dofs, _ = rod_gradients(bars, np.zeros((Q + 3, len(bars.nodes))))
        self._kept = np.flatnonzero(row[dofs] >= 0)
        ends, columns = row[dofs[self._kept]], size + rods[self._kept]
        inside = np.repeat(np.arange(size), np.diff(tangent.indptr))
        column = np.concatenate([inside, columns, ends])
        indices = np.concatenate([tangent.indices, ends, columns])
        self._order = np.lexsort([indices, column])
        self._size = size + len(bars.rods)
        self._indices = indices[self._order].astype(np.int32)
        self._indptr = np.searchsorted(column[self._order], np.arange(self._size + 1)).astype(np.int32)
        self._transform = None if tangent.transform is None else _beside_identity(tangent.transform, len(bars.rods))

    def of(self, work: Scratch) -> Any:
        """The numbers of now (CSC)."""
        from scipy.sparse import csc_array

        bars = self._tangent.system.bars
        across, along = (rod_gradients(bars, work.tangent.bar_tangent, row)[2][self._kept] for row in (P, Q))
        values = np.concatenate([self._tangent.values(work), across, along])[self._order]
        full = csc_array((values, self._indices, self._indptr), shape=(self._size, self._size))
        return full if self._transform is None else reduced(full, self._transform)


def _beside_identity(transform: Any, count: int) -> Any:
    """The transform of the dofs, where ``count`` unknowns behind them stay what they are."""
    from scipy.sparse import block_diag, eye_array

    return block_diag([transform, eye_array(count)], format="csr")


def bordered(tangent: SparseTangent, work: Scratch) -> Any:
    """That matrix, asked for once: without rods the tangent (CSC)."""
    return SaddleMatrix(tangent).of(work) if len(tangent.system.bars.rods) else tangent.matrix(work)


class SaddleSolver:
    """Writes ``work.du`` and ``work.tau`` for ``work.residual`` and the gaps of the rods."""

    def __init__(self, system: System, tangent: SparseTangent) -> None:
        self.rods, self.independent, self.matrix = system.bars.rods, tangent.independent, SaddleMatrix(tangent)

    def state(self) -> dict[str, Any] | None:
        """No factors are kept."""
        return None

    def solve(self, work: Scratch, forcing: float) -> bool:
        """False where the system is singular or not finite."""
        work.du[:] = 0.0
        right = np.concatenate([work.residual[self.independent], -work.tangent.bar_tangent[GAP, self.rods]])
        matrix = self.matrix.of(work)
        if not (np.isfinite(matrix.data).all() and np.isfinite(right).all()):
            return False
        solution = solve_pivoting(matrix, right)
        if solution is None:
            return False
        work.du[self.independent] = solution[: len(self.independent)]
        work.tau[self.rods] = solution[len(self.independent) :]
        return True
