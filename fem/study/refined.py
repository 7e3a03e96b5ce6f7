"""The model with every bar of its lines split in two, to measure the error of the mesh.

A bar is split where it is a piece of a line: one that the reader laid (``*NGEN, LINE=CATENARY``), or at least
``FEWEST`` bars in a row, of about one length, that carry mass of their own. Other bars are members, not pieces: a bar
between two joints of a mechanism, a wire of a net, or the rod of a pendulum would get a joint in its middle, which is
another structure. The result includes the bars that are split, and why others are not.

Nodes keep their indices and labels; the first half of a bar keeps its label, the second one gets a new one. Middles are
halfway between the nodes; those of lines that ``*NGEN, LINE=CATENARY`` laid are where the line hangs with twice the
bars. A line that is bent at rest has the nodes of the deck only: it is split where a ``curved`` model is wanted, with
middles on the smooth curve through its nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fem.arrays import Flags, Floats, Ints, parts
from fem.model import Boundary, ElementBlock, InitialCondition, Mesh, Model, RestLength, Step, Temperature
from fem.model.facts import carried_by, natural_lengths, of_sections
from fem.model.mesh import BARS
from fem.model.twists import curved_bars

FEWEST = 6
"""Smallest number of bars in a row that count as a line, unless the reader laid it as one."""
ALIKE = 2.0
"""Ratio of the lengths of neighbours in a line, at most."""


class Refined(NamedTuple):
    """The finer model. ``halves`` (k, 2): for each element of the model the indices, in the finer one, of its halves,
    twice the same where it is not split; ``split``: labels of bars that are; ``kept``: reason -> labels of other bars.
    """

    model: Model
    halves: Ints
    split: Ints
    kept: dict[str, Ints]

    @property
    def second(self) -> dict[int, int]:
        """Label of a bar that is split -> that of its second half; the first one keeps its label."""
        return {one: other for one, other in self.model.mesh.element_labels[self.halves].tolist() if one != other}


def refined(model: Model, curved: bool = False) -> Refined:
    """Every bar of a line split in two. Sets, sections, natural lengths, loads, supports, initial conditions, contacts
    and requests are those of the model; a nodal load stays with its node. ``curved``: lines that are bent at rest, too,
    middles on the curve through the nodes.

    >>> fine = refined(fem.read_deck("inputs/ssnl114a.inp"))
    >>> len(fine.split), len(fine.model.mesh.element_labels)
    (20, 40)
    """
    reason = reasons(model, curved)
    labels = model.mesh.element_labels
    kept = {name: labels[reason == name] for name in sorted({*reason.tolist()} - {"", OTHER})}
    split = reason == ""
    if not split.any():
        return Refined(model, np.column_stack([np.arange(len(labels))] * 2), labels[:0], kept)
    cut = Cut(model, split, curved)
    changes: dict[str, Any] = {
        "rest_lengths": cut.rest_lengths(),
        "initial_conditions": (*cut.elements(model.initial_conditions), *cut.of_middles()),
        "boundaries": cut.supports(model.boundaries),
        "failures": cut.elements(model.failures),
        "bodies": tuple(replace(body, pinned=cut.with_middles(body.pinned)) for body in model.bodies),
        "planes": tuple(replace(plane, node_set=cut.with_middles(plane.node_set)) for plane in model.planes),
        "steps": tuple(map(cut.step, model.steps)),
    }
    return Refined(replace(model, mesh=cut.mesh(), **changes), cut.halves, labels[split], kept)


OTHER = "other"
"""Name of elements that are not bars."""


def reasons(model: Model, curved: bool = False) -> NDArray[Any]:
    """(k,) for each element: empty if it is split, else the reason why not."""
    mesh = model.mesh
    kinds = np.repeat([block.kind for block in mesh.blocks], [len(block.labels) for block in mesh.blocks])
    bars = np.flatnonzero(np.isin(kinds, BARS))
    found = np.full(len(kinds), OTHER, object)
    found[bars] = f"fewer than {FEWEST} bars in a row"
    length = natural_lengths(mesh, model.rest_lengths)
    pairs, pair_of = np.unique(np.sort(mesh.element_nodes[bars], axis=1), axis=0, return_inverse=True)
    size = np.zeros(len(pairs))
    np.maximum.at(size, pair_of.reshape(-1), length[bars])
    row_of = rows_of(pairs, size, len(mesh.node_labels))
    found[bars[(np.bincount(row_of)[row_of] >= FEWEST)[pair_of.reshape(-1)]]] = ""
    index = {label: node for node, label in enumerate(mesh.node_labels.tolist())}
    laid = {tuple(sorted(map(index.__getitem__, two))) for line in model.laid for two in pairwise(line.labels.tolist())}
    if laid:
        found[bars[[tuple(pair) in laid for pair in pairs[pair_of.reshape(-1)].tolist()]]] = ""
    mass = of_sections(model, lambda section, material: section.area * material.density)
    mass += carried_by(model.nonstructural, mesh.element_sets.__getitem__, np.where(length > 0.0, length, 1.0))
    if any(not step.static for step in model.steps):
        found[(found == "") & (mass <= 0.0)] = "no mass of its own"
    beads = [block.connectivity[:, 0] for block in mesh.blocks if block.kind == "MASS"]
    if beads:
        between = np.isin(mesh.element_nodes, np.concatenate(beads)).all(axis=1)
        found[(found == "") & between] = "a point mass at each end"
    wound = model.reach.wound
    found[wound[found[wound] == ""]] = "a winch changes its length"
    bent = curved_bars(model) if not curved else bars[:0]
    found[bent[found[bent] == ""]] = "its line is bent at rest"
    if model.earlier is not None:
        found[found == ""] = "the run continues another one"
    return found


def rows_of(pairs: Ints, size: Floats, nodes: int) -> Ints:
    """(p,) one bar of the row to which the bars between pairs of nodes (p, 2) belong: bars that are joined at nodes
    with two neighbours and differ by no more than ``ALIKE`` in their lengths (p,)."""
    joined: list[list[int]] = [[] for _ in range(nodes)]
    for place, pair in enumerate(pairs.tolist()):
        for node in pair:
            joined[node].append(place)
    both = np.array([places for places in joined if len(places) == 2], np.int64).reshape(-1, 2)
    both = both[size[both].max(axis=1) <= ALIKE * size[both].min(axis=1)]
    return parts(len(pairs), both.tolist())


class Cut:
    """Division of a model: ``pairs`` (p, 2) nodes with a new one between them, nodes n, n+1, ..., which parallel bars
    share."""

    def __init__(self, model: Model, split: Flags, curved: bool) -> None:
        self._model, mesh, self._curved = model, model.mesh, curved
        count = len(mesh.node_labels)
        ends = np.sort(mesh.element_nodes[split], axis=1)
        self.pairs, place = np.unique(ends, axis=0, return_inverse=True)
        self._middle = np.full(len(split), -1)
        self._middle[split] = count + place.reshape(-1)
        self._labels = mesh.node_labels.max() + 1 + np.arange(len(self.pairs))
        self._second = np.zeros(len(split), np.int64)
        self._second[split] = mesh.element_labels.max() + 1 + np.arange(np.count_nonzero(split))
        self._sets = dict(mesh.node_sets)
        starts, before, more = [], 0, 0
        self.halves = np.zeros((len(split), 2), np.int64)
        for block in mesh.blocks:
            its = slice(before, before + len(block.labels))
            extra = np.flatnonzero(split[its])
            first = before + more + np.arange(len(block.labels))
            self.halves[its] = first[:, None]
            self.halves[before + extra, 1] = first[0] + len(block.labels) + np.arange(len(extra))
            starts.append((its, extra))
            before, more = its.stop, more + len(extra)
        self._blocks = starts

    def mesh(self) -> Mesh:
        mesh = self._model.mesh
        blocks = []
        for block, (its, extra) in zip(mesh.blocks, self._blocks, strict=True):
            nodes = block.connectivity.copy()
            far = nodes[extra, -1].copy()
            nodes[extra, -1] = self._middle[its][extra]
            more = np.column_stack([self._middle[its][extra], far]) if len(extra) else nodes[:0]
            labels = np.concatenate([block.labels, self._second[its][extra]])
            blocks.append(ElementBlock(block.kind, labels, np.concatenate([nodes, more])))
        return replace(
            mesh,
            node_labels=np.concatenate([mesh.node_labels, self._labels]),
            coordinates=self._coordinates(),
            blocks=tuple(blocks),
            node_sets=self._sets,
            element_sets={name: np.unique(self.halves[its]) for name, its in mesh.element_sets.items()},
        )

    def _coordinates(self) -> Floats:
        """Middles halfway between nodes; of lines that were laid all nodes where these hang with twice the bars."""
        mesh = self._model.mesh
        middles = self._on_curves() if self._curved else mesh.coordinates[self.pairs].mean(axis=1)
        found = np.concatenate([mesh.coordinates, middles])
        index = {label: node for node, label in enumerate(mesh.node_labels.tolist())}
        middle = {tuple(pair): len(index) + place for place, pair in enumerate(self.pairs.tolist())}
        for laid in self._model.laid:
            nodes = [index[label] for label in laid.labels.tolist()]
            between = [middle.get((min(pair), max(pair)), -1) for pair in pairwise(nodes)]
            if min(between) >= 0 and (places := laid.finer()) is not None:
                found[nodes[1:-1]], found[between] = places[2:-1:2], places[1::2]
        return found

    def _on_curves(self) -> Floats:
        """Middles of the third degree through the two nodes on either side, of the second at the end of a line."""
        places, near = self._model.mesh.coordinates, dict[int, list[int]]()
        for one, other in self.pairs.tolist():
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)

        def beyond(one: int, other: int) -> Floats:
            """The place that follows; at an end or a joint the one with which the curve is of the second degree."""
            ahead, back = ([n for n in near[at] if n != of] for at, of in ((other, one), (one, other)))
            if len(ahead) == 1:
                return np.asarray(places[ahead[0]])
            line = 3.0 * (places[other] - places[one])
            return np.asarray(line + places[back[0]] if len(back) == 1 else 2.0 * places[other] - places[one])

        outer = [beyond(one, other) + beyond(other, one) for one, other in self.pairs.tolist()]
        return np.asarray((9.0 * places[self.pairs].sum(axis=1) - np.array(outer)) / 16.0)

    def elements(self, given: Iterable[Any]) -> tuple[Any, ...]:
        """Loads and properties of elements; those of a single label are repeated for the second half."""
        second = dict(zip(self._model.mesh.element_labels.tolist(), self._second.tolist(), strict=True))
        found = []
        for each in given:
            found.append(each)
            is_nodal = getattr(each, "kind", "") in NODAL_KINDS
            if not is_nodal and isinstance(each.target, int) and second.get(each.target):
                found.append(replace(each, target=second[each.target]))
        return tuple(found)

    def rest_lengths(self) -> tuple[RestLength, ...]:
        mesh, last = self._model.mesh, dict[int, RestLength]()
        for rest in self._model.rest_lengths:
            last |= dict.fromkeys(mesh.elements_of(rest.target).tolist(), rest)
        found = []
        for element, rest in last.items():
            label, second = int(mesh.element_labels[element]), int(self._second[element])
            parts = [(label, 0.5 * rest.length), (second, 0.5 * rest.length)] if second else [(label, rest.length)]
            found += [RestLength(each, length, rest.second) for each, length in parts]
        return tuple(found)

    def of_middles(self) -> list[InitialCondition]:
        """Initial conditions of middle nodes: the means of those of their neighbours."""
        given: dict[tuple[str, int], Floats] = {}
        for each in self._model.initial_conditions:
            if each.kind in NODAL_KINDS:
                values = given.setdefault((each.kind, each.dof), np.zeros(len(self._model.mesh.node_labels)))
                values[self._model.mesh.nodes_of(each.target)] = each.value
        return [
            InitialCondition(kind, label, value, dof)
            for (kind, dof), values in given.items()
            for label, value in zip(self._labels.tolist(), values[self.pairs].mean(axis=1).tolist(), strict=True)
            if value
        ]

    def supports(self, given: tuple[Boundary, ...]) -> tuple[Boundary, ...]:
        """Middle nodes are supported like both of their neighbours, if these have equal supports."""
        alike: dict[Boundary, list[Ints]] = {}
        for each in given:
            alike.setdefault(replace(each, target=""), []).append(self._model.mesh.nodes_of(each.target))
        more = []
        for each, nodes in alike.items():
            between = self._between(np.concatenate(nodes))
            if len(between):
                name = f"_MIDDLES_{len(self._sets)}"
                self._sets[name] = between
                more.append(replace(each, target=name))
        return (*given, *more)

    def with_middles(self, name: str) -> str:
        """Name of a set of nodes with the middle nodes between them; the same name if there are none."""
        nodes = self._model.mesh.node_sets[name]
        between = self._between(nodes)
        if not len(between):
            return name
        self._sets[f"_MIDDLES_{name}"] = np.concatenate([nodes, between])
        return f"_MIDDLES_{name}"

    def _between(self, nodes: Ints) -> Ints:
        return len(self._model.mesh.node_labels) + np.flatnonzero(np.isin(self.pairs, nodes).all(axis=1))

    def temperatures(self, given: tuple[Temperature, ...]) -> tuple[Temperature, ...]:
        """Temperatures, with those of middle nodes: the mean of two neighbours with the same amplitude."""
        by_amplitude: dict[str | None, Floats] = {}
        for each in given:
            values = by_amplitude.setdefault(each.amplitude, np.full(len(self._model.mesh.node_labels), np.nan))
            values[self._model.mesh.nodes_of(each.target)] = each.value
        return given + tuple(
            Temperature(label, value, amplitude)
            for amplitude, values in by_amplitude.items()
            for label, value in zip(self._labels.tolist(), values[self.pairs].mean(axis=1).tolist(), strict=True)
            if np.isfinite(value)
        )

    def step(self, step: Step) -> Step:
        second = dict(zip(self._model.mesh.element_labels.tolist(), self._second.tolist(), strict=True))
        more = [second[each] for each in step.removals if isinstance(each, int) and second.get(each)]
        return replace(
            step,
            boundaries=self.supports(step.boundaries),
            distributed_loads=self.elements(step.distributed_loads),
            fluid_loads=self.elements(step.fluid_loads),
            temperatures=self.temperatures(step.temperatures),
            removals=(*step.removals, *more),
        )


NODAL_KINDS = ("DISPLACEMENT", "VELOCITY", "TEMPERATURE", "ANCHOR")
"""Kinds of initial conditions of nodes."""
