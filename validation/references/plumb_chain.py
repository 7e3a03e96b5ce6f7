"""Frequencies of a plumb hanging chain of elastic links with their mass in the middle, and of the continuous chain.

Sideways a link that carries T_k over its stretched length l_k is a spring T_k/l_k between its ends, and its mass m
moves with their mean: K = D^T (T/l) D, M = C^T m C with D, C of two bands. The singular values of sqrt(m l/T) D^-T C^T
are 1/omega, largest first, and see nothing of the axial stiffness but l_k = h (1 + T_k/EA).
Source: elementary statics; continuum: D. Bernoulli 1732, omega = j_0k/2 sqrt(g/L) (Meirovitch, section 8.9).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import jn_zeros

Array = NDArray[np.float64]


def lattice(links: int, length: float, mass: float, axial_stiffness: float, gravity: float) -> Array:
    """All frequencies in one plane [1/s], rising; ``mass`` of the whole chain, half of a link's weight at each end."""
    h, m = length / links, mass / links
    tension = m * gravity * (links - np.arange(links) - 0.5)
    stretched = h * (1.0 + tension / axial_stiffness)
    difference = np.eye(links) - np.eye(links, k=-1)
    mean = 0.5 * (np.eye(links) + np.eye(links, k=-1))
    root = np.sqrt(m * stretched / tension)[:, None] * np.linalg.solve(difference.T, mean.T)
    return np.asarray(1.0 / (2.0 * np.pi * np.linalg.svd(root, compute_uv=False)))


def continuum(mode: int, length: float, gravity: float) -> float:
    """Frequency [1/s] of an inextensible continuous chain."""
    return float(jn_zeros(0, mode)[-1] / (4.0 * np.pi) * np.sqrt(gravity / length))
