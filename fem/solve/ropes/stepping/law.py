"""How fast ropes and rods may lengthen at the end of an increment that steps over impacts.

With G the mean gradients of the increment, vbar = (v + v1)/2, w the relative velocity of two ends and s = d.w the rate
of a length:

    an increment without impacts   G vbar <= 0: the length of what pulls stays as it was, nothing is lost
    one with an impact             s1 <= - c s where a slack rope arrives with s > 0, else s1 <= 0; but G vbar >= 0
                                   where something pulls: impulses take dt lambda.(G vbar) and never give any

s1 = G v1 + (d1 - d).w1/2 and G vbar = (G v + G v1)/2 are linear in G v1. Friction ends slipping: T v1 = 0.
Supports move by dt vbar and a little more, dt ``lag``: what that does to lengths the correction of positions undoes,
and its energy is work of the supports.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.solve.newton.groups import Loading
from fem.solve.ropes.stepping.lengths import Lengths

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
