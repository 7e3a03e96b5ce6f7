"""Nodes, elements and sets while a deck is read: by label, with the place of each row kept at hand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.lexical.source import Mistake, Place

Where: TypeAlias = Callable[[int], Place]
"""Row of a chunk -> its place in the deck; called only when something is wrong with the row."""


MAX_PER_CARD = 20
"""Rows of one card blamed at most."""

SAME_PLACE = 1e-9
"""Coordinates of one node may differ by this share of their size: generators and merged decks round differently."""


class NodeChunk(NamedTuple):
    """Nodes of one card."""

    labels: Ints
    coordinates: Floats
    where: Where


class ElementChunk(NamedTuple):
    """Elements of one kind from one card; ``nodes`` (m, 1 or 2) are labels."""

    kind: str
    labels: Ints
    nodes: Ints
    where: Where


class SetChunk(NamedTuple):
    """Members from one card; ``where`` None: they exist for sure."""

    labels: Ints
    where: Where | None


class LabelIndex:
    """label -> running number, over all chunks."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self.starts: list[int] = []
        self.count = 0

    def add(self, labels: Ints) -> Ints:
        """Number the labels on; the positions of those that exist already (the first one counts)."""
        before = len(self.rows)
        numbered = zip(labels.tolist(), range(self.count, self.count + len(labels)), strict=True)
        self.starts.append(self.count)
        self.count += len(labels)
        fresh = dict(numbered)
        if len(fresh) == len(labels) and self.rows.keys().isdisjoint(fresh):
            self.rows.update(fresh)
            return np.zeros(0, np.int64)
        start = self.starts[-1]
        for offset, label in enumerate(labels.tolist()):
            self.rows.setdefault(label, start + offset)
        assert len(self.rows) < before + len(labels)
        kept = np.array([self.rows[label] for label in labels.tolist()], dtype=np.int64)
        return np.nonzero(kept != np.arange(start, start + len(labels)))[0]

    def chunk_of(self, row: int) -> tuple[int, int]:
        """(chunk, row in it)."""
        chunk = bisect_right(self.starts, row) - 1
        return chunk, row - self.starts[chunk]

    def missing(self, labels: Iterable[int]) -> int | None:
        """The position of the first label that does not exist."""
        return next((at for at, label in enumerate(labels) if label not in self.rows), None)


class NodeTable:
    """All nodes in deck order."""

    def __init__(self) -> None:
        self.chunks: list[NodeChunk] = []
        self.index = LabelIndex()

    def add(self, labels: Ints, coordinates: Floats, where: Where) -> list[Mistake]:
        """Append nodes. A node given twice at the same place, up to round-off, is fine: the first counts."""
        if not len(labels):
            return []
        start = self.index.count
        repeated = self.index.add(labels)
        self.chunks.append(NodeChunk(labels, coordinates, where))
        mistakes: list[Mistake] = []
        for row in repeated.tolist():
            if len(mistakes) == MAX_PER_CARD:
                break
            first = self.index.rows[int(labels[row])]
            apart = np.abs(self.coordinates_of(first) - coordinates[row]).max()
            if not apart <= SAME_PLACE * np.abs(coordinates[row]).max():
                message = f"node {labels[row]} is defined twice with different coordinates"
                mistakes.append(Mistake(where(row), message, f"it was first defined at {self.place_of(first)}"))
        if len(repeated):
            self.drop(repeated, start)
        return mistakes

    def drop(self, repeated: Ints, start: int) -> None:
        """Take repeated rows out of the last chunk and number it afresh."""
        labels, coordinates, where = self.chunks.pop()
        keep = np.setdiff1d(np.arange(len(labels)), repeated)
        for label in labels[keep].tolist():
            del self.index.rows[label]
        self.index.count = start
        self.index.starts.pop()
        if len(keep):
            self.index.add(labels[keep])
            self.chunks.append(NodeChunk(labels[keep], coordinates[keep], lambda row: where(int(keep[row]))))

    def coordinates_of(self, row: int) -> Floats:
        """(3,) coordinates of a node by running number."""
        chunk, offset = self.index.chunk_of(row)
        coordinates: Floats = self.chunks[chunk].coordinates[offset]
        return coordinates

    def place_of(self, row: int) -> Place:
        """Where a node was defined."""
        chunk, offset = self.index.chunk_of(row)
        return self.chunks[chunk].where(offset)

    def at(self, label: int) -> Floats | None:
        """(3,) coordinates by label."""
        row = self.index.rows.get(label)
        return None if row is None else self.coordinates_of(row)


class ElementTable:
    """All elements in deck order."""

    def __init__(self) -> None:
        self.chunks: list[ElementChunk] = []
        self.index = LabelIndex()

    def add(self, kind: str, labels: Ints, nodes: Ints, where: Where) -> list[Mistake]:
        """Append elements of one kind; labels must be new."""
        if not len(labels):
            return []
        repeated = self.index.add(labels)
        self.chunks.append(ElementChunk(kind, labels, nodes, where))
        return [
            Mistake(
                where(row),
                f"element {labels[row]} is defined twice",
                f"it was first defined at {self.place_of(self.index.rows[int(labels[row])])}",
            )
            for row in repeated[:MAX_PER_CARD].tolist()
        ]

    def place_of(self, row: int) -> Place:
        """Where an element was defined, by running number."""
        chunk, offset = self.index.chunk_of(row)
        return self.chunks[chunk].where(offset)

    def find(self, label: int) -> tuple[str, Ints] | None:
        """Kind and node labels of an element."""
        row = self.index.rows.get(label)
        if row is None:
            return None
        chunk, offset = self.index.chunk_of(row)
        return self.chunks[chunk].kind, self.chunks[chunk].nodes[offset]


class SetTable:
    """Named sets of labels; the same name may be filled by several cards."""

    def __init__(self) -> None:
        self.chunks: dict[str, list[SetChunk]] = {}
        self.unsorted: set[str] = set()
        self.joined: dict[tuple[str, bool], tuple[int, Ints]] = {}

    def add(self, name: str, labels: Ints, where: Where | None = None) -> None:
        """Put members into a set."""
        self.chunks.setdefault(name, []).append(SetChunk(labels, where))

    def __contains__(self, name: object) -> bool:
        return name in self.chunks

    def ordered(self, name: str) -> Ints:
        """Members once each: rising, or as given in a set defined with UNSORTED."""
        chunks, is_unsorted = self.chunks.get(name, []), name in self.unsorted
        done, members = self.joined.get((name, is_unsorted), (0, np.zeros(0, np.int64)))
        if done < len(chunks):  # only what has come since a set was last asked for
            labels = np.concatenate([members, *(chunk.labels for chunk in chunks[done:])])
            members = np.array(list(dict.fromkeys(labels.tolist())), np.int64) if is_unsorted else np.unique(labels)
            self.joined[name, is_unsorted] = len(chunks), members
        return members
