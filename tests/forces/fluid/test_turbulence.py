"""Wind that gusts: the force in a run is that of the table, in dynamic steps only; the card, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

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
        ("TYPE=KAIMAL", "TYPE=GUSTY", "expected TYPE= KAIMAL, VON KARMAN, DAVENPORT or VELOCITY"),
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


CSV = """time, u1, v1, u2, v2, w2
0, 10, 0, 20, 0, 0
1, 11, 1, 22, 1, 1
2, 12, 0, 24, 0, 0
3, 11, -1, 22, -1, -1
"""
MAST = "0., 0., 10.\n0., 0., 30."


def measured(tmp_path, table=CSV, places=MAST, head="TYPE=VELOCITY, INPUT=wind.csv", scheme=""):
    """The deck with a wind from a file, u of which is along x, as the line of the wind says."""
    text = DECK.format(ramp=0, scheme=scheme).replace("TYPE=KAIMAL, SEED=3, DURATION=20, CUTOFF=1, RAMP=0", head)
    (tmp_path / "wind.csv").write_text(table)
    (tmp_path / "wind.inp").write_text(text.replace("0.2, 0.15, 0.1, 100., 50., 30.", places))
    return fem.read_deck(tmp_path / "wind.inp")


def total(model, node):
    """(k, 3) mean wind and what is added to it at a node of the deck."""
    mean = 25.0 * (model.mesh.coordinates[node, 2] / 20.0) ** model.wind.power
    return model.gusts_at(np.array([node]))[0] + [0.0, mean, 0.0]


def test_a_wind_from_a_file_is_that_of_its_places_and_linear_between_them(tmp_path):
    """Node 1 is half way between both heights, node 3 at the second; beyond the ends as there. A mean wind that grows
    with the height changes nothing."""
    low, high = np.array([[10, 0, 0], [11, 1, 0], [12, 0, 0], [11, -1, 0]]), [[20, 0, 0], [22, 1, 1], [24, 0, 0]]
    high = np.array([*high, [22, -1, -1]])
    for power in (0.0, 0.2):
        model = measured(tmp_path)
        model = replace(model, wind=replace(model.wind, power=power))
        assert total(model, 2) == pytest.approx(high, abs=1e-12)
        assert total(model, 0) == pytest.approx(0.5 * (low + high), abs=1e-12)
    assert total(measured(tmp_path, places="0., 0., 25.\n0., 0., 35."), 0) == pytest.approx(low, abs=1e-12)
    single = measured(tmp_path, "0 5 1 0\n1 6 1 0\n2 7 1 0\n3 6 1 0", "", "TYPE=VELOCITY, INPUT=wind.csv")
    assert total(single, 0) == pytest.approx(np.array([[5, 1, 0], [6, 1, 0], [7, 1, 0], [6, 1, 0]]))
    assert total(single, 0) == pytest.approx(total(single, 2))
    for model in (measured(tmp_path), single):
        assert fem.parse_deck(fem.write_deck(model)).wind == model.wind


def test_the_force_of_a_wind_from_a_file_is_that_of_its_samples(tmp_path):
    """One place: at instants of samples Morison's drag of the velocity across the bar along x, v and w; A_x = 1."""
    history = fem.run(measured(tmp_path, "0 5 10 0\n1 6 12 1\n2 7 9 3\n3 6 11 2", "", "TYPE=VELOCITY, INPUT=wind.csv"))
    for time, (v, w) in zip((2.0, 3.0, 4.0, 5.0), ((9, 3), (11, 2), (10, 0), (12, 1)), strict=True):
        at = int(np.argmin(np.abs(history.time - time)))
        force = -history.of_node(1, "RF")[at]
        assert force[1:] == pytest.approx(20.0 * 0.5 * 1.2 * 0.03 * 1.1 * np.hypot(v, w) * np.array([v, w]), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": CSV.replace("u2", "speed")}, "which means nothing here"),
        ({"table": CSV.replace("2, 12", "2.5, 12")}, "samples are not evenly spaced"),
        ({"table": CSV.replace("0, 10", "1, 10", 1)}, "from time 0 on, got 4 from 1"),
        ({"table": CSV.replace("u1, v1, u2", "v1, w1, u2")}, "the table has no column u1"),
        ({"table": CSV.replace("22, 1, 1", "22, one, 1")}, "wind.csv:3:"),
        ({"table": CSV.partition("\n")[2]}, "expected time and u, v, w of 2 places, got 6 entries"),
        ({"places": "0., 0., 10."}, "a column 'u1', which means nothing here"),
        ({"places": "0., 0., 10.\n0., 0., 10."}, "places must follow each other on a straight line"),
        ({"places": MAST + "\n1., 2."}, "has lines x, y, z of places beside its file, and no others"),
        ({"head": "TYPE=VELOCITY, INPUT=wind.csv, SEED=1"}, "SEED is for the spectra of *WIND"),
        ({"head": "INPUT=wind.csv"}, "*WIND takes a file with TYPE=VELOCITY only"),
        ({"head": "TYPE=VELOCITY, INPUT=breeze.csv"}, "breeze.csv"),
    ],
)
def test_a_file_that_is_no_wind_is_refused(tmp_path, change, message):
    with pytest.raises(DeckError) as error:
        measured(tmp_path, **change)
    assert message in str(error.value)


def test_places_that_do_not_follow_a_line_are_refused(tmp_path):
    third = "\n".join(f"{line}, 1" for line in CSV.splitlines()).replace("w2, 1", "w2, u3")
    with pytest.raises(DeckError, match="places must follow each other on a straight line"):
        measured(tmp_path, third, MAST + "\n5., 0., 20.", "TYPE=VELOCITY, INPUT=wind.csv")
