"""A torus begins where two swings of a shaken chain feed each other: a complex pair leaves the unit circle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from fem.study.branches import TORUS, orbits

GRAVITY, SPRING, DRAG = 9.81, 8.0, 0.05
HANGING = np.array([[3.0, -1.0], [-1.0, 1.0]]) * GRAVITY
"""Stiffness for the ways to the side of two masses of 1 on a chain of two rods of 1."""
FREQUENCY = float(np.sqrt(np.linalg.eigvalsh(HANGING + np.diag([SPRING, 0.0]))).sum())
"""Of the combination resonance: without the spring the two swings would not feel each other."""
CHAIN = f"""\
*PARAMETER
A = 0.01
omega = {FREQUENCY!r}
dt = 2*pi/omega/400
*NODE, NSET=ALL
1, 0., 0.
2, 0., -1.
3, 0., -2.
*ELEMENT, TYPE=T2D2, ELSET=RODS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=MASSES
3, 2
4, 3
*ELEMENT, TYPE=SPRING1, ELSET=SIDE
5, 2
*SPRING, ELSET=SIDE
1
{SPRING}
*MASS, ELSET=MASSES, ALPHA={DRAG}
1.
*MATERIAL, NAME=M
*INEXTENSIBLE
*SOLID SECTION, ELSET=RODS, MATERIAL=M
1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <omega>, 0., -1.
1., 0.
*BOUNDARY
1, 1, 2
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
<dt>, 10.
*BOUNDARY, AMPLITUDE=SHAKE
1, 2, 2, <A>
*DLOAD
MASSES, GRAV, {GRAVITY}, 0., -1.
*NODE PRINT, NSET=ALL
U, V
*END STEP
"""


def multipliers(amplitude: float) -> np.ndarray:
    """Of the chain that hangs, by DOP853: x'' + drag x' + (1 + y''/g) K x + spring = 0."""

    def rate(t, y):
        shaken = 1.0 - amplitude * FREQUENCY**2 * np.cos(FREQUENCY * t) / GRAVITY
        x, v = y.reshape(4, 4)[:2], y.reshape(4, 4)[2:]
        stiffness = shaken * HANGING + np.diag([SPRING, 0.0])
        return np.concatenate([v, -stiffness @ x - DRAG * v]).ravel()

    period = 2.0 * np.pi / FREQUENCY
    end = solve_ivp(rate, (0.0, period), np.eye(4).ravel(), method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    return np.linalg.eigvals(end.reshape(4, 4))


def test_a_torus_begins_where_floquet_theory_says(tmp_path):
    border = brentq(lambda amplitude: np.abs(multipliers(amplitude)).max() - 1.0, 1e-3, 0.05)
    assert np.abs(multipliers(border).imag).max() > 0.1  # it is a pair
    (tmp_path / "chain.inp").write_text(CHAIN)
    found = orbits(tmp_path / "chain.inp", {"A": [0.5 * border, 1.5 * border]}, depth=0)
    (row,) = np.flatnonzero(found["kind"] == TORUS)
    assert found["A"][row] == pytest.approx(border, rel=1e-3)  # of order 2; 2.0e-3 with 200 increments a period
    assert (found["unstable"][:row] == 0).all() and (found["unstable"][row + 1 :] == 2).all()
