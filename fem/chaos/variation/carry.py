"""March, and carry perturbations along: what increments do to them, and how they grow.

Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9-30: k perturbations are made orthonormal again every few
increments; the means of the logarithms of their lengths are the k largest Lyapunov exponents.
"""

from __future__ import annotations

import math

from fem.arrays import Floats, Ints
from fem.chaos.variation.groups import DU, DV, SINCE, START_A, START_U, START_V, WRITTEN, Variation
from fem.chaos.variation.linearise import vary
from fem.compiled import inner_kernel, kernel
from fem.solve.newton.groups import DONE, INCREMENT, NEED_SOLVE, Motion, Passage
from fem.solve.newton.march import march
from fem.solve.statics.arc import Arc


@kernel
def carry(every: int, unit: float, control: Ints, arc: Arc, through: Passage, variation: Variation) -> int:
    """``march`` with perturbations, orthonormal again after ``every`` increments; returns why it stopped.

    unit   time in which displacements are counted as velocities; no exponent depends on it
    Up to an increment with an event of ropes, which are watched as ``march`` does (``saltation.py`` goes past it).
    Needs a compiled linear solver: NEED_SOLVE means that there is none, or that it met no safe pivot.
    """
    dt = through.loading.dt
    while control[INCREMENT] < dt.shape[0]:
        k = control[INCREMENT]
        remember(through.scheme.lags, through.motion, variation.state)
        reason = march(k + 1, control, arc, through)
        if control[INCREMENT] == k:
            return reason
        if not vary(k, through, variation):
            return NEED_SOLVE
        row = variation.counter[WRITTEN]
        variation.growth[row, variation.vectors.shape[0]] += dt[k]
        variation.counter[SINCE] += 1
        if variation.counter[SINCE] >= every:
            orthonormalise(row, unit, variation.vectors, variation.growth)
            variation.counter[WRITTEN] += 1
            variation.counter[SINCE] = 0
        if reason != DONE:
            return reason
    return DONE


@inner_kernel
def remember(lags: bool, motion: Motion, state: Floats) -> None:
    """What the increment starts from."""
    for dof in range(motion.u.shape[0]):
        state[START_U, dof] = motion.u[dof]
        state[START_V, dof] = motion.v[dof]
        state[START_A, dof] = motion.lagged[dof] if lags else motion.a[dof]


@inner_kernel
def orthonormalise(row: int, unit: float, vectors: Floats, growth: Floats) -> None:
    """Gram and Schmidt, one vector after the other; what is dependent on those before grows by minus infinity."""
    inverse = 1.0 / (unit * unit)
    for j in range(vectors.shape[0]):
        for i in range(j):
            shared = 0.0
            for dof in range(vectors.shape[2]):
                shared += (
                    inverse * vectors[i, DU, dof] * vectors[j, DU, dof] + vectors[i, DV, dof] * vectors[j, DV, dof]
                )
            for c in range(vectors.shape[1]):
                for dof in range(vectors.shape[2]):
                    vectors[j, c, dof] -= shared * vectors[i, c, dof]
        square = 0.0
        for dof in range(vectors.shape[2]):
            square += inverse * vectors[j, DU, dof] ** 2 + vectors[j, DV, dof] ** 2
        growth[row, j] = 0.5 * math.log(square) if square > 0.0 else -math.inf
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        for c in range(vectors.shape[1]):
            for dof in range(vectors.shape[2]):
                vectors[j, c, dof] *= scale
