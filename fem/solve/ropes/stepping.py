"""How fast ropes and rods may lengthen at the end of an increment that steps over impacts.

With G the mean gradients of the increment, vbar = (v + v1)/2, w the relative velocity of two ends and s = d.w the rate
of a length:

    an increment without impacts   G vbar <= 0: the length of what pulls stays as it was, nothing is lost
    one with an impact             s1 <= - c s where a slack rope arrives with s > 0, else s1 <= 0; but G vbar >= 0
                                   where something pulls: impulses take dt lambda.(G vbar) and never give any

s1 = G v1 + (d1 - d).w1/2 and G vbar = (G v + G v1)/2 are linear in G v1. Friction ends slipping: T v1 = 0.
Supports move by dt vbar and a little more, dt ``lag``: what that does to lengths the correction of positions undoes,
and its energy is work of the supports.

Energy balance of an increment that steps over impacts: no energy rises by itself, and every loss has its rope.

Coulomb's friction of nodes on planes, together with all that pulls and pushes in an increment.

Beside the pulls p of lengths (``complementarity.py``), each contact with a push p_n >= 0 has t along two
tangents of its plane, s = right - W (p, t) being the velocity of slipping there:

    |t| <= mu p_n;    s = 0 where |t| < mu p_n, else t = mu p_n s/|s|

With steps r > 0 and y = (p, t) - r (W (p, t) - right) all of it is one equation, (p, t) = P(y), where P leaves rods as
they are, cuts pushes and pulls off at 0, and the tangents of a contact at the length mu max(y_n, 0). Newton's method
solves it from the pulls without friction on; where it wanders, sweeps from contact to contact lead on. Where friction
holds both ends of a rod that all but lies in the plane, its rate may miss by what no force of usual size could change.
Sources: Alart & Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375; Jean, 177 (1999) 235-257.

Lengths of the ropes and rods of a step: gaps, gradients over the independent dofs, relative motion of their ends.

And the tangents of planes with friction, along which nodes may slip.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.equations import Independent
from fem.compiled import kernel
from fem.forces import bar
from fem.forces.laws import LINEAR
from fem.solve.newton.balance import close_increment, note_increment
from fem.solve.newton.evaluate import multiply_dampings, multiply_masses, stored_energy
from fem.solve.newton.groups import ENERGY, Loading, Passage
from fem.solve.ropes.complementarity import EXACT, NoPulls, complementarity
from fem.solve.ropes.states import gaps_of
from fem.solve.step_system import StepSystem

SLOW = 1e-10
"""Fraction of the largest velocity below which a rope becomes taut without an impact."""


class Law:
    """The bounds of one increment for the ropes and rods ``near`` (c,), which slip along the tangents ``slips``.

    holds, one_sided, restitution (c,)  kept their length up to now; are ropes;  v0 (3n,) first velocities
    comes, arrives (c,)  come to their length with a speed; meet an impact
    """

    def __init__(
        self, lengths: Lengths, near: Ints, u: Floats, v0: Floats, holds: Flags, one_sided: Flags, restitution: Floats
    ) -> None:
        self.lengths, self.near, self.v0, self.restitution = lengths, near, v0, restitution
        self.one_sided, self.slips = one_sided, lengths.slips(near, len(u))
        self.whose = np.concatenate([np.arange(len(near)), self.slips.contact])
        rows, _ = lengths.gradients(near, u)
        self.rate: Floats = rows @ v0
        speed = np.sqrt(lengths.square[near]) * float(np.abs(v0).max(initial=0.0))
        self.comes: Flags = one_sided & ~holds & (self.rate > SLOW * speed)
        self.arrives = self.comes.copy()
        self.start = lengths.relative(near, u)

    def gradients(self, u: Floats) -> tuple[Floats, Floats]:
        """G, then T, at u: over all dofs (c + 2f, 3n), and over the independent ones."""
        both = zip(self.lengths.gradients(self.near, u), (self.slips.rows, self.slips.reduced), strict=True)
        rows, reduced = (np.concatenate(parts) if len(parts[1]) else parts[0] for parts in both)
        return rows, reduced

    def bound(self, rows: Floats, u1: Floats, v1: Floats) -> Floats:
        """(c + 2f,) what G v1 may be at most (rods, and T v1 without sliding: is), given how the last guess ends."""
        return np.append(self._bound(rows[: len(self.near)], u1, v1), np.zeros(len(self.slips.contact)))

    def _bound(self, rows: Floats, u1: Floats, v1: Floats) -> Floats:
        still = -(rows @ self.v0)
        if not self.arrives.any():
            return np.asarray(still)
        moved = self.lengths.relative(self.near, u1) - self.start
        turn = 0.5 * self.lengths.sense[self.near] * (moved * self.lengths.relative(self.near, v1)).sum(1)
        wanted = -turn - np.where(self.arrives, self.restitution * self.rate, 0.0)
        return np.asarray(np.where(self.one_sided, np.maximum(wanted, still), wanted))


def support_lag(k: int, chunk: Loading, u: Floats, v0: Floats) -> Floats:
    """(3n,) mean velocity of supports in increment k, as they move, less the mean of those at its ends."""
    lag, supports = np.zeros(len(u)), chunk.support_dofs
    moved = (chunk.support_u[k] - u[supports]) / chunk.dt[k]
    lag[supports] = moved - 0.5 * (v0[supports] + chunk.support_v[k])
    return lag


@kernel
def close_with_losses(k: int, iterations: int, strain: float, lost: float, through: Passage) -> float:
    """Increment k into the balance and its row; lost: energy that impulses took. Returns the energy error."""
    problem, loading, motion = through.problem, through.loading, through.motion
    error: float = close_increment(through.scheme, k, strain, problem, loading, motion, through.work)
    motion.energies[ENERGY.dissipated] += lost
    error += lost
    thermal = loading.thermal_end[min(k + 1, loading.thermal_end.shape[0] - 1)]
    note_increment(k, iterations, 0.0, 0.0, 0, error, problem, thermal, motion, through.record)
    return error


def put_in(k: int, stage: StepSystem, through: Passage, move: Floats, strain: float) -> tuple[float, float]:
    """Stored energy of the positions that ``move`` (3n,) has corrected, and what that put in, also against drag.

    strain: stored energy before
    """
    chunk, motion, work = through.loading, through.motion, through.work
    thermal = chunk.thermal_end[min(k + 1, len(chunk.thermal_end) - 1)]
    ends = stored_energy(float(chunk.time[k]), float(chunk.time[k + 1]), thermal, stage.problem, motion, work)
    now, mean = chunk.factors[k + 1], 0.5 * (chunk.factors[k] + chunk.factors[k + 1])
    given = ends - strain - float((np.where(chunk.is_gravity == 1, now, mean) @ chunk.vectors) @ move)
    if len(work.flow):
        way = work.u - motion.u
        loss = float(work.flow @ way)
        given += (max(loss, 0.0) if stage.problem.is_passive else loss) - float(work.flow @ (way - move))
    if len(stage.nodes.damping):
        multiply_dampings(stage.problem, 0.5 * (motion.v + work.v), work.momentum)
        given += float(work.momentum @ move)
    return ends, given


QUICKER = 1e-2
"""Fraction of the kinetic energy that may be given back to the motion of an increment."""


def take_from_motion(stage: StepSystem, energy: float) -> float:
    """Take energy from the velocities (a negative one is given back), as far as they have it; how much it was."""
    work = stage.work
    multiply_masses(stage.problem, work.v, work.momentum)
    kinetic = 0.5 * float(work.v @ work.momentum)
    taken = min(max(energy, -QUICKER * kinetic), kinetic)
    if kinetic > 0.0:
        work.v[:] *= np.sqrt(1.0 - taken / kinetic)
    return taken


RODS, HELD = 1e-4, 1e7
"""Weight of the rates of rods where not all conditions can hold; times round-off by which they may miss there: 1e-4 of
the velocities, the inclination to a plane that is lost in singular values below ``SAME``."""
ROUNDS, STEPS, SWEEPS = 8, 8, 20
"""Newton's method is begun anew, takes so many steps, and is led by so many sweeps, by twice as many the next time."""
PATIENCE, ROUGH = 3, 1e-3
"""Rounds after which a fraction of the largest rate will do: nodes creep at most so fast where friction holds rods."""
CREEPS = (
    f"friction that holds both ends of rods is found to {ROUGH:g} of the largest rate only, in some increments: nodes "
    "that stick may creep so fast"
)
SAME = 1e-12
"""Singular values below this fraction of the largest one are zero: friction at several nodes of a rod is shared."""
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

    compliance (c + 2f, c + 2f), right (c + 2f,), known to ``noise``
    """
    count = len(one_sided)
    swept = np.zeros(len(right))
    swept[:count] = complementarity(compliance[:count, :count], right[:count], one_sided, noise[:count])[0]
    if len(right) == count:
        return swept, False
    cones = Cones(compliance, right, one_sided, slips)
    size = float((np.sqrt(cones.step) * np.abs(right)).max())
    allowed = EXACT * size + np.sqrt(cones.step) * noise
    allowed[:count][~one_sided] *= HELD
    best, off = swept, np.full(len(right), np.inf)
    for turn in range(ROUNDS):
        found = swept.copy()
        for _ in range(STEPS):
            rest = cones.rest(found)
            now = np.abs(rest) / np.sqrt(cones.step) - allowed
            if now.max() <= 0.0:
                return found, False
            if now.max() < off.max():
                best, off = found, now
            found = found - cones.newton(found, rest)
        if turn >= PATIENCE and off.max() <= ROUGH * size:
            return best, True
        for _ in range(SWEEPS << turn):
            cones.sweep(swept)
    worst = int(off.argmax())
    raise NoPulls(worst if worst < count else int(slips.contact[worst - count]))


class Cones:
    """The equation z = P(z - r (W z - right)) of z = (p, t); step: r, the same for both tangents of a contact."""

    def __init__(self, compliance: Floats, right: Floats, one_sided: Flags, slips: Slips) -> None:
        self.right, self.slips, self.count = right, slips, len(one_sided)
        self.bounded = np.flatnonzero(one_sided)
        half = len(slips.contact) // 2
        self.tangents = self.count + np.arange(2 * half).reshape(2, half)
        self.contact, self.coefficient = slips.contact[:half], slips.coefficient[:half]
        diagonal = np.diag(compliance).copy()
        # A direction in which neither may move (that across a plane model) is left alone.
        still = (diagonal <= 0.0) & (right == 0.0)
        normal = np.concatenate([diagonal[: self.count], diagonal[slips.contact]])
        self.matrix = compliance + np.diag(np.where(still, normal, 0.0))
        size = np.diag(self.matrix).copy()
        size[self.tangents] = size[self.tangents].sum(axis=0)
        self.step: Floats = 1.0 / np.where(size > 0.0, size, normal)

    def rest(self, z: Floats) -> Floats:
        """z - P(y)."""
        found = z - self.step * (self.matrix @ z - self.right)
        found[self.tangents] *= self._cut(found)[2]
        found[self.bounded] = np.maximum(found[self.bounded], 0.0)
        return np.asarray(z - found)

    def _cut(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Lengths of the tangents of each contact (f,), the most they may have, and the fraction that stays."""
        size = np.hypot(*y[self.tangents])
        most = self.coefficient * np.maximum(y[self.contact], 0.0)
        return size, most, np.where(size > most, most / np.where(size > 0.0, size, 1.0), 1.0)

    def newton(self, z: Floats, rest: Floats) -> Floats:
        """What to take from z: J^-1 rest, J = 1 - dP/dy (1 - r W)."""
        y = z - self.step * (self.matrix @ z - self.right)
        turned = np.eye(len(z)) - self.step[:, None] * self.matrix
        moved = turned.copy()
        moved[self.bounded[y[self.bounded] <= 0.0]] = 0.0
        size, most, fraction = self._cut(y)
        slides = np.flatnonzero(size > most)
        at, way = self.tangents[:, slides], y[self.tangents[:, slides]] / size[slides]
        along = np.einsum("ak,akj->kj", way, turned[at])
        push = np.where(most[slides] > 0.0, self.coefficient[slides], 0.0)[:, None] * turned[self.contact[slides]]
        for axis in range(2):
            across = turned[at[axis]] - way[axis][:, None] * along
            moved[at[axis]] = fraction[slides][:, None] * across + way[axis][:, None] * push
        jacobian = np.eye(len(z)) - moved
        try:
            found = np.linalg.solve(jacobian, rest)
            if np.abs(found).max() <= LONGEST * max(np.abs(z).max(), np.abs(rest).max()):
                return found
        except np.linalg.LinAlgError:
            pass
        weight = np.ones(len(z))
        weight[: self.count] = RODS
        weight[self.bounded] = 1.0
        return np.asarray(np.linalg.lstsq(weight[:, None] * jacobian, weight * rest, rcond=SAME)[0])

    def sweep(self, z: Floats) -> None:
        """One length, then one contact after the other to what fits the others."""
        bounded = np.zeros(self.count, np.bool_)
        bounded[self.bounded] = True
        for i in range(self.count):
            z[i] -= self.step[i] * (self.matrix[i] @ z - self.right[i])
            z[i] = max(z[i], 0.0) if bounded[i] else z[i]
        for k, at in enumerate(self.tangents.T):
            y = z[at] - self.step[at] * (self.matrix[at] @ z - self.right[at])
            size, most = float(np.hypot(*y)), self.coefficient[k] * max(z[self.contact[k]], 0.0)
            z[at] = y * (most / size if size > most else 1.0)


class Lengths:
    """Of bars ``index`` (c,) of a stage, all of which may pull. square (c,) lengths squared; sense (c,) -1: stops."""

    def __init__(self, stage: StepSystem, index: Ints) -> None:
        bars = stage.bars
        self.index, self.bars = index, bars
        self.square: Floats = 1.0 / bars.constants[bar.INV_LENGTH, index] ** 2
        self.sense: Floats = bar.senses(bars, index)
        self.is_linear = bars.kinds[index, 0] == LINEAR
        self.dofs = Independent(stage.nodes.dof_kind, stage.equations)

    def gaps(self, u: Floats) -> Floats:
        """(l^2 - L0^2)/2, of stops minus that."""
        return gaps_of(self.bars, self.index, u)

    def relative(self, chosen: Ints, x: Floats) -> Floats:
        """(c, 3) x_j - x_i of some of them; zero where the bar is geometrically linear."""
        ends = x.reshape(-1, 3)[self.bars.nodes[self.index[chosen]]]
        return np.where(self.is_linear[chosen, None], 0.0, ends[:, 1] - ends[:, 0])

    def gradients(self, chosen: Ints, u: Floats) -> tuple[Floats, Floats]:
        """G of some of them at u: over all dofs (c, 3n), and over the independent ones."""
        e, w = self.index[chosen], self.relative(chosen, u)
        first = np.where(self.is_linear[chosen], bar.BASE, bar.REF)
        way = np.stack([self.bars.constants[first + c, e] + w[:, c] for c in range(3)], axis=1)
        return self._spread(e, self.sense[chosen][:, None] * way, len(u))

    def slips(self, chosen: Ints, size: int) -> Slips:
        """Those of the planes with friction among some of them; size: number of dofs.

        The first tangent lies across the axis that the normal is least along: in plane models the second lies in them.
        """
        mu = self.bars.constants[bar.FRICTION, self.index[chosen]]
        (rubs,) = np.nonzero(mu > 0.0)
        e = np.tile(self.index[chosen[rubs]], 2)
        normal = self.bars.constants[bar.BASE : bar.BASE + 3, e[: len(rubs)]].T
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        first = np.cross(normal, np.eye(3)[np.abs(normal).argmin(axis=1)])
        first *= length / np.linalg.norm(first, axis=1, keepdims=True)
        rows, reduced = self._spread(e, np.concatenate([first, np.cross(normal, first) / length]), size)
        return Slips(np.tile(rubs, 2), np.tile(mu[rubs], 2), rows, reduced)

    def _spread(self, e: Ints, way: Floats, size: int) -> tuple[Floats, Floats]:
        """Gradients of bars e from those at their second nodes (c, 3)."""
        rows, at, ends, dofs = np.zeros((len(e), size)), np.arange(len(e)), 3 * self.bars.nodes[e], self.dofs
        for c in range(3):
            rows[at, ends[:, 1] + c] += way[:, c]
            rows[at, ends[:, 0] + c] -= way[:, c]
        return rows, rows[:, dofs.unknown] if dofs.transform is None else rows @ dofs.transform
