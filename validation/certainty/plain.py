"""A plain recipe of error bars, with which the real ones are compared: runs at dt, dt/2 and dt/4.

With the values a, b, c: where (a - b)/(b - c) shows an order, clipped to 0.7 to 2.2, the bar of a is 1.25 times
|a - b|/(1 - 2^-order); otherwise 3 times the largest difference. Neither the mesh nor the residual criterion is varied.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import fem


def bars(model: Any, names: list[str]) -> dict[str, tuple[float, float]]:
    """Value and bar of each number."""
    found = np.array([numbers(fem.run(divided(model, parts)), names) for parts in (1, 2, 4)])
    return {name: (float(a), bar_of(a, b, c)) for name, (a, b, c) in zip(names, found.T, strict=True)}


def divided(model: Any, parts: int) -> Any:
    """The same deck with increments of dt/parts."""
    steps = tuple(
        replace(step, procedure=replace(step.procedure, dt=step.procedure.dt / parts))
        if hasattr(step.procedure, "dt")
        else step
        for step in model.steps
    )
    return replace(model, steps=steps)


def bar_of(a: float, b: float, c: float) -> float:
    first, second = a - b, b - c
    if first * second > 0.0 and abs(first) > abs(second):
        order = np.clip(np.log2(first / second), 0.7, 2.2)
        return float(1.25 * abs(first) / (1.0 - 2.0**-order))
    return float(3.0 * max(abs(first), abs(second)))


def numbers(history: Any, names: list[str]) -> list[float]:
    return [number(history, name) for name in names]


def number(history: Any, name: str) -> float:
    """One number by its name, from rows alone."""
    if name.startswith("instant:"):
        extreme, what = name.removeprefix("instant:").split(":")
        values = series(history, what)
        return float(history.time[values.argmax() if extreme == "max" else values.argmin()])
    if name.startswith(("max:", "min:")):
        extreme, what = name.split(":")
        return float(getattr(series(history, what), extreme)())
    if name.startswith("event:"):
        _, count, what = name.split(":")
        kind, label = what.split("_e")
        times = [event.time for event in history.events if event.event == kind and event.element == int(label)]
        return float(times[int(count) - 1]) if len(times) >= int(count) else float("nan")
    if name.startswith("frequency_"):
        _, step, mode = name.split("_")
        modes = {each.step: each for each in history.modes}[int(step)]
        return float(modes.frequency[int(mode) - 1])
    what, _, at = name.partition("@")
    row = int(np.abs(history.time - float(at)).argmin()) if at else -1
    return float(series(history, what)[row])


def series(history: Any, what: str) -> np.ndarray:
    """(k,) of U1_n5, T_e2, or an energy."""
    if "_" not in what:
        return np.asarray(history.of_energy(what))
    column, item = what.split("_")
    if item[0] == "e":
        return np.asarray(history.of_element(int(item[1:]), column))
    return np.asarray(history.of_node(int(item[1:]), column[:-1])[:, int(column[-1]) - 1])
