"""Lines to cards in reading order: comments dropped, includes followed, parameters evaluated and put in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fem.deck.lexical.card import Card, Parameter, Piece
from fem.deck.lexical.fields import MAX_NAME, POINT, Field, split_line, substitute, trimmed
from fem.deck.lexical.files import DeckFiles
from fem.deck.lexical.parameters.arithmetic import RESERVED, ArithmeticMistake
from fem.deck.lexical.parameters.traced import Course, Known
from fem.deck.lexical.source import Mistake, Place, Source, did_you_mean, shown, squeezed
from fem.errors import CommandError

ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)", re.ASCII)


class Scanner:
    """Collects ``cards`` and the ``parameters`` of a deck; mistakes go to ``report``, scanning goes on.

    overrides  values of parameters by name in upper case, traced ones of ``course`` among them
    keywords   all that has an answer, by name without blanks: after one asterisk and a blank anything else is a comment
    """

    def __init__(
        self,
        files: DeckFiles,
        report: Callable[[Mistake], None],
        overrides: Mapping[str, float],
        course: Course,
        keywords: Mapping[str, str],
    ) -> None:
        self.files, self.report, self.course, self.keywords = files, report, course, keywords
        self.cards: list[Card] = []
        self.table: dict[str, tuple[int, Any]] = {}
        self.values = Known(self.table)
        self.spellings: dict[str, str] = {}
        self.overrides = overrides
        self.open: Card | None = None
        self.pieces: list[Piece] = []
        self.stray = False
        self.remarks, self.first_remark = 0, ""

    def scan(self, source: Source) -> None:
        """All lines of one file, and of the files it includes."""
        lines = source.lines
        stars = [number for number in lines.numbers_with("*") if lines[number - 1].lstrip()[0] == "*"]
        start, skip = 1, 0
        for number in stars:
            self.data(source, start, number)
            start = max(start, number + 1)
            if number < skip or self.is_comment(source, number):
                continue
            try:
                start = skip = self.keyword(source, number)
            except Mistake as mistake:
                self.report(mistake)
                self.close()
                self.open = Card("", {}, (), Place(source, number, 1), self.values)  # takes its data lines
        self.data(source, start, len(lines) + 1)

    def is_comment(self, source: Source, number: int) -> bool:
        """``** text``, and ``* text`` that is no keyword: users mean a comment, though Abaqus wants two asterisks."""
        text = source.lines[number - 1].lstrip()
        if text[1:2] not in (" ", "\t") or squeezed(text[1:].partition(",")[0]) in self.keywords:
            return text.startswith("**")
        self.first_remark = self.first_remark or str(Place(source, number, 1))
        self.remarks += 1
        return True

    def data(self, source: Source, start: int, stop: int) -> None:
        """Lines without keywords belong to the open card."""
        if start >= stop:
            return
        if self.open is not None:
            self.pieces.append(Piece(source, start, stop))
            return
        stray = next((number for number in range(start, stop) if source.lines[number - 1].strip()), None)
        if stray is not None and not self.stray:
            self.stray = True
            place = Place(source, stray, 1)
            self.report(Mistake(place, "data before the first keyword", "keyword lines start with *"))

    def close(self) -> None:
        """The open card is complete. Call once after the outermost file."""
        if self.open is None:
            return
        card = replace(self.open, pieces=tuple(self.pieces)) if self.pieces else self.open
        self.open, self.pieces = None, []
        self.cards.append(card)
        if squeezed(card.keyword) == "PARAMETER":
            self.define(card)

    def keyword(self, source: Source, number: int) -> int:
        """Read the keyword line at ``number``; the number of the first line after it."""
        place, word, entries, after = keyword_line(source, number)
        if squeezed(word) == "INCLUDE":
            self.include(place, entries)
            return after
        self.close()
        parameters, mistakes = read_parameters(entries, self.values, word)
        for mistake in mistakes:
            self.report(mistake)
        self.open = Card(word, parameters, (), place, self.values, broken=bool(mistakes))
        if "INPUT" in parameters and squeezed(word) in self.keywords:
            field = self.open.field("INPUT")
            del parameters["INPUT"]
            self.open = replace(self.open, file=field, broken=True)
            resolved = self.files.find(field, place)
            self.open = replace(self.open, broken=bool(mistakes))
            self.count_others(entries, place)
            self.follow(resolved, field, place)
        return after

    def include(self, place: Place, entries: list[Field]) -> None:
        """Go on in another file; data lines at its top belong to the card that is open here."""
        parameters, mistakes = read_parameters(entries, self.values, "INCLUDE")
        if mistakes:
            raise mistakes[0]
        for name in parameters:
            if name != "INPUT":
                hint = did_you_mean(name, ["INPUT"])
                raise Mistake(parameters[name].place, f"*INCLUDE has no parameter {shown(name)}", hint)
        card = Card("INCLUDE", parameters, (), place, self.values)
        if not card.has("INPUT"):
            raise Mistake(place, "*INCLUDE needs INPUT= a file name")
        field = card.field("INPUT")
        resolved = self.files.find(field, place)
        self.count_others(entries, place)
        if self.files.is_mesh(resolved):
            self.files.read_mesh(resolved, field)
            self.close()
            self.cards.append(replace(card, mesh=resolved))
            return
        self.follow(resolved, field, place)

    def count_others(self, entries: list[Field], place: Place) -> None:
        """The files that INPUT= would name for other parameters."""
        for entry in entries:
            name, _, file = entry.text.partition("=")
            if squeezed(name) == "INPUT":
                self.files.count_others(entry._replace(text=file.strip()), place)

    def follow(self, resolved: Path, field: Field, place: Place) -> None:
        """The lines of another file."""
        self.files.chain.append(resolved)
        try:
            self.scan(self.files.open_include(resolved, field, place))
        finally:
            self.files.chain.pop()

    def define(self, card: Card) -> None:
        """The ``name = arithmetic`` lines of one ``*PARAMETER`` card."""
        for source, start, stop in card.pieces:
            for number in range(start, stop):
                try:
                    self.assign(source, number)
                except Mistake as mistake:
                    self.report(mistake)
        self.values = Known(self.table)

    def assign(self, source: Source, number: int) -> None:
        """One ``name = arithmetic`` line; an override wins, but the line must still make sense."""
        text = source.lines[number - 1].partition("#")[0]  # a comment, as in Abaqus' parameters
        if not text.strip():
            return
        match = ASSIGNMENT.match(text)
        if match is None:
            place = Place(source, number, 1 + len(text) - len(text.lstrip()))
            raise Mistake(place, f"expected name = arithmetic, got {shown(text.strip())}")
        name = match.group(1)
        place = Place(source, number, match.start(1) + 1)
        if len(name) > MAX_NAME:
            raise Mistake(place, f"a parameter name is longer than {MAX_NAME} characters")
        if name.lower() in RESERVED:
            raise Mistake(place, f"{name} is the name of a function or constant", "choose another name")
        if name.upper() in self.table:
            raise Mistake(place, f"parameter {shown(name)} is defined twice")
        override = self.overrides.get(name.upper())
        value: Any = 1.0 if override is None else override
        self.spellings[name.upper()] = name
        try:
            earlier, numbers = Known(self.table), Known(self.table, is_plain=True)
            value = self.course.assign(name.upper(), text[match.end() :], earlier, numbers, override)
        except ArithmeticMistake as mistake:
            where = Place(source, number, match.end() + mistake.column + 1)
            raise Mistake(where, mistake.message, mistake.hint) from mistake
        finally:
            self.table[name.upper()] = len(self.table), value


def keyword_line(source: Source, number: int) -> tuple[Place, str, list[Field], int]:
    """(place of the asterisk, keyword, entries after it, number of the line after), trailing commas continuing."""
    text = source.lines[number - 1]
    place = Place(source, number, 1 + len(text) - len(text.lstrip()))
    entries: list[Field] = []
    continued = True
    while continued:
        pieces = split_line(source.lines[number - 1])
        for piece, column in pieces:
            bare, start, quoted = trimmed(piece, column)
            entries.append(Field(bare, Place(source, number, start), quoted))
        continued = len(pieces) > 1 and not pieces[-1][0].strip()
        number += 1
        if continued:
            while number <= len(source.lines) and source.lines[number - 1].lstrip().startswith("**"):
                number += 1
            following = source.lines[number - 1].strip() if number <= len(source.lines) else ""
            continued = following != "" and not following.startswith("*")
    word = " ".join(entries.pop(0).text[1:].split()).upper()
    entries = [entry for entry in entries if entry.text or entry.quoted]
    if not word or not word[0].isalpha():
        hint = "comments start with two asterisks"
        raise Mistake(place, f"expected a keyword after the asterisk, got {shown(word)}", hint)
    return place, word, entries, number


def read_parameters(
    entries: list[Field], values: Mapping[str, float], keyword: str
) -> tuple[dict[str, Parameter], list[Mistake]]:
    """``NAME`` and ``NAME=value`` entries by name without blanks, ``<name>`` replaced in values; what is wrong."""
    parameters: dict[str, Parameter] = {}
    mistakes: list[Mistake] = []
    for entry in entries:
        try:
            parameter = read_parameter(entry, values, keyword)
            if squeezed(parameter.name) in parameters:
                raise Mistake(entry.place, f"parameter {parameter.name} is given twice")
            parameters[squeezed(parameter.name)] = parameter
        except Mistake as mistake:
            mistakes.append(mistake)
            if entry.is_number():
                break
    return parameters, mistakes


def read_parameter(entry: Field, values: Mapping[str, float], keyword: str) -> Parameter:
    """One entry of a keyword line."""
    left, equals, right = entry.text.partition("=") if not entry.quoted else (entry.text, "", "")
    name = " ".join(left.split()).upper()
    if not name or entry.is_number():
        hint = f"a comma at the end of a line continues the keyword line; {POINT}" if name else ""
        raise Mistake(entry.place, f"expected a parameter of *{shown(keyword)[1:-1]}, got {shown(entry.text)}", hint)
    if not equals:
        return Parameter(name, None, entry.place)
    text, column, quoted = trimmed(right, entry.place.column + len(left) + 1)
    place = Place(entry.place.source, entry.place.line, column)
    return Parameter(name, Field(text if quoted else substitute(text, values, place), place, quoted), entry.place)


def checked_overrides(parameters: Mapping[str, float] | None) -> dict[str, float]:
    """The values of ``--set`` by name in upper case: finite numbers."""
    for name, value in (parameters or {}).items():
        try:
            fine = math.isfinite(value)
        except (TypeError, OverflowError):
            fine = False
        if not fine:
            raise CommandError(f"{name}={value!r} is not a finite number")
    return {name.upper(): float(value) for name, value in (parameters or {}).items()}
