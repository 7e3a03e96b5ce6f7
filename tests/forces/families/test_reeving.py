"""Lines that run: their tangents, what winches do, friction on pulleys, when they stop."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.cases import Span
from fem.assembly.environment import first_environment, next_environment
from fem.assembly.system import assemble
from fem.compiled.interpreted import rehearsal
from fem.errors import ModelError, NoConvergence
from fem.forces import running
from fem.forces.families import in_step
from fem.forces.protocol import BOOKS, Tangent, Trial
from fem.forces.running import Leg
from tests.forces.families.examples import known
from tests.forces.families.lines import KEPT, reeved, wound
from tests.forces.families.test_families import ask, dense

LAWS = {
    "wound": wound(),
    "green": wound("GREEN"),
    "log": wound("LOG"),
    "kept": wound(winch=KEPT.format(speed="")),
    "kept slowly": wound("GREEN", winch=KEPT.format(speed=0.01)),
    "reeved": reeved("ENGINEERING"),
    "reeved, green": reeved(),
    "sticks": reeved(friction=2.0),
    "slips": reeved("ENGINEERING", friction=0.05),
    "reeved and kept": reeved(winch="*WINCH, TENSION\nROPE, 4."),
    "slips and kept": reeved(winch="*WINCH, TENSION\n1, 7.\n2, 4., , 2", friction=0.2),
    "slips and kept slowly": reeved(winch="*WINCH, TENSION\n1, 7., 0.02\n2, 4., 0.03, 2", friction=0.05),
}


def in_its_step(text: str):
    """A system, what acts in its step included."""
    model = fem.parse_deck(text.format(procedure="*DYNAMIC, DIRECT\n0.01, 1."))
    assert fem.parse_deck(fem.write_deck(model)) == model
    system = assemble(model)
    still = np.zeros(system.size)
    first = first_environment(system, still)
    environment = next_environment(system, first, model.steps[0], Span(0.0, 1.0, False), still, still, still)
    return in_step(system, environment, system.bars)


def answer(system, u0, u1, state, *, secant=False, lasts=1.0):
    """Force, dense tangent and states after an increment."""
    size = system.size
    bars = system.bars.nodes, np.zeros((10, len(system.bars.nodes))), np.zeros(0)
    tangent = Tangent(*bars, np.zeros((size // 3, 9)), system.pairs, np.zeros((len(system.pairs), 18)))
    still, new, room = np.zeros(size), state.copy(), np.zeros(2)
    times = 0.0, 0.3, 0.3 + lasts, 0.0
    trial = Trial(
        secant, 1.0, 20.0, 400.0, *times, u0, still, still, u1, still, still, room, room, system.coordinates.ravel(),
        state, new, np.zeros(BOOKS),
    )  # fmt: skip
    force = np.zeros(size)
    ask(trial, system.springs, system.families, force, np.zeros(size), tangent)
    return force, dense(tangent, size), new


@pytest.mark.parametrize("secant", [False, True])
@pytest.mark.parametrize("name", LAWS)
def test_tangent_is_the_derivative_of_the_force(name, secant):
    """By central differences of step 1e-5, also while rope slips and winches follow."""
    with known():
        system = in_its_step(LAWS[name])
        u0, u1 = 0.1 * np.random.default_rng(1).normal(size=(2, system.size))
        state = answer(system, u0, u0, system.state, lasts=0.0)[2]
        exact, h = answer(system, u0, u1, state, secant=secant)[1], 1e-5
        for dof in range(system.size):
            step = h * (np.arange(system.size) == dof)
            ends = [answer(system, u0, u1 + way * step, state, secant=secant)[0] for way in (1.0, -1.0)]
            assert exact[:, dof] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-8 * np.abs(exact).max())


MASS_ON_LINE = """*NODE
1, 0., 0., 0.
2, 0., 0., -3.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELEMENT, TYPE=MASS, ELSET=LOAD
2, 2
*MASS, ELSET=LOAD
10.
*MATERIAL, NAME=M
*ELASTIC
5e4
*DENSITY
{density}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*AMPLITUDE, NAME=UP, DEFINITION=SMOOTH STEP
0., 0.
1., 1.
*BOUNDARY
1, 1, 3
2, 1, 2
*STEP, NLGEOM
*STATIC
0.25, 1.
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*EL PRINT
T
*END STEP
*STEP, NLGEOM
{procedure}
{winch}
*NODE PRINT
U, RF
*EL PRINT
T
*END STEP
"""


def hung(winch, procedure="*DYNAMIC, DIRECT\n0.002, 1.", density=1.0):
    """A load on a line of 1 kg/m, at rest."""
    text = MASS_ON_LINE.format(winch=winch, procedure=procedure, density=density)
    return fem.run(fem.parse_deck(text))


@pytest.mark.parametrize("change", [-1.5, 1.5])
def test_weight_and_books_follow_the_length(change):
    """At rest again in statics the winch carries load and line; the books have the work of the drum and new line."""
    history = hung(f"*WINCH\nLINE, {change}", "*STATIC\n0.05, 1.")
    assert history.of_element(1, "T")[-1] == pytest.approx((10.0 + 0.5 * (3.0 + change)) * 9.81, rel=2e-6)
    assert history.reactions[-1, 2] == pytest.approx((10.0 + 3.0 + change) * 9.81, rel=2e-6)


@pytest.mark.parametrize("change", [-1.5, 1.5])
def test_energy_error_is_of_second_order(change):
    errors = []
    for dt in (0.004, 0.002):
        history = hung(f"*WINCH, AMPLITUDE=UP\nLINE, {change}", f"*DYNAMIC, DIRECT\n{dt}, 1.")
        error = history.energy_error[history.step == 2]
        errors.append(np.abs(error - error[0]).max())
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3 * abs(history.energy[-1, 3])


def test_a_winch_keeps_its_tension_within_its_speed():
    history = hung("*WINCH, TENSION\nLINE, 130., 0.4")
    tension = history.of_element(1, "T")[history.step == 2]
    assert tension[-1] < 130.0  # the load is hauled in faster than the winch turns, and stays on its limit
    free = hung("*WINCH, TENSION\nLINE, 130.").of_element(1, "T")
    assert free[-400:] == pytest.approx(130.0, rel=1e-9)


ATWOOD = """*NODE, NSET=ALL
1, 0., 0., -0.8
2, 0., 0., 0.
3, 0., 0., -2.
*ELEMENT, TYPE=PULLEY, ELSET=ROPE
1, 1, 2, 3
*ELEMENT, TYPE=MASS, ELSET=LIGHT
11, 1
*ELEMENT, TYPE=MASS, ELSET=HEAVY
12, 3
*MASS, ELSET=LIGHT
1.
*MASS, ELSET=HEAVY
3.
*MATERIAL, NAME=M
*ELASTIC
1e4
*SOLID SECTION, ELSET=ROPE, MATERIAL=M
1.
*BOUNDARY
2, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.005, 1.
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
ROUGH = """*NODE, NSET=ALL
1, 5., 0., 0.
2, 0., 0., 0.
3, 0., 0., -4.
*ELEMENT, TYPE=PULLEY, ELSET=ROPE
1, 1, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e6
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, STRAIN=ENGINEERING
1.
*REST LENGTH
ROPE, 4.995, 3.996
*PULLEY, ELSET=ROPE
0.2
*AMPLITUDE, NAME=HAUL
0., 0.
1., 0.01
2., 0.
*BOUNDARY
ALL, 1, 3
*STEP, NLGEOM
*STATIC, DIRECT
0.05, 2.
*WINCH, AMPLITUDE=HAUL
ROPE, -1., {end}
*EL PRINT
T, T2
*END STEP
"""


@pytest.mark.parametrize("end", [1, 2])
def test_rope_that_slips_stands_on_the_limit_of_the_capstan(end):
    """T1/T2 = exp(+- mu phi) when it is hauled in and when it is paid out again, with what rubs off lost."""
    history = fem.run(fem.parse_deck(ROUGH.format(end=end)))
    ratio = history.of_element(1, "T") / history.of_element(1, "T2")
    ratio = ratio if end == 1 else 1.0 / ratio
    limit = np.exp(0.2 * np.pi / 2)
    assert ratio[20] == pytest.approx(limit, rel=1e-12)
    assert ratio[-1] == pytest.approx(1.0 / limit, rel=1e-12)
    lost = np.diff(history.energy[:, 4])
    assert (lost > -1e-12).all() and lost.sum() > 0.1


def test_a_run_stops_where_a_node_comes_to_its_pulley():
    """The lighter of two masses, after 0.6 s; the rope has 0.8 m on its side."""
    with pytest.raises(NoConvergence, match="node 1 has reached the pulley, node 2, of element 1"):
        fem.run(fem.parse_deck(ATWOOD))


def test_a_run_stops_where_a_winch_has_hauled_in_nearly_all():
    with pytest.raises(NoConvergence, match="a winch leaves element 1 a natural length"):
        hung("*WINCH, TENSION\nLINE, 500.", "*DYNAMIC, DIRECT\n0.002, 3.")


def held(most: float, procedure: str) -> str:
    """The line, of LOG strain, between two held ends; its winch keeps a tension that rises to a fraction of E A."""
    text = MASS_ON_LINE.format(winch="*WINCH, TENSION, AMPLITUDE=RISES\nLINE, 5e4", procedure=procedure, density=1.0)
    rises = f"*AMPLITUDE, NAME=RISES, TIME=TOTAL TIME\n0., 0.1\n1., 0.1\n2., {most}\n*BOUNDARY\n2, 1, 3\n*BOUNDARY"
    return text.replace("*BOUNDARY", rises, 1).replace("STRAIN=ENGINEERING", "STRAIN=LOG")


@pytest.mark.long_cases("DYNAMIC, EXPLICIT\\n0.01, 1.")
@pytest.mark.parametrize("procedure", ["STATIC, DIRECT\n0.05, 1.", "DYNAMIC\n0.05, 1.", "DYNAMIC, EXPLICIT\n0.01, 1."])
def test_a_run_stops_where_no_length_has_the_tension(procedure):
    """No line pulls harder than E A/e; as near to that as increments come, it does."""
    fem.run(fem.parse_deck(held(0.36, "*" + procedure)))
    with pytest.raises(NoConvergence, match="no natural length is found that gives element 1 the tension") as stopped:
        fem.run(fem.parse_deck(held(0.4, "*" + procedure)))
    kept = stopped.value.history.of_element(1, "T")
    assert 0.34 < kept.max() / 5e4 <= np.exp(-1.0)


def test_a_tension_that_no_length_has_at_the_start_is_told():
    text = held(0.4, "*STATIC\n1., 1.").replace("0., 0.1\n1., 0.1", "0., 0.4\n1., 0.4")
    with pytest.raises(ModelError, match="step 2: no natural length is found that gives element 1 the tension"):
        fem.run(fem.parse_deck(text))


def test_a_run_stops_where_a_rope_does_not_share_itself_out(monkeypatch):
    """The iteration for the length that passes over the pulley being left with one turn."""
    monkeypatch.setattr(running, "TURNS", 1)
    with rehearsal(), pytest.raises(NoConvergence, match="branches of the rope of element 1 over"):
        fem.run(fem.parse_deck(ROUGH.format(end=1)))


def test_lengths_that_pass_are_found_beside_a_leg_that_gets_slack():
    """Newton's method jumps to and fro over the kink: legs of 0.5 and 0.1, 0.6001 of rope, both slack beyond 0.5."""
    text = ROUGH.format(end=1).replace("1e6", "1e9\n*NO COMPRESSION").replace("ENGINEERING", "GREEN")
    with rehearsal():
        own = next(each for each in in_its_step(text).families if hasattr(each, "measure"))
        one, other = Leg((0.5, 0.0, 0.0), 0.5, 0.0, 0.5), Leg((0.0, 0.1, 0.0), 0.1, 0.0, 0.1)
        length = running.length_that_holds(0, one, other, 0.0, 0.6001, 3.0, own)
        pull = running.pull_of(0, one, length, own).pull
    assert length == pytest.approx(0.5, abs=1e-15)
    assert pull <= 1e-14 * 1e9
