"""Statics of structures that nothing holds, or not enough: a tensegrity prism (closed form of its forces), errors.

T-prism of radius 1, height 1.5, twisted by 150 degrees: force densities q of the triangles, sqrt(3) q of the cables
across and -sqrt(3) q of the struts are in balance (Tibert & Pellegrino, Int. J. Space Struct. 18 (2003) 209).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
from tests.decks import run_text

EA, Q = 1e6, 2000.0
TURN = Rotation.from_rotvec([0.4, 0.5, -0.9]).as_matrix()
ANGLES = np.radians([[0.0, 120.0, 240.0], [150.0, 270.0, 390.0]])
PLACES = np.vstack(
    [np.column_stack([np.cos(a), np.sin(a), np.full(3, z)]) for a, z in zip(ANGLES, (0, 1.5), strict=True)]
)
ENDS = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 5), (1, 3), (2, 4), (0, 3), (1, 4), (2, 5)]
DENSITY = Q * np.array([1.0] * 6 + [np.sqrt(3.0)] * 3 + [-np.sqrt(3.0)] * 3)
LENGTHS = np.array([np.linalg.norm(PLACES[j] - PLACES[i]) for i, j in ENDS])
FORCES = DENSITY * LENGTHS


def rest_lengths(strain: str) -> np.ndarray:
    """L0 at which a bar of length L carries q L: EA (L - L0)/L0 = q L; GREEN: EA (L^2 - L0^2)/(2 L0^2) = q L0."""
    if strain == "ENGINEERING":
        return LENGTHS * EA / (EA + FORCES)
    found = LENGTHS.copy()
    for _ in range(100):
        found = LENGTHS / np.sqrt(1.0 + 2.0 * DENSITY * found / EA)
    return found


def prism(
    strain: str = "GREEN", turn: np.ndarray | None = None, off: float = 0.0, held: str = "", loads: str = ""
) -> str:
    """Drawn ``off`` its form (seeded), turned; perhaps with supports and loads."""
    drawn = PLACES + off * np.random.default_rng(1).standard_normal(PLACES.shape)
    drawn = drawn if turn is None else drawn @ turn.T
    lines = ["*NODE", *(f"{n}, {x!r}, {y!r}, {z!r}" for n, (x, y, z) in enumerate(drawn.tolist(), 1))]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=ALL", *(f"{e}, {i + 1}, {j + 1}" for e, (i, j) in enumerate(ENDS, 1))]
    lines += [
        "*MATERIAL, NAME=M",
        "*ELASTIC",
        repr(EA),
        f"*SOLID SECTION, ELSET=ALL, MATERIAL=M, STRAIN={strain}",
        "1.",
    ]
    lines += ["*REST LENGTH", *(f"{e}, {length!r}" for e, length in enumerate(rest_lengths(strain).tolist(), 1))]
    lines += ["*BOUNDARY", held] if held else []
    return "\n".join([*lines, "*STEP, NLGEOM", "*STATIC", "1., 1.", *([loads] if loads else []), "*END STEP"]) + "\n"


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING"])
@pytest.mark.parametrize("off", [0.0, 0.02])
def test_a_free_prism_finds_its_forces(strain, off):
    """In balance and off it, as drawn and turned; the residual is a part of the forces of its bars."""
    for turn in (None, TURN):
        history = run_text(prism(strain, turn, off))
        np.testing.assert_allclose(history.elements[-1, :, 3], FORCES, rtol=1e-6)
        assert history.residual_norm[-1] <= 1e-6 and not history.events
        (notice,) = history.notices
        assert "six rigid motions are free (translation along x, y, z; rotation about x, y, z)" in notice


def test_one_free_rotation():
    """Statically determinate supports but for a hinge: the same forces, and no reactions."""
    history = run_text(prism(off=0.0, held="1, 1, 3\n2, 2, 3"))
    np.testing.assert_allclose(history.elements[-1, :, 3], FORCES, rtol=1e-9)
    assert np.abs(history.reactions[-1]).max() < 1e-6 * FORCES.max()
    assert any("one rigid motion is free (rotation about" in notice for notice in history.notices)


def test_loads_in_balance_are_carried():
    """Two nodes pulled apart: bars balance the loads at each node, and turning the whole turns the answer."""
    results = []
    for turn in (np.eye(3), TURN):
        way = turn @ (PLACES[0] - PLACES[3])
        way *= 100.0 / np.linalg.norm(way)
        lines = [f"{n}, {axis + 1}, {s * way[axis]!r}".replace("np.float64(", "").replace(")", "")
                 for n, s in ((1, 1.0), (4, -1.0)) for axis in range(3)]  # fmt: skip
        history = run_text(prism(turn=turn, loads="\n".join(["*CLOAD", *lines])))
        results.append(history.elements[-1, :, 3])
        assert not history.events
    np.testing.assert_allclose(*results, rtol=1e-9)
    assert abs(results[0][9] - FORCES[9]) > 50.0


@pytest.mark.parametrize(
    ("held", "loads", "motion"),
    [
        ("", "*CLOAD\n1, 1, 5.", "translation along x"),
        ("", "*CLOAD\n1, 2, 5.\n2, 2, -2.5\n3, 2, -2.5", "rotation about z through"),
        ("", "*CLOAD\n2, 2, 3.\n3, 3, 4.", r"translation along \(0, 0\.6, 0\.8\)"),
        ("1, 1, 3\n2, 1, 3", "*CLOAD\n3, 3, 1.", r"rotation about \(.*\) through"),
    ],
)
def test_loads_that_nothing_holds_are_named(held, loads, motion):
    with pytest.raises(fem.ModelError, match=f"nothing holds the part with node 1 against {motion}"):
        run_text(prism(held=held, loads=loads))


def test_what_is_no_rigid_motion_stays_a_mechanism():
    """A free square without a diagonal, pulled at two corners."""
    nodes = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n*ELEMENT, TYPE=T3D2, ELSET=ALL\n1, 1, 2\n2, 2, 3\n"
    text = f"{nodes}3, 3, 4\n4, 4, 1\n*MATERIAL, NAME=M\n*ELASTIC\n1e4\n*SOLID SECTION, ELSET=ALL, MATERIAL=M\n1.\n"
    load = "*STEP, NLGEOM\n*STATIC\n*CLOAD\n1, 1, -1.\n1, 2, -1.\n3, 1, 1.\n3, 2, 1.\n*END STEP\n"
    with pytest.raises(fem.ModelError, match=r"the model is a mechanism: node [1-4] dof [12]"):
        run_text(text + load)
