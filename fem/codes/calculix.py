"""CalculiX: a deck of axial springs and masses, because its trusses diverge in dynamics; one nodal force at each dof.

CalculiX expands T3D2 into a solid, whose free rotation about its axis prevents convergence in long motions. SPRINGA and
MASS have no such rotation; the exported deck can also be read and run by this program, for tests.

Its springs have no stiffness from their force, so decks with ``*BUCKLE`` are written as trusses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from fem.arrays import Floats
from fem.codes.abaqus import cards_of
from fem.codes.export import FEATURES, Writing, forms_of, one_line, source_of
from fem.codes.twin import PiecewiseSeries, Stage, Twin, hht_of, printed, twin_of
from fem.deck.writer import card, rows_of, write_deck
from fem.model import Model
from fem.model.facts import distances
from fem.model.named import names_of

PRINTED = "FEM_PRINTED"
"""Set of the nodes whose displacements are compared."""
WIDTH = 20
"""Characters of a number that CalculiX reads."""


def number(value: float) -> str:
    """With a decimal point always: CalculiX reads 1e-05, the constant of a spring or a dashpot, as a dof."""
    text = repr(float(value) + 0.0)
    text = text if "." in text else text.replace("e", ".e")
    return text if len(text) <= WIDTH else f"{value:.12e}"


def table(rows: Iterable[Iterable[float]]) -> list[str]:
    return [", ".join(map(number, row)) for row in rows]


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of each file, and the notes."""
    writing = Writing("CalculiX", model)
    if any(step.buckling for step in model.steps):
        return {"_calculix.inp": "\n".join(buckling_lines(writing)) + "\n"}, writing.notes
    twin = twin_of(writing)
    note_dashpots(twin, writing)
    note_released(twin, writing)
    mesh, heading = model.mesh, f"** written by fem export from {source_of(model)}; units are those of the deck"
    lines = ["*HEADING", *model.heading, heading, "*NODE, NSET=FEM_ALL"]
    for label, place in zip(mesh.node_labels.tolist(), table(mesh.coordinates.tolist()), strict=True):
        lines.append(f"{label}, {place}")
    for name, members in mesh.node_sets.items():
        lines += set_lines("NSET", name, mesh.node_labels[members].tolist())
    lines += [*set_lines("NSET", PRINTED, twin.nodes), *element_lines(twin)]
    kept = {each.label for each in twin.members if each.kind != "DASHPOTA"}
    for name, members in mesh.element_sets.items():
        lines += set_lines("ELSET", name, (e for e in mesh.element_labels[members].tolist() if e in kept))
    for kind, values in (("DISPLACEMENT", twin.u), ("VELOCITY", twin.v)):
        rows = [f"{node}, {dof}, {number(value)}" for node, dof, value in twin.initial(values)]
        lines += [card("INITIAL CONDITIONS", TYPE=kind), *rows] if rows else []
    held = [f"{twin.label(node)}, {axis + 1}, {axis + 1}" for node, axis in np.argwhere(twin.fixed).tolist()]
    lines += ["*BOUNDARY", *held] if held else []
    curves: dict[PiecewiseSeries, str] = {}
    steps = [line for stage in twin.stages for line in step_lines(twin, stage, curves, writing)]
    for series, name in curves.items():
        lines += [card("AMPLITUDE", NAME=name, TIME="TOTAL TIME"), *table(zip(*series, strict=True))]
    return {"_calculix.inp": "\n".join([*lines, *steps]) + "\n"}, writing.notes


BUCKLING = {
    "bars (T3D2, T2D2)", "mass of bars: LUMPED", "mass of bars: CONSISTENT", "mass of bars: ONE POINT",
    "loads at nodes (CLOAD)", "weight, body forces", "linear buckling (BUCKLE)",
}  # fmt: skip
"""Features that a deck of trusses with *BUCKLE has."""
CARDS = {
    *"*HEADING *NODE *NSET *ELEMENT *ELSET *MATERIAL *ELASTIC *DENSITY *BOUNDARY *BUCKLE *CLOAD *DLOAD".split(),
    "*SOLID SECTION", "*STEP", "*END STEP",
}  # fmt: skip


def buckling_lines(writing: Writing) -> list[str]:
    """A deck whose only step is *BUCKLE: the cards of ours that CalculiX has. Its trusses are solids of square section
    that bend at 12 E I/L^2: with an area of at least the square of the longest length, and the same E A, none does."""
    model = writing.model
    for name, is_in, word, below, _ in FEATURES:
        if name in forms_of(writing.code) and name not in BUCKLING and is_in(model):
            writing.refuse(word, below, f"{name} beside *BUCKLE: CalculiX cannot express this", "leave it out")
    if len(model.steps) > 1:
        message = "a step beside *BUCKLE: CalculiX 2.20 finds other factors after loads"
        writing.refuse("BUCKLE", "", message, "leave the other steps out")
    if model.mesh.is_of("T2D2").any():
        writing.refuse("ELEMENT", "T2D2", "T2D2 beside *BUCKLE: written as T3D2 only", "use T3D2")
    writing.close()
    if any(section.strain != "GREEN" for section in model.sections):
        writing.note("strain: GREEN in CalculiX; factors differ by the strain at which the structure buckles")
    writing.note("areas are larger and moduli smaller, E A as in the deck: thin trusses of CalculiX bend as solids")
    writing.note("CalculiX 2.20 loses factors below 1: make the loads smaller")
    lines = list[str]()
    thick = float(distances(model.mesh).max() ** 2) / min((section.area for section in model.sections), default=1.0)
    sections = tuple(replace(one, area=one.area * thick) for one in model.sections)
    thin = {
        name: replace(one, young=(one.young or 0.0) / thick, density=one.density / thick)
        for name, one in model.materials.items()
    }
    for head, *rows in cards_of(write_deck(replace(model, sections=sections, materials=thin))):
        keyword = head.partition(",")[0]
        if keyword == "*ELASTIC":
            rows = [f"{row.partition(',')[0]}, 0." for row in rows]
        if keyword == "*BUCKLE":
            rows = [f"{rows[0]}, 1.E-8"]
        if keyword in ("*SOLID SECTION", "*STEP"):
            head = re.sub(r", (MASS|STRAIN|NLGEOM|NAME|INC|AMPLITUDE|EXTRAPOLATION)=[^,]+", "", head.partition("\t")[0])
        lines += [head, *rows] if keyword in CARDS else []
    return [lines[0], f"** written by fem export from {source_of(model)}; units are those of the deck", *lines[1:]]


def note_released(twin: Twin, writing: Writing) -> None:
    """Notes supports that CalculiX 2.20 lets go with another velocity, which its scheme makes of their places: after a
    jump it alternates between none and twice that of the support. Smooth motions keep theirs."""
    for before, stage in pairwise(twin.stages):
        let_go = before.held.keys() - stage.held.keys() if before.dynamic and stage.dynamic else set()
        if any(before.rates[dof].values[-1] for dof in let_go):
            writing.note(
                "moving supports that end: if they began with a jump of velocity, CalculiX lets nodes go at rest, "
                "or with twice their velocity; ours keep it"
            )


def note_dashpots(twin: Twin, writing: Writing) -> None:
    """Notes the forces of dashpots that CalculiX 2.20 ignores."""
    ends = {node for m in twin.members if m.damping for node in (m.first, m.last)}
    if any(twin.v[3 * node : 3 * node + 3].any() for node in ends):
        writing.note("dashpots, BETA: CalculiX begins without their force; its motion is of first order in dt")
    if any(dof // 3 in ends for stage in twin.stages for dof in twin.moved(stage)):
        writing.note("dashpots, BETA: CalculiX takes the ends at moved supports for at rest")


def set_lines(keyword: str, name: str, labels: Iterable[int]) -> list[str]:
    """A set, its name without blanks; nothing where it is empty."""
    rows = rows_of(list(map(str, labels)), 16)
    return [card(keyword, **{keyword: name.replace(" ", "_")}), *rows] if rows else []


def element_lines(twin: Twin) -> list[str]:
    """SPRINGA and DASHPOTA, springs of dofs as they are, MASS at free nodes, each group of equal ones with its law."""
    mesh, label = twin.model.mesh, int(twin.model.mesh.element_labels.max(initial=0))
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def add(kind: str, law: list[str], element: int, *nodes: int) -> None:
        groups.setdefault((kind, tuple(law)), []).append(", ".join(map(str, (element, *nodes))))

    for m in twin.members:
        if m.stiffness or m.table:
            head = "*SPRING, NONLINEAR" if m.rows else "*SPRING"
            add("SPRINGA", [head, "", *table(m.rows or [[m.stiffness]])], m.label, *twin.ends(m))
        if m.damping:
            label += 1
            own = m.label if m.kind == "DASHPOTA" else label
            add("DASHPOTA", ["*DASHPOT", "", number(m.damping)], own, *twin.ends(m))
    for spring in (each for each in twin.model.springs if each.dofs):
        head = "*SPRING, NONLINEAR" if spring.table else "*SPRING"
        text = [head, ", ".join(map(str, spring.dofs)), *table(spring.table or [[spring.stiffness]])]
        for e in mesh.element_sets[spring.element_set].tolist():
            nodes = [twin.label(node) for node in dict.fromkeys(mesh.element_nodes[e].tolist())]
            add(f"SPRING{len(spring.dofs)}", text, int(mesh.element_labels[e]), *nodes)
    for node in (twin.free & (twin.mass > 0.0)).nonzero()[0].tolist():
        label += 1
        add("MASS", ["*MASS", number(twin.mass[node])], label, twin.label(node))
    lines = list[str]()
    for place, ((kind, law), rows) in enumerate(groups.items(), 1):
        name = f"FEM_{kind}_{place}"
        lines += [f"*ELEMENT, TYPE={kind}, ELSET={name}", *rows, f"{law[0]}, ELSET={name}", *law[1:]]
    return lines


def step_lines(twin: Twin, stage: Stage, curves: dict[PiecewiseSeries, str], writing: Writing) -> list[str]:
    """One step: all its loads and supports anew, each along its curve in total time."""
    lines = [
        f"** {one_line(stage.name)}",
        f"*STEP, NLGEOM, INC={2 * stage.increments + 10}",
        "*CONTROLS, PARAMETERS=FIELD",
    ]
    lines.append(f"{number(max(1e-8, stage.tolerance))}, 0.001")
    dynamic = stage.dynamic
    lines.append(f"*DYNAMIC, DIRECT, ALPHA={number(hht_of(dynamic, writing))}" if dynamic else "*STATIC, DIRECT")
    lines.append(f"{number(stage.dt)}, {number(stage.period)}")
    before = twin.stages[max(0, [one.start for one in twin.stages].index(stage.start) - 1)]
    releases = bool(before.held.keys() - stage.held.keys())
    held = stage.held if releases else twin.moved(stage)
    for keyword, given, is_new in (("BOUNDARY", held, releases), ("CLOAD", stage.loads, True)):
        groups: dict[str, list[str]] = {}
        for dof, series in given.items():
            shape, scale = series.scaled
            name = curves.setdefault(shape, f"FEM_CURVE{len(curves) + 1}")
            axes = f"{dof % 3 + 1}, " * (2 if keyword == "BOUNDARY" else 1)
            groups.setdefault(name, []).append(f"{twin.label(dof // 3)}, {axes}{number(scale)}")
        if not groups and stage.start > 0.0 and keyword == "CLOAD":
            lines.append("*CLOAD, OP=NEW")
        for name, rows in groups.items():
            lines += [card(keyword, OP="NEW" if is_new else None, AMPLITUDE=name), *rows]
    if len(twin.stages) > 1:  # CalculiX needs energies from the first step on if a later one is dynamic
        lines += ["*EL FILE, FREQUENCY=1000000", "ENER"]
    return [*lines, f"*NODE PRINT, NSET={PRINTED}, FREQUENCY={stage.every}", "U", "*END STEP"]


def read_results(folder: Path, stem: str, model: Model) -> tuple[list[str], Floats]:
    """Columns U1_n2 ..., and rows of time and these, from the .dat file of a run. OSError, ValueError: it has none."""
    rows: list[list[float]] = []
    for line in (folder / f"{stem}.dat").read_text(encoding="utf-8", errors="replace").splitlines():
        if "displacements" in line and PRINTED in line.upper():
            rows.append([float(line.split()[-1])])
        elif rows and len(words := line.split()) == 4:
            rows[-1] += map(float, words[1:])
    names = names_of("n", ["U1", "U2", "U3"], printed(model)[0])
    whole = [row for row in rows if len(row) == 1 + len(names)]
    if not whole:
        raise ValueError("there are no displacements in its results")
    return names, np.array(whole)
