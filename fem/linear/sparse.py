"""The effective tangent as a sparse matrix: the pattern is found once per step, then a kernel fills in the numbers.

Entries are addressed by blocks of two nodes: within a column they are sorted by rows, so that (row dof, column dof) is
at ``start[column] + offset[block] + rank[row]``. Thus a bar needs two numbers, not 36.
Importing SciPy's sparse modules takes a while, so this happens when the first such matrix is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from fem.arrays import Flags, Floats, Ints, Sparse
from fem.assembly.equations import Equations, condense, expand, reduction
from fem.assembly.system import System
from fem.compiled import kernel
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, P, Q, heads, rod_places, rod_values, rows_of
from fem.forces.protocol import Tangent
from fem.linear.factors import Factors, factors_of, minimum_degree, solve_pivoting
from fem.linear.products import multiply


class Linearised(Protocol):
    """Input: the tangent, its blocks within nodes (n, 9), residual (3n,); output: du (3n,), tau (m,)."""

    @property
    def tangent(self) -> Tangent: ...
    @property
    def block(self) -> Floats: ...
    @property
    def residual(self) -> Floats: ...
    @property
    def du(self) -> Floats: ...
    @property
    def tau(self) -> Floats: ...


class Pattern(NamedTuple):
    """Positions of the entries of a compressed-column matrix.

    rank     (3n,)    index of a dof among those of its node that are in the matrix; -1: it is not in it
    start    (3n,)    start of the column of a dof (in the lower triangle: as if its node's block were complete)
    diagonal (n,)     offset of the block of a node with itself
    bars     (m, 2)   offsets of the blocks (rows i, columns j) and (rows j, columns i) of a bar; -1: omitted
    pairs    (p, 2)   likewise of ``Tangent.pairs``
    lower    (1,)     1: only the lower triangle is stored
    """

    rank: Ints
    start: Ints
    diagonal: Ints
    bars: Ints
    pairs: Ints
    lower: Ints


@kernel
def write_rows(pattern: Pattern, rows: Ints, columns: Ints, offset: Ints, place: Ints, indices: Ints) -> None:
    """Row numbers of all entries; blocks by the nodes of their ``rows`` and ``columns`` and their ``offset``."""
    rank, start = pattern.rank, pattern.start
    for b in range(rows.shape[0]):
        for c in range(3 * columns[b], 3 * columns[b] + 3):
            for a in range(3 * rows[b], 3 * rows[b] + 3):
                is_above = pattern.lower[0] == 1 and rows[b] == columns[b] and rank[a] < rank[c]
                if rank[c] >= 0 and rank[a] >= 0 and not is_above:
                    indices[start[c] + offset[b] + rank[a]] = place[a]


@kernel
def fill_values(pattern: Pattern, tangent: Tangent, block: Floats, values: Floats) -> None:
    """Values of the matrix, from the nine numbers of the bars, the nodal blocks and the blocks of two nodes."""
    nodes, bar_tangent, off, pairs, cross = tangent.ends, tangent.bar_tangent, tangent.off, tangent.pairs, tangent.cross
    rank, start = pattern.rank, pattern.start
    is_lower = pattern.lower[0] == 1
    for k in range(values.shape[0]):
        values[k] = 0.0
    for i in range(block.shape[0]):
        for c in range(3):
            for a in range(3):
                row, column = rank[3 * i + a], rank[3 * i + c]
                if row >= 0 and column >= 0 and not (is_lower and row < column):
                    values[start[3 * i + c] + pattern.diagonal[i] + row] += block[i, 3 * a + c]
    for e in range(nodes.shape[0]):
        coupling = off[e] if off.shape[0] > 0 else 0.0
        i, j = 3 * nodes[e, 0], 3 * nodes[e, 1]
        at_i, at_j = pattern.diagonal[nodes[e, 0]], pattern.diagonal[nodes[e, 1]]
        i_j, j_i = pattern.bars[e, 0], pattern.bars[e, 1]
        alpha = (
            bar_tangent[ALPHA, e] if bar_tangent[ALPHA, e] < np.inf else 0.0
        )  # that of a rod is a separate constraint
        for c in range(3):
            along = alpha * bar_tangent[Q + c, e]
            for a in range(3):
                value = along * bar_tangent[P + a, e]
                across = -value
                if a == c:
                    value += bar_tangent[GEOMETRIC, e]
                    across = coupling - value
                if rank[i + c] >= 0:
                    if rank[i + a] >= 0 and not (is_lower and rank[i + a] < rank[i + c]):
                        values[start[i + c] + at_i + rank[i + a]] += value
                    if rank[j + a] >= 0 and j_i >= 0:
                        values[start[i + c] + j_i + rank[j + a]] += across
                if rank[j + c] >= 0:
                    if rank[j + a] >= 0 and not (is_lower and rank[j + a] < rank[j + c]):
                        values[start[j + c] + at_j + rank[j + a]] += value
                    if rank[i + a] >= 0 and i_j >= 0:
                        values[start[j + c] + i_j + rank[i + a]] += across
    for p in range(pairs.shape[0]):
        for m in range(2):
            i, j = 3 * pairs[p, m], 3 * pairs[p, 1 - m]
            for c in range(3 if pattern.pairs[p, m] >= 0 else 0):
                for a in range(3):
                    if rank[i + a] >= 0 and rank[j + c] >= 0:
                        values[start[j + c] + pattern.pairs[p, m] + rank[i + a]] += cross[p, 9 * m + 3 * a + c]


class SparseTangent:
    """Fixed map from the numbers of bars, springs and nodes to a sparse matrix over the independent dofs.

    order        node indices in the order of elimination (None: as they are numbered); rows follow ``independent``
    lower        only the lower triangle (for solvers of symmetric systems); not with equations
    """

    def __init__(
        self, system: System, free: Ints, equations: Equations, order: Ints | None = None, lower: bool = False
    ) -> None:
        self.system = system
        count = len(system.labels)
        sequence = np.arange(count) if order is None else order
        kept = free.reshape(-1, 3) != 0
        rank = np.where(kept, np.cumsum(kept, axis=1) - 1, -1)
        dofs = (3 * sequence[:, None] + np.arange(3))[kept[sequence]]
        self.independent = dofs[free[dofs] == 1]
        self.dofs, self.size = dofs, len(dofs)
        self.transform: Sparse | None = None
        if len(equations.slave):
            self.transform = reduction(free, equations)[dofs]
        self._arrange(sequence, kept, rank, dofs, lower)

    def _arrange(self, sequence: Ints, kept: Flags, rank: Ints, dofs: Ints, lower: bool) -> None:
        count, system = len(kept), self.system
        pairs = coupled_nodes(system)
        everyone = np.arange(count)
        rows = np.concatenate([everyone, pairs[:, 0], pairs[:, 1]])
        columns = np.concatenate([everyone, pairs[:, 1], pairs[:, 0]])
        turn = np.empty(count, np.int64)
        turn[sequence] = everyone
        unique, block = np.unique(turn[columns] * count + turn[rows], return_inverse=True)
        rows, columns = sequence[unique % count], sequence[unique // count]
        inside = turn[rows] >= turn[columns] if lower else np.ones(len(unique), np.bool_)
        height = np.where(inside, kept.sum(axis=1)[rows], 0)
        below = np.cumsum(height) - height
        first = np.searchsorted(unique // count, everyone)  # of the blocks of each column, in turn
        offset = np.where(inside, below - below[first][turn[columns]], -1)
        tall = np.add.reduceat(height, first) if count else height
        place = np.full(3 * count, -1, np.int64)
        place[dofs] = np.arange(len(dofs))
        place_rank = rank.reshape(-1)[dofs]
        lengths = tall[turn[dofs // 3]] - (place_rank if lower else 0)
        self.indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        start = np.zeros(3 * count, np.int64)
        start[dofs] = self.indptr[:-1] - (place_rank if lower else 0)
        bars = len(system.bars.nodes)
        across = np.column_stack([offset[block[count : count + len(pairs)]], offset[block[count + len(pairs) :]]])
        of_bars, of_pairs = np.ascontiguousarray(across[:bars]), np.ascontiguousarray(across[bars:])
        places = rank.reshape(-1), start, offset[block[:count]]
        self.pattern = Pattern(*places, of_bars, of_pairs, np.array([int(lower)]))
        indices = np.zeros(int(self.indptr[-1]), np.int64)
        write_rows(self.pattern, rows[inside], columns[inside], offset[inside], place, indices)
        self.indices = indices.astype(np.int32)

    def matrix(self, work: Linearised) -> Sparse:
        """Effective tangent over the independent dofs (CSC)."""
        from scipy.sparse import csc_array

        full = csc_array((self.values(work), self.indices, self.indptr), shape=(self.size, self.size))
        return full if self.transform is None else reduced(full, self.transform)

    def values(self, work: Linearised) -> Floats:
        """Its entries before dependent dofs are eliminated, at ``indices`` and ``indptr``."""
        values = np.empty(len(self.indices))
        fill_values(self.pattern, work.tangent, work.block, values)
        return values


def reduced(matrix: Sparse, transform: Sparse) -> Sparse:
    """The matrix over the independent unknowns (CSC); overflow remains visible in it."""
    with np.errstate(invalid="ignore", over="ignore"):
        return (transform.T @ matrix @ transform).tocsc()


def coupled_nodes(system: System) -> Ints:
    """(p, 2) nodes that share a bar, then nodes coupled otherwise."""
    return np.concatenate([system.bars.nodes, system.pairs])


def elimination_order(system: System) -> Ints:
    """Nodes in an order that keeps factors sparse: multiple minimum degree, as SuperLU finds it, of the node graph.
    The graph is a third of the size of the matrix, and the dofs of a node stay together: computed once per step it is
    cheaper, and factorisations are a tenth faster, than if each one orders the matrix."""
    from scipy.sparse import coo_array

    pairs, count = coupled_nodes(system), len(system.labels)
    rows, columns = np.concatenate([pairs, pairs[:, ::-1], np.arange(count)[:, None].repeat(2, axis=1)]).T
    return np.argsort(minimum_degree(coo_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))))


# Systems with rods: the saddle matrix of tangent and constraints, pivoted, for any topology.
#
# [ K  P ] [du ]   [ residual ]      P, Q: gradients of the constraints, p and q at the second node of a rod,
# [ Q^T 0] [tau] = [  - gaps  ]      minus at the first
class SaddleMatrix:
    """The matrix over the independent dofs, followed by the multipliers of rods; its pattern is computed once."""

    def __init__(self, tangent: SparseTangent) -> None:
        self._tangent = tangent
        bars, size = tangent.system.bars, tangent.size
        row = np.full(tangent.system.size, -1, np.int64)
        row[tangent.dofs] = np.arange(size)
        rods, dofs = rod_places(bars)
        self._kept = np.flatnonzero(row[dofs] >= 0)
        ends, columns = row[dofs[self._kept]], size + rods[self._kept]
        inside = np.repeat(np.arange(size), np.diff(tangent.indptr))
        column = np.concatenate([inside, columns, ends])
        indices = np.concatenate([tangent.indices, ends, columns])
        self._order = np.lexsort([indices, column])
        lengths = len(heads(bars))
        self._size, self._adds_up = size + lengths, lengths < len(bars.rods)
        self._indices = indices[self._order].astype(np.int32)
        self._indptr = np.searchsorted(column[self._order], np.arange(self._size + 1)).astype(np.int32)
        self._transform: Sparse | None = None
        if tangent.transform is not None:
            from scipy.sparse import block_diag, eye_array

            self._transform = block_diag([tangent.transform, eye_array(lengths)], format="csr")

    def of(self, work: Linearised) -> Sparse:
        """The matrix with the present numbers (CSC)."""
        from scipy.sparse import csc_array

        bars = self._tangent.system.bars
        across, along = (rod_values(bars, work.tangent.bar_tangent, row)[self._kept] for row in (P, Q))
        values = np.concatenate([self._tangent.values(work), across, along])[self._order]
        pattern = (self._indices.copy(), self._indptr.copy()) if self._adds_up else (self._indices, self._indptr)
        full = csc_array((values, *pattern), shape=(self._size, self._size))
        if self._adds_up:  # both legs of a rope end at its pulley
            full.sum_duplicates()
        return full if self._transform is None else reduced(full, self._transform)


def bordered(tangent: SparseTangent, work: Linearised) -> Sparse:
    """That matrix, made once: without rods the tangent (CSC)."""
    return SaddleMatrix(tangent).of(work) if len(tangent.system.bars.rods) else tangent.matrix(work)


class SaddleSolver:
    """Writes ``work.du`` and ``work.tau`` for ``work.residual`` and the gaps of the rods."""

    def __init__(self, system: System, tangent: SparseTangent) -> None:
        self.rods, self.row = system.bars.rods, rows_of(system.bars)
        self.independent, self.matrix = tangent.independent, SaddleMatrix(tangent)

    def state(self) -> dict[str, Any] | None:
        """No factors are kept."""
        return None

    def solve(self, work: Linearised, forcing: float) -> bool:
        """False where the system is singular or not finite."""
        work.du[:] = 0.0
        gaps = np.bincount(self.row, work.tangent.bar_tangent[GAP, self.rods])
        right = np.concatenate([work.residual[self.independent], -gaps])
        matrix = self.matrix.of(work)
        if not (np.isfinite(matrix.data).all() and np.isfinite(right).all()):
            return False
        solution = solve_pivoting(matrix, right)
        if solution is None:
            return False
        work.du[self.independent] = solution[: len(self.independent)]
        work.tau[self.rods] = solution[len(self.independent) :][self.row]
        return True


# Direct solution of sparse systems without a compiled solver; the last factor is kept as a preconditioner.
#
# While the state changes little, the factor of an earlier tangent makes conjugate gradients converge in few iterations,
# each at the cost of one back-substitution. A new factor is made when the next solve would cost more than the average
# of the solves with this one, its factorisation included: this is optimal if costs only rise.

POOR = 1e-9
"""Relative residual of a direct solve above which it is repeated with full pivoting."""
SMALLEST_KEPT = 1500
"""Number of equations from which on factors are kept and solves are inexact; smaller ones are solved exactly."""

LOOSEST = 1e-3
"""Largest fraction of the residual that may be left: Newton then needs as many iterations as with exact solves, or
one in thirty more."""


class DirectSolver:
    """Writes ``work.du`` for ``work.residual``, with the library of ``factors``.

    free, equations   free dofs, and equations between dofs
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
        """Data on which later solves depend, with the matrix of the kept factor."""
        counts = {"spent": self.spent, "solves": self.solves, "patience": self.patience, "kind": self.factors.kind}
        matrix = self._factored
        if not self.has_factor:
            return counts
        return counts | {"matrix": (matrix.data, matrix.indices, matrix.indptr, matrix.shape)}

    def put_back(self, state: Mapping[str, Any]) -> None:
        """Restore such a state of a solver of the same system."""
        from scipy.sparse import csc_array

        self.spent, self.solves, self.patience = state["spent"], state["solves"], state["patience"]
        self.factors.kind = state["kind"]
        if "matrix" in state:
            *parts, shape = state["matrix"]
            self._factored = csc_array(tuple(parts), shape=shape)
            self.has_factor = self.factors.factorise(self._factored)

    def solve(self, work: Linearised, forcing: float) -> bool:
        """False: the tangent is singular or something is not finite.
        forcing  fraction of the residual (2-norm) that may be left with a kept factor, if below ``LOOSEST``"""
        right = work.residual[self.independent]
        work.du[:] = 0.0
        if len(right) == 0:
            return True
        solution = None
        with np.errstate(all="ignore"):  # overflow and NaN are detected in residuals
            if self.has_factor:
                solution = self._iterate(work, right, min(forcing, LOOSEST))
            if solution is None and np.isfinite(right).all():
                solution = self._factor(work, right)
        if solution is None:
            return False
        work.du[self.independent] = solution
        return True

    def _factor(self, work: Linearised, right: Floats) -> Floats | None:
        """Exact solution with a new factor; None: the tangent is singular or not finite."""
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

    def _pivot(self, work: Linearised) -> Floats | None:
        """Solution with full pivoting, for tangents that are indefinite or nearly singular; None: singular."""
        whole = SparseTangent(self.system, self.free, self.equations)
        solution = solve_pivoting(whole.matrix(work), work.residual[whole.independent])
        if solution is None:
            return None
        self.full[whole.independent] = solution
        return np.asarray(self.full[self.independent])

    def _iterate(self, work: Linearised, right: Floats, forcing: float) -> Floats | None:
        """Solution by conjugate gradients with the kept factor; None: a new factor is cheaper."""
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

    def _multiply(self, work: Linearised, x: Floats) -> Floats:
        """Tangent times x over the independent dofs, bar by bar."""
        full, product = self.full, self.product
        full[:] = 0.0
        full[self.independent] = x
        expand(self.equations, full)
        multiply(work.tangent, work.block, self.is_free, full, product)
        condense(self.equations, product)
        return np.asarray(product[self.independent])
