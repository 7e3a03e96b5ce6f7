"""The parts of one Newton iteration: first guess, forces, residual and its norm, correction; convergence; accuracy of
linear solves.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE.
"""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.assembly.equations import condense, expand
from fem.compiled import called_kernel, inner_kernel, kernel, number_kernel
from fem.compiled.lanes import common, every, some, where
from fem.forces.bar import GAP, INV_LENGTH, PULL, Bars, P, other_leg
from fem.forces.laws import LEG
from fem.solve.newton import groups
from fem.solve.newton.evaluate import (
    combine,
    foresee_masses,
    inertia_forces,
    is_lumped,
    multiply_dampings,
    multiply_masses,
)
from fem.solve.newton.groups import LIMIT, MEMORY, Loading, Motion, Nodes, Problem, Scratch
from fem.solve.schemes import Coefficients

MOST_HALVINGS = 8
LEAST_FALL = 1e-4
"""Smallest decrease of R.R by a full step, as a fraction: Dennis & Schnabel, Numerical Methods, 1983, section 6.3."""


@inner_kernel
def begin(
    scheme: Coefficients, k: int, dt: float, problem: Problem, loading: Loading, motion: Motion, work: Scratch
) -> None:
    """First guess of increment k, and its constant quantities."""
    nodes, bars, equations = problem.nodes, problem.bars, problem.equations
    if nodes.directed_mass.shape[0] > 0 and scheme.wm != 0.0:
        foresee_masses(scheme, k, problem, loading, motion, work.momentum)
    linear = dt if scheme.extrapolation > 0 else 0.0
    square = 0.5 * dt * dt if scheme.extrapolation > 1 else 0.0
    before = motion.lagged if scheme.lags else motion.a
    guess(scheme, linear, square, dt, nodes, motion, work)
    if loading.support_dofs.shape[0] > 0:
        for dof in range(work.shift.shape[0]):
            work.shift[dof] = 0.0
    carry_over(scheme, k, problem, loading, motion, before, work)
    lag = scheme.wf - scheme.wm
    if lag != 0.0 and loading.support_dofs.shape[0] > 0 and scheme.wm != 0.0:
        lag_supports(lag, k, problem, loading, motion, work)
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        work.u[dof] += linear * motion.v[dof] + square * motion.a[dof]
        work.shift[dof] = loading.support_u[k, c] - work.u[dof]
        # The first solve moves the support by ``shift``, and its velocity accordingly to the exact one.
        work.v[dof] = loading.support_v[k, c] - scheme.vu / dt * work.shift[dof]
        work.a[dof] = loading.support_a[k, c]
    for r in range(bars.rods.shape[0]):
        work.multiplier[bars.rods[r]] = motion.multiplier[bars.rods[r]]
    expand(equations, work.v)
    expand(equations, work.a)
    expand(equations, work.shift)
    mass_factor = scheme.wm * scheme.au / (dt * dt)
    damping_factor = scheme.wc * scheme.vu / dt
    for e in range(bars.off_mass.shape[0]):
        work.tangent.off[e] = mass_factor * bars.off_mass[e] + damping_factor * bars.off_damping[e]


@inner_kernel
def guess(
    scheme: Coefficients, linear: float, square: float, dt: float, nodes: Nodes, motion: Motion, work: Scratch
) -> None:
    """Trial u, v, a; u moves by linear v + square a. Supported dofs (mask 0) keep their place, with zero velocity."""
    u, v, a, moving = motion.u, motion.v, motion.lagged if scheme.lags else motion.a, nodes.mask
    trial_u, trial_v, trial_a = work.u, work.v, work.a
    vu, vv, va = scheme.vu / dt, scheme.vv, scheme.va * dt
    au, av, aa = scheme.au / (dt * dt), scheme.av / dt, scheme.aa
    for dof in range(u.shape[0]):
        move = linear * v[dof] + square * a[dof]
        is_open = moving[dof] != 0.0
        trial_u[dof] = u[dof] + where(is_open, move, 0.0)
        trial_v[dof] = where(is_open, vu * move + vv * v[dof] + va * a[dof], 0.0)
        trial_a[dof] = where(is_open, au * move + av * v[dof] + aa * a[dof], 0.0)


@inner_kernel
def carry_over(
    scheme: Coefficients, k: int, problem: Problem, loading: Loading, motion: Motion, a: Floats, work: Scratch
) -> None:
    """Known forces in the equilibrium of the increment, from its loads and its start, with accelerations a there."""
    combine(loading.vectors, loading.weighted, k, work.load)
    load, known_force, force = work.load, work.known_force, motion.force
    for dof in range(load.shape[0]):
        known_force[dof] = load[dof]
    old_force, old_inertia, old_damping = 1.0 - scheme.wf, 1.0 - scheme.wm, 1.0 - scheme.wc
    dynamic = scheme.wm != 0.0
    if dynamic and (old_force != 0.0 or old_inertia != 0.0 or old_damping != 0.0):
        inertia_forces(problem, motion.v, a, work.inertia, work.damping_force)
        inertia, damping_force = work.inertia, work.damping_force
        for dof in range(load.shape[0]):
            known_force[dof] -= old_force * force[dof] + old_inertia * inertia[dof] + old_damping * damping_force[dof]


@called_kernel
def lag_supports(lag: float, k: int, problem: Problem, loading: Loading, motion: Motion, work: Scratch) -> None:
    """Evaluate the exact accelerations of supports at the time of the weighted forces, lag dt after that of WM M a.
    Accelerations of free dofs have this lag by themselves (Erlicher, Bonaventura & Bursi, Comput. Mech. 28 (2002)
    83-104); those of supports do not, and with a coupled mass would reduce the scheme to first order."""
    change = work.momentum
    for dof in range(change.shape[0]):
        change[dof] = 0.0
    for c in range(loading.support_dofs.shape[0]):
        dof = loading.support_dofs[c]
        change[dof] = lag * (loading.support_a[k, c] - motion.a[dof])
    expand(problem.equations, change)
    multiply_masses(problem, change, work.inertia)
    for dof in range(change.shape[0]):
        work.known_force[dof] -= work.inertia[dof]


@kernel
def residual(scheme: Coefficients, problem: Problem, work: Scratch) -> float:
    """Out-of-balance force of the trial state (zero at supported dofs); returns its largest component, or NaN.
    Leaves C v in ``work.damping_force`` and, unless the mass is lumped, M a in ``work.inertia``, which saves a pass
    through memory."""
    nodes, equations = problem.nodes, problem.equations
    is_diagonal = is_lumped(problem)
    if not is_diagonal:
        multiply_masses(problem, work.a, work.inertia)
    if nodes.damping.shape[0] > 0:
        multiply_dampings(problem, work.v, work.damping_force)
    rest, known_force, force, is_open = work.residual, work.known_force, work.force, nodes.mask
    inertia, damping_force = work.inertia, work.damping_force
    mass, a = nodes.mass, work.a
    wf, wm, wc = scheme.wf, scheme.wm, scheme.wc
    total = 0.0
    for dof in range(rest.shape[0]):
        own = mass[dof] * a[dof] if is_diagonal else inertia[dof]
        value = where(is_open[dof] != 0.0, known_force[dof] - wf * force[dof] - wm * own, 0.0)
        rest[dof] = value
        total += value
    for dof in range(nodes.damping.shape[0]):
        value = where(is_open[dof] != 0.0, wc * damping_force[dof], 0.0)
        rest[dof] -= value
        total -= value
    if equations.slave.shape[0] > 0:
        condense(equations, rest)
        for dof in range(rest.shape[0]):
            rest[dof] *= is_open[dof]
    return where(total - total == 0.0, largest(rest), math.nan)


@inner_kernel
def scale_of(
    scheme: Coefficients, dt: float, travels: bool, ground: float, takes_part: Floats | None, problem: Problem,
    work: Scratch,
) -> float:  # fmt: skip
    """D: the forces the residual is compared with.
    The largest over all dofs of |f_int + C v| at supported and |f_ext - M a| at other dofs, and of |M v|/(beta dt).
    travels: increments are automatic, and may become so short that |M v|/(beta dt) of a heavy node is too large for
    light ones. It is limited so that the work of the residuals is the same fraction of v.M v/2. v is relative to the
    middle of its range over nodes that take part, and the ground if that is 1;
    ``work.shift`` is used as a work array. Not used in lanes, whose increments are given.
    In statics, if D is very small beside the bars' own forces (tensegrity, a free body), the largest of these."""
    nodes = problem.nodes
    dynamic = 1.0 if scheme.wm != 0.0 else 0.0
    is_diagonal = is_lumped(problem)
    scale = largest_force(is_diagonal, dynamic, nodes, work)
    if scheme.momentum > 0.0:
        v = work.v
        if takes_part is not None and travels:
            v = work.shift
            leave_travel(ground, work.v, takes_part, v)
        if is_diagonal:
            momentum = largest_product(nodes.mass, v)
        else:
            multiply_masses(problem, v, work.momentum)
            momentum = largest(work.momentum)
        if takes_part is not None and travels:
            energy, power, norm = 0.0, 0.0, 0.0
            for dof in range(v.shape[0]):
                left = nodes.mask[dof] * abs(work.residual[dof])
                energy += v[dof] * (nodes.mass[dof] * v[dof] if is_diagonal else work.momentum[dof])
                power += left * abs(v[dof])
                norm = max(norm, left)
            if 0.5 * norm * energy < scheme.momentum * power * momentum:
                momentum = 0.5 * norm * energy / (scheme.momentum * power)
        scale = max(scale, scheme.momentum / dt * momentum)
    if scheme.wm == 0.0:
        pull = largest_pull(work.tangent.bar_tangent)
        scale = where(scale > SELF_STRESSED * pull, scale, pull)
    return scale


@called_kernel
def leave_travel(ground: float, v: Floats, takes_part: Floats, relative: Floats) -> None:
    """v (3n,) less the middle of its range, by component: independent of a uniform motion of the whole."""
    for c in range(3):
        low, high = (0.0, 0.0) if ground > 0.0 else (math.inf, -math.inf)
        for dof in range(c, v.shape[0], 3):
            if takes_part[dof] > 0.0:
                low, high = min(low, v[dof]), max(high, v[dof])
        for dof in range(c, v.shape[0], 3):
            relative[dof] = v[dof] - 0.5 * (low + high)


SELF_STRESSED = 1e-3
"""Fraction of the largest force of a bar below which loads and reactions are no scale for the forces in a structure."""


@number_kernel
def largest_pull(bar_tangent: Floats) -> float:
    """Largest component of the force of a bar (of a rod: of its multiplier)."""
    value = 0.0
    for e in range(bar_tangent.shape[1]):
        size = max(abs(bar_tangent[P, e]), max(abs(bar_tangent[P + 1, e]), abs(bar_tangent[P + 2, e])))
        value = max(value, abs(bar_tangent[PULL, e]) * size)
    return value


@number_kernel
def largest(x: Floats) -> float:
    value = 0.0
    for dof in range(x.shape[0]):
        value = max(value, abs(x[dof]))
    return value


@number_kernel
def largest_product(x: Floats, y: Floats) -> float:
    """Largest magnitude of x y."""
    value = 0.0
    for dof in range(x.shape[0]):
        value = max(value, abs(x[dof] * y[dof]))
    return value


@number_kernel
def largest_force(is_diagonal: bool, dynamic: float, nodes: Nodes, work: Scratch) -> float:
    """Largest of |f_int + C v| at supports and |f_ext - M a| at other dofs; ``inertia``: M a unless it is lumped."""
    force, damping_force, load, a, inertia = work.force, work.damping_force, work.load, work.a, work.inertia
    is_open, mass, is_damped = nodes.mask, nodes.mass, nodes.damping.shape[0] > 0
    value = 0.0
    for dof in range(force.shape[0]):
        inside = force[dof] + dynamic * damping_force[dof] if is_damped else force[dof]
        outside = load[dof] - dynamic * (mass[dof] * a[dof] if is_diagonal else inertia[dof])
        value = max(value, abs(where(is_open[dof] != 0.0, outside, inside)))
    return value


@called_kernel
def worst(rest: Floats) -> int:
    best = 0
    for dof in range(rest.shape[0]):
        if abs(rest[dof]) > abs(rest[best]) or rest[dof] != rest[dof]:
            best = dof
    return best


@called_kernel
def takes_back(scheme: Coefficients, dt: float, begins: bool, memory: Floats, work: Scratch) -> bool:
    """Halves the last correction if it has not decreased R.R, at most ``MOST_HALVINGS`` times.
    begins: there is no R.R to compare with. Otherwise the trial state is kept, and its R.R must decrease next."""
    is_worse: bool = halves(scheme, dt, begins, True, memory, work)
    return is_worse


@inner_kernel
def halves(scheme: Coefficients, dt: float, begins: bool, asks: bool, memory: Floats, work: Scratch) -> bool:
    """``takes_back`` where ``asks``."""
    square, part = 0.0, memory[MEMORY.part]
    for dof in range(work.residual.shape[0]):
        square += work.residual[dof] * work.residual[dof]
    falls = (square <= (1.0 - LEAST_FALL * part) * memory[MEMORY.square]) | (part <= 0.5**MOST_HALVINGS)
    is_worse = asks & (not (falls | begins))
    rests = asks & (falls | begins)
    memory[MEMORY.square] = where(rests, square, memory[MEMORY.square])
    memory[MEMORY.part] = where(is_worse, 0.5 * part, where(rests, 1.0, part))
    if some(is_worse):
        to_v, to_a = scheme.vu / dt, scheme.au / (dt * dt)
        for dof in range(work.du.shape[0]):
            back = where(is_worse, memory[MEMORY.part] * work.du[dof], 0.0)
            work.u[dof] -= back
            work.v[dof] -= to_v * back
            work.a[dof] -= to_a * back
    return is_worse


@inner_kernel
def correct(scheme: Coefficients, dt: float, shifted: bool, problem: Problem, work: Scratch) -> bool:
    """Moves the trial state by du (and, ``shifted``, the supports by ``shift``); False: not finite.
    ``du``, zero at supported dofs, ends as the whole correction."""
    bars, equations = problem.bars, problem.equations
    du, shift = work.du, work.shift
    u, v, a = work.u, work.v, work.a
    expand(equations, du)
    to_v, to_a = scheme.vu / dt, scheme.au / (dt * dt)
    total = 0.0
    for dof in range(du.shape[0]):
        step = du[dof]
        u[dof] += step
        v[dof] += to_v * step
        a[dof] += to_a * step
        total += step
    if shifted:
        for dof in range(du.shape[0]):
            u[dof] += shift[dof]
            v[dof] += to_v * shift[dof]
            du[dof] += shift[dof]
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        work.multiplier[e] += work.tau[e] / scheme.wf
        total += work.tau[e]
    return total - total == 0.0


TIGHTEST_FORCING, LOOSEST_FORCING = 1e-8, 1e-2
"""Range of the relative accuracy of an iterative linear solve."""
LEAST_FORCING = 1e-13
"""The same for solves without a Newton iteration around them."""
FILTER_FORCING = 1e-5
"""The same for filters of error estimates, whose smallest results are some thousandths of their input."""
ROD_STRAIN = 1e-12
"""Largest strain of a rod in a converged increment."""
ROD_FLOOR = 1e-16
"""Strain of rods that counts as zero."""
STALLED = 0.9
"""A residual no longer decreases if it keeps more than this fraction from one solve to the next."""
NOTHING_LEFT = 1e-16
"""Residual over the forces D that is small enough: half of the last digit of the largest force."""
NOISY = 0.3
"""The same for residuals as small as rounding errors of bar forces: Newton's method reduces others much more."""


@inner_kernel
def rod_strain(bars: Bars, work: Scratch) -> float:
    """Largest strain of a rod (or NaN)."""
    largest_one = 0.0
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        inverse, gap = bars.constants[INV_LENGTH, e], work.tangent.bar_tangent[GAP, e]
        if bars.kinds[e, 0] >= LEG:
            gap = gap + work.tangent.bar_tangent[GAP, other_leg(e, bars)]
        strain = abs(gap) * inverse * inverse
        largest_one = where(strain <= largest_one, largest_one, strain)
    return largest_one


@inner_kernel
def is_converged(
    limits: Floats, norm: float, scale: float, iteration: int, bars: Bars, motion: Motion, work: Scratch
) -> tuple[bool, int]:
    """Whether all given criteria hold, or the residual is a rounding error; flags for special cases.
    to_floor: then iterate until the residual no longer decreases or is ``NOTHING_LEFT`` of the forces, or to the last
    iteration allowed. If a solution has few digits (zero, along an axis) residuals would decrease to 1e-320."""
    memory = motion.memory
    good, is_vanished = True, False
    if common(limits[LIMIT.relative]) >= 0.0:
        bound, smallest = limits[LIMIT.relative] * scale, memory[MEMORY.smallest_scale]
        is_vanished = (smallest > 0.0) & (scale <= 1e-6 * smallest)
        good = norm <= where(is_vanished, max(bound, memory[MEMORY.last_residual]), bound)
        is_vanished = is_vanished & (norm > bound)
    if common(limits[LIMIT.absolute]) >= 0.0:
        good = good & (norm <= limits[LIMIT.absolute])
    if common(limits[LIMIT.correction]) >= 0.0:
        good = good & (largest(work.du) <= limits[LIMIT.correction] * largest_move(motion.u, work.u))
    gap, gap_before = rod_strain(bars, work), memory[MEMORY.previous_gap]
    memory[MEMORY.previous_gap] = gap
    closed = gap <= ROD_STRAIN
    good = good & closed
    stalls = (norm >= STALLED * memory[MEMORY.previous]) & (norm <= limits[LIMIT.floor])
    is_floor = (iteration > 1) & (not good) & closed & stalls
    flags = where(is_floor, groups.AT_FLOOR, where(is_vanished, groups.LOADS_VANISHED, 0))
    if common(limits[LIMIT.to_floor]) != 0.0:
        is_nothing = norm <= NOTHING_LEFT * scale
        falls_on = good & (iteration < limits[LIMIT.iterations]) & ((not is_nothing) | (gap > ROD_FLOOR))
        fall = where(norm <= limits[LIMIT.floor], NOISY, STALLED)
        has_ended = is_nothing | (norm >= fall * memory[MEMORY.previous])
        is_tight = (gap <= ROD_FLOOR) | (gap >= STALLED * gap_before)
        good = good & ((not falls_on) | ((iteration > 1) & has_ended & is_tight))
        flags = where(falls_on, 0, flags)
    return good | is_floor, flags


OWN_SHARE = 1e-3
"""Largest residual of a node, as a fraction of its load, in dynamics also of its inertia: a light cable beside a heavy
structure has forces that are all below the tolerance of the whole. Residuals of one sign add up in time."""
NO_LOAD = 1e-12
"""Fraction of D below which the load on a node is none."""
FAR = 1e300
"""Larger than the square of any load."""
SURE = 0.1
"""Fraction of what the lightest node may have, up to which residuals are not compared node by node: loads on a node
change by less from one increment to the next."""


@inner_kernel
def is_left_alone(
    asked: bool, scheme: Coefficients, limits: Floats, norm: float, scale: float, iteration: int, problem: Problem,
    memory: Floats, work: Scratch,
) -> bool:  # fmt: skip
    """Whether the residual of a node is no small part of its own load or inertia, and not a rounding error of stiff
    bars, where this is asked. In dynamics this never ends a run: the last iteration allowed is enough."""
    load, rest, inertia, a, mass = work.load, work.residual, work.inertia, work.a, problem.nodes.mass
    is_diagonal, dynamic = is_lumped(problem), 1.0 if scheme.wm != 0.0 else 0.0
    share = OWN_SHARE**2
    least, noise, excess, lightest = (NO_LOAD * scale) ** 2, limits[LIMIT.floor] ** 2, 0.0, FAR
    is_sure = (not asked) | (3.0 * norm * norm <= SURE**2 * share * memory[MEMORY.lightest])
    for i in range(0, 0 if every(is_sure) else rest.shape[0], 3):
        given, moved, left = 0.0, 0.0, 0.0
        for dof in range(i, i + 3):
            inside = dynamic * (mass[dof] * a[dof] if is_diagonal else inertia[dof])
            given += load[dof] * load[dof]
            moved += inside * inside
            left += rest[dof] * rest[dof]
        own = max(given, where(share * moved > noise, moved, 0.0))
        excess = max(excess, where(own > least, left - share * own, 0.0))
        lightest = min(lightest, where(own > least, own, FAR))
    memory[MEMORY.lightest] = where(is_sure, memory[MEMORY.lightest], where(lightest < FAR, lightest, 0.0))
    is_floor = (norm <= limits[LIMIT.floor]) & (norm >= STALLED * memory[MEMORY.previous])
    may_go_on = iteration < limits[LIMIT.iterations] if scheme.wm != 0.0 else True
    return (excess > 0.0) & (not (is_sure | is_floor)) & may_go_on


@number_kernel
def largest_move(u0: Floats, u1: Floats) -> float:
    """Largest component of u1 - u0."""
    value = 0.0
    for dof in range(u0.shape[0]):
        value = max(value, abs(u1[dof] - u0[dof]))
    return value


@inner_kernel
def next_forcing(norm: float, previous: float) -> float:
    """Relative accuracy of the next linear solve: a third of the last reduction by a Newton step.
    For nearly linear motion it decreases until one solve per increment is enough; otherwise accuracy beyond that of
    the linearisation is not wasted. After Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996)."""
    ratio = norm / previous if previous > 0.0 else 0.0
    return min(max(0.3 * ratio, TIGHTEST_FORCING), LOOSEST_FORCING)


@kernel
def forcing_of(phase: int, memory: Floats) -> float:
    """Relative accuracy of the linear solve of a phase."""
    if phase == groups.FILTER:
        return FILTER_FORCING
    forcing: float = memory[MEMORY.forcing] if phase in (groups.CORRECT, groups.LOAD_DIRECTION) else LEAST_FORCING
    return forcing
