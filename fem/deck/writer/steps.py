"""Steps: procedure, controls, supports, loads, output."""

from __future__ import annotations

from collections.abc import Sequence

from fem.deck.writer.text import card, field, name_text, number, rows_of
from fem.model import (
    ArcEnd,
    Boundary,
    Controls,
    DistributedLoad,
    Dynamic,
    Frequency,
    NodalLoad,
    OutputRequest,
    Static,
    Step,
    Temperature,
)
from fem.model.steps import Procedure

DEFAULT = Controls()


def step_lines(steps: Sequence[Step]) -> list[str]:
    """All steps; NLGEOM and the controls are stated in each."""
    lines: list[str] = []
    for step in steps:
        lines.append(head(step))
        lines += step.title
        lines += procedure_lines(step.procedure)
        lines += controls_lines(step.controls)
        lines += support_lines(step.boundaries, "BOUNDARY" in step.replaced)
        lines += load_lines(step)
        for request in step.outputs:
            lines += output_lines(request)
        lines.append("*END STEP")
    return lines


def head(step: Step) -> str:
    """``*STEP``."""
    line = card("STEP", f"NLGEOM={'YES' if step.nlgeom else 'NO'}", INC=step.max_increments, NAME=step.name)
    line += ", AMPLITUDE=STEP" if step.at_once else ""
    return line if step.extrapolation == "NO" else f"{line}, EXTRAPOLATION={step.extrapolation}"


def procedure_lines(procedure: Procedure) -> list[str]:
    """``*STATIC``, ``*DYNAMIC`` or ``*FREQUENCY``."""
    if isinstance(procedure, Frequency):
        return ["*FREQUENCY", str(procedure.modes)]
    limits = (procedure.dt_min, procedure.dt_max)
    first = number(procedure.dt) if procedure.dt else ""
    times = [first, number(procedure.period), *("" if t is None else number(t) for t in limits)]
    flags = ["DIRECT"] if procedure.direct else []
    if isinstance(procedure, Static):
        if procedure.riks is not None:
            return [card("STATIC", "RIKS", *flags), ", ".join([*times, *arc_end(procedure.riks)])]
        return [card("STATIC", *flags), ", ".join(times)]
    return [dynamic_line(procedure, flags), ", ".join(times)]


def arc_end(end: ArcEnd) -> list[str]:
    """The second half of the data line of ``*STATIC, RIKS``."""
    factor = "" if end.factor is None else number(end.factor)
    return [factor] if end.target is None else [factor, field(end.target), str(end.dof), number(end.value)]


def dynamic_line(procedure: Dynamic, flags: list[str]) -> str:
    """The keyword line of ``*DYNAMIC``."""
    flags.append(f"TIME INTEGRATOR={procedure.integrator}")
    if procedure.integrator == "NEWMARK" and (procedure.beta, procedure.gamma) != (0.25, 0.5):
        flags += [f"BETA={number(procedure.beta)}", f"GAMMA={number(procedure.gamma)}"]
    if procedure.integrator == "HHT":
        flags.append(f"ALPHA={number(procedure.alpha)}")
    if procedure.integrator == "GENERALIZED ALPHA":
        flags.append(f"RHO={number(procedure.rho)}")
    if not procedure.initial_acceleration:
        flags.append("INITIAL=NO")
    if procedure.singular_mass != "ERROR":
        flags.append(f"SINGULAR MASS={procedure.singular_mass}")
    return card("DYNAMIC", *flags)


def controls_lines(controls: Controls) -> list[str]:
    """Back to the defaults, then everything that differs from them."""
    flags = []
    if controls.residual_relative is not None:
        flags.append(f"RESI_GLOB_RELA={number(controls.residual_relative)}")
    if controls.residual_absolute is not None:
        flags.append(f"RESI_GLOB_MAXI={number(controls.residual_absolute)}")
    if controls.max_iterations != DEFAULT.max_iterations:
        flags.append(f"ITER_GLOB_MAXI={controls.max_iterations}")
    if controls.energy_drift != DEFAULT.energy_drift:
        flags.append(f"ENERGY DRIFT={'OFF' if controls.energy_drift is None else number(controls.energy_drift)}")
    if controls.time_error != DEFAULT.time_error:
        flags.append(f"TIME ERROR={'OFF' if controls.time_error is None else number(controls.time_error)}")
    if controls.impact != DEFAULT.impact:
        flags.append(f"IMPACT={controls.impact}")
    lines = [card("CONTROLS", "RESET", *flags)]
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
        wanted = (entry.kind, entry.amplitude)
        if wanted != head:
            head = wanted
            kind = entry.kind if entry.kind != "DISPLACEMENT" else None
            op = "NEW" if replaced else None
            lines.append(card("BOUNDARY", OP=op, TYPE=kind, AMPLITUDE=entry.amplitude))
        lines.append(f"{field(entry.target)}, {entry.dof}, {entry.dof}, {number(entry.value)}")
    return lines


def load_lines(step: Step) -> list[str]:
    """``*CLOAD``, ``*DLOAD``, ``*TEMPERATURE``."""
    families: tuple[tuple[str, Sequence[NodalLoad | DistributedLoad | Temperature]], ...] = (
        ("CLOAD", step.nodal_loads),
        ("DLOAD", step.distributed_loads),
        ("TEMPERATURE", step.temperatures),
    )
    lines: list[str] = []
    for keyword, loads in families:
        op = "NEW" if keyword in step.replaced else None
        if op:
            lines.append(card(keyword, OP=op))
        amplitude: str | bool | None = True
        for load in loads:
            if load.amplitude != amplitude:
                amplitude = load.amplitude
                lines.append(card(keyword, OP=op, AMPLITUDE=amplitude))
            lines.append(load_line(load))
    return lines


def load_line(load: NodalLoad | DistributedLoad | Temperature) -> str:
    """One data line."""
    if isinstance(load, NodalLoad):
        return f"{field(load.target)}, {load.dof}, {number(load.value)}"
    if isinstance(load, Temperature):
        return f"{field(load.target)}, {number(load.value)}"
    direction = "".join(f", {number(component)}" for component in load.direction) if load.kind == "GRAV" else ""
    return f"{field(load.target)}, {load.kind}, {number(load.value)}{direction}"


def output_lines(request: OutputRequest) -> list[str]:
    """One output card."""
    family = "NSET" if request.kind.startswith("NODE") else "ELSET"
    line = card(request.kind, FREQUENCY=request.every, **{family: request.target})
    if request.times is not None:
        line += f", TIME POINTS={name_text(request.times)}"
    return [line, *rows_of(list(request.variables), 16)]
