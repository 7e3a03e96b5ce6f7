"""One undamped pendulum, many methods, in its angle: theta'' = -(g/l) sin theta, released at rest.

The worksheet "Comparison of several methods for analysis of simple undamped pendulum" (Calcpad), its misprints
corrected: dn = sqrt(1 - k^2 sn^2), omega_{n+1} = omega_n - h (g/l) sin theta; Crank-Nicolson is implicit, not IMEX.
With s = h^2 g/l each implicit step is one equation, theta - known + c s sin theta = 0 (c = 1: backward Euler,
c = 1/4: Crank-Nicolson); for c s < 1 its left side rises, so there is one root, and Newton finds it to round-off.
Source: Hairer-Norsett-Wanner I (the methods); Abramowitz-Stegun 16.3, 17.3 (exact solution, ``pendulum``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from validation.references import pendulum

Array = NDArray[np.float64]

# method: angle [rad], angular velocity [rad/s] and energy [J] at t = 10 s, recomputed in 40 digits
FINAL = {
    "forward Euler": (-24.0683508954, -6.8478709893, 28.4984511455),
    "backward Euler": (-0.0681245670, -0.2138787491, 0.0456271495),
    "Crank-Nicolson": (0.6928578865, -2.2985261233, 4.9035645071),
    "Runge-Kutta 4": (0.6519035491, -2.4054615316, 4.9048558082),
}
PERIOD_SMALL, PERIOD_EXACT, PERIOD_ERROR = 2.00606668, 2.15287467, 0.0681916
ENERGY, EXACT_FINAL = 4.905, 0.651863046742
# As the worksheet prints them, three digits: T, f, T_e, f_e, omega, omega_e, E_0, error of T [%], and after one step
# of each method theta_2 and omega_2.
PRINTED = {"T": 2.01, "f": 0.498, "T_e": 2.15, "f_e": 0.464, "omega": 3.13, "omega_e": 2.92, "E_0": 4.9, "error": 6.82}
PRINTED_STEPS = {
    "forward Euler": (-1.05, 0.425),
    "backward Euler": (-1.03, 0.419),
    "Crank-Nicolson": (-1.04, 0.423),
    "Runge-Kutta 4": (-1.04, 0.424),
}


@dataclass(frozen=True, slots=True)
class Swing:
    """The data of the worksheet."""

    gravity: float = 9.81
    length: float = 1.0
    mass: float = 1.0
    theta0: float = -np.pi / 3
    h: float = 0.05
    steps: int = 200

    @property
    def times(self) -> Array:
        """(steps + 1,)"""
        return np.arange(self.steps + 1) * self.h

    @property
    def omega0(self) -> float:
        """Angular frequency of small swings."""
        return pendulum.point_mass(self.length, self.gravity)

    def energy(self, theta: Array, omega: Array) -> Array:
        """Kinetic and potential energy, 0 at rest below."""
        potential = self.gravity / self.length * (1 - np.cos(theta))
        return np.asarray(self.mass * self.length**2 * (omega**2 / 2 + potential))


def forward_euler(theta: float, omega: float, h: float, k: float) -> tuple[float, float]:
    """One step; k = g/l."""
    return theta + h * omega, omega - h * k * np.sin(theta)


def backward_euler(theta: float, omega: float, h: float, k: float) -> tuple[float, float]:
    """One step; k = g/l."""
    new = _root(theta + h * omega, h * h * k, theta)
    return new, omega - h * k * np.sin(new)


def crank_nicolson(theta: float, omega: float, h: float, k: float) -> tuple[float, float]:
    """One step of the trapezoidal rule; k = g/l."""
    new = _root(theta + h * omega - h * h * k / 4 * np.sin(theta), h * h * k / 4, theta)
    return new, omega - h * k / 2 * (np.sin(theta) + np.sin(new))


def runge_kutta_4(theta: float, omega: float, h: float, k: float) -> tuple[float, float]:
    """One step; k = g/l."""

    def rates(y: Array) -> Array:
        return np.array([y[1], -k * np.sin(y[0])])

    y = np.array([theta, omega])
    k1 = rates(y)
    k2 = rates(y + h / 2 * k1)
    k3 = rates(y + h / 2 * k2)
    k4 = rates(y + h * k3)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return float(y[0]), float(y[1])


METHODS = {
    "forward Euler": forward_euler,
    "backward Euler": backward_euler,
    "Crank-Nicolson": crank_nicolson,
    "Runge-Kutta 4": runge_kutta_4,
}


def march(method: str, swing: Swing) -> tuple[Array, Array]:
    """Angle and angular velocity at all ``swing.times``."""
    step, k = METHODS[method], swing.gravity / swing.length
    path = [(swing.theta0, 0.0)]
    for _ in range(swing.steps):
        path.append(step(*path[-1], swing.h, k))
    theta, omega = np.array(path).T
    return theta, omega


def small_angle(swing: Swing, times: Array) -> tuple[Array, Array]:
    """The linear pendulum theta_0 cos(omega t)."""
    phase = swing.omega0 * times
    return swing.theta0 * np.cos(phase), -swing.omega0 * swing.theta0 * np.sin(phase)


def exact(swing: Swing, times: Array) -> tuple[Array, Array]:
    """Jacobi's elliptic functions."""
    return pendulum.motion(times, swing.omega0, swing.theta0)


def elastic(swing: Swing, stiffness: float, times: Array) -> Array:
    """Angles (k,) of the same mass on a massless elastic bar, T = E A (r - l)/l, in x and z by DOP853 to 1e-12."""

    def rates(_: float, y: Array) -> tuple[float, ...]:
        r = float(np.hypot(y[0], y[1]))
        pull = stiffness * (r - swing.length) / (swing.length * r * swing.mass)
        return y[2], y[3], -pull * y[0], -pull * y[1] - swing.gravity

    start = (swing.length * np.sin(swing.theta0), -swing.length * np.cos(swing.theta0), 0.0, 0.0)
    found = solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12)
    return np.unwrap(np.arctan2(found.y[0], -found.y[1]))


def period_error(theta0: Array) -> Array:
    """|T - T_e| / T_e of the small-angle period for amplitudes theta0 [rad]."""
    return np.array([1 - 2 * np.pi / pendulum.period(1.0, theta) for theta in np.asarray(theta0)])


def _root(known: float, factor: float, guess: float) -> float:
    """theta with theta + factor sin(theta) = known, factor < 1."""
    if factor >= 1:
        raise ValueError("h^2 g/l is too large: the equation of the step has more than one root")
    theta = guess
    for _ in range(50):
        correction = (theta + factor * np.sin(theta) - known) / (1 + factor * np.cos(theta))
        theta -= correction
        if abs(correction) <= 4e-16 * max(1.0, abs(theta)):
            break
    return float(theta)
