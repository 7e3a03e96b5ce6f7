"""The march of ``solve/newton`` with dual numbers: a motion and its derivatives by parameters, increment by increment.

The displacements at the ends of the increments are known, from the run, and stay. There the equilibrium R(u1, start, p)
= 0 is differentiated: K du1/dp = -(dR/d start d start/dp + dR/dp), with K in plain numbers; where K leaves something
out, the solve is repeated with what is left. Forces, states of laws and friction, velocities, energies and
the values of elements follow, each by its own formula.
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.assembly.equations import condense, expand
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.compiled.lanes import common, steepest, where
from fem.forces.bar import evaluate_bars
from fem.forces.families import evaluate_rest, evaluate_whole, write_masses
from fem.forces.protocol import Trial
from fem.linear.chain import Diagonal
from fem.linear.factors import ROUND_OFF
from fem.linear.products import add_blocks, add_pairs
from fem.solve.newton.balance import balance_forces, close_increment, note_increment, take_over
from fem.solve.newton.evaluate import clear, in_increment, is_lumped, multiply_masses
from fem.solve.newton.groups import CORRECT, ENERGY, MEMORY, Ledger, Loading, Motion, Passage, Problem, Scratch
from fem.solve.newton.iterate import begin, correct, residual
from fem.solve.newton.project import acceleration_system, end_accelerations, mass_blocks, move_accelerations
from fem.solve.newton.tangent import diagonal_of, nodal_blocks
from fem.solve.schemes import Coefficients
from fem.study.lanes.march import couple, eliminate, has_plan, project_lanes

MOST = 20
"""Largest number of solves of an increment."""
TINY = 1e-300
SAME = 1e-12
"""A correction of derivatives below this fraction of the largest one is not made."""
STALLS = 1e-6
"""Below this one that does not halve is round-off."""
NONE = 1e-6
"""Derivatives times the parameter below this fraction of displacements are compared with these: a motion that does not
depend on the parameter has round-off only."""
GO_ON, LEAVE, TAKE = 0, 1, 2
"""After a correction: another one; it is none; it is the last."""
STOPPED, WHERE, LAST, WORST, SOLVES = 0, 1, 2, 3, 4
"""Entries of the outcome: 1 where a matrix was singular; the increment that stopped, or has the worst derivatives; the
last correction of these, over the largest derivative, of the last increment and of the worst; linear solves."""
OUTCOME = 5


@inner_kernel
def lead(scheme: Coefficients, dt: float, known: Floats, k: int, problem: Problem, work: Scratch) -> None:
    """Moves the first guess to the known displacements of the end; supports, with their derivatives, as prescribed."""
    nodes, equations = problem.nodes, problem.equations
    to_v, to_a = scheme.vu / dt, scheme.au / (dt * dt)
    for dof in range(work.u.shape[0]):
        if nodes.dof_kind[dof] == 1:
            move = known[k, dof] - common(work.u[dof])
            work.u[dof] += move
            work.v[dof] += to_v * move
            work.a[dof] += to_a * move
        elif nodes.dof_kind[dof] == 0:
            work.u[dof] += work.shift[dof]
            work.v[dof] += to_v * work.shift[dof]
    expand(equations, work.u)
    expand(equations, work.v)
    expand(equations, work.a)


@inner_kernel
def judged(work: Scratch, problem: Problem, outcome: Floats) -> int:
    """What becomes of a correction. The next one is about as much smaller than this as this is than the one before."""
    change, most, before = 0.0, 0.0, outcome[LAST]
    for dof in range(work.du.shape[0]):
        change = max(change, steepest(work.du[dof]))
        most = max(most, max(steepest(work.u[dof]), steepest(problem.nodes.place[dof])))
        most = max(most, NONE * abs(common(work.u[dof])))
    most = max(most, change)
    outcome[LAST] = change / most if most > 0.0 else 0.0
    if outcome[LAST] <= SAME or (outcome[LAST] < STALLS and outcome[LAST] >= 0.5 * before):
        return LEAVE
    if not outcome[LAST] * outcome[LAST] <= SAME * before:
        return GO_ON
    outcome[LAST] *= outcome[LAST] / before
    return TAKE


@inner_kernel
def is_left(scheme: Coefficients, dt: float, problem: Problem, work: Scratch) -> bool:
    """Whether forces are out of balance by more than would move derivatives by ``SAME``, were the inertia of nodes all
    that resists. In statics nothing is known of that."""
    by_mass, change, most = scheme.wm * scheme.au / (dt * dt), 0.0, 0.0
    for dof in range(work.residual.shape[0]):
        resistance = by_mass * common(problem.nodes.mass[dof])
        change = max(change, steepest(work.residual[dof]) / where(resistance > 0.0, resistance, TINY))
        most = max(most, max(steepest(work.u[dof]), NONE * abs(common(work.u[dof]))))
    return not change <= SAME * most


class KnownForces(NamedTuple):
    """Of the families whose tangents are whole: their forces (3n,), their tangents within and between nodes."""

    force: Floats
    block: Floats
    cross: Floats


@called_kernel
def evaluate_known(trial: Trial, problem: Problem, work: Scratch, known: KnownForces) -> None:
    """Forces and tangents of the families whose tangents are whole, into ``work``; keeps them."""
    tangent = work.tangent
    clear(work)
    evaluate_whole(trial, problem.families, work.force, work.flow, tangent)
    for dof in range(known.force.shape[0]):
        known.force[dof] = work.force[dof]
    for i in range(tangent.block.shape[0]):
        for c in range(9):
            known.block[i, c] = tangent.block[i, c]
    for p in range(tangent.cross.shape[0]):
        for c in range(18):
            known.cross[p, c] = tangent.cross[p, c]


@called_kernel
def move_known(weight: float, work: Scratch, known: KnownForces) -> None:
    """The same forces after a correction of the displacements, to first order."""
    clear(work)
    add_blocks(1.0 / weight, known.block, work.du, known.force)
    add_pairs(1.0 / weight, work.tangent.pairs, known.cross, work.du, known.force)
    for dof in range(known.force.shape[0]):
        work.force[dof] = known.force[dof]


@called_kernel
def evaluate_unknown(trial: Trial, problem: Problem, work: Scratch) -> float:
    """Adds the forces of all others; returns the stored energy."""
    force, flow, tangent = work.force, work.flow, work.tangent
    energy: float = evaluate_bars(trial, problem.bars, True, force, flow, tangent.bar_tangent)
    energy += evaluate_rest(trial, problem.springs, problem.families, force, flow, tangent)
    return energy


@inner_kernel
def weigh(has_rods: bool, is_moved: bool, k: int, through: Passage, work: Scratch, known: KnownForces) -> float:
    """Forces that are out of balance, their derivatives alone but of rods; returns the stored energy.
    is_moved: those of families whose tangents are whole follow from the last evaluation"""
    scheme, problem = through.scheme, through.problem
    trial = in_increment(scheme, k, problem, through.loading, through.motion, work)
    if problem.families is not None and is_moved:
        move_known(scheme.wf, work, known)
    elif problem.families is not None:
        evaluate_known(trial, problem, work, known)
    else:
        clear(work)
    energy: float = evaluate_unknown(trial, problem, work)
    residual(scheme, problem, work)
    for dof in range(0 if has_rods else work.residual.shape[0]):
        work.residual[dof] -= common(work.residual[dof])
    return energy


@inner_kernel
def solve_increment(
    is_symmetric: bool, is_bare: bool, has_rods: bool, moves: bool, k: int, through: Passage, forces: Scratch,
    known: KnownForces, outcome: Floats,
) -> float:  # fmt: skip
    """The derivatives of the equilibrium of increment k; returns the stored energy.
    The numbers themselves stay as the run has found them, and with them the branch (touching, sliding, taut) of each
    element. Those of rods, whose pulls are not known from the run, move on.
    moves   the last evaluation is that of few families alone
    forces  the arrays of ``through.work``, but none for matrices of nodes, which the last evaluation does without"""
    scheme, problem, dt = through.scheme, through.problem, through.loading.dt[k]
    work, nodes, families, energy = through.work, through.problem.nodes, through.problem.families, 0.0
    for number in range(MOST):
        energy = weigh(has_rods, False, k, through, work, known)
        if number > 0 and not has_rods and not is_left(scheme, dt, problem, work):
            outcome[LAST] = SAME
            return energy
        couple(families, scheme, dt, through)
        if not is_bare:
            nodal_blocks(scheme, dt, problem, work)
        diagonal = diagonal_of(CORRECT, is_bare, scheme, dt, nodes)
        if not eliminate(families, is_symmetric, not is_bare, ROUND_OFF, False, diagonal, through):
            outcome[STOPPED], outcome[WHERE] = 1.0, k
            return energy
        outcome[SOLVES] += 1.0
        before = outcome[LAST]
        verdict = judged(work, problem, outcome)
        if verdict == LEAVE and not has_rods:  # forces are those of this place
            return energy
        correct(scheme, dt, False, problem, work)
        goes_on = verdict == GO_ON and number < MOST - 1
        if verdict == GO_ON and not goes_on:  # all that is left, if corrections fall on as the last ones did
            outcome[LAST] *= outcome[LAST] / max(before - outcome[LAST], TINY)
        if goes_on and (has_rods or number > 0 or scheme.wm == 0.0):
            continue
        energy = weigh(has_rods, moves, k, through, forces, known)
        if not goes_on:
            return energy
        if not is_left(scheme, dt, problem, work):
            outcome[LAST] = SAME
            return energy
    return energy


@inner_kernel
def end_coupled_accelerations(scheme: Coefficients, k: int, ends: Floats, through: Passage, outcome: Floats) -> None:
    """Accelerations at the end of increment k where masses couple them. Their numbers are known from the run: with
    these, equations for derivatives do not need those of masses in their matrix.
    ends  (k, 3n) accelerations at the ends of the increments"""
    problem, loading, motion, work = through.problem, through.loading, through.motion, through.work
    nodes, move, product = problem.nodes, through.work.rise, through.work.inertia
    acceleration_system(scheme, k, problem, loading, motion, work)
    for dof in range(work.a.shape[0]):
        move[dof] = ends[k, dof] - common(work.a[dof]) if nodes.dof_kind[dof] != 0 else 0.0
        work.a[dof] += move[dof]
    multiply_masses(problem, move, product)
    condense(problem.equations, product)
    for dof in range(work.a.shape[0]):
        work.residual[dof] -= nodes.mask[dof] * product[dof]
    mass_blocks(nodes, work)
    none = Diagonal(nodes.mass, nodes.damping, 0.0, 0.0)
    if not eliminate(problem.families, False, True, ROUND_OFF, False, none, through):
        outcome[STOPPED], outcome[WHERE] = 1.0, k
    move_accelerations(scheme, problem, motion, work)


@kernel
def march_duals(
    is_symmetric: bool, extrapolation: int, choices: Ints, row: Floats, known: Floats, ends: Floats, limits: Floats,
    problem: Problem, loading: Loading, motion: Motion, work: Scratch, solving: Scratch, forces: Scratch,
    kept: KnownForces, record: Ledger, outcome: Floats,
) -> None:  # fmt: skip
    """Advance ``motion`` through all increments of ``loading``; ``record`` gets their rows.

    choices  secant, projects, lags, takes; 1 where the state before is the first row of ``record``, else 0; 1 where
             energies are asked for, else 0
    row      the numbers of the scheme
    known, ends  (k, 3n) displacements and accelerations at the ends of the increments
    solving  ``work``, perhaps with other arrays for the matrices of equilibrium;  forces: with none of nodes
    kept     room
    outcome  (OUTCOME,)  out
    """
    scheme = Coefficients(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], choices[0] != 0,
        row[11], row[12], choices[1] != 0, choices[2] != 0, choices[3] != 0, extrapolation,
    )  # fmt: skip
    through = Passage(scheme, limits, problem, loading, motion, work, record)
    balancing = Passage(scheme, limits, problem, loading, motion, solving, record)
    nodes, has_rods, error = problem.nodes, problem.bars.rods.shape[0] > 0, 0.0
    is_bare = work.tangent.block.shape[0] == 0 and not has_plan(problem) and nodes.artificial_stiffness.shape[0] == 0
    moves = not has_rods and choices[5] == 0
    if choices[4] == 1:
        error0, thermal0 = motion.energies[ENERGY.error0], loading.thermal_end[0]
        note_increment(0, 0.0, 0.0, 0.0, 0.0, error0, problem, thermal0, motion, record)
    for k in range(loading.dt.shape[0]):
        dt = loading.dt[k]
        thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
        begin(scheme, k, dt, problem, loading, motion, solving)
        if loading.support_dofs.shape[0] == 0:
            for dof in range(work.shift.shape[0]):
                work.shift[dof] = 0.0
        outcome[LAST] = 1.0
        lead(scheme, dt, known, k, problem, work)
        strain = solve_increment(is_symmetric, is_bare, has_rods, moves, k, balancing, forces, kept, outcome)
        if outcome[STOPPED] != 0.0:
            return
        if not outcome[LAST] <= outcome[WORST]:
            outcome[WORST], outcome[WHERE] = outcome[LAST], k
        if problem.families is not None and nodes.directed_mass.shape[0] > 0 and not scheme.secant:
            write_masses(problem.families, loading.time[k + 1], nodes.place, work.u, work.state, nodes.directed_mass)
        if scheme.projects and has_rods:
            project_lanes(k, is_bare, not scheme.secant, through, outcome)
        elif not scheme.projects and scheme.lags and is_lumped(problem) and problem.equations.slave.shape[0] == 0:
            end_accelerations(k, nodes, loading, work)
        elif scheme.projects or scheme.lags:  # all ropes may be slack
            end_coupled_accelerations(scheme, k, ends, balancing, outcome)
        if choices[5] == 1:
            error = close_increment(scheme, k, strain, problem, loading, motion, work)
        else:
            balance_forces(scheme, scheme.secant, k, problem, loading, work.a, work)
            motion.memory[MEMORY.onset] = scheme.onset * dt
            take_over(scheme.lags, problem, motion, work)
        note_increment(k + choices[4], 0.0, 0.0, 0.0, 0.0, error, problem, thermal, motion, record)
