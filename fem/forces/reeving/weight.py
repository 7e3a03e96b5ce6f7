"""Mass of lines that run, and what gravity does to it, as far as it is not a load of the model; what lines print."""

from __future__ import annotations

from fem.arrays import Floats, Vector
from fem.compiled import called_kernel, inner_kernel
from fem.forces.bars.strain import LOG
from fem.forces.fluid.curves import value_at
from fem.forces.protocol import GIVEN, WEIGHT, Tangent, Trial, component
from fem.forces.reeving.lines import (
    AREA,
    CLOCK,
    DENSITY,
    FRICTION,
    KNOWN,
    LENGTH,
    MOVED,
    RATE,
    REMEMBERED,
    Lines,
    both,
    law_at,
    leg_of,
    stress_at,
    stretch,
)
from fem.forces.reeving.running import Answer
from fem.forces.reeving.ways import NONE, Way, slope_of, spread


@inner_kernel
def gravity_at(k: int, time: float, own: Lines) -> Vector:
    """Acceleration of a line."""
    x, y, z = 0.0, 0.0, 0.0
    for r in range(own.spans[k, 2], own.spans[k, 3]):
        value = value_at(own.curves, own.pulls[r], time)
        x, y, z = x + value * own.fields[r, 0], y + value * own.fields[r, 1], z + value * own.fields[r, 2]
    return x, y, z


@called_kernel
def weigh(
    k: int, state: int, way: Way, beyond: Way, answer: Answer, trial: Trial, own: Lines, force: Floats, tangent: Tangent
) -> None:
    """Weight at the nodes of a line, its derivatives, and its potential energy."""
    old, new, half, two = trial.state0, trial.state1, 0.5 * own.numbers[k, DENSITY], own.nodes[k, 2] >= 0
    g0, g1 = gravity_at(k, trial.time0, own), gravity_at(k, trial.time1, own)
    late = 0.5 if trial.secant else 1.0
    for number in range(3 if two else 2):
        is_end = number != 1 or not two
        leg = 0 if number < 2 else 1
        known = own.numbers[k, KNOWN] if is_end else 0.0
        before, now = half * old[state + LENGTH + leg] - known, half * new[state + LENGTH + leg] - known
        if not is_end:
            before += half * old[state + LENGTH + 1]
            now += half * new[state + LENGTH + 1]
        for c in range(3):
            dof = 3 * own.nodes[k, number] + c
            f0, f1 = before * component(g0, c), now * component(g1, c)
            force[dof] -= late * f1 + (1.0 - late) * f0
            trial.power[WEIGHT] -= f1 * trial.u1[dof]
            was = state + MOVED + 3 * number + c
            trial.power[GIVEN] -= 0.5 * (f1 - f0) * (old[was] + trial.u1[dof])
            new[was] = trial.u1[dof]
        first, second = slope_of(answer.l11, answer.l1f, way), slope_of(answer.l12, answer.l1f, beyond)
        third, fourth = slope_of(answer.l21, answer.l2f, way), slope_of(answer.l22, answer.l2f, beyond)
        if number == 2:
            first, second = third, fourth
        if not is_end:
            first = first[0] + third[0], first[1] + third[1], first[2] + third[2]
            second = second[0] + fourth[0], second[1] + fourth[1], second[2] + fourth[2]
        spread(k, number, -trial.weight * half, g1, first, second if two else NONE, own, tangent)


@called_kernel
def values(own: Lines, index: int, u: Floats, v: Floats, state: Floats, row: Floats) -> None:
    """E, S, N, T of leg 1, and T of leg 2."""
    at = own.first + REMEMBERED * index
    first, second = state[at + LENGTH], state[at + LENGTH + 1]
    leg = leg_of(index, 0, u, own)
    if own.nodes[index, 2] >= 0 and own.numbers[index, FRICTION] == 0.0:
        leg, first = both(leg, leg_of(index, 1, u, own)), first + second
    h = stretch(leg, first)
    row[0], row[1] = stress_at(index, h, own)
    row[2] = own.numbers[index, AREA] * row[1]
    row[3] = law_at(index, h, own)[1]
    if own.measure[index] == LOG:
        row[2] = row[3]
    if row.shape[0] > 4:
        row[4] = row[3]
        if own.nodes[index, 2] >= 0 and own.numbers[index, FRICTION] > 0.0:
            row[4] = law_at(index, stretch(leg_of(index, 1, u, own), second), own)[1]


@called_kernel
def mass(own: Lines, time: float, place: Floats, u: Floats, state: Floats, block: Floats) -> None:
    """Half of each leg at either end, less what the model has there already."""
    for k in range(own.nodes.shape[0]):
        if own.numbers[k, DENSITY] == 0.0:
            continue
        at, half, known = own.first + REMEMBERED * k, 0.5 * own.numbers[k, DENSITY], own.numbers[k, KNOWN]
        lasts = time - state[at + CLOCK]
        first, second = state[at + LENGTH] + lasts * state[at + RATE], 0.0
        if own.nodes[k, 2] >= 0:
            second = state[at + LENGTH + 1] + lasts * state[at + RATE + 1]
            if own.numbers[k, FRICTION] == 0.0:
                one, other, whole = leg_of(k, 0, u, own).length, leg_of(k, 1, u, own).length, first + second
                first, second = whole * one / (one + other), whole * other / (one + other)
            put(own.nodes[k, 0], half * first - known, block)
            put(own.nodes[k, 1], half * (first + second), block)
            put(own.nodes[k, 2], half * second - known, block)
        else:
            put(own.nodes[k, 0], half * first - known, block)
            put(own.nodes[k, 1], half * first - known, block)


@inner_kernel
def put(node: int, value: float, block: Floats) -> None:
    """Mass in all directions."""
    for c in range(3):
        block[node, 4 * c] += value
