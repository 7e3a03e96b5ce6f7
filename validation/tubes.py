"""A slender tube of bars that bends and twists as a rod does: four nodes a section, three of them at its corners.

Corners stand 120 degrees apart on a circle of radius r around the centre. Between two sections, h apart, run three bars
along the tube and six crossed ones, d long, two on each face. Their EA follow from what the rod has,

    EI = 3/2 EA_along r^2 + 3/4 EA_crossed r^2 (h/d)^3        GJ = 9/2 EA_crossed r^4 h/d^3        d^2 = h^2 + 3 r^2

which is the energy of bars whose ends move with rigid sections. Crossed bars of both directions do the same, so that
stretch and twist do not couple. Bars from centre to centre carry tension alone, and those within a section are stiff.
Natural lengths are those of the tube laid along the shape that the rod has at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from validation.tools import Array

CORNERS = 2.0 * np.pi / 3.0 * np.arange(3)
ALONG = ((1, 1), (2, 2), (3, 3))
CROSSED = ((1, 2), (2, 1), (2, 3), (3, 2), (3, 1), (1, 3))
WITHIN = ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 1))
"""Bars as nodes of a section (0: its centre) and of the next; the last within a section."""
STIFF = 30.0
"""EA of a bar within a section over the largest EA of those between sections."""


def unit(vectors: Array) -> Array:
    """(..., 3) of length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def transported(vector: Array, before: Array, after: Array) -> Array:
    """(3,) turned as the unit vector ``before`` turns to ``after``, without twist."""
    axis = np.cross(before, after)
    turned = (before @ after) * vector + np.cross(axis, vector) + axis * (axis @ vector) / (1.0 + before @ after)
    return np.asarray(turned)


def carried(side: Array, normals: Array) -> Array:
    """(n, 3) sides: the first carried along (n, 3) unit normals without twist."""
    sides = [side]
    for before, after in pairwise(normals):
        sides.append(transported(sides[-1], before, after))
    return np.array(sides)


def angle_from(first: Array, second: Array, normal: Array) -> float:
    """By which the second side is turned about the normal against the first."""
    return float(np.arctan2(np.cross(first, second) @ normal, first @ second))


class Shape(NamedTuple):
    """Sections of a tube.

    centres  (n, 3)
    normals  (n, 3) unit vectors along the tube
    sides    (n, 3) unit vectors across it, from which angles count
    """

    centres: Array
    normals: Array
    sides: Array

    def nodes(self, angles: Array, radius: float) -> Array:
        """(n, 4, 3): centre and corners of each section, of which the first corner stands at (n,) angles."""
        around = (angles[:, None] + CORNERS)[..., None]
        across = np.cross(self.normals, self.sides)[:, None]
        corners = self.centres[:, None] + radius * (np.cos(around) * self.sides[:, None] + np.sin(around) * across)
        return np.concatenate([self.centres[:, None], corners], axis=1)


def shape(centres: Array, first: Array, last: Array, side: Array) -> Shape:
    """Normals halve the angle between bars, at the ends they are given; sides are carried from the first, (3,)."""
    bars = unit(np.diff(centres, axis=0))
    normals = np.concatenate([first[None], unit(bars[:-1] + bars[1:]), last[None]])
    return Shape(centres, normals, carried(side, normals))


def bay_areas(length: Any, radius: float, torsion: float) -> tuple[Any, Any]:
    """EA over EI of a bar along and of a crossed one of bays ``length`` long; torsion is GJ over EI."""
    diagonal = np.sqrt(length**2 + 3.0 * radius**2)
    crossed = torsion * diagonal**3 / (4.5 * length * radius**4)
    along = (1.0 - 0.75 * crossed * radius**2 * (length / diagonal) ** 3) / (1.5 * radius**2)
    if np.min(along) < 0.0:
        raise ValueError(f"a tube of radius {radius} is too slender for bays of {np.max(length):.3g}: EA would be < 0")
    return along, crossed


class Tube(NamedTuple):
    """Bars of a tube, as nodes 4 * section + (0: centre, 1 to 3: corners), from 0.

    nodes    (bars, 2)
    areas    (bars,) EA over EI, 1 of bars from centre to centre
    lengths  (bars,) natural lengths
    kinds    (bars,) "BENT" (along and crossed), "CORE" (from centre to centre), "RING" (within a section)
    """

    nodes: Any
    areas: Array
    lengths: Array
    kinds: Any

    def cards(self) -> list[str]:
        """Elements from 1 on, their sections of materials BENT, CORE and RING, and their natural lengths."""
        lines: list[str] = []
        for kind in ("BENT", "CORE", "RING"):
            for area in np.unique(self.areas[self.kinds == kind]):
                chosen = np.flatnonzero((self.kinds == kind) & (self.areas == area))
                lines += [f"*ELEMENT, TYPE=T3D2, ELSET={kind}{chosen[0]}"]
                lines += [f"{bar + 1}, {self.nodes[bar, 0] + 1}, {self.nodes[bar, 1] + 1}" for bar in chosen]
                lines += [f"*SOLID SECTION, ELSET={kind}{chosen[0]}, MATERIAL={kind}, STRAIN=ENGINEERING"]
                lines += [f"{area:.9g}"]
        lines += ["*REST LENGTH"]
        return lines + [f"{bar + 1}, {length:.12g}" for bar, length in enumerate(self.lengths)]

    def settled(self, places: Shape, angles: Array, radius: float) -> Array:
        """(n,) angles of sections in equilibrium with all centres and both ends held, from a guess."""
        bent = self.kinds == "BENT"
        first, second = self.nodes[bent].T
        weights = np.sqrt(self.areas[bent] / self.lengths[bent])

        def stretched(inner: Array) -> Array:
            nodes = places.nodes(np.concatenate([angles[:1], inner, angles[-1:]]), radius).reshape(-1, 3)
            return weights * (np.linalg.norm(nodes[second] - nodes[first], axis=1) - self.lengths[bent])

        def slopes(inner: Array) -> Array:
            nodes = places.nodes(np.concatenate([angles[:1], inner, angles[-1:]]), radius)
            moved = np.cross(places.normals[:, None], nodes - places.centres[:, None]).reshape(-1, 3)
            nodes = nodes.reshape(-1, 3)
            axes, rows = weights[:, None] * unit(nodes[second] - nodes[first]), np.arange(len(first))
            slope = np.zeros((len(first), len(angles)))
            np.add.at(slope, (rows, second // 4), (axes * moved[second]).sum(axis=1))
            np.add.at(slope, (rows, first // 4), -(axes * moved[first]).sum(axis=1))
            return slope[:, 1:-1]

        found = least_squares(stretched, angles[1:-1], jac=slopes, method="lm", xtol=1e-6, ftol=1e-9)
        return np.concatenate([angles[:1], found.x, angles[-1:]])


def tube(rest: Shape, radius: float, torsion: float) -> Tube:
    """The bars of a tube with a shape at rest; torsion is GJ over EI."""
    natural = rest.nodes(np.zeros(len(rest.centres)), radius).reshape(-1, 3)
    bays = np.linalg.norm(np.diff(rest.centres, axis=0), axis=1)
    nodes: list[tuple[int, int]] = []
    areas: list[float] = []
    kinds: list[str] = []

    def add(bars: Sequence[tuple[int, int]], at: int, step: int, area: float, kind: str) -> None:
        nodes.extend((4 * at + a, 4 * (at + step) + b) for a, b in bars)
        areas.extend([area] * len(bars))
        kinds.extend([kind] * len(bars))

    for bay, length in enumerate(bays):
        along, crossed = bay_areas(length, radius, torsion)
        add(ALONG, bay, 1, along, "BENT")
        add(CROSSED, bay, 1, crossed, "BENT")
        add(((0, 0),), bay, 1, 1.0, "CORE")
    stiff = STIFF * max(areas)
    for at in range(len(bays) + 1):
        add(WITHIN, at, 0, stiff, "RING")
    pairs = np.array(nodes)
    lengths = np.linalg.norm(natural[pairs[:, 1]] - natural[pairs[:, 0]], axis=1)
    return Tube(pairs, np.array(areas), lengths, np.array(kinds))
