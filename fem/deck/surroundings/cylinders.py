"""``*RIGID CYLINDER``: piles, drums and rollers that nodes of lines touch."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.deck.surroundings.seabed import OF_MESH, check_depth, check_elements, contact
from fem.model import Mesh, RigidCylinder
from fem.model.mesh import BARS


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
