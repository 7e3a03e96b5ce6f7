"""The constraints of rods at one configuration: gradients, violation, linear dependence.

Velocities, accelerations and multipliers at the start of a dynamic step with rods.

    M a + G^T lambda = f_ext - f_int - C v,    G a = - |v_j - v_i|^2,    G v = 0

Source: Hairer & Wanner, Solving Ordinary Differential Equations II, ch. VII (consistent initial values).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fem.arrays import Floats, Ints, Matrix, Sparse
from fem.assembly.equations import Independent, expand, reduction
from fem.compiled import bound, exact_kernel
from fem.errors import ModelError
from fem.forces.bar import GAP, INV_LENGTH, REF, Bars, P, Q
from fem.forces.laws import LEG, LINEAR
from fem.linear.factors import solve_dense, solve_pivoting, start_vector
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
NO_MASS = "but not all of their nodes have mass (*DENSITY, *MASS)"


@exact_kernel
def add_products(row: Ints, bars: Bars, bar_tangent: Floats, transposed: bool, given: Floats, found: Floats) -> None:
    """found += G given, or G^T given where ``transposed``; row (r,) of each rod."""
    for end in range(1, -1, -1):
        for r in range(bars.rods.shape[0]):
            e = bars.rods[r]
            for c in range(3):
                value = bar_tangent[Q + c, e] if end == 1 else -bar_tangent[Q + c, e]
                dof = 3 * bars.nodes[e, end] + c
                if transposed:
                    found[dof] += value * given[row[r]]
                else:
                    found[row[r]] += value * given[dof]


@exact_kernel
def place_gradients(row: Ints, free: Ints, bars: Bars, bar_tangent: Floats, matrix: Floats) -> None:
    """Adds G to ``matrix``, whose columns are the dofs with ``free`` 1; row (r,) of each rod."""
    column = 0
    for dof in range(free.shape[0]):
        if free[dof] != 1:
            continue
        for r in range(bars.rods.shape[0]):
            e = bars.rods[r]
            for end in range(2):
                c = dof - 3 * bars.nodes[e, end]
                if 0 <= c < 3:
                    value = bar_tangent[Q + c, e]
                    matrix[row[r], column] += value if end == 1 else -value
        column += 1


def multiply(stage: StepSystem, x: Floats) -> Floats:
    """G x, one number for each constraint (``heads``)."""
    return multiplier_of(stage, x)()


def multiplier_of(stage: StepSystem, x: Floats, transposed: bool = False) -> Callable[[], Floats]:
    """A function that returns G x, or G^T x."""
    rods, numbers = stage.rods, stage.work.tangent.bar_tangent
    count = stage.system.size if transposed else len(rods.heads)
    return summer_of(count, lambda found: bound(add_products, rods.row, stage.bars, numbers, transposed, x, found))


def multiply_transposed(stage: StepSystem, pull: Floats) -> Floats:
    """G^T pull: nodal forces (3n,)."""
    return multiplier_of(stage, pull, True)()


def gaps(stage: StepSystem) -> tuple[Floats, Floats]:
    """Gaps (l^2 - L0^2)/2 of each constraint at the evaluated state, and the strains gap / L0^2."""
    bars = stage.bars
    gap = np.bincount(stage.rods.row, stage.work.tangent.bar_tangent[GAP, bars.rods]).astype(float)
    inverse = stage.rods.inverse
    return gap, gap * inverse * inverse


def over_independent(stage: StepSystem, free: Ints) -> Matrix:
    """G over the independent dofs (``free`` 1) as a sparse or, if small, dense matrix."""
    return placer_of(stage, free)()


def placer_of(stage: StepSystem, free: Ints) -> Callable[[], Matrix]:
    """A function that returns ``over_independent``."""
    count = int(np.count_nonzero(free == 1))
    if count + len(stage.rods.heads) > DENSE or len(stage.equations.slave):
        return lambda: rod_matrix(stage) @ reduction(free, stage.equations)
    matrix = np.zeros((len(stage.rods.heads), count))
    place = bound(place_gradients, stage.rods.row, free, stage.bars, stage.work.tangent.bar_tangent, matrix)

    def placed() -> Floats:
        matrix[:] = 0.0
        place()
        return matrix.copy()

    return placed


def rod_matrix(stage: StepSystem) -> Sparse:
    """G (constraints, 3n), sparse."""
    from scipy.sparse import coo_array

    rows, dofs, values = stage.rod_gradients()
    return coo_array((values, (rows, dofs)), shape=(len(stage.rods.heads), stage.system.size)).tocsr()


def dense(matrix: Matrix) -> Floats:
    """A dense array, from a sparse or dense one."""
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def check_constraints(stage: StepSystem, motion: Motion) -> None:
    """ModelError: a rod does not have its length, joins two supported nodes, or depends on other constraints.
    The state must have been evaluated into ``stage.work``."""
    if len(stage.bars.rods) == 0:
        return
    rods, inverse = stage.rods.heads, stage.rods.inverse
    _, strain = gaps(stage)
    # Rods on supports that are about to move are checked after the first solve.
    still = np.ones(stage.system.size, np.bool_)
    still[stage.environment.supports.moving(motion.u)] = False
    settled = _of_ends(np.flatnonzero(~still.reshape(-1, 3).all(axis=1)), stage) == 0
    wrong = np.flatnonzero(settled & (np.abs(strain) > SAME_LENGTH))
    if len(wrong):
        longest = wrong[np.abs(strain[wrong]).argmax()]
        length = 1.0 / inverse[longest]
        now = length * stretch_of(stage.bars, int(rods[longest]), float(strain[longest]))
        raise ModelError(
            f"{stage.system.name_bar(int(rods[longest]))} has the constant length {length:.9g}, but its nodes are "
            f"{now:.9g} apart at the start of the step; check *REST LENGTH and the initial displacements (a step "
            "without NLGEOM keeps lengths only to first order)"
        )
    _refuse_dependent(stage)


def stretch_of(bars: Bars, index: int, strain: float) -> float:
    """l/L0 of a rod, from its gap over L0^2."""
    return 1.0 + strain if bars.kinds[index, 0] == LEG else float(np.sqrt(max(0.0, 1.0 + 2.0 * strain)))


def _refuse_dependent(stage: StepSystem) -> None:
    """ModelError that names the rods whose constraints depend on each other."""
    rods = stage.rods.heads
    free = stage.nodes.dof_kind
    inside = _of_ends(np.flatnonzero(free.reshape(-1, 3).any(axis=1)), stage) > 0
    if not inside.all():
        raise ModelError(
            f"{stage.system.name_bar(int(rods[np.flatnonzero(~inside)[0]]))} is inextensible between two supported "
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
    """Number of ends of each rod that are among these nodes."""
    return np.bincount(stage.rods.row, np.isin(stage.bars.nodes[stage.bars.rods], nodes).sum(axis=1)).astype(int)


def _null_vector(matrix: Matrix) -> Floats | None:
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
    x = start_vector(square.shape[0])
    for _ in range(4):
        x = factor.solve(x)
        x /= np.linalg.norm(x)
    return np.abs(x) if float(x @ (square @ x)) < DEPENDENT else None


def refuse_stretching(stage: StepSystem, before: Floats, ropes: Ints) -> None:
    """ModelError: initial velocities ``before`` (3n,) of the deck change the length of a rod that is not a rope.
    The state must have been evaluated into ``stage.work``."""
    rods = stage.rods.heads
    rate = np.where(np.isin(rods, ropes), 0.0, multiply(stage, before) / _lengths(stage))
    worst = int(np.abs(rate).argmax())
    if abs(rate[worst]) > SAME_RATE * float(np.abs(before).max(initial=0.0)):
        raise ModelError(
            f"{stage.system.name_bar(int(rods[worst]))} is inextensible, but the initial velocities change its length "
            f"at a rate of {rate[worst]:.6g}; give its nodes velocities of a rigid motion"
        )


def keep_rates(stage: StepSystem, motion: Motion, mass: Matrix) -> Floats:
    """Make velocities keep the lengths of rods: v' = v - M^-1 G^T mu with G v' = 0; the impulse mu (rods,)."""
    rate = multiply(stage, motion.v)
    if not np.any(rate):
        return np.zeros(len(rate))
    found = solve_saddle(stage, mass, np.zeros(stage.system.size), -rate, stage.nodes.dof_kind)
    if found is None:
        raise ModelError(f"rods transmit the jump of a support, {NO_MASS}")
    motion.v[:] += found[0]
    return found[1]


def consistent_velocities(stage: StepSystem, motion: Motion, mass: Matrix, jumps: bool = False) -> str:
    """Make velocities keep the lengths of rods; returns a notice if velocities of supports jump.
    An impulse along the rods transmits the jump; ``jumps``: so do equations, to the nearest velocities (in the norm
    of the mass) that satisfy them."""
    if jumps:
        free, given = stage.nodes.dof_kind, np.zeros(stage.system.size)
        given[free == 0] = motion.v[free == 0]
        expand(stage.equations, given)
        found = solve_saddle(stage, mass, mass @ (motion.v - given), -multiply(stage, given), free)
        if found is None:
            raise ModelError(f"equations transmit the jump of a support, {NO_MASS}")
        motion.v[:] = given + found[0]
        return "supports start with a jump of velocity, which equations transmit to their nodes instantly"
    rate, speed = multiply(stage, motion.v), float(np.abs(motion.v).max(initial=0.0))
    if not np.any(rate):
        return ""
    keep_rates(stage, motion, mass)
    if np.abs(rate / _lengths(stage)).max() <= SAME_RATE * max(speed, float(np.abs(motion.v).max(initial=0.0))):
        return ""
    return "supports start with a jump of velocity, which rods transmit to their nodes instantly"


def _lengths(stage: StepSystem) -> Floats:
    """Norms of the gradients of rods."""
    return np.asarray(np.sqrt((stage.work.tangent.bar_tangent[P : P + 3, stage.rods.heads] ** 2).sum(axis=0)))


def consistent_accelerations(
    stage: StepSystem, motion: Motion, mass: Matrix, right: Floats, known: Floats, free: Ints
) -> bool:
    """Write a_0 and the multipliers' forces into ``motion``; False if the mass of the free dofs is singular.
    right  (3n,) f_ext - f_int - C v - M (known accelerations);  known (3n,)  accelerations of supports"""
    target = -centripetal(stage, motion.u, motion.v) - multiply(stage, known)
    found = solve_saddle(stage, mass, right, target, free)
    if found is None:
        return False
    motion.a[:] = known + found[0]
    motion.multiplier[stage.bars.rods] += found[1][stage.rods.row]
    motion.force[:] += multiply_transposed(stage, found[1])
    return True


@exact_kernel
def add_turning(row: Ints, sense: Floats, bars: Bars, u: Floats, v: Floats, found: Floats) -> None:
    """found += |v_j - v_i|^2 of the rods (stops: minus that); zero where they are geometrically linear; ``turning`` of
    branches over pulleys."""
    for r in range(bars.rods.shape[0]):
        e = bars.rods[r]
        i, j, kind = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1], bars.kinds[e, 0]
        square, stretched, along = 0.0, 0.0, 0.0
        for c in range(3):
            move, way = v[j + c] - v[i + c], bars.constants[REF + c, e] + (u[j + c] - u[i + c])
            square += move * move
            stretched += way * way
            along += way * move
        if kind >= LEG:
            length = math.sqrt(stretched)
            along /= length
            found[row[r]] += (square - along * along) / length / bars.constants[INV_LENGTH, e]
        elif kind != LINEAR:
            found[row[r]] += sense[r] * square


def centripetal(stage: StepSystem, u: Floats, v: Floats) -> Floats:
    """``add_turning`` of each constraint."""
    return turner_of(stage, u, v)()


def turner_of(stage: StepSystem, u: Floats, v: Floats) -> Callable[[], Floats]:
    """A function that returns it."""
    rods, count = stage.rods, len(stage.rods.heads)
    return summer_of(count, lambda found: bound(add_turning, rods.row, rods.sense, stage.bars, u, v, found))


def summer_of(count: int, adder: Callable[[Floats], Callable[[], None]]) -> Callable[[], Floats]:
    """A function that returns what ``adder`` of an array (count,) adds to zeros."""
    total = np.zeros(count)
    add = adder(total)

    def summed() -> Floats:
        total[:] = 0.0
        add()
        return total.copy()

    return summed


def relative(bars: Bars, x: Floats) -> Floats:
    """(rods, 3) x_j - x_i."""
    ends = x.reshape(-1, 3)[bars.nodes[bars.rods]]
    return np.asarray(ends[:, 1] - ends[:, 0])


def solve_saddle(
    stage: StepSystem, mass: Matrix, right: Floats, target: Floats, free: Ints
) -> tuple[Floats, Floats] | None:
    """x (3n,) and lambda (rods,): M x + G^T lambda = right over the independent dofs, G x = target; None: singular."""
    coupling, dofs = over_independent(stage, free), Independent(free, stage.equations)
    matrix, count = dofs.matrix(mass), len(dofs.unknown)
    if np.any(matrix.diagonal() <= 0.0):
        return None
    whole = np.concatenate([dofs.load(right), target])
    if len(whole) <= DENSE:
        rows = dense(coupling)
        found = solve_dense(np.block([[dense(matrix), rows.T], [rows, np.zeros((len(rows), len(rows)))]]), whole)
    else:
        from scipy.sparse import block_array

        found = solve_pivoting(block_array([[matrix, coupling.T], [coupling, None]]).tocsc(), whole)
    return None if found is None else (dofs.spread(found[:count]), found[count:])
