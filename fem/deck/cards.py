"""Cards: a keyword with its parameters and data lines, which are split at commas into fields, each with its column."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from fem.deck.parameters import Traced, TracedText
from fem.deck.source import Hint, Mistake, Place, Source, did_you_mean, listing, shown, squeezed

MAX_ENTRIES = 16
MAX_NAME = 80
MAX_DIGITS = 30
MAX_LABEL = 10**15
"""Far above any real label, and sums of two still fit an int64."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
ARITHMETIC = re.compile(r"[-+*/()]")
REFERENCE = re.compile(r"<([^<>]*)>")
LONE_REFERENCE = re.compile(r"([+-]?)<([^<>]*)>")
QUOTED = re.compile(r'"[^"]*"')
QUALIFIED = re.compile(r'(?:"[^"]*"|[^".=]*)(?:\.(?:"[^"]*"|[^".=]*))+')
"""``INSTANCE.name``, the quotes around each of them."""
EXACT_INTEGERS = 2.0**53
WHOLE = re.compile(r"[+-]?(?:0|[1-9]\d*)", re.ASCII)
FRACTION = re.compile(r"0\d+(?:[eEdD][+-]?\d+)?", re.ASCII)
"""What a decimal comma splits off a number, such as ``01`` of ``0,01``; no program writes a number like this."""
ZERO_AND_FRACTION = re.compile(rf"(?:^|,)\s*[+-]?0,{FRACTION.pattern}\s*(?:,|$)", re.ASCII | re.MULTILINE)
POINT = "numbers have a decimal point, not a comma"


class Bound(NamedTuple):
    """Condition for a number, with the message (about ``what`` and ``value``) and the hint when it is violated."""

    holds: Callable[[float], bool]
    message: str
    hint: str = ""


NOT_NEGATIVE = Bound(lambda x: x >= 0.0, "{what} must not be negative, got {value:g}")
NEGATIVE = Bound(lambda x: x >= 0.0, "{what} is negative: {value:g}")
POSITIVE = Bound(lambda x: x > 0.0, "{what} must be positive, got {value:g}")
AT_LEAST_1 = Bound(lambda x: x >= 1.0, "{what} must be at least 1, got {value:g}")
UP_TO_1 = Bound(lambda x: 0.0 <= x <= 1.0, "{what} must lie between 0 and 1, got {value:g}")


def substitute(text: str, values: Mapping[str, float], place: Place) -> Any:
    """Replace every ``<name>`` by the value of the parameter; a ``TracedText`` where that is one traced number."""
    if "<" not in text:
        return text
    match = LONE_REFERENCE.fullmatch(text)
    number = values.get(match.group(2).strip().upper()) if match else None
    if match and isinstance(number, Traced):
        if match.group(1) and number.decided(operator.lt, 0.0):
            raise TypeError("two signs")
        unsigned = number.combined(operator.add, 0.0)  # -0 is written as 0
        return TracedText(-unsigned if match.group(1) == "-" else unsigned)

    def value_of(match: re.Match[str]) -> str:
        name = match.group(1).strip()
        if name.upper() not in values:
            hint = did_you_mean(name, values, "define it on a *PARAMETER line before its use")
            if ARITHMETIC.search(name):
                hint = (
                    "only a name may stand between < and >; arithmetic belongs on a *PARAMETER line: name = arithmetic"
                )
            raise Mistake(place, f"unknown parameter <{shown(name)[1:-1]}>", hint, f"<{name.upper()}>")
        value = values[name.upper()]  # whole numbers may be used as labels and counts
        return str(int(value)) if value.is_integer() and abs(value) <= EXACT_INTEGERS else repr(value)

    return REFERENCE.sub(value_of, text)


INSTANCE = 2**50
"""While a deck is read, this number times n is added to the labels of nodes and elements of the n-th instance."""


class Labels(NamedTuple):
    """Labels of an instance, and the number added to them so that they differ from all labels written in the deck."""

    added: int
    own: Container[int]


class Field(NamedTuple):
    """One entry of a line, blanks around it removed; ``quoted``: it stood in double quotes, now removed.

    ``text`` is a ``TracedText`` where the field is a traced number. ``label``: what ``INSTANCE.label`` stands for.
    ``whole``: the number before the comma, if this entry may be the digits behind a decimal comma.
    """

    text: str
    place: Place
    quoted: bool = False
    label: int | None = None
    whole: str = ""

    def mistake(self, what: str) -> Mistake:
        if self.has_open_quote():
            return Mistake(self.place, f"the quotation mark of {shown(self.text)} is not closed")
        return Mistake(self.place, f"expected {what}, got {shown(self.text) if self.text else 'nothing'}")

    def has_open_quote(self) -> bool:
        """Whether a quotation mark is not closed."""
        return not self.quoted and self.text.count('"') == 1

    def is_integer(self) -> bool:
        """Reads as an integer (a set name never does)."""
        return self.label is not None or (not self.quoted and INTEGER.fullmatch(self.text) is not None)

    def is_number(self) -> bool:
        return isinstance(self.text, TracedText) or (not self.quoted and NUMBER.fullmatch(self.text) is not None)

    def number(self, what: str, bound: Bound | None = None) -> float:
        """A finite real number, within a bound; Fortran's D exponents are fine."""
        if isinstance(self.text, TracedText):
            value: float = self.text.number
        elif not self.is_number():
            raise self.mistake(f"{what} (a number)")
        elif self.whole:
            raise comma(self)
        else:
            value = float(self.text.upper().replace("D", "E"))
            if not math.isfinite(value):
                raise Mistake(self.place, f"{what} is out of range: {shown(self.text)}")
        if bound is not None and not bound.holds(value):
            raise Mistake(self.place, bound.message.format(what=what.removesuffix("="), value=value), bound.hint)
        return value

    def integer(self, what: str, low: int = 1, high: int = MAX_LABEL) -> int:
        """An integer between ``low`` and ``high``; ``3.`` is none (nor is it in Abaqus)."""
        if self.label is not None:
            return self.label
        if isinstance(self.text, TracedText):
            traced: Any = self.text.number.whole()
            if not low <= traced <= high:
                raise TypeError("a traced number that is too large or too small")
            return traced
        is_integer, is_long = self.is_integer(), len(self.text) > 30
        value = int(self.text) if is_integer and not is_long else low
        if not is_integer or value < low == 1:
            raise self.mistake(f"{what} ({'a positive integer' if low == 1 else 'an integer'})")
        if is_long or not low <= value <= high:
            hint = "" if is_long else f"it must lie between {low} and {high}"
            raise Mistake(self.place, f"{what} is out of range: {shown(self.text) if is_long else value}", hint)
        return value

    def name(self, what: str, is_parameter: bool = False) -> str:
        """A name in upper case; those of numbers are quoted in data lines, where numbers are labels."""
        if not self.text or self.has_open_quote():
            raise self.mistake(what)
        if len(self.text) > MAX_NAME:
            raise Mistake(self.place, f"{what} is longer than {MAX_NAME} characters")
        if NUMBER.fullmatch(self.text) and not (self.quoted or is_parameter):
            raise Mistake(self.place, f"expected {what}, got the number {self.text}", "put a name in quotes")
        bad = next((c for c in self.text if not c.isprintable() or c in '"<>=*'), None)
        if bad is not None:
            raise Mistake(self.place, f"{what} contains {shown(bad)}: {shown(self.text)}")
        return self.text.upper()

    def word(self, what: str, words: tuple[str, ...]) -> str:
        """One of the given words, compared without case and blanks."""
        for word in words:
            if squeezed(self.text) == squeezed(word):
                return word
        message = f"expected {what} {listing(words)}, got {shown(self.text)}"
        raise Mistake(self.place, message, did_you_mean(self.text, words))


def comma(field: Field) -> Mistake:
    both = f"{field.whole},{field.text}"
    message = f"{both} is read as two entries, {field.whole} and {field.text}"
    return Mistake(field.place, message, f"{POINT}: {both.replace(',', '.')}")


def split_line(text: str, separator: str = ",") -> list[tuple[str, int]]:
    """(text between commas, column it starts at); commas inside double quotes do not separate."""
    masked = QUOTED.sub(lambda match: "x" * len(match.group()), text) if '"' in text else text
    pieces, start = [], 0
    for part in masked.split(separator):
        pieces.append((text[start : start + len(part)], start + 1))
        start += len(part) + 1
    return pieces


def trimmed(text: str, column: int) -> tuple[str, int, bool]:
    """A piece without blanks around it, without quotes, its column, and whether it was quoted."""
    bare = text.lstrip()
    if not bare:
        return "", column, False
    column += len(text) - len(bare)
    bare = bare.rstrip()
    if '"' in bare and QUALIFIED.fullmatch(bare):
        return bare.replace('"', ""), column, True
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        return bare[1:-1].strip(), column, True
    return bare, column, False


def label_in(field: Field, instances: Mapping[str, Labels]) -> int | None:
    """The label that ``INSTANCE.label`` means; None if the field is something else.
    instances  by name; the one with an empty name replaces all that could not be read"""
    if field.is_number():
        return None
    name, _, label = field.text.rpartition(".")
    if not (label.isascii() and label.isdigit()):
        return None
    found = instances.get(name.upper(), instances.get(""))
    if found is None:
        raise Mistake(field.place, f"there is no instance {shown(name)}", did_you_mean(name, instances))
    added, own = found
    if len(label) > MAX_DIGITS or int(label) not in own:
        raise Mistake(field.place, f"instance {name.upper()} has no node or element {shown(label)[1:-1]}")
    return added + int(label)


@dataclass(frozen=True, slots=True)
class Row:
    """One data line: its entries, trailing empty ones dropped."""

    source: Source
    line: int
    pieces: tuple[tuple[str, int], ...]
    values: Mapping[str, float]
    instances: Mapping[str, Labels] | None

    @property
    def place(self) -> Place:
        return self.field(0).place if self.pieces else Place(self.source, self.line, 1)

    def __len__(self) -> int:
        return len(self.pieces)

    def fields(self) -> list[Field]:
        return [self.field(index) for index in range(len(self))]

    def field(self, index: int) -> Field:
        """Entry ``index``; an empty field, placed after the last entry, when the line ends before it."""
        if index >= len(self.pieces):
            text = self.source.lines[self.line - 1]
            return Field("", Place(self.source, self.line, len(text.rstrip()) + 1))
        text, column, quoted = trimmed(*self.pieces[index])
        place = Place(self.source, self.line, column)
        field = Field(text if quoted else substitute(text, self.values, place), place, quoted)
        if text[:1] == "0" and FRACTION.fullmatch(text):
            field = field._replace(whole=self._before(index))
        return field._replace(label=label_in(field, self.instances)) if self.instances else field

    def _before(self, index: int) -> str:
        """The whole number directly before the comma before an entry; otherwise empty."""
        before = self.pieces[index - 1][0].lstrip() if index and self.pieces[index][0][:1] == "0" else ""
        return before if WHOLE.fullmatch(before) else ""

    def number(self, index: int, what: str, default: float | None = None, bound: Bound | None = None) -> float:
        """Entry ``index`` as a number; ``default`` when it is blank."""
        field = self.field(index)
        return default if default is not None and not field.text else field.number(what, bound)

    def amount(self, index: int, what: str, default: float | None = None, *, positive: bool = False) -> float:
        """Entry ``index`` as a number that is not negative, or that is positive."""
        return self.number(index, what, default, POSITIVE if positive else NOT_NEGATIVE)

    def integer(self, index: int, what: str, low: int = 1, high: int = MAX_LABEL, default: int | None = None) -> int:
        field = self.field(index)
        return default if default is not None and not field.text else field.integer(what, low, high)

    def end(self, count: int, what: str) -> None:
        """Nothing may follow the first ``count`` entries."""
        if len(self) > count:
            extra = next(field for field in map(self.field, range(count, len(self))) if field.text)
            if extra.whole:
                raise comma(extra)
            raise Mistake(extra.place, f"expected {what}, got an extra entry {shown(extra.text)}")

    def check_size(self) -> None:
        if len(self) > MAX_ENTRIES:
            place = self.field(MAX_ENTRIES).place
            raise Mistake(place, f"a data line holds at most {MAX_ENTRIES} entries, this one has {len(self)}")


def read_row(
    source: Source, line: int, values: Mapping[str, float], instances: Mapping[str, Labels] | None = None
) -> Row:
    """Split line ``line`` (from 1) of a file. Mistake: a number in it has a decimal comma."""
    text = source.lines[line - 1]
    pieces = split_line(text)
    while pieces and not pieces[-1][0].strip():
        pieces.pop()
    row = Row(source, line, tuple(pieces), values, instances)
    if ",0" in text and ZERO_AND_FRACTION.search(text):  # no label is 0: a decimal comma
        raise next(comma(field) for field in row.fields() if field.whole.lstrip("+-") == "0")
    return row


class Parameter(NamedTuple):
    """``NAME`` or ``NAME=value`` of a keyword line; ``value`` None: a flag."""

    name: str
    value: Field | None
    place: Place


class Piece(NamedTuple):
    """Consecutive data lines ``start`` to ``stop - 1`` (from 1) of one file."""

    source: Source
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Card:
    """A keyword line and the data lines below it, which may come from several files.

    keyword     upper case, single blanks, no asterisk
    parameters  by name without blanks
    pieces      where its data lines are, comments left out, blank lines kept
    place       of the asterisk
    values      the ``*PARAMETER`` values known here
    broken      its keyword line has mistakes, already reported
    instances   by name, for ``INSTANCE.label`` in its data lines
    file        that INPUT= names: its lines are the first of the data lines
    mesh        the mesh file of an ``*INCLUDE``
    """

    keyword: str
    parameters: dict[str, Parameter]
    pieces: tuple[Piece, ...]
    place: Place
    values: Mapping[str, float]
    broken: bool = False
    instances: Mapping[str, Labels] | None = None
    file: Field | None = None
    mesh: Path | None = None

    def all_rows(self) -> Iterator[Row]:
        """Every data line, blank ones too."""
        for source, start, stop in self.pieces:
            for line in range(start, stop):
                yield read_row(source, line, self.values, self.instances)

    @property
    def rows(self) -> Iterator[Row]:
        """The data lines that are not blank."""
        return (row for row in self.all_rows() if len(row))

    def texts(self) -> list[str]:
        """The data lines as written, blank ones left out."""
        lines = chain.from_iterable(source.lines[start - 1 : stop - 1] for source, start, stop in self.pieces)
        return [text for text in lines if text.replace(",", "").strip()]

    def row(self, index: int) -> Row:
        """Data line ``index`` of those that are not blank."""
        return next(islice(self.rows, index, None))

    def mistake(self, message: str, hint: Hint = "") -> Mistake:
        return Mistake(self.place, message, hint)

    def has(self, name: str) -> bool:
        return squeezed(name) in self.parameters

    def field(self, name: str) -> Field:
        """The value of a parameter; an empty field when it is given without one."""
        parameter = self.parameters[squeezed(name)]
        return parameter.value if parameter.value is not None else Field("", parameter.place)

    def flag(self, name: str) -> bool:
        if self.has(name) and self.parameters[squeezed(name)].value is not None:
            raise Mistake(self.field(name).place, f"{name} of *{self.keyword} takes no value")
        return self.has(name)

    def refuse(self, names: Iterable[str], why: str, hint: Hint = "") -> None:
        """Mistake at the first of these parameters that is given; the message is its name followed by ``why``."""
        for name in filter(self.has, names):
            raise Mistake(self.field(name).place, f"{name} {why}", hint)

    def needed(self, name: str) -> str:
        """The name given by a parameter that the card must have, upper case."""
        return self.field(name).name(f"the name {name}=", is_parameter=True)

    def name(self, name: str) -> str | None:
        return self.needed(name) if self.has(name) else None

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        return self.field(name).word(f"{name}=", words) if self.has(name) else default

    def number(self, name: str, default: float = 0.0, bound: Bound | None = None) -> float:
        return self.field(name).number(f"{name}=", bound) if self.has(name) else default

    def integer(self, name: str, low: int = 1, default: int | None = None) -> int | None:
        return self.field(name).integer(f"{name}=", low) if self.has(name) else default
