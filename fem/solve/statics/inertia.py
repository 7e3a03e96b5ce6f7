"""What the sparse tangent says of an equilibrium: its softest direction, how many directions are unstable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fem.solve.newton.groups import Scratch

if TYPE_CHECKING:
    from fem.solve.linear.sparse.matrix import SparseTangent


def weakest_dof(tangent: SparseTangent, work: Scratch) -> tuple[int, float]:
    """The dof that moves most in the softest mode of the tangent, and that mode's stiffness relative to the largest.

    Two steps of inverse iteration from a fixed vector; a fraction below about 1e-12 means a mechanism.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    from fem.solve.linear.sparse.saddle import bordered

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
