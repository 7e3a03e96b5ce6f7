"""A chain that hangs slack snaps taut below a falling load: its peak tension by increments that follow it or do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import slack_chain

NAME = "slack_chain"
TITLE = "a chain snaps taut below a falling load: peak tension"
SOURCE = (
    "Deck inputs/slack_chain.inp, with automatic increments controlled by the local error, and by tensions as in decks "
    "of fem line; the same chain of masses and cables by RK45 to 1e-7 (references/slack_chain.py)."
)
LONG = False
CHAIN = slack_chain.Chain(length=10.0, bars=20, stiffness=4e5, mass=1.0, load=30.0, beta=0.3 * 0.5 / np.sqrt(4e5))
TIME = 1.1
"""The chain snaps after 0.87 s."""
TENSIONS = {"time_error": 5e-4, "tension_change": 0.3, "residual_relative": 1e-4}
COARSE, FINE = 8.0, 0.25
"""Equal increments, in times a wave needs through a bar."""


def run(folder: Path) -> Outcome:
    """Peaks; and which runs are marked."""
    long = deck(CHAIN.passing * 10.0)
    automatic, equal, fine = (fem.run(model) for model in (long, *map(direct, (COARSE, FINE))))
    by_tension = fem.run(tools.with_controls(long, **TENSIONS))
    x = start_of(automatic)
    exact = slack_chain.largest_tension(CHAIN, x, TIME)
    rest = float(np.abs(CHAIN.accelerations(x, np.zeros_like(x))[:-1]).max())
    why = "ODE: RK45 to 1e-7 (references/slack_chain.py); "
    rows = [
        Row(Target("largest acceleration of the chain before its load is let go [m/s2]", 0.0, "absolute",
                   "analytic: at rest; residual of statics", 1e-6), rest),
        Row(Target("peak tension, automatic increments [N]", exact, "relative", why + "what they promise", 0.05),
            peak(automatic)),
        Row(Target("peak tension, automatic increments of fem line [N]", exact, "relative", why + "what they promise",
                   0.05), peak(by_tension)),
        Row(Target("peak tension, increments of L0/4c [N]", exact, "relative", why + "errors of dt where bars become "
                   "taut, twice what is reached", 0.006), peak(fine)),
        Row(Target("increments marked as too long for the snap, automatic", 0.0, "exact", "definition"),
            float(marks(automatic) + marks(by_tension))),
        Row(Target("the same, of 8 L0/c: marked at all", 1.0, "exact", "definition"), float(marks(equal) > 0)),
    ]  # fmt: skip
    return Outcome(tuple(rows), {}, (f"Equal increments of 8 L0/c find {peak(equal) / exact:.2f} of the peak.",))


def deck(dt: float) -> Any:
    """The model, with increments of at most dt."""
    return tools.with_procedure(tools.deck("slack_chain", {"dt": dt}), 2, period=TIME)


def direct(waves: float) -> Any:
    """With equal increments."""
    return tools.with_procedure(deck(float(waves * CHAIN.passing)), 2, direct=True)


def start_of(history: fem.History) -> np.ndarray:
    """(bars + 1, 2) x and z of the chain at rest."""
    mesh, end = history.mesh, tools.end_of(history, 1)
    place = (mesh.coordinates + history.u[end].reshape(-1, 3))[np.argsort(mesh.node_labels)]
    return np.ascontiguousarray(place[:, [0, 2]])


def peak(history: fem.History) -> float:
    """Of all bars."""
    return max(float(history.of_element(bar, "T").max()) for bar in range(1, CHAIN.bars + 1))


def marks(history: fem.History) -> int:
    """Increments that are too long for a bar that snaps taut in them."""
    return sum(event.event == "snap" for event in history.events)
