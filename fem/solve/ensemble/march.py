"""The march of ``solve/newton`` for packs of lanes: each lane is a model of its own with its own convergence.

The parts are those of the scalar march. A lane that has converged waits, its corrections taken as zero, until the last
one has: it ends where it would have ended alone. Nothing is mended here: a lane that spends its iterations, meets NaN
or an unsafe pivot, or drifts in energy is marked with the reason and left to a run of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.lanes.choose import common, local, some, where
from fem.mechanics.bar import Bars
from fem.mechanics.links import Links
from fem.mechanics.springs import Springs
from fem.solve.linear.chain import Diagonal, Tree, solve_chain
from fem.solve.newton import groups
from fem.solve.newton.convergence import is_converged
from fem.solve.newton.groups import CORRECT, Loading, Motion, Nodes, Record, Scratch
from fem.solve.newton.iterate import (
    begin,
    combine,
    correct,
    evaluate,
    inertia_forces,
    onset_of,
    residual,
    scale_of,
)
from fem.solve.newton.ledger import balance_forces, close_increment, has_drifted, kinetic_energy, note_increment
from fem.solve.newton.march import HUGE
from fem.solve.newton.tangent import diagonal_of, lift, nodal_blocks
from fem.solve.rods.project import end_accelerations


class Start(NamedTuple):
    """u, v and (at supports) a at the start, (blocks, 3n); tally (TALLY,) and memory (MEMORY,) lend shapes."""

    u: Floats
    v: Floats
    a: Floats
    tally: Floats
    memory: Floats


REASON, WHERE, SOLVES, MOST = 0, 1, 2, 3
"""Entries of the outcome of a lane: why it stopped (DONE), in which increment (-1: the start), linear solves in all and
in the worst increment."""
OUTCOME = 4

NEED_SOLVE, NOT_CONVERGED, NOT_FINITE, DRIFT = (
    groups.NEED_SOLVE, groups.NOT_CONVERGED, groups.NOT_FINITE, groups.DRIFT,
)  # fmt: skip
RELATIVE, ITERATIONS, DRIFT_SHARE = groups.RELATIVE, groups.ITERATIONS, groups.DRIFT_SHARE
LAST_RESIDUAL, SMALLEST_SCALE, PREVIOUS = groups.LAST_RESIDUAL, groups.SMALLEST_SCALE, groups.PREVIOUS
LOADS_VANISHED = groups.LOADS_VANISHED
KINETIC, STRAIN, POTENTIAL, WORK = groups.KINETIC, groups.STRAIN, groups.POTENTIAL, groups.WORK
KINETIC0, STRAIN0, POTENTIAL0, TOTAL0 = groups.KINETIC0, groups.STRAIN0, groups.POTENTIAL0, groups.TOTAL0


@inner_kernel
def fail(is_new: bool, reason: int, k: int, outcome: Floats) -> None:
    """Mark lanes that fail now, unless they did before."""
    is_first = is_new & (outcome[REASON] == 0.0)
    outcome[WHERE] = where(is_first, k, outcome[WHERE])
    outcome[REASON] = where(is_first, reason, outcome[REASON])


@called_kernel
def solve_mass(k: int, nodes: Nodes, bars: Bars, tree: Tree, work: Scratch, outcome: Floats) -> None:
    """M du = residual, by the elimination of the chain with massive nodes and no stiffness."""
    for e in range(work.store.shape[1]):
        for c in range(work.store.shape[0]):
            work.store[c, e] = 0.0
    is_safe = solve_chain(
        True, False, tree, Diagonal(nodes.mass, nodes.damping, 1.0, 0.0), nodes.open, work.store, bars.off_mass,
        work.block, work.residual, work.inverse, work.pinned, work.du, work.tau,
    )  # fmt: skip
    fail(not is_safe, NEED_SOLVE, k, outcome)


@inner_kernel
def end_lanes(
    scheme: Floats, k: int, nodes: Nodes, bars: Bars, tree: Tree, loading: Loading, work: Scratch, outcome: Floats
) -> None:
    """Accelerations of the end of increment k where those of the recursion lag."""
    if scheme[groups.LAGS] == 0.0:
        return
    if bars.off_mass.shape[0] == 0:
        end_accelerations(k, nodes, loading, work)
        return
    combine(loading.vectors, loading.factors, k + 1, work.load)
    inertia_forces(nodes, bars, work.v, work.a, work.inertia, work.drag)
    for dof in range(work.a.shape[0]):
        rest = work.load[dof] - work.force[dof] - work.inertia[dof] - work.drag[dof]
        work.residual[dof] = nodes.open[dof] * rest
        work.lagged[dof] = work.a[dof]
    solve_mass(k, nodes, bars, tree, work, outcome)
    for dof in range(work.a.shape[0]):
        work.a[dof] += nodes.open[dof] * work.du[dof]
    inertia_forces(nodes, bars, work.v, work.a, work.inertia, work.drag)


@inner_kernel
def open_lanes(
    scheme: Floats, needs_acceleration: bool, nodes: Nodes, bars: Bars, springs: Springs, links: Links, tree: Tree,
    loading: Loading, motion: Motion, work: Scratch, record: Record, outcome: Floats,
) -> None:  # fmt: skip
    """Internal forces, accelerations, reactions and energies at the start, and row 0 of the record.

    ``motion`` holds initial u and v and, at supports, a.
    """
    size = motion.u.shape[0]
    for dof in range(size):
        work.u[dof], work.v[dof], work.a[dof] = motion.u[dof], motion.v[dof], motion.a[dof]
    thermal = loading.thermal[0]
    strain = evaluate(scheme, False, 1.0, motion.u, bars, springs, thermal, work)
    combine(loading.vectors, loading.factors, 0, work.load)
    inertia_forces(nodes, bars, motion.v, motion.a, work.inertia, work.drag)
    for dof in range(size):
        motion.force[dof] = work.force[dof]
        rest = work.load[dof] - work.force[dof] - work.inertia[dof] - work.drag[dof]
        work.residual[dof] = nodes.open[dof] * rest
    if needs_acceleration:
        solve_mass(-1, nodes, bars, tree, work, outcome)
        for dof in range(size):
            motion.a[dof] += nodes.open[dof] * work.du[dof]
    for dof in range(size if scheme[groups.LAGS] > 0.0 else 0):
        motion.lagged[dof] = motion.a[dof]
    inertia_forces(nodes, bars, motion.v, motion.a, work.inertia, work.drag)
    balance_forces(scheme, False, -1, nodes, bars, links, loading, motion.a, work)
    kinetic, potential = kinetic_energy(nodes, bars, work), 0.0
    for dof in range(size):
        motion.reaction[dof] = work.reaction[dof]
    for p in range(loading.vectors.shape[0]):
        if loading.is_gravity[p] == 1:
            for dof in range(size):
                potential -= loading.factors[0, p] * loading.vectors[p, dof] * motion.u[dof]
    tally = motion.tally
    tally[KINETIC], tally[STRAIN], tally[POTENTIAL] = kinetic, strain, potential
    tally[KINETIC0], tally[STRAIN0], tally[POTENTIAL0] = kinetic, strain, potential
    tally[TOTAL0] = kinetic + strain + potential
    note_increment(0, 0, 0.0, 0.0, 0, 0.0, bars, springs, thermal, motion, record)


@inner_kernel
def march_lanes(
    scheme: Floats, secant: bool, symmetric: bool, limits: Floats, extrapolation: int, settling: int, stride: int,
    nodes: Nodes, bars: Bars, springs: Springs, links: Links, tree: Tree, loading: Loading, motion: Motion,
    work: Scratch, record: Record, outcome: Floats,
) -> None:  # fmt: skip
    """Advance all lanes through the increments of ``loading``.

    settling  increments before the energy watch begins
    stride    increments between two rows of the record; the last increment is always recorded
    record    rows 1, 2, ... (row 0 is the start)
    outcome   (OUTCOME,)  out
    """
    memory = motion.memory
    is_bare = springs.dofs.shape[0] == 0
    count = loading.dt.shape[0]
    row = 0
    for k in range(count):
        dt = loading.dt[k]
        thermal = loading.thermal[min(k + 1, loading.thermal.shape[0] - 1)]
        warmth = loading.warmth[min(k, loading.warmth.shape[0] - 1)]
        onset = onset_of(scheme, secant, dt)
        begin(scheme, extrapolation, k, dt, nodes, bars, links, loading, motion, work)
        waits = outcome[REASON] != 0.0
        strain, norm, scale, flags, spent = 0.0, 0.0, 0.0, 0.0, 0.0
        iteration = 0
        while True:
            strain = evaluate(scheme, secant, dt, motion.u, bars, springs, warmth, work, onset)
            norm = residual(scheme, nodes, bars, links, work)
            if iteration == 0:
                if loading.support_dofs.shape[0] > 0:
                    lift(scheme, dt, nodes, bars, springs, links, work)
            else:
                is_finite = (norm < HUGE) & (abs(strain) < HUGE)
                fail(not (is_finite | waits), NOT_FINITE, k, outcome)
                waits = waits | (not is_finite)
                if common(limits[RELATIVE]) >= 0.0:
                    scale = scale_of(scheme, dt, nodes, bars, work)
                good, special = is_converged(limits, norm, scale, iteration, bars, motion, work)
                flags = where(waits, flags, special)
                spent = where(waits, spent, iteration)
                waits = waits | good
                if not some(not waits):
                    break
                is_spent = not (waits | (iteration < limits[ITERATIONS]))
                fail(is_spent, NOT_CONVERGED, k, outcome)
                waits = waits | is_spent
                if not some(not waits):
                    break
            memory[PREVIOUS] = norm
            if not is_bare:
                nodal_blocks(scheme, dt, nodes, springs, work)
            diagonal = diagonal_of(CORRECT, is_bare, scheme, dt, nodes)
            is_safe = solve_chain(
                symmetric, not is_bare, tree, diagonal, nodes.open, work.store, work.off, work.block, work.residual,
                work.inverse, work.pinned, work.du, work.tau,
            )  # fmt: skip
            fail(not (is_safe | waits), NEED_SOLVE, k, outcome)
            waits = waits | (not is_safe)
            for dof in range(work.du.shape[0]):
                work.du[dof] = where(waits, 0.0, work.du[dof])
            shifted = iteration == 0 and loading.support_dofs.shape[0] > 0
            correct(scheme, dt, shifted, bars, links, work)
            iteration += 1
        is_noted = (k + 1) % stride == 0 or k + 1 == count
        if common(limits[RELATIVE]) >= 0.0:
            remembers = flags != LOADS_VANISHED
            smallest = memory[SMALLEST_SCALE]
            is_smaller = (scale > 0.0) & (not ((smallest > 0.0) & (smallest < scale)))
            memory[LAST_RESIDUAL] = where(remembers, norm, memory[LAST_RESIDUAL])
            memory[SMALLEST_SCALE] = where(remembers & is_smaller, scale, smallest)
        elif is_noted:
            scale = scale_of(scheme, dt, nodes, bars, work)
        end_lanes(scheme, k, nodes, bars, tree, loading, work, outcome)
        error = close_increment(scheme, secant, k, strain, nodes, bars, springs, links, loading, motion, work, onset)
        outcome[SOLVES] += spent
        outcome[MOST] = max(outcome[MOST], spent)
        if is_noted:
            row += 1
            note_increment(row, spent, norm, scale, flags, error, bars, springs, thermal, motion, record)
        if k >= settling:
            fail(has_drifted(motion, dt, error, limits[DRIFT_SHARE]), DRIFT, k, outcome)


@inner_kernel
def at(packs: Floats, b: int) -> Floats:
    """Block b of an array of packs; the only one where all blocks share it."""
    block: Floats = packs[min(b, packs.shape[0] - 1)]
    return block


@kernel
def march_blocks(
    first: int, last: int, stride: int, options: Ints, scheme: Floats, limits: Floats, nodes: Nodes, bars: Bars,
    springs: Springs, links: Links, tree: Tree, loading: Loading, start: Start, room: Scratch, record: Record,
    outcome: Floats,
) -> None:  # fmt: skip
    """``open_lanes`` and ``march_lanes`` for blocks first..last, one after the other.

    options  secant, extrapolation, increments before the energy watch, whether accelerations are wanted at the start,
             whether the tangent is symmetric

    Arrays of packs (except those of ``room``) have the block as first axis, of length 1 where all blocks are alike.
    """
    secant = options[0] != 0
    for b in range(first, last):
        one_nodes = Nodes(at(nodes.mass, b), at(nodes.damping, b), nodes.free, nodes.open, at(nodes.held, b))
        one_bars = Bars(
            bars.nodes, bars.kinds, bars.blocks, at(bars.constants, b), bars.table, at(bars.off_mass, b),
            at(bars.off_damping, b), bars.rods,
        )  # fmt: skip
        one_springs = Springs(springs.dofs, at(springs.constants, b), springs.table)
        share = min(b, loading.factors.shape[0] - 1)
        acting = Loading(
            loading.dt, at(loading.vectors, b), loading.is_gravity, loading.weighted[share], loading.factors[share],
            loading.support_dofs, loading.support_u[b], loading.support_v[b], loading.support_a[b],
            loading.support_start[b], at(loading.thermal, b), at(loading.warmth, b),
        )  # fmt: skip
        motion = Motion(
            local(room.u), local(room.v), local(room.a), local(room.force), local(room.force),
            local(room.multiplier), local(start.tally), local(start.memory), local(room.u), local(room.lagged),
        )  # fmt: skip
        for dof in range(motion.u.shape[0]):
            motion.u[dof], motion.v[dof], motion.a[dof] = start.u[b, dof], start.v[b, dof], start.a[b, dof]
        work = Scratch(
            local(room.u), local(room.v), local(room.a), local(room.force), local(room.load), local(room.carry),
            local(room.residual), local(room.shift), local(room.inertia), local(room.momentum), local(room.drag),
            local(room.du), local(room.multiplier), local(room.tau), local(room.pinned), local(room.store),
            local(room.off), local(room.spring_stiffness), local(room.block), local(room.inverse),
            local(room.reaction), local(room.band), local(room.unknowns), local(room.krylov), local(room.kept),
            local(room.whole), local(room.pulls), local(room.lagged),
        )  # fmt: skip
        kept = Record(record.ledger[b], record.nodes, record.kinematics[b], record.elements, record.values[b])
        open_lanes(
            scheme, options[3] != 0, one_nodes, one_bars, one_springs, links, tree, acting, motion, work, kept,
            outcome[b],
        )  # fmt: skip
        march_lanes(
            scheme, secant, options[4] != 0, at(limits, b), options[1], options[2], stride, one_nodes, one_bars,
            one_springs, links, tree, acting, motion, work, kept, outcome[b],
        )  # fmt: skip
