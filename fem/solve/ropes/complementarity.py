"""Forces of ropes, rods and contacts with friction: their complementarity conditions, solution and verification."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, Matrix
from fem.assembly.equations import Independent
from fem.errors import ModelError
from fem.forces.bar import INV_LENGTH, heads
from fem.linear.factors import refine
from fem.solve.newton.groups import Loading, Motion
from fem.solve.rods import dense, gaps, placer_of
from fem.solve.ropes.cones import (
    ALLOWED,
    EXACT,
    PULL,
    RIGHT,
    STEP,
    STEPS,
    Cones,
    cones_of,
    linearise_cones,
    open_cones,
)
from fem.solve.ropes.facets import faceted
from fem.solve.start import evaluate_start, write_energies
from fem.solve.step_system import StepSystem

# One-sided pulls: conditions and solution.
#
#     0 <= p, W p >= right, one of the two with equality (ropes);  W p = right (rods)
#
# W is singular if lengths depend on each other: then the least pulls are wanted. W + s I has a unique solution; with it
# the load right + s p_k gives the next p_k+1 (proximal points), which converge to an exact solution.
# Sources: Judice & Pires, Comput. Oper. Res. 21 (1994) 587-596 (block principal pivoting); Rockafellar, SIAM J. Control
# Optim. 14 (1976) 877-898 (proximal points).

SHIFTS = (1e-13, 1e-7, 1e-10)
"""Fractions of the diagonal of W added to it, tried in turn; the first gives a solution nearly always."""
SAME = 1e-12
"""Fraction of the largest eigenvalue of W, or singular value, below which it counts as zero."""
POINTS = 12
"""Proximal points before another shift is tried."""
ZERO = 1e-12
"""Fraction of the largest pull or rate that is a rounding error."""
PATIENCE = 3
"""Number of rounds without progress after which only one pull is changed at a time."""
LARGE = 1e8
"""Pulls larger than this multiple of the pull of a lone bar come from rounding errors of dependent lengths."""


class NoPulls(Exception):
    """No pulls satisfy the conditions; ``worst``: the row with the largest violation; ``bar``: its bar, if known;
    ``why``: the reason for the message, if it is not that the bar is pulled apart."""

    def __init__(self, worst: int, bar: int = -1, why: str = "") -> None:
        super().__init__()
        self.worst, self.bar, self.why = worst, bar, why


def complementarity(
    compliance: Floats, right: Floats, one_sided: Flags, noise: Floats | float = 0.0
) -> tuple[Floats, Flags]:
    """Pulls p with W p = right where they act; one-sided ones act only while p >= 0, else W p >= right.
    compliance (r, r), right (r,) with rounding errors ``noise``, one_sided (r,); returns p (r,) and which act (r,).
    NoPulls: there are none."""
    if not len(right):
        return np.zeros(0), np.zeros(0, np.bool_)
    if len(right) == 1 and math.isfinite(right[0]):
        return _lone(compliance.item(0), right.item(0), bool(one_sided[0]))
    scale = 1.0 / np.sqrt(np.diag(compliance))
    matrix, load = scale[:, None] * compliance * scale, scale * right
    size, off = float(np.abs(load).max(initial=0.0)), np.zeros(len(load))
    allowed = EXACT * size + scale * noise
    for shift in SHIFTS:
        shifted, pull, acts = matrix + shift * np.eye(len(load)), np.zeros(len(load)), ~one_sided
        for _ in range(POINTS):
            pull, acts = _pivot(shifted, load + shift * pull, one_sided, acts)
            off = residual(matrix, load, pull, one_sided) - allowed
            if off.max(initial=0.0) <= 0.0 and np.abs(pull).max(initial=0.0) <= LARGE * size:
                return scale * _least(matrix, load, pull, one_sided, allowed), acts
    raise NoPulls(int(off.argmax()))


def _lone(compliance: float, right: float, one_sided: bool) -> tuple[Floats, Flags]:
    """The only pull and whether it acts, with Python floats; the result is identical to the last bit."""
    scale = 1.0 / math.sqrt(compliance)
    acts = right > 0.0 or not one_sided
    pull = scale * (scale * right * (1.0 / (scale * compliance * scale))) if acts else 0.0
    return np.array([pull]), np.array([acts])


def _least(matrix: Floats, load: Floats, pull: Floats, one_sided: Flags, allowed: Floats) -> Floats:
    """The smallest pulls of those that act, without rounding errors of the shift; unchanged if that is not possible."""
    (at,) = np.nonzero(pull)
    found = np.zeros(len(pull))
    found[at] = np.linalg.lstsq(matrix[np.ix_(at, at)], load[at], rcond=SAME)[0]
    is_right = np.all(residual(matrix, load, found, one_sided) <= allowed) and np.all(found[one_sided] >= 0.0)
    return found if is_right else pull


def residual(compliance: Floats, right: Floats, pull: Floats, one_sided: Flags) -> Floats:
    """(r,) violation of each condition."""
    rest = compliance @ pull - right
    return np.where(one_sided & (pull <= 0.0), np.maximum(-rest, -pull), np.abs(rest))


def _pivot(matrix: Floats, load: Floats, one_sided: Flags, first: Flags) -> tuple[Floats, Flags]:
    """The solution for a regular matrix, or the last guess if a hundred rounds per row do not find it."""
    pull, acts = np.zeros(len(load)), first
    fewest, patience = len(load) + 1, PATIENCE
    size = float(np.abs(load).max(initial=0.0))
    for _ in range(100 * (len(load) + 1)):
        pull[:] = 0.0
        (at,) = np.nonzero(acts)
        if len(at):
            pull[at] = np.linalg.solve(matrix[np.ix_(at, at)], load[at])
        rest = matrix @ pull - load
        wrong = one_sided & np.where(acts, pull < -ZERO * np.abs(pull).max(initial=0.0), rest < -ZERO * size)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            break
        patience = PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong = np.arange(len(wrong)) == np.flatnonzero(wrong)[-1]
        acts = acts ^ wrong
    return np.where(one_sided, np.maximum(pull, 0.0), pull), acts


# Correction of positions after increments that leave ropes too long.
#
# With gaps g = (l^2 - L0^2)/2 and gradients G of rods and ropes, u moves by the least -M^-1 G^T mu for which
#
#     g = 0 for rods and ropes that stay taut;    g <= 0, mu >= 0, one of them zero for ropes that may go slack
#
# which is no more than the local error of the increment. Velocities stay; energies are those of the new positions.
# Source: Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. IV.4 (projection methods).

CLOSED = 1e-13
"""Strain to which lengths are corrected."""
MOST_MOVES = 50


def move_to_nearest(stage: StepSystem, motion: Motion, now: Loading, mass: Matrix, may_shorten: Flags) -> None:
    """Corrects ``motion.u``, with its stored and potential energies. NoPulls: lengths cannot be corrected.

    stage            its ``bars.rods`` are the rods and the ropes that are taut or too long
    now              loads of an increment that starts now
    may_shorten (r,) of these: the ropes that may go slack
    """
    evaluate_start(stage, motion, now)
    try:
        _move(stage, motion, now, mass, may_shorten)
    except NoPulls as error:
        error.bar = int(heads(stage.bars)[error.worst])
        raise
    write_energies(stage, motion, now)


def _move(stage: StepSystem, motion: Motion, now: Loading, mass: Matrix, may_shorten: Flags) -> None:
    """Newton's iteration, with the gradients at its start."""
    square, network = (
        1.0 / stage.bars.constants[INV_LENGTH, heads(stage.bars)] ** 2,
        RopeNetwork(stage, Inertia(stage, mass)),
    )
    for _ in range(MOST_MOVES):
        gap, strain = gaps(stage)
        off = np.where(may_shorten, np.maximum(strain, 0.0), np.abs(strain))
        if off.max(initial=0.0) <= CLOSED:
            return
        pull, _ = complementarity(network.compliance, gap, may_shorten, CLOSED * square)
        motion.u[:] += network.change(pull)
        evaluate_start(stage, motion, now)
    raise NoPulls(int(off.argmax()))


# Pulls of rods and ropes at one instant: impulses of impacts; accelerations and tensions after them.
#
# With G the gradients of the lengths, W = G M^-1 G^T and pulls p along rods and ropes:
#
#     impact          G v+ = G v- - W p,  rods: G v+ = 0;  ropes: 0 <= p, G v+ <= - c (G v-)+, one of them zero
#     accelerations   G a + |v_j - v_i|^2 = 0 for rods, <= 0 for ropes that stay at their length, 0 <= tension, one zero
#
# The energy lost to an impact is p.(G v- + G v+)/2, rope by rope.
# Sources: Moreau, Comput. Methods Appl. Mech. Eng. 177 (1999) 329-349; Pfeiffer & Glocker, Multibody Dynamics with
# Unilateral Contacts (1996).

MASSLESS = (
    "the mass matrix of nodes with ropes is singular: give them mass (*DENSITY, *MASS), or MASS=LUMPED or CONSISTENT "
    "in *SOLID SECTION"
)


class Inertia:
    """The mass of the free dofs of a stage, ``dofs`` (kinds: ``free``, 3n); ``solve`` multiplies by its inverse, and
    ``gradients`` returns those of the rods in the state evaluated last."""

    def __init__(self, stage: StepSystem, mass: Matrix) -> None:
        equations, free = stage.equations, stage.nodes.dof_kind
        if len(equations.slave) == 0:
            free = np.where((free == 1) & (stage.system.inertia <= 0.0), 0, free)
        self.free, self.dofs = free, Independent(free, equations)
        self.solve, self.gradients = _solver(self.dofs.matrix(mass)), placer_of(stage, free)


class RopeNetwork:
    """Rods and ropes of a stage that may pull (its ``bars.rods``), over the mass of the free dofs.
    The state must have been evaluated into ``stage.work``. ModelError where a rope is not tied to mass."""

    def __init__(self, stage: StepSystem, inertia: Inertia) -> None:
        self.dofs, self.solve = inertia.dofs, inertia.solve
        self.rows = dense(inertia.gradients())
        self.answer: Floats = self.solve(self.rows.T)
        self.compliance: Floats = self.rows @ self.answer
        if (self.compliance.diagonal() <= 0.0).any():
            e = int(heads(stage.bars)[int(np.argmin(np.diag(self.compliance)))])
            raise ModelError(
                f"{stage.system.name_bar(e)} is a rope or rod without mass at its free nodes: give them mass "
                "(*DENSITY, *MASS)"
            )

    def change(self, pull: Floats) -> Floats:
        """- M^-1 G^T pull for all dofs (3n,)."""
        return self.dofs.spread(-self.answer @ pull)


def _solver(matrix: Matrix) -> Callable[[Floats], Floats]:
    """A function that multiplies by M^-1, with checked results (``refine``); ModelError: M is singular."""
    diagonal = matrix.diagonal()
    count = np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.count_nonzero()
    if count == np.count_nonzero(diagonal):
        return lambda right: right / (diagonal if right.ndim == 1 else diagonal[:, None])
    try:
        if isinstance(matrix, np.ndarray):
            once = np.linalg.inv(matrix).__matmul__
        else:
            from scipy.sparse.linalg import splu

            once = splu(matrix.tocsc()).solve
    except (np.linalg.LinAlgError, RuntimeError) as error:
        raise ModelError(MASSLESS) from error

    def solve(right: Floats) -> Floats:
        found = refine(once, matrix, right)
        if found is None:
            raise ModelError(MASSLESS)
        return found

    return solve


# Redundant ropes: which of them the march uses, and the distribution of the pull among all.
#
# Of two ropes between the same nodes, or four that hold one node in space, only the total force is determined. With the
# gradients g of lengths and pulls p > 0, the pull of a rope whose gradient depends on others, g = sum c_i g_i, is
# transferred to them, p_i + p c_i, or the rope replaces the one whose pull would become negative first (Caratheodory).
# The remaining ropes determine the motion; of all pulls with the same force those with the least sum of squares are
# reported.

DEPENDENT = 1e-8
"""A gradient depends on others if the fraction of it outside their span is below this."""
SAME_FORCE = 1e-9
"""Largest change of a force by the distribution, as a fraction."""


def independent(rows: Floats, pull: Floats, acts: Flags, one_sided: Flags, first: Flags) -> tuple[Flags, Floats]:
    """A set of independent ropes and rods among those that act (r,) with the same force, and their pulls (r,).
    rows (r, n)   gradients over the independent dofs
    first (r,)    ropes with priority"""
    pull = np.where(acts, pull, 0.0)
    if np.count_nonzero(acts) < 2:
        return acts, pull
    basis = acts & ~one_sided
    ropes = np.flatnonzero(acts & one_sided)
    for r in ropes[np.lexsort((-pull[ropes], ~first[ropes]))].tolist():
        (at,) = np.nonzero(basis)
        if not len(at):
            basis[r] = True
            continue
        fraction = np.linalg.lstsq(rows[at].T, rows[r], rcond=None)[0]
        if np.linalg.norm(rows[r] - fraction @ rows[at]) > DEPENDENT * np.linalg.norm(rows[r]):
            basis[r] = True
            continue
        gives = one_sided[at] & (fraction < -DEPENDENT)
        room = np.where(gives, pull[at] / np.where(gives, -fraction, 1.0), np.inf)
        worst = int(room.argmin()) if len(room) else 0
        handed = min(pull[r], room[worst])
        pull[at] += handed * fraction
        pull[r] -= handed
        if pull[r] > 0.0:
            basis[at[worst]], basis[r] = False, True
            pull[at[worst]] = 0.0
    return basis, np.where(basis, pull, 0.0)


def outside(rows: Floats, stays: Flags, chosen: Flags) -> Flags:
    """Which of the chosen rows (r,) are independent of those that stay (r,)."""
    found, base = chosen.copy(), rows[stays].T
    for r in np.flatnonzero(chosen).tolist():
        rest = rows[r] - base @ np.linalg.lstsq(base, rows[r], rcond=None)[0]
        found[r] = np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(rows[r])
    return found


def shared(rows: Floats, pull: Floats, one_sided: Flags, length: Floats) -> Floats:
    """Multipliers (r,) with the force of ``pull`` whose forces along the bars have the least sum of squares.
    rows (r, n), length (r,); ropes do not push. If rounding errors prevent this, ``pull`` itself."""
    units, force = (rows / length[:, None]).T, pull @ rows
    at, size = np.ones(len(pull), np.bool_), float(np.abs(force).max(initial=0.0))
    while True:
        found = np.zeros(len(pull))
        found[at] = np.linalg.lstsq(units[:, at], force, rcond=DEPENDENT)[0]
        if np.abs(units @ found - force).max(initial=0.0) > SAME_FORCE * size:
            return pull
        pushes = at & one_sided & (found < 0.0)
        if not pushes.any():
            return found / length
        at &= ~pushes


# Coulomb's friction of nodes on planes, together with all other forces of constraints in an increment.
#
# Beside the pulls p of lengths, each contact with a push p_n >= 0 has t along two tangents of its plane,
# s = right - W (p, t) being the velocity of slipping there:
#
#     |t| <= mu p_n;    s = 0 where |t| < mu p_n, else t = mu p_n s/|s|
#
# With steps r > 0 and y = (p, t) - r (W (p, t) - right) all conditions are one equation, (p, t) = P(y), where P does
# not change rods, cuts off negative pushes and pulls, and limits tangents of a contact to the length mu max(y_n, 0).
# Newton's method (``cones.py``) solves it, beginning with the pulls without friction; if it does not converge, with
# those of a polygonal limit of friction (``facets.py``), of increasing number of sides. If friction holds both ends of
# a rod nearly parallel to the plane, its rate may have an error that no reasonable force could change.
# Sources: Alart & Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375; Jean, 177 (1999) 235-257.

RODS, HELD = 1e-4, 1e7
"""If not all conditions can hold: weight of the rates of rods, and their allowed error as a multiple of rounding: 1e-4
of the velocities, as the inclination to a plane that is lost in singular values below ``SAME``."""
SIDES, TURNS = 8, 12
"""Number of sides of the first polygonal limit of friction; largest number of refinements, by corners where needed."""
ROUGH = 1e-3
"""Accuracy after all refinements, over the largest rate: largest creep of nodes where friction holds rods."""
CREEPS = (
    f"in some increments friction that holds both ends of rods is accurate only to {ROUGH:g} of the largest rate: "
    "nodes that stick may creep at that rate"
)
JAMS = "friction jams {}: no finite impulses let it go where it is pushed; less FRICTION= does"
UNFOUND = "no impulses with friction were found, least of all at {}"
LONGEST = 1e4
"""A step of Newton's method longer than this multiple of the solution shows a singular matrix."""


class Slips(NamedTuple):
    """Tangents of contacts with friction: the first one of each, then the second one of each.

    contact, coefficient (2f,)  index of its contact among the lengths; mu
    rows (2f, 3n), reduced (2f, q)  gradients over all dofs and over the independent ones
    """

    contact: Ints
    coefficient: Floats
    rows: Floats
    reduced: Floats


def impulses(compliance: Floats, right: Floats, one_sided: Flags, slips: Slips, noise: Floats) -> tuple[Floats, bool]:
    """(c + 2f,) pulls of lengths, of which some are one-sided (c,), then those along tangents; whether nodes creep.
    NoPulls: no solution found.
    compliance (c + 2f, c + 2f), right (c + 2f,), with rounding errors ``noise``"""
    count = len(one_sided)
    found = np.zeros(len(right))
    found[:count] = complementarity(compliance[:count, :count], right[:count], one_sided, noise[:count])[0]
    if len(right) == count:
        return found, False
    cones, contacts = cones_of(len(right)), len(slips.contact) // 2
    cones.one_sided[:count], cones.compliance[:] = one_sided, compliance
    cones.contact[count:], cones.friction[count:] = slips.contact, slips.coefficient
    cones.numbers[RIGHT], cones.numbers[ALLOWED] = right, noise
    open_cones(count, contacts, cones)
    root, allowed = np.sqrt(cones.numbers[STEP]), cones.numbers[ALLOWED]
    allowed[:count][~one_sided] *= HELD
    best, off, angles = found, np.full(len(right), np.inf), np.zeros((0, 0))
    for turn in range(TURNS):
        if turn:
            angles = angles if turn > 1 else np.tile(2.0 * np.pi * np.arange(SIDES) / SIDES, (contacts, 1))
            start = _faceted(cones, count, angles)
            if start is None:
                break
            found = start
            angles = np.column_stack([angles, _angles(cones, count, found)])
        for _ in range(STEPS):
            cones.numbers[PULL] = found
            linearise_cones(count, contacts, cones)
            now = (np.abs(cones.jacobian[:, -1]) - allowed) / root
            if now.max() <= 0.0:
                return found, False
            if now.max() < off.max():
                best, off = found, now
            found = found - _newton(cones, count)
    if turn > 1 and off.max() <= ROUGH * float((root * np.abs(right)).max()):
        return best, True
    worst = int(off.argmax())
    raise NoPulls(worst if worst < count else int(slips.contact[worst - count]), why=JAMS if turn == 1 else UNFOUND)


def _newton(cones: Cones, count: int) -> Floats:
    """Newton's correction of z: J^-1 (z - P(y)); for singular J the shortest one that nearly satisfies the equation."""
    jacobian, rest = cones.jacobian[:, :-1], cones.jacobian[:, -1]
    try:
        found = np.asarray(np.linalg.solve(jacobian, rest), float)
        if np.abs(found).max() <= LONGEST * max(np.abs(cones.numbers[PULL]).max(), np.abs(rest).max()):
            return found
    except np.linalg.LinAlgError:
        pass
    weight = np.ones(len(rest))
    weight[:count][~cones.one_sided[:count]] = RODS
    return np.asarray(np.linalg.lstsq(weight[:, None] * jacobian, weight * rest, rcond=SAME)[0])


def _angles(cones: Cones, count: int, z: Floats) -> Floats:
    """(f, 2) angles of the slip velocity and of friction, from the first tangents."""
    slip = cones.numbers[RIGHT] - cones.compliance @ z
    return np.column_stack([np.arctan2(*x[count:].reshape(2, -1)[::-1]) for x in (slip, z)])


def _faceted(cones: Cones, count: int, angles: Floats) -> Floats | None:
    """The solution with polygonal limits whose corners are at ``angles`` (f, k) from the first tangents; None: there is
    none."""
    scale, first = np.sqrt(cones.numbers[STEP]), slice(count, count + len(angles))
    contact = cones.contact[first]
    coefficient = cones.friction[first] * scale[contact] / scale[first]
    matrix = scale[:, None] * cones.compliance * scale
    found = faceted(matrix, scale * cones.numbers[RIGHT], cones.one_sided[:count], contact, coefficient, angles)
    return None if found is None else np.asarray(scale * found)
