"""The arrays the march works on, in groups, and the names of their rows and columns."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import Equations
from fem.forces.bar import Bars
from fem.forces.protocol import Tangent
from fem.forces.springs import Springs
from fem.solve.linear.ordering import Tree
from fem.solve.schemes.coefficients import Coefficients

# Why march returned
DONE, NEED_SOLVE, NOT_CONVERGED, NOT_FINITE, DRIFT, TOO_LONG, RESIZE, EVENT = 0, 1, 2, 3, 4, 5, 6, 7
# Linear solvers
EXTERNAL, CHAIN, BAND, CG, BICGSTAB, NO_SOLVE, UNSYMMETRIC_CHAIN = 0, 1, 2, 3, 4, 5, 6
CHAINS = (CHAIN, UNSYMMETRIC_CHAIN)
# Entries of limits: None on the Python side is a negative number here
RELATIVE, ABSOLUTE, CORRECTION, ITERATIONS, FLOOR, DRIFT_FRACTION, TO_FLOOR = 0, 1, 2, 3, 4, 5, 6
# and of automatic increments of dynamics (``estimate.py``): allowed local error (0: not judged), the increment that is
# never too long, levels between which increments stay as they are, least size of the motion, constants of the scheme
TIME_ERROR, SHORTEST, LOW_LEVEL, HIGH_LEVEL, LEAST_SIZE, LEAD, CHANGE, LAG, EXPONENT = 7, 8, 9, 10, 11, 12, 13, 14, 15
# and 1 where what rings is left to numerical damping
DAMPS = 16
# and the first update that is halved where the residual does not fall after it, 0: none is
HALVES = 17
# and of snaps (``snaps.py``): their share of the largest internal force (0: nobody looks), and the longest increment
# that shows their fronts
SNAP, FRONT = 18, 19
# and the largest change of a cable's tension in an automatic increment, over the largest internal force (0: any)
TENSION_CHANGE = 20
LIMITS = 21
# Entries of control; JUDGED: the first increment of the chunk whose energy balance is watched
INCREMENT, ITERATION, PHASE, WAITING, WORST, JUDGED = 0, 1, 2, 3, 4, 5
CONTROL = 6
# Phases of an increment
OPEN, TRIAL, CORRECT, LOAD_DIRECTION, PROJECT_VELOCITY, PROJECT_ACCELERATION, FILTER, CLOSE = 0, 1, 2, 3, 4, 5, 6, 7
# Entries of memory: last converged |R|, smallest converged D (0: none yet), |R| of the iteration before, forcing term,
# iterations of conjugate gradients so far, largest strain of a rod in the iteration before
LAST_RESIDUAL, SMALLEST_SCALE, PREVIOUS, FORCING, SPENT, PREVIOUS_GAP = 0, 1, 2, 3, 4, 5
# and of the converged increment while its velocities are projected: stored energy, |R|, D, flags
CLOSING_STRAIN, CLOSING_NORM, CLOSING_SCALE, CLOSING_FLAGS = 6, 7, 8, 9
# and of the estimate of local errors: its level, largest displacement since the start of the step, the last increment
LEVEL, SIZE, LAST_DT = 10, 11, 12
# du1/dv1 of the last increment, which cables that became taut in it go by
ONSET = 13
# and of the estimate within an increment: how often filtered, its fraction of the allowed error after 0 or 1 times;
# and 1 in a step that has left ringing to numerical damping
PASSES, FRACTION, LEFT = 14, 15, 16
# and of an update that may be halved: R.R before it, and what part of it is left
SQUARE, PART = 17, 18
# and the level of an increment that was refused, for the clock to choose a shorter one by
REFUSED = 19
# and the largest internal force so far
PULL = 20
MEMORY = 21
# Entries of energies
KINETIC, STRAIN, POTENTIAL, WORK, DISSIPATED, NUMERICAL = 0, 1, 2, 3, 4, 5
TOTAL0, ERROR0, KINETIC0, STRAIN0, POTENTIAL0, WORK0, NUMERICAL0, EXCHANGED = 6, 7, 8, 9, 10, 11, 12, 13
ENERGIES = 14
# Columns of the rows of increments
L_ITERATIONS, L_NORM, L_KINETIC, L_STRAIN, L_POTENTIAL, L_WORK = 0, 1, 2, 3, 4, 5
L_DISSIPATED, L_ERROR, L_NUMERICAL, L_LARGEST, L_FLAGS, L_FACTOR = 6, 7, 8, 9, 10, 11
INCREMENT_ROW = 12
# Flags of an increment
AT_FLOOR, LOADS_VANISHED, UNRESOLVED, RINGS, SNAPPED = 1, 2, 4, 8, 16


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
    """Bars that never get longer: a taut one is a rod among ``Bars.rods``, a slack one a bar without modulus.

    bars       (r,)  their indices
    allowance  (r,)  gap g = (l^2 - L0^2)/2 beyond which a slack one counts as taut again: 0, but for one that has just
                     gone slack and has not yet moved away from its length
    """

    bars: Ints
    allowance: Floats


class Problem(NamedTuple):
    """What does not change while a chunk of increments is marched through.

    families  groups of ``FAMILIES``, in their order; None where none of them acts
    is_passive  nothing but bars, springs and dashpots acts: what follows velocities can only take energy
    equations     equations between dofs
    ropes     those that are watched (empty: none)
    solver    which linear solver; its tree (chains), its equation (3n + m,) numbers of the rows of a band
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
    equation: Ints


class Loading(NamedTuple):
    """What acts during a chunk of k increments.

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


class Motion(NamedTuple):
    """The last good state: u, v, a, internal force, its part that does not come from stored energy (empty: there is
    none), reaction (3n,), multipliers of rods (m,), energies and the convergence memory; origin (3n,): u at the
    start of the step. power: what families add to the books (empty: there are none).

    After an increment of a secant scheme a, force, reaction and multiplier are those of the increment, u and v those of
    its end. lagged (3n,): what the recursion of a scheme that averages forces (LAGS) goes on with in place of a.
    """

    u: Floats
    v: Floats
    a: Floats
    force: Floats
    flow: Floats
    reaction: Floats
    multiplier: Floats
    energies: Floats
    memory: Floats
    origin: Floats
    lagged: Floats
    state: Floats
    power: Floats


class Scratch(NamedTuple):
    """Trial state and working room; ``du`` and, for rods, ``tau`` are written by whoever solves.

    block (n, 9): the matrix within nodes, inertia included, the bars apart.

    pinned, kept, whole, pulls: for rods alone (``rods/waiting.py``, ``rods/solve.py``).

    mass_before: ``Nodes.directed_mass`` as it was at the start of the increment, for the books.
    """

    u: Floats
    v: Floats
    a: Floats
    force: Floats
    flow: Floats
    load: Floats
    known_force: Floats
    residual: Floats
    shift: Floats
    inertia: Floats
    momentum: Floats
    damping_force: Floats
    du: Floats
    multiplier: Floats
    tau: Floats
    pinned: Floats
    tangent: Tangent
    block: Floats
    inverse: Floats
    reaction: Floats
    band: Floats
    unknowns: Floats
    krylov: Floats
    kept: Floats
    whole: Floats
    pulls: Floats
    lagged: Floats
    state: Floats
    power: Floats
    mass_before: Floats


class Record(NamedTuple):
    """What is kept of every increment of a chunk.

    increments (k, INCREMENT_ROW); nodes (p,) and kinematics (k, 4, p, 3): u, v, a, reaction of recorded nodes;
    elements (q, 2) family and index, values (k, q, 4): E, S, N, T of recorded elements (5: and T2)
    touching (c, 2) place among nodes, and first of three states, of contact forces: a fifth row of kinematics, if any
    """

    increments: Floats
    nodes: Ints
    kinematics: Floats
    elements: Ints
    values: Floats
    touching: Ints


class Passage(NamedTuple):
    """A march through a chunk of increments: what it goes by, where it is, what is kept of it."""

    scheme: Coefficients
    limits: Floats
    problem: Problem
    loading: Loading
    motion: Motion
    work: Scratch
    record: Record


FENCE = 64
"""Numbers of nothing before and behind an array that kernels write to."""


def room(shape: int | tuple[int, ...]) -> Floats:
    """Zeros that stand apart from all other arrays.

    A compiled loop first asks whether its arrays lie so close that vectors of them could overlap, and if so goes
    through them one by one, which rounds in another way: small models would depend, in their last digit, on where
    memory was free.
    """
    size = math.prod(shape) if isinstance(shape, tuple) else shape
    if size == 0:
        return np.zeros(shape)
    return np.zeros(size + 2 * FENCE)[FENCE : FENCE + size].reshape(shape)
