"""Block elimination along paths and trees, leaves first: the linear solver of chains and branched lines.

A node i hands its equations to its parent j over the one bar between them. With Di the running 3 x 3 block of node i,
t, alpha, p, q the bar's numbers, o its off-diagonal mass, b = t - o and r the residuals:

    X = (Di + t I)^-1 (rows and columns of fixed dofs zero),  s = alpha / (1 + alpha q.Xp)
    Dj += t I - b^2 X + s (p - b Xp)(q - b X^T q)^T,          rj += b X r + s (p - b Xp)(q.Xr)
    back: tau = s (q - b X^T q).dj - s (q.Xr),                di = Xr + Xp tau + b X dj

The stiff alpha never enters a subtraction, so EA = 1e8 costs no digits, and a rod is the limit alpha = inf:
s = 1/(q.Xp), with its gap g beside q.Xr. A rod at a fixed node has q.Xp = 0: its multiplier waits for the
node's parent, whose X it projects (``pin``). Sherman-Morrison, Ann. Math. Stat. 21 (1950).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Ints
from fem.compiled import called_kernel, inner_kernel, number_kernel
from fem.lanes.choose import common, some, where
from fem.mechanics.bar import ALPHA, GAP, GEOMETRIC, P, Q
from fem.solve.linear.block import ONE, SMALLEST_PIVOT, THREE, TWO, invert, is_fixed


class Tree(NamedTuple):
    """Elimination order of a forest.

    sequence (n,)  nodes, leaves first
    parent   (n,)  node that takes over the equations of a node, -1 at a root
    link     (n,)  bar between a node and its parent, -1 at a root
    sign     (n,)  1.0 where that bar runs from the node to its parent, -1.0 where it runs back
    waiting  (n,)  a fixed child that the node hangs on by a rod, -1 for none
    after    (n,)  the next such child of the same parent, -1 for none
    role     (n,)  LEAF: no node hands over to it; FIRST: it is the first to hand over to its parent
    """

    sequence: Ints
    parent: Ints
    link: Ints
    sign: Floats
    waiting: Ints
    after: Ints
    role: Ints


LEAF, FIRST = 1, 2


class Diagonal(NamedTuple):
    """The multiple of the unit matrix in the block of a node: by_mass mass + by_damping damping (3n,; empty: none)."""

    mass: Floats
    damping: Floats
    by_mass: float
    by_damping: float


@inner_kernel
def isotropic(diagonal: Diagonal, row: Index) -> float:
    """That multiple for the node whose first dof is ``row``."""
    value: float = diagonal.by_mass * diagonal.mass[row]
    if diagonal.damping.shape[0] > 0:
        value += diagonal.by_damping * diagonal.damping[row]
    return value


@inner_kernel
def clear(i: Index, block: Floats, du: Floats) -> None:
    """Nothing has been handed over to node i."""
    for c in range(9):
        block[i, c] = 0.0
    for c in range(3):
        du[THREE * i + np.uintp(c)] = 0.0


@inner_kernel
def pin(
    i: Index, anchor: int, tree: Tree, store: Floats, inverse: Floats, r0: float, r1: float, r2: float,
    c0: float, c1: float, c2: float, pinned: Floats,
) -> tuple[bool, float, float, float]:  # fmt: skip
    """Hold node i at the length of a rod to a fixed anchor; its displacement is inverse (load) + c.

    Projects ``inverse[i]``, returns the new c; ``pinned[anchor]`` keeps what gives the multiplier, - e - y.(load).
    """
    e = tree.link[anchor]
    sign = tree.sign[anchor]
    p0, p1, p2 = store[P, e], store[P + 1, e], store[P + 2, e]
    q0, q1, q2 = store[Q, e], store[Q + 1, e], store[Q + 2, e]
    xp0 = inverse[i, 0] * p0 + inverse[i, 1] * p1 + inverse[i, 2] * p2
    xp1 = inverse[i, 3] * p0 + inverse[i, 4] * p1 + inverse[i, 5] * p2
    xp2 = inverse[i, 6] * p0 + inverse[i, 7] * p1 + inverse[i, 8] * p2
    y0 = inverse[i, 0] * q0 + inverse[i, 3] * q1 + inverse[i, 6] * q2
    y1 = inverse[i, 1] * q0 + inverse[i, 4] * q1 + inverse[i, 7] * q2
    y2 = inverse[i, 2] * q0 + inverse[i, 5] * q1 + inverse[i, 8] * q2
    pivot = q0 * xp0 + q1 * xp1 + q2 * xp2
    size = (q0 * q0 + q1 * q1 + q2 * q2) * max(abs(inverse[i, 0]), max(abs(inverse[i, 4]), abs(inverse[i, 8])))
    is_safe: bool = abs(pivot) > SMALLEST_PIVOT * size
    if not some(is_safe):
        return is_safe, c0, c1, c2
    s = 1.0 / pivot
    y0, y1, y2 = s * y0, s * y1, s * y2
    rest = s * (sign * store[GAP, e] + q0 * c0 + q1 * c1 + q2 * c2)
    for a in range(3):
        xp = xp0 if a == 0 else xp1 if a == 1 else xp2
        inverse[i, 3 * a] -= xp * y0
        inverse[i, 3 * a + 1] -= xp * y1
        inverse[i, 3 * a + 2] -= xp * y2
    pinned[anchor, 0], pinned[anchor, 1], pinned[anchor, 2], pinned[anchor, 3] = y0, y1, y2, rest
    pinned[anchor, 4], pinned[anchor, 5], pinned[anchor, 6] = r0, r1, r2
    return is_safe, c0 - xp0 * rest, c1 - xp1 * rest, c2 - xp2 * rest


@inner_kernel
def unpin(
    i: Index, tree: Tree, store: Floats, pinned: Floats, load0: float, load1: float, load2: float, tau: Floats
) -> None:
    """Multipliers of the rods that ``pin`` held node i with, each part of the load of those pinned before it.

    load: what came on top of the residual of node i
    """
    count = 0
    anchor = tree.waiting[i]
    while anchor >= 0:
        count += 1
        anchor = tree.after[anchor]
    while count > 0:
        anchor = tree.waiting[i]
        for _ in range(count - 1):
            anchor = tree.after[anchor]
        e = tree.link[anchor]
        r0, r1, r2 = pinned[anchor, 4] + load0, pinned[anchor, 5] + load1, pinned[anchor, 6] + load2
        pull = -pinned[anchor, 3] - (pinned[anchor, 0] * r0 + pinned[anchor, 1] * r1 + pinned[anchor, 2] * r2)
        tau[e] = -tree.sign[anchor] * pull
        load0 += pull * store[P, e]
        load1 += pull * store[P + 1, e]
        load2 += pull * store[P + 2, e]
        count -= 1


@inner_kernel
def hold(symmetric: bool, has_rods: bool, e: Index, j: Index, store: Floats, block: Floats) -> None:
    """Add bar e to the block of node j: its other node is fixed. Of a rod only t: ``pin`` does the rest."""
    t, alpha = store[GEOMETRIC, e], store[ALPHA, e]
    if has_rods and common(alpha) == np.inf:
        alpha = 0.0
    second = P if symmetric else Q
    for a in range(3):
        for c in range(a if symmetric else 0, 3):
            block[j, 3 * a + c] += alpha * store[P + a, e] * store[second + c, e]
        block[j, 4 * a] += t


@number_kernel
def solve_chain(
    symmetric: bool, is_filled: bool, tree: Tree, diagonal: Diagonal, free: Floats, store: Floats, off: Floats,
    block: Floats, residual: Floats, inverse: Floats, pinned: Floats, du: Floats, tau: Floats,
) -> bool:  # fmt: skip
    """Solve K du = residual on a forest; False where a pivot is not safe (du is then undefined).

    symmetric         K is: p = q, and only upper halves of blocks are kept up (a literal, so that the rest falls away)
    is_filled         ``block`` holds something; False: only room. Memory is then gone through once less
    diagonal          adds to it
    free     (3n,)     1.0 free, 0.0 fixed;  residual (3n,) right-hand side, kept
    store    (STORED, m)  numbers of the bars;  off (m,) their off-diagonal mass in the effective tangent (or empty)
    block    (n, 9)    nodal blocks of the effective tangent without the bars and the diagonal; overwritten
    inverse  (n, 9), pinned (n or 0, 7)  scratch
    du       (3n,)     out, zero at fixed dofs; on the way the reduced right-hand side
    tau      (m,)      out, change of the multipliers of rods
    """
    sequence, parent, link, waiting = tree.sequence, tree.parent, tree.link, tree.waiting
    count, has_rods = sequence.shape[0], pinned.shape[0] > 0
    is_safe: bool = True
    if is_filled:
        for k in range(du.shape[0]):
            du[k] = 0.0
    for k in range(count):
        i = np.uintp(sequence[k])
        e, row, is_root = np.uintp(max(link[i], 0)), THREE * i, parent[i] < 0
        j = np.uintp(max(parent[i], 0))
        anchor = waiting[i] if has_rods else -1
        role = 0 if is_filled else tree.role[i]
        is_first = role & FIRST != 0
        if role & LEAF != 0:
            clear(i, block, du)
        if is_fixed(i, free) and anchor < 0:  # X = 0
            if not is_root:
                if is_first:
                    clear(j, block, du)
                hold(symmetric, has_rods, e, j, store, block)
            continue
        t = store[GEOMETRIC, e] if not is_root else 0.0
        is_safe = is_safe & invert(symmetric, block, i, t + isotropic(diagonal, row), free, inverse)
        if not some(is_safe):
            return is_safe
        r0 = du[row] + where(free[row] != 0.0, residual[row], 0.0)
        r1 = du[row + ONE] + where(free[row + ONE] != 0.0, residual[row + ONE], 0.0)
        r2 = du[row + TWO] + where(free[row + TWO] != 0.0, residual[row + TWO], 0.0)
        k0, k1, k2 = 0.0, 0.0, 0.0
        while anchor >= 0:
            is_pinned, k0, k1, k2 = pin(i, anchor, tree, store, inverse, r0, r1, r2, k0, k1, k2, pinned)
            is_safe = is_safe & is_pinned
            if not some(is_safe):
                return is_safe
            anchor = tree.after[anchor]
        xr0 = inverse[i, 0] * r0 + inverse[i, 1] * r1 + inverse[i, 2] * r2 + k0
        xr1 = inverse[i, 3] * r0 + inverse[i, 4] * r1 + inverse[i, 5] * r2 + k1
        xr2 = inverse[i, 6] * r0 + inverse[i, 7] * r1 + inverse[i, 8] * r2 + k2
        du[row], du[row + ONE], du[row + TWO] = xr0, xr1, xr2
        if is_root:
            continue
        alpha = store[ALPHA, e]
        p0, p1, p2 = store[P, e], store[P + 1, e], store[P + 2, e]
        q0, q1, q2 = p0, p1, p2
        if not symmetric:
            q0, q1, q2 = store[Q, e], store[Q + 1, e], store[Q + 2, e]
        b = t - off[e] if off.shape[0] > 0 else t
        x00, x01, x02 = inverse[i, 0], inverse[i, 1], inverse[i, 2]
        x10, x11, x12 = inverse[i, 3], inverse[i, 4], inverse[i, 5]
        x20, x21, x22 = inverse[i, 6], inverse[i, 7], inverse[i, 8]
        xp0 = x00 * p0 + x01 * p1 + x02 * p2
        xp1 = x10 * p0 + x11 * p1 + x12 * p2
        xp2 = x20 * p0 + x21 * p1 + x22 * p2
        a0, a1, a2 = p0 - b * xp0, p1 - b * xp1, p2 - b * xp2
        c0, c1, c2 = a0, a1, a2
        if not symmetric:
            c0 = q0 - b * (x00 * q0 + x10 * q1 + x20 * q2)
            c1 = q1 - b * (x01 * q0 + x11 * q1 + x21 * q2)
            c2 = q2 - b * (x02 * q0 + x12 * q1 + x22 * q2)
        flexible = q0 * xp0 + q1 * xp1 + q2 * xp2
        along = q0 * xr0 + q1 * xr1 + q2 * xr2
        if has_rods and common(alpha) == np.inf:
            size = (q0 * q0 + q1 * q1 + q2 * q2) * max(abs(x00), max(abs(x11), abs(x22)))
            is_safe = is_safe & (abs(flexible) > SMALLEST_PIVOT * size)
            if not some(is_safe):
                return is_safe
            s = 1.0 / flexible
            along -= tree.sign[i] * store[GAP, e]
        else:
            pivot = 1.0 + alpha * flexible
            is_safe = is_safe & (abs(pivot) > SMALLEST_PIVOT)
            if not some(is_safe):
                return is_safe
            s = alpha / pivot
        pull, z0, z1, z2 = s * along, s * c0, s * c1, s * c2
        if not is_fixed(j, free):
            bb, above = b * b, THREE * j
            y00, y01, y02, y11, y12, y22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            y10, y20, y21, f0, f1, f2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            if not is_first:
                y00, y01, y02 = block[j, 0], block[j, 1], block[j, 2]
                y11, y12, y22 = block[j, 4], block[j, 5], block[j, 8]
                if not symmetric:
                    y10, y20, y21 = block[j, 3], block[j, 6], block[j, 7]
                f0, f1, f2 = du[above], du[above + ONE], du[above + TWO]
            block[j, 0] = y00 + (t - bb * x00 + a0 * z0)
            block[j, 1] = y01 + (a0 * z1 - bb * x01)
            block[j, 2] = y02 + (a0 * z2 - bb * x02)
            block[j, 4] = y11 + (t - bb * x11 + a1 * z1)
            block[j, 5] = y12 + (a1 * z2 - bb * x12)
            block[j, 8] = y22 + (t - bb * x22 + a2 * z2)
            if not symmetric:
                block[j, 3] = y10 + (a1 * z0 - bb * x10)
                block[j, 6] = y20 + (a2 * z0 - bb * x20)
                block[j, 7] = y21 + (a2 * z1 - bb * x21)
            du[above] = f0 + (b * xr0 + pull * a0)
            du[above + ONE] = f1 + (b * xr1 + pull * a1)
            du[above + TWO] = f2 + (b * xr2 + pull * a2)
        elif is_first:
            clear(j, block, du)
        # kept for the way back (in the block of node i): Xp, s c and the pull
        block[i, 0], block[i, 1], block[i, 2] = xp0, xp1, xp2
        block[i, 3], block[i, 4], block[i, 5] = z0, z1, z2
        block[i, 6], block[i, 7] = pull, b
    for k in range(count - 1, -1, -1):
        i = np.uintp(sequence[k])
        row, is_root = THREE * i, parent[i] < 0
        holds = has_rods and waiting[i] >= 0
        if is_fixed(i, free) and not holds:
            du[row], du[row + ONE], du[row + TWO] = 0.0, 0.0, 0.0
            continue
        x0, x1, x2 = du[row], du[row + ONE], du[row + TWO]
        if is_root:
            if holds:
                unpin(i, tree, store, pinned, 0.0, 0.0, 0.0, tau)
            continue
        above = THREE * np.uintp(parent[i])
        d0, d1, d2 = du[above], du[above + ONE], du[above + TWO]
        pull = block[i, 3] * d0 + block[i, 4] * d1 + block[i, 5] * d2 - block[i, 6]
        b = block[i, 7]
        if has_rods:
            tau[link[i]] = tree.sign[i] * pull
        if holds:
            p0, p1, p2 = store[P, link[i]], store[P + 1, link[i]], store[P + 2, link[i]]
            unpin(i, tree, store, pinned, b * d0 + p0 * pull, b * d1 + p1 * pull, b * d2 + p2 * pull, tau)
        du[row] = x0 + block[i, 0] * pull + b * (inverse[i, 0] * d0 + inverse[i, 1] * d1 + inverse[i, 2] * d2)
        du[row + ONE] = x1 + block[i, 1] * pull + b * (inverse[i, 3] * d0 + inverse[i, 4] * d1 + inverse[i, 5] * d2)
        du[row + TWO] = x2 + block[i, 2] * pull + b * (inverse[i, 6] * d0 + inverse[i, 7] * d1 + inverse[i, 8] * d2)
    return is_safe


@called_kernel
def solve_unsymmetric_chain(
    is_filled: bool, tree: Tree, diagonal: Diagonal, free: Floats, store: Floats, off: Floats, block: Floats,
    residual: Floats, inverse: Floats, pinned: Floats, du: Floats, tau: Floats,
) -> bool:  # fmt: skip
    """``solve_chain`` for any K."""
    return solve_chain(False, is_filled, tree, diagonal, free, store, off, block, residual, inverse, pinned, du, tau)
