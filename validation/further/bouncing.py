"""A ball on a floor and on a table that moves: geometric sequence, multipliers, period doubling, grazing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.references import bouncing_ball
from validation.references.bouncing_ball import Ball

MODEL = Ball(0.0, 2.0 * np.pi, 0.5)
RADIUS = 0.2
ASIDE = 1e-5
DERIVED = "analytic: derived in references/bouncing_ball.py"
AMPLITUDES = np.linspace(0.27, 0.52, 26)
CYCLES, LAST = 60, 24
PUSH = 0.05
"""Of the ball at the start [m/s], off the motion of one impact a period."""


def at(amplitude: float) -> Ball:
    """The table with another amplitude."""
    return replace(MODEL, amplitude=amplitude)


def run(amplitude: float, height: float, velocity: float, duration: float, dt: float = 5e-3) -> Any:
    """The program's motion."""
    numbers = {"A": amplitude, "h": height, "v0": velocity, "duration": duration, "dt": dt}
    return fem.run(tools.deck("ball_on_table", numbers))


def impacts(history: Any) -> Any:
    """(k, 2) times and energies of the impacts."""
    return np.array([(e.time, e.energy_loss) for e in history.events if e.event == "impact"]).reshape(-1, 2)


def period_map(amplitude: float, saddle: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """How far the known motion is off after a period of the program (2,), and the derivative of that period (2, 2)."""
    start = np.array(bouncing_ball.start(at(amplitude), saddle=saddle))

    def end(aside: np.ndarray) -> np.ndarray:
        history = run(amplitude, *(start + aside), MODEL.period)
        return np.array([history.positions(2)[-1, 2] - RADIUS, history.of_node(2, "v")[-1, 2]])

    columns = [(end(d) - end(-d)) / (2.0 * ASIDE) for d in ASIDE * np.eye(2)]
    return end(np.zeros(2)) - start, np.column_stack(columns)


def rows() -> list[Row]:
    """All of it."""
    return [*floor(), *motions(), *borders()]


def floor() -> list[Row]:
    """Falls that get shorter by c each time, until the ball lies still."""
    history = run(0.0, 1.0, 0.0, 2.0)
    exact = bouncing_ball.settle(1.0, MODEL.restitution, MODEL.gravity, 12)
    off = float(np.abs(impacts(history)[:12, 0] - exact).max())
    end = bouncing_ball.settle(1.0, MODEL.restitution, MODEL.gravity, 60)[-1]
    rest = next(event.time for event in history.events if event.event == "contact")
    law = "analytic: sqrt(2 h/g) (1 + 2 c + 2 c^2 + ...)"
    return [
        Row(Target("floor: times of 12 impacts [s]", 0.0, "absolute", law, 1e-9), off),
        Row(Target("floor: time at which the ball comes to rest [s]", end, "absolute", f"{law}, its sum", 1e-5), rest),
    ]


def motions() -> list[Row]:
    """Motions of one impact in a period, and how their neighbours go on."""
    found = []
    for amplitude, saddle in ((0.3, False), (0.36, False), (0.45, False), (0.36, True)):
        off, derivative = period_map(amplitude, saddle)
        values = np.linalg.eigvals(derivative).astype(complex)
        values = values[np.argsort(-np.abs(values))]
        exact = bouncing_ball.multipliers(at(amplitude), saddle=saddle).astype(complex)
        miss = min(np.abs(values - exact).max(), np.abs(values - exact.conj()).max())
        name = f"table, A = {amplitude:g}{', saddle' if saddle else ''}"
        found += [
            Row(Target(f"{name}: motion with one impact a period, error", 0.0, "absolute", DERIVED, 1e-8),
                float(np.abs(off).max())),
            Row(Target(f"{name}: its multipliers", 0.0, "absolute", DERIVED, 1e-5), float(miss)),
        ]  # fmt: skip
    height, velocity = bouncing_ball.start(at(0.45))
    told = impacts(run(0.45, height, velocity + 1e-3, 15.0))
    exact = bouncing_ball.impacts(at(0.45), height, velocity + 1e-3, len(told))
    late = float(np.abs(told[:, 0] - exact[:, 0]).max())
    return [
        *found,
        Row(Target("table, A = 0.45: times of the impacts, 15 s [s]", 0.0, "absolute", DERIVED, 1e-5), late),
    ]


def borders() -> list[Row]:
    """Where the period doubles; where the flight of the saddle touches the table in between."""
    doubling, grazing = bouncing_ball.doubling_amplitude(MODEL), bouncing_ball.grazing_amplitude(MODEL, 1, saddle=True)

    def beyond(amplitude: float) -> float:
        return float(np.linalg.det(period_map(amplitude)[1] + np.eye(2)))

    def touches(amplitude: float) -> float:
        height, velocity = bouncing_ball.start(at(amplitude), saddle=True)
        return float(len(impacts(run(amplitude, height, velocity, MODEL.period)))) - 1.5

    return [
        Row(Target("table: A at which the period doubles [m]", doubling, "absolute", DERIVED, 1e-4),
            _root(beyond, 0.3, 0.45)),
        Row(Target("table: A at which the saddle's flight grazes it [m]", grazing, "absolute", DERIVED, 1e-4),
            _root(touches, 0.6, 0.625)),
    ]  # fmt: skip


def _root(test: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(test, low, high, xtol=1e-7))


def figure() -> Figure:
    """Phases of the impacts against the amplitude, over the known motions."""
    sheet, axes = tools.figure("A ball on a table: phases of the impacts (c = 0.5, 1 Hz)",
                               "amplitude of the table A [m]", "phase of the impact [periods]")  # fmt: skip
    for amplitude in AMPLITUDES:
        height, velocity = bouncing_ball.start(at(float(amplitude)))
        told = impacts(run(float(amplitude), height, velocity + PUSH, CYCLES * MODEL.period, dt=0.05))[:, 0]
        late = told[told > (CYCLES - LAST) * MODEL.period] / MODEL.period
        label = f"impacts, after {CYCLES - LAST} periods" if amplitude == AMPLITUDES[0] else None
        axes.plot(np.full(len(late), amplitude), late % 1.0, ".", color=tools.BLUE, markersize=3.5, label=label)
    known = np.linspace(bouncing_ball.fold_amplitude(MODEL) * (1.0 + 1e-9), AMPLITUDES[-1], 400)
    doubling = bouncing_ball.doubling_amplitude(MODEL)
    for saddle in (False, True):
        phase = [bouncing_ball.orbit(at(a), saddle=saddle)[0] / MODEL.period for a in known]
        label = "one impact a period, unstable" if saddle else None
        axes.plot(known, phase, "--", color=tools.RED, linewidth=1.0, label=label)
    phase = [bouncing_ball.orbit(at(a))[0] / MODEL.period for a in known[known < doubling]]
    axes.plot(known[known < doubling], phase, "-", color=tools.RED, linewidth=1.4, label="one impact a period, stable")
    axes.axvline(doubling, color="black", linewidth=0.8, linestyle=":", label=f"period doubles: A = {doubling:.4f} m")
    axes.set(ylim=(0.4, 1.02))
    tools.legend(axes)
    return sheet
