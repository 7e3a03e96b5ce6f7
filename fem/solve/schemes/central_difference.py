"""Central differences (leapfrog), the explicit scheme."""

from __future__ import annotations

from fem.solve.schemes.coefficients import Coefficients, Scheme


def central_difference() -> Scheme:
    """Central differences with lumped mass M, written with all quantities at the ends of the increments.

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
