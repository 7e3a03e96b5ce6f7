"""Statics as a row of the same march: no inertia, no damping, no velocity."""

from __future__ import annotations

from fem.solve.schemes.coefficients import Coefficients, Scheme


def equilibrium() -> Scheme:
    """f_int(u1) = f_ext(t1); v = a = 0."""
    return Scheme(
        Coefficients(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, wm=0.0, wf=1.0, wc=1.0, momentum=0.0, viscous=0.0), order=1
    )
