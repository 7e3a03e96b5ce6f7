"""Decks with impacts: ropes without stretch that catch what falls, a ball on a table, a string that is shaken.

Truth: event by event, DOP853 at 1e-12 (``references/two_ropes.py``, ``rope.py``) and the exact map of bounces.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from validation.certainty.motions import rounded
from validation.certainty.question import SCHEMES, Question, increments
from validation.references import bouncing_ball, rope, two_ropes

AMONG = ("NEWMARK", "HHT", "GENERALIZED ALPHA", "ENERGY MOMENTUM")
DECK = """*HEADING
A mass on a rope without stretch, SI units
*NODE
1, 0., 0., {z:.17g}
2, {x2:.17g}, {y2:.17g}, {z2:.17g}
*NSET, NSET=BOB
2
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*SOLID SECTION, ELSET=ROPE, MATERIAL=HEMP
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE, RESTITUTION={c:.17g}
{sign}
*REST LENGTH
ROPE, {length:.17g}
*MASS, ELSET=BOB, ALPHA={alpha:.17g}
{mass:.17g}
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, {omega:.17g}, 0., -1.
1., 0.
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, {v1:.17g}
2, 2, {v2:.17g}
2, 3, {v3:.17g}
*BOUNDARY
1, 1, 2
{held}
*STEP, NLGEOM, INC=10000000
{card}
{dt:.17g}, {end:.17g}
*CONTROLS, IMPACT=EVENT, ENERGY DRIFT=OFF{residual}
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, {shake:.17g}
*DLOAD
BOB, GRAV, {gravity:.17g}, 0., 0., -1.
*NODE PRINT
U, V
*EL PRINT
T
*END STEP
"""
STILL = {"z": 0.0, "alpha": 0.0, "omega": 1.0, "shake": 0.0, "sign": "*NO COMPRESSION", "held": ""}


def _scheme(random: Generator) -> tuple[str, str, str]:
    name = str(random.choice(np.array(AMONG)))
    residual = ", RESI_GLOB_RELA=1e-9" if random.uniform() < 0.5 else ""
    return name, SCHEMES[name].format(alpha=-0.1, rho=0.8), residual


def caught(random: Generator) -> Question:
    """A mass falls, or is thrown, until its rope catches it; afterwards it swings, or bounces off."""
    length, mass, c = rounded(random, 0.5, 10.0), rounded(random, 0.5, 90.0), float(random.choice([0.0, 0.0, 0.3, 0.7]))
    place = np.round(length * random.uniform(-0.55, 0.55, 3) * [1.0, 0.5, 1.0], 3)
    velocity = np.round(np.sqrt(9.81 * length) * random.uniform(-0.6, 0.6, 3) * [1.0, 0.5, 0.5], 2)
    model = two_ropes.Hung(np.zeros((1, 3)), np.array([length]), np.zeros(3), 1.0, restitution=c)
    swing = float(2.0 * np.pi * np.sqrt(length / 9.81))
    start = np.concatenate([place, velocity])
    first = two_ropes.motion(model, start, np.array([0.0, 2.0 * swing])).events[0].time
    end = round(first + swing * random.uniform(0.15, 0.7), 3)
    dt = increments(random, swing, end, 20.0, 400.0)
    at = dt * max(int(0.8 * first / dt), 1)
    exact = two_ropes.motion(model, start, np.array([0.0, at, end]))
    name, card, residual = _scheme(random)
    deck = DECK.format(
        **STILL,
        x2=place[0],
        y2=place[1],
        z2=place[2],
        v1=velocity[0],
        v2=velocity[1],
        v3=velocity[2],
        c=c,
        length=length,
        mass=mass,
        gravity=9.81,
        card=card,
        dt=dt,
        end=end,
        residual=residual,
    )
    truths = {f"U{k + 1}_n2": exact.states[-1, k] - place[k] for k in (0, 2)}
    truths |= {"V3_n2": exact.states[-1, 5], f"U3_n2@{at!r}": exact.states[1, 2] - place[2]}
    truths["event:1:impact_e1"] = exact.events[0].time
    truths["dissipated"] = mass * sum(event.loss for event in exact.events)
    return Question(f"{name}, T/{swing / dt:.0f}, c = {c:g}", deck, False, {k: float(v) for k, v in truths.items()})


def bouncing(random: Generator) -> Question:
    """A ball on a table that moves up and down, or on a floor."""
    c, height = round(random.uniform(0.3, 0.9), 2), round(random.uniform(0.3, 2.0), 2)
    table = float(random.choice([0.0, 1.0])) * round(random.uniform(0.05, 0.3), 3)
    ball = bouncing_ball.Ball(table, 2.0 * np.pi, c)
    hits = bouncing_ball.impacts(ball, height, 0.0, 3)
    end = round(float(hits[1, 0] + 0.6 * (hits[2, 0] - hits[1, 0])), 3)
    dt = increments(random, 1.0, end, 30.0, 400.0)
    t, v, _ = hits[1]
    s, radius, mass = end - t, 0.2, rounded(random, 0.2, 5.0)
    name, card, residual = _scheme(random)
    still = STILL | {"sign": "*NO TENSION", "held": "2, 1, 2", "omega": ball.omega, "shake": table}
    deck = DECK.format(
        **still,
        x2=0.0,
        y2=0.0,
        z2=radius + height,
        v1=0.0,
        v2=0.0,
        v3=0.0,
        c=c,
        length=radius,
        mass=mass,
        gravity=9.81,
        card=card,
        dt=dt,
        end=end,
        residual=residual,
    )
    deck = deck.replace("2, 1, 0\n2, 2, 0\n2, 3, 0\n", "2, 3, 0.\n")
    place = ball.table(t)[0] + v * s - 0.5 * 9.81 * s * s
    truths = {
        "U3_n2": place - height,
        "V3_n2": v - 9.81 * s,
        "event:1:impact_e1": hits[0, 0],
        "event:2:impact_e1": hits[1, 0],
    }
    truths["dissipated"] = mass * (hits[0, 2] + hits[1, 2])
    return Question(f"{name}, T/{1.0 / dt:.0f}, A = {table:g}", deck, False, {k: float(v) for k, v in truths.items()})


def shaken(random: Generator) -> Question:
    """The forced string pendulum, up to about two impacts."""
    amplitude, c = round(random.uniform(5.5, 12.0), 2), 0.0
    theta = round(random.uniform(0.1, 1.0), 2)
    model = rope.Shaken(amplitude, restitution=c)
    cycle = 2.0 * np.pi / model.omega
    far = rope.path(model, theta, np.linspace(0.0, 3.0 * cycle, 10))
    hits = [t for t, what, _ in far.events if what == "impact"]
    last = hits[min(1, len(hits) - 1)] if hits else 1.5 * cycle
    end = round(last + 0.1 * cycle, 3)
    dt = increments(random, cycle, end, 40.0, 400.0)
    at = dt * int(0.4 * end / dt)
    exact = rope.path(model, theta, np.array([0.0, at, end]))
    x, z = model.length * np.sin(theta), amplitude - model.length * np.cos(theta)
    name, card, residual = _scheme(random)
    moved = STILL | {"z": amplitude, "alpha": model.drag, "omega": model.omega, "shake": amplitude, "held": "2, 2"}
    deck = DECK.format(
        **moved,
        x2=x,
        y2=0.0,
        z2=z,
        v1=0.0,
        v2=0.0,
        v3=0.0,
        c=c,
        length=model.length,
        mass=1.0,
        gravity=9.8,
        card=card,
        dt=dt,
        end=end,
        residual=residual,
    )
    deck = deck.replace("2, 1, 0\n2, 2, 0\n2, 3, 0\n", "2, 3, 0.\n")
    truths = {"U1_n2": exact.position[2, 0] - x, "U3_n2": exact.position[2, 1] - z}
    truths[f"U1_n2@{at!r}"] = exact.position[1, 0] - x
    truths |= {"event:1:impact_e1": hits[0]} if hits else {}
    return Question(
        f"{name}, T/{cycle / dt:.0f}, A = {amplitude:g}, c = {c:g}",
        deck,
        False,
        {k: float(v) for k, v in truths.items()},
    )
