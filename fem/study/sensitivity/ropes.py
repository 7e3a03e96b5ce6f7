"""Derivatives through instants at which ropes and stops go slack or taut, with impacts.

An increment with such instants is a sequence of episodes, in which no rope changes, and of turns between them. An
episode that a turn ends lasts until a number g is zero: the pull of a rope that goes slack, the gap of one that becomes
taut. With g0 its derivative at the end of an episode whose duration t is fixed, and g1 that at the end of one with
dt/dp = T, a time of any size,

    dt/dp = -T g0/(g1 - g0)

and all derivatives at its end are those of the first one plus this fraction of what the second one adds. A turn is
a formula of the state (impulses, accelerations, pulls), which is evaluated for the shadows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.errors import ModelError
from fem.solve.newton.gaps import gaps
from fem.solve.newton.groups import CONTROL, ROW, Ledger, Motion, Ropes
from fem.solve.rope_states import Stages
from fem.solve.ropes.active import ActiveSet
from fem.solve.ropes.complementarity import NoPulls
from fem.solve.ropes.events import Events
from fem.solve.ropes.instants import NONE, Change, Instant, States
from fem.solve.ropes.watched import Piece, Read, copy_of, restore
from fem.solve.start import evaluate_start
from fem.solve.step_run import StepRun
from fem.solve.step_system import loading_at
from fem.study.sensitivity.duals import OFFSETS, STEP, NoDerivative, copied, empty


class DualRun(Protocol):
    """The run that an increment belongs to (``run.Differentiated``)."""

    parameters: dict[str, float]
    shadows: Sequence[Any]
    motion: Any
    setting: Any
    width: int
    is_first: bool
    of: tuple[Ints, Ints]

    def instants(self, step_run: StepRun, times: Floats, steps: Floats) -> Instants: ...
    def march(
        self, step_run: StepRun, instants: Instants, known: Floats, ends: Floats, before: int, is_timed: bool
    ) -> list[Floats]: ...
    def note(self, arrays: Sequence[Floats], first: int, instants: Instants, step_run: StepRun) -> None: ...
    def turn_to(self, step_run: StepRun, basis: Flags) -> None: ...
    def hand_over(self) -> None: ...
    def joined(self, motions: Sequence[Motion], before: Any) -> Any: ...


Instants: TypeAlias = Sequence[tuple[Floats, Floats]]
"""Times and increments, of a run and of each of its shadows."""
NOW = 1e-6
"""Distance from the end of an increment, over the increment, within which an instant, moved by the steps of
differences, is that end."""
LONG = 100.0
"""T over an increment: differences of loads over time have round-off over T, and errors as T^4."""
APART = 1e-6
"""Largest difference of dt/dp of ropes that change at one instant, over T and these."""


@dataclass(frozen=True, eq=False)
class Episode:
    """Part of an increment in which no rope changes.

    basis (r,)  ropes that the march keeps taut;  dt: how long it is;  u, a, multiplier: at its end
    ends        ropes whose change ends it; none: the end of the increment does
    early       the episode from the same start by which the pull of a rope that goes slack at once is interpolated
    """

    basis: Flags
    dt: float
    u: Floats
    a: Floats
    multiplier: Floats
    ends: Ints
    early: Episode | None = None


@dataclass(frozen=True, eq=False)
class Turn:
    """An instant at which ropes change: arguments of ``Events.at_once``, with the ``states`` before, and its outcome.

    near, has_bounced, held, let_go, stuck (r,);  motion: after it
    """

    near: Flags
    has_bounced: Flags
    held: Flags
    let_go: Flags
    stuck: Flags
    states: States
    change: Change
    motion: Motion


Course: TypeAlias = list[Episode | Turn]


class FollowedEvents(Events):
    """Ropes of a dynamic step.

    course         episodes and turns of the last increment in which ropes have changed, while that ``is_open``
    no_derivative  why that increment has none, or nothing
    ends, early    of the episode that is marched next
    """

    is_open, no_derivative = False, ""
    early: Episode | None = None

    def advance(self, begin: float, end: float, dt: float) -> Ledger:
        self.course: Course = []
        self.ends, self.is_open, self.no_derivative = NONE, True, ""
        try:
            return super().advance(begin, end, dt)
        finally:
            self.is_open = False

    def _first(self, begin: float, end: float) -> tuple[float, Flags]:
        self.early = None
        step, at = super()._first(begin, end)
        if step > 0.0:
            self.ends, basis = np.flatnonzero(at), self.states.basis
            if np.any(basis & at & (np.abs(self.states.held - begin - step) <= self._sharp)):
                self.no_derivative = f"{self.names(at)} goes slack and taut again and again"
            if step >= self._short or not np.any(basis & at):
                self.early = None
        return step, at

    def trial(
        self, begin: float, end: float, read: Callable[[Piece], Read], start: Motion | None = None, again: bool = False
    ) -> Read:
        def and_keep(piece: Piece) -> Read:
            dt = piece.chunk.dt.item(0)
            if self.is_open and abs(dt - self._short) <= APART * dt:
                self.early = self._episode(dt, NONE)
            return read(piece)

        return super().trial(begin, end, and_keep, start, again)

    def _episode(self, dt: float, ends: Ints, early: Episode | None = None) -> Episode:
        motion = self.step_run.progress.motion
        at_end = motion.u.copy(), motion.a.copy(), motion.multiplier.copy()
        return Episode(self.states.basis.copy(), dt, *at_end, ends, early)

    def _march(self, piece: Piece, ropes: Ropes, is_trial: bool = False) -> Piece:
        dt = float(piece.chunk.dt[0])
        piece = super()._march(piece, ropes, is_trial)
        if self.is_open and not is_trial and piece.control[CONTROL.increment] == 1:
            self.course.append(self._episode(dt, self.ends, self.early if len(self.ends) else None))
            self.ends = NONE
        return piece

    def _arrive(self, now: float) -> None:
        before = self.step_run.progress.motion.u.copy()
        super()._arrive(now)
        if not np.array_equal(before, self.step_run.progress.motion.u):
            self.no_derivative = "a rope that has just gone slack is moved back to its length"

    def at_once(
        self, motion: Motion, now: float, near: Flags, has_bounced: Flags, held: Flags
    ) -> tuple[Instant, Change]:
        states = copy_of(self.states)
        instant, change = super().at_once(motion, now, near, has_bounced, held)
        if self.is_open:
            self.ends = NONE
            flags = near, has_bounced, held, self.let_go.copy(), self.stuck.copy()
            self.course.append(Turn(*flags, states, change, copy_of(motion)))
            if not np.array_equal(change.taut, change.basis):
                self.no_derivative = f"the lengths of {self.names(change.taut)} depend on each other"
        return instant, change


class FollowedSet(ActiveSet):
    """Ropes of a static step. course: of the last increment."""

    no_derivative = ""

    def advance(self, begin: float, end: float, dt: float) -> Ledger:
        kept, motion = super().advance(begin, end, dt), self.step_run.progress.motion
        at_end = motion.u.copy(), motion.a.copy(), motion.multiplier.copy()
        self.course: Course = [Episode(self.taut.copy(), dt, *at_end, NONE)]
        return kept


def followed(step_run: StepRun, stages: Stages) -> tuple[Events | None, ActiveSet | None]:
    """What watches the ropes of a step whose motion is differentiated."""
    is_dynamic = stages.first.is_dynamic
    return (FollowedEvents(step_run, stages), None) if is_dynamic else (None, FollowedSet(step_run, stages))


def pass_ropes(whole: DualRun, step_run: StepRun, course: Course, times: Floats, steps: Floats, first: int) -> None:
    """Differentiates an increment in which ropes change, from times[0] to times[1]; first: its number in its chunk."""
    now = step_run.progress.increment + first
    crossing = Crossing(whole, step_run, times, steps)
    if whole.is_first:
        whole.is_first = False
        whole.note(*crossing.row(now), step_run)
    crossing.run(course)
    whole.note(*crossing.row(now + 1), step_run)


def hold(its: Events, motion: Motion, now: float) -> None:
    """Sets the rates of rods and taut ropes to zero: a motion moved by derivatives keeps them to first order only."""
    stage, basis = its.stages.first, its.states.basis
    if len(stage.nodes.directed_mass):  # as of this state
        evaluate_start(stage, motion, loading_at(stage, motion, now))
    if len(its.stages.of(basis).bars.rods):
        its.instant(motion, now, basis).hold()


def leave(whole: DualRun, step_run: StepRun) -> None:
    """The motions of the shadows at the end of a step, with which their next step begins."""
    for run in whole.shadows:
        if step_run.events and isinstance(its := run.last.watched, Events):
            restore(its.states, step_run.events.states)
            hold(its, run.progress.motion, run.last.clock.end)


class Crossing:
    """An increment in which ropes change.

    now, end (1 + 4 s,)  present time, and the end of the increment, of the run and of each shadow
    error                of energy, a dual number
    """

    error: Floats | float = 0.0

    def __init__(self, whole: DualRun, step_run: StepRun, times: Floats, steps: Floats) -> None:
        self.whole, self.step_run = whole, step_run
        its = np.array([each for each, _ in whole.instants(step_run, times, steps)])
        self.now: Floats = its[:, 0]
        self.end: Floats = its[:, 1]
        self.count = len(whole.parameters)
        self.slot = np.arange(len(whole.shadows)) // len(OFFSETS)
        self.move = STEP * np.resize(OFFSETS, len(whole.shadows))

    def run(self, course: Course) -> None:
        """NoDerivative: there is none."""
        for part in course:
            if isinstance(part, Turn):
                self._turn(part)
            else:
                self.whole.turn_to(self.step_run, part.basis)
                self.now = self._episode(part)
        if np.abs(self.now - self.end).max() > NOW * self.step_run.clock.dt:
            raise NoDerivative(f"{self._when()} a rope changes at the end of this increment")

    def row(self, number: int) -> tuple[list[Floats], int, Instants]:
        """Numbers now, that of the increment, and the instants."""
        whole, size = self.whole, len(self.step_run.stage.nodes.place)
        nothing, instants = np.zeros((0, size)), [(np.array([now]), np.zeros(1)) for now in self.now.tolist()]
        at = [(np.array([now, now]), np.ones(1)) for now in self.now.tolist()]
        found = whole.march(self.step_run, at, nothing, nothing, 1, True)
        found[0][0, ROW.error] = self.error
        return found, number, instants

    def _march(self, part: Episode, steps: Floats) -> None:
        """steps (1 + 4 s,)"""
        instants = [(np.array([t, t + dt]), np.array([dt])) for t, dt in zip(self.now, steps, strict=True)]
        self.error = self.whole.march(self.step_run, instants, part.u[None], part.a[None], 0, True)[0][0, ROW.error]

    def _episode(self, part: Episode) -> Floats:
        """Times (1 + 4 s,) at its end."""
        whole = self.whole
        if not len(part.ends):
            if self.step_run.active:  # tensions of other ropes are no first guess
                whole.motion.multiplier.array[:] = 0.0
                whole.motion.multiplier.array[:, 0] = part.multiplier
            self._march(part, np.append(part.dt, (self.end - self.now)[1:]))
            return self.end
        begun, early = copied(whole.motion), part.early
        pulls = self._early(part, early) if early else None
        self._begin(begun)
        self._march(part, np.full(len(self.now), part.dt))
        return self._until(part, begun, lambda: self._off(part), self._names(part.ends), pulls)

    def _until(
        self, part: Episode, begun: Any, off: Callable[[], Floats], names: str, pulls: Floats | None = None
    ) -> Floats:
        """Times (1 + 4 s,) at the end of an episode from ``begun`` that lasts until numbers are zero: ``off`` are their
        derivatives (n, s) in the present motion, which is that after a fixed time."""
        whole, still, g0, unit = self.whole, self.whole.motion, off(), LONG * self.step_run.clock.dt
        self._begin(begun)
        self._march(part, part.dt + unit * np.append(0.0, self.move))
        with np.errstate(all="ignore"):
            pace = -g0 / (off() - g0)  # (n, s) dt/dp over T
            if pulls is not None:
                pace = np.where(part.basis[part.ends, None], pulls / unit, pace)
        if not np.all(np.abs(LONG * STEP * pace) < 1.0):
            raise NoDerivative(f"{self._when()} {names} just touches: the instant has no derivative")
        if np.any(np.ptp(pace, axis=0) > APART * (1.0 + np.abs(pace).max(axis=0))):
            raise NoDerivative(f"{self._when()} {names} change at one instant, which a parameter takes apart")
        for name in Motion._fields:
            its, other = (getattr(each, name).array[..., 1 : 1 + self.count] for each in (still, whole.motion))
            its += pace[0] * (other - its)
        self._begin(still)
        return self.now + part.dt + unit * np.append(0.0, self.move * pace[0][self.slot])

    def _begin(self, motion: Any) -> None:
        """The march begins with a copy of a motion."""
        self.whole.motion = copied(motion)
        self.whole.setting.room.state.array[:] = motion.state.array

    def _early(self, part: Episode, early: Episode) -> Floats:
        """(ropes, s) dt/dp of pulls that are interpolated between now and the end of an episode ``early``."""
        whole, own = self.whole, slice(0, 1 + self.count)
        at = self.step_run.watched.ropes.bars[part.ends]  # type: ignore[union-attr]
        now = whole.motion.multiplier.array[at, own].copy()
        self._march(early, np.full(len(self.now), early.dt))
        change = (whole.motion.multiplier.array[at, own] - now) / early.dt
        with np.errstate(all="ignore"):
            return np.asarray(-(now + part.dt * change)[:, 1:] / change[:, :1])

    def _off(self, part: Episode) -> Floats:
        """(ropes, s) derivatives of the numbers that are zero at the end of an episode."""
        whole, watched, own = self.whole, self.step_run.watched, slice(1, 1 + self.count)
        assert watched
        ropes, bars = watched.ropes.bars[part.ends], whole.setting.problem.bars
        found = empty(ropes.shape, whole.width)
        gaps(ropes, bars, whole.motion.u, found)
        is_taut = part.basis[part.ends, None]
        return np.asarray(np.where(is_taut, whole.motion.multiplier.array[ropes, own], found.array[:, own]))

    def _names(self, ropes: Ints) -> str:
        watched = self.step_run.watched
        assert watched
        return watched.names(np.isin(np.arange(len(watched.taut)), ropes))

    def _when(self) -> str:
        return f"step {self.step_run.number}, between {self.now[0]:.9g} and {self.end[0]:.9g}:"

    def _turn(self, part: Turn) -> None:
        """The shadows do what the run did."""
        whole = self.whole
        whole.hand_over()
        for run, now in zip(whole.shadows, self.now[1:].tolist(), strict=True):
            its, motion = run.last.watched, run.progress.motion
            assert isinstance(its, Events)
            restore(its.states, part.states)
            its.let_go[:], its.stuck[:], its.leaves[:] = part.let_go, part.stuck, False
            try:
                hold(its, motion, now)
                change = its.at_once(motion, now, part.near, part.has_bounced, part.held)[1]
            except (NoPulls, ModelError) as error:
                raise NoDerivative(f"{self._when()} there are no tensions of ropes for {run.parameter}") from error
            if any(not np.array_equal(a, b) for a, b in zip(change[:3], part.change[:3], strict=True)):
                raise NoDerivative(f"{self._when()} {run.parameter} changes which ropes are taut after an impact")
        whole.motion = whole.joined([part.motion, *(run.progress.motion for run in whole.shadows)], whole.motion)
        whole.turn_to(self.step_run, part.change.basis)
