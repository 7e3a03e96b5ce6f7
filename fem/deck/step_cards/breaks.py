"""Elements that leave the model: ``*MODEL CHANGE, REMOVE`` and ``*FAILURE``."""

from __future__ import annotations

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import Failure
from fem.model.properties import FAILURES

NO_ADD = {"ADD": "is not supported: what has been removed does not come back"}
NO_CONTACT = {"MECHANICAL": "belongs to contact pairs, which are not supported"}


@keyword("step", takes=("REMOVE", "TYPE"), refuses=NO_ADD | NO_CONTACT)
def model_change(card: Card, draft: Draft) -> None:
    """Elements or sets of them, gone from the start of the step on."""
    card.word("TYPE", ("ELEMENT",), "ELEMENT")
    if not card.flag("REMOVE"):
        raise card.mistake("*MODEL CHANGE needs REMOVE", "*MODEL CHANGE, REMOVE takes elements out of the model")
    for row in draft.rows(card):
        for at, field in enumerate(row.fields()):
            with draft.guard():
                draft.open_step.removals.append((draft.target(row, at, "element"), field.place))


@keyword("model", needs=("TYPE",))
def failure(card: Card, draft: Draft) -> None:
    """``elements, value``: what T, E or total time breaks each of them at."""
    draft.extension("*FAILURE")
    kind = card.word("TYPE", tuple(FAILURES), "TENSION")
    for row in draft.rows(card):
        with draft.guard():
            row.end(2, "elements, value")
            target, value = draft.target(row, 0, "element"), row.number(1, f"the {kind.lower()}")
            if value <= 0.0:
                raise Mistake(row.field(1).place, f"the {kind.lower()} must be positive, got {value:g}")
            draft.failures.append((Failure(target, kind, value), row.place))
