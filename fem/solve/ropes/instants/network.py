"""Pulls of rods and ropes at one instant: impulses of impacts, accelerations and tensions after them.

With G the gradients of the lengths, W = G M^-1 G^T and pulls p along rods and ropes:

    impact          G v+ = G v- - W p,  rods: G v+ = 0;  ropes: 0 <= p, G v+ <= - c (G v-)+, one of them zero
    accelerations   G a + |v_j - v_i|^2 = 0 for rods, <= 0 for ropes that stay at their length, 0 <= tension, one zero

The energy lost to an impact is p.(G v- + G v+)/2, rope by rope.
Sources: Moreau, Comput. Methods Appl. Mech. Eng. 177 (1999) 329-349; Pfeiffer & Glocker, Multibody Dynamics with
Unilateral Contacts (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.assembly.constraints import Independent
from fem.errors import ModelError
from fem.solve.linear.sparse.factors import refine
from fem.solve.rods.constraints import dense, over_independent
from fem.solve.step_system import StepSystem

MASSLESS = (
    "the mass matrix of nodes with ropes is singular: give them mass (*DENSITY, *MASS), or MASS=LUMPED or CONSISTENT "
    "in *SOLID SECTION"
)


class Network:
    """Rods and ropes of a stage that may pull (its ``bars.rods``), over the mass of the free dofs.

    The state must have been evaluated into ``stage.work``. ModelError where a rope is not tied to mass.
    """

    def __init__(self, stage: StepSystem, mass: Any) -> None:
        equations, free = stage.equations, stage.nodes.dof_kind
        if len(equations.slave) == 0:
            free = np.where((free == 1) & (stage.system.inertia <= 0.0), 0, free)
        self.dofs = Independent(free, equations)
        self.rows = dense(over_independent(stage, free))
        self.solve = _solver(self.dofs.matrix(mass))
        self.answer: Floats = self.solve(self.rows.T)
        self.compliance: Floats = self.rows @ self.answer
        if np.any(np.diag(self.compliance) <= 0.0):
            e = int(stage.bars.rods[int(np.argmin(np.diag(self.compliance)))])
            raise ModelError(
                f"{stage.system.name_bar(e)} is a rope or rod without mass at its free nodes: give them mass "
                "(*DENSITY, *MASS)"
            )

    def change(self, pull: Floats) -> Floats:
        """- M^-1 G^T pull over all dofs (3n,)."""
        return self.dofs.spread(-self.answer @ pull)


def _solver(matrix: Any) -> Any:
    """M^-1 as a function, its answers checked (``refine``); ModelError where M is singular."""
    diagonal = matrix.diagonal()
    dense = isinstance(matrix, np.ndarray)
    count = np.count_nonzero(matrix) if dense else matrix.count_nonzero()
    if count == np.count_nonzero(diagonal):
        return lambda right: right / (diagonal if right.ndim == 1 else diagonal[:, None])
    if not dense:
        from scipy.sparse.linalg import splu
    try:
        inverse = np.linalg.inv(matrix) if dense else None
        once = splu(matrix.tocsc()).solve if inverse is None else inverse.__matmul__
    except (np.linalg.LinAlgError, RuntimeError) as error:
        raise ModelError(MASSLESS) from error

    def solve(right: Floats) -> Floats:
        found = refine(once, matrix, right)
        if found is None:
            raise ModelError(MASSLESS)
        return found

    return solve
