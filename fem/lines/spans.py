"""``fem.line``: the deck of a line between two ends, or of a vessel on a spread of them: at rest, then the stream, then
the motion of the last end or of the vessel, or a sea.

``LineSpan`` contains its ends, shape, material and loads. Weight and stiffness of chains, ropes and conductors are
in ``catalogue.csv``, each number with its source. A quantity is the sum of its lines, factor * d^power, with the
nominal diameter d in metres; all in SI units. Names are ``studless-142`` and
``R4-studless-142`` (grade: breaking strength; nominal diameter in mm), ``wire-90``, ``polyester-200``, or the code word
of a conductor, ``drake``, whose core and wires ``sagging.py`` reads. The motion of an end may be a table: times, and
columns surge, sway, heave.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from fem.commands.arguments import add_force, add_list, not_negative, number, positive, positive_count
from fem.commands.files import table_rows, write_new
from fem.errors import CommandError, unknown

MEASURES = ("length", "tension", "sag")
STILL: Vector = (0.0, 0.0, 0.0)
Modules: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class LineSpan:
    """What ``line`` is given: a line from its first end to its last.

    measure, value  one of ``MEASURES`` and its value
    depth           None: there is no water, and the stream is a wind that grows with height
    time, dt        0: 10 and 1/200 periods, or all of a record in increments of 0.05
    sea             (significant height, peak period) of waves along +x; none: there are none
    rao             file of the RAO in the deck, whether it has headings of one side only; ``bow`` its heading from +x
    spread          angles [degrees] about z by which the line is turned, for each line of a vessel; none: one line
    vessel          reference point of that vessel
    segments        parts of other sections, from the first end; the section of the first is ``section``

    Raises CommandError on what cannot be.
    """

    first: Vector
    last: Vector
    section: LineSection
    measure: str
    value: float
    depth: float | None = None
    friction: float = 0.0
    stream: tuple[float, float] = (0.0, 0.0)
    motion: Vector = STILL
    period: float = 0.0
    record: RecordedEnd | None = None
    damping: float = 0.3
    bars: int = 50
    gravity: float = 9.81
    time: float = 0.0
    dt: float = 0.0
    modules: tuple[Modules, ...] = ()
    spread: tuple[float, ...] = ()
    vessel: Vector = STILL
    segments: tuple[Segment, ...] = ()
    sea: tuple[float, ...] = ()
    rao: tuple[str, bool] | None = None
    bow: float = 180.0

    def __post_init__(self) -> None:
        is_low = max(self.first[2], self.last[2]) <= 0.0
        ends = [0.0, *(end for each in self.modules for end in each[:2]), self.value]
        has_modules, least = bool(self.modules), 2 + 2 * len(self.modules) + len(self.segments)
        blanks = sum(each.length is None for each in self.segments)
        wrong = {
            f"a {self.measure} must be positive, got {self.value:g}": not self.value > 0.0,
            "both ends of the line are at the same point": self.first == self.last,
            f"damping must not be negative, got {self.damping:g}": not self.damping >= 0.0,
            f"the depth must be positive, got {self.depth}": self.is_wet and not (self.depth or 0.0) > 0.0,
            f"a line needs at least {least} bars, got {self.bars}": self.bars < least,
            "buoyancy modules need water: give its depth": has_modules and not self.is_wet,
            "buoyancy modules need the natural length of the line": has_modules and self.measure != "length",
            f"parts with buoyancy modules must follow each other from 0 to {self.value:g}": sorted(ends) != ends
            or any(begin == end for begin, end, *_ in self.modules),
            "a line of segments has no buoyancy modules: give the part with modules as a segment": has_modules
            and bool(self.segments),
            f"--{self.measure} needs one segment without a length": bool(self.segments)
            and self.measure != "length"
            and blanks != 1,
            "segments bend all, or none of them does": len(
                {not each.section.bending_stiffness for each in self.segments}
            )
            > 1,
            "a motion needs amplitudes and a period": any(self.motion) != (self.period > 0.0),
            "the end moves as a cosine or by a record: give one of them": any(self.motion) and self.record is not None,
            "friction needs a seabed: give the depth of the water": bool(self.friction) and not self.is_wet,
            "a spread has no modules: give the part with them as a segment": bool(self.spread) and has_modules,
            "waves need water: give its depth": bool(self.sea) and not self.is_wet,
            f"a sea needs a positive height and period, got {self.sea}": not min(self.sea, default=1.0) > 0.0,
            "an RAO moves the vessel of a spread in a sea: give the sea, and a spread or headings (0 for one line)": (
                self.rao is not None and not (self.sea and self.spread)
            ),
            "the RAO moves the vessel: it has no other motion": self.rao is not None and self.is_moving,
            "two lines of a spread have the same heading": len({each % 360.0 for each in self.spread})
            < len(self.spread),
            "a line on the axis of its spread cannot be turned about it": bool(self.spread)
            and not any((*self.first[:2], *self.last[:2])),
            "wind acts above z = 0: give the ends positive heights": self.is_streaming and not self.is_wet and is_low,
        }
        for message in (message for message, is_so in wrong.items() if is_so):
            raise CommandError(message)

    @property
    def is_moving(self) -> bool:
        return any(self.motion) or self.record is not None

    @property
    def is_dynamic(self) -> bool:
        """Whether there is a step of motion: an end or the vessel moves, or there are waves."""
        return self.is_moving or bool(self.sea)

    @property
    def is_streaming(self) -> bool:
        return any(self.stream)

    @property
    def is_wet(self) -> bool:
        return self.depth is not None

    def pieces(self) -> list[BarRun]:
        """From the first end to the last. Those without modules are ``BARE``; a line without any is one piece."""
        if not (self.modules or self.segments):
            return [BarRun("LINE", self.section, self.value, 1, self.bars)]
        known = sum(each.length or 0.0 for each in self.segments)
        rest = max(math.dist(self.first, self.last) - known, 0.01 * known)
        named = enumerate(self.segments, 1)
        parts, at = [(f"SEGMENT{n}", each.section, each.length or rest) for n, each in named], 0.0
        for count, (begin, end, mass, diameter) in enumerate(self.modules, 1):
            own = replace(self.section, mass=mass, diameter=diameter, volume_diameter=diameter)
            parts += [("BARE", self.section, begin - at), (f"MODULES{count}", own, end - begin)]
            at = end
        parts += [("BARE", self.section, self.value - at)] if self.modules else []
        parts = [part for part in parts if part[2] > 0.0]
        counts = [1] * len(parts)
        for _ in range(self.bars - len(parts)):  # one more bar where bars are longest
            counts[max(range(len(parts)), key=lambda at: parts[at][2] / counts[at])] += 1
        lasts = list(accumulate(counts))
        return [BarRun(*part, last - count + 1, last) for part, count, last in zip(parts, counts, lasts, strict=True)]

    def natural_lengths(self) -> list[str]:
        """Of the pieces, as a deck has them: blank where tension or sag determine one."""
        if self.segments:
            return [f"<length_{n}>" if each.length else "" for n, each in enumerate(self.segments, 1)]
        if self.modules:
            return [*(rounded(piece.length) for piece in self.pieces()[:-1]), "<rest>"]
        return ["<length>" if self.measure == "length" else ""]

    def chain_of_nodes(self, base: int = 0) -> list[str]:
        """Data lines of *NGEN that lay the pieces; ``base``: label of the node before the first."""
        pairs = zip(self.pieces(), self.natural_lengths(), strict=True)
        return [f"{base + piece.first}, {base + piece.last + 1}, 1{', ' * bool(own)}{own}" for piece, own in pairs]


class Segment(NamedTuple):
    """A part of a line with a section of its own; length None: whatever tension or sag need."""

    section: LineSection
    length: float | None


class BarRun(NamedTuple):
    """Bars first to last of one natural length together, of one section, in an element set."""

    name: str
    section: LineSection
    length: float
    first: int
    last: int


TABLE = Path(__file__).with_name("catalogue.csv")
NEEDED = ("diameter", "mass", "stiffness")
"""Of a section."""


@dataclass(frozen=True, slots=True)
class LineSection:
    """Properties of a line per length."""

    name: str
    diameter: float
    mass: float
    stiffness: float
    volume_diameter: float = 0.0
    drag: float = 1.2
    axial_drag: float = 0.0
    added_mass: float = 1.0
    axial_added_mass: float = 0.0
    strength: float = 0.0
    bending_stiffness: float = 0.0
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in NEEDED:
            if not getattr(self, name) > 0.0:
                raise CommandError(f"the {name} of a line must be positive, got {getattr(self, name):g}")
        if not self.volume_diameter:
            object.__setattr__(self, "volume_diameter", self.diameter)


def rows() -> list[dict[str, str]]:
    """Rows of the catalogue."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known() -> str:
    """Names in the catalogue, for messages."""
    made = [row["section"] for row in rows() if row["quantity"] in ("mass", "strength")]
    sections = dict.fromkeys(name for name in made if "-" not in name)
    words = sorted({row["section"] for row in rows() if row["quantity"] == "diameter"})
    grades = [name for name in sections if name[0] == "R"]
    ropes = [f"{name}-MM" for name in sections if name not in (*words, *grades)]
    chains = f"chains also with a grade, {', '.join(grades)}: R4-studless-MM"
    return f"{', '.join(ropes)} (MM: nominal diameter in mm; {chains}), {', '.join(words)}"


def section_of(name: str) -> LineSection:
    """Section with a name of the catalogue. CommandError: unknown name; the message lists those known.
    R3-studless-MM has the lines of R3 and of studless, replaced by those of R3-studless if there are any."""
    *parts, size = name.split("-")
    diameter = 0.0
    with suppress(ValueError):
        diameter = 1e-3 * float(size)
    parts = parts if diameter > 0.0 else [name]
    numbers: dict[str, float] = {"diameter": diameter} if diameter > 0.0 else {}
    sources: dict[str, str] = {}
    found = []
    for part in (*parts, "-".join(parts)):
        own: dict[str, float] = {}
        for row in rows():
            if row["section"].lower() == part.lower() and row["quantity"] in NUMBERS:
                term = float(row["factor"]) * diameter ** int(row["power"])
                own[row["quantity"]] = own.get(row["quantity"], 0.0) + term
                sources[row["quantity"]] = row["source"]
        numbers |= own
        found.append(bool(own))
    if not all(found[: len(parts)]) or not {"mass", "diameter"} <= set(numbers):
        raise CommandError(f"there is no section {name!r} in the catalogue; there are {known()}")
    return LineSection(name, **numbers, sources=sources)


def section_in(types: Path, name: str) -> LineSection | None:
    """Section of a table of own line types: a column ``name``, and numbers of ``LineSection``; None: not there.
    CommandError: the table cannot be understood."""
    (first, heads), *lines = table_rows(types) or [(1, [])]
    heads = [head.strip().lower() for head in heads]
    if lost := {"name", *NEEDED} - set(heads):
        raise CommandError(f"{types}:{first}: a table of line types needs the columns {', '.join(sorted(lost))}")
    if others := set(heads) - {"name", "source", *NUMBERS}:
        raise CommandError(
            f"{types}:{first}: {unknown('column', sorted(others)[0], ('name', *NUMBERS, 'source')).args[0]}"
        )
    for line, cells in lines:
        row = dict(zip(heads, map(str.strip, cells), strict=False))
        if row["name"].lower() == name.lower():
            try:
                if empty := [what for what in NEEDED if not row.get(what)]:
                    raise CommandError(f"it has no {', '.join(empty)}")
                numbers = {head: number(row[head]) for head in NUMBERS if row.get(head)}
                source = row.get("source") or types.name
                return LineSection(name, **numbers, sources=dict.fromkeys(numbers, source))
            except (CommandError, argparse.ArgumentTypeError) as error:
                raise CommandError(f"{types}:{line}: line type {name}: {error}") from None
    return None


AXES = ("surge", "sway", "heave")


@dataclass(frozen=True, slots=True)
class RecordedEnd:
    """file: its name in the deck;  first: column -> (axis from 1, its first value);  duration: its last time."""

    file: str
    first: dict[str, tuple[int, float]]
    duration: float


def read_record(path: Path, deck: Path) -> RecordedEnd:
    """CommandError: the file has no table, no header with these names, or does not begin at time 0."""
    rows = [cells for _, cells in table_rows(path)]
    heads = [head.strip() for head in rows[0]] if rows else []
    columns = {head: place for place, head in enumerate(heads) if head.lower() in AXES}
    if not columns or len(rows) < 3:
        what = f"{path} has no column surge, sway or heave: its first line must name the columns, time first"
        raise CommandError(what)
    try:
        times = [float(row[0]) for row in (rows[1], rows[-1])]
        values = {head: float(rows[1][place]) for head, place in columns.items()}
    except (ValueError, IndexError):
        raise CommandError(f"{path} is not a table of numbers, separated by commas, below a line of names") from None
    if times[0] != 0.0:
        raise CommandError(f"{path} begins at time {times[0]:g}; the motion of a line must begin at time 0")
    first = {head: (AXES.index(head.lower()) + 1, value) for head, value in values.items()}
    return RecordedEnd(Path(os.path.relpath(path, deck.parent)).as_posix(), first, times[1])


def read_rao(path: Path, deck: Path) -> tuple[str, bool]:
    """Name of a table in the deck, and whether its headings are those of one side of the bow. CommandError: it has no
    such column."""
    rows = [[cell.strip().lower() for cell in cells] for _, cells in table_rows(path)]
    try:
        at = [head.partition("(")[0].strip() for head in rows[0]].index("heading")
        headings = [float(row[at]) for row in rows[1:]]
    except (ValueError, IndexError):
        raise CommandError(f"{path} is not a table of an RAO: it has no column of numbers named heading") from None
    is_half = all(0.0 <= heading <= 180.0 for heading in headings)
    return Path(os.path.relpath(path, deck.parent)).as_posix(), is_half


NUMBERS = tuple(entry.name for entry in fields(LineSection) if entry.type == "float")
"""Of a section."""


def line(
    last: Sequence[float],
    *,
    first: Sequence[float] | None = None,
    section: str | LineSection | None = None,
    segments: Sequence[tuple[str | LineSection, float | None]] = (),
    length: float | None = None,
    tension: float | None = None,
    sag: float | None = None,
    depth: float | None = None,
    friction: float = 0.0,
    stream: Sequence[float] = (0.0, 0.0),
    modules: Sequence[Sequence[float]] = (),
    motion: Sequence[float] = STILL,
    period: float = 0.0,
    record: str | Path | None = None,
    damping: float = 0.3,
    bars: int = 50,
    gravity: float = 9.81,
    time: float = 0.0,
    dt: float = 0.0,
    spread: int | Sequence[float] = (),
    vessel: Sequence[float] = STILL,
    sea: Sequence[float] = (),
    rao: str | Path | None = None,
    bow: float = 180.0,
    types: str | Path | None = None,
    output: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the deck of a mooring line or a span of conductor, for ``fem.run``, ``fem.sweep`` and others.

    last, first  (x, y, z) of the ends, z upwards, water surface at 0: the fairlead; the anchor, None: (0, 0, -depth)
    section      a name of the catalogue (R4-studless-142, wire-90, polyester-200, drake), or a ``LineSection``
    segments     instead of one section: pairs of a section and its natural length, from the first end; one may have
                 None, if a tension or a sag is given
    length, tension, sag  one of them: natural length (not with segments); tension at the last end; sag at mid span
    depth        depth of the water; None: no water
    friction     coefficient of friction between the line and the seabed
    stream       (x, y) velocity of the current, or without water of the wind, 10 m above z = 0
    modules      parts with buoyancy modules, each (begin, end, mass, diameter): natural lengths from the first end;
                 mass per length and diameter of the line with them
    motion, period  (x, y, z) amplitudes of the last end or of the vessel, which moves as a cosine, and its period
    record       alternatively a CSV table with its motion: time, and columns named surge, sway, heave (some of them)
    damping      internal damping, if the end moves, as a fraction of the critical one of a bar (MoorDyn's -BA)
    bars         number of bars
    gravity      acceleration along -z
    time, dt     duration and largest increment of the motion; 0: 10 periods and 1/200 period; the record, or 600 s of a
                 sea, and 0.05
    spread       lines of a vessel: their number, or angles [degrees] about z by which the given line is turned
    vessel       (x, y, z) of the reference node of that vessel, which holds their last ends: a rigid body
    sea          significant height and peak period of waves along +x (JONSWAP, gamma 3.3)
    rao, bow     CSV table of the motion of the vessel in waves, as ``*RAO`` reads it, and the heading [degrees] of its
                 bow from +x; 180: head sea
    types        CSV table of own line types: name, diameter, mass, stiffness and other numbers of ``LineSection``
    output       file of the deck; None: ``line.inp`` in the current folder
    force        overwrite a file with other content

    Raises
    ------
    CommandError  a number is out of range, or the file exists and has other content.

    >>> deck = line((300, 0, 8), first=(0, 0, 0), section="drake", sag=9.0, bars=20)
    >>> print(f"{fem.run(deck).of_element(20, 'T')[-1]:.4g} N")
    2.018e+04 N
    """
    given = {name: value for name, value in zip(MEASURES, (length, tension, sag), strict=True) if value is not None}
    if (section is None) != bool(segments):
        raise CommandError("a line has either a section or segments")
    known = [own for _, own in segments if own is not None]
    if segments and len(known) == len(segments) and not given:
        given = {"length": sum(known)}
    elif segments and "length" in given:
        raise CommandError("segments have lengths of their own: leave out that of the line")
    if not min(known, default=1.0) > 0.0:
        raise CommandError(f"the length of a segment must be positive, got {min(known):g}")
    if len(given) != 1:
        what = f"one of {', '.join(MEASURES)} must say how the line hangs, got {', '.join(given) or 'none'}"
        raise CommandError(what)
    ((measure, value),) = given.items()
    start = (0.0, 0.0, -(depth or 0.0)) if first is None else first
    begin, end = vector("first", start), vector("last", last)
    flow, reach = vector("stream", stream, 2), vector("motion", motion)
    parts = tuple(vector("modules", each, 4) for each in modules)
    deck = Path("line.inp") if output is None else Path(output)
    moved = read_record(Path(record), deck) if record is not None else None
    made = tuple(Segment(made_of(name, types), own) for name, own in segments or [(section or "", None)])
    if isinstance(spread, int) and spread < 1:
        raise CommandError(f"a spread needs 1 line or more, got {spread}")
    around = tuple(360.0 * k / spread for k in range(spread)) if isinstance(spread, int) else tuple(spread)
    answer = read_rao(Path(rao), deck) if rao is not None else None
    found = LineSpan(
        begin, end, made[0].section, measure, value, depth, friction, flow, reach, period, moved, damping, bars,
        gravity, time, dt, parts, around, vector("vessel", vessel), made if segments else (),
        vector("sea", sea, 2) if sea else (), answer, bow,
    )  # fmt: skip
    return write_new(deck, deck_text(found).encode(), force)


def made_of(section: str | LineSection, types: str | Path | None) -> LineSection:
    """A section of own types, or of the catalogue, by its name. CommandError: there is none."""
    if isinstance(section, LineSection):
        return section
    return (section_in(Path(types), section) if types is not None else None) or section_of(section)


def vector(name: str, numbers: Sequence[float], count: int = 3) -> Any:
    """So many numbers. CommandError: there are more, or less."""
    if len(numbers) != count:
        raise CommandError(f"{name} needs {count} numbers, got {len(numbers)}")
    return tuple(numbers)


def line_as_asked(section: str | None = None, **given: Any) -> Path:
    """``fem line``: a name of the catalogue, or the numbers of a section among the others. CommandError: not one of
    both."""
    numbers = {name: given.pop(name) for name in NUMBERS if name in given}
    if section is not None and numbers:
        raise CommandError(f"--section {section} has its own numbers: leave out {', '.join(numbers)}, or the section")
    for name in ("spans", "stringing", "report", "row", "state", "event", "string", "height"):
        if name in given:
            raise CommandError(f"--{name} belongs to --sag-tension CASES.csv")
    if "bow" in given and "rao" not in given:
        raise CommandError("--bow is the heading of a vessel with --rao")
    if "vessel" in given and "spread" not in given:
        raise CommandError("--vessel belongs to --spread or --headings")
    segments = given.get("segments", ())
    if segments and (section is not None or numbers):
        raise CommandError("--segment has a line type of its own: leave out --section and its numbers")
    if "types" in given and section is None and not segments:
        raise CommandError("--types belongs to --section or --segment, which name a row of it")
    if "last" not in given:
        raise CommandError("--last X,Y,Z must give the end of the line")
    if segments:
        return line(**given)
    if section is None and (lost := set(NEEDED) - set(numbers)):
        needed = ", ".join(sorted(lost))
        raise CommandError(f"the properties of the line are missing: give --section NAME, or its numbers ({needed})")
    return line(section=section or LineSection("given numbers", **numbers), **given)


WATER, AIR = 1025.0, 1.225
RECORD_DT = 0.05
BOTTOM = 3e6, 3e5
"""Force per area over depth and over speed of the bottom: MoorDyn's kBot [Pa/m] and cBot [Pa s/m]."""
MESH = """\
*NGEN, LINE=CATENARY{measure}{nodes}
{pieces}
*ELEMENT, TYPE={kind}
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}"""
MATERIAL = """\
*MATERIAL, NAME={material}
*ELASTIC
{stiffness}
*DENSITY
{mass}{damping}"""
CABLE = """\
*NO COMPRESSION
*SOLID SECTION, ELSET={name}, MATERIAL={material}, STRAIN=ENGINEERING
1."""
BENDING = """\
** E is E A, and I11 is I/A
*BEAM GENERAL SECTION, ELSET={name}, MATERIAL={material}, STRAIN=ENGINEERING
1., {inertia}, 0., {inertia}"""
LAID = """\
** laid in equilibrium: loads at once
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*NODE PRINT, NSET={nodes}
U, RF{bending}
*EL PRINT, ELSET=LINE
T
*DLOAD
LINE, GRAV, {gravity!r}, 0., 0., -1."""
STREAM = """\
** {what}
*STEP, NLGEOM, INC=200
*STATIC
0.25, 1."""
SEA = """\
** waves along +x, which grow during the first 20 s
*WAVE, TYPE=JONSWAP, SEED=<SEED>, COMPONENTS=100, RAMP=20.
<Hs>, <Tp>, 3.3, 1., 0."""
MOVING = """\
** {what}
*STEP, NLGEOM, INC=10000000
*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
** at most dt long, shorter where local error or tension requires it, as where a line snaps taut
{dt}, {time}, , {dt}
*CONTROLS, TIME ERROR=5e-4, TENSION CHANGE=0.3, RESI_GLOB_RELA=1e-4"""


def deck_text(span: LineSpan) -> str:
    mesh = spread_lines if span.spread else mesh_lines
    parts = (heading_lines, parameter_lines, mesh, place_lines, step_lines)
    return "".join(f"{line}\n" for part in parts for line in part(span))


def heading_lines(span: LineSpan) -> list[str]:
    """Description, and the sources of the numbers."""
    distance = math.dist(span.first, span.last)
    sections = list({own.name: own for own in (each.section for each in span.segments)}.values()) or [span.section]
    what = f"A vessel on {len(span.spread)} line{'s' * (len(span.spread) != 1)}" if span.spread else "Line"
    where = f"in {span.depth:g} m of water" if span.is_wet else "in air"
    by_source: dict[str, dict[str, None]] = {}
    for quantity, source in (pair for section in sections for pair in section.sources.items()):
        if span.is_wet or quantity in ("diameter", "mass", "stiffness", "drag", "strength"):
            by_source.setdefault(source, {})[quantity.replace("_", " ")] = None
    listed = "; ".join(f"{', '.join(quantities)}: {source}" for source, quantities in by_source.items())
    named, are_many = " and ".join(section.name for section in sections), len(sections) > 1
    broken = (f"{f'{each.name} ' * are_many}breaks at {each.strength:.4g} N" for each in sections if each.strength)
    strength = "".join(f", {each}" for each in broken)
    return [
        *("*HEADING", f"{what} of {named}{strength}, {distance:.6g} m from end to end {where}. SI units"),
        f"** {listed or 'numbers as given'}",
    ]


def parameter_lines(span: LineSpan) -> list[str]:
    """Parameters that can be changed for one run with --set NAME=VALUE."""
    given = {f"length_{n}": each.length for n, each in enumerate(span.segments, 1) if each.length}
    given |= {} if span.segments and span.measure == "length" else {span.measure: span.value}
    given |= dict(zip(stream_names(span), span.stream, strict=False))
    lines = [f"{name} = {rounded(value)}" for name, value in given.items()]
    if span.modules:
        pieces = span.pieces()
        lines += [f"** from bar {pieces[-1].first} on", f"rest = length - {rounded(span.value - pieces[-1].length)}"]
    if span.period:
        lines += [f"{name} = {rounded(part)}" for name, part in zip(AXES, span.motion, strict=True) if part]
        lines += [f"period = {rounded(span.period)}", "omega = 2*pi/period"]
    if span.sea:
        lines += ["** a realisation of the sea; seconds", "SEED = 1", f"duration = {rounded(duration(span))}"]
        lines += [f"{name} = {rounded(part)}" for name, part in zip(("Hs", "Tp"), span.sea, strict=True)]
    if span.spread and not span.is_moving:
        lines += ["** offset of the vessel from where it is drawn", *(f"{name} = 0." for name in AXES)]
    return ["*PARAMETER", *lines]


def stream_names(span: LineSpan) -> list[str]:
    """Parameters with the velocity of the stream; the first alone where it goes along x."""
    word = "current" if span.is_wet else "wind"
    if not span.is_streaming:
        return []
    return [f"{word}_x", f"{word}_y"] if span.stream[1] else [word]


def mesh_lines(span: LineSpan) -> list[str]:
    """Both ends, the line between them, what it is made of."""
    last = span.bars + 1
    inertia = span.section.bending_stiffness / span.section.stiffness
    ends = [f"{label}, {', '.join(map(rounded, place))}" for label, place in ((1, span.first), (last, span.last))]
    text = MESH.format(
        measure="" if span.measure == "length" else f", {span.measure.upper()}=<{span.measure}>",
        pieces="\n".join(span.chain_of_nodes()),
        bars=span.bars,
        kind="B31" if inertia else "T3D2",
        nodes=", NSET=CABLE" if inertia else "",
    )
    return ["*NODE, NSET=ENDS", *ends, *text.splitlines(), *material_lines(span)]


def spread_lines(span: LineSpan) -> list[str]:
    """The lines of a vessel, nodes and bars k001, k002, ... of line k, their ends, the vessel and the material."""
    kind, label = "B31" if span.section.bending_stiffness else "T3D2", 10 ** max(3, len(str(span.bars + 2)))
    measure = "" if span.measure == "length" else f", {span.measure.upper()}=<{span.measure}>"
    lines, firsts = ["*NODE, NSET=VESSEL", ", ".join(["1", *map(rounded, span.vessel)])], []
    for k, angle in enumerate(span.spread, 1):
        cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        first, last = k * label + 1, k * label + 1 + span.bars
        firsts.append(first)
        for name, at, (x, y, z) in (("ANCHORS", first, span.first), ("FAIRLEADS", last, span.last)):
            place = ", ".join(map(rounded, (x * cos - y * sin, x * sin + y * cos, z)))
            lines += [f"*NODE, NSET={name}", f"{at}, {place}"]
        lines += [f"*NGEN, LINE=CATENARY{measure}, NSET=CABLE", *span.chain_of_nodes(first - 1)]
        lines += [f"*ELEMENT, TYPE={kind}", f"{first}, {first}, {first + 1}"]
    lines += ["*ELGEN, ELSET=LINE", *(f"{first}, {span.bars}" for first in firsts)]
    for k, first in enumerate(firsts, 1):
        lines += [f"*ELSET, ELSET=LINE{k}, GENERATE", f"{first}, {first + span.bars - 1}"]
    moved = f", RAO=VESSEL, HEADING={rounded(span.bow)}" if span.rao else ""
    lines += [f"*RIGID BODY, REF NODE=VESSEL, PIN NSET=FAIRLEADS{moved}"]
    return [*lines, *material_lines(span, [first - 1 for first in firsts])]


def material_lines(span: LineSpan, bases: Sequence[int] = (0,)) -> list[str]:
    """What the bars are made of; ``bases``: label of the bar before the first, of each line."""
    lines, pieces = list[str](), span.pieces()
    for name, section in sections_of(span).items():
        inertia = section.bending_stiffness / section.stiffness
        own = [piece for piece in pieces if piece.name == name]
        bars = [f"{base + piece.first}, {base + piece.last}" for base in bases for piece in own]
        lines += [f"*ELSET, ELSET={name}, GENERATE", *bars] if span.modules or span.segments else []
        material = "LINE" if section is span.section and not span.segments else name
        made = MATERIAL + "\n" + (BENDING if inertia else CABLE)
        numbers = {"stiffness": rounded(section.stiffness), "mass": rounded(section.mass), "inertia": rounded(inertia)}
        damping = damping_lines(span, section if span.segments else span.section)
        lines += made.format(name=name, material=material, damping=damping, **numbers).splitlines()
    return lines


def sections_of(span: LineSpan) -> dict[str, LineSection]:
    """Element set -> what its bars are made of."""
    return {piece.name: piece.section for piece in span.pieces()}


def damping_lines(span: LineSpan, section: LineSection) -> str:
    """BETA = damping L0/c; damping 1 is critical for the highest frequency of a chain of bars, 2c/L0."""
    if not (span.is_dynamic and span.damping):
        return ""
    length = span.value if span.measure == "length" else math.dist(span.first, span.last)
    passing = length / span.bars * math.sqrt(section.mass / section.stiffness)
    what = f"{span.damping:g} of the critical damping of a bar (BA = -{span.damping:g} of MoorDyn)"
    return f"\n** {what}: it damps the vibration after a snap\n*DAMPING, BETA={span.damping * passing:.6g}"


def place_lines(span: LineSpan) -> list[str]:
    """Water and bottom, or wind; both ends held."""
    lines = []
    velocity = ", ".join(([f"<{name}>" for name in stream_names(span)] + ["0."])[:2])
    if span.depth is not None:
        lines += ["*AQUA", f"{rounded(-span.depth)}, 0., {rounded(span.gravity)}, {rounded(WATER)}"]
        lines += [f"{velocity}, 0., 0."] if span.is_streaming else []
        lines += SEA.splitlines() if span.sea else []
        lines += [f"*RAO, NAME=VESSEL, INPUT={span.rao[0]}{', SYMMETRY=XZ' * span.rao[1]}"] if span.rao else []
        for name, section in (sections_of(span) if span.segments else {"LINE": span.section}).items():
            lines += [f"*SEABED, ELSET={name}", ", ".join(map(rounded, (*BOTTOM, section.diameter)))]
            lines += [rounded(span.friction)] if span.friction else []
    elif span.is_streaming:
        lines += ["*WIND", f"{AIR}, 10., {velocity}, 1., 0."]
    if span.record:
        name = f"INPUT={span.record.file}"
        lines += [f"*AMPLITUDE, NAME={head}, {name}, COLUMN={head}, DEFINITION=SPLINE" for head in span.record.first]
    elif span.period:
        lines += ["*AMPLITUDE, NAME=COSINE, DEFINITION=PERIODIC", "1, <omega>, 0., 0.", "1., 0."]
    return [*lines, "*BOUNDARY", *(("ANCHORS, 1, 3", "VESSEL, 1, 6") if span.spread else ("ENDS, 1, 3",))]


def step_lines(span: LineSpan) -> list[str]:
    """At rest; in the stream, with what moves at the start of its motion; the motion or the sea."""
    made = sections_of(span)
    nodes, bending = ("CABLE", ", SK, SM") if span.section.bending_stiffness else ("ENDS", "")
    if span.spread:  # what the console shows is of the first table
        nodes, bending = "FAIRLEADS", f"{bending}, TE, DECL, AZIM"
        bending += f"\n*NODE PRINT, NSET={'CABLE' if span.section.bending_stiffness else 'ANCHORS'}\nU, RF{bending}"
    lines = LAID.format(gravity=span.gravity, nodes=nodes, bending=bending).splitlines()
    lines += [f"{name}, PB, 1., {rounded(own.volume_diameter)}" for name, own in made.items()] if span.is_wet else []
    lines.append("*END STEP")
    begin, motion = motion_lines(span)
    if not (span.is_streaming or span.is_dynamic or begin):
        return lines
    what = "the current or wind; the end moves to where its motion begins"
    lines += STREAM.format(what="the vessel at its offset" if span.spread else what).splitlines()
    if not (span.is_streaming or span.is_dynamic):
        return [*lines, *begin, "*END STEP"]
    lines += ["*DLOAD"] if span.is_wet or span.is_streaming else []
    for name, own in made.items():
        width, volume = rounded(own.diameter), rounded(own.volume_diameter)
        if span.is_wet:
            lines += [f"{name}, FDD, 1., {width}, {rounded(own.drag)}"]
            lines += [f"{name}, FDT, 1., {width}, {rounded(own.axial_drag)}"] if own.axial_drag else []
            added = f"{rounded(1.0 + own.added_mass)}, {rounded(own.added_mass)}"
            lines += [f"{name}, FI, 1., {volume}, {added}, , {rounded(own.axial_added_mass)}"]
        elif span.is_streaming:
            lines += [f"{name}, WDD, 1., {width}, {rounded(own.drag)}"]
    lines += [*begin, "*END STEP"]
    if not span.is_dynamic:
        return lines
    time = "<duration>" if span.sea else rounded(duration(span))
    dt, moved = span.dt or (span.period / 200.0 if span.period else RECORD_DT), "vessel" if span.spread else "end"
    what = f"the motion of the {moved}" if span.spread or span.is_moving else "the sea"
    return [*lines, *MOVING.format(what=what, time=time, dt=rounded(dt)).splitlines(), *motion, "*END STEP"]


def duration(span: LineSpan) -> float:
    """Of the motion: as given, or that of its record, or 10 periods, or 10 minutes of a sea."""
    return span.time or (span.record.duration if span.record else 10.0 * span.period or 600.0)


def motion_lines(span: LineSpan) -> tuple[list[str], list[str]]:
    """Start of the motion of the last end or of the vessel, and the motion: a cosine of parameters, or the columns of a
    record. A vessel without either has an offset."""
    last = "VESSEL" if span.spread else span.bars + 1
    if span.record:
        first = span.record.first.items()
        begin = [f"{last}, {axis}, {axis}, {rounded(value)}" for _, (axis, value) in first]
        moves = [[f"*BOUNDARY, AMPLITUDE={name}", f"{last}, {axis}, {axis}, 1."] for name, (axis, _) in first]
        return ["*BOUNDARY", *begin], [line for lines in moves for line in lines]
    parts = enumerate(zip(AXES, span.motion, strict=True), 1)
    is_offset = bool(span.spread) and not span.is_moving
    begin = [f"{last}, {axis}, {axis}, <{name}>" for axis, (name, part) in parts if part or is_offset]
    motion = ["*BOUNDARY, AMPLITUDE=COSINE", *begin] if span.is_moving else []
    return (["*BOUNDARY", *begin], motion) if begin else ([], [])


def rounded(value: float) -> str:
    """A number as in decks: twelve digits are enough for values from a catalogue."""
    return repr(float(f"{value:.12g}"))


Vector = tuple[float, float, float]
SECTION = "of the catalogue: R4-studless-142 (grade, chain, mm), studlink-76, wire-90, polyester-200, drake, dove, ..."
PROPERTIES = (
    ("--EA", "stiffness", "stiffness E A of a line that is not in the catalogue [N]"),
    ("--EI", "bending_stiffness", "bending stiffness E I, equal in all directions [N m2] (default: 0, a cable)"),
    ("--mass", "mass", "mass per natural length [kg/m]"),
    ("--diameter", "diameter", "diameter, also that for drag [m]"),
    ("--volume-diameter", "volume_diameter", "diameter of the displaced cylinder [m] (default: the diameter)"),
    ("--drag", "drag", "transverse drag coefficient, on the diameter (default: 1.2)"),
    ("--axial-drag", "axial_drag", "axial drag coefficient, on the circumference (default: 0)"),
    ("--added-mass", "added_mass", "transverse added mass coefficient, of the displaced water (default: 1)"),
)


def lengths(text: str) -> tuple[float, ...]:
    """``300,984ft`` in metres."""
    parts = [part.strip().lower() for part in text.split(",")]
    return tuple(positive(part.removesuffix("ft")) * (0.3048 if part.endswith("ft") else 1.0) for part in parts)


def temperatures(text: str) -> tuple[float, ...]:
    """``0:40:9``, both ends included."""
    first, _, rest = text.partition(":")
    last, _, count = rest.partition(":")
    start, end, steps = number(first), number(last), positive_count(count)
    return tuple(start + (end - start) * step / max(1, steps - 1) for step in range(steps))


def segment(text: str) -> tuple[str, float | None]:
    """``R4-studless-142,300``: name of a section and a length, or the name alone."""
    name, comma, length = text.rpartition(",")
    return (name.strip(), positive(length.strip())) if comma else (text.strip(), None)


def add_options(command: argparse.ArgumentParser) -> None:
    add_list(command, "--last", "X,Y,Z", "last end, which may move (the fairlead); z up, water surface at 0 [m]")
    add_list(command, "--first", "X,Y,Z", "first end (the anchor) [m] (default: 0,0,-depth)")
    made = command.add_argument_group("properties of the line")
    made.add_argument("--section", metavar="NAME", help=SECTION)
    text = "table of own line types for --section: columns name, diameter, mass, stiffness, volume_diameter, drag, ..."
    made.add_argument("--types", metavar="TYPES.csv", type=Path, help=text)
    for option, name, text in PROPERTIES:
        made.add_argument(option, dest=name, metavar="NUMBER", type=positive, help=text)
    text = "part of the line with a type of its own, instead of --section; may be repeated, from the first end [m]; "
    text += "one may lack its length, if there is --tension or --sag"
    form: dict[str, Any] = {"metavar": "NAME[,LENGTH]", "type": segment, "action": "append", "dest": "segments"}
    made.add_argument("--segment", help=text, **form)
    shape = command.add_mutually_exclusive_group()
    shape.add_argument("--length", metavar="L", type=positive, help="natural length [m]")
    shape.add_argument("--tension", metavar="T", type=positive, help="or: tension at the last end [N]")
    shape.add_argument("--sag", metavar="S", type=positive, help="or: sag at mid-span [m]")
    text = "write no deck, but sag and tension of a conductor, new and after creep, for the conditions of a table"
    shape.add_argument("--sag-tension", metavar="CASES.csv", type=Path, help=text)
    text = "with --sag-tension: spans of a section, instead of --first and --last; 250,300 [m] or 800ft,1000ft"
    command.add_argument("--spans", metavar="LIST", type=lengths, help=text)
    text = "with --sag-tension: also the stringing table at N temperatures, in the unit of the table"
    command.add_argument("--stringing", metavar="FIRST:LAST:N", type=temperatures, help=text)
    text = "with --section and --tension: write no deck, but print the stress at a clamp at this bending amplitude,"
    text += " from top to bottom, 89 mm from the clamp (Poffenberger and Swart) [mm]"
    command.add_argument("--bending-amplitude", metavar="Y", type=positive, help=text)
    text = "with --sag-tension: also write a page with tables and figure, to hand over or to print"
    command.add_argument("--report", metavar="FILE.html", type=Path, help=text)
    section = command.add_argument_group("with --sag-tension: the deck of a row")
    text = "name of a row: write the deck of spans, suspension strings and dead ends whose static state it is"
    section.add_argument("--row", metavar="NAME", help=text)
    section.add_argument("--state", choices=("initial", "final"), help="of the row (default: initial)")
    text = "what happens then: the wire breaks at the first end, ice falls off the middle span, or wind gusts"
    section.add_argument("--event", choices=("break", "ice", "gust"), help=text)
    add_list(command, "--string", "L,M", "length and mass of the suspension strings [m, kg] (default: 2.5,60)")
    text = "height of the clamps of --spans over the ground [m] (default: there is no ground)"
    section.add_argument("--height", metavar="Z", type=positive, help=text)
    command.add_argument("--depth", metavar="D", type=positive, help="water depth, with a seabed [m] (default: in air)")
    command.add_argument("--friction", metavar="MU", type=not_negative, help="friction of the seabed (default: 0)")
    add_list(command, "--stream", "VX,VY", "velocity of the current; in air, of the wind at z = 10 [m/s]")
    text = "part with buoyancy modules, may be repeated: where it begins and ends, natural lengths from the first end; "
    text += "mass per length and diameter of the line with them [m, m, kg/m, m]"
    add_list(command, "--modules", "BEGIN,END,MASS,DIAMETER", text, action="append")
    add_list(command, "--motion", "AX,AY,AZ", "amplitudes of the motion of the last end or the vessel, a cosine [m]")
    text = "or: CSV table of this motion, with columns time and surge, sway or heave"
    command.add_argument("--record", metavar="FILE.csv", type=Path, help=text)
    command.add_argument("--period", metavar="P", type=positive, help="period of the motion [s]")
    text = "internal damping during the motion, as a fraction of the critical damping of a bar (default: 0.3)"
    command.add_argument("--damping", metavar="Z", type=not_negative, help=text)
    text = "lines of a vessel: N copies of the line, turned about the z axis at equal angles"
    spread: Any = command.add_mutually_exclusive_group()
    spread.add_argument("--spread", metavar="N", type=positive_count, help=text)
    add_list(spread, "--headings", "LIST", "or: the angles by which it is turned, in degrees", dest="spread")
    text = "with --spread: reference node of the vessel, a rigid body (default: 0,0,0)"
    add_list(command, "--vessel", "X,Y,Z", text)
    add_list(command, "--sea", "HS,TP", "significant height and peak period of waves along +x [m, s]")
    text = "with --spread and --sea: table of the motion of the vessel in waves, as *RAO reads it"
    command.add_argument("--rao", metavar="FILE.csv", type=Path, help=text)
    text = "heading of the bow of this vessel from +x, in degrees (default: 180, a head sea)"
    command.add_argument("--bow", metavar="ANGLE", type=number, help=text)
    command.add_argument("--bars", metavar="N", type=positive_count, help="number of bars (default: 50)")
    text = "duration of the motion [s] (default: 10 periods, the record, or 600 s of a sea)"
    command.add_argument("--time", metavar="T", type=positive, help=text)
    text = "largest increment [s] (default: period/200, or 0.05)"
    command.add_argument("--dt", metavar="DT", type=positive, help=text)
    command.add_argument("--output", metavar="FILE.inp", type=Path, help="deck to write (default: line.inp)")
    add_force(command)
    text = "run the deck, too (results in results/<deck name>), and draw the tensions"
    command.add_argument("--run", action="store_true", help=text)
