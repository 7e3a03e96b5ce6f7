"""Numbers in columns: blocks of data lines that numpy reads at once, and tables in files of other programs.

In a table commas, semicolons or blanks stand between the entries, the same in all lines. The names of the columns may
stand above the numbers, in a line that has no number; lines that begin with # are comments, or these names. A line of
units in brackets may stand below the names, as in the ``.out`` files of OpenFAST and MoorDyn; what is above these names
is then text.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, takewhile
from typing import NamedTuple

import numpy as np
import orjson

from fem.arrays import Floats, Ints
from fem.deck.cards import FRACTION, MAX_ENTRIES, MAX_LABEL, NUMBER, Card, Field, Piece, Row, split_line
from fem.deck.source import Hint, Mistake, Place, Source, did_you_mean, listing, shown, squeezed

MOST_NAMED = 20
MOST_ABOVE = 30
"""Most lines of text above the numbers of a table."""
UNITS = re.compile(r"[(\[][^()\[\]]*[)\]]([\s,;]+[(\[][^()\[\]]*[)\]])*[,;]?")
"""A line of units: ``(s) (m) (kN-m)``."""
NOT_NAME = re.compile(r"^RAO|[\[(].*|[\s_.\-]")
"""Parts of a column's name that are ignored: units, and characters between words."""


class NumberLines(NamedTuple):
    """Lines of numbers: their places (with comments), numbers per line, and names of the columns, if any.
    unread  a line above the numbers that does not have one name for each column"""

    card: Card
    pieces: tuple[Piece, ...]
    separator: str | None
    width: int
    names: tuple[str, ...]
    unread: str = ""

    @property
    def lines(self) -> Iterator[tuple[Source, int]]:
        return lines_in(self.pieces)

    def find(self, given: Field | int) -> int:
        """Index of a column (from 0), given by its name, or by its number from 1."""
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

    def place(self, number: int, column: int) -> Place:
        """Place of an entry; both numbers from 0."""
        return self.row(*next(islice(self.lines, number, None))).field(column).place

    def mistake(self, message: str, hint: Hint = "") -> Mistake:
        """A mistake about the table as a whole."""
        return Mistake(self.card.file.place if self.card.file else self.card.place, message, hint)

    def assigned(self, spellings: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """The column of each quantity, by its name in one of its spellings, ignoring units in brackets.
        Empty if the table has no names. Mistake: a name is unknown, or means the same as another."""
        if self.unread:
            raise self.mistake(f"{shown(self.unread.strip())} is not one name for each of {self.width} columns")
        found: dict[str, int] = {}
        for at, name in enumerate(self.names):
            plain = NOT_NAME.sub("", name.upper())
            meant = next((thing for thing, names in spellings.items() if plain in names), None)
            if meant is None or meant in found:
                what = f"two columns with the {meant}" if meant else f"a column {shown(name)}, which means nothing here"
                names = [each for names in spellings.values() for each in names[:1]]
                message = f"the table has {what}"
                raise self.mistake(message, did_you_mean(plain, names, listing(names, "and") + " are known"))
            found[meant] = at
        return found

    def named(self) -> str:
        """Names of the columns, for a message."""
        more = "..." if len(self.names) > MOST_NAMED else ""
        return f": {listing(self.names[:MOST_NAMED], 'and')}{more}" if self.names else ""

    def read(self, columns: tuple[int, int], whats: tuple[str, str]) -> Floats:
        """All numbers of two columns (n, 2); Mistake at what is no finite number."""

        def chosen(text: str) -> Floats | None:
            numbers = numbers_in(text, self.separator, self.width)
            return None if numbers is None else numbers.reshape(-1, self.width)[:, columns]

        table = numbers_at_once(self.pieces, chosen)
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
        """A line as a row of a deck, with the places of its entries and parameters."""
        text = source.lines[line - 1]
        if self.separator is not None:
            pieces = split_line(text, self.separator)
        else:
            pieces = [(entry.group(), entry.start() + 1) for entry in re.finditer(r"\S+", text)]
        return Row(source, line, tuple(pieces), self.card.values, None)


def columns_of(card: Card) -> NumberLines:
    """The data lines of a card as a table; Mistake where there are no numbers."""
    pieces = card.pieces
    lines = list(islice(lines_in(pieces), MOST_ABOVE))
    texts = [source.lines[number - 1] for source, number in lines]
    above, units = heading(pieces), next((at for at, text in enumerate(texts) if UNITS.fullmatch(text.strip())), -1)
    if units > 0:
        lines, texts = lines[units - 1 :], [text for at, text in enumerate(texts) if at >= units - 1 and at != units]
        del lines[1]
    lines, texts = lines[:2], texts[:2]
    separator = next((each for each in ";," if texts and each in texts[-1]), None)
    is_named = texts and not any(NUMBER.fullmatch(entry.strip()) or "<" in entry for entry in texts[0].split(separator))
    if is_named:
        above, lines, texts = texts[0], lines[1:], texts[1:]
    if not lines:
        raise Mistake(card.file.place if card.file else card.place, "the table has no line of numbers")
    width = len(entries_of(texts[0], separator))
    names = tuple(name.strip().strip('"') for name in entries_of(above, separator))
    names, unread = (names, "") if above and len(names) == width else ((), above if is_named else "")
    source, first = lines[0]
    at = next(at for at, piece in enumerate(pieces) if piece.source is source and piece.start <= first < piece.stop)
    return NumberLines(card, (pieces[at]._replace(start=first), *pieces[at + 1 :]), separator, width, names, unread)


def filled(pieces: tuple[Piece, ...]) -> Iterator[tuple[Source, int, str]]:
    """The lines that are not blank, comments included, and their texts."""
    for source, start, stop in pieces:
        for number in range(start, stop):
            text = source.lines[number - 1].strip()
            if text.strip(",;"):
                yield source, number, text


def lines_in(pieces: tuple[Piece, ...]) -> Iterator[tuple[Source, int]]:
    """The lines that are neither blank nor comments."""
    return ((source, number) for source, number, text in filled(pieces) if not text.startswith("#"))


def heading(pieces: tuple[Piece, ...]) -> str:
    """The last comment above the numbers."""
    above = [text for *_, text in takewhile(lambda line: line[2].startswith("#"), filled(pieces))]
    return above[-1][1:] if above else ""


def entries_of(line: str, separator: str | None) -> list[str]:
    """Entries between separators; the line may end with a separator."""
    found = line.split(separator)
    return found[:-1] if len(found) > 1 and not found[-1].strip() else found


def labelled_numbers(card: Card, columns: tuple[int, ...]) -> tuple[Ints, Floats] | None:
    """Rows ``label, number, number...``: labels (n,) and numbers (n, k); ``columns`` the allowed row lengths."""
    first = next(card.rows, ())
    table = None if len(first) not in columns else numbers_at_once(card.pieces, partial(labelled_in, width=len(first)))
    if table is None or not fits(table[:: len(first)]):
        return None
    rows = table.reshape(-1, len(first))
    return rows[:, 0].astype(np.int64), np.ascontiguousarray(rows[:, 1:])


def labelled_in(text: str, width: int) -> Floats | None:
    """All numbers of lines that begin with an integer."""
    return None if NO_LABEL.search(text) else numbers_in(text, ",", width)


def integers(card: Card, width: int | None) -> Ints | None:
    """All entries of rows of one width, or of any (None), each a positive integer: (n,)."""
    table = numbers_at_once(card.pieces, lambda text: numbers_in(text, ",", width, IN_LABELS))
    return table.astype(np.int64) if table is not None and fits(table) else None


BEHIND_COMMA = re.compile(rf",{FRACTION.pattern}\s*(?:,|$)", re.ASCII | re.MULTILINE)
"""Numbers that may have a decimal comma."""
NO_LABEL = re.compile(r"^[ \t]*[+\d]*[.eEdD]", re.ASCII | re.MULTILINE)
"""Lines that begin with a number that is not an integer."""
LINES_AT_ONCE = 50_000
AROUND_LINES = re.compile(r"[ \t]*\n[ \t\n]*")
BLANKS = re.compile(r"[ \t]+")
CHARACTERS = (b"0123456789+-.eEdD, \t\n", b"0123456789, \t\n", b" \t\n")
IN_NUMBERS, IN_LABELS, BLANK = (np.isin(np.arange(256), list(known)) for known in CHARACTERS)


def plain_numbers(pieces: Iterable[Piece]) -> Floats | None:
    """All entries of data lines: (n,)."""
    return numbers_at_once(pieces, lambda text: numbers_in(text, ",", None))


def numbers_at_once(pieces: Iterable[Piece], read: Callable[[str], Floats | None]) -> Floats | None:
    """Numbers of all pieces, each read by ``read``, one after the other."""
    found = []
    for source, start, stop in pieces:
        for first in range(start - 1, stop - 1, LINES_AT_ONCE):
            numbers = read(source.lines.between(first, min(first + LINES_AT_ONCE, stop - 1)))
            if numbers is None:
                return None
            found.append(numbers)
    return np.concatenate(found) if found else None


def numbers_in(text: str, separator: str | None, width: int | None, known: np.ndarray = IN_NUMBERS) -> Floats | None:
    """All numbers of lines with ``width`` entries; None if not all are plain, or with characters not in ``known``."""
    text = f"{text}\n"
    codes = np.frombuffer(text.encode(errors="replace"), np.uint8)
    is_end, is_blank = codes == ord("\n"), BLANK[codes]
    if (is_end[:-1] & is_blank[1:]).any() or (is_blank[:-1] & is_end[1:]).any():
        text = AROUND_LINES.sub("\n", text)
    text = (text.replace(f"{separator}\n", "\n") if separator else text).strip()
    if not text:
        return np.empty(0)
    if separator != ",":
        if "," in text:
            return None
        is_single = separator or not ("  " in text or "\t" in text)
        text = text.replace(separator or " ", ",") if is_single else BLANKS.sub(",", text)
    elif BEHIND_COMMA.search(text):
        return None
    codes = np.frombuffer(text.encode(errors="replace"), np.uint8)
    if not known[codes].all():
        return None
    ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
    counts = np.diff(np.searchsorted(np.flatnonzero(codes == ord(",")), ends), prepend=0) + 1
    if (counts != width).any() if width else counts.max() > MAX_ENTRIES:
        return None
    numbers = listed(text.replace("\n", ","))
    return numbers if numbers is not None and len(numbers) == counts.sum() else None


def listed(text: str) -> Floats | None:
    """Numbers between commas, as JSON writes them; or as other programs do, three times slower."""
    try:
        numbers = np.array(orjson.loads(f"[{text}]"), np.float64)
    except (ValueError, TypeError, OverflowError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                numbers = np.fromstring(text.upper().replace("D", "E"), sep=" , ")
        except (ValueError, Warning):
            return None
    return numbers if numbers.ndim == 1 and np.isfinite(numbers).all() else None


def fits(labels: Floats | Ints) -> bool:
    return bool(labels.min(initial=MAX_LABEL) > 0 and 0 < labels.max(initial=0) <= MAX_LABEL)
