"""``*MATERIAL`` and the cards below it."""

from __future__ import annotations

from fem.deck.draft import Draft, MaterialDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake, squeezed
from fem.model import Expansion

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
