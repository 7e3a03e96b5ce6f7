"""Growth of perturbations of a motion: by the tangent map of its increments and impacts, or from the distance of two
motions, which is reset repeatedly.

With two motions, all features of the march (impacts, slackness, any solver) are included. The second motion is
projected onto the constraints:

    positions   u2 = u1 + s (u2 - u1), then the least M^-1 G^T mu that gives every rod and taut rope its length
    velocities  likewise, then the least M^-1 G^T mu that leaves the same fraction of the rates of stretch G v: none
                except for schemes that keep lengths in the middle of increments only
                slack ropes a mean of two allowed positions is allowed; if s > 1 makes a rope too long, -s is used

                The distance is reset only while the ropes have the same states in both motions.
Source: Benettin, Galgani & Strelcyn, Phys. Rev. A 14 (1976) 2338-2345; with impacts: Stefanski, Chaos, Solitons &
Fractals 11 (2000) 2443-2451.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import CommandError
from fem.forces.bar import heads
from fem.forces.families import massive_ones, rough_ones
from fem.forces.laws import LEG
from fem.linear.choice import BAND, CHAINS
from fem.model import Model
from fem.runs.record import SilentSink
from fem.solve.newton import groups
from fem.solve.newton.groups import CONTROL, Ledger, Loading, Motion, Ropes
from fem.solve.rods import gaps, multiply, solve_saddle
from fem.solve.ropes.instants import Change, Instant
from fem.solve.ropes.watched import Failed, copy_of
from fem.solve.start import evaluate_rods, small_or_sparse_mass
from fem.solve.state import Marcher
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem
from fem.study.trajectory import NEVER, Trajectory, advance_to, size_of
from fem.study.variation.linearise import DA, DU, DV, END, SINCE, WHOLE, WRITTEN, Variation, carry, new_variation
from fem.study.variation.saltation import Late, Part, Parts, accelerate, arrivals, cross, flow, orthonormal, project

UNIT = 1.0
"""Time scale of the norm |du|/UNIT + |dv|, in the deck's unit."""
APPROACH = 400
"""Number of increments between two resets of the distance."""
CLOSE = 1e-7
"""Distance of two motions, as a fraction of the size of the model."""
VANISHED = 1e-14
"""Distance, as a fraction of the size of the model, that is a rounding error."""
SEED = 20120612
EXACT, MOST_PASSES = 1e-15, 4
"""Strain of rods at which the correction ends, and largest number of corrections."""
BLENDED = ("u", "v", "a", "force", "reaction", "multiplier", "lagged")


class TwoGrowth:
    """Growth of the distance of two motions in the last step, ``trajectory`` and ``second``, which is reset repeatedly.

    motions  two with the same start; None: both start as in the deck
    """

    def __init__(self, model: Model, every: int | None = None, motions: Sequence[Trajectory] | None = None) -> None:
        self.trajectory, self.second = motions or [Trajectory(model, SilentSink()) for _ in range(2)]
        self.close, self.vanished = CLOSE * size_of(model) / UNIT, VANISHED * size_of(model) / UNIT
        self.generator, self.every = np.random.default_rng(SEED), every or APPROACH
        for trajectory in (self.trajectory, self.second):
            if not trajectory.last.has_begun:
                trajectory.open()
        self.mass: Any = small_or_sparse_mass(self.second.last.stage)
        self._since, self._begun, self._apart = 0, self.time, self._push()
        self._rows: list[tuple[float, float]] = []

    @property
    def rows(self) -> Floats:
        """(r, 2) logarithms of growth from one reset to the next, and the times between."""
        return np.array(self._rows).reshape(-1, 2)

    def follow(self, end: int = NEVER) -> None:
        """Continues up to this increment, or to the end of the step."""
        progress = self.trajectory.progress
        while progress.increment < end and not self.is_finished:
            count = min(max(self.every - self._since, 1), end - progress.increment)
            self.advance(count)
            self._since += count
            if self.is_finished or (self._since >= self.every and (self.is_alike or self._since >= 2 * self.every)):
                self._close()

    def advance(self, count: int) -> None:
        """Advances both motions by some increments. CommandError: their increments differ."""
        end = self.trajectory.progress.increment + count
        for trajectory in (self.trajectory, self.second):
            advance_to(trajectory.last, end)
        if self.time != self.second.progress.time:
            raise CommandError("the two motions take different increments: use *DYNAMIC, DIRECT")

    def _close(self) -> None:
        """Writes a row and resets the distance."""
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
        """Replaces the second motion by the first with a perturbation, after they have separated completely."""
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
        """Whether the same ropes are taut in both motions."""
        ours, theirs = self.trajectory.last.events, self.second.last.events
        return not (ours and theirs) or bool(np.array_equal(ours.taut, theirs.taut))

    @property
    def distance(self) -> float:
        here, there = self.trajectory.progress.motion, self.second.progress.motion
        return float(np.hypot(np.linalg.norm(there.u - here.u) / UNIT, np.linalg.norm(there.v - here.v)))

    def bring_close(self, grown: float) -> float:
        """Scales the difference so that a distance ``grown`` becomes approximately the initial one.
        Returns the exact distance afterwards."""
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
        """Perturbs the velocities of the second motion randomly, without changing lengths of rods and taut ropes;
        returns the distance. The sign is reversed if slack ropes at their length would become taut."""
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
        """Corrects the lengths of rods and taut ropes of the second motion."""
        motion, stage = self.second.progress.motion, self.second.last.stage
        for _ in range(MOST_PASSES if len(stage.bars.rods) else 0):
            evaluate_rods(stage, motion, self.time)
            gap, strain = gaps(stage)
            if np.abs(strain).max() <= EXACT:
                return
            motion.u[:] += self._least(-gap)

    def _keep_rates(self, wanted: Floats) -> None:
        """Corrects velocities of the second motion so that rods and taut ropes stretch at the rates wanted (rods,)."""
        if len(wanted):
            motion = self.second.progress.motion
            motion.v[:] += self._least(wanted - self._rates(motion))

    def _least(self, target: Floats) -> Floats:
        """x (3n,) with G x = target and the smallest norm in the mass; zero if that is singular."""
        stage = self.second.last.stage
        found = solve_saddle(stage, self.mass, np.zeros(stage.system.size), target, stage.nodes.dof_kind)
        return np.zeros(stage.system.size) if found is None else found[0]


EVERY = 10
"""Increments between two orthonormalisations."""
TINY = 1e-4
"""Fraction of an increment below which perturbations of a part of it are computed by a power series in time."""
DEPENDENT = 1e-9
"""Fraction of a perturbation that is a rounding error when ropes that become taut make it depend on others."""


class Varied(StepRun):
    """A step that carries perturbations along, through impacts of ropes and stops as well.

    grown    logarithms of growth from one orthonormalisation to the next, and the times between
    elapsed  time since the last one
    part     of an increment that an event cuts, marched last;  late: neighbours have yet to begin the next one
    """

    variation: Variation | None = None
    every, elapsed = EVERY, 0.0
    part: Part | None = None
    late: Late | None = None

    def take(self, stage: StepSystem, marcher: Marcher) -> None:
        """As in ``StepRun``; registers for every instant at which ropes change."""
        super().take(stage, marcher)
        if self.events:
            self.events.at_instant = self.jumped

    def perturb(self, count: int) -> None:
        self.refuse(count)
        self._begin(count)
        if self.events:
            self._settle(self.progress.time, is_projected=True, may_depend=True)
            self.grown.clear()

    def begin(self, starts: Floats) -> None:
        """Begin with given perturbations (k, 2, 3n) of displacements and velocities, never made orthonormal.
        They are projected onto the constraints of rods and taut ropes; accelerations are computed from them."""
        self.refuse(0)
        self.every = NEVER
        variation = self._begin(len(starts))
        variation.vectors[:, : DV + 1], variation.counter[WHOLE] = starts * self.stage.nodes.mask, 1
        self._settle(self.progress.time, is_projected=True)

    def refuse(self, count: int) -> None:
        """CommandError: there is no tangent map, or not so many exponents."""
        stage, families = self.stage, self.system.families
        rough = rough_ones(families)
        if self.at_start and not self.events:
            what = "impacts in time stepping (IMPACT=MOREAU)"
        elif not stage.scheme.is_recursion:
            what = "explicit steps" if stage.is_explicit else "a scheme with a march of its own"
        elif stage.choice.solver not in (*CHAINS, BAND):
            what = f"the solver of this step ({stage.choice.text})"
        elif rough or not self.events:
            what = ", ".join(rough)
        else:
            what = ", ".join(f"ropes with {name}" for name in massive_ones(families))
        if np.any(stage.bars.kinds[:, 0] == LEG):
            what = "inextensible ropes over pulleys"
        if what:
            raise CommandError(f"there is no tangent map for {what}: use --method two")
        rods = np.setdiff1d(heads(stage.bars), self.events.ropes.bars) if self.events else heads(stage.bars)
        most = 2 * (int(np.count_nonzero(stage.nodes.dof_kind == 1)) - len(rods))
        if count > most:
            raise CommandError(f"the model has {most} Lyapunov exponents, not {count}")

    def iterate(self, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes) -> int:
        """As ``StepRun.advance``, with the perturbations."""
        if self.variation is None:
            return super().iterate(control, chunk, kept, ropes)
        if self.events and len(chunk.dt) == 1:
            return self._go_part(control, chunk, kept, ropes)
        self.late = None
        return self._carry(self.every, control, chunk, kept, ropes)

    def _carry(self, every: int, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes) -> int:
        """The march with perturbations, which are orthonormalised after every ``every`` increments."""
        assert self.variation is not None
        stage, count = self.stage, len(self.variation.vectors)
        growth = np.zeros((len(chunk.dt) // every + 2, count + 1))
        growth[0, count] = self.elapsed
        self.variation = self.variation._replace(growth=growth)
        self.variation.counter[WRITTEN] = 0
        through = stage.passage(chunk, self.progress.motion, kept)
        through = through._replace(problem=through.problem._replace(ropes=ropes))
        reason = carry(every, UNIT, control, self.arc, through, self.variation)
        if reason == groups.NEED_SOLVE:
            raise CommandError(
                "the tangent of an increment has no safe pivot for the compiled solver: use --method two"
            )
        written = int(self.variation.counter[WRITTEN])
        self.grown.append(growth[:written])
        self.elapsed = float(growth[written, count])
        return int(reason)

    def jumped(self, instant: Instant, found: Change) -> None:
        """The jump of perturbations at an instant at which ropes change."""
        events = self.events
        if self.variation is None or events is None:
            return
        taut, basis = np.zeros((2, len(found.taut)), np.bool_)
        taut[instant.mine], basis[instant.mine] = instant.taut, instant.basis
        part, late, self.part, self.late = self.part, self.late, None, None
        now, (arrived,) = float(instant.chunk.time[0]), np.nonzero((found.taut | found.struck) & ~taut)
        hit = arrived[found.struck[arrived]]
        if (len(hit) and len(arrived) > 1) or events.has_shared:
            names = ", ".join(self.system.name_bar(int(e)) for e in events.ropes.bars[arrived])
            what = "constraints of ropes are redundant" if events.has_shared else f"{names} have simultaneous impacts"
            raise CommandError(f"at t = {now:.9g} {what}: the motion has no derivative there; use --method two")
        vectors, parts, pace = self.variation.vectors, Parts(events), None
        by_end = parts.by_end(part) if part and not late else None
        released = np.flatnonzero(basis & ~found.taut)
        if late:
            pace, delays = np.array([late.v, late.a]), late.delays
        elif len(hit):
            pace = by_end.rows[: DV + 1] if by_end else flow(events.stages.of(basis), instant, events.mass)
            row = int(instant.at[np.searchsorted(instant.mine, hit[0])])
            delays = arrivals(instant, row, pace, vectors)
        elif part and by_end and len(released) == 1 and parts.has_own_pulls(part):
            pace, delays = by_end.rows[: DV + 1], parts.late(part, int(released[0]), by_end, self.owed[:, released[0]])
        if pace is not None:
            cross(instant, len(hit) > 0, pace, delays, vectors)
            self.late = Late(delays.copy(), instant.motion.v.copy(), instant.motion.a.copy())
        may_depend = bool((found.taut[arrived] | (events.restitution[arrived] == 0.0)).any())
        self._settle(now, len(arrived) > len(hit), may_depend)

    def _pass_events(self, control: Ints, chunk: Loading, kept: Ledger) -> Failed | None:
        """As in ``StepRun``; after a failure perturbations are those of the beginning."""
        if self.variation is None:
            return super()._pass_events(control, chunk, kept)
        vectors, counter = self.variation.vectors, self.variation.counter
        self.part = None
        saved, elapsed, count = (vectors.copy(), counter.copy()), self.elapsed, len(self.grown)
        failed = super()._pass_events(control, chunk, kept)
        if failed:
            (vectors[:], counter[:]), self.elapsed = saved, elapsed
            del self.grown[count:]
            self.late = None
        return failed

    def _begin(self, count: int) -> Variation:
        self.variation = new_variation(count, self.system.size, self.stage.bars, self.stage.nodes.mask, SEED)
        self.grown: list[Floats] = []
        self.elapsed, self.part, self.late = 0.0, None, None
        return self.variation

    def _settle(self, now: float, is_projected: bool = False, may_depend: bool = False) -> None:
        """Continues perturbations with new displacements and velocities.

        is_projected  they are first projected onto the constraints of rods and taut ropes
        may_depend    some may be combinations of others: these vanish, unless perturbations are not orthonormalised
        """
        assert self.variation is not None
        vectors, state = self.variation.vectors, (self.stage, self.progress.motion, now)
        mass = small_or_sparse_mass(self.stage)
        if is_projected:
            project(*state, mass, vectors)
        if may_depend and self.every < NEVER:
            delays = self.late.delays if self.late else np.zeros(len(vectors))
            growth = orthonormal(vectors, delays, UNIT, DEPENDENT)
            self.grown.append(np.append(growth, self.elapsed)[None])
            self.elapsed, self.variation.counter[SINCE] = 0.0, 0
        accelerate(*state, mass, vectors)

    def _go_part(self, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes) -> int:
        """Computes one increment, or a part of one divided by events: neighbouring motions may begin it later."""
        assert self.variation is not None and self.events
        vectors, late, is_cut = self.variation.vectors, self.late, len(ropes.bars) == 0
        part = Part(copy_of(self.progress.motion), vectors.copy(), self.stage, *chunk.time.tolist())
        if chunk.dt[0] < TINY * self.clock.dt:
            reason = self._step(control, chunk, kept, ropes)
        else:
            reason = self._carry(NEVER if late or is_cut else self.every, control, chunk, kept, ropes)
        if control[CONTROL.increment]:
            self.part, self.late, self.owed = part, None, np.zeros((len(vectors), len(self.events.taut)))
            by_start = Parts(self.events).by_start(part) if late else None
            if late and by_start:
                vectors[:, : END + 1] += late.delays[:, None, None] * by_start.rows
                self.owed += late.delays[:, None] * by_start.excess
        return reason

    def _step(self, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes) -> int:
        """One increment, so short that differences of du over its square would be rounding errors: by a power series in
        it."""
        assert self.variation is not None
        reason = super().iterate(control, chunk, kept, ropes)
        if control[CONTROL.increment]:
            vectors, dt = self.variation.vectors, float(chunk.dt[0])
            vectors[:, DU] += dt * (vectors[:, DV] + 0.5 * dt * vectors[:, DA])
            vectors[:, DV] += dt * vectors[:, DA]
            self.elapsed += dt
            mass = small_or_sparse_mass(self.stage)
            accelerate(self.stage, self.progress.motion, float(chunk.time[1]), mass, vectors)
        return reason


class TangentGrowth:
    """Growth of ``count`` perturbations in the last step, by the tangent map."""

    def __init__(self, model: Model, count: int, every: int | None = None) -> None:
        self.count, self.trajectory = count, Trajectory(model, SilentSink(), Varied)
        last = self.trajectory.last
        assert isinstance(last, Varied)
        self.last = last
        self.trajectory.open()
        last.every = every or EVERY
        last.perturb(count)

    @property
    def rows(self) -> Floats:
        """(r, count + 1) logarithms of growth from one orthonormalisation to the next; last column: times between."""
        return np.concatenate([np.zeros((0, self.count + 1)), *self.last.grown])

    def follow(self, end: int = NEVER) -> None:
        """Continues up to this increment, or to the end of the step."""
        advance_to(self.last, end, is_paced=True)


def map_over(last: Varied, increments: int, starts: Floats) -> Floats:
    """(k, 2, 3n) perturbations ``starts`` of u and v after some increments, with all events in them.
    The derivative of the map from a state to that ``increments`` later, along (k, 2, 3n) directions; ``last`` is open,
    its motion is the state, and the later one afterwards. ENERGY MOMENTUM leaves its velocities along rods in both:
    project perturbations with those of the motion (``saltation.project``). CommandError: there is no
    derivative."""
    last.begin(starts)
    advance_to(last, last.progress.increment + increments)
    assert last.variation is not None
    return last.variation.vectors[:, : DV + 1].copy()
