"""One instant at which ropes change: impacts, which of them are taut afterwards, consistent accelerations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats
from fem.mechanics.mass import multiply_mass
from fem.solve.newton import groups
from fem.solve.newton.groups import Loading, Motion
from fem.solve.newton.iterate import inertia_forces
from fem.solve.newton.ledger import balance_forces
from fem.solve.rods.constraints import multiply, multiply_transposed
from fem.solve.rods.start import centripetal
from fem.solve.ropes.impact import Network, complementarity, positions
from fem.solve.ropes.states import Stages
from fem.solve.stage import Stage
from fem.solve.start import evaluate_start

SLOW = 1e-10
"""Share of the largest velocity below which a rope becomes taut without an impact."""
RESTING = 1e-12
"""The same below which the ends of a rope keep their distance."""


class Change(NamedTuple):
    """What an instant did to the ropes (r,): now taut, have met an impact, energy lost."""

    taut: Flags
    struck: Flags
    loss: Floats


class Instant:
    """An instant ``time`` at which the ropes ``near`` (r,) are at their length; ``motion`` is the state then.

    taut (r,) their states before; chunk: loads as of one increment that starts now; length (r,)
    """

    def __init__(
        self, stages: Stages, motion: Motion, chunk: Loading, time: float, taut: Flags, near: Flags, mass: Any
    ) -> None:
        self.motion, self.chunk, self.taut, self.near = motion, chunk, taut, near
        self.stages, self.stage = stages, stages.of(near)
        motion.multiplier[stages.ropes] = 0.0
        self.known = np.zeros(len(motion.a))
        supported = np.flatnonzero(self.stage.nodes.free == 0)
        _, _, a = self.stage.environment.supports.motion(supported, np.array([time]), after=True)
        self.known[supported] = a[0]
        evaluate_start(self.stage, motion, chunk)
        self.network = Network(self.stage, mass)
        (self.mine,) = np.nonzero(near)
        self.at = positions(self.stage.bars.rods, stages.ropes)[self.mine]
        self.one_sided = np.zeros(len(self.stage.bars.rods), np.bool_)
        self.one_sided[self.at] = True

    def run(self, released: Flags, stuck: Flags, restitution: Floats, length: Floats) -> Change:
        """Impacts, new states, accelerations, forces and reactions.

        released (r,)  ropes that go slack now;  stuck (r,)  those whose ends no longer move apart or together
        """
        count = len(self.near)
        speed = length[self.mine] * float(np.abs(self.motion.v).max(initial=0.0))
        if self.stage.scheme.secant:
            self._hold()
        rate, after, loss = self._collide(stuck[self.mine], restitution[self.mine], speed)
        struck = (rate > SLOW * speed) & ~self.taut[self.mine]
        stays = after >= -RESTING * speed
        stays &= ~(released[self.mine] & ~struck.any())
        taut = np.zeros(count, np.bool_)
        taut[self.mine] = self._pull(stays)
        full, hit = np.zeros(count), np.zeros(count, np.bool_)
        full[self.mine], hit[self.mine] = loss, struck
        return Change(taut, hit, full)

    def _hold(self) -> None:
        """Rates of rods and taut ropes to zero: those of a secant scheme vanish in the middle of the increment only."""
        held = ~self.one_sided
        held[self.at] = self.taut[self.mine]
        (rows,) = np.nonzero(held)
        pull = np.zeros(len(held))
        rate = multiply(self.stage, self.motion.v)
        pull[rows] = np.linalg.lstsq(self.network.compliance[np.ix_(rows, rows)], rate[rows], rcond=None)[0]
        self._apply(pull, rate)

    def _collide(self, stuck: Flags, restitution: Floats, speed: Floats) -> tuple[Floats, Floats, Floats]:
        """Impulses; of the ropes at their length the rate before and after, and the energy lost."""
        rate = multiply(self.stage, self.motion.v)
        right = rate.copy()
        arriving = np.where((rate[self.at] > SLOW * speed) & ~self.taut[self.mine], rate[self.at], 0.0)
        right[self.at] += np.where(stuck, 0.0, restitution) * arriving
        one_sided = self.one_sided.copy()
        one_sided[self.at[stuck]] = False
        pull, _ = complementarity(self.network.compliance, right, one_sided)
        after, loss = self._apply(pull, rate)
        return rate[self.at], after[self.at], loss[self.at]

    def _apply(self, pull: Floats, rate: Floats) -> tuple[Floats, Floats]:
        """Impulses into velocities and energies; rates after them, and the energy they take."""
        motion, tally = self.motion, self.motion.tally
        before = self._kinetic()
        motion.v[:] += self.network.change(pull)
        after = rate - self.network.compliance @ pull
        loss = 0.5 * pull * (rate + after)
        gain, lost = self._kinetic() - before, float(loss.sum())
        tally[groups.KINETIC] += gain
        tally[groups.WORK] += gain + lost  # of moving supports
        tally[groups.DISSIPATED] += lost
        return after, loss

    def _kinetic(self) -> float:
        stage, momentum = self.stage, self.stage.work.momentum
        multiply_mass(stage.nodes.mass, stage.bars.off_mass, stage.bars.nodes, self.motion.v, momentum)
        return 0.5 * float(self.motion.v @ momentum)

    def _pull(self, stays: Flags) -> Flags:
        """Accelerations and tensions of rods and of those ropes that stay at their length; which of these are taut."""
        stage, motion, network, work = self.stage, self.motion, self.network, self.stage.work
        evaluate_start(stage, motion, self.chunk)
        multiply_mass(stage.nodes.mass, stage.bars.off_mass, stage.bars.nodes, self.known, work.inertia)
        free = self.known + network.respond(work.load - motion.force - work.inertia - work.drag)
        keep = ~self.one_sided
        keep[self.at] = stays
        (rows,) = np.nonzero(keep)
        right = multiply(stage, free) + centripetal(stage.bars, motion.v)
        pull, acts = np.zeros(len(keep)), np.zeros(len(keep), np.bool_)
        pull[rows], acts[rows] = complementarity(
            network.compliance[np.ix_(rows, rows)], right[rows], self.one_sided[rows]
        )
        motion.a[:] = free + network.change(pull)
        motion.lagged[:] = motion.a
        motion.multiplier[stage.bars.rods] += pull
        motion.force[:] += multiply_transposed(stage, pull)
        self._settle(stage)
        return acts[self.at]

    def _settle(self, stage: Stage) -> None:
        """Reactions."""
        motion, work = self.motion, stage.work
        work.force[:] = motion.force
        inertia_forces(stage.nodes, stage.bars, motion.v, motion.a, work.inertia, work.drag)
        balance_forces(stage.row, False, -1, stage.nodes, stage.bars, stage.links, self.chunk, motion.a, work)
        motion.reaction[:] = work.reaction
