"""Derivatives through impacts and other instants at which ropes and stops change."""

from __future__ import annotations

import cmath
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.compiled.choice import is_plain
from fem.study.sensitivity.duals import NoDerivative
from fem.study.tracks import tracked

pytestmark = [pytest.mark.long, pytest.mark.skipif(is_plain(), reason="dual numbers need our own compiler")]
BALLS = """*PARAMETER
c = 0.7
h = 0.9
g = 9.81
further = 0.
other = h + further
*NODE
1, 0, 0, 0
2, 0, 0, <h>
3, 1, 0, <other>
*ELEMENT, TYPE=MASS, ELSET=MASS
1, 2
2, 3
*MASS, ELSET=MASS
0.4
*NSET, NSET=BALLS
{balls}
*STOP PLANE, REF NODE=1, NSET=BALLS, RESTITUTION=<c>
0, 0, 1
*BOUNDARY
1, 1, 3
2, 1, 2
3, 1, 2
*STEP, NLGEOM, INC=10000
*DYNAMIC, DIRECT, ALPHA=0
0.02, {until}
*CONTROLS, IMPACT=EVENT
*DLOAD
MASS, GRAV, <g>, 0, 0, -1
*NODE PRINT
U
*END STEP
"""
NET = """*PARAMETER
F = 30.
m = 3.
A = 0.4
c = 0.3
w = 5.
EA = 4000.
*NODE
1, 0, 0, 0
2, 3, 0, 0
3, 1.2, 0, -1.5
4, 1.2, 0, -2.6
*ELEMENT, TYPE=T3D2, ELSET=ROPES
1, 1, 3
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=SOFT
3, 3, 4
*SOLID SECTION, ELSET=ROPES, MATERIAL=HEMP
1.
*MATERIAL, NAME=HEMP
*INEXTENSIBLE, RESTITUTION=<c>
*NO COMPRESSION
*SOLID SECTION, ELSET=SOFT, MATERIAL=RUBBER
1.
*MATERIAL, NAME=RUBBER
*ELASTIC
<EA>
*INITIAL CONDITIONS, TYPE=STRESS
SOFT, 40.
*ELEMENT, TYPE=MASS, ELSET=M
11, 3
12, 4
*MASS, ELSET=M, ALPHA=0.2
<m>
*AMPLITUDE, NAME=SHAKE, DEFINITION=PERIODIC
1, <w>, 0., 0.
0., 1.
*BOUNDARY
1, 1, 3
2, 1, 3
3, 2
4, 2
*STEP, NLGEOM
*STATIC, DIRECT
0.25, 1.
*CONTROLS, RESI_GLOB_RELA=1e-12
*DLOAD
M, GRAV, 9.81, 0, 0, -1
*CLOAD
4, 1, <F>
*END STEP
*STEP, NLGEOM, INC=10000
*DYNAMIC, DIRECT, ALPHA=0
2e-3, 0.06
*CONTROLS, IMPACT=EVENT, RESI_GLOB_RELA=1e-12
*BOUNDARY, AMPLITUDE=SHAKE
1, 3, 3, <A>
*CLOAD, OP=NEW
4, 1, 0.
*END STEP
*STEP, NLGEOM, INC=10000
*DYNAMIC, DIRECT, ALPHA=0
2e-3, 0.1
*CONTROLS, IMPACT=EVENT, RESI_GLOB_RELA=1e-12
*END STEP
"""


def height(c: complex, h: complex, g: complex, time: float) -> complex:
    """Of a ball dropped from the height h that bounces."""
    fall = cmath.sqrt(2.0 * h / g)
    t, y, v = fall, h - h, -g * fall
    if time < fall.real:
        return h - 0.5 * g * time * time
    while True:
        v = -c * v
        flight = 2.0 * v / g
        if time < (t + flight).real:
            since = time - t
            return y + v * since - 0.5 * g * since * since
        t, v = t + flight, -v


def test_derivatives_of_a_bouncing_ball_equal_those_of_its_formula():
    """By the step of a complex number, which has no round-off."""
    values = {"c": 0.7, "h": 0.9, "g": 9.81}
    found = fem.sensitivity(fem.parse_deck(BALLS.format(balls="2", until=2.0)), list(values), ["U3_n2"])
    time = found.track.time
    assert height(**values, time=2.0).real < 0.05  # the fifth flight
    for place, name in enumerate(values):
        moved = {**values, name: values[name] + 1e-30j}
        wanted = np.array([height(**moved, time=t).imag / 1e-30 - (name == "h") for t in time.tolist()])
        assert found.slopes[:, 0, place] == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max()), name


def test_a_parameter_that_takes_impacts_apart_has_no_derivative():
    model = fem.parse_deck(BALLS.format(balls="2, 3", until=0.6))
    assert fem.sensitivity(model, ["h"], ["U3_n3"]).slope("U3_n3")["h"]
    with pytest.raises(NoDerivative, match="change at one instant, which a parameter takes apart"):
        fem.sensitivity(model, ["further"], ["U3_n3"])


def fourth_order(text: str, name: str, names: list[str], given: dict[str, float], step: float) -> np.ndarray:
    """(k, c) derivatives by runs."""
    value = {**fem.parse_deck(text).parameters, **given}[name]
    moved = [{**given, name: value * (1.0 + n * step)} for n in (-2, -1, 1, 2)]
    at = [tracked(fem.parse_deck(text, each), names).values for each in moved]
    return (8.0 * (at[2] - at[1]) - (at[3] - at[0])) / (12.0 * step * value)


WATER = "*AQUA\n-50., 5., 9.81, 1000.\n*AMPLITUDE, NAME=SHAKE"
DRAG = "*DLOAD\nSOFT, FDD, 1., 0.05, 1.2\nSOFT, FI, 1., 0.05, 2., 1.\n"
PLUMB = """*NODE
21, 5, 0, 0
22, 5, 0, -1
*ELEMENT, TYPE=T3D2, ELSET=ROD
21, 21, 22
*SOLID SECTION, ELSET=ROD, MATERIAL=ROD
1.
*MATERIAL, NAME=ROD
*INEXTENSIBLE
*ELEMENT, TYPE=MASS, ELSET=M
22, 22
*BOUNDARY
21, 1, 3
22, 1, 2
"""
"""A mass that hangs on a rod beside the net: so there is a rod in all increments, and one march for all of them."""
WET = NET.replace("*AMPLITUDE, NAME=SHAKE", PLUMB + WATER).replace("*DLOAD\n", DRAG)


@pytest.mark.parametrize(("net", "by"), [(NET, ["F", "m", "A"]), (NET, ["c", "w", "EA"]), (WET, ["c", "m"])])
def test_derivatives_go_on_from_statics_through_impacts_to_the_next_step(net, by):
    names = ["U1_n3", "U3_n4", "T_e2", "E_e3", "RF3_n1", "kinetic", "external_work", "dissipated"]
    found = fem.sensitivity(fem.parse_deck(net), by, names)
    for place, name in enumerate(by):
        wanted, tolerance = fourth_order(net, name, names, {}, 1e-4), 3e-6 if name == "F" else 1e-6  # F moves little
        off, size = np.abs(found.slopes[1:, :, place] - wanted[1:]).max(axis=0), np.abs(wanted).max(axis=0)
        assert (off <= tolerance * size).all(), (name, off / size)


def test_a_rope_goes_slack_just_after_the_start_of_an_increment():
    """Its pull is interpolated then: 2e-4 s after 39.893 s, with increments of 0.083 s."""
    text, names = Path("inputs/string_pendulum_rope.inp").read_text(), ["U1_n2", "U3_n2", "V1_n2"]
    given = {"increments": 60.0, "periods": 8.5}
    found = fem.sensitivity(fem.parse_deck(text, given), ["A"], names)
    wanted = fourth_order(text, "A", names, given, 1e-5)
    assert found.slopes[-1, :, 0] == pytest.approx(wanted[-1], rel=1e-6)


BOUNCES = """*PARAMETER
h = 1.
e = 0.8
*NODE
1, 0., 0.
2, 0., <h>
*NSET, NSET=BALL
2
*ELEMENT, TYPE=MASS, ELSET=MASS
1, 2
*MASS, ELSET=MASS
0.5
*STOP PLANE, REF NODE=1, NSET=BALL, RESTITUTION=<e>
0, 1
*BOUNDARY
1, 1, 2
*STEP, NLGEOM, INC=10000
*DYNAMIC, DIRECT
0.01, 3.
*CLOAD
2, 2, -4.905
*NODE PRINT, NSET=BALL
U
*END STEP
"""


def bounced(e: float, h: float, until: float = 3.0, g: float = 9.81) -> float:
    """Displacement of a ball that falls from the height h and bounces, by formulas."""
    v = np.sqrt(2.0 * g * h)
    t = v / g
    while t + 2.0 * e * v / g < until:
        v *= e
        t += 2.0 * v / g
    left = until - t
    return float(e * v * left - 0.5 * g * left**2 - h)


def test_the_least_value_at_an_impact_is_told_from_an_extreme(tmp_path, monkeypatch, capsys):
    """The lowest point of a ball is the table, -h; an increment ends above it, by an amount that parameters change. The
    command says so; the displacement at an instant has the derivatives of the formulas."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.inp").write_text(BOUNCES)
    assert main(["run", "ball.inp", "--sensitivity", "e,h", "--quiet", "--no-vtk"]) == 0
    assert "note: min:U2_n2: beside an impact" in " ".join(capsys.readouterr().out.split())
    found = fem.sensitivity(fem.parse_deck(BOUNCES), ["e", "h"], ["U2_n2", "max:U2_n2"])
    by_formula = [
        (bounced(0.8 + de, 1.0 + dh) - bounced(0.8 - de, 1.0 - dh)) / 2e-6 for de, dh in ((1e-6, 0.0), (0.0, 1e-6))
    ]
    assert found.value("U2_n2") == pytest.approx(bounced(0.8, 1.0), rel=1e-9)
    assert list(found.slope("U2_n2").values()) == pytest.approx(by_formula, rel=1e-7)
