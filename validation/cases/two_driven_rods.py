"""Floquet multipliers of two rods of unequal masses below a support that moves sideways."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import driven_links

NAME = "two_driven_rods"
TITLE = "two rods below a support that moves sideways: Floquet multipliers of the periodic motion"
SOURCE = (
    "Deck inputs/two_driven_rods.inp, fem.orbits. Lagrange's equations in the angles, their variational equations by "
    "DOP853 to 1e-13 (references/driven_links.py)."
)
LONG = False
WAYS = (0.08, 0.35)
"""Of the support [m]: the lower rod swings by 16 and by 58 degrees."""
INCREMENTS = (400, 800, 1600)
LENGTHS, MASSES, OMEGA, ALPHA = np.array([1.0, 0.7]), np.array([1.0, 0.6]), 3.1, 0.4


def run(folder: Path) -> Outcome:
    """Multipliers, extrapolated to increments of no size."""
    return Outcome(tuple(row for way in WAYS for row in rows(way)))


def rows(way: float) -> list[Row]:
    """Of one way of the support."""
    levels = [found(way, count) for count in INCREMENTS]
    start, values = (extrapolated([level[n] for level in levels]) for n in range(2))
    links = driven_links.Driven(LENGTHS, MASSES, way, OMEGA, ALPHA)
    state, exact = driven_links.orbit(links, start)
    text, source = f"X = {way:g} m", "ODE: variational equations by DOP853 (references/driven_links.py)"
    return [
        Row(Target(f"{text}: angles and rates once a period", 0.0, "absolute", source, 5e-9),
            float(np.abs(start - state).max())),
        Row(Target(f"{text}: Floquet multipliers", 0.0, "absolute", source, 1e-7),
            float(np.abs(sorted_ones(values) - sorted_ones(exact)).max())),
    ]  # fmt: skip


def found(way: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles and rates (4,) once a period, and the multipliers (4,), of so many increments in it."""
    orbit = fem.orbits(tools.deck("two_driven_rods", {"X": way, "increments": float(count)})).orbits[0]
    mesh = orbit.slopes.strobe.model.mesh.coordinates
    links, rates = np.diff(mesh + orbit.state.u.reshape(-1, 3), axis=0), np.diff(orbit.state.v.reshape(-1, 3), axis=0)
    theta = np.arctan2(links[:, 0], -links[:, 2])
    rate = (rates[:, 0] * np.cos(theta) + rates[:, 2] * np.sin(theta)) / LENGTHS
    return np.concatenate((theta, rate)), sorted_ones(orbit.multipliers)


def extrapolated(values: list[np.ndarray]) -> np.ndarray:
    """To none, of three with halved increments: errors of dt^2 and, from the projections of velocities, dt^3."""
    for order in (2, 3):
        values = [(2.0**order * fine - coarse) / (2.0**order - 1.0) for coarse, fine in pairwise(values)]
    return values[0]


def sorted_ones(multipliers: np.ndarray) -> np.ndarray:
    """By their real parts, then by their imaginary ones."""
    return multipliers[np.lexsort((multipliers.imag, np.round(multipliers.real, 9)))]
