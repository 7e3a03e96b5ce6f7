"""Cables that are lighter than water and reach its surface, where they have no position of rest.

Buoyancy ends at the surface: what floats is pushed together from below and above. A spar stands there by its bending
stiffness. Cables have none, nor any in compression: a chain of them folds, and drifts in the surface. Energy is convex
there, so that least energy is the only rest: level in the surface, with a part of each bar wet that lies between none
and all; the buoyancy of a level bar is none or all of it, and no place of its nodes balances them.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Model

LISTED = 3


def floating_cables(model: Model) -> tuple[Ints, Floats]:
    """Elements that cannot be compressed, weigh less than the water they displace, and end above its still level.

    (k,) elements and (k,) weight of the water that a unit of their length displaces.
    """
    mesh, water = model.mesh, model.water
    lift, mass = np.zeros((2, len(mesh.element_labels)))
    if water is None:
        return np.zeros(0, np.int64), lift[:0]
    for load in (load for step in model.steps for load in step.fluid_loads if load.kind == "PB"):
        lift[mesh.elements_of(load.target)] = load.magnitude * water.density * np.pi / 4.0 * load.diameter**2
    for section in model.sections:
        material = model.materials[section.material]
        is_cable = material.compression_ratio == 0.0
        mass[mesh.elements_of(section.element_set)] = material.density * section.area if is_cable else np.inf
    found = np.flatnonzero((lift > mass) & (mass > 0.0))
    heights = mesh.coordinates[mesh.element_nodes[found], mesh.up] if len(found) else np.zeros((0, 2))
    found = found[heights.max(axis=1, initial=-np.inf) > water.level]
    return found, lift[found] * water.gravity


def floating_text(model: Model) -> str:
    """What they are, and what to do; nothing where there are none."""
    found, lift = floating_cables(model)
    if not len(found):
        return ""
    names = ", ".join(map(str, model.mesh.element_names[found[:LISTED]]))
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return (
        f"elements {names}{more} are cables lighter than water that reach its surface: without stiffness in bending "
        "and compression they have no position of rest there; replace each float by a *SPRING to the ground (SPRING1, "
        f"vertical) of k = rho g A = {lift.max():.5g} and the load -(weight + k z) (*CLOAD) on the node below it, at "
        "the height z above still water"
    )
