"""Wind that gusts: the force in a run is that of the table, in dynamic steps only; the card, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import fem
from fem.errors import DeckError

DECK = """*NODE, NSET=ALL
1, 0., 0., 20.
2, 40., 0., 20.
3, 40., 10., 30.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=M
*ELASTIC
1e7
*DENSITY
1.
*SOLID SECTION, ELSET=LINE, MATERIAL=M
1.
*WIND, TYPE=KAIMAL, SEED=3, DURATION=20, CUTOFF=1, RAMP={ramp}
1.2, 20., 0., 25., 1., 0., 0.
0.2, 0.15, 0.1, 100., 50., 30.
*BOUNDARY
ALL, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
1, WDD, 1., 0.03, 1.1
*NODE PRINT, NSET=ALL
RF
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT{scheme}
0.05, 30.
*END STEP
"""


@pytest.mark.parametrize("scheme", ["", ", TIME INTEGRATOR=ENERGY MOMENTUM"])
def test_a_held_bar_feels_the_table(scheme):
    """Its reaction is Morison's drag of the gusts at both Gauss points, whatever time the table is asked for: it
    repeats itself after 20 s. ENERGY MOMENTUM takes the middle of the increment."""
    model = fem.parse_deck(DECK.format(ramp=0, scheme=scheme))
    history = fem.run(model)
    wanted = history.time - (0.025 if scheme else 0.0)
    table = model.gusts_at(np.array([0, 1]))
    count, dt = table.shape[1], 20.0 / table.shape[1]
    times = np.arange(-2, 2 * count) * dt
    wrapped = table[:, np.arange(-2, 2 * count) % count]
    slopes = (np.roll(wrapped, -1, axis=1) - np.roll(wrapped, 1, axis=1)) / (2.0 * dt)
    v = CubicHermiteSpline(times, wrapped, slopes, axis=1)(wanted) + np.array([0.0, 25.0, 0.0])
    v[..., 0] = 0.0  # the bar lies along x
    expected = np.zeros_like(v[0])
    for xi in (0.5 - np.sqrt(3) / 6, 0.5 + np.sqrt(3) / 6):
        at = (1.0 - xi) * v[0] + xi * v[1]
        expected += (1.0 - xi) * 20.0 * 0.5 * 1.2 * 0.03 * 1.1 * np.linalg.norm(at, axis=1)[:, None] * at
    after = history.time > 1.06
    assert -history.of_node(1, "RF")[after] == pytest.approx(expected[after], rel=1e-9, abs=1e-9)
    still = 20.0 * 0.5 * 1.2 * 0.03 * 1.1 * 25.0**2
    assert history.of_node(1, "RF")[np.searchsorted(history.time, 1.0)] == pytest.approx([0.0, -still, 0.0])


def test_gusts_rise_and_go_where_the_wind_goes():
    """RAMP is in total time; amplitudes A_x multiply mean wind and gusts; loads of another wind direction turn them."""
    late = fem.run(fem.parse_deck(DECK.format(ramp=1000, scheme="")))
    force = late.of_node(1, "RF")[:, 1]
    assert np.abs(force - force[1]).max() < 0.01 * abs(force[1])
    turned = DECK.format(ramp=0, scheme="").replace("0., 25., 1., 0., 0.", "25., 0., 0., 1., 0.")
    one, other = (fem.parse_deck(text).gusts_at(np.array([0, 1])) for text in (DECK.format(ramp=0, scheme=""), turned))
    assert other == pytest.approx(one, abs=1e-9)


def test_the_card_is_written_as_it_is_read():
    model = fem.parse_deck(DECK.format(ramp=4, scheme=""))
    again = fem.parse_deck(fem.write_deck(model))
    assert again.wind == model.wind and again.wind.gusts.decay == (16.0, 10.0) and again.wind.gusts.ramp == 4.0
    assert any("% of the variances of their spectra" in notice for notice in model.notices)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TYPE=KAIMAL", "TYPE=GUSTY", "expected TYPE= KAIMAL, VON KARMAN or DAVENPORT"),
        ("SEED=3, ", "", "turbulence of *WIND needs SEED="),
        (", CUTOFF=1", "", "turbulence of *WIND needs CUTOFF="),
        ("CUTOFF=1", "CUTOFF=0.04", "no frequency is between 1/DURATION and CUTOFF"),
        ("0.2, 0.15, 0.1, 100., 50., 30.\n", "", "needs two data lines, got 1"),
        ("0.1, 100., 50., 30.", "0.1, 100., 50.", "gusts w have no length scale"),
        ("20., 0., 25., 1., 0., 0.", "20., 0., 0., 1., 0., 0.", "turbulence needs a mean wind"),
        ("0.2, 0.15", "-0.2, 0.15", "I_u"),
    ],
)
def test_what_cannot_be_is_refused(old, new, message):
    with pytest.raises(DeckError) as error:
        fem.parse_deck(DECK.format(ramp=0, scheme="").replace(old, new))
    assert message in str(error.value)
