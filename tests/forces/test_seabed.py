"""The bottom: what pushes and rubs, held against closed forms; its books, its tables, updates that are halved."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fem
from fem.deck import parse_deck, write_deck
from fem.errors import NoConvergence
from fem.runner import run_to_files
from fem.runs.tables import lift_off
from fem.solve import step_system
from tests.decks import run_text

CHAIN = """*NODE, NSET=ALL
1, 0., 0., {height}
2, {dx}, {dy}, {height}
3, {2*dx}, {2*dy}, {height}
*ELEMENT, TYPE=T3D2, ELSET=CHAIN
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
1e4
*SOLID SECTION, ELSET=CHAIN, MATERIAL=M, STRAIN=ENGINEERING
1e-3
*SEABED, ELSET=CHAIN, ELEVATION=0.{options}
{bottom}
*INITIAL CONDITIONS, TYPE=VELOCITY
{velocity}
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
{dt}, {period}
*CONTROLS, {controls}
*DLOAD
CHAIN, GRAV, 10., 0., 0., -1.
*NODE PRINT
U, V, CFORCE
*END STEP
"""
WEIGHT, STIFFNESS = 10.0 * 10.0, 1e6 * 0.1
"""Per length: of the chain, and of the bottom."""


def chain(velocity="1, 1, 0.", height=0.0, angle=0.0, bottom="1e6, 0., 0.1", options="", integrator="NEWMARK", dt=1e-3,
          period=0.3, controls="RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF") -> str:  # fmt: skip
    """Two bars of 1 m, 10 kg/m, on a bottom that gives way by 1 mm under them."""
    dx, dy = math.cos(angle), math.sin(angle)
    text = CHAIN.replace("{2*dx}", repr(2 * dx)).replace("{2*dy}", repr(2 * dy))
    return text.format(dx=dx, dy=dy, height=height, bottom=bottom, options=options, velocity=velocity, dt=dt,
                       period=period, integrator=integrator, controls=controls)  # fmt: skip


def books(history: fem.History) -> float:
    """Largest error of the energy balance."""
    return float(np.abs(history.energy_error - history.energy_error[0]).max())


@pytest.mark.parametrize("integrator", ["NEWMARK", "ENERGY MOMENTUM", "EXPLICIT"])
def test_a_chain_bounces_as_a_ball_does(integrator):
    """Level, dropped by h on a spring: up again to h, period 2 sqrt(2h/g) + time in the spring; nothing is lost."""
    height, w = 0.005, math.sqrt(STIFFNESS / 10.0)
    text = chain(height=height, dt=2e-5, period=0.2, controls="RESI_GLOB_RELA=1e-9", integrator=integrator)
    history = run_text(text.replace("TIME INTEGRATOR=EXPLICIT", "EXPLICIT"))
    fall, speed = math.sqrt(2 * height / 10.0), math.sqrt(2 * 10.0 * height)
    inside = 2.0 / w * (math.pi - math.atan2(speed * w, 10.0))
    z = history.of_node(2)[:, 2]
    assert np.interp(2 * fall + inside, history.time, z) == pytest.approx(0.0, abs=2e-5)
    assert history.of_energy("dissipated")[-1] == pytest.approx(0.0, abs=1e-12)
    assert books(history) < (1e-10 if integrator == "ENERGY MOMENTUM" else 3e-5)


@pytest.mark.parametrize("bottom", ["1e9, 0., 0.1", "1e6, 2e5, 0.1"])
def test_explicit_increments_are_short_enough_for_a_bottom_that_is_not_reached_yet(bottom):
    """sqrt(K a/m) or 4 C a/(m dt) limit them, although the chain falls for 0.14 s and is gone again in 1 ms."""
    text = chain(height=0.1, dt=2e-3, period=0.2, bottom=bottom, integrator="EXPLICIT")
    text = text.replace("TIME INTEGRATOR=EXPLICIT", "EXPLICIT")
    with pytest.raises(fem.ModelError, match=r"exceeds the critical one, 0\.000\d+, set by the forces on node \d"):
        run_text(text)
    history = run_text(text.replace("0.002, 0.2", ", 0.2"))
    assert history.of_energy("kinetic").max() < 1.01 * 20.0 * 10.0 * 0.1 + 20.0
    assert history.of_node(2, "CFORCE")[:, 2].max() > 100.0


@pytest.mark.parametrize("integrator", ["NEWMARK", "GENERALIZED ALPHA", "ENERGY MOMENTUM", "BACKWARD EULER"])
def test_what_sinks_in_is_damped_and_what_leaves_is_not(integrator):
    """In the end it lies where its weight sinks it; the bottom has taken all that its fall set free."""
    keeps = integrator == "ENERGY MOMENTUM"
    controls = "ENERGY DRIFT=1e-6" if keeps else "RESI_GLOB_RELA=1e-9, ENERGY DRIFT=OFF"
    text = chain(height=0.02, bottom="1e6, 2e4, 0.1", integrator=integrator, dt=5e-4, period=0.5, controls=controls)
    history = run_text(text)
    sunk = WEIGHT / STIFFNESS
    assert history.of_node(2)[-1, 2] == pytest.approx(-0.02 - sunk, abs=1e-6)
    assert history.of_node(2, "CFORCE")[-1, 2] == pytest.approx(WEIGHT, rel=1e-3)
    lost = 2.0 * WEIGHT * (0.02 + 0.5 * sunk)
    if keeps:
        assert history.of_energy("dissipated")[-1] == pytest.approx(lost, rel=1e-6)
        assert books(history) < 1e-10
        assert np.diff(history.of_energy("dissipated")).min() > -1e-12


@pytest.mark.parametrize(
    "angle, axial, lateral",
    [
        (angle, axial, lateral)
        for angle in (0.0, 0.7, math.pi / 2)
        for axial, lateral in ((0.3, 0.3), (0.2, 0.6), (0.0, 0.4))
        if angle or axial
    ],
)
def test_a_sliding_chain_stops_where_friction_has_taken_its_speed(angle, axial, lateral):
    """v^2 / (2 mu g), mu^2 = (axial cos)^2 + (lateral sin)^2, and half of the slip, by which it springs back."""
    mu = math.hypot(axial * math.cos(angle), lateral * math.sin(angle))
    speed, sunk = 0.6, WEIGHT / STIFFNESS
    rows = f"1, 1, {speed}\n2, 1, {speed}\n3, 1, {speed}"
    text = chain(rows, -sunk, angle, f"1e6, 0., 0.1\n{axial}, {lateral}, 2e-4", period=1.2 * speed / mu / 10.0)
    history = run_text(text.replace("*STEP, NLGEOM", "*BOUNDARY\nALL, 2\n*STEP, NLGEOM") if axial == lateral else text)
    way = speed**2 / (2 * mu * 10.0)
    u = history.of_node(2)
    assert u[-1, 0] == pytest.approx(way, abs=1e-3 * way + 6e-4)
    if axial == lateral:
        assert history.of_energy("dissipated")[-1] == pytest.approx(10.0 * speed**2, rel=2e-3)
        assert books(history) < 1e-8


def test_friction_is_for_statics_where_it_is_asked_for():
    """A chain that is pulled along the bottom: the pull is mu w of what moves with ALL, nothing with DYNAMIC."""
    sunk, pulls = WEIGHT / STIFFNESS, []
    for options in ("", ", FRICTION=ALL"):
        text = chain(height=-sunk, bottom="1e6, 0., 0.1\n0.5", options=options).partition("*STEP")[0]
        text += "*BOUNDARY\nALL, 2\n*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC\n1., 1.\n*CONTROLS, RESI_GLOB_RELA=1e-9\n"
        text += "*DLOAD\nCHAIN, GRAV, 10., 0., 0., -1.\n*BOUNDARY\n3, 1, 1, 0.05\n*END STEP\n"
        pulls.append(run_text(text).of_node(3, "RF")[-1, 0])
    assert pulls == pytest.approx([0.0, 0.5 * 2 * WEIGHT], abs=1e-6 * WEIGHT)


POINTS = "*SEABED, ELSET=CHAIN, FRICTION=ALL, POINTS=4\n-9, -9, 0.\n9, -9, 0.\n-9, 9, 0.\n9, 9, 0."
PULLED = """*AMPLITUDE, NAME=THERE
0., 0., 1., 1., 2., 0.
*STEP, NLGEOM
*STATIC, DIRECT
0.05, 2.
*BOUNDARY, AMPLITUDE=THERE
3, 1, 1, 0.1
*END STEP
"""


@pytest.mark.parametrize("is_grid", [False, True])
def test_statics_books_the_work_of_friction(is_grid):
    """A stiff chain is pulled 0.1 m along and back: mu W on all of the way but what friction takes to grow (half of the
    slip) and to turn (twice the slip). The support does this work, not only what is stored."""
    text = chain(bottom="1e6, 0., 0.1\n0.5, 0.5, 0.01", options=", FRICTION=ALL", height=-WEIGHT / STIFFNESS)
    if is_grid:
        text = text.replace("*SEABED, ELSET=CHAIN, ELEVATION=0., FRICTION=ALL", POINTS)
    text = text.replace("*STEP, NLGEOM\n*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n", "*STEP, NLGEOM\n*STATIC\n")
    history = run_text(text.replace("0.001, 0.3", "1., 1.").replace("ENERGY DRIFT=OFF", "ITER_GLOB_MAXI=50") + PULLED)
    step = history.of_step(2)
    work, lost = history.of_energy("external_work")[step], history.of_energy("dissipated")[step]
    pull, way = history.of_node(3, "reactions")[step, 0], history.of_node(3, "u")[step, 0]
    weight = 2.0 * WEIGHT
    assert lost[-1] == pytest.approx(0.5 * weight * (0.1 - 0.005 + 0.1 - 0.02), rel=2e-3)
    done = np.append(0.0, np.cumsum(0.5 * (pull[1:] + pull[:-1]) * np.diff(way)))
    np.testing.assert_allclose(work - work[0], done, atol=1e-6 * weight)


def test_a_bar_that_is_removed_does_not_press_any_more():
    """A mass between two bars sinks by W/(K width) times 1 over the length that carries: a half of each bar, of one."""
    text = """*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 3., 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=BARS\n1, 1, 2\n2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=M\n3, 2\n*MASS, ELSET=M\n2.\n*MATERIAL, NAME=SOFT\n*ELASTIC\n1e-3
*SOLID SECTION, ELSET=BARS, MATERIAL=SOFT\n1.\n*SEABED, ELSET=BARS, ELEVATION=0.\n1e5, 0., 0.05, 0.001
*BOUNDARY\n1, 1, 3\n3, 1, 3\n2, 1, 2\n*STEP, NLGEOM\n*STATIC\n*DLOAD\nM, GRAV, 9., 0., 0., -1.\n*END STEP
*STEP, NLGEOM\n*STATIC\n*MODEL CHANGE, REMOVE\n2\n*END STEP
"""
    history = fem.run(fem.parse_deck(text))
    sunk = history.of_node(2)[:, 2]
    first = sunk[history.step == 1][-1]
    assert [first, sunk[-1]] == pytest.approx([-18.0 / (1e5 * 0.05 * length) for length in (1.5, 0.5)], rel=1e-6)


def test_a_line_laid_exactly_on_the_bottom_has_its_stiffness():
    """Statics begin with no depth at all; the line sinks by w/K."""
    text = chain(bottom="1e6, 0., 0.1").replace("*STEP, NLGEOM", "*BOUNDARY\nALL, 1, 2\n*STEP, NLGEOM")
    text = text.replace("*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.001, 0.3", "*STATIC\n1., 1.")
    assert run_text(text).u[-1, 2::3] == pytest.approx(-WEIGHT / STIFFNESS, rel=1e-9)


def test_explicit_increments_are_short_enough_for_what_sticks():
    """The spring mu N/gamma of 6e4 N/m at a node of 10 kg, not the soft bottom's K a = 5e3, limits the increment."""
    sunk, speed, mu = WEIGHT / 5e3, 0.6, 0.3
    rows = f"1, 1, {speed}\n2, 1, {speed}\n3, 1, {speed}"
    text = chain(rows, -sunk, bottom=f"5e4, 0., 0.1\n{mu}, {mu}, 5e-4", integrator="EXPLICIT", period=1.0)
    text = text.replace("TIME INTEGRATOR=EXPLICIT", "EXPLICIT").replace(
        "*STEP, NLGEOM", "*BOUNDARY\nALL, 2\n*STEP, NLGEOM"
    )
    history = run_text(text.replace("0.001, 1.0", ", 1.0"))
    assert history.time[1] < 2.0 / math.sqrt(mu * WEIGHT / 5e-4 / 10.0)
    assert history.of_node(2)[-1, 0] == pytest.approx(speed**2 / (2 * mu * 10.0), abs=1e-3)


SLOPED = """*NODE
1, 0., 0., 0.
41, 62., 18., 21.
*NGEN, LINE=CATENARY, NSET=LINE{options}
1, 41, 1, 72.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, 40
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
8e3
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1e-2
*SEABED, ELSET=LINE, ELEVATION=0., SLOPE={slope}, UPHILL={uphill!r}, FRICTION=ALL
1e6, 0., 0.2
0.5, 0.5, 1e-3
*BOUNDARY
1, 1, 3
41, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC, DIRECT
1., 1.
*CONTROLS, RESI_GLOB_RELA=1e-8
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*NODE PRINT, NSET=LINE
U, CFORCE
*END STEP
"""


@pytest.mark.parametrize("slope", [0.0, 6.0])
def test_lines_are_laid_at_rest_with_their_friction(slope):
    """Statics moves nothing by more than the line has sunk, in a few solves; mu N pulls at what rests."""
    uphill = math.degrees(math.atan2(18.0, 62.0))
    model = parse_deck(SLOPED.format(options=", FRICTION=YES", slope=slope, uphill=uphill))
    assert "of it lies on the seabed" in model.notices[0]
    assert parse_deck(write_deck(model)) == model
    history = fem.run(model)
    assert history.iterations[-1] <= 6
    assert np.abs(history.u[-1]).max() < 8e3 * 1e-2 * 9.81 / (1e6 * 0.2)
    force = np.array([history.of_node(label, "CFORCE")[-1] for label in range(16, 19)])
    normal = force @ model.seabeds[0].normal(2)
    assert (normal > 0.0).all()
    rubs = np.linalg.norm(force - normal[:, None] * model.seabeds[0].normal(2), axis=1)
    assert rubs == pytest.approx(0.5 * normal, rel=1e-3)


def test_a_slope_may_be_negative():
    """It falls to the side to which it would rise: the same plane, and the same line on it."""
    beds = [
        parse_deck(SLOPED.format(options="", slope=slope, uphill=uphill))
        for slope, uphill in ((-4.0, 16.0), (4.0, 196.0))
    ]
    assert beds[0].seabeds[0].normal(2) == pytest.approx(beds[1].seabeds[0].normal(2), abs=1e-15)
    assert beds[0].mesh.coordinates == pytest.approx(beds[1].mesh.coordinates, abs=1e-9)
    assert parse_deck(write_deck(beds[0])) == beds[0]


def test_touchdown_is_written_with_the_nodes(tmp_path):
    deck = tmp_path / "line.inp"
    deck.write_text(SLOPED.format(options="", slope=0.0, uphill=0.0))
    run_to_files(deck, tmp_path / "out", quiet=True)
    with (tmp_path / "out" / "touchdown.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["increment"], row["line"]) for row in rows] == [("0", "LINE"), ("1", "LINE")]
    last = {name: float(rows[-1][name]) for name in ("s", "x", "y", "z", "on_bottom", "contacts")}
    assert last["s"] == pytest.approx(last["on_bottom"], abs=1e-9) and last["z"] == pytest.approx(0.0, abs=1e-9)
    assert math.hypot(last["x"], last["y"]) == pytest.approx(last["s"], rel=5e-3)
    assert int(last["contacts"]) == math.floor(last["s"] / 1.8)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["settings"]["updates"].startswith("halved")


@settings(max_examples=50)
@given(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=9).map(np.array))
def test_where_a_line_leaves_the_bottom_does_not_depend_on_its_direction(depth):
    """With one end on it; the depth is zero there."""
    depth[0], depth[-1] = 0.5, -0.5
    bar, way = lift_off(depth, 1e-9)
    other, back = lift_off(depth[::-1], 1e-9)
    assert (bar, way) == pytest.approx((len(depth) - 2 - other, 1.0 - back))
    assert (1.0 - way) * max(depth[bar], 0.0) + way * depth[bar + 1] == pytest.approx(0.0, abs=1e-12)


def test_updates_are_halved_where_the_residual_does_not_fall(monkeypatch):
    """A chain dropped on a hard bottom in coarse increments: without that, Newton runs in circles."""
    text = chain("1, 1, 0.4\n2, 1, 0.3\n3, 1, 0.5\n2, 3, -1", 0.02, 0.3, "1e8, 3e5, 0.02, 2e-5\n0.6, 0.9, 2e-5",
                 integrator="GENERALIZED ALPHA", dt=2e-3, period=0.4)  # fmt: skip
    safe = run_text(text)
    assert safe.iterations.max() < 30
    monkeypatch.setattr(step_system, "FIRST_HALVED", 0.0)
    with pytest.raises(NoConvergence):
        run_text(text)


@pytest.mark.parametrize("stiffness, is_told", [(1e4, False), (9e3, True)])
def test_a_soft_bottom_is_told(stiffness, is_told):
    """From a tenth of the contact width on: w/(K D) = D/10 at K = 10 w/D^2."""
    history = run_text(chain(bottom=f"{10 * stiffness!r}, 0., 0.1", dt=1e-2, period=1e-2))
    assert any("sink in by up to" in text for text in history.notices) == is_told
