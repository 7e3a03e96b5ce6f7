"""The forced string pendulum where its chaos ends by itself: verdicts, and the exponents of what it settles on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references.forced_orbits import Orbit, find_orbit
from validation.references.string_pendulum import Pendulum

NAME = "chaos_that_ends"
TITLE = "forced string pendulum: chaos that ends by itself is not reported as chaos; the motion after it"
SOURCE = (
    "Periodic motions and their Floquet multipliers by DOP853 and Newton's method (validation/references/"
    "forced_orbits.py): the exponent is ln |multiplier| over the period, -beta/(2 m) where multipliers are complex. "
    "Deck inputs/string_pendulum_rigid.inp."
)
LONG = False
DRAG, EARLY, LATE = 0.1, 300.0, 2000.0
SETTLING = {7.0: 2, 15.0: 2}
"""Amplitude: period of the motion that it settles on, in periods of the drive."""
LASTING = 11.0
CYCLES, POINTS = 400, 32


def run(folder: Path) -> Outcome:
    """Verdicts of short records, exponents of long ones."""
    rows = []
    for amplitude, period in SETTLING.items():
        late = _exponents(amplitude, LATE)
        its = _orbit(amplitude, period)
        exact = float(np.log(np.abs(its.multipliers[0])) / (period * Pendulum(amplitude, DRAG).cycle))
        name, why = f"A = {amplitude:g} m: ", "ODE: DOP853, Floquet multipliers; bar of the mean 2e-3, reached 5e-5"
        found = late.settled.period if late.settled else 0
        rows += [
            Row(Target(f"{name}largest exponent, {LATE:g} s [1/s]", exact, "absolute", why, 2e-4), late.values[0]),
            Row(Target(f"{name}period it settles on", period, "exact", "ODE: that orbit comes back"), float(found)),
            _verdict(f"{name}called chaotic after {EARLY:g} s", 0, _exponents(amplitude, EARLY)),
            _verdict(f"{name}called chaotic after {LATE:g} s", 0, late),
        ]
    rows.append(_verdict(f"A = {LASTING:g} m: called chaotic after {EARLY:g} s", 1, _exponents(LASTING, EARLY)))
    return Outcome(tuple(rows), {})


def _exponents(amplitude: float, time: float) -> Any:
    return fem.lyapunov(tools.deck("string_pendulum_rigid", {"A": amplitude, "beta": DRAG}), time=time)


def _verdict(name: str, wanted: int, found: Any) -> Row:
    why = "published: chaos for A = 10..11.75 only (figure 4); ODE: no chaos stays elsewhere"
    return Row(Target(f"{name} [1: yes]", wanted, "exact", why), float(found.is_chaotic is True))


def _orbit(amplitude: float, period: int) -> Orbit:
    """The motion near which the run is at its end, by the other program."""
    deck = tools.deck("string_pendulum_rigid", {"A": amplitude, "beta": DRAG})
    found = fem.sections(deck, cycles=CYCLES, points=POINTS)
    x, z, vx, vz = (float(found.of(name)[-1]) for name in ("U1_2", "U3_2", "V1_2", "V3_2"))
    place = deck.mesh.coordinates[deck.mesh.nodes_of(2)[0]] - deck.mesh.coordinates[deck.mesh.nodes_of(1)[0]]
    p = Pendulum(amplitude, DRAG)
    theta = float(np.arctan2(place[0] + x, -(place[2] + z)))
    rate = (vx * np.cos(theta) + vz * np.sin(theta)) / p.length
    turns = (0, 1, -1, 2, -2)
    for turn in turns:  # a rod that goes round comes back to its angle and whole turns
        try:
            its = find_orbit(p, np.array([theta, rate]), period, turn)
        except RuntimeError:
            continue
        if np.abs(its.state - [theta, rate]).max() < 0.05:
            return its
    raise RuntimeError(f"no orbit near {theta:.6g}, {rate:.6g} at A = {amplitude:g}")
