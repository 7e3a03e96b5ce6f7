"""Lines that part: recoil, front and books of a stretched line; the load on what is left of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import lattice

NAME = "lines_that_break"
TITLE = "lines that part: recoil and front of a stretched line, a mass on two lines, one of which breaks"
SOURCE = (
    "Analytic: waves of a linear line, recoil T/sqrt(EA m') behind a front of speed sqrt(EA/m') (Graff, Wave Motion in "
    "Elastic Solids, 1.5); on bars with masses at their nodes the front becomes an Airy function with 2/3 of T at "
    "the front; the mass on two springs oscillates about its new rest position. Decks inputs/parting_line.inp and "
    "twin_lines.inp."
)
LONG = False
LENGTH, BARS, STIFFNESS, MASS, TENSION = 10.0, 100, 1e6, 2.0, 5000.0
SPEED = np.sqrt(STIFFNESS / MASS)
LATTICE = 4e-4, 4e-5, 1.2e-3
"""Tolerances against masses on springs: recoil, front, tension behind it."""
WEIGHT = 400.0 * 9.81


def run(folder: Path) -> Outcome:
    """All of both decks."""
    history = fem.run(tools.deck("parting_line"))
    broken = next(event for event in history.events if event.event == "break")
    time = (history.time - broken.time) * SPEED / LENGTH  # lengths of the line
    end, middle = history.of_node(BARS)[:, 0], history.of_element(BARS // 2, "T")
    bar = LENGTH / BARS
    moved = lattice.recoil(BARS - 1, STIFFNESS / bar, MASS * bar, TENSION, np.maximum(history.time - broken.time, 0.0))
    pull = TENSION + STIFFNESS / bar * (moved[:, BARS // 2 - 1] - moved[:, BARS // 2 - 2])
    (speed, front, behind), exact = (_seen(time, *way) for way in ((end, middle), (moved[:, -1], pull)))
    stored = TENSION**2 * LENGTH / (2.0 * STIFFNESS)
    why, continuum = (
        "independent: masses on springs by their modes; increments of a tenth of h/c",
        "a line: bars are {} off",
    )
    wave = TENSION / np.sqrt(STIFFNESS * MASS)
    rows = [
        Row(Target("recoil [m/s]", exact[0], "relative", why, LATTICE[0]), speed),
        Row(Target("front at the middle [lengths]", exact[1], "relative", why, LATTICE[1]), front),
        Row(Target("tension behind it [T]", exact[2], "absolute", why, LATTICE[2]), behind),
        Row(Target("recoil of a line [m/s]", wave, "relative", continuum.format("2.4e-4"), 7e-4), speed),
        Row(Target("front in a line [lengths]", 0.495, "relative", continuum.format("4e-4"), 1.2e-3), front),
        Row(
            Target("energy that goes with the bar [J]", stored / BARS, "relative", "T^2 h/(2 EA), at rest", 1e-11),
            broken.energy_loss,
        ),
        Row(
            Target("books", 0.0, "absolute", "ENERGY MOMENTUM: round-off of what is stored", 1e-11),
            float(np.abs(history.energy_error).max() / stored),
        ),
    ]
    twin = fem.run(tools.deck("twin_lines"))
    tension = twin.of_element(1, "T")
    why = "largest force of a load that one of two equal lines takes over: rest m g, before m g/2"
    rows += [
        Row(Target("mass on two lines: before [N]", 0.5 * WEIGHT, "relative", why, 1e-11), float(tension[1])),
        Row(Target("mass on two lines: largest T [N]", 1.5 * WEIGHT, "relative", why, 3e-6), float(tension.max())),
    ]
    return Outcome(tuple(rows), {"recoil": _figure(history, time)}, ())


def _seen(time: Any, end: Any, middle: Any) -> tuple[float, float, float]:
    """Recoil of the end, front at the middle, and mean tension behind it over T; ``time`` in lengths over c."""
    early, late = (int(np.searchsorted(time, share)) for share in (0.2, 0.8))
    speed = (end[early] - end[late]) / ((time[late] - time[early]) * LENGTH / SPEED)
    gone = time >= 0.0
    front = np.interp(-2.0 / 3.0, -middle[gone] / TENSION, time[gone])
    return float(speed), float(front), float(middle[time > 0.75].mean() / TENSION)


def _figure(history: Any, time: Any) -> Any:
    sheet, axes = tools.figure("A stretched line that parts at its right end", "s [m]", "T [N]")
    place = (np.arange(BARS) + 0.5) * LENGTH / BARS
    colours = (tools.GREY, tools.BLUE, tools.ORANGE, tools.GREEN)
    for share, colour in zip((0.0, 0.25, 0.5, 0.75), colours, strict=True):
        row = int(np.searchsorted(time, share))
        tension = [history.of_element(label, "T")[row] for label in range(1, BARS + 1)]
        axes.plot(place, tension, color=colour, label=f"{share:g} L/c")
    tools.legend(axes)
    return sheet
