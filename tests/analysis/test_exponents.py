"""Exponents that are known: linear oscillators, conservative motion, the forced pendulum; both methods agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.analysis.averages import rates, weighted_rate
from fem.analysis.exponents import Lyapunov, lyapunov
from fem.errors import CommandError

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
RIGID, SPRING = INPUTS / "string_pendulum_rigid.inp", INPUTS / "string_pendulum_spring.inp"
OSCILLATORS = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=S1
1, 1
*ELEMENT, TYPE=SPRING1, ELSET=S2
2, 2
*ELEMENT, TYPE=SPRING2, ELSET=S12
3, 1, 2
*SPRING, ELSET=S1
1
4.
*SPRING, ELSET=S2
1
9.
*SPRING, ELSET=S12
1, 1
1.
*ELEMENT, TYPE=DASHPOT1, ELSET=D1
4, 1
*DASHPOT, ELSET=D1
1
{c1}
*ELEMENT, TYPE=MASS, ELSET=M
5, 1
6, 2
*MASS, ELSET=M, ALPHA={alpha}
2.
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
1, 1, 0.3
*BOUNDARY
ALL, 2, 3
*STEP
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
{dt}, {time}
*END STEP
"""


def exact(c1: float, alpha: float) -> np.ndarray:
    """Real parts of the eigenvalues of the two oscillators, the largest first."""
    stiffness, damping = np.array([[5.0, -1.0], [-1.0, 10.0]]) / 2.0, np.diag([c1 / 2.0 + alpha, alpha])
    matrix = np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]])
    return np.sort(np.linalg.eigvals(matrix).real)[::-1]


def test_linear_damped_oscillators_have_their_exact_exponents():
    # The trapezoidal rule's own error is sigma (omega dt)^2/4: 2e-7 at dt = 0.002.
    model = fem.parse_deck(OSCILLATORS.format(c1=0.4, alpha=0.05, dt=0.002, time=400.0))
    found = lyapunov(model, exponents=4)
    assert found.values == pytest.approx(exact(0.4, 0.05), abs=1e-6)
    assert found.values.sum() == pytest.approx(-(0.4 / 2.0 + 2 * 0.05), abs=1e-6)  # - trace of M^-1 C
    assert not found.is_chaotic


def test_sum_of_all_exponents_of_a_nonlinear_model_is_the_trace_of_its_damping():
    found = lyapunov(RIGID, parameters={"A": 4.0, "increments": 1600}, time=600.0, exponents=2)
    assert found.values.sum() == pytest.approx(-0.1, abs=1e-6)  # one degree of freedom, beta/m = 0.1
    # The trapezoidal rule damps a mode of frequency w by 1/(1 + (w dt)^2/4) of the truth: 0.9976 for the spring.
    spring = lyapunov(SPRING, parameters={"A": 11.0, "increments": 1600}, time=300.0, exponents=4)
    assert spring.is_chaotic
    assert spring.values.sum() == pytest.approx(-0.1 - 0.1 / (1 + 1000 * 0.003117**2 / 4), abs=2e-5)


def test_conservative_regular_motion_has_exponent_zero_within_its_error():
    found = lyapunov(RIGID, parameters={"A": 0.0, "beta": 0.0, "theta0": 1.0}, time=600.0, exponents=2)
    assert np.all(np.abs(found.values) < found.errors)
    assert found.errors.max() < 0.02


@pytest.mark.parametrize("amplitude, known", [(4.0, -0.05), (11.0, 0.2)])  # ODE: validation/references
def test_both_methods_agree_and_find_the_known_values(amplitude, known):
    parameters, time = {"A": amplitude, "beta": 0.1}, 2000.0
    tangent = lyapunov(RIGID, parameters=parameters, time=time)
    two = lyapunov(RIGID, parameters=parameters, time=time, method="two")
    assert tangent.values[0] == pytest.approx(known, abs=tangent.errors[0])
    # A chaotic trajectory is another one when it is computed in other chunks: means agree within their error bars.
    assert two.values[0] == pytest.approx(tangent.values[0], abs=tangent.errors[0] + two.errors[0])
    assert tangent.is_chaotic == two.is_chaotic == (known > 0)


def test_error_bar_covers_the_spread_of_seeds():
    """Means of independent noise about 0.1: the error bar holds the truth nineteen times out of twenty."""
    generator = np.random.default_rng(3)
    inside = 0
    for _ in range(200):
        growth = 0.1 + generator.standard_normal((400, 1))
        value, error = rates(growth, np.ones(400))
        inside += abs(value[0] - 0.1) < error[0]
    assert inside > 180


def test_weighted_mean_of_a_quasi_periodic_signal_converges_fast():
    time = np.arange(400.0)
    signal = 0.3 + np.cos(1.7 * time) + np.sin(np.sqrt(7.0) * time)
    assert abs(signal.mean() - 0.3) > 1e-4
    assert weighted_rate(signal[:, None], np.ones(400))[0] == pytest.approx(0.3, abs=1e-7)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"method": "guess"}, "no method 'guess'"),
        ({"method": "two", "count": 2}, "largest exponent only"),
        ({"transient": 1.0}, "share of the time"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(CommandError, match=message):
        Lyapunov(**settings)


def test_a_static_deck_and_a_short_time_are_refused():
    with pytest.raises(CommandError, match="not \\*DYNAMIC"):
        lyapunov(INPUTS / "ssnl105a.inp")
    with pytest.raises(CommandError, match="a longer --time"):
        lyapunov(RIGID, time=1.0)
