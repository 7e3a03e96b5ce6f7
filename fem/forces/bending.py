"""Bending of lines: moments at angles between neighbouring bars; nodes have no rotations.

With the vectors d1, d2 of two bars that meet at a node, or at a clamped end with its fixed direction d1,

    z = cos phi = d1.d2/(|d1| |d2|),    E = k phi^2/2,    force dE/dd = - k S(phi) dz/dd,    S(x) = x/sin x

are regular at phi = 0, where S and S'/x are sums of their series, and k = EI/l is that of ``model/beams.py``. Errors
of a clamped beam decrease with the square of the length of bars.

An increment has the discrete gradient of E: d1.d2 and 1/|d| are differences of products, so that dz is exactly

    v1.(change of d1) + v2.(change of d2),    v1 = p d2 - c q2 a1 d1,    a1 = 1/(|d1| |d1 before| |d1 after|)

with means of d, of c = d1.d2, of q = 1/|d| and of p = q1 q2 over both ends, |d1| alone being that of its two lengths;
k (phi1^2 - phi0^2)/2 = - k S((phi0 + phi1)/2) S((phi1 - phi0)/2) dz. It has no moment either, as
d1 x v1 + d2 x v2 = 0. The force at an instant is that of an increment of zero length, and its tangent twice the
derivative by the end. Source: Gonzalez, J. Nonlinear Sci. 6 (1996) 449, for invariants of d1 and d2.

BETA damps the rate of the angle as seen by material that does not spin about its line: with e = d/|d| and R, the
smallest rotation of e1 to e2, rho = e2' - R e1', R e1' = e1' - s (s.e1')/(1 + z), s = e1 + e2; the dissipated power is
beta k rho^2. R and e are those of the place where forces act, predicted from the start of the increment to second
order: the loss is never negative, its tangent exact and symmetric.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel, single_kernel
from fem.forces.protocol import Family, Tangent, Trial, apart, blend, component, cross, dot

SMALL = 0.1
"""|x| below which S and S'/x are computed by series."""
ALIKE = 1e-3
"""Change of z, over its distance from -1, below which the slope of the secant is that at the mean."""
FOLDED = math.radians(178.0)
"""Angle at which a line is folded back on itself: the direction of its force is undefined."""


class Bends(NamedTuple):
    """k angles.

    nodes      (k, 3)  the node of each between the other ends of its bars; the first is -1 at an end clamped in
                       space, and at a clamp on a body a node of the body behind it
    vectors    (k, 6)  d1 and d2 in the reference position; at a clamp d1 is the fixed direction
    stiffness  (k,)    EI/l
    viscosity  (k,)    BETA EI/l
    pair       (k,)    the first of its pairs: of the two last nodes, and where there are three the first and second,
                       the first and third
    """

    nodes: Ints
    vectors: Floats
    stiffness: Floats
    viscosity: Floats
    pair: Ints


@inner_kernel
def bar_at(k: int, which: int, u: Floats, group: Bends) -> Vector:
    """d1 (which = 0) or d2 (1) in a displaced position."""
    x, y, z = group.vectors[k, 3 * which], group.vectors[k, 3 * which + 1], group.vectors[k, 3 * which + 2]
    if group.nodes[k, which] >= 0:
        i, j = 3 * group.nodes[k, which], 3 * group.nodes[k, which + 1]
        x, y, z = x + (u[j] - u[i]), y + (u[j + 1] - u[i + 1]), z + (u[j + 2] - u[i + 2])
    return x, y, z


@inner_kernel
def angle_of(a: Vector, b: Vector) -> float:
    """phi, from 0 to pi, with all its digits at both ends."""
    across = cross(a, b)
    return math.atan2(math.sqrt(dot(across, across)), dot(a, b))


@inner_kernel
def over_sine(x: float) -> float:
    """S = x/sin x, even."""
    if abs(x) < SMALL:
        y = x * x
        return 1.0 + y / 6.0 * (1.0 + y * (7.0 / 60.0 + y * (31.0 / 2520.0 + y * 127.0 / 100800.0)))
    return x / math.sin(x)


@inner_kernel
def slope_over_sine(x: float) -> float:
    """- dS/dz = S'/sin x, even."""
    if abs(x) < SMALL:
        y = x * x
        slope = 1.0 / 3.0 + y * (7.0 / 90.0 + y * (31.0 / 2520.0 + y * 127.0 / 75600.0))
        return slope * over_sine(x)
    sine = math.sin(x)
    return (sine - x * math.cos(x)) / (sine * sine * sine)


@inner_kernel
def secant_slope(phi0: float, phi1: float, mean: float) -> float:
    """- d/dz1 of mean = S((phi0 + phi1)/2) S((phi1 - phi0)/2)."""
    change = 2.0 * math.sin(0.5 * (phi0 + phi1)) * math.sin(0.5 * (phi1 - phi0))
    start, end = 2.0 * math.sin(0.5 * phi0) ** 2, 2.0 * math.sin(0.5 * phi1) ** 2  # 1 - z
    if abs(change) > ALIKE * (2.0 - max(start, end)):
        return (over_sine(phi1) - mean) / change
    return 0.5 * slope_over_sine(2.0 * math.asin(math.sqrt((start + 2.0 * end) / 6.0)))


@single_kernel
def evaluate(trial: Trial, group: Bends, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces of all angles (see the heading of the file). Infinite if a line is folded."""
    energy = 0.0
    for k in range(group.nodes.shape[0]):
        after1, after2 = bar_at(k, 0, trial.u1, group), bar_at(k, 1, trial.u1, group)
        before1, before2 = after1, after2
        if trial.secant:
            before1, before2 = bar_at(k, 0, trial.u0, group), bar_at(k, 1, trial.u0, group)
        phi0, phi1 = angle_of(before1, before2), angle_of(after1, after2)
        far10, far20 = math.sqrt(dot(before1, before1)), math.sqrt(dot(before2, before2))
        far11, far21 = math.sqrt(dot(after1, after1)), math.sqrt(dot(after2, after2))
        if phi1 > FOLDED or min(min(far10, far20), min(far11, far21)) == 0.0:
            return math.inf
        stiffness = group.stiffness[k]
        energy += 0.5 * stiffness * phi1 * phi1
        q10, q20, q11, q21 = 1.0 / far10, 1.0 / far20, 1.0 / far11, 1.0 / far21
        p, c = 0.5 * (q10 * q20 + q11 * q21), 0.5 * (dot(before1, before2) + dot(after1, after2))
        a1, a2 = 2.0 / ((far10 + far11) * far10 * far11), 2.0 / ((far20 + far21) * far20 * far21)
        q1, q2 = 0.5 * (q10 + q11), 0.5 * (q20 + q21)
        d1, d2 = blend(0.5, before1, 0.5, after1), blend(0.5, before2, 0.5, after2)
        v1, v2 = blend(p, d2, -c * q2 * a1, d1), blend(p, d1, -c * q1 * a2, d2)
        mean = over_sine(0.5 * (phi0 + phi1)) * over_sine(0.5 * (phi1 - phi0))
        add_forces(k, -stiffness * mean, v1, v2, group, force)
        if tangent.block.shape[0] == 0:
            continue
        weight = stiffness * trial.weight * (1.0 if trial.secant else 2.0)
        slope, scale = weight * secant_slope(phi0, phi1, mean), -weight * mean
        # derivatives of z at the end, and of its parts, by d1 and d2
        q111, q211 = q11**3, q21**3
        z1 = blend(q11 * q21, after2, -dot(after1, after2) * q21 * q111, after1)
        z2 = blend(q11 * q21, after1, -dot(after1, after2) * q11 * q211, after2)
        p1, p2 = -0.5 * q21 * q111, -0.5 * q11 * q211
        a11, a21 = -a1 * (1.0 / (far10 + far11) + q11) * q11, -a2 * (1.0 / (far20 + far21) + q21) * q21
        r11 = blend(-0.5 * q2 * a1, after2, -c * q2 * a11, after1)
        r12 = blend(-0.5 * q2 * a1, after1, 0.5 * c * a1 * q211, after2)
        r21 = blend(-0.5 * q1 * a2, after2, 0.5 * c * a2 * q111, after1)
        r22 = blend(-0.5 * q1 * a2, after1, -c * q1 * a21, after2)
        for a in range(3):
            v1a, v2a, d1a, d2a = component(v1, a), component(v2, a), component(d1, a), component(d2, a)
            for b in range(3):
                one = 1.0 if a == b else 0.0
                after1b, after2b = component(after1, b), component(after2, b)
                z1b, z2b = component(z1, b), component(z2, b)
                k11 = slope * v1a * z1b
                k11 += scale * (d2a * p1 * after1b + d1a * component(r11, b) - 0.5 * c * q2 * a1 * one)
                k12 = slope * v1a * z2b
                k12 += scale * (d2a * p2 * after2b + d1a * component(r12, b) + 0.5 * p * one)
                k21 = slope * v2a * z1b
                k21 += scale * (d1a * p1 * after1b + d2a * component(r21, b) + 0.5 * p * one)
                k22 = slope * v2a * z2b
                k22 += scale * (d1a * p2 * after2b + d2a * component(r22, b) - 0.5 * c * q1 * a2 * one)
                add_entries(k, 3 * a + b, k11, k12, k21, k22, group, tangent)
    return energy


@inner_kernel
def add_forces(k: int, scale: float, n1: Vector, n2: Vector, group: Bends, force: Floats) -> None:
    """Adds scale n1 along d1 and scale n2 along d2, as forces on the nodes at their ends."""
    first, node, last = group.nodes[k, 0], 3 * group.nodes[k, 1], 3 * group.nodes[k, 2]
    for a in range(3):
        if first >= 0:
            force[3 * first + a] -= scale * component(n1, a)
            force[node + a] += scale * component(n1, a)
        force[node + a] -= scale * component(n2, a)
        force[last + a] += scale * component(n2, a)


@inner_kernel
def add_entries(
    k: int, at: int, k11: float, k12: float, k21: float, k22: float, group: Bends, tangent: Tangent
) -> None:
    """Adds an entry of the derivatives of n1, n2 by d1, d2 as derivatives of forces on nodes by their places."""
    first, node, last, pair = group.nodes[k, 0], group.nodes[k, 1], group.nodes[k, 2], group.pair[k]
    block, cross, turned = tangent.block, tangent.cross, 9 + at
    block[node, at] += k22
    block[last, at] += k22
    cross[pair, at] -= k22
    cross[pair, turned] -= k22
    if first < 0:
        return
    block[first, at] += k11
    block[node, at] += k11 - k12 - k21
    cross[pair, at] += k12
    cross[pair, turned] += k21
    cross[pair + 1, at] += k12 - k11
    cross[pair + 1, turned] += k21 - k11
    cross[pair + 2, at] -= k12
    cross[pair + 2, turned] -= k21


@inner_kernel
def foreseen(which: int, k: int, trial: Trial, group: Bends) -> Vector:
    """d1 or d2 where the forces of the increment act, predicted from its start."""
    x, y, z = bar_at(k, which, trial.u0, group)
    if group.nodes[k, which] < 0:
        return x, y, z
    x1, y1, z1 = difference(which, k, trial.v0, group.nodes)
    x2, y2, z2 = difference(which, k, trial.a0, group.nodes)
    ahead, half = trial.ahead, 0.5 * trial.ahead
    return x + ahead * (x1 + half * x2), y + ahead * (y1 + half * y2), z + ahead * (z1 + half * z2)


@inner_kernel
def difference(which: int, k: int, x: Floats, nodes: Ints) -> Vector:
    """x at the second end of a bar of an angle less x at the first; 0 for a fixed direction."""
    if nodes[k, which] < 0:
        return 0.0, 0.0, 0.0
    return apart(3 * nodes[k, which], 3 * nodes[k, which + 1], x)


@single_kernel
def resist(trial: Trial, group: Bends, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces of BETA, which store no energy."""
    if trial.rate == 0.0:
        return 0.0
    for k in range(group.nodes.shape[0]):
        d1, d2 = foreseen(0, k, trial, group), foreseen(1, k, trial, group)
        q1, q2 = 1.0 / math.sqrt(dot(d1, d1)), 1.0 / math.sqrt(dot(d2, d2))
        e1, e2 = blend(q1, d1, 0.0, d1), blend(q2, d2, 0.0, d2)
        z, both = dot(e1, e2), blend(1.0, e1, 1.0, e2)
        w1, w2 = difference(0, k, trial.v1, group.nodes), difference(1, k, trial.v1, group.nodes)
        if trial.secant:
            rate = trial.rate
            w1 = blend(rate, difference(0, k, trial.u1, group.nodes), -rate, difference(0, k, trial.u0, group.nodes))
            w2 = blend(rate, difference(1, k, trial.u1, group.nodes), -rate, difference(1, k, trial.u0, group.nodes))
        w1, w2 = blend(q1, w1, -q1 * dot(e1, w1), e1), blend(q2, w2, -q2 * dot(e2, w2), e2)
        turns = blend(1.0, w2, -1.0, blend(1.0, w1, -dot(e2, w1) / (1.0 + z), both))
        back = blend(1.0, turns, -dot(e1, turns) / (1.0 + z), both)
        n1, n2 = blend(-q1, back, 0.0, back), blend(q2, turns, 0.0, turns)
        add_forces(k, group.viscosity[k], n1, n2, group, force)
        if flow.shape[0] > 0:
            add_forces(k, group.viscosity[k], n1, n2, group, flow)
        if tangent.block.shape[0] == 0:
            continue
        scale = group.viscosity[k] * trial.weight * trial.rate
        for a in range(3):
            for b in range(3):
                one = 1.0 if a == b else 0.0
                e1a, e1b, e2a, e2b = component(e1, a), component(e1, b), component(e2, a), component(e2, b)
                # entry b, a of R (1 - e1 e1^T): effect of d1 on d2
                felt = one - e1a * e1b - component(both, b) * (e2a - z * e1a) / (1.0 + z)
                other = one - e1a * e1b - component(both, a) * (e2b - z * e1b) / (1.0 + z)
                k11, k22 = scale * q1 * q1 * (one - e1a * e1b), scale * q2 * q2 * (one - e2a * e2b)
                mixed = -scale * q1 * q2
                add_entries(k, 3 * a + b, k11, mixed * felt, mixed * other, k22, group, tangent)
    return 0.0


def bent(group: Any, u: Floats) -> Floats:
    """phi (k,) at a displacement (3n,)."""
    place, (before, node, after) = u.reshape(-1, 3), group.nodes[:, :3].T
    first = group.vectors[:, :3] + np.where(before[:, None] < 0, 0.0, place[node] - place[before])
    second = group.vectors[:, 3:6] + place[after] - place[node]
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), (first * second).sum(axis=1)))


def released(group: Bends, after: Bends, u: Floats) -> float:
    """Energy of angles beside bars that have just broken."""
    return float(0.5 * (group.stiffness - after.stiffness) @ bent(group, u) ** 2)


NOTHING = Bends(np.zeros((0, 3), np.int64), np.zeros((0, 6)), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))


def assemble(model: Any, system: Any, pair: int, state: int) -> Bends:
    if not model.bends:
        return NOTHING
    angles = model.angles(system.length0[system.bar_index])
    if system.twists is not None:
        angles = angles.without(system.twists.angles)
    there = ~(system.gone[angles.bars] & (angles.bars >= 0)).any(axis=1)
    before, node, after = angles.nodes.T
    place = system.coordinates
    first, second = place[node] - place[before], place[after] - place[node]
    first[before < 0] = second[before < 0]
    vectors = np.ascontiguousarray(np.column_stack([first, second]))
    counts = np.where(before < 0, 1, 3)
    first_pair = pair + np.cumsum(counts) - counts
    return Bends(angles.nodes, vectors, there / angles.softness, there * angles.viscosity, first_pair)


def assemble_damping(model: Any, system: Any, pair: int, state: int) -> Bends:
    """The angles of a model in which some material has BETA."""
    group = assemble(model, system, pair, state)
    return group if group.viscosity.any() else NOTHING


def pairs_of(group: Bends) -> Ints:
    """Nodes that angles couple."""
    found = [
        [(node, last)] if first < 0 else [(node, last), (first, node), (first, last)]
        for first, node, last in group.nodes.tolist()
    ]
    return np.array([pair for each in found for pair in each], np.int64).reshape(-1, 2)


def size_of(group: Any) -> float:
    """The largest stiffness, EI/l, over the length of the shortest adjacent bar."""
    lengths = np.linalg.norm(group.vectors[:, :6].reshape(-1, 2, 3), axis=2).min(axis=1, initial=np.inf)
    return float((group.stiffness.T / lengths).max(initial=0.0))


def blame_fold(group: Any, system: Any, u: Floats, state: Floats) -> str:
    """Message that a line is folded, with its place."""
    phi = bent(group, u)
    for at in np.flatnonzero(phi > FOLDED)[:1].tolist():
        return (
            f"the line is folded back at node {system.labels[group.nodes[at, 1]]}: its bars meet at "
            f"{math.degrees(phi[at]):.4g} degrees. Give it shorter bars there, or bring its loads on more slowly."
        )
    return ""


BENDING = Family(
    "bending",
    assemble,
    evaluate,
    pairs=pairs_of,
    wanted=lambda model: model.bends,
    size=size_of,
    released=released,
    trouble=blame_fold,
)
BENDING_DAMPING = Family(
    "damping of bending", assemble_damping, resist, pairs=pairs_of, wanted=lambda model: model.bends, smooth=False
)
