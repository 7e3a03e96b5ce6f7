"""One instant at which ropes change: impacts, which of them are taut afterwards, consistent accelerations.

Ropes that reach their length at one instant have their impacts together, with rods and taut ropes. Ropes that are
shortening take no part, unless these impacts make them lengthen: that is the next impact of the same instant. Stops
with restitution that are in contact take no part either: an impact travels from ball to ball, one after another. No
impact adds energy; after a bounded number the rest is one impact without restitution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, Matrix
from fem.assembly.environment import thermal_rows
from fem.compiled import bound
from fem.errors import ModelError
from fem.forces.bar import RESTITUTION, senses, whole
from fem.solve.newton.evaluate import evaluate_state, multiply_masses
from fem.solve.newton.groups import ENERGY, Loading, Motion
from fem.solve.rods import dense, multiplier_of, multiply_transposed, over_independent, turner_of
from fem.solve.rope_states import MOST_KEPT, Stages, positions
from fem.solve.ropes.complementarity import (
    Inertia,
    NoPulls,
    RopeNetwork,
    complementarity,
    independent,
    outside,
    shared,
)
from fem.solve.ropes.watched import Watched, copy_of, restore
from fem.solve.start import evaluate_rods, evaluate_start, reactor_of, small_or_sparse_mass, spender_of
from fem.solve.state import StepState
from fem.solve.step_system import StepSystem, loading

SLOW = 1e-10
"""Fraction of the largest velocity below which a rope becomes taut without an impact."""
RESTING = 1e-12
"""Fraction of the largest velocity below which the ends of a rope keep their distance."""
EXACT = 1e-7
"""Largest error of rates of lengths in the end, as a fraction of the largest velocity or acceleration."""
MOST_ROUNDS = 20
"""Largest number of successive impacts at one instant."""
MOST_HANDED_ON = 1000
"""The same if impacts travel from stop to stop."""


class Change(NamedTuple):
    """Result of an instant for the ropes (r,): taut now, used by the march, had an impact, energy lost.
    hidden: energy lost that belongs to no rope"""

    taut: Flags
    basis: Flags
    struck: Flags
    loss: Floats
    hidden: float


class Blow(NamedTuple):
    """Simultaneous impulses of rods and ropes (r,).

    before (3n,)     velocities;  pull (r,)  impulses over length;  acts (r,)
    restitution (r,) of those that arrive, else 0
    """

    before: Floats
    pull: Floats
    acts: Flags
    restitution: Floats


NONE: Ints = np.zeros(0, np.int64)


class Near:
    """What instants have in common at which the same ropes, ``mine`` (n,), are at their length, with equal masses.

    chunk           loads as of an increment in which supports stay; evaluate: ``evaluate_start`` with these; react,
                    spend, rates: reactions, dissipative forces and rates of lengths of the motion; turning, bends,
                    bends_freely: ``add_turning``, and G a of the motion and of the accelerations ``free`` (3n,);
                    forces: G^T pull (c,)
    known (3n,)     accelerations of supports, 0 elsewhere; hold_back: their inertia forces into ``work.inertia``
    whole (w,)      these and all other ropes, among the bars;  moved: dofs of supports that may be accelerated
    rods (c,)       constraints of the stage;  at (n,): the ropes among these;  one_sided (c,): those that are ropes
    is_stop (n,)
    """

    def __init__(self, stages: Stages, near: Flags, mass: Matrix, motion: Motion, now: float) -> None:
        self.stage = stage = stages.of(near)
        self.motion, self.nodes, self.coefficients = motion, stage.nodes, stage.coefficients
        self.inertia, supports = Inertia(stage, mass), stage.environment.supports
        self.chunk = loading(stage, motion, np.array([now, now]), np.ones(1), NONE)
        work, problem, self.known = stage.work, stage.problem, np.zeros(stage.system.size)
        self.evaluate = bound(evaluate_state, stage.coefficients, self.chunk, problem, motion, work)
        self.react, self.spend = reactor_of(stage, motion, self.chunk), spender_of(stage, motion)
        self.rates, self.turning = multiplier_of(stage, motion.v), turner_of(stage, motion.u, motion.v)
        self.free, self.bends = self.known.copy(), multiplier_of(stage, motion.a)
        self.bends_freely, self.pull = multiplier_of(stage, self.free), np.zeros(len(stage.rods.heads))
        self.forces = multiplier_of(stage, self.pull, True)
        self.hold_back = bound(multiply_masses, problem, self.known, work.inertia)
        self._multiply = bound(multiply_masses, problem, motion.v, work.momentum)
        self.whole = whole(stage.bars, stages.ropes)
        self.moved = np.flatnonzero(stage.nodes.dof_kind == 0)
        if not supports.bodies:
            self.moved = self.moved[np.isnan(supports.places[self.moved])]
        (self.mine,) = np.nonzero(near)
        self.rods = self.stage.rods.heads
        self.at = positions(self.rods, stages.ropes)[self.mine]
        self.one_sided = np.zeros(len(self.rods), np.bool_)
        self.one_sided[self.at] = True
        self.is_stop = senses(self.stage.bars, stages.ropes[near]) < 0.0

    def fits(self, stage: StepSystem, motion: Motion) -> bool:
        """Whether nothing has changed that it keeps; masses that families add always do."""
        its = self.stage is stage and self.nodes is stage.nodes and self.coefficients is stage.coefficients
        return its and self.motion is motion and not len(stage.nodes.directed_mass)

    def kinetic(self) -> float:
        """Energy of the motion."""
        self._multiply()
        return 0.5 * float(self.motion.v @ self.stage.work.momentum)

    def become(self, now: float) -> None:
        """Loads of another instant."""
        stage, chunk = self.stage, self.chunk
        chunk.time[:], chunk.factors[:] = now, stage.loads.factors(chunk.time)
        if len(chunk.thermal_end) > 1:
            chunk.thermal_end[:] = thermal_rows(stage.system, stage.environment, chunk.time)


class Instant:
    """An instant ``time`` at which the ropes ``near`` are at their length; ``motion`` is the state then.

    taut, basis (r,) states before;  chunk: loads as of one increment that starts now
    blows            impacts, one after another (with secant schemes ``hold`` comes first)
    rate, kinetic    of lengths, and energy, at the present velocities
    """

    def __init__(self, near: Near, motion: Motion, time: float, taut: Flags, basis: Flags) -> None:
        self.near, self.motion, self.chunk, self.stage = near, motion, near.chunk, near.stage
        motion.multiplier[near.whole] = 0.0
        if len(near.moved):
            near.known[near.moved] = self.stage.environment.supports.motion(near.moved, np.array([time]), True)[2][0]
        near.evaluate()
        self.network = RopeNetwork(self.stage, near.inertia)
        self.rate, self.kinetic = near.rates(), near.kinetic()
        self.mine, self.rods, self.at, self.is_stop = near.mine, near.rods, near.at, near.is_stop
        self.taut, self.basis, self.one_sided = taut[self.mine], basis[self.mine], near.one_sided
        self.hidden = 0.0
        self.blows: list[Blow] = []

    def run(
        self, released: Flags, stuck: Flags, held: Flags, slowest: Floats, restitution: Floats, length: Floats
    ) -> Change:
        """Impacts, new states, accelerations, forces and reactions. NoPulls: there are none.

        released (r,)  ropes that go slack now;  stuck (r,)  those whose ends no longer move apart or together
        held (r,)      those that stay taut until an impact makes them slack
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
        """Sets rates of rods and taut ropes to zero: with a secant scheme they vanish in mid-increment only."""
        held = ~self.one_sided
        held[self.at] = self.basis
        rate = self.rate
        pull, acts = self._solve(held, rate, np.zeros(len(held), np.bool_), self.motion.v)
        self.blows.append(Blow(self.motion.v.copy(), pull, acts, np.zeros(len(held))))
        if pull.any():
            self.hidden += float(self._apply(pull, rate).sum())

    def _with_those(self, released: Flags) -> Flags:
        """Ropes that go slack, and those that were redundant to them only: their pull ends, too."""
        stays, repeats = ~self.one_sided, np.zeros(len(self.one_sided), np.bool_)
        stays[self.at], repeats[self.at] = self.basis & ~released, self.taut & ~self.basis
        return released | outside(self.network.rows, stays, repeats)[self.at]

    def _collide(
        self, stuck: Flags, slowest: Floats, restitution: Floats, speed: Floats
    ) -> tuple[Flags, Flags, Floats]:
        """Impulses; of the ropes at their length: which stay there, which had an impact, and the energy they lost."""
        at, loss, slow, resting = self.at, np.zeros(len(self.mine)), SLOW * speed, -RESTING * speed
        struck, stays, hands_on = loss > 0.0, loss > 0.0, self.is_stop & (restitution > 0.0)
        most = MOST_HANDED_ON if hands_on.any() else MOST_ROUNDS
        for turn in range(most + 1):
            is_last, rate = turn == most, self.rate
            mine = rate[at]
            arrives = mine > slow
            if turn == 0:
                arrives &= ~self.taut
            else:
                lingers = (mine < resting) & (mine >= -slowest)
                if not (arrives | lingers).any():
                    break
                stuck = stuck | lingers
            rebound, ratio = np.where(arrives & ~stuck & (not is_last), restitution, 0.0), np.zeros(len(rate))
            ratio[at], bounce = rebound, rebound * mine
            is_in = stuck | arrives | is_last | ((mine >= -slow) & ~hands_on)
            takes_part, one_sided, right = ~self.one_sided, self.one_sided.copy(), rate.copy()
            takes_part[at], one_sided[at] = is_in, ~stuck
            right[at] += bounce
            pull, acts = self._solve(takes_part, right, one_sided, self.motion.v)
            self.blows.append(Blow(self.motion.v.copy(), pull, acts, ratio))
            if pull.any():
                loss += self._distributed(self._apply(pull, rate))
            struck |= arrives
            stays = (self.rate[at] >= resting) | (is_in & (pull[at] > 0.0) & (bounce == 0.0))
        return stays, struck, loss

    def _distributed(self, loss: Floats) -> Floats:
        """Energy lost by each rope, none negative; the part of rods and rounding is distributed in proportion."""
        total, mine = float(loss.sum()), np.maximum(loss[self.at], 0.0)
        if mine.sum() <= 0.0 or total < 0.0:  # rounding error of a lossless impact
            self.hidden += total
            return np.zeros(len(mine))
        return np.asarray(mine * (total / mine.sum()))

    def _apply(self, pull: Floats, rate: Floats) -> Floats:
        """Applies impulses to velocities and energies; returns the energy that they take, for rods and ropes."""
        motion, energies, before = self.motion, self.motion.energies, self.kinetic
        fastest = float(np.abs(motion.v).max(initial=0.0))
        motion.v[:] += self.network.change(pull)
        after = rate - self.network.compliance @ pull
        self.rate, self.kinetic = self.near.rates(), self.near.kinetic()
        self._verify(self.rate - after, fastest)
        loss = 0.5 * pull * (rate + after)
        gain, lost = self.kinetic - before, float(loss.sum())
        energies[ENERGY.kinetic] += gain
        energies[ENERGY.work] += gain + lost  # work of moving supports
        energies[ENERGY.dissipated] += lost
        return loss

    def _pull(self, stays: Flags, held: Flags) -> tuple[Flags, Flags]:
        """Accelerations and pulls of rods and of ropes that stay at their length.
        Returns which of these are taut, and which of the taut ones the march uses; ropes held are among them."""
        stage, motion, network, near, work = self.stage, self.motion, self.network, self.near, self.stage.work
        near.evaluate()
        near.hold_back()
        rest = work.load - motion.force - work.inertia - work.damping_force
        free = near.free
        free[:] = near.known + network.dofs.spread(network.solve(network.dofs.load(rest)))
        keep, one_sided, first = ~self.one_sided, self.one_sided.copy(), np.zeros(len(self.one_sided), np.bool_)
        keep[self.at], one_sided[self.at[held]], first[self.at] = stays, False, held
        right = near.bends_freely() + (turning := near.turning())
        pull, acts = self._solve(keep, right, one_sided, free)
        motion.a[:] = free + network.change(pull)
        motion.lagged[:] = motion.a
        near.spend()
        rest = np.where(acts, near.bends() + turning, 0.0)
        self._verify(rest, float(np.abs(free).max(initial=0.0)) + float(np.abs(right).max(initial=0.0)))
        basis, pull = independent(network.rows, pull, acts, self.one_sided, first)
        motion.multiplier[stage.bars.rods] += pull[stage.rods.row]
        near.pull[:] = pull
        motion.force[:] += near.forces()
        near.react()
        return acts[self.at], basis[self.at]

    def _solve(self, chosen: Flags, right: Floats, one_sided: Flags, x: Floats) -> tuple[Floats, Flags]:
        """Pulls of the chosen rods and ropes, and which of them act. right (r,): computed from G x, x (3n,)."""
        (rows,) = chosen.nonzero()
        noise: Floats | float = 0.0  # one equation has an exact solution
        if len(rows) > 1:
            noise = RESTING * (1.0 / self.stage.rods.inverse[rows]) * float(np.abs(x).max(initial=0.0))
        pull, acts = np.zeros(len(right)), np.zeros(len(right), np.bool_)
        try:
            pull[rows], acts[rows] = complementarity(
                self.network.compliance[rows[:, None], rows], right[rows], one_sided[rows], noise
            )
        except NoPulls as error:
            raise NoPulls(error.worst, int(self.rods[rows[error.worst]])) from None
        return pull, acts

    def _verify(self, off: Floats, size: float) -> None:
        """NoPulls if rates of lengths (rods and ropes) have an error ``off`` that is too large for their ``size``."""
        relative = np.abs(off) * self.stage.rods.inverse
        if relative.max(initial=0.0) > EXACT * size:
            worst = int(relative.argmax())
            raise NoPulls(worst, int(self.rods[worst]))


# Ropes that are taut from one instant to the next, and the events.
#
# At one instant a rope goes slack once. If it is then too long at once and lengthens, or becomes taut again within
# ``ZENO`` of an increment, it is held taut for that time, doubled each time, until an impact makes it slack and at most
# to the end of the increment. This ends repeated changes that rounding errors decide.

ZENO = 1e-3
"""Fraction of an increment: a rope with impacts at shorter intervals stays taut."""
BOUNCES = 20
"""The same for a stop after this many impacts: balls with small gaps meet several times when impacts travel on."""
ALLOWED = 1e-10
"""Strain by which a slack rope may be too long just after it has gone slack."""


class States(NamedTuple):
    """States of the ropes (r,): taut; basis: taut ones that the march uses, the others are redundant; allowance as in
    ``Ropes``; last_impact, last_taut: times of the last impact, of becoming taut; bounces: number of impacts in
    short succession; held: time until which they stay taut.

    spare (1,) energy lost at instants and not yet reported with an event
    """

    taut: Flags
    basis: Flags
    allowance: Floats
    last_impact: Floats
    bounces: Floats
    last_taut: Floats
    held: Floats
    spare: Floats


class Switched(Watched):
    """Ropes that change their states at instants. now: the last one.

    holds (r,)          how often each rope was held in this increment
    let_go, stuck (r,)  ropes that went slack at this instant; that became taut again at once
    leaves (r,)         slack ropes that errors of the march make too long, though they do not lengthen
    until               end of the increment
    held_back (3n,)     velocities that ``hold`` removed
    at_instant          called at every instant, with its ``Change``
    """

    at_instant: Callable[[Instant, Change], None] | None = None

    changing = ("taut", "trouble", "holds", "let_go", "stuck", "held_back", "now", "until", "lost_at_start", "leaves")

    def __init__(self, step_run: StepState, stages: Stages) -> None:
        super().__init__(step_run, stages)
        count = len(stages.ropes)
        self.restitution: Floats = stages.first.bars.constants[RESTITUTION, stages.ropes]
        never = np.full(count, -np.inf)
        times = never, np.zeros(count), never.copy(), never.copy()
        self.states = States(self.taut, self.taut.copy(), self.ropes.allowance, *times, np.zeros(1))
        self.holds: Ints = np.zeros(count, np.int64)
        self.let_go: Flags = np.zeros(count, np.bool_)
        self.stuck: Flags = np.zeros(count, np.bool_)
        self.leaves: Flags = np.zeros(count, np.bool_)
        self.mass_at_rest = small_or_sparse_mass(stages.first)
        self.now, self.until, self.lost_at_start = -np.inf, np.inf, 0.0
        self.held_back: Floats = np.zeros(stages.first.system.size)
        self.shares = Shares(stages)
        self._instants: dict[bytes, Near] = {}

    @property
    def mass(self) -> Matrix:
        """Mass matrix over all dofs, in the state evaluated last."""
        first = self.stages.first
        return small_or_sparse_mass(first) if len(first.nodes.directed_mass) else self.mass_at_rest

    def _near(self, near: Flags, motion: Motion, now: float) -> Near:
        """An instant with these ropes (r,) at their length."""
        key = near.tobytes()
        known = self._instants.get(key)
        if known and known.fits(self.stages.of(near), motion):
            known.become(now)
            return known
        if len(self._instants) >= MOST_KEPT:
            self._instants.clear()
        self._instants[key] = known = Near(self.stages, near, self.mass, motion, now)
        return known

    def hold(self, motion: Motion, now: float) -> None:
        """Sets rates of ropes that pull at the end of the last step to zero, before supports get new velocities.
        Secant schemes keep lengths in the middle of increments only. The change of energy is external work."""
        pulls = self.can_pull & (motion.multiplier[self.ropes.bars] > 0.0)
        if not pulls.any():
            return
        saved = copy_of(motion)
        instant = Instant(self._near(pulls, motion, now), motion, now, pulls, pulls)
        try:
            instant.hold()
            self.held_back = saved.v - motion.v
        except NoPulls:  # reported at the start
            pass
        restore(motion, saved)
        motion.v[:] -= self.held_back

    def start(self, motion: Motion, now: float) -> StepSystem:
        """Determines which ropes are taut; those at their length that are lengthening have an impact at once.
        Returns the stage of these states. ModelError where no pulls keep all lengths."""
        gap = self._gaps()
        self._refuse_too_long(gap)
        self.taut[:] = self.states.basis[:] = False
        self.now = now
        energies, nothing = motion.energies.copy(), np.zeros(len(gap), np.bool_)
        try:
            self._change(motion, now, nothing, nothing)
        except NoPulls as error:
            raise ModelError(f"at the start of the step {self._no_pulls(error)}") from None
        self.lost_at_start = float(motion.energies[ENERGY.dissipated] - energies[ENERGY.dissipated])
        motion.energies[:] = energies  # the energy balance begins after this
        self.pending = [event for event in self.pending if event.event == "impact"]
        return self.step_run.stage

    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem:
        """The stage at the start, with the initial states of the ropes: that of ``start``."""
        return stage

    def open(self, motion: Motion, is_first: bool) -> StepSystem:
        """Enters impacts at the start into the energy balance, which has begun; returns the stage for output."""
        energies, lost = motion.energies, self.lost_at_start
        energies[ENERGY.dissipated] += lost
        energies[ENERGY.total0 if is_first else ENERGY.work] += lost
        energies[ENERGY.work0] = energies[ENERGY.work]
        self._share()
        return self.shown

    @property
    def shown(self) -> StepSystem:
        """The stage with all taut ropes, for rows and fields."""
        return self.stages.of(self.taut)

    @property
    def current(self) -> StepSystem:
        """The stage with the ropes that the march uses."""
        return self.stages.of(self.states.basis)

    @property
    def has_shared(self) -> bool:
        """Whether some taut ropes are redundant: then every increment is checked."""
        return self.taut.tobytes() != self.states.basis.tobytes()

    def _share(self) -> None:
        """Distributes the pulls of redundant ropes."""
        if not self.has_shared:
            return
        self.shares.put_in(self.step_run.progress.motion, self.taut, self.now)
        self.step_run.notify(
            f"the lengths of {self.names(self.shares.group)} depend on each other: the motion determines only their "
            "total force, which is distributed so that the sum of T^2 is least"
        )

    def _change(self, motion: Motion, now: float, released: Flags, stuck: Flags) -> None:
        """The event itself, at ``now``. released (r,): taut ropes that go slack.
        stuck (r,): slack ones that are at their length again before they were measurably shorter"""
        states, before, gap, square = self.states, self.taut.copy(), self._gaps(), self.length**2
        near = self.can_pull & (before | (gap > -self.same_length * square))
        moment = ZENO * self.step_run.clock.dt
        soon = now - states.last_impact < moment
        has_bounced = soon & (states.bounces >= np.where(self.sense < 0.0, BOUNCES, 1))
        self.stuck |= stuck
        self.let_go[:] = (self.let_go | released) & ~self.stuck
        instant, found = self.at_once(motion, now, near, has_bounced, states.held > now)
        found = self._without_errors(motion, found)
        self.taut[:], states.basis[:] = found.taut, found.basis
        states.bounces[found.struck] = np.where(soon, states.bounces + 1.0, 1.0)[found.struck]
        states.last_impact[found.struck] = now
        fresh = found.taut & ~before
        again = self.taut & (self.stuck | (fresh & (now - states.last_taut < moment)))  # taut a moment ago, or stuck
        states.held[again] = np.minimum(now + moment * 2.0 ** self.holds[again], self.until)
        self.holds[again] += 1
        states.last_taut[fresh] = now
        states.held[~self.taut] = -np.inf
        rest = np.where(near & ~states.basis, np.maximum(gap, 0.0) + ALLOWED * square, 0.0)
        self.ropes.allowance[:] = rest
        self.step_run.stage = self.stages.of(states.basis)
        self._list(now, before, found, has_bounced & (self.restitution > 0.0))
        if self.at_instant:
            self.at_instant(instant, found)

    def instant(self, motion: Motion, now: float, near: Flags) -> Instant:
        """With the ropes ``near`` (r,) at their length."""
        return Instant(self._near(near, motion, now), motion, now, self.taut, self.states.basis)

    def at_once(
        self, motion: Motion, now: float, near: Flags, has_bounced: Flags, held: Flags
    ) -> tuple[Instant, Change]:
        """What happens at ``now`` to the ropes ``near`` their length. has_bounced: those whose impacts end; held: those
        that stay taut until an impact (all (r,))."""
        slowest = np.where(has_bounced, ALLOWED * self.length**2 / (ZENO * self.step_run.clock.dt), 0.0)
        restitution = np.where(has_bounced | self.leaves, 0.0, self.restitution)
        instant = self.instant(motion, now, near)
        return instant, instant.run(self.let_go, self.stuck, held, slowest, restitution, self.length)

    def _without_errors(self, motion: Motion, found: Change) -> Change:
        """Ropes that are shortening have no impacts: a change of their velocity is an error of the march.
        It appears in the energy error; nothing counts as dissipated."""
        if not self.leaves.any():
            return found
        motion.energies[ENERGY.dissipated] -= float(found.loss[self.leaves].sum()) + found.hidden
        loss, struck = np.where(self.leaves, 0.0, found.loss), found.struck & ~self.leaves
        self.leaves[:] = False
        return found._replace(loss=loss, struck=struck, hidden=0.0)

    def _refuse_lasting(self, at: Flags, at_once: bool) -> None:
        """Failed: ropes (r,) that change now cannot keep their lengths in any state."""
        if (at & ~self.can_pull).any():
            raise self._given_up(f"supports pull {self.names(at & ~self.can_pull)} beyond its length")
        lasting = at & self.stuck & at_once
        if lasting.any():
            raise self._given_up(
                f"no finite tension keeps {self.names(lasting)} at its length: it is straight between others and "
                "perpendicular to the forces"
            )

    def _list(self, now: float, before: Flags, found: Change, at_last: Flags) -> None:
        """Notes the event of each rope; at_last (r,): its impacts have ended.
        Energy not reported with an event is added to the first event of this instant, or else of the next."""
        happened, spare = [], self.states.spare
        spare += found.hidden
        its = (each.tolist() for each in (found.struck, found.taut, before, at_last))
        for r, (struck, taut, was_taut, is_last) in enumerate(zip(*its, strict=True)):
            what = ""
            if struck:
                what = "taut" if is_last and taut else "impact"
            elif taut != was_taut:
                what = "taut" if taut else "slack"
            if what:
                happened.append((r, what))
            else:
                spare += found.loss[r]
        for r, what in happened:
            more = max(float(spare[0]), 0.0)
            self._happens(now, r, what, float(found.loss[r]) + more)
            spare[0] -= more

    def _no_pulls(self, error: NoPulls) -> str:
        name = self.step_run.system.name_bar(error.bar)
        return f"no tensions of ropes and rods keep all lengths: {name} is pulled apart"


class SettingOff(Switched):
    """Start of a step with time stepping over impacts: taut ropes, impacts and pulls, as at an instant.
    take_up: called with the taut ropes (r,)"""

    def __init__(self, step_run: StepState, stages: Stages, take_up: Callable[[Flags], None]) -> None:
        super().__init__(step_run, stages)
        self.take_up = take_up

    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem:
        """The stage with the initial states of ropes, evaluated; the march uses the stage without ropes.
        Without impacts, lengths are still kept in the middle of increments, as in the step before. Impacts on planes
        with friction occur in the first increment."""
        speed = self.length * float(np.abs(motion.v).max(initial=0.0))
        self.can_pull &= (self.friction == 0.0) | (self._lengthening(motion, 1.0) <= SLOW * speed)
        found = self.start(motion, self.step_run.clock.start)
        if not self.pending:
            motion.v[:] += self.held_back
        self.step_run.stage = self.stages.first
        self.take_up(self.taut)
        evaluate_start(found, motion, instant)
        return found


# Pulls of redundant ropes: distributed for output, restored before the march continues.
class Shares:
    """Distributed pulls at a state. group (r,): redundant ropes with a common pull."""

    changing = ("group", "_before")

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.group: Flags = np.zeros(len(stages.ropes), np.bool_)
        self._before: tuple[Floats, Floats, Floats] | None = None

    def put_in(self, motion: Motion, taut: Flags, now: float) -> None:
        """Multipliers, forces and reactions of all taut ropes (r,), instead of those that the march uses."""
        stage = self.stages.of(taut)
        rods, row, equations = stage.rods.heads, stage.rods.row, stage.equations
        self._before = (motion.multiplier.copy(), motion.force.copy(), motion.reaction.copy())
        evaluate_rods(stage, motion, now)
        rows = dense(over_independent(stage, stage.nodes.dof_kind))
        is_rope = np.isin(rods, self.stages.ropes)
        pull = motion.multiplier[rods]
        found = shared(rows, pull, is_rope, 1.0 / stage.rods.inverse)
        change = multiply_transposed(stage, found - pull)
        motion.multiplier[stage.bars.rods] = found[row]
        motion.force[:] += change
        np.add.at(
            change, equations.master, equations.factor * change[np.repeat(equations.slave, np.diff(equations.start))]
        )
        motion.reaction[:] += np.where(stage.nodes.dof_kind == 0, change, 0.0)
        moved = np.abs(found - pull) > 1e-9 * np.abs(pull).max(initial=0.0)
        self.group = np.isin(self.stages.ropes, rods[moved])

    def take_out(self, motion: Motion) -> None:
        """Restores those that the march uses."""
        if self._before:
            motion.multiplier[:], motion.force[:], motion.reaction[:] = self._before
            self._before = None
