"""Velocities, accelerations and multipliers at the start of a dynamic step with rods.

    M a + G^T lambda = f_ext - f_int - C v,    G a = - |v_j - v_i|^2,    G v = 0

Source: Hairer & Wanner, Solving Ordinary Differential Equations II, ch. VII (consistent initial values).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.constraints import reduction
from fem.errors import ModelError
from fem.mechanics.bar import Bars
from fem.mechanics.strain import LINEAR
from fem.solve.linear.factors import solve_dense, solve_pivoting
from fem.solve.newton.groups import Motion
from fem.solve.rods.constraints import DENSE, SAME_RATE, multiply, multiply_transposed, over_independent
from fem.solve.stage import Stage


def consistent_velocities(stage: Stage, motion: Motion, before: Floats | None, mass: Any) -> str:
    """Make velocities keep the lengths of rods; returns a notice where supports set off with a jump.

    before  (3n,) the deck's velocities, without what supports do from now on; ModelError where they change lengths.
            None in later steps, whose velocities are those of a march (which may keep lengths in the middle of
            increments only)

    An impulse along the rods passes the jump on: v' = v - M^-1 G^T mu with G v' = 0.
    """
    length = np.sqrt((stage.work.store[2:5, stage.bars.rods] ** 2).sum(axis=0))
    speed, wrong = 0.0, np.zeros(0, np.int64)
    if before is not None:
        speed, rate = float(np.abs(before).max(initial=0.0)), multiply(stage, before)
        wrong = np.flatnonzero(np.abs(rate) > SAME_RATE * length * speed)
    if len(wrong):
        worst = wrong[np.abs(rate[wrong] / length[wrong]).argmax()]
        raise ModelError(
            f"{stage.system.name_bar(int(stage.bars.rods[worst]))} keeps its length, but the velocities at the start "
            f"change it at a rate of {rate[worst] / length[worst]:.6g}; give its nodes velocities of a rigid motion"
        )
    rate = multiply(stage, motion.v)
    if not np.any(rate):
        return ""
    change = solve_saddle(stage, mass, np.zeros(stage.system.size), -rate, stage.nodes.free)
    if change is None:
        raise ModelError("rods pass on the jump of a support, but not all of their nodes have mass (*DENSITY, *MASS)")
    motion.v[:] += change[0]
    if np.abs(rate / length).max() <= SAME_RATE * max(speed, float(np.abs(motion.v).max(initial=0.0))):
        return ""
    return "supports set off with a jump of velocity, which rods pass on to their nodes at once"


def consistent_accelerations(stage: Stage, motion: Motion, mass: Any, right: Floats, known: Floats, free: Ints) -> bool:
    """Write a_0 and the multipliers' forces into ``motion``; False where the mass of the free dofs is singular.

    right  (3n,) f_ext - f_int - C v - M (known accelerations);  known (3n,)  accelerations of supports
    """
    target = -centripetal(stage.bars, motion.v) - multiply(stage, known)
    found = solve_saddle(stage, mass, right, target, free)
    if found is None:
        return False
    motion.a[:] = known + found[0]
    motion.multiplier[stage.bars.rods] += found[1]
    motion.force[:] += multiply_transposed(stage, found[1])
    return True


def centripetal(bars: Bars, v: Floats) -> Floats:
    """|v_j - v_i|^2 of the rods; zero where they are geometrically linear."""
    return np.where(bars.kinds[bars.rods, 0] == LINEAR, 0.0, (relative(bars, v) ** 2).sum(axis=1))


def relative(bars: Bars, x: Floats) -> Floats:
    """(rods, 3) x_j - x_i."""
    ends = x.reshape(-1, 3)[bars.nodes[bars.rods]]
    return np.asarray(ends[:, 1] - ends[:, 0])


def solve_saddle(stage: Stage, mass: Any, right: Floats, target: Floats, free: Ints) -> tuple[Floats, Floats] | None:
    """x (3n,) and lambda (rods,): M x + G^T lambda = right over the independent dofs, G x = target; None: singular."""
    coupling = over_independent(stage, free)
    transform: Any = reduction(free, stage.links) if len(stage.links.slave) else None
    unknown = np.flatnonzero(free == 1)
    if transform is None:
        matrix, load = mass[unknown][:, unknown], right[unknown]
    else:
        matrix, load = transform.T @ mass @ transform, transform.T @ right
    if np.any(matrix.diagonal() <= 0.0):
        return None
    is_small = len(unknown) + len(target) <= DENSE
    found = (_solve_small if is_small else _solve_large)(matrix, coupling, np.concatenate([load, target]))
    if found is None:
        return None
    x = np.zeros(stage.system.size)
    if transform is None:
        x[unknown] = found[: len(unknown)]
    else:
        x[:] = transform @ found[: len(unknown)]
    return x, found[len(unknown) :]


def _solve_small(matrix: Any, coupling: Any, right: Floats) -> Floats | None:
    matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    rows = coupling if isinstance(coupling, np.ndarray) else coupling.toarray()
    return solve_dense(np.block([[matrix, rows.T], [rows, np.zeros((len(rows), len(rows)))]]), right)


def _solve_large(matrix: Any, coupling: Any, right: Floats) -> Floats | None:
    from scipy.sparse import block_array

    return solve_pivoting(block_array([[matrix, coupling.T], [coupling, None]]).tocsc(), right)
