"""SSNL114A: a heavy cable, then heated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import catenary, chain, published

NAME = "ssnl114a"
TITLE = "heavy cable, heated (Code_Aster astest ssnl114a)"
SOURCE = "Published targets of Code_Aster; 20 GREEN bars by shooting. Deck inputs/ssnl114a.inp."
LONG = False

SPAN, AXIAL_STIFFNESS = 325.0, 5.7e10 * 2.2783e-4
WEIGHT = 2844.23 * 2.2783e-4 * 9.81 * SPAN
STATES = (
    (1, "cold", 0.0, published.SSNL114A_COLD, published.SSNL114A_COLD_20_BARS),
    (2, "hot", 2.3e-5 * 39.26, published.SSNL114A_HOT, published.SSNL114A_HOT_20_BARS),
)


def run(folder: Path) -> Outcome:
    """Mid-span displacement after the weight and after the heating, and the forces in all bars."""
    history = fem.run(tools.deck("ssnl114a"))
    rows = []
    for step, name, free_strain, target, twenty in STATES:
        k = tools.end_of(history, step)
        middle = float(history.of_node(11)[k][2])
        exact = chain.hang(20, SPAN, SPAN, WEIGHT, AXIAL_STIFFNESS, "GREEN", free_strain)
        tension = history.elements[k, np.argsort(history.mesh.element_labels), 3]
        forces = float(np.abs(tension / exact.tension - 1).max())
        limit, quantity = published.SSNL114A_TOLERANCE, f"{name}: mid-span DZ [m]"
        shooting = "independent: shooting with 20 GREEN bars; the last iteration leaves 1e-13, of forces 4e-11"
        rows += [
            Row(Target(quantity, target, "relative", "published: ssnl114a.comm, its tolerance", limit), middle),
            Row(Target(quantity, twenty, "relative", "independent: 20 GREEN bars, 7 digits", 1e-7), middle),
            Row(Target(quantity, -exact.sag, "relative", shooting, 1e-12), middle),
            Row(Target(f"{name}: largest relative difference of T", 0.0, "absolute", shooting, 2e-10), forces),
        ]
    cold, hot = (catenary.elastic(SPAN, SPAN, WEIGHT, AXIAL_STIFFNESS, strain) for strain in (0.0, 2.3e-5 * 39.26))
    remark = f"Elastic catenary (many bars, engineering strain): {-cold.sag:.5f} m cold, {-hot.sag:.5f} m hot."
    return Outcome(tuple(rows), {"shape": _figure(history, cold, hot)}, (remark,))


def _figure(history: Any, cold: catenary.Cable, hot: catenary.Cable) -> Any:
    sheet, axes = tools.figure("SSNL114A: shape of the cable", "x [m]", "z [m]")
    arcs, order = np.linspace(0, SPAN, 201), np.argsort(history.mesh.node_labels)
    states = ((1, "cold", cold, 0.0, tools.BLUE, "o"), (2, "heated", hot, 2.3e-5 * 39.26, tools.RED, "s"))
    for step, name, cable, free_strain, colour, marker in states:
        x, z = catenary.elastic_shape(cable, arcs, SPAN, WEIGHT, AXIAL_STIFFNESS, free_strain)
        axes.plot(x, -z, "-", color=colour, linewidth=1, label=f"{name}, elastic catenary")
        place = (history.mesh.coordinates + history.u[tools.end_of(history, step)].reshape(-1, 3))[order]
        axes.plot(place[:, 0], place[:, 2], marker, color=colour, markersize=4, label=f"{name}, 20 bars")
    tools.legend(axes)
    return sheet
