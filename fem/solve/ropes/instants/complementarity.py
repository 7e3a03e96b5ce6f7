"""The conditions of one-sided pulls, solved and verified.

    0 <= p, W p >= right, one of the two with equality (ropes);  W p = right (rods)

W is singular where lengths depend on each other: of all pulls the least are wanted then. W + s I has one answer; with
it the load right + s p_k gives the next p_k+1 (proximal points), which tend to an exact one from the least pulls on.
Sources: Judice & Pires, Comput. Oper. Res. 21 (1994) 587-596 (block principal pivoting); Rockafellar, SIAM J. Control
Optim. 14 (1976) 877-898 (proximal points).
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats

SHIFTS = (1e-13, 1e-7, 1e-10)
"""Shares of the diagonal of W added to it, until one of them leads to an answer; the first gives one nearly at once."""
SAME = 1e-12
"""Fraction of the largest eigenvalue of W below which it counts as zero."""
POINTS = 12
"""Proximal points before another shift is tried."""
ZERO = 1e-12
"""Fraction of the largest pull or rate that is round-off."""
PATIENCE = 3
"""Rounds without progress after which one pull is changed at a time."""
EXACT = 1e-10
"""Fraction of the largest load by which an answer may be off."""
LARGE = 1e8
"""Pulls beyond so many times what a lone bar would need come from round-off of lengths that depend on each other."""


class NoPulls(Exception):
    """No pulls fulfil the conditions; ``worst``: the row that is furthest off; ``bar``: whose it is, where known."""

    def __init__(self, worst: int) -> None:
        super().__init__()
        self.worst, self.bar = worst, -1


def complementarity(
    compliance: Floats, right: Floats, one_sided: Flags, noise: Floats | float = 0.0
) -> tuple[Floats, Flags]:
    """Pulls p with W p = right where they act; one-sided ones act only while p >= 0, else W p >= right.

    compliance (r, r), right (r,) known to ``noise``, one_sided (r,); returns p (r,) and which act (r,).
    NoPulls: there are none.
    """
    scale = 1.0 / np.sqrt(np.diag(compliance))
    matrix, load = scale[:, None] * compliance * scale, scale * right
    size, off = float(np.abs(load).max(initial=0.0)), np.zeros(len(load))
    allowed = EXACT * size + scale * noise
    for shift in SHIFTS:
        shifted, pull, acts = matrix + shift * np.eye(len(load)), np.zeros(len(load)), ~one_sided
        for _ in range(POINTS):
            pull, acts = _pivot(shifted, load + shift * pull, one_sided, acts)
            off = residual(matrix, load, pull, one_sided) - allowed
            if off.max(initial=0.0) <= 0.0 and np.abs(pull).max(initial=0.0) <= LARGE * size:
                return scale * _least(matrix, load, pull, one_sided, allowed), acts
    raise NoPulls(int(off.argmax()))


def _least(matrix: Floats, load: Floats, pull: Floats, one_sided: Flags, allowed: Floats) -> Floats:
    """The least of all pulls of those that act, without what a shift left of round-off; as they are where it is not."""
    (at,) = np.nonzero(pull)
    found = np.zeros(len(pull))
    found[at] = np.linalg.lstsq(matrix[np.ix_(at, at)], load[at], rcond=SAME)[0]
    is_right = np.all(residual(matrix, load, found, one_sided) <= allowed) and np.all(found[one_sided] >= 0.0)
    return found if is_right else pull


def residual(compliance: Floats, right: Floats, pull: Floats, one_sided: Flags) -> Floats:
    """(r,) by how much each condition is missed."""
    rest = compliance @ pull - right
    return np.where(one_sided & (pull <= 0.0), np.maximum(-rest, -pull), np.abs(rest))


def _pivot(matrix: Floats, load: Floats, one_sided: Flags, first: Flags) -> tuple[Floats, Flags]:
    """The answer for a regular matrix, or the last guess where a hundred rounds a row do not find it."""
    pull, acts = np.zeros(len(load)), first
    fewest, patience = len(load) + 1, PATIENCE
    size = float(np.abs(load).max(initial=0.0))
    for _ in range(100 * (len(load) + 1)):
        pull[:] = 0.0
        (at,) = np.nonzero(acts)
        if len(at):
            pull[at] = np.linalg.solve(matrix[np.ix_(at, at)], load[at])
        rest = matrix @ pull - load
        wrong = one_sided & np.where(acts, pull < -ZERO * np.abs(pull).max(initial=0.0), rest < -ZERO * size)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            break
        patience = PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong = np.arange(len(wrong)) == np.flatnonzero(wrong)[-1]
        acts = acts ^ wrong
    return np.where(one_sided, np.maximum(pull, 0.0), pull), acts
