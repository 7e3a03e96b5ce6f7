"""Friction with a polygonal limit instead of a circle: a first guess of impulses, which exists whenever any do.

Forces along k directions d of each plane, t = D b with b >= 0, whose sum is at most mu p, make the laws of contact a
linear complementarity problem,

    0 <= p       W_n (p, t) >= right_n                      one of the two with equality, in each of the three lines
    0 <= b       l + D^T (W_t (p, t) - right_t) >= 0        l is the speed of slipping
    0 <= l       mu p - sum b >= 0

and Lemke's method, which follows a path from corner to corner, finds a solution or a ray: forces that balance each
other and could grow without bound, as at a jammed node. There is no ray if W is positive definite. The more sides,
the closer are its solutions to those with circles.
Sources: Stewart & Trinkle, Int. J. Numer. Methods Eng. 39 (1996) 2673-2691; Cottle, Pang & Stone, The Linear
Complementarity Problem (1992), section 4.4.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints

SMALLEST = 1e-11
"""Smallest pivot as a fraction of the largest entry of its column."""
DEPENDENT = 1e-12
"""Fraction of the largest singular value of the compliance of rods below which it counts as zero."""
TIED = 1e-12
"""Steps that differ by less than this fraction lead to the same corner."""
PIVOTS = 20
"""Most pivots, as a multiple of the number of conditions."""


def faceted(
    matrix: Floats, right: Floats, one_sided: Flags, contact: Ints, coefficient: Floats, angles: Floats
) -> Floats | None:
    """(c + 2f,) pulls of lengths, then along the first and along the second tangent of each contact; None: a ray.

    matrix (c + 2f, c + 2f), right (c + 2f,)  compliance and rates, of about the same size in all rows
    one_sided (c,)  lengths that pull only; contact, coefficient (f,)  index of each contact among them; its mu
    angles (f, k)  between its first tangent and the corners of its limit
    """
    rods, moving = np.flatnonzero(~one_sided), np.append(one_sided, np.ones(2 * len(contact), np.bool_))
    known, own = matrix[np.ix_(rods, moving)], matrix[np.ix_(rods, rods)]
    by_rods = np.linalg.lstsq(own, np.column_stack([known, right[rods]]), rcond=DEPENDENT)[0]
    left, load = matrix[np.ix_(moving, moving)] - known.T @ by_rods[:, :-1], right[moving] - known.T @ by_rods[:, -1]
    pushes, (planes, sides) = int(np.count_nonzero(one_sided)), angles.shape
    whose, at = np.repeat(np.arange(planes), sides), pushes + np.arange(planes * sides)
    spread = np.zeros((len(load), pushes + planes * sides))
    spread[:pushes, :pushes] = np.eye(pushes)
    for axis, along in enumerate((np.cos(angles), np.sin(angles))):
        spread[pushes + axis * planes + whose, at] = along.ravel()
    count, conditions = spread.shape[1], spread.shape[1] + planes
    both = np.zeros((conditions, conditions))
    both[:count, :count] = spread.T @ left @ spread
    both[at, count + whose] = 1.0
    both[count:, pushes:count] = -both[pushes:count, count:].T
    both[count + np.arange(planes), np.cumsum(one_sided)[contact] - 1] = coefficient
    found = lemke(both, np.append(-spread.T @ load, np.zeros(planes)))
    if found is None:
        return None
    pull = np.zeros(len(right))
    pull[moving] = spread @ found[:count]
    pull[rods] = by_rods[:, -1] - by_rods[:, :-1] @ pull[moving]
    return pull


def lemke(matrix: Floats, right: Floats) -> Floats | None:
    """z >= 0 with matrix z + right >= 0, one of the two zero in each row (r,), right (r,). None: a ray.
    If the path is too long, its last corner.
    The covering vector has unrelated entries, so that no two rows reach zero at the same step."""
    size = len(right)
    if right.min(initial=0.0) >= 0.0:
        return np.zeros(size)
    cover = 1.0 + 0.1 * np.modf(np.arange(size) * 0.6180339887)[0]
    table = np.column_stack([np.eye(size), -matrix, -cover, right])
    basis, row, enters, last = np.arange(size), int(np.argmin(right / cover)), 2 * size, 2 * size
    for _ in range(PIVOTS * size):
        table[row] /= table[row, enters]
        others = table[:, enters].copy()
        others[row] = 0.0
        table -= np.outer(others, table[row])
        leaves, basis[row] = int(basis[row]), enters
        if leaves == last:
            break
        enters = leaves + size if leaves < size else leaves - size
        column = table[:, enters]
        may = column > SMALLEST * np.abs(column).max()
        if not np.any(may):
            return None
        step = np.where(may, table[:, -1] / np.where(may, column, 1.0), np.inf)
        tied = np.flatnonzero(step <= step.min() + TIED * (1.0 + abs(step.min())))
        row = int(tied[np.argmax(np.where(basis[tied] == last, np.inf, column[tied]))])
    found = np.zeros(2 * size + 1)
    found[basis] = table[:, -1]
    return np.maximum(found[size:last], 0.0)
