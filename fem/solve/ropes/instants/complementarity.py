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

SHIFTS = (1e-13, 1e-10, 1e-7)
"""Shares of the diagonal of W added to it, until one of them leads to an answer: small ones need fewer points."""
POINTS = 12
"""Proximal points before another shift is tried."""
ZERO = 1e-12
"""Share of the largest pull or rate that is round-off."""
PATIENCE = 3
"""Rounds without progress after which one pull is changed at a time."""
EXACT, ROUND_OFF = 1e-10, 1e-6
"""Share of the largest load by which an answer may be off; and for the round-off of large pulls, at most."""


class NoPulls(Exception):
    """No pulls fulfil the conditions; ``worst``: the row that is furthest off; ``bar``: whose it is, where known."""

    def __init__(self, worst: int) -> None:
        super().__init__()
        self.worst, self.bar = worst, -1


def complementarity(compliance: Floats, right: Floats, one_sided: Flags) -> tuple[Floats, Flags]:
    """Pulls p with W p = right where they act; one-sided ones act only while p >= 0, else W p >= right.

    compliance (r, r), right (r,), one_sided (r,); returns p (r,) and which act (r,). NoPulls: there are none.
    """
    scale = 1.0 / np.sqrt(np.diag(compliance))
    matrix, load = scale[:, None] * compliance * scale, scale * right
    size, off = float(np.abs(load).max(initial=0.0)), np.zeros(len(load))
    for shift in SHIFTS:
        shifted, pull, acts = matrix + shift * np.eye(len(load)), np.zeros(len(load)), ~one_sided
        for _ in range(POINTS):
            pull, acts = _pivot(shifted, load + shift * pull, one_sided, acts)
            off = residual(matrix, load, pull, one_sided)
            noise = 64.0 * np.finfo(float).eps * len(load) * float(np.abs(pull).max(initial=0.0))
            if off.max(initial=0.0) <= min(EXACT * size + noise, ROUND_OFF * size):
                return scale * pull, acts
    raise NoPulls(int(off.argmax()))


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
