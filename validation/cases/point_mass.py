"""Period of the 90 degree swing: point mass on a light bar (LUMPED), the whole length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome
from validation import periods, tools
from validation.references import pendulum

NAME = "point_mass"
TITLE = "pendulum, point mass on a light bar (LUMPED), the whole length"
SOURCE = "Deck inputs/pendulum_lumped.inp, trapezoidal rule. Exact: 2.36784 s."
LONG = False

PERIOD = pendulum.period(pendulum.point_mass(1.0, 9.81), np.pi / 2)


def run(folder: Path) -> Outcome:
    """Period of the motion against the exact one."""

    def divided(n: int) -> Any:
        return fem.run(tools.deck("pendulum_lumped", {"increments": n}))

    return periods.outcome("Period of the 90 degree swing: LUMPED mass", PERIOD, (200, 400, 800), divided)
