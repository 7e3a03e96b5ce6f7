"""Decks with impacts: ropes without stretch that catch what falls, a ball on a table, a string that is shaken.

Truth: event by event, DOP853 at 1e-12 (``references/two_ropes.py``, ``rope.py``) and the exact map of bounces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
STILL |= dict.fromkeys(("v1", "v2", "v3"), 0.0) | {"gravity": 9.81}


def _deck(random: Generator, place: Any, dt: float, end: float, **numbers: Any) -> tuple[str, str]:
    """Name of an integrator, and the deck of a mass that starts at a place. numbers: what is not as in ``STILL``."""
    name = str(random.choice(np.array(AMONG)))
    residual = ", RESI_GLOB_RELA=1e-9" if random.uniform() < 0.5 else ""
    card = SCHEMES[name].format(alpha=-0.1, rho=0.8)
    x2, y2, z2 = place
    given = {"x2": x2, "y2": y2, "z2": z2, "dt": dt, "end": end, "card": card, "residual": residual}
    deck = DECK.format(**STILL | given | numbers)
    return name, deck.replace("2, 1, 0\n2, 2, 0\n2, 3, 0\n", "2, 3, 0.\n")  # the others may be held


class Fall(NamedTuple):
    """A mass that falls, or is thrown, until its rope catches it at ``first``; period of its swing afterwards."""

    length: float
    mass: float
    c: float
    start: Any
    model: two_ropes.Hung
    swing: float
    first: float

    def deck(self, random: Generator, dt: float, end: float) -> tuple[str, str]:
        v1, v2, v3 = self.start[3:]
        rope = {"c": self.c, "length": self.length, "mass": self.mass}
        return _deck(random, self.start[:3], dt, end, v1=v1, v2=v2, v3=v3, **rope)


def fall(random: Generator) -> Fall:
    length, mass, c = rounded(random, 0.5, 10.0), rounded(random, 0.5, 90.0), float(random.choice([0.0, 0.0, 0.3, 0.7]))
    place = np.round(length * random.uniform(-0.55, 0.55, 3) * [1.0, 0.5, 1.0], 3)
    velocity = np.round(np.sqrt(9.81 * length) * random.uniform(-0.6, 0.6, 3) * [1.0, 0.5, 0.5], 2)
    model = two_ropes.Hung(np.zeros((1, 3)), np.array([length]), np.zeros(3), 1.0, restitution=c)
    swing = float(2.0 * np.pi * np.sqrt(length / 9.81))
    start = np.concatenate([place, velocity])
    first = two_ropes.motion(model, start, np.array([0.0, 2.0 * swing])).events[0].time
    return Fall(length, mass, c, start, model, swing, first)


def caught(random: Generator) -> Question:
    """A mass falls, or is thrown, until its rope catches it; afterwards it swings, or bounces off."""
    its = fall(random)
    end = round(its.first + its.swing * random.uniform(0.15, 0.7), 3)
    dt = increments(random, its.swing, end, 20.0, 400.0)
    at = dt * max(int(0.8 * its.first / dt), 1)
    exact = two_ropes.motion(its.model, its.start, np.array([0.0, at, end]))
    name, deck = its.deck(random, dt, end)
    truths = {f"U{k + 1}_n2": exact.states[-1, k] - its.start[k] for k in (0, 2)}
    truths |= {"V3_n2": exact.states[-1, 5], f"U3_n2@{at!r}": exact.states[1, 2] - its.start[2]}
    truths["event:1:impact_e1"] = exact.events[0].time
    truths["dissipated"] = its.mass * sum(event.loss for event in exact.events)
    remark = f"{name}, T/{its.swing / dt:.0f}, c = {its.c:g}"
    return Question(remark, deck, False, {k: float(v) for k, v in truths.items()})


def beside(random: Generator) -> Question:
    """Rows next to an impact, one of them so close that its instant decides on which side it is."""
    its = fall(random)
    before = max(round(its.first / its.swing * random.uniform(20.0, 200.0)), 4)
    dt = float(its.first / before * (1.0 + random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-7.0, -2.5)))
    rows = [dt * (before + k) for k in (-1, 0, 1)]
    exact = two_ropes.motion(its.model, its.start, np.array([0.0, *rows]))
    name, deck = its.deck(random, dt, dt * (before + 8))
    truths = {f"V{axis}_n2@{at!r}": exact.states[k, 2 + axis] for k, at in enumerate(rows, 1) for axis in (1, 3)}
    at, speed = rows[1], exact.states[2, 3:]
    truths[f"kinetic@{at!r}"] = 0.5 * its.mass * float(speed @ speed)
    remark = f"{name}, T/{its.swing / dt:.0f}, c = {its.c:g}, row {(at - its.first) / dt:.1e} dt after the impact"
    return Question(remark, deck, False, {k: float(v) for k, v in truths.items()})


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
    moved = {"sign": "*NO TENSION", "held": "2, 1, 2", "omega": ball.omega, "shake": table}
    name, deck = _deck(random, (0.0, 0.0, radius + height), dt, end, c=c, length=radius, mass=mass, **moved)
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
    moved = {"z": amplitude, "alpha": model.drag, "omega": model.omega, "shake": amplitude, "held": "2, 2"}
    moved |= {"c": c, "length": model.length, "mass": 1.0, "gravity": 9.8}
    name, deck = _deck(random, (x, 0.0, z), dt, end, **moved)
    truths = {"U1_n2": exact.position[2, 0] - x, "U3_n2": exact.position[2, 1] - z}
    truths[f"U1_n2@{at!r}"] = exact.position[1, 0] - x
    truths |= {"event:1:impact_e1": hits[0]} if hits else {}
    remark = f"{name}, T/{cycle / dt:.0f}, A = {amplitude:g}, c = {c:g}"
    return Question(remark, deck, False, {k: float(v) for k, v in truths.items()})
