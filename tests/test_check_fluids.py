"""``fem check`` of bars in water and wind."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fem.checking import check
from fem.deck import parse_deck

DECK = """*NODE
1, 0, 0, 0
2, 3, 0, -4
3, 6, 0, -8
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=STEEL
*ELASTIC
1e9
*DENSITY
8000
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=STEEL
0.01
*AQUA
-100, 0, 10, 1000
2, 0, 0, 0
0.5, 0, 0, -8
*WIND
1.2, 10, 20, 0
*AMPLITUDE, NAME=TIDE, DEFINITION=PERIODIC
1, 1, 0, 0.5
1., 0.
*BOUNDARY
1, 1, 3
3, 1, 3
*STEP, NLGEOM
*DYNAMIC, {procedure}
1e-4, 1
*DLOAD
LINE, GRAV, 10, 0, 0, -1
{loads}*END STEP
"""


def report(loads, procedure="DIRECT"):
    return str(check(parse_deck(DECK.format(loads=loads, procedure=procedure))))


def numbers(text, name):
    (line,) = (line for line in text.splitlines() if line.startswith(name))
    return [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", line)]


def test_weight_sinking_stream_and_drag_are_those_of_the_formulas():
    """w = 800 less 10000 pi 0.04/4, sqrt(2 w/(rho D Cd)); the tide makes the current faster by a half."""
    found = numbers(report("LINE, PB, 1., 0.2\nLINE, FDD, 1., 0.2, 1.5, 1., TIDE\n"), "in water")
    weight = 800.0 - 10000.0 * np.pi * 0.01
    assert found == pytest.approx([weight, 10 * weight, 3.0, np.sqrt(weight / 150.0), 150.0 * 9.0 / weight], rel=1e-3)


def test_buoyancy_alone_tells_the_weight():
    weight = 800.0 - 10000.0 * np.pi * 0.01
    assert numbers(report("LINE, PB, 1., 0.2\n"), "in water") == pytest.approx([weight, 10 * weight], rel=1e-4)


def test_advice_against_ringing_is_for_what_does_not_damp():
    wet = "LINE, PB, 1., 0.2\n"
    assert "RHO=0.4" in report(wet)
    assert "RHO=0.4" not in report(wet, "DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4")
