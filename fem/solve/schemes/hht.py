"""The alpha method of Hilber, Hughes and Taylor: Newmark with the forces of both ends of the increment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fem.solve.schemes.coefficients import Coefficients
from fem.solve.schemes.newmark import Newmark


@dataclass(frozen=True, slots=True)
class HHT:
    """Second order, unconditionally stable in linear problems for -1/2 <= alpha <= 0; damps what dt does not resolve.

    Most at alpha = -1/3: of a motion that dt does not resolve 1/2 is left per increment, -alpha/(1 + alpha) below that.

    Newmark's v1, a1 with beta = (1 - alpha)^2/4, gamma = 1/2 - alpha
    M a1 + (1 + alpha) (f_int + C v - f_ext)(t1) - alpha (f_int + C v - f_ext)(t) = 0

    Source: Hilber, Hughes & Taylor, Earthquake Eng. Struct. Dyn. 5 (1977) 283-292.
    """

    alpha: float = -0.05
    secant: ClassVar[bool] = False
    order: ClassVar[int] = 2

    def coefficients(self) -> Coefficients:
        """Its numbers."""
        alpha = self.alpha
        newmark = Newmark((1 - alpha) ** 2 / 4, 0.5 - alpha).coefficients()
        return newmark._replace(wf=1 + alpha, wc=1 + alpha)
