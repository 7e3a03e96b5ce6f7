"""Machine code of all families of forces, and the same kernels as Python functions.

At rest: frequencies of a deck ask for forces, tangents and masses, and need no march. With plain numba a march takes
five minutes to compile, and this a third of them.
"""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.compiled.interpreted import rehearsal
from tests.forces.families.examples import TWISTED

BEGIN = TWISTED.partition("*STEP")[0].replace(
    "*BOUNDARY",
    "*SPRING, ELSET=ROLLERS\n2\n3.\n*ELEMENT, TYPE=SPRING1, ELSET=ROLLERS\n4, 3\n"
    "*AQUA\n-5., 1., 3., 2.\n*SEABED, ELSET=FIRST, ELEVATION=0.1\n12., 1.5, 1.\n*BOUNDARY",
)
STEP = "*STEP, NLGEOM\n*FREQUENCY\n6\n*D ADDED MASS\nFIRST, FI, 0.2, 0.5\n*END STEP\n"
"""A line that is bent at rest, and turns; part of it in water, on the bottom."""


def test_frequencies_are_those_of_the_kernels_as_python_functions():
    model = fem.parse_deck(BEGIN + STEP)
    with rehearsal():
        expected = fem.run(model).modes[0].omega
    assert np.isfinite(expected).all() and len(expected) == 6
    assert fem.run(model).modes[0].omega == pytest.approx(expected, rel=1e-10)
