"""Newmark's method in displacement form, as Code_Aster's DYNA_NON_LINE runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fem.solve.schemes.coefficients import Coefficients


@dataclass(frozen=True, slots=True)
class Newmark:
    """Newmark's family; beta = 1/4, gamma = 1/2 is the trapezoidal rule.

    v1 = gamma/(beta dt) (u1 - u) + (1 - gamma/beta) v + (1 - gamma/(2 beta)) dt a
    a1 = (u1 - u)/(beta dt^2) - v/(beta dt) + (1 - 1/(2 beta)) a
    M a1 + f_int(u1, v1) + C v1 = f_ext(t1)

    Source: Newmark, J. Eng. Mech. Div. ASCE 85 (1959) 67-94.
    """

    beta: float = 0.25
    gamma: float = 0.5
    secant: ClassVar[bool] = False

    @property
    def order(self) -> int:
        """2 for gamma = 1/2, else 1."""
        return 2 if self.gamma == 0.5 else 1

    def coefficients(self) -> Coefficients:
        """Its numbers."""
        beta, gamma = self.beta, self.gamma
        return Coefficients(
            vu=gamma / beta, vv=1 - gamma / beta, va=1 - gamma / (2 * beta),
            au=1 / beta, av=-1 / beta, aa=1 - 1 / (2 * beta),
            wm=1.0, wf=1.0, wc=1.0, momentum=1 / beta, viscous=1.0,
        )  # fmt: skip
