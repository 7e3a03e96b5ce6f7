"""Materials, sections, springs, dashpots, masses, amplitudes, constraints, initial conditions."""

from __future__ import annotations

import math

import pytest

from fem.deck import KEYWORDS, parse_deck
from fem.deck.reader import FOREIGN
from fem.model import Amplitude, Dashpot, Expansion, InitialCondition, Material, PointMass, Spring
from tests.deck.decks import MATERIAL, MESH, STEP, parse, problems


def material(cards: str) -> Material:
    text = MATERIAL.replace("*ELASTIC\n2e11\n", cards)
    return parse_deck(MESH + text + STEP.format("")).materials["STEEL"]


def test_material() -> None:
    cards = "*DAMPING, BETA=1e-3\n*EXPANSION, ZERO=5\n1e-5\n*ELASTIC, TYPE=ISO\n2e11, 0.3\n*DENSITY\n7850,\n"
    expected = Material("STEEL", 2e11, 0.3, 7850.0, Expansion(((1e-5, 0.0),), 5.0), 0.0, 1e-3)
    assert material(cards) == expected
    assert material("*ELASTIC\n1\n*NO COMPRESSION\n").compression_ratio == 0.0
    assert material("*ELASTIC\n1\n*NO COMPRESSION, RATIO=0.5\n").compression_ratio == 0.5
    assert material("*ELASTIC\n1\n*NO TENSION\n").tension_ratio == 0.0
    assert material("*ELASTIC\n1\n*DENSITY\n0\n").density == 0.0


def test_section_extensions_are_listed() -> None:
    text = MATERIAL.replace("=STEEL\n1e-4", "=STEEL, MASS=onepoint, STRAIN=LOG, STARTING TENSION=5\n1e-4")
    model = parse_deck(MESH + text + STEP.format(""))
    section = model.sections[0]
    assert (section.mass_rule, section.strain, section.starting_tension) == ("ONE POINT", "LOG", 5.0)
    assert "*SOLID SECTION, MASS" in model.extensions


def test_sections_of_elements_that_are_refused_are_not_blamed() -> None:
    solid = "*ELEMENT, TYPE=C3D8, ELSET=BLOCK\n9, 1, 2, 3, 1, 2, 3, 1, 2\n*SOLID SECTION, ELSET=BLOCK, MATERIAL=STEEL\n"
    assert [problem.message for problem in problems(MESH + MATERIAL + solid + STEP.format(""))] == [
        "element type 'C3D8' is not supported"
    ]


@pytest.mark.parametrize(("shape", "sizes"), [("CIRC", "0.02"), ("PIPE", "0.02, 0.005")])
def test_round_sections_with_their_own_material(shape: str, sizes: str) -> None:
    """Both cards of Abaqus read the sizes of a shape alike: ``pi (R^2 - r^2)``, ``pi (R^4 - r^4) / 4``."""
    mesh = MESH.replace("T3D2", "B31")
    general = f"*BEAM GENERAL SECTION, SECTION={shape}, ELSET=BARS, DENSITY=7850\n{sizes}\n0., 1., 0.\n2e11, 8e10\n"
    card = f"*BEAM SECTION, SECTION={shape}, ELSET=BARS, MATERIAL=STEEL\n{sizes}\n"
    own = parse_deck(mesh + general + STEP.format(""))
    other = parse_deck(mesh + MATERIAL[: MATERIAL.index("*SOLID")] + card + STEP.format(""))
    sections = own.sections[0], other.sections[0]
    assert (sections[0].area, sections[0].inertia) == (sections[1].area, sections[1].inertia)
    inner = 0.0 if shape == "CIRC" else 0.015
    assert sections[0].area == pytest.approx(math.pi * (0.02**2 - inner**2), rel=1e-15)
    assert sections[0].inertia == pytest.approx(math.pi / 4 * (0.02**4 - inner**4), rel=1e-15)
    assert (own.materials[sections[0].material].young, own.materials[sections[0].material].density) == (2e11, 7850.0)


ONE = "*ELEMENT, TYPE={}, ELSET=SP\n9, 1\n"
TWO = "*ELEMENT, TYPE={}, ELSET=SP\n9, 1, 3\n"
AXIAL = TWO.format("SPRINGA") + "*SPRING, ELSET=SP\n"
TABLE = TWO.format("SPRINGA") + "*SPRING, ELSET=SP, NONLINEAR\n"


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (AXIAL + "100\n", Spring("SP", (), 100.0)),
        (AXIAL + "\n100\n", Spring("SP", (), 100.0)),
        (AXIAL + " ,\n100\n", Spring("SP", (), 100.0)),
        (AXIAL + "1\n100\n", Spring("SP", (), 100.0)),
        (AXIAL + "1, 1\n100.\n", Spring("SP", (), 100.0)),
        (AXIAL + "3\n", Spring("SP", (), 3.0)),
        (AXIAL + "-5\n", Spring("SP", (), -5.0)),
        (TABLE + "-1, -1\n0, 0\n2, 1\n", Spring("SP", (), 0.0, ((-1.0, -1.0), (0.0, 0.0), (2.0, 1.0)))),
        (TABLE + "\n0, 0\n2, 1\n", Spring("SP", (), 0.0, ((0.0, 0.0), (2.0, 1.0)))),
        (TABLE + "1\n0, 0\n2, 1\n", Spring("SP", (), 0.0, ((0.0, 0.0), (2.0, 1.0)))),
        (TABLE + "1, 1\n3, 2\n", Spring("SP", (), 0.0, ((1.0, 1.0), (3.0, 2.0)))),
        (ONE.format("SPRING1") + "*SPRING, ELSET=SP\n2\n100\n", Spring("SP", (2,), 100.0)),
        (ONE.format("SPRING1") + "*SPRING, ELSET=SP\n\n2\n3\n", Spring("SP", (2,), 3.0)),
        (TWO.format("SPRING2") + "*SPRING, ELSET=SP\n1, 3\n100\n", Spring("SP", (1, 3), 100.0)),
        (
            ONE.format("SPRING1") + "*SPRING, ELSET=SP, NONLINEAR\n3\n0, 0\n1, 1\n",
            Spring("SP", (3,), 0.0, ((0.0, 0.0), (1.0, 1.0))),
        ),
    ],
)
def test_spring_layouts(cards: str, expected: Spring) -> None:
    assert parse(cards).springs == (expected,)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (TWO.format("DASHPOTA") + "*DASHPOT, ELSET=SP\n10\n", Dashpot("SP", (), 10.0)),
        (TWO.format("DASHPOTA") + "*DASHPOT, ELSET=SP\n\n10\n", Dashpot("SP", (), 10.0)),
        (ONE.format("DASHPOT1") + "*DASHPOT, ELSET=SP\n1\n10\n", Dashpot("SP", (1,), 10.0)),
        (TWO.format("DASHPOT2") + "*DASHPOT, ELSET=SP\n1, 1\n10\n", Dashpot("SP", (1, 1), 10.0)),
    ],
)
def test_dashpot_layouts(cards: str, expected: Dashpot) -> None:
    assert parse(cards).dashpots == (expected,)


def test_coincident_nodes_are_fine_between_dofs() -> None:
    model = parse("*NODE\n8, 1, 0\n*ELEMENT, TYPE=SPRING2, ELSET=SP\n9, 2, 8\n*SPRING, ELSET=SP\n1, 1\n5\n")
    assert model.springs == (Spring("SP", (1, 1), 5.0),)


def test_mass() -> None:
    model = parse(ONE.format("MASS") + "*MASS, ELSET=SP, ALPHA=0.5\n3.\n")
    assert model.masses == (PointMass("SP", 3.0, 0.5),)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        ("*AMPLITUDE, NAME=a\n0, 0, 1, 2, 3, 4\n7, 8\n", Amplitude("A", points=((0, 0), (1, 2), (3, 4), (7, 8)))),
        (
            "*AMPLITUDE, NAME=A, TIME=TOTAL TIME, VALUE=RELATIVE, SMOOTH=0\n0, 1\n",
            Amplitude("A", "TABULAR", "TOTAL TIME", ((0, 1),)),
        ),
        ("*AMPLITUDE, NAME=A, SHIFTX=1, SHIFTY=-2\n0, 1, 1, 2\n", Amplitude("A", points=((1, -1), (2, 0)))),
        (
            "*AMPLITUDE, NAME=A, DEFINITION=EQUALLY SPACED, FIXED INTERVAL=0.5, BEGIN=1\n0, 1\n2\n",
            Amplitude("A", points=((1, 0), (1.5, 1), (2, 2))),
        ),
        (
            "*AMPLITUDE, NAME=A, DEFINITION=SMOOTH STEP\n0, 0, 1, 1\n",
            Amplitude("A", "SMOOTH STEP", points=((0, 0), (1, 1))),
        ),
        (
            "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n2, 6.28, 0.1, 5\n1, 2, 3, 4\n",
            Amplitude("A", "PERIODIC", omega=6.28, start=0.1, mean=5, fourier=((1, 2), (3, 4))),
        ),
        (
            "*AMPLITUDE, NAME=A, DEFINITION=SWEEP\n3, 7, 1.5\n",  # a sine from rest on
            Amplitude("A", "SWEEP", omega=3, omega_end=7, duration=1.5, fourier=((0, 1),)),
        ),
    ],
)  # fmt: skip
def test_amplitudes(card: str, expected: Amplitude) -> None:
    assert parse(card).amplitudes == {"A": expected}


def test_equations() -> None:
    cards = (
        "*NSET, NSET=L\n1, 2\n*NSET, NSET=R\n2, 3\n*EQUATION\n3\nL, 1, 1, R, 2, -1,\n3, 3, 0.5\n2\n3, 1, 1, 1, 3, 2\n"
    )
    found = [equation.terms for equation in parse(cards).equations]
    assert found == [
        ((0, 1, 1.0), (1, 2, -1.0), (2, 3, 0.5)),
        ((1, 1, 1.0), (2, 2, -1.0), (2, 3, 0.5)),
        ((2, 1, 1.0), (0, 3, 2.0)),
    ]
    assert "twice" in problems(MESH + MATERIAL + "*EQUATION\n2\n1, 1, 1, 1, 1, 2\n" + STEP.format(""))[0].message
    twice = "*EQUATION\n2\n1, 1, 1, 2, 1, 2\n2\n1, 1, 1, 3, 1, 2\n"
    assert "two equations" in problems(MESH + MATERIAL + twice + STEP.format(""))[0].message


def test_initial_conditions() -> None:
    model = parse(
        "*INITIAL CONDITIONS, TYPE=STRESS\nBARS, 1e6, 0., 0., 0., 0., 0.\n2, 5\n"
        "*INITIAL CONDITIONS, TYPE=VELOCITY\nALL, 2, -1\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\n3, 20\n"
        "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n3, 1, 0.1\n"
    )
    assert model.initial_conditions == (
        InitialCondition("STRESS", "BARS", 1e6),
        InitialCondition("STRESS", 2, 5.0),
        InitialCondition("VELOCITY", "ALL", -1.0, 2),
        InitialCondition("TEMPERATURE", 3, 20.0),
        InitialCondition("DISPLACEMENT", 3, 0.1, 1),
    )
    assert "*INITIAL CONDITIONS, TYPE=DISPLACEMENT" in model.extensions
    spring = AXIAL + "5\n*INITIAL CONDITIONS, TYPE=STRESS\nSP, 1\n"
    assert "carry no initial stress" in problems(MESH + MATERIAL + spring + STEP.format(""))[0].message


def test_foreign_keywords_are_not_ours() -> None:
    assert not set(FOREIGN) & set(KEYWORDS)
    assert len(set(FOREIGN)) == len(FOREIGN)


@pytest.mark.parametrize("keyword", [*KEYWORDS, *FOREIGN])
def test_every_keyword_alone_and_everywhere(keyword: str) -> None:
    for text in (
        f"*{keyword}\n",
        f"*{keyword}, XYZ=1\n1, 2\n",
        MESH + MATERIAL + STEP.format(f"*{keyword}\n1, 1, 1\n"),
    ):
        try:
            parse_deck(text)
        except Exception as error:
            assert type(error).__name__ == "DeckError"
