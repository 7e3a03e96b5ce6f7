"""Statics of free bodies: they find the place where they hang from where they are drawn; one that stands topples."""

from __future__ import annotations

import numpy as np
import pytest

from tests.decks import run_text

WEIGHT = 3.0 * 9.81
DECK = """*NODE
1, {centre}
2, {eye}
11, 0, 0, 0
12, 2, 0.5, 0
*NSET, NSET=EYE
2
*NSET, NSET=HELD
11, 12
*ELEMENT, TYPE=T3D2, ELSET=LINE
{lines}
*ELEMENT, TYPE=MASS, ELSET=BODY
1, 1
*MASS, ELSET=BODY
3
*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA
2, 1
*ROTARY INERTIA, ELSET=INERTIA
{moments}
*RIGID BODY, REF NODE=1, TIE NSET=EYE
*MATERIAL, NAME=ROPE
*ELASTIC
1E6
*DENSITY
0.1
*SOLID SECTION, ELSET=LINE, MATERIAL=ROPE
1
*BOUNDARY
HELD, 1, 3
*STEP, NLGEOM, INC=1000
*STATIC
1, 1
*DLOAD
BODY, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U, RF
*EL PRINT, ELSET=LINE
T
*END STEP
"""
ONE, TWO = "5, 11, 2", "5, 11, 2\n6, 12, 2"
WHOLE, FLAT = "0.1, 0.2, 0.15", "0.1, 0.2, 0.3"


def hang(centre, eye, lines=ONE, moments=WHOLE):
    """Places of the centre of mass and of the eye at rest, and the history."""
    history = run_text(DECK.format(centre=centre, eye=eye, lines=lines, moments=moments))
    return history.positions(1)[-1], history.positions(2)[-1], history


@pytest.mark.parametrize("moments", [WHOLE, FLAT])
@pytest.mark.parametrize("centre", ["0.9, 0.3, -0.2", "0.4, -0.2, -1.3", "0.55, -0.1, 0.35"])
def test_a_body_on_one_line_hangs_below_it(centre, moments):
    eye = "0.6, 0, -0.3"
    arm = np.linalg.norm(np.subtract(*(np.array(text.split(","), float) for text in (centre, eye))))
    length = np.hypot(0.6, 0.3)
    place, end, history = hang(centre, eye, moments=moments)
    stretched = length * (1 + WEIGHT / 1e6)  # of a Green strain this small; the line's own weight is left out
    assert end == pytest.approx([0, 0, -stretched], abs=1e-6)
    assert place == pytest.approx([0, 0, -stretched - arm], abs=1e-6)
    assert history.elements[-1, 0, -1] == pytest.approx(WEIGHT, rel=1e-6)


def test_a_body_on_two_lines_hangs_in_the_plane_of_its_weight():
    """The centre of mass comes to lie below the eye: no moment about it."""
    place, end, _ = hang("1.2, 0.5, -0.4", "1, 0.2, -1.5", lines=TWO)
    assert place[:2] == pytest.approx(end[:2], abs=1e-6)
    assert place[2] < end[2]


def test_a_body_that_stands_is_said_to_topple():
    """Its centre of mass exactly above the eye, and the eye exactly below the support: in balance, and unstable."""
    _, _, standing = hang("0, 0, -0.5", "0, 0, -1", moments=FLAT)
    assert any("unstable" in notice and "topples" in notice for notice in standing.notices)
    _, _, hanging = hang("0, 0, -1.5", "0, 0, -1", moments=FLAT)
    assert not any("unstable" in notice for notice in hanging.notices)


LEGS = """*NODE
1, 0, 0, 0
{ends}
{lines}
*NSET, NSET=EYES
100, 200, 300
*NSET, NSET=HELD
104, 204, 304
*ELEMENT, TYPE=T3D2, ELSET=LEGS
100, 100, 101
200, 200, 201
300, 300, 301
*ELGEN, ELSET=LEGS
100, 4
200, 4
300, 4
*ELEMENT, TYPE=MASS, ELSET=BODY
1, 1
*MASS, ELSET=BODY
400
*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA
2, 1
*ROTARY INERTIA, ELSET=INERTIA
30, 40, 50
*RIGID BODY, REF NODE=1, TIE NSET=EYES
*MATERIAL, NAME=ROPE
*ELASTIC
1E6
*NO COMPRESSION
*DENSITY
5
*SOLID SECTION, ELSET=LEGS, MATERIAL=ROPE
1
*BOUNDARY
HELD, 1, 3
*STEP, NLGEOM, INC=1000
*STATIC
1, 1
*CLOAD
1, 3, 12000
*DLOAD
BODY, GRAV, 9.81, 0, 0, -1
LEGS, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U
*END STEP
"""


@pytest.mark.parametrize("seed", [2, 3, 8])
def test_a_buoy_on_legs_drawn_straight_is_where_laid_legs_hold_it(seed):
    """Straight legs without tension resist nothing across; laid with the natural lengths of their chords, they do."""
    rng = np.random.default_rng(seed)
    ends, straight, laid = [], [], []
    for leg in range(3):
        angle, reach = 2 * np.pi * leg / 3 + rng.uniform(-0.5, 0.5), rng.uniform(12, 30)
        eye = np.array([0.8 * np.cos(angle), 0.8 * np.sin(angle), rng.uniform(-0.8, 0.4)])
        held = np.array([reach * np.cos(angle), reach * np.sin(angle), -rng.uniform(5, 30)])
        first, last = 100 * (leg + 1), 100 * (leg + 1) + 4
        ends += [f"{label}, {', '.join(map(repr, map(float, at)))}" for label, at in ((first, eye), (last, held))]
        straight.append(f"*NGEN\n{first}, {last}")
        laid.append(f"*NGEN, LINE=CATENARY\n{first}, {last}, 1, {float(np.linalg.norm(held - eye))!r}")
    legs = LEGS.replace("1, 3, 12000", f"1, 3, {rng.uniform(5000, 20000)}")
    decks = (legs.format(ends="\n".join(ends), lines="\n".join(lines)) for lines in (straight, laid))
    (found, expected) = (run_text(deck).positions(1)[-1] for deck in decks)
    assert np.abs(expected).max() > 0.1  # away from where it is drawn
    assert found == pytest.approx(expected, abs=1e-5)


TURNS = """*NODE, NSET=ALL
1, 0., 0., 0.
10, 0., 0.2, -3.
11, -0.5, 0., -2.
12, 0.5, 0., -2.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 11
2, 1, 12
*ELEMENT, TYPE=MASS, ELSET=M
30, 10
*ELEMENT, TYPE=ROTARYI, ELSET=I
35, 10
*NSET, NSET=PINS
11, 12
*MASS, ELSET=M
20.
*ROTARY INERTIA, ELSET=I
5., 8., 4.
*RIGID BODY, REF NODE=10, PIN NSET=PINS
*MATERIAL, NAME=R
*ELASTIC
2e5
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=R, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, INC=1000
*STATIC
0.1, 1.
*DLOAD
M, GRAV, 9.81, 0., 0., -1.
*END STEP
"""


def test_a_body_that_turns_without_resistance_is_said_to_be_neutral():
    """Two lines from one support: the body can turn about the vertical, and does by round-off. From two supports it
    cannot."""
    assert any("is neutral: the rigid body of node 10" in notice for notice in run_text(TURNS).notices)
    held = TURNS.replace("10, 0., 0.2, -3.", "2, 0.3, 0, 0\n10, 0., 0.2, -3.").replace("2, 1, 12", "2, 2, 12")
    held = held.replace("*BOUNDARY\n", "*BOUNDARY\n2, 1, 3\n")
    assert not any("neutral" in notice for notice in run_text(held).notices)
