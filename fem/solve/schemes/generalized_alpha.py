"""Chung and Hulbert's generalized alpha: least damping of slow motion for a given one of fast motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fem.solve.schemes.coefficients import Coefficients
from fem.solve.schemes.newmark import Newmark


@dataclass(frozen=True, slots=True)
class GeneralizedAlpha:
    """Second order, unconditionally stable in linear problems; ``rho``: spectral radius at infinite frequency.

    am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1)
    Newmark's v1, a1 with beta = (1 - am + af)^2/4, gamma = 1/2 - am + af
    M ((1 - am) a1 + am a) + (1 - af) (f_int + C v - f_ext)(t1) + af (f_int + C v - f_ext)(t) = 0

    The forces are averaged, not taken at an averaged displacement.
    Source: Chung & Hulbert, J. Appl. Mech. 60 (1993) 371-375.
    """

    rho: float = 0.8
    secant: ClassVar[bool] = False
    order: ClassVar[int] = 2

    def coefficients(self) -> Coefficients:
        """Its numbers."""
        am, af = (2 * self.rho - 1) / (self.rho + 1), self.rho / (self.rho + 1)
        newmark = Newmark((1 - am + af) ** 2 / 4, 0.5 - am + af).coefficients()
        return newmark._replace(wm=1 - am, wf=1 - af, wc=1 - af)
