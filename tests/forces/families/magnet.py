"""A family of a file: magnets near a wall x = 2.6, which brakes them and is covered with a film that sticks to them.

Gap g = wall - x, velocity v, elongation of the film x - s, whose far end s creeps with the time RELAXATION:

    f = - PULL/g^2  +  BRAKE v/g^2  +  FILM (x - s),    s' = (x - s)/RELAXATION

The first part comes from the energy - PULL/g, what brake and film take is lost. The elements of the set MAGNETS (point
masses, say) carry them; they print the gap as E and the force as S, N and T.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel
from fem.forces.protocol import Family, Tangent, Trial

WALL, PULL, BRAKE, FILM, RELAXATION = 2.6, 0.4, 0.05, 3.0, 0.3


class Magnets(NamedTuple):
    """nodes (q,) that are magnets; elements (q,); place (q,) their x; first of their states: where
    the film ends, and how far the magnet had moved."""

    nodes: Ints
    elements: Ints
    place: Floats
    first: int


def assemble(model: Any, system: Any, pair: int, state: int) -> Magnets:
    """The magnets of a model."""
    elements = model.mesh.element_sets.get("MAGNETS", np.zeros(0, np.int64))
    nodes = np.ascontiguousarray(system.element_nodes[elements, 0])
    return Magnets(nodes, elements, system.coordinates[nodes, 0].copy(), state)


@called_kernel
def evaluate(trial: Trial, own: Magnets, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces, tangents and energy of all magnets."""
    energy = 0.0
    lasts = trial.time1 - trial.time0
    for m in range(own.nodes.shape[0]):
        node = own.nodes[m]
        dof = 3 * node
        u1 = trial.u1[dof]
        gap1 = WALL - own.place[m] - u1
        gap0 = WALL - own.place[m] - trial.u0[dof] if trial.secant else gap1
        speed = (u1 - trial.u0[dof]) * trial.rate if trial.secant else trial.v1[dof]
        both = gap0 * gap1
        pull = -PULL / both
        slope = (-1.0 if trial.secant else -2.0) * PULL / (both * gap1)
        lost = 0.0
        creep, far, near = 0.5 * lasts / RELAXATION, own.first + 2 * m, own.first + 2 * m + 1
        creeps = (1.0 - creep) * trial.state0[far] + creep * (trial.state0[near] + u1)
        trial.state1[far], trial.state1[near] = creeps / (1.0 + creep), u1
        if trial.rate != 0.0:
            sticks, share = FILM * (u1 - trial.state1[far]), 1.0
            if trial.secant:
                sticks, share = 0.5 * (sticks + FILM * (trial.u0[dof] - trial.state0[far])), 0.5
            lost = BRAKE * speed / both + sticks
            slope += BRAKE * trial.rate / both + share * FILM / (1.0 + creep)
            slope += (1.0 if trial.secant else 2.0) * BRAKE * speed / (both * gap1)
        force[dof] += pull + lost
        if flow.shape[0] > 0:
            flow[dof] += lost
        if tangent.block.shape[0] > 0:
            tangent.block[node, 0] += trial.weight * slope
        energy -= PULL / gap1
    return energy


@called_kernel
def values(own: Magnets, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
    """Gap, and the pull three times."""
    gap = WALL - own.place[index] - u[3 * own.nodes[index]]
    row[0] = gap
    row[1] = row[2] = row[3] = PULL / (gap * gap)


MAGNETS = Family(
    "magnets", assemble, evaluate, values,
    states=lambda own: np.zeros(2 * len(own.nodes)), elements=lambda own: own.elements,
    smooth=False,  # tangent maps know nothing of the film
)  # fmt: skip
