"""What lives through a run, in one place that is written and read: a run that was stopped continues from there.

It is taken between two chunks, where the state is smallest. With it goes how the step began: a continued run begins
the step once more from there, in silence, so that all that follows from that (supports, solvers, held directions) is as
it was; then everything that ``StepRun.parts`` names gets back the values it had. Each of these lists in ``changing``
which of its attributes change during a step.
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
"""What the objects in a checkpoint may be."""
SECONDS = 30.0
"""Wall-clock time between two checkpoints, where the deck does not ask for others."""
SHORTEST = 1.0
"""A step that ends sooner after the last checkpoint is given none of its own."""
PROMPT = 1.0
"""Seconds of a chunk up to which Ctrl-C waits for its end."""


State: TypeAlias = Mapping[str, Any] | None


class Checkpoints:
    """When a run keeps its state, and the state it continues from.

    every    increments of a step between two checkpoints (as the deck asks); 0: by wall time
    at_ends  every step ends with one (as the deck asks), not only those that take a while
    before   what the run continues from; None: it starts anew
    earlier  what an earlier run hands on to the first step (``handed_on``)
    guard    hears of signals that ask the run to end; None: nobody keeps anything
    """

    def __init__(
        self, every: int = 0, at_ends: bool = False, before: State = None, earlier: State = None,
        guard: InterruptGuard | None = None,
    ) -> None:  # fmt: skip
        self.every, self.at_ends, self.before, self.earlier, self.guard = every, at_ends, before, earlier, guard
        self.start: dict[str, Any] = {}
        self._kept = self._seen = time.monotonic()

    # Going on

    def model_of(self, model: Model) -> Model:
        """With what the steps of earlier runs act on: the arrays of the run have places for it."""
        start = self.before["start"] if self.before else self.earlier
        return model if start is None else replace(model, inherited=start["reach"])

    def take_up(self, run: RunState) -> int:
        """Put a run where its checkpoint was taken; the number of the step to go on with."""
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
            run.sink = SilentSink()  # until the step has begun once more
        return int(start["number"])

    def begin(self, run: RunState, number: int) -> None:
        """Note how a step begins."""
        if self.guard is not None:
            self.start = {name: getattr(run, name) for name in HANDED_ON}
            now = run.progress
            self.start |= {"number": number, "time": now.time, "increment": now.increment, "reach": run.model.reach}
            self.start["motion"] = copied(now.motion)

    def opened(self, step_run: StepRun) -> None:
        """A step is ready for its first increment, or for the one with which it continues."""
        self._seen = time.monotonic()
        if self.before is None:
            return
        step_run.sink = step_run.whole.sink = self._sink
        self._sink.resume(self.before, step_run.start)
        step_run.restore(self.before["step"])
        self.before = None

    # Keeping

    def look(self, step_run: StepRun) -> None:
        """A chunk has ended: keep the state if it is time, or if the run is asked to end, which it then does."""
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
        """Step ``number`` has ended."""
        is_last = number == len(run.model.steps)
        if self.guard is None or not (self.at_ends or (not is_last and time.monotonic() - self._kept > SHORTEST)):
            return
        self.begin(run, number + 1)
        self._keep(run, self.start, None)

    def _keep(self, run: RunState, start: Mapping[str, Any], step: dict[str, Any] | None) -> None:
        run.sink.keep({"start": dict(start), "step": step})
        self._kept = time.monotonic()


def refuse_earlier(model: Model) -> None:
    """CommandError where the first step begins with a state that nobody has brought along."""
    if model.earlier is not None:
        raise CommandError(
            "the deck begins with a state of an earlier run (*RESTART, READ): fem run DECK --from FOLDER names its "
            "folder; other commands cannot continue from it"
        )


def handed_on(checkpoint: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """The states of a checkpoint that a further step can begin with, by step and increment, the last one last.
    ``is_end``: of the step."""
    start, step = checkpoint["start"], checkpoint["step"]
    found = {(start["number"] - 1, start["increment"]): {**start, "is_end": True}} if start["number"] > 1 else {}
    if step is not None:
        now = {"time": step["progress"]["time"], "increment": step["progress"]["increment"]}
        now |= {"number": start["number"] + 1, "motion": step["motion"], "is_end": False, "reach": start["reach"]}
        found[start["number"], now["increment"]] = {**step["run"], **now}
    return found


def motion_in(run: RunState, start: Mapping[str, Any]) -> dict[str, Any]:
    """The motion that an earlier run hands on, in the arrays of one whose steps may act on more elements.
    ``flow`` and ``power`` come with the first step, which evaluates all forces."""
    motion, system, now = start["motion"], run.system, run.progress.motion
    before = assemble(replace(system.model, inherited=start["reach"], steps=()))
    state = states_in(system.families, system.state, before.families, motion["state"])
    return {**motion, "state": state, "flow": now.flow, "power": now.power}
