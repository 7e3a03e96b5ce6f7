"""Panels in which a model is seen at equal size: their grid, limits and axes, and the bars in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from fem.arrays import Floats
from fem.pictures import style
from fem.pictures.folder import Results

WIDTH, HEIGHT = 11.0, 8.4
"""Inches: width of such a figure, and its largest height."""
BESIDE = (0.0, 0.0, 0.96, 1.0)
"""Fractions of a figure that its panels in space take: left, bottom, width, height."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Panels that all show ``middle`` +- ``half``, (axes,) each."""

    figure: Figure
    panels: list[Any]
    middle: Floats
    half: Floats


def set_stage(results: Results, axes: tuple[int, ...], low: Floats, high: Floats, count: int, title: str) -> Stage:
    """So many panels of the box from ``low`` to ``high`` (axes,), as large as their figure lets them be."""
    half = 0.54 * np.maximum(high - low, 0.15 * (high - low).max() or 1.0)
    is_flat = len(axes) == 2
    grids = [(rows, -(-count // rows)) for rows in range(1, count + 1)]
    flat_grid = max(grids, key=lambda grid: panel_size(grid, half))
    rows, columns = flat_grid if is_flat else (1 if count < 3 else 2, -(-count // (1 if count < 3 else 2)))
    height = rows * (0.85 * WIDTH / columns * half[1] / half[0] + 1.0) + 0.6 if is_flat else 3.4 * rows
    # The layout does not see the names of axes in space.
    margins = ConstrainedLayoutEngine(w_pad=0.04) if is_flat else ConstrainedLayoutEngine(w_pad=0.3, rect=BESIDE)
    figure = Figure(figsize=(WIDTH, float(np.clip(height, 4.5, HEIGHT))), layout=margins)
    figure.suptitle(style.shortened(title), fontsize=style.TITLE)
    kind: dict[str, Any] = {"aspect": "equal"} if is_flat else {"projection": "3d"}
    grid = figure.subplots(rows, columns, squeeze=False, subplot_kw=kind).ravel().tolist()
    for panel in grid[count:]:
        panel.set_axis_off()
    return Stage(figure, grid[:count], 0.5 * (low + high), half)


def panel_size(grid: tuple[int, int], half: Floats) -> float:
    """How large the model is in each panel of rows and columns; titles and numbers take their place."""
    rows, columns = grid
    return float(min((0.85 * WIDTH / columns - 0.8) / half[0], (0.92 * HEIGHT / rows - 0.8) / half[1]))


def dress(results: Results, panel: Any, axes: tuple[int, ...], middle: Floats, half: Floats) -> None:
    """Limits and names of the axes."""
    for letter, axis, centre, reach in zip("xyz", axes, middle, half, strict=False):
        name = f"{style.AXES[axis]} [{results.unit('length')}]"
        panel.set(**{f"{letter}lim": (centre - reach, centre + reach)})
        getattr(panel, f"set_{letter}label")(name, fontsize=style.SMALL)
        if len(axes) == 3:
            panel.locator_params(axis=letter, nbins=4 if reach > 0.3 * half.max() else 1, min_n_ticks=1)
    if len(axes) == 3:
        panel.set_box_aspect(half / half.max())
    panel.tick_params(labelsize=style.SMALL - 2)


def draw_bars(
    panel: Any, lines: Any, forces: Floats | None, scale: ScalarMappable | None, colour: str = "#222222"
) -> None:
    """Bars (m, 2, axes) in the colours of their T (m,); of one ``colour`` without."""
    kind: Any = Line3DCollection if lines.shape[2] == 3 else LineCollection
    look = {"colors": colour} if scale is None else {"array": forces, "cmap": scale.cmap, "norm": scale.norm}
    panel.add_collection(kind(lines, linewidths=1.8, **look))
