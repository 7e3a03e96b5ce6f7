"""A line as a chain of bars, and its equilibrium shape between two ends without contact.

Coordinates in the vertical plane of the two ends: x from the first one to the last, z up, the first node at (0, 0).
Bar k carries the force (H, V_k), V_{k+1} = V_k + weight of the node between, and has the vector l(T_k) (H, V_k)/T_k.
For given H the height of the last node grows with V_1, and then, that being right, its distance with H (both are
gradients of a convex function, the complementary energy, whatever the signs of the weights): two root finders, one
inside the other, that need no guess and cannot fail.

The natural length of a hanging line, or of a piece of it, from a given tension or sag.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fem.arrays import Flags, Floats

TINY = 1e-12
"""Force over weight that counts as zero."""
MOST_TURNS = 200
MOST_LOG = float(np.exp(-1.0))
"""Largest tension over E A with LOG strain, ln(s)/s at s = e."""


class LineError(Exception):
    """There is no such line; the message gives the reason."""


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
        """Sum of the magnitudes of all weights: the scale of forces."""
        return float(np.abs(self.weight).sum())


class Shape(NamedTuple):
    """A line at rest.

    vectors  (n, 2)  of the bars, from the first node to the last
    tension  (n,)    0 in bars that are slack
    load     (n+1,)  part of the weight of each node that the bottom carries
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
        """Force that holds the first (0) or the last (-1) node, with the weight of that node."""
        tension, vector = self.tension[end], self.vectors[end]
        force = tension * vector / max(np.hypot(*vector), np.finfo(float).tiny)
        force[1] += (line.weight[end] - self.load[end]) * (1.0 if end else -1.0)
        return float(np.hypot(*force))


def reversed_line(line: Line) -> Line:
    """The line in the opposite direction."""
    return Line(line.length[::-1], line.stiffness[::-1], line.weight[::-1], line.is_green[::-1], line.is_log[::-1])


def chords(line: Line, tension: Floats, bars: slice = slice(None)) -> Floats:
    """Lengths under tension of some of the bars."""
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
    """s of ln(s)/s = T/EA, from below; beyond its largest value it continues linearly."""
    inside, s = np.minimum(load, MOST_LOG), np.ones_like(load)
    for _ in range(MOST_TURNS):
        slope = 1.0 / s - inside
        new = s + np.where(slope > 1e-9, (inside * s - np.log(s)) / np.maximum(slope, 1e-9), 0.0)
        if not (new > s).any():
            break
        s = np.clip(new, s, np.e)
    return np.where(load > inside, np.e**2 * load, s)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Argument between ``low`` and ``high`` where a function is zero, to the last digits. LineError: none."""
    from scipy.optimize import brentq

    at_low, at_high = function(low), function(high)
    if at_low == 0.0 or at_high == 0.0:
        return low if at_low == 0.0 else high
    if not at_low * at_high < 0.0:
        raise LineError("no equilibrium was found")
    try:
        nothing = 1e-15 * TINY * max(abs(low), abs(high))  # forces that nearly cancel still have significant digits
        return float(brentq(function, low, high, xtol=nothing, rtol=1e-15, maxiter=500))
    except ValueError:  # the function is NaN somewhere
        raise LineError("no equilibrium was found: its numbers differ too much in size") from None


LARGEST = 1e100


def hang(line: Line, span: float, rise: float) -> Shape:
    """The line from (0, 0) to (span, rise), span >= 0. LineError: it has no weight, or does not reach so far."""
    chord, longest = math.hypot(span, rise), float(line.length.sum())
    if not line.scale > 0.0:
        raise LineError("the line has no weight")
    if not max(line.scale, chord, longest) < LARGEST:
        raise LineError("a length or a weight is out of range")
    if np.isinf(line.stiffness).all() and not longest > chord:
        raise LineError(f"its natural length {longest:.9g} is shorter than the distance {chord:.9g} of its ends")
    chain = _Chain(line, span, rise)
    low = math.log(TINY * line.scale)
    if chain.reach(low) >= span:
        return chain.folded(low)
    high, step = math.log(line.scale), 2.0
    for _ in range(MOST_TURNS):
        if chain.reach(high) > span:
            break
        high, step = high + step, 2.0 * step
        if high > 600.0:
            raise LineError("no equilibrium was found: it would need an infinite tension")
    shape = chain.shape(root(lambda log_h: chain.reach(log_h) - span, low, high))
    if (shape.tension[line.is_log] > MOST_LOG * line.stiffness[line.is_log]).any():
        raise LineError("no equilibrium was found: with logarithmic strain it would stretch more than e times")
    return shape


class _Chain:
    """The chain for one pair of ends; unknown is the logarithm of the horizontal force."""

    def __init__(self, line: Line, span: float, rise: float) -> None:
        self.line, self.span, self.rise = line, span, rise
        self.below = np.concatenate([[0.0], np.cumsum(line.weight[1:-1])])

    def shape(self, log_h: float) -> Shape:
        """The shape with the correct height of the last node."""
        h, first = math.exp(log_h), self._first(math.exp(log_h))
        force = np.column_stack([np.full(len(self.below), h), first + self.below])
        tension = np.hypot(h, force[:, 1])
        vectors = (chords(self.line, tension) / tension)[:, None] * force
        return Shape(vectors, tension, np.zeros(len(self.line.weight)))

    def reach(self, log_h: float) -> float:
        """Horizontal distance of the last node from the first, with its correct height."""
        return float(self.shape(log_h).vectors[:, 0].sum())

    def _height(self, h: float, first: float) -> float:
        up = first + self.below
        tension = np.hypot(h, up)
        with np.errstate(all="ignore"):  # ``root`` detects NaN
            return float((chords(self.line, tension) / tension * up).sum())

    def _first(self, h: float) -> float:
        """Vertical force in the first bar."""
        size = h + self.line.scale
        for _ in range(MOST_TURNS):
            if self._height(h, -size) <= self.rise <= self._height(h, size):
                return root(lambda first: self._height(h, first) - self.rise, -size, size)
            size *= 4.0
        raise LineError("no equilibrium was found: it would need an infinite tension")

    def folded(self, log_h: float) -> Shape:
        """Shape without horizontal force: two vertical legs, and if necessary a slack bar between them."""
        least = self.shape(log_h)
        lowest = int(least.tension.argmin())
        up = self.below - self.below[lowest]
        tension = np.abs(up)
        vectors = np.column_stack([np.zeros(len(up)), chords(self.line, tension) * np.sign(up)])
        vectors[lowest] = self.span, self.rise - vectors[np.arange(len(up)) != lowest, 1].sum()
        if np.hypot(*vectors[lowest]) >= self.line.length[lowest]:
            return least
        return Shape(vectors, tension, least.load, float(self.line.length[lowest]))


MOST_HALVINGS, MOST_DOUBLINGS = 40, 60


def horizontal_tension(line: Line, shape: Shape) -> float:
    """Horizontal tension, equal in all bars, as only weights act between the ends."""
    return float(shape.tension[-1] * shape.vectors[-1, 0] / np.hypot(*shape.vectors[-1]))


def sag(line: Line, shape: Shape) -> float:
    """Vertical distance from the chord of the ends to the line, at half the distance of the ends."""
    x, z = shape.places.T
    return abs(float(0.5 * z[-1] - np.interp(0.5 * x[-1], x, z)))


MEASURES: dict[str, Callable[[Line, Shape], float]] = {"TENSION": lambda line, shape: shape.pull(line, -1)}
MEASURES |= {"HORIZONTAL TENSION": horizontal_tension, "SAG": sag}


def natural_length(
    laid: Callable[[float], tuple[Line, Shape]], others: float, span: float, rise: float, measure: str, value: float
) -> float:
    """The length with which a measure of the line ``laid`` has the value; if there are two, the shorter one.
    others  natural length of all other pieces
    LineError: there is none; the message states the smallest or the largest value."""

    def excess(length: float) -> float:
        """Positive where the line is too short."""
        off = MEASURES[measure](*laid(length)) - value
        return -off if measure == "SAG" else off

    if span == 0.0 and measure != "TENSION":
        raise LineError(f"{measure} has no meaning if one end is vertically above the other")
    chord = math.hypot(span, rise)
    short = _short_enough(excess, max(chord - others, 1e-3 * chord) * (1.0 + 1e-9), value)
    before, at_before, step = short, excess(short), 1e-4 * chord
    for _ in range(MOST_DOUBLINGS):
        long = short + step
        now = excess(long)
        if now <= 0.0:
            return root(excess, before, long)
        if now > at_before:
            return root(excess, short, _least(excess, short, long, value))
        before, at_before, step = long, now, 2.0 * step
    raise LineError("no natural length was found")


def _short_enough(excess: Callable[[float], float], length: float, value: float) -> float:
    """A length below the wanted one, for bisection."""
    try:
        for _ in range(MOST_HALVINGS):
            if excess(length) >= 0.0:
                return length
            length *= 0.5
    except LineError:  # bars of constant length do not reach the other end any more
        pass
    raise LineError(f"no natural length gives {value:g}, however short")


def _least(excess: Callable[[float], float], short: float, long: float, value: float) -> float:
    """The length with the smallest tension, between two; LineError if that is too large."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(excess, bounds=(short, long), method="bounded", options={"xatol": 1e-9 * long})
    if found.fun > 0.0:
        least = f"the least is {value + found.fun:.6g}"
        raise LineError(f"a tension of {value:g} at its last node is not possible: {least}")
    return float(found.x)
