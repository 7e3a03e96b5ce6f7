"""A picture of the mesh: bars, other elements, nodes that stay where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from fem.pictures import style
from fem.pictures.figures.scenery import draw_scenery, with_scenery
from fem.pictures.figures.stage import draw_bars, dress
from fem.pictures.folder import Results
from fem.pictures.motion import overview, plane_of

NAMED = 12
"""Nodes have their labels up to so many, dots up to ten times as many."""


def mesh_figure(results: Results) -> Figure:
    """The elements between the places of the nodes at the start. Missing: there are no fields."""
    mesh, axes = results.mesh, plane_of(results)
    x = mesh.coordinates[:, axes]
    used = np.unique(mesh.legs[0])
    low, high = with_scenery(results, axes, x[used].min(axis=0), x[used].max(axis=0))
    middle, half = 0.5 * (low + high), 0.56 * np.maximum(high - low, 0.2 * (high - low).max() or 1.0)
    is_space = len(axes) == 3
    kind: dict[str, Any] = {"projection": "3d"} if is_space else {"aspect": "equal"}
    height = 6.0 if is_space else float(np.clip(style.WIDTH * half[1] / half[0], 2.4, 6.0))
    width = style.WIDTH if is_space else float(np.clip(height * half[0] / half[1] + 1.2, 3.0, style.WIDTH))
    figure = Figure(figsize=(width, height), layout="constrained")
    panel: Any = figure.add_subplot(**kind)
    draw_scenery(results, panel, axes, middle - half, middle + half)
    lines = mesh.ends[:, 0] != mesh.ends[:, 1]
    draw_bars(panel, x[mesh.bars[0]], None, None)
    for ends in x[mesh.ends[~mesh.is_bar & lines]]:
        panel.plot(*ends.T, color=style.OKABE_ITO[1], lw=1.0, ls=(0, (2, 1.5)))
    held = overview(results).at_rest & np.isin(np.arange(len(x)), used)
    if len(used) <= 10 * NAMED:
        panel.plot(*x[used].T, ".", color=style.OKABE_ITO[0], ms=5)
    panel.plot(*x[held].T, "s", color="#000000", ms=4)
    if len(used) <= NAMED:
        for node in used.tolist():
            panel.text(*x[node], f" {mesh.node_labels[node]}", fontsize=style.SMALL, va="bottom")
    dress(results, panel, axes, middle, half)
    return figure
