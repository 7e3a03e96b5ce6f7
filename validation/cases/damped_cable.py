"""A cable with stiffness-proportional damping: in full while it stretches, never so much that it would push."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import oscillators

NAME = "damped_cable"
TITLE = "mass on a damped cable that goes slack and becomes taut"
SOURCE = (
    "N = k (s + beta s') while the cable is taut, never below zero (the law of docs/theory/bars.md); the equation of "
    "motion integrated to 1e-11 (references/oscillators.py). Deck inputs/damped_cable.inp."
)
LONG = False

CABLE = oscillators.Cable(stiffness=1e4, beta=0.01, mass=1.0, gravity=10.0, stretch=1e-3, rate=1.0)
INCREMENTS = (4e-5, 2e-5, 1e-5)


def run(folder: Path) -> Outcome:
    """Tension and stretch with three increments; the cable's tension at the start is that of a bar."""
    histories = [fem.run(tools.deck("damped_cable", {"dt": dt})) for dt in INCREMENTS]
    instants = histories[0].time
    stretch, tension = oscillators.damped_cable(CABLE, instants)
    start = float(histories[0].of_element(1, "T")[0])
    first = CABLE.stiffness * (CABLE.stretch + CABLE.beta * CABLE.rate)
    rows = [
        Row(Target("tension at the start [N]", first, "relative", "analytic: k (s + beta s'); round-off", 1e-12), start)
    ]
    taut = instants < instants[np.flatnonzero(tension == 0.0)[0]] - 2 * INCREMENTS[0]
    errors = [
        float(np.abs(history.of_element(1, "T")[:: 2**k] - tension)[taut].max()) for k, history in enumerate(histories)
    ]
    why = "ODE: second-order scheme; 0.001 for the next term of the error"
    order = float(tools.orders(np.array(errors))[-1])
    rows.append(Row(Target("order of the tension in dt until the cable lets go", 2.0, "order", why, 0.001), order))
    misses = [
        float(np.abs(-history.of_node(2)[:: 2**k, 2] - stretch).max() / stretch.max())
        for k, history in enumerate(histories)
    ]
    why = "ODE: the force jumps once where the cable becomes taut: an error of dt, four times what it is at 10 us"
    name = "largest error of the stretch in 0.2 s, of the largest stretch"
    rows.append(Row(Target(name, 0.0, "absolute", why, 2e-4), misses[-1]))
    least = min(float(history.of_element(1, "T").min()) for history in histories)
    rows.append(
        Row(Target("least tension [N]", 0.0, "absolute", "analytic: a cable never pushes; round-off", 1e-9), least)
    )
    listed = ", ".join(f"{1e6 * dt:g} us: {miss:.2g}" for dt, miss in zip(INCREMENTS, misses, strict=True))
    return Outcome(
        tuple(rows), {"tension": _figure(instants, tension, histories[0])}, (f"Error of the stretch with {listed}.",)
    )


def _figure(instants: np.ndarray, tension: np.ndarray, history: Any) -> Any:
    sheet, axes = tools.figure("Mass on a damped cable", "time [s]", "tension [N]")
    axes.plot(instants, tension, color=tools.BLUE, label="reference")
    axes.plot(
        instants[::100], history.of_element(1, "T")[::100], "o", color=tools.ORANGE, markersize=4, label="dt = 40 us"
    )
    tools.legend(axes)
    return sheet
