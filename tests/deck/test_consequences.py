"""Errors that follow from an earlier error are not listed: one slip in a deck gives one message, or a few."""

from __future__ import annotations

from pathlib import Path

import pytest

import fem
from tests.deck.decks import MODEL, STEP

INPUTS = Path(__file__).resolve().parents[2] / "inputs"


def listed(text: str) -> list[fem.Problem]:
    try:
        fem.parse_deck(text, folder=INPUTS)
    except fem.DeckError as error:
        return list(error.problems)
    return []


SLIPS = [
    ("broken_wire", "\n1, 60\n", "\n1, 60\n1, 60\n", 2),  # elements made twice: 50 second rest lengths
    ("hanging_chain", "*NGEN, NSET", "*NGEN; NSET", 2),  # 21 elements without nodes
    ("lazy_wave_laid", "*NGEN, LINE", "*NGEN; LINE", 2),
    ("splash_zone", "*PARAMETER", "*PARAMEXTER", 1),  # seven parameters without values
    ("splash_zone", "*ELEMENT, TYPE=T3D2, ELSET=LOAD", "*ELEMENT; TYPE=T3D2, ELSET=LOAD", 1),
    ("polyester_rope", "*MATERIAL, NAME=POLYESTER\n", "", 2),
    ("pendulum_one_point", "*STEP, NLGEOM, NAME=SWING\n", "", 2),
    ("ball_on_two_ropes", "*NSET, NSET=FRAME\n", "*NSET; NSET=FRAME\n", 1),
    ("spinning_body", "1., 1.5, 2.2", "1.; 1.5, 2.2", 2),  # a body that is none: its rotations are not blamed
]


@pytest.mark.parametrize(("name", "old", "new", "most"), SLIPS)
def test_one_slip_is_a_few_errors(name: str, old: str, new: str, most: int) -> None:
    text = (INPUTS / f"{name}.inp").read_text()
    assert old in text and not listed(text)
    assert 1 <= len(listed(text.replace(old, new, 1))) <= most


@pytest.mark.parametrize("keyword", ["NODE", "ELEMENT", "NSET", "NGEN", "ELGEN", "MATERIAL", "BOUNDARY", "STEP"])
@pytest.mark.parametrize("name", ["moored_spar", "sea_state", "broken_wire"])
def test_a_misspelt_keyword_is_one_error(name: str, keyword: str) -> None:
    """Whatever reads what it would have defined, and wherever that stands."""
    text = (INPUTS / f"{name}.inp").read_text().replace(f"\n*{keyword}", f"\n*X{keyword}", 1)
    expected = [f"unknown keyword *X{keyword}"] * text.count(f"*X{keyword}")
    assert [problem.message for problem in listed(text)] == expected


def test_independent_errors_are_all_listed() -> None:
    """Of one kind, too; how many follow from the first of a kind is said."""
    wrong = "*CLOAD\nA, 1, 1\nB, 1, 1\nA, 2, 1\n99, 1, 1\n98, 1, x\n"
    found = listed(MODEL + STEP.format(wrong))
    assert [problem.message.rpartition(" ")[2] for problem in found] == ["A", "B", "99", "98", "'x'"]
    assert "1 more error of this kind has the same cause" in found[0].hint and "more error" not in found[1].hint


def test_a_body_without_mass_is_said_once() -> None:
    text = (INPUTS / "spinning_body.inp").read_text()
    start = text.index("*ELEMENT, TYPE=MASS")
    stop = text.index("*ELEMENT", start + 1) if "*ELEMENT" in text[start + 1 :] else text.index("*MASS", start)
    found = listed(text[:start] + text[stop:])
    assert any("has no mass" in problem.message for problem in found)
    assert not any("reference node of a free body" in problem.message for problem in found)


@pytest.mark.parametrize(
    ("card", "way"),
    [
        ("HYPERELASTIC", "*UNIAXIAL with *LOADING DATA"),
        ("CONTACT PAIR", "*SEABED, *RIGID CYLINDER and *STOP PLANE"), ("FRICTION", "*SEABED"),
        ("CREEP", "*VISCOELASTIC"), ("DAMAGE INITIATION", "*FAILURE"), ("MODAL DYNAMIC", "*DYNAMIC"),
    ],
)  # fmt: skip
def test_refusals_name_the_way_that_exists(card: str, way: str) -> None:
    (problem,) = listed(f"*{card}\n1, 2\n" + MODEL + STEP.format(""))
    assert problem.message == f"*{card} is not supported" and way in problem.hint


def test_parameters_that_differ_in_case() -> None:
    (problem,) = listed("*PARAMETER\nr = 1\nR = 2\n" + MODEL + STEP.format(""))
    assert problem.message == "parameter 'R' is defined twice" and "r stands above" in problem.hint
