"""Closed forms of structures of bars and cables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# A node between (0, 0), (4, 0) and (1, 3), pulled with equal forces: Fermat's point, angles of 120 degrees.
FERMAT = (1.302169479252, 1.046745781122)


def two_bars(height: float, half: float, stiffness: float, strain: str) -> float:
    """Linear buckling load of two bars without preload: 2 EA h^3/(b^2 L), GREEN 2 EA h^3/L^3."""
    length = float(np.hypot(height, half))
    return 2.0 * stiffness * height**3 / (half**2 * length if strain == "ENGINEERING" else length**3)


def limit_of_two_bars(height: float, half: float, stiffness: float) -> float:
    """Load at which two bars snap through (von Mises), GREEN: 2 EA h^3/(3 sqrt(3) L^3)."""
    return two_bars(height, half, stiffness, "GREEN") / (3.0 * 3.0**0.5)


def parabola(span: float, parts: int, density: float, load: float) -> NDArray[np.float64]:
    """z of the inner nodes of a chain of equal force densities q with equal loads P: -P k (n - k)/(2 q)."""
    k = np.arange(1, parts)
    return np.asarray(-load * k * (parts - k) / (2.0 * density))


def twist_stiffness(density: float) -> float:
    """K_G of the mechanism of a prism of three struts, radius 1, per unit length of all displacements together.

    In the twist all six nodes turn about the axis, those above against those below, and rise to keep the lengths.
    Force densities q of the triangles, sqrt(3) q across, -sqrt(3) q in the struts.
    """
    angle = 2.0 * np.pi * np.arange(3) / 3.0
    low = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    high = np.column_stack([np.cos(angle + np.radians(150.0)), np.sin(angle + np.radians(150.0)), 0.0 * angle + 1.5])
    x = np.concatenate([low, high])
    i = np.arange(3)
    bars = [(i, (i + 1) % 3), (3 + i, 3 + (i + 1) % 3), (i, 3 + (i - 1) % 3), (i, 3 + i)]
    ends = np.concatenate([np.column_stack(each) for each in bars])
    q = density * np.repeat([1.0, 1.0, 3.0**0.5, -(3.0**0.5)], 3)
    way = x[ends[:, 0]] - x[ends[:, 1]]
    elongations = np.zeros((12, 18))
    for k, (a, b) in enumerate(ends):
        elongations[k, 3 * a : 3 * a + 3], elongations[k, 3 * b : 3 * b + 3] = way[k], -way[k]
    rigid = [np.tile(axis, 6) for axis in np.eye(3)] + [np.cross(axis, x).ravel() for axis in np.eye(3)]
    _, values, right = np.linalg.svd(np.vstack([elongations, rigid]))
    u = right[-1].reshape(6, 3)
    assert values[-1] < 1e-9
    return float((q * ((u[ends[:, 0]] - u[ends[:, 1]]) ** 2).sum(axis=1)).sum())
