"""Properties of element sets: sections, springs, dashpots, masses, rest lengths, pulleys; each element has exactly one.

Data lines of ``*SPRING`` and ``*DASHPOT``: an optional dof line, then a constant or a table.

| elements            | dof line                                             | then            |
|---------------------|------------------------------------------------------|-----------------|
| SPRINGA, DASHPOTA   | none, blank, or up to two dofs (without effect)      | k, c or a table |
| SPRING1, DASHPOT1   | one dof                                              | k, c or a table |
| SPRING2, DASHPOT2   | two dofs: of the first node, of the second           | k, c or a table |
A table row has two entries, so a first row of two entries above a table of SPRINGA is its first point.
"""

from __future__ import annotations

import numpy as np

from fem import model
from fem.arrays import distinct
from fem.deck.beams import OF_SECTIONS
from fem.deck.cards import NEGATIVE, Bound, Card, Row
from fem.deck.conditions import translation
from fem.deck.draft import Draft, Property
from fem.deck.kinds import AMOUNT, ANY, ELEMENT_SET, POSITIVE_NUMBER, name_of, target_of, within, word_for, word_of
from fem.deck.source import Mistake, listing, shown
from fem.deck.table import DataLine, Form, Parameters, Value, card_of, keyword
from fem.model.mesh import BEAMS, REEVED, TRUSSES

GLOBAL_AXES = {"ORIENTATION": "is not supported: dofs are those of the global axes"}
NO_LAYERS = {"COMPOSITE": "is not supported: bars have no layers"}
LINEAR = {"NONLINEAR": "is not supported: dashpots are linear"}
NOT_YET = {"AMPLITUDE": "is not supported: *MODEL CHANGE, TYPE=NONSTRUCTURAL MASS adds or removes it at a step"}
OTHER_SPRINGS = ("DEPENDENCIES", "COMPLEX STIFFNESS", "RTOL")
ELSET = Value("element_set", ELEMENT_SET)
SOLID_SECTION = Form(
    model.BarSection,
    OF_SECTIONS,
    DataLine("the area", Value("area", POSITIVE_NUMBER, "the area")),
    statement={"ignores": ("CONTROLS", "ORIENTATION"), "refuses": NO_LAYERS},
)
MASS = Form(
    model.PointMass,
    Parameters(
        ELSET=ELSET, ALPHA=Value("alpha", AMOUNT, default=0.0), TYPE=Value("", word_of("ISOTROPIC"), default="")
    ),
    DataLine("the mass", Value("mass", within(NEGATIVE), "the mass")),
    statement={"ignores": ("ORIENTATION",), "unsupported": ("COMPOSITE",)},
)
ROTARY_INERTIA = Form(
    model.RotaryInertia,
    Parameters(ELSET=ELSET),
    DataLine(
        "I11, I22, I33, I12, I13, I23",
        *3 * (Value("moments", AMOUNT, "a moment of inertia"),),
        *3 * (Value("moments", ANY, "a product of inertia", 0.0),),
    ),
    statement={"ignores": ("ORIENTATION",), "unsupported": ("COMPOSITE", "ALPHA")},
)
OTHERS = "others"
"""Field of the model for registered keywords."""
LISTED: dict[str, Form] = {
    "NONSTRUCTURAL MASS": Form(
        model.NonstructuralMass,
        Parameters(
            ELSET=ELSET,
            UNITS=Value("is_total", word_for({"MASS PER LENGTH": False, "TOTAL MASS": True}, in_quotes=True)),
            NAME=Value("name", name_of(), default=None, is_ours=True),
        ),
        DataLine("the mass", Value("value", within(NEGATIVE), "the mass")),
        into="nonstructural",
        statement={"ignores": ("DISTRIBUTION",), "refuses": NOT_YET},
    ),
    "REST LENGTH": Form(
        model.RestLength,
        line=DataLine(
            "elements, rest length, that beyond the pulley",
            Value("target", target_of("element")),
            Value("length", POSITIVE_NUMBER, "the rest length"),
            Value("second", POSITIVE_NUMBER, "the length beyond the pulley", None),
        ),
        into="rest_lengths",
        is_list=True,
        statement={"extension": "*REST LENGTH"},
    ),
    "VIV": Form(
        model.VortexLift,
        Parameters(ELSET=ELSET),
        DataLine(
            "D, Cl, centre, band",
            Value("diameter", POSITIVE_NUMBER, "the diameter D"),
            Value("coefficient", POSITIVE_NUMBER, "the lift coefficient Cl"),
            Value("centre", POSITIVE_NUMBER, "the centre of the frequencies", 0.18),
            Value("band", AMOUNT, "the band of the frequencies", 0.08),
        ),
        into="vortices",
        statement={"extension": "*VIV"},
    ),
    "PULLEY": Form(
        model.Pulley,
        Parameters(ELSET=ELSET),
        DataLine("the coefficient of friction", Value("friction", AMOUNT, "the coefficient of friction")),
        into="pulleys",
        statement={"extension": "*PULLEY"},
    ),
}
"""Cards whose objects are entries of a list of the model, in the order in which they are written."""


def of_elements(form: Form, card: Card, draft: Draft) -> None:
    """Assigns a property to its elements, which may have only one."""
    if card.keyword == "SOLID SECTION" and draft.has_failed("ELEMENT") and not any(card.rows):
        form.parameters.read(card, draft)
        return  # solids have no area; they are refused already
    if card.keyword == "SOLID SECTION" and not any(card.rows) and any(True for _ in card.all_rows()):
        given = {**form.parameters.read(card, draft), "area": 1.0}
        draft.notice(f"*SOLID SECTION of {given['element_set']} has a blank line: area 1, as in Abaqus and CalculiX")
        draft.properties.append(Property(given["element_set"], card, model.BarSection(**given)))
        return
    for value, _ in form.read(card, draft):
        draft.properties.append(Property(value.element_set, card, value))


@keyword("SPRING", "model", needs=("ELSET",), takes=("NONLINEAR",), refuses=GLOBAL_AXES, unsupported=OTHER_SPRINGS)
@keyword("DASHPOT", "model", needs=("ELSET",), refuses=GLOBAL_AXES | LINEAR, unsupported=("DEPENDENCIES",))
def by_kind(card: Card, draft: Draft) -> None:
    """``*SPRING`` and ``*DASHPOT`` are kept as text until the kind of their elements is known."""
    if card.keyword == "SPRING":
        card.flag("NONLINEAR")
    draft.properties.append(Property(draft.named(card, "ELSET", "element"), card))


@keyword("CONNECTOR SECTION", "model", needs=("ELSET", "BEHAVIOR"), unsupported=("CONSTRAINTS", "CONTROLS"))
def connector_section(card: Card, draft: Draft) -> None:
    """``AXIAL``: connectors that are springs along the line of their nodes, with the elasticity of a behavior."""
    field = draft.single_row(card, "the type of connection").field(0)
    if field.text.upper() != "AXIAL":
        hint = "AXIAL is; *MPC LINK keeps a distance, *MPC PIN moves two nodes as one, *RIGID BODY is stiff"
        raise Mistake(field.place, f"connectors of type {shown(field.text)} are not supported", hint)
    draft.named(card, "BEHAVIOR", "connector behavior")
    draft.properties.append(Property(draft.named(card, "ELSET", "element"), card))


@keyword("CONNECTOR BEHAVIOR", "model", needs=("NAME",), unsupported=("INTEGRATION",))
def connector_behavior(card: Card, draft: Draft) -> None:
    """Opens a behavior, whose elasticity stands below."""
    draft.connector_behaviors[draft.declare(card, "connector behavior")] = None
    draft.no_rows(card)


ONE_WAY = {"RIGID": "is not supported: *MPC LINK keeps a distance"}


@keyword(
    "CONNECTOR ELASTICITY", "model", takes=("NONLINEAR", "COMPONENT"), refuses=ONE_WAY,
    unsupported=("DEPENDENCIES", "EXTRAPOLATION", "FREQUENCY DEPENDENCE", "INDEPENDENT COMPONENTS", "REGULARIZE"),
)  # fmt: skip
def connector_elasticity(card: Card, draft: Draft) -> None:
    """A stiffness, or with NONLINEAR a table of force and elongation, as of ``*SPRING``; read with the section."""
    name = next(reversed(draft.connector_behaviors), None)
    if name is None or draft.connector_behaviors[name]:
        what = "there is none" if name is None else f"{name} has an elasticity already"
        raise card.mistake(f"*CONNECTOR ELASTICITY belongs to the *CONNECTOR BEHAVIOR above it: {what}")
    if card.has("COMPONENT") and card.field("COMPONENT").text != "1":
        raise Mistake(card.field("COMPONENT").place, "AXIAL connectors have component 1 only")
    draft.connector_behaviors[name] = card


for _name, _form in {"SOLID SECTION": SOLID_SECTION, "MASS": MASS, "ROTARY INERTIA": ROTARY_INERTIA}.items():
    card_of(_name, _form, of_elements)
for _name, _form in LISTED.items():
    card_of(_name, _form)
KINDS_OF = {
    "SOLID SECTION": (*TRUSSES, *REEVED),
    "BEAM SECTION": BEAMS,
    "BEAM GENERAL SECTION": BEAMS,
    "CONNECTOR SECTION": ("SPRINGA",),
    "SPRING": ("SPRINGA", "SPRING1", "SPRING2"),
    "DASHPOT": ("DASHPOTA", "DASHPOT1", "DASHPOT2"),
    "MASS": ("MASS",),
    "ROTARY INERTIA": ("ROTARYI",),
}

OF_BARS = ("NO TENSION", "EXPANSION")
"""Cards of a material that only bars may have, not ropes over pulleys."""
CARD_OF = {kind: card for card, kinds in KINDS_OF.items() for kind in kinds}


def build_properties(
    draft: Draft, mesh: model.Mesh
) -> list[model.BarSection | model.Spring | model.Dashpot | model.PointMass | model.RotaryInertia]:
    kinds = np.array([at for at, block in enumerate(mesh.blocks) for _ in range(len(block.labels))], dtype=np.int64)
    owner = np.full(len(kinds), -1, dtype=np.int64)
    found: list[model.BarSection | model.Spring | model.Dashpot | model.PointMass | model.RotaryInertia] = []
    for number, entry in enumerate(draft.properties):
        draft.card = entry.card
        if entry.element_set not in mesh.element_sets:
            draft.failed.add("PROPERTY")
        with draft.guard():
            members = mesh.element_sets.get(entry.element_set, np.zeros(0, np.int64))
            names = [mesh.blocks[at].kind for at in distinct(kinds[members]).tolist()]
            wanted = KINDS_OF[entry.card.keyword]
            for name in (name for name in names if name not in wanted):
                hint = f"*{entry.card.keyword} is for {listing(wanted, 'and')}; {name} takes *{CARD_OF[name]}"
                raise entry.card.mistake(f"element set {entry.element_set} has elements of type {name}", hint)
            taken = members[owner[members] >= 0]
            owner[members] = number
            if len(taken):
                label = draft.as_written(mesh.element_labels[taken[0]])
                message = f"element {label} has a second property by *{entry.card.keyword}"
                raise entry.card.mistake(message, f"{len(taken)} elements of {entry.element_set} have one already")
            if isinstance(entry.value, model.BarSection) and not set(names).isdisjoint(REEVED):
                refuse_on_pulleys(draft, entry.card, entry.value)
            if names or entry.value is not None:
                if entry.value is None and len(names) > 1:
                    message = f"element set {entry.element_set} mixes {listing(names, 'and')}"
                    raise entry.card.mistake(message, "give each kind its own set and keyword")
                found.append(entry.value or read_by_kind(entry.card, entry.element_set, names[0], draft))
    draft.card = None
    blame_bare_elements(draft, mesh, kinds, owner)
    return found


def refuse_on_pulleys(draft: Draft, card: Card, section: model.BarSection) -> None:
    """Mistake if a section has a property that ropes over pulleys cannot have."""
    beside = f"is for bars, and element set {section.element_set} has elements of type {listing(REEVED, 'and')}"
    for name, has_it in (("STRAIN", section.strain == "LOG"), ("MASS", section.mass_rule != "LUMPED")):
        if has_it:
            field = card.field(name)
            raise Mistake(field.place, f"{name}={field.text.upper()} {beside}")
    material = draft.materials.get(section.material)
    for name, place in material.cards.items() if material else ():
        if name in OF_BARS:
            raise Mistake(place, f"*{name} {beside}", f"made of material {section.material}")


def blame_bare_elements(draft: Draft, mesh: model.Mesh, kinds: np.ndarray, owner: np.ndarray) -> None:
    if draft.has_failed("PROPERTY", "ELEMENT", "ELGEN", "ELSET", "INCLUDE", *KINDS_OF):
        return
    for at, block in enumerate(mesh.blocks):
        bare = np.nonzero((owner < 0) & (kinds == at))[0]
        if len(bare):
            label = int(mesh.element_labels[bare[0]])
            what = f"{len(bare)} element{'s' * (len(bare) > 1)} of type {block.kind}"
            message = f"{what} without *{CARD_OF[block.kind]}, the first is {draft.as_written(label)}"
            draft.report(Mistake(draft.elements.place_of(label), message))


def read_by_kind(card: Card, element_set: str, kind: str, draft: Draft) -> model.Spring | model.Dashpot:
    """The property of a card that is text until the kind of its elements is known."""
    if card.keyword == "DASHPOT":
        return read_dashpot(card, element_set, kind, draft)
    return (read_spring if card.keyword == "SPRING" else read_connector)(card, element_set, kind, draft)


def read_spring(card: Card, element_set: str, kind: str, draft: Draft) -> model.Spring:
    """A linear spring, or a table (force, elongation)."""
    table = card.flag("NONLINEAR")
    dofs, rows = split_dofs(card, draft, kind, table)
    if not table:
        return model.Spring(element_set, dofs, constant(card, rows, "the stiffness"))
    points = tuple(point(row) for row in rows)
    for row, before, after in zip(rows[1:], points, points[1:], strict=False):
        if after[1] <= before[1]:
            message, hint = f"elongations must rise: {after[1]:g} after {before[1]:g}", "rows are force, elongation"
            raise Mistake(row.field(1).place, message, f"{hint}; the dof line of SPRINGA is blank")
    if len(points) < 2:
        raise card.mistake("a nonlinear spring needs at least two rows force, elongation")
    return model.Spring(element_set, dofs, 0.0, points)


def read_connector(card: Card, element_set: str, kind: str, draft: Draft) -> model.Spring:
    elasticity = draft.connector_behaviors.get(card.needed("BEHAVIOR"))
    if elasticity is None:
        hint = "without one it would carry nothing"
        raise Mistake(card.field("BEHAVIOR").place, "the behavior has no *CONNECTOR ELASTICITY", hint)
    return read_spring(elasticity, element_set, kind, draft)


def read_dashpot(card: Card, element_set: str, kind: str, draft: Draft) -> model.Dashpot:
    dofs, rows = split_dofs(card, draft, kind, False)
    return model.Dashpot(element_set, dofs, constant(card, rows, "the damping coefficient", NEGATIVE))


def split_dofs(card: Card, draft: Draft, kind: str, table: bool) -> tuple[tuple[int, ...], list[Row]]:
    """The dofs and the rows after them."""
    rows = list(draft.rows(card))
    count = {"A": 0, "1": 1, "2": 2}[kind[-1]]
    if count == 0:
        # a line of one dof above the data, or of two dofs above a constant, has no effect
        is_idle = len(rows) > 1 and len(rows[0]) <= (1 if table else 2)
        is_idle = is_idle and all(field.text in ("", "1", "2", "3", "4", "5", "6") for field in rows[0].fields())
        return (), rows[1:] if is_idle else rows
    first = rows[0]
    what = "a line with one dof" if count == 1 else "a line with two dofs"
    if len(rows) == 1:
        raise Mistake(first.place, f"*{card.keyword} for {kind} needs {what}, then the constant; got one line")
    if len(first) != count:
        raise Mistake(first.place, f"expected {what} for {kind}, got {len(first)} entries")
    return tuple(translation(first.field(at)) for at in range(count)), rows[1:]


def constant(card: Card, rows: list[Row], what: str, bound: Bound | None = None) -> float:
    if len(rows) > 1:
        hint = "use NONLINEAR for a table" if card.keyword == "SPRING" else ""
        raise Mistake(rows[1].place, f"expected one line with {what}, got a second", hint)
    rows[0].end(1, f"{what} alone (it depends on neither frequency nor temperature)")
    return rows[0].number(0, what, bound=bound)


def point(row: Row) -> tuple[float, float]:
    row.end(2, "force, elongation")
    return row.number(0, "the force"), row.number(1, "the elongation")
