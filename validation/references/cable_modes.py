"""Small motions of a hanging elastic cable in its plane, as a continuum: natural frequencies by shooting.

At rest (Irvine, Cable Structures, section 1.4): horizontal force H, vertical force V(s) = V0 + w s over the natural
length s, T = hypot(H, V), stretch r = 1 + T/EA, direction t = (H, V)/T. A small motion u(s) exp(i omega t) obeys

    (C u')' + omega^2 mu u = 0,   C = EA t t^T + (T/r)(I - t t^T),   u = 0 at both ends

(d(T t) with the length r ds: a change du' of dx/ds changes the stretch by t.du', the direction by (I - t t^T) du'/r).
For omega the two solutions with u(0) = 0 and C u'(0) = (1, 0), (0, 1) give a matrix u(L); natural frequencies are the
roots of its determinant. ``hung``: a heavy inextensible chain that hangs from one end (Bessel's zeros).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import jn_zeros

Array = NDArray[np.float64]
SCANNED = 0.04
"""Frequencies are looked for in steps of this part of that of a taut string with the tension H."""


def frequencies(
    count: int, length: float, weight: float, stiffness: float, level: float, first: float, mu: float
) -> Array:
    """(count,) lowest ones [1/time]; level, first: H and V at s = 0; weight and mass mu per natural length."""

    def rates(s: float, y: Array, omega: float) -> Array:
        u, p = y[:4].reshape(2, 2), y[4:].reshape(2, 2)  # columns: two solutions
        force = np.array([level, first + weight * s])
        tension = float(np.hypot(*force))
        t = force / tension
        along = np.outer(t, t)
        inverse = along / stiffness + (np.eye(2) - along) * (1.0 + tension / stiffness) / tension
        return np.concatenate([(inverse @ p).ravel(), (-mu * omega**2 * u).ravel()])

    def miss(omega: float) -> float:
        start = np.concatenate([np.zeros(4), np.eye(2).ravel()])
        found = solve_ivp(rates, (0.0, length), start, "DOP853", rtol=1e-10, atol=1e-12, args=(omega,))
        return float(np.linalg.det(found.y[:4, -1].reshape(2, 2)))

    step = SCANNED * np.pi / length * np.sqrt(level / mu)
    found: list[float] = []
    low, below = 0.2 * step, miss(0.2 * step)
    while len(found) < count:
        high = low + step
        above = miss(high)
        if below * above < 0.0:
            found.append(float(brentq(miss, low, high, xtol=1e-13 * high, rtol=1e-12)))
        low, below = high, above
    return np.array(found) / (2.0 * np.pi)


def hung(count: int, length: float, gravity: float) -> Array:
    """(count,) frequencies of a chain without stretch that hangs from one end: omega = j_0k/2 sqrt(g/L) (Bernoulli)."""
    return np.asarray(jn_zeros(0, count) * 0.25 / np.pi * np.sqrt(gravity / length))


def driven_end(
    x: float, t: float, length: float, stiffness: float, speed: float, pushed: tuple[float, float, str]
) -> tuple[float, float]:
    """u(x, t) of a uniform bar that is held at 0 and pulled at L from t = 0 on, and the pull on its support then.

    pushed  size F, angular frequency w and kind of the pull: STEP, F;  SINE, F sin(w t);  SOFT, F (1 - cos(w t))
    d'Alembert, waves from images of the end: u = c/EA sum_j (-1)^j [G(t - (a - x)/c) - G(t - (a + x)/c)] with
    a = (2j + 1) L and G the integral of the pull from 0 on; at the support 2 sum_j (-1)^j F(t - a/c).
    """
    size, w, kind = pushed

    def pull(s: float) -> float:
        pulls = {"STEP": 1.0, "SINE": np.sin(w * s), "SOFT": 1.0 - np.cos(w * s)}
        return 0.0 if s <= 0.0 else float(size * pulls[kind])

    def total(s: float) -> float:
        if s <= 0.0:
            return 0.0
        sums = {"STEP": s, "SINE": (1.0 - np.cos(w * s)) / (w or 1.0), "SOFT": s - np.sin(w * s) / (w or 1.0)}
        return float(size * sums[kind])

    u, force = 0.0, 0.0
    for j in range(int(speed * t / length) + 2):
        a, sign = (2 * j + 1) * length, (-1.0) ** j
        u += sign * (total(t - (a - x) / speed) - total(t - (a + x) / speed))
        force += 2.0 * sign * pull(t - a / speed)
    return float(speed / stiffness * u), float(force)
