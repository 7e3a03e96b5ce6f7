"""``*NSET`` and ``*ELSET``: labels, ranges, and names of earlier sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.arrays import Ints, distinct
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.blocks import listed_integers
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import INSTANCE, Field, Row
from fem.deck.lexical.source import Hint, Mistake, Place, did_you_mean, said
from fem.deck.mesh_draft import SetTable
from fem.deck.part_draft import OPENING


@keyword("anywhere", takes=("GENERATE", "UNSORTED", "INSTANCE", "ELSET"), needs=("NSET",), ignores=("INTERNAL",))
def nset(card: Card, draft: Draft) -> None:
    """A node set; ELSET: the nodes of an element set that stands above."""
    if card.has("ELSET"):
        draft.no_rows(card)
        elements = earlier_set(card.field("ELSET"), draft.element_sets, "element").tolist()
        nodes = [draft.elements.find(label)[1] for label in elements if label in draft.elements.rows]
        draft.node_sets.add(card.needed("NSET"), distinct(np.concatenate([np.zeros(0, np.int64), *nodes])))
        return
    define(card, draft, draft.node_sets, "NSET", "node")


@keyword("anywhere", takes=("GENERATE", "UNSORTED", "INSTANCE"), needs=("ELSET",), ignores=("INTERNAL",))
def elset(card: Card, draft: Draft) -> None:
    """An element set."""
    define(card, draft, draft.element_sets, "ELSET", "element")


def define(card: Card, draft: Draft, table: SetTable, parameter: str, family: str) -> None:
    """Add the members of one card to a set."""
    name = card.needed(parameter)
    if card.flag("UNSORTED"):
        table.unsorted.add(name)
    if card.has("INSTANCE"):
        define_in_instance(card, draft, table, name, family)
    else:
        add_members(card, draft, table, name, family)


def define_in_instance(card: Card, draft: Draft, table: SetTable, name: str, family: str) -> None:
    """The rows are labels and sets of an instance."""
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
        added = INSTANCE * (1 + list(draft.instances).index(instance))
        table.add(name, chunk.labels + added)


def add_members(card: Card, draft: Draft, table: SetTable, name: str, family: str) -> None:
    """Labels, ranges and sets."""
    if card.flag("GENERATE"):
        table.chunks.setdefault(name, [])
        for row in draft.rows(card):
            with draft.guard():
                table.add(name, spread(row, draft), lambda _, row=row: row.place)  # type: ignore[misc]
        return
    labels = listed_integers(card)
    if labels is not None:
        table.add(name, labels, lambda at: [field.place for row in card.rows for field in row.fields()][at])
        return
    define_mixed(card, draft, table, name, family)


def define_mixed(card: Card, draft: Draft, table: SetTable, name: str, family: str) -> None:
    """The careful reader: labels and names of earlier sets, with the place of each."""
    table.chunks.setdefault(name, [])
    labels: list[int] = []
    places: list[Place] = []
    for row in draft.rows(card):
        for at in range(len(row)):
            with draft.guard():
                field = row.field(at)
                if field.is_integer():
                    labels.append(field.integer(f"the {family} label"))
                    places.append(field.place)
                else:
                    add_set(field, draft, table, name, family)
    table.add(name, np.array(labels, dtype=np.int64), places.__getitem__)


def spread(row: Row, draft: Draft) -> Ints:
    """``first, last[, increment]``."""
    row.end(3, "first, last, increment")
    first, last = row.integer(0, "the first label"), row.integer(1, "the last label")
    increment = row.integer(2, "the increment", default=1)
    if last < first:
        raise Mistake(row.field(1).place, f"the last label {last} is smaller than the first, {first}")
    draft.spend((last - first) // increment + 1, row.place)
    return np.arange(first, last + 1, increment, dtype=np.int64)


def add_set(field: Field, draft: Draft, table: SetTable, name: str, family: str) -> None:
    """All members of an earlier set."""
    other = field.name(f"{'a' if family == 'node' else 'an'} {family} label or the name of an earlier set")
    if other not in table and draft.has_failed(*OPENING):
        return
    if other == name or other not in table:
        message = f"there is no {family} set {other} so far"
        raise Mistake(field.place, message, "it is this one" if other == name else hint_at_set(other, table))
    members = table.ordered(other)
    draft.spend(len(members), field.place)
    table.add(name, members)


def earlier_set(field: Field, table: SetTable, family: str) -> Ints:
    """The members of a set that stands above."""
    name = field.name(f"{'a' if family == 'node' else 'an'} {family} set", is_parameter=True)
    if name not in table:
        raise Mistake(field.place, f"there is no {family} set {name} so far", hint_at_set(name, table))
    return table.ordered(name)


def hint_at_set(name: str, table: SetTable) -> Hint:
    """For a set that is not there yet, looked for when all sets are known."""
    similar = did_you_mean(name, table.chunks)
    return lambda: "it is defined further down" if name in table else said(similar)
