"""The tangent map of one increment: the perturbation of its end from that of its start, by differentiated equations.

With the equilibrium of ``solve/newton/march.py`` and d for "perturbation of", values without index at the start:

    dv1 = VU/dt (du1 - du) + VV dv + VA dt da,    da1 = AU/dt^2 (du1 - du) + AV/dt dv + AA da
    K_eff du1 = - WM M da0 - (1 - WM) M da - C (WC dv0 + (1 - WC) dv) - (1 - WF) df - known,    G du1 = 0

K_eff is the effective tangent where the increment ended, dv0 and da0 are dv1 and da1 for du1 = 0. ``known``: WF D1 dv0
with D1 = df/dv of viscous stresses (K_eff is linear in dv1/du1, which tells K and D1 apart); for a secant scheme K0 du,
the derivative with respect to the start (a discrete gradient has the same value with both ends exchanged, which then
is the derivative with respect to its end). Rods: G du1 = 0, and the projections of ``newton/project.py``
differentiated, mu and nu being the multipliers they found:

    M dd + dG^T mu + G^T dmu = 0,    G (dv1 + dd) + dG v1 = 0
    M de + dG^T nu + G^T dnu = - df1 - C (dv1 + dd),    G de + dG a1 + 2 (v_j - v_i).(dv_j - dv_i) = 0

de being the perturbation of the accelerations of the end, from which those of the recursion follow. With ENERGY
MOMENTUM velocities along rods are never damped (they change sign at every increment and move nothing). So as not to
count as a motion, they are removed by a projection of dv1, with mu = 0, which is the derivative except for terms of
dt^2. For the exact derivative, of a map whose ends are projected, they are kept (``WHOLE``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel
from fem.forces.bar import GAP, PLUS, Bars, P, Q, sense
from fem.forces.laws import LINEAR
from fem.forces.protocol import Trial
from fem.linear.chain import Diagonal
from fem.linear.factors import ROUND_OFF
from fem.linear.products import add_product
from fem.solve.newton.arc import Arc
from fem.solve.newton.evaluate import evaluate_apart, inertia_forces, multiply_dampings
from fem.solve.newton.groups import CONTROL, DONE, NEED_SOLVE, Motion, Passage, Problem, Scratch, room
from fem.solve.newton.march import eliminate, march
from fem.solve.newton.project import mass_blocks, mass_system, velocity_gaps
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.schemes import Coefficients

# Rows of a perturbation: displacement, velocity, acceleration of the recursion, internal force, known terms of the
# right-hand side, and, with rods, acceleration of the end
# The arrays of perturbations that are carried along a motion.

DU, DV, DA, DF, KNOWN, END = 0, 1, 2, 3, 4, 5
ROWS = 6
# Rows of Variation.state: u, v, a at the start of the increment, v at its end before it is projected onto rods
START_U, START_V, START_A, UNPROJECTED = 0, 1, 2, 3
# Entries of Variation.counter
WRITTEN, SINCE, WHOLE = 0, 1, 2


class Variation(NamedTuple):
    """k perturbations of a motion, and how they grow.

    vectors (k, ROWS, 3n)  the perturbations
    state   (4, 3n)        work array: data of an increment that the march overwrites
    pull    (3, m)         work array: multipliers of the projections of velocities and accelerations (rows DV, DA)
    growth  (r, k + 1)     out: logarithms of growth between two orthonormalisations; last column: the time between them
    counter (3,)           rows of ``growth`` written, increments since the last orthonormalisation; 1 where they keep
                           the velocities along rods that ENERGY MOMENTUM leaves undamped, else 0
    """

    vectors: Floats
    state: Floats
    pull: Floats
    growth: Floats
    counter: Ints


def new_variation(count: int, size: int, bars: Bars, moving: Floats, seed: int) -> Variation:
    """``count`` random perturbations of displacement and velocity in the directions that may move; no room for growth.
    size  3n;  moving (3n,) 1.0 where a dof is free"""
    vectors = room((count, ROWS, size))
    vectors[:, : DV + 1] = np.random.default_rng(seed).standard_normal((count, 2, size)) * moving
    return Variation(
        vectors, room((4, size)), room((3, len(bars.nodes))), np.zeros((0, count + 1)), np.zeros(3, np.int64)
    )


DISPLACEMENT, VELOCITY, ACCELERATION = DU, DV, DA  # orders of the unknowns, and rows of a perturbation


@inner_kernel
def vary(k: int, through: Passage, variation: Variation) -> bool:
    """Perturbations of the start of increment k become those of its end; False: no safe pivot in a linear system.
    ``motion`` is the end of the increment; the work arrays are overwritten."""
    scheme, problem, motion, work = through.scheme, through.problem, through.motion, through.work
    nodes, bars, dt = problem.nodes, problem.bars, through.loading.dt[k]
    vectors, pull = variation.vectors, variation.pull
    recall(scheme, dt, problem, motion, work, variation)
    linearise(k, through, variation)
    is_projected = scheme.projects and not scheme.secant
    is_kept = scheme.secant and variation.counter[WHOLE] == 1
    orders = 1 if bars.rods.shape[0] == 0 or is_kept else 3 if is_projected else 2
    for order in range(orders):
        if order == VELOCITY:
            mass_system(0.0, nodes, bars, work)
        # First the impulse that projected the velocities, which the march does not store.
        for j in range(-1 if order == VELOCITY and is_projected else 0, vectors.shape[0]):
            if order == DISPLACEMENT:
                right_side(scheme, dt, problem, vectors[j], work)
                nodal_blocks(scheme, dt, problem, work)
            else:
                mass_blocks(nodes, work)
                if j < 0:
                    for dof in range(motion.u.shape[0]):
                        work.v[dof] = variation.state[UNPROJECTED, dof]
                    velocity_gaps(bars, work)
                else:
                    turn_rods(order, problem, motion, pull, vectors[j], work)
            if not eliminate(True, ROUND_OFF, Diagonal(nodes.mass, nodes.damping, 0.0, 0.0), problem, work):
                return False
            if order == DISPLACEMENT:
                end_of_increment(scheme, dt, problem, vectors[j], work)
            elif order == ACCELERATION:
                go_on(scheme, problem, pull, vectors[j], work)
            elif j < 0:
                for r in range(bars.rods.shape[0]):
                    pull[VELOCITY, bars.rods[r]] = work.tau[bars.rods[r]]
            else:
                for dof in range(vectors.shape[2]):
                    vectors[j, order, dof] += nodes.mask[dof] * work.du[dof]
    return True


@inner_kernel
def recall(
    scheme: Coefficients, dt: float, problem: Problem, motion: Motion, work: Scratch, variation: Variation
) -> None:
    """Restores velocities and multipliers of the equilibrium of the increment, before they were projected."""
    nodes, bars = problem.nodes, problem.bars
    state, pull = variation.state, variation.pull
    is_projected = scheme.projects and not scheme.secant
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        pull[VELOCITY, e] = 0.0
        pull[ACCELERATION, e] = work.tau[e]
        if scheme.projects:
            work.multiplier[e] -= work.tau[e]
    for dof in range(motion.u.shape[0]):
        move = motion.u[dof] - state[START_U, dof]
        v = scheme.vu / dt * move + scheme.vv * state[START_V, dof] + scheme.va * dt * state[START_A, dof]
        state[UNPROJECTED, dof] = v if is_projected and nodes.mask[dof] > 0.0 else motion.v[dof]


@inner_kernel
def linearise(k: int, through: Passage, variation: Variation) -> None:
    """Row KNOWN of every perturbation: change of the internal force that does not depend on du1; and K_eff."""
    scheme, problem, loading = through.scheme, through.problem, through.loading
    motion, work = through.motion, through.work
    nodes, bars = problem.nodes, problem.bars
    vectors, state, dt, secant = variation.vectors, variation.state, loading.dt[k], scheme.secant
    rate = scheme.viscous * scheme.vu / dt
    for j in range(vectors.shape[0]):
        for dof in range(vectors.shape[2]):
            vectors[j, KNOWN, dof] = 0.0
    first = 1 if secant else 0 if motion.flow.shape[0] > 0 else 2
    for turn in range(first, 3):
        u0, u1, v1 = state[START_U], motion.u, state[UNPROJECTED]
        factor, pace = 1.0 / rate, rate
        if turn == 0:
            factor = -factor
        elif turn == 1 and secant:
            u0, u1, factor, pace = u1, u0, 1.0, -rate
        elif turn == 1:
            pace = 2.0 * rate
        trial = Trial(
            secant, scheme.wf, pace, scheme.wm * scheme.au / (dt * dt), scheme.onset * dt, loading.time[k],
            loading.time[k + 1], 0.0, u0, v1, motion.a, u1, v1, motion.a,
            loading.thermal_mean[min(k, loading.thermal_mean.shape[0] - 1)], work.multiplier, problem.nodes.place,
            motion.state, work.state, work.power,
        )  # fmt: skip
        evaluate_apart(trial, problem, work)
        for j in range(vectors.shape[0] if turn < 2 else 0):
            for dof in range(vectors.shape[2]):
                dv = scheme.vv * vectors[j, DV, dof] + scheme.va * dt * vectors[j, DA, dof]
                dv -= scheme.vu / dt * vectors[j, DU, dof]
                work.du[dof] = vectors[j, DU, dof] if secant else nodes.mask[dof] * dv
            add_product(factor, bars.rods.shape[0] > 0, work.tangent, work.du, vectors[j, KNOWN])
    for e in range(bars.off_mass.shape[0]):
        work.tangent.off[e] = scheme.wm * scheme.au / (dt * dt) * bars.off_mass[e]
        work.tangent.off[e] += scheme.wc * scheme.vu / dt * bars.off_damping[e]
    for r in range(bars.rods.shape[0]):
        work.tangent.bar_tangent[GAP, bars.rods[r]] = 0.0


@inner_kernel
def right_side(scheme: Coefficients, dt: float, problem: Problem, vector: Floats, work: Scratch) -> None:
    """Residual of the differentiated equilibrium for du1 = 0; dv0 and da0 into ``work.v`` and ``work.a``."""
    nodes = problem.nodes
    vu, vv, va = scheme.vu / dt, scheme.vv, scheme.va * dt
    au, av, aa = scheme.au / (dt * dt), scheme.av / dt, scheme.aa
    wm, wc, wf = scheme.wm, scheme.wc, scheme.wf
    for dof in range(vector.shape[1]):
        du, dv, da = vector[DU, dof], vector[DV, dof], vector[DA, dof]
        work.v[dof] = nodes.mask[dof] * (vv * dv + va * da - vu * du)
        work.a[dof] = nodes.mask[dof] * (av * dv + aa * da - au * du)
        work.load[dof] = wc * work.v[dof] + (1.0 - wc) * dv
        work.known_force[dof] = wm * work.a[dof] + (1.0 - wm) * da
    inertia_forces(problem, work.load, work.known_force, work.inertia, work.damping_force)
    for dof in range(vector.shape[1]):
        damping_force = work.damping_force[dof] if nodes.damping.shape[0] > 0 else 0.0
        force = work.inertia[dof] + damping_force + (1.0 - wf) * vector[DF, dof]
        work.residual[dof] = -nodes.mask[dof] * (force + vector[KNOWN, dof])


@inner_kernel
def end_of_increment(scheme: Coefficients, dt: float, problem: Problem, vector: Floats, work: Scratch) -> None:
    """The perturbation at the end, from ``work.du`` and what ``right_side`` left."""
    nodes = problem.nodes
    wm, wc, wf = scheme.wm, scheme.wc, scheme.wf
    for dof in range(vector.shape[1]):
        du = nodes.mask[dof] * work.du[dof]
        dv, da = work.v[dof] + scheme.vu / dt * du, work.a[dof] + scheme.au / (dt * dt) * du
        work.load[dof] = wc * dv + (1.0 - wc) * vector[DV, dof]
        work.known_force[dof] = wm * da + (1.0 - wm) * vector[DA, dof]
        vector[KNOWN, dof] = vector[DA, dof]
        vector[DU, dof], vector[DV, dof], vector[DA, dof] = du, dv, da
    if wf != 1.0 or scheme.projects:  # the force at the end, from the equilibrium
        inertia_forces(problem, work.load, work.known_force, work.inertia, work.damping_force)
        for dof in range(vector.shape[1]):
            damping_force = work.damping_force[dof] if nodes.damping.shape[0] > 0 else 0.0
            vector[DF, dof] = -(work.inertia[dof] + damping_force + (1.0 - wf) * vector[DF, dof]) / wf


@inner_kernel
def turn_rods(order: int, problem: Problem, motion: Motion, pull: Floats, vector: Floats, work: Scratch) -> None:
    """Residual and gaps of the differentiated projection of velocities or accelerations."""
    nodes, bars = problem.nodes, problem.bars
    is_whole, is_damped = order == ACCELERATION, nodes.damping.shape[0] > 0
    if is_whole and is_damped:
        multiply_dampings(problem, vector[DV], work.damping_force)
    for dof in range(work.residual.shape[0]):
        damping_force = work.damping_force[dof] if is_damped else 0.0
        work.residual[dof] = -nodes.mask[dof] * (vector[DF, dof] + damping_force) if is_whole else 0.0
    rate = motion.v if order == VELOCITY else motion.a
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        gap, way = 0.0, sense(bars.constants[PLUS, e])
        for c in range(3):
            if not is_whole:
                gap += work.tangent.bar_tangent[Q + c, e] * (vector[order, j + c] - vector[order, i + c])
            if bars.kinds[e, 0] != LINEAR:
                turn = way * (vector[DU, j + c] - vector[DU, i + c])
                gap += turn * (rate[j + c] - rate[i + c])
                if order == ACCELERATION:
                    relative = motion.v[j + c] - motion.v[i + c]
                    gap += 2.0 * way * relative * (vector[DV, j + c] - vector[DV, i + c])
                work.residual[j + c] -= nodes.mask[j + c] * pull[order, e] * turn
                work.residual[i + c] += nodes.mask[i + c] * pull[order, e] * turn
        work.tangent.bar_tangent[GAP, e] = gap


@inner_kernel
def go_on(scheme: Coefficients, problem: Problem, pull: Floats, vector: Floats, work: Scratch) -> None:
    """Accelerations of the end and of the recursion; the internal force includes the last multipliers."""
    nodes, bars = problem.nodes, problem.bars
    wm, wf = scheme.wm, scheme.wf
    for dof in range(vector.shape[1]):
        end = nodes.mask[dof] * work.du[dof]
        forces = wf * end + (1.0 - wf) * vector[END, dof]
        vector[DA, dof] = nodes.mask[dof] * (forces - (1.0 - wm) * vector[KNOWN, dof]) / wm
        vector[END, dof] = end
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        way = sense(bars.constants[PLUS, e])
        for c in range(3):
            turn = vector[DU, j + c] - vector[DU, i + c] if bars.kinds[e, 0] != LINEAR else 0.0
            value = work.tau[e] * work.tangent.bar_tangent[P + c, e] + way * pull[ACCELERATION, e] * turn
            vector[DF, j + c] += value
            vector[DF, i + c] -= value


# The march with perturbations, and their growth.
#
# Benettin, Galgani, Giorgilli & Strelcyn, Meccanica 15 (1980) 9-30: k perturbations are made orthonormal again every
# few increments; the means of the logarithms of their lengths are the k largest Lyapunov exponents.
@kernel
def carry(every: int, unit: float, control: Ints, arc: Arc, through: Passage, variation: Variation) -> int:
    """``march`` with perturbations, orthonormal again after ``every`` increments; returns why it stopped.

    unit   time scale of the norm |du|/unit + |dv|; exponents do not depend on it
    It stops at an increment with an event of ropes, as ``march`` does (``saltation.py`` continues).
    Needs a compiled linear solver: NEED_SOLVE means that there is none, or that it met no safe pivot.
    """
    dt = through.loading.dt
    while control[CONTROL.increment] < dt.shape[0]:
        k = control[CONTROL.increment]
        remember(through.scheme.lags, through.motion, variation.state)
        reason = march(k + 1, control, arc, through)
        if control[CONTROL.increment] == k:
            return reason
        if not vary(k, through, variation):
            return NEED_SOLVE
        row = variation.counter[WRITTEN]
        variation.growth[row, variation.vectors.shape[0]] += dt[k]
        variation.counter[SINCE] += 1
        if variation.counter[SINCE] >= every:
            orthonormalise(row, unit, variation.vectors, variation.growth)
            variation.counter[WRITTEN] += 1
            variation.counter[SINCE] = 0
        if reason != DONE:
            return reason
    return DONE


@inner_kernel
def remember(lags: bool, motion: Motion, state: Floats) -> None:
    """Stores the state at the start of the increment."""
    for dof in range(motion.u.shape[0]):
        state[START_U, dof] = motion.u[dof]
        state[START_V, dof] = motion.v[dof]
        state[START_A, dof] = motion.lagged[dof] if lags else motion.a[dof]


@inner_kernel
def orthonormalise(row: int, unit: float, vectors: Floats, growth: Floats) -> None:
    """Gram-Schmidt orthonormalisation, in order; a vector that depends on those before grows by minus infinity."""
    inverse = 1.0 / (unit * unit)
    for j in range(vectors.shape[0]):
        for i in range(j):
            shared = 0.0
            for dof in range(vectors.shape[2]):
                shared += (
                    inverse * vectors[i, DU, dof] * vectors[j, DU, dof] + vectors[i, DV, dof] * vectors[j, DV, dof]
                )
            for c in range(vectors.shape[1]):
                for dof in range(vectors.shape[2]):
                    vectors[j, c, dof] -= shared * vectors[i, c, dof]
        square = 0.0
        for dof in range(vectors.shape[2]):
            square += inverse * vectors[j, DU, dof] ** 2 + vectors[j, DV, dof] ** 2
        growth[row, j] = 0.5 * math.log(square) if square > 0.0 else -math.inf
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        for c in range(vectors.shape[1]):
            for dof in range(vectors.shape[2]):
                vectors[j, c, dof] *= scale
