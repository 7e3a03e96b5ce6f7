"""``*BUCKLE`` and ``*PLASTIC`` for other codes: factors of CalculiX, forces of OpenSees, what Abaqus reads."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.codes.compare import RUN
from fem.codes.export import files_for
from tests.codes.installed import PYTHON, skip_without

STRUCTURES = Path(__file__).parents[2] / "validation" / "structures"
BUCKLING = (STRUCTURES / "von_mises_preloaded_buckle_green.inp").read_text()
ALONE = BUCKLING[: BUCKLING.index("*STEP, NLGEOM, NAME=DEAD")] + BUCKLING[BUCKLING.index("*STEP, NAME=BUCKLING") :]


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        (ALONE, [1970.3706737]),
        (ALONE.replace("\n0.0001\n", "\n0.01\n"), [197037.06737]),
        ((STRUCTURES / "star_dome_buckle.inp").read_text(), [3.2069052646, 48.8690529819, 48.8693763967]),
    ],
)
def test_calculix_finds_our_factors(text, factors, tmp_path):
    """Closed form 2 EA h^3/L^3, and the prototype, to the seven digits of CalculiX. Thin trusses would bend before: at
    19.7, as 12 E I/L^2 of a square section."""
    skip_without("calculix")
    files, _ = files_for("calculix", fem.parse_deck(text))
    (tmp_path / "deck.inp").write_text(files["deck_calculix.inp"])
    subprocess.run([RUN["calculix"], "deck"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=60)
    rows = re.findall(r"^ +\d+ +(\S+E\S+)$", (tmp_path / "deck.dat").read_text(), re.M)
    assert [float(row) for row in rows[: len(factors)]] == pytest.approx(factors, rel=2e-7)


BARS = (STRUCTURES / "three_bars_isotropic.inp").read_text()
CYCLES = """*STEP, INC=1000, NLGEOM
*STATIC, DIRECT
0.1, 2.
*BOUNDARY, AMPLITUDE=CYCLE
4, 3, 3, -0.8
*EL PRINT
T
*END STEP
*STEP, INC=1000, NLGEOM
*STATIC, DIRECT
0.1, 1.
*BOUNDARY, AMPLITUDE=CYCLE
4, 3, 3, 0.8
*END STEP
"""
LAWS = {
    "perfect": "*PLASTIC\n250, 0.\n",
    "isotropic": "*PLASTIC\n250, 0.\n20250, 1.\n",
    "kinematic": "*PLASTIC, HARDENING=KINEMATIC\n250, 0.\n20250, 1.\n",
    "back stresses": "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n250., 30e3, 300., 5e3, 20.\n"
    "*CYCLIC HARDENING, PARAMETERS\n250., 60., 8.\n",
    "straight back stresses": "*PLASTIC, HARDENING=COMBINED, DATA TYPE=PARAMETERS\n250., 15e3, 0., 5e3, 0.\n",
}


def three_bars(law: str, rest: float | None = 400.0) -> fem.Model:
    """The middle node free to move to the sides; two steps. rest: natural length of the bar in the middle"""
    text = BARS[: BARS.index("*STEP")].replace("4, 1\n", "").replace(LAWS["isotropic"], law)
    card = f"*REST LENGTH\n2, {rest}\n" if rest is not None else ""
    return fem.parse_deck(text.replace("*BOUNDARY\n", f"{card}*BOUNDARY\n", 1) + CYCLES)


@pytest.mark.parametrize("rest", [400.0, 399.7])
@pytest.mark.parametrize("law", LAWS)
def test_opensees_yields_as_we_do(law, rest, tmp_path):
    """All forces, to its residual (UVCuniaxial stops at 1e-6 of the yield stress); also of a bar with a rest length."""
    skip_without("opensees")
    model = three_bars(LAWS[law], rest)
    files, _ = files_for("opensees", model)
    (tmp_path / "deck_opensees.py").write_text(files["deck_opensees.py"])
    subprocess.run([PYTHON, "deck_opensees.py"], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    with (tmp_path / "deck_opensees.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    history = fem.run(model)
    for element in (1, 2, 3):
        its = np.array([float(row[head.index(f"T_e{element}")]) for row in rows])
        ours = history.of_element(element, "T")
        assert np.interp([float(row[0]) for row in rows], history.time, ours) == pytest.approx(its, abs=1e-4)
    assert abs(ours).max() > 135.0 and abs(history.of_element(2, "T")).max() >= 250.0 - 1e-9


def test_opensees_has_the_published_force(tmp_path):
    """664.5090909091 down and up (kinematic) for small displacements; those of 0.8 in 400 turn the bars by 1e-3."""
    files, _ = files_for("opensees", three_bars(LAWS["kinematic"]))
    assert "2: ('Hardening', 200000.0, 250.0, 0.0, 20000.0)," in files["deck_opensees.py"]
    history = fem.run(three_bars(LAWS["kinematic"]))
    assert history.of_node(4, "RF")[10, 2] == pytest.approx(-664.5090909091, rel=2e-3)


@pytest.mark.parametrize(
    ("code", "law", "why"),
    [
        ("calculix", LAWS["isotropic"], "bars that yield"),
        ("moordyn", LAWS["isotropic"], "bars that yield"),
        ("opensees", "*PLASTIC\n250., 0.\n260., 0.1\n265., 0.2\n", "3 rows: Hardening of OpenSees is linear"),
        ("opensees", LAWS["isotropic"] + "*NO COMPRESSION\n", "a cable that yields"),
        ("opensees", LAWS["back stresses"].replace("20.\n", "0.\n", 1), "a back stress without gamma"),
        ("abaqus", LAWS["isotropic"] + "*NO COMPRESSION\n", "elastic materials"),
        (
            "abaqus",
            LAWS["straight back stresses"].replace(", 0.\n", ", 0., 1., 2., 3., 4.\n"),
            "4 back stresses",
        ),
    ],
)
def test_what_a_code_does_not_have_is_refused(code, law, why):
    with pytest.raises(fem.DeckError, match=why):
        files_for(code, three_bars(law))


def test_a_bar_that_has_yielded_is_refused():
    with pytest.raises(fem.DeckError, match="element 2 yields before the first step"):
        files_for("opensees", three_bars(LAWS["isotropic"], 398.0))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("", "", "other factors after loads"),
        ("*SOLID", "*NO COMPRESSION\n*SOLID", "cables"),
        ("*BOUNDARY\n1, 1\n", "*REST LENGTH\n1, 1.01\n*BOUNDARY\n1, 1\n", "rest lengths"),
    ],
)
def test_buckling_is_for_calculix_alone_and_of_bars(old, new, why):
    with pytest.raises(fem.DeckError, match=why):
        files_for("calculix", fem.parse_deck((ALONE if old else BUCKLING).replace(old, new)))
    with pytest.raises(fem.DeckError, match="linear buckling"):
        files_for("opensees", fem.parse_deck(ALONE))


def test_abaqus_reads_both_back():
    """The same law and the same factors; a *BUCKLE step is a perturbation there, and says how many back stresses."""
    text = files_for("abaqus", fem.parse_deck(BUCKLING))[0]["deck_abaqus.inp"]
    assert "*STEP, NAME=BUCKLING, PERTURBATION\n*BUCKLE" in text
    factors = [fem.run(fem.parse_deck(each)).buckling[-1].factor for each in (text, BUCKLING)]
    assert factors[0] == pytest.approx(factors[1], rel=1e-9)
    for law in LAWS.values():
        model = three_bars(law, None)
        text = files_for("abaqus", model)[0]["deck_abaqus.inp"]
        assert ("NUMBER BACKSTRESSES=2" in text) == (law.count(",") > 4)
        assert fem.parse_deck(text).materials["M1"].plastic == model.materials["M1"].plastic


def test_buckling_alone_is_not_compared():
    with pytest.raises(fem.CommandError, match="the deck has none"):
        fem.compare(fem.parse_deck(ALONE), ["calculix"])
