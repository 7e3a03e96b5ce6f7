"""Ropes: taut, slack and impacts, with events located in time and with Moreau-Jean time stepping."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from fem.deck import write_deck
from fem.errors import FemError
from tests.decks import run_text
from validation.references import rope

GRAVITY = 9.81
EVENT_SCHEMES = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "ENERGY MOMENTUM")


def hung(
    restitution: float, *, integrator: str = "NEWMARK", dt: float = 0.001, period: float = 1.0, rise: float = 0.5
) -> str:
    """A mass of 1 on a rope of length 1 below a pin, let go ``rise`` above its lowest place, free to move in z."""
    return f"""*NODE
1, 0, 0, 0
2, 0, 0, -1.
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE, RESTITUTION={restitution!r}
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPE, MATERIAL=HEMP
1.
*BOUNDARY
1, 1, 3
2, 1, 2
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 3, {rise!r}
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt!r}, {period!r}
*DLOAD
BOB, GRAV, {GRAVITY}, 0, 0, -1
*END STEP
"""


def shaken(amplitude: float, theta: float, *, dt: float, period: float, controls: str = "RESI_GLOB_RELA=1e-9") -> str:
    """The string pendulum of ``validation/references/rope.py``, at rest in the laboratory frame."""
    model = rope.Shaken(amplitude)
    rise = amplitude + 5.0 * (1.0 - np.cos(theta))
    return f"""*NODE
1, 0, 0, 0
2, 0, 0, -5.
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB, ALPHA=0.5
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPE, MATERIAL=HEMP
1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, {model.omega!r}, 0., 0.
1., 0.
*BOUNDARY
1, 1, 2
2, 2
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
1, 3, {amplitude!r}
2, 1, {5.0 * np.sin(theta)!r}
2, 3, {rise!r}
*STEP, NLGEOM
*DYNAMIC, DIRECT
{dt!r}, {period!r}
*CONTROLS, {controls}
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, {amplitude!r}
*DLOAD
BOB, GRAV, 9.8, 0, 0, -1
*END STEP
""".replace("np.float64(", "").replace(")\n", "\n")


def line(integrator: str, restitution: float, *, middle: str = "", period: float = 1.2) -> str:
    """Three masses of 1 in a row, hung on each other by ropes; ``middle``: cards that make the second bar another."""
    ropes = "1, 1, 2\n3, 3, 4" if middle else "1, 1, 2\n2, 2, 3\n3, 3, 4"
    other = "*ELEMENT, TYPE=T3D2, ELSET=MIDDLE\n2, 2, 3\n*MATERIAL, NAME=OTHER\n" + middle if middle else ""
    section = "*SOLID SECTION, ELSET=MIDDLE, MATERIAL=OTHER, STRAIN=ENGINEERING\n1.\n" if middle else ""
    return f"""*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
4, 3, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=ROPES
{ropes}
*ELEMENT, TYPE=MASS, ELSET=BOBS
12, 2
13, 3
14, 4
*MASS, ELSET=BOBS
1.
{other}{section}*MATERIAL, NAME=HEMP
*INEXTENSIBLE, RESTITUTION={restitution!r}
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 1, -0.05
2, 3, 0.1
3, 1, -0.05
3, 3, 0.1
4, 1, -0.3
4, 3, 0.2
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.002, {period!r}
*DLOAD
BOBS, GRAV, {GRAVITY}, 0, 0.1, -1
*END STEP
"""


def net(count: int, dt: float, period: float, restitution: float) -> tuple[str, np.ndarray]:
    """A square net of ``count`` x ``count`` nodes, pulled in to nine tenths, its edges held; the ends of its ropes."""
    label = np.arange(1, count**2 + 1).reshape(count, count)
    ends = np.concatenate(
        [
            np.column_stack([label[:-1].ravel(), label[1:].ravel()]),
            np.column_stack([label[:, :-1].ravel(), label[:, 1:].ravel()]),
        ]
    )
    places = [(i, j) for i in range(count) for j in range(count)]
    nodes = "\n".join(f"{k}, {i}., {j}., 0." for k, (i, j) in enumerate(places, 1))
    ropes = "\n".join(f"{k}, {a}, {b}" for k, (a, b) in enumerate(ends.tolist(), 1))
    edge = "\n".join(str(k) for k, place in enumerate(places, 1) if {0, count - 1} & set(place))
    pulled = "\n".join(f"{k}, 1, {-0.1 * i!r}\n{k}, 2, {-0.1 * j!r}" for k, (i, j) in enumerate(places, 1))
    deck = f"""*NODE
{nodes}
*NSET, NSET=EDGE
{edge}
*ELEMENT, TYPE=T3D2, ELSET=ROPES
{ropes}
*MATERIAL, NAME=HEMP
*INEXTENSIBLE, RESTITUTION={restitution!r}
*NO COMPRESSION
*DENSITY
1.
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
{pulled}
*STEP, NLGEOM
*DYNAMIC, DIRECT
{dt!r}, {period!r}
*BOUNDARY, TYPE=VELOCITY
EDGE, 1, 3, 0.
*DLOAD
ROPES, GRAV, {GRAVITY}, 0.1, 0.05, -1
*END STEP
"""
    return deck, ends - 1


def events(history: fem.History, *kinds: str) -> list[tuple[float, float]]:
    """(time, energy loss) of the events of these kinds."""
    return [(event.time, event.energy_loss) for event in history.events if event.event in kinds]


def lengths(history: fem.History, ends: np.ndarray) -> np.ndarray:
    """(k, r) distances between pairs of nodes, labels from 1."""
    place = np.stack([history.positions(k) for k in range(1, int(ends.max()) + 2)], axis=1)
    return np.asarray(np.linalg.norm(place[:, ends[:, 0]] - place[:, ends[:, 1]], axis=2))


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
def test_bounces_follow_the_geometric_sequence(integrator):
    """Exact: in free fall all schemes are, so times are good to the resolution of events, energies to its effect."""
    c, height = 0.5, 0.5
    history = run_text(hung(c, integrator=integrator))
    fall = np.sqrt(2 * height / GRAVITY)
    times = fall * np.concatenate([[1.0], 1.0 + 2.0 * np.cumsum(c ** np.arange(1.0, 12.0))])
    losses = GRAVITY * height * c ** (2.0 * np.arange(12)) * (1 - c**2)
    found = np.array(events(history, "impact")[:8])
    assert np.abs(found[:, 0] - times[:8]).max() < 1e-9
    assert np.abs(found[:, 1] / losses[:8] - 1.0).max() < 1e-5
    assert [event.event for event in history.events][-1] == "taut"  # the infinitely many last ones are told once
    end = fall * (1 + 2 * c / (1 - c))
    assert abs(history.events[-1].time - end) < 1e-5
    assert abs(history.positions(2)[-1, 2] + 1.0) < 1e-9
    assert np.abs(history.energy_error).max() < 1e-10


def test_rope_too_long_within_one_increment_alone_meets_an_impact():
    """Thrown up past the pin, and 0.4 mm beyond the length for 18 ms: no increment ends there."""
    start, speed = np.array([-0.2, -0.5]), np.array([0.4, np.sqrt(2 * GRAVITY * 1.5002)])
    deck = (
        hung(0.0, dt=0.1, period=0.7).replace("2, 1, 2\n", "2, 2\n").replace("2, 3, 0.5\n", "2, 1, -0.2\n2, 3, 0.5\n")
    )
    thrown = f"*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 1, {float(speed[0])}\n2, 3, {float(speed[1])}\n*STEP"
    history = run_text(deck.replace("*STEP", thrown, 1))

    def beyond(t):
        return float(np.hypot(*(start + speed * t - [0.0, 0.5 * GRAVITY * t * t]))) - 1.0

    (impact,) = (event.time for event in history.events if event.event == "impact")
    assert beyond(0.5) < 0.0 < beyond(0.5535) < 5e-4 and beyond(0.6) < 0.0
    assert abs(impact - brentq(beyond, 0.5, 0.5535, xtol=1e-14)) < 1e-9


def test_elastic_bounces_keep_the_energy():
    """c = 1: the total energy stays that of the start, to 1e-10."""
    history = run_text(hung(1.0, period=4.0))
    total = history.energy[:, 0] + history.energy[:, 1] + history.energy[:, 2]
    assert len(events(history, "impact")) == 6
    assert np.abs(total - total[0]).max() < 1e-10
    assert max(abs(loss) for _, loss in events(history, "impact")) < 1e-10


@pytest.mark.parametrize(("amplitude", "theta"), [(8.0, 0.1), (10.0, np.pi / 4)])
def test_shaken_string_agrees_with_event_driven_ode(amplitude, theta):
    """ODE: two fine phases and two impacts; second order, so half the increment leaves a quarter of the error."""
    errors = []
    for dt in (0.004, 0.002):
        history = run_text(shaken(amplitude, theta, dt=dt, period=8.0))
        exact = rope.path(rope.Shaken(amplitude), theta, history.time)
        assert [event.event for event in history.events] == [kind for _, kind, _ in exact.events]
        late = [event.time - instant for event, (instant, _, _) in zip(history.events, exact.events, strict=True)]
        lost = [event.energy_loss - loss for event, (_, _, loss) in zip(history.events, exact.events, strict=True)]
        place = history.positions(2)[:, [0, 2]]
        errors.append([np.abs(late).max(), np.abs(lost).max(), np.abs(place - exact.position).max()])
    assert np.all(np.array(errors[1]) < [5e-5, 5e-3, 3e-4])
    assert np.all(np.array(errors[0]) / np.array(errors[1]) > 3.0)


def test_automatic_increments_keep_their_local_error_between_events():
    """ODE: the error falls with TIME ERROR (with its power 2/3, were the longest increment not limited)."""
    errors = []
    for allowed in (1e-4, 1e-6):
        deck = shaken(8.0, 0.1, dt=0.01, period=8.0, controls=f"RESI_GLOB_RELA=1e-9, TIME ERROR={allowed}")
        history = run_text(deck.replace("*DYNAMIC, DIRECT", "*DYNAMIC"))
        exact = rope.path(rope.Shaken(8.0), 0.1, history.time)
        assert [event.event for event in history.events if event.element] == [kind for _, kind, _ in exact.events]
        errors.append(float(np.abs(history.positions(2)[:, [0, 2]] - exact.position).max()))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] > 5.0


@pytest.mark.parametrize("integrator", EVENT_SCHEMES)
@pytest.mark.parametrize(
    "middle", ["", "*ELASTIC\n2e3\n*NO COMPRESSION\n", "*INEXTENSIBLE\n"], ids=["rope", "cable", "rod"]
)
@pytest.mark.sampled
def test_ropes_hang_from_each_other_from_cables_and_rods(integrator, middle):
    """No rope is ever too long, and what impacts lose is what the energies miss."""
    history = run_text(line(integrator, 0.5, middle=middle))
    ropes = np.array([[0, 1], [2, 3]] if middle else [[0, 1], [1, 2], [2, 3]])
    assert lengths(history, ropes).max() < 1 + 1e-8
    assert len(events(history, "impact")) > 3
    lost = sum(loss for _, loss in events(history, "impact", "taut"))
    assert abs(lost - history.energy[-1, 4]) < 1e-6
    error = 1e-10 if integrator == "ENERGY MOMENTUM" else 0.03
    assert np.abs(history.energy_error).max() < error


def test_integrators_agree_on_events():
    """Different schemes of second order, one motion: the impacts of the first half second, in order and in time."""
    found = [run_text(line(integrator, 0.0, period=0.8)).events for integrator in EVENT_SCHEMES]
    kinds = [[(event.element, event.event) for event in each] for each in found]
    assert all(each == kinds[0] for each in kinds)
    times = np.array([[event.time for event in each] for each in found])
    assert len(times[0]) >= 2
    assert np.ptp(times, axis=0).max() < 2e-4


@pytest.mark.long
def test_moreau_converges_to_the_event_driven_motion():
    """A string that stays taut: second order, as the energy-momentum increment that it then is (impacts: first order,
    ``test_ropes_together.py``), and no energy is lost but to the drag.
    """
    errors = []
    for dt in (0.008, 0.002):
        history = run_text(shaken(2.0, np.pi / 4, dt=dt, period=2.0, controls="IMPACT=MOREAU"))
        exact = rope.path(rope.Shaken(2.0), np.pi / 4, history.time)
        errors.append(float(np.sqrt(np.mean((history.positions(2)[:, [0, 2]] - exact.position) ** 2))))
        assert max((abs(event.energy_loss) for event in history.events), default=0.0) < 1e-12
    assert 1.9 < np.log(errors[0] / errors[1]) / np.log(4.0) < 2.1


SHAKEN_END = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 2
2, 2, 3
*MATERIAL, NAME=HEMP
*INEXTENSIBLE
*NO COMPRESSION
*DENSITY
1.
*DAMPING, ALPHA=0.3
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP, MASS=<RULE>
1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, 5., 0., 0.
0., 0.05
*BOUNDARY
2, 2
3, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.001, 0.2
*CONTROLS, IMPACT=<IMPACT>
*BOUNDARY
1, 1, 2
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, 1.
*DLOAD
ROPES, GRAV, 9.81, 0, 0, -1
*END STEP
"""


@pytest.mark.parametrize(("impact", "error"), [("MOREAU", 1e-10), ("EVENT", 1e-4)])
@pytest.mark.parametrize("rule", ["LUMPED", "CONSISTENT"])
@pytest.mark.sampled
def test_reactions_of_moving_supports_balance_the_momentum(impact, error, rule):
    """Reactions and weight less drag are the rate of the momentum of all mass, that of the moving support included.

    Moreau's reactions are means of the increment, whose drag is that of its mean velocity.
    """
    history = run_text(SHAKEN_END.replace("<RULE>", rule).replace("<IMPACT>", impact))
    mass = np.repeat([0.5, 1.0, 0.5], 3)
    momentum = (mass * history.v).reshape(-1, 3, 3).sum(axis=1)
    reactions = history.reactions.reshape(-1, 3, 3).sum(axis=1)
    mean = reactions[1:] if impact == "MOREAU" else 0.5 * (reactions[1:] + reactions[:-1])
    drag = 0.3 * 0.5 * (momentum[1:] + momentum[:-1])
    weight = np.array([0.0, 0.0, -2.0 * GRAVITY])
    rate = np.diff(momentum, axis=0) / np.diff(history.time)[:, None]
    assert np.abs(mean + weight - drag - rate)[2:].max() < error


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_net_dropped_on_its_edges(restitution):
    """112 ropes: all keep their lengths, energy never rises, and the books close."""
    deck, ends = net(8, 0.01, 0.6, restitution)
    history = run_text(deck)
    assert lengths(history, ends).max() < 1 + 1e-8
    total = history.energy[:, 0] + history.energy[:, 1] + history.energy[:, 2]
    assert np.diff(total).max() < 1e-9
    assert total[-1] < total[0] - 10.0
    assert np.abs(history.energy_error).max() < 1e-9


def test_hanging_at_rest_stays_at_rest():
    """Neither method makes a mass that hangs still move, and its rope is no event."""
    for controls in ("EVENT", "MOREAU"):
        deck = hung(0.5, rise=0.0, period=0.1).replace("*DLOAD", f"*CONTROLS, IMPACT={controls}\n*DLOAD")
        history = run_text(deck)
        assert np.abs(history.positions(2)[:, 2] + 1.0).max() < 1e-12
        assert not [event for event in history.events if event.event == "impact"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [("MOREAU", "IMPACT=MOREAU: Moreau-Jean"), ("", "24 ropes are more than 20, so IMPACT=MOREAU was chosen")],
)
def test_time_stepping_says_what_it_replaces(asked, text):
    """Asked for, or chosen because there are many ropes; and nothing is said where events are located."""
    deck, _ = net(4, 0.01, 0.02, 0.0)
    if asked:
        deck = deck.replace("*BOUNDARY", f"*CONTROLS, IMPACT={asked}\n*BOUNDARY", 1)
    notices = " ".join(run_text(deck).notices)
    assert text in notices
    assert "replaces TIME INTEGRATOR=NEWMARK" in notices
    assert "replaces" not in " ".join(run_text(hung(0.0, period=0.01)).notices)


def test_rope_cards_read_back():
    """Restitution and the method of impacts survive writing and reading."""
    deck = hung(0.25).replace("*DLOAD", "*CONTROLS, IMPACT=MOREAU\n*DLOAD")
    model = fem.parse_deck(deck)
    assert model.materials["HEMP"].restitution == 0.25
    assert model.steps[0].controls.impact == "MOREAU"
    assert fem.parse_deck(write_deck(model)) == model


def test_ropes_that_cannot_be():
    """Too long at the start; an initial stress."""
    with pytest.raises(fem.ModelError, match="element 1 is a rope of length 1"):
        run_text(hung(0.0, rise=-0.1))
    with pytest.raises(fem.ModelError, match="no initial stress"):
        run_text(hung(0.0).replace("*STEP", "*INITIAL CONDITIONS, TYPE=STRESS\nROPE, 1.\n*STEP"))


def test_joint_without_mass_between_ropes_is_named():
    """It is held while both ropes are slack; where they become taut nothing could say how it moves."""
    deck = hung(0.0).replace("2, 0, 0, -1.", "2, 0, 0, -0.5\n3, 0, 0, -1.").replace("1, 1, 2", "1, 1, 2\n3, 2, 3")
    deck = deck.replace("ELSET=BOB\n2, 2", "ELSET=BOB\n2, 3").replace("2, 1, 2\n", "3, 1, 2\n")
    deck = deck.replace("2, 3, 0.5", "2, 3, 0.1\n3, 3, 0.5")
    with pytest.raises(FemError, match="element 1 is a rope or rod without mass at its free nodes"):
        run_text(deck)
