"""One keyword with its parameters and data lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from fem.deck.lexical.fields import Field, Labels, Row, read_row
from fem.deck.lexical.source import Hint, Mistake, Place, Source, squeezed


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
    mesh        the file of an ``*INCLUDE`` that is for meshio
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
        """The data lines that hold something."""
        return (row for row in self.all_rows() if len(row))

    def texts(self) -> list[str]:
        """The data lines as written, blank ones left out."""
        lines = chain.from_iterable(source.lines[start - 1 : stop - 1] for source, start, stop in self.pieces)
        return [text for text in lines if text.replace(",", "").strip()]

    def row(self, index: int) -> Row:
        """Data line ``index`` of those that hold something."""
        return next(islice(self.rows, index, None))

    def mistake(self, message: str, hint: Hint = "") -> Mistake:
        """A mistake of the card as a whole."""
        return Mistake(self.place, message, hint)

    def has(self, name: str) -> bool:
        """The parameter is given."""
        return squeezed(name) in self.parameters

    def field(self, name: str) -> Field:
        """The value of a parameter; an empty field when it is given without one."""
        parameter = self.parameters[squeezed(name)]
        return parameter.value if parameter.value is not None else Field("", parameter.place)

    def flag(self, name: str) -> bool:
        """Is a parameter without value given?"""
        if self.has(name) and self.parameters[squeezed(name)].value is not None:
            raise Mistake(self.field(name).place, f"{name} of *{self.keyword} takes no value")
        return self.has(name)

    def needed(self, name: str) -> str:
        """The name given by a parameter that the card must have, upper case."""
        return self.field(name).name(f"the name {name}=", is_parameter=True)

    def name(self, name: str) -> str | None:
        """The name given by a parameter, upper case."""
        return self.needed(name) if self.has(name) else None

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        """The choice made by a parameter."""
        return self.field(name).word(f"{name}=", words) if self.has(name) else default

    def number(self, name: str, default: float = 0.0) -> float:
        """The number given by a parameter."""
        return self.field(name).number(f"{name}=") if self.has(name) else default

    def amount(self, name: str, most: float = math.inf) -> float:
        """The number given by a parameter, 0 or more; 0 without it."""
        value = self.number(name)
        if not 0.0 <= value <= most:
            rule = "not be negative" if most == math.inf else f"lie between 0 and {most:g}"
            raise Mistake(self.field(name).place, f"{name} must {rule}, got {value:g}")
        return value

    def positive(self, name: str) -> float:
        """The number > 0 given by a parameter."""
        value = self.number(name)
        if value <= 0.0:
            raise Mistake(self.field(name).place, f"{name} must be positive, got {value:g}")
        return value

    def integer(self, name: str, low: int = 1, default: int | None = None) -> int | None:
        """The integer given by a parameter."""
        return self.field(name).integer(f"{name}=", low) if self.has(name) else default
