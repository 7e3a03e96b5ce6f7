"""``fem.line``: the deck of a line between two ends: at rest, then the stream, then the motion of its last end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fem.errors import CommandError
from fem.files.whole import write_new
from fem.spans.description import AXES, MEASURES, STILL, Section, Span, read_record
from fem.spans.description import section as of_catalogue

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
    damping: float = 0.3,
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
    damping      internal, as a fraction of the critical one of a bar, where the end moves (BA = -damping of MoorDyn)
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
    found = Span(
        begin, end, made, measure, value, depth, friction, flow, reach, period, moved, damping, bars, gravity, time, dt
    )
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


WATER, AIR = 1025.0, 1.225
RECORD_DT = 0.05
BOTTOM = 3e6, 3e5
"""Force per area over depth and over speed of the bottom: MoorDyn's kBot [Pa/m] and cBot [Pa s/m]."""
MESH = """\
*NGEN, LINE=CATENARY{measure}
1, {last}, 1{length}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*MATERIAL, NAME=LINE
*ELASTIC
{stiffness}
*DENSITY
{mass}{damping}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=LINE, STRAIN=ENGINEERING
1."""
LAID = """\
** laid in equilibrium: loads at once
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*NODE PRINT, NSET=ENDS
U, RF
*EL PRINT, ELSET=LINE
T
*DLOAD
LINE, GRAV, {gravity!r}, 0., 0., -1."""
STREAM = """\
** the stream, and the end where its motion begins
*STEP, NLGEOM, INC=200
*STATIC
0.25, 1."""
MOVING = """\
** the motion of the end
*STEP, NLGEOM, INC=10000000
*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
** at most dt long, shorter where the local error or tensions ask for it, as where a line snaps taut
{dt}, {time}, , {dt}
*CONTROLS, TIME ERROR=1e-3, TENSION CHANGE=0.25, RESI_GLOB_RELA=1e-4"""


def deck_text(span: Span) -> str:
    """The deck."""
    parts = (heading_lines, parameter_lines, mesh_lines, place_lines, step_lines)
    return "".join(f"{line}\n" for part in parts for line in part(span))


def heading_lines(span: Span) -> list[str]:
    """What it is, and where its numbers come from."""
    section, distance = span.section, math.dist(span.first, span.last)
    where = f"in {span.depth:g} m of water" if span.is_wet else "in air"
    by_source: dict[str, list[str]] = {}
    for quantity, source in section.sources.items():
        if span.is_wet or quantity in ("diameter", "mass", "stiffness", "drag", "strength"):
            by_source.setdefault(source, []).append(quantity.replace("_", " "))
    listed = "; ".join(f"{', '.join(quantities)}: {source}" for source, quantities in by_source.items())
    strength = f", breaks at {section.strength:.4g} N" if section.strength else ""
    return [
        *("*HEADING", f"Line of {section.name}{strength}, {distance:.6g} m from end to end {where}. SI units"),
        f"** {listed or 'numbers as given'}",
    ]


def parameter_lines(span: Span) -> list[str]:
    """What may be changed for one run with --set NAME=VALUE."""
    given = {span.measure: span.value} | dict(zip(stream_names(span), span.stream, strict=False))
    lines = [f"{name} = {rounded(value)}" for name, value in given.items()]
    if span.period:
        lines += [f"{name} = {rounded(part)}" for name, part in zip(AXES, span.motion, strict=True) if part]
        lines += [f"period = {rounded(span.period)}", "omega = 2*pi/period"]
    return ["*PARAMETER", *lines]


def stream_names(span: Span) -> list[str]:
    """Parameters with the velocity of the stream; the first alone where it goes along x."""
    word = "current" if span.is_wet else "wind"
    if not span.is_streaming:
        return []
    return [f"{word}_x", f"{word}_y"] if span.stream[1] else [word]


def mesh_lines(span: Span) -> list[str]:
    """Both ends, the line between them, what it is made of."""
    last, is_length = span.bars + 1, span.measure == "length"
    ends = [f"{label}, {', '.join(map(rounded, place))}" for label, place in ((1, span.first), (last, span.last))]
    text = MESH.format(
        measure="" if is_length else f", {span.measure.upper()}=<{span.measure}>",
        length=", <length>" if is_length else "",
        last=last,
        bars=span.bars,
        stiffness=rounded(span.section.stiffness),
        mass=rounded(span.section.mass),
        damping=damping_lines(span),
    )
    return ["*NODE, NSET=ENDS", *ends, *text.splitlines()]


def damping_lines(span: Span) -> str:
    """BETA = damping L0/c: of two halves of a bar's mass on its stiffness, whose critical one is L0/c."""
    if not (span.is_moving and span.damping):
        return ""
    length = span.value if span.measure == "length" else math.dist(span.first, span.last)
    passing = length / span.bars * math.sqrt(span.section.mass / span.section.stiffness)
    what = f"{span.damping:g} of the critical damping of a bar (BA = -{span.damping:g} of MoorDyn)"
    return f"\n** {what}: what a snap rings with dies out\n*DAMPING, BETA={span.damping * passing:.6g}"


def place_lines(span: Span) -> list[str]:
    """Water and bottom, or wind; both ends held."""
    lines = []
    velocity = ", ".join(([f"<{name}>" for name in stream_names(span)] + ["0."])[:2])
    if span.depth is not None:
        lines += ["*AQUA", f"{rounded(-span.depth)}, 0., {rounded(span.gravity)}, {rounded(WATER)}"]
        lines += [f"{velocity}, 0., 0."] if span.is_streaming else []
        lines += ["*SEABED, ELSET=LINE"]
        lines += [", ".join(map(rounded, (*BOTTOM, span.section.diameter)))]
        lines += [rounded(span.friction)] if span.friction else []
    elif span.is_streaming:
        lines += ["*WIND", f"{AIR}, 10., {velocity}, 1., 0."]
    if span.record:
        name = f"INPUT={span.record.file}"
        lines += [f"*AMPLITUDE, NAME={head}, {name}, COLUMN={head}, DEFINITION=SPLINE" for head in span.record.first]
    elif span.period:
        lines += ["*AMPLITUDE, NAME=COSINE, DEFINITION=PERIODIC", "1, <omega>, 0., 0.", "1., 0."]
    return [*lines, "*BOUNDARY", "ENDS, 1, 3"]


def step_lines(span: Span) -> list[str]:
    """At rest; in the stream, with the last end where its motion begins; the motion."""
    section, width = span.section, rounded(span.section.diameter)
    volume = rounded(section.volume_diameter)
    lines = LAID.format(gravity=span.gravity).splitlines()
    lines += [f"LINE, PB, 1., {volume}"] if span.is_wet else []
    lines.append("*END STEP")
    if not (span.is_streaming or span.is_moving):
        return lines
    lines += STREAM.splitlines()
    if span.is_wet:
        lines += ["*DLOAD", f"LINE, FDD, 1., {width}, {rounded(section.drag)}"]
        lines += [f"LINE, FDT, 1., {width}, {rounded(section.axial_drag)}"] if section.axial_drag else []
        added = f"{rounded(1.0 + section.added_mass)}, {rounded(section.added_mass)}"
        lines += [f"LINE, FI, 1., {volume}, {added}, , {rounded(section.axial_added_mass)}"]
    elif span.is_streaming:
        lines += ["*DLOAD", f"LINE, WDD, 1., {width}, {rounded(section.drag)}"]
    begin, motion = motion_lines(span)
    lines += [*begin, "*END STEP"]
    if not motion:
        return lines
    time = span.time or (span.record.duration if span.record else 10.0 * span.period)
    dt = span.dt or (RECORD_DT if span.record else span.period / 200.0)
    return [*lines, *MOVING.format(time=rounded(time), dt=rounded(dt)).splitlines(), *motion, "*END STEP"]


def motion_lines(span: Span) -> tuple[list[str], list[str]]:
    """Where the last end begins its motion, and the motion: a cosine of parameters, or the columns of a record."""
    last = span.bars + 1
    if span.record:
        first = span.record.first.items()
        begin = [f"{last}, {axis}, {axis}, {rounded(value)}" for _, (axis, value) in first]
        moves = [[f"*BOUNDARY, AMPLITUDE={name}", f"{last}, {axis}, {axis}, 1."] for name, (axis, _) in first]
        return ["*BOUNDARY", *begin], [line for lines in moves for line in lines]
    parts = enumerate(zip(AXES, span.motion, strict=True), 1)
    begin = [f"{last}, {axis}, {axis}, <{name}>" for axis, (name, part) in parts if part]
    return (["*BOUNDARY", *begin], ["*BOUNDARY, AMPLITUDE=COSINE", *begin]) if begin else ([], [])


def rounded(value: float) -> str:
    """A number as decks have it: twelve digits are enough for what is computed from a catalogue."""
    return repr(float(f"{value:.12g}"))
