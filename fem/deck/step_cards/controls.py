"""``*CONTROLS``: our own parameters, and the entries of Abaqus' and CalculiX' lines that have a meaning here."""

from __future__ import annotations

from dataclasses import replace

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.model import Controls, Dynamic
from fem.model.steps import IMPACTS, Procedure

DEFAULT_RESIDUAL = 1e-6
START = Controls(residual_relative=None)
"""Before any card; the default of RESI_GLOB_RELA enters when a step is built."""
OURS = ("RESI_GLOB_RELA", "RESI_GLOB_MAXI", "ITER_GLOB_MAXI", "ENERGY DRIFT", "TIME ERROR", "IMPACT")
KINDS = ("FIELD", "TIME INCREMENTATION", "LINE SEARCH", "CONSTRAINTS", "CONTACT", "VISCO", "NETWORK", "CFD", "CETOL")
FIELD = (("residual_relative", "RESI_GLOB_RELA"), ("correction_relative", "the correction of a solve"))
FIRST_LINE = {3: ("max_iterations", "ITER_GLOB_MAXI"), 7: ("max_cutbacks", "cut-backs of an increment")}
SECOND_LINE = {0: ("cut_factor", "the factor of a cut-back"), 6: ("growth_factor", "the growth of increments")}


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
    elif kind == "FIELD":
        map_field(draft, rows)
    elif kind == "TIME INCREMENTATION":
        map_increments(draft, rows)
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


def map_field(draft: Draft, rows: list[Row]) -> None:
    """``PARAMETERS=FIELD``: R (residual), C (correction); the other entries do nothing here."""
    changes: dict[str, float] = {}
    for number, row in enumerate(rows):
        for at in range(len(row)):
            if not row.field(at).text:
                continue
            value = row.number(at, "a control parameter")
            if number == 0 and at < len(FIELD):
                if value <= 0.0:
                    raise Mistake(row.field(at).place, f"{FIELD[at][1]} must be positive, got {value:g}")
                changes[FIELD[at][0]] = value
                draft.notice(f"*CONTROLS, PARAMETERS=FIELD: {FIELD[at][1]} = {value:g}")
            else:
                draft.ignore("other entries of *CONTROLS, PARAMETERS=FIELD")
    draft.controls = replace(draft.controls, **changes)  # type: ignore[arg-type]


def map_increments(draft: Draft, rows: list[Row]) -> None:
    """``PARAMETERS=TIME INCREMENTATION``: I_C, I_A of line 1; D_f, D_D of line 2."""
    changes: dict[str, float | int] = {}
    for number, row in enumerate(rows):
        meaning = (FIRST_LINE, SECOND_LINE)[number] if number < 2 else {}
        for at in range(len(row)):
            if not row.field(at).text:
                continue
            if at not in meaning:
                row.number(at, "a control parameter")
                draft.ignore("other entries of *CONTROLS, PARAMETERS=TIME INCREMENTATION")
                continue
            name, what = meaning[at]
            value = row.integer(at, what, high=1_000_000) if number == 0 else factor(row, at, name, what)
            changes[name] = value
            draft.notice(f"*CONTROLS, PARAMETERS=TIME INCREMENTATION: {what} = {value:g}")
    draft.controls = replace(draft.controls, **changes)  # type: ignore[arg-type]


def factor(row: Row, at: int, name: str, what: str) -> float:
    """A cut-back factor below 1, a growth factor of at least 1."""
    value = row.number(at, what)
    if not (0.0 < value < 1.0 if name == "cut_factor" else 1.0 <= value <= 1e6):
        rule = "must lie between 0 and 1" if name == "cut_factor" else "must be at least 1"
        raise Mistake(row.field(at).place, f"{what} {rule}, got {value:g}")
    return value


def in_force(controls: Controls, procedure: Procedure | None) -> Controls:
    """The default residual test enters where none is given, except that ENERGY MOMENTUM iterates to round-off."""
    to_floor = isinstance(procedure, Dynamic) and procedure.integrator == "ENERGY MOMENTUM"
    if controls.residual_relative is None and controls.residual_absolute is None and not to_floor:
        return replace(controls, residual_relative=DEFAULT_RESIDUAL)
    return controls
