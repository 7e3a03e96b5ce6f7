"""Lines that hang between two ends and touch nothing else.

Bar k carries the force (H, V_k), V_{k+1} = V_k + weight of the node between, and has the vector l(T_k) (H, V_k)/T_k.
For given H the height of the last node grows with V_1, and then, that being right, its distance with H (both are
gradients of a convex function, the complementary energy, whatever the signs of the weights): two root finders, one
inside the other, that need no guess and cannot fail.
"""

from __future__ import annotations

import math

import numpy as np

from fem.lines.line import MOST_LOG, MOST_TURNS, TINY, Line, LineError, Shape, chords, root

LARGEST = 1e100


def hang(line: Line, span: float, rise: float) -> Shape:
    """The line from (0, 0) to (span, rise), span >= 0. LineError: it has no weight, or does not reach so far."""
    chord, longest = math.hypot(span, rise), float(line.length.sum())
    if not line.scale > 0.0:
        raise LineError("the line has no weight")
    if not max(line.scale, chord, longest) < LARGEST:
        raise LineError("a length or a weight is too large to compute with")
    if np.isinf(line.stiffness).all() and not longest > chord:
        raise LineError(f"its natural length {longest:.9g} does not reach over the distance {chord:.9g} of its ends")
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
            raise LineError("no equilibrium was found: it would need an endless tension")
    shape = chain.shape(root(lambda log_h: chain.reach(log_h) - span, low, high))
    if (shape.tension[line.is_log] > MOST_LOG * line.stiffness[line.is_log]).any():
        raise LineError("no equilibrium was found: logarithmic strain would stretch it more than e times")
    return shape


class _Chain:
    """The chain for one pair of ends; unknown is the logarithm of the horizontal force."""

    def __init__(self, line: Line, span: float, rise: float) -> None:
        self.line, self.span, self.rise = line, span, rise
        self.below = np.concatenate([[0.0], np.cumsum(line.weight[1:-1])])

    def shape(self, log_h: float) -> Shape:
        """With the height of the last node right."""
        h, first = math.exp(log_h), self._first(math.exp(log_h))
        force = np.column_stack([np.full(len(self.below), h), first + self.below])
        tension = np.hypot(h, force[:, 1])
        vectors = (chords(self.line, tension) / tension)[:, None] * force
        return Shape(vectors, tension, np.zeros(len(self.line.weight)))

    def reach(self, log_h: float) -> float:
        """How far the last node is from the first, its height being right."""
        return float(self.shape(log_h).vectors[:, 0].sum())

    def _height(self, h: float, first: float) -> float:
        up = first + self.below
        tension = np.hypot(h, up)
        with np.errstate(all="ignore"):  # ``root`` looks for what is not a number
            return float((chords(self.line, tension) / tension * up).sum())

    def _first(self, h: float) -> float:
        """V of the first bar."""
        size = h + self.line.scale
        for _ in range(MOST_TURNS):
            if self._height(h, -size) <= self.rise <= self._height(h, size):
                return root(lambda first: self._height(h, first) - self.rise, -size, size)
            size *= 4.0
        raise LineError("no equilibrium was found: it would need an endless tension")

    def folded(self, log_h: float) -> Shape:
        """No horizontal force: two vertical legs, and a bar between them that is slack, where one has to be."""
        least = self.shape(log_h)
        lowest = int(least.tension.argmin())
        up = self.below - self.below[lowest]
        tension = np.abs(up)
        vectors = np.column_stack([np.zeros(len(up)), chords(self.line, tension) * np.sign(up)])
        vectors[lowest] = self.span, self.rise - vectors[np.arange(len(up)) != lowest, 1].sum()
        if np.hypot(*vectors[lowest]) >= self.line.length[lowest]:
            return least
        return Shape(vectors, tension, least.load, float(self.line.length[lowest]))
