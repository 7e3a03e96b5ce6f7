"""States in which single forces are asked."""

from __future__ import annotations

import numpy as np

from fem.forces.protocol import Tangent, Trial


def trial(u1, *, u0=None, v1=None, secant=False, weight=1.0, rate=0.0, onset=0.0, thermal=0.0, bars=1) -> Trial:
    """The trial state u1 (3n,), from u0 (u1 itself), with velocity v1 (none); ``thermal`` of all bars."""
    rest = np.zeros_like(u1)
    before, speed = (u1.copy() if u0 is None else u0), (rest if v1 is None else v1)
    return Trial(
        secant, weight, rate, 0.0, onset, 0.0, 0.0, 0.0, before, speed, rest, u1, speed, rest, np.full(bars, thermal),
        np.zeros(bars), rest, rest[:0], rest[:0], np.zeros(1),
    )  # fmt: skip


def no_tangent(nodes: int, pairs: int = 0) -> Tangent:
    """Room for what is not a bar's."""
    none = np.zeros((0, 2), np.int64)
    return Tangent(
        none,
        np.zeros((10, 0)),
        np.zeros(0),
        np.zeros((nodes, 9)),
        np.zeros((pairs, 2), np.int64),
        np.zeros((pairs, 18)),
    )
