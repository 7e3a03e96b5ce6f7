"""Decks as Abaqus/CAE writes them: ``*PART``, ``*ASSEMBLY``, ``*INSTANCE`` and their ends.

Each instance is read into a draft of its own and merged with unique names and labels. While the deck is
read the labels of the n-th instance are far above all that may be written in a deck (``INSTANCE`` of ``cards.py``), so
a label that is not qualified never means a node of an instance. The model has small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import fields, replace
from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import INSTANCE, MAX_LABEL, NUMBER, Card, Labels, Row
from fem.deck.draft import MOST_NAMED, OPENING, Draft, ElementTable, NodeTable, PlacedPart, Position
from fem.deck.lookup import ELEMENT_CARDS, NODE_CARDS, build_mesh, check_uses
from fem.deck.source import Mistake, did_you_mean, words
from fem.deck.table import KEYWORDS, keyword
from fem.model import BarSection, Model, RotaryInertia
from fem.model import mesh as model_mesh

INSIDE = words("""
    NODE, ELEMENT, NGEN, NFILL, ELGEN, NSET, ELSET, SOLID SECTION, BEAM SECTION, BEAM GENERAL SECTION, SPRING,
    CONNECTOR SECTION, DASHPOT, MASS, ROTARY INERTIA, EQUATION, MPC, INCLUDE
""")
"""Cards allowed in a part or an instance."""
CONSEQUENCES = ("NODE", "ELEMENT", "PROPERTY", "NSET", "ELSET")
"""Kinds of unknown names that are not reported if a part had a mistake, which may be the cause."""


@keyword("PART", "model", needs=("NAME",), ignores=("INTERNAL",))
def part(card: Card, draft: Draft) -> None:
    """Opens a part: a mesh with sets and properties, its labels and names its own."""
    close(draft, 0, "a *PART follows")
    cards = draft.parts.begin(card, [])
    draft.parts.cards_of[draft.declare(card, "part")] = cards
    draft.no_rows(card)


@keyword("ASSEMBLY", "model", takes=("NAME",))
def assembly(card: Card, draft: Draft) -> None:
    """Opens the assembly; cards in it but in no instance belong to the model."""
    close(draft, 0, "an *ASSEMBLY follows")
    draft.parts.begin(card, draft.parts.rest)
    if draft.parts.assembly is not None:
        raise card.mistake("the deck has a second *ASSEMBLY", f"the first is at {draft.parts.assembly}")
    draft.parts.assembly = card.place
    draft.no_rows(card)


@keyword(
    "INSTANCE",
    "model",
    needs=("NAME", "PART"),
    refuses=dict.fromkeys(("INSTANCE", "LIBRARY"), "is not supported: instances are of parts of the deck"),
)
def instance(card: Card, draft: Draft) -> None:
    """``x, y, z`` of the shift, then ``two points of an axis, angle``; cards of its own below."""
    if not any(opened.keyword == "ASSEMBLY" for opened in draft.parts.open):
        raise card.mistake("*INSTANCE is outside the *ASSEMBLY")
    close(draft, 1, "an *INSTANCE follows")
    model = card.needed("PART")
    cards = draft.parts.begin(card, [*draft.parts.cards_of.get(model, ())])
    name = draft.declare(card, "instance")
    if NUMBER.fullmatch(name):
        raise Mistake(card.field("NAME").place, f"the name of an instance is a number: {name}", "so is 1.2")
    draft.parts.instances.append(found := PlacedPart(name, model, card.place, Position(np.zeros(3)), cards))
    draft.parts.used.add(model)
    if model not in draft.parts.cards_of:
        raise Mistake(card.field("PART").place, f"there is no part {model}", did_you_mean(model, draft.parts.cards_of))
    found.position = position_of(card)


def position_of(card: Card) -> Position:
    rows = list(card.all_rows())
    if not rows:
        return Position(np.zeros(3))
    rows[0].end(3, "the shift x, y, z")
    shift = numbers(rows[0], 3, "the shift")
    turns = [row for row in rows[1:] if len(row)]
    if not turns:
        return Position(shift)
    if len(turns) > 1:
        raise Mistake(turns[1].place, "*INSTANCE takes two data lines (shift; axis and angle), got a third")
    turns[0].end(7, "two points of the axis (6 coordinates) and the angle in degrees")
    line = numbers(turns[0], 6, "a coordinate of the axis")
    if (line[:3] == line[3:]).all():
        raise Mistake(turns[0].place, "the two points of the axis are the same", "give two different points")
    return Position(shift, line[:3], line[3:], float(turns[0].number(6, "the angle in degrees")))


def numbers(row: Row, count: int, what: str) -> Floats:
    """The first entries of a line, 0 where blank."""
    return np.array([row.number(at, what, 0.0) for at in range(count)], dtype=np.float64)


@keyword("END PART", "model")
@keyword("END ASSEMBLY", "model")
@keyword("END INSTANCE", "model")
def end(card: Card, draft: Draft) -> None:
    """``*END PART``, ``*END INSTANCE``, ``*END ASSEMBLY``."""
    opening = card.keyword.removeprefix("END ")
    names = [opened.keyword for opened in draft.parts.open]
    if opening not in names:
        raise card.mistake(f"*{card.keyword} without *{opening}")
    close(draft, 1 + names.index(opening), f"*{card.keyword} follows")
    draft.parts.open.pop()
    draft.no_rows(card)


def close(draft: Draft, depth: int, why: str) -> None:
    """Closes all that is open deeper than ``depth``, with a mistake for each."""
    for opened in draft.parts.open[depth:]:
        draft.report(Mistake(opened.place, f"{why}: *END {opened.keyword} is missing"))
    del draft.parts.open[depth:]


def sorted_cards(cards: list[Card], draft: Draft, call: Callable[[Card], None]) -> list[Card]:
    """The cards outside parts and instances; ``call`` reads those of this file."""
    parts, before, is_behind = draft.parts, len(draft.mistakes), False
    if not any(card.keyword in OPENING for card in cards):
        return cards
    for card in cards:
        if card.keyword == "STEP":
            close(draft, 0, "a *STEP follows")
            is_behind = True
        if card.keyword in OPENING:
            if is_behind:
                draft.report(card.mistake(f"*{card.keyword} comes after the first *STEP"))
            else:
                call(card)
            if not parts.open or parts.open[-1].place != card.place:
                parts.begin(card, [])  # it failed: the cards in it are not checked
        elif card.keyword.removeprefix("END ") in OPENING:
            call(card)
        else:
            take(card, draft)
    close(draft, 0, "the deck ends")
    if len(draft.mistakes) > before:
        draft.failed.update(CONSEQUENCES)
    for name in parts.cards_of:
        if name not in parts.used:
            draft.notice(f"part {name} has no *INSTANCE: it is ignored")
    return parts.rest


def take(card: Card, draft: Draft) -> None:
    """Assigns an ordinary card to the open part or model, where it is allowed."""
    opened = draft.parts.open[-1] if draft.parts.open else None
    if opened and opened.keyword != "ASSEMBLY" and card.keyword in KEYWORDS and card.keyword not in INSIDE:
        message = f"*{card.keyword} is inside the *{opened.keyword} of line {opened.place.line}"
        draft.report(card.mistake(message, "it belongs to the model: put it after *END ASSEMBLY"))
        return
    (opened.cards if opened else draft.parts.rest).append(card)


MOST = 8000
"""Largest number of instances, so that their labels fit 64 bits during reading."""


def read_instances(draft: Draft, read: Callable[[list[Card], Draft], None]) -> dict[str, Labels]:
    """Read all instances by ``read`` and put them into the draft; their labels by name."""
    labels: dict[str, Labels] = {}
    for number, instance in enumerate(draft.parts.instances, 1):
        if number > MOST:
            draft.report(Mistake(instance.place, f"the deck has more than {MOST} instances"))
            break
        own, before = draft.inner(), len(draft.mistakes)
        draft.instances[instance.name] = own
        read(instance.cards, own)
        for catenary in own.catenaries:
            message = "*NGEN, LINE=CATENARY is inside a part: the materials of its bars are known only in the model"
            draft.report(catenary.card.mistake(message, "give the nodes by *NODE, or write a flat deck"))
            own.failed.add("NGEN")
        for form in own.forms[:1]:
            message = "*FORM FINDING is inside a part: supports and loads are known only in the model"
            draft.report(Mistake(form.place, message, "write a flat deck"))
        draft.uses += [use for use in own.uses if use.family not in ("node", "element")]
        own.uses = [use for use in own.uses if use.family in ("node", "element")]
        build_mesh(own)
        check_uses(own)
        known: Container[int] = own.nodes.rows.keys() | own.elements.rows.keys()
        if len(draft.mistakes) > before or draft.has_failed(*OPENING):
            draft.failed.update(("PROPERTY", "NSET", "ELSET", *NODE_CARDS, *ELEMENT_CARDS))
            known = range(MAX_LABEL)
            own.nodes, own.elements, own.properties, own.equations, own.links = NodeTable(), ElementTable(), [], [], []
        join(draft, own, instance, number * INSTANCE)
        labels[instance.name] = Labels(number * INSTANCE, known)
    if draft.has_failed(*OPENING):
        labels[""] = Labels(0, range(MAX_LABEL))
    return labels


def join(draft: Draft, own: Draft, instance: PlacedPart, added: int) -> None:
    def qualified(target: str | int) -> str | int:
        return f"{instance.name}.{target}" if isinstance(target, str) else target + added

    for nodes in own.nodes.chunks:
        draft.nodes.add(nodes.labels + added, instance.position.applied(nodes.numbers), nodes.where)
    for elements in own.elements.chunks:
        draft.elements.add(elements.kind, elements.labels + added, elements.numbers + added, elements.where)
    for table, outer in ((own.node_sets, draft.node_sets), (own.element_sets, draft.element_sets)):
        for name, chunks in table.chunks.items():
            outer.chunks[f"{instance.name}.{name}"] = [chunk._replace(labels=chunk.labels + added) for chunk in chunks]
        outer.unsorted |= {f"{instance.name}.{name}" for name in table.unsorted}
    for entry in own.properties:
        name = f"{instance.name}.{entry.element_set}"
        value = None if entry.value is None else replace(entry.value, element_set=name)
        if isinstance(value, BarSection) and value.material in own.materials:  # that a beam section brings with it
            made = own.materials[value.material]
            value = replace(value, material=f"{instance.name}.{value.material}")
            draft.materials[value.material] = replace(made, name=value.material)
        if isinstance(value, RotaryInertia):
            axes = instance.position.applied(np.eye(3)) - instance.position.applied(np.zeros((1, 3)))
            value = value.along(axes)
        draft.properties.append(entry._replace(element_set=name, value=value))
    draft.equations += [tuple(t._replace(target=qualified(t.target)) for t in terms) for terms in own.equations]
    draft.links += [(qualified(first), qualified(second), place) for first, second, place in own.links]


def with_final_labels(model: Model, draft: Draft) -> Model:
    """The n-th instance's labels plus n - 1 times a power of ten above all labels; n times where others have labels."""
    if not draft.instances:
        return model
    written = np.concatenate([model.mesh.node_labels, model.mesh.element_labels])
    step, first = 10 ** len(str((written % INSTANCE).max())), int((written >= INSTANCE).all())
    if step * len(draft.instances) > MAX_LABEL:
        message = f"the labels of {len(draft.instances)} instances, below {step:g} each, are too large together"
        draft.report(Mistake(draft.parts.instances[-1].place, message))
        draft.raise_problems()

    def final(labels: Any) -> Any:
        number, own = np.divmod(labels, INSTANCE)
        return own + step * np.maximum(number - first, 0)

    mesh = model.mesh
    mesh = replace(
        mesh,
        node_labels=final(mesh.node_labels),
        blocks=tuple(replace(block, labels=final(block.labels)) for block in mesh.blocks),
        instances=tuple(
            model_mesh.Instance(instance.name, instance.part, step * (number - first))
            for number, instance in enumerate(draft.parts.instances, 1)
        ),
    )
    added = ", ".join(f"{each.name} {each.added}" for each in mesh.instances[:MOST_NAMED] if each.added)
    if added:
        more = ", ..." if len(mesh.instances) > MOST_NAMED else ""
        draft.notice(f"labels in tables and fields are those of the deck plus, by instance: {added}{more}")
    return with_targets(replace(model, mesh=mesh), lambda label: int(final(label)))


def with_targets(model: Model, final: Callable[[int], int]) -> Model:
    """The model with new labels wherever it refers to one: ``target`` or ``node`` of entries in lists."""

    def changed(entry: Any) -> Any:
        labels = {name: getattr(entry, name, None) for name in ("target", "node")}
        labels = {name: final(label) for name, label in labels.items() if isinstance(label, int)}
        return replace(entry, **labels) if labels else entry

    def lists_of(thing: Any) -> dict[str, Any]:
        lists = {each.name: getattr(thing, each.name) for each in fields(thing)}
        return {name: tuple(map(changed, own)) for name, own in lists.items() if isinstance(own, tuple)}

    steps = []
    for step in model.steps:
        procedure = step.procedure
        if step.static and step.static.riks:
            procedure = replace(step.static, riks=changed(step.static.riks))
        removals = tuple(final(each) if isinstance(each, int) else each for each in step.removals)
        steps.append(replace(step, **lists_of(step) | {"procedure": procedure, "removals": removals}))
    return replace(model, **lists_of(model) | {"steps": tuple(steps)})
