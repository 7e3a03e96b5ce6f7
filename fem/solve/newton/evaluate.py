"""The forces of a state: those of bars, springs and families, of inertia and mass-proportional damping, and loads."""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel, shared_kernel
from fem.compiled.lanes import some
from fem.forces.bar import energy_of_bars, evaluate_bars, multiply_mass
from fem.forces.families import evaluate_others, write_masses
from fem.forces.protocol import SPENT, Trial
from fem.solve.newton.groups import Loading, Motion, Problem, Scratch
from fem.solve.schemes import Coefficients


@inner_kernel
def clear(work: Scratch) -> None:
    """No forces, powers and tangents of nodes."""
    force, flow, tangent = work.force, work.flow, work.tangent
    for k in range(work.power.shape[0]):
        work.power[k] = 0.0
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


@inner_kernel
def evaluate(trial: Trial, problem: Problem, work: Scratch) -> float:
    """Internal force at the trial state and its tangent, all families together; returns the stored energy."""
    force, flow, tangent = work.force, work.flow, work.tangent
    clear(work)
    energy: float = evaluate_bars(trial, problem.bars, True, force, flow, tangent.bar_tangent)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, tangent)
    return energy


@called_kernel
def evaluate_apart(trial: Trial, problem: Problem, work: Scratch) -> float:
    """``evaluate`` for all callers except the march: it is long, and compiled once for them."""
    energy: float = evaluate(trial, problem, work)
    return energy


@inner_kernel
def in_increment(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> Trial:
    """The input of forces in the equilibrium of increment k."""
    dt = loading.dt[k]
    return Trial(
        scheme.secant, scheme.wf, scheme.viscous * scheme.vu / dt, scheme.wm * scheme.au / (dt * dt),
        scheme.onset * dt, loading.time[k], loading.time[k + 1], (0.5 if scheme.secant else 1.0) * dt,
        motion.u, motion.v, motion.a, work.u, work.v, work.a,
        loading.thermal_mean[min(k, loading.thermal_mean.shape[0] - 1)], work.multiplier, problem.nodes.place,
        motion.state, work.state, work.power,
    )  # fmt: skip


@shared_kernel
def evaluate_increment(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """``evaluate`` in increment k."""
    energy: float = evaluate_apart(in_increment(scheme, k, problem, loading, motion, work), problem, work)
    return energy


@inner_kernel
def at_end(
    weight: float, rate: float, rate2: float, before: float, now: float, thermal: Floats, problem: Problem,
    motion: Motion, work: Scratch,
) -> Trial:  # fmt: skip
    """The input of forces in the trial state itself."""
    return Trial(
        False, weight, rate, rate2, 0.0, before, now, 0.0, work.u, work.v, work.a, work.u, work.v, work.a, thermal,
        work.multiplier, problem.nodes.place, motion.state, work.state, work.power,
    )  # fmt: skip


@shared_kernel
def evaluate_instant(
    scheme: Coefficients, dt: float, time: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch
) -> float:
    """``evaluate`` in the trial state itself, with mass; dt only scales the velocity part of the tangent."""
    nodes = problem.nodes
    rate, rate2 = scheme.viscous * scheme.vu / dt, scheme.wm * scheme.au / (dt * dt)
    trial = at_end(scheme.wf, rate, rate2, time, time, thermal, problem, motion, work)
    energy: float = evaluate_apart(trial, problem, work)
    if nodes.directed_mass.shape[0] > 0:
        write_masses(problem.families, time, nodes.place, work.u, work.state, nodes.directed_mass)
    return energy


@inner_kernel
def keep_forces(motion: Motion, work: Scratch) -> None:
    """Accepts the forces of the trial state, and what families remember of it."""
    for dof in range(work.force.shape[0]):
        motion.force[dof] = work.force[dof]
    for dof in range(work.flow.shape[0]):
        motion.flow[dof] = work.flow[dof]
    for k in range(work.state.shape[0]):
        motion.state[k] = work.state[k]
    for k in range(work.power.shape[0]):
        motion.power[k] = work.power[k]


@kernel
def evaluate_state(scheme: Coefficients, loading: Loading, problem: Problem, motion: Motion, work: Scratch) -> None:
    """``motion`` becomes the trial state, with its force, and with loads and C v at the start of ``loading``."""
    for dof in range(motion.u.shape[0]):
        work.u[dof], work.v[dof], work.a[dof] = motion.u[dof], motion.v[dof], motion.a[dof]
    for e in range(motion.multiplier.shape[0]):
        if work.multiplier[e] != motion.multiplier[e]:  # memory of models without rods is not touched
            work.multiplier[e] = motion.multiplier[e]
    now: float = loading.time[0]
    evaluate_instant(scheme, 1.0, now, loading.thermal_end[0], problem, motion, work)
    keep_forces(motion, work)
    combine(loading.vectors, loading.factors, 0, work.load)
    inertia_forces(problem, motion.v, motion.a, work.inertia, work.damping_force)


@kernel
def evaluate_forces(
    before: float, now: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch
) -> float:
    """Adds the internal force at u1 and velocity ``work.v`` to ``work.force``, cleared before; the stored energy."""
    force, flow, tangent = work.force, work.flow, work.tangent
    trial = at_end(1.0, 1.0, 0.0, before, now, thermal, problem, motion, work)
    for k in range(work.power.shape[0]):
        work.power[k] = 0.0
    for dof in range(flow.shape[0]):
        flow[dof] = 0.0
    energy: float = evaluate_bars(trial, problem.bars, False, force, flow, tangent.bar_tangent)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, tangent)
    return energy


@kernel
def stored_energy(
    before: float, now: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch
) -> float:  # fmt: skip
    """Stored energy of the trial state, and energies of families but stream power. The tangent is overwritten."""
    force, flow = work.pull, work.gain
    for k in range(SPENT + 1, work.power.shape[0]):
        work.power[k] = 0.0
    trial = at_end(0.0, 0.0, 0.0, before, now, thermal, problem, motion, work)
    energy: float = energy_of_bars(work.u, work.v, problem.bars, thermal, work.multiplier)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, work.tangent)
    return energy


@shared_kernel
def foresee_masses(scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, u: Floats) -> None:
    """Mass of families in the equilibrium of increment k; ``u`` is a work array.
    It is evaluated at the place of the weighted forces, predicted from the start of the increment to second order, and
    constant during the increment. Evaluated at the end, HHT and GENERALIZED ALPHA would be of first order."""
    ahead = (0.5 if scheme.secant else scheme.wf) * loading.dt[k]
    for dof in range(u.shape[0]):
        u[dof] = motion.u[dof] + ahead * (motion.v[dof] + 0.5 * ahead * motion.a[dof])
    nodes = problem.nodes
    write_masses(problem.families, loading.time[k] + ahead, nodes.place, u, motion.state, nodes.directed_mass)


@inner_kernel
def changed_energy(before: Floats, after: Floats, pairs: Ints, x: Floats) -> float:
    """x.(M1 - M0) x/2, M0 and M1 being masses of families."""
    count, twice = x.shape[0] // 3, 0.0
    for i in range(count):
        for a in range(3):
            for b in range(3):
                twice += x[3 * i + a] * (after[i, 3 * a + b] - before[i, 3 * a + b]) * x[3 * i + b]
    for p in range(pairs.shape[0]):
        i, j = 3 * pairs[p, 0], 3 * pairs[p, 1]
        for a in range(3):
            for b in range(3):
                change = after[count + p, 3 * a + b] - before[count + p, 3 * a + b]
                twice += change * (x[i + a] * x[j + b] + x[j + a] * x[i + b])
    return 0.5 * twice


@called_kernel
def turning_work(secant: bool, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch) -> float:
    """Kinetic energy that the rotation of bars adds to the mass of families: v.M v/2 changes even at constant velocity.

    Inertia is M dv/dt, without dM/dt v. Within the increment it uses the mean of M at the start (in ``work``) and at
    the end; in a secant increment M of its equilibrium, which is still in ``problem``. Afterwards ``problem`` has M of
    the end.
    """
    nodes, before = problem.nodes, work.mass_before
    now, pairs = nodes.directed_mass, nodes.mass_pairs
    of_start = changed_energy(before, now, pairs, motion.v)
    if not secant:
        return 0.5 * (of_start + changed_energy(before, now, pairs, work.v))
    write_masses(problem.families, loading.time[k + 1], nodes.place, work.u, work.state, before)
    of_end = changed_energy(now, before, pairs, work.v)
    for i in range(now.shape[0]):
        for c in range(9):
            now[i, c] = before[i, c]
    return of_start + of_end


@kernel
def multiply_masses(problem: Problem, x: Floats, product: Floats) -> None:
    """product = M x: the only function that knows all masses."""
    multiply_masses_with(problem.nodes.directed_mass, problem, x, product)


@inner_kernel
def multiply_masses_with(directed: Floats, problem: Problem, x: Floats, product: Floats) -> None:
    """product = M x with the mass of families at another instant."""
    multiply_mass(problem.nodes.mass, problem.bars.off_mass, problem.bars.nodes, x, product)
    if directed.shape[0] > 0:
        add_directed_mass(directed, problem.nodes.mass_pairs, x, product)


@called_kernel
def add_directed_mass(directed: Floats, pairs: Ints, x: Floats, product: Floats) -> None:
    """product += M x of the mass of families."""
    count = x.shape[0] // 3
    for i in range(count):
        x0, x1, x2 = x[3 * i], x[3 * i + 1], x[3 * i + 2]
        for a in range(3):
            product[3 * i + a] += directed[i, 3 * a] * x0 + directed[i, 3 * a + 1] * x1 + directed[i, 3 * a + 2] * x2
    for p in range(pairs.shape[0]):
        i, j = 3 * pairs[p, 0], 3 * pairs[p, 1]
        for c in range(9):
            value = directed[count + p, c]
            product[i + c // 3] += value * x[j + c % 3]
            product[j + c // 3] += value * x[i + c % 3]


@inner_kernel
def is_lumped(problem: Problem) -> bool:
    """Whether M is diagonal: M x is ``nodes.mass`` times x."""
    return bool(problem.bars.off_mass.shape[0] == 0 and problem.nodes.directed_mass.shape[0] == 0)


@kernel
def multiply_dampings(problem: Problem, x: Floats, product: Floats) -> None:
    """product = C x, for a model with mass-proportional damping."""
    multiply_mass(problem.nodes.damping, problem.bars.off_damping, problem.bars.nodes, x, product)


@kernel
def inertia_forces(problem: Problem, v: Floats, a: Floats, inertia: Floats, damping_force: Floats) -> None:
    """inertia = M a, damping_force = C v (mass-proportional part)."""
    multiply_masses(problem, a, inertia)
    if problem.nodes.damping.shape[0] > 0:
        multiply_dampings(problem, v, damping_force)


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
