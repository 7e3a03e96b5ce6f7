"""Kinds of values in cards: how each is read from a field, and how it is written; numbers with all their digits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fem.deck.cards import MAX_LABEL, NOT_NEGATIVE, POSITIVE, UP_TO_1, Bound, Field, label_in
from fem.deck.draft import Draft
from fem.deck.source import Mistake, squeezed

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-+/]*", re.ASCII)


def number(value: float) -> str:
    """All digits; zero has no sign."""
    return repr(float(value) + 0.0)


def quoted(target: str | int | None) -> str:
    """A label, a set name (quoted where blanks or commas would be lost), or nothing."""
    text = "" if target is None else str(target)
    return f'"{text}"' if isinstance(target, str) and not PLAIN.fullmatch(target) else text


class Kind(NamedTuple):
    """How a value is read from a field, which messages call ``what``, and how it is written."""

    read: Callable[[Field, str, Draft], Any]
    written: Callable[[Any], str]


def within(bound: Bound | None) -> Kind:
    """A finite number within a bound, if any."""
    return Kind(lambda field, what, draft: field.number(what, bound), number)


ANY, AMOUNT, POSITIVE_NUMBER, PART = map(within, (None, NOT_NEGATIVE, POSITIVE, UP_TO_1))


def limit(bound: Bound) -> Kind:
    """A number, or OFF for None."""
    return Kind(
        lambda field, what, draft: None if field.text.upper() == "OFF" else field.number(what, bound),
        lambda value: "OFF" if value is None else number(value),
    )


def whole(low: int = 1, high: int = MAX_LABEL) -> Kind:
    """A whole number between two others."""
    return Kind(lambda field, what, draft: field.integer(what, low, high), str)


def word_for(values: Mapping[str, Any], in_quotes: bool = False) -> Kind:
    """One of some words, and the values that they stand for; ``in_quotes``: as names with blanks are written."""

    def written(value: Any) -> str:
        word = next(word for word, own in values.items() if own == value)
        return quoted(word) if in_quotes else word

    return Kind(lambda field, what, draft: values[field.word(what, tuple(values))], written)


def word_of(*words: str) -> Kind:
    """One of some words, which is the value."""
    return word_for(dict(zip(words, words, strict=True)))


def only(words: tuple[str, ...], message: str, hint: str) -> Kind:
    """One of some words that mean the same; what is said of any other ``text``."""

    def read(field: Field, what: str, draft: Draft) -> str:
        if squeezed(field.text) not in words:
            raise Mistake(field.place, message.format(text=field.text), hint)
        return words[0]

    return Kind(read, str)


def target_of(family: str) -> Kind:
    """A label, or the name of a set, of nodes or elements."""
    return Kind(lambda field, what, draft: draft.target(field, family), quoted)


def name_of(family: str = "") -> Kind:
    """A name in a parameter: of something of a family that the deck has, of anything without one."""

    def read(field: Field, what: str, draft: Draft) -> str:
        name = field.name(f"the name {what}", is_parameter=True)
        if family:
            draft.use(family, name, field.place)
        return name

    return Kind(read, quoted)


def read_reference(field: Field, what: str, draft: Draft) -> str | int:
    """A node in a parameter: a label, ``INSTANCE.label``, or the name of a set of one node."""
    instances = draft.card.instances if draft.card else None
    node: str | int | None = label_in(field, instances) if instances else None
    if node is None and field.is_integer():
        node = field.integer("a node label")
    elif node is None:
        node = field.name(f"the name {what}", is_parameter=True)
    draft.use("node", node, field.place)
    return node


REFERENCE, ELEMENT_SET = Kind(read_reference, quoted), name_of("element")
