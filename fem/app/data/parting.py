"""How fast two runs part that begin nearly alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fem.app.data.panels import Group, Panel, points
from fem.app.data.scene import motion_of
from fem.arrays import Floats
from fem.pictures.folder import Missing, Results

DISTANCE = "Distance"
LARGE = 0.1
"""Fraction of the largest distance at which two motions no longer part evenly."""


@dataclass(frozen=True, slots=True, eq=False)
class Parting:
    """time (k,), distance (k,): root of the sum of squares over all nodes; rate of its growth until it is large."""

    time: Floats
    distance: Floats
    rate: float

    def said(self, time: str, length: str) -> str:
        """In words, with the symbols of units."""
        first, last = self.distance[0], self.distance.max()
        unit = f" {length}" if length else ""
        text = f"apart by {first:.3g}{unit} at the start, by {last:.3g}{unit} at most"
        if not math.isfinite(self.rate) or self.rate <= 0.0:
            return f"{text}: they did not part"
        return f"{text}; ten times as far every {math.log(10.0) / self.rate:.3g} {time}".rstrip()


def parting_of(one: Results, other: Results) -> Parting:
    """Of two runs of one model. Missing: they have no instants in common."""
    first, second = motion_of(one)[0], motion_of(other)[0]
    _, here, there = np.intersect1d(first.time, second.time, return_indices=True)
    if len(here) < 3 or one.mesh.coordinates.shape != other.mesh.coordinates.shape:
        raise Missing("the two runs have too few instants in common")
    x = one.mesh.coordinates + first.values["U"][here]
    y = other.mesh.coordinates + second.values["U"][there]
    distance = np.sqrt(np.square(x - y).sum(axis=(1, 2)))
    time = first.time[here]
    return Parting(time, distance, growth(time, distance))


def growth(time: Floats, distance: Floats) -> float:
    """Rate of the exponential that goes from the first distance to where it is first large; NaN: it never is."""
    large = np.flatnonzero(distance >= LARGE * distance.max())
    if not len(large) or distance[0] <= 0.0 or time[large[0]] <= time[0]:
        return math.nan
    return float(np.log(distance[large[0]] / distance[0]) / (time[large[0]] - time[0]))


def distances(found: Parting, length: str) -> Group:
    """The chart."""
    shown = np.where(found.distance > 0.0, found.distance, np.nan)
    curve = ("distance", points(found.time, shown))
    return Group(DISTANCE, (Panel("distance of the two runs", length, (curve,), is_log=True),))
