"""The effective tangent for linear solvers: blocks within one node, and its product with a support motion."""

from __future__ import annotations

from fem.assembly.equations import condense
from fem.compiled import called_kernel, inner_kernel, shared_kernel
from fem.forces.bar import GAP, Q
from fem.linear.chain import Diagonal, LinearSystem, isotropic
from fem.linear.products import add_product
from fem.solve.newton import groups
from fem.solve.newton.groups import Nodes, Passage, Problem, Scratch
from fem.solve.newton.project import acceleration_system, couple_masses, mass_blocks, mass_system, velocity_gaps
from fem.solve.schemes import Coefficients


@inner_kernel
def diagonal_of(phase: int, is_bare: bool, scheme: Coefficients, dt: float, nodes: Nodes) -> Diagonal:
    """Diagonal of the matrix of a phase if it is not part of the blocks (``is_bare``), else zero."""
    by_mass, by_damping = 0.0, 0.0
    if is_bare:
        by_mass = 1.0
        if phase in (groups.CORRECT, groups.LOAD_DIRECTION):
            by_mass, by_damping = scheme.wm * scheme.au / (dt * dt), scheme.wc * scheme.vu / dt
    return Diagonal(nodes.mass, nodes.damping, by_mass, by_damping)


@inner_kernel
def linear_system(nodes: Nodes, work: Scratch) -> LinearSystem:
    """The system of an elimination along chains."""
    return LinearSystem(
        nodes.mask, work.tangent, work.block, work.residual, work.inverse, work.pinned, work.du, work.tau
    )


@shared_kernel
def nodal_blocks(scheme: Coefficients, dt: float, problem: Problem, work: Scratch) -> None:
    """Blocks of the effective tangent within one node, without the bars."""
    nodes, block, own = problem.nodes, work.block, work.tangent.block
    diagonal = diagonal_of(groups.CORRECT, True, scheme, dt, nodes)
    largest = 0.0
    for dof in range(work.residual.shape[0] if nodes.caution.shape[0] > 0 else 0):
        largest = max(largest, abs(work.residual[dof]))
    for i in range(block.shape[0]):
        multiple = isotropic(diagonal, 3 * i)
        if nodes.caution.shape[0] > 0:
            multiple += largest * nodes.caution[i]
        for k in range(9):
            block[i, k] = nodes.artificial_stiffness[i, k] if nodes.artificial_stiffness.shape[0] > 0 else 0.0
        for c in range(3):
            block[i, 4 * c] += multiple
        for k in range(9 if nodes.directed_mass.shape[0] > 0 else 0):
            block[i, k] += diagonal.by_mass * nodes.directed_mass[i, k]
        for k in range(9 if own.shape[0] > 0 else 0):
            block[i, k] += own[i, k]


@called_kernel
def lift(scheme: Coefficients, dt: float, problem: Problem, work: Scratch) -> None:
    """Moves the prescribed part of the first correction to the right-hand side: residual -= K shift.
    K is the effective tangent without inertia: accelerations of supports are exact from the start."""
    nodes, bars, equations, tangent = problem.nodes, problem.bars, problem.equations, work.tangent
    x, product, ends, bar_tangent = work.shift, work.residual, tangent.ends, tangent.bar_tangent
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        for c in range(3):
            bar_tangent[GAP, e] += bar_tangent[Q + c, e] * (x[j + c] - x[i + c])
    add_product(-1.0, bars.rods.shape[0] > 0, tangent, x, product)
    damping_factor = scheme.wc * scheme.vu / dt
    for dof in range(nodes.damping.shape[0]):
        product[dof] -= damping_factor * nodes.damping[dof] * x[dof]
    for e in range(bars.off_damping.shape[0]):
        i, j = 3 * ends[e, 0], 3 * ends[e, 1]
        for c in range(3):
            product[i + c] -= damping_factor * bars.off_damping[e] * x[j + c]
            product[j + c] -= damping_factor * bars.off_damping[e] * x[i + c]
    condense(equations, product)


@inner_kernel
def fill_blocks(phase: int, scheme: Coefficients, dt: float, problem: Problem, work: Scratch) -> None:
    """Blocks within one node of the matrix of a phase: the effective tangent, or the mass."""
    nodes = problem.nodes
    if phase in (groups.CORRECT, groups.LOAD_DIRECTION):
        nodal_blocks(scheme, dt, problem, work)
    else:
        mass_blocks(nodes, work)


@inner_kernel
def fill_matrix(phase: int, is_bare: bool, k: int, through: Passage) -> None:
    """Matrix and right-hand side of the next linear solve. is_bare: its nodal blocks are a ``diagonal_of``."""
    scheme, problem, work, dt = through.scheme, through.problem, through.work, through.loading.dt[k]
    bars = problem.bars
    if phase == groups.CORRECT and problem.nodes.mass_pairs.shape[0] > 0:
        couple_masses(scheme.wm * scheme.au / (dt * dt), problem.nodes, work.tangent.cross)
    if phase == groups.PROJECT_VELOCITY:
        mass_system(0.0, problem.nodes, bars, work)
        velocity_gaps(bars, work)
    elif phase == groups.PROJECT_ACCELERATION:
        acceleration_system(scheme, k, problem, through.loading, through.motion, work)
    if not is_bare:
        fill_blocks(phase, scheme, dt, problem, work)
