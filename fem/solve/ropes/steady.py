"""Increments of Moreau-Jean time stepping without changes of state, in machine code.

``steady`` computes the increments of a chunk by the law of ``moreau.py`` and stops before one that Python must compute:
a rope or contact reaches its length, begins or ceases to pull, a length must be corrected, conserved momenta must be
restored, or pulls are not found at once. The state is then that before this increment. Matrices are dense.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import expand
from fem.compiled import called_kernel, inner_kernel, kernel, shared_kernel
from fem.forces.bar import BASE, FRICTION, INV_LENGTH, PLUS, REF, Bars, sense
from fem.forces.laws import LINEAR
from fem.linear.dense import eliminate
from fem.linear.sparse import Pattern, fill_values
from fem.solve.newton import evaluate, groups
from fem.solve.newton.balance import close_increment, has_drifted, note_increment, note_ranges
from fem.solve.newton.gaps import gap_of
from fem.solve.newton.groups import CONTROL, ENERGY, LIMIT, Loading, Passage, Problem, Scratch, room
from fem.solve.newton.iterate import largest, largest_move, residual
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.ropes.cones import ALLOWED, PULL, RIGHT, Cones, cones_of, find_pulls
from fem.solve.ropes.instants import SLOW
from fem.solve.step_system import StepSystem

AT_LENGTH = 1e-6
"""Strain from which on a rope counts as being at its length."""
CLOSED = 1e-11
"""Largest strain that remains after the correction of positions."""
ROUND_OFF = 1e-11
"""Rounding error of rates of lengths, as a fraction of the largest velocity."""
TURNS = 2
"""Number of guesses of the increment in which gradients are updated."""
SMALL = 1e-10
"""The iteration ends when corrections of the elastic parts are below this fraction of the motion in the increment."""
NEGLIGIBLE = 1e-15
"""Corrections below this fraction of displacements, and of the shortest elastic bar, are rounding errors: at rest all
corrections are."""
QUICKER = 1e-2
"""Largest fraction of the kinetic energy that may be returned to the motion in an increment."""
MOST = 60
"""Largest number of independent dofs, and of pulls in an increment, for dense matrices."""


@kernel
def begin(k: int, through: Passage, v0: Floats) -> None:
    """Sets the trial state and all constant quantities of increment k; v0 (3n,): first velocities."""
    problem, loading, motion, work = through.problem, through.loading, through.motion, through.work
    dt, nodes, supports = loading.dt[k], problem.nodes, loading.support_dofs
    for dof in range(v0.shape[0]):
        v0[dof] = motion.v[dof]
    for s in range(supports.shape[0]):
        v0[supports[s]] = loading.support_start[k, s]
    expand(problem.equations, v0)
    evaluate.combine(loading.vectors, loading.weighted, k, work.load)
    if nodes.directed_mass.shape[0] > 0:
        evaluate.foresee_masses(through.scheme, k, problem, loading, motion, work.momentum)
    evaluate.inertia_forces(problem, v0, v0, work.inertia, work.damping_force)
    for dof in range(v0.shape[0]):
        work.known_force[dof] = work.load[dof]
        work.u[dof], work.v[dof] = motion.u[dof], -nodes.mask[dof] * v0[dof]
        work.a[dof] = -2.0 / dt * nodes.mask[dof] * v0[dof]
    for dof in range(nodes.damping.shape[0]):
        work.known_force[dof] -= 0.5 * work.damping_force[dof]
    for s in range(supports.shape[0]):
        dof = supports[s]
        work.u[dof], work.v[dof] = loading.support_u[k, s], loading.support_v[k, s]
        work.a[dof] = loading.support_a[k, s]
    expand(problem.equations, work.u)
    expand(problem.equations, work.v)
    expand(problem.equations, work.a)
    for e in range(problem.bars.off_mass.shape[0]):
        work.tangent.off[e] = 2.0 / (dt * dt) * problem.bars.off_mass[e] + problem.bars.off_damping[e] / dt


@kernel
def linearise(k: int, through: Passage) -> float:
    """Forces without those of ropes and rods, the residual, and the tangent; returns the stored energy."""
    problem, loading, work = through.problem, through.loading, through.work
    for e in range(work.multiplier.shape[0]):
        work.multiplier[e] = 0.0
    strain: float = evaluate.evaluate_increment(through.scheme, k, problem, loading, through.motion, work)
    residual(through.scheme, problem, work)
    nodal_blocks(through.scheme, loading.dt[k], problem, work)
    return strain


@kernel
def close_with_losses(k: int, iterations: int, strain: float, lost: float, through: Passage) -> float:
    """Enters increment k into the balance and its row; lost: energy lost to impulses. Returns the energy error."""
    problem, loading, motion = through.problem, through.loading, through.motion
    error: float = close_increment(through.scheme, k, strain, problem, loading, motion, through.work)
    motion.energies[ENERGY.dissipated] += lost
    error += lost
    thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    note_increment(k, iterations, 0.0, 0.0, 0, error, problem, thermal, motion, through.record)
    if through.record.watched.shape[0] > 0:
        note_ranges(problem, motion.u, motion.memory, through.record)
    return error


@kernel
def support_lag(k: int, loading: Loading, u: Floats, v0: Floats, lag: Floats) -> None:
    """lag (3n,): mean velocity of supports over increment k less the mean of the velocities at its ends."""
    for dof in range(lag.shape[0]):
        lag[dof] = 0.0
    for s in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[s]
        lag[dof] = (loading.support_u[k, s] - u[dof]) / loading.dt[k] - 0.5 * (v0[dof] + loading.support_v[k, s])


@kernel
def take_from_motion(energy: float, drift: Floats, problem: Problem, work: Scratch) -> float:
    """Takes energy from the velocities (or adds a negative one), as far as available; returns the amount.
    drift (3n,): the part of the velocities with the conserved momenta"""
    kinetic = 0.0
    for dof in range(drift.shape[0]):
        work.v[dof] -= drift[dof]
    evaluate.multiply_masses(problem, work.v, work.momentum)
    for dof in range(drift.shape[0]):
        kinetic += 0.5 * work.v[dof] * work.momentum[dof]
    taken = min(max(energy, -QUICKER * kinetic), kinetic)
    part = math.sqrt(1.0 - taken / kinetic) if kinetic > 0.0 else 1.0
    for dof in range(drift.shape[0]):
        work.v[dof] = part * work.v[dof] + drift[dof]
    return taken


class Desk(NamedTuple):
    """Data and work arrays of steady increments; r bars that may pull, u independent dofs, q pulls of an increment.

    lengths, one_sided, pulls, holds (r,), spare (1,)  as in ``Moreau`` (lengths: ``index``)
    tangents (r, 2, 3)  of planes, as long as their normals
    is_elastic, shortest, keeps  there are elastic elements, too; their shortest bar; momenta are conserved
    pattern, first, place, values  the effective tangent by columns
    unknown (u,)    independent dofs;  system (u, u + 1 + q) tangent, residual, gradients;  rows (q, u) these
    near, bar (q,), way (q, 3)  of the active lengths, the first tangents of contacts, the second ones: index among
                    the r bars; bar, gradient
    cones, vectors (3, 3n)  the law of pulls; room, the last of zeros
    """

    lengths: Ints
    one_sided: Flags
    pulls: Flags
    holds: Flags
    spare: Floats
    tangents: Floats
    is_elastic: bool
    shortest: float
    keeps: bool
    pattern: Pattern
    first: Ints
    place: Ints
    values: Floats
    unknown: Ints
    system: Floats
    rows: Floats
    near: Ints
    bar: Ints
    way: Floats
    cones: Cones
    vectors: Floats


def desk_of(
    stage: StepSystem, index: Ints, one_sided: Flags, tangents: Floats, is_elastic: bool, shortest: float, keeps: bool
) -> Desk | None:
    """The desk of a small model without equations between dofs; None for others."""
    unknown, flags = np.flatnonzero(stage.nodes.dof_kind == 1), np.zeros(len(index), np.bool_)
    size, pulls = len(unknown), min(len(index) + 2 * int(tangents.any(axis=(1, 2)).sum()), MOST)
    if not 0 < size <= MOST or len(stage.equations.slave):
        return None
    tangent, ints = stage.tangent, np.zeros(pulls, np.int64)
    return Desk(
        index, one_sided, flags, flags.copy(), np.zeros(1), tangents, is_elastic, shortest, keeps,
        tangent.pattern, tangent.indptr.astype(np.int64), tangent.indices.astype(np.int64),
        room(len(tangent.indices)), unknown, room((size, size + 1 + pulls)), room((pulls, size)),
        ints, ints.copy(), room((pulls, 3)), cones_of(pulls), room((3, len(stage.nodes.mass))),
    )  # fmt: skip


@inner_kernel
def rate(row: int, desk: Desk, bars: Bars, x: Floats) -> float:
    """Rate of a length, or slip of a contact, for a motion x of the dofs."""
    i, j = 3 * bars.nodes[desk.bar[row], 0], 3 * bars.nodes[desk.bar[row], 1]
    total = 0.0
    for c in range(3):
        total += desk.way[row, c] * (x[j + c] - x[i + c])
    return total


@inner_kernel
def turn(row: int, desk: Desk, bars: Bars, u: Floats) -> None:
    """Writes the gradient of a length at u."""
    e = desk.bar[row]
    i, j, first = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], BASE if bars.kinds[e, 0] == LINEAR else REF
    for c in range(3):
        moved = 0.0 if first == BASE else u[j + c] - u[i + c]
        desk.way[row, c] = sense(bars.constants[PLUS, e]) * (bars.constants[first + c, e] + moved)


@called_kernel
def find_near(bars: Bars, middle: Floats, v0: Floats, u: Floats, desk: Desk) -> tuple[int, int]:
    """Number of active lengths in an increment, and of contacts with friction among them; -1: for Python."""
    count, contacts, most, speed = 0, 0, desk.bar.shape[0], largest(v0)
    for r in range(desk.lengths.shape[0]):
        e, pulls = desk.lengths[r], desk.pulls[r] or not desk.one_sided[r]
        length = 1.0 / bars.constants[INV_LENGTH, e]
        is_away = desk.one_sided[r] and gap_of(e, middle, bars) <= -AT_LENGTH * length * length
        if (pulls and (is_away or desk.keeps)) or count == most:
            return -1, 0
        if is_away:
            continue
        desk.near[count], desk.bar[count], desk.cones.one_sided[count] = r, e, desk.one_sided[r]
        turn(count, desk, bars, u)
        if desk.one_sided[r] and not desk.holds[r] and rate(count, desk, bars, v0) > SLOW * length * speed:
            return -1, 0
        count += 1
        contacts += 1 if bars.constants[FRICTION, e] > 0.0 else 0
    if count + 2 * contacts > most:
        return -1, 0
    row, cones = count, desk.cones
    for c in range(count):
        r, e = desk.near[c], desk.bar[c]
        turn(c, desk, bars, middle)
        if bars.constants[FRICTION, e] > 0.0:
            for t in range(2):
                own = row + t * contacts
                desk.near[own], desk.bar[own] = r, e
                cones.contact[own], cones.friction[own] = c, bars.constants[FRICTION, e]
                for axis in range(3):
                    desk.way[own, axis] = desk.tangents[r, t, axis]
            row += 1
    return count, contacts


@called_kernel
def find_change(
    count: int, contacts: int, dt: float, noise: float, v0: Floats, bars: Bars, desk: Desk, work: Scratch
) -> bool:
    """Pulls of a guess; the change of independent dofs is written into column u of ``system``. False: not found at
    once. noise: rounding error of rates of lengths"""
    system, rows, numbers, unknown = desk.system, desk.rows, desk.cones.numbers, desk.unknown
    size, most = unknown.shape[0], count + 2 * contacts
    fill_values(desk.pattern, work.tangent, work.block, desk.values)
    for s in range(size):
        node, axis = unknown[s] // 3, unknown[s] % 3
        for t in range(size):
            system[s, t] = 0.0
        system[s, size] = work.residual[unknown[s]]
        for row in range(most):
            i, j, way = bars.nodes[desk.bar[row], 0], bars.nodes[desk.bar[row], 1], desk.way[row, axis]
            rows[row, s] = (way if j == node else 0.0) - (way if i == node else 0.0)
            system[s, size + 1 + row] = rows[row, s]
    for t in range(size):
        for m in range(desk.first[t], desk.first[t + 1]):
            system[desk.place[m], t] = desk.values[m]
    if not eliminate(size, size + 1 + most, system):
        return False
    for row in range(most):
        for column in range(size, size + 1 + most):
            value = 0.0
            for s in range(size):
                value += 2.0 / dt * rows[row, s] * system[s, column]
            if column > size:
                desk.cones.compliance[row, column - size - 1] = value
            else:
                bound = -rate(row, desk, bars, v0) if row < count else 0.0
                numbers[RIGHT, row] = rate(row, desk, bars, work.v) + value - bound
        numbers[ALLOWED, row] = noise / bars.constants[INV_LENGTH, desk.bar[row]]
    if not find_pulls(count, contacts, desk.cones):
        return False
    for s in range(size):
        for row in range(most):
            system[s, size] -= system[s, size + 1 + row] * numbers[PULL, row]
    return True


@called_kernel
def find_end(k: int, count: int, contacts: int, v0: Floats, middle: Floats, desk: Desk, through: Passage) -> int:
    """Finds the trial state at the end of increment k: returns the number of guesses; 0: for Python.
    middle (3n,): work array"""
    problem, motion, work, dt = through.problem, through.motion, through.work, through.loading.dt[k]
    size = desk.unknown.shape[0]
    for iteration in range(1, int(through.limits[LIMIT.iterations]) + 1):
        linearise(k, through)
        noise, moved, total = ROUND_OFF * (largest(work.v) + largest(v0)), 0.0, 0.0
        if not find_change(count, contacts, dt, noise, v0, problem.bars, desk, work):
            return 0
        for s in range(size):
            dof, move = desk.unknown[s], desk.system[s, size]
            work.u[dof] += move
            work.v[dof] += 2.0 / dt * move
            work.a[dof] += 2.0 / (dt * dt) * move
            moved, total = max(moved, abs(move)), total + move
        if total - total != 0.0:
            return 0
        enough = max(SMALL * largest_move(motion.u, work.u), NEGLIGIBLE * max(largest(work.u), desk.shortest))
        if moved <= enough or (not desk.is_elastic and iteration >= TURNS):
            return iteration
        for dof in range(middle.shape[0]):
            middle[dof] = 0.5 * (motion.u[dof] + work.u[dof])
        for row in range(count if iteration < TURNS else 0):
            turn(row, desk, problem.bars, middle)
    return 0


@called_kernel
def goes_on(count: int, bars: Bars, u: Floats, desk: Desk) -> bool:
    """Whether all that pulls continues to pull, and nothing else, and no length must be corrected."""
    row = 0
    for r in range(desk.lengths.shape[0]):
        e, is_near = desk.lengths[r], row < count and desk.near[row] == r
        pulls = is_near and desk.cones.numbers[PULL, row] > 0.0
        row += 1 if is_near else 0
        strain = gap_of(e, u, bars) * bars.constants[INV_LENGTH, e] * bars.constants[INV_LENGTH, e]
        is_open = desk.one_sided[r] and not pulls
        if not (strain if is_open else abs(strain)) <= CLOSED or (desk.one_sided[r] and pulls != desk.pulls[r]):
            return False
    return True


@called_kernel
def take_losses(k: int, count: int, contacts: int, v0: Floats, way: Floats, desk: Desk, through: Passage) -> float:
    """Forces of the pulls, and their effect on the energies; returns the dissipated energy. way (3n,): work array"""
    bars, motion, work, dt = through.problem.bars, through.motion, through.work, through.loading.dt[k]
    numbers, taken, rubs = desk.cones.numbers, 0.0, 0.0
    support_lag(k, through.loading, motion.u, v0, way)
    for row in range(count + 2 * contacts):
        motion.energies[ENERGY.work] -= dt * numbers[PULL, row] * rate(row, desk, bars, way)
    for dof in range(way.shape[0]):
        way[dof] = work.u[dof] - motion.u[dof] - dt * way[dof]
    for r in range(desk.lengths.shape[0]):
        desk.holds[r] = False
        if desk.one_sided[r]:
            motion.multiplier[desk.lengths[r]] = 0.0
    for row in range(count + 2 * contacts):
        pull, e, r = numbers[PULL, row], desk.bar[row], desk.near[row]
        i, j, lost = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], pull * rate(row, desk, bars, way)
        for c in range(3):
            work.force[j + c] += pull * desk.way[row, c]
            work.force[i + c] -= pull * desk.way[row, c]
        if row >= count:
            rubs += lost
            continue
        taken, desk.holds[r], work.multiplier[e] = taken + lost, pull > 0.0, pull
        if desk.one_sided[r]:
            motion.multiplier[e] = pull
    lent = min(rubs, max(-taken, 0.0))  # friction that goes the wrong way for a moment is none
    taken, rubs = taken + lent, rubs - lent
    if taken != 0.0:
        taken += take_from_motion(-taken, desk.vectors[2], through.problem, work)
    motion.energies[ENERGY.work] -= min(taken, 0.0)  # what rests cannot give it
    desk.spare[0] += max(taken, 0.0)
    return max(taken, 0.0) + rubs


@shared_kernel
def steady(control: Ints, desk: Desk, through: Passage) -> int:
    """Advances from ``control`` on while no state changes: DONE, NOT_CONVERGED, DRIFT as in ``march``; EVENT: the next
    increment is for ``Moreau``, and ``motion`` is the state at its start."""
    motion, loading, problem, work = through.motion, through.loading, through.problem, through.work
    v0, way = desk.vectors[0], desk.vectors[1]
    while control[CONTROL.increment] < loading.dt.shape[0]:
        k = control[CONTROL.increment]
        begin(k, through, v0)
        for dof in range(v0.shape[0]):
            way[dof] = motion.u[dof] + 0.5 * loading.dt[k] * v0[dof]
        count, contacts = find_near(problem.bars, way, v0, motion.u, desk)
        iterations = find_end(k, count, contacts, v0, way, desk, through) if count >= 0 else 0
        if iterations == 0 or not goes_on(count, problem.bars, work.u, desk):
            return groups.EVENT
        strain = linearise(k, through)  # inertia and damping of the end
        losses = take_losses(k, count, contacts, v0, way, desk, through)
        error = close_with_losses(k, iterations, strain, losses, through)
        if error - error != 0.0:
            return groups.NOT_CONVERGED
        control[CONTROL.increment] += 1
        fraction = through.limits[LIMIT.drift_fraction]
        if k >= control[CONTROL.judged] and has_drifted(
            problem.nodes, problem.bars, motion, loading.dt[k], error, fraction
        ):
            return groups.DRIFT
    return groups.DONE
