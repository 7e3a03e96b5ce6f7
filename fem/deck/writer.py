"""``Model`` to deck text that reads back as an equal model; floats by ``repr``, so that no digit is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from fem.deck.beams import written_beam
from fem.deck.conditions import NODAL_TEMPERATURE, NODAL_VALUE, RIGID_BODY
from fem.deck.fluids import AQUA, MARINE_GROWTH, OF_WATER, written_wind
from fem.deck.kinds import number, quoted
from fem.deck.loads import FAILING, HAULING, KEEPING, NODAL_FORCE
from fem.deck.materials import ROWS
from fem.deck.sections import LISTED, MASS, OTHERS, ROTARY_INERTIA, SOLID_SECTION
from fem.deck.steps import DEFAULT, OURS
from fem.deck.surfaces import AXIS, NORMAL, RIGID_CYLINDER, STOP_PLANE, contact_lines, seabed_lines
from fem.deck.table import keyword_line
from fem.deck.waves import OF_ALL, OF_SEAS, PLACE, SEA
from fem.model import Airy, FluidLoad, Material, Mesh, Model, Step
from fem.model.loads import Boundary, DistributedLoad, NodalLoad, Temperature
from fem.model.steps import PARAMETERS, Dynamic, OutputRequest, SteadyState

WORDS = frozenset({"DEFINITION", "TIME", "TYPE", "MASS", "TIME INTEGRATOR"})
"""Parameters whose values are fixed words, never quoted."""


def card(keyword: str, *flags: str, **parameters: str | int | float | None) -> str:
    """A keyword line; parameters that are None are left out."""
    given = {name: value for name, value in parameters.items() if value is not None}
    texts = {
        name: number(value) if isinstance(value, float) else str(value) if name in WORDS else quoted(value)
        for name, value in given.items()
    }
    return keyword_line(keyword, *flags, **texts)


def table(rows: Iterable[Iterable[float]]) -> list[str]:
    return [", ".join(map(number, row)) for row in rows]


def rows_of(entries: list[str], width: int) -> list[str]:
    """Entries, ``width`` a line."""
    return [", ".join(entries[start : start + width]) for start in range(0, len(entries), width)]


def write_deck(model: Model) -> str:
    """The text of a deck for a model. Parameters and includes of the original deck are not restored.

    model  as from ``read_deck``, or made of one by ``dataclasses.replace``

    >>> model = fem.read_deck("inputs/cable_net.inp")
    >>> fem.parse_deck(fem.write_deck(model)) == model
    True
    """
    labels = model.mesh.node_labels
    lines = ["*HEADING", *model.heading] if model.heading else []
    lines += mesh_lines(model.mesh)
    lines += property_lines(model)
    lines += surroundings_lines(model)
    for amplitude in model.amplitudes.values():
        spacing = "LOGARITHMIC" if amplitude.is_logarithmic else None
        head = {"NAME": amplitude.name, "DEFINITION": amplitude.definition, "TIME": amplitude.time, "SPACING": spacing}
        if amplitude.definition == "USER":
            lines += [card("AMPLITUDE", **head | {"TIME": None}), number(amplitude.points[0, 1])]
            continue
        lines.append(card("AMPLITUDE", **head))
        if amplitude.definition == "PERIODIC":
            first = (amplitude.omega, amplitude.start, amplitude.mean)
            lines.append(", ".join((str(len(amplitude.fourier)), *map(number, first))))
        if amplitude.definition == "SWEEP":
            ends = (amplitude.omega, amplitude.omega_end, amplitude.duration)
            lines += table([(*ends, amplitude.start, amplitude.mean)])
        lines += table((*amplitude.points.tolist(), *amplitude.fourier))
    for name, instants in model.time_points.items():
        lines += [card("TIME POINTS", NAME=name), *map(number, instants)]
    for equation in model.equations:
        lines += ["*EQUATION", str(len(equation.terms))]
        lines += [f"{labels[node]}, {dof}, {number(coefficient)}" for node, dof, coefficient in equation.terms]
    if model.links:
        lines += ["*MPC", *(f"LINK, {labels[first]}, {labels[second]}" for first, second in model.links)]
    for condition in model.initial_conditions:
        line = NODAL_VALUE if condition.dof else NODAL_TEMPERATURE
        lines += [card("INITIAL CONDITIONS", TYPE=condition.kind), line.written(condition)]
    lines += [keyword_line("RIGID BODY", **RIGID_BODY.written(body)) for body in (*model.bodies, *model.free_bodies)]
    for plane in model.planes:
        lines += [keyword_line("STOP PLANE", **STOP_PLANE.written(plane)), NORMAL.written(plane)]
    lines += support_lines((*model.boundaries, *model.rotations), replaced=False)
    if model.earlier is not None:
        flags = ["READ", *(["END STEP"] if model.earlier.ends_step else [])]
        lines.append(card("RESTART", *flags, STEP=model.earlier.step, INC=model.earlier.increment))
    if model.restart_every is not None:
        lines.append(card("RESTART", "WRITE", FREQUENCY=model.restart_every or None))
    lines += step_lines(model)
    return "\n".join(lines) + "\n"


SET_WIDTH = 16


def mesh_lines(mesh: Mesh) -> list[str]:
    """``*NODE``, one ``*ELEMENT`` per block, then the sets."""
    labels = mesh.node_labels
    lines = ["*NODE"] if len(labels) else []
    for label, place in zip(labels.tolist(), mesh.coordinates.tolist(), strict=True):
        lines.append(f"{label}, {', '.join(map(number, place))}")
    for block in mesh.blocks:
        lines.append(card("ELEMENT", TYPE=block.kind))
        for label, nodes in zip(block.labels.tolist(), labels[block.connectivity].tolist(), strict=True):
            lines.append(", ".join(map(str, (label, *nodes))))
    elements = mesh.element_labels
    for name, members in mesh.node_sets.items():
        lines += [card("NSET", NSET=name), *rows_of(list(map(str, labels[members].tolist())), SET_WIDTH)]
    for name, members in mesh.element_sets.items():
        lines += [card("ELSET", ELSET=name), *rows_of(list(map(str, elements[members].tolist())), SET_WIDTH)]
    return lines


def property_lines(model: Model) -> list[str]:
    lines = [line for material in model.materials.values() for line in material_lines(material)]
    for section in model.sections:
        lines += written_beam(section) if section.inertia else SOLID_SECTION.written("SOLID SECTION", section)
    for spring in model.springs:
        flags = ("NONLINEAR",) if spring.table else ()
        lines += [card("SPRING", *flags, ELSET=spring.element_set), dof_line(spring.dofs)]
        lines += table(spring.table or [[spring.stiffness]])
    for dashpot in model.dashpots:
        lines += [card("DASHPOT", ELSET=dashpot.element_set), dof_line(dashpot.dofs), number(dashpot.coefficient)]
    lines += MASS.written("MASS", *model.masses)
    lines += ROTARY_INERTIA.written("ROTARY INERTIA", *model.inertias)
    for name, form in LISTED.items():
        made = getattr(model, form.into)
        lines += form.written(name, *(each for each in made if form.into != OTHERS or isinstance(each, form.make)))  # type: ignore[arg-type]
    for failure in model.failures:
        lines += [card("FAILURE", TYPE=failure.kind), FAILING[failure.kind].written(failure)]
    for bed in model.seabeds:
        lines += seabed_lines(bed)
    for tube in model.cylinders:
        head = keyword_line("RIGID CYLINDER", **RIGID_CYLINDER.written(tube))
        lines += [head, AXIS.written(tube), *contact_lines(tube)]
    return lines


def rope_law_lines(material: Material) -> list[str]:
    lines: list[str] = []
    if (given := material.uniaxial) is not None:
        lines.append(card("UNIAXIAL", **{"LARGEST STRESS": given.largest or None}))
        lines.append(card("LOADING DATA", TYPE=given.kind, EXTRAPOLATION="LINEAR" if given.is_extended else None))
        lines += table(given.loading)
        lines += [card("UNLOADING DATA", DEFINITION=given.definition)] if given.definition else []
        lines += table(given.unloading)
    if (own := material.plastic) is not None:
        given_as = "PARAMETERS" if own.hardening == "COMBINED" else None
        lines.append(card("PLASTIC", **{"HARDENING": own.hardening, "DATA TYPE": given_as}))
        flat = [number for pair in own.back for number in pair]
        lines += table([[own.rows[0][0], *flat]]) if own.back else table(own.rows)
        if own.growth != (0.0, 0.0):
            lines += [card("CYCLIC HARDENING", "PARAMETERS"), *table([[own.rows[0][0], *own.growth]])]
    if (series := material.viscoelastic) is not None:
        lines.append(card("VISCOELASTIC", TIME=series.series))
        between = ", " if series.series == "KELVIN" else ", , "
        lines += [f"{number(fraction)}{between}{number(time)}" for fraction, time in series.rows]
    return lines


PLAIN_MATERIAL = Material("")


def material_lines(material: Material) -> list[str]:
    """``*MATERIAL`` and its cards, without those that give default values."""
    lines = [card("MATERIAL", NAME=material.name)]
    for name, form in ROWS.items():
        if any(getattr(material, field) != getattr(PLAIN_MATERIAL, field) for field in form.fields()):
            lines += form.written(name, getattr(material, form.into) if form.into else material)
        if name == "ELASTIC":
            lines += rope_law_lines(material)
        if name == "DENSITY" and (own := material.expansion) is not None:
            lines += [card("EXPANSION", ZERO=own.zero), *table(own.rows)]
    return lines


def dof_line(dofs: tuple[int, ...]) -> str:
    """Blank for axial elements, as CalculiX requires."""
    return ", ".join(map(str, dofs))


def step_lines(model: Model) -> list[str]:
    """All steps; NLGEOM and the controls are stated in each."""
    lines: list[str] = []
    for step in model.steps:
        is_default = step.extrapolation == "NO" and not any(each.fluid_loads for each in model.steps)
        extrapolation = None if is_default else step.extrapolation
        given = {"INC": step.max_increments, "NAME": step.name, "EXTRAPOLATION": extrapolation}
        lines.append(card("STEP", f"NLGEOM={'YES' if step.nlgeom else 'NO'}", **given, AMPLITUDE=step.amplitude))
        lines += step.title
        lines += procedure_lines(step)
        own = [keyword_line("CONTROLS", "RESET", **OURS.written(step.controls))]
        if step.controls.correction_relative is not None:
            own += ["*CONTROLS, PARAMETERS=FIELD", f", {number(step.controls.correction_relative)}"]
        cuts = (step.controls.max_cutbacks, step.controls.cut_factor, step.controls.growth_factor)
        if cuts != (DEFAULT.max_cutbacks, DEFAULT.cut_factor, DEFAULT.growth_factor):
            own += ["*CONTROLS, PARAMETERS=TIME INCREMENTATION", f", , , , , , , {cuts[0]}"]
            own.append(f"{number(cuts[1])}, , , , , , {number(cuts[2])}")
        lines += own
        is_new = "BOUNDARY" in step.replaced
        stays = held_on(model, step) if is_new else []
        lines += support_lines((*step.boundaries, *step.rotations, *stays), is_new)
        lines += load_lines(step)
        for winch in step.winches:
            lines.append(card("WINCH", *["TENSION"] * winch.is_tension, AMPLITUDE=winch.amplitude))
            lines.append((KEEPING if winch.is_tension else HAULING).written(winch))
        lines += ["*MODEL CHANGE, REMOVE", *map(quoted, step.removals)] if step.removals else []
        for change, names in (("REMOVE", step.shed), ("ADD", step.put)):
            lines += [f"*MODEL CHANGE, TYPE=NONSTRUCTURAL MASS, {change}", *names] if names else []
        lines += [line for request in step.outputs for line in output_lines(request)]
        lines.append("*END STEP")
    return lines


def procedure_lines(step: Step) -> list[str]:
    if step.modes:
        return ["*FREQUENCY", str(step.modes.modes)]
    if step.buckling:
        return ["*BUCKLE", str(step.buckling.factors)]
    if step.harmonic:
        return steady_state_lines(step.harmonic)
    procedure = step.timed
    numbers = (procedure.dt or None, procedure.period, procedure.dt_min, procedure.dt_max)
    times = ["" if each is None else number(each) for each in numbers]
    flags = ["DIRECT"] if procedure.direct else []
    if step.dynamic:
        return [dynamic_line(step.dynamic, flags), ", ".join(times)]
    end = step.static.riks if step.static else None
    if end is None:
        return [card("VISCO" if step.static and step.static.creeps else "STATIC", *flags), ", ".join(times)]
    times.append("" if end.factor is None else number(end.factor))
    times += [] if end.target is None else [quoted(end.target), str(end.dof), number(end.value)]
    return [card("STATIC", "RIKS", *flags), ", ".join(times)]


def steady_state_lines(procedure: SteadyState) -> list[str]:
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
"""Integrators whose increments follow convergence."""


def dynamic_line(procedure: Dynamic, flags: list[str]) -> str:
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


def held_on(model: Model, step: Step) -> list[Boundary]:
    """Rotations of clamps, which no step may release: OP=NEW has to name them again."""
    bodies, named = {body.node for body in model.bodies}, {(each.target, each.dof) for each in step.rotations}
    clamps = (each for each in model.rotations if each.target not in bodies)
    return [each for each in clamps if (each.target, each.dof) not in named]


def support_lines(boundaries: Sequence[Boundary], replaced: bool) -> list[str]:
    lines = ["*BOUNDARY, OP=NEW"] if replaced else []
    groups = groupby(boundaries, lambda each: (each.kind, each.amplitude, each.is_imaginary))
    for (kind, amplitude, late), own in groups:
        flags = ["FIXED"] * (kind == "FIXED") + ["IMAGINARY"] * late
        stated = None if kind in ("DISPLACEMENT", "FIXED") else kind
        lines.append(card("BOUNDARY", *flags, OP="NEW" if replaced else None, TYPE=stated, AMPLITUDE=amplitude))
        lines += [f"{quoted(each.target)}, {each.dof}, {each.dof}, {number(each.value)}" for each in own]
    return lines


def load_lines(step: Step) -> list[str]:
    families: dict[str, Sequence[NodalLoad | DistributedLoad | Temperature]]
    nodal = (*step.nodal_loads, *step.moments)
    families = {"CLOAD": nodal, "DLOAD": step.distributed_loads, "TEMPERATURE": step.temperatures}
    lines: list[str] = []
    for keyword, loads in families.items():
        op = "NEW" if keyword in step.replaced else None
        lines += [card(keyword, OP=op)] if op else []
        groups = groupby(loads, lambda load: (load.amplitude, getattr(load, "is_imaginary", False)))
        for (amplitude, late), own in groups:
            lines.append(card(keyword, *["IMAGINARY"] * late, OP=op, AMPLITUDE=amplitude))
            for load in own:
                if isinstance(load, NodalLoad | Temperature):
                    lines.append((NODAL_FORCE if isinstance(load, NodalLoad) else NODAL_TEMPERATURE).written(load))
                else:
                    direction = load.direction if load.kind == "GRAV" else ()
                    lines.append(", ".join((quoted(load.target), load.kind, *map(number, (load.value, *direction)))))
        lines += fluid_lines(step) if keyword == "DLOAD" else []
    return lines


def output_lines(request: OutputRequest) -> list[str]:
    """One output card, below an ``*OUTPUT`` of its own if it has intervals of time."""
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


def surroundings_lines(model: Model) -> list[str]:
    lines: list[str] = []
    if model.water is not None:
        head = keyword_line("AQUA", **OF_WATER.written(model.water))
        lines += [head, AQUA.written(model.water), *table(model.water.current)]
    if model.wind is not None:
        lines += written_wind(model.wind)
    for wave in model.waves:
        if isinstance(wave, Airy):
            place = {name: number(at) for name, at in zip(PLACE, wave.place, strict=True) if at}
            head = keyword_line("WAVE", TYPE="AIRY", **OF_ALL.written(wave), **place) + ", WAVE PERIOD" * wave.is_period
            lines += [head, *table(wave.rows)]
        else:
            head = keyword_line("WAVE", TYPE="JONSWAP", **OF_SEAS.written(wave), **OF_ALL.written(wave))
            lines += [head, SEA.written(wave)]
    for rao in model.raos.values():
        lines += [card("RAO", NAME=rao.name, BY="OMEGA", OUTSIDE=rao.outside), *table(rao.rows)]
    for law in model.drag_laws.values():
        lines += [card("DRAG LAW", NAME=law.name, BY="ANGLE" if law.is_by_angle else None), *table(law.rows)]
    for growth in model.growths:
        lines.append(keyword_line("MARINE GROWTH", **MARINE_GROWTH.written(growth)))
        lines += table((thickness, density, elevation) for elevation, thickness, density in growth.rows)
    return lines


def fluid_lines(step: Step) -> list[str]:
    """``*DLOAD`` of water and wind, ``*D ADDED MASS``; OP=NEW has been written before."""
    lines: list[str] = []
    for load in (each for each in step.fluid_loads if each.kind == "ADDED MASS"):
        lines += ["*D ADDED MASS", f"{quoted(load.target)}, FI, {number(load.diameter)}, {number(load.added)}"]
    flows = [each for each in step.fluid_loads if each.kind != "ADDED MASS"]
    op = "NEW" if "DLOAD" in step.replaced else None
    for (amplitude, is_current), own in groupby(flows, lambda load: (load.amplitude, load.is_current)):
        lines.append(card("DLOAD", OP=op, AMPLITUDE=amplitude, LENGTH="CURRENT" if is_current else None))
        for load in own:
            numbers = number(load.magnitude), number(load.diameter), *rest(load)
            lines.append(", ".join((quoted(load.target), load.kind, *numbers)))
    return lines


def rest(load: FluidLoad) -> list[str]:
    if load.kind == "PB":
        return []
    coefficient = quoted(load.coefficient) if isinstance(load.coefficient, str) else number(load.coefficient)
    streams = [quoted(name) for name in load.streams]
    if load.kind == "FI":
        along = "" if load.added_along is None else number(load.added_along)
        return [coefficient, number(load.added), streams[1], along]
    exponent = {"FDT": [number(load.exponent)], "FLD": [number(load.angle)]}.get(load.kind, [])
    return [coefficient, number(load.follows), *exponent, *streams]


# The text of a deck with other increments; comments, parameters, includes and all else are unchanged.
def with_increments(text: str, steps: Sequence[Step]) -> str:
    """The text with the increments of these steps, one for each ``*STEP`` in it.
    Only cards in the usual notation are changed, and only in this text, not in included files: the caller must read
    the result and compare."""
    lines = text.split("\n")
    rest, step, found = iter(steps), None, False
    for k, line in enumerate(lines):
        name = line.partition(",")[0].strip().upper()
        if name == "*STEP":
            step = next(rest, None)
            if step is not None and step.max_increments:
                lines[k] = re.sub(r"(?i)(\bINC\s*=\s*)\d+", rf"\g<1>{step.max_increments}", line)
        elif name.startswith("*") and not name.startswith("**"):
            found = name in ("*DYNAMIC", "*STATIC")
        elif found and step is not None and line.strip() and not name.startswith("**"):
            lines[k], found = with_numbers(line, step), False
    return "\n".join(lines)


def with_numbers(line: str, step: Step) -> str:
    """The data line of a procedure: increment, period, smallest and largest increment; blank entries stay blank."""
    if step.static and not step.static.creeps:
        return line  # no time passes in it
    fields = line.split(",")
    for place, name in ((0, "dt"), (2, "dt_min"), (3, "dt_max")):
        value = getattr(step.procedure, name, None)
        if place < len(fields) and fields[place].strip() and value is not None:
            space = " " if fields[place].startswith(" ") else ""
            fields[place] = space + number(value)
    return ",".join(fields)
