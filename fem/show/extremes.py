"""The largest value to expect in a longer time, from the peaks of one series: generalised Pareto over a threshold.

A peak is the largest value between two upward crossings of the mean. Excesses y over a high threshold u have
P(Y > y) = (1 + shape y/scale)^(-1/shape) (Pickands). With n excesses to expect in the duration, one of them exceeds

    u + x,   x = scale (n^shape - 1)/shape.

Its 95 % interval holds every x whose profile likelihood, the greatest over all shapes, is within 1.92 of the greatest
of all. Peaks count as independent. Source: Coles, An Introduction to Statistical Modeling of Extreme Values (2001),
4.3.3 and 2.6.6.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.errors import CommandError

FEWEST_PEAKS = 30
"""Smallest number of peaks over the threshold."""
SHARE = 10
"""One peak in so many is over the threshold, where that gives enough."""
SHAPES = (-0.5, 0.5)
"""Shapes that are considered: below, the likelihood has no regular maximum; above, there is no finite variance."""
CUT = 1.9207
"""Half of the 95 % fractile of chi square with one degree of freedom."""
ALL_EQUAL = "the highest peaks are all equal: they have no distribution"
SAME_PEAKS = 1e-6
"""Peaks are equal if they differ by less than this part of their height over the mean."""
EXPONENTIAL = 1e-7
"""Shapes closer to zero count as zero."""
GRIDS = 3
"""Of 17 shapes each, the next between the neighbours of the best."""


class Tail(NamedTuple):
    """value: to be exceeded once in the duration, with its 95 % interval;  over: number of peaks over the threshold."""

    value: float
    low: float
    high: float
    over: int


def peaks_over(values: Floats, mean: float) -> Floats:
    """(c,) the largest value of each cycle, from one upward crossing of the mean to the next; of what is before the
    first and after the last one, too, where that is above the mean."""
    above = values >= mean
    starts = np.append(0, 1 + np.flatnonzero(~above[:-1] & above[1:]))
    found = np.maximum.reduceat(values, starts)
    return found[found > mean]


def count_over(peaks: int) -> int:
    """How many of so many peaks are over the threshold."""
    return max(FEWEST_PEAKS, peaks // SHARE)


def why_no_tail(peaks: int, longer: float) -> str:
    """Why so many peaks have no extreme in ``longer`` times their time; empty: they have one, unless ``ALL_EQUAL``."""
    count = count_over(peaks)
    if peaks <= count:
        return f"{peaks} peaks are too few: more than {FEWEST_PEAKS} are needed"
    if not count * longer > 1.0:
        return f"in {longer:.3g} of the time of the series not one of {count} peaks is to be expected"
    return ""


def tail_extreme(peaks: Floats, mean: float, longer: float) -> Tail:
    """The extreme in ``longer`` times the time of some peaks (c,). CommandError: they are too few or all equal, or none
    is to be expected over the threshold in that time."""
    count = count_over(len(peaks))
    if why := why_no_tail(len(peaks), longer):
        raise CommandError(why)
    highest = np.sort(peaks)[-count - 1 :]
    threshold, excess = float(highest[0]), highest[1:] - highest[0]
    size = float(excess.mean())
    if not size > SAME_PEAKS * (threshold - mean):
        raise CommandError(ALL_EQUAL)
    value, low, high = (threshold + size * x for x in interval_of(excess / size, math.log(count * longer)))
    return Tail(value, low, high, count)


def interval_of(excess: Floats, log_count: float) -> tuple[float, float, float]:
    """x that one of n excesses over a threshold exceeds, and its 95 % interval, for excesses (m,) whose mean is 1."""
    from scipy.optimize import brentq, minimize_scalar

    bounds = np.log(np.array([0.05, 20.0]) * over_scale(np.array(SHAPES), log_count)).tolist()
    found = minimize_scalar(
        lambda log_x: -profile(log_x, excess, log_count), bounds=bounds, method="bounded", options={"xatol": 1e-7}
    )
    best, most = float(found.x), -float(found.fun)

    def above(log_x: float) -> float:
        return profile(log_x, excess, log_count) - most + CUT

    ends = [end if above(end) >= 0.0 else float(brentq(above, best, end, xtol=1e-6)) for end in bounds]
    low, x, high = (math.exp(each) for each in (ends[0], best, ends[1]))
    return x, low, high


def over_scale(shape: Floats, log_count: float) -> Floats:
    """x/scale = (n^shape - 1)/shape."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(shape) > EXPONENTIAL, np.expm1(shape * log_count) / shape, log_count)


def profile(log_x: float, excess: Floats, log_count: float) -> float:
    """Greatest log likelihood of excesses (m,) for one x, over the shape: by ever finer grids, then a parabola. A
    negative shape has its end above them all."""
    x, (low, high) = math.exp(log_x), SHAPES
    if x < (largest := float(excess.max())):
        low = max(low, math.log1p(-x / largest) / log_count * (1.0 - 1e-9))
    for _ in range(GRIDS):
        shapes = np.linspace(low, high, 17)
        found = likelihood(shapes, x / over_scale(shapes, log_count), excess)
        best = int(found.argmax())
        low, high = shapes[max(0, best - 1)], shapes[min(16, best + 1)]
    if not 0 < best < 16:
        return float(found[best])
    before, at, after = map(float, found[best - 1 : best + 2])
    bend = 2.0 * at - before - after
    return at + (0.125 * (after - before) ** 2 / bend if bend > 0.0 else 0.0)


def likelihood(shape: Floats, scale: Floats, excess: Floats) -> Floats:
    """(s,) log likelihoods of excesses (m,)."""
    is_bent = np.abs(shape) > EXPONENTIAL
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log1p((shape / scale)[:, None] * excess).sum(axis=1)
        total = np.where(is_bent, (1.0 + 1.0 / shape) * logs, excess.sum() / scale)
    return np.asarray(np.nan_to_num(-len(excess) * np.log(scale) - total, nan=-np.inf))
