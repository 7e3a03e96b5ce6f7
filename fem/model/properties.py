"""Materials and the properties given to element sets. Units are the deck's own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fem.arrays import Floats, frozen

MASS_RULES = ("LUMPED", "CONSISTENT", "ONE POINT")
STRAINS = ("GREEN", "ENGINEERING", "LOG")


@frozen
class Expansion:
    """Thermal expansion: rows (alpha, temperature), linear in between, constant outside; one row: constant."""

    rows: tuple[tuple[float, float], ...]
    zero: float = 0.0


@frozen
class Uniaxial:
    """``*UNIAXIAL``: rows (stress, strain) of the loading curve, and of the unloading curve where there is one.

    kind         TYPE of ``*LOADING DATA``: ELASTIC, DAMAGE, PERMANENT DEFORMATION
    definition   of ``*UNLOADING DATA``: SHIFTED CURVE, INTERPOLATED CURVE; empty without
    is_extended  the last slope goes on beyond the table (EXTRAPOLATION=LINEAR); False: flat
    largest      stress that the bars have borne before the run
    """

    loading: tuple[tuple[float, float], ...]
    kind: str = "ELASTIC"
    unloading: tuple[tuple[float, float], ...] = ()
    definition: str = ""
    is_extended: bool = False
    largest: float = 0.0


@frozen
class Viscoelastic:
    """``*VISCOELASTIC``: rows (fraction, time), of the instantaneous modulus (PRONY) or compliance (KELVIN)."""

    series: str
    rows: tuple[tuple[float, float], ...]


@frozen
class DynamicStiffness:
    """``*DYNAMIC STIFFNESS``: modulus constant + slope * mean stress, and the viscosity that slow strain meets."""

    constant: float
    slope: float
    viscosity: float


@frozen
class Material:
    """What a bar is made of.

    young              modulus E; None where the material has none
    is_instant         it is the instantaneous one of a viscoelastic material; False: the long-term one
    is_inextensible    bars keep their length: rods; with compression_ratio 0 they only never get longer: ropes; with
                       tension_ratio 0 never shorter: stops
    restitution        of ropes and stops: separation speed over approach speed at an impact
    compression_ratio  fraction of E kept for negative stress: 1 bar, 0 cable (``*NO COMPRESSION, RATIO=``)
    tension_ratio      fraction of E kept for positive stress: 0 with ``*NO TENSION``
    alpha, beta        ``*DAMPING``: alpha M v, and beta E de/dt added to the stress
    uniaxial, viscoelastic, dynamic   rope laws
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
    is_instant: bool = False
    uniaxial: Uniaxial | None = None
    viscoelastic: Viscoelastic | None = None
    dynamic: DynamicStiffness | None = None

    @property
    def has_rope_law(self) -> bool:
        """Its bars have tables or a memory (``fem/forces/rope_laws.py``)."""
        return any(law is not None for law in (self.uniaxial, self.viscoelastic, self.dynamic))

    @property
    def static_modulus(self) -> float | None:
        """That of long times; None where it has none, or a table in its place."""
        if self.viscoelastic is None or not self.is_instant or self.young is None:
            return self.young
        total = sum(fraction for fraction, _ in self.viscoelastic.rows)
        return self.young * (1.0 - total if self.viscoelastic.series == "PRONY" else 1.0 / (1.0 + total))

    @property
    def instant_modulus(self) -> float | None:
        """That of sudden changes about rest: the stiffest its bars are without tension."""
        if self.dynamic is not None:
            return self.dynamic.constant
        if self.viscoelastic is not None and not self.is_instant and self.young is not None:
            total = sum(fraction for fraction, _ in self.viscoelastic.rows)
            return self.young * (1.0 + total if self.viscoelastic.series == "KELVIN" else 1.0 / (1.0 - total))
        if self.uniaxial is None:
            return self.young
        rows = self.uniaxial.loading, self.uniaxial.unloading
        return max(slope for curve in rows if curve for slope in slopes_of(curve))


def slopes_of(curve: tuple[tuple[float, float], ...]) -> list[float]:
    """Slopes between the rows (stress, strain) of a curve."""
    return [(s1 - s0) / (e1 - e0) for (s0, e0), (s1, e1) in pairwise(curve)]


@frozen
class BarSection:
    """``*SOLID SECTION``: material, area and the conventions of a set of T3D2 / T2D2 / PULLEY."""

    element_set: str
    material: str
    area: float
    mass_rule: str = "LUMPED"
    strain: str = "GREEN"
    starting_tension: float = 0.0


@frozen
class Spring:
    """``*SPRING``. dofs: () axial, (i,) to ground, (i, j) between node 1 dof i and node 2 dof j (1-3).

    Either ``stiffness`` or ``table`` (rows (force, elongation), elongation rising, flat outside).
    """

    element_set: str
    dofs: tuple[int, ...] = ()
    stiffness: float = 0.0
    table: tuple[tuple[float, float], ...] = ()


@frozen
class Dashpot:
    """``*DASHPOT``: force = coefficient times relative velocity; dofs as for ``Spring``."""

    element_set: str
    dofs: tuple[int, ...] = ()
    coefficient: float = 0.0


@frozen
class PointMass:
    """``*MASS``: mass of each element of the set; alpha: mass-proportional damping alpha m v."""

    element_set: str
    mass: float
    alpha: float = 0.0


@frozen
class NonstructuralMass:
    """``*NONSTRUCTURAL MASS``: what a set of bars carries that has weight and inertia, but no stiffness: ice, fittings.

    value  mass per natural length;  is_total: of the whole set, spread over its natural length
    """

    element_set: str
    value: float
    is_total: bool = False
    name: str | None = None


@frozen
class RestLength:
    """``*REST LENGTH``: unstressed length L0 of each bar of a set, or of one; |D|, between its two nodes, without.

    second  of a rope over a pulley: what lies beyond the pulley at the start, ``length`` then is what lies before it
    """

    target: str | int
    length: float
    second: float | None = None

    @property
    def whole(self) -> float:
        """L0 of the element."""
        return self.length + (self.second or 0.0)

    def legs(self, distances: Floats) -> Floats:
        """(q, 2) natural lengths before and beyond a pulley: given, or in proportion to the distances (q, 2) there."""
        if self.second is None:
            return np.asarray(distances * (self.length / distances.sum(axis=1, keepdims=True)))
        return np.tile((self.length, self.second), (len(distances), 1))


@frozen
class Pulley:
    """``*PULLEY``: ropes of a set rub on their pulleys, T1/T2 within exp(-mu phi) and exp(mu phi); mu = 0 without."""

    element_set: str
    friction: float


FAILURES = {"TENSION": "T", "STRAIN": "E", "TIME": ""}
"""Kinds of ``*FAILURE``, and the quantity of elements that each of them watches (total time: none)."""


@frozen
class Failure:
    """``*FAILURE``: each element of a set, or one, is gone once T, E or total time has reached the value."""

    target: str | int
    kind: str
    value: float


def snap_time(length0: Floats, density: Floats, young: Floats) -> Floats:
    """(m,) L0/(2 c), c = sqrt(E/rho): what a wave needs through half of a bar; 0 without mass.

    Longer implicit increments do not show how a line snaps taut (``model/notices.py``).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * length0 * np.sqrt(density / young))
