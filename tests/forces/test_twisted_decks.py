"""Decks of lines that twist against closed forms: ``helical_spring``, ``crane_hook``, ``turned_hose``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.deck import read_deck
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("bottom", "told"), [(1e300, "too long for numbers"), (-1e100, "folded back on itself")])
def test_a_hose_that_has_no_shape_is_refused(bottom, told):
    with pytest.raises(fem.DeckError, match=told):
        read_deck(INPUTS / "turned_hose.inp", {"bottom": bottom})


def turned(text):
    """The deck with y in place of x, z of y and x of z."""
    found, card = [], ""
    for line in text.splitlines():
        if line.startswith("*"):
            card = card if line.startswith("**") else line.split(",")[0]
        elif (fields := line.split(", ")) and card in ("*NODE", "*ROTARY INERTIA", "*DLOAD"):
            line = ", ".join([*fields[:-3], fields[-1], *fields[-3:-1]])
        elif card == "*BOUNDARY" and fields[1].isdigit() and fields[1:3] != ["4", "6"]:
            line = ", ".join(
                [fields[0], *(str(int(dof) + (-2 if dof in "36" else 1)) for dof in fields[1:3]), *fields[3:]]
            )
        found.append(line)
    return "\n".join(found)


def backwards(text):
    """The deck whose elements run from their second to their first node."""
    return text.replace("*ELEMENT, TYPE=B31\n1, 1, 2\n", "*ELEMENT, TYPE=B31\n1, 2, 1\n")


def shuffled(text):
    """The deck with the lines of its nodes in another order, which is that of unknowns."""
    head, nodes, rest = re.split(r"(?<=NSET=ALL\n)|(?=\*ELEMENT)", text, maxsplit=2)
    lines = nodes.splitlines()
    return head + "\n".join(lines[::2] + lines[1::2]) + "\n" + rest


@pytest.mark.parametrize(("name", "other"), [
    ("helical_spring", turned), ("crane_hook", turned), ("turned_hose", turned), ("helical_spring", backwards),
    ("crane_hook", backwards), ("turned_hose", backwards), ("helical_spring", shuffled),
])  # fmt: skip
def test_axes_and_orders_change_nothing(name, other):
    """Displacements of all nodes of the deck, of the last row."""
    text = (INPUTS / f"{name}.inp").read_text()
    one, two = (fem.run(fem.parse_deck(each)) for each in (text, other(text)))
    assert other(text) != text
    labels = [label for label in one.mesh.node_labels.tolist() if label <= 100]
    moved, found = (np.array([each.of_node(label)[-1] for label in labels]) for each in (one, two))
    assert found == pytest.approx(
        np.roll(moved, 1, axis=1) if other is turned else moved, abs=1e-7 * np.abs(moved).max()
    )
