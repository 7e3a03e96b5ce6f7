"""Bodies and rods of MoorDyn that move by themselves, as free bodies of a deck.

A body gets the masses of its points and rods: the sum, the common centre of mass and the tensor of inertia about it are
those of its reference node. Its volume lifts at its own centre of gravity and the added mass of its volume acts at its
origin, as in MoorDyn (source/Body.cpp). Its CdA acts on a member of length 1 and width 1 along z of the body through
the origin. Rods are members, chains of bars within the body, without mass: theirs is in the body.

    I = sum of I_i + m_i (|r_i|^2 1 - r_i r_i^T),    of a rod m d^2/8 about its axis, m (L^2/12 + d^2/16) across

The area CdEnd of both ends and the volume CaEnd of both half spheres are spread along a rod.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fem.arrays import Floats
from fem.tools.moordyn_files import Body, Moorings, Point, Rod, on_body


@dataclass(slots=True)
class Written:
    """Lines of a deck: the mesh and its properties, weights with lifts (GRAV, PB), forces, drag and added mass."""

    mesh: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    forces: list[str] = field(default_factory=list)
    water: list[str] = field(default_factory=list)


def numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(value)) for value in values)


def loose(moorings: Moorings) -> list[Body]:
    """Bodies and rods that move by themselves."""
    return [each for each in moorings.bodies.values() if each.is_loose]


def inertia_of(body: Body, points: list[Point]) -> tuple[float, Floats, Floats]:
    """Mass, centre (3,) and tensor of inertia about it (3, 3). DeckError: that of no body."""
    axes = np.array([on_body(axis, (0.0, 0.0, 0.0, *body.pose[3:])) for axis in np.eye(3).tolist()]).T
    parts = [(body.mass, np.array(on_body(body.centre, body.pose)), axes @ np.diag(body.inertia) @ axes.T)]
    parts += [(point.mass, np.array(point.place), np.zeros((3, 3))) for point in points]
    for rod in body.rods:
        first, last = map(np.array, rod.ends)
        along, mass = (last - first) / rod.length, rod.mass * rod.length
        across = mass * (rod.length**2 / 12.0 + rod.diameter**2 / 16.0)
        own = across * np.eye(3) + (mass * rod.diameter**2 / 8.0 - across) * np.outer(along, along)
        parts.append((mass, 0.5 * (first + last), own))
    total = sum(mass for mass, *_ in parts)
    if not total > 0.0:
        raise body.row.error("a free body needs a mass, its own or of its rods and points", 8)
    centre = np.asarray(sum(mass * place for mass, place, _ in parts) / total)
    tensor = np.zeros((3, 3))
    for mass, place, own in parts:
        arm = place - centre
        tensor += own + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    principal = np.linalg.eigvalsh(tensor)
    if not principal[1] > 0.0 or principal[2] > (1.0 + 1e-9) * (principal[0] + principal[1]):
        found = ", ".join(f"{value:.4g}" for value in principal)
        hint = "each must be at most the sum of the others, and two of them positive"
        raise body.row.error(f"no free body has the principal moments of inertia {found}", 10, hint)
    return float(total), centre, tensor


def written(moorings: Moorings, where: dict[int, list[int]], first: int, gravity: float, density: float) -> Written:
    """All free bodies; where: point -> its nodes;  first: labels from there on are free. DeckError: one cannot be."""
    found = Written()
    for body in loose(moorings):
        first = write_body(body, moorings, where, first, gravity, density, found)
    if "*ELSET, ELSET=MEMBERS" in found.mesh:
        found.mesh += ["*MATERIAL, NAME=MEMBERS", "*ELASTIC", "1."]
        found.mesh += ["*SOLID SECTION, ELSET=MEMBERS, MATERIAL=MEMBERS", "1."]
    return found


def write_body(
    body: Body, moorings: Moorings, where: dict[int, list[int]], first: int, gravity: float, density: float,
    found: Written,
) -> int:  # fmt: skip
    """One body; returns the next free label."""
    own = [point for point in moorings.points.values() if point.body == body.name]
    mass, centre, tensor = inertia_of(body, own)
    for point in own:
        if point.label not in where and (point.volume or point.drag_area or point.added):
            raise point.row.error("a point on a free body without a line has no volume, CdA or Ca", 6, "use a rod")
    name, reference = body.name, first
    tied = [label for point in own for label in where.get(point.label, [])]
    mesh = ["*NODE", f"{reference}, {numbers(centre)}"]

    def node(place: Floats | tuple[float, ...]) -> int:
        nonlocal first
        first += 1
        tied.append(first)
        mesh.append(f"{first}, {numbers(place)}")
        return first

    ends, held = list[tuple[Rod, list[int]]](), node(body.pose[:3]) if body.kind == "pinned" else 0
    for rod in body.rods:
        count = max(1, rod.row.count(9, "the number of segments")) if len(rod.row.words) > 9 else 1
        start, stop = map(np.array, rod.ends)
        ends.append((rod, [node(start + (stop - start) * at / count) for at in range(count + 1)]))
    if any(body.drag_area):
        made = body.drag_area[0], body.drag_area[2]
        if body.drag_area[0] != body.drag_area[1]:
            raise body.row.error("CdA of a body must be the same along x and y", 12)
        stick = tuple(on_body((0.0, 0.0, z), body.pose) for z in (-0.5, 0.5))
        rod = Rod(body.row, 0, (stick[0], stick[1]), 1.0, 0.0, made[0], 0.0, 2.0 * made[1] / math.pi, 0.0)
        ends.append((rod, [node(place) for place in stick]))
    lift, added = density * gravity * body.volume, density * body.volume * body.added[0]
    if lift:
        found.forces.append(f"{node(on_body(body.centre, body.pose))}, 3, {lift!r}")
    if len(set(body.added)) > 1 and body.volume:
        raise body.row.error("Ca of a body must be the same along all axes", 13)
    masses = [(name, reference, mass)] + ([(f"ADDED{name}", node(body.pose[:3]), added)] if added else [])
    for rod, labels in ends:
        set_name = f"{name}_MEMBER{rod.label}"
        mesh += [f"*ELEMENT, TYPE=T3D2, ELSET={set_name}"]
        for one, other in pairwise(labels):
            first += 1
            mesh.append(f"{first}, {one}, {other}")
        mesh += ["*ELSET, ELSET=MEMBERS", set_name]
        found.water += water_on(rod, set_name)
        found.weights += [f"{set_name}, PB, 1., {rod.diameter!r}"] if rod.label else []
    for set_name, at, value in masses:
        first += 1
        mesh += [f"*ELEMENT, TYPE=MASS, ELSET={set_name}", f"{first}, {at}", f"*MASS, ELSET={set_name}", repr(value)]
    first += 1
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    mesh += [f"*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA{name}", f"{first}, {reference}"]
    mesh += [f"*ROTARY INERTIA, ELSET=INERTIA{name}", numbers((ixx, iyy, izz, ixy, ixz, iyz))]
    mesh += [f"*NSET, NSET=ON_{name}", *map(str, tied), f"*RIGID BODY, REF NODE={reference}, PIN NSET=ON_{name}"]
    mesh += ["*BOUNDARY", f"{held}, 1, 3"] if held else []
    found.mesh += [*mesh, "*NSET, NSET=POINTS", str(reference)]
    found.weights.append(f"{name}, GRAV, {gravity!r}, 0., 0., -1.")
    return first + 1


def water_on(rod: Rod, name: str) -> list[str]:
    """Drag and added mass of a member; what its ends have is spread along it."""
    d, slender = rod.diameter, rod.diameter / rod.length
    along, added_along = 0.5 * rod.end_drag * slender, 2.0 / 3.0 * rod.end_added * slender
    lines = [f"{name}, FDD, 1., {d!r}, {rod.drag!r}"] if rod.drag else []
    lines += [f"{name}, FDT, 1., {d!r}, {along!r}"] if along else []
    inertia = f"{name}, FI, 1., {d!r}, {1.0 + rod.added!r}, {rod.added!r}, , {added_along!r}"
    return lines + ([inertia] if rod.added or added_along else [])
