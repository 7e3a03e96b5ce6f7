"""Decks in water: rungs across a plane, joined by springs, in still water, currents and waves. Truth: DOP853.

A rung is a bar across the plane x-z that does not turn: drag acts on it alike everywhere, so its two nodes move as one
mass of the reference, and no mesh errs.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from validation.certainty.motions import rounded
from validation.certainty.question import SCHEMES, Question, controls, increments, scheme, wanted
from validation.references.masses import Ground, Link, Masses, Water

WIDTH, DIAMETER, DENSITY = 2.0, 0.3, 1025.0
RUNG, LINK, WEIGHT = 0, 100, 300
"""Labels of rungs, of the links of both sides, of weights."""


def moored_rung(random: Generator) -> Question:
    """One rung on springs to the ground along x and z, in a wave and a current."""
    mass = rounded(random, 100.0, 600.0)
    springs = tuple(Ground(0, axis, mass * (2.0 * np.pi / random.uniform(2.0, 6.0)) ** 2) for axis in (0, 2))
    return _asked(random, [(0.0, -8.0)], [mass], [], springs, _water(random, 1, True))


def hanging_rungs(random: Generator) -> Question:
    """A chain of rungs that hangs from a fixed one and is let go at an angle: in still water, or in waves."""
    count, theta = int(random.integers(1, 6)), random.uniform(0.2, 0.9)
    mass, step = rounded(random, 100.0, 500.0), round(random.uniform(1.0, 2.5), 2)
    places = [(k * step * np.sin(theta), -6.0 - k * step * np.cos(theta)) for k in range(count + 1)]
    stiffness = mass * count * 9.81 * rounded(random, 8.0, 60.0)
    links = [Link(k, k + 1, step, stiffness) for k in range(count)]
    water = _water(random, count + 1, random.uniform() < 0.6)
    return _asked(random, places, [0.0, *([mass] * count)], links, (), water)


def _water(random: Generator, count: int, has_waves: bool) -> Water:
    drag = 0.5 * DENSITY * DIAMETER * WIDTH * rounded(random, 0.4, 2.0)
    height = round(random.uniform(0.5, 3.0), 2) if has_waves else 0.0
    current = round(random.uniform(-0.8, 0.8), 2) if random.uniform() < 0.5 else 0.0
    period, depth = round(random.uniform(4.0, 10.0), 1), round(random.uniform(25.0, 80.0))
    return Water((drag,) * count, height, period, float(depth), current=current)


def _asked(
    random: Generator,
    at: list[tuple[float, float]],
    mass: list[float],
    links: list[Link],
    springs: tuple[Ground, ...],
    water: Water,
) -> Question:
    gravity = 0.0 if springs else 9.81
    masses = Masses(
        tuple(mass),
        tuple((float(x), 0.0, float(z)) for x, z in at),
        tuple(links),
        gravity=gravity,
        grounds=springs,
        water=water,
    )
    if springs:
        slow = fast = float(2.0 * np.pi / np.sqrt(springs[0].stiffness / mass[0]))
    else:
        slow = float(2.0 * np.pi * np.sqrt(len(links) * links[0].length / 9.81))
        fast = float(np.pi * np.sqrt(mass[-1] * links[0].length / links[0].stiffness))
    name, card = scheme(random, tuple(SCHEMES))
    end = round(max(slow, water.period if water.height else 0.0) * random.uniform(0.5, 1.3), 2)
    dt = increments(random, fast, end, 15.0, 120.0)
    if name == "EXPLICIT":
        dt = float(end / int(np.ceil(end / min(dt, 0.1 * fast))))
    last = len(at)
    pool = [f"U1_n{last}", f"U3_n{last}", f"V1_n{last}", f"V3_n{last}", "kinetic"] + ([] if springs else ["U1_n2"])
    truths = wanted(masses, end, dt, random, pool)
    step = f"{card}\n{dt:.17g}, {end:.17g}\n{controls(random)}"
    return Question(f"{name}, T/{fast / dt:.0f}", _deck(masses, step, water), False, truths)


def _deck(masses: Masses, step: str, water: Water) -> str:
    """Nodes of y = 0 have the labels of the masses, those of y = WIDTH the same and 500."""
    places, count = np.array(masses.places), len(masses.mass)
    drag = water.drag[0] / (0.5 * DENSITY * DIAMETER * WIDTH)
    lines = ["*HEADING", "Rungs in water, SI units", "*NODE, NSET=ALL"]
    for side in (0, 500):
        lines += [f"{side + n}, {x:.17g}, {WIDTH * (side > 0)!r}, {z:.17g}" for n, (x, _, z) in enumerate(places, 1)]
    lines += ["*ELEMENT, TYPE=T3D2, ELSET=RUNGS", *(f"{n}, {n}, {500 + n}" for n in range(1, count + 1))]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "1e11", "*SOLID SECTION, ELSET=RUNGS, MATERIAL=M", "0.01"]
    for k, link in enumerate(masses.links, 1):
        lines += [f"*ELEMENT, TYPE=T3D2, ELSET=L{k}"]
        lines += [f"{LINK + side + k}, {side + link.first + 1}, {side + link.second + 1}" for side in (0, 500)]
        lines += [f"*MATERIAL, NAME=L{k}", "*ELASTIC", f"{0.5 * link.stiffness / 1e-3:.17g}"]
        lines += [
            f"*SOLID SECTION, ELSET=L{k}, MATERIAL=L{k}, STRAIN=ENGINEERING",
            "1e-3",
            "*REST LENGTH",
            f"L{k}, {link.length:.17g}",
        ]
    for n in masses.free + 1:
        lines += [f"*ELEMENT, TYPE=MASS, ELSET=W{n}", f"{WEIGHT + n}, {n}", f"{WEIGHT + 500 + n}, {500 + n}"]
        lines += [f"*MASS, ELSET=W{n}", f"{0.5 * masses.mass[n - 1]:.17g}"]
    for k, each in enumerate(masses.grounds, 1):
        lines += [f"*ELEMENT, TYPE=SPRING1, ELSET=G{k}", f"{900 + k}, {each.node + 1}", f"{950 + k}, {501 + each.node}"]
        lines += [f"*SPRING, ELSET=G{k}", f"{each.axis + 1}", f"{0.5 * each.stiffness:.17g}"]
    lines += ["*AQUA", f"{-water.depth!r}, 0., 9.81, {DENSITY!r}", f"{water.current!r}, 0., 0., 0."]
    if water.height:
        lines += ["*WAVE, TYPE=AIRY, WAVE PERIOD", f"{0.5 * water.height:.17g}, {water.period!r}, 0., 1., 0."]
    lines += ["*BOUNDARY", "ALL, 2, 2"]
    lines += [f"{side + n}, 1, 3" for n in np.flatnonzero(np.array(masses.mass) == 0.0) + 1 for side in (0, 500)]
    lines += ["*STEP, NLGEOM, INC=10000000", *step.splitlines(), "*DLOAD", f"RUNGS, FDD, 1., {DIAMETER!r}, {drag:.17g}"]
    lines += [f"W{n}, GRAV, {masses.gravity!r}, 0., 0., -1." for n in masses.free + 1 if masses.gravity]
    return "\n".join([*lines, "*NODE PRINT, NSET=ALL", "U, V", "*END STEP", ""])
