"""``*STEP`` and ``*END STEP``."""

from __future__ import annotations

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.source import Mistake
from fem.deck.step_cards.harmonic import check_harmonic
from fem.deck.step_cards.outputs import add_default_output
from fem.deck.step_draft import StepDraft
from fem.model import Dynamic, Frequency, Static, SteadyState
from fem.model.steps import EXTRAPOLATIONS


@keyword(
    "anywhere",
    takes=("NLGEOM", "INC", "NAME", "EXTRAPOLATION", "AMPLITUDE", "PERTURBATION"),
    unsupported=("THERMALNETWORK",),
    ignores=("UNSYMM", "CONVERT SDI", "SOLVER"),
)
def step(card: Card, draft: Draft) -> None:
    """Opens a step; its data lines are a title."""
    if draft.step is not None:
        draft.report(card.mistake("*STEP inside a step", f"*END STEP is missing for the step at {draft.step.place}"))
        close_step(draft)
    draft.step = StepDraft(card.place, draft.nlgeom)
    draft.step.title = tuple(text.strip() for text in card.texts())
    if card.has("NLGEOM"):
        is_flag = card.parameters["NLGEOM"].value is None
        nlgeom = is_flag or card.word("NLGEOM", ("YES", "ON", "NO", "OFF"), "YES") in ("YES", "ON")
        if not card.has("PERTURBATION"):
            draft.nlgeom = draft.step.nlgeom = nlgeom
        elif nlgeom:  # as Abaqus/CAE writes it: of this step alone
            draft.step.nlgeom = True
    if card.flag("PERTURBATION"):
        draft.step.perturbation = card.parameters["PERTURBATION"].place
    draft.step.name = card.name("NAME")
    draft.step.max_increments = card.integer("INC")
    if card.has("EXTRAPOLATION"):
        draft.step.extrapolation = card.word("EXTRAPOLATION", EXTRAPOLATIONS, "NO")
    if card.has("AMPLITUDE"):
        draft.step.amplitude = card.word("AMPLITUDE", ("STEP", "RAMP"), "STEP")


@keyword("anywhere")
def end_step(card: Card, draft: Draft) -> None:
    """Closes a step."""
    if draft.step is None:
        if draft.has_failed("STEP"):
            return
        raise card.mistake("*END STEP without *STEP")
    draft.no_rows(card)
    close_step(draft)


def close_step(draft: Draft) -> None:
    """The open step is complete: what only the whole of it can tell."""
    step = draft.step
    assert step is not None
    draft.step = None
    step.controls = draft.controls
    if step.perturbation is not None and isinstance(step.procedure, Static):
        step.nlgeom = draft.nlgeom  # its response is linear, whatever NLGEOM says
    add_default_output(step)
    if step.procedure_place is None and not step.blamed:
        hint = "a step needs one of *STATIC, *VISCO, *DYNAMIC, *FREQUENCY, *STEADY STATE DYNAMICS"
        draft.report(Mistake(step.place, "the step has no procedure", hint))
    flows = [load for load, _ in step.fluid_loads if load.kind != "ADDED MASS"]
    acts = flows or step.winches or step.nodal_loads or step.distributed_loads or step.temperatures
    if isinstance(step.procedure, Frequency) and acts:
        hint = "put loads into a *STATIC step before it"
        draft.report(Mistake(step.place, "loads have no meaning in a *FREQUENCY step", hint))
    if isinstance(step.procedure, SteadyState):
        check_harmonic(step, draft)
    if isinstance(step.procedure, Static) and step.procedure.riks and step.amplitude == "STEP":
        draft.report(Mistake(step.place, "AMPLITUDE=STEP with *STATIC, RIKS", "the arc length finds the load factor"))
    draft.steps.append(step)
    if step.extrapolation is None:  # drag follows velocities, which a first guess without motion turns around
        flows_past = isinstance(step.procedure, Dynamic) and any(each.fluid_loads for each in draft.steps)
        step.extrapolation = "PARABOLIC" if flows_past else "NO"
    if not step.nlgeom:
        draft.notice(
            f"step {len(draft.steps)} is geometrically linear, as in Abaqus and CalculiX without NLGEOM=YES "
            "(materials and springs stay nonlinear)"
        )
