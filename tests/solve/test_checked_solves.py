"""Linear solves outside of compiled code: checked by their residual, refined, refused where they cannot be right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

import fem
from fem.linear.factors import refine, scales, solve_dense, solve_pivoting
from tests.decks import run_text

SPINNING_ROPE = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*MATERIAL, NAME=M
*INEXTENSIBLE
*NO COMPRESSION
*DENSITY
1.
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, MASS=ONE POINT
1.
*BOUNDARY
1, 2
2, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.1
*CONTROLS, IMPACT=EVENT
*DLOAD
ROPE, GRAV, 9.81, 0, 0, -1
*END STEP
"""


def badly_scaled(seed: int, size: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A well-conditioned matrix in units of all sizes, and a solution in those of its columns."""
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((size, size)) + 4.0 * np.eye(size)
    rows, columns = 10.0 ** generator.uniform(-9, 9, (2, size))
    return rows[:, None] * matrix * columns, generator.standard_normal(size) / columns


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_units_do_not_matter(seed):
    """Dense and sparse solvers find solutions to round-off whatever the units of rows and columns."""
    matrix, exact = badly_scaled(seed)
    right = matrix @ exact
    for found in (solve_dense(matrix, right), solve_pivoting(csc_array(matrix), right)):
        assert found is not None
        left = np.abs(matrix @ found - right) / (np.abs(matrix) @ np.abs(found) + np.abs(right))
        assert left.max() < 1e-14
        np.testing.assert_allclose(found * np.abs(exact[0] / exact), exact * np.abs(exact[0] / exact), rtol=1e-9)


def test_scales_bring_rows_and_columns_to_one():
    matrix, _ = badly_scaled(3)
    rows, columns = scales(matrix)
    scaled = np.abs(rows[:, None] * matrix * columns)
    for axis in (0, 1):
        assert np.all((scaled.max(axis=axis) > 0.2) & (scaled.max(axis=axis) < 5.0))


def test_scales_beyond_all_numbers_are_no_fault():
    """Entries so far apart that the factors overflow on their way: no solution, and nothing raised."""
    matrix = np.array([[4e283, 0.0, 9e-131], [8e-157, 0.0, 0.0], [8e-315, 5e-59, 0.0]])
    with np.errstate(over="raise"):
        assert not all(np.isfinite(factors).all() for factors in scales(matrix))
        assert solve_dense(matrix, np.zeros(3)) is None
        assert solve_pivoting(csc_array(matrix), np.zeros(3)) is None


def test_refinement_makes_up_for_a_rough_solver_and_refuses_a_wrong_one():
    matrix, right = np.diag([2.0, 3.0]) + 0.1, np.array([1.0, -1.0])
    inverse = np.linalg.inv(matrix)
    rough = refine(lambda rest: 1.02 * inverse @ rest, matrix, right)
    assert rough is not None
    np.testing.assert_allclose(rough, inverse @ right, rtol=1e-14)
    assert refine(lambda rest: -inverse @ rest, matrix, right) is None


def test_singular_systems_have_no_solution():
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert solve_dense(matrix, np.array([1.0, 0.0, 0.0])) is None
    assert solve_dense(np.diag([1.0, 0.0]), np.ones(2)) is None
    assert solve_pivoting(csc_array(np.diag([1.0, 0.0])), np.ones(2)) is None


def test_a_rope_without_mass_in_some_direction_is_named():
    """ONE POINT leaves a free bar without inertia about its centre: no impact has an answer there."""
    with pytest.raises(fem.ModelError, match="mass matrix of nodes with ropes is singular"):
        run_text(SPINNING_ROPE)
