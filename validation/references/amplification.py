"""Amplification of time integrators on the linear oscillator u'' + w^2 u = 0: theory, from their published formulas.

Per increment of length h the state (u, h v, h^2 a) is multiplied by a matrix A(w h); its complex eigenvalues
rho exp(+-i phi) give the numerical damping ratio -ln(rho)/phi and the period error w h/phi - 1.
Sources: Newmark 1959; Hilber, Hughes & Taylor 1977; Chung & Hulbert 1993; Hughes, The Finite Element Method, ch. 9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def generalized(am: float, af: float, beta: float, gamma: float, w: float) -> Array:
    """A(w), w = omega h, of (1-am) a1 + am a + w^2 ((1-af) u1 + af u) = 0 with Newmark's u1 and v1.

    am = af = 0: Newmark; am = 0: HHT with af = -alpha.
    """
    left = np.array(
        [[1.0, 0.0, -beta], [0.0, 1.0, -gamma], [(1 - af) * w * w, 0.0, 1 - am]],
    )
    right = np.array([[1.0, 1.0, 0.5 - beta], [0.0, 1.0, 1 - gamma], [-af * w * w, 0.0, -am]])
    return np.asarray(np.linalg.solve(left, right))


def newmark(w: float) -> Array:
    """Trapezoidal rule."""
    return generalized(0.0, 0.0, 0.25, 0.5, w)


def hht(w: float, alpha: float) -> Array:
    """Hilber-Hughes-Taylor."""
    return generalized(0.0, -alpha, (1 - alpha) ** 2 / 4, 0.5 - alpha, w)


def chung_hulbert(w: float, rho: float) -> Array:
    """Generalized alpha with spectral radius rho at infinite frequency."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    return generalized(am, af, (1 - am + af) ** 2 / 4, 0.5 - am + af, w)


def backward_euler(w: float) -> Array:
    """u1 = u + v1, v1 = v - w^2 u1 (h v as v)."""
    return np.asarray(np.linalg.inv(np.array([[1.0, -1.0], [w * w, 1.0]])))


def midpoint(w: float) -> Array:
    """u1 - u = (v + v1)/2, v1 - v = -w^2 (u + u1)/2."""
    left = np.array([[1.0, -0.5], [0.5 * w * w, 1.0]])
    right = np.array([[1.0, 0.5], [-0.5 * w * w, 1.0]])
    return np.asarray(np.linalg.solve(left, right))


def spectrum(matrix: Array, w: float) -> tuple[float, float]:
    """Numerical damping ratio and relative period error of an amplification matrix: those of its principal pair."""
    values = np.linalg.eigvals(matrix)
    turning = values[values.imag > 1e-12]
    principal = turning[np.argmax(np.abs(turning))]
    phase = float(np.angle(principal))
    return float(-np.log(np.abs(principal)) / phase), w / phase - 1.0
