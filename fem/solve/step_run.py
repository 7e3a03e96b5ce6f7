"""One static or dynamic step: its start, chunks of increments, output, and handling of failures."""

from __future__ import annotations

import time as wall
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.sudden import sudden
from fem.compiled.interpreted import work
from fem.errors import ModelError, NoConvergence, OutOfIncrements, listed
from fem.forces.families import as_they_rest
from fem.linear.choice import BICGSTAB, CG
from fem.model.notices import coarse_swing, coarse_waves, of_gravity, of_step, warning
from fem.model.steps import MOST_INCREMENTS
from fem.model.taut_starts import told_of_starts
from fem.runs.record import Event, StepStart
from fem.runs.schedule import NEVER, Schedule
from fem.solve import advice, outcome, rope_states, start
from fem.solve.clock import BALANCES, CHUNK_NUMBERS, CHUNK_SECONDS, LONGEST_CHUNK, Clock, ErrorClock, increments
from fem.solve.corners import corners_of, unseen_notice
from fem.solve.energy_watch import EnergyWatch
from fem.solve.momenta import MomentumWatch
from fem.solve.newton import groups
from fem.solve.newton.arc import FACTOR
from fem.solve.newton.balance import note_increment
from fem.solve.newton.groups import (
    CONTROL,
    ENERGY,
    LIMIT,
    MEMORY,
    NEED_SOLVE,
    ROW,
    TAKES_PART,
    Ledger,
    Loading,
)
from fem.solve.newton.march import march
from fem.solve.paths import may_lose, path_of
from fem.solve.plan import StepPlan
from fem.solve.ranges import FARTHEST, told_of_ranges
from fem.solve.refill import refill_of
from fem.solve.rods import check_constraints, consistent_velocities, refuse_stretching
from fem.solve.schemes import energy_momentum
from fem.solve.state import HANDED_ON, SINGULAR, Marcher, RunState, StepState, copied, names_in, put_back
from fem.solve.statics.laying import LAID, laid, may_be_laid
from fem.solve.statics.mechanisms import (
    careful_nodes,
    hold_again,
    hold_unrestrained,
    instability_notice,
    refuse_mechanism,
)
from fem.solve.statics.rigid import hold_rigid, refuse_rigid_loads
from fem.solve.statics.riks import MOST_OF_AN_ARC, ArcClock, settled
from fem.solve.step_system import NO_ROPES, StepSystem, loading, loading_at, prepare, record

MEASURED = 0.5
"""Fraction of the time of a chunk after which the pace counts; the first increments are too slow for that."""
MORE_ITERATIONS = 4
"""Factor on the iteration limit if corrections are damped: at most 94 were needed for 100 hanging bodies."""

if TYPE_CHECKING:
    from fem.solve.paths import PathWatch
    from fem.solve.ropes.active import ActiveSet
    from fem.solve.ropes.events import Events
    from fem.solve.ropes.watched import Failed


LOST = (SINGULAR, groups.NOT_CONVERGED, groups.NOT_FINITE)
"""Outcomes of a chunk in which Newton's method did not find an equilibrium."""
QUIET, PASSED = -2, -3
"""Outcomes of a successful chunk: without output; that ends with an increment in which ropes have changed."""


class Newton(Marcher):
    """The march of implicit schemes and of statics."""

    can_cut = True

    def __init__(self) -> None:
        self.is_plain = type(self).march is Newton.march

    def march(self, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> int:
        """Computes a chunk; repeated with other methods if statics finds no equilibrium."""
        reason = step.iterate(control, chunk, kept, NO_ROPES)
        while reason in LOST and (
            self._held_again(step, control, chunk) or self._carefully(reason, step, control, chunk, kept)
        ):
            reason = step.try_out(control, chunk, kept, NO_ROPES)  # DONE if that was the last increment
        if reason in LOST and self._laid(step, control, chunk, kept):
            is_last = control[CONTROL.increment] == len(chunk.dt)
            return groups.DONE if is_last else self.march(step, control, chunk, kept)
        return reason

    def _held_again(self, step: StepState, control: Ints, chunk: Loading) -> bool:
        """Prepares an increment of statics with other held directions; returns whether there are any."""
        k = control.item(CONTROL.increment)
        if len(step.arc.last) or not hold_again(step.stage, step.step, step.progress.motion, chunk.time.item(k)):
            return False
        control[CONTROL.phase], control[CONTROL.waiting] = groups.OPEN, 0
        return True

    def _carefully(self, reason: int, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> bool:
        """Repeats an increment of statics with damped corrections, for a singular tangent, slack bars, or a free
        body that moves to equilibrium; returns whether it converges."""
        stage, nodes = step.stage, step.stage.nodes
        has_bodies = bool(step.system.model.corners)
        careful = None if stage.is_dynamic or len(step.arc.last) else careful_nodes(stage)
        if careful is None or not (reason == SINGULAR or has_bodies):
            return False
        stage.nodes = careful
        limits, stage.limits = stage.limits, stage.limits.copy()
        stage.limits[LIMIT.iterations] *= MORE_ITERATIONS if has_bodies else 1
        control[CONTROL.phase], control[CONTROL.waiting] = groups.OPEN, 0
        reason = step.try_out(control, chunk, kept, NO_ROPES, int(control[CONTROL.increment]) + 1)
        stage.nodes, stage.limits = nodes, limits
        return reason == groups.DONE

    def _laid(self, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> bool:
        """Repeats an increment of statics, starting from an equilibrium of cables; returns whether it converges."""
        stage, motion, increment = step.stage, step.progress.motion, int(control[CONTROL.increment])
        if stage.is_dynamic or len(step.arc.last) or not step.step.nlgeom or not may_be_laid(stage):
            return False
        before = motion.u.copy()
        for found in laid(stage, motion, chunk, increment):
            motion.u[:] = found
            control[CONTROL.phase], control[CONTROL.waiting] = groups.OPEN, 0
            reason = step.try_out(control, chunk, kept, NO_ROPES, increment + 1)
            if reason == groups.DONE or (reason == SINGULAR and self._carefully(reason, step, control, chunk, kept)):
                step.notify(LAID)
                return True
            motion.u[:] = before
        return False

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Message: why the step stopped."""
        return advice.failure_message(step, reason, control, increments, dt)


Ready: TypeAlias = tuple[StepSystem, Marcher]
"""Arrays of a step, and the march through its increments."""


def ready(run: RunState, plan: StepPlan) -> Ready:
    """Arrays of a step for the remaining model, and the march through its increments."""
    step, motion, scheme = plan.step, run.progress.motion, plan.scheme
    system, bars, ropes = run.system, run.bars_of(step), rope_states.ropes_of(run.system)
    rope_states.refuse_ropes(system, ropes, plan.without_ropes, bool(step.dynamic))
    steps_over = rope_states.steps_over_impacts(step.controls, scheme, bars, ropes)
    if steps_over:
        scheme = energy_momentum()
        system = replace(system, bars=rope_states.without_pulls(system.bars, ropes))
        bars = rope_states.without_pulls(bars, ropes)
    if step.small_motion:
        bars = rope_states.as_they_are(bars, ropes, motion.u)
        families = as_they_rest(system.families, motion.u, motion.state)
        system = replace(system, bars=rope_states.as_they_are(system.bars, ropes, motion.u), families=families)
    acting = run.environment
    if step.modes:  # only *D ADDED MASS counts as added mass
        acting = replace(acting, flows=tuple(flow for flow in acting.flows if flow.load.kind != "FI"))
    stage = prepare(system, acting, bars, scheme, step.controls, run.requests.solver)
    marcher: Marcher = scheme.march(stage) if scheme.march else Newton()
    if steps_over:
        from fem.solve.ropes.moreau import Moreau  # imported only by runs that need it

        marcher = Moreau(stage, ropes, rope_states.stepping_notice(step.controls, plan.integrator, len(ropes)))
    if stage.is_explicit:
        from fem.solve.explicit.driver import Explicit

        marcher = Explicit(stage)
    return stage, marcher


class StepRun(StepState):
    """One static or dynamic step on its way.

    longest   largest number of increments of a chunk
    has_gaps  some elements are removed
    path      watch of the stability of statics; None: none
    events, active  ropes watched by the Newton march, in dynamics and in statics: ``watched``
    """

    changing = ("notices", "has_jumped", "thermal")
    path: PathWatch | None = None

    def __init__(
        self, run: RunState, plan: StepPlan, made: Ready, clock: Clock | ArcClock, schedule: Schedule, start: StepStart
    ) -> None:
        super().__init__(run, plan, clock, schedule, start)
        self.most = plan.step.max_increments or (MOST_OF_AN_ARC if len(self.arc.last) else MOST_INCREMENTS)
        self.has_jumped, self.spent = False, work.spent
        self.watch, self.momenta = EnergyWatch(made[0], plan), MomentumWatch()
        self.take(*made)

    def take(self, stage: StepSystem, marcher: Marcher) -> None:
        """Sets the stage and the march with which the step continues."""
        self.stage, self.marcher, self.system = stage, marcher, self.whole.system
        self.watch.stage, self.is_compiled, self.has_gaps = stage, False, bool(self.whole.gone.any())
        extrapolation = ("NO", "LINEAR", "PARABOLIC").index(self.step.extrapolation)
        stage.coefficients = stage.coefficients._replace(extrapolation=extrapolation)
        stages = rope_states.stages_of(stage, self.whole.requests.solver)
        self.events: Events | None = None
        self.active: ActiveSet | None = None
        if stages:
            self.events, self.active = self.watch_ropes(stages)
        self.watched = self.events or self.active
        self.at_start = marcher.rope_start(self) or self.events

    def watch_ropes(self, stages: rope_states.Stages) -> tuple[Events | None, ActiveSet | None]:
        """What watches the ropes in dynamics, or in statics."""
        from fem.solve.ropes import active, events  # imported only with ropes

        is_dynamic = stages.first.is_dynamic
        return (events.Events(self, stages), None) if is_dynamic else (None, active.ActiveSet(self, stages))

    def open(self) -> None:
        """Initialise the step: a consistent state, and the first row of output."""
        carried, stage, shown, instant = self.start_up()
        motion, now = self.progress.motion, self.clock.start
        jumped = motion.u.copy()
        self.watch.open(motion)
        self.momenta.open(stage, motion)
        self.sink.begin(self.start)
        for text in self.notices:
            self.sink.notice(of_step(self.number, text))
        self.has_begun = True
        self.tell_broken(self.whole.fallen)
        first = record(stage, 1, self.nodes, self.elements)
        numbers = outcome.numbers_in(first) + 4 + 3 * int(np.count_nonzero(stage.environment.supports.supported))
        numbers += len(self.thermal) if self.system.expansions else 0
        self.longest = max(1, min(LONGEST_CHUNK, CHUNK_NUMBERS // numbers))
        motion.u[:] = carried  # U, E, S, N and T of increment 0 are those before the supports jump
        error, self.thermal = motion.energies[ENERGY.error0], instant.thermal_end[0]
        note_increment(0, 0, 0.0, 0.0, 0, error, shown.problem, self.thermal, motion, first)
        self._send_rows(first, np.zeros(1, np.int64), np.array([now]), np.zeros(1))
        self._send_frame(is_end=False)
        motion.u[:] = jumped
        self.path, self.has_jumped = path_of(self, bool(self.watched)), not may_lose(stage)
        if self.at_start:
            self.at_start.tell()

    def start_up(self) -> tuple[Floats, StepSystem, StepSystem, Loading]:
        """Makes the state consistent, and opens its energies. Returns the displacements before supports jump, the stage
        for the states of ropes, that whose numbers are shown, and the loads at the start."""
        stage, motion, now = self.stage, self.progress.motion, self.clock.start
        if self.clock.is_static and stage.coefficients.extrapolation:
            self.notify("EXTRAPOLATION uses velocities, which a static step does not have: it has no effect here")
        start.start_dependents(stage, motion.u, "displacement")
        carried, is_first = motion.u.copy(), not self.whole.has_started
        stage, instant = self.settle(self.plan, now, is_first)
        dynamic = self.step.dynamic
        if self.sink.hears_notices:
            for text in of_gravity(self.system.model, self.step):
                self.notify(warning(text))
        if isinstance(self.clock, Clock) and self.clock.is_direct and self.sink.hears_notices:
            self.notify(warning(unseen_notice(corners_of(stage.environment, now, self.clock.end), self.clock.dt)))
        if dynamic and self.sink.hears_notices:
            self.notify(advice.snap_notice(stage, dynamic, self.clock.dt))
            self.notify(warning(coarse_swing(self.system.model, dynamic)))
            self.notify(warning(coarse_waves(self.system.model, dynamic)))
            self.notify(told_of_starts(self.system.model) if self.number == 1 else "")
            self.notify(advice.pace_notice(self.clock))
        jumped = motion.u.copy()
        goes_on = self.whole.lags and self.plan.keeps_acceleration
        start.open_energies(stage, motion, instant, is_first and np.array_equal(jumped, carried), goes_on)
        self.whole.lags = stage.coefficients.lags
        shown = self.at_start.open(motion, is_first) if self.at_start else stage
        self.whole.has_started = True
        return carried, stage, shown, instant

    def close(self, error: BaseException | None = None) -> None:
        """Ends the step: notices, and the last field of a step that failed. Its chunks are not kept any longer: objects
        that refer to each other last until Python looks for them."""
        self.again, self.marching, self.marches, self.go_on = None, StepState.marching, (), march
        if error is None and self.clock.is_static:
            self.notify(warning(instability_notice(self.stage, self.path.negative if self.path else None)))
            self.notify(outcome.slack_notice(self.stage, self.progress.motion, self.thermal))
        if error is None and self._is_linear_from_the_start() and self.sink.hears_notices:
            self.notify(warning(advice.turned_notice(self.system.model, self.whole.gone, self.progress.motion.u)))
        self._tell_ranges()
        if self.sink.hears_notices:
            self.notify(self.watch.closing(self.progress, self.clock.dt))
        # after Ctrl-C the motion may be in the middle of an iteration
        if not self.clock.is_finished and (error is None or isinstance(error, NoConvergence)):
            self._send_frame(is_end=True)

    def _is_linear_from_the_start(self) -> bool:
        """Whether bars keep the directions in which they were drawn."""
        model = self.system.model
        is_displaced = any(each.kind == "DISPLACEMENT" for each in model.initial_conditions)
        return not is_displaced and not any(step.nlgeom for step in model.steps[: self.number])

    def _tell_ranges(self) -> None:
        """Notice of elements outside their range, given once in a run."""
        memory = self.progress.motion.memory
        found = told_of_ranges(self.whole.system, self.stage.bars, memory) if memory[list(FARTHEST)].any() else {}
        for at, text in found.items():
            if at not in self.whole.told:
                self.whole.told += (at,)
                self.notify(warning(text))

    def settle(self, plan: StepPlan, now: float, is_first: bool) -> tuple[StepSystem, Loading]:
        """Consistent velocities, forces, accelerations and loads at an instant; the stage for the states of ropes."""
        motion, before, jumps = self.progress.motion, self.progress.motion.v.copy(), False
        largest = float(np.linalg.norm(motion.force.reshape(-1, 3), axis=1).max(initial=0.0))
        if self.active:
            self.active.start(motion, now)
        stage, dynamic = self.stage, plan.step.dynamic
        if dynamic:
            if self.at_start:
                self.at_start.hold(motion, now)
            self.notify(start.told_of_speeds(stage, motion, now) if is_first else "")
            has_ropes = len(rope_states.ropes_of(self.system)) > 0
            self.notify(warning(start.start_supports(stage, motion, now, is_first, has_ropes)))
            may_jump = not (is_first or self.at_start)
            jumps = start.start_dependents(stage, motion.v, "velocity", self.clock.end - now, may_jump)
            if self.events:
                if len(stage.nodes.directed_mass):  # mass added by families, for the initial motion of ropes
                    start.evaluate_start(stage, motion, loading_at(stage, motion, now))
                stage = self.events.start(motion, now)
        instant = loading_at(stage, motion, now)
        start.evaluate_start(stage, motion, instant)
        check_constraints(stage, motion)
        if dynamic and self.sink.hears_notices and not before.any():
            acting = self.whole.before, stage.environment
            for jump in sudden(self.system, *acting, now, motion.u, largest, is_first):
                self.notify(warning(jump.text) if jump.is_large else jump.text)
        if dynamic and (jumps or len(stage.bars.rods)):
            if is_first:  # later velocities come from a march, which may keep lengths in mid-increment only
                refuse_stretching(stage, before, rope_states.ropes_of(self.system))
            if not self.events:  # with events they are consistent already
                mass = start.small_or_sparse_mass(stage)
                self.notify(warning(consistent_velocities(stage, motion, mass, jumps)))
                start.evaluate_start(stage, motion, instant)
        # ``active`` does this whenever a rope changes.
        is_alone = self.clock.is_static and not self.active
        if is_alone and not (self.step.nlgeom and may_be_laid(stage)):
            refuse_rigid_loads(stage, motion, now, self.step.nlgeom)
        held, notice = (np.zeros(0, np.int64), "") if self.active else hold_unrestrained(stage, self.step)
        self.notify(notice)
        self.notify(hold_rigid(stage, motion, now, self.step.nlgeom) if is_alone else "")
        if self.events:
            self.events.stages.first.nodes = stage.nodes  # for all states of the ropes
        self.notify(self.marcher.notice)
        self.notify(warning(advice.soft_bottom_notice(stage)))
        motion.v[held] = motion.a[held] = 0.0  # initial conditions included
        self.marcher.refuse(held, motion)
        if self.at_start:
            stage = self.at_start.begin(stage, motion, instant)
        if dynamic:
            self.notify(start.initial_acceleration(stage, motion, held, dynamic))
        return stage, instant

    # Chunks

    def _count(self) -> int:
        """Number of increments in the next chunk."""
        if not self.clock.is_steady or self.active or (self.events and self.events.has_shared):
            return 1
        done = self.progress.increment
        count = self.marcher.length(min(self.progress.chunk, self.longest), done)
        every = self.whole.keeps_every
        checkpoint = (done // every + 1) * every if every else NEVER
        following = min(self.schedule.next_field(done), checkpoint, self.most)
        return max(1, min(count, following - done, self.path.most if self.path else count))

    def advance(self, most: int = LONGEST_CHUNK, outcome: int | None = None) -> None:
        """Computes a chunk of at most ``most`` increments; raises an error at failure. outcome: that of ``repeat``."""
        if self.progress.increment >= self.most:
            raise OutOfIncrements(advice.out_of_increments(self, self.most))
        is_paced = self.clock.is_paced and not self.watch.is_off
        saved = self.state() if is_paced or len(self.whole.breaks.watched) else {}
        if outcome is not None and self.again:
            (chunk, kept, control), reason, due, failed = self.again.parts, outcome, None, None
            if outcome == NEED_SOLVE:
                reason = self.try_out(control, chunk, kept, NO_ROPES)
        else:
            chunk, kept, control = self._chunk(most)
            due = self.marcher.due(self, chunk)
            self.watch.prepare(self.stage.limits, control, self.progress.increment)
            before = self.path.sets_off(chunk) if self.path else None
            reason, failed, spent = self._through(control, chunk, kept)
            count = 0 if reason == PASSED else int(control[CONTROL.increment])
            if self.path and before and count and not self.path.passes(before, chunk, count):
                if count == 1:
                    self._note_cutback()
                return
        times, steps, done = chunk.time, chunk.dt, int(control[CONTROL.increment])
        may_gain = done and is_paced and reason != PASSED
        if may_gain and self.clock.may_cut and self.watch.gains(self.progress.motion, float(steps[0])):
            self.restore(saved)
            self._recover(groups.DRIFT, control, kept.increments, float(steps[0]))
            return
        if done:
            rows, reached = self._reached(kept, times[1 : done + 1])
            if rows.size and rows[0] < done - 1:
                self.restore(saved)
                self.advance(1 + int(rows[0]))
                return
            given = None if due is None else due[:done].nonzero()[0]
            self._accept(kept, given, times[: done + 1], steps[:done], chunk)
            if outcome is None:
                self._pace(spent, done)
            if self.break_off(reached):
                return
        if reason == groups.DRIFT:
            self.notify(warning(self.watch.leaves(self.progress, self.clock.dt)))
        if reason not in (groups.DONE, groups.RESIZE, groups.DRIFT, PASSED):
            where = (failed.control, failed.increments) if failed else (control, kept.increments)
            self._recover(reason, *where, float(steps[min(done, len(steps) - 1)]))

    def repeat(self, asked: float, until: float) -> int | None:
        """Computes another chunk like the last one without output: QUIET, or the outcome for ``advance``; None: nothing
        is done, as the next chunk is different. asked, until: as in ``Refill.fits``."""
        again, clock, now = self.again, self.clock, self.progress
        if not (again and again.is_quiet and again.stage is self.stage and again.parts[0] is self.marching[1]):
            return None
        grid = clock.plan(again.count)
        if not (again.fits(grid, asked, until) and now.increment + again.count <= self.most):
            return None
        _, kept, control = again.parts
        self.watch.prepare(self.stage.limits, control, now.increment)
        reason: int = self.go_on(again.count)
        if reason != groups.DONE or grid.end >= clock.end or not again.is_good():
            return reason
        clock.advance(grid.end, again.count, int(kept.increments.item(-1, ROW.iterations)))
        now.time, now.increment, self.whole.reached = grid.end, now.increment + again.count, (kept, again.count - 1)
        return QUIET

    def _chunk(self, most: int) -> tuple[Loading, Ledger, Ints]:
        """Loads of the next increments, their record, and the control array of the march."""
        grid, instant = self.clock.plan(min(most, self._count())), self.schedule.next_instant()
        if self.again and self.again.stage is self.stage and grid.end < instant and self.again.fits(grid):
            return self.again.parts
        times, steps = increments(grid)
        if instant <= grid.end:  # a field is due at this instant
            last = int(times[1:].searchsorted(instant)) + 1
            times, steps = times[: last + 1], steps[:last]
        chunk = loading(self.stage, self.progress.motion, times, steps)
        self.marches = tuple(each for each in self.marches if len(each[0][1].dt) == 1)
        parts = chunk, record(self.stage, len(steps), self.kept_nodes, self.elements), np.zeros(len(CONTROL), np.int64)
        self.again = refill_of(self.stage, self.progress.motion, *parts) if self.is_compiled else None
        if self.again:
            whole, iterates = self.whole, self.stage.choice.solver in (CG, BICGSTAB)  # reported to ``patience``
            is_simple = self.marcher.is_plain and self.stage.is_dynamic and not iterates
            is_heard = self.sink.hears_rows or whole.keeps_every or len(whole.breaks.elements) or self.system.bodies
            self.again.is_quiet = is_simple and not (is_heard or self.watched or self.clock.is_paced)
        return parts

    def _pace(self, spent: float, done: int) -> None:
        """Chooses the size of the next chunk after one of ``done`` increments, and the part computed by Python
        functions."""
        now, in_python, self.spent = self.progress, work.spent - self.spent, work.spent
        if in_python and not self.is_compiled:
            if in_python > MEASURED * CHUNK_SECONDS:
                work.ahead = in_python * (self.clock.end - now.time) / (self.clock.dt * done)
            now.few = now.chunk = max(1, min(4 * now.few, int(CHUNK_SECONDS / (spent / done))))
        else:
            work.ahead = 0.0
            now.pace(spent, done + BALANCES > now.chunk)

    def _through(self, control: Ints, chunk: Loading, kept: Ledger) -> tuple[int, Failed | None, float]:
        """Computes a chunk, with the increments in which ropes go slack or become taut; the march takes ``spent``
        seconds of it. It ends after such an increment (``PASSED``) where others depend on how that went, as loads,
        lengths and numbers of increments may."""
        began, supports, spent = wall.perf_counter(), self.stage.environment.supports, 0.0
        ends = not self.clock.is_direct or len(self.whole.breaks.elements) > 0
        while True:
            start = wall.perf_counter()
            if not self.watched:
                return self.marcher.march(self, control, chunk, kept), None, wall.perf_counter() - start
            reason = self.watched.march(control, chunk, kept)  # up to where ropes change
            spent += wall.perf_counter() - start
            if reason != groups.EVENT:
                return reason, None, spent
            if failed := self._pass_events(control, chunk, kept):
                return failed.reason, failed, spent
            ends |= control.item(CONTROL.increment) == len(chunk.dt) or wall.perf_counter() - began > CHUNK_SECONDS
            ends |= bool(self.events and self.events.has_shared)
            if ends or not np.array_equal(supports.moving(self.progress.motion.u), chunk.support_dofs):
                return PASSED, None, spent

    def _pass_events(self, control: Ints, chunk: Loading, kept: Ledger) -> Failed | None:
        """Computes the increment of a chunk in which ropes go slack or become taut, and its row; or why it failed."""
        from fem.solve.ropes.watched import Failed

        assert self.watched
        k, now = control.item(CONTROL.increment), self.progress
        before = now.time, now.increment
        now.time, now.increment = chunk.time.item(k), now.increment + k
        try:
            its = self.watched.advance(now.time, chunk.time.item(k + 1), chunk.dt.item(k))
        except Failed as failure:
            return failure
        finally:
            now.time, now.increment = before
        kept.increments[k], kept.kinematics[k], kept.values[k] = its.increments[0], its.kinematics[0], its.values[0]
        control[CONTROL.increment], control[CONTROL.phase], control[CONTROL.waiting] = k + 1, groups.OPEN, 0
        return None

    def _reached(self, kept: Ledger, time: Floats) -> tuple[Ints, Ints]:
        return self.whole.breaks.reached(self.elements, self.whole.gone, kept, time)

    def _accept(self, kept: Ledger, rows: Ints | None, times: Floats, steps: Floats, chunk: Loading) -> None:
        """Accepts the increments that end at times[1:]; rows: those that are passed on (None: all)."""
        done, time, increments = len(steps), times.item(-1), kept.increments[: len(steps)]
        if self.watched:
            self.watched.tell()
        self.clock.advance(time, done, int(increments.item(done - 1, ROW.iterations)))
        self.patience.judge(self.stage, self.progress.motion, increments)
        self.progress.time = time
        self.notify(self.momenta.look(self.progress))
        if self.clock.is_static or np.count_nonzero(increments[:, ROW.flags]):
            self._remark(increments, times[1:])
        if self.stage.scheme.secant and len(self.stage.bars.rods) and len(chunk.support_dofs):
            self.notify(outcome.jerked(self.stage, chunk, done, self.clock.start))
        self._send_rows(kept, np.arange(done) if rows is None else rows, times[1:], steps, chunk)
        self.marcher.tell(self, self.progress.increment - done, times)
        self.thermal = chunk.thermal_end[min(done, len(chunk.thermal_end) - 1)]
        self._send_frame(self.clock.is_finished)

    def _remark(self, increments: Floats, ends: Floats) -> None:
        for k in outcome.snapped(increments).tolist():
            self.sink.event(Event(self.number, self.progress.increment + 1 + k, float(ends[k]), 0, "snap"))
        jumps = []
        if self.clock.is_static and not (self.has_jumped or self.path):
            jumps = outcome.jumps_of(increments, self.progress.increment)
            self.has_jumped = bool(jumps)
        for text in outcome.remarks_of(increments, jumps):
            self.notify(text)

    def _send_rows(self, kept: Ledger, rows: Ints, time: Floats, dt: Floats, chunk: Loading | None = None) -> None:
        outcome.gather_reactions(self.system.bodies, self.nodes, kept.kinematics)
        factor = kept.increments[: len(time), ROW.factor] if len(self.arc.last) else None
        is_heard = self.sink.hears_rows
        if is_heard:
            done = len(dt)
            is_its = chunk is not None and chunk.time.item(done) == time.item(-1)  # else the last part of an increment
            factors = chunk.factors[1 : done + 1] if chunk and is_its else None
            outcome.note_loads(self.stage.environment, self.nodes, time, factor, kept.kinematics, factors)
        if self.has_gaps:
            kept.values[:, self.whole.gone[self.elements]] = 0.0
        good, first = outcome.before_overflow(kept, rows), self.progress.increment + (1 if dt.item(0) else 0)
        cutbacks, self.progress.cutbacks = self.progress.cutbacks, 0
        self.progress.increment, is_whole = first + rows.item(-1), len(good) == len(rows)
        if len(good) and self.whole.requests.is_driven:
            self.whole.reached = kept, good.item(-1)
        if len(good) and is_heard:
            recorded, is_end = (self.nodes, self.elements), self.clock.is_finished and is_whole
            shown = outcome.copy_of(kept, np.arange(len(kept.increments))) if self.again else kept
            since = self.stage.environment.sea_from
            found = outcome.rows_of(self.number, shown, good, first + good, time, dt, recorded, is_end, since)
            found.cutbacks[0] = cutbacks
            if outcome.is_unloaded(kept.increments[rows.item(-1)]):
                found = replace(found, unloaded=float(self.progress.motion.memory[MEMORY.closing_norm]))
            self.sink.rows(found if factor is None else replace(found, load_factor=factor[good]))
        if not is_whole:
            at = rows.item(len(good))
            raise ModelError(advice.overflow_message(self, first + at, time.item(at)))

    def _send_frame(self, is_end: bool) -> None:
        """Sends the whole field if it is due for VTK or at the end of the step (or of the run)."""
        now = self.progress
        is_due = self.schedule.is_vtk_due(now.increment, now.time, is_end)
        if (is_due or is_end) and self.sink.hears_frames:
            shown = self.events.shown if self.events else self.stage
            factor = self.arc.numbers[FACTOR:][:1] if len(self.arc.last) else None
            self.sink.frame(outcome.frame_of(shown, self.number, now, self.thermal, factor, is_end, is_due))

    def _recover(self, reason: int, control: Ints, increments: Floats, dt: float) -> None:
        """Cuts the increment back, or raises the error that says why that is not possible."""
        now = self.progress
        if now.increment == 0 and self.clock.is_static and not self.active:
            refuse_mechanism(self.stage, now.motion, now.time, self.number)
        if self.marcher.can_cut and self.clock.cut(reason):
            self._note_cutback()
            return
        trouble = self.watched.trouble if self.watched else ""
        failure = trouble or self.marcher.failure(self, reason, control, increments, dt)
        raise NoConvergence(failure + (self.path.where_it_ends(dt) if self.path else ""))

    def _note_cutback(self) -> None:
        """Notes that an increment is repeated as a shorter one."""
        now = self.progress
        now.cutbacks += 1
        self.sink.event(Event(self.number, now.increment + 1, now.time, 0, "cutback"))

    # Elements that break

    def break_off(self, reached: Ints) -> bool:
        """Removes the elements whose limits are reached now; returns whether there are any."""
        if not reached.size:
            return False
        self.tell_broken(self.whole.break_off(np.unique(self.whole.breaks.elements[reached])))
        if not self.clock.is_finished:
            self.rebuild()
        return True

    def tell_broken(self, broken: list[tuple[int, float]]) -> None:
        """Reports labels and lost energies of elements removed now."""
        if not broken:
            return
        now, system = self.progress, self.whole.system
        for label, lost in broken:
            self.sink.event(Event(self.number, now.increment, now.time, label, "break", lost))
        alone = np.intersect1d(system.idle.nonzero()[0], system.model.mesh.legs[0])
        if len(alone):
            names = listed(system.labels[alone])
            self.notify(f"nodes that have lost all their elements are kept in place: {names}")

    def rebuild(self) -> None:
        """Rebuilds the stage after a change of model or loads: new forces, accelerations; the energies continue."""
        motion, limits = self.progress.motion, self.stage.limits
        self.take(*ready(self.whole, self.plan))
        self.stage.limits[:] = limits
        if isinstance(self.clock, ErrorClock):
            self.clock.limits = self.stage.limits
        books, origin, memory = motion.energies[ENERGY.error0 :].copy(), motion.origin.copy(), motion.memory.copy()
        stage, instant = self.settle(self.plan.going_on(), self.progress.time, is_first=False)
        start.open_energies(stage, motion, instant, is_first=False)
        motion.energies[ENERGY.error0 :], motion.origin[:TAKES_PART] = books, origin[:TAKES_PART]
        motion.memory[MEMORY.elapsed : MEMORY.last_dt] = memory[MEMORY.elapsed : MEMORY.last_dt]
        start.keep_extents(motion, origin)
        self.path = path_of(self, bool(self.watched))
        self.momenta.open(stage, motion)
        if self.at_start:
            self.at_start.open(motion, is_first=False)
            self.at_start.tell()

    # State

    def parts(self) -> Iterator[tuple[str, Any]]:
        """All that changes during the step, by name: objects with ``changing``, or named tuples of arrays."""
        yield from (("step", self), ("progress", self.progress), ("motion", self.progress.motion), ("arc", self.arc))
        yield from (("clock", self.clock), ("watch", self.watch), ("patience", self.patience))
        yield from (("schedule", self.schedule), ("marcher", self.marcher))
        yield from ((f"cadence {number}", cadence) for number, cadence in enumerate(self.schedule.cadences))
        if self.path:
            yield "path", self.path
        if self.watched:
            yield "ropes", self.watched
        if self.events:
            yield from (("states", self.events.states), ("shares", self.events.shares))

    def state(self) -> dict[str, Any]:
        """Copies of all that changes; ``run``: the state for a following step."""
        found = {name: {key: copied(getattr(part, key)) for key in names_in(part)} for name, part in self.parts()}
        acting = settled(self.whole.environment, self.arc) if len(self.arc.last) else self.whole.environment
        found["run"] = {**{name: getattr(self.whole, name) for name in HANDED_ON}, "environment": acting}
        solvers = [solver_of(*pair) for pair in self._solving()]
        return found | {"limits": self.stage.limits.copy(), "solvers": solvers}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores the step to a stored state."""
        if not np.array_equal(self.system.gone, state["run"]["gone"]):  # elements have broken in this step
            for name, part in self.parts():
                if name in ("step", "progress", "motion"):
                    put_back(part, state[name])
            self.whole.take_over(state["run"])
            self.rebuild()
        for name, part in self.parts():
            put_back(part, state[name])
        if self.watched:
            self.watched.pending.clear()
            self.watched.stages.make([np.asarray(taut, bool) for taut, *_ in state["solvers"]])
            self.stage = self.watched.current
        self.stage.limits[:] = state["limits"]
        for (_, stage), kept in zip(self._solving(), state["solvers"], strict=True):
            restore_solver(stage, *kept[1:])

    def _solving(self) -> list[tuple[Flags | None, StepSystem]]:
        """The stages with solvers: one, or one for each state of the ropes so far (r,)."""
        return self.watched.stages.made if self.watched else [(None, self.stage)]


def solver_of(taut: Flags | None, stage: StepSystem) -> tuple[Any, ...]:
    """The current solver of a stage, and its kept factors, as the matrices that they are factors of."""
    opened = stage.opened, stage.opened_mass
    return taut, stage.choice.solver, *(one and one.state() for one in opened)


def restore_solver(
    stage: StepSystem, solver: int, whole: Mapping[str, Any] | None, mass: Mapping[str, Any] | None
) -> None:
    """Restores the linear solver to its earlier state."""
    from fem.linear.sparse import DirectSolver

    stage.choice = replace(stage.choice, solver=solver)
    for phase, state in ((groups.CORRECT, whole), (groups.PROJECT_ACCELERATION, mass)):
        if state is not None:
            opened = stage.solver_of(phase)
            assert isinstance(opened, DirectSolver)
            opened.put_back(state)
