"""Which of the ropes that should pull can do so at once: those whose lengths do not depend on each other.

Four ropes at their length hold one node in space, but only three of their tensions follow from equilibrium. With the
gradients g of lengths and the pulls p >= 0 of the ropes that pull now, one that enters with the pull t and depends on
them, g = sum c_i g_i, changes theirs to p_i - t c_i: the first one to reach zero gives way to it.
Source: the ratio test of the simplex method; Nocedal & Wright, Numerical Optimization (2006), ch. 13.3.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints

DEPENDENT = 1e-8
"""Fraction of a gradient outside the span of others below which it depends on them."""


def enter(rows: Floats, taut: Flags, entering: Ints, pull: Floats | None) -> Flags:
    """taut (r,) with the ropes ``entering`` added; where they depend on others these give way, or they stay out.

    rows (r + q, n)  gradients of the ropes, then of the rods, over the independent dofs
    pull (r,)        of the ropes now, changed; None: nothing gives way
    """
    taut, count = taut.copy(), len(taut)
    rods = np.arange(count, len(rows))
    basis = np.linalg.qr(rows[np.concatenate([np.flatnonzero(taut), rods])].T)[0]
    for r in entering.tolist():
        rest = rows[r].copy()
        for _ in range(2):  # once more, against round-off
            rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > DEPENDENT * float(np.linalg.norm(rows[r])):
            basis = np.column_stack([basis, rest / size])
            taut[r] = True
        elif pull is not None:
            _exchange(rows, rods, taut, r, pull)
    return taut


def _exchange(rows: Floats, rods: Ints, taut: Flags, r: int, pull: Floats) -> None:
    """Rope r in place of the first one whose pull it takes over; nothing where there is none."""
    (at,) = np.nonzero(taut)
    fraction = np.linalg.lstsq(rows[np.concatenate([at, rods])].T, rows[r], rcond=None)[0][: len(at)]
    (gives,) = np.nonzero(fraction > DEPENDENT)
    if len(gives) == 0:
        return
    ratio = pull[at[gives]] / fraction[gives]
    first = int(ratio.argmin())
    pull[at] -= ratio[first] * fraction
    taut[at[gives[first]]], taut[r] = False, True
    pull[at[gives[first]]], pull[r] = 0.0, ratio[first]
