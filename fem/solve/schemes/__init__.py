"""Time schemes: each a function of its parameters that gives its numbers; none knows a loop or a bar."""

from __future__ import annotations

from collections.abc import Callable

from fem.model import Dynamic
from fem.solve.schemes.backward_euler import backward_euler
from fem.solve.schemes.central_difference import central_difference
from fem.solve.schemes.coefficients import Coefficients, Scheme
from fem.solve.schemes.energy_momentum import energy_momentum
from fem.solve.schemes.equilibrium import equilibrium
from fem.solve.schemes.newmark import generalized_alpha, hht, newmark

SCHEMES: dict[str, Callable[[Dynamic], Scheme]] = {
    "NEWMARK": lambda procedure: newmark(procedure.beta, procedure.gamma),
    "HHT": lambda procedure: hht(procedure.alpha),
    "GENERALIZED ALPHA": lambda procedure: generalized_alpha(procedure.rho),
    "BACKWARD EULER": lambda procedure: backward_euler(),
    "ENERGY MOMENTUM": lambda procedure: energy_momentum(),
    "CENTRAL DIFFERENCE": lambda procedure: central_difference(),
}
"""Name in the deck -> scheme of a ``*DYNAMIC`` step."""

__all__ = ["SCHEMES", "Coefficients", "Scheme", "energy_momentum", "equilibrium"]
