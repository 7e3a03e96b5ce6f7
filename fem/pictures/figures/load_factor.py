"""The load factor of ``*STATIC, RIKS`` over the displacement that moves most, with the limit points of the path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats, Ints
from fem.pictures.columns import KEY, Table, instant_keys
from fem.pictures.folder import LEAST_INSTANTS, Missing, Results
from fem.pictures.style import LABEL, OKABE_ITO, SMALL, TITLE, WIDTH, curve, legend_beside, shortened, tidy

COLUMNS = ("U1", "U2", "U3")
REQUEST = "nodes.csv has no displacement at three increments of *STATIC, RIKS: request *NODE PRINT of U"
MOST_NAMED = 8
"""Limit points with their numbers in the legend."""


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """What is printed of one step: ``column`` (U1, U2 or U3) of ``node``; displacement (k,), factor (k,)."""

    step: int
    node: int
    column: str
    displacement: Floats
    factor: Floats

    @property
    def limit_points(self) -> Ints:
        """Places in (k,) where the load factor turns: it is greater, or less, than before and after."""
        change = np.diff(self.factor)
        (moving,) = np.nonzero(change)
        (turns,) = np.nonzero(np.diff(np.sign(change[moving])))
        return np.asarray(moving[turns] + 1)


def load_factor(results: Results) -> Figure:
    """A curve for each step; triangles where the load factor turns, with the numbers of the printed increment there."""
    paths = read_paths(results)
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    panel = figure.subplots()
    figure.suptitle(shortened(f"Load factor: {results.heading}"), fontsize=TITLE)
    for place, path in enumerate(paths):
        curve(
            panel,
            path.displacement,
            path.factor,
            place,
            f"step {path.step}",
            marker="." if len(path.factor) <= 100 else None,
        )
    points = [(path, at) for path in paths for at in path.limit_points.tolist()]
    for count, (path, at) in enumerate(points):
        u, factor = path.displacement[at], path.factor[at]
        named = f"limit point near\n{factor:.4g} at {u:.4g}" if count < MOST_NAMED else None
        mark = "^" if factor > path.factor[at - 1] else "v"
        panel.plot(u, factor, mark, color=OKABE_ITO[1] if mark == "^" else OKABE_ITO[2], ms=8, label=named, zorder=3)
    panel.axhline(0.0, color="#888888", lw=0.8, zorder=0.5)
    panel.set_xlabel(f"{paths[0].column} of node {paths[0].node} [{results.unit('length')}]", fontsize=LABEL)
    panel.set_ylabel("load factor", fontsize=LABEL)
    tidy(panel)
    legend_beside(panel)
    if len(points) > MOST_NAMED:
        panel.set_title(f"{len(points)} limit points, {MOST_NAMED} named", fontsize=SMALL)
    return figure


def read_paths(results: Results) -> list[Path]:
    """Of every step of ``*STATIC, RIKS``. Missing: there is none, or it has no displacement at three increments."""
    table = Table(results.folder / "increments.csv")
    if "load_factor" not in table.columns:
        raise Missing("increments.csv has no load_factor: ask for a step with *STATIC, RIKS")
    rows = np.concatenate([np.empty((0, 4)), *table.blocks((*KEY, "load_factor"))])
    rows = rows[~np.isnan(rows[:, 3])]
    keys = instant_keys(rows)
    node, column = largest_motion(results.nodes, keys)
    values = results.nodes.curves((column,), (node,), keys)[node]
    values = values[~np.isnan(values[:, 3])]
    factor = rows[np.searchsorted(keys, instant_keys(values)), 3]
    steps = np.unique(values[:, 0])
    each = [(int(step), values[:, 0] == step) for step in steps.tolist()]
    paths = [Path(step, node, column, values[its, 3], factor[its]) for step, its in each if its.sum() >= LEAST_INSTANTS]
    if not paths:
        raise Missing(REQUEST)
    return paths


def largest_motion(table: Table, keys: Floats) -> tuple[int, str]:
    """Node and column of the printed displacement with the largest range at the instants ``keys``. Missing: none."""
    if set(COLUMNS) - set(table.columns):
        raise Missing(REQUEST)
    labels = np.array(list(table.lines_of))
    low, high = np.full((len(labels), 3), np.inf), np.full((len(labels), 3), -np.inf)
    for block in table.blocks((*KEY, "node", *COLUMNS)):
        rows = block[np.isin(instant_keys(block), keys) & ~np.isnan(block[:, 4:]).any(axis=1)]
        places = np.searchsorted(labels, rows[:, 3])
        np.minimum.at(low, places, rows[:, 4:])
        np.maximum.at(high, places, rows[:, 4:])
    extent = np.where(high >= low, high - low, -1.0)
    if extent.max(initial=-1.0) < 0.0:
        raise Missing(REQUEST)
    place, axis = divmod(int(np.argmax(extent)), 3)
    return int(labels[place]), COLUMNS[axis]
