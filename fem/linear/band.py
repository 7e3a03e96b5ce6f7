"""Band Gaussian elimination with partial pivoting: narrow models, statics, and chains whose tangent is indefinite.

Rows are stored by diagonals: entry (i, j) of the matrix lies at ``band[i, j - i + width]``; row exchanges fill up to
``2 width`` entries to the right. Golub & Van Loan, Matrix Computations, 4.3.
"""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel

SMALLEST_PIVOT = 1e-14
"""A pivot below this fraction of the largest entry of the matrix is taken as singular."""


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
