"""A MoorDyn v2 input file as it stands: sections of words, and what lines, points and options are in them.

Source: MoorDyn 2.7, docs/inputs.rst and MoorDyn2.cpp: a section begins with a line of dashes and its name, tables have
two lines of heads, # begins a comment, columns count and their heads do not.

Lines of numbers in the files beside an input file of MoorDyn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fem.errors import CommandError, DeckError, Problem

SECTIONS = {
    "LINE TYPES": ("LINE DICTIONARY", "LINE TYPES"),
    "ROD TYPES": ("ROD DICTIONARY", "ROD TYPES"),
    "BODIES": ("BODIES", "BODY LIST", "BODY PROPERTIES"),
    "RODS": ("RODS", "ROD LIST", "ROD PROPERTIES"),
    "POINTS": ("POINTS", "POINT LIST", "POINT PROPERTIES", "CONNECTION PROPERTIES", "NODE PROPERTIES"),
    "LINES": ("LINES", "LINE LIST", "LINE PROPERTIES"),
    "SYROPE IC": ("SYROPE IC",),
    "FAILURE": ("FAILURE",),
    "CONTROL": ("CONTROL",),
    "EXTERNAL LOADS": ("EXTERNAL LOADS",),
    "OPTIONS": ("OPTIONS",),
    "OUTPUTS": ("OUTPUT",),
}
HEADS = 2
KINDS = {
    "fixed": ("FIXED", "FIX", "ANCHOR"),
    "coupled": ("COUPLED", "CPLD", "VESSEL", "VES", "FAIRLEAD"),
    "free": ("FREE", "POINT", "CONNECT", "CON"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the file: its number from 1, its words without the comment."""

    file: str
    line: int
    text: str
    words: tuple[str, ...]

    def error(self, message: str, place: int = 0, hint: str = "") -> DeckError:
        """About one of its words."""
        spans = [match.start() for match in re.finditer(r"\S+", self.text)]
        column = spans[place] + 1 if place < len(spans) else len(self.text.rstrip()) + 1
        return DeckError([Problem(self.file, self.line, column, message, self.text, hint)])

    def number(self, place: int, what: str) -> float:
        """DeckError: there is none at that place."""
        if place >= len(self.words):
            raise self.error(f"{what} is missing", place)
        try:
            value = float(self.words[place])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(f"expected {what}, a number, got {self.words[place]!r}", place)
        return value

    def count(self, place: int, what: str) -> int:
        """A whole number of at least 1."""
        value = self.number(place, what)
        if value < 1 or value != int(value):
            raise self.error(f"expected {what}, a whole number of at least 1, got {self.words[place]!r}", place)
        return int(value)


@dataclass(frozen=True, slots=True)
class LineType:
    """``damping`` is B A [N s], negative: a fraction of critical damping of each segment."""

    row: Row
    name: str
    diameter: float
    mass: float
    stiffness: float
    damping: float
    bending: float
    drag: float
    added: float
    axial_drag: float
    axial_added: float
    lift: float = 0.0

    def parts(self, place: int) -> list[float]:
        """The numbers between bars of EA (3) or BA (4): static, dynamic, slope of that over the mean load."""
        return [float(word) for word in self.row.words[place].split("|")]


@dataclass(frozen=True, slots=True)
class Point:
    """``kind`` is fixed, coupled or free; ``body`` its number, 0: none. Steady forces as old files have them."""

    row: Row
    label: int
    kind: str
    place: tuple[float, ...]
    mass: float
    volume: float
    drag_area: float
    added: float
    force: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Line:
    """From point ``first`` to point ``last``."""

    row: Row
    label: int
    type: str
    first: int
    last: int
    length: float
    segments: int


@dataclass(slots=True)
class Moorings:
    """What a file holds. ``options``: lower-case names -> rows; ``others``: sections that are not read."""

    file: Path
    types: dict[str, LineType]
    points: dict[int, Point]
    lines: list[Line]
    options: dict[str, Row]
    others: list[str] = field(default_factory=list)
    failures: list[Row] = field(default_factory=list)
    rods: list[Row] = field(default_factory=list)

    def row(self, *names: str) -> Row | None:
        """Where an option stands, by any of its names."""
        return next((self.options[name.lower()] for name in names if name.lower() in self.options), None)

    def option(self, *names: str, default: float) -> float:
        """The value of an option, by any of its names."""
        for name in names:
            if name.lower() in self.options:
                return self.options[name.lower()].number(0, name)
        return default


def read(path: Path) -> Moorings:
    """DeckError: what cannot be understood, with its place."""
    sections = sections_of(path)
    bodies = {row.count(0, "the number of the body"): body_place(row) for row in sections.get("BODIES", [])}
    types: dict[str, LineType] = {}
    for made in (line_type(row) for row in sections.get("LINE TYPES", [])):
        if types.setdefault(made.name, made) is not made:
            raise made.row.error(f"the line type {made.name} is defined twice")
    points: dict[int, Point] = {}
    for end in (point(row, bodies) for row in sections.get("POINTS", [])):
        if points.setdefault(end.label, end) is not end:
            raise end.row.error(f"the point {end.label} is defined twice")
    lines = [line(row, types, points) for row in sections.get("LINES", [])]
    if len({each.label for each in lines}) < len(lines):
        raise lines[-1].row.error("two lines have the same number")
    if not lines:
        raise DeckError([Problem(str(path), 1, 1, "no lines in it", hint="MoorDyn v2 has a section ---- LINES ----")])
    options = {row.words[1].lower(): row for row in sections.get("OPTIONS", []) if len(row.words) > 1}
    known = ("LINE TYPES", "POINTS", "LINES", "OPTIONS", "FAILURE", "RODS")
    others = [name for name in sections if name not in known]
    beside = sections.get("FAILURE", []), sections.get("RODS", [])
    return Moorings(path, types, points, lines, options, others, *beside)


def sections_of(path: Path) -> dict[str, list[Row]]:
    """Name -> its rows without heads; of sections that have any."""
    found: dict[str, list[Row]] = {}
    name, skipped = "", 0
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if "---" in text:
            title = re.sub(r"[^A-Z ]", "", text.upper()).strip()
            name = next((key for key, titles in SECTIONS.items() if any(word in title for word in titles)), "")
            skipped = 0 if name in ("OPTIONS", "OUTPUTS") else HEADS
        elif name and skipped:
            skipped -= 1
        elif name and (words := text.partition("#")[0].split()):
            found.setdefault(name, []).append(Row(str(path), number, text, tuple(words)))
    return found


def line_type(row: Row) -> LineType:
    if len(row.words) < 10:
        hint = "MoorDyn v2 has TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx; v1 has no EI"
        raise row.error(f"a line type of MoorDyn v2 has 10 columns, this one {len(row.words)}", len(row.words), hint)
    names = ("the diameter", "the mass", "EA", "BA", "EI", "Cd", "Ca", "CdAx", "CaAx", "Cl")
    values = [first_number(row, place, what) for place, what in enumerate(names[: len(row.words) - 1], 1)]
    check_parts(row)
    for place, what in ((1, "the diameter"), (2, "the mass"), (3, "EA")):
        if not values[place - 1] > 0.0:
            raise row.error(f"{what} must be positive, got {row.words[place]}", place)
    return LineType(row, row.words[0], *values)


def first_number(row: Row, place: int, what: str) -> float:
    """Of several between bars, the static one."""
    first = row.words[place].partition("|")[0]
    hint = "a file with a curve of stiffness is not supported: give a number" if place in (3, 4, 5) else ""
    try:
        return float(first)
    except ValueError:
        raise row.error(f"expected {what}, a number, got {row.words[place]!r}", place, hint) from None


def check_parts(row: Row) -> None:
    """EA_s|EA_d or EA_s|EA_Dc|EA_D_Lm, with BA_s and BA_d."""
    stiffness, damping = (word.split("|") for word in row.words[3:5])
    for place, parts in ((3, stiffness), (4, damping)):
        for word in parts:
            try:
                is_right = math.isfinite(float(word))
            except ValueError:
                is_right = False
            if not is_right:
                raise row.error(f"expected numbers between bars, got {row.words[place]!r}", place)
    if len(stiffness) > 3 or len(damping) > 2 or (len(damping) > 1 and len(stiffness) < 2):
        raise row.error("expected EA_s|EA_d or EA_s|EA_Dc|EA_D_Lm, and then BA_s|BA_d", 3)
    if len(stiffness) > 1 and not float(stiffness[1]) > float(stiffness[0]):
        raise row.error(f"the dynamic EA {stiffness[1]} is not above the static one, {stiffness[0]}", 3)


def body_place(row: Row) -> tuple[bool, tuple[float, ...]]:
    """Whether it is free, and x, y, z, roll, pitch, yaw in degrees."""
    is_free = len(row.words) > 1 and row.words[1].upper().startswith("FREE")
    return is_free, tuple(row.number(place, "the place of the body") for place in range(2, 8))


def point(row: Row, bodies: dict[int, tuple[bool, tuple[float, ...]]]) -> Point:
    if len(row.words) < 9:
        raise row.error(f"a point has 9 columns, this one {len(row.words)}", len(row.words))
    label, word = row.count(0, "the number of the point"), row.words[1].upper()
    place = tuple(row.number(axis, f"{name} of the point") for axis, name in ((2, "x"), (3, "y"), (4, "z")))
    kind = next((kind for kind, words in KINDS.items() if word in words), "")
    if match := re.fullmatch(r"BODY(\d+)", word):
        if int(match[1]) not in bodies:
            raise row.error(f"there is no body {match[1]}", 1)
        is_free, pose = bodies[int(match[1])]
        if is_free:
            raise row.error("free bodies are not supported", 1, "fixed and coupled ones are; points alone may be free")
        kind, place = "coupled", on_body(place, pose)
    if not kind:
        hint = f"known are {', '.join(words[0].capitalize() for words in KINDS.values())} and Body1"
        raise row.error(f"unknown attachment {row.words[1]!r}", 1, hint)
    names = ("the mass", "the volume", "CdA", "Ca")
    columns = (5, 6, 10, 11) if len(row.words) >= 12 else (5, 6, 7, 8)
    values = [row.number(column, what) for column, what in zip(columns, names, strict=True)]
    force = tuple(row.number(column, "a force") for column in (7, 8, 9)) if len(row.words) >= 12 else (0.0, 0.0, 0.0)
    mass, volume, drag_area, added = values
    return Point(row, label, kind, place, mass, volume, drag_area, added, force)


def on_body(place: Sequence[float], pose: Sequence[float]) -> tuple[float, ...]:
    """Where a point of a body is: x = X + Rx(roll) Ry(pitch) Rz(yaw) r (MoorDyn: intrinsic x, y, z)."""
    roll, pitch, yaw = (math.radians(angle) for angle in pose[3:])
    x, y, z = place
    x, y = x * math.cos(yaw) - y * math.sin(yaw), x * math.sin(yaw) + y * math.cos(yaw)
    x, z = x * math.cos(pitch) + z * math.sin(pitch), -x * math.sin(pitch) + z * math.cos(pitch)
    y, z = y * math.cos(roll) - z * math.sin(roll), y * math.sin(roll) + z * math.cos(roll)
    return pose[0] + x, pose[1] + y, pose[2] + z


def line(row: Row, types: dict[str, LineType], points: dict[int, Point]) -> Line:
    if len(row.words) < 6:
        raise row.error(f"a line has 7 columns, this one {len(row.words)}", len(row.words))
    if row.words[1] not in types:
        raise row.error(f"there is no line type {row.words[1]!r}; there are {', '.join(types)}", 1)
    ends = []
    for place in (2, 3):
        if row.words[place].upper().startswith("R"):
            raise row.error("lines that end at rods are not supported", place, "use a point in place of the rod")
        ends.append(row.count(place, "the number of a point"))
        if ends[-1] not in points:
            raise row.error(f"there is no point {ends[-1]}", place)
    length = row.number(4, "the natural length")
    if not length > 0.0:
        raise row.error(f"the natural length must be positive, got {row.words[4]}", 4)
    label, segments = row.count(0, "the number of the line"), row.count(5, "the number of segments")
    return Line(row, label, row.words[1], ends[0], ends[1], length, segments)


def rows_of(path: Path, what: str, heads: int = 0) -> list[Row]:
    """The lines that hold something, without the first ``heads`` of the file. CommandError: it is not there.

    what  that takes the file, for the message
    """
    if not path.is_file():
        raise CommandError(f"{what} from {path}, which is not there")
    lines = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    rows = [Row(str(path), number, text, tuple(text.partition("#")[0].split())) for number, text in lines]
    return [row for row in rows[heads:] if row.words]


def numbers_in(row: Row, what: str) -> list[float]:
    """All words of a line; commas may stand between them. DeckError: one is no number."""
    plain = Row(row.file, row.line, row.text.replace(",", " "), tuple(" ".join(row.words).replace(",", " ").split()))
    return [plain.number(place, what) for place in range(len(plain.words))]


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
