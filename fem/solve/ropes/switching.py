"""Which ropes are taut from one instant to the next, and what is told of it.

At one instant a rope goes slack once. One that is too long at once when slack, or is taut again within ``ZENO`` of an
increment, is held taut for so long, twice as long each time, while no impact loosens it: what round-off leaves open
cannot go back and forth for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.mechanics.bar import RESTITUTION
from fem.solve.newton.groups import Motion
from fem.solve.rods.constraints import SAME_LENGTH
from fem.solve.ropes.instants.change import Change, Instant
from fem.solve.ropes.states import Stages
from fem.solve.ropes.watched import Watched
from fem.solve.stage import loading
from fem.solve.start import small_or_sparse_mass

if TYPE_CHECKING:
    from fem.solve.marching import Marching

ZENO = 1e-3
"""Share of an increment: a rope whose impacts follow each other faster than that stays taut."""
ALLOWED = 1e-10
"""Strain by which a slack rope may be too long before it has moved away from its length."""


class States(NamedTuple):
    """Of the ropes (r,): taut; basis: the taut ones that the march follows, the others repeat them; allowance as in
    ``Ropes``; last_impact, last_taut: when they met an impact, became taut; held: up to when they stay taut.

    spare (1,) energy that instants took and no event has told of yet
    """

    taut: Flags
    basis: Flags
    allowance: Floats
    last_impact: Floats
    last_taut: Floats
    held: Floats
    spare: Floats


class Switched(Watched):
    """Ropes that change their states at instants.

    holds (r,)          how often each rope was held in this increment
    let_go, stuck (r,)  ropes that went slack at this instant; that came back at once
    """

    def __init__(self, marching: Marching, stages: Stages) -> None:
        super().__init__(marching, stages)
        count = len(stages.ropes)
        self.restitution: Floats = stages.first.bars.constants[RESTITUTION, stages.ropes]
        never = np.full(count, -np.inf)
        self.states = States(
            self.taut, self.taut.copy(), self.ropes.allowance, never, never.copy(), never.copy(), np.zeros(1)
        )
        self.holds: Ints = np.zeros(count, np.int64)
        self.let_go: Flags = np.zeros(count, np.bool_)
        self.stuck: Flags = np.zeros(count, np.bool_)
        self.mass = small_or_sparse_mass(stages.first)

    def _change(self, motion: Motion, now: float, released: Flags, stuck: Flags) -> None:
        """The event itself, at ``now``. released (r,): taut ropes that go slack.

        stuck (r,): slack ones that are back at their length before they can be seen to have left it
        """
        states, before, gap, square = self.states, self.taut.copy(), self._gaps(motion), self.length**2
        near = self.can_pull & (before | (gap > -SAME_LENGTH * square))
        stage = self.stages.of(near)
        chunk = loading(stage, motion, np.array([now, now]), np.ones(1))
        moment = ZENO * self.marching.clock.dt
        has_bounced = now - states.last_impact < moment
        self.stuck |= stuck
        self.let_go[:] = (self.let_go | released) & ~self.stuck
        instant = Instant(self.stages, motion, chunk, now, before, states.basis, near, self.mass)
        slowest = np.where(has_bounced, ALLOWED * square / moment, 0.0)
        found = instant.run(
            self.let_go, self.stuck, states.held > now, slowest, np.where(has_bounced, 0.0, self.restitution),
            self.length,
        )  # fmt: skip
        self.taut[:], states.basis[:] = found.taut, found.basis
        states.last_impact[found.struck] = now
        self._hold(now, moment, self.stuck, found.taut & ~before)
        rest = np.where(near & ~states.basis, np.maximum(gap, 0.0) + ALLOWED * square, 0.0)
        self.ropes.allowance[:] = rest
        self.marching.stage = self.stages.of(states.basis)
        self._list(now, before, found, has_bounced & (self.restitution > 0.0))

    def _refuse_lasting(self, at: Flags, at_once: bool) -> None:
        """Failed where ropes (r,) that change now cannot keep their lengths in any state."""
        if np.any(at & ~self.can_pull):
            raise self._given_up(f"supports pull {self._names(at & ~self.can_pull)} longer than it may be")
        lasting = at & self.stuck & at_once
        if lasting.any():
            raise self._given_up(
                f"no finite pull keeps {self._names(lasting)} at its length: it is straight between others, across the "
                "forces that act"
            )

    def _hold(self, now: float, moment: float, stuck: Flags, fresh: Flags) -> None:
        """Hold ropes that are stuck, or were taut a moment ago and are so again. fresh (r,): those that became taut."""
        states = self.states
        again = self.taut & (stuck | (fresh & (now - states.last_taut < moment)))
        states.held[again] = now + moment * 2.0 ** self.holds[again]
        self.holds[again] += 1
        states.last_taut[fresh] = now
        states.held[~self.taut] = -np.inf

    def _list(self, now: float, before: Flags, found: Change, at_last: Flags) -> None:
        """Note what happened to each rope; at_last (r,): its impacts have come to an end.

        Energy that no event tells of goes with the first one of this instant, or else of the next.
        """
        happened, spare = [], self.states.spare
        spare += found.hidden
        for r in range(len(self.taut)):
            what = ""
            if found.struck[r]:
                what = "taut" if at_last[r] and found.taut[r] else "impact"
            elif found.taut[r] != before[r]:
                what = "taut" if found.taut[r] else "slack"
            if what:
                happened.append((r, what))
            else:
                spare += found.loss[r]
        for r, what in happened:
            told = max(float(spare[0]), 0.0)
            self._happens(now, r, what, float(found.loss[r]) + told)
            spare[0] -= told
