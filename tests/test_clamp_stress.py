"""``fem.clamp_stress`` and ``fem line --bending-amplitude``: wires, the formula against a line that bends, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.errors import CommandError
from fem.lines.vibration import AT, ENDURANCE, bending_stress, clamp_stress, cycles_of, wires_of

STANDARD = {"drake": 0.1749, "gannet": 0.1601, "grosbeak": 0.1564, "dove": 0.1463}
"""Aluminium wires [in]: ASTM B232, 26/7."""


@pytest.mark.parametrize("name", STANDARD)
def test_wires_that_follow_from_area_and_diameter_are_those_of_the_standard(name):
    """Of a 26/7 the core's wires are 7/9 of the others, and A = pi/4 (26 d^2 + 7 core^2). The catalogue rounds."""
    wire, stiffness = wires_of(name)
    assert wire == pytest.approx(STANDARD[name] * 0.0254, rel=1e-3)
    whole = math.pi / 64 * (26 * 69e9 + 7 * 207e9 * (7 / 9) ** 4) * wire**4
    assert stiffness == pytest.approx(whole, rel=5e-3)


def test_drake_at_a_quarter_of_its_strength():
    """By hand: p = sqrt(35025/44.45) = 28.07, 69e9 * 4.442e-3 * p^2 / 4 / (exp(-2.498) - 1 + 2.498) = 38.2e9."""
    found = clamp_stress("Drake", 0.25 * 140.1e3, 0.1e-3)
    assert found.slope == pytest.approx(38.2e9, rel=1e-3)
    assert found.stress == pytest.approx(0.1e-3 * found.slope)
    assert found.endurance * found.slope == pytest.approx(ENDURANCE)


def test_the_safe_border_line_falls_and_meets_the_endurance_limit():
    """EPRI: 8.5 MPa lasts 5e8 cycles; the line says 8.7 MPa. Cycles never fall where the stress does."""
    assert (
        cycles_of(263e6 * 5e8**-0.17) == pytest.approx(5e8, rel=1e-9)
        and pytest.approx(8.7, abs=0.1) == 263 * 5e8**-0.17
    )
    assert cycles_of(450e6 * 1e6**-0.2) == pytest.approx(1e6, rel=1e-9)
    lives = [cycles_of(stress * 1e6) for stress in np.linspace(5.0, 60.0, 400)]
    assert all(lives[k] >= lives[k + 1] for k in range(399))


def clamped(per_length: int) -> float:
    """Curvature of a clamped line of Drake's wires at 28 kN over the deflection at 89 mm; bars within 89 mm."""
    _, stiffness = wires_of("drake")
    bars, young = 12 * per_length, 3e10
    text = f"""*NODE, NSET=ALL
1, 0, 0, 0
{bars + 1}, {12 * AT!r}, 0, 0
*NGEN, NSET=ALL
1, {bars + 1}, 1
*ELEMENT, TYPE=B31, ELSET=LINE
1, 1, 2
*ELGEN, ELSET=LINE
1, {bars}
*BEAM GENERAL SECTION, ELSET=LINE, DENSITY=1.6
1., {stiffness / young!r}, 0., {stiffness / young!r}, 0.

{young!r}, {young!r}
*BOUNDARY
1, ENCASTRE
*STEP, NLGEOM
*STATIC
0.5, 1.
*CONTROLS, RESI_GLOB_RELA=1e-9
*BOUNDARY
{bars + 1}, 3, 3, 1e-3
*CLOAD
{bars + 1}, 1, 28e3
*NODE PRINT, NSET=ALL
U, SK
*END STEP
"""
    history = fem.run(fem.parse_deck(text))
    return float(history.of_node(1, "SK")[-1] / history.of_node(1 + per_length)[-1][2])


def test_a_line_that_bends_has_the_curvature_of_the_formula_and_converges_by_the_square_of_its_bars():
    """The stress is E d/2 times the curvature, the bending amplitude twice the deflection: so 4 times the slope is
    curvature over deflection. A small motion across: 1 mm in a metre."""
    _, stiffness = wires_of("drake")
    exact = 4.0 * bending_stress(28e3, stiffness, 1.0)
    errors = [clamped(bars) / exact - 1.0 for bars in (6, 12, 24)]
    orders = np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))
    assert orders == pytest.approx(2.0, abs=0.06) and abs(errors[-1]) < 3e-3


def test_the_command_prints_stress_cycles_and_endurance(capsys):
    words = "line --section drake --tension 28020 --bending-amplitude 0.2"
    assert main(words.split()) == 0
    said = capsys.readouterr().out
    assert "EI of wires that slide 44.45 N m2" in said and "0.2 mm: 7.201 MPa" in said and "8.5 MPa: bending" in said
    for wrong, message in (
        (f"{words} --run", "needs --section NAME and --tension T, and accepts no other option"),
        ("line --section drake --sag 9 --bending-amplitude 0.2", "needs --section NAME and --tension T"),
        (words.replace("drake", "wire-90"), "section wire-90 has no core and wires in the catalogue; dove, drake"),
        (words.replace("drake", "swan"), "there is no section 'swan' in the catalogue"),
    ):
        assert main(wrong.split()) == 2 and message in capsys.readouterr().err
    with pytest.raises(CommandError, match="must be positive, got -1 and"):
        clamp_stress("drake", -1.0, 2e-4)
