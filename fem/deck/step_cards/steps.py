"""``*STEP``, ``*END STEP``, and the procedures of a step: static, dynamic, frequencies, steady-state dynamics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from fem.deck.draft import Draft, StepDraft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake, listing, squeezed, words
from fem.deck.step_cards.outputs import add_default_output
from fem.model import ArcEnd, Dynamic, Frequency, FrequencyRange, ModalDamping, Perturbation, Static, SteadyState
from fem.model.quantities import HARMONIC
from fem.model.steps import EXTRAPOLATIONS, MOST_INCREMENTS, PARAMETERS, Procedure


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


EXPLICIT = ("CENTRAL DIFFERENCE", "EXPLICIT")
APPLICATIONS: dict[str, tuple[str, float | None]] = {
    "TRANSIENT FIDELITY": ("HHT", -0.05),
    "MODERATE DISSIPATION": ("HHT", -0.41421),
    "QUASI-STATIC": ("BACKWARD EULER", None),
}
"""What APPLICATION= means in Abaqus: integrator and ALPHA (Analysis Guide, Implicit dynamic analysis)."""
BY_CONVERGENCE = ("MODERATE DISSIPATION", "QUASI-STATIC")
"""Those whose automatic increments are as long as they converge."""
INTEGRATORS = (*PARAMETERS, "EXPLICIT")
OF_SCHEMES = tuple(name.upper() for name in dict.fromkeys(chain(*PARAMETERS.values())))
OF_DYNAMIC = (*words("DIRECT, EXPLICIT, APPLICATION, INITIAL, SINGULAR MASS, TIME INTEGRATOR"), *OF_SCHEMES)
TIME_ENTRIES = ("the first increment", "the period of the step", "the smallest increment", "the largest increment")
HALF_INCREMENT = ("HAFTOL", "HALFINC SCALE FACTOR")
"""Abaqus' bounds of the residual in the middle of an automatic increment."""
UNDAMPED = (
    "*DYNAMIC, DIRECT without ALPHA: Abaqus and CalculiX default to ALPHA=-0.05 (numerical damping); this run is "
    "undamped (NEWMARK, trapezoidal rule)"
)
DAMPED = (
    "*DYNAMIC without ALPHA: automatic increments take ALPHA=-0.05 (HHT, numerical damping), as in Abaqus and "
    "CalculiX; ALPHA=0 is undamped"
)


def set_procedure(card: Card, draft: Draft, procedure: Procedure) -> None:
    """One procedure per step."""
    step = draft.open_step
    if step.procedure_place is not None:
        raise card.mistake("the step has two procedures", f"the first is at {step.procedure_place}")
    step.procedure, step.procedure_place = procedure, card.place


class Times(NamedTuple):
    """The data line of a procedure; None: blank or 0, which mean the default."""

    row: Row
    first: float | None
    period: float | None
    smallest: float | None
    largest: float | None


def times_of(card: Card, draft: Draft, is_fixed: str, most: int = 4) -> Times | None:
    """dt0, T, dtmin, dtmax of the one data line; None without one.

    is_fixed  the parameter that makes all increments equal: limits below it are not used
    most      entries the line may have
    """
    rows = list(draft.rows(card, needed=False))
    if not rows:
        return None
    if len(rows) > 1:
        raise Mistake(rows[1].place, f"*{card.keyword} takes one data line, got a second")
    row = rows[0]
    what = "first increment, period, smallest increment, largest increment"
    row.end(most, what if most == 4 else f"{what}, largest load factor, node, dof, displacement")
    times: list[float | None] = []
    for at, what in enumerate(TIME_ENTRIES):
        value = row.amount(at, what, 0.0)
        times.append(value if value > 0.0 else None)
    if is_fixed and (times[2] or times[3]):
        draft.ignore(f"limits of the increment of *{card.keyword}, {is_fixed}")
        times[2:] = None, None
    return Times(row, *times)


def check_times(times: Times, first: float, period: float) -> None:
    """dtmin <= dt0 <= T and not too many increments."""
    row, smallest, largest = times.row, times.smallest, times.largest
    if first > period * (1.0 + 1e-12):
        raise Mistake(row.place, f"the first increment {first:g} is longer than the step, {period:g}")
    if smallest is not None and smallest > first:
        raise Mistake(row.field(2).place, f"the smallest increment {smallest:g} is larger than the first, {first:g}")
    if largest is not None and smallest is not None and largest < smallest:
        message = f"the largest increment {largest:g} is smaller than the smallest, {smallest:g}"
        raise Mistake(row.field(3).place, message)
    if period / min(first, largest or first) > MOST_INCREMENTS:
        raise Mistake(row.place, f"the step would need more than {MOST_INCREMENTS:g} increments")


@keyword(
    "step",
    takes=("DIRECT", "RIKS"),
    ignores=("SOLVER",),
    refuses={"STABILIZE": "is not supported: it would add artificial damping"},
    unsupported=("FULLY PLASTIC", "TIME RESET", "TOTAL TIME AT START", "ADIABATIC", "ALLSDTOL", "CONTINUE"),
)
def static(card: Card, draft: Draft) -> None:
    """``dt0, T, dtmin, dtmax``; without a data line 1, 1."""
    direct, riks = card.flag("DIRECT"), card.flag("RIKS")
    times = times_of(card, draft, "DIRECT" if direct else "", 8 if riks else 4)
    if times is None:
        set_procedure(card, draft, Static(direct=direct, riks=ArcEnd() if riks else None))
        return
    period = times.period or 1.0
    first = times.first or period
    check_times(times, first, period)
    end = arc_end(times.row, draft) if riks else None
    set_procedure(card, draft, Static(first, period, times.smallest, times.largest, direct, end))


@keyword(
    "step",
    takes=("DIRECT", "CETOL"),
    ignores=("SOLVER",),
    refuses={"STABILIZE": "is not supported: it would add artificial damping"},
    unsupported=("CREEP", "FACTOR", "ALLSDTOL", "CONTINUE"),
)
def visco(card: Card, draft: Draft) -> None:
    """``dt0, T, dtmin, dtmax``: statics in which time passes."""
    direct = card.flag("DIRECT")
    if card.has("CETOL"):
        card.positive("CETOL")
        draft.notice("*VISCO, CETOL: increments are those of the data line, as long as they converge, in its place")
    times = times_of(card, draft, "DIRECT" if direct else "")
    if times is None or times.first is None or times.period is None:
        raise card.mistake("*VISCO needs a data line with the first increment and the period, in time")
    check_times(times, times.first, times.period)
    own = Static(times.first, times.period, times.smallest, times.largest, direct, creeps=True)
    set_procedure(card, draft, own)


def arc_end(row: Row, draft: Draft) -> ArcEnd:
    """Largest load factor, node, dof, displacement: entries 5 to 8 of ``*STATIC, RIKS``."""
    factor = row.amount(4, "the largest load factor", positive=True) if row.field(4).text else None
    if not any(row.field(at).text for at in (5, 6, 7)):
        return ArcEnd(1.0 if factor is None else factor)
    target = draft.target(row, 5, "node")
    dof = row.field(6).integer("the dof (1, 2 or 3)")
    if dof not in (1, 2, 3):
        raise Mistake(row.field(6).place, f"the dof must be 1, 2 or 3, got {dof}")
    value = row.field(7).number("the displacement at which the step ends")
    if value == 0.0:
        raise Mistake(row.field(7).place, "the displacement at which the step ends must not be zero")
    return ArcEnd(factor, target, dof, value)


@keyword(
    "step",
    takes=(*OF_DYNAMIC, *HALF_INCREMENT),
    plus=("TIME INTEGRATOR", "RHO"),
    ignores=("SOLVER", "NOHAF"),
    unsupported=("ADIABATIC", "SUBSPACE", "IMPACT", "TIME RESET"),
)
def dynamic(card: Card, draft: Draft) -> None:
    """``dt0, T, dtmin, dtmax`` and the time integrator."""
    direct, explicit = card.flag("DIRECT"), card.flag("EXPLICIT")
    initial = card.word("INITIAL", ("YES", "NO"), "YES") == "YES"
    singular = card.word("SINGULAR MASS", ("ERROR", "WARNING"), "ERROR")
    usual, usual_alpha = usual_of(card, draft)
    numbers = {} if usual_alpha is None else {"alpha": usual_alpha}
    numbers |= {name.lower(): NUMBERS[name](card) for name in OF_SCHEMES if card.has(name)}
    integrator = integrator_of(card, numbers.get("alpha"), explicit, usual)
    refuse_others(card, integrator, numbers.get("alpha"))
    numbers = {name: numbers[name] for name in PARAMETERS.get(integrator, ()) if name in numbers}
    is_explicit = integrator in EXPLICIT
    note_half_increment(card, draft, direct or is_explicit)
    times = times_of(card, draft, "EXPLICIT" if is_explicit else "DIRECT" if direct else "")
    if times is None or times.period is None:
        what = "the increment (may be blank)" if is_explicit else "the first increment"
        name = "*DYNAMIC, EXPLICIT" if is_explicit else "*DYNAMIC"
        raise card.mistake(f"{name} needs a data line with {what} and the period")
    period = times.period
    if is_explicit:
        first = times.first or 0.0  # chosen from the critical one when the step begins
        check_times(times, first or period, period)
        own = Dynamic(first, period, direct=True, integrator="CENTRAL DIFFERENCE")
        set_procedure(card, draft, replace(own, initial_acceleration=initial, singular_mass=singular))
        return
    first = times.first or period
    check_times(times, first, period)
    if times.first is None:
        draft.notice(f"*DYNAMIC without a first increment: it is the period of the step, {period:g}")
    if not any(map(card.has, ("ALPHA", "TIME INTEGRATOR", "APPLICATION"))):
        draft.notice(DAMPED if integrator == "HHT" else UNDAMPED)
    application = card.word("APPLICATION", tuple(APPLICATIONS), "")
    paced = not direct and application in BY_CONVERGENCE and integrator == APPLICATIONS[application][0]
    own = Dynamic(first, period, times.smallest, times.largest, direct, integrator)
    own = replace(own, initial_acceleration=initial, singular_mass=singular, **numbers)  # type: ignore[arg-type]
    if 4.0 * own.beta < (own.gamma + 0.5) ** 2 * (1.0 - 1e-12):
        draft.notice(f"*DYNAMIC, BETA={own.beta:g}, GAMMA={own.gamma:g} is stable for small increments only")
    set_procedure(card, draft, replace(own, by_convergence=paced))


def note_half_increment(card: Card, draft: Draft, has_equal_increments: bool) -> None:
    """What stands in for ``HALF_INCREMENT``."""
    for name in filter(card.has, HALF_INCREMENT):
        card.number(name)
        if has_equal_increments:
            draft.ignore(f"*DYNAMIC, {name}")
        else:
            draft.notice(f"*DYNAMIC, {name}: automatic increments go by TIME ERROR of *CONTROLS in its place")


def in_range(card: Card, name: str, low: float, high: float, reason: str) -> float:
    """A parameter that must lie between two numbers."""
    value = card.number(name)
    if not low - 1e-4 <= value <= high:
        place = card.field(name).place
        raise Mistake(place, f"{name}={value:g} lies outside [{low:.4g}, {high:.4g}]: {reason}")
    return value


def usual_of(card: Card, draft: Draft) -> tuple[str, float | None]:
    """Integrator and ALPHA that APPLICATION stands for; TIME INTEGRATOR overrides it."""
    application = card.word("APPLICATION", tuple(APPLICATIONS), "")
    if not application or card.has("TIME INTEGRATOR"):
        return "", None
    usual, alpha = APPLICATIONS[application]
    if card.has("EXPLICIT"):
        raise Mistake(card.field("APPLICATION").place, "APPLICATION contradicts EXPLICIT", "it is of implicit steps")
    chosen = usual if alpha is None else f"{usual}, ALPHA={card.number('ALPHA', alpha):g}"
    ramp = ""
    if usual == "BACKWARD EULER" and draft.step is not None and draft.step.amplitude is None:
        draft.step.amplitude, ramp = "RAMP", ", loads without AMPLITUDE ramp"
    draft.notice(f"*DYNAMIC, APPLICATION={application}: {chosen}, initial accelerations included{ramp}")
    return usual, alpha


def integrator_of(card: Card, alpha: float | None, explicit: bool, usual: str) -> str:
    """The scheme named, or implied by EXPLICIT, APPLICATION, ALPHA, no DIRECT; contradictions are mistakes."""
    is_open = not any(map(card.has, ("DIRECT", "ALPHA", "BETA", "GAMMA")))
    implied = "EXPLICIT" if explicit else usual or ("HHT" if alpha or is_open else "NEWMARK")
    integrator = card.word("TIME INTEGRATOR", INTEGRATORS, implied)
    if alpha and integrator != "HHT":
        message = f"ALPHA={alpha:g} contradicts TIME INTEGRATOR={integrator}"
        raise Mistake(card.field("ALPHA").place, message, "ALPHA is of HHT")
    if explicit and integrator not in EXPLICIT:
        raise Mistake(card.parameters["EXPLICIT"].place, f"EXPLICIT contradicts TIME INTEGRATOR={integrator}")
    return integrator


def refuse_others(card: Card, integrator: str, alpha: float | None) -> None:
    """Parameters of schemes that this one does not take; ALPHA=0 is no damping with any."""
    taken = PARAMETERS.get(integrator, ())
    for name in filter(card.has, OF_SCHEMES):
        if name.lower() not in taken and not (name == "ALPHA" and not alpha):
            owners = listing([scheme for scheme, names in PARAMETERS.items() if name.lower() in names], "or")
            raise Mistake(card.field(name).place, f"{name} belongs to TIME INTEGRATOR={owners}, not {integrator}")


def alpha_of(card: Card) -> float:
    """Of HHT."""
    reason = "the HHT rule is second order and unconditionally stable there only"
    return in_range(card, "ALPHA", -0.5, 0.0, reason)


def rho_of(card: Card) -> float:
    """Of the generalized-alpha rule."""
    return in_range(card, "RHO", 0.0, 1.0, "it is the spectral radius at infinite frequency")


def beta_of(card: Card) -> float:
    """Of Newmark's rule: beta > 0, as the displacement form divides by it."""
    beta = card.number("BETA")
    if not 0.0 < beta <= 10.0:
        raise Mistake(card.field("BETA").place, f"BETA must be positive (and at most 10), got {beta:g}")
    return beta


def gamma_of(card: Card) -> float:
    """Of Newmark's rule: gamma >= 1/2, as there is no negative damping."""
    gamma = card.number("GAMMA")
    if not 0.5 <= gamma <= 10.0:
        hint = "below 1/2 the rule feeds energy into the motion"
        raise Mistake(card.field("GAMMA").place, f"GAMMA must be at least 0.5 (and at most 10), got {gamma:g}", hint)
    return gamma


NUMBERS: dict[str, Callable[[Card], float]] = {"ALPHA": alpha_of, "BETA": beta_of, "GAMMA": gamma_of, "RHO": rho_of}
"""How parameters of schemes are read."""


@keyword(
    "step",
    ignores=("EIGENSOLVER", "SOLVER", "STORAGE", "GLOBAL", "SIM", "ACOUSTIC COUPLING"),
    takes=("NORMALIZATION",),
    unsupported=("CYCMPC", "PROPERTY EVALUATION"),
)
def frequency(card: Card, draft: Draft) -> None:
    """``number of modes``."""
    if card.word("NORMALIZATION", ("DISPLACEMENT", "MASS"), "DISPLACEMENT") == "MASS":
        draft.notice("*FREQUENCY: mode shapes are scaled to a largest component of 1; generalized_mass gives the rest")
    row = draft.single_row(card, "the number of modes")
    for at in range(1, len(row)):
        if row.field(at).text and row.number(at, "a frequency limit") != 0.0:
            message = "limits of the frequency range are not supported"
            raise Mistake(row.field(at).place, message, "give the number of modes")
    set_procedure(card, draft, Frequency(row.integer(0, "the number of modes", high=1_000_000)))


MOST_POINTS = 100_000
PHASES = ("REAL", "IMAGINARY", "LOAD CASE")
"""Parameters of ``*CLOAD`` and its kin; ``*BOUNDARY`` has the first two."""
IN_MATERIALS = "*DAMPING inside a *MATERIAL, *DASHPOT and drag damp DIRECT, too"
IN_TIME = "*DAMPING inside a *MATERIAL damps *DYNAMIC"


@keyword(
    "step",
    takes=("DIRECT", "FREQUENCY SCALE", "INTERVAL", "SUBSPACE PROJECTION"),
    refuses={"REAL ONLY": "is not supported: damping is never left out"},
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
    """How many the ``*FREQUENCY`` step finds that this step superposes: about the same state."""
    for step in reversed(draft.steps):
        if isinstance(step.procedure, Frequency):
            return step.procedure.modes
        if step.blamed or draft.has_failed("FREQUENCY"):
            return 1
        if not isinstance(step.procedure, Perturbation):
            break
    hint = "put a *FREQUENCY step between the last *STATIC or *DYNAMIC step and this one; DIRECT needs no modes"
    raise card.mistake("*STEADY STATE DYNAMICS superposes modes, and no step before it finds those of its state", hint)


@keyword(
    "step",
    takes=("MODAL", "RAYLEIGH", "DEFINITION"),
    unsupported=("STRUCTURAL", "VISCOUS"),
)
def modal_damping(card: Card, draft: Draft) -> None:
    """``first, last mode, fraction of critical damping``; RAYLEIGH: ``first, last, ALPHA, BETA``."""
    procedure = draft.open_step.procedure
    if not isinstance(procedure, SteadyState):
        if draft.has_failed("STEADY STATE DYNAMICS"):
            return
        raise card.mistake("*MODAL DAMPING stands below *STEADY STATE DYNAMICS in its step", IN_TIME)
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
                raise Mistake(row.place, f"mode {max(each.first, found.first)} has two dampings")
        procedure = replace(procedure, damping=(*procedure.damping, found))
    draft.open_step.procedure = procedure


def damping_of(row: Row, is_rayleigh: bool, modes: int) -> ModalDamping:
    """One data line; without a last mode it is of one mode."""
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
    bias = row.number(3, "the bias", usual_bias)
    if upper < lower:
        raise Mistake(row.field(1).place, f"the upper frequency {upper:g} is lower than the lower one, {lower:g}")
    if bias <= 0.0:
        raise Mistake(row.field(3).place, f"the bias must be positive, got {bias:g}")
    if row.number(4, "the factor of frequencies", 1.0) != 1.0:
        raise Mistake(row.field(4).place, "a factor of frequencies is not supported")
    return FrequencyRange(lower, upper, points if points >= 2 else 20, bias)


def is_imaginary(card: Card, draft: Draft) -> bool:
    """The card gives the part of harmonic loads that is a quarter of a period ahead: IMAGINARY, LOAD CASE=2."""
    given = [name for name in PHASES if card.has(name)]
    if not given:
        return False
    place = card.parameters[squeezed(given[0])].place
    if draft.step is None or not isinstance(draft.step.procedure, SteadyState):
        message = f"{given[0]} of *{card.keyword} is of harmonic loads"
        raise Mistake(place, message, "they stand below *STEADY STATE DYNAMICS in its step")
    if len(given) > 1:
        raise Mistake(place, f"{listing(given, 'and')} of *{card.keyword} exclude each other")
    return given[0] != "REAL" and (card.flag("IMAGINARY") or card.word("LOAD CASE", ("1", "2"), "1") == "2")


def check_harmonic(step: StepDraft, draft: Draft) -> None:
    """What has no meaning in a step of harmonic motions."""
    held = "put them into a step before it"
    if step.fluid_loads:
        message = "loads of water and wind are no harmonic loads; those of earlier steps act"
        draft.report(Mistake(step.fluid_loads[0][1], message, held))
    if step.winches:
        draft.report(Mistake(step.winches[0][1], "*WINCH has no meaning in a *STEADY STATE DYNAMICS step", held))
    if step.temperatures:
        draft.report(Mistake(step.place, "temperatures have no meaning in a *STEADY STATE DYNAMICS step", held))
    if draft.waves and step.procedure_place:
        message = "*WAVE does not act in *STEADY STATE DYNAMICS: loads and supports are its harmonic motion"
        draft.report(Mistake(step.procedure_place, message, "leave out *WAVE, or use *DYNAMIC"))
    for name in sorted(step.replaced):
        message = f"OP=NEW of *{name} in a *STEADY STATE DYNAMICS step"
        draft.report(Mistake(step.changed[name], message, "a step of small motions removes nothing"))
    for entry, place in step.boundaries:
        if entry.kind in ("VELOCITY", "ACCELERATION"):
            message = f"TYPE={entry.kind} in a *STEADY STATE DYNAMICS step"
            draft.report(Mistake(place, message, "give the amplitude of the displacement"))
    moves = any(entry.value for entry, _ in step.boundaries) or step.nodal_loads or step.distributed_loads
    if step.procedure_place and not (moves or step.blamed or draft.has_failed("CLOAD", "DLOAD", "BOUNDARY")):
        hint = "give *CLOAD, *DLOAD, or amplitudes of supports in *BOUNDARY"
        draft.report(Mistake(step.procedure_place, "nothing moves the model in this step", hint))
    for request in step.outputs:
        family = request.kind.split()[0]
        others = [name for name in request.variables if name not in HARMONIC.get(family, request.variables)]
        if others:
            known = listing(HARMONIC[family], "and")
            draft.ignore(f"{listing(others, 'and')} in *STEADY STATE DYNAMICS ({known} are written)")
