"""The arrays of perturbations that are carried along a motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.forces.bars.bar import Bars
from fem.solve.newton.groups import room

# Rows of a perturbation: displacement, velocity, acceleration of the recursion, internal force, a room for what is
# known beforehand, and, where there are rods, acceleration of the end
DU, DV, DA, DF, KNOWN, END = 0, 1, 2, 3, 4, 5
ROWS = 6
# Rows of Variation.state: u, v, a at the start of the increment, v at its end before it is projected onto rods
START_U, START_V, START_A, UNPROJECTED = 0, 1, 2, 3
# Entries of Variation.counter
WRITTEN, SINCE, WHOLE = 0, 1, 2


class Variation(NamedTuple):
    """k perturbations of a motion, and how they grow.

    vectors (k, ROWS, 3n)  the perturbations
    state   (4, 3n)        room: what the march forgets of an increment
    pull    (3, m)         room: multipliers that the projections of velocities and accelerations found (rows DV, DA)
    growth  (r, k + 1)     out: logarithms of growth between two orthonormalisations; last column: the time between them
    counter (3,)           rows of ``growth`` written, increments since the last orthonormalisation; 1 where they keep
                           the velocities along rods that ENERGY MOMENTUM leaves undamped, else 0
    """

    vectors: Floats
    state: Floats
    pull: Floats
    growth: Floats
    counter: Ints


def new_variation(count: int, size: int, bars: Bars, moving: Floats, seed: int) -> Variation:
    """``count`` random perturbations of displacement and velocity in the directions that may move; no room for growth.

    size  3n;  moving (3n,) 1.0 where a dof is free
    """
    vectors = room((count, ROWS, size))
    vectors[:, : DV + 1] = np.random.default_rng(seed).standard_normal((count, 2, size)) * moving
    return Variation(
        vectors, room((4, size)), room((3, len(bars.nodes))), np.zeros((0, count + 1)), np.zeros(3, np.int64)
    )
