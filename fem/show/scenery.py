"""Surroundings of a model in a picture: the water surface, bottoms, planes and cylinders, behind the bars."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import Circle, Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from fem.arrays import Floats
from fem.runs.read import Results

WATER, BOTTOM, ROUND = "#56B4E9", "#a08050", "#808080"
NEAR = 1.0
"""A plane or a cylinder is drawn if its distance from the model is at most this multiple of the model's size."""
ALONG = 1e-6
"""Sine of the angle between axis and line of sight below which a cylinder is drawn as a circle."""
FACETS = 48

STEEPEST = 0.2
"""Vertical component of the normal of a plane below which it is a wall, which is not drawn."""


class Plane(NamedTuple):
    """A plane at the height ``height`` + ``rise`` . (x, y, z), with rise 0 along the vertical, in a colour;
    ``is_bottom``: filled below."""

    height: float
    rise: tuple[float, ...]
    colour: str
    is_bottom: bool


class Cylinder(NamedTuple):
    """An infinite cylinder: a point of its axis, the unit vector along it (3,), and its radius."""

    point: tuple[float, ...]
    axis: tuple[float, ...]
    radius: float


class GridBottom(NamedTuple):
    """Heights z (k, l) of a bottom at x (k,) and y (l,)."""

    x: Floats
    y: Floats
    z: Floats

    def facets(self, low: Floats, high: Floats) -> Floats:
        """(f, 4, 3) cells whose middles are in a box of three axes."""
        points = np.stack([*np.meshgrid(self.x, self.y, indexing="ij"), self.z], axis=2)
        around = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
        corners = np.stack(around, axis=2).reshape(-1, 4, 3)
        middle = corners.mean(axis=1)[:, :2]
        return np.asarray(corners[((low[:2] <= middle) & (middle <= high[:2])).all(axis=1)])

    def profile(self, results: Results, axes: tuple[int, ...], low: Floats, high: Floats) -> Floats:
        """(p, 2) horizontal position and height in a vertical picture, through the middle of the model."""
        along, across, z = (self.x, self.y, self.z) if axes[0] == 0 else (self.y, self.x, self.z.T)
        middle = float(results.mesh.coordinates[:, 1 - axes[0]].mean())
        heights = np.array([np.interp(middle, across, row) for row in z])
        inside = along[(low[0] < along) & (along < high[0])]
        places = np.concatenate([low[:1], inside, high[:1]])
        return np.column_stack([places, np.interp(places, along, heights)])


def grids_of(results: Results) -> list[GridBottom]:
    """The bottoms with depths on a grid, each once."""
    found = [bed["grid"] for bed in results.settings.get("seabeds") or [] if "grid" in bed]
    different = [grid for at, grid in enumerate(found) if grid not in found[:at]]
    return [GridBottom(*(np.array(grid[name]) for name in "xyz")) for grid in different]


def with_scenery(results: Results, axes: tuple[int, ...], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The box of a picture, extended to the planes and cylinders that are near."""
    up, low, high = upright(results), low.copy(), high.copy()

    def take_in(place: int, first: float, last: float, size: float) -> None:
        if low[place] - NEAR * size < first and last < high[place] + NEAR * size:
            low[place], high[place] = min(low[place], first), max(high[place], last)

    size = float((high - low).max())
    for plane in planes_of(results) if up in axes else ():
        z = corners_of(plane, up, axes, low, high)[:, up]
        take_in(axes.index(up), z.min(), z.max(), size)
    for grid in grids_of(results) if up in axes else ():
        z = grid.facets(low, high)[:, :, 2] if len(axes) == 3 else grid.profile(results, axes, low, high)[:, 1]
        if z.size:
            take_in(axes.index(up), z.min(), z.max(), size)
    size = float((high - low).max())
    for cylinder in cylinders_of(results):
        for place, axis in enumerate(axes):
            if abs(cylinder.axis[axis]) <= ALONG:
                middle = cylinder.point[axis]
                take_in(place, middle - cylinder.radius, middle + cylinder.radius, size)
    return low, high


def draw_scenery(results: Results, panel: Any, axes: tuple[int, ...], low: Floats, high: Floats) -> None:
    """Within the limits of a panel: lines in a plane, sheets in space, outlines of cylinders; no planes from above."""
    up, is_space = upright(results), len(axes) == 3
    for plane in planes_of(results) if up in axes else ():
        place, corners = axes.index(up), corners_of(plane, up, axes, low, high)
        if corners[:, up].max() < low[place] or corners[:, up].min() > high[place]:
            continue
        if is_space:
            look: dict[str, Any] = {"facecolors": plane.colour, "edgecolors": plane.colour, "linewidths": 0.6}
            panel.add_collection3d(Poly3DCollection([corners], alpha=0.25 if plane.is_bottom else 0.12, **look))
            continue
        line = corners[:2, axes]
        panel.plot(*line.T, color=plane.colour, lw=1.2, zorder=1, scalex=False, scaley=False)
        if plane.is_bottom and place == 1:
            panel.fill_between(*line.T, min(low[1], line[:, 1].min()), color=plane.colour, alpha=0.25, lw=0, zorder=0.5)
    for grid in grids_of(results) if up in axes else ():
        if is_space:
            facets = grid.facets(low, high)
            panel.add_collection3d(Poly3DCollection(facets, alpha=0.25, facecolors=BOTTOM, edgecolors="none"))
        elif axes.index(up) == 1 and len(line := grid.profile(results, axes, low, high)):
            panel.plot(*line.T, color=BOTTOM, lw=1.2, zorder=1, scalex=False, scaley=False)
            panel.fill_between(*line.T, min(low[1], line[:, 1].min()), color=BOTTOM, alpha=0.25, lw=0, zorder=0.5)
    for cylinder in cylinders_of(results):
        if is_space:
            facets = facets_of(cylinder, low, high)
            panel.add_collection3d(Poly3DCollection(facets, alpha=0.25, facecolors=ROUND, edgecolors="none"))
            continue
        outline = outline_of(cylinder, axes, low, high)
        panel.add_patch(outline if isinstance(outline, Circle) else Polygon(outline, closed=True))
        panel.patches[-1].set(facecolor=f"{ROUND}40", edgecolor=ROUND, lw=1.2, zorder=0.6)


def cylinders_of(results: Results) -> list[Cylinder]:
    found = []
    for each in results.settings.get("cylinders") or []:
        way = np.array(each["other"], float) - np.array(each["point"], float)
        found.append(Cylinder(tuple(each["point"]), tuple((way / np.linalg.norm(way)).tolist()), each["radius"]))
    return list(dict.fromkeys(found))


def outline_of(cylinder: Cylinder, axes: tuple[int, ...], low: Floats, high: Floats) -> Circle | Floats:
    """In a picture of two axes: a circle if it is seen along its axis, else (4, 2) corners of a strip of the cylinder's
    width through the box."""
    middle, way = np.array(cylinder.point)[list(axes)], np.array(cylinder.axis)[list(axes)]
    size = float(np.linalg.norm(way))
    if size <= ALONG:
        return Circle((middle[0], middle[1]), cylinder.radius)
    way /= size
    aside = cylinder.radius * np.array([-way[1], way[0]])
    nearest = middle + ((0.5 * (low + high) - middle) @ way) * way
    reach = float(np.linalg.norm(high - low)) * way
    first, last = nearest - reach, nearest + reach
    return np.array([first + aside, last + aside, last - aside, first - aside])


def facets_of(cylinder: Cylinder, low: Floats, high: Floats) -> Floats:
    """(f, 4, 3) facets of the part of a cylinder whose axis is in a box; none if the axis is outside."""
    point, axis = np.array(cylinder.point), np.array(cylinder.axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(axis != 0.0, (np.stack([low, high]) - point) / axis, np.array([[-np.inf], [np.inf]]))
    inside = (axis != 0.0) | ((low - cylinder.radius <= point) & (point <= high + cylinder.radius))
    first, last = ends.min(axis=0).max(), ends.max(axis=0).min()
    if first >= last or not inside.all():
        return np.zeros((0, 4, 3))
    aside = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    aside /= np.linalg.norm(aside)
    turns = np.linspace(0.0, 2.0 * np.pi, FACETS + 1)[:, None]
    edge = cylinder.radius * (np.cos(turns) * aside + np.sin(turns) * np.cross(axis, aside))
    near, far = (point + along * axis + edge for along in (first, last))
    return np.stack([near[:-1], near[1:], far[1:], far[:-1]], axis=1)


def planes_of(results: Results) -> list[Plane]:
    """The water's surface at rest, the bottoms, and the planes at rest that are no walls, from ``run.json``."""
    water, up = results.settings.get("water"), upright(results)
    found = [Plane(water["level"], (0.0, 0.0, 0.0), WATER, False)] if water else []
    for bed in results.settings.get("seabeds") or []:
        if "grid" in bed:
            continue
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


def corners_of(plane: Plane, up: int, axes: tuple[int, ...], low: Floats, high: Floats) -> Floats:
    """(4, 3) of the part of a plane in a box; in a picture of two axes the first two are the ends of its line."""
    edges = dict(zip(axes, zip(low, high, strict=True), strict=True))
    first, second = sorted((axis for axis in range(3) if axis != up), key=lambda axis: axis not in axes)
    corners = np.zeros((4, 3))
    corners[:, first] = np.array(edges[first])[[0, 1, 1, 0]]
    corners[:, second] = np.array(edges.get(second, (0.0, 0.0)))[[0, 0, 1, 1]]
    corners[:, up] = plane.height + corners @ plane.rise
    return corners
