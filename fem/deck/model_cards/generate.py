"""Abaqus' mesh generators: ``*NGEN`` (a line of nodes), ``*NFILL`` (a net of nodes), ``*ELGEN`` (elements)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import MAX_LABEL, Row
from fem.deck.lexical.source import Mistake
from fem.deck.model_cards.sets import earlier_set

STRAIGHT = "is not supported: nodes are generated along straight lines and catenaries"

OF_CATENARIES = ("TENSION", "HORIZONTAL TENSION", "SAG", "WEIGHT", "SEABED", "FRICTION")


@keyword("model", takes=("NSET", "LINE", *OF_CATENARIES), plus=OF_CATENARIES, refuses={"SYSTEM": STRAIGHT})
def ngen(card: Card, draft: Draft) -> None:
    """``first, last[, increment]``: nodes evenly spaced between two nodes that exist; NSET takes the ends in."""
    if card.has("LINE"):
        card.word("LINE", ("CATENARY",), "")
        from fem.deck.model_cards.catenary import read_catenary

        draft.extension("*NGEN, LINE=CATENARY")
        pieces = [(row, labels_of(row, 4)) for row in draft.rows(card)]
        return read_catenary(card, draft, [(row, generated(card, draft, row, labels)) for row, labels in pieces])
    for name in OF_CATENARIES:
        if card.has(name):
            raise Mistake(card.field(name).place, f"{name} is for catenaries", "*NGEN, LINE=CATENARY")
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
    """(2, m, 3) coordinates of nodes that must exist; None where a broken *NODE card may have meant to define them."""
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


@keyword("model", takes=("NSET",), refuses=EVENLY)
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


@keyword("model", takes=("ELSET",), refuses={"ALL NODES": "is not supported: bars have no nodes to skip"})
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
            shifts = generated_shifts(draft, row)
            labels, nodes = master + shifts[:, 1], ends + shifts[:, :1]
            if labels.max() > MAX_LABEL or nodes.max() > MAX_LABEL:
                raise Mistake(row.place, "the labels become too large")
            draft.report(*draft.elements.add(kind, labels[1:], nodes[1:], lambda _, row=row: row.place))  # type: ignore[misc]
            if name is not None:
                draft.element_sets.add(name, labels)


def generated_shifts(draft: Draft, row: Row) -> Ints:
    """(m, 2): what is added to the node labels and to the element label of the master; the master first."""
    shifts = np.zeros((1, 2), np.int64)
    for group, what in enumerate(("elements", "rows", "layers")):
        at = 1 + 3 * group
        count = row.integer(at, f"the number of {what}", default=1)
        nodes = row.integer(at + 1, "the node increment", low=0, default=1 if group == 0 else 0)
        elements = row.integer(at + 2, "the element increment", default=1)
        draft.spend(len(shifts) * count, row.place)
        if max(nodes, elements) * count > MAX_LABEL:
            raise Mistake(row.place, "the labels become too large")
        steps = np.arange(count)[:, None] * np.array([nodes, elements])
        shifts = (steps[:, None] + shifts[None]).reshape(-1, 2)
    return shifts
