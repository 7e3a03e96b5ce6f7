"""``*CONTROLS``: our own parameters, and the entries of Abaqus' and CalculiX' lines that have a meaning here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fem.deck.cards import Card, Field, Row
from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.source import Mistake
from fem.model import Controls, Dynamic
from fem.model.steps import IMPACTS, Procedure

DEFAULT_RESIDUAL = 1e-6

START = Controls(residual_relative=None)
"""Before any card; the default of RESI_GLOB_RELA enters when a step is built."""

OURS = ("RESI_GLOB_RELA", "RESI_GLOB_MAXI", "ITER_GLOB_MAXI", "ENERGY DRIFT", "TIME ERROR", "IMPACT")

KINDS = ("FIELD", "TIME INCREMENTATION", "LINE SEARCH", "CONSTRAINTS", "CONTACT", "VISCO", "NETWORK", "CFD", "CETOL")

CYCLES = {"max_iterations": "ITER_GLOB_MAXI", "max_cutbacks": "cut-backs of an increment"}

MEANINGS: dict[str, tuple[dict[int, str], ...]] = {
    "FIELD": ({0: "residual_relative", 1: "correction_relative"},),
    "TIME INCREMENTATION": ({3: "max_iterations", 7: "max_cutbacks"}, {0: "cut_factor", 6: "growth_factor"}),
}
"""What entries of the data lines mean: R and C; I_C and I_A; D_f and D_D."""

RULES: dict[str, tuple[str, Callable[[float], bool], str]] = {
    "residual_relative": ("RESI_GLOB_RELA", lambda x: x > 0.0, "must be positive"),
    "correction_relative": ("the correction of a solve", lambda x: x > 0.0, "must be positive"),
    "cut_factor": ("the factor of a cut-back", lambda x: 0.0 < x < 1.0, "must lie between 0 and 1"),
    "growth_factor": ("the growth of increments", lambda x: 1.0 <= x <= 1e6, "must be at least 1"),
}


@keyword("step", takes=("PARAMETERS", "RESET", "FIELD", *OURS), plus=OURS, ignores=("ANALYSIS",))
def controls(card: Card, draft: Draft) -> None:
    """Holds for this step and the later ones; blank data lines keep their place."""
    if card.flag("RESET"):
        draft.controls = START
    draft.controls = replace(draft.controls, **own_parameters(card))  # type: ignore[arg-type]
    if not card.has("PARAMETERS"):
        draft.no_rows(card)
        return
    kind = card.word("PARAMETERS", KINDS, "FIELD")
    rows = list(card.all_rows())
    if card.has("FIELD") and card.field("FIELD").text.upper() not in ("DISPLACEMENT", "GLOBAL"):
        draft.ignore(f"*CONTROLS, FIELD={card.field('FIELD').text.upper()}")
    elif kind in MEANINGS:
        map_lines(draft, kind, rows)
    else:
        draft.ignore(f"*CONTROLS, PARAMETERS={kind}")


def own_parameters(card: Card) -> dict[str, float | int | str | None]:
    """The extensions."""
    changes: dict[str, float | int | str | None] = {}
    for name, target in (("RESI_GLOB_RELA", "residual_relative"), ("RESI_GLOB_MAXI", "residual_absolute")):
        if card.has(name):
            changes[target] = card.positive(name)
    if card.has("ITER_GLOB_MAXI"):
        changes["max_iterations"] = card.field("ITER_GLOB_MAXI").integer("ITER_GLOB_MAXI=", high=1_000_000)
    for name, target in (("ENERGY DRIFT", "energy_drift"), ("TIME ERROR", "time_error")):
        if card.has(name):
            off = card.field(name).text.upper() == "OFF"
            changes[target] = None if off else card.positive(name)
    if card.has("IMPACT"):
        changes["impact"] = card.word("IMPACT", IMPACTS, "AUTO")
    return changes


def map_lines(draft: Draft, kind: str, rows: list[Row]) -> None:
    """The entries that have a meaning here; the others do nothing."""
    changes: dict[str, float] = {}
    for number, row in enumerate(rows):
        meaning = MEANINGS[kind][number] if number < len(MEANINGS[kind]) else {}
        for at, field in enumerate(row.fields()):
            name = meaning.get(at)
            if field.text and name is None:
                field.number("a control parameter")
                draft.ignore(f"other entries of *CONTROLS, PARAMETERS={kind}")
            elif field.text and name is not None:
                what, changes[name] = control(field, name)
                draft.notice(f"*CONTROLS, PARAMETERS={kind}: {what} = {changes[name]:g}")
    draft.controls = replace(draft.controls, **changes)  # type: ignore[arg-type]


def control(field: Field, name: str) -> tuple[str, float]:
    """What an entry is called in messages, and its value."""
    if name in CYCLES:
        return CYCLES[name], field.integer(CYCLES[name], high=1_000_000)
    what, is_fine, rule = RULES[name]
    value = field.number(what)
    if not is_fine(value):
        raise Mistake(field.place, f"{what} {rule}, got {value:g}")
    return what, value


def in_force(controls: Controls, procedure: Procedure | None) -> Controls:
    """The default residual test enters where none is given, except that ENERGY MOMENTUM iterates to round-off."""
    to_floor = isinstance(procedure, Dynamic) and procedure.integrator == "ENERGY MOMENTUM"
    if controls.residual_relative is None and controls.residual_absolute is None and not to_floor:
        return replace(controls, residual_relative=DEFAULT_RESIDUAL)
    return controls
