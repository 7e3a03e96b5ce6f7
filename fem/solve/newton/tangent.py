"""The effective tangent as linear solvers need it: blocks within one node, and its product with a support motion."""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.lanes.choose import common
from fem.mechanics.bar import ALPHA, GAP, GEOMETRIC, Bars, P, Q
from fem.mechanics.links import Links, condense
from fem.mechanics.springs import Springs
from fem.solve.linear.chain import Diagonal, isotropic
from fem.solve.newton.groups import (
    AU,
    CORRECT,
    LAGS,
    LOAD_DIRECTION,
    PROJECT_ACCELERATION,
    PROJECT_VELOCITY,
    VU,
    WC,
    WM,
    Loading,
    Motion,
    Nodes,
    Scratch,
)  # fmt: skip
from fem.solve.rods.project import acceleration_system, mass_blocks, mass_system, velocity_gaps


@inner_kernel
def diagonal_of(phase: int, is_bare: bool, scheme: Floats, dt: float, nodes: Nodes) -> Diagonal:
    """Diagonal of the matrix of a phase where it is not in the blocks (``is_bare``), else nothing."""
    by_mass, by_damping = 0.0, 0.0
    if is_bare:
        by_mass = 1.0
        if phase in (CORRECT, LOAD_DIRECTION):
            by_mass, by_damping = scheme[WM] * scheme[AU] / (dt * dt), scheme[WC] * scheme[VU] / dt
    return Diagonal(nodes.mass, nodes.damping, by_mass, by_damping)


@kernel
def nodal_blocks(scheme: Floats, dt: float, nodes: Nodes, springs: Springs, work: Scratch) -> None:
    """Blocks of the effective tangent within one node, without the bars."""
    block = work.block
    diagonal = diagonal_of(CORRECT, True, scheme, dt, nodes)
    for i in range(block.shape[0]):
        multiple = isotropic(diagonal, 3 * i)
        for k in range(9):
            block[i, k] = nodes.held[i, k] if nodes.held.shape[0] > 0 else 0.0
        for c in range(3):
            block[i, 4 * c] += multiple
    for s in range(springs.dofs.shape[0]):
        first, second = springs.dofs[s, 0], springs.dofs[s, 1]
        stiffness = work.spring_stiffness[s]
        i, a = first // 3, first % 3
        if second < 0:
            block[i, 4 * a] += stiffness
        elif second // 3 == i:
            c = second % 3
            block[i, 4 * a] += stiffness
            block[i, 4 * c] += stiffness
            block[i, 3 * a + c] -= stiffness
            block[i, 3 * c + a] -= stiffness


@called_kernel
def lift(scheme: Floats, dt: float, nodes: Nodes, bars: Bars, springs: Springs, links: Links, work: Scratch) -> None:
    """Take the prescribed part of the first correction to the right-hand side: residual -= K shift.

    K is the effective tangent without inertia: accelerations of supports are exact from the start.
    """
    x, product = work.shift, work.residual
    ends, store, dofs = bars.nodes, work.store, springs.dofs
    for e in range(ends.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        along = 0.0
        for c in range(3):
            along += store[Q + c, e] * (x[j + c] - x[i + c])
        if bars.rods.shape[0] > 0 and common(store[ALPHA, e]) == np.inf:
            store[GAP, e] += along
            along = 0.0
        else:
            along *= store[ALPHA, e]
        for c in range(3):
            value = along * store[P + c, e] + store[GEOMETRIC, e] * (x[j + c] - x[i + c])
            product[i + c] += value
            product[j + c] -= value
    damping_factor = scheme[WC] * scheme[VU] / dt
    for dof in range(nodes.damping.shape[0]):
        product[dof] -= damping_factor * nodes.damping[dof] * x[dof]
    for e in range(bars.off_damping.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        for c in range(3):
            product[i + c] -= damping_factor * bars.off_damping[e] * x[j + c]
            product[j + c] -= damping_factor * bars.off_damping[e] * x[i + c]
    for s in range(dofs.shape[0]):
        value = x[dofs[s, 0]]
        if dofs[s, 1] >= 0:
            value -= x[dofs[s, 1]]
        value *= work.spring_stiffness[s]
        product[dofs[s, 0]] -= value
        if dofs[s, 1] >= 0:
            product[dofs[s, 1]] += value
    condense(links, product)


@inner_kernel
def fill_blocks(phase: int, scheme: Floats, dt: float, nodes: Nodes, springs: Springs, work: Scratch) -> None:
    """Blocks within one node of the matrix to solve with: the effective tangent's, or the mass."""
    if phase in (CORRECT, LOAD_DIRECTION):
        nodal_blocks(scheme, dt, nodes, springs, work)
    else:
        mass_blocks(nodes, work)


@inner_kernel
def fill_matrix(
    phase: int, is_bare: bool, scheme: Floats, secant: bool, k: int, nodes: Nodes, bars: Bars, springs: Springs,
    links: Links, loading: Loading, motion: Motion, work: Scratch,
) -> None:  # fmt: skip
    """The matrix and right-hand side of the next linear solve. is_bare: its nodal blocks are a ``diagonal_of``."""
    if phase == PROJECT_VELOCITY:
        mass_system(bars, work)
        velocity_gaps(bars, work)
    elif phase == PROJECT_ACCELERATION:
        acceleration_system(secant, scheme[LAGS] > 0.0, k, nodes, bars, links, loading, motion, work)
    if not is_bare:
        fill_blocks(phase, scheme, loading.dt[k], nodes, springs, work)
