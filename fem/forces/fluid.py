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
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import common, every, some, where
from fem.forces import waves
from fem.forces.curves import Curves, distinct, gathered, largest, value_at, with_zero
from fem.forces.galloping import Iced, by_direction, by_speed, iced
from fem.forces.protocol import SPENT, Family, Tangent, Trial, blend, dot
from fem.forces.waves import (
    GustTable,
    Moment,
    Sea,
    Streams,
    flows,
    foresee,
    moment,
    sea_of,
    velocity,
    wetted,
    with_gusts,
)

# Entries of rows: the bar, its medium, curves of the magnitude and of both amplitudes of the stream, rows of the drag
# law and their number, 1 where forces are per current length
BAR, MEDIUM, MAGNITUDE, STREAM, SECOND, LAW, COUNT, IS_CURRENT = 0, 1, 2, 3, 4, 5, 6, 7
ROW = 8
# Entries of numbers: L0, k_n (of a drag law, M; of inertia, mass across; of still water, force over speed), k_t (mass
# along, force over speed), h, alpha_R, buoyancy per length, how much of it dead loads are, the largest factors by which
# amplitudes multiply the current and the motion of waves; of ice that gallops 1 or -1, and its angle
LENGTH, NORMAL, ALONG, EXPONENT, FOLLOWS, LIFT, GIVEN, MOST_CURRENT, MOST_WAVES, SIDE, ANGLE = range(11)
NUMBERS = 11
STILL = 0.0, 0.0, 0.0


class Fluid(NamedTuple):
    """What flows past bars, r rows: each acts on one bar in one way.

    rows    (r, ROW), numbers (r, NUMBERS): of the step, for a magnitude of 1
    elements (q,), ends (q, 2)  the bars that a fluid touches in any step, their nodes;  first: their first pair
    laws    (k, 3)  speed and force per length, or angle, C_D, C_L; a drag law behind the other
    sea_nodes   (q, 2)  places of ``ends`` among the nodes of the sea; no rows where there are no waves
    """

    rows: Ints
    numbers: Floats
    elements: Ints
    ends: Ints
    first: int
    laws: Floats
    curves: Curves
    streams: Streams
    sea: Sea
    sea_nodes: Ints
    gusts: GustTable


class Bar(NamedTuple):
    """A bar as the forces see it.

    bar, i, j     its number, its nodes;  t, length
    vi, vj        velocity of the fluid at its nodes less what counts of theirs;  ui, uj that of the fluid
                  (of inertia, acceleration of the fluid and velocity of the nodes)
    slope_i, slope_j   dU/dz there
    middle, wet   c and q1 - q0;  moves: 1 where q1 moves, -1 where q0 does, 0: neither
    edge_i, edge_j     derivative of where it moves by the heights of the nodes
    size          unit of force per length times length: magnitude times L0 (or l);  stretch: 1/l where it is l, else 0
    """

    bar: int
    i: int
    j: int
    t: Vector
    length: float
    vi: Vector
    vj: Vector
    ui: Vector
    uj: Vector
    slope_i: Vector
    slope_j: Vector
    middle: float
    wet: float
    moves: float
    edge_i: float
    edge_j: float
    size: float
    stretch: float


@inner_kernel
def place_of(dof: int, trial: Trial) -> float:
    """Coordinate of a dof at the instant of the forces."""
    u: float = 0.5 * (trial.u0[dof] + trial.u1[dof]) if trial.secant else trial.u1[dof]
    place: float = trial.place[dof] + u
    return place


@inner_kernel
def speed_of(dof: int, trial: Trial) -> float:
    """Velocity of a node; 0 in statics."""
    speed: float = trial.v1[dof] if common(trial.rate) != 0.0 else 0.0
    return (trial.u1[dof] - trial.u0[dof]) * trial.rate if trial.secant else speed


@inner_kernel
def bar_now(r: int, magnitude: float, first: float, second: float, now: Moment, trial: Trial, group: Fluid) -> Bar:
    """The bar of row r. first, second: amplitudes of the stream; now: of gusts."""
    medium, up, level, follows = group.rows[r, MEDIUM], group.streams.up, group.streams.level, group.numbers[r, FOLLOWS]
    bar = group.rows[r, BAR]
    i, j = 3 * group.ends[bar, 0], 3 * group.ends[bar, 1]
    dx, dy = place_of(j, trial) - place_of(i, trial), place_of(j + 1, trial) - place_of(i + 1, trial)
    dz = place_of(j + 2, trial) - place_of(i + 2, trial)
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    zi, zj = place_of(i + up, trial), place_of(j + up, trial)
    at_i, at_j = -1, -1
    if group.sea_nodes.shape[0] > 0 and common(trial.rate) != 0.0:
        at_i = group.sea.first + waves.REMEMBERED * group.sea_nodes[bar, 0]
        at_j = group.sea.first + waves.REMEMBERED * group.sea_nodes[bar, 1]
    hi, hj = below(zi, at_i, trial), below(zj, at_j, trial)
    q0, q1, moves = wetted(medium, hi, hj, level)
    edge_i, edge_j, is_cut = 0.0, 0.0, moves != 0.0
    if some(is_cut):
        rise, edge = where(is_cut, hj - hi, 1.0), where(moves > 0.0, q1, q0)
        edge_i, edge_j = where(is_cut, (edge - 1.0) / rise, 0.0), where(is_cut, -edge / rise, 0.0)
    ux, uy, uz, sx, sy, sz = velocity(medium, zi, first, second, group.streams)
    wx, wy, wz, rx, ry, rz = velocity(medium, zj, first, second, group.streams)
    ui, uj, t = (ux, uy, uz), (wx, wy, wz), (dx / length, dy / length, dz / length)
    if medium == waves.WATER and at_i >= 0:
        ui = with_waves(ui, second, at_i + waves.VELOCITY, trial)
        uj = with_waves(uj, second, at_j + waves.VELOCITY, trial)
    if medium == waves.WIND and now.factor != 0.0:
        ui = with_gusts(ui, first, group.gusts.nodes[bar, 0], now, group.gusts)
        uj = with_gusts(uj, first, group.gusts.nodes[bar, 1], now, group.gusts)
    vi, vj = past(ui, follows, i, trial), past(uj, follows, j, trial)
    si, sj, middle, wet = (sx, sy, sz), (rx, ry, rz), 0.5 * (q0 + q1), q1 - q0
    if medium >= waves.INERTIA:
        si, sj, vi, vj = STILL, STILL, STILL, STILL
        ui, uj = past(STILL, -1.0, i, trial), past(STILL, -1.0, j, trial)
        if medium == waves.INERTIA and at_i >= 0:
            vi = with_waves(STILL, second, at_i + waves.ACCELERATION, trial)
            vj = with_waves(STILL, second, at_j + waves.ACCELERATION, trial)
    size, stretch = magnitude * group.numbers[r, LENGTH], 0.0
    if group.rows[r, IS_CURRENT] != 0:
        size, stretch = magnitude * length, 1.0 / length
    i, j = i // 3, j // 3
    return Bar(bar, i, j, t, length, vi, vj, ui, uj, si, sj, middle, wet, moves, edge_i, edge_j, size, stretch)


@inner_kernel
def below(height: float, at: int, trial: Trial) -> float:
    """Height less the elevation of the surface there; at: states of the water, -1: there are no waves."""
    return height - trial.state1[at + waves.ELEVATION] if at >= 0 else height


@inner_kernel
def with_waves(stream: Vector, factor: float, at: int, trial: Trial) -> Vector:
    """Velocity of the stream plus that of waves; at: the first of their three states."""
    state = trial.state1
    return stream[0] + factor * state[at], stream[1] + factor * state[at + 1], stream[2] + factor * state[at + 2]


@inner_kernel
def past(stream: Vector, follows: float, dof: int, trial: Trial) -> Vector:
    """Velocity of a stream past the node whose first dof is given."""
    x, y = stream[0] - follows * speed_of(dof, trial), stream[1] - follows * speed_of(dof + 1, trial)
    return x, y, stream[2] - follows * speed_of(dof + 2, trial)


@inner_kernel
def push(dof: int, value: float, force: Floats, flow: Floats) -> None:
    """Add to an internal force that does not come from stored energy."""
    force[dof] += value
    if flow.shape[0] > 0:
        flow[dof] += value


@inner_kernel
def add_entry(c: int, ii: float, ij: float, ji: float, jj: float, bar: Bar, group: Fluid, tangent: Tangent) -> None:
    """Entry c = 3 a + b of the four blocks: derivatives by component b of displacements, of the forces along a."""
    pair = group.first + bar.bar
    tangent.block[bar.i, c] += ii
    tangent.block[bar.j, c] += jj
    tangent.cross[pair, c] += ij
    tangent.cross[pair, 9 + c] += ji


GAUSS = math.sqrt(3.0) / 6.0


class DragPoint(NamedTuple):
    """Drag at a Gauss point: n, q, and R, B, T, h T, v_t of the formulas above."""

    n: Vector
    q: Vector
    across: float
    bend: float
    along: float
    steep: float
    slip: float


@called_kernel
def evaluate(trial: Trial, group: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all rows; nothing is stored."""
    if group.sea_nodes.shape[0] > 0 and common(trial.rate) != 0.0:
        foresee(trial, group.sea)
    time = 0.5 * (trial.time0 + trial.time1) if trial.secant else trial.time1
    now = moment(time if common(trial.rate) != 0.0 else -1.0, group.gusts)
    known = (-1, -1, -1)
    magnitude, first, second = 0.0, 0.0, 0.0
    for r in range(group.rows.shape[0]):
        wanted = (group.rows[r, MAGNITUDE], group.rows[r, STREAM], group.rows[r, SECOND])
        if wanted[0] != known[0] or wanted[1] != known[1] or wanted[2] != known[2]:
            known = wanted
            magnitude = value_at(group.curves, wanted[0], time)
            first, second = value_at(group.curves, wanted[1], time), value_at(group.curves, wanted[2], time)
        if magnitude != 0.0:
            bar = bar_now(r, magnitude, first, second, now, trial, group)
            resists = (group.numbers[r, NORMAL] != 0.0) | (group.numbers[r, ALONG] != 0.0)
            is_given = (bar.wet == 1.0) & (group.numbers[r, GIVEN] == 1.0)
            if common(group.numbers[r, SIDE]) != 0.0:
                add_iced(r, bar, trial, group, force, flow, tangent)
            elif some(resists & (bar.wet > 0.0)):
                add_drag(r, bar, trial, group, force, flow, tangent)
            if some((group.numbers[r, LIFT] != 0.0) & (not is_given)):
                add_lift(r, bar, trial, group, force, flow, tangent)
    return 0.0


@inner_kernel
def resistance(r: int, s: float, group: Fluid) -> tuple[float, float]:
    """F/s and (F' - F/s)/s^2 at the speed s across the bar."""
    first, count, normal = group.rows[r, LAW], group.rows[r, COUNT], group.numbers[r, NORMAL]
    ratio, bend, is_moving = normal, 0.0, s > 0.0
    speed = where(is_moving, s, 1.0)
    if group.rows[r, MEDIUM] < waves.INERTIA and count == 0:
        ratio, bend = normal * s, where(is_moving, normal / speed, 0.0)
    elif group.rows[r, MEDIUM] < waves.INERTIA:
        k, last = first, first + count - 2
        while k < last and every(group.laws[k + 1, 0] < s):
            k += 1
        pull, slope, since = drag_law(k, normal, group.laws)
        while k < last and some(group.laws[k + 1, 0] < s):
            k += 1
            is_past = group.laws[k, 0] < s
            more, steep, beyond = drag_law(k, normal, group.laws)
            pull, slope = where(is_past, more, pull), where(is_past, steep, slope)
            since = where(is_past, beyond, since)
        ratio = where(is_moving, (pull + slope * (s - since)) / speed, slope)
        bend = where(is_moving, (slope - ratio) / (speed * speed), 0.0)
    return ratio, bend


@inner_kernel
def drag_law(k: int, normal: float, laws: Floats) -> tuple[float, float, float]:
    """Force, its slope and the speed where row k of a drag law begins."""
    slope = normal * (laws[k + 1, 1] - laws[k, 1]) / (laws[k + 1, 0] - laws[k, 0])
    return normal * laws[k, 1], slope, laws[k, 0]


@inner_kernel
def drag_at(r: int, xi: float, bar: Bar, group: Fluid) -> DragPoint:
    """Drag at xi of the bar."""
    t, vi, vj, exponent = bar.t, bar.vi, bar.vj, common(group.numbers[r, EXPONENT])
    x, y, z = vi[0] + xi * (vj[0] - vi[0]), vi[1] + xi * (vj[1] - vi[1]), vi[2] + xi * (vj[2] - vi[2])
    slip = x * t[0] + y * t[1] + z * t[2]
    x, y, z = x - slip * t[0], y - slip * t[1], z - slip * t[2]
    across, bend = resistance(r, math.sqrt(x * x + y * y + z * z), group)
    along = group.numbers[r, ALONG]
    if exponent == 2.0:
        along *= abs(slip)
    elif exponent != 1.0:
        along *= abs(slip) ** (exponent - 1.0)
    pull = along * slip
    q = (across * x + pull * t[0], across * y + pull * t[1], across * z + pull * t[2])
    return DragPoint((x, y, z), q, across, bend, along, exponent * along, slip)


@inner_kernel
def add_drag(r: int, bar: Bar, trial: Trial, group: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Add the drag of one row."""
    side, weight, spent = GAUSS * bar.wet, 0.5 * bar.wet * bar.size, 0.0
    first, last = bar.middle - side, bar.middle + side
    one, other = drag_at(r, first, bar, group), drag_at(r, last, bar, group)
    for a in range(3):
        p, q, way = weight * one.q[a], weight * other.q[a], bar.uj[a] - bar.ui[a]
        push(3 * bar.i + a, -(1.0 - first) * p - (1.0 - last) * q, force, flow)
        push(3 * bar.j + a, -first * p - last * q, force, flow)
        spent += p * (bar.ui[a] + first * way) + q * (bar.ui[a] + last * way)
    trial.power[SPENT] += spent
    if tangent.block.shape[0] > 0:
        # per place of the nodes: of a secant force, half as much and twice as much
        weight *= trial.weight * (0.5 if trial.secant else 1.0)
        rate = group.numbers[r, FOLLOWS] * trial.rate * (2.0 if trial.secant else 1.0)
        for a in range(3):
            for b in range(3):
                ii, ij, ji, jj = turning(a, b, first, rate, bar, one)
                kk, kl, lk, ll = turning(a, b, last, rate, bar, other)
                add_entry(
                    3 * a + b, weight * (ii + kk), weight * (ij + kl), weight * (ji + lk), weight * (jj + ll), bar,
                    group, tangent,
                )  # fmt: skip
        add_rising(first, -GAUSS, weight, bar, one, group, tangent)
        add_rising(last, GAUSS, weight, bar, other, group, tangent)


@inner_kernel
def add_iced(r: int, bar: Bar, trial: Trial, group: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Add drag and lift over the angle of attack of one row (``galloping``)."""
    side, angle, factor = group.numbers[r, SIDE], group.numbers[r, ANGLE], group.numbers[r, NORMAL]
    first, count, up, t = group.rows[r, LAW], group.rows[r, COUNT], group.streams.up, bar.t
    size = 0.5 * bar.wet * bar.size
    weight = size * trial.weight * (0.5 if trial.secant else 1.0)
    rate = group.numbers[r, FOLLOWS] * trial.rate * (2.0 if trial.secant else 1.0)
    for g in range(2):
        xi = bar.middle + (2 * g - 1) * GAUSS * bar.wet
        point = iced(t, blend(1.0 - xi, bar.vi, xi, bar.vj), side, angle, factor, up, group.laws, first, count)
        stream = blend(1.0 - xi, bar.ui, xi, bar.uj)
        trial.power[SPENT] += size * dot(point.q, stream)
        for a in range(3):
            push(3 * bar.i + a, -(1.0 - xi) * size * point.q[a], force, flow)
            push(3 * bar.j + a, -xi * size * point.q[a], force, flow)
            if tangent.block.shape[0] > 0:
                add_iced_row(a, xi, weight, rate, bar, point, group, tangent)


@inner_kernel
def add_iced_row(
    a: int, xi: float, weight: float, rate: float, bar: Bar, point: Iced, group: Fluid, tangent: Tangent
) -> None:
    """Derivatives of the force along a: through direction, length and velocities, and the heights of the nodes."""
    t, along, rise_i, rise_j = bar.t, 0.0, 0.0, 0.0
    for b in range(3):
        along += by_direction(a, b, point) * t[b]
        rise_i += by_speed(a, b, point) * bar.slope_i[b]
        rise_j += by_speed(a, b, point) * bar.slope_j[b]
    for b in range(3):
        turn = (by_direction(a, b, point) - along * t[b]) / bar.length + bar.stretch * point.q[a] * t[b]
        gain = rate * by_speed(a, b, point)
        by_i, by_j = turn + (1.0 - xi) * gain, xi * gain - turn
        if b == group.streams.up:
            by_i, by_j = by_i - (1.0 - xi) * rise_i, by_j - xi * rise_j
        at_i, at_j = weight * (1.0 - xi), weight * xi
        add_entry(3 * a + b, at_i * by_i, at_i * by_j, at_j * by_i, at_j * by_j, bar, group, tangent)


@inner_kernel
def turning(a: int, b: int, xi: float, rate: float, bar: Bar, point: DragPoint) -> tuple[float, float, float, float]:
    """Entry a, b of the four blocks through the direction of the bar, its length and the velocities of its nodes."""
    t, n, q = bar.t, point.n, point.q
    across = (1.0 if a == b else 0.0) - t[a] * t[b]
    turn = (point.along - point.across) * point.slip * across + (point.steep - point.across) * t[a] * n[b]
    turn = (turn - point.bend * point.slip * n[a] * n[b]) / bar.length + bar.stretch * q[a] * t[b]
    gain = rate * (point.across * across + point.bend * n[a] * n[b] + point.steep * t[a] * t[b])
    by_i, by_j = turn + (1.0 - xi) * gain, xi * gain - turn
    return (1.0 - xi) * by_i, (1.0 - xi) * by_j, xi * by_i, xi * by_j


@inner_kernel
def gained(bar: Bar, point: DragPoint, x: Vector) -> Vector:
    """G x."""
    t, n = bar.t, point.n
    along, bent = t[0] * x[0] + t[1] * x[1] + t[2] * x[2], point.bend * (n[0] * x[0] + n[1] * x[1] + n[2] * x[2])
    pull = (point.steep - point.across) * along
    y0 = point.across * x[0] + bent * n[0] + pull * t[0]
    y1 = point.across * x[1] + bent * n[1] + pull * t[1]
    return y0, y1, point.across * x[2] + bent * n[2] + pull * t[2]


@inner_kernel
def add_rising(
    xi: float, side: float, weight: float, bar: Bar, point: DragPoint, group: Fluid, tangent: Tangent
) -> None:
    """The tangent through the heights of the nodes: the velocity of the stream there, and the surface."""
    up, vi, vj = group.streams.up, bar.vi, bar.vj
    changes = bar.moves != 0.0
    for a in range(3):
        changes = changes | (bar.slope_i[a] != 0.0) | (bar.slope_j[a] != 0.0)
    if not some(changes):
        return
    rise_i, rise_j = gained(bar, point, bar.slope_i), gained(bar, point, bar.slope_j)
    shift = gained(bar, point, (vj[0] - vi[0], vj[1] - vi[1], vj[2] - vi[2]))
    moved, grown = 0.5 + side * bar.moves, bar.moves / where(bar.moves != 0.0, bar.wet, 1.0)
    for a in range(3):
        at_i = grown * (1.0 - xi) * point.q[a] + moved * ((1.0 - xi) * shift[a] - point.q[a])
        at_j = grown * xi * point.q[a] + moved * (xi * shift[a] + point.q[a])
        by_i, by_j = (1.0 - xi) * rise_i[a], xi * rise_j[a]
        ii, ij = (1.0 - xi) * by_i + bar.edge_i * at_i, (1.0 - xi) * by_j + bar.edge_j * at_i
        ji, jj = xi * by_i + bar.edge_i * at_j, xi * by_j + bar.edge_j * at_j
        add_entry(3 * a + up, -weight * ii, -weight * ij, -weight * ji, -weight * jj, bar, group, tangent)


@inner_kernel
def add_lift(r: int, bar: Bar, trial: Trial, group: Fluid, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Buoyancy of one row, less what dead loads are already."""
    up, whole = group.streams.up, bar.size * group.numbers[r, LIFT]
    base, wet, c = 0.5 * group.numbers[r, GIVEN], bar.wet, bar.middle
    at_i, at_j = whole * (wet * (1.0 - c) - base), whole * (wet * c - base)
    push(3 * bar.i + up, -at_i, force, flow)
    push(3 * bar.j + up, -at_j, force, flow)
    # nothing of it is lost: what it does is work from outside
    trial.power[SPENT] += at_i * speed_of(3 * bar.i + up, trial) + at_j * speed_of(3 * bar.j + up, trial)
    if tangent.block.shape[0] == 0:
        return
    weight = whole * trial.weight * (0.5 if trial.secant else 1.0)
    if some(bar.moves != 0.0):
        at_i, at_j = bar.moves * (1.0 - c) - 0.5 * wet, bar.moves * c + 0.5 * wet
        by_i, by_j = -weight * bar.edge_i, -weight * bar.edge_j
        add_entry(4 * up, by_i * at_i, by_j * at_i, by_i * at_j, by_j * at_j, bar, group, tangent)
    for b in range(3 if group.rows[r, IS_CURRENT] != 0 else 0):
        lean = weight * bar.stretch * bar.t[b] * wet
        at_i, at_j = lean * (1.0 - c), lean * c
        add_entry(3 * up + b, at_i, -at_i, at_j, -at_j, bar, group, tangent)


# Increments of EXPLICIT have to be short for the water that resists when its waves move it fastest (``stiffest``).
# Below the highest place of a bar, raised by the amplitudes of all waves, but not above the still level, the water
# moves by its waves no faster than (``model/surroundings``)
#
#     W = sum of a omega cosh k(z+h)/sinh kh
#
# in any direction, whatever the phases are. Beside a current U, whose own drag is left as it is, drag then grows with
# the speed of a bar, across and along it, by no more than
#
#     2 k_n W,   h k_t ((U + W)^(h-1) - U^(h-1))  (1 < h < 2: h k_t W^(h-1)),   or the steepest part of a drag
#     law (in place of its group)
#
# for |U + w| <= |U| + W. Bars that waves wet and lay bare have U in W. These are dampers, whatever the waves do just
# now: an increment that is short enough stays so.
def stiffest(group: Fluid, place: Floats, u: Floats, dt: float) -> Fluid:
    """The group with the largest damping that waves can cause; place, u (3n,)."""
    resists = (group.rows[:, MEDIUM] == waves.WATER) & np.any(group.numbers[:, [NORMAL, ALONG]], axis=1)
    if not len(group.sea_nodes) or not resists.any():
        return group
    rows, numbers = group.rows[resists].copy(), group.numbers[resists].copy()
    heights = (place + u).reshape(-1, 3)[group.ends, group.sea.up] - group.sea.level
    current = np.sqrt((group.streams.profile[:, 1:] ** 2).sum(axis=1)).max() * numbers[:, MOST_CURRENT]
    fastest = orbital(group.sea, heights)[rows[:, BAR]] * numbers[:, MOST_WAVES]
    emerges = heights.max(axis=1) >= -group.sea.rise
    fastest += np.where((fastest > 0.0) & emerges[rows[:, BAR]], current, 0.0)
    h = numbers[:, EXPONENT]
    is_concave = (h > 1.0) & (h < 2.0)
    since = np.where(is_concave, 0.0, current)
    numbers[:, ALONG] *= h * ((since + fastest) ** (h - 1.0) - since ** (h - 1.0))
    numbers[:, NORMAL] *= 2.0 * fastest
    calm, given = group.rows.copy(), group.numbers.copy()
    calm[resists, SECOND] = len(group.curves.spans)
    for r in np.flatnonzero((rows[:, COUNT] > 0) & (fastest > 0.0)):
        law = group.laws[rows[r, LAW] : rows[r, LAW] + rows[r, COUNT]]
        slopes = np.diff(law[:, 1]) / np.diff(law[:, 0])
        whole = np.flatnonzero(resists)[r]
        numbers[r, NORMAL] = given[whole, NORMAL] * slopes[law[:-1, 0] <= current[r] + fastest[r]].max()
        given[whole, NORMAL] = 0.0
    numbers[:, EXPONENT], numbers[:, LIFT] = 1.0, 0.0
    rows[:, MEDIUM], rows[:, COUNT] = waves.STILL_WATER, 0
    return group._replace(
        rows=np.concatenate([calm, rows]), numbers=np.concatenate([given, numbers]), curves=with_zero(group.curves)
    )


def orbital(sea: Sea, heights: Floats) -> Floats:
    """(q,) W of bars whose ends are at heights (q, 2) above the still level; 0 where no wave comes to them."""
    rise, k = sea.rise, sea.trains[waves.NUMBER]
    z = np.clip(heights.max(axis=1) + rise, -sea.depth, 0.0)[:, None]
    speeds: Floats = (np.exp(k * z) + np.exp(-k * (z + 2.0 * sea.depth))) @ sea.trains[waves.SPEED]
    return np.where(heights.min(axis=1) <= rise, speeds, 0.0)


def labels_of(model: Any) -> tuple[str, ...]:
    """What acts by itself, in the order in which it is put into rows: only in waves does water accelerate."""
    return ("FDT", "FDD", "WDD", "FLD", "PB", "FI") if model.waves else ("FDT", "FDD", "WDD", "FLD", "PB")


def assemble(model: Any, system: Any, pair: int, state: int) -> Fluid:
    """The bars that water or wind acts on in any step, with those that are gone: all keep their places."""
    elements = model.reach.of(labels_of(model))
    rows = [row for law in model.drag_laws.values() for row in law.radians] if len(elements) else []
    nothing, ends = (np.zeros((0, ROW), np.int64), np.zeros((0, NUMBERS))), system.element_nodes[elements]
    table, streams = np.array(rows, float).reshape(-1, 3), streams_of(model)
    length = system.lengths_of(elements)
    sea = sea_of(model, np.unique(system.element_nodes[elements]), length, state)
    sea_nodes = np.searchsorted(sea.nodes, ends) if len(sea.nodes) else np.zeros((0, 2), np.int64)
    ends, sea_nodes = np.ascontiguousarray(ends), np.ascontiguousarray(sea_nodes)
    blown = np.unique(system.element_nodes[model.reach.of(("WDD", "FLD"))])
    gusts = table_of(model, blown, np.ascontiguousarray(np.searchsorted(blown, ends)))
    return Fluid(*nothing, elements, ends, pair, table, gathered(()), streams, sea, sea_nodes, gusts)


def table_of(model: Any, blown: Ints, nodes: Ints) -> GustTable:
    """Gusts at nodes (p,) that wind acts on; nodes (q, 2): their places among these."""
    if model.wind is None or model.wind.gusts is None:
        return GustTable(np.zeros((0, 1, 3)), nodes[:0], 0.0, 0.0)
    own = model.wind.gusts
    return GustTable(model.gusts_at(blown), nodes, own.duration, own.ramp)


def streams_of(model: Any) -> Streams:
    """Water and wind of a model."""
    up, water, wind = model.mesh.up, model.water, model.wind
    rows = [(z, vx, vy, vz) for vx, vy, vz, z in water.current] if water else []
    along, across = wind.vectors(up) if wind else np.zeros((2, 3))
    level, profile = water.level if water else 0.0, np.array(rows or [(0.0, 0.0, 0.0, 0.0)], float)
    reference, power = (wind.reference, wind.power) if wind else (1.0, 0.0)
    return Streams(up, level, profile, along, across, reference, power)


class OpenRows:
    """Rows in the making that have all but their bars in common; what is None is open.

    numbers (q, NUMBERS) of each bar
    """

    def __init__(self, key: list[Any], length: Floats) -> None:
        self.key = key
        self.numbers = np.zeros((len(length), NUMBERS))
        self.numbers[:, LENGTH], self.numbers[:, EXPONENT], self.numbers[:, FOLLOWS] = length, 2.0, 1.0

    def takes(self, key: list[Any]) -> bool:
        """Whether these values fit the rows; if so, they fill what was open."""
        if any(one != other for one, other in zip(self.key, key, strict=True) if None not in (one, other)):
            return False
        self.key = [other if one is None else one for one, other in zip(self.key, key, strict=True)]
        return True


def in_step(group: Fluid, system: Any, environment: Any) -> Fluid:
    """The group with the drag that acts in a step."""
    if not len(group.elements):
        return group
    model, found = system.model, list[OpenRows]()
    length, there = system.lengths_of(group.elements), ~system.gone[group.elements]
    labels = labels_of(model)
    flows = [flow for flow in environment.flows if flow.load.kind in labels]
    for flow in sorted(flows, key=lambda flow: labels.index(flow.load.kind)):
        load, streams = flow.load, flow.streams
        medium = {"WDD": waves.WIND, "FLD": waves.WIND, "FI": waves.INERTIA}.get(load.kind, waves.WATER)
        fluid = model.wind if medium == waves.WIND else model.water
        law = load.coefficient if isinstance(load.coefficient, str) else ""
        key = {
            "PB": [None, None, None, None],
            "FDT": [streams, load.follows, None, load.exponent],
            "FI": [streams, 0.0, "", 1.0],
        }.get(load.kind, [streams, load.follows, law, None])
        width = flow.diameter(system)[group.elements]
        for case in flow.cases:
            rows = rows_for([medium, case.curve, load.is_current, *key], length, found)
            magnitude = case.field[group.elements, 0] * there
            add_numbers(load, magnitude, width, fluid, rows.numbers)
            if load.kind == "FLD":
                acts = magnitude != 0.0
                rows.numbers[acts, SIDE] = sides(system, group, model)[acts]
                rows.numbers[acts, ANGLE] = np.radians(load.angle)
    sea, gusts = group.sea._replace(since=environment.sea_from), group.gusts._replace(since=environment.gusts_from)
    return group._replace(**arrays_of(found, model), sea=sea, gusts=gusts)


def sides(system: Any, group: Fluid, model: Any) -> Floats:
    """(q,) 1 or -1: the mean wind comes from the side of t x e, or from the other one."""
    way = np.diff(system.coordinates[group.ends], axis=1)[:, 0]
    level = np.cross(way, np.eye(3)[model.mesh.up])
    return np.where(level @ (group.streams.along + group.streams.across) < 0.0, -1.0, 1.0)


def rows_for(key: list[Any], length: Floats, found: list[OpenRows]) -> OpenRows:
    """The open rows of this kind; a new one where there is none."""
    for rows in found:
        if rows.takes(key):
            return rows
    found.append(OpenRows(key, length))
    return found[-1]


def add_numbers(load: Any, magnitude: Floats, width: Floats, fluid: Any, numbers: Floats) -> None:
    """Add the numbers of one flow to its rows; width (q,): D of the bars."""
    acts = magnitude != 0.0
    if load.kind == "PB":
        numbers[:, LIFT] += magnitude * fluid.density * fluid.gravity * 0.25 * np.pi * width**2
        numbers[acts, GIVEN] = float(not load.is_current)
        return
    numbers[acts, FOLLOWS] = load.follows
    if load.kind == "FI":
        mass = magnitude * 0.25 * np.pi * fluid.density * width**2
        numbers[:, NORMAL] += load.coefficient * mass
        numbers[:, ALONG] += 0.0 if load.added_along is None else (1.0 + load.added_along) * mass
        numbers[acts, EXPONENT], numbers[acts, FOLLOWS] = 1.0, 0.0
    elif load.kind == "FDT":
        numbers[:, ALONG] += magnitude * 0.5 * np.pi * fluid.density * width * load.coefficient
        numbers[acts, EXPONENT] = load.exponent
    elif load.kind == "FLD":
        numbers[:, NORMAL] += magnitude * 0.5 * fluid.density * width
    elif isinstance(load.coefficient, str):
        numbers[:, NORMAL] += magnitude
    else:
        numbers[:, NORMAL] += magnitude * 0.5 * fluid.density * width * load.coefficient


def arrays_of(found: Iterable[OpenRows], model: Any) -> dict[str, Any]:
    """The rows of a step, and their curves."""
    curves = distinct(curve for rows in found for curve in (rows.key[1], *(rows.key[3] or ())))
    first, places = 0, {"": (0, 0), None: (0, 0)}
    for law in model.drag_laws.values():
        places[law.name] = first, len(law.rows)
        first += len(law.rows)
    integers, numbers = [np.zeros((0, ROW), np.int64)], [np.zeros((0, NUMBERS))]
    for rows in found:
        medium, magnitude, is_current, streams, _, law, _ = rows.key
        acts = np.flatnonzero(np.any(rows.numbers[:, [NORMAL, ALONG, LIFT]], axis=1))
        one, other = streams or (magnitude, magnitude)  # no drag asks for them
        same = medium, curves[magnitude], curves[one], curves[other], *places[law], int(is_current)
        rows.numbers[acts, MOST_CURRENT], rows.numbers[acts, MOST_WAVES] = largest(one), largest(other)
        integers.append(np.column_stack([acts, np.tile(np.array(same, np.int64), (len(acts), 1))]))
        numbers.append(rows.numbers[acts])
    return {
        "rows": np.ascontiguousarray(np.concatenate(integers)),
        "numbers": np.concatenate(numbers),
        "curves": gathered(curves),
    }


FLUID = Family(
    "fluid",
    assemble,
    evaluate,
    wanted=flows,
    pairs=lambda group: group.ends,
    remembers=lambda group: False,  # a cache of the waves
    states=lambda group: np.zeros(waves.REMEMBERED * len(group.sea.nodes)),
    owners=lambda group: np.repeat(group.sea.nodes, waves.REMEMBERED),
    whole=True,
    symmetric=False,
    grounded=True,
    in_step=in_step,
    stiffest=stiffest,
)
