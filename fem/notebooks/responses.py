"""Harmonic responses of a run, from its tables ``steady.csv``, ``steady_nodes.csv`` and ``steady_elements.csv``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fem.arrays import Complexes, Floats, Ints
from fem.errors import CommandError
from fem.model import Model
from fem.model.quantities import ELEMENTAL, HARMONIC, NODAL, Quantity
from fem.pictures.columns import Table
from fem.pictures.folder import Results
from fem.results.harmonic.columns import PHASE
from fem.results.record import Response

INSTANT = ("step", "frequency")
MOST_NUMBERS = 400_000_000
"""Three gigabytes."""


def responses_of(results: Results, model: Model) -> Iterator[Response]:
    """One of each line of ``steady.csv``, of all nodes and elements: NaN where nothing was printed.

    CommandError: a table that is none, or has a node or an element that the model has not.
    """
    folder, mesh = results.folder, model.mesh
    table = Table(folder / "steady.csv")
    rows = whole(table, (*INSTANT, "iterations", "residual"))
    if not len(rows):
        return
    known, row_of = np.unique(rows[:, :2], axis=0, return_inverse=True)
    n, m = len(mesh.node_labels), len(mesh.element_labels)
    if (size := 8 * len(known) * (3 * n + m)) > MOST_NUMBERS:
        many = f"{len(known)} harmonic responses of {n} nodes"
        raise CommandError(f"{many} are {size / 1.25e8:.0f} GB; pandas.read_csv reads {table.path}")
    nodal, elemental = NODAL[: len(HARMONIC["NODE"])], ELEMENTAL[: len(HARMONIC["EL"])]
    motion = filled(Table(folder / "steady_nodes.csv"), "node", known, mesh.node_labels, nodal)
    values = filled(Table(folder / "steady_elements.csv"), "element", known, mesh.element_labels, elemental)
    for (step, frequency, iterations, residual), row in zip(rows.tolist(), row_of.ravel().tolist(), strict=True):
        solved = int(step), frequency, int(iterations), residual
        yield Response(*solved, np.arange(n), motion[row], np.arange(m), values[row, :, :, 0].T)


def whole(table: Table, names: Sequence[str]) -> Floats:
    """(lines, names), none left out; no lines where there is no table."""
    return np.concatenate([np.empty((0, len(names))), *table.blocks(names if table.columns else ())])


def index_of(known: Floats) -> dict[tuple[float, ...], int]:
    """Step and frequency -> row."""
    return {tuple(pair): row for row, pair in enumerate(known.tolist())}


def filled(table: Table, item: str, known: Floats, labels: Ints, quantities: Sequence[Quantity]) -> Complexes:
    """(f, quantities, items, components) complex amplitudes at the known steps and frequencies (f, 2)."""
    found = np.full((len(known), len(quantities), len(labels), len(quantities[0].columns)), complex(np.nan, np.nan))
    written = [(place, each.columns) for place, each in enumerate(quantities) if each.columns[0] in table.columns]
    names = [name for _, columns in written for column in columns for name in (column, column + PHASE)]
    lines = whole(table, (*INSTANT, item, *names) if names else ())
    if not lines.size:
        return found
    order = np.argsort(labels)
    items = order[np.searchsorted(labels, lines[:, 2], sorter=order).clip(0, len(labels) - 1)]
    if len(lost := lines[labels[items] != lines[:, 2], 2]):
        raise CommandError(f"{table.path} has {item} {lost[0]:.0f}, which is not in the model")
    row_of, (pairs, which) = index_of(known), np.unique(lines[:, :2], axis=0, return_inverse=True)
    rows = np.array([row_of.get(pair, -1) for pair in map(tuple, pairs.tolist())])[which.ravel()]
    is_known = rows >= 0  # of a run that goes on the tables may be a frequency apart
    amplitude, phase = lines[:, 3::2], np.radians(lines[:, 4::2])
    numbers, column = amplitude * np.exp(1j * phase), 0
    for place, columns in written:
        found[rows[is_known], place, items[is_known]] = numbers[is_known, column : column + len(columns)]
        column += len(columns)
    return found
