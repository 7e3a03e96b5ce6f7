"""Decks and the pendulum form as text and numbers, without a browser."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from fem.commands.files import open_regular
from fem.deck import parse_deck
from fem.deck.cards import NUMBER
from fem.errors import DeckError, FemError
from fem.lines.pendulums import Pendulum
from fem.lines.spans import rounded
from fem.model import Model
from fem.show.checking import check

MOST_TEXT = 2_000_000
"""Bytes of a deck that is edited in a browser."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A message about a deck: an error (``is_error``: it cannot run), or a suspicious value; line from 1, 0: none."""

    text: str
    line: int = 0
    column: int = 0
    is_error: bool = False

    def said(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A deck as text, its model if it can be read, and the messages."""

    findings: tuple[Finding, ...]
    model: Model | None = None
    description: tuple[str, ...] = ()


def read_deck_text(path: Path) -> str:
    """The text of a file. OSError, ValueError: it cannot be read, is no regular file, no text, or too large."""
    with open_regular(path) as file:
        return as_text(file.read(MOST_TEXT + 1), path)


def as_text(content: bytes, path: Path | str) -> str:
    """Of a file, or of an upload, of which a browser may have looked at the size. ValueError: too large, or no text."""
    if len(content) > MOST_TEXT:
        raise ValueError(f"{path} is larger than {MOST_TEXT / 1e6:g} MB: run it on the command line")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8") from None


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
        return Judged(tuple(map(Finding, (*report.findings, *report.notices))), model, report.description)
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


ASSIGNMENT = re.compile(rf"(\s*([A-Za-z_]\w*)\s*=\s*)({NUMBER.pattern})(\s*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class DeckNumber:
    """A number of a line of the deck (from 0): its name, and the text of its value."""

    name: str
    line: int
    text: str

    @property
    def value(self) -> float:
        return float(self.text.upper().replace("D", "E"))


def parameters_of(text: str) -> list[DeckNumber]:
    """Parameters with plain numbers; those with formulas depend on them."""
    found, is_inside = [], False
    for line, content in enumerate(text.splitlines()):
        if content.lstrip().startswith("**"):
            continue
        if content.lstrip().startswith("*"):
            is_inside = content.strip().upper().split(",")[0].replace(" ", "") == "*PARAMETER"
        elif is_inside and (match := ASSIGNMENT.fullmatch(content)):
            found.append(DeckNumber(match[2], line, match[3]))
    return found


def with_value(text: str, name: str, value: float) -> str:
    """The text with another number for a parameter; ``KeyError``: it has none of that name."""
    lines = text.splitlines(keepends=True)
    for parameter in parameters_of(text):
        if parameter.name == name:
            end = lines[parameter.line][len(lines[parameter.line].rstrip("\r\n")) :]
            match = ASSIGNMENT.fullmatch(lines[parameter.line].rstrip("\r\n"))
            assert match is not None
            lines[parameter.line] = f"{match[1]}{rounded(value)}{match[4]}{end}"
            return "".join(lines)
    raise KeyError(name)


MOST_LINKS = 20
MOST_INCREMENTS = 1_000_000
ROUNDING = 0.5
"""A dragged link is rotated in steps of this angle [degrees]."""


PRESETS = {
    "Five links": Pendulum(5 * (1.0,), 5 * (1.0,), 5 * (30.0,), 5 * (0.0,)),
    "Double pendulum": Pendulum((1.0, 1.0), (1.0, 1.0), (130.0, 0.0), (0.0, 0.0), body="point"),
    "Chain of 20": Pendulum(20 * (0.1,), 20 * (0.05,), (60.0, *19 * (0.0,)), 20 * (0.0,), time=5.0, dt=5e-4),
    "SDNL100": Pendulum((1.0,), (1.0,), (90.0,), (0.0,), False, "centre", 1e8, 9.81, 1.6744, 0.04186, "NEWMARK"),
}
"""Five equal links of 1 m and 1 kg, each turned from the one before, are the demonstration of the N-link program of two
students of mechanics. SDNL100 is the stiff bar of Code_Aster's test, with its mass in the middle."""


def directions(angles: Sequence[float], is_absolute: bool) -> list[float]:
    """Angles of the links from the downward vertical, counter-clockwise [degrees]."""
    return list(angles if is_absolute else accumulate(angles))


def joints_of(lengths: Sequence[float], angles: Sequence[float], is_absolute: bool) -> list[tuple[float, float]]:
    """(x, z) of the fixed joint and the lower ends of the links, z up."""
    places = [(0.0, 0.0)]
    for length, angle in zip(lengths, directions(angles, is_absolute), strict=True):
        x, z = places[-1]
        places.append((x + length * math.sin(math.radians(angle)), z - length * math.cos(math.radians(angle))))
    return places


def nearest_joint(places: Sequence[tuple[float, float]], x: float, z: float, reach: float) -> int | None:
    """Which moving joint is within reach of a point; the outer one where two are."""
    distances = [math.hypot(x - a, z - b) for a, b in places]
    close = [joint for joint in range(1, len(places)) if distances[joint] <= reach]
    return min(close, key=lambda joint: (distances[joint], -joint)) if close else None


def dragged(
    lengths: Sequence[float], angles: Sequence[float], is_absolute: bool, joint: int, x: float, z: float
) -> float:
    """The angle (as in the form) of the link above a joint when the joint is dragged towards a point."""
    a, b = joints_of(lengths, angles, is_absolute)[joint - 1]
    angle = math.degrees(math.atan2(x - a, b - z))
    before = 0.0 if is_absolute or joint == 1 else directions(angles, is_absolute)[joint - 2]
    turned = (angle - before + 180.0) % 360.0 - 180.0
    return round(turned / ROUNDING) * ROUNDING
