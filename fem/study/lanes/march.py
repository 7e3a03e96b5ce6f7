"""The march of ``solve/newton`` for packs of lanes: each lane is a model of its own with its own convergence.

The parts are those of the scalar march. A lane that has converged waits, its corrections taken as zero, until the last
one has: it ends where it would have ended alone. No lane is repaired here: one that spends its iterations, meets NaN
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
from fem.linear.chain import Diagonal, LinearSystem, solve_chain, solve_unsymmetric_chain
from fem.linear.factors import POOR, ROUND_OFF
from fem.solve.newton import groups
from fem.solve.newton.balance import balance_forces, close_increment, has_drifted, kinetic_energy, note_increment
from fem.solve.newton.evaluate import combine, evaluate, evaluate_instant, in_increment, inertia_forces, is_lumped
from fem.solve.newton.groups import CORRECT, ENERGY, LIMIT, MEMORY, Loading, Passage, Problem, Scratch
from fem.solve.newton.iterate import begin, correct, halves, is_converged, residual, scale_of
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

    curves (4, k, c, j), shares (blocks, c, j): u, v, a of supports at the ends of increments and v after their starts
    are sums over j of curves that all lanes follow, each times the share of the lane; none (k = 0) where they are given
    """

    blocks: int
    limits: Any
    problem: Any
    loading: Any
    curves: Floats
    shares: Any
    start: Any
    room: Any
    record: Any
    outcome: Any


REASON, WHERE, SOLVES, MOST = 0, 1, 2, 3
"""Entries of the outcome of a lane: why it stopped (DONE), in which increment (-1: the start), linear solves in all and
in the worst increment."""
OUTCOME = 4

NEED_SOLVE, NOT_CONVERGED = groups.NEED_SOLVE, groups.NOT_CONVERGED
NOT_FINITE, DRIFT = groups.NOT_FINITE, groups.DRIFT
LOADS_VANISHED = groups.LOADS_VANISHED


@inner_kernel
def fail(is_new: bool, reason: int, k: int, outcome: Floats) -> None:
    """Mark lanes that fail now, unless they did before."""
    is_first = is_new & (outcome[REASON] == 0.0)
    outcome[WHERE] = where(is_first, k, outcome[WHERE])
    outcome[REASON] = where(is_first, reason, outcome[REASON])


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


@called_kernel
def solve_rods(is_filled: bool, enough: float, diagonal: Diagonal, problem: Problem, work: Scratch) -> bool:
    """``solve_checked`` by the elimination of the chain, refined once where it is needed."""
    nodes, bars, is_solved, error = problem.nodes, problem.bars, True, np.inf
    keep(is_filled, work)
    for _ in range(2):
        open_again(is_filled, work)
        is_solved = solve_chain(False, False, is_filled, problem.tree, diagonal, linear_system(nodes, work))
        accumulate(1.0, work)
        error = leave_rest(is_filled, diagonal, nodes, bars, problem.equations, work)
        if not some(not error <= enough):
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
    fail(not solve_rods(not is_bare, ROUND_OFF, diagonal, problem, work), NEED_SOLVE, k, outcome)


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
def end_lanes(scheme: Coefficients, k: int, problem: Problem, loading: Loading, work: Scratch, outcome: Floats) -> None:
    """Accelerations of the end of increment k where those of the recursion lag."""
    nodes, bars = problem.nodes, problem.bars
    if not scheme.lags:
        return
    if bars.off_mass.shape[0] == 0:
        end_accelerations(k, nodes, loading, work)
        return
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
def eliminate(families: Groups, symmetric: bool, is_filled: bool, diagonal: Diagonal, through: Passage) -> bool:
    """One linear solve along chains."""
    problem, work = through.problem, through.work
    linear = linear_system(problem.nodes, work)
    if families is not None:
        return solve_unsymmetric_chain(is_filled, problem.tree, diagonal, linear)
    return solve_chain(symmetric, False, is_filled, problem.tree, diagonal, linear)


@inner_kernel
def couple(families: Groups, scheme: Coefficients, dt: float, through: Passage) -> None:
    """The mass that families put between nodes, into the effective tangent."""
    if families is not None:
        couple_masses(scheme.wm * scheme.au / (dt * dt), through.problem.nodes, through.work.tangent.cross)


@inner_kernel
def close_lanes(families: Groups, scheme: Coefficients, k: int, through: Passage, outcome: Floats) -> None:
    """The mass of families, and accelerations, at the end of increment k."""
    problem, loading, work = through.problem, through.loading, through.work
    if families is not None:
        nodes = problem.nodes
        if nodes.directed_mass.shape[0] > 0 and not scheme.secant:
            write_masses(families, loading.time[k + 1], nodes.place, work.u, work.state, nodes.directed_mass)
        if scheme.lags and is_lumped(problem):
            end_accelerations(k, nodes, loading, work)
        elif scheme.lags:
            acceleration_system(scheme, k, problem, loading, through.motion, work)
            mass_blocks(nodes, work)
            none = Diagonal(nodes.mass, nodes.damping, 0.0, 0.0)
            fail(not eliminate(families, False, True, none, through), NEED_SOLVE, k, outcome)
            move_accelerations(scheme, problem, through.motion, work)
    else:
        end_lanes(scheme, k, problem, loading, work, outcome)


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
def march_lanes(symmetric: bool, settling: int, stride: int, through: Passage, outcome: Floats) -> None:
    """Advance all lanes through the increments of ``loading``.

    settling  increments before the energy watch begins
    stride    increments between two rows of the record; the last increment is always recorded
    record    rows 1, 2, ... (row 0 is the start)
    outcome   (OUTCOME,)  out
    """
    scheme, limits, problem, loading = through.scheme, through.limits, through.problem, through.loading
    motion, work, record = through.motion, through.work, through.record
    nodes, bars, families = problem.nodes, problem.bars, problem.families
    memory = motion.memory
    is_bare = work.tangent.block.shape[0] == 0
    count = loading.dt.shape[0]
    row = 0
    for k in range(count):
        dt = loading.dt[k]
        thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        begin(scheme, k, dt, problem, loading, motion, work)
        waits = outcome[REASON] != 0.0
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
            if bars.rods.shape[0] > 0:
                is_safe = solve_rods(not is_bare, TOWARDS, diagonal, problem, work)
            else:
                is_safe = eliminate(families, symmetric, not is_bare, diagonal, through)
            fail(not (is_safe | waits), NEED_SOLVE, k, outcome)
            waits = waits | (not is_safe)
            for dof in range(work.du.shape[0]):
                work.du[dof] = where(waits, 0.0, work.du[dof])
            for r in range(bars.rods.shape[0]):
                work.tau[bars.rods[r]] = where(waits, 0.0, work.tau[bars.rods[r]])
            shifted = iteration == 0 and loading.support_dofs.shape[0] > 0
            correct(scheme, dt, shifted, problem, work)
            iteration, asks = iteration + 1, True
        is_noted = (k + 1) % stride == 0 or k + 1 == count
        if common(limits[LIMIT.relative]) >= 0.0:
            remembers = flags != LOADS_VANISHED
            smallest = memory[MEMORY.smallest_scale]
            is_smaller = (scale > 0.0) & (not ((smallest > 0.0) & (smallest < scale)))
            memory[MEMORY.last_residual] = where(remembers, norm, memory[MEMORY.last_residual])
            memory[MEMORY.smallest_scale] = where(remembers & is_smaller, scale, smallest)
        elif is_noted:
            scale = scale_of(scheme, dt, False, 0.0, None, problem, work)
        if scheme.projects:
            project_lanes(k, is_bare, True, through, outcome)
        close_lanes(families, scheme, k, through, outcome)
        error = close_increment(scheme, k, strain, problem, loading, motion, work)
        outcome[SOLVES] += spent
        outcome[MOST] = max(outcome[MOST], spent)
        if is_noted:
            row += 1
            note_increment(row, spent, norm, scale, flags, error, problem, thermal, motion, record)
        if k >= settling:
            fail(has_drifted(nodes, bars, motion, dt, error, limits[LIMIT.drift_fraction]), DRIFT, k, outcome)
