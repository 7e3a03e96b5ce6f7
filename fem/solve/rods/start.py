"""Velocities, accelerations and multipliers at the start of a dynamic step with rods.

    M a + G^T lambda = f_ext - f_int - C v,    G a = - |v_j - v_i|^2,    G v = 0

Source: Hairer & Wanner, Solving Ordinary Differential Equations II, ch. VII (consistent initial values).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Independent
from fem.errors import ModelError
from fem.forces.bar import Bars, senses
from fem.forces.laws import LINEAR
from fem.solve.linear.sparse.factors import solve_dense, solve_pivoting
from fem.solve.newton.groups import Motion
from fem.solve.rods.constraints import DENSE, SAME_RATE, dense, multiply, multiply_transposed, over_independent
from fem.solve.step_system import StepSystem


def refuse_stretching(stage: StepSystem, before: Floats, ropes: Ints) -> None:
    """ModelError where the deck's velocities ``before`` (3n,) change the length of a rod that is no rope.

    The state must have been evaluated into ``stage.work``.
    """
    rods = stage.bars.rods
    rate = np.where(np.isin(rods, ropes), 0.0, multiply(stage, before) / _lengths(stage))
    worst = int(np.abs(rate).argmax())
    if abs(rate[worst]) > SAME_RATE * float(np.abs(before).max(initial=0.0)):
        raise ModelError(
            f"{stage.system.name_bar(int(rods[worst]))} keeps its length, but the velocities at the start change it at "
            f"a rate of {rate[worst]:.6g}; give its nodes velocities of a rigid motion"
        )


def keep_rates(stage: StepSystem, motion: Motion, mass: Any) -> Floats:
    """Make velocities keep the lengths of rods: v' = v - M^-1 G^T mu with G v' = 0; the impulse mu (rods,)."""
    rate = multiply(stage, motion.v)
    if not np.any(rate):
        return np.zeros(len(rate))
    found = solve_saddle(stage, mass, np.zeros(stage.system.size), -rate, stage.nodes.dof_kind)
    if found is None:
        raise ModelError("rods pass on the jump of a support, but not all of their nodes have mass (*DENSITY, *MASS)")
    motion.v[:] += found[0]
    return found[1]


def consistent_velocities(stage: StepSystem, motion: Motion, mass: Any) -> str:
    """Make velocities keep the lengths of rods; returns a notice where supports set off with a jump.

    An impulse along the rods passes the jump on.
    """
    rate, speed = multiply(stage, motion.v), float(np.abs(motion.v).max(initial=0.0))
    if not np.any(rate):
        return ""
    keep_rates(stage, motion, mass)
    if np.abs(rate / _lengths(stage)).max() <= SAME_RATE * max(speed, float(np.abs(motion.v).max(initial=0.0))):
        return ""
    return "supports set off with a jump of velocity, which rods pass on to their nodes at once"


def _lengths(stage: StepSystem) -> Floats:
    """(rods,) of the gradients of rods: their lengths."""
    return np.asarray(np.sqrt((stage.work.tangent.bar_tangent[2:5, stage.bars.rods] ** 2).sum(axis=0)))


def consistent_accelerations(
    stage: StepSystem, motion: Motion, mass: Any, right: Floats, known: Floats, free: Ints
) -> bool:
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
    """|v_j - v_i|^2 of the rods (stops: minus that); zero where they are geometrically linear."""
    square = (relative(bars, v) ** 2).sum(axis=1)
    return np.where(bars.kinds[bars.rods, 0] == LINEAR, 0.0, senses(bars, bars.rods) * square)


def relative(bars: Bars, x: Floats) -> Floats:
    """(rods, 3) x_j - x_i."""
    ends = x.reshape(-1, 3)[bars.nodes[bars.rods]]
    return np.asarray(ends[:, 1] - ends[:, 0])


def solve_saddle(
    stage: StepSystem, mass: Any, right: Floats, target: Floats, free: Ints
) -> tuple[Floats, Floats] | None:
    """x (3n,) and lambda (rods,): M x + G^T lambda = right over the independent dofs, G x = target; None: singular."""
    coupling, dofs = over_independent(stage, free), Independent(free, stage.equations)
    matrix, count = dofs.matrix(mass), len(dofs.unknown)
    if np.any(matrix.diagonal() <= 0.0):
        return None
    whole = np.concatenate([dofs.load(right), target])
    if len(whole) <= DENSE:
        rows = dense(coupling)
        found = solve_dense(np.block([[dense(matrix), rows.T], [rows, np.zeros((len(rows), len(rows)))]]), whole)
    else:
        from scipy.sparse import block_array

        found = solve_pivoting(block_array([[matrix, coupling.T], [coupling, None]]).tocsc(), whole)
    return None if found is None else (dofs.spread(found[:count]), found[count:])
