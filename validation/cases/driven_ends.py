"""Six motions of a reference node: places, velocities, accelerations of what is pinned to it, force and moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "driven_ends"
TITLE = "six motions: fairleads of a vessel, and a mass on an arm that turns"
SOURCE = (
    "Analytic: rotations of scipy.spatial (independent of ours) on the spline of SciPy through the points of the deck, "
    "their rates by differences of eighth order; centripetal force m w^2 r. Deck inputs/driven_fairleads.inp."
)
LONG = False
DIFFERENCES = {
    1: np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]),
    2: np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]),
}
STEP = 0.02
ARM = """\
*NODE
1, 0, 0, 0
2, 3, 0, 4
*ELEMENT, TYPE=MASS, ELSET=M
1, 2
*MASS, ELSET=M
2.5
*NSET, NSET=PIN
2
*RIGID BODY, REF NODE=1, PIN NSET=PIN, ROTATION=VECTOR
*AMPLITUDE, NAME=TURN
0., 0., 100., 100.
*STEP, NLGEOM, INC=1000
*DYNAMIC, DIRECT
0.05, 10.
*BOUNDARY, AMPLITUDE=TURN
1, 6, 6, 1.2
*END STEP
"""


def run(folder: Path) -> Outcome:
    """Kinematics at all increments; balance of forces; an arm."""
    history = fem.run(tools.deck("driven_fairleads"))
    moving = history.step == 2
    time, rows = history.time[moving] - 1.0, []
    for label in (21, 121, 221):
        for name, order, what, tolerance in (
            ("U", 0, "place [m]", 1e-12),
            ("V", 1, "velocity [m/s]", 1e-10),
            ("A", 2, "acceleration [m/s2]", 1e-7),
        ):
            inside = (time > 4.5 * STEP) & (time < 20.0 - 4.5 * STEP) & ~_near_a_knot(time)
            exact = _moved(history.mesh.coordinates[history.mesh.nodes_of(label)[0]], time[inside], order)
            off = np.abs(history.of_node(label, name)[moving][inside] - exact).max()
            why = "spline and rotation in double precision" if order == 0 else "and round-off of the differences"
            rows.append(Row(Target(f"fairlead {label}: {what}", 0.0, "absolute", why, tolerance), float(off)))
    force = sum(history.of_node(label, "RF") for label in (21, 121, 221))
    off = np.abs(history.of_node(1000, "RF") - force).max() / np.abs(force).max()
    rows.append(Row(Target("RF of the vessel less that of its fairleads", 0.0, "absolute", "round-off", 1e-14), off))
    arm = fem.run(fem.parse_deck(ARM))
    reaction, moment = (np.linalg.norm(arm.of_node(1, name)[1:], axis=1) for name in ("RF", "RM"))
    pull = 2.5 * 1.2**2 * 3.0
    rows += [
        Row(Target("arm: force m w^2 r", pull, "relative", "analytic, exact", 1e-12), float(reaction[-1])),
        Row(
            Target("arm: moment, 4 above the reference node", 4.0 * pull, "relative", "exact", 1e-12), float(moment[-1])
        ),
    ]
    return Outcome(tuple(rows), {"fairleads": _figure(history, moving)}, ())


def _curve(time: Any) -> Any:
    points = np.array(fem.read_deck(tools.INPUTS / "driven_fairleads.inp").amplitudes["SWELL"].points)
    return CubicSpline(*points.T)(time)


def _near_a_knot(time: Any) -> Any:
    """Differences do not see a third derivative jump."""
    return np.abs(time / 2.5 - np.round(time / 2.5)) * 2.5 < 4.5 * STEP / 10.0


def _moved(place: Any, time: Any, order: int) -> Any:
    """(k, 3) u of a point of the vessel, or a rate of it."""
    if order:
        step = STEP / 10.0
        parts = zip(DIFFERENCES[order], np.arange(-4, 5), strict=True)
        return sum(factor * _moved(place, time + k * step, 0) for factor, k in parts) / step**order
    q = _curve(time)[:, None] * [3.0, 0.0, 1.5, 0.1, 0.0, 0.05]
    return q[:, :3] + Rotation.from_euler("xyz", q[:, 3:]).apply(place) - place


def _figure(history: Any, moving: Any) -> Any:
    sheet, axes = tools.figure("Lines at the fairleads of a moving vessel", "t [s]", "T [kN]")
    for label, colour in zip((20, 120, 220), (tools.BLUE, tools.ORANGE, tools.GREEN), strict=True):
        axes.plot(
            history.time[moving], history.of_element(label, "T")[moving] / 1e3, color=colour, label=f"bar {label}"
        )
    tools.legend(axes)
    return sheet
