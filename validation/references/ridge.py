"""An inextensible chain at rest on a frictionless bottom with a ridge, its lower end held far away on the level bottom.

The bottom z(x) is 0, rises with the slope m from c - b to the crest at c, falls to c + b, and is 0 again; the crest is
rounded over delta to both sides by a parabola that continues both slopes. Of a chain of weight w per length

    T - w z

is the same everywhere, hanging or on the bottom, so T = H + w z, where H is the tension on the level bottom. At each
foot of the ridge it bridges the corner by a catenary that leaves the level bottom and meets the slope, a = arctan m:

    length H m/w,  height H (1/cos a - 1)/w,  width (H/w) asinh m

and at the upper end it leaves the level bottom by s^2 = Z^2 + 2 Z H/w, x = (H/w) asinh(w s/H).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.integrate import quad
from scipy.optimize import brentq


class Ridge(NamedTuple):
    """middle c, half width b, slope m, rounding delta;  width, height of the upper end, from the lower one at 0."""

    middle: float
    half: float
    slope: float
    rounding: float
    width: float
    height: float


class Rest(NamedTuple):
    """level: tension H on the level bottom;  touchdown: x where the chain leaves it for the upper end;  crest: tension
    there;  top: tension at the upper end."""

    level: float
    touchdown: float
    crest: float
    top: float


def length_of(ridge: Ridge, weight: float, level: float) -> float:
    """Length of the chain with this tension on the level bottom."""
    m, a = ridge.slope, level / weight
    angle = math.atan(m)
    bridge, gained, wide = a * m, a * (1.0 / math.cos(angle) - 1.0), a * math.asinh(m)
    on_slope = ridge.half - ridge.rounding - gained / m
    before = wide - gained / m  # of the corner, where the chain leaves the level bottom
    rounded = quad(lambda s: math.sqrt(1.0 + (m * s / ridge.rounding) ** 2), -ridge.rounding, ridge.rounding)[0]
    rising = math.sqrt(ridge.height**2 + 2.0 * ridge.height * a)
    lying = ridge.width - 2.0 * (ridge.half + before) - a * math.asinh(rising / a)
    return lying + 2.0 * (bridge + on_slope / math.cos(angle)) + rounded + rising


def rest(ridge: Ridge, weight: float, length: float) -> Rest:
    most = 1e3 * weight * ridge.height
    level = brentq(lambda h: length_of(ridge, weight, h) - length, 1e-3 * weight, most, xtol=1e-12)
    a = level / weight
    rising = math.sqrt(ridge.height**2 + 2.0 * ridge.height * a)
    crest = ridge.slope * (ridge.half - 0.5 * ridge.rounding)
    return Rest(level, ridge.width - a * math.asinh(rising / a), level + weight * crest, level + weight * ridge.height)
