"""Derivatives of motions of bars whose laws have a memory, against differences of runs."""

import numpy as np
import pytest

import fem
from fem.compiled.choice import is_plain
from fem.study.tracks import tracked
from tests.forces.test_rope_laws import KELVIN, PRONY, SCALED, SHIFTED

pytestmark = [pytest.mark.long, pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")]
DYNAMIC = "*ELASTIC\n30.\n*DYNAMIC STIFFNESS\n100., 2., 3."
YIELDING = """*ELASTIC
100.
*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS
3., 40., 20.
*CYCLIC HARDENING, PARAMETERS
3., 2., 8."""
BUCKLING = "*ELASTIC\n100.\n*BUCKLING STRENGTH\n4., 0.4, 50., 100."
HUNG = """*PARAMETER
m = 0.5
A = 0.08
P = 4.
*NODE, NSET=ALL
1, 0, 0, 0
2, 0, 0, -1
3, 0, 0, -2
*ELEMENT, TYPE=T3D2, ELSET=ROPE
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=MASS, ELSET=LOAD
3, 3
*MASS, ELSET=LOAD
<m>
*MATERIAL, NAME=M
{law}
*DENSITY
0.1
*SOLID SECTION, ELSET=ROPE, MATERIAL=M, STRAIN=ENGINEERING
1.
*BOUNDARY
1, 1, 3
ALL, 1, 2
*AMPLITUDE, NAME=UP, DEFINITION=PERIODIC
1, 9., 0., 0.
0., 1.
*STEP, NLGEOM, INC=100000
*VISCO, DIRECT
0.25, 1.
*CLOAD
3, 3, -<P>
*END STEP
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT
0.02, 1.2
*CONTROLS, RESI_GLOB_RELA=1.E-12
*BOUNDARY, AMPLITUDE=UP
1, 3, 3, <A>
*END STEP
"""
NAMES = "U3_n2", "U3_n3", "E_e1", "T_e1", "T_e2", "RF3_n1"


def central(text: str, name: str, value: float, step: float) -> np.ndarray:
    """(k, c) differences of two runs."""
    ends = [{name: value * (1.0 + side * step)} for side in (1.0, -1.0)]
    high, low = (tracked(fem.parse_deck(text, end), NAMES).values for end in ends)
    return (high - low) / (2.0 * step * value)


@pytest.mark.parametrize("law", [PRONY, KELVIN, SHIFTED, SCALED, DYNAMIC, YIELDING, BUCKLING])
def test_derivatives_equal_differences_of_runs(law):
    text = HUNG.format(law=law)
    tolerance = 2e-6 if law is DYNAMIC else 1e-6  # its slow strain is searched for, derivatives lag by one turn
    by = {"m": 0.5, "A": 0.08, "P": 4.0}
    found = fem.sensitivity(fem.parse_deck(text), list(by), list(NAMES))
    for place, (name, value) in enumerate(by.items()):
        wanted = (4.0 * central(text, name, value, 2e-5) - central(text, name, value, 4e-5)) / 3.0
        off, size = np.abs(found.slopes[1:, :, place] - wanted[1:]).max(axis=0), np.abs(wanted).max(axis=0)
        assert (off <= tolerance * size).all(), (name, off / size)
