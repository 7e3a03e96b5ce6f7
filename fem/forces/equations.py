"""Linear constraints between dofs: dependent dofs follow others, and hand their forces on to them."""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import kernel


class Equations(NamedTuple):
    """u[slave[k]] = sum over l in start[k]..start[k+1] of factor[l] u[master[l]]."""

    slave: Ints
    start: Ints
    master: Ints
    factor: Floats


@kernel
def expand(equations: Equations, x: Floats) -> None:
    """Give dependent dofs the values their constraints demand."""
    for k in range(equations.slave.shape[0]):
        value = 0.0
        for m in range(equations.start[k], equations.start[k + 1]):
            value += equations.factor[m] * x[equations.master[m]]
        x[equations.slave[k]] = value


@kernel
def condense(equations: Equations, force: Floats) -> None:
    """Hand the forces on dependent dofs to the dofs they depend on (the transpose of ``expand``)."""
    for k in range(equations.slave.shape[0]):
        value = force[equations.slave[k]]
        for m in range(equations.start[k], equations.start[k + 1]):
            force[equations.master[m]] += equations.factor[m] * value
        force[equations.slave[k]] = 0.0
