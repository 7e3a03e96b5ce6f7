"""Vortex-induced vibration: laws of the synchronisation model, by a rigid cylinder on springs; a line of MoorDyn."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq

import fem
from benchmarks.moorings import MANY_MODES, Asked, across
from fem.cli import main
from fem.deck import parse_deck, write_deck
from tests.decks import run_text

RHO, WIDTH, LENGTH, LIFT = 1025.0, 0.1, 2.0, 0.9
CENTRE, BAND = 0.18, 0.08
MASS, RATIO = 600.0, 0.1
STIFF, DAMPER = MASS * (2.0 * math.pi) ** 2, 2.0 * RATIO * MASS * 2.0 * math.pi
CYLINDER = """*NODE
1, 0., 0., -10.
2, 0., 0., -8.
*ELEMENT, TYPE=T3D2, ELSET=CYLINDER
1, {first}, {last}
*MATERIAL, NAME=M
*ELASTIC
1e9
*SOLID SECTION, ELSET=CYLINDER, MATERIAL=M
1e-3
*ELEMENT, TYPE=MASS, ELSET=MASSES
11, 1
12, 2
*MASS, ELSET=MASSES
{mass}
*ELEMENT, TYPE=SPRING1, ELSET=SPRINGS
21, 1
22, 2
*SPRING, ELSET=SPRINGS
2
{stiff}
*ELEMENT, TYPE=DASHPOT1, ELSET=DASHPOTS
31, 1
32, 2
*DASHPOT, ELSET=DASHPOTS
2
{damper}
*AQUA
-50., 0., 9.81, 1025.
{speed}, 0., 0., -50.
{speed}, 0., 0., 0.
*VIV, ELSET=CYLINDER
0.1, 0.9{frequencies}
*BOUNDARY
1, 1
1, 3
2, 1
2, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
1, 2, 0.001
2, 2, 0.001
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.01, {time}
*NODE PRINT
U, V
*END STEP
"""


def cylinder(speed: float, time: float = 60.0, frequencies: str = "", ends: tuple[int, int] = (1, 2),
             integrator: str = "GENERALIZED ALPHA, RHO=0.9") -> fem.History:  # fmt: skip
    """1 Hz, 10 % of critical damping, across the stream only."""
    return run_text(
        CYLINDER.format(speed=speed, time=time, frequencies=frequencies, mass=MASS / 2, stiff=repr(STIFF / 2),
                        damper=repr(DAMPER / 2), first=ends[0], last=ends[1], integrator=integrator)
    )  # fmt: skip


def locked_in(speed: float) -> tuple[float, float, float]:
    """Frequency, amplitude and phase p - f: of the lift F cos f, F = rho/2 D L U^2 C, on m y'' + c y' + k y. Steady
    phases have sin(p - f) = (f D/U - centre)/band; in phase with y' it balances damping, else the rest:
    c w A = F cos(p - f),  (k - m w^2) A = F sin(p - f)."""
    force = 0.5 * RHO * WIDTH * LENGTH * speed**2 * LIFT

    def sine(f: float) -> float:
        return (f * WIDTH / speed - CENTRE) / BAND

    def off(f: float) -> float:
        omega = 2.0 * math.pi * f
        return (STIFF - MASS * omega**2) * math.sqrt(1.0 - sine(f) ** 2) - sine(f) * DAMPER * omega

    f = brentq(off, *((CENTRE + side * (BAND - 1e-9)) * speed / WIDTH for side in (-1.0, 1.0)))
    angle = math.asin(sine(f))
    return f, force * math.cos(angle) / (DAMPER * 2.0 * math.pi * f), angle


def measured(history: fem.History) -> tuple[float, float]:
    """Frequency and amplitude of the last third."""
    late = history.time > 2.0 / 3.0 * history.time[-1]
    y, t = history.of_node(1)[late, 1], history.time[late]
    up = np.flatnonzero((y[1:] > 0.0) & (y[:-1] <= 0.0))
    at = t[up] - y[up] * np.diff(t)[up] / (y[up + 1] - y[up])
    return float((len(at) - 1) / (at[-1] - at[0])), float(np.sqrt(2.0 * np.mean(y[up[0] : up[-1]] ** 2)))


@pytest.mark.parametrize("speed", [0.25, 0.45, 0.5, 0.55, 0.65, 0.8, 1.4])
def test_amplitude_and_frequency_over_the_reduced_velocity(speed: float):
    """Energy balance of the locked-in motion, U/(f_n D) 2.5 to 14: the lift drives it most near 5.5 and beyond, where
    it follows the cylinder, and little at both ends, where the cylinder follows the vortices. s^2 = U^2 + y'^2 is off
    by (y'/U)^2 = 1 %."""
    f, amplitude, _ = locked_in(speed)
    found = measured(cylinder(speed))
    assert found == (pytest.approx(f, rel=3e-3), pytest.approx(amplitude, rel=1.5e-2))


def test_out_of_the_band_the_vortices_do_not_follow():
    """Without a band the lift keeps the frequency 0.18 U/D, and the cylinder that of a forced oscillator."""
    speed = 0.8
    omega = 2.0 * math.pi * CENTRE * speed / WIDTH
    force = 0.5 * RHO * WIDTH * LENGTH * speed**2 * LIFT
    amplitude = force / abs(complex(STIFF - MASS * omega**2, DAMPER * omega))
    found = measured(cylinder(speed, frequencies=", 0.18, 0."))
    assert found == (pytest.approx(omega / 2.0 / math.pi, rel=1e-3), pytest.approx(amplitude, rel=1e-2))
    assert found[0] != pytest.approx(locked_in(speed)[0], rel=0.2)


def test_out_of_the_water_there_is_no_lift():
    """The middle of a bar counts: 1 above the still water, and 1 below it."""
    text = CYLINDER.format(speed=0.5, time=0.2, frequencies="", mass=1.0, stiff=1.0, damper=1.0, first=1, last=2,
                           integrator="NEWMARK")  # fmt: skip
    text = text.replace("1, 1\n1, 3\n2, 1\n2, 3\n", "1, 1, 3\n2, 1, 3\n").replace(", 2, 0.001", ", 2, 0.")
    text = text.replace("U, V", "RF")
    for low, is_wet in ((0.0, False), (-2.0, True)):
        moved = text.replace("0., 0., -10.", f"0., 0., {low}").replace("0., 0., -8.", f"0., 0., {low + 2.0}")
        assert bool(run_text(moved).of_node(1, "RF")[:, 1].any()) == is_wet


def test_vortices_keep_their_frequency_over_the_speed_where_that_rises():
    """Towed against the stream, s = U + b t: the phase is 2 pi 0.18/D (U t + b t^2/2), but for b dt^2/2 of the first
    increment, which has none before it; of lines that are held the reactions are the lift, rho/2 C D L s^2 cos."""
    speed, more, dt = 0.4, 0.1, 0.01
    text = CYLINDER.format(speed=speed, time=2.0, frequencies="", mass=1.0, stiff=1.0, damper=1.0, first=1, last=2,
                           integrator="NEWMARK")  # fmt: skip
    text = text.replace("1, 1\n1, 3\n2, 1\n2, 3\n", "1, 2, 3\n2, 2, 3\n").replace(
        "1, 2, 0.001\n2, 2, 0.001", "1, 2, 0."
    )
    tow = f"*BOUNDARY, TYPE=VELOCITY, AMPLITUDE=TOW\n1, 1, 1, {-more}\n2, 1, 1, {-more}\n*NODE PRINT\nU, V, RF\n"
    text = text.replace("*BOUNDARY\n", "*AMPLITUDE, NAME=TOW\n0., 0., 9., 9.\n*BOUNDARY\n")
    history = run_text(text.replace("*NODE PRINT\nU, V\n", tow))
    t = history.time[1:]
    phase = 2.0 * math.pi * CENTRE / WIDTH * (speed * t + 0.5 * more * (t**2 - dt**2))
    lift = 0.5 * RHO * LIFT * WIDTH * LENGTH * (speed + more * t) ** 2 * np.cos(phase)
    assert -2.0 * history.of_node(1, "RF")[1:, 1] == pytest.approx(lift, abs=1e-6 * lift.max())


@pytest.mark.parametrize("integrator", ["GENERALIZED ALPHA, RHO=0.9", "ENERGY MOMENTUM", "HHT, ALPHA=-0.05"])
def test_the_lift_takes_no_energy_from_the_relative_flow(integrator: str):
    """What dampers and wake take is what the stream spends: the books close, and in the wake nothing stays."""
    history = cylinder(0.55, 30.0, integrator=integrator)
    spent = history.of_energy("external_work")[-1]
    assert spent > 1.0
    assert np.abs(history.energy_error).max() < 1e-3 * spent
    late = history.time > 20.0
    v = history.of_node(1, "V")[late, 1]
    damped = trapezoid(DAMPER * v * v, history.time[late])
    lost = history.of_energy("dissipated")[late]
    assert lost[-1] - lost[0] == pytest.approx(damped, rel=5e-3)  # the lift is that of a predicted velocity


def test_the_direction_of_the_bar_does_not_matter():
    """With its ends exchanged the lift has the other sign, and another phase: the steady motion is the same."""
    one, other = (measured(cylinder(0.55, ends=ends)) for ends in ((1, 2), (2, 1)))
    assert one == pytest.approx(other, rel=1e-4)


MOORDYN = """A taut cable across a current
------------------------- LINE TYPES ---------------------
LineType  Diam    MassDenInAir    EA       BA/-zeta      EI      Cd   Ca  CdAx   CaAx  Cl  dF  cF
(-)       (m)       (kg/m)        (N)       (N-s)      (n-m^2) (-)   (-)  (-)   (-)   (-) (-) (-)
cable     0.05      8.0           2.0e6     500.0       0.0    1.2   1.0  0.0   0.0   0.9  0.08  0.18
----------------------- POINTS ---------------------------
Node      Type      X         Y         Z        M        V         CdA   CA
(-)       (-)      (m)       (m)       (m)      (kg)     (m^3)     (m^2)  (-)
1         Fixed    0.0        -10       -20.0       0        0          0     0
2         Coupled    0.0         10       -20.0       0        0          0     0
-------------------------- LINES -------------------------
Line     LineType NodeA     NodeB  UnstrLen   NumSegs     Flags/Outputs
(-)      (-)       (-)       (-)    (m)         (-)          (-)
1        cable       1         2     19.9          40          p
-------------------------- SOLVER OPTIONS-----------------
9.81     g            - gravitational acceleration
1025     WtrDnsty          - water density
1        Currents
2.5e-4   dtM          - time step to use in mooring integration
70       WtrDpth      - water depth
0.0      TmaxIC       - threshold for IC convergence
--------------------------- need this line ---------------
"""


def test_a_line_of_moordyn_in_one_run(tmp_path: Path):
    """A taut cable in 0.5 m/s locks in to its second mode. MoorDyn 2.7.2 (pip install moordyn, the last 30 of 60 s):
    1.7182 Hz, root mean squares of 19.8, 28.0 and 19.8 mm at a quarter of its nodes each, bent downstream by 34.6 and
    45.1 mm. Its means run over 500 steps of 0.25 ms, ours over 2.8 s: amplitudes differ by 2.5 %."""
    (tmp_path / "line.txt").write_text(MOORDYN)
    (tmp_path / "current_profile.txt").write_text("current\nprofile\n(m) (m/s)\n-70 0.5 0 0\n0 0.5 0 0\n")
    assert main(["import", "moordyn", str(tmp_path / "line.txt"), "--output", str(tmp_path / "line.inp")]) == 0
    text = (tmp_path / "line.inp").read_text()
    assert "*VIV, ELSET=TYPE_CABLE\n0.05, 0.9, 0.18, 0.08\n" in text
    text = text.replace("*DYNAMIC, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4", "*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT")
    text = text.replace("<dt>, <time>, , <dt>", "0.005, 60.").replace("*NODE PRINT, NSET=POINTS", "*NODE PRINT")
    history = run_text(text.replace("TIME ERROR=5e-4, TENSION CHANGE=0.3, RESI_GLOB_RELA=1e-4", "ENERGY DRIFT=OFF"))
    late = history.time > 30.0
    places = np.stack([history.of_node(1001 + node, "COORD")[late] for node in (5, 10, 15, 20)])
    across = places[:3, :, 2].std(axis=1)
    assert across == pytest.approx([0.01983, 0.02803, 0.01981], rel=0.04)
    assert places[[1, 3], :, 0].mean(axis=1) == pytest.approx([0.03462, 0.04507], rel=0.02)
    y = places[1, :, 2] - places[1, :, 2].mean()
    up = np.flatnonzero((y[1:] > 0.0) & (y[:-1] <= 0.0))
    assert (len(up) - 1) / ((up[-1] - up[0]) * 0.005) == pytest.approx(1.7182, rel=0.01)


EIGHTHS = {
    0: (4.78, 9.11, 12.84, 14.41, 11.93, 11.26, 10.20),
    2: (8.04, 10.59, 10.82, 12.60, 13.48, 11.95, 9.70),
}
"""Root mean squares [mm] at nodes 10, 20, ... 70 of the last 320 of 400 s, MoorDyn 2.7.2: dtM 0.5 ms, the line
from its upper end; 1 ms, from its lower end (``benchmarks/moorings.py``)."""


@pytest.mark.long
@pytest.mark.parametrize("start", EIGHTHS)
def test_many_modes_have_several_steady_states_which_moordyn_has_too(tmp_path: Path, start: int):
    """A cable of 80 m in 0.2 to 0.8 m/s. At rest, and with random velocities of its nodes, it comes to two of its
    states; over these nodes each is within 7 % of MoorDyn's, which itself changes by 4 % at a node from one 80 s to the
    next, and more than 10 % from the other."""
    (state,) = across(Asked("", tmp_path), MANY_MODES, 240.0, [start])
    found = 1e3 * state.std(axis=0)[10:80:10]
    near, far = (np.linalg.norm(found / np.linalg.norm(its) - its / np.linalg.norm(its)) for its in
                 (np.array(EIGHTHS[start]), np.array(EIGHTHS[2 - start])))  # fmt: skip
    assert near < 0.07 and far > 0.1


def test_cards_are_written_as_they_are_read():
    model = parse_deck(
        CYLINDER.format(speed=0.5, time=1.0, frequencies=", 0.2, 0.05", mass=1, stiff=1, damper=1, first=1, last=2,
                        integrator="HHT")
    )  # fmt: skip
    assert model.vortices == (fem.model.VortexLift("CYLINDER", 0.1, 0.9, 0.2, 0.05),)
    assert parse_deck(write_deck(model)).vortices == model.vortices
