"""Water and wind: ``*AQUA``, ``*DRAG LAW``, ``*MARINE GROWTH``, and their loads on bars.

What loads need of the water is known when all cards are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from fem.arrays import Flags
from fem.deck.cards import Card, Row
from fem.deck.draft import Draft
from fem.deck.kinds import AMOUNT, ELEMENT_SET, POSITIVE_NUMBER, Name
from fem.deck.source import Mistake, listing
from fem.deck.table import Line, Parameters, Value, keyword
from fem.deck.waves import check_waves
from fem.deck.winds import once
from fem.model import DragLaw, FluidLoad, Frequency, MarineGrowth, Mesh, Water
from fem.model.mesh import BARS

STREAM = ("vx", "vy", "vz", "the elevation")
NOT_FIELDS = "velocities that vary with x and y are not supported; expected vx, vy, vz, elevation"


def rising(rows: Sequence[tuple[Row, tuple[float, ...]]], at: int, what: str) -> tuple[Any, ...]:
    """The numbers of data lines in the order of number ``at``; Mistake where two lines have the same."""
    found = sorted(rows, key=lambda pair: pair[1][at])
    for (_, one), (row, other) in pairwise(found):
        if other[at] <= one[at]:
            raise Mistake(row.place, f"two lines have the same {what}, {other[at]:g}")
    return tuple(numbers for _, numbers in found)


AQUA = Line(
    "seabed elevation, still level, g, density",
    Value("seabed", what="the elevation of the seabed"),
    Value("level", what="the still level"),
    Value("gravity", AMOUNT, "g"),
    Value("density", AMOUNT, "the density"),
)
OF_WATER = Parameters(AMPLITUDE=Value("amplitude", Name("amplitude"), default=None, is_ours=True))


@keyword("model", OF_WATER)
def aqua(card: Card, draft: Draft) -> None:
    """``AQUA``, then lines ``vx, vy, vz, elevation`` of the current."""
    once(card, draft.water)
    amplitude, draft.tide = OF_WATER.read(card, draft), card.place
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
    draft.water = Water(**given, **amplitude, current=rising(current, 3, "elevation"))


@keyword("model", needs=("NAME",), takes=("BY",), extension="*DRAG LAW")
def drag_law(card: Card, draft: Draft) -> None:
    """``speed, force per length``, from 0, 0; BY=ANGLE: ``angle, C_D, C_L``."""
    name = draft.declare(card, "drag law")
    if card.word("BY", ("SPEED", "ANGLE"), "SPEED") == "ANGLE":
        turns = []
        for row in draft.rows(card):
            row.end(3, "angle, C_D, C_L")
            turns.append((row, tuple(row.number(at, what) for at, what in enumerate(("the angle", "C_D", "C_L")))))
        found = rising(turns, 0, "angle")
        if len(found) < 2 or not found[-1][0] - found[0][0] < 360.0:
            raise card.mistake(f"drag law {name} needs at least two angles within less than 360 degrees")
        draft.drag_laws[name] = DragLaw(name, found, True)
        return
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


FIELDS = {
    "FDD": ("Cd or a drag law", "alpha_R", "A_c", "A_w"),
    "WDD": ("Cd or a drag law", "alpha_R", "A_x", "A_y"),
    "FLD": ("a drag law by angle", "alpha_R", "the angle of the ice", "A_x", "A_y"),
    "FDT": ("Ct", "alpha_R", "h", "A_c", "A_w"),
    "FI": ("C_M", "C_A", "A_w", "C_At"),
    "PB": (),
}
"""What follows elements, label, M, D on a data line."""
STREAMS = {"FDD": 6, "WDD": 6, "FDT": 7, "FLD": 7}
IN_WIND = ("WDD", "FLD")
"""Where the amplitudes of the stream stand."""


def fluid_load(row: Row, kind: str, amplitude: str | None, is_current: bool, draft: Draft) -> FluidLoad:
    row.end(4 + len(FIELDS[kind]), ", ".join(("elements", kind, "M", "D", *FIELDS[kind])))
    blame_absent_fluid(row, kind, draft)
    target = draft.target(row.field(0), "element")
    magnitude, diameter = row.number(2, "the magnitude M", 1.0), row.amount(3, "the diameter D", positive=True)
    load = FluidLoad(target, kind, magnitude, diameter, amplitude=amplitude, is_current=is_current)
    if kind == "PB":
        return load
    if kind == "FI":
        if row.field(4).text and not row.field(5).text:
            raise Mistake(row.field(5).place, "C_M without C_A", "C_A = C_M - 1 is what inviscid flow gives")
        total, added = row.amount(4, "C_M"), row.amount(5, "C_A")
        along = row.amount(7, "C_At") if row.field(7).text else None
        name = row.field(6)
        if name.text:
            draft.use("amplitude", name.name("an amplitude"), name.place)
            if not draft.waves:
                draft.ignore("A_w of FI (there are no waves)")
        flow = None, name.text.upper() or None
        return replace(load, coefficient=total, added=added, added_along=along, streams=flow)
    field = row.field(4)
    coefficient: float | str
    if kind == "FDT" or field.is_number() or not field.text:
        coefficient = row.amount(4, FIELDS[kind][0])
    else:
        coefficient = field.name("a drag law")
        draft.use("drag law", coefficient, field.place)
    if kind == "FLD":
        load = replace(load, angle=row.number(6, FIELDS[kind][2], 0.0))
        if not isinstance(coefficient, str):
            raise Mistake(field.place, "FLD needs the name of a *DRAG LAW, BY=ANGLE, got a number")
    exponent = row.amount(6, "the exponent h", 2.0) if kind == "FDT" else 2.0
    if exponent < 1.0:
        raise Mistake(row.field(6).place, f"the exponent h must be at least 1, got {exponent:g}")
    follows = row.amount(5, "alpha_R", 1.0)
    found: list[str | None] = []
    for at in (STREAMS[kind], STREAMS[kind] + 1):
        its = row.field(at)
        found.append(its.name("an amplitude") if its.text else None)
        if its.text:
            draft.use("amplitude", found[-1] or "", its.place)
    if found[1] and kind not in IN_WIND and not draft.waves:
        draft.ignore(f"A_w of {kind} (there are no waves)")
    own = draft.water.amplitude if draft.water is not None and kind not in IN_WIND else None
    streams = found[0] or own, found[1]
    return replace(load, coefficient=coefficient, follows=follows, exponent=exponent, streams=streams)


def blame_absent_fluid(row: Row, kind: str, draft: Draft) -> None:
    card, fluid = ("WIND", draft.wind) if kind in IN_WIND else ("AQUA", draft.water)
    if fluid is None and not draft.has_failed(card):
        message = f"{kind} acts in {'wind' if kind in IN_WIND else 'water'}, and the deck has no *{card}"
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
    tide = draft.amplitudes.get((draft.water.amplitude if draft.water else None) or "")
    if tide is not None and draft.tide is not None and (tide.definition == "USER" or tide.time != "TOTAL TIME"):
        what, hint = "runs in step time", "a current continues from step to step: TIME=TOTAL TIME of *AMPLITUDE"
        if tide.definition == "USER":
            what, hint = "is set during the run", "name it in *DLOAD FDD and FDT: FV does not include it"
        draft.report(Mistake(draft.tide, f"amplitude {tide.name} of *AQUA {what}", hint))
    grown = np.zeros(len(is_bar), np.bool_)
    for growth, place in draft.growths:
        with draft.guard():
            grown |= spoken(draft, mesh, growth.element_set, place, is_bar, grown, "*MARINE GROWTH", "twice")
    given = [load for step in draft.steps for load, _ in step.fluid_loads]
    if any(load.kind == "FI" for load in given) and any(load.streams[0] for load in given if load.kind not in IN_WIND):
        what = "the acceleration of a varying current (unlike that of waves) exerts no force"
        draft.notice(f"FI and an amplitude of the current: {what}")
    kinds = set[str]()
    for step in draft.steps:
        asked = {name for request in step.outputs for name in request.variables} & {"FV", "FA", "FE"}
        if asked and draft.water is None and not draft.has_failed("AQUA"):
            message = f"{listing(sorted(asked), 'and')} are quantities of water, and the deck has no *AQUA"
            draft.report(Mistake(step.place, message))
        taken: dict[str, Flags] = {}
        for load, place in step.fluid_loads:
            with draft.guard():
                before = taken.setdefault(load.kind, np.zeros(len(is_bar), np.bool_))
                found = spoken(draft, mesh, load.target, place, is_bar, before, load.kind, "twice in this step")
                before |= found
                law = draft.drag_laws.get(load.coefficient) if isinstance(load.coefficient, str) else None
                if law is not None and law.is_by_angle != (load.kind == "FLD"):
                    which = "BY=ANGLE" if load.kind == "FLD" else "by speed"
                    raise Mistake(place, f"{load.kind} needs a *DRAG LAW {which}, and {law.name} is none")
                if load.kind == "PB" and draft.water is not None and not draft.mistakes:  # else there may be no places
                    height = mesh.coordinates[mesh.element_nodes[found], mesh.up] - draft.water.level
                    if np.any((np.ptp(height, axis=1) == 0.0) & (np.abs(height[:, 0]) < load.diameter)):
                        what = "they are fully wet or fully dry, so that their buoyancy jumps there"
                        draft.notice(f"PB on horizontal bars at the surface: {what}")
        kinds |= {load.kind for load, _ in step.fluid_loads}
        if isinstance(step.procedure, Frequency) and "FI" in kinds:
            draft.notice("*FREQUENCY: FI of earlier steps adds no mass; use *D ADDED MASS")


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
