"""Bent lines without extension: clamped beams under dead loads, a buckled column, strings with bending stiffness.

EI theta'' = - V cos theta with theta the angle below the horizontal, V the load beyond s; theta(0) = 0, theta'(L) = 0.
Source: Timoshenko & Gere, Theory of Elastic Stability, section 2.7; Bisshopp & Drucker, Q. Appl. Math. 3 (1945) 272.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk


def cantilever(tip: float, weight: float = 0.0) -> tuple[float, float, float]:
    """w/L, u/L and angle of the tip, tip = P L^2/EI, weight = q L^3/EI; by shooting for the moment at the clamp."""

    def bent(moment: float) -> np.ndarray:
        def slope(s: float, y: np.ndarray) -> list[float]:
            theta, rate = y[:2]
            load = tip + weight * (1.0 - s)
            return [rate, -load * np.cos(theta), np.sin(theta), np.cos(theta)]

        found = solve_ivp(slope, (0.0, 1.0), [0.0, moment, 0.0, 0.0], rtol=1e-11, atol=1e-13)
        return np.asarray(found.y[:, -1])

    moment = brentq(lambda m: bent(m)[1], 0.0, tip + 0.5 * weight, xtol=1e-13)
    theta, _, w, x = bent(moment)
    return float(w), float(1.0 - x), float(theta)


def buckled(angle: float) -> tuple[float, float, float]:
    """P/P_Euler, w/L in the middle and end shortening u/L of a pinned column whose ends have turned by an angle."""
    k = np.sin(0.5 * angle)
    first, second = ellipk(k * k), ellipe(k * k)
    return float((2.0 * first / np.pi) ** 2), float(k / first), float(2.0 - 2.0 * second / first)


def stiff_string(mode: int, length: float, tension: float, mass: float, rigidity: float) -> float:
    """Frequency of a string with bending stiffness between pins; mass per length."""
    bent = mode**2 * np.pi**2 * rigidity / (tension * length**2)
    return float(0.5 * mode / length * np.sqrt(tension / mass * (1.0 + bent)))


def jointed_string(mode: int, bars: int, length: float, tension: float, mass: float, rigidity: float) -> float:
    """The same of a chain of bars with half of their mass at each end and angles that resist between them."""
    h, sine = length / bars, np.sin(0.5 * mode * np.pi / bars)
    stiffness = 4.0 * tension / h * sine**2 + 16.0 * rigidity / h**3 * sine**4
    return float(np.sqrt(stiffness / (mass * h)) / (2.0 * np.pi))
