"""``*NODE`` and ``*ELEMENT``: whole blocks by numpy, line by line where that fails."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.blocks import integers, labelled_numbers
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake, did_you_mean, listing, shown, squeezed
from fem.model.mesh import AXIAL, KINDS, REEVED, nodes_per_element

OTHER_ELEMENTS = "beams, shells, solids, connectors and user elements are not"


CARTESIAN = {"SYSTEM": "is not supported: coordinates are Cartesian"}


@keyword("model", takes=("NSET",), ignores=("INPUT TYPE",), refuses=CARTESIAN)
def node(card: Card, draft: Draft) -> None:
    """``label, x[, y[, z]]``."""
    name = card.name("NSET")
    block = labelled_numbers(card, (2, 3, 4))
    labels, numbers, rows = (*block, range(len(block[0]))) if block else node_rows(card, draft)
    coordinates = np.zeros((len(labels), 3))
    coordinates[:, : numbers.shape[1]] = numbers
    draft.report(*draft.nodes.add(labels, coordinates, lambda row: card.row(rows[row]).place))
    if name is not None:
        draft.node_sets.add(name, labels)


def node_rows(card: Card, draft: Draft) -> tuple[Ints, Floats, Sequence[int]]:
    """The careful reader of ``*NODE``: labels, coordinates, and which data lines they stand in."""
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
    return np.array(labels, dtype=np.int64), np.array(coordinates, dtype=np.float64).reshape(-1, 3), kept


@keyword("model", takes=("ELSET",), needs=("TYPE",))
def element(card: Card, draft: Draft) -> None:
    """``label, node[, node[, node]]``."""
    kind = element_kind(card)
    if kind in REEVED:
        draft.extension(f"*ELEMENT, TYPE={kind}")
    name = card.name("ELSET")
    count = nodes_per_element(kind)
    table = integers(card, 1 + count)
    table, rows = (table, range(len(table))) if table is not None else element_rows(card, draft, kind, count)
    labels, nodes = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:])
    for first, second in combinations(range(count), 2) if kind in (*AXIAL, *REEVED) else ():
        why = "it has no length" if kind in AXIAL else "a rope over a pulley has three"
        for row in np.nonzero(nodes[:, first] == nodes[:, second])[0][:20].tolist():
            place = card.row(rows[row]).field(1 + second).place
            draft.report(Mistake(place, f"element {labels[row]} names node {nodes[row, first]} twice: {why}"))
    draft.report(*draft.elements.add(kind, labels, nodes, lambda row: card.row(rows[row]).place))
    if name is not None:
        draft.element_sets.add(name, labels)


def element_kind(card: Card) -> str:
    """The element type, one of ours."""
    field = card.field("TYPE")
    kind = squeezed(field.text)
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"{listing(KINDS, 'and')} are; {OTHER_ELEMENTS}")
        raise Mistake(field.place, f"element type {shown(field.text)} is not supported", hint)
    return kind


def element_rows(card: Card, draft: Draft, kind: str, count: int) -> tuple[Ints, Sequence[int]]:
    """The careful reader of ``*ELEMENT``."""
    table, kept = [], []
    nodes = ("node 1", "the pulley node", "node 2") if kind in REEVED else ("node 1", "node 2")[:count]
    names = ("the element label", *nodes)
    for number, row in enumerate(draft.rows(card)):
        with draft.guard():
            row.end(1 + count, f"label and {count} node{'s' * (count > 1)} of {kind}")
            table.append([row.integer(at, what) for at, what in enumerate(names)])
            kept.append(number)
    return np.array(table, dtype=np.int64).reshape(-1, 1 + count), kept
