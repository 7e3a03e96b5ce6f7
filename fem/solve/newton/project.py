"""Velocities and accelerations at the end of an increment, if those of the recursion differ.

Newmark's formulas with constraints on positions alone let multipliers alternate in sign, undamped (an index-3 system).
At the end of an increment v and a are therefore projected, in the norm of the mass, onto the constraints of rods:

    M dv + G^T mu = 0, G (v + dv) = 0;      M da + G^T nu = f_ext - f_int - C v - M a, G (a + da) = - |v_j - v_i|^2

and nu is added to the multipliers. Order and positions do not change, nor does anything without rods. The same linear
solvers are used: mass in place of the effective tangent, bars without stiffness, the rates as the gaps of the rods.

Schemes that average forces (HHT, generalized alpha) have accelerations that belong to (WF - WM) dt after the end. The
accelerations of the end itself, and with them reactions and multipliers, are those that its forces give,

    M a + f_int + C v + G^T lambda = f_ext(t1),    G a = - |v_j - v_i|^2

and the lagged ones of the recursion follow by  WM lagged1 + (1 - WM) lagged = WF a1 + (1 - WF) a  (Arnold & Bruels).

ENERGY MOMENTUM keeps lengths by s + s1 = dt/4 (|w1|^2 - |w|^2), s = d.w, w = v_j - v_i: a motion that starts with
s = 0 has rates that alternate about dt^2/4 w.w' without decay, and multipliers that alternate with dt. The motion is
kept; accelerations and multipliers are projected for the tables, with d and w of the middle of the increment.

Sources: Hairer & Wanner, Solving Ordinary Differential Equations II, ch. VII.2 (projection methods); Arnold & Bruels,
Multibody Syst. Dyn. 18 (2007) 185-202.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import common, where
from fem.forces.bar import ALPHA, GAP, GEOMETRIC, PLUS, Bars, P, Q, sense, turning
from fem.forces.laws import LEG, LINEAR
from fem.solve.newton import groups
from fem.solve.newton.evaluate import combine, inertia_forces, is_lumped
from fem.solve.newton.groups import Loading, Motion, Nodes, Problem, Scratch
from fem.solve.schemes import Coefficients


@inner_kernel
def closing_phase(scheme: Coefficients, problem: Problem) -> int:
    """The phase that follows a converged increment."""
    if scheme.projects:
        return groups.PROJECT_ACCELERATION if scheme.secant else groups.PROJECT_VELOCITY
    if scheme.lags and (not is_lumped(problem) or problem.equations.slave.shape[0] > 0):
        return groups.PROJECT_ACCELERATION
    return groups.CLOSE


@inner_kernel
def mass_blocks(nodes: Nodes, work: Scratch) -> None:
    """Mass in the blocks within one node."""
    for i in range(work.block.shape[0]):
        for k in range(9):
            work.block[i, k] = nodes.artificial_stiffness[i, k] if nodes.artificial_stiffness.shape[0] > 0 else 0.0
        for c in range(3):
            work.block[i, 4 * c] += nodes.mass[3 * i]
        for k in range(9 if nodes.directed_mass.shape[0] > 0 else 0):
            work.block[i, k] += nodes.directed_mass[i, k]


@called_kernel
def couple_masses(factor: float, nodes: Nodes, cross: Floats) -> None:
    """cross += factor times the mass of families between nodes."""
    for p in range(nodes.mass_pairs.shape[0]):
        for k in range(9):
            value = factor * nodes.directed_mass[nodes.mass.shape[0] // 3 + p, k]
            cross[p, k] += value
            cross[p, 9 + k] += value


@called_kernel
def mass_system(stiffness: float, nodes: Nodes, bars: Bars, work: Scratch) -> None:
    """Mass as the matrix of the next linear solve (without its nodal blocks), plus a multiple of bar stiffness; no
    load."""
    for e in range(bars.off_mass.shape[0]):
        work.tangent.off[e] = bars.off_mass[e]
    for p in range(work.tangent.cross.shape[0]):
        for k in range(18):
            work.tangent.cross[p, k] = 0.0
    couple_masses(1.0, nodes, work.tangent.cross)
    for e in range(bars.nodes.shape[0]):
        work.tangent.bar_tangent[GEOMETRIC, e] = 0.0
        if common(work.tangent.bar_tangent[ALPHA, e]) != np.inf:
            work.tangent.bar_tangent[ALPHA, e] *= stiffness
    for dof in range(work.residual.shape[0]):
        work.residual[dof] = 0.0


@inner_kernel
def along(e: int, bars: Bars, x: Floats, work: Scratch) -> float:
    """q.(x_j - x_i): the row of G of rod e times x."""
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    product = 0.0
    for c in range(3):
        product += work.tangent.bar_tangent[Q + c, e] * (x[j + c] - x[i + c])
    return product


@called_kernel
def velocity_gaps(bars: Bars, work: Scratch) -> None:
    """G v into the gaps of the rods."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        work.tangent.bar_tangent[GAP, e] = along(e, bars, work.v, work)


@inner_kernel
def acceleration_gaps(secant: bool, dt: float, bars: Bars, u0: Floats, work: Scratch) -> None:
    """G a + |v_j - v_i|^2 (of branches over pulleys ``turning``) into the gaps of the rods; ``secant``: in the middle
    of the increment that began at u0."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        if secant:
            for c in range(3):
                work.tangent.bar_tangent[Q + c, e] = work.tangent.bar_tangent[P + c, e]
        rate = along(e, bars, work.a, work)
        if bars.kinds[e, 0] >= LEG:
            wx, wy, wz = work.v[j] - work.v[i], work.v[j + 1] - work.v[i + 1], work.v[j + 2] - work.v[i + 2]
            if secant:
                wx = (work.u[j] - work.u[i] - u0[j] + u0[i]) / dt
                wy = (work.u[j + 1] - work.u[i + 1] - u0[j + 1] + u0[i + 1]) / dt
                wz = (work.u[j + 2] - work.u[i + 2] - u0[j + 2] + u0[i + 2]) / dt
                rate += 0.5 * turning(e, u0, (wx, wy, wz), bars)
            rate += (0.5 if secant else 1.0) * turning(e, work.u, (wx, wy, wz), bars)
        elif bars.kinds[e, 0] != LINEAR:
            for c in range(3):
                relative = work.v[j + c] - work.v[i + c]
                if secant:
                    relative = (work.u[j + c] - work.u[i + c] - u0[j + c] + u0[i + c]) / dt
                rate += sense(bars.constants[PLUS, e]) * relative * relative
        work.tangent.bar_tangent[GAP, e] = rate


@called_kernel
def acceleration_system(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> None:
    """Matrix (without its nodal blocks), residual and gaps of the accelerations at the end of increment k.
    The residual is that of the forces at the end with ``work.a``; a recursion with a lag stores these accelerations."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    secant, lags = scheme.secant, scheme.lags
    if secant or lags:
        mass_system(0.0, problem.nodes, bars, work)
    if not secant:
        combine(loading.vectors, loading.factors, k + 1, work.load)
        inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)
        for dof in range(work.a.shape[0]):
            if lags:
                work.lagged[dof] = work.a[dof]
            rest = work.load[dof] - work.force[dof] - work.inertia[dof] - work.damping_force[dof]
            work.residual[dof] = nodes.mask[dof] * rest
        condense(equations, work.residual)
        for dof in range(work.a.shape[0]):
            work.residual[dof] *= nodes.mask[dof]
    acceleration_gaps(secant, loading.dt[k], bars, motion.u, work)


@inner_kernel
def end_accelerations(k: int, nodes: Nodes, loading: Loading, work: Scratch) -> None:
    """The same without coupling of dofs, in closed form; dofs without mass keep theirs.
    ``work.damping_force`` holds C v."""
    combine(loading.vectors, loading.factors, k + 1, work.load)
    for dof in range(work.a.shape[0]):
        before = work.a[dof]
        work.lagged[dof] = before
        mass = nodes.mass[dof]
        is_kept = (nodes.mask[dof] == 0.0) | (mass <= 0.0)
        rest = work.load[dof] - work.force[dof] - work.damping_force[dof]
        work.a[dof] = where(is_kept, before, rest / where(is_kept, 1.0, mass))


@called_kernel
def move_velocities(equations: Equations, du: Floats, v: Floats) -> None:
    """v += du."""
    expand(equations, du)
    for dof in range(v.shape[0]):
        v[dof] += du[dof]


@inner_kernel
def add_pulls(bars: Bars, tau: Floats, bar_tangent: Floats, force: Floats) -> None:
    """force += P tau, the pulls along the rods that were solved for."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        for c in range(3):
            force[i + c] -= tau[e] * bar_tangent[P + c, e]
            force[j + c] += tau[e] * bar_tangent[P + c, e]


@called_kernel
def move_accelerations(scheme: Coefficients, problem: Problem, motion: Motion, work: Scratch) -> None:
    """a += du; updates multipliers, the internal force, and the accelerations of the recursion."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    expand(equations, work.du)
    for dof in range(work.a.shape[0]):
        work.a[dof] += work.du[dof]
    for r in range(bars.rods.shape[0]):
        work.multiplier[bars.rods[r]] += work.tau[bars.rods[r]]
    add_pulls(bars, work.tau, work.tangent.bar_tangent, work.force)
    if scheme.lags and bars.rods.shape[0] > 0:
        wm, wf = scheme.wm, scheme.wf
        for dof in range(work.a.shape[0]):
            if nodes.mask[dof] != 0.0:
                forces = wf * work.a[dof] + (1.0 - wf) * motion.a[dof]
                work.lagged[dof] = (forces - (1.0 - wm) * motion.lagged[dof]) / wm
    inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)


@called_kernel
def projected_work(problem: Problem, loading: Loading, motion: Motion, work: Scratch) -> float:
    """Work of supports against the forces of rods from the last projection, which is not part of the motion."""
    bars, equations = problem.bars, problem.equations
    pull, total = work.shift, 0.0
    for dof in range(pull.shape[0]):
        pull[dof] = 0.0
    add_pulls(bars, work.tau, work.tangent.bar_tangent, pull)
    condense(equations, pull)
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        total += pull[dof] * (work.u[dof] - motion.u[dof])
    return total
