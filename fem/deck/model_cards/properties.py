"""Properties of element sets: ``*SOLID SECTION``, ``*SPRING``, ``*DASHPOT``, ``*MASS``, ``*REST LENGTH``."""

from __future__ import annotations

from fem.deck.draft import Draft, Property
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import BarSection, PointMass, RestLength
from fem.model.properties import MASS_RULES, STRAINS

EXTRAS = ("MASS", "STRAIN", "STARTING TENSION")
NO_ORIENTATION = {"ORIENTATION": "is not supported: dofs are those of the global axes"}


def used_set(card: Card, draft: Draft) -> str:
    """The element set of a property card."""
    name = card.name("ELSET")
    assert name is not None
    draft.use("element", name, card.field("ELSET").place)
    return name


@keyword(
    "model",
    takes=EXTRAS,
    needs=("ELSET", "MATERIAL"),
    plus=EXTRAS,
    ignores=("CONTROLS",),
    refuses={
        "ORIENTATION": "is not supported: a bar works along its axis",
        "COMPOSITE": "is not supported: bars have no layers",
    },
)
def solid_section(card: Card, draft: Draft) -> None:
    """Material and area of bars, mass rule, strain and starting tension."""
    element_set, material = used_set(card, draft), card.name("MATERIAL")
    assert material is not None
    draft.use("material", material, card.field("MATERIAL").place)
    tension = card.number("STARTING TENSION")
    if tension < 0.0:
        raise Mistake(card.field("STARTING TENSION").place, f"STARTING TENSION must not be negative, got {tension:g}")
    mass, strain = card.word("MASS", MASS_RULES, "LUMPED"), card.word("STRAIN", STRAINS, "GREEN")
    if draft.has_failed("ELEMENT") and not any(card.rows):
        return  # solids, refused already, have no area
    row = draft.single_row(card, "the area")
    row.end(1, "the area")
    area = row.number(0, "the area")
    if area <= 0.0:
        raise Mistake(row.place, f"the area must be positive, got {area:g}")
    section = BarSection(element_set, material, area, mass, strain, tension)
    draft.properties.append(Property(element_set, card.place, card, section))


@keyword(
    "model",
    takes=("NONLINEAR",),
    needs=("ELSET",),
    refuses={
        **NO_ORIENTATION,
        "DEPENDENCIES": "is not supported",
        "COMPLEX STIFFNESS": "is not supported",
        "RTOL": "is not supported",
    },
)
def spring(card: Card, draft: Draft) -> None:
    """Read when the kind of its elements is known: SPRINGA, SPRING1 or SPRING2."""
    card.flag("NONLINEAR")
    draft.properties.append(Property(used_set(card, draft), card.place, card))


@keyword(
    "model",
    needs=("ELSET",),
    refuses={
        **NO_ORIENTATION,
        "NONLINEAR": "is not supported: dashpots are linear",
        "DEPENDENCIES": "is not supported",
    },
)
def dashpot(card: Card, draft: Draft) -> None:
    """Read when the kind of its elements is known: DASHPOTA, DASHPOT1 or DASHPOT2."""
    draft.properties.append(Property(used_set(card, draft), card.place, card))


@keyword(
    "model", takes=("ALPHA", "TYPE"), needs=("ELSET",), refuses={**NO_ORIENTATION, "COMPOSITE": "is not supported"}
)
def mass(card: Card, draft: Draft) -> None:
    """Point masses, with mass-proportional damping."""
    element_set = used_set(card, draft)
    card.word("TYPE", ("ISOTROPIC",), "ISOTROPIC")
    alpha = card.number("ALPHA")
    if alpha < 0.0:
        raise Mistake(card.field("ALPHA").place, f"ALPHA must not be negative, got {alpha:g}")
    row = draft.single_row(card, "the mass")
    row.end(1, "the mass")
    value = row.number(0, "the mass")
    if value < 0.0:
        raise Mistake(row.place, f"the mass is negative: {value:g}")
    draft.properties.append(Property(element_set, card.place, card, PointMass(element_set, value, alpha)))


@keyword("model")
def rest_length(card: Card, draft: Draft) -> None:
    """``elements, L0``: unstressed length of each bar of a set, or of one."""
    draft.extension("*REST LENGTH")
    for row in draft.rows(card):
        with draft.guard():
            row.end(2, "elements, rest length")
            target, value = draft.target(row, 0, "element"), row.number(1, "the rest length")
            if value <= 0.0:
                raise Mistake(row.field(1).place, f"the rest length must be positive, got {value:g}")
            draft.rest_lengths.append((RestLength(target, value), row.place))
