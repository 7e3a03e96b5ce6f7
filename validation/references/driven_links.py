"""Links with point masses below a support that moves sideways, in the angles alone; their Floquet multipliers.

theta_i is the angle of link i from the downward vertical. The support is at x = X(t) = X (cos(omega t) - 1), the mass
m_k at x_k = X(t) + sum_{i <= k} L_i sin theta_i, z_k = - sum_{i <= k} L_i cos theta_i, and dampers alpha m_k v_k act on
the velocity in the laboratory. With A_ij = sum_{k >= max(i, j)} m_k L_i L_j and b_i = L_i sum_{k >= i} m_k Lagrange's
equations are, as those of Rayleigh's dissipation function,

    sum_j A_ij [cos(theta_i - theta_j) (theta_j'' + alpha theta_j') + sin(theta_i - theta_j) theta_j'^2]
        + g b_i sin theta_i + b_i cos theta_i (X'' + alpha X') = 0.

The variational equations have their Jacobian by a step along the imaginary axis (no difference, so no round-off), and
scipy's DOP853 integrates both.
Source: Goldstein, Classical Mechanics, sections 1.4 and 1.5; Squire & Trapp, SIAM Review 40 (1998) 110 (the step).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
TIGHT = 1e-13
MOST_STEPS, SMALL, IMAGINARY = 30, 1e-11, 1e-30


@dataclass(frozen=True, slots=True)
class Driven:
    """lengths, masses (N,); amplitude and angular frequency of the support; alpha: damping over mass [1/s]."""

    lengths: Array
    masses: Array
    amplitude: float
    omega: float
    alpha: float
    gravity: float = 9.81

    @property
    def cycle(self) -> float:
        """Period of the support."""
        return 2.0 * float(np.pi) / self.omega

    def rates(self, t: float, y: Array | Complexes) -> Array | Complexes:
        """Of angles and their rates (2N,)."""
        theta, rate = np.split(y, 2)
        below = np.cumsum(self.masses[::-1])[::-1]
        place = np.arange(len(theta))
        inertia = below[np.maximum(place[:, None], place)] * np.outer(self.lengths, self.lengths)
        turn, weights = theta[:, None] - theta, below * self.lengths
        phase = self.omega * t
        sway = -self.amplitude * self.omega * (self.omega * np.cos(phase) + self.alpha * np.sin(phase))
        torque = (inertia * np.sin(turn)) @ rate**2 + self.alpha * (inertia * np.cos(turn)) @ rate
        torque = torque + weights * (self.gravity * np.sin(theta) + np.cos(theta) * sway)
        return np.concatenate((rate, np.linalg.solve(inertia * np.cos(turn), -torque)))

    def slope(self, t: float, y: Array) -> Array:
        """(2N, 2N) derivative of the rates."""
        ways = 1j * IMAGINARY * np.eye(len(y))
        return np.array([self.rates(t, y + way).imag / IMAGINARY for way in ways]).T


def strobe(links: Driven, y: Array) -> tuple[Array, Array]:
    """State (2N,) a period later, and its derivative (2N, 2N)."""
    size = len(y)

    def rates(t: float, z: Array) -> Array:
        now = z[:size]
        growth = links.slope(t, now) @ z[size:].reshape(size, size)
        return np.concatenate((links.rates(t, now), growth.ravel()))

    start = np.concatenate((y, np.eye(size).ravel()))
    end = solve_ivp(rates, (0.0, links.cycle), start, "DOP853", rtol=TIGHT, atol=TIGHT).y[:, -1]
    return end[:size], end[size:].reshape(size, size)


def orbit(links: Driven, guess: Array | None = None) -> tuple[Array, Complexes]:
    """State (2N,) once a period, and the multipliers, the largest first. RuntimeError: there is none near the guess.

    guess  (2N,) angles and rates at t = 0; None: hanging
    """
    y = np.zeros(2 * len(links.lengths)) if guess is None else np.array(guess, float)
    for _ in range(MOST_STEPS):
        end, slope = strobe(links, y)
        if np.abs(end - y).max() < SMALL:
            values = np.linalg.eigvals(slope).astype(complex)
            return y, values[np.lexsort((-values.imag, -np.abs(values)))]
        y = y - np.linalg.solve(slope - np.eye(len(y)), end - y)
    raise RuntimeError(f"no orbit near {guess}")
