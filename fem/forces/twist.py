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
from fem.compiled import inner_kernel, kernel, single_kernel
from fem.forces.bending import blame_fold, difference, size_of
from fem.forces.protocol import NO_PAIRS, Family, Tangent, Trial, apart, blend, component, cross, dot, scaled

SMALL = 1e-2
"""|kb|^2/4 below which phi/|kb| and its derivatives are sums of their series."""
FOLDED = 1e-3
"""1 + cos phi of a line that is folded back on itself: the direction of its force is undefined."""
ROUNDING = 16.0 * 2.220446049250313e-16
"""Rounding error of a strain, with a margin."""
OF_FRAME, OF_ANGLE, TURNED = 8, 9, 8
"""States of a frame: T, D, a, and the tension of its bar by C; and of an angle: curvatures about both axes and twist,
their moments and torque, for tables the spins of both bars as their elements run, and m (``TURNED``)."""
SLOTS, NUMBERS, ROW = 5, 11, 11
"""Nodes of an angle; its numbers d1, d2, a1, a2, q; the row of the work array that is its force."""
AFTER, BEFORE, MIDDLE, RATE = 0, 1, 2, 3
"""Rows of ``trials``."""
# Entries of ``coupling``: C times the part of l over the natural length of a bar, and this length, of both bars
PULL1, PULL2, LENGTH1, LENGTH2 = 0, 1, 2, 3


class Twisted(NamedTuple):
    """k angles, s frames.

    nodes     (k, 5)   before, at and after the angle, the nodes of both spins; the first is -1 at an end clamped in
                       space, and at a clamp on a body a node of the body behind it
    vectors   (k, 11)  d1 and d2 in the reference position (at a clamp d1 is the fixed direction), zeros, q
    beside    (k,)     1: a clamp on a body that turns the line; the fourth of the nodes is then one beside the line, q
                       from the angle to it
    frames    (k, 2)   of both bars, or of the clamp and the bar;  turns (k, 2): -1.0 where the bar runs the other way;
                       turned (k, 2): these over ``radius``
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
    room      (12, 15)  work array: a matrix over the numbers of an angle (d1, d2, a1, a2, q), and a row
    wide      (15, 15)  work array: this matrix over x, y, z of the nodes
    forms     (10, 11)  work array: linear forms over these numbers;  trials (4, 11): these numbers, in four places
    """

    nodes: Ints
    vectors: Floats
    beside: Ints
    frames: Ints
    turns: Floats
    turned: Floats
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
    wide: Floats
    forms: Floats
    trials: Floats


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
def add_numbers(row: int, factor: float, k: int, x: Floats, group: Twisted) -> None:
    """Adds to the numbers of an angle in a row what displacements x, or their rates, do to them, times ``factor``."""
    numbers, nodes = group.trials, group.nodes
    add_row(row, 0, factor, difference(0, k, x, nodes), numbers)
    add_row(row, 3, factor, difference(1, k, x, nodes), numbers)
    if group.beside[k] == 1:
        add_row(row, 8, factor, apart(3 * nodes[k, 1], 3 * nodes[k, 3], x), numbers)
    for end in range(group.beside[k], 2):
        numbers[row, 6 + end] += factor * group.turned[k, end] * x[3 * nodes[k, 3 + end]]


@inner_kernel
def put_numbers(row: int, k: int, u: Floats, state: Floats, group: Twisted) -> None:
    """Writes the numbers of an angle in a displaced position, spins since the start of the increment."""
    for i in range(NUMBERS):
        group.trials[row, i] = group.vectors[k, i]
    for end in range(2):
        a0 = state[group.first[0] + OF_FRAME * group.frames[k, end] + 6]
        group.trials[row, 6 + end] = -group.turns[k, end] * a0
    add_numbers(row, 1.0, k, u, group)


@inner_kernel
def angle_at(row: int, k: int, state: Floats, group: Twisted) -> Angle:
    """Geometry for the numbers d1, d2, a1, a2 of a row, on a body q instead of a1."""
    z = group.trials[row]
    d1, d2, a1, a2, q = read(0, z), read(3, z), z[6], z[7], read(8, z)
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
    m = state[own + TURNED] + a2 - a1 + solid(start1, start2, t2, t1)
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
def loads_of(k: int, x: Angle, group: Twisted) -> Vector:
    """Moments about both axes, and torque."""
    s, stiffness = strains_of(k, x, group), group.stiffness
    return stiffness[k, 0] * s[0], stiffness[k, 1] * s[1], stiffness[k, 2] * s[2] + pulled(k, x, group)


@inner_kernel
def energy_of(k: int, x: Angle, group: Twisted) -> float:
    s = strains_of(k, x, group)
    return 0.5 * (dot(s, loads_of(k, x, group)) + s[2] * pulled(k, x, group))


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
def by_w(x: Angle) -> Vector:
    """Derivatives of the curvatures by w: k1 by w1, k1 by w2 (and k2 by w1), k2 by w2."""
    f1 = 2.0 * x.f1
    return x.f + f1 * x.wa * x.wa, f1 * x.wa * x.wb, x.f + f1 * x.wb * x.wb


@inner_kernel
def linearise(x: Angle, forms: Floats) -> None:
    """Writes what the numbers of an angle do, at constant angles, to w1, w2, m, s = (s1 + s2)/2, r = (w1 P + w2 Q)/4, P
    and Q."""
    wa, wb, c = x.wa, x.wb, 0.25 * x.wa * x.wb
    for j in range(6, NUMBERS):
        forms[5, j], forms[6, j] = 0.0, 0.0
    write(0, scaled(1.0 / x.n1, x.a), forms[5])
    write(3, scaled(1.0 / x.n2, x.a2), forms[5])
    write(0, scaled(1.0 / x.n1, x.b), forms[6])
    write(3, scaled(1.0 / x.n2, x.b2), forms[6])
    write(0, blend(1.0, x.held1, -x.along / (x.far * x.n1), x.side), forms[3])
    write(3, x.held2, forms[3])
    forms[3, 6], forms[3, 7] = 1.0, 1.0
    write(8, scaled(1.0 / x.far, x.side), forms[3])
    for j in range(NUMBERS):
        sign = -1.0 if 3 <= j < 6 or j == 7 else 1.0
        one, two, spin = forms[5, j], forms[6, j], 0.5 * forms[3, j]
        over1, over2, both = sign * one, sign * two, 0.5 * (wa * one + wb * two)  # X, Y, 2 r
        forms[0, j] = (1.0 + 0.25 * wa * wa) * over2 - c * over1 + wb * spin
        forms[1, j] = c * over2 - (1.0 + 0.25 * wb * wb) * over1 - wa * spin
        forms[2, j] = both - 2.0 * sign * spin
        forms[3, j], forms[4, j] = spin, 0.5 * both


@inner_kernel
def hold(row: int, x: Angle, room: Floats) -> None:
    """Takes from a row what it is at constant angles and not at held spins."""
    add_row(row, 0, -room[row, 6], x.held1, room)
    add_row(row, 3, -room[row, 7], x.held2, room)


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
    (pa, pb, moment), (kaa, kab, kbb) = loads_of(k, x, group), by_w(x)
    twist, wa, wb, f1 = strains_of(k, x, group)[2], x.wa, x.wb, 2.0 * x.f1
    qa, qb = pa * kaa + pb * kab, pb * kbb + pa * kab
    r = 4.0 * x.f2
    qaa = stiffness[k, 0] * kaa * kaa + stiffness[k, 1] * kab * kab
    qaa += pa * (3.0 * f1 * wa + r * wa * wa * wa) + pb * (f1 * wb + r * wa * wa * wb)
    qab = stiffness[k, 0] * kaa * kab + stiffness[k, 1] * kab * kbb
    qab += pa * (f1 * wb + r * wa * wa * wb) + pb * (f1 * wa + r * wa * wb * wb)
    qbb = stiffness[k, 0] * kab * kab + stiffness[k, 1] * kbb * kbb
    qbb += pa * (f1 * wa + r * wa * wb * wb) + pb * (3.0 * f1 * wb + r * wb * wb * wb)
    c, h, torque1, torque2 = 0.25 * wa * wb, 0.5 * moment, group.room[ROW, 6], group.room[ROW, 7]
    k1, k2 = (1.0 + 0.25 * wb * wb) * qb + c * qa, (1.0 + 0.25 * wa * wa) * qa + c * qb
    for j in range(NUMBERS):
        sign = -1.0 if 3 <= j < 6 or j == 7 else 1.0
        one, two, spin = forms[5, j], forms[6, j], forms[3, j]  # P and Q
        over1, over2 = sign * one, sign * two  # X and Y
        turned1 = (0.5 * qa * wa + 0.25 * qb * wb) * over2 - 0.25 * qa * wb * over1 - qb * spin + h * one
        turned2 = 0.25 * qb * wa * over2 - (0.25 * qa * wa + 0.5 * qb * wb) * over1 + qa * spin + h * two
        forms[5, j] = qaa * forms[0, j] + qab * forms[1, j] + turned1
        forms[6, j] = qab * forms[0, j] + qbb * forms[1, j] + turned2
        forms[7, j] = stiffness[k, 2] * forms[2, j]
        forms[8, j] = h * (wa * two - wb * one) - k1 * over2 - k2 * over1
        forms[9, j] = h * (wa * over2 - wb * over1) - k1 * two - k2 * one
    add_row(7, 0, 2.0 * own[k, PULL1], x.t1, forms)
    add_row(7, 3, 2.0 * own[k, PULL2], x.t2, forms)
    add_products(True, on_body, 0.5 * scale, forms, group.room)
    pull1, pull2 = own[k, PULL1] * twist, own[k, PULL2] * twist
    lengthen(0, scale / x.n1, pull1, torque1, x.t1, x.start1, x.held1, group.room)
    lengthen(3, scale / x.n2, pull2, torque2, x.t2, x.start2, x.held2, group.room)
    if on_body:
        turn_beside(scale * torque1, x, forms, group.room)


@inner_kernel
def add_products(is_first: bool, on_body: bool, scale: float, forms: Floats, room: Floats) -> None:
    """Adds the sum of the products of five forms with the five that follow, both ways, or writes the first."""
    if on_body:
        multiply(is_first, 11, scale, forms, room)
    else:
        multiply(is_first, 8, scale, forms, room)


@inner_kernel
def multiply(is_first: bool, count: int, scale: float, forms: Floats, room: Floats) -> None:
    for i in range(count):
        f0, f1, f2, f3, f4 = forms[0, i], forms[1, i], forms[2, i], forms[3, i], forms[4, i]
        v0, v1, v2, v3, v4 = forms[5, i], forms[6, i], forms[7, i], forms[8, i], forms[9, i]
        for j in range(count):
            total = f0 * forms[5, j] + v0 * forms[0, j] + f1 * forms[6, j] + v1 * forms[1, j]
            total += f2 * forms[7, j] + v2 * forms[2, j] + f3 * forms[8, j] + v3 * forms[3, j]
            total = scale * (total + f4 * forms[9, j] + v4 * forms[4, j])
            room[i, j] = total if is_first else room[i, j] + total


@inner_kernel
def lengthen(
    at: int, scale: float, pull: float, torque: float, t: Vector, start: Vector, held: Vector, room: Floats
) -> None:
    """Adds to the block of a vector what its length and its direction at the start do to its force; scale: over |d|."""
    force = read(at, room[ROW])
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
    for row in range(10):
        for j in range(NUMBERS):
            forms[row, j] = 0.0
    write(0, scaled(-x.along / (x.far * x.n1), x.side), forms[0])  # the spin
    write(8, scaled(1.0 / x.far, x.side), forms[0])
    write(0, scaled(-x.along / (x.far * x.n1), beside), forms[5])  # change of ``far`` over it
    write(8, scaled(1.0 / x.far, beside), forms[5])
    write(0, scaled(1.0 / x.n1, x.side), forms[1])
    write(0, scaled(0.5 / x.n1, beside), forms[6])
    write(8, scaled(1.0 / x.far, x.t1), forms[6])
    add_products(False, True, -torque, forms, room)


@inner_kernel
def ways_of(k: int, group: Twisted) -> tuple[bool, bool, float, float]:
    """How the numbers of an angle follow from its nodes: d1 moves; q exists; factors of spins."""
    return group.nodes[k, 0] >= 0, group.beside[k] == 1, group.turned[k, 0], group.turned[k, 1]


@inner_kernel
def spread(row: int, ways: tuple[bool, bool, float, float], room: Floats) -> None:
    """Turns a row over the numbers of an angle into one over x, y, z of its nodes."""
    d1, d2, q, none = read(0, room[row]), read(3, room[row]), read(8, room[row]), (0.0, 0.0, 0.0)
    a1, a2 = ways[2] * room[row, 6], ways[3] * room[row, 7]
    d1, q = d1 if ways[0] else none, q if ways[1] else none
    write(0, scaled(-1.0, d1), room[row])
    write(3, blend(1.0, blend(1.0, d1, -1.0, d2), -1.0, q), room[row])
    write(6, d2, room[row])
    write(9, q if ways[1] else (a1, 0.0, 0.0), room[row])
    write(12, (a2, 0.0, 0.0), room[row])


@inner_kernel
def add_forces(k: int, group: Twisted, force: Floats) -> None:
    """Adds the last row of the work array, spread, as forces on nodes and torques on spins."""
    for slot in range(SLOTS):
        node = group.nodes[k, slot]
        for c in range(3 if node >= 0 else 0):
            force[3 * node + c] += group.room[ROW, 3 * slot + c]


@inner_kernel
def add_matrix(k: int, group: Twisted, tangent: Tangent) -> None:
    """Adds the matrix in the work array, over places and spins."""
    nodes, room, wide, on_body, ways = group.nodes, group.room, group.wide, group.beside[k] == 1, ways_of(k, group)
    count = NUMBERS if on_body else 8
    for i in range(count):
        spread(i, ways, room)
    for c in range(3):
        for j in range(3 * SLOTS):
            d1, d2, q = room[c, j] if ways[0] else 0.0, room[3 + c, j], room[8 + c, j] if on_body else 0.0
            wide[c, j], wide[3 + c, j], wide[6 + c, j], wide[9 + c, j] = -d1, d1 - d2 - q, d2, q
    for j in range(3 * SLOTS):
        wide[9, j], wide[12, j] = wide[9, j] if on_body else ways[2] * room[6, j], ways[3] * room[7, j]
    for p in range(SLOTS):
        rows = 3 if p < 3 or (p == 3 and on_body) else 1  # of a spin only the first
        for q in range(p, SLOTS if nodes[k, p] >= 0 else 0):
            i, j, pair, columns = nodes[k, p], nodes[k, q], group.pair[k, SLOTS * p + q], 3 if q < 3 else 1
            columns = 3 if q == 3 and on_body else columns
            if i == j:
                for r in range(rows):
                    for c in range(columns):
                        other = wide[3 * q + r, 3 * p + c] if p != q else 0.0
                        tangent.block[i, 3 * r + c] += wide[3 * p + r, 3 * q + c] + other
                continue
            for r in range(rows):
                for c in range(columns):
                    tangent.cross[pair, 3 * r + c] += wide[3 * p + r, 3 * q + c]
                    tangent.cross[pair, 9 + 3 * c + r] += wide[3 * q + c, 3 * p + r]


@inner_kernel
def begin(trial: Trial, group: Twisted, force: Floats) -> bool:
    """Writes the frames at the end of the increment, and adds gyroscopic forces. False: a bar has turned too far."""
    for s in range(group.spin.shape[0]):
        at, i, j = group.first[0] + OF_FRAME * s, 3 * group.ends[s, 0], 3 * group.ends[s, 1]
        d = read(0, group.way[s])
        if i >= 0:
            d = blend(1.0, d, 1.0, apart(i, j, trial.u1))
        start, far = read(at, trial.state0), math.sqrt(dot(d, d))
        if far == 0.0 or dot(start, d) <= 0.0:
            return False
        t = scaled(1.0 / far, d)
        spin, director = 0.0, carried(read(at + 3, trial.state0), start, t)
        if group.aside[s, 0] >= 0:
            node, beside = 3 * group.aside[s, 0], 3 * group.aside[s, 1]
            director = blend(1.0, apart(node, beside, trial.place), 1.0, apart(node, beside, trial.u1))
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
        moved = apart(i, j, trial.v1)
        if trial.secant:
            rate = trial.rate * (trial.u1[3 * group.spin[s]] - trial.u0[3 * group.spin[s]])
            before = blend(1.0, read(0, group.way[s]), 1.0, apart(i, j, trial.u0))
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
    energy, room, forms, numbers, state = 0.0, group.room, group.forms, group.trials, trial.state0
    has_tangent = tangent.block.shape[0] > 0
    for k in range(group.nodes.shape[0]):
        put_numbers(AFTER, k, trial.u1, state, group)
        x = angle_at(AFTER, k, state, group)
        own = group.first[0] + OF_FRAME * group.spin.shape[0] + OF_ANGLE * k
        spun = numbers[AFTER, 7] - numbers[AFTER, 6]
        if x.c < FOLDED or (group.beside[k] == 0 and abs(x.m - state[own + TURNED] - spun) > 0.5 * math.pi):
            return math.inf
        note(k, own, x, group, trial.state1)
        stored, least, share = energy_of(k, x, group), 0.0, 1.0
        energy += stored
        if trial.secant:
            put_numbers(BEFORE, k, trial.u0, state, group)
            least = uncertain(k, x, group)
            stored, share = stored - energy_of(k, angle_at(BEFORE, k, state, group), group), 0.5
            for i in range(NUMBERS):
                numbers[MIDDLE, i] = 0.5 * (numbers[BEFORE, i] + numbers[AFTER, i])
            x = angle_at(MIDDLE, k, state, group)
        (pa, pb, moment), (kaa, kab, kbb), twist = loads_of(k, x, group), by_w(x), strains_of(k, x, group)[2]
        linearise(x, forms)
        for i in range(NUMBERS):
            room[ROW, i] = (pa * kaa + pb * kab) * forms[0, i] + (pa * kab + pb * kbb) * forms[1, i]
            room[ROW, i] += moment * forms[2, i]
        if has_tangent:
            slopes(k, trial.weight * share, x, group)
        if trial.rate != 0.0:
            hold(ROW, x, room)
        add_row(ROW, 0, group.coupling[k, PULL1] * twist, x.t1, room)
        add_row(ROW, 3, group.coupling[k, PULL2] * twist, x.t2, room)
        if trial.secant:
            keep_energy(k, stored, least, group)
        spread(ROW, ways_of(k, group), room)
        add_forces(k, group, force)
        if trial.rate != 0.0 and group.viscosity[k, 0] + group.viscosity[k, 2] > 0.0:
            resist(k, has_tangent, trial, group, force, flow)
        if has_tangent:
            add_matrix(k, group, tangent)
    return energy


@inner_kernel
def keep_energy(k: int, stored: float, least: float, group: Twisted) -> None:
    """Adds to the force of an increment what it lacks to do the work ``stored``; spins count as lengths."""
    room, numbers, square = group.room, group.trials, 0.0
    for i in range(NUMBERS):
        change = numbers[AFTER, i] - numbers[BEFORE, i]
        stored -= room[ROW, i] * change
        if 6 <= i < 8:
            change /= group.turned[k, i - 6] ** 2
        numbers[RATE, i] = change
        square += change * (numbers[AFTER, i] - numbers[BEFORE, i])
    for i in range(NUMBERS if abs(stored) > least else 0):
        room[ROW, i] += stored / square * numbers[RATE, i]


@inner_kernel
def note(k: int, own: int, x: Angle, group: Twisted, state: Floats) -> None:
    """Writes twist, curvatures, moments and torque of an angle, along the second bar as its element runs."""
    strain, loads, way = strains_of(k, x, group), loads_of(k, x, group), group.turns[k, 1]
    bent, turned = group.over[k, 0], group.over[k, 1]
    write(own, (way * bent * strain[0], bent * strain[1], turned * strain[2]), state)
    write(own + 3, (way * loads[0], loads[1], loads[2]), state)
    state[own + 6] = state[group.first[0] + OF_FRAME * group.frames[k, 0] + 6]
    state[own + 7] = state[group.first[0] + OF_FRAME * group.frames[k, 1] + 6]
    state[own + TURNED] = x.m
    for which in range(2):
        pulled_at = group.first[0] + OF_FRAME * group.frames[k, which] + 7
        state[pulled_at] += group.coupling[k, PULL1 + which] * strain[2]


@inner_kernel
def resist(k: int, has_tangent: bool, trial: Trial, group: Twisted, force: Floats, flow: Floats) -> None:
    """Forces of BETA: the rates of k1, k2 and m times viscosities, along their gradients at the place foreseen. Adds
    their tangent to the work array."""
    room, forms, numbers, ahead = group.room, group.forms, group.trials, trial.ahead
    put_numbers(MIDDLE, k, trial.u0, trial.state0, group)
    add_numbers(MIDDLE, ahead, k, trial.v0, group)
    add_numbers(MIDDLE, 0.5 * ahead * ahead, k, trial.a0, group)
    for i in range(NUMBERS):
        numbers[RATE, i], room[ROW, i] = 0.0, 0.0
    if trial.secant:
        add_numbers(RATE, trial.rate, k, trial.u1, group)
        add_numbers(RATE, -trial.rate, k, trial.u0, group)
    else:
        add_numbers(RATE, 1.0, k, trial.v1, group)
    strain_rates(MIDDLE, k, trial.state0, group)
    for part in range(3):
        speed = 0.0
        for i in range(NUMBERS):
            speed += forms[part, i] * numbers[RATE, i]
        for i in range(NUMBERS):
            forms[5 + part, i] = group.viscosity[k, part] * forms[part, i]
            room[ROW, i] += speed * forms[5 + part, i]
    spread(ROW, ways_of(k, group), room)
    add_forces(k, group, force)
    if flow.shape[0] > 0:
        add_forces(k, group, flow)
    if has_tangent and group.beside[k] == 1:
        add_squares(11, trial.weight * trial.rate, forms, room)
    elif has_tangent:
        add_squares(8, trial.weight * trial.rate, forms, room)


@inner_kernel
def add_squares(count: int, scale: float, forms: Floats, room: Floats) -> None:
    """Adds the sum of the products of three forms with themselves, times viscosities."""
    for i in range(count):
        v0, v1, v2 = scale * forms[5, i], scale * forms[6, i], scale * forms[7, i]
        for j in range(count):
            room[i, j] += v0 * forms[0, j] + v1 * forms[1, j] + v2 * forms[2, j]


@inner_kernel
def strain_rates(row: int, k: int, state: Floats, group: Twisted) -> None:
    """Writes what the numbers of an angle in a row do to k1, k2 and m with the spins held, as first three forms."""
    x, forms = angle_at(row, k, state, group), group.forms
    linearise(x, forms)
    kaa, kab, kbb = by_w(x)
    for i in range(NUMBERS):
        w1, w2 = forms[0, i], forms[1, i]
        forms[0, i], forms[1, i] = kaa * w1 + kab * w2, kab * w1 + kbb * w2
    for part in range(3):
        hold(part, x, forms)


@kernel
def write_rates(moved: Floats, u: Floats, state: Floats, group: Twisted, found: Floats) -> None:
    """As ``rates_of``, in ``found``."""
    numbers, forms = group.trials, group.forms
    for k in range(group.nodes.shape[0]):
        for i in range(NUMBERS):
            numbers[RATE, i] = 0.0
        add_numbers(RATE, 1.0, k, moved, group)
        put_numbers(AFTER, k, u, state, group)
        strain_rates(AFTER, k, state, group)
        for part in range(3):
            found[k, part] = 0.0
            for i in range(NUMBERS):
                found[k, part] += forms[part, i] * numbers[RATE, i]
        for end in range(2):
            d = read(3 * end, numbers[AFTER])
            found[k, 3 + end] = dot(d, read(3 * end, numbers[RATE])) / math.sqrt(dot(d, d))


NOTHING = Twisted(
    np.zeros((0, 5), np.int64), np.zeros((0, 11)), np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2)),
    np.zeros((0, 2)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 2)),
    np.zeros((0, 4)), np.zeros((0, 25), np.int64), np.zeros((0, 2), np.int64), np.zeros(0, np.int64),
    np.zeros((0, 2), np.int64), np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0), np.zeros(0),
    np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 15)), np.zeros((0, 15)), np.zeros((0, 11)), np.zeros((0, 11)),
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
    both, ends = np.stack([nodes[:, :2], nodes[:, 1:3]], axis=1), np.full((len(found.spin), 2), -1)
    ends[found.frames] = np.where(found.turns[..., None] > 0.0, both, both[..., ::-1])
    ends[(ends < 0).any(axis=1)] = -1
    way, owner = np.zeros((len(ends), 3)), np.full(len(ends), -1)
    way[found.frames], owner[found.frames] = found.turns[..., None] * np.stack([first, second], axis=1), bars
    aside = np.full((len(ends), 2), -1)
    aside[found.frames[on_body, 0]] = np.column_stack([node, found.beside])[on_body]
    arms = np.where(on_body[:, None], place[found.beside] - place[node], 0.0)
    coupled = np.zeros(len(system.family))
    for section in model.sections:
        coupled[model.mesh.element_sets[section.element_set]] = section.coupling
    radius = np.where(found.spin < 0, 1.0, found.radius[found.spin])
    inertia = np.where(owner >= 0, system.mass[count + found.spin] * radius**2, 0.0)
    lengths = np.zeros(len(system.family))
    lengths[system.bar_index >= 0] = system.length0[system.bar_index[system.bar_index >= 0]]
    halves = np.where(bars >= 0, 0.5 * lengths[bars], 0.0)
    share = coupled[bars] * (bars >= 0) / (2.0 * halves.sum(axis=1, keepdims=True))
    own = np.column_stack([share, np.where(bars >= 0, lengths[bars], 0.0)])
    there = ~(system.gone[bars] & (bars >= 0)).any(axis=1)[:, None]
    frames = np.column_stack([way / np.linalg.norm(way, axis=1, keepdims=True), found.director, 0.0 * way[:, :2]])
    angles = np.column_stack([np.zeros((len(node), TURNED)), found.twist])
    group = Twisted(
        nodes, np.column_stack([first, second, np.zeros((len(node), 2)), arms]), on_body.astype(np.int64),
        found.frames, found.turns, found.turns / radius[found.frames],
        there * found.stiffness, there * found.viscosity, found.askew, found.rest, found.over, there * own,
        numbered(nodes, pair), aside, owner, ends, way, count + found.spin, radius, inertia, np.array([state]),
        np.concatenate([frames.ravel(), angles.ravel()]), np.zeros((12, 15)), np.zeros((15, 15)), np.zeros((10, 11)),
        np.zeros((4, 11)),
    )  # fmt: skip
    arrays: Any = map(np.ascontiguousarray, group)
    return Twisted(*arrays)


def _couples(nodes: Ints) -> dict[tuple[int, int], int]:
    """Pairs of different nodes among the five of an angle, in their order, each with its number from 0."""
    every = [(p, q) for p in range(SLOTS) for q in range(p + 1, SLOTS)]
    found = ((own[p], own[q]) for own in nodes.tolist() for p, q in every if own[p] >= 0 and own[p] != own[q])
    return {couple: number for number, couple in enumerate(dict.fromkeys(found))}


def numbered(nodes: Ints, first: int) -> Ints:
    """``pair`` (k, 25) of angles; first: the number of their first pair."""
    couples = _couples(nodes)
    found = [[couples.get((i, j), -1 - first) for i in own for j in own] for own in nodes.tolist()]
    return first + np.array(found, np.int64).reshape(-1, SLOTS * SLOTS)


def pairs_of(group: Twisted) -> Ints:
    """Nodes that angles couple."""
    return np.array([*_couples(group.nodes)], np.int64).reshape(-1, 2)


def noted(group: Twisted) -> Ints:
    """Nodes and states of the tables: of angles at one node (a clamp within a line) the first."""
    nodes, which = np.unique(group.nodes[:, 1], return_index=True)
    begin = int(group.first[0]) if len(nodes) else 0
    first = begin + OF_FRAME * len(group.spin) + OF_ANGLE * which
    return np.column_stack([nodes, first, first + 6, begin + OF_FRAME * group.frames[which, 1] + 3])


def rates_of(group: Twisted, u: Floats, state: Floats, moved: Any) -> Any:
    """(k, 5) what displacements ``moved`` from u (complex ones, too) do to curvatures (times l), twist and the lengths
    of both bars, linear."""
    parts = [np.zeros((len(group.nodes), 5)), np.zeros((len(group.nodes), 5))]
    for part, found in zip((moved.real, moved.imag), parts, strict=True):
        write_rates(np.ascontiguousarray(part), u, state, group, found)
    return parts[0] + 1j * parts[1] if np.iscomplexobj(moved) else parts[0]


def pulls(group: Twisted, u: Floats, state: Floats, moved: Any, count: int) -> Any:
    """(count,) what C adds to T of the elements for displacements ``moved`` from u, linear."""
    twist, bars = rates_of(group, u, state, moved)[:, 2], group.bars[group.frames]
    found = np.zeros(count, twist.dtype)
    for which in range(2):
        is_bar = bars[:, which] >= 0
        np.add.at(found, bars[is_bar, which], (group.coupling[:, which] * twist)[is_bar])
    return found


def pulled_bars(group: Twisted) -> Ints:
    """Bars that C pulls, with their states."""
    (frames,) = np.nonzero((group.bars >= 0) & bool(group.coupling[:, :LENGTH1].any()))
    return np.column_stack([group.bars[frames], group.first + OF_FRAME * frames + 7]) if len(frames) else NO_PAIRS


def trouble(group: Twisted, system: Any, u: Floats, state: Floats) -> str:
    """Message that a line is folded, with its place."""
    turned = "a line that twists turns by more than 90 degrees in an increment: smaller increments follow it"
    return blame_fold(group, system, u, state) or turned


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
