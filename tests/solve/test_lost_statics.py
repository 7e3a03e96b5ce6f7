"""Statics of cables that Newton's method does not find from where it begins: it goes on from where they are at rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from fem.runs.history import History
from fem.solve.statics.laying import LAID
from tests.decks import run_text

BUOY = """*NODE
1, 0., 0., 0.
21, 60., 0., 20.
*NGEN
1, 21
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 20
*REST LENGTH
LINE, 3.6
*MATERIAL, NAME=M
*ELASTIC
1e7
*DENSITY
20.
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*SEABED, ELSET=LINE, ELEVATION=0.
1e6, 0., 0.1
*BOUNDARY
1, 1, 3
21, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
1., 1.
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
*CLOAD
8, 3, -4000.
15, 3, 3500.
*END STEP
"""
"""A slack line between a clump weight and a buoy, from the straight line between its ends."""
FREE = BUOY.replace("21, 1, 3\n", "").replace("*CLOAD\n8, 3, -4000.\n15, 3, 3500.\n", "").replace("20., 0., 0.", "0.")


def test_a_slack_line_with_a_clump_and_a_buoy_is_found_from_a_straight_one():
    """Balance of every free node: its bars by their law, weight, joints and the bottom (lumped: K D L0)."""
    history = run_text(BUOY)
    assert any(LAID in notice for notice in history.notices)
    place = (history.model.mesh.coordinates + history.motion[-1, 0])[np.argsort(history.model.mesh.node_labels)]
    way = np.diff(place, axis=0)
    far = np.linalg.norm(way, axis=1)
    pull = np.maximum(1e7 * (far / 3.6 - 1.0), 0.0)[:, None] * way / far[:, None]
    load = np.full(19, -20.0 * 9.81 * 3.6)
    load[[6, 13]] += [-4000.0, 3500.0]
    rest = np.diff(pull, axis=0)
    rest[:, 2] += load + 1e5 * 3.6 * np.maximum(-place[1:-1, 2], 0.0)
    assert np.abs(rest).max() < 1e-5 * np.abs(load).sum()


def test_a_line_with_a_free_end_hangs_straight_down():
    """T below the support = the weight of all but half of its own first bar (lumped)."""
    text = FREE.replace("*SEABED, ELSET=LINE, ELEVATION=0.\n1e6, 0., 0.1\n", "")
    history = run_text(text)
    place = (history.model.mesh.coordinates + history.motion[-1, 0])[np.argsort(history.model.mesh.node_labels)]
    tension = 20.0 * 9.81 * 3.6 * (np.arange(20)[::-1] + 0.5)
    assert history.elements[-1, :, 3] == pytest.approx(tension, rel=1e-6)
    assert place[:, 2] == pytest.approx(-np.concatenate([[0.0], np.cumsum(3.6 * (1.0 + tension / 1e7))]), rel=1e-6)
    assert place[:, :2] == pytest.approx(0.0, abs=1e-4)


LAZY = """*NODE
1, 300., 0., -200.
{first}
{second}
301, 10., 0., -35.
*NGEN, LINE=CATENARY
1, 101, 10, 160.
*NGEN, LINE=CATENARY
102, 202, 10, 120.
*NGEN, LINE=CATENARY
201, 301, 10, 140.
*ELEMENT, TYPE=B31, ELSET=BARE
1, 1, 11
201, 201, 211
*ELGEN, ELSET=BARE
1, 10, 10, 10
201, 10, 10, 10
*ELEMENT, TYPE=B31, ELSET=FLOAT
102, 102, 112
*ELGEN, ELSET=FLOAT
102, 10, 10, 10
*EQUATION
{ties}
*MATERIAL, NAME=BARE
*ELASTIC
2e8
*DENSITY
36.
{law}
*MATERIAL, NAME=FLOAT
*ELASTIC
2e8
*DENSITY
60.
{law}
*BEAM GENERAL SECTION, ELSET=BARE, MATERIAL=BARE, STRAIN=ENGINEERING
1., 4.2e-5, 0., 4.2e-5
*BEAM GENERAL SECTION, ELSET=FLOAT, MATERIAL=FLOAT, STRAIN=ENGINEERING
1., 4.2e-5, 0., 4.2e-5
*AQUA
-200., 0., 9.81, 1025.
*SEABED, ELSET=BARE, ELEVATION=-200.
3e6, 0., 0.14
*BOUNDARY
1, 1, 3
301, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
BARE, GRAV, 9.81, 0., 0., -1.
FLOAT, GRAV, 9.81, 0., 0., -1.
BARE, PB, 1., 0.14
FLOAT, PB, 1., 0.29
*END STEP
"""


def lazy(first: str, second: str, law: str) -> History:
    """Both nodes of each joint at the same place."""
    ties = "".join(f"2\n{a}, {dof}, 1., {b}, {dof}, -1.\n" for a, b in ((102, 101), (202, 201)) for dof in (1, 2, 3))
    places = {"first": f"101, {first}\n102, {first}", "second": f"201, {second}\n202, {second}"}
    return run_text(LAZY.format(ties=ties.rstrip(), law=law, **places))


@pytest.mark.parametrize("law", ["*NO COMPRESSION", "** bars that compression shortens"])
def test_joints_of_lines_that_bend_may_be_drawn_anywhere(law: str) -> None:
    """Law: rest does not depend on where free joints are drawn. From places close to it nothing has to be laid."""
    near = lazy("150., 0., -179.3", "60., 0., -140.", law)
    far = lazy("130., 0., -179.", "48., 0., -129.", law)
    assert not any(LAID in notice for notice in near.notices)
    assert any(LAID in notice for notice in far.notices)
    for node in (1, 301):
        assert far.of_node(node, "reactions")[-1] == pytest.approx(
            near.of_node(node, "reactions")[-1], rel=1e-5, abs=0.1
        )


SIDE = """*HEADING
a straight line without tension: its weight, and a load across at its middle only
*NODE, NSET=N
1, 0., 0., 0.
11, 10., 0., 0.
*NGEN, NSET=N
1, 11, 1
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 10
*MATERIAL, NAME=STEEL
*ELASTIC
1e9
*DENSITY
8000.
*SOLID SECTION, ELSET=LINE, MATERIAL=STEEL
1e-4
*BOUNDARY
1, 1, 3
11, 1, 3
*STEP, NLGEOM
*STATIC{how}
{period}
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
{side}*NODE PRINT, NSET=N
U
*END STEP
"""


@pytest.mark.parametrize(("how", "period"), [("", "0.1, 1."), (", DIRECT", "0.5, 1.")])
def test_a_line_that_was_straight_carries_loads_across_when_it_pulls(how, period):
    """Its nodes are held across at the start of the step, where nothing resists: not once it pulls. The same line,
    loaded across in a step after that of its weight, is not held."""
    load = "*CLOAD\n6, 2, 5.\n"
    both = run_text(SIDE.format(how=how, period=period, side=load))
    later = f"*STEP, NLGEOM\n*STATIC\n1., 1.\n{load}*NODE PRINT, NSET=N\nU\n*END STEP\n"
    after = run_text(SIDE.format(how=how, period=period, side="") + later)
    assert both.u[-1] == pytest.approx(after.u[-1], abs=1e-6) and both.u[-1].max() > 0.04


HANGING = """*HEADING
a cable between two supports, drawn as two bars beside its place
*NODE, NSET=N
1, 0., 0., 0.
2, 4., 0.5, 0.
3, 8., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=CABLE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
1.
*EXPANSION
1e-3
*NO COMPRESSION
*SOLID SECTION, ELSET=CABLE, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
3, 1, 3
{extra}*STEP, NLGEOM
*STATIC
1., 1.
*CONTROLS, RESI_GLOB_RELA=1e-10
*DLOAD
CABLE, GRAV, 9.81, 0., 0., -1.
{warm}*END STEP
"""


@pytest.mark.parametrize(
    ("extra", "warm", "part"),
    [("", "*TEMPERATURE\nN, 30.\n", 1.03), ("*INITIAL CONDITIONS, TYPE=STRESS\nCABLE, -2e3\n", "", 1.02)],
    ids=["warm", "stress"],
)
def test_cables_find_their_place_whatever_makes_them_longer(extra, warm, part):
    """Two bars with half their weight at the middle hang in the plane below the supports: 2 T depth/l is that weight,
    with T = EA (l/L - 1 - strain)."""
    history = run_text(HANGING.format(extra=extra, warm=warm))
    drawn = np.hypot(4.0, 0.5)

    def unbalanced(depth: float) -> float:
        length = np.hypot(4.0, depth)
        return 1e5 * (length / drawn - part) * depth / length - 0.5 * drawn * 9.81

    depth = brentq(unbalanced, 0.1, 3.0, xtol=1e-14)
    assert history.of_node(2)[-1][1:] == pytest.approx([-0.5, -depth], abs=1e-6)


LOOP = """*HEADING
two cables that hang from two supports, and one between their ends
*NODE, NSET=N
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 1., 1., 0.
*ELEMENT, TYPE=T3D2, ELSET=CABLES
1, 1, 2
2, 3, 4
3, 2, 4
{stay}*MATERIAL, NAME=M
*ELASTIC
7.6e6
*DENSITY
0.6
*NO COMPRESSION
*SOLID SECTION, ELSET=CABLES, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
3, 1, 3
*STEP, NLGEOM
*STATIC
0.1, 1.
*CONTROLS, RESI_GLOB_RELA=1e-9
*DLOAD
CABLES, GRAV, 9.81, 0., 0., -1.
*CLOAD
4, 3, -20.
*BOUNDARY
3, 1, 1, 0.6
3, 2, 2, 0.4
3, 3, 3, -0.4
*END STEP
"""


def test_a_stay_between_two_supports_does_not_matter():
    """It is stretched by 60 % of its length, to a million times the weights."""
    alone = run_text(LOOP.format(stay=""))
    beside = run_text(LOOP.format(stay="4, 1, 3\n"))
    assert beside.u[-1] == pytest.approx(alone.u[-1], abs=1e-5) and beside.of_element(4)[-1] > 3e6
