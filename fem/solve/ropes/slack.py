"""Ropes at the end of an increment: whether one that is taut should go slack, or one that is slack has become taut."""

from __future__ import annotations

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces.bars.bar import BASE, BASE_CONSTANT, INV_LENGTH, PLUS, REF, Bars, sense
from fem.forces.bars.laws import RIGID
from fem.forces.bars.strain import LINEAR
from fem.solve.newton.groups import Ropes

AWAY = 1e-13
"""Strain by which a slack rope is shorter than its length beyond doubt."""


@inner_kernel
def gap_of(e: int, u: Floats, bars: Bars) -> float:
    """g = (l^2 - L0^2)/2 of bar e at displacement u (a stop: - g), to first order where it is geometrically linear."""
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    first = BASE if bars.kinds[e, 0] == LINEAR else REF
    gap: float = 0.0 if bars.kinds[e, 0] == LINEAR else bars.constants[BASE_CONSTANT, e]
    square: float = 0.0
    for c in range(3):
        w = u[j + c] - u[i + c]
        gap += bars.constants[first + c, e] * w
        square += w * w
    if bars.kinds[e, 0] == LINEAR:
        gap += bars.constants[BASE_CONSTANT, e] / bars.constants[INV_LENGTH, e] ** 2
    else:
        gap += 0.5 * square
    return sense(bars.constants[PLUS, e]) * gap


@kernel
def gaps(index: Ints, bars: Bars, u: Floats, gap: Floats) -> None:
    """Gaps at u of the bars ``index`` (r,), all taken as slack ropes: (r,) out."""
    for r in range(index.shape[0]):
        gap[r] = gap_of(index[r], u, bars)


@kernel
def excesses(ropes: Ropes, bars: Bars, u: Floats, multiplier: Floats, excess: Floats) -> None:
    """How far ropes are beyond their state: minus the multiplier of a taut one, the gap of a slack one, (r,) out."""
    for r in range(ropes.bars.shape[0]):
        e = ropes.bars[r]
        excess[r] = -multiplier[e] if bars.kinds[e, 1] == RIGID else gap_of(e, u, bars)


@called_kernel
def changes(ropes: Ropes, bars: Bars, u: Floats, multiplier: Floats) -> bool:
    """A taut rope would push, or a slack one is too long; notes those that moved away from their length."""
    found = False
    for r in range(ropes.bars.shape[0]):
        e = ropes.bars[r]
        if bars.kinds[e, 1] == RIGID:
            found = found or multiplier[e] < 0.0
        else:
            gap = gap_of(e, u, bars)
            found = found or gap > ropes.allowance[r]
    if not found:
        for r in range(ropes.bars.shape[0]):
            e = ropes.bars[r]
            length = 1.0 / bars.constants[INV_LENGTH, e]
            if bars.kinds[e, 1] != RIGID and gap_of(e, u, bars) < -AWAY * length * length:
                ropes.allowance[r] = 0.0
    return found
