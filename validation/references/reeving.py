"""Lines that run, by formulas and by DOP853."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


def falls(light: float, heavy: float, friction: float, gravity: float) -> float:
    """Acceleration of two masses on a rope over a fixed pulley that turns it by 180 degrees and rubs."""
    grip = np.exp(np.pi * friction)
    return float(gravity * (heavy - light * grip) / (heavy + light * grip))


def smooth_step(x: float) -> float:
    """x^3 (10 - 15 x + 6 x^2) between 0 and 1."""
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def lowered(
    start: Array, load: float, line: float, stiffness: float, length: float, more: float, lasts: float, end: float
) -> tuple[Array, float]:
    """Place and work of the drum at time ``end``: a load below the origin, in the plane x-z, on an elastic line.

    length  of the line at the start, which gets ``more`` in the time ``lasts`` (SMOOTH STEP)
    line    its mass per length, half of which hangs at the load; what comes in comes with the velocity that is there
    """

    def rate(t: float, y: Array) -> Array:
        natural = length + more * smooth_step(t / lasts)
        x = t / lasts
        speed = more * 30.0 * x * x * (1.0 - x) ** 2 / lasts if 0.0 < x < 1.0 else 0.0
        far = np.hypot(y[0], y[1])
        pull = max(stiffness * (far / natural - 1.0), 0.0)
        mass = load + 0.5 * line * natural
        a = -pull * y[:2] / far / mass - np.array([0.0, 9.81])
        return np.array([y[2], y[3], *a, -(pull + 0.5 * pull**2 / stiffness) * speed])

    first = np.array([*start, 0.0, 0.0, 0.0])
    found = solve_ivp(rate, (0.0, end), first, method="DOP853", rtol=1e-10, atol=1e-10)
    return found.y[:2, -1], float(found.y[4, -1])


def hauled(load: float, stiffness: float, length: float, speed: float, end: float) -> tuple[float, float]:
    """Way and tension at time ``end`` of a load that hangs at rest on an elastic rope without mass, EA = stiffness,
    which a winch begins to haul in at an even speed: m x'' = m g - EA (x/(L0 - v t) - 1), x below the winch.
    """

    def rate(t: float, y: Array) -> Array:
        return np.array([y[1], 9.81 - stiffness / load * (y[0] / (length - speed * t) - 1.0)])

    first = length * (1.0 + load * 9.81 / stiffness)
    found = solve_ivp(rate, (0.0, end), np.array([first, 0.0]), method="DOP853", rtol=1e-13, atol=1e-13)
    x = float(found.y[0, -1])
    return first - x, stiffness * (x / (length - speed * end) - 1.0)
