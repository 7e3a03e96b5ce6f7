"""How a line shares itself out between its legs, and what it pulls with: winches, pulleys, friction on these.

A rope over a pulley without friction pulls alike on both sides: it is one line of length l1 + l2. With friction mu
both legs keep what they have while T1/T2 lies within exp(-mu phi) and exp(mu phi), phi being the angle the rope turns
by (capstan, Euler-Eytelwein); else ds passes until it stands on the limit. Where a tension is negative its limit is
turned round, so that one of the two is always nearer to zero. A winch that keeps a tension gives the length that has
it, as far as its speed allows. Lengths are found by iterations with a bound: ``is_settled`` puts the answer into the
laws again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.compiled import called_kernel, inner_kernel
from fem.forces.reeving.lines import (
    AREA,
    FRICTION,
    STRESS0,
    TURNS,
    YOUNG,
    Leg,
    Lines,
    both,
    law_at,
    stretch,
    stretch_for,
)

SETTLED = 1e-11
"""What pulls of an answer may be off by, over the forces that the round-off of lengths belongs to."""


class Wish(NamedTuple):
    """What a winch wants: the pull in leg ``leg`` (-1: nothing), by ``most`` more or less of length."""

    leg: int
    pull: float
    most: float


class Answer(NamedTuple):
    """Of both legs: pull T and natural length L, their derivatives by l1, l2 and phi.

    hauled  what a winch that keeps a tension has added to its leg;  passed: what leg 1 has got from leg 2
    """

    t1: float
    t2: float
    length1: float
    length2: float
    hauled: float
    passed: float
    t11: float
    t12: float
    t1f: float
    t21: float
    t22: float
    t2f: float
    l11: float
    l12: float
    l1f: float
    l21: float
    l22: float
    l2f: float


class Run(NamedTuple):
    """Of one leg: pull, dT/dl, -dT/dL."""

    pull: float
    stiff: float
    give: float


@inner_kernel
def pull_of(k: int, leg: Leg, natural: float, own: Lines) -> Run:
    """A leg of a natural length."""
    h = stretch(leg, natural)
    _, pull, slope = law_at(k, h, own)
    return Run(pull, slope / natural, (1.0 + h) * slope / natural)


@inner_kernel
def hauled_by(k: int, leg: Leg, natural: float, wish: Wish, own: Lines) -> tuple[float, float]:
    """What a winch adds to the natural length, and the derivative of that by l: 0 where its speed is the limit."""
    if wish.leg < 0 or own.numbers[k, AREA] == 0.0:
        return 0.0, 0.0
    each = 1.0 / (1.0 + stretch_for(k, wish.pull, own))
    change = leg.length * each - natural
    if abs(change) > wish.most:
        return math.copysign(wish.most, change), 0.0
    return change, each


@inner_kernel
def one_leg(k: int, leg: Leg, natural: float, wish: Wish, own: Lines) -> Answer:
    """A bar that a winch names."""
    hauled, more = hauled_by(k, leg, natural, wish, own)
    length = natural + hauled
    run = pull_of(k, leg, length, own)
    pull, stiff = run.pull, run.stiff
    if more > 0.0:
        pull, stiff = wish.pull, 0.0
    return Answer(
        pull, 0.0, length, 0.0, hauled, 0.0, stiff, 0.0, 0.0, 0.0, 0.0, 0.0, more, 0.0, 0.0, 0.0, 0.0, 0.0
    )  # fmt: skip


@inner_kernel
def free_rope(k: int, one: Leg, other: Leg, natural: float, wish: Wish, own: Lines) -> Answer:
    """Without friction: each leg has the part of the length that it is long."""
    whole = both(one, other)
    answer = one_leg(k, whole, natural, wish, own)
    length, stiff, more = answer.length1, answer.t11, answer.l11
    first, second, each = one.length / whole.length, other.length / whole.length, length / whole.length
    return Answer(
        answer.t1, answer.t1, length * first, length * second, answer.hauled, 0.0,
        stiff, stiff, 0.0, stiff, stiff, 0.0,
        each * second + more * first, (more - each) * first, 0.0, (more - each) * second, each * first + more * second,
        0.0,
    )  # fmt: skip


@inner_kernel
def exchanged(answer: Answer) -> Answer:
    """The same with the legs in the other order."""
    return Answer(
        answer.t2, answer.t1, answer.length2, answer.length1, answer.hauled, -answer.passed,
        answer.t22, answer.t21, answer.t2f, answer.t12, answer.t11, answer.t1f,
        answer.l22, answer.l21, answer.l2f, answer.l12, answer.l11, answer.l1f,
    )  # fmt: skip


@inner_kernel
def limit_over(pull: float, grip: float) -> float:
    """The most that one leg may pull where the other pulls so hard; grip: exp(mu phi)."""
    return pull * grip if pull >= 0.0 else pull / grip


@called_kernel
def length_that_holds(k: int, one: Leg, other: Leg, least: float, whole: float, grip: float, own: Lines) -> float:
    """L1 at which leg 1 just holds: T1(L1) = limit over T2(whole - L1), by Newton's method between two bounds.

    Beyond a kink (a leg gets slack) every other turn halves what lies between these. ``is_settled`` says whether it is.
    """
    low = max(least, 0.0)
    high = whole * one.length / (one.length + other.length)  # there both pull alike
    length = low if low > 0.0 else 0.5 * high
    for _ in range(TURNS):
        first, second = pull_of(k, one, length, own), pull_of(k, other, whole - length, own)
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
    k: int, one: Leg, other: Leg, have: float, whole: float, hauled: float, phi: float, own: Lines
) -> Answer:
    """Leg 1 pulls too hard, or has no length: it gets some."""
    steep = own.numbers[k, FRICTION]
    grip = math.exp(steep * phi)
    length = length_that_holds(k, one, other, have, whole, grip, own)
    first, second = pull_of(k, one, length, own), pull_of(k, other, whole - length, own)
    positive = second.pull >= 0.0
    factor = grip if positive else 1.0 / grip
    turn = (steep if positive else -steep) * factor * second.pull
    soft = first.give + factor * second.give
    each = 1.0 / soft if soft > 0.0 else 0.0
    d1, d2, df = first.stiff * each, -factor * second.stiff * each, -turn * each
    return Answer(
        first.pull, second.pull, length, whole - length, hauled, length - have,
        first.stiff - first.give * d1, -first.give * d2, -first.give * df,
        second.give * d1, second.stiff + second.give * d2, second.give * df,
        d1, d2, df, -d1, -d2, -df,
    )  # fmt: skip


@inner_kernel
def with_friction(
    k: int, one: Leg, other: Leg, have1: float, have2: float, phi: float, wish: Wish, own: Lines
) -> Answer:
    """A rope that rubs, and a winch at leg 1 that may keep its pull as far as its speed allows.

    have  natural lengths before that, and before anything passes
    """
    steep, hauled = own.numbers[k, FRICTION], 0.0
    grip = math.exp(steep * phi)
    if wish.leg >= 0 and own.numbers[k, AREA] > 0.0:
        pull, each = wish.pull, 1.0 / (1.0 + stretch_for(k, wish.pull, own))
        length, second, length2 = one.length * each, pull_of(k, other, have2, own), have2
        t2, t22, t2f, l22, l2f = second.pull, second.stiff, 0.0, 0.0, 0.0
        over = second.pull > limit_over(pull, grip)
        if over or pull > limit_over(second.pull, grip):
            t2 = pull * grip if over else pull / grip
            h = stretch_for(k, t2, own)
            l22 = 1.0 / (1.0 + h)
            t22, t2f, length2 = 0.0, (steep if over else -steep) * t2, other.length * l22
            l2f = -length2 * l22 * t2f / law_at(k, h, own)[2]
        passed = have2 - length2
        hauled = length - have1 - passed
        if abs(hauled) <= wish.most:
            return Answer(
                pull, t2, length, length2, hauled, passed, 0.0, 0.0, 0.0, 0.0, t22, t2f, each, 0.0, 0.0, 0.0, l22, l2f
            )  # fmt: skip
        hauled = math.copysign(wish.most, hauled)
        have1 += hauled
    over1 = have1 <= 0.0
    if have1 > 0.0 and have2 > 0.0:
        first, second = pull_of(k, one, have1, own), pull_of(k, other, have2, own)
        over1 = first.pull > limit_over(second.pull, grip)
        if not (over1 or second.pull > limit_over(first.pull, grip)):
            return Answer(
                first.pull, second.pull, have1, have2, hauled, 0.0, first.stiff, 0.0, 0.0, 0.0, second.stiff, 0.0,
                0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            )  # fmt: skip
    whole = have1 + have2
    if over1:
        return towards_first(k, one, other, have1, whole, hauled, phi, own)
    return exchanged(towards_first(k, other, one, have2, whole, hauled, phi, own))


@inner_kernel
def answer_of(k: int, one: Leg, other: Leg, have1: float, have2: float, phi: float, wish: Wish, own: Lines) -> Answer:
    """Line k with the natural lengths that winches by curves have left in its legs."""
    if own.nodes[k, 2] < 0:
        return one_leg(k, one, have1, wish, own)
    if own.numbers[k, FRICTION] == 0.0:
        return free_rope(k, one, other, have1 + have2, wish, own)
    is_second = wish.leg == 1
    answer = with_friction(
        k,
        other if is_second else one,
        one if is_second else other,
        have2 if is_second else have1,
        have1 if is_second else have2,
        phi,
        wish,
        own,
    )
    return exchanged(answer) if is_second else answer


@inner_kernel
def is_settled(k: int, one: Leg, other: Leg, phi: float, wish: Wish, answer: Answer, own: Lines) -> bool:
    """Pulls are those of the lengths, and none is beyond its limit over the other: iterations have ended well."""
    rubs = own.nodes[k, 2] >= 0 and own.numbers[k, FRICTION] > 0.0
    if not rubs and wish.leg < 0:
        return True  # nothing has been looked for
    if not rubs:
        line = both(one, other) if own.nodes[k, 2] >= 0 else one
        return is_pull(k, answer.t1, answer.t1, line, answer.length1 + answer.length2, own)
    grip = math.exp(own.numbers[k, FRICTION] * phi)
    over1, over2 = min(answer.t1, limit_over(answer.t2, grip)), min(answer.t2, limit_over(answer.t1, grip))
    fits = is_pull(k, answer.t1, over1, one, answer.length1, own)
    return fits and is_pull(k, answer.t2, over2, other, answer.length2, own)


@inner_kernel
def is_pull(k: int, pull: float, allowed: float, leg: Leg, natural: float, own: Lines) -> bool:
    """A leg of a natural length pulls so hard, and no harder than allowed; False where one of them is NaN."""
    run, numbers = pull_of(k, leg, natural, own), own.numbers
    size = numbers[k, AREA] * (numbers[k, YOUNG] + abs(numbers[k, STRESS0])) + abs(pull) + abs(run.give * natural)
    fits: bool = abs(run.pull - pull) <= SETTLED * size and abs(pull - allowed) <= SETTLED * size
    return fits
