"""Columns of a table in a file, as measurements and other programs write them: not in the lines of a deck.

Commas, semicolons or blanks stand between the entries, the same in all lines. The names of the columns may stand above
the numbers, in a line that has no number; lines that begin with # are comments, or these names.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import FRACTION, NUMBER, Field, Row, split_line
from fem.deck.lexical.source import Mistake, Source, did_you_mean, listing, shown, squeezed

MOST_NAMED = 20


class Columns(NamedTuple):
    """Lines of numbers, where they stand; how many a line has; the names of the columns (none: they have no names)."""

    card: Card
    lines: list[tuple[Source, int]]
    separator: str | None
    width: int
    names: tuple[str, ...]

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

    def numbers(self, column: int, what: str) -> list[float]:
        """All numbers of a column; Mistake at what is no finite number."""
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
    lines: list[tuple[Source, int]] = []
    above = ""
    for source, start, stop in card.pieces:
        for number in range(start, stop):
            text = source.lines[number - 1].strip()
            if text.startswith("#"):
                above = above if lines else text[1:]
            elif text.strip(",;"):
                lines.append((source, number))
    texts = [source.lines[number - 1] for source, number in lines[:2]]
    separator = next((each for each in ";," if texts and each in texts[-1]), None)
    if texts and not any(NUMBER.fullmatch(entry.strip()) or "<" in entry for entry in texts[0].split(separator)):
        above, lines, texts = texts[0], lines[1:], texts[1:]
    if not lines:
        raise Mistake(card.file.place if card.file else card.place, "there is no line of numbers")
    width = len(entries_of(texts[0], separator))
    names = tuple(name.strip().strip('"') for name in entries_of(above, separator))
    return Columns(card, lines, separator, width, names if above and len(names) == width else ())


def entries_of(line: str, separator: str | None) -> list[str]:
    """What stands between separators; there may be one at the end of the line."""
    found = line.split(separator)
    return found[:-1] if len(found) > 1 and not found[-1].strip() else found
