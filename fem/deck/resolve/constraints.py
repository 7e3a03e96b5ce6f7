"""Supports that contradict each other, equations of node indices, stresses on bars only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fem.arrays import Ints
from fem.deck.draft import MAX_GENERATED, Draft, EquationTerm
from fem.deck.lexical.source import Mistake, Place
from fem.deck.resolve.mesh import Lookup
from fem.model import Boundary, Equation, Mesh
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
        owner = np.full(3 * len(mesh.node_labels), -1, dtype=np.int64)
        for number, (entry, place) in enumerate(group):
            dofs = 3 * members(mesh.node_sets, nodes, entry.target) + entry.dof - 1
            for earlier in np.unique(owner[dofs]).tolist():
                if earlier >= 0 and contradict(entry, group[earlier][0]):
                    node, axis = divmod(int(dofs[owner[dofs] == earlier][0]), 3)
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
                if len(equations) > MAX_GENERATED:
                    raise Mistake(terms[0].place, f"more than {MAX_GENERATED} equations")
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


def column(draft: Draft, mesh: Mesh, nodes: Lookup, target: str | int) -> Ints:
    """Node indices of a label, or of a set in the order in which it was written."""
    if not isinstance(target, str):
        return members(mesh.node_sets, nodes, target)
    index, found = nodes.find(draft.node_sets.ordered(target))
    return index[found]


def check_initial(draft: Draft, mesh: Mesh) -> None:
    """Initial stress needs bars."""
    kinds = np.concatenate([np.zeros(0, bool), *(np.full(len(b.labels), b.kind in BARS) for b in mesh.blocks)])
    elements = Lookup(mesh.element_labels)
    for condition, place in draft.initial:
        message = f"{condition.target} has elements other than T3D2 and T2D2: they carry no stress"
        if condition.kind == "STRESS" and not kinds[members(mesh.element_sets, elements, condition.target)].all():
            draft.report(Mistake(place, message))
