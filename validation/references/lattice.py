"""A row of equal masses on equal springs, by its modes: what a bar model of a linear line does, with no error of time.

Masses m at all nodes but the free end, which has m/2; the other end is held. Stretched by T and let go at the free end,
u'' = - K u/M - (T/m_end) at the end: each mode swings about where it would rest.
Source: Brillouin, Wave Propagation in Periodic Structures, ch. 1; eigenvectors by LAPACK.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

Array = NDArray[np.float64]


def recoil(bars: int, stiffness: float, mass: float, tension: float, times: Array) -> Array:
    """(k, bars) displacements of the nodes from the held end on, after a line of ``bars`` springs is let go.

    stiffness, mass: of one bar
    """
    masses = np.full(bars, mass)
    masses[-1] = 0.5 * mass
    diagonal = np.full(bars, 2.0 * stiffness)
    diagonal[-1] = stiffness
    root = np.sqrt(masses)
    squares, shapes = eigh_tridiagonal(diagonal / masses, -stiffness / (root[1:] * root[:-1]))
    share = -tension * shapes[-1] / root[-1]
    swings = share / squares * (1.0 - np.cos(np.sqrt(squares) * times[:, None]))
    return np.asarray(swings @ shapes.T / root)
