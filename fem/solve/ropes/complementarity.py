"""The conditions of one-sided pulls, solved and verified.

    0 <= p, W p >= right, one of the two with equality (ropes);  W p = right (rods)

W is singular where lengths depend on each other: of all pulls the least are wanted then. W + s I has one answer; with
it the load right + s p_k gives the next p_k+1 (proximal points), which tend to an exact one from the least pulls on.
Sources: Judice & Pires, Comput. Oper. Res. 21 (1994) 587-596 (block principal pivoting); Rockafellar, SIAM J. Control
Optim. 14 (1976) 877-898 (proximal points).

Positions after increments that leave ropes too long: the nearest ones at which none is.

With gaps g = (l^2 - L0^2)/2 and gradients G of rods and ropes, u moves by the least -M^-1 G^T mu for which

    g = 0 for rods and ropes that hold;    g <= 0, mu >= 0, one of them zero for ropes that are let go

which is no more than the local error of the increment. Velocities stay; energies are those of the new positions.
Source: Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. IV.4 (projection methods).

Pulls of rods and ropes at one instant: impulses of impacts, accelerations and tensions after them.

With G the gradients of the lengths, W = G M^-1 G^T and pulls p along rods and ropes:

    impact          G v+ = G v- - W p,  rods: G v+ = 0;  ropes: 0 <= p, G v+ <= - c (G v-)+, one of them zero
    accelerations   G a + |v_j - v_i|^2 = 0 for rods, <= 0 for ropes that stay at their length, 0 <= tension, one zero

The energy lost to an impact is p.(G v- + G v+)/2, rope by rope.
Sources: Moreau, Comput. Methods Appl. Mech. Eng. 177 (1999) 329-349; Pfeiffer & Glocker, Multibody Dynamics with
Unilateral Contacts (1996).

Ropes that repeat each other: which of them the march follows, and how all of them share the pull.

Two ropes between the same nodes, or four that hold one node in space, pull with a force that is known while their
pulls are not. With the gradients g of lengths and pulls p > 0 that are in force, a rope whose gradient depends on
those of others, g = sum c_i g_i, hands its pull on to them, p_i + p c_i, or takes the place of the one that would have
to push first (Caratheodory). What is left determines the motion; of all pulls with the same force those are told whose
squares have the least sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Flags, Floats
from fem.assembly.equations import Independent
from fem.errors import ModelError
from fem.forces.bar import INV_LENGTH
from fem.solve.linear.sparse.factors import refine
from fem.solve.newton.groups import Loading, Motion
from fem.solve.rods.constraints import dense, gaps, over_independent
from fem.solve.start import evaluate_start, write_energies
from fem.solve.step_system import StepSystem

SHIFTS = (1e-13, 1e-7, 1e-10)
"""Shares of the diagonal of W added to it, until one of them leads to an answer; the first gives one nearly at once."""
SAME = 1e-12
"""Fraction of the largest eigenvalue of W below which it counts as zero."""
POINTS = 12
"""Proximal points before another shift is tried."""
ZERO = 1e-12
"""Fraction of the largest pull or rate that is round-off."""
PATIENCE = 3
"""Rounds without progress after which one pull is changed at a time."""
EXACT = 1e-10
"""Fraction of the largest load by which an answer may be off."""
LARGE = 1e8
"""Pulls beyond so many times what a lone bar would need come from round-off of lengths that depend on each other."""


class NoPulls(Exception):
    """No pulls fulfil the conditions; ``worst``: the row that is furthest off; ``bar``: whose it is, where known."""

    def __init__(self, worst: int) -> None:
        super().__init__()
        self.worst, self.bar = worst, -1


def complementarity(
    compliance: Floats, right: Floats, one_sided: Flags, noise: Floats | float = 0.0
) -> tuple[Floats, Flags]:
    """Pulls p with W p = right where they act; one-sided ones act only while p >= 0, else W p >= right.

    compliance (r, r), right (r,) known to ``noise``, one_sided (r,); returns p (r,) and which act (r,).
    NoPulls: there are none.
    """
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


CLOSED = 1e-13
"""Strain to which lengths are brought back."""
MOST_MOVES = 50


def move_to_nearest(stage: StepSystem, motion: Motion, now: Loading, mass: Any, may_shorten: Flags) -> None:
    """Move ``motion.u``, with the stored and potential energies that it has. NoPulls: nothing brings lengths back.

    stage            its ``bars.rods`` are the rods and the ropes that hold or are too long
    now              loads as of one increment that starts now
    may_shorten (r,) of these: the ropes that are let go
    """
    evaluate_start(stage, motion, now)
    try:
        _move(stage, motion, now, mass, may_shorten)
    except NoPulls as error:
        error.bar = int(stage.bars.rods[error.worst])
        raise
    write_energies(stage, motion, now)


def _move(stage: StepSystem, motion: Motion, now: Loading, mass: Any, may_shorten: Flags) -> None:
    """Newton's iteration, with the gradients of its start."""
    square, network = 1.0 / stage.bars.constants[INV_LENGTH, stage.bars.rods] ** 2, Network(stage, mass)
    for _ in range(MOST_MOVES):
        gap, strain = gaps(stage)
        off = np.where(may_shorten, np.maximum(strain, 0.0), np.abs(strain))
        if off.max(initial=0.0) <= CLOSED:
            return
        pull, _ = complementarity(network.compliance, gap, may_shorten, CLOSED * square)
        motion.u[:] += network.change(pull)
        evaluate_start(stage, motion, now)
    raise NoPulls(int(off.argmax()))


MASSLESS = (
    "the mass matrix of nodes with ropes is singular: give them mass (*DENSITY, *MASS), or MASS=LUMPED or CONSISTENT "
    "in *SOLID SECTION"
)


class Network:
    """Rods and ropes of a stage that may pull (its ``bars.rods``), over the mass of the free dofs.

    The state must have been evaluated into ``stage.work``. ModelError where a rope is not tied to mass.
    """

    def __init__(self, stage: StepSystem, mass: Any) -> None:
        equations, free = stage.equations, stage.nodes.dof_kind
        if len(equations.slave) == 0:
            free = np.where((free == 1) & (stage.system.inertia <= 0.0), 0, free)
        self.dofs = Independent(free, equations)
        self.rows = dense(over_independent(stage, free))
        self.solve = _solver(self.dofs.matrix(mass))
        self.answer: Floats = self.solve(self.rows.T)
        self.compliance: Floats = self.rows @ self.answer
        if np.any(np.diag(self.compliance) <= 0.0):
            e = int(stage.bars.rods[int(np.argmin(np.diag(self.compliance)))])
            raise ModelError(
                f"{stage.system.name_bar(e)} is a rope or rod without mass at its free nodes: give them mass "
                "(*DENSITY, *MASS)"
            )

    def change(self, pull: Floats) -> Floats:
        """- M^-1 G^T pull over all dofs (3n,)."""
        return self.dofs.spread(-self.answer @ pull)


def _solver(matrix: Any) -> Any:
    """M^-1 as a function, its answers checked (``refine``); ModelError where M is singular."""
    diagonal = matrix.diagonal()
    dense = isinstance(matrix, np.ndarray)
    count = np.count_nonzero(matrix) if dense else matrix.count_nonzero()
    if count == np.count_nonzero(diagonal):
        return lambda right: right / (diagonal if right.ndim == 1 else diagonal[:, None])
    if not dense:
        from scipy.sparse.linalg import splu
    try:
        inverse = np.linalg.inv(matrix) if dense else None
        once = splu(matrix.tocsc()).solve if inverse is None else inverse.__matmul__
    except (np.linalg.LinAlgError, RuntimeError) as error:
        raise ModelError(MASSLESS) from error

    def solve(right: Floats) -> Floats:
        found = refine(once, matrix, right)
        if found is None:
            raise ModelError(MASSLESS)
        return found

    return solve


DEPENDENT = 1e-8
"""Fraction of a gradient outside the span of others below which it depends on them."""
SAME_FORCE = 1e-9
"""Fraction of a force that sharing may change."""


def independent(rows: Floats, pull: Floats, acts: Flags, one_sided: Flags, first: Flags) -> tuple[Flags, Floats]:
    """Which of the ropes and rods that act (r,) carry their force alone, and with which pulls (r,).

    rows (r, n)   gradients over the independent dofs
    first (r,)    ropes that come before the others
    """
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


def outside(rows: Floats, stays: Flags, asked: Flags) -> Flags:
    """Which of the rows asked (r,) depend on none of those that stay (r,): what these leave open is not theirs."""
    found, base = asked.copy(), rows[stays].T
    for r in np.flatnonzero(asked).tolist():
        rest = rows[r] - base @ np.linalg.lstsq(base, rows[r], rcond=None)[0]
        found[r] = np.linalg.norm(rest) > DEPENDENT * np.linalg.norm(rows[r])
    return found


def shared(rows: Floats, pull: Floats, one_sided: Flags, length: Floats) -> Floats:
    """Multipliers (r,) with the force of ``pull`` whose forces along the bars have the least sum of squares.

    rows (r, n), length (r,); ropes do not push. Where round-off is in the way ``pull`` itself.
    """
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
