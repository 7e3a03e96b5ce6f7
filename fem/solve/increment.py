"""What the parts of a step share while it goes on, written down: none of them needs to know the step, or the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from fem.arrays import Flags, Floats, Ints
from fem.assembly.environment import Environment
from fem.assembly.system import System
from fem.forces.bars.bar import Bars
from fem.model import Model, Step
from fem.results.record import Sink, StepStart
from fem.results.schedule import Schedule
from fem.solve.clock import Clock, Progress
from fem.solve.linear.patience import Patience
from fem.solve.newton.groups import Loading, Motion, Record
from fem.solve.ropes.states import Stages
from fem.solve.statics.arc import Arc
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import StepSystem


class Keeper(Protocol):
    """Who keeps the state of a run (``solve/checkpoint.py``)."""

    def opened(self, step_run: OneStep) -> None:
        """A step is ready for its first increment."""

    def look(self, step_run: OneStep) -> None:
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


class WatchedRopes(Protocol):
    """Ropes of a step whose states change while the Newton march goes on (``ropes/events.py``, ``ropes/active.py``).

    trouble  why the last increment was given up, or nothing
    """

    stages: Stages
    trouble: str

    @property
    def current(self) -> StepSystem:
        """The stage of the states of now."""

    def march(self, control: Ints, chunk: Loading, kept: Record) -> int:
        """Through a chunk, up to the increment in which ropes change."""

    def advance(self, begin: float, end: float, dt: float) -> tuple[Record, Loading]:
        """Through that increment; raises ``Failed``."""


class RopeStart(Protocol):
    """How ropes set off in a dynamic step."""

    def hold(self, motion: Motion, now: float) -> None:
        """Rates of ropes that pull to zero, before supports set off anew."""

    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem:
        """The stage in which they set off."""

    def open(self, motion: Motion, is_first: bool) -> StepSystem:
        """Impacts at the start into the energy balance; the stage as rows show it."""

    def tell(self) -> None:
        """Pass on what has happened."""


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
    elements: Ints
    thermal: Floats
    sink: Sink
    has_begun: bool

    @property
    def whole(self) -> OneRun: ...
    @property
    def watched(self) -> WatchedRopes | None: ...

    def notify(self, text: str) -> None:
        """Pass on a notice, once."""

    def living(self) -> Iterator[tuple[str, Any]]:
        """All that changes while it goes on, under names."""


class Marcher(Protocol):
    """What takes a step through its increments: Newton, Explicit or Moreau.

    notice   for the user, or nothing
    can_cut  an increment that failed may be tried again as a shorter one
    lives    names of what changes while the step goes on
    """

    notice: str
    can_cut: bool
    lives: tuple[str, ...]

    def rope_start(self, step: OneStep) -> RopeStart | None:
        """Who finds out how ropes set off that nobody watches."""

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError where it cannot march. held: dofs without mass, stiffness and load."""

    def length(self, count: int, increment: int) -> int:
        """How many increments the next chunk should have, of about ``count``, after ``increment``."""

    def due(self, step: OneStep, chunk: Loading) -> Flags:
        """(k,) increments that get a row."""

    def march(self, step: OneStep, control: Ints, due: Flags, chunk: Loading, kept: Record) -> int:
        """Through a chunk from ``control`` on; why it stopped (``newton/march.py``)."""

    def tell(self, step: OneStep, before: int, times: Floats) -> None:
        """Pass on the events of a chunk whose increments end at times[1:]; increments before it."""

    def failure(self, step: OneStep, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Why the step stops."""
