"""Nodes, elements of one to three nodes, and their sets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import field
from itertools import islice
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, frozen
from fem.errors import unknown

TRUSSES = ("T3D2", "T2D2")
BEAMS = ("B31",)
"""Bars that bend: angles between them resist."""
BARS = (*TRUSSES, *BEAMS)
AXIAL = (*BARS, "SPRINGA", "DASHPOTA")
"""Elements that act along the line between their two nodes."""
GROUNDED = ("SPRING1", "DASHPOT1", "MASS", "ROTARYI")
"""Elements with one node."""
REEVED = ("PULLEY",)
"""Ropes with three nodes: from node 1 over a pulley, the node between, to node 2."""
KINDS = (*AXIAL, "SPRING1", "SPRING2", "DASHPOT1", "DASHPOT2", "MASS", "ROTARYI", *REEVED)

MOST_SHOWN = 32
"""Most node sets, and most element sets, in the fields: each costs a byte per node or element in every file."""


def nodes_per_element(kind: str) -> int:
    """1 for grounded elements and masses, 3 for ropes over pulleys, 2 for all others."""
    return 1 if kind in GROUNDED else 3 if kind in REEVED else 2


def legs_of(ends: Ints, pulleys: Ints) -> tuple[Ints, Ints]:
    """(q, 2) nodes and (q,) elements of all straight pieces: two of a rope over a pulley, one of other elements.
    ends (k, 2) first and last nodes of elements, pulleys (k,) the nodes between them, -1 for none"""
    reeved = np.flatnonzero(pulleys >= 0)
    elements = np.repeat(np.arange(len(ends)), 1 + (pulleys >= 0))
    legs = ends[elements]
    first = reeved + np.arange(len(reeved))
    legs[first, 1] = legs[first + 1, 0] = pulleys[reeved]
    return legs, elements


@frozen
class ElementBlock:
    """All elements of one kind, in the order of the deck.

    kind         one of ``KINDS``
    labels       (m,)    element labels
    connectivity (m, 2)  node *indices*; (m, 1) for grounded kinds, (m, 3) for ropes over pulleys, these in the middle
    """

    kind: str
    labels: Ints
    connectivity: Ints


class Instance(NamedTuple):
    """An instance of a part: its labels are those of the deck plus ``added``, its sets ``NAME.SET``."""

    name: str
    part: str
    added: int


class Label(int):
    """A label of the model, printed as ``name``, the one in the deck."""

    name: str

    def __new__(cls, value: int, name: str = "") -> Label:
        label = super().__new__(cls, value)
        label.name = name
        return label

    def __str__(self) -> str:
        return self.name


@frozen
class Mesh:
    """The geometry as the user numbered it.

    node_labels  (n,)    in deck order, unique
    coordinates  (n, 3)  reference positions X
    blocks       one per element kind, in order of first appearance; the *element index* used by
                 ``element_sets`` runs through the blocks one after the other
    node_sets    name (upper case) -> sorted node indices
    element_sets name (upper case) -> sorted element indices
    instances    those of a deck with parts, labels rising: where the labels come from
    """

    node_labels: Ints
    coordinates: Floats
    blocks: tuple[ElementBlock, ...] = ()
    node_sets: dict[str, Ints] = field(default_factory=dict)
    element_sets: dict[str, Ints] = field(default_factory=dict)
    instances: tuple[Instance, ...] = field(default=(), compare=False)

    @property
    def up(self) -> int:
        """The axis against gravity: z, or y where all bars lie in the plane."""
        kinds = {block.kind for block in self.blocks if block.kind in BARS}
        return 1 if kinds == {"T2D2"} else 2

    def named(self, label: int) -> str:
        """A label as printed in messages: ``INSTANCE.label`` if it belongs to an instance."""
        at = bisect_left(self.instances, label, key=lambda each: each.added) - 1
        return str(label) if at < 0 else f"{self.instances[at].name}.{label - self.instances[at].added}"

    @property
    def node_names(self) -> Ints:
        """(n,) ``node_labels`` that print as the deck writes them: for messages."""
        return self._shown(self.node_labels)

    @property
    def element_names(self) -> Ints:
        """(m,) labels of elements as the deck writes them."""
        return self._shown(self.element_labels)

    def _shown(self, labels: Ints) -> Ints:
        if not self.instances:
            return labels
        return np.array([Label(label, self.named(label)) for label in labels.tolist()], dtype=object)

    @property
    def element_labels(self) -> Ints:
        """(m,) labels of all elements, by element index."""
        if len(self.blocks) == 1:  # no copy
            return self.blocks[0].labels
        return np.concatenate([np.zeros(0, np.int64), *(block.labels for block in self.blocks)])

    @property
    def element_nodes(self) -> Ints:
        """(m, 2) node indices of all elements, by element index: the same twice for one-node elements, the two ends of
        ropes over pulleys."""
        if len(self.blocks) == 1 and self.blocks[0].connectivity.shape[1] == 2:
            return self.blocks[0].connectivity
        return np.concatenate([np.zeros((0, 2), np.int64), *(block.connectivity[:, [0, -1]] for block in self.blocks)])

    @property
    def pulley_nodes(self) -> Ints:
        """(m,) pulley nodes of ropes over pulleys, by element index; -1 for all other elements."""
        between = (b.connectivity[:, 1] if b.kind in REEVED else np.full(len(b.labels), -1) for b in self.blocks)
        return np.concatenate([np.zeros(0, np.int64), *between])

    @property
    def legs(self) -> tuple[Ints, Ints]:
        """(q, 2) node indices and (q,) elements of all straight pieces, by element index: two of a rope over a pulley
        (node 1 to the pulley, the pulley to node 2), one of any other; the same node twice for one-node elements."""
        ends = self.element_nodes
        return legs_of(ends, self.pulley_nodes) if self.has_pulleys else (ends, np.arange(len(ends)))

    @property
    def has_pulleys(self) -> bool:
        return any(block.kind in REEVED for block in self.blocks)

    def is_of(self, *kinds: str) -> Flags:
        """(m,) whether an element is of one of some kinds, by element index."""
        parts = (np.full(len(block.labels), block.kind in kinds) for block in self.blocks)
        return np.concatenate([np.zeros(0, np.bool_), *parts])

    def bars_in(self, element_set: str | None) -> Ints:
        """Element indices of the bars in a set; without a name all bars; none if there is no such set."""
        if element_set is None:
            return np.flatnonzero(self.is_of(*BARS))
        return self.element_sets.get(element_set, np.zeros(0, np.int64))

    def nodes_of(self, target: str | int) -> Ints:
        """Node indices of a set name or of one node label; KeyError when there is none."""
        return self._indices("node", target)

    def elements_of(self, target: str | int) -> Ints:
        """Element indices of a set name or of one element label; KeyError when there is none."""
        return self._indices("element", target)

    def _indices(self, what: str, target: str | int) -> Ints:
        if isinstance(target, str):
            sets: dict[str, Ints] = getattr(self, f"{what}_sets")
            if target.upper() not in sets:
                raise unknown(f"{what} set", target, sets)
            return sets[target.upper()]
        labels: Ints = getattr(self, f"{what}_labels")
        (index,) = np.nonzero(labels == target)
        if index.size == 0:
            raise unknown(what, target, labels)
        return index


def shown_sets(sets: Mapping[str, Ints]) -> dict[str, Ints]:
    """Sets that are written to the fields: the first ``MOST_SHOWN``, without those made by Abaqus/CAE (``_...``)."""
    named = ((name, members) for name, members in sets.items() if not name.rpartition(".")[2].startswith("_"))
    return dict(islice(named, MOST_SHOWN))


def sets_left_out(mesh: Mesh) -> list[str]:
    """Notices of sets that are not written to the fields because there are too many."""
    every = {"node": mesh.node_sets, "element": mesh.element_sets}
    return [
        f"{MOST_SHOWN} of {len(sets)} {what} sets are arrays in the fields"
        for what, sets in every.items()
        if len(shown_sets(sets)) == MOST_SHOWN < len(sets)
    ]
