"""Product of a tangent and a vector, row by row, and the Krylov solvers, which only need this product.

No other module computes this product.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel, number_kernel
from fem.compiled.lanes import common
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.linear.chain import LinearSystem, invert

# Matrix-free Krylov solvers with block-Jacobi: nets in motion, where inertia keeps the tangent well conditioned.
#
# Conjugate gradients for symmetric tangents, stabilised biconjugate gradients (BiCGStab) for unsymmetric ones.
#
# K x is computed bar by bar from the nine numbers; only the 3 x 3 blocks on the diagonal are assembled, whose inverses
# precondition. Newton's iteration is inexact: a solve may leave ``forcing`` times its residual. With negative curvature
# (an indefinite tangent) or too many iterations the direct solver is used.
# Sources: Hestenes & Stiefel 1952; van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992); Saad, Iterative Methods for
# Sparse Linear Systems, 9.2; inexact Newton: Dembo, Eisenstat & Steihaug 1982.
MOST_ITERATIONS = 250
"""Beyond this a sparse factorisation is cheaper."""
BREAKDOWN = 1e-30
"""Fraction of its start below which a product of BiCGStab has broken down."""


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
    """product += factor times the product with bars and pairs, without the constraints of rods."""
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
    add_pairs(factor, pairs, cross, x, product)


@inner_kernel
def add_pairs(factor: float, pairs: Ints, cross: Floats, x: Floats, product: Floats) -> None:
    """product += factor C x, C the blocks (p, 18) between the nodes of pairs (p, 2)."""
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
    """product = K x over the free dofs, K the matrix of the solve: its blocks (n, 9) within nodes, no rods.
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


@called_kernel
def diagonal_blocks(tangent: Tangent, block: Floats, inverse: Floats, free: Floats) -> bool:
    """Inverts the diagonal blocks (nodal block + bars) into ``inverse`` (n, 9); False: one is not safe."""
    nodes, bar_tangent = tangent.ends, tangent.bar_tangent
    for i in range(block.shape[0]):
        for k in range(9):
            inverse[i, k] = block[i, k]
    for e in range(nodes.shape[0]):
        alpha, t = bar_tangent[ALPHA, e], bar_tangent[GEOMETRIC, e]
        for end in range(2):
            i = nodes[e, end]
            for a in range(3):
                for c in range(3):
                    inverse[i, 3 * a + c] += alpha * bar_tangent[P + a, e] * bar_tangent[Q + c, e]
                inverse[i, 4 * a] += t
    safe = True
    for i in range(block.shape[0]):
        safe = invert(False, inverse, i, 0.0, free, inverse) and safe
    return safe


@inner_kernel
def precondition(inverse: Floats, residual: Floats, z: Floats) -> float:
    """z = blocks^-1 residual; returns residual . z."""
    total = 0.0
    for i in range(inverse.shape[0]):
        r0, r1, r2 = residual[3 * i], residual[3 * i + 1], residual[3 * i + 2]
        z[3 * i] = inverse[i, 0] * r0 + inverse[i, 1] * r1 + inverse[i, 2] * r2
        z[3 * i + 1] = inverse[i, 3] * r0 + inverse[i, 4] * r1 + inverse[i, 5] * r2
        z[3 * i + 2] = inverse[i, 6] * r0 + inverse[i, 7] * r1 + inverse[i, 8] * r2
        total += r0 * z[3 * i] + r1 * z[3 * i + 1] + r2 * z[3 * i + 2]
    return total


@called_kernel
def solve_cg(forcing: float, linear: LinearSystem, vectors: Floats) -> int:
    """Solve K du = residual; returns the number of iterations, -1 if the direct solver is needed.
    forcing          fraction of the residual (2-norm) that may be left
    vectors (4, 3n)  work arrays: residual of the solve, preconditioned residual, direction, K direction"""
    tangent, block, free, residual = linear.tangent, linear.block, linear.free, linear.residual
    inverse, du = linear.inverse, linear.du
    if not diagonal_blocks(tangent, block, inverse, free):
        return -1
    r, z, direction, product = vectors[0], vectors[1], vectors[2], vectors[3]
    start = 0.0
    for dof in range(du.shape[0]):
        du[dof] = 0.0
        r[dof] = residual[dof] * free[dof]
        start += r[dof] * r[dof]
    if start == 0.0:
        return 0
    rho = precondition(inverse, r, z)
    for dof in range(du.shape[0]):
        direction[dof] = z[dof]
    for iteration in range(1, MOST_ITERATIONS + 1):
        multiply(tangent, block, free, direction, product)
        curvature = 0.0
        for dof in range(du.shape[0]):
            curvature += direction[dof] * product[dof]
        if not (curvature > 0.0 and rho > 0.0):
            return -1
        step = rho / curvature
        size = 0.0
        for dof in range(du.shape[0]):
            du[dof] += step * direction[dof]
            r[dof] -= step * product[dof]
            size += r[dof] * r[dof]
        if size <= forcing * forcing * start:
            return iteration
        before = rho
        rho = precondition(inverse, r, z)
        ratio = rho / before
        for dof in range(du.shape[0]):
            direction[dof] = z[dof] + ratio * direction[dof]
    return -1


@called_kernel
def solve_bicgstab(forcing: float, linear: LinearSystem, vectors: Floats) -> int:
    """Solve K du = residual for an unsymmetric K; returns the number of iterations, -1 if the direct solver is needed.
    As ``solve_cg``, preconditioned from the right; vectors (6, 3n): work arrays."""
    tangent, block, free, residual = linear.tangent, linear.block, linear.free, linear.residual
    inverse, du = linear.inverse, linear.du
    if not diagonal_blocks(tangent, block, inverse, free):
        return -1
    r, shadow, direction, image, z, product = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    start = 0.0
    for dof in range(du.shape[0]):
        du[dof] = 0.0
        r[dof] = residual[dof] * free[dof]
        shadow[dof] = r[dof]
        direction[dof] = r[dof]
        start += r[dof] * r[dof]
    if start == 0.0:
        return 0
    bound = forcing * forcing * start
    rho = start
    for iteration in range(1, MOST_ITERATIONS + 1):
        precondition(inverse, direction, z)
        multiply(tangent, block, free, z, image)
        along = dot(shadow, image)
        if not abs(along) > BREAKDOWN * start:
            return -1
        step = rho / along
        for dof in range(du.shape[0]):
            du[dof] += step * z[dof]
            r[dof] -= step * image[dof]
        if dot(r, r) <= bound:
            return iteration
        precondition(inverse, r, z)
        multiply(tangent, block, free, z, product)
        square = dot(product, product)
        if not square > 0.0:
            return -1
        smooth = dot(product, r) / square
        for dof in range(du.shape[0]):
            du[dof] += smooth * z[dof]
            r[dof] -= smooth * product[dof]
        if dot(r, r) <= bound:
            return iteration
        before = rho
        rho = dot(shadow, r)
        ratio = rho / before * step / smooth
        if not abs(ratio) < 1.0 / BREAKDOWN:
            return -1
        for dof in range(du.shape[0]):
            direction[dof] = r[dof] + ratio * (direction[dof] - smooth * image[dof])
    return -1


@number_kernel
def dot(x: Floats, y: Floats) -> float:
    """x . y."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total
