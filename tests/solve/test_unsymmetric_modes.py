"""Modes where K is not symmetric: what rubs on a seabed, lines in a current; none missing."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.solve import modes, unsymmetric_modes
from fem.solve.unsymmetric_modes import lowest_unsymmetric
from tests.solve.test_mode_policies import pencil_of

LAID = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=SPRING1, ELSET=S
2, 1
3, 2
*SPRING, ELSET=S
1
500.
*MATERIAL, NAME=STEEL
*ELASTIC
2.E9
*DENSITY
1000.
*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL, MASS=LUMPED
0.01
*SEABED, ELSET=BAR, ELEVATION=0.{friction}
1.E5, 0., 0.05
0.5, 0.5, 0.02
*STEP, NLGEOM
*STATIC
0.1, 1.
*CONTROLS, RESI_GLOB_RELA=1E-10
*DLOAD
BAR, GRAV, 10., 0., 0., -1.
*CLOAD
ALL, 1, {pull}
*END STEP
"""
STUCK = 0.5 * 50.0 / 0.02
"""mu N/slip of a node that weighs 50."""


@pytest.mark.parametrize("friction", ["", ", FRICTION=ALL"])
@pytest.mark.parametrize("pull", [5.0, 40.0])
def test_what_lies_on_a_seabed_sticks(friction, pull):
    """Of a node of 5 kg: (k + mu N/slip)/m along, mu N/slip/m across, K a/m up; also after 40 N have pulled it along
    (mu N = 25), for what has slid comes back at once. Slow responses meet the same."""
    deck = LAID.format(friction=friction, pull=pull)
    history = fem.run(fem.parse_deck(deck + "*STEP, NLGEOM\n*FREQUENCY\n5\n*END STEP\n"))
    across, along = STUCK / 5.0, (500.0 + STUCK) / 5.0
    np.testing.assert_allclose(history.modes[0].omega ** 2, [across, across, along, 500.0, 500.0], rtol=1e-8)
    slow = "*STEP, NLGEOM\n*STEADY STATE DYNAMICS, DIRECT\n1E-4, 2E-4, 2\n*CLOAD\nALL, 1, 1.\n*END STEP\n"
    moved = fem.run(fem.parse_deck(deck + slow)).responses[0].motion[0, 0, 0]
    assert moved == pytest.approx(1.0 / (500.0 + STUCK), rel=1e-6)


def test_it_swings_as_its_modes_say():
    """Half periods of a small push, by the program's own motion; (w dt)^2/12 of the frequency: 0.07 %."""
    push = "*STEP, NLGEOM\n*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.005, 2.\n*CLOAD\nALL, 1, 5.1\n"
    history = fem.run(fem.parse_deck(LAID.format(friction="", pull=5.0) + push + "*END STEP\n"))
    rows = history.of_step(2)
    time, x = history.time[rows], history.u[rows].reshape(len(history.time[rows]), -1)[:, 0]
    x = x - 0.01 - 0.1 / (500.0 + STUCK)
    turns = np.flatnonzero(x[1:] * x[:-1] < 0.0)
    zero = time[turns] - x[turns] * (time[turns + 1] - time[turns]) / (x[turns + 1] - x[turns])
    assert np.pi / np.diff(zero).mean() == pytest.approx(np.sqrt((500.0 + STUCK) / 5.0), rel=1e-3)


def skew(size: int, turn: float):
    """Springs 1, 4, 9, ...; forces across from each dof to the next, which have no potential."""
    rows = np.vstack([np.eye(size), np.eye(size)[1:], np.eye(size)[:-1]])
    left = np.vstack([np.eye(size), np.eye(size)[:-1], np.eye(size)[1:]])
    weights = np.concatenate([np.arange(1.0, size + 1.0) ** 2, np.full(size - 1, turn), np.full(size - 1, -turn)])
    pencil = pencil_of(weights, np.eye(size), rows)
    return modes.Pencil(*(getattr(pencil, name) for name in ("rows", "weights", "axial", "mass", "gradients",
                          "transform")), pencil_of(weights, np.eye(size), left).rows)  # fmt: skip


@pytest.mark.parametrize("dense", [modes.DENSE, 0])
@pytest.mark.parametrize("turn", [0.1, 3.0, 8.0])
def test_all_are_those_of_the_matrix(turn, dense, monkeypatch):
    """Real, and in pairs where the forces are strong, as LAPACK has them."""
    monkeypatch.setattr(modes, "DENSE", dense)
    pencil = skew(30, turn)
    expected = np.linalg.eigvals(pencil.stiffness(np.ones(len(pencil.weights), bool)).toarray())
    found = lowest_unsymmetric(pencil, 8)
    assert found.missing == 0 and len(found.failed) == 0
    np.testing.assert_allclose(found.squares[:8], np.sort(expected)[:8], rtol=1e-9)
    left = pencil.force(found.shapes) - found.squares * found.shapes
    assert np.abs(left).max() < 1e-9


def test_a_mode_that_is_overlooked_is_counted(monkeypatch):
    """The determinant turns once more than there are modes given."""
    monkeypatch.setattr(modes, "DENSE", 0)
    honest = unsymmetric_modes._some_near
    monkeypatch.setattr(unsymmetric_modes, "_some_near", lambda *given: honest(*given)[:, np.arange(14) != 2])
    found = lowest_unsymmetric(skew(30, 0.1), 8)
    assert found.missing == 1


def test_two_that_almost_coincide_are_both_found_or_named():
    """omega^2 = 1 and 1 + d with vectors d apart: the condition number 1/d costs as many digits."""
    for apart in (1e-2, 1e-5):
        rows, left = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        weights = [1.0, 1.0 + apart, 1.0]
        pencil = pencil_of(weights, np.eye(2), rows)
        pencil = modes.Pencil(pencil.rows, pencil.weights, 0, pencil.mass, pencil.gradients, pencil.transform,
                              pencil_of(weights, np.eye(2), left).rows)  # fmt: skip
        found = lowest_unsymmetric(pencil, 2)
        known = np.concatenate([found.squares, found.failed])
        np.testing.assert_allclose(np.sort(known.real), [1.0, 1.0 + apart], rtol=1e-9)


@pytest.mark.parametrize("dense", [modes.DENSE, 0])
def test_motions_without_stiffness_are_of_zero_frequency_and_apart(dense, monkeypatch):
    """Three dofs that nothing holds beside others that push each other around."""
    monkeypatch.setattr(modes, "DENSE", dense)
    pencil = skew(30, 8.0)
    pencil.weights[:3], pencil.weights[30:33], pencil.weights[59:62] = 0.0, 0.0, 0.0
    found = lowest_unsymmetric(pencil, 6)
    zero = found.shapes[:, found.squares == 0.0]
    assert zero.shape[1] == 3 and not np.any(zero.imag) and np.linalg.matrix_rank(zero[:3].real) == 3
    assert found.missing == 0
