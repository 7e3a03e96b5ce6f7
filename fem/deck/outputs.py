"""``*NODE PRINT``, ``*EL FILE``, ``*OUTPUT`` and their kin; ``*RESTART``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fem.commands.installed import load_installed
from fem.deck.cards import POSITIVE, Card
from fem.deck.draft import Draft, StepDraft
from fem.deck.source import listing, words
from fem.deck.table import keyword
from fem.errors import CommandError
from fem.model import EarlierState, OutputRequest
from fem.model.quantities import ENERGIES, PHASED, QUANTITIES

TOTALS = tuple(name for name in ENERGIES.values() if name)
CADENCE = ("FREQUENCY", "TIME POINTS")
HISTORY = ("VARIABLE", "TIME INTERVAL", "NUMBER INTERVAL", "TIME MARKS")
"""Parameters of ``*OUTPUT`` that have no effect on fields."""
PRINT_NOISE = words("""
    TOTALS, TOTAL, GLOBAL, SUMMARY, POSITION, OUTPUT, CONTACT ELEMENTS, SECTION FORCES, 2D, 3D, LAST ITERATIONS,
    LAST ITERATION, FREQUENCYF, DIRECTIONS, ELEMENT OUTPUT, NODE OUTPUT
""")
OF_CONTACT = (
    "CF is the concentrated load of *CLOAD, as in Abaqus; the contact force of the seabed and of cylinders is CFORCE"
)
OUTPUT_NOISE = ("FIELD", "NAME", "OP", "SENSOR")


def variables_of(family: str) -> tuple[str, ...]:
    """Variables that the cards of NODE, EL and ENERGY may request."""
    return tuple(each.name for each in QUANTITIES[family]) if family in QUANTITIES else TOTALS


def components() -> dict[str, str]:
    """Abaqus' names of single components; all components of the variable are written."""
    quantities = [quantity for table in QUANTITIES.values() for quantity in table]
    return {name: each.name for each in quantities for name in (*each.columns, *each.aliases)}


def paced(card: Card, draft: Draft, given: OutputRequest) -> OutputRequest:
    every = card.integer("FREQUENCY", low=0, default=given.every)
    assert every is not None
    return replace(given, every=every, times=draft.named_if(card, "TIME POINTS", "time points") or given.times)


def added(draft: Draft) -> bool:
    """Whether installed packages have been imported now; one that cannot be is a notice, since what is not known is."""
    try:
        return load_installed()
    except CommandError as error:
        draft.notice(str(error))
        return False


def request(card: Card, draft: Draft, given: OutputRequest) -> None:
    """Add what one card asks for, with the variables that it names."""
    given = paced(card, draft, given)
    family = given.kind.split()[0]
    variables: dict[str, None] = {}
    names = [field.text.upper() for row in draft.rows(card, needed=False) for field in row.fields()]
    names = [PHASED.get(name, name) if draft.open_step.harmonic else name for name in names]
    known, whole = variables_of(family), components()
    if any(whole.get(name, name) not in known for name in names) and added(draft):
        known, whole = variables_of(family), components()
    for name in names:
        if whole.get(name, name) in known:
            variables[whole.get(name, name)] = None
        else:
            draft.ignore(f"{name} of *{card.keyword} ({listing(known, 'and')} are written)")
    kept = tuple(variables)
    if names and not kept:
        return
    own = [
        each.name for each in QUANTITIES.get(family, ()) if each.is_extension and {each.name, *each.columns} & {*names}
    ]
    if own:
        draft.extension(f"*{card.keyword} of {', '.join(own)}")
    if "CF" in kept and "CFORCE" not in kept and (draft.seabeds or draft.cylinders):
        draft.notice(OF_CONTACT)
    draft.open_step.outputs.append(replace(given, variables=kept))


def requests(
    name: str, parameter: str = "", ignores: tuple[str, ...] = PRINT_NOISE, refuses: Mapping[str, str] | None = None
) -> None:
    """Registers a card that requests output of a set, given by a parameter; below ``*OUTPUT`` it has that kind."""
    family, medium = name.replace("ELEMENT", "EL").replace("OUTPUT", "FILE").split()

    @keyword(name, "step", takes=(parameter, *CADENCE) if parameter else CADENCE, ignores=ignores, refuses=refuses)
    def ask(card: Card, draft: Draft) -> None:
        target = draft.named_if(card, parameter, "node" if family == "NODE" else "element") if parameter else None
        given, step = OutputRequest(medium), draft.open_step
        if card.keyword.endswith("OUTPUT") and step.output is not None:
            given, step.is_bare = step.output, False
        if parameter == "ELSET" and card.has("NSET") and given.kind == "PRINT":
            return  # extrapolated to nodes: not a request for all elements
        request(card, draft, replace(given, kind=f"{family} {given.kind}", target=target))


requests("NODE PRINT", "NSET")
requests("EL PRINT", "ELSET")
requests("ENERGY PRINT", refuses={"ELSET": "is not supported: energies are those of the model"})
requests("NODE FILE", "NSET")
requests("EL FILE", "ELSET", (*PRINT_NOISE, "NSET"))
requests("NODE OUTPUT", "NSET", (*PRINT_NOISE, *OUTPUT_NOISE, *HISTORY))
requests("ELEMENT OUTPUT", "ELSET", (*PRINT_NOISE, *OUTPUT_NOISE, *HISTORY, "NSET"))


@keyword("ENERGY OUTPUT", "step", takes=CADENCE, ignores=(*PRINT_NOISE, *OUTPUT_NOISE, *HISTORY, "ELSET"))
def energy_output(card: Card, draft: Draft) -> None:
    given = draft.open_step.output
    if given is None or given.kind == "FILE" or card.has("ELSET"):
        draft.ignore("*ENERGY OUTPUT of fields or sets (energies are those of the model, in histories)")
    else:
        request(card, draft, replace(given, kind="ENERGY PRINT"))


@keyword("OUTPUT", "step", takes=(*CADENCE, "HISTORY", *HISTORY), ignores=OUTPUT_NOISE)
def output(card: Card, draft: Draft) -> None:
    """Sets the kind and the interval of the ``*NODE OUTPUT`` and ``*ELEMENT OUTPUT`` below it."""
    draft.no_rows(card)
    step, is_history = draft.open_step, card.flag("HISTORY")
    given = paced(card, draft, OutputRequest("PRINT" if is_history else "FILE"))
    if is_history:
        stated = [name for name in (*CADENCE, "TIME INTERVAL", "NUMBER INTERVAL") if card.has(name)]
        if len(stated) > 1:
            raise card.mistake(f"{listing(stated, 'and')} of *OUTPUT exclude each other")
        interval = card.number("TIME INTERVAL", bound=POSITIVE) if card.has("TIME INTERVAL") else None
        marks = card.word("TIME MARKS", ("YES", "NO"), "YES") == "YES"
        given = replace(given, interval=interval, intervals=card.integer("NUMBER INTERVAL"), marks=marks)
    add_default_output(step)
    step.output, step.is_bare = given, not is_history
    for name in () if is_history else filter(card.has, HISTORY):
        draft.ignore(f"*OUTPUT, {name}")
    if is_history and card.has("VARIABLE") and given.every:
        draft.notice(f"*OUTPUT, HISTORY, VARIABLE={card.needed('VARIABLE')}: the energies, in increments.csv")
        step.outputs.append(replace(given, kind="ENERGY PRINT"))


def add_default_output(step: StepDraft) -> None:
    """An ``*OUTPUT`` without cards below it requests the defaults."""
    if step.output is None or not step.is_bare:
        return
    stated = {request.kind for request in step.outputs}
    for kind in ("NODE FILE", "EL FILE"):
        if kind not in stated:
            step.outputs.append(replace(step.output, kind=kind))


@keyword(
    "RESTART",
    "anywhere",
    takes=("WRITE", "READ", "FREQUENCY", "STEP", "INC", "END STEP"),
    ignores=("OVERLAY", "NUMBER INTERVAL", "TIME MARKS"),
)
def restart(card: Card, draft: Draft) -> None:
    """WRITE holds for the whole run, the last one counts; FREQUENCY=0 switches it off."""
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
        raise card.mistake("*RESTART, READ comes after the first *STEP", "it gives the state at the start of that step")
    if draft.earlier is not None:
        raise card.mistake("*RESTART, READ is given twice")
    if increment is not None and step is None:
        raise card.mistake("*RESTART, READ with INC= needs STEP=")
    draft.earlier = EarlierState(step, increment, card.flag("END STEP"))
