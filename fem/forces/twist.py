"""Torsion and bending of lines that twist: moments at angles between bars, each with a spin about itself.

With d of a bar, t = d/|d|, its director D across it, its spin a; T, D0 and a0 those of the start of the increment:

    D   = D0 carried from T to t by the smallest rotation, then turned by a - a0 about t
    m   = m0 + change of a2 - change of a1 + W,  W = solid angle of T1, T2, t2, t1           twist, with all its turns
    kb  = 2 t1 x t2/(1 + t1.t2),   k = phi/|kb| (A.kb, B.kb),   A = D of bar 1 turned by m/2 about t1,  B = t1 x A
    E   = EI1 (k1 - k1')^2/2l + EI2 (k2 - k2')^2/2l + GJ (m - m')^2/2l + C (m - m') e,   e: strain of both bars

and ' of the shape at rest. (Where sections meet that lie differently, A is turned further by a constant angle, to an
axis about which both bend without the other; at a body to the axis of the section.) With w = (A.kb, B.kb), the
components x, y along A, B of a change of t1, along A2, B2 (A, B carried from t1 to t2) of one of t2, their differences
X, Y and sums P, Q, and with the spins s1, s2 of both frames

    w1' = - w1 w2 X/4 + (1 + w1^2/4) Y + w2 (s1 + s2)/2,    w2' = - (1 + w2^2/4) X + w1 w2 Y/4 - w1 (s1 + s2)/2,
    m'  = s2 - s1 + (w1 P + w2 Q)/2

give the forces *with the spins held*: these with M = dE/dm and q = dE/dw, S - N on a1 and N on a2, S = q1 w2 - q2 w1,
N = M + S/2. Their second derivatives are in ``slopes``.
As a function of places and spins E has one term more, torque times - (T x t)/((1 + T.t)|d|) for each bar: the angle
is counted in a frame that moves. In balance it vanishes. Statics uses the gradient of E, whose tangent is symmetric;
motion uses forces with the spins held (the other term would make the angular momentum of first order) with the same
tangent. A bar that spins and turns has the gyroscopic force Ip L a' t x t'/|d| on its ends, which does no work.

The force of an increment (ENERGY MOMENTUM) is the one at the mean of both ends, plus (E1 - E0 - g.dz)/|dz|^2 dz over
the eight numbers z of an angle: it keeps the energy. Where E1 - E0 - g.dz is but rounding errors, which 1/|dz| would
magnify in small increments, it is left out. BETA: EI k', GJ m' beside EI k, GJ m, at the place that is
foreseen. Sources: Bergou et al., ACM Trans. Graph. 27 (2008) 63; Kaldor et al., ibid. 29 (2010) 52 (carried frames);
Gonzalez, J. Nonlinear Sci. 6 (1996) 449.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel, single_kernel
from fem.forces.bending import difference
from fem.forces.protocol import NO_PAIRS, Family, Tangent, Trial, apart, blend, component, cross, dot, scaled

SMALL = 1e-2
"""|kb|^2/4 below which phi/|kb| and its derivatives are sums of their series."""
FOLDED = 1e-3
"""1 + cos phi of a line that is folded back on itself: the direction of its force is undefined."""
ROUNDING = 16.0 * 2.220446049250313e-16
"""Rounding error of a strain, with a margin."""
OF_FRAME, OF_ANGLE = 8, 10
"""States of a frame: T, D, a, and the tension of its bar by C; and of an angle: m, curvatures about both axes and
twist, their moments and torque, for tables the spins of both bars as their elements run, and m."""
SLOTS, ROW = 5, 11
# Entries of ``coupling``: C times the part of l over the natural length of a bar, and this length, of both bars
PULL1, PULL2, LENGTH1, LENGTH2 = 0, 1, 2, 3


class Twisted(NamedTuple):
    """k angles, s frames.

    nodes     (k, 5)   before, at and after the angle, the nodes of both spins; the first is -1 at an end clamped in
                       space, and at a clamp on a body a node of the body behind it
    vectors   (k, 6)   d1 and d2 in the reference position; at a clamp d1 is the fixed direction;  arms (k, 3): from
                       the angle to that node
    beside    (k,)     1: a clamp on a body that turns the line; the fourth of the nodes is then one beside the line
    frames    (k, 2)   of both bars, or of the clamp and the bar;  turns (k, 2): -1.0 where the bar runs the other way
    stiffness (k, 3)   EI1/l, EI2/l, GJ/l;  viscosity (k, 3): BETA times these
    askew     (k,)     constant angle by which A is turned beyond m/2
    rest      (k, 3)   k1', k2', m';  over (k, 2): 1/l of bending and of twist, for tables
    coupling  (k, 4)
    pair      (k, 25)  pair of two of the nodes, -1: they are one, or one is missing
    aside     (s, 2)   of the frame of a body, the node at the angle and the one beside the line, else -1
    bars      (s,)     element of a frame, -1 of a clamp
    ends      (s, 2)   nodes of the bar of a frame, -1 of a clamp;  way (s, 3): its vector in the deck
    spin      (s,)     node of the spin of each frame;  radius (s,): a = u/radius
    inertia   (s,)     Ip L of bars
    first     (1,)     its first state;  begun: its states in the deck
    room      (12, 11)  work array: a matrix over the numbers of an angle (d1, d2, a1, a2, q), and a row
    forms     (10, 11)  work array: linear forms over these numbers
    """

    nodes: Ints
    vectors: Floats
    beside: Ints
    arms: Floats
    frames: Ints
    turns: Floats
    stiffness: Floats
    viscosity: Floats
    askew: Floats
    rest: Floats
    over: Floats
    coupling: Floats
    pair: Ints
    aside: Ints
    bars: Ints
    ends: Ints
    way: Floats
    spin: Ints
    radius: Floats
    inertia: Floats
    first: Ints
    begun: Floats
    room: Floats
    forms: Floats


class Angle(NamedTuple):
    """Geometry of an angle; ``held1``, ``held2``: - (T x t)/((1 + T.t)|d|) of both bars. On a body, whose node beside
    the line is at q from the angle: ``along`` and ``far``, the parts of q along t1 and across it, and ``side``, across
    both. Its director is q/far without the first part, and its spin side.(q' - along t1')/far."""

    n1: float
    n2: float
    t1: Vector
    t2: Vector
    start1: Vector
    start2: Vector
    c: float
    a: Vector
    b: Vector
    a2: Vector
    b2: Vector
    wa: float
    wb: float
    f: float
    f1: float
    f2: float
    m: float
    held1: Vector
    held2: Vector
    side: Vector
    along: float
    far: float


@inner_kernel
def carried(v: Vector, before: Vector, after: Vector) -> Vector:
    """v, across ``before``, turned as this unit vector turns to ``after`` by the smallest rotation."""
    return blend(1.0, v, -dot(v, after) / (1.0 + dot(before, after)), blend(1.0, before, 1.0, after))


@inner_kernel
def solid(x: Vector, y: Vector, z: Vector, v: Vector) -> float:
    """Solid angle of four unit vectors in turn: of x, y, z and of x, z, v; halves are angles of complex numbers."""
    real, other = 1.0 + dot(x, y) + dot(y, z) + dot(z, x), 1.0 + dot(x, z) + dot(z, v) + dot(v, x)
    volume, second = dot(x, cross(y, z)), dot(x, cross(z, v))
    return 2.0 * math.atan2(volume * other + second * real, real * other - volume * second)


@inner_kernel
def ratio(y: float) -> tuple[float, float, float]:
    """f = phi/|kb| at y = |kb|^2 = 4 tan^2(phi/2), f' and f''."""
    z = 0.25 * y
    if z < SMALL:
        f, f1, f2, power = 0.0, 0.0, 0.0, 1.0
        for n in range(9):
            c = (1.0 - 2.0 * (n % 2)) / (2.0 * n + 1.0)
            f += c * power
            f1 -= (n + 1.0) * power * (1.0 - 2.0 * (n % 2)) / (2.0 * n + 3.0)
            f2 += (n + 2.0) * (n + 1.0) * power * (1.0 - 2.0 * (n % 2)) / (2.0 * n + 5.0)
            power *= z
        return f, 0.25 * f1, 0.0625 * f2
    s = math.sqrt(z)
    f = math.atan(s) / s
    slope = (1.0 / (1.0 + z) - f) / (2.0 * z)
    return f, 0.25 * slope, 0.0625 * (-1.0 / (1.0 + z) ** 2 - 3.0 * slope) / (2.0 * z)


@inner_kernel
def read(at: int, x: Floats) -> Vector:
    return x[at], x[at + 1], x[at + 2]


@inner_kernel
def write(at: int, v: Vector, x: Floats) -> None:
    x[at], x[at + 1], x[at + 2] = v


@inner_kernel
def spun(k: int, which: int, u: Floats, state: Floats, group: Twisted) -> float:
    """Spin of a bar along an angle since the start of the increment."""
    s = group.frames[k, which]
    if group.aside[s, 0] >= 0:
        return 0.0
    a = u[3 * group.spin[s]] / group.radius[s] - state[group.first[0] + OF_FRAME * s + 6]
    turned: float = group.turns[k, which] * a
    return turned


@inner_kernel
def vector_at(k: int, which: int, u: Floats, group: Twisted) -> Vector:
    """d1 (which = 0) or d2 (1) in a displaced position."""
    return blend(1.0, read(3 * which, group.vectors[k]), 1.0, difference(which, k, u, group.nodes))


@inner_kernel
def arm_at(k: int, u: Floats, group: Twisted) -> Vector:
    """q, from the angle to the node of a body beside the line; without a body any vector."""
    if group.beside[k] == 0:
        return 0.0, 0.0, 0.0
    return blend(1.0, read(0, group.arms[k]), 1.0, arm_between(k, u, group))


@inner_kernel
def arm_between(k: int, x: Floats, group: Twisted) -> Vector:
    """x at the node beside the line less x at the angle; 0 without a body."""
    if group.beside[k] == 0:
        return 0.0, 0.0, 0.0
    return apart(3 * group.nodes[k, 1], 3 * group.nodes[k, 3], x)


@inner_kernel
def angle_at(k: int, d1: Vector, d2: Vector, a1: float, a2: float, q: Vector, state: Floats, group: Twisted) -> Angle:
    """Geometry for vectors d1, d2, spins a1, a2 since the start of the increment, and q of a body instead of a1."""
    first, own = group.first[0], group.first[0] + OF_FRAME * group.spin.shape[0] + OF_ANGLE * k
    at1, at2 = first + OF_FRAME * group.frames[k, 0], first + OF_FRAME * group.frames[k, 1]
    start1, start2 = scaled(group.turns[k, 0], read(at1, state)), scaled(group.turns[k, 1], read(at2, state))
    n1, n2 = math.sqrt(dot(d1, d1)), math.sqrt(dot(d2, d2))
    t1, t2 = scaled(1.0 / n1, d1), scaled(1.0 / n2, d2)
    director = carried(read(at1 + 3, state), start1, t1)
    normal, along, far, side = cross(t1, director), 0.0, 1.0, (0.0, 0.0, 0.0)
    held1 = scaled(-1.0 / ((1.0 + dot(start1, t1)) * n1), cross(start1, t1))
    held2 = scaled(-1.0 / ((1.0 + dot(start2, t2)) * n2), cross(start2, t2))
    if group.beside[k] == 1:
        along = dot(q, t1)
        beside = blend(1.0, q, -along, t1)
        far, a1 = math.sqrt(dot(beside, beside)), math.atan2(dot(normal, beside), dot(director, beside))
        side, held1 = scaled(1.0 / far, cross(t1, beside)), (0.0, 0.0, 0.0)
    m = state[own] + a2 - a1 + solid(start1, start2, t2, t1)
    c = 1.0 + dot(t1, t2)
    kb, both = scaled(2.0 / c, cross(t1, t2)), blend(0.5, t1, 0.5, t2)
    h = a1 + 0.5 * m + group.askew[k]
    cosine, sine = math.cos(h), math.sin(h)
    a, b = blend(cosine, director, sine, normal), blend(cosine, normal, -sine, director)
    wa, wb = dot(a, kb), dot(b, kb)
    f, f1, f2 = ratio(wa * wa + wb * wb)
    bend = (c, a, b, blend(1.0, a, -wb, both), blend(1.0, b, wa, both), wa, wb, f, f1, f2, m)
    return Angle(n1, n2, t1, t2, start1, start2, *bend, held1, held2, side, along, far)


@inner_kernel
def strains_of(k: int, x: Angle, group: Twisted) -> Vector:
    """Differences of curvatures (times l) and twist from those at rest."""
    return x.f * x.wa - group.rest[k, 0], x.f * x.wb - group.rest[k, 1], x.m - group.rest[k, 2]


@inner_kernel
def pulled(k: int, x: Angle, group: Twisted) -> float:
    """C e."""
    own = group.coupling
    pull: float = own[k, PULL1] * (x.n1 - own[k, LENGTH1]) + own[k, PULL2] * (x.n2 - own[k, LENGTH2])
    return pull


@inner_kernel
def energy_of(k: int, x: Angle, group: Twisted) -> float:
    s = strains_of(k, x, group)
    twice = group.stiffness[k, 0] * s[0] * s[0] + group.stiffness[k, 1] * s[1] * s[1]
    energy: float = 0.5 * (twice + group.stiffness[k, 2] * s[2] * s[2]) + s[2] * pulled(k, x, group)
    return energy


@inner_kernel
def uncertain(k: int, x: Angle, group: Twisted) -> float:
    """Rounding error of the energy."""
    s, own = strains_of(k, x, group), group.coupling
    wide = own[k, PULL1] * own[k, LENGTH1] + own[k, PULL2] * own[k, LENGTH2]
    total = abs(group.stiffness[k, 0] * s[0]) + abs(group.stiffness[k, 1] * s[1])
    total += abs(group.stiffness[k, 2] * s[2]) * (1.0 + abs(x.m)) + abs(s[2] * wide) + abs(pulled(k, x, group))
    error: float = ROUNDING * total
    return error


@inner_kernel
def gradient(row: int, pa: float, pb: float, moment: float, held: float, x: Angle, room: Floats) -> None:
    """Writes pa times the gradient of k1, pb times that of k2 and moment times that of m; with the spins held if
    ``held`` is 0, at constant angles if it is 1."""
    f1 = 2.0 * x.f1
    qa = pa * (x.f + f1 * x.wa * x.wa) + pb * f1 * x.wa * x.wb
    qb = pb * (x.f + f1 * x.wb * x.wb) + pa * f1 * x.wa * x.wb
    s, _, ka, kb = of_w(qa, qb, x)
    n, ma, mb = moment + 0.5 * s, 0.5 * moment * x.wa, 0.5 * moment * x.wb
    g1, g2 = blend(mb + kb, x.b, ma - ka, x.a), blend(mb - kb, x.b2, ma + ka, x.a2)
    write_row(row, 0, blend(1.0 / x.n1, g1, held * (s - n), x.held1), room)
    write_row(row, 3, blend(1.0 / x.n2, g2, held * n, x.held2), room)
    room[row, 6], room[row, 7] = s - n, n
    add_row(row, 0, -(s - n) * x.along / (x.far * x.n1), x.side, room)
    write_row(row, 8, scaled((s - n) / x.far, x.side), room)


@inner_kernel
def of_w(qa: float, qb: float, x: Angle) -> tuple[float, float, float, float]:
    """S, w1 w2/4, and what q does on - X and Y."""
    c = 0.25 * x.wa * x.wb
    ka, kb = (1.0 + 0.25 * x.wb * x.wb) * qb + c * qa, (1.0 + 0.25 * x.wa * x.wa) * qa + c * qb
    return qa * x.wb - qb * x.wa, c, ka, kb


@inner_kernel
def write_row(row: int, at: int, v: Vector, room: Floats) -> None:
    room[row, at], room[row, at + 1], room[row, at + 2] = v


@inner_kernel
def add_row(row: int, at: int, factor: float, v: Vector, room: Floats) -> None:
    room[row, at] += factor * v[0]
    room[row, at + 1] += factor * v[1]
    room[row, at + 2] += factor * v[2]


@inner_kernel
def slopes(k: int, scale: float, x: Angle, group: Twisted) -> None:
    """Writes the derivative of the gradient at constant angles by its numbers, times ``scale``: symmetric.

    It is the sum of (f v^T + v f^T)/2 over five pairs of linear forms (``forms``): f are the changes of w1, w2, m,
    s = (s1 + s2)/2 and r = (w1 P + w2 Q)/4; v contains for w and m the stiffness times these, and with what the forms
    themselves change (A, B turn by s + r about t1, A2, B2 by s - r about t2), h = M/2, K1 and K2 the forces on - X, Y

        w1:  - q1 w2 X/4 + (q1 w1/2 + q2 w2/4) Y - q2 s + h P        s:  - K1 Y - K2 X + h (w1 Q - w2 P)
        w2:  - (q1 w1/4 + q2 w2/2) X + q2 w1 Y/4 + q1 s + h Q        r:  - K1 Q - K2 P + h (w1 Y - w2 X)

    Then ``lengthen`` adds what is due to lengths, and to directions at the start of the increment. What is not
    symmetric cancels in the sum, because it is the second derivative of an energy.
    """
    forms, stiffness, own, on_body = group.forms, group.stiffness, group.coupling, group.beside[k] == 1
    strain = strains_of(k, x, group)
    pa, pb = stiffness[k, 0] * strain[0], stiffness[k, 1] * strain[1]
    moment, wa, wb, f1 = stiffness[k, 2] * strain[2] + pulled(k, x, group), x.wa, x.wb, 2.0 * x.f1
    kaa, kab, kbb = x.f + f1 * wa * wa, f1 * wa * wb, x.f + f1 * wb * wb  # derivatives of k by w
    qa, qb = pa * kaa + pb * kab, pb * kbb + pa * kab
    r = 4.0 * x.f2
    qaa = stiffness[k, 0] * kaa * kaa + stiffness[k, 1] * kab * kab
    qaa += pa * (3.0 * f1 * wa + r * wa * wa * wa) + pb * (f1 * wb + r * wa * wa * wb)
    qab = stiffness[k, 0] * kaa * kab + stiffness[k, 1] * kab * kbb
    qab += pa * (f1 * wb + r * wa * wa * wb) + pb * (f1 * wa + r * wa * wb * wb)
    qbb = stiffness[k, 0] * kab * kab + stiffness[k, 1] * kbb * kbb
    qbb += pa * (f1 * wa + r * wa * wb * wb) + pb * (3.0 * f1 * wb + r * wb * wb * wb)
    s, c, k1, k2 = of_w(qa, qb, x)
    n, h = moment + 0.5 * s, 0.5 * moment
    own1 = blend(1.0, x.held1, -x.along / (x.far * x.n1), x.side)  # s1 by d1
    write_row(0, 0, scaled(1.0 / x.n1, x.a), forms)
    write_row(0, 3, scaled(1.0 / x.n2, x.a2), forms)
    write_row(1, 0, scaled(1.0 / x.n1, x.b), forms)
    write_row(1, 3, scaled(1.0 / x.n2, x.b2), forms)
    write_row(2, 0, own1, forms)
    write_row(2, 3, x.held2, forms)
    write_row(3, 0, scaled(2.0 * own[k, PULL1], x.t1), forms)
    write_row(3, 3, scaled(2.0 * own[k, PULL2], x.t2), forms)
    for j in range(6, 11):
        forms[0, j], forms[1, j], forms[3, j] = 0.0, 0.0, 0.0
    forms[2, 6], forms[2, 7] = 1.0, 1.0
    write_row(2, 8, scaled(1.0 / x.far, x.side), forms)
    for j in range(11):
        sign = -1.0 if 3 <= j < 6 or j == 7 else 1.0
        one, two, spin, pull = forms[0, j], forms[1, j], 0.5 * forms[2, j], forms[3, j]
        over1, over2 = sign * one, sign * two  # X and Y; one, two: P and Q
        both = 0.5 * (wa * one + wb * two)
        change1 = (1.0 + 0.25 * wa * wa) * over2 - c * over1 + wb * spin
        change2 = c * over2 - (1.0 + 0.25 * wb * wb) * over1 - wa * spin
        twist = both - 2.0 * sign * spin
        forms[0, j], forms[1, j], forms[2, j], forms[3, j], forms[4, j] = change1, change2, twist, spin, 0.5 * both
        turned1 = (0.5 * qa * wa + 0.25 * qb * wb) * over2 - 0.25 * qa * wb * over1 - qb * spin + h * one
        turned2 = 0.25 * qb * wa * over2 - (0.25 * qa * wa + 0.5 * qb * wb) * over1 + qa * spin + h * two
        forms[5, j] = qaa * change1 + qab * change2 + turned1
        forms[6, j] = qab * change1 + qbb * change2 + turned2
        forms[7, j] = stiffness[k, 2] * twist + pull
        forms[8, j] = h * (wa * two - wb * one) - k1 * over2 - k2 * over1
        forms[9, j] = h * (wa * over2 - wb * over1) - k1 * two - k2 * one
    if on_body:
        multiply(11, 0.5 * scale, forms, group.room)
    else:
        multiply(8, 0.5 * scale, forms, group.room)
    pull1, pull2 = own[k, PULL1] * strain[2], own[k, PULL2] * strain[2]
    lengthen(0, scale / x.n1, pull1, s - n, qa, qb, moment, x.t1, x.start1, x.held1, forms, group.room)
    lengthen(3, scale / x.n2, pull2, n, qa, qb, moment, x.t2, x.start2, x.held2, forms, group.room)
    if on_body:
        turn_beside(scale * (s - n), x, forms, group.room)


@inner_kernel
def multiply(count: int, half: float, forms: Floats, room: Floats) -> None:
    """Writes the sum of the products of forms."""
    for i in range(count):
        f0, f1, f2, f3, f4 = forms[0, i], forms[1, i], forms[2, i], forms[3, i], forms[4, i]
        v0, v1, v2, v3, v4 = forms[5, i], forms[6, i], forms[7, i], forms[8, i], forms[9, i]
        for j in range(count):
            total = f0 * forms[5, j] + v0 * forms[0, j] + f1 * forms[6, j] + v1 * forms[1, j]
            total += f2 * forms[7, j] + v2 * forms[2, j] + f3 * forms[8, j] + v3 * forms[3, j]
            room[i, j] = half * (total + f4 * forms[9, j] + v4 * forms[4, j])


@inner_kernel
def lengthen(
    at: int, scale: float, pull: float, torque: float, qa: float, qb: float, moment: float, t: Vector, start: Vector,
    held: Vector, forms: Floats, room: Floats,
) -> None:  # fmt: skip
    """Adds to the block of a vector what its length and its direction at the start do to its force; scale: over |d|."""
    force = blend(qa, read(at, forms[0]), qb, read(at, forms[1]))
    force = blend(1.0, force, moment, read(at, forms[2]))
    along = dot(start, t)
    across = scaled(0.5 * torque / (1.0 + along), blend(1.0, start, -along, t))
    for c in range(3):
        tc, gc, ac, hc = component(t, c), component(force, c), component(across, c), component(held, c)
        for d in range(3):
            td, gd, ad, hd = component(t, d), component(force, d), component(across, d), component(held, d)
            rest = tc * gd + gc * td + ac * hd + hc * ad + pull * tc * td
            room[at + c, at + d] -= scale * (rest - pull if c == d else rest)


@inner_kernel
def turn_beside(torque: float, x: Angle, forms: Floats, room: Floats) -> None:
    """Adds what the second derivative of the spin of a body adds; ``beside`` is the direction to its node."""
    beside = cross(x.side, x.t1)
    for row in range(5):
        for j in range(11):
            forms[row, j] = 0.0
    write_row(0, 0, scaled(-x.along / (x.far * x.n1), x.side), forms)  # the spin
    write_row(0, 8, scaled(1.0 / x.far, x.side), forms)
    write_row(1, 0, scaled(-x.along / x.n1, beside), forms)  # change of ``far``
    write_row(1, 8, beside, forms)
    write_row(2, 0, scaled(1.0 / x.n1, x.side), forms)
    write_row(3, 8, x.t1, forms)
    write_row(4, 0, scaled(1.0 / x.n1, beside), forms)
    for i in range(11):
        for j in range(11):
            rest = forms[0, i] * forms[1, j] + forms[1, i] * forms[0, j]
            rest += forms[2, i] * forms[3, j] + forms[3, i] * forms[2, j]
            rest = rest / x.far + 0.5 * (forms[2, i] * forms[4, j] + forms[4, i] * forms[2, j])
            room[i, j] -= torque * rest


@inner_kernel
def add_forces(k: int, group: Twisted, force: Floats) -> None:
    """Adds the last row of the work array as forces on nodes and torques on spins."""
    room = group.room
    for c in range(3):
        if group.nodes[k, 0] >= 0:
            force[3 * group.nodes[k, 0] + c] -= room[ROW, c]
            force[3 * group.nodes[k, 1] + c] += room[ROW, c]
        force[3 * group.nodes[k, 1] + c] -= room[ROW, 3 + c]
        force[3 * group.nodes[k, 2] + c] += room[ROW, 3 + c]
    for end in range(group.beside[k], 2):
        turned = group.turns[k, end] / group.radius[group.frames[k, end]]
        force[3 * group.nodes[k, 3 + end]] += turned * room[ROW, 6 + end]
    for c in range(3 if group.beside[k] == 1 else 0):
        force[3 * group.nodes[k, 3] + c] += room[ROW, 8 + c]
        force[3 * group.nodes[k, 1] + c] -= room[ROW, 8 + c]


@inner_kernel
def add_matrix(k: int, group: Twisted, tangent: Tangent) -> None:
    """Adds the matrix in the work array, over places and spins."""
    nodes, pair, room, block, cross = group.nodes, group.pair, group.room, tangent.block, tangent.cross
    first, node, last, spin1, spin2 = nodes[k, 0], nodes[k, 1], nodes[k, 2], nodes[k, 3], nodes[k, 4]
    turned1 = group.turns[k, 0] / group.radius[group.frames[k, 0]]
    turned2 = group.turns[k, 1] / group.radius[group.frames[k, 1]]
    at01, at02, at03, at04 = pair[k, 1], pair[k, 2], pair[k, 3], pair[k, 4]
    at12, at13, at14, at23, at24, at34 = pair[k, 7], pair[k, 8], pair[k, 9], pair[k, 13], pair[k, 14], pair[k, 19]
    inside, on_body = 1.0 if first >= 0 else 0.0, group.beside[k] == 1
    for r in range(3):
        for c in range(3):
            k11, k12, k21, k22 = room[r, c], inside * room[r, 3 + c], inside * room[3 + r, c], room[3 + r, 3 + c]
            at = 3 * r + c
            block[last, at] += k22
            cross[at12, at] += k12 - k22
            cross[at12, 9 + at] += k21 - k22
            block[node, at] += inside * k11 - k12 - k21 + k22
            if first >= 0:
                block[first, at] += k11
                cross[at01, at] += k12 - k11
                cross[at01, 9 + at] += k21 - k11
                cross[at02, at] -= k12
                cross[at02, 9 + at] -= k21
        one1, one2 = turned1 * inside * room[r, 6], turned2 * inside * room[r, 7]
        two1, two2 = turned1 * room[3 + r, 6], turned2 * room[3 + r, 7]
        add_spin(at14, r, one2 - two2, cross)
        add_spin(at24, r, two2, cross)
        if first >= 0:
            add_spin(at04, r, -one2, cross)
        if on_body:
            continue
        add_spin(at13, r, one1 - two1, cross)
        add_spin(at23, r, two1, cross)
        if first >= 0:
            add_spin(at03, r, -one1, cross)
    own1, own2, both = turned1 * turned1 * room[6, 6], turned2 * turned2 * room[7, 7], turned1 * turned2 * room[6, 7]
    block[spin2, 0] += own2
    if on_body:
        add_beside(k, turned2, group, tangent)
    elif spin1 == spin2:
        block[spin2, 0] += own1 + 2.0 * both
    else:
        block[spin1, 0] += own1
        cross[at34, 0] += both
        cross[at34, 9] += both


@inner_kernel
def add_spin(pair: int, row: int, value: float, cross: Floats) -> None:
    """Adds what couples a component of a place with a spin."""
    cross[pair, 3 * row] += value
    cross[pair, 9 + row] += value


@inner_kernel
def add_beside(k: int, turned2: float, group: Twisted, tangent: Tangent) -> None:
    """Adds what couples the place of the node beside the line."""
    nodes, room = group.nodes, group.room
    for i in range(11):
        for j in range(11):
            if max(i, j) < 8 or i == 6 or j == 6:
                continue
            value = room[j, i] * (turned2 if i == 7 or j == 7 else 1.0)
            row, column = i % 3 if i < 6 else max(i - 8, 0), j % 3 if j < 6 else max(j - 8, 0)
            for p in range(1 if i == 7 else 2):  # each vector has two ends
                slot = i // 3 + 1 - p if i < 6 else 4 if i == 7 else 3 - 2 * p
                for q in range(1 if j == 7 else 2):
                    other = j // 3 + 1 - q if j < 6 else 4 if j == 7 else 3 - 2 * q
                    entry = value if p == q else -value
                    if nodes[k, slot] == nodes[k, other]:
                        tangent.block[nodes[k, slot], 3 * row + column] += entry
                    elif slot < other:
                        tangent.cross[group.pair[k, SLOTS * slot + other], 3 * row + column] += entry
                    else:
                        tangent.cross[group.pair[k, SLOTS * slot + other], 9 + 3 * row + column] += entry


@inner_kernel
def begin(trial: Trial, group: Twisted, force: Floats) -> bool:
    """Writes the frames at the end of the increment, and adds gyroscopic forces. False: a bar has turned too far."""
    for s in range(group.spin.shape[0]):
        at, i, j = group.first[0] + OF_FRAME * s, 3 * group.ends[s, 0], 3 * group.ends[s, 1]
        d = read(0, group.way[s])
        if i >= 0:
            d = blend(1.0, d, 1.0, blend(1.0, read(j, trial.u1), -1.0, read(i, trial.u1)))
        start, far = read(at, trial.state0), math.sqrt(dot(d, d))
        if far == 0.0 or dot(start, d) <= 0.0:
            return False
        t = scaled(1.0 / far, d)
        spin, director = 0.0, carried(read(at + 3, trial.state0), start, t)
        if group.aside[s, 0] >= 0:
            node, beside = 3 * group.aside[s, 0], 3 * group.aside[s, 1]
            arm = blend(1.0, read(beside, trial.place), -1.0, read(node, trial.place))
            director = blend(1.0, arm, 1.0, blend(1.0, read(beside, trial.u1), -1.0, read(node, trial.u1)))
        else:
            spin = trial.u1[3 * group.spin[s]] / group.radius[s]
            a = spin - trial.state0[at + 6]
            director = blend(math.cos(a), director, math.sin(a), cross(t, director))
        director = blend(1.0, director, -dot(director, t), t)
        write(at, t, trial.state1)
        write(at + 3, scaled(1.0 / math.sqrt(dot(director, director)), director), trial.state1)
        trial.state1[at + 6], trial.state1[at + 7] = spin, 0.0
        if trial.rate == 0.0 or group.inertia[s] == 0.0:
            continue
        rate = trial.v1[3 * group.spin[s]]
        moved = blend(1.0, read(j, trial.v1), -1.0, read(i, trial.v1))
        if trial.secant:
            rate = trial.rate * (trial.u1[3 * group.spin[s]] - trial.u0[3 * group.spin[s]])
            before = blend(1.0, read(j, trial.u0), -1.0, read(i, trial.u0))
            before = blend(1.0, read(0, group.way[s]), 1.0, before)
            moved = scaled(trial.rate, blend(1.0, d, -1.0, before))
            d = blend(0.5, d, 0.5, before)
            far = math.sqrt(dot(d, d))
        push = scaled(group.inertia[s] * rate / (group.radius[s] * far * far * far), cross(d, moved))
        for c in range(3):
            force[i + c] += component(push, c)
            force[j + c] -= component(push, c)
    return True


@single_kernel
def evaluate(trial: Trial, group: Twisted, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces of all angles (see the heading of the file). Infinite if a line is folded, or has turned too far."""
    if not begin(trial, group, force):
        return math.inf
    energy, room, state = 0.0, group.room, trial.state0
    has_tangent = tangent.block.shape[0] > 0
    for k in range(group.nodes.shape[0]):
        after1, after2 = vector_at(k, 0, trial.u1, group), vector_at(k, 1, trial.u1, group)
        a1, a2 = spun(k, 0, trial.u1, state, group), spun(k, 1, trial.u1, state, group)
        arm = arm_at(k, trial.u1, group)
        x = angle_at(k, after1, after2, a1, a2, arm, state, group)
        own = group.first[0] + OF_FRAME * group.spin.shape[0] + OF_ANGLE * k
        if x.c < FOLDED or (group.beside[k] == 0 and abs(x.m - state[own] - a2 + a1) > 0.5 * math.pi):
            return math.inf
        note(k, own, x, group, trial.state1)
        stored = energy_of(k, x, group)
        energy += stored
        held, share = 1.0 if trial.rate == 0.0 else 0.0, 1.0
        if trial.secant:
            before1, before2 = vector_at(k, 0, trial.u0, group), vector_at(k, 1, trial.u0, group)
            b1, b2 = spun(k, 0, trial.u0, state, group), spun(k, 1, trial.u0, state, group)
            before3 = arm_at(k, trial.u0, group)
            stored -= energy_of(k, angle_at(k, before1, before2, b1, b2, before3, state, group), group)
            least = uncertain(k, x, group)
            middle1, middle2 = blend(0.5, before1, 0.5, after1), blend(0.5, before2, 0.5, after2)
            middle3 = blend(0.5, before3, 0.5, arm)
            x = angle_at(k, middle1, middle2, 0.5 * (a1 + b1), 0.5 * (a2 + b2), middle3, state, group)
            held, share = 0.0, 0.5
        strain, pull = strains_of(k, x, group), pulled(k, x, group)
        one, two = group.stiffness[k, 0] * strain[0], group.stiffness[k, 1] * strain[1]
        gradient(ROW, one, two, group.stiffness[k, 2] * strain[2] + pull, held, x, room)
        add_row(ROW, 0, group.coupling[k, PULL1] * strain[2], x.t1, room)
        add_row(ROW, 3, group.coupling[k, PULL2] * strain[2], x.t2, room)
        if trial.secant:
            r1, r2 = group.radius[group.frames[k, 0]], group.radius[group.frames[k, 1]]
            d1, d2 = blend(1.0, after1, -1.0, before1), blend(1.0, after2, -1.0, before2)
            s1, s2, d3 = a1 - b1, a2 - b2, blend(1.0, arm, -1.0, before3)
            square = dot(d1, d1) + dot(d2, d2) + dot(d3, d3) + r1 * r1 * s1 * s1 + r2 * r2 * s2 * s2
            work = dot(read(0, room[ROW]), d1) + dot(read(3, room[ROW]), d2) + room[ROW, 6] * s1 + room[ROW, 7] * s2
            work += dot(read(8, room[ROW]), d3)
            rest = (stored - work) / square if abs(stored - work) > least else 0.0
            add_row(ROW, 0, rest, d1, room)
            add_row(ROW, 3, rest, d2, room)
            add_row(ROW, 8, rest, d3, room)
            room[ROW, 6] += rest * r1 * r1 * s1
            room[ROW, 7] += rest * r2 * r2 * s2
        add_forces(k, group, force)
        if has_tangent:
            slopes(k, trial.weight * share, x, group)
        if trial.rate != 0.0 and group.viscosity[k, 0] + group.viscosity[k, 2] > 0.0:
            resist(k, has_tangent, trial, group, force, flow)
        if has_tangent:
            add_matrix(k, group, tangent)
    return energy


@inner_kernel
def note(k: int, own: int, x: Angle, group: Twisted, state: Floats) -> None:
    """Writes twist, curvatures, moments and torque of an angle, along the second bar as its element runs."""
    strain, way = strains_of(k, x, group), group.turns[k, 1]
    state[own] = x.m
    state[own + 1] = way * group.over[k, 0] * strain[0]
    state[own + 2] = group.over[k, 0] * strain[1]
    state[own + 3] = group.over[k, 1] * strain[2]
    state[own + 4] = way * group.stiffness[k, 0] * strain[0]
    state[own + 5] = group.stiffness[k, 1] * strain[1]
    state[own + 6] = group.stiffness[k, 2] * strain[2] + pulled(k, x, group)
    state[own + 7] = state[group.first[0] + OF_FRAME * group.frames[k, 0] + 6]
    state[own + 8] = state[group.first[0] + OF_FRAME * group.frames[k, 1] + 6]
    state[own + 9] = x.m
    for which in range(2):
        pulled_at = group.first[0] + OF_FRAME * group.frames[k, which] + 7
        state[pulled_at] += group.coupling[k, PULL1 + which] * strain[2]


@inner_kernel
def foreseen(k: int, which: int, trial: Trial, group: Twisted) -> Vector:
    """d1 or d2 where the forces of the increment act, predicted from its start."""
    d, ahead = vector_at(k, which, trial.u0, group), trial.ahead
    moved = blend(
        ahead,
        difference(which, k, trial.v0, group.nodes),
        0.5 * ahead * ahead,
        difference(which, k, trial.a0, group.nodes),
    )
    return blend(1.0, d, 1.0, moved)


@inner_kernel
def resist(k: int, has_tangent: bool, trial: Trial, group: Twisted, force: Floats, flow: Floats) -> None:
    """Forces of BETA: the rates of k1, k2 and m times viscosities, along their gradients at the place foreseen. Adds
    their tangent to the work array."""
    room, forms, ahead = group.room, group.forms, trial.ahead
    dof1, dof2 = 3 * group.nodes[k, 3], 3 * group.nodes[k, 4]
    turned1 = group.turns[k, 0] / group.radius[group.frames[k, 0]]
    turned2 = group.turns[k, 1] / group.radius[group.frames[k, 1]]
    a1 = spun(k, 0, trial.u0, trial.state0, group)
    a2 = spun(k, 1, trial.u0, trial.state0, group)
    a1 += turned1 * ahead * (trial.v0[dof1] + 0.5 * ahead * trial.a0[dof1])
    a2 += turned2 * ahead * (trial.v0[dof2] + 0.5 * ahead * trial.a0[dof2])
    arm = blend(ahead, arm_between(k, trial.v0, group), 0.5 * ahead * ahead, arm_between(k, trial.a0, group))
    arm = blend(1.0, arm_at(k, trial.u0, group), 1.0, arm)
    x = angle_at(k, foreseen(k, 0, trial, group), foreseen(k, 1, trial, group), a1, a2, arm, trial.state0, group)
    v1, v2, v3 = (
        difference(0, k, trial.v1, group.nodes),
        difference(1, k, trial.v1, group.nodes),
        arm_between(k, trial.v1, group),
    )
    s1, s2 = turned1 * trial.v1[dof1], turned2 * trial.v1[dof2]
    if trial.secant:
        rate = trial.rate
        v1 = blend(rate, difference(0, k, trial.u1, group.nodes), -rate, difference(0, k, trial.u0, group.nodes))
        v2 = blend(rate, difference(1, k, trial.u1, group.nodes), -rate, difference(1, k, trial.u0, group.nodes))
        v3 = blend(rate, arm_between(k, trial.u1, group), -rate, arm_between(k, trial.u0, group))
        s1 = turned1 * rate * (trial.u1[dof1] - trial.u0[dof1])
        s2 = turned2 * rate * (trial.u1[dof2] - trial.u0[dof2])
    if group.beside[k] == 1:
        s1 = 0.0
    gradient(0, 1.0, 0.0, 0.0, 0.0, x, forms)
    gradient(1, 0.0, 1.0, 0.0, 0.0, x, forms)
    gradient(2, 0.0, 0.0, 1.0, 0.0, x, forms)
    for i in range(11):
        room[ROW, i] = 0.0
    for part in range(3):
        speed = dot(read(0, forms[part]), v1) + dot(read(3, forms[part]), v2) + dot(read(8, forms[part]), v3)
        speed = group.viscosity[k, part] * (speed + forms[part, 6] * s1 + forms[part, 7] * s2)
        for i in range(11):
            room[ROW, i] += speed * forms[part, i]
    add_forces(k, group, force)
    if flow.shape[0] > 0:
        add_forces(k, group, flow)
    if has_tangent and group.beside[k] == 1:
        damp(11, k, trial.weight * trial.rate, group.viscosity, forms, room)
    elif has_tangent:
        damp(8, k, trial.weight * trial.rate, group.viscosity, forms, room)


@inner_kernel
def damp(count: int, k: int, scale: float, viscosity: Floats, forms: Floats, room: Floats) -> None:
    """Adds the derivative of the forces of BETA by its numbers."""
    for i in range(count):
        f0 = scale * viscosity[k, 0] * forms[0, i]
        f1, f2 = scale * viscosity[k, 1] * forms[1, i], scale * viscosity[k, 2] * forms[2, i]
        for j in range(count):
            room[i, j] += f0 * forms[0, j] + f1 * forms[1, j] + f2 * forms[2, j]


NOTHING = Twisted(
    np.zeros((0, 5), np.int64), np.zeros((0, 6)), np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros((0, 2), np.int64),
    np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 2)),
    np.zeros((0, 4)),
    np.zeros((0, 25), np.int64), np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64),
    np.zeros((0, 3)),
    np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 11)),
    np.zeros((0, 11)),
)  # fmt: skip


def assemble(model: Any, system: Any, pair: int, state: int) -> Twisted:
    found = system.twists
    if found is None:
        return NOTHING
    place, nodes = system.coordinates, model.bent_at[0][found.angles]
    bars, count = model.bent_at[1][found.angles], len(model.mesh.node_labels)
    spins = count + found.spin[found.frames]
    on_body = found.beside >= 0
    spins[on_body, 0] = found.beside[on_body]
    before, node, after = nodes.T
    second = place[after] - place[node]
    first = np.where((before < 0)[:, None], second, place[node] - place[before])
    nodes = np.column_stack([nodes, spins])
    inner = len(np.unique(bars[bars >= 0]))
    (clamps,) = np.nonzero(bars[:, 0] < 0)
    owner = np.concatenate([found.bars[:inner], bars[clamps, 1]])
    ends = model.mesh.element_nodes[owner].copy()
    way = place[ends[:, 1]] - place[ends[:, 0]]
    behind = np.column_stack([before, node])[clamps]
    ends[inner:] = np.where(found.turns[clamps, :1] > 0.0, behind, behind[:, ::-1])
    ends[inner:][before[clamps] < 0] = -1
    aside = np.full((len(found.spin), 2), -1)
    aside[found.frames[on_body, 0]] = np.column_stack([node, found.beside])[on_body]
    arms = place[found.beside] - place[node]
    coupled = np.zeros(len(system.family))
    for section in model.sections:
        coupled[model.mesh.element_sets[section.element_set]] = section.coupling
    radius, inertia = np.where(found.spin < 0, 1.0, found.radius[found.spin]), np.zeros(len(found.spin))
    inertia[:inner] = system.mass[count : count + inner] * radius[:inner] ** 2
    lengths = np.zeros(len(system.family))
    lengths[system.bar_index >= 0] = system.length0[system.bar_index[system.bar_index >= 0]]
    halves = np.where(bars >= 0, 0.5 * lengths[bars], 0.0)
    share = coupled[bars] * (bars >= 0) / (2.0 * halves.sum(axis=1, keepdims=True))
    own = np.column_stack([share, np.where(bars >= 0, lengths[bars], 0.0)])
    there = ~(system.gone[bars] & (bars >= 0)).any(axis=1)[:, None]
    group = Twisted(
        nodes, np.ascontiguousarray(np.column_stack([first, second])), on_body.astype(np.int64), arms, found.frames,
        found.turns,
        there * found.stiffness, there * found.viscosity, found.askew, found.rest, found.over, there * own,
        numbered(nodes, pair), aside, np.where(np.arange(len(owner)) < inner, owner, -1),
        np.ascontiguousarray(ends), way, np.ascontiguousarray(count + found.spin), radius,
        inertia, np.array([state]), _begun(found, way), np.zeros((12, 11)), np.zeros((10, 11)),
    )  # fmt: skip
    arrays: Any = map(np.ascontiguousarray, group)
    return Twisted(*arrays)


def _begun(found: Any, way: Floats) -> Floats:
    """States of the deck."""
    t = way / np.linalg.norm(way, axis=1, keepdims=True)
    frames = np.column_stack([t, found.director, np.zeros((len(t), 2))])
    angles = np.zeros((len(found.twist), OF_ANGLE))
    angles[:, 0] = angles[:, 9] = found.twist
    return np.concatenate([frames.ravel(), angles.ravel()])


def _couples(nodes: Ints) -> dict[tuple[int, int], int]:
    """Pairs of different nodes among the five of an angle, in their order, each with its number from 0."""
    every = [(p, q) for p in range(SLOTS) for q in range(p + 1, SLOTS)]
    found = ((own[p], own[q]) for own in nodes.tolist() for p, q in every if own[p] >= 0 and own[p] != own[q])
    return {couple: number for number, couple in enumerate(dict.fromkeys(found))}


def numbered(nodes: Ints, first: int) -> Ints:
    """``pair`` (k, 25) of angles; first: the number of their first pair."""
    couples, found = _couples(nodes), np.full((len(nodes), SLOTS * SLOTS), -1)
    for k, own in enumerate(nodes.tolist()):
        for p in range(SLOTS):
            for q in range(p + 1, SLOTS):
                if (number := couples.get((own[p], own[q]), -1)) >= 0:
                    found[k, SLOTS * p + q] = found[k, SLOTS * q + p] = first + number
    return found


def pairs_of(group: Twisted) -> Ints:
    """Nodes that angles couple."""
    return np.array([*_couples(group.nodes)], np.int64).reshape(-1, 2)


def noted(group: Twisted) -> Ints:
    """Nodes and states of the tables: of angles at one node (a clamp within a line) the first."""
    nodes, which = np.unique(group.nodes[:, 1], return_index=True)
    begin = int(group.first[0]) if len(nodes) else 0
    first = begin + OF_FRAME * len(group.spin) + OF_ANGLE * which
    return np.column_stack([nodes, first + 1, first + 7, begin + OF_FRAME * group.frames[which, 1] + 3])


def strains_in(group: Twisted, state: Floats) -> Floats:
    """(k, 3) curvatures (times l) and twist less those at rest, that ``note`` has written."""
    first = int(group.first[0]) + OF_FRAME * len(group.spin) + 1
    noted_strains = state[first + OF_ANGLE * np.arange(len(group.nodes))[:, None] + np.arange(3)]
    noted_strains[:, 0] *= group.turns[:, 1]
    return np.asarray(noted_strains / group.over[:, [0, 0, 1]])


def vectors_at(group: Twisted, u: Floats) -> Floats:
    """(k, 2, 3) what displacements u (3n,) add to d1 and d2."""
    place = u.reshape(-1, 3)
    before, node, after = group.nodes[:, :3].T
    first = np.where((before < 0)[:, None], 0.0, place[node] - place[before])
    return np.stack([first, place[after] - place[node]], axis=1)


def elongations(group: Twisted, u: Floats, moved: Floats) -> Floats:
    """(k, 2) linear elongations of d1 and d2 for displacements ``moved`` from u."""
    ways = group.vectors.reshape(-1, 2, 3) + vectors_at(group, u)
    return np.asarray((ways * vectors_at(group, moved)).sum(axis=2) / np.linalg.norm(ways, axis=2))


def pulls(group: Twisted, u: Floats, moved: Any, count: int) -> Any:
    """(count,) what C adds to T of the elements for displacements ``moved`` from u, linear; they may be complex."""
    ways = group.vectors.reshape(-1, 2, 3) + vectors_at(group, u)
    sizes = np.linalg.norm(ways, axis=2, keepdims=True)
    t, rates = ways / sizes, vectors_at(group, moved) / sizes
    spins = group.turns * moved[3 * group.spin[group.frames]] / group.radius[group.frames]
    for k in np.flatnonzero(group.beside).tolist():
        node, beside = group.nodes[k, [1, 3]]
        arm, by = (x.reshape(-1, 3)[beside] - x.reshape(-1, 3)[node] for x in (u, moved))
        arm = arm + group.arms[k]
        side = np.cross(t[k, 0], arm)
        spins[k, 0] = side @ (by - (arm @ t[k, 0]) * rates[k, 0]) / (side @ side)
    bend = np.cross(t[:, 0], t[:, 1]) / (1.0 + (t[:, 0] * t[:, 1]).sum(axis=1, keepdims=True))
    twist = spins[:, 1] - spins[:, 0] + (bend * rates.sum(axis=1)).sum(axis=1)
    found, bars = np.zeros(count, twist.dtype), group.bars[group.frames]
    for which in range(2):
        is_bar = bars[:, which] >= 0
        np.add.at(found, bars[is_bar, which], (group.coupling[:, which] * twist)[is_bar])
    return found


def largest_strain(group: Twisted, moved: Floats) -> float:
    """The largest rotation of a bar or spin for displacements ``moved``, linear."""
    lengths = np.linalg.norm(group.vectors.reshape(-1, 2, 3), axis=2)
    turns = np.linalg.norm(vectors_at(group, moved), axis=2) / lengths
    spins = np.abs(moved[3 * group.spin[group.aside[:, 0] < 0]]) / group.radius[group.aside[:, 0] < 0]
    return max(float(turns.max(initial=0.0)), float(spins.max(initial=0.0)))


def pulled_bars(group: Twisted) -> Ints:
    """Bars that C pulls, with their states."""
    (frames,) = np.nonzero((group.bars >= 0) & bool(group.coupling[:, :LENGTH1].any()))
    return np.column_stack([group.bars[frames], group.first + OF_FRAME * frames + 7]) if len(frames) else NO_PAIRS


def size_of(group: Twisted) -> float:
    """The largest stiffness over the length of the shortest adjacent bar."""
    lengths = np.linalg.norm(group.vectors.reshape(-1, 2, 3), axis=2).min(axis=1, initial=np.inf)
    return float((group.stiffness.max(axis=1, initial=0.0) / lengths).max(initial=0.0))


def trouble(group: Twisted, system: Any, u: Floats, state: Floats) -> str:
    """Message that a line is folded, with its place."""
    place = u.reshape(-1, 3)
    for k in range(len(group.nodes)):
        before, node, after = group.nodes[k, :3]
        first = place[node] - place[before] if before >= 0 else 0.0
        d1, d2 = group.vectors[k, :3] + first, group.vectors[k, 3:] + place[after] - place[node]
        phi = math.atan2(float(np.linalg.norm(np.cross(d1, d2))), float(d1 @ d2))
        if not phi < math.radians(178.0):
            return (
                f"the line is folded back at node {system.labels[group.nodes[k, 1]]}: its bars meet at "
                f"{math.degrees(phi):.4g} degrees. Give it shorter bars there, or bring its loads on more slowly."
            )
    return "a line that twists turns by more than 90 degrees in an increment: smaller increments follow it"


TWIST = Family(
    "torsion",
    assemble,
    evaluate,
    pairs=pairs_of,
    states=lambda group: group.begun,
    wanted=lambda model: model.may_twist,
    smooth=False,
    size=size_of,
    bending=noted,
    pulling=pulled_bars,
    trouble=trouble,
)
