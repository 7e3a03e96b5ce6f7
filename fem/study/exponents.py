"""Lyapunov exponents of the last step of a deck, and their verdict: chaotic, regular or not settled.

Chaos of a driven model may be transient and end after hundreds of periods in a periodic motion; its duration is random,
with an exponential distribution. A shorter record cannot show this, however small its error bar. So a positive mean
counts as chaos only after the motion has been followed further, for the same time again and to ``PERIODS`` periods of
the drive, but no more than ``MOST`` times the record. A motion has settled if its section repeats (period 1 to 32) in
at least its last ``FEWEST`` points while perturbations decay.
Source: Tel & Lai, Physics Reports 460 (2008) 245-275 (lifetimes of transient chaos).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats
from fem.deck import read_model
from fem.errors import CommandError
from fem.model import Model
from fem.runner import verdict_of
from fem.runs.history import History
from fem.runs.progress import Progress, part_of, showing
from fem.runs.run_record import COMPLETED
from fem.study.growth import APPROACH, EVERY, TangentGrowth, TwoGrowth
from fem.study.question import Question, Row
from fem.study.sections import LONGEST, SAME, strobe
from fem.study.trajectory import NEVER, halved, has_equal_increments, lasting, motion_of, size_of, with_motion

PERIODS, MOST = 400, 8
"""Periods of the drive over which a positive exponent is followed, at most this multiple of the record."""
FEWEST = 16
"""Smallest number of repeated points of a section for a settled motion."""
APART = 1.5
"""Rates of two parts of a record differ if their distance exceeds this multiple of their error bars (two standard
errors)."""
STILL = 1e-6
"""Motion below this fraction of the size of the model counts as rest."""
CHAOTIC, REGULAR = "chaotic: the largest exponent is positive", "regular: no positive exponent"
ROUND = 20
"""Number of periods between two checks of the section while a motion is followed further."""
STRIDE = 1000
"""Number of increments after which progress is told where there is no section."""


class Horizon(NamedTuple):
    """Length to which a motion may be followed.

    model   its last step is long enough
    record  increments of the last step;  most: to which a positive exponent is followed
    every   increments in a period of the section; 0: there is no section
    period  its time;  time: of the record
    """

    model: Model
    record: int
    most: int
    every: int
    period: float
    time: float


def course_of(model: Model) -> Horizon:
    """The horizon of the last step, which can be continued only with equal increments and periodic loads."""
    procedure = motion_of(model)
    dt, time = procedure.dt, procedure.period
    if not has_equal_increments(model):
        return Horizon(model, NEVER, NEVER, 0, 0.0, time)
    try:
        period, every = strobe(model, None)
    except CommandError:
        period, every = 0.0, 0
    record = math.ceil(time / dt - 1e-6)
    if not recurs(model) or record > (model.steps[-1].max_increments or NEVER):
        return Horizon(model, record, record, every, period, time)
    most = min(max(2 * record, PERIODS * every), MOST * record)
    model = with_motion(model, replace(procedure, period=(most + 1) * dt))
    return Horizon(model, record, most, every, period, time)


def recurs(model: Model) -> bool:
    """Whether no load in the last step follows a curve over time that ends."""
    step = model.steps[-1]
    acting = (step.boundaries, step.rotations, step.nodal_loads, step.moments, step.distributed_loads)
    names = {each.amplitude for group in (*acting, step.fluid_loads, step.temperatures, step.winches) for each in group}
    curves = (model.amplitudes[name] for name in names if name in model.amplitudes)
    return not step.ramps and not step.winches and all(curve.definition == "PERIODIC" for curve in curves)


class Settled(NamedTuple):
    """``period`` of the motion in periods of the drive, and ``time`` of the step from which its section repeats."""

    period: int
    time: float


class Followed:
    """Growth of perturbations, and stroboscopic points (n, 6 nodes), of a motion up to where it was followed."""

    def __init__(self, course: Horizon, growth: TangentGrowth | TwoGrowth, progress: Progress) -> None:
        self.course, self.growth, self.progress = course, growth, progress
        self.points = [self._state()]

    @property
    def increment(self) -> int:
        return self.growth.trajectory.progress.increment

    @property
    def is_finished(self) -> bool:
        return bool(self.growth.trajectory.last.clock.is_finished)

    def follow(self, end: int) -> None:
        """Continues up to this increment, or to the end of the step."""
        every = self.course.every
        while self.increment < end and not self.is_finished:
            ahead = every - self.increment % every if every else STRIDE
            self.growth.follow(min(end, self.increment + ahead))
            if callable(self.progress):
                time = self.growth.trajectory.progress.time - self.growth.trajectory.last.clock.start
                further = ", followed further: the exponent is positive" * (self.increment > self.course.record)
                self.progress(min(1.0, time / self.course.time), f"time {time:.6g}{further}")
            if every and self.increment % every == 0:
                self.points.append(self._state())

    def settled(self) -> Settled | None:
        """Start and period of the repeating section at the end; None: it does not repeat, or perturbations do not
        decay."""
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
    """Period p of the last points (n, 2 c), displacements and velocities, and the first point that repeats.

    Points repeat if all later ones lie within ``SAME`` of the range of the motion from those p before, at least
    ``FEWEST`` and 2 p of them; 0, 0 if there is no such p.

    size, time  of the model and of a period: motions smaller than ``STILL`` times the size are ignored
    """
    count, columns = len(points), points.shape[1] // 2
    ranges = np.ptp(points, axis=0).reshape(2, columns).max(axis=1)
    scale = np.repeat(np.maximum(ranges, STILL * np.array([size, 2.0 * np.pi * size / time])), columns)
    for p in range(1, min(LONGEST, count // 3) + 1):
        moved = np.abs(points[p:] - points[:-p]) > SAME * scale
        (away,) = np.nonzero(moved.any(axis=1))
        first = int(away[-1]) + 1 if len(away) else 0
        if count - p - first >= max(FEWEST, 2 * p):
            return p, first
    return 0, 0


@dataclass(frozen=True, slots=True)
class ChaosVerdict:
    """Conclusion from a record (``is_chaotic`` None: none yet), with its text; ``first``: first row of growth used;
    ``settled``: the section repeats from then on; None: it does not, or there is none."""

    is_chaotic: bool | None
    words: str
    first: int
    settled: Settled | None = None


def judge(followed: Followed, first: int) -> ChaosVerdict:
    """Verdict from a record, without its rows before ``first``; the motion is followed further if necessary."""
    record = followed.growth.rows
    settled = followed.settled()
    if settled:
        return of_settled(record, first, settled)
    counted = record[first:]
    return of_positive(followed, first, counted) if rate_of(counted)[0] > 0.0 else of_parts(first, counted)


def of_settled(record: Floats, first: int, settled: Settled) -> ChaosVerdict:
    """Verdict for a motion that is periodic at the end of the record: it counts if this is half of the record."""
    times = np.cumsum(record[:, -1])
    begun = max(first, int(np.searchsorted(times, settled.time, side="right")))
    if len(record) - begun >= 2 * BATCHES and times[-1] - times[begun] >= 0.5 * (times[-1] - times[first]):
        return ChaosVerdict(False, f"{REGULAR}; {described(settled)}", begun, settled)
    return ChaosVerdict(None, f"not settled: {described(settled)}, late in the run: {longer(settled)}", first, settled)


def of_parts(first: int, counted: Floats) -> ChaosVerdict:
    """Verdict from the comparison of two halves of the record; if the bar includes 0, no exponent is positive."""
    one, other = np.array_split(counted, 2)
    if differ(one, other):
        return ChaosVerdict(None, f"not settled: {parted(one, other)}: run longer", first)
    is_chaotic = is_above(counted)
    return ChaosVerdict(is_chaotic, CHAOTIC if is_chaotic else REGULAR, first)


def of_positive(followed: Followed, first: int, counted: Floats) -> ChaosVerdict:
    """Verdict for a positive mean: the motion is followed until it has settled, or far enough."""
    course, settled = followed.course, None
    stride = ROUND * course.every or course.record
    while settled is None and followed.increment < course.most and not followed.is_finished:
        followed.follow(min(followed.increment + stride, course.most))
        settled = followed.settled()
    rows = followed.growth.rows
    end, until = (float(part[:, -1].sum()) for part in (rows[: first + len(counted)], rows))
    if settled:
        words = f"not settled: not periodic up to time {end:.6g}, but {described(settled)}: {longer(settled)}"
        return ChaosVerdict(None, words, first, settled)
    rest = rows[first + len(counted) :]
    if len(rest) < BATCHES or not (is_above(counted) or is_above(rest)):
        return of_parts(first, counted)
    value, error = rate_of(rest)
    if value <= error or (differ(counted, rest) and not is_above(counted)):
        return ChaosVerdict(None, f"not settled: {parted(counted, rest)}: run longer", first)
    return ChaosVerdict(True, f"{CHAOTIC} ({value:.3g} +- {error:.2g} from {end:.6g} to {until:.6g})", first)


def described(settled: Settled) -> str:
    return f"periodic (period {settled.period}) from time {settled.time:.6g} on"


def longer(settled: Settled) -> str:
    """Advice: half of the record must be after this time."""
    return f"run for at least {float(f'{2.0 * settled.time:.2g}'):.9g}"


def rate_of(rows: Floats) -> tuple[float, float]:
    """Mean of the largest exponent, and its error bar."""
    values, errors = rates(rows[:, :1], rows[:, -1])
    return float(values[0]), float(errors[0])


def is_above(rows: Floats) -> bool:
    """The largest exponent is positive beyond its error bar."""
    value, error = rate_of(rows)
    return value > error


def differ(one: Floats, other: Floats) -> bool:
    """Whether two parts of a record have different rates."""
    (a, a_error), (b, b_error) = rate_of(one), rate_of(other)
    return a != b and not abs(a - b) <= APART * math.hypot(a_error, b_error)


def parted(one: Floats, other: Floats) -> str:
    """Text of the exponents of two parts of a record."""
    (a, a_error), (b, b_error) = rate_of(one), rate_of(other)
    return f"the first part of the run gives {a:.3g} +- {a_error:.2g}, the rest {b:.3g} +- {b_error:.2g}"


BATCHES = 16
RESOLUTION = 2.0
"""Growth by less than this power of e over the whole time is not distinguished from zero."""


def weighted_rate(growth: Floats, elapsed: Floats) -> Floats:
    """(k,) mean rates of (r, k) logarithms of growth in intervals of length ``elapsed`` (r,).
    The weights exp(-1/(s (1 - s))), 0 < s < 1, make the mean of a quasi-periodic motion converge faster than any power
    of the time, where the plain mean has an error of 1/time; they do no harm to the mean of a chaotic one.
    Source: Das, Saiki, Sander & Yorke, Nonlinearity 30 (2017) 4111-4140."""
    end = np.cumsum(elapsed)
    s = (end - 0.5 * elapsed) / end[-1]
    with np.errstate(divide="ignore"):  # no time between two impacts at an end: no weight
        weight = np.exp(-1.0 / (s * (1.0 - s)))
    return np.asarray(weight @ growth / (weight @ elapsed))


def rates(growth: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
    """(k,) mean rates, and their error bars.
    The error bar is twice the standard error of the means of ``BATCHES`` batches, plus the resolution of a time of this
    length: perturbations of regular motions may grow like a power of time. A direction that vanishes (a column with
    -inf) has the rate -inf, without an error."""
    lasts = np.isfinite(growth).all(axis=0)
    growth = np.where(lasts, growth, 0.0)
    batches = np.array_split(np.arange(len(growth)), BATCHES)
    means = np.array([weighted_rate(growth[rows], elapsed[rows]) for rows in batches])
    error = 2.0 * means.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    error += RESOLUTION / float(elapsed.sum())
    return np.where(lasts, weighted_rate(growth, elapsed), -np.inf), np.where(lasts, error, 0.0)


def running_rates(growth: Floats, elapsed: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """(p,) times since the first row, (p, k) ``rates`` up to these times, and their error bars; at most ``count``."""
    rows = np.unique(np.linspace(2 * BATCHES, len(growth), min(count, len(growth) - 2 * BATCHES + 1)).astype(int))
    means, errors = zip(*(rates(growth[:row], elapsed[:row]) for row in rows), strict=True)
    return np.cumsum(elapsed)[rows - 1], np.array(means), np.array(errors)


METHODS = ("tangent", "two")
TRANSIENT = 0.2
"""Fraction of the time that is omitted at the start."""
AGAIN = ("sample", "dt", "none")
"""Parameter sets that are repeated at dt/2: one in ``ONE_IN``, all, none."""
ONE_IN = 10


@dataclass(frozen=True, slots=True, eq=False)
class Exponents:
    """The k largest Lyapunov exponents, per unit of time.

    values, errors  (k,)        an exponent is positive where its value exceeds its error; -inf (error 0): nothing is
                    left of a perturbation where ropes or stops become taut without rebound
    growth          (r, k + 1)  logarithms of growth from one orthonormalisation to the next, and the times between,
                    of the time that counts: after the transient, and since the motion has settled
    dt_errors       (k,)        the values at dt/2 less these; NaN where there was no such run
    is_chaotic      the largest exponent is positive, and stays so where the motion is followed further; False: it is
                    not; None: the motion has not settled, or dt decides
    verdict         text of this, or why there is none
    settled         period of the section, and time of the step from which it comes back; None: it does not
    """

    values: Floats
    errors: Floats
    growth: Floats
    dt_errors: Floats
    is_chaotic: bool | None
    verdict: str
    settled: Settled | None

    def __repr__(self) -> str:
        lines = []
        for n, (value, error, change) in enumerate(zip(self.values, self.errors, self.dt_errors, strict=True), 1):
            moves = "" if np.isnan(change) else f"; {value + change:.6f} at dt/2, a change of {change:+.6f}"
            moves = ", removed where ropes or stops become taut" if value == -np.inf else moves
            lines.append(f"exponent {n}   {value: .6f} +- {error:.6f}{moves}")
        return "\n".join(lines)

    @property
    def moved(self) -> Flags:
        """(k,) True if the effect of dt exceeds the error bars."""
        return beyond_bar(self.dt_errors, self.errors)


def doubt_at(found: Exponents, finer: Exponents) -> str:
    """Reason why a run at dt/2 makes the result uncertain; empty if it does not."""
    if finer.is_chaotic is None:
        return f"at dt/2 {finer.verdict}"
    bar = math.hypot(float(found.errors[0]), float(finer.errors[0]))
    is_same = not found.is_chaotic or abs(float(found.dt_errors[0])) <= APART * bar
    if found.is_chaotic == finer.is_chaotic and is_same:
        return ""
    value, other = float(found.values[0]), float(finer.values[0])
    return f"depends on the increment: {value:.3g}, but {other:.3g} at dt/2: use smaller increments or run longer"


def beyond_bar(difference: Floats, error: Floats) -> Flags:
    """Whether two values with the same independent errors differ by more than the error of their difference."""
    return np.asarray(np.abs(difference) > math.sqrt(2.0) * error)


@dataclass(frozen=True, slots=True)
class Lyapunov(Question):
    """Settings as ``lyapunov`` has them; ``count`` exponents.

    again  points of a sweep that are repeated at dt/2: one of ``AGAIN``; a single model always, except for ``none``
    """

    time: float | None = None
    count: int = 1
    method: str = "tangent"
    every: int | None = None
    transient: float = TRANSIENT
    again: str = "none"
    kind: ClassVar[str] = "lyapunov"
    whole: ClassVar[tuple[str, ...]] = ("chaotic",)
    figures: ClassVar[tuple[str, ...]] = ("exponents.png",)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CommandError(f"there is no method {self.method!r}; there are {', '.join(METHODS)}")
        if self.method == "two" and self.count != 1:
            raise CommandError("two motions give the largest exponent only: use --method tangent for more")
        if not 0.0 <= self.transient < 1.0:
            raise CommandError(
                f"the transient is a fraction of the time, 0 or more and below 1, not {self.transient:g}"
            )
        if self.again not in AGAIN:
            raise CommandError(f"there is no error {self.again!r}; there are {', '.join(AGAIN)}")

    def columns(self) -> list[str]:
        """``chaotic``: 1, 0, or empty if the motion has not settled or the result depends on dt."""
        numbered = range(1, self.count + 1)
        names = ("exponent", "error") if self.again == "none" else ("exponent", "error", "error_dt")
        return ["chaotic", *(f"{name}_{n}" for name in names for n in numbered)]

    def measured(self, model: Model, progress: Progress = False) -> Exponents:
        """``exponents``, with their change at dt/2 if that is wanted, which is two thirds of the work."""
        has_second = self.again != "none" and has_equal_increments(lasting(model, self.time))
        with showing(progress) as told:
            first = 1.0 / 3.0 if has_second else 1.0
            found = self.exponents(model, part_of(told, 0.0, first))
            return self.with_dt_errors(model, found, part_of(told, first, 1.0))

    def exponents(self, model: Model, progress: Progress = False) -> Exponents:
        """Exponents of one model. CommandError: it has no such motion; NoConvergence: the march failed."""
        model = lasting(model, self.time)
        if model.failures:
            raise CommandError("a motion in which elements break (*FAILURE) has no exponents")
        followed = self.followed(model, progress)
        grown = followed.growth.rows
        first = math.ceil(self.transient * len(grown))
        if len(grown) - first < 2 * BATCHES:
            raise CommandError(f"{len(grown)} intervals are too few for a mean with an error bar: increase --time")
        verdict = judge(followed, first)
        counted = grown[verdict.first :]
        values, errors = rates(counted[:, :-1], counted[:, -1])
        none = np.full(len(values), np.nan)
        return Exponents(values, errors, counted, none, verdict.is_chaotic, verdict.words, verdict.settled)

    def followed(self, model: Model, progress: Progress) -> Followed:
        course, is_two = course_of(model), self.method == "two"
        growth = TwoGrowth(course.model, self.every) if is_two else TangentGrowth(course.model, self.count, self.every)
        found = Followed(course, growth, progress)
        found.follow(course.record)
        return found

    def with_dt_errors(self, model: Model, found: Exponents, progress: Progress = False) -> Exponents:
        """The result, with its change at dt/2; NaN if increments are unequal, or it is not wanted."""
        finer = None if self.again == "none" else halved(lasting(model, self.time))
        if finer is None:
            return found
        every = self.every or (APPROACH if self.method == "two" else EVERY)
        other, lasts = replace(self, every=2 * every).exponents(finer, progress), np.isfinite(found.values)
        changes = np.where(lasts, other.values, np.nan) - np.where(lasts, found.values, 0.0)
        found = replace(found, dt_errors=changes)
        doubt = "" if found.is_chaotic is None else doubt_at(found, other)
        return replace(found, is_chaotic=None, verdict=doubt) if doubt else found

    def solve(self, model: Model, point: int, history: bool) -> tuple[str, Row, History | None]:
        """As ``Question``; a run at dt/2 that fails leaves the exponents of the first one."""
        verdict, found = COMPLETED, None
        try:
            found = self.exponents(model)
            if self.again == "dt" or (self.again == "sample" and point % ONE_IN == 0):
                found = self.with_dt_errors(model, found)
        except Exception as error:
            verdict = verdict_of(error)
        if found is None:
            return verdict, self.empty_row(), None
        numbers = np.concatenate([found.values, found.errors, found.dt_errors]).tolist()
        chaotic = math.nan if found.is_chaotic is None else int(found.is_chaotic)
        return verdict, (chaotic, *numbers[: len(self.columns()) - 1]), None


def lyapunov(
    deck: str | Path | Model,
    *,
    parameters: Mapping[str, float] | None = None,
    time: float | None = None,
    exponents: int = 1,
    method: str = "tangent",
    every: int | None = None,
    transient: float = TRANSIENT,
    again: str = "none",
    progress: Progress = False,
) -> Exponents:
    """The largest Lyapunov exponents of the last step of a deck, with error bars.

    deck        path of the ``.inp``, or a ``Model``
    parameters  values that override the deck's ``*PARAMETER``
    time        length of the last step; None: that of the deck
    exponents   number of exponents, the largest first
    method      ``tangent``: from the tangent map of every increment; ``two``: from two motions close to each other
    every       increments between two orthonormalisations; None: 10, with ``two`` 400
    transient   fraction of the time that is omitted at the start
    again       ``none``; ``dt``: repeat the run at dt/2, which takes three times as long and shows the effect of dt
    progress    as for ``run``

    The error bars cover sampling only.

    >>> found = lyapunov("inputs/string_pendulum_rigid.inp", time=500.0)
    >>> found.is_chaotic
    True
    """
    model = read_model(deck, parameters)
    return Lyapunov(time, exponents, method, every, transient, again).measured(model, progress)
