"""The same on a desk: a string of 10 cm shaken by millimetres, which hangs, jumps, or stands on its head."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.references import rope

LENGTH, GRAVITY, DRAG, RATE = 0.1, 9.81, 0.5, 8.0
"""10 cm; drag over mass [1/s]; shakes a second."""
AMPLITUDES = {"A = 3 mm": 0.003, "A = 6 mm": 0.006, "A = 15 mm": 0.015}
CYCLES, INCREMENTS = 24, 800
OMEGA = 2.0 * np.pi * RATE


def run(amplitude: float) -> Any:
    """A ball of 20 g on the string, let go at 0.3."""
    numbers = {"A": amplitude, "L": LENGTH, "g": GRAVITY, "m": 0.02, "beta": 0.02 * DRAG, "omega": OMEGA, "theta0": 0.3,
               "periods": CYCLES, "increments": INCREMENTS}  # fmt: skip
    return fem.run(tools.deck("string_pendulum_rope", numbers))


class Desk(rope.Shaken):
    """The reference's pendulum with a frequency of its own."""

    @property
    def omega(self) -> float:
        return OMEGA


def rows(histories: dict[str, Any]) -> list[Row]:
    """Where the string stays taut, and all events of the motion that jumps least."""
    found = []
    limit = GRAVITY / OMEGA / np.hypot(OMEGA, DRAG)
    for name, amplitude in AMPLITUDES.items():
        history = histories[name]
        told = [(e.time, e.event) for e in history.events if e.event in ("impact", "slack")]
        early = [each for each in told if each[0] < 8.0 / RATE]
        exact = rope.path(Desk(amplitude, LENGTH, GRAVITY, DRAG), 0.3, np.array([0.0, 8.0 / RATE])).events
        same = [kind for _, kind in early] == [kind for _, kind, _ in exact]
        late = max((abs(a[0] - b[0]) for a, b in zip(early, exact, strict=False)), default=0.0)
        source = "ODE: event-driven DOP853 (references/rope.py)"
        found += [
            Row(Target(f"desk toy, {name}: order of {len(exact)} impacts and releases in 1 s [1: same]", 1, "exact",
                       source), float(same)),
            Row(Target(f"desk toy, {name}: largest error of their times [s]", 0.0, "absolute", source, 1e-5), late),
        ]  # fmt: skip
    last = histories["A = 3 mm"].time > 0.5 * CYCLES / RATE
    taut = float((histories["A = 3 mm"].of_element(1, "T")[last] > 0.0).mean())
    law = f"analytic: a hanging string stays taut below A = g/(omega sqrt(omega^2 + drag^2)) = {1e3 * limit:.2f} mm"
    return [*found, Row(Target("desk toy, A = 3 mm: share of time taut in the end", 1.0, "exact", law), taut)]


def figure(histories: dict[str, Any]) -> Figure:
    """How far the ball is from the support, and where it is."""
    sheet = Figure(figsize=(10.2, 4.8), layout="constrained")
    sheet.suptitle(
        f"A desk toy: 20 g on 10 cm, {RATE:g} oscillations a second; distance from the support, over the length"
    )
    grid = sheet.subplots(len(histories), 1, sharex=True, sharey=True)
    for axes, (name, history) in zip(grid, histories.items(), strict=True):
        span = np.linalg.norm(history.positions(2) - history.positions(1), axis=1) / LENGTH
        axes.plot(history.time, span, color=tools.BLUE, linewidth=1.0)
        slack = history.of_element(1, "T") == 0.0
        axes.fill_between(history.time, 0.0, 1.1, where=slack, color="#E4E4E4", linewidth=0.0, label="grey: slack")
        axes.set(ylabel=name, xlim=(0.0, history.time[-1]), ylim=(0.3, 1.1))
        axes.grid(True, axis="x", color="#DDDDDD", linewidth=0.6)
    grid[-1].set_xlabel("time [s]")
    grid[0].legend(loc="lower right")
    return sheet
