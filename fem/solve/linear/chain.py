"""Block elimination along paths and trees, leaves first: the linear solver of chains and branched lines.

A node i hands its equations to its parent j over the one bar between them. With Di the running 3 x 3 block of node i,
t, alpha, p, q the bar's numbers, o its off-diagonal mass, b = t - o and r the residuals:

    X = (Di + t I)^-1 (rows and columns of fixed dofs zero),  s = alpha / (1 + alpha q.Xp)
    Dj += t I - b^2 X + s (p - b Xp)(q - b X^T q)^T,          rj += b X r + s (p - b Xp)(q.Xr)
    back: tau = s (q - b X^T q).dj - s (q.Xr),                di = Xr + Xp tau + b X dj

The stiff alpha never enters a subtraction, so EA = 1e8 costs no digits. Sherman-Morrison, Ann. Math. Stat. 21 (1950).
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.lanes.choose import some
from fem.mechanics.bar import ALPHA, GEOMETRIC, P, Q

SMALLEST_PIVOT = 1e-13
"""A pivot below this share of its diagonal entry means: ask for a solver that pivots."""


class Tree(NamedTuple):
    """Elimination order of a forest.

    sequence (n,)  nodes, leaves first
    parent   (n,)  node that takes over the equations of a node, -1 at a root
    link     (n,)  bar between a node and its parent, -1 at a root
    """

    sequence: Ints
    parent: Ints
    link: Ints


@kernel
def invert(block: Floats, i: int, shift: float, free: Floats, inverse: Floats) -> bool:
    """inverse[i] = (block[i] + shift I)^-1 restricted to the free dofs of node i; False where it has no safe pivot."""
    m00, m01, m02 = block[i, 0] + shift, block[i, 1], block[i, 2]
    m10, m11, m12 = block[i, 3], block[i, 4] + shift, block[i, 5]
    m20, m21, m22 = block[i, 6], block[i, 7], block[i, 8] + shift
    f0, f1, f2 = free[3 * i], free[3 * i + 1], free[3 * i + 2]
    m00, m11, m22 = f0 * m00 + 1.0 - f0, f1 * m11 + 1.0 - f1, f2 * m22 + 1.0 - f2
    m01, m10 = f0 * f1 * m01, f0 * f1 * m10
    m02, m20 = f0 * f2 * m02, f0 * f2 * m20
    m12, m21 = f1 * f2 * m12, f1 * f2 * m21
    # Inverse by L D U without pivoting: unlike cofactors it survives m I + alpha n n^T with alpha >> m.
    l10, l20 = m10 / m00, m20 / m00
    u01, u02 = m01 / m00, m02 / m00
    d1 = m11 - l10 * m01
    e12, e21 = m12 - l10 * m02, m21 - l20 * m01
    l21, u12 = e21 / d1, e12 / d1
    d2 = m22 - l20 * m02 - l21 * e12
    is_safe: bool = (m00 != 0.0) & (abs(d1) > SMALLEST_PIVOT * abs(m11)) & (abs(d2) > SMALLEST_PIVOT * abs(m22))
    if not some(is_safe):
        return is_safe
    i0, i1, i2 = 1.0 / m00, 1.0 / d1, 1.0 / d2
    # inverse = U^-1 D^-1 L^-1
    k10 = -l10
    k20 = l21 * l10 - l20
    w01 = -u01
    w02 = u01 * u12 - u02
    x22 = i2
    x21 = -i2 * l21
    x20 = i2 * k20
    x12 = -u12 * i2
    x11 = i1 + u12 * i2 * l21
    x10 = i1 * k10 - u12 * x20
    x02 = w02 * i2
    x01 = w01 * i1 - w02 * i2 * l21
    x00 = i0 + w01 * i1 * k10 + w02 * x20
    inverse[i, 0], inverse[i, 1], inverse[i, 2] = f0 * x00, f0 * f1 * x01, f0 * f2 * x02
    inverse[i, 3], inverse[i, 4], inverse[i, 5] = f1 * f0 * x10, f1 * x11, f1 * f2 * x12
    inverse[i, 6], inverse[i, 7], inverse[i, 8] = f2 * f0 * x20, f2 * f1 * x21, f2 * x22
    return is_safe


@kernel
def solve_chain(
    tree: Tree, free: Floats, store: Floats, off: Floats, block: Floats, residual: Floats,
    inverse: Floats, reduced: Floats, du: Floats,
) -> bool:  # fmt: skip
    """Solve K du = residual on a forest; False where a pivot is not safe (du is then undefined).

    free     (3n,)     1.0 free, 0.0 fixed
    store    (9, m)    numbers of the bars;  off (m,) their off-diagonal mass in the effective tangent (or empty)
    block    (n, 9)    nodal blocks of the effective tangent without the bars; overwritten
    residual (3n,)     right-hand side, kept
    inverse  (n, 9), reduced (3n,)  scratch
    du       (3n,)     out, zero at fixed dofs
    """
    sequence, parent, link = tree.sequence, tree.parent, tree.link
    count = sequence.shape[0]
    is_safe: bool = True
    for k in range(residual.shape[0]):
        reduced[k] = residual[k]
    for k in range(count):
        i = sequence[k]
        j = parent[i]
        if j < 0:
            is_safe = is_safe & invert(block, i, 0.0, free, inverse)
            if not some(is_safe):
                return is_safe
            continue
        e = link[i]
        t = store[GEOMETRIC, e]
        is_safe = is_safe & invert(block, i, t, free, inverse)
        alpha = store[ALPHA, e]
        p0, p1, p2 = store[P, e], store[P + 1, e], store[P + 2, e]
        q0, q1, q2 = store[Q, e], store[Q + 1, e], store[Q + 2, e]
        b = t - off[e] if off.shape[0] > 0 else t
        x00, x01, x02 = inverse[i, 0], inverse[i, 1], inverse[i, 2]
        x10, x11, x12 = inverse[i, 3], inverse[i, 4], inverse[i, 5]
        x20, x21, x22 = inverse[i, 6], inverse[i, 7], inverse[i, 8]
        r0, r1, r2 = reduced[3 * i], reduced[3 * i + 1], reduced[3 * i + 2]
        xr0 = x00 * r0 + x01 * r1 + x02 * r2
        xr1 = x10 * r0 + x11 * r1 + x12 * r2
        xr2 = x20 * r0 + x21 * r1 + x22 * r2
        xp0 = x00 * p0 + x01 * p1 + x02 * p2
        xp1 = x10 * p0 + x11 * p1 + x12 * p2
        xp2 = x20 * p0 + x21 * p1 + x22 * p2
        a0, a1, a2 = p0 - b * xp0, p1 - b * xp1, p2 - b * xp2
        c0 = q0 - b * (x00 * q0 + x10 * q1 + x20 * q2)
        c1 = q1 - b * (x01 * q0 + x11 * q1 + x21 * q2)
        c2 = q2 - b * (x02 * q0 + x12 * q1 + x22 * q2)
        pivot = 1.0 + alpha * (q0 * xp0 + q1 * xp1 + q2 * xp2)
        is_safe = is_safe & (abs(pivot) > SMALLEST_PIVOT)
        if not some(is_safe):
            return is_safe
        s = alpha / pivot
        pull = s * (q0 * xr0 + q1 * xr1 + q2 * xr2)
        bb = b * b
        block[j, 0] += t - bb * x00 + s * a0 * c0
        block[j, 1] += s * a0 * c1 - bb * x01
        block[j, 2] += s * a0 * c2 - bb * x02
        block[j, 3] += s * a1 * c0 - bb * x10
        block[j, 4] += t - bb * x11 + s * a1 * c1
        block[j, 5] += s * a1 * c2 - bb * x12
        block[j, 6] += s * a2 * c0 - bb * x20
        block[j, 7] += s * a2 * c1 - bb * x21
        block[j, 8] += t - bb * x22 + s * a2 * c2
        reduced[3 * j] += b * xr0 + pull * a0
        reduced[3 * j + 1] += b * xr1 + pull * a1
        reduced[3 * j + 2] += b * xr2 + pull * a2
        # kept for the way back: Xr, then (in the block of node i) Xp, s c and the pull
        reduced[3 * i], reduced[3 * i + 1], reduced[3 * i + 2] = xr0, xr1, xr2
        block[i, 0], block[i, 1], block[i, 2] = xp0, xp1, xp2
        block[i, 3], block[i, 4], block[i, 5] = s * c0, s * c1, s * c2
        block[i, 6], block[i, 7] = pull, b
    for k in range(count - 1, -1, -1):
        i = sequence[k]
        j = parent[i]
        x0, x1, x2 = reduced[3 * i], reduced[3 * i + 1], reduced[3 * i + 2]
        if j < 0:
            du[3 * i] = inverse[i, 0] * x0 + inverse[i, 1] * x1 + inverse[i, 2] * x2
            du[3 * i + 1] = inverse[i, 3] * x0 + inverse[i, 4] * x1 + inverse[i, 5] * x2
            du[3 * i + 2] = inverse[i, 6] * x0 + inverse[i, 7] * x1 + inverse[i, 8] * x2
            continue
        d0, d1, d2 = du[3 * j], du[3 * j + 1], du[3 * j + 2]
        tau = block[i, 3] * d0 + block[i, 4] * d1 + block[i, 5] * d2 - block[i, 6]
        b = block[i, 7]
        du[3 * i] = x0 + block[i, 0] * tau + b * (inverse[i, 0] * d0 + inverse[i, 1] * d1 + inverse[i, 2] * d2)
        du[3 * i + 1] = x1 + block[i, 1] * tau + b * (inverse[i, 3] * d0 + inverse[i, 4] * d1 + inverse[i, 5] * d2)
        du[3 * i + 2] = x2 + block[i, 2] * tau + b * (inverse[i, 6] * d0 + inverse[i, 7] * d1 + inverse[i, 8] * d2)
    return is_safe
