"""Checkpoints of a run: the state is written and read in one place; a stopped run continues from there.

A checkpoint is taken between two chunks, where the state is smallest. It includes the state at the start of the step: a
continued run begins the step again from there, without output, so that everything derived from it (supports, solvers,
held directions) is the same; then every part that ``StepRun.parts`` lists gets its stored values. Each part lists in
``changing`` the attributes that change during a step.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from fem.assembly.bodies import Body
from fem.assembly.cases import Case
from fem.assembly.environment import Environment, Flow, Kept
from fem.assembly.supports import Supports
from fem.assembly.system import assemble, silent
from fem.errors import CommandError
from fem.forces.bar import Bars
from fem.forces.families import states_in
from fem.model import Amplitude, FluidLoad, Model
from fem.model.curves import Constant, Follow, Live, Ramp
from fem.model.steps import Reach
from fem.runs.record import Frame, SilentSink
from fem.solve.state import HANDED_ON, RunState, copied, put_back
from fem.solve.step_run import StepRun

if TYPE_CHECKING:
    from fem.runs.write import InterruptGuard

KINDS = (
    *(Amplitude, Bars, Body, Case, Constant, Environment, Flow, FluidLoad, Follow, Frame, Kept, Live, Ramp, Reach),
    Supports,
)
TYPES: dict[str, type] = {kind.__name__: kind for kind in KINDS}
"""Types of the objects in a checkpoint."""
SECONDS = 30.0
"""Wall-clock time between two checkpoints [s], if the deck does not request others."""
SHORTEST = 1.0
"""A step that ends sooner than this after the last checkpoint [s] is not followed by another."""
PROMPT = 1.0
"""Longest time of a chunk [s] for whose end Ctrl-C waits."""


State: TypeAlias = Mapping[str, Any] | None


class Checkpoints:
    """When a run keeps its state, and the state it continues from.

    every    increments of a step between two checkpoints (as the deck asks); 0: by wall time
    at_ends  every step ends with one (as the deck asks), not only those that take a while
    before   the checkpoint from which the run continues; None: it starts anew
    earlier  states of an earlier run for the first step (``handed_on``)
    guard    receives signals that ask the run to end; None: no checkpoints are written
    """

    def __init__(
        self, every: int = 0, at_ends: bool = False, before: State = None, earlier: State = None,
        guard: InterruptGuard | None = None,
    ) -> None:  # fmt: skip
        self.every, self.at_ends, self.before, self.earlier, self.guard = every, at_ends, before, earlier, guard
        self.start: dict[str, Any] = {}
        self._kept = self._seen = time.monotonic()

    # Continuing

    def model_of(self, model: Model) -> Model:
        """The model with the loads of earlier runs' steps, so that the arrays have places for them."""
        start = self.before["start"] if self.before else self.earlier
        return model if start is None else replace(model, inherited=start["reach"])

    def take_up(self, run: RunState) -> int:
        """Sets a run to the state of its checkpoint; returns the number of the step to continue with."""
        start = self.before["start"] if self.before else self.earlier
        if start is None:
            refuse_earlier(run.model)
            return 1
        run.progress.time, run.progress.increment = start["time"], start["increment"]
        if self.before is None:
            put_back(run.progress.motion, motion_in(run, start))
            run.take_over(start)
            run.told = ()
            if run.linear_bars is not None:
                run.linear_bars = silent(run.linear_bars, run.system.given_bars)
            return 1
        put_back(run.progress.motion, start["motion"])
        run.take_over(start)
        self._sink = run.sink
        if self.before["step"] is None:
            run.sink.resume(self.before, None)
            self.before = None
        else:
            run.sink = SilentSink()  # until the step has begun again
        return int(start["number"])

    def begin(self, run: RunState, number: int) -> None:
        """Notes the state at the start of a step."""
        if self.guard is not None:
            self.start = {name: getattr(run, name) for name in HANDED_ON}
            now = run.progress
            self.start |= {"number": number, "time": now.time, "increment": now.increment, "reach": run.model.reach}
            self.start["motion"] = copied(now.motion)

    def opened(self, step_run: StepRun) -> None:
        """The step is ready for its first increment: restores the checkpoint if the run continues within this step."""
        self._seen = time.monotonic()
        if self.before is None:
            return
        step_run.sink = step_run.whole.sink = self._sink
        self._sink.resume(self.before, step_run.start)
        step_run.restore(self.before["step"])
        self.before = None

    # Writing

    def look(self, step_run: StepRun) -> None:
        """After each chunk: writes a checkpoint if it is due, or if the run is asked to end, which it then does."""
        guard = self.guard
        if guard is None:
            return
        now = time.monotonic()
        is_short, self._seen = now - self._seen < PROMPT, now
        is_over = step_run.clock.is_finished
        is_due = step_run.progress.increment % self.every == 0 if self.every else now - self._kept > SECONDS
        if not is_over and (guard.is_asked or is_due):
            self._keep(step_run.whole, self.start, step_run.state())
        guard.is_patient = False
        if guard.is_asked:
            guard.release()
        guard.is_patient = is_short and not is_over

    def ended(self, run: RunState, number: int) -> None:
        """Called after step ``number``."""
        is_last = number == len(run.model.steps)
        if self.guard is None or not (self.at_ends or (not is_last and time.monotonic() - self._kept > SHORTEST)):
            return
        self.begin(run, number + 1)
        self._keep(run, self.start, None)

    def _keep(self, run: RunState, start: Mapping[str, Any], step: dict[str, Any] | None) -> None:
        run.sink.keep({"start": dict(start), "step": step})
        self._kept = time.monotonic()


def refuse_earlier(model: Model) -> None:
    """CommandError if the first step needs the state of an earlier run and none was given."""
    if model.earlier is not None:
        raise CommandError(
            "the deck begins with a state of an earlier run (*RESTART, READ): fem run DECK --from FOLDER names its "
            "folder; other commands cannot continue from it"
        )


def handed_on(checkpoint: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """States of a checkpoint with which a further step can begin, by step and increment, the last one last.
    ``is_end``: at the end of the step."""
    start, step = checkpoint["start"], checkpoint["step"]
    found = {(start["number"] - 1, start["increment"]): {**start, "is_end": True}} if start["number"] > 1 else {}
    if step is not None:
        now = {"time": step["progress"]["time"], "increment": step["progress"]["increment"]}
        now |= {"number": start["number"] + 1, "motion": step["motion"], "is_end": False, "reach": start["reach"]}
        found[start["number"], now["increment"]] = {**step["run"], **now}
    return found


def motion_in(run: RunState, start: Mapping[str, Any]) -> dict[str, Any]:
    """The motion of an earlier run, in the arrays of a run whose steps may have loads on more elements.
    ``flow`` and ``power`` come with the first step, which evaluates all forces."""
    motion, system, now = start["motion"], run.system, run.progress.motion
    before = assemble(replace(system.model, inherited=start["reach"], steps=()))
    state = states_in(system.families, system.state, before.families, motion["state"])
    return {**motion, "state": state, "flow": now.flow, "power": now.power}
