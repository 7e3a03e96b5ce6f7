"""An upper bound of the largest eigenvalue of M^-1 K, node by node, in one sweep over the bars.

For a bar with the stiffness block B >= 0 between nodes i and j, (d_i - d_j).B (d_i - d_j) <= 2 d_i.B d_i + 2 d_j.B d_j,
and it is d_i.B d_i where j is held. So K is at most a matrix of 3 x 3 blocks, one per node; the largest eigenvalue of
m_i^-1 times these bounds omega^2; for long chains and nets of equal bars it is the exact one. Parts of B that are
negative (compression) count by their size.
Source: the element eigenvalue theorem of Irons, with blocks of nodes in place of elements; Belytschko et al. 1985.
"""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.compiled import inner_kernel, kernel
from fem.forces.bars.bar import ALPHA, GEOMETRIC, P, Q
from fem.solve.newton.evaluate import evaluate_instant
from fem.solve.newton.groups import Motion, Nodes, Problem, Scratch
from fem.solve.schemes.coefficients import Coefficients


@inner_kernel
def largest_eigenvalue(a: float, b: float, c: float, ab: float, ac: float, bc: float) -> float:
    """Of the symmetric matrix [a ab ac; ab b bc; ac bc c]. Source: Smith, Comm. ACM 4 (1961) 168."""
    mean = (a + b + c) / 3.0
    a, b, c = a - mean, b - mean, c - mean
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (ab * ab + ac * ac + bc * bc)) / 6.0)
    if size == 0.0:
        return mean
    determinant = a * (b * c - bc * bc) - ab * (ab * c - bc * ac) + ac * (ab * bc - b * ac)
    angle = math.acos(min(max(0.5 * determinant / size**3, -1.0), 1.0)) / 3.0
    return mean + 2.0 * size * math.cos(angle)


@kernel
def fraction_of(other: int, nodes: Nodes) -> float:
    """2 where the other node can move, else 1; ``other`` is its first dof."""
    for c in range(3):
        if nodes.dof_kind[other + c] != 0:
            return 2.0
    return 1.0


@inner_kernel
def add_rows(nodes: Nodes, work: Scratch) -> None:
    """Everything but bars: on the diagonal the sum of the magnitudes of its row, as far as dofs can move."""
    own, pairs, cross, free = work.tangent.block, work.tangent.pairs, work.tangent.cross, nodes.dof_kind
    for i in range(own.shape[0]):
        for a in range(3):
            for c in range(3):
                if a == c or free[3 * i + c] != 0:
                    work.block[i, 4 * a] += 0.5 * abs(own[i, 3 * a + c] + own[i, 3 * c + a])
    for p in range(pairs.shape[0]):
        for m in range(2):
            i, j = pairs[p, m], pairs[p, 1 - m]
            for a in range(3):
                for c in range(3):
                    if free[3 * j + c] != 0:
                        coupling = cross[p, 9 * m + 3 * a + c] + cross[p, 9 * (1 - m) + 3 * c + a]
                        work.block[i, 4 * a] += 0.5 * abs(coupling)


@inner_kernel
def gather_blocks(problem: Problem, work: Scratch) -> None:
    """The 3 x 3 blocks of the bound into ``work.block``, those of dependent dofs added to what they depend on."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    block, bar_tangent = work.block, work.tangent.bar_tangent
    for i in range(block.shape[0]):
        for k in range(9):
            block[i, k] = 0.0
    for e in range(bars.nodes.shape[0]):
        first, second = bars.nodes[e, 0], bars.nodes[e, 1]
        across = abs(bar_tangent[GEOMETRIC, e])
        for end in range(2):
            i, j = (first, second) if end == 0 else (second, first)
            fraction = fraction_of(3 * j, nodes)
            for a in range(3):
                for c in range(3):
                    along = 0.5 * (
                        bar_tangent[P + a, e] * bar_tangent[Q + c, e] + bar_tangent[P + c, e] * bar_tangent[Q + a, e]
                    )
                    block[i, 3 * a + c] += fraction * abs(bar_tangent[ALPHA, e]) * along
                block[i, 4 * a] += fraction * across
    add_rows(problem.nodes, work)
    for k in range(equations.slave.shape[0]):
        i, a = equations.slave[k] // 3, equations.slave[k] % 3
        row = abs(block[i, 3 * a]) + abs(block[i, 3 * a + 1]) + abs(block[i, 3 * a + 2])
        for m in range(equations.start[k], equations.start[k + 1]):
            master = equations.master[m]
            block[master // 3, 4 * (master % 3)] += equations.factor[m] ** 2 * row


@kernel
def largest_square(
    scheme: Coefficients,
    dt: float,
    time: float,
    thermal: Floats,
    inverse: Floats,
    problem: Problem,
    motion: Motion,
    work: Scratch,
) -> tuple[float, int]:
    """Bound of omega^2 of K + 4/dt C' at ``motion``, and the node that sets it. Overwrites the trial velocity.

    inverse (3n,)  of the mass that moves with each free dof, 0 at others
    """
    bars = problem.bars
    for dof in range(work.u.shape[0]):
        work.u[dof], work.v[dof] = motion.u[dof], 0.0
    for r in range(bars.rods.shape[0]):
        work.multiplier[bars.rods[r]] = motion.multiplier[bars.rods[r]]
    evaluate_instant(scheme, dt, time, thermal, problem, motion, work)
    for r in range(bars.rods.shape[0]):  # constraints lower frequencies; the tension of rods counts
        work.tangent.bar_tangent[ALPHA, bars.rods[r]] = 0.0
    gather_blocks(problem, work)
    block, largest, worst = work.block, 0.0, 0
    for i in range(block.shape[0]):
        x, y, z = math.sqrt(inverse[3 * i]), math.sqrt(inverse[3 * i + 1]), math.sqrt(inverse[3 * i + 2])
        xx, yy, zz = x * x * block[i, 0], y * y * block[i, 4], z * z * block[i, 8]
        xy, xz, yz = x * y * block[i, 1], x * z * block[i, 2], y * z * block[i, 5]
        square = largest_eigenvalue(xx, yy, zz, xy, xz, yz)
        if square > largest or square != square:
            largest, worst = square, i
    return largest, worst
