"""The lowest modes where K is not symmetric: K x = lambda M x, lambda = omega^2 real or one of two conjugates.

Forces without a potential make K unsymmetric: moments on bodies, drag that rotates with a line, friction. A conjugate
pair is a motion that grows and one that decays (flutter); the largest component of x is real. Modes are computed from
one shift, all together (small models) or by Arnoldi's iteration, in the order of Re(lambda).

Corrected and confirmed as those of symmetric ones (``modes.py``): x - (K - shift M)^-1 (K x - lambda M x), and the
stationary motions among all x. An eigenvalue lies within |lambda - shift| |dx| times its condition number, the size of
its left vector (to first order; Golub and Van Loan, Matrix Computations, 7.2.2).

Check for missing modes: det(K - z M) turns once around zero for each eigenvalue within a closed path of z (Cauchy's
argument principle). A path through the widest gap after the modes wanted is followed with factors of K - z M.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Complexes, Flags, Floats, Ints, Sparse
from fem.errors import ModelError
from fem.linear.factors import equilibrated, start_vector
from fem.solve.modes import (
    APART,
    CONFIRMED,
    CORRECTIONS,
    FREE,
    ROUNDING,
    SPARE,
    UNSEEN,
    Factor,
    MassRoot,
    Pencil,
    bordered,
)

STILL = 1e-9
"""A motion whose forces cancel to this fraction has no stiffness."""
REAL = 1e-9
"""An eigenvalue is real if its imaginary part is smaller than this fraction times its condition number."""
ALIKE = 1e-13
"""Square of the angle below which two motions are the same."""
STEPS, FINEST = 16, 12
"""Smallest number of steps along half a path around eigenvalues, and largest number of halvings of a step."""
TURN = 0.25 * np.pi
"""Largest change of phase of the determinant in one of them."""


class Whole(NamedTuple):
    """Modes by rising real part: lambda (k,), x (n, k) with x.M x = 1; lambda of those not confirmed (f,); number of
    modes of the model, and of missing ones among those wanted (-1: unknown)."""

    squares: Complexes
    shapes: Complexes
    failed: Complexes
    total: int
    missing: int


def lowest_unsymmetric(pencil: Pencil, wanted: int) -> Whole:
    """The ``wanted`` lowest modes, and some more."""
    heavy = int(np.count_nonzero(pencil.mass.diagonal()))
    root = MassRoot(pencil) if pencil.is_small or 2 * wanted >= heavy else None
    total = root.modes if root else -1
    if total == 0:
        nothing = np.zeros(0, complex)
        return Whole(nothing, np.zeros((pencil.size, 0), complex), nothing, 0, 0)
    count, best = min(wanted + SPARE, total) if root else wanted + SPARE, -1
    for shift in (0.0, *(-FREE * pencil.scale * 100.0 ** np.arange(5))):  # negative if zero is an eigenvalue
        factor = Factor(pencil, float(shift))
        if not factor.is_regular:
            continue
        found = _confirm(factor, _all_near(factor, root, count) if root else _some_near(factor, count))
        if (good := int(found[2].sum())) > best:
            best, of_best, (squares, shapes, is_good) = good, factor, found
        if is_good.all():
            break
    if best < 0:
        raise ModelError("*FREQUENCY: some free dofs have neither mass nor stiffness: give them one, or supports")
    missing = max(count - len(squares), 0) if root else _missing(of_best, squares, wanted)
    return Whole(squares[is_good], shapes[:, is_good], squares[~is_good], total, missing)


def _all_near(factor: Factor, root: MassRoot, count: int) -> Floats:
    """(n, k) vectors that span the ``count`` modes nearest to the shift, from all modes found there."""
    moved, inverse = root.inverse(factor)
    mu, vectors = np.linalg.eig(inverse)
    order = np.argsort(-np.abs(mu), kind="stable")[:count]
    order = order[np.abs(mu[order]) > UNSEEN * np.abs(mu).max(initial=0.0)]
    return moved @ _parts(mu[order], vectors[:, order])


def _parts(values: Complexes, vectors: Complexes) -> Floats:
    """Real parts, and imaginary parts of one of each conjugate pair."""
    one = (values.imag >= 0.0) | ~np.isin(values.conj(), values)
    return np.hstack([vectors[:, one].real, vectors[:, one & (values.imag != 0.0)].imag])


def _some_near(factor: Factor, count: int) -> Floats:
    """(n, k) vectors that span the ``count`` modes nearest to the shift (Arnoldi)."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs

    pencil, rods = factor.pencil, factor.pencil.gradients.shape[0]

    def inverse(load: Floats) -> Floats:
        return factor.solve(load.reshape(-1, 1), np.zeros((rods, 1)))[:, 0]

    operator = LinearOperator((pencil.size, pencil.size), lambda x: inverse(pencil.mass @ x), dtype=float)
    start = operator @ start_vector(pencil.size)
    try:
        mu, shapes = eigs(operator, k=min(count, pencil.size - 2), which="LM", v0=start, tol=1e-10)
    except ArpackNoConvergence as error:
        mu, shapes = error.eigenvalues, error.eigenvectors
    return _parts(mu, shapes)


def solved(factor: Factor, right: Complexes, gaps: Complexes) -> Complexes:
    """``Factor.solve`` for complex columns."""
    count = right.shape[1]
    found = factor.solve(np.hstack([right.real, right.imag]), np.hstack([gaps.real, gaps.imag]))
    return np.asarray(found[:, :count] + 1j * found[:, count:])


def _confirm(factor: Factor, shapes: Floats) -> tuple[Complexes, Complexes, Flags]:
    """lambda and x by rising real part, corrected, and which of them are confirmed."""
    pencil, last = factor.pencil, np.inf
    for _ in range(CORRECTIONS):
        squares, x, condition = _stationary(pencil, shapes)
        left = pencil.force(x) - (pencil.mass @ x) * squares
        change = solved(factor, left, np.asarray(pencil.gradients @ x))
        off = np.abs(squares - factor.shift)
        moved = np.sqrt(np.abs(np.einsum("ik,ik->k", change.conj(), pencil.mass @ change)))
        error = condition * off * moved
        is_zero = _are_zero(pencil, x)
        if factor.shift < 0.0:  # zero is an eigenvalue
            is_zero |= np.abs(squares) <= ROUNDING * np.abs(squares).max(initial=0.0)
        is_good = (error <= CONFIRMED * np.abs(squares)) | (is_zero & (error <= CONFIRMED * off))
        worst = float((error / off)[~is_good].max(initial=0.0))
        if is_good.all() or worst > 0.5 * last:
            break
        last, shapes = worst, _parts(squares, x - change)
    x[:, is_zero] = _orthogonal(pencil, _parts(squares[is_zero], x[:, is_zero]))
    peak = x[np.abs(x).argmax(axis=0), np.arange(x.shape[1])]
    return np.where(is_zero, 0.0, squares), x * (np.abs(peak) / peak), is_good


def _stationary(pencil: Pencil, basis: Floats) -> tuple[Complexes, Complexes, Floats]:
    """lambda (k,), x (n, k) and condition numbers among motions (n, k), by rising real part (Galerkin)."""
    basis = _orthogonal(pencil, basis)
    inside = basis.T @ pencil.force(basis)
    squares, vectors = np.linalg.eig(inside)
    condition = np.sqrt((np.abs(np.linalg.pinv(vectors)) ** 2).sum(axis=1))
    is_real = np.abs(squares.imag) <= REAL * condition * np.abs(squares)
    squares = np.where(is_real, squares.real, squares)
    vectors = np.where(is_real, np.real(vectors), vectors)
    vectors = vectors / np.sqrt((np.abs(vectors) ** 2).sum(axis=0))
    order = np.argsort(squares, kind="stable")
    return squares[order], basis @ vectors[:, order], condition[order]


def _orthogonal(pencil: Pencil, basis: Floats) -> Floats:
    """Motions (n, k) with the same span, x_i.M x_j = 1 or 0."""
    basis = basis / np.sqrt(np.abs(np.einsum("ik,ik->k", basis, pencil.mass @ basis)))
    for _ in range(2):
        fraction, vectors = np.linalg.eigh(basis.T @ (pencil.mass @ basis))
        kept = fraction > ALIKE
        basis = basis @ (vectors[:, kept] / np.sqrt(fraction[kept]))
    return basis


def _are_zero(pencil: Pencil, x: Complexes) -> Flags:
    """Columns without stiffness: their forces are rounding errors, or cancel within the error of equilibrium."""
    stretch = np.abs(pencil.rows @ x)
    rounding = ROUNDING * (abs(pencil.rows) @ np.abs(x))
    sizes = np.abs(pencil.weights)[:, None]
    limit = abs(pencil.given).T @ (sizes * (STILL * stretch + rounding))
    return np.asarray((np.abs(pencil.force(x)) <= limit).all(axis=0))


def _missing(factor: Factor, squares: Complexes, wanted: int) -> int:
    """Number of eigenvalues within a path after those wanted that are not among ``squares``; -1: not counted."""
    far = np.sort(np.abs(squares - factor.shift))
    if len(far) <= wanted:
        return -1
    wide = np.diff(far[wanted - 1 :]) / far[wanted:]
    widest = int(wide.argmax())
    if wide[widest] <= APART:
        return -1
    last = wanted + widest
    radius = 0.5 * (far[last - 1] + far[last])
    pencil, angle, finest = factor.pencil, np.linspace(0.0, np.pi, max(STEPS, 4 * last) + 1), 0
    turn = [_direction(pencil, factor.shift + radius * np.exp(1j * each)) for each in angle]
    total, rest = 0.0, list(zip(angle, angle[1:], turn, turn[1:], strict=False))
    while rest and finest < 2**FINEST:
        start, end, of_start, of_end = rest.pop()
        step = float(np.angle(of_end / of_start)) if of_start and of_end else np.nan
        if abs(step) <= TURN:
            total += step
            continue
        if not np.isfinite(step) or end - start < np.pi / 2**FINEST:
            return -1
        middle, finest = 0.5 * (start + end), finest + 1
        of_middle = _direction(pencil, factor.shift + radius * np.exp(1j * middle))
        rest += [(start, middle, of_start, of_middle), (middle, end, of_middle, of_end)]
    return -1 if rest else max(round(total / np.pi) - last, 0)


def _direction(pencil: Pencil, at: complex) -> complex:
    """det(K - at M) over its magnitude, with borders for rods; 0 if it cannot be factorised."""
    from scipy.sparse.linalg import splu

    matrix = bordered(pencil, at, False)
    if (scaled := equilibrated(matrix)) is None:
        return 0.0
    try:
        factor = splu(scaled[0].astype(complex))
    except RuntimeError:  # exactly singular
        return 0.0
    pivots = factor.U.diagonal()
    sign = _sign(factor.perm_r) * _sign(factor.perm_c)
    return complex(sign * np.exp(1j * np.angle(pivots).sum()))


def _sign(order: Ints) -> int:
    """Sign of a permutation."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = len(order)
    graph: Sparse = csr_array((np.ones(count), order, np.arange(count + 1)), shape=(count, count))
    cycles = int(connected_components(graph, directed=False)[0])
    return 1 - 2 * ((count - cycles) % 2)
