"""Energy balance of an increment that steps over impacts: no energy rises by itself, and every loss has its rope."""

from __future__ import annotations

import numpy as np

from fem.compiled import kernel
from fem.forces.mass import multiply_mass
from fem.solve.newton.balance import close_increment, note_increment
from fem.solve.newton.groups import DISSIPATED, Loading, Motion, Problem, Record, Scratch
from fem.solve.schemes.coefficients import Coefficients
from fem.solve.step_system import StepSystem


@kernel
def close_with_losses(
    row: Coefficients, k: int, iterations: int, strain: float, lost: float, problem: Problem, loading: Loading,
    motion: Motion, work: Scratch, record: Record,
) -> float:  # fmt: skip
    """Increment k into the balance and its row; lost: energy that impulses took. Returns the energy error."""
    error: float = close_increment(row, k, strain, problem, loading, motion, work)
    motion.energies[DISSIPATED] += lost
    error += lost
    thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    note_increment(k, iterations, 0.0, 0.0, 0, error, problem, thermal, motion, record)
    return error


QUICKER = 1e-2
"""Fraction of the kinetic energy that may be given back to the motion of an increment."""


def take_from_motion(stage: StepSystem, energy: float) -> float:
    """Take energy from the velocities (a negative one is given back), as far as they have it; how much it was."""
    work, bars = stage.work, stage.bars
    multiply_mass(stage.nodes.mass, bars.off_mass, bars.nodes, work.v, work.momentum)
    kinetic = 0.5 * float(work.v @ work.momentum)
    taken = min(max(energy, -QUICKER * kinetic), kinetic)
    if kinetic > 0.0:
        work.v[:] *= np.sqrt(1.0 - taken / kinetic)
    return taken
