"""Spans between dead ends and suspension strings, of which one loses its ice: masses on springs, DOP853.

Masses at the nodes of the plane, half of each bar's mass and ice at its ends; a bar pulls by EA (l/L0 - 1), a bar of
wire never pushes. The start is the equilibrium with all ice, the least energy; then some of the ice is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Line:
    """places (n, 2) at first: x, z;  ends (m, 2);  length0, stiffness EA (m,);  is_wire (m,);  free (n,)"""

    places: Array
    ends: NDArray[np.int64]
    length0: Array
    stiffness: Array
    is_wire: NDArray[np.bool_]
    free: NDArray[np.bool_]

    def lumped(self, per_length: Array) -> Array:
        """(n,) masses of nodes, from those of bars (m,) per natural length."""
        half = 0.5 * per_length * self.length0
        return np.bincount(self.ends.ravel(), np.repeat(half, 2), len(self.places))

    def tensions(self, places: Array) -> tuple[Array, Array, Array]:
        """Forces (m,) of bars, their directions (m, 2), their lengths (m,)."""
        way = places[self.ends[:, 1]] - places[self.ends[:, 0]]
        length = np.sqrt((way * way).sum(axis=1))
        force = self.stiffness * (length / self.length0 - 1.0)
        return np.where(self.is_wire & (force < 0.0), 0.0, force), way / length[:, None], length

    def pull(self, places: Array) -> Array:
        """(n, 2) forces of bars on nodes."""
        force, way, _ = self.tensions(places)
        vectors = force[:, None] * way
        n = len(places)
        found = [np.bincount(self.ends[:, 0], vectors[:, a], n) - np.bincount(self.ends[:, 1], vectors[:, a], n)
                 for a in range(2)]  # fmt: skip
        return np.column_stack(found)


def spans(bars: int, span: float, length: float, string: float, wire: float, insulators: float) -> Line:
    """Three level spans of ``bars`` bars; ``string`` is the length of both strings; wire, insulators: EA."""
    n = 3 * bars + 1
    x = np.linspace(-1.5 * span, 1.5 * span, n)
    part = np.abs((x + 1.5 * span) % span) / span
    sag = np.sqrt(3.0 / 8.0 * span * (length - span))
    z = -4.0 * sag * part * (1.0 - part)
    clamps = np.array([bars, 2 * bars])
    places = np.vstack([np.column_stack([x, z]), np.column_stack([x[clamps], np.full(2, string)])])
    ends = np.vstack([np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.column_stack([clamps, [n, n + 1]])])
    is_wire = np.arange(len(ends)) < n - 1
    free = np.ones(n + 2, np.bool_)
    free[[0, n - 1, n, n + 1]] = False
    stiffness = np.where(is_wire, wire, insulators)
    return Line(places, ends, np.where(is_wire, length / bars, string), stiffness, is_wire, free)


def rest(line: Line, weight: Array) -> Array:
    """(n, 2) where the energy of the line under weights (n,) is least."""
    dofs = np.repeat(line.free, 2)
    load = np.column_stack([np.zeros_like(weight), weight])

    def at(free: Array) -> Array:
        places = line.places.copy()
        places.reshape(-1)[dofs] = free
        return places

    def energy(free: Array) -> float:
        force, _, _ = line.tensions(at(free))
        return float(0.5 * (force * force * line.length0 / line.stiffness).sum() + (load * at(free)).sum())

    found = minimize(
        energy,
        line.places.ravel()[dofs],
        method="trust-exact",
        jac=lambda free: (load - line.pull(at(free))).ravel()[dofs],
        hess=lambda free: tangent(line, at(free))[np.ix_(dofs, dofs)],
        options={"gtol": 1e-6, "maxiter": 500},
    )
    return at(found.x)


def tangent(line: Line, places: Array) -> Array:
    """(2n, 2n) stiffness."""
    force, way, length = line.tensions(places)
    found = np.zeros((places.size, places.size))
    for (i, j), tension, t, l0, l1, ea in zip(line.ends, force, way, line.length0, length, line.stiffness, strict=True):
        block = ea / l0 * np.outer(t, t) + max(tension, 0.0) / l1 * (np.eye(2) - np.outer(t, t))
        for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
            found[2 * a : 2 * a + 2, 2 * b : 2 * b + 2] += sign * block
    return found


def motion(line: Line, start: Array, mass: Array, gravity: float, times: Array) -> Array:
    """(k, n, 2) places at ``times``, from rest at ``start``; nothing damps."""
    shape, inverse = start.shape, np.where(line.free, 1.0 / mass, 0.0)[:, None]
    fall = np.where(line.free[:, None], np.array([0.0, -gravity]), 0.0)

    def rate(time: float, y: Array) -> Array:
        half = len(y) // 2
        return np.concatenate([y[half:], (line.pull(y[:half].reshape(shape)) * inverse + fall).ravel()])

    y = np.concatenate([start.ravel(), np.zeros(start.size)])
    found = solve_ivp(rate, (0.0, times[-1]), y, "DOP853", times, rtol=1e-7, atol=1e-8)
    return np.asarray(found.y[: start.size].T.reshape(-1, *shape))
