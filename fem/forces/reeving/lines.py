"""Lines that run, as arrays, and their law: what a line of natural length L does that is l long.

With s = l/L and the strain e(s) of its section, all measures are functions of s alone:

    t = E e + S_0,   r = r_plus or r_minus,   W = A L w(s),   w = r t^2/(2 E),   w' = r t e',   w'' = r (E e'^2 + t e'')
    T = dW/dl = A w',   dT/dl = A w''/L,   dT/dL = - s A w''/L,   dW/dL = A (w - s w')

dW/dL, - (T + T^2/(2 E A)) for ENGINEERING, is what line that comes in brings with it. s - 1 = (x + D - L)/L keeps its
digits, x being the elongation from the distance D of the reference position.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel
from fem.forces.bars.laws import bilinear, fraction
from fem.forces.bars.strain import GREEN, LOG, log_ratio
from fem.forces.fluid.curves import Curves

# Columns of Lines.numbers
FIRST_LEG, DISTANCE, REST = 0, 6, 8
AREA, YOUNG, PLUS, MINUS, STRESS0, STARTING, FRICTION, DENSITY, KNOWN, DIES = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
NUMBERS = 20
# What a line remembers: natural lengths of its legs, what has come into them but by the curves of winches, dW/dL
# (NaN: lengths have not been found, and the run stops), T,
# rates of the lengths, of which time that is, and u of its nodes, where these weigh
LENGTH, HAULED, BROUGHT, PULL, RATE, CLOCK, MOVED = 0, 2, 4, 6, 8, 10, 11
REMEMBERED = 20
NOTHING = -1
LEAST_LENGTH, LEAST_LEG = 0.1, 1e-3
"""Fractions of the natural length at the start: below them there is no line to speak of."""
TURNS = 120
"""Bound of iterations for one number, which take less than ten but beside kinks; those are halved out in as many."""

CLOSE = 1e-12
"""The last step of an iteration that goes on in round-off, over its number."""


class Lines(NamedTuple):
    """q lines of one leg (bars that a winch names) or two (ropes over pulleys).

    elements (q,)
    nodes    (q, 3)  its end, the pulley (of a bar: its other end), the end beyond (of a bar: -1)
    pairs    (q,)    its first pair: end and pulley, pulley and other end, both ends
    first            of its states
    measure  (q,)    strain
    numbers  (q, NUMBERS)  reference vectors from the pulley to both ends (2 x 3), their lengths, natural lengths of
                     both legs; area, modulus, r_plus, r_minus, S_0, starting tension, friction, mass per natural
                     length, the mass that the model gives to either end already, 1 where it may not get too short
    spans    (q, 4)  its first and past-last row of ``turns``, and of ``pulls``
    turns    (r, 2)  leg and curve of what a winch gives, changes (r,) of the length for the value 1
    control  (q, 2)  leg that is kept at a tension (-1: none), and the curve of that;  wanted (q, 2): for the value 1,
                     and the speed it may take
    pulls    (g,)    curves of accelerations of gravity, fields (g, 3) for the value 1
    """

    elements: Ints
    nodes: Ints
    pairs: Ints
    first: int
    measure: Ints
    numbers: Floats
    spans: Ints
    turns: Ints
    changes: Floats
    control: Ints
    wanted: Floats
    pulls: Ints
    fields: Floats
    curves: Curves


class Leg(NamedTuple):
    """A straight piece from the pulley: vector to its end, length, elongation, and length in the reference position."""

    d: Vector
    length: float
    longer: float
    distance: float


@inner_kernel
def leg_of(k: int, number: int, u: Floats, own: Lines) -> Leg:
    """Leg 0 or 1 of line k."""
    i, p, column = 3 * own.nodes[k, 2 * number], 3 * own.nodes[k, 1], FIRST_LEG + 3 * number
    rx, ry, rz = own.numbers[k, column], own.numbers[k, column + 1], own.numbers[k, column + 2]
    wx, wy, wz = u[i] - u[p], u[i + 1] - u[p + 1], u[i + 2] - u[p + 2]
    dx, dy, dz = rx + wx, ry + wy, rz + wz
    length, distance = math.sqrt(dx * dx + dy * dy + dz * dz), own.numbers[k, DISTANCE + number]
    longer = (2.0 * (rx * wx + ry * wy + rz * wz) + wx * wx + wy * wy + wz * wz) / (length + distance)
    return Leg((dx, dy, dz), length, longer, distance)


@inner_kernel
def both(one: Leg, other: Leg) -> Leg:
    """A rope that runs freely is as long as both legs."""
    return Leg(one.d, one.length + other.length, one.longer + other.longer, one.distance + other.distance)


@inner_kernel
def stretch(leg: Leg, natural: float) -> float:
    """s - 1."""
    return (leg.longer + (leg.distance - natural)) / natural


@inner_kernel
def strain_at(k: int, h: float, own: Lines) -> tuple[float, float, float]:
    """e, e', e'' at s = 1 + h."""
    if own.measure[k] == GREEN:
        return h + 0.5 * h * h, 1.0 + h, 1.0
    if own.measure[k] == LOG:
        return math.log1p(h), 1.0 / (1.0 + h), -1.0 / ((1.0 + h) * (1.0 + h))
    return h, 1.0, 0.0


@inner_kernel
def stress_at(k: int, h: float, own: Lines) -> tuple[float, float]:
    """Strain and stress at s = 1 + h."""
    strain = strain_at(k, h, own)[0]
    trial = own.numbers[k, YOUNG] * strain + own.numbers[k, STRESS0]
    return strain, fraction(trial, own.numbers[k, PLUS], own.numbers[k, MINUS]) * trial


@inner_kernel
def law_at(k: int, h: float, own: Lines) -> tuple[float, float, float]:
    """A w, A w', A w'' at s = 1 + h."""
    strain, slope, bend = strain_at(k, h, own)
    area, young = own.numbers[k, AREA], own.numbers[k, YOUNG]
    trial = young * strain + own.numbers[k, STRESS0]
    active = area * fraction(trial, own.numbers[k, PLUS], own.numbers[k, MINUS])
    return (
        0.5 * active * trial * trial / young, active * trial * slope, active * (young * slope * slope + trial * bend)
    )  # fmt: skip


@inner_kernel
def brought_at(k: int, h: float, own: Lines) -> float:
    """dW/dL at s = 1 + h."""
    stored, pull, _ = law_at(k, h, own)
    return stored - (1.0 + h) * pull


@inner_kernel
def stretch_for(k: int, pull: float, own: Lines) -> float:
    """h at which the line pulls so hard, by Newton's method; a line that would have to push is just not slack.

    Where it is not found (LOG: no line pulls harder than E A/e), that of a straight law: ``running.is_settled`` tells.
    """
    area, young, stress0 = own.numbers[k, AREA], own.numbers[k, YOUNG], own.numbers[k, STRESS0]
    first: float = (pull / (area * own.numbers[k, PLUS]) - stress0) / young
    h, step = first, math.inf
    for _ in range(TURNS):
        if not h > -1.0:
            return first
        _, now, slope = law_at(k, h, own)
        if slope == 0.0:
            return h
        step = (pull - now) / slope
        h += step
        if abs(step) <= 1e-16 * (1.0 + abs(h)):
            return h
    return h if abs(step) <= CLOSE * (1.0 + abs(h)) else first


@inner_kernel
def secant_pull(k: int, h0: float, h1: float, own: Lines) -> tuple[float, float]:
    """(A w1 - A w0)/(s1 - s0) and its derivative by s1."""
    young, stress0 = own.numbers[k, YOUNG], own.numbers[k, STRESS0]
    e0, _, _ = strain_at(k, h0, own)
    e1, slope1, _ = strain_at(k, h1, own)
    stress, modulus = bilinear(
        young * e0 + stress0, young * e1 + stress0, young, own.numbers[k, PLUS], own.numbers[k, MINUS]
    )
    rise, bend = 1.0, 0.0
    if own.measure[k] == GREEN:
        rise, bend = 1.0 + 0.5 * (h0 + h1), 0.5
    if own.measure[k] == LOG:
        phi, phi_slope = log_ratio((h1 - h0) / (1.0 + h0))
        rise, bend = phi / (1.0 + h0), phi_slope / ((1.0 + h0) * (1.0 + h0))
    area = own.numbers[k, AREA]
    return area * stress * rise, area * (modulus * slope1 * rise + stress * bend)
