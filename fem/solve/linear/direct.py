"""The effective tangent as a sparse matrix, and SciPy's direct solver for whatever no compiled solver takes.

The pattern is found once per step; every solve only fills in numbers. Importing SciPy's sparse modules takes a while,
so this happens when the first such solve is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.constraints import reduction
from fem.assembly.system import System
from fem.mechanics.bar import GAP, P, Q, bar_blocks
from fem.mechanics.links import Links
from fem.solve.newton.groups import Scratch

POOR = 1e-9
"""Relative residual of a linear solve above which it is repeated with full pivoting."""


class SparseTangent:
    """Fixed map from the numbers of bars, springs and nodes to a sparse matrix over the independent dofs."""

    def __init__(self, system: System, free: Ints, links: Links) -> None:
        self.system = system
        kept = np.flatnonzero(free != 0)
        place = np.full(system.size, -1, np.int64)
        place[kept] = np.arange(len(kept))
        self.independent = np.flatnonzero(free == 1)
        self.transform: Any = None
        if len(links.slave):
            self.transform = reduction(free, links)[kept]
        self.kept = kept
        rows, columns = self._pattern()
        inside = (place[rows] >= 0) & (place[columns] >= 0)
        key = place[columns[inside]] * len(kept) + place[rows[inside]]
        unique, self.slot = np.unique(key, return_inverse=True)
        self.inside = np.flatnonzero(inside)
        self.size = len(kept)
        self.indices = (unique % max(self.size, 1)).astype(np.int32)
        counts = np.bincount(unique // max(self.size, 1), minlength=self.size)
        self.indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def _pattern(self) -> tuple[Ints, Ints]:
        """Rows and columns (dofs) of all entries, in the order of ``_entries``."""
        axes = np.arange(3)
        nodes, springs = self.system.bars.nodes, self.system.springs.dofs
        i, j = nodes[:, 0], nodes[:, 1]

        def block(a: Ints, b: Ints) -> tuple[Ints, Ints]:
            rows = np.broadcast_to((3 * a[:, None] + axes)[:, :, None], (len(a), 3, 3))
            columns = np.broadcast_to((3 * b[:, None] + axes)[:, None, :], (len(a), 3, 3))
            return rows.reshape(-1), columns.reshape(-1)

        everyone = np.arange(len(self.system.labels))
        pairs = [block(everyone, everyone), block(i, i), block(j, j), block(i, j), block(j, i)]
        cross = springs[self._crossing()]
        a, b = cross[:, 0], cross[:, 1]
        pairs += [(a, a), (b, b), (a, b), (b, a)]
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    def _crossing(self) -> Ints:
        """Springs between dofs of different nodes (the others are in the nodal blocks)."""
        dofs = self.system.springs.dofs
        return np.flatnonzero((dofs[:, 1] >= 0) & (dofs[:, 0] // 3 != dofs[:, 1] // 3))

    def _entries(self, work: Scratch) -> Floats:
        block = bar_blocks(work.store)
        across = -block
        if len(work.off):
            across += work.off[:, None, None] * np.eye(3)
        stiffness = work.spring_stiffness[self._crossing()]
        parts = [work.block, block, block, across, across, stiffness, stiffness, -stiffness, -stiffness]
        return np.concatenate([part.ravel() for part in parts])

    def matrix(self, work: Scratch) -> Any:
        """Effective tangent over the independent dofs (CSC)."""
        from scipy.sparse import block_array, csc_array

        with np.errstate(invalid="ignore", over="ignore"):  # overflow shows up as not finite, and is refused below
            values = np.bincount(self.slot, self._entries(work)[self.inside], minlength=len(self.indices))
        full = csc_array((values, self.indices, self.indptr), shape=(self.size, self.size))
        if self.transform is not None:
            full = (self.transform.T @ full @ self.transform).tocsc()
        if len(self.system.bars.rods) == 0:
            return full
        return block_array([[full, self._coupling(work, P)], [self._coupling(work, Q).T, None]]).tocsc()

    def _coupling(self, work: Scratch, row: int) -> Any:
        """What the multipliers of rods do to the independent dofs: p (or q) at the second node, minus at the first."""
        from scipy.sparse import coo_array

        rods, nodes = self.system.bars.rods, self.system.bars.nodes
        values = work.store[row : row + 3, rods].T.ravel()
        dofs = [(3 * nodes[rods, end, None] + np.arange(3)).ravel() for end in (1, 0)]
        columns = np.tile(np.repeat(np.arange(len(rods)), 3), 2)
        shape = (self.system.size, len(rods))
        full = coo_array((np.concatenate([values, -values]), (np.concatenate(dofs), columns)), shape=shape).tocsr()
        if self.transform is None:
            return full[self.independent]
        return self.transform.T @ full[self.kept]

    def solve(self, work: Scratch) -> bool:
        """Write ``work.du`` for ``work.residual``; False where the tangent is singular."""
        matrix = self.matrix(work)
        rods, known = self.system.bars.rods, len(self.independent)
        right = np.concatenate([work.residual[self.independent], -work.store[GAP, rods]])
        work.du[:] = 0.0
        if known == 0:
            return True
        if not (np.isfinite(matrix.data).all() and np.isfinite(right).all()):
            return False
        solution = factor_and_solve(matrix, right)
        if solution is None:
            return False
        work.du[self.independent] = solution[:known]
        work.tau[rods] = solution[known:]
        return True


def factor_and_solve(matrix: Any, right: Floats) -> Floats | None:
    """Solution of a sparse system, pivoting on the diagonal first, fully where that is not accurate; None: singular."""
    from scipy.sparse.linalg import splu

    bound = POOR * float(np.abs(right).max(initial=0.0))
    quick = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.01, "options": {"SymmetricMode": True}}
    best: Floats | None = None
    error = np.inf
    for settings in (quick, {"permc_spec": "COLAMD"}):
        try:
            solution = splu(matrix, **settings).solve(right)
        except RuntimeError:  # exactly singular
            continue
        now = float(np.abs(matrix @ solution - right).max(initial=0.0))
        if now <= bound:
            return np.asarray(solution)
        if now < error:
            best, error = solution, now
    return best if np.isfinite(error) else None


def weakest_dof(tangent: SparseTangent, work: Scratch) -> tuple[int, float]:
    """The dof that moves most in the softest mode of the tangent, and that mode's stiffness relative to the largest.

    Two steps of inverse iteration from a fixed vector; a share below about 1e-12 means a mechanism.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    matrix = tangent.matrix(work)
    largest = float(np.abs(matrix.data).max(initial=0.0)) or 1.0
    count = matrix.shape[0]
    shifted = (matrix + 1e-11 * largest * eye_array(count)).tocsc()
    x = np.cos(np.arange(count) * 1.234567) + 1.5
    try:
        factor = splu(shifted, permc_spec="COLAMD")
        for _ in range(3):
            x = factor.solve(x)
            x /= np.abs(x).max()
    except RuntimeError:
        return int(tangent.independent[0]), 0.0
    share = float(np.abs(matrix @ x).max()) / largest
    dofs = x[: len(tangent.independent)]
    return int(tangent.independent[int(np.abs(dofs).argmax())]), share


def negative_directions(matrix: Any) -> int:
    """How many eigenvalues of a symmetric sparse matrix are negative (Sylvester's law of inertia); 0 if unknown."""
    from scipy.sparse.linalg import splu

    try:
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return 0
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return 0
    return int(np.count_nonzero(factor.U.diagonal() < 0.0))
