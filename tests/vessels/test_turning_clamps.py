"""Lines that bend, clamped to rigid bodies: their held directions turn with the body, which feels their moments."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from fem.model.free_bodies import rotation_of
from tests.decks import run_text

EI = 1e3
LINE = """*NODE
1, 0, 0, 0
2, -0.5, 0, 0
10, 0.5, 0, 0.3
{last}, 1.5, 0, 0.3
*NGEN
10, {last}
*ELEMENT, TYPE=B31
10, 10, 11
*ELGEN, ELSET=LINE
10, {bars}
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY=100
0.01, 1e-5, 0, 1e-5, 0

1e8, 4e7
*NSET, NSET=TIED
2, 10
"""
DRIVEN = "*RIGID BODY, REF NODE=1, {tie} NSET=TIED, ROTATION=VECTOR\n"
FREE = """*ELEMENT, TYPE=MASS, ELSET=M
101, 1
*MASS, ELSET=M
3
*ELEMENT, TYPE=ROTARYI, ELSET=R
102, 1
*ROTARY INERTIA, ELSET=R
{inertia}
*RIGID BODY, REF NODE=1, TIE NSET=TIED
"""
STEP = "*STEP, NLGEOM, INC=1000\n{procedure}\n{loads}\n*NODE PRINT\nU, V, RF, RM, UR, SM\n*END STEP\n"
STATIC = "*STATIC\n0.25, 1"


def line(bars=8):
    return LINE.format(last=10 + bars, bars=bars)


def step(loads, procedure=STATIC):
    return STEP.format(procedure=procedure, loads=loads)


def at(history, node, name, last=True):
    table = history.table("nodes")
    rows = np.flatnonzero(np.asarray(table["node"]) == node)
    if name in ("SM", "SK"):
        return np.asarray(table[name])[rows[-1]]
    return np.array([np.asarray(table[f"{name}{axis}"])[rows[-1] if last else rows] for axis in "123"])


@pytest.mark.parametrize("tie, held", [("TIE", ""), ("PIN", "*BOUNDARY\n10, 4, 6\n")])
def test_a_driven_body_turns_the_line_without_force(tie, held):
    turn = np.array([0.3, -0.9, 0.5])
    moves = "".join(f"1, {dof}, {dof}, {value}\n" for dof, value in enumerate([0.1, 0.2, -0.3, *turn], 1))
    text = line() + DRIVEN.format(tie=tie) + held + step("*BOUNDARY\n" + moves)
    model = parse_deck(text)
    assert parse_deck(write_deck(model)) == model
    assert model.mesh.coordinates[-1] == pytest.approx([0.375, 0.0, 0.3])  # behind the clamp, as far as the bar is long
    history = run_text(text)
    end = np.array([1.5, 0.0, 0.3])
    assert at(history, 18, "U") == pytest.approx(rotation_of(turn) @ end - end + [0.1, 0.2, -0.3], abs=1e-7)
    assert at(history, 1, "RM") == pytest.approx(np.zeros(3), abs=1e-4)
    assert at(history, 10, "SM") < 1e-4


def test_pinned_lines_hinge():
    """Without TIE or *BOUNDARY there is no moment at the end, whatever the body does."""
    text = line() + DRIVEN.format(tie="PIN") + "*BOUNDARY\n18, 1, 3\n" + step("*BOUNDARY\n1, 5, 5, 0.2\n")
    history = run_text(text)
    assert at(history, 10, "SM") == 0.0
    assert at(history, 11, "SM") < 1e-3 * EI


def test_the_clamp_of_a_body_is_that_in_space():
    """A body that stands still holds a line as *BOUNDARY does, of second order; its moment is that of the load."""
    load, tips = "*CLOAD\n{end}, 3, -1000\n", []
    in_space = run_text(line() + "*BOUNDARY\n10, 1, 6\n" + step(load.format(end=18)))
    for bars in (4, 8, 16):
        end = 10 + bars
        history = run_text(line(bars) + DRIVEN.format(tie="TIE") + step(load.format(end=end)))
        tips.append(at(history, end, "U"))
        arm = np.array([1.5, 0.0, 0.3]) + tips[-1]
        assert at(history, 1, "RM") == pytest.approx(np.cross(arm, [0.0, 0.0, 1000.0]), abs=1e-4)
        if bars == 8:
            assert tips[-1] == pytest.approx(at(in_space, 18, "U"), abs=1e-10)
    assert 3.5 < np.abs(tips[1] - tips[0]).max() / np.abs(tips[2] - tips[1]).max() < 4.5
    best = (4 * tips[2] - tips[1]) / 3
    assert best[2] == pytest.approx(-0.301721, abs=2e-4)  # elastica, P L^2/EI = 1 (Bisshopp and Drucker)


def test_a_free_body_feels_the_moment_of_its_line():
    """On a pivot, a load at the tip of the line is balanced by a spring at the other side of the body."""
    spring = "*ELEMENT, TYPE=SPRING1, ELSET=S\n200, 2\n*SPRING, ELSET=S\n3\n1e3\n"
    text = line() + FREE.format(inertia="2, 3, 4") + spring + "*BOUNDARY\n1, 1, 3\n1, 4\n1, 6\n"
    history = run_text(text + step("*CLOAD\n18, 3, -100\n").replace("RM, ", ""))  # of fixed rotations it is refused
    tip, other = np.array([1.5, 0.0, 0.3]) + at(history, 18, "U"), np.array([-0.5, 0.0, 0.0]) + at(history, 2, "U")
    pull = np.array([0.0, 0.0, -1e3 * at(history, 2, "U")[2]])
    assert np.cross(tip, [0, 0, -100.0]) + np.cross(other, pull) == pytest.approx(np.zeros(3), abs=1e-4)
    assert np.linalg.norm(at(history, 1, "UR")) > 0.3
    arm = at(history, 18, "U") + [1.5, 0.0, 0.3] - at(history, 10, "U") - [0.5, 0.0, 0.3]
    assert at(history, 10, "SM") == pytest.approx(100 * abs(arm[0]), rel=1e-5)


def test_motion_of_a_body_with_a_clamped_line():
    """A push on the other side: energy to round-off, momentum that of the push, the error of second order."""
    push = "*AMPLITUDE, NAME=PUSH, DEFINITION=SMOOTH STEP\n0, 0, 0.02, 1\n"
    places, masses = [], np.array([0.0625, *[0.125] * 7, 0.0625])
    for dt in (0.001, 0.0005, 0.00025):
        procedure = f"*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n{dt}, 0.02"
        loads = step("*CLOAD, AMPLITUDE=PUSH\n2, 2, 500\n2, 3, 1000", procedure)
        history = run_text(line().replace("1e8", "1e6") + FREE.format(inertia="2, 3, 4") + push + loads)
        places.append(at(history, 18, "U"))
        table = history.table("increments")
        assert np.abs(table["energy_error"]).max() < 1e-11 * table["external_work"][-1]
        velocities = np.array([at(history, node, "V") for node in range(10, 19)])
        assert masses @ velocities + 3.0 * at(history, 1, "V") == pytest.approx([0.0, 5.0, 10.0], abs=1e-7)
    assert 3.3 < np.abs(places[1] - places[0]).max() / np.abs(places[2] - places[1]).max() < 4.7


def test_a_clamp_begins_where_the_body_does():
    """A body that is turned at the start bends the line: EI phi^2/(2 l) at the clamp, l = L (1/2 - 1/(6n))."""
    start = "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n1, 5, 0.3\n1, 1, {}\n1, 3, {}\n"
    arm = np.array([0.5, 0.0, 0.3])
    back = arm - rotation_of(np.array([0.0, 0.3, 0.0])) @ arm  # node 10 stays where it is
    text = line() + FREE.format(inertia="2, 3, 4") + start.format(back[0], back[2])
    history = run_text(text + step("", "*DYNAMIC, DIRECT\n1e-5, 1e-5"))
    assert history.table("increments")["strain"][0] == pytest.approx(
        0.5 * EI * 0.3**2 / (0.125 * (1 / 2 - 1 / 48)), rel=1e-9
    )


def test_a_line_on_a_slender_body():
    """Along its axis a body of two points holds a line; across it it cannot."""
    slender = FREE.format(inertia="0, 3, 3")
    text = line().replace(", 0.3\n", ", 0\n") + slender + "*BOUNDARY\n1, 1, 3\n"
    history = run_text(text + step("*CLOAD\n18, 3, -100\n2, 3, -300.5\n"))
    assert np.linalg.norm(at(history, 1, "UR")) > 0.05
    with pytest.raises(DeckError, match="is clamped across the axis of a slender body"):
        across = text.replace("18, 1.5, 0, 0", "18, 0.5, 0, 1")
        parse_deck(across + step(""))


def test_waves_turn_the_clamp_of_a_vessel():
    """Pitch by RAO in a long wave: the line follows as a stick, up to its own inertia."""
    more = """*WAVE, TYPE=AIRY, WAVE PERIOD
1, 20, 0, 1, 0
*AQUA
-200, 0, 9.81, 1000
*RAO, NAME=SHIP
20, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 90, 0
"""
    body = "*RIGID BODY, REF NODE=1, TIE NSET=TIED, RAO=SHIP\n"
    history = run_text(line(4) + more + body + step("", "*DYNAMIC, DIRECT\n0.25, 5"))
    end, pitch = np.array([1.0, 0.0, 0.0]), math.radians(2.0)
    first, last = at(history, 10, "U", last=False), at(history, 14, "U", last=False)
    turned = np.abs(last - first)[2].max()
    assert turned == pytest.approx(math.sin(pitch) * np.linalg.norm(end), rel=0.02)


JOINT = """*NODE
1, 1, 0, 0
10, 0, 0, 0
20, 1, 0, 0
30, 2, 0, 0
40, 1, 1, 0
*NGEN
10, 20
20, 30
*ELEMENT, TYPE=B31, ELSET=B
10, 10, 11
30, 20, 40
*ELGEN, ELSET=B
10, 20
*BEAM GENERAL SECTION, ELSET=B
1e-3, 1e-7, 0, 1e-7, 1e-7

1e9, 4e8
*NSET, NSET=TIED
20
"""
"""A beam of 20 elements, a branch of one on its middle."""


def test_a_free_body_is_a_joint_of_three_lines():
    """A force at the tip of the branch: h M L/EI + h^3/(3 EI), M = F h, by hand.

    The inner half has the same moment everywhere, of which the terms of its two clamped ends take 1/(3 n^2)."""
    load = "*BOUNDARY\n10, ENCASTRE\n*STEP\n*STATIC\n*CLOAD\n40, 1, 1e-3\n*NODE PRINT\nU\n*END STEP\n"
    history = run_text(JOINT + FREE.format(inertia="1e-3, 1e-3, 1e-3") + load)
    slope = 1e-3 / 100.0 * (1.0 - 1.0 / 300.0)
    assert at(history, 40, "U")[0] == pytest.approx(slope + 1e-3 / 300.0, rel=1e-4)
    assert at(history, 30, "U")[1] - at(history, 20, "U")[1] == pytest.approx(-slope, rel=1e-4)
