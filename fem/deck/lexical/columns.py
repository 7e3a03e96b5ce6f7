"""Columns of a table in a file, as measurements and other programs write them: not in the lines of a deck.

Commas, semicolons or blanks stand between the entries, the same in all lines. The names of the columns may stand above
the numbers, in a line that has no number; lines that begin with # are comments, or these names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.deck.lexical.blocks import plain_columns
from fem.deck.lexical.card import Card, Piece
from fem.deck.lexical.fields import FRACTION, NUMBER, Field, Row, split_line
from fem.deck.lexical.source import Mistake, Source, did_you_mean, listing, shown, squeezed

MOST_NAMED = 20


class Columns(NamedTuple):
    """Lines of numbers: where they stand, comments among them; how many a line has; names of the columns, if any."""

    card: Card
    pieces: tuple[Piece, ...]
    separator: str | None
    width: int
    names: tuple[str, ...]

    @property
    def lines(self) -> Iterator[tuple[Source, int]]:
        """The lines that have numbers."""
        return lines_in(self.pieces)

    def find(self, given: Field | int) -> int:
        """Which column, from 0, is given by its name, or by its number from 1."""
        if isinstance(given, int) or given.is_integer():
            number = given if isinstance(given, int) else given.integer("a column")
            if number <= self.width:
                return number - 1
            plural = "s" * (self.width > 1)
            message = f"there is no column {number}: the table has {self.width} column{plural}{self.named()}"
            raise self.card.mistake(message) if isinstance(given, int) else Mistake(given.place, message)
        found = [at for at, name in enumerate(self.names) if squeezed(name) == squeezed(given.text)]
        if not self.names:
            raise Mistake(given.place, "the columns of the table have no names", f"give a number, 1 to {self.width}")
        if len(found) != 1:
            there = f"{len(found) or 'no'} column{'s' * (len(found) > 1)}"
            message = f"the table has {there} {shown(given.text)}{self.named()}"
            raise Mistake(given.place, message, did_you_mean(given.text, self.names))
        return found[0]

    def named(self) -> str:
        """The names, for a message."""
        more = "..." if len(self.names) > MOST_NAMED else ""
        return f": {listing(self.names[:MOST_NAMED], 'and')}{more}" if self.names else ""

    def read(self, columns: tuple[int, int], whats: tuple[str, str]) -> Floats:
        """All numbers of two columns (n, 2); Mistake at what is no finite number."""
        table = plain_columns(self.pieces, self.separator, self.width, columns)
        if table is not None:
            return table
        return np.array([self.numbers(*each) for each in zip(columns, whats, strict=True)]).T

    def numbers(self, column: int, what: str) -> list[float]:
        """All numbers of a column, one by one; Mistake at what is no finite number."""
        found = []
        for source, line in self.lines:
            entries = entries_of(source.lines[line - 1], self.separator)
            if len(entries) != self.width:
                place = self.row(source, line).field(min(len(entries), self.width)).place
                raise Mistake(place, f"expected {self.width} entries as in the first line, got {len(entries)}")
            text = entries[column].strip()
            is_plain = NUMBER.fullmatch(text) and not (text[:1] == "0" and FRACTION.fullmatch(text))
            value = float(text.upper().replace("D", "E")) if is_plain else math.nan
            found.append(value if math.isfinite(value) else self.row(source, line).field(column).number(what))
        return found

    def row(self, source: Source, line: int) -> Row:
        """A line as one of a deck: knows the places of its entries, and parameters."""
        text = source.lines[line - 1]
        if self.separator is not None:
            pieces = split_line(text, self.separator)
        else:
            pieces = [(entry.group(), entry.start() + 1) for entry in re.finditer(r"\S+", text)]
        return Row(source, line, tuple(pieces), self.card.values, None)


def columns_of(card: Card) -> Columns:
    """The data lines of a card as a table; Mistake where there are no numbers."""
    pieces = card.pieces
    lines = list(islice(lines_in(pieces), 2))
    texts = [source.lines[number - 1] for source, number in lines]
    separator = next((each for each in ";," if texts and each in texts[-1]), None)
    above = heading(pieces)
    if texts and not any(NUMBER.fullmatch(entry.strip()) or "<" in entry for entry in texts[0].split(separator)):
        above, lines, texts = texts[0], lines[1:], texts[1:]
    if not lines:
        raise Mistake(card.file.place if card.file else card.place, "there is no line of numbers")
    width = len(entries_of(texts[0], separator))
    names = tuple(name.strip().strip('"') for name in entries_of(above, separator))
    return Columns(card, from_line(pieces, *lines[0]), separator, width, names if above and len(names) == width else ())


def lines_in(pieces: tuple[Piece, ...]) -> Iterator[tuple[Source, int]]:
    """The lines that hold something but a comment."""
    for source, start, stop in pieces:
        for number in range(start, stop):
            text = source.lines[number - 1].strip()
            if text.strip(",;") and not text.startswith("#"):
                yield source, number


def heading(pieces: tuple[Piece, ...]) -> str:
    """The last comment above the lines that hold something."""
    found = ""
    for source, start, stop in pieces:
        for number in range(start, stop):
            text = source.lines[number - 1].strip()
            if text.startswith("#"):
                found = text[1:]
            elif text.strip(",;"):
                return found
    return found


def from_line(pieces: tuple[Piece, ...], source: Source, line: int) -> tuple[Piece, ...]:
    """The pieces from a line on."""
    at = next(at for at, piece in enumerate(pieces) if piece.source is source and piece.start <= line < piece.stop)
    return pieces[at]._replace(start=line), *pieces[at + 1 :]


def entries_of(line: str, separator: str | None) -> list[str]:
    """What stands between separators; there may be one at the end of the line."""
    found = line.split(separator)
    return found[:-1] if len(found) > 1 and not found[-1].strip() else found
