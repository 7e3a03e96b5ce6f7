"""A linear solve with rods or a border, checked by its residual and refined until that is a rounding error.

Every solution du, tau of a compiled solver is inserted into its equations,

    rest = r - K du - P tau,    rest of the gaps = - g - Q^T du,

bar by bar, not with the assembled matrix, and each component is compared with the sum of the magnitudes it consists of:
the relative change of the given numbers that would make the solution exact. A correction is computed with the same
matrix while that helps.
Sources: Oettli & Prager, Numer. Math. 6 (1964) 405-409; Skeel, Math. Comput. 35 (1980) 817-832: one such step in the
same precision makes an elimination as good as one with the best order and scaling.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.assembly.equations import Equations, condense
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import common, some, where
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, Bars, P, Q
from fem.forces.laws import BEYOND, LEG
from fem.linear.border import solve_with_border
from fem.linear.chain import Diagonal, isotropic, solve_unsymmetric_chain
from fem.linear.choice import BAND, BORDER
from fem.linear.factors import HELPS, NOTHING, POOR
from fem.solve.newton.groups import Nodes, Problem, Scratch
from fem.solve.newton.tangent import linear_system

TOWARDS = 1e-10
"""Error up to which a solution needs no refinement if Newton's method continues from it."""
NEGLIGIBLE = 1e-12
"""Error below which no solution is refined: it is a correction, small beside what it is added to."""
MOST_SOLVES = 8


@called_kernel
def solve_checked(is_filled: bool, enough: float, diagonal: Diagonal, problem: Problem, work: Scratch) -> bool:
    """``work.du`` and ``work.tau`` for ``work.residual`` and the gaps; False: they are inaccurate.
    enough  error at which a solution is accepted, if it is not ``NEGLIGIBLE``"""
    nodes, bars, tree, enough = problem.nodes, problem.bars, problem.tree, max(enough, NEGLIGIBLE)
    keep(is_filled, work)
    before, error, is_solved = np.inf, np.inf, True
    for _ in range(MOST_SOLVES):
        open_again(is_filled, work)
        if problem.solver in (BAND, BORDER):
            linear = linear_system(nodes, work)
            is_solved = solve_with_border(problem.plan, bars, linear, work.blocks, work.band, work.unknowns)
        else:
            is_solved = solve_unsymmetric_chain(is_filled, tree, diagonal, linear_system(nodes, work))
        if not is_solved:
            break
        accumulate(1.0, work)
        before = error
        error = leave_rest(is_filled, diagonal, nodes, bars, problem.equations, work)
        if error <= enough or not error < HELPS * before:
            break
    if is_solved and before < error:
        accumulate(-1.0, work)
        error = before
    restore(work)
    return is_solved and error <= max(enough, POOR)


@inner_kernel
def keep(is_filled: bool, work: Scratch) -> None:
    """Stores the right-hand side, and starts from the solution 0."""
    for dof in range(work.residual.shape[0]):
        work.right[dof], work.found[dof] = work.residual[dof], 0.0
    for e in range(work.tau.shape[0]):
        work.gaps[e], work.pulls[e] = work.tangent.bar_tangent[GAP, e], 0.0
    if is_filled:
        for i in range(work.block.shape[0]):
            for k in range(9):
                work.kept[i, k] = work.block[i, k]


@inner_kernel
def open_again(is_filled: bool, work: Scratch) -> None:
    """Restores the matrix, which a solve overwrites, without pulls."""
    if is_filled:
        for i in range(work.block.shape[0]):
            for k in range(9):
                work.block[i, k] = work.kept[i, k]
    for e in range(work.tau.shape[0]):
        work.tau[e] = 0.0


@inner_kernel
def restore(work: Scratch) -> None:
    """Restores the right-hand side, and the whole solution."""
    for dof in range(work.residual.shape[0]):
        work.residual[dof], work.du[dof] = work.right[dof], work.found[dof]
    for e in range(work.tau.shape[0]):
        work.tangent.bar_tangent[GAP, e], work.tau[e] = work.gaps[e], work.pulls[e]


@inner_kernel
def accumulate(sign: float, work: Scratch) -> None:
    """Adds the last correction to the solution."""
    for dof in range(work.du.shape[0]):
        work.found[dof] += sign * work.du[dof]
    for e in range(work.tau.shape[0]):
        work.pulls[e] += sign * work.tau[e]


@inner_kernel
def leave_rest(
    is_filled: bool, diagonal: Diagonal, nodes: Nodes, bars: Bars, equations: Equations, work: Scratch
) -> float:
    """Writes the residual of the solution into ``work.residual`` and the gaps; returns its largest fraction of an
    equation, or NaN."""
    rest_of_nodes(is_filled, diagonal, work)
    rest_of_bars(bars, work)
    condense(equations, work.residual)
    condense_sizes(equations, work.size)
    largest = 0.0
    for dof in range(nodes.mask.shape[0]):
        largest = max(largest, nodes.mask[dof] * work.size[dof])
    rest, size = 0.0, 1.0  # of the worst equation so far: a single division
    for dof in range(nodes.mask.shape[0]):
        its, its_size = abs(work.residual[dof]), work.size[dof] + NOTHING * largest
        is_open = nodes.mask[dof] != 0.0
        is_worst = is_open & (its_size > 0.0) & (not its * size <= rest * its_size)
        rest, size = where(is_worst, its, rest), where(is_worst, its_size, size)
        work.residual[dof] = where(is_open, work.residual[dof], 0.0)
    if bars.rods.shape[0] == 0:
        return rest / size
    return rest_of_gaps(rest / size, longest_move(is_filled, diagonal, work), bars, work)


@inner_kernel
def condense_sizes(equations: Equations, sizes: Floats) -> None:
    """``condense`` of the sizes of the equations."""
    for k in range(equations.slave.shape[0]):
        size = sizes[equations.slave[k]]
        for m in range(equations.start[k], equations.start[k + 1]):
            sizes[equations.master[m]] += abs(equations.factor[m]) * size
        sizes[equations.slave[k]] = 0.0


@inner_kernel
def longest_move(is_filled: bool, diagonal: Diagonal, work: Scratch) -> float:
    """Largest displacement of the solution, or of nodes under their loads alone: if rods allow no motion the solution
    is 0."""
    longest = 0.0
    for i in range(work.kept.shape[0]):
        multiple = isotropic(diagonal, 3 * i)
        for c in range(3):
            resisting = multiple + (work.kept[i, 4 * c] if is_filled else 0.0)
            longest = max(longest, abs(work.found[3 * i + c]))
            alone = abs(work.right[3 * i + c]) / where(resisting > 0.0, resisting, 1.0)
            longest = max(longest, where(resisting > 0.0, alone, 0.0))
    return longest


@inner_kernel
def rest_of_nodes(is_filled: bool, diagonal: Diagonal, work: Scratch) -> None:
    """Begins the residual with terms of single nodes and of pairs."""
    x, rest, size = work.found, work.residual, work.size
    for i in range(work.kept.shape[0]):
        multiple = isotropic(diagonal, 3 * i)
        for a in range(3):
            row = 3 * i + a
            rest[row] = work.right[row] - multiple * x[row]
            size[row] = abs(work.right[row]) + abs(multiple * x[row])
            if is_filled:
                for c in range(3):
                    value = work.kept[i, 3 * a + c] * x[3 * i + c]
                    rest[row] -= value
                    size[row] += abs(value)
    pairs, cross = work.tangent.pairs, work.tangent.cross
    for p in range(pairs.shape[0]):
        for m in range(2):
            for a in range(3):
                row = 3 * pairs[p, m] + a
                for c in range(3):
                    value = cross[p, 9 * m + 3 * a + c] * x[3 * pairs[p, 1 - m] + c]
                    rest[row] -= value
                    size[row] += abs(value)


@inner_kernel
def rest_of_bars(bars: Bars, work: Scratch) -> None:
    """Subtract the forces of bars and rods from the residual."""
    x, rest, sizes, bar_tangent = work.found, work.residual, work.size, work.tangent.bar_tangent
    for e in range(bars.nodes.shape[0]):
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        pull, size, t = 0.0, 0.0, bar_tangent[GEOMETRIC, e]
        coupling = work.tangent.off[e] if work.tangent.off.shape[0] > 0 else 0.0
        if not some((bar_tangent[ALPHA, e] != 0.0) | (t != 0.0) | (coupling != 0.0)):  # bars without contribution
            continue
        if common(bar_tangent[ALPHA, e]) == np.inf:
            pull = work.pulls[e]
            size = abs(pull)
        else:
            for c in range(3):
                pull += bar_tangent[Q + c, e] * (x[j + c] - x[i + c])
                size += abs(bar_tangent[Q + c, e]) * (abs(x[j + c]) + abs(x[i + c]))
            pull *= bar_tangent[ALPHA, e]
            size *= abs(bar_tangent[ALPHA, e])
        if bars.kinds[e, 0] >= LEG:
            pull += work.pulls[e]
            size += abs(work.pulls[e])
        for c in range(3):
            force = pull * bar_tangent[P + c, e] + t * (x[j + c] - x[i + c])
            about = size * abs(bar_tangent[P + c, e]) + abs(t) * (abs(x[j + c]) + abs(x[i + c]))
            rest[i + c] += force - coupling * x[j + c]
            rest[j + c] -= force + coupling * x[i + c]
            sizes[i + c] += about + abs(coupling * x[j + c])
            sizes[j + c] += about + abs(coupling * x[i + c])


@inner_kernel
def rest_of_gaps(error: float, longest: float, bars: Bars, work: Scratch) -> float:
    """Residual of the gaps of rods; returns the larger of ``error`` and its fraction."""
    x, bar_tangent, largest = work.found, work.tangent.bar_tangent, 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        about = abs(bar_tangent[Q, e]) + abs(bar_tangent[Q + 1, e]) + abs(bar_tangent[Q + 2, e])
        largest = max(largest, abs(work.gaps[e]) + longest * about)
    before, size_before = 0.0, 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        rest, size = -work.gaps[e], abs(work.gaps[e]) + NOTHING * largest
        for c in range(3):
            rest -= bar_tangent[Q + c, e] * (x[j + c] - x[i + c])
            size += abs(bar_tangent[Q + c, e]) * (abs(x[j + c]) + abs(x[i + c]))
        bar_tangent[GAP, e] = -rest
        if bars.kinds[e, 0] == LEG:  # the other leg follows
            before, size_before = rest, size
            continue
        if bars.kinds[e, 0] == BEYOND:
            rest, size = rest + before, size + size_before
        is_worst = (size > 0.0) & (not abs(rest) <= error * size)
        error = where(is_worst, abs(rest) / where(size > 0.0, size, 1.0), error)
    return error
