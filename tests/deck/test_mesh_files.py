"""Meshes of other programs: no line is lost or doubled in silence, however it is written; groups as they were meant."""

from __future__ import annotations

import base64
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import meshio
import numpy as np
import pytest

import fem
from fem.deck import read_deck
from fem.errors import DeckError
from fem.model import Model
from fem.runs.fields import read_field
from tests.deck.decks import MATERIAL, STEP

GMSH_41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
4
0 9 "left"
0 10 "rope"
1 7 "rope"
1 8 "middle"
$EndPhysicalNames
$Entities
4 3 0 0
1 0 0 0 2 9 10 
2 1 0 0 0 
3 2 0 0 0 
4 3 0 0 1 10 
1 0 0 0 1 0 0 1 7 2 1 -2 
2 1 0 0 2 0 0 2 -7 8 2 3 -2 
3 2 0 0 3 0 0 2 7 11 2 3 -4 
$EndEntities
$Nodes
7 7 1 7
0 1 0 1
1
0 0 0
0 2 0 1
2
1 0 0
0 3 0 1
3
2 0 0
0 4 0 1
4
3 0 0
1 1 0 1
5
0.4999999999986921 0 0
1 2 0 2
6
7
1.666666666666667 0 0
1.333333333333333 0 0
1 3 0 0
$EndNodes
$Elements
5 8 1 8
0 1 15 1
1 1 
0 4 15 1
2 4 
1 1 1 2
3 1 5 
4 5 2 
1 2 1 3
5 3 6 
6 6 7 
7 7 2 
1 3 1 1
8 3 4 
$EndElements
"""
GMSH_22 = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
4
0 9 "left"
0 10 "rope"
1 7 "rope"
1 8 "middle"
$EndPhysicalNames
$Nodes
7
1 0 0 0
2 1 0 0
3 2 0 0
4 3 0 0
5 0.4999999999986921 0 0
6 1.666666666666667 0 0
7 1.333333333333333 0 0
$EndNodes
$Elements
13
1 15 2 9 1 1
2 15 2 10 1 1
3 15 2 10 4 4
4 1 2 7 1 1 5
5 1 2 7 1 5 2
6 1 2 7 2 6 3
7 1 2 8 2 3 6
8 1 2 7 2 7 6
9 1 2 8 2 6 7
10 1 2 7 2 2 7
11 1 2 8 2 7 2
12 1 2 7 3 3 4
13 1 2 11 3 3 4
$EndElements
"""
BINARY_22 = (
    "c-nQ5ziz@X5XO_{FGs7sf@OKG2p~Zxy3nnNh3-*f1X4l}$-?un(TD0QuvC@0w03$4R|ih|bYJ|_UG8l0B8$~?zRThg`VV~;u`$?|Wr3J(62ioM"
    "wJ+9haXO1LS-=o_?2++QE=#U#)MI>?ZzYF_jm~z=c(zWGRDI}n|67Pzo~Sgces?Wy8h4tQ%sJa9levuxTg+4XI{c{kX!Z1!-j6!ITP#p|UFi61"
    "v1-4+g~T+KncS2GL<6{2%*H)*?qJrUObf0s2bqhq33G9-`ph%9N4Q7ksJV~4_Kv|d3&|Y5!9!9XT;Ls2?;Eq$I|t+rOx`8+!G-y6@!Ua~_j89m"
    "D6ihCd8A*uIYR9"
)
BINARY_41 = (
    "c-oCq!A^rf5Zz^I!S&!TYzSvlk|x%ZT<Xoni@g(BQxYhqaPfP*=|}ksUX0NgakoHSr#sTQ%*?_(-n_SjSF&1NmYX7}`Sdgrk(hBx2;t#;of^-="
    ">(xV*-6r`WDP+Z`d?L<8kjuL|P-Qd`!KS>I0guGlZ#fe|k)>&_8V&asLY>rEovF$tZ7^aFO7L*He55%WJt40b*o^U=7<<RvRep@|;RD<-9{r4G"
    "@YQGEP178}KgKlpQ1iagvkr53UmwNP9FGC!m%`i{x^pmGl&MOdF$5Qd%hLnQg=8q`{}YOV88#rIX*%7z1o%aOdyKmL{-{)HUaaOjV2?4->G?^="
    "=icn{M#q~K6aG9~gIZg{c`ggNt}EV?^8slefSn8&<$`w{i+~g?%MhVl&^tgVbGZ?~8Y9_5vI7L877ZBS)!y`8!5`$EUat"
)
"""Three curves, by Gmsh 4.15.2: all in "rope" (7), the second one the other way round, and also in "middle" (8); the
third in a group without a name (11). Points 9 "left" and 10, a second "rope"."""
GROUPS = {"ROPE": [0, 1, 2, 3, 4, 5], "MIDDLE": [2, 3, 4], "PHYSICALLINE11": [5]}


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def included(folder: Path, name: str, content: bytes | None = None, more: str = "") -> Model:
    if content is not None:
        (folder / name).write_bytes(content)
    cards = f"*INCLUDE, INPUT={name}\n" + MATERIAL.replace("BARS", "EALL") + more + STEP.format("")
    (folder / "deck.inp").write_text(cards)
    return read_deck(folder / "deck.inp")


def members(sets: dict[str, np.ndarray]) -> dict[str, list[int]]:
    return {name: rows.tolist() for name, rows in sets.items() if name not in ("NALL", "EALL")}


@pytest.mark.parametrize(
    "content",
    [GMSH_41.encode(), GMSH_22.encode(), unpacked(BINARY_41), unpacked(BINARY_22)],
    ids=["4.1", "2.2", "4.1 binary", "2.2 binary"],
)
def test_gmsh_groups_are_those_of_the_drawing(tmp_path: Path, content: bytes) -> None:
    """All formats say the same: a reversed curve is a member, a line in two groups is one line, names of points and of
    curves are apart."""
    model = included(tmp_path, "rope.msh", content)
    assert model.mesh.blocks[0].connectivity.shape == (6, 2)
    assert members(model.mesh.element_sets) == GROUPS
    assert members(model.mesh.node_sets) == {"LEFT": [0], "ROPE": [0, 3]}
    told = [notice for notice in model.notices if "once for each of their groups" in notice]
    assert len(told) == content.startswith(b"$MeshFormat\n2.2") and all("4 lines" in notice for notice in told)


def test_gmsh_meshes_with_curves_in_no_group(tmp_path: Path) -> None:
    """As ``Mesh.SaveAll`` writes them: all lines are there, the group has its own."""
    text = GMSH_41.replace("1 0 0 0 1 0 0 1 7 2 1 -2", "1 0 0 0 1 0 0 0 2 1 -2")
    model = included(tmp_path, "rope.msh", text.encode())
    assert members(model.mesh.element_sets) == GROUPS | {"ROPE": [2, 3, 4, 5]}
    assert len(model.mesh.element_labels) == 6


def test_two_lines_of_a_ring_are_not_one(tmp_path: Path) -> None:
    """A closed curve of two lines between the same points, in two groups: four entries, two elements."""
    elements = "".join(
        f"{at} 1 2 {group} 5 {ends}\n"
        for at, (group, ends) in enumerate(((7, "1 2"), (7, "2 1"), (8, "1 2"), (8, "2 1")), 1)
    )
    text = (
        '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 7 "a"\n1 8 "b"\n$EndPhysicalNames\n$Nodes\n2\n'
        f"1 0 0 0\n2 1 0 0\n$EndNodes\n$Elements\n4\n{elements}$EndElements\n"
    )
    model = included(tmp_path, "ring.msh", text.encode())
    assert members(model.mesh.element_sets) == {"A": [0, 1], "B": [0, 1]}
    assert any("1 lines join the same two points as another" in notice for notice in model.notices)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4.1 0 8", "4 0 8", "format 4: save it in format 4.1"),
        ("4 5 2", "4 5 99", "refers to a node that does not exist"),
        ("$EndNodes", "", r"\$Nodes has no end"),
        ("1 2 0 2", "1 2 0 3", "cannot read the mesh"),
        ("1 1 1 2\n", "1 1 77 2\n", "elements of type 77 are not known"),
        ("$Entities", "$PartitionedEntities\n$EndPartitionedEntities\n$Entities", "partitioned"),
    ],
)
def test_broken_files_of_gmsh(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(DeckError, match=message):
        included(tmp_path, "rope.msh", GMSH_41.replace(old, new).encode())


@pytest.mark.parametrize("content", [unpacked(BINARY_41), GMSH_22.encode()])
def test_files_that_end_early_are_refused(tmp_path: Path, content: bytes) -> None:
    for stop in range(1, len(content) - 5, 37):
        with pytest.raises(DeckError, match="cannot read the mesh"):
            included(tmp_path, "rope.msh", content[:stop])


def ropes() -> Any:
    """A poly-line of seven points, a line, a triangle, a poly-line of two points."""
    import vtk  # takes seconds, which no process that only collects need spend

    grid, points = vtk.vtkUnstructuredGrid(), vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for x in range(7):
        points.InsertNextPoint(x / 4.0, 0.0, 0.0)
    points.InsertNextPoint(0.0, 1.0, 0.0)
    grid.SetPoints(points)
    for kind, nodes in (
        (vtk.VTK_POLY_LINE, range(7)),
        (vtk.VTK_LINE, (0, 7)),
        (vtk.VTK_TRIANGLE, (0, 1, 7)),
        (vtk.VTK_POLY_LINE, (7, 6)),
    ):
        ids = vtk.vtkIdList()
        for node in nodes:
            ids.InsertNextId(node)
        grid.InsertNextCell(kind, ids)
    return grid


CHAINS = [*([at, at + 1] for at in range(6)), [0, 7], [7, 6]]
XML = {
    "ascii": lambda w: w.SetDataModeToAscii(),
    "binary": lambda w: w.SetDataModeToBinary(),
    "binary, packed by LZMA": lambda w: (w.SetDataModeToBinary(), w.SetCompressorTypeToLZMA()),
    "binary, not packed": lambda w: (w.SetDataModeToBinary(), w.SetCompressorTypeToNone()),
    "appended": lambda w: w.SetDataModeToAppended(),
    "appended, not packed, sizes of 8 bytes": lambda w: (w.SetCompressorTypeToNone(), w.SetHeaderTypeToUInt64()),
    "raw": lambda w: (w.EncodeAppendedDataOff(), w.SetCompressorTypeToNone()),
    "raw, packed, big endian": lambda w: (w.EncodeAppendedDataOff(), w.SetByteOrderToBigEndian()),
}


@pytest.mark.parametrize("form", XML)
def test_poly_lines_are_chains_of_bars(tmp_path: Path, form: str) -> None:
    import vtk

    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputData(ropes())
    writer.SetFileName(str(tmp_path / "ropes.vtu"))
    XML[form](writer)
    writer.Write()
    check_ropes(included(tmp_path, "ropes.vtu"))


@pytest.mark.parametrize("version", [42, 51])
@pytest.mark.parametrize("form", ["ASCII", "Binary"])
def test_poly_lines_of_legacy_files(tmp_path: Path, form: str, version: int) -> None:
    import vtk

    grid, field = ropes(), vtk.vtkStringArray()
    field.SetName("text")
    field.InsertNextValue("POINTS 5 float")
    grid.GetFieldData().AddArray(field)
    writer = vtk.vtkUnstructuredGridWriter()
    writer.SetInputData(grid)
    writer.SetFileName(str(tmp_path / "ropes.vtk"))
    writer.SetFileVersion(version)
    getattr(writer, f"SetFileTypeTo{form}")()
    writer.Write()
    check_ropes(included(tmp_path, "ropes.vtk"))


def check_ropes(model: Model) -> None:
    assert model.mesh.blocks[0].connectivity.tolist() == CHAINS
    assert model.mesh.coordinates[:7, 0] == pytest.approx(np.arange(7) / 4.0, abs=0.0)
    told = " ".join(model.notices)
    assert "poly-lines become bars: 2 of them, 7 bars" in told and "left out: 1 triangle" in told


@pytest.mark.parametrize("name", ["ropes.vtp", "ropes.vtk"])
def test_lines_of_poly_data(tmp_path: Path, name: str) -> None:
    """Points, lines and polygons stand in lists of their own."""
    import vtk

    data, kinds = vtk.vtkPolyData(), [vtk.vtkCellArray() for _ in range(3)]
    data.SetPoints(ropes().GetPoints())
    for kind, nodes in ((0, [3]), (1, range(7)), (1, (7, 6)), (2, (0, 1, 7))):
        kinds[kind].InsertNextCell(len(nodes), list(nodes))
    data.SetVerts(kinds[0])
    data.SetLines(kinds[1])
    data.SetPolys(kinds[2])
    writer = vtk.vtkXMLPolyDataWriter() if name.endswith("vtp") else vtk.vtkPolyDataWriter()
    writer.SetInputData(data)
    writer.SetFileName(str(tmp_path / name))
    writer.Write()
    model = included(tmp_path, name)
    assert model.mesh.blocks[0].connectivity.tolist() == [*([at, at + 1] for at in range(6)), [7, 6]]
    told = " ".join(model.notices)
    assert "poly-lines become bars: 1 of them, 6 bars" in told and "poly-vertex" in told and "1 polygon" in told


PIECE = """<Piece NumberOfPoints="3" NumberOfCells="1"><Points><DataArray type="Float64" NumberOfComponents="3"
format="ascii">{x} 0 0 {x} 1 0 {x} 2 0</DataArray></Points><Cells><DataArray type="Int32" Name="connectivity"
format="ascii">0 1 2</DataArray><DataArray type="Int32" Name="offsets" format="ascii">3</DataArray>
<DataArray type="UInt8" Name="types" format="ascii">4</DataArray></Cells></Piece>"""
PIECES = '<VTKFile type="UnstructuredGrid"><UnstructuredGrid>{}</UnstructuredGrid></VTKFile>'


def test_all_pieces_are_read(tmp_path: Path) -> None:
    text = PIECES.format("".join(PIECE.format(x=x) for x in range(3)))
    model = included(tmp_path, "pieces.vtu", text.encode())
    assert model.mesh.blocks[0].connectivity.tolist() == [[0, 1], [1, 2], [3, 4], [4, 5], [6, 7], [7, 8]]
    assert model.mesh.coordinates[:, 0].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"offsets" format="ascii">3', '"offsets" format="ascii">4', "the offsets of its cells do not fit"),
        (">0 1 2<", ">0 1 9<", "refers to a point that does not exist"),
        ('type="UnstructuredGrid"', 'type="UnstructuredGrid" compressor="vtkLZ4DataCompressor"', "packed by vtkLZ4"),
        ('type="UnstructuredGrid"', 'type="RectilinearGrid"', "it has RectilinearGrid"),
        ("</Piece>", "", "it is no XML"),
        (">4</DataArray></Cells>", ">5</DataArray></Cells>", "no line cells, only 1 triangle"),
    ],
)
def test_broken_files_of_vtk(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(DeckError, match=message):
        included(tmp_path, "pieces.vtu", PIECES.format(PIECE.format(x=0)).replace(old, new).encode())


def test_a_rope_of_one_poly_line_stretches_as_a_rope(tmp_path: Path) -> None:
    """F L/EA of a chain in series, by hand: EA 1e5 N, 1.5 m, 50 N."""
    import vtk

    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetInputData(ropes())
    writer.SetFileName(str(tmp_path / "ropes.vtu"))
    writer.Write()
    (tmp_path / "deck.inp").write_text(
        "*INCLUDE, INPUT=ropes.vtu\n*MATERIAL, NAME=M\n*ELASTIC\n1e9\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n1e-4\n"
        "*BOUNDARY\n1, 1, 3\n8, 1, 3\nNALL, 2, 3\n*STEP\n*STATIC\n*CLOAD\n7, 1, 50.\n*END STEP\n"
    )
    line = 1e5 / np.hypot(1.5, 1.0) * 2.25 / 3.25  # the line from the end to the point 1 m beside the start
    found = fem.run(read_deck(tmp_path / "deck.inp")).of_node(7)[-1][0]
    assert found == pytest.approx(50.0 / (1e5 / 1.5 + line), rel=1e-12)


OWN = """*NODE
1, 0., 0., 0.
5, 1., 0., 0.
7, 2., 0., 0.
8, 2., 0., 4.
*ELEMENT, TYPE=T3D2, ELSET=MY ROPE
30, 1, 5
20, 5, 7
*ELEMENT, TYPE=SPRINGA, ELSET=SOFT
21, 7, 8
*ELEMENT, TYPE=MASS, ELSET=BOB
22, 7
*ELSET, ELSET=T
20
*NSET, NSET=TIP
7
*SPRING, ELSET=SOFT

100.
*MASS, ELSET=BOB
1.
*MATERIAL, NAME=M
*ELASTIC
1e9
*DENSITY
1000.
*SOLID SECTION, ELSET=MY ROPE, MATERIAL=M
1e-4
*BOUNDARY
1, 1, 3
8, 1, 3
*STEP, NLGEOM
*DYNAMIC, DIRECT
0.01, 0.02
*END STEP
"""


def test_our_own_fields_are_meshes(tmp_path: Path) -> None:
    """Labels, places and sets come back; what is no bar is counted; meshio reads the file, too."""
    (tmp_path / "own.inp").write_text(OWN)
    fem.run(tmp_path / "own.inp", output=tmp_path / "own")
    field = sorted((tmp_path / "own" / "vtu").iterdir())[-1]
    model = included(tmp_path, "own.vtu", field.read_bytes())
    assert model.mesh.node_labels.tolist() == [1, 5, 7, 8] and model.mesh.element_labels.tolist() == [30, 20]
    assert model.mesh.coordinates.tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 4]]
    assert members(model.mesh.element_sets) == {"MY ROPE": [0, 1], "T": [1]}
    assert members(model.mesh.node_sets) == {"TIP": [2]}
    told = " ".join(model.notices)
    assert "2 springs, dashpots and masses" in told and "groups without points or lines are left out" in told
    theirs, ours = meshio.read(field), read_field(field)
    assert [len(block.data) for block in theirs.cells] == [3, 1]
    cell_data = {name: np.concatenate(parts) for name, parts in theirs.cell_data.items()}
    for name, values in {**theirs.point_data, **cell_data}.items():
        assert np.array_equal(values, ours[name]), name


def test_groups_of_salome(tmp_path: Path) -> None:
    """MED has families: each names all groups of its members."""
    pytest.importorskip("h5py")
    mesh = meshio.Mesh(
        np.eye(4, 3),
        [("line", np.array([[0, 1], [1, 2], [2, 3]])), ("vertex", np.array([[3]]))],
        point_data={"point_tags": np.array([2, 0, 0, 3])},
        cell_data={"cell_tags": [np.array([-1, -2, 0]), np.array([-4])]},
    )
    mesh.point_tags = {2: ["start"], 3: ["start", "end"]}
    mesh.cell_tags = {-1: ["rope"], -2: ["rope", "G_1D_-7"], -4: ["anchor"]}
    meshio.write(tmp_path / "m.med", mesh)
    model = included(tmp_path, "m.med")
    assert members(model.mesh.element_sets) == {"ROPE": [0, 1], "G_1D_-7": [1]}
    assert members(model.mesh.node_sets) == {"START": [0, 3], "END": [3], "ANCHOR": [3]}
    assert any("curves that stand reversed" in notice for notice in model.notices)


def test_what_meshio_leaves_is_an_error_or_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Poly-lines of XDMF, which it calls lines; its own words where it gives up; formats that nobody reads, by name."""
    if "h5py" not in sys.modules:  # which it wants for XDMF also where it does not use it
        monkeypatch.setitem(sys.modules, "h5py", ModuleType("h5py"))
    (tmp_path / "m.xdmf").write_text(
        '<Xdmf Version="3.0"><Domain><Grid><Geometry GeometryType="XYZ"><DataItem DataType="Float" Dimensions="4 3" '
        'Format="XML" Precision="8">0 0 0 1 0 0 2 0 0 3 0 0</DataItem></Geometry><Topology TopologyType="Polyline" '
        'NumberOfElements="1"><DataItem DataType="Int" Dimensions="1 4" Format="XML" Precision="8">0 1 2 3</DataItem>'
        "</Topology></Grid></Domain></Xdmf>"
    )
    model = included(tmp_path, "m.xdmf")
    assert model.mesh.blocks[0].connectivity.tolist() == [[0, 1], [1, 2], [2, 3]]
    with pytest.raises(DeckError, match=r"meshio does not support its format \(.*Couldn't read"):
        included(tmp_path, "m.ply", b"nothing\n")
    with pytest.raises(DeckError, match="it is an I-deas universal file: save the mesh as"):
        included(tmp_path, "m.unv", b"    -1\n  2411\n")
