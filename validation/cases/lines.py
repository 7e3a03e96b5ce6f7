"""Lines laid in equilibrium: MoorPy's catenaries, hanging by decks, on the bottom by the functions behind them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.lines.hanging import Line, Shape
from fem.lines.resting import Bottom, lay
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "lines"
TITLE = "lines between two points: MoorPy's catenaries, hanging and on the bottom"
SOURCE = (
    "Published: MoorPy (NREL), tests/test_catenary.py, rows 0 to 5, forces at both ends and length on the bottom to "
    "1e-6; deck inputs/catenary.inp. Slope: MoorPy's test of a sloped bottom, force by a closed form in 40 digits."
)
LONG = False

HANGING = {
    "row 3, light": (
        (400.0, 200.0, 500.0, 7.51e12, 200.0),
        (43694.580989249596, -22365.599350216216, -77634.40064978378),
    ),
    "row 4": ((89.9, 59.2, 130.0, 7.51e8, 881.05), (31373.229006023103, -26650.341270116318, -87886.15872988368)),
    "row 5, buoyant": (
        (37.96888656874307, 20.49078283711694, 100.0, 7.51e8, -881.0549577007893),
        (6428.437434537766, 53178.729367882406, 34926.76640219652),
    ),
}
"""Distance, height, natural length, E A, weight per length; horizontal force, vertical forces at both ends."""
RESTING = {
    "row 0, friction 5": (5.0, 0.0, 96643.43501616362, 237751.75997440016),
    "row 1, no friction": (0.0, 96643.42815934008, 96643.42815934008, 237751.75535996316),
    "row 2, friction 0.1": (0.1, 80418.60434855078, 96643.42877136687, 237751.75577183915),
}
"""Friction; horizontal force at the anchor, horizontal and vertical force at the upper end."""
ON_BOTTOM = 202.8103
BARS = (50, 100, 200)
MOST = "regression: at most 4 solves, 1 if round-off allows it; the first one is always counted"


def run(folder: Path) -> Outcome:
    """Forces at the ends, extrapolated over the number of bars; on the bottom with 1000 bars."""
    rows, worst = [], 0
    for name, (numbers, forces) in HANGING.items():
        found, solves = zip(*(_hanging(numbers, bars) for bars in BARS), strict=True)
        rows += _forces(name, found, forces)
        worst = max(worst, *solves)
    rows.append(
        Row(
            Target("largest number of linear solves in statics that begin there", 2.5, "absolute", MOST, 1.5),
            float(worst),
        )
    )
    for name, given in RESTING.items():
        rows += _resting(name, *given)
    return Outcome((*rows, _sloped()), {"shapes": _figure()}, ())


def _hanging(numbers: tuple[float, ...], bars: int) -> tuple[np.ndarray, int]:
    """Reactions (H at the lower end as it pulls the line, V there, V at the upper end), and solves, of a deck."""
    names = ("span", "rise", "length", "stiffness", "weight", "gravity", "bars")
    *sizes, weight = numbers
    values = (*sizes, abs(weight), math.copysign(1.0, weight), bars)
    history = fem.run(tools.deck("catenary", dict(zip(names, values, strict=True))))
    first, last = (history.of_node(label, "reactions")[-1] for label in (1, bars + 1))
    return np.array([-first[0], -first[2], -last[2]]), int(history.iterations[-1])


def _forces(name: str, found: Any, published: tuple[float, ...]) -> list[Row]:
    """Order in the length of a bar, and the limit, of the three forces."""
    values, exact = np.array(found), np.array(published)
    limit = values[-1] + (values[-1] - values[-2]) / 3
    order = float(tools.orders(np.abs(values[:, 0] - limit[0]))[0])
    why = "published to 1e-6; the same for the error of the extrapolation"
    rows = [
        Row(Target(f"{name}: order of H in bar length", 2.0, "order", "analytic: weights lumped at nodes", 2e-3), order)
    ]
    for what, value, target in zip(("H", "V at the lower end", "V at the upper end"), limit, exact, strict=True):
        rows.append(Row(Target(f"{name}: {what} [N]", float(target), "relative", why, 2e-6), float(value)))
    return rows


def _line(bars: int, length: float, stiffness: float, weight: float) -> Line:
    own, is_not = np.full(bars, length / bars), np.zeros(bars, np.bool_)
    return Line(own, np.full(bars, stiffness), np.convolve(0.5 * weight * own, [1.0, 1.0]), is_not, is_not)


def _upper(line: Line, shape: Shape) -> np.ndarray:
    """Force at the last node."""
    return np.asarray(shape.tension[-1] * shape.vectors[-1] / np.hypot(*shape.vectors[-1]) + [0.0, line.weight[-1]])


def _resting(name: str, friction: float, anchor: float, level: float, upright: float) -> list[Row]:
    """One row on the bottom."""
    line = _line(1000, 500.0, 7.51e12, 800.0)
    shape = lay(line, 400.0, 200.0, Bottom(0.0, 0.0, friction))
    why = "published to 1e-6; the error of 1000 bars is up to 7e-6"
    force, own = _upper(line, shape), float(shape.load.sum() / 800.0)
    held = max(float(shape.tension[0]) - friction * float(shape.load[0]), 0.0)
    lying = "published, for all rows; weight on the bottom over weight of a metre, error 1e-3"
    return [
        Row(
            Target(f"{name}: H at the anchor [N]", anchor, "relative" if anchor else "absolute", why, 2e-5),
            held,
        ),
        Row(Target(f"{name}: H at the upper end [N]", level, "relative", why, 2e-5), float(force[0])),
        Row(Target(f"{name}: V at the upper end [N]", upright, "relative", why, 2e-5), float(force[1])),
        Row(Target(f"{name}: length on the bottom [m]", ON_BOTTOM, "absolute", lying, 3e-3), own),
    ]


def _sloped() -> Row:
    """80 m of chain up a bottom that rises by 10 degrees."""
    line = _line(400, 80.0, 1e12, 100.0)
    shape = lay(line, 60.0, 40.0, Bottom(0.0, math.radians(10.0)))
    why = "closed form of the elastic catenary on a rigid slope, 40 digits; the error of 400 bars is 7e-6"
    return Row(Target("slope 10 degrees: force at the upper end [N]", 4681.188952352464, "relative", why, 2e-5),
               float(np.hypot(*_upper(line, shape))))  # fmt: skip


def _figure() -> Any:
    sheet, axes = tools.figure("Lines of MoorPy's tests in equilibrium", "x [m]", "z [m]")
    for (name, (friction, *_)), colour in zip(RESTING.items(), (tools.BLUE, tools.ORANGE, tools.GREEN), strict=True):
        places = lay(_line(50, 500.0, 7.51e12, 800.0), 400.0, 200.0, Bottom(0.0, 0.0, friction)).places
        axes.plot(*places.T, ".-", color=colour, label=name)
    history = fem.run(tools.deck("catenary"))
    place = history.mesh.coordinates[np.argsort(history.mesh.node_labels)]
    axes.plot(place[:, 0], place[:, 2], ".-", color=tools.RED, label="row 3, light")
    tools.legend(axes)
    return sheet
