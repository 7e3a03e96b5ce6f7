"""3 x 3 blocks of an elimination: that of one node, inverted over what is free there, and those between two nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Ints, Vector
from fem.compiled import inner_kernel, kernel, number_kernel
from fem.forces.protocol import Tangent
from fem.lanes.choose import some

ONE, TWO, THREE = np.uintp(1), np.uintp(2), np.uintp(3)
SMALLEST_PIVOT = 1e-13
"""A pivot below this fraction of its diagonal entry means: ask for a solver that pivots."""
MOST_GROWTH = 1e6
"""How far what an elimination takes from a block may exceed the numbers it comes from, for the same reason."""
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
    """That multiple for the node whose first dof is ``row``."""
    value: float = diagonal.by_mass * diagonal.mass[row]
    if diagonal.damping.shape[0] > 0:
        value += diagonal.by_damping * diagonal.damping[row]
    return value


@number_kernel
def invert_numbers(
    symmetric: bool, free: Vector, diagonal: Vector, upper: Vector, lower: Vector
) -> tuple[bool, Vector, Vector, Vector]:
    """Whether all pivots are safe, and the inverse of m restricted to the dofs with f = 1 (others 0), row by row.

    By L D U without pivoting: unlike cofactors it survives m I + alpha n n^T with alpha >> m.
    """
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

    ``symmetric``: what stands below the diagonal of the block is not looked at. ``inverse`` may be ``block``.
    """
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
    """Nothing of node i is free: it leaves the rod to its parent to that node."""
    row = THREE * np.uintp(i)
    return bool(free[row] == 0.0 and free[row + ONE] == 0.0 and free[row + TWO] == 0.0)


@inner_kernel
def join(i: Index, b: float, pair: Index, further: Ints, tangent: Tangent, inverse: Floats) -> None:
    """E = K_ij - b I and F = K_ji - b I of node i and its parent j: b of their bar, K of pair ``pair`` and those after.

    further (p,)  the next pair of the same two nodes, -1: no more
    inverse (n, JOINED)  E and F of node i are written behind its inverse
    """
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
    """D_j -= F X E and r_j -= F X r of node i; False where D_j outgrows what it comes from, so that digits are lost."""
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
