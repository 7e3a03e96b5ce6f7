"""Energy balance of an increment that steps over impacts: no energy rises by itself, and every loss has its rope."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.compiled import kernel
from fem.solve.newton.balance import close_increment, note_increment
from fem.solve.newton.evaluate import multiply_dampings, multiply_masses, stored_energy
from fem.solve.newton.groups import DISSIPATED, Passage
from fem.solve.step_system import StepSystem


@kernel
def close_with_losses(k: int, iterations: int, strain: float, lost: float, through: Passage) -> float:
    """Increment k into the balance and its row; lost: energy that impulses took. Returns the energy error."""
    problem, loading, motion = through.problem, through.loading, through.motion
    error: float = close_increment(through.scheme, k, strain, problem, loading, motion, through.work)
    motion.energies[DISSIPATED] += lost
    error += lost
    thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    note_increment(k, iterations, 0.0, 0.0, 0, error, problem, thermal, motion, through.record)
    return error


def put_in(k: int, stage: StepSystem, through: Passage, move: Floats, strain: float) -> tuple[float, float]:
    """Stored energy of the positions that ``move`` (3n,) has corrected, and what that put in, also against drag.

    strain: stored energy before
    """
    chunk, motion, work = through.loading, through.motion, through.work
    thermal = chunk.thermal_end[min(k + 1, len(chunk.thermal_end) - 1)]
    ends = stored_energy(float(chunk.time[k]), float(chunk.time[k + 1]), thermal, stage.problem, motion, work)
    now, mean = chunk.factors[k + 1], 0.5 * (chunk.factors[k] + chunk.factors[k + 1])
    given = ends - strain - float((np.where(chunk.is_gravity == 1, now, mean) @ chunk.vectors) @ move)
    if len(work.flow):
        way = work.u - motion.u
        loss = float(work.flow @ way)
        given += (max(loss, 0.0) if stage.problem.is_passive else loss) - float(work.flow @ (way - move))
    if len(stage.nodes.damping):
        multiply_dampings(stage.problem, 0.5 * (motion.v + work.v), work.momentum)
        given += float(work.momentum @ move)
    return ends, given


QUICKER = 1e-2
"""Fraction of the kinetic energy that may be given back to the motion of an increment."""


def take_from_motion(stage: StepSystem, energy: float) -> float:
    """Take energy from the velocities (a negative one is given back), as far as they have it; how much it was."""
    work = stage.work
    multiply_masses(stage.problem, work.v, work.momentum)
    kinetic = 0.5 * float(work.v @ work.momentum)
    taken = min(max(energy, -QUICKER * kinetic), kinetic)
    if kinetic > 0.0:
        work.v[:] *= np.sqrt(1.0 - taken / kinetic)
    return taken
