"""Pulls of ropes and rods, pushes and friction of contacts: their conditions, solved and verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, Matrix
from fem.assembly.equations import Independent
from fem.errors import ModelError
from fem.forces.bar import INV_LENGTH, heads
from fem.linear.factors import refine
from fem.solve.newton.groups import Loading, Motion
from fem.solve.rods import dense, gaps, over_independent
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

# The conditions of one-sided pulls, solved and verified.
#
#     0 <= p, W p >= right, one of the two with equality (ropes);  W p = right (rods)
#
# W is singular where lengths depend on each other: of all pulls the least are wanted then. W + s I has one answer; with
# it the load right + s p_k gives the next p_k+1 (proximal points), which tend to an exact one from the least pulls on.
# Sources: Judice & Pires, Comput. Oper. Res. 21 (1994) 587-596 (block principal pivoting); Rockafellar, SIAM J. Control
# Optim. 14 (1976) 877-898 (proximal points).

SHIFTS = (1e-13, 1e-7, 1e-10)
"""Fractions of the diagonal of W added to it, until one leads to an answer; the first gives one nearly at once."""
SAME = 1e-12
"""Fraction of the largest eigenvalue of W, or singular value, below which it counts as zero."""
POINTS = 12
"""Proximal points before another shift is tried."""
ZERO = 1e-12
"""Fraction of the largest pull or rate that is round-off."""
PATIENCE = 3
"""Rounds without progress after which one pull is changed at a time."""
LARGE = 1e8
"""Pulls beyond so many times what a lone bar would need come from round-off of lengths that depend on each other."""


class NoPulls(Exception):
    """No pulls fulfil the conditions; ``worst``: the row that is furthest off; ``bar``: whose it is, where known;
    ``why``: what to say of it, where it is not that it is pulled apart."""

    def __init__(self, worst: int, bar: int = -1, why: str = "") -> None:
        super().__init__()
        self.worst, self.bar, self.why = worst, bar, why


def complementarity(
    compliance: Floats, right: Floats, one_sided: Flags, noise: Floats | float = 0.0
) -> tuple[Floats, Flags]:
    """Pulls p with W p = right where they act; one-sided ones act only while p >= 0, else W p >= right.
    compliance (r, r), right (r,) known to ``noise``, one_sided (r,); returns p (r,) and which act (r,).
    NoPulls: there are none."""
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


def _least(matrix: Floats, load: Floats, pull: Floats, one_sided: Flags, allowed: Floats) -> Floats:
    """The least of all pulls of those that act, without what a shift left of round-off; as they are where it is not."""
    (at,) = np.nonzero(pull)
    found = np.zeros(len(pull))
    found[at] = np.linalg.lstsq(matrix[np.ix_(at, at)], load[at], rcond=SAME)[0]
    is_right = np.all(residual(matrix, load, found, one_sided) <= allowed) and np.all(found[one_sided] >= 0.0)
    return found if is_right else pull


def residual(compliance: Floats, right: Floats, pull: Floats, one_sided: Flags) -> Floats:
    """(r,) by how much each condition is missed."""
    rest = compliance @ pull - right
    return np.where(one_sided & (pull <= 0.0), np.maximum(-rest, -pull), np.abs(rest))


def _pivot(matrix: Floats, load: Floats, one_sided: Flags, first: Flags) -> tuple[Floats, Flags]:
    """The answer for a regular matrix, or the last guess where a hundred rounds a row do not find it."""
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


# Positions after increments that leave ropes too long: the nearest ones at which none is.
#
# With gaps g = (l^2 - L0^2)/2 and gradients G of rods and ropes, u moves by the least -M^-1 G^T mu for which
#
#     g = 0 for rods and ropes that hold;    g <= 0, mu >= 0, one of them zero for ropes that are let go
#
# which is no more than the local error of the increment. Velocities stay; energies are those of the new positions.
# Source: Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. IV.4 (projection methods).

CLOSED = 1e-13
"""Strain to which lengths are brought back."""
MOST_MOVES = 50


def move_to_nearest(stage: StepSystem, motion: Motion, now: Loading, mass: Matrix, may_shorten: Flags) -> None:
    """Move ``motion.u``, with the stored and potential energies that it has. NoPulls: nothing brings lengths back.

    stage            its ``bars.rods`` are the rods and the ropes that hold or are too long
    now              loads as of one increment that starts now
    may_shorten (r,) of these: the ropes that are let go
    """
    evaluate_start(stage, motion, now)
    try:
        _move(stage, motion, now, mass, may_shorten)
    except NoPulls as error:
        error.bar = int(heads(stage.bars)[error.worst])
        raise
    write_energies(stage, motion, now)


def _move(stage: StepSystem, motion: Motion, now: Loading, mass: Matrix, may_shorten: Flags) -> None:
    """Newton's iteration, with the gradients of its start."""
    square, network = 1.0 / stage.bars.constants[INV_LENGTH, heads(stage.bars)] ** 2, RopeNetwork(stage, mass)
    for _ in range(MOST_MOVES):
        gap, strain = gaps(stage)
        off = np.where(may_shorten, np.maximum(strain, 0.0), np.abs(strain))
        if off.max(initial=0.0) <= CLOSED:
            return
        pull, _ = complementarity(network.compliance, gap, may_shorten, CLOSED * square)
        motion.u[:] += network.change(pull)
        evaluate_start(stage, motion, now)
    raise NoPulls(int(off.argmax()))


# Pulls of rods and ropes at one instant: impulses of impacts, accelerations and tensions after them.
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


class RopeNetwork:
    """Rods and ropes of a stage that may pull (its ``bars.rods``), over the mass of the free dofs.
    The state must have been evaluated into ``stage.work``. ModelError where a rope is not tied to mass."""

    def __init__(self, stage: StepSystem, mass: Matrix) -> None:
        equations, free = stage.equations, stage.nodes.dof_kind
        if len(equations.slave) == 0:
            free = np.where((free == 1) & (stage.system.inertia <= 0.0), 0, free)
        self.dofs = Independent(free, equations)
        self.rows = dense(over_independent(stage, free))
        self.solve = _solver(self.dofs.matrix(mass))
        self.answer: Floats = self.solve(self.rows.T)
        self.compliance: Floats = self.rows @ self.answer
        if np.any(np.diag(self.compliance) <= 0.0):
            e = int(heads(stage.bars)[int(np.argmin(np.diag(self.compliance)))])
            raise ModelError(
                f"{stage.system.name_bar(e)} is a rope or rod without mass at its free nodes: give them mass "
                "(*DENSITY, *MASS)"
            )

    def change(self, pull: Floats) -> Floats:
        """- M^-1 G^T pull over all dofs (3n,)."""
        return self.dofs.spread(-self.answer @ pull)


def _solver(matrix: Matrix) -> Callable[[Floats], Floats]:
    """M^-1 as a function, its answers checked (``refine``); ModelError where M is singular."""
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


# Ropes that repeat each other: which of them the march follows, and how all of them share the pull.
#
# Two ropes between the same nodes, or four that hold one node in space, pull with a force that is known while their
# pulls are not. With the gradients g of lengths and pulls p > 0 that are in force, a rope whose gradient depends on
# those of others, g = sum c_i g_i, hands its pull on to them, p_i + p c_i, or takes the place of the one that would
# have to push first (Caratheodory). What is left determines the motion; of all pulls with the same force those are
# reported whose squares have the least sum.

DEPENDENT = 1e-8
"""Fraction of a gradient outside the span of others below which it depends on them."""
SAME_FORCE = 1e-9
"""Fraction of a force that sharing may change."""


def independent(rows: Floats, pull: Floats, acts: Flags, one_sided: Flags, first: Flags) -> tuple[Flags, Floats]:
    """Which of the ropes and rods that act (r,) carry their force alone, and with which pulls (r,).
    rows (r, n)   gradients over the independent dofs
    first (r,)    ropes that come before the others"""
    pull = np.where(acts, pull, 0.0)
    basis = acts & ~one_sided
    ropes = np.flatnonzero(acts & one_sided)
    for r in ropes[np.lexsort((-pull[ropes], ~first[ropes]))].tolist():
        (at,) = np.nonzero(basis)
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
    """Which of the chosen rows (r,) depend on none of those that stay (r,): what these leave open is not theirs."""
    found, base = chosen.copy(), rows[stays].T
    for r in np.flatnonzero(chosen).tolist():
        rest = rows[r] - base @ np.linalg.lstsq(base, rows[r], rcond=None)[0]
        found[r] = np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(rows[r])
    return found


def shared(rows: Floats, pull: Floats, one_sided: Flags, length: Floats) -> Floats:
    """Multipliers (r,) with the force of ``pull`` whose forces along the bars have the least sum of squares.
    rows (r, n), length (r,); ropes do not push. Where round-off is in the way ``pull`` itself."""
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


# Coulomb's friction of nodes on planes, together with all that pulls and pushes in an increment.
#
# Beside the pulls p of lengths, each contact with a push p_n >= 0 has t along two tangents of its plane,
# s = right - W (p, t) being the velocity of slipping there:
#
#     |t| <= mu p_n;    s = 0 where |t| < mu p_n, else t = mu p_n s/|s|
#
# With steps r > 0 and y = (p, t) - r (W (p, t) - right) all of it is one equation, (p, t) = P(y), where P leaves rods
# as they are, cuts pushes and pulls off at 0, and the tangents of a contact at the length mu max(y_n, 0). Newton's
# method (``cones.py``) solves it from the pulls without friction on; where it wanders, from those of friction with a
# limit of a few sides (``facets.py``), of more and more. Where friction holds both ends of a rod that all but lies in
# the plane, its rate may miss by what no force of usual size could change.
# Sources: Alart & Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375; Jean, 177 (1999) 235-257.

RODS, HELD = 1e-4, 1e7
"""Weight of the rates of rods where not all conditions can hold; times round-off by which they may miss there: 1e-4 of
the velocities, the inclination to a plane that is lost in singular values below ``SAME``."""
SIDES, TURNS = 8, 12
"""of the limit of friction whose pulls it begins from; so often, with corners added where it was left."""
ROUGH = 1e-3
"""After all turns a fraction of the largest rate will do: nodes creep at most so fast where friction holds rods."""
CREEPS = (
    f"in some increments friction that holds both ends of rods is accurate only to {ROUGH:g} of the largest rate: "
    "nodes that stick may creep at that rate"
)
JAMS = "friction jams {}: no finite impulses let it go where it is pushed; less FRICTION= does"
UNFOUND = "no impulses with friction were found, least of all at {}"
LONGEST = 1e4
"""Steps of Newton's method so many times longer than the answer show a singular matrix."""


class Slips(NamedTuple):
    """Tangents of contacts with friction: the first one of each, then the second one of each.

    contact, coefficient (2f,)  which of the lengths that may pull it belongs to; mu
    rows (2f, 3n), reduced (2f, q)  gradients over all dofs and over the independent ones
    """

    contact: Ints
    coefficient: Floats
    rows: Floats
    reduced: Floats


def impulses(compliance: Floats, right: Floats, one_sided: Flags, slips: Slips, noise: Floats) -> tuple[Floats, bool]:
    """(c + 2f,) pulls of lengths, of which some are one-sided (c,), then those along tangents; whether nodes creep.
    NoPulls: none found.
    compliance (c + 2f, c + 2f), right (c + 2f,), known to ``noise``"""
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
    """What to take from z: J^-1 (z - P(y)), of a singular J the least that all but fulfils it."""
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
    """(f, 2) of the velocity of slipping and of friction, from first tangents."""
    slip = cones.numbers[RIGHT] - cones.compliance @ z
    return np.column_stack([np.arctan2(*x[count:].reshape(2, -1)[::-1]) for x in (slip, z)])


def _faceted(cones: Cones, count: int, angles: Floats) -> Floats | None:
    """The answer with limits whose corners are at ``angles`` (f, k) from first tangents; None: there is none."""
    scale, first = np.sqrt(cones.numbers[STEP]), slice(count, count + len(angles))
    contact = cones.contact[first]
    coefficient = cones.friction[first] * scale[contact] / scale[first]
    matrix = scale[:, None] * cones.compliance * scale
    found = faceted(matrix, scale * cones.numbers[RIGHT], cones.one_sided[:count], contact, coefficient, angles)
    return None if found is None else np.asarray(scale * found)
