"""Moments on free bodies: closed forms, work, amplitudes, statics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from tests.decks import run_text
from tests.vessels.test_free_bodies import DECK, at, rotation_of, run, tensor

ROUND = (1.0, 1.5, 1.5)


@pytest.mark.parametrize("scheme", ["ENERGY MOMENTUM", "GENERALIZED ALPHA"])
def test_moment_about_the_axis_of_a_round_body(scheme):
    """M t^2/(2 I), also beyond a quarter of a turn; work = moment times rotation, booked as work from outside."""
    errors = []
    for dt in (0.02, 0.01):
        history = run(ROUND, loads="*CLOAD\n1, 4, 8\n", scheme=scheme, dt=dt, time=0.8)
        turn, rate = (at(history.table("nodes"), 1, name) for name in ("UR", "VR"))
        exact = 8.0 * 0.8**2 / 2.0
        errors.append(abs(turn[0] - exact))
        assert turn[1:] == pytest.approx([0.0, 0.0], abs=1e-9)
        table = history.table("increments")
        assert table["kinetic"][-1] == pytest.approx(0.5 * rate[0] ** 2, rel=1e-3)
        assert table["external_work"][-1] == pytest.approx(8.0 * exact, rel=0.4 * dt)
        assert np.abs(table["energy_error"]).max() < (1e-12 if scheme == "ENERGY MOMENTUM" else 0.01) * 8.0 * exact
    assert 3.3 < errors[0] / errors[1] < 4.7


def test_eulers_equations_with_a_moment_fixed_in_space():
    """Any inertia, a moment that grows: of second order."""
    inertia, size = (1.0, 1.5, 2.2, 0.1, -0.2, 0.15), np.array([2.0, -3.0, 1.0])
    whole, arm = tensor(inertia), np.array([0.7, -0.3, 0.9])

    def slope(t, y):
        turned, w = y[:9].reshape(3, 3), y[9:]
        rate = np.linalg.solve(whole, turned.T @ size * t - np.cross(w, whole @ w))
        return np.concatenate([np.cross(turned, w).ravel(), rate])

    exact = solve_ivp(slope, (0.0, 1.0), [*np.eye(3).ravel(), 0.0, 0.0, 0.0], rtol=1e-11, atol=1e-12).y[:, -1]
    place, errors = exact[:9].reshape(3, 3) @ arm - arm, []
    loads = "*CLOAD, AMPLITUDE=A\n1, 4, 2\n1, 5, -3\n1, 6, 1\n"
    for dt in (0.05, 0.025):
        history = run(inertia, "*AMPLITUDE, NAME=A\n0, 0, 1, 1\n", loads, dt=dt, time=1.0)
        errors.append(np.abs(at(history.table("nodes"), 2, "U") - place).max())
        table = history.table("increments")
        assert table["external_work"][-1] == pytest.approx(table["kinetic"][-1], rel=1e-12)
    assert 3.3 < errors[0] / errors[1] < 4.7


def test_slender_bodies_turn_across_their_axis():
    """About the axis a moment does nothing."""
    text = DECK.replace("2, 0.7, -0.3, 0.9\n", "2, 0.7, 0, 0\n")
    for load, expected in (("1, 5, 2", 2.0 / 1.5 * 0.125), ("1, 4, 5", 0.0)):
        loads = f"*CLOAD\n{load}\n"
        deck = text.format(inertia="0, 1.5, 1.5", more="", loads=loads, scheme="ENERGY MOMENTUM", dt=0.01, time=0.5)
        turn = at(run_text(deck).table("nodes"), 1, "UR")
        assert turn == pytest.approx([0.0, expected, 0.0], abs=1e-4)


def test_moment_held_by_a_spring_in_statics():
    """On a pivot: the moment M = k d cos(theta) d sin(theta) of a spring at the arm d."""
    spring = "*ELEMENT, TYPE=SPRING1, ELSET=S\n11, 3\n*SPRING, ELSET=S\n3\n100\n"
    arm = "*NODE\n3, 2, 0, 0\n*NSET, NSET=TIED\n3\n*BOUNDARY\n1, 1, 3\n1, 4\n1, 6\n"
    text = DECK.format(inertia="1, 1.5, 2", more=arm + spring, loads="*CLOAD\n1, 5, 150\n", scheme="X", dt=1, time=1)
    text = text.replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=X\n1, 1", "*STATIC\n0.2, 1")
    model = parse_deck(text)
    assert parse_deck(write_deck(model)) == model
    history = run_text(text)
    turn = at(history.table("nodes"), 1, "UR")
    assert turn == pytest.approx([0.0, 0.5 * math.asin(2 * 150 / 400), 0.0], abs=1e-8)
    assert at(history.table("nodes"), 2, "U") == pytest.approx(
        rotation_of(turn) @ [0.7, -0.3, 0.9] - [0.7, -0.3, 0.9], abs=1e-8
    )


@pytest.mark.parametrize("loads, message", [("2, 4, 1", "node 2 is not the reference node of a free body")])
def test_moments_that_nothing_takes(loads, message):
    text = DECK.format(inertia="1, 1, 1", more="", loads=f"*CLOAD\n{loads}", scheme="HHT", dt=1, time=1)
    with pytest.raises(DeckError, match=message):
        parse_deck(text)
