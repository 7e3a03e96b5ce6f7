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
from fem.deck.handler import keyword
from fem.deck.source import Mistake, listing
from fem.model import Airy, DragLaw, FluidLoad, Frequency, Jonswap, MarineGrowth, Mesh, Static, Water, Wind
from fem.model.mesh import BARS
from fem.model.surroundings import STRETCHINGS, VERTICAL

STREAM = ("vx", "vy", "vz", "the elevation")

NOT_FIELDS = "velocities that change along x and y are not supported: vx, vy, vz, elevation are"


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


@keyword("model")
def aqua(card: Card, draft: Draft) -> None:
    """``seabed elevation, still level, g, density``, then lines ``vx, vy, vz, elevation`` of the current."""
    once(card, draft.water)
    rows = list(draft.rows(card))
    first = rows[0]
    first.end(4, "seabed elevation, still level, g, density")
    seabed, level = first.number(0, "the elevation of the seabed"), first.number(1, "the still level")
    gravity, density = first.amount(2, "g"), first.amount(3, "the density")
    if seabed > level:
        raise Mistake(first.place, f"the seabed at {seabed:g} is above the still level, {level:g}")
    current = []
    for row in rows[1:]:
        if len(row) > 4:
            raise Mistake(row.field(4).place, NOT_FIELDS)
        current.append((row, tuple(row.number(at, what, 0.0) for at, what in enumerate(STREAM))))
    draft.water = Water(seabed, level, gravity, density, rising(current, 3, "elevation"))


@keyword("model")
def wind(card: Card, draft: Draft) -> None:
    """``air density, reference height, cx, cy, ix, iy, alpha``."""
    once(card, draft.wind)
    row = draft.single_row(card, "air density, reference height, cx, cy, ix, iy, alpha")
    row.end(7, "air density, reference height, cx, cy, ix, iy, alpha")
    density, reference = row.amount(0, "the density of air"), row.amount(1, "the reference height", positive=True)
    speeds = row.number(2, "cx", 1.0), row.number(3, "cy", 1.0)
    along = row.number(4, "ix", 0.0), row.number(5, "iy", 0.0)
    if not row.field(4).text and not row.field(5).text:
        along = 1.0, 0.0
    if along[0] == 0.0 and along[1] == 0.0:
        raise Mistake(row.field(4).place, "the wind has no direction", "ix, iy is a unit vector, for example 1, 0")
    power = row.amount(6, "alpha", 1.0 / 7.0)
    size = along[0] * along[0] + along[1] * along[1]
    if abs(size - 1.0) > 2e-3:
        draft.notice("*WIND: ix, iy is no unit vector: speeds are multiplied by its length")
    draft.wind = Wind(density, reference, speeds, along, power)


@keyword("model", needs=("NAME",))
def drag_law(card: Card, draft: Draft) -> None:
    """``speed, force per length``, from 0, 0."""
    draft.extension("*DRAG LAW")
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
        raise Mistake(rows[-1][0].place, "the force falls at the end of the law", "its last slope goes on for ever")
    draft.drag_laws[name] = DragLaw(name, law)


@keyword("model", needs=("ELSET", "DIAMETER"))
def marine_growth(card: Card, draft: Draft) -> None:
    """``thickness, density, elevation``."""
    draft.extension("*MARINE GROWTH")
    element_set, diameter = draft.named(card, "ELSET", "element"), card.positive("DIAMETER")
    rows: list[tuple[Row, tuple[float, ...]]] = []
    for row in draft.rows(card):
        row.end(3, "thickness, density, elevation")
        thickness, density = row.amount(0, "the thickness"), row.amount(1, "the density of the growth")
        rows.append((row, (row.number(2, "the elevation", 0.0), thickness, density)))
    draft.growths.append((MarineGrowth(element_set, diameter, rising(rows, 0, "elevation")), card.place))


KINDS = ("AIRY", "JONSWAP")

FOREIGN = {
    "STOKES": "Stokes' waves are not supported",
    "GRIDDED": "waves on a grid are not supported",
    "USER": "waves of a user's routine are not supported",
}

OF_AIRY, OF_SEAS = ("WAVE PERIOD",), ("SEED", "COMPONENTS")

MOST_COMPONENTS, LARGEST_SEED = 100_000, 2**64 - 1

NOT_UNIT = 2e-3

REGULAR, IRREGULAR = "amplitude, {}, phase, cos x, cos y", "Hs, Tp, gamma, cos x, cos y, lowest, highest omega/omega_p"


@keyword(
    "model", needs=("TYPE",), takes=(*OF_AIRY, *OF_SEAS, "RAMP", "STRETCHING"), plus=(*OF_SEAS, "RAMP", "STRETCHING")
)
def wave(card: Card, draft: Draft) -> None:
    """AIRY: lines ``amplitude, length or period, phase, cos x, cos y``; JONSWAP: one of a sea."""
    asked = card.field("TYPE").text.upper()
    if asked in FOREIGN:
        hint = "TYPE=AIRY has regular waves of first order, JONSWAP a sea of them"
        raise Mistake(card.field("TYPE").place, FOREIGN[asked], hint)
    is_sea = card.word("TYPE", KINDS, KINDS[0]) == "JONSWAP"
    for name in OF_AIRY if is_sea else OF_SEAS:
        if card.has(name):
            raise Mistake(card.parameters[name.replace(" ", "")].place, f"{name} belongs to TYPE={KINDS[not is_sea]}")
    ramp = card.amount("RAMP")
    stretching = card.word("STRETCHING", STRETCHINGS, VERTICAL)
    if is_sea:
        draft.extension("*WAVE, TYPE=JONSWAP")
        draft.waves.append((sea(card, draft, ramp, stretching), card))
        return
    is_period = card.flag("WAVE PERIOD")
    rows = tuple(regular(row, "period" if is_period else "wavelength", draft) for row in draft.rows(card))
    draft.waves.append((Airy(rows, is_period, ramp, stretching), card))


def regular(row: Row, size: str, draft: Draft) -> tuple[float, float, float, float, float]:
    """A line of AIRY."""
    row.end(5, REGULAR.format(size))
    return (
        row.amount(0, "the amplitude"), row.amount(1, f"the {size}", positive=True),
        row.number(2, "the phase", 0.0), *direction(row, draft),
    )  # fmt: skip


def sea(card: Card, draft: Draft, ramp: float, stretching: str) -> Jonswap:
    """The line of JONSWAP."""
    if not card.has("SEED"):
        hint = "SEED=1, say, chooses jitters and phases of the components: the same ones in every run"
        raise card.mistake("*WAVE, TYPE=JONSWAP needs SEED=", hint)
    seed = card.field("SEED").integer("SEED=", 0, LARGEST_SEED)
    count = card.field("COMPONENTS").integer("COMPONENTS=", 1, MOST_COMPONENTS) if card.has("COMPONENTS") else 200
    row = draft.single_row(card, IRREGULAR)
    row.end(7, IRREGULAR)
    height = row.amount(0, "the significant height Hs", positive=True)
    period = row.amount(1, "the peak period Tp", positive=True)
    gamma = row.amount(2, "gamma", 3.3, positive=True)
    low = row.amount(5, "the lowest frequency over that of the peak", 0.5, positive=True)
    high = row.amount(6, "the highest frequency over that of the peak", 4.0, positive=True)
    if high <= low:
        raise Mistake(row.field(6).place, f"the highest frequency, {high:g}, is not above the lowest, {low:g}")
    return Jonswap(height, period, seed, count, gamma, direction(row, draft), low, high, ramp, stretching)


def direction(row: Row, draft: Draft) -> tuple[float, float]:
    """cos x, cos y in fields 3 and 4."""
    along = row.number(3, "cos x", 0.0), row.number(4, "cos y", 0.0)
    if not row.field(3).text and not row.field(4).text:
        return 1.0, 0.0
    size = along[0] * along[0] + along[1] * along[1]
    if size == 0.0:
        raise Mistake(row.field(3).place, "the waves have no direction", "cos x, cos y is a unit vector, say 1, 0")
    if abs(size - 1.0) > NOT_UNIT:
        draft.notice("*WAVE: cos x, cos y is no unit vector: only its direction counts")
    return along


def check_waves(draft: Draft) -> None:
    """They are on water with a depth and a weight, and stretched in one way; statics does not know them."""
    for each, card in draft.waves if not draft.has_failed("AQUA") else ():
        with draft.guard():
            if draft.water is None:
                raise card.mistake("waves are on water, and the deck has no *AQUA", "give *AQUA before the first step")
            if draft.water.seabed == draft.water.level:
                raise card.mistake("*AQUA has no depth: the seabed is at the still level, and no wave fits between")
            if draft.water.gravity == 0.0:
                raise card.mistake("waves need g, which is 0 in *AQUA")
            if each.stretching != draft.waves[0][0].stretching:
                other = draft.waves[0][0].stretching
                raise card.mistake(f"STRETCHING={each.stretching}, and {other} in another *WAVE: the sea is one")
    if draft.waves and any(isinstance(step.procedure, Static) for step in draft.steps):
        draft.notice("*STATIC: waves do not act there, only the stream does")


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
    target = draft.target(row, 0, "element")
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
        raise card.mistake(message, "in *DYNAMIC give FI in *DLOAD")
    for row in draft.rows(card):
        with draft.guard():
            row.end(4, "elements, FI, D, C_A")
            label = row.field(1)
            if label.text.upper() != "FI":
                raise Mistake(label.place, f"expected FI, got '{label.text}'", "elements, FI, D, C_A")
            blame_absent_fluid(row, "FI", draft)
            target = draft.target(row, 0, "element")
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
        what = "a stream that varies in time has no acceleration, as waves have, and exerts no inertia force"
        draft.notice(f"FI and an amplitude of the stream: {what}")
    kinds = set[str]()
    for step in draft.steps:
        asked = {name for request in step.outputs for name in request.variables} & {"FV", "FA", "FE"}
        if asked and draft.water is None and not draft.has_failed("AQUA"):
            message = f"{listing(sorted(asked), 'and')} are of water, and the deck has no *AQUA"
            draft.report(Mistake(step.place, message))
        check_step(draft, mesh, step, is_bar)
        kinds |= {load.kind for load, _ in step.fluid_loads}
        if isinstance(step.procedure, Frequency) and "FI" in kinds:
            draft.notice("*FREQUENCY: FI of earlier steps adds no mass there, *D ADDED MASS does")


def check_step(draft: Draft, mesh: Mesh, step: StepDraft, is_bar: Flags) -> None:
    """Those of one step."""
    taken: dict[str, Flags] = {}
    for load, place in step.fluid_loads:
        with draft.guard():
            before = taken.setdefault(load.kind, np.zeros(len(is_bar), np.bool_))
            found = spoken(draft, mesh, load.target, place, is_bar, before, load.kind, "twice in this step")
            before |= found
            if load.kind == "PB" and draft.water is not None and not draft.mistakes:  # else there may be no places
                height = mesh.coordinates[mesh.element_nodes[found], mesh.up] - draft.water.level
                if np.any((np.ptp(height, axis=1) == 0.0) & (np.abs(height[:, 0]) < load.diameter)):
                    what = "they are wholly wet or wholly dry, so that their buoyancy jumps there"
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
            label = draft.as_written(int(mesh.element_labels[int(wrong.argmax())]))
            raise Mistake(place, message.format(label))  # type: ignore[arg-type]
    return found
