"""Small systems whose equations of motion fit in a few lines, integrated by scipy's DOP853 to 1e-11.

``swaying_pendulum``: a point mass on one elastic bar (GREEN strain) whose other end moves as x = a (1 - cos(w t)),
hung at rest at t = 0. ``spring_row``: three masses in a row on linear and tabulated springs and dashpots, as drawn in
inputs/springs_dashpots.inp, pushed by a force that rises along Abaqus' quintic. ``damped_cable``: a mass on a cable
whose damping, proportional to its stiffness, acts only while it is taut and never makes it push.
Source: Hairer-Norsett-Wanner, Solving Ordinary Differential Equations I (the integrator); Newton's second law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from validation.references.axial_bar import stretch

Array = NDArray[np.float64]
ACCURACY = 1e-11


@dataclass(frozen=True, slots=True)
class Sway:
    """A hanging bar of length L0 and stiffness E A, mass at its end, the motion of its support."""

    mass: float
    length0: float
    axial_stiffness: float
    gravity: float
    amplitude: float
    omega: float


def swaying_pendulum(sway: Sway, times: Array) -> Array:
    """Bob's position (k, 2), x and z, z from the support upwards; times from 0."""
    hung = sway.length0 * stretch("GREEN", sway.mass * sway.gravity / sway.axial_stiffness)

    def rates(t: float, y: Array) -> Array:
        d = y[:2] - np.array([sway.amplitude * (1 - np.cos(sway.omega * t)), 0.0])
        n = sway.axial_stiffness * (d @ d - sway.length0**2) / (2 * sway.length0**2)
        acceleration = -n * d / (sway.length0 * sway.mass) - np.array([0.0, sway.gravity])
        return np.concatenate((y[2:], acceleration))

    start = np.array([0.0, -hung, 0.0, 0.0])
    return _integrate(rates, start, times)[:, :2]


@dataclass(frozen=True, slots=True)
class Row:
    """Masses 1, 2, 3 in a row: spring and dashpot wall-1, spring and dashpot 1-2, spring 2-ground, dashpot 3-ground,
    tabulated spring 2-3 (elongations and forces, flat outside), force on 3 rising within ``rise``."""

    masses: tuple[float, float, float]
    wall: tuple[float, float]
    between: tuple[float, float]
    ground_spring: float
    ground_dashpot: float
    elongations: tuple[float, ...]
    forces: tuple[float, ...]
    push: float
    rise: float


def spring_row(row: Row, times: Array) -> Array:
    """Displacements (k, 3) from rest."""

    def rates(t: float, y: Array) -> Array:
        u, v = y[:3], y[3:]
        s = min(t / row.rise, 1.0)
        push = row.push * s**3 * (10 - 15 * s + 6 * s * s)
        wall = row.wall[0] * u[0] + row.wall[1] * v[0]
        between = row.between[0] * (u[1] - u[0]) + row.between[1] * (v[1] - v[0])
        tabulated = float(np.interp(u[2] - u[1], row.elongations, row.forces))
        force = np.array(
            [
                between - wall,
                tabulated - between - row.ground_spring * u[1],
                push - tabulated - row.ground_dashpot * v[2],
            ]
        )
        return np.concatenate((v, force / np.array(row.masses)))

    # Short steps, so that a kink of the table spoils one of them by no more than 1e-11.
    return _integrate(rates, np.zeros(6), times, max_step=1e-3)[:, :3]


@dataclass(frozen=True, slots=True)
class Cable:
    """A vertical cable of stiffness EA/L0 and damping BETA EA/L0, the mass on it; its length at the start less L0, and
    its rate."""

    stiffness: float
    beta: float
    mass: float
    gravity: float
    stretch: float
    rate: float

    def tension(self, s: Array, v: Array) -> Array:
        """N = k (s + beta v) where s > 0, and never below 0."""
        return np.asarray(np.where(s > 0.0, np.maximum(self.stiffness * (s + self.beta * v), 0.0), 0.0))


def damped_cable(cable: Cable, times: Array) -> tuple[Array, Array]:
    """Stretch s and tension (k,)."""

    def rates(_: float, y: Array) -> Array:
        return np.array([y[1], cable.gravity - float(cable.tension(y[0], y[1])) / cable.mass])

    s, v = _integrate(rates, np.array([cable.stretch, cable.rate]), times, max_step=1e-4).T
    return s, cable.tension(s, v)


def _integrate(rates, start, times, max_step=np.inf):  # type: ignore[no-untyped-def]
    found = solve_ivp(rates, times[[0, -1]], start, "DOP853", times, rtol=ACCURACY, atol=ACCURACY, max_step=max_step)
    return found.y.T
