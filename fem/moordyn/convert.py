"""``fem import moordyn``: a deck from an input file of MoorDyn v2, and what of the file has no meaning in it."""

from __future__ import annotations

from pathlib import Path

from fem.arrays import Say
from fem.errors import CommandError
from fem.files.whole import write_new
from fem.moordyn.deck import MEANT, Chain, chains_of, deck_text, nodes_of, used
from fem.moordyn.read import Moorings, Row, read

PROFILE, PROFILE_HEADS = "current_profile.txt", 3
LEFT = {
    "ROD TYPES": "rods",
    "RODS": "rods",
    "SYROPE IC": "the Syrope model",
    "FAILURE": "failures (*FAILURE breaks elements)",
    "CONTROL": "control of lines",
    "EXTERNAL LOADS": "external loads and damping of points",
    "OUTPUTS": "outputs (T of all elements, COORD and RF of points are printed)",
}
"""Sections that have no meaning in the deck."""
CHANGING = {"wavekin": "waves are given by *WAVE", "seafloorfile": "the bottom is flat, at WtrDpth"}
CHANGING |= dict.fromkeys(("statdynfricscale", "mc"), "static friction is that of motion")
CHANGING |= dict.fromkeys(("fricdamp", "cv"), "*SEABED has friction by displacement")
"""Options that change the answer, unless they are 0, or 1 as a factor."""


def convert(file: Path, output: Path, force: bool = False, say: Say = lambda text: None) -> None:
    """``fem import moordyn``; ``say`` is told what is left out and what is written.

    DeckError: the file cannot be understood. CommandError: the deck exists and holds something else.
    """
    moorings = read(file)
    chains = chains_of(moorings)
    notices = left_out(moorings)
    text = deck_text(moorings, chains, profile(moorings), [*places(moorings, chains), *notices])
    for notice in notices:
        say(f"note: {notice}")
    say(f"wrote {write_new(output, text.encode(), force)}")


def places(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Which node is which point, for the head of the deck."""
    where = nodes_of(chains)
    ends = [moorings.points[label] for label in where]
    return [f"point {end.label} ({end.kind}): node {', '.join(map(str, where[end.label]))}" for end in ends]


def profile(moorings: Moorings) -> list[tuple[float, ...]]:
    """Rows of z, vx, vy, vz, by rising z, of the file beside where the option asks for it. CommandError: it is not
    there."""
    if moorings.option("Currents", default=0.0) != 1.0:
        return []
    path = moorings.file.with_name(PROFILE)
    if not path.is_file():
        raise CommandError(f"Currents 1 takes the current from {path}, which is not there")
    rows = []
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        row = Row(str(path), number, text, tuple(text.partition("#")[0].split()))
        if number > PROFILE_HEADS and row.words:
            rows.append(tuple(row.number(place, what) for place, what in enumerate(("z", "ux", "uy", "uz"))))
    return sorted(rows)


def left_out(moorings: Moorings) -> list[str]:
    """What of the file has no meaning in the deck, each named."""
    found = [f"section {name}: {LEFT[name]} left out" for name in moorings.others if name in LEFT]
    for name in used(moorings):
        made = moorings.types[name]
        found += [f"line type {name}: no bending stiffness, EI = {made.bending:g} left out"] * bool(made.bending)
        found += [f"line type {name}: no vortex-induced vibration, Cl = {made.lift:g} left out"] * bool(made.lift)
        several = [word for word in made.row.words[3:5] if "|" in word]
        found += [f"line type {name}: of {word} the first, static one alone" for word in several]
    for end in moorings.points.values():
        lost = {"CdA": end.drag_area, "Ca": end.added} if end.kind == "free" else {}
        found += [f"point {end.label}: {what} = {value:g} left out" for what, value in lost.items() if value]
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
    if moorings.option("Currents", default=0.0) not in (0.0, 1.0):
        found.append("option Currents: steady profiles (1) alone are supported; there is no current in the deck")
    silent = [row.words[1] for name, row in moorings.options.items() if name not in MEANT | set(CHANGING)]
    return found + ([f"options of MoorDyn's own way of solving, left out: {', '.join(silent)}"] if silent else [])
