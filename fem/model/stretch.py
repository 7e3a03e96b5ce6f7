"""Stretch L/L0 of bars with a modulus, and their force between the nodes over E A, by strain measure."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats

TURNS = 60
"""Steps of Newton's method, which converges from above."""
LEAST_GREEN = -1.0 / 27.0**0.5
"""Largest compression N/EA of GREEN bars."""


def stretches(load: Floats, strain: np.ndarray) -> Floats:
    """L/L0 at N/EA: 1 + N/EA (ENGINEERING), (s^2 - 1) s/2 = N/EA (GREEN), ln(s)/s = N/EA (LOG); NaN beyond the largest
    force."""
    from scipy.special import lambertw

    green = 1.0 + np.maximum(0.0, np.minimum(load, np.cbrt(2.0 * load)))
    for _ in range(TURNS):
        green = green - (green**3 - green - 2.0 * load) / np.maximum(3.0 * green**2 - 1.0, 1e-9)
    green[load < LEAST_GREEN] = np.nan
    log = np.exp(-lambertw(-load))
    log = np.where(np.abs(log.imag) > 0.0, np.nan, log.real)
    return np.asarray(np.where(strain == "GREEN", green, np.where(strain == "LOG", log, 1.0 + load)), float)


def loads_of(stretch: Floats, strain: np.ndarray) -> Floats:
    """N/EA at L/L0, the inverse of ``stretches``."""
    green, log = 0.5 * (stretch**2 - 1.0) * stretch, np.log(stretch) / stretch
    return np.asarray(np.where(strain == "GREEN", green, np.where(strain == "LOG", log, stretch - 1.0)), float)
