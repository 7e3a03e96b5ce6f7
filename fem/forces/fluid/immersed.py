"""A bar in a fluid as its forces see it: where it is, which part of it is wet, how fast the fluid passes its nodes."""

from __future__ import annotations

import math
from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel
from fem.forces.fluid.curves import Curves
from fem.forces.fluid.stream import INERTIA, WATER, Streams, velocity, wetted
from fem.forces.fluid.waves import ACCELERATION, ELEVATION, REMEMBERED, VELOCITY, Sea
from fem.forces.protocol import Tangent, Trial

Vector = tuple[float, float, float]
# Entries of rows: the bar, its medium, curves of the magnitude and of both amplitudes of the stream, rows of the drag
# law and their number, 1 where forces are per current length
BAR, MEDIUM, MAGNITUDE, STREAM, SECOND, LAW, COUNT, IS_CURRENT = 0, 1, 2, 3, 4, 5, 6, 7
ROW = 8
# Entries of numbers: L0, k_n (of a drag law, M; of inertia, mass across; of still water, force over speed), k_t (mass
# along, force over speed), h, alpha_R, buoyancy per length, how much of it dead loads are, the largest factors by which
# amplitudes multiply the current and the motion of waves
LENGTH, NORMAL, ALONG, EXPONENT, FOLLOWS, LIFT, GIVEN, MOST_CURRENT, MOST_WAVES = 0, 1, 2, 3, 4, 5, 6, 7, 8
NUMBERS = 9
STILL = 0.0, 0.0, 0.0


class Fluid(NamedTuple):
    """What flows past bars, r rows: each acts on one bar in one way.

    rows    (r, ROW), numbers (r, NUMBERS): of the step, for a magnitude of 1
    elements (q,), ends (q, 2)  the bars that a fluid touches in any step, their nodes;  first: their first pair
    laws    (k, 2)  speed and force per length, a drag law behind the other
    asked   (q, 2)  places of ``ends`` among the nodes of the sea; no rows where there are no waves
    """

    rows: Ints
    numbers: Floats
    elements: Ints
    ends: Ints
    first: int
    laws: Floats
    curves: Curves
    streams: Streams
    sea: Sea
    asked: Ints


class Bar(NamedTuple):
    """A bar as the forces see it.

    bar, i, j     its number, its nodes;  t, length
    vi, vj        velocity of the fluid at its nodes less what counts of theirs;  ui, uj that of the fluid
                  (of inertia, acceleration of the fluid and velocity of the nodes)
    slope_i, slope_j   dU/dz there
    middle, wet   c and q1 - q0;  moves: 1 where q1 moves, -1 where q0 does, 0: neither
    edge_i, edge_j     derivative of where it moves by the heights of the nodes
    size          unit of force per length times length: magnitude times L0 (or l);  stretch: 1/l where it is l, else 0
    """

    bar: int
    i: int
    j: int
    t: Vector
    length: float
    vi: Vector
    vj: Vector
    ui: Vector
    uj: Vector
    slope_i: Vector
    slope_j: Vector
    middle: float
    wet: float
    moves: float
    edge_i: float
    edge_j: float
    size: float
    stretch: float


@inner_kernel
def place_of(dof: int, trial: Trial) -> float:
    """Where a dof is when the forces are asked for."""
    u: float = 0.5 * (trial.u0[dof] + trial.u1[dof]) if trial.secant else trial.u1[dof]
    place: float = trial.place[dof] + u
    return place


@inner_kernel
def speed_of(dof: int, trial: Trial) -> float:
    """Its velocity; 0 in statics."""
    speed: float = trial.v1[dof] if trial.rate != 0.0 else 0.0
    return (trial.u1[dof] - trial.u0[dof]) * trial.rate if trial.secant else speed


@inner_kernel
def bar_now(r: int, magnitude: float, first: float, second: float, trial: Trial, own: Fluid) -> Bar:
    """The bar of row r. first, second: amplitudes of the stream."""
    medium, up, level, follows = own.rows[r, MEDIUM], own.streams.up, own.streams.level, own.numbers[r, FOLLOWS]
    bar = own.rows[r, BAR]
    i, j = 3 * own.ends[bar, 0], 3 * own.ends[bar, 1]
    dx, dy = place_of(j, trial) - place_of(i, trial), place_of(j + 1, trial) - place_of(i + 1, trial)
    dz = place_of(j + 2, trial) - place_of(i + 2, trial)
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    zi, zj = place_of(i + up, trial), place_of(j + up, trial)
    at_i, at_j = -1, -1
    if own.asked.shape[0] > 0 and trial.rate != 0.0:
        at_i, at_j = own.sea.first + REMEMBERED * own.asked[bar, 0], own.sea.first + REMEMBERED * own.asked[bar, 1]
    hi, hj = below(zi, at_i, trial), below(zj, at_j, trial)
    q0, q1, moves = wetted(medium, hi, hj, level)
    edge_i, edge_j = 0.0, 0.0
    if moves != 0.0:
        edge_i = ((q1 if moves > 0.0 else q0) - 1.0) / (hj - hi)
        edge_j = -(q1 if moves > 0.0 else q0) / (hj - hi)
    ux, uy, uz, sx, sy, sz = velocity(medium, zi, first, second, own.streams)
    wx, wy, wz, rx, ry, rz = velocity(medium, zj, first, second, own.streams)
    ui, uj, t = (ux, uy, uz), (wx, wy, wz), (dx / length, dy / length, dz / length)
    if medium == WATER and at_i >= 0:
        ui, uj = with_waves(ui, second, at_i + VELOCITY, trial), with_waves(uj, second, at_j + VELOCITY, trial)
    vi, vj = past(ui, follows, i, trial), past(uj, follows, j, trial)
    si, sj, middle, wet = (sx, sy, sz), (rx, ry, rz), 0.5 * (q0 + q1), q1 - q0
    if medium >= INERTIA:
        si, sj, vi, vj = STILL, STILL, STILL, STILL
        ui, uj = past(STILL, -1.0, i, trial), past(STILL, -1.0, j, trial)
        if medium == INERTIA and at_i >= 0:
            vi = with_waves(STILL, second, at_i + ACCELERATION, trial)
            vj = with_waves(STILL, second, at_j + ACCELERATION, trial)
    size, stretch = magnitude * own.numbers[r, LENGTH], 0.0
    if own.rows[r, IS_CURRENT] != 0:
        size, stretch = magnitude * length, 1.0 / length
    i, j = i // 3, j // 3
    return Bar(bar, i, j, t, length, vi, vj, ui, uj, si, sj, middle, wet, moves, edge_i, edge_j, size, stretch)


@inner_kernel
def below(height: float, at: int, trial: Trial) -> float:
    """Height less the elevation of the surface there; at: states of the water, -1: there are no waves."""
    return height - trial.state1[at + ELEVATION] if at >= 0 else height


@inner_kernel
def with_waves(stream: Vector, factor: float, at: int, trial: Trial) -> Vector:
    """What waves add; at: the first of their three states."""
    state = trial.state1
    return stream[0] + factor * state[at], stream[1] + factor * state[at + 1], stream[2] + factor * state[at + 2]


@inner_kernel
def past(stream: Vector, follows: float, dof: int, trial: Trial) -> Vector:
    """Velocity of a stream past the node whose first dof is given."""
    x, y = stream[0] - follows * speed_of(dof, trial), stream[1] - follows * speed_of(dof + 1, trial)
    return x, y, stream[2] - follows * speed_of(dof + 2, trial)


@inner_kernel
def push(dof: int, value: float, force: Floats, flow: Floats) -> None:
    """Add to an internal force that does not come from stored energy."""
    force[dof] += value
    if flow.shape[0] > 0:
        flow[dof] += value


@inner_kernel
def add_entry(c: int, ii: float, ij: float, ji: float, jj: float, bar: Bar, own: Fluid, tangent: Tangent) -> None:
    """Entry c = 3 a + b of the four blocks: derivatives by component b of displacements, of the forces along a."""
    pair = own.first + bar.bar
    tangent.block[bar.i, c] += ii
    tangent.block[bar.j, c] += jj
    tangent.cross[pair, c] += ij
    tangent.cross[pair, 9 + c] += ji
