"""The 3 x 3 block of one node: its inverse, restricted to what is free there."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Index
from fem.compiled import inner_kernel, kernel, number_kernel
from fem.lanes.choose import some

ONE, TWO, THREE = np.uintp(1), np.uintp(2), np.uintp(3)
SMALLEST_PIVOT = 1e-13
"""A pivot below this fraction of its diagonal entry means: ask for a solver that pivots."""


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


@kernel
def invert(symmetric: bool, block: Floats, i: Index, shift: float, free: Floats, inverse: Floats) -> bool:
    """inverse[i] = (block[i] + shift I)^-1 restricted to the free dofs of node i; False where it has no safe pivot.

    ``symmetric``: what stands below the diagonal of the block is not looked at. ``inverse`` may be ``block``.
    """
    m01, m02, m12 = block[i, 1], block[i, 2], block[i, 5]
    m10, m20, m21 = (m01, m02, m12) if symmetric else (block[i, 3], block[i, 6], block[i, 7])
    row = THREE * np.uintp(i)
    is_safe, x00, x01, x02, x10, x11, x12, x20, x21, x22 = invert_numbers(
        symmetric, free[row], free[row + ONE], free[row + TWO], block[i, 0] + shift, m01, m02, m10,
        block[i, 4] + shift, m12, m20, m21, block[i, 8] + shift,
    )  # fmt: skip
    if not some(is_safe):
        return is_safe
    inverse[i, 0], inverse[i, 1], inverse[i, 2] = x00, x01, x02
    inverse[i, 3], inverse[i, 4], inverse[i, 5] = x10, x11, x12
    inverse[i, 6], inverse[i, 7], inverse[i, 8] = x20, x21, x22
    return is_safe


@inner_kernel
def is_fixed(i: Index, free: Floats) -> bool:
    """Nothing of node i is free: it leaves the rod to its parent to that node."""
    row = THREE * np.uintp(i)
    return bool(free[row] == 0.0 and free[row + ONE] == 0.0 and free[row + TWO] == 0.0)
