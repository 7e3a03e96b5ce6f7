"""How fast water and wind flow at a height, and which part of a bar is in each of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from fem.arrays import Floats
from fem.compiled import inner_kernel

WATER, WIND, INERTIA, STILL_WATER = 0, 1, 2, 3
"""What acts: a stream of water, of wind, the acceleration of the water, or water at rest, wherever the bar is, that
resists in proportion to speed: what bounds increments of EXPLICIT."""


class Streams(NamedTuple):
    """Of a model: the axis that is up and the still level;
    profile (z, 4) elevation and velocity of the current, elevation rising, at least one row;
    along, across (3,) speed of the wind at the reference height, as two vectors; that height and the power of the law
    """

    up: int
    level: float
    profile: Floats
    along: Floats
    across: Floats
    reference: float
    power: float


@inner_kernel
def velocity(
    medium: int, z: float, first: float, second: float, streams: Streams
) -> tuple[float, float, float, float, float, float]:
    """Velocity at height z, and its derivative by z.

    first, second  amplitudes; of the current the first counts (the second is that of waves)
    """
    if medium == WIND:
        height, factor, slope = (z - streams.level) / streams.reference, 1.0, 0.0
        if streams.power != 0.0:
            factor = height**streams.power if height > 0.0 else 0.0
            slope = streams.power * factor / (z - streams.level) if height > 0.0 else 0.0
        x = first * streams.along[0] + second * streams.across[0]
        y = first * streams.along[1] + second * streams.across[1]
        w = first * streams.along[2] + second * streams.across[2]
        return factor * x, factor * y, factor * w, slope * x, slope * y, slope * w
    profile, k, last = streams.profile, 0, streams.profile.shape[0] - 1
    while k < last and profile[k + 1, 0] < z:
        k += 1
    if k == last or z <= profile[0, 0]:
        return first * profile[k, 1], first * profile[k, 2], first * profile[k, 3], 0.0, 0.0, 0.0
    inverse = 1.0 / (profile[k + 1, 0] - profile[k, 0])
    share = (z - profile[k, 0]) * inverse
    x, dx = profile[k, 1], profile[k + 1, 1] - profile[k, 1]
    y, dy = profile[k, 2], profile[k + 1, 2] - profile[k, 2]
    w, dw = profile[k, 3], profile[k + 1, 3] - profile[k, 3]
    x, y, w, steep = first * (x + share * dx), first * (y + share * dy), first * (w + share * dw), first * inverse
    return x, y, w, steep * dx, steep * dy, steep * dw


def flows(model: Any) -> bool:
    """A deck asks for forces of water or wind somewhere."""
    return bool(model.reach.flows)


@inner_kernel
def wetted(medium: int, zi: float, zj: float, level: float) -> tuple[float, float, float]:
    """The part [q0, q1] of the way from i to j that is in the medium, and how it moves.

    The last: 0, all or nothing of it; 1, q1 is at the surface; -1, q0 is.
    """
    starts, ends = zi <= level, zj <= level
    if medium == STILL_WATER:
        return 0.0, 1.0, 0.0
    if medium == WIND:
        starts, ends = zi >= level, zj >= level
    if starts and ends:
        return 0.0, 1.0, 0.0
    if not (starts or ends):
        return 0.0, 0.0, 0.0
    share = (level - zi) / (zj - zi)
    return (0.0, share, 1.0) if starts else (share, 1.0, -1.0)
