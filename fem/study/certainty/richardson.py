"""Errors of numbers from the same number in three runs, each with half the increment of the one before (Richardson).

With y of the runs, d1 = y1 - y2 and d2 = y2 - y3, the order is p = log2 |d1/d2|, and what both pairs extrapolate to

    x1 = y2 - d1/(2^p - 1),   x2 = y3 - d2/(2^p - 1)

tells how far x2 can be trusted: where the error is C dt^p + D dt^q, x2 is |x1 - x2|/(2^q - 1) from the truth. The error
of a run, which is one of the three, is its y less x2, with that as its own uncertainty. Numbers over time cross each
other where no error is small: orders and uncertainties are those of the largest differences in some rows around.
Source: Roache, Verification and Validation in Computational Science and Engineering, 1998, ch. 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from fem.arrays import Floats

LEAST, MOST = 0.7, 4.5
"""Orders that count as seen."""
ORDERS = (1.0, 2.0)
"""Of schemes: an order near one of them is that."""
NEAR = 0.35
SAFE, ROUGH, UNSEEN, ALONE = 0.5, 1.0, 2.0, 3.0
"""Uncertainty over the distance of two extrapolations: of smooth errors, and what rough ones add; over the last
difference where no order is seen; over the only one where two runs are known."""
MESH = 2.0
"""Error of a mesh over its distance from one with twice the bars, the largest in some rows around: 4/3 at second order,
2 at first, as where a load at a node acts at once."""
RESIDUAL = 2.0
"""Error of a residual over its effect with two or four times the increment, the largest in some rows around."""
MARGIN = 1.15
ROUND_OFF = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Errors of numbers (k, c), each a number per row and column; NaN: unknown.

    error     value minus truth as far as dt goes, and
    own       the uncertainty of that
    dt, mesh, residual, rows   contributions to the bar; rows: what the extreme of the motion is beyond the rows, and
              what is on the other side of an impact
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
        total = sum(np.fmax(part, 0.0) for part in (self.dt, self.mesh, self.residual, self.rows))
        return np.asarray(MARGIN * total + ROUND_OFF * self.scale)

    def at(self, *place: int) -> Estimate:
        """That of one number, or of one row."""
        found: Any = {each.name: getattr(self, each.name) for each in fields(self)}
        return Estimate(**{name: values[place[-1] if name == "scale" else place] for name, values in found.items()})


def around(values: Floats, rows: int) -> Floats:
    """Largest in some rows before and behind; NaN counts as nothing."""
    most = np.pad(np.fmax(np.abs(values), 0.0), ((rows, rows), (0, 0)))
    width = 1  # of the windows that begin at each row
    while width < 2 * rows + 1:
        step = min(width, 2 * rows + 1 - width)
        most, width = np.maximum(most[:-step], most[step:]), width + step
    return most


def largest(values: Floats, rows: int) -> Floats:
    """``around``, where there is a value."""
    return np.where(np.isnan(values), np.nan, around(values, rows))


def orders(first: Floats, second: Floats) -> Floats:
    """Observed orders; NaN where none is seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.log2(first / second)
    order = np.where((order >= LEAST) & (order <= MOST), order, np.nan)
    for known in ORDERS:
        order = np.where(np.abs(order - known) <= NEAR, known, order)
    return np.asarray(order)


def estimate(
    run: Floats,
    three: Sequence[Floats | None],
    mesh: Floats | None,
    residual: Floats | None,
    scale: Floats,
    rows: Floats | None = None,
    window: int = 0,
) -> Estimate:
    """Of numbers (k, c) of a run; None: there is no such other run.

    three     those of three runs, each with half the increment of the one before; the run is the second or third of
              them. NaN where one has none
    mesh      differences from twice the bars;  residual: from smaller residuals
    window    rows on either side of one that show its order
    """
    none = np.full_like(run, np.nan)
    error, own, order = none, none, none
    if three[1] is not None:
        first, second, third = (none if each is None else each for each in three)
        error, own, order = of_increments(run, first, second, third, window)
    return Estimate(
        error=error,
        own=own,
        dt=np.abs(error) + own,
        mesh=none if mesh is None else MESH * largest(mesh, window),
        residual=none if residual is None else RESIDUAL * largest(residual, window),
        rows=np.zeros_like(run) if rows is None else rows,
        order=order,
        scale=scale,
    )


def of_increments(
    run: Floats, first: Floats, second: Floats, third: Floats, window: int
) -> tuple[Floats, Floats, Floats]:
    """Error, uncertainty of that, and order of numbers (k, c) of a run, from those of three runs."""
    d1, d2 = first - second, second - third
    wide = around(d1, window), around(d2, window)
    order = orders(*wide)
    seen = np.isfinite(order)
    factor = 1.0 / (2.0 ** np.where(seen, np.minimum(order, ORDERS[-1]), 1.0) - 1.0)
    x1, x2 = second - factor * d1, third - factor * d2
    apart = around(x2 - x1, window)
    with np.errstate(divide="ignore", invalid="ignore"):
        rough = np.where(apart > 0.0, np.minimum(apart / (factor * wide[0]), 1.0), 0.0)
    error = np.where(seen, run - x2, run - third)
    own = np.where(seen, (SAFE + ROUGH * rough) * apart, UNSEEN * wide[1])
    known = np.isfinite(d1), np.isfinite(d2)
    for is_alone, last, d, its in ((~known[0], third, d2, wide[1]), (~known[1], second, d1, wide[0])):
        if is_alone.any():
            error, own = np.where(is_alone, run - last + d / 3.0, error), np.where(is_alone, ALONE * its, own)
    if window:  # all runs begin with one state
        own[0] = np.where((np.nan_to_num(d1[0]) == 0.0) & (np.nan_to_num(d2[0]) == 0.0), 0.0, own[0])
    some, both = known[0] | known[1], known[0] & known[1]
    return np.where(some, error, np.nan), np.where(some, own, np.nan), np.where(seen & both, order, np.nan)
