"""``*TRANSFORM``: supports, loads and equations of nodes in axes of their own.

Each such node gets another one that moves as it does, in its axes: u_node = sum of e_i u_i, three equations. What is
said of the dofs of the node is said of the other one, whose U, V, A and RF are therefore those of the node in its axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.model import Equation, InitialCondition, Mesh, Model, Step

SUFFIX = " IN AXES"


class _Nodes:
    """Which node holds the dofs of each; ``mesh``: with the added nodes, and the sets that are asked for."""

    def __init__(self, mesh: Mesh, axes: dict[int, Floats]) -> None:
        self.own = np.array(sorted(axes), np.int64)
        count = len(mesh.node_labels)
        self.place = np.arange(count)
        self.place[self.own] = count + np.arange(len(self.own))
        labels = np.append(mesh.node_labels, mesh.node_labels.max() + 1 + np.arange(len(self.own)))
        coordinates = np.concatenate([mesh.coordinates, mesh.coordinates[self.own]])
        self.mesh = replace(mesh, node_labels=labels, coordinates=coordinates, node_sets=dict(mesh.node_sets))

    def target(self, name: Any, beside: bool = False) -> Any:
        """The set or label that has the dofs of another one in their axes; ``beside``: and the nodes themselves."""
        nodes: Ints = np.zeros(0, np.int64) if name is None else self.mesh.nodes_of(name)
        if not np.isin(nodes, self.own).any():
            return name
        if isinstance(name, int):
            return int(self.mesh.node_labels[self.place[nodes[0]]])
        own = f"{name} AND{SUFFIX}" if beside else f"{name}{SUFFIX}"
        self.mesh.node_sets[own] = np.union1d(self.place[nodes], nodes if beside else nodes[:0])
        return own

    def moved(self, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        """Supports or loads in axes."""
        return tuple(replace(entry, target=self.target(entry.target)) for entry in entries)

    def step(self, step: Step) -> Step:
        """A step whose supports, loads and tables know the axes."""
        outputs = tuple(
            replace(one, target=self.target(one.target, beside=True)) if one.kind.startswith("NODE") else one
            for one in step.outputs
        )
        boundaries, loads = self.moved(step.boundaries), self.moved(step.nodal_loads)
        return replace(step, boundaries=boundaries, nodal_loads=loads, outputs=outputs)


def in_axes(model: Model, axes: dict[int, Floats]) -> Model:
    """The model with nodes (by index) in axes of their own: rows e_1, e_2, e_3 of (3, 3), orthonormal."""
    if not axes:
        return model
    nodes = _Nodes(model.mesh, axes)
    equations = [
        replace(each, terms=tuple((int(nodes.place[node]), dof, factor) for node, dof, factor in each.terms))
        for each in model.equations
    ]
    for node in nodes.own.tolist():
        for k in range(3):
            parts = [(int(nodes.place[node]), i + 1, -float(axes[node][i, k])) for i in range(3) if axes[node][i, k]]
            equations.append(Equation(((node, k + 1, 1.0), *parts)))
    return replace(
        model,
        mesh=nodes.mesh,
        equations=tuple(equations),
        boundaries=nodes.moved(model.boundaries),
        initial_conditions=tuple(initial_in_axes(model, nodes, axes)),
        steps=tuple(map(nodes.step, model.steps)),
    )


def initial_in_axes(model: Model, nodes: _Nodes, axes: dict[int, Floats]) -> Iterator[InitialCondition]:
    """Displacements and velocities at the start, given along the global axes, turned for the added nodes."""
    found: dict[tuple[str, int], Floats] = {}
    for condition in model.initial_conditions:
        kind, named = condition.kind, np.zeros(0, np.int64)
        if kind in ("DISPLACEMENT", "VELOCITY"):
            named = model.mesh.nodes_of(condition.target)
        for node in np.intersect1d(named, nodes.own).tolist():
            found.setdefault((kind, node), np.zeros(3))[condition.dof - 1] = condition.value
        others = np.setdiff1d(named, nodes.own)
        if len(others) == len(named):
            yield condition
        elif len(others):
            name = f"{condition.target} NOT{SUFFIX}"
            nodes.mesh.node_sets[name] = others
            yield replace(condition, target=name)
    for (kind, node), vector in found.items():
        label = int(nodes.mesh.node_labels[nodes.place[node]])
        for dof in np.flatnonzero(turned := axes[node] @ vector).tolist():
            yield InitialCondition(kind, label, float(turned[dof]), dof + 1)
