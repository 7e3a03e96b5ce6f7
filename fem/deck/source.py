"""Places in a deck, and mistakes with their place and message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fem.errors import Problem

LONGEST_SHOWN = 60
MAX_COMPARED = 1000
LONGEST_LINE_SHOWN = 1000


class TextLines(Sequence[str]):
    """The lines of a text, each extracted on access: a list of strings would take 80 more bytes per line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends = np.append(self._positions("\n"), len(text))

    def _positions(self, character: str) -> np.ndarray:
        coding, kind = ("ascii", np.uint8) if self.text.isascii() else ("utf-32-le", np.uint32)
        codes = np.frombuffer(self.text.encode(coding, "surrogatepass"), kind)
        return np.flatnonzero(codes == ord(character))

    def between(self, start: int, stop: int) -> str:
        """The text of the lines ``start`` to ``stop - 1`` (from 0), without the end of the last one."""
        return self.text[self.ends[start - 1] + 1 if start else 0 : self.ends[stop - 1]]

    def numbers_with(self, character: str) -> list[int]:
        """Numbers (from 1) of the lines that contain a character."""
        if character not in self.text:
            return []
        lines = np.searchsorted(self.ends, self._positions(character)) + 1
        return list(dict.fromkeys(lines.tolist()))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.split("\n"))

    def __getitem__(self, at: Any) -> Any:
        """A line by its index, or lines by a slice."""
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            return self.between(start, stop).split("\n")[::step] if start < stop else []
        number = range(len(self))[at]
        return self.between(number, number + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The lines of one file as read.

    name      as shown in errors
    chain     (file, line) of the ``*INCLUDE`` that led here, innermost first
    position  line numbers of those ``*INCLUDE`` from the deck inwards: sorts problems in reading order
    folder    for relative includes; None: includes are refused
    """

    name: str
    lines: TextLines
    folder: Path | None = None
    chain: tuple[tuple[str, int], ...] = ()
    position: tuple[int, ...] = ()


class Place(NamedTuple):
    """File, line and column, the last two counted from 1."""

    source: Source
    line: int
    column: int

    @property
    def order(self) -> tuple[int, ...]:
        """Sorts places in reading order, included files where they are included."""
        return (*self.source.position, self.line, self.column)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}"


Hint: TypeAlias = str | Callable[[], str]
"""Text, or a function that returns it: the search for a similar word is slow, and only the first mistakes are shown."""


def said(hint: Hint) -> str:
    return hint if isinstance(hint, str) else hint()


class Mistake(Exception):
    """One mistake at one place; ``Draft.guard`` catches it, and reading continues.
    ``cause``: of mistakes with the same cause the first is listed, the others are counted."""

    def __init__(self, place: Place, message: str, hint: Hint = "", cause: str = "") -> None:
        super().__init__(message)
        self.place, self.message, self.hint, self.cause = place, message, hint, cause

    def problem(self) -> Problem:
        """The entry of ``DeckError.problems``."""
        source, line, column = self.place
        text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
        hint = said(self.hint)
        return Problem(source.name, line, column, self.message, text[:LONGEST_LINE_SHOWN], hint, source.chain)


def shown(text: str) -> str:
    """A piece of a deck as quoted in a message: short and printable."""
    clean = "".join(c if c.isprintable() else "?" for c in text[: LONGEST_SHOWN + 1])
    return f"'{clean[:LONGEST_SHOWN]}...'" if len(clean) > LONGEST_SHOWN else f"'{clean}'"


@lru_cache(maxsize=4096)
def squeezed(text: str) -> str:
    """Upper case without any blanks: how keywords, parameters and words are compared."""
    return "".join(text.split()).upper()


def listing(words: Iterable[str], last: str = "or") -> str:
    """``A, B or C``."""
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else "nothing"


def words(text: str) -> tuple[str, ...]:
    return tuple(" ".join(text.split()).split(", "))


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word most similar to a misspelt one, if any."""
    import difflib

    names = {squeezed(name): name for name in islice(known, MAX_COMPARED)}
    found = difflib.get_close_matches(squeezed(word)[:100], names, n=1, cutoff=cutoff)
    return names[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", prefix: str = "") -> Hint:
    """A hint for a misspelt word, computed when it is shown; ``otherwise`` if no known word is similar."""

    def find() -> str:
        guess = nearest(word, known)
        return f"did you mean {prefix}{guess}?" if guess else otherwise

    return find
