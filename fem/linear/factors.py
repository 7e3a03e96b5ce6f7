"""Libraries that factorise sparse matrices: SciPy's SuperLU, or PARDISO of Intel's MKL if pypardiso is installed."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints, Matrix, Sparse
from fem.errors import CommandError, lacks

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU as Elimination

SUPERLU, PARDISO = "SUPERLU", "PARDISO"
WORTHWHILE = 5000
"""Number of equations from which on PARDISO is used if installed: below, loading MKL costs more than it saves."""
PARDISO_SETTINGS = {1: 1, 2: 2, 10: 8}
"""Of ``iparm``: these values count, nested dissection, pivots below 1e-8 are perturbed (and the residual looked at)."""
ROUND_OFF, POOR = 1e-14, 1e-10
"""Error of a solution that needs no refinement; error beyond which it is rejected and another solver is used."""
NOTHING = 1e-12
"""Fraction of the largest equation that is added to the size of each: an equation of zeros has no size."""
SINGULAR = 1e-14
"""A dense matrix whose condition number, rows and columns scaled, is beyond the inverse of this is singular."""
HELPS = 0.5
"""A refinement that leaves more than this fraction of the error is the last one."""
MOST_SOLVES, SCALINGS = 10, 6
ANALYSE, FACTORISE, SOLVE, RELEASE = 11, 22, 33, -1


class SuperLU:
    """LU with pivots on the diagonal while they are no smaller than 1 % of their column: for any matrix."""

    is_lower, price, kind = False, 25, 0

    def __init__(self, has_order: bool) -> None:
        self.wants_order = has_order
        self._factor: Any = None

    def factorise(self, matrix: Sparse) -> bool:
        from scipy.sparse.linalg import splu

        order = "NATURAL" if self.wants_order else "MMD_AT_PLUS_A"
        self._factor = None  # release memory first
        try:
            self._factor = splu(matrix, permc_spec=order, diag_pivot_thresh=0.01, options={"SymmetricMode": True})
        except RuntimeError:  # exactly singular
            return False
        return True

    def solve(self, right: Floats) -> Floats:
        return np.asarray(self._factor.solve(right))


class Pardiso:
    """Cholesky while the matrix is positive definite, LDL^T from the first one that is not; LU where unsymmetric.

    The analysis of the pattern is done once. Matrices come in compressed columns, which PARDISO reads as rows: the
    lower triangle of a symmetric one is the upper one it asks for, the others it solves transposed.
    """

    wants_order, price = False, 15
    DEFINITE, SYMMETRIC, GENERAL = 2, -2, 11

    def __init__(self, is_symmetric: bool) -> None:
        self.is_lower = is_symmetric
        self.kind = self.DEFINITE if is_symmetric else self.GENERAL
        self._solver: Any = None
        self._matrix: Any = None

    def factorise(self, matrix: Sparse) -> bool:
        self._matrix = matrix
        if self._attempt():
            return True
        if self.kind != self.DEFINITE:
            return False
        self.kind, self._solver = self.SYMMETRIC, None
        return self._attempt()

    def solve(self, right: Floats) -> Floats:
        return np.asarray(self._call(SOLVE, np.ascontiguousarray(right)))

    def _attempt(self) -> bool:
        from pypardiso.pardiso_wrapper import PyPardisoError

        nothing = np.zeros(self._matrix.shape[0])
        try:
            if self._solver is None:
                self._open()
                self._call(ANALYSE, nothing)
            self._call(FACTORISE, nothing)
        except PyPardisoError:
            return False
        return True

    def _open(self) -> None:
        from pypardiso import PyPardisoSolver

        self._solver = PyPardisoSolver(mtype=self.kind)
        for number, value in PARDISO_SETTINGS.items():
            self._solver.iparm[number - 1] = value
        self._solver.iparm[12 - 1] = 2 if self.kind == self.GENERAL else 0
        keeper = weakref.finalize(self._solver, _release, self._solver.pt, self.kind, self._matrix.shape[0])
        keeper.atexit = False

    def _call(self, phase: int, right: Floats) -> Any:
        self._solver.set_phase(phase)
        return self._solver._call_pardiso(self._matrix, right)


def _release(handle: Any, kind: int, count: int) -> None:
    """Releases the memory of a solver that no longer exists, which MKL owns."""
    from pypardiso import PyPardisoSolver
    from scipy.sparse import eye_array

    last = PyPardisoSolver(mtype=kind, phase=RELEASE)
    last.pt = handle
    last._call_pardiso(eye_array(count, format="csr"), np.zeros(count))


Factors: TypeAlias = SuperLU | Pardiso
"""The factors of one matrix at a time, all of one pattern: ``factorise`` is False if the library finds it singular.

wants_order  rows should be in an order that keeps the factors sparse; is_lower: only the lower triangle
price        of a factorisation, in solves with it (measured on a net of 300 x 300, SuperLU: 40, on 100 x 100: 20)
kind         of matrix, as determined by the library
"""


@cache
def is_installed(package: str) -> bool:
    """A package can be imported; looked up once a process."""
    return find_spec(package) is not None


def library_for(wanted: str, equations: int) -> tuple[str, str]:
    """The library of a direct solver (``wanted`` may name it), and a remark for the record.
    CommandError: the requested library is not installed."""
    has_pardiso = is_installed("pypardiso")
    if wanted == PARDISO and not has_pardiso:
        raise CommandError(f"--solver pardiso: {lacks('pypardiso', 'direct')}")
    if wanted == PARDISO or (wanted != SUPERLU and has_pardiso and equations >= WORTHWHILE):
        return PARDISO, "PARDISO of pypardiso"
    if equations < WORTHWHILE or wanted == SUPERLU:
        return SUPERLU, "SciPy's SuperLU"
    return SUPERLU, "SciPy's SuperLU; pypardiso, which is faster, is not installed"


def factors_of(library: str, is_symmetric: bool, has_order: bool) -> Factors:
    """Open a library. ``is_symmetric``: all matrices are; ``has_order``: their rows can be put in any order."""
    if library == PARDISO:
        for folder in ("lib", "Library/bin"):  # so that pypardiso need not search the whole installation for it
            for path in sorted(Path(sys.prefix, folder).glob("*mkl_rt*")):
                os.environ.setdefault("PYPARDISO_MKL_RT", str(path))
        return Pardiso(is_symmetric)
    return SuperLU(has_order)


def solve_pivoting(matrix: Sparse, right: Floats) -> Floats | None:
    """Solution of any sparse system (CSC) by LU with full partial pivoting, checked; None: singular.
    right (n,) or (n, k)"""
    from scipy.sparse.linalg import splu

    rows, columns = scales(matrix)
    if not (np.isfinite(rows).all() and np.isfinite(columns).all()):
        return None
    (row, column), _ = _entries(matrix)
    scaled = matrix.copy()
    scaled.data *= rows[row]
    scaled.data *= columns[column]
    try:
        solution = refine(splu(scaled, permc_spec="COLAMD").solve, scaled, (rows * right.T).T)
    except RuntimeError:  # exactly singular
        return None
    return None if solution is None else (columns * solution.T).T


def solve_dense(matrix: Floats, right: Floats) -> Floats | None:
    """The same for a small dense system, with numpy alone; None also where it is singular but for round-off."""
    found = dense_inverse(matrix.tobytes(), len(matrix))
    if found is None:
        return None
    rows, columns, scaled, inverse = found
    solution = refine(lambda rest: inverse @ rest, scaled, rows * right)
    return None if solution is None else columns * solution


@lru_cache(1)
def dense_inverse(numbers: bytes, size: int) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Scales of rows and columns of a matrix, the scaled matrix and its inverse; None: it is singular. Models of a
    sweep often have the same one."""
    matrix = np.frombuffer(numbers).reshape(size, size)
    rows, columns = scales(matrix)
    if not (np.isfinite(rows).all() and np.isfinite(columns).all()):
        return None
    scaled = rows[:, None] * matrix * columns
    try:
        inverse = np.asarray(np.linalg.inv(scaled), np.float64)
    except np.linalg.LinAlgError:
        return None
    if not np.linalg.norm(scaled, 1) * np.linalg.norm(inverse, 1) < 1.0 / SINGULAR:
        return None
    return rows, columns, scaled, inverse


def refine(solve: Callable[[Floats], Floats], matrix: Matrix, right: Floats) -> Floats | None:
    """Solution of matrix x = right, refined by its residual while that helps; None: it remains inaccurate.

    Each component of the residual is compared with the sum of the magnitudes it consists of, as in
    ``newton/refine.py``. right (n,) or (n, k)
    """
    magnitudes, solution, before = abs(matrix), np.zeros_like(right), np.inf
    rest = right
    for _ in range(MOST_SOLVES):
        trial = solution + np.asarray(solve(rest))
        rest = right - matrix @ trial
        size = magnitudes @ np.abs(trial) + np.abs(right)
        size += NOTHING * size.max(initial=0.0) + np.finfo(float).tiny
        error = float((np.abs(rest) / size).max(initial=0.0))
        if not error < before:
            break
        solution, is_slow, before = trial, error > HELPS * before, error
        if error <= ROUND_OFF or is_slow:
            break
    return np.asarray(solution) if before <= POOR else None


def scales(matrix: Matrix) -> tuple[Floats, Floats]:
    """Factors of rows and columns that bring the largest entries of all to about 1; not finite where one is empty.
    Source: Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034."""
    (row, column), values = _entries(matrix)
    magnitudes = np.abs(values)
    rows, columns = np.ones(matrix.shape[0]), np.ones(matrix.shape[1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for _ in range(SCALINGS):
            rows /= np.sqrt(rows * _largest(magnitudes * columns[column], row, len(rows)))
            columns /= np.sqrt(columns * _largest(magnitudes * rows[row], column, len(columns)))
    return rows, columns


def _entries(matrix: Matrix) -> tuple[tuple[Ints, Ints], Floats]:
    """Rows and columns of the entries, and what they are; ``matrix``: dense or CSC."""
    if isinstance(matrix, np.ndarray):
        row, column = np.nonzero(matrix)
        return (row, column), matrix[row, column]
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return (matrix.indices, column), matrix.data


def _largest(magnitudes: Floats, place: Ints, count: int) -> Floats:
    """Largest of the magnitudes at each of ``count`` places."""
    largest = np.zeros(count)
    np.maximum.at(largest, place, magnitudes)
    return largest


def equilibrated(matrix: Sparse) -> tuple[Sparse, Floats] | None:
    """A symmetric matrix (CSC) with rows of about the same size, d_i a_ij d_j, and d; None where it cannot be solved.
    Not finite, or structurally singular: SuperLU would crash. Source: Ruiz 2001."""
    from scipy.sparse.csgraph import structural_rank

    matrix.indices = matrix.indices.astype(np.int32)  # structural_rank of old SciPy takes no others
    matrix.indptr = matrix.indptr.astype(np.int32)
    if not np.isfinite(matrix.data).all() or structural_rank(matrix) < matrix.shape[0]:
        return None
    size, scale = abs(matrix).tocsr(), np.ones(matrix.shape[0])
    for _ in range(3):
        largest = size.multiply(scale[:, None]).multiply(scale[None, :]).max(axis=1).toarray().ravel()
        scale /= np.sqrt(np.where(largest > 0.0, largest, 1.0))
    return matrix.multiply(scale[:, None]).multiply(scale[None, :]).tocsc(), scale


def symmetric_factor(matrix: Sparse, order: str = "MMD_AT_PLUS_A") -> Elimination | None:
    """Factors of a symmetric matrix (CSC), with pivots on its diagonal of any size; None: one of them is zero."""
    from scipy.sparse.linalg import splu

    try:
        return splu(matrix, permc_spec=order, diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None


def negative_pivots(factor: Elimination) -> int:
    """How many eigenvalues of that matrix are negative (Sylvester's law of inertia); -1: rows were exchanged."""
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return -1
    return int(np.count_nonzero(factor.U.diagonal() < 0.0))


def minimum_degree(graph: Sparse) -> Ints:
    """(n,) place of each node of a graph in an order that keeps factors sparse: multiple minimum degree."""
    from scipy.sparse import eye_array

    graph = graph.tocsc()
    graph.data[:] = -1.0
    most = float(np.diff(graph.indptr).max(initial=0))
    factor = symmetric_factor((graph + (2.0 + most) * eye_array(graph.shape[0])).tocsc())
    assert factor is not None  # the matrix is diagonally dominant
    return np.asarray(factor.perm_c, np.int64)


def start_vector(count: int, turn: int = 0) -> Floats:
    """Start of iterations: it has a component in every mode; a different one for every ``turn``."""
    return np.asarray(np.cos(np.arange(count) * (1.234567 + 0.1 * turn)) + 1.5)
