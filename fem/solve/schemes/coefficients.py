"""The numbers of a time scheme, all that the march knows of it."""

from __future__ import annotations

from typing import NamedTuple


class Coefficients(NamedTuple):
    """With u the unknown at the end of an increment (index 1) and values without index at its start:

        v1 = vu (u1 - u)/dt + vv v + va dt a,    a1 = au (u1 - u)/dt^2 + av v/dt + aa a
        wm M a1 + (1 - wm) M a + wf f1 + (1 - wf) f + C (wc v1 + (1 - wc) v) = wc f_ext1 + (1 - wc) f_ext

    momentum       |M v|/dt in the forces that residuals are compared with
    viscous        1 where forces follow velocities, 0 in statics
    secant         f1 is the force of the increment (a discrete gradient between u and u1)
    late           fraction of the end in the mean of the forces that take energy from the motion
    onset          du1/dv1 over dt where forces are those of the end of the increment, else 0
    projects       velocities and accelerations of rods are projected
    lags           accelerations of the recursion belong to another instant than the end of the increment
    takes          the energy of linear motion is not kept: what the scheme takes of it is booked
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
    is_explicit  nothing is solved: the march is that of ``solve/explicit``
    """

    coefficients: Coefficients
    order: int = 2
    is_explicit: bool = False

    @property
    def secant(self) -> bool:
        """Forces are those of the whole increment (discrete gradient), not of its end."""
        return self.coefficients.secant


def keeps_energy(row: Coefficients) -> bool:
    """Whether an increment keeps the energy of a linear oscillator, here (u^2 + v^2)/2 with omega dt = 1.

    Three motions tell all that a quadratic form has.
    """
    part = 0.5 if row.secant else row.wf
    for u, v in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
        rest = row.wm * (row.au * u - row.av * v + row.aa * u) + (1.0 - row.wm) * u - (1.0 - part) * u
        u1 = rest / (row.wm * row.au + part)
        v1 = row.vu * (u1 - u) + row.vv * v - row.va * u
        if abs(u1 * u1 + v1 * v1 - u * u - v * v) > 1e-12:
            return False
    return True
