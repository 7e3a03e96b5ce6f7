"""Natural frequencies and mode shapes about the current state: K phi = omega^2 M phi.

With rods G phi = 0 besides, and K holds the geometric stiffness of their multipliers: small models are reduced to the
null space of G, in large ones the saddle matrix [K - shift M, G^T; G, 0] takes the place of K - shift M.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fem.arrays import Floats
from fem.assembly.constraints import reduction
from fem.errors import ModelError
from fem.results.record import Modes
from fem.solve.rods.constraints import over_independent
from fem.solve.stage import Stage
from fem.solve.start import mass_matrix

DENSE = 600
"""Up to this many equations the full eigenproblem is solved."""


def find_modes(stage: Stage, wanted: int, step: int, time: float) -> tuple[Modes, str]:
    """The ``wanted`` lowest modes and a notice (or nothing).

    The tangent must have been evaluated into ``stage.work`` with a static row. Massless directions have no mode.
    ModelError where nothing with mass is free.
    """
    free = stage.nodes.free
    transform: Any = reduction(free, stage.links)
    all_mass = mass_matrix(stage)
    mass: Any = (transform.T @ all_mass @ transform).tocsc()
    stiffness: Any = stage.tangent.matrix(stage.work)
    stiffness = (0.5 * (stiffness + stiffness.T)).tocsc()
    if mass.shape[0] == 0 or abs(mass).max() == 0.0:
        raise ModelError("*FREQUENCY: no free dof has mass; give the material a *DENSITY or add *MASS elements")
    coupling: Any = over_independent(stage, free) if len(stage.bars.rods) else None
    count = mass.shape[0] - len(stage.bars.rods)
    if count <= DENSE or wanted >= count - 1:
        square, shapes = _dense_constrained(stiffness.toarray(), mass.toarray(), coupling)
    else:
        square, shapes = _sparse(stiffness, mass, coupling, wanted)
    order = np.argsort(square, kind="stable")[:wanted]
    square, shapes = square[order], shapes[:, order]
    full = np.asarray(transform @ shapes)
    peak = np.abs(full).argmax(axis=0)
    full = full / full[peak, np.arange(full.shape[1])]
    generalized = np.einsum("ik,ik->k", full, np.asarray(all_mass @ full))
    omega = np.sign(square) * np.sqrt(np.abs(square))
    notice = ""
    if len(order) < wanted:
        notice = f"*FREQUENCY: {wanted} modes asked for, the model has {len(order)}"
    if np.any(square < -1e-9 * np.abs(square).max()):
        notice += "; " if notice else ""
        notice += "the state is unstable: negative frequencies belong to growing motions"
    shapes = full.T.reshape(len(order), -1, 3)
    return Modes(step, time, omega / (2.0 * np.pi), omega, generalized, np.ascontiguousarray(shapes)), notice


def _dense_constrained(stiffness: Floats, mass: Floats, coupling: Any) -> tuple[Floats, Floats]:
    """All finite modes that keep the lengths of rods. ModelError where none is left."""
    if coupling is None:
        return _dense(stiffness, mass)
    from scipy.linalg import null_space

    moves = null_space(coupling if isinstance(coupling, np.ndarray) else coupling.toarray())
    if moves.shape[1] == 0:
        raise ModelError("*FREQUENCY: the rods leave nothing to move")
    square, shapes = _dense(moves.T @ stiffness @ moves, moves.T @ mass @ moves)
    return square, np.asarray(moves @ shapes)


def _dense(stiffness: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """All finite modes. The mass may be singular: solve M x = mu (K + s M + t I) x, omega^2 = 1/mu - s."""
    from scipy.linalg import eigh

    try:
        scale = np.sqrt(np.diag(mass))
        if np.all(scale > 0.0) and np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] > 1e-10:
            square, shapes = eigh(stiffness, mass)
            return np.asarray(square), np.asarray(shapes)
    except np.linalg.LinAlgError:
        pass
    shift = float(np.abs(stiffness).max()) / float(np.abs(mass).max())
    for factor in (0.0, 1e-9, 1e-6, 1e-3, 1.0):
        try:
            mu, shapes = eigh(mass, stiffness + factor * shift * mass)
        except np.linalg.LinAlgError:
            continue
        finite = mu > 1e-13 * mu.max()
        return np.asarray(1.0 / mu[finite] - factor * shift), np.asarray(shapes[:, finite])
    raise ModelError("*FREQUENCY: some free dofs have neither mass nor stiffness; hold them or give them either")


def _sparse(stiffness: Any, mass: Any, coupling: Any, wanted: int) -> tuple[Floats, Floats]:
    """Lowest modes by shift and invert about a point just below zero."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.cos(np.arange(mass.shape[0]) * 1.234567) + 1.5
    shift = -1e-8 * float(abs(stiffness).max()) / float(abs(mass).max())
    inverse: Any = None
    try:
        if coupling is not None:
            inverse = _constrained_inverse(stiffness - shift * mass, coupling)
            start = inverse @ (mass @ start)
        square, shapes = eigsh(stiffness, k=wanted, M=mass, sigma=shift, which="LM", v0=start, OPinv=inverse)
    except (ArpackNoConvergence, RuntimeError) as error:
        raise ModelError(f"*FREQUENCY: the eigenvalue solver found no {wanted} modes: {error}") from error
    return np.asarray(square), np.asarray(shapes)


def _constrained_inverse(matrix: Any, coupling: Any) -> Any:
    """The operator that solves with ``matrix`` among the displacements that keep the lengths of rods."""
    from scipy.sparse import block_array, csr_array
    from scipy.sparse.linalg import LinearOperator, splu

    rods, count = coupling.shape
    factor = splu(block_array([[matrix, csr_array(coupling).T], [csr_array(coupling), None]]).tocsc())
    return LinearOperator((count, count), lambda load: factor.solve(np.concatenate([load, np.zeros(rods)]))[:count])
