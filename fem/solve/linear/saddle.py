"""Direct solution of systems with rods: the saddle matrix of tangent and constraints, pivoted, for any topology.

[ K  P ] [du ]   [ residual ]      P, Q: gradients of the constraints, p and q at the second node of a rod,
[ Q^T 0] [tau] = [  - gaps  ]      minus at the first
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.assembly.system import System
from fem.mechanics.bar import GAP, P, Q
from fem.mechanics.blocks import rod_gradients
from fem.solve.linear.factors import solve_pivoting
from fem.solve.linear.sparse import SparseTangent
from fem.solve.newton.groups import Scratch


class SaddleSolver:
    """Writes ``work.du`` and ``work.tau`` for ``work.residual`` and the gaps of the rods."""

    def __init__(self, system: System, tangent: SparseTangent) -> None:
        self.rods, self.tangent = system.bars.rods, tangent

    def solve(self, work: Scratch, forcing: float) -> bool:
        """False where the system is singular or not finite."""
        independent = self.tangent.independent
        work.du[:] = 0.0
        right = np.concatenate([work.residual[independent], -work.tangent.store[GAP, self.rods]])
        matrix = bordered(self.tangent, work)
        if not (np.isfinite(matrix.data).all() and np.isfinite(right).all()):
            return False
        solution = solve_pivoting(matrix, right)
        if solution is None:
            return False
        work.du[independent] = solution[: len(independent)]
        work.tau[self.rods] = solution[len(independent) :]
        return True


def bordered(tangent: SparseTangent, work: Scratch) -> Any:
    """The matrix over the independent dofs and, behind them, the multipliers of rods (CSC)."""
    from scipy.sparse import block_array

    matrix = tangent.matrix(work)
    if len(tangent.system.bars.rods) == 0:
        return matrix
    return block_array([[matrix, _coupling(tangent, work, P)], [_coupling(tangent, work, Q).T, None]]).tocsc()


def _coupling(tangent: SparseTangent, work: Scratch, row: int) -> Any:
    """What the multipliers do to the independent dofs; ``row``: P or Q."""
    from scipy.sparse import coo_array

    columns, dofs, values = rod_gradients(tangent.system.bars, work.tangent.store, row)
    shape = (tangent.system.size, len(tangent.system.bars.rods))
    full = coo_array((values, (dofs, columns)), shape=shape).tocsr()[tangent.dofs]
    return full if tangent.transform is None else tangent.transform.T @ full
