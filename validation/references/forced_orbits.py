"""Periodic motions of a pendulum whose support moves up and down, and where they lose their stability.

The stroboscopic map P takes the state from one period of the drive to the next, its derivative by the variational
equations, both integrated by scipy's DOP853. A motion of n periods solves P^n(y) = y (Newton); the eigenvalues of the
derivative are its Floquet multipliers. Models are those of ``string_pendulum.Pendulum``: the rod in (theta, theta'),
turned whole times in n periods or not; the spring in (x, z, x', z').

The states that always are, hanging and upright, have the linear equation (sign + hanging, - upright)

    theta'' + (beta/m) theta' +- (g + z_s'' + (beta/m) z_s')/L theta = 0,

Mathieu's where beta = 0; det of its period map is exp(- beta T/m), and a border is where a multiplier is 1 or -1.
Source: Magnus, Winkler, Hill's Equation (1966), ch. 1; Kapitza (1951): without drag and for fast drives the upright
state is held from A omega = sqrt(2 g L) on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from validation.references.string_pendulum import Pendulum, spring_rates

Array = NDArray[np.float64]
TIGHT = 1e-12
MOST_STEPS, SMALL = 30, 1e-10


@dataclass(frozen=True)
class Orbit:
    """state (d,) once a period of the drive, at t = 0; multipliers (d,), the largest first; residual of P^n(y) = y."""

    state: Array
    multipliers: NDArray[np.complex128]
    residual: float


def strobe(p: Pendulum, y: Array, periods: int = 1) -> tuple[Array, Array]:
    """P^n(y) and its derivative (d, d)."""
    size = len(y)
    rates = _rod(p) if p.k is None else _spring(p)
    found = solve_ivp(rates, (0.0, periods * p.cycle), np.concatenate((y, np.eye(size).ravel())), "DOP853", rtol=TIGHT,
                      atol=1e-13, max_step=0.05 * p.cycle)  # fmt: skip
    end = found.y[:, -1]
    return end[:size], end[size:].reshape(size, size)


def find_orbit(p: Pendulum, guess: Array, periods: int = 1, turns: int = 0) -> Orbit:
    """By Newton's method from a guess; ``turns``: times the rod goes round. RuntimeError: there is none nearby."""
    y = np.array(guess, float)
    round_trip = np.zeros(len(y))
    round_trip[0] = 2.0 * np.pi * turns
    for _ in range(MOST_STEPS):
        end, derivative = strobe(p, y, periods)
        off = end - round_trip - y
        residual = float(np.abs(off).max())
        if residual < SMALL:
            values = np.linalg.eigvals(derivative).astype(complex)
            return Orbit(y, values[np.argsort(-np.abs(values))], residual)
        y = y - np.linalg.solve(derivative - np.eye(len(y)), off)
    raise RuntimeError(f"no orbit near {guess}: residual {residual:.2g}")


def find_border(
    p: Pendulum, guess: Array, amplitudes: tuple[float, float], at: float, **more: int
) -> tuple[float, Orbit]:
    """The amplitude between two at which a multiplier of a motion is ``at`` (1 or -1), and the motion there."""
    last = np.array(guess, float)

    def test(amplitude: float) -> float:
        nonlocal last
        found = find_orbit(replace(p, amplitude=amplitude), last, **more)
        last = found.state
        return float(np.prod(found.multipliers - at).real)

    border = float(brentq(test, *amplitudes, xtol=1e-10))
    return border, find_orbit(replace(p, amplitude=border), last, **more)


def rest_multipliers(p: Pendulum, upright: bool = False) -> NDArray[np.complex128]:
    """(2,) of the state that hangs, or stands."""
    values = np.linalg.eigvals(_rest_map(p, upright)).astype(complex)
    return np.asarray(values[np.argsort(-np.abs(values))])


def rest_border(p: Pendulum, at: float, low: float, high: float, upright: bool = False, step: float = 0.05) -> float:
    """The first amplitude from ``low`` on at which a multiplier of that state passes ``at`` (1 or -1)."""

    def test(amplitude: float) -> float:
        mapped = _rest_map(replace(p, amplitude=amplitude), upright)
        return float(np.linalg.det(mapped - at * np.eye(2)))

    grid = np.arange(low, high + 0.5 * step, step)
    values = [test(a) for a in grid]
    for first, value, second, after in zip(grid, values, grid[1:], values[1:], strict=False):
        if value * after <= 0.0:
            return float(brentq(test, first, second, xtol=1e-12))
    raise ValueError(f"no border at {at:g} between {low:g} and {high:g}")


def _rest_map(p: Pendulum, upright: bool) -> Array:
    return strobe(p, np.array([np.pi if upright else 0.0, 0.0]))[1]


def _rod(p: Pendulum) -> Callable[[float, Array], Array]:
    drag = p.beta / p.mass

    def rates(t: float, y: Array) -> Array:
        _, speed, push = p.support(t)
        turn = (p.gravity + push + drag * speed) / p.length
        jacobian = np.array([[0.0, 1.0], [-turn * np.cos(y[0]), -drag]])
        own = [y[1], -turn * np.sin(y[0]) - drag * y[1]]
        return np.concatenate((own, (jacobian @ y[2:].reshape(2, 2)).ravel()))

    return rates


def _spring(p: Pendulum) -> Callable[[float, Array], Array]:
    """The force N(l) r/l has the derivative N' e e' + N/l (1 - e e'); its corner at N = 0 is no jump of the flow."""
    assert p.k is not None
    k, k2, drag = p.k, p.k if p.k2 is None else p.k2, p.beta / p.mass
    natural, own = p.length - p.mass * p.gravity / p.k, spring_rates(p)

    def rates(t: float, y: Array) -> Array:
        r = np.array([y[0], y[1] - p.support(t)[0]])
        size = float(np.hypot(*r))
        e, kappa = np.outer(r, r) / size**2, k if size > natural else k2
        stiffness = kappa * e + kappa * (1.0 - natural / size) * (np.eye(2) - e)
        jacobian = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness / p.mass, -drag * np.eye(2)]])
        return np.concatenate((own(t, y[:4]), (jacobian @ y[4:].reshape(4, 4)).ravel()))

    return rates
