"""``fem.line``: the deck of a line between two ends in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fem.errors import CommandError
from fem.files.whole import write_new
from fem.spans.catalogue import Section
from fem.spans.catalogue import section as of_catalogue
from fem.spans.description import MEASURES, STILL, Span
from fem.spans.record import read_record
from fem.spans.text import deck_text

NUMBERS = tuple(entry.name for entry in fields(Section) if entry.type == "float")
"""Of a section."""


def line(
    last: Sequence[float],
    *,
    first: Sequence[float] | None = None,
    section: str | Section,
    length: float | None = None,
    tension: float | None = None,
    sag: float | None = None,
    depth: float | None = None,
    friction: float = 0.0,
    stream: Sequence[float] = (0.0, 0.0),
    motion: Sequence[float] = STILL,
    period: float = 0.0,
    record: str | Path | None = None,
    bars: int = 50,
    gravity: float = 9.81,
    time: float = 0.0,
    dt: float = 0.0,
    output: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the deck of a mooring line or a span of conductor, for ``fem.run``, ``fem.sweep`` and the others.

    last, first  (x, y, z) of the ends, z up, the water's surface at 0: the fairlead; the anchor, None: (0, 0, -depth)
    section      a name of the catalogue (R4-studless-142, wire-90, polyester-200, drake), or a ``Section``
    length       natural length; or in its place ``tension`` at the last end, or ``sag`` at half span
    depth        of the water; None: there is none
    friction     coefficient between the line and the bottom
    stream       (x, y) velocity of the current; without water of the wind, 10 m above z = 0
    motion       (x, y, z) amplitudes of the last end, which moves as a cosine of a ``period``
    record       or a CSV table with its motion: time, and columns named surge, sway, heave (some of them)
    bars         their number
    time, dt     duration of the motion and increment; 0: 10 periods and a 200th of one, or the record and 0.05
    output       file of the deck; None: ``line.inp`` in the current folder
    force        write over a file that holds something else

    Raises
    ------
    CommandError  numbers out of their range, or the file exists and holds something else.

    >>> deck = line((300, 0, 8), first=(0, 0, 0), section="drake", sag=9.0, bars=20)
    >>> print(f"{fem.run(deck).of_element(20, 'T')[-1]:.4g} N")
    2.018e+04 N
    """
    given = {name: value for name, value in zip(MEASURES, (length, tension, sag), strict=True) if value is not None}
    if len(given) != 1:
        raise CommandError(f"one of {', '.join(MEASURES)} says how the line hangs, got {', '.join(given) or 'none'}")
    ((measure, value),) = given.items()
    start = (0.0, 0.0, -(depth or 0.0)) if first is None else first
    begin, end = vector("first", start), vector("last", last)
    flow, reach = vector("stream", stream, 2), vector("motion", motion)
    deck = Path("line.inp") if output is None else Path(output)
    moved = read_record(Path(record), deck) if record is not None else None
    made = section if isinstance(section, Section) else of_catalogue(section)
    found = Span(begin, end, made, measure, value, depth, friction, flow, reach, period, moved, bars, gravity, time, dt)
    return write_new(deck, deck_text(found).encode(), force)


def vector(name: str, numbers: Sequence[float], count: int = 3) -> Any:
    """So many numbers. CommandError: there are more, or less."""
    if len(numbers) != count:
        raise CommandError(f"{name} takes {count} numbers, got {len(numbers)}")
    return tuple(numbers)


def line_as_asked(section: str | None = None, **given: Any) -> Path:
    """``fem line``: a name of the catalogue, or the numbers of a section among the others. CommandError: not one of
    both."""
    numbers = {name: given.pop(name) for name in NUMBERS if name in given}
    if section is not None and numbers:
        raise CommandError(f"--section {section} has its own numbers: leave out {', '.join(numbers)}, or the section")
    if section is None and (lost := {"diameter", "mass", "stiffness"} - set(numbers)):
        needed = ", ".join(sorted(lost))
        raise CommandError(f"the line is made of nothing: give --section NAME, or its numbers ({needed})")
    return line(section=section or Section("of its own", **numbers), **given)
