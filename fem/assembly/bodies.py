"""What moves with a reference node: nodes of rigid bodies on prescribed ways, and planes that nodes do not enter.

The nodes pinned to a rigid body follow the six motions of its reference node, exactly:

    x = X_r + U + R (X - X_r),    v = V + R' (X - X_r),    a = A + R'' (X - X_r)

Waves add to the motions of the reference node of a vessel, in its axes, which HEADING turns (``model/vessels``): with
theta = k.(X_r + U) - omega t + phase of each regular wave, whose rates hold what the node drifts, and its ramp g,

    q = Re sum a f H e^(i theta),   f = g;   for q'  f = g' + i g theta';
                                    for q''  f = g'' + 2 i g' theta' + i g theta'' - g theta'^2

RPY     R = Rz(q3) Ry(q2) Rx(q1): roll, pitch, yaw of vessels (Fossen, Handbook of Marine Craft Hydrodynamics, 2.2.1)
VECTOR  R = exp [q]x = I + s K + c K^2, K = [q]x, s = sin p/p, c = (1 - cos p)/p^2, p = |q| (Rodrigues)
R' and R'' follow by the product rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.forces import bar
from fem.model import Model, RigidBody
from fem.model.curves import NEAR as SAME_TIME
from fem.model.vessels import moved_by

CROSS = np.cross(np.eye(3)[:, None], np.eye(3)[None]).swapaxes(1, 2)
"""[e_i]x: a x b = (a_i CROSS[i]) b."""
NEAR = 1.0
"""|q|^2 below which s, c and their derivatives are sums of their series: closed forms lose digits there."""
TERMS = 12
REAL_PART = np.array([1.0, -1.0])[:, None, None]
"""Re((x + iy)(r + is)) = x r - y s."""


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One ``*RIGID BODY``.

    driven    (6,)    dofs of the reference node; those of rotations lie behind those of all nodes
    dofs      (3p,)   of the pinned nodes, rising
    arms      (p, 3)  X - X_r
    is_vector         rotations are the components of one rotation vector
    waves     (6, c)  that move it, none without RAO: omega; k as a vector; the phase at X_r; the ramp
    swings    (2, 6, c)  real and imaginary part of a H of its six motions, in the axes of the model
    """

    driven: Ints
    dofs: Ints
    arms: Floats
    is_vector: bool
    waves: Floats
    swings: Floats

    def swung(self, q: Floats, dq: Floats, ddq: Floats, time: Floats, after: bool) -> tuple[Floats, Floats, Floats]:
        """Motions (k, 6) of the reference node and their rates, with what waves add; ``after``: one-sided rates."""
        omega, way, phase = self.waves[0], self.waves[1:4], self.waves[4]
        theta, rate, bend = q[:, :3] @ way - np.outer(time, omega) + phase, dq[:, :3] @ way - omega, ddq[:, :3] @ way
        ramps = distinct(self.waves[5])
        grown, rises, curves = (each[:, ramps.searchsorted(self.waves[5])] for each in risen(time, ramps, after))
        cosine, sine, swings = np.cos(theta), np.sin(theta), np.concatenate(self.swings * REAL_PART, axis=1)
        factors = (
            (grown, 0.0 * rate),
            (rises, grown * rate),
            (curves - grown * rate**2, 2.0 * rises * rate + grown * bend),
        )
        u, v, a = (
            own + np.einsum("kc,ic->ki", np.hstack([f * cosine - g * sine, f * sine + g * cosine]), swings)
            for own, (f, g) in zip((q, dq, ddq), factors, strict=True)
        )
        return u, v, a

    def moved(self, q: Floats, dq: Floats, ddq: Floats) -> tuple[Floats, Floats, Floats]:
        """u, v, a (k, 3p) of the pinned nodes; q, dq, ddq (k, 6) of the reference node and their rates."""
        turned = (exponential if self.is_vector else roll_pitch_yaw)(q[:, 3:], dq[:, 3:], ddq[:, 3:])
        u, v, a = (
            (way[:, None, :3] + np.einsum("kij,pj->kpi", each, self.arms)).reshape(len(q), -1)
            for way, each in zip((q, dq, ddq), (turned[0] - np.eye(3), *turned[1:]), strict=True)
        )
        return u, v, a


def bodies_of(model: Model) -> tuple[Body, ...]:
    """Those of a model, in order."""
    mesh, size = model.mesh, 3 * len(model.mesh.node_labels)
    found = []
    for number, body in enumerate(model.bodies):
        (reference,) = mesh.nodes_of(body.node)
        pinned = np.unique(mesh.nodes_of(body.pinned))
        driven = np.concatenate([3 * reference + np.arange(3), size + 3 * number + np.arange(3)])
        dofs = (3 * pinned[:, None] + np.arange(3)).ravel()
        arms = mesh.coordinates[pinned] - mesh.coordinates[reference]
        found.append(Body(driven, dofs, arms, body.rotation == "VECTOR", *waves_on(model, body)))
    return tuple(found)


def waves_on(model: Model, body: RigidBody) -> tuple[Floats, Floats]:
    """``waves`` and ``swings`` of a body."""
    if body.rao is None or not len(model.sea):
        return np.zeros((6, 0)), np.zeros((2, 6, 0))
    up, (at,) = model.mesh.up, model.mesh.coordinates[model.mesh.nodes_of(body.node)]
    omega, k, _, phase, b, ramp = model.sea.T
    way = level_axes(up) @ np.array([k * np.cos(b), k * np.sin(b), 0.0 * k])
    bow = np.radians(body.heading)
    turn = np.array([[np.cos(bow), -np.sin(bow), 0.0], [np.sin(bow), np.cos(bow), 0.0], [0.0, 0.0, 1.0]])
    axes = level_axes(up) @ turn
    found = moved_by(model.raos[body.rao], model.sea, body.heading)
    found = np.concatenate([axes @ found[:3], axes @ found[3:]])
    return np.vstack([omega, way, phase + at @ way, ramp]), np.stack([found.real, found.imag])


def level_axes(up: int) -> Floats:
    """(3, 3) the axes x, y, upwards of waves, as columns: of plane models (y is up) the second is -z."""
    return np.eye(3) if up == 2 else np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def risen(time: Floats, ramp: Floats, after: bool) -> tuple[Floats, Floats, Floats]:
    """Factors (k, c) by which waves have risen, (1 - cos)/2 over the ramp, and their rates."""
    rises, whole = ramp > 0.0, np.where(ramp > 0.0, ramp, 1.0)
    now, near = time[:, None], SAME_TIME * (np.abs(time[:, None]) + whole)
    inside = rises & ((now >= -near) & (now < whole - near) if after else (now > near) & (now <= whole + near))
    part, size = np.pi * np.where(rises, np.clip(now / whole, 0.0, 1.0), 1.0), np.pi / whole
    return 0.5 - 0.5 * np.cos(part), 0.5 * size * np.sin(part) * inside, 0.5 * size**2 * np.cos(part) * inside


def roll_pitch_yaw(q: Floats, dq: Floats, ddq: Floats) -> tuple[Floats, Floats, Floats]:
    """R, R', R'' (k, 3, 3) of angles about x, y, z (k, 3) and their rates."""
    (x, dx, ddx), (y, dy, ddy), (z, dz, ddz) = (about(i, q[:, i], dq[:, i], ddq[:, i]) for i in range(3))
    first = dz @ y @ x + z @ dy @ x + z @ y @ dx
    second = ddz @ y @ x + z @ ddy @ x + z @ y @ ddx + 2.0 * (dz @ dy @ x + dz @ y @ dx + z @ dy @ dx)
    return z @ y @ x, first, second


def about(axis: int, q: Floats, dq: Floats, ddq: Floats) -> tuple[Floats, Floats, Floats]:
    """Rotation about one axis by q (k,): R' = q' K R, R'' = (q'' K + q'^2 K^2) R."""
    k, (sine, cosine, dq, ddq) = CROSS[axis], (each[:, None, None] for each in (np.sin(q), np.cos(q), dq, ddq))
    turned = np.eye(3) + sine * k + (1.0 - cosine) * (k @ k)
    return turned, dq * k @ turned, (ddq * k + dq**2 * (k @ k)) @ turned


def exponential(q: Floats, dq: Floats, ddq: Floats) -> tuple[Floats, Floats, Floats]:
    """R, R', R'' (k, 3, 3) of a rotation vector (k, 3) and its rates."""
    k, dk, ddk = (np.einsum("ti,ijk->tjk", each, CROSS) for each in (q, dq, ddq))
    square, dsquare, ddsquare = k @ k, dk @ k + k @ dk, ddk @ k + 2.0 * dk @ dk + k @ ddk
    m, dm, ddm = (q * q).sum(axis=1), 2.0 * (q * dq).sum(axis=1), 2.0 * (dq * dq + q * ddq).sum(axis=1)
    _, c1, c2, c3, c4, c5, c6 = stumpff(m)
    s, s1, s2 = c1, (c3 - c2) / 2.0, (3.0 * c5 - 3.0 * c4 + c3) / 4.0  # derivatives by m: c_k' = (k c_k+2 - c_k+1)/2
    c, e1, e2 = c2, (2.0 * c4 - c3) / 2.0, (8.0 * c6 - 5.0 * c5 + c4) / 4.0
    of_k = [each[:, None, None] for each in (s, s1 * dm, s2 * dm**2 + s1 * ddm)]
    of_square = [each[:, None, None] for each in (c, e1 * dm, e2 * dm**2 + e1 * ddm)]
    first = of_k[1] * k + of_k[0] * dk + of_square[1] * square + of_square[0] * dsquare
    second = of_k[2] * k + 2.0 * of_k[1] * dk + of_k[0] * ddk
    second += of_square[2] * square + 2.0 * of_square[1] * dsquare + of_square[0] * ddsquare
    return np.eye(3) + of_k[0] * k + of_square[0] * square, first, second


def stumpff(m: Floats) -> list[Floats]:
    """c_0 ... c_6 of m >= 0 (k,): c_k = sum of (-m)^j/(k + 2j)!, c_0 = cos sqrt m (Stumpff; Battin, 4.5)."""
    near, far = np.minimum(m, NEAR), np.maximum(m, NEAR)
    series = [sum((-near) ** j / math.factorial(k + 2 * j) for j in range(TERMS)) for k in range(7)]
    root = np.sqrt(far)
    closed = [np.cos(root), np.sin(root) / root]
    for k in range(5):
        closed.append((1.0 / math.factorial(k) - closed[k]) / far)
    return [np.where(m < NEAR, *each) for each in zip(series, closed, strict=True)]


def planes_of(model: Model) -> tuple[Ints, Floats]:
    """Ends (c, 2) and constants (CONSTANTS, c) of the stops of all planes, one for each node."""
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
