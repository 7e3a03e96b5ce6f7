"""Ropes over pulleys that start away from equilibrium: tension and period foretold, the rest length that mends it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import fem
from fem.model.taut_starts import told_of_starts
from fem.show.checking import check

ATWOOD = """
*NODE
1, -0.1, 0., 1.
2, 0., 0., 3.
3, 0.1, 0., 1.
*ELEMENT, TYPE=PULLEY, ELSET=R
1, 1, 2, 3
*ELEMENT, TYPE=MASS, ELSET=A
11, 1
*ELEMENT, TYPE=MASS, ELSET=B
12, 3
*MASS, ELSET=A
1.
*MASS, ELSET=B
3.
*MATERIAL, NAME=M
*ELASTIC
1e5
*NO COMPRESSION
*SOLID SECTION, ELSET=R, MATERIAL=M, STRAIN={strain}
0.1
*REST LENGTH
R, {rest!r}
*BOUNDARY
2, 1, 3
1, 1, 2
3, 1, 2
*STEP, NLGEOM
*DYNAMIC, DIRECT
1e-3, 0.3
*DLOAD
, GRAV, 9.81, 0., 0., -1.
*EL PRINT
T
*END STEP
"""
LENGTH = 2.0 * np.hypot(0.1, 2.0)


def atwood(strain: str = "ENGINEERING", rest: float = LENGTH) -> fem.Model:
    return fem.parse_deck(ATWOOD.format(strain=strain, rest=float(rest)))


@pytest.mark.parametrize("strain", ["ENGINEERING", "GREEN"])
def test_the_rest_length_that_is_offered_starts_with_the_tension_of_the_motion(strain):
    # T = 2 m1 m2 g/(m1 + m2)/c along legs at an angle to the vertical of the cosine c
    cosine = 2.0 / np.hypot(0.1, 2.0)
    tension = 2.0 * 1.0 * 3.0 * 9.81 / (1.0 + 3.0) / cosine
    text = told_of_starts(atwood(strain))
    assert f"its motion begins with {tension:.6g};" in text and "its tension is 0," in text
    # Masses at springs in series along the rope, each leg at c to the vertical: omega^2 = (EA/L0) c^2 (1/m1 + 1/m2)
    period = 2.0 * np.pi / np.sqrt(1e4 / LENGTH * cosine**2 * (1.0 + 1.0 / 3.0))
    assert f"with period {period:.3g}, undamped" in text
    found = re.search(r"\*REST LENGTH ([\d.]+);", text)
    assert found
    mended = atwood(strain, float(found[1]))
    assert told_of_starts(mended) == ""
    pulls = {rest: fem.run(model).of_element(1, "T") for rest, model in (("", atwood(strain)), (found[1], mended))}
    assert np.ptp(pulls[""]) > 1.9 * tension  # it rings between 0 and twice that
    assert pulls[found[1]] == pytest.approx(tension, rel=2e-3)  # the legs turn a little


def test_check_and_run_say_it_once():
    model = atwood()
    assert [text for text in check(model).findings if "away from equilibrium" in text] == [
        f"step 1: {told_of_starts(model)}"
    ]
    assert sum("away from equilibrium" in text for text in fem.run(model).notices) == 1


@pytest.mark.parametrize(
    "old, new",
    [
        ("*REST LENGTH\nR, ", "*REST LENGTH\nR, 1"),  # slack
        ("*BOUNDARY\n", "*PULLEY, ELSET=R\n0.3\n*BOUNDARY\n"),  # friction holds what it can
        ("*STEP, NLGEOM", "*STEP, NLGEOM\n*STATIC\n*END STEP\n*STEP, NLGEOM"),  # at rest before
        ("*DYNAMIC, DIRECT", "*DYNAMIC, DIRECT, TIME INTEGRATOR=BACKWARD EULER"),  # takes it out at once
        ("1, 1, 2\n3, 1, 2", "1, 1, 3\n3, 1, 3"),  # nothing moves
        ("*BOUNDARY\n", "*ELEMENT, TYPE=SPRING1, ELSET=S\n9, 3\n*SPRING, ELSET=S\n3\n1e4\n*BOUNDARY\n"),  # other forces
    ],
)
def test_other_starts_are_not_told_of(old, new):
    text = ATWOOD.format(strain="ENGINEERING", rest=float(LENGTH)).replace(old, new)
    assert told_of_starts(fem.parse_deck(text)) == ""
