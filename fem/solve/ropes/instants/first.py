"""The first instant of an increment at which ropes change their state, all of them that do so then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fem.arrays import Flags, Floats
from fem.solve.ropes.slack import AWAY

MOST_ROOTS = 1000
"""Instants looked for in one increment, after which a curve of ropes has no first one."""
MOST_TRIALS = 200
"""Trial instants for one of them."""


class NoInstant(Exception):
    """The first instant was not found."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Ropes between two instants, their states kept.

    excess  (r,) function of the time since the first instant: how far ropes are beyond their states
    limit   (r,) excess from which on they change;  now (r,) excess at first;  taut (r,);  length (r,)
    held    (r,) time from now before which they do not change; sharp: shortest time that is told from none
    """

    excess: Callable[[float], Floats]
    limit: Floats
    now: Floats
    taut: Flags
    length: Floats
    held: Floats
    sharp: float

    def run(self, high: float) -> tuple[float, Flags]:
        """Time to the first change, at most ``high``, and which ropes change then; none: nothing changes up to then.

        A rope that was asked and changes at the instant found is out: the others may change there or before.
        """
        asked, after = np.zeros(len(self.now), np.bool_), self.excess(high)
        for _ in range(MOST_ROOTS):
            (late,) = np.nonzero((after > self.limit) & ~asked & (self.held < high))
            if high == 0.0 or (len(late) == 0 and not asked.any()):
                return high, asked
            if len(late) == 0:
                return high, asked | ((self.excess(high + self.sharp) > self.limit) & (self.held < high))
            r = int(late[0])
            root = self._root(r, high)
            if root < high - self.sharp:
                asked[:] = False
            asked[r], high = True, min(root, high)
            after = self.excess(high) if high > 0.0 else self.now
        raise NoInstant

    def _root(self, r: int, high: float) -> float:
        """When rope r changes its state, between now and ``high``; 0 where it does so at once."""
        from scipy.optimize import brentq

        def one(step: float) -> float:
            return float(self.excess(step)[r])

        bound = 0.0 if self.taut[r] else -AWAY * self.length[r] ** 2
        low, at_low = max(0.0, float(self.held[r])), float(self.now[r])
        if low > 0.0:
            at_low = one(low)
        if not at_low < bound:
            if self.taut[r]:
                return low
            # It has just left its length: the instant at which it comes back is asked for.
            low = 0.5 * high
            while low >= self.sharp and not (at_low := one(low)) < bound:
                high, low = low, 0.5 * low
            if low < self.sharp:  # it was never away
                return 0.0
        at_high = one(high)
        if at_high <= 0.0:
            return high
        values = {low: at_low, high: at_high}
        limits = {"xtol": 1e-2 * self.sharp, "rtol": 1e-14, "maxiter": MOST_TRIALS, "disp": False}
        root = brentq(lambda x: values.get(x) or one(x), low, high, **limits)
        return float(root) if root >= self.sharp else 0.0
