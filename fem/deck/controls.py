"""``*CONTROLS``: our own parameters, and the entries of Abaqus' and CalculiX' lines that have a meaning here."""

from __future__ import annotations

from dataclasses import replace

from fem.deck.cards import POSITIVE, Bound, Card, Row
from fem.deck.draft import Draft
from fem.deck.kinds import POSITIVE_NUMBER, Limit, Number, Whole, word_of
from fem.deck.table import Parameters, Value, keyword
from fem.model import Controls, Dynamic
from fem.model.steps import IMPACTS, Procedure

DEFAULT = Controls()
CUTS = Bound(lambda x: 0.0 < x < 1.0, "{what} must lie between 0 and 1, got {value:g}")
GROWS = Bound(lambda x: 1.0 <= x <= 1e6, "{what} must be at least 1, got {value:g}")
START = Controls(residual_relative=None)
"""Before any card; the default of RESI_GLOB_RELA enters when a step is built."""
KINDS = ("FIELD", "TIME INCREMENTATION", "LINE SEARCH", "CONSTRAINTS", "CONTACT", "VISCO", "NETWORK", "CFD", "CETOL")
CYCLES = Whole(1, 1_000_000)
OURS = Parameters(
    {
        "RESI_GLOB_RELA": Value("residual_relative", POSITIVE_NUMBER, default=None, shown=True),
        "RESI_GLOB_MAXI": Value("residual_absolute", POSITIVE_NUMBER, default=None, shown=True),
        "ITER_GLOB_MAXI": Value("max_iterations", CYCLES, default=DEFAULT.max_iterations),
        "ENERGY DRIFT": Value("energy_drift", Limit(POSITIVE), default=DEFAULT.energy_drift),
        "TIME ERROR": Value("time_error", Limit(POSITIVE), default=DEFAULT.time_error),
        "TENSION CHANGE": Value("tension_change", Limit(POSITIVE), default=DEFAULT.tension_change),
        "IMPACT": Value("impact", word_of(*IMPACTS), default=DEFAULT.impact),
    }
)
ENTRIES: dict[str, dict[tuple[int, int], Value]] = {
    "FIELD": {
        (0, 0): Value("residual_relative", POSITIVE_NUMBER, "RESI_GLOB_RELA"),
        (0, 1): Value("correction_relative", POSITIVE_NUMBER, "the correction of an iteration"),
    },
    "TIME INCREMENTATION": {
        (0, 3): Value("max_iterations", CYCLES, "ITER_GLOB_MAXI"),
        (0, 7): Value("max_cutbacks", CYCLES, "cut-backs of an increment"),
        (1, 0): Value("cut_factor", Number(CUTS), "the factor of a cut-back"),
        (1, 6): Value("growth_factor", Number(GROWS), "the growth of increments"),
    },
}
"""What entries of the data lines mean, by line and place: R and C; I_C and I_A; D_f and D_D."""


@keyword("step", takes=("PARAMETERS", "RESET", "FIELD", *OURS), plus=(*OURS,), ignores=("ANALYSIS",))
def controls(card: Card, draft: Draft) -> None:
    """Holds for this step and the later ones; blank data lines keep their place."""
    if card.flag("RESET"):
        draft.controls = START
    draft.controls = replace(draft.controls, **OURS.read(card, draft, only_given=True))
    if not card.has("PARAMETERS"):
        draft.no_rows(card)
        return
    kind = card.word("PARAMETERS", KINDS, "FIELD")
    rows = list(card.all_rows())
    if card.has("FIELD") and card.field("FIELD").text.upper() not in ("DISPLACEMENT", "GLOBAL"):
        draft.ignore(f"*CONTROLS, FIELD={card.field('FIELD').text.upper()}")
    elif kind in ENTRIES:
        map_lines(draft, kind, rows)
    else:
        draft.ignore(f"*CONTROLS, PARAMETERS={kind}")


def map_lines(draft: Draft, kind: str, rows: list[Row]) -> None:
    """The entries that have a meaning here; the others do nothing."""
    changes: dict[str, float] = {}
    for number, row in enumerate(rows):
        for at, field in enumerate(row.fields()):
            value = ENTRIES[kind].get((number, at))
            if field.text and value is None:
                field.number("a control parameter")
                draft.ignore(f"other entries of *CONTROLS, PARAMETERS={kind}")
            elif field.text and value is not None:
                changes[value.field] = value.kind.read(field, value.what, draft)
                draft.notice(f"*CONTROLS, PARAMETERS={kind}: {value.what} = {changes[value.field]:g}")
    draft.controls = replace(draft.controls, **changes)  # type: ignore[arg-type]


def in_force(controls: Controls, procedure: Procedure | None) -> Controls:
    """The default residual test enters where none is given, except that ENERGY MOMENTUM iterates to round-off."""
    to_floor = isinstance(procedure, Dynamic) and procedure.integrator == "ENERGY MOMENTUM"
    if controls.residual_relative is None and controls.residual_absolute is None and not to_floor:
        return replace(controls, residual_relative=DEFAULT.residual_relative)
    return controls
