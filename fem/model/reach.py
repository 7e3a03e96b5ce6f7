"""Which elements winches, water and wind act on in some step: their forces have places in the arrays of a whole run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

import numpy as np

from fem.arrays import Ints, distinct, frozen
from fem.model.mesh import Mesh
from fem.model.steps import Step


@frozen
class Reach:
    """Element indices, rising: ``wound`` by winches; of fluid loads by their kind."""

    wound: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    flows: Mapping[str, Ints] = field(default_factory=dict)

    def of(self, kinds: Iterable[str]) -> Ints:
        """Those that a fluid load of one of these kinds acts on."""
        return union([self.flows[kind] for kind in kinds if kind in self.flows])

    def __or__(self, other: Reach) -> Reach:
        kinds = sorted({*self.flows, *other.flows})
        flows = {kind: union([each.of([kind]) for each in (self, other)]) for kind in kinds}
        return Reach(union([self.wound, other.wound]), flows)


def union(parts: Iterable[Ints]) -> Ints:
    """All of them, rising."""
    return distinct(np.concatenate([np.zeros(0, np.int64), *parts]))


def reach_of(mesh: Mesh, steps: Iterable[Step]) -> Reach:
    """That of some steps."""
    wound, flows = list[Ints](), dict[str, list[Ints]]()
    for step in steps:
        wound += [mesh.elements_of(winch.target) for winch in step.winches]
        for load in step.fluid_loads:
            flows.setdefault(load.kind, []).append(mesh.elements_of(load.target))
    return Reach(union(wound), {kind: union(parts) for kind, parts in sorted(flows.items())})
