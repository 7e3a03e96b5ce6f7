"""What a tangent does to a vector: the only place that knows how its parts are put together, row by row."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.lanes.choose import common


@inner_kernel
def add_blocks(factor: float, block: Floats, x: Floats, product: Floats) -> None:
    """product += factor B x, B the blocks (n or 0, 9) within nodes."""
    for i in range(block.shape[0]):
        x0, x1, x2 = factor * x[3 * i], factor * x[3 * i + 1], factor * x[3 * i + 2]
        product[3 * i] += block[i, 0] * x0 + block[i, 1] * x1 + block[i, 2] * x2
        product[3 * i + 1] += block[i, 3] * x0 + block[i, 4] * x1 + block[i, 5] * x2
        product[3 * i + 2] += block[i, 6] * x0 + block[i, 7] * x1 + block[i, 8] * x2


@inner_kernel
def add_between(factor: float, has_rods: bool, tangent: Tangent, x: Floats, product: Floats) -> None:
    """product += factor times what bars and pairs do, rods without their constraints."""
    ends, numbers, pairs, cross = tangent.ends, tangent.bar_tangent, tangent.pairs, tangent.cross
    for e in range(ends.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        p0, p1, p2 = numbers[P, e], numbers[P + 1, e], numbers[P + 2, e]
        d0, d1, d2 = x[j] - x[i], x[j + 1] - x[i + 1], x[j + 2] - x[i + 2]
        along, t = 0.0, factor * numbers[GEOMETRIC, e]
        if not has_rods or common(numbers[ALPHA, e]) < np.inf:
            along = factor * numbers[ALPHA, e] * (numbers[Q, e] * d0 + numbers[Q + 1, e] * d1 + numbers[Q + 2, e] * d2)
        y0, y1, y2 = along * p0 + t * d0, along * p1 + t * d1, along * p2 + t * d2
        product[i] -= y0
        product[i + 1] -= y1
        product[i + 2] -= y2
        product[j] += y0
        product[j + 1] += y1
        product[j + 2] += y2
    for p in range(pairs.shape[0]):
        i, j = 3 * pairs[p, 0], 3 * pairs[p, 1]
        for a in range(3):
            for c in range(3):
                product[i + a] += factor * cross[p, 3 * a + c] * x[j + c]
                product[j + a] += factor * cross[p, 9 + 3 * a + c] * x[i + c]


@inner_kernel
def add_product(factor: float, has_rods: bool, tangent: Tangent, x: Floats, product: Floats) -> None:
    """product += factor K x, K the derivative of the forces, without inertia and the constraints of rods."""
    add_between(factor, has_rods, tangent, x, product)
    add_blocks(factor, tangent.block, x, product)


@kernel
def multiply(tangent: Tangent, block: Floats, free: Floats, x: Floats, product: Floats) -> None:
    """product = K x over the free dofs, K the matrix that is solved with: its blocks (n, 9) within nodes, no rods.
    x is zero at fixed dofs."""
    ends, off = tangent.ends, tangent.off
    for dof in range(product.shape[0]):
        product[dof] = 0.0
    add_blocks(1.0, block, x, product)
    add_between(1.0, False, tangent, x, product)
    for e in range(off.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        for c in range(3):
            product[i + c] += off[e] * x[j + c]
            product[j + c] += off[e] * x[i + c]
    for dof in range(free.shape[0]):
        product[dof] *= free[dof]
