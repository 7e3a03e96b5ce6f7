"""``fem.frequencies``: the modes that a ``*FREQUENCY`` step of the deck gives, without the step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem

ROOT = Path(__file__).resolve().parents[2]
CHAIN = ROOT / "inputs" / "chain_modes.inp"


def test_it_is_what_the_step_gives():
    (asked,) = fem.run(CHAIN, parameters={"links": 30}).modes
    for found in (
        fem.frequencies(CHAIN, parameters={"links": 30}),
        fem.frequencies(CHAIN, 4, parameters={"links": 30}),
    ):
        assert np.array_equal(found.frequency, asked.frequency) and np.array_equal(found.shapes, asked.shapes)


def test_a_taut_string_without_a_static_step():
    """f_k = k/(2 L) sqrt(T / rho A): closed form of the string; n links lower them by the sine of half the phase."""
    links, length, tension, density = 40, 2.0, 500.0, 0.1
    string = fem.Builder("a string whose bars are shorter than their gaps by T/EA")
    nodes = string.nodes(np.linspace((0, 0, 0), (length, 0, 0), links + 1))
    bars = string.bars(nodes, area=1.0, modulus=1e6, density=density, strain="ENGINEERING")
    string.card("INITIAL CONDITIONS", [("ALL", tension)], type="STRESS")
    string.support(nodes, 2, 2)
    string.support(nodes[[0, -1]])
    string.dynamic(1.0, 0.01)
    found = fem.frequencies(string.model(), 3).frequency
    k = np.arange(1, 4)
    discrete = links / (np.pi * length) * np.sqrt(tension / density) * np.sin(k * np.pi / (2 * links))
    assert len(bars) == links and found == pytest.approx(discrete, rel=1e-9)
    assert found == pytest.approx(k / (2 * length) * np.sqrt(tension / density), rel=3e-3)


def test_supports_that_move_are_held():
    """The first step of this deck moves a support: its modes are those of the support at rest."""
    bar = fem.Builder("a mass on a spring whose other end is shaken")
    nodes = bar.nodes([(0, 0, 0), (1, 0, 0)])
    bar.bars(nodes, area=1.0, modulus=100.0)
    bar.masses(nodes[1], 4.0)
    bar.card("AMPLITUDE", [(0, 0, 1, 1)], name="SHAKE")
    bar.support(nodes, 2, 3)
    bar.dynamic(1.0, 0.1)
    bar.card("BOUNDARY", [(1, 1, 1, 0.2)], amplitude="SHAKE")
    assert fem.frequencies(bar.model(), 1).frequency == pytest.approx([np.sqrt(100.0 / 4.0) / (2 * np.pi)], rel=1e-12)


def test_what_cannot_be():
    with pytest.raises(fem.CommandError, match="0 modes"):
        fem.frequencies(CHAIN, 0)
    with pytest.raises(fem.CommandError, match="does not exist"):
        fem.frequencies("nowhere.inp")
    with pytest.warns(UserWarning, match="9 modes asked for, the model has 2"):
        assert len(fem.frequencies(ROOT / "inputs" / "rod_consistent.inp", 9).frequency) == 2
