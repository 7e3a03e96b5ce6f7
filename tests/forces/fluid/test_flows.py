"""Drag, buoyancy and added mass: closed forms, laws of energy, steps that follow each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fem
from tests.decks import run_text

DENSITY, GRAVITY, WIDTH, AREA = 1000.0, 10.0, 0.2, np.pi * 0.01
BAR = """*NODE, NSET=ALL
1, 0., 0., {low}
2, {across}, 0., {high}
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e8
*DENSITY
{mass}
*SOLID SECTION, ELSET=BAR, MATERIAL=M, STRAIN=ENGINEERING{rule}
0.01
*AQUA
-100., 0., 10., 1000.
{current}
*DRAG LAW, NAME=LAW
1., 10.
2., 40.
*AMPLITUDE, NAME=TWICE
0., 2.
*AMPLITUDE, NAME=GROWING
0., 0.
1., 4.
*BOUNDARY
{supports}
*STEP, NLGEOM
{procedure}
*CONTROLS, RESI_GLOB_RELA=1e-11
{loads}
*NODE PRINT
U, V, RF
*END STEP
"""
AT_ONCE = "*DYNAMIC, DIRECT\n0.01, 0.02"


def bar(loads, *, low=-5.0, high=-5.0, across=3.0, current="1., 0.5, 0., 0.", supports="ALL, 1, 3", mass=1000.0,
        procedure=AT_ONCE, rule="", more=""):  # fmt: skip
    text = BAR.format(low=low, high=high, across=across, current=current, supports=supports, mass=mass, rule=rule,
                      procedure=procedure, loads=loads)  # fmt: skip
    return run_text(text + more)


def pushed(history, at=-1):
    """(2, 3) forces of the fluid on the two nodes that are held."""
    return -history.reactions[at].reshape(2, 3)


KN, KT = 0.5 * DENSITY * WIDTH * 1.2, 0.5 * DENSITY * np.pi * WIDTH * 0.3


@pytest.mark.parametrize(
    ("load", "total"),
    [
        ("FDD, 1., 0.2, 1.2", [0.0, KN * 0.25, 0.0]),
        ("FDT, 1., 0.2, 0.3", [KT, 0.0, 0.0]),
        ("FDT, 1., 0.2, 0.3, 1., 1.", [KT, 0.0, 0.0]),
        ("FDD, 0.5, 0.2, 1.2, 1., TWICE", [0.0, 0.5 * 4.0 * KN * 0.25, 0.0]),
        ("FDD, 2., 0.2, LAW, 1., TWICE", [0.0, 20.0, 0.0]),
        ("FDD, 1., 0.2, LAW", [0.0, 5.0, 0.0]),
        ("FDD, 1., 0.2, LAW, 1., GROWING", [0.0, 0.0, 0.0]),
        ("PB, 1., 0.2", [0.0, 0.0, DENSITY * GRAVITY * AREA]),
    ],
)
def test_forces_on_a_bar_that_is_held_are_those_of_the_formulas(load, total):
    """Per length 1 of a bar along x, in a stream of 1 along and 0.5 across; half of it at each node."""
    first = 1 if "GROWING" not in load else 0
    found = pushed(bar(f"*DLOAD\nBAR, {load}"), first)
    assert found == pytest.approx(np.tile(1.5 * np.array(total), (2, 1)), abs=1e-10)


def test_a_drag_law_goes_on_with_its_last_slope():
    found = pushed(bar("*DLOAD\nBAR, FDD, 1., 0.2, LAW", current="0., 3., 0., 0."))
    assert found.sum(axis=0) == pytest.approx([0.0, 3.0 * 70.0, 0.0], abs=1e-10)


def test_forces_per_current_length_grow_with_the_bar():
    stretched = "2, 1, 1, 0.3"
    loads = f"*BOUNDARY\n{stretched}\n*DLOAD{{}}\nBAR, FDD, 1., 0.2, 1.2\nBAR, PB, 1., 0.2"
    held = "ALL, 2, 3\n1, 1"
    one, other = (
        pushed(bar(loads.format(length), supports=held, procedure="*STATIC\n1., 1."))[:, 1:].sum(axis=0)
        for length in ("", ", LENGTH=CURRENT")
    )
    assert other == pytest.approx(1.1 * one, rel=1e-12)
    assert one == pytest.approx([3.0 * KN * 0.25, 3.0 * DENSITY * GRAVITY * AREA], rel=1e-12)


@pytest.mark.parametrize(("low", "high", "wet"), [(-1.0, 3.0, 0.25), (-3.0, 1.0, 0.75), (1.0, 2.0, 0.0)])
def test_a_bar_through_the_surface_feels_what_is_wet_of_it(low, high, wet):
    """The middle of the wet part is where buoyancy and, in a uniform stream, drag attack."""
    height = high - low
    length = np.hypot(3.0, height)
    found = pushed(
        bar("*DLOAD\nBAR, FDD, 1., 0.2, 1.2\nBAR, PB, 1., 0.2", low=low, high=high, current="0., 2., 0., 0.")
    )
    drag, lift = 4.0 * KN * length * wet, DENSITY * GRAVITY * AREA * length * wet
    share = np.array([1.0 - 0.5 * wet, 0.5 * wet])
    assert found[:, 1] == pytest.approx(drag * share, abs=1e-10)
    assert found[:, 2] == pytest.approx(lift * share, abs=1e-10)


def test_wind_blows_above_the_water():
    """Half of a bar that stands in the water; (z/10)^(1/7) at its upper end, none at the surface."""
    wind = "*WIND\n1.2, 10., 8., 0., 0., 1.\n*DRAG LAW"
    text = BAR.replace("*DRAG LAW", wind, 1).format(
        low=-2.0, high=2.0, across=0.0, current="", supports="ALL, 1, 3", mass=1.0, rule="", procedure=AT_ONCE,
        loads="*DLOAD\nBAR, WDD, 1., 0.2, 1.2",
    )  # fmt: skip
    found = pushed(run_text(text))
    top, points = 8.0 * 0.2 ** (1.0 / 7.0), 0.75 + np.array([-1.0, 1.0]) * np.sqrt(3.0) / 12.0
    drag = 0.5 * 1.2 * 0.2 * 1.2 * (top * points) ** 2 * 1.0  # U is linear between the nodes, the lower one has none
    assert found[:, 1] == pytest.approx([((1.0 - points) * drag).sum(), (points * drag).sum()], rel=1e-12)
    assert not found[:, [0, 2]].any()


def test_a_current_is_linear_between_the_heights_given():
    """A bar that stands, 0.5 at the bottom and 2.5 at the top of it: two Gauss points have the square exactly."""
    found = pushed(bar("*DLOAD\nBAR, FDD, 1., 0.2, 1.2", low=-8.0, high=-4.0, across=0.0,
                       current="3., 0., 0., -3.\n0., 0., 0., -9.\n9., 0., 0., 0."))  # fmt: skip
    moments = [
        np.polyint(np.polymul(np.polymul([2.0, 0.5], [2.0, 0.5]), weight)) for weight in ([-1.0, 1.0], [1.0, 0.0])
    ]
    assert found[:, 0] == pytest.approx([4.0 * KN * np.polyval(each, 1.0) for each in moments], rel=1e-12)


SINKING = "*DLOAD\nBAR, GRAV, 10., 0., 0., -1.\nBAR, PB, 1., 0.1\nBAR, FDD, 1., 0.1, 1.5\nBAR, FI, 1., 0.1, 2., 1."


@pytest.mark.parametrize("rule", ["", ", MASS=CONSISTENT"])
def test_a_bar_that_sinks(rule):
    """m v' = w - k v^2, m with the water it drags along: v = vt tanh(t/T), to second order."""
    errors = []
    for count in (50, 100):
        history = bar(SINKING, supports="1, 2", current="", mass=3000.0, rule=rule,
                      procedure=f"*DYNAMIC, DIRECT\n{1.0 / count!r}, 1.")  # fmt: skip
        displaced = DENSITY * np.pi * 0.01 / 4.0
        weight, drag, mass = 10.0 * (30.0 - displaced), 0.5 * DENSITY * 0.1 * 1.5, 30.0 + displaced
        terminal = np.sqrt(weight / drag)
        exact = -terminal * np.tanh(weight / (mass * terminal))
        errors.append(abs(history.v[-1, 2] - exact))
        assert history.v[-1, 5] == pytest.approx(history.v[-1, 2], abs=1e-12)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


CHAIN = """*NODE
1, 0., 0., 0.4
6, 3., 0.5, -2.6
*NGEN
1, 6
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 5, 1, 1
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1500.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
0.01
*AQUA
-10., 0., 10., 1000.
{current}
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.02, 2.
*CONTROLS, RESI_GLOB_RELA=1e-12
*DLOAD
LINE, GRAV, 10., 0., 0., -1.
LINE, PB, 1., 0.1
LINE, FDD, 1., 0.1, 1.2
LINE, FDT, 1., 0.1, 0.1
{more}*END STEP
"""
CURRENT = "1., 0.5, 0.2, 0.\n-0.5, 0.2, 0., -3."


def test_still_water_takes_energy_at_every_instant_and_the_books_close():
    """A chain that falls into water from its surface on; partly wet bars are among it."""
    history = run_text(CHAIN.format(current="", integrator="ENERGY MOMENTUM", more=""))
    kinetic, strain, potential, work, dissipated = history.energy[:, :5].T
    balance = kinetic + strain + potential - work + dissipated
    assert np.abs(balance - balance[0]).max() < 1e-10 * dissipated[-1]
    assert np.diff(dissipated).min() >= 0.0
    assert dissipated[-1] > 20.0


def test_a_stream_spends_what_the_wake_and_the_line_take():
    history = run_text(CHAIN.format(current=CURRENT, integrator="ENERGY MOMENTUM", more=""))
    kinetic, strain, potential, work, dissipated = history.energy[:, :5].T
    balance = kinetic + strain + potential - work + dissipated
    assert np.abs(balance - balance[0]).max() < 1e-10 * dissipated[-1]
    assert np.diff(dissipated).min() >= 0.0


def test_turned_about_the_vertical_and_renumbered_it_is_the_same():
    """By 0.9, with the current; nodes and bars the other way round."""
    c, s = math.cos(0.9), math.sin(0.9)
    turned = CHAIN.replace("6, 3., 0.5, -2.6", f"6, {3 * c - 0.5 * s!r}, {3 * s + 0.5 * c!r}, -2.6")
    rows = [[1.0, 0.5, 0.2, 0.0], [-0.5, 0.2, 0.0, -3.0]]
    turned_current = "\n".join(", ".join(map(repr, (c * x - s * y, s * x + c * y, w, z))) for x, y, w, z in rows)
    other = (
        turned.replace("1, 0., 0., 0.4", "60, 0., 0., 0.4")
        .replace("\n6, ", "\n10, ")
        .replace("*NGEN\n1, 6", "*NGEN\n10, 60, 10")
    )
    other = other.replace("1, 1, 2\n*ELGEN, ELSET=LINE\n1, 5, 1, 1", "1, 20, 10\n*ELGEN, ELSET=LINE\n1, 5, 10, 1")
    other = other.replace("*BOUNDARY\n1,", "*BOUNDARY\n60,")
    more = "LINE, FI, 1., 0.1, 2., 1.\n"
    one = run_text(CHAIN.format(current=CURRENT, integrator="HHT", more=more))
    two = run_text(other.format(current=turned_current, integrator="HHT", more=more))
    one, two = (np.stack([each.of_node(factor * label) for label in labels], axis=1)
                for each, factor, labels in ((one, 1, range(1, 7)), (two, 10, range(6, 0, -1))))  # fmt: skip
    assert np.abs(one).max() > 0.5
    assert two @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]).T == pytest.approx(one, abs=1e-7)


STEPS = """*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
1., 1.
*DLOAD
BAR, FDD, 1., 0.2, 1.2, 1., TWICE
BAR, PB, 1., 0.2
*NODE PRINT
RF
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.5, 1.
*DLOAD
BAR, FDD, 1., 0.4, 1.2
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.5, 1.
*DLOAD, OP=NEW, AMPLITUDE=GROWING
BAR, PB, 1., 0.2
*END STEP
"""


def test_loads_pass_from_step_to_step_as_those_of_any_other_kind():
    """Given again they replace what was; without amplitude they ramp in statics; OP=NEW removes all."""
    text = BAR.format(low=-5.0, high=-5.0, across=3.0, current="1., 0.5, 0., 0.", supports="ALL, 1, 3", mass=0.0,
                      rule="", procedure=AT_ONCE, loads="")  # fmt: skip
    history = run_text(text[: text.index("*STEP")] + STEPS)
    found = -history.reactions.reshape(len(history.time), 2, 3).sum(axis=1)[:, 1:]
    drag, lift = 3.0 * KN * 0.25, 3.0 * DENSITY * GRAVITY * AREA
    expected = {1: [4.0 * drag, lift], 1.5: [0.5 * (4.0 + 2.0) * drag, lift], 2: [2.0 * drag, lift]}
    expected |= {2.5: [drag, 2.0 * lift], 3: [0.0, 4.0 * lift]}
    for time, value in expected.items():
        at = int(np.flatnonzero(np.isclose(history.time, time))[0 if time != 2 else -2])
        assert found[at] == pytest.approx(value, abs=1e-9), time


def test_growth_makes_bars_thicker_and_heavier():
    """Thickness and density where the middle of the bar is: between the two heights that are given."""
    growth = "*MARINE GROWTH, ELSET=BAR, DIAMETER=0.3\n0.02, 1200., -10.\n0.06, 1400., 0.\n*BOUNDARY"
    text = BAR.replace("*BOUNDARY", growth).format(
        low=-6.0, high=-4.0, across=0.0, current="1., 0., 0., 0.", supports="ALL, 1, 3", mass=1000.0, rule="",
        procedure="*STATIC\n1., 1.", loads="*DLOAD\nBAR, FDD, 1., 0.2, 1.2\nBAR, GRAV, 10., 0., 0., -1.",
    )  # fmt: skip
    found = pushed(run_text(text)).sum(axis=0)
    grown = 1300.0 * np.pi / 4.0 * (0.38**2 - 0.3**2)
    assert found == pytest.approx([2.0 * KN * 0.28 / 0.2, 0.0, -2.0 * 10.0 * (10.0 + grown)], rel=1e-12)


def test_added_mass_of_modes_is_that_of_its_own_card():
    """A bar on springs across: sqrt(k/(m + m_a)); along it has no added mass; FI of earlier steps does not count."""
    springs = "".join(
        f"*ELEMENT, TYPE=SPRING1, ELSET=S{axis}\n{axis}1, 1\n{axis}2, 2\n*SPRING, ELSET=S{axis}\n{axis}\n5000.\n"
        for axis in (1, 2)
    )
    text = BAR.replace("*AQUA", springs + "*AQUA").format(
        low=-5.0, high=-5.0, across=3.0, current="", supports="ALL, 3", mass=1000.0, rule="",
        procedure="*STATIC\n1., 1.", loads="*DLOAD\nBAR, FI, 1., 0.9, 2., 1.",
    )  # fmt: skip
    modes = "*STEP\n*FREQUENCY\n3\n*D ADDED MASS\nBAR, FI, 0.2, 0.5\n*END STEP\n*STEP\n*FREQUENCY\n3\n*END STEP\n"
    history = run_text(text + modes)
    dry, wet = np.sqrt(1e4 / 30.0), np.sqrt(1e4 / (30.0 + 3.0 * 0.5 * DENSITY * AREA))
    assert history.modes[0].omega == pytest.approx([wet, wet, dry], rel=1e-9)
    assert history.modes[1].omega == pytest.approx([dry, dry, dry], rel=1e-9)


def test_a_slack_rope_in_a_stream_finds_its_shape():
    """Bars of a bight that nothing stretches yet."""
    bars, length = 12, 1.2
    y = np.linspace(0.0, 10.0, bars + 1).tolist()
    nodes = "\n".join(f"{k + 1}, {0.2 * math.sin(math.pi * k / bars)!r}, {at!r}, -5." for k, at in enumerate(y))
    text = CHAIN[CHAIN.index("*MATERIAL") : CHAIN.index("*STEP")].format(current="1.5, 0., 0., 0.")
    text = f"""*NODE
{nodes}
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}, 1, 1
{text.replace("*SOLID", "*NO COMPRESSION" + chr(10) + "*SOLID")}{bars + 1}, 1, 3
*REST LENGTH
LINE, {length}
*STEP, NLGEOM
*STATIC
0.5, 1.
*CONTROLS, RESI_GLOB_RELA=1e-10
*DLOAD
LINE, FDD, 1., 0.1, 1.2
*END STEP
"""
    history = run_text(text)
    assert "are slack in the flow" in " ".join(history.notices)
    u = history.u[-1].reshape(-1, 3)
    assert u[:, 0] == pytest.approx(u[::-1, 0], abs=1e-8)
    assert history.elements[-1, :, 3].min() > 0.0
    assert -history.reactions[-1, 0::3].sum() > 0.0


def test_sweeps_give_what_single_runs_give(tmp_path):
    deck = tmp_path / "deck.inp"
    deck.write_text("*PARAMETER\nCD = 1.2\n" + CHAIN.format(current=CURRENT, integrator="NEWMARK", more="")
                    .replace("0.1, 1.2", "0.1, <CD>"))  # fmt: skip
    swept = fem.sweep(deck, {"CD": [0.6, 1.2]}, workers=1, history=True)
    for drag, history in zip((0.6, 1.2), swept.histories, strict=True):
        assert history is not None
        assert (history.u == fem.run(deck, parameters={"CD": drag}).u).all()


PLANE = """*NODE, NSET=ALL
{nodes}*ELEMENT, TYPE={kind}, ELSET=LINE
1, 1, 2
2, 2, 3
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
1e8
*NO COMPRESSION
*DENSITY
3000.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
0.01
*AQUA
-100., 0., 10., 1000.
0.5, 0., 0., -20.
2., 0., 0., 0.
*SEABED, ELSET=LINE, ELEVATION=-5.2
1e5, 1e3, 0.1
0.4
*BOUNDARY
1, 1, 3
{held}*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA
0.01, 2.
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
LINE, GRAV, 10., {down}
LINE, FDD, 1., 0.2, 1.2
LINE, FDT, 1., 0.2, 0.1
LINE, FI, 1., 0.2, 2., 1.
LINE, PB, 1., 0.15
*END STEP
"""


def test_a_line_of_plane_elements_moves_in_water_as_one_in_space_that_is_held_in_a_plane():
    """T2D2 lies in x, y and y is up, T3D2 is held in x, z: one leaves the water and falls, sinks, drifts and lands."""
    places = [(0.0, 1.0), (1.0, 0.5), (2.5, 0.4), (3.5, -5.0)]
    flat = "".join(f"{i + 1}, {x!r}, {y!r}\n" for i, (x, y) in enumerate(places))
    upright = "".join(f"{i + 1}, {x!r}, 0., {z!r}\n" for i, (x, z) in enumerate(places))
    plane = run_text(PLANE.format(nodes=flat, kind="T2D2", held="", down="0., -1., 0."))
    space = run_text(PLANE.format(nodes=upright, kind="T3D2", held="ALL, 2\n", down="0., 0., -1."))
    for label in (2, 3, 4):
        for name in ("U", "V"):
            found, wanted = plane.of_node(label, name), space.of_node(label, name)
            assert np.abs(found[:, :2] - wanted[:, [0, 2]]).max() < 1e-8
            assert not found[:, 2].any() and not wanted[:, 1].any()
    assert plane.of_node(4, "U")[:, 1].min() < -0.2  # on the bottom
    assert np.abs(plane.of_energy("dissipated") - space.of_energy("dissipated")).max() < 1e-6
