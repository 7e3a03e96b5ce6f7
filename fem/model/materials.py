"""Materials. Units are the deck's own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fem.arrays import Floats, frozen


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
    is_extended  the last slope continues beyond the table (EXTRAPOLATION=LINEAR); False: flat
    largest      largest stress of the bars before the run
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
    """``*DYNAMIC STIFFNESS``: modulus constant + slope * mean stress, and the viscosity that acts on slow strain."""

    constant: float
    slope: float
    viscosity: float


@frozen
class Plastic:
    """``*PLASTIC``: bars yield where |stress - back stress| reaches the yield stress.

    hardening  ISOTROPIC, KINEMATIC or COMBINED
    rows       yield stress over the sum of plastic strains (both signs count), constant beyond them; KINEMATIC: both
               ends of a line, COMBINED: the first yield stress alone
    back       of COMBINED: (C, gamma) of each back stress, da = C de - gamma a |de| (Armstrong and Frederick)
    growth     of COMBINED: Q, b: the yield stress grows by Q (1 - exp(-b p)) with the sum p (``*CYCLIC HARDENING``)
    """

    hardening: str
    rows: tuple[tuple[float, float], ...]
    back: tuple[tuple[float, float], ...] = ()
    growth: tuple[float, float] = (0.0, 0.0)


@frozen
class BucklingStrength:
    """``*BUCKLING STRENGTH``: struts bend at the critical ``stress``, and after a further shortening e bear only
    s(e) = r + (stress - r) exp(-(first + second sqrt(e)) e), r = ``residual`` times the stress."""

    stress: float
    residual: float = 0.4
    first: float = 50.0
    second: float = 100.0


@frozen
class Material:
    """A material of bars.

    young              modulus E; None where the material has none
    is_instant         it is the instantaneous one of a viscoelastic material; False: the long-term one
    is_inextensible    bars keep their length: rods; with compression_ratio 0 they only never get longer: ropes; with
                       tension_ratio 0 never shorter: stops
    restitution        of ropes and stops: separation speed over approach speed at an impact
    compression_ratio  fraction of E kept for negative stress: 1 bar, 0 cable (``*NO COMPRESSION, RATIO=``)
    tension_ratio      fraction of E kept for positive stress: 0 with ``*NO TENSION``
    alpha, beta        ``*DAMPING``: alpha M v, and beta E de/dt added to the stress
    uniaxial, viscoelastic, dynamic, plastic, buckling   laws with memory
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
    plastic: Plastic | None = None
    buckling: BucklingStrength | None = None

    @property
    def has_rope_law(self) -> bool:
        """Whether the stress of its bars follows tables or depends on the past (``fem/forces/rope_laws.py``)."""
        laws = self.uniaxial, self.viscoelastic, self.dynamic, self.plastic, self.buckling
        return any(law is not None for law in laws)

    @property
    def static_modulus(self) -> float | None:
        """Modulus E under slow loads; None where the material has none, or a table instead."""
        if self.viscoelastic is None or not self.is_instant or self.young is None:
            return self.young
        total = sum(fraction for fraction, _ in self.viscoelastic.rows)
        return self.young * (1.0 - total if self.viscoelastic.series == "PRONY" else 1.0 / (1.0 + total))

    @property
    def instant_modulus(self) -> float | None:
        """Modulus E of sudden small changes about rest; of stress-strain curves the largest slope."""
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


def snap_time(length0: Floats, density: Floats, young: Floats) -> Floats:
    """(m,) L0/(2 c), c = sqrt(E/rho): travel time of a wave through half a bar; 0 without mass.
    Longer implicit increments do not resolve how a line snaps taut (``model/notices.py``)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(0.5 * length0 * np.sqrt(density / young))
