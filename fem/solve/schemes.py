"""Time schemes as rows of coefficients. The march knows them only by these; they know neither loops nor bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fem.model import Dynamic


class Coefficients(NamedTuple):
    """With u the unknown at the end of an increment (index 1) and values without index at its start:

        v1 = vu (u1 - u)/dt + vv v + va dt a,    a1 = au (u1 - u)/dt^2 + av v/dt + aa a
        wm M a1 + (1 - wm) M a + wf f1 + (1 - wf) f + C (wc v1 + (1 - wc) v) = wc f_ext1 + (1 - wc) f_ext

    momentum       |M v|/dt in the forces that residuals are compared with
    viscous        1 where forces follow velocities, 0 in statics
    secant         f1 is the force of the increment (a discrete gradient between u and u1)
    late           weight of the end of an increment in the mean of dissipative forces
    onset          du1/dv1 over dt where forces are those of the end of the increment, else 0
    projects       velocities and accelerations of rods are projected
    lags           accelerations of the recursion belong to another instant than the end of the increment
    takes          numerical damping: the energy that the scheme removes from linear motion is recorded
    extrapolation  0: the first guess is u; 1: along v; 2: along v and a
    """

    vu: float
    vv: float
    va: float
    au: float
    av: float
    aa: float
    wm: float
    wf: float
    wc: float
    momentum: float
    viscous: float
    secant: bool = False
    late: float = 0.5
    onset: float = 0.0
    projects: bool = False
    lags: bool = False
    takes: bool = False
    extrapolation: int = 0


class Scheme(NamedTuple):
    """A time scheme.

    order        of the displacement error in dt
    is_explicit  no equations are solved: the march is that of ``solve/explicit``
    march        (stage) -> Marcher: a special march, if coefficients do not define the scheme completely
    damps        the special march has numerical damping
    """

    coefficients: Coefficients
    order: int = 2
    is_explicit: bool = False
    march: Callable[[Any], Any] | None = None
    damps: bool = False

    @property
    def is_recursion(self) -> bool:
        """Whether the coefficients define the scheme completely. Only then can it be used with the march of Newton's
        method, lanes, tangent maps, automatic increments and events of ropes."""
        return self.march is None and not self.is_explicit

    @property
    def secant(self) -> bool:
        """Whether forces are those of the whole increment (discrete gradient), not those at its end."""
        return self.coefficients.secant


def equilibrium() -> Scheme:
    """Statics as a row of the same march: f_int(u1) = f_ext(t1); v = a = 0."""
    return Scheme(
        Coefficients(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, wm=0.0, wf=1.0, wc=1.0, momentum=0.0, viscous=0.0), order=1
    )


def newmark(beta: float, gamma: float) -> Scheme:
    """Newmark's family in displacement form, as Code_Aster's DYNA_NON_LINE runs it.

    beta = 1/4, gamma = 1/2 is the trapezoidal rule; gamma = 1/2 alone is of second order.

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


def backward_euler() -> Scheme:
    """Implicit Euler: first order, damps strongly; for finding rest positions rather than motions.
    v1 = (u1 - u)/dt,  a1 = (v1 - v)/dt,  M a1 + f_int(u1, v1) + C v1 = f_ext(t1).
    Source: Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.3."""
    row = Coefficients(1.0, 0.0, 0.0, 1.0, -1.0, 0.0, wm=1.0, wf=1.0, wc=1.0, momentum=1.0, viscous=1.0, late=1.0)
    return Scheme(row, order=1)


def energy_momentum() -> Scheme:
    """Midpoint rule with the discrete gradient of the stored energy as internal force.

    Energy and momenta of the discrete motion balance to round-off, whatever the increment.

    (v + v1)/2 = (u1 - u)/dt,  a1 = (v1 - v)/dt, the mean acceleration of the increment
    M a1 + f_dg(u, u1) + C (v + v1)/2 = (f_ext(t) + f_ext(t1))/2
    f_dg . (u1 - u) = W(u1) - W(u); viscous stresses and dashpots follow the mean rate of strain of the increment

    Accelerations and reactions therefore belong to the increment (to its middle, to second order), u and v to its end;
    those of rods are projected for the tables (``solve/newton/project.py``).
    Sources: Simo & Tarnow, Z. angew. Math. Phys. 43 (1992) 757-792; Gonzalez, J. Nonlinear Sci. 6 (1996) 449-467.
    """
    row = Coefficients(2.0, -1.0, 0.0, 2.0, -2.0, 0.0, wm=1.0, wf=1.0, wc=0.5, momentum=2.0, viscous=0.5, secant=True)
    return Scheme(row)


def central_difference() -> Scheme:
    """Central differences (leapfrog) with lumped mass M, written with all quantities at the ends of the increments.

    u1 = u + dt v + dt^2/2 a
    (M + dt/2 C) a1 = f_ext(t1) - f_int(u1, v + dt a) - C (v + dt/2 a)
    v1 = v + dt/2 (a + a1)

    v is the mean of the velocities in the middle of both increments. Mass-proportional damping C acts on v1 itself and
    leaves the critical increment alone; material damping and dashpots act on the extrapolated v + dt a, which keeps
    order 2. The motion is stable while 4 M - dt^2 (K + 4/dt C') is positive, C' the viscous stiffness of bars and
    springs: for one mode dt <= 2/omega (sqrt(1 + 4 xi^2) - 2 xi).

    Source: Hughes, The Finite Element Method, 9.1; Belytschko, Liu & Moran, Nonlinear Finite Elements, 6.2; the limit
    with damping is where the amplification matrix of this variant has the eigenvalue -1. vu = 4 is the 4/dt of it.
    """
    row = Coefficients(4.0, 0.0, 0.0, 4.0, 0.0, 0.0, wm=1.0, wf=1.0, wc=1.0, momentum=0.0, viscous=1.0)
    return Scheme(row, is_explicit=True)


SCHEMES: dict[str, Callable[[Dynamic], Scheme]] = {
    "NEWMARK": lambda procedure: newmark(procedure.beta, procedure.gamma),
    "HHT": lambda procedure: hht(procedure.alpha),
    "GENERALIZED ALPHA": lambda procedure: generalized_alpha(procedure.rho),
    "BACKWARD EULER": lambda procedure: backward_euler(),
    "ENERGY MOMENTUM": lambda procedure: energy_momentum(),
    "CENTRAL DIFFERENCE": lambda procedure: central_difference(),
}
"""Name in the deck -> scheme of a ``*DYNAMIC`` step."""


def keeps_energy(row: Coefficients) -> bool:
    """Whether an increment keeps the energy of a linear oscillator, here (u^2 + v^2)/2 with omega dt = 1.
    Three motions determine a quadratic form."""
    part = 0.5 if row.secant else row.wf
    for u, v in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
        rest = row.wm * (row.au * u - row.av * v + row.aa * u) + (1.0 - row.wm) * u - (1.0 - part) * u
        u1 = rest / (row.wm * row.au + part)
        v1 = row.vu * (u1 - u) + row.vv * v - row.va * u
        if abs(u1 * u1 + v1 * v1 - u * u - v * v) > 1e-12:
            return False
    return True
