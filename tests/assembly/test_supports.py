"""Prescribed motion of supports: few dofs at few times are what many are, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.supports import Supports
from fem.model.curves import Amplitude, Constant, Follow, Ramp

TABLE = Amplitude("TABLE", points=np.array([[0.0, 0.3], [0.7, -1.0], [1.3, 2.0]]))
SMOOTH = Amplitude("SMOOTH", "SMOOTH STEP", points=np.array([[0.1, 0.0], [1.1, 3.0]]))
SHAKE = Amplitude("SHAKE", "PERIODIC", omega=3.7, start=0.2, mean=-0.4, fourier=((1.0, 0.3), (0.0, -2.0)))
CHIRP = Amplitude("CHIRP", "SWEEP", omega=2.0, omega_end=5.0, duration=1.0, fourier=((0.5, 1.5),))
CURVES = [(0, Constant(-0.7)), (0, Follow(TABLE, 0.1)), (0, Follow(SHAKE, 0.05)), (0, Follow(CHIRP, 0.0))]
GROUPS = [*CURVES, (0, Ramp(0.2, 1.2, 1.0, -3.0)), *((order, curve) for order in (1, 2) for _, curve in CURVES[:3])]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("levels", [(0, 1, 2), (0, 1), (1,)])
def test_few_dofs_at_few_times_move_as_many_do(after, levels):
    """At breaks and starts of amplitudes, too, of displacements, velocities and accelerations that are given."""
    count = len(GROUPS)
    base, rate, value = np.random.default_rng(3).standard_normal((3, count))
    supports = Supports(np.arange(count), base, rate, value, tuple(GROUPS), 0.05)
    times = np.array([0.05, 0.1, 0.25, 0.2999, 0.8, 0.9, 1.0, 1.4, 2.3])
    whole = supports.prescribed(np.arange(count), times, after, levels)
    assert whole.shape == (len(levels), len(times), count) and np.isfinite(whole).all()
    for dofs in ([0, 1], [2], [3, 4, 5], [6, 7, 8, 9, 10], []):
        for first, last in ((0, 1), (2, 4), (5, 9)):
            few = supports.prescribed(np.array(dofs, np.int64), times[first:last], after, levels)
            assert np.array_equal(few, whole[:, first:last, dofs])


PUSHED = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
1.
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*AMPLITUDE, NAME=ON, TIME=TOTAL TIME
0., 1., 9., 1.
*BOUNDARY
1, 2, 3
2, 2, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.25, 1.
*BOUNDARY, TYPE={kind}, AMPLITUDE=ON
1, 1, 1, {value}
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.25, 1.
{again}*END STEP
"""


AGAIN = "*BOUNDARY, TYPE={kind}, AMPLITUDE=ON\n1, 1, 1, {value}\n"


@pytest.mark.parametrize("again", ["", AGAIN], ids=["goes on", "repeated"])
@pytest.mark.parametrize(
    ("kind", "value", "speeds", "places"),
    [
        ("DISPLACEMENT", 0.1, (0.0, 0.0), (0.1, 0.1)),
        ("VELOCITY", 2.0, (2.0, 2.0), (2.0, 4.0)),
        ("ACCELERATION", 2.0, (2.0, 4.0), (1.0, 4.0)),
    ],
)
def test_a_support_that_is_driven_goes_on_from_its_place_and_speed(kind, value, speeds, places, again):
    """By 2 for two seconds, in two steps: 2 t, or 2 t and t^2. Displacements count from the place in the deck."""
    text = PUSHED.replace("{again}", again).format(kind=kind, value=value)
    history = fem.run(fem.parse_deck(text))
    for step, (speed, place) in enumerate(zip(speeds, places, strict=True), 1):
        last = np.flatnonzero(history.of_step(step))[-1]
        found = history.of_node(1, "V")[last, 0], history.of_node(1)[last, 0]
        assert found == pytest.approx((speed, place), rel=1e-12)
