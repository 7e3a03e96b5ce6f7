"""A run that is advanced from outside, to instants of a program's choice, with amplitudes that it sets in between.

It is calculated like any other run: increments end at those instants, and the amplitudes are curves (``Live``) whose
last piece is written before each advance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.compiled import bound
from fem.errors import ModelError, NoConvergence
from fem.model import Model, Step
from fem.model.curves import GIVEN, Live
from fem.runs.record import Requests, SilentSink, Sink
from fem.solve.checkpoint import Checkpoints
from fem.solve.clock import SHARP, Clock
from fem.solve.loop import ErrorsTold, Run
from fem.solve.refill import reach
from fem.solve.state import put_back
from fem.solve.statics.riks import ArcClock
from fem.solve.step_run import QUIET, StepRun


class Driven(Run):
    """A run whose steps from ``first`` on are advanced from outside; those before, and those without time, are run.

    last    the step in progress, or the next one, which opens with its first advance: only then is the initial motion
            of supports known; None: all steps have ended
    asked   the instant requested last (time, except for rounding of increments);  target  the one being approached
    leaps   an amplitude has jumped since then
    table   (l, 69)  numbers of all amplitudes (``Live``);  opening: those at the start of the step
    """

    def __init__(self, model: Model, sink: Sink, requests: Requests, checkpoints: Checkpoints, first: int) -> None:
        super().__init__(model, sink, requests, checkpoints)
        self.first, self.live = first, self.model.driven
        tables: list[Any] = [each.numbers.base for each in self.live.values()]
        self.table: Floats = tables[0] if tables else np.zeros((0, GIVEN + 3))
        self.last: StepRun | None = None
        self.opening = self.table.copy()
        self._reach = bound(reach, 0.0, 0.0, self.table)
        self.asked = self.target = self.progress.time
        self.leaps = False

    def start(self) -> None:
        """Runs up to the first driven step, or to the checkpoint from which the run continues."""
        before = self.checkpoints.before
        driven, begun = (before["driven"], before["step"] is not None) if before else (None, False)
        number = self.checkpoints.take_up(self)
        if driven:
            self._put(driven["opening" if begun else "inputs"])
        self._go_on(number)
        self.asked = self.target = self.progress.time
        if begun:
            with self._told:
                self._open()
        if driven:
            self._take(driven)
            self.advance_to(self.target)

    @property
    def end(self) -> float:
        """Total time at the end of the last step."""
        if self.last is None:
            return self.progress.time
        return sum((step.procedure.period for step in self.model.steps[self.last.number :]), self.last.clock.end)

    def follow(self, step_run: StepRun) -> None:
        if step_run.number < self.first or isinstance(step_run.clock, ArcClock):
            super().follow(step_run)
            return
        if step_run.stage.is_explicit and self.model.waves:
            streams = [curve for flow in self.environment.flows for curve in flow.streams]
            if any(isinstance(curve, Live) for curve in streams):
                what = "EXPLICIT needs the largest speed of the water, which is unknown"
                message = f"a current in waves follows an amplitude that a program sets: {what}; remove EXPLICIT"
                raise ModelError(message)
        self.last, self._told = step_run, ErrorsTold(self.model, step_run.number)

    def advance_to(self, time: float) -> None:
        """Advances to an instant, across the ends of steps; amplitudes that have been set reach their values there.
        NoConvergence, ModelError: as in any run; the motion is that at the failure."""
        self.target, asked, goes_on = time, self.asked, time > self.asked
        for live in self.live.values():
            if live.copies and goes_on:
                self._reach(asked, time)
                live.copy()
        while self.last is not None and goes_on:
            step_run, clock = self.last, self.last.clock
            assert isinstance(clock, Clock)
            goes_on, stop = time > clock.end + SHARP * clock.dt, clock.land(time)
            try:
                while clock.time < stop:
                    outcome = None if self.leaps else step_run.repeat(asked, time)
                    if outcome != QUIET:
                        self._march(step_run, outcome)
            except (NoConvergence, KeyboardInterrupt) as error:
                with self._told:
                    step_run.close(error)
                raise
            if clock.is_finished:
                self._close()
        self.asked = time

    def _march(self, step_run: StepRun, outcome: int | None) -> None:
        """Computes a chunk of increments, with output. outcome: that of ``repeat``."""
        self._reach(self.asked, self.target)
        with self._told:
            if not step_run.has_begun:
                self._open()
            elif self.leaps:
                step_run.rebuild()
            self.leaps = False
            step_run.advance(outcome=outcome)
            self.checkpoints.look(step_run)

    def jump(self, name: str, value: float) -> None:
        """Sets another value of an amplitude from now on, with a jump."""
        self.live[name].hold(self.asked, value)
        self.leaps = True

    # State

    def driven(self) -> dict[str, Any]:
        """State of the driver for checkpoints, beside that of the run."""
        numbers = {"inputs": self.table.copy(), "opening": self.opening}
        return {**numbers, "asked": self.asked, "target": self.target, "leaps": self.leaps}

    def state(self) -> dict[str, Any]:
        """The state that is needed to restore the run."""
        begun = self.last is not None and self.last.has_begun
        step = self.last.state() if self.last is not None and begun else None
        number = len(self.model.steps) + 1 if self.last is None else self.last.number
        return {"start": self.checkpoints.start, "step": step, "number": number, "driven": self.driven()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores a state that was taken in this run."""
        driven, step, number = state["driven"], state["step"], state["number"]
        same = self.last is not None and self.last.number == number and self.last.has_begun
        if not (same and step is not None):
            self._enter_again(number, state["start"], driven["opening"] if step else driven["inputs"], step is not None)
        self._take(driven)
        if step is not None:
            assert self.last is not None
            self.last.restore(step)

    def _enter_again(self, number: int, start: Mapping[str, Any], inputs: Floats, opens: bool) -> None:
        """Begins a step again, without output."""
        sink, self.sink, self.last = self.sink, SilentSink(), None
        put_back(self.progress.motion, start["motion"])
        self.progress.time, self.progress.increment = start["time"], start["increment"]
        self.take_over(start)
        self._put(inputs)
        if number <= len(self.model.steps):
            self.enter(number)
            assert self.last is not None
            if opens:
                self.last.open()
            self.last.sink = sink
        else:
            self.checkpoints.begin(self, number)
        self.sink = sink

    def _take(self, driven: Mapping[str, Any]) -> None:
        self._put(driven["inputs"])
        self.opening, self.leaps = driven["opening"], driven["leaps"]
        self.asked, self.target = driven["asked"], driven["target"]

    def _put(self, inputs: Floats) -> None:
        self.table[:] = inputs
        for live in self.live.values():
            live.copy()

    # Steps

    def _step(self, number: int, step: Step) -> None:
        for each in self.live.values():
            each.begin(self.progress.time)
        super()._step(number, step)

    def _open(self) -> None:
        assert self.last is not None
        self.opening = self.table.copy()
        self.last.open()
        self.checkpoints.opened(self.last)

    def _close(self) -> None:
        assert self.last is not None
        number = self.last.number
        self.last.close()
        self.last = None
        self.checkpoints.ended(self, number)
        self._go_on(number + 1)

    def _go_on(self, number: int) -> None:
        """Runs the steps that are not driven, up to the next one that is."""
        for following in range(number, len(self.model.steps) + 1):
            self.enter(following)
            if self.last is not None:
                return
            self.checkpoints.ended(self, following)
        self.checkpoints.begin(self, len(self.model.steps) + 1)  # the end of the run is a state, too
