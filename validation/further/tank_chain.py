"""Bergdahl's chain at increments that follow its snaps: its largest force beside the measured one and CableDyn's."""

from __future__ import annotations

import numpy as np

from fem.study.validation import Row, Target
from validation import tools
from validation.references.bergdahl import FORCES

BARS, DT, TURNS, KEPT = 165, 0.3125e-3, 8, 5
"""Bars and increment [s], those of CableDyn; turns of a run; how many of the last of them count."""
MEASURED = "measured; twice the 2.2 % by which single entries scatter about the smooth surface of the table itself"
CABLEDYN = "CableDyn; halving moves it by 0.5 % (bars) and 0.3 % (increments), ours by 0.2 %"


def force(
    period: float, radius: float, turns: int = TURNS, bars: int = BARS, dt: float = DT
) -> tuple[tools.Array, tools.Array]:
    """Time in turns, and the force at the wheel."""
    numbers = {"T": period, "r": radius, "bars": bars, "dt": dt, "turns": turns}
    time, pull = tools.reactions(tools.deck("bergdahl", numbers), (bars + 1,))
    moves = time > 1.0  # after a second of statics
    return (time[moves] - 1.0) / period, pull[moves, 0]


def largest(turn: tools.Array, pull: tools.Array) -> float:
    """Mean of the largest forces of the last turns."""
    last = round(float(turn[-1]))
    return float(np.mean([pull[(turn > at) & (turn <= at + 1)].max() for at in range(last - KEPT, last)]))


def beside(name: str, value: float, found: float) -> Row:
    """A row against CableDyn."""
    return Row(
        Target(f"Bergdahl's chain, {name}: largest force [N], CableDyn", value, "relative", CABLEDYN, 0.01), found
    )


def rows(period: float, radius: float, found: float) -> list[Row]:
    """Both rows of a motion."""
    measured, other = FORCES[period, radius]
    name = f"T = {period:g} s, r = {radius:g} m"
    target = Target(f"Bergdahl's chain, {name}: largest force [N], measured", measured, "relative", MEASURED, 0.045)
    return [Row(target, found), beside(name, other, found)]
