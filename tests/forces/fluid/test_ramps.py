"""Ramps of waves and gusts: they begin with the first dynamic step in which these act, whatever came before."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.model.surroundings import water_at
from fem.runner import run_to_files
from tests.decks import run_text

HEAD = """*HEADING
SI
*NODE, NSET=ALL
1, 0., 0., -4.
2, 5., 1., -2.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
2e11
*DENSITY
7800.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
0.001
*AQUA
-20., 0., 9.80665, 1025.
*WAVE, TYPE=AIRY, WAVE PERIOD, RAMP={ramp}
1.5, 8., 20., 0.6, 0.8
{more}*BOUNDARY
ALL, 1, 3
"""
STATIC = "*STEP, NLGEOM\n*STATIC\n{period}, {period}\n{loads}*END STEP\n"
DYNAMIC = "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.25, {period}\n{loads}*NODE PRINT\nU, RF, FV, FA, FE\n*END STEP\n"
WEIGHT = "*DLOAD\n, GRAV, 9.80665, 0., 0., -1.\n"
DRAG = "BAR, FDD, 1., 0.3, 1.1\nBAR, FI, 1., 0.3, 2., 1.\n"


def of_waves(history, since, ramp):
    """Elevation and velocity of the water at node 1: phases count from 0, the ramp from ``since``."""
    omega, k, amplitude, phase, b = history.model.sea[0, :5]
    grown = 0.5 - 0.5 * np.cos(np.pi * np.clip((history.time - since) / ramp, 0.0, 1.0))
    theta = phase - omega * history.time
    size = amplitude * omega * np.cosh(k * 16.0) / np.sinh(k * 20.0)
    return amplitude * grown * np.cos(theta), size * grown * np.cos(theta) * np.cos(b)


@pytest.mark.parametrize(
    ("steps", "since"),
    [
        (DYNAMIC.format(period=4, loads=WEIGHT + DRAG), 0.0),
        (STATIC.format(period=30.0, loads=WEIGHT + DRAG) + DYNAMIC.format(period=4, loads=""), 30.0),
        (STATIC.format(period=1.0, loads=WEIGHT) + DYNAMIC.format(period=4, loads="*DLOAD\n" + DRAG), 1.0),
        (DYNAMIC.format(period=2, loads=WEIGHT) + DYNAMIC.format(period=4, loads="*DLOAD\n" + DRAG), 2.0),
        (DYNAMIC.format(period=2, loads=WEIGHT + DRAG) + DYNAMIC.format(period=4, loads=""), 0.0),
        (DYNAMIC.format(period=2, loads=WEIGHT + DRAG) + STATIC.format(period=3.0, loads="")
         + DYNAMIC.format(period=4, loads=""), 0.0),
    ],
    ids=["alone", "statics", "loads-later", "waves-later", "goes-on", "statics-between"],
)  # fmt: skip
def test_waves_rise_from_the_first_dynamic_step_in_which_they_act(steps, since):
    """FE, FV and the force on a bar that is held, in that and all later steps."""
    history = run_text(HEAD.format(ramp=3.0, more="") + steps)
    assert history.sea_from == since
    eta, velocity = of_waves(history, since, 3.0)
    assert history.of_node(1, "FE").ravel() == pytest.approx(eta, abs=1e-12)
    assert history.of_node(1, "FV")[:, 0] == pytest.approx(velocity, abs=1e-12)
    last = history.step == history.step[-1]
    alone = run_text(HEAD.format(ramp=0.0, more="") + steps)
    risen = last & (history.time >= since + 3.0)
    assert risen.any() and np.abs(alone.of_node(1, "RF")[risen]).max() > 10.0
    assert history.of_node(1, "RF")[risen] == pytest.approx(alone.of_node(1, "RF")[risen], rel=1e-9, abs=1e-9)


def test_statics_does_not_change_what_follows_but_for_phases():
    """Waves that begin 16 s = two periods later are the same: so is everything in the dynamic step."""
    found = []
    for begin in (1.0, 17.0):
        deck = HEAD.format(ramp=3.0, more="") + STATIC.format(period=begin, loads=WEIGHT + DRAG)
        history = run_text(deck + DYNAMIC.format(period=4, loads=""))
        found.append(history.of_node(2, "RF")[history.of_step(2)])
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-8)
    assert found[0][0] == pytest.approx(found[0][0], abs=0.0) and np.ptp(found[0], axis=0).max() > 10.0


def test_a_run_that_continues_another_keeps_its_ramp(tmp_path, monkeypatch):
    """*RESTART, READ: as if it had been one run; the record says when the ramp began, and ``fem.load`` knows it."""
    monkeypatch.chdir(tmp_path)
    first, second = STATIC.format(period=2.0, loads=WEIGHT + DRAG) + DYNAMIC.format(period=1, loads=""), DYNAMIC
    (tmp_path / "first.inp").write_text(HEAD.format(ramp=3.0, more="*RESTART, WRITE\n") + first)
    later = second.format(period=4, loads="")
    (tmp_path / "second.inp").write_text(HEAD.format(ramp=3.0, more="*RESTART, READ\n") + later)
    run_to_files("first.inp", "first", quiet=True, vtk=False)
    run_to_files("second.inp", "second", quiet=True, vtk=False, earlier="first")
    whole = run_text(HEAD.format(ramp=3.0, more="") + first + later)
    again = fem.load("second")
    assert again.sea_from == whole.sea_from == 2.0
    for name in ("RF", "FV", "FE"):
        assert again.of_node(2, name) == pytest.approx(whole.of_node(2, name)[whole.of_step(3)], rel=1e-9, abs=1e-9)


VESSEL = """*RAO, NAME=SHIP, BY=PERIOD
8., 0., 0., 0., 0.5, 0., 0., 0., 0., 0., 0., 0., 0., 0.
8., 90., 0., 0., 0.5, 0., 0., 0., 0., 0., 0., 0., 0., 0.
*RIGID BODY, REF NODE=3, PIN NSET=TIP, RAO=SHIP
"""


def test_a_vessel_rises_with_its_sea():
    """Heave of half the amplitude; after statics of 30 s it is at rest, and no notice tells of a jump."""
    deck = HEAD.format(ramp=3.0, more=VESSEL).replace("ALL, 1, 3", "1, 1, 3\n3, 1, 6").replace("0.6, 0.8", "1., 0.")
    deck = deck.replace("2, 5., 1., -2.\n", "2, 5., 1., -2.\n*NODE, NSET=TIP\n2, 5., 1., -2.\n*NODE\n3, 0., 0., 0.\n")
    history = run_text(deck + STATIC.format(period=30.0, loads="") + DYNAMIC.format(period=4, loads=""))
    eta, _ = of_waves(history, 30.0, 3.0)
    assert history.of_node(2)[:, 2] == pytest.approx(0.5 * eta, abs=1e-12)
    assert not any("jump" in text for text in history.notices)


WIND = (
    HEAD.split("*AQUA")[0]
    + """*WIND, TYPE=VELOCITY, RAMP=2.
1.2, 10., 10., 0., 1., 0., 0.
0., 10., 0., 0.
1., 20., 0., 0.
2., 20., 0., 0.
3., 20., 0., 0.
*BOUNDARY
ALL, 1, 3
"""
)


def test_gusts_rise_from_the_first_dynamic_step_with_wind():
    """The bar feels the mean wind until then, and at the end of the ramp the wind of the table at that total time."""
    blown = "*DLOAD\nBAR, WDD, 1., 0.3, 1.1\n"
    text = WIND.replace("-4.", "4.").replace("-2.", "4.")
    steps = STATIC.format(period=10.0, loads=blown) + DYNAMIC.format(period=4, loads="")
    history = run_text(text + steps.replace("RF, FV, FA, FE", "RF"))
    force = history.of_node(1, "RF")[:, 1]
    static, start = force[history.of_step(1)][-1], force[history.of_step(2)][0]
    assert start == pytest.approx(static, rel=1e-12)
    risen = history.of_step(2) & (history.time == 13.0)
    assert force[risen] == pytest.approx(static * (20.0 / 10.0) ** 2, rel=1e-9)


JUMPING = """*NODE, NSET=ALL
1, 0., 0., -4.
2, 5., 1., -2.
3, 10., 2., -4.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
2, 2, 3
"""


@pytest.mark.parametrize(("ramp", "tells"), [(0.0, True), (3.0, False)])
@pytest.mark.parametrize("statics", [True, False])
def test_waves_without_a_ramp_are_told_with_their_force(ramp, tells, statics):
    """By run and check. The force is what the reactions of held nodes change by between statics and dynamics."""
    bars = HEAD.split("*NODE")[0] + JUMPING + HEAD.split("1, 1, 2\n")[1]
    deck = bars.format(ramp=ramp, more="").replace("ALL, 1, 3", "1, 1, 3\n3, 1, 3\n2, 1")
    first = STATIC.format(period=2.0, loads=WEIGHT + DRAG) if statics else ""
    text = deck + first + DYNAMIC.format(period=1, loads="" if statics else WEIGHT + DRAG)
    history = run_text(text)
    found = [notice for notice in history.notices if "waves act with their whole height" in notice]
    looked = [each for each in fem.check(fem.parse_deck(text)).findings if "waves act with their whole" in each]
    assert bool(found) == bool(looked) == tells
    if tells:
        held = text.replace("2, 1\n*STEP", "2, 1, 3\n*STEP")
        still = run_text(held)
        now = still.of_node(2, "RF")[still.of_step(2 if statics else 1)][0]
        calm = run_text(held.replace("1.5, 8., 20.", "1e-9, 8., 20."))
        before = calm.of_node(2, "RF")[calm.of_step(2 if statics else 1)][0]
        size = float(np.linalg.norm((now - before)[1:]))
        told = float(found[0].split("(RAMP= of *WAVE): ")[1].split(" N")[0])
        assert told == pytest.approx(size, rel=0.1)  # at the middle of bars, and at two points
        assert found[0].startswith("warning: step ")


def test_water_of_the_tables_has_the_ramp():
    """``water_at``, which FV and FE come from, at instants before, in and after the ramp."""
    model = fem.parse_deck(HEAD.format(ramp=4.0, more="") + DYNAMIC.format(period=1, loads=""))
    place, time = np.zeros((3, 1, 3)) - [0.0, 0.0, 1.0], np.array([5.0, 12.0, 20.0])
    moved = [water_at(model.waves, model.water, 2, place, time, since=since)[0][:, 0] for since in (10.0, -100.0)]
    assert moved[0] == pytest.approx(moved[1] * [0.0, 0.5, 1.0], abs=1e-12)
