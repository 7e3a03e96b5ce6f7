"""Energy balance of an increment: reactions, energies, the row that is recorded."""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.assembly.equations import condense, expand
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.compiled.lanes import every, some, where
from fem.forces.bar import (
    AREA,
    INV_LENGTH,
    MINUS,
    PLUS,
    VISCOUS,
    Bars,
    bar_point,
    energy_of_bars,
    secant_thermal_work,
    thermal_work,
    trial_stress,
)
from fem.forces.families import element_values, write_masses
from fem.forces.laws import BILINEAR, fraction
from fem.forces.protocol import GIVEN, PULLED, SPENT, TAKEN, WEIGHT
from fem.forces.springs import elongation
from fem.solve.newton.evaluate import (
    is_lumped,
    keep_forces,
    multiply_dampings,
    multiply_masses,
    multiply_masses_with,
    turning_work,
)
from fem.solve.newton.groups import ENERGY, MEMORY, ROW, Ledger, Loading, Motion, Nodes, Problem, Scratch
from fem.solve.newton.project import projected_work
from fem.solve.schemes import Coefficients

NEGLIGIBLE = 1e-3
"""An energy error below this fraction of the allowed fraction of the energies themselves is no drift: a freely spinning
wheel exchanges almost no energy."""
ROUND_OFF = 1e-14
"""Rounding error as a fraction of the largest force times displacements (of the increment, without motion before):
cancelling forces do not show their rounding errors."""
TRAVEL_NOISE = 1e-10
"""Rounding error of many increments as a fraction of the kinetic energy, with that of the mean motion."""
ROD_NOISE = 1e-15
"""Strain of rods that is a rounding error: with their pulls it is all the energy of masses at rest on ropes."""


@kernel
def balance_forces(
    scheme: Coefficients, secant: bool, k: int, problem: Problem, loading: Loading, a: Floats, work: Scratch
) -> None:
    """Reactions of the trial state into ``work.reaction``: f_int + C v + M a - f_ext at supported dofs; at others 0, or
    what equations hand on there.
    ``secant``: the residual of the increment's equilibrium there, which is the mean reaction.
    ``a``: accelerations; M a is found in ``work.inertia`` unless the mass is lumped."""
    nodes, equations = problem.nodes, problem.equations
    reaction, force, inertia = work.reaction, work.force, work.inertia
    fraction, has_equations, is_diagonal = scheme.wc, equations.slave.shape[0] > 0, is_lumped(problem)
    dynamic, is_damped = scheme.wm != 0.0, nodes.damping.shape[0] > 0
    for dof in range(reaction.shape[0]):
        if nodes.dof_kind[dof] != 0 and not has_equations:
            continue  # it remains zero
        value = force[dof]
        if dynamic or secant:
            value += nodes.mass[dof] * a[dof] if is_diagonal else inertia[dof]
            if is_damped:
                value += (fraction if secant else 1.0) * work.damping_force[dof]
        if secant:
            value -= work.known_force[dof]
        else:
            for p in range(loading.vectors.shape[0]):
                value -= loading.factors[k + 1, p] * loading.vectors[p, dof]
        reaction[dof] = value
    if has_equations:
        own = work.rise
        for dof in range(reaction.shape[0]):
            own[dof] = reaction[dof]
        condense(equations, reaction)
        for dof in range(reaction.shape[0]):
            if nodes.dof_kind[dof] != 0:
                reaction[dof] = 0.0
        for s in range(equations.slave.shape[0]):
            reaction[equations.slave[s]] = own[equations.slave[s]]
            for m in range(equations.start[s], equations.start[s + 1]):
                if nodes.dof_kind[equations.master[m]] != 0:
                    reaction[equations.master[m]] = own[equations.master[m]]


@inner_kernel
def take_over(lags: bool, problem: Problem, motion: Motion, work: Scratch) -> None:
    """Accepts the trial state."""
    nodes, bars = problem.nodes, problem.bars
    for dof in range(work.u.shape[0]):
        motion.u[dof] = work.u[dof]
        motion.v[dof] = work.v[dof]
        motion.a[dof] = work.a[dof]
    keep_forces(motion, work)
    has_equations = problem.equations.slave.shape[0] > 0
    for dof in range(work.u.shape[0]):
        if nodes.dof_kind[dof] == 0 or has_equations:
            motion.reaction[dof] = work.reaction[dof]
    if lags:
        for dof in range(work.u.shape[0]):
            motion.lagged[dof] = work.lagged[dof]
    for r in range(bars.rods.shape[0]):
        motion.multiplier[bars.rods[r]] = work.multiplier[bars.rods[r]]


@called_kernel
def support_work(
    secant: bool, k: int, dynamic: bool, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """Work of moving supports in increment k.

    Mean reaction without inertia times displacement; mean velocity times change of their momentum, which is exact for
    their own mass; and if their velocity jumps at the start, the jump of kinetic energy.
    ``work.reaction`` holds the reactions of the trial state.
    """
    equations = problem.equations
    supports, start = loading.support_dofs, loading.support_start
    old, new, jumped = work.pull, work.gain, work.rise
    total = 0.0
    now = problem.nodes.directed_mass
    turns = now.shape[0] > 0 and not secant
    before = work.mass_before if turns else now
    inertia_at(dynamic, before, problem, motion.a, old)
    inertia_at(dynamic, now, problem, work.a, new)
    jump = 0.0
    for c in range(supports.shape[0]):
        dof = supports[c]
        pull = motion.reaction[dof] - old[dof] + work.reaction[dof] - new[dof]
        if secant:
            pull = 2.0 * (work.reaction[dof] - new[dof])
        total += 0.5 * pull * (work.u[dof] - motion.u[dof])
        jump = max(jump, abs(start[k, c] - motion.v[dof]))
    if not dynamic:
        return total
    for dof in range(jumped.shape[0]):
        jumped[dof] = motion.v[dof]
    if some(jump > 0.0):
        for c in range(supports.shape[0]):
            jumped[supports[c]] = start[k, c]
        expand(equations, jumped)
        multiply_masses(problem, motion.v, old)
        multiply_masses(problem, jumped, new)
        for dof in range(jumped.shape[0]):
            total += where(jump > 0.0, 0.5 * (jumped[dof] * new[dof] - motion.v[dof] * old[dof]), 0.0)
    for dof in range(jumped.shape[0]):
        jumped[dof] = work.v[dof] - jumped[dof]
    inertia_at(dynamic, now, problem, jumped, new)
    if turns:
        inertia_at(dynamic, before, problem, jumped, old)
    for c in range(supports.shape[0]):
        dof = supports[c]
        momentum = 0.5 * (old[dof] + new[dof]) if turns else new[dof]
        total += 0.5 * (start[k, c] + work.v[dof]) * momentum
    return total


@called_kernel
def travel_work(dt: float, problem: Problem, motion: Motion, work: Scratch) -> float:
    """What external forces do at the mean velocity V of all supports, beyond their means in an increment.

    V.(sum of M (v1 - v) - dt/2 sum of M (a + a1)), both sums over what is free: schemes with numerical damping, and
    those that project velocities of rods, give it other impulses than the means of reactions and loads have. With this
    part, energies balance alike in every frame that travels, also where supports jerk rods; at rest it is nothing.
    """
    nodes, moved, found = problem.nodes, work.rise, 0.0
    for dof in range(moved.shape[0]):
        moved[dof] = work.v[dof] - motion.v[dof] - 0.5 * dt * (motion.a[dof] + work.a[dof])
    multiply_masses(problem, moved, work.gain)
    condense(problem.equations, work.gain)
    for c in range(3):
        speed, count, momentum = 0.0, 0.0, 0.0
        for dof in range(c, moved.shape[0], 3):
            if nodes.dof_kind[dof] == 1:
                momentum += work.gain[dof]
            elif nodes.dof_kind[dof] == 0:  # what belongs to no element stays behind
                both = 0.5 * (motion.v[dof] + work.v[dof])
                acts = (nodes.mass[dof] > 0.0) | (motion.reaction[dof] != 0.0) | (work.reaction[dof] != 0.0)
                speed += both
                count += where(acts | (both != 0.0), 1.0, 0.0)
        found += speed / max(count, 1.0) * momentum
    return found


@inner_kernel
def inertia_at(dynamic: bool, directed: Floats, problem: Problem, x: Floats, product: Floats) -> None:
    """product = M x with the part of dependent dofs transferred to their masters; zero in statics.
    directed  mass of families"""
    if dynamic:
        multiply_masses_with(directed, problem, x, product)
        condense(problem.equations, product)
    else:
        for dof in range(product.shape[0]):
            product[dof] = 0.0


@inner_kernel
def kinetic_energy(problem: Problem, work: Scratch) -> float:
    """v.M v/2 of the trial state; M v into ``work.momentum``, unless the mass is lumped."""
    mass, v, is_diagonal = problem.nodes.mass, work.v, is_lumped(problem)
    if not is_diagonal:
        multiply_masses(problem, v, work.momentum)
    energy = 0.0
    for dof in range(v.shape[0]):
        energy += 0.5 * v[dof] * (mass[dof] * v[dof] if is_diagonal else work.momentum[dof])
    return energy


@inner_kernel
def close_increment(
    scheme: Coefficients, k: int, strain: float, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """Updates the energies, and accepts the trial state. Returns the energy error.
    strain: stored energy of the trial state."""
    nodes, bars = problem.nodes, problem.bars
    secant, energies, u0, u1 = scheme.secant, motion.energies, motion.u, work.u
    dynamic = scheme.wm != 0.0
    if dynamic and nodes.directed_mass.shape[0] > 0:
        write_masses(problem.families, loading.time[k], nodes.place, u0, motion.state, work.mass_before)
    balance_forces(scheme, secant, k, problem, loading, work.a, work)
    now = min(k + 1, loading.thermal_end.shape[0] - 1)
    before = min(k, loading.thermal_end.shape[0] - 1)
    work_done, travelled = 0.0, 0.0
    potential = 0.0
    for p in range(loading.vectors.shape[0]):
        old, new = loading.factors[k, p], loading.factors[k + 1, p]
        if every((old == 0.0) & (new == 0.0)):
            continue
        at0 = 0.0
        at1 = 0.0
        for dof in range(u1.shape[0]):
            at0 += loading.vectors[p, dof] * u0[dof]
            at1 += loading.vectors[p, dof] * u1[dof]
        if loading.is_gravity[p] == 1:
            potential -= new * at1
            work_done -= 0.5 * (new - old) * (at0 + at1)
        else:
            work_done += 0.5 * (old + new) * (at1 - at0)
    if loading.support_dofs.shape[0] > 0:
        work_done += support_work(secant, k, dynamic, problem, loading, motion, work)
        if secant and scheme.projects:
            work_done -= projected_work(problem, loading, motion, work)
        is_at_rest = nodes.damping.shape[0] > 0  # there is one frame, in which masses are damped
        if (scheme.takes or scheme.projects) and not (secant or is_at_rest):
            travelled = travel_work(loading.dt[k], problem, motion, work)
            work_done += travelled
    has_books = work.power.shape[0] > 0
    if has_books:
        potential += work.power[WEIGHT]
    kinetic = 0.0
    if dynamic:
        loss, late = 0.0, scheme.late
        of_end = 1.0 if secant else late  # a secant force is that of the increment
        for dof in range(work.flow.shape[0]):
            loss += ((1.0 - of_end) * motion.flow[dof] + of_end * work.flow[dof]) * (u1[dof] - u0[dof])
        if now != before and secant:
            thermal_mean = loading.thermal_mean[min(k, loading.thermal_mean.shape[0] - 1)]
            work_done += secant_thermal_work(
                u0, u1, work.v, bars, loading.thermal_end[before], loading.thermal_end[now], work.multiplier
            )
            strain += energy_of_bars(u1, work.v, bars, loading.thermal_end[now], work.multiplier)
            strain -= energy_of_bars(u1, work.v, bars, thermal_mean, work.multiplier)
        elif now != before:
            work_done += thermal_work(
                u0, u1, work.v, bars, loading.thermal_end[before], loading.thermal_end[now], work.multiplier
            )
        if nodes.damping.shape[0] > 0:
            multiply_dampings(problem, motion.v, work.pull)
            for dof in range(u1.shape[0]):
                loss += ((1.0 - late) * work.pull[dof] + late * work.damping_force[dof]) * (u1[dof] - u0[dof])
        averages, moved = scheme.takes and scheme.late == 0.5, 0.0
        if averages and (work.flow.shape[0] > 0 or nodes.damping.shape[0] > 0):
            moved = averaged_loss(scheme, loading.dt[k], problem, motion, work)
            loss += moved
        if work.flow.shape[0] > 0 and not secant:
            loss -= slack_way(of_end, scheme.onset * loading.dt[k], before, now, bars, loading, motion, work)
        if problem.is_passive:  # a cable that goes slack within the increment has dissipated nothing
            loss = max(loss, 0.0)
        if nodes.directed_mass.shape[0] > 0:
            work_done += turning_work(secant, k, problem, loading, motion, work)
        if has_books:
            spent = loading.dt[k] * ((1.0 - of_end) * motion.power[SPENT] + of_end * work.power[SPENT])
            work_done += spent + work.power[GIVEN]
            loss += spent + work.power[TAKEN]
        kinetic = kinetic_energy(problem, work)
        energies[ENERGY.work] += work_done
        energies[ENERGY.dissipated] += loss
        if scheme.takes:
            taken = numerical_dissipation(scheme, k, problem, loading, motion, work)
            energies[ENERGY.numerical] += taken - moved + travelled
    else:
        if has_books:
            energies[ENERGY.dissipated] += work.power[TAKEN]
        given = strain + potential - energies[ENERGY.total0]
        energies[ENERGY.work] = given + energies[ENERGY.dissipated] - energies[ENERGY.error0]
    energies[ENERGY.kinetic], energies[ENERGY.strain], energies[ENERGY.potential] = kinetic, strain, potential
    exchanged = max(energies[ENERGY.exchanged], abs(kinetic - energies[ENERGY.kinetic0]))
    exchanged = max(exchanged, abs(strain - energies[ENERGY.strain0]))
    exchanged = max(exchanged, abs(potential - energies[ENERGY.potential0]))
    energies[ENERGY.exchanged] = max(exchanged, abs(energies[ENERGY.work] - energies[ENERGY.work0]))
    motion.memory[MEMORY.onset] = scheme.onset * loading.dt[k]
    take_over(scheme.lags, problem, motion, work)
    held: float = energies[ENERGY.kinetic] + energies[ENERGY.strain] + energies[ENERGY.potential]
    error: float = held - energies[ENERGY.total0] - energies[ENERGY.work] + energies[ENERGY.dissipated]
    return error


@called_kernel
def averaged_loss(scheme: Coefficients, dt: float, problem: Problem, motion: Motion, work: Scratch) -> float:
    """Energy dissipated according to the recursion of the scheme, less (q).du. Supports take part in it with their way,
    so that the sum is the same in every frame that travels."""
    nodes, before, after = problem.nodes, work.pull, work.damping_force
    flows, is_damped, late, moved = work.flow.shape[0] > 0, nodes.damping.shape[0] > 0, scheme.vu / scheme.au, 0.0
    if is_damped:
        multiply_dampings(problem, motion.v, before)
    for dof in range(work.u.shape[0]):
        q0 = (motion.flow[dof] if flows else 0.0) + (before[dof] if is_damped else 0.0)
        q1 = (work.flow[dof] if flows else 0.0) + (after[dof] if is_damped else 0.0)
        r0 = motion.spent[dof]
        r1 = (scheme.wf * q1 + (1.0 - scheme.wf) * q0 - (1.0 - scheme.wm) * r0) / scheme.wm
        motion.spent[dof] = r1
        way = work.u[dof] - motion.u[dof]
        path = way if nodes.dof_kind[dof] == 0 else 0.5 * dt * (motion.v[dof] + work.v[dof])
        moved += path * ((1.0 - late) * r0 + late * r1) - 0.5 * (q0 + q1) * way
    return moved


@called_kernel
def slack_way(
    of_end: float, onset: float, before: int, now: int, bars: Bars, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """(q).du of the dampers of cables and struts that become taut or go slack, less their actual dissipation."""
    lost, thermal0, thermal1 = 0.0, loading.thermal_end[before], loading.thermal_end[now]
    for e in range(bars.nodes.shape[0]):
        plus, minus = bars.constants[PLUS, e], bars.constants[MINUS, e]
        if bars.kinds[e, 1] != BILINEAR or every((plus == minus) | (bars.constants[VISCOUS, e] == 0.0)):
            continue
        strain0, _, damping0, _, _, _ = bar_point(
            e, motion.u, motion.v, bars, thermal0, motion.multiplier, motion.memory[MEMORY.onset]
        )
        strain1, _, damping1, _, _, _ = bar_point(e, work.u, work.v, bars, thermal1, work.multiplier, onset)
        trial0, trial1 = trial_stress(e, strain0, thermal0, bars), trial_stress(e, strain1, thermal1, bars)
        crosses, slack = trial0 * trial1 < 0.0, where(plus > minus, min(trial0, trial1), max(trial0, trial1))
        part = where(crosses, abs(slack) / where(crosses, abs(trial1 - trial0), 1.0), 0.0)
        part *= 1.0 - min(plus, minus) / where(plus != minus, max(plus, minus), 1.0)
        mean = (1.0 - of_end) * damping0 + of_end * damping1
        whole = mean * (strain1 - strain0) * bars.constants[AREA, e] / bars.constants[INV_LENGTH, e]
        lets_go = abs(fraction(trial1, plus, minus)) < abs(fraction(trial0, plus, minus))
        taken = max(where(lets_go, 1.0 - part, 1.0) * whole, 0.0)
        lost += where(crosses, whole - taken, 0.0)
    return lost


@kernel
def relative_energy(ground: float, nodes: Nodes, v: Floats) -> tuple[float, float, float, float]:
    """Kinetic energy relative to a velocity, and this velocity: 0 if ``ground`` is 1, else the mean of the supports, or
    without supports of the mass, by component."""
    energy, x, y, z = 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        held, speed, mass, momentum = 0.0, 0.0, 0.0, 0.0
        for dof in range(c, v.shape[0], 3):
            held += 1.0 - nodes.mask[dof]
            speed += (1.0 - nodes.mask[dof]) * v[dof]
            mass += nodes.mass[dof]
            momentum += nodes.mass[dof] * v[dof]
        of_mass = momentum / where(mass > 0.0, mass, 1.0)
        frame = where(held > 0.0, speed / where(held > 0.0, held, 1.0), of_mass) * (1.0 - ground)
        for dof in range(c, v.shape[0], 3):
            energy += 0.5 * nodes.mass[dof] * (v[dof] - frame) * (v[dof] - frame)
        x, y, z = y, z, frame
    return energy, x, y, z


@kernel
def has_drifted(nodes: Nodes, bars: Bars, motion: Motion, dt: float, error: float, fraction: float) -> bool:
    """Whether the energy error since the start of the step exceeds its fraction of the energy, beyond rounding errors:
    the energy exchanged, or the present kinetic energy without that of the mean motion."""
    energies = motion.energies
    change = abs(error - energies[ENERGY.error0])
    allowed = fraction * energies[ENERGY.exchanged]
    if not some((fraction >= 0.0) & (change > allowed)):
        return False
    kinetic, _, _, _ = relative_energy(0.0, nodes, motion.v)
    allowed = fraction * max(energies[ENERGY.exchanged], kinetic)
    size = kinetic + abs(energies[ENERGY.strain]) + abs(energies[ENERGY.potential]) + abs(energies[ENERGY.work])
    move, pull = 0.0, 0.0
    for dof in range(motion.u.shape[0]):
        move += abs(motion.u[dof]) + dt * (abs(motion.v[dof]) + dt * abs(motion.a[dof]))
        held = abs(motion.reaction[dof]) if nodes.dof_kind[dof] == 0 else 0.0
        pull = max(pull, abs(motion.force[dof]) + held)
    noise = NEGLIGIBLE * fraction * size + TRAVEL_NOISE * energies[ENERGY.kinetic] + ROUND_OFF * pull * move
    for r in range(bars.rods.shape[0]):  # multipliers are forces over lengths
        inverse = bars.constants[INV_LENGTH, bars.rods[r]]
        noise += ROD_NOISE * abs(motion.multiplier[bars.rods[r]]) / (inverse * inverse)
    is_beyond: bool = (fraction >= 0.0) & (change > allowed + noise)
    return is_beyond


@kernel
def note_increment(
    k: int, iterations: float, norm: float, scale: float, flags: float, error: float, problem: Problem, thermal: Floats,
    motion: Motion, record: Ledger,
) -> None:  # fmt: skip
    """Write the row of increment k."""
    bars, springs = problem.bars, problem.springs
    increments, energies, u = record.increments, motion.energies, motion.u
    increments[k, ROW.iterations] = iterations
    increments[k, ROW.norm] = where(scale > 0.0, norm / scale, norm)
    increments[k, ROW.kinetic], increments[k, ROW.strain] = energies[ENERGY.kinetic], energies[ENERGY.strain]
    increments[k, ROW.potential], increments[k, ROW.work] = energies[ENERGY.potential], energies[ENERGY.work]
    increments[k, ROW.dissipated], increments[k, ROW.error] = energies[ENERGY.dissipated], error
    increments[k, ROW.numerical] = energies[ENERGY.numerical]
    largest = 0.0
    for i in range(record.shown[0]):
        largest = max(largest, u[3 * i] * u[3 * i] + u[3 * i + 1] * u[3 * i + 1] + u[3 * i + 2] * u[3 * i + 2])
    increments[k, ROW.largest] = math.sqrt(largest)
    increments[k, ROW.flags] = flags
    kinematics = record.kinematics
    for p in range(record.nodes.shape[0]):
        for c in range(3):
            dof = 3 * record.nodes[p] + c
            kinematics[k, 0, p, c] = u[dof]
            kinematics[k, 1, p, c] = motion.v[dof]
            kinematics[k, 2, p, c] = motion.a[dof]
            kinematics[k, 3, p, c] = motion.reaction[dof] if problem.nodes.dof_kind[dof] == 0 else 0.0
            if kinematics.shape[1] > 6:
                kinematics[k, 6, p, c] = motion.reaction[dof]
    if record.elements.shape[0] > 0:
        element_values(
            record.elements, u, motion.v, bars, springs, problem.families, thermal, motion.multiplier, motion.state,
            record.values[k], motion.memory[MEMORY.onset],
        )  # fmt: skip
    for t in range(record.touching.shape[0]):
        place, row, first = record.touching[t, 0], record.touching[t, 1], record.touching[t, 2]
        for c in range(3 if row >= 0 else 0):
            kinematics[k, row, place, c] += motion.state[first + c]
        for c in range(3, min(record.values.shape[2], 5) if row == PULLED else 3):  # T and T2
            record.values[k, place, c] += motion.state[first]


@called_kernel
def note_ranges(problem: Problem, u: Floats, memory: Floats, record: Ledger) -> None:
    """Records the bars and springs with the largest excess over their ranges."""
    bars, springs, place, watched = problem.bars, problem.springs, problem.nodes.place, record.watched
    for w in range(watched.shape[0]):
        index, at = watched[w, 1], watched[w, 2]
        if watched[w, 0] == 1:
            x = elongation(springs.dofs, index, u)
        else:
            i, j = 3 * bars.nodes[index, 0], 3 * bars.nodes[index, 1]
            square = 0.0
            for c in range(3):
                d = place[j + c] + u[j + c] - place[i + c] - u[i + c]
                square += d * d
            x = 0.5 * (square * bars.constants[INV_LENGTH, index] * bars.constants[INV_LENGTH, index] - 1.0)
        excess = max(x - record.allowed[w, 1], record.allowed[w, 0] - x)
        if excess > memory[at]:
            memory[at], memory[at + 1], memory[at + 2] = excess, float(w), x


# Energy dissipated by a scheme in an increment (numerical damping), from its coefficients.
#
# With d = values of the end less those of the start, (.) = their mean, the energies change by
#
#     (v).M dv + W1 - W - (p).du - (r).du + booked losses,    (r) the mean force of supports, less its inertia
#
# The equilibrium of the increment times du, M a_m + f + (WF - 1/2) df + ... = (p) + (WC - 1/2) dp, takes that apart:
#
#     - D + T,    D = du.M a_m - (v).M dv + (WF - 1/2) du.df - (WC - 1/2) du.dp - (LATE - 1/2) du.dq
#                 a_m = WM a1 + (1 - WM) a,    q the forces that lose energy, f all internal ones, C v among both
#                 T = W1 - W - (f - q).du
#
# D is the numerical damping: an identity, for free dofs. T is the error of the trapezoidal rule for work of internal
# forces: zero in linear problems, O(dt^3) per increment in others, of either sign; it is no damping, and counts as
# drift. With dampers that dt does not resolve, velocities and their forces oscillate: (q).du is then arbitrary, and D
# cancels it. Schemes that average forces therefore compute the dissipation of kinetic energy by q from their own
# recursion,
#
#     dt (v).((1 - GAMMA) r + GAMMA r1),    WM r1 + (1 - WM) r = WF q1 + (1 - WF) q,    GAMMA = VU/AU
#
# where - r is the part of q in M a. For a damper alone it is the loss of its mass; for motion that dt resolves it
# differs from (q).du by second order. At supports, whose reactions enter by their mean, (q).du is used; what their
# impulses do beyond that, where they travel, is work of supports and part of D (``travel_work``).
#
# A cable that goes slack within the increment dissipates only while it is taut: its motion while slack does no work.
# Dampers delay the decrease of its strain, so that increments of many times BETA would count this motion at their
# stress. A cable that becomes taut is damped along the whole way, by the scheme: in an increment that does not
# resolve m/c it loses as much as in an inelastic impact. Neither may gain energy: if a damper would, the cable has
# stretched by more than the energy allows, which counts as an error (``slack_way``).
#
# For Newmark's family D is (gamma - 1/2)(du.K du + (beta - gamma/2) dt^2 da.M da) and (beta - gamma/2) dt^2 times the
# change of a.M a/2 (undamped), so that its sum is never negative from rest where beta >= gamma/2 >= 1/4.
#
# Sources: Hughes, The Finite Element Method, 9.3; Krenk, Comput. Methods Appl. Mech. Eng. 195 (2006) 6110-6124.
@called_kernel
def numerical_dissipation(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """D of increment k, whose end is the trial state.
    a and a1 are those of the recursion, not those projected for the tables."""
    nodes, equations, supports, dt = problem.nodes, problem.equations, loading.support_dofs, loading.dt[k]
    before = motion.lagged if scheme.lags else motion.a
    mean, rise, force, change = work.mean, work.rise, work.pull, work.gain
    au, av, aa, wm = scheme.wm * scheme.au / (dt * dt), scheme.wm * scheme.av / dt, scheme.wm * scheme.aa, scheme.wm
    u0, v0, u1, v1 = motion.u, motion.v, work.u, work.v
    for dof in range(u1.shape[0]):
        mean[dof] = au * (u1[dof] - u0[dof]) + av * v0[dof] + (aa + 1.0 - wm) * before[dof]
        rise[dof] = v1[dof] - v0[dof]
    for c in range(supports.shape[0]):
        dof = supports[c]
        own = wm * work.a[dof] + (1.0 - wm) * before[dof]
        mean[dof] = own + (scheme.wf - wm) * (work.a[dof] - motion.a[dof])
        rise[dof] = v1[dof] - loading.support_start[k, c]
    if supports.shape[0] > 0:
        expand(equations, mean)
        expand(equations, rise)
    if is_lumped(problem):
        for dof in range(u1.shape[0]):
            force[dof] = nodes.mass[dof] * mean[dof]
            change[dof] = nodes.mass[dof] * rise[dof]
    else:
        multiply_masses(problem, mean, force)
        multiply_masses(problem, rise, change)
    late, part = scheme.late - 0.5, scheme.wf - 0.5
    taken = 0.0
    for dof in range(u1.shape[0]):
        force[dof] += part * (work.force[dof] - motion.force[dof])
        taken += (u1[dof] - u0[dof]) * force[dof] - (v1[dof] - 0.5 * rise[dof]) * change[dof]
    for dof in range(work.flow.shape[0]):
        taken -= late * (u1[dof] - u0[dof]) * (work.flow[dof] - motion.flow[dof])
    if nodes.damping.shape[0] > 0:
        multiply_dampings(problem, v0, mean)
        for dof in range(u1.shape[0]):
            lost = work.damping_force[dof] - mean[dof]
            force[dof] += (scheme.wc - 0.5) * lost
            taken += (scheme.wc - 0.5 - late) * (u1[dof] - u0[dof]) * lost
    for p in range(loading.vectors.shape[0]):
        factor = loading.weighted[k, p] - 0.5 * (loading.factors[k, p] + loading.factors[k + 1, p])
        if some(factor != 0.0):
            for dof in range(u1.shape[0]):
                force[dof] -= factor * loading.vectors[p, dof]
                taken -= factor * (u1[dof] - u0[dof]) * loading.vectors[p, dof]
    if supports.shape[0] > 0:
        condense(equations, force)
        condense(equations, change)
        for c in range(supports.shape[0]):
            dof = supports[c]
            taken -= (u1[dof] - u0[dof]) * force[dof] - (v1[dof] - 0.5 * rise[dof]) * change[dof]
    return taken
