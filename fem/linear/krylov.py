"""Matrix-free Krylov solvers with block-Jacobi: nets in motion, where inertia keeps the tangent well conditioned.

Conjugate gradients for symmetric tangents, stabilised biconjugate gradients (BiCGStab) for unsymmetric ones.

K x is taken bar by bar from the nine numbers; nothing is assembled but the 3 x 3 blocks on the diagonal, whose inverses
precondition. The Newton iteration around it is inexact: a solve need not be better than ``forcing`` times its residual.
Negative curvature (an indefinite tangent) or too many iterations hand the system over to the direct solver.
Sources: Hestenes & Stiefel 1952; van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992); Saad, Iterative Methods for
Sparse Linear Systems, 9.2; inexact Newton: Dembo, Eisenstat & Steihaug 1982.
"""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel, number_kernel
from fem.forces.bar import ALPHA, GEOMETRIC, P, Q
from fem.forces.protocol import Tangent
from fem.linear.chain import LinearSystem, invert
from fem.linear.tangent import multiply

MOST_ITERATIONS = 250
"""Beyond this a sparse factorisation is cheaper."""
BREAKDOWN = 1e-30
"""Fraction of its start below which a product of BiCGStab has broken down."""


@called_kernel
def diagonal_blocks(tangent: Tangent, block: Floats, inverse: Floats, free: Floats) -> bool:
    """Invert the diagonal blocks (nodal block + bars) into ``inverse`` (n, 9); False where one is not safe."""
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
    """Solve K du = residual; returns the iterations spent, -1 where the direct solver must take over.
    forcing          fraction of the residual (2-norm) that may be left
    vectors (4, 3n)  room: residual of the solve, preconditioned residual, direction, K direction"""
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
    """Solve K du = residual for an unsymmetric K; returns the iterations spent, -1 where the direct solver must.
    As ``solve_cg``, preconditioned from the right; vectors (6, 3n): room."""
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
