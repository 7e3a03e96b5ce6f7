"""Water and wind: ``*AQUA``, ``*WIND``, ``*WAVE``, ``*DRAG LAW``, ``*MARINE GROWTH``, and their loads on bars.

What loads and waves need of the water is known when all cards are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fem.arrays import Flags
from fem.deck.cards import Card, Row
from fem.deck.draft import Draft, StepDraft
from fem.deck.kinds import AMOUNT, ANY, ELEMENT_SET, POSITIVE_NUMBER, Whole, word_of
from fem.deck.source import Mistake, listing, squeezed
from fem.deck.table import Line, Parameters, Value, keyword
from fem.model import Airy, DragLaw, FluidLoad, Frequency, Jonswap, MarineGrowth, Mesh, Static, Water, Wind
from fem.model.mesh import BARS
from fem.model.surroundings import STRETCHINGS, VERTICAL

STREAM = ("vx", "vy", "vz", "the elevation")
NOT_FIELDS = "velocities that vary with x and y are not supported; expected vx, vy, vz, elevation"


def rising(rows: Sequence[tuple[Row, tuple[float, ...]]], at: int, what: str) -> tuple[Any, ...]:
    """The numbers of data lines in the order of number ``at``; Mistake where two lines have the same."""
    found = sorted(rows, key=lambda pair: pair[1][at])
    for (_, one), (row, other) in pairwise(found):
        if other[at] <= one[at]:
            raise Mistake(row.place, f"two lines have the same {what}, {other[at]:g}")
    return tuple(numbers for _, numbers in found)


def once(card: Card, known: object) -> None:
    """There is one water and one wind."""
    if known is not None:
        raise card.mistake(f"the deck has two *{card.keyword}")


AQUA = Line(
    "seabed elevation, still level, g, density",
    Value("seabed", what="the elevation of the seabed"),
    Value("level", what="the still level"),
    Value("gravity", AMOUNT, "g"),
    Value("density", AMOUNT, "the density"),
)
WIND = Line(
    "air density, reference height, cx, cy, ix, iy, alpha",
    Value("density", AMOUNT, "the density of air"),
    Value("reference", POSITIVE_NUMBER, "the reference height"),
    *(Value("speeds", ANY, what, 1.0) for what in ("cx", "cy")),
    *(Value("direction", ANY, what, 0.0) for what in ("ix", "iy")),
    Value("power", AMOUNT, "alpha", 1.0 / 7.0),
)


@keyword("model")
def aqua(card: Card, draft: Draft) -> None:
    """``AQUA``, then lines ``vx, vy, vz, elevation`` of the current."""
    once(card, draft.water)
    rows = list(draft.rows(card))
    given = AQUA.read(rows[0], draft)
    if given["seabed"] > given["level"]:
        message = f"the seabed at {given['seabed']:g} is above the still level, {given['level']:g}"
        raise Mistake(rows[0].place, message)
    current = []
    for row in rows[1:]:
        if len(row) > 4:
            raise Mistake(row.field(4).place, NOT_FIELDS)
        current.append((row, tuple(row.number(at, what, 0.0) for at, what in enumerate(STREAM))))
    draft.water = Water(**given, current=rising(current, 3, "elevation"))


@keyword("model")
def wind(card: Card, draft: Draft) -> None:
    once(card, draft.wind)
    row = draft.single_row(card, WIND.text)
    given = WIND.read(row, draft)
    along, hint = given["direction"], "ix, iy is a unit vector, for example 1, 0"
    given["direction"] = direction(row, 4, along, "the wind has no direction", hint)
    if not is_unit(given["direction"]):
        draft.notice("*WIND: ix, iy is not a unit vector: speeds are multiplied by its length")
    draft.wind = Wind(**given)


def direction(row: Row, at: int, given: tuple[float, float], nowhere: str, hint: str) -> tuple[float, float]:
    """A horizontal direction, 1, 0 where both of its entries, from ``at`` on, are blank."""
    if not row.field(at).text and not row.field(at + 1).text:
        return 1.0, 0.0
    if given[0] == 0.0 and given[1] == 0.0:
        raise Mistake(row.field(at).place, nowhere, hint)
    return given


def is_unit(along: tuple[float, float]) -> bool:
    """Its length is 1, but for what is left out of decimals."""
    return not abs(along[0] * along[0] + along[1] * along[1] - 1.0) > NOT_UNIT


@keyword("model", needs=("NAME",), extension="*DRAG LAW")
def drag_law(card: Card, draft: Draft) -> None:
    """``speed, force per length``, from 0, 0."""
    name = draft.declare(card, "drag law")
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(2, "speed, force per length")
        rows.append((row, (row.amount(0, "the speed"), row.amount(1, "the force per length"))))
    law = rising(rows, 0, "speed")
    if law[0][0] > 0.0:
        law = ((0.0, 0.0), *law)
    elif law[0][1] != 0.0:
        raise Mistake(rows[0][0].place, f"the force at speed 0 must be 0, got {law[0][1]:g}")
    if len(law) < 2:
        raise card.mistake(f"drag law {name} has no force at any speed but 0")
    if law[-1][1] < law[-2][1]:
        raise Mistake(rows[-1][0].place, "the force decreases at the end of the law", "its last slope is extrapolated")
    draft.drag_laws[name] = DragLaw(name, law)


MARINE_GROWTH = Parameters(ELSET=Value("element_set", ELEMENT_SET), DIAMETER=Value("diameter", POSITIVE_NUMBER))


@keyword("model", MARINE_GROWTH, extension="*MARINE GROWTH")
def marine_growth(card: Card, draft: Draft) -> None:
    """``thickness, density, elevation``."""
    given = MARINE_GROWTH.read(card, draft)
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(3, "thickness, density, elevation")
        thickness, density = row.amount(0, "the thickness"), row.amount(1, "the density of the growth")
        rows.append((row, (row.number(2, "the elevation", 0.0), thickness, density)))
    draft.growths.append((MarineGrowth(**given, rows=rising(rows, 0, "elevation")), card.place))


KINDS = ("AIRY", "JONSWAP")
FOREIGN = {
    "STOKES": "Stokes' waves are not supported",
    "GRIDDED": "waves on a grid are not supported",
    "USER": "waves of a user's routine are not supported",
}
MOST_COMPONENTS, LARGEST_SEED = 100_000, 2**64 - 1
NOT_UNIT = 2e-3
OF_AIRY = ("WAVE PERIOD",)
OF_ALL = Parameters(
    RAMP=Value("ramp", AMOUNT, default=0.0, is_ours=True),
    STRETCHING=Value("stretching", word_of(*STRETCHINGS), default=VERTICAL, shown=True, is_ours=True),
)
OF_SEAS = Parameters(
    SEED=Value("seed", Whole(0, LARGEST_SEED), default=None, is_ours=True),
    COMPONENTS=Value("count", Whole(1, MOST_COMPONENTS), default=200, shown=True, is_ours=True),
)
ALONG = tuple(Value("direction", ANY, what, 0.0) for what in ("cos x", "cos y"))
REGULAR = {
    size: Line(
        f"amplitude, {size}, phase, cos x, cos y",
        Value("amplitude", AMOUNT, "the amplitude"),
        Value("size", POSITIVE_NUMBER, f"the {size}"),
        Value("phase", ANY, "the phase", 0.0),
        *ALONG,
    )
    for size in ("wavelength", "period")
}
SEA = Line(
    "Hs, Tp, gamma, cos x, cos y, lowest, highest omega/omega_p",
    Value("height", POSITIVE_NUMBER, "the significant height Hs"),
    Value("period", POSITIVE_NUMBER, "the peak period Tp"),
    Value("gamma", POSITIVE_NUMBER, "gamma", 3.3),
    *ALONG,
    Value("low", POSITIVE_NUMBER, "the lowest frequency over that of the peak", 0.5),
    Value("high", POSITIVE_NUMBER, "the highest frequency over that of the peak", 4.0),
)
OURS = (*OF_SEAS, *OF_ALL)


@keyword("model", needs=("TYPE",), takes=(*OF_AIRY, *OURS), plus=OURS)
def wave(card: Card, draft: Draft) -> None:
    """AIRY: lines ``amplitude, length or period, phase, cos x, cos y``; JONSWAP: one of a sea."""
    asked = card.field("TYPE").text.upper()
    if asked in FOREIGN:
        hint = "TYPE=AIRY is for regular first-order waves, JONSWAP for an irregular sea"
        raise Mistake(card.field("TYPE").place, FOREIGN[asked], hint)
    is_sea = card.word("TYPE", KINDS, KINDS[0]) == "JONSWAP"
    for name in filter(card.has, OF_AIRY if is_sea else OF_SEAS):
        raise Mistake(card.parameters[squeezed(name)].place, f"{name} is for TYPE={KINDS[not is_sea]}")
    given = OF_ALL.read(card, draft)
    if is_sea:
        draft.extension("*WAVE, TYPE=JONSWAP")
        draft.waves.append((sea(card, draft, given), card))
        return
    is_period = card.flag("WAVE PERIOD")
    rows = tuple(regular(row, "period" if is_period else "wavelength", draft) for row in draft.rows(card))
    draft.waves.append((Airy(rows, is_period, **given), card))


def regular(row: Row, size: str, draft: Draft) -> Any:
    """Read a data line of AIRY."""
    *numbers, along = REGULAR[size].read(row, draft).values()
    return *numbers, *towards(row, along, draft)


def sea(card: Card, draft: Draft, given: dict[str, Any]) -> Jonswap:
    """Read the data line of JONSWAP."""
    if not card.has("SEED"):
        hint = "for example SEED=1: it determines the random phases of the components, the same in every run"
        raise card.mistake("*WAVE, TYPE=JONSWAP needs SEED=", hint)
    given |= OF_SEAS.read(card, draft)
    row = draft.single_row(card, SEA.text)
    given |= SEA.read(row, draft)
    if given["high"] <= given["low"]:
        message = f"the highest frequency, {given['high']:g}, is not above the lowest, {given['low']:g}"
        raise Mistake(row.field(6).place, message)
    return Jonswap(**given | {"direction": towards(row, given["direction"], draft)})


def towards(row: Row, along: tuple[float, float], draft: Draft) -> tuple[float, float]:
    """cos x, cos y in fields 3 and 4."""
    along = direction(row, 3, along, "the waves have no direction", "cos x, cos y is a unit vector, for example 1, 0")
    if not is_unit(along):
        draft.notice("*WAVE: cos x, cos y is not a unit vector: only its direction is used")
    return along


def check_waves(draft: Draft) -> None:
    """They are on water with a depth and a weight, and stretched in one way; statics does not know them."""
    for each, card in draft.waves if not draft.has_failed("AQUA") else ():
        with draft.guard():
            if draft.water is None:
                raise card.mistake("waves need water, and the deck has no *AQUA", "give *AQUA before the first step")
            if draft.water.seabed == draft.water.level:
                raise card.mistake("*AQUA has no depth: seabed and still level are equal, so there can be no waves")
            if draft.water.gravity == 0.0:
                raise card.mistake("waves need g, which is 0 in *AQUA")
            if each.stretching != draft.waves[0][0].stretching:
                other = draft.waves[0][0].stretching
                raise card.mistake(f"STRETCHING={each.stretching}, but {other} in another *WAVE: use one")
    if draft.waves and any(isinstance(step.procedure, Static) for step in draft.steps):
        draft.notice("*STATIC: waves do not act there, only the current does")


FIELDS = {
    "FDD": ("Cd or a drag law", "alpha_R", "A_c", "A_w"),
    "WDD": ("Cd or a drag law", "alpha_R", "A_x", "A_y"),
    "FDT": ("Ct", "alpha_R", "h", "A_c", "A_w"),
    "FI": ("C_M", "C_A", "A_w", "C_At"),
    "PB": (),
}
"""What follows elements, label, M, D on a data line."""
STREAMS = {"FDD": 6, "WDD": 6, "FDT": 7}
"""Where the amplitudes of the stream stand."""


def fluid_load(row: Row, kind: str, amplitude: str | None, is_current: bool, draft: Draft) -> FluidLoad:
    """One line of ``*DLOAD`` with a label of water or wind."""
    row.end(4 + len(FIELDS[kind]), ", ".join(("elements", kind, "M", "D", *FIELDS[kind])))
    blame_absent_fluid(row, kind, draft)
    target = draft.target(row.field(0), "element")
    magnitude, diameter = row.number(2, "the magnitude M", 1.0), row.amount(3, "the diameter D", positive=True)
    load = FluidLoad(target, kind, magnitude, diameter, amplitude=amplitude, is_current=is_current)
    if kind == "PB":
        return load
    if kind == "FI":
        return inertia(row, load, draft)
    field = row.field(4)
    coefficient: float | str
    if kind == "FDT" or field.is_number() or not field.text:
        coefficient = row.amount(4, FIELDS[kind][0])
    else:
        coefficient = field.name("a drag law")
        draft.use("drag law", coefficient, field.place)
    exponent = row.amount(6, "the exponent h", 2.0) if kind == "FDT" else 2.0
    if exponent < 1.0:
        raise Mistake(row.field(6).place, f"the exponent h must be at least 1, got {exponent:g}")
    follows = row.amount(5, "alpha_R", 1.0)
    streams = streams_of(row, kind, draft)
    return replace(load, coefficient=coefficient, follows=follows, exponent=exponent, streams=streams)


def streams_of(row: Row, kind: str, draft: Draft) -> tuple[str | None, str | None]:
    """The names of the two amplitudes of a stream; that of waves may have none to act on."""
    found: list[str | None] = []
    for at in (STREAMS[kind], STREAMS[kind] + 1):
        field = row.field(at)
        found.append(field.name("an amplitude") if field.text else None)
        if field.text:
            draft.use("amplitude", found[-1] or "", field.place)
    if found[1] and kind != "WDD" and not draft.waves:
        draft.ignore(f"A_w of {kind} (there are no waves)")
    return found[0], found[1]


def inertia(row: Row, load: FluidLoad, draft: Draft) -> FluidLoad:
    """``C_M, C_A, A_w, C_At`` of FI."""
    if row.field(4).text and not row.field(5).text:
        raise Mistake(row.field(5).place, "C_M without C_A", "C_A = C_M - 1 is what inviscid flow gives")
    coefficient, added = row.amount(4, "C_M"), row.amount(5, "C_A")
    along = row.amount(7, "C_At") if row.field(7).text else None
    name = row.field(6)
    if name.text:
        draft.use("amplitude", name.name("an amplitude"), name.place)
        if not draft.waves:
            draft.ignore("A_w of FI (there are no waves)")
    streams = None, name.text.upper() or None
    return replace(load, coefficient=coefficient, added=added, added_along=along, streams=streams)


def blame_absent_fluid(row: Row, kind: str, draft: Draft) -> None:
    """Mistake where nothing flows that the label could mean."""
    card, fluid = ("WIND", draft.wind) if kind == "WDD" else ("AQUA", draft.water)
    if fluid is None and not draft.has_failed(card):
        message = f"{kind} acts in {'wind' if kind == 'WDD' else 'water'}, and the deck has no *{card}"
        raise Mistake(row.field(1).place, message, f"give *{card} before the first step")
    if fluid is not None and fluid.density == 0.0:
        raise Mistake(row.field(1).place, f"{kind} acts in a fluid, and the density of *{card} is 0")


@keyword("step")
def added_mass(card: Card, draft: Draft) -> None:
    """``elements, FI, D, C_A``: in ``*FREQUENCY``."""
    if not isinstance(draft.open_step.procedure, Frequency):
        message = "*D ADDED MASS belongs to a *FREQUENCY step, below *FREQUENCY"
        raise card.mistake(message, "for *DYNAMIC give FI in *DLOAD")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4, "elements, FI, D, C_A")
            label = row.field(1)
            if label.text.upper() != "FI":
                raise Mistake(label.place, f"expected FI, got '{label.text}'", "elements, FI, D, C_A")
            blame_absent_fluid(row, "FI", draft)
            target = draft.target(row.field(0), "element")
            diameter, added = row.amount(2, "the diameter D", positive=True), row.amount(3, "C_A")
            load = FluidLoad(target, "ADDED MASS", 1.0, diameter, added=added)
            draft.open_step.fluid_loads.append((load, row.place))


def check_fluids(draft: Draft, mesh: Mesh) -> None:
    """Loads and growth are of bars; no bar has one label twice in a step, or two growths."""
    is_bar = mesh.is_of(*BARS)
    check_waves(draft)
    grown = np.zeros(len(is_bar), np.bool_)
    for growth, place in draft.growths:
        with draft.guard():
            grown |= spoken(draft, mesh, growth.element_set, place, is_bar, grown, "*MARINE GROWTH", "twice")
    given = [load for step in draft.steps for load, _ in step.fluid_loads]
    if any(load.kind == "FI" for load in given) and any(load.streams[0] for load in given if load.kind != "WDD"):
        what = "the acceleration of a varying current (unlike that of waves) exerts no force"
        draft.notice(f"FI and an amplitude of the current: {what}")
    kinds = set[str]()
    for step in draft.steps:
        asked = {name for request in step.outputs for name in request.variables} & {"FV", "FA", "FE"}
        if asked and draft.water is None and not draft.has_failed("AQUA"):
            message = f"{listing(sorted(asked), 'and')} are quantities of water, and the deck has no *AQUA"
            draft.report(Mistake(step.place, message))
        check_step(draft, mesh, step, is_bar)
        kinds |= {load.kind for load, _ in step.fluid_loads}
        if isinstance(step.procedure, Frequency) and "FI" in kinds:
            draft.notice("*FREQUENCY: FI of earlier steps adds no mass; use *D ADDED MASS")


def check_step(draft: Draft, mesh: Mesh, step: StepDraft, is_bar: Flags) -> None:
    taken: dict[str, Flags] = {}
    for load, place in step.fluid_loads:
        with draft.guard():
            before = taken.setdefault(load.kind, np.zeros(len(is_bar), np.bool_))
            found = spoken(draft, mesh, load.target, place, is_bar, before, load.kind, "twice in this step")
            before |= found
            if load.kind == "PB" and draft.water is not None and not draft.mistakes:  # else there may be no places
                height = mesh.coordinates[mesh.element_nodes[found], mesh.up] - draft.water.level
                if np.any((np.ptp(height, axis=1) == 0.0) & (np.abs(height[:, 0]) < load.diameter)):
                    what = "they are fully wet or fully dry, so that their buoyancy jumps there"
                    draft.notice(f"PB on horizontal bars at the surface: {what}")


def spoken(
    draft: Draft, mesh: Mesh, target: str | int, place: object, is_bar: Flags, before: Flags, what: str, how: str
) -> Flags:
    """(k,) elements that a line names. Mistake where one is no bar, or is in ``before``."""
    found = np.zeros(len(is_bar), np.bool_)
    known = target in mesh.element_sets if isinstance(target, str) else target in mesh.element_labels
    if known:
        found[mesh.elements_of(target)] = True
    messages = f"{what} acts on bars (T3D2, T2D2), and element {{}} is none", f"element {{}} has {what} {how}"
    for wrong, message in zip((found & ~is_bar, found & before), messages, strict=True):
        if wrong.any():
            label = draft.as_written(mesh.element_labels[int(wrong.argmax())])
            raise Mistake(place, message.format(label))  # type: ignore[arg-type]
    return found
