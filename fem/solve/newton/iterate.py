"""The parts of one Newton iteration: first guess, forces, residual and its norm, correction, the test.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE (numerics.md, section 4).
"""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import kernel
from fem.mechanics.bar import ALPHA, GEOMETRIC, Bars, P, Q, evaluate_bars
from fem.mechanics.links import Links, condense, expand
from fem.mechanics.mass import multiply_mass
from fem.mechanics.springs import Springs, evaluate_springs
from fem.solve.newton.groups import (
    AA,
    ABSOLUTE,
    AT_FLOOR,
    AU,
    AV,
    CORRECTION,
    FLOOR,
    LAST_RESIDUAL,
    LOADS_VANISHED,
    MOMENTUM,
    PREVIOUS,
    RELATIVE,
    SMALLEST_SCALE,
    VA,
    VISCOUS,
    VU,
    VV,
    WC,
    WF,
    WM,
    WORST,
    Loading,
    Motion,
    Nodes,
    Scratch,
)  # fmt: skip

STALLED = 0.9
"""A residual that keeps more than this share of its value from one solve to the next no longer falls."""


@kernel
def evaluate(
    scheme: Floats, secant: bool, dt: float, u0: Floats, bars: Bars, springs: Springs, thermal: Floats, work: Scratch
) -> float:
    """Internal force at the trial state, and the numbers of all bars and springs; returns the stored energy."""
    rate = scheme[VISCOUS] * scheme[VU] / dt
    weight = scheme[WF]
    u, v, force = work.u, work.v, work.force
    for dof in range(force.shape[0]):
        force[dof] = 0.0
    energy: float = evaluate_bars(secant, weight, rate, u0, u, v, bars, thermal, force, work.store)
    return energy + evaluate_springs(secant, weight, rate, u0, u, v, springs, force, work.spring_stiffness)


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
            work.carry[dof] - scheme[WF] * force[dof] - scheme[WM] * work.inertia[dof] - scheme[WC] * work.drag[dof]
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
    if not good and iteration > 1 and norm >= STALLED * memory[PREVIOUS] and norm <= limits[FLOOR]:
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
