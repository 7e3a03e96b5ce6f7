"""The numbers of the form of a line, its deck, and what it does at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.app.data.panels import Panel
from fem.arrays import Floats
from fem.checking.bars import collect_bars
from fem.model import Model
from fem.spans.catalogue import section
from fem.spans.description import Span
from fem.spans.text import deck_text

REST = "natural length from the anchor"


@dataclass(frozen=True, slots=True)
class Asked:
    """As ``fem.line`` takes it; ``section`` is a name of the catalogue."""

    first: tuple[float, ...]
    last: tuple[float, ...]
    section: str
    measure: str
    value: float
    depth: float | None
    friction: float
    stream: tuple[float, ...]
    motion: tuple[float, ...]
    period: float
    bars: int
    time: float = 0.0
    dt: float = 0.0

    def deck(self) -> str:
        """Text. CommandError: there is no such line."""
        first, last, motion = ((x, y, z) for x, y, z in (self.first, self.last, self.motion))
        made = section(self.section), self.measure, self.value, self.depth, self.friction
        moved = (self.stream[0], self.stream[1]), motion, self.period, None, self.bars
        return deck_text(Span(first, last, *made, *moved, time=self.time, dt=self.dt))


def along(model: Model, tension: Floats) -> Panel:
    """T of the bars over the natural length, from the first end."""
    length = collect_bars(model).length0
    middle = np.cumsum(length) - 0.5 * length
    return Panel("tension at rest", "N", (("T", np.column_stack([middle, tension])),))


def said_of(model: Model) -> str:
    """Lengths and tensions in words, as the reader of decks tells them; in m and N."""
    return "\n".join(notice for notice in model.notices if "natural length" in notice)
