"""Block elimination along paths and trees, leaves first: the linear solver of chains and branched lines.

A node i is eliminated into its parent j over the one bar between them. With Di the running 3 x 3 block of node i,
t, alpha, p, q the bar's numbers, o its off-diagonal mass, b = t - o and r the residuals:

    X = (Di + t I)^-1 (rows and columns of fixed dofs zero),  s = alpha / (1 + alpha q.Xp)
    Dj += t I - b^2 X + s (p - b Xp)(q - b X^T q)^T,          rj += b X r + s (p - b Xp)(q.Xr)
    back: tau = s (q - b X^T q).dj - s (q.Xr),                di = Xr + Xp tau + b X dj

Where pairs couple i and j beside the bar, or without one, E = K_ij - b I and F = K_ji - b I take the place of - b I:

    Dj += t I - F X E + s (p + F Xp)(q + E^T X^T q)^T,  rj += - F X r + s (p + F Xp)(q.Xr)
    back: tau = s (q + E^T X^T q).dj - s (q.Xr),        di = Xr + Xp tau - X E dj

The stiff alpha never enters a subtraction, so EA = 1e8 costs no digits, and a rod is the limit alpha = inf:
s = 1/(q.Xp), with its gap g added to q.Xr. If q.Xp is small (a rod at a fixed node, or collinear with one that holds
node i already) its multiplier becomes an unknown of the node's parent, whose X it projects.
Sherman-Morrison, Ann. Math. Stat. 21 (1950).

Delayed pulls. The elimination of node i leaves of the bar to its parent j

    (1/alpha + q.Xp) pull = (q - b X^T q).dj - q.Xr + gap,        on j acts - (p - b Xp) pull,  tau = +- pull

If the flexibility 1/alpha + q.Xp is small, node i cannot move along the rod: it is fixed, or another rod holds it in
that direction, and q.Xp may consist of rounding errors, so that division by it would transfer noise to j. Instead the
pull *waits* as an unknown of node j, whose own flexibility is added to that of the rod: with a = p - b Xp,
c = q - b X^T q and Y = (Dj + ...)^-1 before,

    pull = s (c.Yr + c.k - along),  s = 1/(flexibility + c.Ya),    Y -= s Ya (c^T Y),    k -= s Ya (c.k - along)

so that no pivot is smaller than its rounding error, whatever the angles between the rods.
Source: delayed pivots; Duff & Reid, ACM Trans. Math. Softw. 9 (1983) 302-325.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Ints, Vector
from fem.compiled import called_kernel, inner_kernel, kernel, number_kernel
from fem.compiled.lanes import common, some, where
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.linear.choice import FIRST, LEAF, Tree

ONE, TWO, THREE = np.uintp(1), np.uintp(2), np.uintp(3)
SMALLEST_PIVOT = 1e-13
"""A pivot below this fraction of its diagonal entry is unsafe: a solver with pivoting is needed."""
MOST_GROWTH = 1e6
"""Largest ratio of what an elimination subtracts from a block to the numbers it is computed from, for the same
reason."""
# Places of the blocks E (rows of a node, columns of its parent) and F (the other way) behind the inverse of the node
E, F, JOINED = 9, 18, 27


class Diagonal(NamedTuple):
    """The multiple of the unit matrix in the block of a node: by_mass mass + by_damping damping (3n,; empty: none)."""

    mass: Floats
    damping: Floats
    by_mass: float
    by_damping: float


@inner_kernel
def isotropic(diagonal: Diagonal, row: Index) -> float:
    """This multiple for the node whose first dof is ``row``."""
    value: float = diagonal.by_mass * diagonal.mass[row]
    if diagonal.damping.shape[0] > 0:
        value += diagonal.by_damping * diagonal.damping[row]
    return value


@number_kernel
def invert_numbers(
    symmetric: bool, free: Vector, diagonal: Vector, upper: Vector, lower: Vector
) -> tuple[bool, Vector, Vector, Vector]:
    """Whether all pivots are safe, and the inverse of m restricted to the dofs with f = 1 (others 0), row by row.
    By L D U without pivoting: unlike cofactors it survives m I + alpha n n^T with alpha >> m."""
    f0, f1, f2 = free
    m00, m11, m22 = diagonal
    m01, m02, m12 = upper
    m10, m20, m21 = lower
    is_held = f0 * f1 * f2 == 0.0
    if is_held:  # rows and columns of the unit matrix
        m00, m11, m22 = f0 * m00 + (1.0 - f0), f1 * m11 + (1.0 - f1), f2 * m22 + (1.0 - f2)
        m01, m02, m12 = f0 * f1 * m01, f0 * f2 * m02, f1 * f2 * m12
        m10, m20, m21 = f0 * f1 * m10, f0 * f2 * m20, f1 * f2 * m21
    l10, l20 = m10 / m00, m20 / m00
    u01, u02 = m01 / m00, m02 / m00
    d1 = m11 - l10 * m01
    e12, e21 = m12 - l10 * m02, m21 - l20 * m01
    if symmetric:
        e21 = e12
    l21, u12 = e21 / d1, e12 / d1
    d1d2 = d1 * (m22 - l20 * m02) - e12 * e21  # 1/d2 need not wait for 1/d1
    is_safe: bool = (m00 != 0.0) & (abs(d1) > SMALLEST_PIVOT * abs(m11))
    is_safe = is_safe & (abs(d1d2) > SMALLEST_PIVOT * abs(d1 * m22))
    i0, i1, i2 = 1.0 / m00, 1.0 / d1, d1 / d1d2
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
    if symmetric:
        x01 = x10
    x00 = i0 + w01 * i1 * k10 + w02 * x20
    if is_held:
        x00, x11, x22 = f0 * x00, f1 * x11, f2 * x22
        x01, x02, x12 = f0 * f1 * x01, f0 * f2 * x02, f1 * f2 * x12
        x10, x20, x21 = f0 * f1 * x10, f0 * f2 * x20, f1 * f2 * x21
    return is_safe, (x00, x01, x02), (x10, x11, x12), (x20, x21, x22)


@kernel
def invert(symmetric: bool, block: Floats, i: Index, shift: float, free: Floats, inverse: Floats) -> bool:
    """inverse[i] = (block[i] + shift I)^-1 restricted to the free dofs of node i; False where it has no safe pivot.
    ``symmetric``: entries below the diagonal of the block are ignored. ``inverse`` may be ``block``."""
    upper = block[i, 1], block[i, 2], block[i, 5]
    lower = upper if symmetric else (block[i, 3], block[i, 6], block[i, 7])
    row = THREE * np.uintp(i)
    mask, diagonal = (free[row], free[row + ONE], free[row + TWO]), (block[i, 0], block[i, 4], block[i, 8])
    diagonal = diagonal[0] + shift, diagonal[1] + shift, diagonal[2] + shift
    is_safe, x, y, z = invert_numbers(symmetric, mask, diagonal, upper, lower)
    if not some(is_safe):
        return is_safe
    inverse[i, 0], inverse[i, 1], inverse[i, 2] = x
    inverse[i, 3], inverse[i, 4], inverse[i, 5] = y
    inverse[i, 6], inverse[i, 7], inverse[i, 8] = z
    return is_safe


@inner_kernel
def is_fixed(i: Index, free: Floats) -> bool:
    """Whether node i has no free dof: the rod to its parent is then treated at the parent."""
    row = THREE * np.uintp(i)
    return bool(free[row] == 0.0 and free[row + ONE] == 0.0 and free[row + TWO] == 0.0)


@inner_kernel
def join(i: Index, b: float, pair: Index, further: Ints, tangent: Tangent, inverse: Floats) -> None:
    """E = K_ij - b I and F = K_ji - b I of node i and its parent j: b of their bar, K of pair ``pair`` and those after.
    further (p,)  the next pair of the same two nodes, -1: no more
    inverse (n, JOINED)  E and F of node i are written behind its inverse"""
    for c in range(E, JOINED):
        inverse[i, c] = 0.0
    for c in range(3):
        inverse[i, E + 4 * c], inverse[i, F + 4 * c] = -b, -b
    while pair >= 0:
        first, second = (E, F) if tangent.pairs[pair, 0] == i else (F, E)
        for c in range(9):
            inverse[i, first + c] += tangent.cross[pair, c]
            inverse[i, second + c] += tangent.cross[pair, 9 + c]
        pair = further[pair]


@inner_kernel
def times(at: int, i: Index, inverse: Floats, x0: float, x1: float, x2: float) -> tuple[float, float, float]:
    """B x, B the block of node i at ``at``: 0 (X), E or F."""
    y0 = inverse[i, at] * x0 + inverse[i, at + 1] * x1 + inverse[i, at + 2] * x2
    y1 = inverse[i, at + 3] * x0 + inverse[i, at + 4] * x1 + inverse[i, at + 5] * x2
    y2 = inverse[i, at + 6] * x0 + inverse[i, at + 7] * x1 + inverse[i, at + 8] * x2
    return y0, y1, y2


@inner_kernel
def times_transposed(at: int, i: Index, inverse: Floats, x0: float, x1: float, x2: float) -> tuple[float, float, float]:
    """B^T x."""
    y0 = inverse[i, at] * x0 + inverse[i, at + 3] * x1 + inverse[i, at + 6] * x2
    y1 = inverse[i, at + 1] * x0 + inverse[i, at + 4] * x1 + inverse[i, at + 7] * x2
    y2 = inverse[i, at + 2] * x0 + inverse[i, at + 5] * x1 + inverse[i, at + 8] * x2
    return y0, y1, y2


@inner_kernel
def hand_over(
    i: Index, j: Index, xr0: float, xr1: float, xr2: float, inverse: Floats, block: Floats, du: Floats
) -> bool:
    """D_j -= F X E and r_j -= F X r of node i; False: D_j grows so much that digits are lost."""
    size, most = 0.0, 0.0
    for c in range(9):
        size = max(size, max(abs(block[j, c]), max(abs(inverse[i, E + c]), abs(inverse[i, F + c]))))
    for c in range(3):
        x0, x1, x2 = times(0, i, inverse, inverse[i, E + c], inverse[i, E + 3 + c], inverse[i, E + 6 + c])
        y0, y1, y2 = times(F, i, inverse, x0, x1, x2)
        block[j, c] -= y0
        block[j, 3 + c] -= y1
        block[j, 6 + c] -= y2
        most = max(most, max(abs(y0), max(abs(y1), abs(y2))))
    y0, y1, y2 = times(F, i, inverse, xr0, xr1, xr2)
    row = THREE * j
    du[row] -= y0
    du[row + ONE] -= y1
    du[row + TWO] -= y2
    return most <= MOST_GROWTH * size


# Stored for the child of a node: a; c, then s Y^T c; flexibility, then the pull without the contribution of the parent;
# along; whether the pull waits, then the child pinned before it; for the node itself, the child pinned last
A, C, PULL, ALONG, BEFORE, LAST = 0, 3, 6, 7, 8, 9
PINNED = 10
NOT_WAITING, WAITING = -2.0, -1.0
STIFF = 1e-3
"""A pull waits if its flexibility is below this fraction of the node's: at most three digits are lost at each node."""


@inner_kernel
def wait(i: Index, a: Vector, c: Vector, flexibility: float, along: float, pinned: Floats) -> None:
    """The pull between node i and its parent waits for the parent."""
    pinned[i, A], pinned[i, A + 1], pinned[i, A + 2] = a
    pinned[i, C], pinned[i, C + 1], pinned[i, C + 2] = c
    pinned[i, PULL], pinned[i, ALONG], pinned[i, BEFORE] = flexibility, along, WAITING


@inner_kernel
def pin(
    i: Index, child: Index, largest: float, inverse: Floats, load: Vector, k: Vector, pinned: Floats
) -> tuple[bool, Vector]:
    """Adds the waiting pull of a child of node i, whose displacement is inverse (load) + k.
    Projects ``inverse[i]``, returns the new k. largest: on the diagonal of the inverse before anything was pinned"""
    r0, r1, r2 = load
    k0, k1, k2 = k
    a0, a1, a2 = pinned[child, A], pinned[child, A + 1], pinned[child, A + 2]
    c0, c1, c2 = pinned[child, C], pinned[child, C + 1], pinned[child, C + 2]
    xa0 = inverse[i, 0] * a0 + inverse[i, 1] * a1 + inverse[i, 2] * a2
    xa1 = inverse[i, 3] * a0 + inverse[i, 4] * a1 + inverse[i, 5] * a2
    xa2 = inverse[i, 6] * a0 + inverse[i, 7] * a1 + inverse[i, 8] * a2
    y0 = inverse[i, 0] * c0 + inverse[i, 3] * c1 + inverse[i, 6] * c2
    y1 = inverse[i, 1] * c0 + inverse[i, 4] * c1 + inverse[i, 7] * c2
    y2 = inverse[i, 2] * c0 + inverse[i, 5] * c1 + inverse[i, 8] * c2
    pivot = pinned[child, PULL] + c0 * xa0 + c1 * xa1 + c2 * xa2
    size = (abs(a0) + abs(a1) + abs(a2)) * (abs(c0) + abs(c1) + abs(c2)) * largest
    is_safe: bool = abs(pivot) > SMALLEST_PIVOT * size
    if not some(is_safe):
        return is_safe, k
    s = 1.0 / pivot
    y0, y1, y2 = s * y0, s * y1, s * y2
    rest = s * (c0 * k0 + c1 * k1 + c2 * k2 - pinned[child, ALONG])
    for m in range(3):
        xa = xa0 if m == 0 else xa1 if m == 1 else xa2
        inverse[i, 3 * m] -= xa * y0
        inverse[i, 3 * m + 1] -= xa * y1
        inverse[i, 3 * m + 2] -= xa * y2
    pinned[child, C], pinned[child, C + 1], pinned[child, C + 2] = y0, y1, y2
    pinned[child, PULL] = rest + y0 * r0 + y1 * r1 + y2 * r2
    pinned[child, BEFORE], pinned[i, LAST] = pinned[i, LAST], child
    return is_safe, (k0 - xa0 * rest, k1 - xa1 * rest, k2 - xa2 * rest)


@inner_kernel
def unpin(i: Index, link: Ints, sign: Floats, pinned: Floats, block: Floats, load: Vector, tau: Floats) -> None:
    """The pulls that ``pin`` added at node i, the last one first: each is part of the load of those before it.
    load: the load in addition to the residual of node i"""
    load0, load1, load2 = load
    child = int(common(pinned[i, LAST]))
    while child >= 0:
        pull = pinned[child, PULL] + pinned[child, C] * load0
        pull += pinned[child, C + 1] * load1 + pinned[child, C + 2] * load2
        tau[link[child]] = sign[child] * pull
        block[child, 6] = -pull  # read by the child in the back substitution
        load0 -= pull * pinned[child, A]
        load1 -= pull * pinned[child, A + 1]
        load2 -= pull * pinned[child, A + 2]
        child = int(common(pinned[child, BEFORE]))


class LinearSystem(NamedTuple):
    """K du = residual, and work arrays of its elimination.

    free     (3n,)   1.0 free, 0.0 fixed
    tangent          K of the bars and pairs
    block    (n, 9)  its nodal blocks without the bars and what a diagonal adds; overwritten
    residual (3n,)   right-hand side, kept
    inverse  (n, 9; JOINED with pairs), pinned (n or 0, PINNED)  work arrays
    du       (3n,)   out, zero at fixed dofs; meanwhile the reduced right-hand side
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
    """Clears what children add to node i."""
    for c in range(9):
        block[i, c] = 0.0
    for c in range(3):
        du[THREE * i + np.uintp(c)] = 0.0


@inner_kernel
def hold(
    symmetric: bool, i: Index, e: Index, j: Index, sign: float, bar_tangent: Floats, block: Floats, pinned: Floats
) -> None:
    """Adds bar e to the block of node j: its other node i is fixed. For a rod only t: its pull waits for node j."""
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
    """Adds the pulls that wait at children of node i; returns whether all pivots are safe, and the resulting
    displacement."""
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
    """Back substitution from the roots to the leaves: du of each node from that of its parent, and the pulls of
    rods."""
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

    symmetric  whether K is: p = q, and only upper halves of blocks are updated
    has_pairs  whether there are pairs: blocks are filled, and K counts as unsymmetric. Both are compile-time constants
    is_filled  whether ``linear.block`` has content, otherwise it is only overwritten, which saves a pass through memory
    diagonal   added to it
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
        # kept for the back substitution (in the block of node i): Xp, s c and the pull
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
