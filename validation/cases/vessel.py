"""A vessel moved by its RAO in an irregular sea: its spectrum, and the tensions of its lines."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references.box_vessel import NAMES, swings
from validation.references.moored_vessel import BARS, DT, FORCES, SECONDS, SETTLED

NAME = "vessel"
TITLE = "a moored vessel moved by its RAO in an irregular sea: spectrum of its motions, tensions of four chains"
SOURCE = (
    "Operators of a box in closed form (validation/references/box_vessel.py), of which the deck has a table; CableDyn "
    "0.3.0 at the same mesh, increment and scheme, with the motion and the waves in files (validation/references/"
    "moored_vessel.py, made by benchmarks/peer_vessel.py). Deck inputs/moored_vessel.inp."
)
LONG = False
FAIRLEADS = tuple(line + BARS for line in (1, 101, 201, 301))
TOLERANCES = {"largest": 3e-3, "least": 2e-3, "mean": 1e-4}
WHY = "two programs, equal mesh and scheme; rms difference 1.2, 0.3, 0.1 kN with 20, 40, 80 bars"


@cache
def ran() -> Any:
    """The model, and its motion for ``SECONDS``."""
    model = tools.deck("moored_vessel", {"time": SECONDS, "dt": DT, "bars": BARS})
    return model, fem.run(model)


def run(folder: Path) -> Outcome:
    """Standard deviations of six motions, least, mean and largest force at four fairleads."""
    _, history = ran()
    forces = np.stack([np.linalg.norm(history.of_node(label, "RF"), axis=1) for label in FAIRLEADS], 1)
    kept = forces[1:][round(SETTLED / DT) :]
    computed = {"largest": kept.max(axis=0), "least": kept.min(axis=0), "mean": kept.mean(axis=0)}
    rows = _motions()
    rows += [
        Row(Target(f"{what} force at node {label} [N]", value, "relative", WHY, TOLERANCES[what]), float(force))
        for what, found in computed.items()
        for label, value, force in zip(FAIRLEADS, FORCES[what], found, strict=True)
    ]
    return Outcome(tuple(rows), {"forces": _figure(history.time, forces)}, ())


def _motions() -> list[Row]:
    """Of the table, for the waves of the deck: sqrt of the sum of |H|^2 a^2/2, H as the closed form has it."""
    model, _ = ran()
    omega, _, amplitude, _, direction, _ = model.sea.T
    body, table = model.bodies[0], model.raos["BOX"]
    heading = np.degrees(direction) - body.heading
    exact = np.array([swings(2.0 * np.pi / w, h) for w, h in zip(omega, heading, strict=True)]).T
    found, why = (
        table.answer(omega, heading)[0],
        "closed form; the table has a row every 0.5 to 2 s, and three decimals",
    )
    sizes = [np.sqrt(0.5 * (np.abs(each * amplitude) ** 2).sum(axis=1)) for each in (exact, found)]
    return [
        Row(Target(f"standard deviation of {name}, from the table", float(one), "relative", why, 0.02), float(other))
        for name, one, other in zip(NAMES, *sizes, strict=True)
    ]


def _figure(time: Any, forces: Any) -> Any:
    sheet, axes = tools.figure("Forces at the fairleads, the last minute", "t [s]", "F [kN]")
    last = time > time[-1] - 60.0
    for label, force, colour in zip(
        FAIRLEADS, forces[last].T, (tools.BLUE, tools.ORANGE, tools.GREEN, tools.RED), strict=True
    ):
        axes.plot(time[last], force / 1e3, color=colour, label=f"node {label}")
    tools.legend(axes)
    return sheet
