"""The judges of impacts and of periodic motions: two ropes, a cradle, a table, tangent maps, Floquet multipliers."""

from dataclasses import replace

import numpy as np
import pytest

from validation.references import bouncing_ball, cradle, forced_orbits, rope, rope_tangent, two_ropes
from validation.references.string_pendulum import Pendulum

V = two_ropes.Hung(np.array([[-0.3, 0, 0], [0.3, 0, 0]]), np.array([1.0, 0.9]), np.array([0.3, 0, 0.1]), 6.0, drag=0.1)
REST = np.array([(1.0 - 0.81) / 1.2, 0.0, -np.sqrt(1.0 - (0.19 / 1.2 + 0.3) ** 2), 0.0, 0.0, 0.0])
TABLE = bouncing_ball.Ball(0.36, 2.0 * np.pi, 0.5)


def test_one_rope_of_two_is_the_string_pendulum():
    model, times = rope.Shaken(8.0), np.linspace(0.0, 9.0, 19)
    one = two_ropes.Hung(np.array([[0.0, 0.0, 8.0]]), np.array([5.0]), np.array([0.0, 0.0, 8.0]), model.omega, 9.8, 0.5)
    start = np.array([5.0 * np.sin(0.1), 0.0, 8.0 - 5.0 * np.cos(0.1), 0.0, 0.0, 0.0])
    found, exact = two_ropes.motion(one, start, times), rope.path(model, 0.1, times)
    assert found.states[:, [0, 2]] == pytest.approx(exact.position, abs=1e-10)
    told = [(event.what, event.time, event.loss) for event in found.events]
    assert [what for what, *_ in told] == [kind for _, kind, _ in exact.events]
    assert [numbers for _, *numbers in told] == [pytest.approx([t, loss], abs=1e-9) for t, _, loss in exact.events]


def test_two_ropes_in_a_mirror():
    mirror = replace(V, points=-V.points, shake=V.shake * [-1, 1, 1])
    times = np.linspace(0.0, 1.5, 31)
    left, right = two_ropes.motion(V, REST, times), two_ropes.motion(mirror, REST * [-1, 1, 1, -1, 1, 1], times)
    assert left.states[:, [0, 2]] * [-1, 1] == pytest.approx(right.states[:, [0, 2]], abs=1e-10)
    assert [event.what for event in left.events] == [event.what for event in right.events] and left.events


def test_ball_on_two_ropes_loses_energy_in_impacts_alone():
    still = replace(V, shake=np.zeros(3), drag=0.0, restitution=0.4)
    start = np.array([0.3, 0.2, -0.4, 0.5, 0.1, 0.0])
    found = two_ropes.motion(still, start, np.array([0.0, 1.0]))
    energy = 0.5 * (found.states[:, 3:] ** 2).sum(axis=1) + still.gravity * found.states[:, 2]
    lost = sum(event.loss for event in found.events)
    assert lost > 0.1 and energy[0] - energy[1] == pytest.approx(lost, abs=1e-9)


@pytest.mark.parametrize("pulled", [1, 3])
def test_equal_balls_hand_on_their_speeds(pulled):
    theta = np.where(np.arange(5) < pulled, -0.1, 0.0)
    states, impacts = cradle.swing(cradle.Cradle(), theta, np.array([0.0, 0.5]))
    after = states[-1, 5:] > 0.5 * states[-1, 5:].max()
    assert after.tolist() == [False] * (5 - pulled) + [True] * pulled
    model, (start, end) = cradle.Cradle(), states
    energies = [model.length * 0.5 * (y[5:] @ y[5:]) + model.gravity * (1 - np.cos(y[:5])).sum() for y in (start, end)]
    assert energies[1] == pytest.approx(energies[0], rel=1e-10) and len(impacts) == pulled * (5 - pulled)


def test_handed_on_speeds_keep_momentum():
    for c in (0.0, 0.3, 1.0):
        assert cradle.handed_on(2.0, c, 6).sum() == pytest.approx(2.0, rel=1e-14)
    theta = np.array([-0.1, 0.0, 0.0, 0.0, 0.0])
    _, impacts = cradle.swing(cradle.Cradle(restitution=0.8), theta, np.array([0.0, 0.4]))
    fast = np.sqrt(2.0 * 9.81 / 0.5 * (1.0 - np.cos(0.1)))
    assert impacts[3].rates == pytest.approx(cradle.handed_on(fast, 0.8, 5), abs=1e-5)


def test_a_ball_on_a_floor_is_a_geometric_sequence():
    found = bouncing_ball.impacts(replace(TABLE, amplitude=0.0), 1.0, 0.0, 8)
    assert found[:, 0] == pytest.approx(bouncing_ball.settle(1.0, 0.5, 9.81, 8), abs=1e-12)


@pytest.mark.parametrize("saddle", [False, True])
def test_multipliers_of_a_bouncing_ball_are_of_its_map(saddle):
    height, velocity = bouncing_ball.start(TABLE, saddle=saddle)
    time, _ = bouncing_ball.orbit(TABLE, saddle=saddle)
    assert bouncing_ball.impacts(TABLE, height, velocity, 3)[:, 0] == pytest.approx(time + np.arange(3), abs=1e-9)

    def period_later(z, v):
        t, after, _ = bouncing_ball.impacts(TABLE, z, v, 1)[0]
        left = TABLE.period - t
        return np.array([TABLE.table(t)[0] + after * left - 4.905 * left**2, after - 9.81 * left])

    start = np.array([height, velocity])
    columns = [(period_later(*(start + d)) - period_later(*(start - d))) / 2e-6 for d in 1e-6 * np.eye(2)]
    values, exact = np.linalg.eigvals(np.column_stack(columns)), bouncing_ball.multipliers(TABLE, saddle=saddle)
    assert np.sort(np.abs(values)) == pytest.approx(np.sort(np.abs(exact)), rel=1e-6)
    assert values.sum() == pytest.approx(exact.sum(), rel=1e-6)


def test_borders_of_a_bouncing_ball():
    fold = replace(TABLE, amplitude=bouncing_ball.fold_amplitude(TABLE) * (1.0 + 1e-12))
    assert bouncing_ball.multipliers(fold) == pytest.approx([1.0, 0.25], abs=1e-4)
    doubling = replace(TABLE, amplitude=bouncing_ball.doubling_amplitude(TABLE))
    assert bouncing_ball.multipliers(doubling) == pytest.approx([-1.0, -0.25], abs=1e-12)


@pytest.mark.long_cases("8.0-0.5")
@pytest.mark.parametrize(("amplitude", "restitution"), [(8.0, 0.0), (8.0, 0.5)])
def test_tangent_map_of_the_rope_is_a_derivative(amplitude, restitution):
    """Over an impact, bounces and a release."""
    model = rope.Shaken(amplitude, restitution=restitution)
    start, end = np.array([5.0 * np.sin(0.3), amplitude - 5.0 * np.cos(0.3), 0.0, 0.0]), 7.0
    *_, found = rope_tangent.tangent_map(model, start, False, 0.0, end, np.eye(4))

    def last(y):
        return rope_tangent.tangent_map(model, y, False, 0.0, end, np.zeros((4, 0)))[0]

    columns = [(last(start + d) - last(start - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
    assert found == pytest.approx(np.column_stack(columns), abs=2e-7)


def test_saltation_takes_c_squared_of_the_area():
    model = rope.Shaken(8.0, restitution=0.6)
    place = np.array([5.0 * np.sin(0.4), model.support(1.3)[0] - 5.0 * np.cos(0.4)])
    _, taut, jump = rope_tangent.impact(model, 1.3, np.array([*place, 1.0, model.support(1.3)[1] - 4.0]))
    assert not taut and np.linalg.det(jump) == pytest.approx(0.6**2, rel=1e-12)


def test_area_of_a_damped_pendulum_shrinks_as_it_should():
    for p, y in (
        (Pendulum(4.0, 0.1), np.array([0.3, 0.5])),
        (Pendulum(2.0, 0.1, k=200.0, k2=50.0), np.array([1.0, -2.9, 0, 0])),
    ):
        determinant = np.linalg.det(forced_orbits.strobe(p, y)[1])
        assert determinant == pytest.approx(np.exp(-0.1 * p.cycle * len(y) / 2.0), rel=1e-8)


def test_borders_of_states_at_rest():
    """Mathieu: the first tongue of a slight forcing at twice the frequency; Kapitza: fast ones hold it upright."""
    slight = Pendulum(0.01, 0.0, length=1.0, gravity=1.0, mass=1.0, omega=2.01)
    # theta'' + (1 - 4 A cos 2 tau) theta: unstable for |detuning of omega0 over omega/2| < A/... at first order
    border = forced_orbits.rest_border(slight, -1.0, 0.0005, 0.03, step=0.0005)
    delta, q = (2.0 / 2.01) ** 2, 0.01  # a = delta, tongue from 1 - q - q^2/8 with q = 2 A
    assert border == pytest.approx((1.0 - delta) / 2.0, rel=0.01) and q == pytest.approx(2.0 * border, rel=0.01)
    fast = Pendulum(0.01, 0.0, length=0.1, gravity=9.81, mass=0.01, omega=2.0 * np.pi * 200.0)
    found = forced_orbits.rest_border(fast, 1.0, 0.0008, 0.0015, upright=True, step=0.00005)
    assert found == pytest.approx(np.sqrt(2.0 * 9.81 * 0.1) / fast.drive, rel=1e-3)


@pytest.mark.long
def test_orbits_of_a_stiff_spring_are_near_those_of_the_rod():
    """And their multipliers, of which the spring has two more."""
    rod = Pendulum(4.0, 0.1)
    found = forced_orbits.find_orbit(rod, np.array([0.05, 1.381]))
    theta, rate = found.state
    place = [5.0 * np.sin(theta), 4.0 - 5.0 * np.cos(theta), 5.0 * rate * np.cos(theta), 5.0 * rate * np.sin(theta)]
    near = forced_orbits.find_orbit(replace(rod, k=400.0), np.array(place))
    assert near.residual < 1e-9 and near.state == pytest.approx(place, abs=0.3)
