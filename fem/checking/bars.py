"""All bars and all ropes over pulleys of a model with their sections: lengths, masses, periods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints, first_least
from fem.model import Model
from fem.model.facts import added_mass_per_length, distances, natural_lengths, of_sections
from fem.model.materials import snap_time
from fem.model.mesh import BARS

FREQUENCY_FACTOR = {"LUMPED": 2.0, "CONSISTENT": 2.0 * np.sqrt(3.0), "ONE POINT": 2.0}
"""Angular frequency of one bar times L sqrt(rho/E): k = E A/L against M = m/2 I or m/6 [2 1; 1 2], ends in opposition.

ONE POINT mass does not resist the stretching of a free bar: its value is that of a bar with one end held (k, m/4).
"""
LISTED = 8


@dataclass(frozen=True, slots=True)
class Bars:
    """All T3D2 and T2D2 with a section, by element order.

    labels, elements (their indices), connectivity, length0, area  (m,) (m, 2) ...; young is NaN where inextensible
    density       (m,) with what grows on the bar, and what it carries in the first step
    stretch       (m,) |D|/L0 - 1, 0 without a rest length
    can_go_slack  (m,) whether a sign of the force is cut off or weakened
    """

    labels: Ints
    elements: Ints
    connectivity: Ints
    length0: Floats
    stretch: Floats
    area: Floats
    density: Floats
    young: Floats
    rule: tuple[str, ...]
    can_go_slack: Flags

    @property
    def mass(self) -> Floats:
        return self.density * self.area * self.length0

    @property
    def period(self) -> Floats:
        """2 pi / omega of each bar alone, with its mass rule; 0 for massless bars, NaN for inextensible ones."""
        factor = np.array([FREQUENCY_FACTOR[rule] for rule in self.rule])
        with np.errstate(divide="ignore"):
            return np.asarray(2 * np.pi * self.length0 / (factor * np.sqrt(self.young / self.density)))

    @property
    def snap_time(self) -> Floats:
        """As ``materials.snap_time``; NaN for inextensible bars."""
        return snap_time(self.length0, self.density, self.young)


def collect_bars(model: Model) -> Bars:
    """Bars of the sections in force; a later section of the same element replaces an earlier one."""
    mesh = model.mesh
    owner = np.full(len(mesh.element_labels), -1)
    for number, section in enumerate(model.sections):
        owner[mesh.elements_of(section.element_set)] = number
    chosen = np.flatnonzero(mesh.is_of(*BARS) & (owner >= 0))
    sections = [model.sections[number] for number in owner[chosen]]
    materials = [model.materials[section.material] for section in sections]
    lengths = natural_lengths(mesh, model.rest_lengths)
    length0, area = lengths[chosen], np.array([section.area for section in sections], float)
    gone = model.steps[0].shed if model.steps else ()
    carried = added_mass_per_length(model, (mass for mass in model.nonstructural if mass.name not in gone), lengths)
    return Bars(
        labels=mesh.element_names[chosen],
        elements=chosen,
        connectivity=mesh.element_nodes[chosen],
        length0=length0,
        stretch=distances(mesh)[chosen] / length0 - 1.0,
        area=area,
        density=np.array([material.density for material in materials], float) + carried[chosen] / area,
        young=np.array([m.instant_modulus or np.nan for m in materials], float),
        rule=tuple(section.mass_rule for section in sections),
        can_go_slack=np.array([m.compression_ratio < 1 or m.tension_ratio < 1 for m in materials], bool),
    )


def stiffest_bar(bars: Bars) -> int | None:
    """Position of the elastic bar of shortest period among those with mass; None when there is none."""
    period = np.where(np.isfinite(bars.period) & (bars.period > 0), bars.period, np.inf)
    return first_least(period) if np.isfinite(period).any() else None


def some(labels: Iterable[int]) -> str:
    """A few labels of many."""
    listed = list(labels)
    return ", ".join(map(str, listed[:LISTED])) + (f" and {len(listed) - LISTED} more" if len(listed) > LISTED else "")


class Ropes(NamedTuple):
    """p PULLEY elements with a section, by element order.

    elements, pulleys  (p,) their indices, nodes between their ends
    branches           (p, 2) distances before and beyond the pulley
    length0, mass, friction  (p,) L0, rho A L0, mu
    """

    elements: Ints
    pulleys: Ints
    branches: Floats
    length0: Floats
    mass: Floats
    friction: Floats


def collect_ropes(model: Model) -> Ropes:
    """Of the sections in force, as ``collect_bars``."""
    mesh = model.mesh
    per_length = of_sections(model, lambda section, material: material.density * section.area, np.nan)
    friction = np.zeros(len(per_length))
    for pulley in model.pulleys:
        friction[mesh.elements_of(pulley.element_set)] = pulley.friction
    elements = np.flatnonzero((mesh.pulley_nodes >= 0) & ~np.isnan(per_length))
    pulleys, x = mesh.pulley_nodes[elements], mesh.coordinates
    branches = np.linalg.norm(x[mesh.element_nodes[elements]] - x[pulleys][:, None], axis=2)
    length0 = natural_lengths(mesh, model.rest_lengths)[elements]
    mass = per_length[elements] * length0
    return Ropes(elements, pulleys, branches, length0, mass, friction[elements])
