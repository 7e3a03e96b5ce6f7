"""Properties of element sets: sections, springs, dashpots, masses, what bars carry, their rest lengths."""

from __future__ import annotations

from fem.deck.draft import Draft, Property
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import BarSection, NonstructuralMass, PointMass, Pulley, RestLength
from fem.model.properties import MASS_RULES, STRAINS

EXTRAS = ("MASS", "STRAIN", "STARTING TENSION")
GLOBAL_AXES = {"ORIENTATION": "is not supported: dofs are those of the global axes"}
NO_LAYERS = {"COMPOSITE": "is not supported: bars have no layers"}
IDLE = ("CONTROLS", "ORIENTATION")


def add(card: Card, draft: Draft, value: BarSection | PointMass | None = None) -> None:
    """A property; springs and dashpots are read when the kind of their elements is known."""
    draft.properties.append(Property(card.needed("ELSET"), card, value))


@keyword("model", needs=("ELSET", "MATERIAL"), takes=EXTRAS, plus=EXTRAS, ignores=IDLE, refuses=NO_LAYERS)
def solid_section(card: Card, draft: Draft) -> None:
    """Material and area of bars, mass rule, strain and starting tension."""
    element_set, material = draft.named(card, "ELSET", "element"), draft.named(card, "MATERIAL", "material")
    tension = card.amount("STARTING TENSION")
    mass, strain = card.word("MASS", MASS_RULES, "LUMPED"), card.word("STRAIN", STRAINS, "GREEN")
    if draft.has_failed("ELEMENT") and not any(card.rows):
        return  # solids, refused already, have no area
    row = draft.single_row(card, "the area")
    row.end(1, "the area")
    area = row.amount(0, "the area", positive=True)
    add(card, draft, BarSection(element_set, material, area, mass, strain, tension))


@keyword(
    "model",
    needs=("ELSET",),
    takes=("NONLINEAR",),
    refuses=GLOBAL_AXES,
    unsupported=("DEPENDENCIES", "COMPLEX STIFFNESS", "RTOL"),
)
def spring(card: Card, draft: Draft) -> None:
    """Of SPRINGA, SPRING1 or SPRING2."""
    card.flag("NONLINEAR")
    draft.named(card, "ELSET", "element")
    add(card, draft)


LINEAR = {"NONLINEAR": "is not supported: dashpots are linear"}


@keyword("model", needs=("ELSET",), refuses=GLOBAL_AXES | LINEAR, unsupported=("DEPENDENCIES",))
def dashpot(card: Card, draft: Draft) -> None:
    """Of DASHPOTA, DASHPOT1 or DASHPOT2."""
    draft.named(card, "ELSET", "element")
    add(card, draft)


@keyword("model", needs=("ELSET",), takes=("ALPHA", "TYPE"), ignores=IDLE[1:], unsupported=("COMPOSITE",))
def mass(card: Card, draft: Draft) -> None:
    """Point masses, with mass-proportional damping."""
    element_set = draft.named(card, "ELSET", "element")
    card.word("TYPE", ("ISOTROPIC",), "ISOTROPIC")
    alpha = card.amount("ALPHA")
    add(card, draft, PointMass(element_set, single_mass(card, draft), alpha))


def single_mass(card: Card, draft: Draft) -> float:
    """The mass that is all a card has as data."""
    row = draft.single_row(card, "the mass")
    row.end(1, "the mass")
    value = row.number(0, "the mass")
    if value < 0.0:
        raise Mistake(row.place, f"the mass is negative: {value:g}")
    return value


UNITS = ("MASS PER LENGTH", "TOTAL MASS")
NO_UNITS = "it is the mass per natural length of the bars, or the total mass of the set"
NOT_YET = {"AMPLITUDE": "is not supported: *MODEL CHANGE, TYPE=NONSTRUCTURAL MASS lets it come and go with a step"}


@keyword("model", needs=("ELSET", "UNITS"), takes=("NAME",), plus=("NAME",), ignores=("DISTRIBUTION",), refuses=NOT_YET)
def nonstructural_mass(card: Card, draft: Draft) -> None:
    """What bars carry: inertia and weight without stiffness."""
    element_set, name = draft.named(card, "ELSET", "element"), card.name("NAME")
    is_total = card.word("UNITS", UNITS, UNITS[0]) == "TOTAL MASS"
    value = single_mass(card, draft)
    draft.nonstructural.append((NonstructuralMass(element_set, value, is_total, name), card.place))


@keyword("model")
def rest_length(card: Card, draft: Draft) -> None:
    """``elements, L0[, L2]``: unstressed length of each bar of a set, or of one; of a PULLEY also in two parts."""
    draft.extension("*REST LENGTH")
    for row in draft.rows(card):
        with draft.guard():
            row.end(3, "elements, rest length, that beyond the pulley")
            target, value = draft.target(row, 0, "element"), row.amount(1, "the rest length", positive=True)
            second = row.amount(2, "the length beyond the pulley", positive=True) if row.field(2).text else None
            draft.rest_lengths.append((RestLength(target, value, second), row.place))


@keyword("model", needs=("ELSET",))
def pulley(card: Card, draft: Draft) -> None:
    """``mu``: friction of ropes on their pulleys."""
    draft.extension("*PULLEY")
    element_set, row = draft.named(card, "ELSET", "element"), draft.single_row(card, "the coefficient of friction")
    row.end(1, "the coefficient of friction")
    draft.pulleys.append((Pulley(element_set, row.amount(0, "the coefficient of friction")), card.place))
