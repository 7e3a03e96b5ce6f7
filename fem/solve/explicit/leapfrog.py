"""The explicit march: central differences, one evaluation of the forces per increment and nothing to solve.

It speaks the language of the implicit march (``newton/groups``): the same chunks, records and reasons to stop.
Formulas: ``schemes/central_difference.py``.

Between two rows that somebody wants the march does nothing but the motion: ``due`` marks those whose energies are
closed. Where work depends on the path (moving supports, damping, loads or temperatures that vary) the caller marks all.
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces.bar import evaluate_bars
from fem.forces.families import evaluate_others, write_masses
from fem.solve.explicit.rattle import Ties, keep_lengths, keep_rates, turn
from fem.solve.linear.block import invert, times
from fem.solve.newton import groups
from fem.solve.newton.balance import close_increment, has_drifted, note_increment
from fem.solve.newton.evaluate import at_end, combine, inertia_forces
from fem.solve.newton.groups import CONTROL, LIMIT, Loading, Motion, Passage, Problem, Scratch

WATCH, STIFFENED, UNTIED = 10, 11, 12
"""Why leapfrog returned: time to look at stability; what the caller then says where the increment is too
long; rods could not be kept at their lengths."""
BEFORE = 1
"""Entry of control: increments of the step before this chunk."""
WATCHED = 200
"""Stability is looked at after every so many increments of a step."""
HUGE = 1e300


class Moved(NamedTuple):
    """What moves with each free dof, dependent dofs included: inverse (3n,) of its mass, 0 at dofs that are not free;
    damping (3n,), mass-proportional (empty: none).
    """

    inverse: Floats
    damping: Floats


@inner_kernel
def move(dt: float, work: Scratch) -> None:
    """u1 = u + dt v + dt^2/2 a, and v + dt a in place of v; the force is cleared."""
    u, v, a, force = work.u, work.v, work.a, work.force
    half = 0.5 * dt * dt
    for dof in range(u.shape[0]):
        u[dof] += dt * v[dof] + half * a[dof]
        v[dof] += dt * a[dof]
        force[dof] = 0.0


@inner_kernel
def accelerate(dt: float, time: float, moved: Moved, problem: Problem, work: Scratch) -> None:
    """a1 from the forces, and v1 = v + dt/2 (a + a1), where ``move`` left v + dt a."""
    nodes, equations = problem.nodes, problem.equations
    v, a, force, load, rest, inverse = work.v, work.a, work.force, work.load, work.residual, moved.inverse
    half = 0.5 * dt
    if nodes.damping.shape[0] == 0 and equations.slave.shape[0] == 0 and nodes.directed_mass.shape[0] == 0:
        for dof in range(v.shape[0]):
            new = inverse[dof] * (load[dof] - force[dof])
            v[dof] += half * (new - a[dof])
            a[dof] = new
        return
    for dof in range(v.shape[0]):
        rest[dof] = load[dof] - force[dof]
    for dof in range(nodes.damping.shape[0]):
        rest[dof] -= nodes.damping[dof] * (v[dof] - half * a[dof])
    condense(equations, rest)
    if nodes.directed_mass.shape[0] > 0:
        divide_by_mass(dt, time, moved, problem, work)
        for dof in range(v.shape[0]):
            v[dof] += half * (rest[dof] - a[dof])
            a[dof] = rest[dof]
        return
    for dof in range(v.shape[0]):
        drag = half * moved.damping[dof] * inverse[dof] if moved.damping.shape[0] > 0 else 0.0
        new = inverse[dof] * rest[dof] / (1.0 + drag)
        v[dof] += half * (new - a[dof])
        a[dof] = new


@called_kernel
def divide_by_mass(dt: float, time: float, moved: Moved, problem: Problem, work: Scratch) -> None:
    """``work.residual`` into accelerations where M couples the directions of a node; those of supports are known.

    M is the sum of a positive diagonal and a mass that takes no energy: its pivots are safe.
    """
    nodes, rest, a, block = problem.nodes, work.residual, work.a, work.block
    write_masses(problem.families, time, nodes.place, work.u, work.state, nodes.directed_mass)
    for i in range(nodes.directed_mass.shape[0]):
        for k in range(9):
            block[i, k] = nodes.directed_mass[i, k]
        for c in range(3):
            dof = 3 * i + c
            work.shift[dof] = 1.0 if moved.inverse[dof] > 0.0 else 0.0
            drag = 0.5 * dt * moved.damping[dof] if moved.damping.shape[0] > 0 else 0.0
            block[i, 4 * c] += nodes.mass[dof] + drag
            for d in range(3):
                if moved.inverse[3 * i + d] == 0.0:
                    rest[dof] -= nodes.directed_mass[i, 3 * c + d] * a[3 * i + d]
        invert(True, block, i, 0.0, work.shift, block)
        rest[3 * i], rest[3 * i + 1], rest[3 * i + 2] = times(
            0, i, block, rest[3 * i], rest[3 * i + 1], rest[3 * i + 2]
        )


@inner_kernel
def set_supports(k: int, equations: Equations, loading: Loading, work: Scratch) -> None:
    """Supports have their exact motion; dependent dofs follow."""
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        work.u[dof] = loading.support_u[k, c]
        work.v[dof] = loading.support_v[k, c]
        work.a[dof] = loading.support_a[k, c]
    expand(equations, work.u)
    expand(equations, work.v)
    expand(equations, work.a)


@kernel
def forces(before: float, now: float, thermal: Floats, problem: Problem, motion: Motion, work: Scratch) -> float:
    """Internal force at u1 and the velocity in ``work.v`` into ``work.force``, cleared before; the stored energy."""
    force, flow, tangent = work.force, work.flow, work.tangent
    trial = at_end(1.0, 1.0, 0.0, before, now, thermal, problem, motion, work)
    for k in range(work.power.shape[0]):
        work.power[k] = 0.0
    for dof in range(flow.shape[0]):
        flow[dof] = 0.0
    energy: float = evaluate_bars(trial, problem.bars, False, force, flow, tangent.bar_tangent)
    energy += evaluate_others(trial, problem.springs, problem.families, force, flow, tangent)
    return energy


@inner_kernel
def is_new(k: int, factors: Floats) -> bool:
    """Load factors at the end of increment k differ from those at its start."""
    change = 0.0
    for p in range(factors.shape[1]):
        change += abs(factors[k + 1, p] - factors[k, p])
    return change != 0.0


@inner_kernel
def is_finite(strain: float, v: Floats) -> bool:
    """Energy and velocities are numbers of usable size."""
    total = 0.0
    for dof in range(v.shape[0]):
        total += abs(v[dof])
    return bool(abs(strain) < HUGE and total < HUGE)


@kernel
def leapfrog(control: Ints, due: Ints, moved: Moved, ties: Ties, through: Passage) -> int:
    """Advance through the increments of ``loading`` from ``control``; returns why it stopped.

    due   (k,)  1 where the energy balance of the increment is closed and its row is written; the last one has to be

    DONE        all increments are done
    NOT_FINITE  overflow after ``control[CONTROL.increment]``, where ``motion`` stands
    DRIFT       the energy error left its band up to increment ``control[CONTROL.increment] - 1``, which is complete
    UNTIED      no positions, or no velocities, keep the lengths of the rods after ``control[CONTROL.increment]``
    WATCH       it is time to look at stability; ``motion`` is complete up to ``control[CONTROL.increment]``
    """
    scheme, limits, problem, loading = through.scheme, through.limits, through.problem, through.loading
    motion, work, record = through.motion, through.work, through.record
    bars, equations = problem.bars, problem.equations
    first = control[CONTROL.increment]
    for dof in range(work.u.shape[0]):
        work.u[dof], work.v[dof], work.a[dof] = motion.u[dof], motion.v[dof], motion.a[dof]
    tied = ties.rods.shape[0] > 0
    if tied:
        for r in range(ties.rods.shape[0]):
            work.multiplier[ties.rods[r]] = motion.multiplier[ties.rods[r]]
        if not turn(ties, bars, work.u):
            return UNTIED
    for k in range(first, loading.dt.shape[0]):
        dt = loading.dt[k]
        thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        move(dt, work)
        set_supports(k, equations, loading, work)
        if tied and not keep_lengths(dt, ties, bars, work):
            return UNTIED
        if k == first or is_new(k, loading.factors):
            combine(loading.vectors, loading.factors, k + 1, work.load)
        strain = forces(loading.time[k], loading.time[k + 1], thermal, problem, motion, work)
        for number in range(work.state.shape[0]):
            motion.state[number] = work.state[number]
        accelerate(dt, loading.time[k + 1], moved, problem, work)
        set_supports(k, equations, loading, work)
        if tied and not keep_rates(moved.inverse, moved.damping, ties, bars, work):
            return UNTIED
        if due[k] == 0:
            continue
        if not is_finite(strain, work.v):
            return groups.NOT_FINITE
        inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)
        error = close_increment(scheme, k, strain, problem, loading, motion, work)
        note_increment(k, 0, 0.0, 0.0, 0, error, problem, thermal, motion, record)
        control[CONTROL.increment] = k + 1
        if k >= control[CONTROL.judged] and has_drifted(bars, motion, dt, error, limits[LIMIT.drift_fraction]):
            return groups.DRIFT
        if (control[BEFORE] + k + 1) % WATCHED == 0:
            return WATCH
    return groups.DONE
