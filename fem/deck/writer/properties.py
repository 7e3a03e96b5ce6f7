"""Materials, sections, springs, dashpots, masses."""

from __future__ import annotations

from fem.deck.writer.text import card, field, number
from fem.model import Material, Model


def property_lines(model: Model) -> list[str]:
    """Every property card."""
    lines = [line for material in model.materials.values() for line in material_lines(material)]
    for section in model.sections:
        extras = {
            "MASS": section.mass_rule,
            "STRAIN": section.strain,
            "STARTING TENSION": section.starting_tension or None,
        }
        lines.append(card("SOLID SECTION", ELSET=section.element_set, MATERIAL=section.material, **extras))
        lines.append(number(section.area))
    for spring in model.springs:
        flags = ("NONLINEAR",) if spring.table else ()
        lines += [card("SPRING", *flags, ELSET=spring.element_set), dof_line(spring.dofs)]
        table = [f"{number(force)}, {number(elongation)}" for force, elongation in spring.table]
        lines += table or [number(spring.stiffness)]
    for dashpot in model.dashpots:
        lines += [card("DASHPOT", ELSET=dashpot.element_set), dof_line(dashpot.dofs), number(dashpot.coefficient)]
    for mass in model.masses:
        lines += [card("MASS", ELSET=mass.element_set, ALPHA=mass.alpha or None), number(mass.mass)]
    if model.rest_lengths:
        lines += ["*REST LENGTH", *(f"{field(rest.target)}, {number(rest.length)}" for rest in model.rest_lengths)]
    for failure in model.failures:
        lines += [card("FAILURE", TYPE=failure.kind), f"{field(failure.target)}, {number(failure.value)}"]
    for bed in model.seabeds:
        plane = {"ELEVATION": bed.elevation, "SLOPE": bed.slope, "UPHILL": bed.uphill}
        head = card("SEABED", ELSET=bed.element_set, **plane, FRICTION="ALL" if bed.rubs_in_statics else "DYNAMIC")
        lines += [head, ", ".join(map(number, (bed.stiffness, bed.damping, bed.width, bed.ramp)))]
        lines += [", ".join(map(number, (bed.axial, bed.lateral, bed.slip)))] if bed.slip else []
    return lines


def material_lines(material: Material) -> list[str]:
    """``*MATERIAL`` and its cards."""
    lines = [card("MATERIAL", NAME=material.name)]
    if material.is_inextensible:
        lines.append(card("INEXTENSIBLE", RESTITUTION=material.restitution or None))
    if material.young is not None:
        lines += ["*ELASTIC", f"{number(material.young)}, {number(material.poisson)}"]
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


def dof_line(dofs: tuple[int, ...]) -> str:
    """Blank for axial elements, as CalculiX wants it."""
    return ", ".join(map(str, dofs))
