"""Changes of ropes in an increment: a taut rope that should go slack, a slack rope that has become taut.

A slack rope may be too long only within the increment: it lengthens at first and shortens in the end. In between its
gap is the cubic through its values and rates at both ends, to fourth order.
"""

from __future__ import annotations

import math

from fem.arrays import Floats, Ints
from fem.compiled import called_kernel, inner_kernel, kernel
from fem.forces.bar import BASE, BASE_CONSTANT, INV_LENGTH, PLUS, REF, Bars, gap_of_legs, leg_of, other_leg, sense
from fem.forces.laws import LEG, LINEAR, RIGID
from fem.forces.protocol import apart, dot
from fem.solve.newton.groups import Ropes

AWAY = 1e-13
"""Strain by which a slack rope is definitely shorter than its length."""


@inner_kernel
def gap_of(e: int, u: Floats, bars: Bars) -> float:
    """g = (l^2 - L0^2)/2 of bar e at displacement u (a stop: - g), to first order where it is geometrically linear;
    of a rope over a pulley L0 (l1 + l2 - L0)."""
    if bars.kinds[e, 0] >= LEG:
        return gap_of_legs(e, u, bars)
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
    """(r,) gaps at u of the bars ``index`` (r,), all treated as slack ropes."""
    for r in range(index.shape[0]):
        gap[r] = gap_of(index[r], u, bars)


@kernel
def excesses(ropes: Ropes, bars: Bars, u: Floats, multiplier: Floats, excess: Floats) -> None:
    """(r,) violation of the ropes' states: minus the multiplier of a taut one, the gap of a slack one."""
    for r in range(ropes.bars.shape[0]):
        e = ropes.bars[r]
        excess[r] = -multiplier[e] if bars.kinds[e, 1] == RIGID else gap_of(e, u, bars)


@inner_kernel
def rate_of_leg(e: int, u: Floats, v: Floats, bars: Bars) -> float:
    """L0 dl/dt of a leg of a rope over a pulley."""
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    leg = leg_of(e, u, bars)
    rate: float = dot(leg.d, apart(i, j, v)) / (leg.length * bars.constants[INV_LENGTH, e])
    return rate


@inner_kernel
def rate_of(e: int, u: Floats, v: Floats, bars: Bars) -> float:
    """dg/dt of bar e."""
    if bars.kinds[e, 0] >= LEG:
        return rate_of_leg(e, u, v, bars) + rate_of_leg(other_leg(e, bars), u, v, bars)
    i, j = 3 * bars.nodes[e, 0], 3 * bars.nodes[e, 1]
    is_linear = bars.kinds[e, 0] == LINEAR
    rate = 0.0
    for c in range(3):
        d: float = bars.constants[BASE + c, e] if is_linear else bars.constants[REF + c, e] + u[j + c] - u[i + c]
        rate += d * (v[j + c] - v[i + c])
    return sense(bars.constants[PLUS, e]) * rate


@inner_kernel
def peak_of(
    e: int, dt: float, u0: Floats, v0: Floats, u1: Floats, v1: Floats, bars: Bars
) -> tuple[float, float]:  # fmt: skip
    """Largest gap of bar e within an increment, and the fraction of it at which it occurs; (-inf, 1): there is none."""
    rise, fall = dt * rate_of(e, u0, v0, bars), dt * rate_of(e, u1, v1, bars)
    if not (rise > 0.0 and fall < 0.0):
        return -math.inf, 1.0
    before, after = gap_of(e, u0, bars), gap_of(e, u1, bars)
    square, linear = 6.0 * (before - after) + 3.0 * (rise + fall), 6.0 * (after - before) - 4.0 * rise - 2.0 * fall
    s = 2.0 * rise / (math.sqrt(linear * linear - 4.0 * square * rise) - linear)
    return before + s * (rise + s * (0.5 * linear + s * square / 3.0)), s


@kernel
def peaks(
    index: Ints, dt: float, u0: Floats, v0: Floats, u1: Floats, v1: Floats, bars: Bars, peak: Floats, part: Floats
) -> None:
    """``peak_of`` the bars ``index`` (r,): (r,) out."""
    for r in range(index.shape[0]):
        peak[r], part[r] = peak_of(index[r], dt, u0, v0, u1, v1, bars)


@called_kernel
def changes(
    ropes: Ropes, bars: Bars, dt: float, u0: Floats, v0: Floats, u1: Floats, v1: Floats, multiplier: Floats
) -> bool:
    """Whether a taut rope would push, or a slack one is or was too long; notes ropes that are now shorter than their
    length."""
    u, found = u1, False
    for r in range(ropes.bars.shape[0]):
        e = ropes.bars[r]
        if bars.kinds[e, 1] == RIGID:
            found = found or multiplier[e] < 0.0
        else:
            gap = max(gap_of(e, u, bars), peak_of(e, dt, u0, v0, u1, v1, bars)[0])
            found = found or gap > ropes.allowance[r]
    if not found:
        for r in range(ropes.bars.shape[0]):
            e = ropes.bars[r]
            length = 1.0 / bars.constants[INV_LENGTH, e]
            if bars.kinds[e, 1] != RIGID and gap_of(e, u, bars) < -AWAY * length * length:
                ropes.allowance[r] = 0.0
    return found
