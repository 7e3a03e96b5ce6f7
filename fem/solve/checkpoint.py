"""What lives through a run, in one place that is written and read: a run that was stopped goes on from there.

It is taken between two chunks, where the state is smallest. With it goes how the step began: a run that goes on begins
the step once more from there, in silence, so that all that follows from that (supports, solvers, held directions) is as
it was; then everything that ``OneStep.living`` names gets back the values it had. Each of these says in ``lives`` which
of its attributes change while a step goes on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from fem.arrays import Flags
from fem.assembly.bodies import Body
from fem.assembly.cases import Case
from fem.assembly.environment import Environment, Flow, Kept
from fem.assembly.supports import Supports
from fem.assembly.system import assemble, silent
from fem.errors import CommandError
from fem.forces.bar import Bars
from fem.forces.families import states_in
from fem.model import Amplitude, FluidLoad, Model
from fem.model.curves import Constant, Follow, Ramp
from fem.model.steps import Reach
from fem.results.record import Frame, SilentSink
from fem.results.schedule import NEVER
from fem.solve.increment import OneRun, OneStep
from fem.solve.newton.groups import CORRECT, PROJECT_ACCELERATION
from fem.solve.statics.riks import settled
from fem.solve.step_system import StepSystem
from fem.solve.watch.breaks import rebuild

KINDS = (
    *(Amplitude, Bars, Body, Case, Constant, Environment, Flow, FluidLoad, Follow, Frame, Kept, Ramp, Reach, Supports),
)
TYPES: dict[str, type] = {kind.__name__: kind for kind in KINDS}
"""What the objects in a checkpoint may be."""
SECONDS = 30.0
"""Wall-clock time between two checkpoints, where the deck does not ask for others."""
SHORTEST = 1.0
"""A step that ends sooner after the last checkpoint is given none of its own."""
PROMPT = 1.0
"""Seconds of a chunk up to which Ctrl-C waits for its end."""


class Guard(Protocol):
    """Who hears of signals that ask the run to end. ``is_patient``: they wait until ``release`` is called."""

    is_patient: bool

    @property
    def is_asked(self) -> bool: ...
    def release(self) -> None: ...


State: TypeAlias = Mapping[str, Any] | None


class Checkpoints:
    """When a run keeps its state, and the state it goes on from.

    every    increments of a step between two checkpoints (the deck's wish); 0: by wall time
    at_ends  every step ends with one (the deck's wish), not only those that take a while
    before   what the run goes on from; None: it starts anew
    earlier  what an earlier run hands on to the first step (``handed_on``)
    guard    None: nobody keeps anything
    """

    def __init__(
        self,
        every: int = 0,
        at_ends: bool = False,
        before: State = None,
        earlier: State = None,
        guard: Guard | None = None,
    ) -> None:
        self.every, self.at_ends, self.before, self.guard = every, at_ends, before, guard
        self.earlier = earlier
        self.start: dict[str, Any] = {}
        self._kept = self._seen = time.monotonic()

    # Going on

    def model_of(self, model: Model) -> Model:
        """With what the steps of earlier runs act on: the arrays of the run have places for it."""
        start = self.before["start"] if self.before else self.earlier
        return model if start is None else replace(model, inherited=start["reach"])

    def take_up(self, run: OneRun) -> int:
        """Put a run where its checkpoint was taken; the number of the step to go on with."""
        start = self.before["start"] if self.before else self.earlier
        if start is None:
            refuse_earlier(run.model)
            return 1
        run.progress.time, run.progress.increment = start["time"], start["increment"]
        if self.before is None:
            put_back(run.progress.motion, motion_in(run, start))
            take_over(run, start)
            if run.linear_bars is not None:
                run.linear_bars = silent(run.linear_bars, run.system.given_bars)
            return 1
        put_back(run.progress.motion, start["motion"])
        take_over(run, start)
        self._sink = run.sink
        if self.before["step"] is None:
            run.sink.resume(self.before, None)
            self.before = None
        else:
            run.sink = SilentSink()  # until the step has begun once more
        return int(start["number"])

    def begin(self, run: OneRun, number: int) -> None:
        """A step begins: note how."""
        if self.guard is not None:
            self.start = {name: getattr(run, name) for name in RUN}
            now = run.progress
            self.start |= {"number": number, "time": now.time, "increment": now.increment, "reach": run.model.reach}
            self.start["motion"] = copied(now.motion)

    def opened(self, step_run: OneStep) -> None:
        """A step is ready for its first increment, or for the one it goes on with."""
        self._seen = time.monotonic()
        if self.before is None:
            return
        step_run.sink = step_run.whole.sink = self._sink
        self._sink.resume(self.before, step_run.start)
        restore_step(step_run, self.before["step"])
        self.before = None

    # Keeping

    def look(self, step_run: OneStep) -> None:
        """A chunk has ended: keep the state if it is time, or if the run is asked to end, which it then does."""
        guard = self.guard
        if guard is None:
            return
        now = time.monotonic()
        is_short, self._seen = now - self._seen < PROMPT, now
        is_over = step_run.clock.is_finished
        is_due = step_run.progress.increment % self.every == 0 if self.every else now - self._kept > SECONDS
        if not is_over and (guard.is_asked or is_due):
            self._keep(step_run.whole, self.start, state_of_step(step_run))
        guard.is_patient = False
        if guard.is_asked:
            guard.release()
        guard.is_patient = is_short and not is_over

    def following(self, increment: int) -> int:
        """The next increment after this one at which the deck wants a checkpoint."""
        return (increment // self.every + 1) * self.every if self.every else NEVER

    def ended(self, run: OneRun, number: int) -> None:
        """Step ``number`` has ended."""
        is_last = number == len(run.model.steps)
        if self.guard is None or not (self.at_ends or (not is_last and time.monotonic() - self._kept > SHORTEST)):
            return
        self.begin(run, number + 1)
        self._keep(run, self.start, None)

    def _keep(self, run: OneRun, start: Mapping[str, Any], step: dict[str, Any] | None) -> None:
        run.sink.keep({"start": dict(start), "step": step})
        self._kept = time.monotonic()


RUN = ("environment", "linear_bars", "gone", "shed", "has_started")
"""What steps hand on to the next one besides motion and time."""


def refuse_earlier(model: Model) -> None:
    """CommandError where the first step begins with a state that nobody has brought along."""
    if model.earlier is not None:
        raise CommandError(
            "the deck begins with a state of an earlier run (*RESTART, READ): fem run DECK --from FOLDER names its "
            "folder; other commands cannot go on from it"
        )


def handed_on(checkpoint: Mapping[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    """The states of a checkpoint that a further step can begin with, by step and increment, the last one last.

    ``is_end``: of the step.
    """
    start, step = checkpoint["start"], checkpoint["step"]
    found = {(start["number"] - 1, start["increment"]): {**start, "is_end": True}} if start["number"] > 1 else {}
    if step is not None:
        now = {"time": step["progress"]["time"], "increment": step["progress"]["increment"]}
        now |= {"number": start["number"] + 1, "motion": step["motion"], "is_end": False, "reach": start["reach"]}
        found[start["number"], now["increment"]] = {**step["run"], **now}
    return found


def motion_in(run: OneRun, start: Mapping[str, Any]) -> dict[str, Any]:
    """The motion that an earlier run hands on, in the arrays of one whose steps may act on more elements.

    ``flow`` and ``power`` come with the first step, which evaluates all forces.
    """
    motion, system, now = start["motion"], run.system, run.progress.motion
    before = assemble(replace(system.model, inherited=start["reach"], steps=()))
    state = states_in(system.families, system.state, before.families, motion["state"])
    return {**motion, "state": state, "flow": now.flow, "power": now.power}


def state_of_step(m: OneStep) -> dict[str, Any]:
    """Values of all that lives, copied; ``run``: what the step would hand on to a next one."""
    found = {name: {key: copied(getattr(part, key)) for key in names_in(part)} for name, part in m.living()}
    acting = settled(m.whole.environment, m.arc) if len(m.arc.last) else m.whole.environment
    found["run"] = {**{name: getattr(m.whole, name) for name in RUN}, "environment": acting}
    return found | {"limits": m.stage.limits.copy(), "solvers": [solver_of(*pair) for pair in stages_of(m)]}


def take_over(run: OneRun, state: Mapping[str, Any]) -> None:
    """What steps hand on, into a run; its arrays are then those of what is left of the model."""
    for name in RUN:
        setattr(run, name, state[name])
    if not (np.array_equal(run.gone, run.system.gone) and np.array_equal(run.shed, run.system.shed)):
        run.take_out()


def restore_step(m: OneStep, state: Mapping[str, Any]) -> None:
    """Give them back."""
    if not np.array_equal(m.system.gone, state["run"]["gone"]):  # something has broken in this step
        for name, part in m.living():
            if name in ("step", "progress", "motion"):
                put_back(part, state[name])
        take_over(m.whole, state["run"])
        rebuild(m)
    for name, part in m.living():
        put_back(part, state[name])
    if m.watched:
        m.watched.stages.make([np.asarray(taut, bool) for taut, *_ in state["solvers"]])
        m.stage = m.watched.current
    m.stage.limits[:] = state["limits"]
    for (_, stage), kept in zip(stages_of(m), state["solvers"], strict=True):
        restore_solver(stage, *kept[1:])


def names_in(part: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = part.lives if hasattr(part, "lives") else part._fields
    return names


def put_back(part: Any, state: Mapping[str, Any]) -> None:
    """Arrays keep their place, since others look at them, too."""
    for name in names_in(part):
        old, new = getattr(part, name), state[name]
        if hasattr(old, "_fields"):
            put_back(old, new)
        elif isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape:
            old[...] = new
        else:
            setattr(part, name, copied(new))


def copied(value: Any) -> Any:
    """Nothing of it changes any more; a named tuple as a dict."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "_fields"):
        return {name: copied(getattr(value, name)) for name in value._fields}
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return dict(value) if isinstance(value, dict) else value


def stages_of(m: OneStep) -> list[tuple[Flags | None, StepSystem]]:
    """All that solve: one, or those of the states of the ropes so far (r,)."""
    return m.watched.stages.made if m.watched else [(None, m.stage)]


def solver_of(taut: Flags | None, stage: StepSystem) -> tuple[Any, ...]:
    """Which solver a stage has come to, and the factors it keeps, as the matrices they are of."""
    opened = stage.opened, stage.opened_mass
    return taut, stage.choice.solver, *(one and one.state() for one in opened)


def restore_solver(
    stage: StepSystem, solver: int, whole: Mapping[str, Any] | None, mass: Mapping[str, Any] | None
) -> None:
    """The solver as it was."""
    from fem.solve.linear.sparse.direct import DirectSolver

    stage.choice = replace(stage.choice, solver=solver)
    for phase, state in ((CORRECT, whole), (PROJECT_ACCELERATION, mass)):
        if state is not None:
            opened = stage.solver_of(phase)
            assert isinstance(opened, DirectSolver)
            opened.put_back(state)
