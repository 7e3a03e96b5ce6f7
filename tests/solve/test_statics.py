"""Statics: closed forms, unrestrained directions, mechanisms, cut-backs, steps that carry state over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from tests.decks import COLUMN, run_text, step

TRUSS = """*NODE
1,0,0,0
2,4,0,0
3,2,{height},0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,3
2,2,3
*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
1.
*SOLID SECTION, ELSET=ALL, MATERIAL=M
2.
*BOUNDARY
1,1,3
2,1,3
"""


def test_linear_truss_by_hand_and_held_out_of_plane_direction():
    """u_y = F L / (2 EA sin^2 a); no stiffness in z: held, and said so."""
    history = run_text(TRUSS.format(height=1) + step("*CLOAD\n3, 2, -10.", nlgeom="NO"))
    length = np.sqrt(5.0)
    expected = -10.0 * length / (2 * 2e4 * (1 / length) ** 2)
    assert history.of_node(3)[-1] == pytest.approx([0, expected, 0], abs=1e-15)
    assert any("node 3 dof 3" in notice for notice in history.notices)
    assert history.reactions[-1].reshape(-1, 3).sum(axis=0) == pytest.approx([0, 10.0, 0], abs=1e-12)


def test_von_mises_truss_against_its_closed_form():
    """GREEN law: P(y) = -2 EA (y^2 - h^2) y / (2 L0^3), y the height of the apex under load (Crisfield, ch. 1)."""
    history = run_text(TRUSS.format(height=0.5) + step("*CLOAD\n3, 2, -20.", data="0.1, 1."))
    y = 0.5 + history.of_node(3)[-1, 1]
    length = np.hypot(2, 0.5)
    assert 2 * 2e4 * (0.5**2 - y**2) * y / (2 * length**3) == pytest.approx(20.0, rel=1e-9)


def test_snap_through_is_reached_by_cutting_back():
    """Beyond the limit load the apex jumps to the mirrored branch, after cut-backs."""
    with_jump = TRUSS.format(height=0.5) + step("*CLOAD\n3, 2, -200.", data="0.5, 1.")
    history = run_text(with_jump)
    y = 0.5 + history.of_node(3)[-1, 1]
    assert y < -0.5
    length = np.hypot(2, 0.5)
    assert 2 * 2e4 * (0.5**2 - y**2) * y / (2 * length**3) == pytest.approx(200.0, rel=1e-9)


def test_loaded_unrestrained_direction_is_an_error_that_names_it():
    with pytest.raises(fem.ModelError, match=r"nothing holds the part with node 1 against rotation about x"):
        run_text(TRUSS.format(height=1) + step("*CLOAD\n3, 3, 1."))


def test_what_hangs_is_pushed_aside_in_a_second_step():
    """A bar of 1 kg that hangs at rest, 4.905 N of it at its end, is pushed by as much: it rests at 45 degrees."""
    bar = "*NODE\n1,0,0,0\n2,0,0,-1\n*ELEMENT, TYPE=T3D2, ELSET=BAR\n1,1,2\n*MATERIAL, NAME=M\n*ELASTIC\n1e8\n"
    bar += "*DENSITY\n1000.\n*SOLID SECTION, ELSET=BAR, MATERIAL=M\n1e-3\n*BOUNDARY\n1, 1, 3\n"
    hung, pushed = "*DLOAD\nBAR, GRAV, 9.81, 0., 0., -1.\n", "*CLOAD\n2, 2, 4.905"
    place = run_text(bar + step(hung) + step(pushed)).of_node(2)[-1]
    reach = np.sqrt(0.5) * (1.0 + 4.905 * np.sqrt(2.0) / 1e5)
    assert place == pytest.approx([0.0, reach, 1.0 - reach], abs=1e-7)


def test_mechanism_is_an_error_that_names_a_dof():
    square = """*NODE
1,0,0,0
2,1,0,0
3,1,1,0
4,0,1,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
3,3,4
4,4,1
*MATERIAL, NAME=M
*ELASTIC
1e4
*SOLID SECTION, ELSET=ALL, MATERIAL=M
2.
*BOUNDARY
1,1,3
2,1,3
"""
    for solver in ("AUTO", "DIRECT"):
        with pytest.raises(fem.ModelError, match=r"mechanism: node [34] dof 1"):
            run_text(square + step("*CLOAD\n3, 1, 1."), solver=solver)


def test_straight_slack_cable_finds_its_shape_with_and_without_a_starting_tension():
    """Two bars, span 2, mid load F: 2 EA e y / L0 = F with e = y^2 / (2 L0^2) exactly (GREEN)."""
    text = """*NODE
1,0,0,0
2,1,0,0
3,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
1e6
*NO COMPRESSION
*SOLID SECTION, ELSET=ALL, MATERIAL=M{tension}
1.
*BOUNDARY
1,1,3
3,1,3
"""
    load = step("*CLOAD\n2, 3, -8.", data="0.1, 1.")
    for tension in ("", ", STARTING TENSION=100."):
        history = run_text(text.format(tension=tension) + load)
        assert history.of_node(2)[-1, 2] == pytest.approx(-((8.0 / 1e6) ** (1 / 3)), rel=1e-9)


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING", "LOG"])
def test_heated_bar_between_walls_and_free(strain):
    """Fixed: T = -EA alpha dT, for all measures at zero stretch. Free: measure = alpha dT, no force."""
    text = f"""*NODE
1,0,0,0
2,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
*MATERIAL, NAME=M
*ELASTIC
1e4
*EXPANSION, ZERO=10.
2e-4, 0.
4e-4, 100.
*SOLID SECTION, ELSET=ALL, MATERIAL=M, STRAIN={strain}
3.
*INITIAL CONDITIONS, TYPE=TEMPERATURE
1, 20.
2, 20.
*BOUNDARY
1,1,3
2,2,3
"""
    heat = "*TEMPERATURE\n1, 60.\n2, 80."
    thermal = 3.4e-4 * 60 - 2.4e-4 * 10
    fixed = run_text(text + step("*BOUNDARY\n2,1\n" + heat))
    assert fixed.elements[-1, 0, 3] == pytest.approx(-3e4 * thermal, rel=1e-12)
    assert fixed.elements[0, 0, 3] == 0.0
    free = run_text(text + step(heat))
    stretch = {"GREEN": np.sqrt(1 + 2 * thermal), "ENGINEERING": 1 + thermal, "LOG": np.exp(thermal)}[strain]
    assert free.of_node(2)[-1, 0] == pytest.approx(2 * (stretch - 1), rel=1e-9)


def test_loads_follow_the_rules_from_step_to_step():
    """Ramp, hold, modify, remove: each at its end and half-way, linear truss, reaction of the x load."""
    text = TRUSS.format(height=1)
    text += step("*CLOAD\n3, 1, 10.\n3, 1, 2.\n3, 2, -4.", "NO", ", DIRECT", "0.5, 1.")
    text += step("*CLOAD\n3, 1, 6.", "NO", ", DIRECT", "0.5, 1.")
    text += step("*CLOAD, OP=NEW\n3, 2, -8.", "NO", ", DIRECT", "0.5, 1.")
    text += step("*CLOAD, OP=NEW", "NO", ", DIRECT", "0.5, 1.")
    history = run_text(text)
    pull = -history.reactions.reshape(len(history.time), -1, 3).sum(axis=1)[:, :2]
    expected = {
        (1, 0): (0, 0), (1, 1): (6, -2), (1, 2): (12, -4),
        (2, 0): (12, -4), (2, 1): (9, -4), (2, 2): (6, -4),
        (3, 1): (3, -6), (3, 2): (0, -8), (4, 1): (0, -4), (4, 2): (0, 0),
    }  # fmt: skip
    for (number, increment), force in expected.items():
        row = np.flatnonzero((history.step == number) & (history.increment == increment))[0]
        assert pull[row] == pytest.approx(force, abs=1e-9), (number, increment)


def test_removed_support_lets_go_gradually_in_statics():
    text = TRUSS.format(height=1) + step("*BOUNDARY\n3, 2, 2, -0.1", "NO")
    text += step("*BOUNDARY, OP=NEW\n1,1,3\n2,1,3", "NO", ", DIRECT", "0.25, 1.")
    history = run_text(text)
    y = history.of_node(3)[:, 1]
    assert y[history.step == 1][-1] == pytest.approx(-0.1)
    assert y[history.step == 2] == pytest.approx([-0.1, -0.075, -0.05, -0.025, 0.0], abs=1e-12)


def test_geometrically_linear_step_stays_linear_about_the_last_configuration():
    """Twice the load, twice the extra displacement, after a nonlinear step; laws stay nonlinear."""
    first = step("*CLOAD\n3, 2, -15.")

    def extra(load):
        history = run_text(TRUSS.format(height=1) + first + step(f"*CLOAD\n3, 2, {-15 - load}", "NO"))
        u = history.of_node(3)
        return u[-1] - u[history.step == 1][-1]

    assert extra(40.0) == pytest.approx(2 * extra(20.0), rel=1e-9)
    single = run_text(TRUSS.format(height=1) + step("*CLOAD\n3, 2, -35.")).of_node(3)[-1]
    assert abs(single[1] - (run_text(TRUSS.format(height=1) + first).of_node(3)[-1] + extra(20.0))[1]) > 1e-5


def test_direct_increments_never_change_and_stop_with_a_reason():
    text = TRUSS.format(height=0.5) + step("*CLOAD\n3, 2, -200.", options=", DIRECT", data="0.5, 1.")
    text = text.replace("RESI_GLOB_RELA=1e-10", "RESI_GLOB_RELA=1e-10, ITER_GLOB_MAXI=4")
    with pytest.raises(fem.NoConvergence, match=r"in 4 iterations.*node 3 dof 2.*leave out DIRECT"):
        run_text(text)


def test_equation_ties_dofs_and_passes_forces_on():
    """u3y = 2 u4y: the load on node 4 acts as half of it on node 3; supports see the sum."""
    text = TRUSS.format(height=1).replace("*ELEMENT", "4,5,0,0\n*ELEMENT", 1)
    text += "*EQUATION\n2\n4,2,2.,3,2,-1.\n*BOUNDARY\n4,1\n4,3\n"
    for nlgeom in ("YES", "NO"):
        history = run_text(text + step("*CLOAD\n4, 2, -8.", nlgeom))
        direct = run_text(TRUSS.format(height=1) + step("*CLOAD\n3, 2, -4.", nlgeom))
        assert history.of_node(3)[-1] == pytest.approx(direct.of_node(3)[-1], rel=1e-9)
        assert 2 * history.of_node(4)[-1, 1] == pytest.approx(history.of_node(3)[-1, 1], rel=1e-14)


def test_unstable_equilibrium_is_said_to_be_one():
    """A column of two bars pressed at its end, the middle free sideways: equilibrium, but nothing holds it."""
    text = COLUMN + "*INITIAL CONDITIONS, TYPE=STRESS\nALL, -5.\n"
    history = run_text(text + step("*CLOAD\n3, 3, -10."))
    assert any("unstable" in notice and "2 directions" in notice for notice in history.notices)
    stable = run_text(text.replace("ALL, -5.", "ALL, 5.") + step("*CLOAD\n3, 3, 10."))
    assert not any("unstable" in notice for notice in stable.notices)


def test_statics_has_no_velocity_and_no_viscous_stress():
    """A support moved in a static step, damped bars and a dashpot: V = A = 0, T is elastic only."""
    text = TRUSS.format(height=1).replace("*DENSITY", "*DAMPING, BETA=0.5\n*DENSITY")
    text += "*ELEMENT, TYPE=DASHPOTA, ELSET=POT\n3,1,2\n*DASHPOT, ELSET=POT\n\n7.\n"
    history = run_text(text + step("*BOUNDARY\n2, 1, 1, 0.1\n*CLOAD\n3, 2, -5.", options=", DIRECT", data="0.5, 1."))
    assert not history.v.any() and not history.a.any()
    strain, stress = history.elements[-1, :2, 0], history.elements[-1, :2, 1]
    assert stress == pytest.approx(1e4 * strain, rel=1e-12)
    assert history.elements[-1, 2, 3] == 0.0


def test_loads_at_once_are_those_of_a_constant_amplitude():
    """AMPLITUDE=STEP: every row has the end of the ramp, also for supports that move; what is given up goes at once."""
    ramp = TRUSS.format(height=0.5) + step("*CLOAD\n3, 2, -20.\n*BOUNDARY\n2, 1, 1, 0.01", data="0.25, 1.")
    ramp += step("*CLOAD, OP=NEW\n3, 2, -5.", data="0.25, 1.")
    end = run_text(ramp)
    at_once = run_text(ramp.replace("*STEP, NLGEOM", "*STEP, AMPLITUDE=STEP, NLGEOM"))
    for number in (1, 2):
        rows = (at_once.step == number) & (at_once.increment > 0)
        last = end.u[np.flatnonzero(end.step == number)[-1]]
        assert rows.sum() >= 4 and np.abs(at_once.u[rows] - last).max() < 1e-12


SLACKENED = """*NODE, NSET=ALL
1, 0., 0., 0.
{bars_plus_one}, 10., 0., 0.
*NGEN, NSET=ALL
1, {bars_plus_one}
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*MATERIAL, NAME=M
*ELASTIC
1e6
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1e-2
*INITIAL CONDITIONS, TYPE=STRESS
LINE, 1e5
*BOUNDARY
1, 1, 3
{bars_plus_one}, 1, 3
*STEP, NLGEOM
*STATIC{direct}
{dt}, 1.
{load}*BOUNDARY
{bars_plus_one}, 1, 1, -8.
*END STEP
"""
"""A taut cable without weight, whose end comes nearer: it goes slack on the way, and then nothing holds most of it."""


@pytest.mark.parametrize(("direct", "dt"), [("", 1.0), ("", 0.1), (", DIRECT", 0.1)])
@pytest.mark.parametrize("bars", [4, 20])
def test_a_cable_that_goes_slack_hangs_from_its_load(direct, dt, bars):
    """Half of the load 1 in the middle, by half of the cable, which spans 1 of its 2 from there to the support."""
    load = f"*CLOAD\n{bars // 2 + 1}, 3, -1.\n"
    history = run_text(SLACKENED.format(bars=bars, bars_plus_one=bars + 1, direct=direct, dt=dt, load=load))

    def missing(length: float) -> float:
        tension = 1e-2 * (1e6 * 0.5 * (length**2 / 25.0 - 1.0) + 1e5) * length / 5.0
        return tension * np.sqrt(length**2 - 1.0) / length - 0.5

    length = brentq(missing, 4.472, 4.6)
    middle = history.of_node(bars // 2 + 1)[-1]
    assert middle == pytest.approx([-4.0, 0.0, -np.sqrt(length**2 - 1.0)], abs=1e-5)
    assert history.of_node(1, "RF")[-1] == pytest.approx([-0.5 / np.sqrt(length**2 - 1.0), 0.0, 0.5], abs=1e-5)


def test_a_cable_that_nothing_loads_may_lie_slack():
    """Its nodes stay where they are, as nothing pulls at them."""
    history = run_text(SLACKENED.format(bars=4, bars_plus_one=5, direct="", dt=0.1, load=""))
    assert np.abs(history.of_node(1, "RF")[-1]).max() < 1e-9
    assert not history.of_node(3)[-1, 1:].any()


def test_bars_in_line_that_are_loaded_across_stretch():
    """EA (y/L)^3 = P (GREEN): nothing resists at first. There is one equilibrium, whatever it takes."""
    text = """*NODE
1,0,0,0
2,500,0,0
3,1000,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
210000
{law}*SOLID SECTION, ELSET=ALL, MATERIAL=M
200000
*BOUNDARY
1,1,3
3,1,3
2,1,2
"""
    for law in ("", "*NO COMPRESSION\n"):
        history = run_text(text.format(law=law) + step("*CLOAD\n2, 3, -1000."))
        assert history.of_node(2)[-1, 2] == pytest.approx(-500.0 * (1000.0 / 4.2e10) ** (1 / 3), rel=1e-8)
        assert not any("branch" in notice or "jump" in notice for notice in history.notices)
