"""``fem mooring``: forces over offsets, 6 x 6 stiffness, lines, matrices."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmread
from scipy.sparse import load_npz
from scipy.spatial.transform import Rotation

import fem
from benchmarks.public_moorings import IEA, MOORDYN, OC4, TURNED
from fem.cli import main
from fem.codes.from_moordyn import convert
from fem.study.mooring import Mooring

PUBLIC = [
    # name, bars of the public file, force, end tensions, stiffness: no offset, surge 10 m, ``TURNED``
    (OC4, 20, (0, 0, -1893316.38, 0, 0, 0), (1105367.08, 1105373.14, 1105367.08), None),
    (
        OC4,
        20,
        (-882137.655, 0, -1948866.73, 0, 2206060.94, 0),
        (910781.443, 1779144.16, 910781.443),
        (10, 0, 0, 0, 0, 0),
    ),
    (OC4, 20, (-344689.792, 517393.183, -1964165.39, -1681190.36, 2089758.78, -12587854.6), None, TURNED),
    (IEA, 50, (22.92, 0, -6082451.64, 0, 418.4, 0), (2435583.51, 2435559.71, 2435583.51), None),
    (
        IEA,
        50,
        (-808153.669, 0, -6143466.97, 0, -12072712.9, 0),
        (2228536.81, 3014235.33, 2228536.81),
        (10, 0, 0, 0, 0, 0),
    ),
    (IEA, 50, (-321497.561, 585525.049, -6219187.73, -15977332.7, -1691128.66, -26480668.4), None, TURNED),
]
"""MoorPy 1.3.0 (numpy 2.4.6, scipy 1.17.1): ``Body.getForces``, ``Line.TB``, cb = 0, of a rigid bottom, g = 9.80665."""
STIFFNESS = {
    "OC4": [
        [92189.1992, 14849.4668, 4926.54818, -80334.6268, -301329.896, 76579.5676],
        [14849.4668, 70141.4152, -7155.89622, 58424.9551, -115497.669, -126856.766],
        [4926.54818, -7155.89622, 19590.1315, -7628.84167, -52156.9359, 195832.296],
        [-80334.6268, 58424.9551, -7628.84167, 87942451.2, -4148147.68, -5086439.66],
        [-301329.896, -115497.669, -52156.9359, -16736002.2, 100233627.0, 6414496.53],
        [76579.5676, -126856.766, 195832.296, -7176198.44, 4733306.17, 130812019.0],
    ],
    "IEA": [
        [83676.2214, 9780.0193, 5337.11803, -410637.542, 1141442.82, 57042.2114],
        [9780.0193, 71426.8897, -8915.54697, -1191529.58, -68452.2298, -121139.419],
        [5337.11803, -8915.54697, 61801.2079, 146139.514, -12895.2228, 479089.772],
        [-410637.542, -1191529.58, 146139.514, 262753739.0, -5947629.95, -8831353.87],
        [1141442.82, -68452.2298, -12895.2228, -32428298.3, 272363441.0, 20906459.8],
        [57042.2114, -121139.419, 479089.772, -7140225.21, 4929127.08, 272146214.0],
    ],
}
"""MoorPy 1.3.0, ``Body.getStiffnessA(lines_only=True)`` about the body's origin at ``TURNED``."""
HEAVE = {"OC4": 19140.4343, "IEA": 60742.8929}
"""The same, K33 without offset: the entry that depends most on where lines leave the seabed."""


def moored(folder: Path, system: dict[str, str], bars: int, bed: str = "3.0e6", **options: object) -> Mooring:
    source, deck = folder / "moordyn.txt", folder / "moordyn.inp"
    source.write_text(MOORDYN.format(**system, bars=bars, bed=bed))
    convert(source, deck, force=True)
    return fem.mooring(deck, vessel="COUPLED", about=(0.0, 0.0, 0.0), **options)


def as_vector(offset: tuple[float, ...]) -> list[float]:
    """MoorPy's angles as a rotation vector in degrees."""
    return [*offset[:3], *np.degrees(Rotation.from_euler("xyz", offset[3:]).as_rotvec())]


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of entries ij over sqrt(K_ii K_jj)."""
    size = np.sqrt(expected.diagonal())
    return float(np.abs((found - expected) / np.outer(size, size)).max())


@pytest.mark.parametrize("system", [OC4, IEA], ids=["OC4", "IEA"])
def test_public_moorings_have_the_forces_and_the_stiffness_of_moorpy(system, tmp_path):
    """With the bars and the seabed of the public files: within 0.5 %. MoorPy's bottom is rigid."""
    rows = [row for row in PUBLIC if row[0] is system]
    found = moored(tmp_path, system, rows[0][1], at=[as_vector(row[4] or (0.0,) * 6) for row in rows])
    for (_, _, force, tensions, _), state in zip(rows, found.others, strict=True):
        assert state.force[:3] == pytest.approx(force[:3], abs=5e-3 * np.abs(force[:3]).max())
        assert state.force[3:] == pytest.approx(force[3:], abs=5e-3 * max(np.abs(force[3:]).max(), 1e6))
        if tensions:
            assert state.lines[:, 1] == pytest.approx(tensions, rel=5e-3)
    name = "OC4" if system is OC4 else "IEA"
    assert relative(found.others[2].stiffness, np.array(STIFFNESS[name])) < 5e-3
    assert found.others[0].stiffness[2, 2] == pytest.approx(HEAVE[name], rel=5e-3)


@pytest.mark.parametrize("system", [OC4, IEA], ids=["OC4", "IEA"])
def test_fine_lines_on_a_hard_bottom_have_the_stiffness_of_moorpy(system, tmp_path):
    found = moored(tmp_path, system, 100, "3.0e9", at=[as_vector(TURNED)])
    name = "OC4" if system is OC4 else "IEA"
    assert relative(found.others[0].stiffness, np.array(STIFFNESS[name])) < 1e-3
    assert found.rest.stiffness[2, 2] == pytest.approx(HEAVE[name], rel=1e-3)


def test_what_does_not_lie_on_the_seabed_hangs_from_the_vessel(tmp_path):
    """Statics of the part above: its weight in water is the vertical pull, whatever the bars (113.35 kg/m, 0.0766 m
    thick, 835.35 m of it). What lies does not lift the anchor."""
    weight = (113.35 - 1025.0 * math.pi / 4.0 * 0.0766**2) * 9.80665
    for state in ((found := moored(tmp_path, OC4, 20, "3.0e9", at=[as_vector(TURNED)])).rest, *found.others):
        assert state.lines[:, 6] == pytest.approx(835.35 + state.ends[:, 2] / weight, abs=0.02)
        assert (state.lines[:, 5] == 0.0).all()
        assert state.lines[:, 4] == pytest.approx(np.hypot(*state.ends[:, :2].T), rel=1e-6)  # no friction


def test_the_stiffness_is_the_derivative_of_forces_and_moments(tmp_path):
    """That of the discrete line by differences of 1 mm, the interpolated one by the force over heights of 20 m."""
    base, step = np.array([4.0, -7.0, 1.0, 0.05, 0.1, 0.2]), np.array([1e-3] * 3 + [1e-5] * 3)
    at = [base]
    for k in range(6):
        for sign in (1.0, -1.0):
            turn = Rotation.from_rotvec(sign * step[k] * np.eye(3)[k - 3]) if k > 2 else Rotation.identity()
            way = sign * step[k] * np.eye(6)[k][:3]
            at.append(np.array([*(base[:3] + way), *(turn * Rotation.from_rotvec(base[3:])).as_rotvec()]))
    found = moored(tmp_path, IEA, 12, at=[[*each[:3], *np.degrees(each[3:])] for each in at])
    here, *sides = found.others
    slopes = np.array([(sides[2 * k + 1].force - sides[2 * k].force) / (2.0 * step[k]) for k in range(6)]).T
    assert relative(here.tangent, slopes) < 1e-6
    heights = np.linspace(-10.0, 10.0, 41)
    path = moored(tmp_path, IEA, 40, at=[(0.0, 0.0, z) for z in heights]).others
    force, stiffness, tangent = (
        np.array(each) for each in zip(*((s.force[2], s.stiffness[2, 2], s.tangent[2, 2]) for s in path), strict=True)
    )
    rise = -np.ptp(force[[0, -1]])
    weights = np.array([0.5, *[1.0] * 39, 0.5]) * 0.5
    assert -stiffness @ weights == pytest.approx(rise, rel=5e-3)
    # between two nodes the tangent is far from its mean: nodes land one after the other
    assert np.abs(tangent / stiffness - 1.0).max() > 0.05
    assert np.abs(np.diff(stiffness)).max() < 0.2 * np.abs(np.diff(tangent)).max()


BARS = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 0., 2., 0.
11, -10., 0., 0.
12, 10., 2., 0.
*NSET, NSET=SHIP
1, 2
*ELEMENT, TYPE=T3D2, ELSET=BARS
1, 1, 11
2, 2, 12
*MATERIAL, NAME=M
*ELASTIC
1e6
*SOLID SECTION, ELSET=BARS, MATERIAL=M, STRAIN=ENGINEERING
1e-3
*REST LENGTH
BARS, 9.
*BOUNDARY
ALL, 1, 3
*STEP, NLGEOM
*STATIC
*END STEP
"""


def test_two_bars_have_the_stiffness_of_a_textbook():
    """Pretension T = EA (l - L)/L, along 2 EA/L, across 2 T/l; about the middle,
    with arms b = 1 across, the moment is -2 T b, K66 = 2 EA b^2/L and K44 = 2 T b^2/l: r.f is zero."""
    found = fem.mooring(fem.parse_deck(BARS), vessel="SHIP", offset=0.5, points=5, headings=[0.0, 90.0])
    tension, along, across = 1e3 / 9.0, 2e3 / 9.0, 2e3 / 9.0 / 10.0
    assert found.about == pytest.approx([0.0, 1.0, 0.0])
    assert found.rest.force == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, -2.0 * tension], abs=1e-9)
    assert found.rest.stiffness[:3, :3] == pytest.approx(np.diag([along, across, across]), abs=1e-6)
    assert found.rest.stiffness[5, 5] == pytest.approx(along, rel=1e-9)
    assert found.rest.stiffness[3, 3] == pytest.approx(across, rel=1e-9)
    for heading, path in found.paths.items():
        s = np.linspace(0.0, 0.5, 6)
        length = np.hypot(10.0, s) if heading == 90.0 else np.array([10.0 + s, 10.0 - s])
        energy = (0.5 * (1e3 / 9.0) * (length - 9.0) ** 2).reshape(-1, 6).sum(axis=0) * (
            2.0 if heading == 90.0 else 1.0
        )
        assert found.energy[heading] == pytest.approx(energy - energy[0], abs=1e-9 + 1e-6 * energy[0])
        assert [state.lines[:, 0].sum() for state in path] == pytest.approx(
            [-state.force @ [np.cos(np.radians(heading)), np.sin(np.radians(heading)), 0, 0, 0, 0] for state in path]
        )


@pytest.mark.parametrize("height", [-5.0, 5.0])
def test_an_anchor_is_lifted_by_a_line_from_above_only(height):
    """By T sin of its slope, T = E A (l - L)/L."""
    text = BARS.replace("12, 10., 2., 0.", f"12, 10., 2., {height}")
    length = math.hypot(10.0, height)
    pull = 1e3 * (length - 9.0) / 9.0
    row = fem.mooring(fem.parse_deck(text), vessel="SHIP").rest.lines[1]
    assert row[[1, 4]] == pytest.approx(pull, rel=1e-9)
    assert row[5] == pytest.approx(pull * 5.0 / length if height < 0.0 else 0.0, rel=1e-9)
    assert row[2] == pytest.approx(math.degrees(math.atan2(10.0, height)), rel=1e-9)


def test_a_free_body_is_held_where_it_is_at_rest():
    """The lines of the spar carry what its weight leaves of its buoyancy; modes are those of the deck."""
    found = fem.mooring("inputs/moored_spar.inp", after="REST", parameters={"bars": 8}, modes=2)
    lift = 1025.0 * 9.80665 * np.pi * 16.0 * (80.0 - found.moved[2]) - 4.12e6 * 9.80665
    assert found.rest.force[2] == pytest.approx(-lift, rel=1e-5)
    assert np.abs(found.rest.force[[0, 1, 3, 4, 5]]).max() < 1e-5 * lift
    assert found.about[2] == pytest.approx(found.model.mesh.coordinates[0, 2] + found.moved[2])
    assert len(found.modes.frequency) == 2 and "periods" in repr(found)
    moved = np.array([1.0, -2.0, 0.5, 0.0, math.pi / 6.0, 0.0])
    assert "moved      1 -2 0.5 0 30 0 (from the drawing)" in repr(replace(found, moved=moved))
    assert any("left out" in text for text in found.notices)
    assert found.fairleads.tolist() == [100, 200, 300] and found.anchors.tolist() == [108, 208, 308]


def test_files_of_the_command(tmp_path, capsys):
    deck, folder = tmp_path / "bars.inp", tmp_path / "out"
    deck.write_text(BARS.replace("*SOLID", "*DENSITY\n2.\n*SOLID"))
    asked = ["--vessel", "SHIP", "--offset", "0.5", "--points", "2", "--headings", "0,90", "--at", "0,0,.1,0,0,5"]
    assert main(["mooring", str(deck), *asked, "--matrices", "--output", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "towards 90: restoring force" in said and "mooring.png" in said
    with (folder / "mooring.csv").open() as text:
        rows = list(csv.DictReader(text))
    assert [row["heading"] for row in rows] == ["0.0"] * 3 + ["90.0"] * 3 + [""] and float(rows[-1]["rz"]) == 5.0
    with (folder / "lines.csv").open() as text:
        lines = list(csv.DictReader(text))
    assert len(lines) == 14 and {line["fairlead"] for line in lines} == {"1", "2"}
    stiffness, mass = load_npz(folder / "K.npz"), load_npz(folder / "M.npz")
    assert stiffness.shape == (6, 6) and stiffness[0, 0] == pytest.approx(float(rows[0]["K11"]))
    assert mmread(folder / "M.mtx").toarray() == pytest.approx(mass.toarray())
    assert mass[0, 0] == pytest.approx(2.0 * 1e-3 * 9.0)  # half of each bar moves with the vessel
    assert (folder / "dofs.csv").read_text().splitlines()[1] == "0,vessel,x"


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "the deck has no *RIGID BODY: --vessel names"),
        ({"vessel": "NO"}, "there is no node set NO"),
        ({"vessel": "SHIP", "after": 2}, "unknown step|there is no step"),
        ({"vessel": "SHIP", "offset": -1.0}, "the offset must not be negative"),
        ({"vessel": "SHIP", "offset": 1.0, "headings": ()}, "an offset needs headings"),
        ({"vessel": "SHIP", "points": 0}, "points are 0"),
        ({"vessel": "SHIP", "at": [(1.0, 2.0)]}, "3 numbers, or 6"),
        ({"vessel": "SHIP", "about": (1.0, 2.0)}, "about needs 3 numbers"),
        ({"vessel": "SHIP", "about": (1.0, 2.0, np.nan)}, "numbers must be finite"),
        ({"vessel": "SHIP", "modes": -1}, "-1 modes"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(fem.CommandError, match=message.replace("*", r"\*")):
        fem.mooring(fem.parse_deck(BARS), **options)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("*STEP, NLGEOM", "*STEP", "needs \\*STEP, NLGEOM"),
        ("*STATIC", "*DYNAMIC, DIRECT\n0.1, 0.2", "does not begin with \\*STATIC"),
        ("1, 1, 11", "1, 1, 2", "no line ends at the vessel"),
    ],
)
def test_decks_that_have_no_such_statics_are_refused(old, new, message):
    text = BARS.replace(old, new).replace("2, 2, 12", "2, 2, 12" if "11" not in old else "2, 11, 12")
    with pytest.raises(fem.FemError, match=message):
        fem.mooring(fem.parse_deck(text), vessel="SHIP")


def test_a_grid_of_heights_has_the_stiffness_of_the_plane_it_lies_in(tmp_path):
    """The same three lines on a slope of 1 in 50, as a plane and as a grid of points in it."""
    source, deck = tmp_path / "moordyn.txt", tmp_path / "moordyn.inp"
    source.write_text(MOORDYN.format(**IEA, bars=12, bed="3.0e6"))
    convert(source, deck, force=True)
    text = re.sub(r"(?m)^(\d+, (?:-837\.6|418\.8), .*), -200\.0$", lambda found: lowered(found[1]), deck.read_text())
    plane = re.sub(r"(\*SEABED[^\n]*)", rf"\1, ELEVATION=-200., SLOPE={math.degrees(math.atan(0.02))}, UPHILL=0.", text)
    points = "".join(f"{x}, {y}, {-200.0 + 0.02 * x}\n" for x in (-2e3, 0.0, 2e3) for y in (-2e3, 0.0, 2e3))
    grid = re.sub(r"(\*SEABED[^\n]*)\n", rf"\1, POINTS=9\n{points}", text)
    found = [fem.mooring(fem.parse_deck(each), vessel="COUPLED", about=(0.0, 0.0, 0.0)) for each in (plane, grid)]
    assert relative(found[1].rest.stiffness, found[0].rest.stiffness) < 1e-6
    assert found[1].rest.lines[:, -1] == pytest.approx(found[0].rest.lines[:, -1], abs=1e-3)
    assert not np.allclose(found[0].rest.stiffness, found[0].rest.tangent, rtol=1e-3)


def lowered(text: str) -> str:
    """A node on the slope."""
    label, x, y = text.split(", ")
    return f"{label}, {x}, {y}, {-200.0 + 0.02 * float(x)!r}"


def test_a_line_of_segments_has_the_stiffness_of_its_catenary(tmp_path):
    """Each segment has a seabed of its own, with friction in dynamic steps only. Stiffness and length on the seabed are
    those of an elastic catenary of three segments without friction, solved by scipy with 1e-15."""
    segments = [
        *("--segment", "R4-studless-100,600", "--segment", "polyester-200,250"),
        "--segment",
        "R4-studless-100,40",
    ]
    where = ["--first=-900,0,-150", "--last=-20,0,-12", "--depth", "150", "--friction", "0.7", "--headings", "0"]
    assert main(["line", *where, *segments, "--bars", "100", "--output", str(tmp_path / "line.inp")]) == 0
    text = (tmp_path / "line.inp").read_text()
    assert text.count("*SEABED") == 3 and "A vessel on 1 line of" in text
    found = fem.mooring(tmp_path / "line.inp").rest
    assert found.lines[0, -1] == pytest.approx(166.094, rel=0.01)  # on the seabed
    assert found.stiffness[0, 0] == pytest.approx(220872.0, rel=0.002)
    assert found.stiffness[0, 2] == pytest.approx(41694.4, rel=0.003)
    assert found.stiffness[2, 2] == pytest.approx(11818.6, rel=0.004)


def test_the_stiffness_with_friction_in_dynamic_steps_is_the_derivative_of_the_forces(tmp_path):
    """Friction does not act in the statics of the offsets, so it may not stick in the tangent either."""
    where = ["--first=-837.6,0,-200", "--last=-58,0,-14", "--depth", "200", "--headings", "0"]
    line = ["--section", "R4-studless-142", "--length", "850", "--bars", "100"]
    found = []
    for name, friction in (("rough", "0.7"), ("smooth", "0")):
        deck = str(tmp_path / f"{name}.inp")
        assert main(["line", *where, *line, "--friction", friction, "--output", deck]) == 0
        found.append(fem.mooring(deck).rest.stiffness)
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-6)
