"""A plane bottom below lines, and cylinders: they push back, damp what sinks in, and rub on what lies on them. Nodes
touch them.

With the depth g of a node below the surface, its rate g', the area a of its bars on it and the normal n:

    N = K a max(g, 0) + C a min(g/delta, 1) max(g', 0)  along n,    K a g^2/2 is stored
    f = - mu N min(|d|/gamma, 1) d/|d|  across n,    mu^2 = axial^2 cos^2 + lateral^2 sin^2

d is the way across n from an anchor, which follows at the distance gamma where it is farther, and stays with nodes
that do not touch; its angle is that with the chord of the neighbours. How mu turns with the chord, or with the normal
of a cylinder, is left out of the tangent: it is smaller than the rest by gamma over the length of a bar, or the radius,
and a pair for each bar would cost more.
The ramp delta makes a full Newton step over the landing possible. Source: CableDyn 0.3 (form of mu), MoorDyn 2 (K, C).

Cylinders have no ends. With P = I - a a^T across the axis a of one of radius R, r = P (x - p) from it to a node:
g = R - |r|, n = r/|r|. Of an increment the discrete gradient of |r|, (r0 + r1)/(|r0| + |r1|), does the work of a spring
exactly, and has no moment about the axis. Source: Gonzalez, J. Nonlinear Sci. 6 (1996) 449.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel
from fem.compiled.lanes import common, every, some, where
from fem.forces.bar import INV_LENGTH
from fem.forces.protocol import TAKEN, Family, Tangent, Trial, component

Numbers: TypeAlias = tuple[float, ...]
See: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Depths and normals of contacts, as ``seen``."""

STIFFNESS, DAMPING, DEPTH, RAMP, AXIAL, LATERAL, SLIP, RUBS_IN_STATICS, NORMAL, RADIUS, AXIS = *range(9), 11, 12
NUMBERS = 15
"""Columns of ``Contacts.numbers``; DEPTH: of the reference position; NORMAL: three of them, of a cylinder from its
axis to the reference position; RADIUS: 0 of planes; AXIS: three of them."""


class Contacts(NamedTuple):
    """c nodes that may touch a surface; a node between bars above two of them counts twice.

    nodes (c,);  chord (c, 2) the nodes before and after along the line;  numbers (c, NUMBERS);  anchors (c, 3) u of
    the anchors at first;  first of their states
    """

    nodes: Ints
    chord: Ints
    numbers: Floats
    anchors: Floats
    first: int


def seen(numbers: Floats, u: Floats) -> tuple[Floats, Floats]:
    """(c,) depths and (c, 3) normals of contacts (c, NUMBERS) displaced by u (c, 3)."""
    foot, axis, radius = numbers[:, NORMAL:RADIUS], numbers[:, AXIS:], numbers[:, RADIUS]
    way = foot + u
    way = way - (way * axis).sum(axis=1)[:, None] * axis
    far = np.sqrt((way * way).sum(axis=1))
    is_plane = radius == 0.0
    normal = np.where(is_plane[:, None], foot, way / np.where(far > 0.0, far, 1.0)[:, None])
    return np.where(is_plane, numbers[:, DEPTH] - (foot * u).sum(axis=1), radius - far), normal


@inner_kernel
def from_axis(c: int, u: Floats, group: Contacts) -> tuple[float, float, float]:
    """From the axis of a cylinder to the node, across it."""
    dof, numbers = 3 * group.nodes[c], group.numbers
    x, y, z = numbers[c, NORMAL] + u[dof], numbers[c, NORMAL + 1] + u[dof + 1], numbers[c, NORMAL + 2] + u[dof + 2]
    along = numbers[c, AXIS] * x + numbers[c, AXIS + 1] * y + numbers[c, AXIS + 2] * z
    return x - along * numbers[c, AXIS], y - along * numbers[c, AXIS + 1], z - along * numbers[c, AXIS + 2]


@inner_kernel
def depth_of(c: int, u: Floats, group: Contacts) -> float:
    """Of a node below the surface."""
    numbers = group.numbers
    depth: float = numbers[c, DEPTH]
    if common(numbers[c, RADIUS]) > 0.0:
        x, y, z = from_axis(c, u, group)
        depth = numbers[c, RADIUS] - math.sqrt(x * x + y * y + z * z)
    else:
        for a in range(3):
            depth -= numbers[c, NORMAL + a] * u[3 * group.nodes[c] + a]
    return depth


@inner_kernel
def normal_of(c: int, secant: bool, trial: Trial, group: Contacts) -> tuple[float, float, float, float, float]:
    """Unit normal n at u1, or where secant of the increment, and two numbers, bend and size.
    size n is minus the (discrete) gradient of the depth, n1 the normal at u1:
    dn/du1 = bend (P - n n^T),  d(size n)/du1 = bend size (P - size n n1^T); of planes bend = 0."""
    numbers, bend, size = group.numbers, 0.0, 1.0
    nx, ny, nz = numbers[c, NORMAL], numbers[c, NORMAL + 1], numbers[c, NORMAL + 2]
    if common(numbers[c, RADIUS]) != 0.0:
        x, y, z = from_axis(c, trial.u1, group)
        far = math.sqrt(x * x + y * y + z * z)
        if secant:
            before = from_axis(c, trial.u0, group)
            both = far + math.sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2])
            x, y, z = x + before[0], y + before[1], z + before[2]
            far = math.sqrt(x * x + y * y + z * z)
            size = far / both
        nx, ny, nz, bend = x / far, y / far, z / far, 1.0 / far
    return nx, ny, nz, bend, size


@inner_kernel
def normal_at(c: int, u: Floats, group: Contacts) -> tuple[float, float, float]:
    """Unit normal at a displacement."""
    numbers = group.numbers
    nx, ny, nz = numbers[c, NORMAL], numbers[c, NORMAL + 1], numbers[c, NORMAL + 2]
    if common(numbers[c, RADIUS]) != 0.0:
        x, y, z = from_axis(c, u, group)
        far = math.sqrt(x * x + y * y + z * z)
        nx, ny, nz = x / far, y / far, z / far
    return nx, ny, nz


@inner_kernel
def book_friction(c: int, first: Numbers, last: Numbers, trial: Trial, group: Contacts) -> None:
    """Work against friction in an increment of statics, which books nothing of ``flow``: a current loses nothing there.
    first, last  normals at its start and end; what contact forces have along them is the bottom's, which stores it"""
    dof, state = 3 * group.nodes[c], group.first + REMEMBERED * c + 3
    push0, push1 = 0.0, 0.0
    for a in range(3):
        push0 += component(first, a) * trial.state0[state + a]
        push1 += component(last, a) * trial.state1[state + a]
    for a in range(3):
        both = trial.state0[state + a] + trial.state1[state + a]
        both -= push0 * component(first, a) + push1 * component(last, a)
        trial.power[TAKEN] -= 0.5 * both * (trial.u1[dof + a] - trial.u0[dof + a])


@inner_kernel
def across_axis(c: int, a: int, b: int, group: Contacts) -> float:
    """P_ab, across the axis of a cylinder."""
    found: float = (1.0 if a == b else 0.0) - group.numbers[c, AXIS + a] * group.numbers[c, AXIS + b]
    return found


@inner_kernel
def gradient(c: int, stiff: float, turns: float, end: Numbers, trial: Trial, group: Contacts) -> Numbers:
    """Of the normal force by u1: by the depth, and as the normal turns, which changes the speed of sinking."""
    rx, ry, rz = -stiff * end[0], -stiff * end[1], -stiff * end[2]
    if some(turns != 0.0):
        dof, numbers = 3 * group.nodes[c], group.numbers
        x, y, z = trial.v1[dof], trial.v1[dof + 1], trial.v1[dof + 2]
        along = turns * (numbers[c, AXIS] * x + numbers[c, AXIS + 1] * y + numbers[c, AXIS + 2] * z)
        down = stiff - turns * (end[0] * x + end[1] * y + end[2] * z)
        rx = along * numbers[c, AXIS] - turns * x - down * end[0]
        ry = along * numbers[c, AXIS + 1] - turns * y - down * end[1]
        rz = along * numbers[c, AXIS + 2] - turns * z - down * end[2]
    return rx, ry, rz


TOUCH = 1e-9
"""Depth, over the ramp, of nodes that are taken to touch."""
REMEMBERED = 6
"""States of a contact: u of its anchor, and the force on the node."""


def assemble(model: Any, system: Any, pair: int, state: int) -> Contacts:
    planes = [bed for bed in model.seabeds if bed.grid is None]
    nodes, chord, numbers = joined([contacts_of(bed, model, system) for bed in (*planes, *model.cylinders)])
    return Contacts(nodes, chord, numbers, first_anchors(nodes, numbers, model, system, seen), state)


def joined(parts: list[tuple[Ints, Ints, Floats]]) -> tuple[Ints, Ints, Floats]:
    """Nodes, chords and numbers of several surfaces."""
    nothing = np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, NUMBERS))
    nodes, chord, numbers = map(np.concatenate, zip(nothing, *parts, strict=True))
    return nodes, chord, numbers


def first_anchors(nodes: Ints, numbers: Floats, model: Any, system: Any, see: See) -> Floats:
    """(c, 3) u of the anchors: where nodes are, or as given; behind those that slide, by the slip."""
    anchored = np.full(system.size, np.nan)
    for given in model.initial_conditions:
        if given.kind == "ANCHOR":
            anchored[3 * system.nodes_of(given.target) + given.dof - 1] = given.value
    u, v, anchors = (each.reshape(-1, 3)[nodes] for each in (*system.initial_motion, anchored))
    depth, normal = see(numbers, u)
    v = np.where(depth[:, None] > 0.0, v - (normal * v).sum(axis=1)[:, None] * normal, 0.0)
    speed = np.sqrt((v * v).sum(axis=1))[:, None]
    behind = u - numbers[:, SLIP, None] * np.divide(v, speed, out=np.zeros_like(v), where=speed > 0.0)
    return np.asarray(np.where(np.isnan(anchors), behind, anchors))


def contacts_of(bed: Any, model: Any, system: Any) -> tuple[Ints, Ints, Floats]:
    """Nodes, chords and numbers of one bottom or cylinder."""
    mesh = model.mesh
    elements = mesh.bars_in(bed.element_set)
    ends = mesh.element_nodes[elements]
    nodes = np.unique(ends)
    half = ~system.gone[elements] * 0.5 * bed.width / system.bars.constants[INV_LENGTH, system.bar_index[elements]]
    area = np.bincount(ends.ravel(), np.repeat(half, 2), len(mesh.node_labels))[nodes]
    numbers = np.zeros((len(nodes), NUMBERS))
    numbers[:, STIFFNESS], numbers[:, DAMPING] = bed.stiffness * area, bed.damping * area
    numbers[:, DEPTH] = bed.depth(mesh.coordinates[nodes], mesh.up)
    numbers[:, RAMP:NORMAL] = bed.ramp, bed.axial, bed.lateral, bed.slip, bed.rubs_in_statics
    numbers[:, NORMAL:RADIUS] = bed.towards(mesh.coordinates[nodes], mesh.up)
    numbers[:, RADIUS], numbers[:, AXIS:] = bed.radius, bed.axis
    return nodes, neighbours(nodes, ends), numbers


def stiffest(group: Contacts, place: Floats, u: Floats, dt: float, see: See = seen) -> Contacts:
    """All nodes touch, as those above the bottom may soon; a damper C bounds increments as a spring 4 C/dt does.
    What sticks is held by a spring mu N/gamma, stiffer than K a where it lies deeper than gamma/mu."""
    numbers = group.numbers.copy()
    depth, _ = see(numbers, u.reshape(-1, 3)[group.nodes])
    closer = np.maximum(TOUCH * numbers[:, RAMP] - depth, 0.0)
    numbers[:, DEPTH] += closer
    numbers[:, RADIUS] += np.where(numbers[:, RADIUS] > 0.0, closer, 0.0)
    sticks = numbers[:, AXIAL : LATERAL + 1].max(axis=1) * depth
    slip = numbers[:, SLIP]
    numbers[:, STIFFNESS] *= np.maximum(np.divide(sticks, slip, out=np.ones_like(slip), where=slip > 0.0), 1.0)
    numbers[:, STIFFNESS] += 4.0 / dt * numbers[:, DAMPING]
    return group._replace(numbers=numbers)


JUST = 1e-9
"""What slides is this fraction beyond the slip, or as far short of it by rounding."""


def at_rest(group: Contacts, u: Floats, state: Floats, see: See = seen) -> Contacts:
    """Small motions: contacts stick, in steps without time, too; one that has slid sticks as soon as it turns back."""
    numbers = group.numbers.copy()
    now = u.reshape(-1, 3)[group.nodes]
    _, normal = see(numbers, now)
    way = now - state[group.first :][: REMEMBERED * len(now)].reshape(-1, REMEMBERED)[:, :3]
    way = way - (way * normal).sum(axis=1)[:, None] * normal
    slid = np.sqrt((way * way).sum(axis=1)) > (1.0 - JUST) * numbers[:, SLIP]
    numbers[slid, SLIP] *= 1.0 + 3.0 * JUST
    numbers[:, RUBS_IN_STATICS] = 1.0
    return group._replace(numbers=numbers)


def neighbours(nodes: Ints, ends: Ints) -> Ints:
    """(c, 2) of each node the other ends of its first two bars; itself in place of the second where it has one bar."""
    found: dict[int, list[int]] = {node: [] for node in nodes.tolist()}
    for first, second in ends.tolist():
        found[first].append(second)
        found[second].append(first)
    return np.array([[*others, node][:2] for node, others in found.items()], np.int64).reshape(-1, 2)


@called_kernel
def evaluate(trial: Trial, group: Contacts, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all contacts; the energy that the bottom stores."""
    energy = 0.0
    for c in range(group.nodes.shape[0]):
        energy += touch(c, trial, group, force, flow, tangent)
    return energy


@inner_kernel
def touch(c: int, trial: Trial, group: Contacts, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Force of one contact; writes its states."""
    node, state = group.nodes[c], group.first + REMEMBERED * c
    depth = depth_of(c, trial.u1, group)
    before = depth_of(c, trial.u0, group) if trial.secant else depth
    for a in range(3):
        trial.state1[state + a], trial.state1[state + 3 + a] = trial.u1[3 * node + a], 0.0
    deepest = max(depth, before)
    # a node laid exactly on the bottom has its stiffness, so that statics may begin there
    touches = (deepest > 0.0) | ((deepest == 0.0) & (not trial.secant))
    if not some(touches):
        return 0.0
    normal, end = normal_of(c, trial.secant, trial, group), normal_of(c, False, trial, group)
    push, lost, stiff, turns = normal_force(c, before, depth, normal, trial, group)
    push, lost = where(touches, push, 0.0), where(touches, lost, 0.0)
    stiff, turns = where(touches, stiff, 0.0), where(touches, turns, 0.0)
    rises = gradient(c, stiff, turns, end, trial, group)
    for a in range(3):
        along = normal[4] * component(normal, a)
        give(c, a, -push * along, -lost * along, trial, group, force, flow)
        if tangent.block.shape[0] == 0:
            continue
        for b in range(3):
            tilt = normal[3] * normal[4] * (across_axis(c, a, b, group) - along * component(end, b))
            slope = along * component(rises, b) + (push + lost) * tilt
            tangent.block[node, 3 * a + b] -= trial.weight * slope
    rubs = common(trial.rate) != 0.0 or common(group.numbers[c, RUBS_IN_STATICS]) != 0.0
    if rubs and some(push + lost > 0.0):
        rub(c, (push + lost, depth), rises, normal, end, trial, group, force, flow, tangent)
        if common(trial.rate) == 0.0:
            book_friction(c, normal_at(c, trial.u0, group), end, trial, group)
    energy: float = 0.5 * group.numbers[c, STIFFNESS] * max(depth, 0.0) ** 2
    return energy


@inner_kernel
def give(
    c: int, a: int, stored: float, lost: float, trial: Trial, group: Contacts, force: Floats, flow: Floats
) -> None:
    """Internal force in direction a: the part that comes from the stored energy, and the part that does not."""
    dof = 3 * group.nodes[c] + a
    force[dof] += stored + lost
    flow[dof] += lost
    trial.state1[group.first + REMEMBERED * c + 3 + a] -= stored + lost


@inner_kernel
def normal_force(
    c: int, before: float, depth: float, normal: Numbers, trial: Trial, group: Contacts
) -> tuple[float, float, float, float]:
    """Spring and damper at one depth, or on the way between two, the derivative of their sum by the second, and the
    damping of what turns."""
    stiffness, damping, ramp = group.numbers[c, STIFFNESS], group.numbers[c, DAMPING], group.numbers[c, RAMP]
    middle, speed, fraction, turns = depth, 0.0, 1.0, 0.0
    push, stiff = stiffness * depth, stiffness
    if trial.secant:
        middle, speed, fraction = 0.5 * (before + depth), (depth - before) * trial.rate, 0.5
        push, stiff = stiffness * middle, 0.5 * stiffness
        lands = (before <= 0.0) | (depth <= 0.0)
        if some(lands):  # (W1 - W0)/(g1 - g0), W = K a max(g, 0)^2/2
            part = max(before, depth) / where(lands, depth - before, 1.0)
            push = where(lands, 0.5 * stiffness * max(before, depth) * abs(part), push)
            rise = where(depth > 0.0, part - 0.5 * part * part, 0.5 * part * part)
            stiff = where(lands, stiffness * rise, stiff)
    elif common(trial.rate) != 0.0:
        for a in range(3):
            speed -= component(normal, a) * trial.v1[3 * group.nodes[c] + a]
        turns = normal[3]
    rests = (speed <= 0.0) | (middle <= 0.0)
    if common(trial.rate) == 0.0 or every(rests):
        return push, 0.0, stiff, 0.0
    whole, resists = min(middle / ramp, 1.0), where(rests, 0.0, damping)
    deeper = fraction * speed / ramp if some(middle < ramp) else 0.0
    stiff += resists * (whole * trial.rate + where(middle < ramp, deeper, 0.0))
    return push, resists * whole * speed, stiff, resists * whole * turns


@inner_kernel
def way_of(c: int, late: float, normal: Numbers, trial: Trial, group: Contacts) -> tuple[float, float, float, float]:
    """From the anchor to the node, across the normal and along it; late: 0 at the start of the increment, 1 at its
    end."""
    dof, state = 3 * group.nodes[c], group.first + REMEMBERED * c
    x = late * trial.u1[dof] + (1.0 - late) * trial.u0[dof] - trial.state0[state]
    y = late * trial.u1[dof + 1] + (1.0 - late) * trial.u0[dof + 1] - trial.state0[state + 1]
    z = late * trial.u1[dof + 2] + (1.0 - late) * trial.u0[dof + 2] - trial.state0[state + 2]
    up = normal[0] * x + normal[1] * y + normal[2] * z
    return x - up * normal[0], y - up * normal[1], z - up * normal[2], up


@inner_kernel
def rub(
    c: int, press: Numbers, rises: Numbers, normal: Numbers, end: Numbers, trial: Trial, group: Contacts, force: Floats,
    flow: Floats, tangent: Tangent,
) -> None:  # fmt: skip
    """Add the friction force of a contact and update its anchor; press: normal force, depth; rises: its gradient."""
    node, state, slip = group.nodes[c], group.first + REMEMBERED * c, group.numbers[c, SLIP]
    if common(slip) == 0.0:
        return
    presses = press[0] > 0.0
    way = way_of(c, 1.0, end, trial, group)
    far = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    kept, holds = 0.0, presses & (press[1] > 0.0)
    if some(holds):
        kept = where(holds, min(slip / max(far, slip), 1.0), 0.0)
    for a in range(3):
        trial.state1[state + a] -= kept * component(way, a)
    late = 0.5 if trial.secant else 1.0
    if trial.secant:
        way = way_of(c, 0.5, normal, trial, group)
        far = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    mu, mx, my, mz = coefficient(c, way, normal, far, late, trial, group)
    mu = where(presses, mu, 0.0)
    slides, inverse, bend = far >= slip, 1.0 / max(far, slip), normal[3]
    around = 0.0
    for a in range(3):
        around += group.numbers[c, AXIS + a] * component(way, a)
    for a in range(3):
        wa, na = component(way, a), component(normal, a)
        give(c, a, 0.0, mu * press[0] * inverse * wa, trial, group, force, flow)
        if tangent.block.shape[0] == 0:
            continue
        for b in range(3):
            nb, wb = component(normal, b), component(way, b)
            turned = wb - around * group.numbers[c, AXIS + b]  # across the axis
            moves = late * ((1.0 if a == b else 0.0) - na * nb) - bend * na * turned
            moves -= bend * way[3] * (across_axis(c, a, b, group) - na * nb)
            if some(slides):
                square = where(slides, far * far, 1.0)
                moves -= where(slides, wa * (late * wb - bend * way[3] * turned) / square, 0.0)
            slope = press[0] * inverse * (mu * moves + late * wa * component((mx, my, mz), b))
            tangent.block[node, 3 * a + b] += trial.weight * (slope + mu * inverse * wa * component(rises, b))


@inner_kernel
def coefficient(
    c: int, way: Numbers, normal: Numbers, far: float, late: float, trial: Trial, group: Contacts
) -> tuple[float, float, float, float]:
    """Of friction along a way of length ``far`` across the normal, and its derivative by the way."""
    axial, lateral = group.numbers[c, AXIAL], group.numbers[c, LATERAL]
    mu, mx, my, mz, turns = lateral, 0.0, 0.0, 0.0, (axial != lateral) & (far != 0.0)
    if some(turns):
        i, j, early = 3 * group.chord[c, 0], 3 * group.chord[c, 1], 1.0 - late
        place, u0, u1 = trial.place, trial.u0, trial.u1
        tx = place[j] - place[i] + late * (u1[j] - u1[i]) + early * (u0[j] - u0[i])
        ty = place[j + 1] - place[i + 1] + late * (u1[j + 1] - u1[i + 1]) + early * (u0[j + 1] - u0[i + 1])
        tz = place[j + 2] - place[i + 2] + late * (u1[j + 2] - u1[i + 2]) + early * (u0[j + 2] - u0[i + 2])
        x, y, z, nx, ny, nz = way[0], way[1], way[2], normal[0], normal[1], normal[2]
        across = nx * tx + ny * ty + nz * tz
        tx, ty, tz = tx - across * nx, ty - across * ny, tz - across * nz
        length = math.sqrt(tx * tx + ty * ty + tz * tz)
        turns = turns & (length != 0.0)
        length, far = where(turns, length, 1.0), where(turns, far, 1.0)
        cosine = (tx * x + ty * y + tz * z) / (length * far)
        more = axial * axial - lateral * lateral
        mu = where(turns, math.sqrt(max(lateral * lateral + more * cosine * cosine, 0.0)), lateral)
        is_curved, turn = turns & (mu > 0.0), 0.0
        if some(is_curved):
            turn = where(is_curved, more * cosine / (where(is_curved, mu, 1.0) * far), 0.0)
        mx = turn * (tx / length - cosine * x / far)
        my = turn * (ty / length - cosine * y / far)
        mz = turn * (tz / length - cosine * z / far)
    return mu, mx, my, mz


SEABED = Family(
    "seabed",
    assemble,
    evaluate,
    wanted=lambda model: any(bed.grid is None for bed in model.seabeds) or bool(model.cylinders),
    states=lambda group: np.column_stack([group.anchors, np.zeros_like(group.anchors)]).ravel(),
    remembers=lambda group: bool((group.numbers[:, SLIP] > 0.0).any()),
    touching=lambda group: np.column_stack([group.nodes, group.first + REMEMBERED * np.arange(len(group.nodes)) + 3]),
    symmetric=False,
    smooth=False,
    kinked=True,
    grounded=True,
    stiffest=stiffest,
    at_rest=at_rest,
)
