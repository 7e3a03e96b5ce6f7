"""Loads from step to step, by the rules of Abaqus."""

from __future__ import annotations

import numpy as np
import pytest

import fem

PULLED = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e6
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*AMPLITUDE, NAME=HALF
0., 0., 1., 0.5
*BOUNDARY
1, 1, 3
2, 2, 3
*STEP, NLGEOM
*STATIC, DIRECT
0.5, 1.
*CLOAD, AMPLITUDE=HALF
2, 1, 10.
*END STEP
*STEP, NLGEOM
*STATIC, DIRECT
0.5, 1.
{second}*END STEP
"""


@pytest.mark.parametrize(
    ("second", "pulls"),
    [("", (5.0, 5.0)), ("*CLOAD\n2, 1, 8.\n", (6.5, 8.0)), ("*CLOAD, OP=NEW\n", (2.5, 0.0))],
    ids=["goes on", "replaced", "removed"],
)
def test_a_load_that_ended_at_half_its_value_goes_on_from_there(second, pulls):
    """10 N times 0.5 at the end of step 1; static steps ramp from there to another value, or to none."""
    history = fem.run(fem.parse_deck(PULLED.format(second=second)))
    rows = np.flatnonzero(history.of_step(2))[-2:]
    assert history.of_node(1, "RF")[rows, 0] == pytest.approx(-np.array(pulls), rel=1e-6, abs=1e-6)
