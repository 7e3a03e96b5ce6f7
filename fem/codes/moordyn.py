"""MoorDyn v2: an input file of lines and points, and a Python script that moves its coupled points and writes a table.

Bars that the deck lays at rest become lines of many segments; where a deck begins with motion each bar is a line of one
segment between two points, for MoorDyn starts a line of more from its own catenary. Lines do not push. Height is z.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem.codes.features import Writing
from fem.codes.twin import Member, Stage, Twin, twin_of
from fem.model import Model
from fem.model.curves import Constant

CAN = {
    "bars (T3D2, T2D2)": "lines, that do not push",
    "cables (NO COMPRESSION)": "lines",
    "mass of bars: LUMPED": "lines",
    "mass of bars: CONSISTENT": "points, one end held",
    "mass of bars: ONE POINT": "points, one end held",
    "point masses (MASS)": "points",
    "rest lengths, laid lines": "UnstrLen",
    "initial stress": "UnstrLen",
    "damping BETA": "BA",
    "axial springs (SPRINGA)": "lines without mass",
    "weight, body forces": "g, along -z",
    "moved supports": "coupled points, moved by the script",
    "static steps": "start at rest: catenary, relaxation",
    "dynamic steps": "RK4, in steps of its own",
    "weight in water, drag, added mass": "Diam, Cd, Ca, CdAx, CaAx",
    "seabed": "kbot, cbot",
}
COURANT = 0.5
"""MoorDyn's step times the highest frequency."""
DRY = 1e-3
"""Diameter of lines that no water touches."""
RELAXED = 60.0
"""Longest time in which MoorDyn may come to rest before the motion begins."""
HEAD = """--- MoorDyn ---
{heading}: written by fem export from {source}; units are those of the deck
{notes}--- LINE TYPES ---
Name Diam Mass/m EA BA/-zeta EI Cd Ca CdAx CaAx
(name) (m) (kg/m) (N) (N-s/-) (N-m^2) (-) (-) (-) (-)
{types}
--- POINTS ---
Node Type X Y Z M V CdA CA
(-) (-) (m) (m) (m) (kg) (m^3) (m^2) (-)
{points}
--- LINES ---
ID LineType A B UnstrLen NumSegs Outputs
(-) (-) (-) (-) (m) (-) (-)
{lines}
--- OPTIONS ---
{options}
--- OUTPUTS ---
FairTen1
--- END ---
"""
SCRIPT = '''"""{heading}

Written by fem export from {source}; units are those of the deck. Run it: python {name}
It needs the package moordyn, reads {file}, and writes {table}.
"""

import csv

import moordyn

LEVEL = {level}
# label of a printed node: (point, 0), or (line, number of its node from 0), and its place in the deck
NODES = {nodes}
# label of a printed element: line, number of its first node, EA, BA, length of the segment
ELEMENTS = {elements}
# coupled points, in the order of the file: time, then x, y, z of each
START, DT, COUNT, EVERY = {start}, {dt}, {count}, {every}
PLACES = {places}


def place_of(what, number, k):
    if k is None:
        point = moordyn.GetPoint(system, number)
        return moordyn.GetPointPos(point), moordyn.GetPointVel(point)
    line = moordyn.GetLine(system, number)
    return moordyn.GetLineNodePos(line, k), moordyn.GetLineNodeVel(line, k)


def at(time):
    """Where the coupled points are, straight between the rows."""
    if len(PLACES) < 2 or time <= PLACES[0][0]:
        return list(PLACES[0][1:])
    k = min(len(PLACES) - 2, max(0, int((time - PLACES[0][0]) / (PLACES[1][0] - PLACES[0][0]) + 1e-9)))
    part = (time - PLACES[k][0]) / (PLACES[k + 1][0] - PLACES[k][0])
    return [a + (b - a) * part for a, b in zip(PLACES[k][1:], PLACES[k + 1][1:])]


def row(time):
    values = [time]
    for kind, number, k, x, y, z in NODES.values():
        now, _ = place_of(kind, number, k)
        values += [now[0] - x, now[1] - y, now[2] + LEVEL - z]
    for number, k, stiff, damping, length in ELEMENTS.values():
        (a, va), (b, vb) = place_of("line", number, k), place_of("line", number, k + 1)
        d, rate = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(va, vb)]
        now = sum(x * x for x in d) ** 0.5
        strain = now / length - 1.0
        values.append(stiff * max(strain, 0.0) + damping * sum(x * y for x, y in zip(d, rate)) / now / length)
    return values


system = moordyn.Create("{file}")
moved = at(START)
if moordyn.{init}(system, moved, [0.0] * len(moved)):
    raise SystemExit("MoorDyn refuses the file: see the lines above")
with open("{table}", "w", newline="") as stream:
    write = csv.writer(stream)
    write.writerow(["time", *(f"U{{axis}}_n{{node}}" for node in NODES for axis in (1, 2, 3)),
                    *(f"T_e{{element}}" for element in ELEMENTS)])  # fmt: skip
    write.writerow(row(START))
    for k in range(COUNT):
        now, then = at(START + k * DT), at(START + (k + 1) * DT)
        rates = [(b - a) / DT for a, b in zip(now, then)]
        moordyn.Step(system, now, rates, k * DT, DT)
        found = row(START + (k + 1) * DT)
        if any(value != value for value in found):
            raise SystemExit(f"MoorDyn's motion is not a number after time {{START + k * DT:g}}")
        if (k + 1) % EVERY == 0 or k + 1 == COUNT:
            write.writerow(found)
moordyn.Close(system)
'''


class Kind(NamedTuple):
    """A line type; drag and added mass by its diameter."""

    diameter: float
    mass: float
    stiffness: float
    damping: float
    drag: float
    added: float
    axial_drag: float
    axial_added: float


class Chain(NamedTuple):
    """A line: its type, nodes (indices) from end to end, members, and the unstretched length of a segment."""

    kind: Kind
    nodes: tuple[int, ...]
    members: tuple[Member, ...]
    segment: float


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of what is written, and the notes."""
    writing = Writing("MoorDyn", CAN, model)
    twin = twin_of(writing)
    found = written(twin, writing)
    writing.close()
    return found, writing.notes


def written(twin: Twin, writing: Writing) -> dict[str, str]:
    model = twin.model
    stem = Path(model.source or "model").stem
    moving = [stage for stage in twin.stages if stage.dynamic is not None]
    at_rest = twin.stages[0].dynamic is None
    check(twin, moving, writing)
    writing.close()
    kinds = kinds_of(twin, writing)
    chains = chains_of(twin, kinds, at_rest)
    names = {kind: f"type{number}" for number, kind in enumerate(dict.fromkeys(chain.kind for chain in chains), 1)}
    level = model.water.level if model.water else 0.0
    held = twin.fixed.reshape(-1, 3)
    moved = {dof // 3 for stage in moving for dof in stage.held if not twin.fixed[dof]}
    first = start_of(twin, moving)
    own_mass = points_of_mass(twin)
    ends = list(dict.fromkeys(node for chain in chains for node in (chain.nodes[0], chain.nodes[-1])))
    coupled = [node for node in ends if node in moved]
    number_of = {node: number for number, node in enumerate(ends, 1)}
    points = []
    for node, number in number_of.items():
        kind = "Coupled" if node in moved else "Fixed" if held[node].all() else "Free"
        x, y, z = first[node]
        points.append(f"{number} {kind} {x!r} {y!r} {z - level!r} {own_mass[node]!r} 0 0 0 # node {twin.label(node)}")
    lines = []
    for number, chain in enumerate(chains, 1):
        whole = chain.segment * len(chain.members)
        which = f"{names[chain.kind]} {number_of[chain.nodes[0]]} {number_of[chain.nodes[-1]]}"
        lines.append(f"{number} {which} {whole!r} {len(chain.members)} - # element {chain.members[0].label} and on")
    types = [" ".join((name, *map(repr, (*kind[:4], 0.0, *kind[4:])))) for kind, name in names.items()]
    for kind, name in names.items():
        its = next(chain.members[0].label for chain in chains if chain.kind == kind)
        sets = [each for each, members in model.mesh.element_sets.items() if its in model.mesh.element_labels[members]]
        writing.note(f"{name}: element sets {', '.join(sets) or 'none'}")
    relaxes = at_rest and any(kind.drag for kind in names)
    file = f"{stem}_moordyn.txt"
    about = {"heading": " ".join(model.heading).strip() or stem, "source": Path(model.source).name or "a model"}
    text = HEAD.format(
        **about,
        notes="".join(f"# {note}\n" for note in writing.notes),
        types="\n".join(types),
        points="\n".join(points),
        lines="\n".join(lines),
        options="\n".join(options_of(twin, kinds, moving, relaxes)),
    )
    stages = moving or twin.stages[-1:]
    dt = min(stage.dt for stage in stages)
    start, count = (stages[0].start, max(1, round((twin.end - stages[0].start) / dt))) if moving else (twin.end, 0)
    where: dict[int, tuple[str, int, int | None]] = {
        node: ("point", number, None) for node, number in number_of.items()
    }
    segments = {}
    for number, chain in enumerate(chains, 1):
        for k, node in enumerate(chain.nodes):
            where.setdefault(node, ("line", number, k))
        for k, member in enumerate(chain.members):
            segments[member.label] = (number, k, chain.kind.stiffness, chain.kind.damping, chain.segment)
    index = {twin.label(node): node for node in range(len(held))}
    script = SCRIPT.format(
        **about,
        name=f"{stem}_moordyn.py",
        file=file,
        table=f"{stem}_moordyn.csv",
        level=level,
        nodes={
            label: (*where[index[label]], *twin.system.coordinates[index[label]].tolist())
            for label in twin.nodes
            if index[label] in where
        },
        elements={label: segments[label] for label in twin.elements if label in segments},
        start=start,
        dt=dt,
        count=count,
        every=stages[-1].every,
        places=places_of(twin, moving, coupled, level, start),
        init="Init" if at_rest else "Init_NoIC",
    )
    return {"_moordyn.txt": text, "_moordyn.py": script}


def check(twin: Twin, moving: list[Stage], writing: Writing) -> None:
    """What MoorDyn cannot have: other loads than weight, other starts than rest, nodes without mass."""
    held = twin.fixed.reshape(-1, 3).copy()
    for stage in twin.stages:
        for dof in stage.held:
            held[dof // 3, dof % 3] = True
    free = ~held.all(axis=1)
    if moving and any(stage.dynamic is None and stage.start > moving[0].start for stage in twin.stages):
        writing.refuse(
            "STATIC", "", "a static step after a dynamic one: MoorDyn comes to rest at the start only", "end before it"
        )
    partly = free & held.any(axis=1)
    flat = [axis for axis in range(3) if held[free][:, axis].all() and np.ptp(twin.system.coordinates[:, axis]) == 0.0]
    if (held[partly].sum(axis=1) > len(flat)).any():
        writing.refuse(
            "BOUNDARY", "", "a node is held in some directions only: MoorDyn's points are free or not", "hold all three"
        )
    elif partly.any():
        writing.note("nodes held across their plane only are free: nothing moves them out of it")
    if (
        twin.mass[free & (np.isin(np.arange(len(free)), [n for m in twin.members for n in (m.first, m.last)]))] <= 0.0
    ).any():
        writing.refuse(
            "DENSITY|MASS", "", "a free node has no mass: MoorDyn's points need one", "give it a small *MASS"
        )
    if any(each.plus != 1.0 or each.minus != 0.0 for each in twin.members if each.stiffness):
        writing.note("bars: MoorDyn's lines do not push, the deck's bars do")
    if any(each.table for each in twin.members):
        writing.refuse(
            "SPRING", "NONLINEAR", "tables of springs: MoorDyn reads them from files of another form", "use *ELASTIC"
        )


def gravity_of(twin: Twin, moving: list[Stage], writing: Writing | None = None) -> float:
    """The one acceleration that gives all free nodes their loads."""
    stage = (moving or twin.stages[-1:])[-1]
    found = set[float]()
    for node in range(len(twin.mass)):
        own = [stage.loads.get(3 * node + axis) for axis in range(3)]
        if all(3 * node + axis in stage.held for axis in range(3)) or not twin.mass[node]:
            continue
        down = -own[2].values[-1] / float(twin.mass[node]) if own[2] else 0.0
        steady = not moving or all(each is None or each.is_constant for each in own)
        if own[0] or own[1] or not steady:
            found.add(math.nan)
        found.add(float(f"{down:.9g}"))
    if writing and (len(found) > 1 or math.nan in found):
        writing.refuse("DLOAD|CLOAD", "", "loads other than one weight along -z: MoorDyn has none", "leave them out")
    return max(found, default=0.0)


def points_of_mass(twin: Twin) -> list[float]:
    """Mass of each node beside that of the lines."""
    mass = twin.mass.copy()
    for each in twin.members:
        if not each.off:
            mass[[each.first, each.last]] -= 0.5 * each.mass
    mass[np.abs(mass) < 1e-12 * twin.mass.max(initial=0.0)] = 0.0
    held = twin.fixed.reshape(-1, 3).all(axis=1)
    return [0.0 if still else float(value) for value, still in zip(mass, held, strict=True)]


def kinds_of(twin: Twin, writing: Writing) -> dict[int, Kind]:
    """Line type of each member, by label; lengths are in ``chains_of``."""
    model, system = twin.model, twin.system
    gravity_of(twin, [stage for stage in twin.stages if stage.dynamic], writing)
    columns = {kind: np.zeros((len(system.family), 4)) for kind in ("PB", "FDD", "FDT", "FI")}
    for flow in twin.stages[-1].environment.flows:
        load = flow.load
        if load.is_current or load.follows != 1.0 or isinstance(load.coefficient, str) or load.exponent != 2.0:
            writing.refuse(
                "DLOAD",
                load.kind,
                f"{load.kind} in this form: MoorDyn has drag by the square of the speed",
                "leave it out",
            )
            continue
        if any(not isinstance(stream, Constant) for stream in flow.streams) or any(
            not isinstance(case.curve, Constant) for case in flow.cases
        ):
            writing.refuse(
                "DLOAD",
                load.kind,
                f"{load.kind} that changes over time: MoorDyn's drag does not",
                "leave out its amplitude",
            )
            continue
        on = sum(case.field[:, 0] for case in flow.cases)
        columns[load.kind] += np.outer(
            on, (load.diameter, float(load.coefficient), load.added, load.added_along or 0.0)
        )
    writing.close()
    index = {label: place for place, label in enumerate(model.mesh.element_labels.tolist())}
    found = {}
    for each in twin.members:
        (d, *_), (dd, cd, *_), (dt, ct, *_), (di, _, ca, cax) = (columns[kind][index[each.label]] for kind in columns)
        if not d and (dd or di) and model.water:
            writing.refuse(
                "DLOAD", "FDD", "drag or added mass without PB: MoorDyn's lines displace water", "add a PB load"
            )
            writing.close()
        diameter = d or DRY
        mass = 0.0 if each.off else each.mass / each.length0
        numbers = (diameter, mass, each.stiffness * each.length0, each.damping * each.length0)
        fluid = (cd * dd / diameter, ca * (di / diameter) ** 2, ct * dt / diameter, cax * (di / diameter) ** 2)
        found[each.label] = Kind(*(float(f"{value:.12g}") for value in (*numbers, *fluid)))
    return found


def segment_of(member: Member) -> float:
    """Unstretched length of a segment: without the tension that the deck gives at the start."""
    return (
        member.length0 / (1.0 + member.pretension / (member.stiffness * member.length0))
        if member.stiffness
        else member.length0
    )


def chains_of(twin: Twin, kinds: dict[int, Kind], joins: bool) -> list[Chain]:
    """Lines: equal members end to end where the deck starts at rest, else each member by itself."""
    beside: dict[int, list[Member]] = {}
    for member in twin.members:
        beside.setdefault(member.first, []).append(member)
        beside.setdefault(member.last, []).append(member)
    mass = points_of_mass(twin)
    held = {dof // 3 for stage in twin.stages for dof in stage.held if not twin.fixed[dof]}
    held |= set(twin.fixed.reshape(-1, 3).all(axis=1).nonzero()[0].tolist())

    def key(member: Member) -> tuple[Kind, float]:
        return kinds[member.label], float(f"{segment_of(member):.9g}")

    def joined(node: int) -> bool:
        its = beside[node]
        return joins and len(its) == 2 and key(its[0]) == key(its[1]) and not mass[node] and node not in held

    left = {member.label: member for member in twin.members}
    found = []
    for begin in sorted(twin.members, key=lambda m: joined(m.first) and joined(m.last)):
        if begin.label not in left:
            continue
        node = begin.last if joined(begin.first) and not joined(begin.last) else begin.first
        member, nodes, members = begin, [node], list[Member]()
        while member.label in left:
            del left[member.label]
            members.append(member)
            node = member.last if nodes[-1] == member.first else member.first
            nodes.append(node)
            others = [each for each in beside[node] if each.label in left]
            if not joined(node) or not others:
                break
            member = others[0]
        found.append(Chain(kinds[members[0].label], tuple(nodes), tuple(members), segment_of(members[0])))
    return found


def start_of(twin: Twin, moving: list[Stage]) -> list[list[float]]:
    """(n, 3) places at the start of the motion: held nodes where their supports are then."""
    place = (twin.system.coordinates + twin.u.reshape(-1, 3)).copy()
    for stage in twin.stages:
        if stage.dynamic is None:
            for dof, series in stage.held.items():
                place[dof // 3, dof % 3] = twin.system.coordinates[dof // 3, dof % 3] + series.values[-1]
        elif stage is moving[0]:
            for dof, series in stage.held.items():
                place[dof // 3, dof % 3] = twin.system.coordinates[dof // 3, dof % 3] + series.values[0]
    return [[float(x) for x in row] for row in place]


def places_of(twin: Twin, moving: list[Stage], coupled: list[int], level: float, start: float) -> str:
    """Rows of time and places of the coupled points."""
    if not coupled:
        return f"[({start!r},)]"
    rows = []
    for stage in moving:
        own = np.linspace(stage.start, stage.start + stage.period, stage.count + 1)
        columns = [own]
        for node in coupled:
            for axis in range(3):
                series = stage.held[3 * node + axis]
                height = twin.system.coordinates[node, axis] - (level if axis == 2 else 0.0)
                columns.append(height + np.interp(own, series.times, series.values))
        rows += np.column_stack(columns)[1 if rows else 0 :].tolist()
    return "[\n" + "".join(f"    {tuple(row)!r},\n" for row in rows) + "]"


def options_of(twin: Twin, kinds: dict[int, Kind], moving: list[Stage], relaxes: bool) -> list[str]:
    """g, water, bottom, and a step below the highest frequency of springs, dashpots and bottom."""
    model = twin.model
    water, beds = model.water, model.seabeds
    mass = twin.mass.copy()
    stiff, damped = np.zeros((2, len(mass)))
    for each in twin.members:
        kind = kinds[each.label]
        water_mass = 0.125 * math.pi * kind.diameter**2 * each.length0 * kind.added * (water.density if water else 0.0)
        for node in (each.first, each.last):
            stiff[node] += 2.0 * each.stiffness + (
                0.5 * beds[0].stiffness * beds[0].width * each.length0 if beds else 0.0
            )
            damped[node] += 2.0 * each.damping
            mass[node] += water_mass
    inside = mass > 0.0
    rate = max(
        float(np.sqrt(stiff[inside] / mass[inside]).max(initial=1.0)),
        float((damped[inside] / mass[inside]).max(initial=0.0)),
    )
    gravity = gravity_of(twin, moving)
    found = [f"{float(f'{COURANT / rate:.3g}')!r} dtM", "RK4 tScheme", f"{gravity!r} g"]
    depth = water.level - beds[0].elevation if water and beds else -beds[0].elevation if beds else 1e5
    found += [
        f"{water.density if water and any(k.drag or k.added or k.diameter != DRY for k in kinds.values()) else 0.0!r} WtrDnsty",
        f"{depth!r} WtrDpth",
    ]
    if beds:
        width = beds[0].width / next(iter(kinds.values())).diameter
        found += [f"{beds[0].stiffness * width!r} kbot", f"{beds[0].damping * width!r} cbot"]
        found += [f"{beds[0].axial!r} FrictionCoefficient"] if beds[0].axial else []
    else:
        found += ["0 kbot", "0 cbot"]
    return [*found, *([f"{RELAXED!r} TmaxIC", "1 dtIC", "1e-4 threshIC"] if relaxes else ["0 TmaxIC"]), "0 writeLog"]
