"""The energy-momentum rule: energy and momenta of the discrete motion balance to round-off, whatever the increment."""

from __future__ import annotations

from fem.solve.schemes.coefficients import Coefficients, Scheme


def energy_momentum() -> Scheme:
    """Midpoint rule with the discrete gradient of the stored energy as internal force.

    (v + v1)/2 = (u1 - u)/dt,  a1 = (v1 - v)/dt, the mean acceleration of the increment
    M a1 + f_dg(u, u1) + C (v + v1)/2 = (f_ext(t) + f_ext(t1))/2
    f_dg . (u1 - u) = W(u1) - W(u); viscous stresses and dashpots follow the mean rate of strain of the increment

    Accelerations and reactions therefore belong to the increment (to its middle, to second order), u and v to its end;
    those of rods are projected for the tables (``newton/project.py``).
    Sources: Simo & Tarnow, Z. angew. Math. Phys. 43 (1992) 757-792; Gonzalez, J. Nonlinear Sci. 6 (1996) 449-467.
    """
    row = Coefficients(2.0, -1.0, 0.0, 2.0, -2.0, 0.0, wm=1.0, wf=1.0, wc=0.5, momentum=2.0, viscous=0.5, secant=True)
    return Scheme(row)
