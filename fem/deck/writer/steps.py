"""Steps: procedure, controls, supports, loads, output."""

from __future__ import annotations

from collections.abc import Sequence

from fem.deck.writer.surroundings import fluid_lines
from fem.deck.writer.text import card, field, number, rows_of
from fem.model.harmonic import Frequency, SteadyState
from fem.model.loads import Boundary, DistributedLoad, NodalLoad, Temperature, Winch
from fem.model.steps import PARAMETERS, Controls, Dynamic, OutputRequest, Procedure, Step

DEFAULT = Controls()
OWN = {
    "max_iterations": "ITER_GLOB_MAXI",
    "energy_drift": "ENERGY DRIFT",
    "time_error": "TIME ERROR",
    "impact": "IMPACT",
}
"""Parameters of ``*CONTROLS`` that are written where they are not the default."""


def step_lines(steps: Sequence[Step]) -> list[str]:
    """All steps; NLGEOM and the controls are stated in each."""
    lines: list[str] = []
    for step in steps:
        is_default = step.extrapolation == "NO" and not any(each.fluid_loads for each in steps)
        extrapolation = None if is_default else step.extrapolation
        given = {"INC": step.max_increments, "NAME": step.name, "EXTRAPOLATION": extrapolation}
        lines.append(card("STEP", f"NLGEOM={'YES' if step.nlgeom else 'NO'}", **given, AMPLITUDE=step.amplitude))
        lines += step.title
        lines += procedure_lines(step.procedure)
        lines += controls_lines(step.controls)
        lines += support_lines((*step.boundaries, *step.rotations), "BOUNDARY" in step.replaced)
        lines += load_lines(step)
        lines += [line for winch in step.winches for line in winch_lines(winch)]
        lines += ["*MODEL CHANGE, REMOVE", *map(field, step.removals)] if step.removals else []
        for change, names in (("REMOVE", step.shed), ("ADD", step.put)):
            lines += [f"*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, {change}", *names] if names else []
        lines += [line for request in step.outputs for line in output_lines(request)]
        lines.append("*END STEP")
    return lines


def procedure_lines(procedure: Procedure) -> list[str]:
    """The card of a procedure, and its data lines."""
    if isinstance(procedure, Frequency):
        return ["*FREQUENCY", str(procedure.modes)]
    if isinstance(procedure, SteadyState):
        return steady_state_lines(procedure)
    numbers = (procedure.dt or None, procedure.period, procedure.dt_min, procedure.dt_max)
    times = ["" if each is None else number(each) for each in numbers]
    flags = ["DIRECT"] if procedure.direct else []
    if isinstance(procedure, Dynamic):
        return [dynamic_line(procedure, flags), ", ".join(times)]
    end = procedure.riks
    if end is None:
        return [card("VISCO" if procedure.creeps else "STATIC", *flags), ", ".join(times)]
    times.append("" if end.factor is None else number(end.factor))
    times += [] if end.target is None else [field(end.target), str(end.dof), number(end.value)]
    return [card("STATIC", "RIKS", *flags), ", ".join(times)]


def steady_state_lines(procedure: SteadyState) -> list[str]:
    """The card of harmonic motions and those of their modal damping."""
    parameters = {
        "INTERVAL": "EIGENFREQUENCY" if procedure.parted else "RANGE",
        "FREQUENCY SCALE": "LINEAR" if procedure.is_linear else None,
    }
    lines = [card("STEADY STATE DYNAMICS", *([] if procedure.modes else ["DIRECT"]), **parameters)]
    lines += [f"{number(of.lower)}, {number(of.upper)}, {of.points}, {number(of.bias)}" for of in procedure.ranges]
    for of in procedure.damping:
        if of.fraction or not (of.alpha or of.beta):
            lines += ["*MODAL DAMPING", f"{of.first}, {of.last}, {number(of.fraction)}"]
        else:
            lines += ["*MODAL DAMPING, RAYLEIGH", f"{of.first}, {of.last}, {number(of.alpha)}, {number(of.beta)}"]
    return lines


APPLICATIONS = {"HHT": "MODERATE DISSIPATION", "BACKWARD EULER": "QUASI-STATIC"}
"""Those whose increments go by convergence."""


def dynamic_line(procedure: Dynamic, flags: list[str]) -> str:
    """The keyword line of ``*DYNAMIC``."""
    integrator = procedure.integrator
    trapezoidal = integrator == "NEWMARK" and (procedure.beta, procedure.gamma) == (0.25, 0.5)
    names = () if trapezoidal else PARAMETERS[integrator]
    parameters = {
        "TIME INTEGRATOR": integrator,
        **{name.upper(): getattr(procedure, name) for name in names},
        "APPLICATION": APPLICATIONS[integrator] if procedure.by_convergence else None,
        "INITIAL": None if procedure.initial_acceleration else "NO",
        "SINGULAR MASS": None if procedure.singular_mass == "ERROR" else procedure.singular_mass,
    }
    return card("DYNAMIC", *flags, **parameters)


def controls_lines(controls: Controls) -> list[str]:
    """Back to the defaults, then everything that differs from them."""
    changed: dict[str, str | int | float | None] = {
        "RESI_GLOB_RELA": controls.residual_relative,
        "RESI_GLOB_MAXI": controls.residual_absolute,
    }
    for name, key in OWN.items():
        value = getattr(controls, name)
        if value != getattr(DEFAULT, name):
            changed[key] = "OFF" if value is None else value
    lines = [card("CONTROLS", "RESET", **changed)]
    if controls.correction_relative is not None:
        lines += ["*CONTROLS, PARAMETERS=FIELD", f", {number(controls.correction_relative)}"]
    cuts = (controls.max_cutbacks, controls.cut_factor, controls.growth_factor)
    if cuts != (DEFAULT.max_cutbacks, DEFAULT.cut_factor, DEFAULT.growth_factor):
        lines += ["*CONTROLS, PARAMETERS=TIME INCREMENTATION", f", , , , , , , {cuts[0]}"]
        lines.append(f"{number(cuts[1])}, , , , , , {number(cuts[2])}")
    return lines


def support_lines(boundaries: Sequence[Boundary], replaced: bool) -> list[str]:
    """``*BOUNDARY`` cards."""
    lines = ["*BOUNDARY, OP=NEW"] if replaced else []
    head = None
    for entry in boundaries:
        wanted = (entry.kind, entry.amplitude, entry.is_imaginary)
        if wanted != head:
            head = wanted
            flags = ["FIXED"] if entry.kind == "FIXED" else []
            flags += ["IMAGINARY"] * entry.is_imaginary
            kind = entry.kind if entry.kind not in ("DISPLACEMENT", "FIXED") else None
            op = "NEW" if replaced else None
            lines.append(card("BOUNDARY", *flags, OP=op, TYPE=kind, AMPLITUDE=entry.amplitude))
        lines.append(f"{field(entry.target)}, {entry.dof}, {entry.dof}, {number(entry.value)}")
    return lines


def load_lines(step: Step) -> list[str]:
    """``*CLOAD``, ``*DLOAD``, ``*TEMPERATURE``."""
    families: dict[str, Sequence[NodalLoad | DistributedLoad | Temperature]]
    families = {"CLOAD": step.nodal_loads, "DLOAD": step.distributed_loads, "TEMPERATURE": step.temperatures}
    lines: list[str] = []
    for keyword, loads in families.items():
        op = "NEW" if keyword in step.replaced else None
        if op:
            lines.append(card(keyword, OP=op))
        head: tuple[str | None, bool] | None = None
        for load in loads:
            wanted = load.amplitude, getattr(load, "is_imaginary", False)
            if wanted != head:
                head = wanted
                lines.append(card(keyword, *["IMAGINARY"] * wanted[1], OP=op, AMPLITUDE=wanted[0]))
            lines.append(load_line(load))
        lines += fluid_lines(step) if keyword == "DLOAD" else []
    return lines


def load_line(load: NodalLoad | DistributedLoad | Temperature) -> str:
    """One data line."""
    if isinstance(load, NodalLoad):
        return f"{field(load.target)}, {load.dof}, {number(load.value)}"
    if isinstance(load, Temperature):
        return f"{field(load.target)}, {number(load.value)}"
    direction = "".join(f", {number(component)}" for component in load.direction) if load.kind == "GRAV" else ""
    return f"{field(load.target)}, {load.kind}, {number(load.value)}{direction}"


def winch_lines(winch: Winch) -> list[str]:
    """A ``*WINCH`` of its own."""
    numbers = [number(winch.value)]
    if winch.is_tension:
        numbers.append("" if winch.speed is None else number(winch.speed))
    flags = ["TENSION"] if winch.is_tension else []
    return [
        card("WINCH", *flags, AMPLITUDE=winch.amplitude),
        ", ".join([field(winch.target), *numbers, str(winch.end)]),
    ]


def output_lines(request: OutputRequest) -> list[str]:
    """One output card, below an ``*OUTPUT`` of its own where it goes by intervals of time."""
    family = request.kind.split()[0]
    target = {"NSET" if family == "NODE" else "ELSET": request.target}
    every, times = request.every, {"TIME POINTS": request.times}
    lines = [card(request.kind, FREQUENCY=every, **target, **times)]
    if request.interval or request.intervals or not request.marks:
        spaces = {"TIME INTERVAL": request.interval, "NUMBER INTERVAL": request.intervals}
        marks = {"TIME MARKS": None if request.marks else "NO"}
        goes_by_time = request.times or any(spaces.values())
        lines = [card("OUTPUT", "HISTORY", FREQUENCY=None if goes_by_time else every, **times, **spaces, **marks)]
        lines.append(card(f"{'ELEMENT' if family == 'EL' else family} OUTPUT", **target))
    return [*lines, *rows_of(list(request.variables), 16)]
