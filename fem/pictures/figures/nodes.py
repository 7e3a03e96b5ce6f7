"""Figures of nodes over time: displacements and their like, forces of supports, load factors of RIKS steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from fem.arrays import Floats, Ints
from fem.model.quantities import NODAL, Quantity
from fem.pictures.figures.tension import shade
from fem.pictures.folder import KEY, LEAST_INSTANTS, Missing, Results, Table, instant_keys
from fem.pictures.motion import NODES, REST, nodes_at, overview, read_motion
from fem.pictures.style import (
    LABEL,
    MOST_CURVES,
    OKABE_ITO,
    SMALL,
    TITLE,
    WIDTH,
    curve,
    finish,
    labelled,
    legend_beside,
    moving,
    panels,
    share_of,
    shortened,
    some_of,
    tidy,
)
from fem.pictures.tension import slack_spells


def drawing(quantity: Quantity) -> Callable[[Results], Figure]:
    """The figure of a quantity, as a function of its name."""

    def draw(results: Results) -> Figure:
        return motion_figure(results, quantity)

    draw.__name__ = quantity.figure
    return draw


MOTIONS = tuple(drawing(quantity) for quantity in NODAL if quantity.figure)
displacements = MOTIONS[0]


def motion_figure(results: Results, quantity: Quantity) -> Figure:
    """One panel per direction that moves, one line per node. Missing: fewer than three instants."""
    motion = printed(results, quantity)
    if not motion:
        name = quantity.name
        raise Missing(f"nodes.csv holds fewer than three instants of it: request *NODE PRINT, NSET=... of {name}")
    chosen = [list(motion)[place] for place in some_of(list(motion))]
    parts = [motion[label][1] for label in chosen]
    columns = moving(np.concatenate([part - part[0] for part in parts] if quantity.name == "COORD" else parts))
    title = f"{quantity.figure.capitalize()} of the printed nodes{share_of(chosen, len(motion))}"
    figure, rows = panels(len(columns), title)
    for place, label in enumerate(chosen):
        time, values = motion[label]
        for (panel,), column in zip(rows, columns, strict=True):
            curve(panel, time, values[:, column], place, f"node {label}")
    spells = slack_spells(results, *(float(edge(motion[chosen[0]][0])) for edge in (np.min, np.max)))
    for (panel,), column in zip(rows, columns, strict=True):
        shade(panel, spells)
        panel.set_ylabel(labelled(results, quantity.columns[column], quantity.unit))
    finish(results, rows)
    return figure


def printed(results: Results, quantity: Quantity) -> dict[int, tuple[Floats, Floats]]:
    """Label -> time (k,) and values (k, c), where ``nodes.csv`` holds at least three; positions follow from U."""
    table = results.nodes
    if quantity.name == "COORD" and quantity.columns[0] not in table.columns and results.fields:
        u = printed(results, NODES["U"])
        places = results.mesh.coordinates[nodes_at(results, list(u))]
        return {label: (time, x + values) for (label, (time, values)), x in zip(u.items(), places, strict=True)}
    if quantity.columns[0] not in table.columns:
        return {}
    labels = [label for label, lines in table.lines_of.items() if lines >= LEAST_INSTANTS]
    curves = table.curves(quantity.columns, labels)
    found = {label: rows[~np.isnan(rows[:, 3:]).any(axis=1)] for label, rows in curves.items()}
    return {label: (rows[:, 2], rows[:, 3:]) for label, rows in found.items() if len(rows) >= LEAST_INSTANTS}


def reactions(results: Results) -> Figure:
    """RF of the supported nodes, those with the largest."""
    labels = supported(results)
    if not labels:
        raise Missing("no support carries a force in the fields or in RF of nodes.csv (*NODE PRINT of RF)")
    chosen = labels[:MOST_CURVES]
    motion = read_motion(results, chosen, ("RF",))
    if "RF" not in motion.values:
        raise Missing("neither nodes.csv (*NODE PRINT of RF) nor the fields (*NODE FILE of RF) hold reactions")
    force = motion.values["RF"]
    title = f"Reactions of the supports{share_of(chosen, len(labels))}"
    names = [f"node {label}" for label in chosen]
    figure = force_figure(results, motion.time, force, names, title, ["RF1", "RF2", "RF3"], None)
    figure.set_label(motion.source)
    return figure


def supported(results: Results) -> list[int]:
    """Labels of nodes with reactions, the largest first."""
    largest: dict[int, float] = {}
    if results.fields:
        sizes = overview(results).reaction.max(axis=1)
        largest = dict(zip(results.mesh.node_labels.tolist(), sizes.tolist(), strict=True))
    if not any(largest.values()) and "RF1" in results.nodes.columns:
        rows = results.nodes.curves(["RF1", "RF2", "RF3"], list(results.nodes.lines_of))
        largest = {
            label: float(np.nanmax(np.abs(part[:, 3:]), initial=0.0))
            for label, part in rows.items()
            if len(part) >= LEAST_INSTANTS
        }
    least = REST * max(largest.values(), default=0.0)
    return sorted((label for label, size in largest.items() if size > least), key=lambda label: -largest[label])


def force_figure(
    results: Results, time: Floats, force: Floats, names: list[str], title: str, labels: list[str], pull: Floats | None
) -> Figure:
    """Components of force (k, p, 3), one panel each, and T (k, p) below where it is given."""
    axes = moving(force)
    figure, rows = panels(len(axes) + (pull is not None), title)
    for place, name in enumerate(names):
        for (panel,), axis in zip(rows, axes, strict=False):
            curve(panel, time, force[:, place, axis], place, name)
        if pull is not None:
            curve(rows[-1][0], time, pull[:, place], place)
    for (panel,), axis in zip(rows, axes, strict=False):
        panel.set_ylabel(labelled(results, labels[axis], "force"))
    if pull is not None:
        rows[-1][0].set_ylabel(labelled(results, "T along the bar", "force"))
    finish(results, rows)
    return figure


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
