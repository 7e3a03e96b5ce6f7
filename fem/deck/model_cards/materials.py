"""``*MATERIAL`` and the cards below it; properties of element sets: sections, springs, masses, rest lengths."""

from __future__ import annotations

from fem.deck.draft import Draft, MaterialDraft, Property
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake, squeezed
from fem.model import BarSection, Expansion, NonstructuralMass, PointMass, Pulley, RestLength
from fem.model.properties import MASS_RULES, STRAINS

NO_FIELDS = {
    "DEPENDENCIES": "is not supported: constants do not depend on field variables",
    "TEMPERATURE": "is not supported",
}


@keyword("model", needs=("NAME",), ignores=("DESCRIPTION",), unsupported=("SRATE FACTOR", "RTOL"))
def material(card: Card, draft: Draft) -> None:
    """Opens a material."""
    draft.material = MaterialDraft(card.needed("NAME"), card.place)
    draft.materials[draft.declare(card, "material")] = draft.material
    draft.no_rows(card)


def put(card: Card, draft: Draft, **numbers: object) -> None:
    """Write numbers into the open material; each card once."""
    material = draft.material
    assert material is not None
    if card.keyword in material.cards:
        first = material.cards[card.keyword]
        raise card.mistake(f"*{card.keyword} is given twice for material {material.name}", f"first at {first}")
    material.cards[card.keyword] = card.place
    material.numbers.update(numbers)


@keyword("material", refuses=NO_FIELDS)
def density(card: Card, draft: Draft) -> None:
    """One number >= 0."""
    row = draft.single_row(card, "the density")
    row.end(2, "the density")
    value = row.number(0, "the density")
    row.number(1, "the temperature", 0.0)
    if value < 0.0:
        raise Mistake(row.place, f"the density is negative: {value:g}")
    put(card, draft, density=value)


@keyword("material", takes=("TYPE", "MODULI"), refuses=NO_FIELDS)
def elastic(card: Card, draft: Draft) -> None:
    """``E[, nu[, temperature]]``."""
    is_instant = card.word("MODULI", ("LONG TERM", "INSTANTANEOUS"), "LONG TERM") == "INSTANTANEOUS"
    if card.has("TYPE"):
        field = card.field("TYPE")
        if squeezed(field.text) not in ("ISO", "ISOTROPIC"):
            raise Mistake(field.place, f"*ELASTIC, TYPE={field.text} is not supported", "bars are ISOTROPIC: E, nu")
    rows = list(draft.rows(card))
    if len(rows) > 1:
        raise Mistake(rows[1].place, "an elastic modulus that depends on temperature is not supported")
    if not rows:
        raise card.mistake("*ELASTIC has no data line (E, nu)")
    rows[0].end(3, "E, nu")
    young, poisson = rows[0].number(0, "the modulus E"), rows[0].number(1, "Poisson's ratio", 0.0)
    rows[0].number(2, "the temperature", 0.0)
    if young <= 0.0:
        raise Mistake(rows[0].place, f"the modulus E must be positive, got {young:g}")
    if not -1.0 < poisson <= 0.5:
        raise Mistake(rows[0].field(1).place, f"Poisson's ratio must lie between -1 and 0.5, got {poisson:g}")
    put(card, draft, young=young, poisson=poisson, is_instant=is_instant)


@keyword("material", takes=("ZERO", "TYPE"), refuses=NO_FIELDS, unsupported=("USER",))
def expansion(card: Card, draft: Draft) -> None:
    """``alpha[, temperature]`` rows."""
    card.word("TYPE", ("ISO", "ISOTROPIC"), "ISO")
    rows: list[tuple[float, float]] = []
    for row in draft.rows(card):
        row.end(2, "alpha, temperature")
        pair = (row.number(0, "alpha"), row.number(1, "the temperature", 0.0))
        if rows and pair[1] <= rows[-1][1]:
            raise Mistake(row.field(1).place, f"temperatures must rise: {pair[1]:g} after {rows[-1][1]:g}")
        rows.append(pair)
    put(card, draft, expansion=Expansion(tuple(rows), card.number("ZERO")))


@keyword("material", takes=("ALPHA", "BETA"), unsupported=("COMPOSITE", "STRUCTURAL"))
def damping(card: Card, draft: Draft) -> None:
    """Rayleigh damping of a material."""
    draft.no_rows(card)
    put(card, draft, alpha=card.amount("ALPHA"), beta=card.amount("BETA"))


@keyword("material", takes=("RATIO",), plus=("RATIO",))
def no_compression(card: Card, draft: Draft) -> None:
    """Tension only; RATIO: the fraction of the modulus kept in compression."""
    draft.no_rows(card)
    ratio = card.amount("RATIO", most=1.0)
    refuse_both(card, draft, "NO TENSION")
    put(card, draft, compression_ratio=ratio)


@keyword("material")
def no_tension(card: Card, draft: Draft) -> None:
    """Compression only."""
    draft.no_rows(card)
    refuse_both(card, draft, "NO COMPRESSION")
    put(card, draft, tension_ratio=0.0)


def refuse_both(card: Card, draft: Draft, other: str) -> None:
    """A bar that carries neither tension nor compression carries nothing."""
    assert draft.material is not None
    if other in draft.material.cards:
        message = f"material {draft.material.name} has both *NO COMPRESSION and *NO TENSION: it would carry nothing"
        raise card.mistake(message)


@keyword("material", takes=("RESTITUTION",), plus=("RESTITUTION",))
def inextensible(card: Card, draft: Draft) -> None:
    """Bars of this material keep their length: rods; with ``*NO COMPRESSION`` ropes, with ``*NO TENSION`` stops.

    RESTITUTION: of the impacts of ropes and stops.
    """
    draft.no_rows(card)
    put(card, draft, is_inextensible=True, restitution=card.amount("RESTITUTION", most=1.0))
    if card.has("RESTITUTION") and draft.material is not None:
        draft.material.cards["RESTITUTION"] = card.field("RESTITUTION").place


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
