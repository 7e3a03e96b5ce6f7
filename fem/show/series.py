"""Values over time, as the tables of a run have them: their statistics, the extremes to expect, cycles and fatigue.

Cycles are found by rainflow counting, their damage by Miner's rule.
Source: ASTM E1049-85 (2017), 5.4.4, three points at a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats, Say
from fem.commands.files import write_table
from fem.deck import answered
from fem.errors import CommandError
from fem.model.named import WORDS, Named, series_named
from fem.model.notices import FOLLOW
from fem.runs.own import number_in
from fem.runs.read import CsvTable, Missing, open_results
from fem.show.extremes import peaks_over, tail_extreme

TERM = re.compile(r"(\w+)(?:/(\d[\d.]*(?:e[+-]?\d+)?|\.\d+))?", re.IGNORECASE)
UNSIGNED = "SK", "SM"
STRAIGHT = 0.02
"""Part of the largest curvature below which a line is straight."""
EQUAL = 1e-6
"""Times are evenly spaced if their steps differ by less than this fraction."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """k values of one number.

    name       as requested, ``T_e12``
    increment  (k,) numbers in their steps;  time (k,) total times, never falling
    snaps      increments of the run that are too long for a line that snaps taut in them (``run.json``)
    unsigned   names of numbers in it without a sign that reach zero
    """

    name: str
    increment: Floats
    time: Floats
    values: Floats
    snaps: int = 0
    unsigned: str = ""

    @property
    def notices(self) -> list[str]:
        """Limitations of the values."""
        found, skipped = [], np.diff(self.increment).max(initial=1.0)
        if skipped > 1.0:
            found = [f"{self.name} is printed up to {skipped:g} increments apart: changes in between are missed"]
        if self.snaps:
            found.append(
                f"peaks of {self.name} may be wrong: {self.snaps} increments of this run are too long for lines that "
                f"snap taut in them (events.csv has their times); {FOLLOW}"
            )
        if self.unsigned:
            found.append(
                f"{self.unsigned} has no sign and falls to zero: where the line bends to one side and then to the "
                "other, cycles count with half of their range"
            )
        return found

    @property
    def weights(self) -> Floats:
        """(k,) weights of values in means: equal for equally spaced times, else half of the times on either side."""
        dt = np.diff(self.time)
        if not len(dt) or np.ptp(dt) <= EQUAL * dt.max() or not dt.max() > 0.0:
            return np.full(len(self.time), 1.0 / len(self.time))
        weights = 0.5 * (np.append(dt, 0.0) + np.insert(dt, 0, 0.0))
        return np.asarray(weights / weights.sum())

    @property
    def mean(self) -> float:
        return float(self.weights @ self.values)

    @property
    def std(self) -> float:
        return float(np.sqrt(self.weights @ (self.values - self.mean) ** 2))

    @property
    def skewness(self) -> float:
        """Third moment over std^3; 0: symmetric, as a Gaussian process is. NaN where all values are equal."""
        away, std = self.values - self.mean, self.std
        return float(self.weights @ (away / std) ** 3) if std > 0.0 else math.nan


def read_series(
    folder: Path, column: str, kind: str, labels: Sequence[int], step: int | None = None, start: float = -np.inf
) -> list[Series]:
    """A column (``T``, ``U3``) of elements (kind e) or nodes (n) in the tables of a folder, of one step or all, from a
    total time. CommandError: there is no such column or label, or nothing at these times; it has the request that is
    missing."""
    word = WORDS[kind]
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder with the tables of a run")
    table, ask, snaps = CsvTable(folder / f"{word}s.csv"), Named(column, kind).request, unresolved_snaps(folder)
    if column not in table.columns:
        raise CommandError(f"{table.path} contains no {column}: {ask}")
    found = table.curves([column], labels, is_whole=True)
    series = []
    for label in labels:
        rows = found[label][~np.isnan(found[label][:, 3])]
        if not len(rows):
            raise CommandError(f"{table.path} contains no {column} of {word} {label}: {ask}")
        rows = rows[(rows[:, 2] >= start) & ((rows[:, 0] == step) | (step is None))]
        if not len(rows):
            where = "not at these times or in this step"
            raise CommandError(f"{table.path} contains {column} of {word} {label}, but {where}")
        is_straight = column in UNSIGNED and rows[:, 3].min() < STRAIGHT * rows[:, 3].max()
        name = str(Named(column, kind, label))
        series.append(Series(name, rows[:, 1], rows[:, 2], rows[:, 3], snaps, name if is_straight else ""))
    return series


def unresolved_snaps(folder: Path) -> int:
    """Number of increments of a run too long for a line that snaps taut in them; 0 if not recorded."""
    try:
        totals = open_results(folder).record.get("totals")
    except CommandError:
        return 0
    count = number_in(((totals or {}).get("events") or {}).get("snap", 0))
    return int(count) if math.isfinite(count) else 0


def chosen_series(folder: Path, what: str, step: int | None, start: float) -> list[Series]:
    """Series named as ``T_e12,U3_n5``, and sums, as the stress ``T_e1/A+SM_n1/W``. CommandError: invalid names."""
    series = []
    for name in what.split(","):
        terms, divisors = list[Series](), list[float]()
        for term in re.split(r"(?<!\de)\+", name, flags=re.IGNORECASE):
            match = TERM.fullmatch(term.strip())
            terms.append(one_series(folder, match[1] if match else term, step, start))
            divisors.append(float(match[2] or 1.0) if match else 1.0)
        series.append(added(terms, divisors) if len(terms) > 1 or divisors != [1.0] else terms[0])
    return series


def one_series(folder: Path, name: str, step: int | None, start: float) -> Series:
    """A number over time; of a set, at each instant the largest. CommandError: as ``read_series``; no such set."""
    number = answered(lambda: series_named(name))
    if isinstance(number, Named):
        return read_series(folder, number.column, number.kind, [number.label], step, start)[0]
    from fem.show.reading import members_of  # with Matplotlib, which sweeps do without

    results = open_results(folder)
    try:
        labels = results.mesh.element_labels if number.kind == "e" else results.mesh.node_labels
        chosen = labels[members_of(results, number.name, number.kind)].tolist()
    except Missing as missing:
        raise CommandError(f"{number}: {missing}") from None
    found = read_series(folder, number.column, number.kind, chosen, step, start)
    together(str(number), found)
    unsigned = " and ".join(each.unsigned for each in found if each.unsigned)
    largest = np.max([each.values for each in found], axis=0)
    return replace(found[0], name=str(number), values=largest, unsigned=unsigned)


def together(name: str, terms: list[Series]) -> None:
    """CommandError: numbers are not printed together."""
    if any(not np.array_equal(each.time, terms[0].time) for each in terms):
        raise CommandError(f"{name}: these numbers are not printed at the same times")


def added(terms: list[Series], divisors: list[float]) -> Series:
    """A sum of numbers, each over its divisor. CommandError: they are not printed together."""
    first, name = terms[0], "+".join(each.name for each in terms)
    together(name, terms)
    if not min(divisors) > 0.0:
        raise CommandError(f"{name}: a number must be divided by something positive, got {min(divisors):g}")
    values = sum(each.values / divisor for each, divisor in zip(terms, divisors, strict=True))
    unsigned = " and ".join(each.unsigned for each in terms if each.unsigned)
    return Series(name, first.increment, first.time, np.asarray(values), first.snaps, unsigned)


def write_and_tell(path: Path, columns: Sequence[str], rows: Sequence[Sequence[float]], say: Say) -> None:
    write_table(path, columns, rows)
    say(f"{path} ({len(rows)} row{'s' * (len(rows) != 1)})")


EULER = 0.57722
"""Mean of the standard Gumbel distribution."""


def crossing_period(series: Series) -> float:
    """Tz: mean time between upward crossings of the mean; NaN where there are fewer than two."""
    time, values = series.time, series.values - series.mean
    (before,) = np.nonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    low, high = values[before], values[before + 1]
    found = time[before] - low * (time[before + 1] - time[before]) / (high - low)
    return float((found[-1] - found[0]) / (len(found) - 1)) if len(found) > 1 else math.nan


def rayleigh_extreme(mean: float, std: float, period: float, duration: float) -> float:
    """Most probable largest value of a Gaussian process of narrow band: mean + std sqrt(2 ln(D/Tz))."""
    return mean + std * math.sqrt(2.0 * math.log(duration / period))


def gumbel(largest: Floats) -> tuple[float, float]:
    """Mode and scale beta of the Gumbel distribution of largest values, by their moments (std of the sample, n - 1)."""
    beta = float(largest.std(ddof=1)) * math.sqrt(6.0) / math.pi
    return float(largest.mean()) - EULER * beta, beta


CONFIDENCE = 0.9
FEWEST = 10
"""Smallest number of blocks for a Gumbel distribution."""
DRAWN = 500_000
"""Number of random numbers, divided into samples."""


@cache
def pivots(count: int, periods: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Limits of (estimate - true value)/beta with a confidence, for the mode of the largest value in ``periods``
    blocks, estimated from ``count`` blocks: from random samples of a Gumbel distribution, the same ones each time."""
    samples = np.random.default_rng(count).gumbel(size=(max(1000, DRAWN // count), count))
    betas = samples.std(axis=1, ddof=1) * math.sqrt(6.0) / math.pi
    found = (samples.mean(axis=1) - EULER * betas + (betas - 1.0) * math.log(periods)) / betas
    low, high = np.quantile(found, [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)])
    return float(low), float(high)


def gumbel_interval(largest: Floats, periods: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Confidence limits of the mode of the largest value in ``periods`` blocks, if values of blocks have a Gumbel
    distribution: ``pivots`` do not depend on its mode and scale."""
    (mode, beta), (low, high) = gumbel(largest), pivots(len(largest), periods, confidence)
    found = mode + beta * math.log(periods)
    return found - beta * high, found - beta * low


def block_maxima(series: Series, blocks: int) -> Floats:
    """(blocks,) largest values in equal parts of the time. CommandError: a part has no values."""
    edges = np.linspace(series.time[0], series.time[-1], blocks + 1)
    place = np.searchsorted(edges, series.time, side="right").clip(1, blocks) - 1
    if len(np.unique(place)) < blocks:
        raise CommandError(f"{series.name} has {len(series.time)} values, too few for {blocks} blocks")
    return np.array([series.values[place == block].max() for block in range(blocks)])


def stats(
    folder: Path, what: str, step: int | None, start: float, duration: float | None, blocks: int | None, say: Say
) -> None:
    for series in chosen_series(folder, what, step, start):
        for line in [*(f"note: {notice}" for notice in series.notices), *value_lines(series, duration, blocks)]:
            say(line)


def value_lines(series: Series, duration: float | None, blocks: int | None) -> list[str]:
    """Lines of names and numbers. CommandError: extremes cannot be estimated from these values."""
    time, values = series.time, series.values
    low, high = int(values.argmin()), int(values.argmax())
    period = crossing_period(series)
    lines = [
        f"{series.name}: {len(values)} values, time {time[0]:.9g} to {time[-1]:.9g}",
        f"  mean  {series.mean!r}",
        f"  std   {series.std!r}",
        f"  min   {float(values[low])!r} at {time[low]:.9g}",
        f"  max   {float(values[high])!r} at {time[high]:.9g}",
        f"  Tz    {period!r}" if period > 0.0 else "  Tz    none: fewer than two upward crossings of the mean",
        f"  skewness  {series.skewness!r}",
    ]
    if duration is not None:
        if not duration > period:
            raise CommandError(f"{series.name}: a duration longer than Tz is needed, got {duration:g} and {period:g}")
        expected = rayleigh_extreme(series.mean, series.std, period, duration)
        lines.append(f"  expected largest in {duration:g}, for a narrow band (Rayleigh): {expected!r}")
        lines += exceeded(float(values[high]), expected, float(time[-1] - time[0]), "Rayleigh's distribution is that "
                          f"of a Gaussian process, whose skewness is 0; here it is {series.skewness:.3g}")  # fmt: skip
        lines += peak_lines(series, duration)
    if blocks is not None:
        largest = block_maxima(series, blocks)
        mode, beta = gumbel(largest)
        span = float(time[-1] - time[0]) / blocks
        lines.append(f"  Gumbel of the largest in {blocks} blocks of {span:.6g}: mode {mode!r}, beta {beta!r}")
        if duration is not None:
            longer, (below, above) = mode + beta * math.log(duration / span), gumbel_interval(largest, duration / span)
            sure = f"{100.0 * CONFIDENCE:g} % confidence: {below:.6g} to {above:.6g}"
            lines.append(f"  expected largest in {duration:g}, from these blocks (Gumbel; {sure}): {longer!r}")
        if blocks < FEWEST or not span >= FEWEST * period:
            waves = f" of {span / period:.3g} Tz" if period > 0.0 else ""
            need = f"a Gumbel distribution needs {FEWEST} or more, each of {FEWEST} Tz or more"
            lines.append(f"  note: {blocks} blocks{waves}: {need}; simulate longer, or with other seeds")
    return lines


def exceeded(largest: float, expected: float, time: float, why: str = "") -> list[str]:
    """A note where a largest value, seen in some time, is greater than what is expected in a duration."""
    what = f"the largest value of these {time:.6g}, {largest:.6g}, exceeds this estimate"
    return [f"  note: {what}{': ' * bool(why)}{why}"] if largest > expected else []


def peak_lines(series: Series, duration: float) -> list[str]:
    """The largest value to expect by the highest peaks, and how many these are."""
    peaks, time = peaks_over(series.values, series.mean), float(series.time[-1] - series.time[0])
    try:
        found = tail_extreme(peaks, series.mean, duration / time)
    except CommandError as error:
        return [f"  no estimate for {duration:g} from peaks over a threshold: {error}"]
    of = f"the {found.over} highest of {len(peaks)} peaks"
    sure = f"generalised Pareto; 95 % confidence: {found.low:.6g} to {found.high:.6g}"
    line = f"  expected largest in {duration:g}, from {of} ({sure}): {found.value!r}"
    return [line, *exceeded(float(series.values.max()), found.value, time)]


COLUMNS = ("range", "mean", "count")


def turning_points(values: Floats) -> Floats:
    """First and last value, and all local extremes between."""
    values = values[np.append(True, np.diff(values) != 0.0)]
    rises = np.diff(values) > 0.0
    turns = np.ones(len(values), bool)
    turns[1:-1] = rises[1:] != rises[:-1]
    return np.asarray(values[turns])


def count_cycles(values: Floats) -> Floats:
    """(c, 3) range, mean and count (1, or 0.5 for what does not close) of each cycle, as they end."""
    found: list[tuple[float, float, float]] = []
    points: list[float] = []

    def note(first: float, second: float, count: float) -> None:
        found.append((abs(second - first), 0.5 * (first + second), count))

    for point in turning_points(values).tolist():
        points.append(point)
        while len(points) > 2 and abs(points[-1] - points[-2]) >= abs(points[-2] - points[-3]):
            if len(points) == 3:  # the range begins at the start of the history: half a cycle
                note(points[0], points[1], 0.5)
                del points[0]
            else:
                note(points[-3], points[-2], 1.0)
                del points[-3:-1]
    for first, second in pairwise(points):
        note(first, second, 0.5)
    return np.array(found).reshape(-1, 3)


def gathered(cycles: Floats, bins: int | None) -> Floats:
    """Equal cycles are joined, by range and mean; or those in each of ``bins`` equal parts of the largest range,
    with the upper end of the part as their range and the mean of their means. Empty parts are omitted."""
    if bins is None:
        pairs, place = np.unique(cycles[:, :2], axis=0, return_inverse=True)
        return np.column_stack([pairs, np.bincount(place.ravel(), cycles[:, 2], len(pairs))])
    width = cycles[:, 0].max(initial=0.0) / bins
    place = np.ceil(cycles[:, 0] / width).astype(np.int64).clip(1, bins)
    count = np.bincount(place, cycles[:, 2], bins + 1)
    (used,) = np.nonzero(count)
    mean = np.bincount(place, cycles[:, 1] * cycles[:, 2], bins + 1)[used] / count[used]
    return np.column_stack([used * width, mean, count[used]])


def damage(
    cycles: Floats, slope: float, constant: float, strength: float | None = None, goodman: float | None = None
) -> float:
    """Miner's sum of n/N with N = constant (range/strength)^-slope cycles to failure.
    goodman  strength at which a steady load fails: a cycle counts as one of range/(1 - mean/goodman) about zero; means
             below zero do not help. CommandError: a mean reaches it.
    Source: Goodman, Mechanics Applied to Engineering (1899); Shigley, Mechanical Engineering Design, 6-12."""
    ranges, means, counts = cycles.T
    if goodman is not None:
        if (largest := float(means.max(initial=0.0))) >= goodman:
            raise CommandError(f"the mean of a cycle, {largest:.6g}, reaches {goodman:g} of Goodman's line")
        ranges = ranges / (1.0 - means.clip(0.0) / goodman)
    return float(counts @ (ranges / (strength or 1.0)) ** slope / constant)


def check_curve(slope: float | None, constant: float | None, *others: float | None) -> None:
    """CommandError: a parameter of the S-N curve is missing."""
    if (slope is None) != (constant is None):
        raise CommandError("fatigue damage needs both --slope m and --constant K of N = K range^-m")
    if slope is None and any(each is not None for each in others):
        raise CommandError("--strength and --goodman belong to --slope m and --constant K of N = K (range/strength)^-m")


def rainflow(
    folder: Path,
    slope: float | None,
    constant: float | None,
    strength: float | None,
    goodman: float | None,
    bins: int | None,
    say: Say,
    **chosen: Any,
) -> None:
    """``fem post rainflow``: a table of cycles for each number that ``chosen_series`` finds, and what they do."""
    check_curve(slope, constant, strength, goodman)
    for series in chosen_series(folder, **chosen):
        cycles = count_cycles(series.values)
        for notice in series.notices:
            say(f"note: {notice}")
        write_and_tell(folder / f"rainflow_{series.name}.csv", COLUMNS, gathered(cycles, bins).tolist(), say)
        duration = float(series.time[-1] - series.time[0])
        lines = [f"{series.name}: {len(series.values)} values, time {series.time[0]:.9g} to {series.time[-1]:.9g}"]
        lines += [f"  cycles   {float(cycles[:, 2].sum())!r}", f"  largest  {float(cycles[:, 0].max(initial=0.0))!r}"]
        if slope is not None and constant is not None:
            done = damage(cycles, slope, constant, strength, goodman)
            life = duration / done if done > 0.0 else math.inf
            lines += [f"  damage   {done!r}", f"  life     {life:.6g} (this time divided by Miner's sum)"]
        for line in lines:
            say(line)
