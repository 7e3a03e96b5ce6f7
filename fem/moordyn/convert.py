"""``fem import moordyn``: a deck from an input file of MoorDyn v2, and what of the file has no meaning in it."""

from __future__ import annotations

import math
from pathlib import Path

from fem.arrays import Say
from fem.files.whole import write_new
from fem.moordyn.deck import MEANT, Chain, chains_of, deck_text, nodes_of, used
from fem.moordyn.read import Moorings, read
from fem.moordyn.water import bottom_of, water_of

LEFT = {
    "ROD TYPES": "rods",
    "SYROPE IC": "the Syrope model",
    "CONTROL": "control of lines",
    "EXTERNAL LOADS": "external loads and damping of points",
    "OUTPUTS": "outputs (T of all elements, COORD and RF of points are printed)",
}
"""Sections that have no meaning in the deck."""
CHANGING = dict.fromkeys(("statdynfricscale", "mc"), "static friction is that of motion")
CHANGING |= dict.fromkeys(("fricdamp", "cv"), "*SEABED has friction by displacement")
"""Options that change the answer, unless they are 0, or 1 as a factor."""


def convert(file: Path, output: Path, force: bool = False, say: Say = lambda text: None) -> None:
    """``fem import moordyn``; ``say`` is told what is left out and what is written.

    DeckError: the file cannot be understood. CommandError: the deck exists and holds something else.
    """
    moorings = read(file)
    chains = chains_of(moorings)
    water, bottom = water_of(moorings), bottom_of(moorings)
    notices = [*left_out(moorings), *water.notices]
    text = deck_text(moorings, chains, bottom, water, [*places(moorings, chains), *notices])
    for notice in notices:
        say(f"note: {notice}")
    say(f"wrote {write_new(output, text.encode(), force)}")


def places(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Which node is which point, for the head of the deck."""
    where = nodes_of(chains)
    ends = [moorings.points[label] for label in where]
    return [f"point {end.label} ({end.kind}): node {', '.join(map(str, where[end.label]))}" for end in ends]


def floating(moorings: Moorings) -> list[str]:
    """Lines that float and reach the surface: MoorDyn has them stand there by EI."""
    gravity = moorings.option("g", "gravity", default=9.81)
    density = moorings.option("WtrDnsty", "rho", "rhoW", default=1025.0)
    found = []
    for line in moorings.lines:
        made = moorings.types[line.type]
        lift = (density * math.pi / 4.0 * made.diameter**2 - made.mass) * gravity * line.length
        if lift > 0.0 and max(moorings.points[end].place[2] for end in (line.first, line.last)) > 0.0:
            found.append(
                f"line {line.label} ({made.name}) floats and reaches the surface: without its bending stiffness, EI = "
                f"{made.bending:g}, it has no position of rest there; leave it out of the file, and give the point "
                f"below it its mass and volume (it lifts up to {lift:.4g} N)"
            )
    return found


def left_out(moorings: Moorings) -> list[str]:
    """What of the file has no meaning in the deck, each named."""
    found = [f"section {name}: {LEFT[name]} left out" for name in moorings.others if name in LEFT]
    found += [f"rod {row.words[0]} left out: rods are not supported" for row in moorings.rods]
    failures = [row for row in moorings.failures if len(row.words) > 2]
    found += [
        f"failure {row.words[0]}: the bar of line {row.words[2]} beside point {row.words[1]} breaks" for row in failures
    ]
    for name in used(moorings):
        made = moorings.types[name]
        found += [f"line type {name}: no bending stiffness, EI = {made.bending:g} left out"] * bool(made.bending)
        found += [f"line type {name}: no vortex-induced vibration, Cl = {made.lift:g} left out"] * bool(made.lift)
        if made.row.words[4].count("|") and made.parts(4)[1]:
            beside = f"line type {name}: BA_d = {made.parts(4)[1]:g}, a dashpot beside the fast spring EA_d, left out"
            found.append(beside)
    found += floating(moorings)
    for end in moorings.points.values():
        if end.kind == "free" and end.drag_area:
            found.append(
                f"point {end.label}: CdA = {end.drag_area:g} acts on the bars beside it, across and along them"
            )
        if end.kind == "free" and end.volume:
            found.append(f"point {end.label}: its buoyancy acts at any height")
    words = {line.row.words[6] for line in moorings.lines if len(line.row.words) > 6} - {"-"}
    found += [f"outputs of lines left out: {', '.join(sorted(words))} (fields have all nodes and bars)"] * bool(words)
    if any(end.kind == "coupled" for end in moorings.points.values()):
        found.append("coupled points are held: the last step of the deck is the place for their motion")
    for name, row in moorings.options.items():
        idle = (0.0, 1.0) if name in ("statdynfricscale", "mc") else (0.0,)
        if name in CHANGING and row.words[0] not in [f"{value:{form}}" for value in idle for form in ("g", ".1f")]:
            found.append(f"option {row.words[1]} = {row.words[0]} left out: {CHANGING[name]}")
    silent = [row.words[1] for name, row in moorings.options.items() if name not in MEANT | set(CHANGING)]
    return found + ([f"options of MoorDyn's own way of solving, left out: {', '.join(silent)}"] if silent else [])
