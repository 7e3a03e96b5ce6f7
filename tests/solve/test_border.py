"""Lines with a border: what is eliminated in blocks and tied by equations is what a dense solver finds.

Kernels run as the Python functions they are: small systems of any numbers, made up by hypothesis.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.assembly.equations import NOTHING, Equations
from fem.compiled.interpreted import rehearsal
from fem.forces.bar import ALPHA, CONSTANTS, GAP, GEOMETRIC, STORED, Bars, P, Q
from fem.forces.protocol import Tangent
from fem.linear.border import solve_in_order, solve_with_border
from fem.linear.chain import LinearSystem
from fem.linear.choice import NARROWEST, EliminationPlan, plan_of
from tests.solve.test_joined_chains import bars_of


@st.composite
def systems(draw):
    """Any graph of bars and pairs, rods among them, and dofs that follow others, some of which are fixed."""
    count, rng = draw(st.integers(2, 8)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    edges = [rng.choice(count, 2, replace=False) for _ in range(draw(st.integers(1, 2 * count)))]
    joined = draw(st.integers(0, len(edges)))
    nodes, pairs = (np.array(each, np.int64).reshape(-1, 2) for each in (edges[:joined], edges[joined:]))
    rods = np.flatnonzero(rng.random(joined) < 0.2)[:2]
    free = (rng.random(3 * count) > 0.15).astype(np.int64)
    slaves = np.sort(rng.permutation(np.flatnonzero(free))[: draw(st.integers(0, 4))])
    free[slaves] = 2
    masters = [rng.choice(np.flatnonzero(free != 2), min(3, 3 * count - len(slaves)), replace=False) for _ in slaves]
    start, flat = np.cumsum([0, *map(len, masters)]), np.concatenate([*masters, np.zeros(0, np.int64)])
    equations = Equations(slaves, start, flat.astype(np.int64), rng.normal(size=len(flat))) if len(slaves) else NOTHING
    numbers = np.zeros((STORED, joined))
    numbers[ALPHA], numbers[GEOMETRIC] = 10.0 ** rng.uniform(0, 4, joined), rng.uniform(0, 1, joined)
    numbers[P : P + 3] = rng.normal(size=(3, joined))
    numbers[Q : Q + 3] = numbers[P : P + 3] + 0.1 * rng.normal(size=(3, joined)) * draw(st.booleans())
    numbers[ALPHA, rods], numbers[GAP, rods] = np.inf, rng.normal(size=len(rods))
    off = 0.1 * rng.normal(size=joined) if draw(st.booleans()) else np.zeros(0)
    block = rng.normal(size=(count, 3, 3)) + 25.0 * np.eye(3)
    tangent = Tangent(nodes, numbers, off, block.reshape(-1, 9), pairs, rng.normal(size=(len(pairs), 18)))
    return tangent, bars_of(nodes, rods.tolist()), free, equations, rng.normal(size=3 * count)


def reduced(tangent: Tangent, bars: Bars, free: np.ndarray, equations: Equations) -> tuple[np.ndarray, ...]:
    """Matrix over independent dofs and multipliers, put together from what the parts mean; all dofs from those."""
    size = len(free)
    matrix, gradients = np.zeros((size, size)), np.zeros((2, len(bars.rods), size))
    for node, own in enumerate(tangent.block):
        matrix[3 * node : 3 * node + 3, 3 * node : 3 * node + 3] += own.reshape(3, 3)
    for e, (i, j) in enumerate(3 * tangent.ends):
        stretch, its = np.zeros((3, size)), tangent.bar_tangent[:, e]
        stretch[:, j : j + 3], stretch[:, i : i + 3] = np.eye(3), -np.eye(3)
        alpha = 0.0 if e in bars.rods else its[ALPHA]
        matrix += stretch.T @ (alpha * np.outer(its[P : P + 3], its[Q : Q + 3]) + its[GEOMETRIC] * np.eye(3)) @ stretch
        for side, row in enumerate((P, Q)):
            gradients[side, bars.rods == e] = its[row : row + 3] @ stretch
        for a in range(3 if len(tangent.off) else 0):
            matrix[i + a, j + a] += tangent.off[e]
            matrix[j + a, i + a] += tangent.off[e]
    for (i, j), its in zip(3 * tangent.pairs, tangent.cross, strict=True):
        matrix[i : i + 3, j : j + 3] += its[:9].reshape(3, 3)
        matrix[j : j + 3, i : i + 3] += its[9:].reshape(3, 3)
    spread = np.eye(size)
    spread[free == 0] = 0.0
    for k, slave in enumerate(equations.slave):
        its = slice(equations.start[k], equations.start[k + 1])
        spread[slave] = equations.factor[its] @ spread[equations.master[its]]
    spread = spread[:, free == 1]
    across, along = gradients @ spread
    rods = np.zeros((len(bars.rods), len(bars.rods)))
    return np.block([[spread.T @ matrix @ spread, across.T], [along, rods]]), spread


def eliminated(tangent: Tangent, bars: Bars, plan: EliminationPlan, free: np.ndarray, right: np.ndarray) -> tuple:
    """Whether all pivots were safe, du, multipliers."""
    rows = int(plan.column.max(initial=-1)) + 1 + len(bars.rods)
    du, tau, nothing = np.full(len(free), np.nan), np.zeros(len(tangent.ends)), np.zeros((0, 9))
    linear = LinearSystem((free != 0) * 1.0, tangent, tangent.block, right, nothing, nothing, du, tau)
    with rehearsal():
        dense, numbers = np.zeros((rows, 3 * max(rows - 1, 0) + 1)), np.zeros((plan.blocks, 9))
        is_safe = solve_with_border(plan, bars, linear, numbers, dense, np.zeros(rows))
    return is_safe, du, tau[bars.rods]


@settings(max_examples=150)
@given(systems())
def test_any_system_with_a_border_has_one_answer(given):
    tangent, bars, free, equations, right = given
    matrix, spread = reduced(tangent, bars, free, equations)
    edges = np.concatenate([bars.nodes, tangent.pairs])
    plan = plan_of(edges, bars.rods, free, equations, np.inf)
    assert plan is not None
    assert len(plan.sequence) + len(plan.border) <= len(free) // 3
    is_safe, du, tau = eliminated(tangent, bars, plan, free, right)
    condition = np.linalg.cond(matrix) if len(matrix) else 1.0
    if condition > 1e9:  # rods that cannot move, or hold each other
        return
    found = np.linalg.solve(matrix, np.concatenate([spread.T @ right, -tangent.bar_tangent[GAP, bars.rods]]))
    assert is_safe
    assert du == pytest.approx(spread @ found[: spread.shape[1]], abs=1e-13 * condition)
    assert tau == pytest.approx(found[spread.shape[1] :], abs=1e-11 * condition)


def line(count: int, reach: int) -> np.ndarray:
    """Nodes coupled with the next ``reach`` ones."""
    return np.array([(i, i + step) for step in range(1, reach + 1) for i in range(count - step)])


@pytest.mark.parametrize("reach", [1, 2])
def test_work_along_lines_on_a_body_is_that_of_their_nodes(reach):
    """Three lines on three points, which stand at the end: one block more for each node, or two where lines bend."""
    edges = np.concatenate([50 * k + line(50, reach) for k in range(3)] + [150 + line(3, 2)])
    edges = np.concatenate([edges, [(49, 150), (99, 151), (149, 152)]])
    masters, slaves = np.arange(9) + 450, 3 * np.array([49, 99, 149]).repeat(3) + np.tile(np.arange(3), 3)
    equations = Equations(slaves, np.arange(10), masters, np.ones(9))
    free = np.ones(3 * 153, np.int64)
    free[slaves] = 2
    plan = plan_of(edges, np.zeros(0, np.int64), free, equations, np.inf)
    assert plan is not None
    assert sorted(plan.border) == [49, 99, 149, 150, 151, 152]
    assert np.diff(plan.first).max() == reach
    most = 147 * (60 + 27 * reach * (reach + 1)) + 9 * 6**2 + 9**3
    assert plan_of(edges, np.zeros(0, np.int64), free, equations, most) is not None
    assert plan_of(edges, np.zeros(0, np.int64), free, equations, 0.5 * most) is None


def test_a_node_without_stiffness_has_no_safe_pivot():
    """And a border whose matrix is singular neither."""
    nobody, nodes = np.zeros((STORED, 0)), np.zeros((0, 2), np.int64)
    for equations in (NOTHING, Equations(np.array([0]), np.array([0, 1]), np.array([3]), np.ones(1))):
        free = np.ones(6, np.int64)
        free[equations.slave] = 2
        plan = plan_of(nodes, np.zeros(0, np.int64), free, equations, np.inf)
        assert plan is not None
        tangent = Tangent(nodes, nobody, np.zeros(0), np.zeros((2, 9)), nodes, np.zeros((0, 18)))
        bars = bars_of(nodes, [])
        assert bars.constants.shape == (CONSTANTS, 0)
        assert not eliminated(tangent, bars, plan, free, np.ones(6))[0]


@pytest.mark.parametrize("shift", [30.0, -3.0])
def test_a_band_without_row_exchanges(shift):
    """A line of 9 nodes, some dofs fixed, unsymmetric: positive definite, and not: exchanges take over."""
    rng, pairs, free = np.random.default_rng(4), line(9, 2), np.ones(27, np.int64)
    free[[0, 7, 20]] = 0
    number = np.where(free == 1, np.cumsum(free) - 1, -1)
    plan = plan_of(pairs, np.zeros(0, np.int64), free, NOTHING, np.inf, np.append(number, np.zeros(0, np.int64)))
    assert plan is not None
    nodes, block = np.zeros((0, 2), np.int64), rng.normal(size=(9, 3, 3)) + shift * np.eye(3)
    cross = rng.normal(size=(len(pairs), 18))
    tangent = Tangent(nodes, np.zeros((STORED, 0)), np.zeros(0), block.reshape(-1, 9), pairs, cross)
    bars, right, nothing = bars_of(nodes, []), rng.normal(size=27), np.zeros((0, 9))
    matrix, spread = reduced(tangent, bars, free, NOTHING)
    linear = LinearSystem((free != 0) * 1.0, tangent, tangent.block, right, nothing, nothing, np.zeros(27), np.zeros(0))
    with rehearsal():
        band, rows = np.zeros((24, 3 * NARROWEST + 1)), np.zeros(24)
        assert solve_in_order(number, linear, band, rows) == (shift > 0.0)
        assert solve_with_border(plan._replace(number=number), bars, linear, np.zeros((plan.blocks, 9)), band, rows)
    assert linear.du == pytest.approx(spread @ np.linalg.solve(matrix, spread.T @ right), abs=1e-12)
