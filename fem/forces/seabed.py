"""A plane bottom below lines: it pushes back, damps what sinks in, and rubs on what lies on it. Nodes touch it.

With the depth g of a node below the plane, its rate g', the area a of its bars on the bottom and the normal n:

    N = K a max(g, 0) + C a min(g/delta, 1) max(g', 0)  along n,    K a g^2/2 is stored
    f = - mu N min(|d|/gamma, 1) d/|d|  in the plane,    mu^2 = axial^2 cos^2 + lateral^2 sin^2

d is the way in the plane from an anchor, which follows at the distance gamma where it is farther, and stays with nodes
that do not touch; its angle is that with the chord of the neighbours. How mu turns with the chord is left out of the
tangent: it is smaller than the rest by gamma over the length of a bar, and a pair for each bar would cost more.
The ramp delta makes a full Newton step over the landing possible. Source: CableDyn 0.3 (form of mu), MoorDyn 2 (K, C).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats, Ints, Vector
from fem.compiled import called_kernel, inner_kernel
from fem.forces.bars.bar import INV_LENGTH
from fem.forces.protocol import Family, Tangent, Trial

STIFFNESS, DAMPING, DEPTH, RAMP, AXIAL, LATERAL, SLIP, RUBS_IN_STATICS, NORMAL = 0, 1, 2, 3, 4, 5, 6, 7, 8
NUMBERS = 11
"""Columns of ``Contacts.numbers``; DEPTH: of the reference position; NORMAL: three of them."""
TOUCH = 1e-9
"""Depth, over the ramp, of nodes that are taken to touch."""
REMEMBERED = 6
"""States of a contact: u of its anchor, and the force on the node."""


class Contacts(NamedTuple):
    """c nodes that may touch a bottom; a node between bars above two of them counts twice.

    nodes (c,);  chord (c, 2) the nodes before and after along the line;  numbers (c, NUMBERS);  anchors (c, 3) u of
    the anchors at first;  first of their states
    """

    nodes: Ints
    chord: Ints
    numbers: Floats
    anchors: Floats
    first: int


def assemble(model: Any, system: Any, pair: int, state: int) -> Contacts:
    """All contacts of a model."""
    parts = [contacts_of(bed, model, system) for bed in model.seabeds]
    nodes = np.concatenate([np.zeros(0, np.int64), *(nodes for nodes, _, _ in parts)])
    chord = np.concatenate([np.zeros((0, 2), np.int64), *(chord for _, chord, _ in parts)])
    numbers = np.concatenate([np.zeros((0, NUMBERS)), *(numbers for _, _, numbers in parts)])
    return Contacts(nodes, chord, numbers, first_anchors(nodes, numbers, model, system), state)


def first_anchors(nodes: Ints, numbers: Floats, model: Any, system: Any) -> Floats:
    """(c, 3) u of the anchors: where nodes are, or as given; behind those that slide, by the slip."""
    field = {kind: np.zeros(system.size) for kind in ("DISPLACEMENT", "VELOCITY", "ANCHOR")}
    held = np.zeros(system.size, np.bool_)
    for given in model.initial_conditions:
        if given.kind in field:
            dofs = 3 * system.nodes_of(given.target) + given.dof - 1
            field[given.kind][dofs] = given.value
            held[dofs] |= given.kind == "ANCHOR"
    u, v, anchors = (each.reshape(-1, 3)[nodes] for each in field.values())
    normal = numbers[:, NORMAL:]
    touches = numbers[:, DEPTH] > (normal * u).sum(axis=1)
    v = np.where(touches[:, None], v - (normal * v).sum(axis=1)[:, None] * normal, 0.0)
    speed = np.sqrt((v * v).sum(axis=1))[:, None]
    behind = u - numbers[:, SLIP, None] * np.divide(v, speed, out=np.zeros_like(v), where=speed > 0.0)
    return np.where(held.reshape(-1, 3)[nodes], anchors, behind)


def contacts_of(bed: Any, model: Any, system: Any) -> tuple[Ints, Ints, Floats]:
    """Nodes, chords and numbers of one bottom."""
    mesh = model.mesh
    elements = mesh.bars_in(bed.element_set)
    ends = mesh.element_nodes[elements]
    nodes = np.unique(ends)
    half = ~system.gone[elements] * 0.5 * bed.width / system.bars.constants[INV_LENGTH, system.family[elements, 1]]
    area = np.bincount(ends.ravel(), np.repeat(half, 2), len(mesh.node_labels))[nodes]
    numbers = np.zeros((len(nodes), NUMBERS))
    numbers[:, STIFFNESS], numbers[:, DAMPING] = bed.stiffness * area, bed.damping * area
    numbers[:, DEPTH] = bed.depth(mesh.coordinates[nodes], mesh.up)
    numbers[:, RAMP:NORMAL] = bed.ramp, bed.axial, bed.lateral, bed.slip, bed.rubs_in_statics
    numbers[:, NORMAL:] = bed.normal(mesh.up)
    return nodes, neighbours(nodes, ends), numbers


def stiffest(own: Contacts, u: Floats, dt: float) -> Contacts:
    """All nodes touch, as those above the bottom may soon; a damper C bounds increments as a spring 4 C/dt does."""
    numbers = own.numbers.copy()
    depth = numbers[:, DEPTH] - (numbers[:, NORMAL:] * u.reshape(-1, 3)[own.nodes]).sum(axis=1)
    numbers[:, DEPTH] += np.maximum(TOUCH * numbers[:, RAMP] - depth, 0.0)
    numbers[:, STIFFNESS] += 4.0 / dt * numbers[:, DAMPING]
    return own._replace(numbers=numbers)


def neighbours(nodes: Ints, ends: Ints) -> Ints:
    """(c, 2) of each node the other ends of its first two bars; itself in place of the second where it has one bar."""
    found: dict[int, list[int]] = {node: [] for node in nodes.tolist()}
    for first, second in ends.tolist():
        found[first].append(second)
        found[second].append(first)
    return np.array([[*others, node][:2] for node, others in found.items()], np.int64).reshape(-1, 2)


@called_kernel
def evaluate(trial: Trial, own: Contacts, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Forces and tangents of all contacts; the energy that the bottom stores."""
    energy = 0.0
    for c in range(own.nodes.shape[0]):
        energy += touch(c, trial, own, force, flow, tangent)
    return energy


@inner_kernel
def touch(c: int, trial: Trial, own: Contacts, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """One contact; writes its states."""
    node, state = own.nodes[c], own.first + REMEMBERED * c
    depth = depth_of(c, trial.u1, own)
    before = depth_of(c, trial.u0, own) if trial.secant else depth
    for a in range(3):
        trial.state1[state + a], trial.state1[state + 3 + a] = trial.u1[3 * node + a], 0.0
    if depth <= 0.0 and before <= 0.0:
        return 0.0
    push, lost, stiff = normal_force(c, before, depth, trial, own)
    for a in range(3):
        along = own.numbers[c, NORMAL + a]
        give(c, a, -push * along, -lost * along, trial, own, force, flow)
        for b in range(3):
            tangent.block[node, 3 * a + b] += trial.weight * stiff * along * own.numbers[c, NORMAL + b]
    if push + lost > 0.0 and (trial.rate != 0.0 or own.numbers[c, RUBS_IN_STATICS] != 0.0):
        rub(c, (push + lost, stiff, depth), trial, own, force, flow, tangent)
    energy: float = 0.5 * own.numbers[c, STIFFNESS] * max(depth, 0.0) ** 2
    return energy


@inner_kernel
def depth_of(c: int, u: Floats, own: Contacts) -> float:
    """Of a node below the plane."""
    depth: float = own.numbers[c, DEPTH]
    for a in range(3):
        depth -= own.numbers[c, NORMAL + a] * u[3 * own.nodes[c] + a]
    return depth


@inner_kernel
def give(c: int, a: int, stored: float, lost: float, trial: Trial, own: Contacts, force: Floats, flow: Floats) -> None:
    """Internal force in direction a: the part that comes from the stored energy, and the part that does not."""
    dof = 3 * own.nodes[c] + a
    force[dof] += stored + lost
    flow[dof] += lost
    trial.state1[own.first + REMEMBERED * c + 3 + a] -= stored + lost


@inner_kernel
def normal_force(c: int, before: float, depth: float, trial: Trial, own: Contacts) -> tuple[float, float, float]:
    """Spring and damper at one depth, or on the way between two, and the derivative of their sum by the second."""
    stiffness, damping, ramp = own.numbers[c, STIFFNESS], own.numbers[c, DAMPING], own.numbers[c, RAMP]
    middle, speed, share = depth, 0.0, 1.0
    push, stiff = stiffness * depth, stiffness
    if trial.secant:
        middle, speed, share = 0.5 * (before + depth), (depth - before) * trial.rate, 0.5
        push, stiff = stiffness * middle, 0.5 * stiffness
        if before <= 0.0 or depth <= 0.0:  # (W1 - W0)/(g1 - g0), W = K a max(g, 0)^2/2
            part = max(before, depth) / (depth - before)
            push = 0.5 * stiffness * max(before, depth) * abs(part)
            stiff = stiffness * (part - 0.5 * part * part if depth > 0.0 else 0.5 * part * part)
    elif trial.rate != 0.0:
        for a in range(3):
            speed -= own.numbers[c, NORMAL + a] * trial.v1[3 * own.nodes[c] + a]
    if speed <= 0.0 or middle <= 0.0 or trial.rate == 0.0:
        return push, 0.0, stiff
    whole = min(middle / ramp, 1.0)
    stiff += damping * (whole * trial.rate + (share * speed / ramp if middle < ramp else 0.0))
    return push, damping * whole * speed, stiff


@inner_kernel
def way_of(c: int, late: float, trial: Trial, own: Contacts) -> tuple[float, float, float]:
    """From the anchor to the node, in the plane; late: 0 at the start of the increment, 1 at its end."""
    dof, state, numbers = 3 * own.nodes[c], own.first + REMEMBERED * c, own.numbers
    x = late * trial.u1[dof] + (1.0 - late) * trial.u0[dof] - trial.state0[state]
    y = late * trial.u1[dof + 1] + (1.0 - late) * trial.u0[dof + 1] - trial.state0[state + 1]
    z = late * trial.u1[dof + 2] + (1.0 - late) * trial.u0[dof + 2] - trial.state0[state + 2]
    across = numbers[c, NORMAL] * x + numbers[c, NORMAL + 1] * y + numbers[c, NORMAL + 2] * z
    return x - across * numbers[c, NORMAL], y - across * numbers[c, NORMAL + 1], z - across * numbers[c, NORMAL + 2]


@inner_kernel
def rub(c: int, press: Vector, trial: Trial, own: Contacts, force: Floats, flow: Floats, tangent: Tangent) -> None:
    """Friction of a contact, and its anchor; press: normal force, its derivative by the depth, the depth."""
    normal, stiff, depth = press
    node, state, slip = own.nodes[c], own.first + REMEMBERED * c, own.numbers[c, SLIP]
    if slip == 0.0:
        return
    way = way_of(c, 1.0, trial, own)
    far = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    kept = min(slip / max(far, slip), 1.0) if depth > 0.0 else 0.0
    for a in range(3):
        trial.state1[state + a] -= kept * (way[0] if a == 0 else way[1] if a == 1 else way[2])
    late = 0.5 if trial.secant else 1.0
    if trial.secant:
        way = way_of(c, 0.5, trial, own)
        far = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    mu, mx, my, mz = coefficient(c, way[0], way[1], way[2], far, late, trial, own)
    slides, inverse = far >= slip, 1.0 / max(far, slip)
    for a in range(3):
        wa, na = way[0] if a == 0 else way[1] if a == 1 else way[2], own.numbers[c, NORMAL + a]
        give(c, a, 0.0, mu * normal * inverse * wa, trial, own, force, flow)
        for b in range(3):
            wb, nb = way[0] if b == 0 else way[1] if b == 1 else way[2], own.numbers[c, NORMAL + b]
            mb = mx if b == 0 else my if b == 1 else mz
            turn = (1.0 if a == b else 0.0) - na * nb - (wa * wb / (far * far) if slides else 0.0)
            slope = late * normal * inverse * (mu * turn + wa * mb) - mu * inverse * wa * stiff * nb
            tangent.block[node, 3 * a + b] += trial.weight * slope


@inner_kernel
def coefficient(
    c: int, x: float, y: float, z: float, far: float, late: float, trial: Trial, own: Contacts
) -> tuple[float, float, float, float]:
    """Of friction along a way of length ``far`` in the plane, and its derivative by the way."""
    axial, lateral = own.numbers[c, AXIAL], own.numbers[c, LATERAL]
    if axial == lateral or far == 0.0:
        return lateral, 0.0, 0.0, 0.0
    i, j, early = 3 * own.chord[c, 0], 3 * own.chord[c, 1], 1.0 - late
    place, u0, u1 = trial.place, trial.u0, trial.u1
    tx = place[j] - place[i] + late * (u1[j] - u1[i]) + early * (u0[j] - u0[i])
    ty = place[j + 1] - place[i + 1] + late * (u1[j + 1] - u1[i + 1]) + early * (u0[j + 1] - u0[i + 1])
    tz = place[j + 2] - place[i + 2] + late * (u1[j + 2] - u1[i + 2]) + early * (u0[j + 2] - u0[i + 2])
    nx, ny, nz = own.numbers[c, NORMAL], own.numbers[c, NORMAL + 1], own.numbers[c, NORMAL + 2]
    across = nx * tx + ny * ty + nz * tz
    tx, ty, tz = tx - across * nx, ty - across * ny, tz - across * nz
    length = math.sqrt(tx * tx + ty * ty + tz * tz)
    if length == 0.0:
        return lateral, 0.0, 0.0, 0.0
    cosine = (tx * x + ty * y + tz * z) / (length * far)
    more = axial * axial - lateral * lateral
    mu = math.sqrt(max(lateral * lateral + more * cosine * cosine, 0.0))
    turn = more * cosine / (mu * far) if mu > 0.0 else 0.0
    sx, sy, sz = tx / length - cosine * x / far, ty / length - cosine * y / far, tz / length - cosine * z / far
    return mu, turn * sx, turn * sy, turn * sz


SEABED = Family(
    "seabed",
    assemble,
    evaluate,
    wanted=lambda model: bool(model.seabeds),
    states=lambda own: np.column_stack([own.anchors, np.zeros_like(own.anchors)]).ravel(),
    touching=lambda own: np.column_stack([own.nodes, own.first + REMEMBERED * np.arange(len(own.nodes)) + 3]),
    symmetric=False,
    smooth=False,
    kinked=True,
    stiffest=stiffest,
)
