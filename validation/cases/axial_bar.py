"""One bar under axial load in the three strain measures, far from small strains."""

from __future__ import annotations

from pathlib import Path

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import axial_bar

NAME = "axial_bar"
TITLE = "bar under axial load in three strain measures"
SOURCE = "Closed forms (Crisfield, vol. 1, ch. 3) at +25 and -10 N with E A = 100 N; deck inputs/axial_bar.inp."
LONG = False

STIFFNESS, YOUNG = 100.0, 1e6
LOADS = {1: 25.0, 2: -10.0}


def run(folder: Path) -> Outcome:
    """Stretch, strain, stress, conjugate force and force along the bar, pulled and pushed."""
    history = fem.run(tools.deck("axial_bar"))
    why = "analytic; the last iteration leaves round-off: 4e-16"
    rows = []
    for step, load in LOADS.items():
        k = tools.end_of(history, step)
        for label, measure in enumerate(axial_bar.MEASURES, start=1):
            stretch = axial_bar.stretch(measure, load / STIFFNESS)
            strain = axial_bar.strain(measure, stretch)
            u = history.of_node(2 * label)[k]
            computed = [history.of_element(label, name)[k] for name in "ESNT"]
            conjugate = load / stretch if measure == "GREEN" else load
            values = (
                ("stretch", stretch, 1.0 + u[0]),
                ("E", strain, computed[0]),
                ("S", YOUNG * strain, computed[1]),
                ("N", conjugate, computed[2]),
                ("T", load, computed[3]),
            )
            for name, value, found in values:
                quantity = f"{measure}, {load:+g} N: {name}"
                rows.append(Row(Target(quantity, value, "relative", why, 1e-13), float(found)))
    return Outcome(tuple(rows))
