"""Statics as a row of the same march: no inertia, no damping, no velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fem.solve.schemes.coefficients import Coefficients


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """f_int(u1) = f_ext(t1); v = a = 0."""

    secant: ClassVar[bool] = False
    order: ClassVar[int] = 1

    def coefficients(self) -> Coefficients:
        """Its numbers."""
        return Coefficients(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, wm=0.0, wf=1.0, wc=1.0, momentum=0.0, viscous=0.0)
