"""Nodes, two-node (or one-node) elements and their sets."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Floats, Ints
from fem.errors import unknown
from fem.model.arrays_equal import ArrayData

BARS = ("T3D2", "T2D2")
AXIAL = (*BARS, "SPRINGA", "DASHPOTA")
"""Elements that act along the line between their two nodes."""
GROUNDED = ("SPRING1", "DASHPOT1", "MASS")
"""Elements with one node."""
KINDS = (*AXIAL, "SPRING1", "SPRING2", "DASHPOT1", "DASHPOT2", "MASS")


def nodes_per_element(kind: str) -> int:
    """1 for grounded elements and masses, 2 for all others."""
    return 1 if kind in GROUNDED else 2


@dataclass(frozen=True, slots=True, eq=False)
class ElementBlock(ArrayData):
    """All elements of one kind, in the order of the deck.

    kind         one of ``KINDS``
    labels       (m,)    element labels
    connectivity (m, 2)  node *indices*; (m, 1) for grounded kinds
    """

    kind: str
    labels: Ints
    connectivity: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Mesh(ArrayData):
    """The geometry as the user numbered it.

    node_labels  (n,)    in deck order, unique
    coordinates  (n, 3)  reference positions X
    blocks       one per element kind, in order of first appearance; the *element index* used by
                 ``element_sets`` runs through the blocks one after the other
    node_sets    name (upper case) -> sorted node indices
    element_sets name (upper case) -> sorted element indices
    """

    node_labels: Ints
    coordinates: Floats
    blocks: tuple[ElementBlock, ...] = ()
    node_sets: dict[str, Ints] = field(default_factory=dict)
    element_sets: dict[str, Ints] = field(default_factory=dict)

    @property
    def element_labels(self) -> Ints:
        """(m,) labels of all elements, by element index."""
        if not self.blocks:
            return np.zeros(0, np.int64)
        return np.concatenate([block.labels for block in self.blocks])

    def nodes_of(self, target: str | int) -> Ints:
        """Node indices of a set name or of one node label; KeyError when there is none."""
        if isinstance(target, str):
            return of_set("node", target, self.node_sets)
        return of_label("node", target, self.node_labels)

    def elements_of(self, target: str | int) -> Ints:
        """Element indices of a set name or of one element label; KeyError when there is none."""
        if isinstance(target, str):
            return of_set("element", target, self.element_sets)
        return of_label("element", target, self.element_labels)


def of_set(what: str, name: str, sets: dict[str, Ints]) -> Ints:
    """Indices in a set; KeyError when there is none of that name."""
    if name.upper() not in sets:
        raise unknown(f"{what} set", name, sets)
    return sets[name.upper()]


def of_label(what: str, label: int, labels: Ints) -> Ints:
    """(1,) the index of a label; KeyError when there is none."""
    (index,) = np.nonzero(labels == label)
    if index.size == 0:
        raise unknown(what, label, labels)
    return index
