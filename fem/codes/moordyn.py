"""MoorDyn v2: an input file of lines and points, and a Python script that moves its coupled points and writes a table.

Bars laid at rest by the deck become lines of many segments; if a deck begins with motion, each bar is a line of one
segment between two points, because MoorDyn starts longer lines from its own catenary. Lines do not push. Height is z.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fem.arrays import Floats
from fem.codes.export import Writing, comments, source_of, stem_of
from fem.codes.opensees import assignments, body_of
from fem.codes.twin import Member, Stage, Twin, twin_of
from fem.model import Model
from fem.model.curves import Constant, evaluate

COURANT = 0.5
"""Product of MoorDyn's time step and the highest frequency."""
DRY = 1e-3
"""Diameter of lines without loads of water."""
REST = ("600 TmaxIC", "0 threshIC")
"""MoorDyn's static solution ends when its residual *changes* by less than ``threshIC``: at once if a free point falls.
With 0 it uses all its steps, and the best state of them. With 0 TmaxIC free points stay at their given places."""
MOTION = ("0 TmaxIC",)
"""Without static solution, because it would release points at once."""
FILE = """--- MoorDyn ---
# {heading}: written by fem export from {source}; units are those of the deck
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
NEEDS = (
    "Run it with Python; it needs the package moordyn. T is that of the segments; FairTen, in MoorDyn's own output, is "
    "the force |RF| on the point."
)
HEAD = """{comments}

import csv
from bisect import bisect_right

import moordyn

"""
MEANINGS = {
    "LEVEL": "height of the still water in the deck; it is 0 in MoorDyn",
    "NODES": "label of a printed node: (line, number of its node from 0) or (point, None), its place in the deck",
    "ELEMENTS": "label of a printed element: line, number of its first node, EA, BA, length of the segment",
    "PLACES": "coupled points, in the order of the file: time, then x, y, z of each",
}


class WrittenType(NamedTuple):
    """A line type; drag and added mass by its diameter."""

    diameter: float
    mass: float
    stiffness: float
    damping: float
    drag: float
    added: float
    axial_drag: float
    axial_added: float


class WrittenLine(NamedTuple):
    """A line: its type, nodes (indices) from end to end, members, and the unstretched length of a segment."""

    kind: WrittenType
    nodes: tuple[int, ...]
    members: tuple[Member, ...]
    segment: float


def files_of(model: Model, in_pieces: bool = False) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of what is written, and the notes. in_pieces: each bar is a line, whatever the deck begins with"""
    writing = Writing("MoorDyn", model)
    twin = twin_of(writing)
    moving = [stage for stage in twin.stages if stage.dynamic]
    at_rest = twin.stages[0].dynamic is None
    check(twin, moving, writing)
    gravity = gravity_of(twin, writing)
    kinds = kinds_of(twin, writing)
    writing.close()
    bed = bottom_of(twin, kinds, writing)
    masses = twin.mass_beside(0.5, of_off=False)
    chains = chains_of(twin, kinds, set(masses), at_rest and not in_pieces)
    names = {kind: f"type{number}" for number, kind in enumerate(dict.fromkeys(chain.kind for chain in chains), 1)}
    for kind, name in names.items():
        own = next(chain.members[0].label for chain in chains if chain.kind == kind)
        sets = [each for each, its in model.mesh.element_sets.items() if own in model.mesh.element_labels[its]]
        writing.note(f"{name}: element sets {', '.join(sets) or 'none'}")
    ends = dict.fromkeys(node for chain in chains for node in (chain.nodes[0], chain.nodes[-1]))
    numbers = {node: number for number, node in enumerate(ends, 1)}
    coupled = [node for node in numbers if any(is_moved(twin, stage, node) for stage in moving)]
    level = model.water.level if model.water else 0.0
    places = start_of(twin, moving)
    points = []
    for node, number in numbers.items():
        is_free = twin.free[node] and not all(3 * node + axis in twin.stages[-1].held for axis in range(3))
        kind_of = "Coupled" if node in coupled else "Free" if is_free else "Fixed"
        x, y, z = places[node]
        mass = masses.get(node, 0.0) if kind_of == "Free" else 0.0
        points.append(f"{number} {kind_of} {x!r} {y!r} {z - level!r} {mass!r} 0 0 0 # node {twin.label(node)}")
    lines = [
        f"{number} {names[chain.kind]} {numbers[chain.nodes[0]]} {numbers[chain.nodes[-1]]} "
        f"{chain.segment * len(chain.members)!r} {len(chain.members)} - # from element {chain.members[0].label}"
        for number, chain in enumerate(chains, 1)
    ]
    stem = stem_of(model)
    options = [*options_of(twin, kinds, bed), f"{gravity!r} g", "RK4 tScheme", "0 writeLog"]
    is_released = any(stage.held.keys() - twin.stages[-1].held.keys() for stage in twin.stages if stage.dynamic is None)
    options += REST if at_rest and not is_released else MOTION
    text = FILE.format(
        heading=" ".join(model.heading).strip() or stem,
        source=source_of(model),
        notes="".join(f"# {note}\n" for note in writing.notes),
        types="\n".join(" ".join((name, *map(repr, (*kind[:4], 0.0, *kind[4:])))) for kind, name in names.items()),
        points="\n".join(points),
        lines="\n".join(lines),
        options="\n".join(options),
    )
    where: dict[int, tuple[str, int, int | None]] = {node: ("point", number, None) for node, number in numbers.items()}
    segments = {}
    for number, chain in enumerate(chains, 1):
        for k, node in enumerate(chain.nodes):
            where.setdefault(node, ("line", number, k))
        for k, member in enumerate(chain.members):
            segments[member.label] = (number, k, chain.kind.stiffness, chain.kind.damping, chain.segment)
    printed = [(label, int(model.mesh.nodes_of(label)[0])) for label in twin.nodes]
    start = moving[0].start if moving else twin.stages[-1].end
    dt = min((stage.dt for stage in moving), default=1.0)
    tables = {
        "FILE": f"{stem}_moordyn.txt",
        "TABLE": f"{stem}_moordyn.csv",
        "BEGIN": "Init" if at_rest else "Init_NoIC",
        "LEVEL": level,
        "NODES": {label: (*where[n], *twin.system.coordinates[n].tolist()) for label, n in printed if n in where},
        "ELEMENTS": {label: segments[label] for label in twin.elements},
        "START": start,
        "DT": dt,
        "END": twin.stages[-1].end,
        "EVERY": twin.stages[-1].every,
        "PLACES": places_of(twin, moving, coupled, level),
    }
    script = (
        HEAD.format(comments="\n".join(comments(model, NEEDS))) + assignments(tables, MEANINGS) + body_of("moordyn")
    )
    return {"_moordyn.txt": text, "_moordyn.py": script}, writing.notes


def check(twin: Twin, moving: list[Stage], writing: Writing) -> None:
    """Refuses initial states other than rest, nodes without mass or partly supported, springs with tables."""
    held = twin.fixed.copy()
    for stage in twin.stages:
        held[np.divmod(list(stage.held), 3)] = True
    partly = ~held.all(axis=1) & held.any(axis=1)
    beside = np.zeros(len(held), np.bool_)
    beside[[node for m in twin.members for node in (m.first, m.last)]] = True
    pushed = {dof % 3 for stage in twin.stages for dof, series in stage.loads.items() if any(series.values)}
    pushed |= {2} if any(stage.environment.flows for stage in twin.stages) else set()
    planes = twin.fixed[beside].all(axis=0) & (np.ptp(twin.system.coordinates[beside], axis=0) == 0.0)
    flat = [axis for axis in range(3) if planes[axis] and axis not in pushed]
    if any(stage.held.keys() != moving[0].held.keys() for stage in moving):
        what = "a support begins or ends during the motion: MoorDyn's points stay free or not"
        writing.refuse("BOUNDARY", "", what, "release it where the motion begins")
    if moving and any(stage.dynamic is None and stage.start > moving[0].start for stage in twin.stages):
        writing.refuse("STATIC", "", "a static step after a dynamic one: MoorDyn rests at the start only", "end there")
    if (held[partly].sum(axis=1) > len(flat)).any():
        what = "a node is held in some directions: MoorDyn's points are free or not"
        writing.refuse("BOUNDARY", "", what, "hold all")
    elif partly.any():
        writing.note("nodes that are held across their plane only are free: nothing moves them out of it")
    if (twin.mass[beside & ~held.all(axis=1)] <= 0.0).any():
        message = "a free node has no mass: MoorDyn's points need one"
        writing.refuse("DENSITY|MASS", "", message, "give it a small *MASS")
    if any(bed.axial for bed in twin.model.seabeds):
        writing.note("friction: MoorDyn's is a damper up to mu W, FricDamp, which creeps where the deck's holds")
    if any(m.off for m in twin.members) and any(stage.environment.flows for stage in twin.stages):
        what = "the mass of bars is not half at each end: the g that gives MoorDyn their weight acts on buoyancy, too"
        writing.refuse("SOLID SECTION", "CONSISTENT|ONE POINT", what, "use MASS=LUMPED")
    if any(m.plus != 1.0 or m.minus != 0.0 for m in twin.members):
        writing.note("MoorDyn's lines do not push; the deck's bars do")
    writing.close()


def is_moved(twin: Twin, stage: Stage, node: int) -> bool:
    """A step moves a node that it holds, in some direction."""
    dofs = range(3 * node, 3 * node + 3)
    return all(dof in stage.held for dof in dofs) and any(dof in twin.moved(stage) for dof in dofs)


def acting(twin: Twin) -> tuple[Stage, ...]:
    """Steps whose loads MoorDyn has at once: the static one at whose end the motion begins, and those of the motion."""
    rests = [place for place, stage in enumerate(twin.stages) if stage.dynamic is None]
    return twin.stages[max(rests, default=0) :]


def gravity_of(twin: Twin, writing: Writing) -> float:
    """The common acceleration along -z that corresponds to the loads of all free nodes, in all steps that act."""
    found = set[float]()
    for stage in acting(twin):
        for node in (twin.free & (twin.mass > 0.0)).nonzero()[0].tolist():
            across, other, down = (stage.loads.get(3 * node + axis) for axis in range(3))
            is_steady = stage.dynamic is None or down is None or down.is_constant
            is_weight = across is None and other is None and is_steady
            pull = -down.values[-1] / float(twin.mass[node]) if down else 0.0
            found |= {float(f"{pull:.9g}") if is_weight else math.nan}
    if len(found) > 1 or not all(map(math.isfinite, found)):
        what = "loads other than one weight along -z, at the end of rest and in motion: MoorDyn has none"
        writing.refuse("CLOAD|DLOAD", "", what, "leave them out")
    return max(found, default=0.0)


KINDS = ("PB", "FDD", "FDT", "FI")


def water_of(twin: Twin, stage: Stage, writing: Writing) -> dict[str, Floats]:
    """Kind of load -> (elements, 4) diameter, coefficients and those of added mass; at the end of a static step."""
    fields = {kind: np.zeros((len(twin.system.family), 4)) for kind in KINDS}
    for flow in stage.environment.flows:
        load, curves = flow.load, [*flow.streams, *(case.curve for case in flow.cases)]
        is_plain = not isinstance(load.coefficient, str) and load.follows == 1.0 and load.exponent == 2.0
        is_steady = stage.dynamic is None or all(isinstance(curve, Constant) for curve in curves)
        if not is_plain or load.is_current or not is_steady:
            message = f"{load.kind} in this form: MoorDyn's loads of water are steady, drag by the square of the speed"
            writing.refuse("DLOAD", load.kind, message, "leave it out in both codes")
            continue
        numbers = load.diameter, float(load.coefficient), load.added, load.added_along or 0.0
        factors = [float(evaluate(case.curve, np.array([stage.end]))[0]) for case in flow.cases]
        field = sum(factor * case.field[:, 0] for factor, case in zip(factors, flow.cases, strict=True))
        fields[load.kind] += np.outer(field, numbers)
    return fields


def kinds_of(twin: Twin, writing: Writing) -> dict[int, WrittenType]:
    """Line type of each member, by label."""
    *others, last = acting(twin)
    fields = water_of(twin, last, writing)
    for stage in others:
        own = water_of(twin, stage, writing)
        for kind in KINDS if stage.dynamic else KINDS[:1]:  # at rest in still water there is buoyancy only
            if not np.allclose(own[kind], fields[kind], rtol=1e-12, atol=0.0):
                message = f"{kind} that changes from step to step: MoorDyn's loads of water are steady"
                writing.refuse("DLOAD", kind, message, "let it act in all steps")
    index = {label: place for place, label in enumerate(twin.model.mesh.element_labels.tolist())}
    found = {}
    for m in twin.members:
        rows = [of_kind[index[m.label]].tolist() for of_kind in fields.values()]
        (d, *_), (dd, cd, *_), (dt, ct, *_), (di, _, ca, cax) = rows
        if not d and (dd or dt or di):
            writing.refuse("DLOAD", "FDD|FDT|FI", "drag without PB: MoorDyn's lines displace water", "add a PB load")
            return {}
        length = segment_of(m)  # EA, BA and mass of the line are over it, not over the natural length of the deck
        d = (d or DRY) * (math.sqrt(m.length0 / length) if d else 1.0)
        numbers = d, 0.0 if m.off else m.mass / length, m.stiffness * length, m.damping * length
        water = cd * dd / d, ca * (di / d) ** 2, ct * dt / d, cax * (di / d) ** 2
        found[m.label] = WrittenType(*(float(f"{value:.12g}") for value in (*numbers, *water)))
    return found


def segment_of(member: Member) -> float:
    """Unstretched length of a segment; its elongation to the deck's length gives the initial tension."""
    return member.length0 - (member.pretension / member.stiffness if member.stiffness else 0.0)


def chains_of(twin: Twin, kinds: dict[int, WrittenType], heavy: set[int], joins: bool) -> list[WrittenLine]:
    """Lines: equal members in a row if the deck starts at rest, else each member by itself."""
    beside: dict[int, list[Member]] = {}
    for member in twin.members:
        beside.setdefault(member.first, []).append(member)
        beside.setdefault(member.last, []).append(member)
    ends = heavy | set((~twin.free).nonzero()[0].tolist())
    ends |= {dof // 3 for stage in twin.stages for dof in twin.moved(stage)}
    keys = {member.label: (kinds[member.label], f"{segment_of(member):.9g}") for member in twin.members}
    pairs = {node: its for node, its in beside.items() if joins and len(its) == 2 and node not in ends}
    joints = {node for node, (one, other) in pairs.items() if keys[one.label] == keys[other.label]}
    left = {member.label for member in twin.members}
    found = []
    for member in sorted(twin.members, key=lambda m: m.first in joints and m.last in joints):
        if member.label not in left:
            continue
        nodes = [member.last if member.first in joints and member.last not in joints else member.first]
        members = list[Member]()
        while member.label in left:
            left.remove(member.label)
            members.append(member)
            nodes.append(member.last if nodes[-1] == member.first else member.first)
            if nodes[-1] in joints:
                member = next((each for each in beside[nodes[-1]] if each.label in left), member)
        found.append(WrittenLine(kinds[members[0].label], tuple(nodes), tuple(members), segment_of(members[0])))
    return found


def start_of(twin: Twin, moving: list[Stage]) -> list[list[float]]:
    """(n, 3) positions at the start of the motion: supported nodes at the positions of their supports then."""
    place = twin.system.coordinates + twin.u.reshape(-1, 3)
    for stage in twin.stages:
        for dof, series in stage.held.items() if stage.dynamic is None or stage is moving[0] else ():
            u = series.values[-1 if stage.dynamic is None else 0]
            place[divmod(dof, 3)] = twin.system.coordinates[divmod(dof, 3)] + u
    rows: list[list[float]] = place.tolist()
    return rows


def places_of(twin: Twin, moving: list[Stage], coupled: list[int], level: float) -> list[tuple[float, ...]]:
    """Rows of time and places of the coupled points."""
    rows = list[tuple[float, ...]]()
    for stage in moving if coupled else ():
        times = stage.times
        columns = [times]
        for dof in (3 * node + axis for node in coupled for axis in range(3)):
            height = twin.system.coordinates[divmod(dof, 3)] - (level if dof % 3 == 2 else 0.0)
            columns.append(height + np.interp(times, *stage.held[dof]))
        rows += map(tuple, np.column_stack(columns)[1 if rows else 0 :].tolist())
    return rows or [(0.0,)]


class MoorDynBottom(NamedTuple):
    """MoorDyn's bottom, one for all lines: level, force and damping over area and depth by the diameter, friction."""

    elevation: float
    stiffness: float
    damping: float
    friction: float


def bottom_of(twin: Twin, kinds: dict[int, WrittenType], writing: Writing) -> MoorDynBottom | None:
    """The stiffest bottom below the lines; others that differ are noted. DeckError: levels or friction differ."""
    mesh, found = twin.model.mesh, dict[int, MoorDynBottom]()
    for bed in twin.model.seabeds:
        its = mesh.elements_of(bed.element_set).tolist() if bed.element_set else range(len(mesh.element_labels))
        for label in (label for label in mesh.element_labels[its].tolist() if label in kinds):
            width = bed.width / kinds[label].diameter
            stiffness, damping = (float(f"{value * width:.12g}") for value in (bed.stiffness, bed.damping))
            found[label] = MoorDynBottom(bed.elevation, stiffness, damping, bed.axial)
    beds = sorted(set(found.values()), key=lambda bed: bed.stiffness)
    if len({(bed.elevation, bed.friction) for bed in beds}) > 1:
        writing.refuse("SEABED", "", "seabeds of several levels or frictions: MoorDyn has one", "use one")
    if len(beds) > 1:
        writing.note(
            f"seabed: {beds[0].stiffness:g} to {beds[-1].stiffness:g} over area and depth in the deck by the diameters "
            "of lines, the largest here for all"
        )
    if beds and len(found) < len(kinds):
        writing.note("seabed: MoorDyn's carries all lines, the deck's some of them")
    writing.close()
    return beds[-1] if beds else None


def options_of(twin: Twin, kinds: dict[int, WrittenType], bed: MoorDynBottom | None) -> list[str]:
    """Water, bottom, and a step below the highest frequency of lines and bottom. Friction is a damper mu ``FricDamp``
    at each node, up to mu times the pressure (MoorDyn, source/Line.cpp): the strongest one that this step bears."""
    water = twin.model.water
    mass, stiff, damped = twin.mass.copy(), np.zeros(len(twin.mass)), np.zeros(len(twin.mass))
    for m in twin.members:
        kind, both = kinds[m.label], [m.first, m.last]
        area = 0.5 * kind.diameter * m.length0
        stiff[both] += 2.0 * m.stiffness + (bed.stiffness if bed else 0.0) * area
        damped[both] += 2.0 * m.damping + (bed.damping if bed else 0.0) * area
        mass[both] += math.pi / 8.0 * kind.diameter**2 * m.length0 * kind.added * (water.density if water else 0.0)
    some = mass > 0.0
    rate = max(np.sqrt(stiff[some] / mass[some]).max(initial=1.0), (damped[some] / mass[some]).max(initial=0.0))
    is_wet = any(kind.diameter != DRY for kind in kinds.values())
    options = [f"{float(f'{COURANT / rate:.3g}')!r} dtM", f"{water.density if water and is_wet else 0.0!r} WtrDnsty"]
    if bed is None:
        return [*options, "1e5 WtrDpth", "0 kbot", "0 cbot"]
    options += [f"{(water.level if water else 0.0) - bed.elevation!r} WtrDpth", f"{bed.stiffness!r} kbot"]
    options += [f"{bed.damping!r} cbot", f"{bed.friction!r} FrictionCoefficient"]
    if bed.friction:
        fast = rate * float(twin.mass[some & twin.free].min(initial=np.inf)) / bed.friction
        options.append(f"{float(f'{fast:.3g}')!r} FricDamp")
    return options
