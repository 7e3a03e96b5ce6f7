"""Every notice of the solver by its text: a deck that gives it, and a neighbour of that deck that does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fem
from fem.linear.choice import CG, EXTERNAL, Choice
from fem.solve.newton.groups import MEMORY, ROW
from fem.solve.outcome import MANY_ITERATIONS, jumps_of
from fem.solve.step_system import MANY_PRODUCTS, MOST_REFUSALS, Patience
from tests.decks import COLUMN, chain, run_text, step

PULLED = COLUMN.replace("2,0,0,1", "2,0,0,1.0").replace("1,1,3\n3,1,2", "1,1,3\n2,1,2\n3,1,2")
"""Two bars in line, guided."""
MOVED = """*NODE
1,0,0,0
2,0,0,-1
*ELEMENT, TYPE=T3D2, ELSET=ROD
1,1,2
*MATERIAL, NAME=M
*INEXTENSIBLE
*DENSITY
1.
*SOLID SECTION, ELSET=ROD, MATERIAL=M
1.
*AMPLITUDE, NAME=SOFT, DEFINITION=SMOOTH STEP
0., 0., 1., 1.
*BOUNDARY
1,1,3
2,2
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.02
{support}*END STEP
"""
"""A rod hangs from a support that moves."""


def dynamic(line: str, **options: Any) -> str:
    """One bar of 0.1 under its weight with another data line of *DYNAMIC, DIRECT."""
    return chain(1, **options).replace("*DYNAMIC, DIRECT\n0.01, 0.5", line)


def ropes(count: int, controls: str = "") -> str:
    """So many taut ropes beside each other, each with a mass of its own."""
    nodes = "".join(f"{k},{k},0,0\n{100 + k},{k},0,-1\n" for k in range(1, count + 1))
    lines = "".join(f"{k},{k},{100 + k}\n" for k in range(1, count + 1))
    masses = "".join(f"{100 + k},{100 + k}\n" for k in range(1, count + 1))
    tops = "".join(f"{k},1,3\n" for k in range(1, count + 1))
    return (
        f"*NODE\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=R\n{lines}*ELEMENT, TYPE=MASS, ELSET=P\n{masses}*MASS, ELSET=P\n1.\n"
        f"*MATERIAL, NAME=M\n*INEXTENSIBLE\n*NO COMPRESSION\n*SOLID SECTION, ELSET=R, MATERIAL=M\n1.\n*BOUNDARY\n{tops}"
        f"*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.01, 0.02\n{controls}*DLOAD\nP, GRAV, 9.81, 0, 0, -1\n*END STEP\n"
    )


def pull(last: str = "1.") -> str:
    """The guided bars pulled along; the load ends at a share of 10."""
    curve = f"*AMPLITUDE, NAME=A\n0., 0., 0.5, 1., 1., {last}\n"
    return PULLED + curve + step("*CLOAD, AMPLITUDE=A\n3, 3, 10.", options=", DIRECT", data="0.25, 1.")


MASSIVE = "*ELEMENT, TYPE=MASS, ELSET=P\n9, 2\n10, 3\n*MASS, ELSET=P\n1.\n"
SWING = (
    COLUMN.replace("3,1,2", "3,1,2\n2,1,2")
    + "{mass}*STEP\n*DYNAMIC, DIRECT, SINGULAR MASS=WARNING\n0.01, 0.02\n*END STEP\n"
)
WAVES = "*AQUA\n-50., 0., 9.81, 1025.\n*WAVE, TYPE=AIRY, WAVE PERIOD\n1e-9, {period}\n*STEP"
AFTER = "*STEP, NLGEOM\n*STATIC\n1., 1.\n*END STEP\n"
CASES: dict[str, tuple[str, str]] = {
    "EXTRAPOLATION uses velocities, which a static step does not have": (
        pull().replace("NLGEOM=YES", "NLGEOM=YES, EXTRAPOLATION=LINEAR"),
        pull(),
    ),
    "the prescribed displacement of node 1 dof 1 differs from the state at the start": (
        chain(1, period=0.02).replace("*DLOAD", "*BOUNDARY\n1, 1, 1, 0.01\n*DLOAD"),
        chain(1, period=0.02).replace("*DLOAD", "*BOUNDARY\n1, 1, 1, 0.\n*DLOAD"),
    ),
    "supports start with a jump of velocity, which rods transmit": (
        MOVED.format(support="*BOUNDARY, TYPE=VELOCITY\n1,3,3,1.\n"),
        MOVED.format(support="*BOUNDARY, AMPLITUDE=SOFT\n1,3,3,1.\n"),
    ),
    "no stiffness and no load; kept in place: node 2 dof 1": (
        COLUMN + step("*CLOAD\n3, 3, 10."),
        pull(),
    ),
    "IMPACT=MOREAU: Moreau-Jean time stepping, of first order, replaces TIME INTEGRATOR=NEWMARK": (
        ropes(1, "*CONTROLS, IMPACT=MOREAU\n"),
        ropes(1, "*CONTROLS, IMPACT=EVENT\n"),
    ),
    "21 ropes are more than 20, so IMPACT=MOREAU was chosen": (ropes(21), ropes(20)),
    "the mass matrix is singular (first at node 2 dof 3): initial accelerations are set to zero": (
        SWING.format(mass=""),
        SWING.format(mass=MASSIVE),
    ),
    "lines can go slack here: an increment of 0.001 is 10 times the time of a wave through element 1 (L0": (
        dynamic("*DYNAMIC, DIRECT\n1e-3, 2e-3", material="*NO COMPRESSION"),
        dynamic("*DYNAMIC, DIRECT\n4e-5, 8e-5", material="*NO COMPRESSION"),
    ),
    "automatic increments from 1e-07 to 0.001: their local error stays below 0.0001": (
        dynamic("*DYNAMIC, ALPHA=0\n1e-3, 1e-2"),
        dynamic("*DYNAMIC, DIRECT\n1e-3, 1e-2"),
    ),
    "the equilibrium at the end of the step is unstable: its stiffness is negative in 2 directions": (
        COLUMN + step("*CLOAD\n3, 3, -10."),
        COLUMN + step("*CLOAD\n3, 3, 10."),
    ),
    "some increments converged only to round-off": (
        chain(1, young=1e10, dt=0.001, period=0.01).replace("RELA=1e-9", "RELA=1e-15"),
        chain(1, young=1e4, dt=0.001, period=0.01).replace("RELA=1e-9", "RELA=1e-6"),
    ),
    "loads vanish in some increments": (pull(last="0."), pull(last="0.5")),
    "some increments are as short as allowed, and still their local error is larger than TIME ERROR": (
        dynamic("*DYNAMIC\n1e-2, 0.1, 1e-2", young=1e3).replace(
            "ENERGY DRIFT=OFF", "ENERGY DRIFT=OFF, TIME ERROR=1e-9"
        ),
        dynamic("*DYNAMIC\n1e-2, 0.1, 1e-6", young=1e3).replace(
            "ENERGY DRIFT=OFF", "ENERGY DRIFT=OFF, TIME ERROR=1e-3"
        ),
    ),
    "a static step stops all motion: the velocities at its start are set to zero": (
        dynamic("*DYNAMIC, DIRECT\n1e-3, 2e-3", direction="1, 0, 0") + AFTER,
        pull() + AFTER,
    ),
    "the initial velocity of node 1 dof 1 is left out: its support moves with 0, and 2 is given": (
        MOVED.format(support="").replace("*BOUNDARY", "*INITIAL CONDITIONS, TYPE=VELOCITY\n1, 1, 2.\n*BOUNDARY", 1),
        MOVED.format(support=""),
    ),
    "GRAV acts 2 times in the same direction on element 1": (
        chain(1, period=0.02).replace("*DLOAD", "*DLOAD\n, GRAV, 9.81, 0, 0, -1"),
        chain(1, period=0.02).replace("*DLOAD", "*DLOAD\n, GRAV, 9.81, 1, 0, 0"),
    ),
    "*AQUA has the gravity 1025, GRAV has 9.81": (
        chain(1, period=0.02).replace("*STEP", "*AQUA\n-50., 0., 1025., 9.81\n*STEP"),
        chain(1, period=0.02).replace("*STEP", "*AQUA\n-50., 0., 9.81, 1025.\n*STEP"),
    ),
    "dt = 0.01 is longer than an eighth of the mean period of the waves": (
        chain(1, period=0.02).replace(
            "*STEP", "*AQUA\n-50., 0., 9.81, 1025.\n*WAVE, TYPE=AIRY, WAVE PERIOD\n1e-9, 0.07\n*STEP"
        ),
        chain(1, period=0.02).replace(
            "*STEP", "*AQUA\n-50., 0., 9.81, 1025.\n*WAVE, TYPE=AIRY, WAVE PERIOD\n1e-9, 0.09\n*STEP"
        ),
    ),
    "modes asked for, the model has": (
        PULLED + MASSIVE + "*STEP\n*FREQUENCY\n9\n*END STEP\n",
        PULLED + MASSIVE + "*STEP\n*FREQUENCY\n2\n*END STEP\n",
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_a_notice_comes_where_it_should_and_not_beside(text):
    given, neighbour = CASES[text]
    assert [notice for notice in run_text(given).notices if text in notice], run_text(given).notices
    assert not [notice for notice in run_text(neighbour).notices if text in notice]


@pytest.mark.parametrize(("iterations", "is_told"), [(MANY_ITERATIONS + 1, True), (MANY_ITERATIONS, False)])
def test_a_static_increment_that_takes_long_may_have_jumped(iterations, is_told):
    increments = np.zeros((3, len(ROW)))
    increments[1, ROW.iterations] = iterations
    texts = [text for _, text in jumps_of(increments, 4)]
    start = f"increment 6 took {iterations} iterations: the structure may have jumped to another branch"
    assert [text.startswith(start) for text in texts] == [True] * is_told


def iterative() -> Any:
    """A stage that solves by conjugate gradients."""
    fields = dict.fromkeys(Choice.__dataclass_fields__)
    return SimpleNamespace(choice=Choice(**fields | {"solver": CG}))


def test_an_iterative_solver_that_gives_up_systems_is_told_once_it_has_done_so_often():
    told: list[str] = []
    stage, patience = iterative(), Patience(told.append)
    for _ in range(MOST_REFUSALS - 1):
        patience.note_refusal(stage)
    assert not told
    patience.note_refusal(stage)
    assert [
        "gave up on indefinite or stiff systems: a direct solver is used from here on" in text for text in told
    ] == [True]
    assert stage.choice.solver == EXTERNAL


@pytest.mark.parametrize(("spent", "is_told"), [(10 * MANY_PRODUCTS + 1, True), (10 * MANY_PRODUCTS, False)])
def test_an_iterative_solver_that_needs_too_many_iterations_is_told(spent, is_told):
    told: list[str] = []
    memory = np.zeros(len(MEMORY))
    memory[MEMORY.spent] = spent
    Patience(told.append).judge(iterative(), SimpleNamespace(memory=memory), np.full((4, len(ROW)), 2.5))
    assert [f"need {MANY_PRODUCTS} iterations a solve: a direct solver is used" in text for text in told] == [
        True
    ] * is_told
    assert memory[MEMORY.spent] == 0.0


def test_notices_are_given_once():
    notices = fem.run(fem.parse_deck(chain(1, young=1e10, dt=0.001, period=0.01).replace("1e-9", "1e-15"))).notices
    assert len(notices) == len(set(notices))


def test_what_is_held_where_it_is_has_no_velocity():
    """The free end of a slack rope without mass: no force moves it, and V says so, whatever it is given."""
    history = run_text("""*NODE
1, 0., 0., 0.
2, 0., 0., -0.5
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
*MATERIAL, NAME=M
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPE, MATERIAL=M
1.
*REST LENGTH
1, 1.
*BOUNDARY
1, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 3, -3.
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT
0.01, 0.1
*END STEP
""")
    assert any("kept in place: node 2 dof 1" in notice for notice in history.notices)
    assert not history.u.any() and not history.v.any()
