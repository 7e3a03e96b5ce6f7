"""The plane pendulum, exactly: Jacobi elliptic functions.

theta'' = -omega0^2 sin(theta), theta from the downward vertical, released at rest at theta_0. With
k = sin(theta_0/2):  T = 4 K(k) / omega0,  sin(theta/2) = k cd(omega0 t),  theta'/2 = -omega0 k k' sd(omega0 t).
omega0^2 = g/l for a point mass at distance l, 3g/(2L) for a uniform slender rod of length L (point mass at 2L/3).
Source: Landau-Lifshitz, Mechanics, section 11, problem 1; Abramowitz-Stegun 16.3, 17.3. scipy's parameter is m = k^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipj, ellipk

Array = NDArray[np.float64]


def point_mass(length: float, gravity: float) -> float:
    """Small-angle angular frequency of a point mass at distance ``length`` [rad/s]."""
    return float(np.sqrt(gravity / length))


def uniform_rod(length: float, gravity: float) -> float:
    """Small-angle angular frequency of a uniform slender rod hung by its end: m L^2/3 theta'' = -m g L/2 sin."""
    return float(np.sqrt(1.5 * gravity / length))


def period(omega0: float, theta0: float) -> float:
    """Period for the amplitude ``theta0`` [rad]."""
    return float(4 * ellipk(np.sin(theta0 / 2) ** 2) / omega0)


def motion(time: Array, omega0: float, theta0: float) -> tuple[Array, Array]:
    """Angle and angular velocity at the given times, released at rest at ``theta0``."""
    k = np.sin(theta0 / 2)
    sn, cn, dn, _ = ellipj(omega0 * np.asarray(time), k**2)
    cd = cn / dn
    angle = 2 * np.arcsin(np.clip(k * cd, -1, 1))
    # d/dz cd = -(1 - m) sd / dn ... and cos(theta/2) = sqrt(1 - k^2 cd^2) = k'/dn.
    velocity = -2 * omega0 * k * np.sqrt(1 - k**2) * sn / dn
    return angle, velocity


def series_period(omega0: float, theta0: float, terms: int) -> float:
    """The published series, its misprint corrected: a_n = prod (2j - 1)/(2j), sum of a_n^2 sin^(2n)(theta_0/2)."""
    total, factor = 1.0, 1.0
    for n in range(1, terms + 1):
        factor *= (2 * n - 1) / (2 * n)
        total += factor**2 * np.sin(theta0 / 2) ** (2 * n)
    return float(2 * np.pi / omega0 * total)


def tension(theta: Array, omega: Array, length: float, mass: float, gravity: float) -> Array:
    """Force along the massless rod of a point mass: m (g cos(theta) + l omega^2)."""
    return np.asarray(mass * (gravity * np.cos(theta) + length * np.asarray(omega) ** 2))


def energies(theta: Array, omega: Array, length: float, mass: float, gravity: float) -> tuple[Array, Array]:
    """Kinetic and potential energy of a point mass; potential 0 at rest below."""
    kinetic = mass * (length * np.asarray(omega)) ** 2 / 2
    return np.asarray(kinetic), np.asarray(mass * gravity * length * (1 - np.cos(theta)))
