"""Small dense systems in kernels: elimination by Gauss and Jordan, with row exchanges."""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import called_kernel

SMALLEST_PIVOT = 1e-11
"""A pivot below this fraction of the largest entry is unsafe."""


@called_kernel
def eliminate(count: int, width: int, matrix: Floats) -> bool:
    """For [A B] with ``count`` rows and ``width`` columns, replaces B by A^-1 B. False: A is nearly singular."""
    largest = 0.0
    for i in range(count):
        for j in range(count):
            largest = max(largest, abs(matrix[i, j]))
    for k in range(count):
        best = k
        for i in range(k + 1, count):
            best = i if abs(matrix[i, k]) > abs(matrix[best, k]) else best
        if not abs(matrix[best, k]) > SMALLEST_PIVOT * largest:
            return False
        inverse = 1.0 / matrix[best, k]
        for j in range(k, width):
            top = matrix[best, j] * inverse
            matrix[best, j] = matrix[k, j]
            matrix[k, j] = top
        for i in range(count):
            factor = matrix[i, k]
            for j in range(k + 1, width if i != k and factor != 0.0 else 0):
                matrix[i, j] -= factor * matrix[k, j]
    return True
