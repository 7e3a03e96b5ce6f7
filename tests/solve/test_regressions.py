"""Mistakes once made, each as the small model that showed it."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from tests.decks import COLUMN, chain, run_text, step

DRAGGED = """*NODE
1,0,0,0
2,1,0,0
3,0,5,0
*ELEMENT, TYPE=DASHPOT2, ELSET=D
1,1,2
*DASHPOT, ELSET=D
1,1
50.
*ELEMENT, TYPE=SPRING1, ELSET=K
5,3
*SPRING, ELSET=K
1
1e7
*ELEMENT, TYPE=MASS, ELSET=MM
9,2
*MASS, ELSET=MM
1.
*ELEMENT, TYPE=MASS, ELSET=SHIP
10,3
*MASS, ELSET=SHIP
1e6
*INITIAL CONDITIONS, TYPE=VELOCITY
3,1,2.
*BOUNDARY
2,2,3
1,2,3
3,2,3
*STEP
*DYNAMIC, DIRECT
1e-3, .1
*BOUNDARY, TYPE=VELOCITY
1,1,1,1.
*END STEP
"""


def test_dashpot_on_a_moving_support_beside_a_heavy_ship():
    """v2 = 1 - exp(-c t/m); the heavy fast node makes the residual test weak, so the first solve has to be right."""
    history = run_text(DRAGGED)
    assert history.v[-1, 3] == pytest.approx(1 - np.exp(-5.0), abs=1e-4)


@pytest.mark.parametrize("extra", ["*DAMPING, BETA=0.01\n", "*DAMPING, ALPHA=3.\n", ""])
@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT"])
def test_linear_model_on_a_moving_support_needs_one_iteration(extra, mass):
    """The lift of the support motion is the exact linear one, whatever damps."""
    text = f"""*NODE
1,0,0,0
2,1,0,0
3,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
50.
*DENSITY
2.
{extra}*SOLID SECTION, ELSET=ALL, MATERIAL=M, MASS={mass}
1.
*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC
1, 3., 0., 0.
0., 0.3
*BOUNDARY
1, 2, 3
2, 2, 3
3, 2, 3
*STEP, NLGEOM=NO
*DYNAMIC, DIRECT
0.01, 0.5
*CONTROLS, RESI_GLOB_RELA=1e-11
*BOUNDARY, AMPLITUDE=WAVE
1, 1, 1, 0.4
*END STEP
"""
    history = run_text(text)
    assert history.iterations[1:].max() == 1
    exchanged = np.abs(history.energy).max()
    exact = mass == "LUMPED" and not extra
    assert np.abs(history.energy_error).max() < (1e-12 if exact else 1e-3) * exchanged


def test_limit_point_in_statics_ends():
    """A softening spring under too much load: cut-backs end at dt0/1024, not at round-off."""
    text = """*NODE
1,0,0,0
2,1,0,0
*ELEMENT, TYPE=SPRINGA, ELSET=S
1,1,2
*SPRING, NONLINEAR, ELSET=S

-5,-.5
0,0
10,.1
5,.2
20,.5
*BOUNDARY
1,1,3
2,2,3
*STEP, NLGEOM=YES
*STATIC
.05,1.
*CLOAD
2,1,15.
*END STEP
"""
    with pytest.raises(fem.NoConvergence) as failure:
        run_text(text)
    assert len(failure.value.history) < 200


SPINNING = """*NODE
1,0,0,0
2,1,0,0
3,2,0,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
2,2,3
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1000.
*SOLID SECTION, ELSET=ALL, MATERIAL=M
1e-3
*INITIAL CONDITIONS, TYPE=VELOCITY
1,2,-1.
3,2,1.
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
{dt}, 0.2
*END STEP
"""


@pytest.mark.parametrize("dt", ["1e-3", "1e-2"])
def test_a_free_spin_exchanges_nothing_and_is_no_drift(dt):
    assert run_text(SPINNING.format(dt=dt)).time[-1] == pytest.approx(0.2)


def test_frequency_step_leaves_the_motion_alone():
    """U after DYNAMIC, FREQUENCY, DYNAMIC equals U after one DYNAMIC of the same length."""
    text = SPINNING.format(dt="1e-3")
    head, step = text.split("*STEP", 1)
    step = "*STEP" + step
    modes = "*STEP, NLGEOM=YES\n*FREQUENCY\n1\n*END STEP\n"
    whole = run_text(text.replace(", 0.2", ", 0.4"))
    parts = run_text(head + modes + step + modes + step)
    assert parts.u[-1] == pytest.approx(whole.u[-1], abs=1e-7)
    assert parts.energy[0, 3] == 0.0  # no external work before anything happens


def test_loads_in_a_frequency_step_are_refused():
    text = SPINNING.split("*STEP")[0] + "*STEP\n*FREQUENCY\n1\n*CLOAD\n2, 1, 3.\n*END STEP\n"
    with pytest.raises(fem.DeckError, match="no meaning in a \\*FREQUENCY step"):
        fem.parse_deck(text)


TIED = """*NODE
1,0,0,0
2,1,0,0
3,0,1,0
4,1,1,0
*ELEMENT, TYPE=T3D2, ELSET=ALL
1,1,2
*ELEMENT, TYPE=MASS, ELSET=TIP
2,4
*MASS, ELSET=TIP
0.5
*MATERIAL, NAME=M
*ELASTIC
1e3
*DENSITY
1.
*SOLID SECTION, ELSET=ALL, MATERIAL=M, MASS=CONSISTENT
1.
*EQUATION
2
4,1,1.,{master},1,-1.
*BOUNDARY
1,2,3
2,2,3
3,1,3
4,2,3
{conditions}*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
1e-3, 0.05
{support}*END STEP
"""


def test_dependent_dofs_obey_their_equation_from_the_start():
    conditions = "1,1\n*INITIAL CONDITIONS, TYPE={}\n2,1,{}\n"
    for kind, value in (("DISPLACEMENT", 1e-3), ("VELOCITY", 1.0)):
        history = run_text(TIED.format(master=2, conditions=conditions.format(kind, value), support=""))
        for field in (history.u, history.v, history.a):
            assert field[:, 9] == pytest.approx(field[:, 3], abs=1e-12)
    contradiction = TIED.format(master=2, conditions=conditions.format("VELOCITY", 1.0) + "4,1,2.\n", support="")
    with pytest.raises(fem.ModelError, match="node 4 dof 1 contradicts an \\*EQUATION"):
        run_text(contradiction)


@pytest.mark.parametrize("kind", ["DISPLACEMENT", "VELOCITY"])
def test_round_off_does_not_contradict_an_equation(kind):
    """1e-16 on a dependent dof is what the sine of a right angle leaves; 1e-6 is meant."""
    for values in ((0.0, 1e-16), (1e3, 1e3 + 1e-9), (-1e3, 1e-16)):
        conditions = f"1,1\n*INITIAL CONDITIONS, TYPE={kind}\n2,1,{values[0] * 1e-3!r}\n3,2,{values[0] * 1e-3!r}\n"
        text = TIED.format(master=2, conditions=conditions + f"4,1,{values[1] * 1e-3!r}\n", support="")
        if values[0] * values[1] >= 0.0:
            assert run_text(text).v[0, 9] == run_text(text).v[0, 3]
        else:
            with pytest.raises(fem.ModelError, match="node 4 dof 1 contradicts"):
                run_text(text)
    conditions = f"1,1\n*INITIAL CONDITIONS, TYPE={kind}\n4,1,1e-6\n"
    with pytest.raises(fem.ModelError, match="node 4 dof 1 contradicts"):
        run_text(TIED.format(master=2, conditions=conditions, support=""))


def test_mass_tied_to_a_moving_support_is_moved_by_it():
    """RF carries the tied mass; the energy balance closes although the support starts with a jump of velocity."""
    wave = "*BOUNDARY, AMPLITUDE=WAVE\n1,1,1,1.\n"
    text = TIED.format(
        master=1, conditions="*AMPLITUDE, NAME=WAVE, DEFINITION=PERIODIC\n1,3.,0.,0.\n0.,.1\n", support=wave
    )
    history = run_text(text)
    for field in (history.u, history.v, history.a):
        assert field[:, 9] == pytest.approx(field[:, 0], abs=1e-12)
    inertia = 0.5 * history.a[:, 9] + history.a[:, 0] / 3 + history.a[:, 3] / 6
    pull = history.elements[:, 0, 3]
    assert history.reactions[:, 0] == pytest.approx(inertia - pull, abs=1e-9)
    assert np.abs(history.energy_error).max() < 1e-3 * np.abs(history.energy).max()


@pytest.mark.parametrize("mass", ["LUMPED", "CONSISTENT", "ONE POINT"])
def test_energy_closes_where_the_velocity_of_a_support_jumps(mass):
    text = chain(1, mass=mass, young=1e2, dt=5e-4, period=0.5)
    text = text.replace("1, 1, 3\n", "1, 2, 3\n", 1).replace(", ENERGY DRIFT=OFF", "")
    text = text.replace("*STEP", "*AMPLITUDE, NAME=GO\n0,0,.1,0,.5,.4\n*STEP", 1)
    text = text.replace("*END STEP", "*BOUNDARY, AMPLITUDE=GO\n1,1,1,1.\n*END STEP")
    history = run_text(text)
    assert np.abs(history.energy_error).max() < 2e-3 * np.abs(history.energy).max()


def test_load_on_a_node_without_elements_is_an_error():
    text = chain(2).replace("*ELEMENT", "99, 5., 5., 5.\n*ELEMENT", 1)
    with pytest.raises(fem.ModelError, match="node 99 dof 1"):
        run_text(text.replace("*END STEP", "*CLOAD\n99, 1, 10.\n*END STEP"))


def test_damped_cable_never_pushes():
    """A mass on a damped cable, pulled and let go: T >= 0 always, and the energy balance closes."""
    text = """*NODE
1,0,0,0
2,1,0,0
*ELEMENT, TYPE=T3D2, ELSET=C
1,1,2
*ELEMENT, TYPE=MASS, ELSET=M
2,2
*MASS, ELSET=M
10.
*MATERIAL, NAME=M
*ELASTIC
1e5
*NO COMPRESSION
*DAMPING, BETA=0.05
*SOLID SECTION, ELSET=C, MATERIAL=M
0.1
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2,1,0.05
*BOUNDARY
1,1,3
2,2,3
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
2e-5, 0.1
*END STEP
"""
    history = run_text(text)
    assert history.elements[:, 0, 3].min() >= 0.0
    assert history.elements[:, 0, 3].max() > 100.0
    assert np.abs(history.energy_error).max() < 1e-2 * np.abs(history.energy).max()
    closing = text.replace("TYPE=DISPLACEMENT\n2,1,0.05", "TYPE=VELOCITY\n2,1,-2.")
    assert run_text(closing).elements[:, 0, 3].min() == 0.0


def test_a_held_hinge_does_not_hide_buckling():
    notices = run_text(COLUMN + step("*CLOAD\n3, 3, -10.", data="1., 1.")).notices
    assert any("kept in place" in notice for notice in notices)
    assert any("unstable" in notice for notice in notices)


def test_bar_crushed_to_nothing_is_not_an_answer():
    text = chain(1, strain="LOG").replace("*DYNAMIC, DIRECT\n0.01, 0.5", "*STATIC\n1., 1.")
    text = text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", "*BOUNDARY\n2, 2, 3\n2, 1, 1, -0.1\n")
    with pytest.raises(fem.NoConvergence):
        run_text(text)


def test_velocity_at_every_break_is_that_of_the_segment_before():
    """Times of increments carry round-off (0.30000000000000004): it must not decide."""
    text = chain(1, dt=0.1, period=1.0).replace("1, 1, 3\n", "1, 2, 3\n2, 2, 3\n", 1)
    points = ",".join(f"{k / 10},{(k % 2) * 0.01}" for k in range(11)).split(",")
    rows = "\n".join(",".join(points[k : k + 8]) for k in range(0, len(points), 8))
    text = text.replace("*STEP", f"*AMPLITUDE, NAME=SAW\n{rows}\n*STEP", 1)
    text = text.replace("*END STEP", "*BOUNDARY, AMPLITUDE=SAW\n1,1,1,1.\n*END STEP").replace("0, 0, -1", "0, 0, -1e-9")
    history = run_text(text)
    assert history.v[1:, 0] == pytest.approx([0.1, -0.1] * 5)


def test_log_force_does_not_jump_when_a_linear_step_begins():
    text = chain(1, strain="LOG", young=1e3).replace("*DYNAMIC, DIRECT\n0.01, 0.5", "*STATIC\n1., 1.")
    text = text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", "*BOUNDARY\n2, 2, 3\n2, 1, 1, 0.04\n")
    text += "*STEP, NLGEOM=NO\n*STATIC\n1., 1.\n*END STEP\n"
    values = run_text(text).elements[:, 0]
    assert values[-1] == pytest.approx(values[1], rel=1e-12)


def test_load_on_a_supported_dof_goes_into_its_reaction():
    """Also where the set of a load takes in supported nodes."""
    text = chain(2, young=1e4).replace("*DYNAMIC, DIRECT\n0.01, 0.5", "*STATIC\n1., 1.")
    text = text.replace("*DLOAD\nLINE, GRAV, 9.81, 0, 0, -1\n", "*CLOAD\nALL, 1, 1.\n")
    history = run_text(text)
    assert history.reactions[-1, 0] == pytest.approx(-3.0, rel=1e-9)
    assert history.elements[-1, :, 3] == pytest.approx([2.0, 1.0], rel=1e-6)


def test_damped_cables_converge_where_they_become_taut():
    """A horizontal chain falls into its own catch: the viscous force has no jump at zero stress."""
    text = chain(20, both_ends=True, young=1e5, dt=0.001, period=0.1, material="*NO COMPRESSION\n*DAMPING, BETA=0.01")
    history = run_text(text.replace("RELA=1e-9", "RELA=1e-7"))
    assert history.iterations.max() <= 12
    assert history.elements[:, :, 3].min() >= 0.0


def test_periodic_support_that_starts_within_a_step_closes_the_energy_balance():
    text = chain(1, mass="CONSISTENT", young=10.0, dt=0.0025, period=1.0)
    text = text.replace("1, 1, 3\n", "1, 2, 3\n2, 2, 3\n", 1)
    text = text.replace("*STEP", "*AMPLITUDE, NAME=W, DEFINITION=PERIODIC\n1,3.,0.3,0.\n0.,1.\n*STEP", 1)
    text = text.replace("*END STEP", "*BOUNDARY, AMPLITUDE=W\n1,1,1,.4\n*END STEP").replace("0, 0, -1", "1, 0, 0")
    history = run_text(text)
    assert np.abs(history.energy_error).max() < 5e-3 * np.abs(history.energy).max()


def test_springs_of_negative_stiffness_store_negative_energy():
    text = """*NODE
1,0,0,0
2,1,0,0
*ELEMENT, TYPE=SPRINGA, ELSET=P
1,1,2
*ELEMENT, TYPE=SPRINGA, ELSET=Q
2,1,2
*ELEMENT, TYPE=MASS, ELSET=M
3,2
*MASS, ELSET=M
1.
*SPRING, ELSET=P

100.
*SPRING, ELSET=Q

-50.
*BOUNDARY
1,1,3
2,2,3
*INITIAL CONDITIONS, TYPE=VELOCITY
2,1,.1
*STEP, NLGEOM=YES
*DYNAMIC, DIRECT
.001,1.
*END STEP
"""
    history = run_text(text)
    assert np.abs(history.energy_error).max() < 1e-6 * 0.005
    assert history.v[-1, 3] == pytest.approx(0.1 * np.cos(np.sqrt(50.0)), abs=1e-4)


def test_springs_between_dofs_of_one_node():
    """SPRING2 from dof 1 to dof 2 of the same node: k (u1 - u2) on both."""
    text = """*NODE
1,0,0,0
*ELEMENT, TYPE=SPRING2, ELSET=S
1,1,1
*SPRING, ELSET=S
1,2
10.
*ELEMENT, TYPE=SPRING1, ELSET=G
2,1
*SPRING, ELSET=G
1
5.
*BOUNDARY
1,3
*STEP, NLGEOM=NO
*STATIC
1.,1.
*CLOAD
1,2,1.
*END STEP
"""
    assert run_text(text).u[-1, :2] == pytest.approx([0.2, 0.3])
