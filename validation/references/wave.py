"""Axial waves in a uniform bar, fixed at x = 0, pulled at x = L by a force F from t = 0 on (linear elasticity).

d'Alembert: a step of particle velocity F c/(E A) runs from the end with speed c = sqrt(E/rho); it comes back from the
fixed end with the sign turned, from the free end with the same sign. Summing images gives a finite sum at every time:
  u(x, t) = F/(E A) sum_j (-1)^j { <c t - (2j + 1) L + x>  -  <c t - (2j + 1) L - x> },   <s> = max(s, 0).
Source: Graff, Wave Motion in Elastic Solids, section 2.3; Timoshenko-Goodier, Theory of Elasticity, section 168.
``characteristics`` is the same by marching along x +- ct = const, exact on its grid: it checks the sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def displacement(x: float, time: float, length: float, axial_stiffness: float, speed: float, force: float) -> float:
    """u(x, t) [m]; ``axial_stiffness`` = E A [N]."""
    total, front = 0.0, speed * time
    for j in range(int(front / length) + 2):
        sign = (-1) ** j
        total += sign * (max(front - (2 * j + 1) * length + x, 0.0) - max(front - (2 * j + 1) * length - x, 0.0))
    return force / axial_stiffness * total


def wall_force(time: float, length: float, speed: float, force: float) -> float:
    """Force the wall feels: 0, then 2F, 0, 2F... ([E A du/dx] at x = 0)."""
    passages = int(np.floor((speed * time / length + 1) / 2))
    return 2 * force if passages % 2 else 0.0


def characteristics(
    cells: int, steps: int, length: float, axial_stiffness: float, speed: float, force: float
) -> tuple[Array, Array]:
    """End displacement by the method of characteristics on a grid with dt = h/c.

    Along dx = +-c dt:  d(sigma) -+ rho c d(v) = 0, with n = N/(E A), w = v/c:  n + w and n - w are carried.
    Returns the times (steps+1,) and u(L) there.
    """
    dt = length / cells / speed
    n, w = np.zeros(cells + 1), np.zeros(cells + 1)
    n[-1] = force / axial_stiffness
    w[-1] = n[-1]  # the step of force starts a step of velocity
    u, end = 0.0, [0.0]
    for _ in range(steps):
        before = w[-1]
        left, right = n[1:] + w[1:], n[:-1] - w[:-1]  # values of the two invariants that arrive
        n_new, w_new = np.empty_like(n), np.empty_like(w)
        n_new[1:-1] = (left[1:] + right[:-1]) / 2
        w_new[1:-1] = (left[1:] - right[:-1]) / 2
        n_new[0], w_new[0] = left[0], 0.0
        n_new[-1] = force / axial_stiffness
        w_new[-1] = n_new[-1] - right[-1]
        n, w = n_new, w_new
        # The end velocity jumps only when a front arrives, at a node: the value before holds over the step.
        u += speed * dt * before
        end.append(u)
    return dt * np.arange(steps + 1), np.array(end)
