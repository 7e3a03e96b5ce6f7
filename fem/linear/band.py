"""Band Gaussian elimination with partial pivoting: narrow models, statics, and chains whose tangent is indefinite.

Rows are stored by diagonals: entry (i, j) of the matrix lies at ``band[i, j - i + width]``; row exchanges fill up to
``2 width`` entries to the right. Golub & Van Loan, Matrix Computations, 4.3.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, INV_LENGTH, Bars, P, Q
from fem.forces.protocol import Tangent
from fem.linear.chain import LinearSystem

SMALLEST_PIVOT = 1e-14
"""A pivot below this fraction of the largest entry of the matrix is taken as singular."""


@called_kernel
def assemble_band(width: int, equation: Ints, bars: Bars, tangent: Tangent, block: Floats, band: Floats) -> float:
    """Effective tangent on the free dofs; ``equation`` gives the row of a dof, -1 where it is fixed.

    Behind the dofs ``equation`` holds the rows of multipliers. These are scaled to the size of the other entries:
    returns that size.

    ``block`` (n, 9) holds everything within one node but the bars.
    """
    nodes, bar_tangent, off, pairs, cross = tangent.ends, tangent.bar_tangent, tangent.off, tangent.pairs, tangent.cross
    for row in range(band.shape[0]):
        for column in range(band.shape[1]):
            band[row, column] = 0.0
    for i in range(block.shape[0]):
        for a in range(3):
            row = equation[3 * i + a]
            for c in range(3):
                column = equation[3 * i + c]
                if row >= 0 and column >= 0:
                    band[row, column - row + width] += block[i, 3 * a + c]
    for e in range(nodes.shape[0]):
        coupling = off[e] if off.shape[0] > 0 else 0.0
        alpha = bar_tangent[ALPHA, e] if bar_tangent[ALPHA, e] < np.inf else 0.0
        for a in range(3):
            for c in range(3):
                value = alpha * bar_tangent[P + a, e] * bar_tangent[Q + c, e]
                if a == c:
                    value += bar_tangent[GEOMETRIC, e]
                for m in range(2):
                    row = equation[3 * nodes[e, m] + a]
                    if row < 0:
                        continue
                    column = equation[3 * nodes[e, m] + c]
                    if column >= 0:
                        band[row, column - row + width] += value
                    column = equation[3 * nodes[e, 1 - m] + c]
                    if column >= 0:
                        band[row, column - row + width] -= value - (coupling if a == c else 0.0)
    for p in range(pairs.shape[0]):
        for a in range(3):
            for c in range(3):
                for m in range(2):
                    row, column = equation[3 * pairs[p, m] + a], equation[3 * pairs[p, 1 - m] + c]
                    if row >= 0 and column >= 0:
                        band[row, column - row + width] += cross[p, 9 * m + 3 * a + c]
    if bars.rods.shape[0] == 0:
        return 1.0
    size = largest_entry(width, band)
    if size == 0.0:
        size = 1.0
    couple_rods(width, equation, bars, bar_tangent, size, band)
    return size


@inner_kernel
def couple_rods(width: int, equation: Ints, bars: Bars, bar_tangent: Floats, size: float, band: Floats) -> None:
    """Rows and columns of the multipliers: + p, + q at the second node of a rod, - at the first."""
    dofs = equation.shape[0] - bars.nodes.shape[0]
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        scale = size * bars.constants[INV_LENGTH, e]
        multiplier = equation[dofs + e]
        for m in range(2):
            side = scale if m == 1 else -scale
            for a in range(3):
                row = equation[3 * bars.nodes[e, m] + a]
                if row >= 0:
                    band[row, multiplier - row + width] += side * bar_tangent[P + a, e]
                    band[multiplier, row - multiplier + width] += side * bar_tangent[Q + a, e]


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

    width  half of the band; one less than its rows: the matrix is full
    """
    count, largest = band.shape[0], largest_entry(width, band)
    for k in range(count):
        last_row = min(count - 1, k + width)
        last_column = min(count - 1, k + 2 * width)
        best = k
        for i in range(k + 1, last_row + 1):
            if abs(band[i, k - i + width]) > abs(band[best, k - best + width]):
                best = i
        if not abs(band[best, k - best + width]) > SMALLEST_PIVOT * largest:
            return False
        if best != k:
            for j in range(k, last_column + 1):
                top = band[k, j - k + width]
                band[k, j - k + width] = band[best, j - best + width]
                band[best, j - best + width] = top
            top = x[k]
            x[k] = x[best]
            x[best] = top
        inverse = 1.0 / band[k, width]
        for i in range(k + 1, last_row + 1):
            factor = band[i, k - i + width] * inverse
            if factor != 0.0:
                for j in range(k + 1, last_column + 1):
                    band[i, j - i + width] -= factor * band[k, j - k + width]
                x[i] -= factor * x[k]
    for k in range(count - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, min(count - 1, k + 2 * width) + 1):
            total -= band[k, j - k + width] * x[j]
        x[k] = total / band[k, width]
    return True


@called_kernel
def solve_band(
    width: int, equation: Ints, bars: Bars, size: float, linear: LinearSystem, band: Floats, x: Floats
) -> bool:
    """Solve for du (3n,), zero at fixed dofs, and the multipliers tau (m,); False where singular.

    ``size``: scale of the multipliers' entries; ``band`` is overwritten, x (its rows) scratch.
    """
    residual, du, tau = linear.residual, linear.du, linear.tau
    dofs, bar_tangent = equation.shape[0] - bars.nodes.shape[0], linear.tangent.bar_tangent
    for dof in range(dofs):
        if equation[dof] >= 0:
            x[equation[dof]] = residual[dof]
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        x[equation[dofs + e]] = -size * bars.constants[INV_LENGTH, e] * bar_tangent[GAP, e]
    if not eliminate_rows(width, band, x):
        return False
    for dof in range(dofs):
        du[dof] = x[equation[dof]] if equation[dof] >= 0 else 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        tau[e] = size * bars.constants[INV_LENGTH, e] * x[equation[dofs + e]]
    return True


@called_kernel
def solve_in_band(equation: Ints, bars: Bars, linear: LinearSystem, band: Floats, x: Floats) -> bool:
    """``assemble_band`` and ``solve_band``."""
    width = (band.shape[1] - 1) // 3
    size = assemble_band(width, equation, bars, linear.tangent, linear.block, band)
    return solve_band(width, equation, bars, size, linear, band, x)
