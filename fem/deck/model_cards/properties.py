"""Properties of element sets: ``*SOLID SECTION``, ``*SPRING``, ``*DASHPOT``, ``*MASS``."""

from __future__ import annotations

from fem.deck.draft import Draft, Property
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import BarSection, PointMass
from fem.model.properties import MASS_RULES, STRAINS

EXTRAS = ("MASS", "STRAIN", "STARTING TENSION")
GLOBAL_AXES = {"ORIENTATION": "is not supported: dofs are those of the global axes"}
REFUSED = {
    "ORIENTATION": "is not supported: a bar works along its axis",
    "COMPOSITE": "is not supported: bars have no layers",
}


def add(card: Card, draft: Draft, value: BarSection | PointMass | None = None) -> None:
    """A property; springs and dashpots are read when the kind of their elements is known."""
    draft.properties.append(Property(card.needed("ELSET"), card, value))


@keyword("model", needs=("ELSET", "MATERIAL"), takes=EXTRAS, plus=EXTRAS, ignores=("CONTROLS",), refuses=REFUSED)
def solid_section(card: Card, draft: Draft) -> None:
    """Material and area of bars, mass rule, strain and starting tension."""
    element_set, material = draft.named(card, "ELSET", "element"), draft.named(card, "MATERIAL", "material")
    tension = card.amount("STARTING TENSION")
    mass, strain = card.word("MASS", MASS_RULES, "LUMPED"), card.word("STRAIN", STRAINS, "GREEN")
    if draft.has_failed("ELEMENT") and not any(card.rows):
        return  # solids, refused already, have no area
    row = draft.single_row(card, "the area")
    row.end(1, "the area")
    area = row.number(0, "the area")
    if area <= 0.0:
        raise Mistake(row.place, f"the area must be positive, got {area:g}")
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


@keyword("model", needs=("ELSET",), takes=("ALPHA", "TYPE"), refuses=GLOBAL_AXES, unsupported=("COMPOSITE",))
def mass(card: Card, draft: Draft) -> None:
    """Point masses, with mass-proportional damping."""
    element_set = draft.named(card, "ELSET", "element")
    card.word("TYPE", ("ISOTROPIC",), "ISOTROPIC")
    alpha = card.amount("ALPHA")
    row = draft.single_row(card, "the mass")
    row.end(1, "the mass")
    value = row.number(0, "the mass")
    if value < 0.0:
        raise Mistake(row.place, f"the mass is negative: {value:g}")
    add(card, draft, PointMass(element_set, value, alpha))
