"""``fem.line_section``: the deck of a line at rest in a state of its sag-tension table: dead ends, spans, strings.

All spans have the same force along the line, so that strings hang perpendicular to it, as after stringing in running
blocks. For a load q per length and a chord d, in the plane of both, the horizontal tension of a span is then

    H = P |d - (d.q) q/q^2|/d_x,   P: the force along the line, that of the table's own span

Each span is computed as the chain of bars of the deck, with the natural length for this force. Strings have the
direction of the force at their clamps: half of the loads of both spans, the effect of the slopes of their chords, and
half of their own weight. Clamps and chords are found by iteration.

The material is elastic about the state, with E A for unloading and reloading of the materials that carry load. Mass and
loads are per length of the stretched conductor, as in the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.commands.files import write_new
from fem.errors import CommandError, unknown
from fem.lines.conductors import SpanState, stress
from fem.lines.hanging import Line, Shape, hang, natural_length
from fem.lines.sagging import SagRow, SagTension, sag_tension_as_asked
from fem.lines.spans import AIR, BOTTOM, CABLE, STREAM, rounded

STRING = 2.5, 60.0
"""Length [m] and mass [kg] of suspension strings."""
MOST_PASSES = 30
CLOSE = 1e-7
"""Largest displacement of a clamp in the last iteration [m]."""
EVENTS = {"break": (6.0, 0.002), "ice": (20.0, 0.01), "gust": (120.0, 0.02)}
"""Events, with duration and largest increment [s]."""
DECK_ONLY = ("row", "state", "bars", "string", "height", "event", "output", "force")
"""Options of ``fem line`` that belong to the deck."""
LAID = """\
** laid in equilibrium: loads at once
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
, GRAV, {gravity}, 0., 0., -1.
*NODE PRINT, NSET=CLAMPS
U, COORD
*NODE PRINT, NSET=HELD
RF
*NODE PRINT, NSET=MIDDLES
COORD
*EL PRINT, ELSET=WIRE
T
*END STEP"""
GUSTY = """\
** intensities and lengths of IEC 61400-1 (2005), annex B: 1, 0.8, 0.5 times 0.16 and 8.1, 2.7, 0.66 times 0.7 * 18 m
*WIND, TYPE=KAIMAL, SEED=<seed>, DURATION=600., CUTOFF=2.
{density}, {height}, 0., <wind>, 1., 0., 0.
0.16, 0.128, 0.08, 102., 34., 8.3"""
MOVING = """\
** {what}; at most dt long, shorter where the wire snaps taut
*STEP, NLGEOM, INC=1000000
*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
<dt>, <time>, , <dt>"""


class SectionAtRest(NamedTuple):
    """A section of a line at rest.

    arms, clamps (s+1, 3)  where strings hang, and where the conductor is; the same at dead ends
    lengths (s,)           natural lengths of the spans
    stiffness              E A;  stretch: length of the conductor over its natural length
    load (3,)              on the conductor, per natural length
    """

    arms: Floats
    clamps: Floats
    lengths: Floats
    stiffness: float
    stretch: float
    load: Floats


def line_section(
    line: SagTension,
    row: str,
    *,
    state: str = "initial",
    bars: int = 30,
    string: Sequence[float] = STRING,
    height: float = 0.0,
    event: str = "",
    output: str | Path | None = None,
    force: bool = False,
) -> Path:
    """Write the deck of a section whose static state is a row of a sag-tension table, and what happens to it then.

    line    what ``fem.sag_tension`` returns;  row: name of a condition;  state: initial or final
    bars    of each span
    string  length and mass of the suspension strings [m, kg]
    height  of the dead ends and clamps over the ground, where the spans of the table have none [m]; 0: no ground
    event   break (of the wire at the first dead end), ice (falls off the middle span), gust (turbulent wind across a
            row without wind); empty: none
    output  file of the deck; None: ``section.inp`` in the current folder; force: overwrite other content

    Raises
    ------
    CommandError  no such row, or an event that cannot be.

    >>> table = fem.sag_tension([{"name": "cold", "temperature [C]": -20, "tension limit [kN]": 35}],
    ...                         section="drake", spans=[250, 300])
    >>> deck = fem.line_section(table, "cold", bars=20)
    >>> print(f"{fem.run(deck).of_element(10, 'T')[-1]:.4g} N")
    3.493e+04 N
    """
    names = [each.condition.name for each in line.rows]
    if row not in names:
        raise CommandError(unknown("row", row, names).args[0])
    chosen, begin = line.rows[names.index(row)], height if line.height is None else line.height
    has_strings = len(string) == 2 and min(string) > 0.0
    wrong = {
        f"state {state!r} is not one of initial, final": state not in ("initial", "final"),
        str(unknown("event", event, EVENTS).args[0]): event not in ("", *EVENTS),
        f"row {row} has no ice that could fall": event == "ice" and not chosen.condition.ice,
        "a section needs at least 2 bars per span, and strings with a length and a mass": bars < 2 or not has_strings,
        f"row {row} has a wind of its own: gusts are for a row without": event == "gust" and chosen.condition.wind,
        f"{event} needs heights over the ground: give the height of the clamps": event
        and not min(begin, begin + line.rise) > 0.0,
    }
    for message in (message for message, is_so in wrong.items() if is_so):
        raise CommandError(message)
    made = at_rest(line, chosen, state == "final", bars, (string[0], string[1]), begin)
    text = deck_text(line, chosen, state, made, bars, (string[0], string[1]), event)
    return write_new(Path("section.inp") if output is None else Path(output), text.encode(), force)


def line_section_as_asked(sag_tension: Path, **given: Any) -> Path:
    """``fem line --sag-tension --row``. CommandError: options that contradict each other."""
    own = {name: given.pop(name) for name in DECK_ONLY if name in given}
    if "first" in given and "height" in own:
        raise CommandError("--height belongs to --spans: --first and --last have heights of their own")
    return line_section(sag_tension_as_asked(sag_tension, **given), **own)


def at_rest(
    line: SagTension, row: SagRow, is_final: bool, bars: int, string: tuple[float, float], height: float
) -> SectionAtRest:
    """Positions of clamps and lengths of spans. CommandError: the strings have no equilibrium."""
    state, memory = (row.final, line.final) if is_final else (row.initial, (None,) * len(line.conductor.materials))
    conductor, load, count = line.conductor, state.load, len(line.spans)
    strains = [state.strain - each.expansion * load.warmth for each in conductor.materials]
    carry = [stress(*each) > 0.0 for each in zip(conductor.materials, strains, memory, strict=True)]
    moduli = (each.modulus for each, does in zip(conductor.materials, carry, strict=True) if does)
    stiffness = conductor.area * sum(moduli)
    stretch = 1.0 + state.shape.mean / stiffness
    more = 1.0 + load.extra / math.hypot(load.weight, load.wind)  # along the resultant
    q = stretch * (more * np.array([0.0, load.wind, -load.weight]))
    down = q / np.linalg.norm(q)
    arms = np.zeros((count + 1, 3))
    arms[1:, 0] = np.cumsum(line.spans)
    arms[:, 2] = height + np.linspace(0.0, line.rise, count + 1)
    own = np.array([line.span, 0.0, line.rise])
    pull = state.h * line.span / float(np.linalg.norm(own - (own @ down) * down))
    clamps, lengths, hanging = arms.copy(), arms[1:, 0] - arms[:-1, 0], np.zeros(3)
    hanging[2] = -0.5 * string[1] * line.gravity
    for _ in range(MOST_PASSES):
        chords = np.diff(clamps, axis=0)
        sides = pull * chords / chords[:, :1] * [0.0, 1.0, 1.0]
        half = 0.5 * lengths[:, None] * q
        forces = half[:-1] + half[1:] + sides[1:] - sides[:-1] + hanging
        before = clamps.copy()
        clamps[1:-1] = arms[1:-1] + string[0] * (forces / np.linalg.norm(forces, axis=1)[:, None] + [0.0, 0.0, 1.0])
        way = float(np.abs(clamps - before).max())
        if way < CLOSE:
            lengths = np.array([span_length(chord, q, pull, stiffness, bars) for chord in np.diff(clamps, axis=0)])
            arms[1:-1, 2] += string[0]
            return SectionAtRest(arms, clamps, lengths, stiffness, stretch, q)
    raise CommandError(f"the suspension strings find no place at rest: their clamps still move by {way:.2g} m")


def span_length(chord: Floats, q: Floats, pull: float, stiffness: float, bars: int) -> float:
    """Natural length of a chain of bars along a chord (3,) whose tension has a given component along x."""
    size = float(np.linalg.norm(q))
    rise = -float(chord @ q) / size
    across = math.sqrt(float(chord @ chord) - rise * rise)
    none = np.zeros(bars, np.bool_)

    def laid(length: float) -> tuple[Line, Shape]:
        each = np.full(bars, length / bars)
        weight = np.convolve(0.5 * size * each, [1.0, 1.0])
        made = Line(each, np.full(bars, stiffness), weight, none, none)
        return made, hang(made, across, rise)

    return natural_length(laid, 0.0, across, rise, "HORIZONTAL TENSION", pull * across / float(chord[0]))


def deck_text(
    line: SagTension, row: SagRow, state: str, made: SectionAtRest, bars: int, string: tuple[float, float], event: str
) -> str:
    found = row.final if state == "final" else row.initial
    parts = [
        *heading_lines(line, row, state, found, event),
        *mesh_lines(made, bars, string),
        *mass_lines(line, row, made, string),
        *step_lines(line, row, found, made, event),
    ]
    return "\n".join(parts) + "\n"


def heading_lines(line: SagTension, row: SagRow, state: str, found: SpanState, event: str) -> list[str]:
    names = ", ".join(f"{span:.6g}" for span in line.spans)
    lines = ["*HEADING", f"{line.section.name}, spans of {names} m at rest in {state} state '{row.condition.name}'. SI"]
    ruling = "ruling span" if len(line.spans) > 1 else "span"
    lines += [f"** {ruling} {line.span:.6g} m: H {found.h:.6g} N, sag {found.shape.sag:.6g} m, strung by the "]
    lines[-1] += line.governing
    if event:
        lines += ["*PARAMETER", *(f"{name} = {size}" for name, size in zip(("time", "dt"), EVENTS[event], strict=True))]
        lines += ["** mean wind across the line", "wind = 20.", "seed = 1"] if event == "gust" else []
    return lines


def mesh_lines(made: SectionAtRest, bars: int, string: tuple[float, float]) -> list[str]:
    """Dead ends, arms and clamps below them; the spans between them; their sets."""
    count = len(made.lengths)
    clamps = [1 + span * bars for span in range(count + 1)]
    arms = [clamps[-1] + place for place in range(1, count)]
    hung = made.arms - [0.0, 0.0, string[0]]
    hung[[0, -1]] = made.arms[[0, -1]]
    lines = ["*NODE, NSET=HELD", *(at(label, made.arms[k]) for label, k in zip((1, clamps[-1]), (0, -1), strict=True))]
    if arms:
        lines += [at(label, place) for label, place in zip(arms, made.arms[1:-1], strict=True)]
        lines += ["*NODE, NSET=CLAMPS", *(at(label, hung[k]) for k, label in enumerate(clamps[1:-1], 1))]
    for number, (first, last, length) in enumerate(zip(clamps, clamps[1:], made.lengths, strict=False), 1):
        lines += ["*NGEN, LINE=CATENARY, NSET=WIRE", f"{first}, {last}, 1, {rounded(length)}"]
        lines += [f"*ELSET, ELSET=SPAN{number}, GENERATE", f"{first}, {last - 1}"]
    lines += ["*NSET, NSET=MIDDLES", ", ".join(str(first + bars // 2) for first in clamps[:-1])]
    lines += ["*ELEMENT, TYPE=T3D2", "1, 1, 2", "*ELGEN, ELSET=WIRE", f"1, {count * bars}"]
    if arms:
        lines += ["*ELEMENT, TYPE=T3D2, ELSET=STRINGS"]
        lines += [f"{arm}, {arm}, {clamp}" for arm, clamp in zip(arms, clamps[1:-1], strict=True)]
    return lines


def at(label: int, place: Floats) -> str:
    return f"{label}, {', '.join(map(rounded, place))}"


def mass_lines(line: SagTension, row: SagRow, made: SectionAtRest, string: tuple[float, float]) -> list[str]:
    """What conductor, ice and strings are made of; supports."""
    name, ice = line.section.name.upper(), row.initial.load.weight / line.gravity - line.section.mass
    lines = [f"*MATERIAL, NAME={name}", "** of the materials that carry load, unloading and loading again", "*ELASTIC"]
    lines += [rounded(made.stiffness), "*DENSITY", rounded(line.section.mass * made.stretch), "*DAMPING, BETA=0.002"]
    lines += CABLE.format(name="WIRE", material=name).splitlines()
    if len(made.lengths) > 1:
        lines += ["*MATERIAL, NAME=INSULATORS", "*ELASTIC", "100e6", "*DENSITY", rounded(string[1] / string[0])]
        lines += CABLE.format(name="STRINGS", material="INSULATORS").splitlines()
    if ice > 1e-9:
        for number in range(1, len(made.lengths) + 1):
            lines += [f"*NONSTRUCTURAL MASS, ELSET=SPAN{number}, UNITS=MASS PER LENGTH, NAME=ICE{number}"]
            lines += [rounded(ice * made.stretch)]
    if made.arms[:, 2].min() > 0.0:
        lines += ["** ground: force per area over depth and over speed, width", "*SEABED, ELSET=WIRE, ELEVATION=0."]
        lines += [", ".join(map(rounded, (*BOTTOM, line.section.diameter))), "0.5"]
    return lines


def step_lines(line: SagTension, row: SagRow, found: SpanState, made: SectionAtRest, event: str) -> list[str]:
    """At rest; under the wind of the row; the event."""
    lines = ["** air at rest", "*WIND", f"{AIR}, 10., 0., 0., 1., 0."] if event else []
    if event == "gust":
        lines = GUSTY.format(density=AIR, height=rounded(made.clamps[:, 2].mean())).splitlines()
    lines += ["*BOUNDARY", "HELD, 1, 3", *LAID.format(gravity=rounded(line.gravity)).splitlines()]
    if len(made.lengths) == 1:
        clamps = lines.index("*NODE PRINT, NSET=CLAMPS")
        del lines[clamps : clamps + 2]
    side, more = float(made.load[1]), float(made.load[2]) + made.stretch * found.load.weight
    if side or abs(more) > 1e-9 * found.load.weight:
        lines += ["** wind of the row, and K along the resultant, per natural length: the area of the section is 1"]
        lines += [*STREAM.splitlines()[1:], "*DLOAD", f"WIRE, BY, {rounded(side)}", f"WIRE, BZ, {rounded(more)}"]
        lines += ["*END STEP"]
    if not event:
        return lines
    middle = f"ICE{(len(made.lengths) + 1) // 2}"
    wide = line.section.diameter + (2.0 * row.condition.ice if event == "gust" else 0.0)
    drag = f"WIRE, WDD, 1., {rounded(wide)}, {rounded(line.section.drag)}"
    if event == "gust":
        lines += ["** the mean wind", *STREAM.splitlines()[1:], "*DLOAD", drag, "*END STEP"]
    what, happens = {
        "break": ("the wire breaks at the first dead end", ["*MODEL CHANGE, REMOVE", "1"]),
        "ice": (f"{middle} falls off", ["*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, REMOVE", middle]),
        "gust": ("the wind gusts", []),
    }[event]
    return [*lines, *MOVING.format(what=what).splitlines(), *happens, "*DLOAD", drag, "*END STEP"]
