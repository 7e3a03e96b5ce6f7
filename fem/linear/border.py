"""Lines with a border: nodes are eliminated block by block; nodes of equations and rods are solved with pivoting.

With X_i the inverse of the running block of node i, for every two neighbours j, k that are left (``choice.py``)

    K_jk -= K_ji X_i K_ik,    r_j -= K_ji X_i r_i,    and back: u_i = X_i (r_i - sum of K_ij u_j)

until the border remains. Its dependent dofs are written as sums of independent ones, multipliers are added, and its
matrix is solved with row exchanges. The elimination inside has no pivoting: the solution is checked in the equations
(``newton/refine.py``), and if it is poor a direct solver is used. In narrow models, and in statics, all nodes belong to
the border, and its matrix is a band.

Its matrix is stored by diagonals: entry (i, j) lies at ``band[i, j - i + width]``; row exchanges fill up to ``2 width``
entries to the right. Bands of lines that twist are eliminated without exchanges first (``solve_in_order``), in loops of
a known length: that is stable while the matrix is positive definite, symmetric or not; a pivot that is not positive
says when it is not. Source: Golub & Van Loan, Matrix Computations, 4.2 and 4.3.
"""

from __future__ import annotations

import math

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import every, some, where
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, INV_LENGTH, Bars, P, Q
from fem.forces.protocol import Tangent
from fem.linear.chain import LinearSystem, invert, times
from fem.linear.choice import WIDEST, EliminationPlan

SMALLEST_PIVOT = 1e-14
"""A matrix with a pivot below this fraction of its largest entry counts as singular."""


@called_kernel
def solve_with_border(
    plan: EliminationPlan, bars: Bars, linear: LinearSystem, numbers: Floats, band: Floats, x: Floats
) -> bool:
    """du and tau of ``linear``, whose block is unchanged; False: a pivot is not safe.
    numbers (blocks, 9), band and x (its rows: the equations of the border)  work arrays"""
    count, du, target, is_safe = plan.own.shape[0], linear.du, 0, True
    if plan.number.shape[0] > 0 and solve_in_order(plan.number, linear, band, x):
        return True
    for dof in range(du.shape[0]):
        du[dof] = linear.residual[dof] if linear.free[dof] != 0.0 else 0.0
    is_coupled = fill(plan, linear.tangent, linear.block, numbers)
    for k in range(plan.sequence.shape[0]):
        i = plan.sequence[k]
        is_safe = is_safe & invert(False, numbers, i, 0.0, linear.free, numbers)
        if not some(is_safe):
            return is_safe
        x0, x1, x2 = times(0, i, numbers, du[3 * i], du[3 * i + 1], du[3 * i + 2])
        du[3 * i], du[3 * i + 1], du[3 * i + 2] = x0, x1, x2
        for m in range(plan.first[k], plan.first[k + 1] if is_coupled else plan.first[k]):
            above, back = 3 * plan.near[m], count + 2 * m + 1
            y0, y1, y2 = times(0, back, numbers, x0, x1, x2)
            du[above] -= y0
            du[above + 1] -= y1
            du[above + 2] -= y2
            for other in range(plan.first[k], plan.first[k + 1]):
                edge, to = count + 2 * other, plan.target[target]
                target += 1
                for c in range(3):
                    z0, z1, z2 = times(0, i, numbers, numbers[edge, c], numbers[edge, 3 + c], numbers[edge, 6 + c])
                    y0, y1, y2 = times(0, back, numbers, z0, z1, z2)
                    numbers[to, c] -= y0
                    numbers[to, 3 + c] -= y1
                    numbers[to, 6 + c] -= y2
    if plan.border.shape[0] > 0:
        is_safe = is_safe & solve_border(plan, bars, linear, numbers, band, x)
        if not some(is_safe):
            return is_safe
    for k in range(plan.sequence.shape[0] - 1 if is_coupled else -1, -1, -1):
        i, y0, y1, y2 = plan.sequence[k], 0.0, 0.0, 0.0
        for m in range(plan.first[k], plan.first[k + 1]):
            above = 3 * plan.near[m]
            x0, x1, x2 = times(0, count + 2 * m, numbers, du[above], du[above + 1], du[above + 2])
            y0, y1, y2 = y0 + x0, y1 + x1, y2 + x2
        x0, x1, x2 = times(0, i, numbers, y0, y1, y2)
        du[3 * i] -= x0
        du[3 * i + 1] -= x1
        du[3 * i + 2] -= x2
    return is_safe


@inner_kernel
def fill(plan: EliminationPlan, tangent: Tangent, block: Floats, numbers: Floats) -> bool:
    """Fills in the matrix, without rods; ``block`` (n, 9): everything within nodes except bars.

    Returns whether anything couples nodes inside: not so for the lumped masses of a projection of velocities.
    """
    off, cross, bar_tangent = tangent.off, tangent.cross, tangent.bar_tangent
    for k in range(numbers.shape[0]):
        for c in range(9):
            numbers[k, c] = 0.0
    for i in range(block.shape[0]):
        for c in range(9):
            numbers[plan.own[i], c] = block[i, c]
    bars, is_coupled = tangent.ends.shape[0], False  # in any lane
    for e in range(bars):
        alpha = where(bar_tangent[ALPHA, e] < math.inf, bar_tangent[ALPHA, e], 0.0)
        coupling = off[e] if off.shape[0] > 0 else 0.0
        if every((alpha == 0.0) & (bar_tangent[GEOMETRIC, e] == 0.0) & (coupling == 0.0)):
            continue
        i, j = tangent.ends[e, 0], tangent.ends[e, 1]
        is_coupled = is_coupled | (plan.rank[i] < 0) | (plan.rank[j] < 0)
        first, second = plan.own[i], plan.own[j]
        across, back = plan.between[e, 0], plan.between[e, 1]
        for a in range(3):
            for c in range(3):
                value = alpha * bar_tangent[P + a, e] * bar_tangent[Q + c, e]
                if a == c:
                    value += bar_tangent[GEOMETRIC, e]
                numbers[first, 3 * a + c] += value
                numbers[second, 3 * a + c] += value
                if a == c:
                    value -= coupling
                numbers[across, 3 * a + c] -= value
                numbers[back, 3 * a + c] -= value
    for p in range(cross.shape[0]):
        for c in range(9):
            is_coupled = is_coupled | some((cross[p, c] != 0.0) | (cross[p, 9 + c] != 0.0))
            numbers[plan.between[bars + p, 0], c] += cross[p, c]
            numbers[plan.between[bars + p, 1], c] += cross[p, 9 + c]
    return is_coupled


@called_kernel
def solve_border(
    plan: EliminationPlan, bars: Bars, linear: LinearSystem, numbers: Floats, band: Floats, x: Floats
) -> bool:
    """du of the nodes of the border, and tau; False: the remaining matrix is singular.
    Multipliers are scaled to the size of the other entries."""
    start, column, factor, du, size = plan.start, plan.column, plan.factor, linear.du, 0.0
    begin, width = numbers.shape[0] - 1 - plan.inner.shape[0], (band.shape[1] - 1) // 3
    for i in range(band.shape[0]):
        x[i] = 0.0
        for j in range(band.shape[1]):
            band[i, j] = 0.0
    for k in range(plan.inner.shape[0]):
        for a in range(3):
            row = 3 * plan.inner[k, 0] + a
            for c in range(3):
                value, col = numbers[begin + k, 3 * a + c], 3 * plan.inner[k, 1] + c
                if every(value == 0.0):
                    continue
                for s in range(start[row], start[row + 1]):
                    for t in range(start[col], start[col + 1]):
                        band[column[s], column[t] - column[s] + width] += factor[s] * factor[t] * value
    if bars.rods.shape[0] > 0:
        size = largest_entry(width, band)
    size = where(size > 0.0, size, 1.0)
    for r in range(bars.rods.shape[0]):
        e, own = bars.rods[r], plan.multiplier[r]
        scale = size * bars.constants[INV_LENGTH, e]
        for m in range(2):
            way, dof = scale if m == 1 else -scale, 3 * plan.rank[bars.nodes[e, m]]
            if dof < 0:
                continue
            for a in range(3):
                for s in range(start[dof + a], start[dof + a + 1]):
                    to, part = column[s], way * factor[s]
                    band[to, own - to + width] += part * linear.tangent.bar_tangent[P + a, e]
                    band[own, to - own + width] += part * linear.tangent.bar_tangent[Q + a, e]
        x[own] -= size * bars.constants[INV_LENGTH, e] * linear.tangent.bar_tangent[GAP, e]
    for k in range(start.shape[0] - 1):
        for s in range(start[k], start[k + 1]):
            x[column[s]] += factor[s] * du[3 * plan.border[k // 3] + k % 3]
    is_safe = eliminate_rows(width, band, x)
    if not some(is_safe):
        return is_safe
    for k in range(start.shape[0] - 1):
        value = 0.0
        for s in range(start[k], start[k + 1]):
            value += factor[s] * x[column[s]]
        du[3 * plan.border[k // 3] + k % 3] = value
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        linear.tau[e] = size * bars.constants[INV_LENGTH, e] * x[plan.multiplier[r]]
    return is_safe


@inner_kernel
def largest_entry(width: int, band: Floats) -> float:
    largest = 0.0
    for i in range(band.shape[0]):
        for k in range(2 * width + 1):
            largest = max(largest, abs(band[i, k]))
    return largest


@called_kernel
def eliminate_rows(width: int, band: Floats, x: Floats) -> bool:
    """Solution in x, which holds the right-hand side; False where singular. ``band`` is overwritten.
    width  half of the band; one less than its rows: the matrix is full"""
    count, largest = band.shape[0], largest_entry(width, band)
    is_safe: bool = True
    for k in range(count):
        last_row = min(count - 1, k + width)
        last_column = min(count - 1, k + 2 * width)
        for i in range(k + 1, last_row + 1):
            is_larger = abs(band[i, k - i + width]) > abs(band[k, width])
            if some(is_larger):
                exchange(is_larger, k, i, last_column, width, band, x)
        is_safe = is_safe & (abs(band[k, width]) > SMALLEST_PIVOT * largest)
        if not some(is_safe):
            return is_safe
        inverse = 1.0 / band[k, width]
        for i in range(k + 1, last_row + 1):
            factor = band[i, k - i + width] * inverse
            if some(factor != 0.0):
                for j in range(k + 1, last_column + 1):
                    band[i, j - i + width] -= factor * band[k, j - k + width]
                x[i] -= factor * x[k]
    for k in range(count - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, min(count - 1, k + 2 * width) + 1):
            total -= band[k, j - k + width] * x[j]
        x[k] = total / band[k, width]
    return is_safe


@inner_kernel
def exchange(wanted: bool, k: int, i: int, last: int, width: int, band: Floats, x: Floats) -> None:
    """Rows k and i from column k to the last one, where that is wanted."""
    for j in range(k, last + 1):
        top, other = band[k, j - k + width], band[i, j - i + width]
        band[k, j - k + width], band[i, j - i + width] = where(wanted, other, top), where(wanted, top, other)
    top, other = x[k], x[i]
    x[k], x[i] = where(wanted, other, top), where(wanted, top, other)


RELATIVE_PIVOT = 1e-13
"""Without exchanges, a pivot below this fraction of its diagonal entry consists of rounding errors."""


@called_kernel
def solve_in_order(number: Ints, linear: LinearSystem, band: Floats, x: Floats) -> bool:
    """du by elimination without row exchanges, in a model without rods; False: a pivot is not positive.
    number (3n,)  equation of each dof, -1 fixed. Meanwhile ``du`` is a work array"""
    width, count = (band.shape[1] - 1) // 3, band.shape[0]
    fill_band(number, width, linear, band)
    for dof in range(number.shape[0]):
        if number[dof] >= 0:
            x[number[dof]] = linear.residual[dof]
    for k in range(count):
        band[k, 3 * width] = band[k, width]
    for k in range(count):
        pivot = band[k, width]
        if not every(pivot > RELATIVE_PIVOT * band[k, 3 * width]):
            return False
        take_out(k, width, 1.0 / pivot, band, x, linear.du)
    for k in range(count - 1, -1, -1):
        total = x[k]
        for j in range(1, min(count - 1 - k, width) + 1):
            total -= band[k, width + j] * x[k + j]
        x[k] = total / band[k, width]
    for dof in range(number.shape[0]):
        linear.du[dof] = x[number[dof]] if number[dof] >= 0 else 0.0
    return True


@inner_kernel
def take_out(k: int, width: int, inverse: float, band: Floats, x: Floats, row: Floats) -> None:
    """Subtracts row k from those below it; what lies right of its band is zero."""
    for s in range(WIDEST):
        row[s] = band[k, width + 1 + s]
    for i in range(1, min(band.shape[0] - 1 - k, width) + 1):
        factor, first = band[k + i, width - i] * inverse, width - i + 1
        if some(factor != 0.0):
            for s in range(WIDEST):
                band[k + i, first + s] -= factor * row[s]
            x[k + i] -= factor * x[k]


@inner_kernel
def fill_band(number: Ints, width: int, linear: LinearSystem, band: Floats) -> None:
    """Fills in the matrix."""
    tangent, block = linear.tangent, linear.block
    ends, bar_tangent, off, pairs, cross = tangent.ends, tangent.bar_tangent, tangent.off, tangent.pairs, tangent.cross
    for i in range(band.shape[0]):
        for j in range(band.shape[1]):
            band[i, j] = 0.0
    for i in range(block.shape[0]):
        place_block(3 * i, 3 * i, i, 0, block, number, width, band)
    for e in range(ends.shape[0]):
        i, j, alpha = 3 * ends[e, 0], 3 * ends[e, 1], bar_tangent[ALPHA, e]
        coupling = off[e] if off.shape[0] > 0 else 0.0
        for a in range(3):
            for c in range(3):
                value = alpha * bar_tangent[P + a, e] * bar_tangent[Q + c, e]
                value += bar_tangent[GEOMETRIC, e] if a == c else 0.0
                across = value - coupling if a == c else value
                place(number[i + a], number[i + c], value, width, band)
                place(number[j + a], number[j + c], value, width, band)
                place(number[i + a], number[j + c], -across, width, band)
                place(number[j + a], number[i + c], -across, width, band)
    for p in range(pairs.shape[0]):
        place_block(3 * pairs[p, 0], 3 * pairs[p, 1], p, 0, cross, number, width, band)
        place_block(3 * pairs[p, 1], 3 * pairs[p, 0], p, 9, cross, number, width, band)


@inner_kernel
def place_block(i: int, j: int, at: int, first: int, values: Floats, number: Ints, width: int, band: Floats) -> None:
    """Adds a block, rows from dof i, columns from dof j, which stands in a row of ``values`` from ``first``."""
    for a in range(3):
        row = number[i + a]
        for c in range(3 if row >= 0 else 0):
            column = number[j + c]
            if column >= 0:
                band[row, column - row + width] += values[at, first + 3 * a + c]


@inner_kernel
def place(row: int, column: int, value: float, width: int, band: Floats) -> None:
    """Adds an entry."""
    if row >= 0 and column >= 0:
        band[row, column - row + width] += value
