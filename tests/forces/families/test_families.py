"""The laws of every family of forces: tangent = derivative, energy, order, one answer by every solver, its tables."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.arrays import Floats
from fem.assembly.system import assemble
from fem.compiled import kernel
from fem.compiled.interpreted import rehearsal
from fem.forces.families import FAMILIES, evaluate_others, write_masses
from fem.forces.protocol import BOOKS, Tangent, Trial
from fem.forces.springs import Springs
from tests.forces.families import magnet
from tests.forces.families.examples import EXAMPLES, TWISTED, acting, alone, known

ORDERS = [
    ("NEWMARK", 2), ("HHT", 2), ("GENERALIZED ALPHA", 2), ("BACKWARD EULER", 1), ("ENERGY MOMENTUM", 2),
    ("EXPLICIT", 2),
]  # fmt: skip
PERIOD = 0.8


@pytest.fixture(
    params=[pytest.param(each, marks=() if each[0] in FAMILIES else pytest.mark.long) for each in EXAMPLES],
    ids=lambda pair: pair[0].name,
)
def deck(request):
    """The deck of a family's example, the family acting in the march; those of tests march as Python functions."""
    family, text = request.param
    with acting(family):
        yield text


@pytest.fixture(params=EXAMPLES, ids=lambda pair: pair[0].name)
def compiled(request):
    """The text of a family's example, the kernels of all of them being compiled."""
    with known():
        yield request.param[1]


@pytest.fixture(scope="module")
def finest():
    """Deck -> its motion in very short increments."""
    return cache(lambda deck: run(deck, "NEWMARK", PERIOD / 800))


def test_every_family_has_an_example():
    assert {family.name for family in FAMILIES} <= {family.name for family, _ in EXAMPLES}


def run(deck: str, integrator: str, dt: float = 0.01, period: float = PERIOD, solver: str = "AUTO") -> fem.History:
    card = "EXPLICIT" if integrator == "EXPLICIT" else f"TIME INTEGRATOR={integrator}"
    procedure = f"*DYNAMIC, DIRECT, {card}\n{dt!r}, {period!r}\n*CONTROLS, RESI_GLOB_RELA=1e-11"
    return fem.run(fem.parse_deck(deck.format(procedure=procedure)), solver=solver)


@kernel
def ask(trial: Trial, springs: Springs, families: tuple, force: Floats, flow: Floats, tangent: Tangent) -> float:
    energy: float = evaluate_others(trial, springs, families, force, flow, tangent)
    return energy


def asked(system, u0, u1, v1, *, secant: bool, rate: float, v0=None):
    """Energy, force and dense tangent of everything but bars; v0: v1 unless given."""
    size, v0 = len(u1), v1 if v0 is None else v0
    tangent = Tangent(
        system.bars.nodes, np.zeros((10, len(system.bars.nodes))), np.zeros(0), np.zeros((size // 3, 9)), system.pairs,
        np.zeros((len(system.pairs), 18)),
    )  # fmt: skip
    trial = Trial(
        secant, 1.0, rate, rate**2, 0.0, 0.0, 1.0 / rate, 0.0, u0, v0, np.zeros(size), u1, v1, np.zeros(size),
        np.zeros(2), np.zeros(2), system.coordinates.ravel(), system.state.copy(), system.state.copy(), np.zeros(BOOKS),
    )  # fmt: skip
    force = np.zeros(size)
    energy = ask(trial, system.springs, system.families, force, np.zeros(size), tangent)
    return energy, force, dense(tangent, size)


def dense(tangent: Tangent, size: int) -> np.ndarray:
    """(3n, 3n) of what families and springs have added."""
    matrix = np.zeros((size, size))
    for node, block in enumerate(tangent.block):
        matrix[3 * node : 3 * node + 3, 3 * node : 3 * node + 3] = block.reshape(3, 3)
    for (i, j), cross in zip(3 * tangent.pairs, tangent.cross, strict=True):
        matrix[i : i + 3, j : j + 3] += cross[:9].reshape(3, 3)
        matrix[j : j + 3, i : i + 3] += cross[9:].reshape(3, 3)
    return matrix


@pytest.mark.parametrize("secant", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.sampled
def test_tangent_is_the_derivative_of_the_force(compiled, secant, seed):
    """With the velocity that goes with the displacement; differences of fourth order, step 1e-5.
    That of torsion is exact in statics only (``test_twist.py``)."""
    if compiled is TWISTED:
        return
    system = assemble(fem.parse_deck(compiled.format(procedure="*DYNAMIC\n1, 1")))
    rng = np.random.default_rng(seed)
    u0, u1, v1 = (0.1 * rng.normal(size=system.size) for _ in range(3))
    h, rate = 1e-5, 20.0

    def force(dof, step):
        u, v = u1.copy(), v1.copy()
        u[dof] += step
        v[dof] += rate * step
        return asked(system, u0, u, v, secant=secant, rate=rate, v0=v1)[1]

    exact = asked(system, u0, u1, v1, secant=secant, rate=rate)[2]
    for dof in range(system.size):
        near, far = force(dof, h) - force(dof, -h), force(dof, 2 * h) - force(dof, -2 * h)
        assert exact[:, dof] == pytest.approx((8 * near - far) / (12 * h), abs=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("text", [pytest.param(text, id=each.name) for each, text in EXAMPLES if each.smooth])
def test_smooth_forces_of_an_increment_are_the_same_with_its_ends_exchanged(text):
    """Time runs back then. Tangent maps take from it what the start of an increment does to its force."""
    with known():
        system = assemble(fem.parse_deck(text.format(procedure="*DYNAMIC\n1, 1")))
        u0, u1 = 0.1 * np.random.default_rng(1).normal(size=(2, system.size))
        there, back = (
            asked(system, *ends, u0, secant=True, rate=rate)[1] for ends, rate in (((u0, u1), 20.0), ((u1, u0), -20.0))
        )
    assert np.abs(there).max() > 0.1
    assert back == pytest.approx(there, abs=1e-12)


def test_mass_is_symmetric_and_takes_no_energy(compiled):
    """With that of the model, of which winches may take some away."""
    system = assemble(fem.parse_deck(compiled.format(procedure="*STATIC")))
    moved, count = np.random.default_rng(1).normal(size=system.size), len(system.directed_mass)
    if count:
        write_masses(system.families, 0.0, system.coordinates.ravel(), moved, system.state, system.directed_mass)
    whole = system.directed_mass.reshape(count, 3, 3).copy()
    whole[: len(system.mass)] += system.mass[:count, None, None] * np.eye(3)
    for mass in whole:
        assert mass == pytest.approx(mass.T, abs=1e-14 * np.abs(mass).max())
        assert np.linalg.eigvalsh(mass)[0] >= -1e-14 * np.abs(mass).max()


@pytest.mark.parametrize(("integrator", "order"), ORDERS)
@pytest.mark.sampled
def test_order_and_energy(deck, finest, integrator, order):
    """Halving dt divides the error of u by 2^order; the energy error at the end does at least as well."""
    if integrator == "EXPLICIT" and ("ROTARYI" in deck or "*VIV" in deck):  # bodies have mass between nodes
        return
    if "*VIV" in deck and integrator == "ENERGY MOMENTUM":  # whose lift is taken from the start of an increment
        order = 1
    errors, energies = [], []
    for count in (100, 200):
        one = run(deck, integrator, PERIOD / count)
        errors.append(np.abs(one.u[-1] - finest(deck).u[-1]).max())
        balance = one.energy @ [1.0, 1.0, 1.0, -1.0, 1.0]
        energies.append(abs(balance[-1] - balance[0]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    assert energies[1] < max(1.25 * energies[0] / 2**order, 1e-7 if order == 2 else 0.0)


def test_every_solver_gives_one_answer(deck):
    """Each of them without a word, as one that hands over to another has."""
    chain = run(deck, "NEWMARK")
    for solver in ("CHAIN", "BAND", "CG", "DIRECT"):
        other = run(deck, "NEWMARK", solver=solver)
        assert other.u == pytest.approx(chain.u, abs=1e-9)
        assert other.notices == chain.notices


def test_statics_is_the_rest_of_the_motion(deck):
    """Backward Euler with long increments comes to the equilibrium of statics; in waves and vortices nothing does."""
    if "*WAVE" in deck or "*VIV" in deck:
        return
    rest = fem.run(fem.parse_deck(deck.format(procedure="*STATIC\n1., 1.")))
    model = deck.replace("*NODE PRINT", "*CONTROLS, ENERGY DRIFT=OFF\n*NODE PRINT")
    procedure = "*DYNAMIC, DIRECT, TIME INTEGRATOR=BACKWARD EULER\n0.5, 200."
    moving = fem.run(fem.parse_deck(model.format(procedure=procedure)))
    assert moving.u[-1] == pytest.approx(rest.u[-1], abs=1e-6)


def test_failed_increments_leave_no_trace(deck, finest):
    """Automatic increments that are cut back and those chosen at once give the same motion."""
    procedure = "*DYNAMIC, TIME INTEGRATOR=NEWMARK\n0.2, 0.8, 1e-9, 0.4"
    one = fem.run(fem.parse_deck(deck.format(procedure=procedure)))
    assert one.u[-1] == pytest.approx(finest(deck).u[-1], abs=2e-3)


def test_magnets_agree_with_an_integrator_that_knows_nothing_of_them():
    """Two masses on bars, springs across, wall and film: the equations written out, by DOP853 to 1e-11."""
    text = next(text for family, text in EXAMPLES if family is magnet.MAGNETS)
    with known(), rehearsal():
        ours = run(text, "EXPLICIT", PERIOD / 1600)
    mass, stiffness, ground, place = np.array([1.3, 1.15]), 60.0, 40.0, np.array([1.0, 2.0])

    def rate(_, y):
        u, v, film = y[:4].reshape(2, 2), y[4:8].reshape(2, 2), y[8:]
        ends = np.vstack([[0.0, 0.0], [[1.0, 0.0], [2.0, 0.0]] + u])
        force = -np.column_stack([np.zeros(2), ground * u[:, 1]])
        for bar in range(2):
            vector = ends[bar + 1] - ends[bar]
            pull = stiffness * 0.5 * (vector @ vector - 1.0) * vector
            force[bar] -= pull
            if bar:
                force[bar - 1] += pull
        gap = magnet.WALL - place - u[:, 0]
        sticks = magnet.FILM * (u[:, 0] - film)
        force[:, 0] += magnet.PULL / gap**2 - magnet.BRAKE * v[:, 0] / gap**2 - sticks
        return np.concatenate([v.ravel(), (force / mass[:, None]).ravel(), sticks / magnet.FILM / magnet.RELAXATION])

    start = np.zeros(10)
    start[[4, 6, 7]] = 0.5, 0.4, 0.6
    exact = solve_ivp(rate, (0.0, 0.8), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    assert ours.u[-1, [3, 5, 6, 8]] == pytest.approx(exact[:4], abs=1e-5)


@pytest.mark.long
def test_a_family_that_is_not_registered_acts_on_nothing():
    """And one that is acts in machine code as it does in Python."""
    text = next(text for family, text in EXAMPLES if family is magnet.MAGNETS)
    with alone(magnet.MAGNETS):
        held = run(text, "EXPLICIT")
        with rehearsal():
            assert run(text, "EXPLICIT").u == pytest.approx(held.u, abs=1e-12)
    free = run(text, "EXPLICIT")
    assert np.abs(held.u - free.u).max() > 1e-3
    assert not free.elements[:, 2:4].any()
    assert held.elements[-1, 2, 0] == pytest.approx(magnet.WALL - 1.0 - held.u[-1, 3], abs=1e-14)
