"""What a command file of Code_Aster says, by commands that keep their arguments: it cannot be run here.

The mass matrix of its CABLE is that of a bar whose middle carries all of it, a quarter of rho A L in each block
(MECABL2 of its sources), which is MASS=ONE POINT here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fem.codes.export import files_for
from fem.deck import parse_deck

DECK = """*NODE
1, 0., 0., 0.
2, 1., 0., 0.
3, 3., 0., 0.
4, 4., 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=POINTS
1, 1, 2
2, 2, 3
*ELEMENT, TYPE=T3D2, ELSET=LUMPS
3, 3, 4
*ELEMENT, TYPE=MASS, ELSET=BOB
4, 3
*MASS, ELSET=BOB
5.
*MATERIAL, NAME=STEEL
*ELASTIC
2e5
*DENSITY
4.
*NO COMPRESSION, RATIO=0.25
*SOLID SECTION, ELSET=POINTS, MATERIAL=STEEL, MASS=ONE POINT
0.5
*SOLID SECTION, ELSET=LUMPS, MATERIAL=STEEL
0.5
*AMPLITUDE, NAME=PULSE, TIME=TOTAL TIME
0., 0., 1., 0., 1.5, 1.
*BOUNDARY
1, 1, 3
4, 1, 3
*STEP, NLGEOM
*STATIC, DIRECT
0.3, 1.
*DLOAD
, GRAV, 10., 0., 0., -1.
*CONTROLS, ITER_GLOB_MAXI=30
*END STEP
*STEP, NLGEOM
*DYNAMIC, DIRECT, TIME INTEGRATOR=NEWMARK, BETA=0.3025, GAMMA=0.6
0.1, 0.7
*CONTROLS, ITER_GLOB_MAXI=40
*BOUNDARY, AMPLITUDE=PULSE
4, 1, 1, 0.4
*END STEP
"""
STATICS, MOTION = "STAT_NON_LINE", "DYNA_NON_LINE"


class Commands(dict[str, Any]):
    """Every name that is not assigned is a command, which returns its own name and its arguments."""

    def __missing__(self, name: str) -> Any:
        return lambda **given: {"": name, **given}


@pytest.fixture(scope="module")
def said() -> Commands:
    found = Commands(__builtins__={})
    exec(files_for("code_aster", parse_deck(DECK))[0]["deck_code_aster.comm"], found)
    return found


def at(result: dict[str, Any], time: float) -> dict[tuple[str, str], float]:
    """Supports and forces at an instant of a step, by node and component."""
    found: dict[tuple[str, str], float] = {}
    for each in result["EXCIT"]:
        curve, factor = each.get("FONC_MULT"), 1.0
        if curve:
            assert curve["PROL_DROITE"] == curve["PROL_GAUCHE"] == "CONSTANT"  # as ``np.interp``
            factor = float(np.interp(time, curve["VALE"][::2], curve["VALE"][1::2]))
        for row in (*each["CHARGE"].get("DDL_IMPO", ()), *each["CHARGE"].get("FORCE_NODALE", ())):
            node = row["GROUP_NO"].removeprefix("FEM_N")
            for name in row.keys() & {"DX", "DY", "DZ", "FX", "FY", "FZ"}:
                assert (node, name) not in found
                found[node, name] = factor * row[name]
    return found


def test_supports_and_weights_are_those_of_the_deck(said: Commands) -> None:
    """Static loads grow with time; 8 kg of bars, 5 of the bob; the support rises by 0.4 from t = 1 to 1.5 and stays."""
    for name, time, share, moved in (("RESU1", 0.5, 0.5, 0.0), ("RESU1", 1.0, 1.0, 0.0), ("RESU2", 1.25, 1.0, 0.2),
                                     ("RESU2", 1.7, 1.0, 0.4)):  # fmt: skip
        found = at(said[name], time)
        held = {("1", "DX"): 0.0, ("1", "DY"): 0.0, ("1", "DZ"): 0.0, ("4", "DY"): 0.0, ("4", "DZ"): 0.0}
        assert {key: value for key, value in found.items() if key[1][0] == "D"} == pytest.approx(
            held | {("4", "DX"): moved}, abs=1e-12
        )
        weights = {"1": 1.0, "2": 3.0, "3": 2.0 + 1.0 + 5.0, "4": 1.0}
        assert {key: value for key, value in found.items() if key[1][0] == "F"} == pytest.approx(
            {(node, "FZ"): -10.0 * share * mass for node, mass in weights.items()}
        )


def test_cables_and_points_have_the_mass_of_the_deck(said: Commands) -> None:
    """2 and 4 kg of the cables with one point, a quarter in each block; the other cable is a mass at its nodes."""
    cables = {each["GROUP_MA"]: each["MATER"] for each in said["CHMAT"]["AFFE"]}
    area = {each["GROUP_MA"]: each["SECTION"] for each in said["CARA"]["CABLE"]}
    assert [cables[name]["ELAS"]["RHO"] * area[name] for name in ("FEM_CAB1", "FEM_CAB2")] == [2.0, 0.0]
    assert [cables[name]["ELAS"]["E"] * area[name] for name in ("FEM_CAB1", "FEM_CAB2")] == pytest.approx([1e5, 1e5])
    assert {each["CABLE"]["EC_SUR_E"] for each in cables.values()} == {0.25}
    points = {each["GROUP_MA"].removeprefix("FEM_P"): each["VALE"] for each in said["CARA"]["DISCRET"]}
    assert points == pytest.approx({"3": 5.0 + 1.0, "4": 1.0})


def test_a_step_goes_on_from_the_one_before_with_its_own_numbers(said: Commands) -> None:
    first, second = said["RESU1"], said["RESU2"]
    assert [first[""], second[""]] == [STATICS, MOTION]
    assert "ETAT_INIT" not in first and second["ETAT_INIT"]["EVOL_NOLI"] is first
    assert [each["CONVERGENCE"]["ITER_GLOB_MAXI"] for each in (first, second)] == [30, 40]
    scheme = second["SCHEMA_TEMPS"]
    assert (scheme["SCHEMA"], scheme["BETA"], scheme["GAMMA"]) == ("NEWMARK", 0.3025, 0.6)
    three, rest = first["INCREMENT"]["LIST_INST"]["INTERVALLE"]  # 0.3 does not divide 1
    assert (three["NOMBRE"], rest["NOMBRE"]) == (3, 1)
    assert (three["JUSQU_A"], rest["JUSQU_A"]) == pytest.approx((0.9, 1.0))
    whole = second["INCREMENT"]["LIST_INST"]
    assert whole["DEBUT"] == 1.0 and whole["INTERVALLE"]["NOMBRE"] == 7
    assert whole["INTERVALLE"]["JUSQU_A"] == pytest.approx(1.7)
