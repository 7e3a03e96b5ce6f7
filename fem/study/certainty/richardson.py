"""Errors of numbers from the same number at dt, dt/2 and dt/4 (Richardson), with the order that they show.

With d1 = y(dt) - y(dt/2) and d2 = y(dt/2) - y(dt/4) the order is p = log2 |d1/d2|, and what both pairs extrapolate to

    x1 = y(dt/2) - d1/(2^p - 1),   x2 = y(dt/4) - d2/(2^p - 1)

tells how far x2 can be trusted: where the error is C dt^p + D dt^q, x2 is |x1 - x2|/(2^q - 1) from the truth. The error
is y(dt) - x2, with that as its own uncertainty. Numbers over time cross each other where no error is small: orders and
uncertainties are those of the largest differences in some rows around.
Source: Roache, Verification and Validation in Computational Science and Engineering, 1998, ch. 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d

from fem.arrays import Floats

LEAST, MOST = 0.7, 4.5
"""Orders that count as seen."""
ORDERS = (1.0, 2.0)
"""Of schemes: an order near one of them is that."""
NEAR = 0.35
SAFE, ROUGH, UNSEEN = 0.5, 2.0, 3.0
"""Uncertainty over the distance of two extrapolations: of smooth errors, and what rough ones add; over the largest
difference where no order is seen."""
MESH = 1.5
"""Error of a mesh over its distance from one with twice the bars: 4/3 at second order, 2 at first."""
RESIDUAL = 1.2
"""Error of a run over its distance from one with a residual a thousand times smaller."""
MARGIN = 1.15
ROUND_OFF = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Errors of numbers (k, c), each a number per row and column; NaN: unknown.

    error     value minus truth as far as dt goes, and
    own       the uncertainty of that
    dt, mesh, residual, rows   contributions to the bar; rows: what the extreme of the motion is beyond the rows
    order     observed; NaN where none is
    scale     (c,) size of the number over the run
    """

    error: Floats
    own: Floats
    dt: Floats
    mesh: Floats
    residual: Floats
    rows: Floats
    order: Floats
    scale: Floats

    @property
    def bar(self) -> Floats:
        total = np.nansum([self.dt, self.mesh, self.residual, self.rows], axis=0)
        return np.asarray(MARGIN * total + ROUND_OFF * self.scale)

    def at(self, *place: int) -> Estimate:
        """That of one number, or of one row."""
        found: Any = {each.name: getattr(self, each.name) for each in fields(self)}
        return Estimate(**{name: values[place[-1] if name == "scale" else place] for name, values in found.items()})


def around(values: Floats, rows: int) -> Floats:
    """Largest in some rows before and behind; NaN counts as nothing."""
    return np.asarray(maximum_filter1d(np.nan_to_num(np.abs(values)), 2 * rows + 1, axis=0, mode="nearest"))


def orders(first: Floats, second: Floats) -> Floats:
    """Observed orders; NaN where none is seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(first / second)
    order = np.where((order >= LEAST) & (order <= MOST), order, np.nan)
    for known in ORDERS:
        order = np.where(np.abs(order - known) <= NEAR, known, order)
    return np.asarray(order)


def estimate(
    run: Floats, others: Sequence[Floats], scale: Floats, rows: Floats | None = None, window: int = 0
) -> Estimate:
    """Of numbers (k, c) of a run.

    others  of its companions, NaN where they have none: residuals near zero with dt, dt/2, dt/4, and twice the bars;
            that with which the last one is compared
    window  rows on either side of one that show its order
    """
    tight, half, quarter, fine, beside = others
    residual = RESIDUAL * np.abs(run - tight)
    tight = np.where(np.isfinite(tight), tight, run)
    beside = np.where(np.isfinite(beside), beside, tight)
    d1, d2 = tight - half, half - quarter
    wide = around(d1, window), around(d2, window)
    order = orders(*wide)
    seen = np.isfinite(order)
    factor = 1.0 / (2.0 ** np.where(seen, np.minimum(order, ORDERS[-1]), 1.0) - 1.0)
    x1, x2 = half - factor * d1, quarter - factor * d2
    apart = around(x2 - x1, window)
    with np.errstate(divide="ignore", invalid="ignore"):
        rough = np.where(apart > 0.0, np.minimum(apart / (factor * wide[0]), 1.0), 0.0)
    error = np.where(seen, tight - x2, tight - quarter)
    own = np.where(seen, (SAFE + ROUGH * rough) * apart, UNSEEN * np.maximum(*wide))
    alone = ~np.isfinite(d2) & np.isfinite(d1)  # no quarter
    error, own = np.where(alone, d1 * 4.0 / 3.0, error), np.where(alone, UNSEEN * wide[0], own)
    if window:  # all runs begin with one state
        own[0] = np.where((d1[0] == 0.0) & (d2[0] == 0.0), 0.0, own[0])
    known = np.isfinite(d1)
    return Estimate(
        error=np.where(known, error, np.nan),
        own=np.where(known, own, np.nan),
        dt=np.where(known, np.abs(error) + own, np.nan),
        mesh=MESH * np.abs(fine - beside),
        residual=residual,
        rows=np.zeros_like(run) if rows is None else rows,
        order=np.where(seen & known, order, np.nan),
        scale=scale,
    )
