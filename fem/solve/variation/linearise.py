"""The tangent map of one increment: what its equations, differentiated, do to a perturbation of its start.

With the equilibrium of ``solve/newton/march.py`` and d for "perturbation of", values without index at the start:

    dv1 = VU/dt (du1 - du) + VV dv + VA dt da,    da1 = AU/dt^2 (du1 - du) + AV/dt dv + AA da
    K_eff du1 = - WM M da0 - (1 - WM) M da - C (WC dv0 + (1 - WC) dv) - (1 - WF) df - known,    G du1 = 0

K_eff is the effective tangent where the increment ended, dv0 and da0 are dv1 and da1 for du1 = 0. ``known``: WF D1 dv0
with D1 = df/dv of viscous stresses (K_eff is linear in dv1/du1, which tells K and D1 apart); for a secant scheme K0 du,
the derivative with respect to the start (a discrete gradient has the same value with both ends exchanged, which then
is the derivative with respect to its end). Rods: G du1 = 0, and the projections of ``solve/newton/project.py``
differentiated, mu and nu being the multipliers they found:

    M dd + dG^T mu + G^T dmu = 0,    G (dv1 + dd) + dG v1 = 0
    M de + dG^T nu + G^T dnu = - df1 - C (dv1 + dd),    G de + dG a1 + 2 (v_j - v_i).(dv_j - dv_i) = 0

de being the perturbation of the accelerations of the end, from which those of the recursion follow. ENERGY
MOMENTUM leaves velocities along rods undamped for ever (they change sign at every increment and move nothing); so that
this is not taken for a motion, dv1 is projected in its case, too, with mu = 0.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel
from fem.mechanics.bar import ALPHA, GAP, GEOMETRIC, Bars, P, Q, evaluate_bars
from fem.mechanics.mass import multiply_mass
from fem.mechanics.springs import DAMPING, Springs, evaluate_springs
from fem.mechanics.strain import LINEAR
from fem.solve.linear.chain import Diagonal, Tree
from fem.solve.newton.groups import (
    AA,
    AU,
    AV,
    PROJECT,
    VA,
    VISCOUS,
    VU,
    VV,
    WC,
    WF,
    WM,
    Loading,
    Motion,
    Nodes,
    Scratch,
)  # fmt: skip
from fem.solve.newton.iterate import inertia_forces, onset_of
from fem.solve.newton.march import eliminate
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.rods.project import mass_blocks, mass_system, velocity_gaps
from fem.solve.rods.solve import ROUND_OFF
from fem.solve.variation.groups import (
    DA,
    DF,
    DU,
    DV,
    END,
    KNOWN,
    START_A,
    START_U,
    START_V,
    UNPROJECTED,
    Variation,
)  # fmt: skip

DISPLACEMENT, VELOCITY, ACCELERATION = DU, DV, DA  # orders of what is solved for, and rows of a perturbation


@inner_kernel
def vary(
    k: int, scheme: Floats, secant: bool, solver: int, nodes: Nodes, bars: Bars, springs: Springs, tree: Tree,
    equation: Ints, loading: Loading, motion: Motion, work: Scratch, variation: Variation,
) -> bool:  # fmt: skip
    """Perturbations of the start of increment k become those of its end; False: a linear system without safe pivot.

    ``motion`` is the end of the increment; the scratch room is overwritten.
    """
    dt = loading.dt[k]
    vectors, pull = variation.vectors, variation.pull
    recall(scheme, secant, dt, nodes, bars, motion, work, variation)
    warmth = loading.warmth[min(k, loading.warmth.shape[0] - 1)]
    linearise(scheme, secant, dt, nodes, bars, springs, motion, warmth, work, variation)
    is_projected = scheme[PROJECT] > 0.0 and not secant
    orders = 1 if bars.rods.shape[0] == 0 else 3 if is_projected else 2
    for order in range(orders):
        if order == VELOCITY:
            mass_system(bars, work)
        # First of all the impulse that projected the velocities: the march does not keep it.
        for j in range(-1 if order == VELOCITY and is_projected else 0, vectors.shape[0]):
            if order == DISPLACEMENT:
                right_side(scheme, dt, nodes, bars, vectors[j], work)
                nodal_blocks(scheme, dt, nodes, springs, work)
            else:
                mass_blocks(nodes, work)
                if j < 0:
                    for dof in range(motion.u.shape[0]):
                        work.v[dof] = variation.state[UNPROJECTED, dof]
                    velocity_gaps(bars, work)
                else:
                    turn_rods(order, nodes, bars, motion, pull, vectors[j], work)
            if not eliminate(
                solver, True, ROUND_OFF, Diagonal(nodes.mass, nodes.damping, 0.0, 0.0), nodes, bars, springs, tree,
                equation, work,
            ):  # fmt: skip
                return False
            if order == DISPLACEMENT:
                end_of_increment(scheme, dt, nodes, bars, vectors[j], work)
            elif order == ACCELERATION:
                go_on(scheme, nodes, bars, pull, vectors[j], work)
            elif j < 0:
                for r in range(bars.rods.shape[0]):
                    pull[VELOCITY, bars.rods[r]] = work.tau[bars.rods[r]]
            else:
                for dof in range(vectors.shape[2]):
                    vectors[j, order, dof] += nodes.open[dof] * work.du[dof]
    return True


@inner_kernel
def recall(
    scheme: Floats, secant: bool, dt: float, nodes: Nodes, bars: Bars, motion: Motion, work: Scratch,
    variation: Variation,
) -> None:  # fmt: skip
    """Velocities and multipliers as the equilibrium of the increment had them, before they were projected."""
    state, pull = variation.state, variation.pull
    is_projected = scheme[PROJECT] > 0.0 and not secant
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        pull[VELOCITY, e] = 0.0
        pull[ACCELERATION, e] = work.tau[e]
        if scheme[PROJECT] > 0.0:
            work.multiplier[e] -= work.tau[e]
    for dof in range(motion.u.shape[0]):
        move = motion.u[dof] - state[START_U, dof]
        v = scheme[VU] / dt * move + scheme[VV] * state[START_V, dof] + scheme[VA] * dt * state[START_A, dof]
        state[UNPROJECTED, dof] = v if is_projected and nodes.open[dof] > 0.0 else motion.v[dof]


@inner_kernel
def linearise(
    scheme: Floats, secant: bool, dt: float, nodes: Nodes, bars: Bars, springs: Springs, motion: Motion,
    warmth: Floats, work: Scratch, variation: Variation,
) -> None:  # fmt: skip
    """Row KNOWN of every perturbation, the change of the internal force that does not come from du1; K_eff."""
    vectors, state = variation.vectors, variation.state
    rate = scheme[VISCOUS] * scheme[VU] / dt
    for j in range(vectors.shape[0]):
        for dof in range(vectors.shape[2]):
            vectors[j, KNOWN, dof] = 0.0
    first = 1 if secant else 0 if is_viscous(bars, springs) else 2
    for turn in range(first, 3):
        u0, u1, v1 = state[START_U], motion.u, state[UNPROJECTED]
        factor, pace = 1.0 / rate, rate
        if turn == 0:
            factor = -factor
        elif turn == 1 and secant:
            u0, u1, factor, pace = u1, u0, 1.0, -rate
        elif turn == 1:
            pace = 2.0 * rate
        differentiate(secant, scheme[WF], pace, onset_of(scheme, secant, dt), u0, u1, v1, bars, springs, warmth, work)
        for j in range(vectors.shape[0] if turn < 2 else 0):
            for dof in range(vectors.shape[2]):
                dv = (
                    scheme[VV] * vectors[j, DV, dof] + scheme[VA] * dt * vectors[j, DA, dof]
                    - scheme[VU] / dt * vectors[j, DU, dof]
                )  # fmt: skip
                work.du[dof] = vectors[j, DU, dof] if secant else nodes.open[dof] * dv
            add_product(factor, bars, springs, work, vectors[j, KNOWN])
    for e in range(bars.off_mass.shape[0]):
        work.off[e] = scheme[WM] * scheme[AU] / (dt * dt) * bars.off_mass[e]
        work.off[e] += scheme[WC] * scheme[VU] / dt * bars.off_damping[e]
    for r in range(bars.rods.shape[0]):
        work.store[GAP, bars.rods[r]] = 0.0


@inner_kernel
def differentiate(
    secant: bool, weight: float, rate: float, onset: float, u0: Floats, u1: Floats, v1: Floats, bars: Bars,
    springs: Springs, warmth: Floats, work: Scratch,
) -> None:  # fmt: skip
    """Derivatives of the weighted internal force with respect to u1 into the store."""
    for dof in range(work.force.shape[0]):
        work.force[dof] = 0.0
    evaluate_bars(secant, weight, rate, u0, u1, v1, bars, warmth, work.multiplier, work.force, work.store, True, onset)
    evaluate_springs(secant, weight, rate, u0, u1, v1, springs, work.force, work.spring_stiffness)


@inner_kernel
def add_product(factor: float, bars: Bars, springs: Springs, work: Scratch, product: Floats) -> None:
    """product += factor K du, K from the store, without the constraints of rods."""
    ends, store, dofs, x = bars.nodes, work.store, springs.dofs, work.du
    for e in range(ends.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        along = 0.0
        if store[ALPHA, e] < np.inf:
            for c in range(3):
                along += store[Q + c, e] * (x[j + c] - x[i + c])
            along *= store[ALPHA, e]
        for c in range(3):
            value = factor * (along * store[P + c, e] + store[GEOMETRIC, e] * (x[j + c] - x[i + c]))
            product[j + c] += value
            product[i + c] -= value
    for s in range(dofs.shape[0]):
        value = x[dofs[s, 0]]
        if dofs[s, 1] >= 0:
            value -= x[dofs[s, 1]]
        value *= factor * work.spring_stiffness[s]
        product[dofs[s, 0]] += value
        if dofs[s, 1] >= 0:
            product[dofs[s, 1]] -= value


@inner_kernel
def is_viscous(bars: Bars, springs: Springs) -> bool:
    """Some force follows velocities."""
    found = False
    for b in range(bars.blocks.shape[0]):
        found |= bars.blocks[b, 4] == 1
    for s in range(springs.constants.shape[0]):
        found |= springs.constants[s, DAMPING] != 0.0
    return found


@inner_kernel
def right_side(scheme: Floats, dt: float, nodes: Nodes, bars: Bars, vector: Floats, work: Scratch) -> None:
    """Residual of the differentiated equilibrium for du1 = 0; dv0 and da0 into ``work.v`` and ``work.a``."""
    vu, vv, va = scheme[VU] / dt, scheme[VV], scheme[VA] * dt
    au, av, aa = scheme[AU] / (dt * dt), scheme[AV] / dt, scheme[AA]
    wm, wc, wf = scheme[WM], scheme[WC], scheme[WF]
    for dof in range(vector.shape[1]):
        du, dv, da = vector[DU, dof], vector[DV, dof], vector[DA, dof]
        work.v[dof] = nodes.open[dof] * (vv * dv + va * da - vu * du)
        work.a[dof] = nodes.open[dof] * (av * dv + aa * da - au * du)
        work.load[dof] = wc * work.v[dof] + (1.0 - wc) * dv
        work.carry[dof] = wm * work.a[dof] + (1.0 - wm) * da
    inertia_forces(nodes, bars, work.load, work.carry, work.inertia, work.drag)
    for dof in range(vector.shape[1]):
        drag = work.drag[dof] if nodes.damping.shape[0] > 0 else 0.0
        force = work.inertia[dof] + drag + (1.0 - wf) * vector[DF, dof]
        work.residual[dof] = -nodes.open[dof] * (force + vector[KNOWN, dof])


@inner_kernel
def end_of_increment(scheme: Floats, dt: float, nodes: Nodes, bars: Bars, vector: Floats, work: Scratch) -> None:
    """The perturbation at the end, from ``work.du`` and what ``right_side`` left."""
    wm, wc, wf = scheme[WM], scheme[WC], scheme[WF]
    for dof in range(vector.shape[1]):
        du = nodes.open[dof] * work.du[dof]
        dv, da = work.v[dof] + scheme[VU] / dt * du, work.a[dof] + scheme[AU] / (dt * dt) * du
        work.load[dof] = wc * dv + (1.0 - wc) * vector[DV, dof]
        work.carry[dof] = wm * da + (1.0 - wm) * vector[DA, dof]
        vector[KNOWN, dof] = vector[DA, dof]
        vector[DU, dof], vector[DV, dof], vector[DA, dof] = du, dv, da
    if wf != 1.0 or scheme[PROJECT] > 0.0:  # the force of the end: what the equilibrium leaves for it
        inertia_forces(nodes, bars, work.load, work.carry, work.inertia, work.drag)
        for dof in range(vector.shape[1]):
            drag = work.drag[dof] if nodes.damping.shape[0] > 0 else 0.0
            vector[DF, dof] = -(work.inertia[dof] + drag + (1.0 - wf) * vector[DF, dof]) / wf


@inner_kernel
def turn_rods(
    order: int, nodes: Nodes, bars: Bars, motion: Motion, pull: Floats, vector: Floats, work: Scratch
) -> None:
    """Residual and gaps of the differentiated projection of velocities or accelerations."""
    is_whole, is_damped = order == ACCELERATION, nodes.damping.shape[0] > 0
    if is_whole and is_damped:
        multiply_mass(nodes.damping, bars.off_damping, bars.nodes, vector[DV], work.drag)
    for dof in range(work.residual.shape[0]):
        drag = work.drag[dof] if is_damped else 0.0
        work.residual[dof] = -nodes.open[dof] * (vector[DF, dof] + drag) if is_whole else 0.0
    rate = motion.v if order == VELOCITY else motion.a
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        gap = 0.0
        for c in range(3):
            if not is_whole:
                gap += work.store[Q + c, e] * (vector[order, j + c] - vector[order, i + c])
            if bars.kinds[e, 0] != LINEAR:
                turn = vector[DU, j + c] - vector[DU, i + c]
                gap += turn * (rate[j + c] - rate[i + c])
                if order == ACCELERATION:
                    relative = motion.v[j + c] - motion.v[i + c]
                    gap += 2.0 * relative * (vector[DV, j + c] - vector[DV, i + c])
                work.residual[j + c] -= nodes.open[j + c] * pull[order, e] * turn
                work.residual[i + c] += nodes.open[i + c] * pull[order, e] * turn
        work.store[GAP, e] = gap


@inner_kernel
def go_on(scheme: Floats, nodes: Nodes, bars: Bars, pull: Floats, vector: Floats, work: Scratch) -> None:
    """Accelerations of the end and of the recursion; the internal force has the multipliers of the last projection."""
    wm, wf = scheme[WM], scheme[WF]
    for dof in range(vector.shape[1]):
        end = nodes.open[dof] * work.du[dof]
        forces = wf * end + (1.0 - wf) * vector[END, dof]
        vector[DA, dof] = nodes.open[dof] * (forces - (1.0 - wm) * vector[KNOWN, dof]) / wm
        vector[END, dof] = end
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        for c in range(3):
            turn = vector[DU, j + c] - vector[DU, i + c] if bars.kinds[e, 0] != LINEAR else 0.0
            value = work.tau[e] * work.store[P + c, e] + pull[ACCELERATION, e] * turn
            vector[DF, j + c] += value
            vector[DF, i + c] -= value
