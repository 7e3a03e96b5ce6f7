"""``*NODE PRINT``, ``*EL FILE``, ``*OUTPUT`` and their kin; ``*RESTART``."""

from __future__ import annotations

from collections.abc import Mapping

from fem.deck.draft import Draft
from fem.deck.handler import Handler, keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import listing
from fem.deck.step_draft import Given, StepDraft
from fem.model import EarlierState, OutputRequest
from fem.model.quantities import ENERGIES, QUANTITIES

VARIABLES = {kind: tuple(quantity.name for quantity in table) for kind, table in QUANTITIES.items()}
VARIABLES["ENERGY"] = tuple(name for name in ENERGIES.values() if name)
COMPONENTS = {
    name: quantity.name
    for table in QUANTITIES.values()
    for quantity in table
    for name in (*quantity.columns, quantity.alias)
}
"""Abaqus' names of single components; all components of the variable are written."""
CADENCE = ("FREQUENCY", "TIME POINTS")
PRINT_NOISE = (
    *("TOTALS", "TOTAL", "GLOBAL", "SUMMARY", "POSITION", "OUTPUT", "CONTACT ELEMENTS", "SECTION FORCES", "2D", "3D"),
    *("LAST ITERATIONS", "LAST ITERATION", "FREQUENCYF", "DIRECTIONS", "ELEMENT OUTPUT", "NODE OUTPUT"),
)
OUTPUT_NOISE = (
    "FIELD",
    "HISTORY",
    "VARIABLE",
    "NAME",
    "OP",
    "NUMBER INTERVAL",
    "TIME INTERVAL",
    "TIME MARKS",
    "SENSOR",
)


def cadence(card: Card, draft: Draft, given: Given | None = None) -> tuple[int, str | None]:
    """FREQUENCY and TIME POINTS."""
    every = card.integer("FREQUENCY", low=0, default=given.every if given else 1)
    times = draft.named_if(card, "TIME POINTS", "time points")
    assert every is not None
    return every, times if times is not None or given is None else given.times


def request(card: Card, draft: Draft, kind: str, target: str | None, given: Given | None = None) -> None:
    """Add what one card asks for."""
    every, times = cadence(card, draft, given)
    family = kind.split()[0]
    variables: dict[str, None] = {}
    names = [field.text.upper() for row in draft.rows(card, needed=False) for field in row.fields()]
    for name in names:
        if COMPONENTS.get(name, name) in VARIABLES[family]:
            variables[COMPONENTS.get(name, name)] = None
        else:
            draft.ignore(f"{name} of *{card.keyword} ({listing(VARIABLES[family], 'and')} are written)")
    kept = tuple(variables)
    if names and not kept:
        return
    own = [quantity.name for quantity in QUANTITIES.get(family, ()) if quantity.is_extension]
    if set(own) & set(kept):
        draft.extension(f"*{card.keyword} of {', '.join(own)}")
    draft.open_step.outputs.append(OutputRequest(kind, target, kept, every, times))


def requests(
    kind: str, parameter: str = "", ignores: tuple[str, ...] = PRINT_NOISE, refuses: Mapping[str, str] | None = None
) -> Handler:
    """The function of a card that asks for output of a kind, of the set that a parameter names."""

    @keyword("step", takes=(parameter, *CADENCE) if parameter else CADENCE, ignores=ignores, refuses=refuses)
    def ask(card: Card, draft: Draft) -> None:
        family = "node" if parameter == "NSET" else "element"
        target = draft.named_if(card, parameter, family) if parameter else None
        given = draft.open_step.output if card.keyword.endswith("OUTPUT") else None
        if given is not None:
            draft.open_step.output = given._replace(bare=False)
        request(card, draft, kind, target, given)

    return ask


node_print = requests("NODE PRINT", "NSET")
el_print = requests("EL PRINT", "ELSET")
energy_print = requests("ENERGY PRINT", refuses={"ELSET": "is not supported: energies are those of the model"})
node_file = requests("NODE FILE", "NSET")
el_file = requests("EL FILE", "ELSET", (*PRINT_NOISE, "NSET"))
node_output = requests("NODE FILE", "NSET", (*PRINT_NOISE, *OUTPUT_NOISE))
element_output = requests("EL FILE", "ELSET", (*PRINT_NOISE, *OUTPUT_NOISE, "NSET"))


@keyword("step", takes=CADENCE, ignores=OUTPUT_NOISE)
def output(card: Card, draft: Draft) -> None:
    """Sets the cadence of the ``*NODE OUTPUT`` and ``*ELEMENT OUTPUT`` below it."""
    draft.no_rows(card)
    every, times = cadence(card, draft)
    add_default_output(draft.open_step)
    draft.open_step.output = Given(every, times, bare=not card.has("HISTORY"))


def add_default_output(step: StepDraft) -> None:
    """An ``*OUTPUT`` with no card below it asks for the defaults."""
    if step.output is None or not step.output.bare:
        return
    stated = {request.kind for request in step.outputs}
    for kind in ("NODE FILE", "EL FILE"):
        if kind not in stated:
            step.outputs.append(OutputRequest(kind, every=step.output.every, times=step.output.times))


@keyword(
    "anywhere",
    takes=("WRITE", "READ", "FREQUENCY", "STEP", "INC", "END STEP"),
    ignores=("OVERLAY", "NUMBER INTERVAL", "TIME MARKS"),
)
def restart(card: Card, draft: Draft) -> None:
    """WRITE holds for the whole run, the last one counts; FREQUENCY=0 asks for nothing."""
    every, step = card.integer("FREQUENCY", low=0), card.integer("STEP", low=1)
    increment = card.integer("INC", low=0)
    draft.no_rows(card)
    if not (card.flag("READ") or card.flag("WRITE")):
        raise card.mistake("*RESTART needs WRITE or READ")
    if card.flag("WRITE"):
        draft.restart_every = None if every == 0 else every or 0
    if not card.flag("READ"):
        return
    if draft.step is not None or draft.steps:
        raise card.mistake("*RESTART, READ stands behind the first *STEP", "the state it reads is where that begins")
    if draft.earlier is not None:
        raise card.mistake("*RESTART, READ is given twice")
    if increment is not None and step is None:
        raise card.mistake("*RESTART, READ with INC= needs STEP=")
    draft.earlier = EarlierState(step, increment, card.flag("END STEP"))
