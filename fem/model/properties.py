"""Materials and the properties given to element sets. Units are the deck's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats

MASS_RULES = ("LUMPED", "CONSISTENT", "ONE POINT")
STRAINS = ("GREEN", "ENGINEERING", "LOG")


@dataclass(frozen=True, slots=True)
class Expansion:
    """Thermal expansion: rows (alpha, temperature), linear in between, constant outside; one row: constant."""

    rows: tuple[tuple[float, float], ...]
    zero: float = 0.0


@dataclass(frozen=True, slots=True)
class Material:
    """What a bar is made of.

    young              modulus E; None where the material has none
    is_inextensible    bars keep their length: rods; with compression_ratio 0 they only never get longer: ropes; with
                       tension_ratio 0 never shorter: stops
    restitution        of ropes and stops: separation speed over approach speed at an impact
    compression_ratio  fraction of E kept for negative stress: 1 bar, 0 cable (``*NO COMPRESSION, RATIO=``)
    tension_ratio      fraction of E kept for positive stress: 0 with ``*NO TENSION``
    alpha, beta        ``*DAMPING``: alpha M v, and beta E de/dt added to the stress
    """

    name: str
    young: float | None = None
    poisson: float = 0.0
    density: float = 0.0
    expansion: Expansion | None = None
    alpha: float = 0.0
    beta: float = 0.0
    compression_ratio: float = 1.0
    tension_ratio: float = 1.0
    is_inextensible: bool = False
    restitution: float = 0.0


@dataclass(frozen=True, slots=True)
class BarSection:
    """``*SOLID SECTION``: material, area and the conventions of a set of T3D2 / T2D2."""

    element_set: str
    material: str
    area: float
    mass_rule: str = "LUMPED"
    strain: str = "GREEN"
    starting_tension: float = 0.0


@dataclass(frozen=True, slots=True)
class Spring:
    """``*SPRING``. dofs: () axial, (i,) to ground, (i, j) between node 1 dof i and node 2 dof j (1-3).

    Either ``stiffness`` or ``table`` (rows (force, elongation), elongation rising, flat outside).
    """

    element_set: str
    dofs: tuple[int, ...] = ()
    stiffness: float = 0.0
    table: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Dashpot:
    """``*DASHPOT``: force = coefficient times relative velocity; dofs as for ``Spring``."""

    element_set: str
    dofs: tuple[int, ...] = ()
    coefficient: float = 0.0


@dataclass(frozen=True, slots=True)
class PointMass:
    """``*MASS``: mass of each element of the set; alpha: mass-proportional damping alpha m v."""

    element_set: str
    mass: float
    alpha: float = 0.0


@dataclass(frozen=True, slots=True)
class RestLength:
    """``*REST LENGTH``: unstressed length L0 of each bar of a set, or of one; |D|, between its two nodes, without."""

    target: str | int
    length: float


FAILURES = {"TENSION": "T", "STRAIN": "E", "TIME": ""}
"""Kinds of ``*FAILURE``, and the quantity of elements that each of them watches (total time: none)."""


@dataclass(frozen=True, slots=True)
class Failure:
    """``*FAILURE``: each element of a set, or one, is gone once T, E or total time has reached the value."""

    target: str | int
    kind: str
    value: float


def snap_time(length0: Floats, density: Floats, young: Floats) -> Floats:
    """(m,) L0/(2 c), c = sqrt(E/rho): what a wave needs through half of a bar; 0 without mass.

    Longer implicit increments overstate the tension of a line that becomes taut.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * length0 * np.sqrt(density / young))
