"""The deck of a MoorDyn system: lines laid between points, at rest, in the current, then a step for the motion.

Lines that meet in a free point, two by two, are one line of several pieces; where more meet, or where others are held
together, each has an end of its own there, and equations hold these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fem.moordyn.read import Line, Moorings, Point

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
** here coupled points get their motion: *BOUNDARY, AMPLITUDE=...
*STEP, NLGEOM, INC=1000000
*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4
<dt>, <time>
** all increments alike, but where lines snap taut (SNAP), or Newton's method needs shorter ones
*CONTROLS, TIME ERROR=OFF
*END STEP"""

MEANT = set("wtrdpth g gravity wtrdnsty rho rhow kbot kb cbot cb frictioncoefficient mu_ka mu_kt currents".split())
"""Options that have a meaning in the deck."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Lines end to end, from point to point; ``base``: label of the first node and of the first bar."""

    lines: tuple[Line, ...]
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
    """All lines, each in one chain. Labels are those of the first line times a power of ten."""
    beside: dict[int, list[Line]] = {}
    for line in moorings.lines:
        beside.setdefault(line.first, []).append(line)
        beside.setdefault(line.last, []).append(line)
    joints = {label for label, its in beside.items() if len(its) == 2 and moorings.points[label].kind == "free"}
    segments = sum(line.segments for line in moorings.lines)
    largest = max(segments + 2, *(line.label for line in moorings.lines), *moorings.points)
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


def deck_text(moorings: Moorings, chains: list[Chain], currents: list[tuple[float, ...]], notices: list[str]) -> str:
    """The deck. ``currents``: rows of z, vx, vy, vz."""
    depth = max(moorings.option("WtrDpth", default=0.0), *(-end.place[2] for end in moorings.points.values()))
    gravity = moorings.option("g", "gravity", default=9.81)
    density = moorings.option("WtrDnsty", "rho", "rhoW", default=1025.0)
    bottom = [moorings.option("kBot", "kb", default=3e6), moorings.option("cBot", "cb", default=3e5)]
    both = moorings.option("FrictionCoefficient", default=0.0)
    friction = [moorings.option("MU_KA", default=both), moorings.option("MU_KT", default=both)]
    steps = [*REST.splitlines(), *weight_lines(moorings, chains, gravity, density)]
    steps += ["*END STEP", *STREAM.splitlines(), *water_lines(moorings), "*END STEP", *MOTION.splitlines()]
    what = f"{moorings.file.name}: {len(moorings.lines)} mooring lines, from MoorDyn. SI units: m, kg, s, N"
    lines = [
        *("*HEADING", what, *(f"** {notice}" for notice in notices)),
        *("*PARAMETER", "dt = 0.05", "time = 10.", *mesh_lines(moorings, chains), *property_lines(moorings)),
        *("*AQUA", f"{-depth!r}, 0., {gravity!r}, {density!r}", *(numbers(row[1:] + row[:1]) for row in currents)),
        *(line for name in used(moorings) for line in bed_lines(moorings, name, bottom, friction)),
        *steps,
    ]
    return "".join(f"{line}\n" for line in lines)


def mesh_lines(moorings: Moorings, chains: list[Chain]) -> list[str]:
    """Ends, lines between them, sets of both, what holds the ends."""
    lines, where = ["*NODE, NSET=POINTS"], nodes_of(chains)
    for chain in chains:
        for label, end in ((chain.nodes[0], chain.points[0]), (chain.nodes[-1], chain.points[-1])):
            lines.append(f"{label}, {numbers(moorings.points[end].place)}")
    for chain in chains:
        lines.append("*NGEN, LINE=CATENARY")
        pairs = zip(chain.lines, chain.nodes, strict=False)
        lines += [f"{node}, {node + line.segments}, 1, {line.length!r}" for line, node in pairs]
    for chain in chains:
        for line, node in zip(chain.lines, chain.nodes, strict=False):
            lines += ["*ELEMENT, TYPE=T3D2", f"{node}, {node}, {node + 1}"]
            lines += [f"*ELGEN, ELSET=LINE{line.label}", f"{node}, {line.segments}"]
    for name in used(moorings):
        its = ", ".join(f"LINE{line.label}" for line in moorings.lines if line.type == name)
        lines += [f"*ELSET, ELSET={set_of(name)}", its]
    lines += ["*ELSET, ELSET=LINES", ", ".join(map(set_of, used(moorings)))]
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


def mass_lines(end: Point, node: int) -> list[str]:
    """Of a free point with a mass."""
    if end.kind != "free" or not end.mass:
        return []
    name = f"POINT{end.label}"
    return [f"*ELEMENT, TYPE=MASS, ELSET={name}", f"{end.label}, {node}", f"*MASS, ELSET={name}", repr(end.mass)]


def property_lines(moorings: Moorings) -> list[str]:
    """A material for each line, area 1: damping as a fraction of critical damping follows the length of its bars."""
    lines = []
    for line in moorings.lines:
        made, name = moorings.types[line.type], f"LINE{line.label}"
        lines += [f"*MATERIAL, NAME={name}", "*ELASTIC", repr(made.stiffness)]
        lines += ["*DENSITY", repr(made.mass), "*NO COMPRESSION"]
        critical = line.length / line.segments * math.sqrt(made.mass / made.stiffness)
        beta = made.damping / made.stiffness if made.damping >= 0.0 else -made.damping * critical
        lines += [f"*DAMPING, BETA={beta:.9g}"] if beta else []
        lines += [f"*SOLID SECTION, ELSET={name}, MATERIAL={name}, STRAIN=ENGINEERING", "1."]
    return lines


def bed_lines(moorings: Moorings, name: str, bottom: list[float], friction: list[float]) -> list[str]:
    """The bottom below the lines of a type."""
    lines = [f"*SEABED, ELSET={set_of(name)}", numbers([*bottom, moorings.types[name].diameter])]
    return lines + ([numbers(friction)] if any(friction) else [])


def weight_lines(moorings: Moorings, chains: list[Chain], gravity: float, density: float) -> list[str]:
    """Of lines and points, less what the water carries."""
    lines = [f"LINES, GRAV, {gravity!r}, 0., 0., -1."]
    lines += [f"{set_of(name)}, PB, 1., {moorings.types[name].diameter!r}" for name in used(moorings)]
    where = nodes_of(chains)
    free = [end for end in moorings.points.values() if end.kind == "free" and end.label in where]
    lines += [f"POINT{end.label}, GRAV, {gravity!r}, 0., 0., -1." for end in free if end.mass]
    loads = []
    for end in free:
        force = end.force[0], end.force[1], end.force[2] + density * gravity * end.volume
        loads += [f"{where[end.label][0]}, {dof}, {part!r}" for dof, part in enumerate(force, 1) if part]
    return lines + (["*CLOAD", *loads] if loads else [])


def water_lines(moorings: Moorings) -> list[str]:
    """Drag and added mass of each type."""
    lines: list[str] = []
    for name in used(moorings):
        made = moorings.types[name]
        d, target = repr(made.diameter), set_of(name)
        lines += [f"{target}, FDD, 1., {d}, {made.drag!r}"] if made.drag else []
        lines += [f"{target}, FDT, 1., {d}, {made.axial_drag!r}"] if made.axial_drag else []
        if made.added or made.axial_added:
            lines.append(f"{target}, FI, 1., {d}, {1.0 + made.added!r}, {made.added!r}, , {made.axial_added!r}")
    return ["*DLOAD", *lines] if lines else []


def nodes_of(chains: list[Chain]) -> dict[int, list[int]]:
    """Point -> its nodes, one for each chain that it ends, or is in."""
    where: dict[int, list[int]] = {}
    for chain in chains:
        for label, end in zip(chain.nodes, chain.points, strict=True):
            where.setdefault(end, []).append(label)
    return where


def used(moorings: Moorings) -> list[str]:
    """Line types that there are lines of."""
    return list(dict.fromkeys(line.type for line in moorings.lines))


def set_of(name: str) -> str:
    """Element set of a line type."""
    return "TYPE_" + re.sub(r"\W", "_", name).upper()


def numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(float(value)) for value in values)


def in_rows(labels: list[int]) -> list[str]:
    """Lines of up to 16 labels."""
    return [", ".join(map(str, labels[start : start + 16])) for start in range(0, len(labels), 16)]
