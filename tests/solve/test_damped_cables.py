"""Cables and struts with BETA in motion: damped in full while they stretch, never pushing."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from tests.decks import run_text

DECK = """*PARAMETER
SIDE = -1.
BETA = 0.01
START = -0.001
SPEED = -0.5
DT = 1e-4
PERIOD = 0.04
*NODE
1, 0., 0., 0.
2, 0., 0., <SIDE>
*ELEMENT, TYPE=T3D2, ELSET=CABLE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=BOB
2, 2
*MASS, ELSET=BOB
1.
*SOLID SECTION, ELSET=CABLE, MATERIAL=M, STRAIN=ENGINEERING
1.
*MATERIAL, NAME=M
*ELASTIC
1.E4
*DAMPING, BETA=<BETA>
{law}
*BOUNDARY
1, 1, 3
2, 1, 2
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 3, <START>
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 3, <SPEED>
*STEP, NLGEOM
*DYNAMIC, DIRECT, {integrator}
<DT>, <PERIOD>
*CONTROLS, ENERGY DRIFT=OFF
*DLOAD
BOB, GRAV, 10., 0., 0., -1.
*END STEP
"""
CABLE, STRUT = "*NO COMPRESSION", "*NO TENSION"
INTEGRATORS = ["NEWMARK", "HHT", "GENERALIZED ALPHA", "BACKWARD EULER", "ENERGY MOMENTUM", "EXPLICIT"]


def swing(law: str, integrator: str = "NEWMARK", **changes: float) -> fem.History:
    """A mass of 1 under a cable (or on a strut) of stiffness 1e4 and damping 100, pushed downwards."""
    card = integrator if integrator == "EXPLICIT" else f"TIME INTEGRATOR={integrator}"
    return run_text(DECK.format(law=law, integrator=card), **changes)


def force(history: fem.History) -> np.ndarray:
    return history.elements[:, 0, 3]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("law", "side"), [(CABLE, -1.0), (STRUT, 1.0)])
def test_a_stretching_cable_is_damped_like_a_bar(law, side, integrator):
    """10 + 100 * 0.5 = 60 at the start; while it stretches the cable is the bar. A strut is shortened likewise."""
    one, bar = swing(law, integrator, SIDE=side), swing("", integrator, SIDE=side)
    assert abs(force(one)[0]) == pytest.approx(60.0, rel=1e-12)
    stretching = int((one.v[:, 5] > 0.0).argmax())
    assert stretching > 50
    assert force(one)[:stretching] == pytest.approx(force(bar)[:stretching], rel=1e-9)
    assert one.u[:stretching, 5] == pytest.approx(bar.u[:stretching, 5], rel=1e-9)
    assert (force(one) * -side).min() >= 0.0


@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM"])
def test_a_small_ratio_tends_to_none(integrator):
    fall = {"START": 0.02, "SPEED": 0.0, "PERIOD": 0.15}
    cable = swing(CABLE, integrator, **fall)
    before = np.inf
    for ratio in (1e-2, 1e-4, 1e-6):
        off = np.abs(swing(f"{CABLE}, RATIO={ratio}", integrator, **fall).u - cable.u).max()
        assert off < 0.02 * before
        before = off
    assert before < 1e-6


def caught(dt: float, period: float) -> float:
    """Height after a fall of 0.05 into a cable, in closed form piece by piece (damped oscillator from its catch)."""
    root = np.sqrt(2.0 * 0.05 / 10.0)
    t, w, shift = period - root, 100.0, 10.0 / 1e4
    d, wd = 0.5 * 0.01 * w * w, w * np.sqrt(1.0 - 0.25 * (0.01 * w) ** 2)
    x0, v0 = shift, -10.0 * root
    return float(-shift + np.exp(-d * t) * (x0 * np.cos(wd * t) + (v0 + d * x0) / wd * np.sin(wd * t)))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_falling_mass_is_caught(integrator):
    """The force jumps to 100 v where the cable becomes taut: first order, half the error for half the increment."""
    period = 0.1 + 0.01
    errors = []
    for dt in (1e-4, 1e-5):
        history = swing(CABLE, integrator, START=0.05, SPEED=0.0, DT=dt, PERIOD=period)
        errors.append(abs(history.u[-1, 5] - caught(dt, period)))
    assert errors[0] < 1e-4
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("integrator", INTEGRATORS[:5])
@pytest.mark.parametrize("beta", [1e-3, 1e-2, 1.0])
@pytest.mark.parametrize("law", [CABLE, f"{CABLE}, RATIO=0.3"])
def test_catches_are_solved_and_only_take_energy(law, beta, integrator):
    """Increments long and short: an increment in which a cable becomes taut always has a solution."""
    for dt in (1e-3, 1.3e-2):
        history = swing(law, integrator, BETA=beta, START=0.02, SPEED=0.0, DT=dt, PERIOD=60 * dt)
        assert history.iterations.max() < 15
        assert np.diff(history.energy[:, 4]).min() >= -1e-12
        if law == CABLE:
            assert force(history).min() >= 0.0
        if integrator == "ENERGY MOMENTUM":
            assert np.abs(history.energy_error).max() < 1e-9
        else:  # what a load cell reads is what the support feels, weighted or not
            assert history.reactions[1:, 2] == pytest.approx(force(history)[1:], abs=1e-5)
