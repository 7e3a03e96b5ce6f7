"""The energy error in words, with its unit and its share of the energy exchanged: the same wherever it stands.

Exchanged is the largest change, since the start of its step, of the kinetic, strain or potential energy or of the work
from outside; the energy watch of the solver takes the same number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.model.quantities import ENERGIES
from fem.runs.frames import SI, says_si

EXCHANGED = tuple(ENERGIES)[:4]


@dataclass(slots=True)
class Exchange:
    """Energy exchanged so far. start: kinetic, strain, potential energy and work at the start of the step."""

    largest: float = 0.0
    start: list[float] | None = None

    def add(self, energies: Floats) -> None:
        """Rows (k, 4) of one step that follow those before; NaN where an energy is not known."""
        if self.start is None:
            self.start = energies[0].tolist()
        changes = np.abs(energies - self.start)
        self.largest = max(self.largest, float(np.fmax.reduce(changes, axis=None, initial=0.0)))


def energies_of(rows: Any) -> Floats:
    """(k, 4) of rows that a sink is given."""
    return np.stack([getattr(rows, name) for name in EXCHANGED], axis=1)


def exchanged(step: Ints | Floats, energies: Floats) -> float:
    """Of rows (k, >= 4) with the numbers of their steps (k,)."""
    found = Exchange()
    for number in np.unique(step):
        found.start = None
        found.add(energies[step == number, : len(EXCHANGED)])
    return found.largest


def energy_error_text(error: float, of: float, heading: Any = ()) -> str:
    """``0.202 J, 4.1 % of the energy exchanged``.

    error    energy error, or its change in a step;  of: energy exchanged, without which the share is left out
    heading  of the deck, which says whether units are SI
    """
    if math.isnan(error):
        return "not known"
    size = f"{error + 0.0:.3g}" + (f" {SI['energy']}" if says_si(heading) else "")
    if not of > 0.0:
        return size
    share = 100.0 * abs(error) / of
    return f"{size}, {share:{'.0f' if share >= 99.5 else '.2g'}} % of the energy exchanged"
