"""A rope over a pulley is a line of three points in ParaView's files, and two pieces in everything that is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

from fem.app.scene import scene_of, sketch_of
from fem.deck import parse_deck
from fem.model import Model
from fem.runs.fields import VtkSink
from fem.runs.read import Results, model_of
from fem.runs.tables import TableSink
from fem.show.animate import Scene, Window
from fem.show.links import read_links
from fem.show.reading import bars_of, chain_of, read_tensions
from fem.show.report import mesh_figure
from fem.show.shapes import envelope, line_of, maps, ranges, shapes
from tests.deck.test_pulleys import DECK
from tests.results.synthetic import play


@pytest.fixture(scope="module")
def model() -> Model:
    return parse_deck(DECK.replace("*EL PRINT", "*NODE PRINT\nU, V, A\n*EL PRINT"))


@pytest.fixture(scope="module")
def results(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Of a run that is made up: every node moves, T is what it is."""
    folder = tmp_path_factory.mktemp("reeved")
    for sink in (TableSink(folder, model), VtkSink(folder, "rope", model)):
        play(model, sink, chunk=1)
    return Results(folder, {"deck": {"file": "rope.inp"}, "settings": {}})


def drawn_as_text(content: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(content)
    return found


def test_vtk_reads_lines_of_three_points(results: Results) -> None:
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(results.fields[0][1]))
    reader.Update()
    grid = reader.GetOutput()
    assert reader.GetErrorCode() == 0
    assert [grid.GetCellType(cell) for cell in range(3)] == [4, 3, 1]  # VTK_POLY_LINE, VTK_LINE, VTK_VERTEX
    assert [grid.GetCell(0).GetPointId(point) for point in range(3)] == [0, 1, 2]
    assert grid.GetCellData().GetArray("rest_length").GetValue(0) == 6.5
    assert grid.GetCell(0).GetNumberOfPoints() == 3 and not grid.GetCellData().GetArray("T2")  # *EL PRINT asks, no FILE


def test_the_mesh_comes_back_from_the_fields(model: Model, results: Results) -> None:
    for found, expected in zip(results.mesh.legs, model.mesh.legs, strict=True):
        assert np.array_equal(found, expected)
    again, notices = model_of(results)
    assert any("mesh of the fields alone" in notice for notice in notices)
    assert [block.kind for block in again.mesh.blocks] == ["PULLEY", "T3D2", "MASS"]
    assert all(
        np.array_equal(one.connectivity, other.connectivity)
        for one, other in zip(again.mesh.blocks, model.mesh.blocks, strict=True)
    )


def test_a_chain_runs_over_the_pulley(results: Results) -> None:
    nodes, elements = chain_of(results)
    assert nodes in ([1, 2, 3, 4], [4, 3, 2, 1]) and sorted(elements) == [5, 5, 6]
    assert np.diff(line_of(results, ([1, 2, 3, 4], [5, 5, 6])).x) == pytest.approx([6.5 / 2, 0.5 * 4 * 6.5 / 7 + 1.0])
    ends, labels = bars_of(results.mesh)
    assert ends.tolist() == [[0, 1], [1, 2], [2, 3]] and labels == [5, 5, 6]
    assert sorted(read_links(results).labels) == [5, 5, 6]


def test_both_pieces_are_drawn(model: Model, results: Results) -> None:
    tensions = read_tensions(results)
    assert tensions.labels == [5, 6]
    figure = maps(results, tensions, [("T", *ranges(tensions, np.ones(len(tensions.time), bool)))], "")
    lines = figure.axes[0].collections[0]
    assert len(lines.get_segments()) == 3
    least = tensions.values.min(axis=0)
    assert np.array_equal(lines.get_array(), least[[0, 0, 1]])
    assert len(envelope(results).axes) and len(shapes(results).axes) and len(mesh_figure(results).axes)
    film = Scene(results, 0, 10, (), Window())
    assert film.draw(0).ndim == 3 and film.has_colours
    before, after = drawn_as_text(sketch_of(model)), drawn_as_text(scene_of(results))
    assert before["elements"] == after["elements"] == ["5", "5", "6"] and before["bars"] == after["bars"] == 3


def test_printed_of_both_branches(results: Results) -> None:
    head, *lines = (results.folder / "elements.csv").read_text().splitlines()
    assert head.endswith(",element,E,S,N,T,T2")
    tail = [line.split(",") for line in lines if line.split(",")[3] == "6"]
    assert tail and all(cells[-1] == cells[-2] for cells in tail)  # one branch: T2 is T


def test_tables_without_pulleys_have_no_second_branch(tmp_path: Path) -> None:
    text = DECK.replace("*ELEMENT, TYPE=PULLEY, ELSET=ROPE\n5, 1, 2, 3", "*ELEMENT, TYPE=T3D2, ELSET=ROPE\n5, 1, 3")
    text = text.replace("ROPE, 2.5, 4.", "ROPE, 2.5").replace("*PULLEY, ELSET=ROPE\n<mu>\n", "").replace("T, T2", "T")
    model = parse_deck(text)
    play(model, TableSink(tmp_path, model))
    assert (tmp_path / "elements.csv").read_text().splitlines()[0].endswith(",element,E,S,N,T")
