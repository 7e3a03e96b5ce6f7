"""Arrays of the march, in groups, and the names of their entries and columns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations
from fem.forces.bar import Bars
from fem.forces.protocol import Tangent
from fem.forces.springs import Springs
from fem.linear.choice import EliminationPlan, Tree
from fem.solve.schemes import Coefficients

# Return codes of march
DONE, NEED_SOLVE, NOT_CONVERGED, NOT_FINITE, DRIFT, TOO_LONG, RESIZE, EVENT = 0, 1, 2, 3, 4, 5, 6, 7
# Phases of an increment
OPEN, TRIAL, CORRECT, LOAD_DIRECTION, PROJECT_VELOCITY, PROJECT_ACCELERATION, FILTER, CLOSE = 0, 1, 2, 3, 4, 5, 6, 7
# Flags of an increment
AT_FLOOR, LOADS_VANISHED, UNRESOLVED, RINGS, SNAPPED = 1, 2, 4, 8, 16


class Limits(NamedTuple):
    """Positions of the limits of a march, ``limits[LIMIT.floor]``; a None of Python is a negative number here."""

    relative: int  # allowed |R|/D
    absolute: int  # allowed |R|
    correction: int  # allowed max |du| / max |u1 - u0|
    iterations: int
    floor: int  # |R| that counts as rounding error if it no longer decreases
    drift_fraction: int  # allowed energy error over the exchanged energy
    to_floor: int  # 1: iterate until residuals no longer fall
    # automatic increments of dynamics (``estimate.py``)
    time_error: int  # allowed local error (0: not judged)
    shortest: int  # length below which an increment is always accepted
    low_level: int  # between this level and
    high_level: int  # this one increments keep their length
    least_size: int  # of the motion
    ground: int  # 1: the ground counts as a node that does not move
    window: int  # increments of a window of the motion
    lead: int  # constants of the scheme (``error_constants``)
    change: int
    lag: int
    exponent: int
    damps: int  # 1: ringing is left to numerical damping
    halves: int  # first iteration with step halving, if the residual does not decrease (0: off)
    snap: int  # smallest snap, over the largest internal force (0: off)
    front: int  # the longest increment that resolves the front of a snap
    tension_change: int  # of cables in an automatic increment, over the largest internal force (0: any)


class Control(NamedTuple):
    """Positions in ``control``: the state of a march within its chunk."""

    increment: int
    iteration: int
    phase: int
    waiting: int  # 1: waiting for ``work.du`` from outside
    worst: int  # dof of the largest residual
    judged: int  # the first increment of the chunk whose energy balance is watched


class Memory(NamedTuple):
    """Positions in ``Motion.memory``: data of the march that last beyond one increment."""

    last_residual: int  # last converged |R|
    smallest_scale: int  # smallest converged D (0: none yet)
    lightest: int  # square of the least load or inertia of a node, when residuals were last compared with it (0: none)
    previous: int  # |R| of the iteration before
    forcing: int  # relative accuracy of the next iterative linear solve
    spent: int  # iterations of conjugate gradients so far
    previous_gap: int  # largest strain of a rod in the iteration before
    # the converged increment during the projection of velocities
    closing_strain: int  # stored energy
    closing_norm: int  # |R|
    closing_scale: int  # D
    closing_flags: int
    # estimate of local errors (``estimate.py``)
    level: int
    elapsed: int  # time since this window began
    last_elapsed: int  # length of the one before
    counted: int  # its increments so far
    window: int  # and those that end it (0: it is the first)
    moved: int  # largest energy of motion so far (``moved_energy``)
    fall: int  # work of loads without the travel
    astray: int  # sum of the errors of the work of forces
    last_dt: int
    onset: int  # du1/dv1 of the last increment, for cables that became taut in it
    passes: int  # number of filter passes of this increment's estimate
    fraction: int  # of the allowed error, after 0 or 1 passes
    left: int  # 1 in a step that has left ringing to numerical damping
    square: int  # R.R before an update that may be halved
    part: int  # remaining fraction of that update
    refused: int  # level of a refused increment, from which the clock chooses a shorter one
    pull: int  # largest internal force of a node so far
    # largest excess over a range (``Ledger.watched``) since the start of the step: amount, row, value
    stretch: int
    stretch_at: int
    stretch_by: int
    stray: int
    stray_at: int
    stray_by: int


class Energies(NamedTuple):
    """Positions in ``Motion.energies``: totals so far, and those at the start of the step (names with 0)."""

    kinetic: int
    strain: int
    potential: int
    work: int
    dissipated: int
    numerical: int
    total0: int  # kinetic + strain + potential at the start of the run
    error0: int
    kinetic0: int
    strain0: int
    potential0: int
    work0: int
    numerical0: int
    exchanged: int  # largest change of one of them in the step


class IncrementColumns(NamedTuple):
    """Columns of ``Ledger.increments``."""

    iterations: int
    norm: int  # |R|/D
    kinetic: int
    strain: int
    potential: int
    work: int
    dissipated: int
    error: int
    numerical: int
    largest: int
    flags: int
    factor: int  # of the loads, on an arc


ORIGIN, PACE, SUM, TAKES_PART, PART, LOW, HIGH, EXTENTS = range(8)
"""Rows of ``Motion.origin``: u_r, V, integral of w in this window (``estimate.py``), 1 at nodes that are not idle;
part of the model that each dof belongs to, as a dof of it (from 1), negative if the ground is a node of it, 0 if its
motion does not count; the size of the motion of a part and its extent, at the first of its dofs (work arrays);
extents of a part, at its three dofs: in this window, in the one before (0: there is none), and the largest of any
before, less their travel."""

LIMIT = Limits(*range(len(Limits._fields)))
CONTROL = Control(*range(len(Control._fields)))
MEMORY = Memory(*range(len(Memory._fields)))
ENERGY = Energies(*range(len(Energies._fields)))
ROW = IncrementColumns(*range(len(IncrementColumns._fields)))


class Nodes(NamedTuple):
    """Nodal part of the system.

    mass, damping (3n,) diagonal mass, mass-proportional damping (damping empty: none)
    place    (3n,)      reference coordinates
    dof_kind (3n,)      1 free, 0 supported, 2 dependent on others through an equation
    mask     (3n,)      0.0 at supported dofs, else 1.0
    directed_mass (n + q, 9) mass that families add, row by row, that of the increment: of each node, then symmetric
                  blocks between the nodes of ``mass_pairs`` (q, 2), which are those of the tangent (empty: none)
    artificial_stiffness (n, 9)  in the tangent only, of directions without stiffness and load (statics); empty: none
    caution (n,)  likewise, times the largest residual: of slack lines in a stream, which else fly off (empty: none)
    """

    mass: Floats
    damping: Floats
    place: Floats
    dof_kind: Ints
    mask: Floats
    directed_mass: Floats
    artificial_stiffness: Floats
    caution: Floats
    mass_pairs: Ints


class Ropes(NamedTuple):
    """Bars that cannot get longer: a taut one is a rod among ``Bars.rods``, a slack one a bar without modulus.

    bars       (r,)  their indices
    allowance  (r,)  gap g = (l^2 - L0^2)/2 beyond which a slack one counts as taut again: 0, but for one that has just
                     gone slack and has not yet moved away from its length
    """

    bars: Ints
    allowance: Floats


class Problem(NamedTuple):
    """Data that are constant during a chunk of increments.

    families  groups of ``FAMILIES``, in their order; None where none of them acts
    is_passive  there are only bars, springs and dashpots: velocity-dependent forces can only dissipate energy
    equations     equations between dofs
    ropes     those that are watched (empty: none)
    solver    which linear solver; its tree (chains), its plan (bands, lines with a border)
    """

    nodes: Nodes
    bars: Bars
    springs: Springs
    families: tuple[Any, ...] | None
    is_passive: bool
    equations: Equations
    ropes: Ropes
    solver: int
    tree: Tree
    plan: EliminationPlan


class Loading(NamedTuple):
    """Loads during a chunk of k increments.

    dt        (k,)      increments
    time      (k+1,)    their ends
    vectors   (p, 3n)   load vectors;  is_gravity (p,) 1 where it has a potential
    weighted  (k, p)    their factors in the scheme's equilibrium
    factors   (k+1, p)  their factors at the ends of the increments
    support_dofs (c,), support_u, support_v, support_a (k, c)  prescribed motion at the ends of the increments
    support_start (k, c)  velocity just after their starts (it may jump there)
    thermal_end   (1 or k+1, m)  thermal strain of the bars, constant or at the ends of the increments
    thermal_mean  (1 or k, m)  thermal strain in the equilibrium of the increments
    """

    dt: Floats
    time: Floats
    vectors: Floats
    is_gravity: Ints
    weighted: Floats
    factors: Floats
    support_dofs: Ints
    support_u: Floats
    support_v: Floats
    support_a: Floats
    support_start: Floats
    thermal_end: Floats
    thermal_mean: Floats


# Motion, Scratch and Ledger are the state of a march. Each array has its shape, unit and meaning, and the function that
# writes it, in the order in which an increment does. n nodes, m bars, b of the families' numbers; m, kg, s, N: the
# deck's units. Empty: the model has nothing of the kind.


class Motion(NamedTuple):
    """The last good state; written at the end of an increment (``balance.take_over``, where no other is named).

    After an increment of a secant scheme a, force, reaction and multiplier are those of the increment, u and v those of
    its end.
    """

    u: Floats  # (3n,) m         displacements
    v: Floats  # (3n,) m/s       velocities
    a: Floats  # (3n,) m/s^2     accelerations, as tables have them
    force: Floats  # (3n,) N     internal forces, those of velocities among them
    flow: Floats  # (3n,) N      their part that does not come from stored energy (dampers, water, friction); or empty
    reaction: Floats  # (3n,) N  f + C v + M a - p at supported dofs and what equations hand on; else 0
    multiplier: Floats  # (m,) N/m  of rods: pull over length; the others 0
    energies: Floats  # (``ENERGY``,) J  totals: ``balance.close_increment``; (0) of the start: ``start.open_energies``
    memory: Floats  # (``MEMORY``,)  what the march remembers: each entry says what
    origin: Floats  # (8, 3n)    mean motion, by which errors of automatic increments are judged: ``estimate.judge``
    lagged: Floats  # (3n,) m/s^2  a of the recursion, where that averages forces (LAGS): ``project.end_accelerations``
    state: Floats  # (b,)        states of families (friction, fatigue of ice, wake): ``families.evaluate_others``
    power: Floats  # (4,) W, J   energies of families (``forces/protocol.py``)
    spent: Floats  # (3n,) N     part of dissipative forces in -M a of the recursion: ``balance.averaged_loss``


class Scratch(NamedTuple):
    """The trial state and quantities computed from it. They last for an iteration; lasting data are in ``Motion``."""

    # the trial state: guessed by ``iterate.begin``, moved by ``iterate.correct``
    u: Floats  # (3n,) m
    v: Floats  # (3n,) m/s
    a: Floats  # (3n,) m/s^2
    # its forces: ``evaluate.evaluate``
    force: Floats  # (3n,) N   internal, C v apart
    flow: Floats  # (3n,) N    their part without stored energy; or empty
    # constants of an increment: ``iterate.carry_over``, arcs: ``arc.set_factor``
    load: Floats  # (3n,) N         WC p1 + (1 - WC) p
    known_force: Floats  # (3n,) N  the same less what the equilibrium has of f, M a, C v of the start
    # the equation of an iteration, ``residual`` = what is left, K ``du`` = ``residual``
    residual: Floats  # (3n,) N     0 at supported dofs: ``iterate.residual``, with shifts of supports ``tangent.lift``
    shift: Floats  # (3n,) m        of supports, in the first iteration: ``iterate.begin``; then room of ``scale_of``
    inertia: Floats  # (3n,) N      M a, unless the mass is lumped: ``iterate.residual``
    momentum: Floats  # (3n,)       M v (kg m/s) of whoever asks; the local error (m) once ``estimate.judge`` has begun
    damping_force: Floats  # (3n,) N  C v, where there is mass-proportional damping: ``iterate.residual``
    du: Floats  # (3n,) m           written by whoever solves; whole, with dependent dofs, after ``iterate.correct``
    multiplier: Floats  # (m,) N/m  of rods, moved by ``iterate.correct``
    tau: Floats  # (m,) N/m         its change, written by whoever solves
    # matrices, and what solvers keep of them (``linear/``)
    pinned: Floats  # (n, 10)       rods of chains whose pull waits: ``chain.wait``
    tangent: Tangent  #             of bars, pairs and nodes: ``evaluate.evaluate``
    block: Floats  # (n, 9) N/m     of the matrix, within nodes, inertia included, bars apart: ``tangent.fill_matrix``
    inverse: Floats  # (n, 9 or 18)  of what elimination has left at each node
    reaction: Floats  # (3n,) N     of the trial state, once it has converged: ``balance.balance_forces``
    band: Floats  # (q, 3w + 1)     of bands and borders, factorised in place: ``border.solve_with_border``
    unknowns: Floats  # (q,)        their right-hand side, then their solution
    blocks: Floats  # (k, 9)        of their elimination (``linear/choice.py``)
    krylov: Floats  # (6, 3n)       vectors of conjugate gradients and BiCGSTAB: ``linear/products.py``
    # answers that are checked against the matrix as it was (``newton/refine.py``)
    kept: Floats  # (n, 9)          ``block`` before it was eliminated
    right: Floats  # (3n,) N        right-hand side; each an array of its own: rows of one would be tested for overlap
    found: Floats  # (3n,) m        solution so far
    size: Floats  # (3n,) N         of the equations
    gaps: Floats  # (m,)            right-hand side of rods
    pulls: Floats  # (m,) N/m       their multipliers so far
    # the end of an increment
    lagged: Floats  # (3n,) m/s^2   as in ``Motion``
    state: Floats  # (b,)           as in ``Motion``: ``evaluate.evaluate``
    power: Floats  # (4,) W, J      as in ``Motion``: ``evaluate.evaluate``
    mass_before: Floats  # (n + q, 9) kg  ``Nodes.directed_mass`` of the start: ``balance.close_increment``
    # of the books alone (``balance.support_work``, ``balance.numerical_dissipation``, ``evaluate.stored_energy``)
    mean: Floats  # (3n,)           accelerations of the increment, or what moves with the supports
    rise: Floats  # (3n,) m/s       change of velocities
    pull: Floats  # (3n,) N         M times ``mean``, and forces beside it
    gain: Floats  # (3n,) kg m/s    M times ``rise``


class Ledger(NamedTuple):
    """Recorded values of each of k increments: ``balance.note_increment``, ranges: ``balance.note_ranges``."""

    increments: Floats  # (k, ``ROW``)        iterations, norm, energies, flags
    nodes: Ints  # (p,)                       recorded nodes
    kinematics: Floats  # (k, 4, p, 3)        their u, v, a, reaction; perhaps more, by ``recorded_rows``
    elements: Ints  # (q, 2)                  recorded elements: family, index
    values: Floats  # (k, q, 4)               their E, S, N, T (5: and T2)
    touching: Ints  # (c, 3)                  of vectors of states: place among ``nodes``, quantity, first state; of
    # states that are part of T: place among ``elements``, PULLED, state
    watched: Ints  # (w, 3)                   with a range: 0 bar or 1 spring, index, first of its entries in ``Memory``
    allowed: Floats  # (w, 2)                 their ranges, of Green's strain, or of elongation (m)
    shown: Ints  # (1,)                       number of nodes of the mesh: those of spins follow


class Passage(NamedTuple):
    """Arguments of a march through a chunk of increments: constant data, state, record."""

    scheme: Coefficients
    limits: Floats
    problem: Problem
    loading: Loading
    motion: Motion
    work: Scratch
    record: Ledger


FENCE = 64
"""Number of unused values before and after an array that kernels write to."""


def room(shape: int | tuple[int, ...]) -> Floats:
    """Array of zeros with a distance from all other arrays in memory.

    A compiled loop first tests whether its arrays are so close that vectors of them could overlap, and if so processes
    them one by one, which rounds differently: the last digit of small models would depend on the place in memory.
    """
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    return rooms(shape)[0] if size else np.zeros(shape)


def rooms(*shapes: int | tuple[int, ...]) -> list[Floats]:
    """The same for several arrays, which share one ``base``."""
    sizes = [math.prod(shape) if isinstance(shape, tuple) else shape for shape in shapes]
    block, first, found = np.zeros(sum(sizes) + FENCE * (len(sizes) + 1)), FENCE, []
    for size, shape in zip(sizes, shapes, strict=True):
        found.append(block[first : first + size].reshape(shape))
        first += size + FENCE
    return found
