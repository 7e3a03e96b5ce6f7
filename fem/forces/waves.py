"""Water and wind: how fast they flow at a height, which part of a bar is in them, how waves move the water at nodes.

Waves are evaluated once an increment, at the places that its start foresees.

Formulas: ``model/surroundings``. The place is x + dt v + dt^2 a/2, where forces act: to second order, and known
during the increment, so that no iteration asks for waves and no tangent has their gradient. What was found for a node
is kept with its place and time among the states, and found anew only where these are others: it follows from them
alone, whatever was asked before.

Phases are counted in turns: what is left of them after whole turns is exact. Sine, cosine and decay with depth are
their Taylor series, to round-off, and nothing in the loops over regular waves is a call or a branch, or an index that
might count from the end: they run on vectors. 2 to 3 ns for a wave and node are 68 multiplications, most of them with
an addition. Products that advance all terms from instant to instant, and series from place to place, would be 48, and
32 bytes for each wave and node that a run has to keep and renew: nothing is carried on.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import carried, every, is_carrier, itself, some, where
from fem.forces.protocol import Trial

WATER, WIND, INERTIA, STILL_WATER = 0, 1, 2, 3
"""What acts: a stream of water, of wind, the acceleration of the water, or water at rest, wherever the bar is, that
resists in proportion to speed: what bounds increments of EXPLICIT."""


class Streams(NamedTuple):
    """Of a model: the axis that is up and the still level;
    profile (z, 4) elevation and velocity of the current, elevation rising, at least one row;
    along, across (3,) speed of the wind at the reference height, as two vectors; that height and the power of the law
    """

    up: int
    level: float
    profile: Floats
    along: Floats
    across: Floats
    reference: float
    power: float


@inner_kernel
def velocity(
    medium: int, z: float, first: float, second: float, streams: Streams
) -> tuple[float, float, float, float, float, float]:
    """Velocity at height z, and its derivative by z.
    first, second  amplitudes; of the current the first counts (the second is that of waves)"""
    if medium == WIND:
        above, factor, slope = z - streams.level, 1.0, 0.0
        is_above = above > 0.0
        if streams.power != 0.0 and some(is_above):
            height = where(is_above, above / streams.reference, 1.0)
            factor = where(is_above, height**streams.power, 0.0)
            slope = streams.power * factor / where(is_above, above, 1.0)
        elif streams.power != 0.0:
            factor = 0.0
        x = first * streams.along[0] + second * streams.across[0]
        y = first * streams.along[1] + second * streams.across[1]
        w = first * streams.along[2] + second * streams.across[2]
        return factor * x, factor * y, factor * w, slope * x, slope * y, slope * w
    profile, k, last = streams.profile, 0, streams.profile.shape[0] - 1
    while k < last and every(profile[k + 1, 0] < z):
        k += 1
    x, y, w, dx, dy, dw = current(k, z, first, profile)
    while k < last and some(profile[k + 1, 0] < z):
        k += 1
        is_above = profile[k, 0] < z
        px, py, pw, ex, ey, ew = current(k, z, first, profile)
        x, y, w = where(is_above, px, x), where(is_above, py, y), where(is_above, pw, w)
        dx, dy, dw = where(is_above, ex, dx), where(is_above, ey, dy), where(is_above, ew, dw)
    return x, y, w, dx, dy, dw


@inner_kernel
def current(k: int, z: float, first: float, profile: Floats) -> tuple[float, float, float, float, float, float]:
    """Velocity at height z by row k of the current's profile and the one above it, and its derivative by z; outside
    the profile that of its end."""
    x, y, w, dx, dy, dw = first * profile[k, 1], first * profile[k, 2], first * profile[k, 3], 0.0, 0.0, 0.0
    is_inside = z > profile[k, 0]
    if k < profile.shape[0] - 1 and some(is_inside):
        inverse = where(is_inside, 1.0 / (profile[k + 1, 0] - profile[k, 0]), 0.0)
        part, steep = (z - profile[k, 0]) * inverse, first * inverse
        ex, ey, ew = (
            profile[k + 1, 1] - profile[k, 1],
            profile[k + 1, 2] - profile[k, 2],
            profile[k + 1, 3] - profile[k, 3],
        )
        x, y = first * (profile[k, 1] + part * ex), first * (profile[k, 2] + part * ey)
        w = first * (profile[k, 3] + part * ew)
        dx, dy, dw = steep * ex, steep * ey, steep * ew
    return x, y, w, dx, dy, dw


def flows(model: Any) -> bool:
    """A deck asks for forces of water or wind somewhere."""
    return bool(model.reach.flows)


@inner_kernel
def wetted(medium: int, zi: float, zj: float, level: float) -> tuple[float, float, float]:
    """The part [q0, q1] of the way from i to j that is in the medium, and how it moves.
    The last: 0, all or nothing of it; 1, q1 is at the surface; -1, q0 is."""
    q0, q1, moves = 0.0, 1.0, 0.0
    if medium != STILL_WATER:
        starts, ends = zi <= level, zj <= level
        if medium == WIND:
            starts, ends = zi >= level, zj >= level
        is_cut = starts != ends
        if every(is_cut & starts):
            q1, moves = (level - zi) / (zj - zi), 1.0
        elif every(is_cut & ends):
            q0, moves = (level - zi) / (zj - zi), -1.0
        elif some(is_cut):
            part = (level - zi) / where(is_cut, zj - zi, 1.0)
            q0, q1 = where(is_cut & ends, part, 0.0), where(ends, 1.0, where(starts, part, 0.0))
            moves = where(is_cut, where(starts, 1.0, -1.0), 0.0)
        elif not every(starts):
            q1 = where(starts, 1.0, 0.0)
    return q0, q1, moves


class GustTable(NamedTuple):
    """Turbulence of the wind: table (p, k, 3) of what it adds at p nodes over a duration, after which it repeats
    itself, p = 0: there is none; nodes (q, 2): places in it of the nodes of the bars; since: total time at which the
    ramp begins."""

    table: Floats
    nodes: Ints
    duration: float
    ramp: float
    since: float = math.inf


class Moment(NamedTuple):
    """An instant in that table: the sample before it, weights of the one before that and of the two after it, and the
    factor of the ramp, 0: there are no gusts."""

    sample: int
    w0: float
    w1: float
    w2: float
    w3: float
    factor: float


@inner_kernel
def moment(time: float, gusts: GustTable) -> Moment:
    """Cubic polynomials through the samples, with the slopes of their neighbours (Catmull & Rom); time < 0: none."""
    count = gusts.table.shape[1]
    if gusts.table.shape[0] == 0 or time < 0.0:
        return Moment(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    way = time / gusts.duration
    way = (way - math.floor(way)) * count
    sample = min(int(way), count - 1)
    x = way - sample
    w0, w3 = -0.5 * x * (1.0 - x) * (1.0 - x), -0.5 * x * x * (1.0 - x)
    w1, w2 = 1.0 + x * x * (1.5 * x - 2.5), x * (0.5 + x * (2.0 - 1.5 * x))
    return Moment(sample, w0, w1, w2, w3, rising(time - gusts.since, gusts.ramp)[0])


@inner_kernel
def gust(node: int, axis: int, now: Moment, gusts: GustTable) -> float:
    """Speed that a gust adds at a node along an axis."""
    table, count, k = gusts.table, gusts.table.shape[1], now.sample
    before, after, last = (k + count - 1) % count, (k + 1) % count, (k + 2) % count
    total: float = now.w0 * table[node, before, axis] + now.w1 * table[node, k, axis]
    total += now.w2 * table[node, after, axis] + now.w3 * table[node, last, axis]
    return now.factor * total


@inner_kernel
def with_gusts(
    wind: tuple[float, float, float], factor: float, node: int, now: Moment, gusts: GustTable
) -> tuple[float, float, float]:
    """Wind at a node with its gusts."""
    x, y, z = gust(node, 0, now, gusts), gust(node, 1, now, gusts), gust(node, 2, now, gusts)
    return wind[0] + factor * x, wind[1] + factor * y, wind[2] + factor * z


TURN = 2.0 * math.pi
# Rows of trains: turns by the two level coordinates, turns by time, turns at the start; k, exp(DEEP - 2 k h),
# a omega/(1 - exp(-2 k h)), a omega/sinh kh, a, omega, cosine and sine of the direction
ALONG_X, ALONG_Y, BY_TIME, AT_START, NUMBER, FLOOR, SPEED, SLIDING, AMPLITUDE, OMEGA, COSINE, SINE = range(12)
# States of a node: 1 where the rest is known, time and place it is known for, elevation, velocity, acceleration
IS_KNOWN, TIME, PLACE, ELEVATION, VELOCITY, ACCELERATION, REMEMBERED = 0, 1, 2, 5, 6, 9, 12
VERTICAL, WHEELER, NONE = 0, 1, 2
STRETCHINGS = ("VERTICAL", "WHEELER", "NONE")
DEEP = 40.0
"""k times the depth at which nothing is left of a wave: exp(-40) is 4e-18."""
BLOCK = 16
"""Waves that are left out together where nothing is left of them: whole vectors remain."""
SIN = tuple((-1) ** n * (TURN / 4) ** (2 * n + 1) / math.factorial(2 * n + 1) for n in range(8))
COS = tuple((-1) ** n * (TURN / 4) ** (2 * n) / math.factorial(2 * n) for n in range(9))
"""Series of x quarters of a turn."""
EXP = tuple(math.exp(-0.5 * DEEP / 64.0) / math.factorial(n) for n in range(13))
"""Series of the 64th root of exp(64 x - DEEP/2)."""


class Sea(NamedTuple):
    """Regular waves, c of them in g spans with a ramp each, none: there are no waves.

    trains (12, c), k rising in each span;  spans (g, 2) first and last + 1;  ramps (g,)
    nodes  (p,) where the water is asked for;  first: of their states
    up, side: the axis that is up, 1 or -1 by which the other level coordinate counts;  level, depth
    reach  height from the still level beyond which no bar of a node meets the surface
    stretching: VERTICAL, WHEELER, NONE;  since: total time at which ramps begin
    """

    trains: Floats
    spans: Ints
    ramps: Floats
    nodes: Ints
    first: int
    up: int
    side: float
    level: float
    depth: float
    rise: float
    reach: float
    stretching: int
    since: float = math.inf


def sea_of(model: Any, nodes: Ints, length: Floats, first: int) -> Sea:
    """The waves of a model; nodes: where forces ask for them; length (q,) of bars, which they may double."""
    found, up = model.sea, model.mesh.up
    omega, k, amplitude, phase, b, ramp = found[np.lexsort((found[:, 1], found[:, 5]))].T
    ramps, starts = np.unique(ramp, return_index=True)
    spans = np.column_stack([starts, np.append(starts, len(k))[1:]]).astype(np.int64)
    level, depth = (model.water.level, model.water.level - model.water.seabed) if model.water else (0.0, 0.0)
    speed = np.divide(amplitude * omega, -np.expm1(-2.0 * k * depth))
    trains = np.array([
        k * np.cos(b) / TURN, k * np.sin(b) / TURN, omega / TURN, phase / TURN, k, np.exp(DEEP - 2.0 * k * depth),
        speed, 2.0 * speed * np.exp(-k * depth), amplitude, omega, np.cos(b), np.sin(b),
    ])  # fmt: skip
    how = STRETCHINGS.index(model.waves[0].stretching) if model.waves else VERTICAL
    asked = nodes if len(k) else nodes[:0]
    side, rise = 1.0 if up == 2 else -1.0, float(amplitude.sum())
    reach = rise + 2.0 * float(length.max(initial=0.0))
    trains = np.ascontiguousarray(trains)
    return Sea(trains, spans, ramps, asked, first, up, side, level, depth, rise, reach, how)


@called_kernel
def foresee(trial: Trial, sea: Sea) -> None:
    """The water at all nodes, as the equilibrium of the increment has it, into their states."""
    time, ahead = 0.5 * (trial.time0 + trial.time1) if trial.secant else trial.time1, trial.ahead
    state = trial.state1
    for p in range(sea.nodes.shape[0]):
        at, dof = sea.first + REMEMBERED * p, 3 * sea.nodes[p]
        is_known = (state[at + IS_KNOWN] == 1.0) & (state[at + TIME] == time)
        for axis in range(3):
            move = trial.u0[dof + axis] + ahead * (trial.v0[dof + axis] + 0.5 * ahead * trial.a0[dof + axis])
            place = trial.place[dof + axis] + move
            is_known = is_known & (state[at + PLACE + axis] == place)
            state[at + PLACE + axis] = place
        if not every(is_known):
            state[at + IS_KNOWN], state[at + TIME] = 1.0, time
            write_motion(at, time, sea, state)


@inner_kernel
def write_motion(at: int, time: float, sea: Sea, state: Floats) -> None:
    """Elevation, velocity and acceleration of the water at a time, and at the place that stands before them."""
    x, z = state[at + PLACE], state[at + PLACE + sea.up] - sea.level
    y = sea.side * state[at + PLACE + 3 - sea.up]
    # at the bottom all elevations stretch z to the same height
    needs_surface, eta, height = z > -sea.reach, 0.0, z
    if sea.stretching == WHEELER:
        needs_surface = needs_surface | (z > -sea.depth)
    if some(needs_surface):
        eta = where(needs_surface, elevation(time, x, y, sea), 0.0)
    if sea.stretching == WHEELER:
        height = (z - eta) * sea.depth / (sea.depth + eta)
    height = max(min(height, 0.0), -sea.depth)
    for k in range(VELOCITY, REMEMBERED):
        state[at + k] = 0.0
    state[at + ELEVATION] = eta
    is_dry, is_above = (z > 0.0) & (sea.stretching == NONE), height > -sea.depth
    if every(is_dry):
        return
    for g in range(sea.ramps.shape[0]):
        first, last = sea.spans[g, 0], sea.spans[g, 1]
        while last > first and every(sea.trains[NUMBER, max(first, last - BLOCK)] * height < -DEEP):
            last = max(first, last - BLOCK)
        ux, uy, uz, ax, ay, az = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if some(is_above):
            if by_place_alone(x, sea):
                ux, uy, uz, ax, ay, az = motion_near(first, last, time, x, y, height, sea.trains)
            else:
                ux, uy, uz, ax, ay, az = motion_of(first, last, time, x, y, height, sea.trains)
        if not every(is_above):
            if by_place_alone(x, sea):
                vx, vy, _, bx, by, _ = motion_near(first, last, time, x, y, -sea.depth, sea.trains)
            else:
                vx, vy, bx, by = motion_at_bottom(first, last, time, x, y, sea.trains)
            ux, uy, uz = where(is_above, ux, vx), where(is_above, uy, vy), where(is_above, uz, 0.0)
            ax, ay, az = where(is_above, ax, bx), where(is_above, ay, by), where(is_above, az, 0.0)
        grown, rate = rising(time - sea.since, sea.ramps[g])
        grown, rate = where(is_dry, 0.0, grown), where(is_dry, 0.0, rate)
        state[at + VELOCITY] += grown * ux
        state[at + VELOCITY + 3 - sea.up] += sea.side * grown * uy
        state[at + VELOCITY + sea.up] += grown * uz
        state[at + ACCELERATION] += grown * ax + rate * ux
        state[at + ACCELERATION + 3 - sea.up] += sea.side * (grown * ay + rate * uy)
        state[at + ACCELERATION + sea.up] += grown * az + rate * uz


@inner_kernel
def turns_of(c: Index, time: float, x: float, y: float, trains: Floats) -> float:
    """Phase of a regular wave, in turns."""
    turns: float = trains[ALONG_X, c] * x + trains[ALONG_Y, c] * y - trains[BY_TIME, c] * time + trains[AT_START, c]
    return turns


@inner_kernel
def motion_of(
    first: int, last: int, time: float, x: float, y: float, height: float, trains: Floats
) -> tuple[float, float, float, float, float, float]:
    """Velocity and acceleration that regular waves first to last - 1 make, ramps apart; height <= 0."""
    ux, uy, uz, ax, ay, az = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for number in range(last - first):
        c = np.uintp(first + number)
        cosine, sine = on_circle(turns_of(c, time, x, y, trains))
        top, bottom = decays(trains[NUMBER, c] * height)
        bottom *= trains[FLOOR, c]
        level, upwards = trains[SPEED, c] * (top + bottom), trains[SPEED, c] * (top - bottom)
        u, a = level * cosine, level * sine * trains[OMEGA, c]
        ux += trains[COSINE, c] * u
        uy += trains[SINE, c] * u
        uz += upwards * sine
        ax += trains[COSINE, c] * a
        ay += trains[SINE, c] * a
        az -= upwards * cosine * trains[OMEGA, c]
    return ux, uy, uz, ax, ay, az


@inner_kernel
def by_place_alone(x: float, sea: Sea) -> bool:
    """Whether places carry derivatives, and waves themselves none: known at compilation."""
    return is_carrier(x) and not is_carrier(sea.trains[NUMBER, 0])


@inner_kernel
def motion_near(
    first: int, last: int, time: float, x: float, y: float, height: float, trains: Floats
) -> tuple[float, float, float, float, float, float]:
    """``motion_of`` with the derivatives that time and place carry. With s, c = level times sine, cosine and t, d =
    upwards times sine, cosine, of phase and height the derivatives are

        (s, c, t, d)' = k (ALONG c, -ALONG s, ALONG d, -ALONG t) by place,  k (t, d, s, c) by height,  omega (-c, ...)

    so that velocities by time are accelerations, and both have gradients that are symmetric and free of divergence."""
    now, east, north, above = itself(time), itself(x), itself(y), itself(height)
    ux, uy, uz, ax, ay, az = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    uxx, uxy, uyy, uxz, uyz = 0.0, 0.0, 0.0, 0.0, 0.0
    axx, axy, ayy, axz, ayz = 0.0, 0.0, 0.0, 0.0, 0.0
    axt, ayt, azt = 0.0, 0.0, 0.0
    for number in range(last - first):
        c = np.uintp(first + number)
        k, omega, along, across = trains[NUMBER, c], trains[OMEGA, c], trains[COSINE, c], trains[SINE, c]
        cosine, sine = on_circle(turns_of(c, now, east, north, trains))
        top, bottom = decays(k * above)
        bottom *= trains[FLOOR, c]
        level, upwards = trains[SPEED, c] * (top + bottom), trains[SPEED, c] * (top - bottom)
        u, a, w = level * cosine, level * sine * omega, upwards * cosine * omega
        ux += along * u
        uy += across * u
        uz += upwards * sine
        ax += along * a
        ay += across * a
        az -= w
        of_u, of_a, of_w, of_d = k * level * sine, k * omega * u, k * upwards * cosine, k * omega * upwards * sine
        uxx -= along * along * of_u
        uxy -= along * across * of_u
        uyy -= across * across * of_u
        uxz += along * of_w
        uyz += across * of_w
        axx += along * along * of_a
        axy += along * across * of_a
        ayy += across * across * of_a
        axz += along * of_d
        ayz += across * of_d
        axt -= along * omega * omega * u
        ayt -= across * omega * omega * u
        azt -= omega * omega * upwards * sine
    return (
        moved(ux, ax, uxx, uxy, uxz, time, x, y, height), moved(uy, ay, uxy, uyy, uyz, time, x, y, height),
        moved(uz, az, uxz, uyz, -uxx - uyy, time, x, y, height),
        moved(ax, axt, axx, axy, axz, time, x, y, height), moved(ay, ayt, axy, ayy, ayz, time, x, y, height),
        moved(az, azt, axz, ayz, -axx - ayy, time, x, y, height),
    )  # fmt: skip


@inner_kernel
def moved(
    value: float, by_time: float, by_x: float, by_y: float, by_height: float, time: float, x: float, y: float,
    height: float,
) -> float:  # fmt: skip
    """A number with derivatives by time and place."""
    return carried(carried(carried(carried(value, by_time, time), by_x, x), by_y, y), by_height, height)


@inner_kernel
def motion_at_bottom(
    first: int, last: int, time: float, x: float, y: float, trains: Floats
) -> tuple[float, float, float, float]:
    """The same at the bottom, along which the water moves: without what is upwards."""
    ux, uy, ax, ay = 0.0, 0.0, 0.0, 0.0
    for number in range(last - first):
        c = np.uintp(first + number)
        cosine, sine = on_circle(turns_of(c, time, x, y, trains))
        u, a = trains[SLIDING, c] * cosine, trains[SLIDING, c] * sine * trains[OMEGA, c]
        ux += trains[COSINE, c] * u
        uy += trains[SINE, c] * u
        ax += trains[COSINE, c] * a
        ay += trains[SINE, c] * a
    return ux, uy, ax, ay


@inner_kernel
def elevation(time: float, x: float, y: float, sea: Sea) -> float:
    """Of the surface above (x, y); y: the other level coordinate, with its sign."""
    total = 0.0
    for g in range(sea.ramps.shape[0]):
        first, last, part = sea.spans[g, 0], sea.spans[g, 1], 0.0
        if by_place_alone(x, sea):
            part = elevation_around(first, last, time, x, y, sea.trains)
        else:
            for number in range(last - first):
                c = np.uintp(first + number)
                part += sea.trains[AMPLITUDE, c] * cosine_of(turns_of(c, time, x, y, sea.trains))
        total += part * rising(time - sea.since, sea.ramps[g])[0]
    return total


@inner_kernel
def elevation_around(first: int, last: int, time: float, x: float, y: float, trains: Floats) -> float:
    """That of regular waves first to last - 1, ramps apart, with the derivatives that time and place carry."""
    now, east, north = itself(time), itself(x), itself(y)
    eta, by_time, by_x, by_y = 0.0, 0.0, 0.0, 0.0
    for number in range(last - first):
        c = np.uintp(first + number)
        cosine, sine = on_circle(turns_of(c, now, east, north, trains))
        eta += trains[AMPLITUDE, c] * cosine
        slope = trains[AMPLITUDE, c] * sine
        by_time += slope * trains[OMEGA, c]
        by_x -= slope * trains[NUMBER, c] * trains[COSINE, c]
        by_y -= slope * trains[NUMBER, c] * trains[SINE, c]
    return carried(carried(carried(eta, by_time, time), by_x, x), by_y, y)


@inner_kernel
def elevation_near(dof: int, time: float, place: Floats, u: Floats, sea: Sea) -> float:
    """Elevation of the surface above the node whose first dof is given."""
    side = dof + 3 - sea.up
    return elevation(time, place[dof] + u[dof], sea.side * (place[side] + u[side]), sea)


@inner_kernel
def rising(time: float, ramp: float) -> tuple[float, float]:
    """Factor of waves that rise as (1 - cos)/2 until the ramp is over, and its rate. time: since it began."""
    if ramp <= 0.0 or time >= ramp:
        return 1.0, 0.0
    part = math.pi * max(time, 0.0) / ramp
    return 0.5 * (1.0 - math.cos(part)), 0.5 * math.pi / ramp * math.sin(part)


@inner_kernel
def on_circle(turns: float) -> tuple[float, float]:
    """Cosine and sine: series of a quarter of the angle, within an eighth of a turn, doubled twice."""
    x = itself(turns) - math.floor(itself(turns) + 0.5)
    y = x * x
    s = x * (
        SIN[0] + y * (SIN[1] + y * (SIN[2] + y * (SIN[3] + y * (SIN[4] + y * (SIN[5] + y * (SIN[6] + y * SIN[7]))))))
    )
    c = 1.0 - versine(y)
    s, c = 2.0 * s * c, 1.0 - 2.0 * s * s
    cosine, sine = 1.0 - 2.0 * s * s, 2.0 * s * c
    return carried(cosine, -TURN * sine, turns), carried(sine, TURN * cosine, turns)


@inner_kernel
def cosine_of(turns: float) -> float:
    """The same without the sine: 1 - cos of a quarter of the angle, doubled twice."""
    x = itself(turns) - math.floor(itself(turns) + 0.5)
    v = versine(x * x)
    v *= 4.0 - 2.0 * v
    cosine = 1.0 - v * (4.0 - 2.0 * v)
    return carried(cosine, -TURN * on_circle(itself(turns))[1], turns)


@inner_kernel
def versine(y: float) -> float:
    """1 - cos of the square root of y in quarters of a turn."""
    c = COS[4] + y * (COS[5] + y * (COS[6] + y * (COS[7] + y * COS[8])))
    found: float = -y * (COS[1] + y * (COS[2] + y * (COS[3] + y * c)))
    return found


@inner_kernel
def decays(x: float) -> tuple[float, float]:
    """exp(x) and exp(-x - DEEP) of x <= 0, as if it were not below -DEEP: 64th powers of the series about x = -DEEP/2.
    Even and odd powers apart, both come of one series, without a division."""
    d = (max(itself(x), -DEEP) + 0.5 * DEEP) * (1.0 / 64.0)
    y = d * d
    even = EXP[6] + y * (EXP[8] + y * (EXP[10] + y * EXP[12]))
    even = EXP[0] + y * (EXP[2] + y * (EXP[4] + y * even))
    odd = d * (EXP[1] + y * (EXP[3] + y * (EXP[5] + y * (EXP[7] + y * (EXP[9] + y * EXP[11])))))
    top, bottom = power_64(even + odd), power_64(even - odd)
    return carried(top, top, x), carried(bottom, -bottom, x)


@inner_kernel
def power_64(y: float) -> float:
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y
