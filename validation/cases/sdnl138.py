"""SDNL138: natural frequencies of a prestressed cable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import published, taut_string

NAME = "sdnl138"
TITLE = "modes of a prestressed cable (Code_Aster astest sdnl138a)"
SOURCE = "Published values of Code_Aster; closed form of the discrete string. Deck inputs/sdnl138.inp."
LONG = False

LENGTH, BARS, MASS_PER_LENGTH = 1.0, 15, 7800 * 5.026e-5


def run(folder: Path) -> Outcome:
    """First two frequencies of both cables; the deck holds both, so the modes come interleaved."""
    found = np.sort(frequencies(fem.run(tools.deck("sdnl138"))))
    chains = {
        (tension, mode): taut_string.chain(mode, BARS, LENGTH, tension, MASS_PER_LENGTH, "ONE POINT")
        for tension in published.SDNL138_MODES
        for mode in (1, 2)
    }
    rows = []
    for computed, (tension, mode) in zip(found, sorted(chains, key=lambda key: chains[key]), strict=False):
        name = f"frequency [Hz], N = {tension:.6g} N, mode {mode}"
        why = "analytic: difference equation of 15 ONE POINT bars; round-off of the modes, 2e-15"
        rows.append(Row(Target(name, chains[tension, mode], "relative", why, 1e-13), float(computed)))
        if mode == 1:
            why = "published: Code_Aster with 15 bars (6 digits there, recomputed to 7)"
            rows.append(Row(Target(name, published.SDNL138_MODES[tension], "relative", why, 1e-7), float(computed)))
            exact = taut_string.continuum(mode, LENGTH, tension, MASS_PER_LENGTH)
            why, limit = "analytic: continuous string; tolerance of sdnl138a.comm", published.SDNL138_TOLERANCE
            rows.append(Row(Target(name, exact, "relative", why, limit), float(computed)))
    return Outcome(tuple(rows))


def frequencies(history: Any) -> np.ndarray:
    """Frequencies of the last frequency step."""
    modes = history.modes[-1] if isinstance(history.modes, list | tuple) else history.modes
    return np.asarray(modes.frequency, float)
