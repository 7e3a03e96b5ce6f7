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
from fem.model.notices import held_nodes

MASSES = {"LUMPED": (0.5, 0.0), "CONSISTENT": (1.0 / 3.0, 1.0 / 6.0), "ONE POINT": (0.25, 0.25)}
"""Fractions of the mass of a bar, by mass rule: on the diagonal of its mass matrix, and beside it."""
SINGULAR = 1e-9
LISTED = 8


@dataclass(frozen=True, slots=True)
class Bars:
    """All T3D2 and T2D2 with a section, by element order.

    labels, elements (their indices), connectivity, length0, area  (m,) (m, 2) ...; young is NaN where inextensible
    density       (m,) with what grows on the bar, and what it carries in the first step
    carried       (m, 2) point masses at its ends that fall to it, by stiffness; of bars with any: infinite where held
    compliance    (m,) 1/M of both ends together, M all mass of a node; nothing where it is held or massless
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
    carried: Floats
    compliance: Floats
    rule: tuple[str, ...]
    can_go_slack: Flags

    @property
    def mass(self) -> Floats:
        return self.density * self.area * self.length0

    @property
    def stiffness(self) -> Floats:
        return self.young * self.area / self.length0

    @property
    def period(self) -> Floats:
        """2 pi / omega of each bar alone with what it carries, by its mass rule; 0 without mass, NaN if inextensible.
        omega^2 = k g.M^-1 g, g = (1, -1); the largest of all bars bounds that of the model (Irons & Treharne, 1971).
        ONE POINT mass does not resist the stretching of a free bar: its value is that of a bar with one end held."""
        diagonal, beside = self.mass * np.array([MASSES[rule] for rule in self.rule]).reshape(-1, 2).T
        with np.errstate(divide="ignore", invalid="ignore"):
            p, q = 1.0 / (diagonal[:, None] + self.carried).T
            gap = 1.0 - (beside * p) * (beside * q)
            square = np.where(gap > SINGULAR, (p + q + 2.0 * beside * p * q) / gap, np.maximum(p, q))
            return np.asarray(2 * np.pi / np.sqrt(self.stiffness * square))

    @property
    def rebound(self) -> Floats:
        """pi/omega of each bar against the masses at its ends; NaN for inextensible ones, infinite without any."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.pi / np.sqrt(self.stiffness * self.compliance))

    @property
    def snap_time(self) -> Floats:
        """As ``materials.snap_time``; with point masses half of sqrt(2)/omega, which is that in a chain of bars alone.
        0 without mass of their own, NaN for inextensible bars."""
        wave = snap_time(self.length0, self.density, self.young)
        return np.where(self.carried.any(axis=1) & (wave > 0.0), self.rebound / (np.pi * np.sqrt(2.0)), wave)


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
    added = added_mass_per_length(model, (mass for mass in model.nonstructural if mass.name not in gone), lengths)
    density = np.array([material.density for material in materials], float) + added[chosen] / area
    young = np.array([m.instant_modulus or np.nan for m in materials], float)
    ends = mesh.element_nodes[chosen]
    return Bars(
        labels=mesh.element_names[chosen],
        elements=chosen,
        connectivity=ends,
        length0=length0,
        stretch=distances(mesh)[chosen] / length0 - 1.0,
        area=area,
        density=density,
        young=young,
        **_masses_at(model, ends, 0.5 * density * area * length0, np.nan_to_num(young * area / length0)),
        rule=tuple(section.mass_rule for section in sections),
        can_go_slack=np.array([m.compression_ratio < 1 or m.tension_ratio < 1 for m in materials], bool),
    )


def _masses_at(model: Model, ends: Ints, half: Floats, stiffness: Floats) -> dict[str, Floats]:
    """``carried`` and ``compliance`` of ``Bars``, from half of the mass of each bar (m,)."""
    count = len(model.mesh.node_labels)
    point, held = np.zeros(count), held_nodes(model)
    for mass in model.masses:
        np.add.at(point, model.mesh.element_nodes[model.mesh.elements_of(mass.element_set), 0], mass.mass)
    whole = point + np.bincount(ends.ravel(), np.repeat(half, 2), count)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = point / np.bincount(ends.ravel(), np.repeat(stiffness, 2), count)
        carried = np.nan_to_num(share[ends] * stiffness[:, None])
        compliance = np.where(held | (whole <= 0.0), 0.0, 1.0 / whole)[ends].sum(axis=1)
    carried[held[ends] & (carried.sum(axis=1, keepdims=True) > 0.0)] = np.inf
    return {"carried": carried, "compliance": compliance}


def stiffest_bar(bars: Bars) -> int | None:
    """Position of the elastic bar of shortest period among those with mass; None when there is none."""
    period = np.where(np.isfinite(bars.period) & (bars.period > 0), bars.period, np.inf)
    return first_least(period) if np.isfinite(period).any() else None


def first_to_snap(bars: Bars) -> int | None:
    """Position of the bar of shortest snap time among those that can go slack and have mass; None without any."""
    able = np.flatnonzero(bars.can_go_slack & (bars.snap_time > 0.0) & (bars.snap_time < np.inf))
    return int(able[first_least(bars.snap_time[able])]) if able.size else None


def snap_text(bars: Bars, place: int, digits: int = 3) -> str:
    formula = "0.71/omega with its point masses" if bars.carried[place].any() else "L0/(2c)"
    return f"{formula} = {bars.snap_time[place]:.{digits}g}"


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
