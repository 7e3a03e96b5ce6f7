"""The one Newton loop: every implicit scheme, statics included, every model size, every linear solver.

A scheme is a row of numbers (``solve/schemes``). With u the unknown at t_{n+1} and values without index at t_n:

    v1 = VU (u1 - u)/dt + VV v + VA dt a,    a1 = AU (u1 - u)/dt^2 + AV v/dt + AA a
    WM M a1 + (1 - WM) M a + WF f1 + (1 - WF) f + C (WC v1 + (1 - WC) v) = f_ext, weighted in time by the caller

``march`` walks a chunk of increments and Newton iterations. Where the linear solver is not compiled code it *returns*
NEED_SOLVE with residual and tangent filled in; the caller writes ``du`` and calls again with the same ``control``.
A failed increment leaves ``Motion`` at its last good state, so that every retry starts clean.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE (numerics.md, section 4): the test comes after
each solve, ``iterations`` counts solves, |R|_inf over free dofs is compared with RESI_GLOB_RELA * D.
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.mechanics.bar import ALPHA, GEOMETRIC, Bars, P, Q, evaluate_bars
from fem.mechanics.energy import element_values, internal_dissipation, stored_energy, thermal_work
from fem.mechanics.links import Links, condense, expand
from fem.mechanics.mass import multiply_mass
from fem.mechanics.springs import Springs, evaluate_springs
from fem.solve.linear.band import assemble_band, solve_band
from fem.solve.linear.chain import Tree, solve_chain

# Why march returned
DONE, NEED_SOLVE, NOT_CONVERGED, NOT_FINITE, DRIFT = 0, 1, 2, 3, 4
# Linear solvers
EXTERNAL, CHAIN, BAND = 0, 1, 2
# Entries of a scheme row; MOMENTUM weighs |M v|/dt in the scale D, VISCOUS switches rate terms on
VU, VV, VA, AU, AV, AA, WM, WF, WC, MOMENTUM, VISCOUS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
SCHEME = 11
# Entries of limits: None on the Python side is a negative number here
RELATIVE, ABSOLUTE, CORRECTION, ITERATIONS, FLOOR, DRIFT_SHARE = 0, 1, 2, 3, 4, 5
# Entries of control
INCREMENT, ITERATION, WAITING, WORST = 0, 1, 2, 3
# Entries of memory: last converged |R|, smallest converged D (0: none yet), |R| of the iteration before
LAST_RESIDUAL, SMALLEST_SCALE, PREVIOUS = 0, 1, 2
# Entries of tally
KINETIC, STRAIN, POTENTIAL, WORK, DISSIPATED, TOTAL0, ERROR0, KINETIC0, STRAIN0, POTENTIAL0, WORK0, EXCHANGED = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
)  # fmt: skip
TALLY = 12
# Columns of the ledger
L_ITERATIONS, L_NORM, L_SCALE, L_KINETIC, L_STRAIN, L_POTENTIAL, L_WORK, L_DISSIPATED, L_ERROR, L_LARGEST, L_FLAGS = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
)  # fmt: skip
LEDGER = 11
# Flags of an increment
AT_FLOOR, LOADS_VANISHED = 1, 2

ENERGY_NOISE = 1e-9
"""Share of the energies themselves below which an energy error is round-off, whatever was exchanged."""


class Nodes(NamedTuple):
    """Nodal part of the system.

    mass, damping (n,)  diagonal mass, mass-proportional damping (damping empty: none)
    free     (3n,)      1 free, 0 supported, 2 dependent on others through an equation
    held     (n, 9)     tangent-only stiffness of directions without stiffness and load (statics); empty: none
    """

    mass: Floats
    damping: Floats
    free: Ints
    held: Floats


class Loading(NamedTuple):
    """What acts during a chunk of k increments.

    dt        (k,)      increments
    vectors   (p, 3n)   load vectors;  is_gravity (p,) 1 where it has a potential
    weighted  (k, p)    their factors in the scheme's equilibrium
    factors   (k+1, p)  their factors at the ends of the increments
    support_dofs (c,), support_u, support_v, support_a (k, c)  prescribed motion
    thermal   (1 or k+1, m)  thermal strain of the bars, constant or at the ends of the increments
    """

    dt: Floats
    vectors: Floats
    is_gravity: Ints
    weighted: Floats
    factors: Floats
    support_dofs: Ints
    support_u: Floats
    support_v: Floats
    support_a: Floats
    thermal: Floats


class Motion(NamedTuple):
    """The last good state: u, v, a, internal force, reaction (3n,), the energy tally and the convergence memory."""

    u: Floats
    v: Floats
    a: Floats
    force: Floats
    reaction: Floats
    tally: Floats
    memory: Floats


class Scratch(NamedTuple):
    """Trial state and working room; ``du`` is written by whoever solves."""

    u: Floats
    v: Floats
    a: Floats
    force: Floats
    load: Floats
    carry: Floats
    residual: Floats
    shift: Floats
    inertia: Floats
    momentum: Floats
    drag: Floats
    du: Floats
    store: Floats
    off: Floats
    spring_stiffness: Floats
    block: Floats
    inverse: Floats
    reduced: Floats
    band: Floats


class Record(NamedTuple):
    """What is kept of every increment of a chunk.

    ledger (k, LEDGER); nodes (p,) and kinematics (k, 4, p, 3): u, v, a, reaction of recorded nodes;
    elements (q, 2) family and index, values (k, q, 4): E, S, N, T of recorded elements
    """

    ledger: Floats
    nodes: Ints
    kinematics: Floats
    elements: Ints
    values: Floats


@kernel
def evaluate(
    scheme: Floats, secant: bool, dt: float, u0: Floats, bars: Bars, springs: Springs, thermal: Floats, work: Scratch
) -> None:
    """Internal force at the trial state, and the numbers of all bars and springs."""
    rate = scheme[VISCOUS] * scheme[VU] / dt
    work.force[:] = 0.0
    evaluate_bars(secant, scheme[WF], rate, u0, work.u, work.v, bars, thermal, work.force, work.store)
    evaluate_springs(
        secant, scheme[WF], rate, u0, work.u, work.v, springs, work.force, work.spring_stiffness
    )


@kernel
def inertia_forces(nodes: Nodes, bars: Bars, v: Floats, a: Floats, inertia: Floats, drag: Floats) -> None:
    """inertia = M a, drag = C v (mass-proportional part)."""
    multiply_mass(nodes.mass, bars.off_mass, bars.nodes, a, inertia)
    if nodes.damping.shape[0] > 0:
        multiply_mass(nodes.damping, bars.off_damping, bars.nodes, v, drag)


@kernel
def combine(vectors: Floats, factors: Floats, k: int, total: Floats) -> None:
    """total = sum of factors[k, p] vectors[p]."""
    total[:] = 0.0
    for p in range(vectors.shape[0]):
        factor = factors[k, p]
        if factor != 0.0:
            for dof in range(total.shape[0]):
                total[dof] += factor * vectors[p, dof]


@kernel
def begin(
    scheme: Floats, extrapolation: int, k: int, dt: float, nodes: Nodes, bars: Bars, links: Links, loading: Loading,
    motion: Motion, work: Scratch,
) -> None:  # fmt: skip
    """First guess of increment k and everything that stays known during it."""
    free = nodes.free
    u, v, a = motion.u, motion.v, motion.a
    trial_u, trial_v, trial_a, shift = work.u, work.v, work.a, work.shift
    inertia_forces(nodes, bars, v, a, work.inertia, work.drag)
    combine(loading.vectors, loading.weighted, k, work.load)
    linear = dt if extrapolation > 0 else 0.0
    square = 0.5 * dt * dt if extrapolation > 1 else 0.0
    for dof in range(u.shape[0]):
        work.carry[dof] = (
            work.load[dof]
            - (1.0 - scheme[WF]) * motion.force[dof]
            - (1.0 - scheme[WM]) * work.inertia[dof]
            - (1.0 - scheme[WC]) * work.drag[dof]
        )
        move = linear * v[dof] + square * a[dof]
        shift[dof] = 0.0
        trial_u[dof] = u[dof]
        if free[dof] == 0:
            trial_v[dof] = 0.0
            trial_a[dof] = 0.0
        else:
            trial_u[dof] += move
            trial_v[dof] = scheme[VU] * move / dt + scheme[VV] * v[dof] + scheme[VA] * dt * a[dof]
            trial_a[dof] = scheme[AU] * move / (dt * dt) + scheme[AV] * v[dof] / dt + scheme[AA] * a[dof]
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        trial_u[dof] += linear * v[dof] + square * a[dof]
        shift[dof] = loading.support_u[k, c] - trial_u[dof]
        trial_v[dof] = loading.support_v[k, c]
        trial_a[dof] = loading.support_a[k, c]
    expand(links, trial_v)
    expand(links, trial_a)
    expand(links, shift)
    mass_factor = scheme[WM] * scheme[AU] / (dt * dt)
    damping_factor = scheme[WC] * scheme[VU] / dt
    for e in range(bars.off_mass.shape[0]):
        work.off[e] = mass_factor * bars.off_mass[e] + damping_factor * bars.off_damping[e]


@kernel
def residual(
    scheme: Floats, dt: float, nodes: Nodes, bars: Bars, links: Links, control: Ints, work: Scratch
) -> tuple[float, float]:
    """Out-of-balance force of the trial state; its largest component over free dofs, and the scale D.

    D = max over all dofs of |f_int + C v| at supported and |f_ext - M a| at other dofs, and of |M v|/(beta dt).
    """
    free, force = nodes.free, work.force
    inertia_forces(nodes, bars, work.v, work.a, work.inertia, work.drag)
    scale = 0.0
    momentum_factor = scheme[MOMENTUM] / dt
    if momentum_factor > 0.0:
        multiply_mass(nodes.mass, bars.off_mass, bars.nodes, work.v, work.momentum)
    dynamic = 1.0 if scheme[WM] != 0.0 else 0.0
    for dof in range(force.shape[0]):
        work.residual[dof] = (
            work.carry[dof]
            - scheme[WF] * force[dof]
            - scheme[WM] * work.inertia[dof]
            - scheme[WC] * work.drag[dof]
        )
        if free[dof] == 0:
            size = abs(force[dof] + dynamic * work.drag[dof])
        else:
            size = abs(work.load[dof] - dynamic * work.inertia[dof])
        scale = max(scale, size)
        if momentum_factor > 0.0:
            scale = max(scale, momentum_factor * abs(work.momentum[dof]))
    condense(links, work.residual)
    norm = 0.0
    for dof in range(force.shape[0]):
        if free[dof] == 1:
            size = abs(work.residual[dof])
            if not size <= norm:  # also true for NaN
                norm = size
                control[WORST] = dof
                if size != size:
                    break
    return norm, scale


@kernel
def nodal_blocks(scheme: Floats, dt: float, nodes: Nodes, springs: Springs, work: Scratch) -> None:
    """Blocks of the effective tangent within one node, without the bars."""
    block = work.block
    mass_factor = scheme[WM] * scheme[AU] / (dt * dt)
    damping_factor = scheme[WC] * scheme[VU] / dt
    for i in range(block.shape[0]):
        diagonal = mass_factor * nodes.mass[i]
        if nodes.damping.shape[0] > 0:
            diagonal += damping_factor * nodes.damping[i]
        for k in range(9):
            block[i, k] = nodes.held[i, k] if nodes.held.shape[0] > 0 else 0.0
        for c in range(3):
            block[i, 4 * c] += diagonal
    for s in range(springs.dofs.shape[0]):
        first, second = springs.dofs[s, 0], springs.dofs[s, 1]
        stiffness = work.spring_stiffness[s]
        i, a = first // 3, first % 3
        if second < 0:
            block[i, 4 * a] += stiffness
        elif second // 3 == i:
            c = second % 3
            block[i, 4 * a] += stiffness
            block[i, 4 * c] += stiffness
            block[i, 3 * a + c] -= stiffness
            block[i, 3 * c + a] -= stiffness


@kernel
def multiply_tangent(bars: Bars, springs: Springs, work: Scratch, x: Floats, product: Floats) -> None:
    """product -= K x for the stiffness of bars and springs (no inertia); K as in the store."""
    nodes, store, dofs = bars.nodes, work.store, springs.dofs
    for e in range(nodes.shape[0]):
        i, j = 3 * nodes[e, 0], 3 * nodes[e, 1]
        along = 0.0
        for c in range(3):
            along += store[e, Q + c] * (x[j + c] - x[i + c])
        along *= store[e, ALPHA]
        for c in range(3):
            value = along * store[e, P + c] + store[e, GEOMETRIC] * (x[j + c] - x[i + c])
            product[i + c] += value
            product[j + c] -= value
    for s in range(dofs.shape[0]):
        value = x[dofs[s, 0]]
        if dofs[s, 1] >= 0:
            value -= x[dofs[s, 1]]
        value *= work.spring_stiffness[s]
        product[dofs[s, 0]] -= value
        if dofs[s, 1] >= 0:
            product[dofs[s, 1]] += value


@kernel
def correct(scheme: Floats, dt: float, nodes: Nodes, links: Links, work: Scratch) -> tuple[float, bool]:
    """Move the trial state by du (and, in the first iteration, the supports by ``shift``); largest |du|, finite?"""
    du, shift, free = work.du, work.shift, nodes.free
    expand(links, du)
    largest = 0.0
    for dof in range(du.shape[0]):
        step = du[dof]
        move = step + shift[dof]
        work.u[dof] += move
        shift[dof] = 0.0
        if free[dof] != 0:
            work.v[dof] += scheme[VU] / dt * step
            work.a[dof] += scheme[AU] / (dt * dt) * step
        if not abs(move) <= largest:
            largest = abs(move)
            if largest != largest:
                break
    return largest, largest < 1e300


@kernel
def is_converged(
    limits: Floats, memory: Floats, norm: float, scale: float, correction: float, moved: float, iteration: int
) -> tuple[bool, int]:
    """All given criteria hold, or the residual has reached the round-off floor; flags say what was special."""
    flags = 0
    good = True
    if limits[RELATIVE] >= 0.0:
        bound = limits[RELATIVE] * scale
        if memory[SMALLEST_SCALE] > 0.0 and scale <= 1e-6 * memory[SMALLEST_SCALE]:
            bound = max(bound, memory[LAST_RESIDUAL])
            flags = LOADS_VANISHED
        good = norm <= bound
    if limits[ABSOLUTE] >= 0.0:
        good = good and norm <= limits[ABSOLUTE]
    if limits[CORRECTION] >= 0.0:
        good = good and correction <= limits[CORRECTION] * moved
    if not good and iteration > 1 and norm >= memory[PREVIOUS] and norm <= limits[FLOOR]:
        return True, AT_FLOOR
    if flags == LOADS_VANISHED and norm <= limits[RELATIVE] * scale:
        flags = 0
    return good, flags


@kernel
def largest_move(u0: Floats, u1: Floats) -> float:
    """Largest component of u1 - u0."""
    largest = 0.0
    for dof in range(u0.shape[0]):
        largest = max(largest, abs(u1[dof] - u0[dof]))
    return largest


@kernel
def balance_forces(
    k: int, dynamic: bool, nodes: Nodes, links: Links, loading: Loading, work: Scratch
) -> None:
    """Reactions of the trial state into ``work.reduced``: f_int + C v + M a - f_ext at supported dofs, else 0."""
    reaction = work.reduced
    combine(loading.vectors, loading.factors, k + 1, reaction)
    for dof in range(reaction.shape[0]):
        reaction[dof] = work.force[dof] - reaction[dof]
        if dynamic:
            reaction[dof] += work.inertia[dof] + work.drag[dof]
    condense(links, reaction)
    for dof in range(reaction.shape[0]):
        if nodes.free[dof] != 0:
            reaction[dof] = 0.0


@kernel
def close_increment(
    scheme: Floats, k: int, nodes: Nodes, bars: Bars, springs: Springs, links: Links, loading: Loading,
    motion: Motion, work: Scratch,
) -> float:  # fmt: skip
    """Energies of the increment into the tally; the trial state becomes the last good one. Returns the energy error."""
    tally, u0, u1 = motion.tally, motion.u, work.u
    dynamic = scheme[WM] != 0.0
    balance_forces(k, dynamic, nodes, links, loading, work)
    now = min(k + 1, loading.thermal.shape[0] - 1)
    before = min(k, loading.thermal.shape[0] - 1)
    work_done = 0.0
    potential = 0.0
    for p in range(loading.vectors.shape[0]):
        old, new = loading.factors[k, p], loading.factors[k + 1, p]
        if old == 0.0 and new == 0.0:
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
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        work_done += 0.5 * (motion.reaction[dof] + work.reduced[dof]) * (u1[dof] - u0[dof])
    strain = stored_energy(u1, work.v, bars, springs, loading.thermal[now])
    kinetic = 0.0
    if dynamic:
        if now != before:
            work_done += thermal_work(u0, u1, work.v, bars, loading.thermal[before], loading.thermal[now])
        loss = internal_dissipation(u0, u1, motion.v, work.v, bars, springs, loading.thermal[now])
        if nodes.damping.shape[0] > 0:
            multiply_mass(nodes.damping, bars.off_damping, bars.nodes, motion.v, work.momentum)
            for dof in range(u1.shape[0]):
                loss += 0.5 * (work.momentum[dof] + work.drag[dof]) * (u1[dof] - u0[dof])
        multiply_mass(nodes.mass, bars.off_mass, bars.nodes, work.v, work.momentum)
        for dof in range(u1.shape[0]):
            kinetic += 0.5 * work.v[dof] * work.momentum[dof]
        tally[WORK] += work_done
        tally[DISSIPATED] += loss
    else:
        tally[WORK] = strain + potential - tally[TOTAL0] + tally[DISSIPATED] - tally[ERROR0]
    tally[KINETIC], tally[STRAIN], tally[POTENTIAL] = kinetic, strain, potential
    tally[EXCHANGED] = max(
        max(tally[EXCHANGED], abs(kinetic - tally[KINETIC0])),
        max(
            abs(strain - tally[STRAIN0]),
            max(abs(potential - tally[POTENTIAL0]), abs(tally[WORK] - tally[WORK0])),
        ),
    )
    for dof in range(u1.shape[0]):
        motion.u[dof] = u1[dof]
        motion.v[dof] = work.v[dof]
        motion.a[dof] = work.a[dof]
        motion.force[dof] = work.force[dof]
        motion.reaction[dof] = work.reduced[dof]
    return kinetic + strain + potential - tally[TOTAL0] - tally[WORK] + tally[DISSIPATED]


@kernel
def has_drifted(tally: Floats, error: float, share: float) -> bool:
    """The energy error since the start of the step exceeds its share of the exchanged energy, beyond round-off."""
    size = abs(tally[KINETIC]) + abs(tally[STRAIN]) + abs(tally[POTENTIAL]) + abs(tally[WORK])
    return share >= 0.0 and abs(error - tally[ERROR0]) > share * tally[EXCHANGED] + ENERGY_NOISE * size


@kernel
def note_increment(
    k: int, iterations: int, norm: float, scale: float, flags: int, error: float, bars: Bars, springs: Springs,
    thermal: Floats, motion: Motion, record: Record,
) -> None:  # fmt: skip
    """Write the row of increment k."""
    ledger, tally, u = record.ledger, motion.tally, motion.u
    ledger[k, L_ITERATIONS] = iterations
    ledger[k, L_NORM] = norm / scale if scale > 0.0 else norm
    ledger[k, L_SCALE] = scale
    ledger[k, L_KINETIC], ledger[k, L_STRAIN] = tally[KINETIC], tally[STRAIN]
    ledger[k, L_POTENTIAL], ledger[k, L_WORK] = tally[POTENTIAL], tally[WORK]
    ledger[k, L_DISSIPATED], ledger[k, L_ERROR] = tally[DISSIPATED], error
    largest = 0.0
    for i in range(u.shape[0] // 3):
        largest = max(largest, u[3 * i] ** 2 + u[3 * i + 1] ** 2 + u[3 * i + 2] ** 2)
    ledger[k, L_LARGEST] = largest**0.5
    ledger[k, L_FLAGS] = flags
    kinematics = record.kinematics
    for p in range(record.nodes.shape[0]):
        for c in range(3):
            dof = 3 * record.nodes[p] + c
            kinematics[k, 0, p, c] = u[dof]
            kinematics[k, 1, p, c] = motion.v[dof]
            kinematics[k, 2, p, c] = motion.a[dof]
            kinematics[k, 3, p, c] = motion.reaction[dof]
    if record.elements.shape[0] > 0:
        element_values(record.elements, u, motion.v, bars, springs, thermal, record.values[k])


@kernel
def solve_compiled(
    solver: int, scheme: Floats, dt: float, nodes: Nodes, bars: Bars, springs: Springs, tree: Tree, equation: Ints,
    work: Scratch,
) -> bool:  # fmt: skip
    """One linear solve by a compiled solver; False where it must be done outside, tangent blocks then filled."""
    nodal_blocks(scheme, dt, nodes, springs, work)
    if solver == CHAIN:
        if solve_chain(
            tree, nodes.free, work.store, work.off, work.block, work.residual, work.inverse, work.reduced, work.du
        ):
            return True
        nodal_blocks(scheme, dt, nodes, springs, work)
    elif solver == BAND:
        width = (work.band.shape[1] - 1) // 3
        assemble_band(
            width, equation, bars.nodes, work.store, work.off, work.block, springs.dofs, work.spring_stiffness, work.band
        )
        if solve_band(width, equation, work.residual, work.band, work.reduced, work.du):
            return True
    return False


@kernel
def march(
    control: Ints, scheme: Floats, secant: bool, limits: Floats, extrapolation: int, solver: int, nodes: Nodes,
    bars: Bars, springs: Springs, links: Links, tree: Tree, equation: Ints, loading: Loading, motion: Motion,
    work: Scratch, record: Record,
) -> int:  # fmt: skip
    """Advance through the increments of ``loading`` from ``control``; returns why it stopped.

    DONE           all increments are done
    NEED_SOLVE     write ``work.du`` for ``work.residual`` and call again
    NOT_CONVERGED  ``control[INCREMENT]`` spent its iterations; NOT_FINITE: it met NaN or overflow.
                   ``motion`` is the state at its start, ``control[WORST]`` the dof of the largest residual
    DRIFT          the energy error left its band in increment ``control[INCREMENT] - 1``, which is complete
    """
    memory = motion.memory
    while control[INCREMENT] < loading.dt.shape[0]:
        k = control[INCREMENT]
        dt = loading.dt[k]
        thermal = loading.thermal[min(k + 1, loading.thermal.shape[0] - 1)]
        if control[WAITING] == 0:
            begin(scheme, extrapolation, k, dt, nodes, bars, links, loading, motion, work)
            evaluate(scheme, secant, dt, motion.u, bars, springs, thermal, work)
            memory[PREVIOUS], _ = residual(scheme, dt, nodes, bars, links, control, work)
            if loading.support_dofs.shape[0] > 0:
                multiply_tangent(bars, springs, work, work.shift, work.residual)
                condense(links, work.residual)
            control[ITERATION] = 0
        flags = 0
        while True:
            if control[WAITING] == 0 and not solve_compiled(
                solver, scheme, dt, nodes, bars, springs, tree, equation, work
            ):
                control[WAITING] = 1
                return NEED_SOLVE
            control[WAITING] = 0
            correction, finite = correct(scheme, dt, nodes, links, work)
            if not finite:
                return NOT_FINITE
            evaluate(scheme, secant, dt, motion.u, bars, springs, thermal, work)
            norm, scale = residual(scheme, dt, nodes, bars, links, control, work)
            control[ITERATION] += 1
            moved = largest_move(motion.u, work.u) if limits[CORRECTION] >= 0.0 else 0.0
            good, flags = is_converged(limits, memory, norm, scale, correction, moved, control[ITERATION])
            if good:
                break
            if not norm < 1e300:
                return NOT_FINITE
            if control[ITERATION] >= limits[ITERATIONS]:
                record.ledger[k, L_NORM] = norm / scale if scale > 0.0 else norm
                return NOT_CONVERGED
            memory[PREVIOUS] = norm
        if flags != LOADS_VANISHED:
            memory[LAST_RESIDUAL] = norm
            if scale > 0.0 and not 0.0 < memory[SMALLEST_SCALE] < scale:
                memory[SMALLEST_SCALE] = scale
        error = close_increment(scheme, k, nodes, bars, springs, links, loading, motion, work)
        note_increment(
            k, control[ITERATION], norm, scale, flags, error, bars, springs, thermal, motion, record
        )
        control[INCREMENT] += 1
        if scheme[WM] != 0.0 and has_drifted(motion.tally, error, limits[DRIFT_SHARE]):
            return DRIFT
    return DONE
