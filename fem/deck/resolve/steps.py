"""Steps as a whole: procedures that cannot have ropes, linear perturbations, the frozen Step."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from fem.deck.draft import Draft
from fem.deck.lexical.source import Mistake
from fem.deck.step_cards.controls import in_force
from fem.deck.step_draft import StepDraft
from fem.model import Dynamic, Material, Perturbation, Spring, Static, SteadyState, Step

EXPLICIT_HINT = (
    "leave out EXPLICIT: every other TIME INTEGRATOR finds the instants of few ropes (IMPACT=EVENT of *CONTROLS), "
    "IMPACT=MOREAU steps over the impacts of many; or make them elastic, *ELASTIC with *NO COMPRESSION"
)
RIKS_HINT = "leave out RIKS, or make them elastic, *ELASTIC with *NO COMPRESSION"
REFUSED = "PERTURBATION of *STEP is not supported: every step is a full nonlinear step"
MODES_HINT = "*FREQUENCY gives modes about a loaded state"
ROUNDED = 1e-6
"""Files write times with a few digits."""


def blame_steps_without_ropes(draft: Draft, materials: Iterable[Material]) -> None:
    """EXPLICIT and RIKS follow neither ropes nor stops. materials: those of sections"""
    limits = (m for m in materials if m.is_inextensible and 0.0 in (m.compression_ratio, m.tension_ratio))
    whose = [f"material {material.name}" for material in limits] + ["*STOP PLANE"] * bool(draft.planes)
    for step in draft.steps if whose else ():
        procedure, what, hint = step.procedure, "", ""
        if isinstance(procedure, Dynamic) and procedure.integrator == "CENTRAL DIFFERENCE":
            what, hint = "*DYNAMIC, EXPLICIT", EXPLICIT_HINT
        elif isinstance(procedure, Static) and procedure.riks:
            what, hint = "*STATIC, RIKS", RIKS_HINT
        if what and step.procedure_place:
            draft.report(Mistake(step.procedure_place, f"{what} does not follow ropes and stops ({whose[0]})", hint))


def blame_perturbations(draft: Draft, materials: Collection[Material], springs: Collection[Spring]) -> None:
    """PERTURBATION may stand where it changes nothing: with ``*FREQUENCY``, and in a deck of one linear ``*STATIC``.

    materials: those of sections. The response of any other linear perturbation would not enter the steps after it.
    """
    is_linear = len(draft.steps) == 1 and not any(spring.table for spring in springs) and not draft.planes
    is_linear &= all(m.compression_ratio == m.tension_ratio == 1.0 and not m.is_inextensible for m in materials)
    for step in draft.steps:
        is_static = isinstance(step.procedure, Static) and not step.procedure.riks
        is_harmless = isinstance(step.procedure, Perturbation) or (is_static and is_linear)
        if step.perturbation is not None and not step.blamed and not is_harmless:
            draft.report(Mistake(step.perturbation, REFUSED, MODES_HINT))


def blame_short_files(draft: Draft) -> None:
    """Amplitudes from files last as long as the steps they act in: those of total time to the end of the last step."""
    periods = [getattr(step.procedure, "period", 0.0) for step in draft.steps]
    for step, period in zip(draft.steps, periods, strict=True):
        if isinstance(step.procedure, SteadyState):  # its amplitudes are functions of the frequency
            continue
        entries: list[Any] = [entry for entry, _ in step.boundaries]
        entries += [entry for entry, _ in step.winches]
        entries += [*step.nodal_loads, *step.distributed_loads, *step.temperatures]
        for name in sorted({entry.amplitude for entry in entries} & draft.ends.keys()):
            place, last = draft.ends[name]
            end, of = (period, "the step") if draft.amplitudes[name].time == "STEP TIME" else (sum(periods), "the deck")
            if last < end * (1.0 - ROUNDED):
                message = f"the file of amplitude {name} ends at {last:g}, {of} at {end:g}"
                draft.report(Mistake(place, message, "PAST END=HOLD holds the last value"))


def blame_integrals(draft: Draft) -> None:
    """A SWEEP has no integral in closed form: it moves supports by their displacements alone."""
    for step in draft.steps:
        for entry, place in step.boundaries:
            amplitude = draft.amplitudes.get(entry.amplitude or "")
            if entry.kind in ("VELOCITY", "ACCELERATION") and amplitude and amplitude.definition == "SWEEP":
                message = f"amplitude {amplitude.name} is a SWEEP, which TYPE={entry.kind} cannot follow"
                draft.report(Mistake(place, message, "TYPE=DISPLACEMENT has exact velocities and accelerations"))


def build_step(draft: StepDraft) -> Step:
    """A step with its controls in force."""
    assert draft.procedure is not None and draft.controls is not None
    same = ("procedure", "nlgeom", "name", "title", "max_increments", "extrapolation", "amplitude")
    lists = ("rotations", "nodal_loads", "distributed_loads", "temperatures", "outputs")
    given: dict[str, Any] = {name: getattr(draft, name) for name in same}
    given |= {name: tuple(getattr(draft, name)) for name in lists}
    return Step(
        **given,
        controls=in_force(draft.controls, draft.procedure),
        replaced=frozenset(draft.replaced),
        boundaries=tuple(entry for entry, _ in draft.boundaries),
        removals=tuple(target for target, _ in draft.removals),
        winches=tuple(entry for entry, _ in draft.winches),
        shed=tuple(name for name, _ in draft.shed),
        put=tuple(name for name, _ in draft.put),
        fluid_loads=tuple(entry for entry, _ in draft.fluid_loads),
    )
