"""Period of the 90 degree swing: uniform slender rod (CONSISTENT), two thirds of the length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import fem
from fem.study.validation import Outcome
from validation import periods, tools
from validation.references import pendulum

NAME = "slender_rod"
TITLE = "pendulum, uniform slender rod (CONSISTENT), two thirds of the length"
SOURCE = "Deck inputs/rod_consistent.inp, trapezoidal rule. Exact: 1.93333 s, a point mass at 2/3 of the length."
LONG = False

PERIOD = pendulum.period(pendulum.uniform_rod(1.0, 9.81), np.pi / 2)


def run(folder: Path) -> Outcome:
    """Period of the motion against the exact one."""

    def divided(n: int) -> Any:
        return fem.run(tools.deck("rod_consistent", {"increments": n}))

    return periods.outcome("Period of the 90 degree swing: CONSISTENT mass", PERIOD, (200, 400, 800), divided)
