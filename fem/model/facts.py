"""Properties of elements that many packages need: natural length, mass per natural length, section, force over stretch.

Arrays (k,) are in the order of the elements. Arrays for kernels are made from these (``fem/assembly/system.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.model import BarSection, Material, Model, NonstructuralMass, RestLength
from fem.model.mesh import Mesh
from fem.model.surroundings import MarineGrowth

Members: TypeAlias = Callable[[str], Ints | Flags]
"""Maps the name of a set to the elements in it, among those asked about."""


def distances(mesh: Mesh) -> Floats:
    """(k,) distance of the nodes of each element, 0 for one-node elements; for a rope over a pulley, of both legs."""
    legs, owner = mesh.legs
    with np.errstate(over="ignore"):  # infinite: assembly refuses such a bar
        apart = np.linalg.norm(np.diff(mesh.coordinates[legs], axis=1)[:, 0], axis=1)
    return np.asarray(np.bincount(owner, apart, len(mesh.element_nodes)), float)


def given_lengths(mesh: Mesh, rests: Iterable[RestLength]) -> Floats:
    """(k,) natural lengths by ``*REST LENGTH``, for a rope over a pulley of both legs; NaN for all others."""
    labels = mesh.element_labels.tolist()
    given, index = np.full(len(labels), np.nan), dict(zip(labels, range(len(labels)), strict=True))
    for rest in rests:
        given[mesh.element_sets[rest.target] if isinstance(rest.target, str) else index[rest.target]] = rest.whole
    return given


def natural_lengths(mesh: Mesh, rests: Iterable[RestLength]) -> Floats:
    """(k,) natural length L0 at the start of the run: as given by ``*REST LENGTH``, else the distance of the nodes."""
    given = given_lengths(mesh, rests)
    return np.where(np.isnan(given), distances(mesh), given)


def carried_by(masses: Iterable[NonstructuralMass], members: Members, length: Floats) -> Floats:
    """(k,) nonstructural mass per natural length; length (k,): natural lengths."""
    carried = np.zeros(len(length))
    for mass in masses:
        on = members(mass.element_set)
        carried[on] += mass.value / length[on].sum() if mass.is_total else mass.value
    return carried


def grown_at(growths: Iterable[MarineGrowth], members: Members, heights: Floats) -> tuple[Floats, Floats]:
    """(k,) thickness of the marine growth on elements at heights (k,), and (k,) its mass per natural length."""
    thickness, mass = np.zeros((2, len(heights)))
    for growth in growths:
        on = members(growth.element_set)
        thickness[on], mass[on] = growth.at(heights[on])
    return thickness, mass


def growth_of(model: Model) -> tuple[Floats, Floats]:
    """(k,) thickness of marine growth and (k,) its mass per length, at the heights of the middles of elements."""
    mesh = model.mesh
    heights = mesh.coordinates[mesh.element_nodes, mesh.up].mean(axis=1)
    return grown_at(model.growths, mesh.element_sets.__getitem__, heights)


def added_mass_per_length(model: Model, masses: Iterable[NonstructuralMass], length: Floats) -> Floats:
    """(k,) mass per natural length in addition to the bar itself: marine growth and the given nonstructural masses."""
    return growth_of(model)[1] + carried_by(masses, model.mesh.element_sets.__getitem__, length)


def of_sections(model: Model, number: Callable[[BarSection, Material], float], other: float = 0.0) -> Floats:
    """(k,) a number from the section in force (the last one of an element) and its material; ``other`` without one."""
    found = np.full(len(model.mesh.element_nodes), other)
    for section in model.sections:
        found[model.mesh.element_sets[section.element_set]] = number(section, model.materials[section.material])
    return found


TURNS = 60
"""Steps of Newton's method, which converges from above."""
LEAST_GREEN = -1.0 / 27.0**0.5
"""Largest compression N/EA of GREEN bars."""


def stretches(load: Floats, strain: np.ndarray) -> Floats:
    """L/L0 at N/EA: 1 + N/EA (ENGINEERING), (s^2 - 1) s/2 = N/EA (GREEN), ln(s)/s = N/EA (LOG); NaN beyond the largest
    force."""
    from scipy.special import lambertw

    green = 1.0 + np.maximum(0.0, np.minimum(load, np.cbrt(2.0 * load)))
    for _ in range(TURNS):
        green = green - (green**3 - green - 2.0 * load) / np.maximum(3.0 * green**2 - 1.0, 1e-9)
    green[load < LEAST_GREEN] = np.nan
    log = np.exp(-lambertw(-load))
    log = np.where(np.abs(log.imag) > 0.0, np.nan, log.real)
    return np.asarray(np.where(strain == "GREEN", green, np.where(strain == "LOG", log, 1.0 + load)), float)


def loads_of(stretch: Floats, strain: np.ndarray) -> Floats:
    """N/EA at L/L0, the inverse of ``stretches``."""
    green, log = 0.5 * (stretch**2 - 1.0) * stretch, np.log(stretch) / stretch
    return np.asarray(np.where(strain == "GREEN", green, np.where(strain == "LOG", log, stretch - 1.0)), float)


def euler_loads(model: Model) -> Floats:
    """(k,) Euler's load pi^2 E I/L^2 of single bars that bend, hinged at both ends; 0 of all others. Lines of several
    bars buckle in the model itself."""
    loads = np.pi**2 * of_sections(model, lambda section, law: section.inertia * (law.young or 0.0))
    at = model.bent_at[1] if loads.any() else np.zeros(0, np.int64)
    loads[at[at >= 0]] = 0.0
    return loads / natural_lengths(model.mesh, model.rest_lengths) ** 2 if loads.any() else loads
