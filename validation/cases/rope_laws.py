"""Laws of ropes: loops of tension over strain, creep, and the stiffness that a quick cycle meets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import polyester

NAME = "rope_laws"
TITLE = "ropes with a memory: working curves, creep, dynamic stiffness"
SOURCE = (
    "The rope of inputs/polyester_rope.inp: curves of the kind of the Syrope model (Falkenberg and others, OTC-27761, "
    "2017), dynamic stiffness and viscosity of the polyester rope in the tests of MoorDyn 2.7 (1.53e8 N + 23.12 T, "
    "5e10 N s). There is no measured rope, because no public table was found. The reference integrates the equations "
    "(DOP853)."
)
LONG = False

PATH = ((0.0, 0.0), (600.0, 0.02), (1200.0, 0.012), (1800.0, 0.03), (2400.0, 0.022), (3600.0, 0.022))
CYCLES = """*STEP, NLGEOM, AMPLITUDE=RAMP, INC=100000
*VISCO, DIRECT
{dt}, 3600.
*BOUNDARY, AMPLITUDE=PATH
2, 3, 3, -100.
*EL PRINT, ELSET=POLYESTER
E, S
*END STEP
"""


def run(folder: Path) -> Outcome:
    """The polyester rope of the deck, pulled through two loops."""
    history, (time, exact) = pulled(10.0), polyester.tensions(PATH)
    tension, why = history.of_element(1, "S"), "DOP853; five times the error of increments of 10 s"
    rows = [
        Row(Target("tension at the end, at rest [N]", float(exact[-1]), "relative", why, 1e-5), float(tension[-1])),
        Row(Target("largest tension [N]", float(exact.max()), "relative", why, 1e-5), float(tension.max())),
        Row(
            Target("largest tension of the first loop [N]", float(exact[time <= 1200.0].max()), "relative", why, 2e-4),
            float(tension[history.time <= 1200.0].max()),
        ),
    ]
    return Outcome(tuple(rows), {"loops": loops(history, time, exact)})


def pulled(dt: float) -> fem.History:
    """The rope alone, its lower end on a way."""
    text = (tools.INPUTS / "polyester_rope.inp").read_text()
    text = text[: text.index("*STEP")].replace("LARGEST STRESS=1.0e6", "LARGEST STRESS=0.")
    times = "\n".join(f"{time}, {strain}" for time, strain in PATH)
    return fem.run(fem.parse_deck(f"{text}*AMPLITUDE, NAME=PATH\n{times}\n{CYCLES.format(dt=dt)}"))


def loops(history: fem.History, time: np.ndarray, exact: np.ndarray) -> Figure:
    """Tension over strain, and over time."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(100.0 * np.interp(time, *np.array(PATH).T), exact / 1e6, color="0.7", lw=4, label="DOP853")
    left.plot(100.0 * history.of_element(1, "E"), history.of_element(1, "S") / 1e6, label="fem")
    for strain, tension in (polyester.LOADING, polyester.quasi_static_branch(0.03)):
        left.plot(100.0 * strain, tension / 1e6, "k:", lw=1)
    left.set(xlabel="strain [%]", ylabel="tension [MN]", xlim=(-0.1, 3.3), ylim=(-0.1, 3.3))
    left.legend()
    right.plot(time / 60.0, exact / 1e6, color="0.7", lw=4)
    right.plot(history.time / 60.0, history.of_element(1, "S") / 1e6)
    right.set(xlabel="time [min]", ylabel="tension [MN]")
    return figure
