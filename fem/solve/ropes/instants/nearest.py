"""Positions after increments that leave ropes too long: the nearest ones at which none is.

With gaps g = (l^2 - L0^2)/2 and gradients G of rods and ropes, u moves by the least -M^-1 G^T mu for which

    g = 0 for rods and ropes that hold;    g <= 0, mu >= 0, one of them zero for ropes that are let go

which is no more than the local error of the increment. Velocities stay; energies are those of the new positions.
Source: Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. IV.4 (projection methods).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Flags
from fem.forces.bars.bar import INV_LENGTH
from fem.solve.newton import groups
from fem.solve.newton.groups import Loading, Motion
from fem.solve.rods.constraints import gaps
from fem.solve.ropes.instants.complementarity import NoPulls, complementarity
from fem.solve.ropes.instants.network import Network
from fem.solve.start import energy_stored, evaluate_start
from fem.solve.step_system import StepSystem

CLOSED = 1e-13
"""Strain to which lengths are brought back."""
MOST_MOVES = 50


def move_to_nearest(stage: StepSystem, motion: Motion, now: Loading, mass: Any, may_shorten: Flags) -> None:
    """Move ``motion.u``, with the stored and potential energies that it has. NoPulls: nothing brings lengths back.

    stage            its ``bars.rods`` are the rods and the ropes that hold or are too long
    now              loads as of one increment that starts now
    may_shorten (r,) of these: the ropes that are let go
    """
    evaluate_start(stage, motion, now)
    try:
        _move(stage, motion, now, mass, may_shorten)
    except NoPulls as error:
        error.bar = int(stage.bars.rods[error.worst])
        raise
    energies, weights = motion.energies, now.factors[0] * now.is_gravity
    energies[groups.STRAIN] = energy_stored(stage, motion, now)
    energies[groups.POTENTIAL] = -float(weights @ (now.vectors @ motion.u)) if len(weights) else 0.0


def _move(stage: StepSystem, motion: Motion, now: Loading, mass: Any, may_shorten: Flags) -> None:
    """Newton's iteration, with the gradients of its start."""
    square, network = 1.0 / stage.bars.constants[INV_LENGTH, stage.bars.rods] ** 2, Network(stage, mass)
    for _ in range(MOST_MOVES):
        gap, strain = gaps(stage)
        off = np.where(may_shorten, np.maximum(strain, 0.0), np.abs(strain))
        if off.max(initial=0.0) <= CLOSED:
            return
        pull, _ = complementarity(network.compliance, gap, may_shorten, CLOSED * square)
        motion.u[:] += network.change(pull)
        evaluate_start(stage, motion, now)
    raise NoPulls(int(off.argmax()))
