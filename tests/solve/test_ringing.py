"""Automatic increments of stiff models: numerical damping takes ringing out, which TIME ERROR then does not follow."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.model import Dynamic
from fem.solve.newton.estimate import damps_ringing
from fem.solve.schemes import SCHEMES
from tests.decks import run_text

GRAVITY = 9.81


def pendulum(
    *, unit: float = 1.0, dt: str = "0.01", period: float = 4.0, error: str = "1e-4", integrator: str = "ALPHA=-0.05",
    angle: float = 30.0, links: int = 1, young: float = 2.1e11, material: str = "", velocity: str = "", inc: str = "",
) -> str:  # fmt: skip
    """Bars of total length 1 and unit mass at their ends, straight at ``angle`` from the vertical, without stress.
    unit  lengths of 1 m are ``unit`` of the deck; forces and times keep their units"""
    sine, cosine = float(np.sin(np.radians(angle))), float(np.cos(np.radians(angle)))
    places = [(i / links * sine * unit, -i / links * cosine * unit) for i in range(links + 1)]
    nodes = "\n".join(f"{i + 1}, {x!r}, 0, {z!r}" for i, (x, z) in enumerate(places))
    bars = "\n".join(f"{i + 1}, {i + 1}, {i + 2}" for i in range(links))
    masses = "\n".join(f"{i + 101}, {i + 2}" for i in range(links))
    weights = "\n".join(f"{i + 2}, 3, {-GRAVITY / links!r}" for i in range(links))
    return f"""*NODE
{nodes}
*ELEMENT, TYPE=T3D2, ELSET=BARS
{bars}
*ELEMENT, TYPE=MASS, ELSET=MASSES
{masses}
*MASS, ELSET=MASSES
{1 / links / unit!r}
*MATERIAL, NAME=STEEL
*ELASTIC
{young / unit**2!r}
{material}*SOLID SECTION, ELSET=BARS, MATERIAL=STEEL
{1e-4 * unit**2!r}
*BOUNDARY
1, 1, 3
{velocity}*STEP, NLGEOM{inc}
*DYNAMIC, {integrator}
{dt}, {period!r}
*CONTROLS, ENERGY DRIFT=OFF, TIME ERROR={error}
*CLOAD
{weights}
*END STEP
"""


def swing(history: fem.History, angle: float = 30.0) -> float:
    """Largest error of the end's horizontal place against the rigid pendulum, over its largest displacement."""
    start = np.radians(angle)
    exact = solve_ivp(
        lambda _, y: (y[1], -GRAVITY * np.sin(y[0])), (0.0, history.time[-1]), (start, 0.0), t_eval=history.time,
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    place = np.sin(start) + history.of_node(2)[:, 0]
    return float(np.abs(place - np.sin(exact.y[0])).max() / np.ptp(np.sin(exact.y[0])))


@pytest.mark.parametrize("integrator", ["ALPHA=-0.05", "TIME INTEGRATOR=GENERALIZED ALPHA"])
def test_a_stiff_pendulum_needs_a_hundred_increments_a_period(integrator):
    """Of 2.04 s, with a bar that vibrates 1500 times in it; the error is no more than TIME ERROR in each increment."""
    runs = [run_text(pendulum(integrator=integrator, error=error)) for error in ("1e-4", "1e-6")]
    assert len(runs[0].time) < 2 * 110
    errors = [swing(history) for history in runs]
    assert errors[0] < 1e-4 * len(runs[0].time)
    assert errors[1] < 1e-6 * len(runs[1].time)


@pytest.mark.parametrize("links", [1, 4])
def test_dampers_of_bars_change_no_increment_in_any_unit_of_length(links):
    """Powers of two have no rounding errors: the increments are the same to the last bit."""
    damped = [run_text(pendulum(unit=unit, links=links, material="*DAMPING, BETA=1e-9\n")) for unit in (1.0, 2.0**10)]
    assert np.array_equal(damped[0].time, damped[1].time)
    assert np.array_equal(damped[0].u, damped[1].u / 2.0**10)
    assert len(damped[0].time) == pytest.approx(len(run_text(pendulum(links=links)).time), rel=0.03)


@pytest.mark.parametrize("dt", ["1e-6", "4."])
def test_the_first_increment_of_a_stiff_pendulum_may_be_any(dt):
    history = run_text(pendulum(dt=dt))
    wanted = run_text(pendulum())
    assert history.dt[history.time > 2.0].mean() == pytest.approx(wanted.dt[wanted.time > 2.0].mean(), rel=0.15)
    assert swing(history) < 1.5 * swing(wanted)


def test_without_numerical_damping_the_trapezoidal_rule_follows_what_rings():
    """Which it would not survive otherwise (Newton lands on wrong branches)."""
    undamped, damped = run_text(pendulum(integrator="ALPHA=0")), run_text(pendulum())
    assert len(undamped.time) > 4 * len(damped.time)
    assert not any("vibrate" in notice for notice in undamped.notices)


@pytest.mark.parametrize(
    ("integrator", "damps"),
    [("NEWMARK", False), ("ENERGY MOMENTUM", False), ("HHT", True), ("GENERALIZED ALPHA", True),
     ("BACKWARD EULER", True)],
)  # fmt: skip
def test_schemes_with_numerical_damping(integrator, damps):
    """HHT with alpha = 0 and generalized alpha with rho = 1 have none, Newmark with gamma > 1/2 has."""
    assert damps_ringing(SCHEMES[integrator](Dynamic(1.0, 1.0)).coefficients) == damps
    undamped = Dynamic(1.0, 1.0, alpha=0.0, rho=1.0, gamma=0.6, beta=0.3025)
    if integrator in ("NEWMARK", "HHT", "GENERALIZED ALPHA"):
        assert damps_ringing(SCHEMES[integrator](undamped).coefficients) != damps


BAR = """*NODE
1, 0, 0, 0
2, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=B
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
{young!r}
*DENSITY
2.
*SOLID SECTION, ELSET=B, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP
*DYNAMIC{integrator}
{dt!r}, {period!r}
*CONTROLS, TIME ERROR={error}
*CLOAD
2, 1, 1.
*END STEP
"""
"""A bar that is pulled suddenly: (omega)^2 = young, twice the static displacement, for ever."""


@pytest.mark.parametrize(
    "integrator", ["", ", ALPHA=-0.2", ", TIME INTEGRATOR=GENERALIZED ALPHA", ", TIME INTEGRATOR=BACKWARD EULER"]
)
def test_what_the_first_increment_cannot_show_dies_out(integrator):
    """225 periods in a step that begins with an increment of two: no more increments than the longest ones make."""
    history = run_text(BAR.format(young=2e6, integrator=integrator, dt=0.01, period=1.0, error="1e-4"))
    assert len(history.time) < 110
    assert history.of_node(2)[-1, 0] == pytest.approx(1 / 2e6, rel=0.15)
    assert sum("vibrate faster" in notice for notice in history.notices) == 1
    assert any("has dissipated" in notice for notice in history.notices)  # and the energy watch lets it


@pytest.mark.parametrize("integrator", ["", ", TIME INTEGRATOR=GENERALIZED ALPHA"])
def test_what_increments_can_show_is_followed(integrator):
    """The same bar, three periods, from a tenth of one: dt goes with TIME ERROR^(1/3), errors with its power 2/3."""
    text = BAR.format(young=(2 * np.pi) ** 2, integrator=integrator, dt=0.1, period=3.0, error="{}")
    runs = [run_text(text.format(error)) for error in ("1e-5", "1e-7")]
    errors = [np.abs(run.of_node(2)[:, 0] - (1 - np.cos(2 * np.pi * run.time)) / (4 * np.pi**2)).max() for run in runs]
    lengths = [run.dt[run.time > 1.0].mean() for run in runs]
    assert lengths[0] / lengths[1] == pytest.approx(100 ** (1 / 3), rel=0.15)
    assert errors[0] / errors[1] == pytest.approx(100 ** (2 / 3), rel=0.3)
    assert errors[0] < 1e-5 * len(runs[0].time) / 19.7  # of twice the static displacement, 2/(2 pi)^2 = 1/19.7
    assert not any("vibrate" in notice for notice in runs[0].notices)


def test_the_snap_of_a_cable_is_followed():
    """A mass thrown up on its cable falls into it: the bounce is elastic, not what numerical damping makes of it."""
    velocity = "*INITIAL CONDITIONS, TYPE=VELOCITY\n2, 3, 3.\n"
    text = pendulum(angle=0.0, young=1e8, material="*NO COMPRESSION\n", velocity=velocity, period=1.2)
    history = run_text(text)
    height = history.of_node(2)[:, 2]
    assert (height < 0.0).sum() >= 6  # increments of the bounce, of 31 ms
    assert height[history.time > 0.62].max() == pytest.approx(3.0**2 / (2 * GRAVITY), rel=0.02)
    assert not any("vibrate" in notice for notice in history.notices)


def test_linear_solvers_agree_on_what_rings():
    runs = [run_text(pendulum(links=8, period=0.5), solver=solver) for solver in ("CHAIN", "BAND", "CG", "DIRECT")]
    assert len({len(history.time) for history in runs}) == 1
    for history in runs[1:]:
        np.testing.assert_allclose(history.u, runs[0].u, atol=1e-6)


def test_too_few_increments_are_not_a_lack_of_convergence():
    with pytest.raises(fem.NoConvergence, match=r"used up its 20 increments .* TIME ERROR .* DIRECT") as stopped:
        run_text(pendulum(inc=", INC=20"))
    assert stopped.value.verdict == "out of increments"
    needed = int(re.search(r"INC= \(some (\d+) at this pace\)", str(stopped.value))[1])
    assert len(run_text(pendulum(inc=f", INC={2 * needed}")).time) < 2 * needed


def test_what_is_advised_is_not_advised_again():
    """A net that has lost a cable came back with the same advice, followed."""
    text = pendulum(inc=", INC=20", error="5e-4, TENSION CHANGE=0.3")
    with pytest.raises(fem.NoConvergence, match="used up its 20 increments") as stopped:
        run_text(text)
    assert "TENSION CHANGE" not in str(stopped.value) and "ENERGY MOMENTUM" in str(stopped.value)
