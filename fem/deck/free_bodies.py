"""Free bodies: ``*RIGID BODY`` with a ROTARYI element at its reference node becomes points, links and equations.

It is done before the mesh is built, as lines are laid: all that is added is what a deck could have said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import Card
from fem.deck.draft import Draft, EquationTerm, StepDraft
from fem.deck.source import Mistake, Place, listing
from fem.model import InitialCondition, PointMass, RigidBody, RotaryInertia, SteadyState, free_bodies

Entry = TypeVar("Entry", RotaryInertia, PointMass)
DOFS = (1, 2, 3)
ROTATIONS = (4, 5, 6)
STARTS = ("VELOCITY", "DISPLACEMENT")
SAME_LINE = 1e-6
"""Of the size of a slender body: nodes that are farther from its axis are not of it."""
WHEN = "rotations of a free body are fixed before the first step, or not at all"
TWO = "fix two rotations, so that the body turns about the third axis, or all three"


class Free(NamedTuple):
    """A free body while the deck is read: its reference node, what is tied to it, its points (labels and arms)."""

    card: Card
    node: int
    tied: tuple[int, ...]
    corners: tuple[int, ...]
    arms: Floats

    @property
    def place(self) -> Place:
        return self.card.place


def release(draft: Draft) -> None:
    """Turn all rigid bodies that have an inertia of their own into points, links and equations."""
    inertias = {node: (entry, place) for node, entry, place in at_nodes(draft, "ROTARYI", RotaryInertia)}
    heavy = {node for node, entry, _ in at_nodes(draft, "MASS", PointMass) if entry.mass > 0.0} if inertias else set()
    owner: dict[int, int] = {}
    kept: list[tuple[RigidBody, Card]] = []
    free: list[Free] = []
    for body, card in draft.bodies:
        found = nodes_named(draft, body.node)
        if not inertias.keys() & set(found):
            kept.append((body, card))
            continue
        with draft.guard():
            if len(found) > 1:
                raise Mistake(card.field("REF NODE").place, f"REF NODE= takes one node, {body.node} has {len(found)}")
            if body.rao:
                raise Mistake(card.field("RAO").place, "RAO= moves a body without ROTARYI: a free body moves by itself")
            entry, place = inertias.pop(found[0])
            if found[0] not in heavy:
                what = f"the free body of node {draft.as_written(found[0])} has no mass"
                raise Mistake(place, what, "give it a MASS element at this node, which is its centre of mass")
            for node in {found[0], *nodes_named(draft, body.pinned)}:
                if owner.setdefault(node, found[0]) != found[0]:
                    raise Mistake(card.place, f"node {draft.as_written(node)} is tied to two bodies")
            name = body.corners
            if name is None:
                free.append(let_free(draft, card, found[0], body.pinned, entry, place))
                name = f"CORNERS {draft.as_written(found[0])}"
                draft.node_sets.add(name, np.array(free[-1].corners))
            draft.free_bodies.append((replace(body, node=found[0], corners=name), card))
    draft.bodies[:] = kept
    for _, place in inertias.values():
        message = "*ROTARY INERTIA is for reference nodes of rigid bodies: no *RIGID BODY has this one"
        draft.report(Mistake(place, message))
    by_node = {each.node: each for each in free}
    turn_by_moments(draft)
    begin(draft, by_node, hold_rotations(draft, by_node))


def at_nodes(draft: Draft, kind: str, made: type[Entry]) -> Iterator[tuple[int, Entry, Place]]:
    """Nodes of elements of a kind, with what is said of them."""
    for _, card, value in draft.properties:
        if isinstance(value, made):
            for label in draft.element_sets.ordered(value.element_set).tolist():
                own, nodes = draft.elements.find(label) if label in draft.elements.rows else ("", np.zeros(0))
                if own == kind:
                    yield int(nodes[0]), value, card.place


def nodes_named(draft: Draft, target: str | int) -> list[int]:
    """Labels of a set or node, of those that exist."""
    return [label for label in draft.node_sets.named(target).tolist() if label in draft.nodes.rows]


def let_free(draft: Draft, card: Card, node: int, pinned: str, entry: RotaryInertia, place: Place) -> Free:
    """Points, links and equations of one body. Raises Mistake."""
    try:
        second = free_bodies.second_moments(entry.moments)
    except free_bodies.NoBody as error:
        raise Mistake(place, str(error)) from None
    at = draft.nodes.at(node)
    tied = [label for label in nodes_named(draft, pinned) if label != node]
    arms = np.array([draft.nodes.at(label) - at for label in tied]).reshape(-1, 3)
    with np.errstate(over="ignore"):  # is told below
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
    first = max(draft.nodes.rows) + 1
    labels = np.arange(first, first + len(corners))
    draft.report(*draft.nodes.add(labels, at + corners, lambda _: card.place))
    points = labels.tolist()
    draft.links += [(i, j, card.place) for k, i in enumerate(points) for j in points[k + 1 :]]
    shares = free_bodies.weights(corners, np.vstack([np.zeros(3), arms])).tolist()
    for label, row in zip([node, *tied], shares, strict=True):
        for dof in DOFS:
            own = [EquationTerm(point, dof, w, card.place) for point, w in zip(points, row, strict=True) if w]
            draft.equations.append((EquationTerm(label, dof, -1.0, card.place), *own))
    draft.notice(
        f"the body of node {draft.as_written(node)} is free: {len(points)} nodes of its own, which keep their "
        "distances, carry its rotary inertia"
    )
    return Free(card, node, tuple(tied), tuple(points), corners)


def turn_by_moments(draft: Draft) -> None:
    """Moments of ``*CLOAD`` go to free bodies, one by one."""
    known = {body.node for body, _ in draft.free_bodies}
    for step in draft.steps:
        kept = []
        for load, place in step.moments:
            named = nodes_named(draft, load.target)
            kept += [(replace(load, target=node), place) for node in named if node in known]
            for node in [node for node in named if node not in known][:1]:
                what = f"dof {load.dof} is a rotation, and node {draft.as_written(node)} is not the reference node of "
                message = "moments act on free bodies (ROTARYI); nodes have none"
                draft.report(Mistake(place, what + "a free body", message))
            if step.procedure is not None and isinstance(step.procedure, SteadyState):
                draft.report(Mistake(place, "moments on bodies in a *STEADY STATE DYNAMICS step are not supported"))
        step.moments[:] = kept


def hold_rotations(draft: Draft, bodies: dict[int, Free]) -> dict[int, dict[int, Place]]:
    """``*BOUNDARY`` on dofs 4 to 6 before the first step: two of them leave an axis, all three a direction of two.
    Returns which are fixed, by node, and where that is said."""
    fixed: dict[int, dict[int, Place]] = {}
    if not bodies:
        return fixed
    parts: list[Draft | StepDraft] = [draft, *draft.steps]
    for part in parts:
        kept, repeated = [], set[tuple[int, int]]()
        for entry, place in part.boundaries:
            named = nodes_named(draft, entry.target) if entry.dof in ROTATIONS else []
            for node in bodies.keys() & set(named):
                if part is not draft and (entry.value or entry.dof not in fixed.get(node, {})):
                    draft.report(Mistake(place, WHEN))
                fixed.setdefault(node, {}).setdefault(entry.dof, place)
                repeated.add((node, entry.dof))
            if not named or not bodies.keys() >= set(named):
                kept.append((entry, place))
        part.boundaries[:] = kept
        if isinstance(part, StepDraft) and "BOUNDARY" in part.replaced:
            for node, _ in sorted({(node, dof) for node, dofs in fixed.items() for dof in dofs} - repeated)[:1]:
                what = f"OP=NEW releases rotations of the free body of node {draft.as_written(node)}"
                what += ", which is not supported"
                draft.report(Mistake(part.changed["BOUNDARY"], what, "repeat its dofs 4 to 6"))
    for node, places in fixed.items():
        held, place = sorted(dof - 4 for dof in places), min(places.values(), key=lambda each: each.order)
        if len(held) == 1 or len(bodies[node].corners) == 2:
            what = f"rotation{'s' * (len(held) > 1)} {listing([str(axis + 4) for axis in held], 'and')}"
            hint = TWO if len(held) == 1 else "fix displacements of nodes that are tied to it"
            message = f"{what} of the free body of node {draft.as_written(node)} cannot be fixed"
            draft.report(Mistake(place, message, hint))
            continue
        turns = next((axis for axis in range(3) if axis not in held), 1)
        keep_direction(draft, bodies[node], turns, [axis for axis in range(3) if axis != turns], place)
        if len(held) == 3:
            keep_direction(draft, bodies[node], 0, [2], place)
        asked = (each.target for step in draft.steps for each in step.outputs if "RM" in each.variables)
        if any(target is None or node in nodes_named(draft, target) for target in asked):
            what = f"RM of node {draft.as_written(node)} is not known: its fixed rotations are those of a free body"
            draft.report(Mistake(place, what, "ask for RM of a set of nodes without this one"))
    return fixed


def keep_direction(draft: Draft, body: Free, axis: int, along: list[int], place: Place) -> None:
    """A vector of the body that starts along an axis has no components along others."""
    slope = free_bodies.gradients(body.arms)[:, axis]
    taken = {(terms[0].target, terms[0].dof) for terms in draft.equations}
    for other in along:
        order = sorted(range(len(slope)), key=lambda j: (((body.corners[j], other + 1) in taken), -abs(slope[j])))
        terms = (EquationTerm(body.corners[j], other + 1, float(slope[j]), place) for j in order if slope[j])
        draft.equations.append(tuple(terms))


def begin(draft: Draft, bodies: dict[int, Free], fixed: dict[int, dict[int, Place]]) -> None:
    """Initial displacements and velocities of a body go to its points and to all nodes tied to it.
    fixed  rotations, by node, and where that is said"""
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
        elif len(own) < len(named):
            draft.report(Mistake(place, "rotations 4-6 are those of reference nodes of free bodies"))
    for node, body in bodies.items():
        u, v = (starts.get((kind, node), np.zeros(6)) for kind in ("DISPLACEMENT", "VELOCITY"))
        turned = free_bodies.rotation_of(u[3:])
        others = [*zip(body.corners, body.arms, strict=True)]
        others += [(label, draft.nodes.at(label) - draft.nodes.at(node)) for label in body.tied]
        for label, arm in others if u.any() or v.any() else ():
            now = turned @ arm
            for kind, moved in (("DISPLACEMENT", u[:3] + now - arm), ("VELOCITY", v[:3] + np.cross(v[3:], now))):
                for axis in np.flatnonzero(moved).tolist():
                    kept.append((InitialCondition(kind, label, float(moved[axis]), axis + 1), body.place))
    draft.initial_conditions[:] = kept
