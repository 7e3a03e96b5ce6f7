"""A body that slides to rest where friction comes to its full over a slip: in closed form."""

from __future__ import annotations

import numpy as np


def slid(speed: float, slowing: float, slip: float, time: float) -> tuple[float, float]:
    """Way at a time after it has stopped, and the part of its kinetic energy that it has again then.

    ``slowing`` = mu g while it slides, its anchor one slip behind. It stops at v^2/(2 mu g); the anchor stays,
    and pulls it back with mu g over the slip: x'' = - mu g/slip (x - anchor), a swing of one slip to either side.
    """
    rate, since = np.sqrt(slowing / slip), time - speed / slowing
    anchor = speed**2 / (2.0 * slowing) - slip
    return float(anchor + slip * np.cos(rate * since)), float((slip * rate * np.sin(rate * since) / speed) ** 2)
