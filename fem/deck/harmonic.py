"""Procedures of small motions: ``*FREQUENCY``, ``*BUCKLE``, ``*STEADY STATE DYNAMICS`` with its damping and loads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fem.deck.cards import POSITIVE, Card, Row
from fem.deck.draft import Draft, StepDraft, set_procedure
from fem.deck.source import Mistake, listing, squeezed
from fem.deck.table import keyword
from fem.model import Buckle, Frequency, FrequencyRange, ModalDamping, SteadyState
from fem.model.quantities import HARMONIC


@keyword(
    "FREQUENCY",
    "step",
    ignores=("EIGENSOLVER", "SOLVER", "STORAGE", "GLOBAL", "SIM", "ACOUSTIC COUPLING"),
    takes=("NORMALIZATION",),
    unsupported=("CYCMPC", "PROPERTY EVALUATION"),
)
def frequency(card: Card, draft: Draft) -> None:
    """``number of modes``."""
    if card.word("NORMALIZATION", ("DISPLACEMENT", "MASS"), "DISPLACEMENT") == "MASS":
        draft.notice("*FREQUENCY: mode shapes are scaled to a largest component of 1; see generalized_mass")
    row = draft.single_row(card, "the number of modes")
    for at in range(1, len(row)):
        if row.field(at).text and row.number(at, "a frequency limit") != 0.0:
            message = "limits of the frequency range are not supported"
            raise Mistake(row.field(at).place, message, "give the number of modes")
    set_procedure(card, draft, Frequency(row.integer(0, "the number of modes", high=1_000_000)))


@keyword("BUCKLE", "step", ignores=("EIGENSOLVER", "SOLVER"))
def buckle(card: Card, draft: Draft) -> None:
    """``number of factors``, and entries of other solvers."""
    row = draft.single_row(card, "the number of factors")
    for at in range(1, len(row)):
        if row.field(at).text:
            row.number(at, "an entry of another solver")
            draft.ignore("entries of *BUCKLE after the number of factors")
    set_procedure(card, draft, Buckle(row.integer(0, "the number of factors", high=1_000_000)))


def check_buckling(step: StepDraft, draft: Draft) -> None:
    """The loads of the step are all of Q; the state before it is found with large displacements."""
    held = "put them into a *STATIC step before it"
    for entries, what in ((step.fluid_loads, "loads of water and wind"), (step.winches, "winches")):
        if entries:
            draft.report(Mistake(entries[0][1], f"{what} have no meaning in a *BUCKLE step", held))
    for entry, place in step.boundaries:
        if entry.value:
            message = "a support that moves in a *BUCKLE step"
            draft.report(Mistake(place, message, "loads of such a step are *CLOAD, *DLOAD and *TEMPERATURE"))
    step.boundaries[:] = [each for each in step.boundaries if not each[0].value]  # nothing more to say of those
    for name in sorted(step.replaced):
        message = f"OP=NEW of *{name} in a *BUCKLE step"
        draft.report(Mistake(step.changed[name], message, "such a step cannot remove loads"))
    loads: list[Any] = [*step.nodal_loads, *step.distributed_loads, *step.temperatures]
    if any(each.amplitude for each in loads):
        hint = "the factor multiplies the whole load: remove the AMPLITUDE"
        draft.report(Mistake(step.place, "a load with an AMPLITUDE in a *BUCKLE step", hint))
    if step.procedure_place and not (
        loads or step.moments or step.blamed or draft.has_failed("CLOAD", "DLOAD", "TEMPERATURE")
    ):
        hint = "give *CLOAD, *DLOAD or *TEMPERATURE in this step"
        draft.report(Mistake(step.procedure_place, "no load whose factor is sought", hint))
    linear = [each for each in draft.steps if not each.small_motion and not each.nlgeom]
    if linear and step.procedure_place:
        message = f"the step at {linear[0].place} before *BUCKLE is geometrically linear"
        draft.report(Mistake(step.procedure_place, message, "*STEP, NLGEOM: the tangent is that of its forces"))


MOST_POINTS = 100_000
PHASES = ("REAL", "IMAGINARY", "LOAD CASE")
"""Parameters of ``*CLOAD`` and its kin; ``*BOUNDARY`` has the first two."""
IN_MATERIALS = "with DIRECT, *DAMPING of materials, *DASHPOT and drag also act"
IN_TIME = "*DAMPING inside a *MATERIAL acts in *DYNAMIC"


@keyword(
    "STEADY STATE DYNAMICS",
    "step",
    takes=("DIRECT", "FREQUENCY SCALE", "INTERVAL", "SUBSPACE PROJECTION"),
    refuses={"REAL ONLY": "is not supported: damping is always included"},
    ignores=("SOLVER",),
    unsupported=("FRICTION DAMPING", "HARMONIC", "CYCMPC"),
)
def steady_state_dynamics(card: Card, draft: Draft) -> None:
    """``lower, upper frequency, points, bias`` as often as wanted."""
    is_direct = card.flag("DIRECT")
    if card.has("SUBSPACE PROJECTION"):
        if is_direct:
            raise card.mistake("DIRECT and SUBSPACE PROJECTION exclude each other")
        if card.parameters[squeezed("SUBSPACE PROJECTION")].value is not None:
            card.word("SUBSPACE PROJECTION", ("ALL FREQUENCIES",), "ALL FREQUENCIES")
    usual = "RANGE" if is_direct else "EIGENFREQUENCY"
    parted = card.word("INTERVAL", ("RANGE",) if is_direct else ("EIGENFREQUENCY", "RANGE"), usual) == "EIGENFREQUENCY"
    is_linear = card.word("FREQUENCY SCALE", ("LOGARITHMIC", "LINEAR"), "LOGARITHMIC") == "LINEAR"
    ranges = tuple(range_of(row, 3.0 if parted else 1.0) for row in draft.rows(card))
    modes = 0 if is_direct else modes_before(card, draft)
    if sum(each.points for each in ranges) * (1 + modes * parted) > MOST_POINTS:
        raise card.mistake(f"more than {MOST_POINTS} frequencies")
    set_procedure(card, draft, SteadyState(ranges, is_linear, modes, parted))


def modes_before(card: Card, draft: Draft) -> int:
    """Number of modes of the ``*FREQUENCY`` step before, whose modes this step superposes."""
    for step in reversed(draft.steps):
        if step.modes:
            return step.modes.modes
        if step.blamed or draft.has_failed("FREQUENCY"):
            return 1
        if not step.small_motion:
            break
    hint = "put a *FREQUENCY step between the last *STATIC or *DYNAMIC step and this one; DIRECT needs no modes"
    raise card.mistake("*STEADY STATE DYNAMICS superposes modes, but no step before it finds them", hint)


@keyword("MODAL DAMPING", "step", takes=("MODAL", "RAYLEIGH", "DEFINITION"), unsupported=("STRUCTURAL", "VISCOUS"))
def modal_damping(card: Card, draft: Draft) -> None:
    """``first, last mode, fraction of critical damping``; RAYLEIGH: ``first, last, ALPHA, BETA``."""
    procedure = draft.open_step.harmonic
    if not procedure:
        if draft.has_failed("STEADY STATE DYNAMICS"):
            return
        raise card.mistake("put *MODAL DAMPING below *STEADY STATE DYNAMICS in its step", IN_TIME)
    if not procedure.modes:
        raise card.mistake("*MODAL DAMPING has no meaning with DIRECT, which superposes no modes", IN_MATERIALS)
    card.word("DEFINITION", ("MODE NUMBERS",), "MODE NUMBERS")
    is_rayleigh = card.flag("RAYLEIGH")
    if is_rayleigh and card.has("MODAL"):
        raise card.mistake("MODAL and RAYLEIGH exclude each other")
    card.word("MODAL", ("DIRECT",), "DIRECT")
    for row in draft.rows(card):
        found = damping_of(row, is_rayleigh, procedure.modes)
        for each in procedure.damping:
            if each.first <= found.last and found.first <= each.last:
                raise Mistake(row.place, f"mode {max(each.first, found.first)} has two damping values")
        procedure = replace(procedure, damping=(*procedure.damping, found))
    draft.open_step.procedure = procedure


def damping_of(row: Row, is_rayleigh: bool, modes: int) -> ModalDamping:
    """One data line; without a last mode it is for one mode."""
    row.end(4 if is_rayleigh else 3, "lowest mode, highest mode, " + ("ALPHA, BETA" if is_rayleigh else "fraction"))
    first = row.integer(0, "the lowest mode")
    last = row.integer(1, "the highest mode", default=first)
    if not first <= last <= modes:
        raise Mistake(row.place, f"no modes {first} to {last}: the *FREQUENCY step before finds 1 to {modes}")
    if is_rayleigh:
        return ModalDamping(first, last, 0.0, row.amount(2, "ALPHA", 0.0), row.amount(3, "BETA", 0.0))
    return ModalDamping(first, last, row.amount(2, "the fraction of critical damping"))


def range_of(row: Row, usual_bias: float) -> FrequencyRange:
    """One data line; without an upper frequency, or with 0, it is one frequency; less than two points mean 20."""
    row.end(5, "lower frequency, upper frequency, number of points, bias")
    lower = row.amount(0, "the lower frequency", positive=True)
    upper = row.amount(1, "the upper frequency", 0.0) or lower
    points = row.integer(2, "the number of points", 0, MOST_POINTS, 20)
    bias = row.number(3, "the bias", usual_bias, POSITIVE)
    if upper < lower:
        raise Mistake(row.field(1).place, f"the upper frequency {upper:g} is lower than the lower one, {lower:g}")
    if row.number(4, "the factor of frequencies", 1.0) != 1.0:
        raise Mistake(row.field(4).place, "a factor of frequencies is not supported")
    return FrequencyRange(lower, upper, points if points >= 2 else 20, bias)


def is_imaginary(card: Card, draft: Draft) -> bool:
    """Whether the card gives imaginary parts of harmonic loads, a quarter of a period ahead: IMAGINARY, LOAD CASE=2."""
    given = [name for name in PHASES if card.has(name)]
    if not given:
        return False
    place = card.parameters[squeezed(given[0])].place
    if draft.step is None or not draft.step.harmonic:
        message = f"{given[0]} of *{card.keyword} is for harmonic loads"
        raise Mistake(place, message, "put them below *STEADY STATE DYNAMICS in its step")
    if len(given) > 1:
        raise Mistake(place, f"{listing(given, 'and')} of *{card.keyword} exclude each other")
    return given[0] != "REAL" and (card.flag("IMAGINARY") or card.word("LOAD CASE", ("1", "2"), "1") == "2")


def check_harmonic(step: StepDraft, draft: Draft) -> None:
    held = "put them into a step before it"
    if step.fluid_loads:
        message = "loads of water and wind cannot be harmonic; those of earlier steps act"
        draft.report(Mistake(step.fluid_loads[0][1], message, held))
    if step.winches:
        draft.report(Mistake(step.winches[0][1], "*WINCH has no meaning in a *STEADY STATE DYNAMICS step", held))
    if step.temperatures:
        draft.report(Mistake(step.place, "temperatures have no meaning in a *STEADY STATE DYNAMICS step", held))
    if draft.waves and step.procedure_place:
        message = "*WAVE does not act in *STEADY STATE DYNAMICS: only loads and supports excite it"
        draft.report(Mistake(step.procedure_place, message, "remove *WAVE, or use *DYNAMIC"))
    for name in sorted(step.replaced):
        message = f"OP=NEW of *{name} in a *STEADY STATE DYNAMICS step"
        draft.report(Mistake(step.changed[name], message, "such a step cannot remove loads"))
    for entry, place in step.boundaries:
        if entry.kind in ("VELOCITY", "ACCELERATION"):
            message = f"TYPE={entry.kind} in a *STEADY STATE DYNAMICS step"
            draft.report(Mistake(place, message, "give the amplitude of the displacement"))
    moves = any(entry.value for entry, _ in step.boundaries) or step.nodal_loads or step.distributed_loads
    if step.procedure_place and not (moves or step.blamed or draft.has_failed("CLOAD", "DLOAD", "BOUNDARY")):
        hint = "give *CLOAD, *DLOAD, or amplitudes of supports in *BOUNDARY"
        draft.report(Mistake(step.procedure_place, "nothing excites the model in this step", hint))
    for request in step.outputs:
        family = request.kind.split()[0]
        others = [name for name in request.variables if name not in HARMONIC.get(family, request.variables)]
        if others:
            known = listing(HARMONIC[family], "and")
            draft.ignore(f"{listing(others, 'and')} in *STEADY STATE DYNAMICS ({known} are written)")
