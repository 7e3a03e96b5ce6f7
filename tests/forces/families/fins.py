"""A family of a file that is nothing but mass: fins drag water along, less of it along a direction than across.

Both nodes of an element of the set FINNED have that of the water too:  M = ALONG n n^T + ACROSS (1 - n n^T)
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
    """nodes (q,) that carry fins, some of them several."""

    nodes: Ints


def assemble(model: Any, system: Any, pair: int, state: int) -> Fins:
    """The fins of a model."""
    elements = model.mesh.element_sets.get("FINNED", np.zeros(0, np.int64))
    return Fins(system.element_nodes[elements].ravel())


@called_kernel
def evaluate(trial: Trial, own: Fins, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """No force but inertia."""
    return 0.0


FINS = Family("fins", assemble, evaluate, masses=lambda own: (own.nodes, np.tile(MASS.ravel(), (len(own.nodes), 1))))
