"""Bodies in water, by formulas and by the equations of motion written out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def towed_rope(length: float, chord: float, drag: float) -> tuple[float, float]:
    """Tension, and depth of the bight, of an inextensible weightless rope that a stream pushes across itself alone.

    drag: force per length, straight across. With phi between rope and stream, T is constant and T dphi/ds = - drag
    sin^2 phi, so cot phi = s/a, a = T/drag: a catenary, chord/2 = a asinh(length/(2 a)).
    """
    a = brentq(lambda a: a * np.arcsinh(0.5 * length / a) - 0.5 * chord, 1e-3 * chord, 1e3 * chord, xtol=1e-14)
    return drag * a, float(np.hypot(a, 0.5 * length) - a)


def rod(times: NDArray[np.float64], length: float, mass: float, added: float, weight: float, drag: float) -> NDArray:
    """(k, 2) angle below the horizontal, and the energy that drag has taken, of a rod released level in still water.

    mass, added, weight in water: of all of it; drag: force per length and square of the speed. DOP853 to 1e-12.
    """

    def rate(_: float, state: NDArray[np.float64]) -> list[float]:
        angle, speed, _ = state
        brake = drag * speed * abs(speed) * length**4 / 4.0
        drive = 0.5 * weight * length * np.cos(angle)
        return [speed, (drive - brake) / ((mass + added) * length**2 / 3.0), brake * speed]

    found = solve_ivp(rate, (0.0, times[-1]), [0.0, 0.0, 0.0], "DOP853", times, rtol=1e-12, atol=1e-13)
    return np.asarray(found.y[[0, 2]].T)
