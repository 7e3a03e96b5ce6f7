"""Block elimination along paths and trees, leaves first: the linear solver of chains and branched lines.

A node i hands its equations to its parent j over the one bar between them. With Di the running 3 x 3 block of node i,
t, alpha, p, q the bar's numbers, o its off-diagonal mass, b = t - o and r the residuals:

    X = (Di + t I)^-1 (rows and columns of fixed dofs zero),  s = alpha / (1 + alpha q.Xp)
    Dj += t I - b^2 X + s (p - b Xp)(q - b X^T q)^T,          rj += b X r + s (p - b Xp)(q.Xr)
    back: tau = s (q - b X^T q).dj - s (q.Xr),                di = Xr + Xp tau + b X dj

Where pairs couple i and j beside the bar, or without one, E = K_ij - b I and F = K_ji - b I take the place of - b I:

    Dj += t I - F X E + s (p + F Xp)(q + E^T X^T q)^T,  rj += - F X r + s (p + F Xp)(q.Xr)
    back: tau = s (q + E^T X^T q).dj - s (q.Xr),        di = Xr + Xp tau - X E dj

The stiff alpha never enters a subtraction, so EA = 1e8 costs no digits, and a rod is the limit alpha = inf:
s = 1/(q.Xp), with its gap g beside q.Xr. Where q.Xp is small (a rod at a fixed node, or in line with one that holds
node i already) its multiplier waits for the node's parent, whose X it projects (``rods/waiting.py``).
Sherman-Morrison, Ann. Math. Stat. 21 (1950).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Vector
from fem.compiled import called_kernel, inner_kernel, number_kernel
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.lanes.choose import common, some, where
from fem.solve.linear.block import (
    ONE,
    SMALLEST_PIVOT,
    THREE,
    TWO,
    Diagonal,
    E,
    F,
    hand_over,
    invert,
    is_fixed,
    isotropic,
    join,
    times,
    times_transposed,
)
from fem.solve.linear.ordering import FIRST, LEAF, Tree
from fem.solve.rods.waiting import BEFORE, LAST, NOT_WAITING, STIFF, WAITING, pin, unpin, wait


class LinearSystem(NamedTuple):
    """K du = residual, and room to eliminate in.

    free     (3n,)   1.0 free, 0.0 fixed
    tangent          K of the bars and pairs
    block    (n, 9)  its nodal blocks without the bars and what a diagonal adds; overwritten
    residual (3n,)   right-hand side, kept
    inverse  (n, 9; JOINED with pairs), pinned (n or 0, PINNED)  scratch
    du       (3n,)   out, zero at fixed dofs; on the way the reduced right-hand side
    tau      (m,)    out, change of the multipliers of rods
    """

    free: Floats
    tangent: Tangent
    block: Floats
    residual: Floats
    inverse: Floats
    pinned: Floats
    du: Floats
    tau: Floats


@inner_kernel
def clear(i: Index, block: Floats, du: Floats) -> None:
    """Nothing has been handed over to node i."""
    for c in range(9):
        block[i, c] = 0.0
    for c in range(3):
        du[THREE * i + np.uintp(c)] = 0.0


@inner_kernel
def hold(
    symmetric: bool, i: Index, e: Index, j: Index, sign: float, bar_tangent: Floats, block: Floats, pinned: Floats
) -> None:
    """Add bar e to the block of node j: its other node i is fixed. Of a rod only t: its pull waits for node j."""
    t, alpha = bar_tangent[GEOMETRIC, e], bar_tangent[ALPHA, e]
    second = P if symmetric else Q
    if pinned.shape[0] > 0 and common(alpha) == np.inf:
        alpha = 0.0
        p = bar_tangent[P, e], bar_tangent[P + 1, e], bar_tangent[P + 2, e]
        q = bar_tangent[second, e], bar_tangent[second + 1, e], bar_tangent[second + 2, e]
        wait(i, p, q, 0.0, -sign * bar_tangent[GAP, e], pinned)
    for a in range(3):
        for c in range(a if symmetric else 0, 3):
            block[j, 3 * a + c] += alpha * bar_tangent[P + a, e] * bar_tangent[second + c, e]
        block[j, 4 * a] += t


@number_kernel
def take_pins(i: Index, largest: float, load: Vector, tree: Tree, linear: LinearSystem) -> tuple[bool, Vector]:
    """The pulls that wait at children of node i: whether all have safe pivots, and what they move it by."""
    pinned, held, is_safe = linear.pinned, (0.0, 0.0, 0.0), True
    pinned[i, LAST], pinned[i, BEFORE] = -1.0, NOT_WAITING
    child = tree.child[i]
    while child >= 0:
        if common(pinned[child, BEFORE]) == WAITING:
            is_pinned, held = pin(i, child, largest, linear.inverse, load, held, pinned)
            is_safe = is_safe & is_pinned
            if not some(is_safe):
                return is_safe, held
        child = tree.sibling[child]
    return is_safe, held


@number_kernel
def go_back(has_pairs: bool, tree: Tree, linear: LinearSystem) -> None:
    """From the roots to the leaves: du of each node from that of its parent, and the pulls of rods."""
    free, block, inverse = linear.free, linear.block, linear.inverse
    pinned, du, tau = linear.pinned, linear.du, linear.tau
    sequence, parent, link, bar_tangent = tree.sequence, tree.parent, tree.link, linear.tangent.bar_tangent
    has_rods = pinned.shape[0] > 0
    for k in range(sequence.shape[0] - 1, -1, -1):
        i = np.uintp(sequence[k])
        row, is_root = THREE * i, parent[i] < 0
        if is_fixed(i, free):
            du[row], du[row + ONE], du[row + TWO] = 0.0, 0.0, 0.0
            continue
        x0, x1, x2 = du[row], du[row + ONE], du[row + TWO]
        if is_root:
            if has_rods:
                unpin(i, link, tree.sign, pinned, block, (0.0, 0.0, 0.0), tau)
            continue
        above = THREE * np.uintp(parent[i])
        d0, d1, d2 = du[above], du[above + ONE], du[above + TWO]
        pull = block[i, 3] * d0 + block[i, 4] * d1 + block[i, 5] * d2 - block[i, 6]
        b = block[i, 7]
        y0, y1, y2 = b * d0, b * d1, b * d2
        if has_pairs:
            y0, y1, y2 = times(E, i, inverse, -d0, -d1, -d2)
            z0, z1, z2 = times(0, i, inverse, y0, y1, y2)
            x0, x1, x2 = x0 + z0, x1 + z1, x2 + z2
        if has_rods:
            if link[i] >= 0 or not has_pairs:
                tau[link[i]] = tree.sign[i] * pull
                y0 += bar_tangent[P, link[i]] * pull
                y1 += bar_tangent[P + 1, link[i]] * pull
                y2 += bar_tangent[P + 2, link[i]] * pull
            unpin(i, link, tree.sign, pinned, block, (y0, y1, y2), tau)
        du[row] = x0 + block[i, 0] * pull + b * (inverse[i, 0] * d0 + inverse[i, 1] * d1 + inverse[i, 2] * d2)
        du[row + ONE] = x1 + block[i, 1] * pull + b * (inverse[i, 3] * d0 + inverse[i, 4] * d1 + inverse[i, 5] * d2)
        du[row + TWO] = x2 + block[i, 2] * pull + b * (inverse[i, 6] * d0 + inverse[i, 7] * d1 + inverse[i, 8] * d2)


@number_kernel
def solve_chain(
    symmetric: bool, has_pairs: bool, is_filled: bool, tree: Tree, diagonal: Diagonal, linear: LinearSystem
) -> bool:
    """Solve K du = residual on a forest; False where a pivot is not safe (du is then undefined).

    symmetric  K is: p = q, and only upper halves of blocks are kept up
    has_pairs  there are: blocks are filled, and K counts as unsymmetric. Both are literals: the rest falls away
    is_filled  ``linear.block`` holds something; False: only room. Memory is then gone through once less
    diagonal   adds to it
    """
    free, tangent, block, residual = linear.free, linear.tangent, linear.block, linear.residual
    inverse, pinned, du = linear.inverse, linear.pinned, linear.du
    sequence, parent, link, bar_tangent, off = tree.sequence, tree.parent, tree.link, tangent.bar_tangent, tangent.off
    count, has_rods = sequence.shape[0], pinned.shape[0] > 0
    is_safe: bool = True
    if is_filled:
        for k in range(du.shape[0]):
            du[k] = 0.0
    for k in range(count):
        i = np.uintp(sequence[k])
        e, row, is_root, has_bar = np.uintp(max(link[i], 0)), THREE * i, parent[i] < 0, link[i] >= 0
        j = np.uintp(max(parent[i], 0))
        role = 0 if is_filled else tree.role[i]
        is_first = role & FIRST != 0
        if role & LEAF != 0:
            clear(i, block, du)
        if is_fixed(i, free):  # X = 0
            if not is_root:
                if is_first:
                    clear(j, block, du)
                if has_rods:
                    pinned[i, BEFORE] = NOT_WAITING
                if has_bar:
                    hold(symmetric, i, e, j, tree.sign[i], bar_tangent, block, pinned)
            continue
        t = bar_tangent[GEOMETRIC, e] if has_bar else 0.0
        is_safe = is_safe & invert(symmetric, block, i, t + isotropic(diagonal, row), free, inverse)
        if not some(is_safe):
            return is_safe
        r0 = du[row] + where(free[row] != 0.0, residual[row], 0.0)
        r1 = du[row + ONE] + where(free[row + ONE] != 0.0, residual[row + ONE], 0.0)
        r2 = du[row + TWO] + where(free[row + TWO] != 0.0, residual[row + TWO], 0.0)
        held, largest = (0.0, 0.0, 0.0), 0.0
        if has_rods:
            largest = max(abs(inverse[i, 0]), max(abs(inverse[i, 4]), abs(inverse[i, 8])))
            is_pinned, held = take_pins(i, largest, (r0, r1, r2), tree, linear)
            is_safe = is_safe & is_pinned
            if not some(is_safe):
                return is_safe
        k0, k1, k2 = held
        xr0 = inverse[i, 0] * r0 + inverse[i, 1] * r1 + inverse[i, 2] * r2 + k0
        xr1 = inverse[i, 3] * r0 + inverse[i, 4] * r1 + inverse[i, 5] * r2 + k1
        xr2 = inverse[i, 6] * r0 + inverse[i, 7] * r1 + inverse[i, 8] * r2 + k2
        du[row], du[row + ONE], du[row + TWO] = xr0, xr1, xr2
        if is_root:
            continue
        alpha, b, p0, p1, p2, q0, q1, q2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if has_bar or not has_pairs:
            alpha = bar_tangent[ALPHA, e]
            p0, p1, p2 = bar_tangent[P, e], bar_tangent[P + 1, e], bar_tangent[P + 2, e]
            q0, q1, q2 = p0, p1, p2
            if not symmetric:
                q0, q1, q2 = bar_tangent[Q, e], bar_tangent[Q + 1, e], bar_tangent[Q + 2, e]
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
        if has_pairs:
            join(i, b, tree.pair[i], tree.further, tangent, inverse)
            a0, a1, a2 = times(F, i, inverse, xp0, xp1, xp2)
            c0, c1, c2 = times_transposed(0, i, inverse, q0, q1, q2)
            c0, c1, c2 = times_transposed(E, i, inverse, c0, c1, c2)
            a0, a1, a2, c0, c1, c2 = p0 + a0, p1 + a1, p2 + a2, q0 + c0, q1 + c1, q2 + c2
            b = 0.0  # it is in E and F
        flexible = q0 * xp0 + q1 * xp1 + q2 * xp2
        along = q0 * xr0 + q1 * xr1 + q2 * xr2
        if has_rods and common(alpha) != 0.0:
            flexible += 1.0 / alpha
            if common(alpha) == np.inf:
                along -= tree.sign[i] * bar_tangent[GAP, e]
            size = (abs(p0) + abs(p1) + abs(p2)) * (abs(q0) + abs(q1) + abs(q2)) * largest
            s = 1.0 / flexible
            if not some(abs(flexible) > STIFF * size) and not is_fixed(j, free):
                s = 0.0
                wait(i, (a0, a1, a2), (c0, c1, c2), flexible, along, pinned)
            else:
                is_safe = is_safe & (abs(flexible) > SMALLEST_PIVOT * size)
                if not some(is_safe):
                    return is_safe
        else:
            pivot = 1.0 + alpha * flexible
            is_safe = is_safe & (abs(pivot) > SMALLEST_PIVOT)
            if not some(is_safe):
                return is_safe
            s = alpha / pivot
        pull, z0, z1, z2 = s * along, s * c0, s * c1, s * c2
        if not is_fixed(j, free):
            if has_pairs:
                is_safe = is_safe & hand_over(i, j, xr0, xr1, xr2, inverse, block, du)
                if not some(is_safe):
                    return is_safe
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
    go_back(has_pairs, tree, linear)
    return is_safe


@called_kernel
def solve_unsymmetric_chain(is_filled: bool, tree: Tree, diagonal: Diagonal, linear: LinearSystem) -> bool:
    """``solve_chain`` for any K."""
    if linear.tangent.pairs.shape[0] > 0:
        return solve_joined_chain(tree, diagonal, linear)
    return solve_chain(False, False, is_filled, tree, diagonal, linear)


@called_kernel
def solve_joined_chain(tree: Tree, diagonal: Diagonal, linear: LinearSystem) -> bool:
    """``solve_chain`` where pairs couple nodes."""
    return solve_chain(False, True, True, tree, diagonal, linear)
