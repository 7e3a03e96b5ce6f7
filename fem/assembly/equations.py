"""Homogeneous linear constraints (``*EQUATION``) as dependent dofs, u_s = sum of factors times other dofs, to which
their forces are transferred.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fem.arrays import Flags, Floats, Ints
from fem.assembly.system import System
from fem.compiled import kernel
from fem.errors import ModelError


class Equations(NamedTuple):
    """u[slave[k]] = sum over l in start[k]..start[k+1] of factor[l] u[master[l]]."""

    slave: Ints
    start: Ints
    master: Ints
    factor: Floats


@kernel
def expand(equations: Equations, x: Floats) -> None:
    """Computes dependent dofs from the others."""
    for k in range(equations.slave.shape[0]):
        value = 0.0
        for m in range(equations.start[k], equations.start[k + 1]):
            value += equations.factor[m] * x[equations.master[m]]
        x[equations.slave[k]] = value


@kernel
def condense(equations: Equations, force: Floats) -> None:
    """Transfers forces on dependent dofs to the dofs they depend on (the transpose of ``expand``)."""
    for k in range(equations.slave.shape[0]):
        value = force[equations.slave[k]]
        for m in range(equations.start[k], equations.start[k + 1]):
            force[equations.master[m]] += equations.factor[m] * value
        force[equations.slave[k]] = 0.0


NOTHING = Equations(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))


def eliminate(system: System, supported: Flags) -> Equations:
    """Choose a dependent dof for every equation: its first term's, or the one of the largest factor among the others.
    ModelError if an equation has no unsupported dof left, or depends on the others."""
    if not system.equations:
        return NOTHING
    expressed: dict[int, dict[int, float]] = {}
    for number, terms in enumerate(system.equations, start=1):
        row: dict[int, float] = {}
        for dof, factor in terms:
            for master, part in expressed.get(dof, {dof: 1.0}).items():
                row[master] = row.get(master, 0.0) + factor * part
        largest = max(abs(factor) for _, factor in terms)
        row = {dof: factor for dof, factor in row.items() if abs(factor) > 1e-12 * largest}
        candidates = [dof for dof in row if not supported[dof]]
        if not candidates:
            names = ", ".join(system.name_dof(dof) for dof, _ in terms)
            raise ModelError(
                f"*EQUATION number {number} ({names}) cannot be satisfied: supports or other equations already "
                "determine all of its dofs; remove it or one of them"
            )
        first = terms[0][0]
        slave = first if first in candidates else max(candidates, key=lambda dof: abs(row[dof]))
        pivot = row.pop(slave)
        expression = {dof: -factor / pivot for dof, factor in row.items()}
        for other in expressed.values():
            if slave in other:
                part = other.pop(slave)
                for dof, factor in expression.items():
                    other[dof] = other.get(dof, 0.0) + part * factor
        expressed[slave] = expression
    slaves = sorted(expressed)
    start = np.cumsum([0] + [len(expressed[slave]) for slave in slaves])
    return Equations(
        np.array(slaves, np.int64),
        start.astype(np.int64),
        np.array([dof for slave in slaves for dof in expressed[slave]], np.int64),
        np.array([factor for slave in slaves for factor in expressed[slave].values()], float),
    )


def reduction(free: Ints, equations: Equations) -> Any:
    """Sparse matrix that gives all dofs (3n,) from the independent ones (``free`` 1); zero rows at supports."""
    from scipy.sparse import coo_array

    unknown = np.flatnonzero(free == 1)
    column = np.full(len(free), -1, np.int64)
    column[unknown] = np.arange(len(unknown))
    owner = np.repeat(equations.slave, np.diff(equations.start))
    inside = column[equations.master] >= 0
    rows = np.concatenate([unknown, owner[inside]])
    columns = np.concatenate([column[unknown], column[equations.master[inside]]])
    values = np.concatenate([np.ones(len(unknown)), equations.factor[inside]])
    return coo_array((values, (rows, columns)), shape=(len(free), len(unknown))).tocsr()


class Independent:
    """The independent dofs (``free`` 1), with matrices and loads over them, and the map to all dofs.

    unknown    (u,)     their numbers
    transform  (3n, u)  sparse, from them to all dofs; None if no equation couples dofs
    """

    def __init__(self, free: Ints, equations: Equations) -> None:
        self.size = len(free)
        self.unknown = np.flatnonzero(free == 1)
        self.transform: Any = reduction(free, equations) if len(equations.slave) else None

    def matrix(self, full: Any) -> Any:
        """(u, u) matrix over the independent dofs, from (3n, 3n), dense or sparse."""
        if self.transform is None:
            return full[self.unknown][:, self.unknown]
        return self.transform.T @ full @ self.transform

    def load(self, full: Floats) -> Floats:
        """(u,) load on the independent dofs, from (3n,)."""
        return full[self.unknown] if self.transform is None else np.asarray(self.transform.T @ full)

    def spread(self, x: Floats) -> Floats:
        """(3n,) all dofs from the independent ones (u,); zero at supports."""
        if self.transform is not None:
            return np.asarray(self.transform @ x)
        full = np.zeros(self.size)
        full[self.unknown] = x
        return full


def coupled_matrix(diagonal: Floats, off: Floats, nodes: Ints) -> Any:
    """Mass or mass-proportional damping, sparse (3n, 3n): (3n,) of dofs, and (m,) between the nodes (m, 2) of bars, or
    none."""
    from scipy.sparse import coo_array

    size, axes = len(diagonal), np.arange(3)
    i, j = nodes[: len(off)].T
    rows, columns = ((3 * each[:, None] + axes).ravel() for each in (np.append(i, j), np.append(j, i)))
    places = np.append(np.arange(size), rows), np.append(np.arange(size), columns)
    return coo_array((np.append(diagonal, np.repeat(np.append(off, off), 3)), places), shape=(size, size)).tocsr()
