"""The forced string pendulum of Ciocanel and Witelski (2012) by an independent ODE integrator (DOP853).

Support z = A cos(omega t), drag beta v with the absolute velocity v, everywhere divided by m. Newton's law is
written down here, not copied: in (1.4) for the angle of the rigid rod, in Cartesian coordinates for the spring, whose
law is N = kappa(s) s, s = l - (L - m g/k), kappa = k for s > 0 and k2 below. (As printed, (2.7b) keeps the constant
weight term when the spring is slack.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]
TIGHT = 1e-11
"""Relative and absolute tolerance of DOP853: far below what is compared."""


@dataclass(frozen=True)
class Pendulum:
    """Data of the paper; k None: rigid. ``theta0``: angle at the start, at rest in the laboratory, at the length L."""

    amplitude: float
    beta: float
    length: float = 5.0
    mass: float = 1.0
    gravity: float = 9.8
    theta0: float = 0.1
    k: float | None = None
    k2: float | None = None
    omega: float | None = None

    @property
    def drive(self) -> float:
        """omega = 0.9 sqrt(g/L) unless given."""
        return 0.9 * float(np.sqrt(self.gravity / self.length)) if self.omega is None else self.omega

    @property
    def cycle(self) -> float:
        """Period of the drive."""
        return 2.0 * float(np.pi) / self.drive

    def support(self, t: float) -> tuple[float, float, float]:
        """z, its velocity and acceleration."""
        w, a = self.drive, self.amplitude
        return a * float(np.cos(w * t)), -a * w * float(np.sin(w * t)), -a * w * w * float(np.cos(w * t))


def angle_rates(p: Pendulum) -> Callable[[float, Array], Array]:
    """Rates of (theta, theta') of the rigid pendulum, (1.4); of four numbers the last two are a perturbation."""

    def rates(t: float, y: Array) -> Array:
        _, speed, acceleration = p.support(t)
        drag = p.beta / p.mass
        turn = (p.gravity + acceleration + drag * speed) / p.length
        found = [y[1], -turn * np.sin(y[0]) - drag * y[1]]
        if len(y) == 4:
            found += [y[3], -turn * np.cos(y[0]) * y[2] - drag * y[3]]
        return np.array(found)

    return rates


def spring_rates(p: Pendulum) -> Callable[[float, Array], Array]:
    """Rates of (x, z, x', z') of the mass on a spring."""
    assert p.k is not None
    k, k2 = p.k, p.k if p.k2 is None else p.k2
    natural = p.length - p.mass * p.gravity / k

    def rates(t: float, y: Array) -> Array:
        x, z = y[0], y[1] - p.support(t)[0]
        length = float(np.hypot(x, z))
        s = length - natural
        pull = (k if s > 0.0 else k2) * s / length
        ax = (-pull * x - p.beta * y[2]) / p.mass
        az = (-pull * z - p.beta * y[3]) / p.mass - p.gravity
        return np.array([y[2], y[3], ax, az])

    return rates


def motion(p: Pendulum, times: Array) -> tuple[Array, Array]:
    """(k, 2) positions x, z and velocities of the mass at given times (the first: 0), in the laboratory."""
    if p.k is None:
        # At rest in the laboratory; the support is, too, at t = 0.
        found = integrate(angle_rates(p), np.array([p.theta0, 0.0]), times)
        theta, rate = found
        at = np.array([p.support(float(t))[:2] for t in times])
        x = np.column_stack([p.length * np.sin(theta), at[:, 0] - p.length * np.cos(theta)])
        v = np.column_stack([p.length * rate * np.cos(theta), at[:, 1] + p.length * rate * np.sin(theta)])
        return x, v
    start = [p.length * np.sin(p.theta0), p.amplitude - p.length * np.cos(p.theta0), 0.0, 0.0]
    found = integrate(spring_rates(p), np.array(start), times)
    return found[:2].T, found[2:].T


def integrate(rates: Callable[[float, Array], Array], start: Array, times: Array) -> Array:
    """(n, k) by DOP853."""
    found = solve_ivp(rates, (times[0], times[-1]), start, "DOP853", times, rtol=TIGHT, atol=TIGHT, max_step=0.1)
    return np.asarray(found.y)


def printed_shortening(p: Pendulum, time: float) -> float:
    """Most by which the string of (2.7b) as printed (no drive; weight term also when slack) gets shorter than L."""
    assert p.k is not None and p.k2 is not None
    k, k2, drag = p.k, p.k2, p.beta / p.mass

    def rates(t: float, y: Array) -> Array:
        r, theta, speed, turn = y
        pull = (k2 if r < 0.0 else k) * r / p.mass + p.gravity
        along = (p.length + r) * turn**2 + p.gravity * np.cos(theta) - pull - drag * speed
        across = -(p.gravity * np.sin(theta) + 2.0 * speed * turn) / (p.length + r) - drag * turn
        return np.array([speed, turn, along, across])

    return -float(integrate(rates, np.array([0.0, p.theta0, 0.0, 0.0]), np.linspace(0.0, time, 4001))[0].min())


def rigid_exponent(p: Pendulum, cycles: int, skipped: int) -> float:
    """Largest Lyapunov exponent of (1.4): mean growth of a linearised perturbation, made one again every cycle."""
    state, rates, total = np.array([p.theta0, 0.0, 1.0, 0.0]), angle_rates(p), 0.0
    for n in range(cycles):
        ends = np.array([n * p.cycle, (n + 1) * p.cycle])
        state = solve_ivp(rates, tuple(ends), state, "DOP853", rtol=1e-8, atol=1e-10).y[:, -1]
        size = float(np.hypot(state[2], state[3]))
        state[2:] /= size
        total += np.log(size) if n >= skipped else 0.0
    return float(total / ((cycles - skipped) * p.cycle))


def recurrence(p: Pendulum, start: tuple[float, float], cycles: int, longest: int = 8) -> int:
    """After how many periods of the drive the rigid pendulum is back, once ``cycles`` have passed; 0: not soon."""
    times = np.arange(cycles - longest, cycles + 1) * p.cycle
    ends = solve_ivp(angle_rates(p), (0.0, times[-1]), start, "DOP853", times, rtol=1e-9, atol=1e-9).y
    turn, rate = (row[-1] - row[-2::-1] for row in ends)
    back = np.flatnonzero(np.hypot(2.0 * np.sin(0.5 * turn), rate) < 1e-2)
    return int(back[0]) + 1 if len(back) else 0
