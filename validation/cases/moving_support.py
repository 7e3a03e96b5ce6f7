"""A pendulum whose support sways: prescribed motion from Fourier rows, after a static step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import oscillators

NAME = "moving_support"
TITLE = "pendulum on a swaying support"
SOURCE = "Two equations of motion integrated to 1e-11 (references/oscillators.py). Deck inputs/moving_support.inp."
LONG = False

SWAY = oscillators.Sway(1.0 + 7850 * 1e-6 / 2, 1.0, 2e11 * 1e-6, 9.81, 0.1, 2.0)
INCREMENTS = (4e-3, 2e-3, 1e-3)
DURATION = 9.42


def run(folder: Path) -> Outcome:
    """Path of the bob with three increments against the exact one."""
    model = tools.deck("moving_support")
    histories = [fem.run(tools.with_procedure(model, 2, dt=dt)) for dt in INCREMENTS]
    paths = [_path(history) for history in histories]
    instants = histories[0].time[histories[0].of_step(2)] - 1.0
    exact = oscillators.swaying_pendulum(SWAY, instants)
    shared = [path[:: 2**k] for k, path in enumerate(paths)]
    errors = np.array([np.abs(path - exact).max() for path in shared])
    why = "ODE: second-order scheme; 0.003 for the fourth-order term (0.0008)"
    order = float(tools.orders(errors)[-1])
    rows = [Row(Target("order of the bob's path in dt, 2 ms to 1 ms", 2.0, "order", why, 0.003), order)]
    extrapolated = shared[2] + (shared[2] - shared[1]) / 3
    why = "ODE: the fourth-order term left by the extrapolation, 2e-8 m"
    miss = float(np.abs(extrapolated - exact).max())
    rows.append(Row(Target("largest error of the path [m], extrapolated to dt = 0", 0.0, "absolute", why, 6e-8), miss))
    listed = ", ".join(f"{1e3 * dt:g} ms: {error:.3g}" for dt, error in zip(INCREMENTS, errors, strict=True))
    return Outcome(tuple(rows), {"path": _figure(instants, exact, shared[0])}, (f"Largest error [m] with {listed}.",))


def _path(history: Any) -> np.ndarray:
    """x and z of the bob in the dynamic step."""
    return np.asarray(history.positions(2)[history.of_step(2)][:, [0, 2]])


def _figure(instants: np.ndarray, exact: np.ndarray, computed: np.ndarray) -> Any:
    sheet, axes = tools.figure("Pendulum on a swaying support", "time [s]", "x [m]")
    axes.plot(instants, SWAY.amplitude * (1 - np.cos(SWAY.omega * instants)), color=tools.GREY, label="support")
    axes.plot(instants, exact[:, 0], color=tools.BLUE, label="bob, exact")
    axes.plot(instants[::50], computed[::50, 0], "o", color=tools.ORANGE, markersize=4, label="bob, dt = 4 ms")
    tools.legend(axes)
    return sheet
