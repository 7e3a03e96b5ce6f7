"""Abaqus' mesh generators: ``*NGEN`` (a line of nodes), ``*NFILL`` (a net of nodes), ``*ELGEN`` (elements)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fem.arrays import Floats, Ints
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import MAX_LABEL, Row
from fem.deck.lexical.source import Mistake, did_you_mean

OF_CATENARIES = ("TENSION", "HORIZONTAL TENSION", "SAG", "WEIGHT", "SEABED", "FRICTION")


@keyword(
    "model",
    takes=("NSET", "LINE", *OF_CATENARIES),
    plus=OF_CATENARIES,
    refuses={"SYSTEM": "is not supported: nodes are generated along straight lines and catenaries"},
)
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
            places = [known_node(draft, row, at, labels[-at]) for at in (0, 1)]
            is_known = all(place is not None for place in places)
            nodes = generated(card, draft, row, labels if is_known else [labels[0], labels[-1]])
            if is_known:
                fill_line(draft, row, [place for place in places if place is not None], nodes)


def labels_of(row: Row, entries: int) -> range:
    """``first, last[, increment]``."""
    row.end(
        entries, "first node, last node, increment" + (", natural length" if entries > 3 else " (straight lines only)")
    )
    first, last = (row.integer(at, what) for at, what in enumerate(("the first node", "the last node")))
    increment = row.integer(2, "the increment", default=1)
    if first == last or (last - first) % increment:
        raise Mistake(row.place, f"{first} to {last} cannot be divided into increments of {increment}")
    return range(first, last + 1, increment) if last > first else range(first, last - 1, -increment)


def generated(card: Card, draft: Draft, row: Row, labels: Sequence[int]) -> Ints:
    """Labels as an array, which go into the NSET of the card."""
    draft.spend(len(labels) - 1, row.place)
    nodes, name = np.array(labels), card.name("NSET")
    if name is not None:
        draft.node_sets.add(name, nodes)
    return nodes


def known_node(draft: Draft, row: Row, at: int, label: int) -> Floats | None:
    """Coordinates of a node that must exist; None where a broken *NODE card may have been about to define it."""
    found = draft.nodes.at(label)
    if found is None:
        if draft.has_failed("NODE"):
            return None
        raise Mistake(row.field(at).place, f"there is no node {label}", "define both end nodes with *NODE")
    return found


def fill_line(draft: Draft, row: Row, ends: list[Floats], labels: Ints) -> None:
    """The nodes between the first and the last label."""
    share = np.linspace(0.0, 1.0, len(labels))[1:-1, None]
    coordinates = (1.0 - share) * ends[0] + share * ends[1]
    for mistake in draft.nodes.add(labels[1:-1], coordinates, lambda _: row.place):
        draft.report(mistake)


@keyword(
    "model",
    takes=("NSET",),
    refuses=dict.fromkeys(("BIAS", "SINGULAR", "TWO STEP"), "is not supported: nodes are spaced evenly"),
)
def nfill(card: Card, draft: Draft) -> None:
    """``first set, second set, number of intervals, increment``: nodes between corresponding nodes of two sets."""
    name = card.name("NSET")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4, "first set, second set, number of intervals, increment")
            bounds = [bound(draft, row, at) for at in (0, 1)]
            count, increment = row.integer(2, "the number of intervals"), row.integer(3, "the increment", default=1)
            if len(bounds[0]) != len(bounds[1]):
                raise Mistake(
                    row.place, f"the two sets have {len(bounds[0])} and {len(bounds[1])} nodes, not equally many"
                )
            places = [[known_node(draft, row, at, label) for label in bounds[at].tolist()] for at in (0, 1)]
            if any(place is None for line in places for place in line):
                if name is not None:
                    draft.node_sets.add(name, np.concatenate(bounds))
                continue
            draft.spend(len(bounds[0]) * count, row.place)
            starts, ends = (np.array(line).reshape(-1, 3) for line in places)
            steps = np.arange(1, count)
            if increment * count > MAX_LABEL:
                raise Mistake(row.field(3).place, "the labels become too large")
            labels = (bounds[0][:, None] + increment * steps).ravel()
            share = (steps / count)[None, :, None]
            coordinates = ((1.0 - share) * starts[:, None] + share * ends[:, None]).reshape(-1, 3)
            for mistake in draft.nodes.add(labels, coordinates, lambda _, row=row: row.place):  # type: ignore[misc]
                draft.report(mistake)
            if name is not None:
                draft.node_sets.add(name, np.concatenate([bounds[0], labels, bounds[1]]))


def bound(draft: Draft, row: Row, at: int) -> Ints:
    """The labels of a bounding set, in its order."""
    field = row.field(at)
    name = field.name("a node set")
    if name not in draft.node_sets:
        raise Mistake(field.place, f"there is no node set {name} so far", did_you_mean(name, draft.node_sets.chunks))
    return draft.node_sets.ordered(name)


@keyword("model", takes=("ELSET",), refuses={"ALL NODES": "is not supported: bars have no nodes to skip"})
def elgen(card: Card, draft: Draft) -> None:
    """``master, n, node inc, element inc[, rows, node inc, element inc[, layers, node inc, element inc]]``."""
    name = card.name("ELSET")
    for row in draft.rows(card):
        with draft.guard():
            row.end(10, "master element and three groups of count, node increment, element increment")
            master = row.integer(0, "the master element")
            found = draft.elements.find(master)
            if found is None:
                if draft.has_failed("ELEMENT"):
                    continue
                raise Mistake(row.place, f"there is no element {master}", "define the master element with *ELEMENT")
            shifts = generated_shifts(draft, row)
            labels, nodes = master + shifts[:, 1], found[1] + shifts[:, :1]
            if labels.max() > MAX_LABEL or nodes.max() > MAX_LABEL:
                raise Mistake(row.place, "the labels become too large")
            for mistake in draft.elements.add(found[0], labels[1:], nodes[1:], lambda _, row=row: row.place):  # type: ignore[misc]
                draft.report(mistake)
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
