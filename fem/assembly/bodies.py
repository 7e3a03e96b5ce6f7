"""Motion with a reference node: nodes of rigid bodies with prescribed motion, and planes that nodes do not enter.

Points X = X_r + r pinned to a body follow the motions q of its reference node X_r, exactly:

    x = X_r + U + R r,    v = V + R' r,    a = A + R'' r

RPY     R = Rz(q3) Ry(q2) Rx(q1): roll, pitch, yaw of vessels (Fossen, Handbook of Marine Craft Hydrodynamics, 2.2.1);
        a point and its rates are rotated about one axis after the other
VECTOR  R = exp [q]x = I + s K + c K^2, K = [q]x, s = sin p/p, c = (1 - cos p)/p^2, p = |q| (Rodrigues)
R' and R'' follow by the product rule.

Waves add to the motions of a vessel, in its axes, which HEADING turns (``model/vessels``): with theta = k.(X_r + U) -
omega t + phase of each regular wave, with rates that include the drift U' of the node, and its ramp g,

    q = Re sum a f H e^(i theta),   f = g;   for q'  f = g' + i g theta';
                                    for q''  f = g'' + 2 i g' theta' + i g theta'' - g theta'^2
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.compiled import inner_kernel, kernel
from fem.forces import bar
from fem.forces.waves import TURN, on_circle
from fem.model import Model, RigidBody
from fem.model.vessels import moved_by

SAME_TIME = 1e-13
"""A time this close to the end of a ramp, relative to both, is the end of the ramp (as in ``model/curves``)."""
NEAR = 1.0
"""|q|^2 below which s, c and their derivatives are computed by their series: closed forms lose digits there."""
TERMS = 12
BY_TIME, AT_START = 3, 4
"""Rows of ``trains`` after the derivatives of theta along the three axes: derivative by time, theta at the start."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One ``*RIGID BODY``.

    driven    (6,)    dofs of the reference node; dofs of rotations follow those of all nodes
    dofs      (3p,)   of the pinned nodes, rising
    arms      (p, 3)  X - X_r
    is_vector         rotations are the components of one rotation vector
    trains    (5, c)  waves that move it (RAO), sorted by ramp: derivatives of theta by x, y, z, time; theta at X_r
    swings    (2, 6, c)  real and imaginary part of a H of its six motions, in the axes of the model
    spans     (g, 2)  first and last + 1 of the waves of each ramp;  ramps (g,)
    """

    driven: Ints
    dofs: Ints
    arms: Floats
    is_vector: bool
    trains: Floats
    swings: Floats
    spans: Ints
    ramps: Floats

    def moved(
        self, ways: Floats, time: Floats, after: bool = False, at_sea: bool = False, since: float = 0.0
    ) -> Floats:
        """(3, k, 3p) u, v, a of the pinned nodes; ``after``: one-sided rates; since: when ramps of waves begin.
        ways (3, k, 6)  motions of the reference node and their rates, to which waves add theirs ``at_sea``"""
        moved, room = np.empty((3, len(time), self.arms.size)), np.empty((6, self.trains.shape[1]))
        waves = self.spans, self.ramps if at_sea else self.ramps[:0]
        move_body(time, since, after, self.is_vector, self.trains, *waves, self.swings, self.arms, room, ways, moved)
        return moved


def bodies_of(model: Model, count: int) -> tuple[Body, ...]:
    """The rigid bodies of a model, in order.  count: number of nodes, those of spins included"""
    mesh, size = model.mesh, 3 * count
    found = []
    for number, body in enumerate(model.bodies):
        (reference,) = mesh.nodes_of(body.node)
        pinned = np.unique(mesh.nodes_of(body.pinned))
        driven = np.concatenate([3 * reference + np.arange(3), size + 3 * number + np.arange(3)])
        dofs = (3 * pinned[:, None] + np.arange(3)).ravel()
        arms = mesh.coordinates[pinned] - mesh.coordinates[reference]
        found.append(Body(driven, dofs, arms, body.rotation == "VECTOR", *waves_on(model, body)))
    return tuple(found)


def waves_on(model: Model, body: RigidBody) -> tuple[Floats, Floats, Ints, Floats]:
    """``trains``, ``swings``, ``spans`` and ``ramps`` of a body."""
    if body.rao is None or not len(model.sea):
        return np.zeros((5, 0)), np.zeros((2, 6, 0)), np.zeros((0, 2), np.int64), np.zeros(0)
    up, (at,) = model.mesh.up, model.mesh.coordinates[model.mesh.nodes_of(body.node)]
    sea = model.sea[np.argsort(model.sea[:, 5], kind="stable")]
    omega, k, _, phase, b, ramp = sea.T
    way = level_axes(up) @ np.array([k * np.cos(b), k * np.sin(b), 0.0 * k])
    bow = np.radians(body.heading)
    turn = np.array([[np.cos(bow), -np.sin(bow), 0.0], [np.sin(bow), np.cos(bow), 0.0], [0.0, 0.0, 1.0]])
    axes = level_axes(up) @ turn
    found = moved_by(model.raos[body.rao], sea, body.heading)
    found = np.concatenate([axes @ found[:3], axes @ found[3:]])
    trains, ramps = np.vstack([way, omega, phase + at @ way]) / TURN, distinct(ramp)
    spans = np.column_stack([ramp.searchsorted(ramps), ramp.searchsorted(ramps, "right")])
    return trains, np.stack([found.real, found.imag]), spans, ramps


def level_axes(up: int) -> Floats:
    """(3, 3) unit vectors x, y, upwards of waves, as columns; in plane models (y is up) the second is -z."""
    return np.eye(3) if up == 2 else np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def planes_of(model: Model) -> tuple[Ints, Floats]:
    """Ends (c, 2) and constants (CONSTANTS, c) of the stops of all planes, one stop for each node."""
    ends, columns = [np.zeros((0, 2), np.int64)], [np.zeros((bar.CONSTANTS, 0))]
    for plane in model.planes:
        size, distances = plane.size(model.mesh), plane.distances(model.mesh)
        constants = np.zeros((bar.CONSTANTS, len(distances)))
        for first in (bar.REF, bar.BASE):
            constants[first : first + 3] = size * plane.direction[:, None]
        constants[bar.INV_LENGTH], constants[bar.BASE_CONSTANT] = 1.0 / size, distances / size
        constants[[bar.AREA, bar.MINUS, bar.BASE_SLOPE, bar.CONJUGATE]] = 1.0
        constants[bar.RESTITUTION], constants[bar.FRICTION] = plane.restitution, plane.friction
        ends.append(plane.pairs(model.mesh))
        columns.append(constants)
    return np.concatenate(ends), np.concatenate(columns, axis=1)


@kernel
def move_body(
    time: Floats, since: float, after: bool, is_vector: bool, trains: Floats, spans: Ints, ramps: Floats,
    swings: Floats, arms: Floats, room: Floats, ways: Floats, moved: Floats,
) -> None:  # fmt: skip
    """Motion of the points of a body at k instants; ``after``: one-sided rates after them; since: when ramps begin.

    trains (5, c), spans (g, 2), ramps (g,), swings (2, 6, c)  waves that move it, as ``Body`` has them
    arms   (p, 3)        of its points, from the reference node
    room   (6, c)        overwritten
    ways   (3, k, 6)     motions of the reference node without waves, and their rates; out: with waves
    moved  (3, k, 3p)    out: u, v, a of the points
    """
    for t in range(time.shape[0]):
        for g in range(ramps.shape[0]):
            rock(time[t], since, after, ramps[g], spans[g, 0], spans[g, 1], trains, t, ways, room)
        if ramps.shape[0] > 0:
            swing(swings, room, t, ways)
        if is_vector:
            turn_by_vector(t, ways, arms, moved)
        else:
            turn_by_angles(t, ways, arms, moved)


@inner_kernel
def rock(
    time: float, since: float, after: bool, ramp: float, first: int, last: int, trains: Floats, t: int, ways: Floats,
    room: Floats,
) -> None:  # fmt: skip
    """f e^(i theta) of q, q', q'' of the waves first to last - 1, which share a ramp, into the columns of ``room``."""
    grown, rises, curves = risen(time, since, ramp, after)
    x, y, z, dx, dy, dz = ways[0, t, 0], ways[0, t, 1], ways[0, t, 2], ways[1, t, 0], ways[1, t, 1], ways[1, t, 2]
    ddx, ddy, ddz = ways[2, t, 0], ways[2, t, 1], ways[2, t, 2]
    for number in range(last - first):
        c = np.uintp(first + number)
        along, across, up = trains[0, c], trains[1, c], trains[2, c]
        cosine, sine = on_circle(along * x + across * y + up * z - trains[BY_TIME, c] * time + trains[AT_START, c])
        rate = TURN * (along * dx + across * dy + up * dz - trains[BY_TIME, c])
        bend = TURN * (along * ddx + across * ddy + up * ddz)
        imaginary = grown * rate
        real_2, imaginary_2 = curves - imaginary * rate, 2.0 * rises * rate + grown * bend
        room[0, c], room[1, c] = grown * cosine, grown * sine
        room[2, c], room[3, c] = rises * cosine - imaginary * sine, rises * sine + imaginary * cosine
        room[4, c], room[5, c] = real_2 * cosine - imaginary_2 * sine, real_2 * sine + imaginary_2 * cosine


@inner_kernel
def swing(swings: Floats, room: Floats, t: int, ways: Floats) -> None:
    """Add Re(a H f e^(i theta)) of all waves to the six motions and their rates."""
    for i in range(6):
        u, v, a = 0.0, 0.0, 0.0
        for number in range(room.shape[1]):
            c = np.uintp(number)
            real, imaginary = swings[0, i, c], swings[1, i, c]
            u += real * room[0, c] - imaginary * room[1, c]
            v += real * room[2, c] - imaginary * room[3, c]
            a += real * room[4, c] - imaginary * room[5, c]
        ways[0, t, i] += u
        ways[1, t, i] += v
        ways[2, t, i] += a


@inner_kernel
def risen(now: float, since: float, ramp: float, after: bool) -> tuple[float, float, float]:
    """Factor (1 - cos)/2 of the ramp of waves, and its rates. now, since: total times; the ramp begins at ``since``."""
    time, near = now - since, SAME_TIME * (abs(now) + ramp)
    has_begun, goes_on = (time >= -near, time < ramp - near) if after else (time > near, time <= ramp + near)
    if ramp <= 0.0 or not goes_on:
        return 1.0, 0.0, 0.0
    part, size = math.pi * min(max(time / ramp, 0.0), 1.0), math.pi / ramp
    if not has_begun:
        return 0.5 - 0.5 * math.cos(part), 0.0, 0.0
    return 0.5 - 0.5 * math.cos(part), 0.5 * size * math.sin(part), 0.5 * size**2 * math.cos(part)


@inner_kernel
def turn_by_angles(t: int, ways: Floats, arms: Floats, moved: Floats) -> None:
    """u, v, a of points from roll, pitch and yaw: the change of place and rates by each rotation in turn."""
    for p in range(arms.shape[0]):
        for i in range(3):
            moved[0, t, 3 * p + i] = moved[1, t, 3 * p + i] = moved[2, t, 3 * p + i] = 0.0
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        rate, bend, half = ways[1, t, 3 + axis], ways[2, t, 3 + axis], math.sin(0.5 * ways[0, t, 3 + axis])
        sine, less = math.sin(ways[0, t, 3 + axis]), 2.0 * half * half  # 1 - cosine
        for p in range(arms.shape[0]):
            j, k = 3 * p + one, 3 * p + other
            y, z = arms[p, one] + moved[0, t, j], arms[p, other] + moved[0, t, k]
            dy, dz, ddy, ddz = moved[1, t, j], moved[1, t, k], moved[2, t, j], moved[2, t, k]
            moved[0, t, j] -= less * y + sine * z
            moved[0, t, k] += sine * y - less * z
            y, z = arms[p, one] + moved[0, t, j], arms[p, other] + moved[0, t, k]
            along, across = (1.0 - less) * dy - sine * dz, sine * dy + (1.0 - less) * dz
            moved[1, t, j], moved[1, t, k] = along - rate * z, across + rate * y
            moved[2, t, j] = (1.0 - less) * ddy - sine * ddz - rate * (across + moved[1, t, k]) - bend * z
            moved[2, t, k] = sine * ddy + (1.0 - less) * ddz + rate * (along + moved[1, t, j]) + bend * y
    for p in range(arms.shape[0]):
        for i in range(3):
            for order in range(3):
                moved[order, t, 3 * p + i] += ways[order, t, i]


@inner_kernel
def turn_by_vector(t: int, ways: Floats, arms: Floats, moved: Floats) -> None:
    """u, v, a of points from a rotation vector: K r = q x r, K^2 r = q (q.r) - m r, m = |q|^2."""
    m, dm, ddm = 0.0, 0.0, 0.0
    for i in range(3, 6):
        q, dq, ddq = ways[0, t, i], ways[1, t, i], ways[2, t, i]
        m += q * q
        dm += 2.0 * q * dq
        ddm += 2.0 * (dq * dq + q * ddq)
    s, c, c3, c4, c5, c6 = stumpff(m)
    # derivatives by m: c_k' = (k c_k+2 - c_k+1)/2
    s1, s2, e1, e2 = (
        0.5 * (c3 - c),
        0.25 * (3.0 * c5 - 3.0 * c4 + c3),
        0.5 * (2.0 * c4 - c3),
        2.0 * c6 - 1.25 * c5 + 0.25 * c4,
    )
    ds, dds, dc, ddc = s1 * dm, s2 * dm * dm + s1 * ddm, e1 * dm, e2 * dm * dm + e1 * ddm
    for p in range(arms.shape[0]):
        along, dalong, ddalong = 0.0, 0.0, 0.0
        for i in range(3):
            along += ways[0, t, 3 + i] * arms[p, i]
            dalong += ways[1, t, 3 + i] * arms[p, i]
            ddalong += ways[2, t, 3 + i] * arms[p, i]
        for i in range(3):
            j, k = 3 + (i + 1) % 3, 3 + (i + 2) % 3
            r, rj, rk = arms[p, i], arms[p, j - 3], arms[p, k - 3]
            q, dq, ddq = ways[0, t, 3 + i], ways[1, t, 3 + i], ways[2, t, 3 + i]
            across, dacross = ways[0, t, j] * rk - ways[0, t, k] * rj, ways[1, t, j] * rk - ways[1, t, k] * rj
            ddacross = ways[2, t, j] * rk - ways[2, t, k] * rj
            inwards, dinwards = q * along - m * r, dq * along + q * dalong - dm * r
            ddinwards = ddq * along + 2.0 * dq * dalong + q * ddalong - ddm * r
            at = 3 * p + i
            moved[0, t, at] = ways[0, t, i] + s * across + c * inwards
            moved[1, t, at] = ways[1, t, i] + ds * across + s * dacross + dc * inwards + c * dinwards
            moved[2, t, at] = ways[2, t, i] + dds * across + 2.0 * ds * dacross + s * ddacross
            moved[2, t, at] += ddc * inwards + 2.0 * dc * dinwards + c * ddinwards


@inner_kernel
def stumpff(m: float) -> tuple[float, float, float, float, float, float]:
    """c_1 ... c_6 of m >= 0: c_k = sum of (-m)^j/(k + 2j)! = 1/k! - m c_k+2 (Stumpff; Battin, 4.5)."""
    if m < NEAR:
        c5, c6 = 1.0, 1.0
        for j in range(TERMS - 1, 0, -1):
            c5 = 1.0 - m * c5 / ((2.0 * j + 4.0) * (2.0 * j + 5.0))
            c6 = 1.0 - m * c6 / ((2.0 * j + 5.0) * (2.0 * j + 6.0))
        c5, c6 = c5 / 120.0, c6 / 720.0
        c3, c4 = 1.0 / 6.0 - m * c5, 1.0 / 24.0 - m * c6
        return 1.0 - m * c3, 0.5 - m * c4, c3, c4, c5, c6
    root = math.sqrt(m)
    c1, c2 = math.sin(root) / root, (1.0 - math.cos(root)) / m
    c3, c4 = (1.0 - c1) / m, (0.5 - c2) / m
    return c1, c2, c3, c4, (1.0 / 6.0 - c3) / m, (1.0 / 24.0 - c4) / m
