"""``*STOP PLANE``: a half-space that nodes do not enter. Who they are, and where, is known when all cards are read.

``*RIGID CYLINDER``: piles, drums and rollers that nodes of lines touch.

``*SEABED``: a plane bottom below lines. Its elements, and where it lies, are known when all cards are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.cards import Card, Row
from fem.deck.draft import Bed, Draft, PlaneDraft
from fem.deck.handler import keyword
from fem.deck.source import Mistake
from fem.model import Dynamic, Mesh, RigidCylinder, Seabed, StopPlane
from fem.model.loads import TOUCHES
from fem.model.mesh import BARS

FRICTION_HINT = "*CONTROLS, IMPACT=MOREAU steps over impacts and rubs; without FRICTION= the plane is smooth"


@keyword("model", needs=("REF NODE", "NSET"), takes=("RESTITUTION", "FRICTION"))
def stop_plane(card: Card, draft: Draft) -> None:
    """``nx, ny, nz``: away from the plane, to the side of the nodes."""
    draft.extension("*STOP PLANE")
    field = card.field("REF NODE")
    node: str | int = field.integer("a node label") if field.is_integer() else card.needed("REF NODE")
    draft.use("node", node, field.place)
    node_set = draft.named(card, "NSET", "node")
    card.amount("RESTITUTION", most=1.0)
    card.amount("FRICTION")
    row = draft.single_row(card, "the normal")
    row.end(3, "the normal: nx, ny, nz")
    x, y, z = (row.number(axis, "a component of the normal", 0.0) for axis in range(3))
    if x == y == z == 0.0:
        raise Mistake(row.place, "the normal of *STOP PLANE has no length", "it points to the side of the nodes")
    draft.planes.append(PlaneDraft(card, node, node_set, (x, y, z)))


def build_planes(draft: Draft, mesh: Mesh) -> tuple[StopPlane, ...]:
    """All of them; a node that begins below its plane is a mistake, and so are steps that cannot have planes."""
    found: list[StopPlane] = []
    for entry in draft.planes:
        draft.card = card = entry.card
        with draft.guard():
            named = list(reference_nodes(draft, mesh, entry))
            if len(named) > 1:
                what = f"REF NODE= takes one node, {entry.node} has {len(named)}"
                raise Mistake(card.field("REF NODE").place, what)
            if named and entry.node_set in mesh.node_sets:
                restitution, friction = card.number("RESTITUTION"), card.number("FRICTION")
                found.append(StopPlane(named[0], entry.node_set, entry.normal, restitution, friction))
                check_nodes(card, draft, mesh, found[-1])
                blame_events(card, draft, friction)
    draft.card = None
    return tuple(found)


def reference_nodes(draft: Draft, mesh: Mesh, entry: PlaneDraft) -> Iterator[int]:
    """Labels of the node that is named, where it exists."""
    if isinstance(entry.node, str):
        yield from mesh.node_labels[mesh.node_sets.get(entry.node, [])].tolist()
    elif np.isin(entry.node, mesh.node_labels):
        yield entry.node


def check_nodes(card: Card, draft: Draft, mesh: Mesh, plane: StopPlane) -> None:
    """None of them begins below the plane, or holds it."""
    pairs, place = plane.pairs(mesh), card.field("NSET").place
    for node in pairs[pairs[:, 0] == pairs[:, 1], 0].tolist():
        what = f"node {draft.as_written(int(mesh.node_labels[node]))} is the reference node of the plane itself"
        raise Mistake(place, f"{what} (set {plane.node_set})")
    if not len(pairs) or draft.has_failed("NODE", "NGEN", "NFILL", "INCLUDE"):
        return
    depth = -plane.distances(mesh)
    deepest = int(depth.argmax())
    if depth[deepest] > TOUCHES * plane.size(mesh):
        label = draft.as_written(int(mesh.node_labels[pairs[deepest, 1]]))
        hint = "the normal points to the side of the nodes"
        raise Mistake(place, f"node {label} begins {depth[deepest]:.6g} below the *STOP PLANE", hint)


def blame_events(card: Card, draft: Draft, friction: float) -> None:
    """Friction is not for steps that locate events."""
    for number, step in enumerate(draft.steps if friction > 0.0 else (), start=1):
        if isinstance(step.procedure, Dynamic) and step.controls is not None and step.controls.impact == "EVENT":
            what = f"FRICTION= of *STOP PLANE is not for IMPACT=EVENT, as step {number} has it"
            raise Mistake(card.field("FRICTION").place, what, FRICTION_HINT)


@keyword("model", needs=("RADIUS",), takes=("ELSET", "FRICTION"))
def rigid_cylinder(card: Card, draft: Draft) -> None:
    """Two points of the axis, then as of ``*SEABED``: ``K, C, D, delta`` and ``axial, lateral, gamma``."""
    draft.extension("*RIGID CYLINDER")
    elements = draft.named_if(card, "ELSET", "element")
    radius = card.positive("RADIUS")
    row, *rows = draft.rows(card)
    row.end(6, "two points of the axis: x, y, z of both")
    x, y, z, *way = (row.number(at, "a coordinate of a point of the axis") for at in range(6))
    point, other = (x, y, z), (way[0], way[1], way[2])
    if point == other:
        raise Mistake(row.place, "both points of the axis are the same")
    if not rows:
        raise card.mistake("how stiff is it?", "a second data line: K, C, D: force per area and depth, damping, width")
    draft.cylinders.append((card, RigidCylinder(elements, point, other, radius, **contact(card, rows))))


def build_cylinders(draft: Draft, mesh: Mesh) -> tuple[RigidCylinder, ...]:
    """All of them; a node that begins deep inside one is a mistake, bars that are long beside its radius are told."""
    is_bar = mesh.is_of(*BARS)
    for card, cylinder in draft.cylinders:
        draft.card = card
        with draft.guard():
            elements = mesh.bars_in(cylinder.element_set)
            check_elements(card, draft, mesh, elements, is_bar, np.zeros(len(is_bar), np.bool_))
            check_depth(card, draft, cylinder, mesh, elements)
            if draft.has_failed(*OF_MESH):
                continue
            ends = mesh.coordinates[mesh.element_nodes[elements]]
            if text := too_long(cylinder, np.linalg.norm(np.diff(ends, axis=1)[:, 0], axis=1)):
                draft.notice(text)
    draft.card = None
    return tuple(cylinder for _, cylinder in draft.cylinders)


def too_long(cylinder: RigidCylinder, length: Floats) -> str:
    """Nodes touch, bars do not: between two nodes on it a bar of length h comes as near to the axis as
    sqrt(R^2 - h^2/4)."""
    longest = float(length.max(initial=0.0))
    if longest <= cylinder.radius:
        return ""
    deep = cylinder.radius - float(np.sqrt(max(cylinder.radius**2 - 0.25 * longest**2, 0.0)))
    return (
        f"bars of up to {longest:.4g} are longer than the radius {cylinder.radius:.4g} of a *RIGID CYLINDER: between "
        f"their nodes, which alone touch it, they cut {deep:.3g} deep into it; shorter ones bend around it"
    )


SMALL = 0.01
"""Ramp of the damping and slip of the friction over the contact width, where they are not given."""

STEEPEST = 60.0

OF_MESH = ("NODE", "NGEN", "NFILL", "ELEMENT", "ELGEN", "INCLUDE")
"""Cards without which places of elements are not known."""

TOO_DEEP = 10.0
"""Widths by which a node may lie below the bottom at the start."""

OURS = ("ELSET", "ELEVATION", "SLOPE", "UPHILL", "FRICTION")


@keyword("model", takes=OURS)
def seabed(card: Card, draft: Draft) -> None:
    """``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``."""
    draft.extension("*SEABED")
    elements = draft.named_if(card, "ELSET", "element")
    elevation, slope, uphill = map(card.number, ("ELEVATION", "SLOPE", "UPHILL"))
    if not abs(slope) < STEEPEST:
        message = f"SLOPE must lie between -{STEEPEST:g} and {STEEPEST:g} degrees, got {slope:g}"
        raise Mistake(card.field("SLOPE").place, message, "UPHILL= says to which side it rises, in degrees from +x")
    rows = list(draft.rows(card))
    bed = Seabed(elements, elevation, **contact(card, rows), slope=slope, uphill=uphill)
    draft.seabeds.append(Bed(card, bed))


def contact(card: Card, rows: list[Row]) -> dict[str, Any]:
    """How a surface presses and rubs: ``K, C, D, delta`` and, where there is friction, ``axial, lateral, gamma``."""
    friction = card.word("FRICTION", ("DYNAMIC", "ALL"), "DYNAMIC")
    if len(rows) > 2:
        raise Mistake(rows[2].place, f"*{card.keyword} takes two data lines: stiffness, and friction")
    rows[0].end(4, "stiffness K, damping C, contact width D, ramp of the damping")
    stiffness = rows[0].amount(0, "the stiffness K", positive=True)
    width = rows[0].amount(2, "the contact width D", positive=True)
    damping = rows[0].amount(1, "the damping C", 0.0)
    ramp = rows[0].amount(3, "the ramp of the damping", SMALL * width, positive=True)
    found = {"stiffness": stiffness, "width": width, "damping": damping, "ramp": ramp}
    if len(rows) > 1:
        rows[1].end(3, "friction along the line, friction across it, slip")
        found["axial"] = rows[1].amount(0, "the coefficient of friction")
        found["lateral"] = rows[1].amount(1, "the coefficient of friction across the line", found["axial"])
        found["slip"] = rows[1].amount(2, "the slip", SMALL * width, positive=True)
    return {**found, "rubs_in_statics": friction == "ALL"}


def elevated(draft: Draft, bed: Bed) -> Seabed:
    """A bottom where it lies: by its card, or by that of the water."""
    if bed.card.has("ELEVATION") or draft.has_failed("AQUA"):
        return bed.value
    if draft.water is None:
        hint = "ELEVATION= is the height of the plane at x = y = 0, else that of *AQUA"
        raise bed.card.mistake("nothing says how deep the bottom lies", hint)
    return replace(bed.value, elevation=draft.water.seabed)


def build_seabeds(draft: Draft, mesh: Mesh) -> tuple[Seabed, ...]:
    """All of them, each with its elevation; what touches two of them, or lies deep below one, is a mistake."""
    is_bar = mesh.is_of(*BARS)
    taken = np.zeros(len(is_bar), np.bool_)
    found: list[Seabed] = []
    for entry in draft.seabeds:
        draft.card = card = entry.card
        with draft.guard():
            bed = elevated(draft, entry)
            elements = mesh.bars_in(bed.element_set)
            check_elements(card, draft, mesh, elements, is_bar, taken)
            check_depth(card, draft, bed, mesh, elements)
            taken[elements] = True
            found.append(bed)
    draft.card = None
    return tuple(found)


def check_elements(card: Card, draft: Draft, mesh: Mesh, elements: Ints, is_bar: np.ndarray, taken: np.ndarray) -> None:
    """They are bars, above one bottom each."""
    labels = mesh.element_labels
    nothing = f"is no bar: only T3D2 and T2D2 lie on a *{card.keyword}"
    for wrong, what in ((~is_bar, nothing), (taken, "lies on two bottoms")):
        if wrong[elements].any():
            label = draft.as_written(int(labels[elements[wrong[elements]][0]]))
            raise card.mistake(f"element {label} {what}")


def check_depth(card: Card, draft: Draft, bed: Seabed | RigidCylinder, mesh: Mesh, elements: Ints) -> None:
    """No node begins far below the surface."""
    nodes = np.unique(mesh.element_nodes[elements])
    if not len(nodes) or draft.has_failed(*OF_MESH):
        return
    depth = bed.depth(mesh.coordinates[nodes], mesh.up)
    deepest = int(depth.argmax())
    most, what = TOO_DEEP * bed.width, f"{TOO_DEEP:g} contact widths"
    if isinstance(bed, RigidCylinder) and most > 0.5 * bed.radius:
        most, what = 0.5 * bed.radius, "half of the radius"
    if depth[deepest] > most:
        label = draft.as_written(int(mesh.node_labels[nodes[deepest]]))
        where = "inside the cylinder" if isinstance(bed, RigidCylinder) else "below the bottom"
        hint = f"it may be at most {what} ({most:g}) deep"
        raise card.mistake(f"node {label} begins {depth[deepest]:.6g} {where}", hint)
