"""Bulk data of Nastran: places of grids in all systems, formats of cards, and that no card is left out in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.deck import read_deck
from fem.deck.mesh_file import MeshFile
from fem.deck.nastran import read
from fem.errors import DeckError
from fem.model import Model

DECK = """*INCLUDE, INPUT=mesh.bdf
*MATERIAL, NAME=M
*ELASTIC
1e9
*SOLID SECTION, ELSET=EALL, MATERIAL=M
1e-4
*BOUNDARY
1, 1, 3
2, 1, 3
3, 2, 3
*STEP
*STATIC
*CLOAD
3, 1, -100.
*END STEP
"""


def bulk(folder: Path, text: str) -> MeshFile:
    (folder / "mesh.bdf").write_text(text)
    return read(folder / "mesh.bdf")


def model(folder: Path, text: str) -> Model:
    (folder / "mesh.bdf").write_text(text)
    (folder / "deck.inp").write_text(DECK)
    return read_deck(folder / "deck.inp")


def turned(degrees: float, radius: float = 1.0) -> np.ndarray:
    return radius * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])


def test_rods_of_both_cards_carry(tmp_path: Path) -> None:
    """k = EA/4 + (EA/5) (4/5)^2 along x, by hand: the rod of CONROD is the second term."""
    text = (
        "SOL 101\nCEND\nBEGIN BULK\nGRID    1               0.      0.      0.\nGRID,2,,0.,3.,0.\n"
        "GRID*   3                               4.              0.\n*       0.\nCROD    1       21      1       3\n"
        "CONROD  2       2       3       22      4.\nPROD    21      22      4.\nENDDATA\n"
    )
    found = model(tmp_path, text)
    assert fem.run(found).of_node(3)[-1][0] == pytest.approx(-100.0 / (1e5 / 4 + 1e5 / 5 * 0.64), rel=1e-12)
    assert any("cards that are not read: PROD" in notice for notice in found.notices)
    assert found.mesh.element_sets["PID21"].tolist() == [0] and found.mesh.element_sets["CONROD"].tolist() == [1]


def test_places_in_chains_of_systems(tmp_path: Path) -> None:
    """A cylinder within a turned system, whose points are given in a sphere; and one that grids span: by hand."""
    found = bulk(
        tmp_path,
        "GRDSET,,1\n"
        # 1: origin (1, 2, 3), z along global x, x along global y
        "CORD2R,1,0,1.,2.,3.,2.,2.,3.\n,1.,3.,3.\n"
        # 2: a cylinder in 1, along its z, from (10, 0, 0) there; its x along y of 1
        "CORD2C,2,1,10.,0.,0.,10.,0.,1.\n,10.,1.,0.\n"
        # 3: a sphere given in 2: A at r = 2, 30 degrees; z along z of 2; C further out on the same ray
        "CORD2S,3,2,2.,30.,0.,2.,30.,1.\n,3.,30.,0.\n"
        # 4: by grids 11, 12, 13
        "CORD1C,4,11,12,13\n"
        "GRID,11,0,0.,0.,1.\nGRID,12,0,0.,0.,5.\nGRID,13,0,0.,-2.,1.\n"
        "GRID,21,,4.,5.,6.\nGRID,22,2,2.,30.,7.\nGRID,23,3,2.,90.,90.\nGRID,24,4,3.,90.,0.5\nGRID,25,0,1.5-1,-.2+1,3\n"
        "CROD,1,,11,21\n",
    )
    x = dict(zip(found.point_labels.tolist(), found.points, strict=True))

    def first(a: float, b: float, c: float) -> np.ndarray:
        return np.array([1.0 + c, 2.0 + a, 3.0 + b])

    def second(r: float, degrees: float, z: float) -> np.ndarray:
        along, across, _ = turned(degrees, r)
        return first(10.0 - across, along, z)

    assert x[21] == pytest.approx(first(4.0, 5.0, 6.0))
    assert x[22] == pytest.approx(second(2.0, 30.0, 7.0))
    # theta = 90, phi = 90: along y of 3, which is the direction of growing angle in 2
    growing = second(1.0, 120.0, 0.0) - second(0.0, 0.0, 0.0)
    assert x[23] == pytest.approx(second(2.0, 30.0, 0.0) + 2.0 * growing)
    assert x[24] == pytest.approx([3.0, 0.0, 1.5])  # x of 4 is -y, y of 4 is +x
    assert x[25] == pytest.approx([0.15, -2.0, 3.0])


@pytest.mark.parametrize("kind", ["CBAR", "CBEAM", "CTUBE", "CROD"])
def test_labels_and_kinds(tmp_path: Path, kind: str) -> None:
    """Labels are those of the file, in whatever order; beams become bars, and that is said."""
    found = model(tmp_path, f"GRID,3,,4.,0.,0.\nGRID,1,,0.,0.,0.\nGRID,2,,0.,3.,0.\n{kind},7,1,1,3\nCROD,9,1,2,3\n")
    assert found.mesh.coordinates[found.mesh.nodes_of(3)[0]].tolist() == [4.0, 0.0, 0.0]
    assert found.mesh.element_labels.tolist() == [7, 9]
    assert any("bars without bending" in notice for notice in found.notices) == (kind in ("CBAR", "CBEAM"))


def test_nothing_is_left_out_in_silence(tmp_path: Path) -> None:
    grids = "GRID,1,,0.,0.,0.,5,123\nGRID,2,,1.,0.,0.\nCROD,1,1,1,2\n"
    found = bulk(tmp_path, grids + "CELAS2,7,1.,1,1\nRBE2,9,1,123,2\nCBUSH,4,1,1,2\nSPC1,1,123,1\n")
    said = "; ".join(found.said)
    for what in ("CBUSH (1), CELAS2 (1), RBE2 (1), SPC1 (1)", "grid 1 and 0 more, with CD", "supports of GRID"):
        assert what in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GRID,1,7,0.,0.,0.\nCROD,1,1,1,1\n", "line 1: there is no coordinate system 7"),
        (
            "CORD2R,7,8,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nCORD2R,8,7,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nGRID,1,7,0.\n",
            "in itself",
        ),
        ("GRID,1,7,0.\nCORD1R,7,1,2,3\nGRID,2,,1.\nGRID,3,,2.\n", "coordinate system 7 is given in itself"),
        ("GRID,1,7,0.\nCORD2R,7,,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\n", "line 2: the three points .* lie on a line"),
        ("GRID,1,,0.,0.,0.\nCROD,1,1,1,2\n", "line 2: there is no grid 2"),
        ("GRID,1,,0.,zero,0.\n", "line 1: expected a number in field 5 of GRID, got 'ZERO'"),
        ("GRID,1,,0.,0.,0.\nGRID,1,,1.,0.,0.\n", "line 2: grid 1 is defined twice"),
        ("INCLUDE 'more.bdf'\n", "line 1: INCLUDE is not supported"),
        ("GRID,1\nGRID,2,,1.\nCBAR,1,1,1,2,0.,1.,0.\n,,,0.,.1,0.,0.,.1,0.\n", "line 3: CBAR with offsets"),
        ("GRID,1\nGRID,2,,1.\nCROD,5,1,1,2\nCONROD,5,1,2,1,1.\n", "element 5 is defined twice"),
        ("GRID,1,0,1.,2.,3.,4,5,6,7,8,9\n", "line 1: 11 fields behind the first, where 9 can be"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DeckError, match=message):
        model(tmp_path, text)
