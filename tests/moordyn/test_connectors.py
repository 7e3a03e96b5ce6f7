"""``fem import moordyn``: rods without segments have no length; rods without mass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.codes.from_moordyn import chains_of, convert
from fem.codes.moordyn_files import read
from fem.errors import DeckError

TEXT = """a chain on a connector; the second place of a connector is only a direction
---- LINE TYPES ----
Name Diam Mass EA BA EI Cd Ca CdAx CaAx
- - - - - - - - - -
ch 0.1 40.0 1e8 -0.8 0 1.2 1.0 0.2 0
hose 0.1 40.0 1e8 -0.8 1e4 1.2 1.0 0.2 0
---- ROD TYPES ----
Name Diam Mass Cd Ca CdEnd CaEnd
- - - - - - -
con 0.2 50.0 0 0 0 0
spar 2.0 0 0.8 1.0 0.6 0.6
---- BODIES ----
ID Att X0 Y0 Z0 r p y M CG I V CdA Ca
- - - - - - - - - - - - - -
1 Free 0 0 -2 0 0 0 15000 0 150000|150000|8000 0 0 0
---- RODS ----
ID Type Att Xa Ya Za Xb Yb Zb N Out
- - - - - - - - - - -
{rod}
---- POINTS ----
ID Att X Y Z M V CdA Ca
- - - - - - - - -
1 Fixed 100 0 0 0 0 0 0
2 Fixed 0 0 -50 0 0 0 0
---- LINES ----
ID Type A B L N Out
- - - - - - -
{lines}
---- OPTIONS ----
9.80665 g
1025 rho
100 WtrDpth
"""
FIXED, BODY = "1 con Fixed 0 0 -50 3 0 -50 0 -", "1 con Body1 0 0 -5 0 0 5 0 -"
ONE = "1 ch R1B 1 114 40 -"
TWO = "1 {} {} 1 80 8 -\n2 {} 2 {} 80 8 -"


def file_of(folder: Path, rod: str, lines: str) -> Path:
    path = folder / "lines.txt"
    path.write_text(TEXT.format(rod=rod, lines=lines), encoding="utf-8")
    return path


def deck_of(folder: Path, rod: str, lines: str) -> str:
    convert(file_of(folder, rod, lines), folder / "deck.inp", force=True)
    return (folder / "deck.inp").read_text()


@pytest.mark.parametrize("kind", ["Fixed", "Pinned", "Coupled", "CoupledPinned", "Free", "Body1", "Body1Pinned"])
@pytest.mark.parametrize("end", "AB")
def test_both_ends_of_a_connector_are_its_first(tmp_path: Path, kind: str, end: str) -> None:
    """Law (MoorDyn, Rod.cpp: UnstrLen = 0 where N = 0): end B, wherever the file has it, is end A."""
    moorings = read(file_of(tmp_path, f"1 con {kind} 1 2 -45 1 2 -40 0 -", f"1 ch R1{end} 1 120 20 -"))
    point = moorings.points[moorings.lines[0].first]
    assert point.place == pytest.approx((1.0, 2.0, -47.0 if kind.startswith("Body") else -45.0))
    assert point.kind == {"Free": "free", "Body1": "tied", "Body1Pinned": "tied"}.get(
        kind, "coupled" if kind.startswith("Coupled") else "fixed"
    )
    assert all(not body.rods for body in moorings.bodies.values())


def test_tension_of_a_chain_on_a_connector(tmp_path: Path) -> None:
    """40,676 and 55,987 N: MoorDyn's own static tensions of a chain of 114 m from (0, 0, -50) to (100, 0, 0)."""
    file = file_of(tmp_path, FIXED, ONE)
    file.write_text(file.read_text().replace("1 Free 0 0 -2", "1 Fixed 0 0 -2"))
    convert(file, tmp_path / "deck.inp")
    text = (tmp_path / "deck.inp").read_text()
    assert "**   rod 1 has no segments: a connector at its end A" in text
    history = fem.run(fem.parse_deck(text[: text.index("** drag, inertia")]))
    tension = [history.of_element(label, "T")[-1] for label in (1001, 1040)]
    assert tension == pytest.approx([40676.0, 55987.0], rel=1e-4)


def test_a_rod_without_mass_on_a_body_floats(tmp_path: Path) -> None:
    """15,000 kg on a cylinder of 2 m, held 45 m below by a slack-free line: force balance of the whole, by hand.

    rho g pi d^2/4 draft = m g + weight in water of the line + pull of the anchor, all vertical.
    """
    text = deck_of(tmp_path, "1 spar Body1 0 0 -5 0 0 5 20 -", "1 ch 2 R1A 43 20 -")
    history = fem.run(fem.parse_deck(text[: text.index("** drag, inertia")]))
    mesh = history.mesh
    bottom = int(mesh.node_labels[np.isclose(mesh.coordinates, [0.0, 0.0, -7.0]).all(axis=1)][0])
    draft = 7.0 - history.of_node(bottom)[-1][2]
    line = 43.0 * (40.0 - 1025.0 * np.pi / 4.0 * 0.1**2)
    lift = 1025.0 * np.pi * draft - 15000.0 - line
    assert -history.of_node(1001, "reactions")[-1][2] == pytest.approx(9.80665 * lift, rel=1e-9)


def test_lines_with_bending_stiffness_go_on_through_a_free_connector(tmp_path: Path) -> None:
    """A point is a hinge between them (two chains), a connector is none (one): MoorDyn, Rod::setDependentStates."""
    rod = "1 con Free 50 0 -40 51 0 -40 0 -"
    one = chains_of(read(file_of(tmp_path, rod, TWO.format("hose", "R1A", "hose", "R1B"))))
    assert [[line.label for line in chain.lines] for chain in one] == [[1, 2]]


@pytest.mark.parametrize("rod", ["1 con Free 50 0 -40 51 0 -40 0 -", FIXED, BODY])
def test_other_meetings_of_lines_that_bend_are_refused(tmp_path: Path, rod: str) -> None:
    """Both at one end of it, or where it is held."""
    ends = ("R1A", "R1A") if "Free" in rod else ("R1A", "R1B")
    with pytest.raises(DeckError, match="lines with EI that meet at rod 1"):
        read(file_of(tmp_path, rod, TWO.format("hose", ends[0], "hose", ends[1])))
    read(file_of(tmp_path, rod, TWO.format("hose", ends[0], "ch", ends[1])))


def test_rods_that_cannot_be(tmp_path: Path) -> None:
    for rod, message in (
        ("1 con Fixed 0 0 -50 3 0 -50 -1 -", "the number of segments, a whole number of at least 0"),
        ("1 spar Free 0 0 -50 3 0 -50 4 -", "a free body needs a mass"),
    ):
        with pytest.raises(DeckError, match=message):
            deck_of(tmp_path, rod, ONE)


def test_sections_that_are_not_known_are_named(tmp_path: Path) -> None:
    path = file_of(tmp_path, FIXED, ONE)
    path.write_text(path.read_text() + "---- WINGS ----\n- -\n- -\n1 2\n--- need this line ---\n")
    said: list[str] = []
    convert(path, tmp_path / "deck.inp", say=said.append)
    assert "  section WINGS, 1 line: not known" in said
