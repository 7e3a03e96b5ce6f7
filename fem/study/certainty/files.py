"""``fem run --error-bars``: columns of errors in the tables of a run, limits of its accuracy in ``run.json`` and on the
console.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats, Ints
from fem.commands.files import FolderLock, replace_file
from fem.deck import read_model
from fem.errors import CommandError
from fem.model import Model
from fem.model.named import labels_of, names_of
from fem.runner import run_to_files
from fem.runs.console import as_note, say
from fem.runs.digits import EMPTY, NUMBER, WHOLE, lines
from fem.runs.own import RESULTS, as_json, deck_name, from_json
from fem.runs.read import KEY, CsvTable, Results, instant_keys, modes_of, open_results
from fem.runs.run_record import RUN_RECORD
from fem.runs.tables import COUNTED, LINES_AT_ONCE
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import PARTS, ErrorBars, completed
from fem.study.certainty.numbers import printed_names
from fem.study.tracks import Track, table_names

TABLES = {"nodes": "n", "elements": "e", "increments": ""}
ERROR = "_err"
"""Suffix of columns of errors."""


def run_with_bars(
    deck: str | Path,
    output: str | Path | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    quiet: bool = False,
    solver: str = "AUTO",
    plot: bool = False,
    **options: Any,
) -> None:
    """``run_to_files``, then error bars in its folder. The results of the run remain if companions fail."""
    model = read_model(deck, parameters)
    if model.earlier is not None or options.get("earlier"):
        raise CommandError("--error-bars: no error bars for a run that continues another one; its start has none")
    folder = RESULTS / deck_name(model) if output is None else Path(output)
    names = table_names(model)
    companions, blocks = Companions(model, solver=solver, names=names), {name: list[Floats]() for name in TABLES}
    with companions.beginning() as answers:
        run_to_files(deck, output, parameters, quiet=quiet, solver=solver, plot=plot, kept=blocks, **options)
        results = open_results(folder)
        if options.get("goes_on"):  # the first lines come from another process
            blocks = {name: [(its := results.table(name)).whole(without_errors(its))] for name in TABLES}
        tables = [TableLines(results.table(name), blocks.pop(name), names, model) for name in TABLES]
        run, instants = track_of(tables, names, model, results)
        bars = completed(run, companions, answers(run, not quiet), printed=printed_names(model))
    with FolderLock(folder):
        record = from_json((folder / RUN_RECORD).read_bytes())
        if record != results.record:
            raise CommandError(f"{folder} was written by another run meanwhile: no error bars are added to its tables")
        for table in (each for each in tables if each.places):
            replace_file(table.path, table.with_errors(instants, bars.all_bars, bars.place_bars))
        limits = bars.limits()
        replace_file(folder / RUN_RECORD, as_json(record | {"error_bars": record_of(bars, limits)}))
    if plot:
        from fem.show.plot import write_plots

        write_plots(folder)
    tell(bars, limits)  # requested explicitly: printed by a quiet run, too


class TableLines:
    """Lines of a table of a run, and which numbers over time they show.

    numbers   (lines, c) of the columns, NaN for empty cells;  instants: (lines,) their keys
    labels    (n,) of nodes or elements, rising; (0,) where lines have none
    places    column -> (n,) index of the number of each node or element among ``names``; -1: none
    """

    def __init__(self, table: CsvTable, blocks: list[Floats], names: Sequence[str], model: Model) -> None:
        self.path, self.columns = table.path, without_errors(table)
        self.numbers = np.concatenate([np.empty((0, len(self.columns))), *blocks])
        self.instants = instant_keys(self.numbers)
        kind, place = TABLES[table.path.stem], {name: at for at, name in enumerate(names)}
        self.labels = np.sort(labels_of(model.mesh, kind)) if kind else np.zeros(0, np.int64)
        labels = self.labels.tolist() or [-1]
        sources = (names_of(kind, [name.replace("COOR", "U")], labels) for name in self.columns)
        found = {at: np.array([place.get(name, -1) for name in its]) for at, its in enumerate(sources)}
        self.places = {at: places for at, places in found.items() if places.max() >= 0}

    def parts(self) -> Iterator[tuple[slice, Ints]]:
        """Blocks of lines, and the node or element of each line."""
        for first in range(0, len(self.numbers), LINES_AT_ONCE):
            part = slice(first, first + LINES_AT_ONCE)
            labels = self.numbers[part, len(KEY)] if len(self.labels) else np.zeros(len(self.numbers[part]))
            yield part, self.labels.searchsorted(labels)

    def fill(self, values: Floats, instants: Floats) -> None:
        """Writes their values into (k, c) values at the instants (k,) of the run."""
        for part, items in self.parts():
            rows = instants.searchsorted(self.instants[part])
            for at, places in self.places.items():
                if not self.columns[at].startswith("COOR"):
                    its = places[items]
                    values[rows[its >= 0], its[its >= 0]] = self.numbers[part, at][its >= 0]

    def with_errors(self, instants: Floats, bars: Floats, places: Floats) -> Iterator[bytes | memoryview]:
        """The table with columns of errors (k, c), for COOR those of positions, where they are known and the cell is
        not empty."""
        is_place = [self.columns[at].startswith("COOR") for at in self.places]
        heads = (*self.columns, *(self.columns[at] + ERROR for at in self.places))
        yield ",".join(heads).encode() + b"\n"
        kinds = np.array([WHOLE if name in COUNTED else NUMBER for name in heads], np.uint8)
        for part, items in self.parts():
            rows, numbers = instants.searchsorted(self.instants[part]), self.numbers[part]
            its = np.stack([each[items] for each in self.places.values()], axis=1)
            is_known = (its >= 0) & np.isfinite(numbers[:, list(self.places)])
            found = np.where(is_place, places[rows[:, None], its], bars[rows[:, None], its])
            errors = np.where(is_known, in_three_digits(found), np.nan)
            numbers = np.concatenate([numbers, errors], axis=1)
            yield lines(numbers, np.where(np.isnan(numbers), EMPTY, kinds))


def without_errors(table: CsvTable) -> list[str]:
    return [name for name in table.columns if not name.endswith(ERROR)]


def track_of(
    tables: Sequence[TableLines], names: tuple[str, ...], model: Model, results: Results
) -> tuple[Track, Floats]:
    """All printed numbers, at all instants at which something is printed; the (k,) keys of these."""
    heads = np.concatenate([t.numbers[np.flatnonzero(np.diff(t.instants, prepend=-1.0)), : len(KEY)] for t in tables])
    instants, first = np.unique(instant_keys(heads), return_index=True)
    step, _, time = heads[first].T
    values, dt = np.full((len(instants), len(names)), np.nan, order="F"), np.full(len(instants), np.nan)
    for table in tables:
        table.fill(values, instants)
        if "dt" in table.columns:
            dt[instants.searchsorted(table.instants)] = table.numbers[:, table.columns.index("dt")]
    modes = tuple(modes_of(results, len(model.mesh.node_labels)))
    rows = step.astype(np.int64), time, dt, values
    return Track(model, names, *rows, modes, tuple(results.events)), instants


def in_three_digits(errors: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.nan_to_num(2.0 - np.floor(np.log10(errors)), posinf=0.0, neginf=0.0)
        scale = 10.0 ** np.abs(digits)
        return np.where(digits >= 0.0, np.rint(errors * scale) / scale, np.rint(errors / scale) * scale)


def record_of(bars: ErrorBars, limits: Columns) -> dict[str, Any]:
    """For ``run.json``: the table of limits as a list of lines, missing contributions with reasons, elements that were
    split."""
    lines = [
        dict(zip(limits, map(known, row), strict=True))
        for row in zip(*(c.tolist() for c in limits.values()), strict=True)
    ]
    fine = bars.companions.fine if bars.companions.mesh else None
    return {
        "limits": lines,
        "missing": bars.missing,
        "split": len(fine.split) if fine else 0,
        "whole": {reason: len(labels) for reason, labels in fine.kept.items()} if fine else {},
        "horizon": known(bars.horizon),
        "is_chaotic": bars.is_chaotic,
    }


def known(value: Any) -> Any:
    """None for NaN and infinite numbers."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def tell(bars: ErrorBars, limits: Columns) -> None:
    """Prints the limits of accuracy on the console."""
    say("what limits the accuracy (largest error of each quantity over the run)")
    for line in lines_of(limits):
        say(line)
    for name, why in bars.missing.items():
        say(as_note(f"no contribution of {name} to the error bars: {why}"))
    if any(step.harmonic for step in bars.companions.model.steps):
        say(as_note("harmonic motions (*STEADY STATE DYNAMICS) have no error bars"))
    if bars.is_chaotic:
        say(
            as_note("the motion is chaotic: error bars of states grow exponentially; those of means and extremes count")
        )
    if np.isfinite(bars.horizon):
        say(as_note(f"the motion is not converged (30 % or more) from time {bars.horizon:.6g} on"))


def lines_of(limits: Columns) -> list[str]:
    heads = ("number", "value", "error bar", "wrong by (dt)", *PARTS, "limited by", "order", "")
    cells = [[shown(cell) for cell in row] for row in zip(*(c.tolist() for c in limits.values()), strict=True)]
    for row in cells:
        row[3:5] = [f"{row[3]} +- {row[4]}" if row[3] != "-" else "-"]
    return in_columns([heads, *cells])


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equal length as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line}".rstrip() for line in lines]


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if np.isfinite(value) else "-"
    return str(value)
