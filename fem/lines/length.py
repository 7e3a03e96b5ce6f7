"""The natural length of a hanging line, or of a piece of it, from what it should do: pull, or sag."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fem.lines.line import Line, LineError, Shape, root

MOST_HALVINGS, MOST_DOUBLINGS = 40, 60


def end_tension(line: Line, shape: Shape) -> float:
    """Of the force at the last node."""
    return shape.pull(line, -1)


def horizontal_tension(line: Line, shape: Shape) -> float:
    """Of all bars: nothing but weights acts between the ends."""
    return float(shape.tension[-1] * shape.vectors[-1, 0] / np.hypot(*shape.vectors[-1]))


def sag(line: Line, shape: Shape) -> float:
    """From the chord of the ends to the line, straight down (or up) at half the distance of the ends."""
    x, z = shape.places.T
    return abs(float(0.5 * z[-1] - np.interp(0.5 * x[-1], x, z)))


MEASURES = {"TENSION": end_tension, "HORIZONTAL TENSION": horizontal_tension, "SAG": sag}


def natural_length(
    laid: Callable[[float], tuple[Line, Shape]], others: float, span: float, rise: float, measure: str, value: float
) -> float:
    """The length with which ``laid`` gives a line at rest of which a measure has a value; of two the shorter one.

    others  natural length of all other pieces
    LineError: no length does it; it says what the least or the largest value is.
    """

    def excess(length: float) -> float:
        """Positive where the line is too short."""
        off = MEASURES[measure](*laid(length)) - value
        return -off if measure == "SAG" else off

    if span == 0.0 and measure != "TENSION":
        raise LineError(f"{measure} has no meaning where one end lies straight above the other")
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
    """A length that is no longer than what is looked for."""
    try:
        for _ in range(MOST_HALVINGS):
            if excess(length) >= 0.0:
                return length
            length *= 0.5
    except LineError:  # bars that keep their length do not reach over any more
        pass
    raise LineError(f"no natural length gives {value:g}, however short")


def _least(excess: Callable[[float], float], short: float, long: float, value: float) -> float:
    """The length of the least tension, between two; LineError where that is too large."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(excess, bounds=(short, long), method="bounded", options={"xatol": 1e-9 * long})
    if found.fun > 0.0:
        least = f"the least is {value + found.fun:.6g}"
        raise LineError(f"a tension of {value:g} at its last node is not possible: {least}")
    return float(found.x)
