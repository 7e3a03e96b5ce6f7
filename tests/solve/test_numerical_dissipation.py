"""What a scheme itself takes of the energy: an identity in linear problems, apart from the error of forces in others."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.results.record import SilentSink
from fem.solve.loop import solve
from fem.solve.schemes import SCHEMES
from fem.solve.schemes.coefficients import keeps_energy

NAMES = ("kinetic", "strain", "potential", "external_work", "dissipated", "energy_error", "numerical_dissipation")
TAKING = (
    "HHT, ALPHA=-0.05", "HHT, ALPHA=-0.3", "GENERALIZED ALPHA, RHO=0.8", "GENERALIZED ALPHA, RHO=0", "BACKWARD EULER",
    "NEWMARK, GAMMA=0.6, BETA=0.3025", "NEWMARK, GAMMA=0.5, BETA=0.3",
)  # fmt: skip
KEEPING = ("NEWMARK", "HHT, ALPHA=0", "GENERALIZED ALPHA, RHO=1", "ENERGY MOMENTUM")

CHAIN = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 2., 0., 0.
4, 3., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
3, 3, 4
*ELEMENT, TYPE=SPRING1, ELSET=K
4, 3
*SPRING, ELSET=K
3
50.
*MATERIAL, NAME=M
*ELASTIC
1E3
*DENSITY
1.
{damping}*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={mass}
1.
*INITIAL CONDITIONS, TYPE=STRESS
LINE, 100.
*AMPLITUDE, NAME=A, DEFINITION=PERIODIC
1, 7., 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
4, 2, 3
{extra}*STEP, NLGEOM={nlgeom}
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt}, {period}
*CONTROLS, RESI_GLOB_RELA=1E-14, ENERGY DRIFT=OFF
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*CLOAD, AMPLITUDE=A
2, 1, 30.
2, 3, 20.
{acting}*END STEP
"""
MOVED = "*BOUNDARY, AMPLITUDE=A\n4, 1, 1, 0.02\n"
DAMPED = "*DAMPING, ALPHA=0.7, BETA=0.01\n"
TIED = "*EQUATION\n2\n3, 2, 1., 2, 2, -0.5\n"
HELD = "*BOUNDARY\n4, 1\n"


class Books(SilentSink):
    """Energies of all increments, (k, ``NAMES``)."""

    def __init__(self):
        self.rows = []

    def rows_of(self):
        return np.vstack(self.rows)

    def __getattr__(self, name):
        raise AttributeError(name)


class Kept(SilentSink):
    def __init__(self):
        self.parts = []

    def rows(self, rows):
        self.parts.append(np.column_stack([getattr(rows, name) for name in NAMES]))


def books(text):
    """(k, ``NAMES``) energies of all increments."""
    kept = Kept()
    solve(fem.parse_deck(text), kept)
    return np.vstack(kept.parts)


def linear(integrator, mass="LUMPED", damping="", acting=HELD, extra="", dt=0.03, period=1.5, nlgeom="NO"):
    return books(
        CHAIN.format(
            integrator=integrator, mass=mass, damping=damping, acting=acting, extra=extra, dt=dt, period=period,
            nlgeom=nlgeom,
        )  # fmt: skip
    )


@pytest.mark.parametrize("integrator", TAKING)
@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize("damping", ["", DAMPED], ids=["undamped", "damped"])
@pytest.mark.parametrize("acting", [HELD, MOVED], ids=["held", "moved"])
@pytest.mark.parametrize("extra", ["", TIED], ids=["", "tied"])
def test_in_linear_problems_all_that_is_lost_is_booked(integrator, mass, damping, acting, extra):
    found = linear(integrator, mass, damping, acting, extra)
    error, taken, size = found[:, 5], found[:, 6], np.abs(found[:, :5]).max()
    assert np.abs(taken).max() > 1e-5 * size
    np.testing.assert_allclose(error + taken, error[0], atol=1e-12 * size)
