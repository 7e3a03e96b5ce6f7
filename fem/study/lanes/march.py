"""The march of ``solve/newton`` for packs of lanes: each lane is a model of its own with its own convergence.

The parts are those of the scalar march. A lane that has converged waits, its corrections taken as zero, until the last
one has: it ends where it would have ended alone. Where lanes have different numbers of increments, one that has made
all of its own stays as it is while others go on. No lane is repaired here: one that spends its iterations, meets NaN
or an unsafe pivot, or drifts in energy is marked with the reason and left to a run of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import common, some, where
from fem.forces.families import Groups, write_masses
from fem.forces.protocol import Tangent
from fem.linear.border import solve_with_border
from fem.linear.chain import Diagonal, LinearSystem, solve_chain, solve_unsymmetric_chain
from fem.linear.factors import POOR, ROUND_OFF
from fem.solve.newton import groups
from fem.solve.newton.balance import balance_forces, close_increment, has_drifted, kinetic_energy, note_increment
from fem.solve.newton.evaluate import combine, evaluate, evaluate_instant, in_increment, inertia_forces, is_lumped
from fem.solve.newton.groups import (
    CORRECT,
    ENERGY,
    LIMIT,
    MEMORY,
    ROW,
    Ledger,
    Loading,
    Motion,
    Passage,
    Problem,
    Scratch,
)
from fem.solve.newton.iterate import begin, correct, halves, is_converged, is_left_alone, residual, scale_of
from fem.solve.newton.march import HUGE
from fem.solve.newton.project import (
    acceleration_system,
    couple_masses,
    end_accelerations,
    mass_blocks,
    mass_system,
    move_accelerations,
    move_velocities,
    velocity_gaps,
)
from fem.solve.newton.refine import TOWARDS, accumulate, keep, leave_rest, open_again, restore
from fem.solve.newton.tangent import diagonal_of, lift, linear_system, nodal_blocks
from fem.solve.schemes import Coefficients


class Start(NamedTuple):
    """u, v and (at supports) a at the start, (blocks, 3n); energies (ENERGIES,) and memory (MEMORY,) lend shapes."""

    u: Floats
    v: Floats
    a: Floats
    energies: Floats
    memory: Floats


class Packs(NamedTuple):
    """All lanes. The groups of the march, their arrays of numbers as packs with the block as first axis (of length 1
    where all models have the same numbers); room of a march; outcome (blocks, OUTCOME).

    counts (blocks, 1): increments of each lane, of which those of ``loading`` are the most; (1, 0): as many in all
    curves (4, k, c, j), shares (blocks, c, j): u, v, a of supports at the ends of increments and v after their starts
    are sums over j of curves that all lanes follow, each times the share of the lane; none (k = 0) where they are given
    """

    blocks: int
    counts: Any
    limits: Any
    problem: Any
    loading: Any
    curves: Floats
    shares: Any
    start: Any
    room: Any
    record: Any
    outcome: Any


class EndedLanes(NamedTuple):
    """What lanes that have ended keep while others march: their energies, and the last row of their record."""

    energies: Floats
    increments: Floats
    kinematics: Floats
    values: Floats


REASON, WHERE, SOLVES, MOST = 0, 1, 2, 3
"""Entries of the outcome of a lane: why it stopped (DONE), in which increment (-1: the start), linear solves in all and
in the worst increment."""
OUTCOME = 4

ENDED = -1.0
"""Reason of a lane that has made all of its increments, while others march on."""
NEED_SOLVE, NOT_CONVERGED = groups.NEED_SOLVE, groups.NOT_CONVERGED
NOT_FINITE, DRIFT, DONE = groups.NOT_FINITE, groups.DRIFT, groups.DONE
LOADS_VANISHED = groups.LOADS_VANISHED

NOW, LEAST, GREATEST = 1, 2, 3
"""Rows of a record without a stride, after the start: the last increment so far, and the extremes of all numbers."""
EXTREMES = 4


@inner_kernel
def fail(is_new: bool, reason: int, k: int, outcome: Floats) -> None:
    """Mark lanes that fail now, unless they did before."""
    is_first = is_new & (outcome[REASON] == 0.0)
    outcome[WHERE] = where(is_first, k, outcome[WHERE])
    outcome[REASON] = where(is_first, reason, outcome[REASON])


@inner_kernel
def stay(stays: bool, before: Floats, now: Floats) -> None:
    """Lanes that stay have what they had before."""
    for i in range(now.shape[0]):
        now[i] = where(stays, before[i], now[i])


@inner_kernel
def stay_in_place(stays: bool, scheme: Coefficients, problem: Problem, motion: Motion, work: Scratch) -> None:
    """The trial state of lanes that stay is the last good one, to be taken over in its own place."""
    stay(stays, motion.u, work.u)
    stay(stays, motion.v, work.v)
    stay(stays, motion.a, work.a)
    stay(stays, motion.force, work.force)
    stay(stays, motion.flow, work.flow)
    if scheme.lags:
        stay(stays, motion.lagged, work.lagged)
    if problem.bars.rods.shape[0] > 0:
        stay(stays, motion.multiplier, work.multiplier)


@inner_kernel
def repeat(stays: bool, ends: bool, row: int, record: Ledger, kept: EndedLanes) -> None:
    """Lanes that stay have in a row of the record what they ended with, which is kept of those that end now."""
    increments, kinematics, values = kept.increments, kept.kinematics, kept.values
    for c in range(increments.shape[0]):
        now = where(stays, increments[c], record.increments[row, c])
        record.increments[row, c], increments[c] = now, where(ends, now, increments[c])
    for q in range(kinematics.shape[0]):
        for p in range(kinematics.shape[1]):
            for c in range(3):
                now = where(stays, kinematics[q, p, c], record.kinematics[row, q, p, c])
                record.kinematics[row, q, p, c], kinematics[q, p, c] = now, where(ends, now, kinematics[q, p, c])
    for e in range(values.shape[0]):
        for c in range(values.shape[1]):
            now = where(stays, values[e, c], record.values[row, e, c])
            record.values[row, e, c], values[e, c] = now, where(ends, now, values[e, c])


@inner_kernel
def are_finite(row: int, record: Ledger) -> bool:
    """The energy error and the values of elements, which may overflow where forces do not."""
    values = record.values
    is_finite: bool = abs(record.increments[row, ROW.error]) < np.inf
    for e in range(values.shape[1]):
        for c in range(values.shape[2]):
            is_finite = is_finite & (abs(values[row, e, c]) < np.inf)
    return is_finite


@inner_kernel
def fold(row: int, record: Ledger) -> None:
    """Take a row into the least and the greatest of all numbers; the start (row 0) begins them."""
    increments, kinematics, values = record.increments, record.kinematics, record.values
    for c in range(increments.shape[1]):
        new = increments[row, c]
        increments[LEAST, c] = new if row == 0 else min(new, increments[LEAST, c])
        increments[GREATEST, c] = new if row == 0 else max(new, increments[GREATEST, c])
    for q in range(kinematics.shape[1]):
        for p in range(kinematics.shape[2]):
            for c in range(3):
                new = kinematics[row, q, p, c]
                kinematics[LEAST, q, p, c] = new if row == 0 else min(new, kinematics[LEAST, q, p, c])
                kinematics[GREATEST, q, p, c] = new if row == 0 else max(new, kinematics[GREATEST, q, p, c])
    for e in range(values.shape[1]):
        for c in range(values.shape[2]):
            new = values[row, e, c]
            values[LEAST, e, c] = new if row == 0 else min(new, values[LEAST, e, c])
            values[GREATEST, e, c] = new if row == 0 else max(new, values[GREATEST, e, c])


@called_kernel
def solve_mass(k: int, problem: Problem, work: Scratch, outcome: Floats) -> None:
    """M du = residual, by the elimination of the chain with massive nodes and no stiffness."""
    nodes, bars, tree = problem.nodes, problem.bars, problem.tree
    for e in range(work.tangent.bar_tangent.shape[1]):
        for c in range(work.tangent.bar_tangent.shape[0]):
            work.tangent.bar_tangent[c, e] = 0.0
    its = work.tangent
    mass = Tangent(its.ends, its.bar_tangent, bars.off_mass, its.block, its.pairs, its.cross)
    linear = LinearSystem(nodes.mask, mass, work.block, work.residual, work.inverse, work.pinned, work.du, work.tau)
    is_safe = solve_chain(True, False, False, tree, Diagonal(nodes.mass, nodes.damping, 1.0, 0.0), linear)
    fail(not is_safe, NEED_SOLVE, k, outcome)


@inner_kernel
def has_plan(problem: Problem) -> bool:
    """A band or a border is solved, not chains."""
    return bool(problem.plan.own.shape[0] > 0)


@inner_kernel
def is_checked(problem: Problem) -> bool:
    """Linear solves are checked: those of rods and equations."""
    return bool(problem.bars.rods.shape[0] > 0 or problem.equations.slave.shape[0] > 0)


@called_kernel
def solve_checked(
    is_filled: bool, enough: float, waits: bool, diagonal: Diagonal, problem: Problem, work: Scratch
) -> bool:
    """``refine.solve_checked``, refined once in lanes that need it; none is asked of those that wait."""
    nodes, bars, is_solved, error, is_done = problem.nodes, problem.bars, True, np.inf, waits
    keep(is_filled, work)
    for _ in range(2):
        open_again(is_filled, work)
        if has_plan(problem):
            linear = linear_system(nodes, work)
            is_safe = solve_with_border(problem.plan, bars, linear, work.blocks, work.band, work.unknowns)
        else:
            is_safe = solve_chain(False, False, is_filled, problem.tree, diagonal, linear_system(nodes, work))
        is_solved = is_solved & (is_safe | is_done)
        for dof in range(work.du.shape[0]):
            work.du[dof] = where(is_done, 0.0, work.du[dof])
        for r in range(bars.rods.shape[0]):
            work.tau[bars.rods[r]] = where(is_done, 0.0, work.tau[bars.rods[r]])
        accumulate(1.0, work)
        error = where(is_done, error, leave_rest(is_filled, diagonal, nodes, bars, problem.equations, work))
        is_done = is_done | (error <= enough)
        if not some(not is_done):
            break
    restore(work)
    is_right: bool = is_solved & (error <= max(enough, POOR))
    return is_right


@inner_kernel
def solve_projection(k: int, phase: int, is_bare: bool, through: Passage, outcome: Floats) -> None:
    """A move of velocities or accelerations that keeps lengths. Lanes fail in which it is not exact."""
    problem, work = through.problem, through.work
    if not is_bare:
        mass_blocks(problem.nodes, work)
    diagonal = diagonal_of(phase, is_bare, through.scheme, 1.0, problem.nodes)
    waits = outcome[REASON] != 0.0
    fail(not solve_checked(not is_bare, ROUND_OFF, waits, diagonal, problem, work), NEED_SOLVE, k, outcome)


@inner_kernel
def project_lanes(k: int, is_bare: bool, moves_velocities: bool, through: Passage, outcome: Floats) -> None:
    """Velocities and accelerations of rods at the end of increment k (-1: at the start, velocities as they are)."""
    problem, work = through.problem, through.work
    mass_system(0.0, problem.nodes, problem.bars, work)
    if moves_velocities:
        velocity_gaps(problem.bars, work)
        solve_projection(k, groups.PROJECT_VELOCITY, is_bare, through, outcome)
        move_velocities(problem.equations, work.du, work.v)
    acceleration_system(through.scheme, k, problem, through.loading, through.motion, work)
    solve_projection(k, groups.PROJECT_ACCELERATION, is_bare, through, outcome)
    move_accelerations(through.scheme, problem, through.motion, work)


@inner_kernel
def couple_accelerations(k: int, problem: Problem, loading: Loading, work: Scratch, outcome: Floats) -> None:
    """Accelerations of the end of increment k where those of the recursion lag, and bars couple masses."""
    nodes = problem.nodes
    combine(loading.vectors, loading.factors, k + 1, work.load)
    inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)
    for dof in range(work.a.shape[0]):
        rest = work.load[dof] - work.force[dof] - work.inertia[dof] - work.damping_force[dof]
        work.residual[dof] = nodes.mask[dof] * rest
        work.lagged[dof] = work.a[dof]
    solve_mass(k, problem, work, outcome)
    for dof in range(work.a.shape[0]):
        work.a[dof] += nodes.mask[dof] * work.du[dof]
    inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)


# Families of forces: None where none acts, and the march has no line of them.


@inner_kernel
def take_back(
    families: Groups, scheme: Coefficients, dt: float, iteration: int, asks: bool, limits: Floats, memory: Floats,
    work: Scratch,
) -> bool:  # fmt: skip
    """In which lanes half of the last correction is taken back, of those that ask."""
    if families is not None and common(limits[LIMIT.halves]) > 0.0:
        return halves(scheme, dt, iteration < limits[LIMIT.halves], asks, memory, work)
    return asks & False


@inner_kernel
def eliminate(
    families: Groups, symmetric: bool, is_filled: bool, enough: float, waits: bool, diagonal: Diagonal, through: Passage
) -> bool:
    """One linear solve; of lanes that wait nothing is asked."""
    problem, work = through.problem, through.work
    linear = linear_system(problem.nodes, work)
    if is_checked(problem):
        return solve_checked(is_filled, enough, waits, diagonal, problem, work)
    if has_plan(problem):
        return solve_with_border(problem.plan, problem.bars, linear, work.blocks, work.band, work.unknowns)
    if families is not None:
        return solve_unsymmetric_chain(is_filled, problem.tree, diagonal, linear)
    return solve_chain(symmetric, False, is_filled, problem.tree, diagonal, linear)


@inner_kernel
def couple(families: Groups, scheme: Coefficients, dt: float, through: Passage) -> None:
    """The mass that families put between nodes, into the effective tangent."""
    if families is not None:
        couple_masses(scheme.wm * scheme.au / (dt * dt), through.problem.nodes, through.work.tangent.cross)


@inner_kernel
def close_lanes(
    families: Groups, scheme: Coefficients, k: int, is_bare: bool, through: Passage, outcome: Floats
) -> None:
    """The mass of families, and accelerations (of rods velocities, too), at the end of increment k."""
    problem, loading, work, nodes = through.problem, through.loading, through.work, through.problem.nodes
    if families is not None and nodes.directed_mass.shape[0] > 0 and not scheme.secant:
        write_masses(families, loading.time[k + 1], nodes.place, work.u, work.state, nodes.directed_mass)
    if scheme.projects:
        project_lanes(k, is_bare, not scheme.secant, through, outcome)
    elif scheme.lags and is_lumped(problem) and problem.equations.slave.shape[0] == 0:
        end_accelerations(k, nodes, loading, work)
    elif scheme.lags and (families is not None or has_plan(problem)):
        acceleration_system(scheme, k, problem, loading, through.motion, work)
        mass_blocks(nodes, work)
        none, waits = Diagonal(nodes.mass, nodes.damping, 0.0, 0.0), outcome[REASON] != 0.0
        is_safe = eliminate(families, False, True, ROUND_OFF, waits, none, through)
        fail(not is_safe, NEED_SOLVE, k, outcome)
        move_accelerations(scheme, problem, through.motion, work)
    elif scheme.lags:
        couple_accelerations(k, problem, loading, work, outcome)


@inner_kernel
def open_lanes(needs_acceleration: bool, through: Passage, outcome: Floats) -> None:
    """Internal forces, accelerations, reactions and energies at the start, and row 0 of the record.
    ``motion`` holds initial u and v and, at supports, a."""
    scheme, problem, loading = through.scheme, through.problem, through.loading
    motion, work, nodes = through.motion, through.work, through.problem.nodes
    size = motion.u.shape[0]
    for dof in range(size):
        work.u[dof], work.v[dof], work.a[dof] = motion.u[dof], motion.v[dof], motion.a[dof]
    thermal = loading.thermal_end[0]
    strain = evaluate_instant(scheme, 1.0, loading.time[0], thermal, problem, motion, work)
    combine(loading.vectors, loading.factors, 0, work.load)
    inertia_forces(problem, motion.v, motion.a, work.inertia, work.damping_force)
    for dof in range(size):
        motion.force[dof] = work.force[dof]
        if work.flow.shape[0] > 0:
            motion.flow[dof] = work.flow[dof]
        rest = work.load[dof] - work.force[dof] - work.inertia[dof] - work.damping_force[dof]
        work.residual[dof] = nodes.mask[dof] * rest
    if needs_acceleration and scheme.projects:
        project_lanes(-1, work.tangent.block.shape[0] == 0, False, through, outcome)
        for dof in range(size):
            motion.a[dof], motion.force[dof] = work.a[dof], work.force[dof]
        for r in range(problem.bars.rods.shape[0]):
            motion.multiplier[problem.bars.rods[r]] = work.multiplier[problem.bars.rods[r]]
    elif needs_acceleration:
        solve_mass(-1, problem, work, outcome)
        for dof in range(size):
            motion.a[dof] += nodes.mask[dof] * work.du[dof]
    for dof in range(size if scheme.lags else 0):
        motion.lagged[dof] = motion.a[dof]
    inertia_forces(problem, motion.v, motion.a, work.inertia, work.damping_force)
    balance_forces(scheme, False, -1, problem, loading, motion.a, work)
    for dof in range(size):
        motion.spent[dof] = work.damping_force[dof] if nodes.damping.shape[0] > 0 else 0.0
    for dof in range(motion.flow.shape[0]):
        motion.spent[dof] += motion.flow[dof]
    kinetic, potential = kinetic_energy(problem, work), 0.0
    for dof in range(size):
        motion.reaction[dof] = work.reaction[dof]
    for p in range(loading.vectors.shape[0]):
        if loading.is_gravity[p] == 1:
            for dof in range(size):
                potential -= loading.factors[0, p] * loading.vectors[p, dof] * motion.u[dof]
    energies = motion.energies
    energies[ENERGY.kinetic], energies[ENERGY.strain], energies[ENERGY.potential] = kinetic, strain, potential
    energies[ENERGY.kinetic0], energies[ENERGY.strain0], energies[ENERGY.potential0] = kinetic, strain, potential
    energies[ENERGY.total0] = kinetic + strain + potential
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, problem, thermal, motion, through.record)


@inner_kernel
def iterate(
    families: Groups, symmetric: bool, is_bare: bool, k: int, waits: bool, through: Passage, outcome: Floats
) -> tuple[float, float, float, float, float]:
    """Newton iterations of increment k until every lane has converged or failed; nothing is done for those that wait.
    Stored energy, residual, its scale where that is asked for, flags, linear solves."""
    scheme, limits, problem, loading = through.scheme, through.limits, through.problem, through.loading
    motion, work, nodes, bars = through.motion, through.work, through.problem.nodes, through.problem.bars
    memory, dt = motion.memory, loading.dt[k]
    strain, norm, scale, flags, spent = 0.0, 0.0, 0.0, 0.0, 0.0
    iteration, asks = 0, True
    while True:
        strain = evaluate(in_increment(scheme, k, problem, loading, motion, work), problem, work)
        norm = residual(scheme, problem, work)
        if iteration == 0:
            if loading.support_dofs.shape[0] > 0:
                lift(scheme, dt, problem, work)
        else:
            is_finite = (norm < HUGE) & (abs(strain) < HUGE)
            fail(not (is_finite | waits), NOT_FINITE, k, outcome)
            waits = waits | (not is_finite)
            if common(limits[LIMIT.relative]) >= 0.0:
                scale = scale_of(scheme, dt, False, 0.0, None, problem, work)
            good, special = is_converged(limits, norm, scale, iteration, bars, motion, work)
            asked = good & (special == 0)
            good = good & (not is_left_alone(asked, scheme, limits, norm, scale, iteration, problem, memory, work))
            asks = take_back(families, scheme, dt, iteration, asks & (not (good | waits)), limits, memory, work)
            if some(asks):
                continue
            flags = where(waits, flags, special)
            spent = where(waits, spent, iteration)
            waits = waits | good
            if not some(not waits):
                break
            is_spent = not (waits | (iteration < limits[LIMIT.iterations]))
            fail(is_spent, NOT_CONVERGED, k, outcome)
            waits = waits | is_spent
            if not some(not waits):
                break
        memory[MEMORY.previous] = norm
        couple(families, scheme, dt, through)
        if not is_bare:
            nodal_blocks(scheme, dt, problem, work)
        diagonal = diagonal_of(CORRECT, is_bare, scheme, dt, nodes)
        is_safe = eliminate(families, symmetric, not is_bare, TOWARDS, waits, diagonal, through)
        fail(not (is_safe | waits), NEED_SOLVE, k, outcome)
        waits = waits | (not is_safe)
        for dof in range(work.du.shape[0]):
            work.du[dof] = where(waits, 0.0, work.du[dof])
        for r in range(bars.rods.shape[0]):
            work.tau[bars.rods[r]] = where(waits, 0.0, work.tau[bars.rods[r]])
        correct(scheme, dt, iteration == 0 and loading.support_dofs.shape[0] > 0, problem, work)
        iteration, asks = iteration + 1, True
    return strain, norm, scale, flags, spent


@inner_kernel
def remember(norm: float, scale: float, flags: float, memory: Floats) -> None:
    """Residual and scale of a converged increment, with which later ones are compared."""
    remembers, smallest = flags != LOADS_VANISHED, memory[MEMORY.smallest_scale]
    is_smaller = (scale > 0.0) & (not ((smallest > 0.0) & (smallest < scale)))
    memory[MEMORY.last_residual] = where(remembers, norm, memory[MEMORY.last_residual])
    memory[MEMORY.smallest_scale] = where(remembers & is_smaller, scale, smallest)


@inner_kernel
def close_all(has_counts: bool, k: int, strain: float, kept: EndedLanes, through: Passage, outcome: Floats) -> float:
    """``close_increment`` of the lanes that have not ended; the others stay as they are. Returns the energy errors."""
    scheme, problem, motion, work = through.scheme, through.problem, through.motion, through.work
    stays = outcome[REASON] != 0.0
    if has_counts and some(stays):
        stay_in_place(stays, scheme, problem, motion, work)
        for i in range(kept.energies.shape[0]):
            kept.energies[i] = motion.energies[i]
    error = close_increment(scheme, k, strain, problem, through.loading, motion, work)
    if has_counts and some(stays):
        stay(stays, kept.energies, motion.energies)
        error = where(stays, 0.0, error)
    return error


@inner_kernel
def march_lanes(
    symmetric: bool, settling: int, stride: int, counts: Floats, kept: EndedLanes, through: Passage, outcome: Floats
) -> None:  # fmt: skip
    """Advance all lanes through the increments of ``loading``, or each through as many of them as it has itself.

    settling  increments before the energy watch begins
    stride    increments between two rows of the record; the last increment is always recorded. 0: no rows but those of
              the start, ``NOW``, ``LEAST`` and ``GREATEST``
    counts    as a block of ``Packs`` has them;  kept: room
    record    rows 1, 2, ... (row 0 is the start); those after the end of a lane repeat it
    outcome   (OUTCOME,)  out
    """
    scheme, limits, problem, loading = through.scheme, through.limits, through.problem, through.loading
    motion, work, record = through.motion, through.work, through.record
    nodes, bars, families = problem.nodes, problem.bars, problem.families
    is_bare = work.tangent.block.shape[0] == 0 and not has_plan(problem)
    count, has_counts, row = loading.dt.shape[0], counts.shape[0] > 0, 0
    fail(not are_finite(0, record), NOT_FINITE, -1, outcome)
    if stride == 0:
        fold(0, record)
    for k in range(count):
        dt = loading.dt[k]
        thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        begin(scheme, k, dt, problem, loading, motion, work)
        waits = outcome[REASON] != 0.0
        ends = (k + 1 >= counts[0]) & (not waits)
        strain, norm, scale, flags, spent = iterate(families, symmetric, is_bare, k, waits, through, outcome)
        is_noted = stride == 0 or (k + 1) % stride == 0 or k + 1 == count or (has_counts and some(ends))
        if common(limits[LIMIT.relative]) >= 0.0:
            remember(norm, scale, flags, motion.memory)
        elif is_noted:
            scale = scale_of(scheme, dt, False, 0.0, None, problem, work)
        close_lanes(families, scheme, k, is_bare, through, outcome)
        stays = outcome[REASON] != 0.0
        error = close_all(has_counts, k, strain, kept, through, outcome)
        outcome[SOLVES] += spent
        outcome[MOST] = max(outcome[MOST], spent)
        if is_noted:
            row = NOW if stride == 0 else k // stride + 1
            note_increment(row, spent, norm, scale, flags, error, problem, thermal, motion, record)
            if has_counts and some(stays | ends):
                repeat(stays, ends, row, record, kept)
            fail(not are_finite(row, record), NOT_FINITE, k, outcome)
            if stride == 0:
                fold(row, record)
        if k >= settling:
            fail(has_drifted(nodes, bars, motion, dt, error, limits[LIMIT.drift_fraction]), DRIFT, k, outcome)
        if has_counts:
            outcome[REASON] = where(ends & (outcome[REASON] == 0.0), ENDED, outcome[REASON])
            if not some(outcome[REASON] == 0.0):
                break
    if has_counts:
        for later in range(row + 1, record.increments.shape[0] if stride > 0 else 0):
            repeat(outcome[REASON] != 0.0, False, later, record, kept)
        outcome[REASON] = where(outcome[REASON] == ENDED, DONE, outcome[REASON])
