"""Between bars and their two nodes: differences of nodal values, and forces back to the nodes.

Apart from the physics, because these indirect accesses are all that keeps it from running on vectors of bars.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel

# Indices that come out of arrays are unsigned: numba then has no negative ones to look after.
ONE, TWO = np.uintp(1), np.uintp(2)


@inner_kernel
def take_differences(
    first: int, last: int, at: int, row0: int, row1: int, row2: int, x: Floats, nodes: Ints, bar_tangent: Floats
) -> None:
    """x_j - x_i of the bars first..last into three rows of ``bar_tangent``, from column ``at`` on."""
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(at + number)
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        bar_tangent[row0, s] = x[j] - x[i]
        bar_tangent[row1, s] = x[j + ONE] - x[i + ONE]
        bar_tangent[row2, s] = x[j + TWO] - x[i + TWO]


@inner_kernel
def add_forces(
    first: int, last: int, at: int, row: int, factor: int, nodes: Ints, bar_tangent: Floats, force: Floats
) -> None:
    """Add the forces of the bars first..last to those of their nodes j, subtract them from those of i.

    They are the rows row, row + 1 and row + 2 of ``bar_tangent``, from column ``at`` on, times row ``factor`` (1 where
    that is negative).
    """
    for number in range(last - first):
        e, s = np.uintp(first + number), np.uintp(at + number)
        i = np.uintp(3 * nodes[e, 0])
        j = np.uintp(3 * nodes[e, 1])
        pull = bar_tangent[factor, s] if factor >= 0 else 1.0
        fx, fy, fz = pull * bar_tangent[row, s], pull * bar_tangent[row + 1, s], pull * bar_tangent[row + 2, s]
        force[i] -= fx
        force[i + ONE] -= fy
        force[i + TWO] -= fz
        force[j] += fx
        force[j + ONE] += fy
        force[j + TWO] += fz
