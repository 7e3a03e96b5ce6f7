"""A power cable in a lazy wave that bends: static and heaving, beside two programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.validation import Outcome, Row, Target
from validation import tools

NAME = "lazy_wave"
TITLE = "a power cable in a lazy wave, 80 m deep: tension and curvature at rest and in heave"
SOURCE = (
    "Bare cable and buoyancy modules of Lozon et al. (2025), as CableDyn 0.3 states them in its test, with results of "
    "OrcaFlex 11.6d and MoorDyn-F 2.3.8. Deck inputs/lazy_wave.inp with 200 bars."
)
LONG = False
BARS = {"one": 102, "two": 74, "three": 24}
SETTLED = 26.0
"""Total time after which statistics are taken: two periods of heave after the two static steps."""
INNER = 0.03, 0.97
"""Of the arc: what lies beyond is left out of the largest curvature, as in the source."""
ORCAFLEX = {
    "static tension": (9320.0, 2e-3, "0.14 % reached"),
    "static curvature": (0.09643, 3e-3, "0.10 % reached; 0.12 % with 400 bars"),
    "curvature in heave": (0.10279, 2e-3, "0.01 % reached; MoorDyn-F 0.102269"),
    "mean tension": (9321.0, 3e-3, "0.12 % reached; MoorDyn-F 9329.2"),
    "least tension": (5634.2, 8e-3, "0.36 % reached; MoorDyn-F 5617.4"),
    "largest tension": (13080.6, 3e-3, "0.07 % reached; MoorDyn-F 13107.1"),
}
UNITS = {"tension": "N", "curvature": "1/m", "heave": "1/m"}


def run(folder: Path) -> Outcome:
    """Tension at the hang-off, and the largest curvature between the ends."""
    model = tools.deck("lazy_wave", BARS)
    history = fem.run(model)
    labels = model.mesh.node_labels
    arc = np.linspace(0.0, 1.0, len(labels))
    inner = (arc > INNER[0]) & (arc < INNER[1])
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
    rows = tuple(
        Row(Target(f"{name} [{UNITS[name.split()[-1]]}]", value, "relative", f"OrcaFlex 11.6d; {why}", tolerance),
            float(found[name]))
        for name, (value, tolerance, why) in ORCAFLEX.items()
    )  # fmt: skip
    length = arc * sum(model.parameters[part] for part in ("upper", "buoyant", "lower"))
    return Outcome(rows, {"curvature": _figure(length, curvature, at_rest, moving)}, ())


def _figure(length: Any, curvature: Any, at_rest: int, moving: Any) -> Any:
    sheet, axes = tools.figure("Curvature of the cable", "s [m]", "SK [1/m]")
    low, high = curvature[moving].min(axis=0), curvature[moving].max(axis=0)
    axes.fill_between(length, low, high, color=tools.ORANGE, alpha=0.4, label="range in heave")
    axes.plot(length, curvature[at_rest], color=tools.BLUE, label="at rest")
    for name, style in (("static curvature", "--"), ("curvature in heave", ":")):
        axes.axhline(ORCAFLEX[name][0], color=tools.GREY, linestyle=style, label=f"OrcaFlex, {name}")
    tools.legend(axes)
    return sheet
