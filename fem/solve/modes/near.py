"""Modes near a shift: found by inverse iteration, corrected and confirmed.

Each x is corrected by (K - shift M)^-1 (K x - omega^2 M x), which is a step of inverse iteration, and also a step of
iterative refinement, for K x is formed spring by spring. The size of the last correction, |dx| for |x| = 1 in the norm
of the mass, is the residual in the norm in which errors of frequencies are read off: an eigenvalue lies within
|omega^2 - shift| |dx| (Parlett, The Symmetric Eigenvalue Problem, 4-5-1), and omega^2 itself is off by no more than
the square of that over the distance to the next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.solve.modes.factor import Factor, start_vector
from fem.solve.modes.pencil import Pencil

CONFIRMED = 1e-8
"""Relative distance of omega^2 to an eigenvalue up to which a mode is given."""
WINDOW = 1e5
"""Modes this many times farther from the shift than the nearest one are left to another shift."""
CORRECTIONS = 8
"""Most corrections at one shift; each leaves of an error what the shift is nearer to the mode than to the others."""
UNSEEN = 1e-13
"""Modes are lost in rounding where the nearest one is nearer to the shift by this factor."""
MASSLESS = 1e-12
"""Fraction of the mass of its dofs below which a motion has none."""
INDEPENDENT = 1e-6
"""Fraction of a motion's mass that others must leave it to count as another one."""


class MassRoot:
    """M = C C^T over the dofs with mass: small models are turned into C^T (K - shift M)^-1 C, all modes at once.

    modes   how many motions with mass the rods leave
    """

    def __init__(self, pencil: Pencil) -> None:
        mass = pencil.mass.toarray()
        scale = np.sqrt(np.diag(mass))
        heavy = np.flatnonzero(scale > 0.0)
        fraction, vectors = np.linalg.eigh(mass[np.ix_(heavy, heavy)] / np.outer(scale[heavy], scale[heavy]))
        kept = fraction > MASSLESS
        self.root = np.zeros((pencil.size, int(kept.sum())))
        self.root[heavy] = scale[heavy, None] * vectors[:, kept] * np.sqrt(fraction[kept])
        self.modes = self.root.shape[1]
        if pencil.gradients.shape[0]:
            self.modes = _rank_of_moves(pencil, scale, heavy, vectors[:, kept])

    def near(self, factor: Factor, known: Floats) -> tuple[Floats, Floats]:
        """omega^2 and shapes of the modes that are not known, as far as they are seen from this shift."""
        root = self.root
        moved = factor.solve(root, np.zeros((factor.pencil.gradients.shape[0], root.shape[1])))
        inverse = root.T @ moved
        taken = root.T @ known
        inverse -= taken @ (taken.T @ inverse)
        inverse -= (inverse @ taken) @ taken.T
        mu, vectors = np.linalg.eigh(0.5 * (inverse + inverse.T))
        order = np.argsort(-np.abs(mu))[: self.modes - known.shape[1]]
        order = order[np.abs(mu[order]) > UNSEEN * np.abs(mu).max(initial=0.0)]
        return factor.shift + 1.0 / mu[order], np.asarray(moved @ vectors[:, order])


def _rank_of_moves(pencil: Pencil, scale: Floats, heavy: Any, vectors: Floats) -> int:
    """Dimension of what moves with mass and keeps the lengths of rods."""
    from scipy.linalg import null_space

    moves = null_space(pencil.gradients.toarray())
    if moves.shape[1] == 0:
        return 0
    weighted = vectors.T @ (scale[heavy, None] / scale.max() * moves[heavy])
    return int(np.linalg.matrix_rank(weighted, tol=1e-8)) if len(weighted) else 0


def some_near(factor: Factor, known: Floats, count: int, turn: int) -> tuple[Floats, Floats]:
    """The ``count`` modes nearest to the shift that are not known (Lanczos)."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

    pencil, rods = factor.pencil, factor.pencil.gradients.shape[0]
    held = pencil.mass @ known

    def inverse(load: Floats) -> Floats:
        x = factor.solve(load.reshape(-1, 1), np.zeros((rods, 1)))[:, 0]
        return np.asarray(x - known @ (held.T @ x))

    start = inverse(pencil.mass @ start_vector(pencil.size, turn))
    operator = LinearOperator((pencil.size, pencil.size), inverse, dtype=float)
    wanted = {"k": min(count, pencil.size - 1), "sigma": factor.shift, "which": "LM", "v0": start, "tol": 1e-9}
    try:
        squares, shapes = eigsh(operator, M=pencil.mass, OPinv=operator, **wanted)
    except ArpackNoConvergence as error:
        squares, shapes = error.eigenvalues, error.eigenvectors
    except ArpackError:  # nothing is left that the start vector has a part of
        return np.zeros(0), np.zeros((pencil.size, 0))
    return np.asarray(squares), factor.solve(pencil.mass @ shapes, np.zeros((rods, len(squares))))


def confirm(factor: Factor, known: Floats, squares: Floats, shapes: Floats) -> tuple[Floats, Floats, Floats]:
    """omega^2 and shapes of the modes confirmed at this shift, and omega^2 of those that were not."""
    pencil, distance = factor.pencil, np.abs(squares - factor.shift)
    inside = distance <= WINDOW * distance.min(initial=np.inf)
    beyond, x = squares[~inside], shapes[:, inside]
    last = np.inf
    for _ in range(CORRECTIONS):
        x = _ritz(pencil, _apart_from(pencil, x, known))
        now = pencil.quotients(x)
        residual = pencil.force(x) - (pencil.mass @ x) * now
        change = factor.solve(residual, np.asarray(pencil.gradients @ x))
        off = np.abs(now - factor.shift)
        moved = np.einsum("ik,ik->k", change, pencil.mass @ change)
        error = off * np.sqrt(moved + np.abs(pencil.quotients(change)) / off)
        is_zero = pencil.are_zero(x)
        good = (error <= CONFIRMED * np.abs(now)) | (is_zero & (error <= CONFIRMED * off))
        worst = float((error / off)[~good].max(initial=0.0))
        if good.all() or worst > 0.5 * last:
            break
        last, x = worst, x - change
    now = np.where(is_zero, 0.0, now)
    return now[good], x[:, good], np.concatenate([now[~good], beyond])


def _apart_from(pencil: Pencil, x: Floats, known: Floats) -> Floats:
    """What of the motions is orthogonal to the known ones; those with nothing left are dropped."""
    held = pencil.mass @ known
    size = np.sqrt(np.abs(np.einsum("ik,ik->k", x, pencil.mass @ x)))
    x = x[:, size > 0.0] / size[size > 0.0]
    for _ in range(2):
        x = x - known @ (held.T @ x)
    left = np.einsum("ik,ik->k", x, pencil.mass @ x)
    return np.asarray(x[:, left > 0.1])


def _ritz(pencil: Pencil, x: Floats) -> Floats:
    """The motions combined to be orthogonal in mass and in stiffness, x.M x = 1 (Rayleigh and Ritz)."""
    for _ in range(2):
        fraction, vectors = np.linalg.eigh(x.T @ (pencil.mass @ x))
        kept = fraction > INDEPENDENT
        x = x @ (vectors[:, kept] / np.sqrt(fraction[kept]))
    stiffness = x.T @ pencil.force(x)
    x = x @ np.linalg.eigh(0.5 * (stiffness + stiffness.T))[1]
    return np.asarray(x / np.sqrt(np.einsum("ik,ik->k", x, pencil.mass @ x)))
