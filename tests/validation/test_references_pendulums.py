"""The judges of pendulums: N links, the Calcpad worksheet, Solfec's rod, and how runs are compared with them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.lines.pendulums import Pendulum
from validation import links as compared
from validation import tools
from validation.references import calcpad, driven_links, links, pendulum, solfec

UNEQUAL = {"lengths": np.array([1.0, 0.6, 1.5]), "masses": np.array([2.0, 0.5, 1.0])}
STARTED = {"theta": np.radians([40.0, -30.0, -5.0]), "omega": np.array([1.0, -0.5, 0.3])}


# ------------------------------------------------------------------------------------------------------------ N links
@pytest.mark.parametrize("points", [False, True])
def test_one_link_is_the_exact_pendulum(points):
    chain = links.Chain(np.array([0.7]), np.array([3.0]), np.array([2.5]), np.zeros(1), points)
    omega0 = (pendulum.point_mass if points else pendulum.uniform_rod)(0.7, 9.81)
    times = np.linspace(0, 2 * pendulum.period(omega0, 2.5), 50)
    theta, omega = pendulum.motion(times, omega0, 2.5)
    motion = links.solve(chain, times)
    assert motion.theta[:, 0] == pytest.approx(theta, abs=1e-10)
    assert motion.omega[:, 0] == pytest.approx(omega, abs=1e-9)
    if points:
        assert motion.tension[:, 0] == pytest.approx(pendulum.tension(theta, omega, 0.7, 3.0, 9.81), abs=1e-8)


@pytest.mark.parametrize("points", [False, True])
def test_energy_is_kept(points):
    chain = links.Chain(**UNEQUAL, **STARTED, points=points)
    motion = links.solve(chain, np.linspace(0, 5, 101))
    total = motion.kinetic + motion.potential
    assert np.abs(total - total[0]).max() < 1e-10 * np.ptp(motion.potential)
    assert np.ptp(motion.potential) > 5


def rates_of_constrained_bars(chain):
    """The same bars free in the plane (centre x, z, angle each), held together by multipliers: no common formula."""
    n, half = len(chain.lengths), chain.lengths / 2
    mass = np.stack((chain.masses, chain.masses, chain.masses * chain.lengths**2 / 12), 1).ravel()
    weight = np.stack((0 * chain.masses, -chain.masses * chain.gravity, 0 * chain.masses), 1).ravel()

    def jacobian(q):
        """Upper end of bar i less lower end of bar i - 1, in x and z."""
        jac = np.zeros((2 * n, 3 * n))
        for i in range(n):
            for bar, sign, end in ((i, 1, -1), (i - 1, -1, 1)):
                if bar >= 0:
                    s, c = np.sin(q[3 * bar + 2]), np.cos(q[3 * bar + 2])
                    jac[2 * i, [3 * bar, 3 * bar + 2]] = sign, sign * end * half[bar] * c
                    jac[2 * i + 1, [3 * bar + 1, 3 * bar + 2]] = sign, sign * end * half[bar] * s
        return jac

    def solve(q, v):
        """Accelerations and multipliers: the force of a joint on the bar below it."""
        jac, step = jacobian(q), 1e-6
        turning = (jacobian(q + step * v) - jacobian(q - step * v)) @ v / (2 * step)
        matrix = np.block([[np.diag(mass), -jac.T], [jac, np.zeros((2 * n, 2 * n))]])
        found = np.linalg.solve(matrix, np.concatenate((weight, -turning)))
        return found[: 3 * n], found[3 * n :].reshape(n, 2)

    return solve


def test_bars_move_as_bars_held_together_by_forces():
    chain = links.Chain(**UNEQUAL, **STARTED)
    n, times = 3, np.linspace(0, 1, 11)
    start = links.describe(chain, chain.theta[None], chain.omega[None])
    centre, speed = ((part[0, 1:] + part[0, :-1]) / 2 for part in (start.x, start.v))
    q = np.column_stack((centre, chain.theta)).ravel()
    v = np.column_stack((speed, chain.omega)).ravel()
    solve = rates_of_constrained_bars(chain)
    found = solve_ivp(
        lambda _, y: np.concatenate((y[3 * n :], solve(y[: 3 * n], y[3 * n :])[0])),
        (0, 1), np.concatenate((q, v)), "DOP853", times, rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    motion = links.solve(chain, times)
    assert motion.theta == pytest.approx(found.y[2 : 3 * n : 3].T, abs=1e-7)
    forces = np.array([solve(y[: 3 * n], y[3 * n :])[1] for y in found.y.T])
    assert motion.reactions == pytest.approx(forces, abs=1e-5)


def test_two_points_obey_the_textbook_equations():
    # Landau-Lifshitz, Mechanics, section 5, problem 1, solved for the accelerations.
    m1, m2, l1, l2, g = 2.0, 0.5, 1.0, 0.6, 9.81
    t1, t2, w1, w2 = 0.7, -0.4, 1.1, -2.0
    delta = t1 - t2
    below = 2 * m1 + m2 - m2 * np.cos(2 * delta)
    first = -g * (2 * m1 + m2) * np.sin(t1) - m2 * g * np.sin(t1 - 2 * t2)
    first -= 2 * np.sin(delta) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(delta))
    second = w1**2 * l1 * (m1 + m2) + g * (m1 + m2) * np.cos(t1) + w2**2 * l2 * m2 * np.cos(delta)
    chain = links.Chain(np.array([l1, l2]), np.array([m1, m2]), np.array([t1, t2]), np.array([w1, w2]), True, g)
    found = links.describe(chain, chain.theta[None], chain.omega[None]).alpha[0]
    assert found == pytest.approx([first / (l1 * below), 2 * np.sin(delta) * second / (l2 * below)], rel=1e-12)


def test_reactions_turn_each_bar_about_its_centre():
    # Moment equation of the document, corrected: m L^2/12 theta'' = -(L/2) [(Rx cos + Rz sin) above + below].
    chain = links.Chain(**UNEQUAL, **STARTED)
    motion = links.solve(chain, np.linspace(0, 1, 5))
    across = np.stack((np.cos(motion.theta), np.sin(motion.theta)), -1)
    below = np.concatenate((motion.reactions[:, 1:], np.zeros((5, 1, 2))), axis=1)
    moment = -chain.lengths / 2 * (across * (motion.reactions + below)).sum(-1)
    assert chain.masses * chain.lengths**2 / 12 * motion.alpha == pytest.approx(moment, abs=1e-9)


def test_massless_rods_pull_along_themselves():
    motion = links.solve(links.Chain(**UNEQUAL, **STARTED, points=True), np.linspace(0, 1, 5))
    across = np.stack((np.cos(motion.theta), np.sin(motion.theta)), -1)
    assert (across * motion.reactions).sum(-1) == pytest.approx(np.zeros((5, 3)), abs=1e-9)


@pytest.mark.parametrize(
    ("points", "squares"),
    [(True, (2 - np.sqrt(2), 2 + np.sqrt(2))), (False, (3 - 6 / np.sqrt(7), 3 + 6 / np.sqrt(7)))],
)
def test_small_swings_of_two_equal_links(points, squares):
    # omega^2 l/g of two equal point masses and of two equal bars: closed forms of the 2 x 2 eigenvalue problem.
    two = links.Chain(np.full(2, 0.5), np.full(2, 3.0), np.zeros(2), np.zeros(2), points)
    omega, shapes = links.modes(two)
    assert omega**2 * 0.5 / 9.81 == pytest.approx(squares, rel=1e-12)
    times = np.linspace(0, 3, 20)
    for k in range(2):
        swung = links.solve(replace(two, theta=1e-5 * shapes[:, k]), times)
        assert swung.theta == pytest.approx(1e-5 * np.outer(np.cos(omega[k] * times), shapes[:, k]), abs=1e-12)


def test_five_bars_of_the_document():
    # Recomputed from the corrected equations, nine decimals.
    chain = links.Chain(np.ones(5), np.ones(5), np.radians(np.arange(30, 180, 30)), np.zeros(5))
    found = links.solve(chain, np.array([0.0, 1.0])).theta[-1]
    assert found == pytest.approx([0.349347349, 0.278876197, 0.096129933, -0.432294876, -0.711346249], abs=1e-9)


# --------------------------------------------------------------------------------------------- runs against references
@pytest.mark.parametrize("body", ["bar", "point"])
def test_joint_reactions_of_a_run_come_from_its_rod_forces(body):
    """A history made of the reference itself: values at the ends of increments, forces in their middle."""
    described = Pendulum((1.0, 0.6), (2.0, 0.5), (40.0, -70.0), (60.0, -90.0), body=body)
    errors = []
    for dt in (2e-3, 1e-3):
        times = np.arange(0, 0.5, dt)
        chain = compared.reference(described)
        ends = links.solve(chain, times)
        middles = links.solve(chain, np.concatenate(([0.0], compared.neighbours(times))))

        def nodal(values):
            full = np.zeros((len(values), 3, 3))
            full[..., [0, 2]] = values
            return full

        start = nodal(ends.x)[0]
        elements = np.zeros((len(times), 2, 4))
        elements[..., 3] = middles.tension
        history = SimpleNamespace(
            time=times,
            mesh=SimpleNamespace(coordinates=start),
            u=(nodal(ends.x) - start).reshape(len(times), -1),
            v=nodal(ends.v).reshape(len(times), -1),
            a=nodal(middles.a).reshape(len(times), -1),
            elements=elements,
        )
        assert compared.speeds(history) == pytest.approx(ends.omega, abs=1e-12)
        assert compared.stretch(history, described).max() < 1e-12
        assert compared.pull(history).max() < 1e-12
        found = compared.joint_reactions(history, described)
        errors.append(np.abs(found - ends.reactions[1:-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


def test_relative_angles_and_speeds_add_up():
    given = Pendulum((1.0,) * 3, (1.0,) * 3, (30.0,) * 3, (10.0, 0.0, -10.0))
    assert np.degrees(compared.reference(given).theta) == pytest.approx([30, 60, 90])
    assert np.degrees(compared.reference(given).omega) == pytest.approx([10, 10, 0], abs=1e-14)
    assert np.degrees(compared.reference(replace(given, absolute=True)).theta) == pytest.approx([30, 30, 30])


# ------------------------------------------------------------------------------------------------------------- Calcpad
@pytest.mark.parametrize("method", calcpad.METHODS)
def test_methods_of_the_worksheet(method):
    swing = calcpad.Swing()
    theta, omega = calcpad.march(method, swing)
    found = (theta[-1], omega[-1], float(swing.energy(theta[-1], omega[-1])))
    assert found == pytest.approx(calcpad.FINAL[method], abs=1e-9)


@pytest.mark.parametrize(
    ("method", "order"), [("forward Euler", 1), ("backward Euler", 1), ("Crank-Nicolson", 2), ("Runge-Kutta 4", 4)]
)
def test_methods_have_their_order(method, order):
    errors = []
    for n in (400, 800):
        swing = calcpad.Swing(h=1.0 / n, steps=n)
        errors.append(np.abs(calcpad.march(method, swing)[0] - calcpad.exact(swing, swing.times)[0]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.05)


def test_an_increment_with_several_roots_is_refused():
    with pytest.raises(ValueError, match="more than one root"):
        calcpad.march("backward Euler", calcpad.Swing(h=0.5))


def test_periods_of_the_worksheet():
    swing = calcpad.Swing()
    assert 2 * np.pi / swing.omega0 == pytest.approx(calcpad.PERIOD_SMALL, abs=5e-9)
    assert pendulum.period(swing.omega0, swing.theta0) == pytest.approx(calcpad.PERIOD_EXACT, abs=5e-9)
    assert calcpad.period_error([swing.theta0])[0] == pytest.approx(calcpad.PERIOD_ERROR, abs=5e-8)
    assert calcpad.exact(swing, swing.times)[0][-1] == pytest.approx(calcpad.EXACT_FINAL, abs=1e-12)
    small = calcpad.Swing(theta0=1e-4)
    assert calcpad.small_angle(small, small.times)[0] == pytest.approx(
        calcpad.exact(small, small.times)[0], abs=1e-11
    )  # theta_0^3 times the ten radians gone through


def test_the_elastic_pendulum_becomes_the_rigid_one():
    swing = calcpad.Swing(steps=40)
    exact = calcpad.exact(swing, swing.times)[0]
    softness = [np.abs(calcpad.elastic(swing, stiffness, swing.times) - exact).max() for stiffness in (1e4, 1e5)]
    assert softness[0] / softness[1] == pytest.approx(10, rel=0.05)


# -------------------------------------------------------------------------------------------------------------- Solfec
def test_solfec_pendulum():
    assert pytest.approx(2.360681198032192, rel=1e-14) == solfec.PERIOD  # recomputed in 40 digits
    for swings, (printed, own, energy) in solfec.PRINTED.items():
        assert printed == own
        assert 0 < swings * solfec.PERIOD - printed < 0.01  # cut, not rounded
        assert energy == pytest.approx(np.pi**2, abs=5e-6)
    assert solfec.printed_series_period(30) > 2 * solfec.PERIOD  # as printed the series does not even converge
    times = np.linspace(0, solfec.PERIOD, 401)
    theta, omega = pendulum.motion(times, solfec.OMEGA0, solfec.THETA0)
    kinetic, potential = pendulum.energies(theta, omega, solfec.LENGTH, solfec.MASS, solfec.GRAVITY)
    assert kinetic + potential == pytest.approx(np.full(401, solfec.ENERGY), rel=1e-12)
    tension = pendulum.tension(theta, omega, solfec.LENGTH, solfec.MASS, solfec.GRAVITY)
    assert tension.max() == pytest.approx(solfec.TENSION_BELOW, rel=1e-12)
    assert tension[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("body", ["bar", "point"])
def test_stiff_links_of_a_deck_move_like_the_reference(body):
    # What is left goes with the stretch, 1/(E A); the second-order error at dt = 5e-4 is below 1e-5.
    given = Pendulum((1.0, 0.6, 1.5), (2.0, 0.5, 1.0), (40.0, -70.0, 25.0), (60.0, -90.0, 30.0), body=body)
    errors = []
    for stiffness in (1e5, 1e6):
        history = fem.run(tools.of_links(replace(given, stiffness=stiffness, time=0.5, dt=5e-4)))
        exact = links.solve(compared.reference(given), history.time)
        errors.append(np.abs(tools.link_angles(history) - exact.theta).max())
        energy = history.of_energy("kinetic")[0]
        assert energy == pytest.approx(exact.kinetic[0], rel=1e-12)
    assert errors[1] < 5e-4
    assert errors[0] / errors[1] == pytest.approx(10, abs=1)


# ------------------------------------------------------------------------------------------------------- driven links
@pytest.mark.long
def test_driven_links_are_the_exact_pendulum_and_keep_liouvilles_volume():
    still = driven_links.Driven(np.array([0.7]), np.array([3.0]), 0.0, 5.0, 0.0)
    theta, omega = pendulum.motion(np.array([0.0, still.cycle]), pendulum.point_mass(0.7, 9.81), 1.1)
    end, slope = driven_links.strobe(still, np.array([1.1, 0.0]))
    assert end == pytest.approx([theta[1], omega[1]], abs=1e-10)
    assert np.linalg.det(slope) == pytest.approx(1.0, abs=1e-10)
    # Damping of mass: volume of angles and momenta shrinks by exp(- N alpha T); of angles and rates det A comes in.
    driven = driven_links.Driven(np.array([1.0, 0.7]), np.array([1.0, 0.6]), 0.1, 8.0, 0.4)
    start = np.array([0.3, -0.2, 0.1, 0.4])
    end, slope = driven_links.strobe(driven, start)
    before, after = (1.0 + 0.6 * np.sin(theta[0] - theta[1]) ** 2 for theta in (start, end))
    shrunk = np.exp(-2 * 0.4 * driven.cycle)
    assert np.linalg.det(slope) * after / before == pytest.approx(shrunk, rel=1e-9)
    way = 1e-5 * np.array([1.0, -0.5, 0.3, 0.8])
    difference = driven_links.strobe(driven, start + way)[0] - driven_links.strobe(driven, start - way)[0]
    assert slope @ way == pytest.approx(0.5 * difference, abs=1e-12)
