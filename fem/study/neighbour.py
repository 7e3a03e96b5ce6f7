"""Growth of a perturbation from two motions that are brought close to each other again and again.

Whatever the march does (impacts, slackness, any solver), it does to both. The second motion stays a possible one:

    positions   u2 = u1 + s (u2 - u1), then the least M^-1 G^T mu that gives every rod and taut rope its length
    velocities  likewise, then the least M^-1 G^T mu that leaves the same fraction of the rates of stretch G v: none but
                for schemes that keep lengths in the middle of increments only
    slack ropes a blend of two that are not too long is not, either; where s > 1 makes one too long, -s is taken

Ropes are in the same states in both when that is done: while only one of the two has met an impact it waits.
Source: Benettin, Galgani & Strelcyn, Phys. Rev. A 14 (1976) 2338-2345; with impacts: Stefanski, Chaos, Solitons &
Fractals 11 (2000) 2443-2451.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError
from fem.model import Model
from fem.runs.record import SilentSink
from fem.solve.newton.groups import Motion
from fem.solve.rods import gaps, multiply, solve_saddle
from fem.solve.start import evaluate_rods, small_or_sparse_mass
from fem.study.trajectory import NEVER, Trajectory, advance_to, size_of

UNIT = 1.0
"""Time in which displacements are counted as velocities, in the deck's unit."""
EVERY = 400
"""Increments until two motions are brought close again."""
CLOSE = 1e-7
"""Distance of two motions, as a fraction of the size of the model."""
VANISHED = 1e-14
"""Distance, as a fraction of the size of the model, that is no more than round-off."""
SEED = 20120612
EXACT, MOST_PASSES = 1e-15, 4
"""Strain of rods that is left, and how often they are moved to get there."""
BLENDED = ("u", "v", "a", "force", "reaction", "multiplier", "lagged")


class TwoGrowth:
    """Growth of the distance of two motions in the last step: ``second`` is brought close to ``trajectory``, the first,
    again and again, as far as they are followed.

    motions  two with the same start; None: both start as in the deck
    """

    def __init__(self, model: Model, every: int | None = None, motions: Sequence[Trajectory] | None = None) -> None:
        self.trajectory, self.second = motions or [Trajectory(model, SilentSink()) for _ in range(2)]
        self.close, self.vanished = CLOSE * size_of(model) / UNIT, VANISHED * size_of(model) / UNIT
        self.generator, self.every = np.random.default_rng(SEED), every or EVERY
        for trajectory in (self.trajectory, self.second):
            if not trajectory.last.has_begun:
                trajectory.open()
        self.mass: Any = small_or_sparse_mass(self.second.last.stage)
        self._since, self._begun, self._apart = 0, self.time, self._push()
        self._rows: list[tuple[float, float]] = []

    @property
    def rows(self) -> Floats:
        """(r, 2) logarithms of growth from one approach to the next, and the times between."""
        return np.array(self._rows).reshape(-1, 2)

    def follow(self, end: int = NEVER) -> None:
        """Go on up to this increment, or to the end of the step."""
        progress = self.trajectory.progress
        while progress.increment < end and not self.is_finished:
            count = min(max(self.every - self._since, 1), end - progress.increment)
            self.advance(count)
            self._since += count
            if self.is_finished or (self._since >= self.every and (self.is_alike or self._since >= 2 * self.every)):
                self._close()

    def advance(self, count: int) -> None:
        """Both go on by so many increments. CommandError: not by the same ones."""
        end = self.trajectory.progress.increment + count
        for trajectory in (self.trajectory, self.second):
            advance_to(trajectory.last, end)
        if self.time != self.second.progress.time:
            raise CommandError("the two motions take different increments: use *DYNAMIC, DIRECT")

    def _close(self) -> None:
        """A row; the two are brought close again."""
        grown = self.distance
        if grown <= self.vanished:
            raise CommandError(
                f"the two motions have become identical within {self.every} increments (an impact or strong damping "
                "removes all differences): use a smaller --every"
            )
        self._rows.append((np.log(grown / self._apart), self.time - self._begun))
        self._apart = self.bring_close(grown) if self.is_alike else self._begin_anew()
        self._since, self._begun = 0, self.time

    def _begin_anew(self) -> float:
        """The second is the first again, pushed: what to do with two that have parted for good."""
        here, there = self.trajectory.progress.motion, self.second.progress.motion
        for array, wanted in zip(there, here, strict=True):
            array[:] = wanted
        ours, theirs = self.trajectory.last.events, self.second.last.events
        if ours and theirs:
            theirs.take_over(ours)
        return self._push()

    @property
    def time(self) -> float:
        return self.trajectory.progress.time

    @property
    def is_finished(self) -> bool:
        return self.trajectory.last.clock.is_finished

    @property
    def is_alike(self) -> bool:
        """The same ropes are taut in both."""
        ours, theirs = self.trajectory.last.events, self.second.last.events
        return not (ours and theirs) or bool(np.array_equal(ours.taut, theirs.taut))

    @property
    def distance(self) -> float:
        here, there = self.trajectory.progress.motion, self.second.progress.motion
        return float(np.hypot(np.linalg.norm(there.u - here.u) / UNIT, np.linalg.norm(there.v - here.v)))

    def bring_close(self, grown: float) -> float:
        """Leave such a fraction of the difference that a distance ``grown`` becomes the first one again, nearly.
        Returns the distance as it then really is."""
        here, there = self.trajectory.progress.motion, self.second.progress.motion
        apart = [getattr(there, name) - getattr(here, name) for name in BLENDED]
        rates = [self._rates(motion) for motion in (here, there)]
        there.energies[:], there.memory[:] = here.energies, here.memory
        events = self.second.last.events
        if events and self.trajectory.last.events:
            events.join(self.trajectory.last.events)
        fraction = self.close / grown
        for chosen in (fraction, -fraction, 1.0):
            for name, difference in zip(BLENDED, apart, strict=True):
                getattr(there, name)[:] = getattr(here, name) + chosen * difference
            self._keep_lengths()
            self._keep_rates(rates[0] + chosen * (rates[1] - rates[0]))
            if not events or events.fits(there):
                break
        return self.distance

    def _push(self) -> float:
        """Velocities of the second by a random push that no rod or taut rope feels; the distance.
        It has the other sign where it would make ropes taut that are slack at their length."""
        motion, stage = self.second.progress.motion, self.second.last.stage
        rates, before = self._rates(motion), motion.v.copy()
        free = stage.nodes.dof_kind == 1
        push = np.where(free, self.generator.standard_normal(len(free)), 0.0)
        for sign in (1.0, -1.0):
            motion.v[:] = before + sign * self.close * push / np.linalg.norm(push)
            self._keep_rates(rates)
            events, dt = self.second.last.events, self.second.last.clock.dt
            if not events or events.fits(motion, dt) or not events.fits(self.trajectory.progress.motion, dt):
                break  # else a slack rope would become taut in the next increment of the second motion alone
        if self.distance <= self.vanished:
            raise CommandError("no degree of freedom of the model is free: it has no Lyapunov exponents")
        return self.distance

    def _rates(self, motion: Motion) -> Floats:
        """(rods,) G v."""
        if len(self.second.last.stage.bars.rods) == 0:
            return np.zeros(0)
        evaluate_rods(self.second.last.stage, motion, self.time)
        return multiply(self.second.last.stage, motion.v)

    def _keep_lengths(self) -> None:
        """Rods and taut ropes of the second to their lengths."""
        motion, stage = self.second.progress.motion, self.second.last.stage
        for _ in range(MOST_PASSES if len(stage.bars.rods) else 0):
            evaluate_rods(stage, motion, self.time)
            gap, strain = gaps(stage)
            if np.abs(strain).max() <= EXACT:
                return
            motion.u[:] += self._least(-gap)

    def _keep_rates(self, wanted: Floats) -> None:
        """Velocities of the second such that its rods and taut ropes stretch at the rates wanted (rods,)."""
        if len(wanted):
            motion = self.second.progress.motion
            motion.v[:] += self._least(wanted - self._rates(motion))

    def _least(self, target: Floats) -> Floats:
        """x (3n,) with G x = target, least in the measure of the mass; nothing where that is singular."""
        stage = self.second.last.stage
        found = solve_saddle(stage, self.mass, np.zeros(stage.system.size), target, stage.nodes.dof_kind)
        return np.zeros(stage.system.size) if found is None else found[0]
