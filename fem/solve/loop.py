"""A run from its first step to its last: what carries over between steps, and which procedure each one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from fem.arrays import Ints, distinct
from fem.assembly.cases import Span
from fem.assembly.environment import (
    Environment,
    first_environment,
    next_environment,
    of_modes,
    thermal_rows,
    winches_at,
)
from fem.assembly.supports import hold_idle
from fem.assembly.system import System, absent, assemble, linearised
from fem.errors import CommandError, ModelError, NoConvergence
from fem.forces.bar import Bars
from fem.model import Dynamic, Frequency, Model, Perturbation, Static, SteadyState, Step
from fem.model.notices import told_of_jump
from fem.results.record import Event, Sink, StepStart
from fem.results.schedule import MAX_FIELDS, Schedule, harmonic_items
from fem.solve.advice import OUT_OF_RANGE, watch_snaps
from fem.solve.checkpoint import Checkpoints
from fem.solve.clock import (
    Clock,
    ErrorClock,
    Progress,
    expected_increments,
    first_chunk,
    goes_by_convergence,
    refuse_endless,
)
from fem.solve.increment import NO_WISHES, Marcher, Ready, Wishes
from fem.solve.linear.choice import SOLVERS
from fem.solve.newton.driver import Newton
from fem.solve.newton.groups import ENERGY
from fem.solve.outcome import acting_of
from fem.solve.ropes import states
from fem.solve.schemes import SCHEMES, energy_momentum, equilibrium
from fem.solve.start import first_motion
from fem.solve.statics.riks import ArcClock, make_arc, settled
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem, loading_at, prepare
from fem.solve.watch.breaks import breaks_of, energies_of


def solve(model: Model, sink: Sink, wishes: Wishes = NO_WISHES, checkpoints: Checkpoints | None = None) -> None:
    """Run all steps of a model and tell ``sink`` what happens.

    checkpoints  when the state is kept, and what state the run goes on from; None: never, and none

    Raises
    ------
    CommandError   no such solver, or it is not installed
    ModelError     the model cannot be solved as it is described
    NoConvergence  an increment failed and could not be cut back
    EnergyDrift    the energy balance of a dynamic step left its band
    """
    if wishes.solver.upper() not in SOLVERS:
        raise CommandError(f"there is no solver {wishes.solver!r}; there are {', '.join(SOLVERS)}")
    # glibc gives blocks back to the system, page by page in and out, until one as large as these has been freed once
    # (mallopt(3), M_MMAP_THRESHOLD): a tenth of the time of a small model.
    np.empty(4_000_000)
    with errors_told(model):
        run = Run(model, sink, replace(wishes, solver=wishes.solver.upper()), checkpoints)
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

    def __init__(self, model: Model, sink: Sink, wishes: Wishes, checkpoints: Checkpoints | None = None) -> None:
        self.checkpoints = checkpoints or Checkpoints()
        self.model = model = self.checkpoints.model_of(model)
        self.sink, self.wishes, self.breaks = sink, wishes, breaks_of(model)
        self.system: System = assemble(model)
        self.progress = Progress(first_motion(self.system), chunk=first_chunk(self.system))
        self.environment: Environment = first_environment(self.system, self.progress.motion.u)
        self.linear_bars: Bars | None = None
        self.gone, self.shed = self.system.gone, self.system.shed
        self.has_started = False

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
        removed = [self.system.elements_of(target) for target in step.removals]
        self.fallen = self.break_off(np.setdiff1d(reduce(np.union1d, removed), self.gone.nonzero())) if removed else []
        if step.shed or step.put:
            self._change_masses(step)
        is_static = not isinstance(procedure, Dynamic)
        period = procedure.period
        span = Span(self.progress.time, self.progress.time + period, step.ramps and period > 0.0)
        before = self.environment
        self.environment = next_environment(self.system, before, step.still, span, motion.u, motion.v, motion.reaction)
        if self.environment.winches:
            self._tell_of_winches(number, step, before, span.start)
        self.hold_idle()
        if isinstance(procedure, Static):
            self._stop()
        ready = stage, marcher = self.stage_of(step)
        self.progress.increment = 0
        if stage.is_explicit and isinstance(procedure, Dynamic):
            instant = loading_at(stage, motion, span.start)
            procedure = marcher.choose(procedure, motion, instant.thermal_end[0], span.start)
        if isinstance(procedure, Frequency):
            self._frequency(number, step, procedure, stage)
            return
        if isinstance(procedure, SteadyState):
            self._steady_state(number, step, procedure, stage)
            self.environment = before
            return
        refuse_endless(number, procedure, span.end)
        riks = procedure.riks if isinstance(procedure, Static) else None
        expected = None if riks else expected_increments(procedure)
        schedule = Schedule(self.model, number - 1, span.start, MAX_FIELDS if riks else expected, self.wishes.fields)
        instants = self.breaks.instants
        instants = instants if procedure.direct else distinct(np.concatenate([schedule.instants, instants]))
        clock: Clock | ArcClock = Clock(procedure, step.controls, span.start, instants)
        if riks and isinstance(procedure, Static):
            clock = ArcClock(procedure, step.controls, span.start, make_arc(stage, motion, span, riks))
        by_error = step.controls.time_error and not goes_by_convergence(procedure, step.controls)
        if isinstance(procedure, Dynamic) and not procedure.direct and by_error:
            clock = ErrorClock(procedure, step.controls, span.start, instants, stage, motion)
        if isinstance(procedure, Dynamic) and isinstance(marcher, Newton):
            watch_snaps(stage, step.controls, procedure)
        name = "STATIC" if is_static else "DYNAMIC"
        start = StepStart(
            number, step.name, name, span.start, period, expected, stage.choice.text, partial(acting_of, stage, step)
        )
        self.follow(self.kind(self, step, ready, clock, schedule, start), procedure)
        if isinstance(clock, ArcClock):
            self.environment = settled(self.environment, clock.arc)

    def stage_of(self, step: Step) -> Ready:
        """A step made ready with what is left of the model, and what takes it through its increments."""
        procedure, motion = step.procedure, self.progress.motion
        scheme = equilibrium()
        if isinstance(procedure, Dynamic):
            scheme = SCHEMES[procedure.integrator](procedure)
        system, bars, ropes = self.system, self._bars_of(step), states.ropes_of(self.system)
        states.refuse_ropes(system, ropes, procedure)
        steps_over = states.steps_over_impacts(step.controls, scheme, bars, ropes)
        if steps_over:
            scheme = energy_momentum()
            system, bars = (
                replace(system, bars=states.without_pulls(system.bars, ropes)),
                states.without_pulls(bars, ropes),
            )
        if isinstance(procedure, Perturbation):
            bars = states.as_they_are(bars, ropes, motion.u)
            system = replace(system, bars=states.as_they_are(system.bars, ropes, motion.u))
        acting = of_modes(self.environment) if isinstance(procedure, Frequency) else self.environment
        stage = prepare(system, acting, bars, scheme, step.controls, self.wishes.solver)
        marcher: Marcher = Newton()
        if steps_over and isinstance(procedure, Dynamic):
            from fem.solve.ropes.moreau import Moreau  # what few runs need is not imported by all

            marcher = Moreau(stage, ropes, states.stepping_notice(step.controls, procedure.integrator, len(ropes)))
        if stage.is_explicit:
            from fem.solve.explicit.driver import Explicit

            marcher = Explicit(stage)
        return stage, marcher

    def _tell_of_winches(self, number: int, step: Step, before: Environment, now: float) -> None:
        """Those that begin elsewhere than where they stand."""
        stands, start = (winches_at(self.system, each, now) for each in (before, self.environment))
        if told := told_of_jump(self.model, step, stands, start):
            self.sink.notice(f"step {number}: {told}")

    def break_off(self, elements: Ints) -> list[tuple[int, float]]:
        """Take elements (indices) out of the model from now on; their labels, and the energies that go with them."""
        if not len(elements):
            return []
        motion, now = self.progress.motion, np.array([self.progress.time])
        bars, thermal = self.linear_bars or self.system.bars, thermal_rows(self.system, self.environment, now)[0]
        lost = energies_of(self.system, bars, elements, motion, thermal)
        motion.energies[[ENERGY.work, ENERGY.dissipated]] += lost.sum()  # of the work from outside, all leaves again
        self.gone = self.gone.copy()
        self.gone[elements] = True
        self.take_out()
        return list(zip(self.system.element_labels[elements].tolist(), lost.tolist(), strict=True))

    def _change_masses(self, step: Step) -> None:
        """Nonstructural masses go and come; what they had of energy goes and comes as work from outside."""
        names = [mass.name or "" for mass in self.model.nonstructural]
        self.shed = np.isin(names, step.shed) | (self.shed & ~np.isin(names, step.put))
        self.take_out()

    def take_out(self) -> None:
        """Bring the arrays of the model in line with what is gone."""
        self.system = replace(assemble(self.model, self.gone, self.shed), has_flow=self.system.has_flow)
        self.progress.motion.multiplier[self.system.gone_bars] = 0.0
        if self.linear_bars is not None:
            bars = absent(self.linear_bars, self.system.gone_bars)
            off_mass, off_damping = self.system.bars.off_mass, self.system.bars.off_damping
            self.linear_bars = bars._replace(off_mass=off_mass, off_damping=off_damping)
        self.hold_idle()

    def hold_idle(self) -> None:
        """Nodes that have lost all their elements stay where they are."""
        if self.gone.any():
            supports = hold_idle(self.system, self.environment.supports, self.progress.motion.u)
            self.environment = replace(self.environment, supports=supports)

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
        from fem.solve.modes.find import find_modes

        motion, now = self.progress.motion, self.progress.time
        self.sink.begin(StepStart(number, step.name, "FREQUENCY", now, 0.0, None))
        for label, lost in self.fallen:
            self.sink.event(Event(number, 0, now, label, "break", lost))
        modes, notice = find_modes(stage, motion, loading_at(stage, motion, now), procedure.modes, number, now)
        if notice:
            self.sink.notice(f"step {number}: {notice}")
        self.sink.modes(modes)

    def _steady_state(self, number: int, step: Step, procedure: SteadyState, stage: StepSystem) -> None:
        from fem.solve.harmonic.find import responses
        from fem.solve.harmonic.solve import acting_in

        motion, now = self.progress.motion, self.progress.time
        acting = acting_in(self.system, step, self.environment, motion.u, now)
        nodes, elements = harmonic_items(self.model, number - 1, self.wishes.record_all)
        count = None if procedure.parted else len(procedure.frequencies())
        self.sink.begin(StepStart(number, step.name, "STEADY STATE DYNAMICS", now, 0.0, count))
        for label, lost in self.fallen:
            self.sink.event(Event(number, 0, now, label, "break", lost))

        def say(text: str) -> None:
            self.sink.notice(f"step {number}: {text}")

        for response in responses(stage, motion, acting, procedure, (number, nodes, elements), say):
            self.sink.response(response)
