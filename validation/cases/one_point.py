"""Period of the 90 degree swing: mass at the centre of the bar (ONE POINT), half the length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome
from validation import periods, tools
from validation.references import pendulum

NAME = "one_point"
TITLE = "pendulum, mass at the centre of the bar (ONE POINT), half the length"
SOURCE = "Deck inputs/pendulum_one_point.inp, trapezoidal rule. Exact: 1.67431710 s, the period of SDNL100."
LONG = False

PERIOD = pendulum.period(pendulum.point_mass(0.5, 9.81), np.pi / 2)


def run(folder: Path) -> Outcome:
    """Period of the motion against the exact one."""

    def divided(n: int) -> Any:
        return fem.run(tools.deck("pendulum_one_point", {"increments": n}))

    return periods.outcome("Period of the 90 degree swing: ONE POINT mass", PERIOD, (200, 400, 800), divided)
