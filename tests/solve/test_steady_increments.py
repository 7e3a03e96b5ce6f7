"""Increments over impacts in which nothing happens: compiled ones are those of Python, and those of the closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from fem.compiled.interpreted import rehearsal
from fem.solve.ropes import steady
from fem.solve.ropes.moreau import Moreau
from tests.decks import run_text

GRAVITY = 9.81
FRICTION, STIFFNESS, BELT = 0.4, 100.0, 0.1


def block(*, friction=FRICTION, dt=2e-3, period=4.0, across="2, 2, 2", start=(0.1, 0.0)) -> str:
    """A mass of 1 on a belt that moves along x, held by a spring along x. across: what is held of it besides"""
    return f"""*NODE, NSET=ALL
2, 0, 0, 0
11, 0, 0, 0
*NSET, NSET=BLOCK
2
*ELEMENT, TYPE=MASS, ELSET=MASSES
1, 2
*MASS, ELSET=MASSES
1.
*ELEMENT, TYPE=SPRING1, ELSET=SPRINGS
2, 2
*SPRING, ELSET=SPRINGS
1
{STIFFNESS}
*STOP PLANE, REF NODE=11, NSET=BLOCK, FRICTION={friction}
0, 0, 1
*INITIAL CONDITIONS, TYPE=DISPLACEMENT
2, 1, {start[0]}
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 2, {start[1]}
*BOUNDARY
11, 1, 3
{across}
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
{dt}, {period}
*BOUNDARY, TYPE=VELOCITY
11, 1, 1, {BELT}
*DLOAD
MASSES, GRAV, {GRAVITY}, 0, 0, -1
*NODE PRINT, NSET=ALL
U, V, A, RF
*END STEP
"""


def pendulum(*, young=1e5, restitution=0.0, friction=0.3, dt=2e-3, period=1.0, extra="") -> str:
    """A mass on a bar that swings against a plane below it."""
    return f"""*NODE, NSET=ALL
1, 0, 0
2, 0.6, -0.8
3, 0, -0.9
*NSET, NSET=BOB
2
*ELEMENT, TYPE=MASS, ELSET=MASSES
1, 2
*MASS, ELSET=MASSES
1.
*ELEMENT, TYPE=T2D2, ELSET=ROD
2, 1, 2
*MATERIAL, NAME=M
*ELASTIC
{young}
*DENSITY
3.
{extra}
*SOLID SECTION, ELSET=ROD, MATERIAL=M
1e-2
*STOP PLANE, REF NODE=3, NSET=BOB, FRICTION={friction}, RESTITUTION={restitution}
0.1, 1.
*BOUNDARY
1, 1, 3
3, 1, 3
2, 3
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
{dt}, {period}
*CONTROLS, IMPACT=MOREAU
*DLOAD
MASSES, GRAV, {GRAVITY}, 0, -1
*NODE PRINT, NSET=ALL
U, V, A, RF
*END STEP
"""


def in_python(text: str, patch: pytest.MonkeyPatch):
    """The history where every increment is done by Python."""
    with patch.context() as without:
        without.setattr(steady, "MOST", 0)
        return run_text(text)


def counted(text: str, patch: pytest.MonkeyPatch):
    """The history, and how many of its increments Python did."""
    done, increment = itertools.count(), Moreau._increment
    with patch.context() as watched:
        watched.setattr(Moreau, "_increment", lambda *given: (next(done), increment(*given))[1])
        return run_text(text), next(done)


def assert_same(one, other, tolerance=1e-9) -> None:
    """Rows to a part of the largest of their kind, and all events."""
    for what in ("u", "v", "a", "reactions", "energy"):
        expected = getattr(other, what)
        scale = np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(getattr(one, what), expected, rtol=0.0, atol=tolerance * scale)
    named = [[(event.increment, event.event, event.node) for event in history.events] for history in (one, other)]
    assert named[0] == named[1]


@pytest.mark.parametrize("way", ["2, 2, 2", "2, 2, 2\n2, 3, 3"])
def test_a_block_that_sticks_and_slides_needs_no_python(monkeypatch, way):
    history, done = counted(block(across=way, period=1.0), monkeypatch)
    assert done == 0 and len(history.time) > 500
    assert_same(history, in_python(block(across=way, period=1.0), monkeypatch))


def belt(period: float, times: np.ndarray) -> np.ndarray:
    """Displacements of the block at some times: phases of x'' + k x = +- mu g, and those in which the belt takes it."""
    limit, time, x, v, found = FRICTION * GRAVITY, 0.0, 0.1, 0.0, np.zeros(len(times))
    while time < period:
        rubs = np.sign(BELT - v)
        if abs(BELT - v) < 1e-9:  # it slips where the spring pulls more than friction does
            rubs, v = np.sign(x) if STIFFNESS * abs(x) >= limit * (1.0 - 1e-9) else 0.0, BELT

        def motion(_, y, rubs=rubs):
            return [y[1], rubs * limit - STIFFNESS * y[0] if rubs else 0.0]

        def ends(_, y, rubs=rubs):
            return rubs * (y[1] - BELT) if rubs else STIFFNESS * abs(y[0]) - limit

        ends.terminal, ends.direction = True, 1.0
        answer = solve_ivp(motion, (time, period), [x, v], events=ends, rtol=1e-9, atol=1e-12, dense_output=True)
        inside = (times >= time) & (times <= answer.t[-1])
        found[inside] = answer.sol(times[inside])[0]
        time, (x, v) = answer.t[-1], answer.y[:, -1]
    return found


def test_stick_and_slip_on_a_belt_is_that_of_its_phases():
    """Phases integrated one by one by SciPy, between the instants at which they end; first order in dt."""
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        history = run_text(block(dt=dt, period=2.0))
        x = history.positions(2)[:, 0]
        errors.append(np.abs(x - belt(2.0, history.time)).max())
        assert np.abs(history.energy_error).max() < 1e-12
    assert errors[-1] < 1e-3 and errors[-1] < 0.6 * errors[0]


@settings(max_examples=8)
@given(
    st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(-0.5, 0.5), st.floats(0.3, 2.0),
    st.sampled_from(["", "*DAMPING, ALPHA=0.3, BETA=1e-3"]), st.booleans(),
)  # fmt: skip
@pytest.mark.long
def test_random_models_move_as_those_of_python(friction, restitution, speed, steepness, extra, swings):
    """Where a node slides in space each increment may be off by 1e-10 of its rates, else it is by round-off."""
    patch, across = pytest.MonkeyPatch(), "2, 2, 2" if speed < 0.0 else "11, 1, 1"
    text = block(friction=friction or 0.1, across=across, start=(0.05, speed), period=0.3)
    if swings:
        text = pendulum(young=1e5 * steepness, restitution=restitution, friction=friction, extra=extra, period=0.5)
    history, done = counted(text, patch)
    assert done < len(history.time) and np.abs(history.energy_error).max() < 1e-4 * history.of_energy("kinetic").max()
    assert_same(history, in_python(text, patch), 1e-9 if swings or speed < 0.0 else 150 * 1e-10)


def test_kernels_give_the_same_as_python_functions():
    text = pendulum(period=0.35)
    machine = run_text(text)
    with rehearsal() as called:
        functions = run_text(text)
    assert any("steady" in name for name, _ in called) and len(machine.events) > 0
    assert_same(functions, machine, 1e-11)


def test_a_bob_on_an_elastic_bar_swings_slides_and_comes_to_rest(monkeypatch):
    """In free flight and contact Python does impacts and little more; at rest nothing moves, and that is no failure."""
    history, done = counted(pendulum(), monkeypatch)
    impacts = [event for event in history.events if event.event == "impact"]
    assert 1 <= len(impacts) <= done < 0.1 * len(history.time)
    assert np.abs(history.v[-1]).max() < 1e-12
    assert_same(history, in_python(pendulum(), monkeypatch))
