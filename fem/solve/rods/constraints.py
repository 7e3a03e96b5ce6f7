"""The constraints of rods at one configuration: their gradients, whether they hold, whether they repeat each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats, Ints
from fem.assembly.equations import reduction
from fem.errors import ModelError
from fem.forces.bar import GAP, INV_LENGTH, rod_gradients
from fem.solve.newton.groups import Motion
from fem.solve.step_system import StepSystem

DENSE = 300
"""Up to this many unknowns dense matrices are used: importing SciPy takes longer than a small run."""
SAME_LENGTH = 1e-9
"""Strain below which a rod counts as having its length at the start of a step."""
SAME_RATE = 1e-7
"""Fraction of the largest velocity below which the ends of a rod count as keeping their distance."""
DEPENDENT = 1e-11
"""Eigenvalue of the normalised C C^T below which constraints depend on each other."""


def multiply(stage: StepSystem, x: Floats) -> Floats:
    """G x: (rods,)."""
    rows, dofs, values = rod_gradients(stage.bars, stage.work.tangent.bar_tangent)
    return np.bincount(rows, values * x[dofs], minlength=len(stage.bars.rods)).astype(float)


def multiply_transposed(stage: StepSystem, pull: Floats) -> Floats:
    """G^T pull: nodal forces (3n,)."""
    rows, dofs, values = rod_gradients(stage.bars, stage.work.tangent.bar_tangent)
    return np.bincount(dofs, values * pull[rows], minlength=stage.system.size).astype(float)


def gaps(stage: StepSystem) -> tuple[Floats, Floats]:
    """(rods,) gaps (l^2 - L0^2)/2 at the evaluated state, and the strains gap / L0^2."""
    rods = stage.bars.rods
    gap, inverse = stage.work.tangent.bar_tangent[GAP, rods], stage.bars.constants[INV_LENGTH, rods]
    return gap, gap * inverse * inverse


def over_independent(stage: StepSystem, free: Ints) -> Any:
    """G over the independent dofs (``free`` 1) as a sparse or, if small, dense matrix."""
    rows, dofs, values = rod_gradients(stage.bars, stage.work.tangent.bar_tangent)
    count = int(np.count_nonzero(free == 1))
    if count + len(stage.bars.rods) <= DENSE and len(stage.equations.slave) == 0:
        column = np.cumsum(free == 1) - 1
        inside = free[dofs] == 1
        matrix = np.zeros((len(stage.bars.rods), count))
        np.add.at(matrix, (rows[inside], column[dofs[inside]]), values[inside])
        return matrix
    return rod_matrix(stage) @ reduction(free, stage.equations)


def rod_matrix(stage: StepSystem) -> Any:
    """G (rods, 3n), sparse."""
    from scipy.sparse import coo_array

    rows, dofs, values = rod_gradients(stage.bars, stage.work.tangent.bar_tangent)
    return coo_array((values, (rows, dofs)), shape=(len(stage.bars.rods), stage.system.size)).tocsr()


def dense(matrix: Any) -> Floats:
    """An array, whether it was sparse or not."""
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def check_constraints(stage: StepSystem, motion: Motion) -> None:
    """ModelError where a rod has not its length, joins two supported nodes, or repeats what others fix.

    The state must have been evaluated into ``stage.work``.
    """
    rods = stage.bars.rods
    if len(rods) == 0:
        return
    inverse = stage.bars.constants[INV_LENGTH, rods]
    _, strain = gaps(stage)
    # Rods on supports that are about to be moved are judged after the first solve.
    still = np.ones(stage.system.size, np.bool_)
    still[stage.environment.supports.moving(motion.u)] = False
    settled = _of_ends(np.flatnonzero(~still.reshape(-1, 3).all(axis=1)), stage) == 0
    wrong = np.flatnonzero(settled & (np.abs(strain) > SAME_LENGTH))
    if len(wrong):
        longest = wrong[np.abs(strain[wrong]).argmax()]
        length = 1.0 / inverse[longest]
        now = length * np.sqrt(max(0.0, 1.0 + 2.0 * strain[longest]))
        raise ModelError(
            f"{stage.system.name_bar(int(rods[longest]))} keeps its length {length:.9g}, but its nodes are {now:.9g} "
            "apart at the start of the step; look at *REST LENGTH and at the initial displacements (a step without "
            "NLGEOM keeps lengths only to first order)"
        )
    _refuse_dependent(stage)


def _refuse_dependent(stage: StepSystem) -> None:
    """ModelError that names the rods whose constraints depend on each other."""
    rods = stage.bars.rods
    free = stage.nodes.dof_kind
    inside = _of_ends(np.flatnonzero(free.reshape(-1, 3).any(axis=1)), stage) > 0
    if not inside.all():
        raise ModelError(
            f"{stage.system.name_bar(int(rods[np.flatnonzero(~inside)[0]]))} keeps its length between two supported "
            "nodes: its force cannot be determined; make it elastic or remove it"
        )
    matrix = over_independent(stage, free)
    weights = _null_vector(matrix)
    if weights is None:
        return
    chosen = np.flatnonzero(weights > 1e-3 * weights.max())
    chosen = chosen[np.argsort(-weights[chosen], kind="stable")]
    names = ", ".join(stage.system.name_bar(int(rods[k])) for k in np.sort(chosen[:6]))
    more = f" and {len(chosen) - 6} more" if len(chosen) > 6 else ""
    raise ModelError(
        f"redundant constraints: the lengths of {names}{more} depend on each other at the start of the step, so their "
        "forces cannot be determined; make one of them elastic, remove it, or move a node off the straight line"
    )


def _of_ends(nodes: Ints, stage: StepSystem) -> Ints:
    """How many of the two ends of each rod are among these nodes."""
    return np.asarray(np.isin(stage.bars.nodes[stage.bars.rods], nodes).sum(axis=1))


def _null_vector(matrix: Any) -> Floats | None:
    """Magnitudes of the combination of rows that vanishes; None where the rows are independent."""
    norm = np.sqrt(np.asarray((matrix * matrix).sum(axis=1)).ravel())
    if norm.min() == 0.0:
        return np.asarray(norm == 0.0, float)
    if isinstance(matrix, np.ndarray):
        scaled = matrix / norm[:, None]
        values, vectors = np.linalg.eigh(scaled @ scaled.T)
        return np.abs(vectors[:, 0]) if values[0] < DEPENDENT else None
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import splu

    scaled = diags_array(1.0 / norm) @ matrix
    square = (scaled @ scaled.T).tocsc()
    shifted = (square + 0.1 * DEPENDENT * eye_array(square.shape[0])).tocsc()
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    x = np.cos(np.arange(square.shape[0]) * 1.234567) + 1.5
    for _ in range(4):
        x = factor.solve(x)
        x /= np.linalg.norm(x)
    return np.abs(x) if float(x @ (square @ x)) < DEPENDENT else None
