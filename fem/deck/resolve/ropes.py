"""Procedures that cannot have ropes: said where the deck asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from fem.deck.draft import Draft
from fem.deck.lexical.source import Mistake
from fem.model import Dynamic, Material, Static

EXPLICIT_HINT = (
    "leave out EXPLICIT: every other TIME INTEGRATOR finds the instants of few ropes (IMPACT=EVENT of *CONTROLS), "
    "IMPACT=MOREAU steps over the impacts of many; or make them elastic, *ELASTIC with *NO COMPRESSION"
)
RIKS_HINT = "leave out RIKS, or make them elastic, *ELASTIC with *NO COMPRESSION"


def blame_steps_without_ropes(draft: Draft, materials: Iterable[Material]) -> None:
    """EXPLICIT and RIKS follow no bars that go slack without stretch. materials: those of sections"""
    name = next((m.name for m in materials if m.is_inextensible and m.compression_ratio == 0.0), None)
    for step in draft.steps if name is not None else ():
        procedure, what, hint = step.procedure, "", ""
        if isinstance(procedure, Dynamic) and procedure.integrator == "CENTRAL DIFFERENCE":
            what, hint = "*DYNAMIC, EXPLICIT", EXPLICIT_HINT
        elif isinstance(procedure, Static) and procedure.riks:
            what, hint = "*STATIC, RIKS", RIKS_HINT
        if what and step.procedure_place:
            draft.report(Mistake(step.procedure_place, f"{what} does not follow ropes (material {name})", hint))
