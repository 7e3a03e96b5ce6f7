"""Keywords as a table: where a card is allowed, its parameters, the entries of its data lines, and their fields.

A row gives for each number its field in the model, its name in messages, its range and its default; reading and writing
follow from it. A card without such a row has a function ``(card, draft)`` under ``@keyword(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from fem.deck.cards import Card, Parameter, Row
from fem.deck.draft import Draft
from fem.deck.kinds import ANY, Kind
from fem.deck.source import Mistake, Place, did_you_mean, listing, shown, squeezed

Handler: TypeAlias = Callable[[Card, Draft], None]
SHORTEST = 4


NEEDED: Any = object()


class Value(NamedTuple):
    """A parameter, or an entry of a data line: where it goes, and how it is read and written.

    field    of the object that the card makes (several entries of one field are a tuple); empty: it is not stored
    what     name of an entry in messages
    default  where it is not given; NEEDED: it must be
    shown    a parameter that is written even if it has its default value
    is_ours  a parameter that neither Abaqus nor CalculiX has
    """

    field: str
    kind: Kind = ANY
    what: str = ""
    default: Any = NEEDED
    shown: bool = False
    is_ours: bool = False


class Parameters(dict[str, Value]):
    """The parameters of a card, by name."""

    def read(self, card: Card, draft: Draft, only_given: bool = False) -> dict[str, Any]:
        """Values by field; ``only_given``: without defaults."""
        found = {
            value.field: value.kind.read(card.field(name), f"{name}=", draft) if card.has(name) else value.default
            for name, value in self.items()
            if card.has(name) or not only_given
        }
        return {field: value for field, value in found.items() if field}

    def written(self, thing: object) -> dict[str, str]:
        """Texts by name; of defaults that are not shown, and where these are None, none."""
        found = {}
        for name, value in self.items():
            own = getattr(thing, value.field) if value.field else None
            is_left_out = not value.field or (own is None and value.default is None)
            if not is_left_out and (value.shown or value.default is NEEDED or own != value.default):
                found[name] = value.kind.written(own)
        return found


NONE = Parameters()


class DataLine:
    """The entries of a data line; ``text`` names them in messages."""

    def __init__(self, text: str, *values: Value) -> None:
        self.text, self.values = text, values
        names = [value.field for value in values]
        self.tuples = {name for name in names if names.count(name) > 1}
        self.entries = [(at, each.field, each.kind.read, each.what, each.default) for at, each in enumerate(values)]

    def read(self, row: Row, draft: Draft) -> dict[str, Any]:
        row.end(len(self.values), self.text)
        found: dict[str, Any] = {}
        for at, name, read, what, default in self.entries:
            field = row.field(at)
            value = read(field, what, draft) if field.text or default is NEEDED else default
            if name in self.tuples:
                found[name] = (*found.get(name, ()), value)
            elif name:
                found[name] = value
        return found

    def written(self, thing: object) -> str:
        """The line of an object; blank entries at its end are left out."""
        values: list[Any] = []
        for name in dict.fromkeys(value.field for value in self.values if value.field):
            own = getattr(thing, name)
            values += own if isinstance(own, tuple) else (own,)
        pairs = zip(values, self.values, strict=False)
        texts = ["" if own is None else value.kind.written(own) for own, value in pairs]
        while texts and not texts[-1]:
            texts.pop()
        return ", ".join(texts)


class Form(NamedTuple):
    """What a card makes of its parameters and its data line: one object; with ``is_list`` one of each data line.

    into       field for the object: a list of the model, or a field of a material; empty: its values fill fields
    fixed      values that the presence of the card sets
    further    message for a second data line, if there is a special one
    statement  further arguments of ``keyword``
    """

    make: Callable[..., Any] = dict
    parameters: Parameters = NONE
    line: DataLine | None = None
    into: str = ""
    is_list: bool = False
    fixed: Mapping[str, Any] = {}
    further: str = ""
    statement: Mapping[str, Any] = {}

    def read(self, card: Card, draft: Draft) -> Iterator[tuple[Any, Place]]:
        line = self.line
        if line is None:
            draft.no_rows(card)
        given = {**self.fixed, **self.parameters.read(card, draft)}
        if line is None:
            yield self.make(**given), card.place
        elif self.is_list:
            for row in draft.rows(card):
                with draft.guard():
                    yield self.make(**given, **line.read(row, draft)), row.place
        else:
            row = draft.single_row(card, line.text, self.further)
            yield self.make(**given, **line.read(row, draft)), card.place

    def written(self, name: str, *things: object) -> list[str]:
        """Cards of some objects; those of a list share a card if their parameters are equal."""
        lines: list[str] = []
        head = ""
        for thing in things:
            before, head = head, keyword_line(name, **self.parameters.written(thing))
            lines += [] if self.is_list and head == before else [head]
            lines += [] if self.line is None else [self.line.written(thing)]
        return lines

    def fields(self) -> set[str]:
        """Fields of the model or material that the card fills."""
        if self.into:
            return {self.into}
        entries = () if self.line is None else self.line.values
        return {*self.fixed, *(value.field for value in (*self.parameters.values(), *entries))} - {""}


def keyword_line(keyword: str, *flags: str, **parameters: str) -> str:
    return ", ".join([f"*{keyword}", *flags, *(f"{name}={text}" for name, text in parameters.items())])


class Keyword(NamedTuple):
    """Arguments of ``keyword`` for a card, ``refused`` with the reasons, and the function that reads it."""

    level: str
    takes: tuple[str, ...]
    needs: tuple[str, ...]
    ignores: tuple[str, ...]
    refused: Mapping[str, str]
    plus: tuple[str, ...]
    read: Handler


KEYWORDS: dict[str, Keyword] = {}
"""All that are known, from which their reference is written, too. ``*PARAMETER`` and ``*INCLUDE`` of text are answered
by ``scanner.py``, foreign keywords by ``reader.py``."""


def keyword(
    name: str,
    level: str,
    parameters: Parameters = NONE,
    takes: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    ignores: tuple[str, ...] = (),
    refuses: Mapping[str, str] | None = None,
    unsupported: tuple[str, ...] = (),
    plus: tuple[str, ...] = (),
    extension: str = "",
) -> Callable[[Handler], Handler]:
    """A card ``*NAME``: its level and its parameters are checked before its function sees it.

    level       where the card may stand: anywhere, model, step, material
    parameters  as rows of the table; the others by name only:
    takes       optional parameters; needs: required ones
    ignores     parameters that can change no result
    refuses     parameters of Abaqus or CalculiX that are refused, with the reason; unsupported: without a reason
    plus        those of ``takes`` and ``needs`` that neither Abaqus nor CalculiX has
    extension   the whole card, where neither has it
    """
    needs = (*(name for name, value in parameters.items() if value.default is NEEDED), *needs)
    takes = (*(name for name, value in parameters.items() if value.default is not NEEDED), *takes)
    plus = (*(name for name, value in parameters.items() if value.is_ours), *plus)
    known, ignored, extra = ({*map(squeezed, names)} for names in ((*needs, *takes), ignores, plus))
    reasons = dict.fromkeys(unsupported, "is not supported") | dict(refuses or {})
    refused = {squeezed(name): reason for name, reason in reasons.items()}
    answered = known | ignored | refused.keys()

    def decorate(function: Handler) -> Handler:
        def checked(card: Card, draft: Draft) -> None:
            check_level(card, draft, level)
            if not known.issuperset(card.parameters):
                expand(card.parameters, known)
                expand(card.parameters, answered)
            for given, parameter in card.parameters.items():
                if given in refused:
                    raise Mistake(parameter.place, f"{parameter.name} of *{card.keyword} {refused[given]}")
                if given in ignored:
                    draft.ignore(f"*{card.keyword}, {parameter.name}")
                elif given not in known:
                    every = (*needs, *takes, *ignores)
                    otherwise = f"it has {listing(every, 'and')}" if every else "it has none"
                    if parameter.place.line > card.place.line:
                        otherwise = "the comma at the end of the line above continues the keyword line"
                    message = f"*{card.keyword} has no parameter {shown(parameter.name)}"
                    raise Mistake(parameter.place, message, did_you_mean(given, every, otherwise))
                elif given in extra:
                    draft.extension(f"*{card.keyword}, {parameter.name}")
            for needed in needs:
                if not card.has(needed):
                    raise card.mistake(f"*{card.keyword} needs {needed}=")
            if extension:
                draft.extension(extension)
            function(card, draft)

        KEYWORDS[name] = Keyword(level, takes, needs, ignores, reasons, plus, checked)
        return function

    return decorate


def into_list(form: Form, card: Card, draft: Draft) -> None:
    """Appends the object of a form to a list of the model."""
    getattr(draft, form.into).extend(form.read(card, draft))


def card_of(name: str, form: Form, put: Callable[[Form, Card, Draft], None] = into_list, level: str = "model") -> None:
    """Registers a card that is read by its form; put: stores the resulting object."""
    keyword(name, level, form.parameters, **form.statement)(partial(put, form))


def expand(parameters: dict[str, Parameter], names: Collection[str]) -> None:
    """Abbreviations of one name only, of at least ``SHORTEST`` letters, become that name, as in Abaqus."""
    for short in [name for name in parameters if name not in names and len(name) >= SHORTEST]:
        found = [name for name in names if name.startswith(short)]
        if len(found) == 1 and found[0] not in parameters:
            parameters[found[0]] = parameters.pop(short)


def check_level(card: Card, draft: Draft, level: str) -> None:
    if level != "material":
        draft.material = None
    if level == "step" and draft.step is None:
        hint = "it belongs between *STEP and *END STEP"
        raise Mistake(card.place, f"*{card.keyword} is outside a step", hint, "outside a step")
    if level in ("model", "material") and draft.step is not None:
        raise card.mistake(f"*{card.keyword} is inside a step", "it belongs before the first *STEP")
    if level == "material" and draft.material is None:
        hint = "it belongs below a *MATERIAL"
        raise Mistake(card.place, f"*{card.keyword} is outside a material", hint, "outside a material")
