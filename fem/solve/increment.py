"""What the parts of a step share while it goes on, written down: none of them needs to know the step, or the run."""

from __future__ import annotations

from typing import Any, Protocol

from fem.arrays import Ints
from fem.assembly.environment import Environment
from fem.assembly.system import System
from fem.forces.bars.bar import Bars
from fem.model import Model, Step
from fem.results.record import Sink
from fem.results.schedule import Schedule
from fem.solve.clock import Clock, Progress
from fem.solve.newton.groups import Loading, Record, Ropes
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import StepSystem


class Keeper(Protocol):
    """Who keeps the state of a run (``solve/checkpoint.py``)."""

    def opened(self, step_run: Any) -> None:
        """A step is ready for its first increment."""

    def look(self, step_run: Any) -> None:
        """A chunk has ended."""

    def following(self, increment: int) -> int:
        """The next increment at which the state is wanted."""


class OneRun(Protocol):
    """What steps share: the model and its arrays, where the motion is, who hears of it."""

    model: Model
    sink: Sink
    solver: str
    record_all: bool
    system: System
    progress: Progress
    environment: Environment
    linear_bars: Bars | None
    has_started: bool

    @property
    def checkpoints(self) -> Keeper: ...


class OneStep(Protocol):
    """A step on its way, as searches for events and active sets see it.

    stage            ready to march; ropes that change their state take another one
    nodes, elements  recorded ones
    """

    number: int
    step: Step
    stage: StepSystem
    system: System
    progress: Progress
    clock: Clock | ArcClock
    schedule: Schedule
    nodes: Ints
    elements: Ints
    sink: Sink
    has_begun: bool

    def notify(self, text: str) -> None:
        """Pass on a notice, once."""

    def iterate(self, control: Ints, chunk: Loading, kept: Record, ropes: Ropes) -> int:
        """March through a chunk; ropes: those it watches."""
