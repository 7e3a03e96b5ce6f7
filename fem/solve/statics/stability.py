"""Is what was found to be trusted? Mechanisms, unstable equilibria, the softest direction of the sparse tangent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem.errors import ModelError
from fem.forces.bar import ALPHA, GEOMETRIC
from fem.solve.newton.groups import Motion, Scratch
from fem.solve.newton.tangent import nodal_blocks
from fem.solve.start import evaluate_start
from fem.solve.step_system import StepSystem, loading_at

if TYPE_CHECKING:
    from fem.solve.linear.sparse.matrix import SparseTangent


MECHANISM = 1e-12
"""Fraction of the largest stiffness below which the softest mode has none."""


def softest(stage: StepSystem, motion: Motion, now: float) -> tuple[int, float]:
    """The dof that moves most in the softest mode at a state, and its fraction of the largest stiffness."""
    evaluate_start(stage, motion, loading_at(stage, motion, now))
    nodal_blocks(stage.coefficients, 1.0, stage.problem, stage.work)
    return weakest_dof(stage.tangent, stage.work) if len(stage.tangent.independent) else (0, np.inf)


def refuse_mechanism(stage: StepSystem, motion: Motion, now: float, number: int) -> None:
    """ModelError where the tangent at the start of a static step is singular."""
    dof, fraction = softest(stage, motion, now)
    if fraction < MECHANISM:
        raise ModelError(
            f"the model is a mechanism: {stage.system.name_dof(dof)} can move without resistance at the start of step "
            f"{number}; support it, add a bar or a spring, or give straight cables an initial stress or a "
            "STARTING TENSION"
        )


def instability_notice(stage: StepSystem) -> str:
    """Statics finds unstable equilibria as readily as stable ones: say so. Only compression can make one."""
    work = stage.work
    if not (np.any(work.tangent.bar_tangent[GEOMETRIC] < 0.0) or np.any(work.tangent.bar_tangent[ALPHA] < 0.0)):
        return ""
    from fem.solve.linear.sparse.matrix import bordered

    # Held directions count with next to nothing, so that a hinge that buckles there is seen.
    problem = stage.problem._replace(
        nodes=stage.nodes._replace(artificial_stiffness=1e-12 * stage.nodes.artificial_stiffness)
    )
    nodal_blocks(stage.coefficients, 1.0, problem, work)
    # Every rod's multiplier adds one negative eigenvalue of its own.
    count = negative_directions(bordered(stage.tangent, work)) - len(stage.bars.rods)
    if count <= 0:
        return ""
    return (
        f"the equilibrium at the end of the step is unstable: its stiffness is negative in {count} direction"
        f"{'s' if count > 1 else ''} (bars in compression buckle); the real structure will not stay there"
    )


def weakest_dof(tangent: SparseTangent, work: Scratch) -> tuple[int, float]:
    """The dof that moves most in the softest mode of the tangent, and that mode's stiffness relative to the largest.

    Two steps of inverse iteration from a fixed vector; a fraction below about 1e-12 means a mechanism.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    from fem.solve.linear.sparse.matrix import bordered

    matrix = bordered(tangent, work)
    largest = float(np.abs(matrix.data).max(initial=0.0)) or 1.0
    count = matrix.shape[0]
    shifted = (matrix + 1e-11 * largest * eye_array(count)).tocsc()
    x = np.cos(np.arange(count) * 1.234567) + 1.5
    try:
        factor = splu(shifted, permc_spec="COLAMD")
        for _ in range(3):
            x = factor.solve(x)
            x /= np.abs(x).max()
    except RuntimeError:
        return int(tangent.independent[0]), 0.0
    fraction = float(np.abs(matrix @ x).max()) / largest
    dofs = x[: len(tangent.independent)]
    return int(tangent.independent[int(np.abs(dofs).argmax())]), fraction


def negative_directions(matrix: Any) -> int:
    """How many eigenvalues of a symmetric sparse matrix are negative (Sylvester's law of inertia); 0 if unknown."""
    from scipy.sparse.linalg import splu

    try:
        factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return 0
    if not np.array_equal(factor.perm_r, factor.perm_c):
        return 0
    return int(np.count_nonzero(factor.U.diagonal() < 0.0))
