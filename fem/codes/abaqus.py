"""Abaqus: the deck itself, without our extensions; T3D2 in steps with NLGEOM, where Abaqus has logarithmic strain.

Cannot be run here: checked against the keywords and parameters that both have, by reading the file back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fem.codes.beams import refuse_beams
from fem.codes.export import Writing
from fem.codes.twin import hht_of
from fem.deck.kinds import number
from fem.deck.writer import write_deck
from fem.model import Dynamic, Model
from fem.model.twists import N1, shear_modulus

PAIRS = 4
"""Pairs of time and value on each line of an amplitude but the last."""
MOST_BACK = 3
"""Back stresses that fit into the first line of *PLASTIC, of eight numbers."""
WITHOUT = {"N", "T"}
"""Variables that trusses of Abaqus do not print."""
OF_ANGLES = {"SK", "SM", *(f"{name}{end}" for name in ("SK", "SM", "SP", "SD") for end in "T123")}
"""Variables of nodes that are those of elements in Abaqus."""


def files_of(model: Model) -> tuple[dict[str, str], list[str]]:
    """Suffix -> text of each file, and the notes."""
    writing = Writing("Abaqus", model)
    for each in model.amplitudes.values():
        if each.definition in ("SWEEP", "SPLINE"):
            what = f"DEFINITION={each.definition}: Abaqus has no such amplitude"
            writing.refuse("AMPLITUDE", each.name, what, "give a table")
    for material in model.materials.values():
        if {material.compression_ratio, material.tension_ratio} - {0.0, 1.0}:
            message = "RATIO: Abaqus keeps nothing of the modulus"
            writing.refuse("NO COMPRESSION|NO TENSION", "RATIO", message, "RATIO=0")
        if material.plastic and material.compression_ratio != 1.0:
            message = "*NO COMPRESSION beside *PLASTIC: Abaqus has it for elastic materials"
            writing.refuse("NO COMPRESSION", "", message, "leave one of them out")
        if material.plastic and len(material.plastic.back) > MOST_BACK:
            message = f"{len(material.plastic.back)} back stresses: more than a line of Abaqus has"
            writing.refuse("PLASTIC", "COMBINED", message, f"give {MOST_BACK}")
    if refuse_beams(writing):
        writing.note(
            "B31 of Abaqus shears, and its nodes rotate: a line that nothing holds about itself spins freely there"
        )
    writing.close()
    sections = tuple(replace(one, mass_rule="LUMPED", strain="GREEN", starting_tension=0.0) for one in model.sections)
    if sections:
        writing.note("strain: logarithmic in Abaqus, with an area that shrinks; equal to ours in the first order")
    of_bars = {one.material for one in sections if not one.torsion}  # beams state their own E, G and density
    materials = {name: one for name, one in model.materials.items() if name in of_bars or not model.may_twist}
    cards = cards_of(write_deck(replace(model, sections=sections, materials=materials)))
    lines = ["** written by fem export; units are those of the deck"]
    for card in cards:
        lines += translated(card, model, writing)
    return {"_abaqus.inp": "\n".join(lines) + "\n"}, writing.notes


def beam_lines(name: str, model: Model) -> list[str]:
    """A section of beams: with density, E and G, and n1 across its bars."""
    mesh, (section,) = model.mesh, (one for one in model.sections if one.element_set == name)
    material, n1 = model.materials[section.material], section.direction
    if not n1 and not section.second:
        first, second = mesh.element_nodes[mesh.element_sets[name]].T
        way = mesh.coordinates[second] - mesh.coordinates[first]
        along = np.abs(way / np.linalg.norm(way, axis=1, keepdims=True)).max(axis=0)
        n1 = tuple(np.eye(3)[along.argmin()].tolist())
    i22 = section.second or section.inertia
    general = (section.area, section.inertia, 0.0, i22, section.torsion)
    rows: list[tuple[float, ...]] = [general, n1 or N1, (material.young or 0.0, shear_modulus(section, material))]
    head = f"*BEAM GENERAL SECTION, SECTION=GENERAL, ELSET={name}, DENSITY={number(material.density)}"
    return [head, *(", ".join(map(number, row)) for row in rows)]


def cards_of(text: str) -> Iterator[list[str]]:
    """Keyword lines, each with the lines below it. Steps of dynamics carry their number behind a tab."""
    card, number_of = list[str](), -1
    for line in text.rstrip("\n").split("\n"):
        number_of += line.startswith("*STEP")
        if line.startswith("*") and not line.startswith("**"):
            if card:
                yield card
            card = [line + (f"\t{number_of}" if line.startswith(("*STEP", "*DYNAMIC", "*CONTROLS")) else "")]
        else:
            card.append(line)
    yield card


def translated(card: list[str], model: Model, writing: Writing) -> list[str]:
    """A card and its lines in the form that Abaqus accepts."""
    head, *lines = card
    head, _, place = head.partition("\t")
    keyword = head.partition(",")[0]
    if keyword == "*SOLID SECTION":
        return [re.sub(r", (MASS|STRAIN)=[A-Z ]+", "", head), *lines]
    if keyword == "*BEAM GENERAL SECTION":
        return beam_lines(re.findall(r", ELSET=([^,]+)", head)[0].strip('"'), model)
    if keyword in ("*NODE PRINT", "*NODE FILE") and model.may_twist:
        asked = [word.strip() for line in lines for word in line.split(",")]
        if OF_ANGLES & set(asked):
            writing.note("curvatures and moments at nodes: SK and SM of the elements")
        return [head, ", ".join(word for word in asked if word not in OF_ANGLES)]
    if keyword == "*PLASTIC" and (count := lines[0].count(",") // 2) > 1 and "PARAMETERS" in head:
        return [f"{head}, NUMBER BACKSTRESSES={count}", *lines]
    if keyword == "*STEP" and (number_of := int(place)) >= 0 and model.steps[number_of].buckling:
        return [re.sub(r", (NLGEOM|INC|AMPLITUDE)=[^,]+", "", head) + ", PERTURBATION", *lines]
    if keyword == "*DYNAMIC":
        procedure = model.steps[int(place)].dynamic
        assert procedure is not None
        return [dynamic_line(procedure, writing), *lines]
    if keyword == "*CONTROLS" and "RESET" in head:
        limit = model.steps[int(place)].controls.residual_relative
        return ["*CONTROLS, PARAMETERS=FIELD, FIELD=DISPLACEMENT", f"{number(limit)},"] if limit else []
    if keyword == "*AMPLITUDE" and "PERIODIC" not in head:
        head = head.replace(", DEFINITION=TABULAR", "")
        return [head, *(", ".join(lines[k : k + PAIRS]) for k in range(0, len(lines), PAIRS))]
    if keyword == "*ENERGY PRINT":
        return [head]
    if keyword == "*EL PRINT":
        asked = [word.strip() for line in lines for word in line.split(",")]
        if WITHOUT & set(asked):
            writing.note("printed N, T: section force SF1" if model.bends else "printed N, T: stress S times the area")
        its = "SF" if model.bends else "S"
        return [head, ", ".join(dict.fromkeys(its if word in WITHOUT else word for word in asked))] if asked else [head]
    return [head, *lines]


def dynamic_line(procedure: Dynamic, writing: Writing) -> str:
    """HHT; the trapezoidal rule is ALPHA=0, BACKWARD EULER the application that has it."""
    flags = ["DIRECT"] if procedure.direct else []
    if procedure.integrator == "BACKWARD EULER":
        flags.append("APPLICATION=QUASI-STATIC")
    else:
        alpha = procedure.alpha if procedure.integrator == "HHT" else hht_of(procedure, writing)
        flags += ["APPLICATION=MODERATE DISSIPATION"] if procedure.by_convergence else []
        flags.append(f"ALPHA={number(alpha)}")
    return ", ".join(["*DYNAMIC", *flags, *([] if procedure.initial_acceleration else ["INITIAL=NO"])])
