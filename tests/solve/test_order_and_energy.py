"""Newmark's order, and the true energy balance with everything that does work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from tests.decks import chain, run_text

PULLED = """*NODE
1,0,0,0
2,1,0.2,0
3,2,0,0.3
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,3,2
*ELEMENT, TYPE=SPRINGA, ELSET=SPRING
3, 1, 3
*SPRING, ELSET=SPRING

60.
*ELEMENT, TYPE=DASHPOTA, ELSET=POT
4, 2, 1
*DASHPOT, ELSET=POT

0.4
*ELEMENT, TYPE=SPRING2, ELSET=CROSS
5, 2, 3
*SPRING, ELSET=CROSS
2, 3
15.
*ELEMENT, TYPE=DASHPOT1, ELSET=GROUND
6, 3
*DASHPOT, ELSET=GROUND
2
0.3
*ELEMENT, TYPE=MASS, ELSET=TIP
7, 3
*MASS, ELSET=TIP, ALPHA=0.2
1.5
*MATERIAL, NAME=M
*ELASTIC
400.
*DENSITY
1.
*EXPANSION
1e-3
*DAMPING, ALPHA=0.1, BETA=2e-3
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN={strain}, MASS={mass}
1.
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, 4., 0., 0.2
-0.2, 0.1
*AMPLITUDE, NAME=PUSH, DEFINITION=SMOOTH STEP
0, 0, 1, 1
*AMPLITUDE, NAME=GROW, DEFINITION=SMOOTH STEP
0, 0.5, 1, 1
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
{dt!r}, 1.
*CONTROLS, RESI_GLOB_RELA=1e-11, ENERGY DRIFT=OFF
*BOUNDARY, AMPLITUDE=SHAKE
1, 1, 3, 0.3
*CLOAD, AMPLITUDE=PUSH
3, 1, 20.
*DLOAD, AMPLITUDE=GROW
LINE, GRAV, 9.81, 0, 0, -1
TIP, GRAV, 9.81, 0, 0, -1
*DLOAD
LINE, BY, 2.
*TEMPERATURE, AMPLITUDE=PUSH
2, 40.
*END STEP
"""


@pytest.mark.parametrize(("strain", "mass"), [("GREEN", "LUMPED"), ("ENGINEERING", "CONSISTENT"), ("LOG", "LUMPED")])
def test_order_two_and_closing_energy_with_everything_acting(strain, mass):
    """Springs, dashpots, damping, heat, moving support, varying gravity: errors of u and of energy fall as dt^2.

    Against dt/4 of the finest; the observed order between dt and dt/2 must be 2 within 0.15.
    """
    runs = {n: run_text(PULLED.format(strain=strain, mass=mass, dt=1.0 / n)) for n in (100, 200, 400, 1600)}
    end = {n: history.u[-1] for n, history in runs.items()}
    error = {n: np.abs(end[n] - end[1600]).max() for n in (100, 200, 400)}
    for coarse, fine in ((100, 200), (200, 400)):
        assert np.log2(error[coarse] / error[fine]) == pytest.approx(2.0, abs=0.15)
    drift = {n: np.abs(history.energy_error).max() for n, history in runs.items()}
    exchanged = np.abs(runs[1600].energy).max()
    assert np.log2(drift[200] / drift[400]) == pytest.approx(2.0, abs=0.15)
    assert drift[1600] < 1e-4 * exchanged
    assert runs[1600].energy[-1, 4] > 0.1  # dissipated


def test_conservative_chain_keeps_its_energy_to_second_order():
    drift = []
    for dt in (0.004, 0.002):
        history = run_text(chain(3, young=2e3, dt=dt, period=0.4))
        drift.append(np.abs(history.energy_error).max() / np.abs(history.energy).max())
    assert drift[1] < 1e-3
    assert np.log2(drift[0] / drift[1]) > 1.7


def test_drift_stops_a_run_and_keeps_what_was_computed():
    """SDNL100 continued at T/40: the energy error passes 10 % near 1.18 T (prototype of the recipe)."""
    deck = Path("inputs/sdnl100_3periods.inp").read_text(encoding="utf-8")
    with pytest.raises(fem.EnergyDrift, match="stiffest bar") as failure:
        run_text(deck)
    history = failure.value.history
    assert history.time[-1] / 1.67431710 == pytest.approx(1.18, abs=0.03)
    assert abs(history.energy_error[-2]) < abs(history.energy_error[-1])


@pytest.mark.parametrize("gamma", [0.5, 0.6])
def test_first_order_with_gamma_above_one_half(gamma):
    """Newmark is of order 2 only for gamma = 1/2."""
    text = chain(2, young=500.0, dt=0.01, period=0.3, dynamic=f", GAMMA={gamma}, BETA=0.3025")
    error = []
    exact = run_text(text.replace("0.01, 0.3", "0.0003125, 0.3")).u[-1]
    for dt in ("0.01", "0.005"):
        error.append(np.abs(run_text(text.replace("0.01, 0.3", f"{dt}, 0.3")).u[-1] - exact).max())
    assert np.log2(error[0] / error[1]) == pytest.approx(2.0 if gamma == 0.5 else 1.0, abs=0.25)


def test_extrapolation_changes_the_counts_not_the_answer():
    plain = run_text(chain(6, dt=0.002, period=0.2))
    for name in ("LINEAR", "PARABOLIC"):
        text = chain(6, dt=0.002, period=0.2).replace("NLGEOM=YES", f"NLGEOM=YES, EXTRAPOLATION={name}")
        better = run_text(text)
        assert np.abs(better.u - plain.u).max() < 1e-8
        assert better.iterations.sum() < plain.iterations.sum()


FLYING = """*NODE, NSET=ALL
1,0,0,0
2,1,0.2,0
3,2.6,0,0.3
*ELEMENT, TYPE=T3D2, ELSET=LINE
1,1,2
2,3,2
*MATERIAL, NAME=M
*ELASTIC
400.
*DENSITY
1.
*DAMPING, ALPHA=2.
*SOLID SECTION, ELSET=LINE, MATERIAL=M, MASS={mass}
1.
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 1, 3.
2, 2, -2.
3, 3, 1.
*STEP, NLGEOM={nlgeom}
*DYNAMIC, DIRECT
0.02, 1.
*CONTROLS, RESI_GLOB_RELA=1e-12
*END STEP
"""


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
@pytest.mark.parametrize("nlgeom", ["YES", "NO"])
def test_damping_alpha_takes_momentum_by_the_mass_rule(mass, nlgeom):
    """Free bars: p' = -ALPHA p whatever they do to each other, by the trapezoidal rule p1 = p0 (1 - c)/(1 + c) with
    c = ALPHA dt/2; a linear model needs one solve, as the tangent has all of the damping."""
    history = run_text(FLYING.format(mass=mass, nlgeom=nlgeom))
    share = {"LUMPED": np.eye(2) / 2, "CONSISTENT": np.array([[2, 1], [1, 2]]) / 6}[mass]
    matrix = np.zeros((3, 3))
    for first, second in ((0, 1), (2, 1)):
        length = np.linalg.norm(history.mesh.coordinates[first] - history.mesh.coordinates[second])
        matrix[np.ix_([first, second], [first, second])] += length * share
    momentum = (matrix @ history.v.reshape(-1, 3, 3)).sum(axis=1)
    expected = momentum[0] * (0.98 / 1.02) ** np.arange(len(history))[:, None]
    assert np.abs(momentum[0]).min() > 0.1
    assert momentum == pytest.approx(expected, rel=1e-9)
    assert nlgeom == "YES" or history.iterations.max() == 1
