"""Three mooring lines of a floating wind turbine for an hour, beside an independent program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fem.study.validation import Outcome, Row, Target
from validation import tools
from validation.references.moored_platform import FORCES, SECONDS, SETTLED

NAME = "moored_platform"
TITLE = "the three lines of VolturnUS-S for an hour: surge and heave of the fairleads"
SOURCE = (
    "CableDyn 0.3.0 at the same mesh, increment and scheme; validation/references/moored_platform.py, made by "
    "benchmarks/peer_platform.py. Lines: Allen et al., NREL/TP-5000-76773, table 6. Deck "
    "inputs/moored_platform.inp."
)
LONG = True
FAIRLEADS = 51, 151
"""Of the line that is pulled along, and of one of the two others."""
TOLERANCES = {"largest": 1e-3, "least": 5e-3, "mean": 2e-5}
WHY = "two programs at equal mesh, increment and scheme; three to five times what is reached"


def run(folder: Path) -> Outcome:
    """Largest, least and mean force at two fairleads."""
    model = tools.deck("moored_platform", {"time": SECONDS})
    time, found = tools.reactions(model, FAIRLEADS)
    kept = found[time > 1.0 + SETTLED]  # after a second of statics
    computed = {"largest": kept.max(axis=0), "least": kept.min(axis=0), "mean": kept.mean(axis=0)}
    rows = tuple(
        Row(Target(f"{what} force at node {label} [N]", value, "relative", WHY, TOLERANCES[what]), float(force))
        for what, forces in computed.items()
        for label, value, force in zip(FAIRLEADS, FORCES[what], forces, strict=True)
    )
    return Outcome(rows, {"forces": _figure(time, found)}, ())


def _figure(time: Any, found: Any) -> Any:
    sheet, axes = tools.figure("Forces at the fairleads, the last five minutes", "t [s]", "F [kN]")
    last = time > time[-1] - 300.0
    for label, force, colour in zip(FAIRLEADS, found[last].T, (tools.BLUE, tools.ORANGE), strict=True):
        axes.plot(time[last], force / 1e3, color=colour, label=f"node {label}")
    tools.legend(axes)
    return sheet
