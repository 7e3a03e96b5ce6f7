"""Periods of the pendulum decks, measured from the motion: what three cases share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fem.study.validation import Outcome, Row, Target
from validation import tools


def measure(history: Any, step: int = 1) -> float:
    """Time from the first to the third passage of node 2 through the vertical [s]: one whole period."""
    rows = history.of_step(step)
    x, v = 1.0 + history.of_node(2)[rows, 0], history.of_node(2, "v")[rows, 0]
    passages = tools.crossings(history.time[rows], x, v)
    return float(passages[2] - passages[0])


def outcome(title: str, exact: float, divisions: tuple[int, ...], run: Callable[[int], Any]) -> Outcome:
    """Period by extrapolation to dt = 0 from the two finest runs, and the order at which it is approached.

    ``run(n)`` gives the history with increments of (about) T/n over 1.5 periods.
    """
    measured = np.array([measure(run(n)) for n in divisions])
    extrapolated = measured[-1] + (measured[-1] - measured[-2]) / 3
    errors = np.abs(measured - exact)
    why = "analytic: elliptic integral; the stretch of the bar, 3 m g/(E A) = 3e-7 below, makes 1.8e-7 of it"
    order = "analytic: second-order scheme; 0.02 for the fourth-order term (0.008)"
    rows = (
        Row(Target("period [s], extrapolated to dt = 0", exact, "relative", why, 4e-7), float(extrapolated)),
        Row(Target("order of the period in dt", 2.0, "order", order, 0.02), float(tools.orders(errors)[-1])),
    )
    listed = ", ".join(f"T/{n}: {value:.8f} s" for n, value in zip(divisions, measured, strict=True))
    chart = tools.convergence(
        title, "increment / period", "period error [s]", 1 / np.array(divisions, float), errors, 2.0
    )
    return Outcome(rows, {"convergence": chart}, (f"Measured between passages through the vertical: {listed}.",))
