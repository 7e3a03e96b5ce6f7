"""Lines that bend: position and stiffness of the rotational springs between their bars.

A line is a chain of bars (B31). An angle lies at each node between two of them, and at each clamped node between each
bar there and the direction that it has in the deck. On a rigid body this is the direction from a node of the body that
lies behind, on the line of the bar: it turns with the body, on which the moment acts as two forces. Half a bar
on each side of an angle bends, so that l/EI = L1/(2 EI1) + L2/(2 EI2); L are natural lengths.

The angles integrate the curvature by the trapezoidal rule. At a clamp the first term of its error (Euler and Maclaurin)
is subtracted, for a moment proportional to s, the distance from the other end of the line, which is S away:

    l/EI = integral of (s/S)^2/EI - sum over the other angles of (s/S)^2 l/EI,    L/(3 EI) <= l/EI <= L/(2 EI)

l = L (1/2 - 1/(6n)) of n equal bars: the deflection of a straight line under a load at its end is exact for any n.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.model.mesh import BEAMS, Mesh


class Angles(NamedTuple):
    """k angles.

    nodes      (k, 3)  the node at which each lies, between the other ends of its bars; the first is -1 at a clamp, or
                       the node behind it on a rigid body
    bars       (k, 2)  element indices of its bars; the first is -1 at a clamp
    length     (k,)    l
    softness   (k,)    l/EI;  parts (k, 2): of each bar
    viscosity  (k,)    BETA EI/l, of two materials that of both in a row under the elastic part of their moment
    """

    nodes: Ints
    bars: Ints
    length: Floats
    softness: Floats
    parts: Floats
    viscosity: Floats

    def among(self, nodes: Ints) -> Angles:
        """The angles whose nodes are all among the given ones."""
        known = ((self.nodes < 0) | np.isin(self.nodes, nodes)).all(axis=1)
        return Angles(self.nodes[known], self.bars[known], *(each[known] for each in self[2:]))

    def without(self, chosen: Ints) -> Angles:
        """The angles without those of some indices."""
        kept = np.delete(np.arange(len(self.length)), chosen)
        return Angles(self.nodes[kept], self.bars[kept], *(each[kept] for each in self[2:]))

    def bent(self, start: Floats, place: Floats) -> Floats:
        """phi (..., k) where all nodes are at place (..., n, 3); start (n, 3): in the deck."""
        before, node, after = self.nodes.T
        held = before < 0
        first = place[..., node, :] - place[..., before, :]
        first[..., held, :] = (start[after] - start[node])[held]
        second = place[..., after, :] - place[..., node, :]
        across = np.linalg.norm(np.cross(first, second), axis=-1)
        return np.asarray(np.arctan2(across, (first * second).sum(axis=-1)))


def beams_at(mesh: Mesh) -> dict[int, list[tuple[int, int]]]:
    """For each node with beams: their element indices and other ends, in the order of the elements."""
    found: dict[int, list[tuple[int, int]]] = {}
    (beams,) = np.nonzero(mesh.is_of(*BEAMS))
    for element, (first, second) in zip(beams.tolist(), mesh.element_nodes[beams].tolist(), strict=True):
        found.setdefault(first, []).append((element, second))
        found.setdefault(second, []).append((element, first))
    return found


BEHIND = 1e-9
"""Largest distance of a node behind a clamp from the line of the bar, relative to the distance of the two nodes."""


def find_angles(mesh: Mesh, clamped: Set[int], bodies: Iterable[Ints] = ()) -> tuple[Ints, Ints]:
    """``nodes`` and ``bars`` of all angles.
    clamped  nodes whose beams keep their directions;  bodies: nodes of each rigid body, with which these turn"""
    nodes, bars = list[tuple[int, int, int]](), list[tuple[int, int]]()
    beside = {int(node): own for own in bodies for node in own}
    for node, beams in beams_at(mesh).items():
        if node in clamped:
            own = beside.get(node, np.zeros(0, np.int64))
            free = [(element, other) for element, other in beams if other not in own]
            nodes += [(node_behind(mesh, own, node, other), node, other) for _, other in free]
            bars += [(-1, element) for element, _ in free]
        elif len(beams) == 2:
            (first, before), (second, after) = beams
            nodes.append((before, node, after))
            bars.append((first, second))
    return np.array(nodes, np.int64).reshape(-1, 3), np.array(bars, np.int64).reshape(-1, 2)


def node_behind(mesh: Mesh, own: Ints, node: int, other: int) -> int:
    """The first node of a body that lies behind a bar from ``node`` to ``other``; -1: there is none."""
    way = mesh.coordinates[node] - mesh.coordinates[other]
    arms = mesh.coordinates[own] - mesh.coordinates[node]
    along = arms @ (way / np.linalg.norm(way))
    off = np.linalg.norm(arms - np.outer(along, way / np.linalg.norm(way)), axis=1)
    return int(next(iter(own[(along > 0.0) & (off <= BEHIND * along)]), -1))


def angles_of(mesh: Mesh, found: tuple[Ints, Ints], sections: Iterable[Any], materials: Any, lengths: Floats) -> Angles:
    """Geometry and stiffness of the angles ``found``, for elements of the natural lengths (elements,)."""
    nodes, bars = found
    rigidity, beta = np.ones(len(lengths)), np.zeros(len(lengths))
    for section in sections:
        if section.inertia:
            material, own = materials[section.material], mesh.element_sets[section.element_set]
            rigidity[own], beta[own] = section.inertia * material.young, material.beta
    halves = np.where(bars >= 0, 0.5 * lengths[bars], 0.0)
    soft = halves / rigidity[bars]
    both = soft.sum(axis=1)
    following = {int(node): at for at, (node, bar) in enumerate(zip(nodes[:, 1], bars[:, 0], strict=True)) if bar >= 0}
    for at in np.flatnonzero(bars[:, 0] < 0).tolist():
        way = line_from(at, nodes, bars, following)
        size, part = lengths[way[:, 0]], both[way[:-1, 1]]
        left = np.cumsum(size[::-1])[::-1]  # distance from the start of each bar to the other end of the line
        exact = (size * (left**2 - left * size + size**2 / 3.0) / rigidity[way[:, 0]]).sum()
        first = size[0] / rigidity[way[0, 0]]
        soft[at, 1] = np.clip((exact - (part * left[1:] ** 2).sum()) / left[0] ** 2, first / 3.0, first / 2.0)
        halves[at, 1] = soft[at, 1] * rigidity[way[0, 0]]
        both[at] = soft[at, 1]
    return Angles(nodes, bars, halves.sum(axis=1), both, soft, (beta[bars] * soft).sum(axis=1) / both**2)


def line_from(clamp: int, nodes: Ints, bars: Ints, following: dict[int, int]) -> Ints:
    """(b, 2) bars of a line from a clamp to its other end, each with the angle behind it (unused for the last bar)."""
    bar, node, way = int(bars[clamp, 1]), int(nodes[clamp, 2]), list[tuple[int, int]]()
    while True:
        angle = following.get(node, -1)
        way.append((bar, angle))
        if angle < 0:
            return np.array(way, np.int64)
        ahead = int(bars[angle, 0] == bar)
        bar, node = int(bars[angle, ahead]), int(nodes[angle, 2 * ahead])
