"""Free bodies whose rotations are held in some steps: released, and held where they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.deck import parse_deck, write_deck
from fem.model.free_bodies import components_that_hold, corners_of, gradients, rotation_of
from tests.decks import run_text
from tests.vessels.test_free_bodies import DECK, SPINS, tensor

INERTIA = (1.0, 1.5, 2.2, 0.1, -0.2, 0.15)
HEAD, LOADS = DECK[: DECK.index("*STEP")], "*CLOAD\n2, 3, 7\n1, 4, 5\n"
ARM, FORCE = np.array([0.7, -0.3, 0.9]), np.array([0.0, 0.0, 7.0])
OPEN, FIXED = "*BOUNDARY, OP=NEW\n", "*BOUNDARY, FIXED\n1, 4, 6\n"


def step(cards="", time=0.2, dt=0.02, scheme="ENERGY MOMENTUM", procedure="", asked="U, V, UR, VR, RF, RM"):
    dynamic = f"*DYNAMIC, DIRECT, TIME INTEGRATOR={scheme}\n{dt}, {time}\n"
    return f"*STEP, NLGEOM, INC=1000\n{procedure or dynamic}{cards}*NODE PRINT\n{asked}\n*END STEP\n"


def run(*steps, more="", inertia=INERTIA, head=HEAD):
    return run_text(head.format(inertia=", ".join(map(repr, inertia)), more=more) + "".join(steps))


def rows(history, number):
    """Those of a step, with its start."""
    return np.flatnonzero(history.table("increments")["step"] == number)


def turns(history):
    return np.array([rotation_of(vector) for vector in history.of_node(1, "UR")])


def test_a_body_that_is_let_go_moves_as_one_that_was_never_held():
    """From the same state, to round-off; while it is held, RM balances the loads, and nothing else moves."""
    held = run(step("*BOUNDARY\n1, 1, 6\n" + LOADS), step(OPEN + "1, 1, 3\n" + LOADS))
    free = run(step("*BOUNDARY\n1, 1, 3\n" + LOADS))
    first, second = rows(held, 1), rows(held, 2)
    for name in ("UR", "VR", "RF"):
        assert held.of_node(1, name)[second] == pytest.approx(free.of_node(1, name), abs=1e-12)
    assert np.abs(free.of_node(1, "UR")[-1]).max() > 0.05
    expected = -np.cross(ARM, FORCE) - [5.0, 0.0, 0.0]
    assert held.of_node(1, "RM")[first] == pytest.approx(np.tile(expected, (len(first), 1)), abs=1e-12)
    assert not held.of_node(1, "RM")[second[1:]].any()
    assert np.abs(held.of_node(1, "UR")[first]).max() < 1e-15
    assert np.abs(held.table("increments")["energy_error"]).max() < 1e-14


def test_encastre_holds_the_rotations_of_a_body():
    held = run(step("*BOUNDARY\n1, ENCASTRE\n" + LOADS))
    assert held.of_node(1, "RM")[-1] == pytest.approx(-np.cross(ARM, FORCE) - [5.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("scheme", ["ENERGY MOMENTUM", "NEWMARK", "GENERALIZED ALPHA"])
def test_a_body_that_turns_is_stopped_where_it_is(scheme):
    """An impact that leaves the translation as it is; what it takes is work from outside. Let go, it stays at rest."""
    history = run(step(time=0.6, scheme=scheme), step(FIXED, scheme=scheme), step(OPEN, scheme=scheme), more=SPINS)
    first, later = rows(history, 1), np.concatenate([rows(history, 2), rows(history, 3)])
    turned = history.of_node(1, "UR")[first[-1]]
    assert np.linalg.norm(turned) > 1.5
    assert history.of_node(1, "UR")[later] == pytest.approx(np.tile(turned, (len(later), 1)), abs=1e-12)
    assert history.of_node(1, "V")[later] == pytest.approx(np.tile([0.3, 0.0, 0.0], (len(later), 1)), abs=1e-12)
    table = history.table("increments")
    lost = table["kinetic"][first[-1]] - 0.5 * 3.0 * 0.3**2
    assert table["external_work"][later] == pytest.approx(np.full(len(later), -lost), rel=1e-12)
    assert np.ptp(table["energy_error"][later]) < 1e-12 * lost
    assert any("jump of velocity, which equations transmit" in notice for notice in history.notices)


@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_two_rotations_are_held_in_any_attitude(seed):
    """The body turns about the third axis of space: there its angular momentum goes on, and grows by the moments of the
    loads; about the others RM is what is missing in d(I w)/dt, of second order."""
    rng = np.random.default_rng(seed)
    vector, spin, free = rng.normal(size=3), 2.0 * rng.normal(size=3), int(rng.integers(3))
    fixed = "".join(f"1, {dof + 4}\n" for dof in range(3) if dof != free)
    start = "".join(
        f"*INITIAL CONDITIONS, TYPE={kind}\n" + "".join(f"1, {k + 4}, {float(value[k])!r}\n" for k in range(3))
        for kind, value in (("DISPLACEMENT", vector), ("VELOCITY", spin))
    )
    whole, errors = tensor(INERTIA), []
    for dt in (0.02, 0.01):
        steps = (step(time=dt, dt=dt, scheme="NEWMARK"), step(f"*BOUNDARY, FIXED\n{fixed}{LOADS}", 0.2, dt, "NEWMARK"))
        history = run(*steps, more=start)
        turned, rate, at = turns(history), history.of_node(1, "VR"), rows(history, 2)
        momentum = np.einsum("kij,jl,kml,km->ki", turned, whole, turned, rate)
        axis = np.eye(3)[free]
        assert turned[at] @ turned[at[0]].T @ axis == pytest.approx(np.tile(axis, (len(at), 1)), abs=1e-10)
        assert momentum[at[0], free] == pytest.approx(momentum[at[0] - 1, free], abs=1e-9)
        moments = np.cross(turned[at] @ ARM, FORCE) + [5.0, 0.0, 0.0] + history.of_node(1, "RM")[at]
        slopes = (momentum[at[2:]] - momentum[at[:-2]]) / (2.0 * dt)
        errors.append(np.abs(slopes - moments[1:-1])[1:].max())
    assert errors[1] < 0.35 * errors[0] or errors[0] < 1e-3


def test_slender_bodies_are_held_across_their_axis():
    """All three rotations are two of the axis; the part of a moment along it is nobody's."""
    head = HEAD.replace("2, 0.7, -0.3, 0.9", "2, 0.7, 0, 0")
    loads = "*CLOAD\n2, 3, 2\n2, 1, 5\n1, 4, 9\n"
    steps = step("*BOUNDARY\n1, 1, 6\n" + loads), step(OPEN + "1, 1, 3\n" + loads, 0.6), step(FIXED + loads)
    history = run(*steps, inertia=(0.0, 1.0, 1.0), head=head)
    assert history.of_node(1, "RM")[rows(history, 1)[-1]] == pytest.approx([0.0, 1.4, 0.0], abs=1e-12)
    arm = (history.positions(2) - history.positions(1))[-1]
    axis, moment = arm / 0.7, np.cross(arm, [5.0, 0.0, 2.0]) + [9.0, 0.0, 0.0]
    assert axis[0] < 0.98
    assert history.of_node(1, "RM")[-1] == pytest.approx((axis @ moment) * axis - moment, abs=1e-12)


BUOY = """*NODE
1, 0, 0, 0
2, 0.3, 0.1, -0.5
3, -0.4, 0, -0.5
11, 2, 0, -6
12, -2, 1, -6
*NSET, NSET=TIED
2, 3
*ELEMENT, TYPE=T3D2, ELSET=LINES
1, 2, 11
2, 3, 12
*ELEMENT, TYPE=MASS, ELSET=BODY
3, 1
*MASS, ELSET=BODY
300
*ELEMENT, TYPE=ROTARYI, ELSET=INERTIA
4, 1
*ROTARY INERTIA, ELSET=INERTIA
30, 40, 50
*RIGID BODY, REF NODE=1, TIE NSET=TIED
*MATERIAL, NAME=ROPE
*ELASTIC
1E6
*SOLID SECTION, ELSET=LINES, MATERIAL=ROPE
0.01
*BOUNDARY
11, 1, 3
12, 1, 3
"""
STATIC, LIFT = "*STATIC\n1, 1\n", "*CLOAD\n1, 3, 2000\n1, 2, 300\n"
HELD, AGAIN = "*BOUNDARY\n1, 4, 6\n", OPEN + "11, 1, 3\n12, 1, 3\n"


def test_statics_lets_go_holds_and_turns_back():
    """Held from the start, let go, held there, turned back to no rotation, let go: two equilibria, each met twice.
    RM is the moment of the lines; held where it was free, it is 0."""
    cards = HELD, AGAIN, FIXED, HELD, AGAIN
    history = run_text(BUOY + "".join(step(each + LIFT, procedure=STATIC, asked="U, UR, RM") for each in cards))
    held, free, kept, back, last = (rows(history, number)[-1] for number in range(1, 6))
    place, turned, moment = (history.of_node(1, name) for name in ("U", "UR", "RM"))
    assert np.linalg.norm(turned[free]) > 0.02
    for one, other in ((free, kept), (free, last), (held, back)):
        assert place[one] == pytest.approx(place[other], abs=2e-6)
        assert turned[one] == pytest.approx(turned[other], abs=2e-6)
    size = np.abs(moment[held]).max()
    assert moment[held] == pytest.approx(moment[back], abs=1e-5 * size) and size > 50.0
    assert np.abs(moment[kept]).max() < 1e-5 * size
    pulls = {1: (2, 11), 2: (3, 12)}
    balance = moment[held].copy()
    for element, (eye, anchor) in pulls.items():
        way = history.positions(anchor)[held] - history.positions(eye)[held]
        arm = history.positions(eye)[held] - history.positions(1)[held]
        balance += np.cross(arm, history.of_element(element, "T")[held] * way / np.linalg.norm(way))
    assert balance == pytest.approx(np.zeros(3), abs=1e-5 * size)


def test_a_run_goes_on_where_a_body_is_held_and_let_go(tmp_path):
    """In other decks, of further steps alone: as in one deck, bit by bit."""
    let_go, stop, go = step(LOADS, 0.3), step(FIXED + "1, 1, 3\n" + LOADS), step(OPEN + LOADS)
    first = HEAD.format(inertia="1, 1.5, 2.2", more=SPINS) + "*RESTART, WRITE\n"
    texts = {"whole": first + let_go + stop + go, "one": first + let_go, "two": first + let_go + stop}
    texts |= {"more": "*RESTART, READ\n" + stop + go, "last": "*RESTART, READ\n" + go}
    for name, text in texts.items():
        (tmp_path / f"{name}.inp").write_text(text)
    decks = {name: tmp_path / f"{name}.inp" for name in texts}
    whole = fem.run(decks["whole"])
    for begun, rest in (("one", "more"), ("two", "last")):
        fem.run(decks[begun], output=tmp_path / begun)
        history = fem.run(decks[rest], earlier=tmp_path / begun)
        for name in ("U", "V", "RF"):
            assert np.array_equal(history.of_node(2, name)[-10:], whole.of_node(2, name)[-10:])


def test_decks_of_held_bodies_are_written():
    steps = step("*BOUNDARY\n1, ENCASTRE\n"), step(OPEN + "1, 4\n1, 5\n"), step("*BOUNDARY, FIXED\n1, 6\n")
    model = parse_deck(HEAD.format(inertia="2, 3, 4", more="") + "".join(steps))
    assert parse_deck(write_deck(model)) == model
    assert [sorted(each.dof for each in one.rotations) for one in model.steps] == [[4, 5, 6], [4, 5], [4, 5, 6]]


def test_a_body_far_from_no_rotation_is_not_turned_back():
    with pytest.raises(fem.ModelError, match="FIXED holds its rotations"):
        run(step(time=0.6), step("*BOUNDARY\n1, 4, 6\n"), more=SPINS)


def test_two_rotations_are_named_again_however_far_the_body_has_turned():
    more = "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 5, 4\n"
    history = run(step("*BOUNDARY\n1, 4\n1, 6\n", 0.4), step(OPEN + "1, 4\n1, 6\n", 0.4), more=more)
    assert history.of_node(1, "VR")[rows(history, 2)[1:]] == pytest.approx(np.tile([0.0, 4.0, 0.0], (20, 1)), abs=0.02)
    assert not any("jump" in notice for notice in history.notices)


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_what_holds_a_body_is_far_from_singular(seed, two, is_slender):
    """The turns that its components feel are independent: of vectors of length 1 least singular value > 0.3."""
    rng = np.random.default_rng(seed)
    corners = corners_of(np.diag([1.0, 0.0, 0.0] if is_slender else [1.0, 2.0, 3.0]), 1.0)
    vectors = gradients(corners).T @ corners @ rotation_of(rng.uniform(0, 3) * rng.normal(size=3)).T
    chosen = components_that_hold(vectors, [0, 1] if two else [0, 1, 2])
    assert len(chosen) == 3 - two - is_slender
    turns = np.array([np.cross(vectors[k], np.eye(3)[axis]) for k, axis in chosen])
    assert two or np.linalg.svd(turns, compute_uv=False).min() > 0.3


def test_a_support_stops_what_equations_tie_to_it():
    """The middle of masses 1 and 3 at speed 2 is held: impulses on both are alike, so they go on with -1 and 1."""
    deck = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0.5, 0, 0
*ELEMENT, TYPE=MASS, ELSET=ONE
1, 1
*ELEMENT, TYPE=MASS, ELSET=TWO
2, 2
*MASS, ELSET=ONE
1
*MASS, ELSET=TWO
3
*EQUATION
3
3, 3, 1, 1, 3, -0.5, 2, 3, -0.5
*BOUNDARY
1, 1, 2
2, 1, 2
3, 1, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 3, 2
2, 3, 2
"""
    history = run_text(deck + step(asked="V") + step("*BOUNDARY\n3, 3\n", asked="V"))
    assert history.of_node(1, "V")[-11:, 2] == pytest.approx(np.full(11, -1.0), abs=1e-12)
    assert history.of_node(2, "V")[-11:, 2] == pytest.approx(np.full(11, 1.0), abs=1e-12)
    assert np.abs(history.table("increments")["energy_error"]).max() < 1e-12
