"""Corners of amplitudes on which increments end, because longer ones would not see what happens between their ends.

A scheme knows loads and supports at the ends of its increments only: a pulse within one is lost, and of a wave with the
length of one nothing is seen. Where the straight line over an increment is too far from the curve, increments end at
the corner and at those beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from fem.arrays import Flags, Floats
from fem.assembly.environment import Environment, curves_of
from fem.model.curves import Amplitude, Curve, Follow, evaluate, points_of_waves

STRAIGHT = 0.05
"""Distance of a curve from the straight line over an increment, as a fraction of its range in the step, up to which
increments need not end at its corners."""

SHARP = 1e-6
"""Corners closer than this fraction of an equal increment to its end are at its end."""


@dataclass(frozen=True, slots=True)
class Corners:
    """Corners of one curve within a step.

    name  of the amplitude;  times (c,) rising, between start and end;  values (c,) there;  allowed: distance from a
    straight line
    """

    name: str
    curve: Curve
    start: float
    end: float
    times: Floats
    values: Floats
    allowed: float
    _marked: dict[int, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    def needed(self, dt: float) -> Floats:
        """Corners on which increments of about dt, at most twice as long, have to end."""
        level = math.frexp(dt)[1]
        if level not in self._marked:
            self._marked[level] = self.times[self._is_needed(math.ldexp(1.0, level))]
        return self._marked[level]

    def unseen(self, dt: float) -> int:
        """How many corners equal increments of dt would have to end on and do not."""
        needed = self.times[self._is_needed(dt)] - self.start
        return int(np.count_nonzero(np.abs(needed - np.rint(needed / dt) * dt) > SHARP * dt))

    def _is_needed(self, dt: float) -> Flags:
        before = np.maximum(self.times - 0.5 * dt, self.start)
        after = np.minimum(self.times + 0.5 * dt, self.end)
        first, last = evaluate(self.curve, before), evaluate(self.curve, after)
        line = first + (last - first) * (self.times - before) / (after - before)
        bends = np.abs(self.values - line) > self.allowed
        is_near = np.diff(self.times) < dt
        found: Flags = bends.copy()
        found[1:] |= bends[:-1] & is_near
        found[:-1] |= bends[1:] & is_near
        return found


def corners_of(environment: Environment, start: float, end: float) -> tuple[Corners, ...]:
    """Corners of all amplitudes that loads, supports and the rest follow in a step."""
    found = (_corners(curve, start, end) for curve in curves_of(environment) if isinstance(curve, Follow))
    return tuple(each for each in found if len(each.times) and each.allowed > 0.0)


def _corners(curve: Follow, start: float, end: float) -> Corners:
    own: Amplitude = curve.amplitude
    times = curve.origin + (own.points[:, 0] if len(own.points) else points_of_waves(own, end - curve.origin))
    times = times[(times > start) & (times < end)]
    values, ends = evaluate(curve, times), evaluate(curve, np.array([start, end]))
    return Corners(own.name, curve, start, end, times, values, STRAIGHT * float(np.ptp([*values, *ends])))


def next_needed(corners: Iterable[Corners], time: float, dt: float) -> float:
    """The first corner after a time on which increments of about dt have to end; infinite for none."""
    found = math.inf
    for each in corners:
        needed = each.needed(dt)
        place = int(needed.searchsorted(time, "right"))
        if place < len(needed):
            found = min(found, float(needed[place]))
    return found


def unseen_notice(corners: Iterable[Corners], dt: float) -> str:
    """Notice of amplitudes that equal increments do not follow; empty if there are none."""
    found = {each.name: count for each in corners if (count := each.unseen(dt))}
    if not found:
        return ""
    names = ", ".join(found)
    return (
        f"increments of {dt:.3g} do not see how {names} changes between their ends: they are too long for it, or end "
        "beside its corners. Pulses are lost there, waves are followed wrongly; shorter ones, whose ends are at the "
        "corners, or automatic ones (without DIRECT) see it"
    )
