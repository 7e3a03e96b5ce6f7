"""Nodes, elements, sets, and their generators: ``*NODE``, ``*NGEN``, ``*NFILL``, ``*ELEMENT``, ``*ELGEN``, ...

Blocks of plain numbers are read at once by numpy, line by line where that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from fem.arrays import Floats, Ints, distinct
from fem.deck.cards import INSTANCE, MAX_LABEL, Card, Field, Row
from fem.deck.columns import integers, labelled_numbers
from fem.deck.draft import OPENING, Draft, SetTable
from fem.deck.parameters import number_array
from fem.deck.source import Hint, Mistake, Place, did_you_mean, listing, said, shown, squeezed
from fem.deck.table import keyword
from fem.model.mesh import AXIAL, KINDS, REEVED, nodes_per_element

FIRST = ("NODE", "ELEMENT", "INCLUDE")
SECOND = ("NGEN", "NFILL", "ELGEN", "NSET", "ELSET")
"""Mesh cards are read in two groups, so that model cards may come in any order; within a group in deck order."""
CONNECTORS = dict.fromkeys(("CONN3D2", "CONN2D2"), "SPRINGA")
"""Elements of Abaqus that ``*CONNECTOR SECTION`` makes springs along the line of their nodes."""
OTHER_ELEMENTS = "other beams, shells, solids and user elements are not"
CARTESIAN = {"SYSTEM": "is not supported: coordinates are Cartesian"}


@keyword("NODE", "model", takes=("NSET",), ignores=("INPUT TYPE",), refuses=CARTESIAN)
def node(card: Card, draft: Draft) -> None:
    """``label, x[, y[, z]]``."""
    name = card.name("NSET")
    block = labelled_numbers(card, (2, 3, 4))
    labels, numbers, rows = (*block, range(len(block[0]))) if block else node_rows(card, draft)
    coordinates = np.zeros((len(labels), 3), numbers.dtype)
    coordinates[:, : numbers.shape[1]] = numbers
    draft.report(*draft.nodes.add(labels, coordinates, lambda row: card.row(rows[row]).place))
    if name is not None:
        draft.node_sets.add(name, labels)


def node_rows(card: Card, draft: Draft) -> tuple[Ints, Floats, Sequence[int]]:
    """Reads ``*NODE`` line by line: labels, coordinates, and the data line of each."""
    labels, coordinates, kept = [], [], []
    for number, row in enumerate(draft.rows(card)):
        with draft.guard():
            row.end(4, "label, x, y, z")
            label = row.integer(0, "the node label")
            if len(row) < 2:
                raise row.field(1).mistake("the x coordinate (a number)")
            names = enumerate(("the x coordinate", "the y coordinate", "the z coordinate"), 1)
            coordinates.append([row.number(axis, what, 0.0 if axis > 1 else None) for axis, what in names])
            labels.append(label)
            kept.append(number)
    return np.array(labels, dtype=np.int64), number_array(coordinates).reshape(-1, 3), kept


@keyword("ELEMENT", "model", takes=("ELSET",), needs=("TYPE",))
def element(card: Card, draft: Draft) -> None:
    """``label, node[, node[, node]]``."""
    field = card.field("TYPE")
    kind = squeezed(field.text)
    kind = CONNECTORS.get(kind, kind)
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"{listing(KINDS, 'and')} are; {OTHER_ELEMENTS}")
        raise Mistake(field.place, f"element type {shown(field.text)} is not supported", hint)
    if kind in REEVED:
        draft.extension(f"*ELEMENT, TYPE={kind}")
    name = card.name("ELSET")
    count = nodes_per_element(kind)
    block = integers(card, 1 + count)
    table, rows = element_rows(card, draft, kind, count) if block is None else (block.reshape(-1, 1 + count), None)
    labels, nodes = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:])
    for first, second in combinations(range(count), 2) if kind in (*AXIAL, *REEVED) else ():
        why = "it has no length" if kind in AXIAL else "a rope over a pulley has three"
        for row in np.nonzero(nodes[:, first] == nodes[:, second])[0][:20].tolist():
            place = card.row(rows[row] if rows else row).field(1 + second).place
            draft.report(Mistake(place, f"element {labels[row]} has node {nodes[row, first]} twice: {why}"))
    draft.report(*draft.elements.add(kind, labels, nodes, lambda row: card.row(rows[row] if rows else row).place))
    if name is not None:
        draft.element_sets.add(name, labels)


def element_rows(card: Card, draft: Draft, kind: str, count: int) -> tuple[Ints, Sequence[int]]:
    table, kept = [], []
    nodes = ("node 1", "the pulley node", "node 2") if kind in REEVED else ("node 1", "node 2")[:count]
    names = ("the element label", *nodes)
    for number, row in enumerate(draft.rows(card)):
        with draft.guard():
            row.end(1 + count, f"label and {count} node{'s' * (count > 1)} of {kind}")
            table.append([row.integer(at, what) for at, what in enumerate(names)])
            kept.append(number)
    return np.array(table, dtype=np.int64).reshape(-1, 1 + count), kept


STRAIGHT = "is not supported: nodes are generated along straight lines and catenaries"
OF_CATENARIES = ("TENSION", "HORIZONTAL TENSION", "SAG", "WEIGHT", "SEABED", "FRICTION")


@keyword("NGEN", "model", takes=("NSET", "LINE", *OF_CATENARIES), plus=OF_CATENARIES, refuses={"SYSTEM": STRAIGHT})
def ngen(card: Card, draft: Draft) -> None:
    """``first, last[, increment]``: nodes evenly spaced between two existing nodes; NSET includes the ends."""
    if card.has("LINE"):
        card.word("LINE", ("CATENARY",), "")
        from fem.deck.catenary import read_catenary

        draft.extension("*NGEN, LINE=CATENARY")
        pieces = [(row, labels_of(row, 4)) for row in draft.rows(card)]
        return read_catenary(card, draft, [(row, generated(card, draft, row, labels)) for row, labels in pieces])
    card.refuse(OF_CATENARIES, "is for catenaries", "*NGEN, LINE=CATENARY")
    for row in draft.rows(card):
        with draft.guard():
            labels = labels_of(row, 3)
            ends = known_nodes(draft, row, [labels[:1], labels[-1:]])
            nodes = generated(card, draft, row, labels[:: len(labels) - 1] if ends is None else labels)
            if ends is not None:
                fill(draft, row, ends, nodes[None, 1:-1], np.linspace(0.0, 1.0, len(nodes))[1:-1])


def labels_of(row: Row, entries: int) -> range:
    """``first, last[, increment]``."""
    natural = ", natural length" if entries > 3 else " (straight lines only)"
    row.end(entries, "first node, last node, increment" + natural)
    first, last = (row.integer(at, what) for at, what in enumerate(("the first node", "the last node")))
    increment = row.integer(2, "the increment", default=1)
    if first == last or (last - first) % increment:
        raise Mistake(row.place, f"{first} to {last} cannot be divided into increments of {increment}")
    return range(first, last + 1, increment) if last > first else range(first, last - 1, -increment)


def generated(card: Card, draft: Draft, row: Row, labels: range) -> Ints:
    """Labels as an array, which go into the NSET of the card."""
    draft.spend(len(labels) - 1, row.place)
    nodes, name = np.arange(labels.start, labels.stop, labels.step, dtype=np.int64), card.name("NSET")
    if name is not None:
        draft.node_sets.add(name, nodes)
    return nodes


def known_nodes(draft: Draft, row: Row, ends: Sequence[Sequence[int]]) -> Floats | None:
    """(2, m, 3) coordinates of nodes that must exist; None if a broken *NODE card may have defined them."""
    missing = [(at, label) for at, labels in enumerate(ends) for label in labels if label not in draft.nodes.rows]
    if missing and not draft.has_failed("NODE"):
        at, label = missing[0]
        raise Mistake(row.field(at).place, f"there is no node {label}", "define both end nodes with *NODE")
    return None if missing else np.array([[draft.nodes.at(label) for label in labels] for labels in ends])


def fill(draft: Draft, row: Row, ends: Floats, labels: Ints, fractions: Floats) -> None:
    """Nodes (m, k) between m nodes and m others (2, m, 3), at fractions (k,) of the way."""
    fraction = fractions[:, None]
    coordinates = (1.0 - fraction) * ends[0][:, None] + fraction * ends[1][:, None]
    draft.report(*draft.nodes.add(labels.ravel(), coordinates.reshape(-1, 3), lambda _: row.place))


EVENLY = dict.fromkeys(("BIAS", "SINGULAR", "TWO STEP"), "is not supported: nodes are spaced evenly")


@keyword("NFILL", "model", takes=("NSET",), refuses=EVENLY)
def nfill(card: Card, draft: Draft) -> None:
    """``first set, second set, number of intervals, increment``: nodes between corresponding nodes of two sets."""
    name = card.name("NSET")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4, "first set, second set, number of intervals, increment")
            bounds = [earlier_set(row.field(at), draft.node_sets, "node") for at in (0, 1)]
            count, increment = row.integer(2, "the number of intervals"), row.integer(3, "the increment", default=1)
            if len(bounds[0]) != len(bounds[1]):
                sizes = f"{len(bounds[0])} and {len(bounds[1])}"
                raise Mistake(row.place, f"the two sets have {sizes} nodes, not equally many")
            places = known_nodes(draft, row, [bound.tolist() for bound in bounds])
            if places is not None:
                draft.spend(len(bounds[0]) * count, row.place)
                if increment * count > MAX_LABEL:
                    raise Mistake(row.field(3).place, "the labels become too large")
                steps = np.arange(1, count)
                labels = bounds[0][:, None] + increment * steps
                fill(draft, row, places, labels, steps / count)
                bounds.insert(1, labels.ravel())
            if name is not None:
                draft.node_sets.add(name, np.concatenate(bounds))


@keyword("ELGEN", "model", takes=("ELSET",), refuses={"ALL NODES": "is not supported: bars have no intermediate nodes"})
def elgen(card: Card, draft: Draft) -> None:
    """``master, n, node inc, element inc[, rows, node inc, element inc[, layers, node inc, element inc]]``."""
    name = card.name("ELSET")
    for row in draft.rows(card):
        with draft.guard():
            row.end(10, "master element and three groups of count, node increment, element increment")
            master = row.integer(0, "the master element")
            if master not in draft.elements.rows:
                if draft.has_failed("ELEMENT"):
                    continue
                raise Mistake(row.place, f"there is no element {master}", "define the master element with *ELEMENT")
            kind, ends = draft.elements.find(master)
            shifts = np.zeros((1, 2), np.int64)
            for group, what in enumerate(("elements", "rows", "layers")):
                at = 1 + 3 * group
                count = row.integer(at, f"the number of {what}", default=1)
                by_node = row.integer(at + 1, "the node increment", low=0, default=1 if group == 0 else 0)
                by_element = row.integer(at + 2, "the element increment", default=1)
                draft.spend(len(shifts) * count, row.place)
                if max(by_node, by_element) * count > MAX_LABEL:
                    raise Mistake(row.place, "the labels become too large")
                steps = np.arange(count)[:, None] * np.array([by_node, by_element])
                shifts = (steps[:, None] + shifts[None]).reshape(-1, 2)
            labels, nodes = master + shifts[:, 1], ends + shifts[:, :1]
            if labels.max() > MAX_LABEL or nodes.max() > MAX_LABEL:
                raise Mistake(row.place, "the labels become too large")
            draft.report(*draft.elements.add(kind, labels[1:], nodes[1:], lambda _, row=row: row.place))  # type: ignore[misc]
            if name is not None:
                draft.element_sets.add(name, labels)


@keyword(
    "NSET", "anywhere", takes=("GENERATE", "UNSORTED", "INSTANCE", "ELSET"), needs=("NSET",), ignores=("INTERNAL",)
)
def nset(card: Card, draft: Draft) -> None:
    """A node set; ELSET: the nodes of an element set defined above."""
    if card.has("ELSET"):
        draft.no_rows(card)
        elements = earlier_set(card.field("ELSET"), draft.element_sets, "element").tolist()
        nodes = [draft.elements.find(label)[1] for label in elements if label in draft.elements.rows]
        draft.node_sets.add(card.needed("NSET"), distinct(np.concatenate([np.zeros(0, np.int64), *nodes])))
        return
    define(card, draft, draft.node_sets, "NSET", "node")


@keyword("ELSET", "anywhere", takes=("GENERATE", "UNSORTED", "INSTANCE"), needs=("ELSET",), ignores=("INTERNAL",))
def elset(card: Card, draft: Draft) -> None:
    define(card, draft, draft.element_sets, "ELSET", "element")


def define(card: Card, draft: Draft, table: SetTable, parameter: str, family: str) -> None:
    name = card.needed(parameter)
    if card.flag("UNSORTED"):
        table.unsorted.add(name)
    (define_in_instance if card.has("INSTANCE") else add_members)(card, draft, table, name, family)


def define_in_instance(card: Card, draft: Draft, table: SetTable, name: str, family: str) -> None:
    """Sets whose members are labels and sets of an instance."""
    instance = card.needed("INSTANCE")
    own = draft.instances.get(instance)
    table.chunks.setdefault(name, [])
    if own is None and draft.has_failed(*OPENING):
        return
    if own is None:
        hint = did_you_mean(instance, draft.instances, "" if draft.instances else "the deck has no *INSTANCE")
        raise Mistake(card.field("INSTANCE").place, f"there is no instance {instance}", hint)
    members, rows = SetTable(), own.table(family).rows
    members.chunks = {**(own.node_sets if family == "node" else own.element_sets).chunks, "": []}
    add_members(replace(card, instances=None), draft, members, "", family)
    for chunk in members.chunks[""]:
        missing = next((at for at, label in enumerate(chunk.labels.tolist()) if label not in rows), None)
        if chunk.where is not None and missing is not None and not draft.has_failed(*OPENING, "NODE", "ELEMENT"):
            message = f"set {name}: instance {instance} has no {family} {chunk.labels[missing]}"
            draft.report(Mistake(chunk.where(missing), message))
        table.add(name, chunk.labels + INSTANCE * (1 + list(draft.instances).index(instance)))


def add_members(card: Card, draft: Draft, table: SetTable, name: str, family: str) -> None:
    if card.flag("GENERATE"):
        table.chunks.setdefault(name, [])
        for row in draft.rows(card):
            with draft.guard():
                row.end(3, "first, last, increment")
                first, last = row.integer(0, "the first label"), row.integer(1, "the last label")
                increment = row.integer(2, "the increment", default=1)
                if last < first:
                    raise Mistake(row.field(1).place, f"the last label {last} is smaller than the first, {first}")
                draft.spend((last - first) // increment + 1, row.place)
                table.add(name, np.arange(first, last + 1, increment, dtype=np.int64), lambda _, row=row: row.place)  # type: ignore[misc]
        return
    labels = integers(card, None)
    if labels is not None:
        table.add(name, labels, lambda at: [field.place for row in card.rows for field in row.fields()][at])
        return
    # line by line: labels and names of earlier sets, with the place of each
    table.chunks.setdefault(name, [])
    members: list[int] = []
    places: list[Place] = []
    for row in draft.rows(card):
        for at in range(len(row)):
            with draft.guard():
                field = row.field(at)
                if field.is_integer():
                    members.append(field.integer(f"the {family} label"))
                    places.append(field.place)
                else:
                    add_set(field, draft, table, name, family)
    table.add(name, np.array(members, dtype=np.int64), places.__getitem__)


def add_set(field: Field, draft: Draft, table: SetTable, name: str, family: str) -> None:
    other = field.name(f"{'a' if family == 'node' else 'an'} {family} label or the name of an earlier set")
    if other not in table and draft.has_failed(*OPENING):
        return
    if other == name or other not in table:
        message = f"there is no {family} set {other} above this line"
        raise Mistake(field.place, message, "it is this set" if other == name else hint_at_set(other, table))
    members = table.ordered(other)
    draft.spend(len(members), field.place)
    table.add(name, members)


def earlier_set(field: Field, table: SetTable, family: str) -> Ints:
    name = field.name(f"{'a' if family == 'node' else 'an'} {family} set", is_parameter=True)
    if name not in table:
        raise Mistake(field.place, f"there is no {family} set {name} above this line", hint_at_set(name, table))
    return table.ordered(name)


def hint_at_set(name: str, table: SetTable) -> Hint:
    """Hint for an unknown set, looked up when all sets are known."""
    similar = did_you_mean(name, table.chunks)
    return lambda: "it is defined further down" if name in table else said(similar)
