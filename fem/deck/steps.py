"""``*STEP``, ``*END STEP``, ``*CONTROLS``, static and dynamic procedures; steps as a whole, the frozen ``Step``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields, replace
from itertools import chain
from typing import Any, NamedTuple

from fem.deck.cards import POSITIVE, Bound, Card, Row
from fem.deck.draft import Draft, StepDraft, as_given, set_procedure
from fem.deck.harmonic import check_buckling, check_harmonic
from fem.deck.kinds import POSITIVE_NUMBER, limit, whole, within, word_of
from fem.deck.outputs import add_default_output
from fem.deck.source import Mistake, listing, words
from fem.deck.table import Parameters, Value, keyword
from fem.model import ArcEnd, Controls, Dynamic, Material, Spring, Static, Step
from fem.model.steps import EXTRAPOLATIONS, IMPACTS, MOST_INCREMENTS, PARAMETERS

DEFAULT = Controls()
CUTS = Bound(lambda x: 0.0 < x < 1.0, "{what} must lie between 0 and 1, got {value:g}")
GROWS = Bound(lambda x: 1.0 <= x <= 1e6, "{what} must be at least 1, got {value:g}")
START = Controls(residual_relative=None)
"""Controls before any card; the default of RESI_GLOB_RELA is inserted when a step is built."""
KINDS = ("FIELD", "TIME INCREMENTATION", "LINE SEARCH", "CONSTRAINTS", "CONTACT", "VISCO", "NETWORK", "CFD", "CETOL")
CYCLES = whole(1, 1_000_000)
OURS = Parameters(
    {
        "RESI_GLOB_RELA": Value("residual_relative", POSITIVE_NUMBER, default=None, shown=True),
        "RESI_GLOB_MAXI": Value("residual_absolute", POSITIVE_NUMBER, default=None, shown=True),
        "ITER_GLOB_MAXI": Value("max_iterations", CYCLES, default=DEFAULT.max_iterations),
        "ENERGY DRIFT": Value("energy_drift", limit(POSITIVE), default=DEFAULT.energy_drift),
        "TIME ERROR": Value("time_error", limit(POSITIVE), default=DEFAULT.time_error),
        "TENSION CHANGE": Value("tension_change", limit(POSITIVE), default=DEFAULT.tension_change),
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
        (1, 0): Value("cut_factor", within(CUTS), "the factor of a cut-back"),
        (1, 6): Value("growth_factor", within(GROWS), "the growth of increments"),
    },
}
"""Entries of the data lines, by line and position: R and C; I_C and I_A; D_f and D_D."""


@keyword("CONTROLS", "step", takes=("PARAMETERS", "RESET", "FIELD", *OURS), plus=(*OURS,), ignores=("ANALYSIS",))
def controls(card: Card, draft: Draft) -> None:
    """Applies to this step and later ones; blank data lines count as lines."""
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
    else:
        draft.ignore(f"*CONTROLS, PARAMETERS={kind}")


@keyword(
    "STEP",
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
        elif nlgeom:  # as Abaqus/CAE writes it: for this step only
            draft.step.nlgeom = True
    if card.flag("PERTURBATION"):
        draft.step.perturbation = card.parameters["PERTURBATION"].place
    draft.step.name = card.name("NAME")
    draft.step.max_increments = card.integer("INC")
    draft.step.extrapolation = card.word("EXTRAPOLATION", EXTRAPOLATIONS, "") or None
    draft.step.amplitude = card.word("AMPLITUDE", ("STEP", "RAMP"), "") or None


@keyword("END STEP", "anywhere")
def end_step(card: Card, draft: Draft) -> None:
    if draft.step is None:
        if draft.has_failed("STEP"):
            return
        raise card.mistake("*END STEP without *STEP")
    draft.no_rows(card)
    close_step(draft)


def close_step(draft: Draft) -> None:
    """Completes the open step, with the checks that need all of it."""
    step = draft.step
    assert step is not None
    draft.step = None
    step.controls = draft.controls
    if step.perturbation is not None and step.static:
        step.nlgeom = draft.nlgeom  # its response is linear, whatever NLGEOM says
    add_default_output(step)
    if step.procedure_place is None and not step.blamed:
        hint = "a step needs one of *STATIC, *VISCO, *DYNAMIC, *FREQUENCY, *BUCKLE, *STEADY STATE DYNAMICS"
        draft.report(Mistake(step.place, "the step has no procedure", hint))
    flows = [load for load, _ in step.fluid_loads if load.kind != "ADDED MASS"]
    acts = flows or step.winches or step.nodal_loads or step.moments or step.distributed_loads or step.temperatures
    if step.modes and acts:
        hint = "put loads into a *STATIC step before it"
        draft.report(Mistake(step.place, "loads have no meaning in a *FREQUENCY step", hint))
    if step.harmonic:
        check_harmonic(step, draft)
    if step.buckling:
        check_buckling(step, draft)
    if step.static and step.static.riks and step.amplitude == "STEP":
        draft.report(Mistake(step.place, "AMPLITUDE=STEP with *STATIC, RIKS", "the arc length finds the load factor"))
    draft.steps.append(step)
    if step.extrapolation is None:  # a first guess without motion reverses the velocities, and with them the drag
        flows_past = step.dynamic and any(each.fluid_loads for each in draft.steps)
        step.extrapolation = "PARABOLIC" if flows_past else "NO"
    if not (step.nlgeom or step.buckling):
        draft.notice(
            f"step {len(draft.steps)} is geometrically linear, as in Abaqus and CalculiX without NLGEOM=YES "
            "(materials and springs stay nonlinear)"
        )


EXPLICIT = ("CENTRAL DIFFERENCE", "EXPLICIT")
ROUNDED_OFF = 1e-4
"""Tolerance of bounds, because decks contain rounded decimals."""
APPLICATIONS: dict[str, tuple[str, float | None]] = {
    "TRANSIENT FIDELITY": ("HHT", -0.05),
    "MODERATE DISSIPATION": ("HHT", -0.41421),
    "QUASI-STATIC": ("BACKWARD EULER", None),
}
"""What APPLICATION= means in Abaqus: integrator and ALPHA (Analysis Guide, Implicit dynamic analysis)."""
BY_CONVERGENCE = ("MODERATE DISSIPATION", "QUASI-STATIC")
"""Those with automatic increments whose length depends on convergence."""
OF_HHT = "{what}={value:g} lies outside [-0.5, 0]: the HHT rule is second order and unconditionally stable there only"
OF_RHO = "{what}={value:g} lies outside [0, 1]: it is the spectral radius at infinite frequency"
OF_BETA = "{what} must be positive (and at most 10), got {value:g}"
OF_GAMMA = "{what} must be at least 0.5 (and at most 10), got {value:g}"
NUMBERS = {
    "ALPHA": within(Bound(lambda x: -0.5 - ROUNDED_OFF <= x <= 0.0, OF_HHT)),
    "BETA": within(Bound(lambda x: 0.0 < x <= 10.0, OF_BETA)),
    "GAMMA": within(Bound(lambda x: 0.5 <= x <= 10.0, OF_GAMMA, "below 1/2 the scheme adds energy to the motion")),
    "RHO": within(Bound(lambda x: -ROUNDED_OFF <= x <= 1.0, OF_RHO)),
}
"""What parameters of schemes may be; the displacement form of Newmark's rule divides by BETA."""
OF_SCHEMES = tuple(name.upper() for name in dict.fromkeys(chain(*PARAMETERS.values())))
OF_DYNAMIC = (*words("DIRECT, EXPLICIT, APPLICATION, INITIAL, SINGULAR MASS, TIME INTEGRATOR"), *OF_SCHEMES)
TIME_ENTRIES = ("the first increment", "the period of the step", "the smallest increment", "the largest increment")
HALF_INCREMENT = ("HAFTOL", "HALFINC SCALE FACTOR")
"""Abaqus' limits of the half-increment residual."""
UNDAMPED = (
    "*DYNAMIC, DIRECT without ALPHA: Abaqus and CalculiX default to ALPHA=-0.05 (numerical damping); this run is "
    "undamped (NEWMARK, trapezoidal rule)"
)
DAMPED = (
    "*DYNAMIC without ALPHA: automatic increments take ALPHA=-0.05 (HHT, numerical damping), as in Abaqus and "
    "CalculiX; ALPHA=0 is undamped"
)


class Times(NamedTuple):
    """The data line of a procedure; None: blank or 0, which mean the default."""

    row: Row
    first: float | None
    period: float | None
    smallest: float | None
    largest: float | None


def times_of(card: Card, draft: Draft, is_fixed: str, most: int = 4) -> Times | None:
    """dt0, T, dtmin, dtmax of the one data line; None without one.
    is_fixed  the parameter that makes all increments equal; limits of their length are then ignored
    most      entries the line may have"""
    if not any(card.rows):
        return None
    row = draft.single_row(card, "", f"*{card.keyword} takes one data line, got a second")
    what = "first increment, period, smallest increment, largest increment"
    row.end(most, what if most == 4 else f"{what}, largest load factor, node, dof, displacement")
    times: list[float | None] = [row.amount(at, what, 0.0) or None for at, what in enumerate(TIME_ENTRIES)]
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
    "STATIC",
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
    "VISCO",
    "step",
    takes=("DIRECT", "CETOL"),
    ignores=("SOLVER",),
    refuses={"STABILIZE": "is not supported: it would add artificial damping"},
    unsupported=("CREEP", "FACTOR", "ALLSDTOL", "CONTINUE"),
)
def visco(card: Card, draft: Draft) -> None:
    """``dt0, T, dtmin, dtmax``: statics with creep."""
    direct = card.flag("DIRECT")
    if card.has("CETOL"):
        card.number("CETOL", bound=POSITIVE)
        draft.notice("*VISCO, CETOL: ignored; increments follow the data line as long as they converge")
    times = times_of(card, draft, "DIRECT" if direct else "")
    if times is None or times.first is None or times.period is None:
        raise card.mistake("*VISCO needs a data line with the first increment and the period, in time")
    check_times(times, times.first, times.period)
    set_procedure(card, draft, Static(times.first, times.period, times.smallest, times.largest, direct, creeps=True))


def arc_end(row: Row, draft: Draft) -> ArcEnd:
    """Largest load factor, node, dof, displacement: entries 5 to 8 of ``*STATIC, RIKS``."""
    factor = row.amount(4, "the largest load factor", positive=True) if row.field(4).text else None
    if not any(row.field(at).text for at in (5, 6, 7)):
        return ArcEnd(1.0 if factor is None else factor)
    target = draft.target(row.field(5), "node")
    dof = row.field(6).integer("the dof (1, 2 or 3)")
    if dof not in (1, 2, 3):
        raise Mistake(row.field(6).place, f"the dof must be 1, 2 or 3, got {dof}")
    value = row.field(7).number("the displacement at which the step ends")
    if value == 0.0:
        raise Mistake(row.field(7).place, "the displacement at which the step ends must not be zero")
    return ArcEnd(factor, target, dof, value)


@keyword(
    "DYNAMIC",
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
    for name in filter(card.has, OF_SCHEMES):
        numbers[name.lower()] = NUMBERS[name].read(card.field(name), f"{name}=", draft)
    integrator = integrator_of(card, numbers.get("alpha"), explicit, usual)
    taken = PARAMETERS.get(integrator, ())
    for name in filter(card.has, OF_SCHEMES):  # ALPHA=0 means no damping in any scheme
        if name.lower() not in taken and not (name == "ALPHA" and not numbers.get("alpha")):
            owners = listing([scheme for scheme, names in PARAMETERS.items() if name.lower() in names], "or")
            raise Mistake(card.field(name).place, f"{name} is for TIME INTEGRATOR={owners}, not {integrator}")
    numbers = {name: numbers[name] for name in taken if name in numbers}
    is_explicit = integrator in EXPLICIT
    for name in filter(card.has, HALF_INCREMENT):
        card.number(name)
        if direct or is_explicit:
            draft.ignore(f"*DYNAMIC, {name}")
        else:
            draft.notice(f"*DYNAMIC, {name}: ignored; automatic increments follow TIME ERROR of *CONTROLS")
    times = times_of(card, draft, "EXPLICIT" if is_explicit else "DIRECT" if direct else "")
    if times is None or times.period is None:
        what = "the increment (may be blank)" if is_explicit else "the first increment"
        name = "*DYNAMIC, EXPLICIT" if is_explicit else "*DYNAMIC"
        raise card.mistake(f"{name} needs a data line with {what} and the period")
    period = times.period
    if is_explicit:
        first = times.first or 0.0  # computed from the critical increment at the start of the step
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
        draft.notice(f"*DYNAMIC, BETA={own.beta:g}, GAMMA={own.gamma:g} is stable only for small increments")
    set_procedure(card, draft, replace(own, by_convergence=paced))


def usual_of(card: Card, draft: Draft) -> tuple[str, float | None]:
    """Integrator and ALPHA that APPLICATION stands for; TIME INTEGRATOR overrides it."""
    application = card.word("APPLICATION", tuple(APPLICATIONS), "")
    if not application or card.has("TIME INTEGRATOR"):
        return "", None
    usual, alpha = APPLICATIONS[application]
    if card.has("EXPLICIT"):
        raise Mistake(card.field("APPLICATION").place, "APPLICATION contradicts EXPLICIT", "it is for implicit steps")
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
    integrator = card.word("TIME INTEGRATOR", (*PARAMETERS, "EXPLICIT"), implied)
    if alpha and integrator != "HHT":
        message = f"ALPHA={alpha:g} contradicts TIME INTEGRATOR={integrator}"
        raise Mistake(card.field("ALPHA").place, message, "ALPHA is for HHT")
    if explicit and integrator not in EXPLICIT:
        raise Mistake(card.parameters["EXPLICIT"].place, f"EXPLICIT contradicts TIME INTEGRATOR={integrator}")
    return integrator


EXPLICIT_HINT = (
    "remove EXPLICIT: the other TIME INTEGRATORs locate the impacts of few ropes (IMPACT=EVENT of *CONTROLS); "
    "IMPACT=MOREAU is for many; or make them elastic, *ELASTIC with *NO COMPRESSION"
)
RIKS_HINT = "remove RIKS, or make them elastic, *ELASTIC with *NO COMPRESSION"
REFUSED = "PERTURBATION of *STEP is not supported: every step is a general step"
MODES_HINT = "*FREQUENCY gives modes about a loaded state"
ROUNDED = 1e-6
"""Tolerance of times from files, which have a few digits."""


def blame_steps_without_ropes(draft: Draft, materials: Iterable[Material]) -> None:
    """Refuses ropes and stops in steps with EXPLICIT or RIKS. materials: those of sections"""
    limits = (m for m in materials if m.is_inextensible and 0.0 in (m.compression_ratio, m.tension_ratio))
    whose = [f"material {material.name}" for material in limits] + ["*STOP PLANE"] * bool(draft.planes)
    for step in draft.steps if whose else ():
        what, hint = "", ""
        if step.dynamic and step.dynamic.integrator == "CENTRAL DIFFERENCE":
            what, hint = "*DYNAMIC, EXPLICIT", EXPLICIT_HINT
        elif step.static and step.static.riks:
            what, hint = "*STATIC, RIKS", RIKS_HINT
        if what and step.procedure_place:
            draft.report(Mistake(step.procedure_place, f"{what} does not support ropes and stops ({whose[0]})", hint))


def blame_perturbations(draft: Draft, materials: Collection[Material], springs: Collection[Spring]) -> None:
    """PERTURBATION may stand where it changes nothing: with ``*FREQUENCY``, and in a deck of one linear ``*STATIC``.
    materials: those of sections. The response to any other linear perturbation would not affect later steps."""
    is_linear = len(draft.steps) == 1 and not any(spring.table for spring in springs) and not draft.planes
    is_linear &= all(m.compression_ratio == m.tension_ratio == 1.0 and not m.is_inextensible for m in materials)
    for step in draft.steps:
        is_static = step.static and not step.static.riks
        is_harmless = step.small_motion or (is_static and is_linear)
        if step.perturbation is not None and not step.blamed and not is_harmless:
            draft.report(Mistake(step.perturbation, REFUSED, MODES_HINT))


def blame_short_files(draft: Draft) -> None:
    """Amplitudes from files last as long as the steps they act in: those of total time to the end of the last step."""
    periods = [getattr(step.procedure, "period", 0.0) for step in draft.steps]
    for step, period in zip(draft.steps, periods, strict=True):
        if step.harmonic:  # amplitudes are functions of the frequency
            continue
        entries: list[Any] = [entry for entry, _ in (*step.boundaries, *step.winches, *step.moments)]
        entries += [*step.nodal_loads, *step.distributed_loads, *step.temperatures]
        for name in sorted({entry.amplitude for entry in entries} & draft.ends.keys()):
            place, last = draft.ends[name]
            end, of = (period, "the step") if draft.amplitudes[name].time == "STEP TIME" else (sum(periods), "the deck")
            if last < end * (1.0 - ROUNDED):
                message = f"the file of amplitude {name} ends at {last:g}, {of} at {end:g}"
                draft.report(Mistake(place, message, "PAST END=HOLD keeps the last value"))


def blame_integrals(draft: Draft) -> None:
    """A SWEEP has no integral in closed form, so it may prescribe displacements of supports only."""
    for step in draft.steps:
        for entry, place in step.boundaries:
            amplitude = draft.amplitudes.get(entry.amplitude or "")
            if entry.kind in ("VELOCITY", "ACCELERATION") and amplitude and amplitude.definition == "SWEEP":
                message = f"amplitude {amplitude.name} is a SWEEP, which is not possible with TYPE={entry.kind}"
                draft.report(Mistake(place, message, "use TYPE=DISPLACEMENT, which is exact"))


def build_step(draft: StepDraft) -> Step:
    """The frozen step. The default residual test is inserted, but ENERGY MOMENTUM iterates to rounding error."""
    controls, procedure = draft.controls, draft.procedure
    assert procedure is not None and controls is not None
    to_floor = draft.dynamic and draft.dynamic.integrator == "ENERGY MOMENTUM"
    if controls.residual_relative is None and controls.residual_absolute is None and not to_floor:
        controls = replace(controls, residual_relative=DEFAULT.residual_relative)
    return Step(
        controls=controls,
        replaced=frozenset(draft.replaced),
        **as_given(draft, (field.name for field in fields(Step) if field.name not in ("controls", "replaced"))),
    )
