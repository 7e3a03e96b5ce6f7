"""What a scheme takes of the energy: an identity in linear problems; the error of forces in others is none of it."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.model import Dynamic
from fem.runs.record import SilentSink
from fem.solve.loop import solve
from fem.solve.schemes import SCHEMES, keeps_energy

NAMES = ("kinetic", "strain", "potential", "external_work", "dissipated", "energy_error", "numerical_dissipation")
DAMPING = (
    "HHT, ALPHA=-0.05", "HHT, ALPHA=-0.3", "GENERALIZED ALPHA, RHO=0.8", "GENERALIZED ALPHA, RHO=0", "BACKWARD EULER",
    "NEWMARK, GAMMA=0.6, BETA=0.3025",
)  # fmt: skip
TAKING = (*DAMPING, "NEWMARK, GAMMA=0.5, BETA=0.3")
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
{tied}*STEP, NLGEOM={nlgeom}
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt}, 1.5
*CONTROLS, RESI_GLOB_RELA=1E-14, ENERGY DRIFT=OFF
{acting}*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*CLOAD, AMPLITUDE=A
2, 1, 30.
2, 3, 20.
*END STEP
"""
HELD, MOVED = "*BOUNDARY\n4, 1\n", "*BOUNDARY, AMPLITUDE=A\n4, 1, 1, 0.02\n"
TIED = "*EQUATION\n2\n3, 2, 1., 2, 2, -0.5\n"


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


def chain(integrator, mass="LUMPED", damping="", acting=HELD, tied="", dt=0.03, nlgeom="NO"):
    own = {"mass": mass, "damping": damping, "acting": acting, "tied": tied, "nlgeom": nlgeom}
    return books(CHAIN.format(integrator=integrator, dt=dt, **own))


@pytest.mark.parametrize("integrator", TAKING)
@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize("damping", ["", "*DAMPING, ALPHA=0.7, BETA=0.01\n"], ids=["", "damped"])
@pytest.mark.parametrize(("acting", "tied"), [(HELD, ""), (MOVED, ""), (MOVED, TIED)], ids=["", "moved", "tied"])
@pytest.mark.sampled
def test_in_linear_problems_all_that_is_lost_is_booked(integrator, mass, damping, acting, tied):
    """Loads, moving supports, Rayleigh damping, equations; 1e-12: round-off of 50 increments."""
    found = chain(integrator, mass, damping, acting, tied)
    error, taken, size = found[:, 5], found[:, 6], np.abs(found[:, :5]).max()
    assert np.abs(taken).max() > 1e-5 * size
    np.testing.assert_allclose(error + taken, error[0], atol=1e-12 * size)


@pytest.mark.parametrize("integrator", KEEPING)
@pytest.mark.parametrize("nlgeom", ["NO", "YES"])
def test_schemes_that_keep_linear_energy_book_nothing(integrator, nlgeom):
    found = chain(integrator, mass="CONSISTENT", nlgeom=nlgeom)
    assert not found[:, 6].any()
    if nlgeom == "NO":
        np.testing.assert_allclose(found[:, 5], found[0, 5], atol=1e-12 * np.abs(found[:, :5]).max())


@pytest.mark.parametrize("integrator", DAMPING)
def test_what_is_not_booked_of_nonlinear_motion_goes_with_dt_squared(integrator):
    """The error of the trapezoidal rule for the work of forces, of which a scheme's damping has no part."""
    rest = []
    for dt in (0.0025, 0.00125):
        found = chain(integrator, acting=MOVED, damping="*DAMPING, ALPHA=0.7\n", dt=dt, nlgeom="YES")
        rest.append(np.abs(found[:, 5] - found[0, 5] + found[:, 6]).max())
    assert rest[0] / rest[1] == pytest.approx(4.0, rel=0.15)


SWING = """*NODE
1, 0., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=K
1, 1
*SPRING, ELSET=K
1
1.
*ELEMENT, TYPE=MASS, ELSET=M
2, 1
*MASS, ELSET=M
1.
*BOUNDARY
1, 2, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 1, 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt}, {period}
*CONTROLS, ENERGY DRIFT=OFF
*END STEP
"""


@pytest.mark.parametrize("integrator", DAMPING)
@pytest.mark.parametrize("dt", [0.01, 0.3, 1.0, 5.0, 100.0])
def test_what_damping_takes_is_never_less_than_nothing(integrator, dt):
    """omega dt from 0.01 to 100; between none and all of the energy at the start."""
    found = books(SWING.format(integrator=integrator, dt=dt, period=40 * dt))
    taken, start = found[:, 6], found[0, 0]
    assert taken.min() >= -1e-14 * start
    assert taken[-1] <= start * (1.0 + 1e-12)
    np.testing.assert_allclose(found[:, 5], -taken, atol=1e-12 * start)


def test_newmark_takes_what_its_quadratic_forms_say():
    """(gamma - 1/2) (du.K du + (beta - gamma/2) dt^2 da.M da), and (beta - gamma/2) dt^2 of a change of a.M a/2."""
    beta, gamma, dt = 0.4, 0.7, 0.5
    history = fem.run(fem.parse_deck(SWING.format(integrator="NEWMARK, GAMMA=0.7, BETA=0.4", dt=dt, period=10.0)))
    u, a, part = history.u[:, 0], history.a[:, 0], (beta - gamma / 2) * dt**2
    each = (gamma - 0.5) * (np.diff(u) ** 2 + part * np.diff(a) ** 2) + 0.5 * part * np.diff(a**2)
    found = books(SWING.format(integrator="NEWMARK, GAMMA=0.7, BETA=0.4", dt=dt, period=10.0))
    np.testing.assert_allclose(np.diff(found[:, 6]), each, atol=1e-14)


def test_which_schemes_keep_energy_follows_from_their_numbers():
    kept = {name: keeps_energy(scheme(Dynamic(1.0, 1.0)).coefficients) for name, scheme in SCHEMES.items()}
    del kept["CENTRAL DIFFERENCE"]  # EXPLICIT steps have no equilibrium to book
    assert [name for name, keeps in kept.items() if keeps] == ["NEWMARK", "ENERGY MOMENTUM"]
    assert keeps_energy(SCHEMES["HHT"](Dynamic(1.0, 1.0, alpha=0.0)).coefficients)


def test_it_is_told_in_the_notice_apart_from_the_error_of_long_increments():
    """1/2 J, all there is of a linear spring, so that no share of it is told: nothing else is lost."""
    deck = SWING.format(integrator="BACKWARD EULER", dt=0.5, period=40.0).replace(", ENERGY DRIFT=OFF", "")
    (notice,) = [
        text for text in fem.run(fem.parse_deck(deck.replace("*CONTROLS\n", ""))).notices if "has dissipated" in text
    ]
    assert "BACKWARD EULER has dissipated 0.5: " in notice
