"""T of the bars: over time with the spells in which ropes are slack, over the bars in each step, with their shapes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from fem.arrays import Floats
from fem.pictures.animate import even_times
from fem.pictures.folder import Missing, Results
from fem.pictures.motion import chain_of, nodes_at, overview, plane_of
from fem.pictures.style import (
    AXES,
    MOST_POINTS,
    OKABE_ITO,
    SMALL,
    TITLE,
    WIDTH,
    curve,
    finish,
    labelled,
    panels,
    share_of,
    shortened,
    some_of,
    tidy,
)
from fem.pictures.tension import Tensions, read_tensions, slack_spells, tension_scale, whole_motion

MOST_ROPES = 20
MOST_STEPS = 4
INSTANTS = 6
SLACK = "#e4e4e4"


def tension(results: Results) -> Figure:
    """T over time: of bars from that with the largest to that with the least, the range of all, and slack ropes."""
    found = read_tensions(results)
    ranked = np.argsort(-np.abs(found.values).max(axis=0), kind="stable")
    columns = [int(ranked[place]) for place in some_of(ranked.tolist())]
    labels = [found.labels[column] for column in columns]
    spells = slack_spells(results, float(found.time[0]), float(found.time[-1]))
    rows = min(len(spells), MOST_ROPES) if len(spells) > 1 else 0
    figure = Figure(figsize=(WIDTH, 4.2 + 0.12 * rows), layout="constrained")
    ratios = (1.0, 0.15 + 0.06 * rows)[: 1 + bool(rows)]
    axes = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios).tolist()
    panel = axes[0][0]
    if len(found.labels) > len(labels):
        starts = np.arange(0, len(found.time), -(-2 * len(found.time) // MOST_POINTS))
        low, high = np.minimum.reduceat(found.values.min(axis=1), starts), found.values.max(axis=1)
        high, what = np.maximum.reduceat(high, starts), f"all {len(found.labels)} bars"
        panel.fill_between(found.time[starts], low, high, color="#bbbbbb", alpha=0.5, lw=0, label=what)
    for place, (label, column) in enumerate(zip(labels, columns, strict=True)):
        curve(panel, found.time, found.values[:, column], place, f"bar {label}")
    shade(panel, spells)
    panel.set_ylabel(labelled(results, "T along the bar", "force"))
    figure.suptitle(shortened(f"Forces of the bars{share_of(labels, len(found.labels))}"), fontsize=TITLE)
    finish(results, axes)
    if rows:
        strip(axes[1][0], spells)
    figure.set_label(found.source)
    return figure


def shade(panel: Any, spells: dict[int, list[tuple[float, float]]]) -> None:
    """Bands behind the curves where the only rope of a model is slack."""
    if len(spells) == 1:
        ((rope, its),) = spells.items()
        panel.broken_barh([(a, b - a) for a, b in its], (0.0, 1.0), transform=panel.get_xaxis_transform(),
            color=SLACK, lw=0, zorder=0.4, label=f"rope {rope} slack")  # fmt: skip


def strip(panel: Any, spells: dict[int, list[tuple[float, float]]]) -> None:
    """A row for each rope, grey where it is slack."""
    ropes = list(spells)[:MOST_ROPES]
    for row, rope in enumerate(ropes):
        panel.broken_barh([(a, b - a) for a, b in spells[rope]], (row - 0.4, 0.8), color="#999999", lw=0)
    panel.set(yticks=range(len(ropes)), yticklabels=list(map(str, ropes)), ylim=(len(ropes) - 0.4, -0.6))
    panel.tick_params(axis="y", labelsize=min(SMALL, 160 / len(ropes)))
    more = f", {len(ropes)} of {len(spells)}" if len(ropes) < len(spells) else ""
    panel.set_ylabel(f"slack ropes{more}", fontsize=SMALL)


def envelope(results: Results) -> Figure:
    """Least, mean and greatest T in each step: of a chain over its arc length, of others on their undeformed bars."""
    found = read_tensions(results)
    if len(found.labels) == 1:
        raise Missing("there is one bar: its force is in the figure of tension")
    edges = [found.time[0], *results.boundaries[(results.boundaries > found.time[0])], found.time[-1]]
    spans = [(a, b) for a, b in pairwise(edges) if b > a]
    shown = spans[-MOST_STEPS:]
    parts = [(a, b, *ranges(found, (found.time >= a) & (found.time <= b))) for a, b in shown]
    title = f"Least, mean and greatest force of the bars{', the last steps' if len(spans) > len(shown) else ''}"
    try:
        nodes, elements = chain_of(results)
    except Missing:
        figure = maps(results, found, parts, title)
    else:
        figure, rows = panels(len(parts), title, height=2.6)
        order = [label for label in elements if label in set(found.labels)]
        columns = [found.labels.index(label) for label in order]
        x = arc_length(results, nodes)[[elements.index(label) for label in order]]
        for (panel,), (a, b, least, mean, greatest) in zip(rows, parts, strict=True):
            panel.fill_between(x, least[columns], greatest[columns], color=OKABE_ITO[5], alpha=0.3, lw=0)
            for place, (name, values) in enumerate((("greatest", greatest), ("mean", mean), ("least", least))):
                curve(panel, x, values[columns], place, name, marker="." if len(x) <= 30 else None)
            panel.set_ylabel(labelled(results, f"T, time {a:g} to {b:g}", "force"))
        finish(results, rows)
        for (panel,) in rows:
            for line in [line for line in panel.lines if line.get_zorder() == 0.5]:  # boundaries are times
                line.remove()
        rows[-1][0].set_xlabel(f"length along the bars from node {nodes[0]} [{results.unit('length')}]")
    figure.set_label(found.source)
    return figure


def ranges(found: Tensions, chosen: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Least, mean over time, and greatest T (q,) at some instants."""
    values, time = found.values[chosen], found.time[chosen]
    dt = np.diff(time)
    mean = (0.5 * dt) @ (values[1:] + values[:-1]) / dt.sum() if dt.sum() > 0.0 else values.mean(axis=0)
    return values.min(axis=0), mean, values.max(axis=0)


def arc_length(results: Results, nodes: list[int]) -> Floats:
    """(p,) lengths along a chain of p + 1 nodes to the middles of its bars, as they are unloaded."""
    length = np.linalg.norm(np.diff(results.mesh.coordinates[nodes_at(results, nodes)], axis=0), axis=1)
    return np.asarray(np.cumsum(length) - 0.5 * length)


def maps(results: Results, found: Tensions, parts: list[Any], title: str) -> Figure:
    """The undeformed bars, coloured by least, mean and greatest T; a row for each step."""
    mesh = results.mesh
    order = np.argsort(mesh.element_labels)
    ends = mesh.ends[order[np.searchsorted(mesh.element_labels[order], found.labels)]]
    # Seen from where the model is widest.
    across = np.sort(np.argsort(-np.ptp(mesh.coordinates, axis=0), kind="stable")[:2])
    scale, _ = tension_scale(np.array([part[2:] for part in parts]))
    figure = Figure(figsize=(10.5, 1.0 + 3.0 * len(parts)), layout="constrained")
    figure.suptitle(title, fontsize=TITLE)
    axes = figure.subplots(len(parts), 3, squeeze=False, sharex=True, sharey=True)
    for row, (a, b, *values) in zip(axes, parts, strict=True):
        for panel, name, forces in zip(row, ("least", "mean", "greatest"), values, strict=True):
            lines: Any = mesh.coordinates[ends][:, :, across]
            panel.add_collection(LineCollection(lines, array=forces, cmap=scale.cmap, norm=scale.norm, linewidths=1.8))
            panel.autoscale()
            panel.set_aspect("equal")
            panel.set_title(f"{name}, time {a:g} to {b:g}", fontsize=SMALL)
            tidy(panel)
    for panel in axes[-1]:
        panel.set_xlabel(f"{AXES[across[0]]} [{results.unit('length')}]")
    for panel in axes[:, 0]:
        panel.set_ylabel(f"{AXES[across[1]]} [{results.unit('length')}]")
    figure.colorbar(scale, ax=axes, shrink=0.8, label=f"T [{results.unit('force')}]")
    return figure


def shapes(results: Results) -> Figure:
    """Where the bars are at six instants, coloured by T."""

    motion = whole_motion(results, even_times(results.boundaries, INSTANTS))
    mesh, axes = results.mesh, plane_of(results)
    x = (mesh.coordinates + motion.values["U"])[:, :, axes]
    bars = mesh.ends[mesh.is_bar & (mesh.ends[:, 0] != mesh.ends[:, 1])]
    is_space = len(axes) == 3
    low, high = x.min(axis=(0, 1)), x.max(axis=(0, 1))
    half = 0.54 * np.maximum(high - low, 0.15 * (high - low).max() or 1.0)
    limits = list(zip(0.5 * (low + high) - half, 0.5 * (low + high) + half, strict=True))
    flat = half[0] / half[1] if not is_space else 1.0
    rows, columns = (6, 1) if flat > 2.5 else (1, 6) if flat < 0.4 else (2, 3)
    figure = Figure(figsize=(11.0, 8.4 if rows == 6 else 6.8), layout="constrained")
    figure.suptitle(shortened(results.heading), fontsize=TITLE)
    kind: dict[str, Any] = {"projection": "3d"} if is_space else {"aspect": "equal"}
    grid = figure.subplots(rows, columns, squeeze=False, subplot_kw=kind).ravel().tolist()
    look: dict[str, Any] = {"colors": "#222222"}
    if motion.tension is not None:
        scale, _ = tension_scale(motion.tension)
        look = {"cmap": scale.cmap, "norm": scale.norm}
        figure.colorbar(scale, ax=grid, shrink=0.8, label=f"T [{results.unit('force')}]")
    held = overview(results).at_rest & np.isin(np.arange(len(mesh.node_labels)), bars)
    shown = some_of(motion.time.tolist(), INSTANTS)
    for panel in grid[len(shown) :]:
        panel.set_axis_off()
    for place, panel in zip(shown, grid, strict=False):
        lines: Any = Line3DCollection if is_space else LineCollection
        lines = lines(x[place][bars], linewidths=1.8, **look)
        if motion.tension is not None:
            lines.set_array(motion.tension[place])
        panel.add_collection(lines)
        panel.plot(*x[place][held].T, "s", color="#000000", ms=3)
        panel.set(**dict(zip(("xlim", "ylim", "zlim"), limits, strict=False)))
        unit = f" {results.unit('time')}" if results.is_si else ""
        panel.set_title(f"t = {motion.time[place]:.6g}{unit}", fontsize=SMALL)
        for letter, axis in zip("xyz", axes, strict=False):
            getattr(panel, f"set_{letter}label")(f"{AXES[axis]} [{results.unit('length')}]", fontsize=SMALL)
        panel.tick_params(labelsize=SMALL - 2)
        if is_space:
            panel.set_box_aspect(half / half.max())
            panel.locator_params(nbins=4)
            panel.locator_params(axis="z", nbins=2)
    return figure
