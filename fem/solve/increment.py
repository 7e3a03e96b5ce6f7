"""What the parts of a step share while it goes on, written down: none of them needs to know the step, or the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.environment import Environment
from fem.assembly.system import System
from fem.forces.bar import Bars
from fem.model import Dynamic, Model, Static, Step
from fem.runs.record import Sink, StepStart, Wishes
from fem.runs.schedule import Schedule
from fem.solve.clock import Clock, Progress
from fem.solve.newton.arc import Arc
from fem.solve.newton.groups import Loading, Motion, Record, Ropes
from fem.solve.rope_states import Stages
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import Patience, StepSystem


class Keeper(Protocol):
    """Who keeps the state of a run (``solve/checkpoint.py``)."""

    def opened(self, step_run: OneStep) -> None: ...
    def look(self, step_run: OneStep) -> None: ...
    def following(self, increment: int) -> int: ...


class OneRun(Protocol):
    """What steps share: the model and its arrays, where the motion is, who hears of it."""

    model: Model
    sink: Sink
    wishes: Wishes
    system: System
    progress: Progress
    environment: Environment
    linear_bars: Bars | None
    gone: Flags
    shed: Flags
    has_started: bool
    fallen: list[tuple[int, float]]

    @property
    def breaks(self) -> Limits: ...
    @property
    def checkpoints(self) -> Keeper: ...
    def stage_of(self, step: Step) -> Ready: ...
    def break_off(self, elements: Ints) -> list[tuple[int, float]]: ...
    def take_out(self) -> None: ...


Ready: TypeAlias = tuple[StepSystem, "Marcher"]
"""A step made ready, and what takes it through its increments."""


class WatchedRopes(Protocol):
    """Ropes of a step whose states change while the Newton march goes on (``ropes/events.py``, ``ropes/active.py``).

    trouble  why the last increment was given up, or nothing
    """

    stages: Stages
    trouble: str

    @property
    def current(self) -> StepSystem: ...
    def march(self, control: Ints, chunk: Loading, kept: Record) -> int: ...
    def advance(self, begin: float, end: float, dt: float) -> tuple[Record, Loading]: ...


class RopeStart(Protocol):
    """How ropes set off in a dynamic step (``ropes/instants.py``)."""

    def hold(self, motion: Motion, now: float) -> None: ...
    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem: ...
    def open(self, motion: Motion, is_first: bool) -> StepSystem: ...
    def tell(self) -> None: ...


class Limits(Protocol):
    """At what elements break (``solve/breaks.py``)."""

    @property
    def elements(self) -> Ints: ...
    @property
    def watched(self) -> Ints: ...

    def reached(self, step: OneStep, kept: Record, time: Floats) -> tuple[Ints, Ints]: ...


class OneStep(Protocol):
    """A step on its way, as marches, searches for events, active sets and checkpoints see it.

    stage            ready to march; ropes that change their state take another one
    nodes, elements  recorded ones
    thermal          (m,) thermal strain of now
    """

    number: int
    step: Step
    start: StepStart
    stage: StepSystem
    system: System
    progress: Progress
    clock: Clock | ArcClock
    arc: Arc
    patience: Patience
    schedule: Schedule
    nodes: Ints

    @property
    def elements(self) -> Ints: ...

    thermal: Floats
    sink: Sink
    has_begun: bool

    @property
    def whole(self) -> OneRun: ...
    @property
    def watched(self) -> WatchedRopes | None: ...
    @property
    def at_start(self) -> RopeStart | None: ...

    def notify(self, text: str) -> None:
        """Pass on a notice, once."""

    def iterate(self, control: Ints, chunk: Loading, kept: Record, ropes: Ropes) -> int:
        """The Newton march through a chunk that counts; trials of it go past this."""
        ...

    def take(self, stage: StepSystem, marcher: Marcher) -> None:
        """What it goes on with."""

    def settle(self, procedure: Static | Dynamic, now: float, is_first: bool) -> tuple[StepSystem, Loading]:
        """Velocities, forces and accelerations that fit; the stage for the states of ropes, and what acts now."""
        ...

    def living(self) -> Iterator[tuple[str, Any]]:
        """All that changes while it goes on, under names."""


class Marcher(Protocol):
    """What takes a step through its increments: Newton, Explicit or Moreau.

    notice   for the user, or nothing
    can_cut  an increment that failed may be tried again as a shorter one
    lives    names of what changes while the step goes on
    """

    notice: str = ""
    can_cut: bool = False
    lives: tuple[str, ...] = ()

    def rope_start(self, step: OneStep) -> RopeStart | None:
        """Who finds out how ropes set off that nobody watches."""
        return None

    def choose(self, procedure: Dynamic, motion: Motion, thermal: Floats, time: float) -> Dynamic:
        """The procedure with the increment that it takes. thermal (m,): strain of now."""
        return procedure

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError where it cannot march. held: dofs without mass, stiffness and load."""
        return

    def length(self, count: int, increment: int) -> int:
        """How many increments the next chunk should have, of about ``count``, after ``increment``."""
        return count

    def due(self, step: OneStep, chunk: Loading) -> Flags:
        """(k,) increments that get a row."""
        return np.ones(len(chunk.dt), np.bool_)

    def march(self, step: OneStep, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """Through a chunk from ``control`` on; why it stopped (``newton/march.py``)."""
        ...

    def tell(self, step: OneStep, before: int, times: Floats) -> None:
        """Pass on the events of a chunk whose increments end at times[1:]; increments before it."""
        return

    def failure(self, step: OneStep, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Why the step stops."""
        ...
