"""Materials, sections, springs, dashpots, masses."""

from __future__ import annotations

from fem.deck.writer.text import card, field, number
from fem.model import Material, Model, RestLength, RigidCylinder, Seabed


def property_lines(model: Model) -> list[str]:
    """Every property card."""
    lines = [line for material in model.materials.values() for line in material_lines(material)]
    for section in model.sections:
        extras = {"MASS": section.mass_rule, "STRAIN": section.strain}
        tension = {"STARTING TENSION": section.starting_tension or None}
        head = card("SOLID SECTION", ELSET=section.element_set, MATERIAL=section.material, **extras, **tension)
        lines += [head, number(section.area)]
    for spring in model.springs:
        flags = ("NONLINEAR",) if spring.table else ()
        lines += [card("SPRING", *flags, ELSET=spring.element_set), dof_line(spring.dofs)]
        table = [f"{number(force)}, {number(elongation)}" for force, elongation in spring.table]
        lines += table or [number(spring.stiffness)]
    for dashpot in model.dashpots:
        lines += [card("DASHPOT", ELSET=dashpot.element_set), dof_line(dashpot.dofs), number(dashpot.coefficient)]
    for mass in model.masses:
        lines += [card("MASS", ELSET=mass.element_set, ALPHA=mass.alpha or None), number(mass.mass)]
    for carried in model.nonstructural:
        units = "TOTAL MASS" if carried.is_total else "MASS PER LENGTH"
        lines += [card("NONSTRUCTURAL MASS", ELSET=carried.element_set, UNITS=units, NAME=carried.name)]
        lines += [number(carried.value)]
    if model.rest_lengths:
        lines += ["*REST LENGTH", *map(rest_line, model.rest_lengths)]
    for pulley in model.pulleys:
        lines += [card("PULLEY", ELSET=pulley.element_set), number(pulley.friction)]
    for failure in model.failures:
        lines += [card("FAILURE", TYPE=failure.kind), f"{field(failure.target)}, {number(failure.value)}"]
    for bed in model.seabeds:
        plane = {"ELEVATION": bed.elevation, "SLOPE": bed.slope, "UPHILL": bed.uphill}
        friction = "ALL" if bed.rubs_in_statics else "DYNAMIC"
        lines += [card("SEABED", ELSET=bed.element_set, **plane, FRICTION=friction), *contact_lines(bed)]
    for cylinder in model.cylinders:
        friction = "ALL" if cylinder.rubs_in_statics else "DYNAMIC"
        lines.append(card("RIGID CYLINDER", ELSET=cylinder.element_set, RADIUS=cylinder.radius, FRICTION=friction))
        lines += [", ".join(map(number, (*cylinder.point, *cylinder.other))), *contact_lines(cylinder)]
    return lines


def contact_lines(surface: Seabed | RigidCylinder) -> list[str]:
    """How it presses and rubs."""
    lines = [", ".join(map(number, (surface.stiffness, surface.damping, surface.width, surface.ramp)))]
    return lines + ([", ".join(map(number, (surface.axial, surface.lateral, surface.slip)))] if surface.slip else [])


def material_lines(material: Material) -> list[str]:
    """``*MATERIAL`` and its cards."""
    lines = [card("MATERIAL", NAME=material.name)]
    if material.is_inextensible:
        lines.append(card("INEXTENSIBLE", RESTITUTION=material.restitution or None))
    if material.young is not None:
        moduli = "INSTANTANEOUS" if material.is_instant else None
        lines += [card("ELASTIC", MODULI=moduli), f"{number(material.young)}, {number(material.poisson)}"]
    lines += rope_law_lines(material)
    if material.density:
        lines += ["*DENSITY", number(material.density)]
    if material.expansion is not None:
        lines.append(card("EXPANSION", ZERO=material.expansion.zero))
        lines += [f"{number(alpha)}, {number(temperature)}" for alpha, temperature in material.expansion.rows]
    if material.alpha or material.beta:
        lines.append(card("DAMPING", ALPHA=material.alpha, BETA=material.beta))
    if material.compression_ratio != 1.0:
        lines.append(card("NO COMPRESSION", RATIO=material.compression_ratio))
    if material.tension_ratio != 1.0:
        lines.append("*NO TENSION")
    return lines


def rest_line(rest: RestLength) -> str:
    """Elements and their rest length, or the two that meet at a pulley."""
    return ", ".join((field(rest.target), *(number(each) for each in (rest.length, rest.second) if each is not None)))


def rope_law_lines(material: Material) -> list[str]:
    """``*UNIAXIAL`` with its curves, ``*VISCOELASTIC``, ``*DYNAMIC STIFFNESS``."""
    lines: list[str] = []
    if (given := material.uniaxial) is not None:
        lines.append(card("UNIAXIAL", **{"LARGEST STRESS": given.largest or None}))
        extrapolation = "LINEAR" if given.is_extended else None
        lines.append(card("LOADING DATA", TYPE=given.kind, EXTRAPOLATION=extrapolation))
        lines += [f"{number(stress)}, {number(strain)}" for stress, strain in given.loading]
        lines += [card("UNLOADING DATA", DEFINITION=given.definition)] if given.definition else []
        lines += [f"{number(stress)}, {number(strain)}" for stress, strain in given.unloading]
    if (series := material.viscoelastic) is not None:
        lines.append(card("VISCOELASTIC", TIME=series.series))
        between = ", " if series.series == "KELVIN" else ", , "
        lines += [f"{number(fraction)}{between}{number(time)}" for fraction, time in series.rows]
    if (dynamic := material.dynamic) is not None:
        numbers = dynamic.constant, dynamic.slope, dynamic.viscosity
        lines += ["*DYNAMIC STIFFNESS", ", ".join(map(number, numbers))]
    return lines


def dof_line(dofs: tuple[int, ...]) -> str:
    """Blank for axial elements, as CalculiX wants it."""
    return ", ".join(map(str, dofs))
