"""Free bodies against Euler's equations, closed forms and conservation laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import fem
from fem.deck import parse_deck, read_deck, write_deck
from fem.model.free_bodies import (
    NoBody,
    corners_of,
    mass_between,
    rotation,
    rotation_of,
    rotation_vector,
    second_moments,
    spin,
    weights,
)
from tests.decks import run_text

DECK = """*NODE
1, 0, 0, 0
2, 0.7, -0.3, 0.9
*NSET, NSET=TIED
2
*ELEMENT, TYPE=MASS, ELSET=M
1, 1
*MASS, ELSET=M
3
*ELEMENT, TYPE=ROTARYI, ELSET=R
2, 1
*ROTARY INERTIA, ELSET=R
{inertia}
*RIGID BODY, REF NODE=1, TIE NSET=TIED
{more}
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}
{dt}, {time}
{loads}
*NODE PRINT
U, V, UR, VR
*END STEP
"""
SPINS = "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 1, 0.3\n1, 4, 0.5\n1, 5, 3\n1, 6, -0.7\n"


def run(inertia, more="", loads="", scheme="ENERGY MOMENTUM", dt=0.02, time=0.2):
    moments = ", ".join(map(repr, inertia))
    return run_text(DECK.format(inertia=moments, more=more, loads=loads, scheme=scheme, dt=dt, time=time))


def tensor(moments):
    i11, i22, i33, i12, i13, i23 = moments
    return np.array([[i11, i12, i13], [i12, i22, i23], [i13, i23, i33]])


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0.1, 10.0))
def test_points_have_the_inertia_of_the_body(seed, count, size):
    """Of any heap of masses: slender (two of them), flat (three) or neither."""
    rng = np.random.default_rng(seed)
    places, masses = rng.normal(size=(count, 3)), rng.uniform(0.5, 2.0, count)
    places -= masses @ places / masses.sum()
    second = (places.T * masses) @ places
    whole = np.trace(second) * np.eye(3) - second
    moments = (*whole.diagonal(), whole[0, 1], whole[0, 2], whole[1, 2])
    found = second_moments(moments)
    assert found == pytest.approx(second, abs=1e-12 * np.trace(second))
    corners = corners_of(found, size)
    assert len(corners) == (2 if count == 2 else 4)
    mass = mass_between(corners, found)
    assert mass.sum(axis=0) == pytest.approx(np.zeros(len(corners)), abs=1e-9 * mass.max())
    assert corners.T @ mass @ corners == pytest.approx(second, abs=1e-6 * np.trace(second))
    own = weights(corners, places)
    assert own.sum(axis=1) == pytest.approx(np.ones(count))
    assert own @ corners == pytest.approx(places, abs=1e-6)


@given(st.integers(0, 10_000))
def test_rotations_are_read_off_the_points(seed):
    rng = np.random.default_rng(seed)
    corners, turn, rate = (
        rng.normal() * corners_of(np.diag([1.0, 2.0, 3.0]), 2.0),
        rng.normal(size=3),
        rng.normal(size=3),
    )
    turned = rotation_of(turn)
    places = corners @ turned.T
    assert rotation(corners, places) == pytest.approx(turned)
    assert rotation_of(rotation_vector(turned)) == pytest.approx(turned)
    assert spin(places + rng.normal(size=3), np.cross(rate, places) + rng.normal(size=3)) == pytest.approx(rate)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 1.0, 1.0 - 1e-15, 1.0 - 1e-12, 1.0 - 1e-8, 0.5, 1e-9]))
def test_least_rotations_of_slender_bodies(seed, half_turns):
    """About any axis across: the vector that turned the body is read off its two points, also upside down."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    across = np.cross(axis, rng.normal(size=3))
    corners = np.outer((2.0, -2.0), axis)
    turn = half_turns * math.pi * across / np.linalg.norm(across)
    places = np.stack([corners @ rotation_of(turn).T, -corners, corners]) + rng.normal(size=3)
    found = rotation(corners, places)
    assert found @ found.swapaxes(1, 2) == pytest.approx(np.broadcast_to(np.eye(3), (3, 3, 3)), abs=1e-14)
    assert np.linalg.det(found) == pytest.approx(1.0)
    assert corners @ found.swapaxes(1, 2) == pytest.approx(places - places.mean(axis=1, keepdims=True), abs=1e-12)
    lengths = np.linalg.norm(rotation_vector(found), axis=1)
    assert lengths == pytest.approx([half_turns * math.pi, math.pi, 0.0], abs=2e-7)
    if half_turns < 0.99:
        assert rotation_vector(found)[0] == pytest.approx(turn, abs=1e-12)


@pytest.mark.parametrize("inertia", [(1.0, 1.5, 2.2, 0.1, -0.2, 0.15), (1.0, 1.5, 2.5)], ids=["of any shape", "flat"])
@pytest.mark.parametrize("scheme", ["ENERGY MOMENTUM", "GENERALIZED ALPHA"])
def test_eulers_equations(inertia, scheme):
    """Of second order; energy to round-off where the scheme keeps it."""
    whole = tensor((*inertia, 0.0, 0.0, 0.0)[:6])
    arm, start = np.array([0.7, -0.3, 0.9]), np.array([0.5, 3.0, -0.7])

    def slope(_, y):
        turned, w = y[:9].reshape(3, 3), y[9:]
        rate = np.linalg.solve(whole, -np.cross(w, whole @ w))
        return np.concatenate([np.cross(turned, w).ravel(), rate])  # R' = R [w]x

    exact = solve_ivp(slope, (0.0, 0.4), [*np.eye(3).ravel(), *start], rtol=1e-11, atol=1e-12).y[:, -1]
    turned = exact[:9].reshape(3, 3)
    place, errors = turned @ arm - arm + [0.12, 0.0, 0.0], []
    for dt in (0.04, 0.02):
        history = run(inertia, SPINS, scheme=scheme, dt=dt, time=0.4)
        table = history.table("nodes")
        errors.append(np.abs(at(table, 2, "U") - place).max())
        assert rotation_of(at(table, 1, "UR")) == pytest.approx(turned, abs=40 * dt**2)
        assert at(table, 1, "VR") == pytest.approx(turned @ exact[9:], abs=40 * dt**2)
    assert 3.3 < errors[0] / errors[1] < 4.7
    if scheme == "ENERGY MOMENTUM":
        kinetic = 0.5 * (3.0 * 0.09 + start @ whole @ start)
        assert np.ptp(history.table("increments")["kinetic"] / kinetic - 1.0) < 1e-10


def at(table, node, name):
    """A vector of a node at the end of a table."""
    last = np.flatnonzero(np.asarray(table["node"]) == node)[-1]
    return np.array([table[f"{name}{axis}"][last] for axis in "123"])


def test_slender_body_swings_as_a_rod():
    """theta'' = -(3 g/2 L) sin theta, of second order; the rod is its two points."""
    deck = """*NODE
1, 0.5, 0, 0
2, 0, 0, 0
3, 1, 0, 0
*NSET, NSET=TIED
2, 3
*ELEMENT, TYPE=MASS, ELSET=M
1, 1
*MASS, ELSET=M
1
*ELEMENT, TYPE=ROTARYI, ELSET=R
2, 1
*ROTARY INERTIA, ELSET=R
0, 0.08333333333333333, 0.08333333333333333
*RIGID BODY, REF NODE=1, NSET=TIED
*BOUNDARY
2, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
{dt}, 0.6
*DLOAD
, GRAV, 9.81, 0, 0, -1
*NODE PRINT
U, UR
*END STEP
"""
    exact = solve_ivp(lambda _, y: [y[1], 1.5 * 9.81 * math.cos(y[0])], (0, 0.6), [0, 0], rtol=1e-11, atol=1e-12)
    errors = []
    for dt in (0.02, 0.01):
        table = run_text(deck.format(dt=dt)).table("nodes")
        assert np.linalg.norm(at(table, 1, "UR")) == pytest.approx(exact.y[0, -1], abs=5 * dt)
        errors.append(abs(at(table, 3, "U")[2] + math.sin(exact.y[0, -1])))
    assert 3.3 < errors[0] / errors[1] < 4.7


SPAR = """*NODE
1, 0., 0., -60.
2, 0., 0., -80.
{last}, 0., 0., 10.
*NGEN, NSET=SPAR
2, {last}
*NSET, NSET=BODY
1
*ELEMENT, TYPE=T3D2, ELSET=HULL
2, 2, 3
*ELGEN, ELSET=HULL
2, {bars}
*ELEMENT, TYPE=MASS, ELSET=MASS
1000, 1
*MASS, ELSET=MASS
{mass}
*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA
1001, 1
*ROTARY INERTIA, ELSET=INERTIA
3.E9, 3.E9, 3.E7
*RIGID BODY, REF NODE=1, TIE NSET=SPAR
*MATERIAL, NAME=MEMBER
*ELASTIC
1.
*SOLID SECTION, ELSET=HULL, MATERIAL=MEMBER
1.
*AQUA
-200., 0., 9.80665, 1025.
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
1, 5, 0.01
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
{dt}, 120.
*DLOAD
MASS, GRAV, 9.80665, 0., 0., -1.
HULL, PB, 1., 8.
HULL, FI, 1., 8., 2., 1.
*NODE PRINT, NSET=BODY
UR
*END STEP
"""


def test_a_spar_pitches_with_its_natural_period():
    """A spar of draught T = 80 m, diameter 8 m, its centre 60 m below the water, without moorings: about the centre

        I + A55 - A15^2/(m + A11) times the acceleration = - rho g V GM times the angle,    GM = GB = 20 m,

    where A are integrals of rho pi d^2/4 and powers of the height. A line has no breadth: BM = d^2/(16 T) = 0.05 m of a
    cylinder is not in it. Half the bars and increments: a fourth of the error; extrapolated 1e-5 is left.
    """
    density, area, draught, centre = 1025.0, math.pi / 4.0 * 8.0**2, 80.0, -60.0
    mass, low, high = density * area * draught, -draught - centre, -centre
    first, second = (density * area * (high**n - low**n) / n for n in (2, 3))
    inertia = 3e9 + second - first**2 / (2.0 * mass)
    exact = 2.0 * math.pi * math.sqrt(inertia / (mass * 9.80665 * (-draught / 2.0 - centre)))
    errors = []
    for bars, dt in ((9, 0.5), (18, 0.25)):
        table = run_text(SPAR.format(last=2 + bars, bars=bars, mass=mass, dt=dt))
        time, angle = table.time, table.of_node(1, "UR")[:, 1]
        at = np.flatnonzero(angle[:-1] * angle[1:] < 0.0)
        crossing = time[at] + dt * angle[at] / (angle[at] - angle[at + 1])
        errors.append(2.0 * (crossing[-1] - crossing[0]) / (len(crossing) - 1) / exact - 1.0)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert (4.0 * errors[1] - errors[0]) / 3.0 == pytest.approx(0.0, abs=3e-5)


def test_modes_of_a_body_that_little_holds():
    """Free, all six are 0. A line that pushes makes some unstable (written as negative); turning about it stays 0."""
    head = DECK[: DECK.index("*STEP")].format(inertia="2, 3, 4", more="{more}")
    modes = "*STEP, NLGEOM\n*FREQUENCY\n6\n*END STEP\n"
    found = fem.run(parse_deck(head.format(more="") + modes)).modes[0]
    assert found.omega == pytest.approx(np.zeros(6), abs=1e-6)
    line = """*NODE
3, 0.7, -0.3, 3.9
*ELEMENT, TYPE=T3D2, ELSET=LINE
3, 2, 3
*MATERIAL, NAME=LINE
*ELASTIC
1E4
*SOLID SECTION, ELSET=LINE, MATERIAL=LINE
1
*BOUNDARY
3, 1, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
1, 3, 0.01
"""
    found = fem.run(parse_deck(head.format(more=line) + modes)).modes[0]
    assert (found.omega[:2] < 0.0).all() and np.abs(found.omega).min() == pytest.approx(0.0, abs=1e-6)
    fewer = fem.run(parse_deck(head.format(more=line) + modes.replace("6", "4"))).modes[0]
    assert fewer.omega == pytest.approx(found.omega[:4], abs=1e-6)


@pytest.mark.parametrize(
    ("placed", "spins", "turned"),
    [("", SPINS, np.eye(3)),
     ("5, 0, 0\n5, 0, 0, 5, 0, 1, 90\n",
      "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 2, 0.3\n1, 4, -3\n1, 5, 0.5\n1, 6, -0.7\n",
      np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))],
    ids=["as it is", "turned"],
)  # fmt: skip
def test_a_body_of_a_part_moves_as_any_other(placed, spins, turned):
    """Node, sets, mass and inertia in the part; the body names them with the instance, with which it turns."""
    head, rest = DECK[: DECK.index("*RIGID")], DECK[DECK.index("*RIGID") :]
    start, end = (
        "*PART, NAME=P\n",
        f"*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n{placed}*END INSTANCE\n*END ASSEMBLY\n",
    )
    rest = rest.replace("REF NODE=1, TIE NSET=TIED", "REF NODE=I.1, TIE NSET=I.TIED")
    given = {"inertia": "2, 3, 4, 0.5, 0.3, -0.2", "loads": "", "scheme": "ENERGY MOMENTUM", "dt": 0.02, "time": 0.2}
    inside = run_text((start + head + end + rest).format(more=spins.replace("\n1, ", "\nI.1, "), **given)).of_node(2)
    flat = run_text(DECK.format(more=SPINS, **given)).of_node(2) @ turned.T
    assert np.array_equal(inside, flat) if not placed else inside == pytest.approx(flat, abs=1e-9)
    assert np.abs(inside[-1]).max() > 0.1


def test_explicit_names_what_it_does_not_support():
    with pytest.raises(fem.ModelError, match="EXPLICIT does not support free bodies"):
        run_text(DECK.format(inertia="2, 3, 4", more="", loads="", scheme="CENTRAL DIFFERENCE", dt=0.02, time=0.2))


def test_a_moment_by_a_sweep_is_refused_as_such():
    sweep = "*AMPLITUDE, NAME=S, DEFINITION=SWEEP\n2, 20, 1\n"
    with pytest.raises(fem.ModelError, match="not for moments"):
        run((2.0, 3.0, 4.0), sweep, "*CLOAD, AMPLITUDE=S\n1, 4, 1\n")


def test_numbers_too_large_to_square_are_told_without_warnings(recwarn):
    with pytest.raises(fem.DeckError, match="too far"):
        parse_deck(DECK.replace("0.7, -0.3", "1e300, -0.3").format(
            inertia="2, 3, 4", more="", loads="", scheme="NEWMARK", dt=0.02, time=0.2))  # fmt: skip
    assert not len(recwarn)


def test_two_fixed_rotations_leave_an_axis():
    """Whatever the products of inertia, the body turns about y, at constant speed."""
    more = "*BOUNDARY\n1, 1, 3\n1, 4\n1, 6\n*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 5, 2\n"
    table = run((1.0, 1.5, 2.2, 0.1, -0.2, 0.15), more, dt=0.01).table("nodes")
    assert at(table, 1, "UR") == pytest.approx([0.0, 0.4, 0.0], abs=1e-4)
    assert at(table, 1, "VR") == pytest.approx([0.0, 2.0, 0.0], abs=1e-3)


def test_three_fixed_rotations_leave_a_translation():
    loads = "*CLOAD\n2, 3, 6\n"
    table = run((1.0, 1.5, 2.2), "*BOUNDARY\n1, 4, 6\n", loads, time=0.4).table("nodes")
    assert at(table, 1, "U") == pytest.approx([0.0, 0.0, 0.16], abs=1e-9)
    assert at(table, 2, "U") == pytest.approx([0.0, 0.0, 0.16], abs=1e-9)
    assert at(table, 1, "UR") == pytest.approx(np.zeros(3), abs=1e-9)


def test_members_carry_their_weight_and_no_force():
    """A body held at its reference node, with a member of mass m on one side: theta'' = m g l/(I + m l^2) at first."""
    member = """*NODE
3, 0, 0, 0
4, 1, 0, 0
*NSET, NSET=TIED
3, 4
*ELEMENT, TYPE=T3D2, ELSET=MEMBER
9, 3, 4
*MATERIAL, NAME=S
*ELASTIC
2e11
*DENSITY
0.5
*SOLID SECTION, ELSET=MEMBER, MATERIAL=S
1
*BOUNDARY
1, 1, 3
"""
    loads = "*DLOAD\n, GRAV, 10, 0, 0, -1\n*EL PRINT, ELSET=MEMBER\nN, E\n"
    history = run((1.0, 1.5, 2.0), member, loads, dt=0.001, time=0.01)
    turned = at(history.table("nodes"), 1, "UR")
    assert turned == pytest.approx([0.0, 0.5 * (2.5 / 1.75) * 0.01**2, 0.0], rel=1e-3)
    assert np.abs(history.table("elements")["N"]).max() == 0.0
    assert np.abs(history.table("elements")["E"]).max() < 1e-9


@pytest.mark.parametrize("name", ["spinning_body", "moored_buoy"])
def test_decks_of_free_bodies_are_written(name):
    model = read_deck(f"inputs/{name}.inp")
    assert parse_deck(write_deck(model)) == model


def test_moments_that_no_body_has():
    with pytest.raises(NoBody, match="exceeds the sum"):
        second_moments((1.0, 1.0, 2.1, 0.0, 0.0, 0.0))
    with pytest.raises(NoBody, match="not positive"):
        second_moments((0.0,) * 6)
