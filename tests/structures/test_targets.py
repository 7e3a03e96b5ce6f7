"""Published structures whose numbers stand in ``targets.json``, with their sources: forces, displacements, modes."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import fem

HERE = Path(__file__).parent
TARGETS = json.loads((HERE / "targets.json").read_text())
PLACES = {"tsg_tower": 1e-8, "tsg_half_tbar": 1e-9, "star_dome_linear": 1e-9, "three_cables": 1e-6, "cts_prism": 1e-8}
"""Displacements are met to this."""
FORCES = {
    "tsg_tower": 1e-9, "tsg_half_tbar": 1e-8, "tsg_dbar": 1e-8, "dbar_winch": 1e-8, "simplex_shortened": 1e-8,
    "three_cables": 1e-6, "cts_prism": 1e-6,
}  # fmt: skip
"""Forces, as a fraction of the largest."""
LIMITS = [("star_dome_riks", "GREEN"), ("star_dome_riks", "ENGINEERING")]


@cache
def ran(name):
    return fem.run(HERE / f"{name}.inp")


@pytest.mark.parametrize("name", FORCES)
def test_forces(name):
    given, found = np.array(TARGETS[name]["T"]), ran(name).elements[-1, :, 3]
    order = np.argsort(ran(name).model.mesh.element_labels)
    np.testing.assert_allclose(found[order][: len(given)], given, atol=FORCES[name] * np.abs(given).max(), rtol=0.0)


@pytest.mark.parametrize("name", PLACES)
def test_displacements(name):
    for label, u in TARGETS[name]["u"].items():
        np.testing.assert_allclose(ran(name).of_node(int(label))[-1], u, atol=PLACES[name], rtol=1e-8)


def test_the_shortened_simplex():
    history = ran("simplex_shortened")
    for label, x in TARGETS["simplex_shortened"]["x"].items():
        np.testing.assert_allclose(history.positions(int(label))[-1], x, atol=1e-6)


@pytest.mark.parametrize(("name", "digits"), [("tsg_tower_modes", 1e-6), ("vm53_string", 1e-7)])
def test_natural_frequencies(name, digits):
    given = TARGETS[name]["hz"]
    found = fem.run(HERE / f"{name}.inp").modes[-1].frequency[: len(given)]
    np.testing.assert_allclose(np.abs(found), given, rtol=digits)


def test_an_isolated_cable():
    """Jayaraman and Knudson 1981: the displacement by the second load."""
    history = ran("isolated_cable")
    ends = [history.of_node(17)[np.flatnonzero(history.step == step)[-1]] for step in (1, 2)]
    np.testing.assert_allclose(ends[1] - ends[0], TARGETS["isolated_cable"]["step2_minus_step1"]["17"], atol=1e-6)


@pytest.mark.parametrize(("name", "strain"), LIMITS)
def test_limit_loads_of_the_dome(name, strain):
    text = (HERE / f"{name}.inp").read_text().replace("GREEN", strain)
    history = fem.run(fem.parse_deck(text))
    limit = next(event.load_factor for event in history.events if event.event == "limit")
    assert limit == pytest.approx(TARGETS[name]["first_limit"][strain], rel=1e-8)


@pytest.mark.parametrize("strain", ["GREEN", "ENGINEERING"])
def test_limit_loads_of_two_bars(strain):
    text = (HERE / "von_mises_riks.inp").read_text().replace("STRAIN=ENGINEERING", f"STRAIN={strain}")
    history = fem.run(fem.parse_deck(text))
    limit = next(event.load_factor for event in history.events if event.event == "limit")
    assert 400.0 * limit == pytest.approx(TARGETS["von_mises_riks"]["first_limit_force"][strain], rel=1e-8)
