"""The explicit march: central differences, one evaluation of the forces per increment and nothing to solve.

It has the interface of the implicit march (``newton/groups``): the same chunks, records and return codes.
Formulas: ``solve/schemes.py``.

Between two rows that are written the march computes the motion only: ``due`` marks increments whose energies are
closed. If work depends on the path (moving supports, damping, varying loads or temperatures) the caller marks all.

Rods: RATTLE, the leapfrog rule whose positions and velocities both keep the lengths.

    u1 = u* - M^-1 G(u)^T nu,   g(u1) = 0;        v1 = v* - M^-1 G(u1)^T mu,   G(u1) v1 = 0

u*, v*: central differences without these forces. Any part of M^-1 G^T lambda in u* or v* drops out, so the
accelerations that the march starts from may hold the multipliers: a1 and lambda1 fit M a1 + G^T lambda1 = f and
G a1 = - |v_j - v_i|^2 at the end of the increment, where lambda is of second order and does not ring.

All is solved with S = G M^-1 G^T, a narrow band over the rods (two diagonals along a chain), factored once in every
increment, at u1: for mu, for lambda1 and, in the next increment, for the iteration on nu, whose error decreases in
every pass by the relative change of S in an increment. The remaining rates of v1 and a1 are measured again and, if they
exceed rounding errors, corrected with the same factor.

Sources: Andersen, J. Comput. Phys. 52 (1983) 24-34; symplectic: Leimkuhler & Skeel, J. Comput. Phys. 112 (1994)
117-125; iteration with a factor kept: Barth, Kuczera, Leimkuhler & Skeel, J. Comput. Chem. 16 (1995) 1192-1209.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces.bar import BASE, BASE_CONSTANT, BASE_SLOPE, INV_LENGTH, REF, Bars
from fem.forces.families import write_masses
from fem.forces.laws import LINEAR, measure
from fem.linear.chain import invert, times
from fem.linear.factors import HELPS, NOTHING, POOR, ROUND_OFF
from fem.solve.newton import groups
from fem.solve.newton.balance import close_increment, has_drifted, note_increment, note_ranges
from fem.solve.newton.evaluate import combine, evaluate_forces, inertia_forces
from fem.solve.newton.groups import CONTROL, LIMIT, Loading, Passage, Problem, Scratch
from fem.solve.newton.iterate import largest
from fem.solve.newton.refine import MOST_SOLVES

CLOSED = 1e-14
"""Largest strain of a rod at which the iteration on positions ends."""
FLOOR = 1e-12
"""Largest strain that is accepted if rounding errors prevent a smaller one."""
STALLED = 0.5
MOST_PASSES = 60
DEPENDENT = 1e-14
"""A pivot below this fraction of its diagonal entry: the constraints depend on each other."""


class Ties(NamedTuple):
    """The rods of an explicit step.

    rods      (r,)       their places among the bars
    inverse   (3n,)      of the mass that moves with each dof, 0 at others
    place     (r,)       row of each rod in the band
    meetings  (c, 4)     row and column of S and the two rods that meet at a node, row >= column;
    corners   (c, 2)     that node and the sign of their coupling there
    gradient  (3, r)     of the gaps with respect to the second node;  gap (r,)
    band      (r, w + 1) S, then its Cholesky factor: entry (i, j) at [i, j - i + w];  x (r,) right-hand sides
    """

    rods: Ints
    inverse: Floats
    place: Ints
    meetings: Ints
    corners: Ints
    gradient: Floats
    gap: Floats
    band: Floats
    x: Floats


@inner_kernel
def measure_gaps(ties: Ties, bars: Bars, u: Floats) -> float:
    """Gaps of all rods at u; returns the largest strain (or NaN)."""
    constants = bars.constants
    largest = 0.0
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        kind, inverse = bars.kinds[e, 0], constants[INV_LENGTH, e]
        first, half, green = (BASE, 0.0, 0.0) if kind == LINEAR else (REF, 0.5, constants[BASE_CONSTANT, e])
        for c in range(3):
            w = u[j + c] - u[i + c]
            green += constants[first + c, e] * w + half * w * w
        green *= inverse * inverse
        strain = measure(kind, green, green, constants[BASE_CONSTANT, e], constants[BASE_SLOPE, e])[1]
        ties.gap[r] = strain / (inverse * inverse)
        if not abs(strain) <= largest:
            largest = abs(strain)
    return largest


@called_kernel
def turn(ties: Ties, bars: Bars, u: Floats) -> bool:
    """Gradients at u, and the factor of S with them; False where constraints depend on each other."""
    gradient, band, width = ties.gradient, ties.band, ties.band.shape[1] - 1
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        is_fixed = bars.kinds[e, 0] == LINEAR
        for c in range(3):
            d = bars.constants[(BASE if is_fixed else REF) + c, e]
            gradient[c, r] = d if is_fixed else d + (u[j + c] - u[i + c])
    for row in range(band.shape[0]):
        for column in range(band.shape[1]):
            band[row, column] = 0.0
    for m in range(ties.meetings.shape[0]):
        row, column, r, s = ties.meetings[m, 0], ties.meetings[m, 1], ties.meetings[m, 2], ties.meetings[m, 3]
        node = 3 * ties.corners[m, 0]
        value = 0.0
        for c in range(3):
            value += ties.inverse[node + c] * gradient[c, r] * gradient[c, s]
        band[row, column - row + width] += ties.corners[m, 1] * value
    return factor(width, band)


@inner_kernel
def factor(width: int, band: Floats) -> bool:
    """Cholesky factor in place of a symmetric band, of which the lower half is given; False: not positive definite."""
    for i in range(band.shape[0]):
        size = band[i, width]
        for j in range(max(0, i - width), i + 1):
            value = band[i, j - i + width]
            for k in range(max(0, i - width), j):
                if k >= j - width:
                    value -= band[i, k - i + width] * band[j, k - j + width]
            if j < i:
                band[i, j - i + width] = value / band[j, width]
            elif value > DEPENDENT * size:
                band[i, width] = value**0.5
            else:
                return False
    return True


@called_kernel
def push(ties: Ties, bars: Bars, field: Floats) -> None:
    """Solves S tau = gap; subtracts M^-1 G^T tau from field; writes tau into ``ties.gap``."""
    band, x, width, count = ties.band, ties.x, ties.band.shape[1] - 1, ties.x.shape[0]
    for r in range(count):
        x[ties.place[r]] = ties.gap[r]
    for i in range(count):
        value = x[i]
        for j in range(max(0, i - width), i):
            value -= band[i, j - i + width] * x[j]
        x[i] = value / band[i, width]
    for i in range(count - 1, -1, -1):
        value = x[i] / band[i, width]
        x[i] = value
        for j in range(max(0, i - width), i):
            x[j] -= band[i, j - i + width] * value
    for r in range(count):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        ties.gap[r] = x[ties.place[r]]
        for c in range(3):
            pull = ties.gap[r] * ties.gradient[c, r]
            field[i + c] += ties.inverse[i + c] * pull
            field[j + c] -= ties.inverse[j + c] * pull


@called_kernel
def keep_lengths(dt: float, ties: Ties, bars: Bars, work: Scratch) -> bool:
    """Moves ``work.u`` until every rod has its length, and ``work.v`` with it; False if that fails.
    Gradients and factor are then those of the new positions."""
    u, v, start, before = work.u, work.v, work.du, 0.0
    for dof in range(u.shape[0]):
        start[dof] = u[dof]
    for count in range(MOST_PASSES):
        strain = measure_gaps(ties, bars, u)
        if strain <= CLOSED or (count > 1 and strain <= FLOOR and strain >= STALLED * before):
            for dof in range(u.shape[0]):
                v[dof] += (u[dof] - start[dof]) / dt
            return turn(ties, bars, u)
        if not strain < 1.0:
            return False
        before = strain
        push(ties, bars, u)
    return False


@inner_kernel
def measure_rates(longest: float, curved: float, ties: Ties, bars: Bars, v: Floats, x: Floats) -> float:
    """Writes G x + curved |v_j - v_i|^2 into the gaps; returns the largest, relative to the size of its terms (or NaN).
    longest  size of x before correction, the scale for rods at rest
    curved   0 where x are velocities, 1 where they are accelerations"""
    fraction = 0.0
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        turns = 0.0 if bars.kinds[e, 0] == LINEAR else curved
        rate, size = 0.0, 0.0
        for c in range(3):
            square = turns * (v[j + c] - v[i + c]) ** 2
            rate += ties.gradient[c, r] * (x[j + c] - x[i + c]) + square
            size += abs(ties.gradient[c, r]) * (abs(x[j + c]) + abs(x[i + c]) + NOTHING * longest) + square
        ties.gap[r] = rate
        if not abs(rate) <= fraction * size:
            fraction = abs(rate) / size
    return fraction


@called_kernel
def correct_rates(curved: float, ties: Ties, bars: Bars, x: Floats, work: Scratch) -> bool:
    """Corrects velocities or accelerations x until they keep the lengths; False if they do not.
    Corrections of accelerations are added to the multipliers and the internal force."""
    longest, before = largest(x), np.inf
    fraction = measure_rates(longest, curved, ties, bars, work.v, x)
    for _ in range(MOST_SOLVES):
        if fraction <= ROUND_OFF or not fraction < HELPS * before:
            break
        push(ties, bars, x)
        if curved > 0.0:
            pull(ties, bars, work.multiplier, work.force)
        before = fraction
        fraction = measure_rates(longest, curved, ties, bars, work.v, x)
    return fraction <= POOR


@inner_kernel
def keep_rates(inverse: Floats, damping: Floats, ties: Ties, bars: Bars, work: Scratch) -> bool:
    """Velocities, accelerations and multipliers that keep the lengths, into ``work``; the force follows.
    inverse, damping (3n,)  of the mass and the mass-proportional damping that move with each free dof (empty: none)"""
    for dof in range(damping.shape[0]):
        work.du[dof] = work.v[dof]
    if not correct_rates(0.0, ties, bars, work.v, work):
        return False
    for dof in range(damping.shape[0]):
        work.a[dof] -= inverse[dof] * damping[dof] * (work.v[dof] - work.du[dof])
    return correct_rates(1.0, ties, bars, work.a, work)


@inner_kernel
def pull(ties: Ties, bars: Bars, multiplier: Floats, force: Floats) -> None:
    """Adds the result of ``push`` to the multipliers and the internal force."""
    for r in range(ties.rods.shape[0]):
        e = ties.rods[r]
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        multiplier[e] += ties.gap[r]
        for c in range(3):
            part = ties.gap[r] * ties.gradient[c, r]
            force[i + c] -= part
            force[j + c] += part


WATCH, STIFFENED, UNTIED = 10, 11, 12
"""Return codes of leapfrog: stability is to be checked; the caller's code if the increment is then too long; rods could
not be kept at their lengths."""
BEFORE = 1
"""Entry of control: increments of the step before this chunk."""
WATCHED = 200
"""Number of increments between two checks of stability."""
HUGE = 1e300


class Moved(NamedTuple):
    """Inverse (3n,) of the mass that moves with each free dof, dependent dofs included, 0 at dofs that are not free;
    damping (3n,), mass-proportional (empty: none)."""

    inverse: Floats
    damping: Floats


@inner_kernel
def move(dt: float, work: Scratch) -> None:
    """u1 = u + dt v + dt^2/2 a, and v + dt a into v; clears the force."""
    u, v, a, force = work.u, work.v, work.a, work.force
    half = 0.5 * dt * dt
    for dof in range(u.shape[0]):
        u[dof] += dt * v[dof] + half * a[dof]
        v[dof] += dt * a[dof]
        force[dof] = 0.0


@inner_kernel
def accelerate(dt: float, time: float, moved: Moved, problem: Problem, work: Scratch) -> None:
    """a1 from the forces, and v1 = v + dt/2 (a + a1), given v + dt a in v by ``move``."""
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
    """Accelerations from ``work.residual`` if M couples the directions of a node; those of supports are known.
    M is a positive diagonal plus a positive semidefinite matrix, so its pivots are positive."""
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
    """Sets supports to their exact motion, and dependent dofs."""
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        work.u[dof] = loading.support_u[k, c]
        work.v[dof] = loading.support_v[k, c]
        work.a[dof] = loading.support_a[k, c]
    expand(equations, work.u)
    expand(equations, work.v)
    expand(equations, work.a)


@inner_kernel
def is_new(k: int, factors: Floats) -> bool:
    """Whether load factors at the end of increment k differ from those at its start."""
    change = 0.0
    for p in range(factors.shape[1]):
        change += abs(factors[k + 1, p] - factors[k, p])
    return change != 0.0


@inner_kernel
def is_finite(strain: float, v: Floats) -> bool:
    """Whether energy and velocities are finite and not too large."""
    total = 0.0
    for dof in range(v.shape[0]):
        total += abs(v[dof])
    return bool(abs(strain) < HUGE and total < HUGE)


@inner_kernel
def close(control: Ints, k: int, strain: float, through: Passage) -> int:
    """Closes the energies of increment k, whose end is the trial state, and writes its row; returns why the march stops
    there, or DONE."""
    limits, problem, loading = through.limits, through.problem, through.loading
    motion, work, record = through.motion, through.work, through.record
    dt, thermal = loading.dt[k], loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    if not is_finite(strain, work.v):
        return groups.NOT_FINITE
    inertia_forces(problem, work.v, work.a, work.inertia, work.damping_force)
    error = close_increment(through.scheme, k, strain, problem, loading, motion, work)
    note_increment(k, 0, 0.0, 0.0, 0, error, problem, thermal, motion, record)
    if record.watched.shape[0] > 0:
        note_ranges(problem, motion.u, motion.memory, record)
    control[CONTROL.increment] = k + 1
    if k >= control[CONTROL.judged] and has_drifted(
        problem.nodes, problem.bars, motion, dt, error, limits[LIMIT.drift_fraction]
    ):
        return groups.DRIFT
    if (control[BEFORE] + k + 1) % WATCHED == 0:
        return WATCH
    return groups.DONE


@kernel
def close_apart(k: int, strain: float, control: Ints, through: Passage) -> int:
    """``close`` where others than ``leapfrog`` have computed the increment."""
    return close(control, k, strain, through)


@kernel
def leapfrog(control: Ints, due: Ints, moved: Moved, ties: Ties, through: Passage) -> int:
    """Advance through the increments of ``loading`` from ``control``; returns why it stopped.

    due   (k,)  1 for increments whose energy balance is closed and whose row is written; 1 for the last one

    DONE        all increments are done
    NOT_FINITE  overflow after ``control[CONTROL.increment]``, where ``motion`` stands
    DRIFT       the energy error left its band up to increment ``control[CONTROL.increment] - 1``, which is complete
    UNTIED      no positions, or no velocities, keep the lengths of the rods after ``control[CONTROL.increment]``
    WATCH       it is time to look at stability; ``motion`` is complete up to ``control[CONTROL.increment]``
    """
    problem, loading, motion, work = through.problem, through.loading, through.motion, through.work
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
        strain = evaluate_forces(loading.time[k], loading.time[k + 1], thermal, problem, motion, work)
        for number in range(work.state.shape[0]):
            motion.state[number] = work.state[number]
        accelerate(dt, loading.time[k + 1], moved, problem, work)
        set_supports(k, equations, loading, work)
        if tied and not keep_rates(moved.inverse, moved.damping, ties, bars, work):
            return UNTIED
        if due[k] == 0:
            continue
        reason = close(control, k, strain, through)
        if reason != groups.DONE:
            return reason
    return groups.DONE
