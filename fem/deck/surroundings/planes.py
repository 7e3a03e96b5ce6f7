"""``*STOP PLANE``: a half-space that nodes do not enter. Who they are, and where, is known when all cards are read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fem.deck.draft import Draft, PlaneDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import Dynamic, Mesh, StopPlane
from fem.model.loads import TOUCHES

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
