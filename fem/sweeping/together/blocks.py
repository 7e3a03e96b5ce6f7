"""Blocks of lanes, one after the other: each is given its own numbers and marches."""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel
from fem.forces.bars.bar import Bars
from fem.forces.protocol import Tangent
from fem.forces.springs import Springs
from fem.lanes.choose import local
from fem.solve.newton.groups import Loading, Motion, Nodes, Passage, Problem, Record, Scratch
from fem.solve.schemes.coefficients import Coefficients
from fem.sweeping.together.march import Fleet, march_lanes, open_lanes


@inner_kernel
def at(packs: Floats, b: int) -> Floats:
    """Block b of an array of packs; the only one where it is that of all."""
    block: Floats = packs[min(b, packs.shape[0] - 1)]
    return block


@inner_kernel
def coefficients_of(row: Floats, options: Ints) -> Coefficients:
    """The numbers of the scheme, known when this is compiled."""
    return Coefficients(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], options[0] != 0,
        row[12], row[13], row[14] > 0.0, row[15] > 0.0, row[16] > 0.0, options[1],
    )  # fmt: skip


@inner_kernel
def of_block(b: int, problem: Problem) -> Problem:
    """The part of block b."""
    nodes, bars, springs = problem.nodes, problem.bars, problem.springs
    mass, damping, place, mask = at(nodes.mass, b), at(nodes.damping, b), nodes.place, nodes.mask
    directed, artificial = at(nodes.directed_mass, b), at(nodes.artificial_stiffness, b)
    own = Nodes(mass, damping, place, nodes.dof_kind, mask, directed, artificial, nodes.caution, nodes.mass_pairs)
    constants, off_mass, off_damping = at(bars.constants, b), at(bars.off_mass, b), at(bars.off_damping, b)
    its = Bars(bars.nodes, bars.kinds, bars.blocks, constants, bars.table, off_mass, off_damping, bars.rods)
    ties = Springs(springs.dofs, at(springs.constants, b), springs.table, springs.pair)
    equations, ropes, tree = problem.equations, problem.ropes, problem.tree
    return Problem(own, its, ties, None, True, equations, ropes, problem.solver, tree, problem.equation)


@inner_kernel
def loading_of(b: int, loading: Loading) -> Loading:
    """The part of block b."""
    curve = min(b, loading.factors.shape[0] - 1)
    vectors, gravity, weighted = at(loading.vectors, b), loading.is_gravity, loading.weighted[curve]
    dofs, factors, start = loading.support_dofs, loading.factors[curve], loading.support_start[b]
    u, v, a, time = loading.support_u[b], loading.support_v[b], loading.support_a[b], loading.time
    end, mean = at(loading.thermal_end, b), at(loading.thermal_mean, b)
    return Loading(loading.dt, time, vectors, gravity, weighted, factors, dofs, u, v, a, start, end, mean)


@kernel
def march_blocks(first: int, last: int, stride: int, options: Ints, row: Floats, fleet: Fleet) -> None:
    """``open_lanes`` and ``march_lanes`` for blocks first..last, one after the other.

    options  secant, extrapolation, increments before the energy watch, whether accelerations are wanted at the start,
             whether the tangent is symmetric
    row      the numbers of the scheme
    """
    scheme, start, room, record = coefficients_of(row, options), fleet.start, fleet.room, fleet.record
    for b in range(first, last):
        u, v, a, origin, lagged = local(room.u), local(room.v), local(room.a), local(room.u), local(room.lagged)
        force, flow, reaction = local(room.force), local(room.flow), local(room.force)
        multiplier, energies, memory = local(room.multiplier), local(start.energies), local(start.memory)
        state, power = local(room.state), local(room.power)
        motion = Motion(u, v, a, force, flow, reaction, multiplier, energies, memory, origin, lagged, state, power)
        for dof in range(motion.u.shape[0]):
            motion.u[dof], motion.v[dof], motion.a[dof] = start.u[b, dof], start.v[b, dof], start.a[b, dof]
        its = room.tangent  # room for registers: it lasts as long as the kernel that asks for it
        bar_tangent, off, block, cross = local(its.bar_tangent), local(its.off), local(its.block), local(its.cross)
        tangent = Tangent(its.ends, bar_tangent, off, block, its.pairs, cross)
        work = Scratch(
            local(room.u), local(room.v), local(room.a), local(room.force), local(room.flow), local(room.load),
            local(room.known_force), local(room.residual), local(room.shift), local(room.inertia),
            local(room.momentum), local(room.damping_force), local(room.du), local(room.multiplier), local(room.tau),
            local(room.pinned), tangent, local(room.block), local(room.inverse), local(room.reaction),
            local(room.band), local(room.unknowns), local(room.krylov), local(room.kept), local(room.whole),
            local(room.pulls), local(room.lagged), local(room.state), local(room.power), local(room.mass_before),
        )  # fmt: skip
        kept = Record(
            record.increments[b], record.nodes, record.kinematics[b], record.elements, record.values[b], record.touching
        )
        problem, loading = of_block(b, fleet.problem), loading_of(b, fleet.loading)
        through = Passage(scheme, at(fleet.limits, b), problem, loading, motion, work, kept)
        open_lanes(options[3] != 0, through, fleet.outcome[b])
        march_lanes(options[4] != 0, options[2], stride, through, fleet.outcome[b])
