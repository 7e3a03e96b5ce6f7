"""Forces of lines that run, with their exact tangents, and what they bring to the books.

Internal force on the end of leg a, of direction n_a away from the pulley, and on the pulley:

    F_a = T_a n_a,   dF_a = n_a dT_a + T_a/l_a (I - n_a n_a^T) du,   F_p = - F_1 - F_2

T_a depends on l1, l2 and the angle phi between - n1 and n2 (``running``). Secant forces (ENERGY MOMENTUM) take
n_a = (d_a0 + d_a1)/(l_a0 + l_a1), with the discrete gradient of W in l1 + l2 where nothing rubs and no tension is kept
(the mean of the pulls at both ends of the increment else), at the mean of the natural lengths.

Weight: gravity pulls at half of each leg's mass at either end of it; what bars weigh at their length at the start is a
load of the model. Books of an increment, B = dW/dL: (B0 + B1)/2 times the line that winches give comes from outside,
- (B0 + B1)/2 times that which slips over the pulley is lost; so does the change of the potential energy of the weight
that no motion has brought about.
"""

from __future__ import annotations

import math

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel
from fem.forces.fluid.curves import value_at
from fem.forces.protocol import GIVEN, TAKEN, Tangent, Trial, component
from fem.forces.reeving.lines import (
    AREA,
    BROUGHT,
    CLOCK,
    DENSITY,
    DIES,
    FRICTION,
    HAULED,
    LEAST_LEG,
    LEAST_LENGTH,
    LENGTH,
    PULL,
    RATE,
    REMEMBERED,
    REST,
    STARTING,
    Leg,
    Lines,
    both,
    brought_at,
    law_at,
    leg_of,
    secant_pull,
    stretch,
)
from fem.forces.reeving.running import Answer, Wish, answer_of, is_settled
from fem.forces.reeving.ways import NONE, Way, add_entry, angle_of, slope_of, spread, way_of
from fem.forces.reeving.weight import weigh


@called_kernel
def evaluate(trial: Trial, own: Lines, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all lines, and their states; the energy they store."""
    energy = 0.0
    for k in range(own.nodes.shape[0]):
        energy += evaluate_line(k, trial, own, force, tangent)
    return energy


@inner_kernel
def given_by(k: int, leg: int, time: float, own: Lines) -> float:
    """What winches have given to a leg by their curves."""
    total = 0.0
    for r in range(own.spans[k, 0], own.spans[k, 1]):
        if own.turns[r, 0] == leg:
            total += own.changes[r] * value_at(own.curves, own.turns[r, 1], time)
    return total


@inner_kernel
def wish_at(k: int, trial: Trial, own: Lines) -> Wish:
    """What a winch that keeps a tension wants in this increment."""
    if own.control[k, 0] < 0:
        return Wish(-1, 0.0, 0.0)
    pull = own.wanted[k, 0] * value_at(own.curves, own.control[k, 1], trial.time1)
    most = own.wanted[k, 1]
    return Wish(own.control[k, 0], pull, most * (trial.time1 - trial.time0) if most < math.inf else math.inf)


@inner_kernel
def evaluate_line(k: int, trial: Trial, own: Lines, force: Floats, tangent: Tangent) -> float:
    """One line: its forces, tangent, books and states; the energy it stores."""
    old, new, two = trial.state0, trial.state1, own.nodes[k, 2] >= 0
    state, rubs = own.first + REMEMBERED * k, two and own.numbers[k, FRICTION] > 0.0
    one = leg_of(k, 0, trial.u1, own)
    other = leg_of(k, 1, trial.u1, own) if two else Leg(NONE, 0.0, 0.0, 0.0)
    phi, turn1, turn2 = angle_of(one, other) if rubs else (0.0, NONE, NONE)
    wound1, wound2 = given_by(k, 0, trial.time1, own), given_by(k, 1, trial.time1, own)
    have1 = own.numbers[k, REST] + wound1 + old[state + HAULED]
    have2 = own.numbers[k, REST + 1] + wound2 + old[state + HAULED + 1]
    wish = wish_at(k, trial, own)
    answer = answer_of(k, one, other, have1, have2, phi, wish, own)
    before = old[state + LENGTH] + old[state + LENGTH + 1]
    whole = answer.length1 + answer.length2
    remember(state, rubs, wish.leg, wound1, wound2, trial, answer, own)
    if own.numbers[k, AREA] == 0.0:
        return 0.0
    line = both(one, other) if two else one
    b1 = brought_at(k, stretch(line, whole) if not rubs else stretch(one, answer.length1), own)
    b2 = brought_at(k, stretch(other, answer.length2), own) if rubs else b1
    is_lost = not is_settled(k, one, other, phi, wish, answer, own) or old[state + BROUGHT] != old[state + BROUGHT]
    new[state + BROUGHT], new[state + BROUGHT + 1] = (math.nan, math.nan) if is_lost else (b1, b2)
    is_exact = trial.secant and not rubs and wish.leg < 0
    if is_exact:
        answer = secant_answer(k, before, whole, line, trial, answer, own)
    else:
        came1 = new_from(0, state, trial) - answer.passed
        came2 = new_from(1, state, trial) + answer.passed
        b01, b02 = old[state + BROUGHT], old[state + BROUGHT + 1]
        if not rubs:
            came1, came2 = whole - before, 0.0
        trial.power[GIVEN] += 0.5 * ((b01 + b1) * came1 + (b02 + b2) * came2)
        trial.power[TAKEN] -= 0.5 * (b01 + b1 - b02 - b2) * answer.passed
        if trial.secant:
            answer = mean_answer(old[state + PULL], old[state + PULL + 1], answer)
    way = way_of(k, 0, one, turn1, trial, own)
    beyond = way_of(k, 1, other, turn2, trial, own) if two else way
    pull_at(k, way, beyond, answer, trial, own, force, tangent)
    if own.numbers[k, DENSITY] > 0.0 and own.spans[k, 3] > own.spans[k, 2]:
        weigh(k, state, way, beyond, answer, trial, own, force, tangent)
    first, reference = stored(k, rubs, line, one, other, new, state, own), own.numbers[k, REST]
    reference += own.numbers[k, REST + 1]
    is_short = whole < LEAST_LENGTH * reference
    is_short |= two and min(one.length, other.length) < LEAST_LEG * reference
    return math.inf if is_lost or (is_short and own.numbers[k, DIES] != 0.0) else first


@inner_kernel
def new_from(leg: int, state: int, trial: Trial) -> float:
    """What a leg has got in this increment."""
    got: float = trial.state1[state + LENGTH + leg] - trial.state0[state + LENGTH + leg]
    return got


@inner_kernel
def stored(k: int, rubs: bool, line: Leg, one: Leg, other: Leg, new: Floats, state: int, own: Lines) -> float:
    """W at the end of the increment."""
    length1, length2 = new[state + LENGTH], new[state + LENGTH + 1]
    energy: float = (length1 + length2) * law_at(k, stretch(line, length1 + length2), own)[0]
    if rubs:
        energy = length1 * law_at(k, stretch(one, length1), own)[0]
        energy += length2 * law_at(k, stretch(other, length2), own)[0]
    return energy


@inner_kernel
def remember(
    state: int, rubs: bool, leg: int, wound1: float, wound2: float, trial: Trial, answer: Answer, own: Lines
) -> None:
    """States at the end of the increment, but for what line brings with it."""
    old, new, lasts = trial.state0, trial.state1, trial.time1 - trial.time0
    passed = answer.passed if rubs else 0.0
    new[state + LENGTH], new[state + LENGTH + 1] = answer.length1, answer.length2
    new[state + HAULED] = old[state + HAULED] + passed + (answer.hauled if leg == 0 else 0.0)
    new[state + HAULED + 1] = old[state + HAULED + 1] - passed + (answer.hauled if leg == 1 else 0.0)
    new[state + PULL], new[state + PULL + 1] = answer.t1, answer.t2
    for c in range(2):
        change = new[state + LENGTH + c] - old[state + LENGTH + c]
        new[state + RATE + c] = change / lasts if lasts > 0.0 else old[state + RATE + c]
        new[state + BROUGHT + c] = 0.0
    new[state + CLOCK] = trial.time1


@inner_kernel
def secant_answer(k: int, before: float, whole: float, line: Leg, trial: Trial, answer: Answer, own: Lines) -> Answer:
    """The pull of the increment at its mean natural length; what that leaves of the change of W the winch gives."""
    start = leg_of(k, 0, trial.u0, own)
    if own.nodes[k, 2] >= 0:
        start = both(start, leg_of(k, 1, trial.u0, own))
    mean = 0.5 * (before + whole)
    h0, h1 = stretch(start, mean), stretch(line, mean)
    pull, slope = secant_pull(k, h0, h1, own)
    slope /= mean
    if before != whole:
        came = whole * law_at(k, stretch(line, whole), own)[0] - mean * law_at(k, h1, own)[0]
        came += mean * law_at(k, h0, own)[0] - before * law_at(k, stretch(start, before), own)[0]
        trial.power[GIVEN] += came
    return with_pulls(pull, pull, slope, answer)


@inner_kernel
def with_pulls(t1: float, t2: float, stiff: float, a: Answer) -> Answer:
    """The same with other pulls of a line that runs freely, and half the derivatives of its lengths."""
    return Answer(
        t1, t2, a.length1, a.length2, a.hauled, a.passed, stiff, stiff, 0.0, stiff, stiff, 0.0,
        0.5 * a.l11, 0.5 * a.l12, 0.5 * a.l1f, 0.5 * a.l21, 0.5 * a.l22, 0.5 * a.l2f,
    )  # fmt: skip


@inner_kernel
def mean_answer(before1: float, before2: float, a: Answer) -> Answer:
    """Mean pulls of the increment."""
    return Answer(
        0.5 * (before1 + a.t1), 0.5 * (before2 + a.t2), a.length1, a.length2, a.hauled, a.passed,
        0.5 * a.t11, 0.5 * a.t12, 0.5 * a.t1f, 0.5 * a.t21, 0.5 * a.t22, 0.5 * a.t2f,
        0.5 * a.l11, 0.5 * a.l12, 0.5 * a.l1f, 0.5 * a.l21, 0.5 * a.l22, 0.5 * a.l2f,
    )  # fmt: skip


@called_kernel
def pull_at(
    k: int, way: Way, beyond: Way, answer: Answer, trial: Trial, own: Lines, force: Floats, tangent: Tangent
) -> None:
    """Pulls on all nodes of a line, and their derivatives."""
    two = own.nodes[k, 2] >= 0
    for number in range(2 if two else 1):
        here = way if number == 0 else beyond
        pull = answer.t1 if number == 0 else answer.t2
        at, p = 3 * own.nodes[k, 2 * number], 3 * own.nodes[k, 1]
        for c in range(3):
            part = pull * component(here.m, c)
            force[at + c] += part
            force[p + c] -= part
        first = slope_of(answer.t11 if number == 0 else answer.t21, answer.t1f if number == 0 else answer.t2f, way)
        second = NONE
        if two:
            second = slope_of(
                answer.t12 if number == 0 else answer.t22, answer.t1f if number == 0 else answer.t2f, beyond
            )
        starting = 0.0 if trial.secant else own.numbers[k, STARTING]
        across = trial.weight * here.each * (starting if abs(pull) < 1e-6 * starting else pull)
        spread(k, 2 * number, trial.weight, here.m, first, second, own, tangent)
        spread(k, 1, -trial.weight, here.m, first, second, own, tangent)
        for a in range(3):
            for b in range(3):
                value = across * ((1.0 if a == b else 0.0) - component(here.m, a) * component(here.n, b))
                add_entry(k, 2 * number, 2 * number, 3 * a + b, value, own, tangent)
                add_entry(k, 1, 1, 3 * a + b, value, own, tangent)
                add_entry(k, 2 * number, 1, 3 * a + b, -value, own, tangent)
                add_entry(k, 1, 2 * number, 3 * a + b, -value, own, tangent)
