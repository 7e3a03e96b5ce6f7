"""Derivatives of motions in which elements break."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem
from fem.compiled.choice import is_plain
from fem.study.sensitivity.duals import NoDerivative

pytestmark = [pytest.mark.long, pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")]
BETWEEN = """*HEADING
A mass between two springs is pulled more and more; the lower one breaks
*PARAMETER
limit = 60.
k1 = 4000.
k2 = 3000.
m = 2.
rate = 400.
dt = 1e-4
*NODE
1, 0,0,0
2, 0,0,-1
3, 0,0,-2
*ELEMENT, TYPE=T3D2, ELSET=A
1, 1, 2
*ELEMENT, TYPE=T3D2, ELSET=B
2, 3, 2
*MATERIAL, NAME=M1
*ELASTIC
<k1>
*MATERIAL, NAME=M2
*ELASTIC
<k2>
*SOLID SECTION, ELSET=A, MATERIAL=M1, STRAIN=ENGINEERING
1.
*SOLID SECTION, ELSET=B, MATERIAL=M2, STRAIN=ENGINEERING
1.
*ELEMENT, TYPE=MASS, ELSET=M
11, 2
*MASS, ELSET=M, ALPHA=1.
<m>
*FAILURE, TYPE=TENSION
2, <limit>
*AMPLITUDE, NAME=UP
0., 0., 10., 10.
*BOUNDARY
1, 1, 3
3, 1, 3
2, 1, 2
*STEP, NLGEOM, INC=1000000
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK
<dt>, 0.6
*CLOAD, AMPLITUDE=UP
2, 3, <rate>
*NODE PRINT
U, V
*EL PRINT
T
*END STEP
"""
VALUES = {"limit": 60.0, "k2": 3000.0, "m": 2.0}


def at_end(limit: float, k2: float, m: float, k1: float = 4000.0, rate: float = 400.0) -> np.ndarray:
    """(2,) displacement and velocity at 0.6 s, the instant of the break located."""
    accuracy = {"rtol": 1e-12, "atol": 1e-14, "method": "DOP853"}

    def breaks(t, y):
        return k2 * y[0] - limit

    breaks.terminal = True
    pull = [lambda t, y, k=k: (y[1], (rate * t - k * y[0]) / m - y[1]) for k in (k1 + k2, k1)]
    first = solve_ivp(pull[0], (0.0, 0.6), (0.0, 0.0), events=breaks, **accuracy)
    assert first.status == 1
    return solve_ivp(pull[1], (first.t[-1], 0.6), first.y[:, -1], **accuracy).y[:, -1]


def test_the_instant_of_a_break_moves_with_parameters():
    """Differences of the runs themselves jump; those of the motion with a located break do not. The break of the run
    is up to an increment late, 1e-4 s of 0.56 s."""
    found = fem.sensitivity(fem.parse_deck(BETWEEN), list(VALUES), ["U3_n2", "V3_n2"])
    for place, (name, value) in enumerate(VALUES.items()):
        steps = [at_end(**{**VALUES, name: value * (1.0 + n * 1e-4)}) for n in (-2, -1, 1, 2)]
        wanted = (8.0 * (steps[2] - steps[1]) - (steps[3] - steps[0])) / (12e-4 * value)
        assert found.slopes[-1, :, place] == pytest.approx(wanted, rel=0.01), name


def test_rows_before_the_break_are_those_of_a_run_without_it():
    text = BETWEEN.replace("*FAILURE, TYPE=TENSION\n2, <limit>\n", "*FAILURE, TYPE=TIME\n2, 0.3\n")
    whole = BETWEEN.replace("*FAILURE, TYPE=TENSION\n2, <limit>\n", "")
    broken, unbroken = (fem.sensitivity(fem.parse_deck(each), ["k2", "m"], ["U3_n2", "T_e2"]) for each in (text, whole))
    last = int(np.flatnonzero(broken.track.time < 0.3 + 1e-9)[-1])
    assert broken.slopes[: last + 1] == pytest.approx(unbroken.slopes[: last + 1], rel=1e-9, abs=1e-15)
    assert np.abs(broken.slopes[-1] - unbroken.slopes[-1]).max() > 1e-6


def test_a_time_of_a_break_that_a_parameter_moves_is_refused():
    text = BETWEEN.replace("*FAILURE, TYPE=TENSION", "*FAILURE, TYPE=TIME").replace("limit = 60.", "limit = 0.3")
    with pytest.raises(NoDerivative, match="a parameter moves the time at which an element breaks"):
        fem.sensitivity(fem.parse_deck(text), ["limit"], ["U3_n2"])
