"""Largest forces on a chain whose upper end goes around a circle in a tank: as measured, and by CableDyn.

Measured: Bergdahl, Palm, Eskilsson & Lindahl, J. Mar. Sci. Eng. 4 (2016) 5, table 8, means over cycles. CableDyn:
its ``validation/experiments/bergdahl`` (commit 1ae79e6), 165 bars, increments of 0.3125 ms, generalised alpha with
rho = 0.4, mean of five cycles; there half the bar length moves a force by up to 0.5 %, half the increment by 0.3 %.
"""

from __future__ import annotations

import numpy as np

FORCES = {
    (1.25, 0.075): (42.5, 41.5667),
    (1.25, 0.1): (46.8, 47.3751),
    (1.25, 0.15): (60.4, 58.1095),
    (1.25, 0.2): (70.3, 67.9933),
    (1.5, 0.075): (41.0, 39.8846),
    (1.5, 0.1): (45.3, 46.0797),
    (1.5, 0.125): (51.5, 51.4647),
    (1.5, 0.15): (59.0, 56.4289),
    (2.0, 0.1): (39.5, 41.8896),
    (2.0, 0.125): (47.5, 47.4985),
    (2.0, 0.15): (54.1, 52.9026),
    (2.0, 0.2): (62.3, 63.1193),
    (2.5, 0.075): (31.1, 33.0612),
    (2.5, 0.1): (35.4, 38.1331),
    (2.5, 0.125): (42.5, 43.6057),
    (2.5, 0.2): (57.3, 59.5285),
    (3.0, 0.075): (29.5, 31.0522),
    (3.0, 0.125): (39.3, 40.3883),
    (3.0, 0.15): (45.8, 45.3499),
    (3.0, 0.2): (54.0, 55.6799),
    (3.5, 0.075): (27.8, 29.8666),
    (3.5, 0.1): (31.5, 33.7186),
    (3.5, 0.125): (37.5, 38.0273),
    (3.5, 0.15): (42.5, 42.7064),
}
"""Period [s], radius [m] of the circle: measured, CableDyn [N]."""
HALVED = {"half the bars": (330, 0.3125e-3, 68.3296), "half the increments": (165, 0.15625e-3, 67.8009)}
"""T = 1.25 s, r = 0.2 m once more: bars, increment [s], CableDyn [N]."""


def scatter(column: int) -> float:
    """Relative standard deviation of a column of the table from a smooth surface, log F quadratic in frequency and
    radius: what a single entry is uncertain by, as the table itself tells."""
    period, radius = np.array(list(FORCES)).T
    rate = 1.0 / period
    surface = np.column_stack((np.ones_like(rate), rate, radius, rate**2, rate * radius, radius**2))
    force = np.log([row[column] for row in FORCES.values()])
    off = force - surface @ np.linalg.lstsq(surface, force, rcond=None)[0]
    return float(np.sqrt(off @ off / (len(off) - surface.shape[1])))
