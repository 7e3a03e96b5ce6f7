"""Where lines leave the bottom, and how much of them lies on it."""

from __future__ import annotations

import csv

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results
from fem.pictures.style import curve, finish, labelled, panels, some_of


def touchdown(results: Results) -> Figure:
    """Natural length up to the place where each line leaves the bottom, and that which lies on it, over time."""
    found = read_touchdown(results)
    chosen = [list(found)[place] for place in some_of(range(len(found)))]
    more = f": {len(chosen)} of {len(found)} lines" if len(chosen) < len(found) else ""
    figure, rows = panels(2, f"Touchdown{more}", height=2.5)
    for place, name in enumerate(chosen):
        for (panel,), column in zip(rows, (1, 2), strict=True):
            curve(panel, found[name][:, 0], found[name][:, column], place, name)
    for (panel,), what in zip(rows, ("natural length\nto touchdown", "natural length\non the bottom"), strict=True):
        panel.set_ylabel(labelled(results, what, "length"))
    finish(results, rows)
    return figure


def read_touchdown(results: Results) -> dict[str, Floats]:
    """Line -> (k, 3) time, s (NaN: it does not touch), length on the bottom. Missing: there are too few instants."""
    path = results.folder / "touchdown.csv"
    if not path.is_file():
        raise Missing("there is no touchdown.csv: the deck has no *SEABED")
    parts: dict[str, list[tuple[float, ...]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cells = row["time"], row["s"] or "nan", row["on_bottom"]
            parts.setdefault(row["line"], []).append(tuple(map(float, cells)))
    found = {name: np.array(rows) for name, rows in parts.items() if len(rows) >= LEAST_INSTANTS}
    if not found:
        raise Missing("touchdown.csv holds fewer than three instants: request *NODE PRINT")
    return found
