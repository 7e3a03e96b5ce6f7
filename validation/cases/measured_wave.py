"""A cable with floats in a lazy wave that was measured in a tank: its markers and how far it bends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.tools import Array

NAME = "measured_wave"
TITLE = "a cable with floats in a lazy wave, measured in a tank: places of markers, curvature"
SOURCE = (
    "Holcombe et al., Ocean Engineering (2025), doi 10.1016/j.oceaneng.2025.120384: markers read off the figure, "
    "within 8.3 mm in x and 3.3 mm in z, as CableDyn states them. Deck inputs/measured_wave.inp; nothing is fitted. "
    "How the hang-off turns was not measured: it is a hinge or clamped vertically."
)
LONG = False
MARKERS = {
    101: (0.987839, -0.740706),
    141: (1.429530, -0.692014),
    181: (1.819622, -0.522007),
    213: (2.170498, -0.297532),
    249: (2.610125, -0.290930),
    281: (2.950681, -0.529435),
    333: (3.297429, -0.923092),
}
"""Node -> measured (x, z) [m]; the last one holds the cable."""
INTERVALS = {2: (0.58159, 0.80490), 3: (0.22285, 0.52599), 5: (1.31284, 1.57105), 6: (0.36132, 0.64308)}
"""Marker -> least and largest curvature [1/m] within the accuracy of the places; at marker 4, see the remark."""
ENDS = {"hinge": 1.0, "clamp": 0.0}
CABLEDYN = {"hinge": 39.40, "clamp": 69.35}
"""Root of the mean square distance of markers 1 to 6 from the measured ones [mm]: CableDyn 0.3.0, its own decks, 400
elements."""
REMARK = (
    "At marker 4 the measured curvature, 1.278 1/m within 1.153 and 1.408, is missed: it is {hinge:.3f} with a hinge "
    "and {clamp:.3f} with a clamp; CableDyn 1.107 and 1.043."
)


def run(folder: Path) -> Outcome:
    """Distances of the markers, and the curvature of the circle through each and its neighbours."""
    measured = np.array(list(MARKERS.values()))
    rows, lines, bends = [], {}, {}
    for end, free in ENDS.items():
        model = tools.deck("measured_wave", {"free": free})
        history = fem.run(model)
        cable = np.arange(1, max(MARKERS) + 1)
        lines[end] = np.array([history.of_node(int(label), "COORD")[-1] for label in cable])[:, ::2]
        places = np.array([history.of_node(label, "COORD")[-1] for label in MARKERS])[:, ::2]
        away = 1e3 * float(np.sqrt(((places - measured)[:-1] ** 2).sum(axis=1).mean()))
        source = "CableDyn 0.3.0; equations and forces are the same, within 0.15 %"
        rows.append(Row(Target(f"{end}: distance of markers [mm]", CABLEDYN[end], "relative", source, 3e-3), away))
        bends[end] = circles(places)
        for marker, (low, high) in INTERVALS.items():
            source = "measured; the tolerance is its accuracy"
            target = Target(f"{end}: curvature at marker {marker} [1/m]", 0.5 * (low + high), "absolute", source,
                            0.5 * (high - low))  # fmt: skip
            rows.append(Row(target, float(bends[end][marker - 2])))
    remark = REMARK.format(**{end: bends[end][2] for end in ENDS})
    return Outcome(tuple(rows), {"places": _figure(lines, measured)}, (remark,))


def circles(places: Array) -> Array:
    """Curvatures (n - 2,) of the circles through each three of the places (n, 2)."""
    one, two = places[1:-1] - places[:-2], places[2:] - places[1:-1]
    sides = (np.hypot(*each.T) for each in (one, two, one + two))
    return np.asarray(2.0 * np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]) / np.prod(list(sides), axis=0))


def _figure(lines: dict[str, Any], measured: Array) -> Any:
    sheet, axes = tools.figure("A measured lazy wave", "x [m]", "z [m]")
    for (end, line), colour in zip(lines.items(), (tools.BLUE, tools.ORANGE), strict=True):
        axes.plot(*line.T, color=colour, label=f"fem, {end}")
    axes.plot(*measured.T, "o", color="black", markersize=5, label="measured")
    axes.set_aspect("equal")
    tools.legend(axes)
    return sheet
