"""Parts and instances while a deck is read: whose cards are whose, and where an instance stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Place

OPENING = ("PART", "ASSEMBLY", "INSTANCE")


class Position(NamedTuple):
    """Of an instance: shifted first, then turned about the line from ``start`` to ``end`` (right-handed, degrees)."""

    shift: Floats
    start: Floats | None = None
    end: Floats | None = None
    degrees: float = 0.0

    def applied(self, coordinates: Floats) -> Floats:
        """(n, 3) positions in the assembly; quarter turns have sines and cosines without round-off.

        With p from the start of the line, k along it: p' = k (k.p) + cos (p - k (k.p)) + sin k x p.
        Source: Rodrigues' formula, Goldstein, Classical Mechanics, section 4.7.
        """
        placed = coordinates + self.shift if self.shift.any() else coordinates
        if self.start is None or self.end is None or self.degrees == 0.0:
            return placed
        quarters, rest = divmod(self.degrees, 90.0)
        cosine, sine = np.cos(np.radians(rest)), np.sin(np.radians(rest))
        for _ in range(int(quarters) % 4):
            cosine, sine = -sine, cosine
        axis = (self.end - self.start) / np.linalg.norm(self.end - self.start)
        from_start = placed - self.start
        along = (from_start @ axis)[:, None] * axis
        turned: Floats = self.start + along + cosine * (from_start - along) + sine * np.cross(axis, from_start)
        return turned


@dataclass(slots=True)
class Instance:
    """An ``*INSTANCE``; ``cards``: those of its part and its own."""

    name: str
    part: str
    place: Place
    position: Position
    cards: list[Card]


class Opened(NamedTuple):
    """A ``*PART``, ``*ASSEMBLY`` or ``*INSTANCE`` that takes the cards below it."""

    keyword: str
    place: Place
    cards: list[Card]


class Parts:
    """Whose the cards of a deck are.

    cards_of   name of a part -> what stands in it; ``used``: parts that have instances
    open       what takes the cards that follow, innermost last
    rest       cards of the assembly and of the model
    """

    def __init__(self) -> None:
        self.cards_of: dict[str, list[Card]] = {}
        self.used: set[str] = set()
        self.assembly: Place | None = None
        self.instances: list[Instance] = []
        self.open: list[Opened] = []
        self.rest: list[Card] = []

    def begin(self, card: Card, cards: list[Card]) -> list[Card]:
        """What follows stands in ``card`` and goes to ``cards``."""
        self.open.append(Opened(card.keyword, card.place, cards))
        return cards
