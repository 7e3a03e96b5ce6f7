"""Springs and dashpots between degrees of freedom, or from one to the ground (SPRING1, SPRING2, DASHPOT1, DASHPOT2).

Force on dof a (minus that on dof b): F = k x + c dx/dt, or F = table(x) + c dx/dt, with x = u_a - u_b; to the ground
u_b = 0. It resists: the internal force on a is +F.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel, shared_kernel
from fem.compiled.lanes import common
from fem.forces.laws import table_point, table_secant
from fem.forces.protocol import Tangent, Trial

Curve: TypeAlias = tuple[tuple[float, float], ...]
"""Rows (force, elongation) of a nonlinear spring."""
# Columns of Springs.constants
STIFFNESS, DAMPING, FIRST, COUNT = 0, 1, 2, 3


class Springs(NamedTuple):
    """Springs between dofs.

    dofs       (s, 2)  dof a, dof b or -1
    constants  (s, 4)  k, c, first row and row count of a table (count 0: linear)
    pair       (s,)    which of ``Tangent.pairs`` its two nodes are; -1: both dofs are of one node
    """

    dofs: Ints
    constants: Floats
    table: Floats | None
    pair: Ints


@inner_kernel
def elongation(dofs: Ints, s: int, x: Floats) -> float:
    """x_a - x_b of spring s."""
    value: float = x[dofs[s, 0]]
    if dofs[s, 1] >= 0:
        value -= x[dofs[s, 1]]
    return value


@inner_kernel
def law_between(s: int, x0: float, x1: float, springs: Springs) -> tuple[float, float, float]:
    """For spring s: the secant force between two elongations, its derivative by x1, and the energy stored at x1.
    For x0 = x1 that is the force and half its slope."""
    if common(springs.constants[s, COUNT]) > 0.0:
        first, count = int(common(springs.constants[s, FIRST])), int(common(springs.constants[s, COUNT]))
        pull, slope = table_secant(x0, x1, first, count, springs.table)
        return pull, slope, table_point(x1, first, count, springs.table)[2]
    half = 0.5 * springs.constants[s, STIFFNESS]
    return half * (x0 + x1), half, half * x1 * x1


@shared_kernel
def evaluate_springs(trial: Trial, springs: Springs, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Add the spring forces and their tangent; returns the stored energy. Secant dashpots follow (x1 - x0)/dt."""
    secant, rate, u0, u1 = trial.secant, trial.rate, trial.u0, trial.u1
    dofs, constants = springs.dofs, springs.constants
    energy = 0.0
    for s in range(dofs.shape[0]):
        x1 = elongation(dofs, s, u1)
        x0 = elongation(dofs, s, u0) if secant else x1
        pull, slope, stored = law_between(s, x0, x1, springs)
        energy += stored
        if not secant:
            slope *= 2.0
        if common(rate) != 0.0:
            lost = constants[s, DAMPING] * (rate * (x1 - x0) if secant else elongation(dofs, s, trial.v1))
            pull += lost
            slope += constants[s, DAMPING] * rate
            if flow.shape[0] > 0:
                pull_apart(dofs, s, lost, flow)
        pull_apart(dofs, s, pull, force)
        if tangent.block.shape[0] > 0:
            stiffen(springs, s, trial.weight * slope, tangent)
    return energy


@inner_kernel
def pull_apart(dofs: Ints, s: int, pull: float, force: Floats) -> None:
    """Adds a force to the first dof of a spring, and subtracts it from the second."""
    force[dofs[s, 0]] += pull
    if dofs[s, 1] >= 0:
        force[dofs[s, 1]] -= pull


@inner_kernel
def stiffen(springs: Springs, s: int, slope: float, tangent: Tangent) -> None:
    """Adds the tangent of spring s."""
    first, second = springs.dofs[s, 0], springs.dofs[s, 1]
    block, a = tangent.block, first % 3
    block[first // 3, 4 * a] += slope
    if second >= 0:
        c = second % 3
        block[second // 3, 4 * c] += slope
        if springs.pair[s] >= 0:
            tangent.cross[springs.pair[s], 3 * a + c] -= slope
            tangent.cross[springs.pair[s], 9 + 3 * c + a] -= slope
        else:
            block[first // 3, 3 * a + c] -= slope
            block[first // 3, 3 * c + a] -= slope


@kernel
def spring_point(s: int, u: Floats, v: Floats, springs: Springs) -> tuple[float, float, float, float]:
    """Elongation, elastic force, viscous force and stored energy of one spring."""
    x = elongation(springs.dofs, s, u)
    pull, _, energy = law_between(s, x, x, springs)
    return x, pull, springs.constants[s, DAMPING] * elongation(springs.dofs, s, v), energy


@inner_kernel
def spring_values(springs: Springs, s: int, u: Floats, v: Floats, row: Floats) -> None:
    """Elongation, then the force three times."""
    x, pull, viscous, _ = spring_point(s, u, v, springs)
    row[0] = x
    row[1] = row[2] = row[3] = pull + viscous


@kernel
def spring_slope(u: Floats, s: int, springs: Springs) -> float:
    """dF/dx of the elastic force of spring s."""
    x = elongation(springs.dofs, s, u)
    slope: float = 2.0 * law_between(s, x, x, springs)[1]
    return slope


@kernel
def stiffen_all(springs: Springs, slopes: Floats, tangent: Tangent) -> None:
    """Add springs of given slopes (s,) to a tangent."""
    for s in range(springs.dofs.shape[0]):
        stiffen(springs, s, slopes[s], tangent)


def spring_slopes(u: Floats, springs: Springs) -> Floats:
    """(s,) slopes of all springs."""
    return np.array([spring_slope(u, s, springs) for s in range(len(springs.dofs))])


def table_rows(table: Curve) -> list[tuple[float, float, float]]:
    """Rows elongation, force, energy of a law given as (force, elongation), with a row at elongation 0."""
    force, x = np.array(table, float).T
    if not np.any(x == 0.0):
        place = int(np.searchsorted(x, 0.0))
        force, x = np.insert(force, place, np.interp(0.0, x, force)), np.insert(x, place, 0.0)
    piece = 0.5 * (force[1:] + force[:-1]) * np.diff(x)
    zero = int(np.flatnonzero(x == 0.0)[0])
    before = -np.cumsum(piece[:zero][::-1])[::-1]
    energy = np.concatenate([before, [0.0], np.cumsum(piece[zero:])])
    return list(zip(x.tolist(), force.tolist(), energy.tolist(), strict=True))
