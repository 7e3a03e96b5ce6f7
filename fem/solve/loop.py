"""A run from its first step to its last: what carries over between steps, and which procedure each one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from fem.assembly.build import assemble
from fem.assembly.cases import Span
from fem.assembly.environment import Environment, first_environment, next_environment
from fem.assembly.system import System, linearised
from fem.errors import CommandError, ModelError, NoConvergence
from fem.forces.bars.bar import Bars
from fem.model import Dynamic, Frequency, Model, Static, Step
from fem.results.record import Sink, StepStart
from fem.results.schedule import MAX_FIELDS, Schedule
from fem.solve.advice import OUT_OF_RANGE
from fem.solve.checkpoint import Checkpoints
from fem.solve.clock import Clock, ErrorClock, Progress, expected_increments, first_chunk, refuse_endless
from fem.solve.explicit.driver import Explicit
from fem.solve.increment import Marcher
from fem.solve.linear.choice import SOLVERS
from fem.solve.modes.find import find_modes
from fem.solve.newton.driver import Newton
from fem.solve.outcome import acting_of
from fem.solve.ropes import states
from fem.solve.ropes.moreau import Moreau
from fem.solve.schemes import SCHEMES, energy_momentum, equilibrium
from fem.solve.start import evaluate_start, first_motion
from fem.solve.statics.arc import no_arc
from fem.solve.statics.riks import ArcClock, make_arc, settled
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem, loading_at, prepare


def solve(
    model: Model, sink: Sink, *, solver: str = "AUTO", record_all: bool = False, fields: bool = True,
    checkpoints: Checkpoints | None = None,
) -> None:  # fmt: skip
    """Run all steps of a model and tell ``sink`` what happens.

    solver      one of ``fem.solve.linear.choice.SOLVERS``: AUTO, CHAIN, BAND, CG, DIRECT, SUPERLU, PARDISO
    record_all  rows carry every node and element, not only the printed ones
    fields      False: no whole fields but those at the ends of steps
    checkpoints when the state is kept, and what state the run goes on from; None: never, and none

    Raises
    ------
    CommandError   no such solver, or it is not installed
    ModelError     the model cannot be solved as it is described
    NoConvergence  an increment failed and could not be cut back
    EnergyDrift    the energy balance of a dynamic step left its band
    """
    wanted = solver.upper()
    if wanted not in SOLVERS:
        raise CommandError(f"there is no solver {solver!r}; there are {', '.join(SOLVERS)}")
    # glibc gives blocks back to the system, page by page in and out, until one as large as these has been freed once
    # (mallopt(3), M_MMAP_THRESHOLD): a tenth of the time of a small model.
    np.empty(4_000_000)
    with errors_told(model):
        run = Run(model, sink, wanted, record_all, fields, checkpoints)
    run.run()


@contextmanager
def errors_told(model: Model, step: int = 0) -> Iterator[None]:
    """Errors name the deck and the step.

    ModelError where numbers outside the compiled loops overflow, or become none; there NOT_FINITE says so.
    What the caller ignores (kernels as Python functions) stays ignored.
    """
    warned: dict[str, Any] = {
        kind: "raise" for kind, how in np.geterr().items() if how == "warn" and kind in ("over", "divide", "invalid")
    }
    try:
        with np.errstate(**warned):
            yield
    except (FloatingPointError, OverflowError) as error:
        what = f"numbers of this model are too large or too small to be reckoned with ({error}): {OUT_OF_RANGE}"
        raise ModelError(placed(model, step, what)) from error
    except (ModelError, NoConvergence) as error:
        error.args = (placed(model, step, str(error)),)
        raise


def placed(model: Model, step: int, what: str) -> str:
    """A message with the deck and the step, where it does not name them."""
    where = f"step {step}"
    text = what if not step or what.startswith(where) else f"{where}: {what}"
    return f"{model.source}: {text}" if model.source else text


class Run:
    """One run of a model: the steps share state, environment and the base of geometrically linear steps.

    ``kind``: what static and dynamic steps are made of.
    """

    kind: type[StepRun] = StepRun

    def __init__(
        self, model: Model, sink: Sink, solver: str, record_all: bool, fields: bool,
        checkpoints: Checkpoints | None = None,
    ) -> None:  # fmt: skip
        self.model, self.sink, self.solver, self.record_all = model, sink, solver, record_all
        self.fields = fields
        self.system: System = assemble(model)
        self.progress = Progress(first_motion(self.system), chunk=first_chunk(self.system))
        self.environment: Environment = first_environment(self.system, self.progress.motion.u)
        self.linear_bars: Bars | None = None
        self.has_started = False
        self.checkpoints = checkpoints or Checkpoints()

    def run(self) -> None:
        """All steps in order, from the first one or that of the checkpoint."""
        first = self.checkpoints.take_up(self)
        for number, step in enumerate(self.model.steps[first - 1 :], first):
            self.checkpoints.begin(self, number)
            with errors_told(self.model, number):
                self._step(number, step)
            self.checkpoints.ended(self, number)

    def _step(self, number: int, step: Step) -> None:
        procedure, motion = step.procedure, self.progress.motion
        is_static = not isinstance(procedure, Dynamic)
        period = 0.0 if isinstance(procedure, Frequency) else procedure.period
        span = Span(self.progress.time, self.progress.time + period, step.ramps and period > 0.0)
        self.environment = next_environment(
            self.system, self.environment, step, span, motion.u, motion.v, motion.reaction
        )
        scheme = equilibrium()
        if isinstance(procedure, Dynamic):
            scheme = SCHEMES[procedure.integrator](procedure)
        elif isinstance(procedure, Static):
            self._stop()
        system, bars, ropes = self.system, self._bars_of(step), states.ropes_of(self.system)
        states.refuse_ropes(system, ropes, procedure)
        steps_over = states.steps_over_impacts(step.controls, scheme, ropes)
        if steps_over:
            scheme = energy_momentum()
            system, bars = (
                replace(system, bars=states.without_pulls(system.bars, ropes)),
                states.without_pulls(bars, ropes),
            )
        if isinstance(procedure, Frequency):
            bars = states.as_they_are(bars, ropes, motion.u)
            system = replace(system, bars=states.as_they_are(system.bars, ropes, motion.u))
        stage = prepare(system, self.environment, bars, scheme, step.controls, self.solver)
        self.progress.increment = 0
        marcher: Marcher = Newton()
        if steps_over and isinstance(procedure, Dynamic):
            marcher = Moreau(stage, ropes, states.stepping_notice(step.controls, procedure.integrator, len(ropes)))
        if stage.is_explicit and isinstance(procedure, Dynamic):
            marcher = explicit = Explicit(stage)
            instant = loading_at(stage, motion, span.start)
            procedure = explicit.choose(procedure, motion, instant.thermal_end[0])
        if isinstance(procedure, Frequency):
            self._frequency(number, step, procedure, stage)
            return
        refuse_endless(number, procedure, span.end)
        riks = procedure.riks if isinstance(procedure, Static) else None
        expected = None if riks else expected_increments(procedure)
        schedule = Schedule(self.model, number - 1, span.start, MAX_FIELDS if riks else expected, self.fields)
        arc = no_arc()
        clock: Clock | ArcClock = Clock(procedure, step.controls, span.start, schedule.instants)
        if riks and isinstance(procedure, Static):
            arc = make_arc(stage, motion, span, riks)
            clock = ArcClock(procedure, step.controls, span.start, arc)
        if isinstance(procedure, Dynamic) and not procedure.direct and step.controls.time_error:
            clock = ErrorClock(procedure, step.controls, span.start, schedule.instants, stage, motion)
        name = "STATIC" if is_static else "DYNAMIC"
        start = StepStart(
            number, step.name, name, span.start, period, expected, stage.choice.text, acting_of(stage, step)
        )
        self.follow(self.kind(self, number, step, stage, clock, arc, schedule, start, marcher), procedure)
        if riks:
            self.environment = settled(self.environment, arc)

    def follow(self, step_run: StepRun, procedure: Static | Dynamic) -> None:
        """A step that is ready to go; ``fem/chaos`` goes through the last one in its own way."""
        step_run.run(procedure)

    def _stop(self) -> None:
        """Statics is at rest; velocities it ends are named."""
        motion = self.progress.motion
        if np.any(motion.v):
            self.sink.notice("a static step ends all motion: the velocities at its start are set to zero")
        motion.v[:] = 0.0
        motion.a[:] = 0.0

    def _bars_of(self, step: Step) -> Bars:
        """Bars as they are, or linear about the last geometrically nonlinear (or the reference) configuration."""
        if step.nlgeom:
            self.linear_bars = None
            return self.system.bars
        if self.linear_bars is None:
            self.linear_bars = linearised(self.system.bars, self.progress.motion.u)
        return self.linear_bars

    def _frequency(self, number: int, step: Step, procedure: Frequency, stage: StepSystem) -> None:
        motion, now = self.progress.motion, self.progress.time
        instant = loading_at(stage, motion, now)
        at_rest = motion._replace(v=np.zeros_like(motion.v), force=motion.force.copy(), state=motion.state.copy())
        evaluate_start(stage, at_rest, instant)
        self.sink.begin(StepStart(number, step.name, "FREQUENCY", now, 0.0, None))
        modes, notice = find_modes(stage, procedure.modes, number, now)
        if notice:
            self.sink.notice(f"step {number}: {notice}")
        self.sink.modes(modes)
