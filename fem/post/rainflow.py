"""Cycles of a varying load by rainflow counting, and the fatigue damage they do by Miner's rule.

Source: ASTM E1049-85 (2017), 5.4.4, three points at a time.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Floats, Say
from fem.errors import CommandError
from fem.post.series import Series, chosen_series, write_table

COLUMNS = ("range", "mean", "count")


def turning_points(values: Floats) -> Floats:
    """First, last, and every value at which a rise ends or a fall."""
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
            if len(points) == 3:  # the range begins where the history does: half a cycle
                note(points[0], points[1], 0.5)
                del points[0]
            else:
                note(points[-3], points[-2], 1.0)
                del points[-3:-1]
    for first, second in pairwise(points):
        note(first, second, 0.5)
    return np.array(found).reshape(-1, 3)


def gathered(cycles: Floats, bins: int | None) -> Floats:
    """Equal cycles as one, by range and mean; or those of ``bins`` equal parts of the largest range as one, with the
    upper end of the part for their range and the mean of their means. Empty parts are left out.
    """
    if bins is None:
        pairs, place = np.unique(cycles[:, :2], axis=0, return_inverse=True)
        return np.column_stack([pairs, np.bincount(place.ravel(), cycles[:, 2], len(pairs))])
    width = cycles[:, 0].max(initial=0.0) / bins
    place = np.ceil(cycles[:, 0] / width).astype(np.int64).clip(1, bins)
    count = np.bincount(place, cycles[:, 2], bins + 1)
    (used,) = np.nonzero(count)
    mean = np.bincount(place, cycles[:, 1] * cycles[:, 2], bins + 1)[used] / count[used]
    return np.column_stack([used * width, mean, count[used]])


def damage(cycles: Floats, slope: float, constant: float) -> float:
    """Miner's sum of n/N with N = constant * range^-slope cycles to failure."""
    return float(cycles[:, 2] @ cycles[:, 0] ** slope / constant)


def rainflow(
    folder: Path, slope: float | None, constant: float | None, bins: int | None, say: Say, **chosen: Any
) -> None:
    """``fem post rainflow``: a table of cycles for each number that ``chosen_series`` finds, and what they do."""
    if (slope is None) != (constant is None):
        raise CommandError("fatigue damage takes both --slope m and --constant K of N = K range^-m")
    for series in chosen_series(folder, **chosen):
        cycles = count_cycles(series.values)
        for notice in series.notices:
            say(f"note: {notice}")
        write_table(folder / f"rainflow_{series.name}.csv", COLUMNS, gathered(cycles, bins).tolist(), say)
        for line in summary(series, cycles, slope, constant):
            say(line)


def summary(series: Series, cycles: Floats, slope: float | None, constant: float | None) -> list[str]:
    """Lines of names and numbers."""
    duration = float(series.time[-1] - series.time[0])
    lines = [f"{series.name}: {len(series.values)} values, time {series.time[0]:.9g} to {series.time[-1]:.9g}"]
    lines += [f"  cycles   {float(cycles[:, 2].sum())!r}", f"  largest  {float(cycles[:, 0].max(initial=0.0))!r}"]
    if slope is not None and constant is not None:
        share = damage(cycles, slope, constant)
        life = duration / share if share > 0.0 else math.inf
        lines += [f"  damage   {share!r}", f"  life     {life:.6g} (this time over Miner's sum)"]
    return lines
