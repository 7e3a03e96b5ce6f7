"""Linear constraints between dofs: dependent dofs follow others, and hand their forces on to them."""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import kernel


class Links(NamedTuple):
    """u[slave[k]] = sum over l in start[k]..start[k+1] of factor[l] u[master[l]]."""

    slave: Ints
    start: Ints
    master: Ints
    factor: Floats


@kernel
def expand(links: Links, x: Floats) -> None:
    """Give dependent dofs the values their constraints demand."""
    for k in range(links.slave.shape[0]):
        value = 0.0
        for m in range(links.start[k], links.start[k + 1]):
            value += links.factor[m] * x[links.master[m]]
        x[links.slave[k]] = value


@kernel
def condense(links: Links, force: Floats) -> None:
    """Hand the forces on dependent dofs to the dofs they depend on (the transpose of ``expand``)."""
    for k in range(links.slave.shape[0]):
        value = force[links.slave[k]]
        for m in range(links.start[k], links.start[k + 1]):
            force[links.master[m]] += links.factor[m] * value
        force[links.slave[k]] = 0.0
