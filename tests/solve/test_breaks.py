"""Elements that break: what is left moves as if they had never been, the books close, whatever the chunks were."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.deck import parse_deck, write_deck
from fem.solve.clock import Progress
from fem.solve.state import Marcher
from fem.solve.step_run import StepRun
from fem.solve.step_system import StepSystem

HEAD = """\
*NODE, NSET=ALL
1, 0, 0, 0
2, 2, 0, 0
3, 4, 0, 0
4, 6, 0, 0
*NODE, NSET=FAR
5, 8, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
3, 3, 4
4, 4, 5
*ELEMENT, TYPE=MASS, ELSET=POINT
9, 4
*MASS, ELSET=POINT
0.7
*MATERIAL, NAME=M
*ELASTIC
1000
*DENSITY
0.4
*DAMPING, ALPHA=0.1, BETA=0.002
*SOLID SECTION, ELSET=BARS, MATERIAL=M, MASS={mass}
1
*REST LENGTH
BARS, 1.95
*AMPLITUDE, NAME=RISE, TIME=TOTAL TIME
0, 0, 1, 1, 2, 1.
*BOUNDARY
1, 1, 3
5, 1, 3
"""
STEP = """\
*STEP, NLGEOM, INC=10000
{procedure}
*CONTROLS, RESI_GLOB_RELA=1e-11
*DLOAD, OP=NEW
{weighed}, GRAV, 9.81, 0., 0.6, -0.8
*CLOAD, AMPLITUDE=RISE
4, 2, 20.
{more}*ENERGY PRINT
*END STEP
"""
DYNAMIC = {
    "newmark": "*DYNAMIC, DIRECT, ALPHA=0\n0.005, 0.5",
    "hht": "*DYNAMIC, DIRECT, ALPHA=-0.1\n0.005, 0.5",
    "energy momentum": "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.005, 0.5",
    "backward euler": "*DYNAMIC, DIRECT, TIME INTEGRATOR=BACKWARD EULER\n0.005, 0.5",
    "explicit": "*DYNAMIC, DIRECT, EXPLICIT\n0.005, 0.5",
    "automatic": "*DYNAMIC, ALPHA=-0.05\n0.005, 0.5",
}


def deck(procedure: str, mass: str = "LUMPED", model: str = "", more: str = "", weighed: str = "BARS") -> str:
    static = STEP.format(procedure="*STATIC, DIRECT\n0.5, 1.", more="", weighed="BARS")
    return HEAD.format(mass=mass) + model + static + STEP.format(procedure=procedure, more=more, weighed=weighed)


def of_step(history: fem.History, step: int, label: int, name: str = "U") -> np.ndarray:
    return history.of_node(label, name)[history.step == step]


@pytest.mark.parametrize("name", [name for name in DYNAMIC if name != "automatic"])
def test_what_is_left_moves_as_if_the_rest_had_never_been(name):
    """Removed at the start of a step = a model without the element, from the same places; books close at any time."""
    mass = "LUMPED" if name == "explicit" else "CONSISTENT"
    cut = fem.run(parse_deck(deck(DYNAMIC[name], mass, more="*MODEL CHANGE, REMOVE\n4\n")))
    start = [of_step(cut, 1, label)[-1] for label in (2, 3, 4)]
    places = zip((2, 3, 4), start, strict=True)
    given = [f"{label}, {axis + 1}, {float(u[axis])!r}\n" for label, u in places for axis in range(3)]
    text = HEAD.format(mass=mass)
    for line in ("4, 4, 5\n", "*NODE, NSET=FAR\n5, 8, 0, 0\n", "5, 1, 3\n"):
        text = text.replace(line, "")
    text += "*INITIAL CONDITIONS, TYPE=DISPLACEMENT\n" + "".join(given)
    text = text.replace("0, 0, 1, 1, 2, 1.", "0, 1, 2, 1.")
    alone = fem.run(parse_deck(text + STEP.format(procedure=DYNAMIC[name], more="", weighed="BARS")))
    for label in (2, 3, 4):
        for quantity in "UV":
            expected = alone.of_node(label, quantity)
            assert of_step(cut, 2, label, quantity) == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())
    assert np.abs(of_step(cut, 2, 4)).max() > 1.0
    error = cut.energy_error[cut.step == 2]
    assert error - error[0] == pytest.approx(alone.energy_error, abs=1e-8 * alone.of_energy("kinetic").max())
    (event,) = cut.events
    assert (event.event, event.element, event.step, event.increment, event.time) == ("break", 4, 2, 0, 1.0)
    assert not cut.of_element(4, "E")[cut.step == 2].any()


WET = """\
*AQUA
-20., 10., 9.81, 0.3
0.8, 0.4, 0., 0.
*SEABED, ELEVATION=-0.15
200., 5., 0.2, 0.01
"""
WET_LOADS = """\
*DLOAD
BARS, FDD, 1., 0.5, 1.2
BARS, FDT, 1., 0.5, 0.1
BARS, FI, 1., 0.5, 2., 1.
BARS, PB, 1., 0.3
"""


def test_in_water_on_a_bottom():
    """Drag, added mass, buoyancy and contact of what is gone go, too; those of its neighbours stay."""
    procedure, static = "*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA\n0.005, 0.5", "*STATIC\n0.1, 1., 1e-4, 0.2"
    steps = [STEP.format(procedure=each, more=WET_LOADS, weighed="BARS") for each in (static, procedure)]
    for limit in ("*FAILURE, TYPE=TIME\n4, 1.2\n2, 1.2\n", "*FAILURE, TYPE=TENSION\n4, 58.\n"):
        cut = fem.run(parse_deck(HEAD.format(mass="LUMPED") + WET + limit + "".join(steps)))
        broken = [event.element for event in cut.events if event.event == "break"]
        assert broken
        at = int(np.flatnonzero(cut.time == cut.events[-1].time)[-1])
        motion = [(label, cut.of_node(label)[at], cut.of_node(label, "V")[at]) for label in (2, 3, 4)]
        text = HEAD.format(mass="LUMPED") + WET
        for kind, which in (("DISPLACEMENT", 1), ("VELOCITY", 2)):
            rows = [(node[0], axis + 1, float(node[which][axis])) for node in motion for axis in range(3)]
            text += f"*INITIAL CONDITIONS, TYPE={kind}\n" + "".join(f"{a}, {b}, {c!r}\n" for a, b, c in rows)
        for element, ends in ((2, "2, 2, 3\n"), (4, "4, 4, 5\n")):
            text = text.replace(ends, "") if element in broken else text
        if 4 in broken:
            text = text.replace("*NODE, NSET=FAR\n5, 8, 0, 0\n", "").replace("5, 1, 3\n", "")
        text = text.replace("0, 0, 1, 1, 2, 1.", "0, 1, 2, 1.")
        rest = procedure.replace("0.5", repr(float(cut.time[-1] - cut.time[at])))
        alone = fem.run(parse_deck(text + STEP.format(procedure=rest, more=WET_LOADS, weighed="BARS")))
        for label in (2, 3, 4):
            expected = alone.of_node(label)
            assert cut.of_node(label)[at:] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_books_close_to_round_off():
    """ENERGY MOMENTUM, an element that breaks by its tension: what it stored and its motion are dissipated."""
    text = deck(DYNAMIC["energy momentum"], model="*FAILURE, TYPE=TENSION\n3, 70.\n", more="*CLOAD\n4, 1, 30.\n")
    history = fem.run(parse_deck(text))
    (event,) = history.events
    assert 1.0 < event.time < 1.5
    assert np.abs(history.energy_error).max() < 1e-10 * np.abs(history.of_energy("external_work")).max()
    at = int(np.flatnonzero((history.step == 2) & (history.increment == event.increment))[0])
    tension = history.of_element(3, "T")
    assert (tension[:at][history.step[:at] == 2] < 70.0).all()
    assert tension[at] >= 70.0
    assert not tension[at + 1 :].any()
    strain, length0 = history.of_element(3, "E")[at], 1.95
    speeds = sum((history.of_node(label, "V")[at] ** 2).sum() for label in (3, 4))
    assert event.energy_loss == pytest.approx(500.0 * strain**2 * length0 + 0.25 * 0.4 * length0 * speeds, rel=1e-9)


@pytest.mark.parametrize("name", ["newmark", "explicit", "hht"])
def test_chunks_do_not_matter(name, monkeypatch):
    """The increment in which an element breaks is found in a chunk of any length: the same numbers, to the last bit."""
    more = "*CLOAD\n4, 1, 30.\n"
    model = parse_deck(deck(DYNAMIC[name], model="*FAILURE, TYPE=STRAIN\n3, 0.065\n2, 0.075\n", more=more))
    whole = fem.run(model)
    assert [event.element for event in whole.events if event.event == "break"] != []
    monkeypatch.setattr(Progress, "pace", lambda self, spent, is_full: setattr(self, "chunk", 1))
    monkeypatch.setattr("fem.solve.state.first_chunk", lambda system: 1)
    single = fem.run(model)
    assert [(e.time, e.element, e.energy_loss) for e in whole.events] == [
        (e.time, e.element, e.energy_loss) for e in single.events
    ]
    for label in (2, 3, 4):
        assert np.array_equal(whole.of_node(label)[-1], single.of_node(label)[-1])


@pytest.mark.parametrize("name", ["newmark", "energy momentum", "explicit", "automatic"])
def test_times_are_met_exactly(name):
    """And what follows is what a new step with the element removed at that time would give."""
    split = DYNAMIC[name].replace("0.5", "{period}")
    later = STEP.format(procedure=split.format(period=0.2875), more="*MODEL CHANGE, REMOVE\n3, 1\n", weighed="BARS")
    stepped = fem.run(parse_deck(deck(split.format(period=0.2125)) + later))
    timed = fem.run(parse_deck(deck(DYNAMIC[name], model="*FAILURE, TYPE=TIME\n3, 1.2125\n1, 1.2125\n")))
    broken = [[event for event in history.events if event.event == "break"] for history in (stepped, timed)]
    assert [(event.time, event.element) for event in broken[1]] == [(1.2125, 1), (1.2125, 3)]
    assert 1.2125 in timed.time
    lost = [[event.energy_loss for event in found] for found in broken]
    assert lost[0] == pytest.approx(lost[1], rel=1e-2 if name == "automatic" else 1e-9)
    tolerance = 1e-2 if name == "automatic" else 1e-9
    for label in (2, 3, 4):
        assert timed.of_node(label)[-1] == pytest.approx(stepped.of_node(label)[-1], abs=tolerance)


def test_statics_hands_the_load_on():
    """Two bars side by side, one breaks: the other takes all in the next increment; nodes left alone are held."""
    text = """\
*NODE, NSET=ALL
1, 0, 0, 0
2, 0, 0, -2
3, 1, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 1, 2
3, 3, 2
*MATERIAL, NAME=M
*ELASTIC
1000
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN=ENGINEERING
1
*BOUNDARY
1, 1, 3
2, 1, 2
*FAILURE, TYPE=TENSION
2, 5.
*FAILURE, TYPE=TIME
3, 0.05
*STEP, NLGEOM
*STATIC, DIRECT
0.1, 1.
*CLOAD
2, 3, -20.
*END STEP
"""
    history = fem.run(parse_deck(text))
    assert [(event.element, round(event.time, 9)) for event in history.events] == [(3, 0.05), (2, 0.55)]
    assert history.of_element(1, "T")[-1] == pytest.approx(20.0, rel=1e-9)
    assert any("lost all their elements are kept in place: 3" in notice for notice in history.notices)
    assert np.abs(history.energy_error).max() < 1e-12
    assert history.of_energy("dissipated")[-1] == pytest.approx(sum(event.energy_loss for event in history.events))


def test_a_cut_pendulum_of_rods_flies():
    """The trapezoidal rule is exact for a parabola; the rod has lost its pull, the other one keeps its length."""
    text = """\
*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
*ELEMENT, TYPE=T3D2, ELSET=RODS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=POINTS
8, 2
9, 3
*MASS, ELSET=POINTS
1.
*MATERIAL, NAME=R
*INEXTENSIBLE
*SOLID SECTION, ELSET=RODS, MATERIAL=R
1
*BOUNDARY
1, 1, 3
2, 2, 2
3, 2, 2
*FAILURE, TYPE=TIME
1, 0.5
*STEP, NLGEOM, INC=1000
*DYNAMIC, DIRECT, ALPHA=0
0.01, 1.
*DLOAD
POINTS, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
    history = fem.run(parse_deck(text))
    middle = 0.5 * (history.of_node(2, "COORD") + history.of_node(3, "COORD"))
    speed = 0.5 * (history.of_node(2, "V") + history.of_node(3, "V"))
    at = int(np.flatnonzero(history.time == 0.5)[0])
    t = (history.time[at:] - 0.5)[:, None]
    flight = middle[at] + speed[at] * t - 0.5 * 9.81 * t**2 * [0.0, 0.0, 1.0]
    assert middle[at:] == pytest.approx(flight, abs=1e-9)
    apart = np.linalg.norm(history.of_node(2, "COORD") - history.of_node(3, "COORD"), axis=1)
    assert apart == pytest.approx(1.0, abs=1e-9)
    assert not history.of_element(1, "T")[at + 1 :].any()


def test_ropes_break_too():
    """A mass on two ropes: the other one keeps its length when one breaks."""
    text = """\
*NODE
1, -1, 0, 0
2, 1, 0, 0
3, 0, 0, -1
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 3
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=POINT
9, 3
*MASS, ELSET=POINT
1.
*MATERIAL, NAME=R
*INEXTENSIBLE
*NO COMPRESSION
*SOLID SECTION, ELSET=ROPES, MATERIAL=R
1
*BOUNDARY
1, 1, 3
2, 1, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
3, 2, 1.
*FAILURE, TYPE=TIME
1, 0.1
*STEP, NLGEOM, INC=1000
*DYNAMIC, DIRECT, ALPHA=0
0.005, 0.6
*DLOAD
POINT, GRAV, 9.81, 0., 0., -1.
*END STEP
"""
    for impact in ("EVENT", "MOREAU"):
        history = fem.run(parse_deck(text.replace("*DLOAD", f"*CONTROLS, IMPACT={impact}\n*DLOAD")))
        assert [event.element for event in history.events if event.event == "break"] == [1]
        swing = np.linalg.norm(history.of_node(3, "COORD") - [1.0, 0.0, 0.0], axis=1)
        assert swing == pytest.approx(np.sqrt(2.0), abs=1e-8)
        assert history.of_node(3)[history.time <= 0.1, 0] == pytest.approx(0.0, abs=1e-12)
        speed2 = (history.of_node(3, "V") ** 2).sum(axis=1)
        assert speed2[-1] == pytest.approx(1.0 - 2.0 * 9.81 * history.of_node(3)[-1, 2], rel=1e-3)


def test_decks_with_breaks_are_written_and_read_again():
    text = deck(DYNAMIC["newmark"], model="*FAILURE, TYPE=TIME\n3, 2.5\n1, 3.\n*FAILURE, TYPE=TENSION\n2, 7.\n")
    model = parse_deck(
        text + STEP.format(procedure=DYNAMIC["newmark"], more="*MODEL CHANGE, REMOVE\nPOINT, 4\n", weighed="BARS")
    )
    assert parse_deck(write_deck(model)) == model
    assert model.steps[2].removals == ("POINT", 4)


@pytest.mark.parametrize("kind", ["SPRING1", "SPRING2", "SPRINGA", "DASHPOT1"])
def test_springs_and_dashpots_break(kind):
    """A mass on one: then it goes on with the velocity it had; the energy of the spring is dissipated."""
    nodes = "2" if kind.endswith("1") else "1, 2"
    dofs = {"1": "1", "2": "1, 1", "A": ""}[kind[-1]]
    text = f"""\
*NODE
1, 0, 0, 0
2, 2, 0, 0
*ELEMENT, TYPE={kind}, ELSET=S
1, {nodes}
*ELEMENT, TYPE=MASS, ELSET=M
9, 2
*MASS, ELSET=M
2.
*{kind.rstrip("12A")}, ELSET=S
{dofs}
3.
*BOUNDARY
1, 1, 3
2, 2, 3
*INITIAL CONDITIONS, TYPE=VELOCITY
2, 1, 1.
*FAILURE, TYPE=TIME
1, 0.5
*STEP, NLGEOM
*DYNAMIC, DIRECT, ALPHA=0
0.01, 1.
*END STEP
"""
    history = fem.run(parse_deck(text))
    (event,), at = history.events, int(np.flatnonzero(history.time == 0.5)[0])
    u, v = history.of_node(2)[:, 0], history.of_node(2, "V")[:, 0]
    assert u[at:] == pytest.approx(u[at] + v[at] * (history.time[at:] - 0.5), abs=1e-12)
    assert event.energy_loss == pytest.approx(0.0 if kind == "DASHPOT1" else 1.5 * u[at] ** 2)
    assert np.ptp(history.energy_error) < 1e-3
    assert not history.of_element(1, "T")[at + 1 :].any()


def test_linear_steps_lose_elements_too():
    """Geometrically linear: the bars about the reference position that are gone are gone there, too."""
    text = HEAD.format(mass="LUMPED") + "*FAILURE, TYPE=TIME\n4, 0.2\n"
    text += STEP.format(procedure=DYNAMIC["energy momentum"], more="", weighed="BARS").replace("NLGEOM,", "NLGEOM=NO,")
    history = fem.run(parse_deck(text))
    at = int(np.flatnonzero(history.time == 0.2)[0])
    assert history.of_element(4, "T")[at] > 1.0
    assert not history.of_element(4, "T")[at + 1 :].any()
    assert np.abs(history.energy_error).max() < 1e-10 * np.abs(history.of_energy("external_work")).max()


def test_a_net_that_parts_is_solved_along_its_chains():
    """A ring of bars is no tree; without one of them it is."""
    stages: list[str] = []
    take = StepRun.take

    def noted(self: StepRun, stage: StepSystem, marcher: Marcher) -> None:
        stages.append(stage.choice.text)
        take(self, stage, marcher)

    text = deck(DYNAMIC["newmark"], model="*FAILURE, TYPE=TIME\n4, 1.2\n").replace("4, 4, 5\n", "4, 4, 2\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StepRun, "take", noted)
        fem.run(parse_deck(text.replace("5, 1, 3\n", "")))
    assert not stages[1].startswith("chain")
    assert stages[2].startswith("chain")
