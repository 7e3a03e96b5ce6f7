"""SDNL100 as published: Code_Aster validation manual V5.02.100 (31/05/2011), section 4.1, and astest/sdnl100a.comm.

The printed "%" on the two absolute tolerances of DZ and DX is false (the comm file has none) and is left out.
``CODE_ASTER`` are the code's own printed displacements, 14 digits. ``ITERATIONS`` are the 40 linear-solve counts
(prediction included) of the same recipe; published are those of increments 10, 20 and 40 (9, 5 and 6).
"""

from __future__ import annotations

PERIOD_PRINTED = 1.6744
"""Printed period [s], from twelve terms of the series; the exact one is 1.67431710 s (``pendulum.period``)."""

# increment, axis (0 = DX, 2 = DZ), reference, kind, tolerance, Code_Aster's own value
PUBLISHED = (
    (10, 0, -1.0, "relative", 2.5e-2, -0.97517890462161),
    (10, 2, -1.0, "relative", 5e-4, -0.99969205712448),
    (20, 0, -2.0, "relative", 1e-4, -1.9999998148635),
    (20, 2, 0.0, "absolute", 7e-4, -6.2628570853468e-4),
    (30, 0, -1.0, "relative", 7.5e-2, -1.0745340124129),
    (30, 2, -1.0, "relative", 3e-3, -0.99721866212924),
    (40, 0, 0.0, "absolute", 1e-6, -6.2309511616674e-7),
    (40, 2, 0.0, "absolute", 1.5e-3, -1.3768257642742e-3),
)

# fmt: off
ITERATIONS = (
    7, 5, 5, 5, 6, 7, 7, 8, 9, 9, 9, 9, 8, 7, 7, 7, 6, 5, 5, 5,
    4, 5, 5, 5, 7, 6, 7, 7, 9, 8, 9, 8, 9, 7, 7, 7, 7, 7, 8, 6,
)
# fmt: on
PUBLISHED_ITERATIONS = {10: 9, 20: 5, 40: 6}
