"""``*PART``, ``*ASSEMBLY``, ``*INSTANCE`` and their ends: decks as Abaqus/CAE writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fem.arrays import Floats
from fem.deck.draft import OPENING, Draft, Instance, Position
from fem.deck.handler import Handler, keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import NUMBER, Row
from fem.deck.lexical.source import Mistake, did_you_mean, words

INSIDE = words("""
    NODE, ELEMENT, NGEN, NFILL, ELGEN, NSET, ELSET, SOLID SECTION, SPRING, DASHPOT, MASS, EQUATION, MPC, INCLUDE
""")
"""What may stand in a part or an instance."""
CONSEQUENCES = ("NODE", "ELEMENT", "PROPERTY", "NSET", "ELSET")
"""Cards on which nothing is blamed that may follow from a mistake in a part."""


@keyword("model", needs=("NAME",), ignores=("INTERNAL",))
def part(card: Card, draft: Draft) -> None:
    """Opens a part: a mesh with sets and properties, its labels and names its own."""
    close(draft, 0, "a *PART follows")
    cards = draft.parts.begin(card, [])
    draft.parts.cards_of[draft.declare(card, "part")] = cards
    draft.no_rows(card)


@keyword("model", takes=("NAME",))
def assembly(card: Card, draft: Draft) -> None:
    """Opens the assembly; what stands in it and in no instance is the model's own."""
    close(draft, 0, "an *ASSEMBLY follows")
    draft.parts.begin(card, draft.parts.rest)
    if draft.parts.assembly is not None:
        raise card.mistake("the deck has a second *ASSEMBLY", f"the first is at {draft.parts.assembly}")
    draft.parts.assembly = card.place
    draft.no_rows(card)


@keyword(
    "model",
    needs=("NAME", "PART"),
    refuses=dict.fromkeys(("INSTANCE", "LIBRARY"), "is not supported: instances are of parts of the deck"),
)
def instance(card: Card, draft: Draft) -> None:
    """``x, y, z`` of the shift, then ``two points of an axis, angle``; cards of its own below."""
    if not any(opened.keyword == "ASSEMBLY" for opened in draft.parts.open):
        raise card.mistake("*INSTANCE stands outside the *ASSEMBLY")
    close(draft, 1, "an *INSTANCE follows")
    model = card.needed("PART")
    cards = draft.parts.begin(card, [*draft.parts.cards_of.get(model, ())])
    name = draft.declare(card, "instance")
    if NUMBER.fullmatch(name):
        raise Mistake(card.field("NAME").place, f"the name of an instance is a number: {name}", "1.2 is a number, too")
    draft.parts.instances.append(found := Instance(name, model, card.place, Position(np.zeros(3)), cards))
    draft.parts.used.add(model)
    if model not in draft.parts.cards_of:
        message = f"there is no part {model}"
        raise Mistake(card.field("PART").place, message, did_you_mean(model, draft.parts.cards_of))
    found.position = position_of(card)


def position_of(card: Card) -> Position:
    """The data lines of an instance."""
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
        raise Mistake(turns[0].place, "the two points of the axis are the same", "it goes from the first to the second")
    return Position(shift, line[:3], line[3:], float(turns[0].number(6, "the angle in degrees")))


def numbers(row: Row, count: int, what: str) -> Floats:
    """The first entries of a line, 0 where blank."""
    return np.array([row.number(at, what, 0.0) for at in range(count)], dtype=np.float64)


@keyword("model")
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
    """What is open deeper than it may be."""
    for opened in draft.parts.open[depth:]:
        draft.report(Mistake(opened.place, f"{why}: *END {opened.keyword} is missing"))
    del draft.parts.open[depth:]


def sorted_cards(
    cards: list[Card], draft: Draft, keywords: Mapping[str, Handler], call: Callable[[Card], None]
) -> list[Card]:
    """The cards that stand in no part and no instance; ``call`` reads those of this file."""
    parts, before, is_behind = draft.parts, len(draft.mistakes), False
    if not any(card.keyword in OPENING for card in cards):
        return cards
    for card in cards:
        if card.keyword == "STEP":
            close(draft, 0, "a *STEP follows")
            is_behind = True
        if card.keyword in OPENING:
            if is_behind:
                draft.report(card.mistake(f"*{card.keyword} stands behind the first *STEP"))
            else:
                call(card)
            if not parts.open or parts.open[-1].place != card.place:
                parts.begin(card, [])  # it failed: what stands in it is not judged
        elif card.keyword.removeprefix("END ") in OPENING:
            call(card)
        else:
            take(card, draft, keywords)
    close(draft, 0, "the deck ends")
    if len(draft.mistakes) > before:
        draft.failed.update(CONSEQUENCES)
    for name in parts.cards_of:
        if name not in parts.used:
            draft.notice(f"part {name} has no *INSTANCE: it is left out")
    return parts.rest


def take(card: Card, draft: Draft, keywords: Mapping[str, Handler]) -> None:
    """An ordinary card, where it may stand."""
    opened = draft.parts.open[-1] if draft.parts.open else None
    if opened and opened.keyword != "ASSEMBLY" and card.keyword in keywords and card.keyword not in INSIDE:
        message = f"*{card.keyword} stands in the *{opened.keyword} of line {opened.place.line}"
        draft.report(card.mistake(message, "it belongs to the model: behind *END ASSEMBLY"))
        return
    (opened.cards if opened else draft.parts.rest).append(card)
