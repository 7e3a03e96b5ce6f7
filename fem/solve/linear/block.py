"""The 3 x 3 block of one node: its inverse, restricted to what is free there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Index
from fem.compiled import inner_kernel, number_kernel
from fem.lanes.choose import common
from fem.mechanics.bar import ALPHA, GEOMETRIC, P, Q

ONE, TWO, THREE = np.uintp(1), np.uintp(2), np.uintp(3)
SMALLEST_PIVOT = 1e-13
"""A pivot below this share of its diagonal entry means: ask for a solver that pivots."""


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


@number_kernel
def invert_numbers(
    symmetric: bool, f0: float, f1: float, f2: float, m00: float, m01: float, m02: float, m10: float, m11: float,
    m12: float, m20: float, m21: float, m22: float,
) -> tuple[bool, float, float, float, float, float, float, float, float, float]:  # fmt: skip
    """Whether all pivots are safe, and the inverse of m restricted to the dofs with f = 1 (others 0), row by row.

    By L D U without pivoting: unlike cofactors it survives m I + alpha n n^T with alpha >> m.
    """
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
    return is_safe, x00, x01, x02, x10, x11, x12, x20, x21, x22


@inner_kernel
def inverted(
    symmetric: bool, block: Floats, shift: float, free: Floats, i: Index
) -> tuple[bool, float, float, float, float, float, float, float, float, float]:
    """Whether block[i] + shift I has safe pivots, and its inverse restricted to the free dofs of node i, row by row.

    ``symmetric``: what stands below the diagonal of the block is not looked at.
    """
    m01, m02, m12 = block[i, 1], block[i, 2], block[i, 5]
    m10, m20, m21 = (m01, m02, m12) if symmetric else (block[i, 3], block[i, 6], block[i, 7])
    row = THREE * np.uintp(i)
    return invert_numbers(
        symmetric, free[row], free[row + ONE], free[row + TWO], block[i, 0] + shift, m01, m02, m10,
        block[i, 4] + shift, m12, m20, m21, block[i, 8] + shift,
    )  # fmt: skip


@inner_kernel
def put(
    matrix: Floats, i: Index, x00: float, x01: float, x02: float, x10: float, x11: float, x12: float, x20: float,
    x21: float, x22: float,
) -> None:  # fmt: skip
    """Write a 3 x 3 matrix into row i."""
    matrix[i, 0], matrix[i, 1], matrix[i, 2] = x00, x01, x02
    matrix[i, 3], matrix[i, 4], matrix[i, 5] = x10, x11, x12
    matrix[i, 6], matrix[i, 7], matrix[i, 8] = x20, x21, x22


@inner_kernel
def take(
    symmetric: bool, matrix: Floats, i: Index
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Row i as a 3 x 3 matrix; ``symmetric``: what stands below its diagonal is something else."""
    x00, x01, x02 = matrix[i, 0], matrix[i, 1], matrix[i, 2]
    x11, x12, x22 = matrix[i, 4], matrix[i, 5], matrix[i, 8]
    x10, x20, x21 = (x01, x02, x12) if symmetric else (matrix[i, 3], matrix[i, 6], matrix[i, 7])
    return x00, x01, x02, x10, x11, x12, x20, x21, x22


@inner_kernel
def is_fixed(i: Index, free: Floats) -> bool:
    """Nothing of node i is free: it leaves the rod to its parent to that node."""
    row = THREE * np.uintp(i)
    return bool(free[row] == 0.0 and free[row + ONE] == 0.0 and free[row + TWO] == 0.0)


@inner_kernel
def hold(symmetric: bool, has_rods: bool, e: Index, i: Index, store: Floats, block: Floats) -> None:
    """Add bar e to the block of node i: its other node is fixed. Of a rod only t: ``pin`` does more."""
    t, alpha = store[GEOMETRIC, e], store[ALPHA, e]
    if has_rods and common(alpha) == np.inf:
        alpha = 0.0
    second = P if symmetric else Q
    for a in range(3):
        for c in range(a if symmetric else 0, 3):
            block[i, 3 * a + c] += alpha * store[P + a, e] * store[second + c, e]
        block[i, 4 * a] += t
