"""End times of the increments of a step: equal increments on an exact grid, or automatic ones that are cut back and
grow."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, distinct
from fem.assembly.system import System
from fem.errors import ModelError
from fem.model import Controls, Dynamic, Static
from fem.model.steps import MOST_INCREMENTS
from fem.solve.corners import Corners, corners_of, next_needed
from fem.solve.newton import groups
from fem.solve.newton.estimate import damps_ringing, error_constants, increments_of_a_period
from fem.solve.newton.groups import LIMIT, MEMORY, Motion
from fem.solve.step_system import StepSystem

SHARP = 1e-9
"""Times closer than this fraction of an increment are the same time."""
LEAST_FRACTION = 1e-12
"""Increments are at least this fraction of total time: some thousand times its rounding error."""
QUICK_ITERATIONS = 7
"""An automatic increment grows after two in a row that needed no more solves than this: Abaqus' I_G = 4, plus the
prediction that is counted here, plus two for a tolerance that is some thousand times finer."""
WANTED_ERROR, HIGH_ERROR = 0.5, 0.8
"""Fractions of the allowed local error: the target for increments, and the limit above which they are shortened."""
WORTHWHILE = 1.2
"""Increments grow when they may by at least this factor (Hairer & Wanner, Solving Ordinary Differential Equations II,
IV.8): changes cost a return from the march, and preconditioners their use."""
PERIODS = 8.0
"""Motion sizes for error norms are taken over windows of half as many periods first, then this many, twice."""
SHORTENING = 0.1, 0.9
"""Smallest and largest factor of a refused increment."""
SMALL_MOTION = 1e-6
"""Displacements below this fraction of the model's extent are too small as a scale for local errors."""
LONGEST_FRACTION = 0.05
"""Longest first increment, as a fraction of its step, where ringing is left to numerical damping: it takes increments
to die out (HHT with ALPHA=-0.05: a tenth in each)."""
LONGEST_BY_CONVERGENCE = {"HHT": 0.1, "BACKWARD EULER": 1.0}
"""Longest increment controlled by convergence, as a fraction of its step, if dtmax is blank."""
LONGEST_CHUNK = 16_384
CHUNK_NUMBERS = 2_000_000
"""A chunk stores at most about this many numbers."""
BALANCES = 50
"""EXPLICIT evaluates its energy balance at least this often, and chunks end there."""
CHUNK_SECONDS = 0.2
"""Chunks grow until they take about this long [s], so that Ctrl-C and progress stay prompt."""
ELEMENT_SECONDS = 5e-6
"""Longest time of an increment per element [s], without conjugate gradients or statics."""


def refuse_endless(number: int, procedure: Static | Dynamic, end: float) -> None:
    """ModelError: a step has too many increments, or increments that are shorter than the resolution of time.
    end: total time at its end"""
    if not procedure.period <= MOST_INCREMENTS * procedure.dt:
        raise ModelError(
            f"step {number} would have more than {MOST_INCREMENTS:g} increments: its period is {procedure.period:g}, "
            f"its first increment {procedure.dt:g}"
        )
    if not procedure.dt >= LEAST_FRACTION * end:
        raise ModelError(
            f"step {number} ends at the total time {end:g}, where increments of {procedure.dt:g} are lost to "
            "round-off: shorten the periods of the steps before it (that of a *STATIC step is arbitrary)"
        )


def expected_increments(procedure: Static | Dynamic) -> int | None:
    """Number of increments of a DIRECT step; None for automatic increments."""
    if not procedure.direct:
        return None
    return int(counted(np.array(procedure.dt), np.array(procedure.period))[0])


def counted(dt: Floats, period: Floats) -> tuple[Ints, Flags]:
    """Numbers of equal increments in steps of given lengths, and whether the last one is whole."""
    whole = np.rint(period / dt)
    is_whole = (whole >= 1.0) & is_there(whole * dt, period, dt)
    return np.where(is_whole, whole, np.ceil(period / dt)).astype(np.int64), is_whole


def is_there(time: Any, stop: Any, dt: Any) -> Any:
    """Times are the same, but for round-off; numbers or arrays."""
    return abs(time - stop) <= SHARP * dt


def goes_by_convergence(procedure: Static | Dynamic, controls: Controls) -> bool:
    """Whether automatic increments grow with good convergence: in statics, and in dynamics that asks for it."""
    is_asked = procedure.is_static or controls.time_error in (None, Controls().time_error)
    return procedure.by_convergence and is_asked


def longest_of(procedure: Static | Dynamic, grows: bool) -> float:
    """The longest increment if dtmax is not given."""
    if procedure.is_static:
        return procedure.period
    return max(procedure.dt, LONGEST_BY_CONVERGENCE[procedure.integrator] * procedure.period) if grows else procedure.dt


class Grid(NamedTuple):
    """The next ``size`` increments, which end at origin + k dt, k = first + 1, ...; number ``first`` ends now.
    dt, end, and rest, the last increment: of one grid, or of several."""

    now: float
    origin: float
    first: int
    size: int
    dt: Any
    end: Any
    rest: Any


class Clock:
    """Times of the increments of one step.

    Equal increments lie at start + n dt exactly (no sums); the last one is shortened where dt does not divide the
    period. Automatic ones (``direct`` False) are cut on trouble and grow again: in statics up to the largest allowed,
    in dynamics by convergence up to a part of the step, with TIME ERROR=OFF up to dt0. All land on ``instants``, after
    which the grid begins anew; automatic ones also on those ``corners`` of amplitudes that they would not see.
    """

    changing: tuple[str, ...] = ("dt", "time", "_origin", "_count", "_cuts", "_quick")

    def __init__(
        self,
        procedure: Static | Dynamic,
        controls: Controls,
        start: float,
        instants: Floats,
        corners: tuple[Corners, ...] = (),
    ) -> None:
        self.start, self.end = start, start + procedure.period
        self.is_direct = procedure.direct
        self.corners = corners
        self.is_static = procedure.is_static
        self.controls = controls
        self.smallest = procedure.dt_min or procedure.dt * controls.cut_factor**controls.max_cutbacks * (1.0 - SHARP)
        self.grows = goes_by_convergence(procedure, controls)
        self.is_paced = self.grows and not self.is_static
        largest = procedure.dt_max or longest_of(procedure, self.grows)
        self.largest = largest if self.grows else min(largest, procedure.dt)
        self.dt = procedure.dt if self.is_direct else min(procedure.dt, largest)
        self.instants: list[float] = [*instants.tolist(), math.inf]
        self.time = start
        self.target = math.inf
        self._origin, self._count = start, 0
        self._cuts = 0
        self._quick = 0
        self.full_dt = self.dt

    @property
    def is_finished(self) -> bool:
        return self.time >= self.end

    @property
    def is_steady(self) -> bool:
        """Whether several increments can be planned together, because they do not depend on the results."""
        return self.is_direct or (not self.grows and self.dt == self.full_dt)

    def plan(self, count: int) -> Grid:
        """The next increments, at most ``count``."""
        limit, origin, first, dt = self._next_stop(), self._origin, self._count, self.dt
        sharp = limit - SHARP * dt
        whole = max(int((sharp - origin) / dt) - first, 0)  # increments that end before the stop, except for rounding
        while origin + (first + whole) * dt >= sharp and whole:
            whole -= 1
        while origin + (first + whole + 1) * dt < sharp:
            whole += 1
        if count <= whole:
            return Grid(self.time, origin, first, count, dt, origin + (first + count) * dt, dt)
        is_whole = is_there(origin + (first + whole + 1) * dt, limit, dt)
        rest = dt if is_whole else limit - (origin + (first + whole) * dt if whole else self.time)
        return Grid(self.time, origin, first, whole + 1, dt, limit, rest)

    def land(self, time: float) -> float:
        """Makes an increment end at a time: a planned end within rounding error, or an additional one; returns that
        end."""
        time, sharp = min(time, self.end), SHARP * self.dt
        regular = self._origin + round((time - self._origin) / self.dt) * self.dt
        for end in (self.instants[bisect_left(self.instants, time - sharp)], self.end, regular):
            if abs(end - time) <= sharp and end > self.time:
                time = end
                break
        self.target = time
        return time

    def _next_stop(self) -> float:
        soon = self.time + SHARP * self.dt
        stop = min(self.instants[bisect_right(self.instants, soon)], self.end)
        if self.corners:
            stop = min(stop, next_needed(self.corners, soon, self.dt))
        return min(stop, self.target) if self.target > soon else stop

    def advance(self, time: float, done: int, iterations: int) -> None:
        """``done`` increments have converged, up to ``time``; the last took ``iterations``."""
        regular = self._origin + (self._count + done) * self.dt
        if time == regular:
            self._count += done
        else:
            self._origin, self._count = time, 0
        self.time = time
        self._cuts = 0
        if self.is_direct:
            return
        self._quick = self._quick + 1 if iterations <= QUICK_ITERATIONS else 0
        if self._quick >= 2 and self.dt < self.largest:
            self.dt = min(self.dt * self.controls.growth_factor, self.largest)
            self._origin, self._count, self._quick = time, 0, 0

    @property
    def may_cut(self) -> bool:
        """Whether the next increment may be shortened."""
        return not self.is_direct and self._cuts < self.controls.max_cutbacks and self._shorter() >= self.smallest

    def _shorter(self) -> float:
        return min(self.dt, self._next_stop() - self.time) * self.controls.cut_factor

    def cut(self, reason: int) -> bool:
        """Shortens the next increment, after a failure for that reason; False if this is not allowed any more."""
        if not self.may_cut:
            return False
        self.dt = self._shorter()
        self._cuts += 1
        self._quick = 0
        self._origin, self._count = self.time, 0
        return True


def extent_of(places: Floats) -> float:
    """Size of a model in any axes: from the node farthest from the middle to the one farthest from that."""
    far = places[np.linalg.norm(places - places.mean(axis=0), axis=1).argmax()]
    return float(np.linalg.norm(places - far, axis=1).max())


class ErrorClock(Clock):
    """Automatic increments of dynamics whose length follows the local error (``newton/estimate.py``).

    They stay equal while their errors are acceptable. The march refuses increments that turn out too long, and returns
    when the length is to change; dt is then multiplied by (WANTED_ERROR/level)^(1/p), at most by the growth factor.
    Between two stops (instants, end of the step) increments are shortened a little, so that a whole number fits.

    Its state is dt, the grid, ``motion.memory`` and ``motion.origin``.
    """

    changing = (*Clock.changing, "_likely", "_stop", "_whole", "_grid")

    def __init__(
        self,
        procedure: Static | Dynamic,
        controls: Controls,
        start: float,
        instants: Floats,
        stage: StepSystem,
        motion: Motion,
        corners: tuple[Corners, ...] = (),
    ) -> None:
        super().__init__(procedure, controls, start, instants, corners)
        self.smallest = procedure.dt_min or min(self.smallest, 1e-5 * procedure.period)
        self.limits, self.memory = stage.limits, motion.memory
        self.limits[[LIMIT.lead, LIMIT.change, LIMIT.lag, LIMIT.exponent]] = error_constants(stage.coefficients)
        self.limits[LIMIT.damps] = damps_ringing(stage.coefficients)
        first = min(procedure.dt, LONGEST_FRACTION * procedure.period) if self.limits[LIMIT.damps] else procedure.dt
        self.largest = procedure.dt_max or max(first, 0.01 * procedure.period)
        self.dt = min(self.dt, self.largest)
        self.limits[LIMIT.time_error] = controls.time_error
        self.limits[LIMIT.tension_change] = controls.tension_change or 0.0
        self.limits[LIMIT.shortest] = self.smallest * (1.0 + SHARP)
        self.limits[LIMIT.least_size] = SMALL_MOTION * extent_of(stage.system.coordinates)
        self.limits[LIMIT.window] = PERIODS * increments_of_a_period(
            stage.coefficients, WANTED_ERROR * float(self.limits[LIMIT.time_error])
        )
        self.limits[LIMIT.ground] = stage.system.is_grounded
        self.power = float(self.limits[LIMIT.exponent])
        self._likely = 1
        self._divide(self.dt)

    @property
    def is_steady(self) -> bool:
        """Several increments are planned together: the march itself finds when their length has to change."""
        return True

    def plan(self, count: int) -> Grid:
        """As many increments as will probably stay equal, up to the next stop."""
        count, dt = min(count, self._likely, self._whole - self._count), self._grid
        last = self._count + count
        end = self._stop if last == self._whole else self._origin + last * dt
        return Grid(self.time, self._origin, self._count, count, dt, end, dt)

    def land(self, time: float) -> float:
        stop = super().land(time)
        if self._stop != self._next_stop():
            self._divide(self.dt)
        return stop

    def advance(self, time: float, done: int, iterations: int) -> None:
        """``done`` increments went well, up to ``time``."""
        self.time, self._cuts = time, 0
        self._count += done
        self._likely = min(2 * self._likely, LONGEST_CHUNK) if done >= self._likely else max(done, 1)
        if not self.limits[LIMIT.low_level] <= self.memory[MEMORY.level] <= self.limits[LIMIT.high_level]:
            longest = min(self.largest, self.controls.growth_factor * self.dt)
            self._divide(max(min(self._wanted(), longest), self.smallest))
        elif self._count == self._whole:
            self._divide(self.dt)

    def cut(self, reason: int) -> bool:
        """Shortens the next increment, for its local error or after a failure; it then grows slowly."""
        if reason == groups.TOO_LONG:
            low, high = SHORTENING
            self.memory[MEMORY.level] = max(self.memory[MEMORY.level], self.memory[MEMORY.refused])
            self._divide(max(min(self._wanted(), high * self._grid), low * self._grid, self.smallest))
            return True
        if not super().cut(reason):
            return False
        self.memory[MEMORY.level] = max(self.memory[MEMORY.level], WANTED_ERROR / self.dt**self.power)
        self._divide(self.dt)
        return True

    def _wanted(self) -> float:
        level = float(self.memory[MEMORY.level])
        return math.inf if level == 0.0 else float((WANTED_ERROR / level) ** (1.0 / self.power))

    def _divide(self, dt: float) -> None:
        """Sets equal increments of at most dt up to the next stop, and the error levels at which they change."""
        self.dt, self._origin, self._count = dt, self.time, 0
        self._stop = self._next_stop()
        self._whole = max(1, math.ceil((self._stop - self.time) / dt - SHARP))
        self._grid = (self._stop - self.time) / self._whole
        self.limits[LIMIT.low_level] = WANTED_ERROR / (WORTHWHILE * dt) ** self.power if dt < self.largest else 0.0
        self.limits[LIMIT.high_level] = HIGH_ERROR / dt**self.power if dt > self.smallest else math.inf


def clock_of(
    procedure: Static | Dynamic, controls: Controls, start: float, instants: Floats, stage: StepSystem, motion: Motion
) -> Clock:
    """The clock of a step."""
    corners = () if procedure.direct else corners_of(stage.environment, start, start + procedure.period)
    if controls.time_error and not (procedure.direct or goes_by_convergence(procedure, controls)):
        return ErrorClock(procedure, controls, start, instants, stage, motion, corners)
    return Clock(procedure, controls, start, instants, corners)


@dataclass(slots=True)
class Progress:
    """State of a run: the motion, the increment of the step, total time.
    chunk, few  increments of the next chunk; the same while kernels run as Python functions"""

    changing: ClassVar = ("increment", "time", "cutbacks")

    motion: Motion
    increment: int = 0
    time: float = 0.0
    cutbacks: int = 0
    chunk: int = LONGEST_CHUNK
    few: int = 1

    def pace(self, spent: float, is_full: bool) -> None:
        """Chooses the size of the next chunk after one that took ``spent`` seconds; is_full: it was complete."""
        if spent < 0.5 * CHUNK_SECONDS and is_full:
            self.chunk = min(4 * self.chunk, LONGEST_CHUNK)
        elif spent > 2.0 * CHUNK_SECONDS:
            self.chunk = max(1, self.chunk // 2)


def increments(grid: Grid) -> tuple[Floats, Floats]:
    """Times (..., k + 1), from now on, of increments (..., k), of one grid or of several."""
    now, origin, first, size, dt, end, rest = grid
    each = np.asarray(dt)[..., None]
    times = origin + np.arange(first, first + size + 1, dtype=np.float64) * each
    steps = np.repeat(each, size, axis=-1)
    times[..., 0], times[..., -1], steps[..., -1] = now, end, rest
    return times, steps


def equal_increments(dt: Floats, period: Floats) -> tuple[Ints, tuple[list[Floats], list[Floats]]]:
    """``increments`` of k steps from time 0 with DIRECT increments ``dt`` (k,) and lengths ``period`` (k,): how many
    each has (0: that is a matter of round-off), its times, and its increments."""
    (counts, is_whole), sharp = counted(dt, period), period - SHARP * dt
    last = (counts - 1) * dt
    is_sure = ((counts == 1) | (last < sharp)) & (counts * dt >= sharp)
    rest = np.where(is_whole, dt, period - last)
    times: list[Floats] = [np.zeros(0)] * len(dt)
    steps = times.copy()
    for count in distinct(counts).tolist():
        (its,) = np.nonzero(counts == count)
        grids = Grid(0.0, 0.0, 0, count, dt[its], period[its], rest[its])
        for place, one, another in zip(its.tolist(), *increments(grids), strict=True):
            times[place], steps[place] = one, another
    return np.where(is_sure, counts, 0), (times, steps)


def first_chunk(system: System) -> int:
    """Increments of the first chunk of a run: more for small models, as each chunk costs time of its own."""
    count = len(system.family) + len(system.labels)
    return max(1, min(LONGEST_CHUNK, int(CHUNK_SECONDS / (ELEMENT_SECONDS * count))))
