"""The study behind ``fem.error_bars``: bars of some 1700 numbers whose truth is known."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.certainty import study
from validation.certainty.study import Judged

NAME = "certainty"
TITLE = "error bars: do they hold the truth, and are they needlessly wide? 392 decks with a known answer"
SOURCE = (
    "Closed forms, elliptic functions, Bessel's zeros, d'Alembert's waves, elastic catenaries, shooting, event by "
    "event and DOP853 at 1e-12 of Newton's equations (validation/references). Decks by validation/certainty, drawn by "
    "chance from a fixed seed; a quarter of them was kept aside while the bars were made."
)
LONG = True


def run(folder: Path) -> Outcome:
    """Judge all numbers; ``certainty_numbers.csv`` lists them."""
    rows = study.carry_out()
    with (folder / "certainty_numbers.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("group", "case", "about", "number", "truth", "value", "bar", "held", "wide"))
        for row in rows:
            numbers = (repr(row.truth), repr(row.value), repr(row.bar), int(row.is_held), int(row.is_wide))
            table.writerow((row.group, row.number, row.about, row.name, *numbers))
    parts = {"all": rows, "kept aside": [row for row in rows if row.is_aside]}
    targets = [target for name, some in parts.items() for target in _targets(name, some)]
    missed = (study.listed(row) for row in rows if not row.is_held)
    return Outcome(tuple(targets), {"bars": _figure(rows)}, ("\n".join(study.table(rows)), *missed))


def _targets(name: str, rows: list[Judged]) -> list[Row]:
    why = "asked for: at least 99 % held, at most 10 % wider than ten times the true error"
    held, wide = (100.0 * float(np.mean([getattr(row, what) for row in rows])) for what in ("is_held", "is_wide"))
    return [
        Row(Target(f"{name}: of {len(rows)} numbers held by their bars [%]", 100.0, "absolute", why, 1.0), held),
        Row(Target(f"{name}: bars wider than ten times the true error [%]", 0.0, "absolute", why, 10.0), wide),
    ]


def _figure(rows: list[Judged]) -> Any:
    sheet, axes = tools.figure("Bars and true errors, over the number", "true error", "bar")
    known = [row for row in rows if math.isfinite(row.bar)]
    size = np.array([max(abs(row.truth), abs(row.value)) or 1.0 for row in known])
    error, bar = (
        np.maximum(np.array([getattr(row, what) for row in known]) / size, 1e-14) for what in ("error", "bar")
    )
    held = np.array([row.is_held for row in known])
    axes.loglog(error[held], bar[held], ".", color=tools.BLUE, markersize=3, label="held")
    axes.loglog(error[~held], bar[~held], "x", color=tools.RED, markersize=5, label="missed")
    line = np.array([1e-14, 10.0])
    axes.loglog(line, line, "-", color="black", linewidth=0.8, label="bar = error")
    axes.loglog(line, 10.0 * line, "--", color=tools.GREY, linewidth=0.8, label="bar = 10 errors")
    tools.legend(axes)
    return sheet
