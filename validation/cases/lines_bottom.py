"""Lines on the bottom: chains that are dropped and that slide, and the measured chain of Bergdahl and others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.further import tank_chain
from validation.references import friction
from validation.references.bergdahl import FORCES

NAME = "lines_bottom"
TITLE = "chains dropped on the bottom and sliding on it, and a measured chain in a tank"
SOURCE = (
    "Analytic: a point mass on a spring; v^2/(2 mu g). Published: Bergdahl, Palm, Eskilsson & Lindahl, J. Mar. Sci. "
    "Eng. 4 (2016) 5, measured forces, and CableDyn's own (validation/references/bergdahl.py; all 24: bergdahl_table). "
    "Decks inputs/chain_on_bottom.inp and bergdahl.inp."
)
LONG = False

GRAVITY, MASS, STIFFNESS, HEIGHT, SPEED, SLIP = 9.81, 12.0, 2e6 * 0.05, 0.02, 1.2, 5e-4
"""g; per length: of the chain, of the bottom; how high it hangs, how fast it slides, over which way friction comes."""
STILL = {"along": 0.0, "friction": 0.0, "lateral": 0.0}
MOTIONS = (1.25, 0.2), (1.25, 0.075), (2.0, 0.15)
"""Period [s], radius [m] of the circle of the upper end of Bergdahl's chain."""


def run(folder: Path) -> Outcome:
    """Bounces, landings, slides, three rows of the measured table."""
    forces = {at: tank_chain.force(*at) for at in MOTIONS}
    measured = [row for at in MOTIONS for row in tank_chain.rows(*at, tank_chain.largest(*forces[at]))]
    return Outcome((*_bounce(), *_landing(), *_slides(), *measured), {"force": _figure(forces[1.25, 0.2])})


def _bounce() -> list[Row]:
    """Without damping: when it is at rest again where it was let go; nothing is lost."""
    period = 2 * math.sqrt(2 * HEIGHT / GRAVITY)
    rate, fall = math.sqrt(STIFFNESS / MASS), math.sqrt(2 * GRAVITY * HEIGHT)
    period += 2 / rate * (math.pi - math.atan2(fall * rate, GRAVITY))
    dt = 5e-5
    history = fem.run(tools.deck("chain_on_bottom", {**STILL, "dt": dt, "end": 1.5 * period}))
    speed = history.of_node(2, "V")[:, 2]
    at = int(np.flatnonzero((speed[:-1] > 0.0) & (speed[1:] <= 0.0))[-1])
    found = float(history.time[at] + dt * speed[at] / (speed[at] - speed[at + 1]))
    why = "analytic: free fall and half an oscillation; the instants of contact lie anywhere in an increment"
    nothing = Target("bounce: energy dissipated [J]", 0.0, "absolute", "analytic: nothing takes any", 1e-9)
    return [
        Row(Target("bounce: period [s]", period, "absolute", why, 5e-7), found),
        Row(nothing, float(history.of_energy("dissipated")[-1])),
    ]


def _landing() -> list[Row]:
    """With damping: depth at rest, and what the bottom has taken."""
    history = fem.run(tools.deck("chain_on_bottom", {**STILL, "damping": 4e4}))
    sunk = MASS * GRAVITY / STIFFNESS
    taken = 1.5 * MASS * GRAVITY * (HEIGHT + 0.5 * sunk)
    why = "analytic: weight over stiffness; nothing is left of the motion; round-off"
    books = (
        "analytic: the fall less what the bottom stores; damping by the mean of both ends of an increment is 1.2e-4 off"
    )
    return [
        Row(Target("landing: depth at rest [m]", sunk, "relative", why, 1e-12), float(-HEIGHT - history.u[-1, 5])),
        Row(Target("landing: energy dissipated [J]", taken, "relative", books, 4e-4),
            float(history.of_energy("dissipated")[-1])),
    ]  # fmt: skip


def _slides() -> list[Row]:
    """Along and across: how far, and that all of its kinetic energy is gone."""
    rows, sunk = [], MASS * GRAVITY / STIFFNESS
    for name, axis, mu in (("along", 0, 0.3), ("across", 1, 0.8)):
        speeds = {"along": 0.0, "across": 0.0, name: SPEED}
        model = tools.deck(
            "chain_on_bottom", {**speeds, "height": -sunk, "dt": 1e-3, "end": 1.1 * SPEED / mu / GRAVITY}
        )
        history = fem.run(model)
        way, left = friction.slid(SPEED, mu * GRAVITY, SLIP, float(history.time[-1]))
        why = "analytic: v^2/(2 mu g), then it swings on its anchors by the slip; second order in dt"
        rows.append(Row(Target(f"sliding {name}: way [m]", way, "absolute", why, 2e-6), float(history.u[-1, 3 + axis])))
        taken = float(history.of_energy("dissipated")[-1]) / (0.5 * MASS * 1.5 * SPEED**2)
        why = "analytic: all of its kinetic energy but that of the swing at the end"
        rows.append(Row(Target(f"sliding {name}: part of its energy taken", 1.0 - left, "relative", why, 2e-5), taken))
    return rows


def _figure(found: tuple[tools.Array, tools.Array]) -> Any:
    sheet, axes = tools.figure("Bergdahl's chain, T = 1.25 s, r = 0.2 m", "turns", "force at the wheel [N]")
    axes.plot(*found, color=tools.BLUE)
    axes.axhline(FORCES[1.25, 0.2][0], color=tools.RED, label="measured, largest")
    tools.legend(axes)
    return sheet
