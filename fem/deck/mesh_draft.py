"""Nodes, elements and sets while a deck is read: by label, with the place of each row kept at hand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake, Place

Where: TypeAlias = Callable[[int], Place]
"""Row of a chunk -> its place in the deck; called only when something is wrong with the row."""
MAX_PER_CARD = 20
"""Rows of one card blamed at most."""
SAME_PLACE = 1e-9
"""Coordinates of one node may differ by this fraction of their size: generators and merged decks round differently."""


class Chunk(NamedTuple):
    """Nodes, or elements of one kind, of one card.

    numbers  (m, 3) coordinates of nodes; (m, 1 to 3) labels of the nodes of elements
    kind     of elements
    """

    labels: Ints
    numbers: np.ndarray
    where: Where
    kind: str = ""


class SetChunk(NamedTuple):
    """Members from one card; ``where`` None: they exist for sure."""

    labels: Ints
    where: Where | None


class LabelTable:
    """All nodes, or all elements, in deck order; ``rows``: label -> running number over all chunks."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.starts: list[int] = []
        self.rows: dict[int, int] = {}
        self.count = 0

    def put(self, chunk: Chunk) -> list[int]:
        """Append a chunk; its rows whose labels exist already (the first of a label counts)."""
        labels = chunk.labels.tolist()
        if not labels:
            return []
        start, self.count = self.count, self.count + len(labels)
        self.starts.append(start)
        self.chunks.append(chunk)
        if self.rows.keys().isdisjoint(labels):
            known = len(self.rows)
            self.rows.update(zip(labels, range(start, self.count), strict=True))
            if len(self.rows) == known + len(labels):
                return []
            for label in set(labels):  # some are there twice, and the last of them counts
                del self.rows[label]
        return [at for at, label in enumerate(labels) if self.rows.setdefault(label, start + at) != start + at]

    def entry(self, row: int) -> tuple[Chunk, int]:
        """The chunk of a running number, and its row there."""
        number = bisect_right(self.starts, row) - 1
        return self.chunks[number], row - self.starts[number]

    def place_of(self, label: int) -> Place:
        """Where a label was first defined."""
        chunk, row = self.entry(self.rows[label])
        return chunk.where(row)


class NodeTable(LabelTable):
    """All nodes. One given again at the same place has a row of its own, which no label names."""

    def add(self, labels: Ints, coordinates: Floats, where: Where) -> list[Mistake]:
        """Append nodes. A node given twice at the same place, up to round-off, is fine: the first counts."""
        mistakes: list[Mistake] = []
        for row in self.put(Chunk(labels, coordinates, where)):
            label = int(labels[row])
            apart = np.abs(self.at(label) - coordinates[row]).max()
            if len(mistakes) < MAX_PER_CARD and not apart <= SAME_PLACE * np.abs(coordinates[row]).max():
                message = f"node {label} is defined twice with different coordinates"
                mistakes.append(Mistake(where(row), message, f"it was first defined at {self.place_of(label)}"))
        return mistakes

    def at(self, label: int) -> Floats:
        """(3,) coordinates of a node."""
        chunk, row = self.entry(self.rows[label])
        return np.asarray(chunk.numbers[row])

    def once(self) -> tuple[Ints, Floats]:
        """Labels (n,) and coordinates (n, 3), each label once."""
        labels = np.concatenate([np.zeros(0, np.int64), *(chunk.labels for chunk in self.chunks)])
        coordinates = np.concatenate([np.zeros((0, 3)), *(chunk.numbers for chunk in self.chunks)])
        if len(self.rows) == self.count:
            return labels, coordinates
        first = np.array(list(self.rows.values()), np.int64)
        return labels[first], coordinates[first]


class ElementTable(LabelTable):
    """All elements."""

    def add(self, kind: str, labels: Ints, nodes: Ints, where: Where) -> list[Mistake]:
        """Append elements of one kind; labels must be new."""
        mistakes = []
        for row in self.put(Chunk(labels, nodes, where, kind))[:MAX_PER_CARD]:
            hint = f"it was first defined at {self.place_of(int(labels[row]))}"
            mistakes.append(Mistake(where(row), f"element {labels[row]} is defined twice", hint))
        return mistakes

    def find(self, label: int) -> tuple[str, Ints]:
        """Kind and node labels of an element."""
        chunk, row = self.entry(self.rows[label])
        return chunk.kind, np.asarray(chunk.numbers[row])


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
            members = np.array(list(dict.fromkeys(labels.tolist())), np.int64) if is_unsorted else distinct(labels)
            self.joined[name, is_unsorted] = len(chunks), members
        return members


class Piece(NamedTuple):
    """A data line of it: labels from its first node to its last, and the natural length (None: to be found)."""

    labels: Ints
    length: float | None
    row: Row


class Catenary(NamedTuple):
    """``*NGEN, LINE=CATENARY``: its pieces, end to end, and the measure that gives the length of the blank one.

    measure  None: all lengths are given;  weight: per natural length, None: that of the bars in the first step
    on_bottom  SEABED: YES, NO, or nothing;  is_held  FRICTION: it lies with its friction mobilised
    """

    card: Card
    pieces: tuple[Piece, ...]
    measure: str | None
    value: float
    weight: float | None
    on_bottom: str
    is_held: bool
