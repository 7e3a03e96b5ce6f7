"""Depth grids: bottoms of ``*SEABED, FILE=`` with heights at the points of a grid.

Between grid lines x_i, y_j heights are bilinear, z = sum of N_i(x) N_j(y) z_ij with hats N; beyond the grid they are
those of its edge. Each hat is rounded near grid lines, so that the normal is continuous: with s = x - x_i and the
slopes m- and m+ of the two sides, and delta = ``rounded`` times the narrower of the two cells,

    z = z_i + m- (s - p)/2 + m+ (s + p)/2,    p = |s|, but (s^2/delta + delta)/2 where |s| < delta

A plane remains that plane; a crest with slopes +-m is m delta/2 lower.

The depth of a point is g = c (z(x, y) - z), with the cosine c of the slope, interpolated like the heights between its
values at grid points: of a plane the normal distance. g is differentiable, so that the bottom has a potential.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from fem.arrays import Flags, Floats, Ints, frozen


@frozen
class DepthGrid:
    """x (k,), y (l,): grid lines, rising, at least two each;  z (k, l) heights of the bottom;  cosine (k, l) of its
    slope."""

    x: Floats
    y: Floats
    z: Floats
    cosine: Floats
    rounded: ClassVar[float] = 0.1

    @classmethod
    def of(cls, x: Floats, y: Floats, z: Floats) -> DepthGrid:
        rise, across = np.gradient(z, x, y)
        return cls(x, y, np.ascontiguousarray(z), np.ascontiguousarray(1.0 / np.sqrt(1.0 + rise**2 + across**2)))

    def covers(self, places: Floats) -> Flags:
        """(n,) whether points (n, 3) lie above or below it."""
        low, high = np.array([[self.x[0], self.y[0]], [self.x[-1], self.y[-1]]])
        return np.asarray(((low <= places[:, :2]) & (places[:, :2] <= high)).all(axis=1))

    def depth(self, places: Floats) -> tuple[Floats, Floats]:
        """(n,) depths g of points (n, 3), and their gradients (n, 3)."""
        (i, along, slope), (j, across, rise) = _hats(self.x, places[:, 0]), _hats(self.y, places[:, 1])
        z, cosine = (values[i[:, :, None], j[:, None, :]] for values in (self.z, self.cosine))

        def mixed(values: Floats, one: Floats, other: Floats) -> Floats:
            return np.asarray((values * one[:, :, None] * other[:, None, :]).sum(axis=(1, 2)))

        below, c = mixed(z, along, across) - places[:, 2], mixed(cosine, along, across)
        ways = (slope, across), (along, rise)
        gradient = [mixed(cosine, *way) * below + c * mixed(z, *way) for way in ways]
        return c * below, np.column_stack([*gradient, -c])

    def thinned(self, most: int) -> dict[str, list[Any]]:
        """The grid with at most so many lines each way, for a record or a picture."""
        i, j = (np.unique(np.linspace(0, len(lines) - 1, most).round().astype(int)) for lines in (self.x, self.y))
        return {"x": self.x[i].tolist(), "y": self.y[j].tolist(), "z": self.z[np.ix_(i, j)].tolist()}


def _hats(lines: Floats, x: Floats) -> tuple[Ints, Floats, Floats]:
    """(n, 3) the nearest grid line and its neighbours; (n, 3) their weights and derivatives of these."""
    last = len(lines) - 1
    i = np.searchsorted(0.5 * (lines[1:] + lines[:-1]), x, side="left")
    width = np.concatenate([[np.inf], np.diff(lines), [np.inf]])
    before, after, s = width[i], width[i + 1], x - lines[i]
    delta = DepthGrid.rounded * np.minimum(before, after)
    is_near = np.abs(s) < delta
    p = np.where(is_near, 0.5 * (s * s / delta + delta), np.abs(s))
    turn = np.where(is_near, s / delta, np.sign(s))
    left, right = 0.5 * (p - s) / before, 0.5 * (p + s) / after
    down, up = 0.5 * (turn - 1.0) / before, 0.5 * (turn + 1.0) / after
    near = np.stack([np.maximum(i - 1, 0), i, np.minimum(i + 1, last)], axis=1)
    return near, np.stack([left, 1.0 - left - right, right], axis=1), np.stack([down, -down - up, up], axis=1)
