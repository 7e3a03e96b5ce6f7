"""Bergdahl's chain, whose end this program moves in a circle: value and rate of both coordinates."""

import re
from pathlib import Path

import numpy as np

import fem

RADIUS, PERIOD, TURNS, INTERVAL = 0.2, 1.25, 2, 0.0125  # [m], [s], [], [s]

deck, opened = Path("inputs/bergdahl.inp"), Path("results/driven_chain.inp")
opened.parent.mkdir(exist_ok=True)
user = "DEFINITION=USER\n0.\n"  # in place of the deck's own circle, two lines each
opened.write_text(re.sub(r"DEFINITION=PERIODIC\n.*\n.*\n", user, deck.read_text()))

forces = []
with fem.stepper(opened, parameters={"turns": TURNS}) as sim:
    start = sim.time
    while not sim.is_finished:
        angle, speed = 2 * np.pi * (sim.time - start + INTERVAL) / PERIOD, 2 * np.pi / PERIOD
        sim["ACROSS"] = RADIUS * np.sin(angle), RADIUS * speed * np.cos(angle)
        sim["UP"] = RADIUS * (np.cos(angle) - 1), -RADIUS * speed * np.sin(angle)
        sim.advance(INTERVAL)
        forces.append(np.linalg.norm(sim.reaction(67)))
print(f"largest force at the wheel {max(forces):.2f} N")
