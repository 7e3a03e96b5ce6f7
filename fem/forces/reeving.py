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
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import called_kernel, inner_kernel, kernel, single_kernel
from fem.forces.bar import INV_LENGTH, stiffening
from fem.forces.curves import distinct, gathered, value_at
from fem.forces.laws import LEG, MEASURES, write_values
from fem.forces.protocol import GIVEN, TAKEN, WEIGHT, Family, Tangent, Trial, component, scaled
from fem.forces.running import (
    AREA,
    BROUGHT,
    CLOCK,
    DENSITY,
    DIES,
    DISTANCE,
    FIRST_LEG,
    FRICTION,
    HAULED,
    KNOWN,
    LEAST_LEG,
    LEAST_LENGTH,
    LENGTH,
    MINUS,
    MOVED,
    NONE,
    NUMBERS,
    PLUS,
    PULL,
    RATE,
    REMEMBERED,
    REST,
    STARTING,
    STRESS0,
    YOUNG,
    Leg,
    LegForces,
    Lines,
    Side,
    WinchControl,
    answer_of,
    both,
    brought_at,
    directions,
    is_settled,
    law_at,
    leg_of,
    secant_pull,
    stress_at,
    stretch,
)

STRAIGHT = 1e-12
"""Sine of an angle whose direction of growth is unknown."""


class Way(NamedTuple):
    """Of a leg: n at the end of the increment, the direction m its force has, dm/du = h (I - m n^T), and h of dm/du
    times T, which a starting tension stiffens; dphi/du of its end.
    """

    n: Vector
    m: Vector
    each: float
    turn: Vector


@inner_kernel
def angle_of(one: Leg, other: Leg) -> tuple[float, Vector, Vector]:
    """phi, and its derivatives by the places of both ends."""
    a, b = one.d, other.d
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    size = one.length * other.length
    sine, cosine = math.sqrt(x * x + y * y + z * z) / size, (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / size
    phi = math.atan2(sine, -cosine)
    if sine < STRAIGHT:
        return phi, NONE, NONE
    p, q = 1.0 / (sine * one.length), 1.0 / (sine * other.length)
    c, l1, l2 = cosine, one.length, other.length
    first = p * (b[0] / l2 - c * a[0] / l1), p * (b[1] / l2 - c * a[1] / l1), p * (b[2] / l2 - c * a[2] / l1)
    second = q * (a[0] / l1 - c * b[0] / l2), q * (a[1] / l1 - c * b[1] / l2), q * (a[2] / l1 - c * b[2] / l2)
    return phi, first, second


@inner_kernel
def way_of(k: int, number: int, leg: Leg, turn: Vector, trial: Trial, group: Lines) -> Way:
    """Directions of a leg."""
    start = leg_of(k, number, trial.u0, group) if trial.secant else leg
    n, m, each = directions(leg, start, trial.secant)
    return Way(n, m, each, turn)


@inner_kernel
def slopes_of(by: Vector, way: Way, beyond: Way) -> tuple[Vector, Vector]:
    """Derivatives by the places of the ends of both legs; by: those by l1, l2 and phi."""
    n, turn, m, bend, angle = way.n, way.turn, beyond.n, beyond.turn, by[2]
    return (
        (by[0] * n[0] + angle * turn[0], by[0] * n[1] + angle * turn[1], by[0] * n[2] + angle * turn[2]),
        (by[1] * m[0] + angle * bend[0], by[1] * m[1] + angle * bend[1], by[1] * m[2] + angle * bend[2]),
    )


@called_kernel
def spread(
    k: int, at: int, weight: float, along: Vector, first: Vector, second: Vector, group: Lines, tangent: Tangent
) -> None:
    """Derivative of a force on node ``at``, along a direction, that depends on the places of the ends relative to the
    pulley: first, second.
    """
    for a in range(3):
        for b in range(3):
            value, c = weight * component(along, a), 3 * a + b
            add_entry(k, at, 0, c, value * component(first, b), group, tangent)
            add_entry(k, at, 1, c, -value * (component(first, b) + component(second, b)), group, tangent)
            if group.nodes[k, 2] >= 0:
                add_entry(k, at, 2, c, value * component(second, b), group, tangent)


@inner_kernel
def add_entry(k: int, at: int, by: int, c: int, value: float, group: Lines, tangent: Tangent) -> None:
    """Entry c of the block of nodes ``at`` and ``by`` (0, 1 the pulley, 2) of a line, where there are blocks."""
    if tangent.block.shape[0] == 0:
        return
    if at == by:
        tangent.block[group.nodes[k, at], c] += value
        return
    pair = group.pairs[k] + (2 if at + by == 2 else max(at, by) - 1)
    tangent.cross[pair, c if at < by else 9 + c] += value


@inner_kernel
def gravity_at(k: int, time: float, group: Lines) -> Vector:
    """Acceleration that acts on a line."""
    x, y, z = 0.0, 0.0, 0.0
    for r in range(group.spans[k, 2], group.spans[k, 3]):
        value = value_at(group.curves, group.pulls[r], time)
        x, y, z = x + value * group.fields[r, 0], y + value * group.fields[r, 1], z + value * group.fields[r, 2]
    return x, y, z


@called_kernel
def weigh(
    k: int, state: int, way: Way, beyond: Way, answer: LegForces, trial: Trial, group: Lines, force: Floats,
    tangent: Tangent,
) -> None:  # fmt: skip
    """Weight at the nodes of a line, its derivatives, and its potential energy."""
    old, new, half, two = trial.state0, trial.state1, 0.5 * group.numbers[k, DENSITY], group.nodes[k, 2] >= 0
    g0, g1 = gravity_at(k, trial.time0, group), gravity_at(k, trial.time1, group)
    late = 0.5 if trial.secant else 1.0
    for number in range(3 if two else 2):
        is_end = number != 1 or not two
        leg = 0 if number < 2 else 1
        known = group.numbers[k, KNOWN] if is_end else 0.0
        before, now = half * old[state + LENGTH + leg] - known, half * new[state + LENGTH + leg] - known
        if not is_end:
            before += half * old[state + LENGTH + 1]
            now += half * new[state + LENGTH + 1]
        for c in range(3):
            dof = 3 * group.nodes[k, number] + c
            f0, f1 = before * component(g0, c), now * component(g1, c)
            force[dof] -= late * f1 + (1.0 - late) * f0
            trial.power[WEIGHT] -= f1 * trial.u1[dof]
            was = state + MOVED + 3 * number + c
            trial.power[GIVEN] -= 0.5 * (f1 - f0) * (old[was] + trial.u1[dof])
            new[was] = trial.u1[dof]
        first, second = slopes_of(answer.first.d_length, way, beyond)
        third, fourth = slopes_of(answer.second.d_length, way, beyond)
        if number == 2:
            first, second = third, fourth
        if not is_end:
            first = first[0] + third[0], first[1] + third[1], first[2] + third[2]
            second = second[0] + fourth[0], second[1] + fourth[1], second[2] + fourth[2]
        spread(k, number, -trial.weight * half, g1, first, second if two else NONE, group, tangent)


@single_kernel
def values(group: Lines, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
    """E, S, N, T of leg 1, and T of leg 2."""
    at = group.first + REMEMBERED * index
    first, second = state[at + LENGTH], state[at + LENGTH + 1]
    leg = leg_of(index, 0, u, group)
    if group.nodes[index, 2] >= 0 and group.numbers[index, FRICTION] == 0.0:
        leg, first = both(leg, leg_of(index, 1, u, group)), first + second
    h = stretch(leg, first)
    strain, stress, slope = stress_at(index, h, group)
    write_values(group.measure[index], strain, stress, group.numbers[index, AREA], slope, 1.0, row)
    if row.shape[0] > 4:
        row[4] = row[3]
        if group.nodes[index, 2] >= 0 and group.numbers[index, FRICTION] > 0.0:
            row[4] = law_at(index, stretch(leg_of(index, 1, u, group), second), group)[1]


@single_kernel
def mass(group: Lines, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
    """Half of each leg at either end, less what the model has there already."""
    for k in range(group.nodes.shape[0]):
        if group.numbers[k, DENSITY] == 0.0:
            continue
        at, half, known = group.first + REMEMBERED * k, 0.5 * group.numbers[k, DENSITY], group.numbers[k, KNOWN]
        lasts = time - state[at + CLOCK]
        first, second = state[at + LENGTH] + lasts * state[at + RATE], 0.0
        if group.nodes[k, 2] >= 0:
            second = state[at + LENGTH + 1] + lasts * state[at + RATE + 1]
            if group.numbers[k, FRICTION] == 0.0:
                one, other, whole = leg_of(k, 0, u, group).length, leg_of(k, 1, u, group).length, first + second
                first, second = whole * one / (one + other), whole * other / (one + other)
            put(group.nodes[k, 0], half * first - known, block)
            put(group.nodes[k, 1], half * (first + second), block)
            put(group.nodes[k, 2], half * second - known, block)
        else:
            put(group.nodes[k, 0], half * first - known, block)
            put(group.nodes[k, 1], half * first - known, block)


@inner_kernel
def put(node: int, value: float, block: Floats) -> None:
    """Add mass in all three directions."""
    for c in range(3):
        block[node, 4 * c] += value


@single_kernel
def evaluate(trial: Trial, group: Lines, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all lines, and their states; the energy they store."""
    energy = 0.0
    for k in range(group.nodes.shape[0]):
        energy += evaluate_line(k, trial, group, force, tangent)
    return energy


@inner_kernel
def given_by(k: int, leg: int, time: float, group: Lines) -> float:
    """Natural length that winches have added to a leg by their curves."""
    total = 0.0
    for r in range(group.spans[k, 0], group.spans[k, 1]):
        if group.turns[r, 0] == leg:
            total += group.changes[r] * value_at(group.curves, group.turns[r, 1], time)
    return total


@inner_kernel
def control_at(k: int, trial: Trial, group: Lines) -> WinchControl:
    """What a winch that keeps a tension wants in this increment."""
    if group.control[k, 0] < 0:
        return WinchControl(-1, 0.0, 0.0)
    pull = group.wanted[k, 0] * value_at(group.curves, group.control[k, 1], trial.time1)
    most = group.wanted[k, 1]
    return WinchControl(group.control[k, 0], pull, most * (trial.time1 - trial.time0) if most < math.inf else math.inf)


@inner_kernel
def evaluate_line(k: int, trial: Trial, group: Lines, force: Floats, tangent: Tangent) -> float:
    """One line: its forces, tangent, books and states; the energy it stores."""
    old, new, two = trial.state0, trial.state1, group.nodes[k, 2] >= 0
    state, rubs = group.first + REMEMBERED * k, two and group.numbers[k, FRICTION] > 0.0
    one = leg_of(k, 0, trial.u1, group)
    other = leg_of(k, 1, trial.u1, group) if two else Leg(NONE, 0.0, 0.0, 0.0)
    phi, turn1, turn2 = angle_of(one, other) if rubs else (0.0, NONE, NONE)
    wound1, wound2 = given_by(k, 0, trial.time1, group), given_by(k, 1, trial.time1, group)
    have1 = group.numbers[k, REST] + wound1 + old[state + HAULED]
    have2 = group.numbers[k, REST + 1] + wound2 + old[state + HAULED + 1]
    control = control_at(k, trial, group)
    answer = answer_of(k, one, other, have1, have2, phi, control, group)
    before = old[state + LENGTH] + old[state + LENGTH + 1]
    whole = answer.first.length + answer.second.length
    remember(state, rubs, control.leg, trial, answer)
    if group.numbers[k, AREA] == 0.0:
        return 0.0
    line = both(one, other) if two else one
    b1 = brought_at(k, stretch(line, whole) if not rubs else stretch(one, answer.first.length), group)
    b2 = brought_at(k, stretch(other, answer.second.length), group) if rubs else b1
    is_lost = not is_settled(k, one, other, phi, control, answer, group) or old[state + BROUGHT] != old[state + BROUGHT]
    new[state + BROUGHT], new[state + BROUGHT + 1] = (math.nan, math.nan) if is_lost else (b1, b2)
    is_exact = trial.secant and not rubs and control.leg < 0
    if is_exact:
        answer = secant_answer(k, before, whole, line, trial, answer, group)
    else:
        came1 = new_from(0, state, trial) - answer.passed
        came2 = new_from(1, state, trial) + answer.passed
        b01, b02 = old[state + BROUGHT], old[state + BROUGHT + 1]
        if not rubs:
            came1, came2 = whole - before, 0.0
        trial.power[GIVEN] += 0.5 * ((b01 + b1) * came1 + (b02 + b2) * came2)
        trial.power[TAKEN] -= 0.5 * (b01 + b1 - b02 - b2) * answer.passed
        if trial.secant:
            first, second = mean_of(old[state + PULL], answer.first), mean_of(old[state + PULL + 1], answer.second)
            answer = LegForces(first, second, answer.hauled, answer.passed)
    way = way_of(k, 0, one, turn1, trial, group)
    beyond = way_of(k, 1, other, turn2, trial, group) if two else way
    pull_at(k, way, beyond, answer, trial, group, force, tangent)
    if group.numbers[k, DENSITY] > 0.0 and group.spans[k, 3] > group.spans[k, 2]:
        weigh(k, state, way, beyond, answer, trial, group, force, tangent)
    energy, reference = stored(k, rubs, line, one, other, new, state, group), group.numbers[k, REST]
    reference += group.numbers[k, REST + 1]
    is_short = whole < LEAST_LENGTH * reference
    is_short |= two and min(one.length, other.length) < LEAST_LEG * reference
    return math.inf if is_lost or (is_short and group.numbers[k, DIES] != 0.0) else energy


@inner_kernel
def new_from(leg: int, state: int, trial: Trial) -> float:
    """Natural length that a leg has gained in this increment."""
    got: float = trial.state1[state + LENGTH + leg] - trial.state0[state + LENGTH + leg]
    return got


@inner_kernel
def stored(k: int, rubs: bool, line: Leg, one: Leg, other: Leg, new: Floats, state: int, group: Lines) -> float:
    """W at the end of the increment."""
    length1, length2 = new[state + LENGTH], new[state + LENGTH + 1]
    energy: float = (length1 + length2) * law_at(k, stretch(line, length1 + length2), group)[0]
    if rubs:
        energy = length1 * law_at(k, stretch(one, length1), group)[0]
        energy += length2 * law_at(k, stretch(other, length2), group)[0]
    return energy


@inner_kernel
def remember(state: int, rubs: bool, leg: int, trial: Trial, answer: LegForces) -> None:
    """States at the end of the increment, but for what line brings with it."""
    old, new, lasts = trial.state0, trial.state1, trial.time1 - trial.time0
    passed = answer.passed if rubs else 0.0
    new[state + LENGTH], new[state + LENGTH + 1] = answer.first.length, answer.second.length
    new[state + HAULED] = old[state + HAULED] + passed + (answer.hauled if leg == 0 else 0.0)
    new[state + HAULED + 1] = old[state + HAULED + 1] - passed + (answer.hauled if leg == 1 else 0.0)
    new[state + PULL], new[state + PULL + 1] = answer.first.pull, answer.second.pull
    for c in range(2):
        change = new[state + LENGTH + c] - old[state + LENGTH + c]
        new[state + RATE + c] = change / lasts if lasts > 0.0 else old[state + RATE + c]
        new[state + BROUGHT + c] = 0.0
    new[state + CLOCK] = trial.time1


@inner_kernel
def secant_answer(
    k: int, before: float, whole: float, line: Leg, trial: Trial, answer: LegForces, group: Lines
) -> LegForces:
    """The pull of the increment at its mean natural length; what that leaves of the change of W the winch gives."""
    start = leg_of(k, 0, trial.u0, group)
    if group.nodes[k, 2] >= 0:
        start = both(start, leg_of(k, 1, trial.u0, group))
    mean = 0.5 * (before + whole)
    h0, h1 = stretch(start, mean), stretch(line, mean)
    pull, slope = secant_pull(k, h0, h1, group)
    slope /= mean
    if before != whole:
        came = whole * law_at(k, stretch(line, whole), group)[0] - mean * law_at(k, h1, group)[0]
        came += mean * law_at(k, h0, group)[0] - before * law_at(k, stretch(start, before), group)[0]
        trial.power[GIVEN] += came
    first, second, d_pull = answer.first, answer.second, (slope, slope, 0.0)
    return LegForces(
        Side(pull, first.length, d_pull, scaled(0.5, first.d_length)),
        Side(pull, second.length, d_pull, scaled(0.5, second.d_length)),
        answer.hauled,
        answer.passed,
    )


@inner_kernel
def mean_of(before: float, side: Side) -> Side:
    """The leg with the mean pull of the increment."""
    return Side(0.5 * (before + side.pull), side.length, scaled(0.5, side.d_pull), scaled(0.5, side.d_length))


@called_kernel
def pull_at(
    k: int, way: Way, beyond: Way, answer: LegForces, trial: Trial, group: Lines, force: Floats, tangent: Tangent
) -> None:
    """Pulls on all nodes of a line, and their derivatives."""
    two = group.nodes[k, 2] >= 0
    for number in range(2 if two else 1):
        here = way if number == 0 else beyond
        side = answer.first if number == 0 else answer.second
        pull = side.pull
        at, p = 3 * group.nodes[k, 2 * number], 3 * group.nodes[k, 1]
        for c in range(3):
            part = pull * component(here.m, c)
            force[at + c] += part
            force[p + c] -= part
        first, second = slopes_of(side.d_pull, way, beyond)
        second = second if two else NONE
        across = trial.weight * here.each * stiffening(pull, 0.0 if trial.secant else group.numbers[k, STARTING])
        spread(k, 2 * number, trial.weight, here.m, first, second, group, tangent)
        spread(k, 1, -trial.weight, here.m, first, second, group, tangent)
        for a in range(3):
            for b in range(3):
                value = across * ((1.0 if a == b else 0.0) - component(here.m, a) * component(here.n, b))
                add_entry(k, 2 * number, 2 * number, 3 * a + b, value, group, tangent)
                add_entry(k, 1, 1, 3 * a + b, value, group, tangent)
                add_entry(k, 2 * number, 1, 3 * a + b, -value, group, tangent)
                add_entry(k, 1, 2 * number, 3 * a + b, -value, group, tangent)


def assemble(model: Any, system: Any, pair: int, state: int) -> Lines:
    mesh = model.mesh
    between = np.where(system.bar_index < 0, mesh.pulley_nodes, -1)  # those of constant length are bars
    is_wound = np.zeros(len(between), np.bool_)
    is_wound[model.reach.wound] = True
    elements = np.flatnonzero(is_wound | (between >= 0))
    ends, reeved = mesh.element_nodes[elements], between[elements] >= 0
    nodes = np.column_stack([ends[:, 0], np.where(reeved, between[elements], ends[:, 1]), ends[:, 1]])
    nodes[~reeved, 2] = -1
    pairs = pair + np.cumsum(np.where(reeved, 3, 1)) - np.where(reeved, 3, 1)
    numbers = np.zeros((len(elements), NUMBERS))
    for leg in range(2):
        vector = system.coordinates[nodes[:, 2 * leg]] - system.coordinates[nodes[:, 1]]
        numbers[:, FIRST_LEG + 3 * leg : FIRST_LEG + 3 * leg + 3] = np.where(leg & ~reeved[:, None], 0.0, vector)
        numbers[:, DISTANCE + leg] = np.where(leg & ~reeved, 0.0, np.sqrt((vector**2).sum(axis=1)))
    numbers[:, REST : REST + 2] = numbers[:, DISTANCE : DISTANCE + 2]
    for rest in model.rest_lengths:
        chosen = np.isin(elements, mesh.elements_of(rest.target))
        numbers[chosen, REST : REST + 2] = rest.legs(numbers[chosen, DISTANCE : DISTANCE + 2])
    measure = set_materials(model, system, elements, reeved, numbers)
    nothing = np.zeros(0, np.int64)
    rows = np.zeros((len(elements), 4), np.int64), np.zeros((0, 2), np.int64), np.zeros(0)
    control = np.full((len(elements), 2), -1), np.zeros((len(elements), 2))
    turns = *rows, *control, nothing, np.zeros((0, 3)), gathered(())
    return Lines(elements, nodes, pairs, state, measure, numbers, *turns)


def set_materials(model: Any, system: Any, elements: Ints, reeved: Any, numbers: Floats) -> Ints:
    """Constants of all lines; (q,) their strain measures."""
    there, mesh, measure = ~system.gone[elements], model.mesh, np.zeros(len(elements), np.int64)
    for section in model.sections:
        chosen = np.isin(elements, mesh.element_sets[section.element_set])
        material = model.materials[section.material]
        measure[chosen] = MEASURES[section.strain]
        numbers[chosen, AREA] = section.area * there[chosen]
        numbers[chosen, YOUNG : MINUS + 1] = material.young, material.tension_ratio, material.compression_ratio
        numbers[chosen, STARTING] = section.starting_tension
        numbers[chosen, DENSITY] = material.density * section.area * there[chosen]
    for condition in model.initial_conditions:
        if condition.kind == "STRESS":
            numbers[np.isin(elements, mesh.elements_of(condition.target)), STRESS0] = condition.value
    for pulley in model.pulleys:
        numbers[np.isin(elements, mesh.element_sets[pulley.element_set]), FRICTION] = pulley.friction
    bars = elements[~reeved]  # with what these carry
    numbers[~reeved, DENSITY] = system.element_mass[bars] / system.lengths_of(bars)
    numbers[~reeved, KNOWN] = 0.5 * system.element_mass[bars]
    numbers[:, DIES] = there
    return measure


def pairs_of(group: Lines) -> Ints:
    """Nodes that lines couple."""
    legs = [[(a, p)] if b < 0 else [(a, p), (p, b), (a, b)] for a, p, b in group.nodes.tolist()]
    return np.array([pair for each in legs for pair in each], np.int64).reshape(-1, 2)


def first_states(group: Lines) -> Floats:
    """Natural lengths at the start; of a rope that runs freely as long as its legs are."""
    found = np.zeros((len(group.elements), REMEMBERED))
    found[:, LENGTH : LENGTH + 2] = group.numbers[:, REST : REST + 2]
    return found.ravel()


def in_step(group: Lines, system: Any, environment: Any) -> Lines:
    """What winches give, keep and how gravity pulls in a step."""
    if not len(group.elements):
        return group
    place = {element: k for k, element in enumerate(group.elements.tolist())}
    heavy = group.numbers[:, DENSITY] > 0.0
    kept = environment.tensions
    weights = environment.gravity if heavy.any() else ()
    known = distinct(each.curve for each in (*environment.winches, *kept, *weights))
    turns = [
        (k, leg, known[case.curve], float(case.field[element, leg]))
        for case in environment.winches
        for element, k in place.items()
        for leg in range(2)
        if case.field[element, leg] != 0.0
    ]
    pulls = [
        (k, known[case.curve], *case.field[element].tolist())
        for case in weights
        for element, k in place.items()
        if heavy[k] and case.field[element].any()
    ]
    turns, pulls = sorted(turns), sorted(pulls)
    spans = np.column_stack([*spans_of(turns, len(place)), *spans_of(pulls, len(place))])
    control, wanted = np.full((len(place), 2), -1), np.zeros((len(place), 2))
    for each in kept:
        for element in each.elements.tolist():
            control[place[element]], wanted[place[element]] = (each.leg, known[each.curve]), (each.pull, each.speed)
    return group._replace(
        spans=np.ascontiguousarray(spans),
        turns=np.array([row[1:3] for row in turns], np.int64).reshape(-1, 2),
        changes=np.array([row[3] for row in turns], float),
        control=control,
        wanted=wanted,
        pulls=np.array([row[1] for row in pulls], np.int64),
        fields=np.array([row[2:] for row in pulls], float).reshape(-1, 3),
        curves=gathered(known),
    )


def spans_of(rows: list[Any], count: int) -> tuple[Ints, Ints]:
    """First and past-last row of each line."""
    sizes = np.bincount([row[0] for row in rows], minlength=count) if rows else np.zeros(count, np.int64)
    ends = np.cumsum(sizes)
    return ends - sizes, ends


def stiffest(group: Lines, place: Floats, u: Floats, dt: float) -> Lines:
    """Slack lines may soon be taut; a winch that lets go of its tension holds."""
    numbers = group.numbers.copy()
    numbers[:, PLUS] = numbers[:, MINUS] = np.maximum(numbers[:, PLUS], numbers[:, MINUS])
    return group._replace(numbers=numbers, control=np.full_like(group.control, -1))


@kernel
def stored_in(group: Lines, index: int, u: Floats, state: Floats) -> float:
    """W of a bar that a winch turns."""
    natural: float = state[group.first + REMEMBERED * index + LENGTH]
    return natural * law_at(index, stretch(leg_of(index, 0, u, group), natural), group)[0]


def at_pulley(system: Any, rope: str, end: int, pulley: int, far: float, length: float) -> str:
    """Message: a rope has reached its end at the pulley."""
    labels = system.labels
    return (
        f"node {labels[end]} has reached the pulley, node {labels[pulley]}, of {rope}: {far:.3g} of its rope is left "
        f"there; its length is {length:.6g}."
    )


def trouble_of_legs(system: Any, u: Floats) -> str:
    """The same of ropes of constant length, which are bars."""
    bars, place = system.bars, (system.coordinates.ravel() + u).reshape(-1, 3)
    for e in np.flatnonzero(bars.kinds[:, 0] >= LEG).tolist():
        (pulley, end), length = bars.nodes[e].tolist(), float(1.0 / bars.constants[INV_LENGTH, e])
        if not (far := float(np.linalg.norm(place[end] - place[pulley]))) >= LEAST_LEG * length:
            head = e if bars.kinds[e, 0] == LEG else e - 1
            return at_pulley(system, system.name_bar(head), end, pulley, far, length)
    return ""


def trouble(group: Lines, system: Any, u: Floats, state: Floats) -> str:
    """Why lines do not go on in a state: too little of one is left, a pulley has come to its end, or an iteration."""
    place, names = (system.coordinates.ravel() + u).reshape(-1, 3), system.model.mesh.element_names
    for k, element in enumerate(group.elements.tolist()):
        if not group.numbers[k, DIES]:
            continue
        at, start = group.first + REMEMBERED * k, group.numbers[k, REST : REST + 2].sum()
        left = float(state[at + LENGTH : at + LENGTH + 2].sum())
        if not left >= LEAST_LENGTH * start:
            return (
                f"a winch leaves element {names[element]} a natural length of {left:.6g}, less than a tenth of the "
                f"{start:.6g} that it begins with. Make it longer, or use a chain of short elements that are hauled in "
                "one after the other."
            )
        for end in group.nodes[k, [0, 2]] if group.nodes[k, 2] >= 0 else ():
            far = float(np.linalg.norm(place[end] - place[group.nodes[k, 1]]))
            if not far >= LEAST_LEG * start:
                return at_pulley(system, f"element {names[element]}", int(end), int(group.nodes[k, 1]), far, start)
        if np.isnan(state[at + BROUGHT]) and np.isfinite(place[group.nodes[k]]).all():
            if group.control[k, 0] >= 0:
                return f"no natural length is found that gives element {names[element]} the tension of its winch."
            return (
                f"no equilibrium is found between the two branches of the rope of element {names[element]} over its "
                f"pulley, node {system.labels[group.nodes[k, 1]]}."
            )
    return ""


def remembers(group: Lines) -> bool:
    """Rope that has slipped, or that a winch has hauled to keep its tension, is known from the past alone."""
    return bool((group.numbers[:, FRICTION] > 0.0).any() or (group.control[:, 0] >= 0).any())


REEVING = Family(
    "winches and pulleys",
    assemble,
    evaluate,
    values,
    pairs_of,
    first_states,
    mass,
    elements=lambda group: group.elements,
    remembers=remembers,
    owners=lambda group: np.repeat(group.elements, REMEMBERED),
    in_step=in_step,
    wanted=lambda model: model.runs,
    symmetric=False,
    smooth=False,
    stiffest=stiffest,
    couples=False,
    size=lambda group: (group.numbers[:, AREA] * group.numbers[:, YOUNG]).max(initial=0.0),
    stored=stored_in,
    trouble=trouble,
)
