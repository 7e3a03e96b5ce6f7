"""Time schemes: each a frozen dataclass of its parameters and a row of coefficients; none knows a loop or a bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from fem.model import Dynamic
from fem.solve.schemes.backward_euler import BackwardEuler
from fem.solve.schemes.central_difference import CentralDifference
from fem.solve.schemes.coefficients import Coefficients
from fem.solve.schemes.energy_momentum import EnergyMomentum
from fem.solve.schemes.equilibrium import Equilibrium
from fem.solve.schemes.generalized_alpha import GeneralizedAlpha
from fem.solve.schemes.hht import HHT
from fem.solve.schemes.newmark import Newmark


class Scheme(Protocol):
    """What the increment loop asks of a scheme.

    secant  forces are those of the whole increment (discrete gradient), not of its end
    order   of the displacement error in dt
    """

    secant: ClassVar[bool]

    @property
    def order(self) -> int: ...

    def coefficients(self) -> Coefficients: ...


SCHEMES: dict[str, Callable[[Dynamic], Scheme]] = {
    "NEWMARK": lambda procedure: Newmark(procedure.beta, procedure.gamma),
    "HHT": lambda procedure: HHT(procedure.alpha),
    "GENERALIZED ALPHA": lambda procedure: GeneralizedAlpha(procedure.rho),
    "BACKWARD EULER": lambda procedure: BackwardEuler(),
    "ENERGY MOMENTUM": lambda procedure: EnergyMomentum(),
    "CENTRAL DIFFERENCE": lambda procedure: CentralDifference(),
}
"""Name in the deck -> scheme of a ``*DYNAMIC`` step."""

__all__ = [
    "HHT",
    "SCHEMES",
    "BackwardEuler",
    "CentralDifference",
    "Coefficients",
    "EnergyMomentum",
    "Equilibrium",
    "GeneralizedAlpha",
    "Newmark",
    "Scheme",
]
