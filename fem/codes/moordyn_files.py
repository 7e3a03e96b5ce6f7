"""Reader of MoorDyn input files: sections of words, and the lines, points and options in them.

Source: MoorDyn 2.7, docs/inputs.rst and MoorDyn2.cpp: a section begins with a line of dashes and its name, tables have
two header lines, # begins a comment, columns are identified by position. Files of version 1 (no column EI, lengths of
lines before their ends) and of MAP++ are recognised by the header.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from fem.errors import DeckError, Problem

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
WIDTHS = {"LINE TYPES": 13, "ROD TYPES": 7, "BODIES": 14, "RODS": 11, "POINTS": 12, "LINES": 7, "FAILURE": 5}
WIDTHS |= {"SYROPE IC": 3}
WIDTHS |= {"OPTIONS": 1000}  # of which the third and all later ones are a comment
"""Sections that are read, and their columns."""
SYROPE = "SYROPE:"
HEADS = 2
MOST = 1_000_000
"""Largest number of a point, line, rod or body, and of the segments of one."""
KINDS = {
    "fixed": ("FIXED", "FIX", "ANCHOR"),
    "coupled": ("COUPLED", "CPLD", "VESSEL", "VES", "FAIRLEAD", "TURBINE"),
    "free": ("FREE", "POINT", "CONNECT", "CON"),
}


def number_of(word: str) -> float:
    """The number; NaN if the word is none."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def kind_of(word: str) -> str:
    """Kind of an attachment, in upper case; TURBINE2 is a kind of vessel. Empty: there is no such kind."""
    return next((kind for kind, words in KINDS.items() if re.sub(r"(?<=TURBINE)\d+$", "", word) in words), "")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One line of the file: its number from 1, its words without the comment; ``head``: words of the header of its
    table, in upper case."""

    file: str
    line: int
    text: str
    words: tuple[str, ...]
    head: tuple[str, ...] = ()

    def error(self, message: str, place: int = 0, hint: str = "") -> DeckError:
        """An error that names the place of one of its words."""
        spans = [match.start() for match in re.finditer(r"\S+", self.text)]
        column = spans[place] + 1 if place < len(spans) else len(self.text.rstrip()) + 1
        return DeckError([Problem(self.file, self.line, column, message, self.text, hint)])

    def number(self, place: int, what: str) -> float:
        """DeckError: there is none at that place."""
        if place >= len(self.words):
            raise self.error(f"{what} is missing", place)
        value = number_of(self.words[place])
        if not math.isfinite(value):
            raise self.error(f"expected {what}, a number, got {self.words[place]!r}", place)
        return value

    def count(self, place: int, what: str, least: int = 1) -> int:
        """A whole number of at least so much, and at most ``MOST``."""
        value = self.number(place, what)
        if not least <= value <= MOST or value != int(value):
            hint = f"at most {MOST}" if value > MOST else ""
            raise self.error(
                f"expected {what}, a whole number of at least {least}, got {self.words[place]!r}", place, hint
            )
        return int(value)


POINTS = 30
"""Of a working curve in MoorDyn (Line.hpp)."""


class WorkingCurve(NamedTuple):
    """Of the Syrope model, below the largest mean tension T at the strain e: with z from 0 at the strain k1 e to 1 at
    e, T z (LINEAR; where k1 >= 1 on a line of the slope k1), T z (k2 z + 1 - k2) (QUADRATIC) or
    T (1 - exp(k2 z))/(1 - exp(k2)) (EXP). Source: MoorDyn, Line.cpp and MoorDyn2.cpp."""

    form: str
    k1: float
    k2: float

    def unloading(self, strain: float, tension: float) -> tuple[str, list[tuple[float, float]]]:
        """Definition of ``*UNLOADING DATA`` and its (tension, strain), ending at a point of the original curve."""
        if self.form == "LINEAR" and self.k1 >= 1.0:
            return "SHIFTED CURVE", [(0.0, 0.0), (tension, tension / self.k1)]
        found = []
        for z in (k / (POINTS - 1) for k in range(POINTS) if self.form != "LINEAR" or k in (0, POINTS - 1)):
            part = z * (self.k2 * z + 1.0 - self.k2) if self.form == "QUADRATIC" else z
            part = math.expm1(self.k2 * z) / math.expm1(self.k2) if self.form == "EXP" else part
            found.append((tension * part, strain * (self.k1 + (1.0 - self.k1) * z)))
        return "INTERPOLATED CURVE", found


@dataclass(frozen=True, slots=True)
class LineType:
    """``damping`` is B A [N s], negative: a fraction of critical damping of each segment.
    curve  (strain, tension) in place of EA, which is then that of its last point;  working  curves below it (Syrope)
    """

    row: FileRow
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
    band: float = 0.08
    centre: float = 0.18
    curve: tuple[tuple[float, float], ...] = field(default=(), kw_only=True)
    working: WorkingCurve | None = field(default=None, kw_only=True)

    @property
    def bends(self) -> bool:
        """Whether EI is used: elements of bending lines allow no other law than EA and BA."""
        return self.bending > 0.0 and not self.curve and len(self.parts(3)) == 1

    def parts(self, place: int) -> list[float]:
        """The numbers of EA (3) or BA (4) separated by bars: static, dynamic, slope of that over the mean load."""
        return [float(word) for word in self.row.words[place].split("|")[self.working is not None and place == 3 :]]


@dataclass(frozen=True, slots=True)
class MoorDynPoint:
    """``kind`` is fixed, coupled, free or tied: to the ``body`` of this name. Steady forces as old files have them.
    name  of the end of a rod;  its label is then above those of the points
    is_connector  a rod without length: it rotates freely under the moments of lines with EI
    axis  unit vector out of the end of a rod, the direction of lines with EI there"""

    row: FileRow
    label: int
    kind: str
    place: tuple[float, ...]
    mass: float
    volume: float
    drag_area: float
    added: float
    force: tuple[float, ...] = (0.0, 0.0, 0.0)
    body: str = ""
    name: str = ""
    is_connector: bool = False
    axis: tuple[float, ...] = ()

    @property
    def is_tied(self) -> bool:
        """Whether a body has it, or it is the end of a rod."""
        return bool(self.body or self.name)

    @property
    def is_loose(self) -> bool:
        """Whether its mass and its loads in water matter."""
        return self.kind in ("free", "tied")


@dataclass(frozen=True, slots=True)
class Rod:
    """A rigid cylinder between two ends (3,); ``end_drag`` and ``end_added`` are those of each end face."""

    row: FileRow
    label: int
    ends: tuple[tuple[float, ...], tuple[float, ...]]
    diameter: float
    mass: float
    drag: float
    added: float
    end_drag: float
    end_added: float

    @property
    def length(self) -> float:
        return math.dist(*self.ends)


@dataclass(slots=True)
class MoorDynBody:
    """A rigid body, or a rod that is one by itself: the kind of ``MoorDynPoint``, pinned where its place alone is held,
    in space or on the free body ``holder``.
    pose  x, y, z, roll, pitch, yaw in degrees;  centre, inertia, drag_area, added: x, y, z in axes of the body"""

    row: FileRow
    name: str
    kind: str
    pose: tuple[float, ...]
    mass: float = 0.0
    centre: tuple[float, ...] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0)
    volume: float = 0.0
    drag_area: tuple[float, ...] = (0.0, 0.0, 0.0)
    added: tuple[float, ...] = (0.0, 0.0, 0.0)
    rods: list[Rod] = field(default_factory=list)
    holder: str = ""

    @property
    def is_loose(self) -> bool:
        return self.kind in ("free", "pinned")


@dataclass(frozen=True, slots=True)
class MoorDynLine:
    """From point ``first`` to point ``last``."""

    row: FileRow
    label: int
    type: str
    first: int
    last: int
    length: float
    segments: int


@dataclass(slots=True)
class Moorings:
    """Content of a file. ``options``: lower-case names -> rows; ``others``: sections that are not read -> lines;
    ``unused_rods``: types; ``wide``: numbers of lines with more words than columns; ``largest``: mean tensions before
    the start (SYROPE IC) by line."""

    file: Path
    types: dict[str, LineType]
    points: dict[int, MoorDynPoint]
    lines: list[MoorDynLine]
    options: dict[str, FileRow]
    others: dict[str, int] = field(default_factory=dict)
    failures: list[FileRow] = field(default_factory=list)
    bodies: dict[str, MoorDynBody] = field(default_factory=dict)
    unused_rods: list[str] = field(default_factory=list)
    wide: list[int] = field(default_factory=list)
    largest: dict[int, float] = field(default_factory=dict)

    def row(self, *names: str) -> FileRow | None:
        """Row of an option, by any of its names."""
        return next((self.options[name.lower()] for name in names if name.lower() in self.options), None)

    @property
    def begins_at_once(self) -> bool:
        """Whether the motion begins from the places of the file, without a static solution: TmaxIC 0, or no lines."""
        return not self.lines or self.option("TmaxIC", "ICTmax", default=1.0) == 0.0

    def option(self, *names: str, default: float) -> float:
        """The value of an option, by any of its names."""
        for name in names:
            if name.lower() in self.options:
                return self.options[name.lower()].number(0, name)
        return default


Key = TypeVar("Key")
Entry = TypeVar("Entry")


def unique(what: str, entries: Iterable[tuple[FileRow, Key, Entry]]) -> dict[Key, Entry]:
    """Entries by their keys. DeckError: two of them have the same, at the row of the second."""
    found: dict[Key, Entry] = {}
    for row, key, entry in entries:
        if key in found:
            raise row.error(f"the {what} {row.words[0]} is defined twice")
        found[key] = entry
    return found


def read(path: Path) -> Moorings:
    """The content of a file. DeckError: an entry is invalid, with its place."""
    sections = sections_of(path)
    bodies = unique("body", ((own.row, own.name, own) for own in map(body, sections.get("BODIES", []))))
    types = unique("line type", ((own.row, own.name, own) for own in map(line_type, sections.get("LINE TYPES", []))))
    found = (point(row, bodies) for row in sections.get("POINTS", []))
    points = unique("point", ((own.row, own.label, own) for own in found))
    kinds = unique("rod type", ((row, row.words[0], row) for row in sections.get("ROD TYPES", [])))
    ends: dict[str, int] = {}
    for row in sections.get("RODS", []):
        its = rod_ends(row, kinds, bodies, points)
        if ends.keys() & its.keys():
            raise row.error(f"the rod {row.words[0]} is defined twice")
        ends |= its
    lines = [line(row, types, points, ends) for row in sections.get("LINES", [])]
    check_connectors(points, lines, types)
    unique("line", ((own.row, own.label, own) for own in lines))
    if not lines and not any(each.is_loose for each in bodies.values()):
        what = "no lines in it, and no bodies or rods that move by themselves"
        raise DeckError([Problem(str(path), 1, 1, what, hint="MoorDyn has a section ---- LINES ----")])
    options = {row.words[1].lower(): row for row in sections.get("OPTIONS", []) if len(row.words) > 1}
    others = {name: len(rows) for name, rows in sections.items() if name not in WIDTHS}
    unused = [name for name in kinds if all(row.words[1] != name for row in sections.get("RODS", []))]
    wide = [row.line for name, width in WIDTHS.items() for row in sections.get(name, []) if len(row.words) > width]
    largest: dict[int, float] = {}
    for row in sections.get("SYROPE IC", []):
        for word in row.words[0].split(","):
            number = int(word) if word.isdigit() else 0
            kind = next((types[each.type] for each in lines if each.label == number), None)
            if kind is None:
                raise row.error(f"there is no line {word}")
            tension, most = row.number(1, "Tmax0"), kind.curve[-1][1] if kind.working else math.inf
            if not 0.0 <= tension <= most:
                raise row.error(f"Tmax0 lies on the original curve, from 0 to {most:g}, got {tension:g}", 1)
            largest[number] = tension if kind.working else 0.0
    failures = sections.get("FAILURE", [])
    return Moorings(path, types, points, lines, options, others, failures, bodies, unused, wide, largest)


def sections_of(path: Path) -> dict[str, list[FileRow]]:
    """Name -> its rows without headers, of non-empty sections."""
    found: dict[str, list[FileRow]] = {}
    name, skipped = "", 0
    head: tuple[str, ...] = ()
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if "---" in text:
            title = re.sub(r"[^A-Z ]", "", text.upper()).strip()
            name = next((key for key, titles in SECTIONS.items() if any(word in title for word in titles)), title)
            skipped, head = 0 if name in ("OPTIONS", "OUTPUTS") else HEADS, ()
        elif name and skipped:
            skipped, head = skipped - 1, head or tuple(text.upper().split())
            if name == "LINE TYPES" and {"CB", "CINTDAMP"} <= {*head}:
                hint = "MoorDyn has Diam Mass EA BA EI Cd Ca CdAx CaAx, and lines a number of segments; or see fem line"
                raise FileRow(str(path), number, text, head).error("this is a file of MAP++, not of MoorDyn", 0, hint)
        elif name and (words := text.partition("#")[0].split()):
            found.setdefault(name, []).append(FileRow(str(path), number, text, tuple(words), head))
    return found


NEW, OLD = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), (1, 2, 3, 4, 0, 7, 5, 8, 6)
"""Columns of Diam Mass EA BA EI Cd Ca CdAx CaAx Cl dF cF in line types: version 2, and version 1, which has Diam Mass
EA BA Can Cat Cdn Cdt (0: no such column)."""
OF_OLD = {"CAN", "CAT", "CDN", "CDT"}


def line_type(row: FileRow) -> LineType:
    is_old = len(row.words) == len(OLD) and "EI" not in row.head and bool(OF_OLD.intersection(row.head))
    columns = OLD if is_old else NEW
    if len(row.words) < len(OLD) + (columns is NEW):
        hint = "MoorDyn v2 has TypeName Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx; v1 has no EI"
        raise row.error(f"a line type of MoorDyn v2 has 10 columns, this one {len(row.words)}", len(row.words), hint)
    names = ("the diameter", "the mass", "EA", "BA", "EI", "Cd", "Ca", "CdAx", "CaAx", "Cl", "dF", "cF")
    curve, working = syrope_of(row) if is_syrope(row) else (curve_of(row, row.words[3]), None)
    values = [
        curve[-1][1] / curve[-1][0] if curve and what == "EA" else first_number(row, place, what) if place else 0.0
        for place, what in zip(columns, names, strict=False) if place < len(row.words)
    ]  # fmt: skip
    if not curve or working:
        check_parts(row)
    for place, what in ((1, "the diameter"), (3, "EA")):
        if not values[place - 1] > 0.0:
            raise row.error(f"{what} must be positive, got {row.words[place]}", place)
    if values[1] < 0.0:
        raise row.error(f"the mass must not be negative, got {row.words[2]}", 2)
    return LineType(row, row.words[0], *values, curve=curve, working=working)


def is_syrope(row: FileRow) -> bool:
    return row.words[3].upper().startswith(SYROPE)


def syrope_of(row: FileRow) -> tuple[tuple[tuple[float, float], ...], WorkingCurve]:
    """Original curve and working curves of SYROPE:file, which names both."""
    path = path_of(row, row.words[3][len(SYROPE) :].split("|")[0])
    lines = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    rows = [FileRow(str(path), number, text, tuple(text.split())) for number, text in lines]
    given = {each.words[1].lower(): each for each in rows if len(each.words) > 1}
    if lost := [name for name in ("OWC", "WCType", "k1", "k2") if name.lower() not in given]:
        raise row.error(f"{path} has no {' and no '.join(lost)}", 3, "lines of a value and its name")
    form, k1, k2 = given["wctype"].words[0].upper(), given["k1"].number(0, "k1"), given["k2"].number(0, "k2")
    least, most = {"LINEAR": (-math.inf, math.inf), "QUADRATIC": (0.0, 1.0), "EXP": (0.0, math.inf)}.get(
        form, (0.0, 0.0)
    )
    if least == most:
        raise given["wctype"].error(f"expected LINEAR, QUADRATIC or EXP, got {form}")
    if k1 < 0.0 or (k1 >= 1.0 and form != "LINEAR"):
        raise given["k1"].error(f"k1 of {form} lies between 0 and 1, got {k1:g}")
    if form != "LINEAR" and not 0.0 < k2 <= most:
        raise given["k2"].error(f"k2 of {form} is above 0{', at most 1' * (most == 1.0)}, got {k2:g}")
    curve = curve_of(row, given["owc"].words[0])
    if not curve:
        raise given["owc"].error(f"expected a file of strains and tensions, got {given['owc'].words[0]}")
    return curve, WorkingCurve(form, k1, k2)


def path_of(row: FileRow, name: str) -> Path:
    """A file beside that of the row, or below it. DeckError: there is none."""
    named = Path(row.file).parent / name
    path = named if named.is_file() else Path(row.file).with_name(Path(name).name)
    if not path.is_file():
        raise row.error(f"EA is neither a number nor a file: there is no {path}", 3)
    return path


def curve_of(row: FileRow, word: str) -> tuple[tuple[float, float], ...]:
    """(strain, tension) of a file, from 0, 0 on; none where EA is a number."""
    name = word.strip("\"'")
    if name[:1] in "+-0123456789" or (name[:1] == "." and name[1:2] not in "./\\") or ":" in name:
        return ()
    path = path_of(row, name)
    lines = enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    rows = [FileRow(str(path), number, text, tuple(text.replace(",", " ").split())) for number, text in lines]
    numbers = [each for each in rows if each.words and not math.isnan(number_of(each.words[0]))]
    found = [(0.0, 0.0)]
    for each in numbers:
        strain, tension = each.number(0, "a strain"), each.number(1, "a tension")
        if (strain, tension) == found[-1] == (0.0, 0.0):
            continue
        if strain <= found[-1][0] or tension <= found[-1][1]:
            raise each.error(f"strain and tension must rise: {strain:g}, {tension:g} after {found[-1]}", 0)
        found.append((strain, tension))
    if len(found) < 2:
        raise row.error(f"{path} holds no curve: lines of strain and tension", 3)
    return tuple(found)


def first_number(row: FileRow, place: int, what: str) -> float:
    """Of several between bars, the static one."""
    value = number_of(row.words[place].partition("|")[0])
    if not math.isfinite(value):
        hint = "a curve is supported in place of EA only: give a number" if place in (3, 4, 5) else ""
        raise row.error(f"expected {what}, a number, got {row.words[place]!r}", place, hint)
    return value


def check_parts(row: FileRow) -> None:
    """EA_s|EA_d or EA_s|EA_Dc|EA_D_Lm, with BA_s and BA_d."""
    stiffness, damping = (word.split("|") for word in row.words[3:5])
    if is_syrope(row):
        if len(stiffness) != 3 or not number_of(damping[0]) > 0.0:
            raise row.error("expected SYROPE:file|EA_Dc|EA_D_Lm, and a damping BA_s above 0", 3)
        stiffness = stiffness[1:]
    for place, parts in ((3, stiffness), (4, damping)):
        if not all(math.isfinite(number_of(word)) for word in parts):
            raise row.error(f"expected numbers between bars, got {row.words[place]!r}", place)
    if len(stiffness) > 3 or len(damping) > 2 or (len(damping) > 1 and len(stiffness) < 2):
        raise row.error("expected EA_s|EA_d or EA_s|EA_Dc|EA_D_Lm, and then BA_s|BA_d", 3)
    if len(stiffness) > 1 and not is_syrope(row) and not float(stiffness[1]) > float(stiffness[0]):
        raise row.error(f"the dynamic EA {stiffness[1]} is not above the static one, {stiffness[0]}", 3)


PINNED = ("PINNED", "PIN")


def several(row: FileRow, place: int, what: str, count: int) -> list[float]:
    """Numbers separated by bars; a single one applies to all. DeckError: there are neither 1 nor ``count``."""
    words = row.words[place].split("|") if place < len(row.words) else [""]
    found = [number_of(word) for word in words]
    if len(found) not in (1, count) or not all(map(math.isfinite, found)):
        got = row.words[place] if place < len(row.words) else "nothing"
        raise row.error(f"expected {what}, 1 or {count} numbers between bars, got {got!r}", place)
    return found * (count // len(found))


def body(row: FileRow) -> MoorDynBody:
    """A line of BODIES."""
    label, word = row.count(0, "the number of the body"), (row.words[1] if len(row.words) > 1 else "").upper()
    kind = kind_of(word)
    kind = kind or ("pinned" if word in ("COUPLEDPINNED", "VESSELPINNED", "CPLDPIN") else "")
    if not kind:
        raise row.error(f"unknown attachment {word!r} of a body", 1, "known are Free, Fixed, Coupled and CoupledPinned")
    found = MoorDynBody(
        row, f"BODY{label}", kind, tuple(row.number(place, "the place of the body") for place in range(2, 8))
    )
    if found.is_loose:
        found.mass, found.volume = row.number(8, "the mass"), row.number(11, "the volume")
        centre = several(row, 9, "the centre of gravity", 3)
        found.centre = tuple(centre) if "|" in row.words[9] else (0.0, 0.0, centre[0])
        found.inertia = tuple(several(row, 10, "moments of inertia", 3))
        parts = row.words[12].count("|") + 1 if len(row.words) > 12 else 1
        drag = several(row, 12, "CdA", parts if parts in (1, 2, 3) else 6)
        found.drag_area = tuple(drag[:3] if len(drag) > 2 else drag[:1] * 3)  # two: of translations, of rotations
        found.added = tuple(several(row, 13, "Ca", 3))
        for place, numbers in ((8, (found.mass,)), (10, found.inertia), (11, (found.volume,))):
            if min(numbers) < 0.0:
                raise row.error(f"expected no negative number, got {row.words[place]}", place)
    return found


def rod_ends(
    row: FileRow, types: dict[str, FileRow], bodies: dict[str, MoorDynBody], points: dict[int, MoorDynPoint]
) -> dict[str, int]:
    """A line of RODS: its ends become points (R1A -> label), and a rod that moves by itself a body. A rod without
    segments has no length, wherever its end B is said to be: both ends are end A (MoorDyn, Rod.cpp)."""
    if len(row.words) < 9 or row.words[1] not in types:
        known = f"there are {', '.join(types) or 'none'}"
        raise row.error(f"expected a rod: number, type, attachment, two ends; of types {known}", 1)
    label, made = row.count(0, "the number of the rod"), types[row.words[1]]
    ends = tuple(tuple(row.number(place + axis, "an end of the rod") for axis in range(3)) for place in (3, 6))
    sizes = [made.number(place, "a number of the rod type") for place in range(1, 7)]
    segments = row.count(9, "the number of segments", 0) if len(row.words) > 9 else 1
    is_connector = not segments or ends[0] == ends[1]
    if min(sizes[:2]) < 0.0 or not (sizes[0] or is_connector):
        raise made.error("the diameter of a rod must be positive, its mass not negative", 1)
    name, kind = held_by(row, bodies, is_connector)
    if name:
        ends = tuple(on_body(end, bodies[name].pose) for end in ends)
    if is_connector:
        at, kind = max(points, default=0) + 1, kind.replace("pinned", "fixed")
        points[at] = MoorDynPoint(row, at, kind, ends[0], 0.0, 0.0, 0.0, 0.0, (0.0,) * 3, name, f"rod {label}", True)
        return {f"R{label}{end}": at for end in "AB"}
    holder = name if kind == "pinned" and name and bodies[name].is_loose else ""
    name = f"ROD{label}" if kind == "pinned" or not name else name
    own = bodies.setdefault(name, MoorDynBody(row, name, kind, (*ends[0], 0.0, 0.0, 0.0), holder=holder))
    own.rods.append(Rod(row, label, (ends[0], ends[1]), *sizes))
    found = {}
    kind, length = "tied" if own.is_loose else own.kind, math.dist(*ends)
    for end, place, other in zip("AB", ends, ends[::-1], strict=True):
        found[f"R{label}{end}"] = at = max(points, default=0) + 1
        axis = tuple((x - y) / length for x, y in zip(place, other, strict=True))
        called = f"end {end} of rod {label}"
        points[at] = MoorDynPoint(row, at, kind, place, 0.0, 0.0, 0.0, 0.0, body=name, name=called, axis=axis)
    return found


def held_by(row: FileRow, bodies: dict[str, MoorDynBody], is_connector: bool) -> tuple[str, str]:
    """The body that holds a rod, or "" and the kind of its own, and whether it is pinned to its holder; connectors
    rotate freely, pinned or not."""
    word = row.words[2].upper()
    plain = re.sub(r"(?<=\w)(PINNED|PIN)$", "", word)
    owner = bodies.get(plain)
    if owner:
        is_pinned = plain != word and not is_connector
        return plain, "pinned" if is_pinned else "tied" if owner.is_loose else owner.kind
    is_pinned = word in PINNED or (kind_of(plain) == "coupled" and plain != word and not is_connector)
    kind = "pinned" if is_pinned else kind_of(plain)
    if not kind:
        hint = "known are Free, Pinned, Fixed, Coupled, Body1, CoupledPinned and Body1Pinned"
        raise row.error(f"rods that are {row.words[2]} are not supported", 2, hint)
    return "", kind


def check_connectors(points: dict[int, MoorDynPoint], lines: list[MoorDynLine], types: dict[str, LineType]) -> None:
    """DeckError: lines with EI meet at a connector, except one at each end of a free one."""
    for end in (each for each in points.values() if each.is_connector):
        bending = [each for each in lines if types[each.type].bends and end.label in (each.first, each.last)]
        name = f"R{end.name.removeprefix('rod ')}"
        ends = sorted(word.upper() for each in bending for word in each.row.words[2:4] if word.upper()[:-1] == name)
        if len(ends) > 1 and (end.kind != "free" or ends != [f"{name}A", f"{name}B"]):
            hint = f"two may, at ends {name}A and {name}B of a connector that is Free; or use a point, a hinge"
            raise bending[-1].row.error(f"lines with EI that meet at {end.name}, which has no segments", 2, hint)


def point(row: FileRow, bodies: dict[str, MoorDynBody]) -> MoorDynPoint:
    if len(row.words) < 9:
        raise row.error(f"a point has 9 columns, this one {len(row.words)}", len(row.words))
    label, word = row.count(0, "the number of the point"), row.words[1].upper()
    place = tuple(row.number(axis, f"{name} of the point") for axis, name in ((2, "x"), (3, "y"), (4, "z")))
    kind = kind_of(word)
    owner = bodies.get(word)
    if owner:
        kind, place = ("tied" if owner.is_loose else owner.kind), on_body(place, owner.pose)
    elif re.fullmatch(r"BODY(\d+)", word):
        raise row.error(f"there is no body {word[4:]}", 1)
    if not kind:
        hint = f"known are {', '.join(words[0].capitalize() for words in KINDS.values())}, Turbine1 and Body1"
        raise row.error(f"unknown attachment {row.words[1]!r}", 1, hint)
    names = ("the mass", "the volume", "CdA", "Ca")
    columns = (5, 6, 10, 11) if len(row.words) >= 12 else (5, 6, 7, 8)
    values = [row.number(column, what) for column, what in zip(columns, names, strict=True)]
    force = tuple(row.number(column, "a force") for column in (7, 8, 9)) if len(row.words) >= 12 else (0.0, 0.0, 0.0)
    mass, volume, drag_area, added = values
    return MoorDynPoint(row, label, kind, place, mass, volume, drag_area, added, force, word if owner else "")


def on_body(place: Sequence[float], pose: Sequence[float]) -> tuple[float, ...]:
    """Position of a point of a body: x = X + Rx(roll) Ry(pitch) Rz(yaw) r (MoorDyn: intrinsic x, y, z)."""
    roll, pitch, yaw = (math.radians(angle) for angle in pose[3:])
    x, y, z = place
    x, y = x * math.cos(yaw) - y * math.sin(yaw), x * math.sin(yaw) + y * math.cos(yaw)
    x, z = x * math.cos(pitch) + z * math.sin(pitch), -x * math.sin(pitch) + z * math.cos(pitch)
    y, z = y * math.cos(roll) - z * math.sin(roll), y * math.sin(roll) + z * math.cos(roll)
    return pose[0] + x, pose[1] + y, pose[2] + z


def line(
    row: FileRow, types: dict[str, LineType], points: dict[int, MoorDynPoint], rods: dict[str, int]
) -> MoorDynLine:
    if len(row.words) < 6:
        raise row.error(f"a line has 7 columns, this one {len(row.words)}", len(row.words))
    is_old = len(row.head) > 2 and row.head[2].startswith("UNSTR")
    first, last, at_length, at_count = (4, 5, 2, 3) if is_old else (2, 3, 4, 5)
    if row.words[1] not in types:
        raise row.error(f"there is no line type {row.words[1]!r}; there are {', '.join(types)}", 1)
    ends = []
    for place in (first, last):
        word = row.words[place].upper()
        if word.startswith("R"):
            if word not in rods:
                raise row.error(f"there is no end of a rod {row.words[place]}", place, "R1A and R1B are those of rod 1")
            ends.append(rods[word])
            continue
        ends.append(row.count(place, "the number of a point"))
        if ends[-1] not in points or points[ends[-1]].name:
            raise row.error(f"there is no point {ends[-1]}", place)
    length = row.number(at_length, "the natural length")
    if not length > 0.0:
        raise row.error(f"the natural length must be positive, got {row.words[at_length]}", at_length)
    label, segments = row.count(0, "the number of the line"), row.count(at_count, "the number of segments")
    if segments > 1 and not types[row.words[1]].mass:
        raise row.error(f"line type {row.words[1]} has no mass: its lines have one segment", at_count)
    return MoorDynLine(row, label, row.words[1], ends[0], ends[1], length, segments)
