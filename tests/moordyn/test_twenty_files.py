"""``fem import moordyn``: files of many kinds are imported, checked, brought to rest and moved.

At rest the supports carry the weight in water of all that hangs on them: sums by hand, line by line, with the numbers
of the files. Written for these tests, after kinds of files that authors of MoorDyn's tests have.
"""

from __future__ import annotations

from math import pi
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fem
from fem.cli import main

G, RHO = 9.80665, 1025.0
CHAIN, HOSE, LIGHT = (weight * G for weight in (40.0 - RHO * pi / 4 * 0.01, 60.0 - RHO * pi / 4 * 0.04, 5.0))
"""Weight in water of a metre of each type; ``light`` has next to no diameter."""
HEAD = "- - - - - - - - - - - - - -\n" * 2
TYPES = f"""Made for these tests
---- LINE TYPES ----
{HEAD}chain 0.1 40.0 1e8 -0.8 0 1.2 1.0 0.2 0
hose 0.2 60.0 1e8 -0.8 1e4 1.2 1.0 0.2 0
light 1e-5 5.0 curve.txt -0.8 0 0 0 0 0
---- ROD TYPES ----
{HEAD}none 0.2 0.0 0 0 0 0
can 0.5 300.0 0.8 1.0 1.1 0.6
bar 0.2 80.0 0.8 1.0 1.1 0.6
"""
OPTIONS = "---- OPTIONS ----\n200 WtrDpth\n1025 rho\n9.80665 g\n0.001 dtM\n---- OUTPUTS ----\nFairTen1\n"
CAN, BAR = ((mass - RHO * pi / 4 * d**2) * G for mass, d in ((300.0, 0.5), (80.0, 0.2)))


class Case(NamedTuple):
    """Sections of a file, and the vertical force of all its supports; NaN: it floats. ``words`` of the notes."""

    sections: dict[str, str]
    force: float
    words: str = ""

    @property
    def text(self) -> str:
        return TYPES + "".join(f"---- {name} ----\n{HEAD}{rows}\n" for name, rows in self.sections.items()) + OPTIONS


OLD = """A file of version 1
---- LINE DICTIONARY ----
LineType Diam MassDenInAir EA BA/-zeta Can Cat Cdn Cdt
(-) (m) (kg/m) (N) (Pa-s/-) (-) (-) (-) (-)
main 0.1 40.0 1e8 -0.8 1.0 0.25 1.6 0.1
---- {title} ----
Node Type X Y Z M V FX FY FZ CdA CA
(-) (-) (m) (m) (m) (kg) (m^3) (kN) (kN) (kN) (m^2) (-)
1 Fix 60 0 -80 0 0 0 0 0 0 0
2 Vessel 0 0 -20 0 0 0 0 0 0 0
3 {third} 0 0 0 0 0 0
---- LINE PROPERTIES ----
Line LineType UnstrLen NumSegs NodeAnch NodeFair Flags/Outputs
(-) (-) (m) (-) (-) (-) (-)
1 main 100.0 20 1 {end} p
2 main 50.0 10 {end} 2 p
---- SOLVER OPTIONS ----
0.001 dtM - time step
0 WaveKin - no waves
1025 WtrDnsty
200 WtrDpth
9.80665 g
---- OUTPUTS ----
FairTen1
"""
POINTS = "1 Fixed 60 0 -20 0 0 0 0\n2 Fixed -60 0 -20 0 0 0 0"
ONE, TWO = "1 chain R1A 1 100 20 -", "1 chain R1A 1 100 20 -\n2 chain R1B 2 100 20 -"
SPAR = "1 Free 0 0 -2 0 0 0 15000 0 150000|150000|8000 0 0 0"
NAN = float("nan")
CASES = {
    "connector without mass, held": Case({"RODS": "1 none Fixed 0 0 -90 0 0 -80 0 -", "POINTS": POINTS, "LINES": ONE},
                                         100 * CHAIN, "a connector at its end A"),
    "rod without mass, held": Case({"RODS": "1 none Fixed 0 0 -90 0 0 -80 4 -", "POINTS": POINTS, "LINES": ONE},
                                   100 * CHAIN),
    "rod without mass, on a vessel": Case(
        {"RODS": "1 none Coupled 0 0 -90 0 0 -80 4 -", "POINTS": POINTS, "LINES": TWO}, 200 * CHAIN,
        "coupled points are fixed"),
    "connector without mass, free": Case({"RODS": "1 none Free 0 0 -60 0 0 -60 0 -", "POINTS": POINTS, "LINES": TWO},
                                         200 * CHAIN, "a connector at its end A"),
    "connector without mass, pinned to a vessel": Case(
        {"RODS": "1 none VesselPinned 0 0 -90 0 0 -80 0 -", "POINTS": POINTS, "LINES": ONE}, 100 * CHAIN),
    "connectors between lines that bend": Case(
        {"RODS": "1 none Free 0 0 -60 0 0 -60 0 -", "POINTS": POINTS,
         "LINES": "1 hose 1 R1A 100 20 -\n2 hose R1B 2 100 20 -"}, 200 * HOSE),
    "connector on a body": Case(
        {"BODIES": SPAR, "RODS": "1 none Body1 0 0 -5 0 0 -6 0 -\n2 can Body1 0 0 -5 0 0 5 20 -\n"
         "3 none Body1 1 0 -5 1 0 5 20 -\n4 none Body1 -1 0 -5 -1 0 5 20 -",
         "POINTS": "1 Fixed 0 0 -100 0 0 0 0", "LINES": "1 chain 1 R1A 95 19 -"}, NAN, "no rotational drag"),
    "spar of a rod without mass": Case(
        {"BODIES": SPAR, "RODS": "1 none Body1 0 0 -5 0 0 5 20 -\n2 can Body1 2 0 -5 2 0 5 20 -\n"
         "3 can Body1 -2 0 -5 -2 0 5 20 -",
         "POINTS": "1 Fixed 60 0 -190 0 0 0 0\n2 Body1 0 0 -5 0 0 0 0", "LINES": "1 chain 2 1 215 30 -"}, NAN),
    "members of a body": Case(
        {"BODIES": "1 Free 0 0 -30 0 0 0 3000 0 9000 0 1.0|1.5|2.0 0",
         "RODS": "1 bar Body1 0 0 -2 0 0 2 4 -\n2 bar Body1 -2 0 0 2 0 0 4 -\n3 bar Body1 0 -2 0 0 2 0 4 -",
         "POINTS": POINTS + "\n3 Body1 2 0 0 0 0 0 0\n4 Body1 -2 0 0 0 0 0 0",
         "LINES": "1 chain 1 3 80 16 -\n2 chain 2 4 80 16 -"}, 160 * CHAIN + 3000 * G + 12 * BAR),
    "points on a body, without lines": Case(
        {"BODIES": "1 Free 0 0 -30 0 0 0 3000 0 9000 0 0 0",
         "POINTS": POINTS + "\n3 Body1 2 0 0 100 0.5 1.0 0.5\n4 Body1 -2 0 0 0 0 0 0\n5 Body1 0 0 2 50 0.2 1.0 0.5",
         "LINES": "1 chain 1 3 80 16 -\n2 chain 2 4 80 16 -"},
        160 * CHAIN + (3150 - RHO * 0.7) * G),
    "a held body": Case(
        {"BODIES": "1 Fixed 0 0 -90 0 90 0 0 0 0 0 0 0", "RODS": "1 can Body1 0 0 0 0 0 2 2 -",
         "POINTS": "1 Fixed 60 0 -20 0 0 0 0", "LINES": ONE}, 100 * CHAIN),
    "a vessel": Case(
        {"BODIES": "1 Coupled 0 0 -5 0 0 45 0 0 0 0 0 0", "POINTS": POINTS + "\n3 Body1 5 0 0 0 0 0 0",
         "LINES": "1 chain 1 3 90 18 -"}, 90 * CHAIN, "coupled points are fixed"),
    "a vessel that turns": Case(
        {"BODIES": "1 VesselPinned 0 0 -20 0 0 0 100 0 500 0 0 0", "RODS": "1 can Body1 0 0 0 0 0 -10 4 -",
         "POINTS": "1 Fixed 60 0 -20 0 0 0 0", "LINES": "1 chain R1B 1 80 16 -"}, 80 * CHAIN + 10 * CAN + 100 * G),
    "a rod that is pinned": Case(
        {"RODS": "1 can Pinned 0 0 -20 0 0 -30 4 -", "POINTS": "1 Fixed 60 0 -20 0 0 0 0",
         "LINES": "1 chain R1B 1 80 16 -"}, 80 * CHAIN + 10 * CAN),
    "a rod that is pinned to a vessel": Case(
        {"BODIES": "1 Coupled 0 0 -20 0 0 0 0 0 0 0 0 0", "RODS": "1 can Body1Pinned 0 0 0 0 0 -10 4 -",
         "POINTS": "1 Fixed 60 0 -20 0 0 0 0", "LINES": "1 chain R1B 1 80 16 -"}, 80 * CHAIN + 10 * CAN),
    "a rod that is pinned to a body": Case(
        {"BODIES": "1 Free 0 0 -40 0 0 0 3000 0 9000 0 0 0", "RODS": "1 can Body1Pinned 0 0 0 0 0 -10 4 -",
         "POINTS": POINTS + "\n3 Body1 2 0 0 0 0 0 0\n4 Body1 -2 0 0 0 0 0 0",
         "LINES": "1 chain 1 3 80 16 -\n2 chain 2 4 80 16 -"},
        160 * CHAIN + 3000 * G + 10 * CAN, "rod1 is pinned to body1 by springs"),
    "a rod between two lines": Case(
        {"RODS": "1 bar Free -1 0 -60 1 0 -60 2 -", "POINTS": POINTS, "LINES":
         "1 chain R1B 1 100 20 -\n2 chain R1A 2 100 20 -"}, 200 * CHAIN + 2 * BAR),
    "a hose in a bend stiffener": Case(
        {"RODS": "1 can Fixed 0 0 -10 0 0 -12 2 -", "POINTS": "1 Fixed 40 0 -20 0 0 0 0",
         "LINES": "1 hose R1B 1 60 20 -"}, 60 * HOSE),
    "points of turbines": Case(
        {"POINTS": "1 Turbine1 -60 0 -20 0 0 0 0\n2 Turbine2 60 0 -20 0 0 0 0\n3 Free 0 0 -60 0 0 0 0",
         "LINES": "1 chain 1 3 80 16 -\n2 chain 3 2 80 16 -"}, 160 * CHAIN, "Turbine1"),
    "EA is a file": Case({"POINTS": POINTS, "LINES": "1 light 1 2 119 20 -"}, 119 * LIGHT, "beside a curve"),
}  # fmt: skip
FILES = {name: (case.text, case.force, case.words) for name, case in CASES.items()}
FILES |= {
    "version 1": (OLD.format(title="NODE PROPERTIES", third="Connect 20 0 -70 200 0.1", end=3),
                  150 * CHAIN + (200 - 0.1 * RHO) * G, ""),
    "version 1, connections": (
        OLD.format(title="CONNECTION PROPERTIES", third="Fixed 20 0 -70 0 0", end=3), 150 * CHAIN, ""),
}  # fmt: skip


def imported(name: str, folder: Path) -> Path:
    (folder / "curve.txt").write_text("strain tension\n(-) (N)\n0.0 0.0\n0.01 2e5\n0.02 8e5\n0.05 4e6\n")
    (folder / "lines.txt").write_text(FILES[name][0])
    assert main(["import", "moordyn", str(folder / "lines.txt"), "--output", str(folder / "deck.inp")]) == 0
    return folder / "deck.inp"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FILES)
def test_files_of_many_kinds_come_to_rest_and_move(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deck = imported(name, tmp_path)
    assert FILES[name][2] in capsys.readouterr().out
    assert main(["check", str(deck)]) in (0, 1)
    model = fem.read_deck(deck, {"time": 0.1})
    history = fem.run(model)
    first = np.flatnonzero(history.step == 1)[-1]
    held = {node for each in model.boundaries if each.dof == 3 for node in model.mesh.nodes_of(each.target).tolist()}
    force = sum(history.of_node(int(model.mesh.node_labels[node]), "reactions")[first][2] for node in held)
    if not np.isnan(FILES[name][1]):
        assert force == pytest.approx(FILES[name][1], rel=1e-4)
    assert history.time[-1] == pytest.approx(2.1)
    assert np.isfinite(history.of_node(int(model.mesh.node_labels[0]))).all()


def test_every_column_of_version_1_has_its_place(tmp_path: Path) -> None:
    """Can Cat Cdn Cdt of the file are Ca CaAx Cd CdAx of version 2."""
    text = imported("version 1", tmp_path).read_text()
    assert "TYPE_MAIN, FDD, 1., 0.1, 1.6" in text and "TYPE_MAIN, FDT, 1., 0.1, 0.1" in text
    assert "TYPE_MAIN, FI, 1., 0.1, 2.0, 1.0, , 0.25" in text
    assert "1001, 1021, 1, 100.0" in text and "1021, 1031, 1, 50.0" in text


def test_a_free_rod_alone_rises(tmp_path: Path) -> None:
    """No lines: a(0) = (rho V - m) g / (rho V + m) with Ca = 1 and no drag, 0.3 s long."""
    text = TYPES.replace("curve.txt", "1e6") + f"---- RODS ----\n{HEAD}1 float Free 0 -1 -50 0 1 -50 4 -\n" + OPTIONS
    (tmp_path / "rod.txt").write_text(text.replace("can 0.5 300.0 0.8", "float 0.5 100.0 0 1.0 0 0\ncan 0.5 300.0 0.8"))
    assert main(["import", "moordyn", str(tmp_path / "rod.txt"), "--output", str(tmp_path / "rod.inp")]) == 0
    history = fem.run(fem.read_deck(tmp_path / "rod.inp", {"time": 0.3, "dt": 0.01}))
    lift, mass = RHO * pi / 4 * 0.25 * 2.0, 200.0
    rise = 0.5 * (lift - mass) * G / (lift + mass) * history.time[-1] ** 2
    assert history.of_node(int(history.mesh.node_labels[0]))[-1][2] == pytest.approx(rise, rel=1e-3)


def test_files_of_map_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "map.dat").write_text(
        "---- LINE DICTIONARY ----\nLineType Diam MassDenInAir EA CB CIntDamp Ca Cdn Cdt\n(-) (m)\n"
        "main 0.2 300 1e9 1 0 0 0 0\n"
        "---- NODE PROPERTIES ----\nNode Type X Y Z M V FX FY FZ\n(-)\n1 Fix -600 0 depth 0 0 # # #\n"
    )
    assert main(["import", "moordyn", str(tmp_path / "map.dat"), "--output", str(tmp_path / "map.inp")]) == 2
    error = capsys.readouterr().err
    assert "map.dat:2:1: error: this is a file of MAP++, not of MoorDyn; MoorDyn has Diam Mass EA BA EI" in error
