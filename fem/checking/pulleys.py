"""All ropes over pulleys of a model: branches, lengths, masses, friction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.checking.bars import LISTED
from fem.model import Model


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
