"""State of a run as data: the part common to all steps, and that of the step in progress.

Marches, searches for events, active sets, checkpoints and studies read these; ``StepRun`` and ``Run`` advance them.
Each part lists in ``changing`` the attributes that change during a step.

Breaking elements: one is removed when its T or E, or total time, has reached a limit at the end of an increment. The
record of the chunk shows the increment; the chunk is then repeated up to there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Protocol

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.environment import Environment, first_environment, thermal_rows
from fem.assembly.supports import hold_idle
from fem.assembly.system import BAR_FAMILY, SPRING_FAMILY, System, absent, assemble, linearised
from fem.compiled import bound, is_compiled
from fem.forces.bar import Bars, bar_point
from fem.forces.families import FAMILIES, FIRST, Groups
from fem.forces.springs import spring_point
from fem.model import FAILURES, Dynamic, Model, Step
from fem.model.notices import of_step
from fem.model.quantities import ELEMENTAL
from fem.runs.record import Requests, Sink, StepStart
from fem.runs.schedule import Schedule
from fem.solve.clock import Clock, Progress, first_chunk
from fem.solve.newton.arc import no_arc
from fem.solve.newton.groups import CONTROL, ENERGY, FILTER, NEED_SOLVE, Ledger, Loading, Motion, Ropes
from fem.solve.newton.iterate import forcing_of
from fem.solve.newton.march import march
from fem.solve.plan import StepPlan
from fem.solve.refill import Refill
from fem.solve.start import first_motion
from fem.solve.statics.riks import ArcClock
from fem.solve.step_system import Patience, StepSystem

SINGULAR = -1
"""Outcome of a chunk whose linear system had no solution."""
MOST_MARCHES = 20
"""Arrays for which the march is kept: of chunks, of parts of increments and of trials, for some states of ropes."""
HANDED_ON = ("environment", "linear_bars", "gone", "shed", "has_started", "told", "lags")
"""State passed from one step to the next besides motion and time."""


COLUMNS = [quantity.name for quantity in ELEMENTAL]


@dataclass(frozen=True, slots=True)
class Breaks:
    """The limits of all elements that may break.

    elements (f,)  indices;  values (f,) of the limits;  columns (f,) of the quantity, -1: total time
    watched        elements whose T or E is checked after every increment
    instants       rising total times at which an element breaks: increments end there
    """

    elements: Ints
    values: Floats
    columns: Ints
    watched: Ints
    instants: Floats

    def reached(self, recorded: Ints, gone: Flags, kept: Ledger, time: Floats) -> tuple[Ints, Ints]:
        """Increments (k,), rising, among the recorded ones at whose ends limits are reached, and these limits.
        recorded  elements with recorded values;  gone  (elements,) removed already"""
        if not len(self.elements):
            return self.elements, self.elements
        now, looked_at = np.repeat(time[:, None], len(self.elements), axis=1), self.columns >= 0
        places = recorded.searchsorted(self.elements[looked_at])
        now[:, looked_at] = kept.values[: len(time), places, self.columns[looked_at]]
        rows, limits = ((now >= self.values) & ~gone[self.elements]).nonzero()
        return rows, limits


NO_BREAKS = Breaks(NONE := np.zeros(0, np.int64), np.zeros(0), NONE, NONE, np.zeros(0))


def breaks_of(model: Model) -> Breaks:
    """The limits at which elements of a model break."""
    if not model.failures:
        return NO_BREAKS
    found = [(model.mesh.elements_of(each.target), each) for each in model.failures]
    sizes = [len(elements) for elements, _ in found]
    elements = np.concatenate([members for members, _ in found])
    values = np.repeat([each.value for _, each in found], sizes)
    columns = np.repeat([COLUMNS.index(FAILURES[each.kind]) if FAILURES[each.kind] else -1 for _, each in found], sizes)
    return Breaks(elements, values, columns, np.unique(elements[columns >= 0]), np.unique(values[columns < 0]))


def energies_of(system: System, bars: Bars, elements: Ints, motion: Motion, thermal: Floats) -> Floats:
    """(k,) stored and kinetic energy of elements; kinetic energy by the mass rule of their section."""
    return np.array([stored(system, bars, e, motion, thermal) + kinetic(system, bars, e, motion) for e in elements])


def stored(system: System, bars: Bars, element: int, motion: Motion, thermal: Floats) -> float:
    kind, index = system.family[element].tolist()
    if kind == BAR_FAMILY:
        return float(bar_point(index, motion.u, motion.v, bars, thermal, motion.multiplier)[5])
    if kind >= FIRST and system.families is not None:
        return float(FAMILIES[kind - FIRST].stored(system.families[kind - FIRST], index, motion.u, motion.state))
    return float(spring_point(index, motion.u, motion.v, system.springs)[3]) if kind == SPRING_FAMILY else 0.0


def released(before: Groups, after: Groups, u: Floats) -> float:
    """Stored energy that families lose when elements break."""
    if before is None or after is None:
        return 0.0
    groups = zip(FAMILIES, before, after, strict=True)
    return float(sum(family.released(group, left, u) for family, group, left in groups))


def kinetic(system: System, bars: Bars, element: int, motion: Motion) -> float:
    """v.M v/2 of one element."""
    index = int(system.bar_index[element])
    mass, off = system.element_mass[element], 0.0
    if index >= 0 and len(bars.off_mass):
        off = bars.off_mass[index]
    first, second = motion.v.reshape(-1, 3)[system.element_nodes[element]]
    return float(0.5 * ((0.5 * mass - off) * (first @ first + second @ second) + 2.0 * off * (first @ second)))


class RunState:
    """State common to all steps: the model and its arrays, the motion, the loads, the sink of the results.

    linear_bars  base of geometrically linear steps;  gone, shed  elements and masses removed from the model
    reached      in driven runs record and row of the last increment, which later ones write to; None: there is none
    keeps_every  increments of a step between two checkpoints that the deck requests; 0: none
    lags         the recursion of the last step used ``Motion.lagged``
    told         notices given once in a run, and given already (``ranges.FARTHEST``)
    fallen       labels and energies of elements removed by the step that begins now;  before: loads before it
    """

    fallen: list[tuple[int, float]]
    before: Environment
    reached: tuple[Ledger, int] | None = None

    def __init__(self, model: Model, sink: Sink, requests: Requests, keeps_every: int) -> None:
        self.model, self.sink, self.requests, self.keeps_every = model, sink, requests, keeps_every
        self.breaks, self.system = breaks_of(model), assemble(model)
        self.progress = Progress(first_motion(self.system), chunk=first_chunk(self.system))
        self.environment = first_environment(self.system, self.progress.motion.u)
        self.linear_bars: Bars | None = None
        self.gone, self.shed = self.system.gone, self.system.shed
        self.has_started, self.told, self.lags = False, tuple[int, ...](), False

    def bars_of(self, step: Step) -> Bars:
        """The bars, or their linearisation about the last geometrically nonlinear (or the reference) configuration."""
        if step.buckling:
            return self.system.bars
        if step.nlgeom:
            self.linear_bars = None
            return self.system.bars
        if self.linear_bars is None:
            self.linear_bars = linearised(self.system.bars, self.progress.motion.u)
        return self.linear_bars

    def break_off(self, elements: Ints) -> list[tuple[int, float]]:
        """Removes elements (indices) from the model from now on; returns their labels and energies."""
        if not len(elements):
            return []
        motion, now = self.progress.motion, np.array([self.progress.time])
        bars, thermal = self.linear_bars or self.system.bars, thermal_rows(self.system, self.environment, now)[0]
        lost = energies_of(self.system, bars, elements, motion, thermal)
        before = self.system.families
        self.gone = self.gone.copy()
        self.gone[elements] = True
        self.take_out()
        whole = lost.sum() + released(before, self.system.families, motion.u)
        motion.energies[[ENERGY.work, ENERGY.dissipated]] += whole  # ``open_energies`` takes it off the work again
        return list(zip(self.system.element_labels[elements].tolist(), lost.tolist(), strict=True))

    def take_out(self) -> None:
        """Updates the arrays of the model for removed elements."""
        self.system = replace(assemble(self.model, self.gone, self.shed), has_flow=self.system.has_flow)
        self.progress.motion.multiplier[self.system.gone_bars] = 0.0
        if self.linear_bars is not None:
            bars = absent(self.linear_bars, self.system.gone_bars)
            off_mass, off_damping = self.system.bars.off_mass, self.system.bars.off_damping
            self.linear_bars = bars._replace(off_mass=off_mass, off_damping=off_damping)
        self.hold_idle()

    def hold_idle(self) -> None:
        """Fixes nodes that have lost all their elements where they are."""
        if self.gone.any():
            supports = hold_idle(self.system, self.environment.supports, self.progress.motion.u)
            self.environment = replace(self.environment, supports=supports)

    def take_over(self, state: Mapping[str, Any]) -> None:
        """Takes the state from an earlier step; arrays are then those of the remaining model."""
        for name in HANDED_ON:
            setattr(self, name, state[name])
        if not (np.array_equal(self.gone, self.system.gone) and np.array_equal(self.shed, self.system.shed)):
            self.take_out()


class StepState:
    """State of a step in progress.

    whole            the run that it belongs to
    stage            arrays for the march; another one after ropes have changed their states
    nodes, elements  recorded ones
    thermal          (m,) present thermal strain
    is_compiled      the Newton march runs as machine code
    again            the arrays of the last chunk, if they can be used again
    go_on            function that computes it, made from ``marching``;  marches  these of the last few arrays
    """

    stage: StepSystem
    system: System
    is_compiled: bool
    again: Refill | None = None
    marching: tuple[Any, ...] = (None,) * 8
    go_on: Callable[..., int] = march
    marches: tuple[tuple[tuple[Any, ...], Callable[..., int]], ...] = ()

    def __init__(
        self, run: RunState, plan: StepPlan, clock: Clock | ArcClock, schedule: Schedule, start: StepStart
    ) -> None:
        self.whole, self.plan, self.number, self.step = run, plan, plan.number, plan.step
        self.clock, self.schedule, self.start = clock, schedule, start
        self.arc = clock.arc if isinstance(clock, ArcClock) else no_arc()
        self.sink, self.progress = run.sink, run.progress
        everything = np.arange(run.system.shown), np.arange(len(run.system.family))
        self.nodes, self.elements = everything if run.requests.record_all else (schedule.nodes, schedule.elements)
        if len(run.breaks.watched):
            self.elements = np.union1d(self.elements, run.breaks.watched)
        self.kept_nodes = self.nodes
        self.thermal = np.zeros(len(run.system.bars.nodes))
        self.notices: dict[str, None] = {}
        self.has_begun, self.patience = False, Patience(self.notify)

    def notify(self, text: str) -> None:
        """Passes on a notice, once; notices before the step begins are delayed until it does."""
        if text and text not in self.notices:
            self.notices[text] = None
            if self.has_begun:
                self.sink.notice(of_step(self.number, text))

    def iterate(self, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes) -> int:
        """Newton's march through a chunk of the run; not used for trial increments."""
        return self.try_out(control, chunk, kept, ropes)

    def _known(self, parts: tuple[Any, ...]) -> Callable[..., int] | None:
        """The function for these arrays, if it has been made."""
        for number, (known, go_on) in enumerate(self.marches):
            if all(map(is_, parts, known)):
                self.marching, self.go_on = known, go_on
                if 2 * number > MOST_MARCHES:  # those in use are not forgotten
                    self.marches = (self.marches[number], *self.marches[:number], *self.marches[number + 1 :])
                return go_on
        return None

    def try_out(self, control: Ints, chunk: Loading, kept: Ledger, ropes: Ropes, end: int | None = None) -> int:
        """Call the Newton march until it needs no more linear solves from here. ropes: those it watches."""
        stage, motion, end = self.stage, self.progress.motion, end or len(chunk.dt)
        parts = control, chunk, kept, ropes, stage, stage.nodes, stage.coefficients, stage.choice
        go_on = self.go_on if all(map(is_, parts, self.marching)) else self._known(parts)
        if go_on is None:
            passage = stage.passage(chunk, motion, kept)
            through = end, control, self.arc, passage._replace(problem=passage.problem._replace(ropes=ropes))
            go_on = bound(march, *through)
            self.is_compiled = self.is_compiled or is_compiled(march, *through)
            if self.again or len(ropes.bars) or len(chunk.dt) == 1:
                self.marching, self.go_on = parts, go_on
                self.marches = ((parts, go_on), *self.marches[: MOST_MARCHES - 1])
        if not self.is_compiled:
            end = min(end, int(control[CONTROL.increment]) + self.progress.few)
        reason = NEED_SOLVE if control[CONTROL.waiting] else go_on(end)
        while reason == NEED_SOLVE:
            phase = int(control[CONTROL.phase])
            if not stage.solver_of(phase).solve(stage.work, forcing_of(phase, motion.memory)):
                if phase != FILTER:
                    return SINGULAR
                stage.work.du[:] = stage.work.momentum  # without the filter the whole correction counts
            self.patience.note_refusal(stage)
            reason = go_on(end)
        return int(reason)


class RopeStart(Protocol):
    """Initial motion of ropes in a dynamic step (``ropes/instants.py``)."""

    def hold(self, motion: Motion, now: float) -> None: ...
    def begin(self, stage: StepSystem, motion: Motion, instant: Loading) -> StepSystem: ...
    def open(self, motion: Motion, is_first: bool) -> StepSystem: ...
    def tell(self) -> None: ...


class Marcher:
    """Computes the increments of a step: Newton, Explicit or Moreau.

    notice   for the user, or nothing
    can_cut  an increment that failed may be tried again as a shorter one
    is_plain its increments are those of ``newton/march.py``, which reports snaps, and can be repeated unchanged
    changing names of attributes that change during the step
    """

    notice: str = ""
    can_cut: bool = False
    is_plain: bool = False
    changing: tuple[str, ...] = ()

    def rope_start(self, step: StepState) -> RopeStart | None:
        """Object that determines the initial motion of ropes whose events are not located; None: there is none."""
        return None

    def choose(self, procedure: Dynamic, motion: Motion, thermal: Floats, time: float) -> Dynamic:
        """The procedure with the length of its increments chosen. thermal (m,): present strain."""
        return procedure

    def refuse(self, held: Ints, motion: Motion) -> None:
        """ModelError: it cannot march. held: dofs without mass, stiffness and load."""
        return

    def length(self, count: int, increment: int) -> int:
        """Number of increments of the next chunk, of about ``count``, after ``increment``."""
        return count

    def due(self, step: StepState, chunk: Loading) -> Flags | None:
        """(k,) increments that get a row; None: all of them."""
        return None

    def march(self, step: StepState, control: Ints, chunk: Loading, kept: Ledger) -> int:
        """Computes a chunk from ``control`` on; returns why it stopped (``newton/march.py``)."""
        raise NotImplementedError

    def tell(self, step: StepState, before: int, times: Floats) -> None:
        """Reports the events of a chunk whose increments end at times[1:]; before: increments before it."""
        return

    def failure(self, step: StepState, reason: int, control: Ints, increments: Floats, dt: float) -> str:
        """Message: why the step stopped."""
        raise NotImplementedError


def names_in(part: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = part.changing if hasattr(part, "changing") else part._fields
    return names


def put_back(part: Any, state: Mapping[str, Any]) -> None:
    """Writes values back into the same arrays, because views of them exist."""
    for name in names_in(part):
        old, new = getattr(part, name), state[name]
        if hasattr(old, "_fields"):
            put_back(old, new)
        elif isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape:
            old[...] = new
        else:
            setattr(part, name, copied(new))


def copied(value: Any) -> Any:
    """An unchanging copy; of a named tuple as a dict."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "_fields"):
        return {name: copied(getattr(value, name)) for name in value._fields}
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return dict(value) if isinstance(value, dict) else value
