"""Directions of the legs of a line, the angle between them, and blocks of tangents that follow from both."""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Vector
from fem.compiled import called_kernel, inner_kernel
from fem.forces.protocol import Tangent, Trial, component
from fem.forces.reeving.lines import Leg, Lines, leg_of

STRAIGHT = 1e-12
"""Sine of an angle whose direction of growth is unknown."""
NONE: Vector = (0.0, 0.0, 0.0)


class Way(NamedTuple):
    """Of a leg: n at the end of the increment, the direction m its force has, dm/du = h (I - m n^T), and h of dm/du
    times T, which a starting tension stiffens; dphi/du of its end.
    """

    n: Vector
    m: Vector
    each: float
    turn: Vector


@inner_kernel
def angle_of(one: Leg, other: Leg) -> tuple[float, Vector, Vector]:
    """phi, and its derivatives by the places of both ends."""
    a, b = one.d, other.d
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    size = one.length * other.length
    sine, cosine = math.sqrt(x * x + y * y + z * z) / size, (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / size
    phi = math.atan2(sine, -cosine)
    if sine < STRAIGHT:
        return phi, NONE, NONE
    p, q = 1.0 / (sine * one.length), 1.0 / (sine * other.length)
    c, l1, l2 = cosine, one.length, other.length
    first = p * (b[0] / l2 - c * a[0] / l1), p * (b[1] / l2 - c * a[1] / l1), p * (b[2] / l2 - c * a[2] / l1)
    second = q * (a[0] / l1 - c * b[0] / l2), q * (a[1] / l1 - c * b[1] / l2), q * (a[2] / l1 - c * b[2] / l2)
    return phi, first, second


@inner_kernel
def way_of(k: int, number: int, leg: Leg, turn: Vector, trial: Trial, own: Lines) -> Way:
    """Directions of a leg."""
    d, inverse = leg.d, 1.0 / leg.length
    n = d[0] * inverse, d[1] * inverse, d[2] * inverse
    if not trial.secant:
        return Way(n, n, inverse, turn)
    start = leg_of(k, number, trial.u0, own)
    o, each = start.d, 1.0 / (leg.length + start.length)
    return Way(n, ((o[0] + d[0]) * each, (o[1] + d[1]) * each, (o[2] + d[2]) * each), each, turn)


@inner_kernel
def slope_of(by: float, angle: float, way: Way) -> Vector:
    """Derivative by the place of the end of a leg of what depends on its length and on phi."""
    n, turn = way.n, way.turn
    return by * n[0] + angle * turn[0], by * n[1] + angle * turn[1], by * n[2] + angle * turn[2]


@called_kernel
def spread(
    k: int, at: int, weight: float, along: Vector, first: Vector, second: Vector, own: Lines, tangent: Tangent
) -> None:
    """Derivative of a force on node ``at``, along a direction, that depends on the places of the ends relative to the
    pulley: first, second.
    """
    for a in range(3):
        for b in range(3):
            value, c = weight * component(along, a), 3 * a + b
            add_entry(k, at, 0, c, value * component(first, b), own, tangent)
            add_entry(k, at, 1, c, -value * (component(first, b) + component(second, b)), own, tangent)
            if own.nodes[k, 2] >= 0:
                add_entry(k, at, 2, c, value * component(second, b), own, tangent)


@inner_kernel
def add_entry(k: int, at: int, by: int, c: int, value: float, own: Lines, tangent: Tangent) -> None:
    """Entry c of the block of nodes ``at`` and ``by`` (0, 1 the pulley, 2) of a line."""
    if at == by:
        tangent.block[own.nodes[k, at], c] += value
        return
    pair = own.pairs[k] + (2 if at + by == 2 else max(at, by) - 1)
    tangent.cross[pair, c if at < by else 9 + c] += value
