"""``*STATIC``, ``*DYNAMIC``, ``*FREQUENCY``."""

from __future__ import annotations

from dataclasses import replace

from fem.deck.draft import Draft
from fem.deck.handler import keyword
from fem.deck.lexical.card import Card
from fem.deck.lexical.fields import Row
from fem.deck.lexical.source import Mistake
from fem.model import ArcEnd, Dynamic, Frequency, Static
from fem.model.steps import MOST_INCREMENTS, Procedure

EXPLICIT = ("CENTRAL DIFFERENCE", "EXPLICIT")
APPLICATIONS: dict[str, tuple[str, float | None]] = {
    "TRANSIENT FIDELITY": ("HHT", -0.05),
    "MODERATE DISSIPATION": ("HHT", -0.41421),
    "QUASI-STATIC": ("BACKWARD EULER", None),
}
"""What APPLICATION= means in Abaqus: integrator and ALPHA (Analysis Guide, Implicit dynamic analysis)."""
INTEGRATORS = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM", *EXPLICIT)
TIME_ENTRIES = ("the first increment", "the period of the step", "the smallest increment", "the largest increment")
AUTOMATIC = "is not supported: automatic increments follow convergence, not the half-increment residual"
UNDAMPED = (
    "*DYNAMIC without ALPHA: Abaqus and CalculiX default to ALPHA=-0.05 (numerical damping); this run is undamped "
    "(NEWMARK, trapezoidal rule)"
)


def set_procedure(card: Card, draft: Draft, procedure: Procedure) -> None:
    """One procedure per step."""
    step = draft.open_step
    if step.procedure_place is not None:
        raise card.mistake("the step has two procedures", f"the first is at {step.procedure_place}")
    step.procedure, step.procedure_place = procedure, card.place


def times_of(card: Card, draft: Draft, direct: bool, most: int = 4) -> tuple[Row, list[float | None]] | None:
    """dt0, T, dtmin, dtmax of the one data line, None where blank; None without a data line.

    ``most``: entries the line may have.
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
        field = row.field(at)
        value = field.number(what) if field.text else None
        if value is not None and value <= 0.0:
            raise Mistake(field.place, f"{what} must be positive, got {value:g}")
        times.append(value)
    if direct and (times[2] is not None or times[3] is not None):
        hint = "DIRECT keeps the increment fixed"
        raise Mistake(row.field(2 if times[2] is not None else 3).place, "limits of the increment with DIRECT", hint)
    return row, times


def check_times(row: Row, first: float, period: float, smallest: float | None, largest: float | None) -> None:
    """dtmin <= dt0 <= T and not too many increments."""
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
    direct = card.flag("DIRECT")
    riks = card.flag("RIKS")
    given = times_of(card, draft, direct, 8 if riks else 4)
    if given is None:
        set_procedure(card, draft, Static(direct=direct, riks=ArcEnd() if riks else None))
        return
    row, times = given
    period = times[1] if times[1] is not None else 1.0
    first = times[0] if times[0] is not None else period
    check_times(row, first, period, times[2], times[3])
    end = arc_end(row, draft) if riks else None
    set_procedure(card, draft, Static(first, period, times[2], times[3], direct, end))


def arc_end(row: Row, draft: Draft) -> ArcEnd:
    """Largest load factor, node, dof, displacement: entries 5 to 8 of ``*STATIC, RIKS``."""
    factor = row.field(4).number("the largest load factor") if row.field(4).text else None
    if factor is not None and factor <= 0.0:
        raise Mistake(row.field(4).place, f"the largest load factor must be positive, got {factor:g}")
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
    takes=(
        "DIRECT",
        "EXPLICIT",
        "APPLICATION",
        "ALPHA",
        "BETA",
        "GAMMA",
        "INITIAL",
        "SINGULAR MASS",
        "TIME INTEGRATOR",
        "RHO",
    ),
    plus=("TIME INTEGRATOR", "RHO"),
    ignores=("SOLVER", "NOHAF"),
    refuses={
        "HAFTOL": AUTOMATIC,
        "HALFINC SCALE FACTOR": AUTOMATIC,
    },
    unsupported=("ADIABATIC", "SUBSPACE", "IMPACT", "TIME RESET"),
)
def dynamic(card: Card, draft: Draft) -> None:
    """``dt0, T, dtmin, dtmax`` and the time integrator."""
    direct, explicit = card.flag("DIRECT"), card.flag("EXPLICIT")
    initial = card.word("INITIAL", ("YES", "NO"), "YES") == "YES"
    singular = card.word("SINGULAR MASS", ("ERROR", "WARNING"), "ERROR")
    reason = "the HHT rule is second order and unconditionally stable there only"
    alpha = in_range(card, "ALPHA", -0.5, 0.0, reason)
    usual, usual_alpha = usual_of(card, draft)
    alpha = usual_alpha if alpha is None else alpha
    rho = in_range(card, "RHO", 0.0, 1.0, "it is the spectral radius at infinite frequency")
    integrator = integrator_of(card, alpha, explicit, usual)
    beta, gamma = newmark_constants(card)
    given = times_of(card, draft, direct)
    if integrator in EXPLICIT:
        set_procedure(card, draft, explicit_procedure(card, given, initial, singular))
        return
    if given is None or given[1][0] is None or given[1][1] is None:
        raise card.mistake("*DYNAMIC needs a data line with the first increment and the period")
    row, (first, period, smallest, largest) = given
    assert first is not None and period is not None
    check_times(row, first, period, smallest, largest)
    if not any(map(card.has, ("ALPHA", "TIME INTEGRATOR", "APPLICATION"))):
        draft.notice(UNDAMPED)
    if 4.0 * beta < (gamma + 0.5) ** 2 * (1.0 - 1e-12):
        draft.notice(f"*DYNAMIC, BETA={beta:g}, GAMMA={gamma:g} is stable for small increments only")
    owners = (("alpha", alpha, "HHT"), ("rho", rho, "GENERALIZED ALPHA"))
    damping = {name: value for name, value, owner in owners if value is not None and integrator == owner}
    newmark = (beta, gamma)
    times = (first, period, smallest, largest)
    set_procedure(card, draft, Dynamic(*times, direct, integrator, *newmark, initial, singular, **damping))


def explicit_procedure(
    card: Card, given: tuple[Row, list[float | None]] | None, initial: bool, singular: str
) -> Dynamic:
    """Equal increments, DIRECT or not; a blank one is chosen from the critical one when the step begins."""
    if given is None or given[1][1] is None:
        raise card.mistake("*DYNAMIC, EXPLICIT needs a data line with the increment (may be blank) and the period")
    row, (first, period, smallest, largest) = given
    assert period is not None
    if smallest is not None or largest is not None:
        hint = "an EXPLICIT step has equal increments"
        raise Mistake(row.field(2 if smallest is not None else 3).place, "limits of the increment with EXPLICIT", hint)
    if first is not None:
        check_times(row, first, period, None, None)
    own = Dynamic(first or 0.0, period, direct=True, integrator="CENTRAL DIFFERENCE")
    return replace(own, initial_acceleration=initial, singular_mass=singular)


def in_range(card: Card, name: str, low: float, high: float, reason: str) -> float | None:
    """A parameter that must lie between two numbers."""
    if not card.has(name):
        return None
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
    at_once = "" if usual == "HHT" else "; loads without AMPLITUDE act at once (Abaqus ramps them)"
    draft.notice(f"*DYNAMIC, APPLICATION={application}: {chosen}, initial accelerations included{at_once}")
    return usual, alpha


def integrator_of(card: Card, alpha: float | None, explicit: bool, usual: str) -> str:
    """The scheme named, or implied by EXPLICIT, APPLICATION or ALPHA; contradictions are mistakes."""
    implied = "EXPLICIT" if explicit else usual or ("HHT" if alpha else "NEWMARK")
    integrator = card.word("TIME INTEGRATOR", INTEGRATORS, implied)
    if alpha and integrator != "HHT":
        message = f"ALPHA={alpha:g} contradicts TIME INTEGRATOR={integrator}"
        raise Mistake(card.field("ALPHA").place, message, "ALPHA is of HHT")
    if explicit and integrator not in EXPLICIT:
        raise Mistake(card.parameters["EXPLICIT"].place, f"EXPLICIT contradicts TIME INTEGRATOR={integrator}")
    if card.has("RHO") and integrator != "GENERALIZED ALPHA":
        raise Mistake(card.field("RHO").place, "RHO belongs to TIME INTEGRATOR=GENERALIZED ALPHA")
    for name in ("BETA", "GAMMA"):
        if card.has(name) and integrator != "NEWMARK":
            raise Mistake(card.field(name).place, f"{name} belongs to TIME INTEGRATOR=NEWMARK, not {integrator}")
    return integrator


def newmark_constants(card: Card) -> tuple[float, float]:
    """beta > 0 (the displacement form divides by it), gamma >= 1/2 (no negative damping)."""
    beta, gamma = card.number("BETA", 0.25), card.number("GAMMA", 0.5)
    if not 0.0 < beta <= 10.0:
        raise Mistake(card.field("BETA").place, f"BETA must be positive (and at most 10), got {beta:g}")
    if not 0.5 <= gamma <= 10.0:
        hint = "below 1/2 the rule feeds energy into the motion"
        raise Mistake(card.field("GAMMA").place, f"GAMMA must be at least 0.5 (and at most 10), got {gamma:g}", hint)
    return beta, gamma


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
