"""Automatic increments of ``*DYNAMIC``: their length follows the local error of the increment."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.model import Dynamic
from fem.solve.clock import Progress
from fem.solve.newton.estimate import error_constants
from fem.solve.schemes import SCHEMES
from tests.decks import chain, run_text

TURN = 2.0 * np.pi
INTEGRATORS = ["NEWMARK", "HHT", "GENERALIZED ALPHA", "ENERGY MOMENTUM"]


def oscillator(
    *, dt: float = 0.01, period: float = 3.0, error: str = "1e-4", integrator: str = "NEWMARK", limits: str = "",
    speed: float = 1.0, force: str = "0, 0, 1, 0", stiffness: float = TURN**2, output: str = "", direct: str = "",
) -> str:  # fmt: skip
    """A unit mass on a spring (1 Hz), set off with ``speed`` and under a ``force`` given as an amplitude."""
    return f"""*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=MASS, ELSET=M
1, 2
*MASS, ELSET=M
1.
*ELEMENT, TYPE=SPRING1, ELSET=S
2, 2
*SPRING, ELSET=S
1
{stiffness!r}
*BOUNDARY
1, 1, 3
2, 2, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, {speed!r}
*AMPLITUDE, NAME=FORCE
{force}
*TIME POINTS, NAME=TP
0.1234, 0.5, 0.77
*STEP, NLGEOM
*DYNAMIC{direct}, TIME INTEGRATOR={integrator}
{dt!r}, {period!r}{limits}
*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF, TIME ERROR={error}
*CLOAD, AMPLITUDE=FORCE
2, 1, 1.
{output}*END STEP
"""


def largest_error(history: fem.History) -> float:
    """Of the free oscillation, over its amplitude."""
    return float(TURN * np.abs(history.u[:, 3] - np.sin(TURN * history.time) / TURN).max())


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_accuracy_follows_the_tolerance(integrator):
    """Local errors are of third order, so dt goes with tol^(1/3) and the error at the end with tol^(2/3)."""
    runs = [run_text(oscillator(error=error, integrator=integrator)) for error in ("1e-4", "1e-6")]
    lengths = [history.dt[history.time > 2.0].mean() for history in runs]
    errors = [largest_error(history) for history in runs]
    assert lengths[0] / lengths[1] == pytest.approx(100 ** (1 / 3), rel=0.15)
    assert errors[0] / errors[1] == pytest.approx(100 ** (2 / 3), rel=0.3)
    # per increment 1e-4 at most, most of it in phase: no more than that share of all increments
    assert errors[0] < 1e-4 * len(runs[0].time)


@pytest.mark.parametrize("integrator", [*INTEGRATORS, "BACKWARD EULER"])
def test_estimate_is_the_error_of_one_increment(integrator):
    """Against the exact oscillation: one increment from exact u, v and a, its error over the estimate."""
    lead, change, lag, power = error_constants(SCHEMES[integrator](Dynamic(1.0, 1.0)).coefficients)
    shares, estimates = [], []
    for dt in (0.01, 0.005):
        history = run_text(oscillator(dt=dt, period=dt, integrator=integrator, direct=", DIRECT", force="0, 40, 1, 40"))
        u, v, a = history.u[1, 3], history.v[1, 3], history.a[:, 3]
        sine, cosine = np.sin(TURN * dt), np.cos(TURN * dt)
        exact = sine / TURN + 40 * (1 - cosine) / TURN**2, cosine + 40 * sine / TURN
        # the first acceleration is exact, later ones lag by theta dt
        estimate = dt**2 * (lead * abs(a[0]) + change * abs(a[1] - a[0]) / (1 + lag))
        shares.append(max(abs(u - exact[0]), dt * abs(v - exact[1])) / estimate)
        estimates.append(estimate)
    assert np.log2(estimates[0] / estimates[1]) == pytest.approx(power, abs=0.2)
    assert 0.2 < shares[1] <= 1.3, shares


def test_newmark_constants():
    """The trapezoidal rule has 1/12, as Zienkiewicz and Xie; the linear acceleration rule does not vanish."""

    def constants(**given: float) -> tuple[float, float, float, float]:
        return error_constants(SCHEMES["NEWMARK"](Dynamic(1.0, 1.0, **given)).coefficients)  # type: ignore[arg-type]

    assert constants() == pytest.approx((0.0, 1 / 12, 0.0, 3.0))
    assert constants(beta=1 / 6) == pytest.approx((0.0, 1 / 12, 0.0, 3.0))
    assert constants(beta=0.3025, gamma=0.6) == pytest.approx((0.0, 0.3025 - 1 / 6 + 0.1, 0.0, 3.0))


def test_increments_stay_within_their_limits():
    history = run_text(oscillator(limits=", 0.008, 0.012"))
    assert history.dt[1:].min() >= 0.5 * 0.008 and history.dt.max() <= 0.012
    assert any("0.008 to 0.012" in notice for notice in history.notices)
    # 0.05 is far too long for 1e-4, and the limit says so
    coarse = run_text(oscillator(dt=0.05, limits=", 0.05, 0.05"))
    assert set(np.round(coarse.dt[1:], 12)) == {0.05}
    assert any("as short as allowed" in notice for notice in coarse.notices)


def test_first_increment_may_be_any():
    """Too long a one is cut back, too short a one grows by at most the factor of *CONTROLS; the rest is alike, but for
    windows of the motion that begin elsewhere."""
    long, short = run_text(oscillator(dt=0.3)), run_text(oscillator(dt=1e-6))
    assert long.cutbacks[1] > 0 and long.events[0].event == "cutback"
    assert (short.dt[2:] / short.dt[1:-1]).max() < 1.501
    tail = [history.dt[history.time > 1.5].mean() for history in (long, short)]
    assert tail[0] == pytest.approx(tail[1], rel=0.1)


def test_lands_on_time_points_and_on_the_end():
    history = run_text(oscillator(output="*NODE PRINT, TIME POINTS=TP\nU\n"))
    assert {0.1234, 0.5, 0.77, 3.0} <= set(history.time.tolist())
    np.testing.assert_allclose(np.cumsum(history.dt), history.time, rtol=1e-12)
    assert history.dt[1:].min() > 2e-3  # no crumbs in front of them


def test_small_increments_where_the_load_is_fast():
    """A pulse of 60 ms after a second of slow motion: cut back where it begins, grown again half a second later."""
    pulse = "0, 0, 1, 0, 1.03, 10., 1.06, 0., 4., 0."
    history = run_text(oscillator(speed=1e-3, force=pulse, period=4.0))
    exact = run_text(oscillator(speed=1e-3, force=pulse, period=4.0, dt=2.5e-4, direct=", DIRECT"))
    lengths = [history.dt[(history.time > a) & (history.time < b)] for a, b in ((0.5, 0.95), (1.0, 1.05), (2.0, 4.0))]
    assert lengths[1].min() < 0.5 * lengths[0].mean() and lengths[1].min() < 0.5 * lengths[2].mean()
    wanted = np.interp(history.time, exact.time, exact.u[:, 3])
    assert np.abs(history.u[:, 3] - wanted).max() < 0.03 * np.abs(exact.u[:, 3]).max()


def test_fewer_increments_than_equal_ones_at_equal_error():
    """An oscillator whose force runs through a slow, a fast and a slow part."""
    times = np.linspace(0.0, 6.0, 6001)
    rate = 1.0 + 24.0 * np.exp(-(((times - 3.0) / 0.3) ** 2))
    phase = np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(times))])
    values = rate**2 * np.sin(TURN * phase / 2.0)
    force = "\n".join(
        ", ".join(f"{t:.9g}, {f:.9g}" for t, f in zip(times[k : k + 4], values[k : k + 4], strict=True))
        for k in range(0, 6000, 4)
    )
    chirp = {"period": 6.0, "force": force, "stiffness": 0.01, "speed": 0.0}
    exact = run_text(oscillator(dt=1e-4, direct=", DIRECT", **chirp))  # type: ignore[arg-type]

    def error(history: fem.History) -> float:
        wanted = np.interp(history.time, exact.time, exact.v[:, 3])
        return float(np.abs(history.v[:, 3] - wanted).max() / np.abs(exact.v[:, 3]).max())

    automatic = run_text(oscillator(dt=0.01, error="1e-6", **chirp))  # type: ignore[arg-type]
    equal = run_text(oscillator(dt=6.0 / (2 * len(automatic.time)), direct=", DIRECT", **chirp))  # type: ignore[arg-type]
    assert error(automatic) < error(equal), (error(automatic), error(equal), len(automatic.time))


def test_trouble_cuts_back_and_recovers():
    """Six solves are too few for the first increment of a falling chain."""
    text = chain(4, dt=0.05, period=0.5).replace("*DYNAMIC, DIRECT", "*DYNAMIC")
    text = text.replace("RESI_GLOB_RELA=1e-9", "RESI_GLOB_RELA=1e-9, ITER_GLOB_MAXI=5, TIME ERROR=0.1")
    history = run_text(text)
    assert history.cutbacks.sum() > 0 and history.time[-1] == 0.5
    smallest = int(history.dt[1:].argmin()) + 1
    assert history.dt[smallest:].max() > 1.2 * history.dt[smallest]


def test_off_keeps_the_first_increment():
    history = run_text(oscillator(error="OFF"))
    np.testing.assert_allclose(history.dt[1:], 0.01)


def test_rest_is_found_with_growing_increments():
    """Backward Euler damps the motion out; increments then grow to the largest one."""
    history = run_text(oscillator(integrator="BACKWARD EULER", period=20.0, limits=", , 0.5", error="1e-3"))
    assert history.dt.max() > 10.0 * history.dt[1:10].mean()
    assert abs(history.v[-1, 3]) < 1e-2


@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM"])
def test_runs_are_repeatable_and_start_anew_in_each_step(integrator):
    """The same bits twice; a second step that carries on is as accurate as one step."""
    text = chain(6, dt=0.01, period=0.6).replace("*DYNAMIC, DIRECT", f"*DYNAMIC, TIME INTEGRATOR={integrator}")
    runs = [run_text(text), run_text(text)]
    np.testing.assert_array_equal(runs[0].u, runs[1].u)
    half = text.replace("0.01, 0.6", "0.01, 0.3")
    step = half[half.index("*STEP") :]
    twice = run_text(half + step.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", ""))
    assert np.abs(twice.u[-1] - runs[0].u[-1]).max() < 3e-3


@pytest.mark.parametrize("integrator", ["NEWMARK", "GENERALIZED ALPHA", "BACKWARD EULER"])
@pytest.mark.parametrize("material", ["", "*NO COMPRESSION"])
def test_chunks_do_not_matter(integrator, material, monkeypatch):
    """The same bits with chunks of 1, of 7 and of any length, although increments are refused within them."""
    text = chain(6, dt=0.01, period=0.4, material=material)
    text = text.replace("*DYNAMIC, DIRECT", f"*DYNAMIC, TIME INTEGRATOR={integrator}")
    whole = run_text(text)
    assert whole.cutbacks.sum() > 0
    for length in (1, 7):
        monkeypatch.setattr(Progress, "pace", lambda self, spent, is_full, n=length: setattr(self, "chunk", n))
        monkeypatch.setattr("fem.solve.state.first_chunk", lambda system, n=length: n)
        parts = run_text(text)
        for name in ("time", "u", "v", "a", "energy", "iterations", "cutbacks"):
            assert np.array_equal(getattr(whole, name), getattr(parts, name)), (length, name)


def test_energy_is_kept_while_increments_change():
    text = chain(8, dt=0.01, period=1.0, young=1e4)
    text = text.replace("*DYNAMIC, DIRECT", "*DYNAMIC, TIME INTEGRATOR=ENERGY MOMENTUM")
    history = run_text(text)
    assert len(set(np.round(history.dt[1:], 9))) > 5
    assert np.abs(history.energy_error).max() < 1e-9 * history.of_energy("kinetic").max()
