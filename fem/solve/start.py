"""The state at the start of a run and of each step: initial conditions, initial accelerations, opening energies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fem.arrays import Floats, Ints, Matrix, Sparse
from fem.assembly.equations import coupled_matrix, expand, reduction
from fem.assembly.sudden import pull
from fem.assembly.system import System
from fem.compiled import bound
from fem.errors import ModelError, listed
from fem.forces.families import trouble_of
from fem.forces.protocol import BOOKS, WEIGHT
from fem.linear.factors import refine, solve_dense, symmetric_factor
from fem.model import Dynamic
from fem.model.quantities import in_newtons
from fem.solve.newton import groups
from fem.solve.newton.balance import balance_forces
from fem.solve.newton.evaluate import (
    combine,
    evaluate_forces,
    evaluate_state,
    inertia_forces,
    multiply_dampings,
    multiply_masses,
    stored_energy,
)
from fem.solve.newton.groups import ENERGY, EXTENTS, LIMIT, MEMORY, ORIGIN, PART, TAKES_PART, Loading, Motion, Scratch
from fem.solve.rods import consistent_accelerations, gaps, solve_saddle
from fem.solve.step_system import StepSystem, loading_at

DENSE = 300
"""Up to this many dofs the initial accelerations are found with dense matrices."""
FIRST_FORCING = 1e-4
"""Fraction of the residual that the first iterative linear solve of a step may leave."""
NO_LENGTH = 1e-12
"""Rounding error as a fraction of coordinates: sines and cosines of a deck are written with 16 digits at best."""
MOST_PROJECTIONS = 200
"""Largest number of solves for the places of rods after a jump; each reduces the error to a fraction jump/length."""
NEARLY = 1e3
"""Factor of ``no_length`` at which the iteration may stop because of rounding errors."""
NO_MASS = 1e-12
"""Smallest eigenvalue or pivot of a mass matrix scaled to a unit diagonal; below it a direction has no mass."""


def first_motion(system: System) -> Motion:
    """Motion at the start: initial conditions of the model."""
    u, v, a, force, reaction, lagged, spent = (groups.room(system.size) for _ in range(7))
    origin = groups.room((8, system.size))
    u[:], v[:] = system.initial_motion
    energies, memory = groups.room(len(ENERGY)), groups.room(len(MEMORY))
    multiplier, flow = groups.room(len(system.bars.nodes)), groups.room(system.size if system.has_flow else 0)
    state, power = groups.room(len(system.state)), groups.room(BOOKS * (system.families is not None))
    state[:] = system.state
    return Motion(u, v, a, force, flow, reaction, multiplier, energies, memory, origin, lagged, state, power, spent)


def start_supports(stage: StepSystem, motion: Motion, time: float, is_first: bool, has_ropes: bool) -> str:
    """Set supports to their motion in this step; returns a notice if their displacement jumps.

    They jump before the first increment; the energy stored by this is external work. Rods move their nodes
    (``keep_lengths``). With ropes, or if no such place is found, supports move in the first increment instead.
    """
    supports, dofs = stage.environment.supports, np.flatnonzero(stage.nodes.dof_kind == 0)
    u, v, a = supports.motion(dofs, np.array([time]), after=True)
    motion.v[dofs], motion.a[dofs] = v[0], a[0]
    is_off = np.abs(u[0] - motion.u[dofs]) > no_length(stage.system)
    is_late, has_rods, way = has_ropes, len(stage.bars.rods) > 0, np.zeros_like(motion.u)
    way[dofs[is_off]] = u[0][is_off] - motion.u[dofs[is_off]]
    pulled = pull(stage.system, way, motion.u) if is_off.any() else ("", 0.0)
    if is_off.any() and not is_late:
        instant, before = loading_at(stage, motion, time), motion.u.copy()
        evaluate_start(stage, motion, instant)
        open_energies(stage, motion, instant, is_first, goes_on=True)  # the accelerations stay as they are
        motion.u[dofs[is_off]] = u[0][is_off]
        expand(stage.equations, motion.u)
        if has_rods and not keep_lengths(stage, motion, time):
            motion.u[:], is_late = before, True
    if not is_off.any():
        return ""
    names = listed([stage.system.name_dof(dof) for dof in dofs[is_off].tolist()], 3)
    how = "it jumps, and rods move their nodes to the nearest places" if has_rods else "it jumps"
    if force := pulled[1]:
        how += f", which changes T of element {pulled[0]} by {in_newtons(force, stage.system.model)} (EA dL/L0) at once"
    if is_late:
        how = (
            "they move there during the first increment, as rods or ropes cannot follow instantly; this is exact only "
            "to first order: give it an AMPLITUDE"
        )
    return f"the prescribed displacement of {names} differs from the state at the start of the step: {how}"


def told_of_speeds(stage: StepSystem, motion: Motion, time: float) -> str:
    """Notice of initial velocities of supported dofs that are not those of their supports, before these are set."""
    dofs = np.flatnonzero((stage.nodes.dof_kind == 0) & (motion.v != 0.0))
    moved = stage.environment.supports.velocity_after(dofs, np.array([time]))[0] if len(dofs) else dofs
    given = motion.v[dofs]
    is_off = np.abs(given - moved) > NO_LENGTH * np.maximum(np.abs(given), np.abs(moved))
    if not is_off.any():
        return ""
    names = listed([stage.system.name_dof(dof) for dof in dofs[is_off].tolist()], 3)
    first = int(np.flatnonzero(is_off)[0])
    return (
        f"the initial velocity of {names} is left out: its support moves with {moved[first]:.6g}, and "
        f"{given[first]:.6g} is given"
    )


def keep_lengths(stage: StepSystem, motion: Motion, time: float) -> bool:
    """Move nodes so that rods have their lengths, after supports have jumped; False if no such place is found.
    The nearest place, measured by the mass: M (u - u0) + G(u)^T mu = 0, u0 before. The first increment of
    Newmark's scheme ends there, too, as dt goes to zero. Successive solves have G at the last place."""
    mass, before, largest = small_or_sparse_mass(stage), motion.u.copy(), np.inf
    for _ in range(MOST_PROJECTIONS):
        evaluate_rods(stage, motion, time)
        found = solve_saddle(stage, mass, mass @ (before - motion.u), -gaps(stage)[0], stage.nodes.dof_kind)
        if found is None or not np.isfinite(found[0]).all():
            return False
        motion.u[:] += found[0]
        change, largest = largest, float(np.abs(found[0]).max(initial=0.0))
        if largest <= no_length(stage.system) or (largest < NEARLY * no_length(stage.system) and largest >= change):
            return True
    return False


def no_length(system: System) -> float:
    """Lengths below this are round-off: 1e-12 of the coordinates, or of 1."""
    return NO_LENGTH * max(1.0, float(np.abs(system.coordinates).max(initial=0.0)))


def start_dependents(stage: StepSystem, field: Floats, what: str, period: float = 1.0, may_jump: bool = False) -> bool:
    """Set dependent dofs of equations from their masters; initial values that are not given (0) are replaced silently.
    ModelError where an initial condition says something else: by more than 1e-9 of the terms of its equation, by more
    than 1e-12 of the largest value anywhere, and by more than ``no_length`` in the period. Fields that ``may_jump`` are
    then left as they are: True."""
    equations = stage.equations
    if len(equations.slave) == 0:
        return False
    given = field[equations.slave].copy()
    largest = float(np.abs(field).max(initial=0.0))
    owner = np.repeat(np.arange(len(equations.slave)), np.diff(equations.start))
    terms = np.abs(given)
    np.maximum.at(terms, owner, np.abs(equations.factor * field[equations.master]))
    expand(equations, field)
    least = max(NO_LENGTH * largest, no_length(stage.system) / period)
    wrong = np.abs(given - field[equations.slave]) > np.maximum(1e-9 * terms, least)
    wrong &= given != 0.0
    if may_jump and np.any(wrong):
        field[equations.slave] = given
        return True
    if np.any(wrong):
        dof = int(stage.equations.slave[np.flatnonzero(wrong)[0]])
        raise ModelError(
            f"the initial {what} of {stage.system.name_dof(dof)} contradicts an *EQUATION: "
            f"{given[np.flatnonzero(wrong)[0]]:.9g} is given, its other dofs require {field[dof]:.9g}"
        )
    return False


def initial_acceleration(stage: StepSystem, motion: Motion, held: Ints, procedure: Dynamic) -> str:
    """Write a_0 from M a_0 = f_ext - f_int - C v_0 into ``motion.a``; returns a notice, or nothing.

    ``held``: dofs without mass, stiffness and load, left out. ModelError where the mass of the free dofs is
    singular and the deck does not say SINGULAR MASS=WARNING. With a singular mass, later accelerations of a scheme may
    be the lagged ones of its recursion.
    """
    work, nodes, bars = stage.work, stage.nodes, stage.bars
    free = nodes.dof_kind.copy()
    free[held] = 0
    unknown = np.flatnonzero(free == 1)
    known = np.where(free == 0, motion.a, 0.0)
    expand(stage.equations, known)
    changed = motion.a, motion.force, motion.multiplier
    kept = [] if procedure.initial_acceleration else [array.copy() for array in changed]
    if len(unknown) == 0 or not (procedure.initial_acceleration or stage.coefficients.lags):
        expand(stage.equations, motion.a)
        return ""
    multiply_masses(stage.problem, known, work.inertia)
    right = work.load - motion.force
    right -= work.inertia
    right -= work.damping_force
    motion.a[:] = known
    if len(bars.rods):
        found = consistent_accelerations(stage, motion, small_or_sparse_mass(stage), right, known, free)
        singular = unknown[:0] if found else unknown[np.argsort(stage.system.inertia[unknown], kind="stable")[:1]]
    elif len(bars.off_mass) or len(nodes.directed_mass) or len(stage.equations.slave):
        singular = _solve_mass(stage, right, free, motion.a)
    else:
        singular = unknown[nodes.mass[unknown] <= 0.0]
        if len(singular) == 0:
            np.divide(right, nodes.mass, out=motion.a, where=free == 1)
    if len(singular):
        stage.coefficients = stage.coefficients._replace(lags=False)
    if not procedure.initial_acceleration:
        for array, before in zip(changed, kept, strict=True):
            array[:] = before
        expand(stage.equations, motion.a)
    if len(singular) == 0 or not procedure.initial_acceleration:
        return ""
    where = stage.system.name_dof(int(singular[0]))
    if procedure.singular_mass == "WARNING":
        motion.a[:] = known
        return f"the mass matrix is singular (first at {where}): initial accelerations are set to zero, as requested"
    raise ModelError(
        f"the mass matrix of the free dofs is singular, first at {where}: initial accelerations cannot be found. Give "
        "that node mass (*DENSITY, *MASS), use MASS=LUMPED or CONSISTENT in *SOLID SECTION, or start from zero "
        "accelerations with *DYNAMIC, SINGULAR MASS=WARNING"
    )


def small_or_sparse_mass(stage: StepSystem) -> Matrix:
    """Mass matrix over all dofs: dense for small models, so that SciPy need not be imported."""
    if len(stage.nodes.dof_kind) > DENSE or len(stage.equations.slave):
        return mass_matrix(stage)
    return dense_mass(stage)


def dense_mass(stage: StepSystem) -> Floats:
    """(3n, 3n) mass matrix over all dofs."""
    matrix, bars = np.diag(stage.nodes.mass), stage.bars
    for ends in (bars.nodes, bars.nodes[:, ::-1]) if len(bars.off_mass) else ():
        rows, columns = (3 * ends.T[:, :, None] + np.arange(3)).reshape(2, -1)
        np.add.at(matrix, (rows, columns), np.repeat(bars.off_mass, 3))
    for (i, j), block in zip(*stage.directed_blocks(), strict=True):
        matrix[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += block
    return matrix


def mass_matrix(stage: StepSystem) -> Sparse:
    """Sparse mass matrix over all dofs (3n, 3n)."""
    from scipy.sparse import coo_array

    axes = np.arange(3)
    matrix = coupled_matrix(np.repeat(stage.system.mass, 3), stage.bars.off_mass, stage.bars.nodes)
    nodes, blocks = stage.directed_blocks()
    if len(blocks):
        i, j = (3 * nodes[:, :, None] + axes).transpose(1, 0, 2)
        places = i.repeat(3), np.tile(j, 3).ravel()
        matrix = matrix + coo_array((blocks.ravel(), places), shape=matrix.shape).tocsr()
    return matrix


def _solve_mass(stage: StepSystem, right: Floats, free: Ints, a: Floats) -> Ints:
    """Solve for the accelerations with a coupled mass matrix; dofs where it is singular.
    Small models take numpy alone: importing SciPy takes longer than the whole solve."""
    unknown, equations, is_small = np.flatnonzero(free == 1), stage.equations, len(free) <= DENSE
    if not (len(equations.slave) or len(stage.bars.off_mass) or len(stage.nodes.mass_pairs)):
        return _solve_nodes(stage, right, free, a)
    if is_small:
        transform: Matrix = np.diag((free == 1).astype(float))
        owner = np.repeat(equations.slave, np.diff(equations.start))
        transform[owner, equations.master] = np.where(free[equations.master] == 1, equations.factor, 0.0)
        transform = transform[:, unknown]
    else:
        transform = reduction(free, equations)
    if is_small and not len(equations.slave):  # as the product, which threads of BLAS would wait for
        matrix = dense_mass(stage)[np.ix_(unknown, unknown)]
    else:
        matrix = transform.T @ (dense_mass(stage) if is_small else mass_matrix(stage)) @ transform
    diagonal = matrix.diagonal()
    if np.any(diagonal <= 0.0):
        return np.asarray(unknown[diagonal <= 0.0])
    scale = 1.0 / np.sqrt(diagonal)
    wrong, found = (_solve_dense if is_small else _solve_sparse)(matrix, scale, scale * (transform.T @ right))
    if found is None:
        return np.asarray(unknown[[wrong]])
    a += transform @ (scale * found)
    return np.zeros(0, np.int64)


def _solve_nodes(stage: StepSystem, right: Floats, free: Ints, a: Floats) -> Ints:
    """As ``_solve_mass``, for masses that do not couple nodes."""
    is_open, shape = (free == 1).reshape(-1, 3), (-1, 3, 3)
    block = stage.nodes.directed_mass.reshape(shape) + stage.nodes.mass.reshape(-1, 3)[:, :, None] * np.eye(3)
    diagonal = np.where(is_open, block.diagonal(axis1=1, axis2=2), 1.0)
    if np.any(diagonal <= 0.0):
        return np.flatnonzero(diagonal <= 0.0)
    scale = is_open / np.sqrt(diagonal)
    scaled = scale[:, :, None] * block * scale[:, None, :] + (~is_open)[:, :, None] * np.eye(3)
    values, vectors = np.linalg.eigh(scaled)
    if values.min() < NO_MASS:
        node = int(values[:, 0].argmin())
        return np.array([3 * node + int(np.abs(vectors[node, :, 0]).argmax())])
    a += (scale[:, :, None] * np.linalg.solve(scaled, (scale * right.reshape(-1, 3))[:, :, None])).ravel()
    return np.zeros(0, np.int64)


def _solve_sparse(matrix: Sparse, scale: Floats, right: Floats) -> tuple[int, Floats | None]:
    """x of S M S x = right; None where M is singular, and at which row."""
    from scipy.sparse import diags_array

    scaled = (diags_array(scale) @ matrix @ diags_array(scale)).tocsc()
    factor = symmetric_factor(scaled)
    if factor is None:
        return 0, None
    pivots = np.abs(factor.U.diagonal())
    if pivots.min() < NO_MASS:
        return int(factor.perm_c.argsort()[int(pivots.argmin())]), None
    return 0, refine(factor.solve, scaled, right)


def _solve_dense(matrix: Floats, scale: Floats, right: Floats) -> tuple[int, Floats | None]:
    """As ``_solve_sparse``, for a dense matrix."""
    scaled = scale[:, None] * matrix * scale
    if 2.0 - np.abs(scaled).sum(axis=0).max() >= NO_MASS:  # no eigenvalue is smaller: Gershgorin's circles
        return 0, solve_dense(scaled, right)
    values, vectors = np.linalg.eigh(scaled)
    if values[0] < NO_MASS:
        return int(np.abs(vectors[:, 0]).argmax()), None
    return 0, solve_dense(scaled, right)


def evaluate_start(stage: StepSystem, motion: Motion, acting: Loading) -> None:
    """Internal force of ``motion`` into it, and f_ext, C v of the start into ``work.load`` and ``work.damping_force``.
    ``acting`` is one increment that starts now: its factors[0] are the loads that act at the start."""
    work = stage.work
    if not stage.is_crowd:
        evaluate_state(stage.coefficients, acting, stage.problem, motion, work)
        return
    _try(motion, work)
    now, thermal = float(acting.time[0]), acting.thermal_end[0]
    work.force[:] = 0.0
    evaluate_forces(now, now, thermal, stage.problem, motion, work)
    motion.force[:], motion.flow[:], motion.power[:] = work.force, work.flow, work.power
    motion.state[:] = work.state
    combine(acting.vectors, acting.factors, 0, work.load)
    inertia_forces(stage.problem, motion.v, motion.a, work.inertia, work.damping_force)


def evaluate_rods(stage: StepSystem, motion: Motion, now: float) -> None:
    """Gradients and gaps of the rods at a state, which stays as it is."""
    kept = [each.copy() for each in (motion.force, motion.flow, motion.power, motion.state)]
    evaluate_start(stage, motion, loading_at(stage, motion, now))
    motion.force[:], motion.flow[:], motion.power[:], motion.state[:] = kept


def write_energies(stage: StepSystem, motion: Motion, acting: Loading) -> None:
    """Stored energy of a state, and potential of its loads, at the start of ``acting``; it becomes the trial state."""
    work, energies, weights = stage.work, motion.energies, acting.factors[0] * acting.is_gravity
    _try(motion, work)
    now, thermal = float(acting.time[0]), acting.thermal_end[0]
    energies[ENERGY.strain] = stored_energy(now, now, thermal, stage.problem, motion, work)
    energies[ENERGY.potential] = work.power[WEIGHT:].sum() - weights @ (acting.vectors @ motion.u)


def reactor_of(stage: StepSystem, motion: Motion, acting: Loading) -> Callable[[], None]:
    """A function that writes the reactions of the motion to its forces, at the start of ``acting``."""
    work, problem = stage.work, stage.problem
    inertia = bound(inertia_forces, problem, motion.v, motion.a, work.inertia, work.damping_force)
    balance = bound(balance_forces, stage.coefficients, False, -1, problem, acting, motion.a, work)

    def react() -> None:
        work.force[:] = motion.force
        inertia()
        balance()
        motion.reaction[:] = work.reaction

    return react


def spender_of(stage: StepSystem, motion: Motion) -> Callable[[], None]:
    """A function that writes the dissipative forces with which the recursion of a scheme begins."""
    damp = bound(multiply_dampings, stage.problem, motion.v, motion.spent) if len(stage.nodes.damping) else None

    def spend() -> None:
        motion.spent[:] = 0.0
        if damp:
            damp()
        motion.spent[: len(motion.flow)] += motion.flow

    return spend


def _try(motion: Motion, work: Scratch) -> None:
    """Makes a state the trial state."""
    work.u[:], work.v[:], work.a[:] = motion.u, motion.v, motion.a
    if motion.multiplier.any() or work.multiplier.any():  # without rods they stay as they are and take no memory
        work.multiplier[:] = motion.multiplier


def parts_that_move(stage: StepSystem) -> Floats:
    """(3n,) the part of the model that each dof belongs to, as ``PART`` of ``Motion.origin`` has it.
    A part of one node is compared with the ground, or ignored if it is supported."""
    system, label = stage.system, stage.parts()
    count = np.bincount(label, minlength=len(label))[label]
    is_grounded = np.zeros(len(label), np.bool_)
    is_grounded[label[system.grounded]] = True
    is_still = system.idle | ((count == 1) & (stage.nodes.dof_kind == 0).reshape(-1, 3).all(axis=1))
    sign = np.where(is_still, 0.0, np.where(is_grounded[label] | (count == 1), -1.0, 1.0))
    moving = np.flatnonzero(~is_still)
    first, part = np.unique(label[moving], return_index=True, return_inverse=True)[1:]
    label[moving] = moving[first[part]]  # a node that moves stands for its part
    dofs = 3 * label[:, None] + np.arange(3) + 1
    return np.asarray((sign[:, None] * dofs).ravel())


def keep_extents(motion: Motion, before: Floats) -> None:
    """Parts of a model that has been changed begin with the extents of those that they belonged to; ``before``: the
    ``origin`` of that motion."""
    nodes = np.maximum(np.abs(before[PART, ::3]).astype(np.int64) - 1, 0) // 3
    motion.origin[EXTENTS] = before[EXTENTS].reshape(-1, 3)[nodes].ravel()


def open_energies(stage: StepSystem, motion: Motion, acting: Loading, is_first: bool, goes_on: bool = False) -> None:
    """Reactions and energies at the start of a step, with its loads; ``goes_on``: its recursion continues with the
    accelerations of the step before (INITIAL=NO), which may differ from those of the tables.
    Sudden changes (gravity switched on, supports set in motion, motion stopped by statics) are external work, so
    that the energy error continues from its value before. ModelError: forces in that state are not finite."""
    work, energies = stage.work, motion.energies
    reactor_of(stage, motion, acting)()  # with the multipliers from the initial accelerations
    before = energies[ENERGY.kinetic] + energies[ENERGY.strain] + energies[ENERGY.potential]
    multiply_masses(stage.problem, motion.v, work.inertia)
    energies[ENERGY.kinetic] = 0.5 * float(motion.v @ work.inertia) if stage.is_dynamic else 0.0
    write_energies(stage, motion, acting)
    if not np.isfinite(energies[ENERGY.strain]) and (trouble := trouble_of(stage.system, motion.u, work.state)):
        raise ModelError(trouble)
    total = energies[ENERGY.kinetic] + energies[ENERGY.strain] + energies[ENERGY.potential]
    if is_first:
        energies[ENERGY.total0] = total
    else:
        energies[ENERGY.work] += total - before
    energies[ENERGY.error0] = total - energies[ENERGY.total0] - energies[ENERGY.work] + energies[ENERGY.dissipated]
    starts = [ENERGY.kinetic0, ENERGY.strain0, ENERGY.potential0, ENERGY.work0, ENERGY.numerical0]
    energies[starts] = energies[[ENERGY.kinetic, ENERGY.strain, ENERGY.potential, ENERGY.work, ENERGY.numerical]]
    energies[ENERGY.exchanged] = 0.0
    motion.memory[:] = 0.0
    motion.memory[MEMORY.forcing] = FIRST_FORCING
    if stage.is_explicit:
        return  # it reads none of what follows
    motion.origin[:] = 0.0
    motion.origin[ORIGIN], motion.origin[TAKES_PART] = motion.u, np.repeat(~stage.system.idle, 3)
    if stage.limits[LIMIT.time_error] > 0.0:
        motion.origin[PART] = parts_that_move(stage)
    begins = stage.nodes.dof_kind == 0 if goes_on else slice(None)
    motion.lagged[begins] = motion.a[begins]
    if not goes_on:
        spender_of(stage, motion)()
