"""Springs and dashpots between degrees of freedom, or from one to the ground (SPRING1, SPRING2, DASHPOT1, DASHPOT2).

Force on dof a (minus that on dof b): F = k x + c dx/dt, or F = table(x) + c dx/dt, with x = u_a - u_b; to the ground
u_b = 0. It resists: the internal force on a is +F.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from fem.arrays import Floats, Ints
from fem.compiled import inner_kernel, kernel, shared_kernel
from fem.forces.laws import table_point, table_secant
from fem.forces.protocol import Tangent, Trial
from fem.lanes.choose import common

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


@shared_kernel
def evaluate_springs(trial: Trial, springs: Springs, force: Floats, flow: Floats, tangent: Tangent) -> float:
    """Add the spring forces and their tangent; returns the stored energy. Secant dashpots follow (x1 - x0)/dt."""
    secant, rate, u0, u1 = trial.secant, trial.rate, trial.u0, trial.u1
    dofs, constants = springs.dofs, springs.constants
    energy = 0.0
    for s in range(dofs.shape[0]):
        x1 = elongation(dofs, s, u1)
        x0 = elongation(dofs, s, u0) if secant else x1
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
            lost = constants[s, DAMPING] * (rate * (x1 - x0) if secant else elongation(dofs, s, trial.v1))
            pull += lost
            slope += constants[s, DAMPING] * rate
            if flow.shape[0] > 0:
                pull_apart(dofs, s, lost, flow)
        pull_apart(dofs, s, pull, force)
        stiffen(springs, s, trial.weight * slope, tangent)
    return energy


@inner_kernel
def pull_apart(dofs: Ints, s: int, pull: float, force: Floats) -> None:
    """Add a force to the first dof of a spring, take it from the second."""
    force[dofs[s, 0]] += pull
    if dofs[s, 1] >= 0:
        force[dofs[s, 1]] -= pull


@inner_kernel
def stiffen(springs: Springs, s: int, slope: float, tangent: Tangent) -> None:
    """Add the tangent of spring s."""
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
    constants = springs.constants
    x = elongation(springs.dofs, s, u)
    viscous = constants[s, DAMPING] * elongation(springs.dofs, s, v)
    if common(constants[s, COUNT]) > 0.0:
        pull, _, energy = table_point(
            x, int(common(constants[s, FIRST])), int(common(constants[s, COUNT])), springs.table
        )
        return x, pull, viscous, energy
    pull = constants[s, STIFFNESS] * x
    return x, pull, viscous, 0.5 * pull * x


@inner_kernel
def spring_values(springs: Springs, s: int, u: Floats, v: Floats, row: Floats) -> None:
    """Elongation, then the force three times."""
    x, pull, viscous, _ = spring_point(s, u, v, springs)
    row[0] = x
    row[1] = row[2] = row[3] = pull + viscous


@kernel
def spring_slope(u: Floats, s: int, springs: Springs) -> float:
    """dF/dx of the elastic force of spring s."""
    constants = springs.constants
    if common(constants[s, COUNT]) > 0.0:
        x = elongation(springs.dofs, s, u)
        first, count = int(common(constants[s, FIRST])), int(common(constants[s, COUNT]))
        slope: float = 2.0 * table_secant(x, x, first, count, springs.table)[1]
        return slope
    stiffness: float = constants[s, STIFFNESS]
    return stiffness


@kernel
def stiffen_all(springs: Springs, slopes: Floats, tangent: Tangent) -> None:
    """Add springs of given slopes (s,) to a tangent."""
    for s in range(springs.dofs.shape[0]):
        stiffen(springs, s, slopes[s], tangent)


def spring_slopes(u: Floats, springs: Springs) -> Floats:
    """(s,) of all springs."""
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
