"""Cables that float through the surface of the water have no position of rest, and are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import fem
from fem.codes.moordyn_account import floating
from fem.codes.moordyn_files import read
from fem.model.notices import floating_cables, floating_text

SPAR = """*NODE
1, 0., 0., -2.
2, 0., 0., -1.
3, 0., 0., {bottom}
4, 0., 0., {top}
*ELEMENT, TYPE=T3D2, ELSET=TETHER
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=SPAR
3, 3, 4
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
{mass}
{law}
*SOLID SECTION, ELSET=TETHER, MATERIAL=M
1.
*SOLID SECTION, ELSET=SPAR, MATERIAL=M
1.
*AQUA
-10., 0., 9.81, 1025.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*DLOAD
SPAR, GRAV, 9.81, 0., 0., -1.
TETHER, GRAV, 9.81, 0., 0., -1.
SPAR, PB, 1., 0.5
*END STEP
"""


def spar(top: float = 0.4, law: str = "*NO COMPRESSION", mass: float = 20.0, bottom: float = -0.2) -> fem.Model:
    return fem.parse_deck(SPAR.format(top=top, law=law, mass=mass, bottom=bottom))


def test_cables_that_float_through_the_surface_are_named() -> None:
    model = spar()
    assert floating_cables(model)[0].tolist() == [2]
    assert any("elements 3 are cables lighter than water" in text for text in fem.check(model).findings)


@pytest.mark.parametrize(
    "changes",
    [{"top": -0.1}, {"law": "*NO COMPRESSION, RATIO=0.1"}, {"law": "**"}, {"mass": 300.0}],
    ids=["below", "some stiffness in compression", "a bar", "heavier than water"],
)
def test_others_are_not(changes: dict[str, float | str]) -> None:
    assert floating_text(spar(**changes)) == ""  # type: ignore[arg-type]


@pytest.mark.long
def test_statics_says_what_cannot_be_found_and_what_to_do() -> None:
    """A spar that is far lighter than water; it used to ask for an initial stress, which it has."""
    with pytest.raises(
        fem.NoConvergence,
        match=r"no position of rest there; replace each float .* k = rho g A = 1974\.3 .* \(\*CLOAD\)",
    ):
        fem.run(spar(top=2.0, bottom=0.5, mass=5.0))


FLOATING_JOINT = """*NODE
1, 0., 0., -100.
21, 200., 0., -60.
41, 250., 0., -10.
*NGEN, LINE=CATENARY
1, 21, 1, 220.
*NGEN, LINE=CATENARY
21, 41, 1, 80.
*ELEMENT, TYPE=T3D2
1, 1, 2
*ELGEN, ELSET=LINE
1, 40
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
100.
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*AQUA
-100., 0., 9.81, 1025.
*SEABED, ELSET=LINE
1e6, 0., 0.2
*BOUNDARY
1, 1, 3
41, 1, 3
{spring}*STEP, NLGEOM, AMPLITUDE=STEP
*STATIC
*CONTROLS, RESI_GLOB_RELA=1e-10
*DLOAD
LINE, GRAV, 9.81, 0., 0., -1.
LINE, PB, 1., 0.1
*CLOAD
21, 3, {load!r}
*END STEP
"""


def test_a_float_in_the_surface_is_a_spring_and_a_load() -> None:
    """As advised: the joint rises by 58 m until lift and line agree; a dead load of that lift has the same rest."""
    stiffness, weight, start = 1e5, 1e5, -60.0
    spring = "*ELEMENT, TYPE=SPRING1, ELSET=FLOAT\n100, 21\n*SPRING, ELSET=FLOAT\n3\n{!r}\n"
    text = FLOATING_JOINT.format(spring=spring.format(stiffness), load=-weight - stiffness * start)
    place = fem.run(fem.parse_deck(text)).positions(21)[-1]
    lift = -weight - stiffness * float(place[2])
    dead = fem.run(fem.parse_deck(FLOATING_JOINT.format(spring="", load=lift))).positions(21)[-1]
    assert -4.0 < place[2] < -2.0
    assert dead == pytest.approx(place, abs=1e-6)


FLOAT = "float      0.82     133.3      2.2e9|3e9  1e8|1e8      9.3e7      1.2    1.0    0.5     0.25\n"


def test_import_names_them(tmp_path: Path) -> None:
    text = Path(__file__).parent.parent.joinpath("moordyn", "buoy.txt").read_text(encoding="utf-8")
    text = text.replace("rope       0.08", FLOAT + "rope       0.08", 1)
    text = text.replace("---------------------- LINES", "8     Free   -30  0  0.3  0  0  0  0\n--- LINES", 1)
    text = text.replace(
        "---------------------- OPTIONS", "6     float      2        8         0.63      3       -\n--- OPTIONS", 1
    )
    (tmp_path / "spar.txt").write_text(text, encoding="utf-8")
    (found,) = floating(read(tmp_path / "spar.txt"))
    assert found.startswith(
        "line 6 (float) floats and reaches the surface: without its bending stiffness, EI = 9.3e+07"
    )
    assert floating(read(Path(__file__).parent.parent / "moordyn" / "buoy.txt")) == []
