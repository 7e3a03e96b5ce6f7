"""Ropes over pulleys as decks have them: PULLEY elements, their sections, lengths and friction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fem.deck import deck_reader, parse_deck, write_deck
from fem.model import BarSection, Model, Pulley, RestLength
from fem.show.checking import check
from tests.deck.decks import problems

DECK = """\
*PARAMETER
mu = 0.25
*NODE, NSET=ALL
1, 0., 0., -3.
2, 0., 0., 0.
3, 4., 0., 0.
4, 4., 0., -2.
*ELEMENT, TYPE=PULLEY, ELSET=ROPE
5, 1, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=TAIL
6, 3, 4
*ELEMENT, TYPE=MASS, ELSET=BOB
7, 4
*MASS, ELSET=BOB
2.
*ELSET, ELSET=LINE
ROPE, TAIL
*NSET, NSET=REEVED, ELSET=ROPE
*MATERIAL, NAME=M
*ELASTIC
2e4
*DENSITY
0.5
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*REST LENGTH
ROPE, 2.5, 4.
*PULLEY, ELSET=ROPE
<mu>
*BOUNDARY
1, 1, 3
2, 1, 3
*STEP, NLGEOM
*STATIC
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*EL PRINT, ELSET=LINE
T, T2
*END STEP
"""


@pytest.fixture
def model() -> Model:
    return parse_deck(DECK)


def test_a_rope_has_two_ends_and_a_node_between(model: Model) -> None:
    mesh = model.mesh
    assert mesh.blocks[0].kind == "PULLEY" and mesh.blocks[0].connectivity.tolist() == [[0, 1, 2]]
    assert mesh.element_nodes.tolist() == [[0, 2], [2, 3], [3, 3]]
    assert mesh.pulley_nodes.tolist() == [1, -1, -1] and mesh.has_pulleys
    legs, elements = mesh.legs
    assert legs.tolist() == [[0, 1], [1, 2], [2, 3], [3, 3]] and elements.tolist() == [0, 0, 1, 2]
    assert mesh.node_sets["REEVED"].tolist() == [0, 1, 2]
    bare = replace(mesh, blocks=mesh.blocks[1:])
    assert not bare.has_pulleys and np.array_equal(bare.legs[0], bare.element_nodes)


def test_cards_of_pulleys(model: Model) -> None:
    assert model.sections == (BarSection("LINE", "M", 1.0, strain="ENGINEERING"),)
    assert model.rest_lengths == (RestLength("ROPE", 2.5, 4.0),) and model.rest_lengths[0].whole == 6.5
    assert model.pulleys == (Pulley("ROPE", 0.25),)
    assert model.steps[0].outputs[0].variables == ("T", "T2")
    assert {"*ELEMENT, TYPE=PULLEY", "*PULLEY", "*EL PRINT of T, T2"} < set(model.extensions)
    assert not [notice for notice in model.notices if "no element" in notice]  # the pulley is no idle node


def test_text_to_model_to_text(model: Model) -> None:
    text = write_deck(model)
    assert parse_deck(text) == model and write_deck(parse_deck(text)) == text
    once = replace(model, rest_lengths=(RestLength(5, 6.0),), pulleys=())
    assert parse_deck(write_deck(once)) == once


def test_many_are_generated() -> None:
    """The three nodes of *ELGEN go on together."""
    nodes = "".join(
        f"{first + k}, {k}., 0., {height}.\n" for first, height in ((11, 0), (21, 1), (31, 2)) for k in (0, 1, 2)
    )
    text = DECK.replace(
        "*ELEMENT, TYPE=PULLEY, ELSET=ROPE\n", f"*NODE\n{nodes}*ELEMENT, TYPE=PULLEY, ELSET=ROPE\n11, 11, 21, 31\n"
    )
    mesh = parse_deck(text.replace("*ELSET", "*ELGEN, ELSET=ROPE\n11, 3\n*ELSET", 1)).mesh
    assert mesh.node_labels[mesh.blocks[0].connectivity].tolist()[-2:] == [[12, 22, 32], [13, 23, 33]]


def test_in_instances() -> None:
    """Labels of rest lengths are those of the instance, too."""
    head, part, rest = DECK.partition("*NODE, NSET=ALL\n")
    part += rest[: rest.index("*MATERIAL")] + "*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING\n1.\n"
    rest = rest[rest.index("*MATERIAL") :].replace(
        "*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING\n1.\n", ""
    )
    places = "*INSTANCE, NAME=A, PART=P\n*END INSTANCE\n*INSTANCE, NAME=B, PART=P\n0., 9., 0.\n*END INSTANCE\n"
    rest = rest.replace("ROPE, 2.5", "B.5, 2.5").replace("ELSET=ROPE", "ELSET=B.ROPE").replace("LINE", "B.LINE")
    rest = rest.replace("\n1, 1, 3\n2, 1, 3", "\nB.1, 1, 3\nB.2, 1, 3")
    assembly = f"*ASSEMBLY, NAME=ALL\n{places}*END ASSEMBLY\n"
    model = parse_deck(head + f"*PART, NAME=P\n{part}*END PART\n" + assembly + rest)
    assert [model.mesh.named(rest.target) for rest in model.rest_lengths if isinstance(rest.target, int)] == ["B.5"]
    assert model.mesh.pulley_nodes.tolist() == [1, 5, -1, -1, -1, -1]


def test_sweeps_vary_friction_without_reading_again(tmp_path: Path) -> None:
    deck = tmp_path / "rope.inp"
    deck.write_text(DECK)
    read = deck_reader(deck, ["mu"])
    assert [read({"mu": mu}).pulleys[0].friction for mu in (0.0, 0.5)] == [0.0, 0.5]


def test_what_check_says() -> None:
    """Mass rho A L0 of the rope counts, its nodes are joined and have mass."""
    model = parse_deck(DECK)
    report = check(model)
    assert "pulleys     element 5 over node 2: 3 + 4, L0 6.5, mu 0.25" in report.description
    assert "mass        6.25: bars LUMPED 1; point masses 2; over pulleys 3.25" in report.description
    assert ["does not sag" in text for text in report.findings] == [True, True]
    dynamic = parse_deck(DECK.replace("*STATIC", "*DYNAMIC, DIRECT\n0.01, 1.").replace("*DENSITY\n0.5", "*DENSITY\n0."))
    assert any("no mass" in text and "nodes 3:" in text for text in check(dynamic).findings)
    loose = parse_deck(DECK.replace("2, 1, 3\n", "").replace("\n1, 1, 3\n", "\n4, 1, 3\n"))
    assert not [text for text in check(loose).findings if "free body" in text]


def changed(old: str, new: str) -> list[str]:
    assert old in DECK
    return [problem.message for problem in problems(DECK.replace(old, new, 1))]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5, 1, 2, 3\n", "5, 1, 2\n", "expected node 2 (a positive integer), got nothing"),
        ("5, 1, 2, 3\n", "5, 1, 2, 1\n", "element 5 has node 1 twice: a rope over a pulley has three"),
        (
            "STRAIN=ENGINEERING",
            "STRAIN=LOG",
            "STRAIN=LOG is for bars, and element set LINE has elements of type PULLEY",
        ),
        ("STRAIN=ENG", "MASS=ONE POINT, STRAIN=ENG", "MASS=ONE POINT is for bars, and element set LINE"),
        ("*DENSITY", "*EXPANSION\n1e-5\n*DENSITY", "*EXPANSION is for bars, and element set LINE"),
        ("*DENSITY", "*NO TENSION\n*DENSITY", "*NO TENSION is for bars, and element set LINE"),
        ("<mu>", "-0.1", "the coefficient of friction must not be negative, got -0.1"),
        (
            "*PULLEY, ELSET=ROPE",
            "*PULLEY, ELSET=LINE",
            "element 6 is not a PULLEY: *PULLEY gives the friction of these only",
        ),
        ("*PULLEY", "*PULLEY, ELSET=ROPE\n0.1\n*PULLEY", "element 5 has a second *PULLEY"),
        ("ROPE, 2.5, 4.", "TAIL, 1., 1.", "element 6 is not a PULLEY: it has one rest length, not two"),
        ("*BOUNDARY", "*FAILURE, TYPE=TENSION\nROPE, 9.\n*BOUNDARY", "element 5 is a PULLEY, which cannot break"),
        ("*DLOAD", "*MODEL CHANGE, REMOVE\nROPE\n*DLOAD", "element 5 is a PULLEY, which cannot be removed"),
        ("LINE, GRAV, 9.81, 0., 0., -1.", "LINE, BZ, -9.", "element 5 is a PULLEY: BZ acts on bars"),
        (
            "*BOUNDARY",
            "*INITIAL CONDITIONS, TYPE=STRESS\nROPE, 1.\n*BOUNDARY",
            "ROPE has elements other than T3D2 and T2D2",
        ),
        (
            "*BOUNDARY",
            "*NONSTRUCTURAL MASS, ELSET=ROPE, UNITS=TOTAL MASS\n5.\n*BOUNDARY",
            "ROPE has elements other than T3D2 and T2D2: *NONSTRUCTURAL MASS is for bars",
        ),
        (
            "*BOUNDARY",
            "*SEABED, ELSET=ROPE, ELEVATION=-9\n1e3, 0., 0.1\n*BOUNDARY",
            "element 5 is not a bar: only T3D2",
        ),
    ],
)
def test_mistakes(old: str, new: str, message: str) -> None:
    found = changed(old, new)
    assert len(found) == 1 and message in found[0]


@pytest.mark.parametrize(
    "load", ["FDD, 1., 0.1, 1.", "FDT, 1., 0.1, 1.", "PB, 1., 0.1", "FI, 1., 0.1, 2., 1.", "WDD, 1., 0.1, 1."]
)
def test_fluids_act_on_bars(load: str) -> None:
    text = DECK.replace("*BOUNDARY", "*AQUA\n-10., 5., 9.81, 1000.\n*WIND\n1.2, 10., 5., 0., 1., 0.\n*BOUNDARY")
    (found,) = problems(text.replace("LINE, GRAV, 9.81, 0., 0., -1.", f"ROPE, {load}"))
    assert found.message == f"{load[: load.index(',')]} acts on bars (T3D2, T2D2), and element 5 is none"


def test_a_branch_without_length_is_a_mistake_at_its_line() -> None:
    (found,) = problems(DECK.replace("3, 4., 0., 0.", "3, 0., 0., 0."))
    assert found.message == "a branch of element 5 has no length: nodes 2 and 3 are at the same point"
    assert found.text == "5, 1, 2, 3"


@pytest.mark.parametrize(("place", "span", "is_told"), [(7.0, 85.0, True), (3.0, 85.0, False), (85.0, 85.0, True)])
def test_heavy_branches_do_not_sag(place: float, span: float, is_told: bool) -> None:
    """A branch is straight, and its tension that of its middle: w h/2 less than at the pulley, h <= l its height.

    A run of this kind (w = 20 N/m, 2000 N over the pulley, 7 m of 85) has 1.4 % more sag than its catenary.
    """
    far = [f"{n}, {x:g}, 0., 0." for n, x in ((10, 0.5 * (place + span)), (11, span)) if place < span]
    nodes = "\n".join([f"3, {place}, 0., 0.", f"4, {place}, 0., -2.", *far])
    text = DECK.replace("3, 4., 0., 0.\n4, 4., 0., -2.", nodes).replace("ROPE, 2.5, 4.", f"ROPE, 2.5, {place}")
    text = text.replace("6, 3, 4", "6, 3, 10\n8, 10, 11" if far else "6, 3, 4").replace("7, 4\n", "7, 1\n")
    text = text.replace("*BOUNDARY", "*BOUNDARY\n11, 1, 3" if far else "*BOUNDARY\n3, 1, 3")
    found = [each for each in check(parse_deck(text)).findings if "to node 3 is a straight" in each]
    assert len(found) == is_told
    if is_told:
        weight = 0.5 * 0.5 * 9.81 * place  # half of rho A g l
        assert (
            f"line of length {place:g} (the whole line: {span:g})," in found[0]
            and f"up to {weight:.4g} less" in found[0]
        )
