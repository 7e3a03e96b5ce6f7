"""A buoy on a taut rope in waves and a current, in a plane: nodes with masses, written down anew, by SciPy's Radau.

Bar k from node k to k + 1 (l: length, L: unstressed, t: direction, P = I - t t^T) pulls with EA (l^2/L^2 - 1)/2 l/L
(Green strain), and carries, half at each end: its mass rho A L, that of the water it takes along across it,
C_A rho_w pi D^2/4 L P, weight and buoyancy. Drag rho_w D/2 C_d |v_n| v_n of the water past it, v_n = P (U - x'), and
the pressure of waves, (1 + C_A) rho_w pi D^2/4 P a, are integrated along the bar by Simpson's rule, U, a and x'
being linear between its ends. At first the rope stands still in the current, without waves.
Source: Morison et al., J. Pet. Tech. 2 (1950) 149; Hairer & Wanner, Solving ODEs II, section IV.8 (Radau).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import root

Array = NDArray[np.float64]
Flow = Callable[[Array, float], tuple[Array, Array]]
"""Velocity and acceleration (n, 2) of the water at places (n, 2)."""
SIMPSON = ((0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0))
GRAVITY, WATER = 9.80665, 1025.0


@dataclass(frozen=True, slots=True)
class Rope:
    """Bars (m,): unstressed length, EA, mass and displaced water per length; diameter that meets the water, drag and
    added-mass coefficients."""

    length: Array
    stiffness: Array
    mass: Array
    displaced: Array
    diameter: Array
    drag: Array
    added: Array

    def forces(self, x: Array, v: Array, velocity: Array, acceleration: Array) -> tuple[Array, Array]:
        """(m + 1, 2) forces on the nodes, (m, 2) directions of the bars."""
        d = np.diff(x, axis=0)
        t = d / np.linalg.norm(d, axis=1)[:, None]
        strain = 0.5 * ((d**2).sum(axis=1) / self.length**2 - 1.0)
        pull = (self.stiffness * strain / self.length)[:, None] * d
        up = (0.5 * GRAVITY * self.length * (self.displaced - self.mass))[:, None] * [0.0, 1.0]
        first, last, past = up + pull, up - pull, velocity - v
        pressed = WATER * 0.25 * np.pi * self.diameter**2 * (1.0 + self.added)
        for xi, weight in SIMPSON:
            n, a = ((1.0 - xi) * ends[:-1] + xi * ends[1:] for ends in (past, acceleration))
            n, a = (of - (of * t).sum(axis=1)[:, None] * t for of in (n, a))
            brake = 0.5 * WATER * self.diameter * self.drag * np.hypot(*n.T)
            q = (weight * self.length)[:, None] * (brake[:, None] * n + pressed[:, None] * a)
            first, last = first + (1.0 - xi) * q, last + xi * q
        force = np.zeros_like(x)
        force[:-1] += first
        force[1:] += last
        return force, t

    def masses(self, t: Array) -> Array:
        """(m + 1, 2, 2) of the nodes, with the water that goes along."""
        along = WATER * 0.25 * np.pi * self.diameter**2 * self.added
        across = np.eye(2) - t[:, :, None] * t[:, None, :]
        half = (0.5 * self.length)[:, None, None] * (
            self.mass[:, None, None] * np.eye(2) + along[:, None, None] * across
        )
        total = np.zeros((len(t) + 1, 2, 2))
        total[:-1] += half
        total[1:] += half
        return total

    def upright(self, depth: float) -> Array:
        """(m + 1, 2) places from (0, -depth) upwards, stretched by the buoyancy of what is above."""
        lift = GRAVITY * self.length * (self.displaced - self.mass)
        pull = np.cumsum(lift[::-1])[::-1] - 0.5 * lift
        heights = np.concatenate(([0.0], np.cumsum(self.length * (1.0 + pull / self.stiffness))))
        return np.column_stack((np.zeros_like(heights), heights - depth))


def motion(rope: Rope, depth: float, flow: Flow, still: Flow, times: Array, error: float) -> Array:
    """(k, m + 1, 2) places of the nodes, the first held at (0, -depth); ``still``: the flow in which they are at rest
    at first; ``error``: relative and absolute tolerance of Radau."""
    x = rope.upright(depth)
    count = len(x) - 1

    def places(free: Array) -> Array:
        return np.vstack((x[:1], free.reshape(count, 2)))

    def balance(free: Array) -> Array:
        now = places(free)
        return rope.forces(now, np.zeros_like(now), *still(now, 0.0))[0][1:].ravel()

    rest = root(balance, x[1:].ravel(), method="lm", tol=1e-12)
    if np.abs(balance(rest.x)).max() > 1e-6 * GRAVITY * (rope.mass * rope.length).sum():
        raise RuntimeError(f"no equilibrium found: {rest.message}")

    def rates(time: float, state: Array) -> Array:
        free, speeds = np.split(state, 2)
        now, v = places(free), np.vstack((np.zeros(2), speeds.reshape(count, 2)))
        force, t = rope.forces(now, v, *flow(now, time))
        a = np.linalg.solve(rope.masses(t)[1:], force[1:, :, None])[:, :, 0]
        return np.concatenate((speeds, a.ravel()))

    start, near = np.concatenate((rest.x, np.zeros(2 * count))), np.abs(np.subtract.outer(*[np.arange(count)] * 2)) < 2
    felt = np.kron(np.array([[0, 0], [1, 1]]), np.kron(near, np.ones((2, 2)))) + np.eye(4 * count, k=2 * count)
    found = solve_ivp(rates, (times[0], times[-1]), start, "Radau", times, rtol=error, atol=error, jac_sparsity=felt)
    if not found.success:
        raise RuntimeError(f"no motion found: {found.message}")
    free = found.y[: 2 * count].T.reshape(len(times), count, 2)
    return np.concatenate((np.broadcast_to(x[:1], (len(times), 1, 2)), free), axis=1)
