"""A rope that never gets slack, on a support that moves: both ways of impact time stepping leave it alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "moving_rope"
TITLE = "bob on a taut rope from a support that moves up and down"
SOURCE = (
    "A bob on a rope that stays taut moves as its support does: T = m (g - h w^2 cos(w t)), m with half of the rope. "
    "Deck inputs/moving_rope.inp."
)
LONG = False

MASS, GRAVITY, HEIGHT, OMEGA = 1.0 + 0.8 / 2, 9.81, 0.2, 5.0
INCREMENTS = (1e-2, 5e-3, 2.5e-3)


def run(folder: Path) -> Outcome:
    """Moreau-Jean with three increments, events with one."""
    rows: list[Row] = []
    errors = []
    for dt in INCREMENTS:
        history = fem.run(tools.deck("moving_rope", {"dt": dt}))
        middle = history.time[1:] - dt / 2  # its pulls are means of the increment
        errors.append(float(np.abs(history.of_element(1, "T")[1:] - tension(middle)).max()))
        why = "analytic: the rope is never slack; round-off"
        rows += _quiet(f"Moreau-Jean, dt = {dt:g} s", history, why)
    why = "analytic: means of an increment are of second order; 1e-3 for the next term of the error"
    order = float(tools.orders(np.array(errors))[-1])
    rows.append(Row(Target("Moreau-Jean: order of the tension in dt", 2.0, "order", why, 1e-3), order))
    model = tools.with_controls(tools.deck("moving_rope", {"dt": INCREMENTS[1]}), impact="EVENT")
    history = fem.run(model)
    miss = float(np.abs(history.of_element(1, "T") - tension(history.time)).max())
    why = "analytic: the support's acceleration is exact and the rope passes it on; round-off of lengths over dt^2"
    rows.append(Row(Target("events located: largest error of the tension [N]", 0.0, "absolute", why, 1e-10), miss))
    rows += _quiet("events located", history, "analytic: the rope is never slack; round-off")
    return Outcome(tuple(rows), {})


def tension(time: np.ndarray) -> np.ndarray:
    """Force along the rope at its lower end, the bob's and half of the rope's mass on it."""
    return np.asarray(MASS * (GRAVITY - HEIGHT * OMEGA**2 * np.cos(OMEGA * time)))


def _quiet(name: str, history: fem.History, why: str) -> list[Row]:
    """No event, nothing dissipated, the length kept."""
    stretch = float(np.abs(np.linalg.norm(history.positions(2) - history.positions(1), axis=1) - 1.0).max())
    return [
        Row(Target(f"{name}: events", 0.0, "exact", why), float(len(history.events))),
        Row(
            Target(f"{name}: energy dissipated [J]", 0.0, "absolute", why, 1e-12),
            float(history.of_energy("dissipated")[-1]),
        ),
        Row(Target(f"{name}: largest |l - L0| [m]", 0.0, "absolute", why, 1e-11), stretch),
    ]
