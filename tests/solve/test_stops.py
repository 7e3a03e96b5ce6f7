"""Stops: bars that never get shorter than their length, the mirror of ropes; impacts that travel from ball to ball."""

from __future__ import annotations

import numpy as np
import pytest

from fem.deck import parse_deck, write_deck
from fem.errors import DeckError, FemError
from tests.decks import run_text

GRAVITY = 9.81
SCHEMES = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM")


def one(
    kind: str, *, length: float = 0.25, restitution: float = 0.5, procedure: str = "", impact: str = "EVENT"
) -> str:
    """A mass of 1 that falls by 1 along y: onto a ``STOP`` from below, or into a ``ROPE`` from above, or its own."""
    support, card = (1.0 - length, "NO TENSION") if kind == "STOP" else (1.0 + length, "NO COMPRESSION")
    procedure = procedure or "*DYNAMIC, DIRECT\n0.01, 2."
    return f"""*NODE, NSET=ALL
1, 0, {support!r}, 0
2, 0, 2., 0
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BALL
2, 2
*MASS, ELSET=BALL
1.
*MATERIAL, NAME=HARD
*INEXTENSIBLE, RESTITUTION={restitution!r}
*{card}
*SOLID SECTION, ELSET=BAR, MATERIAL=HARD
1.
*REST LENGTH
BAR, {length!r}
*BOUNDARY
1, 1, 3
2, 1
2, 3
*STEP, NLGEOM, INC=100000
{procedure}
*CONTROLS, IMPACT={impact}
*DLOAD
BALL, GRAV, {GRAVITY}, 0, -1, 0
*NODE PRINT, NSET=ALL
U, V, RF
*EL PRINT, ELSET=BAR
T
*END STEP
"""


def cradle(pulled: int, *, balls: int = 5, gap: float = 0.0, restitution: float = 1.0, period: float = 0.6) -> str:
    """Newton's cradle: balls of diameter 0.05 on strings of 0.5, the first ones let go at 5 degrees."""
    diameter, string, angle = 0.05, 0.5, np.radians(5.0)
    tops, bobs = [], []
    for i in range(balls):
        x, swing = i * (diameter + gap), angle if i < pulled else 0.0
        tops.append(f"{i + 1}, {x!r}, {string}, 0")
        bobs.append(f"{i + 11}, {float(x - string * np.sin(swing))!r}, {float(string * (1 - np.cos(swing)))!r}, 0")
    nodes = "\n".join([*tops, *bobs])
    strings = "\n".join(f"{i + 1}, {i + 1}, {i + 11}" for i in range(balls))
    stops = "\n".join(f"{i + 101}, {i + 11}, {i + 12}" for i in range(balls - 1))
    masses = "\n".join(f"{i + 201}, {i + 11}" for i in range(balls))
    return f"""*NODE
{nodes}
*NSET, NSET=TOPS, GENERATE
1, {balls}
*NSET, NSET=BOBS, GENERATE
11, {balls + 10}
*ELEMENT, TYPE=T3D2, ELSET=STRINGS
{strings}
*ELEMENT, TYPE=T3D2, ELSET=STOPS
{stops}
*ELEMENT, TYPE=MASS, ELSET=BALLS
{masses}
*MASS, ELSET=BALLS
0.1
*MATERIAL, NAME=STRING
*INEXTENSIBLE
*MATERIAL, NAME=STEEL
*INEXTENSIBLE, RESTITUTION={restitution!r}
*NO TENSION
*SOLID SECTION, ELSET=STRINGS, MATERIAL=STRING
1.
*SOLID SECTION, ELSET=STOPS, MATERIAL=STEEL
1.
*REST LENGTH
STOPS, {diameter!r}
*BOUNDARY
TOPS, 1, 3
BOBS, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
2e-3, {period!r}
*DLOAD
BALLS, GRAV, {GRAVITY}, 0, -1, 0
*NODE PRINT, NSET=BOBS
U, V
*END STEP
"""


def sliding(integrator: str, dt: float, start: float) -> str:
    """A point on a smooth ball of radius 1, let go ``start`` [rad] from its top."""
    return f"""*NODE
1, 0, 0, 0
2, {float(np.sin(start))!r}, {float(np.cos(start))!r}, 0
*ELEMENT, TYPE=T3D2, ELSET=BALL
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=POINT
2, 2
*MASS, ELSET=POINT
1.
*MATERIAL, NAME=HARD
*INEXTENSIBLE
*NO TENSION
*SOLID SECTION, ELSET=BALL, MATERIAL=HARD
1.
*REST LENGTH
BALL, 1.
*BOUNDARY
1, 1, 3
2, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt!r}, 1.2
*DLOAD
POINT, GRAV, {GRAVITY}, 0, -1, 0
*END STEP
"""


def test_a_ball_bounces_as_it_should():
    """Falls of sqrt(2 h/g), each speed half of the one before, and rest: weight in compression."""
    history = run_text(one("STOP"))
    fall = np.sqrt(2.0 / GRAVITY)
    impacts = [event for event in history.events if event.event == "impact"]
    instants = fall * np.cumsum([1.0, *(2.0 * 0.5**k for k in range(1, 12))])
    np.testing.assert_allclose([event.time for event in impacts[:12]], instants, atol=2e-9)
    losses = GRAVITY * 0.75 * 0.25 ** np.arange(12)
    np.testing.assert_allclose([event.energy_loss for event in impacts[:12]], losses, rtol=1e-7)
    assert [event.event for event in history.events][-1] == "contact" and len(history.events) < 60
    assert history.positions(2)[-1, 1] == pytest.approx(1.0, abs=1e-12)
    assert history.of_element(1, "T")[-1] == pytest.approx(-GRAVITY, rel=1e-9)


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.sampled
def test_along_a_line_a_stop_is_a_rope_from_the_other_side(integrator, impact):
    procedure = f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}\n0.02, 1.3"
    length, close = (3.0, 1e-7) if impact == "EVENT" else (3e4, 1e-4)  # impulses act along the mean of an increment
    stop, rope = (run_text(one(kind, length=length, procedure=procedure, impact=impact)) for kind in ("STOP", "ROPE"))
    names = {"taut": "contact", "slack": "apart"}
    assert [event.event for event in stop.events] == [names.get(event.event, event.event) for event in rope.events]
    for attribute in ("time", "energy_loss"):
        both = [[getattr(event, attribute) for event in history.events] for history in (stop, rope)]
        np.testing.assert_allclose(both[0], both[1], atol=close)
    np.testing.assert_allclose(stop.positions(2), rope.positions(2), atol=close)
    np.testing.assert_allclose(stop.of_element(1, "T")[-1], -rope.of_element(1, "T")[-1], atol=10.0 * close)


def test_at_rest_on_a_stop_as_in_a_rope():
    stop, rope = (run_text(one(kind, length=3.0, procedure="*STATIC\n0.25, 1.")) for kind in ("STOP", "ROPE"))
    assert stop.positions(2)[-1, 1] == rope.positions(2)[-1, 1] == pytest.approx(1.0, abs=1e-14)
    assert stop.of_element(1, "T")[-1] == -rope.of_element(1, "T")[-1] == pytest.approx(-GRAVITY, rel=1e-12)


@pytest.mark.parametrize("integrator", SCHEMES[:3])
def test_a_point_leaves_a_ball_where_it_should(integrator):
    """cos(angle) = 2/3 cos(start), whatever the weight: then m g cos(angle) = m v^2/r. Energy is kept on the way."""
    start, errors = 0.3, []
    for dt in (4e-3, 2e-3):
        history = run_text(sliding(integrator, dt, start))
        (left,) = [event for event in history.events if event.event == "apart"]
        x, y, _ = history.positions(2)[np.searchsorted(history.time, left.time) - 1]
        assert np.hypot(x, y) == pytest.approx(1.0, abs=1e-9)
        speed = history.of_node(2, "v")[history.time >= left.time][0, 0]  # nothing pushes along x any more
        cosine = 2.0 / 3.0 * np.cos(start)
        errors.append(abs(speed - np.sqrt(GRAVITY * cosine) * cosine))
        assert history.events[-1].event == "apart"
    assert errors[1] < 2e-4 and errors[1] < 0.4 * errors[0]


@pytest.mark.parametrize("gap", [0.0, 5e-8])
@pytest.mark.parametrize("pulled", [1, 2, 3, 4])
def test_as_many_balls_leave_as_arrive(pulled, gap):
    """Through all impacts of one passage momentum and energy stay; balls that touch give the limit of small gaps."""
    history = run_text(cradle(pulled, gap=gap))
    impacts = [event for event in history.events if event.event == "impact"]
    before = int(np.searchsorted(history.time, impacts[0].time)) - 1
    after = int(np.searchsorted(history.time, impacts[-1].time)) + 1
    speeds = np.array([history.of_node(11 + i, "v")[:, 0] for i in range(5)])
    fast = np.sqrt(2.0 * GRAVITY * 0.5 * (1.0 - np.cos(np.radians(5.0))))
    np.testing.assert_allclose(speeds[:, after], [0.0] * (5 - pulled) + [fast] * pulled, atol=2e-4)
    np.testing.assert_allclose((speeds**2).sum(axis=0)[after], (speeds**2).sum(axis=0)[before], rtol=3e-4)
    assert abs(sum(event.energy_loss for event in impacts)) < 1e-12
    assert {event.event for event in history.events} == {"impact"}


def test_impacts_with_losses_hand_on_by_pairs():
    """Ball k keeps (1 - c)/2 of what it got, and the next one gets (1 + c)/2."""
    c = 0.9
    history = run_text(cradle(1, gap=5e-8, restitution=c, period=0.36))
    impacts = [event for event in history.events if event.event == "impact"][:4]
    fast = np.sqrt(2.0 * GRAVITY * 0.5 * (1.0 - np.cos(np.radians(5.0))))
    got = fast * ((1.0 + c) / 2.0) ** np.arange(4)
    losses = 0.5 * 0.1 * 0.5 * (1.0 - c**2) * got**2  # of the relative motion, reduced mass m/2
    np.testing.assert_allclose([event.energy_loss for event in impacts], losses, rtol=2e-4)
    touching = [event for event in run_text(cradle(1, restitution=c, period=0.36)).events if event.event == "impact"]
    np.testing.assert_allclose([event.energy_loss for event in touching[:4]], losses, rtol=2e-4)


def test_the_deck_is_written_and_read():
    model = parse_deck(one("STOP"))
    assert parse_deck(write_deck(model)) == model


def test_mistakes_are_named():
    with pytest.raises(DeckError, match="RESTITUTION is for ropes and stops"):
        parse_deck(one("STOP").replace("*NO TENSION\n", ""))
    with pytest.raises(DeckError, match="does not support ropes and stops"):
        parse_deck(one("STOP", procedure="*DYNAMIC, EXPLICIT\n0.01, 1."))
    with pytest.raises(FemError, match=r"element 1 is a stop of length 1.5, but its nodes are 1.25 apart"):
        run_text(one("STOP").replace("BAR, 0.25", "BAR, 1.5"))


def test_ropes_and_stops_in_one_model():
    """A ball between a floor and a rope from above: at rest on the floor, the rope slack, and the other way round."""
    text = one("STOP", procedure="*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT\n0.01, 3.", restitution=0.0)
    text = text.replace("*NODE, NSET=ALL\n", "*NODE, NSET=ALL\n3, 0, 4., 0\n")
    hemp = "*MATERIAL, NAME=HEMP\n*INEXTENSIBLE\n*NO COMPRESSION\n*MATERIAL, NAME=HARD"
    rope = "*ELEMENT, TYPE=T3D2, ELSET=ROPE\n3, 2, 3\n*SOLID SECTION, ELSET=ROPE, MATERIAL=HEMP\n1.\n*SOLID SECTION"
    text = text.replace("*MATERIAL, NAME=HARD", hemp).replace("*SOLID SECTION", rope)
    text = text.replace("*BOUNDARY\n", "*BOUNDARY\n3, 1, 3\n")
    for length, place, element in ((2.8, 1.2, 3), (3.2, 1.0, 1)):
        history = run_text(text.replace("*REST LENGTH\n", f"*REST LENGTH\nROPE, {length}\n"))
        assert history.positions(2)[-1, 1] == pytest.approx(place, abs=1e-9)
        assert {event.element for event in history.events} == {element}
