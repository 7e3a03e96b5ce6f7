"""A family of a file that is nothing but mass: fins drag water along, less of it along a direction than across.

Both nodes of an element of the set FINNED have that of the water too:  M = ALONG n n^T + ACROSS (1 - n n^T)
with the direction n of a bar, as it turns; an element of one node has a direction of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel
from fem.forces.protocol import Family, Tangent, Trial

ALONG, ACROSS = 0.2, 1.4
DIRECTION = np.array([2.0, -1.0, 2.0]) / 3.0
MASS = ALONG * np.outer(DIRECTION, DIRECTION) + ACROSS * (np.eye(3) - np.outer(DIRECTION, DIRECTION))


class Fins(NamedTuple):
    """nodes (q, 2) of elements that carry fins; own (q, 3) their directions where these are not those of a bar."""

    nodes: Ints
    own: Floats


def assemble(model: Any, system: Any, pair: int, state: int) -> Fins:
    """The fins of a model."""
    elements = model.mesh.element_sets.get("FINNED", np.zeros(0, np.int64))
    nodes = np.ascontiguousarray(system.element_nodes[elements])
    return Fins(nodes, np.where((nodes[:, 0] == nodes[:, 1])[:, None], DIRECTION, 0.0))


@called_kernel
def evaluate(trial: Trial, own: Fins, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """No force but inertia."""
    return 0.0


@called_kernel
def mass(own: Fins, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
    """ALONG and ACROSS the fins."""
    for q in range(own.nodes.shape[0]):
        i, j = own.nodes[q, 0], own.nodes[q, 1]
        square = 0.0
        for c in range(3):
            square += (own.own[q, c] + place[3 * j + c] + u[3 * j + c] - place[3 * i + c] - u[3 * i + c]) ** 2
        for a in range(3):
            na = own.own[q, a] + place[3 * j + a] + u[3 * j + a] - place[3 * i + a] - u[3 * i + a]
            for b in range(3):
                nb = own.own[q, b] + place[3 * j + b] + u[3 * j + b] - place[3 * i + b] - u[3 * i + b]
                value = (ALONG - ACROSS) * na * nb / square + (ACROSS if a == b else 0.0)
                block[i, 3 * a + b] += value
                block[j, 3 * a + b] += value


FINS = Family("fins", assemble, evaluate, mass=mass, smooth=False)
