"""SSNL105A: a square braced by two tension-only cables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references import braced_square, published

NAME = "ssnl105a"
TITLE = "tension-only bracing (Code_Aster astest ssnl105a)"
SOURCE = (
    "Published targets of Code_Aster, whose bars are small-strain: run without NLGEOM. In full geometry the five "
    "equilibrium equations are solved independently. Decks inputs/ssnl105a.inp, inputs/ssnl105a_nlgeom.inp."
)
LONG = False

STIFFNESS = 2.1e11 * 1e-4
LOADS = {1: 500.0, 2: 1000.0}


def run(folder: Path) -> Outcome:
    """Forces in the six members at half and full load, small displacements and full geometry."""
    linear, full = fem.run(tools.deck("ssnl105a")), fem.run(tools.deck("ssnl105a_nlgeom"))
    rows = []
    found = _forces(linear, 2)
    for bar, value in published.SSNL105A_FORCES.items():
        kind = "relative" if value else "absolute"
        limit = published.SSNL105A_RELATIVE if value else published.SSNL105A_ABSOLUTE
        target = Target(f"N({bar}) [N], NLGEOM=NO", value, kind, "published: ssnl105a.comm, its tolerance", limit)
        rows.append(Row(target, found[bar]))
    why = "analytic: statics, F sqrt(2); linear once the cables are known, so round-off"
    for step, load in LOADS.items():
        target = Target(f"N(01-03) [N] at {load:g} N, NLGEOM=NO", load * np.sqrt(2), "relative", why, 1e-13)
        rows.append(Row(target, _forces(linear, step)["01-03"]))
    found, exact = _forces(full, 2), braced_square.solve(LOADS[2], STIFFNESS)
    why = "independent: prototype, 6 digits"
    rows.append(Row(Target("N(04-01) [N], NLGEOM", -0.182315, "relative", why, 5e-6), found["04-01"]))
    why = "independent: five equations, five unknowns; the last iteration leaves 5e-10 N"
    for bar, value in exact.items():
        rows.append(Row(Target(f"N({bar}) [N], NLGEOM", value, "absolute", why, 2e-9), found[bar]))
    return Outcome(tuple(rows))


def _forces(history: Any, step: int) -> dict[str, float]:
    """N by member name at the end of a step; element label 13 is member 01-03."""
    k = tools.end_of(history, step)
    labels = {bar: int(bar[1] + bar[4]) for bar in braced_square.BARS}
    return {bar: float(history.of_element(label)[k]) for bar, label in labels.items()}
