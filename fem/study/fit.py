"""``fem fit`` and ``fem.fit``: parameters of a deck from measurements, with intervals, tested on measurements left out.

Least squares over runs of the deck, in parallel if that is faster, with derivatives from differences of runs, or from
the runs themselves (``gradients``). The coordinate of a parameter is its logarithm, or its position between its bounds
as a fraction.
"""

from __future__ import annotations

import math
import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Flags, Floats, Ints, Say
from fem.commands.files import replace_file
from fem.compiled.interpreted import work
from fem.deck import read_model
from fem.deck.parameters import assigned
from fem.errors import CommandError, FemError, NoConvergence, proposal
from fem.model import Model
from fem.model.quantities import says_si
from fem.runner import Prepared, verdict_of
from fem.runs.console import as_note, say
from fem.runs.own import Names, check_file, claim, deck_entry
from fem.runs.progress import Progress, showing
from fem.show.style import save_png
from fem.study.figures import residuals
from fem.study.points import number, parameter_of
from fem.study.question import Answer, Job
from fem.study.sensitivity.derivatives import WILD, differentiated
from fem.study.sensitivity.duals import MOST, NoDerivative
from fem.study.table import write_columns
from fem.study.tracks import Given, Measured, Observed, read_cases, read_record
from fem.study.trajectory import tightened
from fem.study.workers import START_UP, Block, ProcessTeam, blocks, process_team, solve_block, spread

FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 1e-3, 1e-6, 0.3
"""Steps of a coordinate for differences."""
TIGHTER = 1e-2
"""Factor of the residual criterion in the run that measures the noise of the numbers."""
TRUSTED = 0.5, 2.0
"""Range of observed over predicted decrease; outside it, later differences are central."""
MOST_TRIALS, MOST_FAILURES, MOST_STEPS = 30, 100, 4
FEWEST = 8
"""Smallest number of measurements of a series from which a correlation in time is estimated."""
ROUNDS = 20
"""Expected evaluations of a fit, to decide whether processes are worth starting."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A parameter and its bounds. ``is_log``: its coordinate is its logarithm."""

    name: str
    low: float
    high: float
    is_log: bool

    def value(self, at: float) -> float:
        return math.exp(at) if self.is_log else self.low + at * (self.high - self.low)

    def at(self, value: float) -> float:
        return math.log(value) if self.is_log else (value - self.low) / (self.high - self.low)

    @property
    def slope(self) -> str:
        return "ln " + self.name if self.is_log else self.name

    def rate(self, value: float) -> float:
        """Change of the value with its coordinate."""
        return value if self.is_log else self.high - self.low


class Runs:
    """Runs of a deck for trial values and every record, in processes if that is faster.

    own  parameter values of each record's run;  questions: computed numbers to compare with each record
    has_gradients: runs give the derivatives of their numbers, too
    count: runs so far;  failures: how many by verdict;  first_failure: its verdict and values
    """

    def __init__(
        self,
        deck: Prepared,
        varied: Sequence[Fitted],
        own: Sequence[Mapping[str, float]],
        questions: Sequence[Observed],
        workers: int | None,
        stack: ExitStack,
        progress: Progress,
        has_gradients: bool = False,
    ) -> None:
        self._progress, self.has_gradients = progress, has_gradients
        self.varied, self.count, self.failures, self.first_failure = varied, 0, Counter[str](), ""
        self._deck, self._own, self._questions = deck, own, questions
        self._workers, self._stack = workers or os.cpu_count() or 1, stack
        self._team: ProcessTeam | None = None
        self._seconds = 0.0

    def named(self, point: Floats) -> dict[str, float]:
        return {one.name: one.value(at) for one, at in zip(self.varied, point.tolist(), strict=True)}

    def box(self, values: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """(p,) coordinates of both bounds, and of the values in the deck."""
        low, high, at = zip(*((x.at(x.low), x.at(x.high), x.at(values[x.name])) for x in self.varied), strict=True)
        return np.array(low), np.array(high), np.array(at)

    def values(self, points: Sequence[Floats], records: Sequence[int], tighter: bool = False) -> list[list[Floats]]:
        """Numbers of the records for each point; NaN where a run failed."""
        found = [[np.array(self._questions[record].empty_row()) for record in records] for _ in points]
        jobs, answers = [], []
        for at, (point, record) in enumerate(product(points, records)):
            try:
                model = self._deck.model({**self._own[record], **self.named(point)})
                jobs.append(Job(at, tightened(model, TIGHTER) if tighter else model, self._questions[record]))
            except FemError as error:
                answers.append(Answer(at, verdict_of(error), self._questions[record].empty_row()))
        with showing(self._progress, len(points) * len(records)) as told:
            for done, answer in enumerate(chain(answers, self._solved(jobs)), 1):
                place, number = divmod(answer.point, len(records))
                found[place][number] = np.array(answer.row)
                if not np.isfinite(found[place][number]).all():
                    self._note_failure(answer.verdict, points[place])
                told.move(done, f"{self.count + done} runs")
        self.count += len(jobs)
        self._bound_failures()
        return found

    def _note_failure(self, verdict: str, point: Floats) -> None:
        where = ", ".join(f"{name}={value:.6g}" for name, value in self.named(point).items())
        self.first_failure = self.first_failure or f"{verdict} at {where}"
        self.failures[verdict] += 1

    def _bound_failures(self) -> None:
        """NoConvergence: too many runs have failed."""
        if self.failures.total() > MOST_FAILURES:
            raise NoConvergence(f"more than {MOST_FAILURES} runs of the fit failed; the first: {self.first_failure}")

    def gradients(self, point: Floats, records: Sequence[int]) -> tuple[list[Floats], list[Floats]]:
        """Numbers of the records, and their derivatives by the coordinates (n, p); NaN where a run failed.
        NoDerivative: there are none."""
        named, values, slopes = self.named(point), list[Floats](), list[Floats]()
        rates = np.array([one.rate(value) for one, value in zip(self.varied, named.values(), strict=True)])
        for record in records:
            question, own = self._questions[record], {**self._own[record], **named}
            try:
                model = self._deck.model(own)
                run = differentiated(lambda _: self._deck.model, model, list(named), own, question.series)
                found = run.by(question.of)
            except NoDerivative:
                raise
            except FemError as error:
                value = np.array(question.empty_row())
                found = value, np.full((len(value), len(named)), np.nan)
                self._note_failure(verdict_of(error), point)
            values.append(found[0])
            slopes.append(found[1] * rates)
            if np.nanmax(np.abs(slopes[-1]), initial=0.0) > WILD * np.nanmax(np.abs(values[-1]), initial=1e-300):
                raise NoDerivative("those of the runs grow without bound: the motion is chaotic, or a line snaps taut")
        self.count += len(records)
        self._bound_failures()
        return values, slopes

    def _solved(self, jobs: list[Job]) -> Iterator[Answer]:
        """Answers as they are computed; in one process until that takes longer than to start others."""
        while jobs:
            if (
                self._team is None
                and min(self._workers, len(jobs)) > 1
                and self._seconds * len(jobs) * ROUNDS > START_UP
            ):
                self._team = self._stack.enter_context(process_team(self._workers))
            if self._team is not None and len(jobs) > 1:
                parts = blocks(iter(jobs), len(jobs), self._workers, self._seconds)
                yield from chain.from_iterable(spread(self._team, map(Block, parts)))
                return
            began = time.perf_counter() - work.spent
            yield from solve_block(jobs[:1])
            self._seconds = time.perf_counter() - work.spent - began
            jobs = jobs[1:]


class WithinTolerance(Exception):
    """A step of the search would not lower the sum of squares by more than the tolerance."""


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Where a search ended: (p,) coordinates, sum of squares there."""

    x: Floats
    chi2: float
    is_converged: bool


class Misfit:
    """Weighted residuals of the n measurements that count, their derivatives, and how far both can be trusted.

    The step h of a one-sided difference balances its two errors, the noise of the numbers over h, and h/2 times the
    second derivative, which is estimated by the first one (per unit of the coordinate): h = sqrt(2 noise / slope). The
    noise is the change of the numbers by a tighter residual criterion. If the sum of squares does not decrease as the
    derivatives predict, later differences are central, with larger steps. No run is made twice.

    weight     (n,) one over sigma;  noise: (n,) of the numbers
    tolerance  decrease of the sum of squares, as a fraction of it, below which a step is not worth its runs
    checks     observed over predicted decrease of each step of the search
    is_central, was_central  whether differences are central ones, in this search, in any
    """

    def __init__(
        self, runs: Runs, records: Sequence[int], is_used: Flags, record: Ints, measured: Floats, say: Say
    ) -> None:
        self._runs, self._records, self._say = runs, records, say
        self._used = is_used[np.isin(record, records)]
        self.measured = measured[is_used]
        self.low, self.high, point = runs.box({one.name: one.low for one in runs.varied})
        self.weight, self.noise = np.ones((2, len(self.measured)))
        self.steps, self.checks, self.penalty = np.full(len(point), FIRST_STEP), list[float](), math.inf
        self.is_central = self.was_central = False
        self._coarser, self.tolerance = 1.0, 0.0
        self._values, self._slopes = dict[bytes, list[Floats]](), dict[bytes, Floats]()
        self._steps = dict[bytes, Floats]()
        self._before: tuple[Floats, Floats, Floats] | None = None
        self._has_failed = False

    def differences(self, points: Sequence[Floats]) -> list[Floats]:
        """(n,) computed less measured values at some points, without weight; NaN where runs failed."""
        new = [point for point in points if point.tobytes() not in self._values]
        for point, values in zip(new, self._runs.values(new, self._records) if new else (), strict=True):
            self._values[point.tobytes()] = values
        return [self._off(self._values[point.tobytes()]) for point in points]

    def _off(self, values: Sequence[Floats]) -> Floats:
        """(n,) numbers of the records less measured values, of those that count."""
        return np.concatenate(values)[self._used] - self.measured

    def begin(self, point: Floats, measures_noise: bool = True) -> bool:
        """Measures the noise at a point; False: its runs fail."""
        self.steps, self.is_central, self._coarser = np.full(len(point), FIRST_STEP), False, 1.0
        off = self._at(point)
        if not np.isfinite(off).all():
            return False
        if not measures_noise:
            return True
        tight = self._off(self._runs.values([point], self._records, True)[0])
        floor = 1e-13 * np.abs(off + self.measured)
        self.noise = np.where(np.isfinite(tight), np.maximum(np.abs(tight - off), floor), 1e-6 * np.abs(self.measured))
        return True

    def _at(self, point: Floats) -> Floats:
        """``differences`` at one point, with derivatives where runs have them."""
        key = point.tobytes()
        if key not in self._values or (self._runs.has_gradients and key not in self._slopes):
            self._values[key] = self._found(point)
        return self._off(self._values[key])

    def _found(self, point: Floats) -> list[Floats]:
        """Numbers of the records at a point; keeps their derivatives by coordinates (n, p), where runs have them."""
        if self._runs.has_gradients:
            try:
                values, slopes = self._runs.gradients(point, self._records)
                self._slopes[point.tobytes()] = np.concatenate(slopes)[self._used]
                return values
            except NoDerivative as error:
                self._leave_gradients(str(error))
        return self._runs.values([point], self._records)[0]

    def every(self, point: Floats, count: int) -> list[Floats]:
        """Numbers of all ``count`` records at a point whose residuals are known; runs those that are left out."""
        known = dict(zip(self._records, self._values[point.tobytes()], strict=True))
        if others := [record for record in range(count) if record not in known]:
            known |= dict(zip(others, self._runs.values([point], others)[0], strict=True))
        return [known[record] for record in range(count)]

    def _leave_gradients(self, why: str) -> None:
        """From now on derivatives are differences of runs."""
        self._say(f"derivatives from differences of runs: {why}")
        self._runs.has_gradients = False

    def restart(self, weight: Floats) -> None:
        """Sets other weights, and discards results of the old ones."""
        self.weight, self._before, self.penalty = weight, None, math.inf

    def best(self) -> tuple[Floats, float]:
        """The point of the last derivatives, and the sum of squares there."""
        assert self._before is not None
        point, residual, _ = self._before
        return point, float(residual @ residual)

    def residuals(self, point: Floats) -> Floats:
        """(n,) weighted residuals; a failed run counts as ten times the largest so far.
        WithinTolerance: a step from the last derivatives has failed, and they predict no decrease by a shorter one."""
        if self._before is not None and point.tobytes() not in self._values:
            if self._has_failed and self._expected(point) < self.tolerance * self._before[1] @ self._before[1]:
                raise WithinTolerance
            self._has_failed = True  # until there are derivatives
        off = self.weight * self._at(point)
        if (is_known := np.isfinite(off)).all():
            largest = 10.0 * max(1.0, float(np.abs(off).max()))
            self.penalty = largest if math.isinf(self.penalty) else max(self.penalty, largest)
        return np.where(is_known, off, self.penalty)

    @property
    def total_noise(self) -> float:
        return float(np.linalg.norm(self.weight * self.noise))

    @property
    def noise_of_derivatives(self) -> Floats:
        """(p,) norms of columns."""
        steps = np.ones(len(self.steps)) if self._runs.has_gradients else np.abs(self.steps)
        return np.asarray(self.total_noise / steps)

    def jacobian(self, point: Floats) -> Floats:
        """(n, p) derivatives of the residuals; a step that is wrong by more than a factor of 3 is changed."""
        here, self._has_failed = self.residuals(point), False
        values = ", ".join(f"{name}={value:.5g}" for name, value in self._runs.named(point).items())
        self._say(f"{self._runs.count} runs: {values}, sum of squares {here @ here:.5g}")
        self._judge(point, here)
        if self._runs.has_gradients and self.is_central:
            self._leave_gradients("the sum of squares did not fall as those of the runs predicted")
            self.is_central = False
        self.was_central |= self.is_central
        if (exact := self._of_run(point)) is not None:
            self._before = point.copy(), here, exact
            return exact
        columns, _ = self._columns(point, here, self.is_central)
        with np.errstate(divide="ignore"):
            wanted = self._coarser * np.sqrt(2.0 * self.total_noise / np.linalg.norm(columns, axis=0))
        wanted = np.clip(wanted, SMALLEST_STEP, LARGEST_STEP)
        is_off = np.abs(np.log(wanted / np.abs(self.steps))) > math.log(3.0)
        self.steps = np.where(is_off, wanted, self.steps)
        if is_off.any():
            columns, _ = self._columns(point, here, self.is_central)
        self._before, self._steps[point.tobytes()] = (point.copy(), here, columns), self.steps.copy()
        return columns

    def central(self, point: Floats) -> tuple[Floats, Floats]:
        """(n, p) derivatives, if they are differences central ones; (p,) second over first difference, or 0. Steps are
        those of the last differences there, whose runs are one side."""
        if (exact := self._of_run(point)) is not None:
            return exact, np.zeros(len(point))
        self.steps = self._steps.get(point.tobytes(), self.steps).copy()
        return self._columns(point, self.residuals(point), True)

    def _of_run(self, point: Floats) -> Floats | None:
        """(n, p) derivatives that the runs at a point have themselves; None: they have none."""
        slopes = self._slopes.get(point.tobytes()) if self._runs.has_gradients else None
        return None if slopes is None else self.weight[:, None] * slopes

    def _judge(self, point: Floats, here: Floats) -> None:
        """Compares the decrease of the sum of squares since the last derivatives with their prediction."""
        if self._before is None or np.array_equal(self._before[0], point):
            return
        residual, expected = self._before[1], self._expected(point)
        if abs(expected) > 10.0 * np.linalg.norm(residual) * self.total_noise:
            self.checks.append(float((residual @ residual - here @ here) / expected))
            if not TRUSTED[0] <= self.checks[-1] <= TRUSTED[1]:
                self._coarser *= 4.0 if self.is_central else 1.0
                self.is_central = True

    def _expected(self, point: Floats) -> float:
        """Decrease of the sum of squares to a point that the last derivatives predict."""
        assert self._before is not None
        old, residual, columns = self._before
        return float(residual @ residual - np.sum((residual + columns @ (point - old)) ** 2))

    def _columns(self, point: Floats, here: Floats, is_central: bool) -> tuple[Floats, Floats]:
        """As ``central``; 0 if there is only one side. A step at which both sides fail is shortened."""
        columns, bent, unit = np.zeros((len(here), len(point))), np.zeros(len(point)), np.eye(len(point))
        left = list(range(len(point)))
        for _ in range(MOST_STEPS):
            tried = []
            for n in left:
                sides = [side for side in (1.0, -1.0) if self.low[n] <= point[n] + side * self.steps[n] <= self.high[n]]
                tried += [(n, side * self.steps[n]) for side in (sides if is_central else sides[:1])]
            offs = self.differences([point + step * unit[n] for n, step in tried])
            found: dict[int, list[tuple[float, Floats]]] = {}
            for (n, step), off in zip(tried, offs, strict=True):
                if np.isfinite(off).all():
                    found.setdefault(n, []).append((step, self.weight * off - here))
            for n, its in found.items():
                columns[:, n] = np.mean([change / step for step, change in its], axis=0)
                if len(its) == 2 and (first := np.linalg.norm(its[0][1] - its[1][1])):
                    bent[n] = np.linalg.norm(its[0][1] + its[1][1]) / first
            left = [n for n in left if n not in found]
            if not left:
                return columns, bent
            self.steps[left] *= -0.3  # the other side, closer
        raise NoConvergence(f"runs close to a trial of the fit fail, too; the first: {self._runs.first_failure}")


def correlated(columns: Floats, residual: Floats) -> Floats:
    """(p,) c^T G c for each column c of one series, with G the covariance of its residual, estimated from itself.
    The larger of two estimates: autocovariances, divided by k, up to the first lag M >= 5 (1 + 2 sum rho^2), at most a
    quarter of the series, falling off to M (Bartlett; M after Sokal 1997); and rho^lag, a process of first order, with
    rho corrected for the parameters fitted (Kendall 1954). The sum is that of Bartlett (1935) for two series."""
    from scipy.signal import lfilter

    k, p = columns.shape
    size = float(residual @ residual)
    own = np.sum(columns**2, axis=0)
    if k < FEWEST or size == 0.0:
        return np.asarray(own * size / k)
    spectrum = np.fft.rfft(residual, 2 * k)
    rho = np.fft.irfft(spectrum * spectrum.conj())[: k // 4 + 1] / size
    (enough,) = np.nonzero(np.arange(len(rho)) >= 5.0 * (2.0 * np.cumsum(rho**2) - 1.0))
    last = int(enough[0]) if len(enough) else len(rho) - 1
    sums = own.copy()
    for lag in range(1, last + 1):
        sums += 2.0 * (1.0 - lag / (last + 1.0)) * rho[lag] * np.sum(columns[:-lag] * columns[lag:], axis=0)
    first = min(max(0.0, rho[1] + (p + 1.0) * (1.0 + rho[1]) / k), 0.99)
    memory = 2.0 * np.sum(columns * lfilter([1.0], [1.0, -first], columns, axis=0), axis=0) - own
    return np.asarray(np.maximum(sums, memory) * size / k)


@dataclass(frozen=True, slots=True, eq=False)
class Certainty:
    """What the derivatives and residuals say of p free parameters.

    std          (p,) standard errors of coordinates, widened; half: half of their 95 % intervals
    correlation  (p, p)
    effective    (p,) numbers of independent measurements
    vague        (d, p) directions of coordinates that the measurements do not determine, of unit length
    """

    std: Floats
    half: Floats
    correlation: Floats
    effective: Floats
    vague: Floats

    @property
    def is_vague(self) -> Flags:
        """(p,) Whether a parameter takes part in an undetermined direction."""
        return np.asarray((np.abs(self.vague) > 0.1).any(axis=0))


def certainty(columns: Floats, residual: Floats, series: Sequence[Ints], factor: Floats, error: Floats) -> Certainty:
    """Covariance A^-1 B A^-1 with A = J^T J and B the sum of ``correlated`` over series; never below that of
    independent residuals, A^-1 (sum f J^T J) A^-1.

    columns, residual  weighted by one over sigma
    series             rows of each column of each record
    factor             (n,) f, the variance of the weighted residual where sigma was not estimated from it, at least 1
    error              (p,) noise of the derivatives, as norms of columns
    """
    from scipy.special import stdtrit

    n, p = columns.shape
    left, sizes, rows = np.linalg.svd(columns, full_matrices=False)
    gain = left / np.maximum(sizes, 1e-9 * max(sizes[0], 1e-300)) @ rows  # (n, p) transpose of the pseudo-inverse
    plain = gain.T * factor @ gain
    shared, white = np.zeros((2, p))
    for its in series:
        shared += correlated(gain[its], residual[its])
        white += residual[its] @ residual[its] / len(its) * np.sum(gain[its] ** 2, axis=0)
    widened = np.maximum(1.0, np.divide(shared, white, out=np.ones(p), where=white > 0.0))
    std = np.sqrt(np.diag(plain) * widened)
    effective = n / widened
    half = stdtrit(np.maximum(effective - p, 1.0), 0.975) * std
    scale = np.sqrt(np.diag(plain))
    # undetermined: half an interval longer than one unit of a coordinate, or a slope within its noise
    along = 2.0 * math.sqrt(float(factor.max()) * float(widened.max())) / np.maximum(sizes, 1e-300)
    is_vague = (along * np.abs(rows).max(axis=1) > 1.0) | (sizes < 3.0 * np.sqrt(rows**2 @ error**2))
    return Certainty(std, half, plain / np.outer(scale, scale), effective, rows[is_vague])


def in_words(vague: Floats, varied: Sequence[Fitted]) -> list[str]:
    """Text of undetermined directions in terms of the parameters."""
    found = []
    for direction in vague:
        involved = [n for n in np.argsort(-np.abs(direction)) if abs(direction[n]) > 0.1]
        names = [varied[n].name for n in involved]
        if len(involved) == 1:
            found.append(f"{names[0]} is not determined: its effect on the measured columns is within their noise")
        elif len(involved) == 2 and all(varied[n].is_log for n in involved):
            first, second = sorted(involved)
            power = -direction[first] / direction[second]
            found.append(f"only {combined(varied[first].name, varied[second].name, power)} is determined")
        else:
            parts = ", ".join(f"{varied[n].slope} by {direction[n] / direction[involved[0]]:+.2g}" for n in involved)
            found.append(f"{', '.join(names)} are not determined together: a change of {parts} is not seen")
    return found


def combined(first: str, second: str, power: float) -> str:
    """``EA/L``, ``EA*L**0.5``: a product of powers, near whole numbers rounded."""
    size = round(abs(power)) if abs(abs(power) - round(abs(power))) < 0.05 and round(abs(power)) else abs(power)
    return f"{first}{'/' if power < 0.0 else '*'}{second}" + ("" if size == 1 else f"**{size:.3g}")


FORM = "NAME=low:high, with :log or :linear behind it if wanted"
RECORD, TABLE, RESIDUALS, FIGURE = "fit.json", "fit.csv", "residuals.csv", "fit.png"
MOST_PASSES, KEPT = 6, 0.05
"""Largest number of fits with sigmas from the residuals of the fit before; they end when all change less than this
fraction."""
SCREENED = 10
"""Number of points between the bounds per further start; the search starts from the best of them."""
LOG_RATIO = 10.0
"""From this ratio of its bounds on, a parameter is varied by its logarithm."""
AT_BOUND, SAME, ROUGH = 1e-3, 1e-3, 0.5
"""Distance from a bound, as a fraction; equal sums of squares, as a fraction; ratio of second to first difference."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Parameters found by ``fem.fit``.

    parameters    name -> value
    table         fit.csv: value, 95 % interval (NaN at a bound, or where it is not determined), standard error, number
                  of independent measurements, bounds, which bound is reached
    correlation   (p, p) of the parameters; NaN at a bound
    undetermined  what the measurements cannot tell apart, in words
    sigma         column -> standard deviation used;  rms: column -> that of residuals, and of those left out of the fit
    residuals     residuals.csv: a row for each measurement
    starts        a row for each start: where its search ended, chi2 there; NaN where its runs fail
    search        checks and steps of the differences, number of runs, as in fit.json
    """

    parameters: dict[str, float]
    table: Columns
    correlation: Floats
    undetermined: tuple[str, ...]
    sigma: dict[str, float]
    rms: dict[str, tuple[float, float]]
    residuals: Columns
    starts: Columns
    search: dict[str, Any]
    is_converged: bool
    notices: tuple[str, ...]
    is_si: bool = False

    @property
    def words(self) -> str:
        """The parameters as options of ``fem run``."""
        return " ".join(f"--set {name}={value:.10g}" for name, value in self.parameters.items())

    def __str__(self) -> str:
        lines = ["parameter      value          95 % interval             independent measurements"]
        names = ("parameter", "value", "low", "high", "effective", "at_bound")
        for name, value, low, high, count, bound in zip(*(self.table[each].tolist() for each in names), strict=True):
            said = f"at its {bound} bound" if bound else f"{low:.6g} to {high:.6g}" if low < high else "not determined"
            lines.append(f"{name:<14} {value:<14.7g} {said:<25} " + (f"{count:.0f}" if count > 0.0 else ""))
        if len(self.parameters) > 1:
            lines.append("correlation    " + " ".join(f"{name:>9.9}" for name in self.parameters))
            for name, row in zip(self.parameters, self.correlation, strict=True):
                lines.append(f"{name:<14} " + " ".join(f"{value:9.3f}" for value in row))
        for column, (inside, outside) in self.rms.items():
            left_out = f", {outside:.4g} where left out of the fit" if np.isfinite(outside) else ""
            lines.append(f"{column:<14} rms residual {inside:.4g}{left_out}")
        return "\n".join([*map(str.rstrip, lines), *self.undetermined])


def fit(
    deck: str | Path,
    records: Iterable[Given] = (),
    vary: Mapping[str, tuple[float, float]] | Sequence[Fitted] = (),
    *,
    cases: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    sigma: Mapping[str, float] | None = None,
    starts: int = 1,
    hold_out: float = 0.0,
    step: int | None = None,
    start: float | str = 0.0,
    workers: int | None = None,
    gradients: bool = False,
    say: Say = lambda text: None,
    progress: Progress = False,
) -> Fit:
    """Find the parameters of a deck with which its runs agree best with measurements.

    deck        path of the ``.inp``
    records     CSV files with ``time`` and columns named as in the tables (``T_e12``, ``U3_n5``), or such columns by
                name; rows with gaps are left out; in a pair with the parameters of its run alone:
                ``("run3.csv", {"period": 1.6})``
    vary        name of a ``*PARAMETER`` -> (low, high); varied by its logarithm where high/low >= 10
    cases       CSV file with a line for each run: its parameters, and statistics such as ``T_e12_max``
    parameters  other values that override the deck's, in all runs
    sigma       column -> standard deviation of its errors; others are estimated from the residuals
    starts      number of starting points: the deck's values, then the best of ten times as many between the bounds
    hold_out    fraction of the records, or of the time of a single one, that is left out and compared afterwards
    step        times of the records count from the start of this step; None: total time
    start       time from which statistics count, or the ``*PARAMETER`` that holds it
    workers     largest number of processes; None: one per processor
    gradients   derivatives come from the runs themselves (``fem.sensitivity``), where they have them: fewer runs
    say         is told about each step of the search
    progress    as for ``run``; the share is that of the runs of a step, as it is not known how many steps there will be

    Raises
    ------
    CommandError   a record, a column, a parameter or bounds that make no sense, with file and line
    DeckError      the deck has errors with its own values
    NoConvergence  runs fail at all starts, or too often

    >>> found = fem.fit("inputs/circled_weight.inp", ["inputs/circled_weight.csv"], {"Cd": (0.3, 4.0)}, step=2,
    ...                 parameters={"EA": 21000.0, "density": 1150.0})
    >>> print(f"{found.parameters['Cd']:.2f}")
    1.34
    """
    model = read_model(deck, dict(parameters or {}))
    varied = checked_bounds(vary, model, parameters or {})
    if not 0.0 <= hold_out < 1.0:
        raise CommandError(f"a fraction of {hold_out:g} cannot be left out; expected 0 or more and below 1")
    gaps = list[str]()
    measured = [read_record(given, n, gaps.append) for n, given in enumerate(records, 1)]
    measured += read_cases(cases) if cases is not None else []
    if not measured:
        raise CommandError("a fit needs measurements: a CSV file with time and columns such as T_e12, or --cases")
    prepared = Prepared(deck, parameters)
    for record in measured:
        for name in record.parameters:
            if parameter_of(model, name, f"{record.name}: ") in [one.name for one in varied]:
                raise CommandError(f"{record.name}: {name} is varied; it cannot have a value of its own, too")
        record.check(prepared.model(record.parameters), step)
    start = parameter_of(model, start, "--from: ") if isinstance(start, str) else start
    numbers = numbers_of(measured, hold_out)
    for name, value in (sigma or {}).items():
        if name not in numbers.names or not 0.0 < value < np.inf:
            why = f"{value:g} is not above zero" if name in numbers.names else proposal(name, numbers.names)
            raise CommandError(f"--sigma {name}={value:g}: expected a column and its standard deviation; {why}")
    questions = [Observed(record.columns, record.time, step, start) for record in measured]
    with ExitStack() as stack:
        own, has_gradients = [record.parameters for record in measured], gradients and len(varied) <= MOST
        runs = Runs(prepared, varied, own, questions, workers, stack, progress, has_gradients)
        found = search(model, runs, numbers, sigma or {}, starts, say)
        return replace(found, is_si=says_si(model.heading), notices=(*gaps, *found.notices))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """All n measurements, record by record, row by row.

    record, column  (n,) indices into ``records`` and ``names``
    time            (n,) NaN of statistics
    is_used         (n,) False: left out
    """

    record: Ints
    column: Ints
    time: Floats
    measured: Floats
    is_used: Flags
    names: tuple[str, ...]
    records: tuple[str, ...]


def numbers_of(measured: Sequence[Measured], hold_out: float) -> Numbers:
    """All measurements: of several records every k-th is left out, of a single one the end."""
    names = tuple(dict.fromkeys(name for record in measured for name in record.columns))
    parts = []
    for place, record in enumerate(measured):
        rows, width = record.values.shape
        is_left_out = int((place + 1) * hold_out + 1e-9) > int(place * hold_out + 1e-9)
        is_used = np.full(rows, not is_left_out) if len(measured) > 1 else np.arange(rows) < rows * (1.0 - hold_out)
        time = record.time if len(record.time) else np.full(rows, np.nan)
        columns = np.tile([names.index(name) for name in record.columns], rows)
        wide = (np.repeat(each, width) for each in (np.full(rows, place), time, is_used))
        parts.append((*wide, columns, record.values.ravel()))
    which, time, is_used, column, values = map(np.concatenate, zip(*parts, strict=True))
    return Numbers(which, column, time, values, is_used, names, tuple(record.name for record in measured))


def between(name: str, low: float, high: float) -> Fitted:
    return Fitted(name, float(low), float(high), low > 0.0 and high >= LOG_RATIO * low)


def parse_vary(text: str) -> Fitted:
    """``EA=1e6:1e9:log``."""
    name, _, right = (part.strip() for part in text.partition("="))
    low, high, scale, *more = [*right.split(":"), "", ""]
    if not (name and high) or scale not in ("", "log", "linear") or any(more):
        raise CommandError(f"{text!r} is not of the form {FORM}")
    found = between(name, number(low, text), number(high, text))
    return replace(found, is_log=scale == "log") if scale else found


def checked_bounds(
    vary: Mapping[str, tuple[float, float]] | Sequence[Fitted], model: Model, fixed: Mapping[str, float]
) -> tuple[Fitted, ...]:
    """The fitted parameters. CommandError: no such parameter, one that is set, or invalid bounds."""
    found: list[Fitted] = []
    for one in [between(name, *ends) for name, ends in vary.items()] if isinstance(vary, Mapping) else vary:
        name = parameter_of(model, one.name)
        value, ends = model.parameters[name], f"{one.low:g} and {one.high:g}"
        if name.upper() in map(str.upper, fixed) or name in [other.name for other in found]:
            raise CommandError(f"parameter {name} is varied, and set or varied once more")
        if not (np.isfinite([one.low, one.high]).all() and one.low < one.high):
            raise CommandError(f"{name}: {ends} are not a lower and an upper bound")
        if one.is_log and not one.low > 0.0:
            raise CommandError(f"{name}: a logarithm needs bounds above zero, got {one.low:g}; write :linear")
        if not one.low <= value <= one.high:
            raise CommandError(
                f"{name}: the search starts at the deck's value {value:g}, which is not between {ends}; choose other "
                "bounds, or another value in the deck"
            )
        found.append(replace(one, name=name))
    if not found:
        raise CommandError(f"a fit needs a parameter to vary: --vary {FORM}")
    return tuple(found)


def search(model: Model, runs: Runs, numbers: Numbers, given: Mapping[str, float], starts: int, say: Say) -> Fit:
    """Fits from every start, then with sigmas from the residuals until they converge."""
    from scipy.optimize import least_squares
    from scipy.stats import qmc

    low, high, first = runs.box(model.parameters)
    used, column = np.flatnonzero(numbers.is_used), numbers.column[numbers.is_used]
    if len(used) <= len(low):
        raise CommandError(f"{len(used)} measurements cannot determine {len(low)} parameters and their intervals")
    its = Misfit(runs, np.unique(numbers.record[used]).tolist(), numbers.is_used, numbers.record, numbers.measured, say)
    groups = [column == n for n in range(len(numbers.names))]
    sigma = np.array([its.measured[group].std() or 1.0 if group.any() else 1.0 for group in groups])
    sigma = np.array([given.get(name, guess) for name, guess in zip(numbers.names, sigma, strict=True)])

    def descend(point: Floats) -> Descent:
        its.restart(1.0 / sigma[column])
        at_noise = its.total_noise / float(np.linalg.norm(its.residuals(point))) / len(used) ** 0.5
        its.tolerance = min(max(1e-7, at_noise), 1e-2)
        limits = {"ftol": its.tolerance, "xtol": 1e-8, "max_nfev": MOST_TRIALS}
        try:
            end = least_squares(its.residuals, point, its.jacobian, (low, high), x_scale="jac", **limits)
        except WithinTolerance:
            return Descent(*its.best(), True)
        return Descent(end.x, 2.0 * float(end.cost), end.status > 0)

    others: list[Floats] = []
    if starts > 1:
        tried = [*(low + (high - low) * qmc.LatinHypercube(len(low), rng=1).random(SCREENED * (starts - 1)))]
        off = [np.sum((found / sigma[column]) ** 2) for found in its.differences(tried)]
        others = [tried[n] for n in np.argsort(off)[: starts - 1]]  # NaN sorts last
    ends = [descend(point) if its.begin(point) else None for point in (first, *others)]
    if not any(ends):
        raise NoConvergence(f"the runs fail at all starts of the fit; the first: {runs.first_failure}")
    rows = [(*runs.named(end.x).values(), end.chi2) if end else (np.nan,) * (len(low) + 1) for end in ends]
    ended = Columns(dict(zip((*runs.named(first), "chi2"), np.array(rows).T, strict=True)))
    best = min((end for end in ends if end), key=lambda end: end.chi2)
    its.begin(best.x, not runs.has_gradients)  # without differences the noise at the start tells enough
    for _ in range(MOST_PASSES):
        off, before = its.residuals(best.x) * sigma[column], sigma.copy()
        for n, (name, group) in enumerate(zip(numbers.names, groups, strict=True)):
            if name not in given and group.any():
                free = group.sum() * (1.0 - len(low) / len(used))
                sigma[n] = max(float(np.sqrt(np.sum(off[group] ** 2) / free)), float(np.median(its.noise[group])))
        if len(sigma) == 1 or np.abs(np.log(sigma / before)).max() < KEPT:
            break
        best = descend(best.x)
    its.restart(1.0 / sigma[column])
    return conclusion(runs, numbers, given, its, sigma, best, ended)


def conclusion(
    runs: Runs, numbers: Numbers, given: Mapping[str, float], its: Misfit, sigma: Floats, best: Descent, starts: Columns
) -> Fit:
    """Intervals, test with the measurements left out, and notices."""
    column, varied = numbers.column[numbers.is_used], runs.varied
    near = AT_BOUND * (its.high - its.low)
    bound = np.where(best.x - its.low < near, "lower", np.where(its.high - best.x < near, "upper", ""))
    (free,) = np.nonzero(bound == "")
    residual, (jacobian, bent) = its.residuals(best.x), its.central(best.x)
    factor = np.ones(len(residual))
    for n, name in enumerate(numbers.names):
        if name in given:
            factor[column == n] = max(1.0, float(np.mean(residual[column == n] ** 2)))
    half, std, effective = np.full((3, len(varied)), np.nan)
    correlation, words = np.full((len(varied),) * 2, np.nan), list[str]()
    if len(free):
        keys = (numbers.record * len(numbers.names) + numbers.column)[numbers.is_used]
        series = [np.flatnonzero(keys == key) for key in np.unique(keys)]
        found = certainty(jacobian[:, free], residual, series, factor, its.noise_of_derivatives[free])
        half[free] = np.where(found.is_vague, np.nan, found.half)
        std[free], effective[free], correlation[np.ix_(free, free)] = found.std, found.effective, found.correlation
        words = in_words(found.vague, [varied[n] for n in free.tolist()])
    values = runs.named(best.x)
    sides = [[one.value(at + sign * h) for one, at, h in zip(varied, best.x, half, strict=True)] for sign in (-1, 1)]
    slopes = [one.rate(value) for one, value in zip(varied, values.values(), strict=True)]
    heads = ("parameter", "value", "low", "high", "std", "effective", "lower_bound", "upper_bound", "at_bound")
    ends = [[one.low for one in varied], [one.high for one in varied]]
    table = (list(values), list(values.values()), *sides, std * slopes, effective, *ends, bound)
    off = np.concatenate(its.every(best.x, len(numbers.records))) - numbers.measured
    rms = {}
    for n, name in enumerate(numbers.names):
        both = [off[(numbers.column == n) & (numbers.is_used == is_used)] for is_used in (True, False)]
        inside, outside = (float(np.sqrt(np.mean(part**2))) if len(part) else np.nan for part in both)
        rms[name] = inside, outside
    compared = {
        "record": np.array(numbers.records)[numbers.record],
        "time": numbers.time,
        "column": np.array(numbers.names)[numbers.column],
        "measured": numbers.measured,
        "computed": off + numbers.measured,
        "residual": off,
        "part": np.where(numbers.is_used, "fit", "left out"),
    }
    ends_at = dict(zip(values, bound.tolist(), strict=True))
    search = {
        "observed over predicted decrease": its.checks,
        "difference steps": {} if runs.has_gradients else dict(zip(values, its.steps.tolist(), strict=True)),
        "second over first difference": dict(zip(values, bent.tolist(), strict=True)),
        "runs": runs.count,
    }
    found_table = Columns({name: np.array(cells) for name, cells in zip(heads, table, strict=True)})
    sigmas, notices = (
        dict(zip(numbers.names, sigma.tolist(), strict=True)),
        told(runs, its, best, starts, ends_at, bent),
    )
    kept = search, best.is_converged, tuple(notices)
    return Fit(values, found_table, correlation, tuple(words), sigmas, rms, Columns(compared), starts, *kept)


def told(
    runs: Runs, its: Misfit, best: Descent, starts: Columns, bound: Mapping[str, str], bent: Floats
) -> Iterator[str]:
    """Notices."""
    for (name, which), ratio in zip(bound.items(), bent, strict=True):
        if which:
            yield f"{name} is at its {which} bound: it has no interval, and the intervals of the others hold it there"
        elif ratio > ROUGH:
            yield f"the response to {name} is rough or strongly curved: its interval is uncertain"
    if not best.is_converged:
        yield f"the search was ended after {MOST_TRIALS} trials: the values are the best so far"
    if count := runs.failures.total():
        yield f"{count} runs failed (the first: {runs.first_failure}); each counted as ten times the largest residual"
    if its.was_central:
        yield "a sum of squares did not fall as predicted: later derivatives are from both sides"
    if len(chi2 := starts["chi2"]) > 1:
        same = np.count_nonzero(chi2 <= np.nanmin(chi2) * (1.0 + SAME))
        yield f"{same} of {len(chi2)} starts end at the smallest sum of squares"


def write_fit(options: Namespace) -> int:
    """``fem fit``: tables, record and figure; the exit code is 3 where the search did not converge."""
    given, quiet, fixed = vars(options), options.quiet, dict(options.parameters)
    model = read_model(options.deck, fixed)
    files = Names(frozenset((RECORD, TABLE, RESIDUALS, FIGURE)))
    if options.write:
        check_file(options.write, map(Path, model.files), options.force, False)
    same = ("cases", "starts", "hold_out", "step", "start", "workers", "gradients")
    records = [*options.records, *options.record]
    own = claim(model, options.output, RECORD, files, "fit", options.force)
    bounds, others = [parse_vary(text) for text in options.vary], {name: given[name] for name in same}
    others |= {} if quiet else {"say": say, "progress": True}
    found = fit(options.deck, records, bounds, parameters=fixed, sigma=dict(options.sigma), **others)
    with own:
        about = {each.name: getattr(found, each.name) for each in fields(found)}
        for name in ("residuals", "search", "is_si"):
            del about[name]
        own.begin({"deck": {**deck_entry(model), "parameters": fixed}, **about, **found.search})
        for name, table in ((TABLE, found.table), (RESIDUALS, found.residuals)):
            write_columns(own.path / name, table)
        save_png(residuals(found.residuals, found.is_si), own.path / FIGURE)
    if options.write:
        write_deck_with(options.deck, {**fixed, **found.parameters}, options.write)
    if not quiet:
        print("".join(as_note(text) + "\n" for text in (*model.notices, *found.notices)), end="")
        print(found)
        print(f"as options     {found.words}")
        print(f"written        in {own.path}: {', '.join(sorted(files.listed))}")
    return 0 if found.is_converged else NoConvergence.exit_code


def write_deck_with(deck: Path, values: Mapping[str, float], path: Path) -> None:
    """The deck with other values on its ``*PARAMETER`` lines. CommandError: they are not in the deck itself."""
    wanted = {name.upper(): value for name, value in values.items()}
    text = assigned(deck.read_text(encoding="utf-8", errors="surrogateescape"), wanted)
    replace_file(path, text.encode(errors="surrogateescape"))
    written = {name.upper(): value for name, value in read_model(path).parameters.items()}
    if missed := [name for name, value in wanted.items() if written.get(name) != value]:
        path.unlink()
        raise CommandError(f"--write: {', '.join(missed)} is not set in the deck itself; use --set, as printed")
