"""Newmark's method in displacement form, as Code_Aster's DYNA_NON_LINE runs it, and what averages its forces."""

from __future__ import annotations

from fem.solve.schemes.coefficients import Coefficients, Scheme


def newmark(beta: float, gamma: float) -> Scheme:
    """Newmark's family; beta = 1/4, gamma = 1/2 is the trapezoidal rule; gamma = 1/2 alone is of second order.

    v1 = gamma/(beta dt) (u1 - u) + (1 - gamma/beta) v + (1 - gamma/(2 beta)) dt a
    a1 = (u1 - u)/(beta dt^2) - v/(beta dt) + (1 - 1/(2 beta)) a
    M a1 + f_int(u1, v1) + C v1 = f_ext(t1)

    Source: Newmark, J. Eng. Mech. Div. ASCE 85 (1959) 67-94.
    """
    vu, vv, va = gamma / beta, 1 - gamma / beta, 1 - gamma / (2 * beta)
    au, av, aa = 1 / beta, -1 / beta, 1 - 1 / (2 * beta)
    row = Coefficients(vu, vv, va, au, av, aa, wm=1.0, wf=1.0, wc=1.0, momentum=1 / beta, viscous=1.0)
    return Scheme(row, order=2 if gamma == 0.5 else 1)


def hht(alpha: float) -> Scheme:
    """The alpha method of Hilber, Hughes and Taylor: Newmark with the forces of both ends of the increment.

    Second order, unconditionally stable in linear problems for -1/2 <= alpha <= 0; damps what dt does not resolve, most
    at alpha = -1/3: 1/2 of it is left per increment, -alpha/(1 + alpha) below that.

    Newmark's v1, a1 with beta = (1 - alpha)^2/4, gamma = 1/2 - alpha
    M a1 + (1 + alpha) (f_int + C v - f_ext)(t1) - alpha (f_int + C v - f_ext)(t) = 0

    Source: Hilber, Hughes & Taylor, Earthquake Eng. Struct. Dyn. 5 (1977) 283-292.
    """
    row = newmark((1 - alpha) ** 2 / 4, 0.5 - alpha).coefficients
    return Scheme(row._replace(wf=1 + alpha, wc=1 + alpha))


def generalized_alpha(rho: float) -> Scheme:
    """Chung and Hulbert's generalized alpha: least damping of slow motion for a given one of fast motion.

    Second order, unconditionally stable in linear problems; ``rho``: spectral radius at infinite frequency.

    am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1)
    Newmark's v1, a1 with beta = (1 - am + af)^2/4, gamma = 1/2 - am + af
    M ((1 - am) a1 + am a) + (1 - af) (f_int + C v - f_ext)(t1) + af (f_int + C v - f_ext)(t) = 0

    The forces are averaged, not taken at an averaged displacement.
    Source: Chung & Hulbert, J. Appl. Mech. 60 (1993) 371-375.
    """
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    row = newmark((1 - am + af) ** 2 / 4, 0.5 - am + af).coefficients
    return Scheme(row._replace(wm=1 - am, wf=1 - af, wc=1 - af))
