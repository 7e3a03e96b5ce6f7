"""N links hung from each other, in the angles alone: Lagrange's equations, integrated by scipy's DOP853 to 1e-13.

theta_i is the angle of link i from the downward vertical, e_i = (sin theta_i, -cos theta_i) its direction in the plane
x, z (up). The mass m_k of link k moves with its centre at s L_k along it: s = 1/2 and the moment of inertia
I_k = m_k L_k^2/12 for uniform slender bars, s = 1 and I_k = 0 for point masses at the lower ends. With
w_ki = L_i for i < k, s L_k for i = k, 0 for i > k:  c_k = sum_i w_ki e_i, and

    A_ij = sum_k m_k w_ki w_kj + I_i (i = j),   b_i = sum_k m_k w_ki,
    sum_j A_ij [cos(theta_i - theta_j) theta_j'' + sin(theta_i - theta_j) theta_j'^2] + g b_i sin theta_i = 0.

The force on the upper end of link i carries everything below it: R_i = sum_{k >= i} m_k (c_k'' + g z).
Source: Goldstein, Classical Mechanics, section 1.4; Hairer-Norsett-Wanner I (the integrator).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
ACCURACY = 1e-13


@dataclass(frozen=True, slots=True)
class Chain:
    """Links from the fixed joint downwards; ``points``: all mass at the lower ends, otherwise uniform slender bars.

    lengths, masses (N,);  theta, omega (N,): angles from the downward vertical [rad] and their rates at t = 0
    """

    lengths: Array
    masses: Array
    theta: Array
    omega: Array
    points: bool = False
    gravity: float = 9.81

    @property
    def levers(self) -> Array:
        """w_ki (N, N)."""
        w = np.tril(np.broadcast_to(self.lengths, (len(self.lengths),) * 2), -1)
        return np.asarray(w + np.diag(self.lengths * (1.0 if self.points else 0.5)))

    @property
    def spin(self) -> Array:
        """I_k (N,)."""
        return np.asarray(self.masses * self.lengths**2 * (0.0 if self.points else 1 / 12))

    @property
    def inertia(self) -> Array:
        """A_ij (N, N)."""
        w = self.levers
        return np.asarray(w.T @ (self.masses[:, None] * w) + np.diag(self.spin))

    @property
    def moments(self) -> Array:
        """b_i (N,)."""
        return np.asarray(self.masses @ self.levers)


@dataclass(frozen=True, slots=True)
class Motion:
    """What the links do at k instants.

    theta, omega, alpha  (k, N)        angles [rad], rates, accelerations
    x, v, a              (k, N+1, 2)   joints from the fixed one down, in x, z
    reactions            (k, N, 2)     force on the upper end of each link; the first is that of the support
    tension              (k, N)        multiplier of the rod between the joints that carries the *consistent* share of
                                       mass (m/3 and m/6): e.(m (2 a_top + a_bottom)/6 + m g z/2 - R); for point masses
                                       -e.R, the force along the massless rod
    kinetic, potential   (k,)          potential energy 0 with all centres at the height of the fixed joint
    """

    theta: Array
    omega: Array
    alpha: Array
    x: Array
    v: Array
    a: Array
    reactions: Array
    tension: Array
    kinetic: Array
    potential: Array


def accelerations(inertia: Array, weights: Array, theta: Array, omega: Array) -> Array:
    """theta'' (N,) from A_ij and g b_i."""
    turn = theta[:, None] - theta
    torque = (inertia * np.sin(turn)) @ omega**2 + weights * np.sin(theta)
    return np.asarray(np.linalg.solve(inertia * np.cos(turn), -torque))


def solve(chain: Chain, times: Array) -> Motion:
    """The motion at the given times, rising from 0."""
    n, inertia, weights = len(chain.lengths), chain.inertia, chain.gravity * chain.moments

    def rates(_: float, y: Array) -> Array:
        return np.concatenate((y[n:], accelerations(inertia, weights, y[:n], y[n:])))

    start = np.concatenate((chain.theta, chain.omega))
    found = solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=ACCURACY, atol=ACCURACY)
    theta, omega = found.y[:n].T, found.y[n:].T
    return describe(chain, theta, omega)


def describe(chain: Chain, theta: Array, omega: Array) -> Motion:
    """Everything that follows from angles and rates (k, N)."""
    g = chain.gravity
    inertia, weights = chain.inertia, g * chain.moments
    alpha = np.array([accelerations(inertia, weights, *pair) for pair in zip(theta, omega, strict=True)])
    along = np.stack((np.sin(theta), -np.cos(theta)), axis=-1)
    across = np.stack((np.cos(theta), np.sin(theta)), axis=-1)
    e = along * chain.lengths[:, None]
    de = across * (chain.lengths * omega)[..., None]
    dde = across * (chain.lengths * alpha)[..., None] - along * (chain.lengths * omega**2)[..., None]
    x, v, a = (np.concatenate((np.zeros((len(theta), 1, 2)), np.cumsum(part, axis=1)), axis=1) for part in (e, de, dde))
    share = 1.0 if chain.points else 0.5
    centre, speed, acceleration = (part[:, :-1] + share * np.diff(part, axis=1) for part in (x, v, a))
    up = np.array([0.0, g])
    force = chain.masses[:, None] * (acceleration + up)
    reactions = np.cumsum(force[:, ::-1], axis=1)[:, ::-1]
    kinetic = ((chain.masses * (speed**2).sum(-1) + chain.spin * omega**2) / 2).sum(1)
    potential = (chain.masses * g * centre[..., 1]).sum(1)
    top = np.zeros_like(reactions)
    if not chain.points:
        top = chain.masses[:, None] * ((2 * a[:, :-1] + a[:, 1:]) / 6 + up / 2)
    tension = (along * (top - reactions)).sum(-1)
    return Motion(theta, omega, alpha, x, v, a, reactions, tension, kinetic, potential)


def modes(chain: Chain) -> tuple[Array, Array]:
    """Angular frequencies (N,), rising, and shapes (N, N), columns, of small swings about the vertical."""
    values, shapes = np.linalg.eig(np.linalg.solve(chain.inertia, np.diag(chain.gravity * chain.moments)))
    order = np.argsort(values.real)
    return np.sqrt(values.real[order]), np.asarray(shapes.real[:, order])
