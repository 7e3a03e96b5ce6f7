"""The one Newton loop: every implicit scheme, statics included, every model size, every linear solver.

A scheme is a row of numbers (``solve/schemes.py``). With u the unknown at t_{n+1} and values without index at t_n:

    v1 = VU (u1 - u)/dt + VV v + VA dt a,    a1 = AU (u1 - u)/dt^2 + AV v/dt + AA a
    WM M a1 + (1 - WM) M a + WF f1 + (1 - WF) f + C (WC v1 + (1 - WC) v) = WC f_ext1 + (1 - WC) f_ext

``secant``: f1 is the force of the increment (discrete gradient between u and u1), as are its rates and temperatures.
The caller computes the weighted means of f_ext in time.

``march`` computes a chunk of increments by Newton iterations. If the linear solver is not compiled code it *returns*
NEED_SOLVE with residual and tangent filled in; the caller writes ``du`` and calls again with the same ``control``.
A failed increment leaves ``Motion`` at its last converged state, from which it can be repeated.

Convergence, counts and the norm are those of Code_Aster's DYNA_NON_LINE: the test comes after each solve,
``iterations`` counts solves (the prediction included, ITER_GLOB), |R|_inf over free dofs is compared with
RESI_GLOB_RELA * D (``scale_of``).

Snaps: slack bars that become taut while their ends separate.

A bar of stiffness k between masses m_i and m_j whose ends separate at the speed w when it becomes taut has the peak

    Z w,    Z = sqrt(k mu),    1/mu = 1/m_i + 1/m_j    (supports are infinite masses)

from its kinetic energy mu w^2/2 of stretching against k. In a chain of such bars this is, except for a factor sqrt(2),
Joukowsky's A sqrt(E rho) w, the tension of the front that travels along the line; it doubles at a support. w is the
mean speed in the increment, so that bars that oscillate about zero tension much faster than the increment do not
count. A snap counts if Z w, or the tension found by the increment, is a given fraction of the largest internal force
so far.

Sources: Joukowsky 1898 (water hammer; the same equations); snap loads of moorings: Hsu, Thiagarajan & Manuel, Ocean
Engineering 146 (2017) 8-25.
"""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, shared_kernel
from fem.forces.bar import AREA, INV_LENGTH, MINUS, PLUS, YOUNG, Bars, bar_point
from fem.forces.families import write_masses
from fem.forces.laws import RIGID, TABLE
from fem.linear.border import solve_with_border
from fem.linear.chain import Diagonal, solve_chain, solve_unsymmetric_chain
from fem.linear.choice import BAND, BICGSTAB, BORDER, CG, CHAIN, CHAINS, UNSYMMETRIC_CHAIN
from fem.linear.factors import ROUND_OFF
from fem.linear.products import solve_bicgstab, solve_cg
from fem.solve.newton import groups
from fem.solve.newton.arc import (
    FACTOR,
    RADIUS,
    Arc,
    close_arc,
    combine_arc,
    hold_end,
    load_direction,
    open_arc,
    predict,
    set_factor,
    strays,
)
from fem.solve.newton.balance import close_increment, has_drifted, note_increment, note_ranges
from fem.solve.newton.estimate import filter_system, judge, longest, take_filtered
from fem.solve.newton.evaluate import evaluate, in_increment
from fem.solve.newton.gaps import changes
from fem.solve.newton.groups import (
    CONTROL,
    LIMIT,
    MEMORY,
    ROW,
    TAKES_PART,
    Loading,
    Motion,
    Nodes,
    Passage,
    Problem,
    Scratch,
)
from fem.solve.newton.iterate import (
    begin,
    correct,
    forcing_of,
    is_converged,
    is_left_alone,
    next_forcing,
    residual,
    scale_of,
    takes_back,
    worst,
)
from fem.solve.newton.project import closing_phase, end_accelerations, move_accelerations, move_velocities
from fem.solve.newton.refine import TOWARDS, solve_checked
from fem.solve.newton.tangent import diagonal_of, fill_blocks, fill_matrix, lift, linear_system

HUGE = 1e300
"""Forces and energies beyond this are overflow."""


@inner_kernel
def eliminate(is_filled: bool, enough: float, diagonal: Diagonal, problem: Problem, work: Scratch) -> bool:
    """One linear solve along chains, in a band or with a border; False: no safe pivot, or another solver is wanted.
    is_filled, diagonal  as in ``solve_chain``; bands need filled blocks
    enough               error up to which checked solutions are not refined"""
    nodes, bars, tree, solver = problem.nodes, problem.bars, problem.tree, problem.solver
    if solver == BORDER or (bars.rods.shape[0] > 0 and solver in (*CHAINS, BAND)):
        return solve_checked(is_filled, enough, diagonal, problem, work)
    if solver == CHAIN:
        return solve_chain(True, False, is_filled, tree, diagonal, linear_system(nodes, work))
    if solver == UNSYMMETRIC_CHAIN:
        return solve_unsymmetric_chain(is_filled, tree, diagonal, linear_system(nodes, work))
    if solver == BAND:
        return solve_with_border(problem.plan, bars, linear_system(nodes, work), work.blocks, work.band, work.unknowns)
    return False


@inner_kernel
def solve_compiled(
    is_filled: bool, enough: float, forcing: float, diagonal: Diagonal, problem: Problem, memory: Floats, work: Scratch
) -> bool:
    """One linear solve by a compiled solver; False if it must be done outside (nodal blocks are then undefined).
    forcing  relative accuracy of iterative solvers"""
    nodes, solver = problem.nodes, problem.solver
    if solver == CG:
        spent = solve_cg(forcing, linear_system(nodes, work), work.krylov)
        memory[MEMORY.spent] += max(spent, 0)
        return bool(spent >= 0)
    if solver == BICGSTAB:
        spent = solve_bicgstab(forcing, linear_system(nodes, work), work.krylov)
        return bool(spent >= 0)
    return eliminate(is_filled, enough, diagonal, problem, work)


@shared_kernel
def march(end: int, control: Ints, arc: Arc, through: Passage) -> int:
    """Advance through the increments of ``loading`` from ``control`` up to number ``end``; returns why it stopped.

    With k = ``control[CONTROL.increment]``:

    DONE           they are done
    NEED_SOLVE     write ``work.du`` for ``work.residual`` and call again
    NOT_CONVERGED  increment k spent its iterations; NOT_FINITE: it met NaN or overflow.
                   ``motion`` is the state at its start, ``control[CONTROL.worst]`` the dof of the largest residual
    EVENT          a rope becomes slack or taut in increment k; ``motion`` is the state at its start, the
                   trial state that at its end as if the rope had stayed as it was
    DRIFT          the energy error left its band in increment k - 1, which is complete; watched
                   from ``control[CONTROL.judged]`` on
    TOO_LONG       the local error of increment k is too large; ``motion`` is the state at its start
    RESIZE         increment k - 1 is complete, and the next ones should have another length
    """
    scheme, limits, problem, loading = through.scheme, through.limits, through.problem, through.loading
    motion, work, record = through.motion, through.work, through.record
    nodes, bars, ropes, equations = problem.nodes, problem.bars, problem.ropes, problem.equations
    memory = motion.memory
    on_arc = arc.numbers[RADIUS] > 0.0
    has_blocks = work.tangent.block.shape[0] > 0 or nodes.artificial_stiffness.shape[0] > 0
    is_bare = problem.solver in CHAINS and not has_blocks
    band, judged, travels = limits[LIMIT.drift_fraction], control[CONTROL.judged], limits[LIMIT.time_error] > 0.0
    takes_part = motion.origin[TAKES_PART]
    while control[CONTROL.increment] < end:
        k = control[CONTROL.increment]
        dt = loading.dt[k]
        thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        phase = control[CONTROL.phase]
        if phase == groups.OPEN:
            begin(scheme, k, dt, problem, loading, motion, work)
            if on_arc:
                open_arc(arc, k, loading, work.load, work.known_force)
            control[CONTROL.iteration] = 0
            phase = groups.TRIAL
        if phase == groups.TRIAL:
            phase = groups.CORRECT
            strain = evaluate(in_increment(scheme, k, problem, loading, motion, work), problem, work)
            norm = residual(scheme, problem, work)
            if control[CONTROL.iteration] == 0:
                if loading.support_dofs.shape[0] > 0:
                    lift(scheme, dt, problem, work)
                if on_arc:
                    phase = groups.LOAD_DIRECTION
            elif not (norm < HUGE and abs(strain) < HUGE):  # also true for NaN
                return groups.NOT_FINITE
            else:
                scale = 0.0
                if limits[LIMIT.relative] >= 0.0:
                    scale = scale_of(scheme, dt, travels, limits[LIMIT.ground], takes_part, problem, work)
                good, flags = is_converged(limits, norm, scale, control[CONTROL.iteration], bars, motion, work)
                if good and flags == 0:
                    iteration = control[CONTROL.iteration]
                    good = not is_left_alone(True, scheme, limits, norm, scale, iteration, problem, memory, work)
                if good and on_arc:
                    good = not strays(arc, motion.u, work.u)
                    if not good:
                        control[CONTROL.iteration] = int(limits[LIMIT.iterations])
                if good and on_arc and hold_end(arc, motion.u, work.u):
                    set_factor(arc, k, loading, work.load, work.known_force)
                    control[CONTROL.phase] = groups.TRIAL
                    continue
                if not good and limits[LIMIT.halves] > 0.0:
                    begins = control[CONTROL.iteration] < limits[LIMIT.halves]
                    if takes_back(scheme, dt, begins, memory, work):
                        control[CONTROL.phase] = groups.TRIAL
                        continue
                if good or control[CONTROL.iteration] >= limits[LIMIT.iterations]:
                    if limits[LIMIT.relative] < 0.0:
                        scale = scale_of(scheme, dt, travels, limits[LIMIT.ground], takes_part, problem, work)
                    if not good:
                        control[CONTROL.worst] = worst(work.residual)
                        record.increments[k, ROW.norm] = norm / scale if scale > 0.0 else norm
                        return groups.NOT_CONVERGED
                    memory[MEMORY.closing_strain], memory[MEMORY.closing_norm] = strain, norm
                    is_forceless = scheme.wm == 0.0 and scale <= limits[LIMIT.floor]  # no force to compare with
                    memory[MEMORY.closing_scale], memory[MEMORY.closing_flags] = 0.0 if is_forceless else scale, flags
                    if nodes.directed_mass.shape[0] > 0 and not scheme.secant:
                        time, families = loading.time[k + 1], problem.families
                        write_masses(families, time, nodes.place, work.u, work.state, nodes.directed_mass)
                    phase = closing_phase(scheme, problem)
                    if phase == groups.CLOSE and scheme.lags:
                        end_accelerations(k, nodes, loading, work)
                memory[MEMORY.forcing] = next_forcing(norm, memory[MEMORY.previous])
            memory[MEMORY.previous] = norm
        if phase != groups.CLOSE:
            if control[CONTROL.waiting] == 0:
                if phase == groups.LOAD_DIRECTION:
                    load_direction(arc, problem, loading, work)
                if phase == groups.FILTER:
                    filter_system(scheme, k, problem, loading, motion, work)
                fill_matrix(phase, is_bare, k, through)
                diagonal = diagonal_of(phase, is_bare, scheme, dt, nodes)
                enough = TOWARDS if phase == groups.CORRECT else ROUND_OFF
                if not solve_compiled(not is_bare, enough, forcing_of(phase, memory), diagonal, problem, memory, work):
                    fill_blocks(phase, scheme, dt, problem, work)
                    control[CONTROL.phase], control[CONTROL.waiting] = phase, 1
                    return groups.NEED_SOLVE
            control[CONTROL.waiting] = 0
            if phase == groups.CORRECT and on_arc:
                phase = groups.LOAD_DIRECTION
            elif phase in (groups.CORRECT, groups.LOAD_DIRECTION):
                if on_arc:
                    if control[CONTROL.iteration] == 0:
                        predict(arc, bars.rods, equations, work.du, work.tau)
                    else:
                        combine_arc(arc, bars.rods, equations, work.du, work.tau)
                    set_factor(arc, k, loading, work.load, work.known_force)
                shifted = control[CONTROL.iteration] == 0 and loading.support_dofs.shape[0] > 0
                if not correct(scheme, dt, shifted, problem, work):
                    return groups.NOT_FINITE
                control[CONTROL.iteration] += 1
                phase = groups.TRIAL
            elif phase == groups.FILTER:
                take_filtered(equations, work.du, work.momentum)
                phase = groups.CLOSE
            elif phase == groups.PROJECT_VELOCITY:
                move_velocities(equations, work.du, work.v)
                phase = groups.PROJECT_ACCELERATION
            else:
                move_accelerations(scheme, problem, motion, work)
                phase = groups.CLOSE
        if phase == groups.CLOSE:
            phase = groups.OPEN
            if ropes.bars.shape[0] > 0 and changes(
                ropes, bars, dt, motion.u, motion.v, work.u, work.v, work.multiplier
            ):
                control[CONTROL.phase] = groups.OPEN
                return groups.EVENT
            snapped = 0.0
            is_long = limits[LIMIT.snap] > 0.0 and dt > limits[LIMIT.front]
            if is_long and snaps(limits[LIMIT.snap], k, nodes, bars, loading, motion, work):
                snapped = float(groups.SNAPPED)
            flags, norm, scale = (
                memory[MEMORY.closing_flags],
                memory[MEMORY.closing_norm],
                memory[MEMORY.closing_scale],
            )
            if limits[LIMIT.time_error] > 0.0:
                verdict, remark = judge(scheme, limits, k, problem, loading, motion, work)
                if verdict == groups.TOO_LONG:
                    return groups.TOO_LONG
                if verdict == groups.FILTER:
                    control[CONTROL.phase] = groups.FILTER
                    continue
                flags += remark
            if flags != groups.LOADS_VANISHED:
                memory[MEMORY.last_residual] = norm
                if scale > 0.0 and not 0.0 < memory[MEMORY.smallest_scale] < scale:
                    memory[MEMORY.smallest_scale] = scale
            if on_arc:
                close_arc(arc, motion.u, work.u)
            record.increments[k, ROW.factor] = arc.numbers[FACTOR]
            error = close_increment(scheme, k, memory[MEMORY.closing_strain], problem, loading, motion, work)
            flags += snapped
            note_increment(k, control[CONTROL.iteration], norm, scale, flags, error, problem, thermal, motion, record)
            if record.watched.shape[0] > 0:
                note_ranges(problem, motion.u, memory, record)
            control[CONTROL.increment] += 1
            if scheme.wm != 0.0 and k >= judged and has_drifted(nodes, bars, motion, dt, error, band):
                return groups.DRIFT
            low, level, high = limits[LIMIT.low_level], memory[MEMORY.level], limits[LIMIT.high_level]
            if limits[LIMIT.time_error] > 0.0 and not low <= level <= high:
                return groups.RESIZE
        control[CONTROL.phase] = phase
    return groups.DONE


CLEARLY = 0.5
"""A slack bar cannot reach a tension if its modulus times its stretching is below this fraction of it: the modulus
at zero strain is used, and it may cool at the same time."""


@called_kernel
def snaps(fraction: float, k: int, nodes: Nodes, bars: Bars, loading: Loading, motion: Motion, work: Scratch) -> bool:
    """Whether a bar snaps taut in increment k, with at least this fraction of the largest internal force so far."""
    largest = max(motion.memory[MEMORY.pull], longest(motion.force))
    motion.memory[MEMORY.pull] = largest
    least, dt, last = fraction * largest, loading.dt[k], loading.thermal_end.shape[0] - 1
    before, now = loading.thermal_end[min(k, last)], loading.thermal_end[min(k + 1, last)]
    constants, place, u0, u1 = bars.constants, nodes.place, motion.u, work.u
    for e in range(bars.nodes.shape[0]):
        kind = bars.kinds[e, 1]
        if kind in (RIGID, TABLE) or constants[MINUS, e] >= constants[PLUS, e]:
            continue
        i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
        rise = 0.0
        for c in range(3):
            d = place[j + c] - place[i + c]
            d0, d1 = d + u0[j + c] - u0[i + c], d + u1[j + c] - u1[i + c]
            rise += d1 * d1 - d0 * d0
        if rise <= 0.0:
            continue
        rise *= 0.5 * constants[INV_LENGTH, e]
        stiffness = constants[YOUNG, e] * constants[AREA, e] * constants[INV_LENGTH, e]
        inverse = 0.0
        for node in (i, j):
            if nodes.mask[node] + nodes.mask[node + 1] + nodes.mask[node + 2] > 0.0 and nodes.mass[node] > 0.0:
                inverse += 1.0 / nodes.mass[node]
        is_fast = rise * rise * stiffness > least * least * dt * dt * inverse
        if not is_fast and stiffness * rise < CLEARLY * least:  # most bars: their force need not be computed
            continue
        if bar_point(e, u0, motion.v, bars, before, motion.multiplier)[1] > 0.0:
            continue
        tension = bar_point(e, u1, work.v, bars, now, motion.multiplier)[1] * constants[AREA, e]
        if tension > least or (is_fast and tension > 0.0):
            return True
    return False
