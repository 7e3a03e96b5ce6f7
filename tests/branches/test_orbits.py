"""Orbits, multipliers and bifurcations: those of the discrete scheme, of closed forms, of independent integrations."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import fem
from fem.errors import CommandError, NoConvergence
from fem.study import branches
from fem.study.branches import DOUBLING, FOLD, GRAZING, Orbits, orbits
from fem.study.continuation import Continuation, continuation
from fem.study.sections import Section, Sections, chosen_column
from fem.study.strobe import Strobe
from tests.branches.oscillators import OSCILLATOR, STOP, TABLE, written
from tests.decks import chain

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
RIGID, ROPE = (INPUTS / f"string_pendulum_{kind}.inp" for kind in ("rigid", "rope"))


def places(found: Orbits, kind: str) -> np.ndarray:
    return found[found.name][found["kind"] == kind]


def test_linear_oscillator_is_the_fixed_point_of_its_scheme(tmp_path):
    force, omega, k, damping, count = 0.7, 1.6, 2.0, 0.3, 50
    parameters = {"F": force, "omega": omega, "k": k, "k3": 1e-12, "damping": damping, "increments": count}
    found = orbits(written(tmp_path, OSCILLATOR), parameters=parameters)
    # Average acceleration is the trapezoidal rule of z' = S z + f: z1 = R z0 + (f0 + f1) part, all of it linear.
    h, still = 2.0 * np.pi / omega / count, np.eye(2)
    system = np.array([[0.0, 1.0], [-k, -damping]])
    implicit = np.linalg.inv(still - 0.5 * h * system)
    step = implicit @ (still + 0.5 * h * system)
    whole, forced = still, np.zeros(2)
    for n in range(count):
        both = force * (np.cos(omega * n * h) + np.cos(omega * (n + 1) * h))
        forced = step @ forced + implicit @ np.array([0.0, 0.5 * h * both])
        whole = step @ whole
    start = np.linalg.solve(still - whole, forced)
    first = found.orbits[0]
    assert [first.state.u[5], first.state.v[5]] == pytest.approx(start, abs=1e-10)
    expected = sorted(np.linalg.eigvals(whole), key=np.imag)
    assert sorted(first.multipliers, key=np.imag) == pytest.approx(expected, abs=1e-9)
    assert first.residual <= 1e-11 and first.unstable == 0
    # Liouville: the product is the volume that damping leaves, up to the error of the scheme, of order (omega h)^2.
    volume = np.exp(-damping * 2.0 * np.pi / omega)
    assert np.prod(first.multipliers).real == pytest.approx(volume, rel=5e-3)


def duffing(z: np.ndarray, force: float, omega: float, damping: float) -> tuple[np.ndarray, np.ndarray]:
    """P(z) - z and DP of u'' + damping u' + u + u^3 = force cos(omega t), by DOP853 with its variational equation."""

    def rate(t, y):
        slope = np.array([[0.0, 1.0], [-1.0 - 3.0 * y[0] ** 2, -damping]])
        a = force * np.cos(omega * t) - damping * y[1] - y[0] - y[0] ** 3
        return [y[1], a, *(slope @ y[2:].reshape(2, 2)).ravel()]

    y = solve_ivp(rate, (0.0, 2.0 * np.pi / omega), [*z, 1, 0, 0, 1], method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    return y[:2] - z, y[2:].reshape(2, 2)


@pytest.mark.long
def test_fold_of_the_duffing_oscillator(tmp_path):
    omega, damping, errors = 1.6, 0.1, []
    for increments in (100, 200):
        path = written(tmp_path, OSCILLATOR)
        found = orbits(path, {"F": [0.85, 1.0]}, parameters={"increments": increments}, depth=0)
        (row,) = np.flatnonzero(found["kind"] == FOLD)
        assert (found["unstable"][:row] == 0).all() and (found["unstable"][row + 1 :] == 1).all()
        assert found["F"][-1] == 0.85 and (found["residual"] <= 1e-8).all()
        (notice,) = found.notices  # beyond the fold there is no orbit of this branch
        assert "of the range was not reached: F = 0.87" in notice

        def singular(x):
            gap, slope = duffing(x[:2], x[2], omega, damping)
            return [*gap, np.linalg.det(slope - np.eye(2))]

        state = found.orbits[row].state
        reference = fsolve(singular, [state.u[5], state.v[5], found["F"][row]], xtol=1e-11)
        errors.append(found["F"][row] / reference[2] - 1.0)
    assert abs(errors[1]) < 5e-4 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)  # second order


def floquet(A: float, omega: float, beta: float, g: float, length: float, sense: float) -> np.ndarray:
    """Of the linearised pendulum under a support A cos(omega t), hanging (sense 1) or upright (-1), by DOP853.

    theta'' + beta theta' + sense (g - A omega^2 cos - beta A omega sin) theta/length = 0 (drag on absolute velocities).
    """

    def rate(t, y):
        pull = g - A * omega**2 * np.cos(omega * t) - beta * A * omega * np.sin(omega * t)
        return [y[1], -beta * y[1] - sense * pull / length * y[0]]

    span = (0.0, 2.0 * np.pi / omega)
    ends = [solve_ivp(rate, span, start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1] for start in np.eye(2)]
    return np.array(ends).T


def border(low: float, high: float, place: float, *rest: float) -> float:
    """The amplitude at which a multiplier is 1 or -1."""
    return brentq(lambda A: np.linalg.det(floquet(A, *rest) - place * np.eye(2)), low, high, xtol=1e-12)


@pytest.mark.long
def test_hanging_state_doubles_its_period_at_the_mathieu_tongue():
    g, length, beta = 9.8, 5.0, 0.1
    omega = 1.9 * np.sqrt(g / length)
    parameters = {"beta": beta, "theta0": 0.0, "omega": omega}
    found = orbits(RIGID, {"A": [0.32, 0.34]}, parameters=parameters)
    (at,) = places(found, DOUBLING)
    assert at == pytest.approx(border(0.1, 0.5, -1.0, omega, beta, g, length, 1.0), abs=1e-4)
    doubled = found["branch"] == 2
    # The new branch leads back to smaller amplitudes, where both it and the hanging state exist: it is unstable.
    assert (found["multiple"][doubled] == 2).all() and (found["unstable"][doubled] == 1).all()
    assert found["A"][doubled][-1] == 0.32 and found["greatest"][doubled][-1] > 0.8
    last = found.orbits[-1]
    half = Strobe(last.slopes.strobe.model, last.slopes.strobe.period)
    end = half.go(last.state)
    assert end.u[3] == pytest.approx(-last.state.u[3], abs=1e-9)  # half of it is its mirror image


def test_upright_state_is_held_by_fast_shaking():
    g, length, beta = 9.8, 5.0, 0.1
    omega = 20.0 * np.sqrt(g / length)
    parameters = {"beta": beta, "theta0": np.pi, "omega": omega}
    found = orbits(RIGID, {"A": [0.33, 0.35, 0.37]}, parameters=parameters, depth=0)
    (row,) = np.flatnonzero(found["kind"] == "branch point")
    assert found["A"][row] == pytest.approx(border(0.2, 0.6, 1.0, omega, beta, g, length, -1.0), abs=1e-4)
    assert found["A"][row] * omega == pytest.approx(np.sqrt(2.0 * g * length), rel=0.01)  # Kapitza's, for fast shaking
    assert (found["unstable"][:row] == 1).all() and (found["unstable"][row + 1 :] == 0).all()


@pytest.mark.long
def test_bouncing_ball_doubles_its_period_where_theory_says(tmp_path):
    """Flight of one period: v = g T/2 up and down, (1 - c) v = (1 + c) w with w the speed of the table y.

    The map of (t, v) from impact to impact has the determinant c^2 and the trace 1 + c^2 + (1 + c)^2 y''/g; so -1 is
    an eigenvalue where y'' = -2 (1 + c^2) g/(1 + c)^2, with (A omega^2)^2 = (omega w)^2 + y''^2.
    """
    c, g, omega = 0.5, 9.81, 20.0
    speed = (1.0 - c) / (1.0 + c) * np.pi * g  # omega w
    found = orbits(written(tmp_path, TABLE), {"A": [0.037, 0.038]}, transient=60, what="U3_2")
    (doubled,) = places(found, DOUBLING)
    assert doubled == pytest.approx(np.hypot(speed, 2.0 * (1.0 + c**2) * g / (1.0 + c) ** 2) / omega**2, abs=1e-9)
    first = found["branch"] == 1
    for A, each in zip(found["A"][first], found.orbits, strict=False):
        trace = 1.0 + c**2 - (1.0 + c) ** 2 * np.sqrt((A * omega**2) ** 2 - speed**2) / g
        assert each.multipliers.sum().real == pytest.approx(trace, abs=1e-6)
        assert np.prod(each.multipliers).real == pytest.approx(c**2, abs=1e-6)
    assert (found["impacts"] == found["multiple"]).all()
    stable = found["branch"] == 2
    assert stable.any() and (found["unstable"][stable] == 0).all() and (found["A"][stable] > doubled).all()


@pytest.mark.long
def test_grazing_is_where_the_free_motion_reaches_the_stop(tmp_path):
    omega, k, damping, count = 0.8, 1.0, 0.2, 200
    parameters = {"omega": omega, "k": k, "k3": 1e-12, "damping": damping, "increments": count}
    found = orbits(written(tmp_path, OSCILLATOR, STOP), {"F": [0.37, 0.41]}, parameters=parameters, depth=0)
    # Amplitude 1 of the linear oscillator; the scheme: as above, in the difference of two squares.
    assert places(found, GRAZING)[0] == pytest.approx(np.hypot(k - omega**2, damping * omega), rel=1e-3)
    assert found["impacts"][0] == 0


@pytest.mark.long
def test_a_rope_may_become_slack_at_the_time_of_the_section():
    parameters = {"increments": 100.0}
    found = orbits(ROPE, {"A": [7.55, 7.85]}, parameters=parameters, transient=40, depth=0)
    first, last = found.orbits[0], found.orbits[-1]
    # Slack, two displacements and two velocities, of which the rope has left two nothing; then taut: one and one.
    assert (len(first.multipliers), len(last.multipliers)) == (4, 2)
    assert np.abs(first.multipliers[2:]) == pytest.approx([0.0, 0.0], abs=1e-6)
    assert not found.notices and (found["kind"] == "").all() and (found["residual"] <= 1e-10).all()


def test_large_models_without_matrices_find_the_same(monkeypatch):
    """At rest every period is one of the motion: the multipliers are those of its small swings."""
    text = chain(4, young=50.0, dt=0.01, period=0.2, material="*DAMPING, ALPHA=3.")
    model = fem.parse_deck(text.replace("*END STEP", "*NODE PRINT, NSET=ALL\nU, V\n*END STEP"))
    dense = orbits(model, period=0.2, transient=20).orbits[0]
    monkeypatch.setattr(branches, "DENSE", 0)
    found = orbits(model, period=0.2, transient=20).orbits[0]
    assert dense.residual <= 1e-8 and found.residual <= 1e-8
    assert found.state.u == pytest.approx(dense.state.u, abs=1e-7)
    assert np.abs(found.multipliers) == pytest.approx(np.abs(dense.multipliers)[: len(found.multipliers)], abs=1e-6)


def test_what_of_the_range_was_not_reached_is_told():
    table = {"branch": np.array([1, 1, 1, 2, 2]), "F": np.array([1.0, 1.5, 1.2, 3.0, 2.0])}
    found = Orbits(table, "F", "U3_2", (), ("a notice",), (1.0, 5.0))
    assert found.missed.tolist() == [[1.5, 2.0], [3.0, 5.0]]
    assert found.notices[0] == "a notice"
    assert found.notices[1].startswith("62.5 % of the range was not reached: F = 1.5 to 2, 3 to 5.")
    assert "--transient" in found.notices[1]
    downwards = Orbits(table, "F", "U3_2", (), (), (3.0, 1.0))
    assert downwards.missed.tolist() == [[1.5, 2.0]]
    whole = Orbits({**table, "F": np.array([1.0, 4.0, 3.0, 3.0, 5.0])}, "F", "U3_2", (), (), (1.0, 5.0))
    assert whole.missed.size == 0 and whole.notices == ()


def test_the_displacement_that_moves_most_is_kept(tmp_path):
    """Of a ball that is held but upwards; a support that moves as prescribed is not asked for."""
    found = orbits(written(tmp_path, OSCILLATOR), parameters={"F": 0.1})
    track = found.orbits[0].section.motion_of("U3_2")
    assert found.what == "U3_2"
    assert (found["least"][0], found["greatest"][0]) == (track.min(), track.max())
    assert np.ptp(track) > 0.1
    shaken = written(tmp_path, TABLE).read_text().replace("NSET=BALL\n2", "NSET=BALL\n1, 2")
    model = fem.parse_deck(shaken)
    assert chosen_column(model, None, "") == "U3_2"


def test_names_are_checked_before_anything_is_computed(tmp_path, monkeypatch):
    path = written(tmp_path, OSCILLATOR)
    monkeypatch.setattr("fem.study.branches.correct", None)
    monkeypatch.setattr("fem.study.sections.solve", None)
    for ask in (lambda: orbits(path, what="U3_3"), lambda: continuation(path, {"F": [0.1, 0.2]}, what="U3_3")):
        with pytest.raises(CommandError, match="prints no U3_3; it prints U1_2"):
            ask()


SETS = (
    OSCILLATOR.replace("3, 2., 0., 0.", "3, 4., 0., 0.")
    .replace("*NSET, NSET=BALL\n2\n", "*NSET, NSET=BALL\n2\n*NSET, NSET=ALL\n1, 2, 3\n")
    .replace("*NODE PRINT, NSET=BALL\nU, V\n", "*NODE PRINT, NSET=ALL\nU, V\n*EL PRINT, ELSET=BARS\nT\n")
)


def test_of_a_set_the_largest_at_each_instant_is_kept(tmp_path):
    """Bars of different length, so that their forces differ; nodes at rest beside one that goes up and down."""
    path, given = written(tmp_path, SETS), {"F": 0.5}
    model = fem.read_deck(path, given)

    def of(section: Section, name: str) -> tuple[np.ndarray, np.ndarray]:
        return section.forces.get(name) or (section.of(name), section.motion_of(name))

    for name, members in (("T_BARS", ("T_1", "T_2")), ("U3_all", ("U3_1", "U3_2", "U3_3"))):
        found = orbits(path, parameters=given, what=name)
        its = found.orbits[0].section
        points, track = (np.max([of(its, each)[side] for each in members], axis=0) for side in (0, 1))
        assert (found["least"][0], found["greatest"][0]) == (track.min(), track.max())
        assert found["start"][0] == points[0] and np.ptp(track) > 1e-3
        section = Sections(cycles=6, points=4).section(model)
        points, track = (np.max([of(section, each)[side] for each in members], axis=0) for side in (0, 1))
        row = (section.period, track.min(), track.max(), *points)
        assert Sections(cycles=6, points=4, what=name).decided(model).row(model, 0) == row
        _, followed, _ = Continuation(None, 2, 4, name, "none", 0.0).follow(model, None)
        assert (*followed[:3], *followed[6:]) == pytest.approx(row, abs=1e-12)
    for name, words in (("T_TOPS", "no element set TOPS; there are BARS"), ("T_MASS", "prints no T_3; it prints U1_1")):
        for ask in (orbits, partial(continuation, grid={"F": [0.1, 0.2]})):
            with pytest.raises(CommandError, match=words):
                ask(path, what=name)


def test_a_deck_without_a_drive_is_told_so(tmp_path):
    text = OSCILLATOR.replace("*AMPLITUDE, NAME=DRIVE, DEFINITION=PERIODIC\n1, <omega>, 0., 0.\n1., 0.\n", "")
    path = written(tmp_path, text.replace("*CLOAD, AMPLITUDE=DRIVE", "*CLOAD"))
    with pytest.raises(CommandError, match="this deck has no periodic excitation"):
        orbits(path)


def test_where_no_orbit_is_found_it_is_told_what_to_try(tmp_path, monkeypatch):
    monkeypatch.setattr("fem.study.branches.MOST_ITERATIONS", 1)
    with pytest.raises(NoConvergence, match="try another initial state, or --transient N"):
        orbits(written(tmp_path, OSCILLATOR))


def test_what_cannot_be_asked_is_refused(tmp_path):
    path = written(tmp_path, OSCILLATOR)
    with pytest.raises(CommandError, match=r"no \*PARAMETER G"):
        orbits(path, {"G": [0.0, 1.0]})
    with pytest.raises(CommandError, match="one parameter"):
        orbits(path, {"F": [0.0, 1.0], "k": [1.0, 2.0]})
    with pytest.raises(
        fem.NoConvergence, match="no orbit was found"
    ):  # no drag and at its frequency: it grows for ever
        orbits(path, parameters={"k3": 1e-12, "damping": 0.0, "omega": 1.0, "increments": 2000})


SWING = """
*NODE
1, 0., 0., 0.
2, 0., 0., -2.
3, 5., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=M
10, 2
*MASS, ELSET=M, ALPHA=0.02
10.
*MATERIAL, NAME=R
*ELASTIC
1e10
*SOLID SECTION, ELSET=LINE, MATERIAL=R, STRAIN=ENGINEERING
1e-3
*BOUNDARY
1, 1, 3
3, 1, 3
2, 2
*AMPLITUDE, NAME=A, DEFINITION=PERIODIC
1, {omega}, 0., 0.
0., 1.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT, ALPHA=-0.1
{dt}, {period}
*WINCH{winch}
*DLOAD
M, GRAV, 9.81, 0., 0., -1.
*NODE PRINT
U
*END STEP
"""


def test_a_swing_whose_length_is_prescribed_has_no_history(tmp_path):
    """x'' + b x' + (g - L'' - b L') x/L = 0 for L(t) = 2 + 0.1 sin(omega t) (Hill), at twice the swing."""
    g, b, omega = 9.81, 0.02, 2.0 * np.sqrt(9.81 / 2.0)
    period = 2.0 * np.pi / omega

    def rate(t, y):
        sine, cosine = 0.1 * np.sin(omega * t), 0.1 * omega * np.cos(omega * t)
        return y[1], -(g + omega**2 * sine - b * cosine) * y[0] / (2.0 + sine) - b * y[1]

    ends = [solve_ivp(rate, (0.0, period), e, "DOP853", rtol=1e-11, atol=1e-13).y[:, -1] for e in np.eye(2)]
    expected = np.sort(np.linalg.eigvals(np.transpose(ends)).real)
    assert expected == pytest.approx([-1.10930, -0.87625], abs=1e-5)
    numbers = {"omega": omega, "dt": period / 400, "period": period}
    path = tmp_path / "swing.inp"
    path.write_text(SWING.format(winch=", AMPLITUDE=A\nLINE, 0.1", **numbers))
    multipliers = np.array(orbits(path).orbits[0].multipliers)
    across = np.sort(multipliers[np.abs(multipliers) > 0.1].real)
    assert across == pytest.approx(expected, abs=3e-4)  # of order (omega dt)^2, and the stretch of the line
    # What a winch has hauled to keep its tension is known from the past alone.
    path.write_text(SWING.format(winch=", TENSION\nLINE, 98.1", **numbers))
    with pytest.raises(CommandError, match=r"depend on its history \(winches and pulleys"):
        Strobe(fem.read_deck(path))
