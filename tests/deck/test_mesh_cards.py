"""Nodes, elements, generators, sets, and meshes of other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import meshio
import numpy as np
import pytest

from fem.deck import parse_deck, read_deck
from fem.errors import DeckError
from tests.deck.decks import MATERIAL, MESH, MODEL, STEP, parse, problems


def test_nodes_and_elements() -> None:
    mesh = parse("*NODE, NSET=ALL\n70, 1, 2, 3\n9, 4\n*ELEMENT, TYPE=MASS, ELSET=M\n5, 70\n*MASS, ELSET=M\n1\n").mesh
    assert mesh.node_labels.tolist() == [1, 2, 3, 70, 9]
    assert mesh.coordinates[3:].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert mesh.node_sets["ALL"].tolist() == [0, 1, 2, 3, 4]
    assert [block.kind for block in mesh.blocks] == ["T3D2", "MASS"]
    assert mesh.blocks[1].connectivity.tolist() == [[3]]
    assert mesh.element_sets["M"].tolist() == [2]


def test_careful_and_fast_reader_agree() -> None:
    slow = MESH.replace("2, 1, 0", "2, 1D0, 0").replace("2, 2, 3", "<two>, 2, 3")
    assert parse_deck("*PARAMETER\ntwo=2\n" + slow + MATERIAL + STEP.format("")) == parse()


def test_a_node_may_be_repeated_unchanged() -> None:
    assert parse("*NODE, NSET=AGAIN\n2, 1, 0\n8, 8\n2, 1, 0\n").mesh.node_labels.tolist() == [1, 2, 3, 8]


def test_ngen_goes_both_ways_and_takes_the_ends_in() -> None:
    mesh = parse("*NODE\n10, 0, 0, 0\n20, 1, 2, 4\n*NGEN, NSET=LINE\n20, 10, 5\n*NGEN\n10, 15\n").mesh
    at = dict(zip(mesh.node_labels.tolist(), mesh.coordinates.tolist(), strict=True))
    assert at[15] == [0.5, 1.0, 2.0]
    assert at[12] == pytest.approx([0.2, 0.4, 0.8])
    assert mesh.node_labels[mesh.node_sets["LINE"]].tolist() == [10, 20, 15]


def test_nfill_makes_a_net() -> None:
    cards = "*NODE\n11, 0, 0\n12, 0, 1\n31, 4, 0\n32, 4, 1\n*NSET, NSET=LEFT\n12, 11\n*NSET, NSET=RIGHT\n31, 32\n"
    mesh = parse(cards + "*NFILL, NSET=NET\nLEFT, RIGHT, 4, 5\n").mesh
    at = dict(zip(mesh.node_labels.tolist(), mesh.coordinates.tolist(), strict=True))
    assert at[16] == [1, 0, 0] and at[21] == [2, 0, 0] and at[26] == [3, 0, 0]
    assert at[27] == [3, 1, 0]
    assert len(mesh.node_sets["NET"]) == 10


def test_nfill_follows_the_order_of_unsorted_sets() -> None:
    cards = (
        "*NODE\n11, 0, 0\n12, 0, 1\n31, 4, 1\n32, 4, 0\n*NSET, NSET=LEFT, UNSORTED\n12, 11\n*NSET, NSET=RIGHT\n31, 32\n"
    )
    mesh = parse(cards + "*NFILL\nLEFT, RIGHT, 2, 5\n").mesh
    assert dict(zip(mesh.node_labels.tolist(), mesh.coordinates.tolist(), strict=True))[17] == [2, 1, 0]


def test_elgen_rows_and_layers() -> None:
    cards = "*NODE\n101, 0, 1\n*NODE\n114, 3, 2\n*NGEN\n101, 114\n*ELEMENT, TYPE=T3D2\n50, 101, 102\n"
    mesh = parse(cards + "*ELGEN, ELSET=BARS\n50, 3, 1, 1, 2, 10, 10\n").mesh
    members = mesh.element_sets["BARS"]
    assert mesh.element_labels[members].tolist() == [1, 2, 50, 51, 52, 60, 61, 62]
    ends = mesh.node_labels[mesh.blocks[0].connectivity]
    assert ends[mesh.element_labels.tolist().index(62)].tolist() == [113, 114]


def test_elgen_counts_nodes_and_elements_by_their_own_increments() -> None:
    """a in a row, b rows, c layers: nodes rise by 2 a + 20 b + 50 c, elements by a + 10 b + 100 c."""
    cards = "*NODE\n101, 0, 1\n299, 3, 2\n*NGEN\n101, 299\n*ELEMENT, TYPE=T3D2\n7, 103, 104\n"
    mesh = parse(cards + "*ELGEN, ELSET=BARS\n7, 3, 2, 1, 2, 20, 10, 2, 50, 100\n").mesh
    found = dict(zip(mesh.element_labels.tolist(), mesh.node_labels[mesh.element_nodes].tolist(), strict=True))
    places = [(a, b, c) for a in range(3) for b in range(2) for c in range(2)]
    expected = {7 + a + 10 * b + 100 * c: 103 + 2 * a + 20 * b + 50 * c for a, b, c in places}
    assert {label: found[label] for label in expected} == {label: [node, node + 1] for label, node in expected.items()}
    assert sorted(mesh.element_labels[mesh.element_sets["BARS"]].tolist()) == sorted({1, 2, *expected})


def test_sets_mix_labels_ranges_and_names() -> None:
    mesh = parse("*NSET, NSET=A, GENERATE\n1, 3, 2\n*NSET, NSET=B\na, 2,\n3\n*NSET, NSET=B\n2\n").mesh
    assert mesh.node_sets["A"].tolist() == [0, 2]
    assert mesh.node_sets["B"].tolist() == [0, 1, 2]
    assert parse("*ELSET, ELSET=E\nBARS\n").mesh.element_sets["E"].tolist() == [0, 1]


def test_what_follows_from_a_mistake_is_not_blamed() -> None:
    assert len(problems(MODEL.replace("2, 1, 0", "2, l, 0") + STEP.format("*CLOAD\n2, 1, 1\n"))) == 1
    assert len(problems(MODEL.replace("*MATERIAL", "*MATERIALS") + STEP.format(""))) == 1
    assert len(problems(MODEL.replace("TYPE=T3D2", "TYPE=B31") + STEP.format(""))) == 1
    assert len(problems(MODEL.replace("*NODE,", "*NODES,") + STEP.format(""))) == 1
    assert len(problems(MODEL + STEP.format("").replace("*STEP", "*STEPP", 1))) == 1


def test_nothing_is_generated_from_a_broken_node() -> None:
    """The line and the net between nodes of which one could not be read: one mistake, no million of nodes."""
    cards = "*NODE\n1, 0, 0, 0\n2, x, 0, 0\n9, 1, 0, 0\n*NGEN, NSET=N\n1, 1000001\n*NGEN, NSET=TOP\n2, 9, 7\n"
    cards += (
        "*NODE\n5, 3., 0., 0.\n*NFILL, NSET=M\nTOP, N, 400000\n*ELEMENT, TYPE=MASS, ELSET=E\n1, 9\n*MASS, ELSET=E\n1.\n"
    )
    found = problems(cards + "*BOUNDARY\nN, 1, 3\nM, 1\n77, 1\n*STEP\n*STATIC\n*END STEP\n")
    assert [problem.line for problem in found] == [3]


@pytest.mark.long
def test_a_hundred_thousand_elements() -> None:
    count = 100_000
    nodes = "".join(f"{n}, {0.1 * n}, 0., {n % 7}.\n" for n in range(1, count + 2))
    elements = "".join(f"{n},{n},{n + 1}\n" for n in range(1, count + 1))
    deck = f"*NODE, NSET=ALL\n{nodes}*ELEMENT, TYPE=T3D2, ELSET=BARS\n{elements}" + MATERIAL + STEP.format("")
    mesh = parse_deck(deck).mesh
    assert mesh.blocks[0].connectivity.shape == (count, 2)
    found = problems(deck.replace("\n77777,77777,", "\n77777,77777.5,"))
    assert [(p.line, p.column) for p in found] == [(count + 3 + 77777, 7)]


LINES = meshio.Mesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]),
    [("line", np.array([[0, 1], [1, 2]])), ("triangle", np.array([[0, 1, 2]])), ("line", np.array([[2, 3]]))],
    point_sets={"left": np.array([0, 3])},
    cell_sets={"top": [np.array([], dtype=int), np.array([], dtype=int), np.array([0])]},
)
SECTION = MATERIAL.replace("BARS", "EALL")


@pytest.mark.parametrize("extension", ["vtk", "vtu"])
def test_mesh_file(tmp_path: Path, extension: str) -> None:
    meshio.Mesh(LINES.points, LINES.cells).write(tmp_path / f"net.{extension}")
    (tmp_path / "deck.inp").write_text(
        MESH.replace("BARS", "EALL")
        + f"*INCLUDE, INPUT=net.{extension}\n*NSET, NSET=N\nNALL, 1\n"
        + SECTION
        + STEP.format("")
    )
    model = read_deck(tmp_path / "deck.inp")
    assert model.mesh.node_labels.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert model.mesh.element_labels.tolist() == [1, 2, 3, 4, 5]
    assert model.mesh.blocks[0].connectivity[2:].tolist() == [[3, 4], [4, 5], [5, 6]]
    assert model.mesh.node_sets["N"].tolist() == [0, 3, 4, 5, 6]
    assert any("triangle" in notice for notice in model.notices)


def test_gmsh_groups(tmp_path: Path) -> None:
    tags = [np.array([7, 8]), np.array([9]), np.array([8])]
    mesh = meshio.Mesh(
        LINES.points,
        LINES.cells,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"deck cable": np.array([8, 1]), "face": np.array([9, 2])},
    )
    meshio.write(tmp_path / "net.msh", mesh, file_format="gmsh22")
    (tmp_path / "deck.inp").write_text(
        '*INCLUDE, INPUT=net.msh\n*BOUNDARY\nNALL, 1\n*ELSET, ELSET=X\n"deck cable"\n' + SECTION + STEP.format("")
    )
    sets = read_deck(tmp_path / "deck.inp").mesh.element_sets
    assert sets["DECK CABLE"].tolist() == [1, 2]
    assert sets["EALL"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("content", [b"", b"$MeshFormat\nnonsense", b"\x00\x01\x02"])
@pytest.mark.parametrize("name", ["net.msh", "net.vtu", "net.vtk", "net.med", "net.xdmf", "net.stl"])
def test_broken_mesh_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "deck.inp").write_text(f"*INCLUDE, INPUT={name}\n" + SECTION + STEP.format(""))
    with pytest.raises(DeckError) as caught:
        read_deck(tmp_path / "deck.inp")
    assert caught.value.problems[0].line == 1
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(("name", "package"), [("net.med", "h5py"), ("net.e", "netCDF4")])
def test_a_format_that_needs_more_packages_says_which(tmp_path: Path, name: str, package: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as where it is not installed
    (tmp_path / name).write_bytes(b"some mesh")
    (tmp_path / "deck.inp").write_text(f"*INCLUDE, INPUT={name}\n" + SECTION + STEP.format(""))
    with pytest.raises(DeckError, match=rf"the package {package} is not installed: pip install -e '\.\[meshes\]'"):
        read_deck(tmp_path / "deck.inp")


def test_msh_written_as_a_deck_is_a_deck(tmp_path: Path) -> None:
    (tmp_path / "all.msh").write_text(MESH)
    (tmp_path / "deck.inp").write_text("*INCLUDE, INPUT=all.msh\n" + MATERIAL + STEP.format(""))
    assert read_deck(tmp_path / "deck.inp") == parse()


@pytest.mark.parametrize(("apart", "is_one"), [(0.9e-9, True), (1.1e-9, False)])
def test_a_node_given_twice_may_differ_by_a_billionth_of_its_size(apart: float, is_one: bool) -> None:
    """Merged decks round differently, in metres as in kilometres."""
    for size in (1.0, 1e6):
        again = f"*NODE, NSET=AGAIN\n70, {size!r}, 0, 0\n70, {size * (1.0 + apart)!r}, 0, 0\n"
        text = again + "*ELEMENT, TYPE=MASS, ELSET=M\n5, 70\n*MASS, ELSET=M\n1\n"
        if is_one:
            assert parse(text).mesh.node_labels.tolist().count(70) == 1
        else:
            assert any("defined twice with different coordinates" in problem.message for problem in problems(text))
