"""Lines that twist: which angles do, the spins of their bars, directors and shape at rest.

A bar that twists has one more unknown, the angle by which it spins about itself. A line twists if all its bars have
J and one of these holds: two of its ends hold the twist (clamps with dofs 4 to 6), it is closed, it is bent at rest,
its section is not round, its tension untwists it (COUPLING). In all other lines nothing could twist them.

The director D of a bar lies across it and spins with it. Along a line at rest it is carried from bar to bar by the
smallest rotation, from the direction n1 of the section. The twist of an angle is the angle from D of its first bar,
carried to the second, to D of the second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, parts
from fem.model.beams import angles_of
from fem.model.facts import natural_lengths
from fem.model.mesh import Mesh

BENT = 1e-4
"""Largest bend [radians] of a line that counts as straight: coordinates in decks have few digits."""
FOLDED = np.radians(177.0)
"""Bend beyond which a line is folded back on itself (forces begin to be refused at 177.4 degrees)."""
N1 = (0.0, 0.0, -1.0)
"""The direction of the first axis of sections that are not round and name none (as in Abaqus)."""
ALONG = 1e-6
"""Sine of the angle to the line below which a direction of the first axis is along it."""

ASKEW = np.radians(1.0)
"""Angle from n1 of a section across a bar to its first axis from which on it is told."""


class NoTwist(ValueError):
    """A line needs torsion and cannot have it.  bar: the index of one of its elements"""

    def __init__(self, what: str, bar: int) -> None:
        super().__init__(what)
        self.bar = bar


class Twists(NamedTuple):
    """k angles that twist; s frames, of bars and of clamps; q spins.

    angles (k,)    their indices among ``Model.bent_at``
    frames (k, 2)  the frame of the first bar or of the clamp, and of the second bar
    turns  (k, 2)  1.0 where the angle runs along the bar as its element does, -1.0 where it runs back
    beside (k,)    at a clamp on a body that holds the twist a node of it beside the line, else -1
    spin   (s,)    spin of each frame: a clamp that does not hold the twist spins with its bar; -1: of a body
    director (s, 3)  D in the deck
    bars   (q,)    the element of each spin;  node (q,): the node of a clamp that holds the twist, else -1
    radius (q,)    r, spins are counted as lengths r a
    rest   (k, 3)  curvatures (times l) about n1 and n2, and twist, at rest;  twist (k,): in the deck
    askew  (k,)    angle from half-way between both directors to the first of the axes about which an angle bends
    stiffness (k, 3)  EI1/l, EI2/l, GJ/l, 0 where the twist is free;  viscosity (k, 3)  BETA times these
    over   (k, 2)  1/l of bending and of twist
    """

    angles: Ints
    frames: Ints
    turns: Floats
    beside: Ints
    spin: Ints
    director: Floats
    bars: Ints
    node: Ints
    radius: Floats
    rest: Floats
    askew: Floats
    twist: Floats
    stiffness: Floats
    viscosity: Floats
    over: Floats


def unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def carry(v: Floats, before: Floats, after: Floats) -> Floats:
    """v, across ``before``, turned as this unit vector turns to ``after`` by the smallest rotation."""
    return np.asarray(v - (v @ after) / (1.0 + before @ after) * (before + after))


def across(t: Floats) -> Floats:
    """A unit vector across t."""
    axis = np.eye(3)[np.abs(t).argmin()]
    return unit(axis - (axis @ t) * t)


def curvatures(t1: Floats, t2: Floats, director: Floats, turn: Floats) -> Floats:
    """(k, 2) phi/|kb| (A.kb, B.kb) of angles, as in ``forces/twist.py``; director (k, 3): of first bars, turn (k,): to
    A."""
    normal = np.cross(t1, t2)
    size, cosine, sine = np.linalg.norm(normal, axis=1), np.cos(turn), np.sin(turn)
    f = np.divide(np.arctan2(size, (t1 * t2).sum(axis=1)), size, out=np.ones_like(size), where=size > 0.0)
    x, y = (f * (normal * side).sum(axis=1) for side in (director, np.cross(t1, director)))
    return np.column_stack([cosine * x + sine * y, cosine * y - sine * x])


def find_twists(model: Any) -> Twists | None:
    """The twist of the lines of a model; None: nothing twists. NoTwist: a line needs J."""
    if not (model.may_twist and model.bends):
        return None
    sections = [section for section in model.sections if section.inertia]
    mesh, (nodes, bars), lengths = model.mesh, model.bent_at, natural_lengths(model.mesh, model.rest_lengths)
    own = dict[int, Any]()
    for section in sections:
        own |= dict.fromkeys(mesh.element_sets[section.element_set].tolist(), section)
    straight = straightened(model.sections, mesh, bars)
    phi = bends(mesh, nodes)
    bent = (phi > BENT) & ~straight
    beside = _beside(model, nodes, bars)
    holds = _holding(model, nodes) | (beside >= 0)
    chosen = list[int]()
    for section in (each for each in sections if each.coupling):
        material = model.materials[section.material]
        if not coupled(section, material) < 1.0:
            raise NoTwist(
                f"the square of COUPLING={section.coupling:g} is not below EA GJ: it would have no stable state",
                int(mesh.element_sets[section.element_set][0]),
            )
    for line, its_angles in _lines(bars, len(lengths)):
        its = [own[bar] for bar in line if bar in own]
        missing = next((bar for bar in line if bar in own and not own[bar].torsion), -1)
        why = ""
        if any(section.coupling for section in its):
            why = "COUPLING couples its tension with its torsion"
        elif any(section.second for section in its):
            why = "its section is not round"
        elif bent[its_angles].any() and any(section.torsion for section in its):  # without J it is straight at rest
            why = "it is bent at rest"
        if why and missing >= 0:
            raise NoTwist(f"{why}, and it has no torsion constant J: it would spin freely", missing)
        is_closed = np.count_nonzero(bars[its_angles, 0] >= 0) >= len(line)
        if missing < 0 and (why or is_closed or np.count_nonzero(holds[its_angles]) > 1):
            chosen += its_angles
    if not chosen:
        return None
    angles = np.array(sorted(chosen), np.int64)
    is_finite = (np.isfinite(lengths[bars]) | (bars < 0)).all(axis=1)
    for at in angles[~(is_finite & (phi < FOLDED))[angles]][:1].tolist():
        what = "it is folded back on itself" if is_finite[at] else "it is too long for numbers"
        raise NoTwist(what, int(bars[at, 1]))
    return _made(model, angles, own, holds, beside, straight, lengths)


def beside_n1(model: Any, found: Twists) -> tuple[int, int, float] | None:
    """The bar whose first axis is farthest from n1 of its section, across it; the one from which it is carried there,
    and the angle [radians]; None: below ``ASKEW``. A half turn of a section changes nothing."""
    elements, mesh = np.unique(model.bent_at[1][found.angles]), model.mesh
    elements = elements[elements >= 0]
    worst: tuple[int, int, float] | None = None
    for section in (section for section in model.sections if section.second):
        own = np.flatnonzero(np.isin(elements, mesh.element_sets[section.element_set]))
        if not len(own):
            continue
        first, second = mesh.element_nodes[elements[own]].T
        t, n1 = unit(mesh.coordinates[second] - mesh.coordinates[first]), unit(np.array(_n1(section)))
        sides, directors = n1 - (t @ n1)[:, None] * t, found.director[own]
        sines, cosines = np.linalg.norm(np.cross(sides, directors), axis=1), np.abs((sides * directors).sum(axis=1))
        angles = np.arctan2(sines, cosines)
        at = int(angles.argmax())
        if angles[at] > (worst[2] if worst else ASKEW):
            worst = int(elements[own[at]]), int(elements[own[0]]), float(angles[at])
    return worst


def curved_bars(model: Any) -> Ints:
    """Bars beside angles that are bent at rest, in the shape that is drawn: the deck has these nodes of it only."""
    if (found := find_twists(model)) is None:
        return np.zeros(0, np.int64)
    bars = model.bent_at[1][found.angles[found.rest[:, :2].any(axis=1)]]
    return np.unique(bars[bars >= 0])


def shear_modulus(section: Any, material: Any) -> float:
    """G of a section, or of its material."""
    return float(section.shear or material.young / (2.0 * (1.0 + material.poisson)))


def coupled(section: Any, material: Any) -> float:
    """C^2/(EA GJ), below 1 where tension and torsion have a stable state; infinite without torsion."""
    both = material.young * section.area * shear_modulus(section, material) * section.torsion
    return float(section.coupling**2 / both) if both > 0.0 else np.inf


def straightened(sections: Iterable[Any], mesh: Mesh, bars: Ints) -> Flags:
    """(k,) angles between bars of which one is straight at rest although it may be drawn bent."""
    found = np.zeros(len(mesh.element_labels) + 1, np.bool_)
    for section in sections:
        if section.is_straight:
            found[mesh.element_sets[section.element_set]] = True
    return np.asarray(found[bars].any(axis=1))


def bends(mesh: Mesh, nodes: Ints) -> Floats:
    """(k,) angle between the bars of each angle in the deck; 0 at clamps."""
    before, node, after = nodes.T
    first, second = (mesh.coordinates[j] - mesh.coordinates[i] for i, j in ((before, node), (node, after)))
    with np.errstate(over="ignore", invalid="ignore"):  # infinite lengths are refused later
        phi = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), (first * second).sum(axis=1))
    return np.asarray(np.where(before < 0, 0.0, phi))


def _lines(bars: Ints, count: int) -> Iterable[tuple[list[int], list[int]]]:
    """Lines: bars that angles join, with their angles; ``count``: number of elements."""
    part, found = parts(count, bars[bars[:, 0] >= 0].tolist()).tolist(), dict[int, tuple[list[int], list[int]]]()
    for bar in np.unique(bars[bars >= 0]).tolist():
        found.setdefault(part[bar], ([], []))[0].append(bar)
    for at, bar in enumerate(bars[:, 1].tolist()):
        found[part[bar]][1].append(at)
    return found.values()


def _holding(model: Any, nodes: Ints) -> Flags:
    """(angles,) clamps that hold the twist: dofs 4 to 6 of their node are held in space."""
    held = dict[int, set[int]]()
    for each in model.rotations:
        held.setdefault(int(model.mesh.nodes_of(each.target)[0]), set()).add(each.dof)
    whole = np.array([node for node, dofs in held.items() if dofs >= {4, 5, 6}], np.int64)
    fixed = (model.bent_at[1][:, 0] < 0) & (nodes[:, 0] < 0)
    return np.asarray(fixed & np.isin(nodes[:, 1], whole))


BESIDE = "_BESIDE"
"""First word of the name of a set of nodes of a body beside lines that are clamped on it at a node."""


def _beside(model: Any, nodes: Ints, bars: Ints) -> Ints:
    """(k,) at clamps on bodies the node of the body beside the line, else -1."""
    found, sets = np.full(len(nodes), -1), model.mesh.node_sets
    for node in np.unique(nodes[bars[:, 0] < 0, 1]).tolist():
        its = sets.get(f"{BESIDE} {model.mesh.node_labels[node]}", found[:0])
        places = np.flatnonzero((bars[:, 0] < 0) & (nodes[:, 1] == node) & (nodes[:, 0] >= 0))
        if len(its) == len(places):
            found[places] = its
    return found


def _made(
    model: Any, chosen: Ints, own: dict[int, Any], holds: Flags, beside: Ints, straight: Flags, lengths: Floats
) -> Twists:
    mesh, (nodes, bars) = model.mesh, (each[chosen] for each in model.bent_at)
    holds, beside, ends = holds[chosen], beside[chosen], mesh.element_nodes
    elements = np.unique(bars[bars >= 0])
    clamps, whole = np.flatnonzero(bars[:, 0] < 0), np.flatnonzero(holds & (beside < 0))
    frames = elements.searchsorted(bars)
    spin = np.concatenate([np.arange(len(elements)), frames[clamps, 1]])
    frames[clamps, 0] = len(elements) + np.arange(len(clamps))
    spin[frames[whole, 0]] = len(elements) + np.arange(len(whole))
    spin[frames[beside >= 0, 0]] = -1
    owner = np.concatenate([elements, bars[whole, 1]])
    node = np.concatenate([np.full(len(elements), -1), nodes[whole, 1]])
    forward = [ends[bars[:, 0], 1] == nodes[:, 1], ends[bars[:, 1], 0] == nodes[:, 1]]
    turns = np.where(np.array(forward).T, 1.0, -1.0)
    turns[bars[:, 0] < 0, 0] = turns[bars[:, 0] < 0, 1]
    way = np.zeros((len(ends), 3))
    way[elements] = unit(mesh.coordinates[ends[elements, 1]] - mesh.coordinates[ends[elements, 0]])
    director = _directors(elements, bars, turns, own, way)
    full = np.zeros((len(way), 3))
    full[elements] = director
    first = np.where(bars[:, 0] < 0, bars[:, 1], bars[:, 0])
    t1, t2 = turns[:, :1] * way[first], turns[:, 1:] * way[bars[:, 1]]
    start = full[first]
    arms = mesh.coordinates[beside] - mesh.coordinates[nodes[:, 1]]
    arms -= (arms * t1).sum(axis=1, keepdims=True) * t1
    start[beside >= 0] = unit(arms[beside >= 0])
    moved = np.array([carry(d, a, b) for d, a, b in zip(start, t1, t2, strict=True)]).reshape(-1, 3)
    after = full[bars[:, 1]]
    twist = np.arctan2((np.cross(moved, after) * t2).sum(axis=1), (moved * after).sum(axis=1))
    twist[np.abs(twist) < 1e-15] = 0.0
    named = np.array([_n1(own[int(i)]) != _n1(own[int(j)]) for i, j in zip(first, bars[:, 1], strict=True)], bool)
    named |= beside >= 0
    straight = straight[chosen]
    turned = np.where(straight & ~named, 0.0, twist)
    angles = angles_of(mesh, model.bent_at, model.sections, model.materials, lengths)
    other = [replace(section, inertia=section.second or section.inertia) for section in model.sections]
    second = angles_of(mesh, model.bent_at, other, model.materials, lengths)
    shear, beta = np.ones(len(way)), np.zeros(len(way))
    for section in (each for each in model.sections if each.torsion):
        material, its = model.materials[section.material], mesh.element_sets[section.element_set]
        shear[its], beta[its] = shear_modulus(section, material) * section.torsion, material.beta
    halves = np.where(bars >= 0, 0.5 * lengths[bars], 0.0) / shear[bars]
    soft = halves.sum(axis=1)
    torsion = np.where((bars[:, 0] < 0) & ~holds, 0.0, 1.0 / soft)
    damped = np.where(torsion > 0.0, (beta[bars] * halves).sum(axis=1) / soft**2, 0.0)
    parts = np.stack([angles.parts[chosen], second.parts[chosen]], axis=2)
    more = principal(parts, turned)
    askew, softness = 0.5 * turned + more, summed(parts, turned, more)
    stiffness = np.column_stack([1.0 / softness, torsion])
    viscosity = np.column_stack([summed(beta[bars][..., None] * parts, turned, more) / softness**2, damped])
    rest = np.column_stack([curvatures(t1, t2, start, 0.5 * twist + askew), turned])
    rest[straight, :2] = 0.0
    polar = np.array([own[int(bar)].inertia + (own[int(bar)].second or own[int(bar)].inertia) for bar in owner])
    radius = np.sqrt(polar / np.array([own[int(bar)].area for bar in owner]))
    halves = np.where(bars >= 0, 0.5 * lengths[bars], 0.0).sum(axis=1)
    over = np.column_stack([1.0 / angles.length[chosen], 1.0 / halves])
    directors = np.concatenate([director, start[clamps]])
    return Twists(
        chosen, frames, turns, beside, spin, directors, owner, node, radius, rest, askew, twist, stiffness,
        viscosity, over,
    )  # fmt: skip


def summed(soft: Floats, turn: Floats, angle: Floats) -> Floats:
    """(k, 2) what two bars in a row give way to moments about two axes, turned by ``angle`` from those of the second;
    soft (k, 2, 2): of each bar about its own axes, ``turn`` (k,): from those of the first to those of the second."""
    found = np.zeros((len(soft), 2))
    for bar, at in ((0, angle + turn), (1, angle)):
        square = np.column_stack([np.cos(at) ** 2, np.sin(at) ** 2])
        found += np.column_stack([(soft[:, bar] * square).sum(axis=1), (soft[:, bar, ::-1] * square).sum(axis=1)])
    return found


def principal(soft: Floats, turn: Floats) -> Floats:
    """(k,) angle, up to 45 degrees, to the axes about which moments bend two bars about themselves only."""
    unlike = soft[:, :, 0] - soft[:, :, 1]
    x, y = unlike[:, 1] + unlike[:, 0] * np.cos(2.0 * turn), -unlike[:, 0] * np.sin(2.0 * turn)
    sign = np.where(x < 0.0, -1.0, 1.0)
    return np.where(np.hypot(x, y) > 1e-9 * soft.sum(axis=(1, 2)), 0.5 * np.arctan2(sign * y, sign * x), 0.0)


def _n1(section: Any) -> tuple[float, ...] | None:
    direction = section.direction or (N1 if section.second else None)
    return direction


def _directors(elements: Ints, bars: Ints, turns: Floats, own: dict[int, Any], way: Floats) -> Floats:
    """(bars, 3) D of the elements, carried along lines from n1 of their sections. NoTwist: n1 is along a bar."""
    beside = dict[int, list[int]]()
    for at, pair in enumerate(bars.tolist()):
        for bar in pair if pair[0] >= 0 else []:
            beside.setdefault(bar, []).append(at)
    found = dict[int, Floats]()

    def given(bar: int) -> Floats:
        n1, t = _n1(own[bar]), way[bar]
        if n1 is None:
            return across(t)
        side = unit(np.array(n1))
        if np.linalg.norm(np.cross(side, t)) < ALONG:
            if not own[bar].second:
                return across(t)
            named = ", ".join(f"{x:g}" for x in n1)
            raise NoTwist(f"the direction of its first axis ({named}) is along it", bar)
        return unit(side - (side @ t) * t)

    for start in elements.tolist():
        if start in found:
            continue
        found[start], waiting = given(start), [start]
        while waiting:
            bar = waiting.pop()
            for at in beside.get(bar, []):
                here = int(bars[at, 1] == bar)
                other = int(bars[at, 1 - here])
                if other in found:
                    continue
                if _n1(own[other]) != _n1(own[bar]):
                    found[other] = given(other)
                else:
                    t, to = turns[at, here] * way[bar], turns[at, 1 - here] * way[other]
                    found[other] = unit(carry(found[bar], t, to))
                waiting.append(other)
    return np.array([found[bar] for bar in elements.tolist()])
