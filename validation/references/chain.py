"""Equal straight bars hung between two supports at the same level, weights lumped at the nodes: shooting.

The force in bar k is (H, V_k) with V_(k+1) = V_k + W_node, so one unknown H fixes every bar: its stretch follows from
the bar law (``axial_bar``), its direction from the force, and sum of bar vectors = span gives H. No stiffness matrix,
no Newton iteration over nodes: nothing in common with a finite-element solution but the law and the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from validation.references.axial_bar import stretch

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chain:
    """positions (n+1, 2): x from the left support, z upwards; tension (n,): force along each bar [N]."""

    positions: Array
    tension: Array
    horizontal_force: float

    @property
    def sag(self) -> float:
        """Drop of the lowest node."""
        return float(-self.positions[:, 1].min())


def hang(
    bars: int,
    span: float,
    length0: float,
    weight: float,
    axial_stiffness: float,
    measure: str,
    free_strain: float = 0.0,
) -> Chain:
    """Equilibrium of ``bars`` equal bars of total unstressed length ``length0`` and total weight ``weight``.

    The bracket starts at H = 1e-9 of the weight: chains longer than their span, or elastic ones of any length.
    """
    h0, node_weight = length0 / bars, weight / bars
    vertical = node_weight * (np.arange(bars) - (bars - 1) / 2)  # symmetric: the supports share the weight

    def vectors(h: float) -> Array:
        tension = np.hypot(h, vertical)
        lengths = np.array([h0 * stretch(measure, t / axial_stiffness, free_strain) for t in tension])
        return lengths[:, None] * np.column_stack((np.full(bars, h), vertical)) / tension[:, None]

    def miss(log_h: float) -> float:
        return float(vectors(np.exp(log_h))[:, 0].sum() / span - 1)

    high = weight * 1e-9
    while miss(np.log(high)) < 0:
        high *= 2
    h = float(np.exp(brentq(miss, np.log(high / 2), np.log(high), xtol=1e-15, rtol=4 * np.finfo(float).eps)))
    positions = np.vstack((np.zeros(2), np.cumsum(vectors(h), axis=0)))
    return Chain(positions, np.hypot(h, vertical), h)
