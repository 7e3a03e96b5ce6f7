"""Cylinders: a rope hauled over a drum, a string that winds round a post, their tops."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.deck import parse_deck
from tests.decks import run_text
from tests.forces.test_seabed import books, chain

INPUTS = Path(__file__).resolve().parents[2] / "inputs"
STRING = """*NODE, NSET=ALL
1, 0., 0., 0.
21, 1., 0., 0.
*NGEN, NSET=ALL
1, 21, 1
*ELEMENT, TYPE=T3D2, ELSET=STRING
1, 1, 2
*ELGEN, ELSET=STRING
1, 20
*ELEMENT, TYPE=MASS, ELSET=BOB
30, 21
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=M
*ELASTIC
1e5
*DENSITY
0.05
*NO COMPRESSION
*SOLID SECTION, ELSET=STRING, MATERIAL=M
1.
*RIGID CYLINDER, ELSET=STRING, RADIUS=0.06
0., -1., -0.4, 0., 1., -0.4
1e9, {damping}, 0.01
{friction}
*BOUNDARY
1, 1, 3
ALL, 2
*STEP, NLGEOM, INC=100000
*DYNAMIC, DIRECT, TIME INTEGRATOR=ENERGY MOMENTUM
0.001, 0.9
*DLOAD
STRING, GRAV, 9.81, 0., 0., -1.
*CLOAD
21, 3, -9.81
*NODE PRINT, NSET=ALL, FREQUENCY=10
U, CFORCE
*END STEP
"""


def test_a_drum_holds_back_as_a_capstan_does():
    """Statics of a chain: (1 + mu tan(d/2))/(1 - mu tan(d/2)) at each of its corners; exp(mu pi) to 1e-3."""
    bars, mu = 30, 0.3
    history = fem.run(INPUTS / "rope_on_drum.inp")
    corner = mu * math.tan(0.5 * math.pi / bars)
    ratio = history.of_element(bars + 2, "T")[-1] / history.of_element(1, "T")[-1]
    assert ratio == pytest.approx(((1.0 + corner) / (1.0 - corner)) ** bars, rel=1e-4)
    assert ratio == pytest.approx(math.exp(mu * math.pi), rel=1e-3)
    force = sum(history.of_node(label, "CFORCE")[-1] for label in range(1, bars + 2))
    assert force[2] == pytest.approx(1000.0 * (1.0 + ratio), rel=1e-4)


def test_statics_books_the_work_of_friction_on_a_drum():
    """What the support and the weight do, less what the rope stores: 3 J of 3.1 J, and none was booked."""
    history = fem.run("inputs/rope_on_drum.inp")
    step = history.of_step(2)
    pull, way = history.of_node(42, "reactions")[step, 2], history.of_node(42, "u")[step, 2]
    weight = 1000.0 * (history.of_node(41, "u")[step, 2][-1] - history.of_node(41, "u")[step, 2][0])
    done = float(np.sum(0.5 * (pull[1:] + pull[:-1]) * np.diff(way))) - weight
    work, lost = history.of_energy("external_work")[step], history.of_energy("dissipated")[step]
    assert work[-1] - work[0] == pytest.approx(done, rel=1e-5)
    assert lost[-1] - lost[0] == pytest.approx(done - np.ptp(history.of_energy("strain")[step][[0, -1]]), rel=1e-5)


@pytest.mark.parametrize("damping, friction", [("0.", "0."), ("1e5", "0.3")])
def test_a_string_winds_round_a_post(damping, friction):
    """Its energy is kept to round-off, or what is lost is dissipated; no node comes far into the post."""
    history = run_text(STRING.format(damping=damping, friction=friction))
    assert books(history) < 1e-9
    places = np.array([history.positions(label) for label in range(1, 22)])
    depth = 0.06 - np.hypot(places[..., 0], places[..., 2] + 0.4)
    assert (depth > 0.0).any() and depth.max() < 1e-3
    length = np.linalg.norm(np.diff(places, axis=0), axis=2).sum(axis=0)
    assert length == pytest.approx(1.0, abs=2e-3)
    lost = history.of_energy("dissipated")
    assert np.abs(lost).max() < 1e-9 if friction == "0." else lost[-1] > 0.03


@pytest.mark.parametrize("integrator", ["GENERALIZED ALPHA", "ENERGY MOMENTUM"])
def test_the_top_of_a_cylinder_is_a_plane(integrator):
    """To a chain along it that lands, sinks in, is damped, slides and stops."""
    rows = "1, 1, 0.6\n2, 1, 0.6\n3, 1, 0.6"
    text = chain(rows, 0.01, bottom="1e6, 2e4, 0.1\n0.3, 0.3, 2e-4", integrator=integrator, period=0.15)
    top = "*RIGID CYLINDER, ELSET=CHAIN, RADIUS=3.\n0., 0., -3., 1., 0., -3."
    on_plane, on_top = run_text(text), run_text(text.replace("*SEABED, ELSET=CHAIN, ELEVATION=0.", top))
    assert on_top.u[-1] == pytest.approx(on_plane.u[-1], abs=1e-9)
    assert on_top.of_energy("dissipated")[-1] == pytest.approx(on_plane.of_energy("dissipated")[-1], rel=1e-6)


def test_bars_longer_than_the_radius_are_told():
    text = chain(bottom="1e6, 0., 0.1").replace("*SEABED, ELSET=CHAIN, ELEVATION=0.", "{}\n0., 0., {}, 0., 1., {}")
    assert not parse_deck(text.format("*RIGID CYLINDER, RADIUS=1.", -1.0, -1.0)).notices
    (told,) = parse_deck(text.format("*RIGID CYLINDER, RADIUS=0.8", -0.8, -0.8)).notices
    assert "bars of up to 1 are longer than the radius 0.8" in told and "cut 0.176 deep" in told
