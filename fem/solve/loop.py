"""A run from its first step to its last: the state passed between steps, and the procedure of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from fem.arrays import distinct
from fem.assembly.environment import next_environment, winches_at
from fem.compiled.interpreted import work
from fem.errors import CommandError, ModelError, NoConvergence
from fem.linear.choice import SOLVERS
from fem.model import Frequency, Model, SteadyState, Step
from fem.model.notices import of_step, told_of_jump, warning
from fem.runs.record import NO_WISHES, Event, Requests, Response, Sink, StepStart
from fem.runs.schedule import MAX_FIELDS, Schedule, harmonic_items
from fem.solve.advice import OUT_OF_RANGE, watch_snaps
from fem.solve.checkpoint import Checkpoints
from fem.solve.clock import Clock, clock_of, expected_increments, refuse_endless
from fem.solve.outcome import acting_of
from fem.solve.plan import StepPlan, plan_of
from fem.solve.state import RunState
from fem.solve.statics.riks import ArcClock, make_arc, settled
from fem.solve.step_run import Ready, StepRun, ready
from fem.solve.step_system import StepSystem, loading_at

Made = TypeVar("Made", bound="Run")
LARGE = 500
"""Models with more elements wait for their machine code: a band solver of this size takes seconds in Python."""


def solve(model: Model, sink: Sink, requests: Requests = NO_WISHES, checkpoints: Checkpoints | None = None) -> None:
    """Run all steps of a model and send the results to ``sink``.

    checkpoints  when checkpoints are written, and the one from which the run continues; None: neither

    Raises
    ------
    CommandError   no such solver, or it is not installed
    ModelError     the model cannot be solved as it is described
    NoConvergence  an increment failed and could not be cut back
    EnergyDrift    the energy balance of a dynamic step left its band
    """
    begin(Run, model, sink, requests, checkpoints).run()


def begin(
    kind: Callable[..., Made], model: Model, sink: Sink, requests: Requests, checkpoints: Checkpoints | None
) -> Made:
    """Creates a run of some kind, ready to start. CommandError, ModelError: as in ``solve``."""
    if requests.solver.upper() not in SOLVERS:
        raise CommandError(f"there is no solver {requests.solver!r}; there are {', '.join(SOLVERS)}")
    # glibc returns blocks to the system at every free, until a block as large as these has been freed once
    # (mallopt(3), M_MMAP_THRESHOLD): a tenth of the time of a small model.
    np.empty(4_000_000)
    work.ahead = math.inf if len(model.mesh.element_labels) > LARGE else 0.0
    with ErrorsTold(model):
        return kind(model, sink, replace(requests, solver=requests.solver.upper()), checkpoints)


class ErrorsTold:
    """Context in which errors name the deck and the step; it may be entered many times.

    ModelError if numbers outside the compiled loops overflow or become NaN; compiled loops return NOT_FINITE.
    Floating-point errors that the caller ignores (kernels as Python functions) stay ignored.
    """

    def __init__(self, model: Model, step: int = 0) -> None:
        self._model, self._step, known = model, step, np.geterr()
        self._raised: dict[str, Any] = {kind: "raise" for kind, what in known.items() if what == "warn"}
        self._raised.pop("under", None)
        self._state: np.errstate | None = None

    def __enter__(self) -> None:
        self._state = np.errstate(**self._raised)
        self._state.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        assert self._state is not None
        self._state.__exit__(kind, error, trace)
        if isinstance(error, FloatingPointError | OverflowError):
            what = f"numbers of this model are out of range ({error}): {OUT_OF_RANGE}"
            raise ModelError(placed(self._model, self._step, what)) from error
        if isinstance(error, ModelError | NoConvergence):
            error.args = (placed(self._model, self._step, str(error)),)


def placed(model: Model, step: int, what: str) -> str:
    """A message with the deck and the step added, unless it names them."""
    where = f"step {step}"
    text = what if not step or what.startswith(where) else f"{where}: {what}"
    return f"{model.source}: {text}" if model.source else text


class Run(RunState):
    """One run of a model. kind: class of static and dynamic steps; settles: harmonic motions are solved to round-off,
    and those that are not found are NaN."""

    kind: type[StepRun] = StepRun
    settles = False

    def __init__(self, model: Model, sink: Sink, requests: Requests, checkpoints: Checkpoints | None = None) -> None:
        self.checkpoints = checkpoints or Checkpoints()
        super().__init__(self.checkpoints.model_of(model), sink, requests, self.checkpoints.every)

    def run(self) -> None:
        """All steps in order, from the first one or that of the checkpoint."""
        for number in range(self.checkpoints.take_up(self), len(self.model.steps) + 1):
            self.enter(number)
            self.checkpoints.ended(self, number)

    def enter(self, number: int) -> None:
        """Runs a step, from where the one before has ended."""
        self.checkpoints.begin(self, number)
        with ErrorsTold(self.model, number):
            self._step(number, self.model.steps[number - 1])

    def _step(self, number: int, step: Step) -> None:
        self._leave_out(step)
        plan = plan_of(number, step, self.progress.time)
        self._surround(plan)
        if step.static:
            self._stop()
        made = stage, _ = ready(self, plan)
        self.progress.increment = 0
        if step.modes:
            self.frequency(plan, step.modes, stage)
        elif step.buckling:
            self._buckle(plan, stage)
        elif step.harmonic:
            self._steady_state(plan, step.harmonic, stage)
        else:
            self._increments(plan, made)

    def _leave_out(self, step: Step) -> None:
        """Removes and restores the elements and masses that the step names."""
        removed = [self.system.elements_of(target) for target in step.removals]
        self.fallen = self.break_off(np.setdiff1d(reduce(np.union1d, removed), self.gone.nonzero())) if removed else []
        if step.shed or step.put:
            names = [mass.name or "" for mass in self.model.nonstructural]
            self.shed = np.isin(names, step.shed) | (self.shed & ~np.isin(names, step.put))
            self.take_out()  # their energy is work from outside

    def _surround(self, plan: StepPlan) -> None:
        """Determines the environment of a step: loads, supports, fluids."""
        motion, span, step = self.progress.motion, plan.span, plan.step
        self.before = before = self.environment
        self.environment = next_environment(self.system, before, step.still, span, motion.u, motion.v, motion.reaction)
        if self.environment.winches:
            stands, now = (winches_at(self.system, each, span.start) for each in (before, self.environment))
            if told := told_of_jump(self.model, step, stands, now):
                self.sink.notice(of_step(plan.number, warning(told)))
        self.hold_idle()

    def _increments(self, plan: StepPlan, made: Ready) -> None:
        """Runs a step with increments, in time or along an arc."""
        (stage, marcher), motion, start, riks = made, self.progress.motion, plan.span.start, plan.riks
        if plan.step.dynamic and stage.is_explicit:
            instant = loading_at(stage, motion, start)
            plan = plan.by(marcher.choose(plan.step.dynamic, motion, instant.thermal_end[0], start))
        number, step, timed = plan.number, plan.step, plan.step.timed
        refuse_endless(number, timed, plan.span.end)
        expected = None if riks else expected_increments(timed)
        schedule = Schedule(self.model, number - 1, start, MAX_FIELDS if riks else expected, self.requests.fields)
        instants = self.breaks.instants
        instants = instants if timed.direct else distinct(np.concatenate([schedule.instants, instants]))
        clock: Clock | ArcClock
        if step.static and riks:
            clock = ArcClock(step.static, step.controls, start, make_arc(stage, motion, plan.span, riks))
        else:
            clock = clock_of(timed, step.controls, start, instants, stage, motion)
        if step.dynamic and marcher.is_plain:
            watch_snaps(stage, step.controls, step.dynamic)
        name, acting = "STATIC" if step.static else "DYNAMIC", partial(acting_of, stage, bool(riks))
        begins = StepStart(number, step.name, name, start, timed.period, expected, stage.choice.text, acting)
        self.follow(self.kind(self, plan, made, clock, schedule, begins))
        if isinstance(clock, ArcClock):
            self.environment = settled(self.environment, clock.arc)

    def follow(self, step_run: StepRun) -> None:
        """Runs a step from its start to its end; ``fem/study`` replaces this for the last step."""
        step_run.open()
        self.checkpoints.opened(step_run)
        try:
            while not step_run.clock.is_finished:
                step_run.advance()
                self.checkpoints.look(step_run)
        except (NoConvergence, KeyboardInterrupt) as error:
            step_run.close(error)
            raise
        step_run.close()

    def _stop(self) -> None:
        """Statics sets velocities to zero; non-zero ones are reported."""
        motion = self.progress.motion
        if np.any(motion.v):
            self.sink.notice("a static step stops all motion: the velocities at its start are set to zero")
        motion.v[:] = 0.0
        motion.a[:] = 0.0

    def _begin(self, plan: StepPlan, procedure: str, count: int | None) -> None:
        """Begins a step without increments, with the elements that it has removed."""
        number, now = plan.number, plan.span.start
        self.sink.begin(StepStart(number, plan.step.name, procedure, now, 0.0, count))
        for label, lost in self.fallen:
            self.sink.event(Event(number, 0, now, label, "break", lost))

    def frequency(self, plan: StepPlan, procedure: Frequency, stage: StepSystem) -> None:
        from fem.solve.frequencies import find_modes

        number, motion, now = plan.number, self.progress.motion, plan.span.start
        self._begin(plan, "FREQUENCY", None)
        modes, notice = find_modes(stage, motion, loading_at(stage, motion, now), procedure.modes, number, now)
        if notice:
            self.sink.notice(of_step(number, notice))
        self.sink.modes(modes)

    def _buckle(self, plan: StepPlan, stage: StepSystem) -> None:
        """Runs a step of linear buckling; it leaves the loads unchanged."""
        from fem.solve.buckling import find_factors

        number, motion, now = plan.number, self.progress.motion, plan.span.start
        self._begin(plan, "BUCKLE", None)
        factors, notices = find_factors(stage, motion, loading_at(stage, motion, now), plan.step, number, now)
        for text in notices:
            self.sink.notice(of_step(number, text))
        self.sink.factors(factors)
        self.environment = self.before

    def respond(self, response: Response) -> None:
        self.sink.response(response)

    def _steady_state(self, plan: StepPlan, procedure: SteadyState, stage: StepSystem) -> None:
        """Runs a step of harmonic motions; it leaves the loads unchanged."""
        from fem.solve.harmonic.responses import acting_in, responses

        number, motion, now = plan.number, self.progress.motion, plan.span.start
        # here curves are functions of the frequency
        system = replace(self.system, model=replace(self.model, driven={}))
        acting = acting_in(system, plan.step, self.environment, motion.u, now)
        nodes, elements = harmonic_items(self.model, number - 1, self.requests.record_all)
        count = None if procedure.parted else len(procedure.frequencies())
        self._begin(plan, "STEADY STATE DYNAMICS", count)

        def say(text: str) -> None:
            self.sink.notice(of_step(number, text))

        for response in responses(stage, motion, acting, procedure, (number, nodes, elements), say, self.settles):
            self.respond(response)
        self.environment = self.before
