"""Supports that contradict each other, rigid bodies, equations of node indices, stresses and lengths of bars only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fem.arrays import Ints
from fem.deck.draft import Draft, EquationTerm
from fem.deck.lexical.source import Mistake, Place, listing
from fem.deck.model_cards.conditions import FREE_BODY
from fem.deck.resolve.mesh import Lookup
from fem.deck.step_draft import StepDraft
from fem.model import Boundary, Equation, InitialCondition, Mesh, RestLength, RigidBody
from fem.model.mesh import BARS


def members(sets: Mapping[str, Ints], labels: Lookup, target: str | int) -> Ints:
    """Indices of a set or label, none if it does not exist (which is reported elsewhere)."""
    if isinstance(target, str):
        return sets.get(target, np.zeros(0, np.int64))
    index, found = labels.find(np.array([target], dtype=np.int64))
    return index[found]


def check_supports(draft: Draft, mesh: Mesh) -> None:
    """Model supports among themselves, then those of each step."""
    nodes = Lookup(mesh.node_labels)
    for group in (draft.boundaries, *(step.boundaries for step in draft.steps)):
        owner = np.full(6 * len(mesh.node_labels), -1, dtype=np.int64)
        for number, (entry, place) in enumerate(group):
            dofs = 6 * members(mesh.node_sets, nodes, entry.target) + entry.dof - 1
            for earlier in np.unique(owner[dofs]).tolist():
                if earlier >= 0 and contradict(entry, group[earlier][0]):
                    node, axis = divmod(int(dofs[owner[dofs] == earlier][0]), 6)
                    what = f"node {draft.as_written(int(mesh.node_labels[node]))}, dof {axis + 1}"
                    message = f"{what} is prescribed twice in different ways"
                    draft.report(Mistake(place, message, f"first at {group[earlier][1]}"))
                    break
            owner[dofs] = number


def contradict(one: Boundary, other: Boundary) -> bool:
    """Two different motions; zero is zero whatever its amplitude."""
    if one.kind == other.kind and one.value == other.value == 0.0:
        return False
    return (one.kind, one.value, one.amplitude) != (other.kind, other.value, other.amplitude)


def build_equations(draft: Draft, mesh: Mesh) -> tuple[Equation, ...]:
    """Node indices; an equation over sets becomes one per member."""
    nodes = Lookup(mesh.node_labels)
    equations: list[Equation] = []
    eliminated: dict[tuple[int, int], Place] = {}
    for terms in draft.equations:
        with draft.guard():
            for equation in expand(draft, mesh, nodes, terms):
                dofs = [(node, dof) for node, dof, _ in equation.terms]
                if len(set(dofs)) < len(dofs):
                    raise Mistake(terms[0].place, "the equation names the same dof of the same node twice")
                if dofs[0] in eliminated:
                    node, dof = draft.as_written(int(mesh.node_labels[dofs[0][0]])), dofs[0][1]
                    message = f"node {node}, dof {dof} comes first in two equations"
                    raise Mistake(terms[0].place, message, f"the other is at {eliminated[dofs[0]]}")
                eliminated[dofs[0]] = terms[0].place
                equations.append(equation)
    return tuple(equations)


def expand(draft: Draft, mesh: Mesh, nodes: Lookup, terms: tuple[EquationTerm, ...]) -> list[Equation]:
    """Sets of equal size run side by side, in their order; a single node stays."""
    columns = [column(draft, mesh, nodes, term.target) for term in terms]
    if not all(map(len, columns)):
        return []
    sizes = {len(found) for term, found in zip(terms, columns, strict=True) if isinstance(term.target, str)}
    if len(sizes) > 1:
        raise Mistake(terms[0].place, f"the sets of the equation have different sizes: {sorted(sizes)}")
    count = max(map(len, columns))
    draft.spend(count * len(terms) if sizes else 0, terms[0].place)
    rows = [found.tolist() * (count // len(found)) for found in columns]
    return [
        Equation(tuple((row[at], term.dof, term.coefficient) for row, term in zip(rows, terms, strict=True)))
        for at in range(count)
    ]


def build_links(draft: Draft, mesh: Mesh) -> tuple[tuple[int, int], ...]:
    """Pairs of node indices; those of two sets run side by side, in the sets' order."""
    nodes = Lookup(mesh.node_labels)
    pairs: list[tuple[int, int]] = []
    for *targets, place in draft.links:
        with draft.guard():
            columns = [column(draft, mesh, nodes, target) for target in targets]
            if len(columns[0]) != len(columns[1]) and min(map(len, columns)) > 0:
                raise Mistake(place, f"the sets of *MPC have different sizes: {len(columns[0])} and {len(columns[1])}")
            for pair in zip(columns[0].tolist(), columns[1].tolist(), strict=False):
                if np.array_equal(*mesh.coordinates[list(pair)]):
                    first, second = map(draft.as_written, mesh.node_labels[list(pair)].tolist())
                    message = f"nodes {first} and {second} of *MPC are at the same place: no distance to keep"
                    raise Mistake(place, message)
                pairs.append(pair)
    return tuple(pairs)


def build_bodies(draft: Draft, mesh: Mesh) -> tuple[RigidBody, ...]:
    """Rigid bodies; what is said of rotations goes to those of their reference nodes."""
    nodes, bodies, owner = Lookup(mesh.node_labels), [], dict[int, str]()
    busy = busy_nodes(draft, mesh, nodes)
    turned = {node for name, _ in draft.axes for node in members(mesh.node_sets, nodes, name).tolist()}
    for each in draft.bodies:
        with draft.guard():
            found = members(mesh.node_sets, nodes, each.node).tolist()
            pinned = members(mesh.node_sets, nodes, each.pinned).tolist()
            place = each.card.field("REF NODE").place
            if len(found) > 1:
                raise Mistake(place, f"REF NODE= takes one node, {each.node} has {len(found)}")
            for node in found:
                label = int(mesh.node_labels[node])
                bodies.append(RigidBody(label, each.pinned, each.rotation))
                blame = "is pinned to itself" if node in pinned else busy.get(node)
                if blame is not None:
                    raise Mistake(place, f"reference node {draft.as_written(label)} {blame}")
                for other in {node, *pinned} & turned:
                    raise Mistake(place, f"node {written(draft, mesh, other)} of a rigid body has axes by *TRANSFORM")
                for other in pinned:
                    if owner.setdefault(other, draft.as_written(label)) != draft.as_written(label):
                        what = f"node {written(draft, mesh, other)} is pinned to two bodies"
                        raise Mistake(each.card.field("PIN NSET").place, what)
    given: dict[int, set[int]] = {int(nodes.find(np.array([body.node]))[0][0]): set() for body in bodies}
    parts: list[Draft | StepDraft] = [draft, *draft.steps]
    for part in parts:
        split_supports(draft, part, mesh, nodes, given, owner)
    for node, dofs in given.items():
        if missing := sorted({1, 2, 3, 4, 5, 6} - dofs):
            what = f"dof{'s' * (len(missing) > 1)} {listing(map(str, missing), 'and')}"
            draft.notice(f"{what} of reference node {written(draft, mesh, node)}: held, as no *BOUNDARY moves them")
    return tuple(bodies)


def written(draft: Draft, mesh: Mesh, node: int) -> str:
    """The label of a node by its index, as it stands in the deck."""
    return draft.as_written(int(mesh.node_labels[node]))


def busy_nodes(draft: Draft, mesh: Mesh, nodes: Lookup) -> dict[int, str]:
    """Nodes that cannot be reference nodes, and why."""
    tied = [term.target for terms in draft.equations for term in terms]
    tied += [each for *pair, _ in draft.links for each in pair]
    loaded = [load.target for step in draft.steps for load in step.nodal_loads]
    found: dict[int, str] = {}
    for targets, what in ((loaded, f"is loaded: that {FREE_BODY}"), (tied, "belongs to an equation or a link")):
        found |= {node: what for target in targets for node in members(mesh.node_sets, nodes, target).tolist()}
    found |= dict.fromkeys(mesh.element_nodes.ravel().tolist() if draft.bodies else (), "belongs to an element")
    return found


def split_supports(
    draft: Draft, part: Draft | StepDraft, mesh: Mesh, nodes: Lookup, given: dict[int, set[int]], owner: dict[int, str]
) -> None:
    """Rotations of reference nodes apart from displacements; pinned nodes have no supports of their own.

    given  by reference node (index): the dofs that are prescribed;  owner: by pinned node, the label it moves with
    """
    kept: list[tuple[Boundary, Place]] = []
    for entry, place in part.boundaries:
        if entry.dof <= 3 and not given:
            kept.append((entry, place))
            continue
        named = members(mesh.node_sets, nodes, entry.target).tolist()
        for node in [node for node in named if node in owner][:1]:
            what = f"node {written(draft, mesh, node)} is pinned to a rigid body: it moves with node {owner[node]}"
            draft.report(Mistake(place, what, "leave it out of *BOUNDARY"))
        moving = [node for node in named if node in given]
        for node in moving:
            given[node].add(entry.dof)
        if entry.dof <= 3:
            kept.append((entry, place))
            continue
        part.rotations += [replace(entry, target=int(mesh.node_labels[node])) for node in moving]
        if len(moving) < len(named) and not draft.has_failed("RIGID BODY"):
            if entry.value != 0.0:
                draft.report(Mistake(place, "bars have no rotations 4-6 to prescribe"))
            draft.ignore("*BOUNDARY on rotations 4-6 (bars have none)")
    part.boundaries[:] = kept


def column(draft: Draft, mesh: Mesh, nodes: Lookup, target: str | int) -> Ints:
    """Node indices of a label, or of a set in the order in which it was written."""
    if not isinstance(target, str):
        return members(mesh.node_sets, nodes, target)
    index, found = nodes.find(draft.node_sets.ordered(target))
    return index[found]


def check_removals(draft: Draft, mesh: Mesh) -> None:
    """An element is removed once, and breaks by itself only before that; one failure of each kind."""
    elements, begin, last = Lookup(mesh.element_labels), 0.0, np.full(len(mesh.element_labels), np.inf)
    for number, step in enumerate(draft.steps):
        if draft.failures and getattr(step.procedure, "riks", None) and step.procedure_place:
            hint = "leave out RIKS: then each part of the load waits for what breaks"
            draft.report(Mistake(step.procedure_place, "*STATIC, RIKS does not follow *FAILURE", hint))
        for target, place in step.removals:
            index = members(mesh.element_sets, elements, target)
            for element in index[last[index] < np.inf][:1]:
                gone = f"element {draft.as_written(int(mesh.element_labels[element]))} has been removed before"
                draft.report(Mistake(place, gone))
            last[index] = begin if number else -np.inf
        begin += getattr(step.procedure, "period", 0.0)
    known: set[tuple[str, int]] = set()
    for entry, place in draft.failures:
        index = members(mesh.element_sets, elements, entry.target)
        for element in index.tolist():
            name = f"element {draft.as_written(int(mesh.element_labels[element]))}"
            if (entry.kind, element) in known:
                draft.report(Mistake(place, f"{name} gets a second {entry.kind.lower()} to break at"))
            elif last[element] <= (entry.value if entry.kind == "TIME" else -np.inf):
                draft.report(Mistake(place, f"{name} never breaks by itself: *MODEL CHANGE removes it before"))
            elif entry.kind != "TIME" and mesh.is_of("MASS")[element]:
                draft.report(Mistake(place, f"{name} is a point mass, which has no {entry.kind.lower()}"))
            else:
                known.add((entry.kind, element))
                continue
            break


def check_bars(draft: Draft, mesh: Mesh) -> None:
    """Initial stresses and rest lengths are those of bars; a bar has one rest length."""
    is_bar = mesh.is_of(*BARS)
    elements, has_length = Lookup(mesh.element_labels), np.zeros(len(is_bar), bool)
    entries: list[tuple[InitialCondition | RestLength, Place]] = [*draft.initial, *draft.rest_lengths]
    for entry, place in entries:
        is_length, target = isinstance(entry, RestLength), entry.target
        if isinstance(entry, InitialCondition) and entry.kind != "STRESS":
            continue
        index = members(mesh.element_sets, elements, target)
        if not is_bar[index].all():
            what = "have no length of their own" if is_length else "carry no stress"
            draft.report(Mistake(place, f"{target} has elements other than T3D2 and T2D2: they {what}"))
        elif is_length and has_length[index].any():
            label = draft.as_written(int(mesh.element_labels[index[has_length[index]][0]]))
            draft.report(Mistake(place, f"element {label} gets a second rest length"))
        has_length[index] |= is_length
