"""Decks as text: what is wrong with them, line by line; a copy with its files."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fem.checking import check
from fem.deck import parse_deck
from fem.errors import DeckError, FemError
from fem.files.regular import open_regular
from fem.model import Model

MOST_TEXT = 2_000_000
"""Bytes of a deck that is edited in a browser."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Of a deck: an error (``is_error``: nothing can be run), or what looks wrong; line from 1, 0: of no line."""

    text: str
    line: int = 0
    column: int = 0
    is_error: bool = False

    def said(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A deck as text: its model where it can be read, and what there is to say of it."""

    findings: tuple[Finding, ...]
    model: Model | None = None
    description: tuple[str, ...] = ()


def read_deck_text(path: Path) -> str:
    """The text of a file. OSError, ValueError: it cannot be read, is no regular file, no text, or too large."""
    with open_regular(path) as file:
        content = file.read(MOST_TEXT + 1)
    if len(content) > MOST_TEXT:
        raise ValueError(f"{path} is larger than {MOST_TEXT / 1e6:g} MB: run it on the command line")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None


def judge(text: str, name: str = "deck.inp", folder: Path | None = None) -> Judged:
    """Read and check a deck; ``folder`` is where ``*INCLUDE`` looks."""
    try:
        model = parse_deck(text, None, name, folder)
        report = check(model)
    except DeckError as error:
        problems = error.problems
    except FemError as error:
        return Judged((Finding(str(error), is_error=True),))
    else:
        told = [Finding(said) for said in (*report.findings, *report.notices)]
        return Judged(tuple(told), model, report.description)
    found = []
    for problem in problems:
        said = problem.message + (f"; {problem.hint}" if problem.hint else "")
        if problem.file != name:
            said = f"{problem.file}:{problem.line}: {said}"
        line, column = (problem.line, problem.column) if problem.file == name else (0, 0)
        found.append(Finding(said, line, column, is_error=True))
    return Judged(tuple(found))


def write_copy(text: str, place: Path, name: str, model: Model | None, source: Path | None) -> Path:
    """Write a deck into a folder, and beside it, at the same places, the files that it includes from its source's."""
    if source is not None and model is not None:
        source = source.resolve()
        for file in map(Path, model.files):
            if file != source and file.is_relative_to(source.parent):
                target = place / file.relative_to(source.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    deck = place / name
    deck.write_text(text, encoding="utf-8", newline="")
    return deck
