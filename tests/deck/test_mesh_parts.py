"""Meshes in several files: all of them belong to the deck, lie in its folder and count in its hash."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import fem
from fem.cli import main
from fem.deck import read_deck
from fem.errors import DeckError

XDMF = """<Xdmf Version="3.0"><Domain><Grid Name="Grid">
<Geometry GeometryType="XYZ"><DataItem DataType="Float" Dimensions="2 3" Format="{form}" Precision="8">
{points}
</DataItem></Geometry>
<Topology TopologyType="Polyline" NumberOfElements="1"><DataItem DataType="Int" Dimensions="1 2" Format="{form}"
Precision="8">{lines}</DataItem></Topology>
</Grid></Domain></Xdmf>
"""
DECK = """*PARAMETER
g = 9.81
*INCLUDE, INPUT=mesh/m.xdmf
*MATERIAL, NAME=M
*ELASTIC
1e6
*DENSITY
1.
*SOLID SECTION, ELSET=EALL, MATERIAL=M
1.
*BOUNDARY
1, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.05
*DLOAD
EALL, GRAV, <g>, 0., -1., 0.
*NODE PRINT, NSET=NALL
U
*END STEP
"""


@pytest.fixture
def binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A deck with a mesh in three files; meshio wants h5py also where it does not use it."""
    if "h5py" not in sys.modules:
        monkeypatch.setitem(sys.modules, "h5py", ModuleType("h5py"))
    deck = tmp_path / "deck"
    (deck / "mesh").mkdir(parents=True)
    (deck / "bar.inp").write_text(DECK)
    (deck / "mesh" / "m.xdmf").write_text(XDMF.format(form="Binary", points="points.bin", lines="lines.bin"))
    np.array([[0, 1]], np.int64).tofile(deck / "mesh" / "lines.bin")
    make_points(deck, 2.0)
    monkeypatch.chdir(tmp_path)  # where meshio would look for the parts
    return deck


def make_points(deck: Path, length: float) -> None:
    np.array([[0, 0, 0], [length, 0, 0]], float).tofile(deck / "mesh" / "points.bin")


def test_parts_are_found_beside_the_mesh_and_count(binary: Path) -> None:
    model = read_deck(binary / "bar.inp")
    assert model.mesh.coordinates.tolist() == [[0, 0, 0], [2, 0, 0]]
    assert {Path(file).name for file in model.files} == {"bar.inp", "m.xdmf", "points.bin", "lines.bin"}
    make_points(binary, 3.0)
    changed = read_deck(binary / "bar.inp")
    assert changed.mesh.coordinates[1, 0] == 3.0 and changed.digest != model.digest


def test_rows_of_an_old_mesh_are_not_kept(binary: Path) -> None:
    grid, deck, places = {"g": [1.0, 2.0]}, binary / "bar.inp", []
    for length in (2.0, 3.0, 3.0):
        make_points(binary, length)
        places.append(fem.sweep(deck, grid, output="out")["U2_2_min"].tolist())
    assert places[0] != places[1] == places[2]


def test_rows_of_meshes_named_by_a_parameter_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nodes = "*NODE, NSET=NALL\n1, 0., 0., 0.\n2, {}, 0., 0.\n*ELEMENT, TYPE=T3D2, ELSET=EALL\n1, 1, 2\n"
    Path("bar.inp").write_text(
        DECK.replace("g = 9.81", "g = 9.81\nn = 1\n*HEADING\nmany meshes").replace("mesh/m.xdmf", "mesh<n>.inc")
    )
    for name, length in (("mesh1.inc", 1.0), ("mesh2.inc", 2.0), ("mesh-2.5.inc", 3.0), ("mesh_of_others.inc", 9.0)):
        Path(name).write_text(nodes.format(length))
    model = read_deck("bar.inp")
    assert {Path(file).name for file in model.files} == {"bar.inp", "mesh1.inc", "mesh2.inc", "mesh-2.5.inc"}
    first = fem.sweep("bar.inp", {"n": [1.0, 2.0]}, output="out")["U2_2_min"].tolist()
    Path("mesh_of_others.inc").write_text("")
    assert read_deck("bar.inp").digest == model.digest
    Path("mesh2.inc").write_text(nodes.format(4.0))
    second = fem.sweep("bar.inp", {"n": [1.0, 2.0]}, output="out")["U2_2_min"].tolist()
    assert first[0] == second[0] and first[1] != second[1]


@pytest.mark.parametrize("target", ["../../outside.bin", "/etc/hostname", "sub/link.bin"])
def test_parts_outside_the_folder_are_not_read(binary: Path, target: str) -> None:
    (binary.parent / "outside.bin").write_bytes(bytes(48))
    (binary / "mesh" / "sub").mkdir()
    (binary / "mesh" / "sub" / "link.bin").symlink_to(binary.parent / "outside.bin")
    for form, text in (("Binary", target), ("HDF", f"{target}:/points")):
        (binary / "mesh" / "m.xdmf").write_text(XDMF.format(form=form, points=text, lines=text))
        with pytest.raises(DeckError, match=r"bar.inp:3:17: .* which 'mesh/m.xdmf' refers to, lies outside"):
            read_deck(binary / "bar.inp")


def test_a_part_that_is_not_there_is_named(binary: Path) -> None:
    (binary / "mesh" / "points.bin").unlink()
    with pytest.raises(DeckError, match=r"'points.bin', which 'mesh/m.xdmf' refers to, does not exist"):
        read_deck(binary / "bar.inp")


def test_parts_are_never_written_over(binary: Path) -> None:
    (binary / "mesh" / "m.xdmf").write_text(XDMF.format(form="Binary", points="nodes.csv", lines="lines.bin"))
    (binary / "mesh" / "points.bin").rename(binary / "mesh" / "nodes.csv")
    before = (binary / "mesh" / "nodes.csv").read_bytes()
    assert main(["run", str(binary / "bar.inp"), "--output", str(binary / "mesh"), "--force", "--quiet"]) == 2
    assert (binary / "mesh" / "nodes.csv").read_bytes() == before


def test_hdf5_beside_it_counts_and_leads_nowhere_else(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    (tmp_path / "mesh").mkdir()
    (tmp_path / "bar.inp").write_text(DECK)
    (tmp_path / "mesh" / "m.xdmf").write_text(XDMF.format(form="HDF", points="m.h5:/points", lines="m.h5:/lines"))
    digests = []
    for length in (2.0, 3.0):
        with h5py.File(tmp_path / "mesh" / "m.h5", "w") as file:
            file["points"], file["lines"] = [[0.0, 0.0, 0.0], [length, 0.0, 0.0]], [[0, 1]]
        model = read_deck(tmp_path / "bar.inp")
        assert model.mesh.coordinates[1, 0] == length
        digests.append(model.digest)
    assert digests[0] != digests[1]
    (tmp_path / "mesh" / "m.h5").rename(tmp_path / "other.h5")
    with h5py.File(tmp_path / "mesh" / "m.h5", "w") as file:
        file["lines"], file["points"] = [[0, 1]], h5py.ExternalLink("../other.h5", "/points")
    with pytest.raises(DeckError, match=r"'m.h5', .* keeps '/points' in another file"):
        read_deck(tmp_path / "bar.inp")
    with h5py.File(tmp_path / "mesh" / "m.h5", "w") as file:
        file["lines"] = [[0, 1]]
        file.create_dataset("points", (2, 3), float, external=[(str(tmp_path / "raw"), 0, 48)])
    with pytest.raises(DeckError, match="in another file"):
        read_deck(tmp_path / "bar.inp")
