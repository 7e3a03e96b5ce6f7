"""Statics as a row of the same march: no inertia, no damping, no velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """f_int(u1) = f_ext(t1); v = a = 0."""

    secant: ClassVar[bool] = False
    order: ClassVar[int] = 1

    def coefficients(self) -> tuple[float, ...]:
        """The row ``march`` understands: VU VV VA, AU AV AA, WM WF WC, MOMENTUM, VISCOUS."""
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
