"""A ball that bounces on a table which moves as z = A (cos(omega t) - 1), restitution c: the exact map of impacts.

From an impact at t_0, v_0 after it, the flight z_table(t_0) + v_0 s - g s^2/2 ends where it meets the table again; then
v = (1 + c) z_table' - c (v_0 - g s). One impact in k periods T of the table: flight k T, v_0 = g k T/2, and

    z_table' = (g k T/2) (1 - c)/(1 + c) = - A omega sin phi     (two phases phi from an amplitude on: a fold)

A disturbance (dt_0, dv_0) of it becomes, with kappa = (1 + c)/g and the table's acceleration a = - A omega^2 cos phi,

    dt_1 = dt_0 + kappa dv_0,   dv_1 = (1 + c) a dt_1 + c^2 dv_0:   trace 1 + c^2 + (1 + c)^2 a/g, determinant c^2,

which has a multiplier of 1 at a = 0 (the fold) and of -1 at a = - 2 g (1 + c^2)/(1 + c)^2 (period doubling). The flight
grazes the table where it touches it in between. Derived here; of high bounces: Holmes, J. Sound Vib. 84 (1982) 173.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]
STEP = 1.0 / 400.0
"""Of a period of the table: no impact hides in less."""


@dataclass(frozen=True, slots=True)
class Ball:
    """The table and the ball; a table of amplitude 0 is a floor."""

    amplitude: float
    omega: float
    restitution: float
    gravity: float = 9.81

    @property
    def period(self) -> float:
        """T."""
        return 2.0 * float(np.pi) / self.omega

    def table(self, t: float) -> tuple[float, float, float]:
        """Height, velocity and acceleration."""
        a, w = self.amplitude, self.omega
        return a * (np.cos(w * t) - 1.0), -a * w * np.sin(w * t), -a * w * w * np.cos(w * t)


def impacts(ball: Ball, height: float, velocity: float, count: int) -> Array:
    """(count, 3): time of each impact, velocity of the ball after it, energy per mass it takes; from t = 0 on."""
    t, z, v, rows = 0.0, height, velocity, []
    for _ in range(count):
        s = _flight(ball, t, z, v)
        t += s
        z, speed, _ = ball.table(t)
        approach = speed - (v - ball.gravity * s)
        v = speed + ball.restitution * approach
        rows.append((t, v, 0.5 * (1.0 - ball.restitution**2) * approach**2))
    return np.array(rows)


def _flight(ball: Ball, t: float, z: float, v: float) -> float:
    """Time to the next impact: the first sign change of the height over the table, from steps far below its period."""

    def above(s: float) -> float:
        return z + v * s - 0.5 * ball.gravity * s * s - float(ball.table(t + s)[0])

    longest = (abs(v) + np.sqrt(v * v + 2.0 * ball.gravity * (abs(z) + 2.0 * ball.amplitude))) / ball.gravity
    step = min(STEP * ball.period, longest / 100.0)
    s = 1e-9 * longest  # off the impact that was
    while above(s + step) > 0.0:
        s += step
        if s > 2.0 * longest:
            raise RuntimeError("the ball meets no table")
    return float(brentq(above, s, s + step, xtol=1e-15))


def settle(height: float, restitution: float, gravity: float, count: int) -> Array:
    """Times of the impacts of a ball that falls on a floor: each flight c times the one before."""
    fall = np.sqrt(2.0 * height / gravity)
    return np.asarray(fall * (1.0 + 2.0 * np.cumsum(restitution ** np.arange(count)) - 2.0))


def fold_amplitude(ball: Ball, k: int = 1) -> float:
    """From which on there is a motion with one impact in k periods."""
    return float(_table_speed(ball, k) / ball.omega)


def doubling_amplitude(ball: Ball, k: int = 1) -> float:
    """At which that motion doubles its period."""
    c = ball.restitution
    pull = 2.0 * ball.gravity * (1.0 + c * c) / (1.0 + c) ** 2
    return float(np.hypot(ball.omega * _table_speed(ball, k), pull) / ball.omega**2)


def _table_speed(ball: Ball, k: int) -> float:
    c = ball.restitution
    return 0.5 * ball.gravity * k * ball.period * (1.0 - c) / (1.0 + c)


def orbit(ball: Ball, k: int = 1, saddle: bool = False) -> tuple[float, float]:
    """Time of the impact in the first period of the table, and velocity after it, of the motion that can be stable.

    ``saddle``: of the one beside it. ValueError: below the fold there is none.
    """
    ratio = _table_speed(ball, k) / (ball.amplitude * ball.omega)
    if not ratio <= 1.0:
        raise ValueError(f"the table is too slow: amplitude {ball.amplitude:g} below {fold_amplitude(ball, k):g}")
    back = float(np.arcsin(ratio))  # sin(phi) = - ratio; the one with cos(phi) > 0 can be stable
    phase = np.pi + back if saddle else 2.0 * np.pi - back
    return phase / ball.omega, 0.5 * ball.gravity * k * ball.period


def multipliers(ball: Ball, k: int = 1, saddle: bool = False) -> Array:
    """(2,) of that motion, the larger one first."""
    t, _ = orbit(ball, k, saddle)
    c = ball.restitution
    trace = 1.0 + c * c + (1.0 + c) ** 2 * ball.table(t)[2] / ball.gravity
    found = np.roots([1.0, -trace, c * c])
    return np.asarray(found[np.argsort(-np.abs(found))])


def start(ball: Ball, k: int = 1, saddle: bool = False) -> tuple[float, float]:
    """Height over the table's highest place and velocity of the ball at t = 0 in that motion."""
    t, v = orbit(ball, k, saddle)
    back = k * ball.period - t  # time since the impact before
    return float(ball.table(t)[0] + v * back - 0.5 * ball.gravity * back**2), float(v - ball.gravity * back)


def grazing_amplitude(ball: Ball, k: int, saddle: bool = False) -> float:
    """At which the flight of that motion touches the table in between. ValueError: it does not below ten folds."""

    def clearance(amplitude: float) -> float:
        model = replace(ball, amplitude=amplitude)
        t, v = orbit(model, k, saddle)
        s = np.linspace(0.02, 0.98, 2001) * k * model.period
        z = model.table(t)[0] + v * s - 0.5 * model.gravity * s**2 - model.table(t + s)[0]
        n = int(np.clip(np.argmin(z), 1, len(s) - 2))
        if n in (1, len(s) - 2):
            return float(z[n])
        curve = np.polyfit(s[n - 1 : n + 2] - s[n], z[n - 1 : n + 2], 2)
        return float(curve[2] - curve[1] ** 2 / (4.0 * curve[0]))

    low = fold_amplitude(ball, k) * (1.0 + 1e-9)
    grid = np.linspace(low, 10.0 * low, 400)
    clear = np.array([clearance(amplitude) for amplitude in grid])
    touches = np.flatnonzero((clear[:-1] > 0.0) & (clear[1:] <= 0.0))
    if len(touches):
        return float(brentq(clearance, *grid[touches[0] : touches[0] + 2], xtol=1e-12))
    raise ValueError("the flight clears the table")
