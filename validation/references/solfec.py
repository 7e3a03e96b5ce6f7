"""Solfec's pendulum as published: a point mass on a weightless rigid rod, released at rest from the horizontal.

Solfec-1.0 validation manual, "Pendulum" (after Rubinowicz and Krolikowski, Mechanika teoretyczna, 1998, pp. 91-99):
l = 1 m, m = 1 kg, theta_0 = pi/2, g = pi^2 (so that small swings take 2 s), h = 0.001 s.
The printed periods are cut, not rounded: 2.360 and 23.60 stand for 2.3606812 and 23.606812. The printed series of the
period lacks the squares of its factors from the second term on, and its powers of k do not rise
(``pendulum.series_period`` is the right one).
"""

from __future__ import annotations

import numpy as np

from validation.references import pendulum

LENGTH, MASS, THETA0, GRAVITY, INCREMENT = 1.0, 1.0, np.pi / 2, np.pi**2, 1e-3
OMEGA0 = pendulum.point_mass(LENGTH, GRAVITY)
PERIOD = pendulum.period(OMEGA0, THETA0)
ENERGY = MASS * GRAVITY * LENGTH
TENSION_BELOW = 3 * MASS * GRAVITY
"""Rod force at the bottom: m g + m v^2/l with v^2 = 2 g l."""

# swings: printed target of the period [s], Solfec-1.0's period, Solfec-1.0's total energy [J] (target pi^2)
PRINTED = {1: (2.360, 2.360, 9.86960), 10: (23.60, 23.60, 9.86960)}


def printed_series_period(terms: int) -> float:
    """The series as it is printed: factors not squared after the first, all with k^2."""
    k2, total, factor = np.sin(THETA0 / 2) ** 2, 1.0, 1.0
    for n in range(1, terms + 1):
        factor *= (2 * n - 1) / (2 * n)
        total += (factor**2 if n == 1 else factor) * k2
    return float(2 * np.pi / OMEGA0 * total)
