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
from fem.compiled import called_kernel, inner_kernel
from fem.forces.curves import Curves
from fem.forces.laws import bilinear, fraction, measure_stretch
from fem.forces.protocol import apart, blend, dot, scaled

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

NONE: Vector = (0.0, 0.0, 0.0)
CLOSE = 1e-12
"""The last step of an iteration that goes on in round-off, over its number."""
SETTLED = 1e-11
"""Convergence tolerance of pulls, over the forces that the round-off of lengths belongs to."""


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
def leg_between(reference: Vector, distance: float, w: Vector) -> Leg:
    """The leg whose end has moved by w against the pulley; the elongation keeps all digits."""
    d = blend(1.0, reference, 1.0, w)
    length = math.sqrt(dot(d, d))
    return Leg(d, length, (2.0 * dot(reference, w) + dot(w, w)) / (length + distance), distance)


@inner_kernel
def directions(leg: Leg, start: Leg, secant: bool) -> tuple[Vector, Vector, float]:
    """n, the direction m of the force, and h of dm/du = h (I - m n^T); start: where secant, of the increment.
    m = n = d/l and h = 1/l; secant: m = (d0 + d1)/(l0 + l1) and h = 1/(l0 + l1)"""
    each = 1.0 / leg.length
    n = scaled(each, leg.d)
    if not secant:
        return n, n, each
    each = 1.0 / (start.length + leg.length)
    return n, scaled(each, blend(1.0, start.d, 1.0, leg.d)), each


@inner_kernel
def leg_of(k: int, number: int, u: Floats, group: Lines) -> Leg:
    """Leg 0 or 1 of line k."""
    column = FIRST_LEG + 3 * number
    reference = group.numbers[k, column], group.numbers[k, column + 1], group.numbers[k, column + 2]
    w = apart(3 * group.nodes[k, 1], 3 * group.nodes[k, 2 * number], u)
    return leg_between(reference, group.numbers[k, DISTANCE + number], w)


@inner_kernel
def both(one: Leg, other: Leg) -> Leg:
    """A rope that runs freely is as long as both legs."""
    return Leg(one.d, one.length + other.length, one.longer + other.longer, one.distance + other.distance)


@inner_kernel
def stretch(leg: Leg, natural: float) -> float:
    """s - 1."""
    return (leg.longer + (leg.distance - natural)) / natural


@inner_kernel
def stress_at(k: int, h: float, group: Lines) -> tuple[float, float, float]:
    """Strain, stress and e' at s = 1 + h."""
    _, strain, slope, _, _ = measure_stretch(group.measure[k], h, h)
    trial = group.numbers[k, YOUNG] * strain + group.numbers[k, STRESS0]
    return strain, fraction(trial, group.numbers[k, PLUS], group.numbers[k, MINUS]) * trial, slope


@inner_kernel
def law_at(k: int, h: float, group: Lines) -> tuple[float, float, float]:
    """A w, A w', A w'' at s = 1 + h."""
    _, strain, slope, _, bend = measure_stretch(group.measure[k], h, h)
    area, young = group.numbers[k, AREA], group.numbers[k, YOUNG]
    trial = young * strain + group.numbers[k, STRESS0]
    active = area * fraction(trial, group.numbers[k, PLUS], group.numbers[k, MINUS])
    stiff = active * (young * slope * slope + 2.0 * trial * bend)
    return 0.5 * active * trial * trial / young, active * trial * slope, stiff


@inner_kernel
def brought_at(k: int, h: float, group: Lines) -> float:
    """dW/dL at s = 1 + h."""
    stored, pull, _ = law_at(k, h, group)
    return stored - (1.0 + h) * pull


@inner_kernel
def stretch_for(k: int, pull: float, group: Lines) -> float:
    """h at which the line pulls so hard, by Newton's method; a line that would have to push is just not slack.
    Where it is not found (LOG: no line pulls harder than E A/e), that of a straight law: ``is_settled`` reports it."""
    area, young, stress0 = group.numbers[k, AREA], group.numbers[k, YOUNG], group.numbers[k, STRESS0]
    first: float = (pull / (area * group.numbers[k, PLUS]) - stress0) / young
    h, step = first, math.inf
    for _ in range(TURNS):
        if not h > -1.0:
            return first
        _, now, slope = law_at(k, h, group)
        if slope == 0.0:
            return h
        step = (pull - now) / slope
        h += step
        if abs(step) <= 1e-16 * (1.0 + abs(h)):
            return h
    return h if abs(step) <= CLOSE * (1.0 + abs(h)) else first


@inner_kernel
def secant_pull(k: int, h0: float, h1: float, group: Lines) -> tuple[float, float]:
    """(A w1 - A w0)/(s1 - s0) and its derivative by s1."""
    young, stress0 = group.numbers[k, YOUNG], group.numbers[k, STRESS0]
    e0, e1, slope1, slope, curvature = measure_stretch(group.measure[k], h0, h1)
    plus, minus, area = group.numbers[k, PLUS], group.numbers[k, MINUS], group.numbers[k, AREA]
    stress, modulus = bilinear(young * e0 + stress0, young * e1 + stress0, young, plus, minus)
    return area * stress * slope, area * (modulus * slope1 * slope + stress * curvature)


# How the length of a line divides between its legs, and what it pulls with: winches, pulleys, friction on these.
#
# A rope over a pulley without friction pulls alike on both sides: it is one line of length l1 + l2. With friction mu
# both legs keep what they have while T1/T2 lies within exp(-mu phi) and exp(mu phi), phi being the angle the rope turns
# by (capstan, Euler-Eytelwein); else ds passes until it stands on the limit. Where a tension is negative its limit is
# turned round, so that one of the two is always nearer to zero. A winch that keeps a tension gives the length that has
# it, as far as its speed allows. Lengths are found by iterations with a bound: ``is_settled`` puts the answer into the
# laws again.
class WinchControl(NamedTuple):
    """What a winch wants: the pull in leg ``leg`` (-1: nothing), by ``most`` more or less of length."""

    leg: int
    pull: float
    most: float


class Side(NamedTuple):
    """Of one leg: pull T, natural length L, and the derivatives of both by l1, l2 and phi."""

    pull: float
    length: float
    d_pull: Vector
    d_length: Vector


class LegForces(NamedTuple):
    """Of both legs.

    hauled  what a winch that keeps a tension has added to its leg;  passed: what leg 1 has got from leg 2
    """

    first: Side
    second: Side
    hauled: float
    passed: float


class LegPull(NamedTuple):
    """Of one leg: pull, dT/dl, -dT/dL."""

    pull: float
    stiff: float
    give: float


@inner_kernel
def pull_of(k: int, leg: Leg, natural: float, group: Lines) -> LegPull:
    """A leg of a natural length."""
    h = stretch(leg, natural)
    _, pull, slope = law_at(k, h, group)
    return LegPull(pull, slope / natural, (1.0 + h) * slope / natural)


@inner_kernel
def hauled_by(k: int, leg: Leg, natural: float, control: WinchControl, group: Lines) -> tuple[float, float]:
    """What a winch adds to the natural length, and the derivative of that by l: 0 where its speed is the limit."""
    if control.leg < 0 or group.numbers[k, AREA] == 0.0:
        return 0.0, 0.0
    each = 1.0 / (1.0 + stretch_for(k, control.pull, group))
    change = leg.length * each - natural
    if abs(change) > control.most:
        return math.copysign(control.most, change), 0.0
    return change, each


@inner_kernel
def one_leg(k: int, leg: Leg, natural: float, control: WinchControl, group: Lines) -> LegForces:
    """A bar that a winch names."""
    hauled, more = hauled_by(k, leg, natural, control, group)
    length = natural + hauled
    run = pull_of(k, leg, length, group)
    pull, stiff = run.pull, run.stiff
    if more > 0.0:
        pull, stiff = control.pull, 0.0
    side = Side(pull, length, d_pull=(stiff, 0.0, 0.0), d_length=(more, 0.0, 0.0))
    return LegForces(side, Side(0.0, 0.0, NONE, NONE), hauled, passed=0.0)


@inner_kernel
def free_rope(k: int, one: Leg, other: Leg, natural: float, control: WinchControl, group: Lines) -> LegForces:
    """A rope without friction: its natural length divides in proportion to the lengths of the legs."""
    whole = both(one, other)
    answer = one_leg(k, whole, natural, control, group)
    pull, length, (stiff, _, _), (more, _, _) = answer.first
    first, second, each = one.length / whole.length, other.length / whole.length, length / whole.length
    d_first = each * second + more * first, (more - each) * first, 0.0
    d_second = (more - each) * second, each * first + more * second, 0.0
    d_pull = stiff, stiff, 0.0
    return LegForces(
        Side(pull, length * first, d_pull, d_first), Side(pull, length * second, d_pull, d_second), answer.hauled, 0.0
    )


@inner_kernel
def exchanged(answer: LegForces) -> LegForces:
    """The same with the legs in the other order."""
    return LegForces(seen_from_other(answer.second), seen_from_other(answer.first), answer.hauled, -answer.passed)


@inner_kernel
def seen_from_other(side: Side) -> Side:
    """The same with l1 and l2 exchanged."""
    by_pull, by_length = side.d_pull, side.d_length
    return Side(
        side.pull, side.length, (by_pull[1], by_pull[0], by_pull[2]), (by_length[1], by_length[0], by_length[2])
    )


@inner_kernel
def limit_over(pull: float, grip: float) -> float:
    """The most that one leg may pull where the other pulls so hard; grip: exp(mu phi)."""
    return pull * grip if pull >= 0.0 else pull / grip


@called_kernel
def length_that_holds(k: int, one: Leg, other: Leg, least: float, whole: float, grip: float, group: Lines) -> float:
    """L1 at which leg 1 just holds: T1(L1) = limit over T2(whole - L1), by Newton's method between two bounds.

    Beyond a kink (a leg gets slack) every other turn halves what lies between these. ``is_settled`` says whether it is.
    """
    low = max(least, 0.0)
    high = whole * one.length / (one.length + other.length)  # there both pull alike
    length = low if low > 0.0 else 0.5 * high
    for _ in range(TURNS):
        first, second = pull_of(k, one, length, group), pull_of(k, other, whole - length, group)
        excess = first.pull - limit_over(second.pull, grip)
        if excess > 0.0:
            low = length
        else:
            high = length
        slope = first.give + second.give * (grip if second.pull >= 0.0 else 1.0 / grip)
        following = length + excess / slope if slope > 0.0 else 0.5 * (low + high)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - length) <= 4e-16 * whole:
            return following
        length = following
    return length


@inner_kernel
def towards_first(
    k: int, one: Leg, other: Leg, have: float, whole: float, hauled: float, phi: float, group: Lines
) -> LegForces:
    """Leg 1 pulls too hard, or has no length: natural length passes to it."""
    steep = group.numbers[k, FRICTION]
    grip = math.exp(steep * phi)
    length = length_that_holds(k, one, other, have, whole, grip, group)
    first, second = pull_of(k, one, length, group), pull_of(k, other, whole - length, group)
    positive = second.pull >= 0.0
    factor = grip if positive else 1.0 / grip
    turn = (steep if positive else -steep) * factor * second.pull
    soft = first.give + factor * second.give
    each = 1.0 / soft if soft > 0.0 else 0.0
    d1, d2, df = first.stiff * each, -factor * second.stiff * each, -turn * each
    d_first = first.stiff - first.give * d1, -first.give * d2, -first.give * df
    d_second = second.give * d1, second.stiff + second.give * d2, second.give * df
    return LegForces(
        Side(first.pull, length, d_first, d_length=(d1, d2, df)),
        Side(second.pull, whole - length, d_second, d_length=(-d1, -d2, -df)),
        hauled,
        passed=length - have,
    )


@inner_kernel
def with_friction(
    k: int, one: Leg, other: Leg, have1: float, have2: float, phi: float, control: WinchControl, group: Lines
) -> LegForces:
    """A rope that rubs, and a winch at leg 1 that may keep its pull as far as its speed allows.
    have  natural lengths before that, and before anything passes"""
    steep, hauled = group.numbers[k, FRICTION], 0.0
    grip = math.exp(steep * phi)
    if control.leg >= 0 and group.numbers[k, AREA] > 0.0:
        pull, each = control.pull, 1.0 / (1.0 + stretch_for(k, control.pull, group))
        length, second, length2 = one.length * each, pull_of(k, other, have2, group), have2
        t2, t22, t2f, l22, l2f = second.pull, second.stiff, 0.0, 0.0, 0.0
        over = second.pull > limit_over(pull, grip)
        if over or pull > limit_over(second.pull, grip):
            t2 = pull * grip if over else pull / grip
            h = stretch_for(k, t2, group)
            l22 = 1.0 / (1.0 + h)
            t22, t2f, length2 = 0.0, (steep if over else -steep) * t2, other.length * l22
            l2f = -length2 * l22 * t2f / law_at(k, h, group)[2]
        passed = have2 - length2
        hauled = length - have1 - passed
        if abs(hauled) <= control.most:
            return LegForces(
                Side(pull, length, NONE, d_length=(each, 0.0, 0.0)),
                Side(t2, length2, d_pull=(0.0, t22, t2f), d_length=(0.0, l22, l2f)),
                hauled,
                passed,
            )
        hauled = math.copysign(control.most, hauled)
        have1 += hauled
    over1 = have1 <= 0.0
    if have1 > 0.0 and have2 > 0.0:
        first, second = pull_of(k, one, have1, group), pull_of(k, other, have2, group)
        over1 = first.pull > limit_over(second.pull, grip)
        if not (over1 or second.pull > limit_over(first.pull, grip)):
            return LegForces(
                Side(first.pull, have1, (first.stiff, 0.0, 0.0), NONE),
                Side(second.pull, have2, (0.0, second.stiff, 0.0), NONE),
                hauled,
                passed=0.0,
            )
    whole = have1 + have2
    if over1:
        return towards_first(k, one, other, have1, whole, hauled, phi, group)
    return exchanged(towards_first(k, other, one, have2, whole, hauled, phi, group))


@inner_kernel
def answer_of(
    k: int, one: Leg, other: Leg, have1: float, have2: float, phi: float, control: WinchControl, group: Lines
) -> LegForces:
    """Line k with the natural lengths that winches by curves have left in its legs."""
    if group.nodes[k, 2] < 0:
        return one_leg(k, one, have1, control, group)
    if group.numbers[k, FRICTION] == 0.0:
        return free_rope(k, one, other, have1 + have2, control, group)
    is_second = control.leg == 1
    if is_second:
        one, other, have1, have2 = other, one, have2, have1
    answer = with_friction(k, one, other, have1, have2, phi, control, group)
    return exchanged(answer) if is_second else answer


@inner_kernel
def is_settled(
    k: int, one: Leg, other: Leg, phi: float, control: WinchControl, answer: LegForces, group: Lines
) -> bool:
    """Pulls are those of the lengths, and none is beyond its limit over the other: iterations have ended well."""
    rubs, first, second = group.nodes[k, 2] >= 0 and group.numbers[k, FRICTION] > 0.0, answer.first, answer.second
    if not rubs and control.leg < 0:
        return True  # nothing has been looked for
    if not rubs:
        line = both(one, other) if group.nodes[k, 2] >= 0 else one
        return is_pull(k, first.pull, first.pull, line, first.length + second.length, group)
    grip = math.exp(group.numbers[k, FRICTION] * phi)
    over1, over2 = min(first.pull, limit_over(second.pull, grip)), min(second.pull, limit_over(first.pull, grip))
    fits = is_pull(k, first.pull, over1, one, first.length, group)
    return fits and is_pull(k, second.pull, over2, other, second.length, group)


@inner_kernel
def is_pull(k: int, pull: float, allowed: float, leg: Leg, natural: float, group: Lines) -> bool:
    """A leg of a natural length pulls so hard, and no harder than allowed; False where one of them is NaN."""
    run, numbers = pull_of(k, leg, natural, group), group.numbers
    size = numbers[k, AREA] * (numbers[k, YOUNG] + abs(numbers[k, STRESS0])) + abs(pull) + abs(run.give * natural)
    fits: bool = abs(run.pull - pull) <= SETTLED * size and abs(pull - allowed) <= SETTLED * size
    return fits
