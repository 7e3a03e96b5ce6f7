"""``fem import moordyn``: a deck from an input file of MoorDyn.

Lines are laid between points, at rest, in the current; then follows a step for the motion. Two lines that meet at a
free point become one line of several pieces, unless both bend: in MoorDyn these are hinged at points, and continuous
only at connectors, rods without segments. If more lines meet, or other points are joined, each line has its own end
there, and equations join these. Where the motion begins at once (TmaxIC 0) all points are where the file has them. A
line with EI goes on into the rod at its end, which holds its direction. If a line fails at a point (MoorDyn-F's section
FAILURE), the adjacent bar breaks.

Bodies and rods that move by themselves become free bodies. A body gets the masses of its points and rods: the sum, the
common centre of mass and the tensor of inertia about it are those of its reference node. Its buoyancy acts at its own
centre of gravity and the added mass of its volume at its origin, as in MoorDyn (source/Body.cpp). Its CdA acts on a
member of length 1 and width 1 along z of the body through the origin, or on three along its axes. Rods are members,
chains of bars within the body, without mass, because their mass is part of the body.

    I = sum of I_i + m_i (|r_i|^2 1 - r_i r_i^T),    of a rod m d^2/8 about its axis, m (L^2/12 + d^2/16) across

The area CdEnd of both ends and the volume CaEnd of both half spheres are spread along a rod.

Source: MoorDyn, docs/inputs.rst, Failure: FailureID, Point, Line(s), FailTime, FailTen; what comes first, 0: never.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats, Say
from fem.codes.moordyn_account import GIVE, GRAVITY, account, used
from fem.codes.moordyn_files import LineType, MoorDynBody, MoorDynLine, MoorDynPoint, Moorings, Rod, on_body, read
from fem.codes.moordyn_water import Bathymetry, MoorDynWater, bottom_of, water_of
from fem.commands.files import write_new

REST = """\
** at rest, in equilibrium: loads at once
*STEP, NLGEOM, INC=200, AMPLITUDE=STEP
*STATIC
*NODE PRINT, NSET=POINTS
COORD, RF
*EL PRINT, ELSET=LINES
T
*DLOAD"""
STREAM = """\
** drag, inertia of the water, the current
*STEP, NLGEOM, INC=200
*STATIC
0.25, 1."""
MOTION = """\
** add the motion of the coupled points here: *BOUNDARY, AMPLITUDE=...
*STEP, NLGEOM, INC=1000000
*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
** at most dt long, shorter where local error or tension requires it, as where a line snaps taut
<dt>, <time>, , <dt>
*CONTROLS, TIME ERROR=5e-4, TENSION CHANGE=0.3, RESI_GLOB_RELA=1e-4
*END STEP"""

BEGIN = 2.0
"""Total time at which the motion and MoorDyn's time begin: each step before it takes 1."""
SHORT = 1e-3
"""Length of the bars that go on into rods, over that of a segment."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Lines end to end, from point to point; ``base``: label of the first node and of the first bar."""

    lines: tuple[MoorDynLine, ...]
    points: tuple[int, ...]
    base: int

    @property
    def nodes(self) -> list[int]:
        """Labels at the points."""
        labels = [self.base]
        for line in self.lines:
            labels.append(labels[-1] + line.segments)
        return labels


def chains_of(moorings: Moorings) -> list[Chain]:
    """All lines, each in one chain. The first label of a chain is the number of its first line times a power of ten."""
    beside: dict[int, list[MoorDynLine]] = {}
    for line in moorings.lines:
        beside.setdefault(line.first, []).append(line)
        beside.setdefault(line.last, []).append(line)
    pairs = {label: its for label, its in beside.items() if len(its) == 2 and moorings.points[label].kind == "free"}
    hinges = {label for label, its in pairs.items() if all(moorings.types[line.type].bends for line in its)}
    joints = {label for label in pairs if label not in hinges or moorings.points[label].is_connector}
    if moorings.begins_at_once:
        joints = {label for label in joints if label in hinges}
    segments = sum(line.segments for line in moorings.lines)
    largest = max([segments + 2, *(line.label for line in moorings.lines), *moorings.points])
    size = 10 ** max(3, math.ceil(math.log10(largest + 1)))
    left = sorted(moorings.lines, key=lambda line: line.first in joints and line.last in joints)
    found: list[Chain] = []
    while left:
        line = next((each for each in left if each.first not in joints or each.last not in joints), left[0])
        here = line.last if line.first in joints and line.last not in joints else line.first
        points, lines = [here], []
        while line in left:
            left.remove(line)
            lines.append(line)
            points.append(line.last if points[-1] == line.first else line.first)
            others = [each for each in beside[points[-1]] if each is not line]
            line = others[0] if points[-1] in joints and others else line
        found.append(Chain(tuple(lines), tuple(points), size * lines[0].label + 1))
    return found


class Stub(NamedTuple):
    """A short bar that goes on from a line with EI into the rod at its end, and holds its direction there.
    label  of the bar and of its node within the rod;  end  label of the node at the end of the rod"""

    label: int
    end: int
    point: MoorDynPoint
    line: MoorDynLine

    @property
    def place(self) -> list[float]:
        size = SHORT * self.line.length / self.line.segments
        return [x - size * part for x, part in zip(self.point.place, self.point.axis, strict=True)]


def stubs_of(moorings: Moorings, chains: list[Chain]) -> list[Stub]:
    """All that are needed, two at most at a chain."""
    found = []
    for chain in chains:
        first, last = chain.nodes[0], chain.nodes[-1]
        for at, label, end in ((0, first - 1, first), (-1, last + 1, last)):
            point, line = moorings.points[chain.points[at]], chain.lines[at]
            found += [Stub(label, end, point, line)] * bool(point.axis and moorings.types[line.type].bends)
    return found


def stub_lines(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Nodes, bars and sections; nodes of those on rods that move by themselves are tied to these elsewhere."""
    lines = list[str]()
    for stub in stubs_of(moorings, chains):
        kind, name = stub.point.kind, f"STUB{stub.label}"
        lines += ["*NODE", f"{stub.label}, {numbers(stub.place)}", f"*ELEMENT, TYPE=B31, ELSET={name}"]
        lines += [
            f"{stub.label}, {stub.label}, {stub.end}",
            *beam_lines(moorings.types[stub.line.type], name, stub.line),
        ]
        lines += [] if stub.point.is_loose else [f"*NSET, NSET={kind.upper()}", str(stub.label)]
    return lines


def beam_lines(made: LineType, name: str, line: MoorDynLine) -> list[str]:
    """The section of a set of bars of a line, of its material: E is EA, the area 1, and I11 = I22 are I/A."""
    kind, size, inertia = "SOLID", "1.", made.bending / made.stiffness
    if made.bends:
        kind, size = "BEAM GENERAL", numbers((1.0, inertia, 0.0, inertia))
    return [f"*{kind} SECTION, ELSET={name}, MATERIAL=LINE{line.label}, STRAIN=ENGINEERING", size]


def sheds(made: LineType, water: MoorDynWater) -> bool:
    """Whether vortices lift lines of a type: in a current without waves."""
    return bool(made.lift and water.currents and not water.waves and not water.history)


def last_of(chains: list[Chain]) -> int:
    """The largest label of nodes and bars of all lines."""
    return max((chain.nodes[-1] + 1 for chain in chains), default=0)


def deck_text(
    moorings: Moorings, chains: list[Chain], bottom: Bathymetry, water: MoorDynWater, notices: list[str]
) -> str:
    gravity = moorings.option("g", "gravity", default=GRAVITY)
    density = moorings.option("WtrDnsty", "rho", "rhoW", default=1025.0)
    pressing = [moorings.option("kBot", "kb", default=3e6), moorings.option("cBot", "cb", default=3e5)]
    both = moorings.option("FrictionCoefficient", default=0.0)
    friction = [moorings.option("MU_KA", default=both), moorings.option("MU_KT", default=both)]
    label = last_of(chains) + 2 * max(moorings.points, default=0) + 1
    where = nodes_of(chains)
    for stub in stubs_of(moorings, chains):
        where[stub.point.label].append(stub.label)
    bodies = bodies_of(moorings, where, label, gravity, density)
    weights = [*bodies.weights, *weight_lines(moorings, chains, gravity, density, bodies.forces)]
    water_loads = water_lines(moorings, chains, bodies.water, bool(water.history))
    if not density:
        weights, water_loads = [line for line in weights if ", PB," not in line], []
    begin, motion = BEGIN, MOTION.splitlines()
    steps = [*REST.splitlines(), *weights, "*END STEP", *STREAM.splitlines(), *water_loads, "*END STEP", *motion]
    if moorings.begins_at_once:
        begin, asked = 0.0, ["*NODE PRINT, NSET=POINTS", "COORD, U", *["*EL PRINT, ELSET=LINES", "T"] * bool(chains)]
        steps = [*motion[:-1], *asked, "*DLOAD", *weights, *water_loads, *motion[-1:]]
    what = f"{moorings.file.name}: {len(moorings.lines)} mooring lines, from MoorDyn. SI units: m, kg, s, N"
    lines = [
        *("*HEADING", what, *(f"** {notice}" for notice in notices)),
        *("*PARAMETER", "dt = 0.05", "time = 10.", *mesh_lines(moorings, chains), *property_lines(moorings)),
        *added_lines(moorings, chains, density),
        *plain_lines(moorings, chains),
        *stub_lines(moorings, chains),
        *bodies.mesh,
        *("*AQUA", f"{-bottom.mean!r}, 0., {gravity!r}, {density!r}"),
        *(numbers(row[1:] + row[:1]) for row in water.currents),
        *water.lines(begin),
        *history_lines(water, begin),
        *(
            line
            for name in used(moorings)
            if pressing[0]
            for line in bed_lines(moorings, name, bottom, pressing, friction)
        ),
        *(
            f"*VIV, ELSET={set_of(moorings, name)}\n{made.diameter!r}, {made.lift!r}, {made.centre!r}, {made.band!r}"
            for name in used(moorings)
            if sheds(made := moorings.types[name], water)
        ),
        *failure_lines(moorings, bars_beside(chains), begin),
        *steps,
    ]
    return "".join(f"{line}\n" for line in lines)


def mesh_lines(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """End nodes, lines between them, sets of both, supports of the ends."""
    if not chains:
        return []
    lines, where = ["*NODE, NSET=POINTS"], nodes_of(chains)
    for chain in chains:
        for label, end in ((chain.nodes[0], chain.points[0]), (chain.nodes[-1], chain.points[-1])):
            lines.append(f"{label}, {numbers(moorings.points[end].place)}")
    for chain in chains:
        pairs = list(zip(chain.lines, chain.nodes, strict=False))
        rows = [f"{node}, {node + line.segments}, 1, {line.length!r}" for line, node in pairs]
        is_bar = len(pairs) == 1 and pairs[0][0].segments == 1
        lines += (
            ["*REST LENGTH", f"{chain.base}, {pairs[0][0].length!r}"] if is_bar else ["*NGEN, LINE=CATENARY", *rows]
        )
    for chain in chains:
        for line, node in zip(chain.lines, chain.nodes, strict=False):
            kind = "B31" if moorings.types[line.type].bends else "T3D2"
            lines += [f"*ELEMENT, TYPE={kind}", f"{node}, {node}, {node + 1}"]
            lines += [f"*ELGEN, ELSET=LINE{line.label}", f"{node}, {line.segments}"]
    for name in used(moorings):
        its = ", ".join(f"LINE{line.label}" for line in moorings.lines if line.type == name)
        lines += [f"*ELSET, ELSET={set_of(moorings, name)}", its]
    lines += ["*ELSET, ELSET=LINES", ", ".join(set_of(moorings, name) for name in used(moorings))]
    for kind in ("fixed", "coupled"):
        labels = [label for end, its in where.items() if moorings.points[end].kind == kind for label in its]
        held = [f"*NSET, NSET={kind.upper()}", *in_rows(labels), "*BOUNDARY", f"{kind.upper()}, 1, 3"]
        lines += held if labels else []
    joints = [label for chain in chains for label in chain.nodes[1:-1]]
    lines += ["*NSET, NSET=POINTS", *in_rows(joints)] if joints else []
    for end, (first, *others) in where.items():
        ties = others if moorings.points[end].kind == "free" else []
        lines += [f"*EQUATION\n2\n{label}, {dof}, 1., {first}, {dof}, -1." for label in ties for dof in (1, 2, 3)]
        lines += mass_lines(moorings.points[end], first)
    return lines


def mass_lines(end: MoorDynPoint, node: int) -> list[str]:
    """Mass of a free point."""
    if end.kind != "free" or not end.mass:
        return []
    name = f"POINT{end.label}"
    return [f"*ELEMENT, TYPE=MASS, ELSET={name}", f"{end.label}, {node}", f"*MASS, ELSET={name}", repr(end.mass)]


def added_lines(moorings: Moorings, chains: list[Chain], density: float) -> list[str]:
    """Added mass of free points, rho V Ca in all directions: without weight, so it is an element of its own."""
    where, lines = nodes_of(chains), list[str]()
    label = last_of(chains) + max(moorings.points, default=0)
    for end in (each for each in moorings.points.values() if each.is_loose and each.label in where):
        if mass := density * end.volume * end.added:
            name = f"ADDED{end.label}"
            lines += [f"*ELEMENT, TYPE=MASS, ELSET={name}", f"{label + end.label}, {where[end.label][0]}"]
            lines += [f"*MASS, ELSET={name}", repr(mass)]
    return lines


def history_lines(water: MoorDynWater, begin: float) -> list[str]:
    """Time factor of the current; MoorDyn's time begins with the motion."""
    if not water.history:
        return []
    rows = [numbers((begin + time, factor)) for time, factor in water.history]
    return ["*AMPLITUDE, NAME=CURRENT, TIME=TOTAL TIME", *rows]


def property_lines(moorings: Moorings) -> list[str]:
    """A material for each line, area 1: damping as a fraction of critical damping follows the length of its bars."""
    lines = []
    for line in moorings.lines:
        made, name = moorings.types[line.type], f"LINE{line.label}"
        critical = line.length / line.segments * math.sqrt(made.mass * made.stiffness)
        damping = made.damping if made.damping >= 0.0 else -made.damping * critical
        lines += [f"*MATERIAL, NAME={name}", *law_lines(made, damping, moorings.largest.get(line.label, 0.0))]
        lines += [
            *(["*DENSITY", repr(made.mass)] if made.mass else []),
            "*NO COMPRESSION",
            *beam_lines(made, name, line),
        ]
    return lines


def law_lines(made: LineType, damping: float, largest: float) -> list[str]:
    """EA and BA [N s]: a spring parallel to a dashpot; EA_s|EA_d adds a spring EA_d in series with these, EA_1 and
    BA_s, 1/EA_s = 1/EA_d + 1/EA_1 (MoorDyn, Line.cpp); with a slope EA_d depends on the mean load, and the Syrope
    model has curves in place of EA_s. With BA 0|BA_d
    the dashpot is parallel to EA_d instead, so that EA_1 is the instantaneous stiffness."""
    if made.working:
        strain, tension = made.curve[-1]
        definition, unloading = made.working.unloading(strain, tension)
        kind = "DAMAGE" if definition == "INTERPOLATED CURVE" and not made.working.k1 else "PERMANENT DEFORMATION"
        return [
            f"*UNIAXIAL, LARGEST STRESS={largest!r}",
            *(f"*LOADING DATA, TYPE={kind}", *(numbers((force, e)) for e, force in made.curve)),
            *(f"*UNLOADING DATA, DEFINITION={definition}", *map(numbers, unloading)),
            *("*DYNAMIC STIFFNESS", numbers((*made.parts(3), made.parts(4)[0]))),
        ]
    if made.curve:
        return ["*UNIAXIAL", "*LOADING DATA", *(numbers((tension, strain)) for strain, tension in made.curve)]
    static, *dynamic = made.parts(3)
    if not dynamic:
        return ["*ELASTIC", repr(static), *([f"*DAMPING, BETA={damping / static:.9g}"] if damping else [])]
    slow = dynamic[0] * static / (dynamic[0] - static)
    beside = [part for part in made.parts(4)[1:] if part]
    if not damping and beside and len(dynamic) == 1:
        series = slow / dynamic[0], beside[0] / dynamic[0]
        return ["*ELASTIC, MODULI=INSTANTANEOUS", repr(slow), "*VISCOELASTIC, TIME=KELVIN", numbers(series)]
    if not damping:
        what = "EA_s|EA_d needs a damping BA_s: without it the line would change between stiff and soft at once"
        raise made.row.error(what, 4)
    if len(dynamic) > 1:
        return ["*ELASTIC", repr(static), "*DYNAMIC STIFFNESS", numbers((*dynamic, damping))]
    series = dynamic[0] / slow, damping / slow
    return ["*ELASTIC, MODULI=INSTANTANEOUS", repr(dynamic[0]), "*VISCOELASTIC, TIME=KELVIN", numbers(series)]


def bed_lines(
    moorings: Moorings, name: str, bottom: Bathymetry, pressing: list[float], friction: list[float]
) -> list[str]:
    """The bottom below the lines of a type."""
    lines = [f"*SEABED, ELSET={set_of(moorings, name)}{bottom.parameters()}"]
    lines.append(numbers([*pressing, moorings.types[name].diameter]))
    return lines + ([numbers(friction)] if any(friction) else [])


def weight_lines(
    moorings: Moorings, chains: list[Chain], gravity: float, density: float, forces: list[str]
) -> list[str]:
    """Weight of lines and points, less buoyancy; forces: those on bodies."""
    lines = [f"LINES, GRAV, {gravity!r}, 0., 0., -1."] * bool(chains)
    lines += [f"{set_of(moorings, name)}, PB, 1., {moorings.types[name].diameter!r}" for name in used(moorings)]
    where = nodes_of(chains)
    free = [end for end in moorings.points.values() if end.is_loose and end.label in where]
    lines += [f"POINT{end.label}, GRAV, {gravity!r}, 0., 0., -1." for end in free if end.mass and not end.body]
    loads = forces[:]
    for end in free:
        force = end.force[0], end.force[1], end.force[2] + density * gravity * end.volume
        loads += [f"{where[end.label][0]}, {dof}, {part!r}" for dof, part in enumerate(force, 1) if part]
    return lines + (["*CLOAD", *loads] if loads else [])


def water_lines(moorings: Moorings, chains: list[Chain], members: list[str], is_changing: bool) -> list[str]:
    """Drag and added mass of each type; drag of points, on the adjacent bars; members: lines of bodies."""
    dragged = drag_of_points(moorings, chains)
    curve = ", CURRENT" * is_changing
    sets = [(set_of(moorings, name), moorings.types[name], 0.0) for name in used(moorings)]
    if dragged:
        names = [name for name in used(moorings) if plain_bars(chains, name, dragged)]
        sets = [(f"PLAIN_{set_of(moorings, name)}", moorings.types[name], 0.0) for name in names]
        sets += [(str(bar), made, area) for bar, (made, area) in dragged.items()]
    follows = {"FDD": f", 1.{curve}", "FDT": f", 1., 2.{curve}"}
    loads = [line + follows.get(line.split(", ")[1], "") if is_changing else line for line in members]
    for target, made, area in sets:
        d = made.diameter
        across, along = made.drag + area / d, made.axial_drag + area / (math.pi * d)
        loads += [f"{target}, FDD, 1., {d!r}, {across!r}" + (curve and f", 1.{curve}")] if across else []
        loads += [f"{target}, FDT, 1., {d!r}, {along!r}" + (curve and f", 1., 2.{curve}")] if along else []
    for name in used(moorings):
        made = moorings.types[name]
        inertia = numbers((1.0 + made.added, made.added)) + f", , {made.axial_added!r}"
        inertia = f"{set_of(moorings, name)}, FI, 1., {made.diameter!r}, {inertia}"
        loads += [inertia] if made.added or made.axial_added else []
    return ["*DLOAD", *loads] if loads else []


def plain_lines(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Sets of the bars of each type without drag of points, if some have it."""
    dragged = drag_of_points(moorings, chains)
    lines = []
    for name in used(moorings) if dragged else ():
        bars = plain_bars(chains, name, dragged)
        lines += [f"*ELSET, ELSET=PLAIN_{set_of(moorings, name)}", *in_rows(bars)] if bars else []
    return lines


def plain_bars(chains: list[Chain], name: str, dragged: Container[int]) -> list[int]:
    """Labels of the bars of a type without drag of points."""
    pieces = [pair for chain in chains for pair in zip(chain.lines, chain.nodes, strict=False)]
    bars = (range(node, node + line.segments) for line, node in pieces if line.type == name)
    return [bar for its in bars for bar in its if bar not in dragged]


def drag_of_points(moorings: Moorings, chains: list[Chain]) -> dict[int, tuple[LineType, float]]:
    """Bar -> its type, and the CdA of adjacent free points over its length, distributed over all bars at the point."""
    found: dict[int, tuple[LineType, float]] = {}
    lines = {line.label: line for line in moorings.lines}
    beside = bars_beside(chains)
    for end in moorings.points.values():
        bars = [(label, bar) for (label, point), bar in beside.items() if point == end.label]
        for label, bar in bars if end.is_loose and end.drag_area else []:
            line = lines[label]
            share = end.drag_area / len(bars) / (line.length / line.segments)
            area = found[bar][1] if bar in found else 0.0
            found[bar] = moorings.types[line.type], area + share
    return found


def bars_beside(chains: list[Chain]) -> dict[tuple[int, int], int]:
    """(line, point) -> label of the bar of the line at the point."""
    found: dict[tuple[int, int], int] = {}
    for chain in chains:
        for k, line in enumerate(chain.lines):
            first = chain.nodes[k]
            found[line.label, chain.points[k]] = first
            found[line.label, chain.points[k + 1]] = first + line.segments - 1
    return found


def nodes_of(chains: list[Chain]) -> dict[int, list[int]]:
    """Point -> its nodes, one for each chain that it ends, or is in."""
    where: dict[int, list[int]] = {}
    for chain in chains:
        for label, end in zip(chain.nodes, chain.points, strict=True):
            where.setdefault(end, []).append(label)
    return where


def set_of(moorings: Moorings, name: str) -> str:
    """Element set of a line type; names are unique even if those of types are similar."""
    plain = ["TYPE_" + re.sub(r"\W", "_", each).upper() for each in moorings.types]
    at = list(moorings.types).index(name)
    count = plain[:at].count(plain[at])
    found = f"{plain[at]}_{count + 1}" if count else plain[at]
    while count and found in plain:
        found += "_"
    return found


def numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(value)) for value in values)


def in_rows(labels: list[int]) -> list[str]:
    """Lines of up to 16 labels."""
    return [", ".join(map(str, labels[start : start + 16])) for start in range(0, len(labels), 16)]


def failure_lines(moorings: Moorings, ends: Mapping[tuple[int, int], int], begin: float) -> list[str]:
    """``*FAILURE`` cards. DeckError: they refer to something unknown, or are not possible.
    ends  (line, point) -> the bar of the line at the point;  begin  total time at which MoorDyn's time begins"""
    found: dict[str, list[str]] = {"TIME": [], "TENSION": []}
    for row in moorings.failures:
        if len(row.words) < 5:
            raise row.error(f"a failure has 5 columns, this one {len(row.words)}", len(row.words))
        if row.words[1].upper().startswith("R"):
            raise row.error("failures at rods are not supported", 1, "use a point in place of the rod")
        point, lines = row.count(1, "the number of a point"), row.words[2].split(",")
        if len(lines) > 1:
            message = "lines that break off a point and stay connected to each other are not supported"
            raise row.error(message, 2, "name one line in each failure: it breaks off all others")
        line = row.count(2, "the number of a line")
        if (line, point) not in ends:
            raise row.error(f"line {line} does not end at point {point}", 2)
        time, tension = row.number(3, "the time"), row.number(4, "the tension")
        if time < 0.0 or tension < 0.0:
            raise row.error("time and tension must not be negative", 3 if time < 0.0 else 4)
        bar = ends[line, point]
        found["TIME"] += [f"{bar}, {begin + time!r}"] if time else []
        found["TENSION"] += [f"{bar}, {tension!r}"] if tension else []
    return [line for kind, its in found.items() if its for line in (f"*FAILURE, TYPE={kind}", *dict.fromkeys(its))]


@dataclass(slots=True)
class BodyLines:
    """Lines of a deck: the mesh and its properties, weights with lifts (GRAV, PB), forces, drag and added mass."""

    mesh: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    forces: list[str] = field(default_factory=list)
    water: list[str] = field(default_factory=list)


def inertia_of(body: MoorDynBody, points: list[MoorDynPoint]) -> tuple[float, Floats, Floats]:
    """Mass, centre (3,) and tensor of inertia about it (3, 3). DeckError: no body has such an inertia."""
    axes = np.array([on_body(axis, (0.0, 0.0, 0.0, *body.pose[3:])) for axis in np.eye(3).tolist()]).T
    parts = [(body.mass, np.array(on_body(body.centre, body.pose)), axes @ np.diag(body.inertia) @ axes.T)]
    parts += [(point.mass, np.array(point.place), np.zeros((3, 3))) for point in points]
    for rod in body.rods:
        first, last = map(np.array, rod.ends)
        along, mass = (last - first) / rod.length, rod.mass * rod.length
        across = mass * (rod.length**2 / 12.0 + rod.diameter**2 / 16.0)
        own = across * np.eye(3) + (mass * rod.diameter**2 / 8.0 - across) * np.outer(along, along)
        parts.append((mass, 0.5 * (first + last), own))
    total = sum(mass for mass, *_ in parts)
    if not total > 0.0:
        raise body.row.error("a free body needs a mass, its own or of its rods and points", 8)
    centre = np.asarray(sum(mass * place for mass, place, _ in parts) / total)
    tensor = np.zeros((3, 3))
    for mass, place, own in parts:
        arm = place - centre
        tensor += own + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    principal = np.linalg.eigvalsh(tensor)
    if not principal[1] > 0.0 or principal[2] > (1.0 + 1e-9) * (principal[0] + principal[1]):
        found = ", ".join(f"{value:.4g}" for value in principal)
        hint = "each must be at most the sum of the others, and two of them positive"
        raise body.row.error(f"no free body has the principal moments of inertia {found}", 10, hint)
    return float(total), centre, tensor


def bodies_of(moorings: Moorings, where: dict[int, list[int]], first: int, gravity: float, density: float) -> BodyLines:
    """All free bodies; where: point -> its nodes;  first: labels from here on are free. DeckError: a body is not
    possible."""
    found = BodyLines()
    for body in (each for each in moorings.bodies.values() if each.is_loose):
        first = write_body(body, moorings, where, first, gravity, density, found)
    if "*ELSET, ELSET=MEMBERS" in found.mesh:
        found.mesh += ["*MATERIAL, NAME=MEMBERS", "*ELASTIC", "1."]
        found.mesh += ["*SOLID SECTION, ELSET=MEMBERS, MATERIAL=MEMBERS", "1."]
    return found


def write_body(
    body: MoorDynBody, moorings: Moorings, where: dict[int, list[int]], first: int, gravity: float, density: float,
    found: BodyLines,
) -> int:  # fmt: skip
    """One body; returns the next free label."""
    own = [point for point in moorings.points.values() if point.body == body.name]
    mass, centre, tensor = inertia_of(body, own)
    name, reference = body.name, first
    tied = [label for point in own for label in where.get(point.label, [])]
    mesh = ["*NODE", f"{reference}, {numbers(centre)}"]

    def node(place: Floats | tuple[float, ...]) -> int:
        nonlocal first
        first += 1
        tied.append(first)
        mesh.append(f"{first}, {numbers(place)}")
        return first

    ends, held = list[tuple[Rod, list[int]]](), node(body.pose[:3]) if body.kind == "pinned" else 0
    for rod in body.rods:
        count = max(1, rod.row.count(9, "the number of segments")) if len(rod.row.words) > 9 else 1
        start, stop = map(np.array, rod.ends)
        ends.append((rod, [node(start + (stop - start) * at / count) for at in range(count + 1)]))
    alone = [point for point in own if point.label not in where]
    sticks = sticks_of(body, alone)
    ends += [(rod, [node(place) for place in rod.ends]) for rod in sticks]
    if len(set(body.added)) > 1 and body.volume:
        raise body.row.error("Ca of a body must be the same along all axes", 13)
    parts = [(body.volume, on_body(body.centre, body.pose), body.pose[:3], body.added[0], f"ADDED{name}")]
    parts += [(each.volume, each.place, each.place, each.added, f"ADDED{each.label}") for each in alone]
    masses = [(name, reference, mass)]
    for volume, middle, origin, factor, called in parts:
        lift, added = density * gravity * volume, density * volume * factor
        found.forces += [f"{node(middle)}, 3, {lift!r}"] if lift else []
        masses += [(called, node(origin), added)] if added else []
    if not tied:
        node(centre)
    for rod, labels in ends:
        set_name = f"{name}_MEMBER{rod.label}" if rod.label else f"{name}_DRAG{sticks.index(rod)}"
        mesh += [f"*ELEMENT, TYPE=T3D2, ELSET={set_name}"]
        for one, other in pairwise(labels):
            first += 1
            mesh.append(f"{first}, {one}, {other}")
        mesh += ["*ELSET, ELSET=MEMBERS", set_name]
        found.water += water_on(rod, set_name)
        found.weights += [f"{set_name}, PB, 1., {rod.diameter!r}"] if rod.label else []
    for set_name, at, value in masses:
        first += 1
        mesh += [f"*ELEMENT, TYPE=MASS, ELSET={set_name}", f"{first}, {at}", f"*MASS, ELSET={set_name}", repr(value)]
    first += 1
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = tensor.tolist()
    mesh += [f"*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA{name}", f"{first}, {reference}"]
    mesh += [f"*ROTARY INERTIA, ELSET=INERTIA{name}", numbers((ixx, iyy, izz, ixy, ixz, iyz))]
    mesh += [f"*NSET, NSET=ON_{name}", *map(str, tied), f"*RIGID BODY, REF NODE={reference}, PIN NSET=ON_{name}"]
    mesh += ["*BOUNDARY", f"{held}, 1, 3"] if held and not body.holder else []
    if body.holder:
        stiffness, anchor = mass * (gravity or GRAVITY) / GIVE, first + 1
        mesh += ["*NODE", f"{anchor}, {numbers(body.pose[:3])}", f"*NSET, NSET=ON_{body.holder}", str(anchor)]
        for first, dof in enumerate((1, 2, 3), anchor + 1):
            mesh += [f"*ELEMENT, TYPE=SPRING2, ELSET=PIN{first}", f"{first}, {held}, {anchor}"]
            mesh += [f"*SPRING, ELSET=PIN{first}", f"{dof}, {dof}", repr(stiffness)]
    found.mesh += [*mesh, "*NSET, NSET=POINTS", str(reference)]
    found.weights.append(f"{name}, GRAV, {gravity!r}, 0., 0., -1.")
    return first + 1


def sticks_of(body: MoorDynBody, alone: list[MoorDynPoint]) -> list[Rod]:
    """Members of length and width 1 whose drag is CdA: of a body along its z, or one along each axis where x and y
    differ; of its points without lines."""
    x, y, z = body.drag_area
    each = [(2, x, z)] if x == y else [(axis, 0.0, area) for axis, area in enumerate(body.drag_area)]
    made = [(np.zeros(3), axis, across, along) for axis, across, along in each if across or along]
    shift = [np.array(point.place) - on_body((0.0, 0.0, 0.0), body.pose) for point in alone]
    made += [(at, 2, one.drag_area, one.drag_area) for at, one in zip(shift, alone, strict=True) if one.drag_area]
    found = []
    for at, axis, across, along in made:
        first, last = (
            tuple((on_body((part * np.eye(3)[axis]).tolist(), body.pose) + at).tolist()) for part in (-0.5, 0.5)
        )
        found.append(Rod(body.row, 0, (first, last), 1.0, 0.0, across, 0.0, 2.0 * along / math.pi, 0.0))
    return found


def water_on(rod: Rod, name: str) -> list[str]:
    """Drag and added mass of a member; those of its ends are distributed along it."""
    d, slender = rod.diameter, rod.diameter / rod.length
    along, added_along = 0.5 * rod.end_drag * slender, 2.0 / 3.0 * rod.end_added * slender
    lines = [f"{name}, FDD, 1., {d!r}, {rod.drag!r}"] if rod.drag else []
    lines += [f"{name}, FDT, 1., {d!r}, {along!r}"] if along else []
    inertia = f"{name}, FI, 1., {d!r}, {1.0 + rod.added!r}, {rod.added!r}, , {added_along!r}"
    return lines + ([inertia] if rod.added or added_along else [])


def convert(file: Path, output: Path, force: bool = False, say: Say = lambda text: None) -> None:
    """``fem import moordyn``; ``say`` receives what was taken, changed, left out and written.
    DeckError: the file cannot be understood. CommandError: the deck exists and holds something else."""
    moorings = read(file)
    chains = chains_of(moorings)
    water, bottom = water_of(moorings), bottom_of(moorings)
    types = {name: moorings.types[name] for name in used(moorings) if not sheds(moorings.types[name], water)}
    calm = (
        f"line type {name}: no vortex-induced vibration, Cl = {made.lift:g} left out: it needs a steady current alone"
        for name, made in types.items()
        if made.lift
    )
    told = account(moorings, [*water.notices, *calm])
    text = deck_text(moorings, chains, bottom, water, [*told, *places(moorings, chains)])
    for line in told:
        say(line)
    say(f"wrote {write_new(output, text.encode(), force)}")


def places(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Point of each node, for the heading of the deck."""
    found = []
    for label, nodes in nodes_of(chains).items():
        end = moorings.points[label]
        found.append(f"{end.name or f'point {label}'} ({end.kind}): node {', '.join(map(str, nodes))}")
    return found
