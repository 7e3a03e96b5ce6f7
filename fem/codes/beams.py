"""Lines that bend and resist torsion, in codes whose nodes rotate: what these have not, and numbers of their beams."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fem.codes.export import Writing
from fem.codes.twin import Twin
from fem.model.mesh import BEAMS
from fem.model.twists import BENT, across, bends, shear_modulus, straightened

CARD = "BEAM GENERAL SECTION|BEAM SECTION"
Row: TypeAlias = tuple[object, ...]


def refuse_beams(writing: Writing) -> bool:
    """Refusals of what beams of a code have not; whether there are beams."""
    model, code = writing.model, writing.code
    beams = [section for section in model.sections if section.torsion]
    if not beams:
        return False
    nodes, bars = model.bent_at
    if any(section.coupling for section in beams):
        message = f"COUPLING: beams of {code} do not couple tension with torsion"
        writing.refuse(CARD, "COUPLING", message, "leave it out")
    if (straightened(model.sections, model.mesh, bars) & (bends(model.mesh, nodes) > BENT)).any():
        message = f"STRAIGHT AT REST: beams of {code} are at rest as they are drawn"
        writing.refuse(CARD, "STRAIGHT AT REST", message, "draw the line straight, and bend it in a step")
    if any(model.materials[section.material].beta for section in beams):
        message = f"BETA: not written for beams of {code}"
        writing.refuse("DAMPING", "BETA", message, "leave it out")
    return True


class Beams(NamedTuple):
    """rows  element label -> nodes, A, E, G, J, Iy, Iz, and n1, the axis of Iz, carried along the line
    rotary  node label -> rotary inertia, of nodes that rotate;  held: node label -> its rotations held in all steps
    turned  dof of the spin of a clamp -> node label, dof 4 to 6, and radians per unit of it"""

    rows: dict[int, Row]
    rotary: dict[int, float]
    held: dict[int, list[int]]
    turned: dict[int, tuple[int, int, float]]


def refuse_rotating(twin: Twin, writing: Writing) -> None:
    """Further refusals, for a code that solves for rotations of nodes."""
    model, mesh, code = twin.model, twin.model.mesh, writing.code
    held, members = rotations_of(twin), {m.label: m for m in twin.members}
    if twin.u.any():
        message = f"initial displacements: beams of {code} need rotations beside them, which the deck does not have"
        writing.refuse("INITIAL CONDITIONS", "DISPLACEMENT", message, "move the nodes in a step")
    if any(len(dofs) < 3 for dofs in held.values()):
        message = f"a swivel (two of the dofs 4 to 6): its line spins by itself here, with its node in {code}"
        writing.refuse("BOUNDARY", "", message, "hold 4, 5 and 6")
    beams = mesh.is_of(*BEAMS).nonzero()[0]
    its = [members[label] for label in mesh.element_labels[beams].tolist()]
    for m in [m for m in its if m.plus != m.minus or abs(m.strain) > 1e-12][:1]:
        what = "a rest length, a stress at the start, or no compression or tension"
        message = f"element {m.label} has {what}: beams of {code} have none of these"
        writing.refuse("REST LENGTH|INITIAL CONDITIONS|NO COMPRESSION|NO TENSION", "", message, "leave it out")
    if any(m.off for m in its):
        writing.refuse(CARD, "CONSISTENT|ONE POINT", f"masses of beams are at nodes of {code}", "use MASS=LUMPED")
    first, second = mesh.element_nodes[beams].T
    size = len(mesh.node_labels)
    _, line = connected_components(coo_array((np.ones(len(beams)), (first, second)), (size, size)), directed=False)
    clamps = np.isin(mesh.node_labels, list(held))
    if (~np.isin(line[first], line[clamps])).any() and any(step.static for step in model.steps):
        message = f"no clamp holds a line about itself: nodes of {code} would spin freely in statics"
        writing.refuse("ELEMENT", "|".join(BEAMS), message, "hold dofs 4 to 6 of an end")
    writing.note(
        f"beams: nodes of {code} rotate, and bars bend along their length; ours bend at nodes. Both are of second order"
    )
    writing.note(
        "rotary inertia: (I11 + I22) density of half bars at nodes, about all axes; ours of bars about themselves"
    )


def fixed_of(twin: Twin, beams: Beams) -> dict[int, list[int]]:
    """Node label -> held (1) or not (0) along and about x, y, z in all steps; nodes without beams do not rotate."""
    ends = {end for row in beams.rows.values() for end in row[:2]}
    held = zip(twin.model.mesh.node_labels.tolist(), twin.fixed.astype(int).tolist(), strict=False)
    return {
        label: its + [int(label not in ends or dof in beams.held.get(label, ())) for dof in (4, 5, 6)]
        for label, its in held
    }


def rotations_of(twin: Twin) -> dict[int, list[int]]:
    """Node label -> its dofs among 4 to 6 that are held in some way."""
    found = dict[int, list[int]]()
    for each in twin.model.rotations:
        found.setdefault(int(twin.model.mesh.node_labels[twin.system.nodes_of(each.target)[0]]), []).append(each.dof)
    return found


def beams_of(twin: Twin) -> Beams:
    """Numbers of all beams, which begin without forces."""
    model, mesh, twists = twin.model, twin.model.mesh, twin.system.twists
    axes, rows, rotary = dict[int, list[float]](), dict[int, Row](), dict[int, float]()
    turned, held = dict[int, tuple[int, int, float]](), rotations_of(twin)
    ways = mesh.coordinates[mesh.element_nodes[:, -1]] - mesh.coordinates[mesh.element_nodes[:, 0]]
    if twists is not None:
        inner = twists.bars[twists.node < 0].tolist()
        axes = dict(zip(inner, twists.director.tolist(), strict=False))
        for spin in np.flatnonzero(twists.node >= 0).tolist():
            way, dof = ways[twists.bars[spin]], 3 * (twin.system.shown + spin)
            along, label = int(np.abs(way).argmax()), twin.label(int(twists.node[spin]))
            is_told = (label, 4 + along) in [row[:2] for row in turned.values()]  # two bars, one on each side
            if not twin.fixed[divmod(dof, 3)] and not is_told:
                turned[dof] = label, 4 + along, float(np.sign(way[along]) / twists.radius[spin])
    for section in (each for each in model.sections if each.torsion):
        material, both = model.materials[section.material], (section.second or section.inertia, section.inertia)
        numbers = section.area, material.young, shear_modulus(section, material), section.torsion, *both
        for element in mesh.element_sets[section.element_set].tolist():
            ends, way = mesh.node_labels[mesh.element_nodes[element]].tolist(), ways[element]
            size = float(np.linalg.norm(way))
            axis = axes.get(element) or across(way / size).tolist()
            rows[int(mesh.element_labels[element])] = (*ends, *numbers, *axis)
            for node in ends:
                rotary[node] = rotary.get(node, 0.0) + 0.5 * size * material.density * sum(both)
    for label, dof, _ in turned.values():
        held[label].remove(dof)
    return Beams(rows, {node: it for node, it in rotary.items() if it and node not in held}, held, turned)
