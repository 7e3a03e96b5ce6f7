"""Water, wind and bottom a model stands in, and how they act on bars. Heights are along the axis that is up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from fem.arrays import Floats, frozen
from fem.model.mesh import Mesh

Rows = tuple[tuple[float, float], ...]


@frozen
class Water:
    """``*AQUA``. current: rows (vx, vy, vz, elevation), elevation rising; linear between them, constant outside."""

    seabed: float
    level: float
    gravity: float
    density: float
    current: tuple[tuple[float, float, float, float], ...] = ()


@frozen
class Wind:
    """``*WIND``: (speeds[0] A_x i + speeds[1] A_y j) (height above the still level / reference)^power.

    i = (direction[0], direction[1], 0), j = up x i; A_x and A_y: amplitudes of the load, 1 without
    """

    density: float
    reference: float
    speeds: tuple[float, float] = (1.0, 1.0)
    direction: tuple[float, float] = (1.0, 0.0)
    power: float = 1.0 / 7.0

    def vectors(self, up: int) -> Floats:
        """(2, 3) speeds along i and j at the reference height; of plane models (y is up) i is (direction[0], 0, -)."""
        first, second = self.direction
        level = np.array([[first, second], [-second, first]]) * np.array(self.speeds)[:, None]
        found = np.zeros((2, 3))
        found[:, 0], found[:, 3 - up] = level[:, 0], level[:, 1] * (1.0 if up == 2 else -1.0)
        return found


@frozen
class DragLaw:
    """``*DRAG LAW``: rows (speed, force per length), speed rising from (0, 0), which is the first; beyond the last its
    slope goes on."""

    name: str
    rows: Rows


@frozen
class MarineGrowth:
    """``*MARINE GROWTH`` on bars of a diameter: rows (elevation, thickness, density), elevation rising; linear between
    them, constant outside."""

    element_set: str
    diameter: float
    rows: tuple[tuple[float, float, float], ...]

    def at(self, height: Any) -> tuple[Any, Any]:
        """Thickness at a height (or at several), and mass per length."""
        elevation, layer, density = np.array(self.rows).T
        thickness = np.interp(height, elevation, layer)
        outer = self.diameter + 2.0 * thickness
        return thickness, 0.25 * np.pi * np.interp(height, elevation, density) * (outer**2 - self.diameter**2)


@frozen
class FluidLoad:
    """``*DLOAD`` FDD, FDT, FI, PB (water), WDD (wind); ``ADDED MASS`` (``*D ADDED MASS`` of a ``*FREQUENCY``).

    target      element set or label
    magnitude   M, scaled by ``amplitude`` and ramps
    diameter    D
    coefficient Cd, Ct or C_M; the name of a drag law in its place
    follows     alpha_R: how much of the velocity of the bar counts
    exponent    h of FDT
    added       C_A;  added_along: C_At, None: what is along the bar counts not at all
    streams     amplitudes of the current and of waves (A_c, A_w), of the wind (A_x, A_y)
    is_current  per current length, not per unstressed length
    """

    target: str | int
    kind: str
    magnitude: float
    diameter: float
    coefficient: float | str = 0.0
    follows: float = 1.0
    exponent: float = 2.0
    added: float = 0.0
    added_along: float | None = None
    streams: tuple[str | None, str | None] = (None, None)
    amplitude: str | None = None
    is_current: bool = False


@frozen
class Seabed:
    """``*SEABED``: a plane bottom that pushes back the nodes of the bars of a set (None: of all bars).

    elevation  of the plane at x = y = 0;  slope, uphill  [degrees] how steeply, and where to from +x, it rises
    stiffness  K, force over area and depth;  damping  C, force over area and speed, of what sinks in
    width      D, with half of the lengths of its bars the area of a node;  ramp  depth in which C comes to its full
    axial, lateral  coefficients of friction along the line and across it;  slip  way to their full
    rubs_in_statics  friction acts in static steps, too
    """

    element_set: str | None
    elevation: float
    stiffness: float
    width: float
    damping: float = 0.0
    ramp: float = 0.0
    axial: float = 0.0
    lateral: float = 0.0
    slip: float = 0.0
    slope: float = 0.0
    uphill: float = 0.0
    rubs_in_statics: bool = False
    radius: ClassVar[float] = 0.0
    axis: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.0)

    def normal(self, up: int) -> Floats:
        """(3,) away from the bottom; up: the axis against gravity."""
        steep, towards = np.radians(self.slope), np.radians(self.uphill)
        normal = np.array([-np.sin(steep) * np.cos(towards), -np.sin(steep) * np.sin(towards), 0.0])
        normal[up] = np.cos(steep)
        return normal

    def depth(self, places: Floats, up: int) -> Floats:
        """(n,) of points (n, 3) below the plane, across it."""
        foot = np.zeros(3)
        foot[up] = self.elevation
        return np.asarray((foot - places) @ self.normal(up))

    def towards(self, places: Floats, up: int) -> Floats:
        """(n, 3) normals at points (n, 3)."""
        return np.tile(self.normal(up), (len(places), 1))


@frozen
class RigidCylinder:
    """``*RIGID CYLINDER``: one without ends, about an axis through two points. The rest as of ``Seabed``."""

    element_set: str | None
    point: tuple[float, float, float]
    other: tuple[float, float, float]
    radius: float
    stiffness: float
    width: float
    damping: float = 0.0
    ramp: float = 0.0
    axial: float = 0.0
    lateral: float = 0.0
    slip: float = 0.0
    rubs_in_statics: bool = False

    @property
    def axis(self) -> Floats:
        """(3,) of length 1."""
        way = np.array(self.other) - np.array(self.point)
        return np.asarray(way / np.linalg.norm(way))

    def depth(self, places: Floats, up: int) -> Floats:
        """(n,) of points (n, 3) inside."""
        return np.asarray(self.radius - np.linalg.norm(np.cross(self.towards(places, up), self.axis), axis=1))

    def towards(self, places: Floats, up: int) -> Floats:
        """(n, 3) from the point of the axis to points (n, 3)."""
        return np.asarray(places - np.array(self.point))


def current_at(water: Water, height: Floats, eta: Floats | float = 0.0) -> Floats:
    """(..., 3) velocity of the current; none above the surface, eta above the still level."""
    rows = np.array(water.current or [(0.0, 0.0, 0.0, 0.0)])
    found = np.stack([np.interp(height, rows[:, 3], rows[:, axis]) for axis in range(3)], axis=-1)
    return np.where((np.asarray(height) <= water.level + eta)[..., None], found, 0.0)


def growth_of(mesh: Mesh, growths: Iterable[MarineGrowth]) -> tuple[Floats, Floats]:
    """(k,) thickness of what grows on each element, and its mass per length."""
    thickness, mass = np.zeros((2, len(mesh.element_nodes)))
    for growth in growths:
        elements = mesh.element_sets[growth.element_set]
        middle = mesh.coordinates[mesh.element_nodes[elements], mesh.up].mean(axis=1)
        thickness[elements], mass[elements] = growth.at(middle)
    return thickness, mass
