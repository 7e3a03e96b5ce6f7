"""Coulomb's friction of nodes on planes, together with all that pulls and pushes in an increment.

Beside the pulls p of lengths (``instants/complementarity.py``), each contact with a push p_n >= 0 has t along two
tangents of its plane, s = right - W (p, t) being the velocity of slipping there:

    |t| <= mu p_n;    s = 0 where |t| < mu p_n, else t = mu p_n s/|s|

With steps r > 0 and y = (p, t) - r (W (p, t) - right) all of it is one equation, (p, t) = P(y), where P leaves rods as
they are, cuts pushes and pulls off at 0, and the tangents of a contact at the length mu max(y_n, 0). Newton's method
solves it from the pulls without friction on; where it wanders, sweeps from contact to contact lead on. Where friction
holds both ends of a rod that all but lies in the plane, its rate may miss by what no force of usual size could change.
Sources: Alart & Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375; Jean, 177 (1999) 235-257.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.solve.ropes.instants.complementarity import EXACT, NoPulls, complementarity

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
