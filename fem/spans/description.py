"""What a line between two ends is: ends, what is given of its shape, what it is made of, what acts on it.

What chains, ropes and conductors weigh and how stiff they are: ``catalogue.csv``, each number with its source.

A quantity is the sum of its lines, factor * d^power, with the nominal diameter d in metres; all in SI units. Names are
``studless-142`` and ``R4-studless-142`` (grade: breaking strength; nominal diameter in mm), ``wire-90``,
``polyester-200``, or the code word of a conductor, ``drake``.

The motion of an end as a table that a deck names: times, and columns surge, sway, heave.
"""

from __future__ import annotations

import csv
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fem.errors import CommandError

Vector = tuple[float, float, float]
MEASURES = ("length", "tension", "sag")
STILL: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Span:
    """A line from its first end (the anchor) to its last (the fairlead), z up, the water's surface at z = 0.

    measure, value  one of ``MEASURES`` and its value: natural length, tension at the last end, sag at half span
    depth     of the water; None: there is none. friction: coefficient between the line and the bottom
    stream    velocity (x, y) of the current, without water of the wind 10 above z = 0; both the same everywhere but
              that wind grows with height
    motion    amplitudes (x, y, z) of the last end, which moves as a cosine of a period; in its place a ``record``
    damping   internal, as a fraction of the critical one of a bar; acts where the end moves
    time, dt  of the motion; 0: 10 and 1/200 periods, or all of a record in increments of 0.05

    Raises CommandError on what cannot be.
    """

    first: Vector
    last: Vector
    section: Section
    measure: str
    value: float
    depth: float | None = None
    friction: float = 0.0
    stream: tuple[float, float] = (0.0, 0.0)
    motion: Vector = STILL
    period: float = 0.0
    record: Record | None = None
    damping: float = 0.3
    bars: int = 50
    gravity: float = 9.81
    time: float = 0.0
    dt: float = 0.0

    def __post_init__(self) -> None:
        is_low = max(self.first[2], self.last[2]) <= 0.0
        wrong = {
            f"a {self.measure} must be positive, got {self.value:g}": not self.value > 0.0,
            "both ends of the line are in one place": self.first == self.last,
            f"damping must not be negative, got {self.damping:g}": not self.damping >= 0.0,
            f"the depth must be positive, got {self.depth}": self.is_wet and not (self.depth or 0.0) > 0.0,
            f"a line takes 2 bars at least, got {self.bars}": self.bars < 2,
            "a motion takes both its amplitudes and its period": any(self.motion) != (self.period > 0.0),
            "the end moves as a cosine or by a record, not both": any(self.motion) and self.record is not None,
            "friction takes a bottom: give the depth of the water": bool(self.friction) and not self.is_wet,
            "wind blows above z = 0: give the heights of the ends": self.is_streaming and not self.is_wet and is_low,
        }
        for message in (message for message, is_so in wrong.items() if is_so):
            raise CommandError(message)

    @property
    def is_moving(self) -> bool:
        return any(self.motion) or self.record is not None

    @property
    def is_streaming(self) -> bool:
        return any(self.stream)

    @property
    def is_wet(self) -> bool:
        return self.depth is not None


TABLE = Path(__file__).with_name("catalogue.csv")


@dataclass(frozen=True, slots=True)
class Section:
    """What a line is made of, per length.

    diameter         nominal; that of drag
    mass, stiffness  per natural length; E A
    volume_diameter  of a cylinder that displaces as much water; 0: the diameter
    drag, axial_drag  coefficients of forces on d and on pi d
    added_mass, axial_added_mass  of the displaced water
    strength         breaking load; 0: not known
    sources          quantity -> the document it comes from
    """

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
    sources: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("diameter", "mass", "stiffness"):
            if not getattr(self, name) > 0.0:
                raise CommandError(f"the {name} of a line must be positive, got {getattr(self, name):g}")
        if not self.volume_diameter:
            object.__setattr__(self, "volume_diameter", self.diameter)


def rows() -> list[dict[str, str]]:
    """Lines of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known() -> str:
    """Names there are."""
    sections = dict.fromkeys(row["section"] for row in rows() if "-" not in row["section"])
    words = sorted({row["section"] for row in rows() if row["quantity"] == "diameter"})
    grades = [name for name in sections if name[0] == "R"]
    ropes = [f"{name}-MM" for name in sections if name not in (*words, *grades)]
    chains = f"chains also with a grade, {', '.join(grades)}: R4-studless-MM"
    return f"{', '.join(ropes)} (MM: nominal diameter in mm; {chains}), {', '.join(words)}"


def section(name: str) -> Section:
    """Of a name in the catalogue. CommandError: there is none of that name; it says which there are.

    Of R3-studless-MM the lines of R3, of studless, and in place of those of R3-studless where there are some.
    """
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
            if row["section"].lower() == part.lower():
                term = float(row["factor"]) * diameter ** int(row["power"])
                own[row["quantity"]] = own.get(row["quantity"], 0.0) + term
                sources[row["quantity"]] = row["source"]
        numbers |= own
        found.append(bool(own))
    if not all(found[: len(parts)]) or not {"mass", "diameter"} <= set(numbers):
        raise CommandError(f"there is no section {name!r} in the catalogue; there are {known()}")
    return Section(name, **numbers, sources=sources)


AXES = ("surge", "sway", "heave")


@dataclass(frozen=True, slots=True)
class Record:
    """file: as the deck has to name it;  first: column -> (axis from 1, its first value);  duration: its last time."""

    file: str
    first: dict[str, tuple[int, float]]
    duration: float


def read_record(path: Path, deck: Path) -> Record:
    """CommandError: the table has no head with these names, does not begin at time 0, or is none."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    heads = [head.strip() for head in rows[0]] if rows else []
    columns = {head: place for place, head in enumerate(heads) if head.lower() in AXES}
    if not columns or len(rows) < 3:
        raise CommandError(f"{path} has no column surge, sway or heave: its first line names the columns, time first")
    try:
        times = [float(row[0]) for row in (rows[1], rows[-1])]
        values = {head: float(rows[1][place]) for head, place in columns.items()}
    except (ValueError, IndexError):
        raise CommandError(f"{path} is not a table of numbers, separated by commas, below its heads") from None
    if times[0] != 0.0:
        raise CommandError(f"{path} begins at time {times[0]:g}; the motion of a line begins at 0")
    first = {head: (AXES.index(head.lower()) + 1, value) for head, value in values.items()}
    return Record(Path(os.path.relpath(path, deck.parent)).as_posix(), first, times[1])
