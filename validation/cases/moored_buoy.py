"""A buoy on three legs, as a free rigid body, is held aside and let go: beside another code and its own finer runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "moored_buoy"
TITLE = "a buoy on three legs at rest beside OrcaFlex and CableDyn, and its motion beside that of finer runs"
SOURCE = (
    "Case V-D1a of CableDyn, whose statics agree with OrcaFlex 11.6d: tension 143,223 N at the end of an upwind leg. "
    "Its own converged motion: 80 bars a leg, increments of 0.005 and 0.0025 s, extrapolated (order 2). Deck "
    "inputs/moored_buoy.inp, held without pitch."
)
LONG = True
STATIC = 143223.0
HELD = "1, 1, 1, <offset>\n", "1, 1, 1, <offset>\n1, 2, 3\n101, 2, 3\n201, 3, 3\n"
"""The line of the deck that pulls the buoy aside, and those that also keep it upright."""
MOTIONS = "surge", "heave", "pitch"
INSTANTS = np.linspace(0.0, 20.0, 201)


def upright(**parameters: float) -> Any:
    """The model of the deck with these parameters, let go without pitch."""
    text = (tools.INPUTS / "moored_buoy.inp").read_text(encoding="utf-8").replace(*HELD)
    return fem.parse_deck(text, parameters=parameters)


def motion(history: Any) -> Any:
    """(k, 3) surge [m], heave [m] and pitch [rad] at ``INSTANTS`` after the static step."""
    moving = np.flatnonzero(history.of_step(2))
    u, turned = history.of_node(1, "U")[moving], history.of_node(1, "UR")[moving]
    columns = u[:, 0], u[:, 2], turned[:, 1]
    return np.column_stack([np.interp(INSTANTS, history.time[moving] - 1.0, each) for each in columns])


def run(folder: Path) -> Outcome:
    """Tension at rest; error of the motion with 40 bars and 0.005 s; order in the increment."""
    runs = {
        (bars, dt): fem.run(upright(bars=bars, dt=dt, duration=INSTANTS[-1]))
        for bars, dt in ((40, 0.005), (80, 0.01), (80, 0.005), (80, 0.0025))
    }
    found = {each: motion(history) for each, history in runs.items()}
    best = found[80, 0.0025] + (found[80, 0.0025] - found[80, 0.005]) / 3.0
    excursion = np.abs(best - best[0]).max(axis=0)

    def spread(one: Any, other: Any) -> Any:
        return np.sqrt(((one - other) ** 2).mean(axis=0)) / excursion

    coarse, fine, finest = (found[80, dt] for dt in (0.01, 0.005, 0.0025))
    leg = runs[40, 0.005]
    tension = float(leg.of_element(201, "T")[np.flatnonzero(leg.of_step(1))[-1]])
    why = "OrcaFlex 11.6d by way of CableDyn 0.3.0: at the end of the leg; ours in its first bar; 0.03 % reached"
    rows = [Row(Target("tension at rest [N]", STATIC, "relative", why, 2e-3), tension)]
    off, halved = 100.0 * spread(found[40, 0.005], best), spread(coarse, fine) / spread(fine, finest)
    for name, error, ratio, reached in zip(MOTIONS, off, halved, ("0.01", "0.11", "0.09"), strict=True):
        why = f"root mean square over the largest excursion; {reached} % reached"
        rows.append(Row(Target(f"{name}: error of 40 bars, 0.005 s [%]", 0.0, "absolute", why, 0.2), float(error)))
        why = "the scheme is of order 2; within 0.1 % reached"
        target = Target(f"{name}: what halving the increment divides by", 4.0, "relative", why, 0.01)
        rows.append(Row(target, float(ratio)))
    return Outcome(tuple(rows), {"motion": _figure(found[40, 0.005], coarse, best)})


def _figure(middle: Any, coarse: Any, best: Any) -> Any:
    sheet, axes = tools.figure("A buoy let go: heave", "t [s]", "U3 [m]")
    for found, label, colour in (
        (best, "extrapolated", tools.GREY),
        (coarse, "80 bars, 0.01 s", tools.ORANGE),
        (middle, "40 bars, 0.005 s", tools.BLUE),
    ):
        axes.plot(INSTANTS, found[:, 1], color=colour, label=label)
    tools.legend(axes)
    return sheet
