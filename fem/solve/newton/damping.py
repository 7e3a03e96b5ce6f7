"""The energy that a scheme itself takes out of an increment, from its own numbers.

With d = values of the end less those of the start, (.) = their mean, the energies change by

    (v).M dv + W1 - W - (p).du - (r).du + booked losses,    (r) the mean force of supports, less its inertia

The equilibrium of the increment times du, M a_m + f + (WF - 1/2) df + ... = (p) + (WC - 1/2) dp, takes that apart:

    - D + T,    D = du.M a_m - (v).M dv + (WF - 1/2) du.df - (WC - 1/2) du.dp - (LATE - 1/2) du.dq
                a_m = WM a1 + (1 - WM) a,    q the forces that lose energy, f all internal ones, C v among both
                T = W1 - W - (f - q).du

D is what the scheme takes: an identity, of free dofs. T is the error of the trapezoidal rule for the work of internal
forces: none in linear problems, O(dt^3) an increment in others, of either sign; it is no damping, and remains as drift.
For Newmark's family D is (gamma - 1/2)(du.K du + (beta - gamma/2) dt^2 da.M da) and (beta - gamma/2) dt^2 times the
change of a.M a/2 (undamped), so that its sum is never negative from rest where beta >= gamma/2 >= 1/4.

Sources: Hughes, The Finite Element Method, 9.3; Krenk, Comput. Methods Appl. Mech. Eng. 195 (2006) 6110-6124.
"""

from __future__ import annotations

from fem.compiled import called_kernel
from fem.forces.equations import condense, expand
from fem.lanes.choose import some
from fem.solve.newton.evaluate import is_lumped, multiply_dampings, multiply_masses
from fem.solve.newton.groups import Loading, Motion, Problem, Scratch
from fem.solve.schemes.coefficients import Coefficients


@called_kernel
def numerical_dissipation(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """D of increment k, whose end is the trial state; known_force, shift, momentum and residual are used as room.

    a and a1 are those that the recursion went by: without what projections have made of them for the tables.
    """
    nodes, equations, supports, dt = problem.nodes, problem.equations, loading.support_dofs, loading.dt[k]
    before = motion.lagged if scheme.lags else motion.a
    mean, rise, force, change = work.momentum, work.known_force, work.shift, work.residual
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
