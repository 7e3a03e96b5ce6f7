"""Rigid bodies on prescribed ways: rates are derivatives, bodies stay rigid, forces and power are those of a wrench."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fem
from fem.assembly.bodies import Body
from fem.deck import parse_deck, write_deck

WAYS = st.lists(st.floats(-2.0, 2.0), min_size=9, max_size=9)
REFERENCES = {
    False: lambda q: Rotation.from_euler("xyz", q).as_matrix(),
    True: lambda q: Rotation.from_rotvec(q).as_matrix(),
}


def turned(is_vector, q, dq, ddq):
    """R, R', R'' (k, 3, 3) of angles (k, 3) and their rates: what a body does to three points on its axes."""
    nothing = np.zeros((5, 0)), np.zeros((2, 6, 0)), np.zeros((0, 2), np.int64), np.zeros(0)
    body = Body(np.arange(6), np.arange(9), np.eye(3), is_vector, *nothing)
    ways = np.concatenate([np.zeros((3, len(q), 3)), np.broadcast_arrays(q, dq, ddq)], axis=2)
    moved = body.moved(ways, np.zeros(len(q))).reshape(3, -1, 3, 3).swapaxes(2, 3)
    return moved + np.eye(3) * np.array([1.0, 0.0, 0.0])[:, None, None, None]


@pytest.mark.parametrize("is_vector", [False, True])
@given(way=WAYS, scale=st.sampled_from([1e-9, 1e-4, 0.3, 1.0, 4.0]))
@settings(max_examples=25)
def test_rotations_and_their_rates(is_vector, way, scale):
    """Rotations are scipy's; rates are central differences, whose error is h^2/6 of a third derivative below 1e4."""
    c0, c1, c2 = scale * np.array(way).reshape(3, 3)
    h = 1e-5
    t = np.array([-h, 0.0, h])[:, None]
    zero, first, second = turned(is_vector, c0 + c1 * t + c2 * t * t, c1 + 2.0 * c2 * t, 2.0 * c2 + 0.0 * t)
    assert zero[1] == pytest.approx(REFERENCES[is_vector](c0), abs=1e-13)
    size = 1.0 + (np.abs(way).max() * scale) ** 3
    assert first[1] == pytest.approx((zero[2] - zero[0]) / (2.0 * h), abs=1e-8 * size)
    assert second[1] == pytest.approx((first[2] - first[0]) / (2.0 * h), abs=1e-7 * size)


DECK = """\
*NODE, NSET=ALL
1, 0, 0, 0
2, 3, 1, 0
3, -2, 2, 1
4, 4, 4, -2
5, -4, 3, -2
6, 0, 0, -6
*NSET, NSET=PINS
2, 3
*NSET, NSET=ENDS
4, 5, 6
*ELEMENT, TYPE=T3D2, ELSET=B
1, 2, 4
2, 3, 5
3, 4, 6
4, 5, 6
5, 2, 6
*MATERIAL, NAME=M
*ELASTIC
1000
*DENSITY
0.5
*DAMPING, BETA=0.01
*SOLID SECTION, ELSET=B, MATERIAL=M, MASS=CONSISTENT
1
*RIGID BODY, REF NODE=1, PIN NSET=PINS, ROTATION={rotation}
*AMPLITUDE, NAME=A, DEFINITION=PERIODIC
1, 3.0, 0., 1.
-1., 0.5
*BOUNDARY
1, 1, 6
6, 1, 3
*STEP, NLGEOM
{procedure}
*BOUNDARY, AMPLITUDE=A{kind}
1, 1, 1, 0.2
1, 3, 3, -0.3
1, 4, 4, 0.4
1, 5, 5, 0.3
1, 6, 6, -0.6
*CONTROLS, RESI_GLOB_RELA=1e-12
*NODE PRINT, NSET=ALL
U, V, A, RF, RM, UR, VR
*END STEP
"""
EXACT = "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.01, 1."


@pytest.mark.parametrize("rotation", ["RPY", "VECTOR"])
def test_the_pinned_nodes_move_as_one(rotation):
    """Distances stay; force and moment at the reference node are those of the pinned nodes; books close."""
    model = parse_deck(DECK.format(rotation=rotation, procedure="*DYNAMIC, DIRECT\n0.01, 1.", kind=""))
    history = fem.run(model)
    place = {label: history.of_node(label, "COORD") for label in (1, 2, 3)}
    for one, other in ((1, 2), (1, 3), (2, 3)):
        distance = np.linalg.norm(place[one] - place[other], axis=1)
        assert distance == pytest.approx(distance[0], rel=1e-14)
    pulls = {label: history.of_node(label, "RF") for label in (2, 3)}
    assert history.of_node(1, "RF") == pytest.approx(pulls[2] + pulls[3], rel=1e-14)
    moment = sum(np.cross(place[label] - place[1], pulls[label]) for label in pulls)
    assert np.abs(moment).max() > 10.0
    assert history.of_node(1, "RM") == pytest.approx(moment, rel=1e-12)
    assert not history.of_node(2, "RM").any()
    turn = 0.4 * (1.0 - np.cos(3.0 * history.time) + 0.5 * np.sin(3.0 * history.time))
    angles = np.stack([turn, turn * 0.75, turn * -1.5], axis=1)
    rotations = Rotation.from_euler("xyz", angles) if rotation == "RPY" else Rotation.from_rotvec(angles)
    arm = model.mesh.coordinates[1]
    assert place[2] - place[1] == pytest.approx(rotations.apply(arm), abs=1e-13)
    assert history.of_node(1, "UR") == pytest.approx(rotations.as_rotvec(), abs=1e-13)
    swings = np.cross(history.of_node(1, "VR"), place[3] - place[1])
    assert history.of_node(3, "V") - history.of_node(1, "V") == pytest.approx(swings, abs=1e-12)


def test_of_nodes_on_a_line_nothing_shows_how_they_turn_about_it():
    text = DECK.format(rotation="RPY", procedure="*DYNAMIC, DIRECT\n0.01, 0.05", kind="")
    history = fem.run(parse_deck(text.replace("2, 3\n*NSET, NSET=ENDS", "2\n*NSET, NSET=ENDS\n3,")))
    assert np.isnan(history.of_node(1, "UR")).all()
    assert np.isfinite(history.of_node(2, "UR")).all()


def test_books_close():
    """ENERGY MOMENTUM: the work of the mean reactions of the pinned nodes is all that goes in, to round-off."""
    history = fem.run(parse_deck(DECK.format(rotation="RPY", procedure=EXACT, kind="")))
    assert np.abs(history.of_energy("external_work")).max() > 10.0
    assert np.abs(history.energy_error).max() < 1e-10 * np.abs(history.of_energy("external_work")).max()


def test_power_is_that_of_the_wrench():
    """Statics: the work of the supports is that of force and moment along the way (trapezoidal rule, 400 parts)."""
    text = DECK.format(rotation="VECTOR", procedure="*STATIC, DIRECT\n0.0025, 1.", kind="")
    history = fem.run(parse_deck(text))
    strain = history.of_energy("strain")
    turn = 0.4 * (1.0 - np.cos(3.0 * history.time) + 0.5 * np.sin(3.0 * history.time))
    rotations = Rotation.from_rotvec(np.stack([turn, turn * 0.75, turn * -1.5], axis=1))
    steps = (rotations[1:] * rotations[:-1].inv()).as_rotvec()
    force, moment, u = (history.of_node(1, name) for name in ("RF", "RM", "U"))
    work = 0.5 * ((force[1:] + force[:-1]) * np.diff(u, axis=0) + (moment[1:] + moment[:-1]) * steps).sum(axis=1)
    assert work.sum() == pytest.approx(strain[-1] - strain[0], rel=1e-4)


@pytest.mark.parametrize("kind", ["VELOCITY", "ACCELERATION"])
def test_rotations_given_by_their_rates(kind):
    """The angle is the integral; the velocity of a pinned node is w x r."""
    text = DECK.format(rotation="RPY", procedure="*DYNAMIC, DIRECT\n0.01, 0.5", kind=f", TYPE={kind}")
    text = text.replace("1, 4, 4, 0.4\n1, 5, 5, 0.3\n", "")
    history = fem.run(parse_deck(text))
    once = history.time - np.sin(3.0 * history.time) / 3.0 + (1.0 - np.cos(3.0 * history.time)) / 6.0
    rate, angle = 1.0 - np.cos(3.0 * history.time) + 0.5 * np.sin(3.0 * history.time), once
    if kind == "ACCELERATION":
        rate, angle = once, history.time**2 / 2.0 - (1.0 - np.cos(3.0 * history.time)) / 9.0
        angle += (history.time - np.sin(3.0 * history.time) / 3.0) / 6.0
    arm = history.of_node(2, "COORD") - history.of_node(1, "COORD")
    assert np.arctan2(arm[:, 1], arm[:, 0]) == pytest.approx(np.arctan2(1.0, 3.0) - 0.6 * angle, abs=1e-12)
    swing = np.cross(np.stack([0.0 * rate, 0.0 * rate, -0.6 * rate], axis=1), arm)
    assert history.of_node(2, "V")[1:] - history.of_node(1, "V")[1:] == pytest.approx(swing[1:], abs=1e-12)


def test_rotations_carry_over_and_are_written():
    """A second step that says nothing holds what is there; the deck written and read again is the same."""
    text = DECK.format(rotation="RPY", procedure="*STATIC, DIRECT\n0.5, 1.", kind="")
    model = parse_deck(text + "*STEP, NLGEOM\n*STATIC, DIRECT\n1., 1.\n*END STEP\n")
    assert parse_deck(write_deck(model)) == model
    history = fem.run(model)
    first, second = history.step == 1, history.step == 2
    assert history.of_node(2)[second][-1] == pytest.approx(history.of_node(2)[first][-1], abs=1e-13)
    assert np.abs(history.of_node(2)[second][-1]).max() > 0.1


def test_directions_that_nothing_moves_are_held_with_a_notice():
    text = DECK.format(rotation="RPY", procedure=EXACT, kind="").replace("1, 1, 6\n6, 1, 3", "6, 1, 3")
    model = parse_deck(text)
    assert any("dof 2 of reference node 1: fixed" in notice for notice in model.notices)
    assert not fem.run(model).of_node(1)[:, 1].any()
