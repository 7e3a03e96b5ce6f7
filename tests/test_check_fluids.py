"""``fem check`` of bars in water and wind."""

from __future__ import annotations

import re

import numpy as np
import pytest

from fem.deck import parse_deck
from fem.show.checking import check

DECK = """*NODE
1, 0, 0, 0
2, 3, 0, -4
3, 6, 0, -8
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
2, 2, 3
*MATERIAL, NAME=STEEL
*ELASTIC
1e9
*DENSITY
8000
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=STEEL
0.01
*AQUA
-100, 0, 10, 1000
2, 0, 0, 0
0.5, 0, 0, -8
*WIND
1.2, 10, 20, 0
*AMPLITUDE, NAME=TIDE, DEFINITION=PERIODIC
1, 1, 0, 0.5
1., 0.
*BOUNDARY
1, 1, 3
3, 1, 3
*STEP, NLGEOM
*DYNAMIC, {procedure}
1e-4, 1
*DLOAD
LINE, GRAV, 10, 0, 0, -1
{loads}*END STEP
"""


def report(loads, procedure="DIRECT"):
    return str(check(parse_deck(DECK.format(loads=loads, procedure=procedure))))


def numbers(text, name):
    (line,) = (line for line in text.splitlines() if line.startswith(name))
    return [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", line)]


def test_weight_sinking_stream_and_drag_are_those_of_the_formulas():
    """w = 800 less 10000 pi 0.04/4, sqrt(2 w/(rho D Cd)); the tide makes the current faster by a half."""
    found = numbers(report("LINE, PB, 1., 0.2\nLINE, FDD, 1., 0.2, 1.5, 1., TIDE\n"), "in water")
    weight = 800.0 - 10000.0 * np.pi * 0.01
    assert found == pytest.approx(
        [weight, 10 * weight, 3.0, 150.0 * 9.0, np.sqrt(weight / 150.0), 150.0 * 9.0 / weight], rel=1e-3
    )


def test_buoyancy_alone_tells_the_weight():
    weight = 800.0 - 10000.0 * np.pi * 0.01
    assert numbers(report("LINE, PB, 1., 0.2\n"), "in water") == pytest.approx([weight, 10 * weight], rel=1e-4)


def test_advice_against_ringing_is_for_what_does_not_damp():
    wet = "LINE, PB, 1., 0.2\n"
    assert "RHO=0.4" in report(wet)
    assert "RHO=0.4" not in report(wet, "DIRECT, TIME INTEGRATOR=GENERALIZED ALPHA, RHO=0.4")


def test_waves_are_told_with_length_steepness_and_depth():
    """Deep water: L = g T^2/(2 pi), and Miche's limit is 0.142; of a sea those of its peak."""
    waves = "*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, 6, 0, 0, 1\n*WAVE, TYPE=AIRY\n2., 20.\n"
    deck = DECK.replace("*WIND", waves + "*WAVE, TYPE=JONSWAP, SEED=1, COMPONENTS=50\n3., 9.\n*WIND")
    lines = str(check(parse_deck(deck.format(loads="", procedure="DIRECT")))).splitlines()
    told = [line for line in lines if line.startswith("waves")]
    length = 10.0 * 36.0 / (2.0 * np.pi)
    assert numbers(told[0], "waves") == pytest.approx([1.5, 6.0, 90.0, length, 3.0 / length, 100.0 / length], rel=5e-3)
    assert "would break (above 0.142)" in told[1] and "break" not in told[0] + told[2]
    assert "Hs 3, Tp 9, 50 regular waves" in told[2] and f"length {10.0 * 81.0 / (2.0 * np.pi):.4g}"[:9] in told[2]
    assert all("(deep)" in line for line in told)
    ratio = np.linspace(0.2, 40.0, 400_001)  # of the spectrum: m0/m2 of 0.5 to 4 peak frequencies and of all
    spectrum = (
        ratio**-5
        * np.exp(-1.25 * ratio**-4)
        * 3.3 ** np.exp(-0.5 * ((ratio - 1) / np.where(ratio <= 1, 0.07, 0.09)) ** 2)
    )
    inside = (ratio >= 0.5) & (ratio <= 4.0)
    own = 9.0 * np.sqrt(spectrum[inside].sum() / (spectrum * ratio**2)[inside].sum())
    assert float(told[2].split("Tz ")[1].split()[0]) == pytest.approx(own, rel=1e-3)
    assert "(3.1 % longer than that of the whole spectrum)" in told[2]


def test_waves_add_their_speed_to_the_stream():
    """At the surface, in deep water: a omega of regular waves, four standard deviations of a sea."""
    load = "LINE, FDD, 1., 0.2, 1.5\n"
    deck = DECK.replace("*WIND", "*WAVE, TYPE=AIRY, WAVE PERIOD\n1.5, 6.\n0.5, 3.\n*WIND")
    stream = numbers(str(check(parse_deck(deck.format(loads=load, procedure="DIRECT")))), "in water")[2:]
    waves = 2.0 * np.pi * (1.5 / 6.0 + 0.5 / 3.0)
    assert stream[:2] == pytest.approx([2.0, waves], rel=1e-3)
    assert stream[-1] == pytest.approx(150.0 * (2.0 + waves) ** 2 / 800.0, rel=1e-3)
    deck = DECK.replace("*WIND", "*WAVE, TYPE=JONSWAP, SEED=1\n3., 6.\n*WIND")
    model = parse_deck(deck.format(loads=load, procedure="DIRECT"))
    omega, _, amplitude = model.sea[:, :3].T
    spread = np.sqrt(0.5 * np.sum((amplitude * omega) ** 2))
    assert numbers(str(check(model)), "in water")[3] == pytest.approx(4.0 * spread, rel=1e-3)


def test_gusts_and_drag_over_the_angle_have_lines():
    """C_D + dC_L/dalpha of the table at the angle of the ice, also where it goes round; gusts with their sizes."""
    gusty = "*WIND, TYPE=KAIMAL, SEED=1, DURATION=600, CUTOFF=2\n1.2, 10, 20, 0\n0.2, 0.1, 0, 100, 50\n"
    law = "*DRAG LAW, NAME=ICE, BY=ANGLE\n-90, 1.5, 0\n0, 1, -2\n90, 1.5, 0\n"
    text = DECK.replace("*WIND\n1.2, 10, 20, 0\n", gusty + law)
    text = text.replace("0, 0, -", "0, 0, ").replace("3, 0, -4", "3, 0, 4").replace("6, 0, -8", "6, 0, 8")
    for angle, expected, word in ((-10, -0.2177, "grows"), (10, 2.329, "does not"), (180, 1.5, "does not")):
        loads = f"LINE, FLD, 1., 0.2, ICE, 1., {angle}\n"
        found = str(check(parse_deck(text.format(procedure="DIRECT", loads=loads))))
        (line,) = (line for line in found.splitlines() if line.startswith("in wind"))
        assert f"{expected:.4g} at {angle} degrees: vertical motion {word}" in line
    (line,) = (line for line in found.splitlines() if line.startswith("gusts"))
    assert "KAIMAL, mean speed 20, standard deviations 4, 2, of which the table has" in line
