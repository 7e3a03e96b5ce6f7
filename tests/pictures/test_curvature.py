"""Lines that bend: the figure of curvature, its range along a line, the stress at a clamp and its cycles."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fem.cli import main
from fem.runner import run_to_files
from fem.runs.read import Missing, open_results
from fem.show.shapes import curvature
from tests.pictures.runs import chain

DECK = """*HEADING
a clamped rod is let go, SI units
*NODE
1, 0., 0., 0.
11, 1., 0., 0.
*NGEN, NSET=ROD
1, 11, 1
*ELEMENT, TYPE=B31, ELSET=RODS
1, 1, 2
*ELGEN, ELSET=RODS
1, 10
*MATERIAL, NAME=GLASS
*ELASTIC
4.E10
*DENSITY
2000.
*BEAM SECTION, ELSET=RODS, MATERIAL=GLASS, SECTION=CIRC
0.0025
*BOUNDARY
1, ENCASTRE
*STEP, NLGEOM, AMPLITUDE=STEP
*DYNAMIC, DIRECT
0.01, 0.5
*CONTROLS, ENERGY DRIFT=OFF
*CLOAD
11, 3, -1.
*DLOAD
RODS, GRAV, 9.81, 1., 0., 0.
*NODE PRINT, NSET=ROD
U, SK, SM
*EL PRINT
T
*END STEP
"""
RADIUS = 0.0025
AREA, MODULUS = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**3


@pytest.fixture(scope="module")
def rod(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rod")
    (folder / "rod.inp").write_text(DECK)
    run_to_files(folder / "rod.inp", folder / "results", quiet=True)
    return folder / "results"


def of_node(folder, column):
    """(k, 11) of all nodes over time."""
    found = open_results(folder).nodes.curves([column], range(1, 12))
    return np.column_stack([found[label][:, 3] for label in range(1, 12)])


def test_the_figure_has_the_extremes_of_each_node(rod):
    (panel,) = curvature(open_results(rod)).axes
    most, _, least = (line.get_ydata() for line in panel.lines)
    expected = of_node(rod, "SK")
    assert most == pytest.approx(expected.max(axis=0)) and least == pytest.approx(expected.min(axis=0))
    assert panel.lines[0].get_xdata() == pytest.approx(np.linspace(0.0, 1.0, 11))
    assert "1/m" in panel.get_ylabel() and most[0] == most.max() > 0.0 == most[-1]


def test_lines_without_bending_have_no_figure(tmp_path):
    with pytest.raises(Missing, match="contains no SK at three instants: request"):
        curvature(open_results(chain(tmp_path)))


def test_the_range_of_nodes(rod, capsys):
    assert main(["post", "range", str(rod), "--set", "rods", "--what", "sk"]) == 0
    rows = np.genfromtxt(rod / "range_SK_RODS.csv", delimiter=",", names=True)
    assert rows["node"].tolist() == list(range(1, 12)) and rows["s"] == pytest.approx(np.linspace(0.0, 1.0, 11))
    assert rows["max"] == pytest.approx(of_node(rod, "SK").max(axis=0)) and (rod / "range_SK_RODS.png").exists()
    assert "in node 1, s = 0," in capsys.readouterr().out


def test_stress_at_a_clamp(rod, capsys):
    """T/A + SM r/I, and that SM does not say to which side the rod bends."""
    what = f"T_e1/{AREA!r}+SM_n1/{MODULUS!r}"
    assert main(["post", "stats", str(rod), "--what", what]) == 0
    printed = capsys.readouterr().out
    elements = open_results(rod).elements.whole(["T"]).reshape(-1, 10)
    stress = elements[:, 0] / AREA + of_node(rod, "SM")[:, 0] / MODULUS
    assert float(re.search(r"max +(\S+)", printed)[1]) == pytest.approx(stress.max(), rel=1e-12)
    assert "note: SM_n1 has no sign and falls to zero" in printed
    assert main(["post", "rainflow", str(rod), "--what", what, "--slope", "3", "--constant", "1e30"]) == 0
    assert (rod / "rainflow_T_e1+SM_n1.csv").exists()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("T_e1/0+SM_n1", "must be divided by something positive"),
        ("T_e1/x", "'T_e1/x' does not name a series"),
        ("T_e1+", "'' does not name a series"),
        ("T_e1+SM_n12", "contains no SM of node 12"),
    ],
)
def test_sums_that_are_none(rod, capsys, what, message):
    assert main(["post", "stats", str(rod), "--what", what]) == 2
    assert message in capsys.readouterr().err
