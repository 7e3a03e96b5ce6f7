"""Cables that float through the surface of the water have no position of rest, and are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import fem
from fem.model.floating import floating_cables, floating_text
from fem.tools.moordyn import floating
from fem.tools.moordyn_files import read

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
    assert floating_cables(model).tolist() == [2]
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
    with pytest.raises(fem.NoConvergence, match=r"no position of rest there; leave them out, .* \(\*CLOAD\)"):
        fem.run(spar(top=2.0, bottom=0.5, mass=5.0))


FLOAT = "float      0.82     133.3      2.2e9      0            9.3e7      1.2    1.0    0.5     0.25\n"


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
