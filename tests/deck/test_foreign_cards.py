"""Cards of Abaqus and CalculiX with the meaning they have there: sets of one node in equations, PIN and TIE, springs as
connectors, sections without an area; tables of other programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import fem
from fem.deck import parse_deck, read_deck, write_deck
from fem.errors import DeckError

SQUARE = """*NODE, NSET=ALL
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 1, 1, 0
5, 2, 0.5, 0
*NSET, NSET=LEFT
1, 3
*NSET, NSET=RIGHT
2, 4
*NSET, NSET=REF
5
*ELEMENT, TYPE=T3D2, ELSET=E
1, 1, 2
2, 3, 4
*MATERIAL, NAME=M
*ELASTIC
1000.
*SOLID SECTION, ELSET=E, MATERIAL=M
{area}
{ties}
*BOUNDARY
LEFT, 1, 3
RIGHT, 3, 3
{held}
*STEP
*STATIC
*CLOAD
5, 1, 20.
*END STEP
"""
HELD = "REF, 2, 3"
EQUATIONS = "*EQUATION\n2\nRIGHT, 1, 1., REF, 1, -1.\n*EQUATION\n2\nRIGHT, 2, -1.\nREF, 2, 1."


@pytest.mark.parametrize(
    ("area", "ties", "held", "u"),
    [
        ("1.", EQUATIONS, HELD, 0.01),
        (",", EQUATIONS, HELD, 0.01),
        ("2.", "*MPC\nPIN, RIGHT, REF", "REF, 2, 2", 0.005),
        ("1.", "*MPC\nTIE, 2, 5\nTIE, 4, 5", "REF, 2, 2", 0.01),
    ],
)
def test_nodes_of_a_set_follow_one_node(area: str, ties: str, held: str, u: float) -> None:
    """20 N on two bars of EA = 1000 A, length 1, by hand: u = 20 / (2 EA)."""
    if "MPC" in ties:
        held = held + "\n"
    text = SQUARE.format(area=area, ties=ties, held=held.strip())
    if "MPC" in ties:
        text = text.replace("RIGHT, 3, 3\n", "").replace("REF, 2, 2", "REF, 2, 3")
    model = parse_deck(text)
    history = fem.run(model)
    for node in (2, 4, 5):
        assert history.of_node(node)[-1] == pytest.approx([u, 0.0, 0.0], rel=1e-12)
    assert parse_deck(write_deck(model)) == model
    assert any("area 1" in notice for notice in model.notices) == (area == ",")


def test_sets_of_different_sizes_are_still_refused() -> None:
    for ties in ("*EQUATION\n2\nALL, 1, 1., LEFT, 1, -1.", "*MPC\nPIN, ALL, LEFT", "*MPC\nLINK, ALL, LEFT"):
        with pytest.raises(DeckError, match="different sizes"):
            parse_deck(SQUARE.format(area="1.", ties=ties, held=HELD))


def test_a_pin_of_nodes_with_other_axes_and_a_tie_of_beams_are_refused() -> None:
    turned = "*MPC\nPIN, 2, 5\n*TRANSFORM, NSET=REF\n1., 1., 0., 0., 1., 0."
    with pytest.raises(DeckError, match=r"node 5 of \*MPC PIN has axes by \*TRANSFORM; use \*EQUATION"):
        parse_deck(SQUARE.format(area="1.", ties=turned, held=HELD))
    beams = SQUARE.replace("T3D2", "B31").replace("*SOLID SECTION", "*BEAM SECTION, SECTION=CIRC")
    for kind in ("TIE", "PIN"):
        text = beams.format(area="0.1", ties=f"*MPC\n{kind}, 2, 4", held=HELD)
        if kind == "PIN":
            assert len(parse_deck(text).equations) == 3
            continue
        with pytest.raises(DeckError, match="TIE of lines that bend, at nodes 2 and 4; let them share a node"):
            parse_deck(text)


CONNECTOR = """*NODE, NSET=ALL
1, 0, 0, 0
2, 2, 0, 0
*ELEMENT, TYPE=CONN3D2, ELSET=C
1, 1, 2
*CONNECTOR SECTION, ELSET=C, BEHAVIOR=B
{kind},
*CONNECTOR BEHAVIOR, NAME=B
{elasticity}
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM
*STATIC
*CLOAD
2, 1, 30.
*END STEP
"""


@pytest.mark.parametrize(
    ("elasticity", "u"),
    [
        ("*CONNECTOR ELASTICITY, COMPONENT=1\n600.,", 0.05),
        ("*CONNECTOR ELASTICITY, COMPONENT=1, NONLINEAR\n-10., -0.1\n0., 0.\n10., 0.1\n50., 0.2", 0.15),
    ],
)
def test_axial_connectors_are_springs(elasticity: str, u: float) -> None:
    """30 N: u = F / k, and between two rows of the table, by hand."""
    model = parse_deck(CONNECTOR.format(kind="AXIAL", elasticity=elasticity))
    assert fem.run(model).of_node(2)[-1][0] == pytest.approx(u, rel=1e-9)
    assert parse_deck(write_deck(model)) == model


@pytest.mark.parametrize(
    ("kind", "elasticity", "message"),
    [
        ("JOIN", "*CONNECTOR ELASTICITY\n1.", "connectors of type 'JOIN' are not supported; AXIAL is; *MPC LINK"),
        ("AXIAL", "", "the behavior has no *CONNECTOR ELASTICITY; without one it would carry nothing"),
        ("AXIAL", "*CONNECTOR ELASTICITY, COMPONENT=2\n1.", "AXIAL connectors have component 1 only"),
        ("AXIAL", "*CONNECTOR ELASTICITY, RIGID", "RIGID of *CONNECTOR ELASTICITY is not supported: *MPC LINK keeps"),
        ("AXIAL", "*CONNECTOR ELASTICITY\n1.\n*CONNECTOR DAMPING\n1.", "*CONNECTOR DAMPING is not supported; DASHPOTA"),
        ("AXIAL", "*CONNECTOR ELASTICITY\n1.\n*CONNECTOR ELASTICITY\n1.", "B has an elasticity already"),
    ],
)
def test_other_connectors_are_refused(kind: str, elasticity: str, message: str) -> None:
    with pytest.raises(DeckError) as caught:
        parse_deck(CONNECTOR.format(kind=kind, elasticity=elasticity))
    assert message in str(caught.value)


OUT = (
    "\nPredictions were generated on 01-Jan-2026 at 10:20:30 using OpenFAST; compiled as 64-bit\n linked with a, b\n\n"
    "Description from the input file: 5.0 MW\n\nTime\tPtfmSurge\tPtfmHeave\n(s)\t(m)\t(m)\n"
    "0.0\t0.0\t0.0\n0.5\t1.0\t0.2\n1.0\t0.0\t0.0\n"
)


def test_output_of_openfast_is_a_table(tmp_path: Path) -> None:
    """A force of 10 N times the column on EA/L = 1000: U1(0.5) = 0.01."""
    (tmp_path / "series.out").write_text(OUT)
    (tmp_path / "deck.inp").write_text(
        "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n*ELEMENT, TYPE=T3D2, ELSET=S\n1, 1, 2\n*MATERIAL, NAME=M\n*ELASTIC\n1000.\n"
        "*SOLID SECTION, ELSET=S, MATERIAL=M\n1.\n*BOUNDARY\n1, 1, 3\n2, 2, 3\n"
        "*AMPLITUDE, NAME=A, INPUT=series.out, COLUMN=PtfmSurge\n"
        "*STEP, INC=100\n*STATIC, DIRECT\n0.25, 1.\n*CLOAD, AMPLITUDE=A\n2, 1, 10.\n*END STEP\n"
    )
    u = [row[0] for row in fem.run(read_deck(tmp_path / "deck.inp")).of_node(2)]
    assert u == pytest.approx([0.0, 0.005, 0.01, 0.005, 0.0], abs=1e-15)
    (tmp_path / "series.out").write_text(OUT.replace("0.5\t1.0", "0.5\tx"))
    with pytest.raises(DeckError, match=r"series.out:10:5: error: expected the value \(a number\), got 'x'"):
        read_deck(tmp_path / "deck.inp")
