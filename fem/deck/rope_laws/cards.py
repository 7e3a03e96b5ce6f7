"""``*UNIAXIAL`` with its curves, ``*VISCOELASTIC``, ``*DYNAMIC STIFFNESS``: cards below ``*MATERIAL``."""

from __future__ import annotations

from dataclasses import replace

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake, squeezed
from fem.deck.model_cards.materials import NO_FIELDS, put
from fem.model import DynamicStiffness, Uniaxial, Viscoelastic


@keyword("material", takes=("COMPONENT", "LARGEST STRESS"), plus=("LARGEST STRESS",))
def uniaxial(card: Card, draft: Draft) -> None:
    """Opens a table of stress over strain."""
    draft.no_rows(card)
    draft.extension("*UNIAXIAL without *FABRIC")
    if card.has("COMPONENT") and card.integer("COMPONENT") != 1:
        place = card.field("COMPONENT").place
        raise Mistake(place, f"COMPONENT={card.field('COMPONENT').text} of *UNIAXIAL: a bar has one, 1")
    put(card, draft, uniaxial=Uniaxial((), largest=card.amount("LARGEST STRESS")))


def open_table(card: Card, draft: Draft) -> Uniaxial:
    """The ``*UNIAXIAL`` that a curve belongs to."""
    assert draft.material is not None
    given = draft.material.numbers.get("uniaxial")
    if not isinstance(given, Uniaxial):
        raise card.mistake(f"*{card.keyword} belongs below *UNIAXIAL")
    return given


def read_curve(card: Card, draft: Draft) -> tuple[tuple[float, float], ...]:
    """Rows (stress, strain), strain rising."""
    rows: list[tuple[float, float]] = []
    for row in draft.rows(card):
        row.end(2, "stress, strain")
        pair = row.number(0, "the stress"), row.number(1, "the strain")
        if rows and pair[1] <= rows[-1][1]:
            raise Mistake(row.field(1).place, f"strains must rise: {pair[1]:g} after {rows[-1][1]:g}")
        if rows and pair[0] < rows[-1][0]:
            raise Mistake(row.field(0).place, f"stresses must not fall: {pair[0]:g} after {rows[-1][0]:g}")
        rows.append(pair)
    if len(rows) < 2:
        raise card.mistake(f"*{card.keyword} needs two rows (stress, strain) or more")
    return tuple(rows)


@keyword(
    "material",
    takes=("TYPE", "DIRECTION", "EXTRAPOLATION"),
    refuses=NO_FIELDS | {"RATE DEPENDENT": "is not supported: *VISCOELASTIC and *DYNAMIC STIFFNESS follow rates"},
    unsupported=("REGULARIZE", "RTOL", "SMOOTH", "SLOPE", "YIELD ONSET", "DAMAGE ONSET", "INDEPENDENT COMPONENTS"),
)
def loading_data(card: Card, draft: Draft) -> None:
    """``stress, strain`` rows."""
    given = open_table(card, draft)
    kind = card.word("TYPE", ("ELASTIC", "DAMAGE", "PERMANENT DEFORMATION"), "ELASTIC")
    direction = card.word("DIRECTION", ("TENSION", "COMPRESSION"), "TENSION")
    is_extended = card.word("EXTRAPOLATION", ("CONSTANT", "LINEAR"), "CONSTANT") == "LINEAR"
    if direction == "COMPRESSION":
        message = "DIRECTION=COMPRESSION of *LOADING DATA is not supported"
        raise Mistake(card.field("DIRECTION").place, message, "ropes carry tension; *SPRING, NONLINEAR takes both")
    rows = read_curve(card, draft)
    if (rows[0][1] >= 0.0 or kind != "ELASTIC") and rows[0] != (0.0, 0.0):
        raise card.mistake("a curve of tension begins with the row 0, 0")
    put(card, draft, uniaxial=replace(given, loading=rows, kind=kind, is_extended=is_extended))


OTHER_UNLOADING = ("EXPONENTIAL", "QUADRATIC", "COMBINED")
"""Definitions of Abaqus that are refused by name."""


@keyword("material", needs=("DEFINITION",), refuses=NO_FIELDS, unsupported=("RATE DEPENDENT",))
def unloading_data(card: Card, draft: Draft) -> None:
    """``stress, strain`` rows."""
    given, field = open_table(card, draft), card.field("DEFINITION")
    if squeezed(field.text) in OTHER_UNLOADING:
        message = f"DEFINITION={field.text} of *UNLOADING DATA is not supported"
        raise Mistake(field.place, message, "SHIFTED CURVE and INTERPOLATED CURVE are")
    definition = field.word("DEFINITION=", ("SHIFTED CURVE", "INTERPOLATED CURVE"))
    rows = read_curve(card, draft)
    if rows[0][0] != 0.0 or rows[0][1] < 0.0 or (definition == "SHIFTED CURVE" and rows[0][1] != 0.0):
        where = "at the permanent strain" if definition == "INTERPOLATED CURVE" else "0, 0"
        raise card.mistake(f"*UNLOADING DATA, DEFINITION={definition} begins without stress, {where}")
    put(card, draft, uniaxial=replace(given, unloading=rows, definition=definition))


@keyword(
    "material",
    takes=("TIME",),
    refuses={"FREQUENCY": "is not supported: give TIME=PRONY"},
    unsupported=("ERRTOL", "NMAX", "PRELOAD", "TYPE", "NORMALIZED", "DEPENDENCIES"),
)
def viscoelastic(card: Card, draft: Draft) -> None:
    """PRONY: ``g, k, time`` rows; KELVIN: ``fraction, time`` rows."""
    series = card.word("TIME", ("PRONY", "KELVIN"), "PRONY")
    if series == "KELVIN":
        draft.extension("*VISCOELASTIC, TIME=KELVIN")
    rows: list[tuple[float, float]] = []
    for row in draft.rows(card):
        last = 2 if series == "PRONY" else 1
        row.end(last + 1, "g, k, time" if series == "PRONY" else "fraction, time")
        fraction, time = row.amount(0, "the fraction", positive=True), row.amount(last, "the time", positive=True)
        if series == "PRONY" and row.number(1, "k", fraction) != fraction:
            message = f"a bar has one modulus: k = {row.field(1).text} must be blank or equal to g = {fraction:g}"
            raise Mistake(row.field(1).place, message)
        rows.append((fraction, time))
    total = sum(fraction for fraction, _ in rows)
    if series == "PRONY" and total >= 1.0:
        raise card.mistake(f"the fractions add up to {total:g}: less than 1 may relax")
    put(card, draft, viscoelastic=Viscoelastic(series, tuple(rows)))


@keyword("material")
def dynamic_stiffness(card: Card, draft: Draft) -> None:
    """``constant, slope, viscosity``."""
    draft.extension("*DYNAMIC STIFFNESS")
    row = draft.single_row(card, "constant, slope, viscosity")
    row.end(3, "constant, slope, viscosity")
    constant, slope = row.amount(0, "the modulus without tension", positive=True), row.amount(1, "the slope", 0.0)
    put(card, draft, dynamic=DynamicStiffness(constant, slope, row.amount(2, "the viscosity", positive=True)))
