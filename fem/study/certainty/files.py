"""``fem run --error-bars``: columns of errors in the tables of a run, what limits its accuracy in ``run.json`` and on
the console.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from fem.arrays import Columns, Floats
from fem.deck import read_model
from fem.errors import CommandError
from fem.files import FolderLock, replace_file
from fem.model import SteadyState
from fem.model.quantities import ENERGIES
from fem.runner import run_to_files
from fem.runs.console import as_note, say
from fem.runs.read import load
from fem.runs.run_record import RESULTS, RUN_RECORD, as_json, deck_name
from fem.study.certainty.companions import Companions
from fem.study.certainty.error_bars import ErrorBars, completed
from fem.study.tracks import table_names

TABLES = {"nodes": "n", "elements": "e", "increments": ""}
ERROR = "_err"
"""What ends the names of columns of errors."""


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
    """``run_to_files``, then error bars in its folder. What the run itself gave stays if companions fail."""
    model = read_model(deck, parameters)
    if model.earlier is not None or options.get("earlier"):
        raise CommandError("--error-bars: no error bars for a run that continues another one; its start has none")
    folder = RESULTS / deck_name(model) if output is None else Path(output)
    companions = Companions(model, solver=solver, names=table_names(model))
    with companions.beginning() as answers:
        run_to_files(deck, output, parameters, quiet=quiet, solver=solver, plot=plot, **options)
        history = load(folder)
        bars = completed(history, companions, answers(history))
    write_bars(folder, bars)
    if plot:
        from fem.show.plot import write_plots

        write_plots(folder)
    if not quiet:
        tell(bars)


def write_bars(folder: Path, bars: ErrorBars) -> None:
    """Columns of errors behind those of the tables, and ``error_bars`` in ``run.json``."""
    lock = FolderLock(folder)
    lock.acquire()
    try:
        for name, kind in TABLES.items():
            path = folder / f"{name}.csv"
            if path.is_file():
                replace_file(path, with_errors(path.read_text(), kind, bars).encode())
        path = folder / RUN_RECORD
        replace_file(path, as_json(json.loads(path.read_text(encoding="utf-8")) | {"error_bars": record_of(bars)}))
    finally:
        lock.release()


def with_errors(text: str, kind: str, bars: ErrorBars) -> str:
    """A table with its columns of errors: of what is known about; empty cells elsewhere."""
    head, *lines = text.splitlines()
    names = head.split(",")
    kept = [n for n, name in enumerate(names) if not name.endswith(ERROR)]
    if len(kept) < len(names):
        names, lines = [names[n] for n in kept], [",".join(itemgetter(*kept)(line.split(","))) for line in lines]
    history = bars.history
    assert history is not None
    keys = zip(history.step.tolist(), history.increment.tolist(), strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    is_full = ",," not in text and ",\n" not in text  # else errors beside empty cells are empty
    cells = [line.split(",", 4 if is_full else -1) for line in lines]
    rows = [row_of[int(c[0]), int(c[1])] for c in cells]
    labels = [c[3] if kind else "" for c in cells]
    errors, more = [], []
    for at, name in enumerate(names):
        column = f"{source_of(name)}_{kind}" if kind else name
        places = {label: bars.place(column + label) for label in set(labels)}
        if (kind or name in ENERGIES) and max(places.values(), default=-1) >= 0:
            more.append(name + ERROR)
            columns = np.array([places[label] for label in labels])
            unknown = (columns < 0) | (False if is_full else np.array([not c[at] for c in cells]))
            errors.append(as_cells(np.where(unknown, np.nan, bars.all_bars[rows, columns])))
    return "\n".join([",".join([*names, *more]), *map(",".join, zip(lines, *errors, strict=True))]) + "\n"


def source_of(name: str) -> str:
    """The column whose error is that of another: positions are as uncertain as displacements."""
    return name.replace("COOR", "U") if name.startswith("COOR") else name


def as_cells(errors: Floats) -> list[str]:
    """Text of errors; empty where they are unknown."""
    return [f"{error:.3g}" if math.isfinite(error) else "" for error in errors.tolist()]


def record_of(bars: ErrorBars) -> dict[str, Any]:
    """For ``run.json``: the table of limits as a list of lines, what is missing and why, what was split."""
    limits = bars.limits()
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
    """None for numbers that are none."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def tell(bars: ErrorBars, out: Callable[[str], None] = say) -> None:
    """What limits the accuracy, as lines of the console."""
    out("what limits the accuracy (largest error of each quantity over the run)")
    for line in lines_of(bars.limits()):
        out(line)
    for name, why in bars.missing.items():
        out(as_note(f"no contribution of {name} to the error bars: {why}"))
    if any(isinstance(step.procedure, SteadyState) for step in bars.companions.model.steps):
        out(as_note("harmonic motions (*STEADY STATE DYNAMICS) have no error bars"))
    if bars.is_chaotic:
        out(
            as_note("the motion is chaotic: error bars of states grow exponentially; those of means and extremes count")
        )
    if np.isfinite(bars.horizon):
        out(as_note(f"the motion is not converged (30 % or more) from time {bars.horizon:.6g} on"))


def lines_of(limits: Columns) -> list[str]:
    heads = ("number", "value", "error bar", "dt", "mesh", "residual", "rows", "limited by", "order", "")
    cells = [[shown(cell) for cell in row] for row in zip(*(c.tolist() for c in limits.values()), strict=True)]
    widths = [max(len(row[n]) for row in [heads, *cells]) for n in range(len(heads))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [heads, *cells]
    ]


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if np.isfinite(value) else "-"
    return str(value)
