"""OpenSees: a Python script for openseespy without other dependencies, which runs the steps and writes a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fem.codes.beams import Beams, beams_of, fixed_of, refuse_beams, refuse_rotating
from fem.codes.export import Writing, comments, stem_of
from fem.codes.twin import Member, Stage, Twin, radius_of, twin_of
from fem.model import Dashpot, Model, Spring
from fem.model.materials import Plastic

FAR = 1e3
"""Strain beyond the ends of a table up to which its force is constant; OpenSees would continue with the last slope."""
MOST_TURN = np.pi / 2.0
"""Of a clamp in an increment."""
NEEDS = "Run it with Python; it needs openseespy only, and writes a table:"
HEAD = """{comments}

import csv

import openseespy.opensees as ops

"""
MEANINGS = {
    "NODES": "node label: x, y, z",
    "FIXED": "node label: held in x, y, z (and about them) in all steps (1) or not (0)",
    "MASSES": "node label: mass beside that of the bars",
    "ROTARY": "node label: rotary inertia",
    "BEAMS": "element: nodes, A, E, G, J, Iy, Iz, and the axis of Iz",
    "MEMBERS": "element: nodes, EA, in compression, viscosity, initial strain, mass/length, consistent",
    "PLASTIC": "element that yields: material, and its numbers as forces over strains of the members",
    "TABLES": "element label: nodes, viscosity, strains, forces",
    "DOF_SPRINGS": "element label: nodes (0: the ground), dof, stiffness, viscosity, elongations, forces",
    "DISPLACEMENTS": "at the start: node, dof, value",
    "STEPS": "name, start, end, dt, increments, rows every, tolerance, integrator (none: static), loads, supports: "
    "times, values, node, dof, size; of supports then times and rates, times and accelerations",
}


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of each file, and the notes."""
    writing = Writing("OpenSees", model)
    has_beams = refuse_beams(writing)
    twin = twin_of(writing, keeps_off=not any(section.mass_rule == "ONE POINT" for section in model.sections))
    if has_beams:
        refuse_rotating(twin, writing)
        writing.close()
    beams = beams_of(twin)
    members, tables, mesh = dict[int, Row](), dict[int, Row](), model.mesh
    masses = twin.mass.copy()
    for m in (each for each in twin.members if each.label not in beams.rows):
        if m.table:
            forces, elongations = zip(*m.rows, strict=True)
            strains = [x / m.distance for x in elongations]
            tables[m.label] = (*twin.ends(m), m.damping * m.distance, *flat(strains, forces))
            continue
        is_own = m.mass > 0.0 and (not m.off or bool(twin.free[m.first] and twin.free[m.last]))
        if is_own:
            masses[[m.first, m.last]] -= m.mass / (3.0 if m.off else 2.0)
        strain = m.strain
        stiff, rho = m.stiffness * m.distance, m.mass / m.distance * is_own
        own = (stiff * m.plus, stiff * m.minus, m.damping * m.distance, strain, rho, int(is_own and m.off > 0.0))
        members[m.label] = (*twin.ends(m), *own)
    some = twin.free & (masses > 1e-12 * masses.max(initial=0.0))
    dofs = 6 if has_beams else 3
    stem = stem_of(model)
    tables_of = {
        "NODES": dict(zip(mesh.node_labels.tolist(), map(tuple, mesh.coordinates.tolist()), strict=True)),
        "DOFS": dofs,
        "FIXED": {node: tuple(its[:dofs]) for node, its in fixed_of(twin, beams).items() if any(its[:dofs])},
        "MASSES": {twin.label(n): float(masses[n]) for n in some[: len(mesh.node_labels)].nonzero()[0].tolist()},
        "ROTARY": beams.rotary,
        "BEAMS": beams.rows,
        "MEMBERS": members,
        "PLASTIC": yielding(twin, writing),
        "TABLES": tables,
        "DOF_SPRINGS": dof_springs(twin, writing),
        "NODE_SETS": {name: mesh.node_labels[its].tolist() for name, its in mesh.node_sets.items()},
        "ELEMENT_SETS": {name: mesh.element_labels[its].tolist() for name, its in mesh.element_sets.items()},
        "DISPLACEMENTS": twin.initial(twin.u),
        "VELOCITIES": twin.initial(twin.v),
        "PRINTED_NODES": list(twin.nodes),
        "PRINTED_ELEMENTS": list(twin.elements),
        "STEPS": [step_of(twin, beams, stage, writing) for stage in twin.stages],
        "TABLE": f"{stem}_opensees.csv",
    }
    writing.close()
    table = f"{tables_of['TABLE']}: time, displacements of the printed nodes, forces of the printed elements."
    head = HEAD.format(comments="\n".join(comments(model, NEEDS, table, *writing.notes)))
    return {"_opensees.py": head + assignments(tables_of, MEANINGS) + body_of("opensees")}, writing.notes


Row: TypeAlias = tuple[object, ...]


def assignments(tables: Mapping[str, object], meanings: Mapping[str, str]) -> str:
    """Python text of tables, one entry per line, each below a comment on its meaning."""
    lines = list[str]()
    for name, table in tables.items():
        lines += [f"# {meanings[name]}"] if name in meanings else []
        if isinstance(table, dict) and table:
            lines += [f"{name} = {{", *(f"    {key!r}: {value!r}," for key, value in table.items()), "}"]
        elif isinstance(table, list) and table and isinstance(table[0], tuple):
            lines += [f"{name} = [", *(f"    {row!r}," for row in table), "]"]
        else:
            lines.append(f"{name} = {table!r}")
    return "\n".join(lines) + "\n\n\n"


def body_of(code: str) -> str:
    """The part of the script that is the same for all decks."""
    return Path(__file__).with_name(f"{code}_script.txt").read_text(encoding="utf-8")


def flat(elongations: Sequence[float], forces: Sequence[float]) -> tuple[list[float], list[float]]:
    """A table with constant force beyond its ends."""
    places = [elongations[0] - FAR, *elongations, elongations[-1] + FAR]
    return places, [forces[0], *forces, forces[-1]]


def yielding(twin: Twin, writing: Writing) -> dict[int, Row]:
    """Laws of the bars that yield, by element label; refusals of those that OpenSees does not have."""
    mesh, laws = twin.model.mesh, dict[int, Plastic | None]()
    for section in twin.model.sections:
        labels = mesh.element_labels[mesh.elements_of(section.element_set)].tolist()
        laws |= dict.fromkeys(labels, twin.model.materials[section.material].plastic)
    found = dict[int, Row]()
    for m in twin.members:
        if (own := laws.get(m.label)) is None:
            continue
        if m.plus != m.minus:
            writing.refuse("NO COMPRESSION", "", "a cable that yields: OpenSees cannot express this", "use *ELASTIC")
        if len(own.rows) > 2:
            message = f"*PLASTIC of {len(own.rows)} rows: Hardening of OpenSees is linear"
            writing.refuse("PLASTIC", "", message, "give two rows")
        if len({gamma > 0.0 for _, gamma in own.back}) == 2 or (own.growth[0] and not all(own.back[-1])):
            message = "a back stress without gamma: UVCuniaxial of OpenSees needs one"
            writing.refuse("PLASTIC", "COMBINED", message, "give all of them a gamma")
        if abs(m.strain) * m.stiffness * m.distance > m.area * own.rows[0][0]:
            writing.refuse("PLASTIC", "", f"element {m.label} yields before the first step", "lower its prestress")
        if len(own.rows) == 2 and own.hardening == "ISOTROPIC":
            writing.note("*PLASTIC: beyond the last row the yield stress of OpenSees grows on, ours is constant")
        found[m.label] = law_of(m, own)
    return found


def law_of(m: Member, own: Plastic) -> Row:
    """A material of OpenSees and its numbers: forces over strains of the drawn length, of which ours are ``per``."""
    per = m.distance / m.length0
    stiff, limit, scale = m.stiffness * m.distance, m.area * own.rows[0][0], m.area * per
    if any(gamma for _, gamma in own.back):
        pairs = [number for modulus, gamma in own.back for number in (scale * modulus, gamma * per)]
        most, haste = own.growth
        return "UVCuniaxial", stiff, limit, m.area * most, haste * per, 0.0, 1.0, len(own.back), *pairs
    slope = sum(modulus for modulus, _ in own.back)
    if len(own.rows) > 1:
        slope = (own.rows[1][0] - own.rows[0][0]) / own.rows[1][1]
    is_isotropic = own.hardening == "ISOTROPIC"
    return "Hardening", stiff, limit, *((scale * slope, 0.0) if is_isotropic else (0.0, scale * slope))


def dof_springs(twin: Twin, writing: Writing) -> dict[int, Row]:
    """Springs and dashpots of dofs, one dof each."""
    found: dict[int, Row] = {}
    mesh = twin.model.mesh
    given: list[tuple[Spring | Dashpot, float, float]] = [(one, one.stiffness, 0.0) for one in twin.model.springs]
    given += [(one, 0.0, one.coefficient) for one in twin.model.dashpots]
    for each, stiffness, damping in (row for row in given if row[0].dofs):
        if len(set(each.dofs)) > 1:
            writing.refuse("SPRING|DASHPOT", "", "between two different dofs: zeroLength has one", "use one dof")
        rows = each.table if isinstance(each, Spring) else ()
        curve: Row = flat([x for _, x in rows], [force for force, _ in rows]) if rows else ((), ())
        for element in mesh.element_sets[each.element_set].tolist():
            i, j = mesh.element_nodes[element].tolist()
            ends = (twin.label(i), 0) if i == j else (twin.label(j), twin.label(i))  # ours extends by u_i - u_j
            found[int(mesh.element_labels[element])] = (*ends, each.dofs[0], stiffness, damping, *curve)
    return found | dampers_of_masses(twin, int(mesh.element_labels.max(initial=0)), writing)


def dampers_of_masses(twin: Twin, last: int, writing: Writing) -> dict[int, Row]:
    """Damping ALPHA: dashpots of free nodes to the ground, with element labels beyond the last."""
    if len(off := twin.system.bars.off_damping) and off.any():
        message = "damping ALPHA of a consistent mass couples nodes: the script has dashpots at nodes"
        writing.refuse("DAMPING", "ALPHA", message, "use MASS=LUMPED")
    found = twin.system.damping[: twin.system.shown]
    places = np.argwhere((found > 0.0)[:, None] & ~twin.fixed[: len(found)]).tolist()
    rows = ((twin.label(node), 0, axis + 1, 0.0, float(found[node]), (), ()) for node, axis in places)
    return dict(enumerate(rows, last + 1))


def step_of(twin: Twin, beams: Beams, stage: Stage, writing: Writing) -> Row:
    """The row of a step in the script."""
    first = 3 * twin.system.shown

    def place(dof: int) -> tuple[int, int, float]:
        return beams.turned[dof] if dof >= first else (twin.label(dof // 3), dof % 3 + 1, 1.0)

    curves = list[list[Row]]()
    moved = {dof: series for dof, series in twin.moved(stage).items() if dof < first or dof in beams.turned}
    for given in (stage.loads, moved):
        moving = [(place(dof), *series.scaled) for dof, series in given.items() if not twin.fixed[divmod(dof, 3)]]
        curves.append([(*shape, node, dof, scale * unit) for (node, dof, unit), shape, scale in moving])
    for dof, series in moved.items():
        if dof >= first and (np.abs(np.diff(series.values)) * abs(place(dof)[2]) >= MOST_TURN).any():
            message = "a clamp turns by 90 degrees or more in an increment: OpenSees loses count of its turns"
            writing.refuse("BOUNDARY", "", message, "use shorter increments")
    for k, dof in enumerate(moved):
        for times, values in (stage.rates[dof], stage.accelerations[dof]):
            curves[1][k] += times, tuple(place(dof)[2] * value for value in values)
    forces = float(np.linalg.norm(np.array([row[-1] for row in curves[0]] or [0.0], np.float64)))
    size = float(np.ptp(twin.model.mesh.coordinates, axis=0).max(initial=0.0))
    stiff = (*(m.stiffness * m.distance for m in twin.members), *(each.stiffness * size for each in twin.model.springs))
    tolerance = max(1e-8 * forces, 1e-13 * max(stiff, default=0.0)) or 1e-13
    rows = stage.name, stage.start, stage.end, stage.dt, stage.increments, stage.every
    return *rows, tolerance, integrator(stage, writing), *curves


def integrator(stage: Stage, writing: Writing) -> Row:
    """The integrator of OpenSees, whose alphas are weights of the end of the increment."""
    dynamic = stage.dynamic
    if dynamic is None:
        return ()
    if dynamic.integrator == "HHT":
        return "HHT", 1.0 + dynamic.alpha
    if dynamic.integrator in ("GENERALIZED ALPHA", "BACKWARD EULER"):
        rho = radius_of(dynamic)
        writing.note("scheme: GeneralizedAlpha takes the inertia of the end of an increment, ours a mean of both ends")
        if dynamic.integrator == "BACKWARD EULER":
            writing.note("scheme: BACKWARD EULER in the deck, GeneralizedAlpha with rho = 0 here")
        return "GeneralizedAlpha", (2.0 - rho) / (1.0 + rho), 1.0 / (1.0 + rho)
    if dynamic.integrator != "NEWMARK":
        writing.note(f"scheme: {dynamic.integrator} in the deck, trapezoidal rule here")
        return "Newmark", 0.5, 0.25
    return "Newmark", dynamic.gamma, dynamic.beta
