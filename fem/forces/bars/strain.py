"""Strain measures of a bar as functions of its Green strain E = (l^2 - L0^2) / (2 L0^2).

Every measure e(E) comes as a *secant* between two states, e0 = e(E0), e1 = e(E1), slope = (e1 - e0)/(E1 - E0) and
d slope/dE1, written so that E1 = E0 needs no special case: then slope = e'(E) and d slope/dE1 = e''(E)/2.

=============  ==================  =====================  =========================================
measure        e(E)                slope                  d slope / dE1          (s = l/L0 = sqrt(1 + 2 E))
=============  ==================  =====================  =========================================
GREEN          E                   1                      0
ENGINEERING    s - 1               2/(s0 + s1)            -2/((s0 + s1)^2 s1)
LOG            ln s                phi(y)/(1 + 2 E0)      2 phi'(y)/(1 + 2 E0)^2
=============  ==================  =====================  =========================================

with y = 2 (E1 - E0)/(1 + 2 E0), phi(y) = ln(1 + y)/y. LINEAR serves geometrically linear steps: E is
d_b.w/L0^2 with the base vector d_b, and e = base_constant + base_slope E.
Source: Crisfield, Non-linear Finite Element Analysis of Solids and Structures, vol. 1, ch. 3; the secant form is
Gonzalez' discrete gradient (J. Nonlinear Sci. 6, 1996) composed by the chain rule.
"""

from __future__ import annotations

import math

from fem.compiled import inner_kernel, kernel
from fem.lanes.choose import every, where

GREEN, ENGINEERING, LOG, LINEAR = 0, 1, 2, 3
MEASURES = {"GREEN": GREEN, "ENGINEERING": ENGINEERING, "LOG": LOG}


@inner_kernel
def log_ratio(y: float) -> tuple[float, float]:
    """phi = ln(1 + y)/y and its derivative, by series where the quotient would lose digits."""
    phi = 1.0 - y * (1.0 / 2 - y * (1.0 / 3 - y * (1.0 / 4 - y * (1.0 / 5 - y / 6))))
    slope = -1.0 / 2 + y * (2.0 / 3 - y * (3.0 / 4 - y * (4.0 / 5 - y * 5.0 / 6)))
    is_small = abs(y) < 1e-3
    if every(is_small):
        return phi, slope
    quotient = math.log1p(y) / y
    return where(is_small, phi, quotient), where(is_small, slope, (1.0 / (1.0 + y) - quotient) / y)


@kernel
def measure(
    kind: int, green0: float, green1: float, base_constant: float, base_slope: float
) -> tuple[float, float, float, float, float]:
    """Strain at both states, e'(E1), secant slope de/dE and its derivative with respect to E1.

    A bar crushed through its own length (1 + 2 E <= 0 can only come from round-off) gives NaN, which the Newton
    loop reports as not finite.
    """
    if kind == ENGINEERING:
        s0 = math.sqrt(1.0 + 2.0 * green0)
        s1 = math.sqrt(1.0 + 2.0 * green1)
        slope1 = 1.0 / s1
        slope = 2.0 / (s0 + s1)
        return (
            2.0 * green0 / (1.0 + s0),
            2.0 * green1 / (1.0 + s1),
            slope1,
            slope,
            -0.5 * slope * slope * slope1,
        )
    if kind == LOG:
        stretch0 = 1.0 + 2.0 * green0
        phi, phi_slope = log_ratio(2.0 * (green1 - green0) / stretch0)
        return (
            0.5 * math.log1p(2.0 * green0),
            0.5 * math.log1p(2.0 * green1),
            1.0 / (1.0 + 2.0 * green1),
            phi / stretch0,
            2.0 * phi_slope / (stretch0 * stretch0),
        )
    if kind == LINEAR:
        return (
            base_constant + base_slope * green0,
            base_constant + base_slope * green1,
            base_slope,
            base_slope,
            0.0,
        )
    return green0, green1, 1.0, 1.0, 0.0
