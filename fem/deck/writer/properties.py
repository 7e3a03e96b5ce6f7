"""Materials, sections, springs, dashpots, masses."""

from __future__ import annotations

from fem.deck.writer.text import card, field, number
from fem.model import BarSection, Dashpot, Material, Model, PointMass, Spring


def property_lines(model: Model) -> list[str]:
    """Every property card."""
    lines: list[str] = []
    for material in model.materials.values():
        lines += material_lines(material)
    for section in model.sections:
        lines += section_lines(section)
    for spring in model.springs:
        lines += spring_lines(spring)
    for dashpot in model.dashpots:
        lines += dashpot_lines(dashpot)
    for mass in model.masses:
        lines += mass_lines(mass)
    if model.rest_lengths:
        lines += ["*REST LENGTH", *(f"{field(rest.target)}, {number(rest.length)}" for rest in model.rest_lengths)]
    return lines


def material_lines(material: Material) -> list[str]:
    """``*MATERIAL`` and its cards."""
    lines = [card("MATERIAL", NAME=material.name)]
    if material.is_inextensible:
        lines.append(card("INEXTENSIBLE", RESTITUTION=float(material.restitution) if material.restitution else None))
    if material.young is not None:
        lines += ["*ELASTIC", f"{number(material.young)}, {number(material.poisson)}"]
    if material.density:
        lines += ["*DENSITY", number(material.density)]
    if material.expansion is not None:
        lines.append(card("EXPANSION", ZERO=float(material.expansion.zero)))
        lines += [f"{number(alpha)}, {number(temperature)}" for alpha, temperature in material.expansion.rows]
    if material.alpha or material.beta:
        lines.append(card("DAMPING", ALPHA=float(material.alpha), BETA=float(material.beta)))
    if material.compression_ratio != 1.0:
        lines.append(card("NO COMPRESSION", RATIO=float(material.compression_ratio)))
    if material.tension_ratio != 1.0:
        lines.append("*NO TENSION")
    return lines


def section_lines(section: BarSection) -> list[str]:
    """``*SOLID SECTION``."""
    line = card("SOLID SECTION", ELSET=section.element_set, MATERIAL=section.material)
    line += f", MASS={section.mass_rule}, STRAIN={section.strain}"
    if section.starting_tension:
        line += f", STARTING TENSION={number(section.starting_tension)}"
    return [line, number(section.area)]


def spring_lines(spring: Spring) -> list[str]:
    """``*SPRING``: the dof line is blank for axial springs, as CalculiX wants it."""
    flags = ("NONLINEAR",) if spring.table else ()
    lines = [card("SPRING", *flags, ELSET=spring.element_set), ", ".join(map(str, spring.dofs))]
    if spring.table:
        return lines + [f"{number(force)}, {number(elongation)}" for force, elongation in spring.table]
    return [*lines, number(spring.stiffness)]


def dashpot_lines(dashpot: Dashpot) -> list[str]:
    """``*DASHPOT``."""
    return [
        card("DASHPOT", ELSET=dashpot.element_set),
        ", ".join(map(str, dashpot.dofs)),
        number(dashpot.coefficient),
    ]


def mass_lines(mass: PointMass) -> list[str]:
    """``*MASS``."""
    return [card("MASS", ELSET=mass.element_set, ALPHA=float(mass.alpha) if mass.alpha else None), number(mass.mass)]
