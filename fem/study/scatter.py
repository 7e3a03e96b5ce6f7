"""Sea states of a sweep: fatigue life from the damage in each state of a scatter diagram, and statistics over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.arrays import Columns, Flags, Floats
from fem.commands.files import write_table
from fem.errors import CommandError
from fem.model.named import split
from fem.runs.run_record import COMPLETED
from fem.study.points import OCCURRENCES, PROBABILITY, SAME, Points, is_seed, read_numbers, shares_of
from fem.study.row import SEEDS
from fem.study.table import cells_of, write_columns


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """s states of the parameters ``names``, each for a fraction of all time.

    values  (s, n) of the parameters; fractions (s,), whose sum is at most 1; the rest of the time has no damage
    """

    names: tuple[str, ...]
    values: Floats
    fractions: Floats

    def rows(self, state: int, parameters: Mapping[str, Floats]) -> Flags:
        """(k,) parameter sets that belong to a state: sets that differ in other names are samples of it."""
        pairs = zip(self.names, self.values[state], strict=True)
        return np.asarray(np.logical_and.reduce([same(parameters[name], value) for name, value in pairs]))


def same(values: Floats, value: float) -> Flags:
    """Which of them are this one."""
    return np.asarray(np.abs(values - value) <= SAME * np.maximum(np.abs(values), abs(value)))


def read_scatter(path: Path, parameters: Mapping[str, Floats]) -> Scatter:
    """A CSV: columns named as parameters that are varied (at least one), and ``probability`` or ``occurrences``.

    parameters  name -> (k,) its values in all parameter sets

    Probabilities are fractions of all time; occurrences are counts, which are divided by their sum.
    CommandError, with the line: other columns, a state that the sweep does not have or has twice; as ``read_numbers``.
    """
    given, table, heads, places = read_numbers(path)
    known = {name.upper(): name for name in (*parameters, PROBABILITY, OCCURRENCES)}
    names = [known.get(name.upper(), "") for name in given]
    weight = [name for name in names if name in (PROBABILITY, OCCURRENCES)]
    varied = tuple(name for name in names if name in parameters)
    if "" in names or len(weight) != 1 or not varied:
        expected = f"{', '.join(parameters)} (some of them) and one of {PROBABILITY} and {OCCURRENCES}"
        raise CommandError(f"{heads[0].rpartition(':')[0]}: columns {', '.join(given)}: expected {expected}")
    values = table[:, [names.index(name) for name in varied]]
    fractions = np.array(shares_of({weight[0]: names.index(weight[0])}, table, places))
    scatter = Scatter(varied, values, fractions)
    for state, place in enumerate(places):
        named = ", ".join(f"{name}={value:.9g}" for name, value in zip(varied, values[state], strict=True))
        if not scatter.rows(state, parameters).any() and fractions[state]:
            raise CommandError(f"{place}: the sweep has no parameter set with {named}")
        if any(np.all(same(values[before], values[state])) for before in range(state)):
            raise CommandError(f"{place}: {named} occurs twice")
    return scatter


def scatter_of(points: Points) -> Scatter | None:
    """The shares of time of a list of cases; None: it has none."""
    names = tuple(name for name in points.names if not is_seed(name))
    shares = np.array([case.share for case in points.cases])
    if not np.isfinite(shares).any():
        return None
    return Scatter(names, np.array([case.values for case in points.cases]), shares)


@dataclass(frozen=True, slots=True, eq=False)
class Life:
    """Fatigue life for one number.

    least, largest (s,)  of all samples of a state;  rates (s,) mean of their damage in a unit of time
    rate                 of all states: the sum of fraction times rate; NaN where a run of one of them failed
    """

    name: str
    least: Floats
    largest: Floats
    rates: Floats
    rate: float

    def __str__(self) -> str:
        if math.isnan(self.rate):
            return f"{self.name}: no life: the damage of a state of the scatter diagram is unknown"
        return f"{self.name}: damage {self.rate:.9g} per unit of time, life {self.life:.9g}"

    @property
    def life(self) -> float:
        """Time until Miner's sum is 1."""
        return 1.0 / self.rate if self.rate else math.inf


def life_of(name: str, columns: Mapping[str, Floats], scatter: Scatter, parameters: Mapping[str, Floats]) -> Life:
    """Life for a recorded number; ``columns``: of the sweep, NaN where a run failed."""
    least, largest, rates = (np.full(len(scatter.fractions), np.nan) for _ in range(3))
    for state in range(len(scatter.fractions)):
        rows = scatter.rows(state, parameters)
        if rows.any():
            least[state] = columns[f"{name}_min"][rows].min()
            largest[state] = columns[f"{name}_max"][rows].max()
            rates[state] = columns[f"{name}_rate"][rows].mean()
    counted = scatter.fractions > 0.0
    return Life(name, least, largest, rates, float(scatter.fractions[counted] @ rates[counted]))


def write_lives(lives: Sequence[Life], scatter: Scatter, table: Path, totals: Path) -> None:
    """A row for each state, then one for each number in a table of their own."""
    names = [f"{life.name}_{what}" for life in lives for what in ("min", "max", "rate", "part")]
    rows = []
    for state, (values, fraction) in enumerate(zip(scatter.values.tolist(), scatter.fractions.tolist(), strict=True)):
        row = [*values, fraction]
        for life in lives:
            rate = life.rates[state]
            part = fraction * rate / life.rate if fraction and life.rate else 0.0 * life.rate
            row += [life.least[state], life.largest[state], rate, part]
        rows.append(cells_of(map(float, row)))
    write_table(table, [*scatter.names, "share", *names], rows)
    write_table(totals, ("number", "rate", "life"), ([life.name, *cells_of([life.rate, life.life])] for life in lives))


EXTREME = {"min": -1.0, "max": 1.0}
KEPT = (*EXTREME, "mean", "std", "Tz", "damage", "rate")
"""Suffixes of the columns of a sweep with statistics, and the sign that turns extremes into maxima."""
FRACTILE = 0.9
"""Fractile of extremes: nine of ten seas of this length do not exceed it."""
NORMAL = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""
FEW = 10
"""Below this number of seeds, intervals from the large-sample theory of the Gumbel distribution are too narrow."""
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

    The equation of the scale s, mean(z) - s = sum(z w)/sum(w) with w = exp(-z/s), is solved for z = (values - least) /
    range, whatever their size: since z w <= s/e and sum(w) >= 1, its root is between mean(z)/(1 + k) and mean(z).
    NaN where all values are equal, and where the likelihood equations do not hold."""
    from scipy.optimize import brentq

    least, span = float(largest.min()), float(np.ptp(largest))
    if span <= 1e-12 * np.abs(largest).max():
        return [math.nan] * 5
    z = (largest - least) / span
    mean = float(z.mean())

    def excess(scale: float) -> float:
        weights = np.exp(-z / scale)
        return float(mean - scale - weights @ z / weights.sum())

    scale = float(brentq(excess, mean / (1 + len(z)), mean, xtol=1e-15 * mean))
    location = -scale * math.log(np.exp(-z / scale).mean())
    if not (abs(excess(scale)) <= TOLERANCE * scale and abs(np.exp((location - z) / scale).mean() - 1.0) <= TOLERANCE):
        return [math.nan] * 5
    reduced = -math.log(-math.log(FRACTILE))
    half = NORMAL * scale * math.sqrt((1.109 + 0.514 * reduced + 0.608 * reduced**2) / len(z))
    fractile = location + reduced * scale
    return [
        least + span * location,
        span * scale,
        *(least + span * x for x in (fractile, fractile - half, fractile + half)),
    ]


def statistics_of(values: Floats, sign: float | None) -> list[float]:
    """The numbers of ``COLUMNS`` for values of any size; sign: for extremes, -1 for minima."""
    size = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -size)
    found = [*mean_of(values), *[math.nan] * 5]
    if sign is not None:
        location, scale, fractile, low, high = gumbel_of(sign * values)
        bounds = [sign * bound for bound in ((low, high) if sign > 0.0 else (high, low))]
        found[4:] = [sign * location, scale, sign * fractile, *bounds]
    with np.errstate(over="ignore"):  # an interval may overflow
        return [float(np.ldexp(number, size)) for number in found]


def over_seeds(sweep: Columns, names: Sequence[str]) -> Columns | None:
    """Statistics over the seeds of a sweep over parameters ``names``; None where it has only one seed of each state.
    Rows: for each set of the other parameters, each extreme, mean, damage ... of the table. Columns: those parameters,
    ``number``, ``seeds`` (completed runs), and ``COLUMNS``; NaN for fewer than two seeds."""
    seeds = [name for name in names if is_seed(name)]
    if not seeds:
        return None
    others = {name: sweep[name] for name in names if name not in seeds}
    numbers = [name for name in sweep if split(name, KEPT)[1]]
    table = np.column_stack([*others.values(), np.zeros(len(sweep["verdict"]))])
    states, place = np.unique(table, axis=0, return_inverse=True)
    if len(states) == len(table):
        return None
    rows = []
    for state, values in enumerate(states):
        for name in numbers:
            found = sweep[name][(place.ravel() == state) & (sweep["verdict"] == COMPLETED)]
            found = found[np.isfinite(found)]
            its = statistics_of(found, EXTREME.get(split(name, KEPT)[1])) if len(found) > 1 else [math.nan] * 9
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


def write_seeds(sweep: Columns, names: Sequence[str], folder: Path, is_quiet: bool, is_listed: bool = True) -> None:
    """``seeds.csv`` of a sweep over seeds; on the console the rows of tensions, or of all without these, where they are
    to be listed."""
    found = over_seeds(sweep, names)
    if found is None:
        return
    cells = [column.tolist() for column in found.values()]
    write_columns(folder / SEEDS, found)
    if is_quiet:
        return
    print(f"           and {SEEDS}")
    if not is_listed:
        return
    others = [name for name in found if name in names]
    rows = [dict(zip(found, row, strict=True)) for row in zip(*cells, strict=True)]
    rows = [row for row in rows if row["seeds"] > 1]
    shown = [row for row in rows if str(row["number"]).startswith("T_") and str(row["number"]).endswith("max")] or rows
    for row in shown[:MOST_LINES]:
        print(line_of(row, others))
    if len(shown) > MOST_LINES:
        print(f"... and {len(shown) - MOST_LINES} more in {SEEDS}")
    if any(row["seeds"] < FEW for row in rows):
        print(f"note: fewer than {FEW} seeds: the intervals of the Gumbel distribution are too narrow")
