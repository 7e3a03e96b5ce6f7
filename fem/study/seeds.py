"""Statistics over seeds: how far extremes and damage differ between irregular seas of one spectrum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fem.arrays import Columns, Floats
from fem.errors import ModelError
from fem.files import lines_of, replace_file
from fem.runs.run_record import COMPLETED
from fem.study.points import is_seed
from fem.study.row import SEEDS
from fem.study.table import cells_of

EXTREME = {"min": -1.0, "max": 1.0}
KEPT = (*EXTREME, "mean", "std", "Tz", "damage", "rate")
"""Endings of the columns of a sweep that are compared, and the sign that makes extremes maxima."""
FRACTILE = 0.9
"""Of extremes: nine of ten seas of this length stay within."""
NORMAL = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""
FEW = 10
"""With fewer seeds, intervals from the large-sample theory of the Gumbel distribution are too narrow."""
TOLERANCE = 1e-6
COLUMNS = ("mean", "mean_low", "mean_high", "std", "location", "scale", "p90", "p90_low", "p90_high")


def mean_of(values: Floats) -> list[float]:
    """Mean, the ends of its 95 % interval (Student's t) and standard deviation of (k,) values, k >= 2."""
    from scipy.special import stdtrit

    mean, spread = float(values.mean()), float(values.std(ddof=1))
    half = float(stdtrit(len(values) - 1, 0.975)) * spread / math.sqrt(len(values))
    return [mean, mean - half, mean + half, spread]


def gumbel_of(largest: Floats) -> list[float]:
    """Location and scale of the Gumbel distribution of (k,) maxima, its fractile and the ends of the 95 % interval.

    Maximum likelihood and the covariance it has for many values: var(location) = 1.109 s^2/k, var(scale) = 0.608 s^2/k,
    cov = 0.257 s^2/k (Coles 2001, from the information matrix with Euler's constant).
    NaN where all values are equal. ModelError: the likelihood equations do not hold.
    """
    if np.ptp(largest) <= 1e-12 * np.abs(largest).max():
        return [math.nan] * 5
    from scipy.stats import gumbel_r

    location, scale = map(float, gumbel_r.fit(largest))
    weights = np.exp(-(largest - location) / scale)
    residual = largest.mean() - scale - weights @ largest / weights.sum()
    if not (abs(residual) <= TOLERANCE * scale and abs(weights.mean() - 1.0) <= TOLERANCE):
        raise ModelError(f"the Gumbel distribution of {len(largest)} extremes was not found (residual {residual:.1e})")
    reduced = -math.log(-math.log(FRACTILE))
    half = NORMAL * scale * math.sqrt((1.109 + 0.514 * reduced + 0.608 * reduced**2) / len(largest))
    fractile = location + reduced * scale
    return [location, scale, fractile, fractile - half, fractile + half]


def statistics_of(values: Floats, sign: float | None) -> list[float]:
    """The numbers of ``COLUMNS``; sign: of extremes, -1 for minima."""
    if sign is None:
        return [*mean_of(values), *[math.nan] * 5]
    location, scale, fractile, low, high = gumbel_of(sign * values)
    bounds = [sign * bound for bound in ((low, high) if sign > 0.0 else (high, low))]
    return [*mean_of(values), sign * location, scale, sign * fractile, *bounds]


def over_seeds(sweep: Columns, names: Sequence[str]) -> Columns | None:
    """Statistics over the seeds of a sweep over parameters ``names``; None where it has only one seed of each state.

    Rows: for each set of the other parameters, each extreme, mean, damage ... of the table. Columns: those parameters,
    ``number``, ``seeds`` (completed runs), and ``COLUMNS``; NaN for fewer than two seeds.
    """
    seeds = [name for name in names if is_seed(name)]
    others = {name: sweep[name] for name in names if name not in seeds}
    numbers = [name for name in sweep if name.rpartition("_")[2] in KEPT and name.rpartition("_")[0]]
    table = np.column_stack([*others.values(), np.zeros(len(sweep["verdict"]))])
    states, place = np.unique(table, axis=0, return_inverse=True)
    if not seeds or len(states) == len(table):
        return None
    rows = []
    for state, values in enumerate(states):
        for name in numbers:
            found = sweep[name][(place.ravel() == state) & (sweep["verdict"] == COMPLETED)]
            found = found[np.isfinite(found)]
            its = statistics_of(found, EXTREME.get(name.rpartition("_")[2])) if len(found) > 1 else [math.nan] * 9
            rows.append((*values[:-1].tolist(), name, len(found), *its))
    columns = list(zip(*rows, strict=True)) or [()] * (len(others) + 2 + len(COLUMNS))
    return Columns(dict(zip((*others, "number", "seeds", *COLUMNS), map(np.array, columns), strict=True)))


def line_of(row: Mapping[str, float | str | int], others: list[str]) -> str:
    """A row of an extreme on the console."""
    state = "".join(f"{name}={row[name]:.6g}, " for name in others)
    text = f"{state}{row['number']}: mean {row['mean']:.6g} ({row['mean_low']:.6g} to {row['mean_high']:.6g})"
    text += f", standard deviation {row['std']:.3g} over {row['seeds']} seeds"
    if math.isfinite(float(row["p90"])):
        text += f"; 90 % of seas within {row['p90']:.6g} ({row['p90_low']:.6g} to {row['p90_high']:.6g}, Gumbel)"
    return text


MOST_LINES = 12


def write_seeds(sweep: Columns, names: Sequence[str], folder: Path, is_quiet: bool) -> None:
    """``seeds.csv`` of a sweep over seeds, and on the console the rows of tensions, or of all without these."""
    found = over_seeds(sweep, names)
    if found is None:
        return
    cells = [column.tolist() for column in found.values()]
    text = [
        [cell if isinstance(cell, str) else cells_of([cell])[0] for cell in row] for row in zip(*cells, strict=True)
    ]
    replace_file(folder / SEEDS, lines_of([list(found), *text]))
    if is_quiet:
        return
    print(f"           and {SEEDS}")
    others = [name for name in found if name in names]
    rows = [dict(zip(found, row, strict=True)) for row in zip(*cells, strict=True)]
    shown = [row for row in rows if str(row["number"]).startswith("T_") and str(row["number"]).endswith("max")] or rows
    for row in shown[:MOST_LINES]:
        print(line_of(row, others))
    if len(shown) > MOST_LINES:
        print(f"... and {len(shown) - MOST_LINES} more in {SEEDS}")
    if any(row["seeds"] < FEW for row in rows):
        print(f"note: fewer than {FEW} seeds: the intervals of the Gumbel distribution are too narrow")
