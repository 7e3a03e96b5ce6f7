"""CalculiX: a deck of axial springs and masses, because its trusses diverge in dynamics; forces at nodes, one at a dof.

CalculiX expands T3D2 into a solid, whose free rotation about its axis stops the iteration of long motions. SPRINGA and
MASS have no such freedom; their deck is one of ours, too, so that it is read back and run for a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from fem.arrays import Flags, Floats
from fem.codes.features import Writing
from fem.codes.twin import Member, Series, Stage, Twin, printed, spectral_radius, twin_of
from fem.deck.kinds import quoted
from fem.deck.writer import card, rows_of
from fem.model import Model
from fem.model.mesh import Mesh

CAN = {
    "bars (T3D2, T2D2)": "SPRINGA",
    "cables (NO COMPRESSION)": "SPRINGA, NONLINEAR",
    "struts (NO TENSION)": "SPRINGA, NONLINEAR",
    "mass of bars: LUMPED": "MASS",
    "mass of bars: CONSISTENT": "MASS, one end held",
    "mass of bars: ONE POINT": "MASS, one end held",
    "point masses (MASS)": "MASS",
    "rest lengths, laid lines": "SPRINGA, NONLINEAR",
    "initial stress": "SPRINGA, NONLINEAR",
    "initial displacements": "INITIAL CONDITIONS",
    "initial velocities": "INITIAL CONDITIONS",
    "damping BETA": "DASHPOTA",
    "axial springs (SPRINGA)": "SPRINGA",
    "springs of dofs (SPRING1, SPRING2)": "the same",
    "tables of springs": "the same",
    "axial dashpots (DASHPOTA)": "DASHPOTA",
    "loads at nodes (CLOAD)": "CLOAD, one curve at a dof",
    "weight, body forces": "CLOAD",
    "moved supports": "BOUNDARY, AMPLITUDE",
    "static steps": "STATIC, DIRECT",
    "dynamic steps": "DYNAMIC, DIRECT, ALPHA",
}
PRINTED = "FEM_PRINTED"
"""Set of the nodes whose displacements are compared."""
LEAST, WIDTH = -1.0 / 3.0, 20


def number(value: float) -> str:
    """In 20 characters, as CalculiX reads them."""
    text = repr(float(value) + 0.0)
    return text if len(text) <= WIDTH else f"{value:.12e}"


def table(rows: Iterable[Iterable[float]]) -> list[str]:
    return [", ".join(map(number, row)) for row in rows]


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of what is written, and the notes."""
    writing = Writing("CalculiX", CAN, model)
    twin = twin_of(writing)
    text = deck_text(twin, writing)
    writing.close()
    return {"_calculix.inp": text}, writing.notes


def deck_text(twin: Twin, writing: Writing) -> str:
    model, mesh = twin.model, twin.model.mesh
    lines = ["*HEADING", *model.heading, *(f"** {note}" for note in head_of(twin))]
    lines += ["*NODE, NSET=FEM_ALL"]
    for label, place in zip(mesh.node_labels.tolist(), mesh.coordinates.tolist(), strict=True):
        lines.append(f"{label}, {', '.join(map(number, place))}")
    for name, members in mesh.node_sets.items():
        lines += set_lines("NSET", name, mesh.node_labels[members].tolist())
    lines += set_lines("NSET", PRINTED, twin.nodes)
    lines += spring_lines(twin, writing) + dof_spring_lines(twin) + mass_lines(twin)
    for name, members in mesh.element_sets.items():
        its = set(mesh.element_labels[members].tolist()) & {
            each.label for each in twin.members if each.kind != "DASHPOTA"
        }
        lines += set_lines("ELSET", name, sorted(its)) if its else []
    for kind, values in (("DISPLACEMENT", twin.u), ("VELOCITY", twin.v)):
        given = [
            f"{twin.label(dof // 3)}, {dof % 3 + 1}, {number(values[dof])}" for dof in values.nonzero()[0].tolist()
        ]
        lines += [card("INITIAL CONDITIONS", TYPE=kind), *given] if given else []
    fixed = twin.fixed
    lines += (
        ["*BOUNDARY", *(f"{twin.label(dof // 3)}, {dof % 3 + 1}, {dof % 3 + 1}" for dof in fixed.nonzero()[0].tolist())]
        if fixed.any()
        else []
    )
    amplitudes: dict[tuple[object, ...], str] = {}
    steps = [line for stage in twin.stages for line in step_lines(twin, stage, fixed, amplitudes, writing)]
    for (times, factors), name in amplitudes.items():
        rows = [(x, y) for x, y in zip(times, factors, strict=True)]  # type: ignore[call-overload]
        lines += [card("AMPLITUDE", NAME=name, TIME="TOTAL TIME"), *table(rows)]
    return "\n".join([*lines, *steps]) + "\n"


def head_of(twin: Twin) -> list[str]:
    """Where the file comes from; which sets its elements are of."""
    kept = [each.label for each in twin.members]
    return [
        f"written by fem export from {Path(twin.model.source).name or 'a model'}; units are those of the deck",
        f"elements {min(kept)} to {max(kept)} keep their labels" if kept else "no axial elements",
    ]


def set_lines(keyword: str, name: str, labels: Iterable[int]) -> list[str]:
    """A set, its name without blanks."""
    plain = name.replace(" ", "_")
    return [card(keyword, **{keyword: plain}), *rows_of(list(map(str, labels)), 16)]


def spring_lines(twin: Twin, writing: Writing) -> list[str]:
    """SPRINGA by equal laws, and DASHPOTA beside them with labels of their own."""
    lines = list[str]()
    laws: dict[tuple[object, ...], list[Member]] = {}
    dampers: dict[float, list[Member]] = {}
    for each in twin.members:
        if each.stiffness or each.table:
            rows = () if each.is_linear else each.force_rows
            laws.setdefault((each.stiffness if not rows else 0.0, rows), []).append(each)
        if each.damping:
            dampers.setdefault(each.damping, []).append(each)
    for place, ((stiffness, rows), members) in enumerate(laws.items(), 1):
        head = card("ELEMENT", TYPE="SPRINGA", ELSET=f"FEM_SPRING{place}")
        lines += [head, *(f"{m.label}, {twin.label(m.first)}, {twin.label(m.last)}" for m in members)]
        flags = ("NONLINEAR",) if rows else ()
        lines += [card("SPRING", *flags, ELSET=f"FEM_SPRING{place}"), ""]
        lines += table(rows or [[stiffness]])  # type: ignore[list-item, arg-type]
    label = last_label(twin.model.mesh)
    for place, (damping, members) in enumerate(dampers.items(), 1):
        lines.append(card("ELEMENT", TYPE="DASHPOTA", ELSET=f"FEM_DASHPOT{place}"))
        for m in members:
            own = m.label if m.kind == "DASHPOTA" else (label := label + 1)
            lines.append(f"{own}, {twin.label(m.first)}, {twin.label(m.last)}")
        lines += [card("DASHPOT", ELSET=f"FEM_DASHPOT{place}"), "", number(damping)]
    return lines


def last_label(mesh: Mesh) -> int:
    return int(mesh.element_labels.max(initial=0))


def dof_spring_lines(twin: Twin) -> list[str]:
    """SPRING1 and SPRING2 as they are."""
    lines, mesh = list[str](), twin.model.mesh
    for block in (each for each in mesh.blocks if each.kind in ("SPRING1", "SPRING2")):
        lines.append(card("ELEMENT", TYPE=block.kind))
        for label, nodes in zip(block.labels.tolist(), mesh.node_labels[block.connectivity].tolist(), strict=True):
            lines.append(", ".join(map(str, (label, *nodes))))
    for place, spring in enumerate((each for each in twin.model.springs if each.dofs), 1):
        name = f"FEM_DOFS{place}"
        lines += set_lines("ELSET", name, mesh.element_labels[mesh.element_sets[spring.element_set]].tolist())
        lines += [card("SPRING", *(("NONLINEAR",) if spring.table else ()), ELSET=name)]
        lines += [", ".join(map(str, spring.dofs)), *table(spring.table or [[spring.stiffness]])]
    return lines


def mass_lines(twin: Twin) -> list[str]:
    """One MASS at each free node, of all bars and point masses there."""
    label = last_label(twin.model.mesh) + len(twin.members)
    by_mass: dict[float, list[int]] = {}
    free = ~twin.fixed.reshape(-1, 3).all(axis=1)
    for node in (free & (twin.mass > 0.0)).nonzero()[0].tolist():
        by_mass.setdefault(float(twin.mass[node]), []).append(node)
    lines = list[str]()
    for place, (mass, nodes) in enumerate(by_mass.items(), 1):
        lines.append(card("ELEMENT", TYPE="MASS", ELSET=f"FEM_MASS{place}"))
        lines += [f"{(label := label + 1)}, {twin.label(node)}" for node in nodes]
        lines += [card("MASS", ELSET=f"FEM_MASS{place}"), number(mass)]
    return lines


def step_lines(
    twin: Twin, stage: Stage, fixed: Floats, amplitudes: dict[tuple[object, ...], str], writing: Writing
) -> list[str]:
    """One step: all its loads and supports anew, each along its curve in total time."""
    lines = [f"** {stage.name}", f"*STEP, NLGEOM, INC={2 * stage.count + 10}"]
    tolerance = max(1e-8, twin.model.steps[twin.stages.index(stage)].controls.residual_relative or 1e-8)
    lines += ["*CONTROLS, PARAMETERS=FIELD", f"{number(tolerance)}, 0.001"]
    times = f"{number(stage.dt)}, {number(stage.period)}"
    lines += ["*STATIC, DIRECT", times] if stage.dynamic is None else [dynamic_line(stage, writing), times]
    own = {dof: series for dof, series in stage.held.items() if not fixed[dof]}
    lines += curve_lines(twin, "BOUNDARY", own, amplitudes, lambda dof, value: f"{dof}, {dof}, {value}")
    lines += curve_lines(twin, "CLOAD", stage.loads, amplitudes, lambda dof, value: f"{dof}, {value}")
    # CalculiX wants energies from the first step on, where a later one moves
    lines += ["*EL FILE, FREQUENCY=1000000", "ENER"] if len(twin.stages) > 1 else []
    return [*lines, f"*NODE PRINT, NSET={PRINTED}, FREQUENCY={stage.every}", "U", "*END STEP"]


def dynamic_line(stage: Stage, writing: Writing) -> str:
    assert stage.dynamic is not None
    rho = spectral_radius(stage.dynamic)
    alpha = max(LEAST, (rho - 1.0) / (rho + 1.0))
    if stage.dynamic.integrator not in ("NEWMARK", "HHT"):
        writing.note(f"scheme: {stage.dynamic.integrator} in the deck, HHT with ALPHA={alpha:.4g} here")
    return f"*DYNAMIC, DIRECT, ALPHA={number(alpha)}"


def curve_lines(
    twin: Twin, keyword: str, given: dict[int, Series], amplitudes: dict[tuple[object, ...], str], line
) -> list[str]:  # type: ignore[no-untyped-def]
    """Cards of dofs by curve: a value times an amplitude, whose largest value is 1."""
    groups: dict[str, list[str]] = {}
    for dof, series in given.items():
        largest = max(series.values, key=abs)
        scale = largest or 1.0
        shape = series.times, tuple(round(value / scale, 14) for value in series.values)
        name = amplitudes.setdefault(shape, f"FEM_CURVE{len(amplitudes) + 1}")
        groups.setdefault(name, []).append(f"{twin.label(dof // 3)}, {line(dof % 3 + 1, number(scale))}")
    found = list[str]()
    for name, rows in groups.items():
        found += [card(keyword, OP="NEW", AMPLITUDE=quoted(name)), *rows]
    return found if groups or keyword == "CLOAD" else []


def read_results(folder: Path, stem: str, model: Model) -> tuple[list[str], Floats]:
    """Columns U1_n2 ..., and rows of time and these, from the .dat file of a run. ValueError: it has none."""
    rows: list[list[float]] = []
    for line in (folder / f"{stem}.dat").read_text(encoding="utf-8", errors="replace").splitlines():
        if "displacements" in line and PRINTED in line.upper():
            rows.append([float(line.split()[-1])])
        elif rows and len(words := line.split()) == 4:
            rows[-1] += map(float, words[1:])
    names = [f"U{axis}_n{label}" for label in printed(model)[0] for axis in (1, 2, 3)]
    whole = [row for row in rows if len(row) == 1 + len(names)]
    if not whole:
        raise ValueError("there are no displacements in its results")
    return names, np.array(whole)
