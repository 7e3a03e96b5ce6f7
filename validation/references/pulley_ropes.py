"""Masses on a rope of constant length over a fixed pulley at the origin: equations of motion, by DOP853.

With the vectors r1, r2 from the pulley to the masses, l = |r|, n = r/l, and one tension T while the rope is taut:

    m_i a_i = m_i g - T n_i,    n1.a1 + n2.a2 = - sum of (v_i^2 - (n_i.v_i)^2)/l_i

Impact of a rope that becomes taut, l1' + l2' = s > 0 before: impulse J = (1 + e) s/(1/m1 + 1/m2) along n_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81


def tension(
    masses: tuple[float, float], places: Any, speeds: Any, free: tuple[Any, Any], gravity: float = GRAVITY
) -> tuple[float, Any]:
    """T, and the accelerations (2, 3); places, speeds (2, 3); free: masks (3,) of where each may move."""
    places, speeds, m = np.asarray(places, float), np.asarray(speeds, float), np.asarray(masses, float)
    length = np.linalg.norm(places, axis=1)
    n = places / length[:, None]
    along = (n * speeds).sum(axis=1)
    turning = float((((speeds**2).sum(axis=1) - along**2) / length).sum())
    weight = np.asarray(free, float) * np.array([0.0, 0.0, -gravity])
    moved = np.asarray(free, float) * n
    pull = (float((n * weight).sum()) + turning) / float(((moved * n).sum(axis=1) / m).sum())
    return pull, weight - pull * moved / m[:, None]


def taut_motion(
    masses: tuple[float, float], places: Any, speeds: Any, free: tuple[Any, Any], times: Any, gravity: float = GRAVITY
) -> tuple[Any, Any]:
    """(k, 2, 3) places and (k,) tensions at times, for a rope that stays taut."""

    def rate(t: float, y: Any) -> Any:
        place, speed = y.reshape(2, 2, 3)
        return np.concatenate([y[6:], tension(masses, place, speed, free, gravity)[1].ravel()])

    start = np.concatenate([np.ravel(places), np.ravel(speeds)]).astype(float)
    times = np.asarray(times, float)
    found = solve_ivp(rate, (0.0, float(times[-1])), start, "DOP853", t_eval=times, rtol=1e-11, atol=1e-12)
    states = found.y.T.reshape(-1, 2, 2, 3)
    pulls = np.array([tension(masses, place, speed, free, gravity)[0] for place, speed in states])
    return states[:, 0], pulls
