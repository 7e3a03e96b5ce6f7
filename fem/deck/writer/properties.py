"""Materials, sections, springs, dashpots, masses."""

from __future__ import annotations

from fem.deck.writer.text import card, number
from fem.model import BarSection, Material, Model, Spring


def property_lines(model: Model) -> list[str]:
    """Every property card."""
    lines = [line for material in model.materials.values() for line in material_lines(material)]
    lines += [line for section in model.sections for line in section_lines(section)]
    lines += [line for spring in model.springs for line in spring_lines(spring)]
    for dashpot in model.dashpots:
        lines += [card("DASHPOT", ELSET=dashpot.element_set), dof_line(dashpot.dofs), number(dashpot.coefficient)]
    for mass in model.masses:
        lines += [card("MASS", ELSET=mass.element_set, ALPHA=mass.alpha or None), number(mass.mass)]
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


def section_lines(section: BarSection) -> list[str]:
    """``*SOLID SECTION``."""
    extras = {"MASS": section.mass_rule, "STRAIN": section.strain, "STARTING TENSION": section.starting_tension or None}
    line = card("SOLID SECTION", ELSET=section.element_set, MATERIAL=section.material, **extras)
    return [line, number(section.area)]


def spring_lines(spring: Spring) -> list[str]:
    """``*SPRING``."""
    flags = ("NONLINEAR",) if spring.table else ()
    lines = [card("SPRING", *flags, ELSET=spring.element_set), dof_line(spring.dofs)]
    table = [f"{number(force)}, {number(elongation)}" for force, elongation in spring.table]
    return lines + (table or [number(spring.stiffness)])


def dof_line(dofs: tuple[int, ...]) -> str:
    """Blank for axial elements, as CalculiX wants it."""
    return ", ".join(map(str, dofs))
