"""How hard water resists when its waves move it fastest: what increments of EXPLICIT have to be short for.

Below the highest place of a bar, raised by the amplitudes of all waves, but not above the still level, the water moves
by its waves no faster than (``model/surroundings``)

    W = sum of a omega cosh k(z+h)/sinh kh

in any direction, whatever the phases are. Beside a current U, whose own drag is left as it is, drag then grows with the
speed of a bar, across and along it, by no more than

    2 k_n W,   h k_t ((U + W)^(h-1) - U^(h-1))  (1 < h < 2: h k_t W^(h-1)),   or the steepest part of a drag
    law (in place of its own)

for |U + w| <= |U| + W. Bars that waves wet and lay bare have U in W. These are dampers, whatever the waves do just now:
an increment that is short enough stays so.
"""

from __future__ import annotations

import numpy as np

from fem.arrays import Floats
from fem.forces.fluid.curves import with_zero
from fem.forces.fluid.immersed import (
    ALONG,
    BAR,
    COUNT,
    EXPONENT,
    LAW,
    LIFT,
    MEDIUM,
    MOST_CURRENT,
    MOST_WAVES,
    NORMAL,
    SECOND,
    Fluid,
)
from fem.forces.fluid.stream import STILL_WATER, WATER
from fem.forces.fluid.waves import AMPLITUDE, NUMBER, SPEED, Sea


def stiffest(own: Fluid, place: Floats, u: Floats, dt: float) -> Fluid:
    """With the dampers that water in its waves may become; place, u (3n,)."""
    resists = (own.rows[:, MEDIUM] == WATER) & np.any(own.numbers[:, [NORMAL, ALONG]], axis=1)
    if not len(own.asked) or not resists.any():
        return own
    rows, numbers = own.rows[resists].copy(), own.numbers[resists].copy()
    heights = (place + u).reshape(-1, 3)[own.ends, own.sea.up] - own.sea.level
    current = np.sqrt((own.streams.profile[:, 1:] ** 2).sum(axis=1)).max() * numbers[:, MOST_CURRENT]
    fastest = orbital(own.sea, heights)[rows[:, BAR]] * numbers[:, MOST_WAVES]
    emerges = heights.max(axis=1) >= -own.sea.trains[AMPLITUDE].sum()
    fastest += np.where((fastest > 0.0) & emerges[rows[:, BAR]], current, 0.0)
    h = numbers[:, EXPONENT]
    is_concave = (h > 1.0) & (h < 2.0)
    since = np.where(is_concave, 0.0, current)
    numbers[:, ALONG] *= h * ((since + fastest) ** (h - 1.0) - since ** (h - 1.0))
    numbers[:, NORMAL] *= 2.0 * fastest
    calm, given = own.rows.copy(), own.numbers.copy()
    calm[resists, SECOND] = len(own.curves.spans)
    for r in np.flatnonzero((rows[:, COUNT] > 0) & (fastest > 0.0)):
        law = own.laws[rows[r, LAW] : rows[r, LAW] + rows[r, COUNT]]
        slopes = np.diff(law[:, 1]) / np.diff(law[:, 0])
        whole = np.flatnonzero(resists)[r]
        numbers[r, NORMAL] = given[whole, NORMAL] * slopes[law[:-1, 0] <= current[r] + fastest[r]].max()
        given[whole, NORMAL] = 0.0
    numbers[:, EXPONENT], numbers[:, LIFT] = 1.0, 0.0
    rows[:, MEDIUM], rows[:, COUNT] = STILL_WATER, 0
    return own._replace(
        rows=np.concatenate([calm, rows]), numbers=np.concatenate([given, numbers]), curves=with_zero(own.curves)
    )


def orbital(sea: Sea, heights: Floats) -> Floats:
    """(q,) W of bars whose ends are at heights (q, 2) above the still level; 0 where no wave comes to them."""
    rise, k = sea.trains[AMPLITUDE].sum(), sea.trains[NUMBER]
    z = np.clip(heights.max(axis=1) + rise, -sea.depth, 0.0)[:, None]
    speeds: Floats = (np.exp(k * z) + np.exp(-k * (z + 2.0 * sea.depth))) @ sea.trains[SPEED]
    return np.where(heights.min(axis=1) <= rise, speeds, 0.0)
