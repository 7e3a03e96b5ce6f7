"""The judges of statics: bar laws, catenaries, chains, the braced square."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp

from validation.references import axial_bar, braced_square, catenary, chain, published, torsion


@pytest.mark.parametrize("measure", axial_bar.MEASURES)
@pytest.mark.parametrize("free_strain", [0.0, 0.02])
@pytest.mark.parametrize("f", [-0.19, -1e-3, 0.0, 1e-9, 0.1, 0.19245, 0.35])
def test_bar_force_and_stretch_are_inverse(measure, free_strain, f):
    assert axial_bar.force(measure, axial_bar.stretch(measure, f, free_strain), free_strain) == pytest.approx(
        f, abs=1e-12
    )


@pytest.mark.parametrize("measure", axial_bar.MEASURES)
def test_bar_is_hooke_at_small_strain(measure):
    assert axial_bar.stretch(measure, 1e-8) == pytest.approx(1 + 1e-8, abs=1e-15)


def test_bar_has_limit_points():
    with pytest.raises(ValueError, match="GREEN"):
        axial_bar.stretch("GREEN", -0.2)
    with pytest.raises(ValueError, match="LOG"):
        axial_bar.stretch("LOG", 0.37)


def test_flat_catenary_is_a_parabola():
    span, length, weight = 100.0, 100.01, 3.0
    cable = catenary.inextensible(span, length, weight)
    # length = span (1 + 8/3 (sag/span)^2), H = w span^2/(8 sag), to (sag/span)^2 of themselves
    assert cable.sag == pytest.approx(span * np.sqrt(3 / 8 * (length / span - 1)), rel=1e-3)
    assert cable.horizontal_force == pytest.approx(weight * span**2 / (8 * cable.sag), rel=1e-3)


def test_stiff_elastic_catenary_is_inextensible():
    stiff = catenary.elastic(80.0, 100.0, 300.0, 1e13)
    rigid = catenary.inextensible(80.0, 100.0, 3.0)
    assert stiff.sag == pytest.approx(rigid.sag, rel=1e-9)
    assert stiff.horizontal_force == pytest.approx(rigid.horizontal_force, rel=1e-9)
    assert stiff.end_tension == pytest.approx(rigid.end_tension, rel=1e-9)


def test_taut_elastic_cable_follows_irvines_flat_formula():
    span, stiffness, weight = 325.0, 1.3e7, 20.0
    cable = catenary.elastic(span, span, weight, stiffness)
    # L0 = span: H^3 = E A W^2/24 for a flat cable
    assert cable.horizontal_force == pytest.approx((stiffness * weight**2 / 24) ** (1 / 3), rel=1e-4)


@pytest.mark.parametrize("free_strain", [0.0, 9e-4])
def test_elastic_catenary_solves_its_differential_equations(free_strain):
    span, length, weight, stiffness = 80.0, 100.0, 300.0, 5e3
    cable = catenary.elastic(span, length, weight, stiffness, free_strain)
    h = cable.horizontal_force

    def slopes(s, y):
        v = weight / 2 - weight * s / length
        tension = np.hypot(h, v)
        stretch = 1 + free_strain + tension / stiffness
        return np.array([stretch * h / tension, stretch * v / tension])

    arcs = np.linspace(0, length, 41)
    found = solve_bvp(slopes, lambda a, b: np.array([a[0], a[1]]), arcs, np.zeros((2, 41)), tol=1e-10, max_nodes=50_000)
    x, z = catenary.elastic_shape(cable, arcs, length, weight, stiffness, free_strain)
    assert found.sol(arcs)[0] == pytest.approx(x, abs=1e-7)
    assert found.sol(arcs)[1] == pytest.approx(z, abs=1e-7)
    assert x[-1] == pytest.approx(span, rel=1e-13)
    assert z[-1] == pytest.approx(0, abs=1e-9)
    assert z[20] == pytest.approx(cable.sag, rel=1e-13)


@pytest.mark.parametrize("measure", axial_bar.MEASURES)
def test_chain_is_in_equilibrium(measure):
    bars, stiffness = 8, 900.0
    hung = chain.hang(bars, 9.0, 10.0, 80.0, stiffness, measure, 0.01)
    d = np.diff(hung.positions, axis=0)
    lengths = np.linalg.norm(d, axis=1)
    forces = np.array([stiffness * axial_bar.force(measure, r, 0.01) for r in lengths / (10.0 / bars)])
    pull = forces[:, None] * d / lengths[:, None]
    balance = pull[1:] - pull[:-1] - np.array([0.0, 80.0 / bars])
    assert np.abs(balance).max() < 1e-9
    assert hung.positions[-1] == pytest.approx([9.0, 0.0], abs=1e-12)


def test_chain_becomes_the_elastic_catenary():
    exact = catenary.elastic(80.0, 100.0, 300.0, 5e4)
    errors = [chain.hang(n, 80.0, 100.0, 300.0, 5e4, "ENGINEERING").sag - exact.sag for n in (20, 40)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.01)


def test_chain_gives_the_twenty_bars_of_ssnl114a():
    span, stiffness = 325.0, 5.7e10 * 2.2783e-4
    weight = 2844.23 * 2.2783e-4 * 9.81 * span
    for free_strain, value in (
        (0.0, published.SSNL114A_COLD_20_BARS),
        (2.3e-5 * 39.26, published.SSNL114A_HOT_20_BARS),
    ):
        assert -chain.hang(20, span, span, weight, stiffness, "GREEN", free_strain).sag == pytest.approx(
            value, abs=5e-7
        )


def test_braced_square_tends_to_small_displacements():
    small = braced_square.solve(1.0, 2.1e7)
    assert small["01-03"] == pytest.approx(np.sqrt(2), rel=1e-6)
    assert small["03-04"] == pytest.approx(-1, rel=1e-6)
    # Second-order: the force of the bottom bar grows with the square of the load.
    ratio = braced_square.solve(1000.0, 2.1e7)["04-01"] / braced_square.solve(500.0, 2.1e7)["04-01"]
    assert ratio == pytest.approx(4, rel=1e-3)
    assert braced_square.solve(1000.0, 2.1e7)["04-01"] == pytest.approx(-0.182315, abs=5e-7)


@pytest.mark.parametrize("tension", [each for each in torsion.CLAMPED if each])
def test_torques_that_buckle_clamped_rods_are_roots(tension):
    """To the digits they have: beside them the determinant is fifty times as large at 1e-3 of the torque."""
    torque = torsion.CLAMPED[tension]
    root, beside = (abs(torsion.clamped_determinant(each * torque, tension)) for each in (1.0, 1.001))
    assert root < 0.02 * beside
