"""Files of a deck with parts: those of its flat twin, with the instances beside the labels."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

from fem.deck import read_deck
from fem.runner import run_to_files
from tests.solve.test_going_on import assert_goes_on

DECKS = Path(__file__).parents[1] / "deck" / "parts"
TABLES = ("increments.csv", "nodes.csv", "elements.csv", "events.csv")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_instance_alone_leaves_the_tables_as_they_are() -> None:
    """Its labels are those of the deck: every byte of every table is that of the flat deck."""
    for name in ("cable", "cable.flat"):
        run_to_files(DECKS / f"{name}.inp", name, quiet=True, vtk=False)
    for table in TABLES:
        assert Path("cable", table).read_bytes() == Path("cable.flat", table).read_bytes(), table


def test_fields_and_record_tell_instances() -> None:
    """Point and cell data: the number of the instance in ``instance_names`` (-1: the assembly), the label in it."""
    run_to_files(DECKS / "reference_point.inp", "out", quiet=True)
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(sorted(Path("out/vtu").iterdir())[-1]))
    reader.Update()
    grid = reader.GetOutput()
    names = grid.GetFieldData().GetArray("instance_names")
    assert [names.GetComponentName(at) for at in range(names.GetNumberOfComponents())] == ["CABLE-1"]
    points = {name: vtk_to_numpy(grid.GetPointData().GetArray(name)).tolist() for name in ("node", "instance", "label")}
    assert points == {"node": [11, 12, 13, 1, 2], "instance": [0, 0, 0, -1, -1], "label": [1, 2, 3, 1, 2]}
    cells = {name: vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in ("element", "instance", "label")}
    assert np.array_equal(cells["element"], cells["label"] + 10 * (cells["instance"] == 0))
    record = json.loads(Path("out/run.json").read_text())
    assert record["settings"]["instances"] == [{"name": "CABLE-1", "part": "CABLE", "added": 10}]


def test_the_console_names_the_node_by_its_instance(capsys: pytest.CaptureFixture[str]) -> None:
    """The node whose motion is shown, and the notice how labels in tables follow from those of the deck."""
    deck = (
        (DECKS / "two_instances.inp").read_text().replace("*End Step", "*Node Print, nset=Cable-2.Right\nU\n*End Step")
    )
    Path("deck.inp").write_text(deck)
    run_to_files("deck.inp", "out")
    text = capsys.readouterr().out
    assert "U3(..LE-2.3)" in text
    assert "CABLE-1 10, CABLE-2 20" in text


def test_a_run_with_instances_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("deck.inp").write_text("*RESTART, WRITE, FREQUENCY=4\n" + (DECKS / "steps.inp").read_text())
    assert_goes_on(monkeypatch, seed=7)


def test_further_steps_alone_take_the_instances_of_the_earlier_deck() -> None:
    """They name nodes of instances, and the tables are those of the flat deck's steps."""
    for name in ("steps", "steps.flat"):
        model, first, second, _ = re.split(r"(?m)^(?=\*Step)", (DECKS / f"{name}.inp").read_text())
        amplitude = model[model.index("*Amplitude") : model.index("*Initial")]
        Path("first.inp").write_text("*RESTART, WRITE\n" + model.replace(amplitude, "") + first)
        Path("second.inp").write_text(f"*RESTART, READ\n{amplitude}{second}")
        shutil.rmtree("first", ignore_errors=True)
        run_to_files("first.inp", "first", quiet=True)
        run_to_files("second.inp", name, quiet=True, earlier="first")
    for table in TABLES:
        assert Path("steps", table).read_bytes() == Path("steps.flat", table).read_bytes(), table
    assert read_deck(DECKS / "steps.inp").mesh.named(1) == "CABLE-1.1"
