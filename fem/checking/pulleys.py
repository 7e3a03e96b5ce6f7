"""All ropes over pulleys of a model: branches, lengths, masses, friction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.checking.bars import LISTED
from fem.model import Model
from fem.model.mesh import BARS
from fem.model.swings import held_nodes

PART_OF_LINE = 0.05
"""Of a line between two supports: branches beyond it are told."""
STRAIGHT = (
    "element {0} over node {1}: its branch to node {2} is a straight line of {3:.4g}, part of a line of {4:.4g}, "
    "and half of its weight goes to either end: it does not sag, and the tension that passes over the pulley is that "
    "of its middle, by up to {5:.4g} less than at the pulley; move node {2} closer to the pulley, with bars beyond it"
)


class Ropes(NamedTuple):
    """p PULLEY elements with a section, by element order.

    elements, pulleys  (p,) their indices, nodes between their ends
    branches           (p, 2) distances before and beyond the pulley
    length0, mass, friction  (p,) L0, rho A L0, mu
    """

    elements: Ints
    pulleys: Ints
    branches: Floats
    length0: Floats
    mass: Floats
    friction: Floats


def collect_ropes(model: Model) -> Ropes:
    """Of the sections in force, as ``collect_bars``."""
    mesh = model.mesh
    (per_length, rest), friction = np.full((2, len(mesh.element_labels)), np.nan), np.zeros(len(mesh.element_labels))
    for section in model.sections:
        per_length[mesh.elements_of(section.element_set)] = model.materials[section.material].density * section.area
    for own in model.rest_lengths:
        rest[mesh.elements_of(own.target)] = own.whole
    for pulley in model.pulleys:
        friction[mesh.elements_of(pulley.element_set)] = pulley.friction
    elements = np.flatnonzero((mesh.pulley_nodes >= 0) & ~np.isnan(per_length))
    pulleys, x = mesh.pulley_nodes[elements], mesh.coordinates
    branches = np.linalg.norm(x[mesh.element_nodes[elements]] - x[pulleys][:, None], axis=2)
    length0 = np.where(np.isnan(rest[elements]), branches.sum(axis=1), rest[elements])
    mass = per_length[elements] * length0
    return Ropes(elements, pulleys, branches, length0, mass, friction[elements])


def straight_branches(model: Model, ropes: Ropes) -> list[str]:
    """Branches that are long parts of a line, and heavy: half of their weight is missing in what passes over."""
    loads = [load for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    gravity = max((abs(load.value) for load in loads), default=0.0)
    mesh, found = model.mesh, []
    for rope in np.flatnonzero(ropes.mass * gravity > 0.0).tolist():
        element, weight = ropes.elements[rope], gravity * ropes.mass[rope] / ropes.length0[rope]
        for end, branch in zip(mesh.element_nodes[element].tolist(), ropes.branches[rope].tolist(), strict=True):
            line = branch + _line_beyond(model, end)
            if branch > PART_OF_LINE * line:
                names = mesh.element_names[element], mesh.node_names[ropes.pulleys[rope]], mesh.node_names[end]
                found.append(STRAIGHT.format(*names, branch, line, 0.5 * weight * branch))
    return found


def _line_beyond(model: Model, node: int) -> float:
    """Length of the bars that follow a node one by one, up to where they end, meet others, or are held."""
    mesh, length, before, held = model.mesh, 0.0, -1, held_nodes(model)
    legs, owners = mesh.legs
    is_bar, pairs = mesh.is_of(*BARS)[owners], legs[legs[:, 0] != legs[:, 1]]
    beside: dict[int, list[int]] = {}
    for first, second in pairs.tolist():
        beside.setdefault(first, []).append(second)
        beside.setdefault(second, []).append(first)
    bars = {frozenset(pair) for pair in legs[is_bar].tolist()}
    for _ in range(len(pairs)):
        following = [other for other in beside[node] if other != before and frozenset((node, other)) in bars]
        if len(following) != 1 or len(beside[node]) != 2 or held[node]:
            break
        length += float(np.linalg.norm(mesh.coordinates[following[0]] - mesh.coordinates[node]))
        before, node = node, following[0]
    return length


def describe_ropes(model: Model, ropes: Ropes) -> list[str]:
    """A line for each of the first ones."""
    lines: list[str] = []
    for rope in range(min(len(ropes.elements), LISTED)):
        element, node = model.mesh.element_names[ropes.elements[rope]], model.mesh.node_names[ropes.pulleys[rope]]
        first, second = ropes.branches[rope]
        text = f"element {element} over node {node}: {first:.6g} + {second:.6g}, L0 {ropes.length0[rope]:.6g}"
        lines.append(f"{'' if lines else 'pulleys':<12}{text}, mu {ropes.friction[rope]:.6g}")
    more = len(ropes.elements) - len(lines)
    return [*lines, f"{'':<12}and {more} more"] if more > 0 else lines
