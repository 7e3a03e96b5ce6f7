"""Natural frequencies of a taut string fixed at both ends: continuum, and n equal bars under each mass rule.

Interior node of a chain of bars of length h, mass m = rho A h, tension T (force along the bar), mode
w_i = sin(i phi), phi = k pi / n:  (T/h)(2 - 2 cos phi) = omega^2 m c(phi), with
  LUMPED c = 1,  CONSISTENT c = (4 + 2 cos phi)/6,  ONE POINT c = (2 + 2 cos phi)/4.
Source: Meirovitch, Fundamentals of Vibrations, section 8.6 (string); elementary difference calculus (chain).
"""

from __future__ import annotations

import numpy as np


def continuum(mode: int, length: float, tension: float, mass_per_length: float) -> float:
    """Frequency [1/s] of a continuous string: k/(2L) sqrt(T/mu)."""
    return float(mode / (2 * length) * np.sqrt(tension / mass_per_length))


def chain(mode: int, bars: int, length: float, tension: float, mass_per_length: float, rule: str) -> float:
    """Frequency [1/s] of the same string made of equal bars."""
    h, phi = length / bars, mode * np.pi / bars
    factor = {"LUMPED": 1.0, "CONSISTENT": (4 + 2 * np.cos(phi)) / 6, "ONE POINT": (2 + 2 * np.cos(phi)) / 4}[rule]
    omega2 = tension / h * (2 - 2 * np.cos(phi)) / (mass_per_length * h * factor)
    return float(np.sqrt(omega2) / (2 * np.pi))
