"""A seabed with depths on a grid: files, surface, tangents, energy, a plane as a grid, a line across a ridge."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import fem
from benchmarks.moorings import CROSSING, RIDGE
from fem.assembly.system import assemble
from fem.compiled.interpreted import rehearsal
from fem.deck import parse_deck, write_deck
from fem.errors import DeckError
from fem.forces.bathymetry import BATHYMETRY, seen
from fem.forces.families import acting
from fem.forces.seabed import REMEMBERED
from fem.model.bathymetry import DepthGrid
from fem.study.lanes.run import can_run_in_lanes
from tests.decks import run_text
from tests.forces.families.test_contacts import derivative
from tests.forces.families.test_families import asked
from validation.references import ridge

X, Y = np.array([-3.0, -1.0, 0.5, 2.0, 7.0]), np.array([-4.0, 0.3, 5.0])
HEIGHTS = 0.3 * np.random.default_rng(5).normal(size=(len(X), len(Y)))
HILLS = DepthGrid.of(X, Y, HEIGHTS)


def points(z: np.ndarray, x: np.ndarray = X, y: np.ndarray = Y) -> str:
    """Parameter and rows of a grid in a deck."""
    rows = [f"{a!r}, {b!r}, {z[i, j]!r}" for i, a in enumerate(x.tolist()) for j, b in enumerate(y.tolist())]
    return "\n".join([f"POINTS={len(rows)}", *rows]).replace("np.float64(", "").replace(")", "")


def test_heights_are_bilinear_away_from_grid_lines_and_level_beyond():
    """Judged by scipy; beyond the grid the bottom is as deep as at its edge."""
    rng = np.random.default_rng(1)
    at = np.column_stack([rng.uniform(-6, 9, 4000), rng.uniform(-7, 8, 4000)])
    cell = [np.concatenate([[np.inf], np.diff(lines), [np.inf]]) for lines in (X, Y)]
    away = np.ones(len(at), np.bool_)
    for k, lines in enumerate((X, Y)):
        for i, line in enumerate(lines):
            away &= np.abs(at[:, k] - line) >= 0.1 * min(cell[k][i], cell[k][i + 1])
    inside = np.column_stack([np.clip(at[:, 0], -3, 7), np.clip(at[:, 1], -4, 5)])[away]
    z = RegularGridInterpolator((X, Y), HEIGHTS)(inside)
    on_it = np.column_stack([at[away], z])
    assert HILLS.depth(on_it)[0] == pytest.approx(np.zeros(len(z)), abs=1e-14)
    covered = (at.clip([-3, -4], [7, 5]) == at).all(axis=1)
    assert (HILLS.covers(np.column_stack([at, at[:, 0]])) == covered).all()


def test_normals_are_continuous_and_the_gradient_is_that_of_the_depth():
    """Along a way over all grid lines: the gradient changes with the step, and central differences agree with it."""
    way = np.linspace([-6.0, -6.5, 0.2], [9.0, 7.5, 0.1], 60001)
    depth, gradient = HILLS.depth(way)
    fine, coarse = (np.abs(np.diff(gradient[::step], axis=0)).max() for step in (1, 100))
    assert fine < 0.02 * coarse
    some = way[::25]
    for axis in range(3):
        step = 1e-6 * np.eye(3)[axis]
        slope = (HILLS.depth(some + step)[0] - HILLS.depth(some - step)[0]) / 2e-6
        assert gradient[::25, axis] == pytest.approx(slope, abs=1e-6)
    assert depth.min() < 0.0 < depth.max()


CHAIN = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0.1, 0.
3, 2., 0., 0.1
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
60.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*SEABED, ELSET=LINE, FRICTION=ALL, {points}
12., {damping}, 1.
{friction}, , {slip}
*STEP, NLGEOM
*DYNAMIC
1, 1
*END STEP
"""


@pytest.mark.parametrize("secant", [False, True])
@pytest.mark.parametrize("damping", [0.0, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_tangents_are_derivatives(secant, damping, seed):
    """To 1e-7: second derivatives of the depth jump at the edges of rounded strips, which differences may straddle."""
    rng = np.random.default_rng(seed)
    deck = CHAIN.format(points=points(HEIGHTS + 0.6), damping=damping, friction=0.0, slip=1.0)
    with rehearsal():
        system = assemble(parse_deck(deck))
        u0, u1 = ((rng.normal(size=(3, 3)) * [0.8, 1.5, 0.05]).ravel() for _ in range(2))
        v1 = 0.1 * rng.normal(size=system.size)
        exact = asked(system, u0, u1, v1, secant=secant, rate=20.0)[2]
        found = derivative(system, u0, u1, v1, secant)
    assert exact == pytest.approx(found, abs=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize("slip", [1.0, 0.02])
@pytest.mark.parametrize("secant", [False, True])
def test_tangents_of_friction_on_an_inclined_plane(slip, secant):
    rng, slope = np.random.default_rng(2), 0.6 + 0.2 * X[:, None] - 0.1 * Y
    deck = CHAIN.format(points=points(slope), damping=1.5, friction=0.7, slip=slip)
    with rehearsal():
        system = assemble(parse_deck(deck))
        u0, u1, v1 = (0.1 * rng.normal(size=system.size) for _ in range(3))
        system.state.reshape(-1, REMEMBERED)[:, :3] += 0.2 * rng.normal(size=(3, 3))
        exact = asked(system, u0, u1, v1, secant=secant, rate=20.0)[2]
        found = derivative(system, u0, u1, v1, secant)
    assert exact == pytest.approx(found, abs=1e-8 * np.abs(exact).max())


def test_kernels_see_the_surface_of_the_model():
    """Depths and normals of the contacts, by the kernel, and by the functions of the model."""
    rng = np.random.default_rng(3)
    with rehearsal():
        system = assemble(parse_deck(CHAIN.format(points=points(HEIGHTS), damping=0.0, friction=0.0, slip=1.0)))
        group = next(group for family, group in acting(system.families) if family is BATHYMETRY)
        for _ in range(200):
            u = rng.normal(size=(3, 3)) * 4.0
            depth, normal = seen(group, group.numbers, u)
            exact, gradient = HILLS.depth(system.coordinates[group.nodes] + u)
            assert depth == pytest.approx(exact, abs=1e-13)
            assert normal == pytest.approx(-gradient / np.linalg.norm(gradient, axis=1)[:, None], abs=1e-13)


FALLING = """*NODE, NSET=ALL
1, 0., 0., 0.4
2, 0.5, 0.1, 0.55
3, 1., 0.1, 0.7
4, 1.5, 0.2, 0.8
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
1e7
*DENSITY
1e4
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1e-3
*SEABED, ELSET=LINE, {bottom}
{pressing}
*INITIAL CONDITIONS, TYPE=VELOCITY
ALL, 1, {speed}
*STEP, NLGEOM, INC=100000
{procedure}
*CONTROLS, {controls}
*DLOAD
LINE, GRAV, 10., 0., 0., -1.
*NODE PRINT
U, V, CFORCE
*END STEP
"""
PROCEDURES = {
    "NEWMARK": "*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK\n0.005, 0.4",
    "HHT": "*DYNAMIC, DIRECT, TIME INTEGRATOR=HHT, ALPHA=-0.1\n0.005, 0.4",
    "ENERGY MOMENTUM": "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.005, 0.4",
    "EXPLICIT": "*DYNAMIC, EXPLICIT, DIRECT\n2e-4, 0.4",
}


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_plane_as_a_grid_gives_the_answers_of_the_plane(name):
    """20 degrees, with damping and friction, on grid lines at unequal distances: to 1e-9 of the way."""
    slope, uphill = math.radians(20), math.radians(345)
    z = -0.05 + math.tan(slope) * (math.cos(uphill) * X[:, None] + math.sin(uphill) * Y)
    controls = "ENERGY DRIFT=OFF" if name == "EXPLICIT" else "RESI_GLOB_RELA=1e-11, ENERGY DRIFT=OFF"
    given = {"pressing": "1.2e4, 150., 0.1\n0.4, 0.8", "speed": 0.3, "controls": controls}
    given["procedure"] = PROCEDURES[name]
    plane = run_text(FALLING.format(bottom="ELEVATION=-0.05, SLOPE=20, UPHILL=345", **given))
    grid = run_text(FALLING.format(bottom=points(z), **given))
    assert np.abs(plane.of_node(2, "CFORCE")).max() > 1.0
    assert grid.u == pytest.approx(plane.u, abs=1e-9 * np.abs(plane.u).max())
    force = plane.of_node(3, "CFORCE")
    assert grid.of_node(3, "CFORCE") == pytest.approx(force, abs=1e-8 * np.abs(force).max())


def test_a_chain_that_slides_over_hills_keeps_its_energy():
    """Over four grid lines in x: the bottom has a potential, and ENERGY MOMENTUM does its work exactly."""
    procedure = "*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM\n0.005, 1.5"
    controls = "RESI_GLOB_RELA=1e-11, ENERGY DRIFT=1e-6"
    history = run_text(
        FALLING.format(bottom=points(0.3 * HEIGHTS), pressing="1.2e5, 0., 0.1", speed=3.0, procedure=procedure,
                       controls=controls)
    )  # fmt: skip
    assert history.of_node(1)[-1, 0] > 3.0
    assert np.abs(history.energy_error).max() < 1e-9 * history.of_energy("kinetic").max()
    assert history.of_energy("dissipated")[-1] == pytest.approx(0.0, abs=1e-9)


def test_a_line_across_a_ridge():
    """``validation/references/ridge.py``: T = H + w z. Nodes of a chain touch the bottom one by one: its tensions are
    off by 0.06 % with bars of 2 m, and by less with shorter ones.
    """
    exact, off = ridge.rest(RIDGE, 1000.0, 438.0), []
    for bars in (219, 438):
        history = run_text(CROSSING.format(bars=bars, last=bars + 1))
        assert np.abs(history.u[-1]).max() < 1e-4  # it is laid in equilibrium
        places = history.of_node(bars + 1, "COORD")
        assert places[-1, 0] == pytest.approx(400.0)
        level = history.of_element(1, "T")[-1]
        top = float(np.linalg.norm(history.of_node(bars + 1, "RF")[-1]))
        crest = max(history.of_element(bar, "T")[-1] for bar in range(bars // 4, bars // 2))
        off.append(np.abs(np.array([level / exact.level, top / exact.top, crest / exact.crest]) - 1.0).max())
    assert off[0] < 1e-3
    assert off[1] < 0.75 * off[0]


def test_a_line_that_is_dragged_over_the_ridge_from_afar_comes_to_the_same_rest():
    """Laid with its upper end 3 m nearer, then moved: statics without friction have one answer."""
    text = CROSSING.format(bars=73, last=74)
    moved = text.replace("74, 400.", "74, 397.").replace("*DLOAD", "*BOUNDARY\n74, 1, 1, 3.\n*DLOAD")
    moved = moved.replace("1., 1.", "0.1, 1.").replace(", AMPLITUDE=STEP", ", INC=1000")
    first = "*STEP, NLGEOM, AMPLITUDE=STEP\n*STATIC\n1., 1.\n*DLOAD\nLINE, GRAV, 10., 0., 0., -1.\n*END STEP\n"
    moved = moved.replace("*STEP, NLGEOM, INC", f"{first}*STEP, NLGEOM, INC")
    straight, dragged = run_text(text), run_text(moved)
    for node in (20, 40, 60):
        there = straight.of_node(node, "COORD")[-1]
        assert dragged.of_node(node, "COORD")[-1] == pytest.approx(there, abs=1e-3)


FORMS = {
    "rows.csv": "x; y; z\n0; 0; -3\n0; 5; -4\n9; 5; -2\n9; 0; -1\n",
    "rows.xyz": "# made by hand\n0 0 -3\n9 0 -1\n0 5 -4\n9 5 -2\n",
    "c.txt": "2 2\n0 9\n0 5\n0 0 3\n0 5 4\n9 0 1\n9 5 2\n",
    "f.txt": "--- MoorPy Bathymetry Input File ---\nnGridX 2\nnGridY 2\n 0 9\n0 3 1\n5 4 2\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_files(tmp_path: Path, name: str):
    """Rows of x, y, z in any order; MoorDyn's two forms, whose depths are positive. Written out they are the same."""
    (tmp_path / name).write_text(FORMS[name])
    deck = FALLING.format(bottom=f"FILE={name}", pressing="1e4, 0., 0.1", speed=0.0, procedure="*STATIC", controls="")
    (tmp_path / "deck.inp").write_text(deck.replace("*CONTROLS, \n", ""))
    model = fem.read_deck(tmp_path / "deck.inp")
    (bed,) = model.seabeds
    assert bed.grid == DepthGrid.of(np.array([0.0, 9.0]), np.array([0.0, 5.0]), np.array([[-3.0, -4.0], [-1.0, -2.0]]))
    assert parse_deck(write_deck(model)).seabeds == model.seabeds


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("x,y,z\n0,0,1\n0,5,1\n9,0,1\n", "", "the grid has no point x = 9, y = 5"),
        ("0 0 1\n0 5 1\n9 0 1\n9 5 1\n9 5 2\n", "", "the grid has 2 points x = 9, y = 5"),
        ("0 0 1\n0 5 1\n9 O 1\n9 5 1\n", "3:3", "expected y (a number)"),
        ("0 0\n0 5\n", "", "expected x, y, z in each line, got 2 entries"),
        ("0 0 1\n0 5 1\n", "", "a grid needs at least two x"),
        ("2 2\n0 9\n0 5\n0 0 3\n0 5 -4\n9 0 1\n9 5 2\n", "", "depths of the other sign"),
        ("t\nnGridX 3\nnGridY 2\n0 9\n0 3 1\n5 4 2\n", "4:1", "expected 3 x, got 2"),
        ("t\nnGridX 2\nnGridY 2\n0 9\n0 3 1 7\n5 4 2\n", "5:", "expected 3 entries as in the first line, got 4"),
        ("t\nnGridX 2\nnGridY 3\n0 9\n0 3 1\n5 4 2\n", "", "expected 3 lines of y and depths, got 2"),
        ("t\nnGridX 2\nnGridY 2\n9 0\n0 3 1\n5 4 2\n", "", "in rising order"),
    ],
)
def test_mistakes_in_files_are_told_with_their_place(tmp_path: Path, text: str, place: str, message: str):
    (tmp_path / "grid.txt").write_text(text)
    deck = FALLING.format(bottom="FILE=grid.txt", pressing="1e4, 0., 0.1", speed=0.0, procedure="*STATIC", controls="")
    (tmp_path / "deck.inp").write_text(deck.replace("*CONTROLS, \n", ""))
    with pytest.raises(DeckError) as caught:
        fem.read_deck(tmp_path / "deck.inp")
    assert message in str(caught.value)
    assert (f"grid.txt:{place}" if place else "deck.inp") in str(caught.value)


def test_beyond_the_grid_the_bottom_goes_on_level_with_a_notice():
    deck = CROSSING.format(bars=73, last=74).replace("500.,", "300.,")
    model = parse_deck(deck)
    (notice,) = [text for text in model.notices if "beyond the grid" in text]
    assert "(x from -50 to 300 and y from -20 to 30)" in notice
    here, there = run_text(CROSSING.format(bars=73, last=74)), run_text(deck)
    assert there.u == pytest.approx(here.u, abs=1e-9)


def test_a_model_with_a_line_on_a_grid_goes_to_other_processes():
    """Sweeps pickle it."""
    model = parse_deck(CROSSING.format(bars=73, last=74))
    assert pickle.loads(pickle.dumps(model)).seabeds == model.seabeds


def test_lanes_refuse_a_grid_by_name():
    text = CHAIN.format(points=points(HEIGHTS), damping=0.0, friction=0.0, slip=1.0)
    model = parse_deck(text.replace("C\n1", "C, DIRECT\n1"))
    assert can_run_in_lanes(model) == "its seabed is a grid"
