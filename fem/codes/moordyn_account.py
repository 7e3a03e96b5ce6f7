"""What ``fem import moordyn`` took from a file, what it changed, and what it left out: one list, also in the deck."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from fem.codes.moordyn_files import Moorings
from fem.codes.moordyn_water import bottom_of
from fem.errors import proposal

GIVE = 1e-5
"""How far the springs that pin a rod to a free body give under its weight."""
GRAVITY = 9.80665
"""Of MoorDyn-C without the option (source/MoorDyn2.cpp)."""
FRICTION_DAMPING = 200.0
"""FricDamp of MoorDyn-C without the option."""
MEANT = set("wtrdpth depth seafloorfile g gravity wtrdnsty rho rhow kbot kb cbot cb".split())
MEANT |= set("frictioncoefficient mu_ka mu_kt currents wavekin waterkin dtwave tmaxic ictmax".split())
"""Options that are used for the deck."""
OWN = set("writelog writeunits dtm dt tscheme dtic threshic cdscaleic icdt icthresh icdfac".split())
OWN |= set(
    "icgendynamic dtout outswitch disableoutput disableouttime unifycurrentgrid inertialf inertialf_rampt".split()
)
OWN |= set("wavegrid cv_ramp verbosity numthreads".split())
"""Options of MoorDyn-C and MoorDyn-F for its solver, its start and its output."""
LEFT = {
    "CONTROL": "control of lines",
    "EXTERNAL LOADS": "external loads and damping of points",
    "OUTPUTS": "outputs (T of all elements, COORD and RF of points are printed)",
}
"""Sections without an equivalent in the deck."""
CHANGING = dict.fromkeys(("statdynfricscale", "mc"), "static friction is taken equal to kinetic friction")
CHANGING |= dict.fromkeys(("fricdamp", "cv"), "the friction of *SEABED follows displacements")
FRICTION = (
    "friction: the deck has Coulomb's force mu W, which holds; MoorDyn-C has a damper of mu FricDamp = {:g} N s/m at "
    "each node, up to mu W"
)
"""Options that change the answer, unless they are 0, or 1 as a factor."""

TURBINE = re.compile(r"TURBINE\d*")
SLOPING = (
    "the bottom slopes: *SEABED presses at right angles to it, so that what lies there pulls with its weight along the "
    "slope, less friction; MoorDyn's bottom pushes straight up, and what lies there pulls with nothing (seen with "
    "MoorDyn 2.7.2): tensions differ"
)


def floating(moorings: Moorings) -> list[str]:
    """Lines that float and reach the surface, where MoorDyn supports them by EI."""
    gravity = moorings.option("g", "gravity", default=GRAVITY)
    density = moorings.option("WtrDnsty", "rho", "rhoW", default=1025.0)
    found = []
    for line in moorings.lines:
        made = moorings.types[line.type]
        displaced = density * math.pi / 4.0 * made.diameter**2
        highest = max(moorings.points[end].place[2] for end in (line.first, line.last))
        if displaced > made.mass and highest > 0.0 and not made.bends:
            found.append(
                f"line {line.label} ({made.name}) floats and reaches the surface: without its bending stiffness, EI = "
                f"{made.bending:g}, it has no position of rest there; leave it out of the file, and in the deck give "
                "the node of the point below, at height z, a *SPRING to the ground (SPRING1, dof 3) of k = rho g A = "
                f"{displaced * gravity:.5g} and the load -({made.mass * gravity * line.length:.5g} + k z) (*CLOAD)"
            )
    return found


def used(moorings: Moorings) -> list[str]:
    """Line types that are used."""
    return list(dict.fromkeys(line.type for line in moorings.lines))


def account(moorings: Moorings, of_water: Iterable[str]) -> list[str]:
    """The list: counts of what was taken, then each change, then all that was left out."""
    changes, left = changed(moorings), [*left_out(moorings), *of_water]
    lines = [f"took: {taken(moorings)}", f"changed: {len(changes)}", *(f"  {text}" for text in changes)]
    return [*lines, f"left out: {len(left)}", *(f"  {text}" for text in left)]


def taken(moorings: Moorings) -> str:
    """``2 line types, 5 points, 3 lines of 60 segments, ...``"""
    ends = [each for each in moorings.points.values() if not each.name]
    rods = {each.row.line for each in moorings.points.values() if each.name}
    counts = {
        "line type": len(used(moorings)), "point": len(ends), "line": len(moorings.lines),
        "segment": sum(line.segments for line in moorings.lines), "rod": len(rods),
        "body": sum(not name.startswith("ROD") for name in moorings.bodies), "failure": len(moorings.failures),
        "option": len(MEANT & moorings.options.keys()),
    }  # fmt: skip
    plural = {"body": "bodies"}
    named = (f"{n} {name if n == 1 else plural.get(name, name + 's')}" for name, n in counts.items() if n)
    return ", ".join(named)


def changed(moorings: Moorings) -> list[str]:
    """What acts in another way than in MoorDyn."""
    found = []
    if any("EI" not in each.row.head and len(each.row.words) == 9 for each in moorings.types.values()):
        found.append("the file is of version 1: Can, Cat, Cdn, Cdt are Ca, CaAx, Cd, CdAx; there is no EI")
    for end in (each for each in moorings.points.values() if each.is_connector):
        found.append(f"{end.name} has no segments: a connector at its end A, without length, mass and forces of water")
    for body in moorings.bodies.values():
        if body.holder:
            found.append(f"{body.name.lower()} is pinned to {body.holder.lower()} by springs, which give {GIVE:g} m")
        if body.is_loose:
            found.append(
                f"{body.name.lower()}: no rotational drag, no contact with the bottom; its buoyancy (not that of "
                "rods) acts at any height"
            )
    failures = (row.words[:3] for row in moorings.failures if len(row.words) > 2)
    found += [f"failure {name}: the bar of line {line} beside point {point} breaks" for name, point, line in failures]
    if any(made.damping and not made.curve for made in map(moorings.types.__getitem__, used(moorings))):
        found.append("BA damps slack segments in MoorDyn, too; cables of the deck are damped while they pull")
    if any(moorings.types[name].working for name in used(moorings)):
        found.append("Syrope lines begin relaxed, with the mean tension of the equilibrium in place of Tmean0")
    found += floating(moorings)
    for end in moorings.points.values():
        if end.is_loose and end.drag_area:
            what = f"point {end.label}: CdA = {end.drag_area:g} acts on the adjacent bars, transversely and axially"
            found.append(what)
        if end.is_loose and end.volume:
            found.append(f"point {end.label}: its buoyancy acts at any height")
    if any(end.kind == "coupled" for end in moorings.points.values()):
        found.append("coupled points are fixed; add their motion in the last step of the deck")
        found.append(
            "FairTen of MoorDyn's files is |RF| of the node at a coupled point, GetLineFairTen is T of the bar"
        )
    words = {word for each in moorings.points.values() if TURBINE.fullmatch(word := each.row.words[1].upper())}
    if words:
        found.append(
            f"points of {', '.join(map(str.capitalize, sorted(words)))}: in FAST.Farm their places count from the "
            "turbine, here from the origin: shift them where a turbine is elsewhere"
        )
    if friction := moorings.option("FrictionCoefficient", default=0.0):
        found.append(FRICTION.format(friction * moorings.option("FricDamp", default=FRICTION_DAMPING)))
    if moorings.lines and moorings.begins_at_once:
        found.append("TmaxIC 0: the motion begins at once, from the places of the file")
    if not moorings.option("kBot", "kb", default=1.0):
        found.append("kBot 0: there is no bottom")
    if moorings.row("g", "gravity") is None:
        found.append(f"no option g: {GRAVITY:g} as in MoorDyn-C")
    return found + [SLOPING] * (not bottom_of(moorings).is_level)


def left_out(moorings: Moorings) -> list[str]:
    """Entries of the file without an equivalent in the deck."""
    sections = ((name, f"{n} line{'s' * (n > 1)}") for name, n in moorings.others.items())
    found = [f"section {name}, {count}: {LEFT.get(name, 'not known')}" for name, count in sections]
    ends = {end for line in moorings.lines for end in (line.first, line.last)}
    idle = [each for each in moorings.points.values() if each.label not in ends and not each.is_tied]
    groups: dict[str, Sequence[object]] = {
        "points without a line": [each.label for each in idle if not each.name],
        "line types without a line": [name for name in moorings.types if name not in used(moorings)],
        "rod types without a rod": moorings.unused_rods,
        "mass, volume, CdA and Ca of points that do not move by themselves": [
            each.label for each in moorings.points.values()
            if not each.is_loose and any((each.mass, each.volume, each.drag_area, each.added))
        ],
        "weight and drag of rods that do not move by themselves": [
            rod.label for body in moorings.bodies.values() if not body.is_loose for rod in body.rods
        ],
        "mass, volume, CdA and Ca of bodies that do not move by themselves": [
            body.name[4:] for body in moorings.bodies.values()
            if not body.is_loose and body.name.startswith("BODY") and {*body.row.words[8:]} - {"0", "0.0"}
        ],
        "lines with words behind their last column": moorings.wide,
    }  # fmt: skip
    found += [f"{what}: {', '.join(str(one) for one in its)}" for what, its in groups.items() if its]
    for name in used(moorings):
        made = moorings.types[name]
        if made.bending and not made.bends:
            beside = "a curve" if made.curve else "EA_s|EA_d"
            found.append(f"line type {name}: no bending stiffness, EI = {made.bending:g} left out beside {beside}")
        if made.curve and made.damping and not made.working:
            found.append(f"line type {name}: no internal damping, BA = {made.damping:g} left out beside a curve")
        if made.damping and (made.working or not made.curve) and made.row.words[4].count("|") and made.parts(4)[1]:
            beside = f"line type {name}: BA_d = {made.parts(4)[1]:g}, a dashpot beside the spring EA_d, is left out"
            found.append(beside)
    words = {line.row.words[6] for line in moorings.lines if len(line.row.words) > 6} - {"-"}
    found += [f"outputs of lines: {', '.join(sorted(words))} (fields have all nodes and bars)"] * bool(words)
    for name, row in moorings.options.items():
        idle_values = (0.0, 1.0) if name in ("statdynfricscale", "mc") else (0.0,)
        given = row.words[0] not in [f"{value:{form}}" for value in idle_values for form in ("g", ".1f")]
        found += [f"option {row.words[1]} = {row.words[0]}: {CHANGING[name]}"] if name in CHANGING and given else []
    others = {name: row.words[1] for name, row in moorings.options.items() if name not in MEANT | set(CHANGING)}
    silent = [word for name, word in others.items() if name in OWN]
    found += [f"options of MoorDyn's own solver: {', '.join(silent)}"] if silent else []
    for word in (word for name, word in others.items() if name not in OWN):
        guess = proposal(word, (*MEANT, *CHANGING, *OWN))
        found.append(f"option {word}, which is unknown" + (f"; {guess}" if guess.startswith("did") else ""))
    return found
