"""How far nodes are from supports, and how slowly they swing there."""

from __future__ import annotations

import math

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.model import Dynamic, Model
from fem.model.mesh import BARS
from fem.model.steps import Procedure

SHOWN_BY = 20
"""Increments in a period that show it: with them the trapezoidal rule makes it longer by 0.8 %."""
MOST_HELD = 100
"""Distances are taken from so many held nodes at most."""


def held_nodes(model: Model) -> Flags:
    """(n,) those that are held in all directions, be it in one step."""
    return np.asarray(held_dofs(model).all(axis=1))


def held_dofs(model: Model) -> Flags:
    """(n, 3) those that are held, or moved as prescribed, be it in one step."""
    held = np.zeros((len(model.mesh.node_labels), 3), bool)
    for given in (*model.boundaries, *(boundary for step in model.steps for boundary in step.boundaries)):
        held[model.mesh.nodes_of(given.target), given.dof - 1] = True
    held[model.pinned] = True
    return held


def support_distance(model: Model, nodes: Ints, held: Flags) -> Floats:
    """(k,) distance of nodes from the nearest of those that are ``held_nodes``; infinite where none is."""
    x = model.mesh.coordinates
    square = np.where(held[nodes], 0.0, np.inf)
    for place in x[held][:MOST_HELD]:
        np.minimum(square, ((x[nodes] - place) ** 2).sum(axis=1), out=square)
    return np.sqrt(square)


def coarse_swing(model: Model, procedure: Procedure) -> str:
    """That equal increments do not show even the slowest swing, 2 pi sqrt(L/g); nothing where they do.

    L: how far a node is from a support. Nets and chains swing: they have fewer than two bars for each free node.
    """
    weights = [load.value for step in model.steps for load in step.distributed_loads if load.kind == "GRAV"]
    if not (isinstance(procedure, Dynamic) and procedure.direct and any(weights)):
        return ""
    held = held_nodes(model)
    free = np.flatnonzero(~held)
    if not 0 < sum(len(block.labels) for block in model.mesh.blocks if block.kind in BARS) < 2 * len(free):
        return ""
    distance = support_distance(model, free, held)
    farthest = model.mesh.node_names[free[distance.argmax()]]
    period = 2.0 * math.pi * math.sqrt(distance.max() / max(map(abs, weights)))
    if SHOWN_BY * procedure.dt <= period:
        return ""
    return (
        f"dt = {procedure.dt:g} is longer than a twentieth of the slowest swing (period about {period:.3g}: "
        f"2 pi sqrt(L/g), L from a support to node {farthest}): increments do not show the motion"
    )
