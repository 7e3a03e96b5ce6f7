"""What a model stands in: the surface of the water, bottoms and planes, behind the bars of a picture."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from fem.arrays import Floats
from fem.pictures.folder import Results

WATER, BOTTOM = "#56B4E9", "#a08050"
NEAR = 1.0
"""A plane is drawn that is no farther from the model than so many of its sizes."""

STEEPEST = 0.2
"""Share of the normal of a plane that points up, below which it is a wall, which is not drawn."""


class Plane(NamedTuple):
    """Height ``height`` + ``rise`` . (x, y, z) of what is drawn in a colour, rise being 0 along the height;
    ``is_bottom``: filled below."""

    height: float
    rise: tuple[float, ...]
    colour: str
    is_bottom: bool


def planes_of(results: Results) -> list[Plane]:
    """The water's surface at rest, the bottoms, and the planes at rest that are no walls, from ``run.json``."""
    water, up = results.settings.get("water"), upright(results)
    found = [Plane(water["level"], (0.0, 0.0, 0.0), WATER, False)] if water else []
    for bed in results.settings.get("seabeds") or []:
        steep, towards = math.tan(math.radians(bed["slope"])) if up == 2 else 0.0, math.radians(bed["uphill"])
        rise = steep * math.cos(towards), steep * math.sin(towards), 0.0
        found.append(Plane(bed["elevation"], rise, BOTTOM, True))
    for plane in results.settings.get("planes", []):
        normal = np.array(plane["normal"])
        if normal[up] > STEEPEST * np.linalg.norm(normal):
            rises = np.where(np.arange(3) == up, 0.0, -normal / normal[up])
            at = results.mesh.coordinates[results.mesh.node_labels == plane["node"]][0]
            found.append(Plane(float(at[up] - at @ rises), tuple(rises.tolist()), BOTTOM, True))
    return list(dict.fromkeys(found))


def upright(results: Results) -> int:
    """The axis along which gravity acts."""
    return 2 if results.gravity is None else int(np.argmax(np.abs(results.gravity)))


def with_planes(results: Results, axes: tuple[int, ...], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The box of a picture, with the planes that are near."""
    up, low, high = upright(results), low.copy(), high.copy()
    if up not in axes:
        return low, high
    place, size = axes.index(up), float((high - low).max())
    for plane in planes_of(results):
        z = corners_of(plane, up, axes, low, high)[:, up]
        if low[place] - NEAR * size < z.min() and z.max() < high[place] + NEAR * size:
            low[place], high[place] = min(low[place], z.min()), max(high[place], z.max())
    return low, high


def draw_planes(results: Results, panel: Any, axes: tuple[int, ...], low: Floats, high: Floats) -> None:
    """Within the limits of a panel: lines in a plane, sheets in space; nothing of what is seen from above."""
    up = upright(results)
    if up not in axes:
        return
    place = axes.index(up)
    for plane in planes_of(results):
        corners = corners_of(plane, up, axes, low, high)
        if corners[:, up].max() < low[place] or corners[:, up].min() > high[place]:
            continue
        if len(axes) == 3:
            look: dict[str, Any] = {"facecolors": plane.colour, "edgecolors": plane.colour, "linewidths": 0.6}
            panel.add_collection3d(Poly3DCollection([corners], alpha=0.25 if plane.is_bottom else 0.12, **look))
            continue
        line = corners[:2, axes]
        panel.plot(*line.T, color=plane.colour, lw=1.2, zorder=1, scalex=False, scaley=False)
        if plane.is_bottom and place == 1:
            panel.fill_between(*line.T, min(low[1], line[:, 1].min()), color=plane.colour, alpha=0.25, lw=0, zorder=0.5)


def corners_of(plane: Plane, up: int, axes: tuple[int, ...], low: Floats, high: Floats) -> Floats:
    """(4, 3) of the part of a plane in a box; in a picture of two axes the first two are the ends of its line."""
    edges = dict(zip(axes, zip(low, high, strict=True), strict=True))
    first, second = sorted((axis for axis in range(3) if axis != up), key=lambda axis: axis not in axes)
    corners = np.zeros((4, 3))
    corners[:, first] = np.array(edges[first])[[0, 1, 1, 0]]
    corners[:, second] = np.array(edges.get(second, (0.0, 0.0)))[[0, 0, 1, 1]]
    corners[:, up] = plane.height + corners @ plane.rise
    return corners
