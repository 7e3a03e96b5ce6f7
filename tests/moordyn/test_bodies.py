"""``fem import moordyn``: bodies and rods that move by themselves are free bodies of the deck."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fem
from fem.codes.from_moordyn import convert, inertia_of
from fem.codes.moordyn_files import read
from fem.errors import DeckError

TEXT = """Made for these tests: a turned body with a rod and a weight, on two lines; a rod between two others
---------------------- LINE TYPES ----------------------
TypeName   Diam    Mass/m     EA         BA/-zeta    EI         Cd     Ca     CdAx    CaAx
(name)     (m)     (kg/m)     (N)        (N-s/-)     (N-m^2)    (-)    (-)    (-)     (-)
rope       0.05    5          1e6        -0.5        0          1.2    1.0    0.1     0.0
---------------------- ROD TYPES ----------------------
TypeName      Diam     Mass/m    Cd     Ca      CdEnd    CaEnd
(name)        (m)      (kg/m)    (-)    (-)     (-)      (-)
can           0.5      100       0.8    1.0     1.1      0.6
---------------------- BODIES ----------------------
ID   Attachment  X0 Y0 Z0  r0 p0 y0  Mass  CG    I        Volume  CdA  Ca
(#)     (-)      (m)
1    Free        0  0  -20 0  90 0   200   0.5   30|40|50 0.4     1.5  0.5
---------------------- RODS ----------------------
ID   RodType  Attachment  Xa    Ya    Za    Xb    Yb    Zb   NumSegs  RodOutputs
(#)  (name)    (#/key)
1    can      Body1       0     0     0     0     0     2    3        -
2    can      {attachment}        40    0    -30    42    0    -30  2        -
---------------------- POINTS ----------------------
ID    Type      X       Y       Z       Mass   Volume  CdA    Ca
(#)   (-)       (m)
1     Fixed    -50      0     -60       0      0       0      0
2     Body1     0       0      -1       10     0       0      0
3     Fixed     90      0     -60       0      0       0      0
---------------------- LINES ----------------------
ID   LineType   AttachA  AttachB  UnstrLen  NumSegs  LineOutputs
(#)   (name)     (#)      (#)       (m)       (-)     (-)
1     rope       1        2         65        6       -
2     rope       R1B      R2A       40        6       -
3     rope       {end}      3         58        6       -
---------------------- OPTIONS ----------------------
60            WtrDpth
1000          WtrDnsty
10            g
"""


def file_of(folder: Path, attachment: str = "Free", end: str = "R2B", **changes: str) -> Path:
    text = TEXT.format(attachment=attachment, end=end)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "bodies.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_mass_centre_and_inertia_of_all_parts(tmp_path: Path) -> None:
    """Pitch of 90 degrees turns z of the body to x: the sums written out."""
    moorings = read(file_of(tmp_path))
    body = moorings.bodies["BODY1"]
    mass, centre, tensor = inertia_of(body, [each for each in moorings.points.values() if each.body == "BODY1"])
    assert mass == pytest.approx(200 + 10 + 200)
    x = np.array([0.5, 1.0, -1.0])  # the body's own mass, the rod's, the point's
    middle = np.array([200.0, 200.0, 10.0]) @ x / 410
    assert centre == pytest.approx([middle, 0.0, -20.0])
    axial, across = 200 * 0.25 / 8, 200 * (4 / 12 + 0.25 / 16)
    steiner = np.array([200.0, 200.0, 10.0]) @ (x - middle) ** 2
    assert tensor == pytest.approx(np.diag([50 + axial, 40 + across + steiner, 30 + across + steiner]), abs=1e-9)


def test_deck_of_bodies(tmp_path: Path) -> None:
    """It is read, its members, masses, lifts and added masses are those of the file."""
    deck = tmp_path / "deck.inp"
    convert(file_of(tmp_path), deck)
    model = fem.read_deck(deck)
    assert len(model.free_bodies) == 2
    assert len(model.members) == 3 + 1 + 2  # two rods, and what carries CdA
    masses = {each.element_set: each.mass for each in model.masses}
    assert masses == pytest.approx({"BODY1": 410, "ADDEDBODY1": 1000 * 0.4 * 0.5, "ROD2": 200})
    (lift,) = model.steps[0].nodal_loads
    assert (lift.dof, lift.value) == (3, 1000 * 10 * 0.4)
    fluid = {(each.target, each.kind): each for each in model.steps[1].fluid_loads}
    along = fluid["ROD2_MEMBER2", "FDT"].coefficient
    assert along * np.pi * 0.5 * 2.0 == pytest.approx(2 * 1.1 * np.pi / 4 * 0.5**2)  # CdEnd of both end faces
    ends = fluid["ROD2_MEMBER2", "FI"].added_along * np.pi / 4 * 0.5**2 * 2.0
    assert ends == pytest.approx(0.6 * np.pi / 6 * 0.5**3)  # CaEnd of two half spheres
    stick = fluid["BODY1_DRAG0", "FDD"].coefficient, fluid["BODY1_DRAG0", "FDT"].coefficient * np.pi
    assert stick == pytest.approx((1.5, 1.5))


def test_pinned_rods_are_held_at_one_end(tmp_path: Path) -> None:
    deck = tmp_path / "deck.inp"
    convert(file_of(tmp_path, "Pinned"), deck)
    model = fem.read_deck(deck)
    (held,) = {each.target for each in model.boundaries if isinstance(each.target, int)}
    assert model.mesh.coordinates[model.mesh.nodes_of(held)[0]] == pytest.approx([40.0, 0.0, -30.0])


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"attachment": "Body2Pinned"}, ":18:15:", "rods that are Body2Pinned are not supported"),
        ({"end": "R3B"}, ":30:18:", "there is no end of a rod R3B"),
        ({"30|40|50": "30|40"}, ":13:50:", "expected moments of inertia, 1 or 3 numbers"),
        ({"200   0.5   30|40|50": "0     0.5   30|40|900"}, "", "no free body has the principal moments"),
    ],
)
def test_what_is_refused(tmp_path: Path, changes: dict[str, str], place: str, message: str) -> None:
    with pytest.raises(DeckError, match=message.replace("|", r"\|")) as refused:
        convert(file_of(tmp_path, **changes), tmp_path / "deck.inp")
    assert place in str(refused.value)


@pytest.mark.parametrize(
    ("old", "again", "place", "message"),
    [
        ("can           0.5", "can           0.7      100       0.8    1.0     1.1      0.6", 10, "the rod type can"),
        ("1    Free ", "1    Fixed       0  0  -20 0  90 0", 14, "the body 1"),
        ("2    can ", "1    can      Fixed       0     0     0     0     0     2    3        -", 19, "the rod 1"),
    ],
)
def test_what_is_defined_twice_is_refused_at_the_second_line(tmp_path, old, again, place, message):
    path = file_of(tmp_path)
    lines = path.read_text().splitlines()
    lines.insert(1 + next(k for k, line in enumerate(lines) if line.startswith(old)), again)
    path.write_text("\n".join(lines))
    with pytest.raises(DeckError, match=f"{message} is defined twice") as caught:
        read(path)
    assert caught.value.problems[0].line == place
