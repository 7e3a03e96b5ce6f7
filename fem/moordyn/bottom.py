"""A file of depths (bathymetry) as a plane, where it is one.

Source: MoorDyn, docs/inputs.rst, Seafloor/Bathymetry File: a grid of points in x and y with a depth at each; beyond the
grid the depth is that of its edge. Two forms: of MoorDyn-C (counts, x, y, then x y z of all points) and of MoorDyn-F
(a title, nGridX, nGridY, x of all columns, then y and the depths of each row).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fem.arrays import Floats
from fem.moordyn.read import Moorings, Row
from fem.moordyn.tables import is_number, numbers_in, rows_of

FLAT = 1e-6
"""Fraction of the largest depth by which points may lie off their plane."""


@dataclass(frozen=True, slots=True)
class Bottom:
    """A plane z = -depth + x ``rise`` + y ``across``; ``mean``: depth of the water, for waves."""

    depth: float
    mean: float
    rise: float = 0.0
    across: float = 0.0

    def parameters(self) -> str:
        """Of ``*SEABED``, where it is not level in the depth of the water."""
        if not (self.rise or self.across):
            return "" if self.depth == self.mean else f", ELEVATION={-self.depth!r}"
        slope = math.degrees(math.atan(math.hypot(self.rise, self.across)))
        uphill = math.degrees(math.atan2(self.across, self.rise))
        return f", ELEVATION={-self.depth!r}, SLOPE={slope!r}, UPHILL={uphill!r}"


def bottom_of(moorings: Moorings) -> Bottom:
    """By WtrDpth (depth), or a file of depths. DeckError: the bottom is no plane, or ends below a point."""
    row = moorings.row("SeafloorFile") or moorings.row("WtrDpth", "depth")
    if row is None or is_number(row.words[0]):
        depth = moorings.option("WtrDpth", "depth", default=0.0)
        deepest = max(depth, *(-end.place[2] for end in moorings.points.values()))
        return Bottom(deepest, deepest)
    found = rows_of(moorings.file.with_name(row.words[0].strip("\"'")), f"{row.words[1]} takes the bottom")
    points = grid(found, row)
    z0, rise, across = np.linalg.lstsq(np.column_stack([np.ones(len(points)), points[:, :2]]), points[:, 2])[0].tolist()
    off = np.abs(points[:, 2] - z0 - points[:, :2] @ [rise, across]).max()
    size = np.abs(points[:, 2]).max()
    if off > FLAT * size:
        hint = "a plane is imported as *SEABED with SLOPE"
        raise row.error(f"the bottom of {row.words[0]} is no plane: points lie up to {off:.4g} off it", 0, hint)
    for end in moorings.points.values():
        beyond = [axis for axis in (0, 1) if not points[:, axis].min() <= end.place[axis] <= points[:, axis].max()]
        if beyond and math.hypot(rise, across) > FLAT:
            raise end.row.error(
                f"point {end.label} lies beyond the grid of {row.words[0]}, where MoorDyn's bottom is level",
                2 + beyond[0],
            )
    is_level = math.hypot(rise, across) * float(np.ptp(points[:, :2], axis=0).max()) <= FLAT * size
    mean = -float(points[:, 2].mean())
    return Bottom(mean, mean) if is_level else Bottom(-z0, mean, rise, across)


def grid(rows: list[Row], asked: Row) -> Floats:
    """(n, 3) places of all points."""
    if len(rows) < 4:
        raise asked.error(f"{rows[0].file if rows else asked.words[0]} holds no grid of depths", 0)
    if is_number(rows[0].words[0]):
        points = np.array([[row.number(at, name) for at, name in enumerate(("x", "y", "z"))] for row in rows[3:]])
        sizes = [row.count(place, "a number of points") for row, place in ((rows[0], 0), (rows[0], 1))]
    else:
        sizes = [rows[at].count(1, "a number of points") for at in (1, 2)]
        x, lines = numbers_in(rows[3], "x of a column"), [numbers_in(row, "a depth") for row in rows[4:]]
        for row, line in zip(rows[4:], lines, strict=True):
            if len(line) != len(x) + 1:
                raise row.error(f"expected y and {len(x)} depths, got {len(line)} numbers")
        points = np.array([(at, line[0], depth) for line in lines for at, depth in zip(x, line[1:], strict=True)])
    if len(points) != sizes[0] * sizes[1] or min(sizes) < 2:
        raise rows[0].error(f"expected {sizes[0]} x {sizes[1]} points, at least 2 x 2, got {len(points)}")
    signs = set(np.sign(points[:, 2][points[:, 2] != 0.0]).tolist())
    if len(signs) > 1:
        raise rows[0].error("some points have depths of the other sign")
    points[:, 2] = -np.abs(points[:, 2])
    return points
