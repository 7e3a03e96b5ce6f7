"""Implicit Euler: first order, damps strongly; for finding rest positions rather than motions."""

from __future__ import annotations

from fem.solve.schemes.coefficients import Coefficients, Scheme


def backward_euler() -> Scheme:
    """v1 = (u1 - u)/dt,  a1 = (v1 - v)/dt,  M a1 + f_int(u1, v1) + C v1 = f_ext(t1).

    Source: Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.3.
    """
    row = Coefficients(1.0, 0.0, 0.0, 1.0, -1.0, 0.0, wm=1.0, wf=1.0, wc=1.0, momentum=1.0, viscous=1.0, late=1.0)
    return Scheme(row, order=1)
