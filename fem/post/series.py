"""Values over time, as the tables of a run have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fem.arrays import Floats, Say
from fem.errors import CommandError, unknown
from fem.files.whole import lines_of, replace_file
from fem.model.notices import FOLLOW
from fem.model.quantities import QUANTITIES
from fem.pictures.folder import Table, open_results

TABLES = {"e": ("elements.csv", "*EL PRINT, ELSET=", "element"), "n": ("nodes.csv", "*NODE PRINT, NSET=", "node")}
NAME = re.compile(r"([A-Za-z]+[1-3]?)_([en])(\d+)")
EQUAL = 1e-6
"""Times apart by less than this fraction of each other are evenly spaced."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """k values of one number.

    name       as it was asked for, ``T_e12``
    increment  (k,) numbers in their steps
    time       (k,) total times, never falling
    values     (k,)
    snaps      increments of the run that are too long for a line that snaps taut in them (``run.json``)
    """

    name: str
    increment: Floats
    time: Floats
    values: Floats
    snaps: int = 0

    @property
    def notices(self) -> list[str]:
        """What the values do not tell of the motion."""
        found, skipped = [], np.diff(self.increment).max(initial=1.0)
        if skipped > 1.0:
            found = [f"{self.name} is printed up to {skipped:g} increments apart: what happens between is not seen"]
        if self.snaps:
            found.append(
                f"peaks of {self.name} may be wrong: {self.snaps} increments of this run are too long for lines that "
                f"snap taut in them (events.csv has their times); {FOLLOW}"
            )
        return found

    @property
    def weights(self) -> Floats:
        """(k,) of the values in means: all alike at even times, else half of the time to either side."""
        dt = np.diff(self.time)
        if not len(dt) or np.ptp(dt) <= EQUAL * dt.max() or not dt.max() > 0.0:
            return np.full(len(self.time), 1.0 / len(self.time))
        share = 0.5 * (np.append(dt, 0.0) + np.insert(dt, 0, 0.0))
        return np.asarray(share / share.sum())

    @property
    def mean(self) -> float:
        return float(self.weights @ self.values)

    @property
    def std(self) -> float:
        return float(np.sqrt(self.weights @ (self.values - self.mean) ** 2))


def read_series(
    folder: Path, what: str, labels: Sequence[int], step: int | None = None, start: float = -np.inf
) -> list[Series]:
    """A column (``T``, ``U3``) of elements or nodes in the tables of a folder, of one step or all, from a total time.

    what  with the kind of the labels: ``T_e``, ``U3_n``
    CommandError: there is no such column or label, or nothing at these times; it has the request that is missing.
    """
    column, _, kind = what.partition("_")
    file, _, word = TABLES[kind]
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder with the tables of a run")
    check_column(column, kind)
    table, ask, snaps = Table(folder / file), missing(what), unresolved_snaps(folder)
    if column not in table.columns:
        raise CommandError(f"{table.path} holds no {column}: {ask}")
    found = table.curves([column], labels, is_whole=True)
    series = []
    for label in labels:
        rows = found[label][~np.isnan(found[label][:, 3])]
        if not len(rows):
            raise CommandError(f"{table.path} holds no {column} of {word} {label}: {ask}")
        rows = rows[(rows[:, 2] >= start) & ((rows[:, 0] == step) | (step is None))]
        if not len(rows):
            raise CommandError(f"{table.path} holds {column} of {word} {label}, but not at these times or in this step")
        series.append(Series(f"{what}{label}", rows[:, 1], rows[:, 2], rows[:, 3], snaps))
    return series


def unresolved_snaps(folder: Path) -> int:
    """Increments of a run that are too long for a line that snaps taut in them; 0 where no record says so."""
    try:
        totals = open_results(folder).record.get("totals")
    except CommandError:
        return 0
    return int(((totals or {}).get("events") or {}).get("snap", 0))


def check_column(column: str, kind: str) -> None:
    """CommandError: elements (e) or nodes (n) have no such number."""
    known = [name for quantity in QUANTITIES["EL" if kind == "e" else "NODE"] for name in quantity.columns]
    if column not in known:
        raise CommandError(unknown(f"number of {TABLES[kind][2]}s", column, known).args[0])


def missing(what: str) -> str:
    """The request that prints a number, ``T_e`` or ``T_e12``."""
    column, _, kind = what.partition("_")
    return f"request {TABLES[kind[0]][1]}... with {column.rstrip('123')} in the deck, FREQUENCY=1"


def number_of(name: str) -> tuple[str, str, int]:
    """Column, kind (``e``, ``n``) and label that ``T_e12`` names. CommandError: it names no number."""
    match = NAME.fullmatch(name.strip())
    if not match:
        form = "write T_e12 (element 12) or U3_n5 (node 5)"
        raise CommandError(f"{name.strip()!r} names no number of a table: {form}")
    column, kind, label = match.groups()
    check_column(column.upper(), kind)
    return column.upper(), kind, int(label)


def chosen_series(folder: Path, what: str, step: int | None, start: float) -> list[Series]:
    """Those that ``T_e12,U3_n5`` names. CommandError: not such names."""
    series = []
    for name in what.split(","):
        column, kind, label = number_of(name)
        series += read_series(folder, f"{column}_{kind}", [label], step, start)
    return series


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[float]], say: Say) -> None:
    """Write a CSV table beside those of the run, and say where."""
    replace_file(path, lines_of([columns, *rows]))
    say(f"{path} ({len(rows)} row{'s' * (len(rows) != 1)})")
