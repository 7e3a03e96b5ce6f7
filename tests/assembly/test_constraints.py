"""Independent dofs: what they give to all dofs keeps equations, and forces and masses over them do the same work."""

from __future__ import annotations

import numpy as np
import pytest

from fem.assembly.equations import Equations, Independent

NONE = Equations(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
SUM = Equations(np.array([4]), np.array([0, 2]), np.array([0, 7]), np.array([2.0, -0.5]))
"""u4 = 2 u0 - u7/2"""


@pytest.mark.parametrize(("links", "dependent"), [(NONE, []), (SUM, [4])])
def test_work_over_independent_dofs_is_that_over_all(links, dependent):
    """Virtual work: f.x and x.M y are the same numbers over either; supports rest, dependent dofs follow."""
    generator = np.random.default_rng(7)
    free = np.ones(9, np.int64)
    free[[2, 8]] = 0
    free[dependent] = 2
    dofs = Independent(free, links)
    x, y = generator.standard_normal((2, len(dofs.unknown)))
    force, mass = generator.standard_normal(9), generator.standard_normal((9, 9))
    all_x, all_y = dofs.spread(x), dofs.spread(y)
    assert np.array_equal(all_x[dofs.unknown], x)
    assert np.all(all_x[[2, 8]] == 0.0)
    for dof in dependent:
        assert all_x[dof] == pytest.approx(2.0 * all_x[0] - 0.5 * all_x[7], rel=1e-14)
    assert dofs.load(force) @ x == pytest.approx(force @ all_x, rel=1e-13)
    assert x @ dofs.matrix(mass) @ y == pytest.approx(all_x @ mass @ all_y, rel=1e-13)
