"""Mean rates of growth, and how well they are known."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats

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
