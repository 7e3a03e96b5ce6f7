"""Implicit Euler: first order, damps strongly; for finding rest positions rather than motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class BackwardEuler:
    """v1 = (u1 - u)/dt,  a1 = (v1 - v)/dt,  M a1 + f_int(u1, v1) + C v1 = f_ext(t1).

    Source: Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.3.
    """

    secant: ClassVar[bool] = False
    order: ClassVar[int] = 1

    def coefficients(self) -> tuple[float, ...]:
        """The row ``march`` understands: VU VV VA, AU AV AA, WM WF WC, MOMENTUM, VISCOUS."""
        return (1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0)
