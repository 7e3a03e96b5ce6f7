"""``*MATERIAL`` and the cards below it, rope laws among them; which cards go with which, and what must fit together."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from fem.arrays import Floats
from fem.deck.cards import NEGATIVE, NOT_NEGATIVE, Bound, Card
from fem.deck.draft import Draft, MaterialDraft
from fem.deck.kinds import AMOUNT, PART, POSITIVE_NUMBER, only, within, word_for
from fem.deck.source import Mistake, listing, squeezed
from fem.deck.table import DataLine, Form, Parameters, Value, card_of, keyword
from fem.model import DynamicStiffness, Expansion, Material, Uniaxial, Viscoelastic
from fem.model.materials import BucklingStrength, Plastic, slopes_of

NO_FIELDS = {
    "DEPENDENCIES": "is not supported: constants do not depend on field variables",
    "TEMPERATURE": "is not supported",
}


@keyword("MATERIAL", "model", needs=("NAME",), ignores=("DESCRIPTION",), unsupported=("SRATE FACTOR", "RTOL"))
def material(card: Card, draft: Draft) -> None:
    draft.material = MaterialDraft(card.needed("NAME"), card.place)
    draft.materials[draft.declare(card, "material")] = draft.material
    draft.no_rows(card)


NOTHING_LEFT = ("NO COMPRESSION", "NO TENSION")
"""A material may have only one of these: with both it would have no stiffness."""


def put(card: Card, draft: Draft, **numbers: object) -> None:
    """Assigns numbers to fields of the open material; each card may be given once."""
    material = draft.material
    assert material is not None
    if card.keyword in NOTHING_LEFT and {*NOTHING_LEFT} - {card.keyword} <= material.cards.keys():
        raise card.mistake(f"material {material.name} has both *NO COMPRESSION and *NO TENSION: it would carry nothing")
    if card.keyword in material.cards:
        first = material.cards[card.keyword]
        raise card.mistake(f"*{card.keyword} is given twice for material {material.name}", f"first at {first}")
    material.cards[card.keyword] = card.place
    material.numbers.update(numbers)
    if card.keyword == "INEXTENSIBLE" and card.has("RESTITUTION"):
        material.cards["RESTITUTION"] = card.field("RESTITUTION").place


TEMPERATURE = Value("", what="the temperature", default=0.0)
STRENGTH = BucklingStrength(1.0)
POISSON = Bound(lambda x: -1.0 < x <= 0.5, "{what} must lie between -1 and 0.5, got {value:g}")
ISOTROPIC = only(("ISO", "ISOTROPIC"), "*ELASTIC, TYPE={text} is not supported", "bars are ISOTROPIC: E, nu")
ROWS: dict[str, Form] = {
    "INEXTENSIBLE": Form(
        parameters=Parameters(RESTITUTION=Value("restitution", PART, default=0.0, is_ours=True)),
        fixed={"is_inextensible": True},
    ),
    "ELASTIC": Form(
        parameters=Parameters(
            TYPE=Value("", ISOTROPIC, default=""),
            MODULI=Value("is_instant", word_for({"LONG TERM": False, "INSTANTANEOUS": True}), default=False),
        ),
        line=DataLine(
            "E, nu",
            Value("young", POSITIVE_NUMBER, "the modulus E"),
            Value("poisson", within(POISSON), "Poisson's ratio", 0.0),
            TEMPERATURE,
        ),
        further="an elastic modulus that depends on temperature is not supported",
        statement={"refuses": NO_FIELDS},
    ),
    "DYNAMIC STIFFNESS": Form(
        DynamicStiffness,
        line=DataLine(
            "constant, slope, viscosity",
            Value("constant", POSITIVE_NUMBER, "the modulus without tension"),
            Value("slope", AMOUNT, "the slope", 0.0),
            Value("viscosity", POSITIVE_NUMBER, "the viscosity"),
        ),
        into="dynamic",
        statement={"extension": "*DYNAMIC STIFFNESS"},
    ),
    "DENSITY": Form(
        line=DataLine("the density", Value("density", within(NEGATIVE), "the density"), TEMPERATURE),
        statement={"refuses": NO_FIELDS},
    ),
    "DAMPING": Form(
        parameters=Parameters(
            ALPHA=Value("alpha", AMOUNT, default=0.0, shown=True), BETA=Value("beta", AMOUNT, default=0.0, shown=True)
        ),
        statement={"unsupported": ("COMPOSITE", "STRUCTURAL")},
    ),
    "NO COMPRESSION": Form(
        parameters=Parameters(RATIO=Value("compression_ratio", PART, default=0.0, shown=True, is_ours=True))
    ),
    "NO TENSION": Form(fixed={"tension_ratio": 0.0}),
    "BUCKLING STRENGTH": Form(
        BucklingStrength,
        line=DataLine(
            "critical stress, residual fraction, X1, X2",
            Value("stress", POSITIVE_NUMBER, "the critical stress"),
            Value("residual", PART, "the residual fraction", STRENGTH.residual),
            Value("first", AMOUNT, "X1", STRENGTH.first),
            Value("second", AMOUNT, "X2", STRENGTH.second),
        ),
        into="buckling",
        statement={"extension": "*BUCKLING STRENGTH"},
    ),
}
"""Cards that give numbers of ``Material`` or an object of it, in the order in which they are written."""


def put_form(form: Form, card: Card, draft: Draft) -> None:
    """Numbers of the open material, or an object in one of its fields."""
    for found, _ in form.read(card, draft):
        put(card, draft, **({form.into: found} if form.into else found))


for _name, _form in ROWS.items():
    card_of(_name, _form, put_form, "material")


@keyword("EXPANSION", "material", takes=("ZERO", "TYPE"), refuses=NO_FIELDS, unsupported=("USER",))
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


@keyword(
    "UNIAXIAL",
    "material",
    takes=("COMPONENT", "LARGEST STRESS"),
    plus=("LARGEST STRESS",),
    extension="*UNIAXIAL without *FABRIC",
)
def uniaxial(card: Card, draft: Draft) -> None:
    """Opens a table of stress over strain."""
    draft.no_rows(card)
    if card.has("COMPONENT") and card.integer("COMPONENT") != 1:
        place = card.field("COMPONENT").place
        raise Mistake(place, f"COMPONENT={card.field('COMPONENT').text} of *UNIAXIAL: a bar has only component 1")
    put(card, draft, uniaxial=Uniaxial((), largest=card.number("LARGEST STRESS", bound=NOT_NEGATIVE)))


def open_table(card: Card, draft: Draft) -> Uniaxial:
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
    "LOADING DATA",
    "material",
    takes=("TYPE", "DIRECTION", "EXTRAPOLATION"),
    refuses=NO_FIELDS | {"RATE DEPENDENT": "is not supported: use *VISCOELASTIC or *DYNAMIC STIFFNESS for rates"},
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
        raise card.mistake("a curve for tension begins with the row 0, 0")
    put(card, draft, uniaxial=replace(given, loading=rows, kind=kind, is_extended=is_extended))


OTHER_UNLOADING = ("EXPONENTIAL", "QUADRATIC", "COMBINED")
"""Definitions of Abaqus that are refused by name."""


@keyword("UNLOADING DATA", "material", needs=("DEFINITION",), refuses=NO_FIELDS, unsupported=("RATE DEPENDENT",))
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
        raise card.mistake(f"*UNLOADING DATA, DEFINITION={definition} begins with zero stress, {where}")
    put(card, draft, uniaxial=replace(given, unloading=rows, definition=definition))


@keyword(
    "VISCOELASTIC",
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
        raise card.mistake(f"the fractions add up to {total:g}; expected less than 1")
    put(card, draft, viscoelastic=Viscoelastic(series, tuple(rows)))


HARDENINGS = ("ISOTROPIC", "KINEMATIC", "COMBINED")
MOST_BACK = 8


@keyword(
    "PLASTIC",
    "material",
    takes=("HARDENING", "DATA TYPE", "NUMBER BACKSTRESSES"),
    refuses=NO_FIELDS | {"RATE": "is not supported: yielding does not depend on the rate"},
    unsupported=("EXTRAPOLATION", "NUMBER SURFACES", "SCALESTRESS", "LAW"),
)
def plastic(card: Card, draft: Draft) -> None:
    """``yield stress, plastic strain`` rows; COMBINED: the yield stress, then C, gamma of each back stress."""
    hardening = card.word("HARDENING", HARDENINGS, "ISOTROPIC")
    if hardening == "COMBINED":
        if card.word("DATA TYPE", ("PARAMETERS", "HALF CYCLE", "STABILIZED"), "HALF CYCLE") != "PARAMETERS":
            hint = "give the yield stress, then C and gamma of each back stress"
            raise card.mistake("HARDENING=COMBINED of *PLASTIC needs DATA TYPE=PARAMETERS", hint)
        put(card, draft, plastic=combined(card, draft))
        return
    for name in ("DATA TYPE", "NUMBER BACKSTRESSES"):
        if card.has(name):
            raise Mistake(card.field(name).place, f"{name} of *PLASTIC belongs to HARDENING=COMBINED")
    rows, temperature = list[tuple[float, float]](), dict[str, float]()
    for row in draft.rows(card):
        row.end(3, "yield stress, plastic strain, temperature")
        if row.number(2, "the temperature", 0.0) != temperature.setdefault("", row.number(2, "the temperature", 0.0)):
            raise Mistake(row.field(2).place, "yield stresses that depend on temperature are not supported")
        pair = row.amount(0, "the yield stress", positive=True), row.number(1, "the plastic strain", 0.0)
        if not rows and pair[1] != 0.0:
            raise Mistake(row.field(1).place, f"the first row has plastic strain 0, got {pair[1]:g}")
        if rows and pair[1] <= rows[-1][1]:
            raise Mistake(row.field(1).place, f"plastic strains must rise: {pair[1]:g} after {rows[-1][1]:g}")
        if rows and pair[0] < rows[-1][0]:
            hint = "softening has no solution that does not depend on the mesh; *FAILURE removes bars"
            raise Mistake(row.field(0).place, f"yield stresses must not fall: {pair[0]:g} after {rows[-1][0]:g}", hint)
        rows.append(pair)
    if hardening == "KINEMATIC" and len(rows) != 2:
        raise card.mistake(f"HARDENING=KINEMATIC has two rows, got {len(rows)}", "the slope between them is linear")
    put(card, draft, plastic=Plastic(hardening, tuple(rows)))


def combined(card: Card, draft: Draft) -> Plastic:
    """Yield stress, and back stresses."""
    rows, told = list(draft.rows(card)), "yield stress, C, gamma, C, gamma, ..."
    if len(rows) != 1:
        raise card.mistake(
            f"*PLASTIC, HARDENING=COMBINED has one row: {told}", "constants do not depend on temperature"
        )
    (row,) = rows
    row.end(1 + 2 * MOST_BACK, told)
    stress, back = row.amount(0, "the yield stress", positive=True), list[tuple[float, float]]()
    while len(row) > 1 + 2 * len(back):
        at = 1 + 2 * len(back)
        back.append((row.amount(at, "C", positive=True), row.amount(at + 1, "gamma")))
    if not back:
        raise card.mistake(f"*PLASTIC, HARDENING=COMBINED needs a back stress: {told}")
    count = card.integer("NUMBER BACKSTRESSES") if card.has("NUMBER BACKSTRESSES") else len(back)
    if count != len(back):
        raise Mistake(card.field("NUMBER BACKSTRESSES").place, f"{count} back stresses, and {len(back)} in the row")
    return Plastic("COMBINED", ((stress, 0.0),), tuple(back))


@keyword("CYCLIC HARDENING", "material", takes=("PARAMETERS",), refuses=NO_FIELDS, unsupported=("RTOL",))
def cyclic_hardening(card: Card, draft: Draft) -> None:
    """``yield stress, Q, b`` of ``*PLASTIC, HARDENING=COMBINED``."""
    assert draft.material is not None
    given = draft.material.numbers.get("plastic")
    if not isinstance(given, Plastic) or given.hardening != "COMBINED":
        raise card.mistake("*CYCLIC HARDENING belongs below *PLASTIC, HARDENING=COMBINED")
    if not card.has("PARAMETERS"):
        raise card.mistake("*CYCLIC HARDENING needs PARAMETERS", "a row: yield stress, Q, b")
    rows = list(draft.rows(card))
    if len(rows) != 1:
        raise card.mistake("*CYCLIC HARDENING has one row: yield stress, Q, b")
    (row,) = rows
    row.end(3, "yield stress, Q, b")
    stress, most, haste = row.number(0, "the yield stress"), row.number(1, "Q"), row.amount(2, "b")
    if stress != given.rows[0][0]:
        message = f"the yield stress is {given.rows[0][0]:g} in *PLASTIC, got {stress:g}"
        raise Mistake(row.field(0).place, message)
    if stress + most <= 0.0:
        raise Mistake(row.field(1).place, f"Q = {most:g} leaves no yield stress of {stress:g}")
    put(card, draft, plastic=replace(given, growth=(most, haste)))


ROPE_LAWS = ("UNIAXIAL", "VISCOELASTIC", "DYNAMIC STIFFNESS", "PLASTIC", "BUCKLING STRENGTH")
NO_STRAIN = "an inextensible bar has no strain"
ANY_LAW = ("DENSITY", "DAMPING", "NO COMPRESSION")
LAWS: dict[str, tuple[str, ...]] = {
    "ELASTIC": (
        *ANY_LAW, "NO TENSION", "EXPANSION", "VISCOELASTIC", "DYNAMIC STIFFNESS", "INEXTENSIBLE", "PLASTIC",
        "CYCLIC HARDENING", "BUCKLING STRENGTH",
    ),
    "INEXTENSIBLE": (*ANY_LAW, "NO TENSION", "RESTITUTION", "ELASTIC"),
    "UNIAXIAL": (*ANY_LAW, "LOADING DATA", "UNLOADING DATA", "DYNAMIC STIFFNESS", "EXPANSION"),
    "VISCOELASTIC": (*ANY_LAW, "ELASTIC"),
    "DYNAMIC STIFFNESS": (*ANY_LAW, "ELASTIC", "UNIAXIAL", "LOADING DATA", "UNLOADING DATA"),
    "PLASTIC": (*ANY_LAW, "ELASTIC", "EXPANSION", "CYCLIC HARDENING", "BUCKLING STRENGTH"),
    "BUCKLING STRENGTH": (*ANY_LAW[:2], "ELASTIC", "EXPANSION", "PLASTIC"),
}  # fmt: skip
"""Cards of stress-strain laws of a bar -> the cards that have an effect with each. A card in none of these lists is an
error with any law.
"""
BESIDE_ROPE_LAWS = {
    "INEXTENSIBLE": NO_STRAIN,
    "NO TENSION": "rope laws are for tension",
    "BETA": "the law has its own dissipation",
}
NO_EXPANSION = {"EXPANSION": "of the rope laws only *UNIAXIAL has thermal strain"}
BESIDE = {
    "UNIAXIAL": BESIDE_ROPE_LAWS | {"PLASTIC": "*UNLOADING DATA, SHIFTED CURVE, is yielding in tension"},
    **dict.fromkeys(ROPE_LAWS[1:3], BESIDE_ROPE_LAWS | NO_EXPANSION | {"PLASTIC": "a law with memory stands alone"}),
    "BUCKLING STRENGTH": BESIDE_ROPE_LAWS
    | {
        "NO COMPRESSION": "cables do not buckle",
        "NO TENSION": "the law has tension: leave it out",
        **dict.fromkeys(("UNIAXIAL", "VISCOELASTIC", "DYNAMIC STIFFNESS"), "a law with memory stands alone"),
    },
    "PLASTIC": BESIDE_ROPE_LAWS | {"NO TENSION": "struts do not yield: leave it out"},
    "INEXTENSIBLE": {"EXPANSION": NO_STRAIN, "BETA": NO_STRAIN},
}
"""Cards that make no sense with these laws, and the reason; also BETA of ``*DAMPING``."""
ON_IT = 1e-3
"""Largest distance of the last row of an unloading curve from the loading curve, relative to the stress."""
FEEDS = 1e-9
Finding: TypeAlias = tuple[str, str, str]
"""Card with the mistake, message, hint."""


def law_mistakes(entry: MaterialDraft) -> Iterator[Finding]:
    """Mistakes in the combination of cards of one material."""
    cards, name = entry.cards, entry.name
    law = next((card for card in BESIDE if card in cards), "ELASTIC")
    if law == "ELASTIC":
        if LAWS.keys().isdisjoint(cards):
            yield "", f"material {name} has neither *ELASTIC nor *INEXTENSIBLE", ""
        elif entry.numbers.get("is_instant"):
            yield law, f"MODULI=INSTANTANEOUS in material {name}, which has no *VISCOELASTIC", ""
        return
    for what, why in BESIDE[law].items():
        if what == "BETA" and entry.numbers.get("beta"):
            yield "DAMPING", f"BETA of *DAMPING with *{law} in material {name}", why
        elif what in cards:
            yield what, f"*{what} with *{law} in material {name}", why
    if law == "INEXTENSIBLE" and "NO COMPRESSION" in cards:
        if entry.numbers["compression_ratio"] != 0.0:
            yield "NO COMPRESSION", f"RATIO with *INEXTENSIBLE in {name}", "a rope carries no compression: remove RATIO"
    elif law == "INEXTENSIBLE" and "RESTITUTION" in cards and "NO TENSION" not in cards:
        message = f"RESTITUTION is for ropes and stops: material {name} has no *NO COMPRESSION or *NO TENSION"
        yield "RESTITUTION", message, "a rod has no impacts"
    elif law in ROPE_LAWS:
        yield from rope_law_mistakes(entry, law)


def rope_law_mistakes(entry: MaterialDraft, law: str) -> Iterator[Finding]:
    cards, numbers, name = entry.cards, entry.numbers, entry.name
    if numbers.get("compression_ratio", 1.0) not in (0.0, 1.0):
        yield "NO COMPRESSION", f"RATIO of *NO COMPRESSION with *{law} in material {name}", "0 or without the keyword"
    given, dynamic, plastic = numbers.get("uniaxial"), numbers.get("dynamic"), numbers.get("plastic")
    if law == "BUCKLING STRENGTH" and isinstance(plastic, Plastic) and plastic.hardening != "ISOTROPIC":
        message = f"*PLASTIC, HARDENING={plastic.hardening} with *{law} in material {name}"
        yield "PLASTIC", message, "give the yield stress in tension over the plastic strain (ISOTROPIC)"
    if "VISCOELASTIC" in cards and len([card for card in ROPE_LAWS if card in cards]) > 1:
        yield "VISCOELASTIC", f"*VISCOELASTIC with *{law} in material {name}", "it needs *ELASTIC only"
    elif given is None and "ELASTIC" not in cards:
        yield (
            law,
            f"*{law} of material {name} needs *ELASTIC"
            + " or *UNIAXIAL" * (law not in ("VISCOELASTIC", *ROPE_LAWS[3:])),
            "",
        )
    elif given is not None and "ELASTIC" in cards:
        yield "ELASTIC", f"*ELASTIC with *UNIAXIAL in material {name}", "the table gives the stiffness"
    if numbers.get("is_instant") and "VISCOELASTIC" not in cards:
        yield "ELASTIC", f"MODULI=INSTANTANEOUS in material {name}, which has no *VISCOELASTIC", ""
    wrong = list(table_mistakes(given, numbers.get("compression_ratio") == 0.0)) if isinstance(given, Uniaxial) else []
    yield from wrong
    if isinstance(dynamic, DynamicStiffness) and not wrong:
        yield from too_soft(dynamic, given if isinstance(given, Uniaxial) else None, numbers.get("young"))


def table_mistakes(given: Uniaxial, is_rope: bool) -> Iterator[Finding]:
    if not given.loading:
        yield "UNIAXIAL", "*UNIAXIAL has no *LOADING DATA", ""
        return
    needed = {"ELASTIC": "", "DAMAGE": "INTERPOLATED CURVE", "PERMANENT DEFORMATION": given.definition}[given.kind]
    if given.definition != needed or (given.kind != "ELASTIC" and not needed):
        hint = {
            "ELASTIC": "TYPE=ELASTIC unloads along the loading curve",
            "DAMAGE": "DAMAGE needs *UNLOADING DATA, DEFINITION=INTERPOLATED CURVE",
            "PERMANENT DEFORMATION": "it needs *UNLOADING DATA",
        }[given.kind]
        has = f"*UNLOADING DATA, DEFINITION={given.definition}" if given.definition else "no *UNLOADING DATA"
        yield "LOADING DATA", f"TYPE={given.kind} with {has}", hint
        return
    if is_rope and given.loading[0][1] < 0.0:
        yield "LOADING DATA", "stresses of compression with *NO COMPRESSION", "begin with the row 0, 0"
    highest = given.loading[-1][0]
    if given.largest > (highest if given.definition else 0.0):
        what = f"the highest of *LOADING DATA is {highest:g}" if given.definition else "there is no *UNLOADING DATA"
        yield "UNIAXIAL", f"LARGEST STRESS={given.largest:g}: {what}", ""
    if not given.definition:
        return
    if not is_rope:
        yield "UNLOADING DATA", "*UNLOADING DATA without *NO COMPRESSION", "only tension unloads along another curve"
    if 0.0 in slopes_of(given.loading) or 0.0 in slopes_of(given.unloading):
        yield "LOADING DATA", "with *UNLOADING DATA stresses must rise from row to row", ""
        return
    if given.definition == "SHIFTED CURVE":
        yield from shifted_mistakes(given)
    else:
        yield from scaled_mistakes(given)


def shifted_mistakes(given: Uniaxial) -> Iterator[Finding]:
    """The permanent strain must grow with the stress."""
    (f, x), (u, y) = np.array(given.loading).T, np.array(given.unloading).T
    if u[-1] < f[-1]:
        yield "UNLOADING DATA", f"the unloading curve ends at the stress {u[-1]:g}, loading at {f[-1]:g}", ""
        return
    stress = np.union1d(f, u[u <= f[-1]])
    permanent = np.interp(stress, f, x) - np.interp(stress, u, y)
    falls = np.flatnonzero(np.diff(permanent) < -FEEDS * x[-1])
    if permanent[0] < 0.0 or len(falls):
        at = stress[falls[0] + 1] if len(falls) else 0.0
        yield "UNLOADING DATA", f"unloading is softer than loading at the stress {at:g}", "that would create energy"


def scaled_mistakes(given: Uniaxial) -> Iterator[Finding]:
    """The unloading curve must end on the loading curve, and cycles of growing strain must not create energy."""
    (f, x), (u, y) = np.array(given.loading).T, np.array(given.unloading).T
    meets = float(np.interp(y[-1], x, f))
    if y[-1] > x[-1] or abs(u[-1] - meets) > ON_IT * meets:
        message = f"the unloading curve ends at {u[-1]:g}, {y[-1]:g}, off the loading curve ({meets:g} there)"
        yield "UNLOADING DATA", message, "it is scaled from that point"
        return
    if given.kind == "DAMAGE" and y[0] != 0.0:
        yield "UNLOADING DATA", "TYPE=DAMAGE has no permanent strain", "begin with the row 0, 0"
        return
    area = float(np.sum(0.5 * (u[1:] + u[:-1]) * np.diff(y))) / (u[-1] * y[-1])
    for (f0, x0), (f1, x1) in pairwise(given.loading):  # f - area d(f x)/dx is linear in between
        slope = (f1 - f0) / (x1 - x0)
        gain = [stress - area * (stress + strain * slope) for stress, strain in ((f0, x0), (f1, x1))]
        if min(gain) < -FEEDS * f[-1]:
            message = f"the area below the unloading curve is too large for the loading between {f0:g} and {f1:g}"
            yield "UNLOADING DATA", message, "that would create energy"
            return


def too_soft(dynamic: DynamicStiffness, given: Uniaxial | None, young: object) -> Iterator[Finding]:
    """The quasi-static curve must be softer than the dynamic stiffness everywhere."""
    found: list[tuple[float, float]] = []
    if given is None:
        found = [(0.0, young)] if isinstance(young, float) else []
    else:
        shifted = given.unloading if given.definition == "SHIFTED CURVE" else ()
        for curve in (given.loading, shifted):
            slopes = slopes_of(curve)
            found += [(abs(row[0]), slope) for row, slope in zip(curve, slopes, strict=False)]
        if given.definition == "INTERPOLATED CURVE":
            stress, strain = given.unloading[-1]
            first = given.largest, float(np.interp(given.largest, *np.transpose(given.loading)))
            tops = [first] * (given.largest > 0.0) + [row for row in given.loading[1:] if row[0] > given.largest]
            for top, largest in tops:  # the unloading curve, scaled to each row from the largest stress on
                scale: Floats = np.array([top / stress, largest / strain])
                rows = [tuple(row) for row in (np.array(given.unloading) * scale).tolist()]
                found += [(row[0], slope) for row, slope in zip(rows, slopes_of(tuple(rows)), strict=False)]
    for stress, slope in found:
        modulus = dynamic.constant + dynamic.slope * stress
        if slope >= modulus:
            message = f"the quasi-static modulus {slope:g} at stress {stress:g} is not below the dynamic {modulus:g}"
            yield "DYNAMIC STIFFNESS", message, ""
            return


def blame_rope_laws(draft: Draft, materials: Collection[Material]) -> None:
    """Rope laws need NLGEOM, and exclude ropes of constant length in the model. materials: those of sections"""
    ruled = [material for material in materials if material.has_rope_law]
    if not ruled:
        return
    ropes = [material for material in ruled if material.plastic is None and material.buckling is None]
    for step in draft.steps if ropes else ():
        if not step.nlgeom:
            message = f"a step without NLGEOM: material {ropes[0].name} has a rope law"
            draft.report(Mistake(step.place, message, "*STEP, NLGEOM"))
    limits = [material.name for material in materials if material.is_inextensible and 0.0 in
              (material.compression_ratio, material.tension_ratio)]  # fmt: skip
    if limits or draft.planes:
        what = f"*INEXTENSIBLE ropes or stops (material {limits[0]})" if limits else "*STOP PLANE"
        place = draft.materials[ruled[0].name].place
        draft.report(Mistake(place, f"material {ruled[0].name} has a rope law, beside {what}", "that is not supported"))


def build_materials(draft: Draft, used: set[str]) -> dict[str, Material]:
    materials = {}
    for name, entry in draft.materials.items():
        if name in used:
            found = len(draft.mistakes)
            for card, message, hint in () if entry.broken else law_mistakes(entry):
                draft.report(Mistake(entry.cards.get(card, entry.place), message, hint))
            for card, law in strangers(entry.cards) if len(draft.mistakes) == found and not entry.broken else ():
                message = f"*{card} with *{law} in material {name}, which ignores it"
                draft.report(Mistake(entry.cards[card], message, f"*{law} goes with {listing(LAWS[law], 'and')}"))
        else:
            draft.notice(f"material {name} is not used by any *SOLID SECTION")
        materials[name] = Material(name, **entry.numbers)  # type: ignore[arg-type]
    return materials


def strangers(cards: Collection[str]) -> Iterator[tuple[str, str]]:
    """Cards of a material without effect on its law, with the name of that law; empty if the material has no law."""
    laws = [card for card in cards if card in LAWS]
    for card in cards:
        if not laws:
            yield card, ""
        for law in laws:
            if card != law and card not in LAWS[law]:
                yield card, law
                break
