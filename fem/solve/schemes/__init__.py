"""Time schemes: each a frozen dataclass of its parameters and a row of coefficients; none knows a loop or a bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from fem.model import Dynamic
from fem.solve.schemes.central_difference import CentralDifference
from fem.solve.schemes.equilibrium import Equilibrium
from fem.solve.schemes.newmark import Newmark


class Scheme(Protocol):
    """What the increment loop asks of a scheme."""

    secant: ClassVar[bool]

    def coefficients(self) -> tuple[float, ...]: ...


SCHEMES: dict[str, Callable[[Dynamic], Scheme]] = {
    "NEWMARK": lambda procedure: Newmark(procedure.beta, procedure.gamma),
    "CENTRAL DIFFERENCE": lambda procedure: CentralDifference(),
}
"""Name in the deck -> scheme of a ``*DYNAMIC`` step."""

__all__ = ["SCHEMES", "CentralDifference", "Equilibrium", "Newmark", "Scheme"]
