"""Least squares over runs of a deck: residuals and differences from runs side by side, what they say of the parameters.

A parameter is a coordinate: its logarithm, or the fraction of the way between its bounds.
"""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, product

import numpy as np

from fem.arrays import Flags, Floats, Ints, Say
from fem.compiled.interpreted import work
from fem.errors import FemError, NoConvergence
from fem.runner import Prepared, verdict_of
from fem.study.question import Answer, Job, Question
from fem.study.trajectory import tightened
from fem.study.workers import START_UP, Block, ProcessTeam, blocks, process_team, solve_block, spread

FIRST_STEP, SMALLEST_STEP, LARGEST_STEP = 1e-3, 1e-6, 0.3
"""Of a coordinate, for differences."""
TIGHTER = 1e-2
"""Factor of the residual criterion in the run that shows how far it moves the numbers."""
TRUSTED = 0.5, 2.0
"""Observed over predicted decrease; outside, differences are central from then on."""
MOST_TRIALS, MOST_FAILURES, MOST_STEPS = 30, 100, 4
FEWEST = 8
"""Measurements of a series that show a correlation in time."""
ROUNDS = 20
"""Evaluations of a fit, at least: they decide whether processes are worth starting."""


@dataclass(frozen=True, slots=True)
class Varied:
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


class Runs:
    """Runs of a deck for trial values and every record, in processes where that is quicker.

    own  values of each record's run alone;  questions: what is compared with each record
    count: runs so far;  failures: how many by verdict;  first_failure: its verdict and values
    """

    def __init__(
        self,
        deck: Prepared,
        varied: Sequence[Varied],
        own: Sequence[Mapping[str, float]],
        questions: Sequence[Question],
        workers: int | None,
        stack: ExitStack,
    ) -> None:
        self.varied, self.count, self.failures, self.first_failure = varied, 0, Counter[str](), ""
        self._deck, self._own, self._questions = deck, own, questions
        self._workers, self._stack = workers or os.cpu_count() or 1, stack
        self._team: ProcessTeam | None = None
        self._seconds = 0.0

    def named(self, point: Floats) -> dict[str, float]:
        return {one.name: one.value(at) for one, at in zip(self.varied, point.tolist(), strict=True)}

    def box(self, values: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """(p,) coordinates of both bounds, and of the values of a deck."""
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
        for answer in chain(answers, self._solved(jobs)):
            place, number = divmod(answer.point, len(records))
            found[place][number] = np.array(answer.row)
            if not np.isfinite(found[place][number]).all():
                where = ", ".join(f"{name}={value:.6g}" for name, value in self.named(points[place]).items())
                self.first_failure = self.first_failure or f"{answer.verdict} at {where}"
                self.failures[answer.verdict] += 1
        self.count += len(jobs)
        if self.failures.total() > MOST_FAILURES:
            raise NoConvergence(f"more than {MOST_FAILURES} runs of the fit failed; the first: {self.first_failure}")
        return found

    def _solved(self, jobs: list[Job]) -> Iterator[Answer]:
        """Answers as they come; one run after the other until that takes longer than to start processes."""
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


class Misfit:
    """Weighted residuals of the n measurements that count, their derivatives, and how far both can be trusted.

    The step h of a one-sided difference balances its two errors, the noise of the numbers over h, and h/2 times a
    change of the derivative that is taken as the derivative itself in a unit of the coordinate:
    h = sqrt(2 noise / slope). The noise is the change of the numbers by a tighter residual criterion. Where the sum of
    squares then does not fall as the derivatives predict, later ones are from both sides, and their steps wider.

    weight  (n,) one over sigma;  noise: (n,) of the numbers
    checks  observed over predicted decrease of each step of the search
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
        self.is_central, self._coarser = False, 1.0
        self._kept: dict[bytes, Floats] = {}
        self._before: tuple[Floats, Floats, Floats] | None = None

    def differences(self, points: Sequence[Floats], tighter: bool = False) -> list[Floats]:
        """(n,) computed less measured at some points, without weight; NaN where runs failed."""
        found = self._runs.values(points, self._records, tighter)
        return [np.concatenate(parts)[self._used] - self.measured for parts in found]

    def begin(self, point: Floats) -> bool:
        """Find the noise at a point; False: its runs fail."""
        self.steps, self.is_central, self._coarser = np.full(len(point), FIRST_STEP), False, 1.0
        [off] = self.differences([point])
        if not np.isfinite(off).all():
            return False
        self._kept = {point.tobytes(): off}
        [tight] = self.differences([point], tighter=True)
        floor = 1e-13 * np.abs(off + self.measured)
        self.noise = np.where(np.isfinite(tight), np.maximum(np.abs(tight - off), floor), 1e-6 * np.abs(self.measured))
        return True

    def restart(self, weight: Floats) -> None:
        """Take other weights, and forget what follows from the old ones."""
        self.weight, self._before, self.penalty = weight, None, math.inf

    def residuals(self, point: Floats) -> Floats:
        """(n,) A failed run counts as residuals ten times the largest so far."""
        key = point.tobytes()
        if key not in self._kept:
            [self._kept[key]] = self.differences([point])
        off = self.weight * self._kept[key]
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
        return np.asarray(self.total_noise / np.abs(self.steps))

    def jacobian(self, point: Floats) -> Floats:
        """(n, p) derivatives of the residuals; a step that is wrong by more than a factor of 3 is changed."""
        here = self.residuals(point)
        values = ", ".join(f"{name}={value:.5g}" for name, value in self._runs.named(point).items())
        self._say(f"{self._runs.count} runs: {values}, sum of squares {here @ here:.5g}")
        self._judge(point, here)
        columns, _ = self._columns(point, here, self.is_central)
        with np.errstate(divide="ignore"):
            wanted = self._coarser * np.sqrt(2.0 * self.total_noise / np.linalg.norm(columns, axis=0))
        wanted = np.clip(wanted, SMALLEST_STEP, LARGEST_STEP)
        is_off = np.abs(np.log(wanted / np.abs(self.steps))) > math.log(3.0)
        self.steps = np.where(is_off, wanted, self.steps)
        if is_off.any():
            columns, _ = self._columns(point, here, self.is_central)
        self._before = point.copy(), here, columns
        return columns

    def central(self, point: Floats) -> tuple[Floats, Floats]:
        """(n, p) derivatives from both sides; (p,) second over first difference."""
        return self._columns(point, self.residuals(point), True)

    def _judge(self, point: Floats, here: Floats) -> None:
        """Compare the decrease of the sum of squares since the last derivatives with what these predicted."""
        if self._before is None or np.array_equal(self._before[0], point):
            return
        old, residual, columns = self._before
        expected = residual @ residual - np.sum((residual + columns @ (point - old)) ** 2)
        if abs(expected) > 10.0 * np.linalg.norm(residual) * self.total_noise:
            self.checks.append(float((residual @ residual - here @ here) / expected))
            if not TRUSTED[0] <= self.checks[-1] <= TRUSTED[1]:
                self._coarser *= 4.0 if self.is_central else 1.0
                self.is_central = True

    def _columns(self, point: Floats, here: Floats, is_central: bool) -> tuple[Floats, Floats]:
        """As ``central``; 0 where there is only one side. A step at which both sides fail becomes shorter."""
        columns, bent = np.zeros((len(here), len(point))), np.zeros(len(point))
        left = list(range(len(point)))
        for _ in range(MOST_STEPS):
            tried = []
            for n in left:
                sides = [side for side in (1.0, -1.0) if self.low[n] <= point[n] + side * self.steps[n] <= self.high[n]]
                tried += [(n, side * self.steps[n]) for side in (sides if is_central else sides[:1])]
            offs = self.differences([moved(point, n, step) for n, step in tried])
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


def moved(point: Floats, n: int, step: float) -> Floats:
    found = point.copy()
    found[n] += step
    return found


def correlated(columns: Floats, residual: Floats) -> Floats:
    """(p,) of c^T G c for each column c of one series, with G the covariance of its residual, estimated from itself.

    The larger of two estimates: autocovariances, divided by k, up to the first lag M >= 5 (1 + 2 sum rho^2), at most a
    quarter of the series, falling off to M (Bartlett; M after Sokal 1997); and rho^lag, a process of first order, with
    rho corrected for the parameters fitted (Kendall 1954). The sum is that of Bartlett (1935) for two series.
    """
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
        """(p,) The parameter takes part in such a direction."""
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
    # along a direction: half an interval over one unit of a coordinate, or a slope within its noise
    along = 2.0 * math.sqrt(float(factor.max()) * float(widened.max())) / np.maximum(sizes, 1e-300)
    is_vague = (along * np.abs(rows).max(axis=1) > 1.0) | (sizes < 3.0 * np.sqrt(rows**2 @ error**2))
    return Certainty(std, half, plain / np.outer(scale, scale), effective, rows[is_vague])


def in_words(vague: Floats, varied: Sequence[Varied]) -> list[str]:
    """What directions that change nothing mean for the parameters."""
    found = []
    for direction in vague:
        involved = [n for n in np.argsort(-np.abs(direction)) if abs(direction[n]) > 0.1]
        names = [varied[n].name for n in involved]
        if len(involved) == 1:
            found.append(f"{names[0]} is not determined: it has no visible effect on the measured columns")
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
