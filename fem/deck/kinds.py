"""Kinds of values in cards: how each is read from a field, and how it is written; numbers with all their digits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from fem.deck.cards import INSTANCE, MAX_LABEL, NOT_NEGATIVE, POSITIVE, UP_TO_1, Bound, Field, Labels, label_in
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


class Kind(Protocol):
    """How a value is read from a field, and written."""

    def read(self, field: Field, what: str, draft: Draft) -> Any: ...
    def written(self, value: Any) -> str: ...


class Number(NamedTuple):
    """A finite number within a bound."""

    bound: Bound | None = None

    def read(self, field: Field, what: str, draft: Draft) -> float:
        return field.number(what, self.bound)

    def written(self, value: float) -> str:
        return number(value)


ANY, AMOUNT, POSITIVE_NUMBER, PART = Number(), Number(NOT_NEGATIVE), Number(POSITIVE), Number(UP_TO_1)


class Limit(NamedTuple):
    """A number, or OFF for None."""

    bound: Bound

    def read(self, field: Field, what: str, draft: Draft) -> float | None:
        return None if field.text.upper() == "OFF" else field.number(what, self.bound)

    def written(self, value: float | None) -> str:
        return "OFF" if value is None else number(value)


class Whole(NamedTuple):
    """A whole number between two others."""

    low: int = 1
    high: int = MAX_LABEL

    def read(self, field: Field, what: str, draft: Draft) -> int:
        return field.integer(what, self.low, self.high)

    def written(self, value: int) -> str:
        return str(value)


class Word(NamedTuple):
    """One of some words, and the values that they stand for; ``in_quotes``: as names with blanks are written."""

    values: Mapping[str, Any]
    in_quotes: bool = False

    def read(self, field: Field, what: str, draft: Draft) -> Any:
        return self.values[field.word(what, tuple(self.values))]

    def written(self, value: Any) -> str:
        word = next(word for word, own in self.values.items() if own == value)
        return quoted(word) if self.in_quotes else word


def word_of(*words: str) -> Word:
    """One of some words, which is the value."""
    return Word(dict(zip(words, words, strict=True)))


class Only(NamedTuple):
    """One of some words that mean the same; what is said of any other ``text``."""

    words: tuple[str, ...]
    message: str
    hint: str

    def read(self, field: Field, what: str, draft: Draft) -> str:
        if squeezed(field.text) not in self.words:
            raise Mistake(field.place, self.message.format(text=field.text), self.hint)
        return self.words[0]

    def written(self, value: str) -> str:
        return value


class Target(NamedTuple):
    """A label, or the name of a set, of nodes or elements."""

    family: str

    def read(self, field: Field, what: str, draft: Draft) -> str | int:
        return draft.target(field, self.family)

    def written(self, value: str | int) -> str:
        return quoted(value)


class Name(NamedTuple):
    """A name in a parameter: of something of a family that the deck has, of anything without one."""

    family: str = ""

    def read(self, field: Field, what: str, draft: Draft) -> str:
        name = field.name(f"the name {what}", is_parameter=True)
        if self.family:
            draft.use(self.family, name, field.place)
        return name

    def written(self, value: str) -> str:
        return quoted(value)


class Reference(NamedTuple):
    """A node in a parameter: a label, ``INSTANCE.label``, or the name of a set of one node."""

    def read(self, field: Field, what: str, draft: Draft) -> str | int:
        owners = enumerate(draft.instances.items(), 1)
        labels = {name: Labels(number * INSTANCE, own.nodes.rows) for number, (name, own) in owners}
        node: str | int | None = label_in(field, labels) if labels else None
        if node is None and field.is_integer():
            node = field.integer("a node label")
        elif node is None:
            node = field.name(f"the name {what}", is_parameter=True)
        draft.use("node", node, field.place)
        return node

    def written(self, value: str | int) -> str:
        return quoted(value)


ELEMENT_SET = Name("element")
