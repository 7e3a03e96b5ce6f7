"""Vortex-induced vibration across the flow: lift on bars in a current, with a phase that follows their motion.

A bar of direction t in the relative flow v = U - x' at its middle; n = v - (v.t) t across it, s = |n|, e = t x n/s
across both. With the phase f of the lift and the phase p of the velocity across the flow, y' = x'.e,

    F = rho/2 C s cos f (t x n) D L,    f' = 2 pi s/D (c + b sin(p - f)),    p = atan2(-y''/rms y'', y'/rms y')

so that the lift locks in to motions with frequencies from (c - b) s/D to (c + b) s/D, and drives them by its part in
phase with y'. It is at right angles to the relative flow: all that it gives, the stream spends. Mean squares fade with
the time ``AVERAGED`` D/(c s). Place and velocity are those predicted from the start of the increment, and the phase is
integrated from starts of increments (Adams and Bashforth), both of second order: the force depends on no unknowns.
(With ENERGY MOMENTUM motions are of first order all the same, as tests show.)
Source: Thorsen, Saevik & Larsen, J. Fluids Struct. 49 (2014) 135, 61 (2016) 1; MoorDyn, inputs.rst, Line.cpp.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import inner_kernel, single_kernel
from fem.forces import fluid, waves
from fem.forces.fluid import push
from fem.forces.protocol import SPENT, Family, Tangent, Trial, apart, cross, dot
from fem.forces.waves import Streams, velocity

LENGTH, WIDTH, LIFT, CENTRE, BAND = range(5)
"""Columns of ``Vortices.numbers``: L (0: it is gone), D, rho/2 C D, c, b."""
PHASE, RATE, DT, FAST, SHARP, SPEED2, TURN2 = range(7)
"""States: f and f' at the start of the last increment, its length, mean squares of y' and y'', their last squares."""
REMEMBERED = 7
AVERAGED = 5.0


class Vortices(NamedTuple):
    """q bars: their nodes (q, 2), elements (q,), numbers (q, 5), phases (q,) at first; first of their states."""

    nodes: Ints
    elements: Ints
    numbers: Floats
    phases: Floats
    streams: Streams
    first: int


def assemble(model: Any, system: Any, pair: int, state: int) -> Vortices:
    elements, numbers, phases = [np.zeros(0, np.int64)], [np.zeros((0, 5))], [np.zeros(0)]
    for lift in model.vortices:
        its = model.mesh.bars_in(lift.element_set)
        length = system.lengths_of(its) * ~system.gone[its]
        force = 0.5 * model.water.density * lift.coefficient * lift.diameter
        numbers.append(
            np.column_stack([length, np.tile([lift.diameter, force, lift.centre, lift.band], (len(its), 1))])
        )
        phases.append(2.0 * np.pi * np.arange(len(its)) / max(len(its), 1))
        elements.append(its)
    found = np.concatenate(elements)
    ends = np.ascontiguousarray(system.element_nodes[found])
    return Vortices(ends, found, np.concatenate(numbers), np.concatenate(phases), fluid.streams_of(model), state)


@single_kernel
def evaluate(trial: Trial, group: Vortices, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Lift of all bars; nothing is stored."""
    for b in range(group.nodes.shape[0]):
        lift(b, trial, group, force, flow)
    return 0.0


@inner_kernel
def across(x: Vector, way: Vector, moves: Vector, group: Vortices) -> tuple[float, ...]:
    """s, e and U of a bar whose middle is at x and moves with a velocity; way: from its first to its last node."""
    length = math.sqrt(dot(way, way))
    t = (way[0] / length, way[1] / length, way[2] / length)
    ux, uy, uz, _, _, _ = velocity(waves.WATER, x[group.streams.up], 1.0, 1.0, group.streams)
    v = (ux - moves[0], uy - moves[1], uz - moves[2])
    side = cross(t, v)
    s = math.sqrt(dot(side, side))
    if s == 0.0:
        return 0.0, 0.0, 0.0, 0.0, ux, uy, uz
    return s, side[0] / s, side[1] / s, side[2] / s, ux, uy, uz


@inner_kernel
def lift(b: int, trial: Trial, group: Vortices, force: Floats, flow: Floats) -> None:
    """One bar: its phase at the end of the increment, and the lift at the instant of the forces."""
    i, j, at = 3 * group.nodes[b, 0], 3 * group.nodes[b, 1], group.first + REMEMBERED * b
    place, u, v, a, h = trial.place, trial.u0, trial.v0, trial.a0, trial.ahead
    state0, state1, dt, up = trial.state0, trial.state1, trial.time1 - trial.time0, group.streams.up
    for k in range(REMEMBERED):
        state1[at + k] = state0[at + k]
    if trial.rate == 0.0 or group.numbers[b, LENGTH] == 0.0:
        return
    x = (
        0.5 * (place[i] + u[i] + place[j] + u[j]), 0.5 * (place[i + 1] + u[i + 1] + place[j + 1] + u[j + 1]),
        0.5 * (place[i + 2] + u[i + 2] + place[j + 2] + u[j + 2]),
    )  # fmt: skip
    way = (
        place[j] + u[j] - place[i] - u[i], place[j + 1] + u[j + 1] - place[i + 1] - u[i + 1],
        place[j + 2] + u[j + 2] - place[i + 2] - u[i + 2],
    )  # fmt: skip
    moves = (0.5 * (v[i] + v[j]), 0.5 * (v[i + 1] + v[j + 1]), 0.5 * (v[i + 2] + v[j + 2]))
    gains = (0.5 * (a[i] + a[j]), 0.5 * (a[i + 1] + a[j + 1]), 0.5 * (a[i + 2] + a[j + 2]))
    if dt > 0.0:
        turn(b, at, dt, across(x, way, moves, group), moves, gains, trial, group)
    ways, turns = apart(i, j, v), apart(i, j, a)
    x = (
        x[0] + h * (moves[0] + 0.5 * h * gains[0]), x[1] + h * (moves[1] + 0.5 * h * gains[1]),
        x[2] + h * (moves[2] + 0.5 * h * gains[2]),
    )  # fmt: skip
    way = (
        way[0] + h * (ways[0] + 0.5 * h * turns[0]), way[1] + h * (ways[1] + 0.5 * h * turns[1]),
        way[2] + h * (ways[2] + 0.5 * h * turns[2]),
    )  # fmt: skip
    moves = (moves[0] + h * gains[0], moves[1] + h * gains[1], moves[2] + h * gains[2])
    s, ex, ey, ez, ux, uy, uz = across(x, way, moves, group)
    if x[up] > group.streams.level:
        return
    phase = 0.5 * (state0[at + PHASE] + state1[at + PHASE]) if trial.secant else state1[at + PHASE]
    size = group.numbers[b, LIFT] * group.numbers[b, LENGTH] * s * s * math.cos(phase)
    trial.power[SPENT] += size * (ex * ux + ey * uy + ez * uz)
    for k in range(3):
        part = 0.5 * size * (ex if k == 0 else ey if k == 1 else ez)
        push(i + k, -part, force, flow)
        push(j + k, -part, force, flow)


@inner_kernel
def turn(
    b: int, at: int, dt: float, there: tuple[float, ...], moves: Vector, gains: Vector, trial: Trial, group: Vortices
) -> None:
    """Write the states at the end of an increment, from those at its start."""
    state0, state1 = trial.state0, trial.state1
    width, centre, before = group.numbers[b, WIDTH], group.numbers[b, CENTRE], state0[at + DT]
    s, e = there[0], (there[1], there[2], there[3])
    speed, gain = dot(moves, e), dot(gains, e)
    share = -math.expm1(-before * centre * s / (AVERAGED * width))
    fast = state0[at + FAST] + share * (0.5 * (state0[at + SPEED2] + speed * speed) - state0[at + FAST])
    sharp = state0[at + SHARP] + share * (0.5 * (state0[at + TURN2] + gain * gain) - state0[at + SHARP])
    omega, phase = 2.0 * math.pi * s / width, state0[at + PHASE]
    own = math.sqrt(sharp / fast) if fast > 0.0 and sharp > 0.0 else omega * centre
    rate = omega * centre
    if speed != 0.0 or gain != 0.0:
        rate += omega * group.numbers[b, BAND] * math.sin(math.atan2(-gain, own * speed) - phase)
    ahead = 0.5 * dt / before if before > 0.0 else 0.0
    state1[at + PHASE] = phase + dt * (rate + ahead * (rate - state0[at + RATE]))
    state1[at + RATE], state1[at + DT] = rate, dt
    state1[at + FAST], state1[at + SHARP] = fast, sharp
    state1[at + SPEED2], state1[at + TURN2] = speed * speed, gain * gain


def first_states(group: Vortices) -> Floats:
    states = np.zeros((len(group.nodes), REMEMBERED))
    states[:, PHASE] = group.phases
    return states.ravel()


VORTICES = Family(
    "vortices",
    assemble,
    evaluate,
    wanted=lambda model: bool(model.vortices),
    states=first_states,
    smooth=False,
    grounded=True,
)
