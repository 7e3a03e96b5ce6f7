"""The numbers of the pendulum form: presets, where the joints are, what a dragged joint means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST_LINKS = 20
MOST_INCREMENTS = 1_000_000
QUANTITIES = ("length", "mass", "angle", "speed")
ROUNDING = 0.5
"""Degrees to which a dragged link is turned."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Numbers of the form; a single number stands for all links. body: as in ``fem pendulum``, without stiffness."""

    links: int
    length: tuple[float, ...] = (1.0,)
    mass: tuple[float, ...] = (1.0,)
    angle: tuple[float, ...] = (30.0,)
    speed: tuple[float, ...] = (0.0,)
    body: str = "bar"
    time: float = 10.0
    dt: float = 1e-3

    def column(self, quantity: str) -> list[str]:
        """Texts of a quantity, one for each link."""
        given: tuple[float, ...] = getattr(self, quantity)
        return [f"{value:g}" for value in (given * self.links if len(given) == 1 else given)]


PRESETS = {
    "Five links": Preset(5),
    "Double pendulum": Preset(2, angle=(130.0, 0.0), body="point"),
    "Chain of 20": Preset(20, (0.1,), (0.05,), (60.0, *19 * (0.0,)), dt=5e-4, time=5.0),
    "SDNL100": Preset(1, (0.5,), (1.0,), (90.0,), body="point", time=1.6744, dt=0.04186),
}
"""Five equal links of 1 m and 1 kg, each turned from the one before, are the demonstration of the N-link program of two
students of mechanics. SDNL100's bar, with its mass in the middle, swings as a point mass on half its length."""


def directions(angles: Sequence[float], is_absolute: bool) -> list[float]:
    """Of the links from the downward vertical, counter-clockwise [degrees]."""
    found: list[float] = []
    for angle in angles:
        found.append(angle if is_absolute or not found else found[-1] + angle)
    return found


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
