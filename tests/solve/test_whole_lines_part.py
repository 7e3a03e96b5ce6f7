"""Lines that part whole: the last elements of a kind of force go, at once or one after the other, and the rest moves
on as before.
"""

from __future__ import annotations

import numpy as np
import pytest

import fem
from fem.assembly.system import assemble
from fem.deck import parse_deck
from fem.forces.families import FAMILIES, acting
from fem.forces.moments import MOMENTS
from fem.forces.twist import TWIST

MODEL = """\
*NODE, NSET=NALL
1, 0., 0., 0.
2, 1., 0., 0.
11, 0., 3., -1.
12, 1., 3., -1.05
13, 2., 3., -1.
*ELEMENT, TYPE=T3D2, ELSET=STAYS
1, 1, 2
{elements}*MATERIAL, NAME=M
*ELASTIC
1e4
*DENSITY
1.
*MATERIAL, NAME=LAW
{law}
*DENSITY
1.
*SOLID SECTION, ELSET=STAYS, MATERIAL=M
1.
{sections}*AQUA
-50., 0., 9.81, 1.
0.5, 0.3, 0., -50.
0.5, 0.3, 0., 0.
*WIND
1., 3., 0., 0., 1., 0.
{cards}*BOUNDARY
1, 1, 3
11, 1, 3
13, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.01, 0.1
*CONTROLS, ENERGY DRIFT=OFF
*DLOAD
STAYS, GRAV, 9.81, 0., 0., -1.
GOES, GRAV, 9.81, 0., 0., -1.
{loads}{removed}*NODE PRINT, NSET=NALL
U, V, CF
*EL PRINT
E, S, T
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR={integrator}
0.01, 0.05
{removed_later}*END STEP
"""
BARS = "*ELEMENT, TYPE=T3D2, ELSET=GOES\n11, 11, 12\n12, 12, 13\n"
PLAIN = "*SOLID SECTION, ELSET=GOES, MATERIAL=M{}\n1.\n"
ELASTIC = "*ELASTIC\n1e4"
POINT = "*ELEMENT, TYPE=MASS, ELSET=POINT\n15, 12\n*MASS, ELSET=POINT\n1.\n"


def bars(cards: str = "", loads: str = "", law: str = "", section: str = "") -> dict[str, str]:
    sections = PLAIN.format(section).replace("=M", "=LAW") if law else PLAIN.format(section)
    return {"elements": BARS, "sections": sections, "cards": cards, "loads": loads, "law": law or ELASTIC}


def between(kind: str, card: str, dofs: str) -> dict[str, str]:
    elements = f"*ELEMENT, TYPE={kind}, ELSET=GOES\n11, 11, 12\n12, 12, 13\n{POINT}"
    return {**bars(), "elements": elements, "sections": f"*{card}, ELSET=GOES\n{dofs}\n20.\n"}


SHIFTED = """*NO COMPRESSION
*UNIAXIAL
*LOADING DATA, TYPE=PERMANENT DEFORMATION
0., 0.
200., 0.02
*UNLOADING DATA, DEFINITION=SHIFTED CURVE
0., 0.
200., 0.01"""
BENDS = {
    **bars(),
    "elements": BARS.replace("T3D2", "B31"),
    "sections": "*BEAM SECTION, ELSET=GOES, MATERIAL=LAW, SECTION=CIRC, STRAIGHT AT REST\n0.5\n",
}
HILL = "-9, -9, -1.07\n9, -9, -1.02\n-9, 9, -1.02\n9, 9, -0.97\n"
WAVES = "*WAVE, TYPE=AIRY\n0.1, 3.\n"
CASES = {
    "FDD": bars(loads="GOES, FDD, 1., 0.1, 1.2\n"),
    "FDT": bars(loads="GOES, FDT, 1., 0.1, 0.1\n"),
    "PB": bars(loads="GOES, PB, 1., 0.1\n"),
    "WDD": bars(loads="GOES, WDD, 1., 0.1, 1.2\n"),
    "FI": bars(loads="GOES, FI, 1., 0.1, 2., 1.\n"),
    "FI, consistent": bars(loads="GOES, FI, 1., 0.1, 2., 1.\n", section=", MASS=CONSISTENT"),
    "waves": bars(WAVES, "GOES, FDD, 1., 0.1, 1.2\nGOES, FI, 1., 0.1, 2., 1.\n"),
    "seabed": bars("*SEABED, ELSET=GOES, ELEVATION=-1.02\n1e3, 1., 0.1\n0.3\n"),
    "depth grid": bars(f"*SEABED, ELSET=GOES, POINTS=4\n{HILL}1e3, 1., 0.1\n0.3\n"),
    "vortices": bars("*VIV, ELSET=GOES\n0.1, 0.8\n", "GOES, FDD, 1., 0.1, 1.2\n"),
    "cylinder": bars("*RIGID CYLINDER, ELSET=GOES, RADIUS=0.2\n1., 0., -1.22, 0., 1., 0.\n1e3, 1., 0.1\n"),
    "winch": bars(loads="*WINCH\nGOES, 0.01\n", section=", STRAIN=ENGINEERING"),
    "winch, tension": bars(loads="*WINCH, TENSION\nGOES, 30., 0.2\n", section=", STRAIN=ENGINEERING"),
    "table": bars(law=SHIFTED, section=", STRAIN=ENGINEERING"),
    "series": bars(law=f"{ELASTIC}\n*VISCOELASTIC, TIME=PRONY\n0.2, , 0.1", section=", STRAIN=ENGINEERING"),
    "dynamic stiffness": bars(
        law="*ELASTIC\n1e4\n*DYNAMIC STIFFNESS\n2e4, 2., 1e3\n*NO COMPRESSION", section=", STRAIN=ENGINEERING"
    ),
    "damped": bars(law=f"{ELASTIC}\n*DAMPING, ALPHA=0.1, BETA=1e-3"),
    "bending": {**BENDS, "law": ELASTIC},
    "bending, damped": {**BENDS, "law": f"{ELASTIC}\n*DAMPING, BETA=1e-3"},
    "rods": bars(law="*INEXTENSIBLE"),
    "ropes": bars(law="*INEXTENSIBLE\n*NO COMPRESSION"),
    "heat": bars(loads="*TEMPERATURE\nNALL, 9.\n", law=f"{ELASTIC}\n*EXPANSION\n1e-5"),
    "consistent": bars(section=", MASS=CONSISTENT"),
    "carried mass": bars("*NONSTRUCTURAL MASS, ELSET=GOES, UNITS=MASS PER LENGTH\n0.5\n"),
    "growth": bars("*MARINE GROWTH, ELSET=GOES, DIAMETER=0.1\n0.1, 1.3, -50.\n", "GOES, FDD, 1., 0.1, 1.2\n"),
    "springs": between("SPRINGA", "SPRING", ""),
    "springs of dofs": between("SPRING2", "SPRING", "1, 1"),
    "dashpots": between("DASHPOTA", "DASHPOT", ""),
}  # fmt: skip
WAYS = {
    "fail at once": "*FAILURE, TYPE=TIME\nGOES, 0.04\n",
    "fail in turn": "*FAILURE, TYPE=TIME\n11, 0.03\n12, 0.06\n",
    "are removed": "",
}


def deck_of(case: str, way: str, integrator: str = "HHT") -> str:
    """A line with one kind of force beside a pendulum that has none."""
    given = CASES[case]
    text = MODEL.format(
        **{**given, "cards": given["cards"] + WAYS[way]},
        integrator=integrator,
        removed="",
        removed_later="*MODEL CHANGE, REMOVE\nGOES\n" if way == "are removed" else "",
    )
    return text.replace("GOES, GRAV", "POINT, GRAV") if "POINT" in given["elements"] else text


def alone(integrator: str) -> fem.History:
    """The pendulum by itself."""
    text = deck_of("consistent", "are removed", integrator).replace("*MODEL CHANGE, REMOVE\nGOES\n", "")
    return fem.run(parse_deck(text), solver="DIRECT")


@pytest.fixture(scope="module")
def pendulum() -> np.ndarray:
    return alone("HHT").u[:, 1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled
def test_what_is_left_moves_as_if_the_line_had_never_been(case: str, way: str, pendulum: np.ndarray) -> None:
    found = fem.run(parse_deck(deck_of(case, way)))
    broken = [event for event in found.events if event.event == "break"]
    assert {event.element for event in broken} == {11, 12}
    # the same pendulum, solved with other neighbours: round-off of a residual of 1e-6 or better
    np.testing.assert_allclose(found.u[:, 1], pendulum, rtol=0.0, atol=1e-7)
    assert (found.elements[-1, 1:3] == 0.0).all()


def test_all_families_are_among_the_cases() -> None:
    found = set()
    for case in CASES:
        system = assemble(parse_deck(deck_of(case, "fail at once")))
        found |= {family.name for family, _ in acting(system.families)}
    others = MOMENTS, TWIST  # which act on bodies, and on lines that cannot break
    assert found == {family.name for family in FAMILIES if family not in others}


@pytest.mark.parametrize("case", ["FDD", "seabed", "table"])
def test_places_do_not_depend_on_what_is_gone(case: str) -> None:
    """The shapes of all arrays are those of the whole model."""
    model = parse_deck(deck_of(case, "fail at once"))
    whole = assemble(model)
    gone = np.ones(len(whole.family), np.bool_)
    left = assemble(model, gone)
    for name in ("pairs", "state", "touching", "directed_mass", "family"):
        assert getattr(whole, name).shape == getattr(left, name).shape, name
