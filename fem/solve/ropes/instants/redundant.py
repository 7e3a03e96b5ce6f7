"""Ropes that repeat each other: which of them the march follows, and how all of them share the pull.

Two ropes between the same nodes, or four that hold one node in space, pull with a force that is known while their
pulls are not. With the gradients g of lengths and pulls p > 0 that are in force, a rope whose gradient depends on
those of others, g = sum c_i g_i, hands its pull on to them, p_i + p c_i, or takes the place of the one that would have
to push first (Caratheodory). What is left determines the motion; of all pulls with the same force those are told whose
squares have the least sum.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats

DEPENDENT = 1e-8
"""Fraction of a gradient outside the span of others below which it depends on them."""
SAME_FORCE = 1e-9
"""Fraction of a force that sharing may change."""


def independent(rows: Floats, pull: Floats, acts: Flags, one_sided: Flags, first: Flags) -> tuple[Flags, Floats]:
    """Which of the ropes and rods that act (r,) carry their force alone, and with which pulls (r,).

    rows (r, n)   gradients over the independent dofs
    first (r,)    ropes that come before the others
    """
    pull = np.where(acts, pull, 0.0)
    basis = acts & ~one_sided
    ropes = np.flatnonzero(acts & one_sided)
    for r in ropes[np.lexsort((-pull[ropes], ~first[ropes]))].tolist():
        (at,) = np.nonzero(basis)
        fraction = np.linalg.lstsq(rows[at].T, rows[r], rcond=None)[0]
        if np.linalg.norm(rows[r] - fraction @ rows[at]) > DEPENDENT * np.linalg.norm(rows[r]):
            basis[r] = True
            continue
        gives = one_sided[at] & (fraction < -DEPENDENT)
        room = np.where(gives, pull[at] / np.where(gives, -fraction, 1.0), np.inf)
        worst = int(room.argmin()) if len(room) else 0
        handed = min(pull[r], room[worst])
        pull[at] += handed * fraction
        pull[r] -= handed
        if pull[r] > 0.0:
            basis[at[worst]], basis[r] = False, True
            pull[at[worst]] = 0.0
    return basis, np.where(basis, pull, 0.0)


def outside(rows: Floats, stays: Flags, asked: Flags) -> Flags:
    """Which of the rows asked (r,) depend on none of those that stay (r,): what these leave open is not theirs."""
    found, base = asked.copy(), rows[stays].T
    for r in np.flatnonzero(asked).tolist():
        rest = rows[r] - base @ np.linalg.lstsq(base, rows[r], rcond=None)[0]
        found[r] = np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(rows[r])
    return found


def shared(rows: Floats, pull: Floats, one_sided: Flags, length: Floats) -> Floats:
    """Multipliers (r,) with the force of ``pull`` whose forces along the bars have the least sum of squares.

    rows (r, n), length (r,); ropes do not push. Where round-off is in the way ``pull`` itself.
    """
    units, force = (rows / length[:, None]).T, pull @ rows
    at, size = np.ones(len(pull), np.bool_), float(np.abs(force).max(initial=0.0))
    while True:
        found = np.zeros(len(pull))
        found[at] = np.linalg.lstsq(units[:, at], force, rcond=DEPENDENT)[0]
        if np.abs(units @ found - force).max(initial=0.0) > SAME_FORCE * size:
            return pull
        pushes = at & one_sided & (found < 0.0)
        if not pushes.any():
            return found / length
        at &= ~pushes
