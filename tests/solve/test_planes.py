"""Planes that nodes do not enter: bounces, friction, moving planes, a chain that is dropped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fem
from fem.deck import parse_deck, write_deck
from fem.errors import DeckError, FemError
from fem.solve.ropes.complementarity import Slips, impulses
from tests.decks import run_text
from tests.solve.test_stops import one

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
GRAVITY = 9.81
UP = np.array([0.0, 1.0, 0.0])


def ball(
    *, at=UP, speed=(0.0, 0.0, 0.0), normal=UP, weight=-UP, restitution=0.5, friction=0.0, procedure="0.01, 2.",
    impact="AUTO", table="", extra="*BOUNDARY\n1, 1, 3", mass=1.0,
) -> str:  # fmt: skip
    """A mass above the plane through the origin; table: what moves the plane, extra: further cards of the model."""

    def row(values) -> str:
        return ", ".join(repr(float(value)) for value in values)

    speeds = "\n".join(f"2, {axis}, {float(value)!r}" for axis, value in enumerate(speed, 1))
    rubs = f", FRICTION={friction!r}" if friction else ""
    return f"""*NODE, NSET=ALL
1, 0, 0, 0
2, {row(at)}
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
{mass!r}
*NSET, NSET=BALLS
2
*STOP PLANE, REF NODE=1, NSET=BALLS, RESTITUTION={restitution!r}{rubs}
{row(normal)}
*INITIAL CONDITIONS, TYPE=VELOCITY
{speeds}
{extra}
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
{procedure}
*CONTROLS, IMPACT={impact}
*DLOAD
BALL, GRAV, {GRAVITY}, {row(weight)}
{table}
*NODE PRINT, NSET=ALL
U, V, A, RF
*END STEP
"""


def impacts_of(history):
    return [event for event in history.events if event.event == "impact"]


def rotation(seed: int) -> np.ndarray:
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return turn * np.linalg.det(turn)


# Without friction


def test_a_ball_bounces_and_comes_to_rest():
    """Falls of sqrt(2 h/g), each speed half of the one before; then its weight is the reaction of the plane's node."""
    history = run_text(ball())
    impacts = impacts_of(history)
    instants = np.sqrt(2.0 / GRAVITY) * np.cumsum([1.0, *(2.0 * 0.5**k for k in range(1, 12))])
    np.testing.assert_allclose([event.time for event in impacts[:12]], instants, atol=2e-9)
    losses = GRAVITY * 0.75 * 0.25 ** np.arange(12)
    np.testing.assert_allclose([event.energy_loss for event in impacts[:12]], losses, rtol=1e-8)
    assert {(event.element, event.node) for event in history.events} == {(0, 2)}
    assert history.events[-1].event == "contact" and history.positions(2)[-1, 1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(history.reactions[-1, :3], [0.0, GRAVITY, 0.0], rtol=1e-9)
    np.testing.assert_allclose(history.energy[-1, -1], GRAVITY, rtol=1e-9)


@pytest.mark.long
def test_stepping_over_impacts_tends_to_it():
    """First order in dt: within the way of the fall in one increment."""
    for dt in (4e-3, 1e-3, 2.5e-4):
        history = run_text(ball(procedure=f"{dt}, 1.2", impact="MOREAU"))
        first, second = (event.time for event in impacts_of(history)[:2])
        fall = np.sqrt(2.0 / GRAVITY)
        assert abs(first - fall) <= 2.0 * dt and abs(second - 2.0 * fall) <= 5.0 * dt
        total = history.energy[:, :3].sum(axis=1)
        assert np.diff(total).max() < 1e-12


def test_a_plane_is_a_very_long_stop():
    """Straight up and down they are the same; sideways the top of a sphere falls by x^2/2 L."""
    stop, plane = run_text(one("STOP", length=1.0)), run_text(ball())
    for attribute in ("event", "time", "energy_loss"):
        both = [[getattr(event, attribute) for event in history.events[:10]] for history in (stop, plane)]
        if attribute == "event":
            assert both[0] == both[1]
        else:
            np.testing.assert_allclose(both[0], both[1], atol=1e-8)
    np.testing.assert_allclose(stop.positions(2)[:, 1] - 1.0, plane.positions(2)[:, 1], atol=1e-8)


@pytest.mark.parametrize("dt", [0.16, 0.1, 0.03])
def test_touch_within_an_increment_is_an_impact(dt):
    """Thrown at a plane from which its weight pulls it, 0.5 mm beyond it: for 20 ms, in which no increment ends."""
    speed, end = np.sqrt(2 * GRAVITY * 0.5005), 0.8
    deck = ball(at=0.5 * UP, speed=-speed * UP, weight=UP, restitution=0.0, procedure=f"{dt}, {end}", impact="EVENT")
    history = run_text(deck)
    time = (speed - np.sqrt(speed**2 - GRAVITY)) / GRAVITY
    assert [event.event for event in history.events] == ["impact"]
    assert abs(history.events[0].time - time) < 1e-9
    assert abs(history.positions(2)[-1, 1] - 0.5 * GRAVITY * (end - time) ** 2) < 1e-9


@pytest.mark.parametrize(("impact", "friction"), [("EVENT", 0.0), ("MOREAU", 0.4)])
def test_turned_with_plane_and_weight_the_motion_turns(impact, friction):
    at, speed, given = UP + [0.1, 0.0, -0.2], np.array([1.0, -0.5, 2.0]), {"impact": impact, "friction": friction}
    turn = rotation(3)
    flat = run_text(ball(at=at, speed=speed, procedure="0.01, 1.", **given))
    turned = run_text(
        ball(at=turn @ at, speed=turn @ speed, normal=3.0 * turn @ UP, weight=-turn @ UP, procedure="0.01, 1.", **given)
    )
    np.testing.assert_allclose(turned.positions(2), flat.positions(2) @ turn.T, atol=1e-9)
    assert [event.event for event in turned.events] == [event.event for event in flat.events]


def test_on_a_plane_at_rest():
    """A spring from above takes a part of the weight, the plane the rest; without contact all."""
    spring = "*ELEMENT, TYPE=SPRINGA, ELSET=S\n1, 2, 3\n*SPRING, ELSET=S\n\n{}\n*BOUNDARY\n1, 1, 3\n3, 1, 3\n2, 1\n2, 3"
    for stiffness in (4.0, 20.0):
        text = ball(procedure="0.5, 1.", extra=spring.format(stiffness), mass=1.0, friction=0.5)
        text = text.replace("2, 0.0, 1.0, 0.0\n", "2, 0.0, 1.0, 0.0\n3, 0, 3, 0\n").replace(
            "*DYNAMIC, DIRECT", "*STATIC"
        )
        text = text.replace("*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, 0.0\n2, 2, 0.0\n2, 3, 0.0\n", "")
        history = run_text(text)
        down = min(1.0, GRAVITY / stiffness)
        assert history.positions(2)[-1, 1] == pytest.approx(1.0 - down, abs=1e-9)
        assert history.reactions[-1, 1] == pytest.approx(GRAVITY - stiffness * down, abs=1e-6)
        assert any("FRICTION of *STOP PLANE acts in *DYNAMIC steps" in text for text in history.notices)


# Moving planes


@pytest.mark.parametrize("kind", ["plane", "stop"])
@pytest.mark.parametrize("speed", [0.5, -1.0])
def test_impacts_on_a_table_at_constant_speed(kind, speed):
    """v+ = 2 w - v with c = 1: of the ball as the table sees it, the time from impact to impact stays the same."""
    table = f"*BOUNDARY, AMPLITUDE=WAY\n1, 2, 2, {speed!r}"
    extra = "*AMPLITUDE, NAME=WAY\n0, 0, 10, 10\n*BOUNDARY\n1, 1\n1, 3"
    text = ball(restitution=1.0, procedure="0.01, 1.8", table=table, extra=extra)
    if kind == "stop":
        bar = (
            "*ELEMENT, TYPE=T3D2, ELSET=BAR\n1, 1, 2\n*MATERIAL, NAME=M\n*INEXTENSIBLE, RESTITUTION=1\n*NO TENSION\n"
            "*SOLID SECTION, ELSET=BAR, MATERIAL=M\n1.\n*REST LENGTH\nBAR, 2.\n*INITIAL"
        )
        start = text.index("*STOP PLANE")
        text = text[:start] + text[text.index("*INITIAL") :].replace("*INITIAL", bar, 1)
        text = text.replace("1, 0, 0, 0\n", "1, 0, -2, 0\n", 1)
    history = run_text(text)
    # Against the table the ball falls from 1 with -speed at first and arrives with the speed root.
    root = np.sqrt(speed**2 + 2.0 * GRAVITY)
    first = (root - speed) / GRAVITY
    expected = first + 2.0 * root / GRAVITY * np.arange(3)
    expected = expected[expected < 1.8]
    np.testing.assert_allclose([event.time for event in impacts_of(history)], expected, atol=1e-8)
    assert max(abs(event.energy_loss) for event in history.events) < 1e-9
    after = np.searchsorted(history.time, expected[0]) + 1
    velocity = history.of_node(2, "v")[after, 1] + GRAVITY * (history.time[after] - expected[0])
    assert velocity == pytest.approx(speed + root, abs=1e-8)
    np.testing.assert_allclose(history.energy_error[-1], 0.0, atol=1e-8)


def test_a_ball_on_a_shaken_table_bounces_once_a_period():
    """From the orbit of the formulas in the deck; off it the impacts double their period where it is not stable."""
    orbit = fem.run(INPUTS / "bouncing_ball.inp", parameters={"phi": 0.3})
    instants = 0.3 / (10.0 * np.pi) + 0.2 * np.arange(15)
    np.testing.assert_allclose([event.time for event in impacts_of(orbit)], instants, atol=1e-9)
    border = np.arctan(2.0 * GRAVITY * (1.0 + 0.8**2) / (1.0 + 0.8) ** 2 / (0.2 / 1.8 * GRAVITY * np.pi))
    for phase, grows in ((border - 0.03, False), (border + 0.03, True)):
        history = fem.run(INPUTS / "bouncing_ball.inp", parameters={"phi": phase, "off": 1e-6})
        off = np.array([event.time for event in impacts_of(history)]) - phase / (10.0 * np.pi) - 0.2 * np.arange(15)
        assert (abs(off[-1]) > abs(off[6])) == grows and (np.all(off[6:] * off[5:-1] < 0.0) or not grows)


# Friction


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_block_on_an_incline(friction):
    """It stays where tan(angle) < mu, else it slides with g (sin - mu cos); the plane bears weight and friction."""
    angle = np.radians(20.0)
    normal, down = np.array([-np.sin(angle), np.cos(angle), 0.0]), -np.array([np.cos(angle), np.sin(angle), 0.0])
    history = run_text(
        ball(at=0.0 * UP, normal=normal, friction=friction, restitution=0.0, procedure="0.01, 1.", mass=2.0)
    )
    pull = max(0.0, GRAVITY * (np.sin(angle) - friction * np.cos(angle)))
    np.testing.assert_allclose(history.positions(2), 0.5 * pull * history.time[:, None] ** 2 * down, atol=1e-12)
    push = 2.0 * (GRAVITY * -UP - pull * down)
    np.testing.assert_allclose(history.reactions[-1, :3], -push, rtol=1e-9, atol=1e-9)
    rubbed = 2.0 * friction * GRAVITY * np.cos(angle) * 0.5 * pull
    np.testing.assert_allclose(history.energy[-1, -1], rubbed, rtol=1e-9, atol=1e-12)


def test_a_block_that_slides_comes_to_rest():
    """After v/(mu g), v^2/(2 mu g) away; the increment in which it stops is of first order."""
    history = run_text(ball(at=0.0 * UP, speed=(1.2, 0.0, -0.9), friction=0.3, restitution=0.0, procedure="1e-3, 0.7"))
    way = 1.5**2 / (2.0 * 0.3 * GRAVITY)
    np.testing.assert_allclose(history.positions(2)[-1], [0.8 * way, 0.0, -0.6 * way], atol=2e-3)
    assert np.abs(history.of_node(2, "v")[history.time > 1.5 / (0.3 * GRAVITY) + 1e-3]).max() < 1e-14
    assert history.energy[-1, -1] == pytest.approx(0.5 * 1.5**2, rel=1e-12)


def test_a_belt_takes_a_block_along():
    """With mu g up to its own speed; it slips by half of the way of the belt, and friction takes half of the work."""
    extra = "*AMPLITUDE, NAME=WAY\n0, 0, 10, 10\n*BOUNDARY\n1, 2, 3"
    belt = "*BOUNDARY, AMPLITUDE=WAY\n1, 1, 1, 1."
    given = {"at": 0.0 * UP, "friction": 0.3, "restitution": 0.0, "procedure": "0.01, 0.6"}
    history = run_text(ball(table=belt, extra=extra, **given))
    speed = np.minimum(1.0, 0.3 * GRAVITY * history.time)
    np.testing.assert_allclose(history.of_node(2, "v")[:, 0], speed, atol=1e-12)
    np.testing.assert_allclose(history.energy[-1, [0, 3, 4]], [0.5, 1.0, 0.5], rtol=1e-12)
    assert np.abs(history.energy_error).max() < 1e-13


def test_a_wedge_that_is_free_is_pushed_away():
    """Nothing acts along x from outside: momentum stays; the block stays on the wedge, the books are closed."""
    normal = np.array([-np.sin(0.4), np.cos(0.4), 0.0])
    extra = "*BOUNDARY\n1, 2, 3\n*ELEMENT, TYPE=MASS, ELSET=WEDGE\n3, 1\n*MASS, ELSET=WEDGE\n3."
    given = {"at": 0.0 * UP, "normal": normal, "friction": 0.1, "restitution": 0.0, "procedure": "0.01, 0.5"}
    history = run_text(ball(extra=extra, **given))
    wedge, block = history.of_node(1, "v")[-1], history.of_node(2, "v")[-1]
    assert 3.0 * wedge[0] + block[0] == pytest.approx(0.0, abs=1e-12) and wedge[0] > 0.1
    assert (history.positions(2)[-1] - history.positions(1)[-1]) @ normal == pytest.approx(0.0, abs=1e-12)
    assert np.abs(history.energy_error).max() < 1e-13


@pytest.mark.parametrize("friction", [0.1, 5.0])
def test_the_impulse_of_an_oblique_impact(friction):
    """Along the plane mu times that across it, against the motion; less where it ends the motion. No weight."""
    speed, c = np.array([1.2, -2.0, 0.9]), 0.5
    text = ball(at=0.0105 * UP, speed=speed, friction=friction, restitution=c, procedure="1e-3, 0.02")
    history = run_text(text.replace(f"GRAV, {GRAVITY}", "GRAV, 0."))
    change = history.of_node(2, "v")[-1] - speed
    assert change[1] == pytest.approx((1.0 + c) * 2.0, rel=1e-12)
    along = min(1.0, friction * change[1] / 1.5)
    np.testing.assert_allclose(change[[0, 2]], -along * speed[[0, 2]], rtol=1e-12)
    (impact,) = impacts_of(history)
    left = history.of_node(2, "v")[-1]
    assert impact.energy_loss == pytest.approx(0.5 * (speed @ speed - left @ left), rel=1e-12)
    assert history.energy[-1, -1] == pytest.approx(impact.energy_loss, rel=1e-12)


def test_a_node_that_sets_off_into_its_plane_rubs_at_once():
    history = run_text(ball(at=0.0 * UP, speed=(1.0, -1.0, 0.0), friction=0.25, restitution=0.0, procedure="1e-3, 0.1"))
    change = 1.0 - history.of_node(2, "v")[1, 0]
    assert change == pytest.approx(0.25 * (1.0 + GRAVITY * 1e-3), rel=1e-12)


def contacts_of(rows, right, rods, contacts, friction):
    """What ``impulses`` is asked: rods, then contacts; compliance of rows of gradients over unit masses."""
    empty = np.zeros((0, 0))
    slips = Slips(np.tile(rods + np.arange(contacts), 2), np.full(2 * contacts, friction), empty, empty)
    return rows @ rows.T, right, np.arange(rods + contacts) >= rods, slips, np.zeros(len(right))


@example(seed=1, near=1.0, rods=1, contacts=2, friction=2.0)
@example(seed=2912, near=1.0, rods=0, contacts=1, friction=2.0)
@example(seed=45, near=1e-3, rods=0, contacts=1, friction=4.0)
@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([1.0, 1e-2, 1e-3]), st.integers(0, 3), st.integers(1, 4), st.floats(0.0, 5.0)
)
def test_impulses_fulfil_the_laws_of_contact(seed, near, rods, contacts, friction):
    """Each condition by itself, of any compliance that is a Gram matrix, also of one that all but lost a row; rods to
    1e-4 then, which is what its round-off leaves."""
    random, count = np.random.default_rng(seed), rods + contacts
    rows = random.normal(size=(count + 2 * contacts, count + 2 * contacts + 2))
    rows[-1] = near * rows[-1] + (1.0 - near) * (0.5 * rows[0] + 0.7 * rows[-2])
    right = random.normal(size=len(rows)) if near == 1.0 else rows @ random.normal(size=rows.shape[1])
    asked = contacts_of(rows, right, rods, contacts, friction)
    found, creeps = impulses(*asked)
    assert not creeps
    rate, size = right - asked[0] @ found, 1e-8 * np.abs(right).max()
    push, away = found[rods:count], rate[rods:count]
    assert np.abs(rate[:rods]).max(initial=0.0) < size * (1.0 if near == 1.0 else 1e4)
    assert (
        push.min() >= -1e-14 * push.max()
        and away.max() < size
        and np.abs(push * away).max() < size * (1.0 + push.max())
    )
    along, slip = found[count:].reshape(2, -1), rate[count:].reshape(2, -1)
    length, speed = np.hypot(*along), np.hypot(*slip)
    assert np.all(length <= friction * push + size)
    slides = speed > 10.0 * size
    np.testing.assert_allclose(
        (along * speed)[:, slides], (friction * push * slip)[:, slides], atol=100.0 * size * (1.0 + push.max())
    )


def impulses_of_one(compliance, right, friction):
    """All (p, t1, t2) that fulfil the laws of one contact: it opens, sticks, or slides along e = (cos, sin), which are
    the roots of a polynomial of the fourth degree in exp(i angle): s x e = 0 with the push at which s_n = 0."""
    found = [np.zeros(3)] if right[0] <= 0.0 else []
    held = np.linalg.solve(compliance, right)
    if np.hypot(*held[1:]) <= friction * held[0]:
        found.append(held)

    def slipping(angle):
        e = np.array([np.cos(angle), np.sin(angle)])
        pull = np.append(1.0, friction * e)
        return e, pull, (right * (compliance[0] @ pull) - right[0] * (compliance @ pull))[1:]

    samples = [e[1] * s[0] - e[0] * s[1] for e, _, s in map(slipping, 2.0 * np.pi * np.arange(8) / 8)]
    terms = np.fft.fft(samples)
    roots = np.roots(terms[[2, 1, 0, -1, -2]])
    for angle in np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-6]):
        e, pull, _ = slipping(angle)
        z = pull * right[0] / (compliance[0] @ pull)
        if z[0] >= 0.0 and (right - compliance @ z)[1:] @ e >= 0.0:
            found.append(z)
    return found


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.1, 1e-2]), st.floats(0.0, 5.0))
def test_impulses_of_one_contact_are_those_of_its_closed_form(seed, near, friction):
    random = np.random.default_rng(seed)
    rows, right = random.normal(size=(3, 5)), random.normal(size=3)
    rows[-1] = near * rows[-1] + (1.0 - near) * (0.5 * rows[0] + 0.7 * rows[1])
    asked = contacts_of(rows, right, 0, 1, friction)
    found, ways = impulses(*asked)[0], impulses_of_one(asked[0], right, friction)
    assert min(np.abs(found - way).max() for way in ways) < 1e-7 * (1.0 + np.abs(found).max()) / near**2


def test_of_many_contacts_they_are_found_too():
    random = np.random.default_rng(5)
    rows = random.normal(size=(32, 34))
    asked = contacts_of(rows, random.normal(size=32), 2, 10, 3.0)
    found, creeps = impulses(*asked)
    rate = asked[1] - asked[0] @ found
    assert not creeps and rate[2:12].max() < 1e-8 and np.abs(found[2:12] * rate[2:12]).max() < 1e-8
    assert np.all(np.hypot(*found[12:].reshape(2, -1)) <= 3.0 * found[2:12] + 1e-8)


WEDGE = """*NODE
1, 0, 0, 0.1
2, 0, 0, -0.1
3, 0, 0, 0
*ELEMENT, TYPE=MASS, ELSET=BALL
3, 3
*MASS, ELSET=BALL
1.
*NSET, NSET=BALLS
3
*STOP PLANE, REF NODE=1, NSET=BALLS, FRICTION={friction!r}
{across!r}, {up!r}
*STOP PLANE, REF NODE=2, NSET=BALLS, FRICTION={friction!r}
-{across!r}, {up!r}
*AMPLITUDE, NAME=WAY
0, 0, 10, 10
*BOUNDARY
1, 2, 3
2, 2, 3
3, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
0.01, 0.1
*CONTROLS, IMPACT=MOREAU
*BOUNDARY, AMPLITUDE=WAY
1, 1, 1, 0.1
2, 1, 1, -0.1
*NODE PRINT, NSET=BALLS
U, V
*END STEP
"""


def test_a_wedge_that_closes_throws_a_node_out_or_jams_it():
    """Two planes 10 degrees from upright move towards each other: the node leaves with w/tan(10) where the friction is
    less than tan(10); with more there are no impulses, and it is said that friction jams it."""
    angle = np.radians(10.0)
    given = {"across": float(np.cos(angle)), "up": float(np.sin(angle))}
    for friction in (0.0, 0.99 * np.tan(angle)):
        history = run_text(WEDGE.format(friction=float(friction), **given))
        np.testing.assert_allclose(history.of_node(3, "v")[-1], [0.0, 0.1 / np.tan(angle), 0.0], atol=1e-9)
    for friction in (1.01 * np.tan(angle), 2.0):
        with pytest.raises(FemError, match=r"friction jams node 3 .*less FRICTION= does\). Everything"):
            run_text(WEDGE.format(friction=float(friction), **given))


def dropped(*, rigid=False, bars=8, dt=2e-3, period=1.1, restitution=0.3, friction=0.4) -> str:
    """A chain of length 1, let go at a slope above a floor."""
    places = [(0.9 * i / bars, 0.2 + 0.4 * i / bars) for i in range(bars + 1)]
    nodes = "\n".join(f"{i + 2}, {x!r}, {y!r}" for i, (x, y) in enumerate(places))
    elements = "\n".join(f"{i + 1}, {i + 2}, {i + 3}" for i in range(bars))
    law = "*INEXTENSIBLE" if rigid else "*ELASTIC\n1e7\n*DAMPING, BETA=1e-3"
    return f"""*NODE
1, 0, 0
{nodes}
*NSET, NSET=CHAIN, GENERATE
2, {bars + 2}
*ELEMENT, TYPE=T2D2, ELSET=LINE
{elements}
*MATERIAL, NAME=M
*DENSITY
1000.
{law}
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1e-3
*STOP PLANE, REF NODE=1, NSET=CHAIN, RESTITUTION={restitution!r}, FRICTION={friction!r}
0, 1
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, ALPHA=0
{dt!r}, {period!r}
*DLOAD
LINE, GRAV, {GRAVITY}, 0, -1
*NODE PRINT, NSET=CHAIN, FREQUENCY=100
U, V
*END STEP
"""


@pytest.mark.long
@pytest.mark.parametrize("rigid", [False, True])
def test_a_chain_that_is_dropped_ends_on_the_floor(rigid):
    """At rest, all its height dissipated; energy never grows, and the books are closed."""
    history = run_text(dropped(rigid=rigid))
    kinetic, strain, potential, work, dissipated = history.energy.T
    fallen = 0.4 * GRAVITY * np.sqrt(0.9**2 + 0.4**2)
    scale = 1e-10 * fallen
    assert np.diff(kinetic + strain + potential).max() < scale and np.diff(dissipated).min() > -scale
    assert np.abs(history.energy_error).max() < scale and not work.any()
    assert dissipated[-1] == pytest.approx(fallen, rel=1e-4)
    heights = np.array([history.positions(node)[-1, 1] for node in range(2, 11)])
    assert heights.min() > -1e-10 and heights.max() < 1e-3
    assert np.abs(history.v[-1]).max() < 2e-2
    assert not any("may creep" in notice for notice in history.notices)


# Decks


def test_the_deck_is_written_and_read():
    model = parse_deck(dropped())
    assert parse_deck(write_deck(model)) == model


def test_below_its_plane_at_the_start():
    text = ball(extra="*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n2, 2, -1.25\n*BOUNDARY\n1, 1, 3")
    with pytest.raises(FemError, match=r"node 2 at the \*STOP PLANE of node 1 is 0.25 below it"):
        run_text(text)
    with pytest.raises(DeckError, match="EXPLICIT does not support ropes and stops"):
        parse_deck(ball().replace("*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, EXPLICIT"))
