"""Loads of water and wind: data lines of ``*DLOAD``, ``*D ADDED MASS``, and what only the whole deck tells of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fem.arrays import Flags
from fem.deck.draft import Draft, StepDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake, listing
from fem.deck.surroundings.fluid import check_waves
from fem.model import FluidLoad, Frequency, Mesh
from fem.model.mesh import BARS

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
