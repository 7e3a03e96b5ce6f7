"""What leaves the model: ``*MODEL CHANGE``, of elements and of masses that these carry, and ``*FAILURE``."""

from __future__ import annotations

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.model import Failure
from fem.model.properties import FAILURES

ELEMENTS, CARRIED = "ELEMENT", "NONSTRUCTURAL MASS"
NO_CONTACT = {"MECHANICAL": "belongs to contact pairs, which are not supported"}


@keyword("step", takes=("REMOVE", "ADD", "TYPE"), refuses=NO_CONTACT)
def model_change(card: Card, draft: Draft) -> None:
    """Elements or sets of them, or names of nonstructural masses, that go (of masses: or come) as the step starts."""
    kind, removes, adds = card.word("TYPE", (ELEMENTS, CARRIED), ELEMENTS), card.flag("REMOVE"), card.flag("ADD")
    if removes == adds:
        raise card.mistake("*MODEL CHANGE needs REMOVE or ADD", "*MODEL CHANGE, REMOVE takes out of the model")
    if adds and kind == ELEMENTS:
        what = "ADD of *MODEL CHANGE is not supported: what has been removed does not come back"
        raise Mistake(card.field("ADD").place, what, f"but what is carried does: TYPE={CARRIED}")
    step = draft.open_step
    for row in draft.rows(card):
        for at, field in enumerate(row.fields()):
            with draft.guard():
                if kind == ELEMENTS:
                    step.removals.append((draft.target(row, at, "element"), field.place))
                else:
                    (step.shed if removes else step.put).append((field.name("the name of a mass"), field.place))


@keyword("model", needs=("TYPE",))
def failure(card: Card, draft: Draft) -> None:
    """``elements, value``: what T, E or total time breaks each of them at."""
    draft.extension("*FAILURE")
    kind = card.word("TYPE", tuple(FAILURES), "TENSION")
    for row in draft.rows(card):
        with draft.guard():
            row.end(2, "elements, value")
            target, value = draft.target(row, 0, "element"), row.amount(1, f"the {kind.lower()}", positive=True)
            draft.failures.append((Failure(target, kind, value), row.place))
