"""A rope hauled over a drum that does not turn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "rope_on_drum"
TITLE = "a rope hauled over a drum that does not turn, with friction"
SOURCE = (
    "Analytic: a node on the drum at which a weightless chain turns by d passes on (1 + mu tan(d/2))/(1 - mu tan(d/2)) "
    "of its force; exp(mu phi) for short bars (Euler, Mem. Acad. Berlin 18 (1762) 265). Deck inputs/rope_on_drum.inp."
)
LONG = False
BARS, PULL = 30, 1000.0


def run(folder: Path) -> Outcome:
    """The deck with three coefficients of friction."""
    rows = []
    for mu in (0.0, 0.1, 0.3):
        history = fem.run(tools.deck("rope_on_drum", {"mu": mu}))
        corner = mu * np.tan(0.5 * np.pi / BARS)
        ratio = float(history.of_element(BARS + 2, "T")[-1] / history.of_element(1, "T")[-1])
        chain = float(((1.0 + corner) / (1.0 - corner)) ** BARS)
        force = sum(history.of_node(label, "CFORCE")[-1] for label in range(1, BARS + 2))
        why = "analytic: chain; the haul moves its corners by 4 % of a bar"
        rows += [
            Row(
                Target(f"mu = {mu:g}: tension behind over before", chain, "relative", why, 6e-5 if mu else 1e-5), ratio
            ),
            Row(
                Target(
                    f"mu = {mu:g}: force of the drum [N]", PULL * (1.0 + chain), "relative", why, 5e-5 if mu else 5e-6
                ),
                float(force[2]),
            ),
        ]
        if mu:
            euler, short = float(np.exp(mu * np.pi)), "Euler; chords of 6 degrees are 1e-3 off, order 2"
            rows.append(Row(Target(f"mu = {mu:g}: that ratio by Euler", euler, "relative", short, 2e-3), ratio))
    return Outcome(tuple(rows), {})
