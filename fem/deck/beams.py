"""Sections of lines that bend, B31: ``*BEAM GENERAL SECTION`` and ``*BEAM SECTION`` with round sections. Refused: other
joints, lines that are bent in the deck, nodes of which only some rotations are held.

A rotation of a node that is held keeps the directions of its bars for the whole run: in space, or on a rigid body.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fem.arrays import Ints
from fem.deck.cards import NOT_NEGATIVE, POSITIVE, Card, Row
from fem.deck.draft import Draft, MaterialDraft, Property, StepDraft
from fem.deck.kinds import AMOUNT, ANY, ELEMENT_SET, POSITIVE_NUMBER, name_of, word_of
from fem.deck.materials import ROPE_LAWS
from fem.deck.source import Mistake, Place, listing
from fem.deck.table import DataLine, Parameters, Value, keyword, keyword_line
from fem.model import MASS_RULES, STRAINS, BarSection, Boundary, Equation, Mesh, Model
from fem.model.beams import BEHIND, beams_at, find_angles
from fem.model.free_bodies import weights

STRAIGHT = "STRAIGHT AT REST"
BENT = 1e-4
"""Largest bend [radians] of a line that counts as straight: coordinates in decks have few digits."""
OF_SECTIONS = Parameters(
    {
        "ELSET": Value("element_set", ELEMENT_SET),
        "MATERIAL": Value("material", name_of("material")),
        "MASS": Value("mass_rule", word_of(*MASS_RULES), default="LUMPED", shown=True, is_ours=True),
        "STRAIN": Value("strain", word_of(*STRAINS), default="GREEN", shown=True, is_ours=True),
        "STARTING TENSION": Value("starting_tension", AMOUNT, default=0.0, is_ours=True),
    }
)
"""Parameters of all sections of bars, with or without bending stiffness."""
GENERAL = Parameters(OF_SECTIONS | {"MATERIAL": Value("material", name_of("material"), default=None, is_ours=True)})
SIZES = {"CIRC": ("radius",), "PIPE": ("outer radius", "thickness")}
"""Dimensions of the shapes of sections."""
ALIKE = 1e-6
"""Largest difference of I22 from I11, relative to I11."""
ONE_WAY = {"NO COMPRESSION", "NO TENSION"}
WITHOUT_EFFECT = ("POISSON", "ROTARY INERTIA", "LUMPED", "ZERO", "BEAM SECTION OFFSET")
NUMBERS = DataLine(
    "A, I11, I12, I22, J",
    Value("area", POSITIVE_NUMBER, "the area A"),
    Value("inertia", POSITIVE_NUMBER, "the second moment of area I11"),
    Value("", ANY, "I12", 0.0),
    Value("", ANY, "I22", None),
    Value("", AMOUNT, "the torsion constant J", 0.0),
)


@keyword(
    "BEAM GENERAL SECTION", "model", GENERAL, takes=("SECTION", "DENSITY", STRAIGHT), plus=(STRAIGHT,),
    ignores=WITHOUT_EFFECT, unsupported=("TAPER", "DEPENDENCIES", "TEMPERATURE"),
)  # fmt: skip
def beam_general_section(card: Card, draft: Draft) -> None:
    """``A, I11, I12, I22, J``, or of a shape as in ``*BEAM SECTION``; the direction of the first axis, or a blank line;
    ``E, G``, without MATERIAL=."""
    shape = card.word("SECTION", ("GENERAL", *SIZES), "GENERAL")
    given = GENERAL.read(card, draft)
    rows = list(card.all_rows())
    while rows and not len(rows[-1]):
        rows.pop()
    if not rows:
        what = NUMBERS.text if shape == "GENERAL" else ", ".join(SIZES[shape])
        raise card.mistake(f"*BEAM GENERAL SECTION has no data line ({what})")
    if shape == "GENERAL":
        given |= {field: value for field, value in NUMBERS.read(rows[0], draft).items() if field}
        refuse_flat(rows[0], given["inertia"], draft)
    else:
        given |= round_section(rows[0], shape)
    if len(rows) > 1 and len(rows[1]):
        check_direction(rows[1], draft)
    if given["material"] is None:
        given["material"] = own_material(card, rows, given["element_set"], draft)
    elif card.has("DENSITY") or len(rows) > 2:
        place = card.field("DENSITY").place if card.has("DENSITY") else rows[2].place
        raise Mistake(place, f"E and the density are those of material {given['material']}", "remove MATERIAL=")
    add(card, BarSection(**given), draft)


def refuse_flat(row: Row, inertia: float, draft: Draft) -> None:
    """Mistake if the bending stiffness depends on the direction."""
    if row.number(2, "I12", 0.0) != 0.0:
        raise Mistake(row.field(2).place, f"I12 is {row.field(2).text}: lines that bend have round sections, I12 = 0")
    other = row.number(3, "I22", inertia)
    if abs(other - inertia) > ALIKE * inertia:
        what = f"I22 is {other:g} and I11 {inertia:g}: lines that bend have round sections, I22 = I11"
        raise Mistake(row.field(3).place, what)
    if row.number(4, "J", 0.0) != 0.0:
        draft.ignore("J of *BEAM GENERAL SECTION (lines have no torsion)")


def check_direction(row: Row, draft: Draft) -> None:
    """Checks the direction of the first axis, three numbers, which has no effect for a round section."""
    row.end(3, "the direction of the first axis of the section, three numbers")
    for at in range(3):
        row.number(at, "a component of the direction", 0.0)
    draft.ignore("directions of beam sections (they are round)")


def own_material(card: Card, rows: list[Row], element_set: str, draft: Draft) -> str:
    """The material that E, G and DENSITY make; ``*DAMPING`` may follow."""
    if len(rows) < 3:
        hint = "the second line is the direction of the section, and may be blank"
        raise card.mistake("*BEAM GENERAL SECTION has no third line with E, G", hint)
    rows[2].end(3, "E, G")
    name = f"SECTION OF {element_set}"
    made = MaterialDraft(name, card.place, {"young": rows[2].number(0, "the modulus E", bound=POSITIVE)})
    rows[2].number(1, "the shear modulus G", 0.0)
    if rows[2].number(2, "the expansion", 0.0) != 0.0:
        raise Mistake(rows[2].field(2).place, "thermal expansion is given by *EXPANSION of MATERIAL=")
    if card.has("DENSITY"):
        made.numbers["density"] = card.number("DENSITY", bound=NOT_NEGATIVE)
    made.cards["ELASTIC"] = card.place
    if ("material", name) in draft.names:
        raise card.mistake(f"element set {element_set} has a second *BEAM GENERAL SECTION")
    draft.names.add(("material", name))
    draft.materials[name] = draft.material = made
    return name


@keyword(
    "BEAM SECTION", "model", OF_SECTIONS, takes=(STRAIGHT,), needs=("SECTION",), plus=(STRAIGHT,),
    ignores=WITHOUT_EFFECT, unsupported=("TEMPERATURE",),
)  # fmt: skip
def beam_section(card: Card, draft: Draft) -> None:
    """CIRC: ``radius``; PIPE: ``outer radius, thickness``; then the direction of the first axis, if at all."""
    shape = card.word("SECTION", tuple(SIZES), "")
    given, rows = OF_SECTIONS.read(card, draft), list(draft.rows(card))
    if not rows or len(rows) > 2:
        raise card.mistake(f"*BEAM SECTION, SECTION={shape} takes {listing(SIZES[shape], 'and')}, then a direction")
    given |= round_section(rows[0], shape)
    if len(rows) > 1:
        check_direction(rows[1], draft)
    add(card, BarSection(**given), draft)


def round_section(row: Row, shape: str) -> dict[str, float]:
    """Area and second moment of area of a shape whose sizes are given."""
    what = SIZES[shape]
    if len(row) > len(what):
        hint = "as in Abaqus; CalculiX has two thicknesses there" if shape == "CIRC" else "as in Abaqus"
        raise Mistake(row.field(len(what)).place, f"SECTION={shape} takes {listing(what, 'and')} only", hint)
    sizes = [row.number(at, f"the {name}", bound=POSITIVE) for at, name in enumerate(what)]
    outer, inner = sizes[0], 0.0 if shape == "CIRC" else sizes[0] - sizes[1]
    if inner < 0.0:
        raise Mistake(row.field(1).place, f"the thickness {sizes[1]:g} exceeds the radius {outer:g}")
    inertia = 0.25 * math.pi * (outer * outer * outer * outer - inner * inner * inner * inner)
    return {"area": math.pi * (outer * outer - inner * inner), "inertia": inertia}


def add(card: Card, section: BarSection, draft: Draft) -> None:
    card.flag(STRAIGHT)
    draft.properties.append(Property(section.element_set, card, section))


def written_beam(section: BarSection) -> list[str]:
    """The card of a section; nodes are written where lines were laid, so that it says how they are at rest."""
    numbers = NUMBERS.values[0].kind.written(section.area), NUMBERS.values[1].kind.written(section.inertia)
    head = keyword_line("BEAM GENERAL SECTION", **GENERAL.written(section))
    return [f"{head}, {STRAIGHT}", f"{numbers[0]}, {numbers[1]}, 0.0, {numbers[1]}, 0.0"]


def check_beams(draft: Draft, mesh: Mesh) -> None:
    """Materials, joints and shapes of lines that bend."""
    for entry in draft.properties:
        section = entry.value
        if not isinstance(section, BarSection) or section.material not in draft.materials:
            continue
        cards, name = draft.materials[section.material].cards, section.material
        if not section.inertia and {"ELASTIC", "INEXTENSIBLE"} <= cards.keys():
            hint = "a bar is either elastic or inextensible; E is for lines that bend, B31"
            draft.report(Mistake(cards["ELASTIC"], f"*ELASTIC with *INEXTENSIBLE in material {name}", hint))
        for law in (law for law in ROPE_LAWS if section.inertia and law in cards):
            draft.report(entry.card.mistake(f"material {name} has *{law}: lines that bend are made of *ELASTIC"))
        if section.inertia and "INEXTENSIBLE" in cards and ("ELASTIC" not in cards or cards.keys() & ONE_WAY):
            what = f"material {name} has *INEXTENSIBLE: lines that bend need *ELASTIC beside it, for E in EI"
            draft.report(entry.card.mistake(what, "they are rods, without *NO COMPRESSION or *NO TENSION"))
    beams = {} if draft.mistakes else beams_at(mesh)  # an incomplete mesh cannot be checked
    if not beams:
        return
    clamped = {int(mesh.nodes_of(each.target)[0]) for each in draft.rotations if each.target in draft.clamps}
    labels = mesh.node_labels
    for node, found in beams.items():
        if len(found) > 2 and node not in clamped:
            label = int(mesh.element_labels[found[2][0]])
            what = f"{len(found)} elements B31 meet at node {draft.as_written(labels[node])}, where two can"
            hint = "where the line that ends there is hinged: make its last element T3D2, or give it a node of its own "
            hint += (
                "that *EQUATION ties; where it is not: TIE NSET= of a free *RIGID BODY (MASS, ROTARYI) takes the node"
            )
            draft.report(Mistake(draft.elements.place_of(label), what, hint))
    if not draft.mistakes:
        blame_bent(draft, mesh, clamped)


def blame_bent(draft: Draft, mesh: Mesh, clamped: set[int]) -> None:
    """Mistake where a line is bent in the deck, unless the deck says that it is straight at rest."""
    straightens = np.zeros(len(mesh.element_labels), np.bool_)
    for entry in draft.properties:
        if isinstance(entry.value, BarSection) and entry.card.has(STRAIGHT):
            straightens[mesh.element_sets[entry.element_set]] = True
    laid = [piece.labels for catenary in draft.catenaries for piece in catenary.pieces]
    is_laid = np.isin(mesh.node_labels, np.concatenate([np.zeros(0, np.int64), *laid]))
    nodes, bars = find_angles(mesh, clamped)
    open_ones = (nodes[:, 0] >= 0) & ~straightens[bars].any(axis=1) & ~is_laid[nodes[:, 1]]
    before, node, after = nodes[open_ones].T
    first, second = (mesh.coordinates[j] - mesh.coordinates[i] for i, j in ((before, node), (node, after)))
    with np.errstate(over="ignore", invalid="ignore"):  # infinite lengths are refused later
        phi = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), (first * second).sum(axis=1))
    for at in np.flatnonzero(phi > BENT)[:1].tolist():
        what = f"the line is bent at node {draft.as_written(mesh.node_labels[node[at]])}, by "
        what += f"{math.degrees(phi[at]):.4g} degrees: lines are straight at rest"
        hint = f"{STRAIGHT} of its section says that it is bent by force in the deck; *NGEN, LINE=CATENARY lays it so"
        label = int(mesh.element_labels[bars[open_ones][at, 1]])
        draft.report(Mistake(draft.elements.place_of(label), what, hint))


class Clamps:
    """Rotations of nodes with beams that are held, in all steps.

    given  by node (index): the dofs held, and their place in the deck
    tied   nodes that a body holds (TIE NSET)
    """

    def __init__(self, draft: Draft, mesh: Mesh) -> None:
        self.draft, self.mesh, self.beams = draft, mesh, {} if draft.mistakes else beams_at(mesh)
        self.given: dict[int, dict[int, Place]] = {}
        self.tied: set[int] = set()

    def take(self, part: Draft | StepDraft, nodes: Iterable[int], entry: Boundary, place: Place) -> None:
        """Holds a rotation of some nodes with beams. In steps after the first it must be held already."""
        nodes = list(nodes)
        if nodes and entry.value != 0.0:
            self.draft.report(Mistake(place, "rotations of lines are held at zero only"))
            return
        is_late = part is not self.draft and part is not self.draft.first_step
        for node in nodes:
            if is_late and entry.dof not in self.given.get(node, {}):
                name = self.draft.as_written(self.mesh.node_labels[node])
                what = f"the direction of the line at node {name} is held from this step on, which is not supported"
                self.draft.report(Mistake(place, what, "hold it from the first step on"))
                return
            self.given.setdefault(node, {}).setdefault(entry.dof, place)

    def replaced(self, part: StepDraft, named: set[int]) -> None:
        """Mistake if OP=NEW in a step releases rotations: ``named``: the nodes whose rotations it holds again."""
        if part is self.draft.first_step and not self.given:
            return
        for node in sorted(self.given.keys() - named)[:1]:
            name = self.draft.as_written(self.mesh.node_labels[node])
            what = f"OP=NEW releases the direction of the line at node {name}, which is not supported"
            self.draft.report(Mistake(part.changed["BOUNDARY"], what, "repeat its dofs 4 to 6"))

    def finish(self) -> None:
        """Checks that rotations are held completely, and adds them to the supports before the first step."""
        for node in sorted(self.tied):
            self.given[node] = dict.fromkeys((4, 5, 6), self.draft.nodes.place_of(int(self.mesh.node_labels[node])))
        for node, dofs in self.given.items():
            label = int(self.mesh.node_labels[node])
            for _, other in self.beams[node]:
                way = self.mesh.coordinates[other] - self.mesh.coordinates[node]
                turning = {axis + 4 for axis in range(3) if np.abs(np.delete(way, axis)).any()}
                if missing := turning - dofs.keys():
                    held, free = (listing(map(str, sorted(each)), "and") for each in (dofs, missing))
                    what = f"node {self.draft.as_written(label)} is held in {held}, not in {free}: "
                    what += "hinges about an axis are not supported"
                    self.draft.report(Mistake(next(iter(dofs.values())), what, "hold 4, 5 and 6"))
                    break
            self.draft.clamps.add(label)
            self.draft.rotations += [Boundary(label, dof) for dof in sorted(dofs)]


def turn_clamps(model: Model) -> Model:
    """The model with a node added to the body behind each clamp on it, at a distance of the length of the bar.
    ValueError: a line is clamped across the axis of a body of two points, whose rotation about it is undefined."""
    found = find_angles_on(model)
    if not found:
        return model
    mesh, free = model.mesh, len(model.bodies)
    labels, places, sets, equations = [mesh.node_labels], [mesh.coordinates], dict(mesh.node_sets), [*model.equations]
    bodies = [*model.bodies, *model.free_bodies]
    for number, nodes in found.items():
        body, first = bodies[number], sum(map(len, labels))
        label = int(max(each.max() for each in labels)) + 1
        labels.append(label + np.arange(len(nodes)))
        places.append(2.0 * mesh.coordinates[nodes[:, 0]] - mesh.coordinates[nodes[:, 1]])
        name, own = f"TIED TO {body.node}", first + np.arange(len(nodes))
        sets[name], bodies[number] = np.append(mesh.nodes_of(body.pinned), own), replace(body, pinned=name)
        if number < free:
            continue
        points = mesh.node_sets[body.corners or ""]
        middle = mesh.coordinates[points].mean(axis=0)
        rows = weights(mesh.coordinates[points] - middle, places[-1] - middle)
        off = np.linalg.norm(rows @ mesh.coordinates[points] - places[-1], axis=1)
        for at in np.flatnonzero(off > BEHIND * np.linalg.norm(places[-1] - middle, axis=1))[:1].tolist():
            what = f"the line at node {mesh.named(int(mesh.node_labels[nodes[at, 0]]))} is clamped across the axis of "
            what += f"a slender body (node {mesh.named(body.node)}), which has no rotation about its axis"
            raise ValueError(what)
        for node, row in zip(own.tolist(), rows.tolist(), strict=True):
            terms = [(int(point), w) for point, w in zip(points, row, strict=True) if w]
            equations += [Equation(((node, dof, -1.0), *((point, dof, w) for point, w in terms))) for dof in (1, 2, 3)]
    mesh = replace(mesh, node_labels=np.concatenate(labels), coordinates=np.concatenate(places), node_sets=sets)
    both = tuple(bodies[:free]), tuple(bodies[free:])
    return replace(model, mesh=mesh, equations=tuple(equations), bodies=both[0], free_bodies=both[1])


def find_angles_on(model: Model) -> dict[int, Ints]:
    """By number of a body: node and next node (c, 2) of clamps on it that have no node of the body behind them."""
    if not model.bends:
        return {}
    nodes, _ = model.bent_at
    nodes = nodes[nodes[:, 0] < 0, 1:]
    own = [nodes[np.isin(nodes[:, 0], model.nodes_on(body))] for body in (*model.bodies, *model.free_bodies)]
    return {number: each for number, each in enumerate(own) if len(each)}
