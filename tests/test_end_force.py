"""EF, TE, DECL and AZIM: the force of lines on what holds their ends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem

LINE = """*NODE
1, -837.6, 0., -200.
{last}, -58., 0., -14.
*NGEN, LINE=CATENARY
1, {last}, 1, 850.
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*MATERIAL, NAME=CHAIN
*ELASTIC
3.27E9
*DENSITY
685.
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=CHAIN, STRAIN=ENGINEERING
1.
*AQUA
-200., 0., 9.80665, 1025.
*SEABED, ELSET=LINE
3.E6, 3.E5, 0.333
*BOUNDARY
1, 1, 3
{last}, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
LINE, GRAV, 9.80665, 0., 0., -1.
LINE, PB, 1., 0.333
*END STEP
"""
MOORPY = 2435559.705
"""End tension of this line: MoorPy 1.3.0, ``Line.TB`` of the IEA 15 MW mooring (tests/test_mooring.py)."""


def ends(bars: int) -> tuple[float, float]:
    """TE at the fairlead and T of the bar there."""
    history = fem.run(fem.parse_deck(LINE.format(bars=bars, last=bars + 1)))
    return history.of_node(bars + 1, "TE")[-1], history.of_element(bars, "T")[-1]


def test_the_end_force_is_the_tension_at_the_end_and_t_that_of_the_middle_of_a_bar():
    """T is lower by the weight of half a bar along it, w L sin/(2 n): of first order; TE is of second order."""
    weight, sine = (685.0 - 1025.0 * np.pi / 4.0 * 0.333**2) * 9.80665, 0.8325
    for bars, close in ((20, 4e-3), (80, 4e-4)):
        end, middle = ends(bars)
        assert end == pytest.approx(MOORPY, rel=close)
        assert end - middle == pytest.approx(weight * 850.0 * sine / (2 * bars), rel=0.02)


def test_lines_on_a_free_body_hold_what_weight_and_buoyancy_leave():
    """RF is zero at nodes of the body, EF is the force of the tie; the sum of the pulls balances the body."""
    text = Path("inputs/moored_spar.inp").read_text().replace("bars = 30", "bars = 8")
    history = fem.run(fem.parse_deck(text[: text.index("*STEP, NLGEOM, INC=1000, NAME=PUSHED")]))
    force = np.array([history.of_node(label, "EF")[-1] for label in (100, 200, 300)])
    assert not any(history.of_node(label, "RF")[-1].any() for label in (100, 200, 300))
    assert force.sum(axis=0)[:2] == pytest.approx([0.0, 0.0], abs=1.0)
    depth = 80.0 - history.of_node(1)[-1][2]
    lift = 1025.0 * 9.80665 * np.pi * 16.0 * depth - 4.12e6 * 9.80665
    assert force.sum(axis=0)[2] == pytest.approx(lift, rel=1e-5)  # statics ends at a residual of 1e-6
    assert history.of_node(100, "TE")[-1] == pytest.approx(np.linalg.norm(force[0]), rel=1e-12)
    assert history.of_node(200, "AZIM")[-1] == pytest.approx(120.0, abs=1e-3)
    assert history.of_node(105, "TE")[-1] == 0.0  # within a line nothing holds a node


TWO = """*NODE
1, 0., 0., 0.
2, 3., 0., -4.
3, 3., 4., -4.
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e9
*SOLID SECTION, ELSET=BARS, MATERIAL=M
1e-3
*BOUNDARY
1, 1, 3
2, 1, 3
3, 1, 1
3, 3, 3
*STEP
*STATIC
*CLOAD
3, 2, 1000.
*END STEP
"""


def test_a_load_holds_the_end_of_a_line_like_a_support():
    history = fem.run(fem.parse_deck(TWO))
    assert history.of_node(3, "TE")[-1] == pytest.approx(1000.0)
    assert [history.of_node(3, what)[-1] for what in ("DECL", "AZIM")] == pytest.approx([90.0, -90.0])
    assert history.of_node(2, "AZIM")[-1] == pytest.approx(90.0)  # the bar pulls its other end towards +y


def test_declination_counts_from_upwards():
    text = TWO.replace("2, 1, 3\n3", "3").replace("3, 2, 1000.", "2, 1, 300.\n2, 3, -400.")
    text = text.replace("*BOUNDARY", "*BOUNDARY\n2, 2, 2")
    history = fem.run(fem.parse_deck(text.replace("3, 1, 1\n3, 3, 3", "3, 1, 3")))
    # bar 1 points from the support at the origin to (3, 0, -4) and pulls with 500 there
    assert history.of_node(1, "TE")[-1] == pytest.approx(500.0, rel=1e-6)
    assert history.of_node(1, "DECL")[-1] == pytest.approx(180.0 - np.degrees(np.arctan2(3.0, 4.0)), rel=1e-6)
    assert history.of_node(1, "AZIM")[-1] == pytest.approx(0.0, abs=1e-9)


def test_an_end_that_moves_has_the_force_of_its_support():
    """In motion, with drag and inertia of half a bar: TE is |RF| where a support moves the end."""
    motion = "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.1, 2.\n*BOUNDARY, TYPE=VELOCITY\n6, 1, 1, 2.\n*END STEP\n"
    history = fem.run(fem.parse_deck(LINE.format(bars=5, last=6) + motion))
    reaction = np.linalg.norm(history.of_node(6, "RF"), axis=1)
    assert np.array_equal(history.of_node(6, "TE"), reaction) and np.ptp(reaction) > 1e6
