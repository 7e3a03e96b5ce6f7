"""One instant at which ropes change: impacts, which of them are taut afterwards, consistent accelerations.

Ropes that arrive at their length at one instant meet their impacts together, with rods and taut ropes. Those that are
moving away from it take no part, unless these impacts turn them round: that is the next impact of the same instant.
Stops with restitution that are in contact take no part either: an impact travels from ball to ball, one after another.
Each of them takes energy or none; after a bounded number the rest is one impact without restitution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats
from fem.forces.bar import INV_LENGTH, senses
from fem.solve.newton.evaluate import multiply_masses
from fem.solve.newton.groups import ENERGY, Loading, Motion
from fem.solve.rods.constraints import multiply, multiply_transposed
from fem.solve.rods.start import centripetal
from fem.solve.ropes.complementarity import Network, NoPulls, complementarity, independent, outside
from fem.solve.ropes.states import Stages, positions
from fem.solve.start import evaluate_start, write_reactions

SLOW = 1e-10
"""Fraction of the largest velocity below which a rope becomes taut without an impact."""
RESTING = 1e-12
"""The same below which the ends of a rope keep their distance."""
EXACT = 1e-7
"""Fraction of the largest velocity or acceleration by which rates of lengths may be off in the end."""
MOST_ROUNDS = 20
"""Impacts of one instant that follow from each other."""
MOST_HANDED_ON = 1000
"""The same where they travel from stop to stop."""


class Change(NamedTuple):
    """What an instant did to the ropes (r,): now taut, followed by the march, have met an impact, energy lost.

    hidden: energy lost that belongs to no rope
    """

    taut: Flags
    basis: Flags
    struck: Flags
    loss: Floats
    hidden: float


class Blow(NamedTuple):
    """Impulses of one instant that act together, of rods and ropes (r,).

    before (3n,)     velocities;  pull (r,)  impulses over length;  acts (r,)
    restitution (r,) of those that arrive, else 0
    """

    before: Floats
    pull: Floats
    acts: Flags
    restitution: Floats


class Instant:
    """An instant ``time`` at which the ropes ``near`` (r,) are at their length; ``motion`` is the state then.

    taut, basis (r,) their states before; chunk: loads as of one increment that starts now
    blows            what has struck, one after another (schemes that are secant: ``hold`` first)
    """

    def __init__(
        self, stages: Stages, motion: Motion, chunk: Loading, time: float, taut: Flags, basis: Flags, near: Flags,
        mass: Any,
    ) -> None:  # fmt: skip
        self.motion, self.chunk, self.stage = motion, chunk, stages.of(near)
        motion.multiplier[stages.ropes] = 0.0
        self.known = np.zeros(len(motion.a))
        supported = np.flatnonzero(self.stage.nodes.dof_kind == 0)
        _, _, a = self.stage.environment.supports.motion(supported, np.array([time]), after=True)
        self.known[supported] = a[0]
        evaluate_start(self.stage, motion, chunk)
        self.network = Network(self.stage, mass)
        (self.mine,) = np.nonzero(near)
        self.taut, self.basis = taut[self.mine], basis[self.mine]
        self.at = positions(self.stage.bars.rods, stages.ropes)[self.mine]
        self.one_sided = np.zeros(len(self.stage.bars.rods), np.bool_)
        self.one_sided[self.at] = True
        self.is_stop = senses(self.stage.bars, stages.ropes[near]) < 0.0
        self.hidden = 0.0
        self.blows: list[Blow] = []

    def run(
        self, released: Flags, stuck: Flags, held: Flags, slowest: Floats, restitution: Floats, length: Floats
    ) -> Change:
        """Impacts, new states, accelerations, forces and reactions. NoPulls: there are none.

        released (r,)  ropes that go slack now;  stuck (r,)  those whose ends no longer move apart or together
        held (r,)      those that stay taut while no impact loosens them
        slowest (r,)   rate below which a rope does not leave its length
        """
        mine = self.mine
        speed = length[mine] * float(np.abs(self.motion.v).max(initial=0.0))
        if self.stage.scheme.secant:
            self.hold()
        stays, struck, loss = self._collide(stuck[mine], slowest[mine], restitution[mine], speed)
        if released.any() and not struck.any():
            stays &= ~self._with_those(released[mine])
        acts, basis = self._pull(stays, (held | stuck)[mine] & stays)

        def of_all(part: Any) -> Any:
            whole = np.zeros(len(length), part.dtype)
            whole[mine] = part
            return whole

        return Change(of_all(acts), of_all(basis), of_all(struck), of_all(loss), self.hidden)

    def hold(self) -> None:
        """Rates of rods and taut ropes to zero: those of a secant scheme vanish in the middle of the increment only."""
        held = ~self.one_sided
        held[self.at] = self.basis
        rate = multiply(self.stage, self.motion.v)
        pull, acts = self._solve(held, rate, np.zeros(len(held), np.bool_), self.motion.v)
        self.blows.append(Blow(self.motion.v.copy(), pull, acts, np.zeros(len(held))))
        self.hidden += float(self._apply(pull, rate).sum())

    def _with_those(self, released: Flags) -> Flags:
        """Ropes that go slack, and those that have repeated nothing but them: their pull ends, too."""
        stays, repeats = ~self.one_sided, np.zeros(len(self.one_sided), np.bool_)
        stays[self.at], repeats[self.at] = self.basis & ~released, self.taut & ~self.basis
        return released | outside(self.network.rows, stays, repeats)[self.at]

    def _collide(
        self, stuck: Flags, slowest: Floats, restitution: Floats, speed: Floats
    ) -> tuple[Flags, Flags, Floats]:
        """Impulses; of the ropes at their length, which stay there, which met an impact, and the energy they lost."""
        loss = np.zeros(len(self.mine))
        struck, stays, hands_on = loss > 0.0, loss > 0.0, self.is_stop & (restitution > 0.0)
        most = MOST_HANDED_ON if hands_on.any() else MOST_ROUNDS
        for turn in range(most + 1):
            is_last, rate = turn == most, multiply(self.stage, self.motion.v)
            mine = rate[self.at]
            arrives = (mine > SLOW * speed) & ~(self.taut & (turn == 0))
            lingers = (mine < -RESTING * speed) & (mine >= -slowest) & (turn > 0)
            if turn > 0 and not (arrives | lingers).any():
                break
            stuck = stuck | lingers
            rebound, ratio = np.where(arrives & ~stuck & (not is_last), restitution, 0.0), np.zeros(len(rate))
            ratio[self.at], bounce = rebound, rebound * mine
            takes_part = np.ones(len(rate), np.bool_)
            takes_part[self.at] = stuck | arrives | is_last | ((mine >= -SLOW * speed) & ~hands_on)
            one_sided = self.one_sided.copy()
            one_sided[self.at[stuck]] = False
            right = rate.copy()
            right[self.at] += bounce
            pull, acts = self._solve(takes_part, right, one_sided, self.motion.v)
            self.blows.append(Blow(self.motion.v.copy(), pull, acts, ratio))
            loss += self._share(self._apply(pull, rate))
            struck |= arrives
            stays = multiply(self.stage, self.motion.v)[self.at] >= -RESTING * speed
            stays |= takes_part[self.at] & (pull[self.at] > 0.0) & (bounce == 0.0)
        return stays, struck, loss

    def _share(self, loss: Floats) -> Floats:
        """Energy lost of the ropes, none negative; what rods and round-off add goes by the same shares."""
        total, mine = float(loss.sum()), np.maximum(loss[self.at], 0.0)
        if mine.sum() <= 0.0 or total < 0.0:  # round-off of a lossless impact
            self.hidden += total
            return np.zeros(len(mine))
        return np.asarray(mine * (total / mine.sum()))

    def _apply(self, pull: Floats, rate: Floats) -> Floats:
        """Impulses into velocities and energies; the energy they take, of rods and ropes."""
        motion, energies = self.motion, self.motion.energies
        before, fastest = self._kinetic(), float(np.abs(motion.v).max(initial=0.0))
        motion.v[:] += self.network.change(pull)
        after = rate - self.network.compliance @ pull
        self._verify(multiply(self.stage, motion.v) - after, fastest)
        loss = 0.5 * pull * (rate + after)
        gain, lost = self._kinetic() - before, float(loss.sum())
        energies[ENERGY.kinetic] += gain
        energies[ENERGY.work] += gain + lost  # of moving supports
        energies[ENERGY.dissipated] += lost
        return loss

    def _kinetic(self) -> float:
        stage, momentum = self.stage, self.stage.work.momentum
        multiply_masses(stage.problem, self.motion.v, momentum)
        return 0.5 * float(self.motion.v @ momentum)

    def _pull(self, stays: Flags, held: Flags) -> tuple[Flags, Flags]:
        """Accelerations and pulls of rods and of those ropes that stay at their length.

        Which of these are taut, and which of the taut ones the march follows; held ones are.
        """
        stage, motion, network, work = self.stage, self.motion, self.network, self.stage.work
        evaluate_start(stage, motion, self.chunk)
        multiply_masses(stage.problem, self.known, work.inertia)
        rest = work.load - motion.force - work.inertia - work.damping_force
        free = self.known + network.dofs.spread(network.solve(network.dofs.load(rest)))
        keep, one_sided, first = ~self.one_sided, self.one_sided.copy(), np.zeros(len(self.one_sided), np.bool_)
        keep[self.at], one_sided[self.at[held]], first[self.at] = stays, False, held
        right = multiply(stage, free) + centripetal(stage.bars, motion.v)
        pull, acts = self._solve(keep, right, one_sided, free)
        motion.a[:] = free + network.change(pull)
        motion.lagged[:] = motion.a
        rest = np.where(acts, multiply(stage, motion.a) + centripetal(stage.bars, motion.v), 0.0)
        self._verify(rest, float(np.abs(free).max(initial=0.0)) + float(np.abs(right).max(initial=0.0)))
        basis, pull = independent(network.rows, pull, acts, self.one_sided, first)
        motion.multiplier[stage.bars.rods] += pull
        motion.force[:] += multiply_transposed(stage, pull)
        write_reactions(stage, motion, self.chunk)
        return acts[self.at], basis[self.at]

    def _solve(self, chosen: Flags, right: Floats, one_sided: Flags, x: Floats) -> tuple[Floats, Flags]:
        """Pulls of the chosen rods and ropes, and which of them act. right (r,): made of G x, x (3n,)."""
        (rows,) = np.nonzero(chosen)
        length = 1.0 / self.stage.bars.constants[INV_LENGTH, self.stage.bars.rods[rows]]
        noise = RESTING * length * float(np.abs(x).max(initial=0.0))
        pull, acts = np.zeros(len(right)), np.zeros(len(right), np.bool_)
        try:
            pull[rows], acts[rows] = complementarity(
                self.network.compliance[np.ix_(rows, rows)], right[rows], one_sided[rows], noise
            )
        except NoPulls as error:
            error.bar = int(self.stage.bars.rods[rows[error.worst]])
            raise
        return pull, acts

    def _verify(self, off: Floats, size: float) -> None:
        """NoPulls where rates of lengths (rods and ropes) are off from what they should be; size: of what changes."""
        relative = np.abs(off) * self.stage.bars.constants[INV_LENGTH, self.stage.bars.rods]
        if relative.max(initial=0.0) > EXACT * size:
            error = NoPulls(int(relative.argmax()))
            error.bar = int(self.stage.bars.rods[error.worst])
            raise error
