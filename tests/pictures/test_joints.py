"""Forces in the joints: the sum over everything beyond is what the link itself needs, and what the support gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fem.arrays import Floats
from fem.cli import main
from fem.forces.bar import MASS_FRACTIONS
from fem.runner import run_to_files
from fem.runs.read import Missing, Results, open_results
from fem.show.links import forces_of, joints, motion_of, trees_of

MIDDLE = "TIME INTEGRATOR=ENERGY MOMENTUM"
BRANCHES = {"chain": ((1, 2), (2, 3), (3, 4)), "tree": ((1, 2), (3, 2), (2, 4))}
DECK = """*NODE, NSET=ALL
1, 0, 0, 0
2, 0.5, 0, -0.1
3, 1.0, 0.1, 0
4, 1.5, 0, 0.2
9, 0, 0, 1
*ELEMENT, TYPE=T3D2, ELSET=BARS
{bars}
*ELEMENT, TYPE=MASS, ELSET=P
21, 2
22, 4
*MASS, ELSET=P, ALPHA=0.1
0.3
*ELEMENT, TYPE=DASHPOT1, ELSET=D
31, 4
*DASHPOT, ELSET=D
3
{viscosity}
*ELEMENT, TYPE=SPRING2, ELSET=S
32, 2, 4
*SPRING, ELSET=S
1, 1
3.
*MATERIAL, NAME=M
{law}
*DENSITY
1.2
*DAMPING, ALPHA=0.3
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS={mass}
1.
*AMPLITUDE, NAME=SHAKEN, DEFINITION=PERIODIC
1, 6., 0., -0.1
0.1, 0.
*AMPLITUDE, NAME=GROWING
0., 0.5, 1., 3.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, {card}
0.004, 0.06
*CONTROLS, {tolerance}ENERGY DRIFT=OFF
*BOUNDARY, AMPLITUDE=SHAKEN
1, 3, 3, 1.
*DLOAD, AMPLITUDE=GROWING
BARS, GRAV, 9.81, 0., 0., -1.
P, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=ALL
U, V, A, RF
*EL PRINT, ELSET=BARS
T
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, {card}
0.004, 0.06
*CLOAD
4, 2, 1.
2, 3, -1.
*DLOAD
BARS, BY, 0.7
*END STEP
"""


def results_of(folder: Path, card: str, law: str, mass: str, shape: str = "chain", **words: str) -> Results:
    """Run the deck in which everything acts; its results."""
    bars = "\n".join(f"{k}, {i}, {j}" for k, (i, j) in enumerate(BRANCHES[shape], 11))
    tolerance = "" if card == MIDDLE else "RESI_GLOB_RELA=1e-12, "
    given = {"viscosity": "0.2", "tolerance": tolerance} | words
    text = DECK.format(bars=bars, card=card, law=law, mass=mass, **given)
    (folder / "deck.inp").write_text(text)
    run_to_files(folder / "deck.inp", folder / "results", quiet=True)
    return open_results(folder / "results")


def drawn(results: Results) -> tuple[list[tuple[int, int, int]], Floats, Floats, str]:
    """Links (element label, near and far node label), their forces, instants that were kept, what is said of them."""
    trees = trees_of(results, results.acting[1].labels)
    motion, needs_rates = motion_of(results, trees, results.acting)
    force, said, kept = forces_of(results, trees, motion, results.acting, needs_rates)
    mesh = results.mesh
    links = [
        (int(mesh.element_labels[e]), int(mesh.node_labels[i]), int(mesh.node_labels[j]))
        for tree in trees
        for e, i, j in tree.links
    ]
    return links, force, kept, said


def own_need(results: Results, element: int, near: int, far: int, mass: str) -> Floats:
    """What a link needs at its near end by its own equation of motion: its mass and tension, nothing beyond it.

    F = M_ii a_i + M_ij a_j + C ... - T d/|d| - half of its loads; ENERGY MOMENTUM with rods: d and V of the middle.
    """
    table, place = results.nodes, dict(zip(results.mesh.node_labels.tolist(), results.mesh.coordinates, strict=True))
    names = [f"{letter}{axis}" for letter in "UVA" for axis in "123"]
    i, j = (table.curves(names, [label])[label] for label in (near, far))
    tension = results.elements.curves(["T"], [element])[element][:, 3]
    d = place[far] + j[:, 3:6] - place[near] - i[:, 3:6]
    length = np.linalg.norm(place[far] - place[near])
    step, increment, time = i[:, 0], i[:, 1], i[:, 2]
    gravity = np.where(step == 1, 0.5 + 2.5 * time, 0.5 + 2.5 * 0.06)
    loads = 1.2 * length * 9.81 * gravity[:, None] * np.array([0.0, 0.0, -1.0]) + (step == 2)[:, None] * [
        0.0, 0.7 * length, 0.0,
    ]  # fmt: skip
    vi, vj, unit = i[:, 6:9].copy(), j[:, 6:9].copy(), d / np.linalg.norm(d, axis=1)[:, None]
    if results.acting[1].is_middle:
        later = increment > 0
        for values in (loads, vi, vj, unit):
            values[later] = 0.5 * (values[1:] + values[:-1])[later[1:]]
    diagonal, off = MASS_FRACTIONS[mass]
    body = 1.2 * length
    inertia = diagonal * (i[:, 9:12] + 0.3 * vi) + off * (j[:, 9:12] + 0.3 * vj)
    return body * inertia - tension[:, None] * unit - 0.5 * loads


@pytest.mark.parametrize("shape", BRANCHES)
@pytest.mark.parametrize(
    ("card", "law", "mass"),
    [
        (MIDDLE, "*INEXTENSIBLE", "CONSISTENT"),
        (MIDDLE, "*INEXTENSIBLE", "LUMPED"),
        ("TIME INTEGRATOR=GENERALIZED ALPHA", "*INEXTENSIBLE", "CONSISTENT"),
        ("TIME INTEGRATOR=HHT", "*ELASTIC\n60.", "ONE POINT"),
        ("TIME INTEGRATOR=NEWMARK", "*ELASTIC\n60.", "LUMPED"),
        ("TIME INTEGRATOR=NEWMARK", "*INEXTENSIBLE", "ONE POINT"),
        ("TIME INTEGRATOR=BACKWARD EULER", "*ELASTIC\n60.", "CONSISTENT"),
    ],
)
@pytest.mark.sampled(4)
def test_the_sum_over_everything_beyond_is_what_the_link_needs(tmp_path, card, law, mass, shape):
    """To 1e-10, from the tables, at every increment of two steps; the support gives it.

    Dashpots beside rods follow the velocities before they are projected, but for ENERGY MOMENTUM: 1e-6 here.
    """
    viscosity = "0." if law == "*INEXTENSIBLE" and card != MIDDLE else "0.2"
    results = results_of(tmp_path, card, law, mass, shape, viscosity=viscosity)
    links, force, kept, said = drawn(results)
    assert len(links) == 3 and kept.all() and len(kept) == 32
    largest = np.abs(force).max()
    for k, (element, near, far) in enumerate(links):
        need = own_need(results, element, near, far, mass)
        assert np.abs(force[:, k] - need).max() < 1e-10 * largest
    assert said.startswith("they agree with RF to") and float(said.split()[5]) < 1e-10


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
def test_elastic_bars_of_energy_momentum_balance_the_support(tmp_path, mass):
    """Their mean forces are in no table; the sum does not ask for them."""
    results = results_of(tmp_path, MIDDLE, "*ELASTIC\n60.", mass, "tree")
    _, _, kept, said = drawn(results)
    assert kept.all() and float(said.split()[5]) < 1e-10


def test_explicit_steps_balance_too_and_dashpots_of_theirs_are_left_out(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    said = drawn(results_of(tmp_path / "a", "EXPLICIT", "*INEXTENSIBLE", "LUMPED", viscosity="0."))[3]
    assert float(said.split()[5]) < 1e-10
    with pytest.raises(Missing, match="dashpots of EXPLICIT"):
        joints(results_of(tmp_path / "b", "EXPLICIT", "*INEXTENSIBLE", "LUMPED"))


@pytest.mark.long
def test_tables_are_drawn_at_every_increment_and_what_is_missing_is_said(tmp_path, capsys):
    """U, A and RF in the tables are enough: V and the fields are not asked for where no force follows velocities."""
    results = results_of(tmp_path, MIDDLE, "*INEXTENSIBLE", "CONSISTENT")
    folder = results.folder
    assert main(["plot", str(folder), "--what", "reactions"]) == 0
    assert "joints.png (from the tables; they agree with RF to" in capsys.readouterr().out
    figure = joints(results)
    assert all(
        len(line.get_xdata()) == 32 for panel in figure.axes for line in panel.lines if len(line.get_xdata()) > 2
    )
    text = (tmp_path / "deck.inp").read_text()
    (tmp_path / "deck.inp").write_text(text.replace("*NODE PRINT,", "*NODE PRINT, FREQUENCY=5,"))
    run_to_files(tmp_path / "deck.inp", folder, quiet=True)
    with pytest.raises(Missing, match="FREQUENCY=1"):
        joints(open_results(folder))
