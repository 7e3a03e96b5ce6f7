"""OpenSees: a Python script for openseespy that needs nothing else, runs the steps and writes a table of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fem.arrays import Floats
from fem.codes.calculix import CAN as SPRINGS
from fem.codes.features import Writing
from fem.codes.twin import Member, Stage, Twin, spectral_radius, twin_of
from fem.model import Model

CAN = SPRINGS | {
    "bars (T3D2, T2D2)": "corotTruss, strain by elongation over length",
    "cables (NO COMPRESSION)": "uniaxialMaterial Elastic, Eneg",
    "struts (NO TENSION)": "uniaxialMaterial Elastic, Eneg",
    "mass of bars: LUMPED": "-rho",
    "mass of bars: CONSISTENT": "-rho -cMass 1",
    "mass of bars: ONE POINT": "mass, one end held",
    "point masses (MASS)": "mass",
    "rest lengths, laid lines": "InitStrainMaterial",
    "initial stress": "InitStrainMaterial",
    "initial displacements": "setNodeDisp",
    "initial velocities": "setNodeVel",
    "damping BETA": "uniaxialMaterial Elastic, eta",
    "axial springs (SPRINGA)": "corotTruss without mass",
    "springs of dofs (SPRING1, SPRING2)": "zeroLength",
    "tables of springs": "ElasticMultiLinear",
    "axial dashpots (DASHPOTA)": "corotTruss, eta",
    "dashpots of dofs": "zeroLength, eta",
    "loads at nodes (CLOAD)": "load, timeSeries Path",
    "weight, body forces": "load at nodes",
    "moved supports": "sp, timeSeries Path",
    "static steps": "LoadControl",
    "dynamic steps": "Newmark, HHT, GeneralizedAlpha",
}
FAR = 1e3
"""Strains beyond the ends of a table, up to which its force stays the same."""
SCRIPT = '''"""{heading}

Written by fem export from {source}; units are those of the deck. Run it: python {name}
It needs openseespy only, and writes {table}: time, displacements of the printed nodes, forces of the printed elements.
{notes}
"""

import csv

import openseespy.opensees as ops

# node label: x, y, z
NODES = {nodes}
# node label: held in x, y, z in all steps (1) or not (0)
FIXED = {fixed}
# node label: mass beside that of the bars
MASSES = {masses}
# element label: nodes, modulus x area, that in compression, viscosity, strain at the start, mass per length, consistent
# force = EA (elongation over distance of the nodes + strain at the start)
MEMBERS = {members}
# element label: nodes, viscosity, (strains), (forces)
TABLES = {tables}
# element label: node 1, node 2 (0: the ground), dof, stiffness, viscosity, (elongations), (forces)
DOF_SPRINGS = {dof_springs}
# node set: labels
NODE_SETS = {node_sets}
ELEMENT_SETS = {element_sets}
DISPLACEMENTS, VELOCITIES = {u}, {v}
PRINTED_NODES, PRINTED_ELEMENTS = {printed_nodes}, {printed_elements}
# name, start, dt, increments, rows every, tolerance, integrator (none: static), curves: (times, values, node, dof, size)
STEPS = {steps}


def build():
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 3)
    for node, place in NODES.items():
        ops.node(node, *place)
    for node, held in FIXED.items():
        ops.fix(node, *held)
    for node, mass in MASSES.items():
        ops.mass(node, mass, mass, mass)
    tag = 0
    for element, (i, j, stiff, pushed, eta, strain, rho, consistent) in MEMBERS.items():
        tag += 2
        ops.uniaxialMaterial("Elastic", tag, stiff, eta, pushed)
        if strain:
            ops.uniaxialMaterial("InitStrainMaterial", tag + 1, tag, strain)
        ops.element("corotTruss", element, i, j, 1.0, tag + bool(strain), "-rho", rho, "-cMass", consistent)
    for element, (i, j, eta, strains, forces) in TABLES.items():
        tag += 2
        ops.uniaxialMaterial("ElasticMultiLinear", tag, eta, "-strain", *strains, "-stress", *forces)
        ops.element("corotTruss", element, i, j, 1.0, tag)
    ground = max(NODES) + 1
    for element, (i, j, dof, stiff, eta, strains, forces) in DOF_SPRINGS.items():
        tag += 2
        if forces:
            ops.uniaxialMaterial("ElasticMultiLinear", tag, eta, "-strain", *strains, "-stress", *forces)
        else:
            ops.uniaxialMaterial("Elastic", tag, stiff, eta)
        if not j:
            ops.node(ground, *NODES[i])
            ops.fix(ground, 1, 1, 1)
            i, j, ground = ground, i, ground + 1
        ops.element("zeroLength", element, i, j, "-mat", tag, "-dir", dof)
    for values, give in ((DISPLACEMENTS, ops.setNodeDisp), (VELOCITIES, ops.setNodeVel)):
        for node, dof, value in values:
            give(node, dof, value, "-commit")


def at(times, values, time):
    """Between the points of a curve."""
    for k in range(len(times) - 1):
        if time <= times[k + 1]:
            return values[k] + (values[k + 1] - values[k]) * (time - times[k]) / (times[k + 1] - times[k])
    return values[-1]


def give_acceleration(start, loads):
    """The acceleration of free masses at the start of a step; OpenSees itself begins with none."""
    force = {{node: [0.0, 0.0, 0.0] for node in NODES}}
    mass = dict.fromkeys(NODES, 0.0) | MASSES
    for times, values, node, dof, size in loads:
        force[node][dof - 1] += size * at(times, values, start)
    for element in [*MEMBERS, *TABLES]:
        i, j = (MEMBERS.get(element) or TABLES[element])[:2]
        tension = ops.eleResponse(element, "axialForce")[0]
        d = [NODES[j][k] + ops.nodeDisp(j, k + 1) - NODES[i][k] - ops.nodeDisp(i, k + 1) for k in range(3)]
        length = sum(x * x for x in d) ** 0.5
        for k in range(3):
            force[i][k] += tension * d[k] / length
            force[j][k] -= tension * d[k] / length
        if element in MEMBERS:
            apart = sum((NODES[j][k] - NODES[i][k]) ** 2 for k in range(3)) ** 0.5
            for node in (i, j):
                mass[node] += MEMBERS[element][6] * apart / 2.0
    for element, (i, j, dof, *_) in DOF_SPRINGS.items():
        pull = ops.eleResponse(element, "material", 1, "stress")[0]
        if j:
            force[i][dof - 1] += pull
            force[j][dof - 1] -= pull
        else:
            force[i][dof - 1] -= pull
    for node in NODES:
        for k in range(3):
            if mass[node] and not FIXED.get(node, (0, 0, 0))[k]:
                ops.setNodeAccel(node, k + 1, force[node][k] / mass[node], "-commit")


def row(time):
    moved = [ops.nodeDisp(node, axis) for node in PRINTED_NODES for axis in (1, 2, 3)]
    return [time, *moved, *(ops.eleResponse(element, "axialForce")[0] for element in PRINTED_ELEMENTS)]


def advance(integrator, dt, cuts=6):
    """One increment, or two halves of it where Newton's method fails."""
    if not integrator:
        ops.integrator("LoadControl", dt)
    if (ops.analyze(1, dt) if integrator else ops.analyze(1)) == 0:
        return True
    return cuts > 0 and all(advance(integrator, dt / 2.0, cuts - 1) for _ in range(2))


def main():
    build()
    write = csv.writer(open("{table}", "w", newline=""))
    write.writerow(["time", *(f"U{{axis}}_n{{node}}" for node in PRINTED_NODES for axis in (1, 2, 3)),
                    *(f"T_e{{element}}" for element in PRINTED_ELEMENTS)])  # fmt: skip
    write.writerow(row(STEPS[0][1]))
    tag = 0
    for number, (name, start, dt, count, every, tolerance, integrator, loads, moves) in enumerate(STEPS):
        for old in range(1, tag + 1):
            ops.remove("loadPattern", old)
            ops.remove("timeSeries", old)
        ops.wipeAnalysis()
        ops.setTime(start)
        tag, series = 0, {{}}
        for what, entries in (("load", loads), ("sp", moves)):
            for times, values, node, dof, size in entries:
                if (what, times, values) not in series:
                    tag += 1
                    # times of increments add up to a little more than the end
                    far = times[-1] + 1.0 + abs(times[-1])
                    ops.timeSeries("Path", tag, "-time", *times, far, "-values", *values, values[-1])
                    series[what, times, values] = []
                series[what, times, values].append((node, dof, size))
        for pattern, ((what, *_), entries) in enumerate(series.items(), 1):
            ops.pattern("Plain", pattern, pattern)
            for node, dof, size in entries:
                if what == "sp":
                    ops.sp(node, dof, size)
                else:
                    ops.load(node, *(size * (dof == axis) for axis in (1, 2, 3)))
        ops.constraints("Transformation" if moves else "Plain")
        ops.numberer("RCM")
        ops.system("BandGeneral" if len(NODES) < 200 else "UmfPack")
        ops.test("NormUnbalance", tolerance, 50, 0)
        ops.algorithm("Newton")
        if integrator:
            ops.integrator(*integrator)
            ops.analysis("Transient")
            give_acceleration(start, loads)
        else:
            ops.integrator("LoadControl", dt)
            ops.analysis("Static")
        for k in range(1, count + 1):
            if not advance(integrator, dt):
                raise SystemExit(f"no convergence in {{name}}, increment {{k}}, time {{start + k * dt:g}}")
            if k % every == 0 or k == count:
                write.writerow(row(start + k * dt))


main()
'''


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of what is written, and the notes."""
    writing = Writing("OpenSees", CAN, model)
    twin = twin_of(writing, keeps_off=not any(section.mass_rule == "ONE POINT" for section in model.sections))
    text = script(twin, writing)
    writing.close()
    return {"_opensees.py": text}, writing.notes


def script(twin: Twin, writing: Writing) -> str:
    mesh, stem = twin.model.mesh, Path(twin.model.source or "model").stem
    members, tables, masses = {}, {}, twin.mass.copy()
    free = ~twin.fixed.reshape(-1, 3).all(axis=1)
    for each in twin.members:
        ends = twin.label(each.first), twin.label(each.last)
        if each.table:
            tables[each.label] = (*ends, each.damping * each.distance, *flat_beyond(each))
            continue
        stiff = each.stiffness * each.distance
        strain = (
            each.distance - each.length0 + (each.pretension / each.stiffness if each.stiffness else 0.0)
        ) / each.distance
        own = each.mass and (not each.off or (free[each.first] and free[each.last]))
        if own:
            masses[[each.first, each.last]] -= (0.5 if not each.off else 1 / 3) * each.mass
        rho, consistent = (each.mass / each.distance if own else 0.0), int(bool(own and each.off))
        members[each.label] = (
            *ends,
            stiff * each.plus,
            stiff * each.minus,
            each.damping * each.distance,
            strain,
            rho,
            consistent,
        )
        if consistent:
            writing.note("start: a consistent mass begins with an acceleration that is not quite its own")
    masses[np.abs(masses) < 1e-12 * twin.mass.max(initial=0.0)] = 0.0
    fixed = {twin.label(n): tuple(map(int, held)) for n, held in enumerate(twin.fixed.reshape(-1, 3)) if held.any()}
    sets = [
        {name: labels[members].tolist() for name, members in own.items()}
        for own, labels in ((mesh.node_sets, mesh.node_labels), (mesh.element_sets, mesh.element_labels))
    ]
    return SCRIPT.format(
        heading=" ".join(twin.model.heading).replace('"""', "'''") or stem,
        source=Path(twin.model.source).name or "a model",
        name=f"{stem}_opensees.py",
        table=f"{stem}_opensees.csv",
        notes="\n".join(writing.notes),
        nodes=shown(dict(zip(mesh.node_labels.tolist(), map(tuple, mesh.coordinates.tolist()), strict=True))),
        fixed=shown(fixed),
        masses=shown({twin.label(n): float(masses[n]) for n in masses.nonzero()[0].tolist() if free[n]}),
        members=shown(members),
        tables=shown(tables),
        dof_springs=shown(dof_springs(twin, writing)),
        node_sets=shown(sets[0]),
        element_sets=shown(sets[1]),
        u=initial(twin, twin.u),
        v=initial(twin, twin.v),
        printed_nodes=list(twin.nodes),
        printed_elements=list(twin.elements),
        steps="[\n" + "".join(f"    {step_of(twin, stage, writing)!r},\n" for stage in twin.stages) + "]",
    )


def shown(table: dict[object, object] | dict[int, tuple[object, ...]]) -> str:
    """A dictionary, one line for each of its entries."""
    return "{\n" + "".join(f"    {key!r}: {value!r},\n" for key, value in table.items()) + "}" if table else "{}"


def initial(twin: Twin, values: Floats) -> list[tuple[int, int, float]]:
    return [(twin.label(dof // 3), dof % 3 + 1, float(values[dof])) for dof in values.nonzero()[0].tolist()]


def flat_beyond(member: Member) -> tuple[list[float], list[float]]:
    """Strains and forces of a table; OpenSees goes on with the last slope, ours stays flat."""
    forces, elongations = zip(*member.force_rows, strict=True)
    strains = [x / member.distance for x in elongations]
    return [strains[0] - FAR, *strains, strains[-1] + FAR], [forces[0], *forces, forces[-1]]


def dof_springs(twin: Twin, writing: Writing) -> dict[int, tuple[object, ...]]:
    """Springs and dashpots of dofs, one dof each."""
    found: dict[int, tuple[object, ...]] = {}
    mesh, labels = twin.model.mesh, twin.model.mesh.element_labels
    for each in (*twin.model.springs, *twin.model.dashpots):
        if not each.dofs:
            continue
        if len(set(each.dofs)) > 1:
            writing.refuse(
                "SPRING|DASHPOT",
                each.element_set,
                "SPRING2 between two different dofs: zeroLength has one",
                "use one dof",
            )
        for element in mesh.element_sets[each.element_set].tolist():
            i, j = mesh.element_nodes[element].tolist()
            rows = getattr(each, "table", ())
            forces, strains = (
                zip(*((rows[0][0], rows[0][1] - FAR), *rows, (rows[-1][0], rows[-1][1] + FAR)), strict=True)
                if rows
                else ((), ())
            )
            ends = twin.label(i), 0 if i == j else twin.label(j)
            found[int(labels[element])] = (
                *ends,
                each.dofs[0],
                getattr(each, "stiffness", 0.0),
                getattr(each, "coefficient", 0.0),
                strains,
                forces,
            )
    return found


def step_of(twin: Twin, stage: Stage, writing: Writing) -> tuple[object, ...]:
    """The row of a step in the script."""
    curves = []
    for given in (stage.loads, {dof: each for dof, each in stage.held.items() if not twin.fixed[dof]}):
        rows = []
        for dof, series in given.items():
            scale = max(series.values, key=abs) or 1.0
            values = tuple(round(value / scale, 14) for value in series.values)
            if not twin.fixed[dof]:
                rows.append((series.times, values, twin.label(dof // 3), dof % 3 + 1, scale))
        curves.append(rows)
    forces = np.array(
        [max(map(abs, series.values)) for dof, series in stage.loads.items() if not twin.fixed[dof]] or [1.0]
    )
    stiff = max((each.stiffness * each.distance for each in twin.members), default=1.0)
    tolerance = max(1e-8 * float(np.linalg.norm(forces)), 1e-13 * stiff)
    return stage.name, stage.start, stage.dt, stage.count, stage.every, tolerance, integrator(stage, writing), *curves


def integrator(stage: Stage, writing: Writing) -> tuple[object, ...]:
    """Of OpenSees, whose alphas count from the end of the increment."""
    dynamic = stage.dynamic
    if dynamic is None:
        return ()
    rho = spectral_radius(dynamic)
    if dynamic.integrator == "NEWMARK":
        return "Newmark", dynamic.gamma, dynamic.beta
    if dynamic.integrator == "HHT":
        return "HHT", 1.0 + dynamic.alpha
    if dynamic.integrator == "GENERALIZED ALPHA":
        return "GeneralizedAlpha", (2.0 - rho) / (1.0 + rho), 1.0 / (1.0 + rho)
    if dynamic.integrator == "BACKWARD EULER":
        writing.note("scheme: BACKWARD EULER in the deck, GeneralizedAlpha with rho = 0 here")
        return "GeneralizedAlpha", 2.0, 1.0
    writing.note(f"scheme: {dynamic.integrator} in the deck, trapezoidal rule here")
    return "Newmark", 0.5, 0.25
