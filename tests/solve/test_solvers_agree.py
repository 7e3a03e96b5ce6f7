"""Chain, band and sparse direct solver give the same motion with the same iteration counts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.decks import chain, run_text

TREE = """*NODE
1,0,0,0
2,1,0,0
3,1,1,0
4,2,0,0.5
5,3,0,0
6,3,1,1
7,3,-1,1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,3,2
3,2,4
4,4,5
5,6,5
6,5,7
*ELEMENT, TYPE=MASS, ELSET=TIP
20, 7
*MASS, ELSET=TIP, ALPHA=0.3
5.
*ELEMENT, TYPE=SPRING1, ELSET=GROUND
30, 4
*SPRING, ELSET=GROUND
2
700.
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*DAMPING, ALPHA=0.1
*NO COMPRESSION, RATIO=0.2
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=LOG, MASS=CONSISTENT
1.
*BOUNDARY
1, 1, 3
6, 2
3, 1, 3
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
0.01, 0.6
*CONTROLS, RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF
*DLOAD
LINE, GRAV, 9.81, 0, -0.3, -1
*CLOAD
5, 1, 30.
*END STEP
"""
DECKS = {
    "falling chain": chain(12),
    "pinned at both ends": chain(9, both_ends=True, mass="CONSISTENT", strain="ENGINEERING"),
    "stiff, pinned at both ends": chain(9, both_ends=True, young=1e10, dt=0.002, period=0.1),
    "one point mass": chain(5, mass="ONE POINT", period=0.3),
    "tree": TREE,
}


@pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)
def test_chain_band_and_direct_agree(deck):
    """Displacements to 1e-9 of the span, counts equal."""
    reference = run_text(deck, solver="DIRECT")
    for solver in ("CHAIN", "BAND"):
        history = run_text(deck, solver=solver)
        assert np.array_equal(history.iterations, reference.iterations), solver
        assert np.abs(history.u - reference.u).max() < 1e-9, solver


def net(cells: int, stress: float, time: str = "0.002, 0.04") -> str:
    """A square net, edges pinned, mass rule CONSISTENT (off-diagonal mass), under its weight."""
    size = cells + 1
    at = {(i, j): i * size + j + 1 for i in range(size) for j in range(size)}
    bars = [(at[i, j], at[i, j + 1]) for i in range(size) for j in range(cells)]
    bars += [(at[i, j], at[i + 1, j]) for i in range(cells) for j in range(size)]
    edge = [at[i, j] for i, j in at if i in (0, cells) or j in (0, cells)]
    return "\n".join(
        ["*NODE", *(f"{label}, {0.1 * i!r}, {0.1 * j!r}, 0." for (i, j), label in at.items())]
        + ["*ELEMENT, TYPE=T3D2, ELSET=NET", *(f"{k + 1}, {i}, {j}" for k, (i, j) in enumerate(bars))]
        + ["*NSET, NSET=EDGE", *map(str, edge), "*MATERIAL, NAME=M", "*ELASTIC", "1e4", "*DENSITY", "1."]
        + ["*SOLID SECTION, ELSET=NET, MATERIAL=M, STRAIN=ENGINEERING, MASS=CONSISTENT", "1."]
        + ["*BOUNDARY", "EDGE, 1, 3", "*INITIAL CONDITIONS, TYPE=STRESS", f"NET, {stress}"]
        + ["*STEP, NLGEOM=YES", "*DYNAMIC, DIRECT", time, "*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF", "*DLOAD"]
        + ["NET, GRAV, 9.81, 0.2, 0, -1", "*END STEP", ""]
    )


def test_conjugate_gradients_agree_with_the_direct_solver():
    """Inexact Newton may take other counts; at a residual of 1e-10 the motion is the same to 1e-10 of the size."""
    deck = net(12, 10.0)
    reference, history = run_text(deck, solver="DIRECT"), run_text(deck, solver="CG")
    assert np.abs(history.u - reference.u).max() < 1e-10
    assert history.iterations.sum() <= 2 * reference.iterations.sum()


def test_indefinite_tangents_go_to_the_direct_solver():
    """Strongly compressed bars buckle: negative curvature, no wrong answer."""
    deck = net(8, -150.0, "0.02, 0.1")
    reference, history = run_text(deck, solver="DIRECT"), run_text(deck, solver="CG")
    assert np.abs(history.u - reference.u).max() < 1e-8
    assert reference.elements[-1, :, 3].min() < -100.0
    assert any("solved directly" in notice for notice in history.notices)


def test_history_does_not_depend_on_the_size_of_chunks(monkeypatch):
    from fem.solve import marching

    whole = run_text(DECKS["tree"])
    monkeypatch.setattr(marching, "LONGEST_CHUNK", 3)
    parts = run_text(DECKS["tree"])
    assert np.array_equal(whole.u, parts.u)
    assert np.array_equal(whole.energy, parts.energy)
    assert np.array_equal(whole.iterations, parts.iterations)
