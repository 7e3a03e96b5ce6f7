"""What the numbers decide by which linear solvers give up, refine and refuse: just below and just above each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

import fem
from fem.compiled.interpreted import rehearsal
from fem.linear.border import solve_with_border
from fem.linear.chain import invert
from fem.linear.choice import find_tree
from fem.linear.factors import refine, solve_dense
from fem.linear.sparse import DirectSolver
from fem.runs.record import Requests, SilentSink
from fem.solve.loop import Run
from fem.solve.newton.tangent import linear_system
from fem.solve.step_run import StepRun
from tests.decks import chain, run_text


def step_run_of(text: str, solver: str = "AUTO") -> StepRun:
    """A step ready to go."""

    class Held(Run):
        def follow(self, step_run):
            self.step_run = step_run

    run = Held(fem.parse_deck(text), SilentSink(), Requests(solver, fields=False))
    run.run()
    return run.step_run


# ------------------------------------------------------------------------------------------ conjugate gradients
@pytest.mark.parametrize(("count", "notice"), [(245, "need 245 iterations a solve"), (255, "gave up on indefinite or")])
def test_conjugate_gradients_give_up_after_250_iterations(count, notice):
    """Bars in a row, nearly without inertia, pulled at their end: each iteration feels the pull one node farther."""
    pull = f"*CLOAD\n{count + 1}, 1, 1."
    deck = chain(count, dt=10.0, period=50.0).replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1", pull)
    history = run_text(deck, solver="CG")
    assert any(f"conjugate gradients {notice}" in text for text in history.notices)


# ------------------------------------------------------------------------------------------ direct solvers
class Off:
    """Factors of the unit matrix that are off by a share."""

    price = 25

    def __init__(self, share: float) -> None:
        self.share = share

    def factorise(self, matrix: Any) -> bool:
        return True

    def solve(self, right: np.ndarray) -> np.ndarray:
        return (1.0 + self.share) * right


def unit_solver(share: float, asked: list[str]) -> Any:
    """A direct solver of x = right."""
    solver = DirectSolver.__new__(DirectSolver)
    solver.factors, solver.independent, solver.is_kept, solver.has_factor = Off(share), np.arange(3), True, False
    solver.tangent = SimpleNamespace(matrix=lambda work: csc_array(np.eye(3)))  # type: ignore[assignment]
    solver._multiply = lambda work, x: x  # type: ignore[method-assign]
    solver._pivot = lambda work: asked.append("pivots") or work.residual.copy()  # type: ignore[method-assign]
    return solver


@pytest.mark.parametrize(("share", "pivots"), [(0.5e-9, []), (2e-9, ["pivots"])])
def test_a_direct_solve_that_leaves_a_billionth_is_repeated_with_pivots(share, pivots):
    asked: list[str] = []
    work: Any = SimpleNamespace(residual=np.array([1.0, 2.0, 3.0]), du=np.zeros(3))
    solver = unit_solver(share, asked)
    assert solver.solve(work, 1e-8)
    assert asked == pivots and solver.has_factor == (not pivots)
    assert work.du == pytest.approx(work.residual, rel=1e-9)


@pytest.mark.parametrize("forcing", [1e-1, 1e-2, 1e-6])
def test_kept_factors_leave_a_thousandth_of_the_residual_at_most_and_not_less_than_asked(forcing, monkeypatch):
    """A factor of another matrix, whose iteration is looked at."""
    asked: list[str] = []
    solver = unit_solver(0.0, asked)
    matrix = np.diag([1.0, 2.0, 5.0]) + 0.3
    solver._multiply = lambda work, x: matrix @ x
    solver.has_factor, solver.spent, solver.solves, solver.patience = True, 25, 1, 25
    work: Any = SimpleNamespace(residual=np.array([1.0, 0.02, 0.001]), du=np.zeros(3))
    iterate, given = solver._iterate, []
    solver._iterate = lambda work, right, share: given.append(share) or iterate(work, right, share)
    assert solver.solve(work, forcing)
    left = np.linalg.norm(matrix @ work.du - work.residual) / np.linalg.norm(work.residual)
    assert left <= min(forcing, 1e-3) and given[0] >= min(forcing, 1e-3)


@pytest.mark.parametrize(("bars", "is_kept"), [(499, False), (500, True)])
def test_factors_are_kept_from_1500_equations_on(bars, is_kept):
    assert step_run_of(chain(bars), "SUPERLU").stage.direct.is_kept == is_kept


# ------------------------------------------------------------------------------------------ refinement, pivots
@pytest.mark.parametrize(("noise", "is_right"), [(1e-23, True), (1e-20, False)])
def test_an_equation_of_zeros_is_measured_by_a_billionth_of_a_thousandth_of_the_others(noise, is_right):
    """A solver that leaves noise where nothing acts: POOR = 1e-10 of 1e-12 may stay."""
    found = refine(lambda rest: rest + [0.0, noise], np.eye(2), np.array([1.0, 0.0]))
    assert (found is not None) == is_right


@pytest.mark.parametrize(("apart", "is_regular"), [(1e-12, True), (1e-14, False)])
def test_dense_matrices_are_singular_beyond_a_condition_of_1e14(apart, is_regular):
    """Condition 4/d in the 1-norm; what is left of the digits belongs to nobody."""
    matrix = np.array([[1.0, 1.0], [1.0, 1.0 + apart]])
    assert (solve_dense(matrix, np.array([2.0, 2.0 + apart])) is not None) == is_regular


@pytest.mark.parametrize(("apart", "is_safe"), [(1e-12, True), (1e-14, False)])
def test_blocks_of_nodes_need_pivots_above_their_round_off(apart, is_safe):
    """Two directions that nearly agree, in any units."""
    for unit in (1e-9, 1.0, 1e9):
        block = unit * np.array([[1.0, 1.0, 0.0, 1.0, 1.0 + apart, 0.0, 0.0, 0.0, 1.0]])
        with rehearsal():
            assert bool(invert(False, block, 0, 0.0, np.ones(3), np.zeros((1, 9)))) == is_safe


@pytest.mark.parametrize(("apart", "is_safe"), [(1e-13, True), (1e-15, False)])
def test_bands_need_pivots_above_round_off_of_their_largest_entry(apart, is_safe):
    stage = step_run_of(chain(1), "BAND").stage
    work = stage.work
    work.tangent.bar_tangent[:], work.block[:] = 0.0, 0.0
    work.block[1] = [1.0, 1.0, 0.0, 1.0, 1.0 + apart, 0.0, 0.0, 0.0, 1.0]
    with rehearsal():
        linear = linear_system(stage.nodes, work)
        is_solved = solve_with_border(stage.choice.plan, stage.bars, linear, work.blocks, work.band, work.unknowns)
    assert bool(is_solved) == is_safe


@pytest.mark.parametrize(("count", "from_both_ends"), [(50_000, True), (50_001, False)])
def test_chains_of_more_than_50000_nodes_are_eliminated_from_one_end(count, from_both_ends):
    """A row held at its first node: the root is half-way, or that node."""
    nodes = np.column_stack([np.arange(count - 1), np.arange(1, count)])
    system: Any = SimpleNamespace(
        labels=range(count), equations=(), pairs=np.zeros((0, 2), np.int64), gone_bars=[],
        bars=SimpleNamespace(nodes=nodes, rods=np.zeros(0, np.int64), kinds=np.zeros((count - 1, 2), np.int64)),
    )  # fmt: skip
    free = np.ones(3 * count, np.int64)
    free[:3] = 0
    tree = find_tree(system, free)
    assert tree is not None
    (roots,) = np.nonzero(tree.parent < 0)
    assert roots.tolist() == ([(count - 1) // 2] if from_both_ends else [0])
