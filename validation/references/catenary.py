"""Cables hung between two supports at the same level, under their own weight.

``inextensible``: z = (H/w) (cosh(w x/H) - 1), the length fixes H: sinh(q)/q = length/span, q = w span/(2 H).
``elastic``: Irvine, Cable Structures (MIT Press 1981), section 1.4, for a force proportional to the *engineering*
strain. W = w L0 is the weight, V = W/2, s the unstretched arc, with a free strain e_0 (heating, weight unchanged):
  x(s) = H s/(E A) + (1 + e_0) (H L0/W) [asinh(V/H) - asinh((V - W s/L0)/H)]
  z(s) = (W s/(E A)) (V/W - s/(2 L0)) + (1 + e_0) (H L0/W) [sqrt(1 + (V/H)^2) - sqrt(1 + ((V - W s/L0)/H)^2)]
z is measured downwards from the supports; H follows from x(L0) = span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]
TOLERANCE = 4 * np.finfo(float).eps


@dataclass(frozen=True, slots=True)
class Cable:
    """A hanging cable: horizontal force H [N], sag at mid-span [m], and what it takes to draw it."""

    horizontal_force: float
    sag: float
    end_tension: float


def inextensible(span: float, length: float, weight_per_length: float) -> Cable:
    """A chain longer than its span."""
    ratio = length / span
    if ratio <= 1:
        raise ValueError("an inextensible cable must be longer than its span")
    q = brentq(lambda q: np.sinh(q) / q - ratio, 1e-9, 2 + 2 * np.log(2 * ratio) + 5, xtol=1e-15, rtol=TOLERANCE)
    h = weight_per_length * span / (2 * q)
    sag = h / weight_per_length * (np.cosh(q) - 1)
    return Cable(float(h), float(sag), float(h * np.cosh(q)))


def elastic(span: float, length0: float, weight: float, axial_stiffness: float, free_strain: float = 0.0) -> Cable:
    """Irvine's elastic catenary; ``weight`` is that of the whole cable, ``axial_stiffness`` = E A."""

    def miss(log_h: float) -> float:
        return _x(np.exp(log_h), length0, length0, weight, axial_stiffness, free_strain) / span - 1

    low, high = np.log(weight * 1e-8), np.log(100 * (axial_stiffness + weight))
    h = float(np.exp(brentq(miss, low, high, xtol=1e-15, rtol=TOLERANCE)))
    sag = _z(h, length0 / 2, length0, weight, axial_stiffness, free_strain)
    return Cable(h, float(sag), float(np.hypot(h, weight / 2)))


def elastic_shape(
    cable: Cable, arcs: Array, length0: float, weight: float, axial_stiffness: float, free_strain: float = 0.0
) -> tuple[Array, Array]:
    """x and (downward) z of the points at unstretched arcs ``arcs`` from the left support."""
    values = (length0, weight, axial_stiffness, free_strain)
    return _x(cable.horizontal_force, arcs, *values), _z(cable.horizontal_force, arcs, *values)


def _x(h, s, length0, weight, axial_stiffness, free_strain):  # type: ignore[no-untyped-def]
    v = weight / 2
    swing = np.arcsinh(v / h) - np.arcsinh((v - weight * s / length0) / h)
    return h * s / axial_stiffness + (1 + free_strain) * h * length0 / weight * swing


def _z(h, s, length0, weight, axial_stiffness, free_strain):  # type: ignore[no-untyped-def]
    v = weight / 2
    drop = np.hypot(1, v / h) - np.hypot(1, (v - weight * s / length0) / h)
    stretch = weight * s / axial_stiffness * (v / weight - s / (2 * length0))
    return stretch + (1 + free_strain) * h * length0 / weight * drop
