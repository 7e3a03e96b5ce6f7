"""Forces of a fluid on bars: drag by two Gauss points, buoyancy of what is not wholly wet; with their exact tangents.

A bar from node i to j, x = X + u, of direction t and length l, unstressed L0; shape functions N_i = 1 - xi, N_j = xi.
At a Gauss point, U being the velocity of the fluid (linear between the nodes, at their heights) and r = alpha_R,

    v = U - r x',   v_t = v.t,   n = v - v_t t,   s = |n|
    q = F/s n + k_t |v_t|^(h-1) v_t t,   F(s) = k_n s^2 or a table;   f_A = sum of w N_A q,   w = L0/2 (or l/2)

Inertia of water that accelerates by a is the same with v = a, F/s = rho pi D^2/4 C_M, h = 1 and k_t = rho pi D^2/4
(1 + C_At) or 0, but none of it is lost. Velocity, acceleration and elevation of waves are known (``waves``).

With P = I - t t^T, R = F/s, B = (F' - R)/s^2, T = k_t |v_t|^(h-1):

    G = dq/dv = R P + B n n^T + h T t t^T,    dv/du_A = N_A (dU_A/dz e_z^T - r rate I)
    dq/dx_j = - dq/dx_i = [(T - R) v_t P + (h T - R) t n^T - B v_t n n^T]/l    through t

Where the surface cuts the bar at q of its length, points and weights are those of its part [q0, q1] in the fluid, which
moves with both nodes: dq/dz_i = (q - 1)/(z_j - z_i), dq/dz_j = - q/(z_j - z_i). Buoyancy of the whole bar times
q1 - q0 goes to the middle c of that part, (1 - c, c) of it to the nodes. Secant forces (ENERGY MOMENTUM) are those of
the middle of the increment, with the velocity (u1 - u0) rate.
Sources: Morison et al., J. Pet. Tech. 2 (1950) 149; Abaqus/Aqua, Theory Guide 6.2.1 (components across and along).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.forces.fluid.curves import value_at
from fem.forces.fluid.immersed import (
    ALONG,
    COUNT,
    EXPONENT,
    FOLLOWS,
    GIVEN,
    LAW,
    LIFT,
    MAGNITUDE,
    MEDIUM,
    NORMAL,
    SECOND,
    STREAM,
    Bar,
    Fluid,
    Vector,
    add_entry,
    bar_now,
    push,
    speed_of,
)
from fem.forces.fluid.stream import INERTIA
from fem.forces.fluid.waves import foresee
from fem.forces.protocol import SPENT, Tangent, Trial

GAUSS = math.sqrt(3.0) / 6.0


class Point(NamedTuple):
    """Drag at a Gauss point: n, q, and R, B, T, h T, v_t of the formulas above."""

    n: Vector
    q: Vector
    across: float
    bend: float
    along: float
    steep: float
    slip: float


@called_kernel
def evaluate(trial: Trial, own: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all rows; nothing is stored."""
    if own.asked.shape[0] > 0 and trial.rate != 0.0:
        foresee(trial, own.sea)
    time = 0.5 * (trial.time0 + trial.time1) if trial.secant else trial.time1
    known = (-1, -1, -1)
    magnitude, first, second = 0.0, 0.0, 0.0
    for r in range(own.rows.shape[0]):
        wanted = (own.rows[r, MAGNITUDE], own.rows[r, STREAM], own.rows[r, SECOND])
        if wanted[0] != known[0] or wanted[1] != known[1] or wanted[2] != known[2]:
            known = wanted
            magnitude = value_at(own.curves, wanted[0], time)
            first, second = value_at(own.curves, wanted[1], time), value_at(own.curves, wanted[2], time)
        if magnitude != 0.0:
            bar = bar_now(r, magnitude, first, second, trial, own)
            if bar.wet > 0.0 and (own.numbers[r, NORMAL] != 0.0 or own.numbers[r, ALONG] != 0.0):
                add_drag(r, bar, trial, own, force, flow, tangent)
            if own.numbers[r, LIFT] != 0.0 and not (bar.wet == 1.0 and own.numbers[r, GIVEN] == 1.0):
                add_lift(r, bar, trial, own, force, flow, tangent)
    return 0.0


@inner_kernel
def resistance(r: int, s: float, own: Fluid) -> tuple[float, float]:
    """F/s and (F' - F/s)/s^2 at the speed s across the bar."""
    first, count, normal = own.rows[r, LAW], own.rows[r, COUNT], own.numbers[r, NORMAL]
    if own.rows[r, MEDIUM] >= INERTIA:
        return normal, 0.0
    if count == 0:
        return normal * s, normal / s if s > 0.0 else 0.0
    k = first
    while k < first + count - 2 and own.laws[k + 1, 0] < s:
        k += 1
    slope = normal * (own.laws[k + 1, 1] - own.laws[k, 1]) / (own.laws[k + 1, 0] - own.laws[k, 0])
    if s == 0.0:
        return slope, 0.0
    ratio = (normal * own.laws[k, 1] + slope * (s - own.laws[k, 0])) / s
    return ratio, (slope - ratio) / (s * s)


@inner_kernel
def drag_at(r: int, xi: float, bar: Bar, own: Fluid) -> Point:
    """Drag at xi of the bar."""
    t, vi, vj, exponent = bar.t, bar.vi, bar.vj, own.numbers[r, EXPONENT]
    x, y, z = vi[0] + xi * (vj[0] - vi[0]), vi[1] + xi * (vj[1] - vi[1]), vi[2] + xi * (vj[2] - vi[2])
    slip = x * t[0] + y * t[1] + z * t[2]
    x, y, z = x - slip * t[0], y - slip * t[1], z - slip * t[2]
    across, bend = resistance(r, math.sqrt(x * x + y * y + z * z), own)
    along = own.numbers[r, ALONG]
    along *= abs(slip) if exponent == 2.0 else abs(slip) ** (exponent - 1.0)
    pull = along * slip
    q = (across * x + pull * t[0], across * y + pull * t[1], across * z + pull * t[2])
    return Point((x, y, z), q, across, bend, along, exponent * along, slip)


@inner_kernel
def add_drag(r: int, bar: Bar, trial: Trial, own: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Drag of one row."""
    side, weight, spent = GAUSS * bar.wet, 0.5 * bar.wet * bar.size, 0.0
    first, last = bar.middle - side, bar.middle + side
    one, other = drag_at(r, first, bar, own), drag_at(r, last, bar, own)
    for a in range(3):
        p, q, way = weight * one.q[a], weight * other.q[a], bar.uj[a] - bar.ui[a]
        push(3 * bar.i + a, -(1.0 - first) * p - (1.0 - last) * q, force, flow)
        push(3 * bar.j + a, -first * p - last * q, force, flow)
        spent += p * (bar.ui[a] + first * way) + q * (bar.ui[a] + last * way)
    trial.power[SPENT] += spent
    if tangent.block.shape[0] > 0:
        # per place of the nodes: of a secant force, half as much and twice as much
        weight *= trial.weight * (0.5 if trial.secant else 1.0)
        rate = own.numbers[r, FOLLOWS] * trial.rate * (2.0 if trial.secant else 1.0)
        for a in range(3):
            for b in range(3):
                ii, ij, ji, jj = turning(a, b, first, rate, bar, one)
                kk, kl, lk, ll = turning(a, b, last, rate, bar, other)
                add_entry(
                    3 * a + b, weight * (ii + kk), weight * (ij + kl), weight * (ji + lk), weight * (jj + ll), bar, own,
                    tangent,
                )  # fmt: skip
        add_rising(first, -GAUSS, weight, bar, one, own, tangent)
        add_rising(last, GAUSS, weight, bar, other, own, tangent)


@inner_kernel
def turning(a: int, b: int, xi: float, rate: float, bar: Bar, point: Point) -> tuple[float, float, float, float]:
    """Entry a, b of the four blocks through the direction of the bar, its length and the velocities of its nodes."""
    t, n, q = bar.t, point.n, point.q
    across = (1.0 if a == b else 0.0) - t[a] * t[b]
    turn = (point.along - point.across) * point.slip * across + (point.steep - point.across) * t[a] * n[b]
    turn = (turn - point.bend * point.slip * n[a] * n[b]) / bar.length + bar.stretch * q[a] * t[b]
    gain = rate * (point.across * across + point.bend * n[a] * n[b] + point.steep * t[a] * t[b])
    by_i, by_j = turn + (1.0 - xi) * gain, xi * gain - turn
    return (1.0 - xi) * by_i, (1.0 - xi) * by_j, xi * by_i, xi * by_j


@inner_kernel
def gained(bar: Bar, point: Point, x: Vector) -> Vector:
    """G x."""
    t, n = bar.t, point.n
    along, bent = t[0] * x[0] + t[1] * x[1] + t[2] * x[2], point.bend * (n[0] * x[0] + n[1] * x[1] + n[2] * x[2])
    pull = (point.steep - point.across) * along
    y0 = point.across * x[0] + bent * n[0] + pull * t[0]
    y1 = point.across * x[1] + bent * n[1] + pull * t[1]
    return y0, y1, point.across * x[2] + bent * n[2] + pull * t[2]


@inner_kernel
def add_rising(xi: float, side: float, weight: float, bar: Bar, point: Point, own: Fluid, tangent: Tangent) -> None:
    """The tangent through the heights of the nodes: the velocity of the stream there, and the surface."""
    up, vi, vj = own.streams.up, bar.vi, bar.vj
    is_sheared = False
    for a in range(3):
        is_sheared = is_sheared or bar.slope_i[a] != 0.0 or bar.slope_j[a] != 0.0
    if not is_sheared and bar.moves == 0.0:
        return
    rise_i, rise_j = gained(bar, point, bar.slope_i), gained(bar, point, bar.slope_j)
    shift = gained(bar, point, (vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2]))
    moved, grown = 0.5 + side * bar.moves, bar.moves / bar.wet
    for a in range(3):
        at_i = grown * (1.0 - xi) * point.q[a] + moved * ((1.0 - xi) * shift[a] - point.q[a])
        at_j = grown * xi * point.q[a] + moved * (xi * shift[a] + point.q[a])
        by_i, by_j = (1.0 - xi) * rise_i[a], xi * rise_j[a]
        ii, ij = (1.0 - xi) * by_i + bar.edge_i * at_i, (1.0 - xi) * by_j + bar.edge_j * at_i
        ji, jj = xi * by_i + bar.edge_i * at_j, xi * by_j + bar.edge_j * at_j
        add_entry(3 * a + up, -weight * ii, -weight * ij, -weight * ji, -weight * jj, bar, own, tangent)


@inner_kernel
def add_lift(r: int, bar: Bar, trial: Trial, own: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Buoyancy of one row, less what dead loads are already."""
    up, whole = own.streams.up, bar.size * own.numbers[r, LIFT]
    base, wet, c = 0.5 * own.numbers[r, GIVEN], bar.wet, bar.middle
    at_i, at_j = whole * (wet * (1.0 - c) - base), whole * (wet * c - base)
    push(3 * bar.i + up, -at_i, force, flow)
    push(3 * bar.j + up, -at_j, force, flow)
    # nothing of it is lost: what it does is work from outside
    trial.power[SPENT] += at_i * speed_of(3 * bar.i + up, trial) + at_j * speed_of(3 * bar.j + up, trial)
    if tangent.block.shape[0] == 0:
        return
    weight = whole * trial.weight * (0.5 if trial.secant else 1.0)
    if bar.moves != 0.0:
        at_i, at_j = bar.moves * (1.0 - c) - 0.5 * wet, bar.moves * c + 0.5 * wet
        by_i, by_j = -weight * bar.edge_i, -weight * bar.edge_j
        add_entry(4 * up, by_i * at_i, by_j * at_i, by_i * at_j, by_j * at_j, bar, own, tangent)
    for b in range(3 if bar.stretch != 0.0 else 0):
        lean = weight * bar.stretch * bar.t[b] * wet
        at_i, at_j = lean * (1.0 - c), lean * c
        add_entry(3 * up + b, at_i, -at_i, at_j, -at_j, bar, own, tangent)
