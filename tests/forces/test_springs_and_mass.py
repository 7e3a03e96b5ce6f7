"""Springs between dofs and the mass rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import trapezoid

from fem.forces.bar import MASS_FRACTIONS, multiply_mass
from fem.forces.springs import Springs, evaluate_springs, spring_point
from tests.trials import no_tangent, trial

TABLE = np.array([[-1.0, -5.0, 2.5], [0.0, 0.0, 0.0], [0.5, 10.0, 2.5], [2.0, 12.0, 19.0]])


def springs() -> Springs:
    """To the ground on dof 1, between dofs 0 and 4 with a table and damping."""
    return Springs(
        np.array([[1, -1], [0, 4]]), np.array([[30.0, 2.0, 0.0, 0.0], [0.0, 0.7, 0.0, 4.0]]), TABLE, np.array([-1, 0])
    )


@pytest.mark.parametrize("x", [-1.7, -0.4, 0.3, 1.1, 2.6])
def test_force_tangent_and_energy_of_springs(x):
    u, v = np.zeros(6), np.zeros(6)
    u[0], u[1] = x, -0.2
    v[0], v[1] = 0.5, -1.5
    force, flow, tangent = np.zeros(6), np.zeros(6), no_tangent(2, 1)
    evaluate_springs(trial(u, v1=v, rate=3.0), springs(), force, flow, tangent)
    table_force = np.interp(x, TABLE[:, 0], TABLE[:, 1])
    assert force[1] == pytest.approx(30 * -0.2 + 2 * -1.5)
    assert force[0] == pytest.approx(table_force + 0.7 * 0.5)
    assert force[4] == -force[0]
    h = 1e-6
    slope = (np.interp(x + h, TABLE[:, 0], TABLE[:, 1]) - np.interp(x - h, TABLE[:, 0], TABLE[:, 1])) / (2 * h)
    stiffness = slope + 0.7 * 3
    assert tangent.block[0] == pytest.approx([stiffness, 0, 0, 0, 30 + 2 * 3, 0, 0, 0, 0], abs=1e-6)
    assert tangent.block[1] == pytest.approx([0, 0, 0, 0, stiffness, 0, 0, 0, 0], abs=1e-6)
    assert np.flatnonzero(tangent.cross[0]).tolist() == [1, 12]  # (x of the first, y of the second node) and back
    assert tangent.cross[0, [1, 12]] == pytest.approx([-stiffness, -stiffness], abs=1e-6)
    assert flow == pytest.approx([0.7 * 0.5, 2 * -1.5, 0, 0, -0.7 * 0.5, 0])
    grid = np.linspace(0, x, 200_001)
    work = trapezoid(np.interp(grid, TABLE[:, 0], TABLE[:, 1]), grid)
    assert spring_point(1, u, v, springs())[3] == pytest.approx(work, abs=1e-8)


@pytest.mark.parametrize("x0", [-1.7, 0.3, 2.6])
@pytest.mark.parametrize("x1", [-1.2, 0.3000001, 1.4])
def test_secant_spring_force_does_exactly_the_stored_work(x0, x1):
    u0, u1, still = np.zeros(6), np.zeros(6), np.zeros(6)
    u0[0], u1[0] = x0, x1
    force = np.zeros(6)
    evaluate_springs(trial(u1, u0=u0, secant=True), springs(), force, np.zeros(6), no_tangent(2, 1))
    change = spring_point(1, u1, still, springs())[3] - spring_point(1, u0, still, springs())[3]
    assert force[0] * (x1 - x0) == pytest.approx(change, abs=1e-13)


def test_mass_rules_weigh_the_same_and_differ_in_inertia():
    """Row sums give m; about the bar's centre LUMPED has m L^2/4, CONSISTENT m L^2/12 (exact rod), ONE POINT none."""
    inertia = {"LUMPED": 1 / 4, "CONSISTENT": 1 / 12, "ONE POINT": 0.0}
    for rule, (diagonal, off) in MASS_FRACTIONS.items():
        nodes, product = np.array([[0, 1]]), np.zeros(6)
        uniform = np.tile([1.0, 0.0, 0.0], 2)
        multiply_mass(np.array([diagonal] * 6), np.array([off]), nodes, uniform, product)
        assert product @ uniform == pytest.approx(1.0)
        turning = np.array([0, -0.5, 0, 0, 0.5, 0.0])
        multiply_mass(np.array([diagonal] * 6), np.array([off]), nodes, turning, product)
        assert product @ turning == pytest.approx(inertia[rule], abs=1e-15)
