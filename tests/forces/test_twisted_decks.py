"""Decks of lines that twist against closed forms: ``helical_spring``, ``crane_hook``, ``turned_hose``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from validation.references.torsion import hung_rod, spring_stiffness

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
GRAVITY = 9.80665


def test_a_helical_spring():
    """The compliance of the whole helix, and the handbook's G d^4/(8 D^3 N), which bends no wire and cuts no corner
    (a pitch of D/5: 0.6 % less). Of second order: 2.9 % with 20 bars a turn."""
    history = fem.run(INPUTS / "helical_spring.inp")
    force, (d, young) = history.of_node(81, "RF")[-1], (5e-3, 2.1e11)
    area, inertia, shear = 0.25 * np.pi * d**2, np.pi * d**4 / 64.0, young / 2.6
    exact = spring_stiffness(0.025, 0.01, 4, young * inertia, 2.0 * shear * inertia, young * area)
    assert force[2] / 1e-3 == pytest.approx(exact, rel=3.5e-2)
    assert force[2] / 1e-3 > exact
    assert exact == pytest.approx(shear * d**4 / (8.0 * 0.05**3 * 4.0), rel=1e-2)


def test_a_load_spins_on_its_crane_rope():
    """C (W L + w L^2/2)/(EA GJ - C^2) at rest; let go it swings from 0 to twice that with the period
    2 pi sqrt(L (I + Ip L/3)/(GJ - C^2/EA)). 282 increments a period, ENERGY MOMENTUM."""
    stretch, torsion, coupling, length = 2e7, 100.0, 4000.0, 20.0
    weight, own, polar = 2000.0 * GRAVITY, 1.6 * GRAVITY, 8000.0 * 5e-10
    rest = coupling * (weight * length + 0.5 * own * length**2) / (stretch * torsion - coupling**2)
    omega = np.sqrt((torsion - coupling**2 / stretch) / (length * (100.0 + polar * length / 3.0)))
    history = fem.run(INPUTS / "crane_hook.inp")
    later = history.time >= 1.0
    turned = history.of_node(100, "UR")[later]
    exact = rest * (1.0 - np.cos(omega * (history.time[later] - 1.0)))
    assert turned[:, 2] == pytest.approx(exact, abs=5e-4 * rest)
    assert np.abs(turned[:, :2]).max() < 1e-9
    pulls = weight + own * length * (1.0 - (np.arange(10) + 0.5) / 10.0)  # half the weight of a bar hangs at its ends
    held = np.searchsorted(history.time, 1.0)
    tension = np.array([history.of_element(bar, "T")[held] for bar in range(1, 11)])
    assert tension == pytest.approx(pulls, rel=1e-9)
    assert np.abs(history.energy_error[later]).max() < 1e-8


def test_a_hose_between_ends_that_turn():
    """Together: a flexible shaft. Against each other: a Kirchhoff rod, by collocation; second order, 30 bars."""
    history = fem.run(INPUTS / "turned_hose.inp")
    torque, height = hung_rod(3.0, 2.0, 0.5 * GRAVITY, 3.0, 2.4, 2.0)
    hung, turned = (int(np.searchsorted(history.time, time - 1e-9)) for time in (1.0, 2.0))
    assert history.u[turned] == pytest.approx(history.u[hung], abs=1e-9)
    found = np.array([history.of_node(node, "SMT")[-1][2] for node in range(1, 32)])
    assert np.ptp(found) < 1e-9
    assert found[0] == pytest.approx(torque, rel=1e-2)
    middle = history.of_node(16)[-1][2] - np.sqrt(1.4**2 - 0.9**2)  # from the place in the deck
    assert middle == pytest.approx(height, rel=5e-3)
    aside = max(abs(history.of_node(node)[-1][1]) for node in range(1, 32))
    assert aside > 0.05  # out of its plane
