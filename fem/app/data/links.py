"""The numbers of the pendulum form: presets, where the joints are, what a dragged joint means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from fem.tools.pendulums import Pendulum

MOST_LINKS = 20
MOST_INCREMENTS = 1_000_000
ROUNDING = 0.5
"""Degrees to which a dragged link is turned."""


PRESETS = {
    "Five links": Pendulum(5 * (1.0,), 5 * (1.0,), 5 * (30.0,), 5 * (0.0,)),
    "Double pendulum": Pendulum((1.0, 1.0), (1.0, 1.0), (130.0, 0.0), (0.0, 0.0), body="point"),
    "Chain of 20": Pendulum(20 * (0.1,), 20 * (0.05,), (60.0, *19 * (0.0,)), 20 * (0.0,), time=5.0, dt=5e-4),
    "SDNL100": Pendulum((0.5,), (1.0,), (90.0,), (0.0,), body="point", time=1.6744, dt=0.04186),
}
"""Five equal links of 1 m and 1 kg, each turned from the one before, are the demonstration of the N-link program of two
students of mechanics. SDNL100's bar, with its mass in the middle, swings as a point mass on half its length."""


def directions(angles: Sequence[float], is_absolute: bool) -> list[float]:
    """Of the links from the downward vertical, counter-clockwise [degrees]."""
    return list(angles if is_absolute else accumulate(angles))


def joints_of(lengths: Sequence[float], angles: Sequence[float], is_absolute: bool) -> list[tuple[float, float]]:
    """(x, z) of the fixed joint and the lower ends of the links, z up."""
    places = [(0.0, 0.0)]
    for length, angle in zip(lengths, directions(angles, is_absolute), strict=True):
        x, z = places[-1]
        places.append((x + length * math.sin(math.radians(angle)), z - length * math.cos(math.radians(angle))))
    return places


def nearest_joint(places: Sequence[tuple[float, float]], x: float, z: float, reach: float) -> int | None:
    """Which moving joint is within reach of a point; the outer one where two are."""
    distances = [math.hypot(x - a, z - b) for a, b in places]
    close = [joint for joint in range(1, len(places)) if distances[joint] <= reach]
    return min(close, key=lambda joint: (distances[joint], -joint)) if close else None


def dragged(
    lengths: Sequence[float], angles: Sequence[float], is_absolute: bool, joint: int, x: float, z: float
) -> float:
    """The angle of the link above a joint, as the form has it, when the joint is pulled towards a point."""
    a, b = joints_of(lengths, angles, is_absolute)[joint - 1]
    angle = math.degrees(math.atan2(x - a, b - z))
    before = 0.0 if is_absolute or joint == 1 else directions(angles, is_absolute)[joint - 2]
    turned = (angle - before + 180.0) % 360.0 - 180.0
    return round(turned / ROUNDING) * ROUNDING
