"""Periodic motions of the rod whose support moves up and down: state, multipliers, borders of hanging and standing.

The stroboscopic map of the program comes from its runs of a period, extrapolated to increments of no size: the error is
of dt^2 and, as velocities are projected onto the rod at the end of every increment, of dt^3 and so on.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

import fem
from fem.study.validation import Row, Target
from validation import tools
from validation.references import forced_orbits
from validation.references.string_pendulum import Pendulum

INCREMENTS = np.array([400, 800, 1600])
SHARP = 1e-12
"""Of residuals: orbits are compared to 1e-8."""
ASIDE = 1e-4
FLOQUET = "ODE: variational equations by DOP853, eigenvalues (references/forced_orbits.py)"
MOTIONS = {
    "swing, A = 4": (Pendulum(4.0, 0.01), (0.05, 1.381), 1),
    "two periods, A = 8.35": (Pendulum(8.35, 0.01), (3.077, 2.18), 2),
}
TOY = Pendulum(0.005, 0.002, length=0.1, mass=0.02, gravity=9.81, omega=2.0 * np.pi * 50.0)
"""Of a desk: 10 cm, 20 g, 50 shakes a second."""


def mapped(p: Pendulum, y: np.ndarray, periods: int = 1, finer: int = 1) -> np.ndarray:
    """Angle and rate (2,) after periods of the drive, from those at the start."""
    found = []
    for count in finer * INCREMENTS:
        numbers = {"A": p.amplitude, "beta": p.beta, "L": p.length, "m": p.mass, "g": p.gravity, "omega": p.drive,
                   "theta0": y[0], "rate0": y[1], "periods": periods, "increments": count}  # fmt: skip
        history = fem.run(tools.with_controls(tools.deck("string_pendulum_rigid", numbers), residual_relative=SHARP))
        span = (history.positions(2) - history.positions(1))[:, [0, 2]]
        speed = (history.of_node(2, "v") - history.of_node(1, "v"))[-1, [0, 2]]
        theta = np.unwrap(np.arctan2(span[:, 0], -span[:, 1]))
        turns = np.round((y[0] - theta[0]) / (2.0 * np.pi))
        rate = (speed[0] * np.cos(theta[-1]) + speed[1] * np.sin(theta[-1])) / p.length
        found.append(np.array([theta[-1] + 2.0 * np.pi * turns, rate]))
    return _extrapolated(found)


def _extrapolated(found: list[np.ndarray]) -> np.ndarray:
    """To none, of results with steps halved each time and errors of the second, third... order in them."""
    for order in range(2, len(found) + 1):
        found = [(2.0**order * b - a) / (2.0**order - 1.0) for a, b in pairwise(found)]
    return found[0]


def derivative(p: Pendulum, y: np.ndarray, periods: int = 1) -> np.ndarray:
    """(2, 2) of that map, by central differences of two lengths, extrapolated to none."""
    columns = []
    for direction in np.eye(2):
        slopes = []
        for step in (2.0 * ASIDE, ASIDE):
            ends = [mapped(p, y + sign * step * direction, periods) for sign in (1.0, -1.0)]
            slopes.append((ends[0] - ends[1]) / (2.0 * step))
        columns.append(_extrapolated(slopes))
    return np.column_stack(columns)


def rows() -> list[Row]:
    """All of it."""
    return [*orbits(), *borders()]


def orbits() -> list[Row]:
    """By Newton's method on the program's map, and on the reference's."""
    found = []
    for name, (p, guess, periods) in MOTIONS.items():
        exact = forced_orbits.find_orbit(p, np.array(guess), periods)
        y = exact.state + [1e-4, -1e-4]
        slope = derivative(p, y, periods)
        for _ in range(3):  # Newton, by the slope of the first step: the start is 1e-4 away
            y = y - np.linalg.solve(slope - np.eye(2), mapped(p, y, periods, finer=4) - y)
        values = np.linalg.eigvals(derivative(p, y, periods)).astype(complex)
        miss = min(np.abs(np.sort_complex(each) - np.sort_complex(exact.multipliers)).max()
                   for each in (values, values.conj()))  # fmt: skip
        found += [
            Row(Target(f"{name}: angle and rate once a period", 0.0, "absolute", FLOQUET, 1e-8),
                float(np.abs(y - exact.state).max())),
            Row(Target(f"{name}: multipliers", 0.0, "absolute", FLOQUET, 1e-5), float(miss)),
        ]  # fmt: skip
    return found


def borders() -> list[Row]:
    """Where the rod no longer hangs still, and where it stands."""
    hanging = Pendulum(1.0, 0.1)
    found = []
    for name, p, low, high, step, upright in (
        ("hanging, L = 5 m, beta = 0.1: A of the border [m]", hanging, 4.0, 5.0, 0.05, False),
        ("hanging, L = 5 m, beta = 0.01: A of the border [m]", Pendulum(1.0, 0.01), 4.0, 5.0, 0.05, False),
        ("standing, desk toy of 10 cm at 50 Hz: A from which on [m]", TOY, 0.003, 0.006, 0.0002, True),
    ):
        exact = forced_orbits.rest_border(p, 1.0, low, high, upright, step)
        state = np.array([np.pi if upright else 0.0, 0.0])

        def test(amplitude: float, p: Pendulum = p, state: np.ndarray = state) -> float:
            return float(np.linalg.det(derivative(replace(p, amplitude=amplitude), state) - np.eye(2)))

        value = brentq(test, 0.97 * exact, 1.03 * exact, xtol=1e-7)
        found.append(
            Row(Target(name, exact, "absolute", f"{FLOQUET}; Mathieu's tongue", 1e-4 * min(1.0, exact)), value)
        )
    simple = float(np.sqrt(2.0 * TOY.gravity * TOY.length) / TOY.drive)
    text = "published: Kapitza, A omega = sqrt(2 g L) for fast drives; here omega = 32 sqrt(g/L)"
    found.append(Row(Target("standing, desk toy: that A [m]", simple, "relative", text, 0.01), found[-1].computed))
    return found
