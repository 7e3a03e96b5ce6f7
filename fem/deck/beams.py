"""Sections of lines that bend, B31: ``*BEAM GENERAL SECTION`` and ``*BEAM SECTION``. Refused: other joints, lines
without torsion that are bent in the deck, nodes of which only some rotations are held.

A rotation of a node that is held keeps the directions of its bars for the whole run: in space, or on a rigid body. The
one about the axis of a line that twists may be prescribed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.deck.cards import NOT_NEGATIVE, POSITIVE, Card, Row
from fem.deck.draft import Draft, MaterialDraft, Property, StepDraft
from fem.deck.kinds import AMOUNT, ANY, ELEMENT_SET, POSITIVE_NUMBER, name_of, word_of
from fem.deck.materials import ROPE_LAWS
from fem.deck.source import Mistake, Place, listing
from fem.deck.table import DataLine, Parameters, Value, keyword, keyword_line
from fem.errors import listed
from fem.model import MASS_RULES, STRAINS, BarSection, Boundary, Equation, Mesh, Model
from fem.model.beams import BEHIND, beams_at, find_angles
from fem.model.free_bodies import weights
from fem.model.twists import BENT, BESIDE, NoTwist, across, bends, beside_n1, find_twists, straightened

STRAIGHT = "STRAIGHT AT REST"
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
COUPLING = {"COUPLING": Value("coupling", ANY, default=0.0, is_ours=True)}
OF_BEAMS = Parameters(OF_SECTIONS | COUPLING)
GENERAL = Parameters(OF_BEAMS | {"MATERIAL": Value("material", name_of("material"), default=None, is_ours=True)})
SIZES = {
    "CIRC": ("radius",), "PIPE": ("outer radius", "thickness"), "RECT": ("width along the first axis", "height"),
}  # fmt: skip
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
    Value("second", ANY, "I22", None),
    Value("torsion", AMOUNT, "the torsion constant J", 0.0),
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
        refuse_flat(rows[0], given)
    else:
        given |= section_of(rows[0], shape)
    if len(rows) > 1 and len(rows[1]):
        given["direction"] = direction_of(rows[1])
    if given["material"] is None:
        given["material"] = own_material(card, rows, given, draft)
    elif card.has("DENSITY") or (len(rows) > 2 and rows[2].field(0).text):
        place = card.field("DENSITY").place if card.has("DENSITY") else rows[2].place
        what = f"E and the density are those of material {given['material']}"
        raise Mistake(place, what, "remove MATERIAL=, or give G alone, after a comma")
    elif len(rows) > 2:
        given["shear"] = rows[2].number(1, "the shear modulus G", bound=POSITIVE)
    add(card, given, draft)


def refuse_flat(row: Row, given: dict[str, Any]) -> None:
    """Mistake if a section that is not round has no torsion constant, or none of its axes is principal."""
    if row.number(2, "I12", 0.0) != 0.0:
        raise Mistake(row.field(2).place, f"I12 is {row.field(2).text}: the axes of sections are principal, I12 = 0")
    other, inertia = given["second"], given["inertia"]
    if other is None or abs(other - inertia) <= ALIKE * inertia:
        given["second"] = 0.0
    elif other <= 0.0:
        raise Mistake(row.field(3).place, f"I22 is {other:g}; expected more than 0")
    elif not given["torsion"]:
        what = f"I22 is {other:g} and I11 {inertia:g}: a line that is not round and has no J would spin freely"
        raise Mistake(row.field(3).place, what, "give the torsion constant J, and G")


def direction_of(row: Row) -> tuple[float, ...]:
    """The direction of the first axis, three numbers."""
    row.end(3, "the direction of the first axis of the section, three numbers")
    found = tuple(row.number(at, "a component of the direction", 0.0) for at in range(3))
    if not any(found):
        raise Mistake(row.place, "the direction of the first axis is zero")
    return found


def own_material(card: Card, rows: list[Row], given: dict[str, Any], draft: Draft) -> str:
    """The material that E, G and DENSITY make; ``*DAMPING`` may follow."""
    if len(rows) < 3:
        hint = "the second line is the direction of the section, and may be blank"
        raise card.mistake("*BEAM GENERAL SECTION has no third line with E, G", hint)
    rows[2].end(3, "E, G")
    element_set = given["element_set"]
    name = f"SECTION OF {element_set}"
    made = MaterialDraft(name, card.place, {"young": rows[2].number(0, "the modulus E", bound=POSITIVE)})
    given["shear"] = rows[2].number(1, "the shear modulus G", 0.0, bound=NOT_NEGATIVE)
    if not given["shear"] and given["torsion"]:
        if given["second"] or given["coupling"]:
            raise Mistake(rows[2].place, "the section resists torsion and has no shear modulus", "E, G")
        draft.ignore("J of *BEAM GENERAL SECTION without G (the line has no torsion)")
        given["torsion"] = 0.0
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
    "BEAM SECTION", "model", OF_BEAMS, takes=(STRAIGHT,), needs=("SECTION",), plus=(STRAIGHT,),
    ignores=WITHOUT_EFFECT, unsupported=("TEMPERATURE",),
)  # fmt: skip
def beam_section(card: Card, draft: Draft) -> None:
    """CIRC: ``radius``; PIPE: ``outer radius, thickness``; RECT: ``width, height``; then the direction of the first
    axis, if at all."""
    shape = card.word("SECTION", tuple(SIZES), "")
    given, rows = OF_BEAMS.read(card, draft), list(draft.rows(card))
    if not rows or len(rows) > 2:
        raise card.mistake(f"*BEAM SECTION, SECTION={shape} takes {listing(SIZES[shape], 'and')}, then a direction")
    given |= section_of(rows[0], shape)
    if len(rows) > 1:
        given["direction"] = direction_of(rows[1])
    add(card, given, draft)


def section_of(row: Row, shape: str) -> dict[str, float]:
    """Area, second moments of area and torsion constant of a shape whose sizes are given. The torsion constant of a
    rectangle: Timoshenko & Goodier, Theory of Elasticity, section 109."""
    what = SIZES[shape]
    if len(row) > len(what):
        hint = "as in Abaqus; CalculiX has two thicknesses there" if shape == "CIRC" else "as in Abaqus"
        raise Mistake(row.field(len(what)).place, f"SECTION={shape} takes {listing(what, 'and')} only", hint)
    sizes = [row.number(at, f"the {name}", bound=POSITIVE) for at, name in enumerate(what)]
    if shape == "RECT":
        a, b = sizes
        short, long = min(sizes), max(sizes)
        lost = sum(math.tanh(0.5 * n * math.pi * long / short) / n**5 for n in range(1, 40, 2))
        torsion = long * short**3 / 3.0 * (1.0 - 192.0 / math.pi**5 * short / long * lost)
        second = a**3 * b / 12.0 if abs(a - b) > ALIKE * a else 0.0
        return {"area": a * b, "inertia": a * b**3 / 12.0, "second": second, "torsion": torsion}
    outer, inner = sizes[0], 0.0 if shape == "CIRC" else sizes[0] - sizes[1]
    if inner < 0.0:
        raise Mistake(row.field(1).place, f"the thickness {sizes[1]:g} exceeds the radius {outer:g}")
    inertia = 0.25 * math.pi * (outer * outer * outer * outer - inner * inner * inner * inner)
    return {"area": math.pi * (outer * outer - inner * inner), "inertia": inertia, "torsion": 2.0 * inertia}


def add(card: Card, given: dict[str, Any], draft: Draft) -> None:
    is_straight = card.flag(STRAIGHT)
    if not given["torsion"]:
        if given.pop("direction", ()):
            draft.ignore("directions of beam sections (they are round)")
        is_straight, given["shear"] = False, 0.0
    section = BarSection(**given, is_straight=is_straight)
    if section.coupling and not section.torsion:
        raise Mistake(card.field("COUPLING").place, "COUPLING couples tension and torsion, and J is 0", "give J and G")
    draft.properties.append(Property(section.element_set, card, section))


def written_beam(section: BarSection) -> list[str]:
    """The card of a section; nodes are written where lines were laid, so that it says how they are at rest."""
    second = section.second or section.inertia
    numbers = [repr(each) if each else "0.0" for each in (section.area, section.inertia, 0.0, second, section.torsion)]
    head = keyword_line("BEAM GENERAL SECTION", **GENERAL.written(section))
    lines = [head + (f", {STRAIGHT}" if section.is_straight or not section.torsion else ""), ", ".join(numbers)]
    if section.direction or section.shear:
        lines.append(", ".join(map(repr, section.direction)))
    return lines + ([f", {section.shear!r}"] if section.shear else [])


def straighten(draft: Draft, mesh: Mesh) -> None:
    """Lines that resist torsion and were laid (``*NGEN, LINE=CATENARY``) are straight at rest."""
    if not draft.catenaries or draft.mistakes:
        return
    laid = [piece.labels for catenary in draft.catenaries for piece in catenary.pieces]
    is_laid = np.isin(mesh.node_labels, np.concatenate([np.zeros(0, np.int64), *laid]))
    for at, entry in enumerate(draft.properties):
        section = entry.value
        if not isinstance(section, BarSection) or not section.torsion or section.is_straight:
            continue
        own: Flags = np.asarray(is_laid[mesh.element_nodes[mesh.element_sets[entry.element_set]]].all(axis=1))
        if own.all() and len(own):
            draft.properties[at] = entry._replace(value=replace(section, is_straight=True))
        elif own.any():
            what = "some lines of this section are laid by *NGEN, LINE=CATENARY, straight at rest, and others are drawn"
            draft.report(entry.card.mistake(what, f"give them sections of their own, or {STRAIGHT}"))


def check_twists(draft: Draft, model: Model) -> None:
    """Lines that cannot twist as the deck says, and bodies that do not twist them."""
    if not (model.may_twist and model.bends):
        return
    mesh = model.mesh
    for number, swivels in enumerate(held_by(model)):
        if len(swivels) and len(points_of(model, number)) == 2:
            body = model.free_bodies[number - len(model.bodies)]
            names = listed(mesh.node_names[model.bent_at[0][swivels, 1]].tolist())
            draft.notice(
                f"the free body of node {mesh.node_names[mesh.nodes_of(body.node)[0]]} is slender, with no rotation "
                f"about its axis: it is a swivel for the line at node {names}, which it does not twist"
            )
    try:
        found = find_twists(model)
    except NoTwist as error:
        draft.report(Mistake(draft.elements.place_of(int(mesh.element_labels[error.bar])), f"the line: {error}"))
        return
    nodes = [] if found is None else mesh.node_labels[found.node[found.node >= 0]].tolist()
    for each, place in draft.turned_clamps:
        if each.target not in nodes:
            what = f"the line at node {mesh.named(int(each.target))} has no torsion, and cannot be turned about itself"
            draft.report(Mistake(place, what, "give its section J and G, and hold or swivel its other end"))
    if found is None:
        return
    if askew := beside_n1(model, found):
        bar, start = mesh.element_labels[list(askew[:2])]
        draft.notice(
            f"a line with a section that is not round is curved in space: n1 is carried along it from element {start}, "
            f"which has the lowest number, and is {np.degrees(askew[2]):.3g} degrees off at element {bar} from the n1 "
            "of the section, which Abaqus would take there. Other numbers of elements would give another line: "
            "sections of their own, each with its n1, say how each part lies"
        )
    bars = np.unique(model.bent_at[1][found.angles])
    gone = [(entry.target, place) for entry, place in draft.failures]
    gone += [removal for step in draft.steps for removal in step.removals]
    for target, place in gone:
        if np.isin(mesh.elements_of(target), bars).any():
            draft.report(Mistake(place, "elements of lines that twist cannot break or be removed"))


def put_beside(model: Model) -> Model:
    """The model with a node of the body beside each line that resists torsion and is clamped on it; not on slender free
    bodies, which have no rotation about their axis."""
    if not (model.may_twist and model.bends):
        return model
    nodes, place, added = model.bent_at[0], model.mesh.coordinates, dict[int, tuple[Ints, Floats]]()
    labels, sets = model.mesh.node_labels, model.mesh.node_sets
    for number, its in enumerate(held_by(model)):
        its = its[[f"{BESIDE} {labels[node]}" not in sets for node in nodes[its, 1]]]  # a written deck has them
        if len(its) and len(points_of(model, number)) != 2:
            node, after = nodes[its, 1:].T
            way = place[after] - place[node]
            size = np.linalg.norm(way, axis=1, keepdims=True)
            added[number] = node, place[node] + size * np.array([across(each) for each in way / size])
    if not added:
        return model
    model, own = tied(model, added)
    for number, (node, _) in added.items():
        for each in np.unique(node).tolist():
            model.mesh.node_sets[f"{BESIDE} {model.mesh.node_labels[each]}"] = own[number][node == each]
    return model


def held_by(model: Model) -> list[Ints]:
    """Of each body, then of each free body, the clamps on it of lines that resist torsion, as indices of angles."""
    nodes, bars = model.bent_at
    stiff = [model.mesh.element_sets[each.element_set] for each in model.sections if each.torsion]
    on_body = (bars[:, 0] < 0) & (nodes[:, 0] >= 0) & np.isin(bars[:, 1], np.concatenate(stiff))
    bodies = (*model.bodies, *model.free_bodies)
    return [np.flatnonzero(on_body & np.isin(nodes[:, 1], model.nodes_on(body))) for body in bodies]


def points_of(model: Model, number: int) -> Ints:
    """The points of a free body, whose number follows on those of bodies, of which it has none."""
    free = number - len(model.bodies)
    return model.mesh.node_sets[model.free_bodies[free].corners or ""] if free >= 0 else np.zeros(0, np.int64)


def tied(model: Model, added: dict[int, tuple[Ints, Floats]]) -> tuple[Model, dict[int, Ints]]:
    """The model with nodes added to bodies, for clamps on them; and these, by number of the body.
    added  number of a body -> nodes of the clamps, and places
    ValueError: a line is clamped across the axis of a body of two points, whose rotation about it is undefined."""
    mesh, free, found = model.mesh, len(model.bodies), dict[int, Ints]()
    labels, places, sets, equations = [mesh.node_labels], [mesh.coordinates], dict(mesh.node_sets), [*model.equations]
    bodies = [*model.bodies, *model.free_bodies]
    for number, (nodes, new) in added.items():
        body, own = bodies[number], sum(map(len, labels)) + np.arange(len(new))
        labels.append(int(max(each.max() for each in labels)) + 1 + np.arange(len(new)))
        places.append(new)
        name, found[number] = f"TIED TO {body.node}", own
        before = sets[name] if body.pinned == name else mesh.nodes_of(body.pinned)
        sets[name], bodies[number] = np.append(before, own), replace(body, pinned=name)
        if number < free:
            continue
        points = points_of(model, number)
        middle = mesh.coordinates[points].mean(axis=0)
        rows = weights(mesh.coordinates[points] - middle, new - middle)
        off = np.linalg.norm(rows @ mesh.coordinates[points] - new, axis=1)
        for at in np.flatnonzero(off > BEHIND * np.linalg.norm(new - middle, axis=1))[:1].tolist():
            what = f"the line at node {mesh.named(int(mesh.node_labels[nodes[at]]))} is clamped across the axis of "
            what += f"a slender body (node {mesh.named(body.node)}), which has no rotation about its axis"
            raise ValueError(what)
        for node, row in zip(own.tolist(), rows.tolist(), strict=True):
            terms = [(int(point), w) for point, w in zip(points, row, strict=True) if w]
            equations += [Equation(((node, d, -1.0), *((point, d, w) for point, w in terms))) for d in (1, 2, 3)]
    mesh = replace(mesh, node_labels=np.concatenate(labels), coordinates=np.concatenate(places), node_sets=sets)
    both = tuple(bodies[:free]), tuple(bodies[free:])
    return replace(model, mesh=mesh, equations=tuple(equations), bodies=both[0], free_bodies=both[1]), found


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
    laid = [piece.labels for catenary in draft.catenaries for piece in catenary.pieces]
    is_laid = np.isin(mesh.node_labels, np.concatenate([np.zeros(0, np.int64), *laid]))
    nodes, bars = find_angles(mesh, clamped)
    sections = [
        replace(entry.value, is_straight=entry.card.has(STRAIGHT))
        for entry in draft.properties
        if isinstance(entry.value, BarSection)
    ]
    stiff = np.zeros(len(mesh.element_labels), np.bool_)
    for section in (each for each in sections if each.torsion):
        stiff[mesh.element_sets[section.element_set]] = True
    phi = bends(mesh, nodes)
    phi[straightened(sections, mesh, bars) | is_laid[nodes[:, 1]] | stiff[bars].all(axis=1)] = 0.0
    for at in np.flatnonzero(phi > BENT)[:1].tolist():
        what = f"the line is bent at node {draft.as_written(mesh.node_labels[nodes[at, 1]])}, by "
        what += f"{math.degrees(phi[at]):.4g} degrees: lines without torsion (J) are straight at rest"
        hint = f"{STRAIGHT} of its section says that it is bent by force in the deck; *NGEN, LINE=CATENARY lays it so"
        label = int(mesh.element_labels[bars[at, 1]])
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
        self.turned: set[tuple[int, int]] = set()

    def _axes(self, node: int) -> Iterable[int]:
        """Of each bar at a node, the rotation (4 to 6) about its axis; 0: it is not along x, y or z."""
        for _, other in self.beams[node]:
            way = self.mesh.coordinates[other] - self.mesh.coordinates[node]
            (along,) = np.nonzero(way)
            yield 4 + int(along[0]) if len(along) == 1 else 0

    def take(self, part: Draft | StepDraft, nodes: Iterable[int], entry: Boundary, place: Place) -> None:
        """Holds a rotation of some nodes with beams. In steps after the first it must be held already."""
        nodes = list(nodes)
        for node in nodes:
            label = int(self.mesh.node_labels[node])
            if entry.value != 0.0 and not all(along == entry.dof for along in self._axes(node)):
                what = "rotations of lines are held at zero, except the one about the axis of a line along x, y or z"
                self.draft.report(Mistake(place, what, "others are moved by *RIGID BODY"))
                return
            turned = (node, entry.dof) in self.turned or entry.value != 0.0
            if turned and not isinstance(part, Draft):
                self.turned.add((node, entry.dof))
                part.rotations.append(replace(entry, target=label))
                self.draft.turned_clamps.append((part.rotations[-1], place))
        is_late = part is not self.draft and part is not self.draft.first_step
        for node in nodes:
            if is_late and entry.dof not in self.given.get(node, {}):
                name = self.draft.as_written(self.mesh.node_labels[node])
                what = f"the direction of the line at node {name} is held from this step on, which is not supported"
                self.draft.report(Mistake(place, what, "hold it from the first step on"))
                return
            self.given.setdefault(node, {}).setdefault(entry.dof, place)

    def replaced(self, part: StepDraft, named: set[tuple[int, int]]) -> None:
        """Mistake if OP=NEW in a step releases rotations; named: the nodes and dofs that it holds again."""
        if part is self.draft.first_step and not self.given:
            return
        for node in sorted(self.given):
            left = sorted(dof for dof in self.given[node] if (node, dof) not in named)
            if not left:
                continue
            name, place = self.draft.as_written(self.mesh.node_labels[node]), part.changed["BOUNDARY"]
            if any((node, dof) in self.turned for dof in left):
                what = f"OP=NEW releases the line at node {name}, which was turned, which is not supported"
                hint = "repeat its dofs 4 to 6; moments on a free *RIGID BODY wind a line up, and let it go"
            else:
                what = f"OP=NEW releases the direction of the line at node {name}, which is not supported"
                hint = "repeat its dofs 4 to 6"
            self.draft.report(Mistake(place, what, hint))
            return

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
    """The model with a node added to the body behind each clamp on it, at a distance of the length of the bar."""
    place, found = model.mesh.coordinates, find_angles_on(model)
    added = {number: (nodes[:, 0], 2.0 * place[nodes[:, 0]] - place[nodes[:, 1]]) for number, nodes in found.items()}
    return tied(model, added)[0] if added else model


def find_angles_on(model: Model) -> dict[int, Ints]:
    """By number of a body: node and next node (c, 2) of clamps on it that have no node of the body behind them."""
    if not model.bends:
        return {}
    nodes, _ = model.bent_at
    nodes = nodes[nodes[:, 0] < 0, 1:]
    own = [nodes[np.isin(nodes[:, 0], model.nodes_on(body))] for body in (*model.bodies, *model.free_bodies)]
    return {number: each for number, each in enumerate(own) if len(each)}
