"""A bottom with depths on a grid (``model/bathymetry.py``): nodes are pushed and rubbed as on a plane (``seabed.py``).

With the depth g(x) of a node, K a max(g, 0)^2/2 is stored, so that it pushes with N grad g, where N is the force of a
plane at this depth and g' = grad g . v. Over an increment the discrete gradient

    D = grad g(xm) + s d,   s = (g1 - g0 - grad g(xm).d)/d.d,   d = x1 - x0,  xm = (x0 + x1)/2

does the work of the spring exactly. Source: Gonzalez, J. Nonlinear Sci. 6 (1996) 449. How the friction turns with the
normal is left out of the tangent, as there.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Index, Ints
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces import seabed
from fem.forces.protocol import Tangent, Trial, component
from fem.forces.seabed import (
    DEPTH,
    NORMAL,
    RADIUS,
    REMEMBERED,
    STIFFNESS,
    Numbers,
    book_friction,
    contacts_of,
    give,
    joined,
    normal_force,
    rub,
)  # fmt: skip

SHORT = 1e-7
"""Displacement over distance from the origin below which s = 0: there g1 - g0 is round-off."""
FIRST_X, COUNT_X, FIRST_Y, COUNT_Y, FIRST_Z = range(5)


class GridContacts(NamedTuple):
    """c nodes above g grids. As in ``Contacts``, but ``numbers`` has in DEPTH what is added to depths, in
    NORMAL the reference position.

    which (c,) grid of each node;  grids (g, 5) where in the arrays the grids are;  tops (g,) highest points
    lines (l, 4) x and y of all grids, one over the widths before and after them (0: the edge), what is rounded on
    either side;  heights, cosines  at their points
    """

    nodes: Ints
    chord: Ints
    numbers: Floats
    anchors: Floats
    first: int
    which: Ints
    grids: Ints
    tops: Floats
    lines: Floats
    heights: Floats
    cosines: Floats


def assemble(model: Any, system: Any, pair: int, state: int) -> GridContacts:
    beds = [bed for bed in model.seabeds if bed.grid is not None]
    parts = [contacts_of(bed, model, system) for bed in beds]
    nodes, chord, numbers = joined(parts)
    numbers[:, DEPTH] = 0.0
    which = np.repeat(np.arange(len(beds)), [len(nodes) for nodes, _, _ in parts]).astype(np.int64)
    grids, line, point = np.zeros((len(beds), 5), np.int64), 0, 0
    for g, bed in enumerate(beds):
        wide, long = bed.grid.z.shape
        grids[g] = line, wide, line + wide, long, point
        line, point = line + wide + long, point + wide * long
    empty = np.zeros(0)
    own = [columns(lines, bed.grid.rounded) for bed in beds for lines in (bed.grid.x, bed.grid.y)]
    group = GridContacts(
        nodes, chord, numbers, np.zeros((len(nodes), 3)), state, which, grids,
        np.array([bed.grid.z.max() for bed in beds]),
        np.concatenate([np.zeros((0, 4)), *own]),
        np.concatenate([empty, *(bed.grid.z.ravel() for bed in beds)]),
        np.concatenate([empty, *(bed.grid.cosine.ravel() for bed in beds)]),
    )  # fmt: skip
    return group._replace(anchors=seabed.first_anchors(nodes, numbers, model, system, partial(seen, group)))


def columns(lines: Floats, rounded: float) -> Floats:
    """(l, 4) of the grid lines (l,) of one grid: see ``GridContacts``."""
    over = 1.0 / np.diff(lines, prepend=-np.inf, append=np.inf)
    before, after = over[:-1], over[1:]
    return np.column_stack([lines, before, after, rounded / np.maximum(before, after)])


def seen(group: GridContacts, numbers: Floats, u: Floats) -> tuple[Floats, Floats]:
    """(c,) depths and (c, 3) normals of contacts displaced by u (c, 3)."""
    depth, normal = np.zeros(len(u)), np.zeros((len(u), 3))
    look(group, numbers[:, NORMAL:RADIUS] + u, depth, normal)
    return depth + numbers[:, DEPTH], normal


@kernel
def look(group: GridContacts, places: Floats, depth: Floats, normal: Floats) -> None:
    """Writes depths (c,) and unit normals (c, 3) of contacts at places (c, 3)."""
    for c in range(places.shape[0]):
        there = surface(c, places[c, 0], places[c, 1], places[c, 2], group)
        depth[c] = there[0]
        size = (there[1] ** 2 + there[2] ** 2 + there[3] ** 2) ** 0.5
        for a in range(3):
            normal[c, a] = -component(there[1:4], a) / size


@inner_kernel
def nearest(lines: Floats, first: Index, count: Index, x: float) -> Index:
    """Index of the grid line that is nearest to x, of ``count`` lines from ``first`` on: by bisection, begun where it
    lies if lines are equally far apart."""
    low, high = first, first + count - 1
    if x <= lines[low, 0]:
        return low
    if x >= lines[high, 0]:
        return high
    guess = low + min(int((x - lines[low, 0]) / (lines[high, 0] - lines[low, 0]) * (high - low)), high - low - 1)
    if lines[guess, 0] > x:
        high = guess
    else:
        low, high = guess, guess + 1 if x < lines[guess + 1, 0] else high
    while high - low > 1:
        middle = (low + high) // 2
        if lines[middle, 0] <= x:
            low = middle
        else:
            high = middle
    return low if x - lines[low, 0] <= lines[high, 0] - x else high


@inner_kernel
def hats(lines: Floats, i: Index, x: float) -> Numbers:
    """Weights of the grid lines before i, of i and after it, at x; their first and second derivatives."""
    s, before, after, delta = x - lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3]
    p, turn, bend = abs(s), 1.0 if s > 0.0 else -1.0, 0.0
    if p < delta:
        p, turn, bend = 0.5 * (s * s / delta + delta), s / delta, 1.0 / delta
    left, right = 0.5 * (p - s) * before, 0.5 * (p + s) * after
    down, up = 0.5 * (turn - 1.0) * before, 0.5 * (turn + 1.0) * after
    fall, rise = 0.5 * bend * before, 0.5 * bend * after
    return left, 1.0 - left - right, right, down, -down - up, up, fall, -fall - rise, rise


@inner_kernel
def surface(c: int, x: float, y: float, z: float, group: GridContacts) -> Numbers:
    """Depth g of a point, its gradient gx, gy, gz, and second derivatives xx, xy, yy, xz, yz (zz is 0)."""
    grid, lines = group.which[c], group.lines
    first, wide = group.grids[grid, FIRST_X], group.grids[grid, COUNT_X]
    start, long = group.grids[grid, FIRST_Y], group.grids[grid, COUNT_Y]
    i, j = nearest(lines, first, wide, x), nearest(lines, start, long, y)
    along, across = hats(lines, i, x), hats(lines, j, y)
    at = group.grids[grid, FIRST_Z] + (i - first) * long + j - start
    h = hx = hy = hxx = hxy = hyy = e = ex = ey = exx = exy = eyy = 0.0
    for a in range(3):
        w, wx, wxx = component(along[0:3], a), component(along[3:6], a), component(along[6:9], a)
        if w == 0.0:
            continue
        r = ry = ryy = q = qy = qyy = 0.0
        for b in range(3):
            v, vy, vyy = component(across[0:3], b), component(across[3:6], b), component(across[6:9], b)
            if v == 0.0:
                continue
            height, cosine = group.heights[at + (a - 1) * long + b - 1], group.cosines[at + (a - 1) * long + b - 1]
            r, ry, ryy = r + v * height, ry + vy * height, ryy + vyy * height
            q, qy, qyy = q + v * cosine, qy + vy * cosine, qyy + vyy * cosine
        h, hx, hy, hxx, hxy, hyy = h + w * r, hx + wx * r, hy + w * ry, hxx + wxx * r, hxy + wx * ry, hyy + w * ryy
        e, ex, ey, exx, exy, eyy = e + w * q, ex + wx * q, ey + w * qy, exx + wxx * q, exy + wx * qy, eyy + w * qyy
    d = h - z
    xx, yy = exx * d + 2.0 * ex * hx + e * hxx, eyy * d + 2.0 * ey * hy + e * hyy
    return e * d, ex * d + e * hx, ey * d + e * hy, -e, xx, exy * d + ex * hy + ey * hx + e * hxy, yy, -ex, -ey


@inner_kernel
def bent(g: Numbers, a: int, b: int) -> float:
    """Second derivative of the depth along a and b."""
    if a + b == 2:
        return g[6] if a == 1 else g[7]
    return g[4] if a + b == 0 else g[5] if a + b == 1 else g[8] if a + b == 3 else 0.0


@inner_kernel
def bent_along(g: Numbers, way: Numbers) -> tuple[float, float, float]:
    """Second derivatives times a vector."""
    return (
        g[4] * way[0] + g[5] * way[1] + g[7] * way[2],
        g[5] * way[0] + g[6] * way[1] + g[8] * way[2],
        g[7] * way[0] + g[8] * way[1],
    )


@called_kernel
def evaluate(trial: Trial, group: GridContacts, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all contacts; the energy that the bottom stores."""
    energy = 0.0
    for c in range(group.nodes.shape[0]):
        energy += touch(c, trial, group, force, flow, tangent)
    return energy


@inner_kernel
def touch(c: int, trial: Trial, group: Any, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Force of one contact; writes its states."""
    node, state, raised = group.nodes[c], group.first + REMEMBERED * c, group.numbers[c, DEPTH]
    x, y, z = trial.place[3 * node], trial.place[3 * node + 1], trial.place[3 * node + 2]
    u0, u1 = trial.u0, trial.u1
    for a in range(3):
        trial.state1[state + a], trial.state1[state + 3 + a] = u1[3 * node + a], 0.0
    top = group.tops[group.which[c]]
    if raised == 0.0 and z + u1[3 * node + 2] > top and (not trial.secant or z + u0[3 * node + 2] > top):
        return 0.0
    end = surface(c, x + u1[3 * node], y + u1[3 * node + 1], z + u1[3 * node + 2], group)
    depth, mean, step = end[0] + raised, end, 0.0
    before, turn, way = depth, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if trial.secant:
        before = surface(c, x + u0[3 * node], y + u0[3 * node + 1], z + u0[3 * node + 2], group)[0] + raised
    if max(depth, before) < 0.0 or (max(depth, before) == 0.0 and trial.secant):
        return 0.0
    if trial.secant:
        xm, ym, zm = x, y, z
        xm += 0.5 * (u0[3 * node] + u1[3 * node])
        ym += 0.5 * (u0[3 * node + 1] + u1[3 * node + 1])
        zm += 0.5 * (u0[3 * node + 2] + u1[3 * node + 2])
        mean = surface(c, xm, ym, zm, group)
        way = u1[3 * node] - u0[3 * node], u1[3 * node + 1] - u0[3 * node + 1], u1[3 * node + 2] - u0[3 * node + 2]
        square = way[0] ** 2 + way[1] ** 2 + way[2] ** 2
        if square > (SHORT * (abs(xm) + abs(ym) + abs(zm))) ** 2:
            step = (depth - before - mean[1] * way[0] - mean[2] * way[1] - mean[3] * way[2]) / square
            half = bent_along(mean, way)
            turn = (
                (end[1] - mean[1] - 0.5 * half[0] - 2.0 * step * way[0]) / square,
                (end[2] - mean[2] - 0.5 * half[1] - 2.0 * step * way[1]) / square,
                (end[3] - mean[3] - 0.5 * half[2] - 2.0 * step * way[2]) / square,
            )
    dx, dy, dz = mean[1] + step * way[0], mean[2] + step * way[1], mean[3] + step * way[2]
    push, lost, stiff, turns = normal_force(c, before, depth, (-dx, -dy, -dz, 1.0, 1.0), trial, group)
    rx, ry, rz = stiff * end[1], stiff * end[2], stiff * end[3]
    if turns != 0.0:
        bends = bent_along(end, (trial.v1[3 * node], trial.v1[3 * node + 1], trial.v1[3 * node + 2]))
        rx, ry, rz = rx + turns * bends[0], ry + turns * bends[1], rz + turns * bends[2]
    part = 0.5 if trial.secant else 1.0
    for a in range(3):
        along = component((dx, dy, dz), a)
        give(c, a, push * along, lost * along, trial, group, force, flow)
        if tangent.block.shape[0] == 0:
            continue
        for b in range(3):
            tilt = part * bent(mean, a, b) + component(way, a) * component(turn, b) + (step if a == b else 0.0)
            tangent.block[node, 3 * a + b] += trial.weight * (along * component((rx, ry, rz), b) + (push + lost) * tilt)
    rubs = trial.rate != 0.0 or group.numbers[c, seabed.RUBS_IN_STATICS] != 0.0
    if rubs and group.numbers[c, seabed.SLIP] != 0.0 and push + lost > 0.0:
        size, last = (dx * dx + dy * dy + dz * dz) ** 0.5, (end[1] ** 2 + end[2] ** 2 + end[3] ** 2) ** 0.5
        normal, after = (-dx / size, -dy / size, -dz / size, 0.0, 1.0), (-end[1] / last, -end[2] / last, -end[3] / last)
        rises = (size * rx, size * ry, size * rz)
        rub(c, ((push + lost) * size, depth), rises, normal, after, trial, group, force, flow, tangent)
        if trial.rate == 0.0:
            start = surface(c, x + u0[3 * node], y + u0[3 * node + 1], z + u0[3 * node + 2], group)
            first = (start[1] ** 2 + start[2] ** 2 + start[3] ** 2) ** 0.5
            slope = (-start[1] / first, -start[2] / first, -start[3] / first)
            book_friction(c, slope, after, trial, group)
    energy: float = 0.5 * group.numbers[c, STIFFNESS] * max(depth, 0.0) ** 2
    return energy


def stiffest(group: Any, place: Floats, u: Floats, dt: float) -> Any:
    return seabed.stiffest(group, place, u, dt, partial(seen, group))


def at_rest(group: Any, u: Floats, state: Floats) -> Any:
    return seabed.at_rest(group, u, state, partial(seen, group))


BATHYMETRY = replace(
    seabed.SEABED,
    name="depth grids",
    assemble=assemble,
    evaluate=evaluate,
    wanted=lambda model: any(bed.grid is not None for bed in model.seabeds),
    stiffest=stiffest,
    at_rest=at_rest,
)
