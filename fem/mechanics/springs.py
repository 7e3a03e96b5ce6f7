"""Springs and dashpots between degrees of freedom, or from one to the ground (SPRING1, SPRING2, DASHPOT1, DASHPOT2).

Force on dof a (minus that on dof b): F = k x + c dx/dt, or F = table(x) + c dx/dt, with x = u_a - u_b; to the ground
u_b = 0. It resists: the internal force on a is +F.
"""

from __future__ import annotations

from typing import NamedTuple

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel
from fem.lanes.choose import common
from fem.mechanics.laws import table_point, table_secant

# Columns of Springs.constants
STIFFNESS, DAMPING, FIRST, COUNT = 0, 1, 2, 3


class Springs(NamedTuple):
    """dofs (s, 2): dof a, dof b or -1; constants (s, 4): k, c, first row and row count of a table (count 0: linear)."""

    dofs: Ints
    constants: Floats
    table: Floats | None


@inner_kernel
def gap(dofs: Ints, s: int, x: Floats) -> float:
    """x_a - x_b of spring s."""
    value: float = x[dofs[s, 0]]
    if dofs[s, 1] >= 0:
        value -= x[dofs[s, 1]]
    return value


@kernel
def evaluate_springs(
    secant: bool, weight: float, rate: float, u0: Floats, u1: Floats, v1: Floats,
    springs: Springs, force: Floats, stiffness: Floats,
) -> float:  # fmt: skip
    """Add the spring forces to ``force`` (3n,), write the weighted tangent of each spring (s,); returns the energy.

    ``secant``, ``weight`` and ``rate`` as in ``evaluate_bars``; secant dashpots follow (x1 - x0)/dt.
    """
    dofs, constants = springs.dofs, springs.constants
    energy = 0.0
    for s in range(dofs.shape[0]):
        x1 = gap(dofs, s, u1)
        x0 = gap(dofs, s, u0) if secant else x1
        if common(constants[s, COUNT]) > 0.0:
            pull, slope = table_secant(
                x0, x1, int(common(constants[s, FIRST])), int(common(constants[s, COUNT])), springs.table
            )
            energy += table_point(
                x1, int(common(constants[s, FIRST])), int(common(constants[s, COUNT])), springs.table
            )[2]
        else:
            pull = 0.5 * constants[s, STIFFNESS] * (x0 + x1)
            slope = 0.5 * constants[s, STIFFNESS]
            energy += 0.5 * constants[s, STIFFNESS] * x1 * x1
        if not secant:
            slope *= 2.0
        if rate != 0.0:
            pull += constants[s, DAMPING] * (rate * (x1 - x0) if secant else gap(dofs, s, v1))
            slope += constants[s, DAMPING] * rate
        stiffness[s] = weight * slope
        force[dofs[s, 0]] += pull
        if dofs[s, 1] >= 0:
            force[dofs[s, 1]] -= pull
    return energy


@kernel
def spring_point(s: int, u: Floats, v: Floats, springs: Springs) -> tuple[float, float, float, float]:
    """Elongation, elastic force, viscous force and stored energy of one spring."""
    constants = springs.constants
    x = gap(springs.dofs, s, u)
    viscous = constants[s, DAMPING] * gap(springs.dofs, s, v)
    if common(constants[s, COUNT]) > 0.0:
        pull, _, energy = table_point(
            x, int(common(constants[s, FIRST])), int(common(constants[s, COUNT])), springs.table
        )
        return x, pull, viscous, energy
    pull = constants[s, STIFFNESS] * x
    return x, pull, viscous, 0.5 * pull * x
