"""Local error of an increment: the difference of its displacements from those of a scheme of one order more.

With a(t) the acceleration, j its rate and theta dt the time by which the scheme's accelerations lag (averaged forces),
Taylor's expansion gives the displacement error of one increment, and h times the velocity error, as

    e = dt^2 |k - 1/2| a_n +- C dt^2 (a_{n+1} - a_n) / (1 + theta (1 - h/dt)),      h: the increment before,
    k = (1 - AA)/AU,   theta = WC - WM,   C = |(1 + theta (1 - AA))/AU - 1/6| + |VU/AU + theta - 1/2|

with the sign that makes e of the node longer. For the trapezoidal rule this is dt^2/12 (a_{n+1} - a_n), of order dt^3;
backward Euler has k = 1 and order dt^2. beta = 1/6, whose displacement error is one order smaller, counts with the
constant of the trapezoidal rule. The largest length of e of a node, without its supported components, is compared with
TIME ERROR times the size of the motion of its part of the model. Spins of lines that twist are no points in space: e of
one is a length (r times its angle), compared with the size of the motion of the whole model.

The size of the motion does not depend on a uniform motion of the whole, so that a long travel does not hide a small
swing. In a window of increments that begins at t_r each node deviates from its mean motion in the windows before by

    w = u - u_r - V (t - t_r),    extent = |w of P - w of the node of the part that is farthest from it in w|,

    P: the node whose w is farthest from the mean of the part, or from 0 if the ground is one of its nodes

As all these are lengths, turning a model changes no increment. The extent is the largest difference of w for motion
along a line, and else at least 1/sqrt(3) of it.

u_r + V (t - t_r) goes through the means of u in the last two windows. In the first u_r = u and V = 0, in the second V
is the mean velocity of the first. Windows last for some periods (``solve/clock.py``), each twice as long as the one
before. Parts are connected by bars, springs and equations: fixed nodes unconnected to a trolley do not count for its
travel. The ground is a node (w = 0) of a part if there is a force between them. The size of a part is the largest
extent of this window and the last, or ``KEPT`` of the extent of any window without its travel; at least ``LEAST_PART``
of the size of the part that moves most.

Vibrations of bars that dt does not resolve make e about (omega dt)^2 times as large as the vibration. A scheme with
numerical damping is meant to remove them, so its e is filtered, with the mass M, and B of the bars alone:

    e <- (M + B)^-1 M e,    B = WF dt^2/(WM AU) sum of (dN/dl) n n^T     up to 4 times: 1/(1 + (omega dt)^2/4)^4

Motion that dt resolves is unchanged (1 % less at 60 increments per period), and so is motion that does not stretch
bars: swings, masses on springs between dofs. B does not include bars that rotate much in the increment, nor those that
may go slack or follow a table and whose stress changes by more than half: the effect of a snap must be resolved. With
rods nothing is filtered.

Tensions, with TENSION CHANGE: a displacement error of 1e-3 of the motion is too coarse for fronts of snaps, and
needlessly fine when a slack bar is lifted or laid down with almost no tension. So the change of tension in the
increment, of bars that may go slack, has a separate limit, a given fraction of the largest internal force so far. It is
proportional to dt, and counts as the error (change / limit)^p.

Energy: a displacement error of 1e-4 of the motion says little about velocities of light nodes, of snapping cables
and of contacts. So the error T of the work of internal forces in the increment (``balance.py``) has a limit, too:

    |T| <= (BUDGET TIME ERROR E - |sum of T in the step|)/PARTS, from LEAST_SHARE to MOST_SHARE times TIME ERROR E

E is the largest energy of motion in the step: kinetic, work of loads and weights, both relative to the travel of the
supports, the change of stored energy, and losses. Errors that oscillate are allowed, and those that accumulate are
limited to little more than BUDGET TIME ERROR (0.25 % by default). T of a landing or a snap is proportional to dt^2, and
counts as the error (|T|/limit)^(p/2).

Sources: Zienkiewicz & Xie, Earthquake Eng. Struct. Dyn. 20 (1991) 871-887, there for Newmark's family (beta - 1/6);
lag of accelerations: Erlicher, Bonaventura & Bursi, Comput. Mech. 28 (2002) 83-104; filters of estimates for stiff
systems: Hosea & Shampine, Appl. Numer. Math. 20 (1996) 21-37, and twice where a transient begins: Hairer & Wanner,
Solving Ordinary Differential Equations II, IV.8 (RADAU5). HAFTOL of Abaqus (Hibbitt & Karlsson, ASME 79-PVP-110)
compares forces in the middle of the increment with the largest force, at best a tenth of it, and lets ringing pass.
"""

from __future__ import annotations

import math

import numpy as np

from fem.arrays import Floats
from fem.assembly.equations import Equations, condense, expand
from fem.compiled import called_kernel, inner_kernel, number_kernel
from fem.forces.bar import ALPHA, AREA, MINUS, PLUS, Bars, P, Q, bar_point, thermal_work
from fem.forces.laws import LINEAR, RIGID, TABLE
from fem.forces.protocol import GIVEN, TAKEN, WEIGHT
from fem.solve.newton import groups
from fem.solve.newton.balance import relative_energy, slack_way
from fem.solve.newton.evaluate import evaluate_apart, in_increment, multiply_masses
from fem.solve.newton.groups import (
    ENERGY,
    EXTENTS,
    HIGH,
    LIMIT,
    LOW,
    MEMORY,
    ORIGIN,
    PACE,
    PART,
    SUM,
    Loading,
    Motion,
    Problem,
    Scratch,
)
from fem.solve.newton.project import mass_system
from fem.solve.schemes import Coefficients

FADING = 0.95
"""Fraction of the level of errors that is kept from one increment to the next: the rate of acceleration passes through
zero twice a period, where increments must not grow."""
KEPT = 0.1
"""Smallest size of motion that counts, as a fraction of the largest in the step: a model coming to rest needs no more
increments."""
LEAST_PART = 1e-3
"""Smallest size of the motion of a part, as a fraction of that of the part that moves most."""
FIRST_WINDOW, LAST_WINDOW = 0.5, 2.0
"""Lengths of windows over ``LIMIT.window``; each is twice the one before."""
BUDGET, MOST_SHARE, LEAST_SHARE, PARTS = 25.0, 10.0, 0.03, 2.5
"""Errors of the work of forces over TIME ERROR and the energy: of their sum in a step, largest and smallest of one
increment, which may use one of PARTS parts of the remaining sum."""
LITTLE = 100.0
"""Multiple of the smallest motions that count, below which their energy is ignored: a model at rest, a slow start or a
start with vibrations is not judged by the little energy so far."""
MOST_PASSES = 4
"""Number of passes of the filter: vibrations with omega dt = 15 that are all of the motion stay below the default TIME
ERROR."""
MOST_TURN = 0.9
"""Cosine of the rotation of a bar in an increment beyond which it is not filtered."""
RINGING = 0.9
"""If the first pass leaves more than this fraction of the error, the error is not one of ringing."""
DAMPED = 0.999
"""Amplification of the fastest vibrations below which a scheme damps them."""


def error_constants(row: Coefficients) -> tuple[float, float, float, float]:
    """|k - 1/2|, C, theta and the power of dt the estimate goes with, from the coefficients of a scheme."""
    lead = float((1.0 - row.aa) / row.au - 0.5)
    lead = abs(lead) if abs(lead) > 1e-9 else 0.0
    lag = float(row.wc - row.wm)
    shift = abs((1.0 + lag * (1.0 - row.aa)) / row.au - 1.0 / 6.0)
    change = float(max(shift, 1.0 / 12.0) + abs(row.vu / row.au + lag - 0.5))
    return lead, change, lag, 2.0 if lead else 3.0


def increments_of_a_period(row: Coefficients, time_error: float) -> float:
    """Increments per period of an oscillation of amplitude 1 whose local error is as allowed."""
    lead, change, _, power = error_constants(row)
    return float(2.0 * np.pi * ((lead or change) / time_error) ** (1.0 / power))


def damps_ringing(row: Coefficients) -> bool:
    """Whether vibrations that dt does not resolve decay: amplification of u, dt v, dt^2 a for omega dt = inf."""
    ends = np.abs(np.linalg.eigvals(np.array([[row.vv, row.va], [row.av, row.aa]]))).max()
    return not row.secant and max(float(ends), abs(1.0 - 1.0 / row.wf)) < DAMPED


@inner_kernel
def take_error(scheme: Coefficients, limits: Floats, dt: float, mask: Floats, motion: Motion, work: Scratch) -> None:
    """e of all dofs into ``work.momentum``; accelerations are those of the recursion."""
    lead = dt * dt * limits[LIMIT.lead]
    change = dt * dt * limits[LIMIT.change] / (1.0 + limits[LIMIT.lag] * (1.0 - motion.memory[MEMORY.last_dt] / dt))
    old, new = (motion.lagged, work.lagged) if scheme.lags else (motion.a, work.a)
    if lead == 0.0:
        for dof in range(old.shape[0]):
            work.momentum[dof] = change * (new[dof] - old[dof])
        return
    for i in range(0, old.shape[0], 3):
        product = 0.0
        for dof in range(i, i + 3):
            product += mask[dof] * old[dof] * (new[dof] - old[dof])
        own = -change if product < 0.0 else change
        for dof in range(i, i + 3):
            work.momentum[dof] = lead * old[dof] + own * (new[dof] - old[dof])


@called_kernel
def judge(
    scheme: Coefficients, limits: Floats, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> tuple[int, float]:
    """Decision about the increment: FILTER its error first, repeat it shorter (TOO_LONG), or CLOSE it; flags.
    The level is the error over the allowed one over dt^p; it is remembered if the increment is accepted."""
    memory, passes, dt = motion.memory, motion.memory[MEMORY.passes], loading.dt[k]
    thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    size = take_sizes(limits, memory[MEMORY.elapsed] + dt, motion, work)
    if passes == 0.0:
        take_error(scheme, limits, dt, problem.nodes.mask, motion, work)
    error = largest_error(size, problem.nodes.mask, motion, work) / limits[LIMIT.time_error]
    level = error / dt ** limits[LIMIT.exponent]
    enough = limits[LIMIT.low_level] if limits[LIMIT.low_level] > 0.0 else limits[LIMIT.high_level]
    may_ring = limits[LIMIT.damps] > 0.0 and problem.bars.rods.shape[0] == 0 and (level > enough or error > 1.0)
    if may_ring and passes < MOST_PASSES and (passes != 1.0 or error < RINGING * memory[MEMORY.fraction]):
        if passes <= 1.0:
            memory[MEMORY.fraction] = error
        memory[MEMORY.passes] += 1.0
        return groups.FILTER, 0.0
    memory[MEMORY.passes] = 0.0
    if limits[LIMIT.tension_change] > 0.0:
        change = largest_change(thermal, problem.bars, motion, work) / limits[LIMIT.tension_change]
        error = max(error, change ** limits[LIMIT.exponent])
        level = error / dt ** limits[LIMIT.exponent]
    moved, fall, wrong = memory[MEMORY.moved], memory[MEMORY.fall], 0.0
    if not scheme.secant:
        moved, fall = moved_energy(limits, k, problem, loading, motion, work)
        whole = limits[LIMIT.time_error] * moved
        left = max(BUDGET * whole - abs(memory[MEMORY.astray]), 0.0)
        allowed = max(LEAST_SHARE * whole, min(MOST_SHARE * whole, left / PARTS))
        wrong = work_error(scheme, k, problem, loading, motion, work)
        error = max(error, (abs(wrong) / allowed) ** (0.5 * limits[LIMIT.exponent]) if allowed > 0.0 else 0.0)
        level = error / dt ** limits[LIMIT.exponent]
    if error > 1.0 and dt > limits[LIMIT.shortest]:
        memory[MEMORY.refused] = level
        return groups.TOO_LONG, 0.0
    memory[MEMORY.level] = max(level, FADING * memory[MEMORY.level])
    memory[MEMORY.last_dt] = dt
    memory[MEMORY.moved], memory[MEMORY.fall] = moved, fall
    memory[MEMORY.astray] += wrong
    note_extents(limits, dt, motion, work)
    if error > 1.0:
        return groups.CLOSE, groups.UNRESOLVED
    if passes > 1.0 and memory[MEMORY.fraction] > 1.0:
        memory[MEMORY.left] = 1.0
        return groups.CLOSE, groups.RINGS
    return groups.CLOSE, 0.0


@number_kernel
def first_of(part: float) -> int:
    """The first dof of the node that stands for a part, from the entry of ``PART`` at the first dof of a node."""
    return int(abs(part)) - 1


@inner_kernel
def largest_error(size: float, mask: Floats, motion: Motion, work: Scratch) -> float:
    """Largest e of a node over the size of the motion of its part; ``size``: that of nodes without a part."""
    part, sizes, error, largest = motion.origin[PART], motion.origin[LOW], work.momentum, 0.0
    for i in range(0, error.shape[0], 3):
        square = 0.0
        for dof in range(i, i + 3):
            square += mask[dof] * error[dof] * error[dof]
        own = sizes[first_of(part[i])] if part[i] != 0.0 else size
        largest = max(largest, square / (own * own))
    return math.sqrt(largest)


@inner_kernel
def longest(x: Floats) -> float:
    """Largest length of a vector at a node."""
    square = 0.0
    for i in range(0, x.shape[0], 3):
        square = max(square, x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])
    return math.sqrt(square)


@inner_kernel
def square_from(middle: Floats, own: int, i: int, elapsed: float, u: Floats, at: Floats, pace: Floats) -> float:
    """Square of the distance of w of node i from the place at ``own``."""
    square = 0.0
    for c in range(3):
        way = u[i + c] - at[i + c] - elapsed * pace[i + c] - middle[own + c]
        square += way * way
    return square


@inner_kernel
def take_extents(elapsed: float, motion: Motion, work: Scratch) -> None:
    """Extents of the parts at the end of the increment into ``HIGH``, at the first dofs of their nodes.
    Meanwhile ``LOW`` has the place from which distances count, ``HIGH`` the largest square so far and its node."""
    u, at, pace, part = work.u, motion.origin[ORIGIN], motion.origin[PACE], motion.origin[PART]
    middle, far = motion.origin[LOW], motion.origin[HIGH]
    for dof in range(u.shape[0]):
        middle[dof] = far[dof] = 0.0
    for i in range(0, u.shape[0], 3):
        own = first_of(part[i])
        if part[i] > 0.0:
            for c in range(3):
                middle[own + c] += u[i + c] - at[i + c] - elapsed * pace[i + c]
            far[own] += 1.0
    for i in range(0, u.shape[0], 3):
        if first_of(part[i]) == i:
            for c in range(3):
                middle[i + c] /= max(far[i], 1.0)
            far[i], far[i + 1], far[i + 2] = 0.0, 0.0, float(i)
    for i in range(0, u.shape[0], 3):
        own = first_of(part[i])
        if own >= 0:
            square = square_from(middle, own, i, elapsed, u, at, pace)
            if square > far[own + 1]:
                far[own + 1], far[own + 2] = square, float(i)
    for i in range(0, u.shape[0], 3):
        if first_of(part[i]) == i:
            one = int(far[i + 2])
            for c in range(3):
                middle[i + c] = u[one + c] - at[one + c] - elapsed * pace[one + c]
            far[i] = far[i + 1] if part[i] < 0.0 else 0.0
    for i in range(0, u.shape[0], 3):
        own = first_of(part[i])
        if own >= 0:
            far[own] = max(far[own], square_from(middle, own, i, elapsed, u, at, pace))
    for i in range(0, u.shape[0], 3):
        if first_of(part[i]) == i:
            far[i] = math.sqrt(far[i])


@inner_kernel
def take_sizes(limits: Floats, elapsed: float, motion: Motion, work: Scratch) -> float:
    """Extents of the parts at the end of the increment into ``HIGH``, sizes of their motions into ``LOW``, at the first
    dofs of their nodes; returns the largest size."""
    largest: float = limits[LIMIT.least_size]
    part, extents, sizes, found = motion.origin[PART], motion.origin[EXTENTS], motion.origin[LOW], motion.origin[HIGH]
    take_extents(elapsed, motion, work)
    for i in range(0, work.u.shape[0], 3):
        if first_of(part[i]) == i:
            sizes[i] = max(found[i], max(extents[i], max(extents[i + 1], KEPT * extents[i + 2])))
            largest = max(largest, sizes[i])
    for i in range(0, work.u.shape[0], 3):
        if first_of(part[i]) == i:
            sizes[i] = max(sizes[i], max(LEAST_PART * largest, limits[LIMIT.least_size]))
    return largest


@inner_kernel
def note_extents(limits: Floats, dt: float, motion: Motion, work: Scratch) -> None:
    """Records the extents of an accepted increment; a window that is long enough ends with it."""
    memory, origin, before = motion.memory, motion.origin, motion.memory[MEMORY.elapsed]
    part, extents = origin[PART], origin[EXTENTS]
    memory[MEMORY.elapsed] += dt
    memory[MEMORY.counted] += 1.0
    ends = memory[MEMORY.counted] >= max(memory[MEMORY.window], FIRST_WINDOW * limits[LIMIT.window])
    for dof in range(work.u.shape[0]):
        ways = motion.u[dof] + work.u[dof] - 2.0 * origin[ORIGIN, dof] - (2.0 * before + dt) * origin[PACE, dof]
        origin[SUM, dof] += 0.5 * dt * ways
    for i in range(0, work.u.shape[0], 3):
        if first_of(part[i]) == i:
            extents[i] = max(extents[i], origin[HIGH, i])
            if ends:
                extents[i + 2] = max(extents[i + 2], extents[i] - origin[HIGH, i])
                extents[i + 1] = max(extents[i], limits[LIMIT.least_size])
                extents[i] = 0.0
    if not ends:
        return
    time = memory[MEMORY.elapsed]
    between = 0.5 * (time + memory[MEMORY.last_elapsed])
    for dof in range(work.u.shape[0]):
        mean = origin[SUM, dof] / time
        if memory[MEMORY.last_elapsed] == 0.0:
            origin[PACE, dof], origin[ORIGIN, dof] = (work.u[dof] - origin[ORIGIN, dof]) / time, work.u[dof]
        else:
            origin[ORIGIN, dof] += time * origin[PACE, dof] + mean * (1.0 + 0.5 * time / between)
            origin[PACE, dof] += mean / between
        origin[SUM, dof] = 0.0
    memory[MEMORY.last_elapsed] = time
    memory[MEMORY.window] = min(2.0 * memory[MEMORY.counted], LAST_WINDOW * limits[LIMIT.window])
    memory[MEMORY.elapsed], memory[MEMORY.counted] = 0.0, 0.0


@called_kernel
def moved_energy(
    limits: Floats, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> tuple[float, float]:
    """Largest energy of motion in the step so far, and work of loads in it, both without the travel.
    At least the work of the largest force along ``LITTLE`` times the smallest motions that count."""
    memory, dt = motion.memory, loading.dt[k]
    energy, x, y, z = relative_energy(limits[LIMIT.ground], problem.nodes, work.v)
    fall = memory[MEMORY.fall]
    for p in range(loading.vectors.shape[0]):
        factor = loading.factors[k + 1, p]
        if factor == 0.0:
            continue
        for dof in range(0, work.u.shape[0], 3):
            fall += factor * loading.vectors[p, dof] * (work.u[dof] - motion.u[dof] - dt * x)
            fall += factor * loading.vectors[p, dof + 1] * (work.u[dof + 1] - motion.u[dof + 1] - dt * y)
            fall += factor * loading.vectors[p, dof + 2] * (work.u[dof + 2] - motion.u[dof + 2] - dt * z)
    if work.power.shape[0] > 0:
        fall += work.power[WEIGHT] - motion.power[WEIGHT]
    least = LITTLE * longest(work.force) * limits[LIMIT.least_size]
    strain = abs(memory[MEMORY.closing_strain] - motion.energies[ENERGY.strain0])
    most = max(energy, strain, abs(fall), motion.energies[ENERGY.dissipated], least)
    return max(memory[MEMORY.moved], most), fall


@called_kernel
def work_error(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> float:
    """T of the increment: work done on internal forces that store energy, less the stored energy (``balance.py``)."""
    last, flows = loading.thermal_end.shape[0] - 1, work.flow.shape[0] > 0
    before, now, bars = min(k, last), min(k + 1, last), problem.bars
    found: float = motion.memory[MEMORY.closing_strain] - motion.energies[ENERGY.strain]
    for dof in range(work.u.shape[0]):
        both = motion.force[dof] + work.force[dof]
        if flows:
            both -= motion.flow[dof] + work.flow[dof]
        found -= 0.5 * both * (work.u[dof] - motion.u[dof])
    if flows:
        found -= slack_way(scheme.late, scheme.onset * loading.dt[k], before, now, bars, loading, motion, work)
    if work.power.shape[0] > 0:
        found += work.power[WEIGHT] - motion.power[WEIGHT] + work.power[TAKEN] - work.power[GIVEN]
    if now != before:
        found -= thermal_work(
            motion.u, work.u, work.v, bars, loading.thermal_end[before], loading.thermal_end[now], work.multiplier
        )
    return found


@called_kernel
def largest_change(thermal: Floats, bars: Bars, motion: Motion, work: Scratch) -> float:
    """Largest change of a tension in the increment, of bars that may go slack, over the largest internal force so far.
    thermal (m,) strain at its end"""
    largest, most = max(motion.memory[MEMORY.pull], longest(motion.force)), 0.0
    motion.memory[MEMORY.pull] = largest
    for e in range(bars.nodes.shape[0]):
        if bars.kinds[e, 1] in (RIGID, TABLE) or bars.constants[MINUS, e] >= bars.constants[PLUS, e]:
            continue
        before = bar_point(e, motion.u, motion.v, bars, thermal, motion.multiplier)[1]
        after = bar_point(e, work.u, work.v, bars, thermal, motion.multiplier)[1]
        most = max(most, abs(after - before) * bars.constants[AREA, e])
    return most / largest if largest > 0.0 else 0.0


@inner_kernel
def take_direction(e: int, place: Floats, u0: Floats, u1: Floats, bars: Bars, numbers: Floats) -> bool:
    """Stiffness of bar e along its direction at the start of the increment; False if it rotates by more than MOST_TURN.
    A tension that jumps acts along the direction at the end, whose rotation would have no transverse effect."""
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    product, square0, square1, both, differs = 0.0, 0.0, 0.0, 0.0, False
    for c in range(3):
        p, q = numbers[P + c, e], numbers[Q + c, e]
        both += p * q
        differs = differs or p != q
        d0 = place[j + c] - place[i + c] + u0[j + c] - u0[i + c]
        d1 = place[j + c] - place[i + c] + u1[j + c] - u1[i + c]
        product += d0 * d1
        square0 += d0 * d0
        square1 += d1 * d1
        numbers[P + c, e] = numbers[Q + c, e] = d0
    if differs:  # q of bars with viscous stresses has their stiffness in it, alpha is 1
        numbers[ALPHA, e] *= both / square1
    return product > MOST_TURN * math.sqrt(square0 * square1)


@called_kernel
def filter_system(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> None:
    """M + B as the matrix of the next linear solve (without its nodal blocks), M e as its right-hand side."""
    nodes, bars, equations, numbers = problem.nodes, problem.bars, problem.equations, work.tangent.bar_tangent
    if motion.memory[MEMORY.passes] == 1.0:
        evaluate_apart(in_increment(scheme, k, problem, loading, motion, work), problem, work)
        dt, thermal = loading.dt[k], loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        mass_system(dt * dt / (scheme.wm * scheme.au), nodes, bars, work)
        for e in range(bars.nodes.shape[0]):
            if bars.kinds[e, 0] != LINEAR and not take_direction(e, nodes.place, motion.u, work.u, bars, numbers):
                numbers[ALPHA, e] = 0.0
            if bars.kinds[e, 1] == TABLE or bars.constants[PLUS, e] != bars.constants[MINUS, e]:
                before = abs(bar_point(e, motion.u, motion.v, bars, thermal, motion.multiplier)[1])
                after = abs(bar_point(e, work.u, work.v, bars, thermal, motion.multiplier)[1])
                if numbers[ALPHA, e] < 0.0 or min(before, after) < 0.5 * max(before, after):
                    numbers[ALPHA, e] = 0.0
    multiply_masses(problem, work.momentum, work.residual)
    condense(equations, work.residual)
    for dof in range(work.residual.shape[0]):
        work.residual[dof] *= nodes.mask[dof]


@called_kernel
def take_filtered(equations: Equations, du: Floats, error: Floats) -> None:
    """The solution of the filter becomes the error."""
    expand(equations, du)
    for dof in range(du.shape[0]):
        error[dof] = du[dof]
