"""Lift and drag over the angle of attack: the force, Den Hartog's criterion, growth, the limit cycle of one mode."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import fem
from fem.arrays import Floats
from fem.compiled import kernel
from fem.errors import DeckError
from fem.forces.galloping import coefficients

INPUTS = Path(__file__).resolve().parents[3] / "inputs"
RHO, D, L, M, K, C, CD, SLOPE = 1.2, 0.1, 10.0, 20.0, 8000.0, 12.0, 1.6, -4.4
"""A prism on springs: density, width, length, mass, stiffness, damping; C_D, and C_L' of the law near 0."""
ANGLES = np.array([-180.0, -24.0, -8.0, 8.0, 24.0, 180.0 - 1e-6])
LIFTS = np.array([0.0, 0.3, -SLOPE * np.radians(8), SLOPE * np.radians(8), -0.3, 0.0])
DECK = (
    f"""*PARAMETER
speed = 10.
angle = 0.
end = 30.
*NODE, NSET=ALL
1, 0., 0., 0.
2, {L}, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=BAR
1, 1, 2
*MATERIAL, NAME=M
*ELASTIC
1e8
*DENSITY
{M / L}
*SOLID SECTION, ELSET=BAR, MATERIAL=M
1.
*ELEMENT, TYPE=SPRING1, ELSET=SPRINGS
11, 1
12, 2
*SPRING, ELSET=SPRINGS
3
{K / 2}
*ELEMENT, TYPE=DASHPOT1, ELSET=DASHPOTS
21, 1
22, 2
*DASHPOT, ELSET=DASHPOTS
3
{C / 2}
*AQUA
-100., -50., 9.81, 1.
*WIND
{RHO}, 10., 0., <speed>, 1., 0., 0.
*DRAG LAW, NAME=ICE, BY=ANGLE
"""
    + "".join(f"{a!r}, {CD}, {c!r}\n" for a, c in zip(ANGLES.tolist(), LIFTS.tolist(), strict=True))
    + """*BOUNDARY
ALL, 1, 2
*INITIAL CONDITIONS, TYPE=VELOCITY
ALL, 3, 0.02
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.005, <end>
*DLOAD
BAR, FLD, 1., 0.1, ICE, 1., <angle>
*NODE PRINT, NSET=ALL
U, V
*END STEP
"""
)
CRITICAL = -2.0 * C / (RHO * D * L * (CD + SLOPE))
"""Den Hartog: rho U D L (C_D + C_L')/2 = -c."""


def moved(**parameters):
    return fem.run(fem.parse_deck(DECK, parameters=parameters))


def lift(angle):
    return np.interp(angle, np.radians(ANGLES), LIFTS)


def reference(speed, end):
    """The same in one dof, by DOP853: z, z' at the times."""

    def rate(_, y):
        s, alpha = np.hypot(speed, y[1]), np.arctan2(-y[1], speed)
        force = 0.5 * RHO * D * L * s * (-CD * y[1] + lift(alpha) * speed)
        return y[1], (force - C * y[1] - K * y[0]) / M

    return solve_ivp(rate, (0.0, end), (0.0, 0.02), "DOP853", rtol=1e-9, atol=1e-12, dense_output=True).sol


def test_growth_changes_its_sign_at_den_hartogs_speed():
    """exp(lambda t), lambda = -(c + rho U D L (C_D + C_L')/2)/(2 M), for motions within the first rows of the table."""
    for speed in (0.7 * CRITICAL, 1.3 * CRITICAL):
        history = moved(speed=speed, end=12.0)
        z = history.of_node(1)[:, 2]
        peaks = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] > z[2:])) + 1
        rate = np.polyfit(history.time[peaks], np.log(z[peaks]), 1)[0]
        expected = -(C + 0.5 * RHO * speed * D * L * (CD + SLOPE)) / (2.0 * M)
        assert rate == pytest.approx(expected, rel=0.01)
        assert (rate > 0.0) == (speed > CRITICAL)


def test_the_limit_cycle_is_that_of_one_mode():
    """Amplitude and motion against DOP853; both nodes move alike."""
    speed = 2.5 * CRITICAL
    history, sol = moved(speed=speed, end=40.0), reference(speed, 40.0)
    z = history.of_node(1)[:, 2]
    assert history.of_node(2)[:, 2] == pytest.approx(z, abs=1e-9)
    late = history.time > 34.0
    expected = sol(np.linspace(34.0, 40.0, 6001))[0]
    assert np.ptp(z[late]) == pytest.approx(np.ptp(expected), rel=2e-3)
    assert np.ptp(z[late]) == pytest.approx(np.ptp(z[(history.time > 26) & (history.time < 32)]), rel=2e-3)
    early = history.time < 2.0  # then the phase of 63 increments a period is off by 3 %
    assert z[early] == pytest.approx(sol(history.time[early])[0], abs=0.05 * np.abs(z[early]).max())


def test_two_spans_over_a_string_grow_against_each_other_by_den_hartogs_rate():
    """The up-down mode of the linear problem: its frequency; and rho U D/(4 M) int(-(C_D + C_L') z^2 - 2 C_D y^2), over
    its shapes, M its modal mass. Reached: 0.1 % and 1.5 %. The mode across has nearly the same frequency, so that what
    grows is between this mode and a vertical motion, whose rate is 1.7 % more."""
    history = fem.run(fem.read_deck(INPUTS / "galloping_spans.inp", parameters={"push": 5.0, "time": 33.0}))
    modes, nodes = history.modes[0], slice(0, 41)
    number = int(np.argmax([shape[10, 2] * -shape[30, 2] for shape in modes.shapes]))
    _, y, z = modes.shapes[number, nodes].T
    squares = [120.0 / 20.0 * np.sum(v[1:] ** 2 + v[1:] * v[:-1] + v[:-1] ** 2) / 3.0 for v in (y, z)]
    slope = -0.6144 / np.radians(8.0)
    size = 1.225 * 8.0 * 0.0281 / (4.0 * modes.generalized_mass[number])
    rate = size * (-(1.6 + slope) * squares[1] - 2.0 * 1.6 * squares[0])
    up, down = (history.of_node(node)[:, 2] for node in (11, 31))
    late = history.time > 7.0
    time, swing = history.time[late], 0.5 * (up - down)[late]

    def off(guess):
        size, growth, omega, phase = guess
        return size * np.exp(growth * time) * np.cos(omega * time + phase) - swing

    starts = ([0.005, 0.08, 2.0 * np.pi * modes.frequency[number], phase] for phase in np.arange(4) * np.pi / 2.0)
    found = min((least_squares(off, start) for start in starts), key=lambda each: each.cost).x
    assert found[2] / (2.0 * np.pi) == pytest.approx(modes.frequency[number], rel=3e-3)
    assert found[1] == pytest.approx(rate, rel=0.03)
    assert np.corrcoef(up[late], down[late])[0, 1] < -0.9


@pytest.mark.parametrize("angle", [0.0, 5.0, -30.0, 100.0, 190.0])
def test_ice_at_an_angle_meets_the_table_there(angle):
    """A held bar: the force of the wind on its ice; the table goes round with 360 degrees. Turning the wind about, or
    numbering the bar the other way, changes nothing: lift stays upwards."""
    still = DECK.replace("ALL, 1, 2\n", "ALL, 1, 3\n").replace("U, V\n", "RF\n").replace("ALL, 3, 0.02", "ALL, 3, 0.")
    q = 0.5 * RHO * D * 100.0 * 0.5 * L
    for old, new, way in (
        ("", "", 1.0),
        ("1, 1, 2\n", "1, 2, 1\n", 1.0),
        ("0., <speed>, 1., 0., 0.", "0., -<speed>, 1., 0., 0.", -1.0),
    ):
        text = still.replace(old, new, 1) if old else still
        if way < 0:
            text = text.replace("-<speed>", "<back>").replace("angle = 0.", "angle = 0.\nback = -10.")
        history = fem.run(fem.parse_deck(text, parameters={"angle": angle, "end": 0.01}))
        wanted = np.radians((angle + 180.0) % 360.0 - 180.0)
        assert history.of_node(1, "RF")[-1] == pytest.approx([0.0, -way * q * CD, -q * lift(wanted)], abs=2e-4 * q)


def test_the_law_is_written_as_it_is_read():
    model = fem.parse_deck(DECK)
    again = fem.parse_deck(fem.write_deck(model))
    assert again.drag_laws == model.drag_laws and again.drag_laws["ICE"].is_by_angle
    assert again.steps[0].fluid_loads == model.steps[0].fluid_loads


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", BY=ANGLE", "", "speed, force per length"),
        ("BY=ANGLE", "BY=SLOPE", "SPEED or ANGLE"),
        ("BAR, FLD, 1., 0.1, ICE, 1.", "BAR, FLD, 1., 0.1, 1.2, 1.", "FLD needs the name of a *DRAG LAW, BY=ANGLE"),
        ("BAR, FLD, 1., 0.1, ICE, 1., <angle>", "BAR, WDD, 1., 0.1, ICE", "WDD needs a *DRAG LAW by speed"),
        ("-180.0, ", "-190.0, ", "at least two angles within less than 360 degrees"),
        ("-24.0, ", "-8.0, ", "two lines have the same angle, -8"),
    ],
)
def test_what_cannot_be_is_refused(old, new, message):
    with pytest.raises(DeckError) as error:
        fem.parse_deck(DECK.replace(old, new))
    assert message in str(error.value)


@kernel
def coefficients_at(angle: float, laws: Floats, found: Floats) -> None:
    """C_D and C_L."""
    found[0], found[1], _, _ = coefficients(angle, laws, 0, laws.shape[0])


@pytest.mark.parametrize("rows", [(-100.0, 20.0, 170.0), (0.0, 90.0, 300.0), (30.0, 31.0, 45.0)])
def test_a_table_goes_round(rows):
    """Between its last row and the first one a turn later, as NumPy interpolates with a period; any number of turns."""
    laws = np.column_stack([np.radians(rows), [1.0, 2.5, 0.7], [0.3, -0.8, 0.4]])
    found = np.zeros(2)
    for degrees in np.arange(-777.0, 800.0, 25.3):
        angle = math.radians(degrees)
        expected = [np.interp(angle, laws[:, 0], laws[:, k], period=2.0 * np.pi) for k in (1, 2)]
        coefficients_at(angle, laws, found)
        assert found == pytest.approx(expected, abs=1e-9)
