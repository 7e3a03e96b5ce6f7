"""A bar's laws: tangent = derivative of force, force = derivative of energy, rigid motion gives no force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fem.assembly.system import linearised
from fem.forces import bar
from fem.forces.bar import CONSTANTS, STORED, Bars, bar_point, blocks_of, evaluate_bars
from fem.forces.laws import BILINEAR, ENGINEERING, GREEN, LOG, TABLE
from tests.trials import trial

TABLE_ROWS = np.array([[-0.5, -30.0, 0.0], [0.0, 0.0, 0.0], [0.2, 40.0, 0.0], [0.9, 60.0, 0.0]])
TABLE_ROWS[:, 2] = [7.5, 0.0, 4.0, 39.0]  # integral of the force from elongation 0
MEASURES = {"green": GREEN, "engineering": ENGINEERING, "log": LOG}


def one_bar(
    kind: int, *, law: int = BILINEAR, minus: float = 1.0, plus: float = 1.0, eta: float = 0.0, rest: float = 1.0
) -> Bars:
    """A bar from the origin to (0.8, -0.3, 0.5) with a stiffness of about 100; rest: L0 over its length there."""
    constants = np.zeros((CONSTANTS, 1))
    vector = np.array([0.8, -0.3, 0.5])
    constants[bar.REF : bar.REF + 3, 0] = vector
    constants[bar.INV_LENGTH, 0] = 1.0 / (rest * np.linalg.norm(vector))
    constants[bar.BASE_CONSTANT, 0] = 0.5 * (1.0 - rest**2) * vector @ vector
    constants[bar.AREA, 0] = 1.0 if law == TABLE else 0.4
    constants[bar.YOUNG, 0] = 250.0
    constants[bar.COMPLIANCE, 0] = constants[bar.AREA, 0] / constants[bar.INV_LENGTH, 0] / 250.0
    constants[bar.PLUS, 0], constants[bar.MINUS, 0] = plus, minus
    constants[bar.STRESS0, 0] = 3.0
    constants[bar.VISCOUS, 0] = eta
    constants[bar.OF_LAW + 1, 0] = len(TABLE_ROWS) if law == TABLE else 0
    nodes = np.array([[0, 1]])
    empty = np.zeros(0)
    kinds = np.array([[kind, law]])
    return Bars(nodes, kinds, blocks_of(kinds, constants), constants, TABLE_ROWS, empty, empty, np.zeros(0, np.int64))


def evaluate(bars: Bars, u0, u1, v1, *, secant=False, rate=0.0, weight=1.0, onset=0.0):
    force, bar_tangent = np.zeros(6), np.zeros((STORED, 1))
    state = trial(u1, u0=u0, v1=v1, secant=secant, weight=weight, rate=rate, onset=onset, thermal=0.001)
    evaluate_bars(state, bars, True, force, np.zeros(6), bar_tangent)
    return force, bar_tangent[:, 0]


def block(bar_tangent) -> np.ndarray:
    return bar_tangent[1] * np.outer(bar_tangent[2:5], bar_tangent[5:8]) + bar_tangent[0] * np.eye(3)


VARIANTS = [
    pytest.param(kind, options, linear, secant, id=f"{name}-{label}{'-linear' * linear}{'-secant' * secant}")
    for (name, kind), (label, options), linear, secant in itertools.product(
        MEASURES.items(),
        {
            "bar": {},
            "cable": {"minus": 0.0},
            "soft": {"minus": 0.3},
            "strut": {"plus": 0.0},
            "table": {"law": TABLE},
            "viscous": {"eta": 5.0},
            "viscous cable": {"eta": 0.2, "minus": 0.0},
            "viscous cable, let go": {"eta": 50.0, "minus": 0.0},
            "viscous strut, let go": {"eta": 50.0, "plus": 0.0},
            "viscous soft": {"eta": 3.0, "minus": 0.3},
            "viscous soft strut, let go": {"eta": 50.0, "plus": 0.3},
            "viscous soft, of its own length": {"eta": 3.0, "minus": 0.3, "rest": 0.9},
            "table, of its own length": {"law": TABLE, "rest": 1.1},
        }.items(),
        (False, True),
        (False, True),
    )
]


@pytest.mark.parametrize(("kind", "options", "linear", "secant"), VARIANTS)
@pytest.mark.parametrize("stretch", [0.13, -0.11])
@pytest.mark.parametrize("onset", [0.0, 1.0])
@pytest.mark.sampled
def test_tangent_is_the_derivative_of_the_force(kind, options, linear, secant, stretch, onset):
    """To 1e-8 of the stiffness, by fourth-order central differences of step 1e-3 (error about 1e-12 / step)."""
    bars = one_bar(kind, **options)
    rng = np.random.default_rng(7)
    if linear:
        bars = linearised(bars, 0.1 * rng.normal(size=6))
    axis = bars.constants[bar.REF : bar.REF + 3, 0]
    u0 = np.concatenate([np.zeros(3), -0.3 * stretch * axis]) + 0.02 * rng.normal(size=6)
    u1 = np.concatenate([np.zeros(3), stretch * axis]) + 0.02 * rng.normal(size=6)
    v1, rate = rng.normal(size=6), 7.0

    def force_at(shift):
        moved = u1.copy()
        moved[3:] += shift
        speed = v1.copy()
        speed[3:] += rate * shift
        return evaluate(bars, u0, moved, speed, secant=secant, rate=rate, onset=onset)[0][3:]

    h = 1e-3
    numeric = np.column_stack(
        [
            (8 * (force_at(h * e) - force_at(-h * e)) - force_at(2 * h * e) + force_at(-2 * h * e)) / (12 * h)
            for e in np.eye(3)
        ]
    )
    exact = block(evaluate(bars, u0, u1, v1, secant=secant, rate=rate, onset=onset)[1])
    assert np.allclose(exact, numeric, rtol=0, atol=1e-8 * 250.0)


@pytest.mark.parametrize(("kind", "options", "linear", "secant"), [v for v in VARIANTS if "viscous" not in v.id])
def test_force_is_the_derivative_of_the_energy(kind, options, linear, secant):
    """Point force: dW/dx. Secant force: f . (u1 - u0) = W1 - W0 exactly (discrete gradient)."""
    bars = one_bar(kind, **options)
    rng = np.random.default_rng(3)
    if linear:
        bars = linearised(bars, 0.1 * rng.normal(size=6))
    u0, u1 = 0.1 * rng.normal(size=6), 0.1 * rng.normal(size=6)
    thermal, still = np.array([0.001]), np.zeros(6)

    def energy(u):
        return bar_point(0, u, still, bars, thermal, np.zeros(1))[5]

    force, _ = evaluate(bars, u0, u1, still, secant=secant)
    if secant:
        assert force @ (u1 - u0) == pytest.approx(energy(u1) - energy(u0), abs=1e-13)
        return
    h = 1e-4
    numeric = [
        (8 * (energy(u1 + h * e) - energy(u1 - h * e)) - energy(u1 + 2 * h * e) + energy(u1 - 2 * h * e)) / (12 * h)
        for e in np.eye(6)
    ]
    assert np.allclose(force, numeric, rtol=0, atol=1e-8 * 250.0)


@given(
    axis=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1),
    angle=st.floats(-3, 3),
    shift=st.tuples(*[st.floats(-10, 10)] * 3),
    kind=st.sampled_from(list(MEASURES.values())),
    rest=st.sampled_from([1.0, 0.7, 1.4]),
)
@settings(max_examples=25)
def test_rigid_motion_gives_no_strain(axis, angle, shift, kind, rest):
    """Nor does any place in which a bar of its own length has that length."""
    bars = one_bar(kind, rest=rest)
    bars.constants[bar.STRESS0, 0] = 0.0
    n = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    turn = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    vector = bars.constants[bar.REF : bar.REF + 3, 0]
    u = np.concatenate([shift, np.array(shift) + rest * turn @ vector - vector])
    force = np.zeros(6)
    evaluate_bars(trial(u), bars, True, force, np.zeros(6), np.zeros((STORED, 1)))
    assert np.abs(force).max() < 250 * 1e-13


def test_strains_agree_with_their_definitions():
    """Closed forms of the three measures and the force along the bar, N l/L0 for GREEN, N for the others."""
    from fem.forces.families import element_values
    from fem.forces.springs import Springs

    springs = Springs(np.zeros((0, 2), np.int64), np.zeros((0, 4)), TABLE_ROWS, np.zeros(0, np.int64))
    stretch = 1.3
    for kind, strain, conjugate, along in (
        (GREEN, (stretch**2 - 1) / 2, 1.0, stretch),
        (ENGINEERING, stretch - 1, 1.0, 1.0),
        (LOG, np.log(stretch), 1 / stretch, 1 / stretch),
    ):
        bars = one_bar(kind)
        u = np.concatenate([np.zeros(3), (stretch - 1) * bars.constants[:3, 0]])
        values = np.zeros((1, 4))
        nothing = np.zeros(1), np.zeros(1), np.zeros(0)
        element_values(np.array([[0, 0]]), u, np.zeros(6), bars, springs, None, *nothing, values)
        stress = 250.0 * strain + 3.0
        assert values[0] == pytest.approx([strain, stress, 0.4 * stress * conjugate, 0.4 * stress * along], rel=1e-14)
        force, _ = evaluate(bars, u, u, np.zeros(6))
        pull = np.linalg.norm(force[3:])
        shift = 0.4 * 250.0 * 0.001  # ``evaluate`` has a thermal strain of 0.001
        factor = along if kind != LOG else conjugate
        assert pull == pytest.approx(0.4 * stress * along - shift * factor, rel=1e-13)


def test_starting_tension_acts_in_the_tangent_only_and_only_while_unstressed():
    bars = one_bar(GREEN)
    bars.constants[bar.STRESS0, 0] = 0.0
    bars.constants[bar.STARTING, 0] = 50.0
    rest = np.zeros(6)
    force, bar_tangent = np.zeros(6), np.zeros((STORED, 1))
    evaluate_bars(trial(rest), bars, True, force, np.zeros(6), bar_tangent)
    assert not force.any()
    assert bar_tangent[bar.GEOMETRIC, 0] == pytest.approx(50.0 * bars.constants[bar.INV_LENGTH, 0])
    stretched = np.concatenate([np.zeros(3), 0.01 * bars.constants[:3, 0]])
    evaluate_bars(trial(stretched), bars, True, force, np.zeros(6), bar_tangent)
    assert bar_tangent[bar.GEOMETRIC, 0] == pytest.approx(bar_tangent[bar.PULL, 0])


@given(st.floats(-0.3, 3), st.floats(-0.3, 3), st.sampled_from(list(MEASURES.values())))
@settings(max_examples=60)
def test_secant_slope_times_difference_is_the_strain_difference(green0, green1, kind):
    from fem.forces.laws import measure

    e0, e1, slope1, slope, _ = measure(kind, green0, green1, 0.0, 1.0)
    assert e1 - e0 == pytest.approx(slope * (green1 - green0), abs=4e-15)
    _, _, point, same, half = measure(kind, green1, green1, 0.0, 1.0)
    assert point == pytest.approx(slope1, rel=1e-15)
    assert same == pytest.approx(point, rel=1e-14)
    h = 1e-4
    ahead, behind = (
        measure(kind, green1 + h, green1 + h, 0.0, 1.0)[2],
        measure(kind, green1 - h, green1 - h, 0.0, 1.0)[2],
    )
    assert 2 * half == pytest.approx((ahead - behind) / (2 * h), rel=1e-5)
