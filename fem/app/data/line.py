"""What a line does at rest."""

from __future__ import annotations

import numpy as np

from fem.app.data.panels import Panel
from fem.arrays import Floats
from fem.checking.bars import collect_bars
from fem.model import Model

REST = "natural length from the anchor"


def along(model: Model, tension: Floats) -> Panel:
    """T of the bars over the natural length, from the first end."""
    length = collect_bars(model).length0
    middle = np.cumsum(length) - 0.5 * length
    return Panel("tension at rest", "N", (("T", np.column_stack([middle, tension])),))


def said_of(model: Model) -> str:
    """Lengths and tensions in words, as the reader of decks tells them; in m and N."""
    return "\n".join(notice for notice in model.notices if "natural length" in notice)
