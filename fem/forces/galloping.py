"""Drag and lift as functions of the angle of attack: galloping of iced conductors.

A bar of direction t in the relative wind v; n = v - (v.t) t across it, s = |n|, e upwards. With side = 1 or -1, so that
the mean wind has A > 0, the angle of the wind against the level is atan2(B, A),

    A = side v.(t x e),   B = (v - (v.t) t).e,   alpha = atan2(B, A) + angle of the ice
    q = k s (C_D(alpha) n + C_L(alpha) m),   m = - side t x v

Lift is positive upwards in a level wind; alpha is positive for an upward wind. C_D and C_L are linear between the rows
of a table, with a period of 360 degrees. The bar does not twist: the angle of its ice is fixed.

Derivatives by v and by t, with [x] y = x x y (t changes with the positions of the nodes by P/l, P = I - t t^T):

    dq/dv = k ((C_D n + C_L m) n^T/s + s (C_D P - side C_L [t])) + k s (C_D' n + C_L' m) (A dB - B dA)^T/(A^2 + B^2)
    dq/dt = k (-(v.t) (C_D n + C_L m) n^T/s - s (C_D ((v.t) I + t v^T) - side C_L [v])) + the same with dA, dB by t
    dA/dv = side t x e,  dB/dv = e - t_e t,  dA/dt = side e x v,  dB/dt = - t_e v - (v.t) e

Source: Den Hartog, Mechanical Vibrations (1956), 7.5: it is unstable where C_D + dC_L/dalpha < 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Floats, Vector
from fem.compiled import inner_kernel
from fem.compiled.lanes import every, some, where
from fem.forces.protocol import blend, cross, dot

TURN = 2.0 * math.pi


class Iced(NamedTuple):
    """The force per length q at a point, and quantities for its derivatives: pull = C_D n + C_L m, change = C_D' n +
    C_L' m, by_v and by_t: derivatives of alpha."""

    t: Vector
    v: Vector
    n: Vector
    q: Vector
    pull: Vector
    change: Vector
    by_v: Vector
    by_t: Vector
    slip: float
    s: float
    factor: float
    drag: float
    lift: float


@inner_kernel
def coefficients(angle: float, laws: Floats, first: int, count: int) -> tuple[float, float, float, float]:
    """C_D, C_L and their slopes; angles of the rows in radians, rising within a turn."""
    start, last = laws[first, 0], first + count - 1
    way = angle - start
    angle = start + way - TURN * math.floor(way / TURN)
    k = first
    while k < last and every(laws[k + 1, 0] <= angle):
        k += 1
    drag, lift, steep, lean = between(k, angle, laws, first, last)
    while k < last and some(laws[k + 1, 0] <= angle):
        k += 1
        is_past = laws[k, 0] <= angle
        more, up, rise, tilt = between(k, angle, laws, first, last)
        drag, lift = where(is_past, more, drag), where(is_past, up, lift)
        steep, lean = where(is_past, rise, steep), where(is_past, tilt, lean)
    return drag, lift, steep, lean


@inner_kernel
def between(k: int, angle: float, laws: Floats, first: int, last: int) -> tuple[float, float, float, float]:
    """``coefficients`` by row k and the next one, of the last row the first one a turn later."""
    after, width = (k + 1, laws[k + 1, 0] - laws[k, 0]) if k < last else (first, TURN + laws[first, 0] - laws[last, 0])
    steep, lean = (laws[after, 1] - laws[k, 1]) / width, (laws[after, 2] - laws[k, 2]) / width
    past = angle - laws[k, 0]
    return laws[k, 1] + steep * past, laws[k, 2] + lean * past, steep, lean


@inner_kernel
def turned(x: Vector, a: int, b: int) -> float:
    """Entry a, b of [x]."""
    if a == b:
        return 0.0
    return x[3 - a - b] if (a - b + 3) % 3 == 1 else -x[3 - a - b]


@inner_kernel
def iced(
    t: Vector, v: Vector, side: float, angle: float, factor: float, up: int, laws: Floats, first: int, count: int
) -> Iced:
    """Force at a point; zero without wind across the bar, or for a vertical bar."""
    e = (1.0 if up == 0 else 0.0, 1.0 if up == 1 else 0.0, 1.0 if up == 2 else 0.0)
    slip, level = dot(v, t), cross(t, e)
    n, m = blend(1.0, v, -slip, t), blend(-side, cross(t, v), 0.0, v)
    s, a, b = math.sqrt(dot(n, n)), side * dot(v, level), dot(n, e)
    size = a * a + b * b
    acts, zero = size != 0.0, 0.0 * slip
    if not some(acts):
        none = (zero, zero, zero)
        return Iced(t, v, n, none, none, none, none, none, slip, zero + 1.0, zero, zero, zero)
    size, s, factor = where(acts, size, 1.0), where(acts, s, 1.0), where(acts, factor, 0.0)
    drag, lift, steep, lean = coefficients(math.atan2(b, a) + angle, laws, first, count)
    pull, change = blend(drag, n, lift, m), blend(steep, n, lean, m)
    by_v = blend(a / size, blend(1.0, e, -t[up], t), -b * side / size, level)
    by_t = blend(a / size, blend(-t[up], v, -slip, e), -b * side / size, cross(e, v))
    q = blend(factor * s, pull, 0.0, pull)
    return Iced(t, v, n, q, pull, change, by_v, by_t, slip, s, factor, drag, side * lift)


@inner_kernel
def by_speed(a: int, b: int, point: Iced) -> float:
    """Entry of dq/dv."""
    t, s = point.t, point.s
    across = (1.0 if a == b else 0.0) - t[a] * t[b]
    whole = point.pull[a] * point.n[b] / s + s * (point.drag * across - point.lift * turned(t, a, b))
    return point.factor * (whole + s * point.change[a] * point.by_v[b])


@inner_kernel
def by_direction(a: int, b: int, point: Iced) -> float:
    """Entry of dq/dt."""
    t, v, s = point.t, point.v, point.s
    turn = point.drag * ((point.slip if a == b else 0.0) + t[a] * v[b]) - point.lift * turned(v, a, b)
    whole = -point.slip * point.pull[a] * point.n[b] / s - s * turn
    return point.factor * (whole + s * point.change[a] * point.by_t[b])
