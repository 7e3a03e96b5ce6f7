"""Figures of recorded numbers: extremes over the parameters of a sweep, and scatter diagrams.

A scatter diagram: how much of its life each sea state takes, and what that makes of the damage of each.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.arrays import Flags, Floats
from fem.errors import CommandError
from fem.files import lines_of, replace_file
from fem.study.table import cells_of

PROBABILITY, OCCURRENCES = "probability", "occurrences"
SAME = 1e-9
"""Values apart by less than this fraction of each other are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """s states of the parameters ``names``, each for a fraction of all time.

    values  (s, n) of the parameters; fractions (s,), whose sum is at most 1: in the rest nothing is damaged
    """

    names: tuple[str, ...]
    values: Floats
    fractions: Floats

    def rows(self, state: int, parameters: Mapping[str, Floats]) -> Flags:
        """(k,) which parameter sets belong to a state: those that differ in other names are samples of it."""
        pairs = zip(self.names, self.values[state], strict=True)
        return np.asarray(np.logical_and.reduce([same(parameters[name], value) for name, value in pairs]))


def same(values: Floats, value: float) -> Flags:
    """Which of them are this one."""
    return np.asarray(np.abs(values - value) <= SAME * np.maximum(np.abs(values), abs(value)))


def read_scatter(path: Path, parameters: Mapping[str, Floats]) -> Scatter:
    """A CSV: columns named as parameters that are varied (at least one), and ``probability`` or ``occurrences``.

    parameters  name -> (k,) its values in all parameter sets

    Probabilities are fractions of all time; occurrences are counts, which are divided by their sum.
    CommandError, with the line: other columns, what is no number, a state that the sweep does not have or has twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--occurrences: {path} cannot be read: {error}") from None
    lines = [(n, row) for n, row in enumerate(csv.reader(text.splitlines()), 1) if any(cell.strip() for cell in row)]
    if len(lines) < 2:
        raise CommandError(f"{path}: a line of names and at least one state are expected")
    head = [cell.strip() for cell in lines[0][1]]
    known = {name.upper(): name for name in parameters} | {word.upper(): word for word in (PROBABILITY, OCCURRENCES)}
    names = [known.get(cell.upper(), "") for cell in head]
    weight = [name for name in names if name in (PROBABILITY, OCCURRENCES)]
    varied = tuple(name for name in names if name in parameters)
    if "" in names or len(set(names)) < len(names) or len(weight) != 1 or not varied:
        expected = f"{', '.join(parameters)} (some of them) and one of {PROBABILITY} and {OCCURRENCES}"
        raise CommandError(f"{path}:{lines[0][0]}: columns {', '.join(head)}: expected {expected}")
    table = np.array([numbers(path, n, row, len(head)) for n, row in lines[1:]])
    values, fractions = table[:, [names.index(name) for name in varied]], table[:, names.index(weight[0])]
    if (fractions < 0.0).any() or not fractions.sum() > 0.0:
        raise CommandError(f"{path}: {weight[0]} has a negative value, or is zero throughout")
    if weight[0] == OCCURRENCES:
        fractions = fractions / fractions.sum()
    elif fractions.sum() > 1.0 + SAME:
        raise CommandError(f"{path}: the probabilities have the sum {fractions.sum():.9g}; expected at most 1")
    scatter = Scatter(varied, values, fractions)
    for state, (n, _) in enumerate(lines[1:]):
        named = ", ".join(f"{name}={value:.9g}" for name, value in zip(varied, values[state], strict=True))
        if not scatter.rows(state, parameters).any() and fractions[state]:
            raise CommandError(f"{path}:{n}: the sweep has no parameter set with {named}")
        if any(np.all(same(values[before], values[state])) for before in range(state)):
            raise CommandError(f"{path}:{n}: {named} occurs twice")
    return scatter


def numbers(path: Path, line: int, row: Sequence[str], count: int) -> list[float]:
    """The cells of a line. CommandError: another count, or what is no finite number."""
    if len(row) != count:
        raise CommandError(f"{path}:{line}: {len(row)} cells; expected {count}")
    found = []
    for cell in row:
        try:
            found.append(float(cell))
        except ValueError:
            found.append(math.nan)
        if not math.isfinite(found[-1]):
            raise CommandError(f"{path}:{line}: {cell.strip()!r} is not a finite number")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Life:
    """What a scatter diagram makes of one number.

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
    """Of a recorded number; ``columns``: of the sweep, NaN where a run failed."""
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
    replace_file(table, lines_of([[*scatter.names, "share", *names], *rows]))
    sums = [[life.name, *cells_of([life.rate, life.life])] for life in lives]
    replace_file(totals, lines_of([["number", "rate", "life"], *sums]))
