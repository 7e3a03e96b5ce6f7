"""Pendulums of N links as runs and as references: what the cases with rods share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.lines.pendulums import Pendulum
from validation import tools
from validation.references import links

Array = tools.Array


def reference(described: Pendulum) -> links.Chain:
    """The same pendulum in its angles."""
    theta, omega = (
        np.radians(values if described.absolute else np.cumsum(values))
        for values in (described.angles, described.speeds or np.zeros(described.links))
    )
    lengths, masses = np.array(described.lengths, float), np.array(described.masses, float)
    return links.Chain(lengths, masses, theta, omega, described.body == "point", described.gravity)


def in_plane(history: Any, field: str) -> Array:
    """(k, N+1, 2) x and z of a nodal field; ``x``: positions."""
    if field == "x":
        values = history.mesh.coordinates + history.u.reshape(len(history.time), -1, 3)
    else:
        values = getattr(history, field).reshape(len(history.time), -1, 3)
    return np.asarray(values[..., [0, 2]])


def speeds(history: Any) -> Array:
    """(k, N) angular speeds of the links [rad/s]: d x v / l^2."""
    d, w = (np.diff(in_plane(history, field), axis=1) for field in ("x", "v"))
    return np.asarray((d[..., 0] * w[..., 1] - d[..., 1] * w[..., 0]) / (d**2).sum(-1))


def neighbours(values: Array) -> Array:
    """(k - 1, ...) means of successive rows."""
    return np.asarray((values[1:] + values[:-1]) / 2)


def at_joints(values: Array) -> Array:
    """(k - 2, ...) at t_1 .. t_(k-2), the ends of increments, what belongs to their middle in rows 1.. of a history.

    A multiplier of ENERGY MOMENTUM belongs to the middle of its increment. After a start with speed it also alternates
    in sign by O(dt), because velocities satisfy the constraint at the middles and not at the start; the mean of two
    successive increments is free of that and of second order.
    """
    return neighbours(values[1:])


def joint_reactions(history: Any, described: Pendulum) -> Array:
    """(k - 2, N, 2) force on the upper end of each link at t_1 .. t_(k-2), from T and the accelerations.

    A bar between its joints carries T along itself, its share of weight and the inertia of its consistent mass:
    R = m (2 a_top + a_bottom)/6 + m g z/2 - T d/L0; a massless rod carries T alone. All in the middle of increments.
    """
    d = np.zeros((len(history.time), described.links, 2))
    d[1:] = np.diff(neighbours(in_plane(history, "x")), axis=1)
    reactions = -(history.elements[:, : described.links, 3] / np.array(described.lengths))[..., None] * d
    if described.body == "bar":
        mass, a = np.array(described.masses)[:, None], in_plane(history, "a")
        reactions += mass * ((2 * a[:, :-1] + a[:, 1:]) / 6 + np.array([0.0, described.gravity / 2]))
    return at_joints(reactions)


def stretch(history: Any, described: Pendulum) -> Array:
    """(k, N) |l - L0| of the links."""
    return np.abs(np.linalg.norm(np.diff(in_plane(history, "x"), axis=1), axis=-1) - np.array(described.lengths))


def pull(history: Any) -> Array:
    """(k, N) |d . (v_bottom - v_top)| / l: the rate of stretch [m/s], which a rod allows none of."""
    d, w = (np.diff(in_plane(history, field), axis=1) for field in ("x", "v"))
    return np.asarray(np.abs((d * w).sum(-1)) / np.linalg.norm(d, axis=-1))
