"""Power cables in lazy waves that bend: static and heaving, beside two programs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import fem
from fem.lines.spans import LineSection
from fem.study.validation import Outcome, Row, Target
from validation import tools

NAME = "lazy_wave"
TITLE = "power cables in lazy waves, 80 and 800 m deep: tension and curvature at rest and in heave"
SOURCE = (
    "Bare cables and buoyancy modules of Lozon et al. (2025), as CableDyn states them in its tests, with results of "
    "OrcaFlex 11.6d and MoorDyn-F 2.3.8. Deck inputs/lazy_wave.inp with 200 bars: from the hang-off to the touchdown, "
    "which is pinned. The suspended length at 800 m, 920.434 m, is that of CableDyn's initial shape. Laid: whole "
    "cables, on the bottom up to their anchors, 200 bars, decks of fem line --modules; results of CableDyn 0.3, which "
    "agree with those of OrcaFlex within 0.01 %."
)
LONG = False
SETTLED = 26.0
"""Total time after which statistics are taken: two periods of heave after the two static steps."""
INNER = 0.03, 0.97
"""Of the arc: what lies beyond is left out of the largest curvature, as in the source."""
PARTS = {"upper": "one", "buoyant": "two", "lower": "three"}
"""Natural length of each part -> number of its bars."""
UNITS = {"tension": "N", "curvature": "1/m", "heave": "1/m"}


class Cable(NamedTuple):
    """Parameters of the deck; for each result that of OrcaFlex, the tolerance, and why it has this size."""

    parameters: dict[str, float]
    results: dict[str, tuple[float, float, str]]


CABLES = {
    "80 m": Cable(
        {"one": 102, "two": 74, "three": 24},
        {
            "static tension": (9320.0, 2e-3, "0.14 % reached"),
            "static curvature": (0.09643, 3e-3, "0.10 % reached; 0.12 % with 400 bars"),
            "curvature in heave": (0.10279, 2e-3, "0.01 % reached; MoorDyn-F 0.102269"),
            "mean tension": (9321.0, 3e-3, "0.12 % reached; MoorDyn-F 9329.2"),
            "least tension": (5634.2, 8e-3, "0.36 % reached; MoorDyn-F 5617.4"),
            "largest tension": (13080.6, 3e-3, "0.07 % reached; MoorDyn-F 13107.1"),
        },
    ),
    "800 m": Cable(
        {
            **{"span": 349.884466, "bottom": -799.999769, "modules": 59.17},
            **{"upper": 372.449, "buoyant": 400.0, "lower": 147.98487, "one": 81, "two": 87, "three": 32},
        },
        {
            "static curvature": (0.02639, 1e-2, "0.7 % reached with bars of 4.6 m; 0.2 and 0.03 % with 400 and 800"),
            "curvature in heave": (0.03881, 4e-2, "2.5 % reached; 1.1 and 0.5 % with 400 and 800; MoorDyn-F 0.0379"),
            "mean tension": (57787.6, 2e-3, "0.08 % reached; MoorDyn-F 57794.2"),
            "least tension": (33241.3, 3e-3, "0.13 % reached; MoorDyn-F 33037.1"),
            "largest tension": (82963.2, 2e-3, "0.09 % reached; MoorDyn-F 82968.1"),
        },
    ),
}


LINE = LineSection("cable", 0.16, 36.70, 4.69e8, bending_stiffness=1.99e4)
WHY = "0.01 % of the tension reached; of the curvature 0.04 and, with bars of 6.9 m, 0.95 %"


class Laid(NamedTuple):
    """depth, length;  modules: from the anchor;  anchor: its x;  tension at the hang-off, largest curvature."""

    depth: float
    length: float
    modules: tuple[float, float, float, float]
    anchor: float
    tension: float
    curvature: float


LAID = (
    Laid(80.0, 170.215, (52.101, 102.101, 59.53, 0.29), 125.0, 9320.0, 0.09683),
    Laid(800.0, 1370.43, (597.981, 997.981, 59.17, 0.29), 805.0, 56539.0, 0.02802),
)


def run(folder: Path) -> Outcome:
    """Tension at the hang-off, and the largest curvature between the ends."""
    rows, figures = [], {}
    for name, cable in CABLES.items():
        model = tools.deck("lazy_wave", cable.parameters)
        history = fem.run(model)
        given, labels = model.parameters, np.sort(model.mesh.node_labels)
        bars = np.concatenate([np.full(int(given[n]), given[part] / given[n]) for part, n in PARTS.items()])
        arc = np.concatenate([[0.0], np.cumsum(bars)])
        inner = (arc > INNER[0] * arc[-1]) & (arc < INNER[1] * arc[-1])
        curvature = np.stack([history.of_node(int(label), "SK") for label in labels], 1)
        tension = np.linalg.norm(history.of_node(1, "RF"), axis=1)
        at_rest, moving = int(np.flatnonzero(history.time <= 1.0)[-1]), history.time >= SETTLED
        found = {
            "static tension": tension[at_rest],
            "static curvature": curvature[at_rest].max(),
            "curvature in heave": curvature[moving][:, inner].max(),
            "mean tension": tension[moving].mean(),
            "least tension": tension[moving].min(),
            "largest tension": tension[moving].max(),
        }
        for quantity, (value, tolerance, why) in cable.results.items():
            unit = UNITS[quantity.split()[-1]]
            source = f"OrcaFlex 11.6d; {why}"
            target = Target(f"{name}: {quantity} [{unit}]", value, "relative", source, tolerance)
            rows.append(Row(target, float(found[quantity])))
        ranges = curvature[moving].min(axis=0), curvature[moving].max(axis=0)
        figures[f"curvature_{name.split()[0]}"] = _figure(name, arc, curvature[at_rest], ranges, cable.results)
    return Outcome((*rows, *(row for cable in LAID for row in laid(cable))), figures)


def laid(cable: Laid) -> tuple[Row, Row]:
    """Tension and curvature of a cable with touchdown at rest."""
    anchor = (cable.anchor, 0.0, -cable.depth)
    shape = {"first": anchor, "length": cable.length, "modules": [cable.modules], "depth": cable.depth}
    with TemporaryDirectory() as folder:
        deck = fem.line(
            (5.0, 0.0, -14.0), section=LINE, bars=200, gravity=9.80665, output=Path(folder) / "laid.inp", **shape
        )
        history = fem.run(deck)
    curvature = max(float(history.of_node(node, "SK")[-1]) for node in range(1, 202))
    name, source = f"{cable.depth:g} m, laid", f"CableDyn 0.3; {WHY}"
    tension = float(np.linalg.norm(history.of_node(201, "RF")[-1]))
    return (
        Row(Target(f"{name}: tension at rest [N]", cable.tension, "relative", source, 2e-4), tension),
        Row(Target(f"{name}: curvature at rest [1/m]", cable.curvature, "relative", source, 1e-2), curvature),
    )


def _figure(name: str, arc: Any, at_rest: Any, ranges: Any, results: Any) -> Any:
    sheet, axes = tools.figure(f"Curvature of the cable, {name}", "s [m]", "SK [1/m]")
    axes.fill_between(arc, *ranges, color=tools.ORANGE, alpha=0.4, label="range in heave")
    axes.plot(arc, at_rest, color=tools.BLUE, label="at rest")
    for quantity, style in (("static curvature", "--"), ("curvature in heave", ":")):
        axes.axhline(results[quantity][0], color=tools.GREY, linestyle=style, label=f"OrcaFlex, {quantity}")
    tools.legend(axes)
    return sheet
