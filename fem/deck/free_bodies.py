"""Free bodies: ``*RIGID BODY`` with a ROTARYI element at its reference node becomes points, links and equations.

This is done before the mesh is built; a deck could contain all that is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import Card
from fem.deck.conditions import tied_field
from fem.deck.draft import Draft, EquationTerm, StepDraft
from fem.deck.source import Mistake, Place
from fem.model import Boundary, InitialCondition, PointMass, RigidBody, RotaryInertia, free_bodies

Entry = TypeVar("Entry", RotaryInertia, PointMass)
DOFS = (1, 2, 3)
ROTATIONS = (4, 5, 6)
STARTS = ("VELOCITY", "DISPLACEMENT")
SAME_LINE = 1e-6
"""Nodes farther from the axis of a slender body than this fraction of its size do not belong to it."""
HELD = "*BOUNDARY holds them at 0, *BOUNDARY, FIXED where they are"
TWO = "fix two rotations, so that the body turns about the third axis, or all three"


def release(draft: Draft) -> None:
    """Turn all rigid bodies that have an inertia of their own into points, links and equations."""
    inertias = {node: (entry, place) for node, entry, place in at_nodes(draft, "ROTARYI", RotaryInertia)}
    heavy = {node for node, entry, _ in at_nodes(draft, "MASS", PointMass) if entry.mass > 0.0} if inertias else set()
    owner: dict[int, str] = {}
    kept: list[tuple[RigidBody, Card]] = []
    new: set[int] = set()
    for body, card in draft.bodies:
        found = nodes_named(draft, body.node)
        before = len(draft.mistakes)
        with draft.guard():
            if len(found) > 1:
                raise Mistake(card.field("REF NODE").place, f"REF NODE= takes one node, {body.node} has {len(found)}")
            for node in {*found, *nodes_named(draft, body.pinned)}:
                if owner.setdefault(node, str(body.node)) != str(body.node):
                    raise Mistake(tied_field(card).place, f"node {draft.as_written(node)} is tied to two bodies")
            if not inertias.keys() & set(found):
                kept.append((body, card))
                continue
            if body.rao:
                raise Mistake(card.field("RAO").place, "RAO= moves a body without ROTARYI: a free body moves by itself")
            entry, place = inertias.pop(found[0])
            if found[0] not in heavy and not draft.has_failed("MASS", "ELEMENT"):
                what = f"the free body of node {draft.as_written(found[0])} has no mass"
                raise Mistake(place, what, "give it a MASS element at this node, which is its centre of mass")
            body = replace(body, node=found[0])
            if body.corners is None:
                body = let_free(draft, card, body, entry, place)
                new.add(body.node)
            draft.free_bodies.append((body, card))
        if len(draft.mistakes) > before:
            draft.failed.add("RIGID BODY")
    draft.bodies[:] = kept
    for _, place in () if draft.mistakes else inertias.values():
        message = "*ROTARY INERTIA is for reference nodes of rigid bodies: no *RIGID BODY has this one"
        draft.report(Mistake(place, message))
    turn_by_moments(draft)
    begin(draft, new, hold_rotations(draft))


def at_nodes(draft: Draft, kind: str, made: type[Entry]) -> Iterator[tuple[int, Entry, Place]]:
    """Nodes with elements of a kind, with the property of the element and its place."""
    for _, card, value in draft.properties:
        if isinstance(value, made):
            for label in draft.element_sets.ordered(value.element_set).tolist():
                own, nodes = draft.elements.find(label) if label in draft.elements.rows else ("", np.zeros(0))
                if own == kind:
                    yield int(nodes[0]), value, card.place


def nodes_named(draft: Draft, target: str | int) -> list[int]:
    """Labels of a set or a node, as far as they exist."""
    return [label for label in draft.node_sets.named(target).tolist() if label in draft.nodes.rows]


def let_free(draft: Draft, card: Card, body: RigidBody, entry: RotaryInertia, place: Place) -> RigidBody:
    """Adds points, links and equations of one body; returns the body with its points. Raises Mistake."""
    node = body.node
    try:
        second = free_bodies.second_moments(entry.moments)
    except free_bodies.NoBody as error:
        raise Mistake(place, str(error)) from None
    at = draft.nodes.at(node)
    tied = [label for label in nodes_named(draft, body.pinned) if label != node]
    arms = np.array([draft.nodes.at(label) - at for label in tied]).reshape(-1, 3)
    with np.errstate(over="ignore"):  # reported below
        size = float(np.linalg.norm(arms, axis=1).max(initial=0.0)) or 1.0
    if not np.isfinite(size):
        raise Mistake(place, f"nodes are too far from the body of node {draft.as_written(node)} to compute with")
    corners = free_bodies.corners_of(second, size)
    if len(corners) == 2:
        axis = corners[0] / size
        off = np.linalg.norm(arms - np.outer(arms @ axis, axis), axis=1) > SAME_LINE * size
        for label in np.array(tied, np.int64)[off][:1].tolist():
            what = f"node {draft.as_written(label)} is off the axis of a body without inertia about this axis"
            raise Mistake(place, what, "give the body a moment of inertia about its axis, if only a small one")
    name = f"CORNERS {draft.as_written(node)}"
    points = add_nodes(draft, card, name, at + corners)
    draft.links += [(i, j, card.place) for k, i in enumerate(points) for j in points[k + 1 :]]
    tie(draft, card, [node, *tied], points, free_bodies.weights(corners, np.vstack([np.zeros(3), arms])))
    draft.notice(
        f"the body of node {draft.as_written(node)} is free: {len(points)} nodes of its own, which keep their "
        "distances, carry its rotary inertia"
    )
    return replace(body, corners=name)


def add_nodes(draft: Draft, card: Card, name: str, places: Floats) -> list[int]:
    """Adds a set of new nodes with labels above all others; returns the labels."""
    labels = max(draft.nodes.rows) + 1 + np.arange(len(places))
    draft.report(*draft.nodes.add(labels, places, lambda _: card.place))
    draft.node_sets.add(name, labels)
    return list(map(int, labels))


def tie(draft: Draft, card: Card, nodes: list[int], points: list[int], shares: Floats) -> None:
    """Adds equations: displacements of nodes are sums of those of points, with factors ``shares`` (nodes, points)."""
    for label, row in zip(nodes, shares.tolist(), strict=True):
        for dof in DOFS:
            own = [EquationTerm(point, dof, w, card.place) for point, w in zip(points, row, strict=True) if w]
            draft.equations.append((EquationTerm(label, dof, -1.0, card.place), *own))


def turn_by_moments(draft: Draft) -> None:
    """Assigns moments of ``*CLOAD`` to free bodies, one by one."""
    known = {body.node for body, _ in draft.free_bodies}
    for step in draft.steps:
        kept = []
        for load, place in step.moments:
            named = nodes_named(draft, load.target)
            kept += [(replace(load, target=node), place) for node in named if node in known]
            others = [node for node in named if node not in known]
            for node in [] if draft.has_failed("RIGID BODY", "ROTARY INERTIA") else others[:1]:
                what = f"dof {load.dof} is a rotation, and node {draft.as_written(node)} is not the reference node of "
                message = "moments act on free bodies (ROTARYI); nodes have none"
                draft.report(Mistake(place, what + "a free body", message))
            if step.procedure is not None and step.harmonic:
                draft.report(Mistake(place, "moments on bodies in a *STEADY STATE DYNAMICS step are not supported"))
        step.moments[:] = kept


def hold_rotations(draft: Draft) -> dict[int, dict[int, Place]]:
    """Converts ``*BOUNDARY`` on rotations of free bodies to supports of their axes, in each step that has any, for all
    rotations held then. Returns those that are 0 from the start, by reference node, with their places."""
    parts: list[Draft | StepDraft] = [draft, *draft.steps]
    known = {node for body, _ in draft.free_bodies for node in (body.node, *nodes_named(draft, body.axes or ""))}
    named = dict[int, dict[int, Place]]()
    restarts = draft.restart_every is not None or (draft.earlier is not None and draft.earlier_writes)
    for number, (body, card) in enumerate(draft.free_bodies):
        held = dict[int, Place]()
        for at, part in enumerate(parts):
            if isinstance(part, StepDraft) and "BOUNDARY" in part.replaced:
                held = {}
            own = [
                (entry, place)
                for entry, place in (*part.boundaries, *part.turned)
                if entry.dof in ROTATIONS
                if entry.target == body.axes or body.node in nodes_named(draft, entry.target)
            ]
            for entry, place in own:
                if entry.value or entry.kind == "ACCELERATION":
                    draft.report(Mistake(place, "rotations of a free body are held, not moved", HELD))
                held[entry.dof] = place
            if len(held) == 1:
                (dof, place), *_ = held.items()
                what = f"rotation {dof} of the free body of node {draft.as_written(body.node)} cannot be fixed alone"
                draft.report(Mistake(place, what, TWO))
            if (own or restarts) and body.axes is None:
                body = add_axes(draft, body, card)
                draft.free_bodies[number] = body, card
            if own and body.axes:
                kind = "DISPLACEMENT" if any(entry.kind == "DISPLACEMENT" for entry, _ in own) else "FIXED"
                part.rotations += [Boundary(body.axes, dof, kind=kind) for dof in sorted(held)]
                if at < 2 and kind == "DISPLACEMENT":
                    named.setdefault(body.node, {}).update(held)
    for part in parts:
        part.boundaries[:] = [
            (entry, place)
            for entry, place in part.boundaries
            if entry.dof not in ROTATIONS or not known >= set(nodes_named(draft, entry.target))
        ]
    return named


def add_axes(draft: Draft, body: RigidBody, card: Card) -> RigidBody:
    """The body with three nodes that rotate with it about its reference node, but are not translated with it: vectors
    along x, y, z, for a slender body their components along its axis."""
    points, name = nodes_named(draft, body.corners or ""), f"AXES {draft.as_written(body.node)}"
    arms = np.array([draft.nodes.at(label) for label in points])
    arms -= arms.mean(axis=0)
    shares = float(np.linalg.norm(arms[0])) * free_bodies.gradients(arms).T
    tie(draft, card, add_nodes(draft, card, name, draft.nodes.at(body.node) + shares @ arms), points, shares)
    return replace(body, axes=name)


def begin(draft: Draft, bodies: set[int], fixed: dict[int, dict[int, Place]]) -> None:
    """Initial displacements and velocities of bodies (reference nodes) for their points, axes and all tied nodes.
    fixed  rotations that are held, by node, with their places"""
    starts: dict[tuple[str, int], Floats] = {}
    kept: list[tuple[InitialCondition, Place]] = []
    for condition, place in draft.initial_conditions:
        matters = condition.kind in STARTS and (bodies or condition.dof > 3)
        named = nodes_named(draft, condition.target) if matters else []
        own = [node for node in named if node in bodies]
        for node in own:
            starts.setdefault((condition.kind, node), np.zeros(6))[condition.dof - 1] = condition.value
            if condition.value and condition.dof in fixed.get(node, {}):
                what = f"rotation {condition.dof} of node {draft.as_written(node)} is fixed at "
                what += str(fixed[node][condition.dof])
                draft.report(Mistake(place, what, "a fixed rotation begins at 0 and stays there"))
        if condition.dof <= 3:
            kept.append((condition, place))
        elif len(own) < len(named) and not draft.has_failed("RIGID BODY", "ROTARY INERTIA"):
            draft.report(Mistake(place, "rotations 4-6 are those of reference nodes of free bodies"))
    for body, card in (each for each in draft.free_bodies if each[0].node in bodies):
        u, v = (starts.get((kind, body.node), np.zeros(6)) for kind in ("DISPLACEMENT", "VELOCITY"))
        turned, axes = free_bodies.rotation_of(u[3:]), nodes_named(draft, body.axes or "")
        others = [*nodes_named(draft, body.corners or ""), *nodes_named(draft, body.pinned), *axes]
        for label in (each for each in others if each != body.node and (u.any() or v.any())):
            drifts, arm = label not in axes, draft.nodes.at(label) - draft.nodes.at(body.node)
            now = turned @ arm
            changes = drifts * u[:3] + now - arm, drifts * v[:3] + np.cross(v[3:], now)
            for kind, moved in zip(("DISPLACEMENT", "VELOCITY"), changes, strict=True):
                for axis in np.flatnonzero(moved).tolist():
                    kept.append((InitialCondition(kind, label, float(moved[axis]), axis + 1), card.place))
    draft.initial_conditions[:] = kept
