"""Mass that depends on direction: closed forms, equations written out by DOP853."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import fem
from fem.errors import ModelError
from fem.solve import start
from tests.forces.families.examples import FINNED, acting
from tests.forces.families.fins import FINS, MASS

IMPLICIT = [
    ("NEWMARK", 2), ("HHT, ALPHA=-0.2", 2), ("GENERALIZED ALPHA, RHO=0.6", 2), ("BACKWARD EULER", 1),
    ("ENERGY MOMENTUM", 2),
]  # fmt: skip
POINT = """*NODE
1, 0, 0, 0
2, 2, 0, -1
3, 3, 0, -4
*ELEMENT, TYPE=T3D2, ELSET=ROD
1, 1, 3
*MATERIAL, NAME=M
{material}
*SOLID SECTION, ELSET=ROD, MATERIAL=M
1.
*ELEMENT, TYPE=MASS, ELSET=FINNED
2, 2
3, 3
*MASS, ELSET=FINNED
0.5
*ELEMENT, TYPE=SPRING1, ELSET=X
11, 2
*SPRING, ELSET=X
1
{stiffness[0]}
*ELEMENT, TYPE=SPRING1, ELSET=Y
12, 2
*SPRING, ELSET=Y
2
{stiffness[1]}
*ELEMENT, TYPE=SPRING1, ELSET=Z
13, 2
*SPRING, ELSET=Z
3
{stiffness[2]}
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, 7., 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
{supports}
*STEP, NLGEOM
{procedure}
{loads}
*END STEP
"""
"""A node 2 between springs, a pendulum 3 of length 5 that is at rest or held; each has a mass of 0.5 and fins."""
OWN = 0.5 * np.eye(3) + 2.0 * MASS  # a point mass has its node twice
ROD, BAR = "*INEXTENSIBLE", "*ELASTIC\n1000."


def run(text, solver="AUTO"):
    """By kernels that are Python functions."""
    with acting(FINS):
        return fem.run(fem.parse_deck(text), solver=solver)


def point(procedure, *, material=BAR, stiffness=(1.0, 1.0, 1.0), supports="3, 1, 3", loads="", solver="AUTO"):
    text = POINT.format(
        procedure=procedure, material=material, stiffness=stiffness, supports=supports, loads=loads
    )  # fmt: skip
    return run(text, solver)


def dynamic(integrator, count, period=1.0):
    card = f"*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}\n{period / count!r}, {period!r}"
    return f"{card}\n*CONTROLS, RESI_GLOB_RELA=1e-11"


@pytest.mark.parametrize("dense", [300, 0])
@pytest.mark.parametrize("supports", ["3, 1, 3", "3, 1, 3\n2, 2"])
def test_a_load_starts_what_it_acts_on_in_another_direction(dense, supports, monkeypatch):
    """M a = f over the free dofs, by dense and by sparse matrices; a support holds M a against it."""
    monkeypatch.setattr(start, "DENSE", dense)
    history = point(dynamic("NEWMARK", 10, 0.01), supports=supports, loads="*CLOAD\n2, 1, 3.\n2, 3, -1.")
    free = [0, 1, 2] if supports == "3, 1, 3" else [0, 2]
    a = np.zeros(3)
    a[free] = np.linalg.solve(OWN[np.ix_(free, free)], np.array([3.0, 0.0, -1.0])[free])
    assert history.a[0, 3:6] == pytest.approx(a, abs=1e-13)
    assert history.reactions[0, 4] == pytest.approx((OWN @ a)[1] if len(free) == 2 else 0.0, abs=1e-13)


def test_gravity_does_not_pull_at_what_drags_along():
    history = point(dynamic("NEWMARK", 10, 0.01), loads="*DLOAD\nFINNED, GRAV, 8., 0., 0., -1.")
    assert history.a[0, 3:6] == pytest.approx(np.linalg.solve(OWN, [0.0, 0.0, -4.0]), abs=1e-13)


def test_frequencies_are_those_of_scipy():
    """K x = omega^2 M x of the node between springs; of a pendulum without stiffness, the modes are 0."""
    stiffness = (3.0, 5.0, 8.0)
    history = point("*FREQUENCY\n3", stiffness=stiffness)
    assert history.modes[0].omega == pytest.approx(np.sqrt(eigh(np.diag(stiffness), OWN)[0]), rel=1e-12)


@pytest.mark.parametrize(("integrator", "order"), IMPLICIT)
@pytest.mark.sampled(2)
def test_a_support_that_moves_drives_what_is_free_by_its_mass(integrator, order):
    """Node 2 is moved along x; y and z follow. What the support gives is what the motion has."""
    w = 7.0

    def rate(t, state):
        x = -(w**2) * np.sin(w * t)
        a = np.linalg.solve(OWN[1:, 1:], -2.0 * state[:2] - OWN[1:, 0] * x)
        return np.concatenate([state[2:], a])

    exact = solve_ivp(rate, (0.0, 1.0), np.zeros(4), method="DOP853", rtol=1e-11, atol=1e-12).y[:2, -1]
    moved = "*BOUNDARY, AMPLITUDE=SHAKE\n2, 1, 1, 1."
    errors, energies = [], []
    for count in (30, 60):
        procedure = dynamic(integrator, count) + ", ENERGY DRIFT=OFF"
        history = point(procedure, stiffness=(2.0, 2.0, 2.0), supports="3, 1, 3\n2, 1", loads=moved)
        balance = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
        errors.append(np.abs(history.u[-1, 4:6] - exact).max())
        energies.append(abs(balance[-1] - balance[0]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert energies[1] < max(1.1 * energies[0] / 2**order, 1e-9)


def pendulum(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Place and pull of the pendulum on its rod at t, from t.M (5 t p'' - 5 e p'^2) = t.f of its angle p by DOP853."""
    weight = np.array([0.0, 0.0, -4.0])

    def directions(p):
        return np.array([np.cos(p), 0.0, np.sin(p)]), np.array([-np.sin(p), 0.0, np.cos(p)])

    def turning(p, spin):
        e, across = directions(p)
        return across @ (weight + 5.0 * spin**2 * OWN @ e) / (5.0 * across @ OWN @ across)

    first = [np.arctan2(-4.0, 3.0), 0.0]
    found = solve_ivp(lambda _, s: [s[1], turning(*s)], (0.0, t), first, method="DOP853", rtol=1e-12, atol=1e-13)
    p, spin = found.y[:, -1]
    e, across = directions(p)
    a = 5.0 * (turning(p, spin) * across - spin**2 * e)
    return 5.0 * e, e @ (weight - OWN @ a)


@pytest.mark.parametrize(("integrator", "order"), IMPLICIT)
@pytest.mark.sampled(2)
def test_a_pendulum_on_a_rod(integrator, order):
    """Its place and the force of the rod, in the plane y = 0, converge with the order of the scheme.

    ENERGY MOMENTUM gives the force of the middle of the increment.
    """
    loads = "*DLOAD\nFINNED, GRAV, 8., 0., 0., -1."
    exact, pull = pendulum(1.0)
    errors = []
    for count in (30, 60):
        history = point(dynamic(integrator, count), material=ROD, supports="3, 2, 2", loads=loads)
        assert history.elements[0, 0, 3] == pytest.approx(pendulum(1e-9)[1], abs=1e-7)
        errors.append([
            np.abs(history.u[-1, 6:9] + [3.0, 0.0, -4.0] - exact).max(), abs(history.elements[-1, 0, 3] - pull)
        ])  # fmt: skip
    rates = np.log2(np.divide(*errors))
    assert rates[0] == pytest.approx(order, abs=0.25)
    assert rates[1] > (1 if integrator == "ENERGY MOMENTUM" else order) - 0.25
    if integrator == "ENERGY MOMENTUM":
        balance = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
        assert np.abs(balance - balance[0]).max() < 1e-10


@pytest.mark.parametrize("solver", ["CHAIN", "BAND", "DIRECT"])
@pytest.mark.sampled(1)
def test_every_solver_moves_the_pendulum_alike(solver):
    loads = "*DLOAD\nFINNED, GRAV, 8., 0., 0., -1."
    one, other = (
        point(dynamic("HHT", 20), material=ROD, supports="3, 2, 2", loads=loads, solver=each)
        for each in ("AUTO", solver)
    )
    assert other.u == pytest.approx(one.u, abs=1e-11)
    assert other.a == pytest.approx(one.a, abs=1e-9)


@pytest.mark.parametrize("impact", ["EVENT", "MOREAU"])
@pytest.mark.sampled(1)
def test_a_rope_that_stays_taut_is_a_rod(impact):
    loads = "*DLOAD\nFINNED, GRAV, 8., 0., 0., -1."
    procedure = f"*DYNAMIC, DIRECT\n0.01, 1.\n*CONTROLS, IMPACT={impact}"
    history = point(procedure, material=ROD + "\n*NO COMPRESSION", supports="3, 2, 2", loads=loads)
    assert history.u[-1, 6:9] + [3.0, 0.0, -4.0] == pytest.approx(pendulum(1.0)[0], abs=1e-3)


def test_energy_momentum_keeps_the_energy():
    """To the residual of its increments, over springs, pairs and a bar that turns."""
    procedure = dynamic("ENERGY MOMENTUM", 100, 2.0)
    history = run(FINNED.format(procedure=procedure))
    balance = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
    assert np.abs(balance - balance[0]).max() < 1e-10
    assert np.ptp(history.energy[:, 0]) > 0.1


def test_explicit_refuses_it_with_rods_too():
    with pytest.raises(ModelError, match="the mass of fins depends on direction"):
        point("*DYNAMIC, DIRECT, EXPLICIT\n0.01, 1.", material=ROD, supports="3, 2, 2")


@pytest.mark.long
@pytest.mark.parametrize(("integrator", "order"), IMPLICIT)
def test_a_support_that_moves_a_mass_that_turns_does_the_work_of_its_motion(integrator, order):
    """The support carries mass of the bar that turns at it."""
    deck = FINNED.replace("*STEP", "*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC\n1, 7., 0., 0.\n0., 0.4\n*STEP")
    deck = deck.replace("*NODE PRINT", "*BOUNDARY, AMPLITUDE=SHAKE\n1, 1, 3, 1.\n*NODE PRINT", 1)
    errors = []
    for count in (100, 200) if order == 2 else (400, 800):
        history = run(deck.format(procedure=dynamic(integrator, count) + ", ENERGY DRIFT=OFF"))
        balance = history.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
        errors.append(abs(balance[-1] - balance[0]))
    assert np.ptp(history.energy[:, 3]) > 0.1
    assert errors[1] < max(1.1 * errors[0] / 2**order, 1e-9)
