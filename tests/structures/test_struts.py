"""``fem check``: struts that bend against their Euler load, pi^2 E I/L^2."""

import re

import numpy as np
import pytest

import fem

STRUT = """*NODE
1, 0., 0., 0.
2, 0., 0., 2.
3, 0., 0., 1.
*ELEMENT, TYPE=B31, ELSET=STRUT
{elements}
*BEAM GENERAL SECTION, ELSET=STRUT, DENSITY=7850, STRAIN=ENGINEERING
1.E-4, {inertia!r}, 0., {inertia!r}, 0.

2.E11, 8.E10
{prestress}*BOUNDARY
1, 1, 3
2, 1, 3
{clamp}*STEP, NLGEOM
*STATIC
1., 1.
*END STEP
"""
EULER = 10e3
INERTIA = EULER * 2.0**2 / (np.pi**2 * 2e11)
ONE, TWO = "5, 1, 2", "5, 1, 3\n6, 3, 2"


def pressed(force, **changes):
    """A natural length, or an initial stress, for a compression."""
    length = 2.0 / (1.0 - force / (2e11 * 1e-4))
    stress = f"*INITIAL CONDITIONS, TYPE=STRESS\nSTRUT, {-force / 1e-4!r}\n"
    what = {"elements": ONE, "prestress": f"*REST LENGTH\nSTRUT, {length!r}\n", "clamp": ""} | changes
    what["prestress"] = what["prestress"] or stress
    return fem.check(fem.parse_deck(STRUT.format(inertia=INERTIA, **what)))


@pytest.mark.parametrize("prestress", [{}, {"prestress": ""}])
@pytest.mark.parametrize("force", [5e3, 9.9e3, 10.1e3, 20e3])
def test_a_strut_against_its_euler_load(force, prestress):
    report = pressed(force, **prestress)
    (line,) = (text for text in report.description if text.startswith("struts"))
    used, given, limit = map(float, re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", line)[:3])
    assert used == pytest.approx(force / EULER, rel=6e-3)  # over its own length, longer by up to 1e-3
    assert given == pytest.approx(-force, rel=1e-5) and limit == pytest.approx(-EULER, rel=3e-3)
    assert any("Euler load" in text for text in report.findings) == (force > EULER)


@pytest.mark.parametrize(
    "changes",
    [
        {"elements": TWO, "prestress": "*INITIAL CONDITIONS, TYPE=STRESS\nSTRUT, -2.E8\n"},
        {"clamp": "1, 4, 6\n"},
        {"prestress": "*INITIAL CONDITIONS, TYPE=STRESS\nSTRUT, 2.E8\n"},
    ],
)
def test_no_strut(changes):
    """Several bars bend in the model, clamps hold more than hinges do, and what is pulled does not buckle."""
    report = pressed(20e3, **changes)
    assert not any("struts" in text for text in report.description)
    assert not any("Euler" in text for text in report.findings)


def test_the_report_of_a_run_has_the_largest_utilisation(tmp_path):
    """T over Euler's load of the strut, 20 kN of 10; without T printed the report asks for it."""
    length = 2.0 / (1.0 - 20e3 / (2e11 * 1e-4))
    what = {"elements": ONE, "prestress": f"*REST LENGTH\nSTRUT, {length!r}\n", "clamp": ""}
    text = STRUT.format(inertia=INERTIA, **what).replace("3, 0., 0., 1.\n", "")
    for asked, told in (("*EL PRINT\nT\n", "200 %"), ("*EL PRINT\nS\n", "T is not printed")):
        deck = tmp_path / "strut.inp"
        deck.write_text(text.replace("*END STEP", f"{asked}*END STEP"))
        fem.run(deck, output=tmp_path / "out")
        page = fem.report(tmp_path / "out").read_text()
        assert told in page
