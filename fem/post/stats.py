"""Mean, spread, extremes and zero crossings of numbers over time, and the extremes to expect in a longer time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from fem.arrays import Floats, Say
from fem.errors import CommandError
from fem.post.series import Series, chosen_series

EULER = 0.57722
"""Mean of the standard Gumbel distribution."""


def upcrossings(time: Floats, values: Floats) -> Floats:
    """Times at which the values rise through zero, along straight lines between them."""
    (before,) = np.nonzero((values[:-1] < 0.0) & (values[1:] >= 0.0))
    low, high = values[before], values[before + 1]
    return np.asarray(time[before] - low * (time[before + 1] - time[before]) / (high - low))


def crossing_period(series: Series) -> float:
    """Tz: mean time between upward crossings of the mean; NaN where there are fewer than two."""
    found = upcrossings(series.time, series.values - series.mean)
    return float((found[-1] - found[0]) / (len(found) - 1)) if len(found) > 1 else math.nan


def rayleigh_extreme(mean: float, std: float, period: float, duration: float) -> float:
    """Most probable largest value of a Gaussian process of narrow band: mean + std sqrt(2 ln(D/Tz))."""
    return mean + std * math.sqrt(2.0 * math.log(duration / period))


def gumbel(largest: Floats) -> tuple[float, float]:
    """Mode and scale beta of the Gumbel distribution of largest values, by their moments (std of the sample, n - 1)."""
    beta = float(largest.std(ddof=1)) * math.sqrt(6.0) / math.pi
    return float(largest.mean()) - EULER * beta, beta


def block_maxima(series: Series, blocks: int) -> Floats:
    """(blocks,) largest values of equal parts of the time. CommandError: one of them has no values."""
    edges = np.linspace(series.time[0], series.time[-1], blocks + 1)
    place = np.searchsorted(edges, series.time, side="right").clip(1, blocks) - 1
    if len(np.unique(place)) < blocks:
        raise CommandError(f"{series.name} has {len(series.time)} values, too few for {blocks} blocks")
    return np.array([series.values[place == block].max() for block in range(blocks)])


def stats(
    folder: Path, what: str, step: int | None, start: float, duration: float | None, blocks: int | None, say: Say
) -> None:
    """``fem post stats``."""
    for series in chosen_series(folder, what, step, start):
        for line in [*(f"note: {notice}" for notice in series.notices), *summary(series, duration, blocks)]:
            say(line)


def summary(series: Series, duration: float | None, blocks: int | None) -> list[str]:
    """Lines of names and numbers. CommandError: no extremes follow from these values."""
    time, values = series.time, series.values
    low, high = int(values.argmin()), int(values.argmax())
    period = crossing_period(series)
    lines = [
        f"{series.name}: {len(values)} values, time {time[0]:.9g} to {time[-1]:.9g}",
        f"  mean  {series.mean!r}",
        f"  std   {series.std!r}",
        f"  min   {float(values[low])!r} at {time[low]:.9g}",
        f"  max   {float(values[high])!r} at {time[high]:.9g}",
        f"  Tz    {period!r}" if period > 0.0 else "  Tz    none: it rises through its average less than twice",
    ]
    if duration is not None:
        if not duration > period:
            raise CommandError(f"{series.name}: a duration longer than Tz is needed, got {duration:g} and {period:g}")
        expected = rayleigh_extreme(series.mean, series.std, period, duration)
        lines.append(f"  expected largest in {duration:g}, as of narrow band (Rayleigh): {expected!r}")
    if blocks is not None:
        mode, beta = gumbel(block_maxima(series, blocks))
        span = float(time[-1] - time[0]) / blocks
        lines.append(f"  Gumbel of the largest in {blocks} blocks of {span:.6g}: mode {mode!r}, beta {beta!r}")
        if duration is not None:
            longer = mode + beta * math.log(duration / span)
            lines.append(f"  expected largest in {duration:g}, from these blocks (Gumbel): {longer!r}")
    return lines
