"""A polyester rope by a general integrator: the equations of the lagging quasi-static strain, written out.

T = Q(q) + K (e - q), K = a + b Q;  c (1 - Q'/K) q' = K (e - q); Q: the loading curve, below the largest q so far the
unloading curve shifted to it. Source: the sources of the case ``rope_laws``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

CONSTANT, SLOPE, VISCOSITY = 1.53e8, 23.12, 5e10
LOADING = np.array([0.0, 0.013, 0.0225, 0.033, 0.045]), np.array([0.0, 0.6e6, 1.4e6, 2.6e6, 4.3e6])
UNLOADING = np.array([0.0, 0.0055, 0.0305]), np.array([0.0, 0.6e6, 4.3e6])


def permanent(largest: float) -> float:
    """Strain that stays after the largest."""
    stress = np.interp(largest, *LOADING)
    return float(largest - np.interp(stress, UNLOADING[1], UNLOADING[0]))


def quasi_static_branch(largest: float) -> tuple[np.ndarray, np.ndarray]:
    """The way back from a strain."""
    strain = np.linspace(permanent(largest), largest, 100)
    return strain, np.interp(strain - permanent(largest), *UNLOADING)


def curve(q: float, largest: float) -> tuple[float, float]:
    """Quasi-static tension and slope."""
    (x, y), at = (LOADING, q) if q >= largest else (UNLOADING, q - permanent(largest))
    piece = int(np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2))
    if at < 0.0:
        return 0.0, 0.0
    slope = float((y[piece + 1] - y[piece]) / (x[piece + 1] - x[piece]))
    return float(y[piece] + slope * (at - x[piece])), slope


def tensions(path: tuple[tuple[float, float], ...], pieces: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Times and tensions along strains in straight pieces; in short intervals, each with the largest q before it."""
    times, strains = np.array(path).T
    q, largest = 0.0, 0.0
    time, found = [0.0], [0.0]
    for begin, end in pairwise(times):
        for first, last in pairwise(np.linspace(begin, end, pieces + 1)):

            def rate(now: float, y: np.ndarray, peak: float = largest) -> list[float]:
                tension, slope = curve(float(y[0]), peak)
                fast = CONSTANT + SLOPE * tension
                return [fast * (np.interp(now, times, strains) - y[0]) / (VISCOSITY * (1.0 - slope / fast))]

            q = float(solve_ivp(rate, (first, last), [q], method="DOP853", rtol=1e-8, atol=1e-11).y[0, -1])
            largest = max(largest, q)
            tension, _ = curve(q, largest)
            time.append(float(last))
            found.append(tension + (CONSTANT + SLOPE * tension) * (np.interp(last, times, strains) - q))
    return np.array(time), np.array(found)
