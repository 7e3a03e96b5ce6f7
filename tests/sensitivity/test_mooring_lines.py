"""Derivatives of lines in water and on a bottom: central differences of runs to round-off.

Lines, and lines in waves, compile a march of dual numbers each, for a minute; one of ropes in water serves bodies, too.
These three are all that these tests, which are long, and the decks of ``test_every_deck.py`` have of lines.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.compiled.choice import is_plain
from fem.deck import read_model
from fem.study.tracks import tracked
from tests.sensitivity.decks import BEAM, GRID, PLANE, in_waves, march_as_ropes_do, mooring, uneven

pytestmark = [pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler"), pytest.mark.long]
CURRENT = "*AQUA\n-2., 2., 9.81, 1.2\n0.4, 0.1, 0., -2.\n0.8, 0., 0., 2.\n"
DRAG = "*DLOAD\nROPE, FDD, 1., 0.04, 1.2\nROPE, FDT, 1., 0.04, 0.1\nROPE, FI, 1., 0.04, 2., 1.\n"
NAMES = ("U3_n4", "U1_n3", "U3_n5", "V3_n4", "T_e1", "T_e6", "RF1_n7", "dissipated")


def by_differences(path: Path, name: str, names: tuple[str, ...], h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """(k, c) derivatives from four runs iterated to round-off, and the difference of the two of second order that they
    are made of."""
    value, found = read_model(path).parameters[name], []
    for step in (-2.0, -1.0, 1.0, 2.0):
        model = read_model(path, {name: value * (1.0 + step * h)})
        criteria = {"residual_relative": None, "residual_absolute": None}
        steps = tuple(replace(its, controls=replace(its.controls, **criteria)) for its in model.steps)
        found.append(tracked(replace(model, steps=steps), names).values)
    near, far = (found[2] - found[1]) / (2.0 * h * value), (found[3] - found[0]) / (4.0 * h * value)
    return (4.0 * near - far) / 3.0, np.abs(near - far)


@pytest.mark.parametrize(
    ("deck", "by"),
    [
        pytest.param(mooring(), ["EA", "Cd", "mu"], id="plane"),
        pytest.param(mooring(), ["ground", "surge"], id="plane that is softer"),
        pytest.param(mooring(scheme="ENERGY MOMENTUM"), ["EA", "mu", "surge"], id="secant"),
        pytest.param(mooring(GRID), ["EA", "mu", "surge"], id="grid"),
        pytest.param(mooring(PLANE, "B31", BEAM), ["EI", "rho", "Cd"], id="bending"),
        pytest.param(in_waves(), ["Cd", "height", "period"], id="waves"),
    ],
)
def test_lines_on_a_bottom_equal_differences_of_runs(deck, by, tmp_path, monkeypatch):
    if "*WAVE" in deck:
        monkeypatch.setattr("fem.study.sensitivity.run.COMMON", ())  # in the machine code of inputs/splash_zone.inp
    (tmp_path / "grid.csv").write_text(uneven())
    compare(deck, by, NAMES, tmp_path / "line.inp")


def test_a_moored_body_equals_differences_of_runs(tmp_path, monkeypatch):
    """A buoy that is held aside, then released: moments of the water on it, ties, members of constant length."""
    deck = Path("inputs/moored_buoy.inp").read_text(encoding="utf-8")
    deck = deck.replace("bars = 20", "bars = 4").replace("duration = 10.", "duration = 0.2")
    tight = r"\1*CONTROLS, RESI_GLOB_RELA=1e-10, ENERGY DRIFT=OFF\n"
    deck = re.sub(r"(\*(?:STATIC|DYNAMIC)[^\n]*\n[^\n]*\n)", tight, deck)
    march_as_ropes_do(monkeypatch)
    compare(deck, ["offset"], ("U1_n1", "U3_n1", "V1_n1", "T_e101"), tmp_path / "buoy.inp")


def test_a_rope_on_a_drum_equals_differences_of_runs(tmp_path):
    """Bars that slide on a rigid cylinder; the force at the first end is given. A current flows along it: so it
    marches in the machine code of the other lines."""
    deck = Path("inputs/rope_on_drum.inp").read_text(encoding="utf-8")
    deck = deck.replace("*STEP", CURRENT + "*STEP", 1).replace("*CLOAD\n41,", f"{DRAG}*CLOAD\n41,")
    compare(deck, ["mu"], ("T_e10", "T_e16", "T_e32", "U3_n5", "U1_n16"), tmp_path / "drum.inp")


def test_derivatives_of_coarse_runs_are_as_right_as_these(tmp_path):
    """200 increments with a residual of 1e-6 of the forces: errors do not grow from one to the next."""
    deck = mooring().replace("RESI_GLOB_RELA=1e-9", "RESI_GLOB_RELA=1e-6").replace("0.02, 0.4", "0.02, 4.")
    compare(deck, ["Cd", "mu"], NAMES, tmp_path / "line.inp", h=1e-6, most=1e-4)


def compare(deck: str, by: list[str], names: tuple[str, ...], path: Path, h: float = 1e-4, most: float = 5e-8) -> None:
    """The derivatives of a deck, which is written to ``path``, with differences of runs."""
    path.write_text(deck)
    found = fem.sensitivity(path, by, names)
    for place, name in enumerate(by):
        expected, rest = by_differences(path, name, names, h)
        size = np.abs(expected).max(axis=0)
        off = np.abs(found.slopes[..., place] - expected).max(axis=0)
        assert np.all(off <= most * size)  # of tight runs 2e-8
        assert np.all(
            rest.max(axis=0) <= max(2e-5, most) * size
        )  # or their part of fourth order would not be below 1e-8
