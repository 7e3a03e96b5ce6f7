"""The energy watch: what stops a run, what is only said, and what BACKWARD EULER may take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.runs.record import SilentSink
from fem.solve.newton.groups import ENERGY
from fem.study.trajectory import Trajectory
from tests.decks import chain, run_text

SPRING = """*NODE
1, 0., 0., 0.
*ELEMENT, TYPE=SPRING1, ELSET=K
1, 1
*SPRING, ELSET=K
1
100.
*ELEMENT, TYPE=MASS, ELSET=M
2, 1
*MASS, ELSET=M
1.
*BOUNDARY
1, 2, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt}, {period}
{controls}*CLOAD
1, 1, 10.
*END STEP
"""
"""A mass of 1 on a spring of 100 is let go under a load of 10: it swings about 0.1 with w = 10."""
OFF = "*CONTROLS, ENERGY DRIFT=OFF\n"


def swing(integrator, dt=0.02, period=20.0, controls=""):
    return run_text(SPRING.format(integrator=integrator, dt=dt, period=period, controls=controls))


def told(history, text):
    return [notice for notice in history.notices if text in notice]


def test_backward_euler_finds_rest_and_says_what_it_took():
    """From 0 the load does 10 * 0.1 = 1 of work, of which the spring keeps 0.5."""
    history = swing("BACKWARD EULER")
    assert history.u[-1, 0] == pytest.approx(0.1, rel=1e-8)
    assert np.diff(history.energy_error).max() <= 1e-15  # it takes in every increment
    assert history.energy_error[-1] == pytest.approx(-0.5, rel=1e-9)
    (notice,) = told(history, "numerical damping of BACKWARD EULER")
    assert "has dissipated 0.5, " in notice


def test_backward_euler_with_short_increments_takes_nothing_worth_a_word():
    assert not told(swing("BACKWARD EULER", dt=1e-4, period=0.5), "numerical damping")


def test_backward_euler_books_dampers_by_their_own_work():
    """The force of a damper at the end of the increment times its elongation: never negative."""
    text = chain(2, young=1e4, dt=0.004, period=0.4, dynamic=", TIME INTEGRATOR=BACKWARD EULER")
    history = run_text(text.replace("*DENSITY", "*DAMPING, ALPHA=2., BETA=0.01\n*DENSITY"))
    assert np.diff(history.energy[:, 4]).min() >= 0.0


def opened(integrator: str) -> Trajectory:
    """The swing at its start, whose watch can be asked."""
    trajectory = Trajectory(
        fem.parse_deck(SPRING.format(integrator=integrator, dt=0.02, period=1, controls="")), SilentSink()
    )
    trajectory.open()
    return trajectory


def test_backward_euler_may_take_energy_but_not_gain_it():
    trajectory = opened("BACKWARD EULER")
    watch, motion = trajectory.last.watch, trajectory.progress.motion
    motion.energies[ENERGY.kinetic] -= 0.5
    assert watch.leaves(trajectory.progress, 0.02) == ""
    motion.energies[ENERGY.kinetic] += 1.0
    with pytest.raises(fem.EnergyDrift, match=r"off by 0\.5"):
        watch.leaves(trajectory.progress, 0.02)


DAMPS = ("GENERALIZED ALPHA, RHO=0", "NEWMARK, GAMMA=0.6, BETA=0.3025", "HHT, ALPHA=-0.4")


@pytest.mark.parametrize("integrator", DAMPS)
def test_what_a_scheme_is_asked_to_damp_is_told_and_stops_nothing(integrator):
    """The swing about 0.1 dies out slowly; a step of such increments ends, and says what went."""
    history = swing(integrator, dt=0.1)
    assert history.time[-1] == pytest.approx(20.0)
    assert history.energy_error[-1] < -0.1
    (notice,) = told(history, "numerical damping of")
    assert f"has dissipated {-history.energy_error[-1]:.3g}, " in notice and "% of the energy exchanged" in notice


@pytest.mark.parametrize("integrator", ["GENERALIZED ALPHA, RHO=1", "HHT, ALPHA=0", "NEWMARK", "ENERGY MOMENTUM"])
def test_losses_that_no_damping_explains_stop_a_run(integrator):
    trajectory = opened(integrator)
    trajectory.progress.motion.energies[ENERGY.kinetic] -= 0.5
    with pytest.raises(fem.EnergyDrift, match=r"off by -0\.5"):
        trajectory.last.watch.leaves(trajectory.progress, 0.02)


@pytest.mark.parametrize("integrator", DAMPS)
def test_no_scheme_may_gain_not_even_what_it_took_before(integrator):
    trajectory = opened(integrator)
    watch, motion = trajectory.last.watch, trajectory.progress.motion
    motion.energies[ENERGY.kinetic] -= 0.5
    assert watch.leaves(trajectory.progress, 0.02) == ""
    motion.energies[ENERGY.kinetic] += 0.3
    with pytest.raises(fem.EnergyDrift):
        watch.leaves(trajectory.progress, 0.02)


@pytest.mark.parametrize(("change", "word"), [(-0.5, "lost"), (0.5, "gained")])
@pytest.mark.parametrize("integrator", DAMPS)
def test_what_damping_does_not_explain_is_named(integrator, change, word):
    """A scheme has taken next to nothing, or less than the balance shows: the difference is no damping."""
    trajectory = opened(integrator)
    watch, motion = trajectory.last.watch, trajectory.progress.motion
    assert watch.closing(trajectory.progress, 0.02) == ""
    motion.energies[[ENERGY.kinetic, ENERGY.numerical]] += min(change, 0.0), max(change, 0.0)
    assert f"has {word} 0.5, which numerical damping does not explain" in watch.closing(trajectory.progress, 0.02)
    motion.energies[[ENERGY.kinetic, ENERGY.numerical]] += -max(change, 0.0), -min(change, 0.0)
    assert "does not explain" not in watch.closing(trajectory.progress, 0.02)


BOUNCE = """*NODE
1, -1., 0., 0.
2, 1., 0., 0.
3, 0., 0., -0.2
*ELEMENT, TYPE=T3D2, ELSET=CABLES
1, 1, 3
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=M
3, 3
*MASS, ELSET=M
1.
*MATERIAL, NAME=CABLE
*ELASTIC
1.E7
*NO COMPRESSION
*SOLID SECTION, ELSET=CABLES, MATERIAL=CABLE
1.E-2
*BOUNDARY
1, 1, 3
2, 1, 3
3, 2, 2
*STEP, NLGEOM
*DYNAMIC, APPLICATION={application}
0.02, 20.
{controls}*DLOAD
M, GRAV, 9.81, 0., 0., -1.
*CLOAD, AMPLITUDE=THROW
3, 3, 300.
*END STEP
"""
"""A mass is thrown up from its two cables, which go slack, and falls back into them: it comes to rest where it hung."""
THROW = "*AMPLITUDE, NAME=THROW\n0., 1., 0.1, 0.\n"


@pytest.mark.parametrize(
    ("application", "longest", "most"), [("MODERATE DISSIPATION", 2.0, 120), ("QUASI-STATIC", 20.0, 40)]
)
def test_increments_by_convergence_are_few_and_grow(application, longest, most):
    """Up to a tenth of the step, or the step; the motion has less energy at the end than when it was thrown."""
    history = run_text(BOUNCE.format(application=application, controls="").replace("*BOUNDARY", THROW + "*BOUNDARY"))
    assert history.time[-1] == pytest.approx(20.0)
    assert len(history.time) < most
    assert 10 * 0.02 < np.diff(history.time).max() <= longest * (1.0 + 1e-9)
    assert history.energy_error[-1] < 0.0
    assert told(history, "as long as they converge")
    assert told(history, "numerical damping of")


def test_quasi_static_increments_come_to_rest_where_forces_balance():
    """2 T d/l = m g."""
    text = BOUNCE.format(application="QUASI-STATIC", controls="").replace("*BOUNDARY", THROW + "*BOUNDARY")
    history = run_text(text)
    depth = 0.2 - history.of_node(3)[-1, 2]
    pull = history.of_element(1, "T")[-1]
    assert 2.0 * pull * depth / np.hypot(1.0, depth) == pytest.approx(9.81, rel=1e-3)


def test_a_time_error_of_ones_own_follows_the_motion():
    """Asked for by a number, it is not set aside; and dtmax is kept where increments go by convergence."""
    deck = BOUNCE.format(application="MODERATE DISSIPATION", controls="*CONTROLS, TIME ERROR=1e-3\n")
    history = run_text(deck.replace("*BOUNDARY", THROW + "*BOUNDARY").replace("0.02, 20.", "0.002, 0.5"))
    assert told(history, "local error stays below 0.001")
    deck = BOUNCE.format(application="QUASI-STATIC", controls="").replace("*BOUNDARY", THROW + "*BOUNDARY")
    history = run_text(deck.replace("0.02, 20.", "0.02, 5., , 0.25"))
    assert np.diff(history.time).max() == pytest.approx(0.25)


def test_off_goes_on_but_says_when_it_would_have_stopped():
    deck = Path("inputs/sdnl100_3periods.inp").read_text(encoding="utf-8")
    with pytest.raises(fem.EnergyDrift) as failure:
        run_text(deck)
    stop = failure.value.history.time[-1]
    history = run_text(deck.replace("ENERGY DRIFT=0.1", "ENERGY DRIFT=OFF"))
    (notice,) = told(history, "ENERGY DRIFT=OFF switches the check off")
    assert f"at t = {stop:.6g} " in notice and "of the energy exchanged, more than 10 %" in notice
    (end,) = told(history, "at the end")
    assert f"off by {history.energy_error[-1] - history.energy_error[0]:.3g}" in end
    assert not told(swing("NEWMARK", controls=OFF), "energy balance")


@pytest.mark.parametrize("controls", ["", OFF])
def test_steps_too_short_to_be_judged_say_so_at_their_end(controls):
    """Five increments of a period each; with a hundredth of it there is nothing to say."""
    deck = chain(1, young=1e4, dt=0.08, period=0.4).replace(", ENERGY DRIFT=OFF", "")
    deck = deck.replace("*DYNAMIC", controls + "*DYNAMIC", 1)
    (notice,) = told(run_text(deck), "at the end the energy balance is off by")
    assert "too few increments for the check that stops it" in notice
    assert not told(run_text(deck.replace("0.08, 0.4", "1e-4, 5e-4")), "energy balance")


AT_REST = """*NODE
1, -1., 0., {height}
2, 1., 0., {height}
3, 0., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 3
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=M
3, 3
*MASS, ELSET=M
1.
*MATERIAL, NAME=ROPE
*INEXTENSIBLE
{slack}*SOLID SECTION, ELSET=ROPES, MATERIAL=ROPE
1.
*BOUNDARY
1, 1, 3
2, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.01, 0.5
*DLOAD
M, GRAV, {gravity}, 0., 0., -1.
*END STEP
"""


@pytest.mark.parametrize("integrator", ["NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM"])
@pytest.mark.parametrize("slack", ["", "*NO COMPRESSION\n"])
@pytest.mark.parametrize(("height", "gravity"), [(1.3, 9.81), (0.8, 1e-9), (0.8, 1e12)])
def test_a_mass_at_rest_on_two_ropes_stays_there(integrator, slack, height, gravity):
    """All energy there is, 1e-37 or less, is round-off of the pulls: the run used to stop with a drift of it."""
    history = run_text(AT_REST.format(integrator=integrator, slack=slack, height=height, gravity=gravity))
    assert np.abs(history.u).max() < 1e-16
    assert history.of_element(1, "T")[-1] == pytest.approx(gravity / 2.0 * np.hypot(1.0, height) / height, rel=1e-12)
