"""Surfaces that nodes do not penetrate: ``*STOP PLANE``, ``*RIGID CYLINDER``, ``*SEABED``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.bathymetry import grid_of, parted
from fem.deck.cards import Bound, Card, Row
from fem.deck.draft import Draft
from fem.deck.kinds import (
    AMOUNT,
    ELEMENT_SET,
    PART,
    POSITIVE_NUMBER,
    REFERENCE,
    name_of,
    number,
    whole,
    within,
    word_for,
)
from fem.deck.lookup import Lookup
from fem.deck.source import Mistake
from fem.deck.table import DataLine, Parameters, Value, keyword, keyword_line
from fem.model import Mesh, RigidCylinder, Seabed, StopPlane
from fem.model.bathymetry import DepthGrid
from fem.model.loads import TOUCHES
from fem.model.mesh import BARS

Surface = TypeVar("Surface", Seabed, RigidCylinder, StopPlane)
FRICTION_HINT = "use *CONTROLS, IMPACT=MOREAU for friction, or remove FRICTION="


# ``*STOP PLANE``: a half-space that nodes do not enter. Its nodes and place are determined when all cards are read.
STOP_PLANE = Parameters(
    {
        "REF NODE": Value("node", REFERENCE),
        "NSET": Value("node_set", name_of("node")),
        "RESTITUTION": Value("restitution", PART, default=0.0, shown=True),
        "FRICTION": Value("friction", AMOUNT, default=0.0, shown=True),
    }
)
NORMAL = DataLine("the normal: nx, ny, nz", *3 * (Value("normal", what="a component of the normal", default=0.0),))


@keyword("STOP PLANE", "model", STOP_PLANE, extension="*STOP PLANE")
def stop_plane(card: Card, draft: Draft) -> None:
    """``nx, ny, nz``: away from the plane, to the side of the nodes."""
    given = STOP_PLANE.read(card, draft)
    row = draft.single_row(card, "the normal")
    given |= NORMAL.read(row, draft)
    if not any(given["normal"]):
        raise Mistake(row.place, "the normal of *STOP PLANE has no length", "it points to the side of the nodes")
    draft.planes.append((StopPlane(**given), card))


def built(
    draft: Draft, entries: list[tuple[Surface, Card]], build: Callable[[Surface, Card], Iterable[Surface]]
) -> tuple[Surface, ...]:
    """Surfaces built from their entries by ``build``; those with a mistake are reported and omitted."""
    found: list[Surface] = []
    for entry, card in entries:
        draft.card = card
        with draft.guard():
            found += build(entry, card)
    draft.card = None
    return tuple(found)


def build_planes(draft: Draft, mesh: Mesh, nodes: Lookup) -> tuple[StopPlane, ...]:
    """All planes; nodes that begin below their plane, and steps that cannot have planes, are mistakes."""

    def build(plane: StopPlane, card: Card) -> Iterator[StopPlane]:
        named = nodes.members(plane.node)
        if len(named) > 1:
            raise Mistake(card.field("REF NODE").place, f"REF NODE= takes one node, {plane.node} has {len(named)}")
        if len(named) and plane.node_set in mesh.node_sets:
            plane = replace(plane, node=int(mesh.node_labels[named[0]]))
            check_nodes(card, draft, mesh, plane)
            for number, step in enumerate(draft.steps if plane.friction > 0.0 else (), start=1):
                impact = step.controls.impact if step.controls and step.dynamic else ""
                if impact == "EVENT":
                    what = f"FRICTION= of *STOP PLANE is not possible with IMPACT=EVENT of step {number}"
                    raise Mistake(card.field("FRICTION").place, what, FRICTION_HINT)
            yield plane

    return built(draft, draft.planes, build)


def check_nodes(card: Card, draft: Draft, mesh: Mesh, plane: StopPlane) -> None:
    """Checks that no node begins below the plane or is its reference node."""
    pairs, place = plane.pairs(mesh), card.field("NSET").place
    for node in pairs[pairs[:, 0] == pairs[:, 1], 0].tolist():
        what = f"node {draft.as_written(mesh.node_labels[node])} is the reference node of the plane itself"
        raise Mistake(place, f"{what} (set {plane.node_set})")
    if not len(pairs) or draft.has_failed("NODE", "NGEN", "NFILL", "INCLUDE"):
        return
    depth = -plane.distances(mesh)
    deepest = int(depth.argmax())
    if depth[deepest] > TOUCHES * plane.size(mesh):
        label = draft.as_written(mesh.node_labels[pairs[deepest, 1]])
        hint = "the normal points to the side of the nodes"
        raise Mistake(place, f"node {label} begins {depth[deepest]:.6g} below the *STOP PLANE", hint)


# ``*RIGID CYLINDER``: piles, drums and rollers that nodes of lines touch. ``*SEABED``: a plane bottom below lines.
# Elements and elevation are determined when all cards are read.
SMALL = 0.01
"""Default ramp of the damping and slip of the friction, relative to the contact width."""
STEEPEST = 60.0
OF_MESH = ("NODE", "NGEN", "NFILL", "ELEMENT", "ELGEN", "INCLUDE")
"""Cards that determine the places of elements."""
TOO_DEEP = 10.0
"""Largest depth of a node below the bottom at the start, in widths D."""
STEEP = Bound(
    lambda x: abs(x) < STEEPEST,
    f"{{what}} must lie between -{STEEPEST:g} and {STEEPEST:g} degrees, got {{value:g}}",
    "UPHILL= gives the direction in which it rises, in degrees from +x",
)
BARS_OF = Value("element_set", ELEMENT_SET, default=None)
FRICTION = Value("rubs_in_statics", word_for({"DYNAMIC": False, "ALL": True}), default=False, shown=True)
SEABED = Parameters(
    ELSET=BARS_OF,
    ELEVATION=Value("elevation", default=0.0, shown=True),
    SLOPE=Value("slope", within(STEEP), default=0.0, shown=True),
    UPHILL=Value("uphill", default=0.0, shown=True),
    POINTS=Value("", whole(4), default=0),
    FRICTION=FRICTION,
)
OF_PLANES = ("ELEVATION", "SLOPE", "UPHILL")
RIGID_CYLINDER = Parameters(ELSET=BARS_OF, RADIUS=Value("radius", POSITIVE_NUMBER), FRICTION=FRICTION)
AXIS = DataLine(
    "two points of the axis: x, y, z of both",
    *(Value(name, what="a coordinate of a point of the axis") for name in ("point", "other") for _ in range(3)),
)
PRESSING = DataLine(
    "stiffness K, damping C, contact width D, ramp of the damping",
    Value("stiffness", POSITIVE_NUMBER, "the stiffness K"),
    Value("damping", AMOUNT, "the damping C", 0.0),
    Value("width", POSITIVE_NUMBER, "the contact width D"),
    Value("ramp", POSITIVE_NUMBER, "the ramp of the damping", None),
)
RUBBING = DataLine(
    "friction along the line, friction across it, slip",
    Value("axial", AMOUNT, "the coefficient of friction"),
    Value("lateral", AMOUNT, "the coefficient of friction across the line", None),
    Value("slip", POSITIVE_NUMBER, "the slip", None),
)


@keyword("SEABED", "model", SEABED, extension="*SEABED")
def seabed(card: Card, draft: Draft) -> None:
    """``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``; above them, the points of a grid."""
    given = SEABED.read(card, draft)
    table, below = parted(card, card.integer("POINTS", low=4, default=0) or 0)
    if table is not None:
        card.refuse(OF_PLANES, "is for a plane, the heights of a grid are in its points")
    grid = grid_of(table) if table else None
    rows = list(draft.rows(below))
    draft.seabeds.append((Seabed(**given, **contact(card, rows, draft), grid=grid), card))


def seabed_lines(bed: Seabed) -> list[str]:
    """Its card; a grid that came from a file is written into it."""
    if bed.grid is None:
        return [keyword_line("SEABED", **SEABED.written(bed)), *contact_lines(bed)]
    head = {name: text for name, text in SEABED.written(bed).items() if name not in OF_PLANES}
    x, y = np.meshgrid(bed.grid.x, bed.grid.y, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), bed.grid.z.ravel()]).tolist()
    rows = (", ".join(map(number, point)) for point in points)
    return [keyword_line("SEABED", **head, POINTS=str(bed.points)), *rows, *contact_lines(bed)]


@keyword("RIGID CYLINDER", "model", RIGID_CYLINDER, extension="*RIGID CYLINDER")
def rigid_cylinder(card: Card, draft: Draft) -> None:
    """Two points of the axis, then as of ``*SEABED``."""
    given, (row, *rows) = RIGID_CYLINDER.read(card, draft), draft.rows(card)
    given |= AXIS.read(row, draft)
    if given["point"] == given["other"]:
        raise Mistake(row.place, "both points of the axis are the same")
    if not rows:
        raise card.mistake("no stiffness", "a second data line: K, C, D: force per area and depth, damping, width")
    draft.cylinders.append((RigidCylinder(**given, **contact(card, rows, draft)), card))


def contact(card: Card, rows: list[Row], draft: Draft) -> dict[str, Any]:
    """Stiffness and friction of a surface: ``K, C, D, delta`` and, with friction, ``axial, lateral, gamma``."""
    if len(rows) > 2:
        raise Mistake(rows[2].place, f"*{card.keyword} takes two data lines: stiffness, and friction")
    found = PRESSING.read(rows[0], draft)
    usual = {"ramp": SMALL * found["width"], "slip": SMALL * found["width"]}
    if len(rows) > 1:
        found |= RUBBING.read(rows[1], draft)
        usual["lateral"] = found["axial"]
    return {name: usual[name] if value is None else value for name, value in found.items()}


def contact_lines(surface: Seabed | RigidCylinder) -> list[str]:
    return [PRESSING.written(surface)] + ([RUBBING.written(surface)] if surface.slip else [])


def build_cylinders(draft: Draft, mesh: Mesh) -> tuple[RigidCylinder, ...]:
    """All cylinders; nodes deep inside at the start are mistakes, and bars too long for the radius give a notice."""
    is_bar = mesh.is_of(*BARS)

    def build(cylinder: RigidCylinder, card: Card) -> Iterator[RigidCylinder]:
        elements = mesh.bars_in(cylinder.element_set)
        check_elements(card, draft, mesh, elements, is_bar, np.zeros(len(is_bar), np.bool_))
        check_depth(card, draft, cylinder, mesh, elements)
        if draft.has_failed(*OF_MESH):
            return
        ends = mesh.coordinates[mesh.element_nodes[elements]]
        if text := too_long(cylinder, np.linalg.norm(np.diff(ends, axis=1)[:, 0], axis=1)):
            draft.notice(text)
        yield cylinder

    return built(draft, draft.cylinders, build)


def too_long(cylinder: RigidCylinder, length: Floats) -> str:
    """Notice of bars that cut into the cylinder, as only nodes have contact: between two nodes on it, the middle of a
    bar of length h is at sqrt(R^2 - h^2/4) from the axis."""
    longest = float(length.max(initial=0.0))
    if longest <= cylinder.radius:
        return ""
    deep = cylinder.radius - float(np.sqrt(max(cylinder.radius**2 - 0.25 * longest**2, 0.0)))
    return (
        f"bars of up to {longest:.4g} are longer than the radius {cylinder.radius:.4g} of a *RIGID CYLINDER: only "
        f"their nodes touch it, so they cut {deep:.3g} deep into it between nodes; use shorter bars"
    )


def elevated(draft: Draft, bed: Seabed, card: Card) -> Seabed:
    """A bottom with its elevation: from its own card, or from that of the water."""
    if bed.grid is not None or card.has("ELEVATION") or draft.has_failed("AQUA"):
        return bed
    if draft.water is None:
        hint = "ELEVATION= is the height of the plane at x = y = 0, else that of *AQUA"
        raise card.mistake("the elevation of the seabed is missing", hint)
    return replace(bed, elevation=draft.water.seabed)


def build_seabeds(draft: Draft, mesh: Mesh) -> tuple[Seabed, ...]:
    """All bottoms with their elevations; elements that touch two of them, or lie deep below one, are mistakes."""
    is_bar = mesh.is_of(*BARS)
    taken = np.zeros(len(is_bar), np.bool_)

    def build(bed: Seabed, card: Card) -> Iterator[Seabed]:
        bed = elevated(draft, bed, card)
        elements = mesh.bars_in(bed.element_set)
        check_elements(card, draft, mesh, elements, is_bar, taken)
        check_depth(card, draft, bed, mesh, elements)
        if bed.grid is not None and not draft.has_failed(*OF_MESH):
            check_cover(card, draft, bed.grid, mesh, elements)
        taken[elements] = True
        yield bed

    return built(draft, draft.seabeds, build)


def check_cover(card: Card, draft: Draft, grid: DepthGrid, mesh: Mesh, elements: Ints) -> None:
    """A grid needs gravity along z; nodes beyond it get a notice."""
    if mesh.up != 2:
        raise card.mistake("a seabed with a grid needs gravity against z", "heights of a grid are along z")
    nodes = np.unique(mesh.element_nodes[elements])
    beyond = nodes[~grid.covers(mesh.coordinates[nodes])]
    if len(beyond):
        label = draft.as_written(mesh.node_labels[beyond[0]])
        reach = f"x from {grid.x[0]:g} to {grid.x[-1]:g} and y from {grid.y[0]:g} to {grid.y[-1]:g}"
        draft.notice(
            f"{card.place}: {len(beyond)} nodes begin beyond the grid of the seabed ({reach}), the first is {label}: "
            "there the bottom is as deep as at the edge of the grid"
        )


def check_elements(card: Card, draft: Draft, mesh: Mesh, elements: Ints, is_bar: np.ndarray, taken: np.ndarray) -> None:
    nothing = f"is not a bar: only T3D2 and T2D2 can touch a *{card.keyword}"
    for wrong, what in ((~is_bar, nothing), (taken, "has two seabeds")):
        if wrong[elements].any():
            label = draft.as_written(mesh.element_labels[elements[wrong[elements]][0]])
            raise card.mistake(f"element {label} {what}")


def check_depth(card: Card, draft: Draft, bed: Seabed | RigidCylinder, mesh: Mesh, elements: Ints) -> None:
    nodes = np.unique(mesh.element_nodes[elements])
    if not len(nodes) or draft.has_failed(*OF_MESH):
        return
    depth = bed.depth(mesh.coordinates[nodes], mesh.up)
    deepest = int(depth.argmax())
    most, what = TOO_DEEP * bed.width, f"{TOO_DEEP:g} contact widths"
    if isinstance(bed, RigidCylinder) and most > 0.5 * bed.radius:
        most, what = 0.5 * bed.radius, "half of the radius"
    if depth[deepest] > most:
        label = draft.as_written(mesh.node_labels[nodes[deepest]])
        where = "inside the cylinder" if isinstance(bed, RigidCylinder) else "below the seabed"
        hint = f"it may be at most {what} ({most:g}) deep"
        raise card.mistake(f"node {label} begins {depth[deepest]:.6g} {where}", hint)
