"""A line as a chain of bars, what tension makes of them, and a shape in which it is at rest.

All happens in the vertical plane of the two ends: x from the first one to the last, z up, the first node at (0, 0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats

TINY = 1e-12
"""Force over weight that is none."""
MOST_TURNS = 200
MOST_LOG = float(np.exp(-1.0))
"""Largest tension over E A with LOG strain, ln(s)/s at s = e."""


class LineError(Exception):
    """There is no such line; the text says why."""


class Line(NamedTuple):
    """n bars from the first node to the last.

    length     (n,)    natural length of each bar
    stiffness  (n,)    E A; infinite where a bar keeps its length
    weight     (n+1,)  of the nodes, downwards (negative: buoyant)
    is_green, is_log  (n,)  strain measure of each bar; neither: T = E A (l - L0)/L0
    """

    length: Floats
    stiffness: Floats
    weight: Floats
    is_green: Flags
    is_log: Flags

    @property
    def scale(self) -> float:
        """A force: all weights, whatever their sign."""
        return float(np.abs(self.weight).sum())


class Shape(NamedTuple):
    """A line at rest.

    vectors  (n, 2)  of the bars, from the first node to the last
    tension  (n,)    0 in bars that are slack
    load     (n+1,)  part of the weight of each node that lies on the bottom
    slack    natural length of the bars that are slack
    """

    vectors: Floats
    tension: Floats
    load: Floats
    slack: float = 0.0

    @property
    def places(self) -> Floats:
        """(n+1, 2) nodes."""
        return np.concatenate([np.zeros((1, 2)), np.cumsum(self.vectors, axis=0)])

    def pull(self, line: Line, end: int) -> float:
        """Force that holds the first (0) or the last (-1) node, the weight of that node included."""
        tension, vector = self.tension[end], self.vectors[end]
        force = tension * vector / max(np.hypot(*vector), np.finfo(float).tiny)
        force[1] += (line.weight[end] - self.load[end]) * (1.0 if end else -1.0)
        return float(np.hypot(*force))


def reversed_line(line: Line) -> Line:
    """The same from the last node to the first."""
    return Line(line.length[::-1], line.stiffness[::-1], line.weight[::-1], line.is_green[::-1], line.is_log[::-1])


def chords(line: Line, tension: Floats, bars: slice = slice(None)) -> Floats:
    """Length under tension of some of the bars."""
    length, is_green, is_log = line.length[bars], line.is_green[bars], line.is_log[bars]
    load = tension / line.stiffness[bars]
    stretch = 1.0 + load
    if is_green.any():
        stretch = np.where(is_green, green_stretch(load), stretch)
    if is_log.any():
        stretch = np.where(is_log, log_stretch(load), stretch)
    return np.asarray(length * stretch)


def green_stretch(load: Floats) -> Floats:
    """s of (s^2 - 1) s/2 = T/EA by Newton's method, from above, where it cannot overshoot."""
    s = 1.0 + np.minimum(load, np.cbrt(2.0 * load))
    for _ in range(MOST_TURNS):
        new = s - (s**3 - s - 2.0 * load) / (3.0 * s**2 - 1.0)
        if not (new < s).any():
            break
        s = np.minimum(new, s)
    return s


def log_stretch(load: Floats) -> Floats:
    """s of ln(s)/s = T/EA, from below; beyond its largest value a line that goes on."""
    inside, s = np.minimum(load, MOST_LOG), np.ones_like(load)
    for _ in range(MOST_TURNS):
        slope = 1.0 / s - inside
        new = s + np.where(slope > 1e-9, (inside * s - np.log(s)) / np.maximum(slope, 1e-9), 0.0)
        if not (new > s).any():
            break
        s = np.clip(new, s, np.e)
    return np.where(load > inside, np.e**2 * load, s)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign between two arguments, to the last digits. LineError: it does not."""
    from scipy.optimize import brentq

    at_low, at_high = function(low), function(high)
    if at_low == 0.0 or at_high == 0.0:
        return low if at_low == 0.0 else high
    if not at_low * at_high < 0.0:
        raise LineError("no equilibrium was found")
    try:
        nothing = 1e-15 * TINY * max(abs(low), abs(high))  # forces that all but cancel have digits of their own
        return float(brentq(function, low, high, xtol=nothing, rtol=1e-15, maxiter=500))
    except ValueError:  # a function that is not a number somewhere
        raise LineError("no equilibrium was found: its numbers are too far apart to reckon with") from None
