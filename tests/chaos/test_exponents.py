"""Exponents that are known: linear oscillators, conservative motion, the forced pendulum; both methods agree."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.study.exponents import Lyapunov, beyond_bar, lyapunov, rates, weighted_rate
from fem.study.trajectory import halved

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


@pytest.mark.long
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


@pytest.mark.parametrize("amplitude, known", [(4.0, -0.05), pytest.param(11.0, 0.2, marks=pytest.mark.long)])
def test_both_methods_agree_and_find_the_known_values(amplitude, known):
    """ODE: validation/references."""
    parameters, time = {"A": amplitude, "beta": 0.1}, 1200.0
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


def test_a_difference_has_the_error_of_both_values():
    """Of equal and independent ones: sqrt(2) times as large."""
    assert beyond_bar(np.array([1.4, -1.4, 1.43, -1.43]), np.ones(4)).tolist() == [False, False, True, True]


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
        ({"transient": 1.0}, "fraction of the time"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(CommandError, match=message):
        Lyapunov(**settings)


def test_a_static_deck_and_a_short_time_are_refused():
    with pytest.raises(CommandError, match="not \\*DYNAMIC"):
        lyapunov(INPUTS / "ssnl105a.inp")
    with pytest.raises(CommandError, match="increase --time"):
        lyapunov(RIGID, time=1.0)


# ------------------------------------------------------------------------------------------ what dt does
OSCILLATOR = """*PARAMETER
dt = 0.2
*NODE
1, 0., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=S
1, 1
*SPRING, ELSET=S
1
4.
*ELEMENT, TYPE=DASHPOT1, ELSET=D
2, 1
*DASHPOT, ELSET=D
1
0.6
*ELEMENT, TYPE=MASS, ELSET=M
3, 1
*MASS, ELSET=M
1.
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 1, 1.
*BOUNDARY
1, 2, 3
*STEP, INC=10000000
*DYNAMIC, DIRECT
<dt>, 2000.
*END STEP
"""


def trapezoidal(dt: float) -> float:
    """The exponent of u'' + 0.6 u' + 4 u = 0 by the trapezoidal rule, which maps s to (1 + s dt/2)/(1 - s dt/2)."""
    s = complex(-0.3, np.sqrt(4.0 - 0.3**2))
    return float(np.log(abs((1 + 0.5 * s * dt) / (1 - 0.5 * s * dt))) / dt)


@pytest.mark.parametrize(
    ("dt", "method"),
    [(0.2, "tangent"), (0.2, "two"), (0.02, "tangent"), pytest.param(0.02, "two", marks=pytest.mark.long)],
)
def test_error_of_dt_is_that_of_the_trapezoidal_rule(method, dt):
    model = fem.parse_deck(OSCILLATOR, {"dt": dt})
    every = 20 if method == "two" else None  # the motions meet within 400 increments
    found = lyapunov(model, time=800.0, method=method, every=every, again="dt")
    assert found.values[0] == pytest.approx(trapezoidal(dt), abs=2e-5)
    assert found.dt_errors[0] == pytest.approx(trapezoidal(dt / 2) - trapezoidal(dt), abs=2e-5)
    # 0.0034 of -0.3 with a bar of 0.003: seen at dt = 0.2; a hundred times less at 0.02.
    assert found.moved.tolist() == [dt == 0.2]
    assert np.isnan(lyapunov(model, time=800.0, method=method, every=every).dt_errors).all()


def test_increments_that_are_not_all_equal_are_not_halved():
    for old, new in ((", DIRECT\n<dt>, 2000.", "\n<dt>, 2000., 1e-6, 0.1"), ("DIRECT\n<dt>", "EXPLICIT\n ")):
        model = fem.parse_deck(OSCILLATOR.replace(old, new))
        assert halved(model) is None
    kept = fem.parse_deck(OSCILLATOR)
    finer = halved(kept)
    assert finer is not None and finer.steps[-1].procedure.dt == 0.1 and finer.steps[-1].max_increments is None


@pytest.mark.long
def test_one_point_in_ten_is_run_again_whoever_computes_it_and_when(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("swing.inp").write_text(OSCILLATOR.replace("0.6", "<c>").replace("*PARAMETER\n", "*PARAMETER\nc = 0.6\n"))
    command = ["lyapunov", "swing.inp", "--time", "400", "--vary", "c=0.4:0.6:12"]
    assert main([*command, "--output", "whole"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "note: at dt/2 no exponent changes by more than its error bar (2 of 12 parameter sets repeated)" in output
    table = Path("whole/sweep.csv").read_text().splitlines()
    names = table[0].split(",")
    cells = [line.split(",")[names.index("error_dt_1")] for line in table[1:]]
    assert [number for number, cell in enumerate(cells) if cell] == [0, 10]
    # Broken off after the fifth row, gone on with two processes: the same bytes.
    shutil.copytree("whole", "again")
    Path("again/sweep.csv").write_text("\n".join(table[:6]) + "\n")
    monkeypatch.setattr("fem.study.workers.START_UP", 0.0)
    monkeypatch.setattr("fem.study.files.draw", lambda path, figure, *what: None)
    assert main([*command, "--output", "again", "--workers", "2", "--quiet"]) == 0
    assert Path("again/sweep.csv").read_bytes() == Path("whole/sweep.csv").read_bytes()
    # Another question makes another sweep.
    capsys.readouterr()
    assert main([*command[:-1], "c=0.6,0.59", "--set", "dt=0.4", "--error", "dt", "--output", "all"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert (
        "note: dt matters: for 2 of 2 parameter sets repeated at dt/2 an exponent changes by more than its error bar"
        in output
    )
    assert "--error dt checks all sets" in output
    alone = ["lyapunov", "swing.inp", "--time", "400", "--set", "dt=0.4", "--output", "one"]
    assert main(alone) == 0
    assert "-0.288416 at dt/2, a change of -0.028874\nnote: dt matters" in capsys.readouterr().out
    assert main([*alone, "--error", "none"]) == 0
    assert "dt" not in capsys.readouterr().out
