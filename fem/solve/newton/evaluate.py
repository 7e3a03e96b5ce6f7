"""The forces of a state: those of bars, springs and families, of inertia and mass-proportional damping, and loads."""

from __future__ import annotations

from fem.arrays import Floats
from fem.compiled import kernel, shared_kernel
from fem.forces.bars.bar import evaluate_bars
from fem.forces.families import evaluate_others
from fem.forces.mass import multiply_mass
from fem.forces.protocol import Trial
from fem.forces.values import energy_of_bars
from fem.lanes.choose import some
from fem.solve.newton.groups import Loading, Motion, Problem, Scratch
from fem.solve.schemes.coefficients import Coefficients


@kernel
def evaluate(trial: Trial, problem: Problem, work: Scratch) -> float:
    """Internal force at the trial state and its tangent, all families together; returns the stored energy."""
    force, flow, tangent = work.force, work.flow, work.tangent
    for dof in range(force.shape[0]):
        force[dof] = 0.0
    for dof in range(flow.shape[0]):
        flow[dof] = 0.0
    for i in range(tangent.block.shape[0]):
        for c in range(9):
            tangent.block[i, c] = 0.0
    for p in range(tangent.cross.shape[0]):
        for c in range(18):
            tangent.cross[p, c] = 0.0
    energy: float = evaluate_bars(trial, problem.bars, True, force, flow, tangent.bar_tangent)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, tangent)
    return energy


@kernel
def evaluate_increment(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """``evaluate`` as the equilibrium of increment k has it."""
    dt = loading.dt[k]
    trial = Trial(
        scheme.secant, scheme.wf, scheme.viscous * scheme.vu / dt, scheme.wm * scheme.au / (dt * dt),
        scheme.onset * dt, loading.time[k], loading.time[k + 1], motion.u, motion.v, work.u, work.v, work.a,
        loading.thermal_mean[min(k, loading.thermal_mean.shape[0] - 1)], work.multiplier, problem.nodes.place,
        motion.state, work.state,
    )  # fmt: skip
    return evaluate(trial, problem, work)


@shared_kernel
def evaluate_instant(
    scheme: Coefficients, dt: float, time: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch
) -> float:
    """``evaluate`` in the trial state itself; dt only scales the part of velocities in the tangent."""
    trial = Trial(
        False, scheme.wf, scheme.viscous * scheme.vu / dt, scheme.wm * scheme.au / (dt * dt), 0.0, time, time, work.u,
        work.v, work.u, work.v, work.a, thermal, work.multiplier, problem.nodes.place,
        motion.state, work.state,
    )  # fmt: skip
    return evaluate(trial, problem, work)


@kernel
def stored_energy(time: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch) -> float:
    """Energy stored in the trial state; momentum, shift and the tangent are used as room."""
    force, flow = work.momentum, work.shift
    trial = Trial(
        False, 0.0, 0.0, 0.0, 0.0, time, time, work.u, work.v, work.u, work.v, work.a, thermal, work.multiplier,
        problem.nodes.place, motion.state, work.state,
    )  # fmt: skip
    energy: float = energy_of_bars(work.u, work.v, problem.bars, thermal, work.multiplier)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, work.tangent)
    return energy


@kernel
def inertia_forces(problem: Problem, v: Floats, a: Floats, inertia: Floats, damping_force: Floats) -> None:
    """inertia = M a, damping_force = C v (mass-proportional part)."""
    nodes, bars = problem.nodes, problem.bars
    multiply_mass(nodes.mass, bars.off_mass, bars.nodes, a, inertia)
    if nodes.damping.shape[0] > 0:
        multiply_mass(nodes.damping, bars.off_damping, bars.nodes, v, damping_force)


@kernel
def combine(vectors: Floats, factors: Floats, k: int, total: Floats) -> None:
    """total = sum of factors[k, p] vectors[p]."""
    first = factors[k, 0] if vectors.shape[0] > 0 else 0.0
    for dof in range(total.shape[0]):
        total[dof] = first * vectors[0, dof] if vectors.shape[0] > 0 else 0.0
    for p in range(1, vectors.shape[0]):
        factor = factors[k, p]
        if some(factor != 0.0):
            for dof in range(total.shape[0]):
                total[dof] += factor * vectors[p, dof]
