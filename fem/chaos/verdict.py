"""Chaotic, regular or not settled: parts of a record compared, the section looked at, the motion followed further.

Chaos of a driven model may end by itself, after hundreds of periods, on a motion that is periodic; how long it lasts is
a matter of chance, with an exponential distribution. No record that ends before can show that, however small its error
bar. So a positive mean counts as chaos only after the motion has been followed further, for as long again and to
``PERIODS`` periods of the drive, but no more than ``MOST`` times the record. A motion has settled where its section
comes back (period 1 to 32) in its last ``FEWEST`` points at least while perturbations of it die out.
Source: Tel & Lai, Physics Reports 460 (2008) 245-275 (lifetimes of transient chaos).

Mean rates of growth, and how well they are known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.chaos.growth import TangentGrowth
from fem.chaos.neighbour import NEVER, TwoGrowth, size_of
from fem.chaos.sections import LONGEST, SAME, strobe
from fem.chaos.trajectory import has_equal_increments
from fem.errors import CommandError
from fem.model import Dynamic, Model

PERIODS, MOST = 400, 8
"""Periods of the drive to which a positive exponent is followed, and how many times the record at most."""
FEWEST = 16
"""Points of a section that have come back, at least, before it counts as settled."""
APART = 1.5
"""Rates of two parts of a record differ by more than this many of their error bars (of two standard errors each)."""
STILL = 1e-6
"""Motion below this fraction of the size of the model is none."""
CHAOTIC, REGULAR = "chaotic: the largest exponent is positive", "regular: no positive exponent"
ROUND = 20
"""Periods between two looks at the section while a motion is followed further."""


class Course(NamedTuple):
    """How far a motion may be followed.

    model   its last step lasts long enough
    record  increments that were asked for;  most: to which a positive exponent is followed
    every   increments in a period of the section; 0: there is no section
    period  its time
    """

    model: Model
    record: int
    most: int
    every: int
    period: float


def course_of(model: Model) -> Course:
    """What the last step allows: it goes on only where increments are equal, and all that acts is periodic."""
    step, procedure = model.steps[-1], model.steps[-1].procedure
    assert isinstance(procedure, Dynamic)
    dt, time = procedure.dt, procedure.period
    if not has_equal_increments(model):
        return Course(model, NEVER, NEVER, 0, 0.0)
    try:
        period, every = strobe(model, None)
    except CommandError:
        period, every = 0.0, 0
    record = math.ceil(time / dt - 1e-6)
    if not recurs(model) or record > (step.max_increments or NEVER):
        return Course(model, record, record, every, period)
    most = min(max(2 * record, PERIODS * every), MOST * record)
    longer = replace(step, procedure=replace(procedure, period=(most + 1) * dt), max_increments=None)
    return Course(replace(model, steps=(*model.steps[:-1], longer)), record, most, every, period)


def recurs(model: Model) -> bool:
    """Nothing in the last step follows a curve over time that ends."""
    step = model.steps[-1]
    acting = (step.boundaries, step.rotations, step.nodal_loads, step.distributed_loads, step.fluid_loads)
    names = {each.amplitude for group in (*acting, step.temperatures, step.winches) for each in group}
    curves = (model.amplitudes[name] for name in names if name in model.amplitudes)
    return not step.ramps and not step.winches and all(curve.definition == "PERIODIC" for curve in curves)


class Settled(NamedTuple):
    """``period`` of the motion in periods of the drive, and ``time`` of the step from which its section comes back."""

    period: int
    time: float


class Followed:
    """Growth of perturbations and stroboscopic points (n, 6 nodes) of a motion, as far as it has been followed."""

    def __init__(self, course: Course, growth: TangentGrowth | TwoGrowth) -> None:
        self.course, self.growth = course, growth
        self.points = [self._state()]

    @property
    def increment(self) -> int:
        """It has come to."""
        return self.growth.trajectory.progress.increment

    @property
    def is_finished(self) -> bool:
        """The step is over."""
        return bool(self.growth.trajectory.last.clock.is_finished)

    def follow(self, end: int) -> None:
        """Go on up to this increment, or to the end of the step."""
        every = self.course.every
        while self.increment < end and not self.is_finished:
            ahead = every - self.increment % every if every else end
            self.growth.follow(min(end, self.increment + ahead))
            if every and self.increment % every == 0:
                self.points.append(self._state())

    def settled(self) -> Settled | None:
        """Where the section comes back to the end; None: it does not, or perturbations do not die out there."""
        if len(self.points) <= FEWEST:
            return None
        period, first = coming_back(np.array(self.points), size_of(self.course.model), self.course.period)
        if not period:
            return None
        rows, start = self.growth.rows, first * self.course.period
        late = rows[np.cumsum(rows[:, -1]) > start]
        return Settled(period, start) if late[:, 0].sum() < -RESOLUTION else None

    def _state(self) -> Floats:
        """Displacements and velocities of all nodes."""
        motion = self.growth.trajectory.progress.motion
        return np.concatenate([motion.u, motion.v])


def coming_back(points: Floats, size: float, time: float) -> tuple[int, int]:
    """Period p of the last points (n, 2 c), displacements and velocities, and the first of those that come back.

    They do where all later ones lie within ``SAME`` of the range of the motion of those p before, ``FEWEST`` of them
    at least and 2 p; 0, 0 where there is no such p.

    size, time  of the model and of a period: what moves less than ``STILL`` of the first does not move
    """
    count, columns = len(points), points.shape[1] // 2
    ranges = np.ptp(points, axis=0).reshape(2, columns).max(axis=1)
    scale = np.repeat(np.maximum(ranges, STILL * np.array([size, 2.0 * np.pi * size / time])), columns)
    for p in range(1, min(LONGEST, count // 3) + 1):
        moved = np.abs(points[p:] - points[:-p]) > SAME * scale
        (gone,) = np.nonzero(moved.any(axis=1))
        first = int(gone[-1]) + 1 if len(gone) else 0
        if count - p - first >= max(FEWEST, 2 * p):
            return p, first
    return 0, 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a record says.

    is_chaotic  None: it says nothing yet
    words       the verdict, or why there is none
    first       row of the growth from which on it counts
    settled     the section comes back from then on; None: it does not, or there is none
    """

    is_chaotic: bool | None
    words: str
    first: int
    settled: Settled | None = None


def judge(followed: Followed, first: int) -> Verdict:
    """Of a record that has been followed to its end, without its rows before ``first``; goes on where need be."""
    record = followed.growth.rows
    settled = followed.settled()
    if settled:
        return of_settled(record, first, settled)
    own = record[first:]
    return of_positive(followed, first, own) if rate_of(own)[0] > 0.0 else of_parts(first, own)


def of_settled(record: Floats, first: int, settled: Settled) -> Verdict:
    """The motion is periodic at the end of the record: what counts is the time since, if that is half of it."""
    times = np.cumsum(record[:, -1])
    begun = max(first, int(np.searchsorted(times, settled.time, side="right")))
    is_enough = len(record) - begun >= 2 * BATCHES and times[-1] - times[begun] >= 0.5 * (times[-1] - times[first])
    if is_enough:
        words = f"{REGULAR}; periodic (period {settled.period}) from {settled.time:.6g} on"
        return Verdict(False, words, begun, settled)
    return Verdict(None, f"not settled: {described(settled)}, late in the record: {longer(settled)}", first, settled)


def of_parts(first: int, own: Floats) -> Verdict:
    """Two halves of the record are compared; a bar that holds 0 is no positive exponent."""
    one, other = np.array_split(own, 2)
    if differ(one, other):
        return Verdict(None, f"not settled: {parted(one, other)}: run longer", first)
    is_chaotic = is_above(own)
    return Verdict(is_chaotic, CHAOTIC if is_chaotic else REGULAR, first)


def of_positive(followed: Followed, first: int, own: Floats) -> Verdict:
    """The mean is positive, if not beyond its bar: the motion is followed until it has settled, or far enough."""
    course, settled = followed.course, None
    stride = ROUND * course.every or course.record
    while settled is None and followed.increment < course.most and not followed.is_finished:
        followed.follow(min(followed.increment + stride, course.most))
        settled = followed.settled()
    rows = followed.growth.rows
    end, until = (float(part[:, -1].sum()) for part in (rows[: first + len(own)], rows))
    if settled:
        words = f"not settled: up to {end:.6g} it is not periodic, but {described(settled)}: {longer(settled)}"
        return Verdict(None, words, first, settled)
    rest = rows[first + len(own) :]
    if len(rest) < BATCHES or not (is_above(own) or is_above(rest)):
        return of_parts(first, own)
    value, error = rate_of(rest)
    if value <= error or (differ(own, rest) and not is_above(own)):
        return Verdict(None, f"not settled: {parted(own, rest)}: run longer", first)
    return Verdict(True, f"{CHAOTIC} ({value:.3g} +- {error:.2g} from {end:.6g} to {until:.6g})", first)


def described(settled: Settled) -> str:
    """In words."""
    return f"from {settled.time:.6g} on the section comes back (period {settled.period})"


def longer(settled: Settled) -> str:
    """What to do: half of the record has to lie behind."""
    return f"run longer, for {float(f'{2.0 * settled.time:.2g}'):.9g} at least"


def rate_of(rows: Floats) -> tuple[float, float]:
    """Mean of the largest exponent, and its error bar."""
    values, errors = rates(rows[:, :1], rows[:, -1])
    return float(values[0]), float(errors[0])


def is_above(rows: Floats) -> bool:
    """The largest exponent is positive beyond its error bar."""
    value, error = rate_of(rows)
    return value > error


def differ(one: Floats, other: Floats) -> bool:
    """Two parts of a record are not parts of one motion."""
    (a, a_error), (b, b_error) = rate_of(one), rate_of(other)
    return a != b and not abs(a - b) <= APART * math.hypot(a_error, b_error)


def parted(one: Floats, other: Floats) -> str:
    """What two parts of a record say, in words."""
    (a, a_error), (b, b_error) = rate_of(one), rate_of(other)
    return f"a part of the record has {a:.3g} +- {a_error:.2g}, what follows {b:.3g} +- {b_error:.2g}"


BATCHES = 16
RESOLUTION = 2.0
"""Growth by less than this power of e over the whole time is not told from none."""


def weighted_rate(growth: Floats, elapsed: Floats) -> Floats:
    """(k,) mean rates of (r, k) logarithms of growth in intervals of length ``elapsed`` (r,).

    The weights exp(-1/(s (1 - s))), 0 < s < 1, make the mean of a quasi-periodic motion converge faster than any power
    of the time, where the plain mean has an error of 1/time; they do no harm to the mean of a chaotic one.
    Source: Das, Saiki, Sander & Yorke, Nonlinearity 30 (2017) 4111-4140.
    """
    end = np.cumsum(elapsed)
    s = (end - 0.5 * elapsed) / end[-1]
    with np.errstate(divide="ignore"):  # no time at all at an end, between two impacts: no weight
        weight = np.exp(-1.0 / (s * (1.0 - s)))
    return np.asarray(weight @ growth / (weight @ elapsed))


def rates(growth: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
    """(k,) mean rates, and their error bars.

    The error bar is twice the standard error of the means of ``BATCHES`` batches, and what no time of this length can
    resolve: perturbations of regular motions may grow like a power of time. What vanishes (a column with -inf) has the
    rate -inf, without an error.
    """
    lasts = np.isfinite(growth).all(axis=0)
    growth = np.where(lasts, growth, 0.0)
    batches = np.array_split(np.arange(len(growth)), BATCHES)
    means = np.array([weighted_rate(growth[rows], elapsed[rows]) for rows in batches])
    error = 2.0 * means.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    error += RESOLUTION / float(elapsed.sum())
    return np.where(lasts, weighted_rate(growth, elapsed), -np.inf), np.where(lasts, error, 0.0)


def running_rates(growth: Floats, elapsed: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """(p,) times since the first row, (p, k) what ``rates`` gives up to them, and its error bars; at most ``count``."""
    rows = np.unique(np.linspace(2 * BATCHES, len(growth), min(count, len(growth) - 2 * BATCHES + 1)).astype(int))
    means, errors = zip(*(rates(growth[:row], elapsed[:row]) for row in rows), strict=True)
    return np.cumsum(elapsed)[rows - 1], np.array(means), np.array(errors)
