"""Polyester by the Syrope model: files of MoorDyn as a deck, tensions of MoorDyn 2.7.2, laws of the curves."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.codes.from_moordyn import law_lines
from fem.codes.moordyn_files import read
from tests.decks import run_text

STRAINS = 2e-3 * np.arange(30)
ORIGINAL = 8.2e7 * STRAINS * (1.0 - 12.0 * STRAINS + 100.0 * STRAINS**2)
CURVE = "---Polyester---\nStrain Tension\n(-) (N)\n" + "\n".join(
    f"{strain:.4f} {tension:.1f}" for strain, tension in zip(STRAINS, ORIGINAL, strict=True)
)
ROPE = """One rope
------------------------- LINE TYPES ---------------------
LineType  Diam    MassDenInAir    EA                      BA/-zeta      EI      Can   Cat  Cdn   Cdt
(-)       (m)       (kg/m)        (-)                     (Pa-s/-)      (n-m^2) (-)   (-)  (-)   (-)
poly      0.203     40      {ea}  {ba}   0.0    0.0   0.0   0.0  0.0
----------------------- POINTS ---------------------------
Node      Type      X         Y         Z        M        V         CdA   CA
(-)       (-)      (m)       (m)       (m)      (kg)     (m^3)     (m^2)  (-)
1         Fixed    0.0        0       -5.0       0        0          0     0
2         Coupled  {far}      0       -5.0       0        0          0     0
-------------------------- LINES -------------------------
Line     LineType NodeA     NodeB  UnstrLen   NumSegs     Flags/Outputs
(-)      (-)       (-)       (-)    (m)         (-)          (-)
1        poly       2         1     {length}          {bars}          -
-------------------------- SYROPE IC ---------------------
Line(s)   Tmax0    Tmean0
(-)        (N)      (N)
{lines}       {largest}     9.3e5
-------------------------- SOLVER OPTIONS-----------------
{g}      g            - gravitational acceleration
70       WtrDpth      - water depth
--------------------------- need this line ---------------
"""


def write(folder: Path, form: str, k1: float, k2: float, config: str = "", **changed: str) -> Path:
    (folder / "owc.dat").write_text(CURVE)
    (folder / "syrope.dat").write_text(config or f"owc.dat OWC\n{form} WCType\n{k1} k1\n{k2} k2\n")
    given = {"ea": "SYROPE:syrope.dat|1.53e8|23.12", "ba": "5.0e10|0", "far": "1.014", "length": "1.0", "bars": "1",
             "lines": "1", "largest": "1.0e6", "g": "0", **changed}  # fmt: skip
    (folder / "rope.txt").write_text(ROPE.format(**given))
    return folder / "rope.txt"


def law(path: Path) -> str:
    moorings = read(path)
    made = moorings.types["poly"]
    return "\n".join(law_lines(made, made.damping, moorings.largest[1]))


STRETCHED = """*NODE
1, 0., 0., 0.
2, {length}, 0., 0.
*ELEMENT, TYPE=T3D2, ELSET=LINE
1, 1, 2
*MATERIAL, NAME=M
{law}
*NO COMPRESSION
*SOLID SECTION, ELSET=LINE, MATERIAL=M, STRAIN=ENGINEERING
1.
*REST LENGTH
LINE, 1.
*AMPLITUDE, NAME=A, TIME=TOTAL TIME
{path}
*BOUNDARY
1, 1, 3
2, 1, 3
*STEP, NLGEOM, INC=10000000
{procedure}
*BOUNDARY, AMPLITUDE=A
2, 1, 1, 1.
*EL PRINT, ELSET=LINE
T, E
*END STEP
"""
MOORDYN = {
    ("QUADRATIC", 0.25, 0.8): (1008448, 1049522, 1578959, 1472931, 1100206, 866207, 1531759, 735631),
    ("EXP", 0.2, 1.5): (1008694, 1049579, 1578959, 1472931, 1107125, 906197, 1531831, 776510),
    ("LINEAR", 1.2e8, 0.0): (1025600, 1051371, 1578970, 1472932, 1148097, 926519, 1534775, 793427),
    ("LINEAR", 0.3, 0.0): (1033650, 1052435, 1578976, 1472932, 1198648, 1091387, 1539705, 962024),
}
"""Tension at ``TIMES`` of MoorDyn 2.7.2 (pip install moordyn): ``ROPE`` with these curves and Tmean0 in equilibrium
at the start, g 0, dtM 0.05; point 2 moved by moordyn.Step every 0.05 s, force on it."""
TIMES = (1, 500, 1500, 2000, 3000, 4000, 6000, 7998)


@pytest.mark.long
@pytest.mark.parametrize("curves", MOORDYN)
def test_tensions_are_those_of_moordyn(tmp_path: Path, curves: tuple[str, float, float]) -> None:
    """Two slow cycles of the mean strain, the first of which goes beyond all before, with waves on them: the original
    curve, working curves, dynamic stiffness and creep; 0.1 % of the largest is the lag of a step of MoorDyn's."""
    time = np.arange(0.0, 8001.0, 1.0)
    way = 0.003 * (1 - np.cos(2 * np.pi * time / 4000)) + 0.004 * np.minimum(time / 2000, 1)
    way += 0.0008 * np.sin(2 * np.pi * time / 12)
    path = "\n".join(f"{t!r}, {w!r}" for t, w in zip(time.tolist(), way.tolist(), strict=True))
    deck = STRETCHED.format(
        length=1.014, law=law(write(tmp_path, *curves)), path=path, procedure="*VISCO\n1., 8000., , 1."
    )
    history = run_text(deck)
    found = np.interp(TIMES, history.time, history.of_element(1, "T"))
    assert found == pytest.approx(np.array(MOORDYN[curves], float), abs=2e-3 * max(MOORDYN[curves]))


@pytest.mark.parametrize("curves", MOORDYN)
@pytest.mark.parametrize("seed", range(3))
def test_cycles_take_energy_and_tensions_do_not_jump(
    tmp_path: Path, curves: tuple[str, float, float], seed: int
) -> None:
    """Strains that turn at random: without time (relaxed statics) the loss never falls, so that no cycle gives energy,
    a cycle below the largest strain so far takes none, and the tension changes by no more than the stiffest slope times
    the strain, also where it turns back from the original curve."""
    rng = np.random.default_rng(seed)
    turns = np.concatenate([[0.0], rng.uniform(0.0, 0.045, 12)])
    strain = np.concatenate([np.linspace(a, b, 40, endpoint=False) for a, b in pairwise(turns)])
    path = "\n".join(f"{t}, {w!r}" for t, w in enumerate(strain.tolist()))
    text = law(write(tmp_path, *curves, largest="1e5")).partition("*DYNAMIC")[0].replace("100000.0", "0.")
    deck = STRETCHED.format(length=1.0, law=text, path=path, procedure=f"*STATIC\n1., {len(strain) - 1}., , 1.")
    history = run_text(deck)
    lost, tension = history.of_energy("dissipated"), history.of_element(1, "T")
    assert np.diff(lost).min() > -1e-9 * lost.max()
    peak = np.maximum.accumulate(strain)
    below = np.diff(peak, prepend=0.0)[1:] == 0.0
    assert np.abs(np.diff(lost)[below[: len(lost) - 1]]).max() < 1e-9 * lost.max()
    steepest = np.diff(ORIGINAL).max() / 2e-3 * 4.0
    assert np.abs(np.diff(tension)).max() <= steepest * np.abs(np.diff(strain)).max()
    assert np.abs(history.energy_error).max() < 1e-9 * history.of_energy("external_work").max()


def test_a_laid_rope_begins_on_its_working_curve(tmp_path: Path) -> None:
    """A taut rope of 1000 m whose largest mean tension was 1 MN: the import lays it there, so that statics find it at
    rest; its tension is that of the working curve at its strain."""
    path = write(tmp_path, "EXP", 0.2, 1.5, far="1013.", length="1000.0", bars="20", g="9.81")
    assert main(["import", "moordyn", str(path), "--output", str(tmp_path / "rope.inp")]) == 0
    deck = (tmp_path / "rope.inp").read_text()
    assert "*UNIAXIAL, LARGEST STRESS=1000000.0" in deck and "Syrope lines begin relaxed" in deck
    history = fem.run(tmp_path / "rope.inp", parameters={"time": 0.1})
    rest = np.flatnonzero(history.of_step(1))[-1]
    assert np.abs(history.u[rest]).max() < 1e-3
    mesh = history.model.mesh
    places = mesh.coordinates + history.u[rest].reshape(-1, 3)
    strain = np.linalg.norm(np.diff(places[mesh.element_nodes], axis=1), axis=2).sum() / 1000.0 - 1.0
    tension = np.mean([history.of_element(bar, "T")[rest] for bar in range(1001, 1021)])
    last = np.interp(1e6, ORIGINAL, STRAINS)
    z = (strain - 0.2 * last) / (0.8 * last)
    assert tension == pytest.approx(
        1e6 * np.expm1(1.5 * z) / np.expm1(1.5), rel=2e-3
    )  # 30 points, a straight line each


@pytest.mark.parametrize(
    ("config", "changed", "message"),
    [
        ("owc.dat OWC\nEXP WCType\n0.2 k1\n", {}, "syrope.dat has no k2"),
        ("owc.dat OWC\nCUBIC WCType\n0.2 k1\n1 k2\n", {}, "expected LINEAR, QUADRATIC or EXP, got CUBIC"),
        ("owc.dat OWC\nEXP WCType\n1.2 k1\n1 k2\n", {}, "k1 of EXP lies between 0 and 1, got 1.2"),
        ("owc.dat OWC\nQUADRATIC WCType\n0.2 k1\n1.5 k2\n", {}, "k2 of QUADRATIC is above 0, at most 1, got 1.5"),
        ("8e7 OWC\nEXP WCType\n0.2 k1\n1 k2\n", {}, "expected a file of strains and tensions, got 8e7"),
        ("", {"ea": "SYROPE:none.dat|1.53e8|23.12"}, "there is no"),
        ("", {"ea": "SYROPE:syrope.dat|1.53e8"}, "expected SYROPE:file|EA_Dc|EA_D_Lm"),
        ("", {"ba": "0"}, "a damping BA_s above 0"),
        ("", {"lines": "1,4"}, "there is no line 4"),
        ("", {"largest": "5e6"}, "Tmax0 lies on the original curve, from 0 to"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, capsys, config: str, changed: dict[str, str], message: str) -> None:
    path = write(tmp_path, "EXP", 0.2, 1.5, config, **changed)
    assert main(["import", "moordyn", str(path), "--output", str(tmp_path / "rope.inp")]) == 2
    assert message in re.sub(r"\s+", " ", capsys.readouterr().err)
